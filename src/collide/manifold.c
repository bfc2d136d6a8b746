// SPDX-License-Identifier: Apache-2.0
// Where two cores with corners touch, given the axis n of their distance. Each body shows a patch
// to the other: the face (2D: edge) at its nearest corner, an edge where all faces there are too
// steep, a segment or a point. Seen along n the patches overlap in a polygon, and every corner of
// that is a place with points of both surfaces n apart: none is nearer than S(n), whatever the
// patches are. A corner of the polygon is a corner of b over a, a corner of a over b or the
// crossing of two edges, and that is its feature:
//     k: corner k of b;   corners_b + k: corner k of a;   corners_a + corners_b + edge_a edges_b +
//     edge_b: a crossing;   the last number: nearest points that are nothing of this.
#include "collide/convex_impl.h"

// Below this cosine between its normal and the axis a face counts as seen from the side.
#define PATCH_STEEP 0.02
// Corners within this part of the size of the nearest one, and within reach, make a face of a hull
// that rocks preferable to others.
#define PATCH_LOOSE 0.05

// Part of the size within which a place is that of a corner.
#define PATCH_CORNER 1e-7

// Segments whose directions differ by less than the root of this touch along a line.
#define PATCH_PARALLEL 1e-8

enum { PATCH_MOST = TL_HULL_CORNERS };

// A point in the plane across the axis: coordinates along u and v.
typedef struct patch_point {
    double x, y;
} patch_point;

static double patch_length(double x, double y) { return sqrt(x * x + y * y); }

// What a body shows to the other, in the frame of a.
typedef struct patch {
    int32_t count; // 1: point, 2: segment, more: polygon
    patch_point at[PATCH_MOST];
    double height[PATCH_MOST];                    // along n
    int32_t corner[PATCH_MOST], edge[PATCH_MOST]; // edge[i] from i to i + 1
    double slope[2], base; // polygon: height of its plane = base + slope·(x, y)
    double low, high;      // of the heights
} patch;

// Everything that the making of places needs.
typedef struct manifold {
    const tl_couple *c;
    const tl_hull *ha, *hb;
    const tl_axis *axis;
    double u[3], v[3], slack, reach;
    patch *a, *b;
    tl_spot *out;
    int count;
} manifold;

// Edges that features name: a triangle has each of its edges twice.
static int32_t manifold_edges(int32_t dim, int32_t corners, int32_t edges) {
    return dim == 2 || corners == 1 ? 0 : corners == 2 ? 1 : corners == 3 ? 3 : edges;
}

static uint32_t manifold_features(int32_t dim, const tl_hull *a, const tl_hull *b) {
    const int32_t ea = manifold_edges(dim, a->corners, a->edges);
    const int32_t eb = manifold_edges(dim, b->corners, b->edges);
    return (uint32_t)(a->corners + b->corners + ea * eb + 1);
}

uint32_t tl_polytope_features(int32_t dim, const tl_convex *a, const tl_convex *b) {
    tl_small_hull room_a, room_b;
    return manifold_features(dim, tl_convex_hull(dim, a, &room_a), tl_convex_hull(dim, b, &room_b));
}

// --- patches ---

static int32_t patch_farthest(const tl_hull *h, const double d[3]) {
    int32_t best = 0;
    double most = -INFINITY;
    for (int32_t k = 0; k < h->corners; k++) {
        const double value = tl_dot3(d, h->corner[k]);
        if (value > most) most = value, best = k;
    }
    return best;
}

