// SPDX-License-Identifier: Apache-2.0
// How deep two cores with corners overlap, exactly: the best axis is the normal of a face of a or
// of b, or crosses an edge of each (in 2D: the normal of an edge), since S is the minimum of linear
// functions and, where it is negative, is largest on the unit sphere at a corner of the arrangement
// of the normals' regions (Gauss map). All candidates are looked at, but most are dismissed by one
// product: with any points x of a and y of b, S(n) <= n·(x − y). Two points that are near each
// other leave a few faces and edges around them.
#include "collide/convex_impl.h"

// Part of the size by which an axis must be better than one found before, and by which bounds may
// be off.
#define AXIS_NOTHING 1e-15
#define AXIS_SLACK 1e-14
// Sine below which two edges are parallel: others then have the best axis to within this part of
// the size.
#define AXIS_PARALLEL 1e-13

static void axis_take(const tl_couple *c, const double n[3], double s, tl_axis *axis) {
    if (!(s > axis->s + AXIS_NOTHING * c->size) && !(axis->s == -INFINITY)) return;
    axis->s = s;
    tl_copy3(n, axis->n);
}

static void axis_try_face_of_a(const tl_couple *c, const tl_hull *h, int32_t f, tl_axis *axis) {
    double n[3], m[3], y[3];
    tl_scale3(-1.0, h->normal[f], n);
    tl_couple_turn_to_b(c, n, m);
    c->b->support(c->b, m, y);
    axis_take(c, n, -h->offset[f] - (tl_dot3(m, y) + tl_dot3(n, c->shift)), axis);
}

static void axis_try_face_of_b(const tl_couple *c, const tl_hull *h, int32_t f, tl_axis *axis) {
    double n[3], x[3];
    tl_couple_turn_from_b(c, h->normal[f], n);
    const double back[3] = {-n[0], -n[1], -n[2]};
    c->a->support(c->a, back, x);
    axis_take(c, n, tl_dot3(n, x) - (h->offset[f] + tl_dot3(n, c->shift)), axis);
}

// All faces of one of the two; `at` is a point of the other, in the frame of the faces.
static void axis_try_faces(const tl_couple *c, bool of_a, const tl_hull *h, const double at[3],
                           tl_axis *axis) {
    const double slack = AXIS_SLACK * c->size;
    int32_t first = 0;
    double most = -INFINITY;
    for (int32_t f = 0; f < h->faces; f++) {
        const double bound = tl_dot3(h->normal[f], at) - h->offset[f];
        if (bound > most) most = bound, first = f;
    }
    for (int32_t k = -1; k < h->faces; k++) { // the most promising one first, and again in its turn
        const int32_t f = k < 0 ? first : k;
        if (k >= 0 && (k == first || tl_dot3(h->normal[f], at) - h->offset[f] + slack <= axis->s))
            continue;
        if (of_a)
            axis_try_face_of_a(c, h, f, axis);
        else
            axis_try_face_of_b(c, h, f, axis);
    }
}

// Whether S may be above a value on the arc of normals between p and q, given d, the way from the
// edge to a point of the other body: there S <= normal·d.
static bool axis_may_exceed(const double p[3], const double q[3], const double d[3], double above) {
    const double dp = tl_dot3(d, p), dq = tl_dot3(d, q);
    if (dp > above || dq > above) return true;
    const double cosine = tl_dot3(p, q); // between the ends the product may have its peak
    return dq > cosine * dp && dp > cosine * dq;
}

// Edges of a hull on whose arcs S may be above a value, by two points of the other body.
static int32_t axis_edges(const tl_hull *h, const double at[3], const double deepest[3],
                          double above, int32_t *out) {
    int32_t count = 0;
    for (int32_t e = 0; e < h->edges; e++) {
        const double *p = h->normal[h->edge[e].left], *q = h->normal[h->edge[e].right];
        double d[3];
        tl_sub3(deepest, h->corner[h->edge[e].tail], d);
        if (!axis_may_exceed(p, q, d, above)) continue;
        tl_sub3(at, h->corner[h->edge[e].tail], d);
        if (axis_may_exceed(p, q, d, above)) out[count++] = e;
    }
    return count;
}

// An edge with the normals of its faces, in the frame of a.
typedef struct axis_edge {
    const double *left, *right;
    double tail[3], d[3], square; // d: from tail to head, square its length squared
    double room[2][3];            // for normals that had to be turned
} axis_edge;

