// SPDX-License-Identifier: Apache-2.0
// Contact points of pairs with a round body. What the search for the common normal leaves of r
// across n is how far the points of the two bodies may be off, and is shared out between them.
#include "collide/round_flat.h"

// tt, tu, uu of the second derivative of a body's support function along two directions.
static void side_bends(const tl_side *s, const double n[3], double t[2][3], double out[3]) {
    double H[3][3];
    tl_side_bend(s, n, H);
    for (int k = 0; k < 3; k++) {
        const double *x = t[k == 2], *y = t[k > 0];
        out[k] = x[0] * tl_dot3(H[0], y) + x[1] * tl_dot3(H[1], y) + x[2] * tl_dot3(H[2], y);
    }
}

bool tl_facing_meets(const tl_facing *f, const tl_view *v) {
    tl_flat part[2];
    tl_flat_frame frame;
    double x[3], pa[3], pb[3];
    if (!(v->s > -INFINITY)) return false;
    tl_copy3(v->n, frame.n);
    tl_facing_basis(v->n, frame.t);
    for (int i = 0; i < 2; i++) {
        const tl_side *s = i ? &f->b : &f->a;
        if (s->kind != TL_SIDE_SMOOTH) {
            tl_flat_make(f, s, &frame, TL_FLAT_TIGHT, &part[i]);
            continue;
        }
        tl_axpy3(i ? v->xb : v->xa, i ? 0.0 : 1.0, f->apart, x);
        part[i] = (tl_flat){.count = 1};
        for (int k = 0; k < 2; k++) part[i].p[0][k] = tl_dot3(frame.t[k], x);
    }
    const tl_flat *a = &part[0], *b = &part[1];
    if (a->dim == 0)
        tl_copy3(a->p[0], pa), tl_flat_nearest(b, pa, pb);
    else if (b->dim == 0)
        tl_copy3(b->p[0], pb), tl_flat_nearest(a, pb, pa);
    else
        tl_flats_nearest(a, b, pa, pb);
    const double u = pa[0] - pb[0], w = pa[1] - pb[1];
    if (hypot(u, w) <= 1e-13 * f->size) return true;
    // A superellipsoid whose point may go there with next to no turn of its normal: S cannot gain
    // more than their product.
    const tl_side *s = f->a.curly ? &f->a : &f->b;
    if (!s->curly) return false;
    double moved[3], m[3];
    const double way = s == &f->a ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++)
        x[k] = (s == &f->a ? v->xa[k] : v->xb[k]) + way * (u * frame.t[0][k] + w * frame.t[1][k]);
    tl_side_in(s, x, moved);
    tl_ellipsoid_normal(f->dim, s->body->shape, moved, m);
    tl_side_out(s, m, m);
    const double length = tl_norm3(m);
    if (!(length > 0.0)) return false;
    tl_axpy3(v->n, -s->way / length, m, m);
    return tl_norm3(m) * hypot(u, w) <= 1e-15 * f->size;
}

// How far the point of a has to go, of `rho` in all, along two directions: each body goes as far as
// it is flat. `line`: the body that shows a line, along the first direction; −1: none.
static void share_by_bend(int32_t dim, double bend[2][3], int line, const double rho[2],
                          double out[2]) {
    const double tt = bend[0][0] + bend[1][0], tu = bend[0][1] + bend[1][1];
    const double uu = bend[0][2] + bend[1][2], det = tt * uu - tu * tu;
    if (line < 0 && dim == 3 && det > 1e-13 * tt * uu) {
        const double w[2] = {(uu * rho[0] - tu * rho[1]) / det, (tt * rho[1] - tu * rho[0]) / det};
        double way[2][2]; // the shorter of the two is the more accurate one
        for (int i = 0; i < 2; i++) {
            way[i][0] = bend[i][0] * w[0] + bend[i][1] * w[1];
            way[i][1] = bend[i][1] * w[0] + bend[i][2] * w[1];
        }
        const bool first = hypot(way[0][0], way[0][1]) <= hypot(way[1][0], way[1][1]);
        for (int k = 0; k < 2; k++) out[k] = first ? way[0][k] : rho[k] - way[1][k];
        return;
    }
    if (line >= 0 && uu > 0.0) { // the normal turns across the line only
        const double w = rho[1] / uu;
        out[0] = line == 1 ? bend[0][1] * w : rho[0] - bend[1][1] * w;
        out[1] = bend[0][2] * w;
        return;
    }
    out[0] = rho[0] * (line >= 0  ? (double)(line == 0)
                       : tt > 0.0 ? tl_within_unit(bend[0][0] / tt)
                                  : 0.5);
    out[1] = rho[1] * (uu > 0.0 ? tl_within_unit(bend[0][2] / uu) : 0.5);
}

