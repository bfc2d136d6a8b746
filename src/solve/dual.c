// SPDX-License-Identifier: Apache-2.0
#include "solve/dual.h"
#include "base/thread.h"
#include "base/timer.h"
#include "linalg/dense.h"
#include "solve/measure.h"
#include <string.h>

const char *tl_dual_form_name(int k) {
    static const char *const name[] = {"assembled", "matrix-free", "auto"};
    return k < 3 ? name[k] : NULL;
}

const char *tl_dual_fixed_form_name(int k) { return k < 2 ? tl_dual_form_name(k) : NULL; }

const tl_option tl_dual_rows[] = {TL_DUAL_ROWS("first step, in units of r/u; 0: 1/lambda_max(W)"),
                                  {0}};

void tl_dual_clear(talus_solver *base) {
    tl_dual *s = (tl_dual *)base;
    if (!s->borrowed) {
        tl_delassus_clear(&s->w);
        tl_plan_clear(base->ctx, &s->plan);
    }
    s->w = (tl_delassus){0};
    s->plan = (tl_plan){0};
    tl_free(base->ctx, s->law);
    tl_free(base->ctx, s->lambda);
    tl_free(base->ctx, s->trace);
    tl_free(base->ctx, s->weight);
    tl_free(base->ctx, s->best);
    tl_free(base->ctx, s->part);
    s->law = NULL;
    s->lambda = s->trace = s->weight = s->best = s->part = NULL;
    for (int k = 0; k < TL_DUAL_VECTORS; k++) {
        tl_free(base->ctx, s->vector[k]);
        s->vector[k] = NULL;
    }
}

// y ← W x in the metric of the weights; the squares of y and x are added up.
TL_INLINE void dual_power(int d, const tl_dual *s, double *y, const double *x, double *most,
                          double *size) {
    double sum_y = 0.0, sum_x = 0.0;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        const double weight = s->weight[row];
        double yy = 0.0, xx = 0.0;
        for (int k = 0; k < d; k++) {
            const int64_t i = (int64_t)d * row + k;
            y[i] /= weight;
            yy += y[i] * y[i];
            xx += x[i] * x[i];
        }
        sum_y += weight * yy;
        sum_x += weight * xx;
    }
    *most = sum_y;
    *size = sum_x;
}

// λmax of W in the metric of the weights, by power iteration from a fixed start on u = W x.
static double dual_largest(tl_dual *s) {
    const int d = s->w.dim;
    const tl_common_options *opt = s->base.options;
    double *x = s->vector[0], *y = s->vector[1], lambda = 0.0;
    for (int32_t row = 0; row < s->plan.rows; row++)
        for (int64_t k = (int64_t)d * row; k < (int64_t)d * (row + 1); k++)
            x[k] = s->plan.order[row] < 0 ? 0.0 : 1.0 + (double)(k % 7) / 7.0;
    for (int step = 0; step < 30; step++) {
        tl_delassus_apply(&s->w, opt->threads, false, x, y);
        double most = 0.0, size = 0.0;
        if (d == 1) dual_power(1, s, y, x, &most, &size);
        if (d == 2) dual_power(2, s, y, x, &most, &size);
        if (d == 3) dual_power(3, s, y, x, &most, &size);
        if (d == 6) dual_power(6, s, y, x, &most, &size);
        if (!(most > 0.0)) return 1.0;
        lambda = sqrt(most / size);
        const double scale = 1.0 / sqrt(most);
        for (int64_t k = 0; k < s->size; k++) x[k] = y[k] * scale;
    }
    return 1.02 * lambda;
}

// What depends on q and the laws: these, and the scale of `residual`.
static void dual_laws(tl_dual *s, const talus_problem *p) {
    const int d = p->dim;
    s->scale = 0.0;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        const int32_t i = s->plan.order[row];
        if (i < 0) {
            s->law[row] = (tl_law){0};
            continue;
        }
        s->law[row] = tl_problem_law(p, i);
        s->scale = TL_MAX(tl_norm(d, p->q + (int64_t)d * i) / sqrt(s->lambda[row]), s->scale);
    }
}

