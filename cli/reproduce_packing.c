// SPDX-License-Identifier: Apache-2.0
// v-packing: random close packing of equal spheres without friction. Lengths in diameters, g = 1, a
// sphere has mass 1.
//
// Spheres at random places that do not overlap (30 % of the volume) stand on a floor, periodic
// along x and y. Forces in proportion to the height press the bed together evenly; then it settles
// under gravity with its own inertia; then, without inertia, each step
//     min over moves y of ½ |y|² + h² Σ y_z,    gap + n·Δy >= 0 at every contact
// leads to the nearest rest, where as many contacts press as there are coordinates (isostatic).
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double packing_pi = 3.14159265358979323846;
static const double packing_step = 0.22; // gravity moves a free sphere by 0.05 diameters per step

typedef struct packing_bed {
    int count;
    double width; // of the period along x and y
    double *at;   // 3 per sphere
} packing_bed;

// Random sequential addition: cells so small that each holds one centre at most.
static void packing_scatter(packing_bed *bed, double height, uint64_t seed) {
    const double side = 1.0 / sqrt(3.0);
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
            room = sum >= 1.0;
        }
        if (room) cell[((ptrdiff_t)c[2] * across + c[1]) * across + c[0]] = ++placed;
    }
    free(cell);
    for (int i = 0; i < bed->count; i++) bed->at[3 * (ptrdiff_t)i + 2] += 0.5; // above the floor
}

// A world with the bed in it; the floor is body 0. `inertia`: velocities last from step to step.
static bool packing_world(reproduce *r, const packing_bed *bed, double gravity, bool inertia,
                          double tolerance, talus_world **out) {
    talus_world_def def = talus_world_default();
    talus_material_def smooth = talus_material_default();
    const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    talus_body_def floor = talus_body_default(), sphere = talus_body_default();
    def.scheme = TALUS_SCHEME_CONVEX; // the exact law where nothing rubs
    def.gravity[0] = def.gravity[1] = 0.0, def.gravity[2] = -gravity;
    def.period[0] = def.period[1] = bed->width, def.period[2] = 0.0;
    def.step = packing_step;
    def.reach = 0.3; // six times what gravity moves in a step
    def.solver = "apgd-ar";
    def.tolerance = tolerance;
    def.iterations = 20000;
    def.threads = r->threads;
    smooth.friction = 0.0;
    if (!reproduce_world(r, &def, &smooth, "", out)) return false;
    floor.material = sphere.material = 1;
    floor.motion.kind = TALUS_MOTION_FIXED;
    sphere.mass = 1.0;
    sphere.damping = inertia ? 0.0 : 1e6;
    bool good = reproduce_body(r, *out, &plane, &floor);
    good = good &&
           (talus_world_add_shape(*out, &ball, &sphere.shape) == TALUS_OK || reproduce_failed(r));
    for (int i = 0; good && i < bed->count; i++) {
        memcpy(sphere.position, bed->at + 3 * (ptrdiff_t)i, sizeof sphere.position);
        good = talus_world_add_body(*out, &sphere, NULL) == TALUS_OK || reproduce_failed(r);
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
}

// Press the bed together by `share` of its height in each step.
static bool packing_press(reproduce *r, packing_bed *bed, double share, int steps) {
    talus_world *w = NULL;
    const double none[3] = {0.0, 0.0, 0.0};
    bool good = packing_world(r, bed, 0.0, false, 1e-3, &w);
    for (int s = 0; good && s < steps; s++) {
        for (int i = 0; good && i < bed->count; i++) {
            const double z = bed->at[3 * (ptrdiff_t)i + 2];
            const double force[3] = {0.0, 0.0, -share * z / (packing_step * packing_step)};
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
    double low, high, missed; // heights of the core; steps
} packing_result;

// Whether a contact presses: with more than a hundredth of a sphere's weight.
static bool packing_presses(const talus_contact_view *c, int32_t i) {
    const double *r = c->impulse + 3 * (ptrdiff_t)i, *n = c->normal + 3 * (ptrdiff_t)i;
    return fabs(r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) > 0.01 * packing_step;
}

// touching[i] <- contacts that press sphere i; −1 for rattlers, which fewer than four hold, not
// counting rattlers.
static void packing_count(const talus_contact_view *c, int32_t bodies, int32_t *touching) {
    for (bool found = true; found;) {
        for (int32_t i = 0; i < bodies; i++)
            if (touching[i] >= 0) touching[i] = 0;
        for (int32_t i = 0; i < c->count; i++) {
            int32_t *a = &touching[c->a[i]], *b = &touching[c->b[i]];
            if (*a < 0 || *b < 0 || !packing_presses(c, i)) continue;
            ++*a, ++*b;
        }
        found = false;
        for (int32_t i = 1; i < bodies; i++)
            if (touching[i] >= 0 && touching[i] < 4) touching[i] = -1, found = true;
    }
}

static void packing_judge(const talus_world *w, const packing_bed *bed, packing_result *out) {
    talus_body_view b;
    talus_contact_view c;
    talus_world_bodies(w, &b);
    talus_world_contacts(w, &c);
    int32_t *touching = cli_alloc((size_t)b.count, sizeof *touching);
    double volume = 0.0, contacts = 0.0, held = 0.0, all = 0.0, sum = 0.0, count = 0.0;
    packing_count(&c, b.count, touching);
    out->moved = 0.0;
    for (int32_t i = 0; i < c.count; i++)
        contacts += touching[c.a[i]] >= 0 && touching[c.b[i]] >= 0 && packing_presses(&c, i);
    for (int32_t i = 1; i < b.count; i++) {
        const double z = b.position[3 * (ptrdiff_t)i + 2], *v = b.velocity + 3 * (ptrdiff_t)i;
        // the part of the ball between the two planes: π ∫ (1/4 − s²) ds
        const double from = fmax(-0.5, out->low - z), to = fmin(0.5, out->high - z);
        if (to > from)
            volume += packing_pi * (0.25 * (to - from) - (to * to * to - from * from * from) / 3.0);
        const bool core = z > out->low && z < out->high;
        all += core;
        if (touching[i] < 0) continue;
        held += 1.0;
        out->moved = fmax(out->moved, packing_step * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        if (!core) continue;
        sum += touching[i];
        count += 1.0;
    }
    free(touching);
    out->fraction = volume / (bed->width * bed->width * (out->high - out->low));
    out->coordination = count > 0.0 ? sum / count : 0.0;
    out->rattlers = 1.0 - count / all;
    out->excess = contacts / (3.0 * held);
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
    }
    talus_world_destroy(w);
    return good;
}

bool reproduce_packing(reproduce *r) {
    const int count = r->quick ? 2000 : 10000, steps = r->quick ? 160 : 400;
    packing_bed bed = {.count = count, .width = r->quick ? 9.0 : 16.0};
    bed.at = cli_alloc(3 * (size_t)count, sizeof *bed.at);
    const double area = bed.width * bed.width, volume = count * packing_pi / 6.0;
    packing_result x = {.low = 0.3 * volume / 0.64 / area, .high = 0.75 * volume / 0.64 / area};
    packing_scatter(&bed, volume / 0.3 / area, 17);
    const bool good = packing_press(r, &bed, 0.05, 15) &&
                      packing_settle(r, &bed, true, 1e-3, steps, &x) &&
                      packing_settle(r, &bed, false, 1e-4, 10, &x);
    free(bed.at);
    if (!good) return false;
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
