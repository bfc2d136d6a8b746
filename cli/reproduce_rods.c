// SPDX-License-Identifier: Apache-2.0
// r-ball and r-pony: one strand and a tress with exact friction [Daviet, chapter 4].
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rods_pi = 3.14159265358979323846;

// A straight strand of kind helix from `at` along the unit vector `to`, clamped there.
static bool rods_strand(reproduce *r, talus_world *w, const double at[3], const double to[3],
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
    const bool good = reproduce_body(r, w, &ball, &body) && rods_strand(r, w, at, to, 0.18, &rod) &&
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

// ---- r-pony
// --------------------------------------------------------------------------------------

// Table 4.3: a local solver with what was published for it.
typedef struct pony_way {
    const char *local, *name;
    double fails, unsolved, sweeps, ms; // published: %, %, mean, mean
} pony_way;

static const pony_way pony_ways[] = {
    {"hybrid-newton", "MFB + Enum", 1e-6, 0.0, 41.0, 312.0},
    {"ac-enum", "PAC + Enum", 1e-5, 0.0, 62.0, 543.0},
    {"ac-damped-enum", "DAC + Enum", 1e-6, 0.0, 57.0, 789.0},
    {"fb", "MFB", 0.13, 4.9, 72.0, 484.0},
    {"ac-damped", "DAC", 0.26, 0.33, 60.0, 874.0},
    {"enum", "Enum", 0.0005, 1.0, 67.0, 1044.0},
    {"ac", "PAC", 0.43, 19.3, 163.0, 1265.0},
    {"pyramid", "4sides", 0.0, 0.0, 575.0, 6497.0},
};
enum { PONY_WAYS = sizeof pony_ways / sizeof *pony_ways, PONY_SWEEPS = 5000 };

typedef struct pony_sums {
    int64_t problems, unsolved, sweeps, solves, fails;
    double seconds;
    int64_t within[PONY_SWEEPS + 1]; // problems solved in so many sweeps
} pony_sums;

typedef struct pony {
    reproduce *r;
    talus_solver *solver[PONY_WAYS];
    pony_sums sums[PONY_WAYS];
    double *impulse;
    int64_t room, every, contacts_most;
    double contacts;
    bool good;
} pony;

// Every so often the problem of the step is solved again, from zero, with every local solver.
static void pony_each(void *user, const talus_world *w, const talus_ledger *ledger) {
    pony *p = user;
    const talus_problem *problem = talus_world_problem(w);
    if (!p->good || ledger->step % p->every != 0 || ledger->contacts == 0) return;
    const int64_t count = 3 * (int64_t)talus_problem_get_info(problem).count;
    if (count > p->room) p->impulse = cli_grow(p->impulse, (size_t)count, sizeof *p->impulse);
    if (count > p->room) p->room = count;
    p->contacts += ledger->contacts;
    if (ledger->contacts > p->contacts_most) p->contacts_most = ledger->contacts;
    for (int k = 0; k < PONY_WAYS; k++) {
        talus_solve_info info = {0};
        pony_sums *s = &p->sums[k];
        memset(p->impulse, 0, (size_t)count * sizeof *p->impulse);
        if (talus_solver_prepare(p->solver[k], problem) != TALUS_OK ||
            talus_solver_solve(p->solver[k], p->impulse, &info) != TALUS_OK) {
            p->good = reproduce_failed(p->r);
            return;
        }
        s->problems++;
        s->unsolved += info.outcome != TALUS_OUTCOME_SOLVED;
        s->sweeps += info.iterations;
        s->solves += info.local_solves;
        s->fails += info.local_failures;
        s->seconds += info.solve_seconds;
        if (info.outcome == TALUS_OUTCOME_SOLVED && info.iterations <= PONY_SWEEPS)
            s->within[info.iterations]++;
    }
}

// Sweeps with sleeping, as the source has them; 4sides is not Coulomb's law, and stops when its
// steps are small.
static bool pony_solvers(reproduce *r, pony *p) {
    static const char *const common[][2] = {
        {"sleep", "10"}, {"check", "5"}, {"order", "natural"}, {"local_tolerance", "1e-7"}};
    char sweeps[16];
    (void)snprintf(sweeps, sizeof sweeps, "%d", PONY_SWEEPS);
    for (int k = 0; k < PONY_WAYS; k++) {
        const bool facets = strcmp(pony_ways[k].local, "pyramid") == 0;
        REPRODUCE_TRY(r, talus_solver_create(r->ctx, "nlgs", &p->solver[k]));
        talus_solver *s = p->solver[k];
        for (size_t i = 0; i < sizeof common / sizeof *common; i++)
            REPRODUCE_TRY(r, talus_solver_set(s, common[i][0], common[i][1]));
        REPRODUCE_TRY(r, talus_solver_set(s, "iterations", sweeps));
        REPRODUCE_TRY(r, talus_solver_set(s, "local", pony_ways[k].local));
        REPRODUCE_TRY(r, talus_solver_set(s, "stop", facets ? "change" : "residual"));
        REPRODUCE_TRY(r, talus_solver_set(s, "tolerance", facets ? "1e-9" : "1e-3"));
    }
    return true;
}

static bool pony_world(reproduce *r, int strands, talus_world **out) {
    talus_world_def def = talus_world_default();
    def.step = 2e-3;
    def.reach = 1e-3;
    def.solver = "nlgs";
    def.tolerance = 1e-4;
    def.iterations = 1000;
    def.threads = r->threads;
    talus_material_def m = talus_material_default();
    m.friction = 0.3;
    if (!reproduce_world(r, &def, &m, "", out)) return false;
    talus_world *w = *out;
    const talus_shape_def tie = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.02};
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.position[2] = 0.04;
    body.motion = (talus_motion_def){
        .kind = TALUS_MOTION_OSCILLATION, .angle = 0.9, .frequency = 1.0, .axis = {0.0, 1.0, 0.0}};
    if (!reproduce_body(r, w, &tie, &body)) return false;
    talus_rod_def rod = talus_rod_default();
    rod.nodes = 21;
    rod.pieces = 5;
    rod.radius = 5e-4;
    rod.density = 1300.0;
    rod.young = 1e8;
    rod.damping = 1e-3;
    rod.drag = 5e-4;
    rod.material = 1;
    rod.start_body = 0;
    double curl[3 * 19];
    uint64_t seed = 1;
    rod.curvature = curl;
    for (int i = 0; i < strands; i++) { // a sunflower on a disc, tight, curled this way and that
        const double at = 1.5e-3 * sqrt(i + 0.5), turn = i * rods_pi * (3.0 - sqrt(5.0));
        const double x[3] = {at * cos(turn), at * sin(turn), 0.0}, down[3] = {0.0, 0.0, -1.0};
        const double way = reproduce_random(&seed, 0.0, 2.0 * rods_pi);
        for (int k = 0; k < rod.nodes - 2; k++) {
            curl[3 * k] = 8.0 * cos(way);
            curl[3 * k + 1] = 8.0 * sin(way);
            curl[3 * k + 2] = 4.0;
        }
        if (!rods_strand(r, w, x, down, 0.2, &rod)) return false;
    }
    return true;
}

