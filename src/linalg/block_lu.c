// SPDX-License-Identifier: Apache-2.0
// Left-looking block LU. Column k of L and row k of U are gathered together: for each earlier
// column j that reaches k,
//     L_ik ← A_ik − Σ_j L_ij U_jk,   U_ki ← A_ki − Σ_j L_kj U_ji   for i > k,
// and because the pattern is symmetric both run over one index list. U is kept transposed, so that
// both updates are one kernel.
#include "linalg/block_lu.h"
#include "base/compiler.h"
#include "linalg/dense_inline.h"
#include "linalg/sparse.h"
#include <cholmod.h>
#include <stdlib.h>
#include <string.h>

// Blocks of the factors are kept by columns, each padded to a multiple of two or four numbers with
// zeros, so that a column is a vector.
TL_INLINE int lu_pad(int d) { return d == 3 ? 4 : d; }

// The order of elimination and the blocks per column that follow from it, by CHOLMOD (minimum
// degree or nested dissection, whichever fills less).
static bool lu_order(tl_block_lu *lu, cholmod_common *common) {
    const size_t n = (size_t)lu->n;
    const int64_t edges = lu->start[lu->n];
    cholmod_sparse *a =
        cholmod_l_allocate_sparse(n, n, (size_t)edges / 2 + n, 1, 1, -1, CHOLMOD_PATTERN, common);
    if (!a) return false;
    SuiteSparse_long *start = a->p, *index = a->i, put = 0;
    for (int32_t j = 0; j < lu->n; j++) {
        start[j] = put;
        index[put++] = j;
        for (int64_t e = lu->start[j]; e < lu->start[j + 1]; e++)
            if (lu->adjacent[e] > j) index[put++] = lu->adjacent[e];
    }
    start[lu->n] = put;
    cholmod_factor *f = cholmod_l_analyze(a, common);
    if (f) {
        const SuiteSparse_long *perm = f->Perm, *count = f->ColCount;
        for (int32_t k = 0; k < lu->n; k++) {
            lu->order[k] = (int32_t)perm[k];
            lu->place[perm[k]] = k;
            lu->fill_start[k + 1] = lu->fill_start[k] + count[k] - 1;
        }
    }
    const bool done = f != NULL;
    cholmod_l_free_factor(&f, common);
    cholmod_l_free_sparse(&a, common);
    return done;
}

