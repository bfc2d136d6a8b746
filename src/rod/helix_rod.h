// SPDX-License-Identifier: Apache-2.0
// A super-helix as a kind of rod: what it keeps between the calls of a step.
#ifndef TL_ROD_HELIX_ROD_H
#define TL_ROD_HELIX_ROD_H
#include "rod/helix.h"
#include "rod/rod_impl.h"

/// Order of numbers in the state: the root's place (3) and frame (quaternion of the axes first,
/// second, tangent: 4), its drive in the last step (6), then q (3 pieces), v (dof), the field (4
/// per Gauss point), and what contacts are expected to do and did (dof each).
enum { TL_HELIX_ROOT = 13 };

typedef struct tl_helix_rod {
    tl_helix h;
    double *arc;     ///< nodes: arc lengths
    double *length;  ///< pieces
    double *natural; ///< 3 pieces

    // of the step in hand
    tl_helix_pose pose;    ///< where the rod is linearised: x + h (1 − θ) v
    tl_helix_joint *joint; ///< there
    tl_helix_joint *now;   ///< of the state: scratch of what looks at it between steps
    double *q;             ///< there
    double *spare;         ///< 3 pieces: q at the end of the step
    tl_helix_drive drive;  ///< mean over the step
    double pull[6];        ///< force of gravity on it
    tl_helix_system system;
    double *operator;      ///< M̃
    double *weight, *next; ///< of the step that is tried, and by how much the next one differs
    double *newton;        ///< dof × dof, factored, with
    int32_t *pivot, *spot; ///< row exchanges and scratch
    double *before, *free; ///< velocities before, and after without contacts
    double *f;
    double *node;            ///< 3 per node: places there
    double *axis;            ///< 3 per segment: first axes there, across the chord
    double *move;            ///< 3 × dof per node
    double *turn;            ///< 3 × dof per segment: of the chord, and about it
    double *factor;          ///< dof × dof
    tl_helix_field *scratch; ///< twice the field
} tl_helix_rod;

static inline tl_helix_rod *tl_helix_of(const tl_rod *rod) { return rod->own; }
/// Parts of the state.
static inline double *tl_helix_q(const tl_rod *rod) { return rod->state + TL_HELIX_ROOT; }
static inline double *tl_helix_v(const tl_rod *rod) {
    return tl_helix_q(rod) + 3 * (int64_t)tl_helix_of(rod)->h.pieces;
}
static inline tl_helix_field *tl_helix_old(const tl_rod *rod) {
    return (tl_helix_field *)(tl_helix_v(rod) + rod->dof);
}
static inline double *tl_helix_push(const tl_rod *rod) {
    return (double *)(tl_helix_old(rod) + tl_helix_field_count(&tl_helix_of(rod)->h));
}
/// Frame by rows (columns: tangent, first, second axis) of the quaternion of (first, second,
/// tangent).
void tl_helix_frame(const double quaternion[4], double r[9]);
/// Piece in which the arc length lies, and how far from the piece's begin.
int32_t tl_helix_find(const tl_helix *h, double arc, double *s);
/// The pose of the state.
tl_helix_pose tl_helix_now(const tl_rod *rod);

/// First axes of the segments (3 each, across the chord) of the state.
void tl_helix_directors(const tl_rod *rod, double *director);
/// `set_natural` of the kind.
talus_status tl_helix_set_natural(tl_rod *rod, const double *strain) TALUS_MUST_CHECK;
talus_status tl_helix_make(tl_rod *rod) TALUS_MUST_CHECK; ///< `create` of the kind

#endif // TL_ROD_HELIX_ROD_H
