// SPDX-License-Identifier: Apache-2.0
// The common normal of two convex bodies (round_pair.h). On the unit sphere S has the gradient
// P r, P the projection across n, and the second derivative −(H + S 1) across n, H the sum of those
// of the support functions. Newton's steps are taken uphill only.
//
// Flat parts make S kinked. A straight line in a surface (edge, line of a mantle) is seen by the
// normals of a circle u·n = p of the unit sphere, a flat face by one normal. Normals close to the
// one of the search with GJK are tried in all these ways.
#include "collide/round_pair.h"
#include <string.h>

enum {
    NORMAL_STEPS = 80,
    NORMAL_CIRCLES = 48,
    NORMAL_STARTS = 40,
    NORMAL_CLIMBS = 6, ///< of the starts, the best
};

#define NORMAL_SAME 4e-16     // of the size: what S may lose to rounding
#define NORMAL_TIE 2e-15      // of the size: kinks come first where S is equal but for rounding
#define NORMAL_ROUNDING 3e-16 // of a unit vector
#define NORMAL_DONE 1e-13     // of the size: what S can still gain
#define NORMAL_NO_GAIN 1e-30  // of the size
#define NORMAL_NEAR 0.03      // [rad] how far from the first normal a kink may be

typedef struct normal_circle {
    double u[3], p;
    int side;
} normal_circle;

static void side_make(int32_t dim, const tl_convex *body, const tl_pose *pose, double way,
                      tl_side *s) {
    const double w = pose->q[0], x = pose->q[1], y = pose->q[2], z = pose->q[3];
    const double turn[3][3] = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
        {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
        {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}};
    memcpy(s->turn, turn, sizeof turn);
    s->body = body;
    s->dim = dim;
    s->way = way;
    s->hull = NULL;
    s->curly = false;
    s->kind = TL_SIDE_CORNERS;
    if (body->corners > 0) {
        s->hull = tl_convex_hull(dim, body, &s->room);
        return;
    }
    const talus_shape_kind kind = body->shape->kind;
    const bool lathe = kind == TALUS_SHAPE_CYLINDER || kind == TALUS_SHAPE_CONE;
    s->kind = lathe ? TL_SIDE_LATHE : TL_SIDE_SMOOTH;
    s->curly = kind == TALUS_SHAPE_SUPERELLIPSOID;
    if (lathe) s->lathe = tl_lathe_of(body->shape);
}

static double side_size(const tl_side *s) {
    return s->hull ? s->hull->size + s->body->margin : tl_shape_extent(s->dim, s->body->shape);
}

void tl_facing_make(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, tl_facing *out) {
    side_make(dim, a, pa, -1.0, &out->a);
    side_make(dim, b, pb, 1.0, &out->b);
    out->dim = dim;
    tl_sub3(pa->x, pb->x, out->apart);
    out->size = side_size(&out->a) + side_size(&out->b);
}

// The point of a body farthest along its direction; its second derivative is added to H.
static void side_view(const tl_side *s, const double n[3], double x[3], double H[3][3]) {
    double d[3], own[3][3] = {{0.0}}, turned[3][3];
    tl_side_in(s, n, d);
    tl_scale3(s->way, d, d);
    if (s->kind == TL_SIDE_CORNERS) {
        s->body->support(s->body, d, x);
    } else if (s->kind == TL_SIDE_SMOOTH) {
        (void)tl_ellipsoid_support(s->dim, s->body->shape, d, x, own);
    } else {
        const tl_lathe *l = &s->lathe;
        const double rho = hypot(d[0], d[1]);
        const int i = l->r[0] * rho + l->z[0] * d[2] >= l->r[1] * rho + l->z[1] * d[2] ? 0 : 1;
        (void)tl_circle_support(l->r[i], l->z[i], d, x, own);
    }
    tl_side_out(s, x, x);
    const double margin = s->kind == TL_SIDE_CORNERS ? s->body->margin : 0.0;
    tl_axpy3(x, margin * s->way, n, x);
    if (s->kind != TL_SIDE_CORNERS) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) turned[i][j] = tl_dot3(own[i], s->turn[j]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                H[i][j] += s->turn[i][0] * turned[0][j] + s->turn[i][1] * turned[1][j] +
                           s->turn[i][2] * turned[2][j];
    } else if (margin > 0.0) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) H[i][j] += margin * ((i == j ? 1.0 : 0.0) - n[i] * n[j]);
    }
}

void tl_side_bend(const tl_side *s, const double n[3], double H[3][3]) {
    double x[3];
    memset(H, 0, 3 * sizeof H[0]);
    side_view(s, n, x, H);
}

