// SPDX-License-Identifier: Apache-2.0
// Sparse symmetric positive definite systems, by CHOLMOD.
#ifndef TL_LINALG_SPD_H
#define TL_LINALG_SPD_H
#include "linalg/sparse.h"

typedef struct tl_spd tl_spd;

/// Factor a symmetric matrix; entries above the diagonal (index < line) are not looked at, so both
/// a lower triangle in compressed columns and a full matrix will do. When the matrix is not
/// positive definite the status is TALUS_ERR_SINGULAR and *bad the column where it showed (−1
/// otherwise); a pivot below `tolerance` times its diagonal entry counts as zero.
talus_status tl_spd_create(talus_context *ctx, const tl_csr *a, double tolerance, int32_t *bad,
                           tl_spd **out) TALUS_MUST_CHECK;
void tl_spd_destroy(tl_spd *s); // NULL is allowed
/// Factor again for other values on the pattern of `tl_spd_create`: order and symbolic factor are
/// kept. Nothing is taken from the context; CHOLMOD takes room for the values at the first call and
/// keeps it, and needs passing scratch memory. After a failure (statuses as above) there is no
/// factor until a later call succeeds.
talus_status tl_spd_refactor(tl_spd *s, const tl_csr *a) TALUS_MUST_CHECK;
/// Solve for `columns` right-hand sides in place, n entries each, in a row. One thread at a time.
talus_status tl_spd_solve(tl_spd *s, int32_t columns, double *x) TALUS_MUST_CHECK;

#endif // TL_LINALG_SPD_H
