// SPDX-License-Identifier: Apache-2.0
// Convex shapes with meshes (docs/theory/collision.md, "Meshes"). A point of the surface is touched
// in directions d in which it is the nearest of its surroundings:
//     within a flat patch   d = ± its normal: the contacts with the plane, where they are on it;
//     at an edge            d·t <= 0 for the direction t into each of its facets;
//     at a point            d·e <= 0 for all edges e that begin there.
// So there are none at edges within a patch, nor at valleys: what is nearest there is nearest to a
// neighbour. Everything is computed in the frame of the mesh.
#include "collide/convex.h"
#include "collide/mesh.h"
#include "collide/union.h"

// Directions may be off by this much (rounding), places by this part of the size of the mesh.
#define MESH_TURN 1e-9
#define MESH_SHIFT 1e-12
// Sine up to which a corner or edge of a mesh that moves may be tilted against others beside it: so
// all that lies on something touches it, not only the lowest.
#define MESH_TILT 0.25
// How far a corner may go into the facets of a valley, as a part of the size of its shape.
#define MESH_INTO 0.05

typedef struct mesh_work {
    int32_t dim;
    const tl_mesh *m;
    tl_placed shape;      // in the frame of the mesh
    tl_pose pose;         // of it
    const tl_pose *frame; // of the mesh in the world
    double centre[3];     // a point within the shape
    double reach;
    double shift, slack; // lengths that are rounding: along the surface, in directions
    double into;         // how far a shape may go into a valley
    double tilt;         // sine by which directions at corners may be off
    tl_mesh_query query;
    bool stuck;    // an edge is within the shape, and its way out leads into the surface
    tl_touch *out; // NULL: only counted
    int64_t count;
} mesh_work;

// Which element of the mesh a contact is at, and which of the shape's points it is there. Elements
// are facets (of patches: the first), then edges, then points.
static uint32_t mesh_feature(int64_t element, uint32_t point) {
    const uint64_t both = 64 * (uint64_t)element + point;
    if (point < 64 && both < 0x80000000) return (uint32_t)both;
    const uint64_t number[2] = {(uint64_t)element, point};
    return (uint32_t)talus_hash(number, sizeof number, 0) & 0x7fffffff;
}

// A contact at the point p of the mesh with normal n, both in its frame; until the contacts are
// settled they stay in it, arm_b is p, `a` is the facet they are at and `b` the edge (−1: none).
static void mesh_put(mesh_work *w, int64_t element, uint32_t point, double gap, const double n[3],
                     const double p[3], int32_t facet, int32_t edge) {
    if (!(gap <= w->reach)) return;
    if (w->out) {
        tl_touch *t = &w->out[w->count];
        *t = (tl_touch){.a = facet, .b = edge, .feature = mesh_feature(element, point), .gap = gap};
        tl_copy3(n, t->normal);
        tl_copy3(p, t->arm_b);
    }
    w->count++;
}

// How far the point x, in the plane of facet t, is beyond the edge that begins at its corner k (2D:
// beyond that corner); negative: within.
static double mesh_beyond(const tl_mesh *m, int32_t t, int k, const double x[3]) {
    const int32_t *c = m->corner + (int64_t)m->dim * t;
    const double *a = m->point[c[k]], *b = m->point[c[(k + 1) % m->dim]];
    double along[3], from[3], inward[3];
    tl_sub3(b, a, along);
    tl_sub3(x, a, from);
    if (m->dim == 2)
        tl_copy3(along, inward);
    else
        tl_cross3(m->normal[t], along, inward);
    return -tl_dot3(from, inward) / tl_norm3(inward);
}

static bool mesh_is_on(const mesh_work *w, int32_t t, const double x[3]) {
    for (int k = 0; k < w->m->dim; k++)
        if (mesh_beyond(w->m, t, k, x) > w->shift) return false;
    return true;
}