int32_t tl_hull_facing(const tl_hull *h, const double d[3], double slack, double reach,
                       int32_t *near) {
    const int32_t at = patch_farthest(h, d);
    const double top = tl_dot3(d, h->corner[at]), most_loose = PATCH_LOOSE * h->size;
    const double loose = reach < most_loose ? reach : most_loose;
    int32_t best = h->fan[h->fan_start[at]], best_tight = -1, best_loose = -1;
    double best_cosine = -INFINITY;
    for (int32_t i = h->fan_start[at]; i < h->fan_start[at + 1]; i++) {
        const int32_t f = h->fan[i];
        const double cosine = tl_dot3(d, h->normal[f]);
        int32_t tight = 0, within = 0;
        for (int32_t k = h->face_start[f]; cosine >= PATCH_STEEP && k < h->face_start[f + 1]; k++) {
            const double below = top - tl_dot3(d, h->corner[h->loop[k]]);
            tight += below <= slack;
            within += below <= loose;
        }
        if (tight < best_tight || (tight == best_tight && within < best_loose) ||
            (tight == best_tight && within == best_loose && !(cosine > best_cosine)))
            continue;
        best = f, best_tight = tight, best_loose = within, best_cosine = cosine;
    }
    if (near) *near = at;
    return best;
}

// The edge at corner `near` that is most level, as an index of the loops.
static int32_t patch_edge(const tl_hull *h, const double d[3], int32_t near) {
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t i = h->fan_start[near]; i < h->fan_start[near + 1]; i++) {
        const int32_t begin = h->face_start[h->fan[i]], end = h->face_start[h->fan[i] + 1];
        for (int32_t k = begin; k < end; k++) {
            const int32_t next = k + 1 < end ? k + 1 : begin;
            double e[3];
            if (h->loop[k] != near && h->loop[next] != near) continue;
            tl_sub3(h->corner[h->loop[next]], h->corner[h->loop[k]], e);
            const double steep = fabs(tl_dot3(d, e)) / tl_norm3(e);
            if (steep < least) least = steep, best = k;
        }
    }
    return best;
}

static void patch_put(const manifold *m, bool of_a, const tl_hull *h, int32_t corner, int32_t edge,
                      patch *p) {
    double x[3];
    tl_copy3(h->corner[corner], x);
    if (!of_a) tl_couple_from_b(m->c, x, x);
    const int32_t k = p->count++;
    p->at[k] = (patch_point){tl_dot3(m->u, x), tl_dot3(m->v, x)};
    p->height[k] = tl_dot3(m->axis->n, x);
    if (k == 0 || p->height[k] < p->low) p->low = p->height[k];
    if (k == 0 || p->height[k] > p->high) p->high = p->height[k];
    p->corner[k] = corner;
    p->edge[k] = edge;
}

// Corners of the loop position `at` and the one after it, as a segment.
static void patch_put_edge(const manifold *m, bool of_a, const tl_hull *h, int32_t at, patch *p) {
    int32_t f = 0;
    while (h->face_start[f + 1] <= at) f++;
    const int32_t next = at + 1 < h->face_start[f + 1] ? at + 1 : h->face_start[f];
    const int32_t edge = m->c->dim == 2 ? 0 : h->loop_edge[at];
    patch_put(m, of_a, h, h->loop[at], edge, p);
    patch_put(m, of_a, h, h->loop[next], edge, p);
}

// A polygon counter-clockwise in (u, v), with the plane of face f.
static void patch_put_face(const manifold *m, bool of_a, const tl_hull *h, int32_t f, patch *p) {
    const int32_t begin = h->face_start[f], end = h->face_start[f + 1];
    double normal[3], x[3];
    tl_copy3(h->normal[f], normal);
    tl_scale3(h->offset[f], normal, x);
    if (of_a) { // seen from outside, that is against n, its loop is clockwise
        for (int32_t k = end - 1; k >= begin; k--)
            patch_put(m, true, h, h->loop[k], h->loop_edge[k > begin ? k - 1 : end - 1], p);
    } else {
        for (int32_t k = begin; k < end; k++)
            patch_put(m, false, h, h->loop[k], h->loop_edge[k], p);
        tl_couple_turn_from_b(m->c, normal, normal);
        tl_couple_from_b(m->c, x, x);
    }
    const double steep = tl_dot3(normal, m->axis->n);
    p->base = tl_dot3(normal, x) / steep;
    p->slope[0] = -tl_dot3(normal, m->u) / steep;
    p->slope[1] = -tl_dot3(normal, m->v) / steep;
}

