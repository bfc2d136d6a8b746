// SPDX-License-Identifier: Apache-2.0
// Small dense kernels. Matrices are column major with leading dimension n; a symmetric matrix may
// therefore be read row major as well.
#ifndef TL_LINALG_DENSE_H
#define TL_LINALG_DENSE_H
#include <stdint.h>

/// Pivots at or below this fraction of their diagonal entry make a matrix singular: what rounding
/// leaves of a pivot that is zero in exact arithmetic. The test does not depend on units.
#define TL_PIVOT_TOLERANCE(n) (4.0 * (double)(n)*2.2204460492503131e-16)

/// Factor the symmetric positive definite n × n matrix `a` (lower triangle used) in place.
/// Returns −1, or the first column whose pivot is at most `tolerance` times its diagonal entry.
int32_t tl_spd_block_factor(int32_t n, double *a, double tolerance);
/// Solve with the factor; `x` holds `columns` right-hand sides, `stride` entries apart.
void tl_spd_block_solve(int32_t n, const double *factor, int32_t columns, double *x,
                        int64_t stride);

/// Factor a general n × n matrix in place with row exchanges. Returns −1, or the first column
/// without a pivot. *rcond: estimated reciprocal condition in the 1-norm. `work` has 4 n entries,
/// `iwork` and `pivot` n.
int32_t tl_lu_factor(int32_t n, double *a, int32_t *pivot, double *rcond, double *work,
                     int32_t *iwork);
/// Solve with the factor for `columns` right-hand sides, n entries each, in a row.
void tl_lu_solve(int32_t n, const double *factor, const int32_t *pivot, int32_t columns, double *x);

/// Smallest and largest eigenvalue of the symmetric part of a d × d matrix, d <= 6.
void tl_sym_eigen_range(int32_t d, const double *a, double *low, double *high);

/// Eigenvalues of the symmetric part of a d × d matrix, d <= 6, and unit eigenvectors: column k of
/// the rotation `vectors` (column major) belongs to value[k]. A diagonal matrix gives its diagonal
/// and the identity.
void tl_sym_eigen(int32_t d, const double *a, double *value, double *vectors);

#endif // TL_LINALG_DENSE_H
