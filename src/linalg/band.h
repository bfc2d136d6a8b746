// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite band matrices: A_ij = 0 for |i − j| > width. The lower part is kept
// column by column, width + 1 entries each: A_ij (j <= i <= j + width) is a[j (width + 1) + i − j].
// Entries below the last row are there, and 0. Factors take O(n width²), solves O(n width).
#ifndef TL_LINALG_BAND_H
#define TL_LINALG_BAND_H
#include <stdbool.h>
#include <stdint.h>

/// Factor in place as L D Lᵀ. Returns −1, or the first column whose pivot is at most `tolerance`
/// times its diagonal entry.
int32_t tl_band_factor(int32_t n, int32_t width, double *a, double tolerance);
/// x ← A⁻¹ x with the factor.
void tl_band_solve(int32_t n, int32_t width, const double *factor, double *x);
/// y += s A x
void tl_band_multiply(int32_t n, int32_t width, const double *a, double s, const double *x,
                      double *y);

/// x ← A⁻¹ x for a general band matrix, A_ij at a[j (3 width + 1) + 2 width + i − j]; the first
/// `width` entries of a column are room for row exchanges. Overwrites a. `pivot` has n entries.
/// False where there is no pivot.
bool tl_band_solve_general(int32_t n, int32_t width, double *a, int32_t *pivot, double *x);

#endif // TL_LINALG_BAND_H
