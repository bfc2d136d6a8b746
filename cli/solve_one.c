// SPDX-License-Identifier: Apache-2.0
// One problem from its file to its certificate. What is reported of the answer is what
// talus_certify says of r; the solver's own word decides only why it stopped.
#define _GNU_SOURCE
#include "solve.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the monitor needs between calls. On a terminal one line is kept up to date, from half a
// second on; with --verbose there is a line per check; neither more than ten times a second.
typedef struct one_progress {
    const char *before, *name;
    bool verbose, terminal, shown;
    double last; // seconds at the last line, negative: none yet
} one_progress;

static void one_monitor(void *user, int32_t iteration, double measure, double seconds) {
    one_progress *p = user;
    const bool first = p->last < 0.0;
    if (!p->verbose && !(p->terminal && seconds > 0.5)) return;
    if (!first && seconds - p->last < 0.1) return;
    p->last = seconds;
    if (p->verbose) {
        fprintf(stderr, "%s: iteration %d, measure %.3e, %.2f s\n", p->name, (int)iteration,
                measure, seconds);
    } else {
        fprintf(stderr, "\r%s%s: iteration %d, measure %.2e, %.1f s\033[K", p->before, p->name,
                (int)iteration, measure, seconds);
        fflush(stderr);
        p->shown = true;
    }
}

static void one_fail(solve_result *result, const char *text) {
    free(result->outcome);
    result->outcome = cli_text("error: %s", text);
    result->solved = false;
}

// Fill r with the start asked for; a file without one starts from zero and says so.
static bool one_start(const solve_setup *setup, const solve_task *task,
                      const talus_fclib_extra *extra, double *r, size_t size) {
    const double *from = NULL;
    if (setup->start == SOLVE_START_ZERO || size == 0) return true;
    const bool guess = setup->start == SOLVE_START_GUESS;
    if (guess && extra->guess_count > 0 && extra->guess) from = extra->guess[0].r;
    if (!guess && extra->solution) from = extra->solution->r;
    if (!from) {
        cli_error("%s: the file holds no %s, starting from zero", task->path,
                  guess ? "guess" : "solution");
        return true;
    }
    for (size_t k = 0; k < size; k++) {
        if (!isfinite(from[k])) return false;
        r[k] = from[k];
    }
    return true;
}

static talus_status one_write(const solve_setup *setup, const solve_task *task,
                              const talus_problem *problem, const talus_problem_info *size,
                              const talus_fclib_extra *extra, double *r) {
    talus_solution solution = {.r = r};
    talus_fclib_extra written = *extra; // title, texts and guesses go along
    written.solution = &solution;
    solution.u = cli_alloc((size_t)size->dim * (size_t)size->count, sizeof *solution.u);
    solution.v = cli_alloc((size_t)size->dof, sizeof *solution.v);
    solution.l = cli_alloc((size_t)size->constraints, sizeof *solution.l);
    talus_status status = talus_problem_state(problem, r, solution.v, solution.u, solution.l);
    if (size->dof == 0) free(solution.v), solution.v = NULL;
    if (size->constraints == 0) free(solution.l), solution.l = NULL;
    if (status == TALUS_OK) {
        status = talus_fclib_write(setup->ctx, task->out, problem, &written);
    }
    free(solution.u);
    free(solution.v);
    free(solution.l);
    return status;
}

// The verdict: the certificate must bear out a solver that says "solved".
static void one_judge(const solve_setup *setup, solve_result *result) {
    const bool says = result->info.outcome == TALUS_OUTCOME_SOLVED;
    const double natural = result->certificate.natural;
    result->solved = says && isfinite(natural);
    if (setup->stops_natural && !isnan(setup->tolerance)) {
        result->solved = result->solved && natural <= setup->tolerance;
    }
    result->outcome = cli_text(
        "%s", says && !result->solved ? "not confirmed" : talus_outcome_text(result->info.outcome));
}

talus_status solve_problem(const solve_setup *setup, const char *name, const talus_problem *problem,
                           double *r, solve_result *result) {
    one_progress progress = {.before = setup->progress ? setup->progress : "",
                             .name = name,
                             .verbose = setup->verbose,
                             .terminal = isatty(STDERR_FILENO),
                             .last = -1.0};
    talus_solver_set_monitor(setup->solver, one_monitor, &progress);
    talus_status status = talus_solver_prepare(setup->solver, problem);
    if (status == TALUS_OK) status = talus_solver_solve(setup->solver, r, &result->info);
    talus_solver_set_monitor(setup->solver, NULL, NULL);
    if (progress.shown) fputs("\r\033[K", stderr);
    if (status == TALUS_OK) status = talus_certify(problem, r, &result->certificate);
    if (status != TALUS_OK) return status;
    result->has_answer = true;
    result->seconds =
        result->problem.setup_seconds + result->info.prepare_seconds + result->info.solve_seconds;
    result->hash =
        talus_hash(r, (size_t)result->problem.dim * (size_t)result->problem.count * sizeof *r, 0);
    one_judge(setup, result);
    return TALUS_OK;
}

void solve_one(const solve_setup *setup, const solve_task *task, solve_result *result) {
    talus_problem *problem = NULL;
    talus_fclib_extra extra = {0};
    double *r = NULL;
    *result = (solve_result){.seconds = NAN};
    if (task->error) {
        one_fail(result, task->error);
        return;
    }
    talus_status status = talus_fclib_read(setup->ctx, task->path, &problem, &extra);
    if (status != TALUS_OK) goto done;
    talus_problem_set_law(problem, setup->law);
    result->problem = talus_problem_get_info(problem);
    result->has_problem = true;
    const size_t size = (size_t)result->problem.dim * (size_t)result->problem.count;
    r = cli_alloc(size, sizeof *r);
    if (!one_start(setup, task, &extra, r, size)) {
        one_fail(result, "the start in the file holds a value that is not finite");
        goto done;
    }
    status = solve_problem(setup, task->name, problem, r, result);
    if (status == TALUS_OK && task->out)
        status = one_write(setup, task, problem, &result->problem, &extra, r);
done:
    if (status != TALUS_OK) {
        const char *text = talus_context_last_error(setup->ctx);
        one_fail(result, text[0] ? text : talus_status_text(status));
    }
    free(r);
    talus_fclib_extra_clear(setup->ctx, &extra);
    talus_problem_destroy(problem);
}

void solve_result_clear(solve_result *result) {
    free(result->outcome);
    *result = (solve_result){0};
}
