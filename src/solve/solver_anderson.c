// SPDX-License-Identifier: Apache-2.0
// anderson: mixing of a fixed-point iteration l ← G(l), G being `steps` iterations of an inner
// solver. With g = G(x), f = g − x, and the differences ΔF, ΔG of the last `depth` of them,
//     γ = argmin |f − ΔF γ|,   y = P(g − ΔG γ)
// replaces g as the next x, if its measure allows [docs/theory/outer-loops.md].
#include "linalg/dense.h"
#include "solve/measure.h"
#include "solve/outer.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct anderson_options {
    tl_outer_options outer;
    int32_t steps;
    int32_t depth;
} anderson_options;

enum {
    ANDERSON_DEPTH = 50, // most
    ANDERSON_PHASE = 20, // iterations without progress that end a phase of the first round
};
#define ANDERSON_BOLD 10.0      // a mixed point may be this much worse in a bold phase
#define ANDERSON_LOST 1000.0    // an iterate this much worse than the best is given up
#define ANDERSON_PROGRESS 0.9   // progress: the best measure fell below this share
#define ANDERSON_REGULAR 1e-10  // added to the diagonal of the normal equations, scaled to 1
#define ANDERSON_SINGULAR 1e-14 // pivot that counts as zero there

#define ROW(f, kind, initial, ...) TL_ROW(anderson_options, f, kind, initial, __VA_ARGS__)
static const tl_option anderson_rows[] = {
    TL_OUTER_ROWS("solver whose iterations are mixed"),
    ROW(steps, TL_OPTION_INTEGER, "1", .low = 1, .high = 1000000,
        .text = "inner iterations that make up one iteration"),
    ROW(depth, TL_OPTION_INTEGER, "10", .low = 0, .high = ANDERSON_DEPTH,
        .text = "earlier iterations that are mixed in; 0: none"),
    {0},
};

// Vectors of the base.
enum { X, G, F, U, OLD_G, OLD_F, MIXED, MIXED_U, ANDERSON_VECTORS };

typedef enum anderson_phase { BOLD, CAUTIOUS, PLAIN } anderson_phase;

typedef struct anderson {
    tl_outer outer;
    double *df, *dg; // the history: `depth` vectors each, used as rings
    double gram[ANDERSON_DEPTH * ANDERSON_DEPTH]; // ΔFᵀΔF
    // The running solve.
    int32_t count, next; // vectors in the history, place of the next one
    bool has_old;        // OLD_F and OLD_G are those of the last iteration
    anderson_phase phase;
    int32_t patience; // iterations without progress that end a phase
    double mark;      // the best measure at the last progress,
    int32_t mark_at;  // and its iteration, or that of the last change of phase
} anderson;

static void anderson_clear(talus_solver *base) {
    anderson *a = (anderson *)base;
    tl_free(base->ctx, a->df);
    tl_free(base->ctx, a->dg);
    a->df = a->dg = NULL;
    tl_outer_clear(base);
}

static talus_status anderson_prepare(talus_solver *base, const talus_problem *p) {
    anderson *a = (anderson *)base;
    const anderson_options *opt = base->options;
    TL_TRY(tl_outer_prepare(base, p, ANDERSON_VECTORS, false));
    TL_TRY(TL_ALLOC(base->ctx, opt->depth * a->outer.dual.size, &a->df));
    TL_TRY(TL_ALLOC(base->ctx, opt->depth * a->outer.dual.size, &a->dg));
    // A solver returns the best iterate it met. By the rule `change` the start counts as infinitely
    // bad, so that of one iteration the result comes back, whatever its measure.
    return tl_outer_prepare_inner(&a->outer, TL_MEASURE_CHANGE);
}

static void anderson_refresh(talus_solver *base) {
    anderson *a = (anderson *)base;
    tl_dual_refresh(base);
    tl_problem_view_renew(&a->outer.view);
    a->outer.inner->ops->refresh(a->outer.inner);
}

static void anderson_forget(anderson *a) { a->count = a->next = 0; }

// F of this iteration, and its difference to the last one into the history.
static void anderson_record(anderson *a) {
    const anderson_options *opt = a->outer.dual.base.options;
    const tl_dual *s = &a->outer.dual;
    double *const *v = s->vector;
    for (int64_t k = 0; k < s->size; k++) v[F][k] = v[G][k] - v[X][k];
    if (a->has_old) {
        const int32_t at = a->next;
        double *df = a->df + at * s->size, *dg = a->dg + at * s->size;
        for (int64_t k = 0; k < s->size; k++) {
            df[k] = v[F][k] - v[OLD_F][k];
            dg[k] = v[G][k] - v[OLD_G][k];
        }
        a->next = (at + 1) % opt->depth;
        if (a->count < opt->depth) a->count++;
        for (int32_t j = 0; j < a->count; j++) {
            const double dot = tl_dual_dot(s, df, a->df + j * s->size);
            a->gram[at * ANDERSON_DEPTH + j] = a->gram[j * ANDERSON_DEPTH + at] = dot;
        }
    }
    memcpy(v[OLD_F], v[F], (size_t)s->size * sizeof *v[F]);
    memcpy(v[OLD_G], v[G], (size_t)s->size * sizeof *v[G]);
    a->has_old = true;
}