void tl_dual_refresh(talus_solver *base) {
    tl_dual *s = (tl_dual *)base;
    if (s->w.ctx) tl_delassus_refresh(&s->w);
    dual_laws(s, s->w.problem);
}

// λmax(W_ii) and the trace, of all rows of the block: what the measures need. Where only normal
// rows are worked on, W_NN stands for both unless the measure is one of these.
static void dual_sizes(tl_dual *s, const talus_problem *p, int32_t row) {
    const tl_common_options *opt = s->base.options;
    double block[TL_MAX_DIM * TL_MAX_DIM] = {0.0}, low;
    int d = s->w.dim;
    tl_delassus_diagonal(&s->w, row, block);
    s->weight[row] = block[0];
    if (d < p->dim && opt->stop == TL_MEASURE_RESIDUAL) {
        d = p->dim;
        tl_delassus_own(p, s->plan.order[row], block);
    }
    tl_sym_eigen_range(d, block, &low, &s->lambda[row]);
    for (int k = 0; k < d; k++) s->trace[row] += block[k * d + k];
}

// Vectors, sizes of the diagonal blocks where these are known (else 1), and laws. The weights are
// not yet made from the sizes.
static talus_status dual_rows(tl_dual *s, const talus_problem *p, int d, int vectors, bool known) {
    talus_context *ctx = s->base.ctx;
    const int32_t rows = s->plan.rows;
    const tl_common_options *opt = s->base.options;
    s->size = (int64_t)d * rows;
    TL_TRY(tl_team_reserve(ctx, opt->threads));
    TL_TRY(TL_RESERVE(ctx, rows, &s->law));
    TL_TRY(TL_RESERVE(ctx, rows, &s->lambda));
    TL_TRY(TL_RESERVE(ctx, rows, &s->trace));
    TL_TRY(TL_RESERVE(ctx, rows, &s->weight));
    TL_TRY(TL_RESERVE(ctx, s->size, &s->best));
    TL_TRY(TL_RESERVE(ctx, TL_DUAL_SUMS * ((int64_t)rows / TL_DUAL_BLOCK + 1), &s->part));
    for (int k = 0; k < vectors; k++) TL_TRY(TL_RESERVE(ctx, s->size, &s->vector[k]));
    for (int32_t row = 0; row < rows; row++) {
        s->lambda[row] = s->weight[row] = 1.0;
        s->trace[row] = 0.0;
        if (s->plan.order[row] >= 0 && known) dual_sizes(s, p, row);
    }
    dual_laws(s, p);
    return TALUS_OK;
}

// The metric: all blocks alike, or each measured by its λmax (W_NN where only that is worked on).
static void dual_weights(tl_dual *s, bool diagonal) {
    s->uniform = !diagonal;
    double most = 0.0;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        if (s->w.dim > 1) s->weight[row] = s->lambda[row];
        if (s->plan.order[row] >= 0) most = TL_MAX(s->weight[row], most);
    }
    for (int32_t row = 0; row < s->plan.rows; row++)
        s->weight[row] = diagonal && s->plan.order[row] >= 0 ? s->weight[row] / most : 1.0;
}

// What a prepare sets that the user cannot.
static void dual_defaults(tl_dual *s, bool borrowed, bool warm, int32_t interval) {
    s->borrowed = borrowed;
    s->warm = warm;
    s->interval = interval;
    s->unit = 1.0;
}

talus_status tl_dual_prepare_judge(talus_solver *base, const talus_problem *p, int vectors,
                                   bool warm) {
    tl_dual *s = (tl_dual *)base;
    const tl_common_options *opt = base->options;
    talus_context *ctx = base->ctx;
    dual_defaults(s, false, warm, 1);
    TL_TRY(tl_plan_natural(ctx, p->count, &s->plan));
    const bool known = opt->stop == TL_MEASURE_RESIDUAL || opt->stop == TL_MEASURE_FB;
    if (known) // for its diagonal blocks only
        TL_TRY(tl_delassus_create(ctx, p, false, NULL, s->plan.rows, s->plan.order, opt->threads,
                                  &s->w));
    const talus_status status = dual_rows(s, p, p->dim, vectors, known);
    for (int32_t row = 0; status == TALUS_OK && row < s->plan.rows; row++) s->weight[row] = 1.0;
    s->uniform = true;
    tl_delassus_clear(&s->w);
    s->w.problem = p;
    s->w.dim = p->dim;
    return status;
}

