// SPDX-License-Identifier: Apache-2.0
// Observables of a report: plots of the tables that talus_analyse makes, small tables as they are.
#define _GNU_SOURCE
#include "bench.h" // bench_escape
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 16, TABLE_COLUMNS = 12 }; // of a table that is shown as one

// The table of that name of a run.
static bool tables_find(const report_run *run, const char *name, talus_table *out) {
    for (int32_t i = 0; talus_tables_at(run->tables, i, out); i++)
        if (strcmp(out->name, name) == 0) return true;
    return false;
}

// Points of column c over column 0. Bars are drawn as steps, half of the distance to each
// neighbour wide.
static void tables_curve(plot *p, const talus_table *t, int32_t c, const char *label) {
    const bool bars = strcmp(t->plot, "bars") == 0;
    plot_add_curve(p, label, strcmp(t->plot, "points") == 0);
    for (int64_t i = 0; i < t->rows; i++) {
        const double *row = t->value + i * t->columns;
        if (!bars) {
            plot_add_point(p, row[0], row[c]);
            continue;
        }
        const double before = i > 0 ? row[0] - row[-t->columns] : NAN;
        const double after = i + 1 < t->rows ? row[t->columns] - row[0] : before;
        const double left = isnan(before) ? after : before;
        plot_add_point(p, row[0] - 0.5 * left, row[c]);
        plot_add_point(p, row[0] + 0.5 * after, row[c]);
    }
}

static bool tables_any(const talus_table *t, int32_t c) {
    for (int64_t i = 0; i < t->rows; i++)
        if (isfinite(t->value[i * t->columns + c])) return true;
    return false;
}

// One plot for the columns from `first` on that have the same unit, of all runs; marks them.
static void tables_plot(FILE *stream, const report *r, const talus_table *t, int32_t first,
                        bool *done) {
    plot p;
    char *x =
        *t->unit[0] ? cli_text("%s [%s]", t->column[0], t->unit[0]) : cli_text("%s", t->column[0]);
    int same = 0;
    for (int32_t c = first; c < t->columns; c++)
        same += !done[c] && strcmp(t->unit[c], t->unit[first]) == 0;
    char *y = same > 1          ? cli_text("%s%s%s", *t->unit[first] ? "[" : "", t->unit[first],
                                  *t->unit[first] ? "]" : "")
              : *t->unit[first] ? cli_text("%s [%s]", t->column[first], t->unit[first])
                                : cli_text("%s", t->column[first]);
    plot_init(&p, t->title, x, false, y, false);
    for (int32_t c = first; c < t->columns; c++) {
        if (done[c] || strcmp(t->unit[c], t->unit[first]) != 0) continue;
        done[c] = true;
        for (int k = 0; k < r->runs; k++) {
            talus_table own;
            if (!tables_find(&r->run[k], t->name, &own) || c >= own.columns || !tables_any(&own, c))
                continue;
            char *label = r->runs == 1 ? cli_text("%s", own.column[c])
                          : same == 1  ? cli_text("%s", r->run[k].label)
                                       : cli_text("%s, %s", own.column[c], r->run[k].label);
            tables_curve(&p, &own, c, label);
            free(label);
        }
    }
    if (p.curves > 0) report_write_plot(stream, &p, first == 1 ? t->text : "");
    plot_clear(&p);
    free(x);
    free(y);
}

static void tables_print(FILE *stream, const talus_table *t, const char *label) {
    fputs("<figure><figcaption><b>", stream);
    bench_escape(stream, t->title);
    if (label) {
        fputs(", ", stream);
        bench_escape(stream, label);
    }
    fputs("</b> ", stream);
    bench_escape(stream, t->text);
    fputs("</figcaption>\n<div class=\"scroll\"><table><thead><tr>", stream);
    for (int32_t c = 0; c < t->columns; c++) {
        fputs("<th>", stream);
        bench_escape(stream, t->column[c]);
        if (*t->unit[c]) {
            fputs(" [", stream);
            bench_escape(stream, t->unit[c]);
            fputc(']', stream);
        }
        fputs("</th>", stream);
    }
    fputs("</tr></thead><tbody>\n", stream);
    for (int64_t i = 0; i < t->rows; i++) {
        fputs("<tr>", stream);
        for (int32_t c = 0; c < t->columns; c++) {
            const double v = t->value[i * t->columns + c];
            if (isnan(v))
                fputs("<td>–</td>", stream);
            else
                fprintf(stream, "<td>%.5g</td>", v);
        }
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div></figure>\n", stream);
}

void report_write_tables(FILE *stream, const report *r) {
    talus_table t;
    fputs("<section><h2>Observables</h2>\n<p>Measured on the frames of the recording; "
          "<code>talus analyse</code> gives the numbers.</p>\n<div class=\"pair\">\n",
          stream);
    for (int32_t i = 0; talus_tables_at(r->run[0].tables, i, &t); i++) {
        if (t.rows == 0) continue;
        if (*t.plot && t.columns > 1) {
            bool *done = cli_alloc((size_t)t.columns, sizeof *done);
            for (int32_t c = 1; c < t.columns; c++)
                if (!done[c]) tables_plot(stream, r, &t, c, done);
            free(done);
        } else if (t.rows <= TABLE_ROWS && t.columns <= TABLE_COLUMNS) {
            for (int k = 0; k < r->runs; k++) {
                talus_table own;
                if (tables_find(&r->run[k], t.name, &own) && own.rows <= TABLE_ROWS)
                    tables_print(stream, &own, r->runs > 1 ? r->run[k].label : NULL);
            }
        }
    }
    fputs("</div></section>\n", stream);
}
