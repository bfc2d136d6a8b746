// SPDX-License-Identifier: Apache-2.0
#include "support/bench_run.h"
#include <stdio.h>
#include <stdlib.h>

bool bench_run_solve(talus_context *ctx, const talus_problem *p, const char *solver,
                     const char *residual, const char *threads, bench_run *out) {
    talus_solver *s = NULL;
    double *r = NULL;
    out->facts = talus_problem_get_info(p);
    r = calloc((size_t)out->facts.dim * (size_t)out->facts.count + 1, sizeof *r);
    const bool good = r && talus_solver_create(ctx, solver, &s) == TALUS_OK &&
                      talus_solver_set(s, "stop", "residual") == TALUS_OK &&
                      talus_solver_set(s, "tolerance", residual) == TALUS_OK &&
                      talus_solver_set(s, "threads", threads) == TALUS_OK &&
                      talus_solver_set(s, "time_limit", "10") == TALUS_OK &&
                      talus_solver_set(s, "iterations", "100000000") == TALUS_OK &&
                      talus_solver_prepare(s, p) == TALUS_OK &&
                      talus_solver_solve(s, r, &out->info) == TALUS_OK &&
                      talus_certify(p, r, &out->judged) == TALUS_OK;
    if (!good) fprintf(stderr, "%s: %s\n", solver, talus_context_last_error(ctx));
    talus_solver_destroy(s);
    free(r);
    return good;
}
