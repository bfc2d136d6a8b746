// SPDX-License-Identifier: Apache-2.0
// Rods that overlap bodies, each other or themselves at the start would be flung apart: an error,
// unless the scene allows it.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>

typedef struct rod_check {
    const talus_scene *s;
    tl_collide *c;
    tl_pose *pose;
    int32_t *fibre, *segment; // of items behind the bodies
    int32_t items;
} rod_check;

static const tl_scene_rod *overlap_keys(const talus_scene *s, const tl_fibre *f) {
    return (const tl_scene_rod *)s->keys.rods.data + f->source;
}

static talus_status overlap_add_bodies(rod_check *r) {
    const talus_scene *s = r->s;
    int32_t index;
    for (int32_t k = 0; k < s->shape_count; k++)
        TL_TRY(tl_collide_add_shape(r->c, &s->shape[k], &index));
    for (int32_t k = 0; k < s->start_count; k++) {
        const tl_grain *grain = &s->grain[k];
        TL_TRY(tl_collide_add_item(r->c, grain->shape, 0, true, &index)); // checked by others
        tl_copy3(grain->x, r->pose[k].x);
        for (int e = 0; e < 4; e++) r->pose[k].q[e] = grain->q[e];
    }
    return TALUS_OK;
}

// A capsule from one node to the next, along the z of its frame.
static void overlap_pose(const double a[3], const double b[3], tl_pose *out) {
    double d[3], cross[3];
    const double up[3] = {0.0, 0.0, 1.0};
    tl_sub3(b, a, d);
    tl_scale3(1.0 / tl_norm3(d), d, d);
    for (int k = 0; k < 3; k++) out->x[k] = 0.5 * (a[k] + b[k]);
    tl_cross3(up, d, cross);
    out->q[0] = 1.0 + d[2];
    for (int k = 0; k < 3; k++) out->q[k + 1] = cross[k];
    if (d[2] < -1.0 + 1e-12) out->q[0] = 0.0, out->q[1] = 1.0, out->q[2] = out->q[3] = 0.0;
    tl_quat_normalise(out->q);
}

static talus_status overlap_add_rods(rod_check *r) {
    const talus_scene *s = r->s;
    int32_t shape = -1;
    talus_shape_def last = {0};
    for (int32_t k = 0; k < s->fibre_count; k++) {
        const tl_fibre *f = &s->fibre[k];
        const double radius = overlap_keys(s, f)->radius;
        for (int32_t i = 0; i + 1 < f->nodes; i++) {
            const double *a = f->x + 3 * (int64_t)i, *b = a + 3;
            const int32_t item = s->start_count + r->items;
            double d[3];
            int32_t index;
            tl_sub3(b, a, d);
            const double length = tl_norm3(d);
            if (shape < 0 || last.radius != radius || fabs(last.height - length) > 1e-6 * radius) {
                last = (talus_shape_def){
                    .kind = TALUS_SHAPE_CAPSULE, .radius = radius, .height = length};
                TL_TRY(tl_collide_add_shape(r->c, &last, &shape));
            }
            // A rod that does not touch itself is one group.
            TL_TRY(tl_collide_add_item(
                r->c, shape, overlap_keys(s, f)->self_contact ? item + 1 : -1 - k, false, &index));
            overlap_pose(a, b, &r->pose[item]);
            r->fibre[r->items] = k;
            r->segment[r->items++] = i;
        }
    }
    return TALUS_OK;
}

// Parts of one rod that are near each other along it are neighbours.
static bool overlap_is_neighbour(const talus_scene *s, const tl_fibre *f, int32_t i, int32_t j) {
    double way = 0.0, d[3];
    for (int32_t k = i + 1; k < j; k++) {
        tl_sub3(f->x + 3 * (int64_t)(k + 1), f->x + 3 * (int64_t)k, d);
        way += tl_norm3(d);
    }
    return j - i <= 1 || way < 4.0 * overlap_keys(s, f)->radius;
}

// "segment 3 of rod 17 of rods.0 'hair'", or a body.
static void overlap_show(const rod_check *r, int32_t item, char out[200]) {
    const talus_scene *s = r->s;
    char name[120];
    if (item < s->start_count) {
        tl_source_show(&s->source[s->grain[item].source], out);
        return;
    }
    const int32_t k = item - s->start_count;
    tl_fibre_show(s, &s->fibre[r->fibre[k]], name);
    (void)snprintf(out, 200, "segment %d of %s", (int)r->segment[k], name);
}

static talus_status overlap_fail(const rod_check *r, const tl_touch *t, int64_t others) {
    const talus_scene *s = r->s;
    const tl_fibre *f = &s->fibre[r->fibre[t->b - s->start_count]];
    char a[200], b[200], more[60] = "";
    const double *x = r->pose[t->a].x;
    overlap_show(r, t->a, a);
    overlap_show(r, t->b, b);
    if (others > 0) (void)snprintf(more, sizeof more, " (and %lld more pairs)", (long long)others);
    return tl_node_fail(&s->doc, overlap_keys(s, f)->node,
                        "%s and %s overlap by %.3g m at the start, at [%.4g, %.4g, %.4g]%s; move "
                        "them apart or raise allow_overlap",
                        a, b, -t->gap, x[0] + t->arm_a[0], x[1] + t->arm_a[1], x[2] + t->arm_a[2],
                        more);
}

static talus_status overlap_judge(const rod_check *r) {
    const talus_scene *s = r->s;
    int64_t count = 0, bad = 0;
    const tl_touch *touch = tl_collide_touches(r->c, &count), *first = NULL;
    for (int64_t k = 0; k < count; k++) {
        const tl_touch *t = &touch[k];
        const int32_t b = t->b - s->start_count, a = t->a - s->start_count;
        const tl_fibre *f = &s->fibre[r->fibre[b]];
        const double slack = 1e-6 * overlap_keys(s, f)->radius;
        if (-t->gap <= s->keys.allow_overlap + slack) continue;
        if (a >= 0 && r->fibre[a] == r->fibre[b] &&
            overlap_is_neighbour(s, f, r->segment[a], r->segment[b]))
            continue;
        if (!first) first = t;
        bad++;
    }
    return first ? overlap_fail(r, first, bad - 1) : TALUS_OK;
}

talus_status tl_scene_check_rod_overlaps(const talus_scene *s) {
    talus_status status = TALUS_OK;
    rod_check r = {.s = s};
    const int64_t segments = s->fibre_nodes - s->fibre_count;
    if (s->fibre_count == 0) return TALUS_OK;
    TL_GOTO(tl_collide_create(s->ctx, s->dim, s->keys.period, &r.c));
    TL_GOTO(TL_ALLOC(s->ctx, s->start_count + segments, &r.pose));
    TL_GOTO(TL_ALLOC(s->ctx, segments, &r.fibre));
    TL_GOTO(TL_ALLOC(s->ctx, segments, &r.segment));
    TL_GOTO(overlap_add_bodies(&r));
    TL_GOTO(overlap_add_rods(&r));
    TL_GOTO(tl_collide_detect(r.c, r.pose, 0.0, 1));
    TL_GOTO(overlap_judge(&r));
done:
    tl_free(s->ctx, r.pose);
    tl_free(s->ctx, r.fibre);
    tl_free(s->ctx, r.segment);
    tl_collide_destroy(r.c);
    if (status == TALUS_OK || status == TALUS_ERR_FORMAT || status == TALUS_ERR_MEMORY)
        return status;
    return tl_fail_prefix(s->ctx, status, s->doc.name);
}
