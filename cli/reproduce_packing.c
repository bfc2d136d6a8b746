// SPDX-License-Identifier: Apache-2.0
// v-packing, v-ellipsoids, v-clumps: random close packing of equal grains without friction. Lengths
// in diameters of the sphere that has the volume of a grain, g = 1, a grain has mass 1.
//
// Grains at random places, turned at random, so that the spheres around them do not overlap (30 %
// of the volume) stand on a floor, periodic along x and y. Forces in proportion to the height press
// the bed together evenly; then it settles under gravity with its own inertia; then, without
// inertia, each step
//     min over moves y of ½ |y|² + h² Σ y_z,    gap + n·Δy >= 0 at every contact
// leads to the nearest rest, where as many contacts press as there are coordinates (isostatic).
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double packing_pi = 3.14159265358979323846;

// A grain: a sphere, an ellipsoid of revolution about z, or two equal balls along z.
typedef struct packing_grain {
    talus_shape_kind kind;
    double half[2];  // ellipsoid: half axes across and along
    double radius;   // clump: of the balls
    double apart;    // clump: of their centres
    double around;   // radius of the sphere around it
    int coordinates; // turning about its own axis moves nothing
    // How it is packed. Where a grain turns and its rim is sharp, a step leaves an overlap of about
    // (way in the step)²/(2 radius of curvature), so steps have to be shorter than for spheres; and
    // grains that are pressed together must stay free to turn.
    double step;    // gravity moves a free grain by step²
    double reach;   // contacts are looked for so far
    double share;   // of the height, by which the bed is pressed together in a step
    double pressed; // solid fraction from which on it settles by itself
} packing_grain;

static const packing_grain packing_sphere = {.kind = TALUS_SHAPE_SPHERE,
                                             .around = 0.5,
                                             .coordinates = 3,
                                             .step = 0.22,
                                             .reach = 0.3,
                                             .share = 0.05,
                                             .pressed = 0.64};

// The rest of a grain that is no sphere, by its longest over its shortest axis.
static packing_grain packing_turning(packing_grain grain, double elongation) {
    grain.coordinates = 5;
    grain.step = 0.11 * fmin(1.0, 2.0 / elongation);
    grain.reach = 0.15;
    grain.share = 0.03;
    grain.pressed = 0.5;
    return grain;
}

// `aspect`: half axis along z over that across.
static packing_grain packing_ellipsoid(double aspect) {
    const double across = 0.5 / cbrt(aspect);
    return packing_turning((packing_grain){.kind = TALUS_SHAPE_ELLIPSOID,
                                           .half = {across, aspect * across},
                                           .around = across * fmax(1.0, aspect)},
                           fmax(aspect, 1.0 / aspect));
}

// `elongation`: length over width, from 1 to 2. Two balls of radius 1 with centres 2 e apart, e <
// 1, fill 8π/3 less the lens 4π/3 (2 + e)(1 − e)²/2 that they share.
static packing_grain packing_clump(double elongation) {
    const double e = elongation - 1.0;
    const double balls = 2.0 - 0.5 * (2.0 + e) * (1.0 - e) * (1.0 - e); // volumes of a ball
    const double radius = 0.5 / cbrt(balls);
    return packing_turning((packing_grain){.kind = TALUS_SHAPE_CLUMP,
                                           .radius = radius,
                                           .apart = 2.0 * e * radius,
                                           .around = elongation * radius},
                           elongation);
}

typedef struct packing_bed {
    packing_grain grain;
    int count;
    double width; // of the period along x and y
    double *at;   // 3 per grain
    double *turn; // 4 per grain
} packing_bed;

static void packing_free(packing_bed *bed) {
    free(bed->at);
    free(bed->turn);
}