bool tl_dual_is_smooth(const talus_problem *p, tl_measure measure) {
    if (p->changes || p->yield || measure == TL_MEASURE_FB || !tl_delassus_reduces(p)) return false;
    for (int32_t i = 0; i < p->count; i++)
        if (p->mu[i] > 0.0) return false;
    return true;
}

static talus_status dual_prepare(talus_solver *base, const talus_problem *p, int vectors,
                                 tl_delassus_form form, bool diagonal, bool warm) {
    tl_dual *s = (tl_dual *)base;
    const tl_common_options *opt = base->options;
    talus_context *ctx = base->ctx;
    TL_REQUIRE(ctx, form.assembled || p->is_global, TALUS_ERR_ARG,
               "%s: form = matrix-free needs a global problem (M, H); this one is local (W): use "
               "form = assembled",
               base->ops->name);
    form.threads = opt->threads;
    dual_defaults(s, false, warm, 5);
    TL_TRY(tl_plan_update(ctx, NULL, p->count, &s->plan));
    tl_graph graph;
    const bool coupled = form.assembled && p->is_global;
    if (coupled) TL_TRY(tl_graph_create(ctx, p, &graph));
    const talus_status status = tl_delassus_update(ctx, p, form, coupled ? &graph : NULL,
                                                   s->plan.rows, s->plan.order, &s->w);
    if (coupled) tl_graph_clear(ctx, &graph);
    TL_TRY(status);
    TL_TRY(dual_rows(s, p, s->w.dim, vectors, true));
    dual_weights(s, diagonal);
    return TALUS_OK;
}

talus_status tl_dual_prepare_as(talus_solver *base, const talus_problem *p, int vectors,
                                bool assembled, bool diagonal, bool warm) {
    const tl_delassus_form form = {.assembled = assembled};
    return dual_prepare(base, p, vectors, form, diagonal, warm);
}

talus_status tl_dual_adopt(talus_solver *base, const tl_plan *plan, const tl_delassus *w,
                           int vectors, bool warm) {
    tl_dual *s = (tl_dual *)base;
    s->plan = *plan;
    s->w = *w;
    dual_defaults(s, true, warm, 1);
    TL_TRY(dual_rows(s, w->problem, w->dim, vectors, true));
    dual_weights(s, false);
    return TALUS_OK;
}

// What the options ask for.
static talus_status dual_prepare_given(talus_solver *base, const talus_problem *p, int vectors,
                                       bool smooth) {
    const tl_dual_options *opt = base->options;
    const bool split = p->is_global && tl_problem_is_separable(p);
    tl_delassus_form form = {.assembled = opt->form == TL_DUAL_ASSEMBLED ||
                                          (opt->form == TL_DUAL_AUTO && !split)};
    form.normal = smooth && !form.assembled && tl_dual_is_smooth(p, (tl_measure)opt->common.stop);
    TL_TRY(dual_prepare(base, p, vectors, form, opt->diagonal, opt->warm));
    ((tl_dual *)base)->unit = opt->unit;
    return TALUS_OK;
}

talus_status tl_dual_prepare_basic(talus_solver *base, const talus_problem *p, int vectors) {
    return dual_prepare_given(base, p, vectors, false);
}

talus_status tl_dual_prepare_whole(talus_solver *base, const talus_problem *p) {
    TL_TRY(dual_prepare_given(base, p, TL_DUAL_VECTORS, false));
    tl_dual *s = (tl_dual *)base;
    s->largest = dual_largest(s);
    return TALUS_OK;
}

talus_status tl_dual_prepare(talus_solver *base, const talus_problem *p) {
    TL_TRY(dual_prepare_given(base, p, TL_DUAL_VECTORS, true));
    tl_dual *s = (tl_dual *)base;
    const double step = ((const tl_dual_options *)base->options)->step;
    s->largest = step > 0.0 ? 1.0 / step : dual_largest(s);
    return TALUS_OK;
}

