// SPDX-License-Identifier: Apache-2.0
// Bodies that overlap at the start would be flung apart: an error, unless the scene allows it.
#include "base/vec3.h"
#include "collide/pair.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// "grain 17 of grains.0 'sand' (line 12)"
static void overlap_show(const talus_scene *s, int32_t body, char out[200]) {
    const tl_grain *grain = &s->grain[body];
    const tl_source *source = &s->source[grain->source];
    char name[120], number[40] = "", line[40] = "";
    tl_source_show(source, name);
    if (source->grains || source->taken)
        (void)snprintf(number, sizeof number, "grain %d of ", (int)grain->number);
    if (source->node->set == 0) {
        (void)snprintf(line, sizeof line, " (line %d)", (int)source->node->line);
    }
    (void)snprintf(out, 200, "%s%s%s", number, name, line);
}

static talus_status overlap_fail(const talus_scene *s, const tl_touch *touch, int64_t others) {
    char a[200], b[200], more[60] = "";
    const tl_source *later = &s->source[s->grain[touch->b].source];
    const double *x = s->grain[touch->a].x, *arm = touch->arm_a;
    overlap_show(s, touch->a, a);
    overlap_show(s, touch->b, b);
    if (others > 0) (void)snprintf(more, sizeof more, " (and %lld more pairs)", (long long)others);
    return tl_node_fail_key(&s->doc, later->node,
                            "%s and %s overlap by %.3g m at the start, at [%.4g, %.4g, %.4g]%s; "
                            "move them apart or raise allow_overlap",
                            a, b, -touch->gap, x[0] + arm[0], x[1] + arm[1], x[2] + arm[2], more);
}

static talus_status overlap_collider(const talus_scene *s, tl_collide *c, tl_pose *pose) {
    for (int32_t k = 0; k < s->shape_count; k++) {
        int32_t index;
        TL_TRY(tl_collide_add_shape(c, &s->shape[k], &index));
    }
    for (int32_t k = 0; k < s->start_count; k++) {
        const tl_grain *grain = &s->grain[k];
        const bool immovable = !tl_source_is_free(&s->source[grain->source]);
        int32_t index;
        TL_TRY(tl_collide_add_item(c, grain->shape, k, immovable, &index));
        tl_copy3(grain->x, pose[k].x);
        memcpy(pose[k].q, grain->q, sizeof grain->q);
    }
    return TALUS_OK;
}

// The search has met two shapes near each other whose contacts it does not know: name them. The
// balls around them are near as well, so that this finds a pair.
static talus_status overlap_unknown(const talus_scene *s, talus_status status) {
    for (int32_t a = 0; a < s->start_count; a++)
        for (int32_t b = a + 1; b < s->start_count; b++) {
            const tl_grain *p = &s->grain[a], *q = &s->grain[b];
            const talus_shape_def *x = &s->shape[p->shape], *y = &s->shape[q->shape];
            const bool free = tl_source_is_free(&s->source[p->source]) ||
                              tl_source_is_free(&s->source[q->source]);
            double d[3];
            tl_sub3(p->x, q->x, d);
            if (!free || tl_pair_is_known(x->kind, y->kind) ||
                tl_norm3(d) > tl_shape_extent(s->dim, x) + tl_shape_extent(s->dim, y)) {
                continue;
            }
            char one[200], other[200];
            overlap_show(s, a, one);
            overlap_show(s, b, other);
            return tl_node_fail_key(&s->doc, s->source[q->source].node,
                                    "%s and %s are near each other, but contacts of a %s with a %s "
                                    "are not supported",
                                    one, other, talus_shape_text(x->kind),
                                    talus_shape_text(y->kind));
        }
    return tl_fail_prefix(s->ctx, status, s->doc.name); // across a periodic border, say
}

// The part of the smaller body that it may overlap: rounding; what a run leaves when bodies come
// from one.
static double overlap_slack(const talus_scene *s, const tl_touch *touch) {
    return s->grain[touch->a].taken || s->grain[touch->b].taken ? 1e-2 : 1e-9;
}

talus_status tl_scene_check_overlaps(const talus_scene *s) {
    talus_status status = TALUS_OK;
    tl_collide *c = NULL;
    tl_pose *pose = NULL;
    TL_GOTO(tl_collide_create(s->ctx, s->dim, s->keys.period, &c));
    TL_GOTO(TL_ALLOC(s->ctx, s->start_count, &pose));
    TL_GOTO(overlap_collider(s, c, pose));
    TL_GOTO(tl_collide_detect(c, pose, 0.0, 1));
    int64_t count = 0, bad = 0;
    const tl_touch *touch = tl_collide_touches(c, &count), *first = NULL;
    for (int64_t k = 0; k < count; k++) {
        const double a = tl_shape_extent(s->dim, &s->shape[s->grain[touch[k].a].shape]);
        const double b = tl_shape_extent(s->dim, &s->shape[s->grain[touch[k].b].shape]);
        if (tl_scene_is_joined(s, touch[k].a, touch[k].b)) continue;
        if (-touch[k].gap <= s->keys.allow_overlap + overlap_slack(s, &touch[k]) * fmin(a, b))
            continue;
        if (!first) first = &touch[k];
        bad++;
    }
    if (first) {
        status = overlap_fail(s, first, bad - 1);
        goto done;
    }
done:
    tl_free(s->ctx, pose);
    tl_collide_destroy(c);
    if (status == TALUS_ERR_UNSUPPORTED) return overlap_unknown(s, status);
    if (status == TALUS_OK || status == TALUS_ERR_FORMAT || status == TALUS_ERR_MEMORY) {
        return status;
    }
    // What else the search may refuse is a period too short for the bodies.
    const tl_node *period = tl_node_find(s->doc.root, "period");
    if (!period) return tl_fail_prefix(s->ctx, status, s->doc.name);
    char reason[400];
    (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
    return tl_node_fail_key(&s->doc, period, "%s", reason);
}
