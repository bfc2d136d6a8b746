// SPDX-License-Identifier: Apache-2.0
// How far a solver (auto, or the one named) comes in ten seconds on two threads with cubes of
// spheres of growing size, to a dimensionless residual of 1e-4.
//     bench/large [SOLVER]
#include "support/bench_run.h"
#include "support/packing.h"
#include <stdio.h>

static void run(talus_context *ctx, const char *solver, int32_t n) {
    const packing_def def = {
        .dim = 3, .nx = n, .ny = n, .nz = n, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 5};
    talus_problem *p = NULL;
    bench_run x;
    if (packing_create(ctx, &def, &p) != TALUS_OK)
        fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    else if (bench_run_solve(ctx, p, solver, "1e-4", "2", &x))
        printf("%d,%d,%s,%d,%.3g,%.3g,%.3g,%.3g,%.3g\n", x.facts.count, n * n * n,
               talus_outcome_text(x.info.outcome), x.info.iterations, x.info.prepare_seconds,
               x.info.solve_seconds, x.judged.residual, x.judged.natural,
               1e-6 * (double)x.info.memory);
    fflush(stdout);
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
