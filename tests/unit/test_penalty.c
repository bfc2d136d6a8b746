// SPDX-License-Identifier: Apache-2.0
// The penalty scheme piece by piece: laws, damping from restitution, limits of the step, springs
// kept by key, free rotation, what fails and what is left then.
// ctest labels: threads
#include "base/vec3.h"
#include "rigid/penalty_impl.h"
#include "support/context.h"
#include "support/springs.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static const double zero[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 0.0, 1.0};
static rig r;

// Restitution of m = k = 1 by Runge and Kutta's method, for the spring-dashpot itself.
static double integrate_restitution(talus_penalty law, double ratio) {
    double d = 0.0, v = 1.0; // depth and its rate
    const double h = 1e-3;
    for (int n = 0; n < 1000000; n++) {
        double kd[4], kv[4], x = d, y = v;
        for (int s = 0; s < 4; s++) {
            kd[s] = y, kv[s] = -x - 2.0 * ratio * y;
            const double part = s == 2 ? h : 0.5 * h;
            x = d + part * kd[s], y = v + part * kv[s];
        }
        const double d1 = d + h / 6.0 * (kd[0] + 2.0 * kd[1] + 2.0 * kd[2] + kd[3]);
        const double v1 = v + h / 6.0 * (kv[0] + 2.0 * kv[1] + 2.0 * kv[2] + kv[3]);
        const double f = d + 2.0 * ratio * v, f1 = d1 + 2.0 * ratio * v1;
        // where the depth or the force comes to 0, by linear interpolation
        if (law == TALUS_PENALTY_LINEAR && d1 <= 0.0) return -(v + (v1 - v) * d / (d - d1));
        if (law != TALUS_PENALTY_LINEAR && f1 <= 0.0) return -(v + (v1 - v) * f / (f - f1));
        d = d1, v = v1;
    }
    return NAN;
}

static void test_restitution_of_damping(void **state) {
    (void)state;
    static const double ratio[] = {0.05, 0.2, 0.4, 0.7071, 0.8, 0.95, 1.0};
    for (int k = 0; k < 7; k++) {
        for (int c = 0; c < 2; c++) {
            const talus_penalty law = c == 0 ? TALUS_PENALTY_CLAMPED : TALUS_PENALTY_LINEAR;
            const double e = tl_spring_restitution(law, ratio[k]);
            if (c == 0 || ratio[k] < 0.9) {
                assert_near(integrate_restitution(law, ratio[k]), e, 1e-6);
            }
            assert_near(tl_spring_ratio(law, e), ratio[k], 1e-7);
        }
    }
    assert_near(tl_spring_restitution(TALUS_PENALTY_LINEAR, 0.2), 0.5266, 5e-5);
    assert_near(tl_spring_restitution(TALUS_PENALTY_CLAMPED, 0.2), 0.5717, 5e-5);
    assert_near(tl_spring_restitution(TALUS_PENALTY_LINEAR, 0.4), 0.2538, 5e-5);
    assert_near(tl_spring_restitution(TALUS_PENALTY_CLAMPED, 0.4), 0.3635, 5e-5);
    // less than exp(−2) the clamped law does not reach with critical damping
    assert_true(tl_spring_ratio(TALUS_PENALTY_CLAMPED, 0.13) == 1.0);
    assert_true(tl_spring_ratio(TALUS_PENALTY_LINEAR, 0.0) == 1.0);
    assert_true(tl_spring_ratio(TALUS_PENALTY_LINEAR, 1.0) == 0.0);
}

