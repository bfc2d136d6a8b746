// SPDX-License-Identifier: Apache-2.0
// Surfaces of clumps and worms. In 3D the parts stand side by side. In 2D the parts are convex
// polygons, and the outline of their union is what remains of each side outside of all others: of
// the segment a + t (b − a), another polygon takes the interval of t in which it is on the inner
// side of all its lines.
#include "collide/solid.h"
#include "collide/surface_impl.h"
#include <stdlib.h>
#include <string.h>

// Two lines nearer than this, as a part of the size of the whole, are one.
#define UNION_SAME 1e-12

typedef struct union_outline {
    const talus_surface *all; // outlines of the parts, one after the other
    const int32_t *first;     // segment of each part; one more at the end
    const double (*ball)[3];  // middle and radius of a circle about each part
    double size;
    int32_t parts;
    double (*cut)[2]; // intervals taken from a segment
} union_outline;

static const double *union_end(const talus_surface *s, int32_t segment, int end) {
    return s->point + 3 * (int64_t)s->triangle[2 * (int64_t)segment + end];
}

// The interval of the segment a … b of part i that lies within part j; false: nothing. Where a side
// of j lies on it, the segment counts as within if the two look against each other, and otherwise
// for the later of the two parts, so that a common side is kept once.
static bool union_within(const union_outline *u, const double a[3], const double b[3], int32_t i,
                         int32_t j, double cut[2]) {
    cut[0] = 0.0, cut[1] = 1.0;
    for (int32_t k = u->first[j]; k < u->first[j + 1]; k++) {
        const double *p = union_end(u->all, k, 0), *q = union_end(u->all, k, 1);
        const double e[2] = {q[0] - p[0], q[1] - p[1]}, length = hypot(e[0], e[1]);
        if (!(length > 0.0)) continue;
        const double n[2] = {-e[1] / length, e[0] / length}; // outside is on the left
        const double from = n[0] * (a[0] - p[0]) + n[1] * (a[1] - p[1]);
        const double to = n[0] * (b[0] - p[0]) + n[1] * (b[1] - p[1]);
        if (fabs(from) <= UNION_SAME * u->size && fabs(to) <= UNION_SAME * u->size) {
            const bool against = (b[0] - a[0]) * e[0] + (b[1] - a[1]) * e[1] < 0.0;
            if (!against && j > i) return false;
            continue;
        }
        if (from >= 0.0 && to >= 0.0) return false;
        if (from <= 0.0 && to <= 0.0) continue;
        const double t = from / (from - to);
        if (from > 0.0)
            cut[0] = TL_MAX(cut[0], t);
        else
            cut[1] = TL_MIN(cut[1], t);
        if (cut[0] >= cut[1]) return false;
    }
    return true;
}

static int union_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The segment from t0 to t1, with the normals between those of its ends.
static void union_keep(tl_surface_build *b, const talus_surface *all, int32_t segment, double t0,
                       double t1) {
    const int32_t *end = all->triangle + 2 * (int64_t)segment;
    const double *n0 = all->normal + 3 * (int64_t)end[0], *n1 = all->normal + 3 * (int64_t)end[1];
    const double *p = union_end(all, segment, 0), *q = union_end(all, segment, 1);
    int32_t at[2];
    for (int k = 0; k < 2; k++) {
        const double t = k == 0 ? t0 : t1;
        double x[3], n[3];
        for (int e = 0; e < 3; e++) {
            x[e] = t == 1.0 ? q[e] : p[e] + t * (q[e] - p[e]);
            n[e] = (1.0 - t) * n0[e] + t * n1[e];
        }
        at[k] = tl_surface_point(b, x, n);
    }
    tl_surface_segment(b, at[0], at[1]);
}

