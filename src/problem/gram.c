// SPDX-License-Identifier: Apache-2.0
// S is small and dense (one joint, a few) or large and sparse (a chain): LAPACK or CHOLMOD.
//
// Rows that depend on each other (a closed loop of hinges in space) make S singular. Then
//     S_e = S + e D,    D = diag(S),    e = 1e-10
// is factored, and x ← x + S_e⁻¹ (b − S x) is repeated from x = 0. On the range of S, whose least
// eigenvalue relative to D be s, the error shrinks by e / (s + e) each time: PASSES leave 1e-12
// where s is 1e-6. Along its kernel x becomes PASSES / e times what b has there: nothing where the
// rows agree, and M⁻¹ Cᵀ x does not notice. Of all multipliers that give one motion, it is about
// the smallest ones in the norm of D: equal joints share a load equally.
#include "problem/gram.h"
#include "linalg/dense.h"
#include "linalg/spd.h"
#include <string.h>

enum { GRAM_DENSE = 64, GRAM_PASSES = 3 };
#define GRAM_DEPENDENT 1e-12 // of S_jj: what rounding leaves of a pivot that is zero
#define GRAM_SLACK 1e-10

struct tl_gram {
    talus_context *ctx;
    int32_t n;
    double *dense; // factor, column major; NULL: sparse
    tl_spd *sparse;
    tl_csr s;              // dependent rows: S itself, lower triangle
    double *rest, *answer; // n each, likewise
};

void tl_gram_destroy(tl_gram *g) {
    if (!g) return;
    tl_spd_destroy(g->sparse);
    tl_free(g->ctx, g->dense);
    tl_csr_clear(g->ctx, &g->s);
    tl_free(g->ctx, g->rest);
    tl_free(g->ctx, g->answer);
    tl_free(g->ctx, g);
}

bool tl_gram_is_dependent(const tl_gram *g) { return g->rest != NULL; }

// Factor what `s` holds.
static talus_status gram_factor(tl_gram *g, const tl_csr *s, int32_t *bad) {
    const int32_t n = g->n;
    *bad = -1;
    if (n > GRAM_DENSE) return tl_spd_create(g->ctx, s, GRAM_DEPENDENT, bad, &g->sparse);
    TL_TRY(TL_RESERVE(g->ctx, (int64_t)n * n, &g->dense));
    memset(g->dense, 0, (size_t)n * (size_t)n * sizeof *g->dense);
    for (int32_t j = 0; j < n; j++)
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
            g->dense[s->index[k] + (int64_t)j * n] = s->value[k];
    *bad = tl_spd_block_factor(n, g->dense, GRAM_DEPENDENT);
    return *bad < 0 ? TALUS_OK
                    : tl_fail(g->ctx, TALUS_ERR_SINGULAR, "matrix is not positive definite");
}

// The same with dependent rows: of S + e D, and S is kept.
static talus_status gram_factor_soft(tl_gram *g, const tl_csr *s) {
    const int64_t entries = s->start[s->rows];
    int32_t bad;
    g->s = (tl_csr){.rows = s->rows, .cols = s->cols};
    TL_TRY(TL_COPY(g->ctx, s->start, (int64_t)s->rows + 1, &g->s.start));
    TL_TRY(TL_COPY(g->ctx, s->index, entries, &g->s.index));
    TL_TRY(TL_COPY(g->ctx, s->value, entries, &g->s.value));
    TL_TRY(TL_ALLOC(g->ctx, g->n, &g->rest));
    TL_TRY(TL_ALLOC(g->ctx, g->n, &g->answer));
    for (int32_t j = 0; j < g->n; j++) { // the diagonal comes first in a column of the triangle
        double *diagonal = g->s.value + s->start[j];
        *diagonal = *diagonal > 0.0 ? *diagonal * (1.0 + GRAM_SLACK) : 1.0;
    }
    TL_TRY(gram_factor(g, &g->s, &bad));
    memcpy(g->s.value, s->value, (size_t)entries * sizeof *s->value);
    return TALUS_OK;
}

talus_status tl_gram_create(talus_context *ctx, const tl_csr *s, bool dependent, int32_t *bad,
                            tl_gram **out) {
    tl_gram *g;
    *out = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &g));
    g->ctx = ctx;
    g->n = s->rows;
    talus_status status = gram_factor(g, s, bad);
    if (status == TALUS_ERR_SINGULAR && dependent) status = gram_factor_soft(g, s);
    if (status == TALUS_OK)
        *out = g;
    else
        tl_gram_destroy(g);
    return status;
}

static talus_status gram_solve_factor(tl_gram *g, int32_t columns, double *x) {
    if (!g->dense) return tl_spd_solve(g->sparse, columns, x);
    tl_spd_block_solve(g->n, g->dense, columns, x, g->n);
    return TALUS_OK;
}

talus_status tl_gram_solve(tl_gram *g, int32_t columns, double *x) {
    if (!g->rest) return gram_solve_factor(g, columns, x);
    const size_t bytes = (size_t)g->n * sizeof *x;
    for (int32_t c = 0; c < columns; c++, x += g->n) {
        memset(g->answer, 0, bytes);
        memcpy(g->rest, x, bytes);
        for (int pass = 0; pass < GRAM_PASSES; pass++) {
            TL_TRY(gram_solve_factor(g, 1, g->rest));
            for (int32_t j = 0; j < g->n; j++) g->answer[j] += g->rest[j];
            memcpy(g->rest, x, bytes);
            for (int32_t j = 0; j < g->n; j++)
                for (int64_t k = g->s.start[j]; k < g->s.start[j + 1]; k++) {
                    const int32_t i = g->s.index[k];
                    g->rest[i] -= g->s.value[k] * g->answer[j];
                    if (i != j) g->rest[j] -= g->s.value[k] * g->answer[i];
                }
        }
        memcpy(x, g->answer, bytes);
    }
    return TALUS_OK;
}