// Stiffness is the derivative of the elastic force, the elastic force that of the energy.
static void test_normal_laws(void **state) {
    (void)state;
    const talus_material_def material = {.restitution = 0.5,
                                         .stiffness = 3e4,
                                         .damping = -1.0,
                                         .young = 2e7,
                                         .poisson = 0.25,
                                         .tangential = 0.3};
    for (int law = 0; law < 3; law++) {
        const tl_spring_pair p = {.law = (talus_penalty)law,
                                  .chi = TALUS_CHI_LANKARANI,
                                  .material = &material,
                                  .ratio = 0.25,
                                  .mass = 2.0,
                                  .curvature = 4.0,
                                  .speed = 1.5};
        const double d = 3e-3, step = 1e-6;
        tl_spring_force f, more, less;
        tl_spring_normal(&p, d, 0.0, &f);
        tl_spring_normal(&p, d + step, 0.0, &more);
        tl_spring_normal(&p, d - step, 0.0, &less);
        assert_true(f.force == f.elastic);
        assert_near((more.force - less.force) / (2.0 * step), f.stiffness, 1e-6 * f.stiffness);
        const double power = (tl_spring_energy(&p, d + step) - tl_spring_energy(&p, d - step));
        assert_near(power / (2.0 * step), f.elastic, 1e-6 * f.elastic);
        assert_true(tl_spring_energy(&p, -d) == 0.0);
        tl_spring_normal(&p, d, 0.1, &more);
        assert_near(more.force - f.force, 0.1 * f.damping, 1e-9 * f.force);
        // parting fast: only the linear law attracts
        tl_spring_normal(&p, d, -100.0, &less);
        assert_true(law == TALUS_PENALTY_LINEAR ? less.force < 0.0 : less.force == 0.0);
    }
    // hertz: chi of the formula, and never more than critical
    tl_spring_pair p = {.law = TALUS_PENALTY_HERTZ,
                        .chi = TALUS_CHI_HUNT_CROSSLEY,
                        .material = &material,
                        .mass = 1.0,
                        .curvature = 1.0,
                        .speed = 2.0};
    tl_spring_force f;
    tl_spring_normal(&p, 1e-4, 0.0, &f);
    const double big = 4.0 / 3.0 * 2e7 / (2.0 * (1.0 - 0.0625));
    assert_near(f.damping, 1.5 * 0.5 * big / 2.0 * 1e-6, 1e-9 * f.damping);
    p.speed = 0.0;
    tl_spring_normal(&p, 1e-4, 0.0, &f);
    assert_near(f.damping, 2.0 * sqrt(1.5 * big * 1e-2), 1e-9 * f.damping);
    assert_true(tl_spring_chi(TALUS_CHI_FLORES, 1.0, 0.0) == 0.0);
}

static void test_curvature_and_mass(void **state) {
    (void)state;
    talus_shape_def shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    assert_true(tl_springs_curvature(3, &shape) == 2.0);
    shape.kind = TALUS_SHAPE_DRUM;
    assert_true(tl_springs_curvature(3, &shape) == -2.0);
    shape.kind = TALUS_SHAPE_HALF_SPACE;
    assert_true(tl_springs_curvature(3, &shape) == 0.0);
    shape = (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {1.0, 2.0, 3.0}};
    const double radius = 1.0 / tl_springs_curvature(3, &shape);
    assert_near(4.0 / 3.0 * pi * radius * radius * radius, 48.0, 1e-12);
    const double disk = 1.0 / tl_springs_curvature(2, &shape);
    assert_near(pi * disk * disk, 8.0, 1e-12);
    assert_true(tl_springs_mass(3.0, 0.0) == 3.0 && tl_springs_mass(0.0, 2.0) == 2.0);
    assert_near(tl_springs_mass(3.0, 6.0), 2.0, 1e-15);
}

