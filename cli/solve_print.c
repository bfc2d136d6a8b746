// SPDX-License-Identifier: Apache-2.0
// Rows and JSON objects of `talus solve`. A row is printed as soon as its problem is done, so the
// columns have fixed widths.
#define _GNU_SOURCE
#include "solve.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Columns after the name; negative: figures, aligned on the right.
static const struct {
    const char *title;
    int width;
} print_column[] = {{"dim", -3},     {"contacts", -8}, {"dof", -7},         {"cont/dof", -8},
                    {"solver", 0},   {"outcome", 15},  {"iterations", -10}, {"time", -8},
                    {"natural", -9}, {"residual", -9}, {"penetration", -11}};

enum { PRINT_COUNT = sizeof print_column / sizeof print_column[0] };

static int print_name_width(const solve_tasks *tasks) {
    int width = (int)strlen("problem");
    for (int i = 0; i < tasks->count; i++) {
        const int w = cli_width(tasks->item[i].name);
        if (w > width) width = w;
    }
    return width;
}

static void print_cells(const char *name, int name_width, const char *const *cell,
                        const char *solver) {
    const int least = (int)strlen("solver");
    cli_pad(stdout, name, name_width);
    for (int j = 0; j < PRINT_COUNT; j++) {
        int width = print_column[j].width;
        if (width == 0) width = cli_width(solver) > least ? cli_width(solver) : least;
        fputs("  ", stdout);
        cli_pad(stdout, cell[j], width);
    }
    putchar('\n');
}

void solve_print_head(const solve_tasks *tasks, const char *solver) {
    const char *cell[PRINT_COUNT];
    for (int j = 0; j < PRINT_COUNT; j++) cell[j] = print_column[j].title;
    print_cells("problem", print_name_width(tasks), cell, solver);
}

// Rows of H per velocity unknown: above 1 some impulses cannot be unique.
static double print_ratio(const talus_problem_info *p) {
    return p->is_global && p->dof > 0 ? (double)p->dim * p->count / p->dof : NAN;
}

// A cell's text in memory of the row; "-" for what is not known.
static const char *print_figure(char out[24], double value) {
    if (isnan(value)) return "-";
    snprintf(out, 24, "%.2e", value);
    return out;
}

void solve_print_row(const solve_tasks *tasks, const solve_task *task, const solve_setup *setup,
                     const solve_result *result) {
    const talus_problem_info *p = &result->problem;
    const talus_certificate *c = &result->certificate;
    char text[PRINT_COUNT][24];
    const char *cell[PRINT_COUNT];
    if (!result->has_answer || strncmp(result->outcome, "error: ", 7) == 0) {
        cli_pad(stdout, task->name, print_name_width(tasks));
        printf("  %s\n", result->outcome);
        return;
    }
    for (int j = 0; j < PRINT_COUNT; j++) cell[j] = text[j];
    snprintf(text[0], sizeof text[0], "%d", (int)p->dim);
    snprintf(text[1], sizeof text[1], "%d", (int)p->count);
    snprintf(text[2], sizeof text[2], "%d", (int)p->dof);
    snprintf(text[3], sizeof text[3], "%.2f", print_ratio(p));
    if (!p->is_global) cell[2] = "-";
    if (isnan(print_ratio(p))) cell[3] = "-";
    cell[4] = setup->solver_name;
    cell[5] = result->outcome;
    snprintf(text[6], sizeof text[6], "%d", (int)result->info.iterations);
    cli_seconds(text[7], result->seconds);
    cell[8] = print_figure(text[8], c->natural);
    cell[9] = print_figure(text[9], c->residual);
    cell[10] = print_figure(text[10], c->penetration);
    print_cells(task->name, print_name_width(tasks), cell, setup->solver_name);
}

static void print_member(const char *key, double value, bool known) {
    cli_json_key(stdout, key, false);
    cli_json_number(stdout, known ? value : NAN);
}

static void print_string(const char *key, const char *value, bool first) {
    cli_json_key(stdout, key, first);
    if (value && value[0])
        cli_json_string(stdout, value);
    else
        fputs("null", stdout);
}

void solve_print_json(const solve_task *task, const solve_setup *setup,
                      const solve_result *result) {
    const talus_problem_info *p = &result->problem;
    const talus_solve_info *i = &result->info;
    const talus_certificate *c = &result->certificate;
    const bool problem = result->has_problem, answer = result->has_answer;
    putchar('{');
    print_string("problem", task->name, true);
    print_string("file", task->path, false);
    print_member("dim", p->dim, problem);
    print_member("contacts", p->count, problem);
    print_member("dof", p->dof, problem && p->is_global);
    print_member("contacts_per_dof", print_ratio(p), problem);
    print_string("solver", setup->solver_name, false);
    print_string("local", setup->local, false);
    print_string("law", setup->law == TALUS_LAW_ASSOCIATED ? "associated" : "coulomb", false);
    print_member("tolerance", setup->tolerance, true);
    print_member("threads", setup->threads, true);
    print_string("outcome", result->outcome, false);
    print_member("iterations", i->iterations, answer);
    print_member("seconds", result->seconds, answer);
    print_member("natural", c->natural, answer);
    print_member("residual", c->residual, answer);
    print_member("penetration", c->penetration, answer);
    print_member("complementarity", c->complementarity, answer);
    print_member("cone", c->cone, answer);
    print_member("motion", c->motion, answer);
    print_member("energy", c->energy, answer);
    print_member("worst", c->worst, answer && c->worst >= 0);
    print_member("open", c->open, answer);
    print_member("stick", c->stick, answer);
    print_member("slip", c->slip, answer);
    print_member("local_solves", (double)i->local_solves, answer);
    print_member("local_failures", (double)i->local_failures, answer);
    print_member("memory", (double)i->memory, answer);
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, result->hash);
    print_string("hash", answer ? hash : NULL, false);
    puts("}");
}
