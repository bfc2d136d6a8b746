// SPDX-License-Identifier: Apache-2.0
// Rods and bodies that are put down within each other: what talus_world_find_overlap says before
// the first step is what the step finds, and asking changes nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/rods.h"

#define RADIUS 1e-3
#define STEP 1e-3

// Two rods that cross at a right angle, their axes `apart` above each other; nothing else.
static talus_world *crossing(double apart, talus_rod_kind kind) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, STEP, 0.0);
    double x[3 * 11];
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = talus_rod_default();
    rod.kind = kind;
    rod.nodes = 11;
    rod.pieces = 5;
    rod.position = x;
    rod.radius = RADIUS;
    rod.start = TALUS_END_CLAMPED;
    rods_line(11, (double[3]){-0.1, 0.003, 0.0}, (double[3]){0.1, 0.003, 0.0}, x);
    rods_add(w, &rod);
    rods_line(11, (double[3]){0.004, -0.1, apart}, (double[3]){0.004, 0.1, apart}, x);
    rods_add(w, &rod);
    return w;
}

// Two cylinders of radius r whose axes pass each other at the distance a overlap by 2 r − a.
static void crossing_rods(void **state) {
    (void)state;
    const talus_rod_kind kinds[] = {TALUS_ROD_DISCRETE, TALUS_ROD_HELIX};
    for (int k = 0; k < 2; k++)
        for (int step = 0; step < 4; step++) {
            const double apart = RADIUS * (0.5 + 0.6 * step), depth = 2.0 * RADIUS - apart;
            talus_world *w = crossing(apart, kinds[k]);
            talus_overlap over;
            WORLDS_OK(talus_world_find_overlap(w, &over));
            if (depth > 0.0) {
                rods_near("depth", over.depth, depth, 1e-9 * RADIUS);
                assert_int_equal(over.count, 1);
                assert_true(over.a >= 0 && over.a < 10 && over.b >= 10 && over.b < 20);
            } else {
                assert_true(over.depth == 0.0 && over.count == 0 && over.a == -1 && over.b == -1);
            }
            // what the header says of the step that follows
            const talus_ledger ledger = worlds_step(w);
            rods_near("penetration", ledger.penetration, over.depth, 1e-12 * RADIUS);
            talus_contact_view c;
            talus_world_contacts(w, &c);
            double apart_speed = 0.0;
            for (int32_t i = 0; i < c.count && depth > 0.0; i++) {
                const double *u = c.velocity + 3 * (ptrdiff_t)i, *n = c.normal + 3 * (ptrdiff_t)i;
                apart_speed = fmax(apart_speed, u[0] * n[0] + u[1] * n[1] + u[2] * n[2]);
            }
            if (depth > 0.0)
                rods_near("speed apart", apart_speed, depth / STEP, 1e-3 * depth / STEP);
            talus_world_destroy(w);
        }
}

// A rod within a ball, and within the body that holds it, where it counts only beyond its first
// segments' reach: the held end does not.
static void rods_and_bodies(void **state) {
    (void)state;
    for (int held = 0; held < 2; held++) {
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, STEP, 0.0);
        double x[3 * 11];
        talus_world *w = worlds_create(&def);
        talus_body_def ball = worlds_ball(w, 0.01, 0.0, 0.0, 0.0);
        ball.motion.kind = TALUS_MOTION_FIXED;
        worlds_add(w, &ball);
        talus_rod_def rod = talus_rod_default();
        rod.nodes = 11;
        rod.position = x;
        rod.radius = RADIUS;
        rod.start = TALUS_END_CLAMPED;
        if (held) { // out of the ball from its surface on
            rod.start_body = 0;
            rods_line(11, (double[3]){0.01, 0.0, 0.0}, (double[3]){0.21, 0.0, 0.0}, x);
        } else { // past it, 4 mm deep
            rods_line(11, (double[3]){-0.1, 0.0, 0.007}, (double[3]){0.1, 0.0, 0.007}, x);
        }
        rods_add(w, &rod);
        talus_overlap over;
        WORLDS_OK(talus_world_find_overlap(w, &over));
        if (held)
            assert_true(over.depth == 0.0);
        else
            rods_near("depth", over.depth, 0.004, 1e-9);
        talus_world_destroy(w);
    }
}

// Asking between steps leaves the run as it is, bit for bit.
static void asking_changes_nothing(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        talus_world *w = crossing(2.001 * RADIUS, TALUS_ROD_DISCRETE);
        for (int step = 0; step < 20; step++) {
            talus_overlap over;
            if (k == 1) WORLDS_OK(talus_world_find_overlap(w, &over));
            (void)worlds_step(w);
        }
        hash[k] = talus_world_hash(w);
        talus_world_destroy(w);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(crossing_rods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rods_and_bodies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asking_changes_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
