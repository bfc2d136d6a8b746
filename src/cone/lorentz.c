// SPDX-License-Identifier: Apache-2.0
// W and D = diag(−mu², 1, 1) made diagonal together. With W = L Lᵀ and L⁻¹ D L⁻ᵀ = Q Λ Qᵀ, one of
// Λ is negative and two are positive, as in D (Sylvester), and
//     Z = L⁻ᵀ Q |Λ|^−½,   m = 1/|Λ|.
#include "cone/lorentz.h"
#include "linalg/dense.h"

// |Λ| may differ so much: what the eigenvalues lose by it is the same share of 1e-16.
#define LORENTZ_SPREAD 1e6

bool tl_lorentz_make(const double *w, double mu, tl_lorentz *out) {
    double a[9], value[3], q[9];
    double inverse[3][3] = {{0}}; // L⁻¹
    const double d[3] = {-mu * mu, 1.0, 1.0};
    const double l00 = sqrt(w[0]), l10 = w[3] / l00, l20 = w[6] / l00;
    const double l11 = sqrt(w[4] - l10 * l10), l21 = (w[7] - l20 * l10) / l11;
    const double l22 = sqrt(w[8] - l20 * l20 - l21 * l21);
    const double skew = fabs(w[1] - w[3]) + fabs(w[2] - w[6]) + fabs(w[5] - w[7]);
    *out = (tl_lorentz){0};
    if (!(l00 > 0.0 && l11 > 0.0 && l22 > 0.0)) return false;
    if (!(skew <= 1e-13 * (w[0] + w[4] + w[8]))) return false;
    inverse[0][0] = 1.0 / l00;
    inverse[1][1] = 1.0 / l11;
    inverse[2][2] = 1.0 / l22;
    inverse[1][0] = -l10 / (l00 * l11);
    inverse[2][1] = -l21 / (l11 * l22);
    inverse[2][0] = (l10 * l21 - l11 * l20) / (l00 * l11 * l22);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) a[3 * i + j] += inverse[i][k] * d[k] * inverse[j][k];
        }
    tl_sym_eigen(3, a, value, q);
    int least = 0;
    for (int k = 1; k < 3; k++) least = value[k] < value[least] ? k : least;
    const int own[3] = {least, (least + 1) % 3, (least + 2) % 3}; // the negative one first
    if (!(value[own[0]] < 0.0 && value[own[1]] > 0.0 && value[own[2]] > 0.0)) return false;
    double low = INFINITY, high = 0.0;
    for (int k = 0; k < 3; k++) {
        const double size = fabs(value[own[k]]), *column = q + 3 * own[k];
        low = fmin(low, size);
        high = fmax(high, size);
        out->m[k] = 1.0 / size;
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++) out->z[3 * i + k] += inverse[j][i] * column[j] / sqrt(size);
    }
    // The axis of the cone points up: r_N > 0.
    if (out->z[0] < 0.0)
        for (int i = 0; i < 3; i++) out->z[3 * i] = -out->z[3 * i];
    return high <= LORENTZ_SPREAD * low;
}