// The patch of a body towards the other.
static void patch_make(const manifold *m, bool of_a, const tl_hull *h, patch *p) {
    const int32_t dim = m->c->dim;
    double d[3];
    if (of_a)
        tl_scale3(-1.0, m->axis->n, d);
    else
        tl_couple_turn_to_b(m->c, m->axis->n, d);
    p->count = 0;
    if (h->corners <= 2) {
        for (int32_t k = 0; k < h->corners; k++) patch_put(m, of_a, h, k, 0, p);
        return;
    }
    int32_t near;
    const int32_t f = tl_hull_facing(h, d, m->slack, m->reach - m->axis->s, &near);
    if (dim == 2)
        patch_put_edge(m, of_a, h, h->face_start[f], p);
    else if (tl_dot3(d, h->normal[f]) < PATCH_STEEP)
        patch_put_edge(m, of_a, h, patch_edge(h, d, near), p);
    else
        patch_put_face(m, of_a, h, f, p);
}

static double patch_plane(const patch *p, patch_point at) {
    return p->base + p->slope[0] * at.x + p->slope[1] * at.y;
}

// --- places ---

static uint32_t manifold_corner_of_b(const manifold *m, int32_t i) {
    return (uint32_t)m->b->corner[i];
}
static uint32_t manifold_corner_of_a(const manifold *m, int32_t i) {
    return (uint32_t)(m->hb->corners + m->a->corner[i]);
}
static uint32_t manifold_crossing(const manifold *m, int32_t edge_a, int32_t edge_b) {
    const int32_t edges_b = manifold_edges(m->c->dim, m->hb->corners, m->hb->edges);
    return (uint32_t)(m->ha->corners + m->hb->corners + edge_a * edges_b + edge_b);
}

// A place with its own normal; the points are in the frame of a.
static void manifold_put(manifold *m, uint32_t feature, const double a[3], const double b[3],
                         const double n[3], double gap) {
    if (!(gap <= m->reach) || m->count >= TL_SPOTS) return;
    tl_spot *s = &m->out[m->count++];
    s->feature = feature;
    s->gap = gap;
    tl_copy3(n, s->n);
    tl_copy3(a, s->a);
    tl_copy3(b, s->b);
}

// A place along the axis, by its coordinates across it and the heights of both surfaces. Beside the
// border of a steep face a plane is beyond the body: not so the place.
static void manifold_put_at(manifold *m, uint32_t feature, patch_point at, double height_a,
                            double height_b) {
    double a[3], b[3];
    if (height_a < m->a->low) height_a = m->a->low;
    if (height_b > m->b->high) height_b = m->b->high;
    for (int k = 0; k < 3; k++) {
        const double across = at.x * m->u[k] + at.y * m->v[k];
        a[k] = across + height_a * m->axis->n[k];
        b[k] = across + height_b * m->axis->n[k];
    }
    manifold_put(m, feature, a, b, m->axis->n, height_a - height_b);
}

// How far inside a polygon a point is of its side from corner k on.
static double patch_inside(const patch *p, int32_t k, patch_point at) {
    const patch_point s = p->at[k], e = p->at[k + 1 < p->count ? k + 1 : 0];
    const double dx = e.x - s.x, dy = e.y - s.y, length = patch_length(dx, dy);
    return length > 0.0 ? (dx * (at.y - s.y) - dy * (at.x - s.x)) / length : 0.0;
}

static bool patch_is_at(const manifold *m, const patch *p, int32_t k, patch_point at) {
    return patch_length(p->at[k].x - at.x, p->at[k].y - at.y) <= PATCH_CORNER * m->c->size;
}

