// SPDX-License-Identifier: Apache-2.0
// ctest labels: threads
// The world's interface: what it refuses, what it shows, materials, warm starts, equal bits for any
// number of threads, memory that runs out, steps that fail, the adaptive step.
#include "base/context.h"
#include "base/rng.h"
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/worlds.h"

// ---- refusals ----------------------------------------------------------------------------------

#define REFUSED(def, word)                                                                         \
    do {                                                                                           \
        talus_world *none;                                                                         \
        assert_int_not_equal(talus_world_create(ctx, &(def), &none), TALUS_OK);                    \
        assert_null(none);                                                                         \
        assert_non_null(strstr(talus_context_last_error(ctx), word));                              \
    } while (0)

static void bad_worlds(void **state) {
    (void)state;
    const talus_world_def good = talus_world_default();
    talus_world_def def = good;
    def.dim = 4;
    REFUSED(def, "dim = 4");
    def = good, def.step = 0.0;
    REFUSED(def, "step = 0");
    def = good, def.step = NAN;
    REFUSED(def, "step = ");
    def = good, def.theta = 0.4;
    REFUSED(def, "theta = 0.4");
    def = good, def.solver = "nobody";
    REFUSED(def, "'nobody'");
    def = good, def.dim = 2;
    REFUSED(def, "2D");
    def = good, def.gravity[0] = INFINITY;
    REFUSED(def, "gravity[0]");
    def = good, def.period[1] = -1.0;
    REFUSED(def, "period[1]");
    def = good, def.threads = 0;
    REFUSED(def, "threads");
    def = good, def.tolerance = -1.0;
    REFUSED(def, "tolerance");
}

static void refused(talus_status status, const char *word) {
    assert_int_not_equal(status, TALUS_OK);
    assert_non_null(strstr(talus_context_last_error(ctx), word));
}

static void bad_contents(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_world *w = worlds_create(&def);
    const uint64_t hash = talus_world_hash(w);
    talus_material_def m = talus_material_default();
    m.friction = -0.1;
    refused(talus_world_add_material(w, &m, NULL), "friction");
    m.friction = 0.1, m.restitution = 1.5;
    refused(talus_world_set_pair(w, 0, 0, &m), "restitution");
    m.restitution = 0.0;
    refused(talus_world_set_pair(w, 0, 1, &m), "1");
    refused(talus_world_set_step(w, -1.0), "-1");
    refused(talus_world_set_solver(w, "nothing", "1"), "nothing");
    const talus_shape_def flat = {.kind = TALUS_SHAPE_SPHERE};
    assert_int_not_equal(talus_world_add_shape(w, &flat, NULL), TALUS_OK);
    talus_body_def body = talus_body_default();
    refused(talus_world_add_body(w, &body, NULL), "shape 0");
    assert_true(talus_world_hash(w) == hash); // nothing has changed

    const talus_body_def ball = worlds_ball(w, 1.0, 0.0, 0.0, 0.0);
    body = ball, body.material = 1;
    refused(talus_world_add_body(w, &body, NULL), "material 1");
    body = ball, body.position[1] = NAN;
    refused(talus_world_add_body(w, &body, NULL), "position[1]");
    body = ball, body.orientation[0] = 0.0;
    refused(talus_world_add_body(w, &body, NULL), "orientation");
    body = ball, body.mass = 0.0, body.density = 0.0;
    refused(talus_world_add_body(w, &body, NULL), "mass");
    body = ball, body.damping = -1.0;
    refused(talus_world_add_body(w, &body, NULL), "damping");
    body = ball, body.inertia[0] = 1.0;
    refused(talus_world_add_body(w, &body, NULL), "moment");
    body = ball, body.motion.kind = TALUS_MOTION_KEYFRAMES;
    refused(talus_world_add_body(w, &body, NULL), "keyframes");
    assert_int_equal(worlds_bodies(w).count, 0);
    const double none[3] = {0};
    refused(talus_world_set_force(w, 0, none, none), "no body 0");
    talus_world_destroy(w);

    def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    w = worlds_create(&def);
    body = worlds_ball(w, 1.0, 0.0, 0.0, 1.0);
    refused(talus_world_add_body(w, &body, NULL), "2D");
    body.position[2] = 0.0, body.spin[0] = 1.0;
    refused(talus_world_add_body(w, &body, NULL), "2D");
    talus_world_destroy(w);
}

// ---- materials and views -----------------------------------------------------------------------