// The point of a face that the point p of a smooth body comes to on the flattest way: the nearest
// one, with lengths measured by the inverse of its bend. Corners stand for a rim.
static void face_on_flattest_way(const tl_flat *face, const double bend[3], const double p[2],
                                 double out[2]) {
    // Cholesky: bend = L Lᵀ, and L⁻¹ x is what is compared
    const double tiny = 1e-12 * (bend[0] + bend[2]);
    const double l00 = sqrt(TL_MAX(bend[0], tiny)), l10 = bend[1] / l00;
    const double l11 = sqrt(TL_MAX(bend[2] - l10 * l10, tiny));
    tl_flat point = {.count = 1}, turned = *face;
    double x[3], y[3];
    if (tl_flat_holds(face, p) || !(tiny > 0.0)) {
        tl_flat_nearest(face, p, y);
        out[0] = y[0];
        out[1] = y[1];
        return;
    }
    point.p[0][0] = p[0] / l00;
    point.p[0][1] = (p[1] - l10 * point.p[0][0]) / l11;
    for (int i = 0; i < face->count; i++) {
        turned.p[i][0] = face->p[i][0] / l00;
        turned.p[i][1] = (face->p[i][1] - l10 * turned.p[i][0]) / l11;
    }
    tl_flats_edges(&point, &turned, x, y);
    out[0] = l00 * y[0];
    out[1] = l10 * y[0] + l11 * y[1];
}

// A point x of a rim goes along the rim, not along its tangent. `out` is what a goes of `rho`.
static void rim_share(const tl_side *s, const double x[3], double t[2][3], bool is_a,
                      const double rho[2], double out[2]) {
    double y[3], from[3], way[3];
    for (int k = 0; k < 3; k++) { // where it would go
        const double u = is_a ? -out[0] : rho[0] - out[0], w = is_a ? -out[1] : rho[1] - out[1];
        y[k] = x[k] + u * t[0][k] + w * t[1][k];
    }
    tl_side_in(s, x, from);
    tl_side_in(s, y, y);
    const double r = hypot(from[0], from[1]), length = hypot(y[0], y[1]);
    if (!(length > 0.0)) return;
    const double rim[3] = {r / length * y[0], r / length * y[1], from[2]};
    tl_side_out(s, rim, y);
    tl_sub3(y, x, way);
    for (int k = 0; k < 2; k++) out[k] = is_a ? -tl_dot3(t[k], way) : rho[k] - tl_dot3(t[k], way);
}

