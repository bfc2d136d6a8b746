// SPDX-License-Identifier: Apache-2.0
// s-columns, s-column, s-silo, s-impact: sand as a continuum against G. Daviet's thesis (Modeling
// and simulating complex materials subject to frictional contact, 2016, chapter 7) and the laws
// that it compares with. Friction is √J₂/p at yield, as in talus_sand_def.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

// A world with sand in a box whose floor is rough and whose sides are smooth.
bool reproduce_sand_world(reproduce *r, int32_t dim, double step, const talus_sand_def *sand,
                          double wall, double tolerance, talus_world **out) {
    talus_world_def def = talus_world_default();
    talus_material_def material = talus_material_default();
    def.dim = dim;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == dim - 1 ? -9.81 : 0.0;
    def.scheme = TALUS_SCHEME_FIXED_POINT;
    def.step = step;
    def.max_move = sand->cell;
    def.tolerance = tolerance;
    def.solver = "nlgs";
    def.iterations = 2000;
    def.threads = r->threads;
    material.friction = wall;
    if (!reproduce_world(r, &def, &material, "", out)) return false;
    if (talus_world_add_sand(*out, sand) == TALUS_OK) return true;
    talus_world_destroy(*out);
    *out = NULL;
    return reproduce_failed(r);
}

// Fill the cells from low to high (exclusive) with particles, two along each edge.
bool reproduce_sand_fill(reproduce *r, talus_world *w, int32_t dim, const talus_sand_def *sand,
                         const int low[3], const int high[3]) {
    const double size = 0.5 * sand->cell;
    const int deep = dim == 3 ? 2 * (high[2] - low[2]) : 1;
    for (int k = 0; k < deep; k++)
        for (int j = 2 * low[1]; j < 2 * high[1]; j++)
            for (int i = 2 * low[0]; i < 2 * high[0]; i++) {
                const double x[3] = {(i + 0.5) * size, (j + 0.5) * size,
                                     dim == 3 ? (2 * low[2] + k + 0.5) * size : 0.0};
                REPRODUCE_TRY(r, talus_world_add_particles(w, 1, x, NULL, size, sand->fraction));
            }
    return true;
}

static double sand_volume(const talus_world *w) {
    talus_sand_view v;
    double sum = 0.0;
    talus_world_sand(w, &v);
    for (int64_t i = 0; i < v.count; i++) sum += v.volume[i];
    return sum;
}

static int sand_compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// The place along an axis below which a share of the particles is.
static double sand_quantile(const talus_world *w, int axis, double share) {
    talus_sand_view v;
    talus_world_sand(w, &v);
    double *x = cli_alloc((size_t)v.count, sizeof *x);
    for (int64_t i = 0; i < v.count; i++) x[i] = v.position[3 * i + axis];
    qsort(x, (size_t)v.count, sizeof *x, sand_compare);
    const double out = x[(int64_t)(share * (double)(v.count - 1))];
    free(x);
    return out;
}

// ---- columns -----------------------------------------------------------------------------------

typedef struct column {
    int32_t dim;
    int wide, high;       // of the column, in cells
    int box[3];           // in cells
    double width;         // of the column [m]
    double correction;    // of what is too dense
    double run_out, rest; // (L∞ − L0)/L0 and H∞/H0
} column;

// A column against a smooth wall falls on a rough floor, and runs until 5 √(H0/g).
static bool column_run(reproduce *r, column *c, plot *shape) {
    talus_sand_def s = talus_sand_default();
    talus_world *w;
    const int up = c->dim - 1;
    s.cell = c->width / c->wide;
    for (int k = 0; k < 3; k++) s.cells[k] = c->box[k];
    s.friction = 0.32;
    s.friction_flow = 0.6;
    s.inertial = 0.4;
    s.diameter = 0.04 * c->width;
    s.correction = c->correction;
    s.face[up][0] = TALUS_FACE_STICK;
    s.height = s.cell * c->high;
    const double height = s.height, until = 5.0 * sqrt(height / 9.81);
    if (!reproduce_sand_world(r, c->dim, until / 400.0, &s, 0.5, 1e-3, &w)) return false;
    const int low[3] = {0}, high[3] = {c->wide, c->dim == 2 ? c->high : c->box[1], c->high};
    const bool good = reproduce_sand_fill(r, w, c->dim, &s, low, high) &&
                      reproduce_run(r, w, until, 0, NULL, NULL, NULL);
    // A few grains at the front fly ahead of the rest: the last thousandth is left out.
    if (good) {
        const double aspect = height / c->width;
        char *label = cli_text("a = %.3g, %dD", aspect, (int)c->dim);
        c->run_out = sand_quantile(w, 0, 0.999) / c->width - 1.0;
        c->rest = (sand_quantile(w, up, 1.0) + 0.25 * s.cell) / height;
        plot_add_curve(shape, label, true);
        talus_sand_view v;
        talus_world_sand(w, &v);
        for (int64_t i = 0; i < v.count; i += 1 + v.count / 1000)
            plot_add_point(shape, v.position[3 * i] / c->width, v.position[3 * i + up] / c->width);
        free(label);
    }
    talus_world_destroy(w);
    return good;
}

