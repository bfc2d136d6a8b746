// SPDX-License-Identifier: Apache-2.0
#include "solve/newton.h"
#include "base/timer.h"
#include "cone/nonsmooth.h"
#include "linalg/dense_inline.h"
#include "solve/splitting.h"
#include <math.h>
#include <string.h>

#define ROW(f, kind, initial, ...) TL_ROW(tl_newton_options, f, kind, initial, __VA_ARGS__)
const tl_option tl_newton_rows[] = {
    ROW(sweeps, TL_OPTION_INTEGER, "20", .low = 0, .high = 1000000,
        .text = "sweeps of nlgs before the first Newton step"),
    ROW(proximal, TL_OPTION_NUMBER, "0.1", .low = 0.0, .high = INFINITY, .above = true,
        .text = "first regularisation, in units of lambda_max(W_ii)"),
    ROW(warm, TL_OPTION_YES_NO, "yes", .text = "start from the impulses given, else from zero"),
    {0},
};

// ---- set-up ------------------------------------------------------------------------------------

void tl_newton_clear(talus_solver *base) {
    tl_newton *s = (tl_newton *)base;
    talus_context *ctx = base->ctx;
    tl_dual_clear(base);
    talus_solver_destroy(s->nlgs);
    tl_block_lu_destroy(s->lu);
    tl_free(ctx, s->start);
    tl_free(ctx, s->adjacent);
    tl_free(ctx, s->edge);
    tl_free(ctx, s->active);
    tl_free(ctx, s->f);
    tl_free(ctx, s->fu);
    tl_free(ctx, s->fr);
    tl_free(ctx, s->given);
    s->nlgs = NULL;
    s->lu = NULL;
    s->start = s->edge = NULL;
    s->adjacent = NULL;
    s->active = NULL;
    s->f = s->fu = s->fr = s->given = NULL;
}

// A list of (row, column, edge) as compressed rows, sorted by a pass over its transpose.
typedef struct newton_lists {
    int64_t *start;
    int32_t *index;
    int64_t *edge;
} newton_lists;

static talus_status newton_transpose(talus_context *ctx, int32_t n, const newton_lists *a,
                                     newton_lists *out) {
    TL_TRY(TL_ALLOC(ctx, (int64_t)n + 2, &out->start));
    TL_TRY(TL_ALLOC(ctx, a->start[n], &out->index));
    TL_TRY(TL_ALLOC(ctx, a->start[n], &out->edge));
    for (int64_t e = 0; e < a->start[n]; e++) out->start[a->index[e] + 2]++;
    for (int32_t i = 0; i < n; i++) out->start[i + 2] += out->start[i + 1];
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            const int64_t put = out->start[a->index[e] + 1]++;
            out->index[put] = i;
            out->edge[put] = a->edge ? a->edge[e] : e;
        }
    return TALUS_OK;
}

static void newton_lists_clear(talus_context *ctx, newton_lists *a) {
    tl_free(ctx, a->start);
    tl_free(ctx, a->index);
    tl_free(ctx, a->edge);
}

// The pattern of W with both (i, j) and (j, i), columns ascending.
static talus_status newton_pattern(tl_newton *s) {
    const tl_delassus *w = &s->dual.w;
    talus_context *ctx = s->dual.base.ctx;
    newton_lists columns = {0}, rows = {0};
    const newton_lists given = {.start = w->start, .index = w->col};
    talus_status status = newton_transpose(ctx, w->rows, &given, &columns);
    if (status == TALUS_OK) status = newton_transpose(ctx, w->rows, &columns, &rows);
    if (status == TALUS_OK) status = TL_ALLOC(ctx, (int64_t)w->rows + 1, &s->start);
    if (status == TALUS_OK) status = TL_ALLOC(ctx, 2 * w->start[w->rows], &s->adjacent);
    if (status == TALUS_OK) status = TL_ALLOC(ctx, 2 * w->start[w->rows], &s->edge);
    int64_t put = 0;
    for (int32_t i = 0; i < w->rows && status == TALUS_OK; i++) {
        int64_t a = rows.start[i], b = columns.start[i];
        while (a < rows.start[i + 1] || b < columns.start[i + 1]) {
            const int32_t ja = a < rows.start[i + 1] ? rows.index[a] : INT32_MAX;
            const int32_t jb = b < columns.start[i + 1] ? columns.index[b] : INT32_MAX;
            s->adjacent[put] = ja < jb ? ja : jb;
            s->edge[put++] = ja <= jb ? rows.edge[a] : -1;
            a += ja <= jb;
            b += jb <= ja;
        }
        s->start[i + 1] = put;
    }
    newton_lists_clear(ctx, &columns);
    newton_lists_clear(ctx, &rows);
    return status;
}

