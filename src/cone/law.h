// SPDX-License-Identifier: Apache-2.0
// The law of one block: its sets, projections and the De Saxcé shift [docs/theory/law.md].
// Vectors have d entries, normal first. d is a compile-time constant at every hot call, so that
// one source serves d = 2, 3 and 6 and the compiler unrolls it.
//
//     T = { x_N >= 0, |x_T| <= yield + mu x_N }  (yield = 0: the cone K_mu)
//     g(u) = (mu − zeta) |u_T| n
//     law:  −(u + g(u)) ∈ N_T(r)   <=>   r = P_T(r − ρ (u + g(u))) for one, and then any, ρ > 0
#ifndef TL_CONE_LAW_H
#define TL_CONE_LAW_H
#include "base/compiler.h"
#include <math.h>
#include <stdbool.h>

#define TL_MAX_DIM 6
/// The dimensions there are.
#define TL_ASSUME_DIM(d) TL_ASSUME((d) == 2 || (d) == 3 || (d) == 6)

typedef struct tl_law {
    double mu;    // in [0, inf]
    double zeta;  // dilatancy in [0, mu]; zeta = mu: associated law
    double yield; // sigma_S >= 0 [unit of r]
} tl_law;

typedef enum tl_contact_status { TL_OPEN, TL_STICK, TL_SLIP } tl_contact_status;

TL_INLINE double tl_dot(int d, const double *x, const double *y) {
    double s = 0.0;
    for (int k = 0; k < d; k++) s += x[k] * y[k];
    return s;
}

TL_INLINE double tl_norm(int d, const double *x) { return sqrt(tl_dot(d, x, x)); }

/// |x_T|
TL_INLINE double tl_norm_t(int d, const double *x) { return tl_norm(d - 1, x + 1); }

/// The coefficient mu − zeta of the shift. With mu = inf both laws say u_T = 0: no shift.
TL_INLINE double tl_shift_coefficient(const tl_law *law) {
    return isinf(law->mu) ? 0.0 : law->mu - law->zeta;
}

/// u + g(u); out may be u.
TL_INLINE void tl_shift(int d, const tl_law *law, const double *u, double *out) {
    const double shift = tl_shift_coefficient(law) * tl_norm_t(d, u);
    out[0] = u[0] + shift;
    for (int k = 1; k < d; k++) out[k] = u[k];
}

/// x ∈ T
TL_INLINE bool tl_contains(int d, const tl_law *law, const double *x) {
    if (!(x[0] >= 0.0)) return false;
    return isinf(law->mu) || tl_norm_t(d, x) <= law->yield + law->mu * x[0];
}

/// P_T(x), the nearest point of T; out may be x.
TL_INLINE void tl_project(int d, const tl_law *law, const double *x, double *out) {
    const double n = x[0], t = tl_norm_t(d, x), mu = law->mu, yield = law->yield;
    double normal, factor; // result (normal, factor x_T)
    if (isinf(mu)) {
        normal = n > 0.0 ? n : 0.0;
        factor = 1.0;
    } else if (n >= 0.0 && t <= yield + mu * n) {
        normal = n;
        factor = 1.0;
    } else if (n < 0.0 && t <= yield) {
        normal = 0.0;
        factor = 1.0;
    } else { // on the slope, or on the rim of the disc at its foot
        // (n + mu (t − yield)) / (1 + mu²), whose square may overflow where mu is large.
        const double a = mu > 1.0 ? (n / mu + (t - yield)) / (1.0 / mu + mu)
                                  : (n + mu * (t - yield)) / (1.0 + mu * mu);
        normal = a > 0.0 ? a : 0.0;
        factor = (yield + mu * normal) / t;
    }
    out[0] = normal;
    for (int k = 1; k < d; k++) out[k] = factor * x[k];
}

/// P_{K_mu}(x)
TL_INLINE void tl_project_cone(int d, double mu, const double *x, double *out) {
    const tl_law law = {.mu = mu, .zeta = 0.0, .yield = 0.0};
    tl_project(d, &law, x, out);
}

/// Projection on the dual cone K_{1/mu} = { mu |x_T| <= x_N }, by Moreau: P*(x) = x + P_K(−x).
TL_INLINE void tl_project_dual(int d, double mu, const double *x, double *out) {
    double minus[TL_MAX_DIM];
    for (int k = 0; k < d; k++) minus[k] = -x[k];
    tl_project_cone(d, mu, minus, minus);
    for (int k = 0; k < d; k++) out[k] = x[k] + minus[k];
}

/// yield |u_T| + (mu − zeta) |u_T| r_N + u·r: the bipotential less its lower bound. For r ∈ T and
/// u_N >= zeta |u_T| it is never negative, and zero exactly when the law holds. Finite mu only.
TL_INLINE double tl_bipotential_gap(int d, const tl_law *law, const double *u, const double *r) {
    const double t = tl_norm_t(d, u);
    return law->yield * t + tl_shift_coefficient(law) * t * r[0] + tl_dot(d, u, r);
}

/// Status of a pair that obeys the law, with the sizes below which u and r count as zero.
TL_INLINE tl_contact_status tl_status(int d, const double *u, const double *r, double u_zero,
                                      double r_zero) {
    if (tl_norm(d, r) <= r_zero) return TL_OPEN;
    return tl_norm(d, u) <= u_zero ? TL_STICK : TL_SLIP;
}

#endif // TL_CONE_LAW_H
