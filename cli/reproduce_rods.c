// SPDX-License-Identifier: Apache-2.0
// r-ball: one strand with exact friction [Daviet, chapter 4, Figure 4.6].
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool reproduce_strand(reproduce *r, talus_world *w, const double at[3], const double to[3],
                      double length, const talus_rod_def *like) {
    enum { MOST = 33 };
    double x[3 * MOST];
    talus_rod_def rod = *like;
    for (int k = 0; k < rod.nodes; k++)
        for (int i = 0; i < 3; i++) x[3 * k + i] = at[i] + length * k / (rod.nodes - 1) * to[i];
    rod.kind = TALUS_ROD_HELIX;
    rod.position = x;
    rod.start = TALUS_END_CLAMPED;
    rod.self_contact = false;
    if (talus_world_add_rod(w, &rod, NULL) == TALUS_OK) return true;
    return reproduce_failed(r);
}

// ---- r-ball
// --------------------------------------------------------------------------------------

enum { BALL_RATE = 1000 }; // steps a second: a period of the ball

typedef struct ball_orbit {
    double (*tip)[3]; // of the last periods, step by step
    int64_t count, first;
} ball_orbit;

static void ball_each(void *user, const talus_world *w, const talus_ledger *ledger) {
    ball_orbit *o = user;
    const int64_t at = ledger->step - 1 - o->first;
    if (at < 0 || at >= o->count) return;
    const talus_rod_view rods = talus_world_rods(w);
    memcpy(o->tip[at], rods.position + 3 * (rods.start[1] - 1), 3 * sizeof(double));
}

static bool ball_run(reproduce *r, const char *solver, const char *options, double seconds,
                     ball_orbit *orbit, reproduce_sums *sums) {
    talus_world_def def = talus_world_default();
    def.step = 1.0 / BALL_RATE;
    def.solver = solver;
    def.tolerance = 1e-8;
    def.threads = 1;
    talus_material_def m = talus_material_default();
    m.friction = 1.0;
    talus_world *w = NULL;
    if (!reproduce_world(r, &def, &m, options, &w)) return false;
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.motion = (talus_motion_def){
        .kind = TALUS_MOTION_OSCILLATION, .angle = 0.5, .frequency = 1.0, .axis = {0.0, 0.0, 1.0}};
    talus_rod_def rod = talus_rod_default();
    rod.nodes = 21;
    rod.pieces = 5;
    rod.radius = 2e-3;
    rod.density = 1300.0;
    rod.young = 5e7;
    rod.damping = 5e-3;
    rod.drag = 0.02;
    rod.material = 1;
    // the tip comes down beside the pole, where the ball drags it to and fro
    const double at[3] = {-0.15, 0.03, 0.115}, to[3] = {1.0, 0.0, 0.0};
    const bool good = reproduce_body(r, w, &ball, &body) &&
                      reproduce_strand(r, w, at, to, 0.18, &rod) &&
                      reproduce_run(r, w, seconds, 0, ball_each, orbit, sums);
    talus_world_destroy(w);
    return good;
}

// Mean distance of two orbits over the size of the first.
static double ball_apart(const ball_orbit *a, const ball_orbit *b) {
    double mean[3] = {0}, size = 0.0, apart = 0.0;
    for (int64_t k = 0; k < a->count; k++)
        for (int i = 0; i < 3; i++) mean[i] += a->tip[k][i] / (double)a->count;
    for (int64_t k = 0; k < a->count; k++)
        for (int i = 0; i < 3; i++) {
            size += pow(a->tip[k][i] - mean[i], 2.0);
            apart += pow(a->tip[k][i] - b->tip[k][i], 2.0);
        }
    return sqrt(apart / size);
}

static void ball_draw(reproduce *r, const ball_orbit *orbit, const char *const *name, int count) {
    plot *p = reproduce_plot(r, "orbit of the tip", "x [m]", false, "y [m]", false);
    for (int k = 0; k < count; k++) {
        plot_add_curve(p, name[k], false);
        for (int64_t i = 0; i < orbit[k].count; i++)
            plot_add_point(p, orbit[k].tip[i][0], orbit[k].tip[i][1]);
    }
}

bool reproduce_rod_ball(reproduce *r) {
    static const struct {
        const char *solver, *options, *name;
        bool exact;
    } way[] = {
        {"nlgs", "local=hybrid-newton", "local MFB + Enum", true},
        {"nlgs", "local=fb", "local MFB", true},
        {"nlgs", "local=ac-damped", "local DAC", true},
        {"nlgs", "local=enum", "local Enum", true},
        {"newton-fb", "", "global MFB", true},
        {"newton-ac", "", "global DAC", true},
        {"nlgs", "local=pyramid stop=change tolerance=1e-8 iterations=500", "4sides", false}};
    enum { WAYS = sizeof way / sizeof *way };
    const double seconds = r->quick ? 4.0 : 20.0;
    const int64_t periods = r->quick ? 1 : 5;
    ball_orbit orbit[WAYS] = {{0}};
    const char *name[WAYS];
    bool good = true;
    for (int k = 0; k < WAYS; k++) {
        orbit[k].count = periods * BALL_RATE;
        orbit[k].first = (int64_t)(seconds * BALL_RATE) - orbit[k].count;
        orbit[k].tip = cli_alloc((size_t)orbit[k].count, sizeof *orbit[k].tip);
        name[k] = way[k].name;
    }
    for (int k = 0; k < WAYS && good; k++) {
        reproduce_sums sums;
        good = ball_run(r, way[k].solver, way[k].options, seconds, &orbit[k], &sums);
        if (!good) break;
        char *what =
            cli_text("%s: distance from the orbit of %s, of its size", way[k].name, way[0].name);
        if (k > 0 && way[k].exact)
            reproduce_expect(r, what, "", ball_apart(&orbit[0], &orbit[k]), "one orbit", 0.0, 0.01,
                             NULL);
        else if (k > 0)
            reproduce_expect(r, what, "", ball_apart(&orbit[0], &orbit[k]), "clearly another", 0.05,
                             INFINITY, NULL);
        free(what);
        if (!way[k].exact) continue;
        what = cli_text("%s: steps that missed 1e-8", way[k].name);
        reproduce_expect(r, what, "", (double)sums.missed, "-", 0.0, 0.01 * (double)sums.steps,
                         NULL);
        free(what);
    }
    if (good) ball_draw(r, orbit, name, WAYS);
    for (int k = 0; k < WAYS; k++) free(orbit[k].tip);
    return good;
}