// A block of ice on wood: the means of all figures, unless a pair is set.
static void pairs(void **state) {
    (void)state;
    talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 1e-3, 10.0);
    talus_world *w = worlds_create(&def);
    talus_material_def ice = talus_material_default(), got;
    ice.friction = 0.02;
    int32_t index;
    WORLDS_OK(talus_world_add_material(w, &ice, &index));
    assert_int_equal(index, 1);
    assert_true(talus_world_material_at(w, 1, &got) && got.friction == 0.02);
    assert_false(talus_world_material_at(w, 2, &got));
    talus_body_def block = worlds_ball(w, 0.1, 0.0, 0.1, 0.0);
    block.velocity[0] = 1.0;
    block.material = 1;
    block.locked[5] = true;
    worlds_add(w, &block);
    worlds_plane(w, 0.0, 1.0, 0.0);
    worlds_step(w);
    const double mean = sqrt(0.02 * 0.5);
    assert_true(fabs(worlds_bodies(w).velocity[0] - (1.0 - mean * 10.0 * 1e-3)) <= 1e-9);
    ice.friction = 0.3;
    WORLDS_OK(talus_world_set_pair(w, 0, 1, &ice));
    WORLDS_OK(talus_world_add_material(w, &ice, NULL)); // the pair outlives a new material
    worlds_step(w);
    assert_true(fabs(worlds_bodies(w).velocity[0] - (1.0 - (mean + 0.3) * 10.0 * 1e-3)) <= 1e-9);
    talus_world_destroy(w);
}

static void views(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-2, 10.0);
    talus_world *w = worlds_create(&def);
    assert_null(talus_world_problem(w));
    assert_true(talus_world_time(w) == 0.0);
    worlds_law(w, 0.3, 0.0, 0.0);
    worlds_plane(w, 0.0, 0.0, 1.0);
    talus_body_def ball = worlds_ball(w, 0.5, 1.0, 2.0, 0.51);
    ball.velocity[0] = 3.0;
    ball.velocity[2] = -1.0;
    ball.mass = 2.0;
    worlds_add(w, &ball);
    const talus_ledger l = worlds_step(w);
    const talus_contact_view c = worlds_contacts(w);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.a[0], 0);
    assert_int_equal(c.b[0], 1);
    // normal from b, the ball, to a, the floor; the point lies midway in the gap of 0.01
    assert_true(fabs(c.normal[2] + 1.0) <= 1e-15);
    assert_true(fabs(c.gap[0] - 0.01) <= 1e-15);
    assert_true(fabs(c.point[0] - 1.0) <= 1e-15 && fabs(c.point[2] - 0.005) <= 1e-15);
    // the ball arrives with 1.1 m/s and may keep 1: 0.2 N s, and sliding friction 0.06 N s
    assert_true(fabs(c.impulse[2] + 0.2) <= 1e-6 && fabs(c.impulse[0] - 0.06) <= 1e-6);
    assert_true(fabs(c.velocity[2] - 1.0) <= 1e-6); // of the floor relative to the ball
    assert_int_equal(c.status[0], 2);
    assert_int_equal(l.slip, 1);
    assert_int_equal(l.bodies, 1);
    assert_int_equal(l.step, 1);
    assert_true(l.penetration == 0.0 && l.time == 0.01 && talus_world_time(w) == 0.01);
    const talus_body_view b = worlds_bodies(w);
    assert_true(b.mass[0] == 0.0 && b.mass[1] == 2.0);
    assert_int_equal(b.motion[0], TALUS_MOTION_FIXED);
    assert_int_equal(b.shape[1], 1);
    const talus_problem_info info = talus_problem_get_info(talus_world_problem(w));
    assert_int_equal(info.count, 1);
    assert_int_equal(info.dof, 6);
    assert_string_equal(talus_world_get_def(w).solver, "auto");
    talus_shape_def shape;
    assert_true(talus_world_shape_at(w, 1, &shape) && shape.radius == 0.5);
    assert_false(talus_world_shape_at(w, 2, &shape));
    assert_string_equal(talus_scheme_text(TALUS_SCHEME_MOREAU_JEAN), "moreau-jean");
    talus_world_destroy(w);
}

