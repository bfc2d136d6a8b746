// SPDX-License-Identifier: Apache-2.0
#include "support/round_bodies.h"
#include "support/two_shapes.h"
#include <math.h>
#include <stdlib.h>

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The norm whose unit ball is an ellipsoid or superellipsoid.
static double own_norm(const round_body *b, const double y[3]) {
    const double *h = b->shape.half;
    const bool plain = b->shape.kind == TALUS_SHAPE_ELLIPSOID;
    const double p = plain ? 2.0 : b->shape.exponent[0], q = plain ? 2.0 : b->shape.exponent[1];
    const double flat = pow(pow(fabs(y[0] / h[0]), p) + pow(fabs(y[1] / h[1]), p), 1.0 / p);
    if (b->dim == 2) return flat;
    return pow(pow(flat, q) + pow(fabs(y[2] / h[2]), q), 1.0 / q);
}

// max d·y with the norm of y at most 1: by Hölder's inequality, twice.
static double own_support(const round_body *b, const double d[3]) {
    const double *h = b->shape.half;
    const bool plain = b->shape.kind == TALUS_SHAPE_ELLIPSOID;
    const double p = plain ? 2.0 : b->shape.exponent[0], q = plain ? 2.0 : b->shape.exponent[1];
    if (plain) {
        const double z = b->dim == 2 ? 0.0 : h[2] * d[2];
        return sqrt(h[0] * h[0] * d[0] * d[0] + h[1] * h[1] * d[1] * d[1] + z * z);
    }
    const double s = p / (p - 1.0), t = q / (q - 1.0);
    const double flat = pow(pow(fabs(h[0] * d[0]), s) + pow(fabs(h[1] * d[1]), s), 1.0 / s);
    if (b->dim == 2) return flat;
    return pow(pow(flat, t) + pow(fabs(h[2] * d[2]), t), 1.0 / t);
}

double round_body_support(const round_body *b, const double d[3]) {
    const talus_shape_def *s = &b->shape;
    double e[3], most = -INFINITY;
    turn_vector(b->q, true, d, e);
    const double rho = hypot(e[0], e[1]), length = sqrt(dot(e, e));
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE:
        return s->radius * length;
    case TALUS_SHAPE_BOX:
        return s->half[0] * fabs(e[0]) + s->half[1] * fabs(e[1]) +
               (b->dim == 2 ? 0.0 : s->half[2] * fabs(e[2]));
    case TALUS_SHAPE_CAPSULE:
        return 0.5 * s->height * fabs(e[b->dim - 1]) + s->radius * length;
    case TALUS_SHAPE_CYLINDER:
        return s->radius * rho + 0.5 * s->height * fabs(e[2]);
    case TALUS_SHAPE_CONE:
        return fmax(0.75 * s->height * e[2], s->radius * rho - 0.25 * s->height * e[2]);
    case TALUS_SHAPE_POLYHEDRON:
        for (int i = 0; i < s->point_count; i++) most = fmax(most, dot(b->point + 3 * i, e));
        return most;
    default:
        return own_support(b, e);
    }
}

double round_body_outside(const round_body *b, const double y[3]) {
    const talus_shape_def *s = &b->shape;
    double p[3], over = -INFINITY;
    turn_vector(b->q, true, y, p);
    const double rho = hypot(p[0], p[1]), length = sqrt(dot(p, p));
    const int up = b->dim - 1;
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE:
        return length - s->radius;
    case TALUS_SHAPE_BOX:
        for (int k = 0; k < b->dim; k++) over = fmax(over, fabs(p[k]) - s->half[k]);
        return over;
    case TALUS_SHAPE_CAPSULE:
        p[up] -= fmax(-0.5 * s->height, fmin(0.5 * s->height, p[up]));
        return sqrt(dot(p, p)) - s->radius;
    case TALUS_SHAPE_CYLINDER:
        return fmax(rho - s->radius, fabs(p[2]) - 0.5 * s->height);
    case TALUS_SHAPE_CONE: // its mantle: rho h + (z − 3/4 h) r = 0
        return fmax(-0.25 * s->height - p[2],
                    (rho * s->height + (p[2] - 0.75 * s->height) * s->radius) /
                        hypot(s->height, s->radius));
    default: // along the ray from the centre
        return length * (own_norm(b, p) - 1.0);
    }
}

