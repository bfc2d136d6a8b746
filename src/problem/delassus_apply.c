// SPDX-License-Identifier: Apache-2.0
// u = W l + q. Assembled: row by row. Matrix-free: z = N Hᵀ l body by body (or, where N is full,
// unknown by unknown), then u = H z + q row by row. Every sum has one owner and one order.
#include "base/thread.h"
#include "linalg/dense_inline.h"
#include "problem/row_product.h"

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

#define APPLY_FORM(d)                                                                              \
    void tl_apply_assembled_##d(const apply_job *job, int64_t begin, int64_t end);                 \
    TL_SIMD_CLONES void tl_apply_assembled_##d(const apply_job *job, int64_t begin, int64_t end) { \
        apply_assembled(d, job, begin, end);                                                       \
    }
APPLY_FORM(2)
APPLY_FORM(3)
APPLY_FORM(6)

// z of the bodies begin … end.
static void apply_gather(const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int64_t b = begin; b < end; b++) {
        double *z = w->z + w->problem->body_start[b];
        const int32_t size = w->problem->body_start[b + 1] - w->problem->body_start[b];
        for (int32_t m = 0; m < size; m++) z[m] = 0.0;
        for (int64_t e = w->body_start[b]; e < w->body_start[b + 1]; e++) {
            const double *y = w->y.value + w->y.offset[w->body_block[e]];
            const double *l = job->l + (int64_t)w->dim * w->body_row[e];
            for (int i = 0; i < w->dim; i++)
                for (int32_t m = 0; m < size; m++) z[m] += y[i * size + m] * l[i];
        }
    }
}

// Unknowns begin … end of z where each row of Y covers them all.
static void apply_gather_full(const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int64_t m = begin; m < end; m++) w->z[m] = 0.0;
    for (int32_t row = 0; row < w->rows; row++)
        for (int64_t e = w->y.start[row]; e < w->y.start[row + 1]; e++)
            for (int i = 0; i < w->dim; i++) {
                const double *y = w->y.value + w->y.offset[e] + (int64_t)i * w->dof;
                const double l = job->l[(int64_t)w->dim * row + i];
                for (int64_t m = begin; m < end; m++) w->z[m] += y[m] * l;
            }
}

// u = H z + q of rows begin … end.
static void apply_spread(const apply_job *job, int64_t begin, int64_t end) {
    const tl_delassus *w = job->w;
    for (int64_t row = begin; row < end; row++) {
        double *u = job->u + w->dim * row;
        for (int i = 0; i < w->dim; i++) u[i] = job->free ? w->q[w->dim * row + i] : 0.0;
        for (int64_t e = w->h.start[row]; e < w->h.start[row + 1]; e++) {
            const double *h = w->h.value + w->h.offset[e], *z = w->z + w->h.dof[e];
            const int32_t size = w->h.size[e];
            for (int i = 0; i < w->dim; i++)
                for (int32_t m = 0; m < size; m++) u[i] += h[i * size + m] * z[m];
        }
    }
}

static void apply_work(void *arg, tl_team *team, int rank) {
    const apply_job *job = arg;
    const tl_delassus *w = job->w;
    const int size = tl_team_size(team);
    int64_t begin, end;
    if (!w->assembled) {
        const bool separable = w->body_start != NULL;
        tl_share(separable ? w->problem->body_count : w->dof, size, rank, &begin, &end);
        if (separable)
            apply_gather(job, begin, end);
        else
            apply_gather_full(job, begin, end);
        tl_barrier(team);
    }
    tl_share(w->rows, size, rank, &begin, &end);
    if (!w->assembled)
        apply_spread(job, begin, end);
    else if (w->dim == 2)
        tl_apply_assembled_2(job, begin, end);
    else if (w->dim == 3)
        tl_apply_assembled_3(job, begin, end);
    else
        tl_apply_assembled_6(job, begin, end);
}

void tl_delassus_apply(const tl_delassus *w, int threads, bool free, const double *l, double *u) {
    apply_job job = {.w = w, .free = free, .l = l, .u = u};
    tl_parallel(w->ctx, threads, apply_work, &job);
}
