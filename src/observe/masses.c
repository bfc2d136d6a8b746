// SPDX-License-Identifier: Apache-2.0
// Mass properties of shapes, and shapes that are scaled copies.
#include "observe/masses.h"
#include "base/compiler.h"
#include "base/context.h"
#include <math.h>

#define MASSES_SAME 1e-12 // lengths that were scaled differ by rounding

// Is b what a becomes when it is scaled?
static bool masses_scaled(double a, double b, double ratio) {
    return fabs(b - ratio * a) <= MASSES_SAME * (fabs(b) + fabs(ratio * a));
}

static bool masses_scaled_list(int64_t count, const double *a, const double *b, double ratio) {
    for (int64_t k = 0; k < count; k++)
        if (!masses_scaled(a[k], b[k], ratio)) return false;
    return true;
}

static bool masses_match(const talus_shape_def *a, const talus_shape_def *b, double ratio) {
    if (a->kind != b->kind || a->point_count != b->point_count || a->part_count != b->part_count)
        return false;
    if (!masses_scaled(a->radius, b->radius, ratio) || !masses_scaled(a->height, b->height, ratio))
        return false;
    if (!masses_scaled_list(3, a->half, b->half, ratio) ||
        !masses_scaled_list(2, a->exponent, b->exponent, 1.0) ||
        !masses_scaled_list(3 * (int64_t)a->point_count, a->point, b->point, ratio))
        return false;
    for (int32_t k = 0; k < a->part_count; k++) {
        const talus_part *p = a->part + k, *q = b->part + k;
        if (!masses_scaled_list(3, p->position, q->position, ratio) ||
            !masses_scaled_list(4, p->orientation, q->orientation, 1.0) ||
            p->shape->kind == TALUS_SHAPE_CLUMP || !masses_match(p->shape, q->shape, ratio))
            return false;
    }
    return true;
}

// A length that a shape has; 0: none.
static double masses_length(const talus_shape_def *s) {
    double most = TL_MAX(s->radius, s->half[0]);
    for (int64_t k = 0; k < 3 * (int64_t)s->point_count; k++)
        most = TL_MAX(most, fabs(s->point[k]));
    return s->part_count > 0 && s->kind == TALUS_SHAPE_CLUMP ? masses_length(s->part[0].shape)
                                                             : most;
}

double tl_shape_ratio(const talus_shape_def *a, const talus_shape_def *b) {
    if (a->kind != b->kind || a->part_count != b->part_count) return 0.0;
    const double from = masses_length(a), to = masses_length(b);
    if (!(from > 0.0) || !(to > 0.0) || !isfinite(from) || !isfinite(to)) return 0.0;
    return masses_match(a, b, to / from) ? to / from : 0.0;
}

static talus_status masses_find(talus_context *ctx, tl_masses *m, int32_t dim,
                                const talus_shape_def *shape, int32_t index) {
    const talus_shape_def *s = shape + index;
    talus_mass *out = m->mass + index;
    const bool costly = s->kind == TALUS_SHAPE_CLUMP || s->kind == TALUS_SHAPE_WORM;
    if (s->kind == TALUS_SHAPE_MESH) {
        *out = (talus_mass){.mass = INFINITY, .axes = {1.0, 0.0, 0.0, 0.0}};
        return TALUS_OK;
    }
    for (int32_t k = index - 1; costly && k >= 0 && k >= index - 64; k--) {
        const double ratio = tl_shape_ratio(shape + k, s);
        if (!(ratio > 0.0)) continue;
        *out = m->mass[k];
        out->mass *= pow(ratio, dim);
        for (int e = 0; e < 3; e++) {
            out->centre[e] *= ratio;
            out->inertia[e] *= pow(ratio, dim + 2);
        }
        return TALUS_OK;
    }
    TL_TRY(talus_shape_mass(ctx, dim, s, 1.0, out));
    for (int e = 0; e < 3; e++) // an unbounded shape has no other centre than its origin
        if (!isfinite(out->centre[e])) out->centre[e] = 0.0;
    return TALUS_OK;
}

talus_status tl_masses_update(talus_context *ctx, tl_masses *m, int32_t dim,
                              const talus_shape_def *shape, int32_t count) {
    if (count <= m->count) return TALUS_OK;
    const int64_t room = count + (int64_t)count / 2;
    TL_TRY(tl_realloc(ctx, m->count, room, sizeof *m->mass, &m->mass));
    while (m->count < count) {
        TL_TRY(masses_find(ctx, m, dim, shape, m->count));
        m->count++;
    }
    return TALUS_OK;
}

void tl_masses_clear(talus_context *ctx, tl_masses *m) {
    tl_free(ctx, m->mass);
    *m = (tl_masses){0};
}
