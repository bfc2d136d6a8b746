// SPDX-License-Identifier: Apache-2.0
// Grains of a moment. Balls are cut by boxes exactly; other shapes by points inside them that stand
// for equal parts of their volume.
#include "observe/grains.h"
#include "base/compiler.h"
#include "base/vec3.h"
#include <stdlib.h>
#include <string.h>

#define GRAINS_SAMPLES 2000

void tl_grains_init(tl_grains *g, talus_context *ctx) { *g = (tl_grains){.ctx = ctx}; }

void tl_grains_clear(tl_grains *g) {
    for (int32_t i = 0; i < g->shapes; i++) {
        tl_solid_destroy(g->ctx, g->shape[i].solid);
        tl_free(g->ctx, g->shape[i].sample);
    }
    void *const owned[] = {g->shape, g->body, g->x, g->grain, g->neighbours, g->backbone, g->pair};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(g->ctx, owned[k]);
    *g = (tl_grains){.ctx = g->ctx};
}

// Pieces of a solid: those of a union, or itself.
static int32_t grains_pieces(const tl_solid *s) { return s->piece ? s->pieces : 1; }
static tl_piece grains_piece(const tl_solid *s, int32_t k) {
    if (s->piece) return s->piece[k];
    return (tl_piece){.solid = s, .place = {.q = {1.0, 0.0, 0.0, 0.0}}};
}

// The box around a solid in its place.
static void grains_around(int32_t dim, const tl_solid *s, const tl_pose *pose, double low[3],
                          double high[3]) {
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int32_t i = 0; i < grains_pieces(s); i++) {
        const tl_piece piece = grains_piece(s, i);
        tl_pose place;
        double a[3], b[3];
        tl_pose_mul(pose, &piece.place, &place);
        tl_solid_box(dim, piece.solid, &place, a, b);
        for (int k = 0; k < 3; k++) {
            low[k] = TL_MIN(low[k], a[k]);
            high[k] = TL_MAX(high[k], b[k]);
        }
    }
}

static talus_status grains_shape(tl_grains *g, const talus_moment *m, int32_t index) {
    tl_grain_shape *s = g->shape + index;
    const talus_shape_def *def = m->shape + index;
    talus_mass mass;
    if (s->solid) return TALUS_OK;
    if (m->mass)
        mass = m->mass[index];
    else
        TL_TRY(talus_shape_mass(g->ctx, m->dim, def, 1.0, &mass));
    TL_REQUIRE(g->ctx, isfinite(mass.mass) && mass.mass > 0.0, TALUS_ERR_ARG,
               "shape %d (%s) has no volume of its own, but a body that moves freely has it", index,
               talus_shape_text(def->kind));
    s->volume = mass.mass;
    tl_copy3(mass.centre, s->centre);
    s->radius = m->dim == 2 ? sqrt(s->volume / 3.14159265358979323846)
                            : cbrt(0.75 * s->volume / 3.14159265358979323846);
    s->reach = tl_shape_extent_from(m->dim, def, s->centre);
    TL_TRY(tl_solid_create(g->ctx, m->dim, def, &s->solid));
    s->ball = s->solid->shape.kind == TALUS_SHAPE_SPHERE;
    return TALUS_OK;
}

static talus_status grains_find(tl_grains *g, const talus_moment *m) {
    const talus_body_view *b = &m->bodies;
    if (b->count > g->body_room) {
        TL_TRY(tl_realloc(g->ctx, 0, b->count, sizeof *g->grain, &g->grain));
        g->body_room = b->count;
    }
    if (m->shapes > g->shapes) {
        TL_TRY(tl_realloc(g->ctx, g->shapes, m->shapes, sizeof *g->shape, &g->shape));
        g->shapes = m->shapes;
    }
    int32_t count = 0;
    for (int32_t i = 0; i < b->count; i++) {
        g->grain[i] = b->motion[i] == TALUS_MOTION_FREE ? count++ : -1;
        if (g->grain[i] >= 0) TL_TRY(grains_shape(g, m, b->shape[i]));
    }
    if (count > g->room) {
        TL_TRY(tl_realloc(g->ctx, 0, count, sizeof *g->body, &g->body));
        TL_TRY(tl_realloc(g->ctx, 0, 3 * (int64_t)count, sizeof *g->x, &g->x));
        TL_TRY(tl_realloc(g->ctx, 0, count, sizeof *g->neighbours, &g->neighbours));
        TL_TRY(tl_realloc(g->ctx, 0, count, sizeof *g->backbone, &g->backbone));
        g->room = count;
    }
    for (int32_t i = 0; i < b->count; i++)
        if (g->grain[i] >= 0) g->body[g->grain[i]] = i;
    g->count = count;
    return TALUS_OK;
}

