// SPDX-License-Identifier: Apache-2.0
// S = C M⁻¹ Cᵀ of constraint rows that hang together, factored.
#ifndef TL_PROBLEM_GRAM_H
#define TL_PROBLEM_GRAM_H
#include "linalg/sparse.h"

typedef struct tl_gram tl_gram;

/// Factor S, given by its lower triangle in compressed columns. Where rows depend on each other the
/// status is TALUS_ERR_SINGULAR and *bad one of them, unless `dependent` allows it: then solutions
/// are those of least squares, as far as the rows contradict each other.
talus_status tl_gram_create(talus_context *ctx, const tl_csr *s, bool dependent, int32_t *bad,
                            tl_gram **out) TALUS_MUST_CHECK;
void tl_gram_destroy(tl_gram *g); // NULL is allowed
/// True when rows depended on each other.
bool tl_gram_is_dependent(const tl_gram *g);
/// Solve S x = b in place for `columns` right-hand sides in a row. One thread at a time.
talus_status tl_gram_solve(tl_gram *g, int32_t columns, double *x) TALUS_MUST_CHECK;

#endif // TL_PROBLEM_GRAM_H
