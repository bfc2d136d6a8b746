// SPDX-License-Identifier: Apache-2.0
// s-energy, s-tower, s-drag, s-hole: sand as a continuum against G. Daviet's thesis (2016, chapters
// 6 and 7): energy that never rises, a tower that stands by its cohesion, the drag of a cylinder,
// Beverloo's law in space.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

// ---- energy ------------------------------------------------------------------------------------

typedef struct energy {
    double start, now, rise; // the largest rise in a step
    plot *path;
} energy;

static void energy_each(void *user, const talus_world *w, const talus_ledger *l) {
    (void)w;
    energy *e = user;
    const double now = l->kinetic + l->potential;
    if (l->step == 1)
        e->start = now;
    else
        e->rise = fmax(e->rise, now - e->now);
    e->now = now;
    plot_add_point(e->path, l->time, now / e->start);
}

bool reproduce_sand_energy(reproduce *r) {
    enum { WIDE = 10, HIGH = 14 };
    talus_sand_def s = talus_sand_default();
    talus_world *w;
    s.cell = 0.025;
    s.cells[0] = 6 * WIDE, s.cells[1] = HIGH + 2;
    s.face[1][0] = TALUS_FACE_STICK;
    energy e = {.path = reproduce_plot(r, "energy", "time [s]", false, "E / E0", false)};
    plot_add_curve(e.path, "kinetic and potential", false);
    s.height = HIGH * s.cell;
    if (!reproduce_sand_world(r, 2, 4e-3, &s, 0.5, 1e-3, &w)) return false;
    const int low[3] = {0}, high[3] = {WIDE, HIGH, 1};
    const bool good = reproduce_sand_fill(r, w, 2, &s, low, high) &&
                      reproduce_run(r, w, 1.2, 0, energy_each, &e, NULL);
    talus_world_destroy(w);
    if (!good) return false;
    reproduce_expect(r, "largest rise of the energy in a step, of the first", "", e.rise / e.start,
                     "never rises", 0.0, 1e-6, NULL);
    reproduce_expect(r, "energy at the end, of the first", "", e.now / e.start, "less than 1", 0.1,
                     0.9, NULL);
    return true;
}

// ---- tower -------------------------------------------------------------------------------------

typedef struct tower {
    const char *what;
    talus_stress stress;
    talus_packed packed;
    double off; // cells by which it is off the grid
    bool stands;
} tower;

// Height that it has after 0.3 s, of what it had.
static bool tower_run(reproduce *r, const tower *t, double *left) {
    enum { WIDE = 6, HIGH = 20, PER = 2 };
    talus_sand_def s = talus_sand_default();
    talus_world *w;
    s.cell = 0.02;
    s.cells[0] = 5 * WIDE, s.cells[1] = HIGH + 4;
    s.cohesion = 1e4;
    s.stress = t->stress;
    s.packed = t->packed;
    s.face[1][0] = TALUS_FACE_STICK;
    s.height = HIGH * s.cell;
    if (!reproduce_sand_world(r, 2, 2e-3, &s, 0.5, 1e-3, &w)) return false;
    const double size = s.cell / PER;
    bool good = true;
    double top = 0.0, before = 0.0;
    for (int i = 0; good && i < PER * PER * WIDE * HIGH; i++) {
        const int column = i % (PER * WIDE), row = i / (PER * WIDE);
        const double x[3] = {(2 * WIDE + t->off) * s.cell + (column + 0.5) * size,
                             (row + 0.5) * size, 0.0};
        before = fmax(before, x[1]);
        good = talus_world_add_particles(w, 1, x, NULL, size, s.fraction) == TALUS_OK;
    }
    if (!good) reproduce_failed(r);
    good = good && reproduce_run(r, w, 0.3, 0, NULL, NULL, NULL);
    talus_sand_view v;
    talus_world_sand(w, &v);
    for (int64_t i = 0; i < v.count; i++) top = fmax(top, v.position[3 * i + 1]);
    *left = top / before;
    talus_world_destroy(w);
    return good;
}

