// SPDX-License-Identifier: Apache-2.0
// A run of `talus bench`: what is asked for, and where it stands.
#ifndef CLI_BENCH_RUN_H
#define CLI_BENCH_RUN_H
#include "bench.h"
#include "solve.h"

typedef struct bench_args {
    const char *csv, *html, *svg;
    char *solvers, *tolerances; // lists as given, cut into words
    const char **solver;
    int solver_count;
    const char **tol; // as given
    double *tolerance;
    int tol_count;
    const char *time_limit, *threads;
    double repeats; // 0: by time
    bool resume;
    const char **compare;
    int compare_count;
    solve_tasks tasks;
    talus_context *ctx;
    const char *current; // name of the problem being solved
} bench_args;

// Where the run stands. Problems are weighed by the size of their files: a guess at their cost.
typedef struct bench_run {
    bench_args *args;
    bench_rows rows;
    FILE *csv;
    bool failed;   // something could not be read, run or written
    bool terminal; // progress is one line kept up to date
    double begun, last;
    double weight, weight_done;
    int solves, solved;
} bench_run;

/// A solver, "NAME" or "NAME:KEY=VALUE:KEY=VALUE", with the options of the command line; destroy
/// setup->solver after use, whatever is returned. False after a message.
bool bench_run_solver(const bench_args *args, const char *spec, solve_setup *setup);
/// Solve everything for which there is no row yet, adding rows to `rows` and `csv`, until done or
/// interrupted.
void bench_run_missing(bench_run *s);

#endif // CLI_BENCH_RUN_H
