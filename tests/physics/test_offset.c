// SPDX-License-Identifier: Apache-2.0
// Bodies whose centre of mass and principal axes are not those of the frame their shape is given
// in: free flight, spin, rest, given motions, and the same body described in two frames.
#include "base/vec3.h"
#include "support/context.h"
#include "talus/world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void ok(talus_status status) {
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
}

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

// Three balls of different sizes that do not overlap, away from the origin and not in a line: no
// symmetry at all.
static const talus_shape_def balls[3] = {{.kind = TALUS_SHAPE_SPHERE, .radius = 0.5},
                                         {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3},
                                         {.kind = TALUS_SHAPE_SPHERE, .radius = 0.2}};
static const double centres[3][3] = {{1.0, 0.2, 0.0}, {2.0, 0.5, 0.3}, {0.9, 1.0, 0.4}};

// The same clump with its frame moved to x and turned by q.
static int32_t clump_add(talus_world *w, const double x[3], const double q[4], bool flat) {
    talus_part part[3] = {0};
    int32_t shape;
    for (int k = 0; k < 3; k++) {
        double d[3];
        tl_sub3(centres[k], x, d);
        if (flat) d[2] = 0.0;
        tl_rotate_back(q, d, part[k].position);
        part[k].shape = &balls[k];
        part[k].orientation[0] = 1.0;
    }
    const talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 3};
    ok(talus_world_add_shape(w, &clump, &shape));
    return shape;
}

static const double origin[3] = {0.0}, still[4] = {1.0, 0.0, 0.0, 0.0};

static talus_world *world_make(int32_t dim, talus_scheme scheme, const double gravity[3],
                               double step) {
    talus_world_def def = talus_world_default();
    talus_world *w = NULL;
    def.dim = dim;
    def.scheme = scheme;
    def.step = step;
    memcpy(def.gravity, gravity, sizeof def.gravity);
    ok(talus_world_create(ctx, &def, &w));
    return w;
}

// Mass, centre and inertia tensor about it of the three balls, density 1, by hand.
static double balls_mass(double centre[3], double j[3][3]) {
    double mass = 0.0, m[3];
    memset(j, 0, 9 * sizeof(double));
    for (int e = 0; e < 3; e++) centre[e] = 0.0;
    for (int k = 0; k < 3; k++) {
        m[k] = 4.0 / 3.0 * 3.14159265358979323846 * pow(balls[k].radius, 3);
        mass += m[k];
        for (int e = 0; e < 3; e++) centre[e] += m[k] * centres[k][e];
    }
    for (int e = 0; e < 3; e++) centre[e] /= mass;
    for (int k = 0; k < 3; k++) {
        double d[3];
        tl_sub3(centres[k], centre, d);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                j[a][b] += m[k] * ((a == b ? tl_dot3(d, d) : 0.0) - d[a] * d[b] +
                                   (a == b ? 0.4 * balls[k].radius * balls[k].radius : 0.0));
    }
    return mass;
}

// Torque-free flight by a method of our own: R' = [w]× R, w = R J⁻¹ Rᵀ L with L constant, fourth
// order, in tiny steps. `r` are the rows of R.
static void flight_rate(double r[3][3], double inverse[3][3], const double l[3], double out[3][3],
                        double w[3]) {
    double own[3], turned[3];
    for (int a = 0; a < 3; a++) own[a] = r[0][a] * l[0] + r[1][a] * l[1] + r[2][a] * l[2];
    for (int a = 0; a < 3; a++) turned[a] = tl_dot3(inverse[a], own);
    for (int a = 0; a < 3; a++) w[a] = tl_dot3(r[a], turned);
    for (int b = 0; b < 3; b++) {
        const double column[3] = {r[0][b], r[1][b], r[2][b]};
        double turn[3];
        tl_cross3(w, column, turn);
        for (int a = 0; a < 3; a++) out[a][b] = turn[a];
    }
}

