// SPDX-License-Identifier: Apache-2.0
// ppn: proximal points by semismooth Newton. After a few sweeps of nlgs, outer steps
//     r_k+1 solves F(u, r) = 0 with u = W r + q + ε Λ (r − r_k), by Newton with a line search,
// ε shrinking while that lowers the measure. Where it does not, ε grows and nlgs takes over for a
// while, twice as long each time in a row: in the end the method is no worse than nlgs
// [docs/theory/newton.md].
#include "solve/newton.h"
#include <math.h>

// Newton steps of one outer step; outer steps without a new best before nlgs takes over.
enum { PPN_STEPS = 25, PPN_IDLE = 8, PPN_SWEEPS = 5 };

typedef struct ppn_run {
    double eps;
    double mark;    // measure at the centre
    double reached; // best measure, when it last fell by half
    int32_t idle;   // outer steps since
    bool sweep;     // next: sweeps of nlgs
} ppn_run;

static void ppn_centre(tl_newton *s, ppn_run *run) {
    tl_newton_restart(s, run->eps);
    run->mark = tl_dual_measure(&s->dual, s->x, s->u);
}

// End of an outer step: where to go from x.
static void ppn_judge(tl_newton *s, ppn_run *run, bool solved) {
    const tl_newton_options *opt = s->dual.base.options;
    const double now = tl_dual_measure(&s->dual, s->x, s->u);
    run->idle++;
    if (now < 0.5 * run->reached) {
        run->reached = now;
        run->idle = 0;
        s->sweeps = PPN_SWEEPS;
    }
    // A proximal point may have a somewhat larger measure than its centre and be a step forward.
    const bool forward = now < (solved ? 2.0 : 0.9) * run->mark && run->idle < PPN_IDLE;
    if (forward) {
        if (solved && now < run->mark) run->eps *= 0.3;
        ppn_centre(s, run);
    } else {
        run->eps = run->eps < 100.0 ? 10.0 * run->eps : opt->proximal;
        run->idle = 0;
        run->sweep = true;
    }
}

static void ppn_solve(talus_solver *base, double *r, talus_solve_info *info) {
    tl_newton *s = (tl_newton *)base;
    const tl_newton_options *opt = base->options;
    ppn_run run = {.eps = opt->proximal, .reached = INFINITY, .sweep = opt->sweeps > 0};
    s->function = TL_NEWTON_AC;
    tl_newton_begin(s, r, info);
    if (!run.sweep) ppn_centre(s, &run);
    while (!tl_dual_over(&s->dual, s->x, s->u, NULL)) {
        if (run.sweep) {
            tl_newton_sweep(s);
            ppn_centre(s, &run);
            run.sweep = false;
            continue;
        }
        const bool good = tl_newton_step(s, run.eps, run.eps);
        const bool solved = good && tl_newton_left(s, run.eps) <= 0.1 * run.mark;
        if (!good || solved || s->steps >= PPN_STEPS) ppn_judge(s, &run, solved);
    }
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