static void axis_edge_of_a(const tl_hull *h, int32_t e, axis_edge *out) {
    const tl_hull_edge *edge = &h->edge[e];
    tl_copy3(h->corner[edge->tail], out->tail);
    tl_sub3(h->corner[edge->head], out->tail, out->d);
    out->square = tl_dot3(out->d, out->d);
    out->left = h->normal[edge->left];
    out->right = h->normal[edge->right];
}

static void axis_edge_of_b(const tl_couple *c, const tl_hull *h, int32_t e, axis_edge *out) {
    axis_edge_of_a(h, e, out);
    tl_couple_turn_from_b(c, out->d, out->d);
    tl_couple_from_b(c, out->tail, out->tail);
    tl_couple_turn_from_b(c, out->left, out->room[0]);
    tl_couple_turn_from_b(c, out->right, out->room[1]);
    out->left = out->room[0];
    out->right = out->room[1];
}

// Whether an arc of normals and the great circle across an edge e may cross: its ends are on
// different sides. Rounding decides for yes, which costs a look.
static bool axis_crosses(const double left[3], const double right[3], const axis_edge *e) {
    return tl_dot3(left, e->d) * tl_dot3(right, e->d) <= 1e-20 * e->square;
}

// The axis across two edges whose arcs, that of b turned round, may cross.
static void axis_try_edges(const tl_couple *c, const axis_edge *a, const axis_edge *b,
                           tl_axis *axis) {
    double n[3], sum[3], d[3], x[3], y[3];
    tl_cross3(a->d, b->d, n);
    double length = tl_norm3(n);
    if (!(length > AXIS_PARALLEL * sqrt(a->square * b->square))) return;
    // from b to a: against the normals of a
    for (int k = 0; k < 3; k++) sum[k] = a->left[k] + a->right[k];
    if (tl_dot3(n, sum) > 0.0) length = -length;
    tl_scale3(1.0 / length, n, n);
    for (int k = 0; k < 3; k++) sum[k] = b->left[k] + b->right[k];
    if (tl_dot3(n, sum) < -1e-10) return; // the arcs meet on opposite sides of the sphere
    tl_sub3(a->tail, b->tail, d);
    // the error of n at its worst, times the lengths
    const double doubt =
        (AXIS_SLACK + 1e-15 * sqrt(a->square * b->square) / fabs(length)) * (c->size + tl_norm3(d));
    if (!(tl_dot3(n, d) + doubt > axis->s)) return;
    // The error of a product of nearly parallel edges: take out what is along one of them; along
    // the other it is then small as well.
    tl_axpy3(n, -tl_dot3(n, a->d) / a->square, a->d, n);
    tl_scale3(1.0 / tl_norm3(n), n, n);
    tl_couple_support(c, n, x, y);
    axis_take(c, n, tl_dot3(n, x) - tl_dot3(n, y), axis);
}

void tl_axis_of_corners(const tl_couple *c, const tl_hull *a, const tl_hull *b,
                        const double at_a[3], const double at_b[3], tl_axis *axis) {
    double back[3];
    tl_sub3(at_a, c->shift, back);
    tl_couple_turn_to_b(c, back, back);
    axis_try_faces(c, true, a, at_b, axis);
    axis_try_faces(c, false, b, back, axis);
    if (c->dim == 2) return;
    int32_t of_a[TL_HULL_EDGES], of_b[TL_HULL_EDGES], count_b = 0;
    const double above = axis->s + AXIS_SLACK * c->size; // what is better by less does not count
    double x[3], y[3];
    tl_couple_support(c, axis->n, x, y);
    const int32_t count_a = axis_edges(a, at_b, y, above, of_a);
    if (count_a > 0) {
        tl_sub3(x, c->shift, x);
        tl_couple_turn_to_b(c, x, x);
        count_b = axis_edges(b, back, x, above, of_b);
    }
    for (int32_t j = 0; j < count_b; j++) {
        axis_edge ea, eb;
        axis_edge_of_b(c, b, of_b[j], &eb);
        for (int32_t i = 0; i < count_a; i++) {
            const tl_hull_edge *edge = &a->edge[of_a[i]];
            if (!axis_crosses(a->normal[edge->left], a->normal[edge->right], &eb)) continue;
            axis_edge_of_a(a, of_a[i], &ea);
            if (axis_crosses(eb.left, eb.right, &ea)) axis_try_edges(c, &ea, &eb, axis);
        }
    }
}
