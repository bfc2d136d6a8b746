// SPDX-License-Identifier: Apache-2.0
// Proximal points by semismooth Newton, on the parts of newton.h:
//     r_k+1 solves F(u, r) = 0 with u = W r + q + ε Λ (r − r_k), by Newton with a line search,
// ε shrinking while that lowers the measure. Where it does not, ε grows and nlgs takes over for a
// while, twice as long each time in a row: in the end the method is no worse than nlgs
// [docs/theory/newton.md].
#include "solve/newton.h"
#include <math.h>

// Newton steps of one outer step; outer steps without a new best before nlgs takes over.
enum { PROXIMAL_STEPS = 25, PROXIMAL_IDLE = 8, PROXIMAL_SWEEPS = 5 };
// Sweeps on the regularised problem where Newton fails on it, twice as many each time, so often.
enum { PROXIMAL_HELP = 20, PROXIMAL_HELPS = 3 };

typedef struct proximal_run {
    double eps, first;
    double mark;    // measure at the centre
    double reached; // best measure, when it last fell by half
    int32_t idle;   // outer steps since
    bool sweep;     // next: sweeps of nlgs
    bool help;      // next: sweeps of nlgs on the problem with the proximal term
    int32_t helps;  // so far from this centre
} proximal_run;

static void proximal_centre(tl_newton *s, proximal_run *run) {
    tl_newton_restart(s, run->eps);
    run->mark = tl_newton_left(s, 0.0);
    run->helps = 0;
}

// End of an outer step: where to go from x.
static void proximal_judge(tl_newton *s, proximal_run *run, bool solved) {
    const double now = tl_newton_left(s, 0.0);
    run->idle++;
    if (now < 0.5 * run->reached) {
        run->reached = now;
        run->idle = 0;
        s->sweeps = PROXIMAL_SWEEPS;
    }
    // A proximal point may have a somewhat larger measure than its centre and be a step forward.
    const bool forward = now < (solved ? 2.0 : 0.9) * run->mark && run->idle < PROXIMAL_IDLE;
    if (forward) {
        // An easy step shows that ε can be much smaller.
        if (solved) run->eps *= s->steps <= 2 ? 0.1 : now < run->mark ? 0.3 : 1.0;
        proximal_centre(s, run);
    } else {
        run->eps = run->eps < 100.0 ? 10.0 * run->eps : run->first;
        run->idle = 0;
        run->sweep = true;
    }
}

bool tl_newton_proximal(tl_newton *s, double eps, int32_t sweeps, int32_t patience) {
    proximal_run run = {.eps = eps, .first = eps, .reached = INFINITY, .sweep = sweeps > 0};
    s->function = TL_NEWTON_AC;
    s->sweeps = sweeps > 0 ? sweeps : PROXIMAL_SWEEPS;
    if (!run.sweep) proximal_centre(s, &run);
    double halved = INFINITY; // the best measure when it had fallen by half,
    int32_t since = 0;        // and the iteration
    while (!tl_dual_over(&s->dual, s->x, s->u, NULL)) {
        if (s->dual.best_measure < 0.5 * halved) {
            halved = s->dual.best_measure;
            since = s->dual.iterations;
        }
        if (patience > 0 && s->dual.iterations - since > patience) return false;
        if (run.sweep) {
            tl_newton_sweep(s, 0.0);
            proximal_centre(s, &run);
            run.sweep = false;
            continue;
        }
        bool good = true;
        if (run.help) {
            const int32_t sweeps_then = s->sweeps;
            s->sweeps = PROXIMAL_HELP << run.helps++;
            tl_newton_sweep(s, run.eps);
            s->sweeps = sweeps_then;
            tl_newton_forget(s, run.eps);
            run.help = false;
        } else {
            good = tl_newton_step(s, run.eps, run.eps);
        }
        const bool solved = good && tl_newton_left(s, run.eps) <= 0.1 * run.mark;
        const bool failed = !good || s->steps >= PROXIMAL_STEPS;
        if (failed && !solved && run.helps < PROXIMAL_HELPS)
            run.help = true;
        else if (failed || solved)
            proximal_judge(s, &run, solved);
    }
    return true;
}