// A step longer than a tenth of the contact time is refused, before and in the step; then bodies
// and springs are as before.
static void test_step_too_long(void **state) {
    (void)state;
    rig_create(&r, ctx, TALUS_PENALTY_CLAMPED, TALUS_INTEGRATOR_LEAP_FROG);
    const double time = pi * sqrt(1.0 / 1e4);
    assert_int_equal(
        tl_springs_check(ctx, TALUS_PENALTY_CLAMPED, &r.pair, 1.0, 0.0, 0.0, 0.099 * time),
        TALUS_OK);
    assert_int_equal(
        tl_springs_check(ctx, TALUS_PENALTY_CLAMPED, &r.pair, 1.0, 0.0, 0.0, 0.101 * time),
        TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "0.000628319 s or less"));
    assert_int_equal(tl_springs_check(ctx, TALUS_PENALTY_HERTZ, &r.pair, 1.0, 10.0, 0.0, 1.0),
                     TALUS_OK); // no speed, no collision

    // the linear laws before anything touches, with the lightest two bodies or one and a plane
    rig_add_ball(&r, 0.1, 1.0, (double[3]){0.0, 0.0, 1.0}, zero);
    r.h = 0.11 * time;
    rig_step(&r); // alone it can meet nothing
    rig_add_ball(&r, 0.1, 3.0, (double[3]){1.0, 0.0, 1.0}, zero);
    r.h = 0.1 * time * sqrt(0.75) * 1.001;
    assert_int_equal(rig_try(&r), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "materials 0 and 0: step"));
    r.h *= 0.998;
    rig_step(&r);
    rig_add_plane(&r, zero, up); // one more, and heavier than the two: still the same
    rig_step(&r);
    rig_destroy(&r);

    // hertz when it is too deep
    rig_create(&r, ctx, TALUS_PENALTY_HERTZ, TALUS_INTEGRATOR_LEAP_FROG);
    rig_add_plane(&r, zero, up);
    rig_add_ball(&r, 0.1, 1.0, (double[3]){0.0, 0.0, 0.0999}, (double[3]){0.3, 0.0, 0.0});
    r.h = 1e-5;
    for (int k = 0; k < 5; k++) rig_step(&r);
    static rig before;
    before = r;
    const uint64_t hash = tl_springs_hash(r.s, 0);
    r.h = 1e-2;
    assert_int_equal(rig_try(&r), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "bodies 0 and 1: step"));
    assert_memory_equal(before.position, r.position, sizeof r.position);
    assert_memory_equal(before.velocity, r.velocity, sizeof r.velocity);
    assert_true(tl_springs_hash(r.s, 0) == hash);
    r.h = before.h;
    rig_step(&r);
    rig_destroy(&r);
}

static void test_wrong_figures(void **state) {
    (void)state;
    static const struct {
        talus_penalty law;
        size_t field;
        double value;
        const char *text;
    } wrong[] = {
        {TALUS_PENALTY_CLAMPED, offsetof(talus_material_def, stiffness), 0.0, "stiffness"},
        {TALUS_PENALTY_CLAMPED, offsetof(talus_material_def, tangential), 0.0, "tangential"},
        {TALUS_PENALTY_CLAMPED, offsetof(talus_material_def, friction), -1.0, "friction"},
        {TALUS_PENALTY_CLAMPED, offsetof(talus_material_def, restitution), 1.5, "restitution"},
        {TALUS_PENALTY_HERTZ, offsetof(talus_material_def, young), NAN, "young"},
        {TALUS_PENALTY_HERTZ, offsetof(talus_material_def, poisson), 0.5, "poisson"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        rig_create(&r, ctx, wrong[k].law, TALUS_INTEGRATOR_LEAP_FROG);
        memcpy((char *)&r.pair + wrong[k].field, &wrong[k].value, sizeof(double));
        rig_add_ball(&r, 0.1, 1.0, zero, zero);
        r.h = 1e-4;
        assert_int_equal(rig_try(&r), TALUS_ERR_ARG);
        assert_non_null(strstr(talus_context_last_error(ctx), wrong[k].text));
        rig_destroy(&r);
    }
    rig_create(&r, ctx, TALUS_PENALTY_HERTZ, TALUS_INTEGRATOR_LEAP_FROG);
    rig_add_plane(&r, zero, up);
    rig_add_ball(&r, 0.1, 1.0, (double[3]){0.0, 0.0, 0.0999}, zero);
    r.h = 1e-5;
    r.curvature[1] = 0.0; // flat on flat
    assert_int_equal(rig_try(&r), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "round"));
    r.h = 0.0;
    assert_int_equal(rig_try(&r), TALUS_ERR_ARG);
    rig_destroy(&r);
}

