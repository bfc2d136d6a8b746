// SPDX-License-Identifier: Apache-2.0
// Free tops: J w' + w × J w = 0 in the body's frame. The midpoint rule with a step k of its own,
//     J (y − w) + k m × J m = 0,    m = (w + y) / 2,
// keeps y·J y = w·J w (multiply by m) and |J y| = |J w| (multiply by J m) for every k. It is the
// same as C J y = J w, where C = (1 − k/2 [m])⁻¹ (1 + k/2 [m]) is the rotation about m by the
// angle 2 atan(k |m| / 2). With k = 2 tan(h |m| / 2) / |m| that rotation is exp(h m): turning the
// body by h m keeps its angular momentum in space, and a spin about a principal axis is exact.
#include "rigid/turn.h"
#include <float.h>

enum { TURN_ITERATIONS = 40, TURN_PARTS = 1000 };
#define TURN_ANGLE 0.5 // most radians in one application of the rule

void tl_turn_log(const double q[4], double out[3]) {
    const double sign = q[0] < 0.0 ? -1.0 : 1.0; // the shorter way round
    const double s = tl_norm3(q + 1);
    const double scale = s > 0.0 ? 2.0 * atan2(s, sign * q[0]) / s : 2.0;
    tl_scale3(sign * scale, q + 1, out);
}

// x ← A⁻¹ x by Cramer's rule; rows of A in a row.
static void turn_solve(const double a[9], double x[3]) {
    double c0[3], c1[3], c2[3];
    tl_cross3(a + 3, a + 6, c0);
    tl_cross3(a + 6, a, c1);
    tl_cross3(a, a + 3, c2);
    const double det = tl_dot3(a, c0);
    const double y[3] = {x[0], x[1], x[2]};
    for (int k = 0; k < 3; k++) x[k] = (c0[k] * y[0] + c1[k] * y[1] + c2[k] * y[2]) / det;
}

// One application of the rule; `middle` becomes m. Newton with k taken from the iterate before.
static void turn_part(const double j[3], const double w[3], double h, double y[3],
                      double middle[3]) {
    tl_copy3(w, y);
    const double size = tl_norm3(w);
    double last = INFINITY;
    for (int it = 0; it < TURN_ITERATIONS; it++) {
        double jm[3], torque[3], x[3];
        for (int e = 0; e < 3; e++) {
            middle[e] = 0.5 * (w[e] + y[e]);
            jm[e] = j[e] * middle[e];
        }
        const double *m = middle, speed = tl_norm3(m);
        const double k = speed > 0.0 ? 2.0 * tan(0.5 * h * speed) / speed : h;
        tl_cross3(m, jm, torque);
        for (int e = 0; e < 3; e++) x[e] = -(j[e] * (y[e] - w[e]) + k * torque[e]);
        // d/dy of the rule: J + k/2 ([m] J − [J m])
        const double c = 0.5 * k;
        const double a[9] = {
            j[0], c * (jm[2] - m[2] * j[1]), c * (m[1] * j[2] - jm[1]), c * (m[2] * j[0] - jm[2]),
            j[1], c * (jm[0] - m[0] * j[2]), c * (jm[1] - m[1] * j[0]), c * (m[0] * j[1] - jm[0]),
            j[2]};
        turn_solve(a, x);
        const double change = tl_norm3(x);
        tl_axpy3(y, 1.0, x, y);
        // at the level of rounding the changes no longer shrink
        if (!(change > DBL_EPSILON * size) || (change < 1e-12 * size && change >= last)) break;
        last = change;
    }
    for (int e = 0; e < 3; e++) middle[e] = 0.5 * (w[e] + y[e]);
}

void tl_turn_free(const double inertia[3], const double w[3], double h, double spin[3],
                  double turn[3]) {
    if (inertia[0] == inertia[1] && inertia[1] == inertia[2]) {
        tl_copy3(w, spin);
        tl_scale3(h, w, turn);
        return;
    }
    const double parts = ceil(h * tl_norm3(w) / TURN_ANGLE);
    const int n = parts <= 1.0 ? 1 : parts < TURN_PARTS ? (int)parts : TURN_PARTS;
    double now[3], m[3];
    tl_copy3(w, now);
    if (n == 1) {
        turn_part(inertia, now, h, spin, m);
        tl_scale3(h, m, turn);
        return;
    }
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    for (int part = 0; part < n; part++) {
        double step[4];
        turn_part(inertia, now, h / n, spin, m);
        tl_scale3(h / n, m, turn);
        tl_quat_exp(turn, step);
        tl_quat_mul(q, step, q);
        tl_copy3(spin, now);
    }
    tl_turn_log(q, turn);
}