// Whether the edge that begins at corner k of facet t is a valley seen from the side of n, and the
// shape is in it: on the same side of the other facet as t is.
static bool mesh_in_valley(const mesh_work *w, int32_t t, int k, const double n[3]) {
    const tl_mesh *m = w->m;
    const int32_t e = m->edges.edge[(int64_t)m->dim * t + k];
    const int32_t *facet = m->edges.facet + m->edges.start[e];
    if (m->edges.start[e + 1] - m->edges.start[e] != 2) return false;
    const int32_t other = facet[0] == t ? facet[1] : facet[0];
    double here[3], there[3], d[3];
    tl_mesh_inward(m, e, t, here);
    tl_mesh_inward(m, e, other, there);
    tl_sub3(w->centre, m->point[m->edges.end[2 * (int64_t)e]], d);
    return tl_dot3(n, there) > MESH_TURN &&
           tl_dot3(m->normal[other], here) * tl_dot3(m->normal[other], d) > 0.0;
}

// The same for a corner of a shape, which may have gone into the facet on the other side of a
// valley a little, and is then beyond the edge.
static bool mesh_is_on_or_in(const mesh_work *w, int32_t t, const double n[3], const double x[3]) {
    double into = 0.0, beyond[3];
    for (int k = 0; k < w->m->dim; k++) {
        beyond[k] = mesh_beyond(w->m, t, k, x);
        if (beyond[k] <= w->shift || beyond[k] > w->into || !mesh_in_valley(w, t, k, n)) continue;
        into = TL_MAX(into, beyond[k]);
    }
    // a facet that has only a corner in the valley ends there with some angle
    for (int k = 0; k < w->m->dim; k++)
        if (beyond[k] > w->shift + 4.0 * into) return false;
    return true;
}

// Whether point p is the nearest of its surroundings in direction d.
static bool mesh_is_peak(const tl_mesh *m, int32_t p, const double d[3], double tilt) {
    for (int32_t i = m->spoke_start[p]; i < m->spoke_start[p + 1]; i++) {
        const int32_t *end = m->edges.end + 2 * (int64_t)m->spoke[i];
        double along[3];
        tl_sub3(m->point[end[0] == p ? end[1] : end[0]], m->point[p], along);
        if (tl_dot3(d, along) > tilt * tl_norm3(along)) return false;
    }
    return true;
}

static bool mesh_is_crest(const tl_mesh *m, int32_t e, const double d[3], double tilt) {
    for (int32_t i = m->edges.start[e]; i < m->edges.start[e + 1]; i++) {
        double inward[3];
        tl_mesh_inward(m, e, m->edges.facet[i], inward);
        if (tl_dot3(d, inward) > tilt) return false;
    }
    return true;
}

// A contact at the point p of edge e with the unit normal n, if the surface can be touched so.
static void mesh_put_at_edge(mesh_work *w, int32_t e, uint32_t point, double gap, const double n[3],
                             const double p[3]) {
    const tl_mesh *m = w->m;
    const int32_t *end = m->edges.end + 2 * (int64_t)e;
    int64_t element = (int64_t)m->facets + e;
    if (m->dim == 3) {
        const double *a = m->point[end[0]], *b = m->point[end[1]];
        double along[3], from[3];
        tl_sub3(b, a, along);
        tl_sub3(p, a, from);
        const double part = tl_dot3(from, along) / tl_dot3(along, along);
        if (part < MESH_TURN || part > 1.0 - MESH_TURN) {
            const int32_t corner = end[part < 0.5 ? 0 : 1];
            if (!mesh_is_peak(m, corner, n, w->tilt)) {
                w->stuck = w->stuck || gap < 0.0;
                return;
            }
            element = (int64_t)m->facets + m->edges.count + corner;
            mesh_put(w, element, 0, gap, n, p, -1, e);
            return;
        }
    }
    if (mesh_is_crest(m, e, n, m->dim == 2 ? w->tilt : MESH_TURN))
        mesh_put(w, element, point, gap, n, p, -1, e);
    else
        w->stuck = w->stuck || gap < 0.0;
}

