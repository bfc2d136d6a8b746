// SPDX-License-Identifier: Apache-2.0
// What the experiments of `talus reproduce` share: rows, plots, stepping, small numerics.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double reproduce_random(uint64_t *state, double low, double high) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return low + (high - low) * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53);
}

double reproduce_order(const double *x, const double *y, int count) {
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < count; i++) {
        const double a = log(x[i]), b = log(y[i]);
        sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

const char *reproduce_verdict_text(reproduce_verdict verdict) {
    static const char *const text[] = {"pass", "FAIL", "differs"};
    return text[verdict];
}

void reproduce_expect(reproduce *r, const char *what, const char *unit, double measured,
                      const char *published, double low, double high, const char *why) {
    const bool inside = measured >= low && measured <= high; // false for NaN
    r->row = cli_grow(r->row, (size_t)r->rows + 1, sizeof *r->row);
    r->row[r->rows++] = (reproduce_row){.what = cli_text("%s", what),
                                        .unit = cli_text("%s", unit),
                                        .measured = measured,
                                        .published = cli_text("%s", published),
                                        .low = low,
                                        .high = high,
                                        .why = why ? cli_text("%s", why) : NULL,
                                        .verdict = inside ? REPRODUCE_PASS
                                                   : why  ? REPRODUCE_DIFFERS
                                                          : REPRODUCE_FAIL};
}

plot *reproduce_plot(reproduce *r, const char *title, const char *x_label, bool x_log,
                     const char *y_label, bool y_log) {
    r->plot = cli_grow(r->plot, (size_t)r->plots + 1, sizeof *r->plot);
    plot_init(&r->plot[r->plots], title, x_label, x_log, y_label, y_log);
    return &r->plot[r->plots++];
}

bool reproduce_failed(const reproduce *r) {
    cli_error("%s: %s", r->experiment->name, talus_context_last_error(r->ctx));
    return false;
}

// On a terminal one line that is rewritten, at most ten times a second.
static void run_progress(reproduce *r, const talus_ledger *l, double until) {
    const double now = cli_clock();
    if (now - r->shown < 0.1 || !isatty(STDERR_FILENO)) return;
    r->shown = now;
    fprintf(stderr,
            "\r\033[K%s: t = %.4g of %.4g s, %d contacts, %d iterations, residual %.1e, %.0f s",
            r->experiment->name, l->time, until, l->contacts, l->iterations, l->residual,
            now - r->begun);
}

bool reproduce_run(reproduce *r, talus_world *w, double until, int64_t steps, reproduce_each each,
                   void *user, reproduce_sums *sums) {
    reproduce_sums s = {0};
    const double eps = 1e-9 * until;
    while (talus_world_time(w) < until - eps && (steps == 0 || s.steps < steps)) {
        talus_ledger l;
        REPRODUCE_TRY(r, talus_world_step(w, &l));
        if (l.outcome == TALUS_OUTCOME_CANCELLED) {
            cli_error("%s: stopped at t = %g s", r->experiment->name, l.time);
            return false;
        }
        s.steps++;
        s.iterations += l.iterations;
        s.missed += l.missed;
        s.contacts += l.contacts;
        s.block_iterations += (double)l.contacts * l.iterations;
        s.seconds += l.total_seconds;
        s.solve_seconds += l.solve_seconds;
        s.detect_seconds += l.detect_seconds;
        s.penetration = fmax(s.penetration, l.penetration);
        s.residual = fmax(s.residual, l.residual);
        s.last = l;
        if (each) each(user, w, &l);
        run_progress(r, &l, until);
    }
    if (sums) *sums = s;
    return true;
}

int32_t reproduce_fixed_points(const talus_world *w, const talus_ledger *ledger) {
    if (ledger->iterations > 0 || ledger->contacts == 0)
        return ledger->iterations > 1 ? ledger->iterations : 1;
    talus_contact_view c;
    double sum = 0.0;
    talus_world_contacts(w, &c);
    for (int32_t i = 0; i < c.count; i++) {
        const double *u = c.velocity + 3 * (ptrdiff_t)i, *n = c.normal + 3 * (ptrdiff_t)i;
        const double normal = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
        sum += u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - normal * normal;
    }
    return sum > 1e-4 ? 2 : 1;
}

bool reproduce_set(reproduce *r, talus_solver *solver, talus_world *w, const char *options) {
    char *copy = cli_text("%s", options), *rest = copy;
    bool good = true;
    for (char *word = strsep(&rest, " "); word && good; word = strsep(&rest, " ")) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        const talus_status status =
            solver ? talus_solver_set(solver, word, value) : talus_world_set_solver(w, word, value);
        if (status != TALUS_OK) good = reproduce_failed(r);
    }
    free(copy);
    return good;
}

bool reproduce_world(reproduce *r, const talus_world_def *def, const talus_material_def *material,
                     const char *options, talus_world **out) {
    int32_t id;
    REPRODUCE_TRY(r, talus_world_create(r->ctx, def, out));
    if ((talus_world_add_material(*out, material, &id) == TALUS_OK || reproduce_failed(r)) &&
        reproduce_set(r, NULL, *out, options))
        return true;
    talus_world_destroy(*out);
    *out = NULL;
    return false;
}

bool reproduce_body(reproduce *r, talus_world *w, const talus_shape_def *shape,
                    const talus_body_def *body) {
    talus_body_def def = *body;
    REPRODUCE_TRY(r, talus_world_add_shape(w, shape, &def.shape));
    REPRODUCE_TRY(r, talus_world_add_body(w, &def, NULL));
    return true;
}