static void pony_report(reproduce *r, const pony *p) {
    plot *curve =
        reproduce_plot(r, "problems not yet solved (Figure 4.7)", "sweeps", true, "share", false);
    const pony_sums *best = &p->sums[0];
    for (int k = 0; k < PONY_WAYS; k++) {
        const pony_way *way = &pony_ways[k];
        const pony_sums *s = &p->sums[k];
        const double n = (double)s->problems, sweeps = (double)s->sweeps / n;
        int64_t left = s->problems;
        plot_add_curve(curve, way->name, false);
        for (int i = 0; i <= PONY_SWEEPS; i++) {
            left -= s->within[i];
            if (i > 0) plot_add_point(curve, i, (double)left / n);
        }
        char *what = cli_text("%s: mean sweeps", way->name);
        char *published = cli_text("%.0f", way->sweeps);
        // what counts is that none needs fewer than the hybrid
        const double least = k == 0 ? 0.0 : 0.98 * (double)best->sweeps / n;
        reproduce_expect(
            r, what, "", sweeps, published, least, INFINITY,
            strcmp(way->local, "pyramid") == 0
                ? "it stops on the length of its steps, which is no error of its answer"
                : NULL);
        free(what);
        free(published);
        what = cli_text("%s: mean time of the sweeps", way->name);
        published = cli_text("%.0f", way->ms);
        reproduce_expect(
            r, what, "ms", 1e3 * s->seconds / n, published,
            k == 0 ? 0.0 : 0.9e3 * best->seconds / n, INFINITY,
            "one-contact solvers of this program hardly ever fail, with or without the "
            "enumeration behind them: all need the same sweeps, and about the same time");
        free(what);
        free(published);
        what = cli_text("%s: problems not solved", way->name);
        published = cli_text("%g", way->unsolved);
        reproduce_expect(r, what, "%", 100.0 * (double)s->unsolved / n, published, 0.0,
                         k < 3 ? 0.0 : 100.0, NULL);
        free(what);
        free(published);
        what = cli_text("%s: one-contact solves that failed", way->name);
        published = cli_text("%g", way->fails);
        reproduce_expect(r, what, "%", 100.0 * (double)s->fails / fmax((double)s->solves, 1.0),
                         published, 0.0, k < 3 ? 1e-3 : 100.0, NULL);
        free(what);
        free(published);
    }
}

bool reproduce_rod_pony(reproduce *r) {
    talus_world *w = NULL;
    reproduce_sums sums;
    pony *p = cli_alloc(1, sizeof *p);
    *p = (pony){.r = r, .every = r->quick ? 5 : 2, .good = true};
    bool good = pony_solvers(r, p) && pony_world(r, r->quick ? 12 : 30, &w) &&
                reproduce_run(r, w, r->quick ? 0.4 : 1.4, 0, pony_each, p, &sums) && p->good;
    if (good) {
        reproduce_expect(r, "problems", "", (double)p->sums[0].problems, "about 300",
                         r->quick ? 10.0 : 300.0, INFINITY, NULL);
        reproduce_expect(r, "mean contacts", "", p->contacts / (double)p->sums[0].problems,
                         "9850 (334 strands)", 1.0, INFINITY, NULL);
        pony_report(r, p);
    }
    talus_world_destroy(w);
    for (int k = 0; k < PONY_WAYS; k++) talus_solver_destroy(p->solver[k]);
    free(p->impulse);
    free(p);
    return good;
}
