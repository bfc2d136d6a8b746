// SPDX-License-Identifier: Apache-2.0
// Feasibility by regularisation [docs/theory/interior-points.md]. For ε > 0 the convex problem
//     min ½ r·(W + ε Λ) r + q·r,  r ∈ K,    Λ = diag(λ_i)
// has one solution r(ε), and W r + q + ε Λ r ∈ K*: ε Λ r is what the velocity W r + q lacks. As
// ε → 0, r(ε) = g/ε + r₀ + O(ε), where Λ g is the least that is lacking. If g = 0, r stays bounded
// and W r + q tends to an allowed velocity. If not, W g = 0, g ∈ K and q·g = −g·Λ g < 0: g is
// Farkas' witness. The difference of two r(ε) has no r₀ in it, and is g up to O(ε²).
#include "solve/feasible.h"
#include "solve/interior.h"
#include "talus/solver.h"
#include <string.h>

enum { FEASIBLE_ROUNDS = 4, FEASIBLE_STEPS = 100 };
#define FEASIBLE_FIRST 0x1p-14    // ε of the first round,
#define FEASIBLE_FACTOR 0x1p-6    // and from one to the next
#define FEASIBLE_ERROR 1e-9       // of the convex problem, of the largest |q_i|
#define FEASIBLE_ROUNDING 0x1p-49 // in u, of λmax |r|
#define FEASIBLE_MISSED 1e-6      // what may be lacking, of the same
#define FEASIBLE_BOUNDED 1.5      // growth of r from one round to the next
// A witness tells that any allowed velocity needs impulses x with |x| >= −q·r/|W r|; so many times
// |q|/λmax there are none.
#define FEASIBLE_BEYOND 1e8
#define FEASIBLE_CLEAR 1e-6 // least −q·r of a witness, of |q|

typedef struct feasible_work {
    tl_interior *s;
    double most_q, lambda;        // max |q_i|, max λ_i
    double *r, *before, *u, *sum; // d * rows; sum = u + ε Λ r
    double *ridge;                // rows
} feasible_work;

// The same problem with the cones of `set`, associated, and r unshifted; `mu` is the new array.
static talus_problem feasible_view(const talus_problem *p, tl_feasible_set set, double *mu) {
    talus_problem view = *p;
    view.condensed = NULL;
    for (int32_t i = 0; i < p->count; i++) {
        const tl_law law = tl_problem_law(p, i);
        mu[i] = set == TL_FEASIBLE_CONE || isinf(law.mu) ? law.mu : law.zeta;
    }
    view.law = TALUS_LAW_ASSOCIATED;
    view.mu = mu;
    view.dilatancy = view.yield = view.tension = NULL;
    return view;
}

// r(ε). The start is as large as r(ε) can be, |q|/(ε λ_i), and so are the velocities: from there an
// interior point goes down without trouble, while it may get stuck on the way up. False when it
// does not arrive.
static bool feasible_round(feasible_work *w, double epsilon) {
    tl_interior *s = w->s;
    const int d = s->dual.w.dim;
    memset(w->r, 0, (size_t)s->dual.size * sizeof *w->r);
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        w->ridge[i] = epsilon * s->dual.lambda[i];
        w->r[(int64_t)d * i] = w->most_q / w->ridge[i];
    }
    s->ridge = w->ridge;
    for (int step = 0; step <= FEASIBLE_STEPS; step++) {
        tl_dual_apply(&s->dual, w->r, w->u);
        for (int64_t k = 0; k < s->dual.size; k++) w->sum[k] = w->u[k] + w->ridge[k / d] * w->r[k];
        const double error = tl_interior_error(s, w->r, w->sum);
        const double rounding =
            FEASIBLE_ROUNDING * w->lambda * sqrt(tl_dual_dot(&s->dual, w->r, w->r));
        if (error <= FEASIBLE_ERROR * w->most_q + rounding) return true;
        if (tl_cancelled(s->dual.base.ctx)) return false;
        if (step == 0) {
            tl_interior_start(s, error, w->r, w->sum);
            tl_dual_apply(&s->dual, w->r, w->u);
        }
        if (!(tl_interior_step(s, w->r, w->u) > 0.0)) return false;
    }
    return false;
}

