// SPDX-License-Identifier: Apache-2.0
// How far a solver (auto, or the one named) comes in ten seconds on two threads with cubes of
// spheres of growing size, to a dimensionless residual of 1e-4.
//     bench/large [SOLVER]
#include "support/packing.h"
#include "talus/talus.h"
#include <stdio.h>
#include <stdlib.h>

static void run(talus_context *ctx, const char *solver, int32_t n) {
    const packing_def def = {
        .dim = 3, .nx = n, .ny = n, .nz = n, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 5};
    talus_problem *p = NULL;
    talus_solver *s = NULL;
    double *r = NULL;
    if (packing_create(ctx, &def, &p) == TALUS_OK &&
        talus_solver_create(ctx, solver, &s) == TALUS_OK &&
        talus_solver_set(s, "stop", "residual") == TALUS_OK &&
        talus_solver_set(s, "tolerance", "1e-4") == TALUS_OK &&
        talus_solver_set(s, "threads", "2") == TALUS_OK &&
        talus_solver_set(s, "time_limit", "10") == TALUS_OK &&
        talus_solver_set(s, "iterations", "100000000") == TALUS_OK &&
        talus_solver_prepare(s, p) == TALUS_OK) {
        const talus_problem_info facts = talus_problem_get_info(p);
        talus_solve_info info;
        talus_certificate judged;
        r = calloc((size_t)facts.dim * (size_t)facts.count + 1, sizeof *r);
        if (r && talus_solver_solve(s, r, &info) == TALUS_OK &&
            talus_certify(p, r, &judged) == TALUS_OK)
            printf("%d,%d,%s,%d,%.3g,%.3g,%.3g,%.3g,%.3g\n", facts.count, n * n * n,
                   talus_outcome_text(info.outcome), info.iterations, info.prepare_seconds,
                   info.solve_seconds, judged.residual, judged.natural, 1e-6 * (double)info.memory);
    } else {
        fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    }
    fflush(stdout);
    free(r);
    talus_solver_destroy(s);
    talus_problem_destroy(p);
}

int main(int argc, char **argv) {
    const int32_t sizes[] = {5, 7, 10, 15, 22, 32};
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    puts("contacts,bodies,outcome,iterations,prepare_s,solve_s,residual,natural,memory_MB");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        run(ctx, argc > 1 ? argv[1] : "auto", sizes[k]);
    talus_context_destroy(ctx);
    return 0;
}