// γ by the normal equations, their columns scaled to length 1. False when they are singular.
static bool anderson_weights(const anderson *a, double *gamma) {
    const tl_dual *s = &a->outer.dual;
    const int32_t n = a->count;
    double m[ANDERSON_DEPTH * ANDERSON_DEPTH], root[ANDERSON_DEPTH];
    for (int32_t i = 0; i < n; i++) {
        root[i] = sqrt(a->gram[i * ANDERSON_DEPTH + i]);
        if (!(root[i] > 0.0)) return false;
        gamma[i] = tl_dual_dot(s, s->vector[F], a->df + i * s->size) / root[i];
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++)
            m[i * n + j] = a->gram[i * ANDERSON_DEPTH + j] / (root[i] * root[j]);
        m[i * n + i] += ANDERSON_REGULAR;
    }
    if (tl_spd_block_factor(n, m, ANDERSON_SINGULAR) >= 0) return false;
    tl_spd_block_solve(n, m, 1, gamma, n);
    for (int32_t i = 0; i < n; i++) gamma[i] /= root[i];
    return true;
}

// The mixed point, on the cones, and its measure; INFINITY where there is none.
static double anderson_mix(anderson *a, tl_measure measure) {
    tl_dual *s = &a->outer.dual;
    double *const *v = s->vector, gamma[ANDERSON_DEPTH];
    if (a->count == 0 || !anderson_weights(a, gamma)) return INFINITY;
    memcpy(v[MIXED], v[G], (size_t)s->size * sizeof *v[G]);
    for (int32_t j = 0; j < a->count; j++)
        for (int64_t k = 0; k < s->size; k++) v[MIXED][k] -= gamma[j] * a->dg[j * s->size + k];
    const int d = s->w.dim;
    for (int32_t row = 0; row < s->w.problem->count; row++) {
        double *y = v[MIXED] + (int64_t)d * row;
        tl_project(d, &s->law[row], y, y);
    }
    tl_outer_velocity(&a->outer, v[MIXED], v[MIXED_U]);
    return tl_dual_measure(s, measure, v[MIXED], v[MIXED_U], NULL);
}

// Phases follow each other when there is no progress: bold ones pass over humps of the measure,
// cautious ones do not wander, and plain ones are as good as the inner solver, given time; so each
// round has longer ones. A bold phase that has gone astray goes back to the best iterate: true.
static bool anderson_change_phase(anderson *a, double measure) {
    tl_dual *s = &a->outer.dual;
    const bool lost = a->phase == BOLD && !(measure <= ANDERSON_LOST * s->best_measure);
    if (s->best_measure < ANDERSON_PROGRESS * a->mark) {
        a->mark = s->best_measure;
        a->mark_at = s->iterations;
    }
    if (!lost && s->iterations - a->mark_at <= a->patience) return false;
    if (lost) memcpy(s->vector[G], s->best, (size_t)s->size * sizeof *s->best);
    if (a->phase == PLAIN && a->patience < INT32_MAX / 2) a->patience *= 2;
    a->phase = a->phase == BOLD ? CAUTIOUS : a->phase == CAUTIOUS ? PLAIN : BOLD;
    a->mark_at = s->iterations;
    a->has_old = false;
    anderson_forget(a);
    return lost;
}

// Where the next iteration starts from, G being the result of this one at `measure`.
static const double *anderson_next(anderson *a, double measure) {
    const tl_dual *s = &a->outer.dual;
    const anderson_options *opt = s->base.options;
    tl_measure judge = (tl_measure)opt->outer.common.stop;
    if (opt->depth == 0 || anderson_change_phase(a, measure) || a->phase == PLAIN)
        return s->vector[G];
    anderson_record(a);
    if (tl_measure_is_change(judge)) { // says nothing about a point
        judge = TL_MEASURE_NATURAL;
        measure = tl_dual_measure(s, judge, s->vector[G], s->vector[U], NULL);
    }
    if (anderson_mix(a, judge) < (a->phase == BOLD ? ANDERSON_BOLD : 1.0) * measure)
        return s->vector[MIXED];
    anderson_forget(a);
    return s->vector[G];
}

static void anderson_solve(talus_solver *base, double *r, talus_solve_info *info) {
    anderson *a = (anderson *)base;
    tl_dual *s = &a->outer.dual;
    const anderson_options *opt = base->options;
    double *g = s->vector[G], *u = s->vector[U], *x = s->vector[X], *before = NULL;
    anderson_forget(a);
    a->has_old = false;
    a->phase = BOLD;
    a->patience = ANDERSON_PHASE;
    a->mark = INFINITY;
    a->mark_at = 0;
    tl_dual_begin(s, r, g, info);
    tl_outer_velocity(&a->outer, g, u);
    while (!tl_dual_over(s, g, u, before)) {
        const double *from = before ? anderson_next(a, tl_outer_measure(&a->outer, g, u, x)) : g;
        if (from != g) memcpy(g, from, (size_t)s->size * sizeof *g);
        memcpy(x, g, (size_t)s->size * sizeof *g);
        before = x;
        for (int32_t k = 0; k < opt->steps; k++) {
            tl_outer_inner(&a->outer, DBL_MIN, 1, g);
            if (tl_outer_interrupted(&a->outer)) break;
        }
        tl_outer_velocity(&a->outer, g, u);
    }
    tl_dual_end(s, r);
}

const tl_solver_ops tl_anderson_ops = {
    .name = "anderson",
    .summary = "Anderson mixing of the iterations of another solver",
    .size = sizeof(anderson),
    .options_size = sizeof(anderson_options),
    .options = anderson_rows,
    .prepare = anderson_prepare,
    .solve = anderson_solve,
    .clear = anderson_clear,
    .refresh = anderson_refresh,
};
