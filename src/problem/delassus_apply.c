// SPDX-License-Identifier: Apache-2.0
// u = W l + q. Assembled: row by row. Matrix-free: z = N Hᵀ l, then u = H z + q row by row.
//
// z is scattered, row after row, by one thread, which reads H in the order it lies in; a team
// gathers it body by body. Both add the rows of a body in ascending order, from 0: the same bits.
#include "base/thread.h"
#include "linalg/dense_inline.h"
#include "problem/row_product.h"
#include <string.h>

typedef struct apply_job {
    const tl_delassus *w;
    bool free; // with q
    const double *l;
    double *u;
} apply_job;

// Rows begin … end of the assembled operator.
TL_INLINE void apply_assembled(int d, const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int32_t row = (int32_t)begin; row < end; row++) {
        double *u = job->u + (int64_t)d * row, block[TL_MAX_DIM * TL_MAX_DIM], own[TL_MAX_DIM];
        const double *l = job->l + (int64_t)d * row;
        for (int k = 0; k < d; k++) u[k] = job->free ? w->q[(int64_t)d * row + k] : 0.0;
        tl_row_product(d, w, row, job->l, u);
        tl_delassus_diagonal(w, row, block);
        tl_mv(d, block, l, own);
        for (int k = 0; k < d; k++) u[k] += own[k];
    }
}

// Where M is diagonal, what has been added up in z is Hᵀ l.
TL_INLINE void apply_scale(const tl_delassus *w, int64_t begin, int64_t end) {
    for (int64_t k = begin; w->inverse && k < end; k++) w->z[k] *= w->inverse[k];
}

// z by one thread.
TL_INLINE void apply_scatter(int d, int n, const apply_job *job) {
    const tl_delassus *w = job->w;
    for (int32_t k = 0; k < w->dof; k++) w->z[k] = 0.0;
    for (int32_t row = 0; row < w->rows; row++)
        if (w->order[row] >= 0)
            tl_row_spread(d, n, w, w->order[row], NULL, job->l + (int64_t)d * row, w->z);
    apply_scale(w, 0, w->dof);
}

// z of the bodies begin … end.
TL_INLINE void apply_gather(int d, int n, const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    const int32_t *start = w->problem->body_start;
    const double *a = w->y ? w->y : w->h;
    for (int64_t b = begin; b < end; b++) {
        const int64_t first = w->width > 0 ? b * w->width : start[b];
        const int64_t last = w->width > 0 ? first + w->width : start[b + 1];
        for (int64_t m = first; m < last; m++) w->z[m] = 0.0;
        for (int64_t e = w->body_start[b]; e < w->body_start[b + 1]; e++)
            tl_block_spread(d, n, tl_row_span(d, n, w, w->body_block[e]), a, NULL,
                            job->l + (int64_t)d * w->body_row[e], w->z);
        apply_scale(w, first, last);
    }
}

// u = H z + q of rows begin … end.
TL_INLINE void apply_spread(int d, int n, const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int64_t row = begin; row < end; row++) {
        double *u = job->u + d * row;
        for (int k = 0; k < d; k++) u[k] = job->free ? w->q[d * row + k] : 0.0;
        if (w->order[row] >= 0) tl_row_velocity(d, n, w, w->order[row], w->z, u);
    }
}

// ---- central -----------------------------------------------------------------------------------

// What is in the fourth place of a vector means nothing and never gets into the others.

void tl_apply_scatter_central(const apply_job *job);
TL_SIMD_CLONES void tl_apply_scatter_central(const apply_job *job) {
    const tl_delassus *w = job->w;
    const int32_t *pair = w->pair;
    memset(w->z, 0, (size_t)w->dof * sizeof *w->z);
    // Rows with the same first body often follow each other: its sum stays in a register.
    for (int64_t row = 0; row < w->rows;) {
        const int32_t body = pair[2 * row];
        tl_vec4 a, b, n;
        memcpy(&a, w->z + 4 * (int64_t)body, sizeof a);
        for (; row < w->rows && pair[2 * row] == body; row++) {
            double *zb = w->z + 4 * (int64_t)pair[2 * row + 1];
            memcpy(&n, w->normal + 3 * row, sizeof n);
            memcpy(&b, zb, sizeof b);
            n *= job->l[row];
            a += n;
            b -= n;
            memcpy(zb, &b, sizeof b);
        }
        memcpy(w->z + 4 * (int64_t)body, &a, sizeof a);
    }
    apply_scale(w, 0, w->dof);
    memset(w->z + w->dof - 4, 0, 4 * sizeof *w->z);
}

void tl_apply_gather_central(const apply_job *job, int64_t begin, int64_t end);
TL_SIMD_CLONES void tl_apply_gather_central(const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int64_t b = begin; b < end; b++) {
        tl_vec4 sum = {0.0}, n;
        for (int64_t e = w->body_start[b]; e < w->body_start[b + 1]; e++) {
            const int64_t row = w->body_row[e] >> 1;
            const double l = w->body_row[e] & 1 ? -job->l[row] : job->l[row];
            memcpy(&n, w->normal + 3 * row, sizeof n);
            sum += n * l;
        }
        memcpy(&n, w->inverse + 4 * b, sizeof n);
        sum *= n;
        memcpy(w->z + 4 * b, &sum, sizeof sum);
    }
    if (begin < end && end == w->problem->body_count)
        memset(w->z + w->dof - 4, 0, 4 * sizeof *w->z);
}

