// SPDX-License-Identifier: Apache-2.0
// The parts of `talus report`: recordings read, and a page written about one or several of them.
#ifndef CLI_REPORT_H
#define CLI_REPORT_H
#include "cli.h"
#include "picture.h"
#include "plot.h"

enum { REPORT_RUNS = 8 }; ///< that can be compared in one page

/// Sums and extremes over the ledger. Energies in J.
typedef struct report_totals {
    double start, end; ///< of kinetic, potential and elastic energy: before the first step, after
                       ///< the last
    double work_obstacles, work_forces, work_joints;
    double loss_impact, loss_friction, loss_numerical;
    double residual; ///< worst; NaN: none was certified
    int64_t residual_step;
    double penetration, iterations, contacts, seconds;
    int64_t missed;
} report_totals;

/// One recording.
typedef struct report_run {
    picture_reel reel;
    char *label;  ///< for legends: its name, without what all have in common
    double *time; ///< at the end of each step
    int64_t steps;
    int64_t grains, obstacles; ///< in the last frame
    double last;               ///< time of the last frame
    uint64_t hash;             ///< of the last frame
    double bytes;
    report_totals totals;
    talus_tables *tables;
} report_run;

typedef struct report {
    report_run run[REPORT_RUNS];
    int runs;
    bool quiet;
} report;

/// Read everything but frames; false after a message.
bool report_open(report *r, char **path, int count);
void report_close(report *r);
/// A field of the ledger for all steps, or NULL after a message; free it.
double *report_field(report_run *run, const char *name);
/// Add a curve over time, thinned out so that no peak is lost.
void report_curve(plot *p, const report_run *run, const char *label, const double *y);

/// Sections of the page; false after a message.
void report_write_facts(FILE *stream, const report *r);
bool report_write_pictures(FILE *stream, report *r, const talus_picture_def *def);
bool report_write_ledger(FILE *stream, report *r);
void report_write_tables(FILE *stream, const report *r);
void report_write_scenes(FILE *stream, const report *r);
/// A plot with a caption: a title and an explanation.
void report_write_plot(FILE *stream, const plot *p, const char *text);

#endif // CLI_REPORT_H