static int grains_order(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void grains_extent(tl_grains *g) {
    const talus_moment *m = g->m;
    talus_extent *e = &g->extent;
    *e = (talus_extent){.bodies = g->count};
    g->diameter = 0.0;
    for (int k = 0; k < m->dim && g->count > 0; k++) e->low[k] = INFINITY, e->high[k] = -INFINITY;
    for (int32_t i = 0; i < g->count; i++) {
        const tl_grain_shape *s = tl_grain_shape_of(g, i);
        const int64_t body = g->body[i];
        tl_pose pose;
        double low[3], high[3];
        tl_copy3(m->bodies.position + 3 * body, pose.x);
        memcpy(pose.q, m->bodies.orientation + 4 * body, sizeof pose.q);
        if (s->ball)
            for (int k = 0; k < 3; k++)
                low[k] = pose.x[k] - s->radius, high[k] = pose.x[k] + s->radius;
        else
            grains_around(m->dim, s->solid, &pose, low, high);
        for (int k = 0; k < m->dim; k++) {
            e->low[k] = TL_MIN(e->low[k], low[k]);
            e->high[k] = TL_MAX(e->high[k], high[k]);
        }
        g->diameter += 2.0 * s->radius / g->count;
    }
}

talus_status tl_grains_front(tl_grains *g) {
    const int32_t outside = g->count / 100;
    double *list = NULL;
    if (g->count == 0) return TALUS_OK;
    TL_TRY(TL_ALLOC(g->ctx, g->count, &list));
    for (int k = 0; k < g->m->dim; k++) {
        for (int32_t i = 0; i < g->count; i++)
            list[i] = g->m->bodies.centre[3 * (int64_t)g->body[i] + k];
        qsort(list, (size_t)g->count, sizeof *list, grains_order);
        g->extent.front_low[k] = list[outside];
        g->extent.front_high[k] = list[g->count - 1 - outside];
    }
    tl_free(g->ctx, list);
    return TALUS_OK;
}

static int32_t grains_up(const talus_moment *m, int32_t asked) {
    int32_t up = m->dim - 1;
    if (asked >= 0 && asked < m->dim) return asked;
    for (int32_t k = 0; k < m->dim; k++)
        if (fabs(m->gravity[k]) > fabs(m->gravity[up])) up = k;
    return up;
}

static talus_status grains_box(tl_grains *g, const talus_region *region) {
    const talus_moment *m = g->m;
    tl_box *b = &g->box;
    *b = (tl_box){.dim = m->dim};
    for (int k = 0; k < m->dim; k++) {
        const double l = m->period[k];
        const bool from = isfinite(region->low[k]), to = isfinite(region->high[k]);
        b->period[k] = l;
        b->open[k][0] = !from && !(l > 0.0);
        b->open[k][1] = !to && !(l > 0.0);
        TL_REQUIRE(g->ctx, l <= 0.0 || from == to, TALUS_ERR_ARG,
                   "region: axis %c is periodic; give both sides or none", "xyz"[k]);
        b->low[k] = from ? region->low[k] : l > 0.0 ? 0.0 : g->extent.low[k];
        b->high[k] = to ? region->high[k] : l > 0.0 ? l : g->extent.high[k];
        b->whole[k] = l > 0.0 && b->high[k] - b->low[k] >= l * (1.0 - 1e-12);
        if (b->whole[k]) b->high[k] = b->low[k] + l;
        TL_REQUIRE(g->ctx, b->high[k] > b->low[k] || (g->count == 0 && !(from && to)),
                   TALUS_ERR_ARG, "region: along %c it goes from %g to %g, which is nothing",
                   "xyz"[k], b -> low[k], b -> high[k]);
    }
    tl_box_measure(b);
    return TALUS_OK;
}

talus_status tl_grains_take(tl_grains *g, const talus_moment *m, const talus_region *region,
                            const tl_box *box) {
    g->m = m;
    g->up = grains_up(m, region->up);
    TL_TRY(grains_find(g, m));
    grains_extent(g);
    if (box)
        g->box = *box;
    else
        TL_TRY(grains_box(g, region));
    for (int32_t i = 0; i < g->count; i++) {
        double *x = g->x + 3 * (int64_t)i;
        tl_copy3(m->bodies.centre + 3 * (int64_t)g->body[i], x);
        tl_box_wrap(&g->box, x);
    }
    return TALUS_OK;
}

talus_status talus_moment_extent(talus_context *ctx, const talus_moment *m, talus_extent *out) {
    if (!ctx || !m || !out) return TALUS_ERR_ARG;
    tl_grains g;
    tl_grains_init(&g, ctx);
    g.m = m;
    talus_status status = grains_find(&g, m);
    if (status == TALUS_OK) grains_extent(&g);
    if (status == TALUS_OK) status = tl_grains_front(&g);
    *out = g.extent;
    tl_grains_clear(&g);
    return status;
}

// Is a point of the frame of a convex piece inside it?
static bool grains_contains(int32_t dim, const tl_solid *s, const double p[3]) {
    const talus_shape_def *d = &s->shape;
    double a[3], l[3];
    switch (d->kind) {
    case TALUS_SHAPE_SPHERE:
        return tl_norm3(p) <= d->radius;
    case TALUS_SHAPE_CYLINDER:
        return hypot(p[0], p[1]) <= d->radius && fabs(p[2]) <= 0.5 * d->height;
    case TALUS_SHAPE_CAPSULE: {
        tl_sub3(s->segment[1], s->segment[0], l);
        tl_sub3(p, s->segment[0], a);
        const double t = tl_dot3(a, l) / tl_dot3(l, l);
        tl_axpy3(a, -TL_MIN(1.0, TL_MAX(0.0, t)), l, a);
        return tl_norm3(a) <= d->radius;
    }
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID: {
        const bool plain = d->kind == TALUS_SHAPE_ELLIPSOID;
        const double e = plain ? 2.0 : d->exponent[0], f = plain ? 2.0 : d->exponent[1];
        const double across = pow(fabs(p[0] / d->half[0]), e) + pow(fabs(p[1] / d->half[1]), e);
        if (dim == 2) return across <= 1.0;
        return pow(across, f / e) + pow(fabs(p[2] / d->half[2]), f) <= 1.0;
    }
    case TALUS_SHAPE_CONE: // 3D; base a quarter of the height below the origin
        return p[2] >= -0.25 * d->height &&
               hypot(p[0], p[1]) <= d->radius * (0.75 - p[2] / d->height);
    default: // those with faces
        for (int32_t k = 0; s->hull && k < s->hull->faces; k++)
            if (tl_dot3(s->hull->normal[k], p) > s->hull->offset[k]) return false;
        return s->hull != NULL;
    }
}

static bool grains_inside(int32_t dim, const tl_solid *s, const double p[3]) {
    for (int32_t i = 0; i < grains_pieces(s); i++) {
        const tl_piece piece = grains_piece(s, i);
        double q[3];
        tl_sub3(p, piece.place.x, q);
        tl_rotate_back(piece.place.q, q, q);
        if (grains_contains(dim, piece.solid, q)) return true;
    }
    return false;
}

// Points strewn evenly over the box around the shape, those inside it: i times a vector of
// irrational steps, each coordinate without its whole part [Roberts' sequence: the steps are powers
// of the root of x³ = x + 1 in 2D, of x⁴ = x + 1 in 3D]. Unlike those of a grid, no two of them are
// in a plane along an axis, so that a cut is met to about 1/GRAINS_SAMPLES of the volume.
static talus_status grains_strew(talus_context *ctx, int32_t dim, tl_grain_shape *s) {
    const double root = dim == 2 ? 1.32471795724474602596 : 1.22074408460575947536;
    const tl_pose here = {.q = {1.0, 0.0, 0.0, 0.0}};
    double low[3], high[3], step[3] = {1.0 / root, 1.0 / root / root, 1.0 / root / root / root};
    TL_ASSUME(dim == 2 || dim == 3);
    grains_around(dim, s->solid, &here, low, high);
    TL_TRY(TL_ALLOC(ctx, 3 * (int64_t)GRAINS_SAMPLES, &s->sample));
    for (int32_t i = 0; i < 200 * GRAINS_SAMPLES && s->samples < GRAINS_SAMPLES; i++) {
        double p[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < dim; k++) {
            const double at = 0.5 + i * step[k];
            p[k] = low[k] + (high[k] - low[k]) * (at - floor(at));
        }
        if (!grains_inside(dim, s->solid, p)) continue;
        tl_sub3(p, s->centre, s->sample + 3 * (int64_t)s->samples);
        s->samples++;
    }
    s->samples = TL_MAX(s->samples, 1); // a shape that is met by none is its centre
    return TALUS_OK;
}

talus_status tl_grains_sample(tl_grains *g) {
    for (int32_t i = 0; i < g->shapes; i++) {
        tl_grain_shape *s = g->shape + i;
        if (s->solid && !s->ball && !s->sample) TL_TRY(grains_strew(g->ctx, g->m->dim, s));
    }
    return TALUS_OK;
}

double tl_grain_volume(const tl_grains *g, int32_t grain, const double at[3], const double low[3],
                       const double high[3]) {
    const tl_grain_shape *s = tl_grain_shape_of(g, grain);
    const double *q = g->m->bodies.orientation + 4 * (int64_t)g->body[grain];
    const int32_t dim = g->m->dim;
    bool all = true;
    for (int k = 0; k < dim; k++) {
        if (at[k] + s->reach <= low[k] || at[k] - s->reach >= high[k]) return 0.0;
        all = all && at[k] - s->reach >= low[k] && at[k] + s->reach <= high[k];
    }
    if (all) return s->volume;
    if (s->ball) return tl_clip_ball(dim, at, s->radius, low, high);
    int32_t count = 0;
    for (int32_t i = 0; i < s->samples; i++) {
        double p[3];
        bool inside = true;
        tl_rotate(q, s->sample + 3 * (int64_t)i, p);
        for (int k = 0; k < dim && inside; k++)
            inside = at[k] + p[k] >= low[k] && at[k] + p[k] < high[k];
        count += inside;
    }
    return s->volume * count / TL_MAX(s->samples, 1);
}
