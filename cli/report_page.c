// SPDX-License-Identifier: Apache-2.0
// Sections of a report: what was run, pictures, plots, the text of the scene.
#define _GNU_SOURCE
#include "bench.h" // bench_escape
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_write_plot(FILE *stream, const plot *p, const char *text) {
    fputs("<figure><figcaption><b>", stream);
    bench_escape(stream, p->title);
    fputs("</b>", stream);
    if (*text) {
        fputs(". ", stream);
        bench_escape(stream, text);
    }
    fputs("</figcaption>\n", stream);
    plot_write(stream, p);
    fputs("</figure>\n", stream);
}

// ---- facts -------------------------------------------------------------------------------------

static char *fact_file(const report_run *r) {
    char size[24];
    cli_bytes(size, r->bytes);
    return cli_text("%s, %s", r->reel.path, size);
}
static char *fact_title(const report_run *r) { return cli_text("%s", r->reel.info.title); }
static char *fact_what(const report_run *r) {
    const int rods = (int)r->reel.info.rods;
    char more[40] = "";
    if (rods > 0) snprintf(more, sizeof more, "%d rod%s, ", rods, rods == 1 ? "" : "s");
    return cli_text("%s%lld grain%s and %lld obstacle%s in %dD", more, (long long)r->grains,
                    r->grains == 1 ? "" : "s", (long long)r->obstacles,
                    r->obstacles == 1 ? "" : "s", (int)r->reel.info.dim);
}
static char *fact_span(const report_run *r) {
    return cli_text("%lld steps to t = %.6g s; %lld frames%s", (long long)r->steps, r->last,
                    (long long)r->reel.info.frames,
                    r->reel.info.finished ? "" : "; not finished: stopped, or still running");
}
static char *fact_scheme(const report_run *r) {
    return cli_text("%s, step %.4g s", r->reel.info.scheme, r->reel.info.step);
}
static char *fact_gravity(const report_run *r) {
    const double *g = r->reel.info.gravity;
    return cli_text("(%.5g, %.5g, %.5g) m/s²", g[0], g[1], g[2]);
}
static char *fact_period(const report_run *r) {
    const double *p = r->reel.info.period;
    if (!(p[0] > 0.0 || p[1] > 0.0 || p[2] > 0.0)) return cli_text("%s", "");
    return cli_text("(%.5g, %.5g, %.5g) m, 0: not periodic", p[0], p[1], p[2]);
}
static char *fact_solver(const report_run *r) {
    const double steps = r->steps > 0 ? (double)r->steps : 1.0;
    return cli_text("%s, tolerance %.3g; %.4g iterations a step", r->reel.info.solver,
                    r->reel.info.tolerance, r->totals.iterations / steps);
}
static char *fact_certificate(const report_run *r) {
    if (isnan(r->totals.residual)) return cli_text("%s", "no step was certified");
    return cli_text("worst residual %.3g (step %lld); tolerance %s", r->totals.residual,
                    (long long)r->totals.residual_step,
                    r->totals.missed == 0 ? "met by all steps" : "MISSED by some steps");
}
static char *fact_missed(const report_run *r) {
    return r->totals.missed > 0
               ? cli_text("%lld of %lld", (long long)r->totals.missed, (long long)r->steps)
               : cli_text("%s", "");
}
static char *fact_contacts(const report_run *r) {
    return cli_text("%.0f at most; deepest overlap %.3g m", r->totals.contacts,
                    r->totals.penetration);
}
static char *fact_energy(const report_run *r) {
    const report_totals *t = &r->totals;
    return cli_text("%.5g J at the start, %.5g J at the end", t->start, t->end);
}
static char *fact_losses(const report_run *r) {
    const report_totals *t = &r->totals;
    const double work = t->work_obstacles + t->work_forces + t->work_joints;
    return cli_text("friction %.4g J, impacts %.4g J, time stepping %.4g J; work done %.4g J",
                    t->loss_friction, t->loss_impact, t->loss_numerical, work);
}
static char *fact_balance(const report_run *r) {
    const report_totals *t = &r->totals;
    const double off = t->end - t->start - t->work_obstacles - t->work_forces - t->work_joints +
                       t->loss_impact + t->loss_friction + t->loss_numerical;
    return cli_text("off by %.2g J in all%s", off,
                    fabs(off) > 1e-6 * (fabs(t->start) + fabs(t->end))
                        ? " (grains that were added bring energy of their own)"
                        : "");
}
static char *fact_time(const report_run *r) {
    char wall[24], steps[24];
    cli_seconds(wall, r->reel.info.wall_seconds);
    cli_seconds(steps, r->totals.seconds);
    return cli_text("%s, of which %s in steps; %d thread%s", wall, steps, (int)r->reel.info.threads,
                    r->reel.info.threads == 1 ? "" : "s");
}
static char *fact_machine(const report_run *r) { return cli_text("%s", r->reel.info.machine); }
static char *fact_program(const report_run *r) {
    const talus_playback_info *i = &r->reel.info;
    return cli_text("talus %s (%s), %s", i->version, i->commit, i->compiler);
}
static char *fact_created(const report_run *r) { return cli_text("%s", r->reel.info.created); }
static char *fact_state(const report_run *r) {
    return cli_text("%016llx", (unsigned long long)r->hash);
}

