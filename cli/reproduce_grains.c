// SPDX-License-Identifier: Apache-2.0
// v-columns, v-beverloo and v-janssen: laws that every simulator of grains must find
// again. Lengths in grain diameters, g = 1, density such that a grain has mass 1.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double grains_pi = 3.14159265358979323846;

// What the worlds of this file differ in.
typedef struct grains_setup {
    int32_t dim;
    double step;     // the longest; √(d/g) = 1
    double max_move; // of a grain in a step; 0: steps are not shortened
    double tolerance;
    bool exact; // Coulomb's law, else the associated one
} grains_setup;

// A world of grains of diameter 1; `material` 1 has friction 1/2, `material` 2 has none. Under the
// associated law a contact that slides stays open by mu h |u_T|, half of what it slides in a step,
// and obeys the same bound on its force; every step is a convex problem, which sweeps with full
// inertia solve.
static bool grains_world(reproduce *r, const grains_setup *setup, talus_world **out) {
    talus_world_def def = talus_world_default();
    def.dim = setup->dim;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == def.dim - 1 ? -1.0 : 0.0;
    def.scheme = setup->exact ? TALUS_SCHEME_FIXED_POINT : TALUS_SCHEME_CONVEX;
    def.step = setup->step;
    def.max_move = setup->max_move;
    if (def.max_move <= 0.0) def.reach = 0.25;
    def.tolerance = setup->tolerance;
    def.threads = r->threads;
    if (!setup->exact) {
        def.solver = "nlgs";
        def.iterations = 2000;
    }
    talus_material_def rough = talus_material_default(), smooth = rough;
    rough.friction = 0.5;
    smooth.friction = 0.0;
    int32_t id;
    if (!reproduce_world(r, &def, &rough, setup->exact ? "" : "inertia=1 check=20", out))
        return false;
    if (talus_world_add_material(*out, &smooth, &id) == TALUS_OK) return true;
    talus_world_destroy(*out);
    return reproduce_failed(r);
}

static bool grains_fixed(reproduce *r, talus_world *w, const talus_shape_def *shape,
                         const double at[3], int32_t material) {
    talus_body_def body = talus_body_default();
    body.material = material;
    body.motion.kind = TALUS_MOTION_FIXED;
    for (int k = 0; k < 3; k++) body.position[k] = at[k];
    return reproduce_body(r, w, shape, &body);
}

static bool grains_add(reproduce *r, talus_world *w, double diameter, const double at[3]) {
    const talus_shape_def shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5 * diameter};
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.mass = pow(diameter, 3.0);
    for (int k = 0; k < 3; k++) body.position[k] = at[k];
    return reproduce_body(r, w, &shape, &body);
}

// Until the mean kinetic energy of a grain is below `level`, at most until the time `until`.
static bool grains_settle(reproduce *r, talus_world *w, double level, double until,
                          reproduce_sums *sums) {
    reproduce_sums part = {0};
    memset(sums, 0, sizeof *sums);
    while (talus_world_time(w) < until) {
        if (!reproduce_run(r, w, until, 10, NULL, NULL, &part)) return false;
        sums->steps += part.steps;
        sums->missed += part.missed;
        sums->seconds += part.seconds;
        sums->last = part.last;
        if (part.last.time > 1.0 && part.last.kinetic < level * part.last.bodies) break;
    }
    return true;
}

// ---- v-columns ----------------------------------------------------------------------------------

static const grains_setup column_setup[2] = {
    {.dim = 2, .step = 0.1, .max_move = 0.25, .tolerance = 1e-3},
    {.dim = 3, .step = 0.1, .max_move = 0.25, .tolerance = 1e-3}};

// Grains glued side by side to the ground, as far as a deposit may reach: on an even plane balls
// would roll on for ever.
static bool column_floor(reproduce *r, talus_world *w, int32_t dim, double far) {
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    const int n = (int)ceil(far);
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.motion.kind = TALUS_MOTION_FIXED;
    REPRODUCE_TRY(r, talus_world_add_shape(w, &ball, &body.shape));
    for (int i = dim == 2 ? 0 : -n; i <= n; i++)
        for (int j = dim == 2 ? 0 : -n; j <= (dim == 2 ? 0 : n); j++) {
            body.position[0] = i;
            body.position[1] = dim == 2 ? -0.5 : j;
            body.position[2] = dim == 2 ? 0.0 : -0.5;
            if (hypot(i, dim == 2 ? 0 : j) > n) continue;
            REPRODUCE_TRY(r, talus_world_add_body(w, &body, NULL));
        }
    return true;
}

