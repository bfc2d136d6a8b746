// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of whole solves share.
#ifndef BENCH_RUN_H
#define BENCH_RUN_H
#include "talus/talus.h"

typedef struct bench_run {
    talus_problem_info facts;
    talus_solve_info info;
    talus_certificate judged;
} bench_run;

/// Solve from zero to a dimensionless residual, ten seconds at most; false, with a message, when
/// that could not be begun.
bool bench_run_solve(talus_context *ctx, const talus_problem *p, const char *solver,
                     const char *residual, const char *threads, bench_run *out);

#endif // BENCH_RUN_H
