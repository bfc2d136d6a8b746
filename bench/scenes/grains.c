// SPDX-License-Identifier: Apache-2.0
// Whole runs of grains, per step and per constraint.
//     bench/grains box N [SOLVER] [THREADS] [T]: N^3 spheres fall into a box, no friction, to t = 8
//         or T
//     bench/grains heap N [SOLVER] [THREADS]: N^3 spheres fall on a plane, mu = 1, 300 steps
//     bench/grains flow COUNT [SOLVER] [THREADS] [SWEEPS] [SCHEME]: a dense bed (mu = 0.5) falls
//         together, settles, rests, then flows down a slope: seconds per step at h = 1 ms, residual
//         1e-4 or what 300 iterations reach, or SWEEPS from the time on that it has fallen
//         together; SCHEME moreau-jean (default: Coulomb's law), convex or fixed-point
//     bench/grains rocks COUNT [SOLVER] [THREADS] [SWEEPS] [SCHEME]: the same with convex rocks of
//         20 faces
//     bench/grains size MOST [SOLVER] [THREADS]: time per grain and step, ten iterations each, of
//         beds of 1e3 to MOST grains
// SOLVER auto (default) or a name; apgd-ar in `box` runs with the published step and stop rule, and
// `+NAME` with the library's own (residual 1e-3), as the others do.
#include "base/rng.h"
#include "base/timer.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static talus_context *ctx;

typedef struct order {
    int size;
    const char *solver;
    int threads;
    double more; // the next argument, 0: as usual
    talus_scheme scheme;
} order;

static void must(talus_status status) {
    if (status == TALUS_OK) return;
    fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    exit(1);
}

static talus_world *make_world(const talus_world_def *def, double mu) {
    talus_world *w = NULL;
    talus_material_def m = talus_material_default();
    m.friction = mu;
    int32_t material;
    must(talus_world_create(ctx, def, &w));
    must(talus_world_add_material(w, &m, &material));
    return w;
}

static void add_fixed(talus_world *w, const talus_shape_def *shape, double x, double y, double z) {
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.motion.kind = TALUS_MOTION_FIXED;
    body.position[0] = x, body.position[1] = y, body.position[2] = z;
    must(talus_world_add_shape(w, shape, &body.shape));
    must(talus_world_add_body(w, &body, NULL));
}

static void add_ball(talus_world *w, double radius, double mass, const double x[3]) {
    const talus_shape_def shape = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.mass = mass;
    memcpy(body.position, x, sizeof body.position);
    must(talus_world_add_shape(w, &shape, &body.shape));
    must(talus_world_add_body(w, &body, NULL));
}

typedef struct sums {
    int64_t steps, iterations, missed;
    double work; // constraints times iterations
    double total, solve, detect, assemble, certify, residual, contacts;
    talus_ledger last;
} sums;

static void advance(talus_world *w, int64_t steps, sums *s) {
    for (int64_t k = 0; k < steps; k++) {
        talus_ledger l;
        must(talus_world_step(w, &l));
        s->steps++;
        s->iterations += l.iterations;
        s->missed += l.missed;
        s->work += (double)l.contacts * l.iterations;
        s->contacts += l.contacts;
        s->total += l.total_seconds;
        s->solve += l.solve_seconds;
        s->detect += l.detect_seconds;
        s->assemble += l.assemble_seconds;
        s->certify += l.certify_seconds;
        s->residual = fmax(s->residual, l.residual);
        s->last = l;
    }
}

static void print_head(void) {
    puts("case,grains,solver,threads,steps,seconds,seconds_per_step,contacts_per_step,"
         "iterations_per_step,ns_per_contact_iteration,ns_whole,detect_share,assemble_share,"
         "certify_share,"
         "missed,worst_residual,kinetic,penetration,bytes_per_grain");
}

static void print_row(const char *name, int grains, const char *solver, int threads,
                      const sums *s) {
    size_t bytes, peak;
    talus_context_memory(ctx, &bytes, &peak);
    const double steps = (double)s->steps;
    printf(
        "%s,%d,%s,%d,%.0f,%.4g,%.4g,%.0f,%.1f,%.3g,%.3g,%.3f,%.3f,%.3f,%.0f,%.2e,%.3g,%.2e,%.0f\n",
        name, grains, solver, threads, steps, s->total, s->total / steps, s->contacts / steps,
        (double)s->iterations / steps, 1e9 * s->solve / s->work, 1e9 * s->total / s->work,
        s->detect / s->total, s->assemble / s->total, s->certify / s->total, (double)s->missed,
        s->residual, s->last.kinetic, s->last.penetration, (double)bytes / grains);
    fflush(stdout);
}