// The feature of a crossing of edge ia of patch a with edge ib of patch b, or of the corner that is
// there: beside a corner it is chance which of its edges is met.
static uint32_t manifold_name(const manifold *m, int32_t ia, int32_t ib, patch_point at) {
    const int32_t next_a = ia + 1 < m->a->count ? ia + 1 : 0;
    const int32_t next_b = ib + 1 < m->b->count ? ib + 1 : 0;
    if (patch_is_at(m, m->b, ib, at)) return manifold_corner_of_b(m, ib);
    if (patch_is_at(m, m->b, next_b, at)) return manifold_corner_of_b(m, next_b);
    if (patch_is_at(m, m->a, ia, at)) return manifold_corner_of_a(m, ia);
    if (patch_is_at(m, m->a, next_a, at)) return manifold_corner_of_a(m, next_a);
    return manifold_crossing(m, m->a->edge[ia], m->b->edge[ib]);
}

// A corner of the polygon that is being cut, and the edge that begins there: number i of patch b,
// or ~i, side i of patch a.
typedef struct clip_corner {
    patch_point at;
    int32_t edge;
} clip_corner;

// Where on the way from one point to another a side is crossed, given how far inside each is. Where
// only the slack is, at the nearer one.
static double clip_part(double here, double there) {
    const double t = here / (here - there);
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

// What is on the inner side of side k of a, or less than `slack` outside.
static int32_t clip_side(const manifold *m, int32_t k, int32_t count, const clip_corner *from,
                         clip_corner *to) {
    int32_t size = 0;
    double here = patch_inside(m->a, k, from[0].at) + m->slack;
    for (int32_t i = 0; i < count; i++) {
        const clip_corner *p = &from[i], *q = &from[i + 1 < count ? i + 1 : 0];
        const double there = patch_inside(m->a, k, q->at) + m->slack;
        if (here >= 0.0) to[size++] = *p;
        if ((here >= 0.0) != (there >= 0.0)) {
            const double t = clip_part(here - m->slack, there - m->slack);
            to[size].at.x = p->at.x + t * (q->at.x - p->at.x);
            to[size].at.y = p->at.y + t * (q->at.y - p->at.y);
            to[size++].edge = here >= 0.0 ? ~k : p->edge;
        }
        here = there;
    }
    return size;
}

// Two polygons: cut that of b by the sides of a.
static void manifold_polygons(manifold *m) {
    clip_corner room[2][TL_SPOTS];
    const patch *a = m->a, *b = m->b;
    int32_t count = b->count, now = 0;
    for (int32_t i = 0; i < count; i++) room[0][i] = (clip_corner){b->at[i], i};
    for (int32_t k = 0; k < a->count && count > 0; k++, now = 1 - now)
        count = clip_side(m, k, count, room[now], room[1 - now]);
    for (int32_t i = 0; i < count; i++) {
        const clip_corner *p = &room[now][i];
        const int32_t before = room[now][i > 0 ? i - 1 : count - 1].edge, after = p->edge;
        const double plane_a = patch_plane(a, p->at), plane_b = patch_plane(b, p->at);
        if (before >= 0 && after >= 0)
            manifold_put_at(m, manifold_corner_of_b(m, after), p->at, plane_a, b->height[after]);
        else if (before < 0 && after < 0) // side `after` begins where the one before it ends
            manifold_put_at(m, manifold_corner_of_a(m, ~after), p->at, a->height[~after], plane_b);
        else
            manifold_put_at(
                m,
                manifold_name(m, before < 0 ? ~before : ~after, before < 0 ? after : before, p->at),
                p->at, plane_a, plane_b);
    }
}

// A segment and a polygon: what is left of the segment between the sides.
static void manifold_segment(manifold *m, bool segment_is_a) {
    const patch *s = segment_is_a ? m->a : m->b, *p = segment_is_a ? m->b : m->a;
    double from = 0.0, to = 1.0;
    int32_t cut[2] = {-1, -1};
    for (int32_t k = 0; k < p->count; k++) {
        const double here = patch_inside(p, k, s->at[0]), there = patch_inside(p, k, s->at[1]);
        if (here < -m->slack && there < -m->slack) return;
        if (here >= -m->slack && there >= -m->slack) continue;
        const double t = clip_part(here, there);
        if (here < there && t >= from) from = t, cut[0] = k;
        if (there < here && t <= to) to = t, cut[1] = k;
    }
    const double length = patch_length(s->at[1].x - s->at[0].x, s->at[1].y - s->at[0].y);
    if ((from - to) * length > m->slack) return; // past a corner of the polygon, unless by rounding
    const double rise = s->height[1] - s->height[0];
    const int nearer = segment_is_a ? rise < 0.0 : rise > 0.0;
    for (int end = 0; end < 2; end++) {
        if (length <= m->slack && end != nearer) continue; // it stands on the other one
        const double t = end == 0 ? from : to;
        const patch_point at = {s->at[0].x + t * (s->at[1].x - s->at[0].x),
                                s->at[0].y + t * (s->at[1].y - s->at[0].y)};
        const double height = s->height[0] + t * (s->height[1] - s->height[0]);
        const double plane = patch_plane(p, at);
        uint32_t feature;
        if (cut[end] < 0)
            feature = segment_is_a ? manifold_corner_of_a(m, end) : manifold_corner_of_b(m, end);
        else
            feature =
                manifold_name(m, segment_is_a ? 0 : cut[end], segment_is_a ? cut[end] : 0, at);
        manifold_put_at(m, feature, at, segment_is_a ? height : plane,
                        segment_is_a ? plane : height);
    }
}

// The end of an edge (2D) on one side, sign < 0: with the lower x. One that stands on the other
// body has only the end that is nearer to it; `down` is −1 for b, whose upper end that is.
static int32_t flat_end(const manifold *m, const patch *p, double sign, double down) {
    const double along = p->at[1].x - p->at[0].x;
    if (fabs(along) <= m->slack) return down * (p->height[0] - p->height[1]) > 0.0;
    return sign * along > 0.0;
}

// 2D: the coordinate across the axis is x, and two edges overlap in an interval of it. Corners that
// coincide count as those of b.
static void manifold_flat(manifold *m) {
    const patch *a = m->a, *b = m->b;
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? -1.0 : 1.0;
        const int32_t ia = flat_end(m, a, sign, 1.0), ib = flat_end(m, b, sign, -1.0);
        const bool of_b = sign * (b->at[ib].x - a->at[ia].x) <= m->slack;
        const patch *other = of_b ? a : b;
        const patch_point at = of_b ? b->at[ib] : a->at[ia];
        const double length = other->at[1].x - other->at[0].x, from = at.x - other->at[0].x;
        double t = of_b ? ia : ib;
        if (fabs(length) > m->slack) t = from / length;
        // not beyond the other edge: the intervals do not meet
        if (fabs(from - t * length) > m->slack || t * fabs(length) < -m->slack ||
            (t - 1.0) * fabs(length) > m->slack)
            continue;
        const double height = other->height[0] + t * (other->height[1] - other->height[0]);
        if (of_b)
            manifold_put_at(m, manifold_corner_of_b(m, ib), at, height, b->height[ib]);
        else
            manifold_put_at(m, manifold_corner_of_a(m, ia), at, a->height[ia], height);
    }
}

