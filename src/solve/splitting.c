// SPDX-License-Identifier: Apache-2.0
// Set-up of the splitting methods, and the loop of sweeps and checks; the sweeps themselves are in
// sweep.c.
#include "solve/splitting.h"
#include "base/thread.h"
#include "base/timer.h"
#include "linalg/dense.h"
#include "linalg/dense_inline.h"
#include "solve/gradient.h"
#include "solve/measure.h"
#include "solve/sweep.h"
#include <math.h>
#include <string.h>

// Below this many blocks a sweep costs less than the barriers and the reordering would.
enum { COLOUR_FROM = 1024, CHECK_SHARE = 32 };
#define RELAXED_INERTIA 0.98 // under the associated law
// Momentum that follows the sweeps: cosines of Δr and p above which its share rises and below which
// it falls, how fast, from which to which; and how much of the mean cosine is the last one.
#define FOLLOW_SLOW 0.95
#define FOLLOW_BUSY 0.8
#define FOLLOW_RATE 0.03
#define FOLLOW_LEAST 0.3
#define FOLLOW_MOST 0.98
#define FOLLOW_NEWS 0.2
// Where blocks act on many bodies: a share of Nesterov's momentum, the proximal term it needs, and
// the sweeps after which the share follows them: most steps of sand are over by then.
#define CROWD_INERTIA 0.85
#define CROWD_PROXIMAL 0.5
enum { CROWD_FOLLOW = 50 };

static const char *splitting_local_name(int k) { return tl_local_solvers[k].name; }

static const char *splitting_form_name(int k) {
    static const char *const name[] = {"auto", "assembled", "matrix-free"};
    return k < 3 ? name[k] : NULL;
}

static const char *splitting_order_name(int k) {
    static const char *const name[] = {"auto", "natural", "coloured"};
    return k < 3 ? name[k] : NULL;
}

static const char *splitting_step_name(int k) {
    static const char *const name[] = {"lambda", "mass"};
    return k < 2 ? name[k] : NULL;
}

#define ROW(f, kind, initial, ...) TL_ROW(tl_splitting_options, f, kind, initial, __VA_ARGS__)
const tl_option tl_splitting_rows[] = {
    ROW(local, TL_OPTION_CHOICE, "hybrid", .choice = splitting_local_name,
        .text = "one-contact solver"),
    ROW(form, TL_OPTION_CHOICE, "auto", .choice = splitting_form_name,
        .text = "keep W by blocks, or only H and M (global problems); auto: assembled, but "
                "matrix-free where blocks act on many bodies, as those of sand do, and neither "
                "for 1024 contacts of rigid bodies or more"),
    ROW(order, TL_OPTION_CHOICE, "auto", .choice = splitting_order_name,
        .text = "order of a sweep: coloured runs on threads and vectors; auto: from 1024 contacts"),
    ROW(sleep, TL_OPTION_INTEGER, "0", .low = 0, .high = 1000000,
        .text = "sweeps for which a contact that has settled is passed over; 0: never"),
    ROW(sleep_level, TL_OPTION_NUMBER, "0.1", .low = 0.0, .high = INFINITY,
        .text = "settled: changed by less than this share of what the tolerance allows"),
    ROW(open, TL_OPTION_INTEGER, "0", .low = 0, .high = 1000000,
        .text = "sweeps for which a contact without impulse is passed over; 0: never; not jacobi"),
    ROW(proximal, TL_OPTION_NUMBER, "0", .low = 0.0, .high = INFINITY,
        .text = "proximal term, in units of tr(W_ii)/d"),
    ROW(relaxation, TL_OPTION_NUMBER, "1", .low = 0.0, .high = 2.0, .above = true,
        .text = "share of the new impulse taken over; jacobi divides it by lambda_max(D^-1 W)"),
    ROW(patience, TL_OPTION_INTEGER, "60", .low = 0, .high = INT32_MAX,
        .text = "sweeps without progress before the proximal term is raised; 0: never"),
    ROW(momentum, TL_OPTION_YES_NO, "yes",
        .text = "carry on the direction of the last sweeps (nonlinear conjugate gradients)"),
    ROW(inertia, TL_OPTION_NUMBER, "-1", .low = -1.0, .high = 1.0,
        .text = "momentum by Nesterov's rule instead, this share of the last step at most; 0: no; "
                "below 0: where blocks act on many bodies, as those of sand do, 0.85 with a "
                "proximal term of 0.5 at least, and 'follow' after 50 sweeps; else no"),
    ROW(follow, TL_OPTION_YES_NO, "no",
        .text =
            "with inertia: it is where the share begins, which then rises while sweeps go on in "
            "the direction of the momentum and falls where they turn from it"),
    ROW(relaxed, TL_OPTION_INTEGER, "0", .low = 0, .high = 1000000,
        .text = "sweeps under the associated law, with full inertia, that a start from zero gets "
                "first"),
    ROW(symmetric, TL_OPTION_YES_NO, "no", .text = "every other sweep backwards"),
    ROW(local_tolerance, TL_OPTION_NUMBER, "1e-10", .low = 0.0, .high = 1.0,
        .text = "relative error the one-contact solver stops at"),
    ROW(local_absolute, TL_OPTION_NUMBER, "0", .low = 0.0, .high = INFINITY,
        .text = "|F|^2 at which it stops too, in the unit of stop = fb; 0: never"),
    ROW(local_iterations, TL_OPTION_INTEGER, "100", .low = 1, .high = 1000000,
        .text = "most steps of the one-contact solver in one visit"),
    ROW(step_rule, TL_OPTION_CHOICE, "lambda", .choice = splitting_step_name,
        .text = "unit of the step of projected one-contact solvers: 1/lambda_max(W_ii), or 1/W_NN "
                "(the reduced mass of two spheres)"),
    ROW(step, TL_OPTION_NUMBER, "1", .low = 0.0, .high = INFINITY, .above = true,
        .text = "their step in that unit"),
    ROW(warm, TL_OPTION_YES_NO, "yes", .text = "start from the impulses given, else from zero"),
    {0},
};

