// SPDX-License-Identifier: Apache-2.0
// Nearest points of two convex cores (Gilbert, Johnson, Keerthi): v, the point nearest to the
// origin of a polytope inside the Minkowski difference D = a − b, is led to that of D. Each step
// adds the support point w of D against v; v·w/|v| bounds the distance from below and |v| from
// above. |v| falls strictly, so that the search ends; D of two cores with corners has finitely
// many.
#include "collide/convex_impl.h"
#include <string.h>

enum { GJK_STEPS = 128 };

// Part of the size at which rounding hides everything else.
#define GJK_NOTHING 1e-14

// A subset of the simplex by its numbers, the point of its interior nearest to the origin, and the
// weights of its corners there.
typedef struct gjk_face {
    int count, corner[4];
    double v[3], weight[4], square;
} gjk_face;

static void gjk_take(const gjk_face *face, gjk_face *best) {
    if (face->square < best->square) *best = *face;
}

// All of the following count only where the nearest point of the line, plane or space is inside.
static void gjk_try_segment(const tl_simplex *s, int i, int j, gjk_face *best) {
    gjk_face f = {.count = 2, .corner = {i, j}};
    double d[3];
    tl_sub3(s->w[j], s->w[i], d);
    const double length = tl_dot3(d, d), t = -tl_dot3(s->w[i], d);
    if (!(t > 0.0 && t < length)) return;
    f.weight[1] = t / length;
    f.weight[0] = 1.0 - f.weight[1];
    tl_axpy3(s->w[i], f.weight[1], d, f.v);
    // once more: v may be much shorter than what it is the difference of
    tl_axpy3(f.v, -tl_dot3(f.v, d) / length, d, f.v);
    f.square = tl_dot3(f.v, f.v);
    gjk_take(&f, best);
}

static void gjk_try_triangle(const tl_simplex *s, int i, int j, int k, gjk_face *best) {
    gjk_face f = {.count = 3, .corner = {i, j, k}};
    double d[3], e[3], n[3], c[3];
    tl_sub3(s->w[j], s->w[i], d);
    tl_sub3(s->w[k], s->w[i], e);
    tl_cross3(d, e, n);
    const double square = tl_dot3(n, n);
    if (!(square > 0.0)) return;
    for (int m = 0; m < 3; m++) {
        tl_cross3(s->w[f.corner[(m + 1) % 3]], s->w[f.corner[(m + 2) % 3]], c);
        f.weight[m] = tl_dot3(n, c) / square;
        if (!(f.weight[m] > 0.0)) return;
    }
    // along n itself: no digit of the direction is lost where the distance is small
    tl_scale3(tl_dot3(n, s->w[i]) / square, n, f.v);
    f.square = tl_dot3(f.v, f.v);
    gjk_take(&f, best);
}

static double gjk_det(const double a[3], const double b[3], const double c[3]) {
    double n[3];
    tl_cross3(b, c, n);
    return tl_dot3(a, n);
}

// Weights of the origin inside the tetrahedron; false: it is outside, or the tetrahedron is flat.
static bool gjk_try_inside(tl_simplex *s) {
    const double part[4] = {-gjk_det(s->w[1], s->w[2], s->w[3]), gjk_det(s->w[0], s->w[2], s->w[3]),
                            -gjk_det(s->w[0], s->w[1], s->w[3]),
                            gjk_det(s->w[0], s->w[1], s->w[2])};
    const double total = part[0] + part[1] + part[2] + part[3];
    for (int k = 0; k < 4; k++)
        if (!(part[k] / total > 0.0)) return false;
    for (int k = 0; k < 4; k++) s->weight[k] = part[k] / total;
    return true;
}

// The face of the simplex that holds its point nearest to the origin. It has the corner that came
// last: otherwise that would not have been nearer than the plane through v.
static bool gjk_reduce(tl_simplex *s, double v[3], double *square) {
    const int last = s->count - 1;
    gjk_face best = {.count = 1, .corner = {last}, .weight = {1.0}};
    tl_copy3(s->w[last], best.v);
    best.square = tl_dot3(best.v, best.v);
    for (int i = 0; i < last; i++) gjk_try_segment(s, i, last, &best);
    for (int i = 0; i < last; i++)
        for (int j = i + 1; j < last; j++) gjk_try_triangle(s, i, j, last, &best);
    if (!(best.square < *square)) return false;
    tl_simplex kept = {.count = best.count};
    for (int k = 0; k < best.count; k++) {
        tl_copy3(s->w[best.corner[k]], kept.w[k]);
        tl_copy3(s->a[best.corner[k]], kept.a[k]);
        tl_copy3(s->b[best.corner[k]], kept.b[k]);
        kept.weight[k] = best.weight[k];
    }
    *s = kept;
    tl_copy3(best.v, v);
    *square = best.square;
    return true;
}

static bool gjk_has(const tl_simplex *s, const double w[3]) {
    for (int k = 0; k < s->count; k++)
        if (s->w[k][0] == w[0] && s->w[k][1] == w[1] && s->w[k][2] == w[2]) return true;
    return false;
}

tl_gjk_result tl_gjk(const tl_couple *c, double reach, tl_simplex *s, tl_axis *axis) {
    double v[3], square = INFINITY, least = GJK_NOTHING * c->size;
    tl_scale3(-1.0, c->shift, v); // from the origin of b to that of a
    if (!(tl_norm3(v) > least)) v[0] = v[1] = v[2] = 0.0, v[c->dim - 1] = c->size;
    *s = (tl_simplex){0};
    axis->s = -INFINITY;
    for (int step = 0; step < GJK_STEPS; step++) {
        const int at = s->count;
        const double length = tl_norm3(v);
        double w[3];
        tl_couple_support(c, v, s->a[at], s->b[at]);
        tl_sub3(s->a[at], s->b[at], w);
        const double bound = tl_dot3(v, w) / length;
        if (bound > axis->s) {
            axis->s = bound;
            tl_scale3(1.0 / length, v, axis->n);
        }
        if (bound > reach) return TL_GJK_FAR;
        if (at > 0 && (length - bound <= least || gjk_has(s, w))) return TL_GJK_APART;
        tl_copy3(w, s->w[at]);
        s->count++;
        if (s->count == 4 && gjk_try_inside(s)) return TL_GJK_OVERLAP;
        const tl_simplex before = *s;
        if (!gjk_reduce(s, v, &square)) { // rounding ends the search
            *s = before;
            s->count--;
            return TL_GJK_APART;
        }
        if (!(square > least * least)) return TL_GJK_OVERLAP;
    }
    return TL_GJK_APART;
}
