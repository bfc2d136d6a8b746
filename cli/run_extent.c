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

// How far a shape reaches from its origin along each axis of the world. Shapes without an outside
// of their own (walls) count as points.
static void extent_reach(int32_t dim, const talus_shape_def *s, const double q[4], double out[3]) {
    double r[3][3];
    extent_rotation(q, r);
    for (int k = 0; k < 3; k++) {
        switch (s->kind) {
        case TALUS_SHAPE_SPHERE:
            out[k] = s->radius;
            break;
        case TALUS_SHAPE_BOX:
            out[k] = fabs(r[k][0]) * s->half[0] + fabs(r[k][1]) * s->half[1] +
                     (dim == 3 ? fabs(r[k][2]) * s->half[2] : 0.0);
            break;
        case TALUS_SHAPE_CYLINDER: // its axis is the third column; the disk lies across it
            out[k] = dim == 2 ? s->radius
                              : 0.5 * s->height * fabs(r[k][2]) +
                                    s->radius * sqrt(fmax(0.0, 1.0 - r[k][2] * r[k][2]));
            break;
        default:
            out[k] = 0.0;
        }
    }
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
        double reach[3];
        if (b.motion[i] != TALUS_MOTION_FREE || !talus_world_shape_at(w, b.shape[i], &shape))
            continue;
        extent_reach(dim, &shape, b.orientation + 4 * (size_t)i, reach);
        for (int k = 0; k < dim; k++) {
            const double x = b.position[3 * (size_t)i + (size_t)k];
            centre[(size_t)k * (size_t)b.count + (size_t)e.bodies] = x;
            e.low[k] = e.bodies == 0 ? x - reach[k] : fmin(e.low[k], x - reach[k]);
            e.high[k] = e.bodies == 0 ? x + reach[k] : fmax(e.high[k], x + reach[k]);
        }
        e.bodies++;
    }
    for (int k = 0; k < dim && e.bodies > 0; k++)
        extent_front(centre + (size_t)k * (size_t)b.count, e.bodies, &e.front_low[k],
                     &e.front_high[k]);
    free(centre);
    return e;
}