void tl_splitting_clear(talus_solver *base) {
    tl_splitting *s = (tl_splitting *)base;
    talus_context *ctx = base->ctx;
    tl_delassus_clear(&s->w);
    tl_balls_clear(ctx, &s->balls);
    tl_pairs_clear(ctx, &s->pairs);
    tl_plan_clear(ctx, &s->plan);
    tl_graph_clear(ctx, &s->graph);
    double **arrays[] = {&s->block, &s->inverse, &s->law,      &s->rho,  &s->beta, &s->lambda,
                         &s->r,     &s->best,    &s->next,     &s->z,    &s->part, &s->change,
                         &s->push,  &s->z_push,  &s->z_before, &s->glide};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        tl_free(ctx, *arrays[k]);
        *arrays[k] = NULL;
    }
    tl_free(ctx, s->asleep);
    tl_free(ctx, s->known);
    tl_free(ctx, s->axes);
    tl_free(ctx, s->sound);
    s->asleep = NULL;
    s->known = NULL;
    s->axes = NULL;
    s->sound = NULL;
}

// λmax of the symmetric part where something depends on it; else the row-sum bound, far cheaper.
static double splitting_lambda(const tl_splitting *s, const double *a) {
    const tl_splitting_options *opt = s->base.options;
    const int d = s->w.dim;
    double low, high = 0.0;
    if (opt->common.stop == TL_MEASURE_RESIDUAL || !s->local->exact) {
        tl_sym_eigen_range(d, a, &low, &high);
        return high;
    }
    for (int i = 0; i < d; i++) {
        double sum = 0.0;
        for (int j = 0; j < d; j++) sum += fabs(a[i * d + j]);
        high = TL_MAX(high, sum);
    }
    return high;
}

// inverse ← a⁻¹; false when a is singular or as good as that.
static bool splitting_invert(int d, const double *a, double *inverse) {
    double copy[TL_MAX_DIM * TL_MAX_DIM], size = 0.0, inverse_size = 0.0;
    for (int k = 0; k < d * d; k++) {
        copy[k] = a[k];
        inverse[k] = k % (d + 1) == 0 ? 1.0 : 0.0;
        size += a[k] * a[k];
    }
    const bool regular = d == 2   ? tl_small_solve(2, 2, copy, inverse)
                         : d == 3 ? tl_small_solve(3, 3, copy, inverse)
                                  : tl_small_solve(6, 6, copy, inverse);
    for (int k = 0; k < d * d; k++) inverse_size += inverse[k] * inverse[k];
    return regular && size * inverse_size < 1e20;
}

static bool splitting_is_coulomb(const tl_law *law) {
    return law->mu > 0.0 && !isinf(law->mu) && law->zeta == 0.0 && law->yield == 0.0;
}

static bool splitting_is_associated(const tl_law *law) {
    return law->mu > 0.0 && !isinf(law->mu) && law->zeta == law->mu && law->yield == 0.0;
}

// Whether block `a` of a row has a quick way under this law, which needs no inverse but for d = 2.
static bool splitting_know(tl_splitting *s, int32_t row, const tl_law *law, const double *a) {
    const bool coulomb = splitting_is_coulomb(law);
    if (s->w.dim == 2) return coulomb;
    if (s->w.dim == 6) return coulomb && tl_axes_make(a, &s->axes[row]);
    if (coulomb) return tl_schur_make(a, &s->known[row].schur);
    return splitting_is_associated(law) && tl_lorentz_make(a, law->mu, &s->known[row].cone);
}

// Everything of row `row` that does not change during the sweeps.
static void splitting_row(tl_splitting *s, int32_t row) {
    const tl_splitting_options *opt = s->base.options;
    const int d = s->w.dim, dd = d * d;
    TL_ASSUME_DIM(d);
    double a[TL_MAX_DIM * TL_MAX_DIM], inverse[TL_MAX_DIM * TL_MAX_DIM];
    tl_delassus_diagonal(&s->w, row, a);
    double trace = 0.0;
    for (int k = 0; k < d; k++) trace += a[k * d + k];
    const double high = splitting_lambda(s, a);
    // A singular block gets just enough of a proximal term to be invertible in double precision;
    // the fixed points of the sweep stay those of the problem.
    double beta = s->proximal * trace / d;
    for (int k = 0; k < d; k++) a[k * d + k] += beta;
    tl_law law = tl_problem_law(s->w.problem, s->plan.order[row]);
    if (s->associated) law.zeta = law.mu;
    if (s->sound) s->sound[row] = splitting_know(s, row, &law, a);
    const bool sound = d > 2 && s->sound && s->sound[row]; // needs no inverse
    if (!sound && !splitting_invert(d, a, inverse)) {
        beta += 1e-8 * high;
        for (int k = 0; k < d; k++) a[k * d + k] += 1e-8 * high;
        splitting_invert(d, a, inverse);
    }
    for (int k = 0; k < dd; k++) {
        s->block[tl_splitting_at(s, row, dd, k)] = a[k];
        if (s->inverse && !sound) s->inverse[(int64_t)row * dd + k] = inverse[k];
    }
    s->law[tl_splitting_at(s, row, 3, 0)] = law.mu;
    s->law[tl_splitting_at(s, row, 3, 1)] = law.zeta;
    s->law[tl_splitting_at(s, row, 3, 2)] = law.yield;
    s->rho[row] = opt->step / (opt->step_rule == TL_STEP_MASS ? a[0] : high + beta);
    s->beta[row] = beta;
    s->lambda[row] = high;
    const double q = tl_norm(d, s->w.problem->q + (int64_t)d * s->plan.order[row]) / sqrt(high);
    s->scale = TL_MAX(q, s->scale);
}

