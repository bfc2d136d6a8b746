// SPDX-License-Identifier: Apache-2.0
// r-nest: rods that friction holds stay where they are. A nest of crossed twigs and a tress over a
// ball settle; then nothing may move for 10 000 steps but by what the tolerance lets through. A
// step solved to the residual ε has contacts that slip at no more than about ε times the largest
// free velocity of a contact: g h of the weight, and gap/h where it is open by up to half a radius,
// as far as rods see each other. Were that always in the same direction, N steps would move a
// contact by
//     N h ε (g h + r/(2 h)),
// and the free ends of rods, with the arms of levers and of unlike masses, by some times that: ten
// times are allowed.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEST_STEP 2e-3
#define NEST_TOLERANCE 1e-6

static bool nest_world(reproduce *r, talus_world **out) {
    talus_world_def def = talus_world_default();
    def.step = NEST_STEP;
    def.tolerance = NEST_TOLERANCE;
    def.threads = r->threads;
    talus_material_def m = talus_material_default();
    m.friction = 0.6;
    return reproduce_world(r, &def, &m, "", out);
}

static bool nest_fixed(reproduce *r, talus_world *w, const talus_shape_def *shape, double z) {
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.motion = (talus_motion_def){.kind = TALUS_MOTION_FIXED};
    body.position[2] = z;
    return reproduce_body(r, w, shape, &body);
}

// Four layers of four free twigs each, every layer across the one below and each twig turned a
// little, just above each other. Twigs are bent: straight ones would roll off, which friction does
// not hinder.
static bool nest_twigs(reproduce *r, talus_world *w) {
    enum { LAYERS = 4, TWIGS = 4, NODES = 10 };
    const talus_shape_def ground = {.kind = TALUS_SHAPE_HALF_SPACE};
    const double radius = 1.5e-3, length = 0.16, pi = 3.14159265358979323846;
    uint64_t seed = 5;
    double x[3 * NODES];
    talus_rod_def rod = talus_rod_default();
    rod.nodes = NODES;
    rod.position = rod.natural = x;
    rod.radius = radius;
    rod.density = 700.0;
    rod.young = 5e7;
    rod.damping = 5e-3;
    rod.drag = 0.05;
    rod.material = 1;
    if (!nest_fixed(r, w, &ground, 0.0)) return false;
    for (int i = 0; i < LAYERS * TWIGS; i++) {
        const int layer = i / TWIGS;
        const double turn = 0.5 * pi * (layer % 2) + reproduce_random(&seed, -0.05, 0.05);
        for (int k = 0; k < NODES; k++) {
            const double along = length * ((double)k / (NODES - 1) - 0.5);
            const double side = 0.03 * (i % TWIGS - 1.5) + 1.5 * along * along;
            x[3 * k] = along * cos(turn) - side * sin(turn);
            x[3 * k + 1] = along * sin(turn) + side * cos(turn);
            x[3 * k + 2] = radius * (1.02 + 2.02 * layer);
        }
        REPRODUCE_TRY(r, talus_world_add_rod(w, &rod, NULL));
    }
    return true;
}

// Twelve strands, clamped beside a ball, lie over it and on each other.
static bool nest_tress(reproduce *r, talus_world *w) {
    enum { STRANDS = 12 };
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.09};
    talus_rod_def rod = talus_rod_default();
    rod.nodes = 21;
    rod.pieces = 5;
    rod.radius = 1e-3;
    rod.density = 1300.0;
    rod.young = 2e7;
    rod.damping = 1e-2;
    rod.drag = 0.02;
    rod.material = 1;
    if (!nest_fixed(r, w, &ball, -0.095)) return false;
    for (int i = 0; i < STRANDS; i++) {
        const int layer = i / 4; // side by side, and every layer across the one below
        const double turn = layer % 2 ? 0.15 : -0.15;
        const double x[3] = {-0.09, 0.012 * (i % 4 - 1.5) - 0.09 * turn, 2.1e-3 * layer};
        const double to[3] = {cos(turn), sin(turn), 0.0};
        if (!reproduce_strand(r, w, x, to, 0.2, &rod)) return false;
    }
    return true;
}

typedef struct nest_watch {
    double *start; // places of the nodes when they had settled
    double farthest, contacts;
} nest_watch;

static void nest_each(void *user, const talus_world *w, const talus_ledger *ledger) {
    nest_watch *watch = user;
    const talus_rod_view rods = talus_world_rods(w);
    for (int32_t k = 0; k < rods.start[rods.rods]; k++) {
        const double *x = rods.position + 3 * (ptrdiff_t)k;
        const double *from = watch->start + 3 * (ptrdiff_t)k;
        const double away = hypot(hypot(x[0] - from[0], x[1] - from[1]), x[2] - from[2]);
        watch->farthest = fmax(watch->farthest, away);
    }
    watch->contacts = ledger->contacts;
}

static bool nest_one(reproduce *r, const char *name, bool (*build)(reproduce *, talus_world *),
                     double settle, int64_t steps) {
    talus_world *w = NULL;
    nest_watch watch = {0};
    reproduce_sums sums = {0};
    bool good =
        nest_world(r, &w) && build(r, w) && reproduce_run(r, w, settle, 0, NULL, NULL, NULL);
    if (good) {
        const talus_rod_view rods = talus_world_rods(w);
        const size_t numbers = 3 * (size_t)rods.start[rods.rods];
        watch.start = cli_alloc(numbers, sizeof *watch.start);
        memcpy(watch.start, rods.position, numbers * sizeof *watch.start);
        good = reproduce_run(r, w, 1e9, steps, nest_each, &watch, &sums);
    }
    if (good) {
        const double n = (double)steps, radius = talus_world_rods(w).radius[0];
        const double slip = NEST_TOLERANCE * (9.81 * NEST_STEP + 0.5 * radius / NEST_STEP);
        char *what = cli_text("%s: contacts at the end", name);
        reproduce_expect(r, what, "", watch.contacts, "-", 10.0, INFINITY, NULL);
        free(what);
        what = cli_text("%s: steps of %.0f that missed the tolerance", name, n);
        reproduce_expect(r, what, "", (double)sums.missed, "-", 0.0, 0.0, NULL);
        free(what);
        what = cli_text("%s: farthest that a node drifted in %.0f steps", name, n);
        reproduce_expect(r, what, "m", watch.farthest, "stays at rest", 0.0,
                         10.0 * n * NEST_STEP * slip, NULL);
        free(what);
    }
    free(watch.start);
    talus_world_destroy(w);
    return good;
}

bool reproduce_rod_nest(reproduce *r) {
    const int64_t steps = r->quick ? 500 : 10000;
    return nest_one(r, "nest", nest_twigs, 4.0, steps) &&
           nest_one(r, "tress", nest_tress, 4.0, steps);
}