talus_status tl_newton_prepare_nlgs(tl_newton *s, const talus_problem *p, bool warm, int32_t open) {
    TL_TRY(talus_solver_create(s->dual.base.ctx, "nlgs", &s->nlgs));
    tl_splitting_options *inner = s->nlgs->options;
    inner->common = *(const tl_common_options *)s->dual.base.options;
    inner->patience = 0;
    inner->warm = warm;
    inner->open = open;
    ((tl_splitting *)s->nlgs)->general = true; // its rows and its W are used here
    return talus_solver_prepare(s->nlgs, p);
}

talus_status tl_newton_prepare_rest(tl_newton *s, double most_bytes) {
    talus_context *ctx = s->dual.base.ctx;
    const tl_splitting *inner = (const tl_splitting *)s->nlgs;
    const tl_splitting_options *opt = s->nlgs->options;
    TL_TRY(tl_dual_adopt(&s->dual.base, &inner->plan, &inner->w, TL_DUAL_VECTORS, opt->warm));
    TL_TRY(newton_pattern(s));
    const int64_t rows = s->dual.plan.rows, d = s->dual.w.dim;
    TL_TRY(
        tl_block_lu_create(ctx, (int)d, (int32_t)rows, s->start, s->adjacent, most_bytes, &s->lu));
    if (!s->lu) return TALUS_OK;
    TL_TRY(TL_ALLOC(ctx, rows, &s->active));
    TL_TRY(TL_ALLOC(ctx, rows * d, &s->f));
    TL_TRY(TL_ALLOC(ctx, rows * d * d, &s->fu));
    TL_TRY(TL_ALLOC(ctx, rows * d * d, &s->fr));
    return TL_ALLOC(ctx, (int64_t)s->dual.w.problem->count * d, &s->given);
}

talus_status tl_newton_prepare(talus_solver *base, const talus_problem *p) {
    tl_newton *s = (tl_newton *)base;
    const tl_newton_options *opt = base->options;
    TL_TRY(tl_newton_prepare_nlgs(s, p, opt->warm, 0));
    TL_TRY(tl_newton_prepare_rest(s, 4e9));
    TL_REQUIRE(base->ctx, s->lu, TALUS_ERR_UNSUPPORTED,
               "%s: the factors of the Newton matrix would take more than 4 GB; use nlgs",
               base->ops->name);
    return TALUS_OK;
}

// ---- the equations -----------------------------------------------------------------------------

// F and, where fu is given, its Jacobians at one row, ξ = 1/λ.
TL_INLINE void newton_row(int d, const tl_newton *s, int32_t row, const double *r, const double *u,
                          double eps, double *f, double *fu, double *fr) {
    const int64_t at = (int64_t)d * row;
    const double lambda = s->dual.lambda[row], size = s->dual.trace[row] / d;
    double v[TL_MAX_DIM];
    for (int k = 0; k < d; k++)
        v[k] = u[at + k] + (eps > 0.0 ? eps * size * (r[at + k] - s->centre[at + k]) : 0.0);
    const tl_law *law = &s->dual.law[row];
    switch (s->function) {
    case TL_NEWTON_AC:
        tl_ac(d, law, 1.0 / lambda, TL_RADIUS_PROJECTED, v, r + at, f, fu, fr);
        break;
    case TL_NEWTON_DS:
        tl_ds(d, law, 1.0 / lambda, v, r + at, f, fu, fr);
        break;
    case TL_NEWTON_FB:
        tl_fb(d, law, 1.0 / lambda, v, r + at, f, fu, fr);
        break;
    }
}

TL_INLINE double newton_merit(int d, const tl_newton *s, const double *r, const double *u,
                              double eps) {
    double sum = 0.0, f[TL_MAX_DIM] = {0.0};
    for (int32_t row = 0; row < s->dual.plan.rows; row++) {
        if (s->dual.plan.order[row] < 0) continue;
        newton_row(d, s, row, r, u, eps, f, NULL, NULL);
        sum += s->dual.lambda[row] * tl_dot(d, f, f);
    }
    return sum;
}

double tl_newton_merit(const tl_newton *s, const double *r, const double *u, double eps) {
    return s->dual.w.dim == 2   ? newton_merit(2, s, r, u, eps)
           : s->dual.w.dim == 3 ? newton_merit(3, s, r, u, eps)
                                : newton_merit(6, s, r, u, eps);
}

