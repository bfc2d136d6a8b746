// SPDX-License-Identifier: Apache-2.0
// Runs do not notice units, axes or the place of the origin; a layer of balls moves like disks;
// impulses between bodies change neither momentum nor angular momentum.
#include "base/rng.h"
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

static const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                       TALUS_SCHEME_MOREAU_JEAN};

// How a scene is laid out: units, a turn and a shift.
typedef struct layout {
    double length, mass, time; // what 1 m, 1 kg, 1 s are in the units of the world
    double turn[4], shift[3];
} layout;

static const layout plain = {1.0, 1.0, 1.0, {1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

static void laid_vector(const layout *l, double scale, const double in[3], double out[3]) {
    tl_rotate(l->turn, in, out);
    tl_scale3(scale, out, out);
}

enum { HEAP = 14, STEPS = 250 };

// Balls and a brick that fall on a floor and come to rest.
static talus_world *heap(talus_scheme scheme, const layout *l) {
    tl_rng rng = {8};
    const double speed = l->length / l->time, gravity[3] = {0.0, 0.0, -9.81};
    talus_world_def def = worlds_def(3, scheme, 2e-3 * l->time, 0.0);
    laid_vector(l, l->length / (l->time * l->time), gravity, def.gravity);
    def.tolerance = 1e-12;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.5, 0.4, 0.1);
    for (int i = 0; i < HEAP; i++) {
        const double x[3] = {1.05 * (i % 3) - 1.0, 1.05 * (i / 3 % 3) - 1.0, 0.7 + 1.05 * (i / 9)};
        double jitter[3], v[3], spin[3];
        talus_body_def body = worlds_ball(w, 0.5 * l->length, 0.0, 0.0, 0.0);
        if (i == HEAP - 1) {
            const double a = 0.4 * l->length;
            body.shape = worlds_shape(
                w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {a, 0.7 * a, 0.6 * a}});
        }
        body.mass = l->mass * tl_rng_range(&rng, 1.0, 2.0);
        for (int k = 0; k < 3; k++) {
            jitter[k] = x[k] + tl_rng_range(&rng, 0.0, 0.04);
            v[k] = tl_rng_range(&rng, -1.0, 1.0);
            spin[k] = tl_rng_range(&rng, -1.0, 1.0);
        }
        laid_vector(l, l->length, jitter, body.position);
        tl_axpy3(body.position, 1.0, l->shift, body.position);
        laid_vector(l, speed, v, body.velocity);
        laid_vector(l, 1.0 / l->time, spin, body.spin);
        memcpy(body.orientation, l->turn, sizeof body.orientation);
        worlds_add(w, &body);
    }
    const double up[3] = {0.0, 0.0, 1.0};
    double n[3];
    laid_vector(l, 1.0, up, n);
    talus_body_def floor = worlds_fixed(
        w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE, .normal = {n[0], n[1], n[2]}});
    tl_copy3(l->shift, floor.position);
    worlds_add(w, &floor);
    return w;
}

// Largest difference of positions [m] and velocities [m/s] between a run and the plain one.
static double compare(talus_scheme scheme, const layout *l) {
    talus_world *a = heap(scheme, &plain), *b = heap(scheme, l);
    double worst = 0.0;
    int64_t contacts = 0;
    for (int k = 0; k < STEPS; k++) {
        contacts += worlds_step(a).contacts;
        worlds_step(b);
        const talus_body_view va = worlds_bodies(a), vb = worlds_bodies(b);
        for (int i = 0; i < HEAP; i++) {
            double x[3], v[3];
            tl_sub3(vb.position + 3 * i, l->shift, x);
            tl_rotate_back(l->turn, x, x);
            tl_rotate_back(l->turn, vb.velocity + 3 * i, v);
            for (int e = 0; e < 3; e++) {
                worst = fmax(worst, fabs(x[e] / l->length - va.position[3 * i + e]));
                worst = fmax(worst, fabs(v[e] * l->time / l->length - va.velocity[3 * i + e]));
            }
        }
    }
    assert_true(contacts > 500);
    talus_world_destroy(a);
    talus_world_destroy(b);
    return worst;
}