// Nothing there, nothing that can move, nothing that touches.
static void empty(void **state) {
    (void)state;
    for (int s = 0; s <= TALUS_SCHEME_PENALTY; s++) {
        talus_world_def def = worlds_def(3, (talus_scheme)s, 1e-4, 9.81);
        talus_world *w = worlds_create(&def);
        talus_ledger l = worlds_step(w);
        assert_true(l.step == 1 && l.bodies == 0 && l.contacts == 0 && !l.missed);
        worlds_plane(w, 0.0, 0.0, 1.0);
        l = worlds_step(w);
        assert_true(l.kinetic == 0.0 && l.contacts == 0);
        const talus_body_def ball = worlds_ball(w, 0.5, 0.0, 0.0, 1.5);
        worlds_add(w, &ball);
        l = worlds_step(w);
        assert_true(l.bodies == 1 && l.contacts == 0 && l.outcome == TALUS_OUTCOME_SOLVED);
        assert_true(fabs(worlds_bodies(w).velocity[5] + 9.81e-4) <= 1e-15);
        talus_world_destroy(w);
    }
}

// ---- a pile that everything below uses ---------------------------------------------------------

enum { PILE = 60 };

static talus_status pile_add(talus_world *w, uint64_t seed) {
    tl_rng rng = {seed};
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.45};
    const talus_shape_def box = {.kind = TALUS_SHAPE_CONTAINER, .half = {2.0, 2.0, 3.0}};
    talus_body_def body = talus_body_default();
    TL_TRY(talus_world_add_shape(w, &ball, &body.shape));
    body.mass = 1.0;
    for (int i = 0; i < PILE; i++) {
        body.position[0] = 1.0 * (i % 4) - 1.5 + tl_rng_range(&rng, 0.0, 0.05);
        body.position[1] = 1.0 * (i / 4 % 4) - 1.5 + tl_rng_range(&rng, 0.0, 0.05);
        body.position[2] = 1.0 * (i / 16) - 2.5 + tl_rng_range(&rng, 0.0, 0.05);
        body.force[0] = i == 3 ? 1.0 : 0.0;
        body.damping = i == 4 ? 1.0 : 0.0;
        body.locked[1] = i == 5;
        TL_TRY(talus_world_add_body(w, &body, NULL));
    }
    const talus_keyframe frame[2] = {{.time = 0.0, .orientation = {1.0}},
                                     {.time = 1.0, .position = {0.1}, .orientation = {1.0}}};
    talus_body_def wall = talus_body_default();
    TL_TRY(talus_world_add_shape(w, &box, &wall.shape));
    wall.motion =
        (talus_motion_def){.kind = TALUS_MOTION_KEYFRAMES, .keyframe = frame, .keyframe_count = 2};
    return talus_world_add_body(w, &wall, NULL);
}

static talus_world *pile(talus_scheme scheme, int32_t threads) {
    talus_world_def def = worlds_def(3, scheme, 2e-3, 9.81);
    def.threads = threads;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.4, 0.2, 0.0);
    WORLDS_OK(pile_add(w, 7));
    return w;
}

static void threads(void **state) {
    (void)state;
    for (int s = 0; s <= TALUS_SCHEME_PENALTY; s++) {
        uint64_t first[3] = {0};
        for (int k = 0; k < 4; k++) {
            static const int32_t count[] = {1, 2, 3, 8};
            talus_world *w = pile((talus_scheme)s, count[k]);
            if (s == TALUS_SCHEME_PENALTY) WORLDS_OK(talus_world_set_step(w, 1e-4));
            for (int step = 1; step <= 120; step++) {
                worlds_step(w);
                if (step % 40 != 0) continue;
                const uint64_t hash = talus_world_hash(w);
                if (k == 0) first[step / 40 - 1] = hash;
                assert_true(first[step / 40 - 1] == hash);
            }
            if (k == 0) assert_true(first[0] != first[1] && first[1] != first[2]);
            talus_world_destroy(w);
        }
    }
}

// Anything that the future depends on is in the hash.
static void hash_sees(void **state) {
    (void)state;
    talus_world *w = pile(TALUS_SCHEME_FIXED_POINT, 1);
    for (int k = 0; k < 40; k++) worlds_step(w);
    uint64_t hash = talus_world_hash(w);
    const double force[3] = {1e-9}, none[3] = {0};
    WORLDS_OK(talus_world_set_force(w, 0, force, none));
    assert_true(talus_world_hash(w) != hash);
    WORLDS_OK(talus_world_set_force(w, 0, none, none));
    assert_true(talus_world_hash(w) == hash);
    WORLDS_OK(talus_world_set_step(w, 1e-3));
    assert_true(talus_world_hash(w) != hash);
    WORLDS_OK(talus_world_set_step(w, 2e-3));
    const talus_motion_def motion = {.kind = TALUS_MOTION_ROTATION, .rate = 1.0};
    WORLDS_OK(talus_world_set_motion(w, PILE, &motion));
    assert_true(talus_world_hash(w) != hash);
    hash = talus_world_hash(w);
    worlds_law(w, 0.41, 0.2, 0.0);
    assert_true(talus_world_hash(w) != hash);
    talus_world_destroy(w);
}

