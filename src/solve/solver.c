// SPDX-License-Identifier: Apache-2.0
// The public face of all solvers: creation by name, options by key, timing, outcomes.
#include "base/timer.h"
#include "cone/local.h"
#include "problem/condense.h"
#include "solve/solver_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *solver_measure_name(int k) {
    static const char *const name[] = {"natural",     "residual", "fb",
                                       "bipotential", "change",   "step"};
    return k < (int)(sizeof name / sizeof *name) ? name[k] : NULL;
}

const tl_option tl_common_rows[] = {
    TL_ROW(tl_common_options, tolerance, TL_OPTION_NUMBER, "1e-8", .low = 0.0, .high = INFINITY,
           .above = true, .text = "stop when the measure is at most this"),
    TL_ROW(tl_common_options, stop, TL_OPTION_CHOICE, "natural", .choice = solver_measure_name,
           .text = "measure to stop on; natural and residual are those of the certificate"),
    TL_ROW(tl_common_options, iterations, TL_OPTION_INTEGER, "1000000000", .low = 0,
           .high = INT32_MAX, .text = "most iterations"),
    TL_ROW(tl_common_options, time_limit, TL_OPTION_NUMBER, "60", .low = 0.0, .high = INFINITY,
           .text = "most seconds, set-up included"),
    TL_ROW(tl_common_options, threads, TL_OPTION_INTEGER, "1", .low = 1, .high = 256,
           .text = "threads; the result has the same bits for any number"),
    TL_ROW(tl_common_options, check, TL_OPTION_INTEGER, "0", .low = 0, .high = INT32_MAX,
           .text =
               "iterations between checks of the measure; 0: when it is expected to be reached"),
    {0},
};

const char *talus_outcome_text(talus_outcome outcome) {
    static const char *const text[] = {
#define SOLVER_OUTCOME_TEXT(name, words) [name] = words,
        TALUS_OUTCOME_LIST(SOLVER_OUTCOME_TEXT)
#undef SOLVER_OUTCOME_TEXT
    };
    const size_t index = (size_t)outcome;
    return index < sizeof text / sizeof *text ? text[index] : "unknown outcome";
}

static const tl_solver_ops *solver_find(const char *name) {
    for (int k = 0; tl_solver_registry[k]; k++)
        if (strcmp(tl_solver_registry[k]->name, name) == 0) return tl_solver_registry[k];
    return NULL;
}

// Row k of a solver's options: the common ones, then its own.
static const tl_option *solver_row(const tl_solver_ops *ops, int32_t k) {
    for (const tl_option *row = tl_common_rows; row->key; row++)
        if (k-- == 0) return row;
    for (const tl_option *row = ops->options; row->key; row++)
        if (k-- == 0) return row;
    return NULL;
}

