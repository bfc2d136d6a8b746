// SPDX-License-Identifier: Apache-2.0
// Plots as SVG. Colours are CSS variables (cli/page/plot.css), so that they follow light and dark;
// in a picture that stands alone their values, because not every viewer knows variables. Series k
// has hue k mod 8 and, from the ninth on, dashes.
#define _GNU_SOURCE
#include "bench.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The frame of a plot in SVG units, and what its edges stand for (logarithms to base 10 where an
// axis is logarithmic).
typedef struct plot_frame {
    double left, right, top, bottom;
    double x_from, x_to, y_from, y_to;
} plot_frame;

static const plot_frame plot_frame_usual = {
    .left = 58.0, .right = 616.0, .top = 12.0, .bottom = 340.0};
enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 388, PLOT_LEGEND = 170, PLOT_HUES = 8 };

static double plot_x(const plot_frame *f, double x) {
    return f->left + (x - f->x_from) / (f->x_to - f->x_from) * (f->right - f->left);
}

static double plot_y(const plot_frame *f, double y) {
    return f->bottom - (y - f->y_from) / (f->y_to - f->y_from) * (f->bottom - f->top);
}

void bench_escape(FILE *stream, const char *text) {
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (strchr("<>&\"'", c) || c < 0x20)
            fprintf(stream, "&#%d;", c < 0x20 ? ' ' : c);
        else
            fputc(c, stream);
    }
}

void bench_plot_style(FILE *stream, const char *mark, const bench_series *series) {
    static const char *const dash[] = {"", "7 3", "2 3", "9 3 2 3"};
    const char *pattern = dash[series->rank / PLOT_HUES % 4];
    fprintf(stream, "class=\"%s k%d%s\" data-k=\"%d\"", mark, series->rank % PLOT_HUES,
            series->rank >= BENCH_BRIGHT ? " off" : "", series->rank);
    if (pattern[0]) fprintf(stream, " stroke-dasharray=\"%s\"", pattern);
}

// The value of a variable in the light palette (0) or the dark one (1), which come in this order.
static void plot_value(FILE *stream, int palette, const char *variable) {
    char *key = cli_text("%s: ", variable);
    const char *at = strstr(cli_page_plot_css, key);
    if (at && palette == 1) at = strstr(at + 1, key);
    if (at) fprintf(stream, "%.*s", (int)strcspn(at + strlen(key), ";"), at + strlen(key));
    free(key);
}

// One rule, a line of plot.css, with values in place of variables. `hue`: that of the series, which
// its selector then names; -1 where there is none.
static void plot_rule(FILE *stream, int palette, const char *rule, int hue) {
    const char *body = strchr(rule, '{'), *variable;
    char name[24];
    fprintf(stream, "%.*s", (int)(body - rule - 1), rule);
    if (hue >= 0) fprintf(stream, ".k%d", hue);
    fputc(' ', stream);
    while ((variable = strstr(body, "var("))) {
        fprintf(stream, "%.*s", (int)(variable - body), body);
        body = variable + strcspn(variable, ")") + 1;
        snprintf(name, sizeof name, "%.*s", (int)(body - variable) - 5, variable + 4);
        if (strcmp(name, "--c") == 0) snprintf(name, sizeof name, "--c%d", hue);
        plot_value(stream, palette, name);
    }
    fprintf(stream, "%s\n", body);
}

// All rules for plots, which end plot.css.
static void plot_rules(FILE *stream, int palette) {
    char *text = cli_text("%s", strstr(cli_page_plot_css, "\n.plot ") + 1), *rest = text;
    for (char *rule = strsep(&rest, "\n"); rule && *rule; rule = strsep(&rest, "\n")) {
        const bool hues = strstr(rule, "var(--c)");
        for (int k = hues ? 0 : -1; k < (hues ? PLOT_HUES : 0); k++)
            plot_rule(stream, palette, rule, k);
    }
    free(text);
}

static void plot_text(FILE *stream, double x, double y, const char *anchor, const char *text) {
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    bench_escape(stream, text);
    fputs("</text>\n", stream);
}