// Random sequential addition: cells so small that each holds one centre at most.
static void packing_scatter(packing_bed *bed, double height, uint64_t seed) {
    const double apart = 2.0 * bed->grain.around, side = apart / sqrt(3.0);
    const int across = (int)ceil(bed->width / side), up = (int)ceil(height / side);
    int32_t *cell = cli_alloc((size_t)across * (size_t)across * (size_t)up, sizeof *cell);
    for (int placed = 0; placed < bed->count;) {
        double *x = bed->at + 3 * (ptrdiff_t)placed;
        int c[3];
        for (int k = 0; k < 3; k++) {
            x[k] = reproduce_random(&seed, 0.0, k < 2 ? bed->width : height);
            c[k] = (int)(x[k] / (k < 2 ? bed->width / across : height / up));
        }
        bool room = true;
        for (int k = 0; room && k < 125; k++) {
            const int i = (c[0] + k % 5 - 2 + across) % across;
            const int j = (c[1] + k / 5 % 5 - 2 + across) % across, l = c[2] + k / 25 - 2;
            if (l < 0 || l >= up) continue;
            const int32_t other = cell[((ptrdiff_t)l * across + j) * across + i];
            if (other == 0) continue;
            double sum = 0.0;
            for (int e = 0; e < 3; e++) {
                double d = x[e] - bed->at[3 * (ptrdiff_t)(other - 1) + e];
                if (e < 2) d -= bed->width * round(d / bed->width);
                sum += d * d;
            }
            room = sum >= apart * apart;
        }
        if (room) cell[((ptrdiff_t)c[2] * across + c[1]) * across + c[0]] = ++placed;
    }
    free(cell);
    for (int i = 0; i < bed->count; i++)
        bed->at[3 * (ptrdiff_t)i + 2] += bed->grain.around; // above the floor
}

// Turn grains at random: uniform quaternions (a point of the ball in four dimensions, made a unit).
static void packing_turn(packing_bed *bed, uint64_t seed) {
    for (int i = 0; i < bed->count; i++) {
        double *q = bed->turn + 4 * (ptrdiff_t)i, square;
        q[0] = 1.0;
        if (bed->grain.kind == TALUS_SHAPE_SPHERE) continue;
        do {
            square = 0.0;
            for (int k = 0; k < 4; k++) {
                q[k] = reproduce_random(&seed, -1.0, 1.0);
                square += q[k] * q[k];
            }
        } while (square > 1.0 || square < 0.01);
        for (int k = 0; k < 4; k++) q[k] /= sqrt(square);
    }
}

static bool packing_shape(reproduce *r, talus_world *w, const packing_grain *grain, int32_t *out) {
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = grain->radius};
    const double z = 0.5 * grain->apart;
    const talus_part part[2] = {{.shape = &ball, .position = {0.0, 0.0, z}, .orientation = {1.0}},
                                {.shape = &ball, .position = {0.0, 0.0, -z}, .orientation = {1.0}}};
    const talus_shape_def shape = {.kind = grain->kind,
                                   .radius = 0.5,
                                   .half = {grain->half[0], grain->half[0], grain->half[1]},
                                   .part = part,
                                   .part_count = 2};
    REPRODUCE_TRY(r, talus_world_add_shape(w, &shape, out));
    return true;
}

// A world with the bed in it; the floor is body 0. `inertia`: velocities last from step to step.
static bool packing_world(reproduce *r, const packing_bed *bed, double gravity, bool inertia,
                          double tolerance, talus_world **out) {
    talus_world_def def = talus_world_default();
    talus_material_def smooth = talus_material_default();
    const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
    talus_body_def floor = talus_body_default(), grain = talus_body_default();
    def.scheme = TALUS_SCHEME_CONVEX; // the exact law where nothing rubs
    def.gravity[0] = def.gravity[1] = 0.0, def.gravity[2] = -gravity;
    def.period[0] = def.period[1] = bed->width, def.period[2] = 0.0;
    def.step = bed->grain.step;
    def.reach = bed->grain.reach;
    def.solver = "apgd-ar";
    def.tolerance = tolerance;
    def.iterations = 20000;
    def.threads = r->threads;
    smooth.friction = 0.0;
    if (!reproduce_world(r, &def, &smooth, "", out)) return false;
    floor.material = grain.material = 1;
    floor.motion.kind = TALUS_MOTION_FIXED;
    grain.mass = 1.0;
    grain.damping = grain.spin_damping = inertia ? 0.0 : 1e6;
    bool good = reproduce_body(r, *out, &plane, &floor);
    good = good && packing_shape(r, *out, &bed->grain, &grain.shape);
    for (int i = 0; good && i < bed->count; i++) {
        memcpy(grain.position, bed->at + 3 * (ptrdiff_t)i, sizeof grain.position);
        memcpy(grain.orientation, bed->turn + 4 * (ptrdiff_t)i, sizeof grain.orientation);
        good = talus_world_add_body(*out, &grain, NULL) == TALUS_OK || reproduce_failed(r);
    }
    if (good) return true;
    talus_world_destroy(*out);
    *out = NULL;
    return false;
}

