// SPDX-License-Identifier: Apache-2.0
// Ways out of a mesh where those at single facets, edges and points are wrong, or none
// (docs/theory/collision.md, "Meshes"). Around a facet the surface is convex as far as its edges
// are: out of the hull of such a piece the shortest way is found as for any two convex bodies.
#include "collide/convex.h"
#include "collide/pair_mesh.h"
#include "collide/round_pair.h"

enum { MESH_PIECE = 128 }; // facets, and points, of a convex piece of the surface

// Whether all of facet t is behind the plane through p across n.
static bool mesh_is_behind(const tl_mesh_work *w, int32_t t, const double p[3], const double n[3]) {
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
void tl_mesh_suppress(tl_mesh_work *w, const tl_convex *view) {
    int64_t kept = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const tl_touch *t = &w->out[i];
        bool wrong = false;
        for (int64_t k = 0; t->a >= 0 && t->gap < 0.0 && k < w->count && !wrong; k++) {
            const tl_touch *u = &w->out[k];
            if (k == i || !(u->gap > t->gap + w->slack)) continue;
            if (!mesh_is_behind(w, t->a, u->arm_b, u->normal)) continue;
            double deepest[3];
            wrong = tl_mesh_depth(w, view, u->arm_b, u->normal, deepest) > t->gap + w->slack;
        }
        if (!wrong) w->out[kept++] = *t;
    }
    w->count = kept;
}

// Where a shape and an edge have gone so far into each other that the shortest way out of the edge
// alone is none, and the surface has no convex piece there: of all ways between the normals of the
// two facets of a ridge the shortest is taken: along the arc the depth has one least value, found
// by thirds.
static void mesh_part(tl_mesh_work *w, const tl_convex *view) {
    const tl_mesh *m = w->m;
    double best = -INFINITY, n[3] = {0.0}, p[3] = {0.0};
    int32_t at = -1;
    tl_mesh_query_begin(m, w->query.box.low, w->query.box.high, &w->query);
    for (int32_t t = tl_mesh_query_next(&w->query); t >= 0; t = tl_mesh_query_next(&w->query))
        for (int k = 0; k < m->dim; k++) {
            int32_t e;
            if (!tl_mesh_owns(w, t, k, &e) || m->edges.start[e + 1] - m->edges.start[e] != 2)
                continue;
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
                    if (!(tl_pair_direction(d, first, d) > TL_MESH_TURN)) continue;
                    depth[side] = tl_mesh_depth(w, view, end, d, deepest);
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
    if (at >= 0) tl_mesh_put(w, (int64_t)m->facets + at, 0, best, n, p, -1, at);
}

// A convex piece of the surface, seen from the shape: facets, and their points about `middle`.
typedef struct mesh_piece {
    int facets, points;
    int32_t facet[MESH_PIECE], number[MESH_PIECE];
    int32_t loop[3 * MESH_PIECE]; // points of each facet
    double point[MESH_PIECE][3], middle[3];
} mesh_piece;

// The same as a hull that ends at the rim of the piece.
typedef struct mesh_hull {
    tl_hull hull;
    tl_solid solid;
    double normal[MESH_PIECE][3];
    int32_t face_start[MESH_PIECE + 1];
    tl_hull_edge edge[3 * MESH_PIECE];
} mesh_hull;

// Whether two facets are convex to each other, or flat, seen from the shape.
static bool mesh_is_convex(const tl_mesh_work *w, int32_t e, int32_t s, int32_t t) {
    double n[3], inward[3];
    tl_mesh_front(w, s, n);
    tl_mesh_inward(w->m, e, t, inward);
    if (tl_dot3(n, inward) > TL_MESH_TURN) return false;
    tl_mesh_front(w, t, n);
    tl_mesh_inward(w->m, e, s, inward);
    return tl_dot3(n, inward) <= TL_MESH_TURN;
}

// Whether the box of facet t meets that of the shape.
static bool mesh_is_near(const tl_mesh_work *w, int32_t t) {
    const int32_t *c = w->m->corner + (int64_t)w->m->dim * t;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < w->m->dim; i++) {
            low = TL_MIN(low, w->m->point[c[i]][k]);
            high = TL_MAX(high, w->m->point[c[i]][k]);
        }
        if (low > w->query.box.high[k] || high < w->query.box.low[k]) return false;
    }
    return true;
}

