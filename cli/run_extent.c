// SPDX-License-Identifier: Apache-2.0
// The box around the free bodies, with their shapes and not only their centres.
#include "run.h"
#include <math.h>
#include <stdlib.h>

// Rows of the rotation matrix of a unit quaternion (w, x, y, z).
static void extent_rotation(const double q[4], double r[3][3]) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r[i][j] = m[i][j];
}

typedef struct extent_box {
    double low[3], high[3];
} extent_box;

// Make the box hold what reaches `reach` to both sides of x.
static void extent_add(extent_box *box, const double x[3], const double reach[3]) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], x[k] - reach[k]);
        box->high[k] = fmax(box->high[k], x[k] + reach[k]);
    }
}

// Make the box hold points of a shape (rows of r: its frame) with everything within `around`.
static void extent_add_points(extent_box *box, const talus_shape_def *s, const double x[3],
                              double r[3][3], double around) {
    const double reach[3] = {around, around, around};
    for (int64_t i = 0; i < s->point_count; i++) {
        const double *p = s->point + 3 * i;
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = x[k] + r[k][0] * p[0] + r[k][1] * p[1] + r[k][2] * p[2];
        extent_add(box, at, reach);
    }
}

// A disk of radius a across the axis (column `axis` of r), `up` along it from x.
static void extent_add_disk(extent_box *box, const double x[3], double r[3][3], int axis, double a,
                            double up) {
    double at[3], reach[3];
    for (int k = 0; k < 3; k++) {
        at[k] = x[k] + up * r[k][axis];
        reach[k] = a * sqrt(fmax(0.0, 1.0 - r[k][axis] * r[k][axis]));
    }
    extent_add(box, at, reach);
}

// How far a superellipsoid reaches along a unit vector u of its frame: the norm dual to that of
// which it is the unit ball, ((|a u_x|^p + |b u_y|^p)^(q/p) + |c u_z|^q)^(1/q) with p, q the
// conjugates 1/(1 - 1/exponent) of its exponents; 2D: (|a u_x|^p + |b u_y|^p)^(1/p).
static double extent_of_superellipsoid(int32_t dim, const talus_shape_def *s, const double u[3]) {
    const double p = 1.0 / (1.0 - 1.0 / s->exponent[0]);
    const double across =
        pow(pow(fabs(u[0] * s->half[0]), p) + pow(fabs(u[1] * s->half[1]), p), 1.0 / p);
    if (dim == 2) return across;
    const double q = 1.0 / (1.0 - 1.0 / s->exponent[1]);
    return pow(pow(across, q) + pow(fabs(u[2] * s->half[2]), q), 1.0 / q);
}

// Make the box hold a shape. Shapes without an outside of their own (walls) count as points.
static void extent_add_shape(int32_t dim, const talus_shape_def *s, const double x[3],
                             const double q[4], extent_box *box) {
    double r[3][3], reach[3] = {0.0, 0.0, 0.0};
    const int up = dim - 1;
    const double h = s->height;
    extent_rotation(q, r);
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE:
        for (int k = 0; k < 3; k++) reach[k] = s->radius;
        break;
    case TALUS_SHAPE_SUPERELLIPSOID:
        for (int k = 0; k < 3; k++) reach[k] = extent_of_superellipsoid(dim, s, r[k]);
        break;
    case TALUS_SHAPE_BOX:
        for (int k = 0; k < 3; k++)
            for (int e = 0; e < dim; e++) reach[k] += fabs(r[k][e]) * s->half[e];
        break;
    case TALUS_SHAPE_ELLIPSOID:
        for (int k = 0; k < 3; k++) {
            for (int e = 0; e < dim; e++) reach[k] += pow(r[k][e] * s->half[e], 2.0);
            reach[k] = sqrt(reach[k]);
        }
        break;
    case TALUS_SHAPE_CAPSULE:
        for (int k = 0; k < 3; k++) reach[k] = 0.5 * h * fabs(r[k][up]) + s->radius;
        break;
    case TALUS_SHAPE_CYLINDER:
        if (dim == 3) {
            extent_add_disk(box, x, r, 2, s->radius, 0.5 * h);
            extent_add_disk(box, x, r, 2, s->radius, -0.5 * h);
            return;
        }
        for (int k = 0; k < 3; k++) reach[k] = s->radius;
        break;
    case TALUS_SHAPE_CONE: // about its centre of mass
        extent_add_disk(box, x, r, up, 0.0, h * dim / (dim + 1.0));
        extent_add_disk(box, x, r, up, s->radius, -h / (dim + 1.0));
        return;
    case TALUS_SHAPE_POLYHEDRON:
    case TALUS_SHAPE_MESH:
        extent_add_points(box, s, x, r, 0.0);
        return;
    case TALUS_SHAPE_WORM:
        extent_add_points(box, s, x, r, s->radius);
        return;
    case TALUS_SHAPE_CLUMP:
        for (int32_t i = 0; i < s->part_count; i++) {
            const talus_part *part = &s->part[i];
            const double *p = part->position, *o = part->orientation;
            const double turned[4] = {q[0] * o[0] - q[1] * o[1] - q[2] * o[2] - q[3] * o[3],
                                      q[0] * o[1] + q[1] * o[0] + q[2] * o[3] - q[3] * o[2],
                                      q[0] * o[2] - q[1] * o[3] + q[2] * o[0] + q[3] * o[1],
                                      q[0] * o[3] + q[1] * o[2] - q[2] * o[1] + q[3] * o[0]};
            double at[3];
            for (int k = 0; k < 3; k++)
                at[k] = x[k] + r[k][0] * p[0] + r[k][1] * p[1] + r[k][2] * p[2];
            extent_add_shape(dim, part->shape, at, turned, box);
        }
        return;
    default:
        break;
    }
    extent_add(box, x, reach);
}

static int extent_order(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

// Where the innermost 98 of 100 bodies lie along one axis, their own reach left aside.
static void extent_front(double *x, int32_t count, double *low, double *high) {
    const int32_t outside = count / 100;
    qsort(x, (size_t)count, sizeof *x, extent_order);
    *low = x[outside];
    *high = x[count - 1 - outside];
}

run_extent run_extent_of(const talus_world *w) {
    run_extent e = {0};
    talus_body_view b;
    talus_shape_def shape;
    talus_world_bodies(w, &b);
    const int32_t dim = talus_world_get_def(w).dim == 2 ? 2 : 3;
    double *centre = cli_alloc(3 * (size_t)b.count, sizeof *centre); // x of all, y of all, z of all
    for (int32_t i = 0; i < b.count; i++) {
        extent_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        if (b.motion[i] != TALUS_MOTION_FREE || !talus_world_shape_at(w, b.shape[i], &shape))
            continue;
        extent_add_shape(dim, &shape, b.position + 3 * (size_t)i, b.orientation + 4 * (size_t)i,
                         &box);
        for (int k = 0; k < dim; k++) {
            centre[(size_t)k * (size_t)b.count + (size_t)e.bodies] =
                b.centre[3 * (size_t)i + (size_t)k];
            e.low[k] = e.bodies == 0 ? box.low[k] : fmin(e.low[k], box.low[k]);
            e.high[k] = e.bodies == 0 ? box.high[k] : fmax(e.high[k], box.high[k]);
        }
        e.bodies++;
    }
    for (int k = 0; k < dim && e.bodies > 0; k++)
        extent_front(centre + (size_t)k * (size_t)b.count, e.bodies, &e.front_low[k],
                     &e.front_high[k]);
    free(centre);
    return e;
}