// A power of ten for an axis: 0.01, 1, 100, 1e6.
static void plot_power(char out[24], int power) {
    if (power >= -2 && power <= 4)
        snprintf(out, 24, "%g", pow(10.0, power));
    else
        snprintf(out, 24, "1e%d", power);
}

// Grid lines and labels at the powers of ten, thinned so that they do not touch.
static void plot_powers(FILE *stream, const plot_frame *f, bool along_x) {
    const double from = along_x ? f->x_from : f->y_from, to = along_x ? f->x_to : f->y_to;
    const int step = (int)ceil((to - from) / 8.0);
    for (int power = (int)ceil(from); power <= (int)floor(to); power += step > 0 ? step : 1) {
        char text[24];
        const double at = along_x ? plot_x(f, power) : plot_y(f, power);
        plot_power(text, power);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                along_x ? at : f->left, along_x ? f->top : at, along_x ? at : f->right,
                along_x ? f->bottom : at);
        if (along_x)
            plot_text(stream, at, f->bottom + 17.0, "middle", text);
        else
            plot_text(stream, f->left - 7.0, at + 4.0, "end", text);
    }
}

static void plot_begin(FILE *stream, const char *class, int width, bool alone, const char *title) {
    if (alone) fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot %s\" viewBox=\"0 0 %d %d\"",
            class, width, PLOT_HEIGHT);
    if (alone) fprintf(stream, " width=\"%d\" height=\"%d\"", width, PLOT_HEIGHT);
    fputs(" role=\"img\" aria-label=\"", stream);
    bench_escape(stream, title);
    fputc('"', stream);
}