static int lu_compare(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The blocks of each column: those of A, and those of the columns whose first block is in this row.
static void lu_fill(tl_block_lu *lu) {
    int32_t *head = lu->head, *next = lu->next, *mark = lu->map;
    for (int32_t k = 0; k < lu->n; k++) head[k] = mark[k] = -1;
    for (int32_t k = 0; k < lu->n; k++) {
        int64_t put = lu->fill_start[k];
        mark[k] = k;
        const int32_t i = lu->order[k];
        for (int64_t e = lu->start[i]; e < lu->start[i + 1]; e++) {
            const int32_t j = lu->place[lu->adjacent[e]];
            if (j > k && mark[j] != k) lu->fill[put++] = j;
            if (j > k) mark[j] = k;
        }
        for (int32_t c = head[k]; c >= 0; c = next[c])
            for (int64_t f = lu->fill_start[c]; f < lu->fill_start[c + 1]; f++)
                if (mark[lu->fill[f]] != k) {
                    mark[lu->fill[f]] = k;
                    lu->fill[put++] = lu->fill[f];
                }
        const int64_t m = put - lu->fill_start[k];
        qsort(lu->fill + lu->fill_start[k], (size_t)m, sizeof *lu->fill, lu_compare);
        lu->work += (double)m * (double)(m + 1) * lu->d * lu->d * lu->d;
        if (m == 0) continue;
        const int32_t parent = lu->fill[lu->fill_start[k]];
        next[k] = head[parent];
        head[parent] = k;
    }
}

static talus_status lu_room(tl_block_lu *lu, double most_bytes, bool *fits) {
    talus_context *ctx = lu->ctx;
    const int64_t n = lu->n, fill = lu->fill_start[n], d = lu->d;
    *fits = 2.0 * 8.0 * (double)fill * (double)(d * lu_pad(lu->d)) <= most_bytes;
    if (!*fits) return TALUS_OK;
    TL_TRY(TL_ALLOC(ctx, lu->start[n], &lu->back));
    TL_TRY(TL_ALLOC(ctx, fill, &lu->fill));
    TL_TRY(TL_ALLOC(ctx, fill, &lu->list));
    TL_TRY(TL_ALLOC(ctx, n, &lu->active));
    TL_TRY(TL_ALLOC(ctx, n, &lu->count));
    TL_TRY(TL_ALLOC(ctx, fill * d * lu_pad(lu->d), &lu->lower));
    TL_TRY(TL_ALLOC(ctx, fill * d * lu_pad(lu->d), &lu->upper));
    TL_TRY(TL_ALLOC(ctx, n * d * d, &lu->inverse));
    TL_TRY(TL_ALLOC(ctx, n, &lu->head));
    TL_TRY(TL_ALLOC(ctx, n, &lu->next));
    TL_TRY(TL_ALLOC(ctx, n, &lu->at));
    TL_TRY(TL_ALLOC(ctx, n, &lu->map));
    TL_TRY(TL_ALLOC(ctx, n * d, &lu->x));
    for (int32_t i = 0; i < lu->n; i++)
        for (int64_t e = lu->start[i]; e < lu->start[i + 1]; e++) {
            const int32_t j = lu->adjacent[e];
            lu->back[e] = tl_lower_bound(lu->adjacent, lu->start[j], lu->start[j + 1], i);
        }
    return TALUS_OK;
}

talus_status tl_block_lu_create(talus_context *ctx, int d, int32_t n, const int64_t *start,
                                const int32_t *adjacent, double most_bytes, tl_block_lu **out) {
    *out = NULL;
    tl_block_lu *lu;
    talus_status status = TALUS_OK;
    TL_TRY(TL_ALLOC(ctx, 1, &lu));
    *lu = (tl_block_lu){.ctx = ctx, .d = d, .n = n, .start = start, .adjacent = adjacent};
    cholmod_common common;
    cholmod_l_start(&common);
    common.print = 0;
    common.error_handler = NULL;
    common.supernodal = CHOLMOD_SIMPLICIAL;
    bool fits = false;
    TL_GOTO(TL_ALLOC(ctx, n, &lu->order));
    TL_GOTO(TL_ALLOC(ctx, n, &lu->place));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)n + 1, &lu->fill_start));
    if (n > 0 && !lu_order(lu, &common))
        TL_GOTO(tl_fail(ctx, TALUS_ERR_MEMORY, "CHOLMOD: no memory to order %d blocks", n));
    TL_GOTO(lu_room(lu, most_bytes, &fits));
    if (fits) lu_fill(lu);
done:
    cholmod_l_finish(&common);
    if (status == TALUS_OK && fits)
        *out = lu;
    else
        tl_block_lu_destroy(lu);
    return status;
}

void tl_block_lu_destroy(tl_block_lu *lu) {
    if (!lu) return;
    void *parts[] = {lu->back,   lu->order, lu->place, lu->fill_start, lu->fill,    lu->list,
                     lu->active, lu->count, lu->lower, lu->upper,      lu->inverse, lu->head,
                     lu->next,   lu->at,    lu->map,   lu->x};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) tl_free(lu->ctx, parts[k]);
    tl_free(lu->ctx, lu);
}

// ---- numbers -----------------------------------------------------------------------------------

// out ← out − A B, blocks by padded columns; entry (k, c) of B is b[k * stride + c].
TL_INLINE void lu_subtract(int d, const double *a, const double *b, int stride, double *out) {
    if (d == 3) {
        tl_vec4 a0, a1, a2, x;
        memcpy(&a0, a, sizeof a0);
        memcpy(&a1, a + 4, sizeof a1);
        memcpy(&a2, a + 8, sizeof a2);
        for (int c = 0; c < 3; c++) {
            memcpy(&x, out + 4 * c, sizeof x);
            x -= a0 * b[c] + a1 * b[stride + c] + a2 * b[2 * stride + c];
            memcpy(out + 4 * c, &x, sizeof x);
        }
        return;
    }
    for (int i = 0; i < d; i += 2)
        for (int c = 0; c < d; c++) {
            tl_vec2 x, column;
            memcpy(&x, out + c * d + i, sizeof x);
            for (int k = 0; k < d; k++) {
                memcpy(&column, a + k * d + i, sizeof column);
                x -= column * b[k * stride + c];
            }
            memcpy(out + c * d + i, &x, sizeof x);
        }
}