// --- two segments ---

static void patch_point_of(const manifold *m, const patch *p, double t, double out[3]) {
    const double x = p->at[0].x + t * (p->at[1].x - p->at[0].x);
    const double y = p->at[0].y + t * (p->at[1].y - p->at[0].y);
    const double z = p->height[0] + t * (p->height[1] - p->height[0]);
    for (int k = 0; k < 3; k++) out[k] = x * m->u[k] + y * m->v[k] + z * m->axis->n[k];
}

// An end of a segment with the point of the other that is nearest to it: a place with a normal of
// its own, if that is about the axis.
static void manifold_end(manifold *m, bool of_a, int32_t end) {
    const patch *s = of_a ? m->a : m->b, *o = of_a ? m->b : m->a;
    double x[3], from[3], to[3], d[3], e[3], n[3];
    patch_point_of(m, s, end, x);
    patch_point_of(m, o, 0.0, from);
    patch_point_of(m, o, 1.0, to);
    tl_sub3(to, from, d);
    tl_sub3(x, from, e);
    const double square = tl_dot3(d, d);
    double t = square > 0.0 ? tl_dot3(e, d) / square : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    double y[3];
    tl_axpy3(from, t, d, y);
    tl_sub3(of_a ? x : y, of_a ? y : x, n);
    const double gap = tl_norm3(n);
    if (!(gap > m->slack) || !(tl_dot3(n, m->axis->n) > 0.5 * gap)) return;
    tl_scale3(1.0 / gap, n, n);
    manifold_put(m, of_a ? manifold_corner_of_a(m, end) : manifold_corner_of_b(m, end),
                 of_a ? x : y, of_a ? y : x, n, gap);
}

