// SPDX-License-Identifier: Apache-2.0
// Problems in which nothing rubs are solved by their normal rows alone: the answers are those of
// the whole problem, and prepared again, solvers take the memory they have.
// ctest labels: threads
#include "base/context.h"
#include "problem/problem_impl.h"
#include "solve/dual.h"
#include "support/context.h"
#include "support/packing.h"
#include "talus/talus.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct scene {
    rigid build;
    talus_global_def def;
    double *more; // tension
} scene;

// Spheres, disks, bodies whose normals do turn them, M with and without blocks, tension, and bodies
// whose normals turn nothing but which do not push each other alike.
enum { SCENES = 7 };
static void make_scene(int which, scene *s) {
    const bool flat = which == 1;
    const packing_def def = {.dim = flat ? 2 : 3,
                             .nx = flat ? 6 : 4,
                             .ny = flat ? 1 : 3,
                             .nz = 3,
                             .mu = 0.0,
                             .disorder = 0.2,
                             .speed = 0.2,
                             .seed = (uint64_t)which + 1,
                             .diagonals = flat ? 0 : 4};
    packing_build(&def, &s->build);
    assert_true(rigid_define(&s->build, NULL, &s->def));
    s->more = calloc((size_t)s->def.count, sizeof *s->more);
    const int size = s->build.size, d = def.dim;
    // Bodies that are not round: the normal rows get entries at the angular velocities.
    for (int64_t e = 0; which >= 2 && which < 5 && e < s->def.h_row_start[s->def.count]; e++)
        for (int k = d; k < size; k++)
            s->build.h[e * d * size + k] = 0.3 * sin((double)(7 * e + k));
    for (int64_t e = 0; which == 6 && e < s->def.h_row_start[s->def.count]; e++)
        s->build.h[e * d * size] *= 1.0 + 0.1 * (double)(e % 3);
    if (which == 3 || which == 5) { // blocks that couple the unknowns of a body
        s->def.mass_diagonal = NULL;
        for (int32_t b = 0; b < s->def.body_count; b++) {
            double *own = s->build.own + (int64_t)b * size * size;
            own[1] = own[size] = 0.2;
            own[size - 1] = own[(size - 1) * size] = 0.05;
        }
    }
    for (int32_t i = 0; which == 4 && i < s->def.count; i++) s->more[i] = 0.001 * (1 + i % 3);
    if (which == 4) s->def.law.tension = s->more;
}

static void clear_scene(scene *s) {
    rigid_clear(&s->build);
    free(s->more);
}

static talus_solver *make_solver(const char *name, const char *form, const char *stop,
                                 const char *threads) {
    talus_solver *s;
    assert_int_equal(talus_solver_create(ctx, name, &s), TALUS_OK);
    assert_int_equal(talus_solver_set(s, "form", form), TALUS_OK);
    assert_int_equal(talus_solver_set(s, "stop", stop), TALUS_OK);
    assert_int_equal(talus_solver_set(s, "threads", threads), TALUS_OK);
    assert_int_equal(talus_solver_set(s, "tolerance", "1e-9"), TALUS_OK);
    assert_int_equal(talus_solver_set(s, "iterations", "20000"), TALUS_OK);
    return s;
}

static const char *const solvers[] = {"apgd-ar", "apgd-asr", "pgd", "spg", "vi-eg"};

