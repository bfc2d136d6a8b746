// SPDX-License-Identifier: Apache-2.0
// Rigid bodies: rows of H against differences of poses, given motions, forces, damping, locks.
#include "base/rng.h"
#include "base/vec3.h"
#include "rigid/rigid.h"
#include "rigid/turn.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

static const double two_pi = 6.283185307179586477;

static void random_turn(tl_rng *rng, int32_t dim, double q[4]) {
    for (int k = 0; k < 4; k++) q[k] = dim == 3 || k == 0 || k == 3 ? tl_rng_normal(rng) : 0.0;
    tl_quat_normalise(q);
}

// ---- turns -------------------------------------------------------------------------------------

static void turn_log(void **state) {
    (void)state;
    tl_rng rng = {1};
    for (int k = 0; k < 200; k++) {
        double a[3], q[4], back[3];
        for (int e = 0; e < 3; e++) a[e] = tl_rng_normal(&rng);
        const double length = k == 0 ? 0.0 : k < 50 ? 1e-9 * k : 3.1415 * tl_rng_unit(&rng);
        tl_scale3(length / tl_norm3(a), a, a);
        tl_quat_exp(a, q);
        if (k % 2)
            for (int e = 0; e < 4; e++) q[e] = -q[e]; // the same rotation
        tl_turn_log(q, back);
        for (int e = 0; e < 3; e++) assert_true(fabs(back[e] - a[e]) <= 1e-12);
    }
}

// The free turn solves J w' = J w × w: compare with many small explicit steps of fourth order.
static void turn_is_euler(void **state) {
    (void)state;
    const double j[3] = {1.0, 1.9, 2.5}, start[3] = {1.1, 0.8, -0.6};
    double exact[3], error[2];
    tl_copy3(start, exact);
    const int parts = 4000;
    const double time = 1.0, dt = time / parts;
    for (int k = 0; k < parts; k++) {
        double slope[4][3], at[3];
        for (int stage = 0; stage < 4; stage++) {
            tl_copy3(exact, at);
            if (stage > 0) tl_axpy3(exact, stage == 3 ? dt : 0.5 * dt, slope[stage - 1], at);
            slope[stage][0] = (j[1] - j[2]) * at[1] * at[2] / j[0];
            slope[stage][1] = (j[2] - j[0]) * at[2] * at[0] / j[1];
            slope[stage][2] = (j[0] - j[1]) * at[0] * at[1] / j[2];
        }
        for (int e = 0; e < 3; e++)
            exact[e] +=
                dt / 6.0 * (slope[0][e] + 2.0 * slope[1][e] + 2.0 * slope[2][e] + slope[3][e]);
    }
    for (int run = 0; run < 2; run++) {
        const int n = run == 0 ? 50 : 100;
        double w[3], turn[3], off[3];
        tl_copy3(start, w);
        for (int k = 0; k < n; k++) tl_turn_free(j, w, time / n, w, turn);
        tl_sub3(w, exact, off);
        error[run] = tl_norm3(off);
    }
    assert_true(error[0] <= 1e-4);
    assert_true(error[1] <= error[0] / 3.9 && error[1] >= error[0] / 4.1);
}

// ---- rows --------------------------------------------------------------------------------------

// A model of one body, placed at the beginning of a step.
static tl_rigid *one_body(int32_t dim, const talus_body_def *body, const tl_step *step,
                          tl_pose *pose) {
    tl_rigid *m;
    const talus_mass mass = {.mass = 2.0, .inertia = {0.4, 0.7, 0.9}};
    assert_int_equal(tl_rigid_create(ctx, dim, &m), TALUS_OK);
    assert_int_equal(tl_rigid_reserve(m, body, &mass), TALUS_OK);
    assert_int_equal(tl_rigid_add(m, body, &mass, 1.0, false, step->time), TALUS_OK);
    assert_int_equal(m->base.ops->place(&m->base, step, pose), TALUS_OK);
    return m;
}

