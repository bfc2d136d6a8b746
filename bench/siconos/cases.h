// SPDX-License-Identifier: Apache-2.0
// From a problem file to what both sides are given, and the residual that judges both.
#ifndef BENCH_SICONOS_CASES_H
#define BENCH_SICONOS_CASES_H
#include "siconos_side.h"

/// Read a file as `form` (local files: BENCH_LOCAL only). False with a text on stderr on failure.
bool bench_case_create(talus_context *ctx, const char *path, bench_form form, bench_case *out);
void bench_case_clear(bench_case *c);
/// Whether the file holds the global form; contacts < 0: it cannot be read.
bool bench_file_is_global(talus_context *ctx, const char *path, int *contacts);

/// ‖ r − P_K( r − (u + mu |u_T| n) ) ‖₂ / max(1, ‖q‖₂), in code of its own.
double bench_natural(const bench_case *c, const double *r);

#endif // BENCH_SICONOS_CASES_H