// Two bodies far too heavy to move, touches given by hand: springs are found again by their key
// whatever comes and goes beside them.
static void step_by_hand(tl_springs *s, const uint32_t *feature, int count, double *stretch) {
    double x[6] = {0}, q[8] = {1.0, 0, 0, 0, 1.0}, v[6] = {1.0}, w[6] = {0};
    const double mass[2] = {1e12, 1e12}, inertia[6] = {1e12, 1e12, 1e12, 1e12, 1e12, 1e12};
    const int32_t material[2] = {0, 0};
    const tl_springs_bodies bodies = {.count = 2,
                                      .position = x,
                                      .orientation = q,
                                      .velocity = v,
                                      .spin = w,
                                      .mass = mass,
                                      .inertia = inertia,
                                      .material = material};
    const talus_material_def pair = {
        .friction = 10.0, .restitution = 1.0, .stiffness = 1.0, .damping = -1.0, .tangential = 1.0};
    const tl_springs_step_def step = {.h = 0.01, .pair = &pair, .materials = 1, .threads = 1};
    tl_touch touch[4];
    for (int k = 0; k < count; k++) {
        touch[k] = (tl_touch){
            .a = 0, .b = 1, .feature = feature[k], .gap = -1.0, .normal = {0.0, 0.0, 1.0}};
    }
    tl_pose pose[2];
    tl_springs_info info;
    tl_springs_view view;
    assert_int_equal(tl_springs_place(s, &bodies, step.h, zero, pose), TALUS_OK);
    assert_int_equal(tl_springs_step(s, &bodies, &step, touch, count, &info), TALUS_OK);
    tl_springs_contacts(s, &view);
    for (int k = 0; k < count; k++) stretch[k] = -view.impulse[3 * k] / step.h;
}

static void test_springs_by_key(void **state) {
    (void)state;
    const tl_springs_def def = {.law = TALUS_PENALTY_CLAMPED};
    tl_springs *s;
    double xi[4];
    assert_int_equal(tl_springs_create(ctx, &def, &s), TALUS_OK);
    step_by_hand(s, (const uint32_t[]){2, 5}, 2, xi);
    assert_near(xi[0], 0.01, 1e-12);
    step_by_hand(s, (const uint32_t[]){1, 2, 4, 5}, 4, xi);
    const double after_two[] = {0.01, 0.02, 0.01, 0.02};
    for (int k = 0; k < 4; k++) assert_near(xi[k], after_two[k], 1e-12);
    step_by_hand(s, (const uint32_t[]){2, 4}, 2, xi);
    assert_near(xi[0], 0.03, 1e-12);
    assert_near(xi[1], 0.02, 1e-12);
    step_by_hand(s, (const uint32_t[]){1, 4, 5}, 3, xi); // 1 and 5 begin anew
    const double after_four[] = {0.01, 0.03, 0.01};
    for (int k = 0; k < 3; k++) assert_near(xi[k], after_four[k], 1e-12);
    tl_springs_destroy(s);
}

// An asymmetric body turning freely under leap-frog: angular momentum and energy stay, and the
// orientation is of second order against a run with far smaller steps.
static void free_top(double h, double q[4]) {
    rig_create(&r, ctx, TALUS_PENALTY_CLAMPED, TALUS_INTEGRATOR_LEAP_FROG);
    rig_add_ball(&r, 0.1, 1.0, zero, zero);
    const double inertia[3] = {1.0, 2.0, 3.5}, spin[3] = {0.3, 2.0, -0.4};
    double p[3], l0[3], l[3];
    tl_copy3(inertia, r.inertia);
    tl_copy3(spin, r.spin);
    r.h = h;
    rig_momentum(&r, p, l0);
    const double start = rig_kinetic(&r);
    for (int n = 0; n < (int)lround(20.0 / h); n++) rig_step(&r);
    rig_momentum(&r, p, l);
    for (int k = 0; k < 3; k++) assert_near(l[k], l0[k], 1e-11);
    assert_near(rig_kinetic(&r), start, 1e-11);
    memcpy(q, r.orientation, 4 * sizeof *q);
    rig_destroy(&r);
}

