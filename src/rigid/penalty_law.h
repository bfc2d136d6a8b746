// SPDX-License-Identifier: Apache-2.0
// The normal force of the penalty scheme over the depth d = −gap and its rate [theory/penalty]:
//     linear    f = k d + c d'
//     clamped   f = max(0, k d + c d')
//     hertz     f = max(0, K d^3/2 + c d'),  K = 4/3 E* sqrt(R*),  c = min(chi d^3/2, critical)
#ifndef TL_RIGID_PENALTY_LAW_H
#define TL_RIGID_PENALTY_LAW_H
#include "talus/world.h"

/// What the law needs of two bodies in contact.
typedef struct tl_spring_pair {
    talus_penalty law;
    talus_chi chi;
    const talus_material_def *material;
    double ratio;     ///< damping ratio from restitution, tl_spring_ratio
    double mass;      ///< tl_springs_mass
    double curvature; ///< 1/R*, > 0 for hertz
    double speed;     ///< of approach at first touch
} tl_spring_pair;

typedef struct tl_spring_force {
    double force;     ///< f
    double elastic;   ///< its part without damping
    double stiffness; ///< derivative of the elastic part [N/m]
    double damping;   ///< c [N s/m]
} tl_spring_force;

/// Restitution of two bodies that meet without other forces, for the damping ratio
/// c / (2 sqrt(k m)) in [0, 1]; linear and clamped laws.
double tl_spring_restitution(talus_penalty law, double ratio);
/// Its inverse; 1 (critical) where no ratio up to 1 gives so small a restitution.
double tl_spring_ratio(talus_penalty law, double restitution);
/// Factor chi of the hertz law over K: infinite where the formula is.
double tl_spring_chi(talus_chi chi, double restitution, double speed);
/// K of the hertz law [N/m^3/2].
double tl_spring_hertz(const talus_material_def *material, double curvature);
/// Force at depth d > 0 that grows at `rate`.
void tl_spring_normal(const tl_spring_pair *p, double depth, double rate, tl_spring_force *out);
/// Energy of the elastic part; 0 for depth <= 0.
double tl_spring_energy(const tl_spring_pair *p, double depth);
/// Duration of the collision without damping whose greatest depth is d, from the stiffness there.
double tl_spring_duration(talus_penalty law, double mass, double stiffness);
/// Fail if h is more than a tenth of the contact time.
talus_status tl_spring_check(talus_context *ctx, double time, double h) TALUS_MUST_CHECK;

#endif // TL_RIGID_PENALTY_LAW_H
