// SPDX-License-Identifier: Apache-2.0
// A solver of Talus beside the fastest set-up of Siconos on each problem, at one natural residual.
//
//     compare [--oracle] [--solver NAME] [--tol T] [--limit S] [--problems DIR] [--only NAME]
//             [--csv FILE] [--bench-csv FILE] [--thorough]
//
// Without --oracle the set-ups are those of NSGS, with it those of every solver. Both sides start
// from zero, on one thread, and both answers are judged by the same residual, computed here.
// Siconos' own stop test divides by another norm, so for each set-up the loosest tolerance whose
// answer passes is looked for first; only solves with that tolerance are timed, in turns with
// Talus. The best set-up therefore is one that no user could know beforehand. A time is the least
// of many repeats.
#define _GNU_SOURCE
#include "cases.h"
#include "measure.h"
#include "report.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETUP_LIMIT = 256, FINALISTS = 6, STORAGES = 3 };
// Seconds that a first look gives a set-up: as long as nothing got there, and at least.
static const double PATIENCE = 2.0, SOLVE_LEAST = 0.05, SEARCH_LEAST = 1.0;
static const double HOPELESS = 3.0;  // a solve this much longer than the best cannot win
static const double SEARCHES = 20.0; // solves that a search may cost
static const double LONG_SEARCH = 4.0;

typedef struct run_options {
    bench_run run;
    bool thorough; // every set-up to the end, however slow
    const char *problems, *only, *csv, *flat;
} run_options;

static int by_time(const void *a, const void *b) {
    const double x = ((const bench_candidate *)a)->result.seconds;
    const double y = ((const bench_candidate *)b)->result.seconds;
    return (x > y) - (x < y);
}

// Every set-up once. One that is not through long after the best so far cannot win, so it is given
// little time, unless `full`.
static int try_setups(const bench_task *t, bool all, bool full, bench_candidate *list) {
    double best = INFINITY;
    int count = 0;
    for (; count < SETUP_LIMIT && siconos_setup_at(t->c, all, count, &list[count].setup); count++) {
        double solve = full ? t->limit : fmin(PATIENCE, t->limit);
        double search = full ? LONG_SEARCH * t->limit : solve;
        if (!full && isfinite(best)) {
            solve = fmin(fmax(SOLVE_LEAST, HOPELESS * best), t->limit);
            search = fmin(fmax(SEARCH_LEAST, SEARCHES * best), LONG_SEARCH * t->limit);
        }
        bench_try_siconos(t, solve, search, &list[count]);
        best = fmin(best, list[count].result.seconds);
    }
    return count;
}

// The best few in every storage of W that they take.
static int choose_finalists(const bench_case *c, bench_candidate *all, int count,
                            bench_candidate *out) {
    int made = 0;
    for (int k = 0; k < count && k < FINALISTS; k++) {
        if (!isfinite(all[k].result.seconds)) break;
        for (int storage = 0; storage < STORAGES; storage++) {
            bench_candidate next = all[k];
            bool seen = !siconos_takes(c, &next.setup, (siconos_storage)storage);
            next.setup.storage = (siconos_storage)storage;
            for (int other = 0; other < made; other++)
                seen = seen || siconos_setup_equal(&next.setup, &out[other].setup);
            if (!seen) out[made++] = next;
        }
    }
    return made;
}

static void keep_methods(const bench_candidate *all, int count, bench_row *out) {
    for (int k = 0; k < count; k++) {
        const char *name = siconos_method_name(&all[k].setup);
        bool seen = false; // the list is sorted: the first is the best
        for (int m = 0; m < out->method_count; m++)
            seen = seen || strcmp(out->methods[m].name, name) == 0;
        if (seen || out->method_count == METHOD_LIMIT) continue;
        out->methods[out->method_count++] = (bench_method){name, all[k].result};
    }
}

static void compare_one(const run_options *options, const bench_task *t, bench_row *out) {
    static bench_candidate all[SETUP_LIMIT];
    bench_candidate finalists[FINALISTS * STORAGES];
    const bool oracle = options->run.oracle;
    int count = 0;
    *out = (bench_row){.form = t->c->form,
                       .dim = t->c->dim,
                       .contacts = t->c->count,
                       .dof = t->c->dof,
                       .siconos = {.seconds = INFINITY,
                                   .natural = NAN,
                                   .residual = NAN,
                                   .penetration = NAN,
                                   .late = true},
                       .setup = "none"};
    memcpy(out->name, t->c->name, sizeof out->name);
    out->talus = bench_try_talus(t);
    if (t->c->count > 0) {
        count = try_setups(t, oracle, options->thorough, all);
        qsort(all, (size_t)count, sizeof *all, by_time);
        if (!options->thorough && count > 0 && !isfinite(all[0].result.seconds)) {
            count = try_setups(t, oracle, true, all);
            qsort(all, (size_t)count, sizeof *all, by_time);
        }
        if (options->thorough) keep_methods(all, count, out);
        count = choose_finalists(t->c, all, count, finalists);
    }
    bench_race(t, &out->talus, finalists, count);
    for (int k = 0; k < count; k++) {
        if (!(finalists[k].result.seconds < out->siconos.seconds)) continue;
        out->siconos = finalists[k].result;
        siconos_setup_name(&finalists[k].setup, out->setup, sizeof out->setup);
    }
    if (isfinite(out->talus.seconds) && isfinite(out->siconos.seconds) && out->talus.seconds > 0.0)
        out->ratio = out->siconos.seconds / out->talus.seconds;
}

