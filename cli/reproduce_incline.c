// SPDX-License-Identifier: Apache-2.0
// b-table1 and b-incline: one disk on an inclined plane [Bloch, Lefebvre-Lepot, sections 3.1, 3.2
// and appendix B].
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

static const double incline_angle = 0.52359877559829887; // π/6

// ---- b-table1 -----------------------------------------------------------------------------------

// The first step as published, with the force λ as unknown: W = h² A M⁻¹ Aᵀ, q = h A U + D.
static talus_status table_problem(talus_context *ctx, talus_problem **out) {
    static const double h = 0.05;
    const int64_t start[2] = {0, 1};
    const int32_t col[1] = {0};
    const double w[4] = {h * h, 0.0, 0.0, 3.0 * h * h}, mu = 0.0;
    const double q[2] = {-h * h * cos(incline_angle), h * h * sin(incline_angle)};
    const talus_local_def def = {.dim = 2,
                                 .count = 1,
                                 .row_start = start,
                                 .col = col,
                                 .block = w,
                                 .q = q,
                                 .law = {.mu = &mu}};
    return talus_problem_create_local(ctx, &def, out);
}

static talus_status table_solve(talus_context *ctx, const talus_problem *p, const char *name,
                                bool adaptive, const char *tolerance, int32_t *iterations) {
    const char *const option[][2] = {{"stop", "step"},   {"unit", "1"},
                                     {"step", "2"},      {"patience", "0"},
                                     {"diagonal", "no"}, {"tolerance", tolerance}};
    talus_solver *s = NULL;
    talus_solve_info info = {0};
    double r[2] = {0.0};
    talus_status status = talus_solver_create(ctx, name, &s);
    for (size_t k = 0; status == TALUS_OK && k < sizeof option / sizeof *option; k++)
        status = talus_solver_set(s, option[k][0], option[k][1]);
    if (status == TALUS_OK && adaptive) status = talus_solver_set(s, "search", "values");
    if (status == TALUS_OK) status = talus_solver_prepare(s, p);
    if (status == TALUS_OK) status = talus_solver_solve(s, r, &info);
    *iterations = info.iterations;
    talus_solver_destroy(s);
    return status;
}

bool reproduce_table1(reproduce *r) {
    static const struct {
        const char *name;
        bool adaptive;
        int published[2], also; // `also`: what the rules as stated give
    } row[] = {{"pgd", false, {206, 2926}, 2926},
               {"apgd", false, {68, 2029}, 2029},
               {"apgd-as", true, {47, 164}, 169},
               {"apgd-ar", false, {54, 160}, 160},
               {"apgd-asr", true, {39, 100}, 100}};
    talus_problem *p = NULL;
    REPRODUCE_TRY(r, table_problem(r->ctx, &p));
    bool good = true;
    for (size_t k = 0; good && k < sizeof row / sizeof *row; k++)
        for (int t = 0; good && t < 2; t++) {
            int32_t count = 0;
            if (table_solve(r->ctx, p, row[k].name, row[k].adaptive, t ? "1e-9" : "1e-3", &count) !=
                TALUS_OK) {
                good = reproduce_failed(r);
                break;
            }
            const int known = row[k].published[t], high = t ? row[k].also : known;
            char *what = cli_text("%s, iterations to %s", row[k].name, t ? "1e-9" : "1e-3");
            char *published = high == known ? cli_text("%d", known)
                                            : cli_text("%d (%d by its rules)", known, high);
            reproduce_expect(r, what, "", count, published, known, high, NULL);
            free(what);
            free(published);
        }
    talus_problem_destroy(p);
    return good;
}

// ---- b-incline ----------------------------------------------------------------------------------

