// SPDX-License-Identifier: Apache-2.0
#include "problem/view.h"
#include <string.h>

void tl_problem_view_clear(talus_context *ctx, tl_problem_view *v) {
    if (v->of) { // what is borrowed is not ours to free
        tl_free(ctx, v->problem.own.mu);
        tl_free(ctx, v->problem.own.dilatancy);
        tl_free(ctx, v->problem.own.yield);
        tl_free(ctx, v->problem.q);
        tl_free(ctx, v->problem.own.w);
        tl_free(ctx, v->free);
    }
    memset(v, 0, sizeof *v);
}

// What the state of a global problem adds to H v is w: it moves with q.
static void view_move_w(tl_problem_view *v) {
    const int64_t size = (int64_t)v->of->dim * v->of->count;
    for (int64_t k = 0; v->problem.own.w && k < size; k++)
        v->problem.own.w[k] = v->of->w[k] + (v->problem.q[k] - v->of->q[k]);
}

static void view_copy_laws(tl_problem_view *v) {
    for (int32_t i = 0; i < v->of->count; i++) {
        const tl_law law = tl_problem_law(v->of, i);
        v->problem.own.mu[i] = law.mu;
        v->problem.own.yield[i] = law.yield;
        if (v->problem.dilatancy) v->problem.own.dilatancy[i] = law.zeta;
    }
}

talus_status tl_problem_view_init(talus_context *ctx, const talus_problem *of, bool associated,
                                  tl_problem_view *out) {
    tl_problem_view *v = out;
    const int64_t size = (int64_t)of->dim * of->count;
    talus_problem *p = &v->problem;
    double *r = NULL;
    talus_status status = TALUS_OK;
    *v = (tl_problem_view){0};
    TL_TRY(tl_problem_wake(of));
    TL_TRY(tl_problem_write_h(of)); // once for all views
    *v = (tl_problem_view){.problem = *of, .of = of};
    p->own = (tl_problem_own){0};
    p->changes = true;
    p->condensed = NULL; // has another q and law
    if (associated) p->law = TALUS_LAW_ASSOCIATED;
    const bool dilates = p->law == TALUS_LAW_COULOMB && of->dilatancy;
    p->q = NULL;
    p->tension = NULL;
    TL_GOTO(TL_ALLOC(ctx, of->count, &p->own.mu));
    TL_GOTO(TL_ALLOC(ctx, of->count, &p->own.yield));
    if (dilates) TL_GOTO(TL_ALLOC(ctx, of->count, &p->own.dilatancy));
    TL_GOTO(TL_ALLOC(ctx, size, &p->q));
    TL_GOTO(TL_ALLOC(ctx, size, &v->free));
    if (of->is_global) TL_GOTO(TL_ALLOC(ctx, size, &p->own.w));
    p->mu = p->own.mu;
    p->yield = p->own.yield;
    p->dilatancy = p->own.dilatancy;
    p->w = p->own.w;
    view_copy_laws(v);
    if (size > 0) memcpy(v->free, of->q, (size_t)size * sizeof *of->q);
    if (of->tension) {
        TL_GOTO(TL_ALLOC(ctx, size, &r));
        for (int32_t i = 0; i < of->count; i++) r[(int64_t)of->dim * i] = -of->tension[i];
        TL_GOTO(talus_problem_state(of, r, NULL, v->free, NULL));
    }
    if (size > 0) memcpy(p->q, v->free, (size_t)size * sizeof *p->q);
    view_move_w(v);
done:
    tl_free(ctx, r);
    if (status != TALUS_OK) tl_problem_view_clear(ctx, v);
    return status;
}

void tl_problem_view_renew(tl_problem_view *v) {
    const int64_t size = (int64_t)v->of->dim * v->of->count;
    view_copy_laws(v);
    // A problem that changes is itself a view, and those have no tension.
    memcpy(v->free, v->of->q, (size_t)size * sizeof *v->free);
    memcpy(v->problem.q, v->free, (size_t)size * sizeof *v->free);
    view_move_w(v);
}

void tl_problem_view_shift(tl_problem_view *v, const double *shift) {
    for (int32_t i = 0; i < v->of->count; i++) {
        const int64_t at = (int64_t)v->of->dim * i;
        v->problem.q[at] = v->free[at] + shift[i];
    }
    view_move_w(v);
}