static void test_free_rotation(void **state) {
    (void)state;
    double q[3][4], coarse = 0.0, fine = 0.0;
    free_top(0.02, q[0]);
    free_top(0.01, q[1]);
    free_top(0.0005, q[2]);
    for (int k = 0; k < 4; k++) {
        coarse += pow(q[0][k] - q[2][k], 2.0);
        fine += pow(q[1][k] - q[2][k], 2.0);
    }
    assert_near(sqrt(coarse / fine), 4.0, 0.2);
}

// Both integrators turn an asymmetric body under a torque alike.
static void test_integrators_agree(void **state) {
    (void)state;
    double q[2][4];
    for (int i = 0; i < 2; i++) {
        rig_create(&r, ctx, TALUS_PENALTY_CLAMPED, (talus_integrator)i);
        rig_add_ball(&r, 0.1, 1.0, zero, (double[3]){1.0, 2.0, 3.0});
        const double inertia[3] = {1.0, 2.0, 3.5}, spin[3] = {0.3, 2.0, -0.4};
        tl_copy3(inertia, r.inertia);
        tl_copy3(spin, r.spin);
        r.torque[0] = 0.5, r.force[1] = -1.0, r.gravity[2] = -2.0;
        r.damping[0] = 0.4, r.damping[1] = 0.1;
        r.h = 1e-3;
        for (int k = 0; k < 5000; k++) rig_step(&r);
        memcpy(q[i], r.orientation, sizeof q[i]);
        // v' = a − γ v
        const double decay = exp(-0.4 * 5.0);
        const double a[3] = {0.0, -1.0, -2.0}, v0[3] = {1.0, 2.0, 3.0};
        for (int k = 0; k < 3; k++) {
            assert_near(r.velocity[k], v0[k] * decay + a[k] / 0.4 * (1.0 - decay), 1e-6);
        }
        assert_near(rig_kinetic(&r),
                    0.5 * (0.09 + 8.0 + 0.56) + 7.0 + r.forces + r.mass[0] * -2.0 * r.position[2],
                    1e-4);
        rig_destroy(&r);
    }
    for (int k = 0; k < 4; k++) assert_near(q[0][k], q[1][k], 1e-5);
}

// Held components stay 0 whatever acts; the rest moves as if the body were on a hinge.
static void test_locked(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        rig_create(&r, ctx, TALUS_PENALTY_CLAMPED, (talus_integrator)i);
        rig_add_ball(&r, 0.1, 1.0, zero, zero);
        const double inertia[3] = {1.0, 2.0, 3.5}, turn[3] = {0.3, 0.4, 0.5};
        tl_copy3(inertia, r.inertia);
        tl_quat_exp(turn, r.orientation);
        r.locked[0] = r.locked[3] = r.locked[4] = true;
        r.torque[0] = 3.0, r.torque[1] = 1.0, r.torque[2] = 0.7;
        r.force[0] = r.force[1] = 1.0;
        double axis[3], moment = 0.0, w[3];
        tl_rotate_back(r.orientation, up, axis);
        for (int k = 0; k < 3; k++) moment += inertia[k] * axis[k] * axis[k];
        r.h = 1e-3;
        for (int k = 0; k < 1000; k++) rig_step(&r);
        tl_rotate(r.orientation, r.spin, w);
        assert_near(w[0], 0.0, 1e-14);
        assert_near(w[1], 0.0, 1e-14);
        assert_near(w[2], 0.7 / moment, 1e-9);
        assert_true(r.velocity[0] == 0.0 && r.position[0] == 0.0);
        assert_near(r.velocity[1], 1.0, 1e-9);
        rig_destroy(&r);
    }
}

