// SPDX-License-Identifier: Apache-2.0
// The penalty scheme through the public functions: a heap that comes to rest and carries its
// weight, an energy that is accounted for, boxes, belts, and equal bits for any number of threads.
#include "base/rng.h"
#include "base/vec3.h"
#include "support/context.h"
#include "talus/world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_string_equal(talus_status_text(call), "ok")

static const double g = 9.81;

static int32_t add(talus_world *w, talus_shape_def shape, talus_body_def body) {
    int32_t index;
    OK(talus_world_add_shape(w, &shape, &body.shape));
    OK(talus_world_add_body(w, &body, &index));
    return index;
}

static talus_world *create(int32_t dim, talus_penalty law, talus_integrator integrator, double h,
                           double restitution, int32_t threads) {
    talus_world_def def = talus_world_default();
    def.dim = dim;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == dim - 1 ? -g : 0.0;
    def.scheme = TALUS_SCHEME_PENALTY;
    def.penalty = law;
    def.integrator = integrator;
    def.step = h;
    def.threads = threads;
    talus_world *w;
    OK(talus_world_create(ctx, &def, &w));
    talus_material_def material = talus_material_default();
    material.restitution = restitution;
    OK(talus_world_set_pair(w, 0, 0, &material));
    return w;
}

// Disks of 0.5 to 1 kg in a container; t_c of the lightest pair is 5 ms.
static talus_world *heap(talus_penalty law, talus_integrator integrator, int32_t threads,
                         int32_t disks) {
    tl_rng rng = {11};
    talus_world *w = create(2, law, integrator, 1e-4, 0.3, threads);
    talus_body_def fixed = talus_body_default();
    fixed.motion.kind = TALUS_MOTION_FIXED;
    fixed.position[1] = 1.0;
    add(w,
        (talus_shape_def){.kind = TALUS_SHAPE_CONTAINER, .half = {0.5, 1.0, 1.0}, .open_top = true},
        fixed);
    for (int32_t i = 0; i < disks; i++) {
        talus_body_def body = talus_body_default();
        body.mass = tl_rng_range(&rng, 0.5, 1.0);
        body.position[0] = -0.4 + 0.11 * (i % 8) + tl_rng_range(&rng, -0.01, 0.01);
        body.position[1] = 0.06 + 0.11 * (i / 8);
        body.spin[2] = tl_rng_range(&rng, -5.0, 5.0);
        add(w,
            (talus_shape_def){.kind = TALUS_SHAPE_SPHERE,
                              .radius = tl_rng_range(&rng, 0.03, 0.045)},
            body);
    }
    return w;
}

// Forces of the container (body 0) on the others.
static void carried_by_container(const talus_world *w, double h, double out[2]) {
    talus_contact_view contacts;
    talus_world_contacts(w, &contacts);
    out[0] = out[1] = 0.0;
    for (int32_t i = 0; i < contacts.count; i++) {
        if (contacts.a[i] != 0) continue;
        out[0] -= contacts.impulse[3 * i] / h;
        out[1] -= contacts.impulse[3 * i + 1] / h;
    }
}