static void flight_exact(double j[3][3], const double l[3], double time, double r[3][3]) {
    enum { STEPS = 4000 };
    double inverse[3][3], det = 0.0, w[3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            inverse[b][a] = j[(a + 1) % 3][(b + 1) % 3] * j[(a + 2) % 3][(b + 2) % 3] -
                            j[(a + 1) % 3][(b + 2) % 3] * j[(a + 2) % 3][(b + 1) % 3];
    for (int b = 0; b < 3; b++) det += j[0][b] * inverse[b][0];
    for (int a = 0; a < 9; a++) inverse[a / 3][a % 3] /= det;
    for (int a = 0; a < 9; a++) r[a / 3][a % 3] = a % 4 == 0;
    const double h = time / STEPS;
    for (int s = 0; s < STEPS; s++) {
        double k[4][3][3], at[3][3];
        for (int i = 0; i < 4; i++) {
            const double part = i == 0 ? 0.0 : i == 3 ? h : 0.5 * h;
            for (int a = 0; a < 9; a++)
                at[a / 3][a % 3] =
                    r[a / 3][a % 3] + (i > 0 ? part * k[i - (i > 0)][a / 3][a % 3] : 0.0);
            flight_rate(at, inverse, l, k[i], w);
        }
        for (int a = 0; a < 9; a++) {
            const int x = a / 3, y = a % 3;
            r[x][y] += h / 6.0 * (k[0][x][y] + 2.0 * k[1][x][y] + 2.0 * k[2][x][y] + k[3][x][y]);
        }
    }
}

// Momentum, angular momentum and energy are kept, the centre flies along a parabola, and the shape
// turns as the exact solution says, with an error that falls with the step.
static void a_clump_flies(void **state) {
    (void)state;
    static const double gravity[3] = {0.0, 0.0, -1.0};
    double centre[3], j[3][3], l[3], exact[3][3], error[2];
    const double mass = balls_mass(centre, j);
    const double spin[3] = {1.0, 2.0, -0.5}, velocity[3] = {0.3, -0.2, 0.7};
    for (int a = 0; a < 3; a++) l[a] = tl_dot3(j[a], spin);
    flight_exact(j, l, 1.0, exact);
    for (int level = 0; level < 2; level++) {
        const int steps = level ? 400 : 200;
        talus_world *w = world_make(3, TALUS_SCHEME_MOREAU_JEAN, gravity, 1.0 / steps);
        talus_body_def body = talus_body_default();
        talus_body_view v;
        talus_ledger ledger = {0}, first = {0};
        body.shape = clump_add(w, origin, still, false);
        body.density = 1.0;
        memcpy(body.velocity, velocity, sizeof velocity);
        memcpy(body.spin, spin, sizeof spin);
        ok(talus_world_add_body(w, &body, NULL));
        talus_world_bodies(w, &v);
        near(v.mass[0], mass, 1e-14);
        for (int k = 0; k < 3; k++) {
            near(v.centre[k], centre[k], 1e-14);
            near(v.position[k], 0.0, 1e-15);
            near(v.orientation[k + 1], 0.0, 1e-14);
        }
        for (int s = 0; s < steps; s++) {
            ok(talus_world_step(w, &ledger));
            if (s == 0) first = ledger;
        }
        talus_world_bodies(w, &v);
        near(ledger.kinetic + ledger.potential, first.kinetic + first.potential, 1e-12);
        double arm[3], moment[3], turned[3];
        for (int k = 0; k < 3; k++) {
            const double x = centre[k] + velocity[k] + 0.5 * gravity[k];
            near(v.centre[k], x, 1e-12);
            near(ledger.momentum[k], mass * (velocity[k] + gravity[k]), 1e-12);
        }
        // angular momentum about the centre
        tl_cross3(v.centre, ledger.momentum, moment);
        tl_sub3(ledger.angular, moment, moment);
        for (int k = 0; k < 3; k++) near(moment[k], l[k], 1e-12);
        // where the shape's frame is
        error[level] = 0.0;
        for (int k = 0; k < 3; k++) {
            const double e[3] = {k == 0, k == 1, k == 2};
            tl_rotate(v.orientation, e, turned);
            for (int a = 0; a < 3; a++) error[level] += fabs(turned[a] - exact[a][k]);
        }
        tl_rotate(v.orientation, centre, arm);
        for (int k = 0; k < 3; k++) near(v.position[k] + arm[k], v.centre[k], 1e-13);
        talus_world_destroy(w);
    }
    assert_true(error[0] < 1e-3);
    assert_true(error[1] < 0.3 * error[0]);
}

// The same body given in two frames does the same in a run with contacts, friction and all schemes.
static void the_frame_makes_no_difference(void **state) {
    (void)state;
    static const double gravity[2][3] = {{0.0, -9.81, 0.0}, {0.0, 0.0, -9.81}};
    for (int scheme = 0; scheme <= (int)TALUS_SCHEME_PENALTY; scheme++)
        for (int32_t dim = 2; dim <= 3; dim++) {
            double end[2][3], centre[2][3];
            for (int frame = 0; frame < 2; frame++) {
                const bool penalty = scheme == (int)TALUS_SCHEME_PENALTY;
                talus_world *w =
                    world_make(dim, (talus_scheme)scheme, gravity[dim - 2], penalty ? 2e-4 : 2e-3);
                const double angle[3] = {dim == 3 ? 0.4 : 0.0, dim == 3 ? -0.3 : 0.0, 0.7};
                double q[4], x[3] = {0.7, -0.4, dim == 3 ? 0.9 : 0.0}, turned[4];
                tl_quat_exp(angle, q);
                talus_body_def body = talus_body_default(), floor = talus_body_default();
                const talus_shape_def half = {.kind = TALUS_SHAPE_HALF_SPACE};
                talus_body_view v;
                body.shape =
                    frame ? clump_add(w, x, q, dim == 2) : clump_add(w, origin, still, dim == 2);
                body.density = 1.0;
                body.position[dim - 1] = 0.8;
                body.velocity[0] = 1.0;
                body.spin[2] = 1.0;
                if (dim == 3) body.spin[0] = -2.0;
                if (frame) { // where the other frame is when the first is at (position, identity)
                    for (int k = 0; k < 3; k++) body.position[k] += x[k];
                    memcpy(body.orientation, q, sizeof q);
                }
                ok(talus_world_add_shape(w, &half, &floor.shape));
                floor.motion.kind = TALUS_MOTION_FIXED;
                ok(talus_world_add_body(w, &body, NULL));
                ok(talus_world_add_body(w, &floor, NULL));
                bool touched = false;
                for (int s = 0; s < (penalty ? 2000 : 200); s++) {
                    talus_ledger ledger;
                    ok(talus_world_step(w, &ledger));
                    touched = touched || ledger.stick + ledger.slip > 0;
                }
                assert_true(touched);
                talus_world_bodies(w, &v);
                tl_copy3(v.centre, centre[frame]);
                tl_copy3(v.position, end[frame]);
                if (frame) { // back to the first frame
                    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
                    double arm[3];
                    tl_quat_mul(v.orientation, back, turned);
                    tl_rotate(turned, x, arm);
                    tl_sub3(end[1], arm, end[1]);
                }
                talus_world_destroy(w);
            }
            // impacts and friction make rounding (and what solvers leave) grow
            for (int k = 0; k < 3; k++) {
                near(centre[0][k], centre[1][k], 2e-4);
                near(end[0][k], end[1][k], 2e-4);
            }
        }
}

// A clump at rest stays where it is, its balls on the floor carry its weight, at the points and
// with the shares that balance of forces and moments about its centre give.
static void a_clump_rests(void **state) {
    (void)state;
    static const double gravity[3] = {0.0, 0.0, -10.0};
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    const talus_part part[4] = {
        {.shape = &ball, .position = {0.0, 0.0, 0.1}, .orientation = {1.0}},
        {.shape = &ball, .position = {1.0, 0.0, 0.1}, .orientation = {1.0}},
        {.shape = &ball, .position = {0.0, 2.0, 0.1}, .orientation = {1.0}},
        {.shape = &ball, .position = {0.5, 0.5, 0.9}, .orientation = {1.0}}};
    const talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 4};
    const talus_shape_def half = {.kind = TALUS_SHAPE_HALF_SPACE};
    talus_world *w = world_make(3, TALUS_SCHEME_FIXED_POINT, gravity, 1e-3);
    talus_body_def body = talus_body_default(), floor = talus_body_default();
    talus_body_view v;
    talus_contact_view c;
    ok(talus_world_add_shape(w, &clump, &body.shape));
    ok(talus_world_add_shape(w, &half, &floor.shape));
    floor.motion.kind = TALUS_MOTION_FIXED;
    body.mass = 4.0;
    ok(talus_world_add_body(w, &body, NULL));
    ok(talus_world_add_body(w, &floor, NULL));
    for (int s = 0; s < 200; s++) ok(talus_world_step(w, NULL));
    talus_world_bodies(w, &v);
    for (int k = 0; k < 3; k++) {
        near(v.position[k], 0.0, 1e-6);
        near(v.orientation[k + 1], 0.0, 1e-6);
    }
    talus_world_contacts(w, &c);
    // weight 40 at (0.375, 0.625): shares of (1, 0) and (0, 2) by moments, the rest at (0, 0)
    const double share[3] = {40.0 * (1.0 - 0.375 - 0.3125), 40.0 * 0.375, 40.0 * 0.3125};
    int seen = 0;
    for (int i = 0; i < c.count; i++) {
        const double *p = c.point + 3 * i;
        const int which = p[0] > 0.5 ? 1 : p[1] > 0.5 ? 2 : 0;
        near(c.impulse[3 * i + 2], 1e-3 * share[which], 1e-7);
        seen |= 1 << which;
    }
    assert_int_equal(c.count, 3);
    assert_int_equal(seen, 7);
    talus_world_destroy(w);
}