static void packing_keep(const talus_world *w, packing_bed *bed) {
    talus_body_view b;
    talus_world_bodies(w, &b);
    memcpy(bed->at, b.position + 3, 3 * (size_t)bed->count * sizeof *bed->at);
    memcpy(bed->turn, b.orientation + 4, 4 * (size_t)bed->count * sizeof *bed->turn);
}

// Press the bed together, in each step by the grain's share of its height.
static bool packing_press(reproduce *r, packing_bed *bed, int steps) {
    const double share = bed->grain.share, step = bed->grain.step;
    talus_world *w = NULL;
    const double none[3] = {0.0, 0.0, 0.0};
    bool good = packing_world(r, bed, 0.0, false, 1e-3, &w);
    for (int s = 0; good && s < steps; s++) {
        for (int i = 0; good && i < bed->count; i++) {
            const double z = bed->at[3 * (ptrdiff_t)i + 2];
            const double force[3] = {0.0, 0.0, -share * z / (step * step)};
            good = talus_world_set_force(w, i + 1, force, none) == TALUS_OK || reproduce_failed(r);
        }
        good = good && reproduce_run(r, w, 1e9, 1, NULL, NULL, NULL);
        if (good) packing_keep(w, bed);
    }
    talus_world_destroy(w);
    return good;
}

typedef struct packing_result {
    double fraction;          // of the core
    double coordination;      // contacts that press, per sphere of the core that is no rattler
    double rattlers;          // their share in the core
    double excess;            // contacts that press over coordinates of spheres that are held
    double moved;             // farthest move of a held sphere in the last step
    double overlap;           // deepest, where the last step began
    double low, high, missed; // heights of the core; steps
} packing_result;

// Whether a contact presses: with more than a hundredth of a sphere's weight.
static bool packing_presses(const talus_contact_view *c, int32_t i, double step) {
    const double *r = c->impulse + 3 * (ptrdiff_t)i, *n = c->normal + 3 * (ptrdiff_t)i;
    return fabs(r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) > 0.01 * step;
}

// touching[i] <- contacts that press sphere i; −1 for rattlers, which fewer than four hold, not
// counting rattlers.
static void packing_count(const talus_contact_view *c, int32_t bodies, double step,
                          int32_t *touching) {
    for (bool found = true; found;) {
        for (int32_t i = 0; i < bodies; i++)
            if (touching[i] >= 0) touching[i] = 0;
        for (int32_t i = 0; i < c->count; i++) {
            int32_t *a = &touching[c->a[i]], *b = &touching[c->b[i]];
            if (*a < 0 || *b < 0 || !packing_presses(c, i, step)) continue;
            ++*a, ++*b;
        }
        found = false;
        for (int32_t i = 1; i < bodies; i++)
            if (touching[i] >= 0 && touching[i] < 4) touching[i] = -1, found = true;
    }
}

// π ∫ (1/4 − s²) ds over [from, to] within a sphere of diameter 1: its part between two planes.
static double packing_slice(double from, double to) {
    return packing_pi * (0.25 * (to - from) - (to * to * to - from * from * from) / 3.0);
}

// Area of the union of two disks of the squared radii a, b (not positive: none) with centres
// `apart`.
static double packing_disks(double a, double b, double apart) {
    const double large = fmax(fmax(a, b), 0.0), small = fmax(fmin(a, b), 0.0);
    const double p = sqrt(large), q = sqrt(small);
    if (q <= 0.0 || apart <= p - q) return packing_pi * large;
    if (apart >= p + q) return packing_pi * (large + small);
    // the segments of both beyond the chord through their crossings
    const double x = (apart * apart + large - small) / (2.0 * apart), y = apart - x;
    const double chord = sqrt(fmax(large - x * x, 0.0));
    const double shared = large * atan2(chord, x) + small * atan2(chord, y) - apart * chord;
    return packing_pi * (large + small) - shared;
}

