// SPDX-License-Identifier: Apache-2.0
// The projected steps of the methods in dual.h: r ← P(r − step F) in the metric of the weights.
#include "base/thread.h"
#include "solve/dual.h"

// P(x − length (v + g(v))) of a row, in `out`; v becomes v + g(v).
TL_INLINE void step_row(int d, const tl_law *law, const double *x, double *v, double length,
                        double *out) {
    double moved[TL_MAX_DIM];
    tl_shift(d, law, v, v);
    for (int k = 0; k < d; k++) moved[k] = x[k] - length * v[k];
    tl_project(d, law, moved, out);
}

typedef struct step_job {
    const tl_dual *s;
    const double *x, *before, *u, *before_u; // before is NULL: a plain step
    double beta, step;
    double *out;
} step_job;

// What tl_dual_carry adds up, by lanes: F(y)·(out − x), |out − x|², |x|².
typedef struct step_lanes {
    double slope[TL_LANES], moved[TL_LANES], norm[TL_LANES];
} step_lanes;

// Rows first … last of a block that are normal rows alone: nothing rubs, what is positive stays. A
// group at a time, of which there are whole ones only.
TL_INLINE void step_normal(const step_job *job, bool uniform, int64_t first, int64_t last,
                           step_lanes *sum) {
    const double beta = job->before ? job->beta : 0.0, step = job->step;
    for (int64_t row = first; row < last; row += TL_LANES) {
        const double *x = job->x + row, *u = job->u + row, *weight = job->s->weight + row;
        const double *x_before = job->before ? job->before + row : x;
        const double *u_before = job->before ? job->before_u + row : u;
        double next[TL_LANES];
        for (int l = 0; l < TL_LANES; l++) {
            const double y = x[l] + beta * (x[l] - x_before[l]);
            const double v = u[l] + beta * (u[l] - u_before[l]);
            const double moved = y - (uniform ? step : step / weight[l]) * v;
            next[l] = moved > 0.0 ? moved : 0.0;
            const double move = next[l] - x[l];
            sum->slope[l] += v * move;
            sum->moved[l] += move * move;
            sum->norm[l] += x[l] * x[l];
        }
        for (int l = 0; l < TL_LANES; l++) job->out[row + l] = next[l];
    }
}

// Block `block` of rows.
TL_INLINE void step_block(int d, const step_job *job, int64_t block) {
    const tl_dual *s = job->s;
    const int64_t first = block * TL_DUAL_BLOCK, end = first + TL_DUAL_BLOCK;
    const int64_t last = end < s->plan.rows ? end : s->plan.rows;
    step_lanes sum = {.slope = {0.0}};
    if (d == 1 && s->uniform) step_normal(job, true, first, last, &sum);
    if (d == 1 && !s->uniform) step_normal(job, false, first, last, &sum);
    for (int64_t row = first; d > 1 && row < last; row++) {
        const double *x = job->x + d * row, *u = job->u + d * row;
        const double length = job->step / s->weight[row];
        double y[TL_MAX_DIM], v[TL_MAX_DIM], part = 0.0;
        for (int k = 0; k < d; k++) {
            y[k] = job->before ? x[k] + job->beta * (x[k] - job->before[d * row + k]) : x[k];
            v[k] = job->before ? u[k] + job->beta * (u[k] - job->before_u[d * row + k]) : u[k];
        }
        step_row(d, &s->law[row], y, v, length, job->out + d * row);
        if (!job->before) continue;
        const int lane = (int)(row % TL_LANES);
        for (int k = 0; k < d; k++) {
            const double move = job->out[d * row + k] - x[k];
            part += v[k] * move;
            sum.moved[lane] += move * move;
            sum.norm[lane] += x[k] * x[k];
        }
        sum.slope[lane] += part;
    }
    double *total = s->part + TL_DUAL_SUMS * block;
    total[0] = total[1] = total[2] = 0.0;
    for (int l = 0; l < TL_LANES; l++) {
        total[0] += sum.slope[l];
        total[1] += sum.moved[l];
        total[2] += sum.norm[l];
    }
}

#define STEP_FORM(d)                                                                               \
    void tl_dual_step_blocks_##d(const step_job *job, int64_t begin, int64_t end);                 \
    TL_SIMD_CLONES void tl_dual_step_blocks_##d(const step_job *job, int64_t begin, int64_t end) { \
        for (int64_t block = begin; block < end; block++) step_block(d, job, block);               \
    }
STEP_FORM(1)
STEP_FORM(2)
STEP_FORM(3)
STEP_FORM(6)

static int64_t step_blocks(const tl_dual *s) {
    return ((int64_t)s->plan.rows + TL_DUAL_BLOCK - 1) / TL_DUAL_BLOCK;
}

static void step_work(void *arg, tl_team *team, int rank) {
    const step_job *job = arg;
    int64_t begin, end;
    tl_share(step_blocks(job->s), tl_team_size(team), rank, &begin, &end);
    if (job->s->w.dim == 1) tl_dual_step_blocks_1(job, begin, end);
    if (job->s->w.dim == 2) tl_dual_step_blocks_2(job, begin, end);
    if (job->s->w.dim == 3) tl_dual_step_blocks_3(job, begin, end);
    if (job->s->w.dim == 6) tl_dual_step_blocks_6(job, begin, end);
}

static void step_run(step_job *job) {
    const tl_common_options *opt = job->s->base.options;
    tl_parallel(job->s->base.ctx, opt->threads, step_work, job);
}

void tl_dual_step(const tl_dual *s, const double *r, const double *u, double step, double *out) {
    step_job job = {.s = s, .x = r, .u = u, .step = step, .out = out};
    step_run(&job);
}

double tl_dual_carry(tl_dual *s, const double *x, const double *before, const double *u,
                     const double *before_u, double beta, double step, double *out) {
    step_job job = {.s = s,
                    .x = x,
                    .before = before,
                    .u = u,
                    .before_u = before_u,
                    .beta = beta,
                    .step = step,
                    .out = out};
    double slope = 0.0;
    step_run(&job);
    s->moved = s->norm = 0.0;
    for (int64_t block = 0; block < step_blocks(s); block++) {
        slope += s->part[TL_DUAL_SUMS * block];
        s->moved += s->part[TL_DUAL_SUMS * block + 1];
        s->norm += s->part[TL_DUAL_SUMS * block + 2];
    }
    s->from = x;
    s->to = out;
    return slope;
}