void tl_facing_view(const tl_facing *f, const double n[3], tl_view *out) {
    tl_copy3(n, out->n);
    memset(out->H, 0, sizeof out->H);
    side_view(&f->a, n, out->xa, out->H);
    side_view(&f->b, n, out->xb, out->H);
    for (int k = 0; k < 3; k++) out->r[k] = f->apart[k] + (out->xa[k] - out->xb[k]);
    out->s = tl_dot3(n, out->r);
}

// xᵀ H y
static double form(const tl_view *v, const double x[3], const double y[3]) {
    return x[0] * tl_dot3(v->H[0], y) + x[1] * tl_dot3(v->H[1], y) + x[2] * tl_dot3(v->H[2], y);
}

// Whether `to` is a better place than `from`: higher, or as high and less steep.
static bool climbs(const tl_facing *f, const tl_view *from, const tl_view *to, double slope_from,
                   double slope_to) {
    const double same = NORMAL_SAME * f->size;
    if (to->s > from->s + same) return true;
    return to->s >= from->s - same && slope_to < slope_from;
}

// The step across n that leads to the top by the second derivatives; where these do not tell of a
// top, uphill all the same.
static void newton_step(const tl_facing *f, const tl_view *v, double step[3]) {
    double t[2][3];
    tl_facing_basis(v->n, t);
    const double g[2] = {tl_dot3(t[0], v->r), tl_dot3(t[1], v->r)};
    const double a = form(v, t[0], t[0]) + v->s, c = form(v, t[1], t[1]) + v->s;
    const double b = form(v, t[0], t[1]);
    const double half = 0.5 * (a - c), root = hypot(half, b), middle = 0.5 * (a + c);
    // unit eigenvector of the larger eigenvalue
    double e[2] = {half >= 0.0 ? half + root : fabs(b), half >= 0.0 ? b : copysign(root - half, b)};
    const double length = hypot(e[0], e[1]);
    if (length > 0.0)
        e[0] /= length, e[1] /= length;
    else
        e[0] = 1.0, e[1] = 0.0;
    const double floor = 1e-14 * f->size;
    const double large = TL_MAX(fabs(middle + root), floor);
    // the smaller eigenvalue as determinant over the larger: no digits lost
    const double small_value = middle > 0.0 ? (a * c - b * b) / (middle + root) : middle - root;
    const double small = TL_MAX(fabs(small_value), floor);
    const double along = (g[0] * e[0] + g[1] * e[1]) / large;
    const double beside = (g[1] * e[0] - g[0] * e[1]) / small;
    const double w[2] = {along * e[0] - beside * e[1], along * e[1] + beside * e[0]};
    for (int k = 0; k < 3; k++) step[k] = w[0] * t[0][k] + w[1] * t[1][k];
}

// The way a step along the unit sphere is taken. Where a superellipsoid is nearly flat, its point
// x(n) runs away from n like a root, and Newton's steps overshoot. There the point is moved
// instead, by what the second derivative says, and the normal at its new place is taken: of these
// two motions one is nearly straight.
static void step_along(const tl_facing *f, const tl_view *v, const double step[3], bool straight,
                       double n[3]) {
    const tl_side *side[2] = {&f->a, &f->b}, *best = NULL;
    double most = 0.0, moved[3];
    for (int i = 0; i < 2; i++) {
        if (!side[i]->curly || straight) continue;
        double d[3], w[3], x[3], H[3][3], to[3];
        tl_side_in(side[i], v->n, d);
        tl_side_in(side[i], step, w);
        tl_scale3(side[i]->way, d, d);
        tl_scale3(side[i]->way, w, w);
        (void)tl_ellipsoid_support(f->dim, side[i]->body->shape, d, x, H);
        for (int k = 0; k < 3; k++) to[k] = x[k] + tl_dot3(H[k], w);
        const double bend =
            w[0] * tl_dot3(H[0], w) + w[1] * tl_dot3(H[1], w) + w[2] * tl_dot3(H[2], w);
        if (!(bend > most)) continue;
        most = bend;
        best = side[i];
        tl_copy3(to, moved);
    }
    tl_axpy3(v->n, 1.0, step, n);
    if (best) {
        double d[3];
        tl_ellipsoid_normal(f->dim, best->body->shape, moved, d);
        if (tl_norm3(d) > 0.0) {
            tl_side_out(best, d, n);
            tl_scale3(best->way, n, n);
        }
    }
    tl_scale3(1.0 / tl_norm3(n), n, n);
}

