// SPDX-License-Identifier: Apache-2.0
// auto: chooses, watches and switches [docs/theory/auto.md]. Sweeps of nlgs come first: most
// problems need no more. At checks 100, 200, 400 … sweeps apart the sweeps still needed are
// foreseen from the progress since the last; when a proximal Newton method (newton.h) would cost
// less, it takes over. Costs are counted in operations, never in seconds, so that the same problem
// always takes the same way.
#include "base/timer.h"
#include "solve/newton.h"
#include "solve/splitting.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct auto_options {
    tl_common_options common;
    double memory; // [GB] most that the Newton method may take
    bool ready;    // set everything up in prepare
    bool warm;     // start from the r given, else from 0
} auto_options;

#define ROW(f, kind, initial, ...) TL_ROW(auto_options, f, kind, initial, __VA_ARGS__)
static const tl_option auto_rows[] = {
    ROW(memory, TL_OPTION_NUMBER, "1", .low = 0.0, .high = INFINITY,
        .text = "most memory for the factors of the Newton matrix [GB]"),
    ROW(ready, TL_OPTION_YES_NO, "no",
        .text = "set up all methods beforehand, so that solves allocate nothing; no: the Newton "
                "method is set up when it is first needed"),
    ROW(warm, TL_OPTION_YES_NO, "yes", .text = "start from the impulses given, else from zero"),
    {0},
};

typedef enum auto_newton { AUTO_UNKNOWN, AUTO_THERE, AUTO_TOO_LARGE } auto_newton;

typedef struct auto_solver {
    tl_newton newton; // its nlgs is the first method
    auto_newton state;
    // The running solve.
    int32_t decide; // sweeps at which to think again
    int32_t since;  // the last time,
    double mark;    // and the measure then
} auto_solver;

enum { AUTO_FIRST = 100, AUTO_STEPS = 20 };

// ---- costs -------------------------------------------------------------------------------------

// Operations of a sweep: a one-contact solve is worth some hundred multiplications.
static double auto_sweep_cost(const auto_solver *s) {
    const tl_delassus *w = &((const tl_splitting *)s->newton.nlgs)->w;
    return 100.0 * w->rows + 0.5 * w->dim * w->dim * (double)w->start[w->rows];
}

// Operations of a Newton step: the factors, and some passes over W and the contacts.
static double auto_step_cost(const auto_solver *s) {
    return s->newton.lu->work + 4.0 * auto_sweep_cost(s);
}

static void auto_say(const auto_solver *s, const char *what, int32_t sweeps, double measure,
                     double left) {
    char more[32] = "no progress";
    if (isfinite(left)) (void)snprintf(more, sizeof more, "about %.0f more", left);
    tl_log(s->newton.dual.base.ctx, TALUS_LOG_INFO, "auto: %d sweeps, measure %.2e, %s: %s", sweeps,
           measure, more, what);
}

// ---- set-up ------------------------------------------------------------------------------------

static talus_status auto_prepare_newton(auto_solver *s) {
    const auto_options *opt = s->newton.dual.base.options;
    TL_TRY(tl_newton_prepare_rest(&s->newton, 1e9 * opt->memory));
    s->state = s->newton.lu ? AUTO_THERE : AUTO_TOO_LARGE;
    return TALUS_OK;
}

static talus_status auto_prepare(talus_solver *base, const talus_problem *p) {
    auto_solver *s = (auto_solver *)base;
    const auto_options *opt = base->options;
    TL_TRY(tl_newton_prepare_nlgs(&s->newton, p, opt->warm));
    s->state = AUTO_UNKNOWN;
    return opt->ready ? auto_prepare_newton(s) : TALUS_OK;
}

// ---- the choice --------------------------------------------------------------------------------

// Is Newton to take over, with `left` sweeps foreseen?
static bool auto_newton_is_cheaper(auto_solver *s, int32_t sweeps, double measure, double left) {
    if (left < 2.0 * AUTO_FIRST) return false; // not worth its set-up
    if (s->state == AUTO_UNKNOWN && auto_prepare_newton(s) != TALUS_OK) {
        s->state = AUTO_TOO_LARGE; // the sweeps can go on without
        tl_log(s->newton.dual.base.ctx, TALUS_LOG_WARNING, "auto: no Newton method: %s",
               talus_context_last_error(s->newton.dual.base.ctx));
    }
    if (s->state == AUTO_TOO_LARGE) {
        auto_say(s, "go on, for the Newton matrix is too large", sweeps, measure, left);
        return false;
    }
    const double steps = left * auto_sweep_cost(s) / auto_step_cost(s);
    char what[96];
    (void)snprintf(what, sizeof what, "%s, for as much work as %.1f Newton steps",
                   steps > AUTO_STEPS ? "Newton takes over" : "go on", steps);
    auto_say(s, what, sweeps, measure, left);
    return steps > AUTO_STEPS;
}

static bool auto_leave(void *user, int32_t sweeps, double measure) {
    auto_solver *s = user;
    const auto_options *opt = s->newton.dual.base.options;
    if (sweeps < s->decide) return false;
    const double gain = log(s->mark / measure), need = log(measure / opt->common.tolerance);
    const double left = gain > 0.0 ? need / gain * (sweeps - s->since) : INFINITY;
    s->decide = 2 * sweeps;
    s->since = sweeps;
    s->mark = measure;
    return auto_newton_is_cheaper(s, sweeps, measure, left);
}

static void auto_solve(talus_solver *base, double *r, talus_solve_info *info) {
    auto_solver *s = (auto_solver *)base;
    tl_newton *newton = &s->newton;
    tl_splitting *nlgs = (tl_splitting *)newton->nlgs;
    const auto_options *opt = base->options;
    tl_splitting_options *inner = newton->nlgs->options;
    s->decide = AUTO_FIRST;
    s->since = 0;
    s->mark = INFINITY;
    nlgs->leave = auto_leave;
    nlgs->leave_user = s;
    nlgs->base.monitor = base->monitor;
    nlgs->base.monitor_user = base->monitor_user;
    nlgs->base.prepare_seconds = base->prepare_seconds;
    inner->common = opt->common;
    inner->patience = 60;
    newton->dual.start = tl_seconds();
    newton->nlgs->ops->solve(newton->nlgs, r, info);
    nlgs->leave = NULL;
    nlgs->base.monitor = NULL;
    if (info->outcome != TALUS_OUTCOME_STALLED || s->state != AUTO_THERE) return;
    const int32_t sweeps = info->iterations;
    inner->patience = 0;
    newton->dual.warm = true;
    tl_newton_begin(newton, r, info);
    newton->dual.iterations = sweeps;
    tl_newton_proximal(newton, 0.1, 0);
    tl_dual_end(&newton->dual, r);
}

const tl_solver_ops tl_auto_ops = {.name = "auto",
                                   .summary = "chooses, watches and switches: sweeps, then Newton",
                                   .size = sizeof(auto_solver),
                                   .options_size = sizeof(auto_options),
                                   .options = auto_rows,
                                   .prepare = auto_prepare,
                                   .solve = auto_solve,
                                   .clear = tl_newton_clear};
