// SPDX-License-Identifier: Apache-2.0
// vi-eg: extragradient for the variational inequality with F(r) = u + g(u), u = W r + q:
//     r̄ = P(r − ρ F(r)),   r⁺ = P(r − ρ F(r̄))
// with ρ kept where ρ |F(r) − F(r̄)| / |r − r̄| lies between 0.3 and 0.9
// [docs/theory/gradients.md].
#include "solve/dual.h"
#include <math.h>

static void vi_eg_solve(talus_solver *base, double *r, talus_solve_info *info) {
    tl_dual *s = (tl_dual *)base;
    const tl_dual_options *opt = base->options;
    double *x = s->vector[0], *u = s->vector[1], *middle = s->vector[2], *middle_u = s->vector[3];
    double *f = s->vector[4], *middle_f = s->vector[5], *next = s->vector[6], *before = NULL;
    double *old = s->vector[7];
    double step = opt->step > 0.0 ? opt->step : 1.0 / s->largest;
    tl_dual_begin(s, r, x, info);
    tl_dual_apply(s, x, u);
    while (!tl_dual_over(s, x, u, before)) {
        double ratio = 0.0;
        for (int halving = 0; halving < 50; halving++) {
            tl_dual_step(s, x, u, step, middle);
            tl_dual_apply(s, middle, middle_u);
            tl_dual_shift(s, u, f);
            tl_dual_shift(s, middle_u, middle_f);
            // |F(r) − F(r̄)| in the dual metric, where a block counts with 1/weight
            double change = 0.0;
            const int d = s->w.dim;
            for (int64_t k = 0; k < s->size; k++)
                change += (f[k] - middle_f[k]) * (f[k] - middle_f[k]) / s->weight[k / d];
            const double moved = tl_dual_distance(s, x, middle);
            ratio = moved > 0.0 ? step * sqrt(change / moved) : 0.0;
            if (ratio <= 0.9) break;
            step *= 2.0 / 3.0 * (ratio < 1.0 ? 1.0 : 1.0 / ratio);
        }
        tl_dual_step(s, x, middle_u, step, next);
        double *const free = old;
        old = before = x;
        x = next;
        next = free;
        tl_dual_apply(s, x, u);
        if (ratio < 0.3) step *= 1.5;
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
                                    .clear = tl_dual_clear};