void tl_apply_spread_central(const apply_job *job, int64_t begin, int64_t end);
TL_SIMD_CLONES void tl_apply_spread_central(const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    const int32_t *pair = w->pair;
    for (int64_t row = begin; row < end; row++) {
        tl_vec4 n, a, b;
        memcpy(&n, w->normal + 3 * row, sizeof n);
        memcpy(&a, w->z + 4 * (int64_t)pair[2 * row], sizeof a);
        memcpy(&b, w->z + 4 * (int64_t)pair[2 * row + 1], sizeof b);
        n *= a - b;
        job->u[row] = (n[0] + n[1]) + n[2] + (job->free ? w->q[row] : 0.0);
    }
}

// The loops for rows and blocks of a given size.
typedef struct apply_loops {
    void (*assembled)(const apply_job *job, int64_t begin, int64_t end);
    void (*scatter)(const apply_job *job);
    void (*gather)(const apply_job *job, int64_t begin, int64_t end);
    void (*spread)(const apply_job *job, int64_t begin, int64_t end);
} apply_loops;

#define APPLY_ASSEMBLED(d)                                                                         \
    void tl_apply_assembled_##d(const apply_job *job, int64_t begin, int64_t end);                 \
    TL_SIMD_CLONES void tl_apply_assembled_##d(const apply_job *job, int64_t begin, int64_t end) { \
        apply_assembled(d, job, begin, end);                                                       \
    }
#define APPLY_FREE(d, n)                                                                           \
    void tl_apply_scatter_##d##_##n(const apply_job *job);                                         \
    void tl_apply_gather_##d##_##n(const apply_job *job, int64_t begin, int64_t end);              \
    void tl_apply_spread_##d##_##n(const apply_job *job, int64_t begin, int64_t end);              \
    TL_SIMD_CLONES void tl_apply_scatter_##d##_##n(const apply_job *job) {                         \
        apply_scatter(d, n, job);                                                                  \
    }                                                                                              \
    TL_SIMD_CLONES void tl_apply_gather_##d##_##n(const apply_job *job, int64_t begin,             \
                                                  int64_t end) {                                   \
        apply_gather(d, n, job, begin, end);                                                       \
    }                                                                                              \
    TL_SIMD_CLONES void tl_apply_spread_##d##_##n(const apply_job *job, int64_t begin,             \
                                                  int64_t end) {                                   \
        apply_spread(d, n, job, begin, end);                                                       \
    }
APPLY_ASSEMBLED(2)
APPLY_ASSEMBLED(3)
APPLY_ASSEMBLED(6)
APPLY_FREE(1, 0)
APPLY_FREE(1, 2)
APPLY_FREE(1, 3)
APPLY_FREE(1, 6)
APPLY_FREE(2, 0)
APPLY_FREE(2, 3)
APPLY_FREE(3, 0)
APPLY_FREE(3, 6)
APPLY_FREE(6, 0)

#define LOOPS(d, n)                                                                                \
    {                                                                                              \
        .scatter = tl_apply_scatter_##d##_##n, .gather = tl_apply_gather_##d##_##n,                \
        .spread = tl_apply_spread_##d##_##n                                                        \
    }

static apply_loops apply_choose(const tl_delassus *w) {
    static const apply_loops one[] = {LOOPS(1, 2), LOOPS(1, 3), LOOPS(1, 6), LOOPS(1, 0)};
    static const apply_loops two[] = {LOOPS(2, 3), LOOPS(2, 0)};
    static const apply_loops three[] = {LOOPS(3, 6), LOOPS(3, 0)};
    static const apply_loops six = LOOPS(6, 0);
    static const apply_loops central = {.scatter = tl_apply_scatter_central,
                                        .gather = tl_apply_gather_central,
                                        .spread = tl_apply_spread_central};
    const int32_t n = w->width;
    apply_loops loops = w->pair       ? central
                        : w->dim == 1 ? one[n == 2   ? 0
                                            : n == 3 ? 1
                                            : n == 6 ? 2
                                                     : 3]
                        : w->dim == 2 ? two[n != 3]
                        : w->dim == 3 ? three[n != 6]
                                      : six;
    loops.assembled = w->dim == 2   ? tl_apply_assembled_2
                      : w->dim == 3 ? tl_apply_assembled_3
                                    : tl_apply_assembled_6;
    return loops;
}

// Unknowns begin … end of z where Y has a row over all of them for every block.
static void apply_gather_full(const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int64_t m = begin; m < end; m++) w->z[m] = 0.0;
    for (int32_t row = 0; row < w->rows; row++)
        for (int i = 0; w->order[row] >= 0 && i < w->dim; i++) {
            const double *y = w->y + ((int64_t)w->order[row] * w->dim + i) * w->dof;
            const double l = job->l[(int64_t)w->dim * row + i];
            for (int64_t m = begin; m < end; m++) w->z[m] += y[m] * l;
        }
}

static void apply_work(void *arg, tl_team *team, int rank) {
    const apply_job *job = arg;
    const tl_delassus *w = job->w;
    const apply_loops loops = apply_choose(w);
    const int size = tl_team_size(team);
    int64_t begin, end;
    if (!w->assembled) {
        tl_share(w->separable ? w->problem->body_count : w->dof, size, rank, &begin, &end);
        if (!w->separable)
            apply_gather_full(job, begin, end);
        else if (w->body_start)
            loops.gather(job, begin, end);
        else if (rank == 0)
            loops.scatter(job);
        tl_barrier(team);
    }
    tl_share(w->rows, size, rank, &begin, &end);
    if (w->assembled)
        loops.assembled(job, begin, end);
    else
        loops.spread(job, begin, end);
}

void tl_delassus_apply(const tl_delassus *w, int threads, bool free, const double *l, double *u) {
    apply_job job = {.w = w, .free = free, .l = l, .u = u};
    tl_parallel(w->ctx, threads, apply_work, &job);
}
