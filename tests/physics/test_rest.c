// SPDX-License-Identifier: Apache-2.0
// Rest is rest: what friction can hold does not creep. Tolerance 1e-13 of the certificate, which is
// relative to the velocity g h that gravity would give in one step: 1e-13 · 9.81 · 1e-3 = 1e-15
// m/s.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

static const double creep = 1e-12; // [m/s]
static const talus_scheme schemes[] = {TALUS_SCHEME_FIXED_POINT, TALUS_SCHEME_CONVEX,
                                       TALUS_SCHEME_MOREAU_JEAN};

static talus_world_def tight(int32_t dim, talus_scheme scheme) {
    talus_world_def def = worlds_def(dim, scheme, 1e-3, 9.81);
    def.tolerance = 1e-13;
    return def;
}

// Steps 1000 times; the speed of body 0 relative to (vx, vy, vz) stays below `creep` after the
// first step.
static void stays(talus_world *w, double vx, double vy, double vz) {
    for (int k = 0; k < 1000; k++) {
        worlds_step(w);
        const talus_body_view b = worlds_bodies(w);
        assert_true(hypot(b.velocity[0] - vx, hypot(b.velocity[1] - vy, b.velocity[2] - vz)) <=
                    creep);
        assert_true(hypot(b.spin[0], hypot(b.spin[1], b.spin[2])) <= 10.0 * creep);
    }
}

// A slope of tan = part · mu, by turning gravity; direction in the plane given by an angle.
static void slope(talus_world_def *def, double mu, double part, double around) {
    const double angle = atan(part * mu);
    def->gravity[0] = 9.81 * sin(angle) * (def->dim == 3 ? cos(around) : 1.0);
    if (def->dim == 3) def->gravity[1] = 9.81 * sin(angle) * sin(around);
    def->gravity[def->dim - 1] = -9.81 * cos(angle);
}

static void brick_on_slope(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int s = 0; s < 3; s++) {
            talus_world_def def = tight(dim, schemes[s]);
            slope(&def, 0.5, 0.999, 0.7);
            talus_world *w = worlds_create(&def);
            worlds_law(w, 0.5, 0.3, 0.0);
            talus_body_def brick = talus_body_default();
            brick.shape = worlds_shape(
                w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.1, 0.1}});
            brick.position[dim - 1] = 0.1;
            worlds_add(w, &brick);
            worlds_plane(w, 0.0, dim == 2, dim == 3);
            stays(w, 0.0, 0.0, 0.0);
            talus_world_destroy(w);
        }
}

// A ball that cannot turn stays; one that can rolls at 5/7 (disk: 2/3) of g sin.
static void ball_on_slope(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int s = 0; s < 3; s++)
            for (int locked = 0; locked <= 1; locked++) {
                talus_world_def def = tight(dim, schemes[s]);
                slope(&def, 0.5, 0.999, 0.4);
                talus_world *w = worlds_create(&def);
                worlds_law(w, 0.5, 0.0, 0.0);
                talus_body_def ball = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
                ball.position[dim - 1] = 0.1;
                if (locked) ball.locked[3] = ball.locked[4] = ball.locked[5] = true;
                worlds_add(w, &ball);
                worlds_plane(w, 0.0, dim == 2, dim == 3);
                if (locked) {
                    stays(w, 0.0, 0.0, 0.0);
                } else {
                    for (int k = 0; k < 1000; k++) worlds_step(w);
                    const talus_body_view b = worlds_bodies(w);
                    const double share = dim == 2 ? 2.0 / 3.0 : 5.0 / 7.0;
                    for (int k = 0; k < dim - 1; k++)
                        assert_true(fabs(b.velocity[k] - share * def.gravity[k]) <= 1e-9);
                }
                talus_world_destroy(w);
            }
}

// A ball gripped between a scripted wall that travels and a plate that a force presses against it:
// friction alone carries its weight of 9.81 N, 2 mu F = 50 N could. Two scripted walls would leave
// the squeeze undetermined, and in the gap schemes contradict each other where they overlap.
static void gripped(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++)
        for (int32_t dim = 2; dim <= 3; dim++) {
            talus_world_def def = tight(dim, schemes[s]);
            talus_world *w = worlds_create(&def);
            worlds_law(w, 0.5, 0.0, 0.0);
            const double along = 0.1;
            talus_body_def ball = worlds_ball(w, 0.1, 0.0, 0.0, 0.0);
            ball.velocity[0] = along;
            worlds_add(w, &ball);
            talus_body_def wall =
                worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE, .normal = {1.0}});
            wall.position[0] = -0.1;
            wall.motion.kind = TALUS_MOTION_VELOCITY;
            wall.motion.velocity[0] = along;
            worlds_add(w, &wall);
            talus_body_def plate = talus_body_default();
            plate.shape = worlds_shape(
                w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.05, 0.2, 0.2}});
            plate.mass = 1.0;
            plate.position[0] = 0.15;
            plate.velocity[0] = along;
            plate.force[0] = -50.0;
            for (int k = 1; k < 6; k++) plate.locked[k] = true;
            worlds_add(w, &plate);
            stays(w, along, 0.0, 0.0);
            assert_true(fabs(worlds_bodies(w).position[dim - 1]) <= 1e-12);
            talus_world_destroy(w);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(brick_on_slope, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ball_on_slope, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gripped, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