// Add a facet with its points, if there is room and it is not there yet.
static void mesh_piece_add(const tl_mesh_work *w, mesh_piece *piece, int32_t t) {
    const tl_mesh *m = w->m;
    const int32_t *c = m->corner + (int64_t)m->dim * t;
    for (int i = 0; i < piece->facets; i++)
        if (piece->facet[i] == t) return;
    if (piece->facets == MESH_PIECE || piece->points > MESH_PIECE - m->dim) return;
    int32_t *loop = piece->loop + (int64_t)m->dim * piece->facets;
    piece->facet[piece->facets++] = t;
    for (int i = 0; i < m->dim; i++) {
        int at = 0;
        while (at < piece->points && piece->number[at] != c[i]) at++;
        loop[i] = at;
        if (at < piece->points) continue;
        piece->number[piece->points] = c[i];
        tl_sub3(m->point[c[i]], piece->middle, piece->point[piece->points++]);
    }
}

// The convex piece around facet `first`, of facets near the shape or of any.
static void mesh_piece_gather(const tl_mesh_work *w, int32_t first, bool anywhere,
                              mesh_piece *piece) {
    const tl_mesh *m = w->m;
    piece->facets = piece->points = 0;
    tl_copy3(w->centre, piece->middle);
    mesh_piece_add(w, piece, first);
    for (int i = 0; i < piece->facets; i++)
        for (int k = 0; k < m->dim; k++) {
            const int32_t t = piece->facet[i], at = m->edges.edge[(int64_t)m->dim * t + k];
            const int32_t *both = m->edges.facet + m->edges.start[at];
            if (m->edges.start[at + 1] - m->edges.start[at] != 2) continue;
            const int32_t other = both[0] == t ? both[1] : both[0];
            if (mesh_is_convex(w, at, t, other) && (anywhere || mesh_is_near(w, other)))
                mesh_piece_add(w, piece, other);
        }
}

// Edges between facets of one patch are none, and others belong to the first of their facets that
// is in the piece.
static bool mesh_piece_has_edge(const tl_mesh *m, const mesh_piece *piece, int f, int k) {
    const int32_t e = m->edges.edge[(int64_t)m->dim * piece->facet[f] + k];
    for (int32_t i = m->edges.start[e]; i < m->edges.start[e + 1]; i++) {
        const int32_t other = m->edges.facet[i];
        if (other == piece->facet[f]) continue;
        if (m->patch[other] == m->patch[piece->facet[f]]) return false;
        for (int before = 0; before < f; before++)
            if (piece->facet[before] == other) return false;
    }
    return true;
}

static void mesh_piece_hull(const tl_mesh_work *w, mesh_piece *piece, mesh_hull *out) {
    const int32_t dim = w->m->dim;
    out->hull = (tl_hull){.corners = piece->points,
                          .faces = piece->facets,
                          .corner = piece->point,
                          .normal = out->normal,
                          .face_start = out->face_start,
                          .loop = piece->loop,
                          .edge = out->edge};
    out->solid = (tl_solid){.hull = &out->hull};
    for (int i = 0; i < piece->points; i++)
        out->hull.size = TL_MAX(tl_norm3(piece->point[i]), out->hull.size);
    for (int f = 0; f <= piece->facets; f++) out->face_start[f] = dim * f;
    for (int f = 0; f < piece->facets; f++) {
        tl_mesh_front(w, piece->facet[f], out->normal[f]);
        for (int k = 0; dim == 3 && k < 3; k++)
            if (mesh_piece_has_edge(w->m, piece, f, k))
                out->edge[out->hull.edges++] = (tl_hull_edge){
                    .tail = piece->loop[3 * f + k], .head = piece->loop[3 * f + (k + 1) % 3]};
    }
}