bool reproduce_sand_tower(reproduce *r) {
    static const tower row[] = {
        {"stresses at nodes, on the grid", TALUS_STRESS_Q1, TALUS_PACKED_NO, 0.0, true},
        {"stresses at particles, on the grid", TALUS_STRESS_PARTICLE, TALUS_PACKED_NO, 0.0, true},
        {"stresses at particles, off the grid", TALUS_STRESS_PARTICLE, TALUS_PACKED_NO, 0.37, true},
        {"stresses at nodes, off the grid", TALUS_STRESS_Q1, TALUS_PACKED_NO, 0.37, false},
        {"stresses at nodes, off the grid, packed at rest (our default)", TALUS_STRESS_Q1,
         TALUS_PACKED_REST, 0.37, true},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        double left;
        if (!tower_run(r, &row[k], &left)) return false;
        char *what = cli_text("height left: %s", row[k].what);
        reproduce_expect(r, what, "", left, row[k].stands ? "stands" : "does not stand as it was",
                         row[k].stands ? 0.99 : 0.0, row[k].stands ? 1.01 : 0.99, NULL);
        free(what);
    }
    return true;
}

// ---- drag --------------------------------------------------------------------------------------

typedef struct drag {
    double speed, from; // of the cylinder; of the way, from where on work counts
    double work, way;
} drag;

static void drag_each(void *user, const talus_world *w, const talus_ledger *l) {
    (void)w;
    drag *d = user;
    if (d->speed * l->time < d->from) return;
    d->work += l->work_obstacles;
    d->way += d->speed * l->h;
}

