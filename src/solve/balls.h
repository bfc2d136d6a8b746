// SPDX-License-Identifier: Apache-2.0
// Sweeps over contacts of balls in space, eight side by side [docs/theory/splitting.md].
//
// Where both arms of every contact lie along its normal n, and mass and inertia of every body are
// one number each, the velocity at a contact and the impulse it gives are
//     u = v_a − v_b − ρ_a ω_a × n − ρ_b ω_b × n + q,
//     v_a += f/m_a,   v_b −= f/m_b,   ω_a −= ρ_a n × f/I_a,   ω_b −= ρ_b n × f/I_b,
// with vectors of space: no frame is needed, nor H. W_ii is w_N along the normal and w_T across,
//     w_N = 1/m_a + 1/m_b,   w_T = w_N + ρ_a²/I_a + ρ_b²/I_b,
// so that the one-contact problem has a closed form. 80 bytes a contact are read where H has 288:
// masses come along with the velocities of the bodies, and what follows from them is worked out
// anew at every visit.
#ifndef TL_SOLVE_BALLS_H
#define TL_SOLVE_BALLS_H
#include "solve/lanes.h"

/// Numbers kept of a contact; entry k of a row is at [(row / LANES * BALLS + k) * LANES + lane].
enum {
    TL_BALL_NORMAL = 0, // 3
    TL_BALL_FREE = 3,   // q, 3
    TL_BALL_ARM_A = 6,
    TL_BALL_ARM_B,
    TL_BALL_FRICTION,
    TL_BALL_ENTRIES,
    // Of a body: v, ω, and in the rest of the cache line
    TL_BALL_LIGHT = 6,  // 1/m
    TL_BALL_NIMBLE = 7, // 1/I
};

typedef struct tl_balls {
    int32_t *pair;   // rows, by groups: a of all lanes, then b; body_count: none, and one more: the
                     // row is empty
    double *contact; // TL_BALL_ENTRIES × rows
    double proximal; // β in units of tr(W_ii)/3
    bool associated; // the law in force
} tl_balls;

/// Whether the problem is one of balls: Coulomb's or the associated law, 3D, M diagonal.
bool tl_balls_are(const talus_problem *p);
/// Lay out the contacts of a problem of balls. The memory is reused.
talus_status tl_balls_update(talus_context *ctx, const talus_problem *p, const tl_plan *plan,
                             tl_balls *inout) TALUS_MUST_CHECK;
void tl_balls_clear(talus_context *ctx, tl_balls *b);
/// Write the masses into z, which has room for two bodies more: none, and that of empty rows, whose
/// W is 1.
void tl_balls_weigh(const talus_problem *p, double *z);
/// The scale of the residual, max |q_i| λ_i^−½, of bodies that were weighed.
double tl_balls_scale(const talus_problem *p, const double *z);

/// From the impulses of the caller, in the frames of the contacts, into rows. True: all are zero.
bool tl_balls_import(const talus_problem *p, const tl_plan *plan, const double *r, double *to);
/// Turn what was kept, vectors of space, into impulses in the frames of the contacts.
void tl_balls_export(const talus_problem *p, double *r);

/// Visit the rows of a chunk: momentum, one-contact problem, z.
void tl_balls_chunk(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk, tl_lanes_tally *out);
/// z += N Hᵀ r of a chunk.
void tl_balls_spread(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk);
/// Of a chunk at (z, r), with F_i = r_i − P(r_i − ρ_i (u_i + g(u_i))): max |F_i| λ_i^½ with ρ_i =
/// 1/λ_i where `scaled`, else Σ |F_i|² with ρ_i = 1.
double tl_balls_measure(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk, bool scaled);

#endif // TL_SOLVE_BALLS_H
