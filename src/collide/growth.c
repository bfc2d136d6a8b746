// SPDX-License-Identifier: Apache-2.0
// How deep two cores of any kind overlap: a polytope inside the Minkowski difference D = a − b
// grows where its surface is nearest to the origin (expanding polytope), until D does not reach
// beyond. The nearest face bounds the depth from below and S of each normal that was tried from
// above; the best of these is the answer, so that it is safe whenever the search ends. The polytope
// need not hold the origin at first: faces that have it outside come first. In 2D it is a polygon.
#include "collide/convex_impl.h"

enum { GROWTH_POINTS = 128, GROWTH_FACES = 2 * GROWTH_POINTS };

#define GROWTH_ENOUGH 1e-12 // of the size: between the two bounds
#define GROWTH_FLAT 1e-10   // of the size: no simplex to begin with

typedef struct growth_face {
    int corner[3], next[3]; // next[k] is across the edge from corner k to corner k + 1
    double n[3], d;         // outward; distance of the origin behind it
    bool alive, seen;
} growth_face;

typedef struct growth {
    const tl_couple *c;
    int points, faces;
    double w[GROWTH_POINTS][3], a[GROWTH_POINTS][3], b[GROWTH_POINTS][3];
    double best;            // least extent of D along a normal so far
    double n[3];            // that normal
    int corner[3], corners; // of the face it belongs to
    growth_face face[GROWTH_FACES];
} growth;