void tl_dual_import(const tl_dual *s, const double *r, double *to) {
    const talus_problem *p = s->w.problem;
    const int d = s->w.dim, all = p->dim;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        const int32_t i = s->plan.order[row];
        for (int k = 0; k < d; k++)
            to[(int64_t)d * row + k] = i >= 0 ? r[(int64_t)all * i + k] : 0.0;
        if (p->tension && i >= 0) to[(int64_t)d * row] += p->tension[i];
    }
}

void tl_dual_export(const tl_dual *s, const double *from, double *r) {
    const talus_problem *p = s->w.problem;
    const int d = s->w.dim, all = p->dim;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        const int32_t i = s->plan.order[row];
        if (i < 0) continue;
        for (int k = 0; k < all; k++)
            r[(int64_t)all * i + k] = k < d ? from[(int64_t)d * row + k] : 0.0;
        if (p->tension) r[(int64_t)all * i] -= p->tension[i];
    }
}

void tl_dual_begin(tl_dual *s, const double *r, double *to, talus_solve_info *info) {
    if (s->warm)
        tl_dual_import(s, r, to);
    else
        memset(to, 0, (size_t)s->size * sizeof *to);
    s->info = info;
    s->start = tl_seconds();
    s->best_measure = INFINITY;
    s->iterations = 0;
    s->decided = -1;
    s->lazy = false;
    s->best_at = s->from = s->to = NULL;
}

void tl_dual_yield(tl_dual *s, const double *vector) {
    if (!s->best_at || s->best_at != vector) return;
    memcpy(s->best, vector, (size_t)s->size * sizeof *vector);
    s->best_at = NULL;
}

void tl_dual_end(tl_dual *s, double *r) {
    tl_dual_export(s, s->best_at ? s->best_at : s->best, r);
    s->info->iterations = s->iterations;
    s->info->measure = s->best_measure;
}

void tl_dual_apply(const tl_dual *s, const double *r, double *u) {
    const tl_common_options *opt = s->base.options;
    tl_delassus_apply(&s->w, opt->threads, true, r, u);
}

void tl_dual_shift(const tl_dual *s, const double *u, double *f) {
    const int d = s->w.dim;
    if (d == 1) { // nothing rubs
        memmove(f, u, (size_t)s->size * sizeof *f);
        return;
    }
    for (int32_t row = 0; row < s->plan.rows; row++)
        tl_shift(d, &s->law[row], u + (int64_t)d * row, f + (int64_t)d * row);
}

// Sums by eight lanes, which vector units add without changing the result.
#define DUAL_SUM(term)                                                                             \
    double lane[8] = {0.0}, sum = 0.0;                                                             \
    int64_t k = 0;                                                                                 \
    for (; k + 8 <= s->size; k += 8)                                                               \
        for (int l = 0; l < 8; l++) {                                                              \
            const int64_t i = k + l;                                                               \
            lane[l] += (term);                                                                     \
        }                                                                                          \
    for (; k < s->size; k++) {                                                                     \
        const int64_t i = k;                                                                       \
        sum += (term);                                                                             \
    }                                                                                              \
    for (int l = 0; l < 8; l++) sum += lane[l];                                                    \
    return sum

double tl_dual_dot(const tl_dual *s, const double *x, const double *y) { DUAL_SUM(x[i] * y[i]); }

double tl_dual_slope(const tl_dual *s, const double *f, const double *x, const double *y) {
    DUAL_SUM(f[i] * (x[i] - y[i]));
}

double tl_dual_dot_difference(const tl_dual *s, const double *x, const double *y, const double *v,
                              const double *w) {
    DUAL_SUM((x[i] - y[i]) * (v[i] - w[i]));
}

TL_INLINE double dual_distance(int d, const tl_dual *s, const double *x, const double *y) {
    DUAL_SUM(s->weight[i / d] * (x[i] - y[i]) * (x[i] - y[i]));
}

TL_INLINE double dual_distance_u(int d, const tl_dual *s, const double *v, const double *w) {
    DUAL_SUM((v[i] - w[i]) * (v[i] - w[i]) / s->weight[i / d]);
}