// Units that differ by powers of two change no digit at all; others change the last one, and
// collisions of balls let such a difference grow.
static void units(void **state) {
    (void)state;
    layout l = plain;
    l.length = 0x1p10, l.mass = 0x1p-20, l.time = 0x1p7;
    for (int s = 0; s < 3; s++) assert_true(compare(schemes[s], &l) == 0.0);
    l.length = 1e3, l.mass = 1e-9, l.time = 1e6;
    for (int s = 0; s < 3; s++) assert_true(compare(schemes[s], &l) <= 1e-6);
}

static void axes_and_origin(void **state) {
    (void)state;
    layout l = plain;
    const double turn[4] = {0.3, -0.5, 0.7, 0.4}, shift[3] = {4.0, -3.0, 2.0};
    memcpy(l.turn, turn, sizeof turn);
    tl_quat_normalise(l.turn);
    tl_copy3(shift, l.shift);
    for (int s = 0; s < 3; s++) assert_true(compare(schemes[s], &l) <= 1e-6);
}

// ---- a layer of balls is a set of disks --------------------------------------------------------

static talus_world *layer(int32_t dim, talus_scheme scheme) {
    tl_rng rng = {31};
    talus_world_def def = worlds_def(dim, scheme, 2e-3, 0.0);
    def.gravity[1] = -9.81;
    def.tolerance = 1e-12;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.3, 0.2);
    const double radius = 0.5;
    for (int i = 0; i < 16; i++) {
        talus_body_def disk = worlds_ball(w, radius, 0.0, 0.0, 0.0);
        disk.position[0] = 1.1 * (i % 4) - 1.65 + tl_rng_range(&rng, 0.0, 0.04);
        disk.position[1] = 1.1 * (i / 4) - 1.4 + tl_rng_range(&rng, 0.0, 0.04);
        for (int k = 0; k < 2; k++) disk.velocity[k] = tl_rng_range(&rng, -1.0, 1.0);
        disk.spin[2] = tl_rng_range(&rng, -3.0, 3.0);
        for (int k = 0; k < 3; k++) disk.inertia[k] = 0.5 * radius * radius;
        worlds_add(w, &disk);
    }
    talus_body_def box = worlds_fixed(
        w, (talus_shape_def){.kind = TALUS_SHAPE_CONTAINER, .half = {2.4, 2.0, INFINITY}});
    worlds_add(w, &box);
    if (dim == 2) return w;
    talus_material_def smooth = talus_material_default();
    smooth.friction = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        talus_body_def plate = worlds_fixed(
            w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0.0, 0.0, -side}});
        plate.position[2] = side * radius;
        WORLDS_OK(talus_world_add_material(w, &smooth, &plate.material));
        worlds_add(w, &plate);
    }
    return w;
}

static void layer_of_balls(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++) {
        talus_world *flat = layer(2, schemes[s]), *space = layer(3, schemes[s]);
        int64_t contacts = 0;
        for (int k = 0; k < 300; k++) {
            contacts += worlds_step(flat).contacts;
            worlds_step(space);
            const talus_body_view a = worlds_bodies(flat), b = worlds_bodies(space);
            for (int i = 0; i < 48; i++) {
                assert_true(fabs(a.position[i] - b.position[i]) <= 1e-7);
                assert_true(fabs(a.velocity[i] - b.velocity[i]) <= 1e-6);
                assert_true(fabs(a.spin[i] - b.spin[i]) <= 1e-5);
            }
        }
        assert_true(contacts > 500);
        talus_world_destroy(flat);
        talus_world_destroy(space);
    }
}

// ---- momentum ----------------------------------------------------------------------------------

