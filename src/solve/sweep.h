// SPDX-License-Identifier: Apache-2.0
// One sweep of a splitting method, and the evaluation of its stopping measure, by a team.
#ifndef TL_SOLVE_SWEEP_H
#define TL_SOLVE_SWEEP_H
#include "base/thread.h"
#include "solve/splitting.h"

/// Partial results of a chunk. The activity of a sweep is Σ min(1, λ_i)² |Δr_i|²: the square of
/// what the natural map sees of the change.
enum {
    TL_PART_CHECK,    // of the measure: sum or maximum
    TL_PART_ACTIVITY, // sum
    TL_PART_ENERGY,   // sum of λ_i |Δr_i|²
    TL_PART_GLIDE,    // sum of λ_i |p_i + Δr_i|², p the momentum that r was pushed by before
    TL_PART_NORMAL,   // max |Δr_N|
    TL_PART_TANGENT,  // max |Δr_T|
    TL_PART_SOLVES,   // counts, over the whole solve
    TL_PART_FAILURES,
    TL_PART_SAVES,
    TL_PARTS = 16 // two cache lines a chunk, so that threads do not share lines
};

typedef struct tl_sweep {
    tl_splitting *s;
    tl_local_control control;
    tl_local_fn local;
    tl_local_lanes_fn lanes; // NULL: block by block
    bool quick;              // the local solver is `hybrid`: its quick ways are tried in line
    double relaxation;
    double share;   // of the momentum, which sweeps abreast bring about themselves,
    bool nesterov;  // and its rule
    double settled; // |Δr| below which a block goes to sleep,
    bool weighed;   // or √λ_i |Δr|
    double least;   // of tl_local
    int32_t sleep;
    int32_t open; // sweeps that a block without impulse or momentum is passed over
    bool symmetric;
    bool at_rest; // r = 0: the first check needs no product
    void (*chunk)(const struct tl_sweep *, int32_t chunk, bool backwards); // by dimension
    void (*check)(const struct tl_sweep *, int32_t chunk);
} tl_sweep;

void tl_sweep_init(tl_sweep *sweep, tl_splitting *s);
/// W r of one row at the solver's r (and z).
void tl_sweep_product(const tl_splitting *s, int32_t row, double *u);
/// Entries begin … end − 1 of z of bodies that get no impulse: 0, but for their masses.
void tl_sweep_rest(const tl_splitting *s, int64_t begin, int64_t end);
/// z = N Hᵀ r by the caller alone.
void tl_sweep_rebuild(const tl_splitting *s);
/// Sweep number `index` over all blocks. Ends with a barrier.
void tl_sweep_run(const tl_sweep *sweep, int32_t index, tl_team *team, int rank);
/// Fill TL_PART_CHECK of all chunks at the current r. Ends with a barrier.
void tl_sweep_measure(const tl_sweep *sweep, tl_team *team, int rank);

#endif // TL_SOLVE_SWEEP_H
