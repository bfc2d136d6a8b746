// SPDX-License-Identifier: Apache-2.0
// What `talus bench` does between its lists and its files: solve what is missing, problem by
// problem, each result kept as soon as it is there.
#define _GNU_SOURCE
#include "bench_run.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// "35 %, about 2 min left"
static void run_where(const bench_run *s, char out[64]) {
    char left[24];
    const double share = s->weight > 0.0 ? s->weight_done / s->weight : 1.0;
    if (!(share > 0.0)) {
        snprintf(out, 64, "begun");
        return;
    }
    cli_duration(left, (cli_clock() - s->begun) * (1.0 - share) / share);
    snprintf(out, 64, "%.0f %%, about %s left", 100.0 * share, left);
}

// The solver that "NAME" or "NAME:KEY=VALUE:KEY=VALUE" begins with; NULL after a message.
static const char *run_solver_name(const char *spec) {
    const char *known, *summary;
    const size_t length = strcspn(spec, ":");
    for (int32_t i = 0; talus_solver_at(i, &known, &summary); i++)
        if (strlen(known) == length && strncmp(known, spec, length) == 0) return known;
    char *name = cli_text("%.*s", (int)length, spec);
    solve_unknown_solver(name);
    free(name);
    return NULL;
}

// What follows the name.
static bool run_solver_options(const solve_setup *setup, const char *spec) {
    char *copy = cli_text("%s", spec), *rest = copy;
    bool good = true;
    (void)strsep(&rest, ":");
    for (char *word = strsep(&rest, ":"); word && good; word = strsep(&rest, ":")) {
        char *value = strchr(word, '=');
        if (value) *value++ = '\0';
        good = value && solve_set_choice(setup, word, value, spec);
        if (!value) cli_error("--solvers: %s: options are written NAME:KEY=VALUE:KEY=VALUE", spec);
    }
    free(copy);
    return good;
}

bool bench_run_solver(const bench_args *args, const char *spec, solve_setup *setup) {
    const char *name = run_solver_name(spec);
    *setup = (solve_setup){.ctx = args->ctx, .solver_name = name, .stops_natural = true};
    if (!name) return false;
    if (talus_solver_create(args->ctx, name, &setup->solver) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(args->ctx));
        return false;
    }
    return solve_set_choice(setup, "time_limit", args->time_limit, "--time-limit") &&
           solve_set_choice(setup, "threads", args->threads, "--threads") &&
           solve_set_choice(setup, "stop", "natural", "the natural residual") &&
           run_solver_options(setup, spec);
}

static bool run_is_there(const bench_run *s, const char *solver, const solve_task *task, int t) {
    return bench_rows_find(&s->rows, "talus", solver, task->name, s->args->tolerance[t]) != NULL;
}

// What is still to do on a problem, in solves.
static int run_missing(const bench_run *s, const solve_task *task) {
    int missing = 0;
    for (int k = 0; k < s->args->solver_count; k++)
        for (int t = 0; t < s->args->tol_count; t++)
            missing += !run_is_there(s, s->args->solver[k], task, t);
    return missing;
}

static double run_weight(const solve_task *task) {
    struct stat st;
    return stat(task->path, &st) == 0 && st.st_size > 0 ? (double)st.st_size : 1.0;
}

// Solve until enough repeats are done; the row that comes out, or false when it was interrupted.
static bool run_solve(bench_run *s, const solve_setup *setup, const char *solver,
                      const solve_task *task, const talus_problem *problem, bench_row *row) {
    const talus_problem_info facts = talus_problem_get_info(problem);
    const size_t size = (size_t)facts.dim * (size_t)facts.count;
    solve_result first = {.problem = facts, .has_problem = true};
    double *r = cli_alloc(size, sizeof *r), least = INFINITY, spent = 0.0;
    int repeats = 0;
    talus_status status = TALUS_OK;
    for (bool more = true; more;) {
        solve_result again = {.problem = facts, .has_problem = true};
        solve_result *result = repeats == 0 ? &first : &again;
        memset(r, 0, size * sizeof *r);
        status = solve_problem(setup, task->name, problem, r, result);
        if (status == TALUS_OK) {
            least = fmin(least, fmax(result->seconds, 1e-9));
            spent += result->seconds;
            repeats++;
        }
        more = status == TALUS_OK && result->solved && !solve_interrupted() &&
               (s->args->repeats > 0.0 ? repeats < s->args->repeats : repeats < 5 && spent < 20e-3);
        if (result == &again) solve_result_clear(&again);
    }
    const bool cancelled = first.has_answer && first.info.outcome == TALUS_OUTCOME_CANCELLED;
    const char *outcome = first.outcome;
    if (status == TALUS_ERR_UNSUPPORTED) {
        outcome = "not for this problem";
    } else if (status != TALUS_OK) {
        cli_error("%s: %s: %s", task->path, solver, talus_context_last_error(setup->ctx));
        outcome = "error";
        s->failed = true;
    }
    if (!cancelled) {
        const bool answer = status == TALUS_OK;
        *row = (bench_row){.library = cli_text("talus"),
                           .solver = cli_text("%s", solver),
                           .problem = cli_text("%s", task->name),
                           .kind = cli_text(facts.is_global ? "global" : "local"),
                           .dim = facts.dim,
                           .contacts = facts.count,
                           .dof = facts.is_global ? (double)facts.dof : NAN,
                           .tolerance = setup->tolerance,
                           .outcome = cli_text("%s", outcome),
                           .iterations = answer ? (double)first.info.iterations : NAN,
                           .seconds = answer ? least : NAN,
                           .natural = answer ? first.certificate.natural : NAN,
                           .residual = answer ? first.certificate.residual : NAN,
                           .penetration = answer ? first.certificate.penetration : NAN,
                           .repeats = answer ? (double)repeats : NAN,
                           .threads = solve_number(s->args->threads),
                           .time_limit = solve_number(s->args->time_limit)};
    }
    solve_result_clear(&first);
    free(r);
    return !cancelled;
}

