// SPDX-License-Identifier: Apache-2.0
// ctest labels: threads
// Contacts that are left out of the solve (src/world/part.c): those that close all the same because
// others push them are found, with the exact velocities; what stays out obeys the law; equal bits
// for any number of threads; memory that runs out.
#include "base/rng.h"
#include "base/vec3.h"
#include "problem/problem_impl.h"
#include "world/world_impl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rods.h"

// Columns of three capsules across each other, far from the next column. The uppermost comes down.
enum { COLUMNS = 600 };
#define STEP 1e-3
#define SPEED 1.0  // of the uppermost [m/s]
#define UPPER 1e-4 // gaps [m]
#define LOWER 2e-4

static talus_world *columns_create(int32_t threads) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, STEP, 0.0);
    def.tolerance = 1e-10;
    def.threads = threads;
    def.reach = 5e-4;
    talus_world *w = worlds_create(&def);
    talus_body_def body = talus_body_default();
    const double r = 0.01;
    body.shape =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_CAPSULE, .radius = r, .height = 0.1});
    body.mass = 1.0;
    const double height[3] = {0.0, 2.0 * r + LOWER, 4.0 * r + LOWER + UPPER};
    for (int32_t c = 0; c < COLUMNS; c++)
        for (int k = 0; k < 3; k++) { // its axis is z: turned about y, about x, about y
            for (int e = 0; e < 4; e++) body.orientation[e] = 0.0;
            body.orientation[0] = body.orientation[k == 1 ? 1 : 2] = sqrt(0.5);
            body.position[0] = c;
            body.position[2] = height[k];
            body.velocity[2] = k == 2 ? -SPEED : 0.0;
            (void)worlds_add(w, &body);
        }
    return w;
}

// The lower contacts would stay open, and are left out at first; but the middle is pushed down. All
// gaps are closed at the end of the step, v_3 − v_2 = −UPPER/h, v_2 − v_1 = −LOWER/h, and the
// momentum is kept.
static void pushed_contacts_join(void **state) {
    (void)state;
    talus_world *w = columns_create(1);
    const talus_ledger ledger = worlds_step(w);
    const double up = UPPER / STEP, low = LOWER / STEP;
    const double first = (-SPEED + up + 2.0 * low) / 3.0;
    const double expected[3] = {first, first - low, first - low - up};
    assert_false(ledger.missed);
    assert_int_equal(w->stage.contacts, 2 * COLUMNS);
    assert_int_equal(w->part.count, 2 * COLUMNS); // in the end all
    for (int32_t i = 0; i < 3 * COLUMNS; i++)     // the scale of the tolerance is the closing speed
        rods_near("velocity", w->rigid->v[3 * i + 2], expected[i % 3], 1e-9);
    talus_world_destroy(w);
}

// Layers of strands across each other, at random speeds.
enum { LAYERS = 5, STRANDS = 18, NODES = 6 };

static talus_world *layers_create(talus_scheme scheme, int32_t threads) {
    talus_world_def def = worlds_def(3, scheme, STEP, 9.81);
    def.tolerance = 1e-5;
    def.solver = "nlgs";
    def.threads = threads;
    def.reach = 1e-3;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    tl_rng rng = {71};
    for (int32_t layer = 0; layer < LAYERS; layer++)
        for (int32_t k = 0; k < STRANDS; k++) {
            double x[3 * NODES];
            const double at = 0.01 * k, z = 1.1e-3 * layer;
            const double a[3] = {layer % 2 ? at : -0.02, layer % 2 ? -0.02 : at, z};
            const double b[3] = {layer % 2 ? at : 0.2, layer % 2 ? 0.2 : at, z};
            rods_line(NODES, a, b, x);
            talus_rod_def rod = talus_rod_default();
            rod.nodes = NODES;
            rod.position = x;
            rod.velocity[2] = tl_rng_range(&rng, -0.6, 0.6);
            rod.radius = 5e-4;
            (void)rods_add(w, &rod);
        }
    return w;
}

