// SPDX-License-Identifier: Apache-2.0
// Surfaces of round shapes. A ball is covered by rings about the z axis, 4 k points on the k-th
// ring from each pole, so that its triangles have much the same size everywhere. Other shapes are
// maps of the unit sphere's points d: an ellipsoid x = (a dx, b dy, c dz), and a superellipsoid,
// with ρ² = dx² + dy²,
//     x = a ρ^(2/q) |dx/ρ|^(2/p),  y = b ρ^(2/q) |dy/ρ|^(2/p),  z = c |dz|^(2/q)
// with the signs of d, which fulfils (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q = 1 and crowds the points
// where it is curved.
#include "collide/round.h"
#include "collide/surface_impl.h"

static const double round_pi = 3.14159265358979323846;

// cos and sin of the quarter turn's part k/n, exact at its ends.
static void round_quarter(int32_t k, int32_t n, double *c, double *s) {
    const double angle = 0.5 * round_pi * k / n;
    *c = k == n ? 0.0 : cos(angle);
    *s = k == n ? 1.0 : sin(angle);
}

// Unit vector number j of the 4 n of a circle, exact at the axes.
static void round_circle(int32_t j, int32_t n, double out[2]) {
    double c, s;
    round_quarter(j % n, n, &c, &s);
    switch (j / n % 4) {
    case 0:
        out[0] = c, out[1] = s;
        break;
    case 1:
        out[0] = -s, out[1] = c;
        break;
    case 2:
        out[0] = -c, out[1] = -s;
        break;
    default:
        out[0] = s, out[1] = -c;
    }
}

static double round_power(double x, double e) { return copysign(pow(fabs(x), e), x); }

// The point of a shape that belongs to the point d of the unit sphere (2D: circle), and its normal.
// `side` is the half of the sphere, 1 or −1, that d is counted to: it moves the caps of a capsule.
static void round_map(int32_t dim, const talus_shape_def *shape, const double d[3], double side,
                      double x[3], double n[3]) {
    if (shape->kind != TALUS_SHAPE_ELLIPSOID && shape->kind != TALUS_SHAPE_SUPERELLIPSOID) {
        tl_scale3(shape->radius, d, x);
        tl_copy3(d, n);
        if (shape->kind == TALUS_SHAPE_CAPSULE) x[dim - 1] += side * 0.5 * shape->height;
        return;
    }
    const bool plain = shape->kind == TALUS_SHAPE_ELLIPSOID;
    const double p = plain ? 2.0 : shape->exponent[0];
    const double q = plain || dim == 2 ? 2.0 : shape->exponent[1];
    const double rho = hypot(d[0], d[1]), wide = pow(rho, 2.0 / q);
    const double e[2] = {rho > 0.0 ? d[0] / rho : 1.0, rho > 0.0 ? d[1] / rho : 0.0};
    x[0] = shape->half[0] * wide * round_power(e[0], 2.0 / p);
    x[1] = shape->half[1] * wide * round_power(e[1], 2.0 / p);
    x[2] = dim == 2 ? 0.0 : shape->half[2] * round_power(d[2], 2.0 / q);
    tl_ellipsoid_normal(dim, shape, x, n);
}

// A closed curve: 4 n points of the circle; a capsule has those on the x axis twice.
static talus_status round_outline(tl_surface_build *b, const talus_shape_def *shape) {
    const int32_t n = b->detail / 4, first = b->out->points;
    const bool capsule = shape->kind == TALUS_SHAPE_CAPSULE;
    TL_TRY(tl_surface_reserve(b, 4 * n + 2, 4 * n + 2));
    for (int32_t j = 0; j < 4 * n + (capsule ? 2 : 0); j++) {
        const int32_t step = !capsule || j <= 2 * n ? j : j - 1;
        double d[3] = {0.0}, x[3], normal[3];
        round_circle(step % (4 * n), n, d);
        round_map(2, shape, d, j <= 2 * n ? 1.0 : -1.0, x, normal);
        tl_surface_point(b, x, normal);
    }
    const int32_t count = b->out->points - first;
    for (int32_t j = 0; j < count; j++) tl_surface_segment(b, first + (j + 1) % count, first + j);
    return TALUS_OK;
}

enum { ROUND_RINGS = TALUS_SURFACE_MOST / 4 + 1 };

// Points of ring k of the upper (side 1) or lower half; returns the first.
static int32_t round_ring(tl_surface_build *b, const talus_shape_def *shape, int32_t k,
                          double side) {
    const int32_t first = b->out->points;
    double c, s, x[3], normal[3];
    round_quarter(k, b->detail / 4, &c, &s);
    for (int32_t j = 0; j < TL_MAX(1, 4 * k); j++) {
        double d[3] = {1.0, 0.0, side * c};
        if (k > 0) round_circle(j, k, d);
        d[0] *= s, d[1] *= s;
        round_map(3, shape, d, side, x, normal);
        tl_surface_point(b, x, normal);
    }
    return first;
}

static void round_facet(tl_surface_build *b, double side, int32_t p, int32_t q, int32_t r) {
    tl_surface_triangle(b, p, side > 0.0 ? q : r, side > 0.0 ? r : q);
}

