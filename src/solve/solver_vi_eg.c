// SPDX-License-Identifier: Apache-2.0
// vi-eg: extragradient for the variational inequality with F(r) = u + g(u), u = W r + q:
//     r̄ = P(r − ρ F(r)),   r⁺ = P(r − ρ F(r̄))
// with ρ kept where ρ |F(r) − F(r̄)| / |r − r̄| lies between 0.3 and 0.9
// [docs/theory/gradients.md].
#include "solve/dual.h"

static void vi_eg_solve(talus_solver *base, double *r, talus_solve_info *info) {
    tl_dual *s = (tl_dual *)base;
    const tl_dual_options *opt = base->options;
    double *x = s->vector[0], *u = s->vector[1], *next = s->vector[2], *next_u = s->vector[3];
    double *before = NULL, *old = s->vector[4];
    double step = opt->step > 0.0 ? opt->step : 1.0 / s->largest;
    tl_dual_begin(s, r, x, info);
    tl_dual_apply(s, x, u);
    while (!tl_dual_over(s, x, u, before)) {
        tl_dual_extragradient(s, x, u, &step, next, next_u, s->vector[5], s->vector[6],
                              s->vector[7]);
        double *const free = old, *const free_u = u;
        old = before = x;
        x = next;
        u = next_u;
        next = free;
        next_u = free_u;
    }
    tl_dual_end(s, r);
}

const tl_solver_ops tl_vi_eg_ops = {.name = "vi-eg",
                                    .summary = "extragradient with self-adaptive step",
                                    .size = sizeof(tl_dual),
                                    .options_size = sizeof(tl_dual_options),
                                    .options = tl_dual_rows,
                                    .prepare = tl_dual_prepare,
                                    .solve = vi_eg_solve,
                                    .clear = tl_dual_clear,
                                    .refresh = tl_dual_refresh};