static void snapshot(const talus_world *w, uint64_t out[2]) {
    const talus_contact_view c = worlds_contacts(w);
    out[0] = talus_world_hash(w);
    out[1] = talus_hash(c.point, 3 * (size_t)c.count * sizeof(double), (uint64_t)c.count);
    out[1] = talus_hash(c.velocity, 3 * (size_t)c.count * sizeof(double), out[1]);
}

// A run goes on from its numbers in a fresh world as if it had never stopped.
static void save_and_load(void **state) {
    (void)state;
    for (int s = 0; s <= TALUS_SCHEME_PENALTY; s++) {
        talus_world *w = pile((talus_scheme)s, 1), *other = pile((talus_scheme)s, 1);
        const bool springs = s == TALUS_SCHEME_PENALTY;
        if (springs) WORLDS_OK(talus_world_set_step(w, 1e-4));
        if (springs) WORLDS_OK(talus_world_set_step(other, 1e-4));
        for (int k = 0; k < (springs ? 2000 : 150); k++) worlds_step(w);
        assert_true(worlds_contacts(w).count > 5);
        const int64_t count = talus_world_save(w, NULL);
        double *numbers;
        assert_int_equal(TL_ALLOC(ctx, count, &numbers), TALUS_OK);
        assert_true(talus_world_save(w, numbers) == count);
        uint64_t start[2], there[2];
        snapshot(other, start);
        assert_int_equal(talus_world_load(other, numbers, count - 1), TALUS_ERR_FORMAT);
        assert_int_equal(talus_world_load(other, numbers, 3), TALUS_ERR_FORMAT);
        numbers[count / 2] = NAN;
        assert_int_equal(talus_world_load(other, numbers, count), TALUS_ERR_FORMAT);
        talus_world_save(w, numbers);
        for (int64_t at = 1;; at++) { // without memory nothing happens
            memory.requests = 0;
            memory.fail_at = at;
            const talus_status status = talus_world_load(other, numbers, count);
            memory.fail_at = 0;
            if (status == TALUS_OK) break;
            assert_int_equal(status, TALUS_ERR_MEMORY);
            snapshot(other, there);
            assert_true(there[0] == start[0] && there[1] == start[1]);
        }
        for (int k = 0; k < 40; k++) {
            snapshot(w, start);
            snapshot(other, there);
            assert_true(there[0] == start[0] && there[1] == start[1]);
            const talus_ledger a = worlds_step(w), b = worlds_step(other);
            assert_true(a.step == b.step && a.loss_impact == b.loss_impact);
        }
        const talus_motion_def still = {.kind = TALUS_MOTION_FIXED};
        WORLDS_OK(talus_world_set_motion(other, 0, &still));
        assert_int_equal(talus_world_load(other, numbers, count), TALUS_ERR_FORMAT);
        tl_free(ctx, numbers);
        talus_world_destroy(w);
        talus_world_destroy(other);
    }
}

// ---- warm start --------------------------------------------------------------------------------

// Disks in rows of 6 and 5, each in the hollows of the row below, in a box that fits: they rest. A
// step that starts from the impulses of the last has next to nothing to do.
static void warm_start(void **state) {
    (void)state;
    int64_t iterations[2] = {0};
    for (int warm = 0; warm < 2; warm++) {
        talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
        def.solver = "nlgs";
        def.warm_start = warm != 0;
        talus_world *w = worlds_create(&def);
        worlds_law(w, 0.4, 0.0, 0.0);
        for (int row = 0; row < 6; row++)
            for (int k = 0; k < 6 - row % 2; k++) {
                const talus_body_def disk = worlds_ball(w, 0.5, 0.5 * (row % 2) + k - 2.5,
                                                        0.5 + row * sqrt(0.75) - 4.0, 0.0);
                worlds_add(w, &disk);
            }
        const talus_body_def box =
            worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_CONTAINER, .half = {3.0, 4.0}});
        worlds_add(w, &box);
        for (int k = 0; k < 60; k++) {
            const talus_ledger l = worlds_step(w);
            assert_false(l.missed);
            assert_true(l.contacts >= 33 && l.kinetic <= 1e-9);
            if (k >= 10) iterations[warm] += l.iterations;
        }
        talus_world_destroy(w);
    }
    assert_true(10 * iterations[1] < iterations[0]);
}