// ---- the linear system -------------------------------------------------------------------------

// A_ij = F_u W_ij, A_ii = F_u (W_ii + damping tr(W_ii)/d) + F_r
TL_INLINE void newton_block(int d, const tl_newton *s, int32_t i, int64_t edge, double *a) {
    const tl_delassus *w = &s->dual.w;
    const double *fu = s->fu + (int64_t)i * d * d;
    if (edge < 0) {
        double block[TL_MAX_DIM * TL_MAX_DIM];
        TL_ASSUME(w->dim == d);
        tl_delassus_diagonal(w, i, block);
        for (int k = 0; k < d; k++) block[k * d + k] += s->damping * s->dual.trace[i] / d;
        tl_mm(d, fu, block, a);
        for (int k = 0; k < d * d; k++) a[k] += s->fr[(int64_t)i * d * d + k];
        return;
    }
    const int64_t e = s->edge[edge];
    if (e < 0) {
        for (int k = 0; k < d * d; k++) a[k] = 0.0;
        return;
    }
    const double *block = w->block + e * d * d; // by columns
    for (int row = 0; row < d; row++)
        for (int col = 0; col < d; col++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) sum += fu[row * d + k] * block[col * d + k];
            a[row * d + col] = sum;
        }
}

static void newton_block_2(const void *s, int32_t i, int64_t e, double *a) {
    newton_block(2, s, i, e, a);
}
static void newton_block_3(const void *s, int32_t i, int64_t e, double *a) {
    newton_block(3, s, i, e, a);
}
static void newton_block_6(const void *s, int32_t i, int64_t e, double *a) {
    newton_block(6, s, i, e, a);
}

static bool newton_stop(const void *user) {
    const tl_newton *s = user;
    const tl_common_options *opt = s->dual.base.options;
    return tl_cancelled(s->dual.base.ctx) ||
           tl_seconds() - s->dual.start + s->dual.base.prepare_seconds > opt->time_limit;
}

// Where F_u = 0 the row says F_r Δr = −F by itself.
TL_INLINE void newton_linearise(int d, tl_newton *s, double eps) {
    for (int32_t row = 0; row < s->dual.plan.rows; row++) {
        const int64_t at = (int64_t)d * row;
        s->active[row] = false;
        for (int k = 0; k < d; k++) s->direction[at + k] = 0.0;
        if (s->dual.plan.order[row] < 0) continue;
        double *f = s->f + at, *fu = s->fu + at * d, *fr = s->fr + at * d;
        newton_row(d, s, row, s->x, s->u, eps, f, fu, fr);
        for (int k = 0; k < d * d; k++) s->active[row] = s->active[row] || fu[k] != 0.0;
        if (s->active[row]) continue;
        double a[TL_MAX_DIM * TL_MAX_DIM], x[TL_MAX_DIM];
        memcpy(a, fr, (size_t)(d * d) * sizeof *a);
        for (int k = 0; k < d; k++) x[k] = -f[k];
        if (tl_small_solve(d, 1, a, x)) memcpy(s->direction + at, x, (size_t)d * sizeof *x);
    }
}

// Right side −F − F_u W Δr of the active rows, Δr being that of the others.
TL_INLINE void newton_right_side(int d, tl_newton *s) {
    for (int32_t row = 0; row < s->dual.plan.rows; row++) {
        if (!s->active[row]) continue;
        const int64_t at = (int64_t)d * row;
        double x[TL_MAX_DIM];
        tl_mv(d, s->fu + at * d, s->moved + at, x);
        for (int k = 0; k < d; k++) s->direction[at + k] = -s->f[at + k] - x[k];
    }
}

// The Newton direction at x, and what it does to the velocities. False when there is none.
static bool newton_direction(tl_newton *s, double eps, double damping) {
    const tl_common_options *opt = s->dual.base.options;
    const int d = s->dual.w.dim;
    tl_block_source source = {.user = s, .stop = newton_stop};
    s->damping = damping;
    if (d == 2) newton_linearise(2, s, eps);
    if (d == 3) newton_linearise(3, s, eps);
    if (d == 6) newton_linearise(6, s, eps);
    tl_delassus_apply(&s->dual.w, opt->threads, false, s->direction, s->moved);
    if (d == 2) newton_right_side(2, s);
    if (d == 3) newton_right_side(3, s);
    if (d == 6) newton_right_side(6, s);
    source.block = d == 2 ? newton_block_2 : d == 3 ? newton_block_3 : newton_block_6;
    if (!tl_block_lu_factor(s->lu, s->active, &source)) return false;
    tl_block_lu_solve(s->lu, s->direction);
    for (int64_t k = 0; k < s->dual.size; k++)
        if (!isfinite(s->direction[k])) return false;
    tl_delassus_apply(&s->dual.w, opt->threads, false, s->direction, s->moved);
    return true;
}

