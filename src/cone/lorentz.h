// SPDX-License-Identifier: Apache-2.0
// Coordinates η of an impulse, r = Z η, in which the friction cone is circular of aperture 1 and
// W_ii is diagonal [docs/theory/local-solvers.md]:
//     Zᵀ diag(−mu², 1, 1) Z = diag(−1, 1, 1),   Zᵀ W_ii Z = diag(m).
// Under the associated law one contact is a projection onto that cone.
#ifndef TL_CONE_LORENTZ_H
#define TL_CONE_LORENTZ_H
#include "cone/law.h"

typedef struct tl_lorentz {
    double z[9]; // by rows
    double m[3];
} tl_lorentz;

/// False where the 3 × 3 block is not symmetric and positive definite, or rounding would spoil
/// them.
bool tl_lorentz_make(const double *w, double mu, tl_lorentz *out);

enum { LORENTZ_STEPS = 8 }; // of Newton; mostly one to three, of which the last leaves its square:
#define LORENTZ_LEFT 1e-16

/// Solve u = W r + b under the associated law: ½ Σ m_k η_k² + d·η is least over the round cone, for
/// r = Z η and d = Zᵀ b. Inside the cone η_k = −d_k/m_k; at its rim
///     η_T = −(m_T + α)⁻¹ d_T,   η_N = |η_T|,   f(α) = d_N/|η_T| − (α − m_N) = 0.
/// 1/|η_T| is concave and nearly linear, so that Newton's steps from the root of its asymptote come
/// to the root from one side: from the left where d_N < 0, else from the right. False where they
/// have not settled; r is then as it was.
TL_INLINE bool lorentz_quick(const tl_lorentz *c, const double *b, double *r) {
    const double *z = c->z, *m = c->m;
    double d[3], y[3], alpha = 0.0;
    for (int k = 0; k < 3; k++) d[k] = z[k] * b[0] + z[3 + k] * b[1] + z[6 + k] * b[2];
    const double square = d[1] * d[1] + d[2] * d[2], size = sqrt(square);
    if (d[0] >= size) {
        for (int k = 0; k < 3; k++) r[k] = 0.0;
        return true;
    }
    for (int k = 0; k < 3; k++) y[k] = -d[k] / m[k];
    if (!(y[0] > 0.0 && y[0] * y[0] >= y[1] * y[1] + y[2] * y[2])) {
        const double share = d[0] / size, least = TL_MIN(m[1], m[2]);
        const double mean = (d[1] * d[1] * m[1] + d[2] * d[2] * m[2]) / square;
        bool settled = false;
        alpha = TL_MAX((m[0] + share * mean) / (1.0 - share), 0.0);
        for (int step = 0; step < LORENTZ_STEPS && !settled; step++) {
            const double a1 = m[1] + alpha, a2 = m[2] + alpha, x1 = d[1] / a1, x2 = d[2] / a2;
            const double rim = x1 * x1 + x2 * x2, share_at = d[0] / sqrt(rim);
            const double slope = share_at * (x1 * x1 / a1 + x2 * x2 / a2) / rim - 1.0;
            const double next = TL_MAX(alpha - (share_at - alpha + m[0]) / slope, 0.0);
            const double move = next - alpha, room = least + next;
            settled = move * move <= LORENTZ_LEFT * room * room;
            alpha = next;
        }
        if (!settled) return false;
        y[1] = -d[1] / (m[1] + alpha);
        y[2] = -d[2] / (m[2] + alpha);
        y[0] = sqrt(y[1] * y[1] + y[2] * y[2]);
    }
    for (int i = 0; i < 3; i++) r[i] = z[3 * i] * y[0] + z[3 * i + 1] * y[1] + z[3 * i + 2] * y[2];
    return true;
}

#endif // TL_CONE_LORENTZ_H
