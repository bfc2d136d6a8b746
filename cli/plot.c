// SPDX-License-Identifier: Apache-2.0
// Curves and points over two axes as SVG.
#define _GNU_SOURCE
#include "plot.h"
#include "bench.h" // bench_escape
#include "cli.h"
#include <math.h>
#include <stdlib.h>

enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 360, PLOT_ROW = 18 };
static const double plot_left = 66.0, plot_right = 622.0, plot_top = 12.0, plot_bottom = 300.0;

void plot_init(plot *p, const char *title, const char *x_label, bool x_log, const char *y_label,
               bool y_log) {
    *p = (plot){.title = cli_text("%s", title),
                .x_label = cli_text("%s", x_label),
                .y_label = cli_text("%s", y_label),
                .x_log = x_log,
                .y_log = y_log};
}

void plot_add_curve(plot *p, const char *label, bool dots) {
    p->curve = cli_grow(p->curve, (size_t)p->curves + 1, sizeof *p->curve);
    p->curve[p->curves++] = (plot_curve){.label = cli_text("%s", label), .dots = dots};
}

void plot_add_point(plot *p, double x, double y) {
    plot_curve *c = &p->curve[p->curves - 1];
    if (c->count == 0 || (c->count & (c->count - 1)) == 0) { // room for the next power of two
        const size_t room = c->count > 0 ? 2 * (size_t)c->count : 1;
        c->x = cli_grow(c->x, room, sizeof *c->x);
        c->y = cli_grow(c->y, room, sizeof *c->y);
    }
    c->x[c->count] = x;
    c->y[c->count++] = y;
}

void plot_clear(plot *p) {
    for (int k = 0; k < p->curves; k++) {
        free(p->curve[k].label);
        free(p->curve[k].x);
        free(p->curve[k].y);
    }
    free(p->curve);
    free(p->title);
    free(p->x_label);
    free(p->y_label);
    *p = (plot){0};
}

// One axis: what its ends stand for (logarithms where it is logarithmic), and where they are.
typedef struct plot_axis {
    bool log;
    double from, to;       // values
    double at_from, at_to; // SVG coordinates
} plot_axis;

static double axis_value(const plot_axis *a, double v) { return a->log ? log10(v) : v; }

static double axis_at(const plot_axis *a, double v) {
    return a->at_from + (axis_value(a, v) - a->from) / (a->to - a->from) * (a->at_to - a->at_from);
}

static bool axis_shows(const plot_axis *a, double v) { return isfinite(axis_value(a, v)); }

// The distance of grid lines on a linear axis: 1, 2 or 5 times a power of ten, 4 to 8 of them.
static double axis_step(const plot_axis *a) {
    const double raw = (a->to - a->from) / 6.0, power = pow(10.0, floor(log10(raw)));
    const double ratio = raw / power;
    return power * (ratio < 1.5 ? 1.0 : ratio < 3.5 ? 2.0 : ratio < 7.5 ? 5.0 : 10.0);
}

static void axis_fit(plot_axis *a, const plot *p, bool x) {
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < p->curves; k++)
        for (int i = 0; i < p->curve[k].count; i++) {
            const double v = x ? p->curve[k].x[i] : p->curve[k].y[i];
            if (!axis_shows(a, v)) continue;
            low = fmin(low, axis_value(a, v));
            high = fmax(high, axis_value(a, v));
        }
    if (!(low <= high)) low = 0.0, high = 1.0;
    if (!(low < high)) low -= 0.5, high += 0.5;
    a->from = low, a->to = high;
    const double step = a->log ? 1.0 : axis_step(a);
    a->from = floor(low / step + 1e-9) * step;
    a->to = ceil(high / step - 1e-9) * step;
}

static void axis_grid(FILE *stream, const plot_axis *a, bool x) {
    const double step = a->log ? ceil((a->to - a->from) / 8.0) : axis_step(a);
    const int lines = (int)floor((a->to - a->from) / step + 1e-9);
    for (int k = 0; k <= lines; k++) {
        const double v = a->from + k * step;
        const double at = a->at_from + (v - a->from) / (a->to - a->from) * (a->at_to - a->at_from);
        fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                x ? at : plot_left, x ? plot_top : at, x ? at : plot_right, x ? plot_bottom : at);
        fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.4g</text>\n",
                x ? at : plot_left - 7.0, x ? plot_bottom + 17.0 : at + 4.0, x ? "middle" : "end",
                a->log                  ? pow(10.0, v)
                : fabs(v) < 1e-9 * step ? 0.0
                                        : v);
    }
}

static void plot_draw(FILE *stream, const plot_curve *c, int k, const plot_axis *x,
                      const plot_axis *y) {
    const char *sign = "M";
    if (!c->dots) fprintf(stream, "<path class=\"line k%d\" d=\"", k % 8);
    for (int i = 0; i < c->count; i++) {
        if (!axis_shows(x, c->x[i]) || !axis_shows(y, c->y[i])) {
            sign = "M";
            continue;
        }
        const double px = axis_at(x, c->x[i]), py = axis_at(y, c->y[i]);
        if (c->dots)
            fprintf(stream,
                    "<circle class=\"dot k%d\" cx=\"%.1f\" cy=\"%.1f\" "
                    "r=\"3.5\"/>",
                    k % 8, px, py);
        else
            fprintf(stream, "%s%.1f %.1f", sign, px, py);
        sign = "L";
    }
    fputs(c->dots ? "\n" : "\"/>\n", stream);
}

void plot_write(FILE *stream, const plot *p) {
    plot_axis x = {.log = p->x_log, .at_from = plot_left, .at_to = plot_right};
    plot_axis y = {.log = p->y_log, .at_from = plot_bottom, .at_to = plot_top};
    axis_fit(&x, p, true);
    axis_fit(&y, p, false);
    const int rows = (p->curves + 2) / 3, height = PLOT_HEIGHT + PLOT_ROW * rows;
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"",
            PLOT_WIDTH, height);
    bench_escape(stream, p->title);
    fputs("\">\n", stream);
    axis_grid(stream, &x, true);
    axis_grid(stream, &y, false);
    fprintf(stream, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", plot_left, plot_top,
            plot_bottom, plot_right);
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
            0.5 * (plot_left + plot_right), plot_bottom + 38.0);
    bench_escape(stream, p->x_label);
    fprintf(stream,
            "</text>\n<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            0.5 * (plot_top + plot_bottom));
    bench_escape(stream, p->y_label);
    fputs("</text>\n", stream);
    for (int k = 0; k < p->curves; k++) plot_draw(stream, &p->curve[k], k, &x, &y);
    for (int k = 0; k < p->curves; k++) {
        const int left = (int)plot_left + 190 * (k % 3), top = PLOT_HEIGHT + PLOT_ROW * (k / 3);
        fprintf(stream, "<path class=\"line k%d\" d=\"M%d %dh22\"/>", k % 8, left, top - 4);
        fprintf(stream, "<text class=\"name\" x=\"%d\" y=\"%d\">", left + 28, top);
        bench_escape(stream, p->curve[k].label);
        fputs("</text>\n", stream);
    }
    fputs("</svg>\n", stream);
}
