// SPDX-License-Identifier: Apache-2.0
// What came out of a run: a page for people, one JSON object for machines.
#include "run.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

static const char *const print_end[] = {"done", "at rest", "interrupted", "failed"};

// A row: label, then text.
static void print_row(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void print_row(const char *label, const char *format, ...) {
    va_list args;
    fputs("  ", stdout);
    cli_pad(stdout, label, 13);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void print_extent(const run *r) {
    const run_totals *t = &r->totals;
    const talus_extent *a = &t->start, *b = &t->now;
    const int up = r->info.dim == 2 ? 1 : 2;
    static const char *const axis[] = {"x", "y", "z"};
    if (b->bodies == 0) return;
    for (int k = 0; k <= up; k++) {
        char *label = cli_text("extent %s", axis[k]);
        if (a->bodies > 0)
            print_row(label, "%.4g to %.4g m at the start, %.4g to %.4g m at the end", a->low[k],
                      a->high[k], b->low[k], b->high[k]);
        else
            print_row(label, "%.4g to %.4g m at the end", b->low[k], b->high[k]);
        free(label);
    }
    if (a->bodies == 0) return;
    for (int k = 0; k < up; k++) {
        char *label = cli_text("run-out %s", axis[k]);
        print_row(label,
                  "%+.4g m forwards, %+.4g m backwards; without 1 %% of the bodies %+.4g m, "
                  "%+.4g m",
                  b->high[k] - a->high[k], a->low[k] - b->low[k],
                  b->front_high[k] - a->front_high[k], a->front_low[k] - b->front_low[k]);
        free(label);
    }
    print_row("height", "%.4g m, was %.4g m", b->high[up] - b->low[up], a->high[up] - a->low[up]);
}

static void print_certificate(const run *r) {
    const run_totals *t = &r->totals;
    if (isnan(t->residual) || r->def.scheme == TALUS_SCHEME_PENALTY) {
        print_row("certificate", "none: the penalty scheme solves no friction problem");
        return;
    }
    char *missed = t->missed > 0 ? cli_text("%lld of %lld steps missed it", (long long)t->missed,
                                            (long long)t->steps)
                                 : cli_text("met by all steps");
    print_row("certificate", "worst residual %.2e (step %lld), tolerance %.1e, %s", t->residual,
              (long long)t->residual_step, r->def.tolerance, missed);
    free(missed);
}

static void print_energy(const run *r) {
    const run_totals *t = &r->totals;
    print_row("energy", "%.5g J at the start, %.5g J at the end", t->energy_start, t->energy_end);
    if (fabs(t->energy_added) > 1e-9 * (fabs(t->energy_start) + fabs(t->energy_end)))
        print_row("", "%+.4g J came with new bodies", t->energy_added);
    print_row("", "%+.4g J work of obstacles, %+.4g J work of given forces", t->work_obstacles,
              t->work_forces);
    if (t->joints > 0)
        print_row("", "%+.4g J work of motors; %d joints, error at most %.3g m", t->work_joints,
                  (int)t->joints, t->joint_error);
    print_row("", "%+.4g J impacts, %+.4g J friction, %+.4g J time stepping", -t->loss_impact,
              -t->loss_friction, -t->loss_numerical);
}

void run_print_summary(const run *r) {
    const run_totals *t = &r->totals;
    char took[24], bytes[24];
    cli_seconds(took, t->seconds);
    cli_bytes(bytes, t->bytes);
    printf("%s: %s after %lld steps, t = %.6g s, in %s (%.3g steps/s)\n", r->setup->name,
           print_end[t->end], (long long)t->steps, t->time, took,
           (double)t->steps / fmax(t->seconds, 1e-9));
    if (r->info.title[0]) print_row("title", "%s", r->info.title);
    print_row("bodies", "%d, of which %d free", (int)t->bodies, (int)t->free_bodies);
    if (r->info.particles > 0)
        print_row("sand", "%lld particles on %lld nodes, %.6g m%s of grains; %.3g m%s are gone",
                  (long long)t->particles, (long long)t->nodes, t->sand_volume,
                  r->info.dim == 2 ? "²" : "³", t->sand_lost, r->info.dim == 2 ? "²" : "³");
    if (t->rods > 0)
        print_row("rods", "%d with %lld nodes, %.6g m of them; strains from %.2g to %.2g",
                  (int)t->rods, (long long)r->info.rod_nodes, t->rod_length, t->strain_least,
                  t->strain_most);
    if (t->steps > 0) {
        print_row("contacts", "%d at the end, %d at most; %.3g iterations a step", (int)t->contacts,
                  (int)t->contacts_most, (double)t->iterations / (double)t->steps);
        print_certificate(r);
        print_row("penetration", "%.3g m at most", t->penetration);
        print_energy(r);
    }
    print_extent(r);
    print_row("state", "%016" PRIx64, t->hash);
    print_row("recording", "%s, %lld frames, %s, %.2g %% of the time", r->setup->out,
              (long long)t->frames, bytes, 100.0 * t->record_seconds / fmax(t->seconds, 1e-9));
    print_row("next", "'talus view %s' shows it; 'talus export' for ParaView and spreadsheets",
              r->setup->out);
}

static void print_number(const char *key, double value) {
    cli_json_key(stdout, key, false);
    cli_json_number(stdout, value);
}

static void print_text(const char *key, const char *value, bool first) {
    cli_json_key(stdout, key, first);
    cli_json_string(stdout, value);
}

static void print_corner(const double *x, int32_t dim) {
    for (int k = 0; k < dim; k++) {
        fputs(k ? ", " : "[", stdout);
        cli_json_number(stdout, x[k]);
    }
    putchar(']');
}

static void print_box(const char *key, bool bodies, const double *low, const double *high,
                      int32_t dim) {
    cli_json_key(stdout, key, false);
    if (!bodies) {
        fputs("null", stdout);
        return;
    }
    putchar('[');
    print_corner(low, dim);
    fputs(", ", stdout);
    print_corner(high, dim);
    putchar(']');
}

void run_print_json(const run *r) {
    const run_totals *t = &r->totals;
    char hash[24];
    snprintf(hash, sizeof hash, "%016" PRIx64, t->hash);
    putchar('{');
    print_text("scene", r->setup->scene_path, true);
    print_text("title", r->info.title, false);
    print_text("end", print_end[t->end], false);
    if (t->error) print_text("error", t->error, false);
    print_text("recording", r->setup->out, false);
    print_text("scheme", talus_scheme_text(r->def.scheme), false);
    print_text("solver", r->def.solver, false);
    print_text("hash", hash, false);
    const struct {
        const char *key;
        double value;
    } number[] = {
        {"dim", r->info.dim},
        {"seed", (double)r->info.seed},
        {"threads", r->def.threads},
        {"steps", (double)t->steps},
        {"time", t->time},
        {"frames", (double)t->frames},
        {"bytes", t->bytes},
        {"memory", (double)t->memory},
        {"seconds", t->seconds},
        {"record_seconds", t->record_seconds},
        {"bodies", t->bodies},
        {"free_bodies", t->free_bodies},
        {"particles", (double)t->particles},
        {"nodes", (double)t->nodes},
        {"sand_volume", t->sand_volume},
        {"sand_lost", t->sand_lost},
        {"rods", t->rods},
        {"rod_nodes", (double)r->info.rod_nodes},
        {"rod_length", t->rod_length},
        {"strain_least", t->strain_least},
        {"strain_most", t->strain_most},
        {"contacts", t->contacts},
        {"contacts_most", t->contacts_most},
        {"iterations", (double)t->iterations},
        {"tolerance", r->def.tolerance},
        {"residual", t->residual},
        {"residual_step", (double)t->residual_step},
        {"missed_steps", (double)t->missed},
        {"penetration", t->penetration},
        {"energy_start", t->energy_start},
        {"energy_end", t->energy_end},
        {"energy_added", t->energy_added},
        {"work_obstacles", t->work_obstacles},
        {"work_forces", t->work_forces},
        {"work_joints", t->work_joints},
        {"joint_error", t->joint_error},
        {"loss_impact", t->loss_impact},
        {"loss_friction", t->loss_friction},
        {"loss_numerical", t->loss_numerical},
    };
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        print_number(number[k].key, number[k].value);
    const talus_extent *a = &t->start, *b = &t->now;
    print_box("extent_start", a->bodies > 0, a->low, a->high, r->info.dim);
    print_box("extent_end", b->bodies > 0, b->low, b->high, r->info.dim);
    print_box("front_start", a->bodies > 0, a->front_low, a->front_high, r->info.dim);
    print_box("front_end", b->bodies > 0, b->front_low, b->front_high, r->info.dim);
    puts("}");
}
