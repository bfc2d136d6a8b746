// SPDX-License-Identifier: Apache-2.0
// auto: what it does where sweeps are not enough, what it says, and problems without solution.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/alloc.h"
#include "support/packing.h"
#include "support/scenes.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static talus_context *ctx;
static test_alloc memory;
static char said[4096]; // what the log has told

static void listen(void *user, talus_log_level level, const char *text) {
    (void)user;
    (void)level;
    const size_t used = strlen(said);
    if (used + strlen(text) + 2 < sizeof said) {
        strcat(said, text);
        strcat(said, "\n");
    }
}

static int set_up(void **state) {
    (void)state;
    memory = (test_alloc){0};
    said[0] = '\0';
    talus_context_def def = test_alloc_def(&memory);
    def.log = listen;
    return talus_context_create(&def, &ctx) == TALUS_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    talus_context_destroy(ctx);
    return memory.live == 0 && memory.bad_releases == 0 ? 0 : -1;
}

static talus_problem *scene(scene_def def) {
    talus_problem *p = NULL;
    assert_int_equal(scene_create(ctx, &def, &p), TALUS_OK);
    return p;
}

static int64_t size_of(const talus_problem *p) {
    const talus_problem_info facts = talus_problem_get_info(p);
    return (int64_t)facts.dim * facts.count;
}

// More contacts than the motion can tell apart, unequal masses, odd units: 1e-8 on all.
static void degenerate(void **state) {
    (void)state;
    const scene_def scenes[] = {
        {.kind = SCENE_TOWER, .n = 20},
        {.kind = SCENE_STACK, .n = 30},
        {.kind = SCENE_ARCH, .n = 40},
        {.kind = SCENE_WALL, .n = 5, .copies = 3},
        {.kind = SCENE_WALL, .n = 5, .mixed = true},
        {.kind = SCENE_CAPSULES, .n = 4, .mixed = true},
        {.kind = SCENE_STACK, .n = 8, .mass_ratio = 1e6},
        {.kind = SCENE_CAPSULES, .n = 4, .mass_ratio = 1e6},
        {.kind = SCENE_TOWER, .n = 8, .length = 1e6, .mass = 1e-6, .time = 1e6},
        {.kind = SCENE_TOWER, .n = 8, .length = 1e-6, .mass = 1e6, .time = 1e-6},
    };
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        talus_problem *p = scene(scenes[k]);
        double *r = solve_room(size_of(p));
        talus_certificate judged;
        const talus_solve_info info = solve_with(
            ctx, "auto", "stop=residual tolerance=1e-8 iterations=1000000 time_limit=30", p, r);
        assert_int_equal(talus_certify(p, r, &judged), TALUS_OK);
        if (info.outcome != TALUS_OUTCOME_SOLVED || !(judged.residual <= 1e-8))
            fail_msg("scene %d: %s, residual %g", (int)k, talus_outcome_text(info.outcome),
                     judged.residual);
        if (!scenes[k].mixed && scenes[k].length == 0.0) // and by code of the tests
            assert_true(solve_natural(p, 0.6, r) <= 1e-5);
        free(r);
        talus_problem_destroy(p);
    }
}

// It says when it leaves the sweeps and why; with ready = yes that takes no memory; and the bits do
// not depend on threads.
static void newton_takes_over(void **state) {
    (void)state;
    talus_problem *p = scene((scene_def){.kind = SCENE_TOWER, .n = 20});
    const int64_t size = size_of(p);
    double *r = solve_room(size), *x = solve_room(size);
    talus_solver *s = NULL;
    talus_solve_info info;
    assert_int_equal(talus_solver_create(ctx, "auto", &s), TALUS_OK);
    solve_set(ctx, s, "tolerance=1e-10 ready=yes");
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    const int64_t requests = memory.requests;
    assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
    assert_true(memory.requests == requests);
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(info.iterations > 100);
    assert_non_null(strstr(said, "Newton takes over"));
    assert_null(talus_solver_witness(s));
    talus_solver_destroy(s);
    const char *options[] = {"tolerance=1e-10", "tolerance=1e-10 threads=3"};
    for (int k = 0; k < 2; k++) {
        memset(x, 0, (size_t)size * sizeof *x);
        assert_int_equal(solve_with(ctx, "auto", options[k], p, x).outcome, TALUS_OUTCOME_SOLVED);
        assert_memory_equal(x, r, (size_t)size * sizeof *x);
    }
    // Without room for the Newton method the sweeps go on.
    memset(x, 0, (size_t)size * sizeof *x);
    said[0] = '\0';
    const talus_solve_info poor =
        solve_with(ctx, "auto", "tolerance=1e-6 memory=0 time_limit=20", p, x);
    assert_int_equal(poor.outcome, TALUS_OUTCOME_SOLVED);
    assert_non_null(strstr(said, "too large"));
    free(r);
    free(x);
    talus_problem_destroy(p);
}