typedef struct fact {
    const char *name;
    char *(*text)(const report_run *r); // "": there is nothing to say; free it
    bool always;                        // differs between any two runs: not worth a mark
} fact;

static const fact facts[] = {
    {"recording", fact_file, true},
    {"title", fact_title, false},
    {"what", fact_what, false},
    {"run", fact_span, false},
    {"scheme", fact_scheme, false},
    {"gravity", fact_gravity, false},
    {"periodic cell", fact_period, false},
    {"solver", fact_solver, false},
    {"certificate", fact_certificate, false},
    {"missed steps", fact_missed, false},
    {"contacts", fact_contacts, false},
    {"energy", fact_energy, false},
    {"lost to", fact_losses, false},
    {"balance", fact_balance, true},
    {"wall time", fact_time, true},
    {"machine", fact_machine, false},
    {"program", fact_program, false},
    {"begun", fact_created, true},
    {"last state", fact_state, false},
};

void report_write_facts(FILE *stream, const report *r) {
    fputs("<section><h2>What was run</h2>\n<div class=\"scroll facts\"><table class=\"facts\">",
          stream);
    if (r->runs > 1) {
        fputs("<thead><tr><th></th>", stream);
        for (int k = 0; k < r->runs; k++) {
            fputs("<th>", stream);
            bench_escape(stream, r->run[k].label);
            fputs("</th>", stream);
        }
        fputs("</tr></thead>", stream);
    }
    fputs("<tbody>\n", stream);
    for (size_t f = 0; f < sizeof facts / sizeof *facts; f++) {
        char *text[REPORT_RUNS];
        bool any = false, differs = false;
        for (int k = 0; k < r->runs; k++) {
            text[k] = facts[f].text(&r->run[k]);
            any = any || *text[k];
            differs = differs || strcmp(text[k], text[0]) != 0;
        }
        if (any)
            fprintf(stream, "<tr%s><td>%s</td>",
                    differs && !facts[f].always ? " class=\"differs\"" : "", facts[f].name);
        for (int k = 0; k < r->runs; k++) {
            if (any) {
                fputs("<td>", stream);
                bench_escape(stream, text[k]);
                fputs("</td>", stream);
            }
            free(text[k]);
        }
        if (any) fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div></section>\n", stream);
}

// ---- pictures ----------------------------------------------------------------------------------

static void page_base64(FILE *stream, const uint8_t *data, int64_t bytes) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int64_t i = 0; i < bytes; i += 3) {
        const int64_t left = bytes - i;
        const uint32_t three = (uint32_t)data[i] << 16 |
                               (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)data[i + 2] : 0);
        fputc(digit[three >> 18], stream);
        fputc(digit[three >> 12 & 63], stream);
        fputc(left > 1 ? digit[three >> 6 & 63] : '=', stream);
        fputc(left > 2 ? digit[three & 63] : '=', stream);
    }
}

static bool page_shot(FILE *stream, report_run *run, int64_t frame, const char *what,
                      const talus_picture_def *def) {
    uint8_t *png;
    int64_t bytes;
    talus_moment m;
    if (!picture_moment(&run->reel, frame, &m)) return false;
    const double time = m.time;
    if (!picture_png(&run->reel, frame, def, &png, &bytes)) return false;
    fprintf(stream,
            "<figure><img width=\"%d\" height=\"%d\" alt=\"%s, t = %.4g s\" "
            "src=\"data:image/png;base64,",
            (int)def->width, (int)def->height, what, time);
    page_base64(stream, png, bytes);
    fprintf(stream, "\"><figcaption>%s, t = %.4g s</figcaption></figure>\n", what, time);
    talus_picture_free(run->reel.ctx, png);
    return true;
}

// The colours of the map from left to right, with the values at its ends.
static void page_scale(FILE *stream, const talus_picture_def *def) {
    const char *by = def->colour ? def->colour : "speed";
    if (!(def->low < def->high)) return;
    fprintf(stream,
            "<p class=\"scale\">%s %.3g <span class=\"bar\" style=\"background:linear-gradient("
            "to right",
            by, def->low);
    for (int k = 0; k <= 8; k++) {
        uint8_t c[3];
        talus_picture_map(k / 8.0, c);
        fprintf(stream, ",#%02x%02x%02x", c[0], c[1], c[2]);
    }
    fprintf(stream, ")\"></span> %.3g %s</p>\n", def->high, strcmp(by, "size") == 0 ? "m" : "m/s");
}