static void run_keep(bench_run *s, const bench_row *row) {
    s->solves++;
    s->solved += bench_is_solved(row);
    bench_rows_add(&s->rows, row);
    bench_csv_write(s->csv, row);
    if (fflush(s->csv) == 0) return;
    if (!s->failed) cli_error("--csv %s: cannot be written: %s", s->args->csv, strerror(errno));
    s->failed = true;
}

// One solver on one problem, at the tolerances that are missing.
static void run_solver(bench_run *s, const char *solver, const solve_task *task,
                       const talus_problem *problem, double weight) {
    solve_setup setup;
    if (!bench_run_solver(s->args, solver, &setup)) {
        talus_solver_destroy(setup.solver);
        s->failed = true;
        return;
    }
    for (int t = 0; t < s->args->tol_count && !solve_interrupted(); t++) {
        bench_row row;
        char where[64], line[160];
        if (run_is_there(s, solver, task, t)) continue;
        run_where(s, where);
        snprintf(line, sizeof line, "[%s] %s %s, ", where, solver, s->args->tol[t]);
        if (s->terminal && cli_clock() - s->last > 0.1) {
            s->last = cli_clock();
            fprintf(stderr, "\r%s%s\033[K", line, task->name);
            fflush(stderr);
        }
        setup.progress = line;
        setup.tolerance = s->args->tolerance[t];
        if (!solve_set_choice(&setup, "tolerance", s->args->tol[t], "--tol")) break;
        if (run_solve(s, &setup, solver, task, problem, &row)) run_keep(s, &row);
        s->weight_done += weight;
    }
    talus_solver_destroy(setup.solver);
}

static void run_problem(bench_run *s, const solve_task *task) {
    talus_problem *problem = NULL;
    const int missing = run_missing(s, task), solves = s->solves, solved = s->solved;
    const double weight = run_weight(task), begun = cli_clock();
    if (missing == 0) return;
    s->args->current = task->name;
    if (talus_fclib_read(s->args->ctx, task->path, &problem, NULL) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(s->args->ctx));
        s->failed = true;
        s->weight_done += missing * weight;
        return;
    }
    talus_problem_set_law(problem, TALUS_LAW_COULOMB);
    for (int k = 0; k < s->args->solver_count && !solve_interrupted(); k++)
        run_solver(s, s->args->solver[k], task, problem, weight);
    talus_problem_destroy(problem);
    if (!s->terminal && s->solves > solves) {
        char where[64], took[24];
        run_where(s, where);
        cli_seconds(took, cli_clock() - begun);
        fprintf(stderr, "%s: %d of %d solved, %s (%s)\n", task->name, s->solved - solved,
                s->solves - solves, took, where);
    }
}

void bench_run_missing(bench_run *s) {
    const solve_tasks *tasks = &s->args->tasks;
    int missing = 0;
    s->terminal = isatty(STDERR_FILENO);
    s->begun = cli_clock();
    for (int i = 0; i < tasks->count; i++) {
        const solve_task *task = &tasks->item[i];
        if (task->error) {
            cli_error("%s", task->error);
            s->failed = true;
            continue;
        }
        const int here = run_missing(s, task);
        missing += here;
        s->weight += here * run_weight(task);
    }
    solve_catch_signals(s->args->ctx);
    for (int i = 0; i < tasks->count && !solve_interrupted(); i++)
        if (!tasks->item[i].error) run_problem(s, &tasks->item[i]);
    solve_release_signals();
    if (s->terminal) fputs("\r\033[K", stderr);
    char took[24];
    cli_duration(took, cli_clock() - s->begun);
    fprintf(stderr, "%d of %d solves done in %s, %d solved\n", s->solves, missing, took, s->solved);
    if (solve_interrupted()) {
        cli_error("interrupted: %s keeps what is done; the same command with --resume goes on",
                  s->args->csv);
        s->failed = true;
    }
}
