// SPDX-License-Identifier: Apache-2.0
// How long a solver (auto, or the one named) takes from zero to a dimensionless residual of 1e-4,
// on two threads and ten seconds at most, with beds of spheres of growing size: ten layers deep, mu
// = 0.5, settled under gravity (tests/support/bed.h). Before the solve is timed, the bed comes to
// rest in 120 damped steps, which takes far longer. With TILT (degrees) gravity is turned by that
// much for the step that is timed: much of the bed then begins to slide.
//     bench/large [SOLVER [MOST_CONTACTS [TILT]]]
#include "support/bed.h"
#include "support/bench_run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 10, SETTLE = 120, CONTACTS_PER_SPHERE = 3 };

static void run(talus_context *ctx, const char *solver, int32_t n, double tilt) {
    bed b;
    talus_problem *p = NULL;
    double *r = NULL;
    bench_run x;
    bool good = bed_init(&b, &(bed_def){.nx = n, .ny = n, .nz = LAYERS, .mu = 0.5, .seed = 5}) &&
                bed_settle(&b, ctx, SETTLE, "20", "2") == TALUS_OK;
    b.gravity[0] = 9.81 * sin(tilt);
    b.gravity[2] = -9.81 * cos(tilt);
    good = good && bed_problem(&b, ctx, &p, &r) == TALUS_OK;
    if (!good)
        fprintf(stderr, "%d × %d spheres: %s\n", n, n, talus_context_last_error(ctx));
    else if (bench_run_solve(ctx, p, solver, "1e-4", "2", &x))
        printf("%d,%d,%s,%d,%.3g,%.3g,%.3g,%.3g,%d,%d,%d,%.3g\n", x.facts.count, b.count,
               talus_outcome_text(x.info.outcome), x.info.iterations, x.info.prepare_seconds,
               x.info.solve_seconds, x.judged.residual, x.judged.natural, x.judged.open,
               x.judged.stick, x.judged.slip, 1e-6 * (double)x.info.memory);
    fflush(stdout);
    talus_problem_destroy(p);
    free(r);
    bed_clear(&b);
}

int main(int argc, char **argv) {
    const int32_t sizes[] = {17, 31, 56, 97, 177};
    const double most = argc > 2 ? atof(argv[2]) : 1.2e5;
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    puts("contacts,spheres,outcome,iterations,prepare_s,solve_s,residual,natural,open,stick,slip,"
         "memory_MB");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        if ((double)CONTACTS_PER_SPHERE * LAYERS * sizes[k] * sizes[k] < most)
            run(ctx, argc > 1 ? argv[1] : "auto", sizes[k],
                argc > 3 ? atof(argv[3]) * 3.14159265358979323846 / 180.0 : 0.0);
    talus_context_destroy(ctx);
    return 0;
}