// Fill a column of width (2D, from a wall) or radius (3D) `size` and height about `height`, let it
// settle between walls, and copy the grains into a world without the outer wall.
static bool column_fill(reproduce *r, int32_t dim, double size, double height, uint64_t seed,
                        talus_world **out) {
    const talus_shape_def ground = {.kind = TALUS_SHAPE_HALF_SPACE};
    const talus_shape_def left = {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {1.0, 0.0, 0.0}};
    const talus_shape_def right = {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {-1.0, 0.0, 0.0}};
    const talus_shape_def tube = {.kind = TALUS_SHAPE_DRUM, .radius = size, .height = INFINITY};
    const double origin[3] = {0.0, 0.0, 0.0}, edge[3] = {size, 0.0, 0.0};
    const double below[3] = {0.0, dim == 2 ? -0.5 : 0.0, dim == 2 ? 0.0 : -0.5};
    talus_world *w = NULL;
    reproduce_sums sums;
    if (!grains_world(r, &column_setup[dim - 2], &w)) return false;
    bool good = grains_fixed(r, w, &ground, below, 1) && column_floor(r, w, dim, size + 1.0);
    if (dim == 2)
        good = good && grains_fixed(r, w, &left, origin, 2) && grains_fixed(r, w, &right, edge, 2);
    else
        good = good && grains_fixed(r, w, &tube, origin, 2);
    // so many grains that they fill the column at the density of a random packing
    const double volume = dim == 2 ? size * height * 0.82 / (0.25 * grains_pi)
                                   : grains_pi * size * size * height * 0.6 / (grains_pi / 6.0);
    const int count = (int)volume;
    int placed = 0;
    for (int layer = 0; good && placed < count; layer++) {
        const double up = 0.65 + 1.13 * layer;
        const int n = (int)floor((dim == 2 ? size : 2.0 * size) / 1.13);
        for (int k = 0; good && placed < count && k < (dim == 2 ? n : n * n); k++) {
            const double u = (k % n + 0.5) * 1.13 + reproduce_random(&seed, 0.0, 0.01);
            const int row = k / n;
            const double v = (row + 0.5) * 1.13;
            double x[3] = {u, up, 0.0};
            if (dim == 3) {
                x[0] = u - size, x[1] = v - size, x[2] = up;
                if (hypot(x[0], x[1]) > size - 0.57) continue;
            }
            good = grains_add(r, w, reproduce_random(&seed, 0.9, 1.1), x);
            placed++;
        }
    }
    good = good && grains_settle(r, w, 1e-4, 20.0 + 4.0 * sqrt(height), &sums);
    talus_world *open = NULL;
    good = good && grains_world(r, &column_setup[dim - 2], &open);
    good =
        good && grains_fixed(r, open, &ground, below, 1) &&
        (dim == 3 || grains_fixed(r, open, &left, origin, 2)) &&
        column_floor(r, open, dim, size * (2.0 + 3.0 * pow(height / size, dim == 2 ? 0.7 : 0.5)));
    talus_body_view b;
    talus_world_bodies(w, &b);
    for (int32_t i = 0; good && i < b.count; i++) {
        if (b.motion[i] != TALUS_MOTION_FREE) continue;
        talus_shape_def shape;
        good = talus_world_shape_at(w, b.shape[i], &shape) &&
               grains_add(r, open, 2.0 * shape.radius, b.position + 3 * (ptrdiff_t)i);
    }
    talus_world_destroy(w);
    if (!good) talus_world_destroy(open);
    *out = good ? open : NULL;
    return good;
}

enum { COLUMN_RINGS = 200 };

