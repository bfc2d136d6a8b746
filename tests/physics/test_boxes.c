// SPDX-License-Identifier: Apache-2.0
// Boxes and polygons on each other: stacks that stand still, a box that slides on another with the
// same contacts all the way, a polygon that rolls.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

static const double creep = 1e-12; // [m/s]
static const double g = 9.81;

static talus_body_def box_at(int32_t shape, int32_t dim, double x, double up) {
    talus_body_def body = talus_body_default();
    body.shape = shape;
    body.position[0] = x;
    body.position[dim - 1] = up;
    return body;
}

// Ten boxes are put on each other with a little room between them, fall, and come to rest. The
// tolerance of 1e-13 is relative to g h = 1e-2 m/s.
static void a_stack_of_ten_stands_still(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_world_def def = worlds_def(dim, TALUS_SCHEME_MOREAU_JEAN, 1e-3, g);
        def.tolerance = 1e-13;
        talus_world *w = worlds_create(&def);
        worlds_law(w, 0.5, 0.0, 0.0);
        const int32_t shape =
            worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}});
        for (int k = 0; k < 10; k++) {
            const talus_body_def body =
                box_at(shape, dim, 0.005 * (k % 3), 0.1 + 0.2 * k + 1e-5 * (k + 1));
            worlds_add(w, &body);
        }
        worlds_plane(w, 0.0, dim == 2, dim == 3);
        for (int k = 0; k < 100; k++) worlds_step(w);
        double before[10][3];
        const talus_body_view first = worlds_bodies(w);
        memcpy(before, first.position, sizeof before);
        for (int k = 0; k < 200; k++) {
            worlds_step(w);
            const talus_body_view b = worlds_bodies(w);
            for (int i = 0; i < 30; i++) {
                assert_true(fabs(b.velocity[i]) <= creep);
                assert_true(fabs(b.spin[i]) <= 10.0 * creep);
            }
            assert_int_equal(worlds_contacts(w).count, dim == 2 ? 20 : 40);
        }
        const talus_body_view last = worlds_bodies(w);
        for (int i = 0; i < 30; i++)
            assert_true(fabs(last.position[i] - before[i / 3][i % 3]) <= 1e-12);
        talus_world_destroy(w);
    }
}

// A box of half length a and half height c slides along x on a fixed box. Friction mu m g at its
// foot slows it by mu g and leans it forward: of its weight m g h in a step the front carries (1 +
// mu c/a)/2, the rear the rest. In 3D each of these is shared by two corners in any way.
static void a_sliding_box_keeps_its_contacts(void **state) {
    (void)state;
    const double mu = 0.3, a = 0.2, c = 0.1, h = 1e-3;
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_world_def def = worlds_def(dim, TALUS_SCHEME_MOREAU_JEAN, h, g);
        def.tolerance = 1e-12;
        talus_world *w = worlds_create(&def);
        worlds_law(w, mu, 0.0, 0.0);
        const double side = dim == 2 ? c : 0.15;
        talus_body_def body = box_at(
            worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {a, side, c}}), dim,
            -1.0, c);
        body.mass = 2.0;
        body.velocity[0] = 1.0;
        worlds_add(w, &body);
        talus_body_def floor =
            worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX,
                                              .half = {3.0, dim == 2 ? 0.5 : 1.0, 0.5}});
        floor.position[dim - 1] = -0.5;
        worlds_add(w, &floor);
        uint32_t feature[4] = {0};
        const int expected = dim == 2 ? 2 : 4, steps = 500; // it stops after 0.34 s
        for (int k = 0; k < steps; k++) {
            worlds_step(w);
            const talus_body_view b = worlds_bodies(w);
            const talus_contact_view t = worlds_contacts(w);
            const double time = (k + 1) * h, speed = fmax(1.0 - mu * g * time, 0.0);
            assert_int_equal(t.count, expected);
            double load[2] = {0.0, 0.0}; // rear, front
            for (int n = 0; n < expected; n++) {
                if (k == 0) feature[n] = t.feature[n];
                assert_int_equal(t.feature[n], feature[n]);
                const int front = t.point[3 * n] > b.position[0];
                load[front] += t.impulse[3 * n + dim - 1];
            }
            assert_true(fabs(b.velocity[0] - speed) <= 1e-10);
            if (speed > mu * g * h) {
                const double lean = mu * c / a, weight = 2.0 * g * h;
                assert_true(fabs(load[1] - 0.5 * (1.0 + lean) * weight) <= 1e-9 * weight);
                assert_true(fabs(load[0] - 0.5 * (1.0 - lean) * weight) <= 1e-9 * weight);
            } else if (speed == 0.0 && k > 350) {
                assert_true(fabs(b.velocity[0]) <= creep && fabs(load[0] - load[1]) <= 1e-6);
            }
        }
        talus_world_destroy(w);
    }
}