// Whether facet t is the one that looks after its edge number k: ridges are looked at once.
static bool mesh_owns(const mesh_work *w, int32_t t, int k, int32_t *edge) {
    const tl_mesh *m = w->m;
    *edge = m->edges.edge[(int64_t)m->dim * t + k];
    return m->ridge[*edge] && m->edges.facet[m->edges.start[*edge]] == t;
}

// ---- balls -------------------------------------------------------------------------------------

// The point of edge e (2D: the point) nearest to the centre of the ball; returns the element it is
// at.
static int64_t mesh_ball_foot(const mesh_work *w, int32_t e, double p[3]) {
    const tl_mesh *m = w->m;
    const int32_t *end = m->edges.end + 2 * (int64_t)e;
    const double *a = m->point[end[0]], *b = m->point[end[1]];
    double along[3], d[3];
    tl_copy3(a, p);
    if (m->dim == 2) return (int64_t)m->facets + e;
    tl_sub3(b, a, along);
    tl_sub3(w->pose.x, a, d);
    const double part = tl_dot3(d, along) / tl_dot3(along, along);
    if (part <= 0.0) return (int64_t)m->facets + m->edges.count + end[0];
    tl_copy3(b, p);
    if (part >= 1.0) return (int64_t)m->facets + m->edges.count + end[1];
    tl_axpy3(a, part, along, p);
    return (int64_t)m->facets + e;
}

// Whether direction d at the point p of a closed mesh leads out: by the normals of its facets, each
// with the weight of its angle there.
static bool mesh_is_outward(const tl_mesh *m, int32_t p, const double d[3]) {
    double sum = 0.0;
    for (int32_t i = m->spoke_start[p]; i < m->spoke_start[p + 1]; i++) {
        const int32_t e = m->spoke[i];
        for (int32_t f = m->edges.start[e]; f < m->edges.start[e + 1]; f++) {
            const int32_t t = m->edges.facet[f], *c = m->corner + 3 * (int64_t)t;
            const int at = c[0] == p ? 0 : c[1] == p ? 1 : 2;
            double u[3], v[3], n[3];
            tl_sub3(m->point[c[(at + 1) % 3]], m->point[p], u);
            tl_sub3(m->point[c[(at + 2) % 3]], m->point[p], v);
            tl_cross3(u, v, n);
            sum += atan2(tl_norm3(n), tl_dot3(u, v)) * tl_dot3(m->normal[t], d);
        }
    }
    return sum >= 0.0;
}

// The place of a ball's contact with a solid from within: the nearest.
typedef struct mesh_inner {
    double depth, n[3], p[3];
    int64_t element;
} mesh_inner;

static void mesh_ball_edge(mesh_work *w, int32_t t, int32_t e, double *outer, mesh_inner *inner) {
    const tl_mesh *m = w->m;
    const int64_t points = (int64_t)m->facets + m->edges.count;
    double p[3], d[3], n[3];
    const int64_t element = mesh_ball_foot(w, e, p);
    tl_sub3(w->pose.x, p, d);
    const double distance = tl_pair_direction(d, m->normal[t], n), r = w->shape.shape->radius;
    const int32_t corner = (int32_t)(element - points);
    if (!(distance - r <= w->reach)) return;
    if (element >= points ? !mesh_is_peak(m, corner, n, MESH_TURN)
                          : !mesh_is_crest(m, e, n, MESH_TURN))
        return;
    const bool out =
        !m->closed || (element >= points ? mesh_is_outward(m, corner, n) : m->ridge[e]);
    if (!out && distance < inner->depth) {
        *inner = (mesh_inner){.depth = distance, .element = element};
        tl_scale3(-1.0, n, inner->n);
        tl_copy3(p, inner->p);
    } else if (out) {
        *outer = TL_MIN(*outer, distance);
        mesh_put(w, element, 0, distance - r, n, p, -1, e);
    }
}