// A cloud of balls that rush together, with friction, in empty space; in 2D a brick among them.
static void momentum(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++)
        for (int32_t dim = 2; dim <= 3; dim++) {
            tl_rng rng = {41};
            talus_world_def def = worlds_def(dim, schemes[s], 2e-3, 0.0);
            talus_world *w = worlds_create(&def);
            worlds_law(w, 0.7, 0.5, 0.3);
            for (int i = 0; i < 27; i++) {
                const double x[3] = {1.1 * (i % 3), 1.1 * (i / 3 % 3), 1.1 * (i / 9)};
                talus_body_def ball = worlds_ball(w, 0.5, x[0], x[1], x[2]);
                if (dim == 2) {
                    if (i >= 9) break;
                    if (i == 4)
                        ball.shape = worlds_shape(
                            w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.3}});
                }
                ball.mass = tl_rng_range(&rng, 1.0, 2.0);
                for (int k = 0; k < dim; k++)
                    ball.velocity[k] = 5.0 * (1.1 - x[k]) + tl_rng_range(&rng, -1.0, 1.0);
                ball.spin[2] = tl_rng_range(&rng, -9.0, 9.0);
                if (dim == 3) ball.spin[0] = tl_rng_range(&rng, -9.0, 9.0);
                worlds_add(w, &ball);
            }
            const talus_ledger first = worlds_step(w);
            int64_t acting = 0;
            for (int k = 0; k < 200; k++) {
                const talus_ledger l = worlds_step(w);
                acting += l.stick + l.slip;
                for (int e = 0; e < 3; e++) {
                    assert_true(fabs(l.momentum[e] - first.momentum[e]) <= 1e-11);
                    assert_true(fabs(l.angular[e] - first.angular[e]) <= 1e-11);
                }
            }
            assert_true(acting >= 8);
            talus_world_destroy(w);
        }
}

// ---- periodic cell -----------------------------------------------------------------------------

static talus_world *cell(double shift, talus_scheme scheme) {
    tl_rng rng = {51};
    talus_world_def def = worlds_def(2, scheme, 2e-3, 0.0);
    def.period[0] = 6.0;
    def.period[1] = 5.0;
    def.tolerance = 1e-12;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.8, 0.0);
    for (int i = 0; i < 20; i++) {
        talus_body_def disk =
            worlds_ball(w, 0.45, 1.2 * (i % 5) + shift, 1.25 * (i / 5) - shift, 0.0);
        for (int k = 0; k < 2; k++) disk.velocity[k] = tl_rng_range(&rng, 1.0, 7.0);
        worlds_add(w, &disk);
    }
    return w;
}

// Disks that leave on one side meet the others on the opposite side; where the cell begins does not
// matter, and momentum stays. Positions are not folded back: they tell the way that was travelled.
static void periodic(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++) {
        talus_world *a = cell(0.0, schemes[s]), *b = cell(2.7, schemes[s]);
        const talus_ledger first = worlds_step(a);
        worlds_step(b);
        int64_t acting = 0;
        double far = 0.0, off = 0.0;
        for (int k = 0; k < 1000; k++) {
            const talus_ledger l = worlds_step(a);
            acting += l.stick + l.slip;
            worlds_step(b);
            const talus_body_view va = worlds_bodies(a), vb = worlds_bodies(b);
            for (int e = 0; e < 2; e++)
                assert_true(fabs(l.momentum[e] - first.momentum[e]) <= 1e-11);
            for (int i = 0; i < 20; i++) {
                far = fmax(far, fabs(va.position[3 * i]));
                // collisions double a difference each: compare before they have eaten all digits
                if (k < 200) off = fmax(off, fabs(va.velocity[3 * i] - vb.velocity[3 * i]));
            }
        }
        assert_true(acting > 50);
        assert_true(far > 9.0);
        assert_true(off <= 1e-6);
        talus_world_destroy(a);
        talus_world_destroy(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(axes_and_origin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(layer_of_balls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(momentum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(periodic, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