// What is left of r across n after the search is how far the points of the bodies may be off. It is
// shared out: a face takes all, a line what is along it, as far as they reach, and what is left
// goes to each as much as it is flat. Returns a's share.
static void share_out(const tl_facing *f, const tl_view *v, const double across[3],
                      double share[3]) {
    const tl_side *side[2] = {&f->a, &f->b};
    tl_flat_frame frame;
    tl_flat part = {.dim = 0};
    double x[3], p[2][2], rho[2], out[2], bend[2][3];
    int shows = -1; // the body with a flat part
    tl_copy3(v->n, frame.n);
    tl_facing_basis(v->n, frame.t);
    for (int i = 0; i < 2; i++)
        if (side[i]->kind != TL_SIDE_SMOOTH && side[i]->body->corners != 1) shows = i;
    if (shows >= 0) tl_flat_make(f, side[shows], &frame, TL_FLAT_TIGHT, &part);
    if (part.dim == 1) { // turn the frame so that t[0] is along the line
        const double e[2] = {part.p[1][0] - part.p[0][0], part.p[1][1] - part.p[0][1]};
        const double length = hypot(e[0], e[1]);
        for (int k = 0; k < 3 && length > 0.0; k++) {
            const double t = frame.t[0][k], u = frame.t[1][k];
            frame.t[0][k] = (e[0] * t + e[1] * u) / length;
            frame.t[1][k] = (e[0] * u - e[1] * t) / length;
        }
        tl_flat_make(f, side[shows], &frame, TL_FLAT_TIGHT, &part);
    }
    tl_axpy3(v->xa, 1.0, f->apart, x);
    for (int k = 0; k < 2; k++) {
        side_bends(side[k], v->n, frame.t, bend[k]);
        p[0][k] = tl_dot3(frame.t[k], x);
        p[1][k] = tl_dot3(frame.t[k], v->xb);
        rho[k] = tl_dot3(frame.t[k], across);
    }
    share_by_bend(f->dim, bend, part.dim == 1 ? shows : -1, rho, out);
    if (part.dim > 0 && shows >= 0) {
        // where the smooth body's point would go, and what the flat part has of that
        const int o = 1 - shows;
        double to[2], q[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 2; k++) {
            const double moved = o == 0 ? p[0][k] - out[k] : p[1][k] + rho[k] - out[k];
            to[k] = part.dim == 2 ? p[o][k] : moved;
        }
        if (part.dim == 2)
            face_on_flattest_way(&part, bend[o], to, q);
        else
            tl_flat_nearest(&part, to, q);
        for (int k = 0; k < 2 && k < part.dim; k++)
            out[k] = o == 0 ? p[0][k] - q[k] : rho[k] - (q[k] - p[1][k]);
    }
    if (part.dim == 0 && shows >= 0 && side[shows]->kind == TL_SIDE_LATHE)
        rim_share(side[shows], shows == 0 ? v->xa : v->xb, frame.t, shows == 0, rho, out);
    for (int k = 0; k < 3; k++) share[k] = out[0] * frame.t[0][k] + out[1] * frame.t[1][k];
}

int tl_round_points(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, double reach, tl_touch *out) {
    tl_facing f;
    tl_view v;
    tl_facing_make(dim, a, pa, b, pb, &f);
    if (!tl_facing_nearest(&f, pa, pb, reach, &v)) return 0;
    const bool point_a = f.a.kind == TL_SIDE_SMOOTH || a->corners == 1;
    const bool point_b = f.b.kind == TL_SIDE_SMOOTH || b->corners == 1;
    if (!point_a && !point_b) return tl_lathe_points(&f, &v, reach, out);
    double across[3], share[3];
    tl_axpy3(v.r, -v.s, v.n, across);
    share_out(&f, &v, across, share);
    out->feature = 0;
    out->gap = v.s;
    tl_copy3(v.n, out->normal);
    tl_sub3(v.xa, share, out->arm_a);
    for (int k = 0; k < 3; k++) out->arm_b[k] = v.xb[k] + (across[k] - share[k]);
    return 1;
}

int tl_pair_round(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                  tl_touch *out) {
    tl_convex ca, cb;
    tl_convex_view(dim, a->shape, a->solid, &ca);
    tl_convex_view(dim, b->shape, b->solid, &cb);
    return tl_round_points(dim, &ca, a->pose, &cb, b->pose, reach, out);
}