static void pile(int32_t integrator) {
    rig_create(&r, ctx, TALUS_PENALTY_CLAMPED, (talus_integrator)integrator);
    r.pair.restitution = 0.4, r.pair.stiffness = 1e5;
    r.gravity[2] = -9.81;
    r.h = pi * sqrt(0.5 / 1e5) / 50.0;
    rig_add_plane(&r, zero, up);
    rig_add_plane(&r, (double[3]){-0.25, 0.0, 0.0}, (double[3]){1.0, 0.0, 0.2});
    for (int i = 0; i < 200; i++) {
        const double x[3] = {0.1 * (i % 5) + 0.01 * (i % 3), 0.1 * (i / 5 % 5),
                             0.1 + 0.1 * (i / 25)};
        rig_add_ball(&r, 0.052, 1.0, x, (double[3]){-0.5, 0.1 * (i % 7), 0.0});
    }
}

// The same bits for any number of threads, and after saving and loading in the middle.
static void test_threads_and_restart(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    for (int32_t i = 0; i < 2; i++) {
        uint64_t hash = 0;
        double energy = 0.0;
        for (int c = 0; c < 5; c++) {
            pile(i);
            r.threads = threads[c % 4];
            for (int k = 0; k < 80; k++) rig_step(&r);
            assert_true(r.touches > 256); // more than one block
            if (c == 4) {
                const int64_t n = tl_springs_save(r.s, NULL);
                double *kept = calloc((size_t)n, sizeof *kept);
                assert_non_null(kept);
                assert_int_equal(tl_springs_save(r.s, kept), n);
                tl_springs_destroy(r.s);
                assert_int_equal(tl_springs_create(ctx, &r.def, &r.s), TALUS_OK);
                assert_int_equal(tl_springs_load(r.s, kept, n - 1), TALUS_ERR_FORMAT);
                assert_int_equal(tl_springs_load(r.s, kept, n), TALUS_OK);
                kept[6] = 0.5; // a body of that number there is not
                assert_int_equal(tl_springs_load(r.s, kept, n), TALUS_ERR_FORMAT);
                free(kept);
            }
            for (int k = 0; k < 80; k++) rig_step(&r);
            uint64_t here = talus_hash(r.position, sizeof r.position, 1);
            here =
                talus_hash(r.spin, sizeof r.spin, talus_hash(r.velocity, sizeof r.velocity, here));
            here = tl_springs_hash(r.s, here);
            if (c == 0) hash = here, energy = r.impact + r.friction + r.info.elastic;
            assert_true(here == hash);
            assert_true(r.impact + r.friction + r.info.elastic == energy);
            rig_destroy(&r);
        }
    }
}

static void test_memory_fails(void **state) {
    (void)state;
    const int64_t before = memory.live;
    for (int64_t n = 1;; n++) {
        pile(0);
        memory.requests = 0, memory.fail_at = n;
        const talus_status first = rig_try(&r);
        const talus_status second = first == TALUS_OK ? rig_try(&r) : first;
        memory.fail_at = 0;
        if (second != TALUS_OK) {
            assert_int_equal(second, TALUS_ERR_MEMORY);
            rig_step(&r); // and it goes on where memory is there again
        }
        rig_destroy(&r);
        assert_int_equal(memory.live, before);
        if (second == TALUS_OK) break;
    }
    pile(1);
    for (int k = 0; k < 50; k++) rig_step(&r);
    const int64_t allocations = tl_alloc_count(ctx);
    rig_step(&r);
    assert_int_equal(tl_alloc_count(ctx), allocations);
    rig_destroy(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_restitution_of_damping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_normal_laws, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_curvature_and_mass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_step_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_figures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_springs_by_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_free_rotation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_integrators_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_locked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads_and_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_fails, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