// Climb from v as far as it goes, or until S is more than reach. Steepness is measured by what a
// step promises to gain: directions in which a body is flat do not hide the others.
static void climb_free(const tl_facing *f, double reach, tl_view *v) {
    const bool curly = f->a.curly || f->b.curly;
    bool straight = !curly;
    double step[3], most = 0.7;
    newton_step(f, v, step);
    double gain = tl_dot3(step, v->r);
    for (int i = 0; i < NORMAL_STEPS && !(v->s > reach); i++) {
        double n[3], next_step[3];
        const double length = tl_norm3(step), part = length > most ? most / length : 1.0;
        if (length <= NORMAL_ROUNDING) return;
        tl_scale3(part, step, next_step);
        step_along(f, v, next_step, straight, n);
        tl_view next;
        tl_facing_view(f, n, &next);
        newton_step(f, &next, next_step);
        const double next_gain = tl_dot3(next_step, next.r);
        if (climbs(f, v, &next, gain, next_gain)) {
            *v = next;
            tl_copy3(next_step, step);
            gain = next_gain;
            most = TL_MIN(TL_MAX(most, 2.0 * part * length), 0.7);
            straight = !curly;
        } else if (!straight) {
            straight = true;
        } else {
            straight = !curly;
            if (gain <= NORMAL_NO_GAIN * f->size) return;
            most = 0.25 * part * length;
            if (most < 1e-16) return;
        }
    }
}

// The point of the circle u·n = p nearest to n; false: n is on its axis.
static bool circle_point(const normal_circle *c, const double n[3], double out[3]) {
    double across[3];
    tl_axpy3(n, -tl_dot3(n, c->u), c->u, across);
    const double length = tl_norm3(across);
    if (!(length > 1e-6)) return false;
    const double radius = sqrt(1.0 - c->p * c->p);
    for (int k = 0; k < 3; k++) out[k] = c->p * c->u[k] + radius / length * across[k];
    return true;
}

// Climb along the circle u·n = p. With τ = u × n, |τ| = c: dS = τ·r, d²S = −τᵀHτ − (n − p u)·r for
// a turn about u.
static void climb_circle(const tl_facing *f, const normal_circle *c, double reach, tl_view *v) {
    const bool curly = f->a.curly || f->b.curly;
    bool straight = !curly;
    double most = 0.7, tau[3];
    tl_cross3(c->u, v->n, tau);
    double g = tl_dot3(tau, v->r);
    for (int i = 0; i < NORMAL_STEPS && g != 0.0 && !(v->s > reach); i++) {
        double radial[3], n[3];
        tl_axpy3(v->n, -c->p, c->u, radial);
        const double curve = fabs(form(v, tau, tau) + tl_dot3(radial, v->r));
        double turn = g / TL_MAX(curve, 1e-14 * f->size);
        if (fabs(turn) <= NORMAL_ROUNDING) return;
        if (fabs(turn) > most) turn = copysign(most, turn);
        double step[3];
        const double sine = sin(turn), less = cos(turn) - 1.0;
        for (int k = 0; k < 3; k++) step[k] = less * radial[k] + sine * tau[k];
        step_along(f, v, step, straight, n);
        if (!circle_point(c, n, n)) return;
        tl_view next;
        tl_facing_view(f, n, &next);
        double tau_next[3];
        tl_cross3(c->u, n, tau_next);
        const double g_next = tl_dot3(tau_next, next.r);
        if (climbs(f, v, &next, fabs(g), fabs(g_next))) {
            *v = next;
            tl_copy3(tau_next, tau);
            g = g_next;
            most = TL_MIN(TL_MAX(most, 2.0 * fabs(turn)), 0.7);
            straight = !curly;
        } else if (!straight) {
            straight = true;
        } else {
            straight = !curly;
            if (fabs(g) <= 1e-14 * f->size) return;
            most = 0.25 * fabs(turn);
            if (most < 1e-16) return;
        }
    }
}

// In 2D all normals are on one circle.
static void climb(const tl_facing *f, double reach, tl_view *v) {
    const normal_circle flat = {.u = {0.0, 0.0, 1.0}};
    if (f->dim == 2)
        climb_circle(f, &flat, reach, v);
    else
        climb_free(f, reach, v);
}

// ---- smooth bodies ----

static double side_rolling(const tl_side *s) {
    if (s->kind == TL_SIDE_CORNERS) return s->body->margin;
    return s->body->solid ? s->body->solid->rolling : 0.0;
}

static bool side_is_smooth(const tl_side *s) {
    return s->kind == TL_SIDE_SMOOTH || s->body->corners == 1;
}

static void better(const tl_view *candidate, double than, tl_view *best) {
    if (candidate->s > best->s + than) *best = *candidate;
}

