// SPDX-License-Identifier: Apache-2.0
#include "solve/outer.h"
#include "base/timer.h"
#include <math.h>
#include <string.h>

const char *tl_outer_inner_name(int k) {
    for (int i = 0; tl_solver_registry[i]; i++)
        if (tl_solver_registry[i]->refresh && k-- == 0) return tl_solver_registry[i]->name;
    return NULL;
}

void tl_outer_clear(talus_solver *base) {
    tl_outer *s = (tl_outer *)base;
    talus_solver_destroy(s->inner);
    s->inner = NULL;
    tl_problem_view_clear(base->ctx, &s->view);
    tl_free(base->ctx, s->shifted);
    s->shifted = NULL;
    tl_dual_clear(base);
}

talus_status tl_outer_prepare(talus_solver *base, const talus_problem *p, int vectors,
                              bool associated) {
    tl_outer *s = (tl_outer *)base;
    const tl_outer_options *opt = base->options;
    TL_TRY(tl_dual_prepare_judge(base, p, vectors, opt->warm));
    TL_TRY(tl_problem_view_init(base->ctx, p, associated, &s->view));
    if (p->tension) TL_TRY(TL_ALLOC(base->ctx, (int64_t)p->dim * p->count, &s->shifted));
    return TALUS_OK;
}

talus_status tl_inner_create(const talus_solver *outer, int32_t k, tl_measure stop,
                             const talus_problem *p, talus_solver **out) {
    const tl_common_options *opt = outer->options;
    TL_TRY(talus_solver_create(outer->ctx, tl_outer_inner_name(k), out));
    tl_common_options *inner = (*out)->options;
    inner->stop = (int32_t)stop;
    inner->threads = opt->threads;
    inner->check = opt->check;
    TL_TRY(talus_solver_prepare(*out, p));
    (*out)->prepare_seconds = 0.0; // it is in that of the outer one; limits are what is left
    return TALUS_OK;
}

talus_status tl_outer_prepare_inner(tl_outer *s, tl_measure stop) {
    const tl_outer_options *opt = s->dual.base.options;
    return tl_inner_create(&s->dual.base, opt->inner, stop, &s->view.problem, &s->inner);
}

void tl_outer_velocity(const tl_outer *s, const double *l, double *u) {
    const talus_problem *p = s->dual.w.problem;
    const int64_t size = (int64_t)p->dim * p->count;
    const double *r = l;
    if (p->tension) {
        memcpy(s->shifted, l, (size_t)size * sizeof *l);
        for (int32_t i = 0; i < p->count; i++) s->shifted[(int64_t)p->dim * i] -= p->tension[i];
        r = s->shifted;
    }
    // A factor that fails now has been good before: what comes of it is told by the measure.
    if (talus_problem_state(p, r, NULL, u, NULL) != TALUS_OK)
        for (int64_t k = 0; k < size; k++) u[k] = NAN;
}

double tl_outer_measure(const tl_outer *s, const double *l, const double *u, const double *before) {
    const tl_common_options *opt = s->dual.base.options;
    return s->dual.due ? s->dual.measure
                       : tl_dual_measure(&s->dual, (tl_measure)opt->stop, l, u, before);
}

// Seconds since prepare began, without those between it and the solve.
static double outer_gone(const tl_dual *s) {
    return tl_seconds() - s->start + s->base.prepare_seconds;
}

bool tl_outer_interrupted(const tl_outer *s) {
    const tl_common_options *opt = s->dual.base.options;
    return tl_cancelled(s->dual.base.ctx) || outer_gone(&s->dual) > opt->time_limit;
}

int32_t tl_inner_solve(const tl_dual *s, talus_solver *inner, double tolerance, int32_t iterations,
                       double *r) {
    const tl_common_options *opt = s->base.options;
    tl_common_options *limits = inner->options;
    talus_solve_info info = {.outcome = TALUS_OUTCOME_SOLVED};
    limits->tolerance = tolerance;
    limits->iterations = iterations;
    limits->time_limit = TL_MAX(opt->time_limit - outer_gone(s), 0.0);
    inner->ops->solve(inner, r, &info);
    s->info->local_solves += info.local_solves;
    s->info->local_failures += info.local_failures;
    s->info->local_saves += info.local_saves;
    return info.iterations;
}

int32_t tl_outer_inner(tl_outer *s, double tolerance, int32_t iterations, double *l) {
    return tl_inner_solve(&s->dual, s->inner, tolerance, iterations, l);
}
