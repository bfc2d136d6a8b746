// SPDX-License-Identifier: Apache-2.0
// The mass matrix M of the global form: symmetric positive definite, block diagonal over the bodies
// or sparse, with its factors.
#ifndef TL_PROBLEM_MASS_H
#define TL_PROBLEM_MASS_H
#include "linalg/sparse.h"
#include "talus/problem.h"

typedef struct tl_mass tl_mass;

/// Check, copy and factor M, whose blocks may be bands (see talus_global_def). `body_start` is
/// borrowed for the life of the mass; the rest is copied. An error names the body or the column.
/// *inout may be NULL or a mass, which is then replaced: its memory is used again where M has the
/// same kind. On failure it is NULL.
talus_status tl_mass_set_blocks(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                                const int32_t *band, const double *block,
                                tl_mass **inout) TALUS_MUST_CHECK;
/// M = diag(diagonal), all of them positive and finite (checked by the caller); copied, unless
/// `borrow` says that it will stay.
talus_status tl_mass_set_diagonal(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                                  const double *diagonal, bool borrow,
                                  tl_mass **inout) TALUS_MUST_CHECK;
/// M in compressed columns, both triangles or one. Stored as blocks when it is block diagonal.
talus_status tl_mass_set_sparse(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                                const talus_sparse *given, tl_mass **inout) TALUS_MUST_CHECK;
void tl_mass_destroy(tl_mass *m); // NULL is allowed

/// True when M couples no two bodies and is kept that way.
bool tl_mass_is_block_diagonal(const tl_mass *m);
/// M_kk for all unknowns where M is kept as a diagonal, else NULL.
const double *tl_mass_diagonal(const tl_mass *m);

/// Block diagonal only: x ← M_b⁻¹ x for `columns` vectors of size(body), `stride` entries apart.
/// Safe from any number of threads.
void tl_mass_solve_body(const tl_mass *m, int32_t body, int32_t columns, double *x, int64_t stride);
/// x ← M⁻¹ x for `columns` vectors of dof entries, in a row. One thread at a time.
talus_status tl_mass_solve(const tl_mass *m, int32_t columns, double *x) TALUS_MUST_CHECK;
/// y ← M x
void tl_mass_multiply(const tl_mass *m, const double *x, double *y);

/// Block diagonal only: write the block of a body, row major, or where `diagonal` its diagonal.
/// Returns where the next would go.
double *tl_mass_get_body(const tl_mass *m, int32_t body, bool diagonal, double *out);

/// Number of stored entries of the full symmetric M that are not zero, and these entries in
/// ascending order of column, then row (so that they can be written as compressed columns or, M
/// being symmetric, as compressed rows).
int64_t tl_mass_entry_count(const tl_mass *m);
void tl_mass_entries(const tl_mass *m, int32_t *row, int32_t *col, double *value);

#endif // TL_PROBLEM_MASS_H