// Centre (normal and tangential coordinate) and angle at time t, exactly. The disk starts at
// distance 1 from the plane with r = m = g = 1; angles count as ω does, negative for rolling down.
static void incline_exact(double mu, double t, double x[3]) {
    const double s = sin(incline_angle), c = cos(incline_angle), ti = sqrt(2.0 / c);
    if (t <= ti) {
        x[0] = 2.0 - 0.5 * c * t * t;
        x[1] = 0.5 * s * t * t;
        x[2] = 0.0;
        return;
    }
    const double vn = -c * ti, vt = s * ti, after = t - ti;
    const bool rolls = mu >= tan(incline_angle) / 3.0;
    const double v = rolls ? 2.0 / 3.0 * vt : vt + mu * vn;
    const double w = rolls ? -2.0 / 3.0 * vt : 2.0 * mu * vn;
    const double a = rolls ? 2.0 / 3.0 * s : s - mu * c;
    const double b = rolls ? -2.0 / 3.0 * s : -2.0 * mu * c;
    x[0] = 1.0;
    x[1] = 0.5 * s * ti * ti + v * after + 0.5 * a * after * after;
    x[2] = w * after + 0.5 * b * after * after;
}

typedef struct incline_run {
    double mu, position, angle; // sums of squared errors times h
    double turned;              // angle so far
    double lift;                // largest distance from the plane a second after the impact
    int64_t problems;           // convex problems of the fixed point, where they are counted
    int64_t steps;
} incline_run;

static void incline_each(void *user, const talus_world *w, const talus_ledger *l) {
    incline_run *run = user;
    talus_body_view b;
    double exact[3];
    talus_world_bodies(w, &b);
    const double *x = b.position + 3, s = sin(incline_angle), c = cos(incline_angle);
    const double n = -s * x[0] + c * x[1], t = -(c * x[0] + s * x[1]); // down the plane
    run->turned += l->h * b.spin[5];
    incline_exact(run->mu, l->time, exact);
    // Rolling down turns the disk to the left, with positive spin; the source counts it negative.
    run->position += l->h * ((n - exact[0]) * (n - exact[0]) + (t - exact[1]) * (t - exact[1]));
    run->angle += l->h * (run->turned + exact[2]) * (run->turned + exact[2]);
    if (l->time > sqrt(2.0 / c) + 1.0) run->lift = fmax(run->lift, n - 1.0);
    run->problems += reproduce_fixed_points(w, l);
    run->steps++;
}

// The plane rises to the right, so the disk moves to the left.
static bool incline_world(reproduce *r, talus_scheme scheme, double mu, double h,
                          const char *solver, double tolerance, const char *options,
                          talus_world **out) {
    talus_world_def def = talus_world_default();
    def.dim = 2;
    def.gravity[0] = 0.0, def.gravity[1] = -1.0, def.gravity[2] = 0.0;
    def.scheme = scheme;
    def.step = h;
    def.reach = 3.0;
    def.solver = solver;
    def.tolerance = tolerance;
    talus_material_def material = talus_material_default();
    material.friction = mu;
    if (!reproduce_world(r, &def, &material, options, out)) return false;
    const double s = sin(incline_angle), c = cos(incline_angle);
    const talus_shape_def shape[2] = {{.kind = TALUS_SHAPE_HALF_SPACE, .normal = {-s, c, 0.0}},
                                      {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0}};
    bool good = true;
    for (int k = 0; good && k < 2; k++) {
        talus_body_def body = talus_body_default();
        body.material = 1;
        body.motion.kind = k ? TALUS_MOTION_FREE : TALUS_MOTION_FIXED;
        if (k) {
            body.mass = 1.0;
            body.position[0] = -2.0 * s, body.position[1] = 2.0 * c;
        }
        good = reproduce_body(r, *out, &shape[k], &body);
    }
    if (!good) talus_world_destroy(*out);
    return good;
}

static bool incline_one(reproduce *r, talus_scheme scheme, double mu, double h, double until,
                        incline_run *run) {
    talus_world *w = NULL;
    *run = (incline_run){.mu = mu};
    if (!incline_world(r, scheme, mu, h, "auto", 1e-12, "", &w)) return false;
    const bool good = reproduce_run(r, w, until, 0, incline_each, run, NULL);
    talus_world_destroy(w);
    return good;
}

// Average number of convex problems per step of the fixed point, stopped by the published rule.
static bool incline_problems(reproduce *r, double mu, double *average) {
    talus_world *w = NULL;
    incline_run run = {.mu = mu};
    if (!incline_world(r, TALUS_SCHEME_FIXED_POINT, mu, 0.05, "cadoux", 1e-3,
                       "settled=1e-2 warm=no tolerance=1e-10 accuracy=1e-2", &w))
        return false;
    const bool good = reproduce_run(r, w, 10.0, 0, incline_each, &run, NULL);
    *average = (double)run.problems / (double)run.steps;
    talus_world_destroy(w);
    return good;
}

