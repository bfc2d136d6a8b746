// SPDX-License-Identifier: Apache-2.0
// What every kind of rod provides, and what it is given. A kind is one file with a table of
// functions and its row in rod_kinds (rod.c).
//
// A step goes through: hold (where held ends will be) → prepare → place → motion, row … → inner →
// commit. `prepare` linearises once, at the state x, v of the beginning of the step:
//     M̃ v+ = f + Hᵀ r,    M̃ = M + θ² h² K + θ h D,
//     f = M v + h F(x) − θ (1 − θ) h² K v − (1 − θ) h D v,       x+ = x + h (θ v+ + (1 − θ) v),
// with K = −∂F/∂x (made positive where it has to be) and D = −∂F/∂v. Unknowns whose motion is given
// are not among the `dof` ones: their velocities are put into f and into `given`.
#ifndef TL_ROD_ROD_IMPL_H
#define TL_ROD_ROD_IMPL_H
#include "rod/rod.h"

/// An end that is held: where it is, with the axes (first, second, tangent) of its frame as the
/// orientation; the tangent points from the start to the end of the rod at both ends.
typedef struct tl_rod_hold {
    tl_pose local; ///< in the frame of its body
    tl_pose next;  ///< in the world, at the end of the step in hand
} tl_rod_hold;

typedef struct tl_rod_ops {
    const char *name;
    /// Make a rod from rod->def, which has been checked as far as it does not depend on the kind:
    /// sets nodes, dof, rest, own, state, and hold[].next to where the ends are in the world. On
    /// failure `destroy` is called, and frees what is in `own`.
    talus_status (*create)(tl_rod *rod);
    void (*destroy)(tl_rod *rod);
    /// Nodes as they are now: positions, velocities, first material axes and strains (the last
    /// node's: see talus_rod_view).
    void (*show)(const tl_rod *rod, double *x, double *v, double *director, double *strain);
    /// Linearise at the present state; rods are prepared by several threads. Allocates nothing.
    void (*prepare)(tl_rod *rod, const tl_step *step);
    /// Velocities of the nodes (3 each) at the beginning of the step, mean ones where they are
    /// given, and, without contacts, at its end.
    void (*foresee)(const tl_rod *rod, double *begin, double *end);
    /// Poses of the segments (middle of the nodes; axes: first, second, tangent) and the distances
    /// of their nodes, at x + h (1 − θ) v.
    void (*place)(const tl_rod *rod, const tl_step *step, tl_pose *pose, double *chord);
    /// M̃ (dense, dof × dof, or its lower columns, band + 1 entries each; zeroed), f, and the
    /// velocities before.
    void (*motion)(const tl_rod *rod, const tl_step *step, double *mass, double *f, double *v);
    /// Velocity of the point of a segment at `along` (0: its first node, 1: its last) and `offset`
    /// from the centre line, along `count` directions: added to `out` (count × dof) and, the share
    /// of given motions, to `given` (count). Either may be NULL. Safe from any number of threads.
    void (*row)(const tl_rod *rod, const tl_step *step, int32_t segment, double along,
                const double offset[3], const double *direction, int32_t count, double *out,
                double *given);
    /// The same for the angular velocity of a segment.
    void (*turn)(const tl_rod *rod, const tl_step *step, int32_t segment, const double *direction,
                 int32_t count, double *out, double *given);
    /// See tl_inner; `jump` of this rod.
    void (*inner)(const tl_rod *rod, const tl_step *step, const double *before, const double *after,
                  tl_inner *out);
    /// End the step with the new velocities; held ends go to hold[].next.
    void (*commit)(tl_rod *rod, const tl_step *step, const double *v);
    void (*account)(const tl_rod *rod, const double gravity[3], tl_account *add);
    /// Where the unknowns are the rates of strains that elastic energy is quadratic in: the
    /// stiffness and the present value of each strain, and the force of gravity on it (dof each).
    /// False: the rod is not held so. NULL: not of this kind.
    bool (*statics)(const tl_rod *rod, const double gravity[3], double *stiffness, double *strain,
                    double *weight);
    /// Other natural strains from now on; def.curvature and def.director are put right. Where it
    /// fails nothing changes.
    talus_status (*set_natural)(tl_rod *rod, const double *strain);
    /// The state was loaded: bring up to date what follows from it.
    void (*refresh)(tl_rod *rod);
} tl_rod_ops;

struct tl_rod {
    const tl_rod_ops *ops;
    talus_context *ctx;
    talus_rod_def def; ///< shear set, arrays its own (NULL where none were given)
    int32_t nodes;     ///< shown; one segment less
    int32_t dof;       ///< unknowns, > 0
    int32_t band;      ///< half-width of M̃ as `motion` gives it; −1 (before `create`): dense
    double *rest;      ///< segments: their lengths without loads [m]
    double *state;     ///< all that a run changes, in one array
    int64_t state_count;
    tl_rod_hold hold[2];
    void *own; ///< of the kind
};

extern const tl_rod_ops tl_rod_discrete_ops, tl_rod_helix_ops;
extern const tl_model_ops tl_rods_ops;
void tl_rods_destroy(tl_model *base);
/// Bring the arrays of the view up to date.
void tl_rods_show(tl_rods *m, int32_t rod);

/// Unit quaternion of the frame with the first axis d and the third t (unit, across each other).
void tl_rod_quat(const double d[3], const double t[3], double q[4]);
/// Turn a by the least rotation that takes the unit vector t to the unit vector s.
void tl_rod_transport(const double t[3], const double s[3], const double a[3], double out[3]);
/// Guess what contacts will do in the next step: `push` from the force [N] they had on each unknown
/// in this one, M̃ v+ − f over h (in `force`), and the one before (`last`, which becomes `force`).
/// Where both have one sign the smaller, otherwise none: an impact is over, what rests goes on.
void tl_rod_expect(int64_t n, const double *force, double *last, double *push);
/// A unit vector across t, and a made so, if it can be: false where a is along t.
void tl_rod_across(const double t[3], double out[3]);
bool tl_rod_make_across(const double t[3], double a[3]);

#endif // TL_ROD_ROD_IMPL_H
