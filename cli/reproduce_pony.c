// SPDX-License-Identifier: Apache-2.0
// r-pony: one-contact solvers on the problems of a ponytail [Daviet, 4.2.3, Table 4.3, Figures 4.7
// and 4.8]. A ponytail of super-helices is simulated and the friction problems of its steps go to
// files; those are read again, and every way to solve them is tried on each.
#define _GNU_SOURCE
#include "reproduce.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const double pony_pi = 3.14159265358979323846;

// Where the problems are kept: `talus bench r-pony` finds them there.
#define PONY_ROOM "r-pony"

// Sweeps as in Algorithm 4.1: from zero, in order, without momentum; a contact whose impulse has
// settled is passed over for 10 sweeps; every 25 sweeps max |F_FB|² is looked at. The source's
// tolerance of 1e-6 is in units of its own, of which it says that they make an average relative
// error of the impulses of 1e-4: PONY_TOLERANCE, in (N s)², is the power of ten at which
// Σ|F_FB| / Σ|r| comes below that here (5e-5; 2e-4 with the next). A visit ends after 20 steps of
// its method at the latest; that number, and the most sweeps, are not told.
#define PONY_TOLERANCE "1e-17"
#define PONY_COMMON                                                                                \
    "order=natural momentum=no patience=0 check=25 sleep_level=1e-2 local_tolerance=1e-7 "         \
    "local_iterations=20 iterations=10000 stop=fb tolerance=" PONY_TOLERANCE

// A one-contact solver, with what was published for it.
typedef struct pony_local {
    const char *name, *options;
    double alt, fails, unsolved, sweeps, ms; // %, %, %, means; NAN: not given
} pony_local;

// The hybrid of this library first, which the source does not have, then the rows of the source's
// table. 4sides is another law and has another measure, the change of a sweep: to that value MFB +
// Enum takes about the time that it takes to the other one.
static const pony_local pony_locals[] = {
    {"hybrid", "local=hybrid", NAN, NAN, NAN, NAN, NAN},
    {"MFB + Enum", "local=hybrid-newton", 0.07, 1e-6, 0.0, 41.0, 312.0},
    {"4sides + Enum", "local=four-sides-enum", 38.7, 0.001, 0.0, 47.0, 763.0},
    {"DAC + Enum", "local=ac-damped-enum", 0.09, 1e-6, 0.0, 57.0, 789.0},
    {"DAC", "local=ac-damped", NAN, 0.26, 0.33, 60.0, 874.0},
    {"PAC + Enum", "local=ac-enum", 0.1, 1e-5, 0.0, 62.0, 543.0},
    {"Enum", "local=enum", NAN, 0.0005, 1.0, 67.0, 1044.0},
    {"MFB", "local=fb", NAN, 0.13, 4.9, 72.0, 484.0},
    {"Duriez08 + Enum", "local=fixed-point-enum", 51.0, 0.0007, 0.33, 90.0, 1447.0},
    {"PAC", "local=ac", NAN, 0.43, 19.3, 163.0, 1265.0},
    {"Duriez08", "local=fixed-point", NAN, 2.45, 50.0, 267.0, 4336.0},
    {"4sides", "local=four-sides stop=change tolerance=1e-9", NAN, 0.0, 0.0, 575.0, 6497.0},
};
enum {
    PONY_LOCALS = sizeof pony_locals / sizeof *pony_locals,
    PONY_HYBRID = 0, // of this library
    PONY_FIRST = 1,  // of the source, its hybrid
    PONY_FACETS = PONY_LOCALS - 1,
    PONY_ORDERED = PONY_FACETS - PONY_FIRST // rows whose order is looked at: those of Coulomb's law
};

// How far visits are solved: to a tenth of the tolerance, as in the source (1e-7 for 1e-6), and to
// a thousandth.
static const struct {
    const char *name, *option;
} pony_visits[] = {{"", "local_absolute=1e-18"}, {", visits to 1e-3", "local_absolute=1e-20"}};
enum { PONY_VISITS = 2 };