// Motions are of the shape's frame: a rotation about it, keyframes, and a change from one to
// another. What lies on the moving surface is carried along.
static void scripts_move_the_frame_of_the_shape(void **state) {
    (void)state;
    static const double gravity[3] = {0.0, 0.0, 0.0};
    talus_world *w = world_make(3, TALUS_SCHEME_FIXED_POINT, gravity, 0.01);
    talus_body_def body = talus_body_default();
    talus_body_view v;
    double centre[3], j[3][3];
    balls_mass(centre, j);
    body.shape = clump_add(w, origin, still, false);
    body.position[0] = 1.0;
    body.motion = (talus_motion_def){
        .kind = TALUS_MOTION_OSCILLATION, .angle = 0.5, .frequency = 0.25, .axis = {0.0, 1.0, 0.0}};
    ok(talus_world_add_body(w, &body, NULL));
    for (int s = 0; s < 100; s++) ok(talus_world_step(w, NULL));
    talus_world_bodies(w, &v);
    near(v.position[0], 1.0, 1e-13); // the axis goes through the origin of the shape
    near(v.position[2], 0.0, 1e-13);
    near(v.orientation[2], sin(0.25), 1e-12);
    near(v.centre[0], 1.0 + centre[0] * cos(0.5) + centre[2] * sin(0.5), 1e-12);
    near(v.centre[2], -centre[0] * sin(0.5) + centre[2] * cos(0.5), 1e-12);
    near(v.spin[1], 0.0, 0.02);

    const talus_keyframe frame[2] = {
        {.time = 0.0, .position = {3.0, 2.0, 1.0}, .orientation = {1.0}},
        {.time = 2.0, .position = {5.0, 2.0, 1.0}, .orientation = {1.0}}};
    const talus_motion_def keyframes = {
        .kind = TALUS_MOTION_KEYFRAMES, .keyframe = frame, .keyframe_count = 2};
    ok(talus_world_set_motion(w, 0, &keyframes));
    for (int s = 0; s < 50; s++) ok(talus_world_step(w, NULL));
    talus_world_bodies(w, &v);
    near(v.position[0], 4.5, 1e-12);
    near(v.position[1], 2.0, 1e-13);
    near(v.orientation[0], 1.0, 1e-14);
    near(v.velocity[0], 1.0, 1e-12);
    for (int k = 0; k < 3; k++) near(v.centre[k] - v.position[k], centre[k], 1e-12);

    // set free it flies on from there, with the velocity it had
    const talus_motion_def free_motion = {.kind = TALUS_MOTION_FREE};
    ok(talus_world_set_motion(w, 0, &free_motion));
    for (int s = 0; s < 50; s++) ok(talus_world_step(w, NULL));
    talus_world_bodies(w, &v);
    near(v.position[0], 5.0, 1e-11);
    near(v.position[1], 2.0, 1e-11);
    talus_world_destroy(w);
}