// All places whose distance from the centre is a local least one. A centre within a solid is led
// out by the shortest way, and nothing else touches.
static void mesh_ball(mesh_work *w) {
    const tl_mesh *m = w->m;
    const double r = w->shape.shape->radius, *x = w->pose.x;
    mesh_inner inner = {.depth = INFINITY};
    double outer = INFINITY;
    for (int32_t t = tl_mesh_query_next(&w->query); t >= 0; t = tl_mesh_query_next(&w->query)) {
        double d[3], foot[3], n[3];
        tl_copy3(m->normal[t], n);
        tl_sub3(x, m->point[m->corner[(int64_t)m->dim * t]], d);
        const double s = tl_dot3(n, d);
        tl_axpy3(x, -s, n, foot);
        const bool on = mesh_is_on(w, t, foot);
        if (on && m->closed && s < 0.0 && -s < inner.depth) {
            inner = (mesh_inner){.depth = -s, .element = m->patch[t]};
            tl_copy3(n, inner.n);
            tl_copy3(foot, inner.p);
        } else if (on && !(m->closed && s < 0.0)) {
            if (s < 0.0) tl_scale3(-1.0, n, n);
            outer = TL_MIN(outer, fabs(s));
            mesh_put(w, m->patch[t], 0, fabs(s) - r, n, foot, t, -1);
        }
        for (int k = 0; k < m->dim; k++) {
            const int32_t e = m->edges.edge[(int64_t)m->dim * t + k];
            const int32_t *facet = m->edges.facet + m->edges.start[e];
            const bool valley = m->closed && m->patch[facet[0]] != m->patch[facet[1]];
            if (facet[0] == t && (m->ridge[e] || valley)) mesh_ball_edge(w, t, e, &outer, &inner);
        }
    }
    if (!(inner.depth < outer) || !(inner.depth - r <= w->reach)) return;
    if (w->out) w->count = 0;
    mesh_put(w, inner.element, 0, -inner.depth - r, inner.n, inner.p, -1, -1);
}

// ---- other convex shapes -----------------------------------------------------------------------

// Points of the shape at the plane through x with normal n.
static int mesh_plane(const mesh_work *w, const double x[3], const double n[3], tl_touch *out) {
    const tl_pose pose = {.x = {x[0], x[1], x[2]}, .q = {1.0}};
    const talus_shape_def half = {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {n[0], n[1], n[2]}};
    tl_walls walls = {.planes = 1, .normal = {{n[0], n[1], n[2]}}};
    tl_copy3(x, walls.x);
    const tl_placed plane = {.shape = &half, .pose = &pose, .walls = &walls};
    return tl_pair_points(w->dim, &plane, &w->shape, w->reach, out);
}

// Contacts with facet t: those with the plane of its patch whose place is on the facet. The
// neighbours in the patch find the same plane and so the same points.
static void mesh_facet(mesh_work *w, int32_t t, bool anywhere) {
    const tl_mesh *m = w->m;
    const int32_t patch = m->patch[t];
    const double *origin = m->point[m->corner[(int64_t)m->dim * patch]];
    tl_touch points[TL_PAIR_MOST];
    double n[3], d[3];
    tl_copy3(m->normal[patch], n);
    tl_sub3(w->centre, origin, d);
    if (tl_dot3(n, d) < 0.0 && !anywhere) {
        if (m->closed) return;
        tl_scale3(-1.0, n, n);
    }
    const int count = mesh_plane(w, origin, n, points);
    for (int i = 0; i < count; i++) {
        double p[3];
        tl_axpy3(origin, 1.0, points[i].arm_a, p);
        if (!anywhere && !mesh_is_on_or_in(w, t, n, p)) continue;
        mesh_put(w, patch, points[i].feature, points[i].gap, n, p, t, -1);
    }
}