// Figure 4.8: other solvers of the whole problem, to the same measure.
static const struct {
    const char *name, *solver, *options;
} pony_others[] = {
    {"Gauss-Seidel without sleep", "nlgs", PONY_COMMON " local=hybrid local_absolute=1e-18"},
    {"Gauss-Seidel matrix-free", "nlgs",
     PONY_COMMON " sleep=10 local=hybrid local_absolute=1e-18 form=matrix-free"},
    {"ASPG", "aspg", "stop=fb iterations=20000 tolerance=" PONY_TOLERANCE},
    {"APGD", "apgd-asr", "stop=fb iterations=20000 tolerance=" PONY_TOLERANCE},
};
enum {
    PONY_OTHERS = sizeof pony_others / sizeof *pony_others,
    PONY_FIRST_OTHER = PONY_VISITS * PONY_LOCALS,
    PONY_WAYS = PONY_FIRST_OTHER + PONY_OTHERS
};

static const char *pony_name(int way) {
    return way < PONY_FIRST_OTHER ? pony_locals[way % PONY_LOCALS].name
                                  : pony_others[way - PONY_FIRST_OTHER].name;
}

// Why figures may lie outside their ranges.
static const char pony_fewer[] =
    "visits solved to 1e-3 of the tolerance are as good as exact ones, and no more sweeps are "
    "needed: all but PAC and Duriez08 take as many to two hundredths";
static const char pony_smaller[] =
    "the source has 7000 to 27000 contacts a problem here; on problems of less than 1000 it, too, "
    "finds gradient methods ahead (Figure 4.13), and visits are so cheap here that most of a sweep "
    "are products with W";
static const char pony_ordered[] =
    "the order of the source comes from visits that fail; here only PAC and Duriez08 have any";

// One way on one problem.
typedef struct pony_result {
    bool solved;
    int32_t sweeps;
    int64_t solves, fails, saves;
    double prepare, solve; // processor time [s]: other work on the machine does not count
} pony_result;

typedef struct pony {
    reproduce *r;
    char **path; // of the problems
    int count, strands;
    int64_t every;
    double contacts;
    pony_result (*result)[PONY_WAYS];
    bool good;
} pony;

// ---- the scene and its files -------------------------------------------------------------------

// Strands that begin close together in a tie lie over a back, and the tie nods. Friction 0.3 among
// hair and 0.5 with the body, 15 unknowns a strand (source: 16), steps of 2 ms (1 to 4), straight
// but for a slight curl this way and that. Segments nearer than a fifth of their radius are
// contacts, which makes about as many for each strand as in the source.
static bool pony_bodies(reproduce *r, talus_world *w, int32_t skin) {
    const talus_shape_def tie = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.02};
    const talus_shape_def back = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.09};
    talus_body_def body = talus_body_default();
    body.material = skin;
    body.position[0] = -0.03;
    body.motion = (talus_motion_def){
        .kind = TALUS_MOTION_OSCILLATION, .angle = 0.3, .frequency = 1.0, .axis = {0.0, 1.0, 0.0}};
    if (!reproduce_body(r, w, &tie, &body)) return false;
    body.position[0] = 0.09;
    body.position[2] = -0.105;
    body.motion = (talus_motion_def){.kind = TALUS_MOTION_FIXED};
    return reproduce_body(r, w, &back, &body);
}

static bool pony_world(reproduce *r, int strands, talus_world **out) {
    enum { NODES = 21, CURL = 4 };
    talus_world_def def = talus_world_default();
    def.step = 2e-3;
    def.reach = 1e-4;
    def.solver = "nlgs";
    def.tolerance = 1e-4;
    def.iterations = 1000;
    def.threads = r->threads;
    talus_material_def hair = talus_material_default(), skin = hair;
    int32_t id;
    hair.friction = 0.3;
    skin.friction = 0.5;
    if (!reproduce_world(r, &def, &hair, "", out)) return false;
    talus_world *w = *out;
    REPRODUCE_TRY(r, talus_world_add_material(w, &skin, &id));
    REPRODUCE_TRY(r, talus_world_set_pair(w, 1, id, &skin));
    if (!pony_bodies(r, w, id)) return false;
    talus_rod_def rod = talus_rod_default();
    double curl[3 * (NODES - 2)] = {0}, across[3 * (NODES - 1)] = {0};
    uint64_t seed = 1;
    rod.nodes = NODES;
    rod.pieces = 5;
    rod.radius = 5e-4;
    rod.density = 1300.0;
    rod.young = 1e8;
    rod.damping = 1e-3;
    rod.drag = 5e-4;
    rod.material = 1;
    rod.start_body = 0;
    rod.curvature = curl;
    rod.director = across;
    for (int k = 0; k < NODES - 1; k++) across[3 * k + 1] = 1.0;
    for (int i = 0; i < strands; i++) { // roots like the seeds of a sunflower
        const double at = 6.5e-4 * sqrt(i + 0.5), turn = i * pony_pi * (3.0 - sqrt(5.0));
        const double x[3] = {0.0, at * sin(turn), at * cos(turn)}, away[3] = {1.0, 0.0, 0.0};
        const double way = reproduce_random(&seed, 0.0, 2.0 * pony_pi);
        for (int k = 0; k < NODES - 2; k++) {
            curl[3 * k] = CURL * cos(way);
            curl[3 * k + 1] = CURL * sin(way);
        }
        if (!reproduce_strand(r, w, x, away, 0.2, &rod)) return false;
    }
    return true;
}