// With the next step a quarter as long, a quarter of the impulse is the start: for a ball at rest
// that is the answer.
static void warm_start_scales(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    def.solver = "nlgs";
    talus_world *w = worlds_create(&def);
    const talus_body_def ball = worlds_ball(w, 0.5, 0.0, 0.0, 0.5);
    worlds_add(w, &ball);
    worlds_plane(w, 0.0, 0.0, 1.0);
    worlds_step(w);
    WORLDS_OK(talus_world_set_step(w, 0.25e-3));
    WORLDS_OK(talus_world_set_solver(w, "iterations", "0")); // the start is the answer
    const talus_ledger l = worlds_step(w);
    assert_true(l.residual <= 1e-12);
    assert_true(fabs(worlds_contacts(w).impulse[2] - 9.81 * 0.25e-3) <= 1e-15);
    WORLDS_OK(talus_world_set_step(w, 1e-3));
    assert_false(worlds_step(w).missed);
    talus_world_destroy(w);
}

// Fewer iterations than needed: the step is made, and counted.
static void missed_steps(void **state) {
    (void)state;
    talus_world *w = pile(TALUS_SCHEME_FIXED_POINT, 1);
    for (int k = 0; k < 200; k++) assert_false(worlds_step(w).missed);
    WORLDS_OK(talus_world_set_solver(w, "iterations", "1"));
    talus_ledger l = {0};
    for (int k = 0; k < 3; k++) l = worlds_step(w);
    assert_true(l.missed && l.residual > 1e-6);
    assert_int_equal(l.missed_steps, 3);
    assert_int_equal(l.step, 203);
    talus_world_destroy(w);
}

// ---- failures ----------------------------------------------------------------------------------

// Let every request for memory of a step fail in turn: the world is as before each time, and the
// step that succeeds at last gives what it would have given at once.
static void step_without_memory(void **state) {
    (void)state;
    for (int s = 0; s <= TALUS_SCHEME_PENALTY; s++) {
        talus_world *w = pile((talus_scheme)s, 1), *twin = pile((talus_scheme)s, 1);
        if (s == TALUS_SCHEME_PENALTY) {
            WORLDS_OK(talus_world_set_step(w, 1e-4));
            WORLDS_OK(talus_world_set_step(twin, 1e-4));
        }
        int failures = 0;
        for (int k = 0; k < 120; k++) {
            uint64_t before[2], after[2];
            if (k > 2 && k < 115) { // between the first steps and those with many contacts
                worlds_step(w);
                worlds_step(twin);
                continue;
            }
            snapshot(w, before);
            talus_status status = TALUS_ERR_MEMORY;
            for (int64_t at = 1; status != TALUS_OK; at++) {
                memory.requests = 0;
                memory.fail_at = at;
                status = talus_world_step(w, NULL);
                memory.fail_at = 0;
                if (status == TALUS_OK) break;
                assert_int_equal(status, TALUS_ERR_MEMORY);
                snapshot(w, after);
                assert_true(before[0] == after[0] && before[1] == after[1]);
                failures++;
            }
            worlds_step(twin);
            assert_true(talus_world_hash(w) == talus_world_hash(twin));
        }
        assert_true(failures > (s == TALUS_SCHEME_PENALTY ? 4 : 30));
        talus_world_destroy(w);
        talus_world_destroy(twin);
    }
}

static void building_without_memory(void **state) {
    (void)state;
    for (int s = 0; s <= TALUS_SCHEME_PENALTY; s++) {
        talus_status status = TALUS_ERR_MEMORY;
        for (int64_t at = 1; status != TALUS_OK; at++) {
            const int64_t live = memory.live;
            talus_world_def def = worlds_def(3, (talus_scheme)s, 2e-3, 9.81);
            talus_world *w;
            memory.requests = 0;
            memory.fail_at = at;
            status = talus_world_create(ctx, &def, &w);
            if (status == TALUS_OK) status = pile_add(w, 7);
            memory.fail_at = 0;
            if (status != TALUS_OK) assert_int_equal(status, TALUS_ERR_MEMORY);
            talus_world_destroy(w);
            assert_int_equal(memory.live, live);
            assert_true(at < 1000);
        }
    }
}

