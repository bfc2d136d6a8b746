// SPDX-License-Identifier: Apache-2.0
// Sparse matrices we own, and the few products that the rooms above need.
#ifndef TL_LINALG_SPARSE_H
#define TL_LINALG_SPARSE_H
#include "base/context.h"

/// Compressed rows (or columns, where the owner says so); indices strictly ascending in a row.
typedef struct tl_csr {
    int32_t rows, cols;
    int64_t *start;
    int32_t *index;
    double *value;
} tl_csr;

/// In a list that ascends between `begin` and `end`, the place of the first entry that is not below
/// `value`; `end` where all are.
static inline int64_t tl_lower_bound(const int32_t *list, int64_t begin, int64_t end,
                                     int32_t value) {
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (list[middle] < value)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/// What the lists of a matrix are called in error texts.
typedef struct tl_csr_names {
    const char *matrix; // "M"
    const char *line;   // "row" or "column": what is compressed
    const char *cross;  // the other one
} tl_csr_names;

/// A checked copy of compressed lists in any order: entries sorted, duplicates added up. `out` must
/// be zeroed or hold nothing; on failure it holds nothing.
talus_status tl_csr_create(talus_context *ctx, const tl_csr_names *names, int32_t rows,
                           int32_t cols, const int64_t *start, const int32_t *index,
                           const double *value, tl_csr *out) TALUS_MUST_CHECK;
talus_status tl_csr_transpose(talus_context *ctx, const tl_csr *a, tl_csr *out) TALUS_MUST_CHECK;
void tl_csr_clear(talus_context *ctx, tl_csr *a);

/// y += scale A x
void tl_csr_add(const tl_csr *a, double scale, const double *x, double *y);
/// y += scale Aᵀ x
void tl_csr_add_transposed(const tl_csr *a, double scale, const double *x, double *y);
/// The entry (i, j), 0 where none is stored.
double tl_csr_at(const tl_csr *a, int32_t i, int32_t j);

#endif // TL_LINALG_SPARSE_H
