// SPDX-License-Identifier: Apache-2.0
// Builds problems in global form body by body and contact by contact, one time step each:
//     M v = f + Hᵀ r + Cᵀ λ,   f = M v_free,   u = H v + w.
// A body has `size` velocity unknowns, `dim` linear ones first and then the angular ones, if any. A
// failed request for memory is remembered and reported by rigid_finish.
#ifndef TESTS_RIGID_H
#define TESTS_RIGID_H
#include "talus/problem.h"

typedef struct rigid {
    int dim, size;
    double length, mass, time;       // what 1 m, 1 kg and 1 s are in the units of the problem
    int32_t bodies, contacts, joins; // joins: rows of C
    int32_t body_room, contact_room, join_room;
    double *centre, *own, *f; // per body: 3, size × size, size
    int64_t *start;           // per contact
    int32_t *body;            // at most two per contact
    double *h, *w, *mu;
    int64_t *join_start;
    int32_t *join_index;
    double *join_value;
    int32_t *body_start; // made by rigid_define, as are the next three
    double *k, *diagonal, *mass_value;
    bool failed;
} rigid;

/// Bodies with dim linear velocities and, when `turns`, 1 (dim 2) or 3 angular ones; SI units.
void rigid_init(rigid *s, int dim, bool turns);
/// A body with diagonal mass matrix; `inertia` and the angular part of `velocity` (its free
/// velocity at the end of the step) are not read for bodies that do not turn, in 2D one entry is.
/// In 2D the plane is (0, 1). Returns its number.
int32_t rigid_body(rigid *s, double mass, const double *inertia, const double centre[3],
                   const double *velocity);
/// Bodies `body` and `other` (negative: fixed) touch at `point`; the unit vector `normal` points
/// from `other` to `body`. Tangents: (−n_1, n_0) in 2D, in 3D the axis least aligned with it, made
/// orthogonal, comes first.
void rigid_contact(rigid *s, int32_t body, int32_t other, const double point[3],
                   const double normal[3], double mu);
/// The same with the way from either centre to the contact in place of the point.
void rigid_contact_arms(rigid *s, int32_t body, int32_t other, const double arm[3],
                        const double other_arm[3], const double normal[3], double mu);
/// The contacts from number `first` on approach with this speed [m/s] when nothing else moves.
void rigid_approach(rigid *s, int32_t first, double speed);
/// The bodies keep the same velocity at `point` (`dim` rows of C with k = 0).
void rigid_join(rigid *s, int32_t body, int32_t other, const double point[3]);
/// The definition of the problem; it borrows from `s` until that is cleared. Once only: the numbers
/// are converted to the units of the problem. `mass` as in rigid_finish. A definition made without
/// it has the mass in both `mass_diagonal` and `mass_block`. False when memory was short.
bool rigid_define(rigid *s, const talus_sparse *mass, talus_global_def *out);
void rigid_clear(rigid *s);
/// Make the problem and give back what was built. `mass`, if not NULL, replaces the mass matrices
/// of the bodies (compressed columns, SI units; linear unknowns only). Clears `s` in any case.
talus_status rigid_finish(talus_context *ctx, rigid *s, const talus_sparse *mass,
                          talus_problem **out);

#endif // TESTS_RIGID_H