// Take the update of column k by column j from the panels and the pivot of k.
TL_INLINE void lu_update(int d, tl_block_lu *lu, int32_t j, double *lower, double *upper,
                         double *pivot) {
    const int pad = lu_pad(d), size = d * pad;
    const int64_t first = lu->fill_start[j];
    const int32_t count = lu->count[j], at = lu->at[j];
    const double *lj = lu->lower + first * size, *uj = lu->upper + first * size;
    const double *lkj = lj + (int64_t)at * size, *ujk = uj + (int64_t)at * size; // U_jkᵀ
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++)
            for (int c = 0; c < d; c++) pivot[a * d + b] -= lkj[c * pad + a] * ujk[c * pad + b];
    const int32_t *list = lu->list + first;
    for (int32_t e = at + 1; e < count; e++) {
        const int64_t to = (int64_t)lu->map[list[e]] * size, from = (int64_t)e * size;
        lu_subtract(d, lj + from, ujk, pad, lower + to); // L_ij U_jk
        lu_subtract(d, uj + from, lkj, pad, upper + to); // (L_kj U_ji)ᵀ
    }
}

// Put the numbers of A into the panels and the pivot of column k.
TL_INLINE void lu_gather(int d, tl_block_lu *lu, int32_t k, const tl_block_source *source,
                         double *lower, double *upper, double *pivot) {
    const int pad = lu_pad(d);
    const int32_t i = lu->order[k];
    double a[TL_BLOCK_LU_MAX];
    source->block(source->user, i, -1, pivot);
    for (int64_t e = lu->start[i]; e < lu->start[i + 1]; e++) {
        const int32_t j = lu->adjacent[e];
        if (lu->place[j] < k || !lu->active[lu->place[j]]) continue;
        const int64_t to = (int64_t)lu->map[lu->place[j]] * d * pad;
        source->block(source->user, i, e, a);
        for (int row = 0; row < d; row++)
            for (int c = 0; c < d; c++) upper[to + row * pad + c] = a[row * d + c];
        source->block(source->user, j, lu->back[e], a);
        for (int row = 0; row < d; row++)
            for (int c = 0; c < d; c++) lower[to + c * pad + row] = a[row * d + c];
    }
}

TL_INLINE bool lu_column(int d, tl_block_lu *lu, int32_t k, const tl_block_source *source) {
    const int pad = lu_pad(d), size = d * pad;
    const int64_t first = lu->fill_start[k];
    int32_t m = 0;
    for (int64_t f = first; f < lu->fill_start[k + 1]; f++)
        if (lu->active[lu->fill[f]]) {
            lu->map[lu->fill[f]] = m;
            lu->list[first + m++] = lu->fill[f];
        }
    lu->count[k] = m;
    double *lower = lu->lower + first * size, *upper = lu->upper + first * size;
    double pivot[TL_BLOCK_LU_MAX], *inverse = lu->inverse + (int64_t)k * d * d;
    for (int64_t e = 0; e < (int64_t)m * size; e++) lower[e] = upper[e] = 0.0;
    lu_gather(d, lu, k, source, lower, upper, pivot);
    for (int32_t j = lu->head[k], after; j >= 0; j = after) {
        after = lu->next[j];
        lu_update(d, lu, j, lower, upper, pivot);
        if (++lu->at[j] < lu->count[j]) {
            const int32_t to = lu->list[lu->fill_start[j] + lu->at[j]];
            lu->next[j] = lu->head[to];
            lu->head[to] = j;
        }
    }
    for (int e = 0; e < d * d; e++) inverse[e] = e % (d + 1) == 0 ? -1.0 : 0.0;
    if (!tl_small_solve(d, d, pivot, inverse)) return false;
    for (int32_t e = 0; e < m; e++) { // L_ik ← L_ik U_kk⁻¹
        double block[TL_BLOCK_LU_PADDED] = {0.0};
        lu_subtract(d, lower + (int64_t)e * size, inverse, d, block);
        for (int c = 0; c < size; c++) lower[(int64_t)e * size + c] = block[c];
    }
    for (int e = 0; e < d * d; e++) inverse[e] = -inverse[e];
    if (m > 0) {
        lu->at[k] = 0;
        lu->next[k] = lu->head[lu->list[first]];
        lu->head[lu->list[first]] = k;
    }
    return true;
}