// Keep the problem of a step.
static void pony_each(void *user, const talus_world *w, const talus_ledger *ledger) {
    pony *p = user;
    if (!p->good || ledger->step % p->every != 0 || ledger->contacts == 0) return;
    char *path = cli_text(PONY_ROOM "/step-%06lld.hdf5", (long long)ledger->step);
    if (talus_fclib_write(p->r->ctx, path, talus_world_problem(w), NULL) != TALUS_OK) {
        p->good = reproduce_failed(p->r);
        free(path);
        return;
    }
    p->path = cli_grow(p->path, (size_t)p->count + 1, sizeof *p->path);
    p->path[p->count++] = path;
    p->contacts += ledger->contacts;
}

static bool pony_dump(reproduce *r, pony *p) {
    talus_world *w = NULL;
    reproduce_sums sums;
    if (mkdir(PONY_ROOM, 0777) != 0 && errno != EEXIST) {
        cli_error("%s: %s: %s", r->experiment->name, PONY_ROOM, strerror(errno));
        return false;
    }
    const bool good = pony_world(r, p->strands, &w) &&
                      reproduce_run(r, w, r->quick ? 0.4 : 1.4, 0, pony_each, p, &sums) && p->good;
    talus_world_destroy(w);
    return good;
}

// ---- solving -----------------------------------------------------------------------------------

static double pony_clock(void) { return (double)clock() / (double)CLOCKS_PER_SEC; }

static bool pony_solve(reproduce *r, int way, const talus_problem *problem, double *impulse,
                       pony_result *out) {
    const size_t size = 3 * (size_t)talus_problem_get_info(problem).count;
    const int other = way - PONY_FIRST_OTHER;
    char *options =
        other >= 0 ? cli_text("%s", pony_others[other].options)
                   : cli_text(PONY_COMMON " sleep=10 %s %s", pony_locals[way % PONY_LOCALS].options,
                              pony_visits[way / PONY_LOCALS].option);
    talus_solver *s = NULL;
    talus_solve_info info = {0};
    memset(impulse, 0, size * sizeof *impulse);
    bool good = talus_solver_create(r->ctx, other >= 0 ? pony_others[other].solver : "nlgs", &s) ==
                    TALUS_OK ||
                reproduce_failed(r);
    good = good && reproduce_set(r, s, NULL, options);
    free(options);
    const double begin = pony_clock();
    if (good && talus_solver_prepare(s, problem) != TALUS_OK) good = reproduce_failed(r);
    const double prepared = pony_clock();
    if (good && talus_solver_solve(s, impulse, &info) != TALUS_OK) good = reproduce_failed(r);
    *out = (pony_result){.solved = info.outcome == TALUS_OUTCOME_SOLVED,
                         .sweeps = info.iterations,
                         .solves = info.local_solves,
                         .fails = info.local_failures,
                         .saves = info.local_saves,
                         .prepare = prepared - begin,
                         .solve = pony_clock() - prepared};
    talus_solver_destroy(s);
    return good;
}

static bool pony_solve_all(reproduce *r, pony *p) {
    bool good = true;
    p->result = cli_alloc((size_t)p->count, sizeof *p->result);
    for (int i = 0; i < p->count && good; i++) {
        talus_problem *problem = NULL;
        REPRODUCE_TRY(r, talus_fclib_read(r->ctx, p->path[i], &problem, NULL));
        double *impulse =
            cli_alloc(3 * (size_t)talus_problem_get_info(problem).count, sizeof *impulse);
        for (int k = 0; k < PONY_WAYS && good; k++)
            good = pony_solve(r, k, problem, impulse, &p->result[i][k]);
        free(impulse);
        talus_problem_destroy(problem);
    }
    return good;
}

// ---- the report --------------------------------------------------------------------------------

typedef struct pony_means {
    double sweeps, ms;           // means
    double unsolved, fails, alt; // %
} pony_means;

