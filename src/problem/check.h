// SPDX-License-Identifier: Apache-2.0
// Checks of what a caller hands in. An error names the entry, its value and what would be right.
#ifndef TL_PROBLEM_CHECK_H
#define TL_PROBLEM_CHECK_H
#include "problem/problem_impl.h"

/// Sizes, pointers, indices, numbers and law parameters; the sparse matrices are checked where they
/// are copied.
talus_status tl_check_local(talus_context *ctx, const talus_local_def *def) TALUS_MUST_CHECK;
talus_status tl_check_global(talus_context *ctx, const talus_global_def *def) TALUS_MUST_CHECK;
/// Diagonal blocks and symmetry of the W of a local problem; sets p->asymmetry and warns.
talus_status tl_check_w(talus_problem *p) TALUS_MUST_CHECK;

#endif // TL_PROBLEM_CHECK_H