// Ends beside the other segment, and later the nearest points: parallel segments touch along a
// line.
static void manifold_segments(manifold *m) {
    if (!(m->axis->s > 0.0)) return; // they cross
    for (int32_t end = 0; end < 2; end++) manifold_end(m, false, end);
    for (int32_t end = 0; end < 2; end++) manifold_end(m, true, end);
}

// --- the nearest points ---

// Where the most level edges at the nearest corners cross, seen along the axis. False: they do not.
static bool manifold_edge_pair(manifold *m) {
    const double n[3] = {-m->axis->n[0], -m->axis->n[1], -m->axis->n[2]};
    double d[3];
    tl_couple_turn_to_b(m->c, m->axis->n, d);
    const tl_hull *h[2] = {m->ha, m->hb};
    const double *towards[2] = {n, d};
    patch *p[2] = {m->a, m->b};
    for (int i = 0; i < 2; i++) {
        if (h[i]->corners < 3) continue; // the patch is its segment
        const int32_t near = patch_farthest(h[i], towards[i]);
        p[i]->count = 0;
        patch_put_edge(m, i == 0, h[i], patch_edge(h[i], towards[i], near), p[i]);
    }
    const patch_point *a = m->a->at, *b = m->b->at;
    const double ax = a[1].x - a[0].x, ay = a[1].y - a[0].y;
    const double bx = b[1].x - b[0].x, by = b[1].y - b[0].y, det = ax * by - ay * bx;
    if (!(fabs(det) > TL_HULL_FLAT * patch_length(ax, ay) * patch_length(bx, by))) return false;
    const double t = ((b[0].x - a[0].x) * by - (b[0].y - a[0].y) * bx) / det;
    const double s = ((b[0].x - a[0].x) * ay - (b[0].y - a[0].y) * ax) / det;
    const double over = TL_HULL_FLAT;
    if (t < -over || t > 1.0 + over || s < -over || s > 1.0 + over) return false;
    const patch_point at = {a[0].x + t * ax, a[0].y + t * ay};
    manifold_put_at(m, manifold_name(m, 0, 0, at), at,
                    m->a->height[0] + t * (m->a->height[1] - m->a->height[0]),
                    m->b->height[0] + s * (m->b->height[1] - m->b->height[0]));
    return true;
}