double tl_dual_distance(const tl_dual *s, const double *x, const double *y) {
    return s->w.dim == 1   ? dual_distance(1, s, x, y)
           : s->w.dim == 2 ? dual_distance(2, s, x, y)
           : s->w.dim == 3 ? dual_distance(3, s, x, y)
                           : dual_distance(6, s, x, y);
}

double tl_dual_distance_u(const tl_dual *s, const double *v, const double *w) {
    return s->w.dim == 1   ? dual_distance_u(1, s, v, w)
           : s->w.dim == 2 ? dual_distance_u(2, s, v, w)
           : s->w.dim == 3 ? dual_distance_u(3, s, v, w)
                           : dual_distance_u(6, s, v, w);
}

void tl_dual_extrapolate(const tl_dual *s, const double *x, const double *y, double factor,
                         double *out) {
    for (int64_t k = 0; k < s->size; k++) out[k] = x[k] + factor * (x[k] - y[k]);
}

void tl_dual_extragradient(const tl_dual *s, const double *x, const double *u, double *step,
                           double *next, double *next_u, double *middle, double *middle_u,
                           double *room) {
    double *const f = room, *const middle_f = next_u; // F at both points
    double ratio = 0.0;
    for (int halving = 0; halving < 50; halving++) {
        tl_dual_step(s, x, u, *step, middle);
        tl_dual_apply(s, middle, middle_u);
        tl_dual_shift(s, u, f);
        tl_dual_shift(s, middle_u, middle_f);
        const double moved = tl_dual_distance(s, x, middle);
        ratio = moved > 0.0 ? *step * sqrt(tl_dual_distance_u(s, f, middle_f) / moved) : 0.0;
        if (ratio <= 0.9) break;
        *step *= 2.0 / 3.0 * (ratio < 1.0 ? 1.0 : 1.0 / ratio);
    }
    tl_dual_step(s, x, middle_u, *step, next);
    tl_dual_apply(s, next, next_u);
    if (ratio < 0.3) *step *= 1.5;
}

// |r − before| / (|before| + unit); a step away from nothing in a unit of nothing counts as one.
static double dual_relative_step(const tl_dual *s, const double *r, const double *before) {
    const bool known = s->from == before && s->to == r; // tl_dual_carry has made the sums
    const double moved = sqrt(known ? s->moved : tl_dual_dot_difference(s, r, before, r, before));
    const double size = sqrt(known ? s->norm : tl_dual_dot(s, before, before)) + s->unit;
    return size > 0.0 ? moved / size : moved > 0.0 ? 1.0 : 0.0;
}

// Σ (r − max(0, r − u))² of normal rows alone, which nothing but their number makes long.
static double dual_natural_normal(const tl_dual *s, const double *r, const double *u) {
    double lane[TL_LANES] = {0.0}, sum = 0.0;
    for (int64_t row = 0; row < s->plan.rows; row += TL_LANES)
        for (int l = 0; l < TL_LANES; l++) {
            const double moved = r[row + l] - u[row + l];
            const double gap = (moved > 0.0 ? moved : 0.0 * moved) - r[row + l]; // a NaN stays
            lane[l] += gap * gap;
        }
    for (int l = 0; l < TL_LANES; l++) sum += lane[l];
    return sum;
}

// The contributions of all blocks, put together.
TL_INLINE double dual_total(int d, const tl_dual *s, tl_measure measure, const double *r,
                            const double *u) {
    double total = 0.0;
    for (int32_t row = 0; row < s->plan.rows; row++) {
        if (s->plan.order[row] < 0) continue;
        const int64_t at = (int64_t)d * row;
        const double x = tl_measure_block(d, measure, &s->law[row], s->lambda[row], s->trace[row],
                                          u + at, r + at);
        if (tl_measure_sums(measure))
            total += x;
        else if (!(x <= total)) // a NaN stays
            total = x;
    }
    return total;
}

