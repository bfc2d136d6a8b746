// SPDX-License-Identifier: Apache-2.0
// Curves and points over two axes as SVG, for pages. Colours are CSS variables of
// cli/page/plot.css.
#ifndef CLI_PLOT_H
#define CLI_PLOT_H
#include <stdbool.h>
#include <stdio.h>

typedef struct plot_curve {
    char *label;
    double *x, *y;
    int count;
    bool dots; ///< marks in place of a line
} plot_curve;

/// A plot; owned, clear after use.
typedef struct plot {
    char *title, *x_label, *y_label;
    bool x_log, y_log; ///< values that are not positive are left out there
    plot_curve *curve;
    int curves;
} plot;

void plot_init(plot *p, const char *title, const char *x_label, bool x_log, const char *y_label,
               bool y_log);
/// Begin a curve; points go to the one begun last.
void plot_add_curve(plot *p, const char *label, bool dots);
void plot_add_point(plot *p, double x, double y);
/// Write the plot as an SVG element with a legend.
void plot_write(FILE *stream, const plot *p);
void plot_clear(plot *p);

#endif // CLI_PLOT_H