// The grid of n³ spheres of the box and the heap: cube [0, 10]³, g = 1.
static talus_world *make_grid(int n, double mu, double h, const char *solver, int threads,
                              double tolerance) {
    const double delta = 10.0 / n;
    tl_rng rng = {.state = 1};
    talus_world_def def = talus_world_default();
    def.dim = 3;
    def.gravity[0] = def.gravity[1] = 0.0, def.gravity[2] = -1.0;
    def.step = h;
    def.reach = 0.45 * delta;
    def.solver = solver;
    def.threads = threads;
    def.tolerance = tolerance;
    talus_world *w = make_world(&def, mu);
    for (int k = 0; k < n * n * n; k++) {
        const int at[3] = {k % n, k / n % n, k / (n * n)};
        const double radius = tl_rng_range(&rng, 0.4 * delta, 0.45 * delta);
        const double mass = tl_rng_range(&rng, 1.0, 2.0);
        double x[3];
        for (int c = 0; c < 3; c++)
            x[c] = (at[c] + 0.5) * delta + tl_rng_range(&rng, -0.025 * delta, 0.025 * delta);
        add_ball(w, radius, mass, x);
    }
    return w;
}

static void run_box(const order *o) {
    const int n = o->size, threads = o->threads;
    const char *solver = o->solver;
    const double end = o->more > 0.0 ? o->more : 8.0;
    const double h = 0.2 * 0.85 * 5.0 / n / 1.9; // as in `talus reproduce b-box`
    const talus_shape_def box = {.kind = TALUS_SHAPE_CONTAINER, .half = {5.0, 5.0, 5.0}};
    const char *name = solver[0] == '+' ? solver + 1 : solver;
    talus_world *w = make_grid(n, 0.0, h, name, threads, 1e-3);
    if (strncmp(solver, "apgd", 4) == 0 || strcmp(solver, "pgd") == 0) {
        char unit[40];
        (void)snprintf(unit, sizeof unit, "%.17g", h);
        const char *const option[][2] = {
            {"stop", "step"},   {"tolerance", "1e-3"}, {"unit", unit},         {"step", "0.2"},
            {"diagonal", "no"}, {"patience", "0"},     {"form", "matrix-free"}};
        for (size_t k = 0; k < sizeof option / sizeof *option; k++)
            must(talus_world_set_solver(w, option[k][0], option[k][1]));
    }
    add_fixed(w, &box, 5.0, 5.0, 5.0);
    sums s = {0};
    advance(w, (int64_t)ceil(end / h), &s);
    print_row("box", n * n * n, solver, threads, &s);
    talus_world_destroy(w);
}

static void run_heap(const order *o) {
    const int n = o->size, threads = o->threads;
    const char *solver = o->solver;
    const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
    talus_world *w = make_grid(n, 1.0, 0.0086, solver, threads, 1e-3);
    add_fixed(w, &plane, 0.0, 0.0, 0.0);
    sums s = {0};
    advance(w, 300, &s);
    print_row("heap", n * n * n, solver, threads, &s);
    talus_world_destroy(w);
}

enum { ROCK_CORNERS = 12 }; // no four in a plane: 20 faces

// A rock within the ball of this radius: the corners of an icosahedron, moved about by up to a
// fifth of it.
static void make_rock(tl_rng *rng, double radius, double point[3 * ROCK_CORNERS]) {
    const double golden = 0.5 * (1.0 + sqrt(5.0)), length = sqrt(1.0 + golden * golden);
    for (int k = 0; k < ROCK_CORNERS; k++) {
        double *p = point + (ptrdiff_t)3 * k;
        const double one = k & 1 ? -1.0 : 1.0, other = k & 2 ? -golden : golden;
        p[k / 4] = 0.0;
        p[(k / 4 + 1) % 3] = one / length;
        p[(k / 4 + 2) % 3] = other / length;
        for (int e = 0; e < 3; e++) p[e] = radius / 1.2 * (p[e] + tl_rng_range(rng, -0.115, 0.115));
    }
}

typedef struct bed {
    bool rocks;
    int count;
    double slope, tolerance;
    const char *solver;
    int threads;
    int32_t iterations; // most in a step; what they do not reach is counted as missed
    talus_scheme scheme;
} bed;

// A bed of grains of 10 mm, mu = 0.5, about 20 deep, periodic along x and y, on a rough floor
// (fixed grains, and a plane under them: rocks slip through the gaps between rocks); gravity along
// `slope`.
static talus_world *make_bed(const bed *of, const talus_world *from) {
    const double d = 0.01, slope = of->slope;
    const int count = of->count;
    const int across = (int)round(sqrt(count / 20.0)) > 4 ? (int)round(sqrt(count / 20.0)) : 4;
    const double pitch = 1.06 * d, width = across * pitch;
    tl_rng rng = {.state = 9};
    talus_world_def def = talus_world_default();
    def.dim = 3;
    def.gravity[0] = 9.81 * sin(slope), def.gravity[1] = 0.0, def.gravity[2] = -9.81 * cos(slope);
    def.step = 1e-3;
    def.period[0] = def.period[1] = width;
    def.solver = of->solver;
    def.threads = of->threads;
    def.tolerance = of->tolerance;
    def.scheme = of->scheme;
    def.iterations = of->iterations;
    talus_world *w = make_world(&def, 0.5);
    const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
    talus_body_view b = {0};
    if (from) talus_world_bodies(from, &b);
    for (int k = 0; k < across * across + count; k++) {
        double point[3 * ROCK_CORNERS];
        const double radius = 0.5 * d * tl_rng_range(&rng, 0.9, 1.0);
        talus_shape_def shape = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
        talus_body_def body = talus_body_default();
        body.material = 1;
        if (of->rocks) {
            make_rock(&rng, radius, point);
            shape = (talus_shape_def){
                .kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = ROCK_CORNERS};
        }
        if (k < across * across) body.motion.kind = TALUS_MOTION_FIXED;
        body.position[0] = (k % across + 0.5) * pitch + tl_rng_range(&rng, -0.02 * d, 0.02 * d);
        body.position[1] =
            (k / across % across + 0.5) * pitch + tl_rng_range(&rng, -0.02 * d, 0.02 * d);
        body.position[2] = k / (across * across) * pitch;
        if (from) {
            memcpy(body.position, b.position + 3 * (ptrdiff_t)k, sizeof body.position);
            memcpy(body.orientation, b.orientation + 4 * (ptrdiff_t)k, sizeof body.orientation);
            memcpy(body.velocity, b.velocity + 3 * (ptrdiff_t)k, sizeof body.velocity);
            memcpy(body.spin, b.spin + 3 * (ptrdiff_t)k, sizeof body.spin);
        }
        must(talus_world_add_shape(w, &shape, &body.shape));
        must(talus_world_add_body(w, &body, NULL));
    }
    add_fixed(w, &plane, 0.0, 0.0, -0.5 * d);
    return w;
}

