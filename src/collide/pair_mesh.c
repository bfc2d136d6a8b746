// SPDX-License-Identifier: Apache-2.0
// Convex shapes with meshes (docs/theory/collision.md, "Meshes"). A point of the surface is touched
// in directions d in which it is the nearest of its surroundings:
//     within a flat patch   d = ± its normal: the contacts with the plane, where they are on it;
//     at an edge            d·t <= 0 for the direction t into each of its facets;
//     at a point            d·e <= 0 for all edges e that begin there.
// So there are none at edges within a patch, nor at valleys: what is nearest there is nearest to a
// neighbour. Everything is computed in the frame of the mesh.
#include "collide/pair_mesh.h"
#include "collide/convex.h"
#include "collide/mesh.h"
#include "collide/round_pair.h"
#include "collide/union.h"

// How far a corner may go into the facets of a valley, as a part of the size of its shape.
#define MESH_INTO 0.05
// The tangent of half of the largest angle between the normals at an edge, 150 degrees.
#define MESH_ASIDE 4.0

// Places may be off by this part of the size of the mesh (rounding).
#define MESH_SHIFT 1e-12
// Sine up to which a corner or edge of a mesh that moves may be tilted against others beside it: so
// all that lies on something touches it, not only the lowest.
#define MESH_TILT 0.25

// Which element of the mesh a contact is at, and which of the shape's points it is there.
static uint32_t mesh_feature(int64_t element, uint32_t point) {
    const uint64_t both = 64 * (uint64_t)element + point;
    if (point < 64 && both < 0x80000000) return (uint32_t)both;
    const uint64_t number[2] = {(uint64_t)element, point};
    return (uint32_t)talus_hash(number, sizeof number, 0) & 0x7fffffff;
}