// The velocities are unique; the impulses need not be. The measure of the reduced solve is that of
// the certificate, which sees the whole problem.
static void the_answer_is_that_of_the_whole_problem(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        scene s;
        talus_problem *p;
        make_scene(k, &s);
        assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
        const int d = s.def.dim;
        const size_t size = (size_t)d * (size_t)s.def.count;
        const int32_t dof = s.def.body_start[s.def.body_count];
        double *r = calloc(size, sizeof *r), *v = calloc((size_t)dof, sizeof *v);
        double *other = calloc((size_t)dof, sizeof *v);
        talus_solver *whole = make_solver("apgd-ar", "assembled", "residual", "1");
        talus_solve_info info;
        talus_certificate judged;
        assert_int_equal(talus_solver_prepare(whole, p), TALUS_OK);
        assert_int_equal(((tl_dual *)whole)->w.dim, d);
        assert_int_equal(talus_solver_solve(whole, r, &info), TALUS_OK);
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_int_equal(talus_problem_state(p, r, v, NULL, NULL), TALUS_OK);
        talus_solver_destroy(whole);
        for (size_t m = 0; m < sizeof solvers / sizeof *solvers; m++)
            for (int stop = 0; stop < 2; stop++) {
                talus_solver *q =
                    make_solver(solvers[m], "auto", stop ? "natural" : "residual", "1");
                for (size_t e = 0; e < size; e++) r[e] = 0.01 * sin((double)e); // tangents too
                assert_int_equal(talus_solver_prepare(q, p), TALUS_OK);
                assert_int_equal(((tl_dual *)q)->w.dim, 1);
                assert_int_equal(((tl_dual *)q)->w.width, k < 2 || k >= 5 ? d : s.build.size);
                assert_int_equal(((tl_dual *)q)->w.pair != NULL, k == 0);
                assert_int_equal(talus_solver_solve(q, r, &info), TALUS_OK);
                assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
                assert_int_equal(talus_certify(p, r, &judged), TALUS_OK);
                const double seen = stop ? judged.natural : judged.residual;
                assert_true(fabs(seen - info.measure) <= 1e-6 * info.measure + 1e-15);
                for (size_t e = 0; e < size; e++)
                    if (e % (size_t)d != 0) assert_true(r[e] == 0.0);
                assert_int_equal(talus_problem_state(p, r, other, NULL, NULL), TALUS_OK);
                for (int32_t e = 0; e < dof; e++) assert_true(fabs(other[e] - v[e]) < 1e-6);
                talus_solver_destroy(q);
            }
        talus_problem_destroy(p);
        free(r);
        free(v);
        free(other);
        clear_scene(&s);
    }
}

// One contact that rubs, or a measure that looks at all rows, and nothing is left out.
static void where_something_rubs_nothing_is_left_out(void **state) {
    (void)state;
    scene s;
    talus_problem *p;
    make_scene(0, &s);
    talus_solver *fb = make_solver("apgd-ar", "auto", "fb", "1");
    assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
    assert_int_equal(talus_solver_prepare(fb, p), TALUS_OK);
    assert_int_equal(((tl_dual *)fb)->w.dim, 3);
    talus_solver_destroy(fb);
    talus_problem_destroy(p);
    for (int kind = 0; kind < 2; kind++) {
        talus_solver *q = make_solver("apgd-ar", "auto", "natural", "1");
        if (kind == 0) s.build.mu[5] = 0.1;
        if (kind == 1) s.build.mu[5] = 0.0;
        s.more[7] = 0.2;
        if (kind == 1) s.def.law.yield = s.more;
        assert_int_equal(talus_problem_create_global(ctx, &s.def, &p), TALUS_OK);
        assert_int_equal(talus_solver_prepare(q, p), TALUS_OK);
        assert_int_equal(((tl_dual *)q)->w.dim, 3);
        talus_solver_destroy(q);
        talus_problem_destroy(p);
    }
    clear_scene(&s);
}

// 1, 2, 3 and 8 threads: the same bits, with enough rows for several blocks of sums.
static void threads_change_nothing(void **state) {
    (void)state;
    for (int rubs = 0; rubs < 2; rubs++) {
        const packing_def def = {.dim = 3,
                                 .nx = 9,
                                 .ny = 9,
                                 .nz = 9,
                                 .mu = rubs ? 0.4 : 0.0,
                                 .disorder = 0.1,
                                 .speed = 0.1,
                                 .seed = 3,
                                 .diagonals = 4};
        const char *count[] = {"1", "2", "3", "8"};
        rigid build;
        talus_global_def global;
        talus_problem *p;
        packing_build(&def, &build);
        assert_true(rigid_define(&build, NULL, &global));
        assert_int_equal(talus_problem_create_global(ctx, &global, &p), TALUS_OK);
        const size_t size = 3 * (size_t)global.count;
        assert_true(global.count > 3 * TL_DUAL_BLOCK);
        double *first = calloc(size, sizeof *first), *r = calloc(size, sizeof *r);
        for (size_t m = 0; m < 3; m++)
            for (int k = 0; k < 4; k++) {
                talus_solve_info info;
                talus_solver *q = make_solver(solvers[m], "auto", "residual", count[k]);
                assert_int_equal(talus_solver_set(q, "iterations", "30"), TALUS_OK);
                memset(r, 0, size * sizeof *r);
                assert_int_equal(talus_solver_prepare(q, p), TALUS_OK);
                assert_int_equal(talus_solver_solve(q, r, &info), TALUS_OK);
                if (k == 0) memcpy(first, r, size * sizeof *r);
                assert_memory_equal(first, r, size * sizeof *r);
                talus_solver_destroy(q);
            }
        free(first);
        free(r);
        talus_problem_destroy(p);
        rigid_clear(&build);
    }
}