// Triangles between ring k (from point `in` on) and ring k + 1.
static void round_belt(tl_surface_build *b, double side, int32_t k, int32_t in, int32_t out) {
    const int32_t outer = 4 * (k + 1), inner = TL_MAX(4 * k, 1);
    for (int32_t quarter = 0; quarter < 4; quarter++)
        for (int32_t i = 0; i <= k; i++) {
            const int32_t p = in + (quarter * k + i) % inner, q = out + quarter * (k + 1) + i;
            const int32_t next = out + (quarter * (k + 1) + i + 1) % outer;
            round_facet(b, side, p, q, next);
            if (i < k) round_facet(b, side, p, next, in + (quarter * k + i + 1) % inner);
        }
}

// A mantle between two circles of the same number of points, `upper` and `lower` the first of each.
static void round_mantle(tl_surface_build *b, int32_t count, int32_t upper, int32_t lower) {
    for (int32_t j = 0; j < count; j++) {
        const int32_t k = (j + 1) % count;
        tl_surface_triangle(b, upper + j, lower + j, lower + k);
        tl_surface_triangle(b, upper + j, lower + k, upper + k);
    }
}

static talus_status round_ball(tl_surface_build *b, const talus_shape_def *shape) {
    const int32_t n = b->detail / 4, half = 1 + 2 * n * (n + 1);
    const bool capsule = shape->kind == TALUS_SHAPE_CAPSULE;
    int32_t equator[2] = {0, 0};
    TL_TRY(tl_surface_reserve(b, 2 * half, 8 * n * n + (capsule ? 8 * n : 0)));
    for (int s = 0; s < 2; s++) {
        const double side = s == 0 ? 1.0 : -1.0;
        int32_t in = round_ring(b, shape, 0, side);
        for (int32_t k = 0; k < n; k++) {
            const bool shared = s == 1 && k + 1 == n && !capsule;
            const int32_t out = shared ? equator[0] : round_ring(b, shape, k + 1, side);
            round_belt(b, side, k, in, out);
            in = out;
        }
        equator[s] = in;
    }
    if (capsule) round_mantle(b, 4 * n, equator[0], equator[1]);
    return TALUS_OK;
}

// A flat end at height z: the circle and its middle.
static talus_status round_end(tl_surface_build *b, double r, double z, double side) {
    const int32_t count = b->detail;
    const double n[3] = {0.0, 0.0, side};
    TL_TRY(tl_surface_reserve(b, count + 1, count));
    const int32_t middle = tl_surface_point(b, (const double[3]){0.0, 0.0, z}, n);
    for (int32_t j = 0; j < count; j++) {
        double e[2];
        round_circle(j, count / 4, e);
        tl_surface_point(b, (const double[3]){r * e[0], r * e[1], z}, n);
    }
    for (int32_t j = 0; j < count; j++)
        round_facet(b, side, middle, middle + 1 + j, middle + 1 + (j + 1) % count);
    return TALUS_OK;
}

// Mantle and ends of a cylinder or cone. The tip of a cone has a point for each of its triangles,
// with the normal of the triangle's middle.
static talus_status round_lathe(tl_surface_build *b, const tl_lathe *l, bool ends) {
    const int32_t count = b->detail, first = b->out->points;
    const double out = sqrt(1.0 - l->slope * l->slope);
    TL_TRY(tl_surface_reserve(b, 2 * count, 2 * count));
    for (int end = 0; end < 2; end++)
        for (int32_t j = 0; j < count; j++) {
            double e[2];
            if (l->r[end] > 0.0)
                round_circle(j, count / 4, e);
            else
                round_circle(2 * j + 1, count / 2, e);
            tl_surface_point(b, (const double[3]){l->r[end] * e[0], l->r[end] * e[1], l->z[end]},
                             (const double[3]){out * e[0], out * e[1], l->slope});
        }
    if (l->r[0] > 0.0) {
        round_mantle(b, count, first, first + count);
    } else {
        for (int32_t j = 0; j < count; j++)
            tl_surface_triangle(b, first + j, first + count + j, first + count + (j + 1) % count);
    }
    for (int end = 0; ends && end < 2; end++)
        if (l->r[end] > 0.0) TL_TRY(round_end(b, l->r[end], l->z[end], end == 0 ? 1.0 : -1.0));
    return TALUS_OK;
}

talus_status tl_surface_add_round(tl_surface_build *b, const talus_shape_def *shape) {
    if (b->dim == 2) return round_outline(b, shape);
    if (shape->kind == TALUS_SHAPE_DRUM) {
        const bool ends = isfinite(shape->height);
        const double r = shape->radius, z = ends ? 0.5 * shape->height : b->extent;
        return round_lathe(b, &(tl_lathe){.r = {r, r}, .z = {z, -z}}, ends);
    }
    if (shape->kind == TALUS_SHAPE_CYLINDER || shape->kind == TALUS_SHAPE_CONE) {
        const tl_lathe l = tl_lathe_of(shape);
        return round_lathe(b, &l, true);
    }
    return round_ball(b, shape);
}
