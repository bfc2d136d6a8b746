// SPDX-License-Identifier: Apache-2.0
// What the files of the penalty scheme share.
#ifndef TL_RIGID_PENALTY_IMPL_H
#define TL_RIGID_PENALTY_IMPL_H
#include "base/context.h"
#include "base/vec3.h"
#include "rigid/penalty.h"
#include "rigid/penalty_law.h"

/// A contact point while it touches. Kept from step to step.
typedef struct tl_spring {
    int32_t a, b;
    uint32_t feature;
    bool touching;
    double xi[3];     ///< stretch of the tangential spring, in the world's frame [m]
    double normal[3]; ///< that xi is orthogonal to
    double slide[3];  ///< tangential velocity there [m/s]
    double speed;     ///< of approach at first touch [m/s]
    double stiffness; ///< k_t of the last step [N/m]
} tl_spring;

/// Force of a contact in this step and what its losses are computed from.
typedef struct tl_spring_now {
    double arm_a[3], arm_b[3]; ///< from the bodies to the point midway between the surfaces
    double before[3];          ///< relative velocity the force was evaluated with
    double force[3];           ///< on a
    double normal_loss;        ///< force along the normal that is not elastic [N]
    double dashpot[3];         ///< the part of the force that the tangential dashpot has [N]
    double slip_loss;          ///< energy lost by sliding and by change of stiffness [J]
    double cap;                ///< mu times the normal force [N]
    double duration;           ///< of a collision as deep as this [s]
    double energy;             ///< in both springs [J]
    tl_spring_pair pair;
} tl_spring_now;

/// A body in this step.
typedef struct tl_mover {
    double x[3], q[4];   ///< where forces are evaluated
    double v[3], w[3];   ///< velocity, and spin in the world's frame, that they depend on
    double turn[3];      ///< the same spin in the body's frame
    double f[3], t[3];   ///< sum of contact forces and torques
    double v1[3], w1[3]; ///< at the end of the step; leap-frog: at the pose of x, q
    double turn1[3];
    double x1[3], q1[4]; ///< pose at the end of the step
} tl_mover;

/// Derivatives that the predictor-corrector keeps.
typedef struct tl_gear {
    double a[3], b[3];        ///< second and third of the position
    double alpha[3], beta[3]; ///< first and second of the spin in the body's frame
    bool begun;
} tl_gear;

/// Sums over contacts or bodies, in fixed blocks.
typedef struct tl_spring_sum {
    double elastic, impact, friction, slip, obstacles, forces, penetration;
    double first; ///< predictor-corrector: the part of `forces` of bodies in their first step
    double worst; ///< shortest contact time
    int64_t worst_at;
    int32_t open, stick, slide;
} tl_spring_sum;

struct tl_springs {
    talus_context *ctx;
    tl_springs_def def;
    tl_spring *old, *spring; ///< of the last step and of this one, sorted
    tl_spring_now *now;
    int64_t *match; ///< index in `old` of each touch, −1: new
    double *impulse, *velocity;
    uint8_t *status;
    int64_t old_count, count, capacity;
    tl_mover *mover;
    tl_gear *gear, *gear1; ///< at the beginning and at the end of the step
    int32_t bodies;        ///< capacity of the three
    int32_t placed, gears; ///< bodies of this step and of the last
    tl_spring_sum *block;
    int64_t blocks;  ///< capacity
    double power[4]; ///< predictor-corrector, at the end: impact, friction, obstacles, forces [W]
    double *ratio, *restitution; ///< of each pair of materials; to see when one has changed
    double *light;               ///< 3 for each material: see springs_weigh
    int32_t materials;
};

/// Room for so many contacts and bodies; what is kept stays.
talus_status tl_springs_reserve(tl_springs *s, int64_t contacts, int32_t bodies) TALUS_MUST_CHECK;
/// Poses of evaluation, of bodies begin … end−1.
void tl_springs_predict(tl_springs *s, const tl_springs_bodies *bodies, double h,
                        const double gravity[3], int64_t begin, int64_t end);
/// New velocities from the sums of forces; leap-frog: at mid-step.
void tl_springs_kick(tl_springs *s, const tl_springs_bodies *bodies, double h,
                     const double gravity[3], int64_t begin, int64_t end, tl_spring_sum *sum);
/// Write the end of the step into the bodies' arrays.
void tl_springs_commit(tl_springs *s, const tl_springs_bodies *bodies, double h, int64_t begin,
                       int64_t end);

#endif // TL_RIGID_PENALTY_IMPL_H
