// SPDX-License-Identifier: Apache-2.0
// Exact elimination of the constraint rows.
#ifndef TL_PROBLEM_ELIMINATE_H
#define TL_PROBLEM_ELIMINATE_H
#include "problem/problem_impl.h"

/// Global form: factor S = C M⁻¹ Cᵀ. An error names a row of C that depends on the others.
talus_status tl_eliminate_global(talus_problem *p) TALUS_MUST_CHECK;
/// Local form: factor P, turn W into W − B P⁻¹ Bᵀ and q into q − B P⁻¹ c. `b` is B by rows.
talus_status tl_eliminate_local(talus_problem *p, const tl_csr *b) TALUS_MUST_CHECK;
void tl_elimination_destroy(talus_context *ctx, tl_elimination *e); // NULL is allowed

/// x ← N x for `columns` vectors of dof entries, in a row (global form with constraint rows).
talus_status tl_eliminate_response(const talus_problem *p, int32_t columns,
                                   double *x) TALUS_MUST_CHECK;
/// The multipliers: in, lambda = k − C M⁻¹(f + Hᵀr) (global) or −(c + Bᵀr) (local).
talus_status tl_eliminate_multipliers(const talus_problem *p, double *lambda) TALUS_MUST_CHECK;

#endif // TL_PROBLEM_ELIMINATE_H