bool reproduce_sand_columns(reproduce *r) {
    static const double aspect[] = {0.5, 1.0, 2.0, 4.0, 6.0, 9.0};
    enum { COUNT = 6, LOW = 3 };
    const int wide = r->quick ? 20 : 40;
    double run_out[COUNT];
    plot *shape = reproduce_plot(r, "deposits", "x / L0", false, "y / L0", false);
    for (int k = 0; k < COUNT; k++) {
        column c = {.dim = 2, .wide = wide, .high = (int)lround(aspect[k] * wide), .width = 0.25};
        c.box[0] = (int)(wide * (3.0 + 4.0 * aspect[k]));
        c.box[1] = c.high + 2;
        if (!column_run(r, &c, shape)) return false;
        run_out[k] = c.run_out;
    }
    plot *law = reproduce_plot(r, "run-out", "a = H0/L0", true, "(L∞ − L0)/L0", true);
    plot_add_curve(law, "measured", true);
    for (int k = 0; k < COUNT; k++) plot_add_point(law, aspect[k], run_out[k]);
    plot_add_curve(law, "1.82 a^1.1, 2.8 a^0.73", false);
    for (int k = 0; k < COUNT; k++)
        plot_add_point(law, aspect[k],
                       k < LOW ? 1.82 * pow(aspect[k], 1.1) : 2.8 * pow(aspect[k], 0.73));
    reproduce_expect(r, "run-out at a = 1", "L0", run_out[1], "1.82", 1.4, 2.2, NULL);
    reproduce_expect(r, "exponent for a = 0.5, 1, 2", "", reproduce_order(aspect, run_out, LOW),
                     "1.1 (experiments: 1)", 0.9, 1.2, NULL);
    reproduce_expect(r, "exponent for a = 4, 6, 9", "",
                     reproduce_order(aspect + LOW, run_out + LOW, COUNT - LOW),
                     "0.73 (experiments: 2/3)", 0.6, 0.8, NULL);
    return true;
}

// The grid is the source's along the floor: eight cells across the column.
bool reproduce_sand_column(reproduce *r) {
    column c = {.dim = 3, .wide = 8, .high = 11, .width = 0.25, .correction = 0.05};
    c.box[0] = 5 * c.wide, c.box[1] = r->quick ? 2 : c.wide, c.box[2] = c.high + 2;
    plot *shape = reproduce_plot(r, "deposit", "x / L0", false, "z / L0", false);
    if (!column_run(r, &c, shape)) return false;
    reproduce_expect(r, "height at rest", "H0", c.rest, "0.56", 0.53, 0.59, NULL);
    reproduce_expect(r, "run-out", "L0", c.run_out, "2.98", 2.73, 3.23, NULL);
    return true;
}

// ---- silos -------------------------------------------------------------------------------------

enum { SILO_MOST = 4000 };
typedef struct silo {
    int wide, high, opening; // in cells
    double friction;
    double full; // volume at first
    int count;
    double time[SILO_MOST], left[SILO_MOST]; // share of the volume that is left
} silo;

static void silo_each(void *user, const talus_world *w, const talus_ledger *l) {
    silo *s = user;
    talus_sand_view v;
    talus_world_sand(w, &v);
    if (s->count == SILO_MOST) return;
    s->time[s->count] = l->time;
    s->left[s->count++] = 1.0 - v.lost / s->full;
}

// Least squares over the samples with a share in [low, high]: rate of loss and R².
static bool silo_fit(const silo *s, double low, double high, double *rate, double *square) {
    double n = 0.0, st = 0.0, sv = 0.0, stt = 0.0, stv = 0.0, svv = 0.0;
    for (int k = 0; k < s->count; k++) {
        const double t = s->time[k], v = s->left[k];
        if (v < low || v > high) continue;
        n += 1.0, st += t, sv += v, stt += t * t, stv += t * v, svv += v * v;
    }
    const double vt = n * stv - st * sv, tt = n * stt - st * st, vv = n * svv - sv * sv;
    *rate = -vt / tt;
    *square = vt * vt / (tt * vv);
    return n > 5.0;
}

// Width of the opening, in cells.
static double silo_width(const silo *s) { return s->opening - 0.5; }

