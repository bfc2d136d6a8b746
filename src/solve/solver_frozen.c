// SPDX-License-Identifier: Apache-2.0
// Outer fixed points that freeze one number per block, so that what is left is an associated law, a
// convex problem, which an inner solver solves; then the number is read off the solution, and again
// [docs/theory/outer-loops.md]:
//     cadoux      s = (mu − zeta) |u_T|: the cone stays, q is shifted by s n
//     haslinger   s = (mu − zeta) l_N:   the set becomes |x_T| <= (yield + s) + zeta x_N, which for
//                 zeta = 0 is the cylinder of Tresca's law
// A fixed point obeys the law. s is relaxed by ω, halved when s has turned back and the measure has
// grown.
#include "solve/outer.h"
#include <math.h>

typedef struct frozen_options {
    tl_outer_options outer;
    int32_t inner_iterations;
    double accuracy;
    double relaxation;
    double settled;
} frozen_options;

#define ROW(f, kind, initial, ...) TL_ROW(frozen_options, f, kind, initial, __VA_ARGS__)
static const tl_option frozen_rows[] = {
    TL_OUTER_ROWS("solver of the convex problems; `iterations` counts these problems"),
    ROW(inner_iterations, TL_OPTION_INTEGER, "100", .low = 1, .high = INT32_MAX,
        .text =
            "most iterations of the inner solver in one of them; doubled, up to 100 times this, "
            "while that brings no progress"),
    ROW(accuracy, TL_OPTION_NUMBER, "0.1", .low = 0.0, .high = 1.0, .above = true,
        .text = "tolerance of the inner solver, as a share of the measure reached so far"),
    ROW(relaxation, TL_OPTION_NUMBER, "1", .low = 0.0, .high = 1.0, .above = true,
        .text = "largest share of a change of the frozen numbers that is taken over"),
    ROW(settled, TL_OPTION_NUMBER, "0", .low = 0.0, .high = INFINITY,
        .text = "also stop when the frozen |u_T| (or l_N) changes by at most this, over its norm + "
                "1; 0: never"),
    {0},
};

enum {
    FROZEN_VECTORS = 3,
    FROZEN_IDLE = 100, // problems without progress after which the largest ω is halved
};
#define FROZEN_LEAST 0x1p-6 // least ω
#define FROZEN_PROGRESS 0.9 // progress: the best measure fell below this share
#define FROZEN_LONGER 100.0 // to how many times its limit the inner solver may go

typedef struct frozen {
    tl_outer outer;
    bool tangential; // |u_T| is frozen (cadoux), else l_N (haslinger)
    double *s;       // count: the numbers
    double *step;    // count: where the last solution would have them go
} frozen;

static void frozen_clear(talus_solver *base) {
    frozen *f = (frozen *)base;
    tl_free(base->ctx, f->s);
    tl_free(base->ctx, f->step);
    f->s = f->step = NULL;
    tl_outer_clear(base);
}

// Give the view the law for the numbers s.
static void frozen_impose(frozen *f) {
    tl_problem_view *v = &f->outer.view;
    for (int32_t i = 0; i < v->of->count && !f->tangential; i++)
        v->problem.own.yield[i] = f->outer.dual.law[i].yield + f->s[i];
    if (f->tangential) tl_problem_view_shift(v, f->s);
}

// step = s(l, u) − s; returns its product with the step before.
static double frozen_step(frozen *f, const double *l, const double *u) {
    const int d = f->outer.dual.w.dim;
    double product = 0.0;
    for (int32_t i = 0; i < f->outer.view.of->count; i++) {
        const double factor = tl_shift_coefficient(&f->outer.dual.law[i]);
        const double *ui = u + (int64_t)d * i, normal = l[(int64_t)d * i];
        const double now = f->tangential ? tl_norm_t(d, ui) : TL_MAX(normal, 0.0);
        const double step = factor * now - f->s[i];
        product += step * f->step[i];
        f->step[i] = step;
    }
    return product;
}

// The frozen velocities (or impulses) a change by at most `settled` (|a| + 1) in a solution: the
// published rule of a fixed point.
static bool frozen_settled(const frozen *f, const double *l, const double *u, double settled) {
    const int d = f->outer.dual.w.dim;
    double change = 0.0, norm = 0.0;
    for (int32_t i = 0; i < f->outer.view.of->count; i++) {
        const double factor = tl_shift_coefficient(&f->outer.dual.law[i]);
        if (!(factor > 0.0)) continue;
        const double *ui = u + (int64_t)d * i, normal = l[(int64_t)d * i];
        const double now = f->tangential ? tl_norm_t(d, ui) : TL_MAX(normal, 0.0);
        const double frozen_at = f->s[i] / factor;
        change += (now - frozen_at) * (now - frozen_at);
        norm += frozen_at * frozen_at;
    }
    return sqrt(change) <= settled * (sqrt(norm) + 1.0);
}

// Nothing is known at a start of zero: then the first problem is the one with s = 0, for q, the
// velocity without any impulse, would be a poor guess of the sliding.
static bool frozen_knows(const frozen *f, bool warm, const double *r) {
    const int64_t size = (int64_t)f->outer.dual.w.dim * f->outer.view.of->count;
    for (int64_t k = 0; warm && k < size; k++)
        if (r[k] != 0.0) return true;
    return false;
}

