// SPDX-License-Identifier: Apache-2.0
// Convex bodies: their views, and the signed distance of two of them. Cores with corners get the
// exact answer from tl_axis_of_corners where they touch or overlap; others from tl_axis_by_growth.
#include "collide/convex_impl.h"
#include "collide/round.h"
#include <string.h>

// Cores nearer than this part of their size are looked at by their faces and edges: nearest points
// give the normal with an error of rounding / distance only.
#define CONVEX_NEAR 1e-3
// Difference of the bounds of a distance beyond which it is not left to rounding.
#define CONVEX_UNSURE 1e-13
// Part of the size within which places are as deep as the deepest.
#define CONVEX_DEEPEST 1e-11
// Difference of two distances that are the same but for rounding.
#define CONVEX_TIE 1e-14

// Part of the radius of a rolling ball that is taken as margin, so that rounding leaves the core
// convex.
#define CONVEX_ROLLING 0.9

void tl_convex_support_corners(const tl_convex *c, const double d[3], double out[3]) {
    int32_t best = 0;
    double most = tl_dot3(c->corner[0], d);
    for (int32_t k = 1; k < c->corners; k++) {
        const double value = tl_dot3(c->corner[k], d);
        if (value > most) most = value, best = k;
    }
    tl_copy3(c->corner[best], out);
}

static void convex_support_origin(const tl_convex *c, const double d[3], double out[3]) {
    (void)c, (void)d;
    out[0] = out[1] = out[2] = 0.0;
}