// Empty lanes of a group are given a harmless block, W = 1, so that vector code never divides by 0.
static void splitting_empty_row(tl_splitting *s, int32_t row) {
    const int d = s->w.dim;
    for (int k = 0; k < d; k++) s->block[tl_splitting_at(s, row, d * d, k * d + k)] = 1.0;
    s->rho[row] = s->lambda[row] = 1.0;
}

static void splitting_rows(tl_splitting *s) {
    const tl_splitting_options *opt = s->base.options;
    const bool associated = s->associated || s->w.problem->law == TALUS_LAW_ASSOCIATED;
    if (s->round) {
        s->balls.proximal = s->proximal;
        s->balls.associated = associated;
    }
    if (s->paired)
        tl_pairs_calm(s->base.ctx, opt->common.threads, s->w.problem, &s->plan, s->proximal,
                      associated, &s->pairs);
    if (s->abreast) return;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        if (s->plan.order[row] >= 0)
            splitting_row(s, row);
        else
            splitting_empty_row(s, row);
    }
}

// λmax(D⁻¹ W), D the diagonal blocks, by power iteration from a fixed start. Jacobi with the
// impulses divided by it decreases the convex objective, for then W <= λ D.
static double splitting_crowding(tl_splitting *s) {
    const int d = s->w.dim;
    double lambda = 1.0, old[TL_MAX_DIM], block[TL_MAX_DIM * TL_MAX_DIM], u[TL_MAX_DIM];
    for (int64_t k = 0; k < (int64_t)d * s->plan.rows; k++)
        s->r[k] = s->plan.order[k / d] < 0 ? 0.0 : 1.0 + (double)(k % 7) / 7.0;
    for (int step = 0; step < 30; step++) {
        double most = 0.0, size = 0.0;
        if (!s->w.assembled) tl_sweep_rebuild(s);
        for (int32_t row = 0; row < s->plan.rows; row++) { // next = D⁻¹ W r
            if (s->plan.order[row] < 0) continue;
            tl_sweep_product(s, row, u);
            for (int k = 0; k < d * d; k++) block[k] = s->block[tl_splitting_at(s, row, d * d, k)];
            if (d == 2) tl_small_solve(2, 1, block, u);
            if (d == 3) tl_small_solve(3, 1, block, u);
            if (d == 6) tl_small_solve(6, 1, block, u);
            memcpy(s->next + (int64_t)d * row, u, (size_t)d * sizeof *u);
            memcpy(old, s->r + (int64_t)d * row, (size_t)d * sizeof *u);
            most += tl_dot(d, u, u);
            size += tl_dot(d, old, old);
        }
        if (!(most > 0.0)) return 1.0;
        lambda = sqrt(most / size);
        for (int64_t k = 0; k < (int64_t)d * s->plan.rows; k++) s->r[k] = s->next[k] / sqrt(most);
    }
    return TL_MAX(1.0, 1.1 * lambda); // the iteration comes from below
}

// A block that acts on many bodies is coupled with many more blocks: H is smaller than W then.
enum { ASSEMBLE_BODIES = 4 };

static bool splitting_is_crowded(const talus_problem *p) {
    return p->is_global && tl_problem_is_separable(p) &&
           p->h_start[p->count] > (int64_t)ASSEMBLE_BODIES * p->count;
}

static bool splitting_assembles(const tl_splitting *s, const talus_problem *p) {
    const tl_splitting_options *opt = s->base.options;
    if (opt->form != TL_FORM_AUTO) return opt->form == TL_FORM_ASSEMBLED;
    return s->general || !splitting_is_crowded(p);
}

// Which momentum: Nesterov's where blocks act on many bodies, if not told otherwise.
static void splitting_take(tl_splitting *s, bool crowd) {
    const tl_splitting_options *opt = s->base.options;
    s->inertia = crowd ? CROWD_INERTIA : fmax(0.0, opt->inertia);
    s->calm = crowd ? fmax(CROWD_PROXIMAL, opt->proximal) : opt->proximal;
}

static void splitting_choose(tl_splitting *s, const talus_problem *p) {
    const tl_splitting_options *opt = s->base.options;
    s->crowded =
        opt->inertia < 0.0 && opt->momentum && !s->jacobi && !s->general && splitting_is_crowded(p);
    splitting_take(s, s->crowded);
}