static talus_status frozen_prepare(talus_solver *base, const talus_problem *p, bool tangential) {
    frozen *f = (frozen *)base;
    const tl_common_options *opt = base->options;
    f->tangential = tangential;
    TL_TRY(tl_outer_prepare(base, p, FROZEN_VECTORS, true));
    TL_TRY(TL_ALLOC(base->ctx, p->count, &f->s));
    TL_TRY(TL_ALLOC(base->ctx, p->count, &f->step));
    // With mu = inf no number matters and the law stays. The inner solver is shown a problem of the
    // kind that it will get, so that it can refuse it.
    for (int32_t i = 0; i < p->count; i++) {
        const tl_law *law = &f->outer.dual.law[i];
        if (!tangential && !isinf(law->mu)) f->outer.view.problem.own.mu[i] = law->zeta;
        f->s[i] = tl_shift_coefficient(law);
    }
    frozen_impose(f);
    return tl_outer_prepare_inner(&f->outer, (tl_measure)opt->stop);
}

static void frozen_solve(talus_solver *base, double *r, talus_solve_info *info) {
    frozen *f = (frozen *)base;
    tl_dual *s = &f->outer.dual;
    const frozen_options *opt = base->options;
    const double tolerance = opt->outer.common.tolerance;
    const bool squared = opt->outer.common.stop == TL_MEASURE_FB;
    const double most = fmin(FROZEN_LONGER * opt->inner_iterations, 0x1p30);
    double limit = opt->inner_iterations, mark = INFINITY; // inner iterations; the best before
    double *l = s->vector[0], *u = s->vector[1], *old = s->vector[2], *before = NULL;
    double omega = 1.0, ceiling = opt->relaxation, accuracy = opt->accuracy, last = INFINITY;
    double good = INFINITY; // the best measure at the last progress,
    int32_t idle = 0;       // and the convex problems since
    const int32_t count = f->outer.view.of->count;
    const bool known = frozen_knows(f, opt->outer.warm, r);
    TL_ASSUME(old);
    tl_dual_begin(s, r, l, info);
    tl_outer_velocity(&f->outer, l, u);
    for (int32_t i = 0; i < count; i++) f->s[i] = f->step[i] = 0.0;
    while (!tl_dual_over(s, l, u, before)) {
        const double measure = tl_outer_measure(&f->outer, l, u, before);
        if (s->best_measure < FROZEN_PROGRESS * good) {
            good = s->best_measure;
            idle = 0;
        } else if (++idle > FROZEN_IDLE) { // it circles
            ceiling = TL_MAX(0.5 * ceiling, FROZEN_LEAST);
            idle = 0;
        }
        if (before || known) {
            const bool turned = frozen_step(f, l, u) < 0.0;
            if (before) // else s is read off the start as it is
                omega = turned && measure > last ? TL_MAX(0.5 * omega, FROZEN_LEAST)
                                                 : fmin(1.25 * omega, ceiling);
            for (int32_t i = 0; i < count; i++) f->s[i] += omega * f->step[i];
        }
        last = measure;
        frozen_impose(f);
        f->outer.inner->ops->refresh(f->outer.inner);
        before = old;
        for (int64_t k = 0; k < s->size; k++) old[k] = l[k];
        const double share = squared ? accuracy * accuracy : accuracy;
        const double goal = share * TL_MAX(tolerance, fmin(measure, 1.0));
        const int32_t steps = tl_outer_inner(&f->outer, goal, (int32_t)limit, l);
        tl_outer_velocity(&f->outer, l, u);
        // Where nothing was left to do to that accuracy, a finer one must come next; where much was
        // done for nothing, the inner solver needs longer to come off a plateau.
        if (steps == 0) accuracy *= 0.1;
        if (steps >= limit && limit < most && s->best_measure > FROZEN_PROGRESS * mark)
            limit *= 2.0;
        mark = s->best_measure;
        if (opt->settled > 0.0 && frozen_settled(f, l, u, opt->settled)) {
            tl_dual_finish(s, l, u, before, true);
            break;
        }
    }
    tl_dual_end(s, r);
}

#define FROZEN(id, text, tangential)                                                               \
    static talus_status id##_prepare(talus_solver *s, const talus_problem *p) {                    \
        return frozen_prepare(s, p, tangential);                                                   \
    }                                                                                              \
    const tl_solver_ops tl_##id##_ops = {.name = #id,                                              \
                                         .summary = text,                                          \
                                         .size = sizeof(frozen),                                   \
                                         .options_size = sizeof(frozen_options),                   \
                                         .options = frozen_rows,                                   \
                                         .prepare = id##_prepare,                                  \
                                         .solve = frozen_solve,                                    \
                                         .clear = frozen_clear};

FROZEN(cadoux, "fixed point on the sliding velocities over any convex solver", true)
FROZEN(haslinger, "fixed point on the normal impulses (Tresca problems) over any convex solver",
       false)