// The orders of one scheme at one friction coefficient.
static bool incline_orders(reproduce *r, talus_scheme scheme, double mu, plot *errors) {
    const double h[] = {0.05, 0.025, 0.0125, 0.00625, 1e-3, 1e-4};
    const int count = r->quick ? 5 : 6;
    double position[6], angle[6];
    incline_run run = {0};
    char *label = cli_text("%s, mu = %g", talus_scheme_text(scheme), mu);
    plot_add_curve(errors, label, false);
    bool good = true;
    for (int k = 0; good && k < count; k++) {
        good = incline_one(r, scheme, mu, h[k], 10.0, &run);
        position[k] = sqrt(run.position);
        angle[k] = sqrt(run.angle);
        plot_add_point(errors, h[k], position[k]);
        if (good && k == 0 && scheme == TALUS_SCHEME_FIXED_POINT) {
            char *what = cli_text("%s: distance kept while sliding, h = 0.05", label);
            reproduce_expect(r, what, "m", run.lift, "0", -1e-9, 1e-9, NULL);
            free(what);
        }
        if (good && k == 0 && scheme == TALUS_SCHEME_CONVEX && mu > 0.0 && mu < 0.15) {
            char *what = cli_text("%s: distance kept while sliding, h = 0.05", label);
            reproduce_expect(r, what, "m", run.lift, "visible", 1e-3, 0.1, NULL);
            free(what);
        }
    }
    if (good) {
        char *what = cli_text("%s: order of the position", label);
        reproduce_expect(r, what, "", reproduce_order(h, position, count), "1", 0.95, 1.1, NULL);
        free(what);
        if (mu > 0.0) {
            what = cli_text("%s: order of the angle", label);
            reproduce_expect(r, what, "", reproduce_order(h, angle, count), "1", 0.95, 1.1, NULL);
            free(what);
        }
    }
    free(label);
    return good;
}

// Errors of the frictionless scheme at T = 5, which the source's own program gives.
static bool incline_scopi(reproduce *r) {
    static const double h[] = {0.05, 0.025, 0.0125, 0.00625};
    static const double scopi[] = {8.45e-2, 4.21e-2, 2.10e-2, 1.05e-2};
    for (int k = 0; k < 4; k++) {
        incline_run run;
        if (!incline_one(r, TALUS_SCHEME_CONVEX, 0.0, h[k], 5.0, &run)) return false;
        char *what = cli_text("error of the position, mu = 0, h = %g, T = 5", h[k]);
        char *published = cli_text("%.3g (SCoPI)", scopi[k]);
        reproduce_expect(r, what, "m s^1/2", sqrt(run.position), published, 0.98 * scopi[k],
                         1.02 * scopi[k], NULL);
        free(what);
        free(published);
    }
    return true;
}

bool reproduce_incline(reproduce *r) {
    static const double mu[] = {0.0, 0.1, 1.0};
    plot *errors =
        reproduce_plot(r, "error of the position", "step h [s]", true, "error [m s^1/2]", true);
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++)
            if (!incline_orders(r, s ? TALUS_SCHEME_FIXED_POINT : TALUS_SCHEME_CONVEX, mu[k],
                                errors))
                return false;
    if (!incline_scopi(r)) return false;
    for (int k = 1; k < 3; k++) {
        double average = 0.0;
        const double known = k == 1 ? 1.2 : 2.8;
        if (!incline_problems(r, mu[k], &average)) return false;
        char *what = cli_text("convex problems per step, mu = %g", mu[k]);
        reproduce_expect(
            r, what, "", average, k == 1 ? "1.2" : "2.8", 0.8 * known, 1.2 * known,
            "both published averages are met within 2 %, but for the other coefficient: a "
            "disk that rolls (mu = 1) has s = 0 from the first problem on, one that "
            "slides needs two or three");
        free(what);
    }
    return true;
}