// Let the body move for a tiny time with velocity unknowns z: the point that was at `arm` has moved
// by t (row z), to second order.
static void rows(void **state) {
    (void)state;
    tl_rng rng = {2};
    for (int k = 0; k < 200; k++) {
        const int32_t dim = 2 + k % 2;
        const double tiny = 1e-6;
        const tl_step step = {.h = tiny, .theta = 1.0};
        talus_body_def body = talus_body_default();
        random_turn(&rng, dim, body.orientation);
        for (int e = 0; e < 6; e++) body.locked[e] = k % 3 == 0 && tl_rng_unit(&rng) < 0.4;
        tl_pose pose, moved;
        tl_rigid *m = one_body(dim, &body, &step, &pose);
        double arm[3] = {0}, direction[9], h[18] = {0}, z[6], own[3], to[3];
        int32_t size = 0, group;
        for (int e = 0; e < 3; e++) arm[e] = e < dim ? tl_rng_normal(&rng) : 0.0;
        for (int e = 0; e < 9; e++) direction[e] = e % 3 < dim ? tl_rng_normal(&rng) : 0.0;
        for (int e = 0; e < 6; e++) z[e] = tl_rng_normal(&rng);
        m->base.ops->groups(&m->base, &size, &group);
        if (group == 0) {
            m->base.ops->row(&m->base, &step, 0, &pose, arm, direction, 3, h);
            m->base.ops->commit(&m->base, &step, z);
            tl_copy3(m->x, moved.x);
            memcpy(moved.q, m->q, sizeof moved.q);
            tl_rotate_back(pose.q, arm, own);
            tl_rotate(moved.q, own, to);
            for (int row = 0; row < 3; row++) {
                double by_row = 0.0, by_pose = 0.0;
                for (int e = 0; e < size; e++) by_row += h[row * size + e] * z[e];
                for (int e = 0; e < 3; e++)
                    by_pose +=
                        direction[3 * row + e] * (moved.x[e] + to[e] - pose.x[e] - arm[e]) / tiny;
                assert_true(fabs(by_row - by_pose) <= 1e-4);
            }
            // locked components stay
            for (int e = 0; e < dim; e++)
                if (body.locked[e]) assert_true(m->v[e] == 0.0 && m->x[e] == 0.0);
            for (int e = 0; e < 3; e++)
                if (body.locked[3 + e]) assert_true(fabs(m->spin[e]) <= 1e-12);
        }
        m->base.ops->destroy(&m->base);
    }
}

// Mass and force of a body in any orientation, locked or not: ½ z·M z is the energy it then has.
static void mass_is_energy(void **state) {
    (void)state;
    tl_rng rng = {3};
    for (int k = 0; k < 200; k++) {
        const int32_t dim = 2 + k % 2;
        const tl_step step = {.h = 1e-9, .theta = 1.0};
        talus_body_def body = talus_body_default();
        random_turn(&rng, dim, body.orientation);
        for (int e = 0; e < 6; e++) body.locked[e] = k % 3 == 0 && tl_rng_unit(&rng) < 0.4;
        tl_pose pose;
        tl_rigid *m = one_body(dim, &body, &step, &pose);
        int32_t size = 0, group;
        m->base.ops->groups(&m->base, &size, &group);
        if (group == 0) {
            double mass[36], f[6], v[6], z[6], energy = 0.0;
            m->base.ops->motion(&m->base, &step, false, mass, f, v);
            for (int e = 0; e < size; e++) z[e] = tl_rng_normal(&rng);
            for (int a = 0; a < size; a++)
                for (int b = 0; b < size; b++) energy += 0.5 * z[a] * mass[a * size + b] * z[b];
            m->base.ops->commit(&m->base, &step, z);
            tl_account sum = {0};
            const double none[3] = {0};
            m->base.ops->account(&m->base, none, &sum);
            assert_true(fabs(sum.kinetic - energy) <= 1e-7 * energy);
            bool diagonal = true;
            for (int a = 0; a < size; a++)
                for (int b = 0; b < size; b++) diagonal &= a == b || mass[a * size + b] == 0.0;
            if (m->base.ops->is_diagonal(&m->base)) {
                double short_form[6];
                assert_true(diagonal);
                m->base.ops->motion(&m->base, &step, true, short_form, f, v);
                for (int e = 0; e < size; e++)
                    assert_true(fabs(short_form[e] - mass[e * size + e]) <= 1e-12);
            }
        }
        m->base.ops->destroy(&m->base);
    }
}

// ---- given motions -----------------------------------------------------------------------------

static tl_script scripted(const talus_motion_def *def, double t) {
    tl_script s;
    const double x[3] = {1.0, 2.0, 0.5}, q[4] = {0.8, 0.0, 0.6, 0.0};
    assert_int_equal(tl_script_check(ctx, 3, def), TALUS_OK);
    assert_int_equal(tl_script_init(ctx, def, t, x, q, &s), TALUS_OK);
    return s;
}