double round_bodies_along(const round_body *a, const round_body *b, const double apart[3],
                          const double n[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]}, length = sqrt(dot(n, n));
    return (dot(n, apart) - round_body_support(a, back) - round_body_support(b, n)) / length;
}

// Steps from n, each a random vector of the length that helped last, halved when several did not.
static double refine(tl_rng *rng, const round_body *a, const round_body *b, const double apart[3],
                     double step, double n[3], double value) {
    int failed = 0;
    while (step > 1e-9) {
        double m[3], length = 0.0;
        for (int k = 0; k < 3; k++) {
            m[k] = n[k] + (k < a->dim ? step * tl_rng_normal(rng) : 0.0);
            length += m[k] * m[k];
        }
        for (int k = 0; k < 3; k++) m[k] /= sqrt(length);
        const double next = round_bodies_along(a, b, apart, m);
        if (next > value) {
            value = next;
            failed = 0;
            for (int k = 0; k < 3; k++) n[k] = m[k];
        } else if (++failed >= 6) {
            failed = 0;
            step *= 0.5;
        }
    }
    return value;
}

double round_bodies_refine(tl_rng *rng, const round_body *a, const round_body *b,
                           const double apart[3], const double n[3]) {
    double m[3] = {n[0], n[1], n[2]};
    return refine(rng, a, b, apart, 1e-3, m, round_bodies_along(a, b, apart, m));
}

double round_bodies_search(tl_rng *rng, const round_body *a, const round_body *b,
                           const double apart[3], int count) {
    enum { KEPT = 4 };
    double best[KEPT][3], value[KEPT], most = -INFINITY;
    for (int i = 0; i < KEPT; i++) value[i] = -INFINITY;
    for (int i = 0; i < count; i++) {
        double n[3], length = 0.0;
        for (int k = 0; k < 3; k++) {
            n[k] = k < a->dim ? tl_rng_normal(rng) : 0.0;
            length += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++) n[k] /= sqrt(length);
        const double s = round_bodies_along(a, b, apart, n);
        // of directions within 30° only the best one is kept
        int least = 0, near = -1;
        for (int j = 0; j < KEPT; j++) {
            if (value[j] < value[least]) least = j;
            if (value[j] > -INFINITY && dot(best[j], n) > 0.866) near = j;
        }
        const int to = near >= 0 ? near : least;
        if (s <= value[to]) continue;
        value[to] = s;
        for (int k = 0; k < 3; k++) best[to][k] = n[k];
    }
    for (int j = 0; j < KEPT && value[j] > -INFINITY; j++)
        most = fmax(most, refine(rng, a, b, apart, 0.2, best[j], value[j]));
    return most;
}

void round_body_random(tl_rng *rng, int32_t dim, talus_shape_kind kind, double size,
                       round_body *out) {
    talus_shape_def *s = &out->shape;
    const bool slender = tl_rng_unit(rng) < 0.15;
    *out = (round_body){.dim = dim, .shape = {.kind = kind}, .q = {1.0}};
    s->radius = size * tl_rng_range(rng, 0.2, 0.7) * (slender ? 0.02 : 1.0);
    s->height = size * tl_rng_range(rng, 0.4, 1.4);
    for (int k = 0; k < dim; k++) s->half[k] = size * tl_rng_range(rng, 0.2, 1.0);
    if (slender) s->half[tl_rng_next(rng) % (uint64_t)dim] = 0.01 * size;
    for (int k = 0; k < 2; k++) s->exponent[k] = tl_rng_range(rng, 2.0, 8.0);
    out->size = 2.0 * size;
    random_turn(rng, dim, out->q);
    if (kind != TALUS_SHAPE_POLYHEDRON) return;
    s->point_count = ROUND_POINTS;
    s->point = out->point;
    for (int i = 0; i < 3 * ROUND_POINTS; i++)
        out->point[i] = i % 3 >= dim ? 0.0 : s->half[i % 3] * tl_rng_range(rng, -1.0, 1.0);
}
