// SPDX-License-Identifier: Apache-2.0
// The ledger over time: energy, contacts, the solver. One run has its curves together in a plot,
// several runs have a plot for each figure.
#define _GNU_SOURCE
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// How a curve is made of fields of the ledger.
typedef enum ledger_kind {
    LEDGER_AS_IT_IS,
    LEDGER_CHANGE, // since the first step
    LEDGER_SUM,    // over all steps so far
} ledger_kind;

typedef struct ledger_curve {
    const char *field; // or "+" for the sum of the energies
    const char *label;
    ledger_kind kind;
} ledger_curve;

typedef struct ledger_plot {
    const char *section; // heading and text above it, where a section begins
    const char *section_text;
    const char *title, *unit, *text;
    bool log;
    bool spare; // left out where all its curves are zero
    ledger_curve curve[7];
} ledger_plot;

static const ledger_plot ledger_plots[] = {
    {.section = "Energy",
     .section_text = "Every step closes: kinetic, potential and elastic energy now are what they "
                     "were before, plus the work done, less the losses.",
     .title = "Energy of the grains",
     .unit = "J",
     .text = "Potential energy as the change since the first step.",
     .curve = {{"kinetic", "kinetic", LEDGER_AS_IT_IS},
               {"potential", "potential (change)", LEDGER_CHANGE},
               {"elastic", "elastic", LEDGER_AS_IT_IS},
               {"+", "sum (change)", LEDGER_CHANGE}}},
    {.title = "Where the energy went",
     .unit = "J",
     .text = "Summed over the steps so far: what friction and impacts took, what the time stepping "
             "itself took, and the work that came in.",
     .curve = {{"loss_friction", "friction", LEDGER_SUM},
               {"loss_impact", "impacts", LEDGER_SUM},
               {"loss_numerical", "time stepping", LEDGER_SUM},
               {"work_obstacles", "work of obstacles", LEDGER_SUM},
               {"work_forces", "work of forces", LEDGER_SUM},
               {"work_joints", "work of motors", LEDGER_SUM}}},
    {.section = "Contacts",
     .title = "Contacts by status",
     .unit = "",
     .text = "Contacts of the problem of each step: open ones carry no force, sticking ones do not "
             "slide, sliding ones are on the edge of the friction cone.",
     .curve = {{"open", "open", LEDGER_AS_IT_IS},
               {"stick", "sticking", LEDGER_AS_IT_IS},
               {"slip", "sliding", LEDGER_AS_IT_IS}}},
    {.title = "Deepest overlap",
     .unit = "m",
     .text = "Where contacts were looked for, at the beginning of each step.",
     .spare = true,
     .curve = {{"penetration", "overlap", LEDGER_AS_IT_IS}}},
    {.section = "Solver and certificate",
     .section_text = "The certificate is computed by code that no solver uses.",
     .title = "Residual of the certificate",
     .unit = "",
     .text = "How well the law of friction is met by each step, without unit; the scene's "
             "tolerance is the level line. What is below a thousandth of it is drawn there.",
     .log = true,
     .curve = {{"residual", "residual", LEDGER_AS_IT_IS}}},
    {.title = "Iterations",
     .unit = "",
     .text = "Of the solver, for each step.",
     .curve = {{"iterations", "iterations", LEDGER_AS_IT_IS}}},
    {.title = "Time taken",
     .unit = "s",
     .text = "Wall time so far, by what it was used for.",
     .curve = {{"solve_seconds", "solving", LEDGER_SUM},
               {"detect_seconds", "finding contacts", LEDGER_SUM},
               {"assemble_seconds", "building the problem", LEDGER_SUM},
               {"certify_seconds", "certifying", LEDGER_SUM}}},
    {.title = "Length of the steps",
     .unit = "s",
     .text = "",
     .spare = true,
     .curve = {{"h", "step", LEDGER_CHANGE}}},
};

