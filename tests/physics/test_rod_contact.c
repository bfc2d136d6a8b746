// SPDX-License-Identifier: Apache-2.0
// Rods that touch: a rope around a drum, rods at rest and on a slope, bodies on rods, rods on rods;
// equal bits for any number of threads, after a restart, and when bodies come after rods.
// ctest labels: threads
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/rods.h"

// ---- rope and drum -----------------------------------------------------------------------------

// A rope lies around a fixed drum (axis y) by half a turn, one end held, the other drawn: while it
// slides, the tensions are in the ratio e^(mu π).
static double capstan_ratio(double mu) {
    enum { ARC = 32, SPAN = 4, NODES = ARC + 2 * SPAN + 1 };
    const double drum = 0.1, r = 2e-4, edge = RODS_PI * (drum + r) / ARC;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 0.0);
    talus_world *w = worlds_create(&def);
    worlds_law(w, mu, 0.0, 0.0);
    talus_body_def body = worlds_fixed(
        w, (talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = drum, .height = 0.2});
    const double turned[4] = {sqrt(0.5), sqrt(0.5), 0.0, 0.0}; // its axis along y
    memcpy(body.orientation, turned, sizeof turned);
    worlds_add(w, &body);
    // corners at the middle of their arcs' tangents: the segments touch the drum with their middles
    const double corner = (drum + r) / cos(0.5 * RODS_PI / ARC);
    double x[3 * NODES];
    for (int k = 0; k < NODES; k++) {
        const int on = k - SPAN; // 0 … ARC around the drum
        const double a = RODS_PI * (on < 0 ? 0 : on > ARC ? ARC : on) / ARC;
        x[3 * k] = -corner * cos(a);
        x[3 * k + 1] = 0.0;
        x[3 * k + 2] = corner * sin(a) - edge * (on < 0 ? -on : on > ARC ? on - ARC : 0);
    }
    talus_body_def hand = worlds_ball(w, 0.01, x[3 * NODES - 3], 0.0, x[3 * NODES - 1] - 0.05);
    hand.motion = (talus_motion_def){.kind = TALUS_MOTION_VELOCITY, .velocity = {0.0, 0.0, -8e-3}};
    talus_rod_def rod = talus_rod_default();
    rod.nodes = NODES;
    rod.position = x;
    rod.natural = x; // it has taken on the shape: bending does not add to the tension
    rod.radius = r;
    rod.young = 1e9;
    rod.density = 1000.0;
    rod.damping = 2e-3;
    rod.start = rod.end = TALUS_END_PINNED;
    rod.end_body = worlds_add(w, &hand);
    rod.self_contact = false;
    rods_add(w, &rod);
    for (int k = 0; k < 100; k++) {
        const talus_ledger l = worlds_step(w);
        assert_false(l.missed);
    }
    const talus_contact_view c = worlds_contacts(w);
    int sliding = 0;
    for (int32_t i = 0; i < c.count; i++) sliding += c.status[i] == 2;
    assert_true(sliding >= ARC - 6);
    const talus_rod_view view = talus_world_rods(w);
    const double held = view.strain[1], drawn = view.strain[NODES - 3];
    assert_true(held > 0.0);
    talus_world_destroy(w);
    return drawn / held;
}

static void capstan(void **state) {
    (void)state;
    const double mu[] = {0.2, 0.5};
    for (int k = 0; k < 2; k++)
        rods_near("tension / e^(mu π)", capstan_ratio(mu[k]) / exp(mu[k] * RODS_PI), 1.0, 0.01);
}

// ---- rest and slope ----------------------------------------------------------------------------

