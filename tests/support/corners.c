// SPDX-License-Identifier: Apache-2.0
#include "support/corners.h"
#include "support/two_shapes.h"
#include <math.h>

corners corners_of(int32_t dim, const talus_shape_def *shape, const tl_pose *pose) {
    corners out = {.count = 1};
    if (shape->kind == TALUS_SHAPE_SPHERE) {
        out.margin = shape->radius;
    } else if (shape->kind == TALUS_SHAPE_CAPSULE) {
        out.margin = shape->radius;
        out.count = 2;
        out.at[0][dim - 1] = 0.5 * shape->height;
        out.at[1][dim - 1] = -0.5 * shape->height;
    } else if (shape->kind == TALUS_SHAPE_BOX) {
        out.count = 1 << dim;
        for (int i = 0; i < out.count; i++)
            for (int k = 0; k < dim; k++) out.at[i][k] = (i >> k & 1 ? 1 : -1) * shape->half[k];
    } else {
        out.count = shape->point_count;
        for (int i = 0; i < out.count; i++)
            for (int k = 0; k < dim; k++) out.at[i][k] = shape->point[3 * i + k];
    }
    for (int i = 0; i < out.count; i++) {
        turn_vector(pose->q, false, out.at[i], out.at[i]);
        for (int k = 0; k < 3; k++) out.at[i][k] += pose->x[k];
    }
    return out;
}

static double product(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void across(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

double corners_along(const corners *a, const corners *b, const double n[3]) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < a->count; i++) least = fmin(least, product(n, a->at[i]));
    for (int i = 0; i < b->count; i++) most = fmax(most, product(n, b->at[i]));
    return (least - most) / sqrt(product(n, n)) - a->margin - b->margin;
}

// Both senses of a direction, unless it is too short beside `scale` to be one.
static double better(const corners *a, const corners *b, const double n[3], double scale,
                     double best) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    if (!(sqrt(product(n, n)) > 1e-13 * scale)) return best;
    return fmax(best, fmax(corners_along(a, b, n), corners_along(a, b, back)));
}

// Directions normal to two differences of corners, in the plane made anew: rounding of a product of
// nearly parallel vectors is taken out along the first.
static double better_across(int32_t dim, const corners *a, const corners *b, const double d[3],
                            const double e[3], double best) {
    double n[3];
    if (dim == 2) {
        const double flat[3] = {-d[1], d[0], 0.0};
        return better(a, b, flat, 0.0, best);
    }
    across(d, e, n);
    const double scale = sqrt(product(d, d) * product(e, e)), length = sqrt(product(n, n));
    if (!(length > 1e-13 * scale)) return best;
    const double along = product(n, d) / product(d, d);
    for (int k = 0; k < 3; k++) n[k] -= along * d[k];
    return better(a, b, n, 0.0, best);
}

static void minus(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

// Normals of `body` by itself, and lines of it with the corners of the other.
static double better_of_body(int32_t dim, const corners *a, const corners *b, const corners *body,
                             const corners *other, double best) {
    double d[3], e[3];
    for (int i = 0; i < body->count; i++)
        for (int j = 0; j < i; j++) {
            minus(body->at[i], body->at[j], d);
            if (!(product(d, d) > 0.0)) continue;
            if (dim == 2) best = better_across(2, a, b, d, d, best);
            for (int k = 0; dim == 3 && k < 3; k++) { // a line by itself
                const double axis[3] = {k == 0, k == 1, k == 2};
                best = better_across(3, a, b, d, axis, best);
            }
            for (int k = 0; dim == 3 && k < j; k++) {
                minus(body->at[k], body->at[j], e);
                best = better_across(3, a, b, d, e, best);
            }
            for (int k = 0; k < other->count; k++) {
                minus(other->at[k], body->at[j], e);
                const double scale = sqrt(product(e, e));
                for (int twice = 0; twice < 2; twice++) { // the second time for what rounding left
                    const double t = product(e, d) / product(d, d);
                    for (int m = 0; m < 3; m++) e[m] -= t * d[m];
                }
                best = better(a, b, e, scale, best);
            }
        }
    return best;
}

double corners_distance(int32_t dim, const corners *a, const corners *b) {
    const double up[3] = {0.0, dim == 2 ? 1.0 : 0.0, dim == 2 ? 0.0 : 1.0}; // two equal centres
    double best = better(a, b, up, 0.0, -INFINITY), d[3], e[3];
    best = better_of_body(dim, a, b, a, b, best);
    best = better_of_body(dim, a, b, b, a, best);
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            minus(a->at[i], b->at[j], d);
            best = better(a, b, d, 0.0, best);
        }
    for (int i = 0; dim == 3 && i < a->count; i++)
        for (int j = 0; j < i; j++) {
            minus(a->at[i], a->at[j], d);
            if (!(product(d, d) > 0.0)) continue;
            for (int k = 0; k < b->count; k++)
                for (int m = 0; m < k; m++) {
                    minus(b->at[k], b->at[m], e);
                    if (product(e, e) > 0.0) best = better_across(3, a, b, d, e, best);
                }
        }
    return best;
}

double corners_outside(int32_t dim, const corners *body, const double x[3]) {
    const corners point = {.count = 1, .at = {{x[0], x[1], x[2]}}};
    return corners_distance(dim, &point, body);
}