static void poses(void **state) {
    (void)state;
    double x[3], q[4], out[3];
    const talus_motion_def travel = {
        .kind = TALUS_MOTION_VELOCITY, .velocity = {1.0, -2.0, 3.0}, .start = 0.5, .stop = 1.5};
    tl_script s = scripted(&travel, 0.25);
    const double times[] = {0.3, 0.5, 1.0, 1.5, 9.0}, passed[] = {0.0, 0.0, 0.5, 1.0, 1.0};
    for (int k = 0; k < 5; k++) {
        tl_script_pose(&s, times[k], x, q);
        assert_true(fabs(x[1] - (2.0 - 2.0 * passed[k])) <= 1e-15);
        assert_true(q[0] == 0.8 && q[2] == 0.6);
    }
    s = scripted(&travel, 1.0); // begun half way: only what is left of it
    tl_script_pose(&s, 2.0, x, q);
    assert_true(fabs(x[2] - 2.0) <= 1e-15);

    const talus_motion_def shake = {.kind = TALUS_MOTION_OSCILLATION,
                                    .amplitude = {0.0, 0.0, 0.2},
                                    .angle = 0.3,
                                    .axis = {0.0, 5.0, 0.0},
                                    .frequency = 2.0,
                                    .phase = 0.7};
    s = scripted(&shake, 0.0);
    tl_script_pose(&s, 0.0, x, q);
    assert_true(x[2] == 0.5 && q[0] == 0.8);
    tl_script_pose(&s, 0.3, x, q);
    const double wave = sin(two_pi * 0.6 + 0.7) - sin(0.7);
    assert_true(fabs(x[2] - 0.5 - 0.2 * wave) <= 1e-15);
    // (0.8, 0, 0.6, 0) turns about y by 2 atan(0.6/0.8)
    assert_true(fabs(2.0 * atan2(q[2], q[0]) - 2.0 * atan2(0.6, 0.8) - 0.3 * wave) <= 1e-14);

    const talus_motion_def wheel = {.kind = TALUS_MOTION_ROTATION,
                                    .rate = 0.5 * two_pi,
                                    .axis = {0.0, 0.0, 2.0},
                                    .pivot = {0.0, 2.0, 0.0}};
    s = scripted(&wheel, 0.0);
    tl_script_pose(&s, 0.5, x, q); // a quarter turn
    assert_true(fabs(x[0]) <= 1e-15 && fabs(x[1] - 3.0) <= 1e-15 && x[2] == 0.5);
    const double e[3] = {0.0, 1.0, 0.0};
    tl_rotate(q, e, out);
    assert_true(fabs(out[0] + 1.0) <= 1e-15);
}

static void keyframes(void **state) {
    (void)state;
    const talus_keyframe frame[3] = {{1.0, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
                                     {2.0, {2.0, 0.0, 4.0}, {0.0, 0.0, 0.0, 3.0}},
                                     {4.0, {2.0, 1.0, 4.0}, {0.0, 0.0, 0.0, -1.0}}};
    const talus_motion_def def = {
        .kind = TALUS_MOTION_KEYFRAMES, .keyframe = frame, .keyframe_count = 3};
    tl_script s = scripted(&def, 0.0);
    double x[3], q[4];
    tl_script_pose(&s, 0.0, x, q);
    assert_true(x[0] == 0.0 && q[0] == 1.0);
    tl_script_pose(&s, 1.25, x, q); // a quarter of half a turn about z
    assert_true(fabs(x[0] - 0.5) <= 1e-15 && fabs(x[2] - 1.0) <= 1e-15);
    assert_true(fabs(q[0] - cos(two_pi / 16.0)) <= 1e-15);
    assert_true(fabs(q[3] - sin(two_pi / 16.0)) <= 1e-15);
    tl_script_pose(&s, 3.0, x, q); // the same orientation with the other sign: no turn
    assert_true(fabs(x[1] - 0.5) <= 1e-15 && fabs(fabs(q[3]) - 1.0) <= 1e-15);
    tl_script_pose(&s, 9.0, x, q);
    assert_true(x[1] == 1.0);
    tl_script_clear(ctx, &s);

    const talus_keyframe bad[2] = {frame[1], frame[0]};
    const talus_motion_def wrong = {
        .kind = TALUS_MOTION_KEYFRAMES, .keyframe = bad, .keyframe_count = 2};
    assert_int_equal(tl_script_check(ctx, 3, &wrong), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "keyframe 1"));
    assert_int_equal(tl_script_check(ctx, 2, &def), TALUS_ERR_ARG); // leaves the plane
}