// Rods thrown on the floor, bent lest they roll, and hung over a bar come to rest and stay there.
static void rods_do_not_creep(void **state) {
    (void)state;
    enum { NODES = 25 };
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.tolerance = 1e-8;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.6, 0.0, 0.0);
    worlds_plane(w, 0.0, 0.0, 1.0);
    talus_body_def bar = worlds_fixed(
        w, (talus_shape_def){.kind = TALUS_SHAPE_CYLINDER, .radius = 0.02, .height = 0.4});
    const double turned[4] = {sqrt(0.5), sqrt(0.5), 0.0, 0.0};
    memcpy(bar.orientation, turned, sizeof turned);
    bar.position[2] = 0.3;
    worlds_add(w, &bar);
    double x[3 * NODES];
    talus_rod_def rod = talus_rod_default();
    rod.nodes = NODES;
    rod.position = x;
    rod.radius = 2e-3;
    rod.young = 1e6;
    rod.damping = 5e-3;
    rod.drag = 0.4;
    for (int k = 0; k < NODES; k++) {
        x[3 * k] = 0.08 * cos(0.12 * k);
        x[3 * k + 1] = 0.15 + 0.08 * sin(0.12 * k);
        x[3 * k + 2] = 0.01 + 2e-4 * k;
    }
    rod.natural = x;
    rods_add(w, &rod); // falls on the floor
    rod.natural = NULL;
    rods_line(NODES, (double[3]){-0.12, 0.0, 0.3222}, (double[3]){0.12, 0.0, 0.3222}, x);
    rods_add(w, &rod); // over the bar
    for (int k = 0; k < 1200; k++) (void)worlds_step(w);
    double before[2 * 3 * NODES];
    talus_rod_view view = talus_world_rods(w);
    memcpy(before, view.position, sizeof before);
    talus_ledger l = {0};
    for (int k = 0; k < 100; k++) l = worlds_step(w);
    view = talus_world_rods(w);
    double moved = 0.0;
    for (int k = 0; k < 2 * 3 * NODES; k++) moved = fmax(moved, fabs(view.position[k] - before[k]));
    assert_true(moved < 1e-6);
    assert_true(l.kinetic < 1e-12);
    assert_true(l.penetration < 1e-6);
    // it hangs over the bar
    const double *hung = view.position + 3 * (ptrdiff_t)NODES;
    assert_true(hung[2] < 0.29 && hung[3 * NODES - 1] < 0.29);
    assert_true(hung[3 * (NODES / 2) + 2] > 0.32);
    // the floor carries the weight of the one that lies on it
    const talus_contact_view c = worlds_contacts(w);
    double carried = 0.0;
    for (int32_t i = 0; i < c.count; i++)
        if (c.a[i] == 0) carried -= c.impulse[3 * i + 2];
    const double length = 24.0 * hypot(0.16 * sin(0.06), 2e-4);
    rods_near("weight", carried / l.h, 9.81 * rods_line_mass(&rod) * length, 1e-5);
    talus_world_destroy(w);
}

// A rod along a slope of mu's angle: below it stays, above it slides with g (sin − mu cos).
static void slope(void **state) {
    (void)state;
    enum { NODES = 9 };
    const double mu = 0.4, angle[] = {0.36, 0.6};
    for (int k = 0; k < 2; k++) {
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 0.0);
        def.gravity[0] = 9.81 * sin(angle[k]);
        def.gravity[2] = -9.81 * cos(angle[k]);
        talus_world *w = worlds_create(&def);
        worlds_law(w, mu, 0.0, 0.0);
        worlds_plane(w, 0.0, 0.0, 1.0);
        double x[3 * NODES];
        talus_rod_def rod = talus_rod_default();
        rods_line(NODES, (double[3]){0.0, 0.0, 1e-3}, (double[3]){0.08, 0.0, 1e-3}, x);
        rod.nodes = NODES;
        rod.position = x;
        rod.young = 1e8;
        rods_add(w, &rod);
        talus_ledger l = {0};
        for (int s = 0; s < 200; s++) l = worlds_step(w);
        const double v = talus_world_rods(w).velocity[3 * (NODES / 2)];
        const double push = sin(angle[k]) - mu * cos(angle[k]);
        rods_near("slope", v, push > 0.0 ? 9.81 * push * l.time : 0.0, 1e-4);
        talus_world_destroy(w);
    }
}

// ---- rods and bodies ---------------------------------------------------------------------------

