// SPDX-License-Identifier: Apache-2.0
// The ledger closes to rounding in random runs with many bodies, forces, damping, locked components
// and moving walls, for every scheme; and losses are losses.
#include "base/rng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

enum { BALLS = 30 };

// Balls of many sizes in an open container that shakes and turns.
static talus_world *shaken(int32_t dim, talus_scheme scheme, double theta, double g, bool loaded,
                           uint64_t seed) {
    tl_rng rng = {seed};
    talus_world_def def = worlds_def(dim, scheme, 2e-3, g);
    def.theta = theta;
    def.tolerance = 1e-10;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.5, 0.5);
    const int side = dim == 2 ? 6 : 3;
    for (int i = 0; i < BALLS; i++) {
        const double radius = tl_rng_range(&rng, 0.3, 0.48);
        const int x = i % side, y = dim == 2 ? i / side : i / side % side, z = i / side / side;
        talus_body_def body = worlds_ball(w, radius, x - 0.5 * (side - 1), y - 1.0, 0.0);
        if (dim == 3) body.position[1] = y - 1.0, body.position[2] = z - 1.0;
        body.mass = tl_rng_range(&rng, 1.0, 2.0);
        for (int k = 0; k < dim; k++) body.velocity[k] = tl_rng_range(&rng, -2.0, 2.0);
        for (int k = dim == 2 ? 2 : 0; k < 3; k++) body.spin[k] = tl_rng_range(&rng, -5.0, 5.0);
        if (dim == 3)
            for (int k = 0; k < 3; k++)
                body.inertia[k] = body.mass * radius * radius * tl_rng_range(&rng, 0.3, 0.45);
        if (loaded) {
            for (int k = 0; k < dim; k++) body.force[k] = tl_rng_range(&rng, -3.0, 3.0);
            body.torque[2] = tl_rng_range(&rng, -1.0, 1.0);
            body.damping = i % 3 == 0 ? 0.5 : 0.0;
            body.spin_damping = i % 3 == 1 ? 0.7 : 0.0;
            if (i % 7 == 3) body.locked[0] = true;
            if (i % 7 == 5) body.locked[3] = body.locked[4] = body.locked[5] = true;
            if (i % 7 == 6) body.locked[3] = true;
            if (i == 4) memset(body.locked, 1, sizeof body.locked);
        }
        worlds_add(w, &body);
    }
    talus_body_def box = worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_CONTAINER,
                                                           .half = {3.2, 3.2, 3.2},
                                                           .open_top = true});
    box.position[dim - 1] = 1.6;
    box.motion = (talus_motion_def){.kind = TALUS_MOTION_OSCILLATION,
                                    .amplitude = {0.1, 0.05, dim == 3 ? 0.07 : 0.0},
                                    .angle = 0.05,
                                    .frequency = 3.0,
                                    .phase = 0.4};
    worlds_add(w, &box);
    return w;
}

typedef struct sums {
    double closing;  // worst error of the balance, relative to the energy in the system
    double friction; // least loss, relative likewise
    double impact;
    double numerical, total; // sum of |numerical|, sum of impact and friction
    int64_t acting;          // contacts that were not open
    int missed;
} sums;

static sums run(talus_world *w, int steps) {
    sums s = {0};
    talus_ledger last = worlds_step(w);
    for (int k = 0; k < steps; k++) {
        const talus_ledger l = worlds_step(w);
        const double scale =
            l.kinetic + fabs(l.potential) + last.kinetic + fabs(last.potential) + 1.0;
        const double error = l.kinetic + l.potential - last.kinetic - last.potential -
                             l.work_obstacles - l.work_forces + l.loss_impact + l.loss_friction +
                             l.loss_numerical;
        s.closing = fmax(s.closing, fabs(error) / scale);
        s.friction = fmin(s.friction, l.loss_friction / scale);
        s.impact = fmin(s.impact, l.loss_impact / scale);
        s.numerical += fabs(l.loss_numerical);
        s.total += l.loss_impact + l.loss_friction;
        s.acting += l.stick + l.slip;
        s.missed += l.missed;
        last = l;
    }
    return s;
}

// Also bodies that are not balls: a brick falls on its corner into the same box.
static void add_brick(talus_world *w, int32_t dim) {
    talus_body_def brick = talus_body_default();
    brick.shape =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.3, 0.2}});
    brick.mass = 2.0;
    brick.position[dim - 1] = 4.5;
    brick.spin[2] = 4.0;
    if (dim == 3) brick.spin[0] = -3.0, brick.spin[1] = 1.0;
    brick.velocity[0] = 0.5;
    brick.velocity[dim - 1] = -6.0;
    worlds_add(w, &brick);
}

static void balance(void **state) {
    (void)state;
    static const struct {
        talus_scheme scheme;
        double theta;
    } table[] = {{TALUS_SCHEME_FIXED_POINT, 0.5},
                 {TALUS_SCHEME_CONVEX, 0.5},
                 {TALUS_SCHEME_MOREAU_JEAN, 0.5},
                 {TALUS_SCHEME_MOREAU_JEAN, 0.7},
                 {TALUS_SCHEME_MOREAU_JEAN, 1.0}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        for (int32_t dim = 2; dim <= 3; dim++)
            for (int loaded = 0; loaded <= 1; loaded++) {
                talus_world *w =
                    shaken(dim, table[k].scheme, table[k].theta, 9.81, loaded != 0, 17 + k);
                add_brick(w, dim);
                const sums s = run(w, 300);
                assert_true(s.closing <= 1e-13);
                assert_true(s.friction >= -1e-10); // what the solver's tolerance leaves
                assert_true(s.impact >= 0.0);
                assert_true(s.acting > 100);
                assert_int_equal(s.missed, 0);
                talus_world_destroy(w);
            }
}

// Without forces the impact laws account for everything: nothing is left to the time stepping, and
// the sum of all impacts of a step is a loss, for equal e_n = e_t in [0, 1]; at e = 1 without
// friction energy stays.
static void impacts_alone(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int k = 0; k <= 4; k++) {
            const double e = 0.25 * k;
            talus_world *w =
                shaken(dim, TALUS_SCHEME_MOREAU_JEAN, 0.5, 0.0, false, 5 + (uint64_t)k);
            worlds_law(w, k == 4 ? 0.0 : 0.6, e, e);
            const talus_motion_def fixed = {.kind = TALUS_MOTION_FIXED};
            WORLDS_OK(talus_world_set_motion(w, BALLS, &fixed));
            const talus_ledger first = worlds_step(w);
            const double energy = first.kinetic;
            const sums s = run(w, 600);
            assert_true(s.acting > 30);
            assert_true(s.numerical <= 1e-7 * energy); // what the solver's tolerance leaves
            if (k == 4)
                assert_true(s.total <= 1e-7 * energy);
            else
                assert_true(s.total > 0.1 * energy);
            talus_world_destroy(w);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(balance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impacts_alone, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