static pony_means pony_mean(const pony *p, int way) {
    double sweeps = 0.0, seconds = 0.0, unsolved = 0.0, solves = 0.0, fails = 0.0, alt = 0.0;
    for (int i = 0; i < p->count; i++) {
        const pony_result *x = &p->result[i][way];
        sweeps += x->sweeps;
        seconds += x->solve;
        unsolved += !x->solved;
        solves += (double)x->solves;
        fails += (double)x->fails;
        alt += (double)(x->fails + x->saves); // the second solver was called and failed, or not
    }
    const double n = p->count;
    return (pony_means){.sweeps = sweeps / n,
                        .ms = 1e3 * seconds / n,
                        .unsolved = 100.0 * unsolved / n,
                        .fails = 100.0 * fails / fmax(solves, 1.0),
                        .alt = 100.0 * alt / fmax(solves, 1.0)};
}

static int pony_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Share of the problems solved within x times the time of the fastest of the ways shown.
static void pony_profile(reproduce *r, const pony *p, const char *title, const int *way, int ways) {
    plot *curve = reproduce_plot(r, title, "times the fastest", true, "share solved", false);
    double *ratio = cli_alloc((size_t)p->count, sizeof *ratio);
    for (int k = 0; k < ways; k++) {
        int solved = 0;
        for (int i = 0; i < p->count; i++) {
            double best = INFINITY;
            for (int j = 0; j < ways; j++) {
                const pony_result *x = &p->result[i][way[j]];
                if (x->solved) best = fmin(best, x->prepare + x->solve);
            }
            const pony_result *x = &p->result[i][way[k]];
            if (x->solved) ratio[solved++] = (x->prepare + x->solve) / best;
        }
        qsort(ratio, (size_t)solved, sizeof *ratio, pony_compare);
        plot_add_curve(curve, pony_name(way[k]), false);
        for (int i = 0; i < solved; i++) {
            plot_add_point(curve, ratio[i], (double)i / p->count);
            plot_add_point(curve, ratio[i], (double)(i + 1) / p->count);
        }
        if (solved > 0) plot_add_point(curve, 100.0, (double)solved / p->count);
    }
    free(ratio);
}

// Figure 4.7: share of the problems that take more sweeps.
static void pony_curves(reproduce *r, const pony *p) {
    plot *curve =
        reproduce_plot(r, "problems not yet solved (Figure 4.7)", "sweeps", true, "share", false);
    double *sweeps = cli_alloc((size_t)p->count, sizeof *sweeps);
    for (int k = 0; k < PONY_LOCALS; k++) {
        int solved = 0;
        for (int i = 0; i < p->count; i++)
            if (p->result[i][k].solved) sweeps[solved++] = p->result[i][k].sweeps;
        qsort(sweeps, (size_t)solved, sizeof *sweeps, pony_compare);
        plot_add_curve(curve, pony_name(k), false);
        plot_add_point(curve, 25.0, 1.0);
        for (int i = 0; i < solved; i++) {
            plot_add_point(curve, sweeps[i], 1.0 - (double)i / p->count);
            plot_add_point(curve, sweeps[i], 1.0 - (double)(i + 1) / p->count);
        }
    }
    free(sweeps);
}

// Share of the pairs of ways that stand in the order of the source, of those that differ here by
// more than `margin`; equal ones count half.
static double pony_order(const double *measured, const double *published, int count,
                         double margin) {
    double same = 0.0, pairs = 0.0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            const double a = (measured[i] - measured[j]) * (published[i] - published[j]);
            if (fabs(measured[i] - measured[j]) < margin * fmax(measured[i], measured[j])) continue;
            same += a > 0.0 ? 1.0 : a < 0.0 ? 0.0 : 0.5;
            pairs += 1.0;
        }
    return same / pairs;
}

static void pony_row(reproduce *r, const char *name, const char *what, const char *unit,
                     double measured, double published, double low, double high, const char *why) {
    char *text = cli_text("%s: %s", name, what);
    char *source = isnan(published) ? cli_text("-") : cli_text("%g", published);
    reproduce_expect(r, text, unit, measured, source, low, high, why);
    free(text);
    free(source);
}

