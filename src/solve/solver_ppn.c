// SPDX-License-Identifier: Apache-2.0
// ppn: proximal points by semismooth Newton, after some sweeps of nlgs [docs/theory/newton.md].
#include "solve/newton.h"

static void ppn_solve(talus_solver *base, double *r, talus_solve_info *info) {
    tl_newton *s = (tl_newton *)base;
    const tl_newton_options *opt = base->options;
    tl_newton_begin(s, r, info);
    (void)tl_newton_proximal(s, opt->proximal, opt->sweeps, 0);
    tl_dual_end(&s->dual, r);
}

const tl_solver_ops tl_ppn_ops = {.name = "ppn",
                                  .summary = "proximal points by semismooth Newton",
                                  .size = sizeof(tl_newton),
                                  .options_size = sizeof(tl_newton_options),
                                  .options = tl_newton_rows,
                                  .prepare = tl_newton_prepare,
                                  .solve = ppn_solve,
                                  .clear = tl_newton_clear};