// Add the point of D farthest along a unit vector; returns how far that is. No room is asked for
// beyond GROWTH_POINTS by the loops below.
static double growth_add(growth *g, const double n[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    const int k = g->points++;
    tl_couple_support(g->c, back, g->a[k], g->b[k]);
    tl_sub3(g->a[k], g->b[k], g->w[k]);
    return tl_dot3(n, g->w[k]);
}

// Add the farther of two opposite points of D, measured from point `from`; false: D is flat along n
// and nothing was added.
static bool growth_add_either(growth *g, const double n[3], const double from[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    const double ahead = growth_add(g, n) - tl_dot3(n, from);
    const double behind = growth_add(g, back) - tl_dot3(back, from);
    const int last = --g->points;
    if (behind > ahead) {
        tl_copy3(g->w[last], g->w[last - 1]);
        tl_copy3(g->a[last], g->a[last - 1]);
        tl_copy3(g->b[last], g->b[last - 1]);
    }
    if (TL_MAX(ahead, behind) > GROWTH_FLAT * g->c->size) return true;
    g->points--;
    return false;
}

// A simplex of dim + 1 points of D; false: there is none, D is flat. Its extent along the
// directions that were tried is an answer already.
static bool growth_begin(growth *g) {
    const int32_t dim = g->c->dim;
    double axis[3] = {1.0, 0.0, 0.0}, d[3], e[3], n[3];
    growth_add(g, axis);
    if (!growth_add_either(g, axis, g->w[0])) {
        axis[0] = 0.0, axis[1] = 1.0;
        if (!growth_add_either(g, axis, g->w[0])) return false;
    }
    tl_sub3(g->w[1], g->w[0], d);
    tl_across(dim, d, n);
    if (!growth_add_either(g, n, g->w[0])) {
        if (dim == 2) return false;
        tl_cross3(d, n, e);
        tl_scale3(1.0 / tl_norm3(e), e, n);
        if (!growth_add_either(g, n, g->w[0])) return false;
    }
    if (dim == 2) return true;
    tl_sub3(g->w[2], g->w[0], e);
    tl_cross3(d, e, n);
    tl_scale3(1.0 / tl_norm3(n), n, n);
    return growth_add_either(g, n, g->w[0]);
}

// Try a normal: the extent of D along it. Returns it; the new point is the last one.
static double growth_try(growth *g, const double n[3], const int *corner, int corners) {
    const double extent = growth_add(g, n);
    if (extent < g->best) {
        g->best = extent;
        tl_copy3(n, g->n);
        g->corners = corners;
        for (int k = 0; k < corners; k++) g->corner[k] = corner[k];
    }
    return extent;
}

static void growth_face_plane(const growth *g, growth_face *f) {
    double d[3], e[3];
    const double *p = g->w[f->corner[0]];
    tl_sub3(g->w[f->corner[1]], p, d);
    tl_sub3(g->w[f->corner[2]], p, e);
    tl_cross3(d, e, f->n);
    const double area = tl_norm3(f->n);
    // a face without area keeps its place among the others but is never the nearest
    f->d = INFINITY;
    if (!(area > 0.0)) return;
    tl_scale3(1.0 / area, f->n, f->n);
    f->d = tl_dot3(f->n, p);
}

// Faces that see the new point, from face f on, and the edges around them: face behind, number of
// the edge there.
static int growth_horizon(growth *g, int f, const double w[3], int edge[GROWTH_FACES][2]) {
    int stack[GROWTH_FACES], depth = 0, count = 0;
    const double slack = 1e-14 * g->c->size;
    stack[depth++] = f;
    g->face[f].seen = true;
    while (depth > 0) {
        const int at = stack[--depth];
        g->face[at].alive = false;
        for (int k = 0; k < 3; k++) {
            const int other = g->face[at].next[k];
            growth_face *o = &g->face[other];
            if (o->seen) continue;
            if (isinf(o->d) || tl_dot3(o->n, w) - o->d > slack) {
                o->seen = true;
                stack[depth++] = other;
            }
        }
    }
    for (int at = 0; at < g->faces; at++) {
        if (!g->face[at].seen) continue;
        for (int k = 0; k < 3; k++) {
            const int other = g->face[at].next[k];
            if (g->face[other].seen) continue;
            for (int m = 0; m < 3; m++)
                if (g->face[other].next[m] == at) edge[count][0] = other, edge[count++][1] = m;
        }
    }
    for (int at = 0; at < g->faces; at++) g->face[at].seen = false;
    return count;
}

// Replace what the last point sees by faces to it. False: rounding has made a hole that no ring of
// edges goes around, or there is no room.
static bool growth_expand(growth *g, int f) {
    int edge[GROWTH_FACES][2], start[GROWTH_POINTS], slot[GROWTH_FACES], used = 0;
    const int last = g->points - 1, count = growth_horizon(g, f, g->w[last], edge);
    if (count < 3) return false;
    for (int k = 0; k < GROWTH_POINTS; k++) start[k] = -1;
    for (int at = 0; used < count && at < GROWTH_FACES; at++) {
        if (at >= g->faces)
            g->faces = at + 1;
        else if (g->face[at].alive)
            continue;
        slot[used++] = at;
    }
    if (used < count) return false;
    for (int k = 0; k < count; k++) {
        growth_face *o = &g->face[edge[k][0]], *t = &g->face[slot[k]];
        const int m = edge[k][1];
        // the outer face has the edge from its corner m to m + 1; the new one the other way round
        *t = (growth_face){.corner = {o->corner[(m + 1) % 3], o->corner[m], last}, .alive = true};
        if (start[t->corner[0]] >= 0) return false;
        start[t->corner[0]] = slot[k];
        t->next[0] = edge[k][0];
        o->next[m] = slot[k];
        growth_face_plane(g, t);
    }
    for (int k = 0; k < count; k++) {
        growth_face *t = &g->face[slot[k]];
        const int follower = start[t->corner[1]];
        if (follower < 0) return false;
        t->next[1] = follower;
        g->face[follower].next[2] = slot[k];
    }
    return true;
}

static void growth_space(growth *g) {
    // the tetrahedron, so that its faces look outwards
    double d[3], e[3], f[3], n[3];
    tl_sub3(g->w[1], g->w[0], d);
    tl_sub3(g->w[2], g->w[0], e);
    tl_sub3(g->w[3], g->w[0], f);
    tl_cross3(d, e, n);
    const bool up = tl_dot3(n, f) > 0.0;
    const int p = up ? 2 : 1, q = up ? 1 : 2;
    const growth_face begin[4] = {{.corner = {0, p, q}, .next = {3, 2, 1}, .alive = true},
                                  {.corner = {0, q, 3}, .next = {0, 2, 3}, .alive = true},
                                  {.corner = {q, p, 3}, .next = {0, 3, 1}, .alive = true},
                                  {.corner = {p, 0, 3}, .next = {0, 1, 2}, .alive = true}};
    g->faces = 4;
    for (int k = 0; k < 4; k++) {
        g->face[k] = begin[k];
        growth_face_plane(g, &g->face[k]);
    }
    while (g->points < GROWTH_POINTS) {
        int nearest = -1;
        for (int k = 0; k < g->faces; k++)
            if (g->face[k].alive && (nearest < 0 || g->face[k].d < g->face[nearest].d)) nearest = k;
        if (nearest < 0 || isinf(g->face[nearest].d)) return;
        const growth_face *t = &g->face[nearest];
        const double extent = growth_try(g, t->n, t->corner, 3);
        if (extent - t->d <= GROWTH_ENOUGH * g->c->size) return;
        if (g->best < 0.0) return; // apart, by rounding
        if (!growth_expand(g, nearest)) return;
    }
}

// The polygon as a ring of points, counter-clockwise.
static void growth_plane(growth *g) {
    int ring[GROWTH_POINTS] = {0, 1, 2}, count = 3;
    double d[3], e[3], n[3];
    tl_sub3(g->w[1], g->w[0], d);
    tl_sub3(g->w[2], g->w[0], e);
    tl_cross3(d, e, n);
    if (n[2] < 0.0) ring[1] = 2, ring[2] = 1;
    while (g->points < GROWTH_POINTS) {
        double least = INFINITY, best[3] = {0.0};
        int at = 0;
        for (int k = 0; k < count; k++) {
            const double *p = g->w[ring[k]], *q = g->w[ring[(k + 1) % count]];
            const double out[3] = {q[1] - p[1], p[0] - q[0], 0.0}, length = tl_norm3(out);
            if (!(length > 0.0) || !(tl_dot3(out, p) / length < least)) continue;
            least = tl_dot3(out, p) / length;
            tl_scale3(1.0 / length, out, best);
            at = k;
        }
        const int pair[2] = {ring[at], ring[(at + 1) % count]};
        const double extent = growth_try(g, best, pair, 2);
        if (extent - least <= GROWTH_ENOUGH * g->c->size || g->best < 0.0) return;
        for (int k = count; k > at + 1; k--) ring[k] = ring[k - 1];
        ring[at + 1] = g->points - 1;
        count++;
    }
}

// Weights of the foot of the origin on the face of the best normal, kept within the face.
static void growth_blend(const growth *g, double at_a[3], double at_b[3]) {
    double weight[3] = {1.0, 0.0, 0.0}, d[3], e[3];
    TL_ASSUME(g->corners == 2 || g->corners == 3);
    const double *p = g->w[g->corner[0]], *q = g->w[g->corner[1]];
    tl_sub3(q, p, d);
    if (g->corners == 2) {
        const double t = -tl_dot3(p, d) / tl_dot3(d, d);
        weight[1] = t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0;
        weight[0] = 1.0 - weight[1];
    } else {
        const double *r = g->w[g->corner[2]];
        tl_sub3(r, p, e);
        const double dd = tl_dot3(d, d), de = tl_dot3(d, e), ee = tl_dot3(e, e);
        const double pd = -tl_dot3(p, d), pe = -tl_dot3(p, e), det = dd * ee - de * de;
        if (det > 0.0) {
            weight[1] = TL_MAX(ee * pd - de * pe, 0.0) / det;
            weight[2] = TL_MAX(dd * pe - de * pd, 0.0) / det;
            const double sum = weight[1] + weight[2];
            if (sum > 1.0) weight[1] /= sum, weight[2] /= sum;
            weight[0] = 1.0 - weight[1] - weight[2];
        }
    }
    for (int k = 0; k < 3; k++) {
        at_a[k] = at_b[k] = 0.0;
        for (int i = 0; i < g->corners; i++) {
            at_a[k] += weight[i] * g->a[g->corner[i]][k];
            at_b[k] += weight[i] * g->b[g->corner[i]][k];
        }
    }
}

// Of a D that is a point, a line or a plane the way out is across it.
static void growth_flat(const growth *g, tl_axis *axis) {
    double d[3] = {0.0, 0.0, 0.0}, e[3], a[3], b[3];
    if (g->points >= 2) tl_sub3(g->w[1], g->w[0], d);
    tl_across(g->c->dim, d, axis->n);
    if (g->points >= 3) {
        tl_sub3(g->w[2], g->w[0], e);
        tl_cross3(d, e, a);
        const double area = tl_norm3(a);
        if (g->c->dim == 3 && area > 0.0) tl_scale3(1.0 / area, a, axis->n);
    }
    tl_couple_support(g->c, axis->n, a, b);
    axis->s = tl_dot3(axis->n, a) - tl_dot3(axis->n, b);
}

void tl_axis_by_growth(const tl_couple *c, tl_axis *axis, double at_a[3], double at_b[3]) {
    growth g;
    g.c = c;
    g.points = g.faces = g.corners = 0;
    g.best = INFINITY;
    if (!growth_begin(&g)) {
        growth_flat(&g, axis);
        return;
    }
    if (c->dim == 2)
        growth_plane(&g);
    else
        growth_space(&g);
    if (g.corners == 0) { // no face had an area
        growth_flat(&g, axis);
        return;
    }
    axis->s = -g.best;
    tl_scale3(-1.0, g.n, axis->n);
    growth_blend(&g, at_a, at_b);
}