// Depth of the shape behind the plane through p across d, negative, and its deepest point.
static double mesh_depth(const mesh_work *w, const tl_convex *view, const double p[3],
                         const double d[3], double deepest[3]) {
    double own[3];
    tl_rotate_back(w->pose.q, d, own);
    tl_scale3(-1.0, own, own);
    view->support(view, own, deepest);
    tl_rotate(w->pose.q, deepest, deepest);
    tl_axpy3(deepest, 1.0, w->pose.x, deepest);
    tl_axpy3(deepest, -view->margin, d, deepest);
    tl_sub3(deepest, p, own);
    return tl_dot3(d, own);
}

// Whether an edge with two facets looks away from the shape: a valley seen from its side.
static bool mesh_looks_away(const mesh_work *w, int32_t e) {
    const tl_mesh *m = w->m;
    const int32_t *facet = m->edges.facet + m->edges.start[e];
    if (m->edges.start[e + 1] - m->edges.start[e] != 2) return false;
    double d[3], inward[3];
    tl_sub3(w->centre, m->point[m->edges.end[2 * (int64_t)e]], d);
    const double first = tl_dot3(m->normal[facet[0]], d), second = tl_dot3(m->normal[facet[1]], d);
    tl_mesh_inward(m, e, facet[1], inward);
    const double rise = tl_dot3(inward, m->normal[facet[0]]);
    // in front of both facets, or behind both, while the second comes towards it
    return first * second > 0.0 && first * rise > 0.0;
}

// Whether any corner of the shape that is within reach of being the deepest behind facet t is
// beyond edge e. Otherwise turning the normal of t towards the edge makes it deeper: nothing in the
// cone of the edge is a way out.
static bool mesh_leans_over(const mesh_work *w, const tl_convex *view, int32_t e, int32_t t,
                            double side) {
    const tl_mesh *m = w->m;
    const double *p = m->point[m->edges.end[2 * (int64_t)e]];
    double n[3], inward[3], origin[3], low = INFINITY;
    tl_scale3(side, m->normal[t], n);
    tl_mesh_inward(m, e, t, inward);
    tl_sub3(w->pose.x, p, origin);
    const double height = tl_dot3(n, origin), along = tl_dot3(inward, origin);
    tl_rotate_back(w->pose.q, n, n);
    tl_rotate_back(w->pose.q, inward, inward);
    for (int32_t k = 0; k < view->corners; k++) low = TL_MIN(low, tl_dot3(n, view->corner[k]));
    if (height + low - view->margin > w->reach) return true; // apart from the plane: no overlap
    for (int32_t k = 0; k < view->corners; k++) {
        const bool deep = tl_dot3(n, view->corner[k]) <= low + w->reach + w->slack;
        if (deep && along + tl_dot3(inward, view->corner[k]) <= w->reach + w->slack) return true;
    }
    return false;
}