// Memory that runs out when Newton is set up during the solve: the sweeps go on.
static void no_memory_for_newton(void **state) {
    (void)state;
    talus_problem *p = scene((scene_def){.kind = SCENE_TOWER, .n = 12});
    double *r = solve_room(size_of(p));
    talus_solver *s = NULL;
    talus_solve_info info;
    assert_int_equal(talus_solver_create(ctx, "auto", &s), TALUS_OK);
    solve_set(ctx, s, "tolerance=1e-9 time_limit=20");
    for (int64_t k = 1; k < 25; k += 3) {
        assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
        memset(r, 0, (size_t)size_of(p) * sizeof *r);
        memory.fail_at = memory.requests + k;
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
        memory.fail_at = 0;
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    }
    assert_non_null(strstr(said, "no Newton method"));
    talus_solver_destroy(s);
    free(r);
    talus_problem_destroy(p);
}

// Cubes between walls that close in: no velocity is allowed, and impulses prove it.
static void no_solution(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 3; n++) {
        talus_problem *p = scene((scene_def){.kind = SCENE_SQUEEZE, .n = n});
        const talus_problem_info facts = talus_problem_get_info(p);
        const int64_t size = size_of(p);
        double *r = solve_room(size), *zero = solve_room(size), *q = solve_room(size),
               *u = solve_room(size);
        talus_solver *s = NULL;
        talus_solve_info info;
        assert_int_equal(talus_solver_create(ctx, "auto", &s), TALUS_OK);
        assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
        assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_INFEASIBLE);
        const double *g = talus_solver_witness(s);
        assert_non_null(g);
        assert_int_equal(talus_problem_state(p, zero, NULL, q, NULL), TALUS_OK);
        assert_int_equal(talus_problem_state(p, g, NULL, u, NULL), TALUS_OK);
        double moved = 0.0, resists = 0.0;
        for (int64_t k = 0; k < size; k++) {
            moved += (u[k] - q[k]) * (u[k] - q[k]); // W g
            resists += g[k] * q[k];
        }
        assert_true(fabs(verify_norm((int)size, g) - 1.0) <= 1e-12);
        assert_true(sqrt(moved) <= 1e-7 * verify_norm((int)size, q));
        assert_true(resists < -1e-3 * verify_norm((int)size, q));
        for (int32_t i = 0; i < facts.count; i++) // normal only: that no slip can help
            for (int k = 0; k < facts.dim; k++)
                assert_true(k == 0 ? g[i * facts.dim] >= 0.0 : g[i * facts.dim + k] == 0.0);
        assert_non_null(strstr(said, "no solution exists"));
        talus_solver_destroy(s);
        free(r);
        free(zero);
        free(q);
        free(u);
        talus_problem_destroy(p);
    }
}

// A stack can rest, v = 0, whatever its cubes weigh. With masses 1 : 1e6 impulses along the stack
// move it so little that they pass for a witness to rounding; those found so far tell better.
static void heavy_is_not_infeasible(void **state) {
    (void)state;
    talus_problem *p = scene((scene_def){.kind = SCENE_STACK, .n = 50, .mass_ratio = 1e6});
    double *r = solve_room(size_of(p));
    talus_solver *s = NULL;
    talus_solve_info info;
    talus_certificate judged;
    assert_int_equal(talus_solver_create(ctx, "auto", &s), TALUS_OK);
    solve_set(ctx, s, "stop=residual tolerance=1e-10 iterations=600");
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
    assert_int_equal(info.outcome, TALUS_OUTCOME_ITERATION_LIMIT);
    assert_null(talus_solver_witness(s));
    assert_null(strstr(said, "no solution exists"));
    assert_non_null(strstr(said, "auto: nipm from zero")); // which comes after the question
    assert_int_equal(talus_certify(p, r, &judged), TALUS_OK);
    assert_true(judged.residual <= 1e-4); // not far from one
    talus_solver_destroy(s);
    free(r);
    talus_problem_destroy(p);
}