// Where the deposit ends: in rings of two diameters around the wall or axis grains cover less and
// less of the ground, and where they cover half of it is the end. Single grains that roll away do
// not count.
static double column_front(const talus_world *w, int32_t dim) {
    const double width = 2.0;
    double covered[COLUMN_RINGS] = {0.0};
    talus_body_view b;
    talus_world_bodies(w, &b);
    for (int32_t i = 0; i < b.count; i++) {
        const double *x = b.position + 3 * (ptrdiff_t)i;
        if (b.motion[i] != TALUS_MOTION_FREE) continue;
        const double far = dim == 2 ? x[0] : hypot(x[0], x[1]), ring = floor(far / width);
        if (ring < COLUMN_RINGS)
            covered[(int)ring] +=
                dim == 2 ? 1.0 / width : 0.25 / (width * width * (2.0 * ring + 1.0));
    }
    int k = 0;
    while (k + 1 < COLUMN_RINGS && covered[k + 1] >= 0.5) k++;
    // linear between the middles of ring k, the last one that is covered, and the next
    const double inner = covered[k], outer = k + 1 < COLUMN_RINGS ? covered[k + 1] : 0.0;
    return width * (k + 0.5 + (inner - 0.5) / (inner - outer));
}

// All columns have about as many grains: narrow ones are tall. Where a
// front is a few grains, in 2D and for tall columns, the mean of two.
static bool columns_of(reproduce *r, int32_t dim, const double *aspect, int aspects, int grains,
                       plot *runouts, double *runout, int64_t *missed) {
    char *label = cli_text("%dD", (int)dim);
    plot_add_curve(runouts, label, false);
    free(label);
    for (int k = 0; k < aspects; k++) {
        const double size =
            dim == 2 ? sqrt(grains / (1.04 * aspect[k])) : cbrt(grains / (3.6 * aspect[k]));
        const int columns = dim == 2 || aspect[k] >= 4.0 ? 2 : 1;
        runout[k] = 0.0;
        for (int i = 0; i < columns; i++) {
            talus_world *w = NULL;
            reproduce_sums sums;
            if (!column_fill(r, dim, size, aspect[k] * size, 23 + (uint64_t)i, &w)) return false;
            const bool good =
                grains_settle(r, w, 1e-4, 40.0 + 12.0 * sqrt(aspect[k] * size), &sums);
            runout[k] += (column_front(w, dim) / size - 1.0) / columns;
            talus_world_destroy(w);
            if (!good) return false;
            *missed += sums.missed;
        }
        plot_add_point(runouts, aspect[k], runout[k]);
    }
    return true;
}

bool reproduce_columns(reproduce *r) {
    static const double aspect2[] = {0.5, 1.0, 2.0, 4.0, 8.0, 16.0};
    static const double aspect3[] = {0.5, 1.0, 2.0, 4.0, 8.0, 12.0};
    double runout2[6], runout3[6];
    int64_t missed = 0;
    plot *p = reproduce_plot(r, "run-out of columns", "initial height / width", true,
                             "run-out / width", true);
    if (!columns_of(r, 2, aspect2, 6, r->quick ? 500 : 3000, p, runout2, &missed)) return false;
    reproduce_expect(r, "2D: exponent of the run-out, a = 0.5 to 2", "",
                     reproduce_order(aspect2, runout2, 3), "1", 0.8, 1.3, NULL);
    reproduce_expect(r, "2D: exponent of the run-out, a = 4 to 16", "",
                     reproduce_order(aspect2 + 3, runout2 + 3, 3), "0.66 to 0.7", 0.58, 0.8, NULL);
    if (!columns_of(r, 3, aspect3, 6, r->quick ? 700 : 8000, p, runout3, &missed)) return false;
    reproduce_expect(r, "3D: exponent of the run-out, a = 0.5 to 2", "",
                     reproduce_order(aspect3, runout3, 3), "1", 0.8, 1.3, NULL);
    reproduce_expect(r, "3D: exponent of the run-out, a = 4 to 12", "",
                     reproduce_order(aspect3 + 3, runout3 + 3, 3), "0.5", 0.4, 0.6, NULL);
    reproduce_expect(r, "steps of collapses that missed 1e-3", "", (double)missed, "", 0.0, 0.0,
                     NULL);
    return true;
}

// ---- v-beverloo ---------------------------------------------------------------------------------

typedef struct silo_run {
    double from, to;   // grains out between which shares the rate is measured
    double begin, end; // times when they were reached
    int32_t count;
    plot *out;
} silo_run;

