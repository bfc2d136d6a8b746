// SPDX-License-Identifier: Apache-2.0
// The super-helix: a rod of pieces with constant curvatures and twist [theory/helix].
//
// A piece of length l has the frame R(s) = R_0 exp(s [w]), with w = (twist, curvature about the
// first, about the second axis of the section) in that frame; columns of R: tangent t, first and
// second axis. The centre line is x(s) = x_0 + R_0 V(s) e_0, V(s) = ∫ exp(u [w]) du, in closed
// form:
//     exp(s [w]) = I + c s [w] + a s² [w]²,    V(s) = s I + a s² [w] + b s³ [w]²,
//     c = sin θ / θ,  a = (1 − cos θ) / θ²,  b = (θ − sin θ) / θ³,  θ = s |w|.
// It cannot stretch: |x'| = 1 for any w.
//
// Unknowns: the root's (none where it is clamped, 3 angular velocities where pinned, 3 velocities
// and 3 angular velocities where free, all in the world's frame), then the rates of (curvature 1,
// curvature 2, twist) of each piece [1/m/s]. With W(s) the angular velocity of the section,
// W' = R w_t and v' = W × t: a rate of piece e turns what lies behind the piece by R_e V_e(l), and
// moves it by ∂x_e(l)/∂w plus that turn's arm.
#ifndef TL_ROD_HELIX_H
#define TL_ROD_HELIX_H
#include "base/context.h"

enum { TL_HELIX_GAUSS = 4 }; ///< points of integration on a piece: exact to degree 7

/// What a super-helix is made of; arrays are borrowed.
typedef struct tl_helix {
    int32_t pieces;
    int32_t root;         ///< unknowns of the root: 0 clamped, 3 pinned, 6 free
    const double *length; ///< of each piece [m]
    double bending;       ///< E I [N m²]
    double twisting;      ///< G J [N m²]
    double line_mass;     ///< ρ A [kg/m]
    double line_spin;     ///< ρ J: inertia about the tangent per length [kg m]
    double damping;       ///< Kelvin-Voigt: time that strain rates count for [s]
    double drag;          ///< force per length and speed [N s/m²]
} tl_helix;

/// Where it is. `q` has 3 numbers for each piece: curvatures and twist [1/m].
typedef struct tl_helix_pose {
    double x[3], r[9]; ///< the root: place, and frame by rows (columns: tangent, axes)
    const double *q;
} tl_helix_pose;

/// Ends of the pieces and what a rate of a piece does there: `pieces` + 1 of them; the last three
/// of each belong to the piece that begins there, and are not set in the last entry.
typedef struct tl_helix_joint {
    double x[3], r[9]; ///< where the piece begins
    double turn[9];    ///< R V(l), columns by curvature 1, curvature 2, twist; row major
    double move[9];    ///< ∂x(l)/∂(curvature 1, curvature 2, twist)
} tl_helix_joint;

static inline int32_t tl_helix_dof(const tl_helix *h) { return h->root + 3 * h->pieces; }

/// Place and frame at s in [0, length] of a piece that begins at x, r with curvatures q.
void tl_helix_point(const double x[3], const double r[9], const double q[3], double s,
                    double out_x[3], double out_r[9]);
/// All joints, from the root on.
void tl_helix_joints(const tl_helix *h, const tl_helix_pose *pose, tl_helix_joint *joint);
/// Rows of a point of the centre line: place, frame, d(velocity)/d(unknowns) and d(angular
/// velocity)/d(unknowns), 3 × dof each, row major; columns of later pieces are zero. `turn` may be
/// NULL.
void tl_helix_rows(const tl_helix *h, const tl_helix_joint *joint, const double *q, int32_t piece,
                   double s, double x[3], double r[9], double *move, double *turn);

/// How the root moves where that is given: velocity and angular velocity. For a pinned root only
/// the velocity counts, for a free one nothing.
typedef struct tl_helix_drive {
    double v[3], w[3];
} tl_helix_drive;

/// Velocities of material points, at the Gauss points of the pieces: 4 numbers each, the velocity
/// of the centre line and the spin about the tangent. The inertia of the rod is in them: see
/// tl_helix_assemble.
typedef double tl_helix_field[4];

static inline int32_t tl_helix_field_count(const tl_helix *h) { return TL_HELIX_GAUSS * h->pieces; }

/// Length that Gauss point g of a piece stands for.
double tl_helix_share(const tl_helix *h, int32_t piece, int g);
/// The field that unknowns v give where the rod is, the root driven.
void tl_helix_velocity(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                       const tl_helix_drive *drive, const double *v, tl_helix_field *field);
/// Kinetic energy of a field, and its momentum and angular momentum about the origin with the rod
/// where it is (outputs may be NULL).
double tl_helix_kinetic(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                        const tl_helix_field *field, double momentum[3], double angular[3]);
/// Energy of gravity (0 at the origin) and of bending and twisting.
double tl_helix_gravity(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                        const double gravity[3]);
double tl_helix_elastic(const tl_helix *h, const double *q, const double *natural);

/// What a step needs, dof × dof and dof each; row major, symmetric.
typedef struct tl_helix_system {
    double *mass;    ///< ∫ ρA Jᵀ J + ρJ (tᵀT)ᵀ (tᵀT) ds
    double *spread;  ///< ∫ Jᵀ J ds: drag is `drag` times that
    double *carried; ///< M v: momentum of the old field, taken in the directions of the unknowns
    double *weight;  ///< ∫ ρA Jᵀ g ds
    double *driven; ///< ∫ Jᵀ (velocity that the drive alone gives) ds: drag of the given motion
    double *work;   ///< scratch, 6 dof
} tl_helix_system;

/// Assemble where the rod is. What inertia alone leaves of the old motion is its projection on the
/// motions that the rod can have now, ∫ ρ Jᵀ (old field − driven field): no energy is created by
/// the change of shape, and the forces of Coriolis are in it to first order in the step.
void tl_helix_assemble(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                       const tl_helix_drive *drive, const tl_helix_field *old,
                       const double gravity[3], const tl_helix_system *out);
/// The force of gravity on the unknowns (dof), and on velocity and angular velocity of the root.
/// `move` is scratch, 3 dof.
void tl_helix_weigh(const tl_helix *h, const tl_helix_joint *joint, const double *q,
                    const double gravity[3], double *move, double *weight, double drive[6]);
/// Stiffness of unknown k of the pieces: E I l, E I l, G J l, in the order of q.
static inline double tl_helix_stiffness(const tl_helix *h, int32_t k) {
    return (k % 3 == 2 ? h->twisting : h->bending) * h->length[k / 3];
}

/// Curvatures and twist, and root frame, of a rod through `nodes` given points, in the sense of
/// least squares. `arc` (nodes) receives the arc length of each node from the chords and how they
/// turn, and `length` the lengths of the pieces, equal ones, where they are not to be kept (`keep`:
/// both are given). `twist` (pieces): expected twist, NULL: that of the points. `pose->q` is
/// written to `q`. *error: largest distance of a point from its node.
talus_status tl_helix_fit(talus_context *ctx, int32_t nodes, const double *point, int32_t pieces,
                          const double *twist, bool keep, double *arc, double *length, double *q,
                          double x[3], double r[9], double *error) TALUS_MUST_CHECK;

#endif // TL_ROD_HELIX_H