static talus_status union_clip(tl_surface_build *b, const union_outline *u, int32_t i) {
    for (int32_t k = u->first[i]; k < u->first[i + 1]; k++) {
        const double *p = union_end(u->all, k, 0), *q = union_end(u->all, k, 1);
        int32_t cuts = 0;
        for (int32_t j = 0; j < u->parts; j++) {
            const double far = hypot(u->ball[j][0] - u->ball[i][0], u->ball[j][1] - u->ball[i][1]);
            if (j == i || far > u->ball[j][2] + u->ball[i][2] + UNION_SAME * u->size) continue;
            if (union_within(u, p, q, i, j, u->cut[cuts])) cuts++;
        }
        if (cuts > 1) qsort(u->cut, (size_t)cuts, sizeof *u->cut, union_compare);
        TL_TRY(tl_surface_reserve(b, 2 * ((int64_t)cuts + 1), (int64_t)cuts + 1));
        double t = 0.0;
        for (int32_t c = 0; c <= cuts; c++) {
            const double next = c < cuts ? u->cut[c][0] : 1.0;
            if (next > t) union_keep(b, u->all, k, t, next);
            if (c < cuts) t = TL_MAX(t, u->cut[c][1]);
        }
    }
    return TALUS_OK;
}

static void union_measure(union_outline *u, double (*ball)[3]) {
    for (int32_t i = 0; i < u->parts; i++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int32_t k = u->first[i]; k < u->first[i + 1]; k++)
            for (int e = 0; e < 2; e++) {
                const double x = union_end(u->all, k, 0)[e];
                low[e] = TL_MIN(low[e], x), high[e] = TL_MAX(high[e], x);
            }
        for (int e = 0; e < 2; e++) ball[i][e] = 0.5 * (low[e] + high[e]);
        ball[i][2] = 0.5 * hypot(high[0] - low[0], high[1] - low[1]);
        u->size = TL_MAX(u->size, hypot(ball[i][0], ball[i][1]) + ball[i][2]);
    }
}

// Replace the outlines of the parts by that of their union.
static talus_status union_join(tl_surface_build *b, const int32_t *first, int32_t parts) {
    talus_status status = TALUS_OK;
    talus_surface all = *b->out, joined = {0};
    union_outline u = {.all = &all, .first = first, .parts = parts};
    double(*ball)[3] = NULL;
    tl_surface_build into = *b;
    into.out = &joined;
    into.point_room = into.facet_room = 0;
    into.inside = false;
    TL_GOTO(TL_ALLOC(b->ctx, parts, &ball));
    TL_GOTO(TL_ALLOC(b->ctx, parts, &u.cut));
    union_measure(&u, ball);
    u.ball = (const double(*)[3])ball;
    for (int32_t i = 0; i < parts; i++) TL_GOTO(union_clip(&into, &u, i));
    *b->out = joined;
    joined = all;
done:
    talus_surface_free(b->ctx, &joined);
    tl_free(b->ctx, ball);
    tl_free(b->ctx, u.cut);
    return status;
}

talus_status tl_surface_add_union(tl_surface_build *b, const talus_shape_def *shape) {
    talus_status status = TALUS_OK;
    tl_solid *solid = NULL;
    int32_t *first = NULL;
    TL_GOTO(tl_solid_create(b->ctx, b->dim, shape, &solid));
    TL_GOTO(TL_ALLOC(b->ctx, (int64_t)solid->pieces + 1, &first));
    for (int32_t k = 0; k < solid->pieces; k++) {
        const tl_piece *piece = &solid->piece[k];
        int64_t p = b->out->points;
        TL_GOTO(tl_surface_add(b, &piece->solid->shape));
        for (; p < b->out->points; p++) {
            double *x = b->out->point + 3 * p, *n = b->out->normal + 3 * p;
            tl_rotate(piece->place.q, x, x);
            tl_axpy3(piece->place.x, 1.0, x, x);
            tl_rotate(piece->place.q, n, n);
        }
        first[k + 1] = b->out->triangles;
    }
    if (b->dim == 2 && solid->pieces > 1) TL_GOTO(union_join(b, first, solid->pieces));
done:
    tl_solid_destroy(b->ctx, solid);
    tl_free(b->ctx, first);
    return status;
}
