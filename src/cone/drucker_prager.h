// SPDX-License-Identifier: Apache-2.0
// Parameters of the law of a stress block from those of soil mechanics [docs/theory/law.md].
// With compression positive, p = −tr σ / d and J2 = |dev σ|² / 2, the Drucker-Prager criterion is
//     J2^½ <= sigma_S + mu^ (p + tau^_c),
// mu^ its slope and tau^_c the tension it bears. A block holds the stress in coordinates that are
// orthonormal for <s, t> = (s : t)/2; there slope and tension read mu and tau_c.
// mu^ follows from the angle of repose phi [rad] by asking where its cone touches the hexagon of
// Mohr-Coulomb; in the plane the two are the same.
#ifndef TL_CONE_DRUCKER_PRAGER_H
#define TL_CONE_DRUCKER_PRAGER_H
#include <math.h>

/// mu^ in 2D (exact): sin phi.
static inline double tl_dp_plane(double phi) { return sin(phi); }

/// mu^ in 3D, the cone through the outer edges (triaxial compression): 2√3 s / (3 − s).
static inline double tl_dp_circumscribed(double phi) {
    return 2.0 * sqrt(3.0) * sin(phi) / (3.0 - sin(phi));
}

/// mu^ in 3D, the cone inside the hexagon: s / √(1 + s²/3).
static inline double tl_dp_inscribed(double phi) {
    return sin(phi) / sqrt(1.0 + sin(phi) * sin(phi) / 3.0);
}

/// mu^ in 3D, the cone through the inner edges (triaxial extension): 2√3 s / (3 + s).
static inline double tl_dp_middle(double phi) {
    return 2.0 * sqrt(3.0) * sin(phi) / (3.0 + sin(phi));
}

/// mu of a block from mu^, d the dimension of space (2 or 3): √(2/d) mu^.
static inline double tl_dp_mu(int d, double mu_hat) { return sqrt(2.0 / d) * mu_hat; }

/// Tensile shift tau_c of a block from tau^_c: √(d/2) tau^_c.
static inline double tl_dp_tension(int d, double tau_hat) { return sqrt(d / 2.0) * tau_hat; }

#endif // TL_CONE_DRUCKER_PRAGER_H
