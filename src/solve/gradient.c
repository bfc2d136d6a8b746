// SPDX-License-Identifier: Apache-2.0
#include "solve/gradient.h"
#include <math.h>
#include <string.h>

const tl_option tl_gradient_rows[] = {TL_GRADIENT_ROWS, {0}};

double tl_gradient_momentum(double *theta) {
    const double old = *theta;
    *theta = 0.5 * (old * sqrt(4.0 + old * old) - old * old);
    return old * (1.0 - old) / (old * old + *theta);
}

// Progress of the stop measure, and what is done where there is none.
typedef struct gradient_guard {
    double mark;     // the measure of the last progress,
    int32_t since;   // and its iteration
    double patience; // iterations without progress that are borne; infinite: any number
    double until;    // iteration at which the present extragradient steps end; 0: there are none
    double step;     // of the extragradient
} gradient_guard;

// True where extragradient steps are to begin: as many as there were iterations without progress.
// Both are twice as many the next time, for the rule may circle, or only be slow.
static bool gradient_stuck(gradient_guard *guard, const tl_dual *s) {
    if (s->best_measure < 0.99 * guard->mark) {
        guard->mark = s->best_measure;
        guard->since = s->iterations;
    }
    if (guard->until > 0.0 || s->iterations - guard->since <= guard->patience) return false;
    guard->until = s->iterations + guard->patience;
    guard->patience *= 2.0;
    return true;
}

// True where they end.
static bool gradient_calmed(gradient_guard *guard, const tl_dual *s) {
    if (guard->until == 0.0 || s->iterations < guard->until) return false;
    guard->until = 0.0;
    guard->since = s->iterations;
    return true;
}

void tl_gradient_solve(talus_solver *base, tl_gradient *g, double *r, talus_solve_info *info) {
    tl_dual *s = (tl_dual *)base;
    const tl_gradient_options *opt = base->options;
    double *before = NULL, *old = s->vector[4]; // the iterate before x
    g->s = s;
    g->x = s->vector[0];
    g->u = s->vector[1];
    g->next = s->vector[2];
    g->next_u = s->vector[3];
    g->a = s->vector[5];
    g->b = s->vector[6];
    g->c = s->vector[7];
    g->step = opt->dual.step > 0.0 ? opt->dual.step : 1.0 / s->largest;
    gradient_guard guard = {.mark = INFINITY,
                            .patience = opt->patience > 0 ? (double)opt->patience : INFINITY,
                            .step = g->step};
    tl_dual_begin(s, r, g->x, info);
    s->lazy = true;
    tl_dual_apply(s, g->x, g->u);
    g->begin(g);
    while (!tl_dual_over(s, g->x, g->u, before)) {
        tl_dual_yield(s, g->next);
        s->from = NULL; // unless it is tl_dual_carry that makes the next step
        if (gradient_stuck(&guard, s)) {
            if (s->best_at) tl_dual_yield(s, s->best_at);
            memcpy(g->x, s->best, (size_t)s->size * sizeof *g->x);
            tl_dual_apply(s, g->x, g->u);
        }
        if (guard.until > 0.0)
            tl_dual_extragradient(s, g->x, g->u, &guard.step, g->next, g->next_u, g->a, g->b, g->c);
        else
            g->advance(g);
        double *const free = old, *const free_u = g->u; // x becomes the iterate before
        old = before = g->x;
        g->before = before;
        g->x = g->next;
        g->u = g->next_u;
        g->next = free;
        g->next_u = free_u;
        if (gradient_calmed(&guard, s)) g->begin(g);
    }
    tl_dual_end(s, r);
}