void tl_mesh_put(tl_mesh_work *w, int64_t element, uint32_t point, double gap, const double n[3],
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

static bool mesh_is_on(const tl_mesh_work *w, int32_t t, const double x[3]) {
    for (int k = 0; k < w->m->dim; k++)
        if (mesh_beyond(w->m, t, k, x) > w->shift) return false;
    return true;
}

// Whether the edge that begins at corner k of facet t is a valley seen from the side of n, and the
// shape is in it: on the same side of the other facet as t is.
static bool mesh_in_valley(const tl_mesh_work *w, int32_t t, int k, const double n[3]) {
    const tl_mesh *m = w->m;
    const int32_t e = m->edges.edge[(int64_t)m->dim * t + k];
    const int32_t *facet = m->edges.facet + m->edges.start[e];
    if (m->edges.start[e + 1] - m->edges.start[e] != 2) return false;
    const int32_t other = facet[0] == t ? facet[1] : facet[0];
    double here[3], there[3], d[3];
    tl_mesh_inward(m, e, t, here);
    tl_mesh_inward(m, e, other, there);
    tl_sub3(w->centre, m->point[m->edges.end[2 * (int64_t)e]], d);
    return tl_dot3(n, there) > TL_MESH_TURN &&
           tl_dot3(m->normal[other], here) * tl_dot3(m->normal[other], d) > 0.0;
}

// The same for a corner of a shape, which may have gone into the facet on the other side of a
// valley a little, and is then beyond the edge.
static bool mesh_is_on_or_in(const tl_mesh_work *w, int32_t t, const double n[3],
                             const double x[3]) {
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

bool tl_mesh_is_peak(const tl_mesh *m, int32_t p, const double d[3], double tilt) {
    for (int32_t i = m->spoke_start[p]; i < m->spoke_start[p + 1]; i++) {
        const int32_t *end = m->edges.end + 2 * (int64_t)m->spoke[i];
        double along[3];
        tl_sub3(m->point[end[0] == p ? end[1] : end[0]], m->point[p], along);
        if (tl_dot3(d, along) > tilt * tl_norm3(along)) return false;
    }
    return true;
}

bool tl_mesh_is_crest(const tl_mesh *m, int32_t e, const double d[3], double tilt) {
    for (int32_t i = m->edges.start[e]; i < m->edges.start[e + 1]; i++) {
        double inward[3];
        tl_mesh_inward(m, e, m->edges.facet[i], inward);
        if (tl_dot3(d, inward) > tilt) return false;
    }
    return true;
}

void tl_mesh_front(const tl_mesh_work *w, int32_t t, double n[3]) {
    const tl_mesh *m = w->m;
    double d[3];
    tl_sub3(w->centre, m->point[m->corner[(int64_t)m->dim * t]], d);
    const bool turned = !m->closed && tl_dot3(m->normal[t], d) < 0.0;
    tl_scale3(turned ? -1.0 : 1.0, m->normal[t], n);
}

// Edge e has the shape on it or beside it, in direction n, from where the surface cannot be
// touched. It is stuck where it is within the shape, or else the shape is there behind both of its
// facets.
static void mesh_note_stuck(tl_mesh_work *w, int32_t e, double gap, const double n[3]) {
    const tl_mesh *m = w->m;
    if (w->stucks == TL_MESH_STUCK || m->edges.start[e + 1] - m->edges.start[e] != 2) return;
    for (int k = 0; k < 2 && gap >= 0.0; k++) {
        double front[3];
        tl_mesh_front(w, m->edges.facet[m->edges.start[e] + k], front);
        if (tl_dot3(n, front) >= 0.0) return;
    }
    w->stuck_edge[w->stucks] = e;
    w->stuck[w->stucks++] = m->edges.facet[m->edges.start[e]];
}

// A contact at the point p of edge e with the unit normal n, if the surface can be touched so.
static void mesh_put_at_edge(tl_mesh_work *w, int32_t e, uint32_t point, double gap,
                             const double n[3], const double p[3]) {
    const tl_mesh *m = w->m;
    const int32_t *end = m->edges.end + 2 * (int64_t)e;
    int64_t element = (int64_t)m->facets + e;
    if (m->dim == 3) {
        const double *a = m->point[end[0]], *b = m->point[end[1]];
        double along[3], from[3];
        tl_sub3(b, a, along);
        tl_sub3(p, a, from);
        const double part = tl_dot3(from, along) / tl_dot3(along, along);
        if (part < TL_MESH_TURN || part > 1.0 - TL_MESH_TURN) {
            const int32_t corner = end[part < 0.5 ? 0 : 1];
            if (!tl_mesh_is_peak(m, corner, n, w->tilt)) {
                mesh_note_stuck(w, e, gap, n);
                return;
            }
            element = (int64_t)m->facets + m->edges.count + corner;
            tl_mesh_put(w, element, 0, gap, n, p, -1, e);
            return;
        }
    }
    if (tl_mesh_is_crest(m, e, n, m->dim == 2 ? w->tilt : TL_MESH_TURN))
        tl_mesh_put(w, element, point, gap, n, p, -1, e);
    else
        mesh_note_stuck(w, e, gap, n);
}

bool tl_mesh_owns(const tl_mesh_work *w, int32_t t, int k, int32_t *edge) {
    const tl_mesh *m = w->m;
    *edge = m->edges.edge[(int64_t)m->dim * t + k];
    return m->ridge[*edge] && m->edges.facet[m->edges.start[*edge]] == t;
}

// ---- balls -------------------------------------------------------------------------------------

// The point of edge e (2D: the point) nearest to the centre of the ball; returns the element it is
// at.
static int64_t mesh_ball_foot(const tl_mesh_work *w, int32_t e, double p[3]) {
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

static void mesh_ball_edge(tl_mesh_work *w, int32_t t, int32_t e, double *outer,
                           mesh_inner *inner) {
    const tl_mesh *m = w->m;
    const int64_t points = (int64_t)m->facets + m->edges.count;
    double p[3], d[3], n[3];
    const int64_t element = mesh_ball_foot(w, e, p);
    tl_sub3(w->pose.x, p, d);
    const double distance = tl_pair_direction(d, m->normal[t], n), r = w->shape.shape->radius;
    const int32_t corner = (int32_t)(element - points);
    if (!(distance - r <= w->reach)) return;
    if (element >= points ? !tl_mesh_is_peak(m, corner, n, TL_MESH_TURN)
                          : !tl_mesh_is_crest(m, e, n, TL_MESH_TURN))
        return;
    const bool out =
        !m->closed || (element >= points ? mesh_is_outward(m, corner, n) : m->ridge[e]);
    if (!out && distance < inner->depth) {
        *inner = (mesh_inner){.depth = distance, .element = element};
        tl_scale3(-1.0, n, inner->n);
        tl_copy3(p, inner->p);
    } else if (out) {
        *outer = TL_MIN(*outer, distance);
        tl_mesh_put(w, element, 0, distance - r, n, p, -1, e);
    }
}

// All places whose distance from the centre is a local least one. A centre within a solid is led
// out by the shortest way, and nothing else touches.
static void mesh_ball(tl_mesh_work *w) {
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
            tl_mesh_put(w, m->patch[t], 0, fabs(s) - r, n, foot, t, -1);
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
    tl_mesh_put(w, inner.element, 0, -inner.depth - r, inner.n, inner.p, -1, -1);
}

// ---- other convex shapes -----------------------------------------------------------------------

double tl_mesh_depth(const tl_mesh_work *w, const tl_convex *view, const double p[3],
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

// Points of the shape at the plane through x with normal n.
static int mesh_plane(const tl_mesh_work *w, const double x[3], const double n[3], tl_touch *out) {
    const tl_pose pose = {.x = {x[0], x[1], x[2]}, .q = {1.0}};
    const talus_shape_def half = {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {n[0], n[1], n[2]}};
    tl_walls walls = {.planes = 1, .normal = {{n[0], n[1], n[2]}}};
    tl_copy3(x, walls.x);
    const tl_placed plane = {.shape = &half, .pose = &pose, .walls = &walls};
    return tl_pair_points(w->dim, &plane, &w->shape, w->reach, out);
}

// Whether a corner of the shape that is at p of facet t and behind it may be less deep along a
// normal that is turned by an angle b towards one of the edges, a away: then the depth is h cos b +
// a sin b and not h. It is less where a < h tan b/2. Beyond an edge within a patch there may be
// any.
static bool mesh_is_aside(const tl_mesh_work *w, int32_t t, const double p[3], double gap) {
    const tl_mesh *m = w->m;
    for (int k = 0; k < m->dim && gap < 0.0; k++) {
        const int32_t e = m->edges.edge[(int64_t)m->dim * t + k];
        const int32_t *facet = m->edges.facet + m->edges.start[e];
        double turn[3], factor = MESH_ASIDE;
        if (m->edges.start[e + 1] - m->edges.start[e] != 2) continue;
        if (m->patch[facet[0]] != m->patch[facet[1]]) {
            if (!m->ridge[e]) continue;
            tl_cross3(m->normal[facet[0]], m->normal[facet[1]], turn);
            const double both = 1.0 + tl_dot3(m->normal[facet[0]], m->normal[facet[1]]);
            factor = TL_MIN(tl_norm3(turn) / TL_MAX(both, TL_MESH_TURN), MESH_ASIDE);
        }
        if (mesh_beyond(m, t, k, p) > factor * gap) return true;
    }
    return false;
}

// Contacts with facet t: those with the plane of its patch whose place is on the facet. The
// neighbours in the patch find the same plane and so the same points.
static void mesh_facet(tl_mesh_work *w, int32_t t, bool anywhere) {
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
        tl_mesh_put(w, patch, points[i].feature, points[i].gap, n, p, t, -1);
        if (w->stucks == TL_MESH_STUCK || !mesh_is_aside(w, t, p, points[i].gap)) continue;
        w->stuck_edge[w->stucks] = -1;
        w->stuck[w->stucks++] = t;
    }
}

// Whether an edge with two facets looks away from the shape: a valley seen from its side.
static bool mesh_looks_away(const tl_mesh_work *w, int32_t e) {
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
// beyond an edge of it. Otherwise turning the normal of t towards an edge or a corner makes it
// deeper: nothing in their cones is a way out. Where it is beyond other edges, but not e, the
// contact can only be at an end of e.
typedef enum mesh_lean { LEAN_NOT, LEAN_ASIDE, LEAN_OVER } mesh_lean;
static mesh_lean mesh_leans_over(const tl_mesh_work *w, const tl_convex *view, int32_t e, int32_t t,
                                 double side) {
    const tl_mesh *m = w->m;
    const int32_t *edge = m->edges.edge + (int64_t)m->dim * t;
    const double most = -w->reach - w->slack;
    double n[3], origin[3], low = INFINITY;
    mesh_lean lean = LEAN_NOT;
    tl_scale3(side, m->normal[t], n);
    tl_sub3(w->pose.x, m->point[m->corner[(int64_t)m->dim * t]], origin);
    const double height = tl_dot3(n, origin);
    tl_rotate_back(w->pose.q, n, n);
    for (int32_t k = 0; k < view->corners; k++) low = TL_MIN(low, tl_dot3(n, view->corner[k]));
    if (height + low - view->margin > w->reach) return LEAN_OVER; // apart from the plane
    for (int32_t k = 0; k < view->corners; k++) {
        double x[3];
        if (tl_dot3(n, view->corner[k]) > low + w->reach + w->slack) continue;
        tl_rotate(w->pose.q, view->corner[k], x);
        tl_axpy3(x, 1.0, w->pose.x, x);
        for (int i = 0; i < m->dim; i++) {
            if (edge[i] != e && lean == LEAN_ASIDE) continue;
            if (!(mesh_beyond(m, t, i, x) >= most)) continue;
            if (edge[i] == e) return LEAN_OVER;
            lean = LEAN_ASIDE;
        }
    }
    return lean;
}

// Whether the point v is farther than reach from the shape in the direction of its centre.
static bool mesh_is_apart(const tl_mesh_work *w, const tl_convex *view, const double v[3]) {
    double d[3], deepest[3];
    tl_sub3(w->centre, v, d);
    const double length = tl_norm3(d);
    if (!(length > w->slack)) return false;
    tl_scale3(1.0 / length, d, d);
    return tl_mesh_depth(w, view, v, d, deepest) > w->reach;
}

// Whether the edge with these ends may touch the shape; a few products that save a search.
static bool mesh_may_touch(const tl_mesh_work *w, const tl_convex *view, int32_t e,
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
        const double apart = tl_mesh_depth(w, view, corner[0], d, deepest) - TL_MAX(far, 0.0);
        if (apart > w->reach) return false;
    }
    if (view->corners == 0 || m->edges.start[e + 1] - m->edges.start[e] != 2) return true;
    if (w->tilt > TL_MESH_TURN) return true;
    for (int k = 0; k < 2; k++) {
        const int32_t t = m->edges.facet[m->edges.start[e] + k];
        tl_sub3(w->centre, corner[0], d);
        const double front = tl_dot3(m->normal[t], d);
        if (front == 0.0 || (m->closed && front < 0.0)) continue;
        const mesh_lean lean = mesh_leans_over(w, view, e, t, front > 0.0 ? 1.0 : -1.0);
        if (lean == LEAN_NOT) return false;
        if (lean == LEAN_ASIDE && mesh_is_apart(w, view, corner[0]) &&
            mesh_is_apart(w, view, corner[1]))
            return false;
    }
    return true;
}

// Contacts with edge e (2D: point).
static void mesh_edge(tl_mesh_work *w, const tl_convex *view, int32_t e) {
    const tl_mesh *m = w->m;
    const int32_t *end = m->edges.end + 2 * (int64_t)e;
    double corner[2][3];
    tl_touch points[TL_POLYTOPE_MOST];
    for (int k = 0; k < 2; k++) tl_copy3(m->point[end[k]], corner[k]);
    if (!mesh_may_touch(w, view, e, corner)) return;
    if (!w->out) { // a bound is enough
        w->count += m->dim == 2 ? 1 : TL_POLYTOPE_MOST;
        return;
    }
    const tl_pose place = {.x = {corner[0][0], corner[0][1], corner[0][2]}, .q = {1.0}};
    const int64_t before = w->count;
    for (int k = 1; k >= 0; k--) tl_sub3(corner[k], corner[0], corner[k]);
    const tl_convex edge = {.support = tl_convex_support_corners,
                            .corner = (const double(*)[3])corner,
                            .corners = m->dim == 2 ? 1 : 2};
    const int count =
        view->corners == 0
            ? tl_round_points(w->dim, view, &w->pose, &edge, &place, w->reach, points)
            : tl_polytope_points(w->dim, view, &w->pose, &edge, &place, w->reach, points);
    for (int i = 0; i < count; i++) {
        double p[3];
        tl_axpy3(place.x, 1.0, points[i].arm_b, p);
        mesh_put_at_edge(w, e, points[i].feature, points[i].gap, points[i].normal, p);
    }
    // The ends of two segments have normals of their own, and one that is as near as the nearest
    // stands for it; it may be none of the surface.
    tl_nearest nearest;
    if (view->corners == 2 && count > 0 && w->count == before &&
        tl_convex_nearest(w->dim, view, &w->pose, &edge, &place, w->reach, &nearest))
        mesh_put_at_edge(w, e, 0, nearest.gap, nearest.normal, nearest.b);
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

static void mesh_convex(tl_mesh_work *w) {
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
            if (tl_mesh_owns(w, t, k, &e)) mesh_edge(w, &view, e);
    }
    if (w->out) tl_mesh_suppress(w, &view);
    if (!w->out) w->count += 1 + w->stucks;
    if (w->out && (w->stucks > 0 || !tl_mesh_has_way(w, &view))) tl_mesh_unstick(w, &view);
    // deep within a solid: out through the facet nearest to the centre
    if (m->closed && facet >= 0 && (w->count == 0 || !w->out) && mesh_holds(m, w->centre))
        mesh_facet(w, facet, true);
}

// ---- all ---------------------------------------------------------------------------------------

// In order, each once, and in the frame of the world.
static void mesh_settle(tl_mesh_work *w) {
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

// A point within the shape: but for polyhedra it is their origin.
static void mesh_middle(tl_mesh_work *w) {
    const talus_shape_def *s = w->shape.shape;
    double sum[3] = {0.0};
    for (int64_t i = 0; s->kind == TALUS_SHAPE_POLYHEDRON && i < s->point_count; i++)
        tl_axpy3(sum, 1.0 / s->point_count, s->point + 3 * i, sum);
    tl_rotate(w->pose.q, sum, sum);
    tl_axpy3(sum, 1.0, w->pose.x, w->centre);
}

int64_t tl_mesh_points(int32_t dim, const tl_placed *shape, const tl_placed *mesh, double reach,
                       tl_touch *out) {
    tl_mesh_work w = {.dim = dim, .m = mesh->solid->mesh, .frame = mesh->pose, .reach = reach};
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
    w.tilt = mesh->moves && w.m->closed ? MESH_TILT : TL_MESH_TURN;
    w.shift = MESH_SHIFT * size;
    w.slack = TL_MESH_TURN * size;
    for (int k = 0; k < 3; k++) {
        low[k] -= reach + w.shift;
        high[k] += reach + w.shift;
    }
    mesh_middle(&w);
    tl_mesh_query_begin(w.m, low, high, &w.query);
    if (shape->shape->kind == TALUS_SHAPE_SPHERE)
        mesh_ball(&w);
    else
        mesh_convex(&w);
    if (out) mesh_settle(&w);
    return w.count;
}