// A ball rests on two rods between posts: it is carried, and the posts carry all weights. A third
// rod lies across the two.
static void ball_on_rods(void **state) {
    (void)state;
    enum { NODES = 21 };
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    double x[3 * NODES];
    talus_rod_def rod = talus_rod_default();
    rod.nodes = NODES;
    rod.position = x;
    rod.radius = 2e-3;
    rod.young = 1e8;
    rod.damping = 5e-3;
    rod.start = rod.end = TALUS_END_PINNED;
    for (int k = 0; k < 2; k++) {
        const double y = k ? 0.01 : -0.01;
        rods_line(NODES, (double[3]){-0.1, y, 0.0}, (double[3]){0.1, y, 0.0}, x);
        rods_add(w, &rod);
    }
    rod.start = rod.end = TALUS_END_FREE;
    rods_line(5, (double[3]){0.06, -0.02, 0.00401}, (double[3]){0.06, 0.02, 0.00401}, x);
    rod.nodes = 5;
    rods_add(w, &rod);
    talus_body_def ball = worlds_ball(w, 0.015, 0.0, 0.0, 0.016); // after the rods: they make way
    ball.mass = 0.02;
    worlds_add(w, &ball);
    assert_int_equal(talus_world_rods(w).first_item, 1);
    enum { MEAN = 200 };
    double on_ball = 0.0, on_cross = 0.0;
    const int32_t cross = 1 + 2 * (NODES - 1); // item of the third rod's first segment
    talus_ledger l = {0};
    for (int k = 0; k < 1000; k++) {
        l = worlds_step(w);
        const talus_contact_view c = worlds_contacts(w);
        for (int32_t i = 0; k >= 1000 - MEAN && i < c.count; i++) {
            if (c.a[i] == 0) on_ball += c.impulse[3 * i + 2];
            if (c.a[i] < cross && c.b[i] >= cross) on_cross -= c.impulse[3 * i + 2];
        }
    }
    const talus_body_view b = worlds_bodies(w);
    assert_true(tl_norm3(b.velocity) < 1e-4);
    assert_true(b.position[2] > 0.0 && b.position[2] < 0.016);
    rods_near("middle", b.position[1], 0.0, 1e-6);
    const double time = MEAN * l.h;
    rods_near("weight of the ball", on_ball / time, 9.81 * 0.02, 1e-4 * 0.2);
    rods_near("weight of a rod", on_cross / time, 9.81 * rods_line_mass(&rod) * 0.04, 5e-6);
    assert_true(l.penetration < 1e-5);
    talus_world_destroy(w);
}

// Momentum of a rod and a ball that hit each other in free space; the angular one up to what
// implicit steps take of it.
static void collision_keeps_momentum(void **state) {
    (void)state;
    enum { NODES = 11 };
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 0.0);
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    double x[3 * NODES];
    talus_rod_def rod = talus_rod_default();
    rods_line(NODES, (double[3]){-0.05, 0.0, 0.0}, (double[3]){0.05, 0.0, 0.0}, x);
    rod.nodes = NODES;
    rod.position = x;
    rods_add(w, &rod);
    talus_body_def ball = worlds_ball(w, 0.01, 0.02, 0.003, 0.03);
    ball.mass = 1e-3;
    ball.velocity[2] = -1.0;
    ball.spin[0] = 20.0;
    worlds_add(w, &ball);
    talus_ledger l = worlds_step(w);
    const talus_ledger first = l;
    double before = l.kinetic + l.elastic;
    int hit = 0; // steps since
    for (int k = 0; k < 100 && hit < 5; k++) {
        l = worlds_step(w);
        hit += hit > 0 || l.slip + l.stick > 0;
        const double now = l.kinetic + l.potential + l.elastic;
        rods_near("ledger", now - before,
                  l.work_obstacles + l.work_forces - l.loss_impact - l.loss_friction -
                      l.loss_numerical,
                  1e-15);
        assert_true(l.loss_impact > -1e-15 && l.loss_friction > -1e-12);
        assert_true(now <= before + 1e-9);
        before = now;
    }
    assert_int_equal(hit, 5);
    for (int k = 0; k < 3; k++) {
        rods_near("momentum", l.momentum[k], first.momentum[k], 1e-14);
        rods_near("angular momentum", l.angular[k], first.angular[k], 1e-3 * 1e-3 * 0.03);
    }
    talus_world_destroy(w);
}

// A hairpin whose legs overlap by a little: they touch each other, but no neighbours do, not even
// where it is bent most; and none if it is not to touch itself.
static void hairpin(void **state) {
    (void)state;
    enum { LEG = 10, BEND = 6, NODES = 2 * LEG + BEND + 1 };
    for (int touches = 0; touches < 2; touches++) {
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 0.0);
        talus_world *w = worlds_create(&def);
        const double r = 1e-3, half = 0.99 * r, edge = 0.25 * r;
        double x[3 * NODES] = {0};
        for (int k = 0; k < NODES; k++) {
            const int on = k - LEG; // 0 … BEND in the bend
            const double a = RODS_PI * (on < 0 ? 0 : on > BEND ? BEND : on) / BEND;
            const int before = on < 0 ? -on : on > BEND ? on - BEND : 0;
            x[3 * k] = -edge * before + half * sin(a);
            x[3 * k + 1] = half * cos(a);
        }
        talus_rod_def rod = talus_rod_default();
        rod.nodes = NODES;
        rod.position = rod.natural = x;
        rod.radius = r;
        rod.self_contact = touches;
        rods_add(w, &rod);
        (void)worlds_step(w);
        const talus_contact_view c = worlds_contacts(w);
        assert_true(touches ? c.count >= LEG : c.count == 0);
        const double arc = 2.0 * half * sin(0.5 * RODS_PI / BEND);
        for (int32_t i = 0; i < c.count; i++) {
            double apart = 0.0; // along it
            for (int32_t k = c.a[i] + 1; k < c.b[i]; k++)
                apart += k < LEG || k >= LEG + BEND ? edge : arc;
            assert_true(apart >= RODS_PI * r);
            assert_true(c.a[i] < LEG && c.b[i] >= LEG + BEND);
            assert_true(fabs(c.normal[3 * i + 1]) > 0.9); // across, or to the next but one
        }
        const talus_rod_view view = talus_world_rods(w);
        if (touches) assert_true(view.position[1] - view.position[3 * NODES - 2] > 2.0 * half);
        talus_world_destroy(w);
    }
}

