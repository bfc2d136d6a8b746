// SPDX-License-Identifier: Apache-2.0
// Sparse matrices we own. Lists are sorted by transposing twice: a bucket sort, linear in the
// entries and stable, so that duplicates are added up in the order in which they were given.
#include "linalg/sparse.h"
#include <math.h>
#include <string.h>

static talus_status sparse_reserve(talus_context *ctx, int32_t rows, int32_t cols, int64_t entries,
                                   tl_csr *out) {
    *out = (tl_csr){.rows = rows, .cols = cols};
    talus_status status = TALUS_OK;
    TL_GOTO(TL_ALLOC(ctx, (int64_t)rows + 1, &out->start));
    TL_GOTO(TL_ALLOC(ctx, entries, &out->index));
    TL_GOTO(TL_ALLOC(ctx, entries, &out->value));
done:
    if (status != TALUS_OK) tl_csr_clear(ctx, out);
    return status;
}

void tl_csr_clear(talus_context *ctx, tl_csr *a) {
    tl_free(ctx, a->start);
    tl_free(ctx, a->index);
    tl_free(ctx, a->value);
    *a = (tl_csr){0};
}

static talus_status sparse_check(talus_context *ctx, const tl_csr_names *names, int32_t rows,
                                 int32_t cols, const int64_t *start, const int32_t *index,
                                 const double *value) {
    const char *m = names->matrix, *line = names->line, *cross = names->cross;
    TL_REQUIRE(ctx, start != NULL, TALUS_ERR_ARG, "%s: the array of %s starts is NULL", m, line);
    TL_REQUIRE(ctx, start[0] == 0, TALUS_ERR_PROBLEM,
               "%s: the start of %s 0 is %lld, but must be 0", m, line, (long long)start[0]);
    for (int32_t i = 0; i < rows; i++)
        TL_REQUIRE(ctx, start[i + 1] >= start[i], TALUS_ERR_PROBLEM,
                   "%s: %s starts must not decrease, but start[%d] = %lld follows %lld", m, line,
                   i + 1, (long long)start[i + 1], (long long)start[i]);
    TL_REQUIRE(ctx, start[rows] == 0 || (index && value), TALUS_ERR_ARG,
               "%s: it has %lld entries, but the array of their %s is NULL", m,
               (long long)start[rows], index ? "values" : "indices");
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            TL_REQUIRE(ctx, index[k] >= 0 && index[k] < cols, TALUS_ERR_PROBLEM,
                       "%s: entry %lld in %s %d has %s %d, but must have one from 0 to %d", m,
                       (long long)k, line, i, cross, index[k], cols - 1);
            TL_REQUIRE(ctx, isfinite(value[k]), TALUS_ERR_PROBLEM,
                       "%s: entry %lld (%s %d, %s %d) is %g, but must be finite", m, (long long)k,
                       line, i, cross, index[k], value[k]);
        }
    return TALUS_OK;
}

static bool sparse_ascends(int32_t rows, const int64_t *start, const int32_t *index) {
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = start[i] + 1; k < start[i + 1]; k++)
            if (index[k] <= index[k - 1]) return false;
    return true;
}

// Add up equal neighbours of sorted rows, in place.
static void sparse_merge(tl_csr *a) {
    int64_t kept = 0, begin = 0;
    for (int32_t i = 0; i < a->rows; i++) {
        const int64_t first = kept, end = a->start[i + 1];
        for (int64_t k = begin; k < end; k++) {
            if (kept > first && a->index[kept - 1] == a->index[k]) {
                a->value[kept - 1] += a->value[k];
            } else {
                a->index[kept] = a->index[k];
                a->value[kept++] = a->value[k];
            }
        }
        begin = end;
        a->start[i + 1] = kept;
    }
}

talus_status tl_csr_transpose(talus_context *ctx, const tl_csr *a, tl_csr *out) {
    const int64_t entries = a->start[a->rows];
    TL_TRY(sparse_reserve(ctx, a->cols, a->rows, entries, out));
    // start[j + 1] counts row j, then becomes where its next entry goes; at the end it is the end.
    int64_t *next = out->start + 1;
    for (int64_t k = 0; k < entries; k++) next[a->index[k]]++;
    int64_t sum = 0;
    for (int32_t j = 0; j < a->cols; j++) {
        const int64_t count = next[j];
        next[j] = sum;
        sum += count;
    }
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
            const int64_t to = next[a->index[k]]++;
            out->index[to] = i;
            out->value[to] = a->value[k];
        }
    return TALUS_OK;
}

talus_status tl_csr_create(talus_context *ctx, const tl_csr_names *names, int32_t rows,
                           int32_t cols, const int64_t *start, const int32_t *index,
                           const double *value, tl_csr *out) {
    talus_status status = TALUS_OK;
    tl_csr given = {0}, turned = {0};
    *out = (tl_csr){0};
    TL_TRY(sparse_check(ctx, names, rows, cols, start, index, value));
    const int64_t entries = start[rows];
    TL_TRY(sparse_reserve(ctx, rows, cols, entries, &given));
    memcpy(given.start, start, ((size_t)rows + 1) * sizeof *start);
    if (entries > 0) {
        memcpy(given.index, index, (size_t)entries * sizeof *index);
        memcpy(given.value, value, (size_t)entries * sizeof *value);
    }
    if (sparse_ascends(rows, start, index)) {
        *out = given;
        return TALUS_OK;
    }
    TL_GOTO(tl_csr_transpose(ctx, &given, &turned));
    TL_GOTO(tl_csr_transpose(ctx, &turned, out));
    sparse_merge(out);
done:
    tl_csr_clear(ctx, &turned);
    tl_csr_clear(ctx, &given);
    return status;
}

void tl_csr_add(const tl_csr *a, double scale, const double *x, double *y) {
    for (int32_t i = 0; i < a->rows; i++) {
        double sum = 0.0;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) sum += a->value[k] * x[a->index[k]];
        y[i] += scale * sum;
    }
}

void tl_csr_add_transposed(const tl_csr *a, double scale, const double *x, double *y) {
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++)
            y[a->index[k]] += scale * a->value[k] * x[i];
}

double tl_csr_at(const tl_csr *a, int32_t i, int32_t j) {
    const int64_t end = a->start[i + 1], k = tl_lower_bound(a->index, a->start[i], end, j);
    return k < end && a->index[k] == j ? a->value[k] : 0.0;
}