TL_INLINE bool lu_factor(int d, tl_block_lu *lu, const tl_block_source *source) {
    for (int32_t k = 0; k < lu->n; k++) {
        if (!lu->active[k]) continue;
        if (!lu_column(d, lu, k, source)) return false;
        if (k % 64 == 0 && source->stop && source->stop(source->user)) return false;
    }
    return true;
}

TL_INLINE void lu_solve(int d, tl_block_lu *lu, double *x) {
    const int pad = lu_pad(d), size = d * pad;
    double *y = lu->x;
    for (int32_t k = 0; k < lu->n; k++)
        for (int c = 0; c < d; c++) y[(int64_t)k * d + c] = x[(int64_t)lu->order[k] * d + c];
    for (int32_t k = 0; k < lu->n; k++) {
        if (!lu->active[k]) continue;
        const int64_t first = lu->fill_start[k];
        const double *lower = lu->lower + first * size, *yk = y + (int64_t)k * d;
        for (int32_t e = 0; e < lu->count[k]; e++) {
            double *yi = y + (int64_t)lu->list[first + e] * d;
            for (int c = 0; c < d; c++)
                for (int a = 0; a < d; a++) yi[a] -= lower[(int64_t)e * size + c * pad + a] * yk[c];
        }
    }
    for (int32_t k = lu->n - 1; k >= 0; k--) {
        if (!lu->active[k]) continue;
        const int64_t first = lu->fill_start[k];
        const double *upper = lu->upper + first * size;
        double *yk = y + (int64_t)k * d, sum[TL_BLOCK_LU_MAX];
        for (int c = 0; c < d; c++) sum[c] = yk[c];
        for (int32_t e = 0; e < lu->count[k]; e++) {
            const double *yi = y + (int64_t)lu->list[first + e] * d;
            for (int c = 0; c < d; c++)
                for (int a = 0; a < d; a++)
                    sum[c] -= upper[(int64_t)e * size + c * pad + a] * yi[a];
        }
        tl_mv(d, lu->inverse + (int64_t)k * d * d, sum, yk);
    }
    for (int32_t k = 0; k < lu->n; k++)
        if (lu->active[k])
            for (int c = 0; c < d; c++) x[(int64_t)lu->order[k] * d + c] = y[(int64_t)k * d + c];
}

#define LU_FORMS(d)                                                                                \
    bool tl_block_lu_factor_##d(tl_block_lu *lu, const tl_block_source *source);                   \
    void tl_block_lu_solve_##d(tl_block_lu *lu, double *x);                                        \
    TL_SIMD_CLONES bool tl_block_lu_factor_##d(tl_block_lu *lu, const tl_block_source *source) {   \
        return lu_factor(d, lu, source);                                                           \
    }                                                                                              \
    TL_SIMD_CLONES void tl_block_lu_solve_##d(tl_block_lu *lu, double *x) { lu_solve(d, lu, x); }
LU_FORMS(2)
LU_FORMS(3)
LU_FORMS(6)

bool tl_block_lu_factor(tl_block_lu *lu, const bool *active, const tl_block_source *source) {
    for (int32_t k = 0; k < lu->n; k++) {
        lu->active[k] = active[lu->order[k]];
        lu->head[k] = -1;
    }
    if (lu->d == 2) return tl_block_lu_factor_2(lu, source);
    if (lu->d == 3) return tl_block_lu_factor_3(lu, source);
    return tl_block_lu_factor_6(lu, source);
}

void tl_block_lu_solve(tl_block_lu *lu, double *x) {
    if (lu->d == 2) tl_block_lu_solve_2(lu, x);
    if (lu->d == 3) tl_block_lu_solve_3(lu, x);
    if (lu->d == 6) tl_block_lu_solve_6(lu, x);
}
