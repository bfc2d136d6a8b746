// SPDX-License-Identifier: Apache-2.0
// Solvers and their options by name, with messages that offer the nearest; and Ctrl-C.
#define _GNU_SOURCE
#include "solve.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

bool solve_is_solver(const char *name) {
    const char *known, *summary;
    for (int32_t i = 0; talus_solver_at(i, &known, &summary); i++) {
        if (strcmp(known, name) == 0) return true;
    }
    return false;
}

void solve_unknown_solver(const char *name) {
    const char *known, *summary;
    cli_nearest nearest;
    cli_nearest_init(&nearest, name);
    for (int32_t i = 0; talus_solver_at(i, &known, &summary); i++) {
        cli_nearest_offer(&nearest, known);
    }
    cli_error_unknown("solver", name, nearest.best, "'talus help solvers'");
}

bool solve_find_option(const char *solver, const char *key, talus_option_info *out,
                       cli_nearest *nearest) {
    for (int32_t i = 0; talus_solver_option_at(solver, i, out); i++) {
        if (strcmp(out->key, key) == 0) return true;
        if (nearest) cli_nearest_offer(nearest, out->key);
    }
    return false;
}

// The nearest of the values a choice allows, which stand in `range` separated by ", ". Free it.
static char *solve_nearest_value(const talus_option_info *option, const char *value) {
    if (strcmp(option->kind, "choice") != 0) return NULL;
    char *list = cli_text("%s", option->range), *rest = NULL;
    cli_nearest nearest;
    cli_nearest_init(&nearest, value);
    for (char *w = strtok_r(list, ", ", &rest); w; w = strtok_r(NULL, ", ", &rest)) {
        cli_nearest_offer(&nearest, w);
    }
    char *best = nearest.best ? cli_text("%s", nearest.best) : NULL;
    free(list);
    return best;
}

bool solve_set_choice(const solve_setup *setup, const char *key, const char *value,
                      const char *origin) {
    const char *dot = strchr(key, '.');
    if (dot) {
        char *name = cli_text("%.*s", (int)(dot - key), key);
        const bool known = solve_is_solver(name), same = strcmp(name, setup->solver_name) == 0;
        if (!known)
            solve_unknown_solver(name);
        else if (!same) {
            cli_error("%s is for the solver %s, but %s is used (--solver %s chooses it)", origin,
                      name, setup->solver_name, name);
        }
        free(name);
        if (!same) return false;
        key = dot + 1;
    }
    talus_option_info option;
    cli_nearest nearest;
    cli_nearest_init(&nearest, key);
    if (!solve_find_option(setup->solver_name, key, &option, &nearest)) {
        char *what = cli_text("option of solver %s:", setup->solver_name);
        char *list = cli_text("'talus help %s'", setup->solver_name);
        cli_error_unknown(what, key, nearest.best, list);
        free(what);
        free(list);
        return false;
    }
    if (talus_solver_set(setup->solver, key, value) == TALUS_OK) return true;
    char *best = solve_nearest_value(&option, value);
    cli_error("%s: %s%s%s%s (see 'talus help %s')", origin, talus_context_last_error(setup->ctx),
              best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "",
              setup->solver_name);
    free(best);
    return false;
}

double solve_number(const char *text) {
    char *end = NULL;
    const double value = text ? strtod(text, &end) : NAN;
    return text && end != text && *end == '\0' ? value : NAN;
}

// The handler can reach nothing else; set before it is installed.
static talus_context *solve_interrupt_context;
static volatile sig_atomic_t solve_interrupt_seen;

static void solve_interrupt(int signal_number) {
    (void)signal_number;
    solve_interrupt_seen = 1;
    talus_context_cancel(solve_interrupt_context, true);
}

// SA_RESETHAND lets the second signal end the program at once.
void solve_catch_signals(talus_context *ctx) {
    struct sigaction action = {.sa_handler = solve_interrupt,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    solve_interrupt_context = ctx;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void solve_release_signals(void) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

bool solve_interrupted(void) { return solve_interrupt_seen; }