// Add a direction to start from, both ways.
static int starts_add(const tl_facing *f, double start[][3], int count, const double d[3]) {
    const double flat[3] = {d[0], d[1], f->dim == 2 ? 0.0 : d[2]}, length = tl_norm3(flat);
    if (!(length > 1e-3) || count + 2 > NORMAL_STARTS) return count;
    tl_scale3(1.0 / length, flat, start[count]);
    tl_scale3(-1.0 / length, flat, start[count + 1]);
    return count + 2;
}

// Deep overlaps have several tops. Directions in which two such bodies are thin: their axes, what
// is across two of those, and between.
static void climb_from_many(const tl_facing *f, tl_view *best) {
    double start[NORMAL_STARTS][3], axis[6][3];
    int count = 0;
    for (int k = 0; k < 6; k++) {
        const tl_side *s = k < 3 ? &f->a : &f->b;
        for (int i = 0; i < 3; i++) axis[k][i] = s->turn[i][k % 3];
        count = starts_add(f, start, count, axis[k]);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 3; j < 6; j++) {
            double d[3];
            if (f->dim == 3)
                tl_cross3(axis[i], axis[j], d);
            else
                tl_axpy3(axis[i], i + 0.5 * j - 2.0, axis[j], d);
            count = starts_add(f, start, count, d);
        }
    }
    double value[NORMAL_STARTS];
    for (int i = 0; i < count; i++) {
        tl_view v;
        tl_facing_view(f, start[i], &v);
        value[i] = v.s;
    }
    for (int n = 0; n < NORMAL_CLIMBS && n < count; n++) {
        int highest = 0;
        for (int i = 1; i < count; i++)
            if (value[i] > value[highest]) highest = i;
        value[highest] = -INFINITY;
        tl_view v;
        tl_facing_view(f, start[highest], &v);
        climb(f, INFINITY, &v);
        better(&v, NORMAL_TIE * f->size, best);
    }
}

// ---- flat parts ----

static int circles_add(const normal_circle *c, normal_circle *list, int count) {
    if (count < NORMAL_CIRCLES) list[count++] = *c;
    return count;
}

// Circles of normals that see a straight line of a body, near n.
static int side_circles(const tl_side *s, int side, const double n[3], normal_circle *list,
                        int count) {
    double d[3];
    normal_circle c = {.side = side};
    if (s->kind == TL_SIDE_SMOOTH || s->dim == 2) return count;
    tl_side_in(s, n, d);
    tl_scale3(s->way, d, d);
    if (s->kind == TL_SIDE_LATHE) {
        if (fabs(d[2] - s->lathe.slope) > NORMAL_NEAR) return count;
        for (int k = 0; k < 3; k++) c.u[k] = s->turn[k][2];
        c.p = s->way * s->lathe.slope;
        return circles_add(&c, list, count);
    }
    const tl_hull *h = s->hull;
    double x[3];
    s->body->support(s->body, d, x);
    const double top = tl_dot3(x, d);
    // a segment or triangle has its edges twice or four times
    const int32_t edges = h->corners == 2 ? 1 : h->corners == 3 ? 3 : h->edges;
    for (int32_t e = 0; e < edges; e++) {
        const double *tail = h->corner[h->edge[e].tail], *head = h->corner[h->edge[e].head];
        double along[3];
        tl_sub3(head, tail, along);
        const double length = tl_norm3(along), near = top - NORMAL_NEAR * length;
        if (!(length > 0.0) || tl_dot3(tail, d) < near || tl_dot3(head, d) < near) continue;
        tl_side_out(s, along, c.u);
        tl_scale3(1.0 / length, c.u, c.u);
        count = circles_add(&c, list, count);
    }
    return count;
}

// Try the normals of the flat faces of a body that are near n.
static void try_faces(const tl_facing *f, const tl_side *s, const double n[3], tl_view *best) {
    double d[3], m[3];
    tl_view v;
    tl_side_in(s, n, d);
    tl_scale3(s->way, d, d);
    if (s->kind == TL_SIDE_LATHE) {
        const int end = d[2] < 0.0;
        if (hypot(d[0], d[1]) > NORMAL_NEAR || !(s->lathe.r[end] > 0.0)) return;
        for (int k = 0; k < 3; k++) m[k] = s->way * (end ? -1.0 : 1.0) * s->turn[k][2];
        tl_facing_view(f, m, &v);
        better(&v, NORMAL_TIE * f->size, best);
        return;
    }
    const int32_t faces = !s->hull || s->hull->corners == 1 ? 0 : s->hull->faces;
    if (s->dim == 3 && faces > 0 && s->hull->corners == 2) return;
    for (int32_t k = 0; k < faces; k++) {
        if (tl_dot3(s->hull->normal[k], d) < 1.0 - 0.5 * NORMAL_NEAR * NORMAL_NEAR) continue;
        tl_side_out(s, s->hull->normal[k], m);
        tl_scale3(s->way, m, m);
        tl_facing_view(f, m, &v);
        better(&v, NORMAL_TIE * f->size, best);
    }
}

