// SPDX-License-Identifier: Apache-2.0
// Vectors of three numbers and unit quaternions (w, x, y, z). A quaternion q turns a vector of the
// body's frame into the world's: q ⊗ a ⊗ q*. Outputs may be the same array as inputs.
#ifndef TL_BASE_VEC3_H
#define TL_BASE_VEC3_H
#include <math.h>

static inline double tl_dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double tl_norm3(const double a[3]) { return sqrt(tl_dot3(a, a)); }
static inline void tl_copy3(const double a[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k];
}
static inline void tl_sub3(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}
/// out = a + s b
static inline void tl_axpy3(const double a[3], double s, const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] + s * b[k];
}
static inline void tl_scale3(double s, const double a[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = s * a[k];
}
static inline void tl_cross3(const double a[3], const double b[3], double out[3]) {
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y;
}

/// out = q a q*, by a + 2 w (s × a) + 2 s × (s × a) with q = (w, s).
static inline void tl_rotate(const double q[4], const double a[3], double out[3]) {
    double t[3], c[3];
    tl_cross3(q + 1, a, t);
    tl_scale3(2.0, t, t);
    tl_cross3(q + 1, t, c);
    for (int k = 0; k < 3; k++) out[k] = a[k] + q[0] * t[k] + c[k];
}
/// out = q* a q: from the world's frame to the body's.
static inline void tl_rotate_back(const double q[4], const double a[3], double out[3]) {
    const double p[4] = {q[0], -q[1], -q[2], -q[3]};
    tl_rotate(p, a, out);
}
/// out = p ⊗ q: first q, then p.
static inline void tl_quat_mul(const double p[4], const double q[4], double out[4]) {
    const double w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    const double x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    const double y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
    out[0] = w, out[1] = x, out[2] = y;
}
/// Length 1; a zero quaternion becomes the identity.
static inline void tl_quat_normalise(double q[4]) {
    const double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(n > 0.0)) {
        q[0] = 1.0, q[1] = q[2] = q[3] = 0.0;
        return;
    }
    for (int k = 0; k < 4; k++) q[k] /= n;
}
/// The turn by the vector `a` (direction: axis, length: angle in rad).
static inline void tl_quat_exp(const double a[3], double out[4]) {
    const double angle = tl_norm3(a), half = 0.5 * angle;
    // sin(half) / angle, by its series where the quotient loses digits
    const double s = angle > 1e-4 ? sin(half) / angle : 0.5 - angle * angle / 48.0;
    out[0] = cos(half);
    for (int k = 0; k < 3; k++) out[k + 1] = s * a[k];
}

/// Unit tangents to n: (−n_y, n_x) in 2D; in 3D the axis least aligned with n, made orthogonal, and
/// n × that. `frame` holds n and the tangents as rows of three.
static inline void tl_frame(int dim, const double n[3], double frame[9]) {
    double *t = frame + 3;
    tl_copy3(n, frame);
    if (dim == 2) {
        t[0] = -n[1], t[1] = n[0], t[2] = 0.0;
        return;
    }
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(n[k]) < fabs(n[least])) least = k;
    for (int k = 0; k < 3; k++) t[k] = (k == least) - n[least] * n[k];
    tl_scale3(1.0 / tl_norm3(t), t, t);
    tl_cross3(n, t, frame + 6);
}

#endif // TL_BASE_VEC3_H
