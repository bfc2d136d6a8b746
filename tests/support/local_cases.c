// SPDX-License-Identifier: Apache-2.0
#include "local_cases.h"
#include "linalg/dense_inline.h"
#include <string.h>

// Columns of q: a random orthonormal basis, by Gram-Schmidt done twice.
static void random_basis(tl_rng *rng, int d, double *q) {
    for (int j = 0; j < d; j++) {
        double *x = q + j * d;
        for (int k = 0; k < d; k++) x[k] = tl_rng_normal(rng);
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < j; i++) {
                const double s = tl_dot(d, x, q + i * d);
                for (int k = 0; k < d; k++) x[k] -= s * q[i * d + k];
            }
            const double length = tl_norm(d, x);
            for (int k = 0; k < d; k++) x[k] /= length;
        }
    }
}

void local_case_make(tl_rng *rng, int d, bool associated, int kind, local_case *out) {
    double q[36], r[6], u[6];
    const double spread = tl_rng_range(rng, 0.0, 8.0), unit = pow(10.0, tl_rng_range(rng, -3, 3));
    random_basis(rng, d, q);
    memset(out->w, 0, sizeof out->w);
    for (int m = 0; m < d; m++) {
        const double exponent = m == 0 ? 0.0 : m == 1 ? -spread : -spread * tl_rng_unit(rng);
        const double lambda = unit * pow(10.0, exponent);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) out->w[i * d + j] += lambda * q[m * d + i] * q[m * d + j];
    }
    const double pick = tl_rng_unit(rng);
    const double mu = pick < 0.03  ? 0.0
                      : pick < 0.5 ? tl_rng_unit(rng)
                                   : pow(10.0, tl_rng_range(rng, -3.0, 1.0));

    double *b = out->b;
    const double size = pow(10.0, tl_rng_range(rng, -3.0, 3.0));
    for (int k = 0; k < d; k++) b[k] = size * tl_rng_normal(rng);
    if (kind == 1) b[0] = -tl_norm_t(d, b) * pow(10.0, tl_rng_range(rng, -16.0, 0.0));
    if (kind == 6)
        for (int k = 1; k < d; k++) b[k] = b[0] * pow(10.0, tl_rng_range(rng, -16.0, 0.0));
    if (kind >= 2 && kind <= 5) { // b = u − W r from a solution (u, r) with r on the cone
        double e[6];
        for (int k = 1; k < d; k++) e[k] = tl_rng_normal(rng);
        const double length = tl_norm_t(d, e);
        const double rn = kind == 3 ? size * pow(10.0, tl_rng_range(rng, -12.0, 0.0)) : size;
        const double ut = kind == 2   ? 0.0
                          : kind == 4 ? size * unit * pow(10.0, tl_rng_range(rng, -16.0, 0.0))
                                      : size * unit;
        r[0] = rn;
        u[0] = associated ? mu * ut : 0.0;
        for (int k = 1; k < d; k++) {
            r[k] = mu * rn * e[k] / length;
            u[k] = -ut * e[k] / length;
        }
        tl_mv(d, out->w, r, b);
        for (int k = 0; k < d; k++) b[k] = u[k] - b[k];
    }

    double a[36];
    memcpy(a, out->w, sizeof a);
    memset(out->inv, 0, sizeof out->inv);
    for (int k = 0; k < d; k++) out->inv[k * d + k] = 1.0;
    if (!tl_small_solve(d, d, a, out->inv)) memset(out->inv, 0, sizeof out->inv);
    double trace = 0.0;
    for (int k = 0; k < d; k++) trace += out->w[k * d + k];
    out->problem =
        (tl_local){.w = out->w,
                   .inv = out->inv,
                   .schur = d == 3 && tl_schur_make(out->w, &out->schur) ? &out->schur : NULL,
                   .axes = d == 6 && tl_axes_make(out->w, &out->axes) ? &out->axes : NULL,
                   .b = out->b,
                   .law = {.mu = mu, .zeta = associated ? mu : 0.0, .yield = 0.0},
                   .rho = 1.0 / trace};
}
