// SPDX-License-Identifier: Apache-2.0
// How long a solver (auto, or the one named) takes from zero to a dimensionless residual of 1e-4,
// on two threads and ten seconds at most, with beds of spheres of growing size: ten layers deep, mu
// = 0.5, at rest under gravity (tests/support/bed.h). All beds are let come to the same rest before
// the solve is timed, which takes a hundred times as long and more; with STEPS above zero only that
// many damped steps of 1 ms pass, and the beds still move, the larger the more. With TILT (degrees)
// gravity is turned by that much for the step that is timed: much of the bed then begins to slide.
// Where KEPT is given, beds at rest are kept in that directory, and those in it are taken.
//     bench/large [SOLVER [MOST_CONTACTS [TILT [STEPS [KEPT]]]]]
#include "support/bed.h"
#include "support/bench_run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 10, CONTACTS_PER_SPHERE = 3 };

typedef struct options {
    const char *solver, *kept; // kept: a directory, or NULL
    double most, tilt;         // contacts; rad
    int steps;                 // 0: until the bed rests
} options;

static bool bed_file(bed *b, const char *path, const char *mode) {
    FILE *f = fopen(path, mode);
    if (!f) return false;
    const size_t n = 3 * (size_t)b->count;
    const bool whole = *mode == 'r' ? fread(b->place, sizeof *b->place, n, f) == n
                                    : fwrite(b->place, sizeof *b->place, n, f) == n;
    return fclose(f) == 0 && whole;
}

static bool come_to_rest(bed *b, talus_context *ctx, const options *o) {
    char path[1024] = "";
    if (o->steps > 0) return bed_settle(b, ctx, o->steps, "20", "2") == TALUS_OK;
    if (o->kept) snprintf(path, sizeof path, "%s/bed-%d", o->kept, b->count);
    if (*path && bed_file(b, path, "rb")) return true;
    const int steps = bed_rest(b, ctx, "2");
    fprintf(stderr, "%d spheres: %s after %d steps\n", b->count, steps < 0 ? "no rest" : "at rest",
            steps);
    return steps >= 0 && (!*path || bed_file(b, path, "wb"));
}

static void run(talus_context *ctx, const options *o, int32_t n) {
    bed b;
    talus_problem *p = NULL;
    double *r = NULL;
    bench_run x;
    bool good = bed_init(&b, &(bed_def){.nx = n, .ny = n, .nz = LAYERS, .mu = 0.5, .seed = 5}) &&
                come_to_rest(&b, ctx, o);
    b.gravity[0] = 9.81 * sin(o->tilt);
    b.gravity[2] = -9.81 * cos(o->tilt);
    good = good && bed_problem(&b, ctx, &p, &r) == TALUS_OK;
    if (!good)
        fprintf(stderr, "%d × %d spheres: %s\n", n, n, talus_context_last_error(ctx));
    else if (bench_run_solve(ctx, p, o->solver, "1e-4", "2", &x))
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
    const options o = {.solver = argc > 1 ? argv[1] : "auto",
                       .most = argc > 2 ? atof(argv[2]) : 1.2e5,
                       .tilt = argc > 3 ? atof(argv[3]) * 3.14159265358979323846 / 180.0 : 0.0,
                       .steps = argc > 4 ? atoi(argv[4]) : 0,
                       .kept = argc > 5 ? argv[5] : NULL};
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    puts("contacts,spheres,outcome,iterations,prepare_s,solve_s,residual,natural,open,stick,slip,"
         "memory_MB");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        if ((double)CONTACTS_PER_SPHERE * LAYERS * sizes[k] * sizes[k] < o.most)
            run(ctx, &o, sizes[k]);
    talus_context_destroy(ctx);
    return 0;
}