// Whether the edge with these ends may touch the shape; a few products that save a search.
static bool mesh_may_touch(const mesh_work *w, const tl_convex *view, int32_t e,
                           double (*corner)[3]) {
    const tl_mesh *m = w->m;
    double along[3], d[3], deepest[3], p[3];
    for (int k = 0; k < 3; k++) {
        const bool first = corner[0][k] < corner[1][k];
        if (corner[first ? 0 : 1][k] > w->query.box.high[k] ||
            corner[first ? 1 : 0][k] < w->query.box.low[k])
            return false;
    }
    if (mesh_looks_away(w, e)) return false;
    // apart in the direction from the edge to the centre
    tl_sub3(corner[1], corner[0], along);
    tl_sub3(w->centre, corner[0], d);
    const double square = tl_dot3(along, along);
    double part = square > 0.0 ? tl_dot3(d, along) / square : 0.0;
    part = part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
    tl_axpy3(corner[0], part, along, p);
    tl_sub3(w->centre, p, d);
    const double length = tl_norm3(d);
    if (length > w->slack) {
        tl_scale3(1.0 / length, d, d);
        const double far = tl_dot3(d, along); // an end may be nearer
        const double apart = mesh_depth(w, view, corner[0], d, deepest) - TL_MAX(far, 0.0);
        if (apart > w->reach) return false;
    }
    if (view->corners == 0 || m->edges.start[e + 1] - m->edges.start[e] != 2) return true;
    if (w->tilt > MESH_TURN) return true;
    for (int k = 0; k < 2; k++) {
        const int32_t t = m->edges.facet[m->edges.start[e] + k];
        tl_sub3(w->centre, corner[0], d);
        const double front = tl_dot3(m->normal[t], d);
        if (front == 0.0 || (m->closed && front < 0.0)) continue;
        if (!mesh_leans_over(w, view, e, t, front > 0.0 ? 1.0 : -1.0)) return false;
    }
    return true;
}

// Contacts with edge e (2D: point).
static void mesh_edge(mesh_work *w, const tl_convex *view, int32_t e) {
    static const tl_pose here = {.q = {1.0}};
    const tl_mesh *m = w->m;
    const int32_t *end = m->edges.end + 2 * (int64_t)e;
    double corner[2][3];
    tl_touch points[TL_POLYTOPE_MOST];
    tl_nearest nearest;
    for (int k = 0; k < 2; k++) tl_copy3(m->point[end[k]], corner[k]);
    if (!mesh_may_touch(w, view, e, corner)) return;
    if (!w->out) { // a bound is enough
        w->count += view->corners == 0 ? 1 : m->dim == 2 ? 1 : 2;
        w->stuck = true;
        return;
    }
    const tl_convex edge = {.support = tl_convex_support_corners,
                            .corner = (const double(*)[3])corner,
                            .corners = m->dim == 2 ? 1 : 2};
    if (view->corners == 0) {
        if (tl_convex_nearest(w->dim, view, &w->pose, &edge, &here, w->reach, &nearest))
            mesh_put_at_edge(w, e, 0, nearest.gap, nearest.normal, nearest.b);
        return;
    }
    const int count = tl_polytope_points(w->dim, view, &w->pose, &edge, &here, w->reach, points);
    for (int i = 0; i < count; i++)
        mesh_put_at_edge(w, e, points[i].feature, points[i].gap, points[i].normal, points[i].arm_b);
}

// Whether all of facet t is behind the plane through p across n.
static bool mesh_is_behind(const mesh_work *w, int32_t t, const double p[3], const double n[3]) {
    for (int k = 0; k < w->m->dim; k++) {
        double d[3];
        tl_sub3(w->m->point[w->m->corner[(int64_t)w->m->dim * t + k]], p, d);
        if (tl_dot3(n, d) > w->slack) return false;
    }
    return true;
}

// A shape that reaches over the edge of a facet has corners behind its plane, as if it had been
// pushed through. Another contact u says that all of the shape is beyond the plane through p_u
// across n_u, but for a depth. For a contact t with a facet that is behind this plane, n_u is a way
// out that is no longer than the depth; where t is deeper it is left out.
static void mesh_suppress(mesh_work *w, const tl_convex *view) {
    int64_t kept = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const tl_touch *t = &w->out[i];
        bool wrong = false;
        for (int64_t k = 0; t->a >= 0 && t->gap < 0.0 && k < w->count && !wrong; k++) {
            const tl_touch *u = &w->out[k];
            if (k == i || !(u->gap > t->gap + w->slack)) continue;
            if (!mesh_is_behind(w, t->a, u->arm_b, u->normal)) continue;
            double deepest[3];
            wrong = mesh_depth(w, view, u->arm_b, u->normal, deepest) > t->gap + w->slack;
        }
        if (!wrong) w->out[kept++] = *t;
    }
    w->count = kept;
}