// A cancelled solve is no step.
static void cancelled(void **state) {
    (void)state;
    talus_world *w = pile(TALUS_SCHEME_FIXED_POINT, 1);
    for (int k = 0; k < 200; k++) worlds_step(w);
    WORLDS_OK(talus_world_set_solver(w, "tolerance", "1e-14"));
    uint64_t before[2], after[2];
    snapshot(w, before);
    talus_context_cancel(ctx, true);
    assert_int_equal(talus_world_step(w, NULL), TALUS_ERR_CANCELLED);
    talus_context_cancel(ctx, false);
    snapshot(w, after);
    assert_true(before[0] == after[0] && before[1] == after[1]);
    worlds_step(w);
    talus_world_destroy(w);
}

// ---- steps -------------------------------------------------------------------------------------

// No point of a free body goes farther than max_move; a falling ball takes the longest step that
// allows, and a body that turns counts with its corners.
static void adaptive_step(void **state) {
    (void)state;
    talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 0.1, 10.0);
    def.max_move = 0.02;
    talus_world *w = worlds_create(&def);
    const talus_body_def ball = worlds_ball(w, 0.5, 0.0, 50.0, 0.0);
    worlds_add(w, &ball);
    double y = 50.0;
    for (int k = 0; k < 200; k++) {
        const talus_ledger l = worlds_step(w);
        const double now = worlds_bodies(w).position[1];
        assert_true(y - now <= 0.02 * (1.0 + 1e-12) && l.h <= 0.1);
        assert_true(fabs(y - now - 0.02) <= 1e-12 || l.h == 0.1);
        y = now;
    }
    talus_body_def brick = talus_body_default();
    brick.shape = worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {3.0, 4.0}});
    brick.position[0] = 20.0;
    brick.spin[2] = 100.0;
    worlds_add(w, &brick);
    const talus_ledger l = worlds_step(w);
    assert_true(l.h <= 0.02 / 500.0);
    talus_world_destroy(w);
}

// A ball that would be through the wall in one step is stopped by it: pairs are looked for as far
// as anything goes, also when it is the wall that moves, or the end of a long paddle that turns.
static void nothing_passes(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        talus_world_def def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 1e-2, 0.0);
        talus_world *w = worlds_create(&def);
        talus_body_def ball = worlds_ball(w, 0.1, 2.0, kind == 2 ? 0.3 : 0.5, 0.0);
        if (kind == 0) ball.velocity[1] = -80.0;
        worlds_add(w, &ball);
        talus_body_def wall = worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
        if (kind == 1) {
            wall.motion.kind = TALUS_MOTION_VELOCITY;
            wall.motion.velocity[1] = 80.0;
        } else if (kind == 2) { // the surface through the origin turns towards the ball
            wall.motion.kind = TALUS_MOTION_ROTATION;
            wall.motion.rate = 20.0;
        }
        worlds_add(w, &wall);
        const talus_ledger l = worlds_step(w);
        assert_int_equal(l.contacts, 1);
        talus_world_destroy(w);
    }
}

// Once everything has its size, the only requests for memory are those of the solver's preparation
// (counted with a solver of its own on the same problem); without contacts, and without a solver,
// there are none.
static void steady_memory(void **state) {
    (void)state;
    talus_world *w = pile(TALUS_SCHEME_FIXED_POINT, 1);
    for (int k = 0; k < 400; k++) worlds_step(w);
    talus_solver *solver;
    assert_int_equal(talus_solver_create(ctx, "auto", &solver), TALUS_OK);
    int64_t quiet = 0;
    for (int k = 0; k < 50; k++) {
        memory.requests = 0;
        worlds_step(w);
        const int64_t step = memory.requests;
        memory.requests = 0;
        assert_int_equal(talus_solver_prepare(solver, talus_world_problem(w)), TALUS_OK);
        quiet += step == memory.requests;
        assert_true(step >= memory.requests);
    }
    assert_true(quiet >= 40); // now and then a buffer grows
    talus_solver_destroy(solver);
    talus_world_destroy(w);

    w = pile(TALUS_SCHEME_PENALTY, 1);
    WORLDS_OK(talus_world_set_step(w, 1e-4));
    for (int k = 0; k < 20; k++) worlds_step(w); // still falling
    memory.requests = 0;
    for (int k = 0; k < 20; k++) worlds_step(w);
    assert_int_equal(memory.requests, 0);
    talus_world_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_worlds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_contents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pairs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(views, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hash_sees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(save_and_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(warm_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(warm_start_scales, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missed_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(step_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(building_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(adaptive_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steady_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
