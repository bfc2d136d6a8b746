// SPDX-License-Identifier: Apache-2.0
// Sparse Cholesky A = Pᵀ L Lᵀ P by CHOLMOD (long integers: the entries of L may exceed 2³¹).
// CHOLMOD is told to be silent; what it has to say becomes a status and a column number.
#include "linalg/spd.h"
#include <cholmod.h>
#include <string.h>

struct tl_spd {
    talus_context *ctx;
    int32_t n;
    double tolerance;
    cholmod_common common;
    cholmod_factor *factor;
    cholmod_sparse *lower;    // kept from the first tl_spd_refactor on
    cholmod_dense *x, *y, *e; // kept between solves, so that repeated solves allocate nothing
};

static talus_status spd_memory(talus_context *ctx, int32_t n) {
    return tl_fail(ctx, TALUS_ERR_MEMORY, "CHOLMOD: no memory for a system of %d unknowns", n);
}

// Room for the lower triangle in CHOLMOD's own form.
static cholmod_sparse *spd_room(tl_spd *s, const tl_csr *a) {
    size_t entries = 0;
    for (int32_t j = 0; j < a->rows; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++) entries += a->index[k] >= j;
    const size_t n = (size_t)s->n;
    return cholmod_l_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, &s->common);
}

static void spd_fill(const tl_spd *s, const tl_csr *a, cholmod_sparse *lower) {
    SuiteSparse_long *start = lower->p, *index = lower->i, to = 0;
    double *value = lower->x;
    for (int32_t j = 0; j < a->rows; j++) {
        start[j] = to;
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->index[k] >= j) {
                index[to] = a->index[k];
                value[to++] = a->value[k];
            }
    }
    start[s->n] = to;
}

// Original column of the first pivot (in elimination order) that is too small, or −1.
static int32_t spd_small_pivot(const cholmod_factor *f, const tl_csr *a, double tolerance) {
    const SuiteSparse_long *perm = f->Perm, *start = f->p;
    const SuiteSparse_long *super = f->super, *px = f->px, *pi = f->pi;
    const double *x = f->x;
    SuiteSparse_long node = 0;
    for (SuiteSparse_long j = 0; j < (SuiteSparse_long)f->n; j++) {
        double l;
        if (f->is_super) { // supernodes are dense, column major, diagonal block on top
            while (j >= super[node + 1]) node++;
            const SuiteSparse_long c = j - super[node], height = pi[node + 1] - pi[node];
            l = x[px[node] + c + c * height];
        } else {
            l = x[start[j]];
        }
        const int32_t column = (int32_t)perm[j];
        if (!(l * l > tolerance * tl_csr_at(a, column, column))) return column;
    }
    return -1;
}

// Values into the symbolic factor.
static talus_status spd_numeric(tl_spd *s, const tl_csr *a, cholmod_sparse *lower, int32_t *bad) {
    *bad = -1;
    spd_fill(s, a, lower);
    cholmod_l_factorize(lower, s->factor, &s->common);
    if (s->common.status == CHOLMOD_NOT_POSDEF)
        *bad = (int32_t)((const SuiteSparse_long *)s->factor->Perm)[s->factor->minor];
    else if (s->common.status < CHOLMOD_OK)
        return spd_memory(s->ctx, s->n);
    else
        *bad = spd_small_pivot(s->factor, a, s->tolerance);
    TL_REQUIRE(s->ctx, *bad < 0, TALUS_ERR_SINGULAR, "matrix is not positive definite at column %d",
               *bad);
    return TALUS_OK;
}

static talus_status spd_factor(tl_spd *s, const tl_csr *a, int32_t *bad) {
    cholmod_sparse *lower = spd_room(s, a);
    if (!lower) return spd_memory(s->ctx, s->n);
    spd_fill(s, a, lower);
    s->factor = cholmod_l_analyze(lower, &s->common);
    const talus_status status =
        s->factor ? spd_numeric(s, a, lower, bad) : spd_memory(s->ctx, s->n);
    cholmod_l_free_sparse(&lower, &s->common);
    return status;
}

talus_status tl_spd_refactor(tl_spd *s, const tl_csr *a) {
    int32_t bad;
    if (s->n == 0) return TALUS_OK;
    if (!s->lower) s->lower = spd_room(s, a);
    if (!s->lower) return spd_memory(s->ctx, s->n);
    return spd_numeric(s, a, s->lower, &bad);
}

talus_status tl_spd_create(talus_context *ctx, const tl_csr *a, double tolerance, int32_t *bad,
                           tl_spd **out) {
    *out = NULL;
    *bad = -1;
    for (int32_t j = 0; j < a->rows; j++)
        if (!(tl_csr_at(a, j, j) > 0.0)) {
            *bad = j;
            return tl_fail(ctx, TALUS_ERR_SINGULAR, "diagonal entry %d is %g, not positive", j,
                           tl_csr_at(a, j, j));
        }
    tl_spd *s;
    TL_TRY(TL_ALLOC(ctx, 1, &s));
    s->ctx = ctx;
    s->n = a->rows;
    s->tolerance = tolerance;
    cholmod_l_start(&s->common);
    s->common.print = 0;
    s->common.error_handler = NULL;
    s->common.final_ll = 1; // LDLᵀ would accept an indefinite matrix
    s->common.quick_return_if_not_posdef = 1;
    const talus_status status = s->n > 0 ? spd_factor(s, a, bad) : TALUS_OK;
    if (status != TALUS_OK) {
        tl_spd_destroy(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

void tl_spd_destroy(tl_spd *s) {
    if (!s) return;
    cholmod_l_free_factor(&s->factor, &s->common);
    cholmod_l_free_sparse(&s->lower, &s->common);
    cholmod_l_free_dense(&s->x, &s->common);
    cholmod_l_free_dense(&s->y, &s->common);
    cholmod_l_free_dense(&s->e, &s->common);
    cholmod_l_finish(&s->common);
    tl_free(s->ctx, s);
}

talus_status tl_spd_solve(tl_spd *s, int32_t columns, double *x) {
    if (s->n == 0 || columns == 0) return TALUS_OK;
    const size_t n = (size_t)s->n;
    cholmod_dense b = {.nrow = n,
                       .ncol = (size_t)columns,
                       .nzmax = n * (size_t)columns,
                       .d = n,
                       .x = x,
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_l_solve2(CHOLMOD_A, s->factor, &b, NULL, &s->x, NULL, &s->y, &s->e, &s->common))
        return spd_memory(s->ctx, s->n);
    memcpy(x, s->x->x, n * (size_t)columns * sizeof *x);
    return TALUS_OK;
}