// Many contacts and no friction: gradients, and nothing is set up for sweeps.
static void gradients_without_friction(void **state) {
    (void)state;
    const packing_def def = {.dim = 3,
                             .nx = 7,
                             .ny = 7,
                             .nz = 8,
                             .disorder = 0.1,
                             .speed = 0.05,
                             .seed = 5,
                             .diagonals = 4};
    rigid build;
    talus_global_def given;
    talus_problem *p;
    packing_build(&def, &build);
    assert_true(rigid_define(&build, NULL, &given));
    assert_true(given.count > 1024);
    assert_int_equal(talus_problem_create_global(ctx, &given, &p), TALUS_OK);
    double *r = solve_room(size_of(p)), *other = solve_room(size_of(p));
    const char *options = "stop=residual tolerance=1e-7";
    const talus_solve_info info = solve_with(ctx, "auto", options, p, r);
    const talus_solve_info same = solve_with(ctx, "apgd-ar", options, p, other);
    talus_certificate judged;
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    assert_int_equal(info.iterations, same.iterations);
    assert_memory_equal(r, other, (size_t)size_of(p) * sizeof *r);
    assert_int_equal(talus_certify(p, r, &judged), TALUS_OK);
    assert_true(judged.residual <= 1.01e-7);
    assert_true(info.memory < 2 * same.memory);
    talus_problem_destroy(p);
    rigid_clear(&build);
    free(r);
    free(other);
}

// Balls that the floor pushes up by 1: to where there is room, and, by the same solver, to where
// the ceiling comes down on them. Gradients find the first answer, and not that there is no second.
static void gradients_give_way(void **state) {
    (void)state;
    enum { BALLS = 600 };
    rigid build;
    talus_global_def given;
    talus_problem *p;
    talus_solver *s;
    talus_solve_info info;
    const double inertia[3] = {1.0, 1.0, 1.0}, still[6] = {0.0};
    rigid_init(&build, 3, true);
    for (int k = 0; k < BALLS; k++) {
        const double centre[3] = {3.0 * k, 0.0, 0.0}, up[3] = {0.0, 0.0, 1.0};
        const double down[3] = {0.0, 0.0, -1.0}, low[3] = {3.0 * k, 0.0, -1.0};
        const double high[3] = {3.0 * k, 0.0, 1.0};
        const int32_t ball = rigid_body(&build, 1.0, inertia, centre, still);
        rigid_contact(&build, ball, -1, low, up, 0.0);
        rigid_approach(&build, 2 * k, 1.0);
        rigid_contact(&build, ball, -1, high, down, 0.0);
        rigid_approach(&build, 2 * k + 1, -2.0);
    }
    assert_true(rigid_define(&build, NULL, &given));
    assert_int_equal(talus_problem_create_global(ctx, &given, &p), TALUS_OK);
    assert_int_equal(talus_solver_create(ctx, "auto", &s), TALUS_OK);
    double *r = solve_room(size_of(p));
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    for (int k = 0; k < BALLS; k++) // pushed up by 1, where there is room
        assert_true(fabs(r[6 * k] - 1.0) < 1e-6 && fabs(r[6 * k + 3]) < 1e-6);
    assert_null(strstr(said, "sweeps take over"));
    for (int k = 0; k < BALLS; k++) build.w[3 * (2 * k + 1)] = -0.5;
    assert_int_equal(talus_problem_update_global(p, &given), TALUS_OK);
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
    assert_int_equal(info.outcome, TALUS_OUTCOME_INFEASIBLE);
    assert_non_null(strstr(said, "sweeps take over"));
    assert_true(info.iterations > 3000);
    talus_solver_destroy(s);
    talus_problem_destroy(p);
    rigid_clear(&build);
    free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(degenerate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(newton_takes_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_for_newton, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_solution, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_without_friction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_give_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(heavy_is_not_infeasible, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