// Mean pressure of the nodes within a diameter before (side 1) or behind the cylinder at (x, y).
static double drag_pressure(const talus_world *w, const talus_sand_def *s, double x, double y,
                            double radius, int side) {
    talus_sand_view v;
    double sum = 0.0, count = 0.0;
    talus_world_sand(w, &v);
    for (int64_t i = 0; i < v.nodes; i++) {
        const double at[2] = {(double)(v.node[i] & 0x1fffff) * s->cell,
                              (double)(v.node[i] >> 21 & 0x1fffff) * s->cell};
        const double ahead = side * (at[0] - x);
        if (ahead < 1.2 * radius || ahead > 2.5 * radius || fabs(at[1] - y) > 0.6 * radius)
            continue;
        sum += v.node_stress[3 * i];
        count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
}

bool reproduce_sand_drag(reproduce *r) {
    enum { SPEEDS = 4 };
    static const double speed[SPEEDS] = {0.1, 0.2, 0.4, 0.8};
    const double radius = 0.05, depth = 0.3;
    const int per = r->quick ? 4 : 5; // cells of a diameter
    double coefficient[SPEEDS], pressure[2] = {0};
    talus_sand_def s = talus_sand_default();
    s.cell = 2.0 * radius / per;
    s.cells[0] = 10 * per, s.cells[1] = 6 * per;
    s.height = 5 * per * s.cell;
    s.friction = 0.3;
    s.material = 1;
    plot *law = reproduce_plot(r, "drag", "U / √(g D)", true, "C_D = F/(ρ φ U² D/2)", true);
    plot_add_curve(law, "measured", true);
    for (int k = 0; k < SPEEDS; k++) {
        talus_world *w;
        drag d = {.speed = speed[k], .from = 0.06};
        if (!reproduce_sand_world(r, 2, fmin(4e-3, 0.2 * s.cell / speed[k]), &s, 0.0, 1e-3, &w))
            return false;
        const talus_shape_def disk = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
        talus_body_def body = talus_body_default();
        body.material = 1;
        body.motion.kind = TALUS_MOTION_VELOCITY;
        body.motion.velocity[0] = speed[k];
        body.position[0] = 0.4, body.position[1] = depth;
        const int low[3] = {0}, high[3] = {10 * per, 5 * per, 1};
        const bool good = reproduce_body(r, w, &disk, &body) &&
                          reproduce_sand_fill(r, w, 2, &s, low, high) &&
                          reproduce_run(r, w, 0.12 / speed[k], 0, drag_each, &d, NULL);
        for (int side = 0; good && k == 0 && side < 2; side++)
            pressure[side] = drag_pressure(w, &s, 0.4 + 0.12, depth, radius, side ? 1 : -1);
        talus_world_destroy(w);
        if (!good) return false;
        coefficient[k] =
            d.work / d.way / (0.5 * s.density * s.fraction * speed[k] * speed[k] * 2.0 * radius);
        plot_add_point(law, speed[k] / sqrt(9.81 * 2.0 * radius), coefficient[k]);
    }
    reproduce_expect(r, "exponent of C_D over the speed, slow", "",
                     reproduce_order(speed, coefficient, 2),
                     "-2 (a force that does not depend on it)", -2.2, -1.7, NULL);
    reproduce_expect(r, "exponent of C_D over the speed, all", "",
                     reproduce_order(speed, coefficient, SPEEDS), "straight lines", -2.2, -1.4,
                     NULL);
    reproduce_expect(r, "pressure behind the cylinder over that before it", "",
                     pressure[0] / pressure[1], "0 in the wake", 0.0, 0.5, NULL);
    return true;
}

// ---- a hole ------------------------------------------------------------------------------------

typedef struct hole {
    int count;
    double full, time[4000], lost[4000];
} hole;

static void hole_each(void *user, const talus_world *w, const talus_ledger *l) {
    hole *h = user;
    talus_sand_view v;
    talus_world_sand(w, &v);
    if (h->count == 4000) return;
    h->time[h->count] = l->time;
    h->lost[h->count++] = v.lost;
}

// Rate at which volume of grains leaves through a square hole of `opening` cells, once a tenth of
// it has until a quarter has.
static bool hole_run(reproduce *r, int wide, int high, double opening, double *rate) {
    enum { BELOW = 2, FLOOR = 2 }; // cells
    talus_sand_def s = talus_sand_default();
    talus_world *w;
    hole *h = cli_alloc(1, sizeof *h);
    s.cell = 0.05 / wide;
    s.cells[0] = s.cells[1] = wide, s.cells[2] = high + BELOW + FLOOR + 1;
    s.height = high * s.cell;
    s.friction = 0.4;
    s.correction = 0.1; // as in the silo
    s.material = 1;
    s.face[2][0] = TALUS_FACE_FREE;
    if (!reproduce_sand_world(r, 3, r->quick ? 2e-3 : 1e-3, &s, 0.4, 1e-3, &w)) {
        free(h);
        return false;
    }
    // four boxes about the hole, which go on behind the walls
    const double full = 0.05, gap = opening * s.cell, behind = 0.01;
    const double side = 0.25 * (full - gap) + 0.5 * behind, far = 0.5 * full + behind;
    bool good = true;
    for (int k = 0; k < 4; k++) {
        const int along = k / 2, across = 1 - along;
        talus_shape_def box = {.kind = TALUS_SHAPE_BOX};
        talus_body_def body = talus_body_default();
        box.half[along] = side;
        box.half[across] = along == 0 ? far : 0.5 * gap;
        box.half[2] = 0.5 * FLOOR * s.cell;
        body.motion.kind = TALUS_MOTION_FIXED;
        body.material = 1;
        body.position[along] = k % 2 == 0 ? side - behind : full - side + behind;
        body.position[across] = 0.5 * full;
        body.position[2] = (BELOW + 0.5 * FLOOR) * s.cell;
        good = good && reproduce_body(r, w, &box, &body);
    }
    const int low[3] = {0, 0, BELOW + FLOOR}, top[3] = {wide, wide, BELOW + FLOOR + high};
    good = good && reproduce_sand_fill(r, w, 3, &s, low, top);
    h->full = s.fraction * wide * wide * high * s.cell * s.cell * s.cell;
    do good = good && reproduce_run(r, w, 20.0, 20, hole_each, h, NULL);
    while (good && h->lost[h->count - 1] < 0.25 * h->full && h->count + 20 < 4000);
    int first = 0;
    while (first + 1 < h->count && h->lost[first] < 0.1 * h->full) first++;
    *rate = (h->lost[h->count - 1] - h->lost[first]) / (h->time[h->count - 1] - h->time[first]);
    talus_world_destroy(w);
    free(h);
    return good;
}

bool reproduce_sand_hole(reproduce *r) {
    enum { MOST = 4 };
    const int wide = r->quick ? 10 : 16, holes = r->quick ? 3 : MOST;
    const double cell = 0.05 / wide;
    double width[MOST], flow[MOST];
    for (int k = 0; k < holes; k++) {
        width[k] = 3.5 + 2.0 * k; // edges a quarter of a cell from nodes, all on one side
        if (!hole_run(r, wide, wide, width[k], &flow[k])) return false;
        flow[k] /= 0.6 * cell * cell * sqrt(9.81 * cell);
    }
    reproduce_sand_beverloo(r, 3, holes, width, flow);
    return true;
}