// The mean velocity of a point times h is the way it goes, and a chain of steps ends where the
// script says, however long it is.
static void mean_velocity(void **state) {
    (void)state;
    const talus_motion_def motion[] = {
        {.kind = TALUS_MOTION_VELOCITY, .velocity = {1.0, 2.0, 3.0}, .stop = 0.7171},
        {.kind = TALUS_MOTION_OSCILLATION,
         .amplitude = {0.1, 0.2, 0.3},
         .angle = 0.5,
         .axis = {1.0, 1.0, 0.0},
         .frequency = 3.0},
        {.kind = TALUS_MOTION_ROTATION, .rate = 4.0, .axis = {0.0, 1.0, 1.0}, .pivot = {3.0}}};
    for (int k = 0; k < 3; k++) {
        tl_script s = scripted(motion + k, 0.0);
        const double h = 1e-3, own[3] = {0.3, -0.2, 0.7};
        double point[3], arm[3], x[3], q[4], v[3];
        tl_script_pose(&s, 0.0, x, q);
        tl_rotate(q, own, arm);
        tl_axpy3(x, 1.0, arm, point);
        for (int step = 0; step < 1000; step++) {
            double middle[4];
            tl_script_step(&s, step * h, h);
            tl_script_pose(&s, (step + 0.5) * h, x, middle); // any orientation within the step
            tl_rotate(middle, own, arm);
            tl_script_velocity(&s, h, middle, arm, v);
            tl_axpy3(point, h, v, point);
        }
        tl_script_pose(&s, 1.0, x, q);
        tl_rotate(q, own, arm);
        for (int e = 0; e < 3; e++) assert_true(fabs(x[e] + arm[e] - point[e]) <= 1e-12);
    }
}

// ---- forces ------------------------------------------------------------------------------------

// v' = F/m − c v has the solution F/(m c) (1 − e^(−c t)); the scheme lags behind by h/2 of F.
static void forces_and_damping(void **state) {
    (void)state;
    const double h = 1e-4, c = 2.0, force = 3.0;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, h, 0.0);
    talus_world *w = worlds_create(&def);
    talus_body_def ball = worlds_ball(w, 1.0, 0.0, 0.0, 0.0);
    ball.damping = c;
    ball.spin_damping = 0.5 * c;
    ball.force[1] = force;
    ball.torque[0] = force;
    worlds_add(w, &ball);
    double work = 0.0;
    for (int k = 0; k < 10000; k++) {
        const talus_ledger l = worlds_step(w);
        work += l.work_forces - l.loss_numerical;
    }
    const talus_body_view b = worlds_bodies(w);
    assert_true(fabs(b.velocity[1] - force / c * (1.0 - exp(-c))) <= force * h);
    assert_true(fabs(b.spin[0] - force / (0.4 * 0.5 * c) * (1.0 - exp(-0.5 * c))) <=
                10.0 * force * h);
    assert_true(fabs(work - 0.5 * b.velocity[1] * b.velocity[1] - 0.2 * b.spin[0] * b.spin[0]) <=
                1e-11);
    const double none[3] = {0};
    const double speed = b.velocity[1];
    WORLDS_OK(talus_world_set_force(w, 0, none, none));
    for (int k = 0; k < 100; k++) worlds_step(w); // without a force the decay is exact
    assert_true(fabs(worlds_bodies(w).velocity[1] - speed * exp(-c * 100 * h)) <= 1e-14);
    talus_world_destroy(w);
}

// Free, then held, then free again with the velocity it was moved with.
static void change_of_motion(void **state) {
    (void)state;
    talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 0.01, 10.0);
    talus_world *w = worlds_create(&def);
    const talus_body_def ball = worlds_ball(w, 1.0, 0.0, 5.0, 0.0);
    worlds_add(w, &ball);
    worlds_step(w);
    assert_true(fabs(worlds_bodies(w).velocity[1] + 0.1) <= 1e-15);
    assert_true(worlds_bodies(w).mass[0] == 1.0);
    const talus_motion_def travel = {.kind = TALUS_MOTION_VELOCITY, .velocity = {2.0, 0.0, 0.0}};
    WORLDS_OK(talus_world_set_motion(w, 0, &travel));
    assert_true(worlds_bodies(w).mass[0] == 0.0);
    const double y = worlds_bodies(w).position[1];
    const talus_ledger l = worlds_step(w);
    assert_int_equal(l.bodies, 0);
    assert_true(worlds_bodies(w).position[1] == y);
    assert_true(fabs(worlds_bodies(w).position[0] - 0.02) <= 1e-15);
    const talus_motion_def free_again = {.kind = TALUS_MOTION_FREE};
    WORLDS_OK(talus_world_set_motion(w, 0, &free_again));
    worlds_step(w);
    assert_true(fabs(worlds_bodies(w).velocity[0] - 2.0) <= 1e-15);
    assert_true(fabs(worlds_bodies(w).velocity[1] + 0.1) <= 1e-15);
    worlds_plane(w, 0.0, 1.0, 0.0);
    assert_int_equal(talus_world_set_motion(w, 1, &free_again), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "unbounded"));
    talus_world_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turn_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(turn_is_euler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mass_is_energy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(poses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keyframes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mean_velocity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forces_and_damping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(change_of_motion, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