// The shortest way out of the hull of a piece; false: they do not overlap. Of curved shapes the
// common normal is looked for among those of facets, edges and points of the piece. The way out of
// two hulls is one of a polytope, which growth finds.
static bool mesh_piece_nearest(const tl_mesh_work *w, const tl_convex *view, mesh_piece *piece,
                               tl_nearest *out) {
    tl_pose pose = {.q = {1.0}};
    tl_convex hull;
    tl_copy3(piece->middle, pose.x);
    if (view->corners > 0) {
        const talus_shape_def corners = {
            .kind = TALUS_SHAPE_POLYHEDRON, .point = piece->point[0], .point_count = piece->points};
        tl_convex_view(w->dim, &corners, NULL, &hull);
        return tl_convex_nearest(w->dim, view, &w->pose, &hull, &pose, 0.0, out);
    }
    mesh_hull faces;
    tl_touch point[TL_POLYTOPE_MOST];
    mesh_piece_hull(w, piece, &faces);
    hull = (tl_convex){.support = tl_convex_support_corners,
                       .solid = &faces.solid,
                       .corner = (const double(*)[3])piece->point,
                       .corners = piece->points};
    const int count = tl_round_points(w->dim, view, &w->pose, &hull, &pose, 0.0, point);
    const tl_touch *deepest = point;
    for (int i = 1; i < count; i++)
        if (point[i].gap < deepest->gap) deepest = &point[i];
    if (count == 0) return false;
    out->gap = deepest->gap;
    tl_copy3(deepest->normal, out->normal);
    tl_axpy3(pose.x, 1.0, deepest->arm_b, out->b);
    return true;
}

// The point of the surface at which a piece is farthest along d, if the surface has no point beyond
// it around there; as an element, −1: there is none. 2D: points are edges.
static int64_t mesh_piece_top(const tl_mesh_work *w, const mesh_piece *piece, const double d[3]) {
    const tl_mesh *m = w->m;
    double most = -INFINITY;
    for (int i = 0; i < piece->points; i++) most = TL_MAX(most, tl_dot3(d, piece->point[i]));
    for (int f = 0; f < piece->facets; f++)
        for (int k = 0; k < m->dim; k++) {
            const int64_t at = (int64_t)m->dim * piece->facet[f] + k;
            double x[3];
            tl_sub3(m->point[m->corner[at]], piece->middle, x);
            if (tl_dot3(d, x) < most - w->slack) continue;
            if (m->dim == 2 && tl_mesh_is_crest(m, m->edges.edge[at], d, TL_MESH_TURN))
                return (int64_t)m->facets + m->edges.edge[at];
            if (m->dim == 3 && tl_mesh_is_peak(m, m->corner[at], d, TL_MESH_TURN))
                return (int64_t)m->facets + m->edges.count + m->corner[at];
        }
    return -1;
}

// Whether a contact shows a way out for all of the shape, from all that facet t is part of: nothing
// of the shape is deeper behind its plane than it says, and the facet is behind it.
static bool mesh_frees(const tl_mesh_work *w, const tl_convex *view, const tl_touch *u, int32_t t) {
    double deepest[3];
    return mesh_is_behind(w, t, u->arm_b, u->normal) &&
           tl_mesh_depth(w, view, u->arm_b, u->normal, deepest) >= u->gap - w->slack;
}

// A bound of how little the shape can overlap along a normal of edge e. The point that is deepest
// along the normal of one of its facets, h < 0 high and a from the edge, is h cos b − a sin b high
// along the normal that is turned by b.
static double mesh_edge_bound(const tl_mesh_work *w, const tl_convex *view, int32_t e) {
    const tl_mesh *m = w->m;
    const double *p = m->point[m->edges.end[2 * (int64_t)e]];
    double n[2][3], turn[3], bound = INFINITY;
    for (int k = 0; k < 2; k++) tl_mesh_front(w, m->edges.facet[m->edges.start[e] + k], n[k]);
    tl_cross3(n[0], n[1], turn);
    const double cosine = tl_dot3(n[0], n[1]), sine = tl_norm3(turn);
    for (int k = 0; k < 2; k++) {
        double deepest[3], inward[3];
        const double h = tl_mesh_depth(w, view, p, n[k], deepest);
        tl_mesh_inward(m, e, m->edges.facet[m->edges.start[e] + k], inward);
        tl_sub3(deepest, p, deepest);
        const double a = tl_dot3(inward, deepest);
        double most = TL_MAX(h, h * cosine - a * sine);
        // its top, where that is between the two normals
        if (a < 0.0 && h * sine + a * cosine > 0.0) most = hypot(h, a);
        bound = TL_MIN(bound, most);
    }
    return bound;
}