static void silo_each(void *user, const talus_world *w, const talus_ledger *l) {
    silo_run *run = user;
    talus_body_view b;
    talus_world_bodies(w, &b);
    int32_t out = 0;
    for (int32_t i = 0; i < b.count; i++)
        out += b.motion[i] == TALUS_MOTION_FREE && b.position[3 * (ptrdiff_t)i + 2] < -0.5;
    const double share = (double)out / run->count;
    if (run->begin <= 0.0 && share >= run->from) run->begin = l->time;
    if (run->end <= 0.0 && share >= run->to) run->end = l->time;
    plot_add_point(run->out, l->time, share);
}

// A square tube of width 16 with a floor of four boxes around a square opening, above a pit.
static bool silo_rate(reproduce *r, double opening, int count, plot *shares, double *rate) {
    const double width = r->quick ? 12.0 : 16.0;
    const talus_shape_def tube = {.kind = TALUS_SHAPE_CONTAINER,
                                  .half = {0.5 * width, 0.5 * width, INFINITY}};
    const double origin[3] = {0.0, 0.0, 0.0};
    talus_world *w = NULL;
    uint64_t seed = 29;
    const double rim = 0.25 * (width - opening), at = 0.25 * (width + opening);
    silo_run run = {.from = 0.15, .to = 0.55, .count = count, .out = shares};
    const grains_setup setup = {.dim = 3, .step = 0.05, .tolerance = 1e-3};
    if (!grains_world(r, &setup, &w)) return false;
    bool good = grains_fixed(r, w, &tube, origin, 2);
    for (int side = 0; good && side < 4; side++) {
        const double sign = side % 2 ? 1.0 : -1.0;
        const bool along_x = side < 2; // two long plates, two short ones between them
        const talus_shape_def plate = {
            .kind = TALUS_SHAPE_BOX,
            .half = {along_x ? rim : 0.5 * opening, along_x ? 0.5 * width : rim, 0.5}};
        const double x[3] = {along_x ? sign * at : 0.0, along_x ? 0.0 : sign * at, -0.5};
        good = grains_fixed(r, w, &plate, x, 1);
    }
    const int n = (int)(width / 1.13);
    for (int k = 0; good && k < count; k++) {
        const double pitch = width / n;
        const int layer = k / (n * n);
        const double x[3] = {
            (k % n + 0.5) * pitch - 0.5 * width + reproduce_random(&seed, -0.01, 0.01),
            (k / n % n + 0.5) * pitch - 0.5 * width + reproduce_random(&seed, -0.01, 0.01),
            0.6 + layer * 1.13};
        good = grains_add(r, w, reproduce_random(&seed, 0.9, 1.1), x);
    }
    char *label = cli_text("opening %g", opening);
    plot_add_curve(shares, label, false);
    free(label);
    while (good && run.end <= 0.0 && talus_world_time(w) < 400.0)
        good = reproduce_run(r, w, 400.0, 20, silo_each, &run, NULL);
    *rate = (run.to - run.from) * count / (run.end - run.begin);
    talus_world_destroy(w);
    return good;
}

bool reproduce_beverloo(reproduce *r) {
    const double opening[] = {4.0, 5.0, 6.0, 8.0};
    double less[4], rate[4];
    const int count = r->quick ? 1500 : 8000;
    plot *shares =
        reproduce_plot(r, "share of the grains that have left", "time", false, "share", false);
    for (int k = 0; k < 4; k++) {
        if (!silo_rate(r, opening[k], count, shares, &rate[k])) return false;
        less[k] = opening[k] - 1.4;
    }
    plot *p = reproduce_plot(r, "grains per time", "opening − 1.4 diameters", true, "rate", true);
    plot_add_curve(p, "measured", true);
    for (int k = 0; k < 4; k++) plot_add_point(p, less[k], rate[k]);
    reproduce_expect(r, "exponent of the rate over D − 1.4 d", "", reproduce_order(less, rate, 4),
                     "2.5", 2.35, 2.65, NULL);
    return true;
}

// ---- v-janssen ----------------------------------------------------------------------------------

typedef struct janssen_run {
    double force; // sum over steps of the force on the floor
    int64_t steps;
} janssen_run;