// The nearest points of two segments, where both are between their ends.
static bool manifold_cross(const manifold *m, double a[3], double b[3]) {
    double from_a[3], from_b[3], u[3], v[3], d[3];
    if (m->c->dim == 2 || m->a->count != 2 || m->b->count != 2) return false;
    patch_point_of(m, m->a, 0.0, from_a);
    patch_point_of(m, m->b, 0.0, from_b);
    patch_point_of(m, m->a, 1.0, u);
    patch_point_of(m, m->b, 1.0, v);
    tl_sub3(u, from_a, u);
    tl_sub3(v, from_b, v);
    tl_sub3(from_a, from_b, d);
    const double uu = tl_dot3(u, u), vv = tl_dot3(v, v), uv = tl_dot3(u, v);
    const double ud = tl_dot3(u, d), vd = tl_dot3(v, d), det = uu * vv - uv * uv;
    if (!(det > PATCH_PARALLEL * uu * vv)) return false;
    const double t = (uv * vd - vv * ud) / det, s = (uu * vd - uv * ud) / det;
    if (t < 0.0 || t > 1.0 || s < 0.0 || s > 1.0) return false;
    tl_axpy3(from_a, t, u, a);
    tl_axpy3(from_b, s, v, b);
    return true;
}

// Whether a place with the distance of the bodies was found. Corners and edges that coincide within
// the slack leave it off by as much, which is put right. Ends of segments that are so little
// farther off than their crossing give it their name only: a distance that is off by e has a normal
// that is off by √e.
static bool manifold_has_deepest(manifold *m) {
    int best = -1;
    for (int i = 0; i < m->count; i++)
        if (best < 0 || m->out[i].gap < m->out[best].gap) best = i;
    if (best < 0 || m->out[best].gap > m->axis->s + m->slack) return false;
    tl_spot *s = &m->out[best];
    s->gap = m->axis->s;
    double a[3], b[3], n[3];
    if (s->gap > m->slack && manifold_cross(m, a, b)) {
        tl_sub3(a, b, n);
        tl_scale3(1.0 / tl_norm3(n), n, s->n);
        tl_copy3(b, s->b);
    }
    tl_axpy3(s->b, s->gap, s->n, s->a);
    return true;
}

static void manifold_nearest(manifold *m, const double at_b[3]) {
    const uint32_t last = manifold_features(m->c->dim, m->ha, m->hb) - 1;
    const double *n = m->axis->n;
    if (m->c->dim == 3 && m->ha->corners > 1 && m->hb->corners > 1 && manifold_edge_pair(m) &&
        manifold_has_deepest(m))
        return;
    double a[3] = {0.0}, b[3] = {0.0};
    // apart: as they were found; overlapping: the nearest corner of b, or a point that is all of a
    if (m->axis->s > 0.0)
        tl_copy3(at_b, b);
    else
        tl_couple_support(m->c, n, a, b);
    if (m->axis->s > 0.0 || m->ha->corners > 1)
        tl_axpy3(b, m->axis->s, n, a);
    else
        tl_axpy3(a, -m->axis->s, n, b);
    manifold_put(m, last, a, b, n, m->axis->s);
}

int tl_manifold(const tl_couple *c, const tl_hull *ha, const tl_hull *hb, const tl_axis *axis,
                const double at_b[3], double reach, tl_spot *out) {
    patch a, b;
    manifold m = {.c = c,
                  .ha = ha,
                  .hb = hb,
                  .axis = axis,
                  .slack = TL_HULL_FLAT * c->size,
                  .reach = reach,
                  .a = &a,
                  .b = &b,
                  .out = out};
    if (ha->corners > 1 && hb->corners > 1) {
        tl_across(c->dim, axis->n, m.u);
        if (c->dim == 3) tl_cross3(axis->n, m.u, m.v);
        patch_make(&m, true, ha, &a);
        patch_make(&m, false, hb, &b);
        if (c->dim == 2)
            manifold_flat(&m);
        else if (a.count > 2 && b.count > 2)
            manifold_polygons(&m);
        else if (a.count > 2 || b.count > 2)
            manifold_segment(&m, a.count == 2);
        else
            manifold_segments(&m);
    }
    if (!manifold_has_deepest(&m)) manifold_nearest(&m, at_b);
    return m.count;
}
