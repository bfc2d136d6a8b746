// SPDX-License-Identifier: Apache-2.0
// Sweeps over contacts of at most two bodies with six unknowns each, of any shape, eight side by
// side [docs/theory/splitting.md]. With E the frame, one vector a row, A and B what the spins add,
// and M a diagonal, velocities are kept as M^½ (v, ω), so that an impulse r changes them by
// M^−½ Hᵀ r and only 1/√m is needed of a body:
//     u = E (v_a/√m_a − v_b/√m_b) + A ω_a + B ω_b + q,   W_ii = (1/m_a + 1/m_b) E Eᵀ + A Aᵀ + B Bᵀ
// with A and B divided by √I.
// Of W_ii the normal row and T = W_TT − W_TN W_NT / W_NN are kept, or what the associated law
// needs. 304 bytes a contact are read (352) where the blocks of a row of W, one for each contact
// that shares a body, take a thousand.
#ifndef TL_SOLVE_PAIRS_H
#define TL_SOLVE_PAIRS_H
#include "cone/local.h"
#include "solve/lanes.h"

/// Numbers kept of a contact, and of a body.
enum {
    TL_PAIR_FRAME = 0,   // E, 9
    TL_PAIR_TURN_A = 9,  // A I_a^−½, 9
    TL_PAIR_TURN_B = 18, // B I_b^−½, 9
    TL_PAIR_FREE = 27,   // q, 3
    TL_PAIR_FRICTION = 30,
    TL_PAIR_LAMBDA, // λmax(W_ii)
    TL_PAIR_NN,     // W_NN, W_N1, W_N2, with the proximal term as all that follows
    TL_PAIR_T = 35, // T11, T12, T22
    TL_PAIR_Z = 32, // or, under the associated law, Z by rows, 9,
    TL_PAIR_M = 41, // and m, 3 (cone/lorentz.h)
    TL_PAIR_ENTRIES = 44,
    TL_PAIR_LIGHT = 6, // of a body, after m^½ v and I^½ ω: m^−½
};

typedef struct tl_pairs {
    int32_t *pair;   // rows, by groups: a of all lanes, then b; body_count: none, and one more: the
                     // row is empty
    double *contact; // TL_PAIR_ENTRIES × rows
    uint8_t *apart;  // groups: a bit for every lane that is left to `local`: mu is 0 or W_ii nearly
                     // singular
    tl_local_fn local;
    tl_local_control control;
    bool associated; // the law in force
    double proximal; // β, in units of tr(W_ii)/3
} tl_pairs;

/// Whether the problem is one of such pairs: Coulomb's or the associated law, 3D, M diagonal.
bool tl_pairs_are(const talus_problem *p);
/// Lay out the contacts of a problem of pairs, all but what tl_pairs_calm adds. The memory is
/// reused. `threads` have been reserved.
talus_status tl_pairs_update(talus_context *ctx, int threads, const talus_problem *p,
                             const tl_plan *plan, tl_pairs *inout) TALUS_MUST_CHECK;
void tl_pairs_clear(talus_context *ctx, tl_pairs *pairs);
/// Take a proximal term β, in units of tr(W_ii)/3, and the law in force into account. Threads as in
/// tl_pairs_update.
void tl_pairs_calm(talus_context *ctx, int threads, const talus_problem *p, const tl_plan *plan,
                   double proximal, bool associated, tl_pairs *pairs);
/// Write the masses into z, which has room for two bodies more: none, and that of empty rows.
void tl_pairs_weigh(const talus_problem *p, double *z);
/// The scale of the residual, max |q_i| λ_i^−½.
double tl_pairs_scale(const tl_plan *plan, const tl_pairs *pairs);

/// Visit the rows of a chunk: momentum, one-contact problem, z.
void tl_pairs_chunk(const tl_pairs *pairs, const tl_lanes_sweep *s, int32_t chunk,
                    tl_lanes_tally *out);
/// z += N Hᵀ r of a chunk.
void tl_pairs_spread(const tl_pairs *pairs, const tl_lanes_sweep *s, int32_t chunk);
/// As tl_balls_measure.
double tl_pairs_measure(const tl_pairs *pairs, const tl_lanes_sweep *s, int32_t chunk, bool scaled);

#endif // TL_SOLVE_PAIRS_H