// A shape and an edge have gone so far into each other that the shortest way out of the edge alone
// is none. Of all ways between the normals of the two facets of a ridge the shortest is taken:
// along the arc the depth has one least value, found by thirds.
static void mesh_part(mesh_work *w, const tl_convex *view) {
    const tl_mesh *m = w->m;
    double best = -INFINITY, n[3] = {0.0}, p[3] = {0.0};
    int32_t at = -1;
    tl_mesh_query_begin(m, w->query.box.low, w->query.box.high, &w->query);
    for (int32_t t = tl_mesh_query_next(&w->query); t >= 0; t = tl_mesh_query_next(&w->query))
        for (int k = 0; k < m->dim; k++) {
            int32_t e;
            if (!mesh_owns(w, t, k, &e) || m->edges.start[e + 1] - m->edges.start[e] != 2) continue;
            const double *first = m->normal[m->edges.facet[m->edges.start[e]]];
            const double *second = m->normal[m->edges.facet[m->edges.start[e] + 1]];
            const double *end = m->point[m->edges.end[2 * (int64_t)e]];
            double low = 0.0, high = 1.0;
            for (int step = 0; step < 40; step++) {
                double depth[2] = {-INFINITY, -INFINITY};
                for (int side = 0; side < 2; side++) {
                    const double part = side ? high - (high - low) / 3.0 : low + (high - low) / 3.0;
                    double d[3], deepest[3];
                    tl_scale3(1.0 - part, first, d);
                    tl_axpy3(d, part, second, d);
                    if (!(tl_pair_direction(d, first, d) > MESH_TURN)) continue;
                    depth[side] = mesh_depth(w, view, end, d, deepest);
                    if (depth[side] <= best) continue;
                    best = depth[side];
                    at = e;
                    tl_copy3(d, n);
                    tl_axpy3(deepest, -best, d, p);
                }
                if (depth[0] > depth[1])
                    high -= (high - low) / 3.0;
                else
                    low += (high - low) / 3.0;
            }
        }
    if (at >= 0) mesh_put(w, (int64_t)m->facets + at, 0, best, n, p, -1, at);
}

// Whether a closed mesh holds the point x: the angles under which its facets are seen from there
// make a whole turn (3D: sphere), or nothing.
static bool mesh_holds(const tl_mesh *m, const double x[3]) {
    const double pi = 3.14159265358979323846;
    double sum = 0.0;
    for (int32_t t = 0; t < m->facets; t++) {
        const int32_t *c = m->corner + (int64_t)m->dim * t;
        double p[3][3] = {{0.0}}, l[3] = {0.0}, n[3];
        for (int k = 0; k < m->dim; k++) {
            tl_sub3(m->point[c[k]], x, p[k]);
            l[k] = tl_norm3(p[k]);
        }
        tl_cross3(p[0], p[1], n);
        if (m->dim == 2) {
            sum -= atan2(n[2], tl_dot3(p[0], p[1])); // a solid goes round clockwise
        } else {
            const double flat = l[0] * l[1] * l[2] + tl_dot3(p[0], p[1]) * l[2] +
                                tl_dot3(p[1], p[2]) * l[0] + tl_dot3(p[2], p[0]) * l[1];
            sum += 2.0 * atan2(tl_dot3(n, p[2]), flat);
        }
    }
    return sum > (m->dim == 2 ? pi : 2.0 * pi);
}

