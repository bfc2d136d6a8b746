// SPDX-License-Identifier: Apache-2.0
// A solver (auto, or the one named) in a simulation: a bed of 10 000 spheres, mu = 0.5, falls,
// settles and is then tilted (tests/support/bed.h), steps of 1 ms, each from the impulses of the
// last, to a dimensionless residual of 1e-4 or for the seconds given, on two threads. One line
// every tenth step.
//     bench/steps [SOLVER [STEPS [SECONDS]]]
#include "support/bed.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILT_FROM = 100, PRINT_EVERY = 10 };
#define TILT_RATE 0.002 // [rad] a step
#define TILT_MOST 0.6

static double speed(const bed *b) {
    double sum = 0.0;
    for (int64_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++) sum += b->velocity[6 * i + k] * b->velocity[6 * i + k];
    return sqrt(sum / b->count);
}

static talus_status step(bed *b, talus_context *ctx, const char *solver, const char *seconds,
                         int32_t index) {
    talus_problem *p = NULL;
    talus_solver *s = NULL;
    talus_solve_info info;
    talus_certificate before, after;
    double *r = NULL;
    const double tilt = fmin(fmax(TILT_RATE * (index - TILT_FROM), 0.0), TILT_MOST);
    b->gravity[0] = 9.81 * sin(tilt);
    b->gravity[2] = -9.81 * cos(tilt);
    talus_status status = bed_problem(b, ctx, &p, &r);
    if (status == TALUS_OK) status = talus_solver_create(ctx, solver, &s);
    if (status == TALUS_OK) status = talus_solver_set(s, "stop", "residual");
    if (status == TALUS_OK) status = talus_solver_set(s, "tolerance", "1e-4");
    if (status == TALUS_OK) status = talus_solver_set(s, "threads", "2");
    if (status == TALUS_OK) status = talus_solver_set(s, "time_limit", seconds);
    if (status == TALUS_OK) status = talus_certify(p, r, &before);
    if (status == TALUS_OK) status = talus_solver_prepare(s, p);
    if (status == TALUS_OK) status = talus_solver_solve(s, r, &info);
    if (status == TALUS_OK) status = talus_certify(p, r, &after);
    if (status == TALUS_OK) status = bed_advance(b, p, r);
    if (status == TALUS_OK && index % PRINT_EVERY == 0)
        printf("%d,%.3f,%.2e,%d,%d,%d,%s,%d,%.3g,%.3g,%.2e,%.2e\n", index, tilt, speed(b),
               after.open, after.stick, after.slip, talus_outcome_text(info.outcome),
               info.iterations, info.prepare_seconds, info.solve_seconds, before.residual,
               after.residual);
    fflush(stdout);
    talus_solver_destroy(s);
    talus_problem_destroy(p);
    free(r);
    return status;
}

int main(int argc, char **argv) {
    const int32_t steps = argc > 2 ? atoi(argv[2]) : 200;
    bed b;
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    bool good = bed_init(&b, &(bed_def){.nx = 32, .ny = 32, .nz = 10, .mu = 0.5, .seed = 5});
    puts("step,tilt,speed,open,stick,slip,outcome,iterations,prepare_s,solve_s,start,residual");
    for (int32_t k = 0; good && k < steps; k++)
        good = step(&b, ctx, argc > 1 ? argv[1] : "auto", argc > 3 ? argv[3] : "1", k) == TALUS_OK;
    if (!good) fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    bed_clear(&b);
    talus_context_destroy(ctx);
    return good ? 0 : 1;
}
