// SPDX-License-Identifier: Apache-2.0
// Projected gradients on min ½ rᵀW r + qᵀr over the cones (associated law), or, with the shift
// g(u) added to the gradient and frozen in each step, on Coulomb's law [docs/theory/gradients.md]:
//     pgd        r ← P(r − (u + g(u))/L)
//     apgd-ar    the same from y = r + β(r − r⁻), Nesterov's momentum, restarted when it points
//     uphill apgd-asr   and L adapted: 0.97 L, then doubled until the quadratic bound holds
#include "solve/dual.h"
#include <math.h>
#include <string.h>

static void gradient_solve(talus_solver *base, double *r, talus_solve_info *info, bool momentum,
                           bool adapt, bool restart) {
    tl_dual *s = (tl_dual *)base;
    const tl_dual_options *opt = base->options;
    double *x = s->vector[0], *u = s->vector[1];         // iterate and its velocity
    double *y = s->vector[2], *v = s->vector[3];         // extrapolated point and its velocity
    double *next = s->vector[4], *next_u = s->vector[5]; // the step's result
    double *before = NULL, *old = s->vector[6];          // the iterate before x
    double *gradient = s->vector[7];
    double theta = 1.0, lipschitz = opt->step > 0.0 ? 1.0 / opt->step : s->largest;
    tl_dual_begin(s, r, x, info);
    tl_dual_apply(s, x, u);
    memcpy(y, x, (size_t)s->size * sizeof *y);
    memcpy(v, u, (size_t)s->size * sizeof *v);
    while (!tl_dual_over(s, x, u, before)) {
        if (adapt) lipschitz *= 0.97;
        for (int halving = 0; halving < 100; halving++) {
            tl_dual_step(s, y, v, 1.0 / lipschitz, next);
            tl_dual_apply(s, next, next_u);
            // f(x⁺) <= f(y) + ∇f(y)(x⁺ − y) + L/2 |x⁺ − y|², where f is quadratic
            if (!adapt || tl_dual_dot_difference(s, next, y, next_u, v) <=
                              lipschitz * tl_dual_distance(s, next, y))
                break;
            lipschitz *= 2.0;
        }
        double beta = 0.0;
        if (momentum) {
            const double after = 0.5 * (theta * sqrt(4.0 + theta * theta) - theta * theta);
            beta = theta * (1.0 - theta) / (theta * theta + after);
            theta = after;
        }
        if (restart) {
            tl_dual_shift(s, v, gradient);
            if (tl_dual_dot(s, gradient, next) - tl_dual_dot(s, gradient, x) > 0.0) {
                beta = 0.0;
                theta = 1.0;
            }
        }
        tl_dual_extrapolate(s, next, x, beta, y);
        tl_dual_extrapolate(s, next_u, u, beta, v);
        double *const free_x = old, *const free_u = u; // x becomes the iterate before
        old = before = x;
        x = next;
        u = next_u;
        next = free_x;
        next_u = free_u;
    }
    tl_dual_end(s, r);
}

#define GRADIENT(id, text_name, text, momentum, adapt, restart)                                    \
    static void id##_solve(talus_solver *s, double *r, talus_solve_info *info) {                   \
        gradient_solve(s, r, info, momentum, adapt, restart);                                      \
    }                                                                                              \
    const tl_solver_ops tl_##id##_ops = {.name = text_name,                                        \
                                         .summary = text,                                          \
                                         .size = sizeof(tl_dual),                                  \
                                         .options_size = sizeof(tl_dual_options),                  \
                                         .options = tl_dual_rows,                                  \
                                         .prepare = tl_dual_prepare,                               \
                                         .solve = id##_solve,                                      \
                                         .clear = tl_dual_clear};

GRADIENT(pgd, "pgd", "projected gradient, fixed step", false, false, false)
GRADIENT(apgd_ar, "apgd-ar", "accelerated projected gradient, adaptive restart", true, false, true)
GRADIENT(apgd_asr, "apgd-asr", "accelerated projected gradient, adaptive step and restart", true,
         true, true)
