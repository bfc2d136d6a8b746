// SPDX-License-Identifier: Apache-2.0
// A solver (lemke, or the one named) on disks wedged between walls, 6 to 9 by 5 to 8 of them, where
// pivots are many: of the 48 packings of each line, how many were solved to a dimensionless
// residual of 1e-8 within 10 s each, and the most iterations that one of these took.
//     bench/wedged [SOLVER]
#include "support/bench_run.h"
#include "support/packing.h"
#include <stdio.h>

typedef struct wedged_line {
    int packings, solved, late; // the rest stalled, or the like
    int32_t most;               // iterations of a solved one
} wedged_line;

static void run(talus_context *ctx, const char *solver, const packing_def *def, talus_law law,
                wedged_line *line) {
    talus_problem *p = NULL;
    bench_run x;
    line->packings++;
    if (packing_create(ctx, def, &p) != TALUS_OK) {
        fprintf(stderr, "%s\n", talus_context_last_error(ctx));
        return;
    }
    talus_problem_set_law(p, law);
    if (bench_run_solve(ctx, p, solver, "1e-8", "1", &x)) {
        const bool solved = x.info.outcome == TALUS_OUTCOME_SOLVED && x.judged.residual <= 1.01e-8;
        line->solved += solved;
        line->late += x.info.outcome == TALUS_OUTCOME_TIME_LIMIT;
        if (solved && x.info.iterations > line->most) line->most = x.info.iterations;
    }
    talus_problem_destroy(p);
}

int main(int argc, char **argv) {
    const char *solver = argc > 1 ? argv[1] : "lemke";
    const double mus[] = {1.0, 1.5, 3.0};
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    puts("mu,law,disorder,packings,solved,time limit,most iterations");
    for (int k = 0; k < 12; k++) {
        const double mu = mus[k / 4], disorder = k & 1 ? 0.1 : 0.0;
        const talus_law law = k & 2 ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB;
        wedged_line line = {0};
        for (int32_t nx = 6; nx <= 9; nx++)
            for (int32_t nz = 5; nz <= 8; nz++)
                for (uint64_t seed = 1; seed <= 3; seed++) {
                    const packing_def def = {.dim = 2,
                                             .nx = nx,
                                             .ny = 1,
                                             .nz = nz,
                                             .mu = mu,
                                             .disorder = disorder,
                                             .speed = 0.1,
                                             .seed = seed,
                                             .walls = true};
                    run(ctx, solver, &def, law, &line);
                }
        printf("%g,%s,%g,%d,%d,%d,%d\n", mu, k & 2 ? "associated" : "coulomb", disorder,
               line.packings, line.solved, line.late, line.most);
        fflush(stdout);
    }
    talus_context_destroy(ctx);
    return 0;
}
