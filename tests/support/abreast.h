// SPDX-License-Identifier: Apache-2.0
// What the tests of sweeps without W, over balls and over pairs of bodies, have in common.
#ifndef TESTS_ABREAST_H
#define TESTS_ABREAST_H
#include "talus/talus.h"

/// Impulses (to be freed) that nlgs reaches from `from`, or from zero where that is NULL. Options
/// are keys and values in turn, the last key NULL.
double *abreast_solve(talus_context *ctx, const talus_problem *p, const double *from,
                      const char *const *option, talus_solve_info *info);
double abreast_difference(int64_t n, const double *a, const double *b);

/// Ten sweeps with momentum number `momentum` (ABREAST_MOMENTA) from `from`, abreast and over
/// blocks: the same impulses to rounding. Returns those over blocks, to be freed.
enum { ABREAST_MOMENTA = 5 };
double *abreast_compare(talus_context *ctx, const talus_problem *p, const double *from,
                        int momentum);

/// The measure that a solve on one, two and three threads ends with, natural or residual, is the
/// certificate's, and the bits are the same. Returns the impulses, to be freed.
double *abreast_certify(talus_context *ctx, const talus_problem *p, const double *from,
                        const char *stop, const char *tolerance);

#endif // TESTS_ABREAST_H