// A straight rod falls flat on the floor and rebounds with e times its speed.
static void rebound(void **state) {
    (void)state;
    enum { NODES = 6 };
    talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, 1e-3, 0.0);
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.6, 0.0);
    worlds_plane(w, 0.0, 0.0, 1.0);
    double x[3 * NODES];
    talus_rod_def rod = talus_rod_default();
    rods_line(NODES, (double[3]){0.0, 0.0, 0.0102}, (double[3]){0.1, 0.0, 0.0102}, x);
    rod.nodes = NODES;
    rod.position = x;
    rod.velocity[2] = -1.0;
    rods_add(w, &rod);
    for (int k = 0; k < 30; k++) (void)worlds_step(w);
    const talus_rod_view view = talus_world_rods(w);
    for (int k = 0; k < NODES; k++) rods_near("rebound", view.velocity[3 * k + 2], 0.6, 1e-6);
    talus_world_destroy(w);
}

// ---- a tangle ----------------------------------------------------------------------------------

// Curly rods held at the top by a body that shakes, over a floor with a ball.
static talus_world *tangle(int32_t threads) {
    enum { RODS = 12, NODES = 14 };
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.threads = threads;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    worlds_plane(w, 0.0, 0.0, 1.0);
    talus_body_def hand = worlds_ball(w, 0.01, 0.0, 0.0, 0.2);
    hand.motion = (talus_motion_def){
        .kind = TALUS_MOTION_OSCILLATION, .amplitude = {0.03, 0.02, 0.0}, .frequency = 2.0};
    const int32_t held = worlds_add(w, &hand);
    talus_body_def ball = worlds_ball(w, 0.02, 0.02, 0.0, 0.0201);
    ball.mass = 0.01;
    worlds_add(w, &ball);
    for (int i = 0; i < RODS; i++) {
        double x[3 * NODES];
        talus_rod_def rod = talus_rod_default();
        for (int k = 0; k < NODES; k++) {
            x[3 * k] = 0.006 * (i % 4) + 0.004 * sin(0.8 * k + i);
            x[3 * k + 1] = 0.006 * (i / 4) + 0.004 * cos(0.8 * k + i);
            x[3 * k + 2] = 0.18 - 0.01 * k;
        }
        rod.nodes = NODES;
        rod.position = rod.natural = x;
        rod.radius = 1e-3;
        rod.young = 1e7;
        rod.damping = 1e-3;
        rod.start = i % 3 ? TALUS_END_CLAMPED : TALUS_END_PINNED;
        rod.start_body = held;
        rods_add(w, &rod);
    }
    return w;
}

static void same_bits_for_any_threads(void **state) {
    (void)state;
    const int32_t threads[] = {1, 2, 3, 8};
    uint64_t hash = 0;
    for (int k = 0; k < 4; k++) {
        talus_world *w = tangle(threads[k]);
        int32_t contacts = 0;
        for (int s = 0; s < 30; s++) contacts += worlds_step(w).contacts;
        assert_true(contacts > 100);
        if (k == 0) hash = talus_world_hash(w);
        assert_int_equal(talus_world_hash(w), hash);
        talus_world_destroy(w);
    }
}

static void same_bits_after_restart(void **state) {
    (void)state;
    talus_world *w = tangle(1), *again = tangle(1);
    for (int s = 0; s < 20; s++) (void)worlds_step(w);
    const int64_t n = talus_world_save(w, NULL);
    double *numbers = calloc((size_t)n, sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(talus_world_save(w, numbers), n);
    WORLDS_OK(talus_world_load(again, numbers, n));
    assert_int_equal(talus_world_hash(again), talus_world_hash(w));
    for (int s = 0; s < 20; s++) {
        (void)worlds_step(w);
        (void)worlds_step(again);
    }
    assert_int_equal(talus_world_hash(again), talus_world_hash(w));
    free(numbers);
    talus_world_destroy(w);
    talus_world_destroy(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(capstan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rods_do_not_creep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slope, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ball_on_rods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(collision_keeps_momentum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hairpin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rebound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_bits_for_any_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_bits_after_restart, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
