// SPDX-License-Identifier: Apache-2.0
// A solver (nlgs, or the one that `--set solver=NAME` names) on problem files, one thread: least
// time of many repeats, split into set-up and sweeps.
//     bench/problem_set TOLERANCE FILE... [--set KEY=VALUE]...
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run(talus_context *ctx, const char *path, const char *tolerance, int sets, char **set) {
    talus_problem *p = NULL;
    talus_solver *s = NULL;
    const char *solver = "nlgs";
    for (int k = 0; k < sets; k++)
        if (strncmp(set[k], "solver=", 7) == 0) solver = set[k] + 7;
    if (talus_fclib_read(ctx, path, &p, NULL) != TALUS_OK ||
        talus_solver_create(ctx, solver, &s) != TALUS_OK ||
        talus_solver_set(s, "tolerance", tolerance) != TALUS_OK) {
        fprintf(stderr, "%s\n", talus_context_last_error(ctx));
        goto done;
    }
    for (int k = 0; k < sets; k++) {
        char key[64];
        if (strncmp(set[k], "solver=", 7) == 0) continue;
        const char *equals = strchr(set[k], '=');
        snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - set[k]) : 0, set[k]);
        if (!equals || talus_solver_set(s, key, equals + 1) != TALUS_OK) {
            fprintf(stderr, "%s\n", equals ? talus_context_last_error(ctx) : "KEY=VALUE expected");
            goto done;
        }
    }
    const talus_problem_info facts = talus_problem_get_info(p);
    const size_t size = (size_t)(facts.dim * facts.count) * sizeof(double);
    double *r = malloc(size + 1);
    talus_solve_info info = {0};
    double prepare = INFINITY, solve = INFINITY, spent = 0.0;
    for (int repeat = 0; r && repeat < 1000 && (repeat < 3 || spent < 0.5); repeat++) {
        memset(r, 0, size);
        if (talus_solver_prepare(s, p) != TALUS_OK || talus_solver_solve(s, r, &info) != TALUS_OK) {
            fprintf(stderr, "%s\n", talus_context_last_error(ctx));
            break;
        }
        prepare = fmin(prepare, info.prepare_seconds);
        solve = fmin(solve, info.solve_seconds);
        spent += info.prepare_seconds + info.solve_seconds;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    printf("%s,%d,%d,%s,%d,%.1f,%.1f,%.1f\n", name, facts.dim, facts.count,
           talus_outcome_text(info.outcome), info.iterations, 1e6 * prepare, 1e6 * solve,
           1e9 * solve / fmax(1.0, (double)info.local_solves));
    free(r);
done:
    talus_solver_destroy(s);
    talus_problem_destroy(p);
}

int main(int argc, char **argv) {
    talus_context *ctx;
    if (argc < 3 || talus_context_create(NULL, &ctx) != TALUS_OK) {
        fprintf(stderr, "usage: problem_set TOLERANCE FILE... [--set KEY=VALUE]...\n");
        return 2;
    }
    int files = 2;
    while (files < argc && strcmp(argv[files], "--set") != 0) files++;
    char *set[64];
    int sets = 0;
    for (int k = files; k + 1 < argc && sets < 64; k += 2) set[sets++] = argv[k + 1];
    printf("problem,dim,contacts,outcome,sweeps,prepare_us,solve_us,ns_per_visit\n");
    for (int k = 2; k < files; k++) run(ctx, argv[k], argv[1], sets, set);
    talus_context_destroy(ctx);
    return 0;
}
