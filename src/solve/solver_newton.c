// SPDX-License-Identifier: Apache-2.0
// newton-ac, newton-ds, newton-fb: semismooth Newton on the Alart-Curnier, De Saxcé or
// Fischer-Burmeister equations of all blocks. The matrix is damped by ε Λ (Levenberg), ε falling
// with every good step; where no step length will do, ε grows and nlgs takes over for some sweeps,
// twice as many each time in a row [docs/theory/newton.md].
#include "solve/newton.h"
#include <math.h>

enum { NEWTON_SWEEPS = 5 };

static void newton_solve(talus_solver *base, double *r, talus_solve_info *info,
                         tl_newton_function function) {
    tl_newton *s = (tl_newton *)base;
    const tl_newton_options *opt = base->options;
    double damping = opt->proximal, reached = INFINITY;
    bool sweep = opt->sweeps > 0;
    s->function = function;
    s->sweeps = opt->sweeps;
    tl_newton_begin(s, r, info);
    tl_newton_restart(s, 0.0);
    while (!tl_dual_over(&s->dual, s->x, s->u, NULL)) {
        if (sweep) {
            tl_newton_sweep(s, 0.0);
            tl_newton_restart(s, 0.0);
            sweep = false;
            continue;
        }
        if (tl_newton_step(s, 0.0, damping)) {
            damping = fmax(0.1 * damping, 1e-12);
            if (s->merit < 0.25 * reached) {
                reached = s->merit;
                s->sweeps = NEWTON_SWEEPS;
            }
        } else {
            damping = damping < 1.0 ? 100.0 * damping : opt->proximal;
            sweep = true;
        }
    }
    tl_dual_end(&s->dual, r);
}

#define NEWTON(id, text_name, text, function)                                                      \
    static void id##_solve(talus_solver *s, double *r, talus_solve_info *info) {                   \
        newton_solve(s, r, info, function);                                                        \
    }                                                                                              \
    const tl_solver_ops tl_##id##_ops = {.name = text_name,                                        \
                                         .summary = text,                                          \
                                         .size = sizeof(tl_newton),                                \
                                         .options_size = sizeof(tl_newton_options),                \
                                         .options = tl_newton_rows,                                \
                                         .prepare = tl_newton_prepare,                             \
                                         .solve = id##_solve,                                      \
                                         .clear = tl_newton_clear};

NEWTON(newton_ac, "newton-ac", "semismooth Newton on the Alart-Curnier equations", TL_NEWTON_AC)
NEWTON(newton_ds, "newton-ds", "semismooth Newton on the De Saxce equations", TL_NEWTON_DS)
NEWTON(newton_fb, "newton-fb", "semismooth Newton on the Fischer-Burmeister equations",
       TL_NEWTON_FB)