// Try the normals that two circles have in common.
static void try_crossing(const tl_facing *f, const normal_circle *a, const normal_circle *b,
                         const double n[3], tl_view *best) {
    double w[3], m[3];
    tl_cross3(a->u, b->u, w);
    const double square = tl_dot3(w, w), k = tl_dot3(a->u, b->u);
    if (!(square > 1e-24)) return;
    const double alpha = (a->p - b->p * k) / square, beta = (b->p - a->p * k) / square;
    const double rest = 1.0 - (alpha * alpha + beta * beta + 2.0 * alpha * beta * k);
    const double gamma = copysign(sqrt(TL_MAX(rest, 0.0) / square), tl_dot3(w, n));
    for (int i = 0; i < 3; i++) m[i] = alpha * a->u[i] + beta * b->u[i] + gamma * w[i];
    const double length = tl_norm3(m);
    if (!(length > 0.5) || tl_dot3(m, n) < 0.9 * length) return;
    tl_scale3(1.0 / length, m, m);
    tl_view v;
    tl_facing_view(f, m, &v);
    better(&v, NORMAL_TIE * f->size, best);
}

// Whether the best normal so far is the common one for certain: what the bodies show along it
// meets, and they are apart or overlap by no more than has one way out.
static bool settled(const tl_facing *f, const tl_view *best) {
    return best->s >= -(side_rolling(&f->a) + side_rolling(&f->b)) && tl_facing_meets(f, best);
}

// The best normal near n: faces first, then what two lines have in common, then one line, then
// none, so that of normals that are equal but for rounding the one that sees most is kept.
static void polish(const tl_facing *f, const double n[3], tl_view *best) {
    normal_circle list[NORMAL_CIRCLES];
    best->s = -INFINITY;
    try_faces(f, &f->a, n, best);
    try_faces(f, &f->b, n, best);
    if (settled(f, best)) return;
    const int of_a = side_circles(&f->a, 0, n, list, 0);
    const int count = side_circles(&f->b, 1, n, list, of_a);
    for (int i = 0; i < of_a; i++)
        for (int j = of_a; j < count; j++) try_crossing(f, &list[i], &list[j], n, best);
    if (settled(f, best)) return;
    tl_view v;
    for (int i = 0; i < count; i++) {
        double start[3];
        if (!circle_point(&list[i], n, start)) continue;
        tl_facing_view(f, start, &v);
        climb_circle(f, &list[i], INFINITY, &v);
        better(&v, NORMAL_TIE * f->size, best);
        if (settled(f, best)) return;
    }
    tl_facing_view(f, n, &v);
    climb(f, INFINITY, &v);
    better(&v, NORMAL_TIE * f->size, best);
}

bool tl_facing_nearest(const tl_facing *f, const tl_pose *pa, const tl_pose *pb, double reach,
                       tl_view *out) {
    double n[3], up[3] = {0.0, 0.0, 0.0};
    up[f->dim - 1] = 1.0;
    (void)tl_pair_direction(f->apart, up, n);
    tl_facing_view(f, n, out);
    if (out->s > reach) return false;
    const bool smooth = side_is_smooth(&f->a) && side_is_smooth(&f->b);
    if (smooth) {
        climb(f, reach, out);
        if (out->s > reach) return false;
        // A ball of this radius rolls along the inside of the Minkowski difference: overlaps that
        // are not deeper have one top only.
        const double rolling = side_rolling(&f->a) + side_rolling(&f->b);
        double step[3];
        newton_step(f, out, step);
        if (fabs(tl_dot3(step, out->r)) <= NORMAL_DONE * f->size && out->s >= -rolling) return true;
    }
    tl_nearest first;
    if (!tl_convex_nearest(f->dim, f->a.body, pa, f->b.body, pb, reach, &first)) return false;
    tl_view v;
    if (smooth) {
        tl_facing_view(f, first.normal, &v);
        climb(f, reach, &v);
        better(&v, NORMAL_TIE * f->size, out);
        climb_from_many(f, out);
    } else {
        polish(f, first.normal, out);
    }
    return out->s <= reach;
}