// ---- the iteration -----------------------------------------------------------------------------

void tl_newton_begin(tl_newton *s, const double *r, talus_solve_info *info) {
    double **role[TL_DUAL_VECTORS] = {&s->x,     &s->u,     &s->centre,  &s->direction,
                                      &s->moved, &s->trial, &s->trial_u, &s->scratch};
    for (int k = 0; k < TL_DUAL_VECTORS; k++) *role[k] = s->dual.vector[k];
    tl_dual_begin(&s->dual, r, s->x, info);
    tl_dual_apply(&s->dual, s->x, s->u);
}

void tl_newton_restart(tl_newton *s, double eps) {
    memcpy(s->centre, s->x, (size_t)s->dual.size * sizeof *s->x);
    tl_newton_forget(s, eps);
}

void tl_newton_forget(tl_newton *s, double eps) {
    s->merit = tl_newton_merit(s, s->x, s->u, eps);
    s->steps = 0;
    for (int k = 0; k < TL_NEWTON_MEMORY; k++) s->past[k] = s->merit;
}

static void newton_swap(double **a, double **b) {
    double *c = *a;
    *a = *b;
    *b = c;
}

bool tl_newton_step(tl_newton *s, double eps, double damping) {
    if (!newton_direction(s, eps, damping)) return false;
    double bound = 0.0;
    for (int k = 0; k < TL_NEWTON_MEMORY; k++) bound = fmax(bound, s->past[k]);
    double length = 1.0;
    for (int halving = 0; halving < 10; halving++, length *= 0.5) {
        for (int64_t k = 0; k < s->dual.size; k++) {
            s->trial[k] = s->x[k] + length * s->direction[k];
            s->trial_u[k] = s->u[k] + length * s->moved[k];
        }
        const double merit = tl_newton_merit(s, s->trial, s->trial_u, eps);
        if (!(merit <= (1.0 - 1e-4 * length) * bound)) continue;
        newton_swap(&s->x, &s->trial);
        tl_dual_apply(&s->dual, s->x, s->u); // not u + length W Δr, which drifts
        s->merit = s->past[s->steps++ % TL_NEWTON_MEMORY] = merit;
        return true;
    }
    return false;
}

static double newton_measure(const tl_newton *s, const double *u) {
    const tl_common_options *opt = s->dual.base.options;
    return tl_dual_measure(&s->dual, (tl_measure)opt->stop, s->x, u, NULL);
}

double tl_newton_left(tl_newton *s, double eps) {
    if (eps == 0.0) return newton_measure(s, s->u);
    const int d = s->dual.w.dim;
    for (int64_t k = 0; k < s->dual.size; k++)
        s->scratch[k] = s->u[k] + eps * s->dual.trace[k / d] / d * (s->x[k] - s->centre[k]);
    return newton_measure(s, s->scratch);
}

void tl_newton_sweep(tl_newton *s, double eps) {
    tl_splitting *nlgs = (tl_splitting *)s->nlgs;
    tl_splitting_options *sweeps = s->nlgs->options;
    tl_common_options *inner = &sweeps->common;
    const tl_common_options *opt = s->dual.base.options;
    talus_solve_info info = {0};
    inner->check = 0;
    inner->iterations = s->sweeps;
    inner->time_limit =
        opt->time_limit - s->dual.base.prepare_seconds - (tl_seconds() - s->dual.start);
    s->nlgs->prepare_seconds = 0.0; // counted in ours
    sweeps->proximal = eps;
    nlgs->centre = eps > 0.0 ? s->centre : NULL;
    tl_dual_export(&s->dual, s->x, s->given);
    s->nlgs->ops->solve(s->nlgs, s->given, &info);
    s->dual.info->local_solves += info.local_solves;
    s->dual.info->local_failures += info.local_failures;
    s->dual.info->local_saves += info.local_saves;
    // The last iterate, not the best: the best may be where we stand, and we are to leave it.
    memcpy(s->x, nlgs->r, (size_t)s->dual.size * sizeof *s->x);
    sweeps->proximal = 0.0;
    nlgs->centre = NULL;
    tl_dual_apply(&s->dual, s->x, s->u);
    if (s->sweeps < 1 << 20) s->sweeps *= 2;
}