static void run_bed(bool rocks, const order *o) {
    const int count = o->size, threads = o->threads;
    const char *solver = o->solver;
    bed b = {.rocks = rocks,
             .count = count,
             .tolerance = 1e-4,
             .solver = solver,
             .threads = threads,
             .iterations = 300,
             .scheme = o->scheme};
    sums fill = {0}, settle = {0}, rest = {0}, begin = {0}, flow = {0};
    talus_world *loose = make_bed(&b, NULL);
    advance(loose, 400, &fill); // falls together
    print_row("fill", count, solver, threads, &fill);
    if (o->more > 0.0) b.iterations = (int32_t)o->more;
    talus_world *w = make_bed(&b, loose);
    talus_world_destroy(loose);
    advance(w, 600, &settle); // comes to rest
    print_row("settle", count, solver, threads, &settle);
    advance(w, 100, &rest);
    print_row("rest", count, solver, threads, &rest);
    b.slope = 0.5;
    talus_world *tilted = make_bed(&b, w);
    talus_world_destroy(w);
    advance(tilted, 200, &begin);
    print_row("tilt", count, solver, threads, &begin);
    advance(tilted, 100, &flow);
    print_row("flow", count, solver, threads, &flow);
    talus_world_destroy(tilted);
}

static void run_flow(const order *o) { run_bed(false, o); }

static void run_rocks(const order *o) { run_bed(true, o); }

static void run_size(const order *o) {
    for (int count = 1000; count <= o->size; count *= 10) {
        const int steps = count > 100000 ? 6 : 20;
        const bed b = {.count = count,
                       .tolerance = 1e-300,
                       .solver = o->solver,
                       .threads = o->threads,
                       .iterations = 10,
                       .scheme = o->scheme};
        talus_world *w = make_bed(&b, NULL);
        sums first = {0}, best = {0};
        advance(w, 60, &first); // until the bed has closed up
        best.total = INFINITY;
        for (int k = 0; k < steps; k++) {
            sums one = {0};
            advance(w, 1, &one);
            if (one.total < best.total) best = one;
        }
        print_row("size", count, o->solver, o->threads, &best);
        talus_world_destroy(w);
    }
}

// The scheme of this name, moreau-jean where none is given; false: there is none.
static bool find_scheme(const char *name, talus_scheme *out) {
    static const talus_scheme known[] = {TALUS_SCHEME_MOREAU_JEAN, TALUS_SCHEME_CONVEX,
                                         TALUS_SCHEME_FIXED_POINT};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        *out = known[k];
        if (!name || strcmp(talus_scheme_text(*out), name) == 0) return true;
    }
    return false;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    order o = {.size = argc > 2 ? (int)strtod(argv[2], NULL) : 0,
               .solver = argc > 3 ? argv[3] : "auto",
               .threads = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 2,
               .more = argc > 5 ? strtod(argv[5], NULL) : 0.0};
    static const struct {
        const char *name;
        void (*run)(const order *o);
    } cases[] = {{"box", run_box},
                 {"heap", run_heap},
                 {"flow", run_flow},
                 {"rocks", run_rocks},
                 {"size", run_size}};
    const bool known = find_scheme(argc > 6 ? argv[6] : NULL, &o.scheme);
    for (size_t k = 0; known && k < sizeof cases / sizeof *cases; k++) {
        if (strcmp(cases[k].name, name) != 0 || o.size < 1) continue;
        if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
        print_head();
        const double start = tl_seconds();
        cases[k].run(&o);
        fprintf(stderr, "%.1f s in all\n", tl_seconds() - start);
        talus_context_destroy(ctx);
        return 0;
    }
    fputs("usage: grains box|heap|flow|rocks|size SIZE [SOLVER] [THREADS] [SWEEPS [SCHEME]]\n",
          stderr);
    return 2;
}