// Volume of the part of a grain, turned by q, that lies between the heights low and high above its
// centre.
static double packing_part(const packing_grain *grain, const double *q, double low, double high) {
    // the grain's axis: its upward part, and what is left of it sideways
    const double up = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    const double level = sqrt(fmax(1.0 - up * up, 0.0));
    if (grain->kind == TALUS_SHAPE_CLUMP) {
        enum { SLICES = 64 };
        const double z = 0.5 * grain->apart * fabs(up), top = z + grain->radius;
        const double from = fmax(-top, low), to = fmin(top, high);
        const double square = grain->radius * grain->radius;
        double sum = 0.0;
        for (int k = 0; to > from && k < SLICES; k++) {
            const double s = from + (k + 0.5) * (to - from) / SLICES;
            sum += packing_disks(square - (s - z) * (s - z), square - (s + z) * (s + z),
                                 grain->apart * level);
        }
        return to > from ? sum * (to - from) / SLICES : 0.0;
    }
    // stretched to the sphere of the same volume, heights are those over twice the extent upwards
    const double extent = grain->kind == TALUS_SHAPE_SPHERE
                              ? 0.5
                              : hypot(grain->half[1] * up, grain->half[0] * level);
    const double from = fmax(-0.5, 0.5 * low / extent), to = fmin(0.5, 0.5 * high / extent);
    return to > from ? packing_slice(from, to) : 0.0;
}