// Time steps of about the same size: after the largest one, neither the problem nor the solver asks
// for memory, and the answers are those of a fresh solver.
static void prepared_again_in_the_same_memory(void **state) {
    (void)state;
    const char *names[][2] = {{"nlgs", "assembled"},   {"nlgs", "matrix-free"},
                              {"jacobi", "assembled"}, {"apgd-ar", "auto"},
                              {"apgd-asr", "auto"},    {"spg", "matrix-free"}};
    for (int rubs = 0; rubs < 2; rubs++)
        for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
            rigid build[3];
            talus_global_def def[3];
            talus_problem *p;
            talus_solver *q = make_solver(names[m][0], names[m][1], "natural", "2");
            assert_int_equal(talus_solver_set(q, "iterations", "15"), TALUS_OK);
            int32_t most = 0;
            for (int k = 0; k < 3; k++) {
                const packing_def packing = {.dim = 3,
                                             .nx = 8 - k % 2,
                                             .ny = 8,
                                             .nz = 8 - k / 2,
                                             .mu = rubs ? 0.4 : 0.0,
                                             .disorder = 0.1,
                                             .speed = 0.1,
                                             .seed = (uint64_t)k + 1};
                packing_build(&packing, &build[k]);
                assert_true(rigid_define(&build[k], NULL, &def[k]));
                most = def[k].count > most ? def[k].count : most;
            }
            assert_true(most > 1024); // coloured
            double *r = calloc(3 * (size_t)most, sizeof *r), *fresh = calloc(3 * (size_t)most, 8);
            assert_int_equal(talus_problem_create_global(ctx, &def[0], &p), TALUS_OK);
            assert_int_equal(talus_solver_prepare(q, p), TALUS_OK);
            for (int step = 0; step < 7; step++) {
                talus_solve_info info, alone;
                const size_t size = 3 * (size_t)def[step % 3].count;
                int64_t before = tl_alloc_count(ctx);
                assert_int_equal(talus_problem_update_global(p, &def[step % 3]), TALUS_OK);
                assert_int_equal(talus_solver_prepare(q, p), TALUS_OK);
                memset(r, 0, size * sizeof *r);
                assert_int_equal(talus_solver_solve(q, r, &info), TALUS_OK);
                // colourings differ in how well they pack, so one round of all steps comes first
                if (step >= 3) assert_int_equal(tl_alloc_count(ctx), before);
                assert_true(info.memory > 0);
                talus_solver *other = make_solver(names[m][0], names[m][1], "natural", "1");
                assert_int_equal(talus_solver_set(other, "iterations", "15"), TALUS_OK);
                memset(fresh, 0, size * sizeof *r);
                assert_int_equal(talus_solver_prepare(other, p), TALUS_OK);
                assert_int_equal(talus_solver_solve(other, fresh, &alone), TALUS_OK);
                assert_memory_equal(r, fresh, size * sizeof *r);
                assert_int_equal(info.iterations, alone.iterations);
                talus_solver_destroy(other);
            }
            talus_solver_destroy(q);
            talus_problem_destroy(p);
            free(r);
            free(fresh);
            for (int k = 0; k < 3; k++) rigid_clear(&build[k]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_answer_is_that_of_the_whole_problem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_something_rubs_nothing_is_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(threads_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prepared_again_in_the_same_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