static void janssen_each(void *user, const talus_world *w, const talus_ledger *l) {
    janssen_run *run = user;
    talus_contact_view c;
    talus_world_contacts(w, &c);
    for (int32_t i = 0; i < c.count; i++)
        if (c.a[i] == 0 || c.b[i] == 0) // the floor is body 0
            run->force += (c.a[i] == 0 ? -1.0 : 1.0) * c.impulse[3 * (ptrdiff_t)i + 2] / l->h;
    run->steps++;
}

// The apparent mass: what the floor carries while it sinks slowly, so that walls carry all they
// can.
static bool janssen_one(reproduce *r, double radius, double height, bool exact, double *filled,
                        double *carried) {
    const grains_setup setup = {
        .dim = 3, .step = 0.1, .max_move = 0.1, .tolerance = 1e-3, .exact = exact};
    const talus_shape_def ground = {.kind = TALUS_SHAPE_HALF_SPACE};
    const talus_shape_def tube = {.kind = TALUS_SHAPE_DRUM, .radius = radius, .height = INFINITY};
    const double origin[3] = {0.0, 0.0, 0.0};
    talus_world *w = NULL;
    reproduce_sums sums;
    janssen_run run = {0};
    uint64_t seed = 31;
    double mass = 0.0;
    if (!grains_world(r, &setup, &w)) return false;
    bool good = grains_fixed(r, w, &ground, origin, 2) && grains_fixed(r, w, &tube, origin, 1);
    // so many that they fill the tube to `height` at the density of a loose packing
    const int count = (int)(radius * radius * height * 6.0 * 0.58);
    const int n = (int)ceil(2.0 * radius / 1.13);
    for (int k = 0, placed = 0; good && placed < count; k++) {
        const int layer = k / (n * n);
        const double x[3] = {(k % n - 0.5 * (n - 1)) * 1.13 + reproduce_random(&seed, -0.01, 0.01),
                             (k / n % n - 0.5 * (n - 1)) * 1.13 +
                                 reproduce_random(&seed, -0.01, 0.01),
                             0.6 + layer * 1.13};
        if (hypot(x[0], x[1]) > radius - 0.57) continue;
        placed++;
        const double d = reproduce_random(&seed, 0.9, 1.1);
        mass += d * d * d;
        good = grains_add(r, w, d, x);
    }
    good = good && grains_settle(r, w, 1e-6, 40.0, &sums);
    const talus_motion_def sink = {.kind = TALUS_MOTION_VELOCITY, .velocity = {0.0, 0.0, -0.02}};
    good = good && (talus_world_set_motion(w, 0, &sink) == TALUS_OK || reproduce_failed(r));
    good = good && reproduce_run(r, w, talus_world_time(w) + 10.0, 0, NULL, NULL, &sums) &&
           reproduce_run(r, w, talus_world_time(w) + 30.0, 0, janssen_each, &run, &sums);
    *filled = mass;
    *carried = run.force / (double)run.steps;
    talus_world_destroy(w);
    return good;
}

bool reproduce_janssen(reproduce *r) {
    static const double height[] = {1.0, 2.0, 4.0, 8.0, 12.0}; // in radii
    const double radius = r->quick ? 3.0 : 5.0;
    double filled[5] = {0.0}, carried[5] = {0.0};
    const int count = r->quick ? 4 : 5;
    plot *p = reproduce_plot(r, "mass that the floor carries", "filled mass", false, "carried mass",
                             false);
    plot_add_curve(p, "measured", true);
    for (int k = 0; k < count; k++) {
        if (!janssen_one(r, radius, height[k] * radius, false, &filled[k], &carried[k]))
            return false;
        plot_add_point(p, filled[k], carried[k]);
    }
    reproduce_expect(r, "share the floor carries, filled to one radius", "", carried[0] / filled[0],
                     "near 1", 0.6, 1.01, NULL);
    reproduce_expect(r, "carried by the floor, filled to eight radii over four", "",
                     carried[3] / carried[2], "1 (saturates)", 0.85, 1.25, NULL);
    reproduce_expect(r, "share the floor carries, filled to eight radii", "",
                     carried[3] / filled[3], "well below 1", 0.0, 0.5, NULL);
    return true;
}