static void plot_axes(FILE *stream, const plot_frame *f, const char *x, const char *y) {
    fprintf(stream, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", f->left, f->top,
            f->bottom, f->right);
    plot_text(stream, 0.5 * (f->left + f->right), f->bottom + 38.0, "middle", x);
    fprintf(stream, "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            0.5 * (f->top + f->bottom));
    bench_escape(stream, y);
    fputs("</text>\n", stream);
}

// The profile as steps.
static void plot_steps(FILE *stream, const plot_frame *f, const bench_set *set,
                       const bench_series *s, int tolerance) {
    const size_t count = (size_t)set->problems;
    double *ratio = bench_set_sorted(set, s, tolerance);
    fputs("<path ", stream);
    bench_plot_style(stream, "line", s);
    fprintf(stream, " d=\"M%.1f %.1f", f->left, plot_y(f, 0.0));
    for (size_t k = 0; k < count && isfinite(ratio[k]) && log10(ratio[k]) <= f->x_to; k++)
        if (k + 1 == count || ratio[k + 1] > ratio[k])
            fprintf(stream, "H%.2fV%.2f", plot_x(f, log10(ratio[k])),
                    plot_y(f, (double)(k + 1) / (double)count));
    fprintf(stream, "H%.1f\"><title>", f->right);
    bench_escape(stream, s->label);
    fprintf(stream, ": %d of %d solved</title></path>\n", s->solved[tolerance], set->problems);
    free(ratio);
}

static void plot_legend(FILE *stream, const bench_set *set) {
    double y = 24.0;
    for (int k = 0; k < set->count && k <= BENCH_BRIGHT; k++, y += 20.0) {
        const bench_series *s = &set->series[k];
        fputs("<path ", stream);
        bench_plot_style(stream, "line", s);
        fprintf(stream, " d=\"M%d %.1fh26\"/><text class=\"name\" x=\"%d\" y=\"%.1f\">",
                PLOT_WIDTH + 4, y, PLOT_WIDTH + 37, y + 4.0);
        if (k == BENCH_BRIGHT)
            fprintf(stream, "%d more", set->count - k);
        else
            bench_escape(stream, s->label);
        fputs("</text>\n", stream);
    }
}

void bench_plot_profile(FILE *stream, const bench_set *set, int tolerance, bool alone) {
    const int width = PLOT_WIDTH + (alone ? PLOT_LEGEND : 0);
    plot_frame f = plot_frame_usual;
    double most = 10.0;
    for (int s = 0; s < set->count; s++)
        for (int p = 0; p < set->problems; p++) {
            const double ratio = set->series[s].ratio[tolerance][p];
            if (isfinite(ratio)) most = fmax(most, ratio);
        }
    f.x_to = fmin(ceil(log10(most)), 6.0);
    f.y_to = 1.0;
    char asked[24];
    bench_tolerance(asked, set->tolerance[tolerance]);
    char *title = cli_text("performance profile at tolerance %s", asked);
    plot_begin(stream, "profile", width, alone, title);
    free(title);
    // what the script needs to read values off the plot
    fprintf(stream,
            " data-axes='{\"tolerance\":%d,\"left\":%g,\"right\":%g,\"top\":%g,\"bottom\":%g,"
            "\"most\":%g}'>\n",
            tolerance, f.left, f.right, f.top, f.bottom, pow(10.0, f.x_to));
    if (alone) {
        fputs("<style>\n", stream);
        plot_rules(stream, 0);
        fputs("@media (prefers-color-scheme: dark) {\n", stream);
        plot_rules(stream, 1);
        fputs("}\n</style>\n", stream);
    }
    fprintf(stream, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", width, PLOT_HEIGHT);
    plot_powers(stream, &f, true);
    for (int k = 0; k <= 4; k++) {
        char text[24];
        const double y = plot_y(&f, 0.25 * k);
        snprintf(text, sizeof text, "%d %%", 25 * k);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                f.left, y, f.right, y);
        plot_text(stream, f.left - 7.0, y + 4.0, "end", text);
    }
    plot_axes(stream, &f, "time, in times of the fastest solver of each problem",
              "problems solved within that time");
    for (int s = set->count - 1; s >= 0; s--) // the best on top
        plot_steps(stream, &f, set, &set->series[s], tolerance);
    if (alone) plot_legend(stream, set);
    fputs("</svg>\n", stream);
}

// The row of a series at a problem, where it counts as solved.
static const bench_row *plot_solved(const bench_set *set, const bench_series *s, int tolerance,
                                    int problem) {
    if (!isfinite(s->ratio[tolerance][problem])) return NULL;
    return bench_rows_find(set->rows, s->library, s->solver, set->problem[problem],
                           set->tolerance[tolerance]);
}

void bench_plot_size(FILE *stream, const bench_set *set, int tolerance) {
    plot_frame f = plot_frame_usual;
    double least = INFINITY, most = 0.0;
    f.x_from = INFINITY;
    f.x_to = -INFINITY;
    for (int p = 0; p < set->problems; p++) {
        if (!(set->size[p] > 0.0)) continue;
        f.x_from = fmin(f.x_from, floor(log10(set->size[p])));
        f.x_to = fmax(f.x_to, ceil(log10(set->size[p]) + 1e-9));
    }
    for (int i = 0; i < set->rows->count; i++)
        if (bench_is_solved(&set->rows->item[i])) {
            least = fmin(least, set->rows->item[i].seconds);
            most = fmax(most, set->rows->item[i].seconds);
        }
    if (!(f.x_from < f.x_to)) f.x_from = 0.0, f.x_to = 1.0;
    f.y_from = isfinite(least) ? floor(log10(least)) : -3.0;
    f.y_to = isfinite(least) ? ceil(log10(most) + 1e-9) : 0.0;
    plot_begin(stream, "size", PLOT_WIDTH, false, "time over size");
    fputs(">\n", stream);
    plot_powers(stream, &f, true);
    plot_powers(stream, &f, false);
    plot_axes(stream, &f, "size of the problem (numbers at all contacts)", "time [s]");
    for (int s = set->count - 1; s >= 0; s--)
        for (int p = 0; p < set->problems; p++) {
            const bench_row *row = plot_solved(set, &set->series[s], tolerance, p);
            if (!row || !(set->size[p] > 0.0)) continue;
            char time[24];
            cli_seconds(time, row->seconds);
            fputs("<circle ", stream);
            bench_plot_style(stream, "dot", &set->series[s]);
            fprintf(stream, " cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
                    plot_x(&f, log10(set->size[p])), plot_y(&f, log10(row->seconds)));
            bench_escape(stream, set->series[s].label);
            fputs(" on ", stream);
            bench_escape(stream, set->problem[p]);
            fprintf(stream, ": %s</title></circle>\n", time);
        }
    fputs("</svg>\n", stream);
}