// A flat-bottomed silo of width 0.5 m: the floor is two boxes with a gap, two cells above the end
// of the box, through which the sand leaves. Ends when `until` of it is left.
static bool silo_run(reproduce *r, silo *s, double until) {
    enum { BELOW = 2, FLOOR = 3 }; // cells
    talus_sand_def sand = talus_sand_default();
    talus_world *w;
    sand.cell = 0.5 / s->wide;
    sand.cells[0] = s->wide;
    sand.cells[1] = s->high + BELOW + FLOOR + 1;
    sand.friction = s->friction;
    sand.correction = 0.1; // else cells fill up as it flows, and more leaves for it
    sand.material = 1;
    sand.face[1][0] = TALUS_FACE_FREE;
    sand.height = s->high * sand.cell;
    s->count = 0;
    if (!reproduce_sand_world(r, 2, 2.5e-3, &sand, s->friction, 1e-3, &w)) return false;
    // They go on behind the walls, and their edges are a quarter of a cell beyond a node, lest it
    // be chance whether a node at a corner is held by the top or by the side.
    const double behind = 0.1, gap = silo_width(s) * sand.cell;
    const double half = 0.25 * (0.5 - gap) + 0.5 * behind;
    const talus_shape_def box = {.kind = TALUS_SHAPE_BOX,
                                 .half = {half, 0.5 * FLOOR * sand.cell, 1.0}};
    bool good = true;
    for (int side = 0; side < 2; side++) {
        talus_body_def body = talus_body_default();
        body.motion.kind = TALUS_MOTION_FIXED;
        body.material = 1;
        body.position[0] = side == 0 ? half - behind : 0.5 - half + behind;
        body.position[1] = (BELOW + 0.5 * FLOOR) * sand.cell;
        good = good && reproduce_body(r, w, &box, &body);
    }
    const int low[3] = {0, BELOW + FLOOR, 0};
    const int high[3] = {s->wide, BELOW + FLOOR + s->high, 1};
    good = good && reproduce_sand_fill(r, w, 2, &sand, low, high);
    if (good) s->full = sand_volume(w);
    do good = good && reproduce_run(r, w, 20.0, 20, silo_each, s, NULL);
    while (good && s->left[s->count - 1] > until && s->count + 20 < SILO_MOST);
    talus_world_destroy(w);
    return good;
}

static bool silo_clock(reproduce *r, silo *s, plot *left) {
    static const double friction[] = {0.0, 0.3, 0.5};
    for (int k = 0; k < 3; k++) {
        double rate[3], square;
        s->friction = friction[k];
        s->opening = s->wide / 5;
        if (!silo_run(r, s, k == 0 ? 0.25 : 0.2)) return false;
        char *label = cli_text("mu = %g", friction[k]);
        char *what =
            k == 0 ? cli_text("mu = 0: rate at 0.35 of the volume over that at 0.85")
                   : cli_text("mu = %g: R² of a constant rate, V/V0 in [0.2, 0.9]", friction[k]);
        plot_add_curve(left, label, false);
        for (int i = 0; i < s->count; i += 5) plot_add_point(left, s->time[i], s->left[i]);
        if (k == 0) {
            if (silo_fit(s, 0.8, 0.9, &rate[0], &square) &&
                silo_fit(s, 0.3, 0.4, &rate[1], &square))
                reproduce_expect(r, what, "", rate[1] / rate[0], "decreasing", 0.4, 0.8, NULL);
        } else if (silo_fit(s, 0.2, 0.9, &rate[0], &square)) {
            reproduce_expect(r, what, "", square, "constant", 0.99, 1.0, NULL);
        }
        free(label);
        free(what);
    }
    return true;
}

void reproduce_sand_beverloo(reproduce *r, int dim, int count, const double *width,
                             const double *flow) {
    const char *const power = dim == 2 ? "2/3" : "2/5";
    double sd = 0.0, sq = 0.0, sdd = 0.0, sdq = 0.0, sqq = 0.0;
    char *label = cli_text("(Q/√g)^(%s) / cell", power);
    plot *law = reproduce_plot(r, "flow through an opening", "D / cell", false, label, false);
    free(label);
    plot_add_curve(law, "measured", true);
    for (int k = 0; k < count; k++) {
        const double d = width[k] + 1.5, q = pow(flow[k], 2.0 / (2.0 * dim - 1.0));
        plot_add_point(law, d, q);
        sd += d, sq += q, sdd += d * d, sdq += d * q, sqq += q * q;
    }
    const double dq = count * sdq - sd * sq, dd = count * sdd - sd * sd, qq = count * sqq - sq * sq;
    const double slope = dq / dd, offset = (sd - sq / slope) / count;
    plot_add_curve(law, "line", false);
    for (int k = 0; k < count; k += count - 1)
        plot_add_point(law, width[k] + 1.5, slope * (width[k] + 1.5 - offset));
    char *what = cli_text("Beverloo: R² of Q^(%s) over D", power);
    reproduce_expect(r, what, "", dq * dq / (dd * qq), "1", 0.99, 1.0, NULL);
    free(what);
    reproduce_expect(r, "Beverloo: k", "cells", offset, "about 2", 2.0, 2.5, NULL);
    if (dim == 2)
        reproduce_expect(r, "Beverloo: C = Q/(√g (D − k)^1.5)", "", pow(slope, 1.5),
                         "1.35 to 1.7, 1.35 with mu = 0.5", 1.3, 1.8, NULL);
}

