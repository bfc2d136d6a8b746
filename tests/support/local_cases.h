// SPDX-License-Identifier: Apache-2.0
// Random one-contact problems, hard ones on purpose; shared by tests and benchmarks.
#ifndef TESTS_LOCAL_CASES_H
#define TESTS_LOCAL_CASES_H
#include "base/rng.h"
#include "cone/local.h"

typedef struct local_case {
    double w[36], inv[36], b[6];
    tl_schur schur;
    tl_axes axes;
    tl_local problem; // points into the fields above
} local_case;

/// Number of kinds of right-hand side; see local_case_make.
#define LOCAL_CASE_KINDS 7

/// A symmetric W with condition up to 1e8 and scale 1e-3 … 1e3, mu from 0 to 10, and by `kind`:
/// 0 generic b; 1 b_N just below 0; 2 sticking on the boundary of the cone; 3 sliding near the
/// apex; 4 sliding that hardly moves; 5 sliding; 6 b almost normal.
void local_case_make(tl_rng *rng, int d, bool associated, int kind, local_case *out);

#endif // TESTS_LOCAL_CASES_H