static int is_problem(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".hdf5") == 0;
}

static int run_file(talus_context *ctx, const run_options *options, const char *path,
                    bench_row *rows) {
    int contacts = 0, made = 0;
    const bool global = bench_file_is_global(ctx, path, &contacts);
    if (contacts < 0) return 0;
    const bench_form forms[] = {global ? BENCH_GLOBAL : BENCH_LOCAL, BENCH_ASSEMBLED};
    for (int k = 0; k < (global ? 2 : 1); k++) {
        bench_case c;
        if (!bench_case_create(ctx, path, forms[k], &c)) continue;
        const bench_task t = {.ctx = ctx,
                              .c = &c,
                              .path = path,
                              .solver = options->run.solver,
                              .tol = options->run.tol,
                              .limit = options->run.limit};
        compare_one(options, &t, &rows[made]);
        bench_print_row(&options->run, &rows[made++]);
        bench_case_clear(&c);
    }
    return made;
}

static void run_all(talus_context *ctx, run_options *options) {
    struct dirent **list = NULL;
    int count = 0;
    const int files = scandir(options->problems, &list, is_problem, alphasort);
    if (files <= 0) {
        fprintf(stderr, "%s: no problem files (*.hdf5) there; give --problems DIR\n",
                options->problems);
        exit(1);
    }
    bench_row *rows = calloc(2 * (size_t)files, sizeof *rows);
    if (!rows) exit(1);
    options->run.csv = bench_open_csv(&options->run, options->csv);
    options->run.flat = bench_open_flat(options->flat);
    bench_print_head(&options->run);
    for (int k = 0; k < files; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", options->problems, list[k]->d_name);
        if (!options->only || strstr(list[k]->d_name, options->only))
            count += run_file(ctx, options, path, rows + count);
        free(list[k]);
    }
    free(list);
    bench_print_summary(&options->run, rows, count);
    if (options->run.csv) fclose(options->run.csv);
    if (options->run.flat) fclose(options->run.flat);
    free(rows);
}

static void usage(const char *program) {
    fprintf(stderr,
            "usage: %s [--oracle] [--solver NAME] [--tol T] [--limit S] [--problems DIR] "
            "[--only NAME] [--csv FILE] [--bench-csv FILE] [--thorough]\n",
            program);
    exit(2);
}

static void read_options(int argc, char **argv, run_options *out) {
    for (int k = 1; k < argc; k++) {
        const char *key = argv[k];
        if (strcmp(key, "--oracle") == 0) {
            out->run.oracle = true;
            continue;
        }
        if (strcmp(key, "--thorough") == 0) {
            out->thorough = true;
            continue;
        }
        if (++k == argc) usage(argv[0]);
        if (strcmp(key, "--tol") == 0)
            out->run.tol = atof(argv[k]);
        else if (strcmp(key, "--limit") == 0)
            out->run.limit = atof(argv[k]);
        else if (strcmp(key, "--solver") == 0)
            out->run.solver = argv[k];
        else if (strcmp(key, "--problems") == 0)
            out->problems = argv[k];
        else if (strcmp(key, "--only") == 0)
            out->only = argv[k];
        else if (strcmp(key, "--csv") == 0)
            out->csv = argv[k];
        else if (strcmp(key, "--bench-csv") == 0)
            out->flat = argv[k];
        else
            usage(argv[0]);
    }
    if (!(out->run.tol > 0.0) || !(out->run.limit > 0.0)) usage(argv[0]);
}

static bool is_solver(const char *name) {
    const char *known = NULL, *summary = NULL;
    for (int32_t k = 0; talus_solver_at(k, &known, &summary); k++)
        if (strcmp(known, name) == 0) return true;
    fprintf(stderr, "%s: no such solver; `talus solve --help` lists them\n", name);
    return false;
}

int main(int argc, char **argv) {
    // OpenBLAS reads its thread count when it is loaded, so set it and start again.
    const char *blas = getenv("OPENBLAS_NUM_THREADS");
    if (!blas || strcmp(blas, "1") != 0) {
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    run_options options = {.run = {.solver = "nlgs", .tol = 1e-4, .limit = 10.0},
                           .problems = getenv("TALUS_PROBLEMS")};
    if (!options.problems) options.problems = "../shared/problems";
    options.run.argc = argc;
    options.run.argv = argv;
    read_options(argc, argv, &options);
    if (!is_solver(options.run.solver)) return 2;
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    run_all(ctx, &options);
    talus_context_destroy(ctx);
    return 0;
}
