// SPDX-License-Identifier: Apache-2.0
// Cost of an nlgs sweep on synthetic packings of growing size: time per contact and sweep, memory,
// and what threads bring.     bench/sweep [MOST_CONTACTS] [KEY=VALUE]...
// Least time of repeats; one ratio column relates sizes within the run, another the threads.
#include "support/packing.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 20 };

// Seconds per sweep, from the least times of several solves; NAN on failure.
static double time_sweep(talus_context *ctx, const talus_problem *p, int threads, int sets,
                         char **set, talus_solve_info *info) {
    talus_solver *s = NULL;
    char text[32];
    double least = INFINITY;
    double *r = NULL;
    const talus_problem_info facts = talus_problem_get_info(p);
    snprintf(text, sizeof text, "%d", threads);
    talus_status status = talus_solver_create(ctx, "nlgs", &s);
    if (status == TALUS_OK) status = talus_solver_set(s, "threads", text);
    if (status == TALUS_OK) status = talus_solver_set(s, "tolerance", "1e-300");
    if (status == TALUS_OK) status = talus_solver_set(s, "check", "1000000");
    for (int k = 0; k < sets && status == TALUS_OK; k++) {
        char key[64];
        const char *equals = strchr(set[k], '=');
        snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - set[k]) : 0, set[k]);
        status = talus_solver_set(s, key, equals ? equals + 1 : "");
    }
    if (status == TALUS_OK) status = talus_solver_prepare(s, p);
    r = malloc((size_t)(facts.dim * facts.count) * sizeof *r);
    // Two solves that differ by SWEEPS sweeps: what is left of the difference is sweeps alone.
    double seconds[2] = {INFINITY, INFINITY};
    for (int repeat = 0; repeat < 6 && status == TALUS_OK && r; repeat++)
        for (int part = 0; part < 2 && status == TALUS_OK; part++) {
            memset(r, 0, (size_t)(facts.dim * facts.count) * sizeof *r);
            snprintf(text, sizeof text, "%d", 5 + part * SWEEPS);
            status = talus_solver_set(s, "iterations", text);
            if (status == TALUS_OK) status = talus_solver_solve(s, r, info);
            seconds[part] = fmin(seconds[part], info->solve_seconds);
        }
    least = (seconds[1] - seconds[0]) / SWEEPS;
    if (status != TALUS_OK) fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    free(r);
    talus_solver_destroy(s);
    return status == TALUS_OK ? least : NAN;
}

int main(int argc, char **argv) {
    const double most = argc > 1 ? strtod(argv[1], NULL) : 1e6;
    talus_context *ctx;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    printf("contacts,bodies,prepare_ns_per_contact,bytes_per_contact,ns_per_contact_1_thread,"
           "ratio_to_first_size,ns_per_contact_2_threads,speedup_2_threads\n");
    double first = 0.0;
    for (double target = 1e4; target <= 1.01 * most; target *= 10.0) {
        const int32_t side = (int32_t)lround(cbrt(target / 3.0));
        const packing_def def = {.dim = 3,
                                 .nx = side,
                                 .ny = side,
                                 .nz = side,
                                 .mu = 0.5,
                                 .disorder = 0.1,
                                 .speed = 0.01,
                                 .seed = 1};
        talus_problem *p = NULL;
        if (packing_create(ctx, &def, &p) != TALUS_OK) {
            fprintf(stderr, "%s\n", talus_context_last_error(ctx));
            return 1;
        }
        const double n = talus_problem_get_info(p).count;
        talus_solve_info info;
        const double one = time_sweep(ctx, p, 1, argc - 2, argv + 2, &info);
        const double prepare = info.prepare_seconds, bytes = (double)info.memory;
        const double two = time_sweep(ctx, p, 2, argc - 2, argv + 2, &info);
        if (first == 0.0) first = one / n;
        printf("%.0f,%d,%.0f,%.0f,%.1f,%.2f,%.1f,%.2f\n", n, side * side * side, 1e9 * prepare / n,
               bytes / n, 1e9 * one / n, one / n / first, 1e9 * two / n, one / two);
        fflush(stdout);
        talus_problem_destroy(p);
    }
    talus_context_destroy(ctx);
    return 0;
}
