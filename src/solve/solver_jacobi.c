// SPDX-License-Identifier: Apache-2.0
// jacobi: every block is solved with the impulses of the last sweep [docs/theory/splitting.md].
#include "solve/splitting.h"

static talus_status jacobi_prepare(talus_solver *s, const talus_problem *p) {
    return tl_splitting_prepare(s, p, true);
}

const tl_solver_ops tl_jacobi_ops = {
    .name = "jacobi",
    .summary = "all contacts at once from the last impulses, relaxed by lambda_max(D^-1 W)",
    .size = sizeof(tl_splitting),
    .options_size = sizeof(tl_splitting_options),
    .options = tl_splitting_rows,
    .prepare = jacobi_prepare,
    .solve = tl_splitting_solve,
    .clear = tl_splitting_clear,
    .refresh = tl_splitting_refresh,
    .reuses = true,
};