static void packing_judge(const talus_world *w, const packing_bed *bed, packing_result *out) {
    talus_body_view b;
    talus_contact_view c;
    talus_world_bodies(w, &b);
    talus_world_contacts(w, &c);
    int32_t *touching = cli_alloc((size_t)b.count, sizeof *touching);
    double volume = 0.0, contacts = 0.0, held = 0.0, all = 0.0, sum = 0.0, count = 0.0;
    packing_count(&c, b.count, bed->grain.step, touching);
    out->moved = 0.0;
    for (int32_t i = 0; i < c.count; i++)
        contacts += touching[c.a[i]] >= 0 && touching[c.b[i]] >= 0 &&
                    packing_presses(&c, i, bed->grain.step);
    for (int32_t i = 1; i < b.count; i++) {
        const double z = b.position[3 * (ptrdiff_t)i + 2], *v = b.velocity + 3 * (ptrdiff_t)i;
        volume += packing_part(&bed->grain, b.orientation + 4 * (ptrdiff_t)i, out->low - z,
                               out->high - z);
        const bool core = z > out->low && z < out->high;
        all += core;
        if (touching[i] < 0) continue;
        held += 1.0;
        out->moved =
            fmax(out->moved, bed->grain.step * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        if (!core) continue;
        sum += touching[i];
        count += 1.0;
    }
    free(touching);
    out->fraction = volume / (bed->width * bed->width * (out->high - out->low));
    out->coordination = count > 0.0 ? sum / count : 0.0;
    out->rattlers = 1.0 - count / all;
    out->excess = contacts / (bed->grain.coordinates * held);
}

static bool packing_settle(reproduce *r, packing_bed *bed, bool inertia, double tolerance,
                           int steps, packing_result *out) {
    talus_world *w = NULL;
    reproduce_sums sums = {0};
    bool good = packing_world(r, bed, 1.0, inertia, tolerance, &w) &&
                reproduce_run(r, w, 1e9, steps, NULL, NULL, &sums);
    if (good) {
        packing_keep(w, bed);
        packing_judge(w, bed, out);
        out->missed += (double)sums.missed;
        out->overlap = sums.last.penetration;
    }
    talus_world_destroy(w);
    return good;
}

// Fill a bed of `count` grains on a floor of the given width, press it together, let it settle for
// a time, and judge it between 0.3 and 0.75 of its height.
static bool packing_one(reproduce *r, const packing_grain *grain, int count, double width,
                        double time, packing_result *out) {
    packing_bed bed = {.grain = *grain, .count = count, .width = width};
    bed.at = cli_alloc(3 * (size_t)count, sizeof *bed.at);
    bed.turn = cli_alloc(4 * (size_t)count, sizeof *bed.turn);
    const double area = bed.width * bed.width, volume = count * packing_pi / 6.0;
    const double around = volume * pow(2.0 * grain->around, 3.0);
    *out = (packing_result){.low = 0.3 * volume / 0.64 / area, .high = 0.75 * volume / 0.64 / area};
    packing_scatter(&bed, around / 0.3 / area, 17);
    packing_turn(&bed, 19);
    const int presses =
        (int)ceil(log(0.3 * volume / around / grain->pressed) / log1p(-grain->share));
    const bool good = packing_press(r, &bed, presses) &&
                      packing_settle(r, &bed, true, 1e-3, (int)lround(time / grain->step), out) &&
                      packing_settle(r, &bed, false, 1e-4, grain->coordinates == 3 ? 10 : 20, out);
    packing_free(&bed);
    return good;
}

bool reproduce_packing(reproduce *r) {
    packing_result x;
    if (!packing_one(r, &packing_sphere, r->quick ? 2000 : 10000, r->quick ? 9.0 : 16.0,
                     r->quick ? 35.2 : 88.0, &x))
        return false;
    reproduce_expect(r, "solid fraction of the core", "", x.fraction, "0.637", 0.632, 0.642, NULL);
    reproduce_expect(r, "contacts per grain of the core, no rattlers", "", x.coordination, "6", 5.9,
                     6.1, NULL);
    reproduce_expect(r, "contacts over coordinates of held grains", "", x.excess, "1 (isostatic)",
                     0.98, 1.02, NULL);
    reproduce_expect(r, "share of rattlers in the core", "", x.rattlers, "0.02 to 0.03", 0.0, 0.05,
                     NULL);
    reproduce_expect(r, "steps that missed the tolerance", "", x.missed, "", 0.0, 0.0, NULL);
    return true;
}

// ---- v-ellipsoids, v-clumps ---------------------------------------------------------------------

enum { PACKING_SHAPES = 8 };

// Packings of several elongations, from 1 on, where the grain is a sphere.
typedef struct packing_series {
    const double *elongation;
    int count;
    packing_grain (*grain)(double elongation);
    packing_result result[PACKING_SHAPES];
    double missed, overlap; // of all; the deepest
} packing_series;

// `spheres`: the first result, where it is known; else NULL.
static bool packing_run_series(reproduce *r, packing_series *s, const packing_result *spheres,
                               const char *label, plot *p) {
    plot_add_curve(p, label, false);
    for (int k = 0; k < s->count; k++) {
        const packing_grain grain = k == 0 ? packing_sphere : s->grain(s->elongation[k]);
        if (k == 0 && spheres)
            s->result[0] = *spheres;
        else if (!packing_one(r, &grain, r->quick ? 400 : 3000, r->quick ? 5.5 : 11.0,
                              r->quick ? 17.6 : 88.0, &s->result[k]))
            return false;
        s->missed += s->result[k].missed;
        s->overlap = fmax(s->overlap, s->result[k].overlap);
        plot_add_point(p, s->elongation[k], s->result[k].fraction);
    }
    return true;
}

// The densest of a series, by the parabola through it and its neighbours in logarithms of the
// elongation.
static void packing_peak(const packing_series *s, double *elongation, double *fraction) {
    int top = 0;
    for (int k = 1; k < s->count; k++)
        if (s->result[k].fraction > s->result[top].fraction) top = k;
    *elongation = s->elongation[top];
    *fraction = s->result[top].fraction;
    if (top == 0 || top + 1 == s->count) return;
    const double x = log(s->elongation[top]);
    const double left = log(s->elongation[top - 1]) - x, right = log(s->elongation[top + 1]) - x;
    const double a = (s->result[top - 1].fraction - *fraction) / left;
    const double b = (s->result[top + 1].fraction - *fraction) / right;
    const double curve = (b - a) / (right - left), slope = a - curve * left;
    *elongation = exp(x - 0.5 * slope / curve);
    *fraction -= 0.25 * slope * slope / curve;
}

// The deepest overlap of all but the last.
static double packing_overlap(const packing_series *s) {
    double deepest = 0.0;
    for (int k = 0; k + 1 < s->count; k++) deepest = fmax(deepest, s->result[k].overlap);
    return deepest;
}

static packing_grain packing_prolate(double elongation) { return packing_ellipsoid(elongation); }
static packing_grain packing_oblate(double elongation) {
    return packing_ellipsoid(1.0 / elongation);
}

bool reproduce_ellipsoids(reproduce *r) {
    static const char rocks[] =
        "without inertia a flat grain that is loaded beside the one point it touches the floor in "
        "goes from one side to the other, farther in a step than gaps are straight";
    static const double quick[] = {1.0, 1.25, 1.5, 2.0, 3.0};
    static const double all[] = {1.0, 1.1, 1.25, 1.4, 1.6, 2.0, 2.5, 3.0};
    plot *p = reproduce_plot(r, "random packings of ellipsoids", "longest over shortest axis",
                             false, "solid fraction", false);
    packing_result spheres = {0};
    for (int flat = 0; flat < 2; flat++) {
        packing_series s = {.elongation = r->quick ? quick : all,
                            .count = r->quick ? 5 : 8,
                            .grain = flat ? packing_oblate : packing_prolate};
        const char *name = flat ? "oblate" : "prolate";
        if (!packing_run_series(r, &s, flat ? &spheres : NULL, name, p)) return false;
        spheres = s.result[0];
        double at, peak;
        packing_peak(&s, &at, &peak);
        const struct {
            const char *what, *published;
            double measured, low, high;
            const char *why; // it may lie outside; NULL: it must not
        } row[] = {{"densest solid fraction", "0.68 to 0.71", peak, 0.68, 0.715, NULL},
                   {"ratio of the axes of the densest", "1.4 to 1.6", at, 1.3, 1.75, NULL},
                   {"densest less spheres", "0.04 to 0.07", peak - s.result[0].fraction, 0.03,
                    0.085, NULL},
                   {"axes 3:1 less the densest", "falls", s.result[s.count - 1].fraction - peak,
                    -0.2, -0.01, NULL},
                   {"contacts per grain, axes 2:1", "below 10 (isostatic)",
                    s.result[s.count == 5 ? 3 : 5].coordination, 8.5, 10.2, NULL},
                   {"deepest overlap at the end, axes below 3:1", "0", packing_overlap(&s), 0.0,
                    1e-3, NULL},
                   {"deepest overlap at the end, axes 3:1", "0", s.result[s.count - 1].overlap, 0.0,
                    1e-3, flat ? rocks : NULL},
                   {"steps that missed the tolerance", "", s.missed, 0.0, 0.0, NULL}};
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
            char *what = cli_text("%s: %s", name, row[k].what);
            reproduce_expect(r, what, "", row[k].measured, row[k].published, row[k].low,
                             row[k].high, row[k].why);
            free(what);
        }
    }
    return true;
}