// A saved state goes on bit for bit, and views are right after it was loaded.
static void states_are_loaded(void **state) {
    (void)state;
    static const double gravity[3] = {0.0, 0.0, -9.81};
    static double numbers[4096];
    talus_world *w[2];
    for (int i = 0; i < 2; i++) {
        talus_body_def body = talus_body_default(), floor = talus_body_default();
        const talus_shape_def half = {.kind = TALUS_SHAPE_HALF_SPACE};
        w[i] = world_make(3, TALUS_SCHEME_FIXED_POINT, gravity, 1e-3);
        body.shape = clump_add(w[i], origin, still, false);
        body.position[2] = 0.6;
        body.spin[1] = 1.0;
        ok(talus_world_add_shape(w[i], &half, &floor.shape));
        floor.motion.kind = TALUS_MOTION_FIXED;
        ok(talus_world_add_body(w[i], &body, NULL));
        ok(talus_world_add_body(w[i], &floor, NULL));
    }
    for (int s = 0; s < 150; s++) ok(talus_world_step(w[0], NULL));
    const int64_t count = talus_world_save(w[0], NULL);
    assert_true(count > 0 && count < 4096);
    talus_world_save(w[0], numbers);
    ok(talus_world_load(w[1], numbers, count));
    talus_body_view a, b;
    talus_world_bodies(w[0], &a);
    talus_world_bodies(w[1], &b);
    assert_memory_equal(a.position, b.position, 6 * sizeof(double));
    assert_memory_equal(a.orientation, b.orientation, 8 * sizeof(double));
    for (int s = 0; s < 20; s++)
        for (int i = 0; i < 2; i++) ok(talus_world_step(w[i], NULL));
    assert_int_equal(talus_world_hash(w[0]), talus_world_hash(w[1]));
    for (int i = 0; i < 2; i++) talus_world_destroy(w[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_clump_flies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_frame_makes_no_difference, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clump_rests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scripts_move_the_frame_of_the_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_are_loaded, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("offset", tests, NULL, NULL);
}