// Whether the direction of r − before is a witness; it is left in `sum`, of length 1.
static bool feasible_witness(feasible_work *w) {
    const tl_dual *dual = &w->s->dual;
    const tl_common_options *opt = dual->base.options;
    const int d = dual->w.dim;
    for (int64_t k = 0; k < dual->size; k++) w->sum[k] = w->r[k] - w->before[k];
    for (int32_t i = 0; i < dual->w.problem->count; i++)
        tl_project(d, &dual->law[i], w->sum + (int64_t)d * i, w->sum + (int64_t)d * i);
    const double size = sqrt(tl_dual_dot(dual, w->sum, w->sum));
    if (!(size > 0.0)) return false;
    for (int64_t k = 0; k < dual->size; k++) w->sum[k] /= size;
    const double less = -tl_dual_dot(dual, dual->w.q, w->sum);
    const double q = sqrt(tl_dual_dot(dual, dual->w.q, dual->w.q));
    tl_delassus_apply(&dual->w, opt->threads, false, w->sum, w->u);
    const double moved = sqrt(tl_dual_dot(dual, w->u, w->u));
    return less > FEASIBLE_CLEAR * q && less * w->lambda >= FEASIBLE_BEYOND * q * moved;
}

// ε Λ r is little, and r no longer grows as ε falls (or never grew).
static bool feasible_reached(const feasible_work *w) {
    const tl_dual *dual = &w->s->dual;
    const int d = dual->w.dim;
    double missed = 0.0;
    for (int32_t i = 0; i < dual->w.problem->count; i++)
        missed = TL_MAX(missed, w->ridge[i] * tl_norm(d, w->r + (int64_t)d * i));
    return missed <= FEASIBLE_MISSED * w->most_q &&
           sqrt(tl_dual_dot(dual, w->r, w->r)) <=
               FEASIBLE_BOUNDED * sqrt(tl_dual_dot(dual, w->before, w->before)) +
                   w->most_q / w->lambda;
}

static tl_feasibility feasible_decide(feasible_work *w, double *witness) {
    const tl_dual *dual = &w->s->dual;
    const int d = dual->w.dim;
    const int32_t count = dual->w.problem->count;
    double epsilon = FEASIBLE_FIRST;
    for (int32_t i = 0; i < count; i++) {
        w->most_q = TL_MAX(w->most_q, tl_norm(d, dual->w.q + (int64_t)d * i));
        w->lambda = TL_MAX(w->lambda, dual->lambda[i]);
    }
    if (!(w->most_q > 0.0)) return TL_FEASIBLE; // u = 0 at r = 0
    for (int round = 0; round < FEASIBLE_ROUNDS; round++, epsilon *= FEASIBLE_FACTOR) {
        memcpy(w->before, w->r, (size_t)dual->size * sizeof *w->r);
        if (!feasible_round(w, epsilon)) return TL_UNDECIDED;
        if (feasible_reached(w)) return TL_FEASIBLE;
        if (round > 0 && feasible_witness(w)) {
            memcpy(witness, w->sum, (size_t)d * (size_t)count * sizeof *witness);
            return TL_INFEASIBLE;
        }
    }
    return TL_UNDECIDED;
}

talus_status tl_feasible(talus_context *ctx, const talus_problem *p, tl_feasible_set set,
                         tl_feasibility *out, double *witness) {
    feasible_work w = {0};
    talus_solver *solver = NULL;
    double *mu = NULL, *pool = NULL;
    talus_problem view;
    talus_status status = TALUS_OK;
    *out = TL_UNDECIDED;
    memset(witness, 0, (size_t)p->dim * (size_t)p->count * sizeof *witness);
    TL_GOTO(TL_ALLOC(ctx, p->count, &mu));
    view = feasible_view(p, set, mu);
    TL_GOTO(talus_solver_create(ctx, "ipm", &solver));
    TL_GOTO(talus_solver_prepare(solver, &view));
    w.s = (tl_interior *)solver;
    const int64_t size = w.s->dual.size;
    TL_GOTO(TL_ALLOC(ctx, 4 * size + w.s->dual.plan.rows, &pool));
    w.r = pool;
    w.before = pool + size;
    w.u = pool + 2 * size;
    w.sum = pool + 3 * size;
    w.ridge = pool + 4 * size;
    *out = feasible_decide(&w, witness);
done:
    talus_solver_destroy(solver);
    tl_free(ctx, mu);
    tl_free(ctx, pool);
    return status;
}