// What the law asks of each contact, from what the world shows of it: the tolerance is relative to
// the free velocities, of 1 m/s and less, and W_ii of the contacts of one strand differ by less
// than 100.
static void judge(const talus_world *w, bool convex, const talus_ledger *ledger) {
    talus_contact_view c;
    talus_world_contacts(w, &c);
    const double most = 1e-3; // [m/s]
    int32_t open = 0;
    assert_true(ledger->residual <= 1e-5);
    for (int32_t i = 0; i < c.count; i++) {
        const double *n = c.normal + 3 * i, *r = c.impulse + 3 * i, *u = c.velocity + 3 * i;
        const double normal = tl_dot3(n, r);
        double approach = c.gap[i] / ledger->h + tl_dot3(n, u);
        double tangent[3];
        tl_axpy3(r, -normal, n, tangent);
        // the associated law holds sliding surfaces apart
        double slip[3];
        tl_axpy3(u, -tl_dot3(n, u), n, slip);
        approach -= convex ? 0.3 * tl_norm3(slip) : 0.0;
        if (!(approach >= -most)) fail_msg("contact %d closes by %g m/s", i, -approach);
        assert_true(tl_norm3(tangent) <= 0.3 * normal + 1e-12);
        if (normal > 0.0) assert_true(approach <= most);
        open += normal == 0.0;
    }
    assert_true(open < c.count); // something touches
}

static void what_stays_out_is_open(void **state) {
    (void)state;
    for (int convex = 0; convex < 2; convex++) {
        talus_world *w = layers_create(convex ? TALUS_SCHEME_CONVEX : TALUS_SCHEME_FIXED_POINT, 1);
        int parts = 0;
        for (int k = 0; k < 2; k++) {
            const talus_ledger ledger = worlds_step(w);
            judge(w, convex, &ledger);
            assert_true(w->stage.contacts >= 1024);
            parts += w->part.count > 0 && w->part.count < w->stage.contacts;
        }
        assert_true(parts > 0);
        talus_world_destroy(w);
    }
}

// The solver asks of the part what the certificate asks of all: the fastest contact, which opens
// and is left out, makes the scale.
static void tolerance_is_that_of_all(void **state) {
    (void)state;
    talus_world *w = layers_create(TALUS_SCHEME_FIXED_POINT, 1);
    talus_certificate all, part;
    (void)worlds_step(w);
    assert_true(w->part.count > 0 && w->part.count < w->stage.contacts);
    assert_int_equal(talus_certify(w->problem, w->stage.r, &all), TALUS_OK);
    assert_int_equal(talus_certify(w->part.problem, w->part.r, &part), TALUS_OK);
    assert_true(part.scale == all.scale);
    w->part.problem->scale = 0.0; // as it would be by itself
    assert_int_equal(talus_certify(w->part.problem, w->part.r, &part), TALUS_OK);
    assert_true(part.scale < 0.9 * all.scale);
    talus_world_destroy(w);
}

static void equal_bits(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3};
    uint64_t first = 0;
    for (int t = 0; t < 3; t++) {
        talus_world *w = layers_create(TALUS_SCHEME_FIXED_POINT, threads[t]);
        (void)worlds_step(w);
        const uint64_t hash = talus_world_hash(w);
        if (t == 0) first = hash;
        assert_true(hash == first);
        talus_world_destroy(w);
    }
}

// A step that runs out of memory leaves the world as it was, and can be made again.
static void no_memory(void **state) {
    (void)state;
    talus_world *w = columns_create(1), *other = columns_create(1);
    const uint64_t before = talus_world_hash(w);
    talus_status status = TALUS_ERR_MEMORY;
    int64_t fail = 1;
    for (; status != TALUS_OK; fail += 1 + fail / 2) { // the first ones, and some of the later ones
        memory.fail_at = memory.requests + fail;
        status = talus_world_step(w, NULL);
        memory.fail_at = 0;
        if (status == TALUS_OK) break;
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_true(talus_world_hash(w) == before);
    }
    assert_true(fail > 20);
    (void)worlds_step(other);
    assert_true(talus_world_hash(w) == talus_world_hash(other));
    talus_world_destroy(w);
    talus_world_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pushed_contacts_join, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stays_out_is_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tolerance_is_that_of_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