// Add a name to a list for an error text.
static void solver_list(char *list, size_t size, const char *name) {
    const size_t used = strlen(list);
    (void)snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

bool talus_solver_at(int32_t index, const char **name, const char **summary) {
    for (int32_t k = 0; tl_solver_registry[k]; k++)
        if (k == index) {
            *name = tl_solver_registry[k]->name;
            *summary = tl_solver_registry[k]->summary;
            return true;
        }
    return false;
}

bool talus_solver_option_at(const char *solver, int32_t index, talus_option_info *out) {
    const tl_solver_ops *ops = solver_find(solver);
    const tl_option *row = ops && index >= 0 ? solver_row(ops, index) : NULL;
    if (row) tl_option_describe(row, out);
    return row != NULL;
}

bool talus_local_solver_at(int32_t index, const char **name, const char **summary) {
    for (int32_t k = 0; tl_local_solvers[k].name; k++)
        if (k == index) {
            *name = tl_local_solvers[k].name;
            *summary = tl_local_solvers[k].summary;
            return true;
        }
    return false;
}

talus_status talus_solver_set(talus_solver *s, const char *key, const char *value) {
    const tl_option *row;
    char keys[512] = "";
    for (int32_t k = 0; (row = solver_row(s->ops, k)); k++) {
        if (strcmp(row->key, key) == 0)
            return tl_option_set(s->ctx, s->ops->name, row, value, s->options);
        solver_list(keys, sizeof keys, row->key);
    }
    return tl_fail(s->ctx, TALUS_ERR_UNKNOWN, "%s: there is no option '%s'; there are: %s",
                   s->ops->name, key, keys);
}

talus_status talus_solver_create(talus_context *ctx, const char *name, talus_solver **out) {
    *out = NULL;
    const tl_solver_ops *ops = solver_find(name);
    if (!ops) {
        char names[512] = "";
        for (int k = 0; tl_solver_registry[k]; k++)
            solver_list(names, sizeof names, tl_solver_registry[k]->name);
        return tl_fail(ctx, TALUS_ERR_UNKNOWN, "there is no solver '%s'; there are: %s", name,
                       names);
    }
    talus_solver *s = NULL;
    talus_status status = tl_alloc(ctx, 1, ops->size, &s);
    if (status != TALUS_OK) return status;
    s->ctx = ctx;
    s->ops = ops;
    TL_GOTO(tl_alloc(ctx, 1, ops->options_size, &s->options));
    const tl_option *row;
    for (int32_t k = 0; (row = solver_row(ops, k)); k++)
        TL_GOTO(tl_option_set(ctx, name, row, row->initial, s->options));
    *out = s;
    return TALUS_OK;
done:
    tl_free(ctx, s->options);
    tl_free(ctx, s);
    return status;
}

void talus_solver_destroy(talus_solver *s) {
    if (!s) return;
    s->ops->clear(s);
    tl_free(s->ctx, s->options);
    tl_free(s->ctx, s);
}

void talus_solver_set_monitor(talus_solver *s, talus_monitor monitor, void *user) {
    s->monitor = monitor;
    s->monitor_user = user;
}

static void solver_clear(talus_solver *s) {
    s->ops->clear(s);
    s->memory = 0;
}

void tl_solver_rest(talus_solver *s) {
    solver_clear(s);
    s->problem = NULL;
    s->witness = NULL;
}

talus_status talus_solver_prepare(talus_solver *s, const talus_problem *given) {
    const double start = tl_seconds();
    size_t before, after, peak;
    TL_TRY(tl_problem_usable(given));
    const talus_problem *p = s->ops->rows ? given : tl_problem_condensed(given);
    if (!s->ops->reuses) solver_clear(s);
    s->problem = NULL;
    s->witness = NULL;
    const char *refusal = s->ops->refuses ? s->ops->refuses(s, p) : NULL;
    TL_REQUIRE(s->ctx, !refusal, TALUS_ERR_UNSUPPORTED, "%s: %s", s->ops->name, refusal);
    talus_context_memory(s->ctx, &before, &peak);
    const talus_status status = s->ops->prepare(s, p);
    if (status != TALUS_OK) {
        solver_clear(s);
        return status;
    }
    talus_context_memory(s->ctx, &after, &peak);
    s->memory += after - before; // or less, where something was given back
    s->problem = p;
    s->prepare_seconds = tl_seconds() - start;
    return TALUS_OK;
}

const double *talus_solver_witness(const talus_solver *s) { return s->witness; }

talus_status talus_solver_solve(talus_solver *s, double *r, talus_solve_info *info) {
    TL_REQUIRE(s->ctx, s->problem, TALUS_ERR_ARG, "%s: solve before prepare", s->ops->name);
    const int64_t size = (int64_t)s->problem->dim * s->problem->count;
    for (int64_t k = 0; k < size; k++)
        TL_REQUIRE(s->ctx, isfinite(r[k]), TALUS_ERR_ARG,
                   "%s: the start r[%lld] = %g is not a finite number", s->ops->name, (long long)k,
                   r[k]);
    const double start = tl_seconds();
    s->witness = NULL;
    *info = (talus_solve_info){.prepare_seconds = s->prepare_seconds, .memory = s->memory};
    s->ops->solve(s, r, info);
    info->solve_seconds = tl_seconds() - start;
    return TALUS_OK;
}