// One box, range and scale of forces for all frames that are shown, and the height of a picture
// that suits the box.
static bool page_agree(report *r, talus_picture_def *def, double box[6]) {
    for (int k = 0; k < 3; k++) box[k] = INFINITY, box[k + 3] = -INFINITY;
    const bool range = !(def->low < def->high);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < r->runs; k++) {
        const int64_t frames = r->run[k].reel.info.frames;
        const int64_t frame[3] = {0, frames / 2, frames - 1};
        talus_picture_def own = *def;
        double part[6];
        if (!picture_agree(&r->run[k].reel, frame, 3, &own, part)) return false;
        for (int e = 0; e < 3; e++) {
            box[e] = fmin(box[e], part[e]);
            box[e + 3] = fmax(box[e + 3], part[e + 3]);
        }
        low = fmin(low, own.low), high = fmax(high, own.high);
        def->force = fmax(def->force, own.force);
    }
    if (range) def->low = low, def->high = high;
    def->box = box;
    const double x = box[3] - box[0], y = box[4] - box[1], z = box[5] - box[2];
    const bool flat = r->run[0].reel.info.dim == 2;
    const double ratio = flat ? y / x : (0.93 * z + 0.3 * fmax(x, y)) / (1.1 * fmax(x, y));
    def->height = (int32_t)(def->width * fmin(fmax(ratio, 0.45), 1.35));
    return true;
}

bool report_write_pictures(FILE *stream, report *r, const talus_picture_def *asked) {
    talus_picture_def def = *asked;
    double box[6];
    static const char *const what[] = {"first frame", "middle", "last frame"};
    if (!page_agree(r, &def, box)) return false;
    fputs("<section><h2>Pictures</h2>\n", stream);
    page_scale(stream, &def);
    for (int k = 0; k < r->runs; k++) {
        report_run *run = &r->run[k];
        const int64_t last = run->reel.info.frames - 1, frame[] = {0, (last + 1) / 2, last};
        if (r->runs > 1) {
            fputs("<h3>", stream);
            bench_escape(stream, run->label);
            fputs("</h3>\n", stream);
        }
        fputs("<div class=\"shots\">\n", stream);
        for (int i = 0; i < 3; i++) {
            if (i > 0 && frame[i] == frame[i - 1]) continue;
            if (!page_shot(stream, run, frame[i], what[i], &def)) return false;
        }
        talus_moment m;
        double force = 0.0;
        if (!picture_moment(&run->reel, last, &m)) return false;
        if (talus_picture_force(run->reel.ctx, &m, &force) == TALUS_OK && force > 0.0) {
            talus_picture_def forces = def;
            char *name = cli_text("forces in the last frame (thickest from %.3g N on)", def.force);
            forces.forces = true;
            const bool good = page_shot(stream, run, last, name, &forces);
            free(name);
            if (!good) return false;
        }
        fputs("</div>\n", stream);
    }
    fputs("</section>\n", stream);
    return true;
}

// ---- scenes ------------------------------------------------------------------------------------

// Whether a line of text is one of the lines of `all`.
static bool page_has_line(const char *all, const char *line, size_t length) {
    for (const char *at = all; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
        const size_t own = strcspn(at, "\n");
        if (own == length && strncmp(at, line, length) == 0) return true;
    }
    return false;
}

void report_write_scenes(FILE *stream, const report *r) {
    fputs("<section><h2>Scene</h2>\n", stream);
    if (r->runs == 2) fputs("<p>Lines that only one of the two has are marked.</p>\n", stream);
    for (int k = 0; k < r->runs; k++) {
        const talus_playback_info *info = &r->run[k].reel.info;
        if (r->runs > 1) {
            fputs("<h3>", stream);
            bench_escape(stream, r->run[k].label);
            fputs("</h3>\n", stream);
        }
        if (!*info->scene) {
            fputs("<p>The recording does not tell its scene.</p>\n", stream);
            continue;
        }
        fputs("<pre>", stream);
        for (const char *line = info->scene; *line;) {
            const size_t length = strcspn(line, "\n");
            char *text = cli_text("%.*s", (int)length, line);
            const bool mark =
                r->runs == 2 && !page_has_line(r->run[1 - k].reel.info.scene, line, length);
            fputs(mark ? "<mark>" : "", stream);
            bench_escape(stream, text);
            fputs(mark ? "</mark>\n" : "\n", stream);
            free(text);
            line += length + (line[length] == '\n');
        }
        fputs("</pre>\n", stream);
    }
    fputs("</section>\n", stream);
}
