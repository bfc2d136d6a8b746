// SPDX-License-Identifier: Apache-2.0
// Frames along a rod, and what contacts are expected to do.
#include "base/vec3.h"
#include "rod/rod_impl.h"
#include <math.h>

void tl_rod_quat(const double d[3], const double t[3], double q[4]) {
    double s[3];
    tl_cross3(t, d, s); // the rotation has the columns d, s, t
    const double r[3][3] = {{d[0], s[0], t[0]}, {d[1], s[1], t[1]}, {d[2], s[2], t[2]}};
    // 4 q_a² of all four; the largest is taken out of the root, so that nothing cancels
    const double square[4] = {1.0 + r[0][0] + r[1][1] + r[2][2], 1.0 + r[0][0] - r[1][1] - r[2][2],
                              1.0 - r[0][0] + r[1][1] - r[2][2], 1.0 - r[0][0] - r[1][1] + r[2][2]};
    int most = 0;
    for (int k = 1; k < 4; k++)
        if (square[k] > square[most]) most = k;
    const double root = sqrt(square[most]), part = 0.5 / root;
    const double odd[3] = {r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]};
    q[most] = 0.5 * root;
    if (most == 0) {
        for (int k = 0; k < 3; k++) q[k + 1] = part * odd[k];
    } else {
        const int a = most - 1;
        q[0] = part * odd[a];
        for (int k = 0; k < 3; k++)
            if (k != a) q[k + 1] = part * (r[a][k] + r[k][a]);
    }
    tl_quat_normalise(q);
}

void tl_rod_transport(const double t[3], const double s[3], const double a[3], double out[3]) {
    // a + (t × s) × a + (t × s) × ((t × s) × a) / (1 + t·s), for a across t
    double c[3], once[3], twice[3];
    const double turn = 1.0 + tl_dot3(t, s);
    tl_cross3(t, s, c);
    tl_cross3(c, a, once);
    tl_cross3(c, once, twice);
    for (int k = 0; k < 3; k++) out[k] = a[k] + once[k] + twice[k] / turn;
}

void tl_rod_across(const double t[3], double out[3]) {
    double frame[9];
    tl_frame(3, t, frame);
    tl_copy3(frame + 3, out);
}

bool tl_rod_make_across(const double t[3], double a[3]) {
    const double before = tl_norm3(a);
    tl_axpy3(a, -tl_dot3(a, t), t, a);
    const double length = tl_norm3(a);
    if (!(length > 1e-6 * before)) return false;
    tl_scale3(1.0 / length, a, a);
    return true;
}

void tl_rod_expect(int64_t n, const double *force, double *last, double *push) {
    for (int64_t a = 0; a < n; a++) {
        const double now = force[a], old = last[a];
        push[a] = now * old > 0.0 ? copysign(fmin(fabs(now), fabs(old)), now) : 0.0;
        last[a] = now;
    }
}
