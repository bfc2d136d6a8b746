// SPDX-License-Identifier: Apache-2.0
// What a report needs from its recordings.
#define _GNU_SOURCE
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    REPORT_BUCKETS = 480, // of a curve, two points each
    REPORT_FRAMES = 160,  // most frames that are analysed
};

double *report_field(report_run *run, const char *name) {
    double *out = cli_alloc((size_t)run->steps + 1, sizeof *out);
    if (talus_playback_ledger(run->reel.playback, name, 0, run->steps, out) == TALUS_OK) return out;
    cli_error("%s", talus_context_last_error(run->reel.ctx));
    free(out);
    return NULL;
}

void report_curve(plot *p, const report_run *run, const char *label, const double *y) {
    const int64_t n = run->steps, buckets = n > 2 * REPORT_BUCKETS ? REPORT_BUCKETS : n;
    plot_add_curve(p, label, false);
    for (int64_t b = 0; b < buckets; b++) {
        const int64_t first = b * n / buckets, end = (b + 1) * n / buckets;
        int64_t low = first, high = first;
        for (int64_t i = first + 1; i < end; i++) {
            if (y[i] < y[low] || isnan(y[low])) low = i;
            if (y[i] > y[high] || isnan(y[high])) high = i;
        }
        const int64_t one = low < high ? low : high, two = low < high ? high : low;
        plot_add_point(p, run->time[one], y[one]);
        if (two != one) plot_add_point(p, run->time[two], y[two]);
    }
}

// The sum of a field over all steps.
static bool data_sum(report_run *run, const char *name, double *out) {
    double *y = report_field(run, name);
    *out = 0.0;
    for (int64_t i = 0; y && i < run->steps; i++) *out += y[i];
    free(y);
    return y != NULL;
}

static bool data_most(report_run *run, const char *name, double *out, int64_t *at) {
    double *y = report_field(run, name);
    *out = NAN;
    for (int64_t i = 0; y && i < run->steps; i++)
        if (!(y[i] <= *out) && !isnan(y[i])) {
            *out = y[i];
            if (at) *at = i + 1;
        }
    free(y);
    return y != NULL;
}

// Energy after step i, and from the balance of the first step what it was before it.
static bool data_energy(report_run *run) {
    static const char *const name[] = {"kinetic", "potential", "elastic"};
    static const struct {
        const char *name;
        double sign;
    } flow[] = {{"work_obstacles", 1.0}, {"work_forces", 1.0},    {"work_joints", 1.0},
                {"loss_impact", -1.0},   {"loss_friction", -1.0}, {"loss_numerical", -1.0}};
    report_totals *t = &run->totals;
    if (run->steps == 0) return true;
    for (int k = 0; k < 3; k++) {
        double *y = report_field(run, name[k]);
        if (!y) return false;
        t->start += y[0];
        t->end += y[run->steps - 1];
        free(y);
    }
    for (int k = 0; k < 6; k++) {
        double *y = report_field(run, flow[k].name);
        if (!y) return false;
        t->start -= flow[k].sign * y[0];
        free(y);
    }
    return data_sum(run, "work_obstacles", &t->work_obstacles) &&
           data_sum(run, "work_forces", &t->work_forces) &&
           data_sum(run, "work_joints", &t->work_joints) &&
           data_sum(run, "loss_impact", &t->loss_impact) &&
           data_sum(run, "loss_friction", &t->loss_friction) &&
           data_sum(run, "loss_numerical", &t->loss_numerical);
}

static bool data_totals(report_run *run) {
    report_totals *t = &run->totals;
    double missed = 0.0;
    t->residual = t->penetration = t->contacts = NAN;
    if (!data_energy(run) || !data_most(run, "residual", &t->residual, &t->residual_step) ||
        !data_most(run, "penetration", &t->penetration, NULL) ||
        !data_most(run, "contacts", &t->contacts, NULL) ||
        !data_sum(run, "iterations", &t->iterations) || !data_sum(run, "missed", &missed) ||
        !data_sum(run, "total_seconds", &t->seconds))
        return false;
    t->missed = (int64_t)missed;
    return true;
}

static bool data_tables(report_run *run) {
    talus_analyse_def def = talus_analyse_default();
    def.every = (run->reel.info.frames + REPORT_FRAMES - 1) / REPORT_FRAMES;
    if (talus_analyse(run->reel.playback, &def, &run->tables) == TALUS_OK) return true;
    cli_error("%s: %s", run->reel.path, talus_context_last_error(run->reel.ctx));
    return false;
}

static bool data_open(report_run *run, const char *path) {
    struct stat facts;
    if (!picture_open(&run->reel, path)) return false;
    run->bytes = stat(path, &facts) == 0 ? (double)facts.st_size : NAN;
    run->steps = run->reel.info.steps;
    run->time = report_field(run, "time");
    talus_frame frame;
    if (!run->time) return false;
    if (talus_playback_frame(run->reel.playback, run->reel.info.frames - 1, &frame) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(run->reel.ctx));
        return false;
    }
    for (int32_t i = 0; i < frame.bodies.count; i++) {
        const bool grain = frame.bodies.motion[i] == (int32_t)TALUS_MOTION_FREE;
        run->grains += grain;
        run->obstacles += !grain;
    }
    run->last = frame.time;
    run->hash = frame.hash;
    return data_totals(run) && data_tables(run);
}

// Names of files as labels, with their directories where the names alone are the same.
static void data_label(report *r) {
    for (int k = 0; k < r->runs; k++) r->run[k].label = picture_name(r->run[k].reel.path, "");
    for (int k = 0; k < r->runs; k++)
        for (int i = 0; i < k; i++)
            if (strcmp(r->run[i].label, r->run[k].label) == 0) {
                free(r->run[k].label);
                r->run[k].label = cli_text("%s", r->run[k].reel.path);
            }
}

bool report_open(report *r, char **path, int count) {
    for (int k = 0; k < count; k++) {
        r->runs = k + 1;
        if (!data_open(&r->run[k], path[k])) return false;
    }
    data_label(r);
    return true;
}

void report_close(report *r) {
    for (int k = 0; k < r->runs; k++) {
        talus_tables_destroy(r->run[k].tables);
        picture_close(&r->run[k].reel);
        free(r->run[k].time);
        free(r->run[k].label);
    }
    r->runs = 0;
}