// A regular polygon of n corners at the distance R rolls on a fixed box without slip. Each time an
// edge comes down the turn goes on about the next corner; angular momentum about that one gives
//     spin after / spin before = (I + m R² cos(2 π/n)) / (I + m R²).
static void a_polygon_rolls(void **state) {
    (void)state;
    enum { N = 8 };
    const double pi = 3.14159265358979323846, R = 0.1, h = 4e-5;
    double point[3 * N];
    for (int i = 0; i < N; i++) {
        point[3 * i] = R * cos(2.0 * pi * (i + 0.5) / N);
        point[3 * i + 1] = R * sin(2.0 * pi * (i + 0.5) / N);
        point[3 * i + 2] = 0.0;
    }
    talus_world_def def = worlds_def(2, TALUS_SCHEME_MOREAU_JEAN, h, g);
    talus_world *w = worlds_create(&def);
    worlds_law(w, 5.0, 0.0, 0.0);
    const talus_shape_def polygon = {
        .kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = N};
    talus_mass mass;
    WORLDS_OK(talus_shape_mass(ctx, 2, &polygon, 1000.0, &mass));
    const double moment = mass.inertia[2], inertia = mass.mass * R * R;
    const double ratio = (moment + inertia * cos(2.0 * pi / N)) / (moment + inertia);
    // on a corner, and fast enough to get over two more, but not to take off: spin² R < g
    talus_body_def body = box_at(worlds_shape(w, polygon), 2, 0.0, R);
    body.density = 1000.0;
    const double turn = pi / N, spin = -5.0;
    body.orientation[0] = cos(0.5 * turn);
    body.orientation[3] = -sin(0.5 * turn);
    body.spin[2] = spin;
    body.velocity[0] = -spin * R;
    worlds_add(w, &body);
    talus_body_def floor =
        worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {5.0, 0.5, 1.0}});
    floor.position[1] = -0.5;
    worlds_add(w, &floor);
    int impacts = 0;
    double before = spin;
    uint32_t feature[N];
    int features = 0;
    for (int k = 0; k < 20000 && impacts < 3; k++) {
        worlds_step(w);
        const double now = worlds_bodies(w).spin[2];
        const talus_contact_view t = worlds_contacts(w);
        for (int n = 0; n < t.count; n++) {
            bool known = false;
            for (int i = 0; i < features; i++) known = known || feature[i] == t.feature[n];
            if (!known) assert_true(features < N);
            if (!known) feature[features++] = t.feature[n];
        }
        if (fabs(now) < 0.95 * fabs(before)) {
            // gravity changes the spin by less than g h/R = 4e-3 1/s in a step, of 4 1/s or so
            assert_true(fabs(now / before - ratio) <= 1e-3);
            impacts++;
        }
        before = now;
    }
    assert_int_equal(impacts, 3);
    assert_int_equal(features, 4); // one corner after the other, each under one name
    talus_world_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stack_of_ten_stands_still, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sliding_box_keeps_its_contacts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_polygon_rolls, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
