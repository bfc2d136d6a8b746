// SPDX-License-Identifier: Apache-2.0
// Is there any velocity that the law allows? No solver can tell "hard" from "impossible" by itself.
#ifndef TL_SOLVE_FEASIBLE_H
#define TL_SOLVE_FEASIBLE_H
#include "problem/problem_impl.h"

/// Which velocities are asked for (with C v = k where there are constraint rows).
typedef enum tl_feasible_set {
    TL_FEASIBLE_LAW, // u_N >= zeta |u_T| in all blocks: without one, the problem has no solution
    TL_FEASIBLE_CONE // u_N >= mu |u_T|: with one in the interior, it has one, whatever zeta is
} tl_feasible_set;

typedef enum tl_feasibility {
    TL_FEASIBLE,   // to 1e-6 of the largest |q_i|
    TL_INFEASIBLE, // there is a witness
    TL_UNDECIDED   // neither could be shown: on the edge, or beyond what rounding shows
} tl_feasibility;

/// Decide. The witness (dim * count) of TL_INFEASIBLE has |r| = 1, r_i ∈ K (|r_T| <= zeta r_N, or
/// mu r_N), W r = 0 to rounding and q·r < 0: no velocity u = W x + q can be allowed, for r·u would
/// be at least 0. It is zeroed otherwise.
talus_status tl_feasible(talus_context *ctx, const talus_problem *p, tl_feasible_set set,
                         tl_feasibility *out, double *witness) TALUS_MUST_CHECK;

#endif // TL_SOLVE_FEASIBLE_H
