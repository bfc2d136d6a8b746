// SPDX-License-Identifier: Apache-2.0
// nlgs: nonsmooth Gauss-Seidel. Each block is solved with the newest impulses of all others
// [docs/theory/splitting.md].
#include "solve/splitting.h"

static talus_status nlgs_prepare(talus_solver *s, const talus_problem *p) {
    return tl_splitting_prepare(s, p, false);
}

const tl_solver_ops tl_nlgs_ops = {
    .name = "nlgs",
    .summary = "nonsmooth Gauss-Seidel over exchangeable one-contact solvers",
    .size = sizeof(tl_splitting),
    .options_size = sizeof(tl_splitting_options),
    .options = tl_splitting_rows,
    .prepare = nlgs_prepare,
    .solve = tl_splitting_solve,
    .clear = tl_splitting_clear,
    .refresh = tl_splitting_refresh,
    .reuses = true,
};