static void test_heap_comes_to_rest(void **state) {
    (void)state;
    static const struct {
        talus_penalty law;
        talus_integrator integrator;
    } cases[] = {{TALUS_PENALTY_CLAMPED, TALUS_INTEGRATOR_LEAP_FROG},
                 {TALUS_PENALTY_HERTZ, TALUS_INTEGRATOR_LEAP_FROG},
                 {TALUS_PENALTY_CLAMPED, TALUS_INTEGRATOR_PREDICTOR_CORRECTOR}};
    for (int c = 0; c < 3; c++) {
        talus_world *w = heap(cases[c].law, cases[c].integrator, 1, 40);
        talus_ledger ledger;
        talus_body_view bodies;
        double before = 0.0, lost = 0.0, numerical = 0.0, weight = 0.0, carried[2];
        for (int k = 0; k < 15000; k++) {
            OK(talus_world_step(w, &ledger));
            const double now = ledger.kinetic + ledger.potential + ledger.elastic;
            const double losses = ledger.loss_impact + ledger.loss_friction + ledger.loss_numerical;
            assert_true(k == 0 || fabs(now + losses - before) < 1e-12 * fabs(before));
            assert_true(ledger.loss_impact >= 0.0 && ledger.loss_friction >= 0.0);
            numerical += ledger.loss_numerical;
            lost += losses;
            before = now;
        }
        // dashpots and sliding account for the losses: measured 0.05 % of them are left over
        assert_true(lost > 40.0 && fabs(numerical) < 2e-3 * lost);
        assert_true(ledger.kinetic < 1e-4 * lost);
        assert_true(ledger.slip == 0 && ledger.stick > 40);
        // the container carries the weight, and its walls are pushed alike
        talus_world_bodies(w, &bodies);
        for (int32_t i = 1; i < bodies.count; i++) weight += bodies.mass[i] * g;
        carried_by_container(w, ledger.h, carried);
        assert_true(fabs(carried[1] / weight - 1.0) < 0.01 && fabs(carried[0]) < 0.01 * weight);
        talus_world_destroy(w);
    }
}

// A block at rest is put on a belt that moves at 1 m/s: the belt gives m v², half of it lost.
static void test_belt(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        talus_world *w = create(3, TALUS_PENALTY_CLAMPED, (talus_integrator)i, 1e-4, 0.0, 1);
        talus_body_def belt = talus_body_default(), block = talus_body_default();
        belt.motion.kind = TALUS_MOTION_VELOCITY;
        belt.motion.velocity[0] = 1.0;
        add(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE}, belt);
        block.mass = 4.0;
        block.position[2] = 0.1 - g / 1e5; // four corners carry it
        add(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.2, 0.1}}, block);
        double work = 0.0, friction = 0.0, other = 0.0;
        talus_ledger ledger;
        for (int k = 0; k < 8000; k++) {
            OK(talus_world_step(w, &ledger));
            work += ledger.work_obstacles;
            friction += ledger.loss_friction;
            other += ledger.loss_impact + fabs(ledger.loss_numerical);
            if (k == 1000)
                assert_true(fabs(ledger.momentum[0] / (4.0 * 0.5 * g * 0.1) - 1.0) < 0.02);
        }
        talus_body_view bodies;
        talus_world_bodies(w, &bodies);
        assert_true(fabs(bodies.velocity[3] - 1.0) < 1e-3);
        assert_true(fabs(work - 4.0) < 0.02 && fabs(friction - 2.0) < 0.02 && other < 0.02);
        assert_true(ledger.stick == 4 && fabs(bodies.orientation[4] - 1.0) < 1e-6);
        talus_world_destroy(w);
    }
}

static void test_step_too_long(void **state) {
    (void)state;
    talus_world *w = heap(TALUS_PENALTY_CLAMPED, TALUS_INTEGRATOR_LEAP_FROG, 1, 10);
    for (int k = 0; k < 100; k++) OK(talus_world_step(w, NULL));
    OK(talus_world_set_step(w, 1e-3));
    const uint64_t hash = talus_world_hash(w);
    assert_int_equal(talus_world_step(w, NULL), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "tenth of the contact time"));
    assert_true(talus_world_hash(w) == hash && talus_world_time(w) < 0.0101);
    talus_world_destroy(w);
}

static void test_threads(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    for (int i = 0; i < 2; i++) {
        uint64_t hash = 0;
        for (int c = 0; c < 4; c++) {
            talus_world *w = heap(TALUS_PENALTY_CLAMPED, (talus_integrator)i, threads[c], 120);
            for (int k = 0; k < 400; k++) OK(talus_world_step(w, NULL));
            if (c == 0) hash = talus_world_hash(w);
            assert_true(talus_world_hash(w) == hash);
            talus_world_destroy(w);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_heap_comes_to_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_belt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_step_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