static bool silo_beverloo(reproduce *r, silo *s) {
    enum { WIDTHS = 4 };
    double width[WIDTHS], flow[WIDTHS];
    s->friction = 0.5;
    for (int k = 0; k < WIDTHS; k++) {
        double rate, square;
        s->opening = (r->quick ? 4 : 6) + 2 * k;
        if (!silo_run(r, s, 0.4)) return false;
        if (!silo_fit(s, 0.45, 0.8, &rate, &square)) return true; // no row: it did not flow
        width[k] = silo_width(s);
        flow[k] = rate * s->wide * s->high * sqrt(0.5 / s->wide / 9.81);
    }
    reproduce_sand_beverloo(r, 2, WIDTHS, width, flow);
    return true;
}

bool reproduce_sand_silo(reproduce *r) {
    silo *s = cli_alloc(1, sizeof *s);
    s->wide = r->quick ? 30 : 40;
    s->high = s->wide * 14 / 10;
    plot *left = reproduce_plot(r, "sand that is left", "time [s]", false, "V / V0", false);
    const bool good = silo_clock(r, s, left) && silo_beverloo(r, s);
    free(s);
    return good;
}

// ---- impact ------------------------------------------------------------------------------------

typedef struct impact {
    double start, energy, rise; // the largest rise in a step
    double depth;
    plot *path;
} impact;

static void impact_each(void *user, const talus_world *w, const talus_ledger *l) {
    impact *x = user;
    talus_body_view b;
    const double energy = l->kinetic + l->potential;
    talus_world_bodies(w, &b);
    if (l->step == 1) x->start = energy;
    if (l->step > 1) x->rise = fmax(x->rise, energy - x->energy);
    x->energy = energy;
    plot_add_point(x->path, l->time, b.position[1]);
}

// A disk (ratio of densities that of tungsten and sand) falls into sand.
bool reproduce_sand_impact(reproduce *r) {
    const int wide = r->quick ? 30 : 50, deep = 3 * wide / 5;
    talus_sand_def s = talus_sand_default();
    talus_world *w;
    s.cell = 1.0 / wide;
    s.cells[0] = wide, s.cells[1] = 2 * wide;
    s.density = 1600.0 / s.fraction;
    s.material = 1;
    s.face[1][0] = TALUS_FACE_STICK;
    s.height = deep * s.cell;
    if (!reproduce_sand_world(r, 2, 2e-3, &s, 0.3, 1e-3, &w)) return false;
    const talus_shape_def disk = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    talus_body_def body = talus_body_default();
    body.mass = 19250.0 * 3.14159265358979 * 0.01;
    body.material = 1;
    body.position[0] = 0.5;
    body.position[1] = deep * s.cell + 0.11;
    body.velocity[1] = -3.0;
    impact x = {.path = reproduce_plot(r, "the disk", "time [s]", false, "height [m]", false)};
    plot_add_curve(x.path, "centre", false);
    const int low[3] = {0}, high[3] = {wide, deep, 1};
    reproduce_sums sums;
    bool good = reproduce_body(r, w, &disk, &body) && reproduce_sand_fill(r, w, 2, &s, low, high) &&
                reproduce_run(r, w, 0.9, 0, impact_each, &x, &sums);
    if (good) {
        talus_body_view b;
        talus_sand_view v;
        double side[2] = {0};
        talus_world_bodies(w, &b);
        talus_world_sand(w, &v);
        for (int64_t i = 0; i < v.count; i++) // potential of each side
            side[v.position[3 * i] > 0.5] += v.volume[i] * v.position[3 * i + 1];
        reproduce_expect(r, "depth of the disk's lowest point", "diameters",
                         (deep * s.cell - b.position[1] + 0.1) / 0.2, "finite", 0.5, 2.9, NULL);
        reproduce_expect(r, "speed of the disk at the end", "m/s", fabs(b.velocity[1]), "0", 0.0,
                         0.05, NULL);
        reproduce_expect(r, "crater: difference of the two sides", "",
                         fabs(side[0] / side[1] - 1.0), "symmetric", 0.0, 0.03, NULL);
        reproduce_expect(r, "largest rise of the energy in a step, of the first", "",
                         x.rise / x.start, "never rises", 0.0, 1e-5, NULL);
    }
    talus_world_destroy(w);
    return good;
}
