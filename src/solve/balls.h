// SPDX-License-Identifier: Apache-2.0
// Sweeps over contacts of balls in space, eight side by side [docs/theory/splitting.md].
//
// Where both arms of every contact lie along its normal n, and mass and inertia of every body are
// one number each, the velocity at a contact and the impulse it gives are
//     u = v_a − v_b − ρ_a ω_a × n − ρ_b ω_b × n + q,
//     v_a += f/m_a,   v_b −= f/m_b,   ω_a −= ρ_a n × f/I_a,   ω_b −= ρ_b n × f/I_b,
// with vectors of space: no frame is needed, nor H. W_ii is w_N along the normal and w_T across,
//     w_N = 1/m_a + 1/m_b,   w_T = w_N + ρ_a²/I_a + ρ_b²/I_b,
// so that the one-contact problem has a closed form. 120 bytes a contact are read where H has 288.
#ifndef TL_SOLVE_BALLS_H
#define TL_SOLVE_BALLS_H
#include "base/thread.h"
#include "solve/plan.h"

/// Numbers kept of a contact; entry k of a row is at [(row / LANES * BALLS + k) * LANES + lane].
enum {
    TL_BALL_NORMAL = 0, // 3
    TL_BALL_FREE = 3,   // q, 3
    TL_BALL_ARM_A = 6,
    TL_BALL_ARM_B,
    TL_BALL_LIGHT_A, // 1/m
    TL_BALL_LIGHT_B,
    TL_BALL_TURN_A, // ρ/I
    TL_BALL_TURN_B,
    TL_BALL_INVERSE_N, // 1/(w_N + β), β the proximal term
    TL_BALL_INVERSE_T,
    TL_BALL_FRICTION,
    TL_BALL_ENTRIES,
    TL_BALL_BODY = 8, // numbers kept of a body: v, ω and room up to a cache line
};

typedef struct tl_balls {
    int32_t *pair;   // rows, by groups: a of all lanes, then b; body_count: none
    double *contact; // TL_BALL_ENTRIES × rows
    bool associated; // the law in force
} tl_balls;

/// What a sweep carries along: r, and with momentum its last change and the direction p, laid out
/// as 3 entries by groups; z = N Hᵀ r by bodies.
typedef struct tl_balls_sweep {
    const tl_balls *balls;
    const tl_plan *plan;
    int32_t bodies;
    double *z, *r, *change, *push; // change, push: NULL without momentum
    double share;                  // β of the momentum
    bool nesterov;
} tl_balls_sweep;

/// Sums over the rows of a chunk, in the order of the lanes.
typedef struct tl_balls_tally {
    double activity, energy, normal, tangent, solves; // tangent: squared
} tl_balls_tally;

/// Whether the problem is one of balls: Coulomb's or the associated law, 3D, M diagonal.
bool tl_balls_are(const talus_problem *p);
/// Lay out the contacts of a problem of balls. The memory is reused.
talus_status tl_balls_update(talus_context *ctx, const talus_problem *p, const tl_plan *plan,
                             tl_balls *inout) TALUS_MUST_CHECK;
void tl_balls_clear(talus_context *ctx, tl_balls *b);
/// Set the proximal term, in units of tr(W_ii)/3, and the law. Returns the scale of the residual,
/// max |q_i| λ_i^−½.
double tl_balls_set(const talus_problem *p, const tl_plan *plan, double proximal, bool associated,
                    tl_balls *inout);

/// From the impulses of the caller, in the frames of the contacts, and back. True: all are zero.
bool tl_balls_import(const talus_problem *p, const tl_plan *plan, const double *r, double *to);
void tl_balls_export(const talus_problem *p, const tl_plan *plan, const double *from, double *r);

/// Visit the rows of a chunk: momentum, one-contact problem, z.
void tl_balls_chunk(const tl_balls_sweep *s, int32_t chunk, tl_balls_tally *out);
/// z += N Hᵀ r of a chunk.
void tl_balls_spread(const tl_balls_sweep *s, int32_t chunk);
/// Of a chunk at (z, r), with F_i = r_i − P(r_i − ρ_i (u_i + g(u_i))): max |F_i| λ_i^½ with ρ_i =
/// 1/λ_i where `scaled`, else Σ |F_i|² with ρ_i = 1.
double tl_balls_measure(const tl_balls_sweep *s, int32_t chunk, bool scaled);

#endif // TL_SOLVE_BALLS_H