// Who is coupled with whom, to colour and to know the pattern of W where it is not given; then the
// order of the rows, and W.
static talus_status splitting_operator(tl_splitting *s, const talus_problem *p) {
    const tl_splitting_options *opt = s->base.options;
    talus_context *ctx = s->base.ctx;
    const bool coloured =
        opt->order == TL_ORDER_COLOURED || (opt->order == TL_ORDER_AUTO && p->count >= COLOUR_FROM);
    const tl_delassus_form form = {.assembled = splitting_assembles(s, p),
                                   .threads = opt->common.threads};
    const bool pattern = p->is_global && form.assembled;
    if (pattern || (coloured && !tl_problem_is_separable(p)))
        TL_TRY(tl_graph_update(ctx, p, &s->graph));
    else if (coloured)
        TL_TRY(tl_graph_lists(ctx, p, &s->graph));
    else
        tl_graph_clear(ctx, &s->graph);
    TL_TRY(tl_plan_update(ctx, coloured ? &s->graph : NULL, p->count, &s->plan));
    const bool known = s->graph.adjacent != NULL;
    return tl_delassus_update(ctx, p, form, known ? &s->graph : NULL, s->plan.rows, s->plan.order,
                              &s->w);
}

// Whether sweeps may be those of lanes.h, which know but one way of everything.
static bool splitting_may_be_abreast(const tl_splitting *s, const talus_problem *p) {
    const tl_splitting_options *opt = s->base.options;
    return !s->jacobi && !s->general && opt->form != TL_FORM_ASSEMBLED &&
           opt->order != TL_ORDER_NATURAL && p->count >= COLOUR_FROM &&
           s->local->forms == &tl_local_hybrid && opt->sleep == 0 && opt->relaxation == 1.0 &&
           !opt->symmetric &&
           (opt->common.stop == TL_MEASURE_RESIDUAL || opt->common.stop == TL_MEASURE_NATURAL ||
            opt->common.stop == TL_MEASURE_CHANGE);
}

static talus_status splitting_abreast(tl_splitting *s, const talus_problem *p) {
    const tl_splitting_options *opt = s->base.options;
    talus_context *ctx = s->base.ctx;
    tl_delassus_clear(&s->w);
    TL_TRY(tl_graph_lists(ctx, p, &s->graph));
    TL_TRY(tl_plan_update(ctx, &s->graph, p->count, &s->plan));
    s->w = (tl_delassus){.ctx = ctx,
                         .problem = p,
                         .dim = 3,
                         .rows = s->plan.rows,
                         .order = s->plan.order,
                         .separable = true,
                         .dof = TL_LANES_BODY * (p->body_count + 2)}; // see tl_balls_weigh
    if (s->round) return tl_balls_update(ctx, p, &s->plan, &s->balls);
    s->pairs.local = s->local->forms->solve[tl_dim_index(3)];
    s->pairs.control =
        (tl_local_control){.tolerance = opt->local_tolerance, .iterations = opt->local_iterations};
    return tl_pairs_update(ctx, opt->common.threads, p, &s->plan, &s->pairs);
}

// Whether inverses of the blocks are worth their memory: Coulomb's law and the associated one in
// space have their own ways, and the few blocks that are too badly conditioned for these are solved
// as they come.
static bool splitting_inverts(const tl_splitting *s) {
    const talus_problem *p = s->w.problem;
    if (p->dim == 2 || p->changes) return true;
    for (int32_t i = 0; i < p->count; i++) {
        const tl_law law = tl_problem_law(p, i);
        if (!splitting_is_coulomb(&law) && !(p->dim == 3 && splitting_is_associated(&law)))
            return true;
    }
    return false;
}

// Room of `count` numbers, zeroed, or none where it is not needed.
static talus_status splitting_room(talus_context *ctx, bool needed, int64_t count, double **inout) {
    if (!needed) {
        tl_free(ctx, *inout);
        *inout = NULL;
        return TALUS_OK;
    }
    TL_TRY(TL_RESERVE(ctx, count, inout));
    if (count > 0) memset(*inout, 0, (size_t)count * sizeof **inout);
    return TALUS_OK;
}