double tl_dual_measure(const tl_dual *s, tl_measure measure, const double *r, const double *u,
                       const double *before) {
    const int d = s->w.dim;
    if (tl_measure_is_change(measure)) {
        double normal = 0.0, tangent = 0.0;
        if (!before) return s->w.problem->count > 0 ? INFINITY : 0.0;
        if (measure == TL_MEASURE_STEP) return dual_relative_step(s, r, before);
        for (int32_t row = 0; row < s->plan.rows; row++) {
            double delta[TL_MAX_DIM] = {0.0};
            for (int k = 0; k < d; k++)
                delta[k] = r[(int64_t)d * row + k] - before[(int64_t)d * row + k];
            normal = TL_MAX(fabs(delta[0]), normal);
            tangent = TL_MAX(tl_norm_t(d, delta), tangent);
        }
        return normal + tangent;
    }
    const double total = d == 1 && measure == TL_MEASURE_NATURAL ? dual_natural_normal(s, r, u)
                         : d == 1                                ? dual_total(1, s, measure, r, u)
                         : d == 2                                ? dual_total(2, s, measure, r, u)
                         : d == 3                                ? dual_total(3, s, measure, r, u)
                                                                 : dual_total(6, s, measure, r, u);
    return tl_measure_total(measure, s->w.problem, s->scale, total);
}

// Look whether the caller or the clock wants an end; never before the first iteration.
static bool dual_look(tl_dual *s) {
    const tl_common_options *opt = s->base.options;
    const bool begun = s->iterations > 0;
    s->cancelled = begun && tl_cancelled(s->base.ctx);
    s->late = begun && tl_seconds() - s->start + s->base.prepare_seconds > opt->time_limit;
    return s->late || s->cancelled;
}

bool tl_dual_hurried(tl_dual *s) {
    if (!dual_look(s)) return false;
    s->due = s->last = true;
    s->decided = s->iterations;
    return true;
}

bool tl_dual_due(tl_dual *s) {
    const tl_common_options *opt = s->base.options;
    if (s->decided == s->iterations) return s->due;
    const int32_t interval = opt->check > 0                                ? opt->check
                             : tl_measure_is_change((tl_measure)opt->stop) ? 1
                                                                           : s->interval;
    s->last = dual_look(s) || s->iterations >= opt->iterations;
    s->due = s->last || s->iterations % interval == 0;
    s->decided = s->iterations;
    return s->due;
}

// Measure (r, u), tell the monitor, keep the best. Returns the measure.
static double dual_judge(tl_dual *s, const double *r, const double *u, const double *before) {
    const tl_common_options *opt = s->base.options;
    const double measure = s->measure = tl_dual_measure(s, (tl_measure)opt->stop, r, u, before);
    if (s->base.monitor)
        s->base.monitor(s->base.monitor_user, s->iterations, measure, tl_seconds() - s->start);
    if (measure < s->best_measure || s->iterations == 0) {
        s->best_measure = measure;
        s->best_at = r;
        if (!s->lazy) tl_dual_yield(s, r);
    }
    return measure;
}

void tl_dual_finish(tl_dual *s, const double *r, const double *u, const double *before,
                    bool replace) {
    const tl_common_options *opt = s->base.options;
    if (replace) s->best_measure = INFINITY;
    (void)dual_judge(s, r, u, before);
    s->info->outcome =
        s->best_measure <= opt->tolerance ? TALUS_OUTCOME_SOLVED : TALUS_OUTCOME_STALLED;
}

bool tl_dual_over(tl_dual *s, const double *r, const double *u, const double *before) {
    const tl_common_options *opt = s->base.options;
    if (tl_dual_due(s)) {
        const double measure = dual_judge(s, r, u, before);
        const bool diverged = isnan(measure) || (isinf(measure) && before != NULL);
        s->info->outcome = s->best_measure <= opt->tolerance ? TALUS_OUTCOME_SOLVED
                           : diverged                        ? TALUS_OUTCOME_DIVERGED
                           : s->cancelled                    ? TALUS_OUTCOME_CANCELLED
                           : s->late                         ? TALUS_OUTCOME_TIME_LIMIT
                                                             : TALUS_OUTCOME_ITERATION_LIMIT;
        if (s->last || diverged || s->info->outcome == TALUS_OUTCOME_SOLVED) return true;
    }
    s->iterations++;
    return false;
}