// 0 counts as upper. The third half edge of a rectangle that is kept is 0.
static void convex_support_box(const tl_convex *c, const double d[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = d[k] < 0.0 ? -c->shape->half[k] : c->shape->half[k];
}

static void convex_support_points(const tl_convex *c, const double d[3], double out[3]) {
    const double *point = c->shape->point;
    int64_t best = 0;
    for (int64_t k = 1; k < c->shape->point_count; k++)
        if (tl_dot3(point + 3 * k, d) > tl_dot3(point + 3 * best, d)) best = k;
    tl_copy3(point + 3 * best, out);
}

// A body along whose inside a ball can roll is what it leaves free within, and everything within
// its radius of that: overlaps that are not deeper need no search for a way out. The third half
// axis of an ellipse that is kept is 0.
static void convex_support_ellipsoid(const tl_convex *c, const double d[3], double out[3]) {
    (void)tl_ellipsoid_support(c->shape->half[2] > 0.0 ? 3 : 2, c->shape, d, out, NULL);
    if (c->margin > 0.0) tl_axpy3(out, -c->margin / tl_norm3(d), d, out);
}

static void convex_support_lathe(const tl_convex *c, const double d[3], double out[3]) {
    const tl_lathe l = tl_lathe_of(c->shape);
    (void)tl_lathe_support(&l, d, out);
}

void tl_convex_view(int32_t dim, const talus_shape_def *shape, const tl_solid *solid,
                    tl_convex *out) {
    static const double origin[1][3] = {{0.0, 0.0, 0.0}};
    (void)dim;
    *out = (tl_convex){.shape = shape, .solid = solid, .support = tl_convex_support_corners};
    switch (shape->kind) {
    case TALUS_SHAPE_SPHERE:
        out->support = convex_support_origin;
        out->margin = shape->radius;
        out->corner = origin;
        out->corners = 1;
        break;
    case TALUS_SHAPE_CAPSULE:
        out->margin = shape->radius;
        out->corner = solid->segment;
        out->corners = 2;
        break;
    case TALUS_SHAPE_BOX:
        out->support = convex_support_box;
        out->corner = (const double(*)[3])solid->hull->corner;
        out->corners = solid->hull->corners;
        break;
    case TALUS_SHAPE_POLYHEDRON:
        if (!solid || !solid->hull) {
            out->support = convex_support_points;
            break;
        }
        out->corner = (const double(*)[3])solid->hull->corner;
        out->corners = solid->hull->corners;
        break;
    case TALUS_SHAPE_ELLIPSOID:
    case TALUS_SHAPE_SUPERELLIPSOID:
        out->support = convex_support_ellipsoid;
        if (solid) out->margin = CONVEX_ROLLING * solid->rolling;
        break;
    case TALUS_SHAPE_CYLINDER:
    case TALUS_SHAPE_CONE:
        out->support = convex_support_lathe;
        break;
    default: // no bounded convex shape
        TL_ASSUME(false);
    }
}

static double convex_core_size(int32_t dim, const tl_convex *c) {
    if (c->corners == 0) return tl_shape_extent(dim, c->shape);
    if (c->solid && c->solid->hull && c->corners > 3) return c->solid->hull->size;
    double most = 0.0;
    for (int32_t k = 0; k < c->corners; k++) most = TL_MAX(tl_norm3(c->corner[k]), most);
    return most;
}

void tl_couple_make(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, tl_couple *out) {
    const double size_a = convex_core_size(dim, a), size_b = convex_core_size(dim, b);
    double back[4] = {pa->q[0], -pa->q[1], -pa->q[2], -pa->q[3]}, q[4], d[3];
    tl_quat_mul(back, pb->q, q);
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double turn[3][3] = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
        {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
        {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}};
    out->dim = dim;
    out->a = a;
    out->b = b;
    memcpy(out->turn, turn, sizeof turn);
    tl_sub3(pb->x, pa->x, d);
    tl_rotate_back(pa->q, d, out->shift);
    out->size = TL_MAX(size_a, size_b);
    // two points: their radii are all the size there is
    if (!(out->size > 0.0)) out->size = TL_MAX(a->margin, b->margin);
}

static void convex_blend(const tl_simplex *s, double a[3], double b[3]) {
    for (int k = 0; k < 3; k++) {
        a[k] = b[k] = 0.0;
        for (int i = 0; i < s->count; i++) {
            a[k] += s->weight[i] * s->a[i][k];
            b[k] += s->weight[i] * s->b[i][k];
        }
    }
}

// The best axis of faces and edges; that of the nearest points where it is better by more than
// rounding (a corner or an edge beside a corner).
static void convex_settle(const tl_couple *c, const tl_hull *ha, const tl_hull *hb,
                          const double at_a[3], const double at_b[3], bool overlap, tl_axis *axis) {
    const tl_axis found = *axis;
    axis->s = overlap ? -INFINITY : found.s - CONVEX_TIE * c->size;
    const double start = axis->s;
    tl_axis_of_corners(c, ha, hb, at_a, at_b, axis);
    if (!overlap && axis->s == start) *axis = found;
}

bool tl_convex_axis(const tl_couple *c, const tl_hull *ha, const tl_hull *hb, double reach,
                    tl_axis *axis, double at_a[3], double at_b[3], bool *overlap) {
    tl_simplex simplex;
    const tl_gjk_result result = tl_gjk(c, reach, &simplex, axis);
    if (result == TL_GJK_FAR) return false;
    convex_blend(&simplex, at_a, at_b);
    *overlap = result == TL_GJK_OVERLAP;
    if (ha && hb) {
        double d[3];
        tl_sub3(at_a, at_b, d);
        const double distance = tl_norm3(d);
        if (*overlap || distance <= CONVEX_NEAR * c->size ||
            distance - axis->s > CONVEX_UNSURE * c->size)
            convex_settle(c, ha, hb, at_a, at_b, *overlap, axis);
    } else if (*overlap) {
        tl_axis_by_growth(c, axis, at_a, at_b);
    }
    return axis->s <= reach;
}

// Points of the surfaces with a − b = gap n, in the middle of where two overlapping cores with
// corners are deepest.
static void convex_deepest(const tl_couple *c, const tl_hull *ha, const tl_hull *hb,
                           const tl_axis *axis, double at_a[3], double at_b[3]) {
    tl_spot spot[TL_SPOTS];
    const double near = axis->s + CONVEX_DEEPEST * c->size;
    const int count = tl_manifold(c, ha, hb, axis, at_b, near, spot);
    if (count == 0) return;
    for (int k = 0; k < 3; k++) {
        at_a[k] = at_b[k] = 0.0;
        for (int i = 0; i < count; i++) {
            at_a[k] += spot[i].a[k] / count;
            at_b[k] += spot[i].b[k] / count;
        }
    }
}

bool tl_convex_nearest(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                       const tl_pose *pb, double reach, tl_nearest *out) {
    tl_couple c;
    tl_small_hull room_a, room_b;
    tl_axis axis;
    double at_a[3], at_b[3], middle[3];
    bool overlap;
    const bool corners = a->corners > 0 && b->corners > 0;
    const double margins = a->margin + b->margin;
    tl_couple_make(dim, a, pa, b, pb, &c);
    const tl_hull *ha = corners ? tl_convex_hull(dim, a, &room_a) : NULL;
    const tl_hull *hb = corners ? tl_convex_hull(dim, b, &room_b) : NULL;
    if (!tl_convex_axis(&c, ha, hb, reach + margins, &axis, at_a, at_b, &overlap)) return false;
    if (overlap && corners) convex_deepest(&c, ha, hb, &axis, at_a, at_b);
    // the way between the points, less what rounding has left across the normal
    for (int k = 0; k < 3; k++) {
        at_a[k] -= a->margin * axis.n[k];
        at_b[k] += b->margin * axis.n[k];
        middle[k] = 0.5 * (at_a[k] + at_b[k]);
    }
    out->gap = axis.s - margins;
    tl_rotate(pa->q, axis.n, out->normal);
    tl_rotate(pa->q, middle, middle);
    for (int k = 0; k < 3; k++) {
        out->a[k] = pa->x[k] + (middle[k] + 0.5 * out->gap * out->normal[k]);
        out->b[k] = pa->x[k] + (middle[k] - 0.5 * out->gap * out->normal[k]);
    }
    return true;
}

void tl_across(int32_t dim, const double d[3], double out[3]) {
    if (dim == 2) {
        const double flat[3] = {-d[1], d[0], 0.0}, x[3] = {1.0, 0.0, 0.0};
        const double length = tl_norm3(flat);
        tl_copy3(x, out);
        if (length > 0.0) tl_scale3(1.0 / length, flat, out);
        return;
    }
    int least = 0;
    double axis[3] = {0.0, 0.0, 0.0};
    for (int k = 1; k < 3; k++)
        if (fabs(d[k]) < fabs(d[least])) least = k;
    axis[least] = 1.0;
    double n[3];
    tl_cross3(axis, d, n);
    const double length = tl_norm3(n);
    if (length > 0.0)
        tl_scale3(1.0 / length, n, out);
    else
        tl_copy3(axis, out);
}

static double small_offset(const tl_small_hull *s, const double normal[3]) {
    double most = -INFINITY;
    for (int k = 0; k < s->hull.corners; k++) {
        const double value = tl_dot3(s->corner[k], normal);
        if (value > most) most = value;
    }
    return most;
}

static void small_face(tl_small_hull *s, const double normal[3]) {
    tl_copy3(normal, s->normal[s->hull.faces]);
    s->offset[s->hull.faces++] = small_offset(s, normal);
}

static void small_turned_face(tl_small_hull *s, const double normal[3]) {
    const double turned[3] = {-normal[0], -normal[1], -normal[2]};
    small_face(s, turned);
}

static void small_segment(int32_t dim, tl_small_hull *s) {
    double d[3], u[3], v[3];
    tl_sub3(s->corner[1], s->corner[0], d);
    tl_across(dim, d, u);
    small_face(s, u);
    if (dim == 3) {
        tl_cross3(d, u, v);
        const double length = tl_norm3(v);
        if (length > 0.0)
            tl_scale3(1.0 / length, v, v);
        else
            tl_across(dim, u, v);
        small_face(s, v);
    }
    small_turned_face(s, u);
    if (dim == 2) return;
    small_turned_face(s, v);
    for (int k = 0; k < 4; k++)
        s->edge[s->hull.edges++] =
            (tl_hull_edge){.tail = 0, .head = 1, .left = k, .right = (k + 1) % 4};
}

// Its own edges 0, 1, 2 and, on the other side, the same as 3, 4, 5; loops name 0, 1, 2 only.
static void small_triangle(tl_small_hull *s) {
    double d[3], e[3], n[3];
    tl_sub3(s->corner[1], s->corner[0], d);
    tl_sub3(s->corner[2], s->corner[0], e);
    tl_cross3(d, e, n);
    const double area = tl_norm3(n);
    if (area > 0.0)
        tl_scale3(1.0 / area, n, n);
    else
        tl_across(3, tl_dot3(d, d) > tl_dot3(e, e) ? d : e, n);
    small_face(s, n);
    small_turned_face(s, n);
    for (int k = 0; k < 3; k++) {
        double m[3];
        tl_sub3(s->corner[(k + 1) % 3], s->corner[k], d);
        tl_cross3(d, n, m);
        const double length = tl_norm3(m);
        if (length > 0.0)
            tl_scale3(1.0 / length, m, m);
        else
            tl_across(3, n, m);
        small_face(s, m);
        s->edge[k] = (tl_hull_edge){.tail = k, .head = (k + 1) % 3, .left = 0, .right = 2 + k};
        s->edge[k + 3] = (tl_hull_edge){.tail = k, .head = (k + 1) % 3, .left = 2 + k, .right = 1};
    }
    s->hull.edges = 6;
    static const int32_t loop[6] = {0, 1, 2, 0, 2, 1}, edge[6] = {0, 1, 2, 2, 1, 0};
    memcpy(s->loop, loop, sizeof loop);
    memcpy(s->loop_edge, edge, sizeof edge);
    // the faces of no height have no loops
    for (int f = 0; f < 6; f++) s->face_start[f] = f < 2 ? 3 * f : 6;
    for (int k = 0; k <= 3; k++) s->fan_start[k] = 2 * k;
    for (int k = 0; k < 6; k++) s->fan[k] = k % 2;
}

const tl_hull *tl_convex_hull(int32_t dim, const tl_convex *c, tl_small_hull *room) {
    TL_ASSUME((dim == 2 || dim == 3) && c->corners > 0);
    if (c->corners > 3 || (dim == 2 && c->corners > 2)) return c->solid->hull;
    room->hull = (tl_hull){.corners = c->corners,
                           .corner = room->corner,
                           .normal = room->normal,
                           .offset = room->offset,
                           .face_start = room->face_start,
                           .loop = room->loop,
                           .loop_edge = room->loop_edge,
                           .edge = room->edge,
                           .fan_start = room->fan_start,
                           .fan = room->fan};
    memset(room->fan_start, 0, sizeof room->fan_start);
    for (int32_t k = 0; k < c->corners; k++) {
        tl_copy3(c->corner[k], room->corner[k]);
        room->hull.size = TL_MAX(tl_norm3(c->corner[k]), room->hull.size);
    }
    if (c->corners == 1) {
        const double up[3] = {0.0, dim == 2 ? 1.0 : 0.0, dim == 2 ? 0.0 : 1.0};
        small_face(room, up);
    } else if (c->corners == 2) {
        small_segment(dim, room);
    } else {
        small_triangle(room);
    }
    return &room->hull;
}