static void mesh_convex(mesh_work *w) {
    const tl_mesh *m = w->m;
    tl_convex view;
    double nearest = -INFINITY;
    int32_t facet = -1, e;
    tl_convex_view(w->dim, w->shape.shape, w->shape.solid, &view);
    for (int32_t t = tl_mesh_query_next(&w->query); t >= 0; t = tl_mesh_query_next(&w->query)) {
        double d[3], foot[3];
        tl_sub3(w->centre, m->point[m->corner[(int64_t)m->dim * t]], d);
        const double s = tl_dot3(m->normal[t], d);
        tl_axpy3(w->centre, -s, m->normal[t], foot);
        if (s < 0.0 && s > nearest && mesh_is_on(w, t, foot)) nearest = s, facet = t;
        mesh_facet(w, t, false);
        for (int k = 0; k < m->dim; k++)
            if (mesh_owns(w, t, k, &e)) mesh_edge(w, &view, e);
    }
    if (w->out) mesh_suppress(w, &view);
    if (w->stuck && !w->out) w->count++;
    if (w->stuck && w->out && w->count == 0) mesh_part(w, &view);
    // deep within a solid: out through the facet nearest to the centre
    if (m->closed && facet >= 0 && (w->count == 0 || !w->out) && mesh_holds(m, w->centre))
        mesh_facet(w, facet, true);
}

// ---- all ---------------------------------------------------------------------------------------

// In order, each once, and in the frame of the world.
static void mesh_settle(mesh_work *w) {
    int64_t kept = 0;
    for (int64_t i = 0; i < w->count; i++) {
        tl_touch *t = &w->out[i];
        tl_axpy3(t->arm_b, t->gap, t->normal, t->arm_a);
        tl_sub3(t->arm_a, w->pose.x, t->arm_a);
        tl_rotate(w->frame->q, t->normal, t->normal);
        tl_rotate(w->frame->q, t->arm_a, t->arm_a);
        tl_rotate(w->frame->q, t->arm_b, t->arm_b);
    }
    for (int64_t i = 1; i < w->count; i++) {
        const tl_touch moved = w->out[i];
        int64_t k = i;
        for (; k > 0 && (w->out[k - 1].feature > moved.feature ||
                         (w->out[k - 1].feature == moved.feature && w->out[k - 1].gap > moved.gap));
             k--)
            w->out[k] = w->out[k - 1];
        w->out[k] = moved;
    }
    for (int64_t i = 0; i < w->count; i++) {
        bool known = kept > 0 && w->out[kept - 1].feature == w->out[i].feature;
        for (int64_t k = 0; k < kept && !known; k++) known = tl_touch_same(&w->out[k], &w->out[i]);
        if (!known) w->out[kept++] = w->out[i];
    }
    w->count = kept;
}

int64_t tl_mesh_points(int32_t dim, const tl_placed *shape, const tl_placed *mesh, double reach,
                       tl_touch *out) {
    mesh_work w = {.dim = dim, .m = mesh->solid->mesh, .frame = mesh->pose, .reach = reach};
    tl_pose back;
    double low[3], high[3];
    tl_pose_invert(mesh->pose, &back);
    tl_pose_mul(&back, shape->pose, &w.pose);
    w.shape = (tl_placed){.shape = shape->shape, .solid = shape->solid, .pose = &w.pose};
    w.out = out;
    tl_solid_box(dim, shape->solid, &w.pose, low, high);
    double size = w.m->size;
    for (int k = 0; k < 3; k++) {
        size = TL_MAX(TL_MAX(fabs(low[k]), fabs(high[k])), size);
        w.into = TL_MAX(MESH_INTO * (high[k] - low[k]), w.into);
    }
    w.tilt = mesh->moves && w.m->closed ? MESH_TILT : MESH_TURN;
    w.shift = MESH_SHIFT * size;
    w.slack = MESH_TURN * size;
    for (int k = 0; k < 3; k++) {
        w.centre[k] = 0.5 * (low[k] + high[k]);
        low[k] -= reach + w.shift;
        high[k] += reach + w.shift;
    }
    tl_mesh_query_begin(w.m, low, high, &w.query);
    if (shape->shape->kind == TALUS_SHAPE_SPHERE)
        mesh_ball(&w);
    else
        mesh_convex(&w);
    if (out) mesh_settle(&w);
    return w.count;
}
