// SPDX-License-Identifier: Apache-2.0
// How far a run is: one line kept up to date on a terminal, a plain line now and then elsewhere.
#define _GNU_SOURCE
#include "run.h"
#include <math.h>
#include <unistd.h>

#define PROGRESS_TERMINAL 0.1 // seconds between lines on a terminal
#define PROGRESS_PLAIN 10.0   // and elsewhere
#define PROGRESS_MARK 0.5     // seconds over which the speed is measured
#define PROGRESS_WEIGHT 0.2   // of the newest measurement: what was over 3 s ago fades

void run_progress_init(run_progress *p) {
    *p = (run_progress){.terminal = isatty(STDERR_FILENO)};
    p->begin = p->last = p->mark = cli_clock();
}

static void progress_measure(run_progress *p, double now, double time, double steps) {
    const double passed = now - p->mark;
    if (passed < PROGRESS_MARK) return;
    const double speed = (time - p->mark_time) / passed, pace = (steps - p->mark_steps) / passed;
    const bool first = p->pace <= 0.0;
    p->speed = first ? speed : p->speed + PROGRESS_WEIGHT * (speed - p->speed);
    p->pace = first ? pace : p->pace + PROGRESS_WEIGHT * (pace - p->pace);
    p->mark = now, p->mark_time = time, p->mark_steps = steps;
}

// Seconds until the end at the present speed; NaN while it is not known.
static double progress_left(const run_progress *p, const run *r, double time, double steps) {
    if (p->speed <= 0.0 || p->pace <= 0.0) return NAN;
    double left = (r->info.until - time) / p->speed;
    if (r->info.steps > 0) left = fmin(left, ((double)r->info.steps - steps) / p->pace);
    return fmax(left, 0.0);
}

static void progress_line(const run_progress *p, const run *r, const talus_ledger *l, double now) {
    const double steps = (double)l->step;
    double done = l->time / r->info.until;
    if (r->info.steps > 0) done = fmax(done, steps / (double)r->info.steps);
    char left[24], missed[40] = "";
    const double pace = p->pace > 0.0 ? p->pace : steps / fmax(now - p->begin, 1e-9);
    cli_duration(left, progress_left(p, r, l->time, steps));
    if (l->missed_steps > 0)
        snprintf(missed, sizeof missed, ", %lld missed", (long long)l->missed_steps);
    fprintf(stderr,
            "%s%s: t = %.4g s, %.0f %%, step %lld, %.3g steps/s, %d contacts, %d iterations, "
            "residual %.1e%s, %s%s left%s",
            p->terminal ? "\r" : "", r->setup->name, l->time, 100.0 * fmin(done, 1.0),
            (long long)l->step, pace, (int)l->contacts, (int)l->iterations, l->residual, missed,
            r->info.stop_at_rest ? "at most " : "", left, p->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static void progress_verbose(const run *r, const talus_ledger *l) {
    fprintf(stderr,
            "%s: step %lld, t = %.6g s: %d contacts (%d open, %d stick, %d slip), %d iterations, "
            "%s, residual %.2e%s; detect %.2g s, assemble %.2g s, solve %.2g s, certify %.2g s\n",
            r->setup->name, (long long)l->step, l->time, (int)l->contacts, (int)l->open,
            (int)l->stick, (int)l->slip, (int)l->iterations, talus_outcome_text(l->outcome),
            l->residual, l->missed ? " (missed)" : "", l->detect_seconds, l->assemble_seconds,
            l->solve_seconds, l->certify_seconds);
}

void run_progress_step(run_progress *p, const run *r, const talus_ledger *ledger) {
    if (r->setup->verbose) progress_verbose(r, ledger);
    if (r->setup->verbose || r->setup->quiet) return;
    const double now = cli_clock();
    progress_measure(p, now, ledger->time, (double)ledger->step);
    if (now - p->last < (p->terminal ? PROGRESS_TERMINAL : PROGRESS_PLAIN)) return;
    p->last = now;
    progress_line(p, r, ledger, now);
    p->shown = p->terminal;
}

void run_progress_end(run_progress *p) {
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}