bool reproduce_clumps(reproduce *r) {
    static const double quick[] = {1.0, 1.2, 1.4, 1.7, 2.0};
    static const double all[] = {1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0};
    packing_series s = {
        .elongation = r->quick ? quick : all, .count = r->quick ? 5 : 8, .grain = packing_clump};
    plot *p = reproduce_plot(r, "random packings of two-ball clumps", "length over width", false,
                             "solid fraction", false);
    if (!packing_run_series(r, &s, NULL, "measured", p)) return false;
    double at, peak;
    packing_peak(&s, &at, &peak);
    reproduce_expect(r, "densest solid fraction", "", peak, "0.707 (mean-field theory)", 0.68,
                     0.725, NULL);
    reproduce_expect(r, "length over width of the densest", "", at, "1.4 to 1.5", 1.3, 1.6, NULL);
    reproduce_expect(r, "densest less spheres (rises)", "", peak - s.result[0].fraction, "> 0",
                     0.03, 0.09, NULL);
    reproduce_expect(r, "touching balls less densest (falls)", "",
                     s.result[s.count - 1].fraction - peak, "< 0", -0.1, -0.01, NULL);
    reproduce_expect(r, "contacts over coordinates, touching balls", "",
                     s.result[s.count - 1].excess, "1 (isostatic)", 0.95, 1.02, NULL);
    reproduce_expect(r, "deepest overlap at the end", "", s.overlap, "0", 0.0, 1e-3, NULL);
    reproduce_expect(r, "steps that missed the tolerance", "", s.missed, "", 0.0, 0.0, NULL);
    return true;
}