// Table 4.3, with visits solved so far.
static void pony_table(reproduce *r, const pony *p, int visits) {
    double sweeps[2][PONY_LOCALS], ms[2][PONY_LOCALS];
    const pony_means best = pony_mean(p, visits * PONY_LOCALS + PONY_HYBRID);
    for (int k = 0; k < PONY_LOCALS; k++) {
        const pony_local *way = &pony_locals[k];
        const pony_means m = pony_mean(p, visits * PONY_LOCALS + k);
        char *name = cli_text("%s%s", way->name, pony_visits[visits].name);
        sweeps[0][k] = m.sweeps, sweeps[1][k] = way->sweeps;
        ms[0][k] = m.ms, ms[1][k] = way->ms;
        pony_row(r, name, "mean sweeps", "", m.sweeps, way->sweeps,
                 k == PONY_FACETS ? 0.0 : best.sweeps, INFINITY, pony_fewer);
        pony_row(r, name, "mean time of the sweeps", "ms", m.ms, way->ms, best.ms, INFINITY, NULL);
        pony_row(r, name, "problems not solved", "%", m.unsolved, way->unsolved, 0.0,
                 k <= PONY_FIRST ? 0.0 : 100.0, NULL);
        pony_row(r, name, "visits that failed", "%", m.fails, way->fails, 0.0,
                 k <= PONY_FIRST ? 1e-3 : 100.0, NULL);
        if (!isnan(way->alt))
            pony_row(r, name, "visits that came to the enumeration", "%", m.alt, way->alt, 0.0,
                     100.0, NULL);
        free(name);
    }
    // This library's hybrid stands in the place of the source's.
    sweeps[0][PONY_FIRST] = sweeps[0][PONY_HYBRID];
    ms[0][PONY_FIRST] = ms[0][PONY_HYBRID];
    // Of ten in no order, 21 pairs more than half stand right by chance once in 28 times.
    const double least = (45.0 + 21.0) / 90.0;
    const char *const what[] = {"sweeps", "time"};
    const char *const which[] = {"", ", those that differ by a tenth"};
    for (int k = 0; k < 4; k++) {
        double(*of)[PONY_LOCALS] = k < 2 ? sweeps : ms;
        char *text = cli_text("pairs in the order of the source%s: %s, without 4sides%s",
                              pony_visits[visits].name, what[k / 2], which[k % 2]);
        reproduce_expect(
            r, text, "",
            pony_order(of[0] + PONY_FIRST, of[1] + PONY_FIRST, PONY_ORDERED, k % 2 ? 0.1 : 0.0),
            "1", least, 1.0, pony_ordered);
        free(text);
    }
}

static void pony_report(reproduce *r, const pony *p) {
    int locals[PONY_LOCALS], others[PONY_OTHERS + 1] = {0};
    const pony_means best = pony_mean(p, 0);
    for (int k = 0; k < PONY_LOCALS; k++) locals[k] = k;
    for (int k = 0; k < PONY_VISITS; k++) pony_table(r, p, k);
    for (int k = 0; k < PONY_OTHERS; k++) {
        others[k + 1] = PONY_FIRST_OTHER + k;
        const pony_means m = pony_mean(p, others[k + 1]);
        pony_row(r, pony_others[k].name, "problems not solved", "%", m.unsolved, NAN, 0.0, 100.0,
                 NULL);
        pony_row(r, pony_others[k].name, "mean time of the iterations", "ms", m.ms, NAN, best.ms,
                 INFINITY, pony_smaller);
    }
    pony_curves(r, p);
    pony_profile(r, p, "one-contact solvers: performance profiles", locals, PONY_FACETS);
    for (int k = 0; k < PONY_LOCALS; k++) locals[k] += PONY_LOCALS;
    pony_profile(r, p, "the same, visits to 1e-3 of the tolerance", locals, PONY_FACETS);
    pony_profile(r, p, "solvers of the whole problem: performance profiles (Figure 4.8)", others,
                 PONY_OTHERS + 1);
}

bool reproduce_rod_pony(reproduce *r) {
    pony p = {.r = r, .every = r->quick ? 10 : 2, .strands = r->quick ? 12 : 30, .good = true};
    const bool good = pony_dump(r, &p) && pony_solve_all(r, &p);
    if (good) {
        reproduce_expect(r, "problems, in " PONY_ROOM, "", p.count, "about 300",
                         r->quick ? 10.0 : 300.0, INFINITY, NULL);
        reproduce_expect(r, "mean contacts of a strand", "",
                         p.contacts / (double)p.count / p.strands, "29.5 (334 strands)", 15.0, 45.0,
                         NULL);
        pony_report(r, &p);
    }
    for (int i = 0; i < p.count; i++) free(p.path[i]);
    free(p.path);
    free(p.result);
    return good;
}