static talus_status splitting_memory(tl_splitting *s) {
    const tl_splitting_options *opt = s->base.options;
    talus_context *ctx = s->base.ctx;
    const int64_t rows = s->plan.rows, d = s->w.dim;
    const bool momentum = opt->momentum, loose = !s->w.assembled, blocks = !s->abreast;
    const bool single = !s->lanes && blocks;
    TL_TRY(splitting_room(ctx, blocks, rows * d * d, &s->block));
    TL_TRY(splitting_room(ctx, single && splitting_inverts(s), rows * d * d, &s->inverse));
    TL_TRY(splitting_room(ctx, blocks, rows * 3, &s->law));
    TL_TRY(splitting_room(ctx, blocks, rows, &s->rho));
    TL_TRY(splitting_room(ctx, blocks, rows, &s->beta));
    TL_TRY(splitting_room(ctx, blocks, rows, &s->lambda));
    TL_TRY(splitting_room(ctx, true, rows * d, &s->r));
    TL_TRY(splitting_room(ctx, blocks, rows * d, &s->best));
    TL_TRY(splitting_room(ctx, s->jacobi, rows * d, &s->next));
    TL_TRY(splitting_room(ctx, loose, s->w.dof, &s->z));
    TL_TRY(splitting_room(ctx, momentum && !s->glides, rows * d, &s->change));
    TL_TRY(splitting_room(ctx, momentum && !s->glides, rows * d, &s->push));
    TL_TRY(splitting_room(ctx, s->glides, rows * d, &s->glide));
    TL_TRY(splitting_room(ctx, momentum && loose && !s->glides, s->w.dof, &s->z_push));
    TL_TRY(splitting_room(ctx, momentum && loose, tl_splitting_spread(s), &s->z_before));
    TL_TRY(splitting_room(ctx, true, (int64_t)s->plan.chunk_count * TL_PARTS, &s->part));
    tl_free(ctx, single ? NULL : s->sound);
    if (!single) s->sound = NULL;
    if (single) TL_TRY(TL_RESERVE(ctx, rows, &s->sound));
    tl_free(ctx, single && d == 3 ? NULL : s->known);
    if (!single || d != 3) s->known = NULL;
    if (single && d == 3) TL_TRY(TL_RESERVE(ctx, rows, &s->known));
    tl_free(ctx, single && d == 6 ? NULL : s->axes);
    if (!single || d != 6) s->axes = NULL;
    if (single && d == 6) TL_TRY(TL_RESERVE(ctx, rows, &s->axes));
    const bool sleeps = opt->sleep > 0 || opt->open > 0;
    tl_free(ctx, sleeps ? NULL : s->asleep);
    if (!sleeps) s->asleep = NULL;
    if (sleeps) TL_TRY(TL_RESERVE(ctx, rows, &s->asleep)); // a solve clears it
    return TALUS_OK;
}

talus_status tl_splitting_prepare(talus_solver *base, const talus_problem *p, bool jacobi) {
    tl_splitting *s = (tl_splitting *)base;
    const tl_splitting_options *opt = base->options;
    talus_context *ctx = base->ctx;
    TL_REQUIRE(ctx, opt->form != TL_FORM_MATRIX_FREE || p->is_global, TALUS_ERR_ARG,
               "%s: form = matrix-free needs a global problem (M, H); this one is local (W): use "
               "form = assembled",
               base->ops->name);
    TL_REQUIRE(ctx, opt->common.stop != TL_MEASURE_STEP, TALUS_ERR_ARG,
               "%s: stop = step is a rule of the gradient methods: use stop = change",
               base->ops->name);
    s->jacobi = jacobi;
    s->local = &tl_local_solvers[opt->local];
    s->scale = 0.0;
    TL_TRY(tl_team_reserve(ctx, opt->common.threads));
    const bool may = splitting_may_be_abreast(s, p);
    s->round = may && tl_balls_are(p);
    s->paired = may && !s->round && tl_pairs_are(p);
    s->abreast = s->round || s->paired;
    TL_TRY(s->abreast ? splitting_abreast(s, p) : splitting_operator(s, p));
    s->lanes = !s->abreast && (s->plan.coloured || jacobi) && s->local->forms->lanes[0];
    s->glides = s->abreast && opt->momentum && opt->inertia > 0.0;
    TL_TRY(splitting_memory(s));
    if (s->round) {
        tl_balls_weigh(p, s->z);
        s->scale = tl_balls_scale(p, s->z);
    } else if (s->paired) {
        tl_pairs_weigh(p, s->z);
        s->scale = tl_pairs_scale(&s->plan, &s->pairs);
    }
    splitting_choose(s, p);
    s->proximal = s->calm;
    splitting_rows(s);
    s->crowding = jacobi ? splitting_crowding(s) : 1.0;
    return TALUS_OK;
}

void tl_splitting_refresh(talus_solver *base) {
    tl_splitting *s = (tl_splitting *)base;
    tl_delassus_refresh(&s->w); // a view, which is never abreast
    splitting_choose(s, s->w.problem);
    s->proximal = s->calm;
    s->scale = 0.0;
    splitting_rows(s);
}

// ---- the loop ----------------------------------------------------------------------------------

// What the threads of a solve share. Rank 0 writes it between two barriers.
typedef struct splitting_run {
    tl_splitting *s;
    talus_solve_info *info;
    double *given;             // the caller's r, which keeps the best where abreast
    double start;              // clock at the start of the solve
    tl_sweep sweep;            // what a sweep needs to know
    bool check;                // decisions of rank 0: look at the measure,
    bool stop, over;           // end because of it; end because of the clock or the user
    talus_outcome interrupted; // why `over`
    int32_t sweeps;            // done
    int32_t checked;           // sweep of the last check
    double best_measure;       // so far
    double patience;           // sweeps without progress before something else is tried
    double mark_measure;       // the last one that was better by more than a trifle,
    int32_t best_sweep;        // and its sweep
    double activity;           // of the last sweep, see sweep.h
    double energy;             // Σ λ_i |Δr_i|² of it
    bool plain;                // no momentum for now
    double beta;               // share of the direction carried on; 0: a restart
    double theta;              // of Nesterov's rule; 1: a restart
    double glide;              // Σ λ_i |p_i + Δr_i|² of the last sweep, p its momentum
    double along;              // mean cosine of Δr and p over the last sweeps
    double brake;              // 1 − the largest share, where it follows
    bool relaxed;              // the first sweeps, under the associated law, are under way
    double check_activity;     // activity and measure at the last check, to foresee the next one
    double check_measure;
} splitting_run;