// The shortest way out of the hull of the convex piece around facet t, where the surface has it and
// no contact says so already. Contacts from `solved` on are such ways; another is enough where no
// normal of edge e, if that is given, can be better. `piece` has no facets where it was not needed.
static void mesh_free(tl_mesh_work *w, const tl_convex *view, int32_t t, int32_t e, bool anywhere,
                      int64_t solved, mesh_piece *piece) {
    tl_nearest nearest;
    piece->facets = 0;
    const double bound = e < 0 ? INFINITY : mesh_edge_bound(w, view, e);
    for (int64_t k = 0; k < w->count; k++)
        if ((k >= solved || w->out[k].gap >= bound) && mesh_frees(w, view, &w->out[k], t)) return;
    mesh_piece_gather(w, t, anywhere, piece);
    if (!mesh_piece_nearest(w, view, piece, &nearest)) return;
    for (int64_t k = 0; k < solved; k++)
        if (w->out[k].gap >= nearest.gap - w->slack && mesh_frees(w, view, &w->out[k], t)) return;
    const int64_t element = mesh_piece_top(w, piece, nearest.normal);
    if (element >= 0) tl_mesh_put(w, element, 0, nearest.gap, nearest.normal, nearest.b, t, -1);
}

// Whether facet t goes through the shape.
static bool mesh_pierces(const tl_mesh_work *w, const tl_convex *view, int32_t t) {
    static const tl_pose here = {.q = {1.0}};
    const tl_mesh *m = w->m;
    double corner[3][3], deepest[3], back[3];
    tl_nearest nearest;
    for (int k = 0; k < m->dim; k++)
        tl_copy3(m->point[m->corner[(int64_t)m->dim * t + k]], corner[k]);
    tl_scale3(-1.0, m->normal[t], back);
    if (tl_mesh_depth(w, view, corner[0], m->normal[t], deepest) >= 0.0 ||
        tl_mesh_depth(w, view, corner[0], back, deepest) >= 0.0)
        return false;
    const tl_convex facet = {.support = tl_convex_support_corners,
                             .corner = (const double(*)[3])corner,
                             .corners = m->dim};
    return tl_convex_nearest(w->dim, view, &w->pose, &facet, &here, 0.0, &nearest);
}

bool tl_mesh_has_way(const tl_mesh_work *w, const tl_convex *view) {
    for (int64_t i = 0; i < w->count; i++) {
        const tl_touch *t = &w->out[i];
        double deepest[3];
        if (t->gap < 0.0 &&
            tl_mesh_depth(w, view, t->arm_b, t->normal, deepest) >= t->gap - w->slack)
            return true;
    }
    return false;
}

// Ways out where others may be too long, or, where there is none, facets go through the shape.
void tl_mesh_unstick(tl_mesh_work *w, const tl_convex *view) {
    const int64_t before = w->count;
    mesh_piece piece;
    for (int i = 0; i < w->stucks; i++) {
        if (w->stuck[i] < 0) continue;
        mesh_free(w, view, w->stuck[i], w->stuck_edge[i], false, before, &piece);
        for (int k = i + 1; k < w->stucks; k++) // others of the same piece
            for (int f = 0; f < piece.facets; f++)
                if (piece.facet[f] == w->stuck[k]) w->stuck[k] = -1;
    }
    if (!tl_mesh_has_way(w, view)) {
        tl_mesh_query_begin(w->m, w->query.box.low, w->query.box.high, &w->query);
        for (int32_t t = tl_mesh_query_next(&w->query); t >= 0; t = tl_mesh_query_next(&w->query)) {
            if (!mesh_pierces(w, view, t)) continue;
            mesh_free(w, view, t, -1, true, before, &piece);
            break;
        }
    }
    if (w->stucks > 0 && w->count == 0) mesh_part(w, view);
    if (w->count > before) tl_mesh_suppress(w, view);
}
