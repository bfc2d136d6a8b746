// SPDX-License-Identifier: Apache-2.0
// The penalty scheme (molecular dynamics): a spring and a dashpot at every contact, and one
// explicit step of all bodies [docs/theory/penalty.md]. Bodies come as plain arrays, contacts as
// the list of a search; what is kept from step to step are the tangential springs, keyed by
// (a, b, feature), and the accelerations of the predictor-corrector. A step:
//
//     TL_TRY(tl_springs_place(s, &bodies, h, gravity, pose));  // poses where forces are evaluated
//     ... the caller writes the poses of bodies with given motion, at time + when h ...
//     TL_TRY(tl_collide_detect(c, pose, reach, threads));      // items are bodies
//     TL_TRY(tl_springs_step(s, &bodies, &step, touches, count, &info));
//
// Leap-frog evaluates at mid-step (when = 1/2), so position and velocity are both known at the end
// of every step; the predictor-corrector evaluates at the end (when = 1).
#ifndef TL_RIGID_PENALTY_H
#define TL_RIGID_PENALTY_H
#include "collide/collide.h"
#include "talus/world.h"

typedef struct tl_springs tl_springs; ///< used by one thread at a time

typedef struct tl_springs_def {
    talus_penalty law;
    talus_chi chi;
    talus_integrator integrator;
} tl_springs_def;

/// Bodies as arrays of the caller; item i of a touch is body i, its pose the centre of mass with
/// the principal axes. In 2D z = 0 and spins are along z.
typedef struct tl_springs_bodies {
    int32_t count;
    double *position;        ///< 3 each [m]
    double *orientation;     ///< 4 each
    double *velocity;        ///< 3 each [m/s]
    double *spin;            ///< 3 each, in the body's frame [rad/s]
    const double *mass;      ///< 0: motion is given, the four arrays above are left alone [kg]
    const double *inertia;   ///< 3 each, principal moments > 0 of free bodies [kg m²]
    const double *motion;    ///< 6 each, mean velocity and spin over the step in the world's frame,
                             ///< read where mass is 0; NULL: all of them rest
    const double *force;     ///< 3 each besides gravity, in the world's frame; NULL: none
    const double *torque;    ///< 3 each, likewise
    const double *damping;   ///< 2 each, rates of velocity and spin [1/s]; NULL: none
    const bool *locked;      ///< 6 each: velocity and spin (world x, y, z) held at 0; NULL: none
    const int32_t *material; ///< index into `pair`
    const double *curvature; ///< of the surface [1/m], from tl_springs_curvature; hertz
} tl_springs_bodies;

typedef struct tl_springs_step_def {
    double h;                       ///< as in tl_springs_place
    double gravity[3];              ///< as in tl_springs_place
    const talus_material_def *pair; ///< between materials i and j: pair[i materials + j]
    int32_t materials;
    int32_t threads;
} tl_springs_step_def;

/// What a step did; energies in J.
typedef struct tl_springs_info {
    double elastic;        ///< in all springs at the end of the step
    double loss_impact;    ///< in normal dashpots, over the step; >= 0
    double loss_friction;  ///< in tangential dashpots and by sliding; >= 0
    double work_obstacles; ///< done by bodies with given motion through contacts
    double work_forces;    ///< done by force and torque, less what body damping took
    double penetration;    ///< deepest overlap where forces were evaluated [m]
    int32_t open, stick, slip;
} tl_springs_info;

/// Contacts of the last step, in the order of the touches. Borrowed until the next step.
typedef struct tl_springs_view {
    int64_t count;
    const double *impulse;  ///< 3 each, on a, in the world's frame: h times the force [N s]
    const double *velocity; ///< 3 each, of a relative to b after the step [m/s]
    const uint8_t *status;  ///< 0 open, 1 sticking, 2 sliding
} tl_springs_view;

talus_status tl_springs_create(talus_context *ctx, const tl_springs_def *def,
                               tl_springs **out) TALUS_MUST_CHECK;
void tl_springs_destroy(tl_springs *s); // NULL is allowed

/// Part of the step after which forces are evaluated: 1/2 or 1.
double tl_springs_when(const tl_springs *s);
/// Poses of the free bodies where forces are evaluated; the other poses are not touched, nor are
/// the bodies.
talus_status tl_springs_place(tl_springs *s, const tl_springs_bodies *bodies, double h,
                              const double gravity[3], tl_pose *pose) TALUS_MUST_CHECK;
/// Make the step that was placed. `touch` is sorted by (a, b, feature); only gap < 0 gives a force,
/// but points that a contact may reach in the second half should be in the list. On failure (a
/// contact too stiff for h, say) neither bodies nor springs have changed.
talus_status tl_springs_step(tl_springs *s, const tl_springs_bodies *bodies,
                             const tl_springs_step_def *step, const tl_touch *touch, int64_t count,
                             tl_springs_info *info) TALUS_MUST_CHECK;
void tl_springs_contacts(const tl_springs *s, tl_springs_view *out);
/// Continue a hash over what is kept from step to step.
uint64_t tl_springs_hash(const tl_springs *s, uint64_t seed);

/// What is kept from step to step as numbers, to be written and given back: `save` returns how many
/// there are and writes them where `out` is not NULL.
int64_t tl_springs_save(const tl_springs *s, double *out);
talus_status tl_springs_load(tl_springs *s, const double *in, int64_t count) TALUS_MUST_CHECK;

/// Curvature that the hertz law takes for a shape [1/m]: 1/radius of balls, cylinders, capsules,
/// worms and cones (of its base), 0 of planes, container walls and meshes, −1/radius of drums, that
/// of the ball of equal volume for boxes and ellipsoids (superellipsoids like these), of the ball
/// through its points on the mean for a polyhedron, of its largest part for a clump.
double tl_springs_curvature(int32_t dim, const talus_shape_def *shape);
/// Mass of a pair: m_a m_b / (m_a + m_b), that of the free one where the other is 0.
double tl_springs_mass(double mass_a, double mass_b);
/// Duration of a contact without damping [s]: of mass m, and for hertz with curvature 1/R* and
/// speed at first touch `speed`.
double tl_springs_contact_time(talus_penalty law, const talus_material_def *pair, double mass,
                               double curvature, double speed);
/// Fail if h is more than a tenth of the contact time of such a pair (the stiffest one, say); the
/// error names the step that would be right, a fiftieth.
talus_status tl_springs_check(talus_context *ctx, talus_penalty law, const talus_material_def *pair,
                              double mass, double curvature, double speed,
                              double h) TALUS_MUST_CHECK;

#endif // TL_RIGID_PENALTY_H