// Whether there is momentum.
static bool splitting_moves(const tl_splitting *s) { return s->push || s->glide; }

// Sum or maximum of a part over the chunks, always in the same order.
static double splitting_sum(const tl_splitting *s, int part) {
    double sum = 0.0;
    for (int32_t c = 0; c < s->plan.chunk_count; c++) sum += s->part[c * TL_PARTS + part];
    return sum;
}

static double splitting_max(const tl_splitting *s, int part) {
    double most = 0.0;
    for (int32_t c = 0; c < s->plan.chunk_count; c++) {
        const double x = s->part[c * TL_PARTS + part];
        if (!(x <= most)) most = x; // a NaN stays
        if (isnan(most)) break;
    }
    return most;
}

static double splitting_measure(const splitting_run *run) {
    const tl_splitting *s = run->s;
    const talus_problem *p = s->w.problem;
    const tl_splitting_options *opt = s->base.options;
    const tl_measure measure = (tl_measure)opt->common.stop;
    if (tl_measure_is_change(measure))
        return run->sweeps == 0 && p->count > 0
                   ? INFINITY
                   : splitting_max(s, TL_PART_NORMAL) + splitting_max(s, TL_PART_TANGENT);
    const double total = tl_measure_sums(measure) ? splitting_sum(s, TL_PART_CHECK)
                                                  : splitting_max(s, TL_PART_CHECK);
    return tl_measure_total(measure, p, s->scale, total);
}

// Rank 0 after a sweep: is it time to look at the measure? It is foreseen from the activity, which
// costs nothing, and its ratio to the measure at the last check.
static bool splitting_due(const splitting_run *run) {
    const tl_splitting_options *opt = run->s->base.options;
    const int32_t since = run->sweeps - run->checked;
    if (run->sweeps >= opt->common.iterations) return true;
    if (opt->common.stop == TL_MEASURE_CHANGE) return true;
    if (opt->common.check > 0) return since >= opt->common.check;
    if (!(run->check_activity > 0.0) || !isfinite(run->activity)) return true;
    double ratio = run->activity / run->check_activity;
    if (opt->common.stop == TL_MEASURE_FB) ratio *= ratio;
    // A check that came too soon costs a sweep: the next is not before a few per cent more of them.
    if (since < run->sweeps / CHECK_SHARE) return false;
    return since >= 100 || ratio * run->check_measure <= 1.2 * opt->common.tolerance;
}

// No progress for long: the sweeps circle around a solution, or creep. A proximal term breaks a
// cycle, whatever its size the fixed points stay; three sizes of it are tried in turn, from the
// best iterate, with four times the patience in each round, and in every other round without
// momentum, or with the other one where it is chosen here. False when all has been tried.
static bool splitting_calm(splitting_run *run) {
    tl_splitting *s = run->s;
    const tl_splitting_options *opt = s->base.options;
    s->proximal = s->proximal < 0.1 ? 0.1 : 3.0 * s->proximal;
    if (s->proximal > 1.0) {
        if (s->crowded)
            splitting_take(s, s->inertia == 0.0);
        else
            run->plain = !run->plain;
        s->proximal = s->calm;
        run->patience *= 4.0;
    }
    splitting_rows(s);
    run->best_sweep = run->sweeps;
    run->beta = 0.0;
    run->theta = 1.0;
    if (s->abreast)
        tl_lanes_recall(&s->plan, run->given, s->r);
    else
        memcpy(s->r, s->best, (size_t)s->plan.rows * (size_t)s->w.dim * sizeof *s->r);
    if (!s->w.assembled) tl_sweep_rebuild(s);
    return run->patience <= 1000.0 * opt->patience;
}

// Rank 0 after a check: keep the best, decide whether to stop.
static void splitting_judge(splitting_run *run) {
    tl_splitting *s = run->s;
    const tl_splitting_options *opt = s->base.options;
    const double measure = splitting_measure(run);
    run->checked = run->sweeps;
    run->check_measure = measure;
    run->check_activity = run->sweeps > 0 ? run->activity : 0.0;
    if (measure < run->best_measure || run->sweeps == 0) {
        if (!(measure > 0.99 * run->mark_measure)) {
            run->mark_measure = measure;
            run->best_sweep = run->sweeps;
        }
        run->best_measure = measure;
        if (s->abreast)
            tl_lanes_keep(&s->plan, s->r, run->given);
        else
            memcpy(s->best, s->r, (size_t)s->plan.rows * (size_t)s->w.dim * sizeof *s->r);
    }
    if (s->base.monitor)
        s->base.monitor(s->base.monitor_user, run->sweeps, measure, tl_seconds() - run->start);
    run->stop = true;
    if (run->best_measure <= opt->common.tolerance) {
        run->info->outcome = TALUS_OUTCOME_SOLVED;
    } else if (isnan(measure) || (isinf(measure) && run->sweeps > 0)) {
        run->info->outcome = TALUS_OUTCOME_DIVERGED;
    } else if (run->sweeps >= opt->common.iterations) {
        run->info->outcome = TALUS_OUTCOME_ITERATION_LIMIT;
    } else {
        const int32_t idle = run->sweeps - run->best_sweep;
        run->stop = (s->leave && s->leave(s->leave_user, run->sweeps, measure)) ||
                    (opt->patience > 0 && idle > run->patience && !splitting_calm(run));
        if (run->stop) run->info->outcome = TALUS_OUTCOME_STALLED;
    }
}

