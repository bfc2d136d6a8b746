// SPDX-License-Identifier: Apache-2.0
// Small dense systems whose size is a compile-time constant at the call: inlined and unrolled.
#ifndef TL_LINALG_DENSE_INLINE_H
#define TL_LINALG_DENSE_INLINE_H
#include "base/compiler.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// y = A x, A d × d row major.
TL_INLINE void tl_mv(int d, const double *a, const double *x, double *y) {
    for (int i = 0; i < d; i++) {
        double s = 0.0;
        for (int j = 0; j < d; j++) s += a[i * d + j] * x[j];
        y[i] = s;
    }
}

/// C = A B.
TL_INLINE void tl_mm(int d, const double *a, const double *b, double *c) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double s = 0.0;
            for (int k = 0; k < d; k++) s += a[i * d + k] * b[k * d + j];
            c[i * d + j] = s;
        }
}

/// Solve A X = B in place (X in b, d × columns row major; a is destroyed) by elimination with row
/// pivoting. False when a pivot vanishes or is not finite; b is then meaningless.
TL_INLINE bool tl_small_solve(int d, int columns, double *a, double *b) {
    for (int k = 0; k < d; k++) {
        int pivot = k;
        for (int i = k + 1; i < d; i++)
            if (fabs(a[i * d + k]) > fabs(a[pivot * d + k])) pivot = i;
        const double size = fabs(a[pivot * d + k]);
        if (!(size > 0.0) || !isfinite(size)) return false;
        if (pivot != k) {
            for (int j = 0; j < d; j++) {
                const double t = a[k * d + j];
                a[k * d + j] = a[pivot * d + j];
                a[pivot * d + j] = t;
            }
            for (int j = 0; j < columns; j++) {
                const double t = b[k * columns + j];
                b[k * columns + j] = b[pivot * columns + j];
                b[pivot * columns + j] = t;
            }
        }
        const double inverse = 1.0 / a[k * d + k];
        for (int i = k + 1; i < d; i++) {
            const double factor = a[i * d + k] * inverse;
            for (int j = k + 1; j < d; j++) a[i * d + j] -= factor * a[k * d + j];
            for (int j = 0; j < columns; j++) b[i * columns + j] -= factor * b[k * columns + j];
        }
    }
    for (int k = d - 1; k >= 0; k--)
        for (int j = 0; j < columns; j++) {
            double s = b[k * columns + j];
            for (int i = k + 1; i < d; i++) s -= a[k * d + i] * b[i * columns + j];
            b[k * columns + j] = s / a[k * d + k];
        }
    return true;
}

/// Σ x_k y_k s_k for long vectors, s NULL: 1. Eight sums that do not wait for each other; their
/// order is fixed by n.
static inline double tl_long_dot(int64_t n, const double *x, const double *y, const double *s) {
    tl_vec4 a = {0.0}, b = {0.0}, v[6];
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        memcpy(v, x + k, 2 * sizeof *v);
        memcpy(v + 2, y + k, 2 * sizeof *v);
        if (s) {
            memcpy(v + 4, s + k, 2 * sizeof *v);
            v[2] *= v[4];
            v[3] *= v[5];
        }
        a += v[0] * v[2];
        b += v[1] * v[3];
    }
    a += b;
    double sum = (a[0] + a[2]) + (a[1] + a[3]);
    for (; k < n; k++) sum += x[k] * (s ? y[k] * s[k] : y[k]);
    return sum;
}

#endif // TL_LINALG_DENSE_INLINE_H
