// SPDX-License-Identifier: Apache-2.0
// A problem with constraint rows as an equal one without them.
#ifndef TL_PROBLEM_CONDENSE_H
#define TL_PROBLEM_CONDENSE_H
#include "problem/problem_impl.h"

typedef struct tl_condensed tl_condensed;

/// Make, or make again, the condensed problem of p, whose q is known; where M is not block diagonal
/// or there are no constraint rows, none. `v` is the state at r = 0; `held` as in talus_global_def.
talus_status tl_condense(talus_problem *p, const double *v, bool *held) TALUS_MUST_CHECK;
void tl_condensed_destroy(talus_context *ctx, tl_condensed *c); // NULL is allowed
/// The problem that solvers are to work on: the condensed one, or p itself. It has the same blocks,
/// laws, q and W (to rounding), so that r and u are those of p; its velocities are others.
const talus_problem *tl_problem_condensed(const talus_problem *p);
void tl_condensed_set_law(tl_condensed *c, talus_law law);

#endif // TL_PROBLEM_CONDENSE_H