// Values of a curve, or NULL after a message; free them.
static double *ledger_values(report_run *run, const ledger_curve *c) {
    double *y = report_field(run, strcmp(c->field, "+") == 0 ? "kinetic" : c->field);
    if (y && strcmp(c->field, "+") == 0) {
        static const char *const more[] = {"potential", "elastic"};
        for (int k = 0; k < 2; k++) {
            double *other = report_field(run, more[k]);
            for (int64_t i = 0; other && i < run->steps; i++) y[i] += other[i];
            free(other);
        }
    }
    const double first = y ? y[0] : 0.0;
    for (int64_t i = 1; y && c->kind == LEDGER_SUM && i < run->steps; i++) y[i] += y[i - 1];
    for (int64_t i = 0; y && c->kind == LEDGER_CHANGE && i < run->steps; i++) y[i] -= first;
    return y;
}

static bool ledger_is_zero(const double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (fabs(y[i]) > 0.0) return false; // also for NaN
    return true;
}

// Add the curve of one run; curves that are zero throughout are left out unless it is the first.
static bool ledger_add(plot *p, report_run *run, const ledger_curve *c, const char *label,
                       bool always) {
    if (run->steps == 0) return true;
    double *y = ledger_values(run, c);
    if (!y) return false;
    const double floor = p->y_log ? 1e-3 * run->reel.info.tolerance : -INFINITY;
    for (int64_t i = 0; i < run->steps; i++)
        if (y[i] < floor) y[i] = floor;
    if (always || !ledger_is_zero(y, run->steps)) report_curve(p, run, label, y);
    free(y);
    return true;
}

static void ledger_init(plot *p, const ledger_plot *l, const char *title) {
    char *label = *l->unit ? cli_text("%s [%s]", title, l->unit) : cli_text("%s", title);
    plot_init(p, title, "time [s]", false, label, l->log);
    free(label);
}

// The tolerance as a level line, where it is the same for all runs.
static void ledger_tolerance(plot *p, const report *r) {
    double tolerance = r->run[0].reel.info.tolerance, last = 0.0;
    for (int k = 0; k < r->runs; k++) {
        if (r->run[k].reel.info.tolerance != tolerance) return;
        last = fmax(last, r->run[k].last);
    }
    if (!(tolerance > 0.0)) return;
    plot_add_curve(p, "tolerance", false);
    plot_add_point(p, 0.0, tolerance);
    plot_add_point(p, last, tolerance);
}

// All curves of one run in a plot.
static bool ledger_one(FILE *stream, report *r, const ledger_plot *l) {
    plot p;
    bool good = true;
    ledger_init(&p, l, l->title);
    for (const ledger_curve *c = l->curve; good && c->field; c++)
        good = ledger_add(&p, &r->run[0], c, c->label, c == l->curve && !l->spare);
    if (good && l->log) ledger_tolerance(&p, r);
    if (good && p.curves > 0) report_write_plot(stream, &p, l->text);
    plot_clear(&p);
    return good;
}

// A plot for each curve, with all runs in it.
static bool ledger_several(FILE *stream, report *r, const ledger_plot *l) {
    bool good = true;
    for (const ledger_curve *c = l->curve; good && c->field; c++) {
        plot p;
        char *title =
            l->curve[1].field ? cli_text("%s: %s", l->title, c->label) : cli_text("%s", l->title);
        ledger_init(&p, l, title);
        for (int k = 0; good && k < r->runs; k++)
            good = ledger_add(&p, &r->run[k], c, r->run[k].label, false);
        const bool any = p.curves > 0;
        if (good && any && l->log) ledger_tolerance(&p, r);
        if (good && any) report_write_plot(stream, &p, c == l->curve ? l->text : "");
        plot_clear(&p);
        free(title);
    }
    return good;
}

bool report_write_ledger(FILE *stream, report *r) {
    bool good = true;
    for (size_t k = 0; good && k < sizeof ledger_plots / sizeof *ledger_plots; k++) {
        const ledger_plot *l = &ledger_plots[k];
        if (l->section) {
            fprintf(stream, "%s<section><h2>%s</h2>\n", k > 0 ? "</div></section>\n" : "",
                    l->section);
            if (l->section_text) fprintf(stream, "<p>%s</p>\n", l->section_text);
            fputs("<div class=\"pair\">\n", stream);
        }
        good = r->runs == 1 ? ledger_one(stream, r, l) : ledger_several(stream, r, l);
    }
    fputs("</div></section>\n", stream);
    return good;
}