static bool splitting_interrupted(splitting_run *run) {
    const tl_splitting_options *opt = run->s->base.options;
    const bool late =
        tl_seconds() - run->start + run->s->base.prepare_seconds > opt->common.time_limit;
    if (!late && !tl_cancelled(run->s->base.ctx)) return false;
    run->interrupted = late ? TALUS_OUTCOME_TIME_LIMIT : TALUS_OUTCOME_CANCELLED;
    return true;
}

// Begin or end the sweeps under the associated law. The problem is convex then and needs no
// proximal term; what it gives holds most contacts that can be held, and the sweeps under Coulomb's
// law, whose sliding contacts disturb each other, start near the end.
static void splitting_relax(splitting_run *run, bool begin) {
    tl_splitting *s = run->s;
    run->relaxed = s->associated = begin;
    s->proximal = begin ? 0.0 : s->calm;
    splitting_rows(s);
    run->beta = 0.0;
    run->theta = 1.0;
}

// The largest share after a sweep. Where sweeps go on in the direction p of the momentum they are
// slow, and bear more of it; where they turn from it, they are busy with what it has stirred up.
// |p|² is β² times the last |p + Δr|², and Δr·p what |p + Δr|² has besides |Δr|² and |p|².
static double splitting_follow(splitting_run *run, double energy) {
    const double glide = splitting_sum(run->s, TL_PART_GLIDE);
    const double push = run->beta * run->beta * run->glide;
    if (push * energy > 0.0) {
        const double cosine = 0.5 * (glide - energy - push) / sqrt(push * energy);
        run->along += FOLLOW_NEWS * (cosine - run->along);
        if (run->along > FOLLOW_SLOW) run->brake *= 1.0 - FOLLOW_RATE;
        if (run->along < FOLLOW_BUSY) run->brake *= 1.0 + FOLLOW_RATE;
        run->brake = fmax(1.0 - FOLLOW_MOST, fmin(run->brake, 1.0 - FOLLOW_LEAST));
    }
    run->glide = glide;
    return 1.0 - run->brake;
}

// The share β of the direction that is carried on after a sweep that changed r by `energy`.
static double splitting_share(splitting_run *run, double energy) {
    const double inertia = run->s->inertia;
    const bool follows = ((const tl_splitting_options *)run->s->base.options)->follow ||
                         (run->s->crowded && run->sweeps >= CROWD_FOLLOW);
    if (run->plain) return 0.0;
    if (run->relaxed) return fmin(tl_gradient_momentum(&run->theta), RELAXED_INERTIA);
    if (inertia > 0.0) {
        const double most = follows ? splitting_follow(run, energy) : inertia;
        return fmin(tl_gradient_momentum(&run->theta), most);
    }
    // Fletcher and Reeves. β >= 1 would be an ascent: start again.
    return energy < run->energy ? energy / run->energy : 0.0;
}

// Momentum, Δr being the change of the sweep and p the direction kept:
//     conjugate gradients, Δr in place of the gradient:    r ← r + β p,   p ← β p + Δr
//     Nesterov, from one result of a sweep to the next:    p ← β (p + Δr),   r ← r + p
// A restart is β = 0. `change` is cleared, for a row that sleeps adds nothing.
static double splitting_carry(bool nesterov, double beta, double *p, double change) {
    const double push = beta * (nesterov ? *p + change : *p);
    *p = nesterov || !(beta > 0.0) ? push : push + change;
    return push;
}

// z of contacts abreast with Nesterov's rule: from its last result to the next, z ← z + β (z −
// z_before), which is all that has to be kept.
static void splitting_glide(const splitting_run *run, tl_team *team, int rank) {
    const tl_splitting *s = run->s;
    int64_t begin, end;
    tl_share(s->w.problem->body_count, tl_team_size(team), rank, &begin, &end);
    for (int64_t body = begin; body < end; body++) {
        double *z = s->z + body * TL_LANES_BODY, *before = s->z_before + body * TL_LANES_MOVES;
        for (int k = 0; k < TL_LANES_MOVES; k++) {
            const double now = z[k];
            z[k] = now + run->beta * (now - before[k]);
            before[k] = now;
        }
    }
}

static void splitting_push(const splitting_run *run, tl_team *team, int rank) {
    const tl_splitting *s = run->s;
    const bool nesterov = s->inertia > 0.0 || run->relaxed;
    int64_t begin = 0, end = 0;
    if (!s->abreast) // else brought about when they are visited
        tl_share((int64_t)s->plan.rows * s->w.dim, tl_team_size(team), rank, &begin, &end);
    for (int64_t k = begin; k < end; k++) {
        s->r[k] += splitting_carry(nesterov, run->beta, &s->push[k], s->change[k]);
        s->change[k] = 0.0;
    }
    if (s->w.assembled) return;
    if (s->glides) {
        splitting_glide(run, team, rank);
        return;
    }
    tl_share(s->w.dof, tl_team_size(team), rank, &begin, &end); // z = N Hᵀ r goes along
    for (int64_t k = begin; k < end; k++) {
        const double change = s->z[k] - s->z_before[k];
        s->z[k] += splitting_carry(nesterov, run->beta, &s->z_push[k], change);
        s->z_before[k] = s->z[k];
    }
}

static void splitting_work(void *arg, tl_team *team, int rank) {
    splitting_run *run = arg;
    tl_splitting *s = run->s;
    const tl_splitting_options *opt = s->base.options;
    for (;;) {
        if (run->check) {
            tl_sweep_measure(&run->sweep, team, rank);
            if (rank == 0) {
                splitting_judge(run);
                if (run->sweeps == 0 && run->sweep.at_rest && !run->stop && splitting_moves(s) &&
                    opt->relaxed > 0)
                    splitting_relax(run, true);
            }
            tl_barrier(team);
        }
        if (run->stop || run->over) return;
        if (splitting_moves(s)) {
            splitting_push(run, team, rank);
            if (rank == 0) {
                run->sweep.share = run->beta;
                run->sweep.nesterov = s->inertia > 0.0 || run->relaxed;
            }
            tl_barrier(team);
        }
        tl_sweep_run(&run->sweep, run->sweeps, team, rank);
        if (rank == 0) {
            run->sweeps++;
            run->sweep.at_rest = false;
            run->activity = sqrt(splitting_sum(s, TL_PART_ACTIVITY));
            if (splitting_moves(s)) {
                const double energy = splitting_sum(s, TL_PART_ENERGY);
                run->beta = splitting_share(run, energy);
                run->energy = energy;
            }
            // The first sweep changes r by what the natural map saw at the start.
            if (run->checked == 0 && run->sweeps == 1) run->check_activity = run->activity;
            run->over = splitting_interrupted(run);
            if (run->relaxed &&
                (run->over || run->sweeps >= opt->relaxed || run->sweeps >= opt->common.iterations))
                splitting_relax(run, false);
            // At the end one last look: the best iterate must be known.
            run->check = run->over || (!run->relaxed && splitting_due(run));
        }
        tl_barrier(team);
    }
}

// The caller's impulses into rows, or zeros where they are not to be used. True: all are zero.
static bool splitting_import(tl_splitting *s, const double *r) {
    const tl_splitting_options *opt = s->base.options;
    const talus_problem *p = s->w.problem;
    const int d = s->w.dim;
    bool at_rest = true;
    if (!opt->warm) {
        for (int64_t k = 0; k < (int64_t)d * s->plan.rows; k++) s->r[k] = 0.0;
        return true;
    }
    if (s->round) return tl_balls_import(p, &s->plan, r, s->r);
    if (s->paired) {
        tl_lanes_recall(&s->plan, r, s->r);
        for (int64_t k = 0; at_rest && k < 3 * (int64_t)p->count; k++) at_rest = r[k] == 0.0;
        return at_rest;
    }
    for (int32_t row = 0; row < s->plan.rows; row++) {
        const int32_t i = s->plan.order[row];
        for (int k = 0; k < d; k++) {
            const double tension = k == 0 && p->tension && i >= 0 ? p->tension[i] : 0.0;
            const double x = i >= 0 ? r[(int64_t)d * i + k] + tension : 0.0;
            s->r[(int64_t)d * row + k] = x;
            at_rest &= x == 0.0;
        }
    }
    return at_rest;
}

// The best impulses to the caller.
static void splitting_export(const tl_splitting *s, double *r) {
    const talus_problem *p = s->w.problem;
    const int d = s->w.dim;
    if (s->round) tl_balls_export(p, r);
    if (s->abreast) return; // the best is there
    for (int32_t row = 0; row < s->plan.rows; row++) {
        const int32_t i = s->plan.order[row];
        for (int k = 0; k < d && i >= 0; k++) r[(int64_t)d * i + k] = s->best[(int64_t)d * row + k];
        if (i >= 0 && p->tension) r[(int64_t)d * i] -= p->tension[i];
    }
}

void tl_splitting_solve(talus_solver *base, double *r, talus_solve_info *info) {
    tl_splitting *s = (tl_splitting *)base;
    const tl_splitting_options *opt = base->options;
    const bool at_rest = splitting_import(s, r);
    if (s->z) tl_sweep_rest(s, 0, s->w.dof);
    if (s->asleep) memset(s->asleep, 0, (size_t)s->plan.rows * sizeof *s->asleep);
    splitting_choose(s, s->w.problem); // options may have changed
    if (s->proximal != s->calm) {      // the last solve left it raised
        s->proximal = s->calm;
        splitting_rows(s);
    }
    splitting_run run = {.s = s,
                         .info = info,
                         .given = r,
                         .start = tl_seconds(),
                         .check = true,
                         .best_measure = INFINITY,
                         .patience = opt->patience,
                         .theta = 1.0,
                         .along = FOLLOW_SLOW,
                         .brake = 1.0 - s->inertia,
                         .mark_measure = INFINITY};
    tl_sweep_init(&run.sweep, s);
    run.sweep.at_rest = at_rest;
    // In natural order there is nothing to share out: other threads would only wait.
    tl_parallel(base->ctx, s->plan.coloured ? opt->common.threads : 1, splitting_work, &run);
    splitting_export(s, r);
    info->iterations = run.sweeps;
    info->measure = run.best_measure;
    if (run.over && !run.stop) info->outcome = run.interrupted;
    info->local_solves = (int64_t)splitting_sum(s, TL_PART_SOLVES);
    info->local_failures = (int64_t)splitting_sum(s, TL_PART_FAILURES);
    info->local_saves = (int64_t)splitting_sum(s, TL_PART_SAVES);
}
