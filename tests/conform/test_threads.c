// SPDX-License-Identifier: Apache-2.0
// The same bits of r for 1, 2, 3 and 8 threads, every time: assembled and matrix-free each with
// itself, block by block and in lanes, in 2D and 3D.
// ctest labels: threads
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/packing.h"
#include "support/solve_cases.h"
#include "talus/talus.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define REPEATS 2 // a race is seen in one run; there each costs twenty times as much
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REPEATS 2
#endif
#endif
#ifndef REPEATS
#define REPEATS 10
#endif

static const packing_def packings[] = {
    {.dim = 3, .nx = 12, .ny = 12, .nz = 4, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 3},
    {.dim = 2, .nx = 40, .ny = 1, .nz = 20, .mu = 0.5, .disorder = 0.1, .speed = 0.1, .seed = 4},
};
static const int thread_counts[] = {1, 2, 3, 8};

typedef struct fixture {
    talus_context *ctx;
    talus_problem *problem[2];
} fixture;

static int set_up(void **state) {
    static fixture f;
    *state = &f;
    if (talus_context_create(NULL, &f.ctx) != TALUS_OK) return -1;
    for (int k = 0; k < 2; k++)
        if (packing_create(f.ctx, &packings[k], &f.problem[k]) != TALUS_OK) return -1;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    for (int k = 0; k < 2; k++) talus_problem_destroy(f->problem[k]);
    talus_context_destroy(f->ctx);
    return 0;
}

// All thread counts and repeats with one set of options; returns the common hash.
static uint64_t same_bits(const fixture *f, const talus_problem *p, const char *name,
                          const char *options, int repeats) {
    const talus_problem_info facts = talus_problem_get_info(p);
    const size_t bytes = (size_t)facts.dim * (size_t)facts.count * sizeof(double);
    double *r = malloc(bytes);
    uint64_t first = 0;
    assert_non_null(r);
    assert_true(facts.count >= 1500);
    for (int t = 0; t < 4; t++) {
        talus_solver *s = NULL;
        char text[16];
        assert_int_equal(talus_solver_create(f->ctx, name, &s), TALUS_OK);
        solve_set(f->ctx, s, "tolerance=1e-300 iterations=7 check=3");
        solve_set(f->ctx, s, options);
        (void)snprintf(text, sizeof text, "threads=%d", thread_counts[t]);
        solve_set(f->ctx, s, text);
        for (int repeat = 0; repeat < repeats; repeat++) {
            talus_solve_info info;
            if (repeat == 0) assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
            memset(r, 0, bytes);
            assert_int_equal(talus_solver_solve(s, r, &info), TALUS_OK);
            assert_int_equal(info.outcome, TALUS_OUTCOME_ITERATION_LIMIT);
            uint64_t hash = talus_hash(r, bytes, 1);
            hash = talus_hash(&info.measure, sizeof info.measure, hash);
            hash = talus_hash(&info.local_solves, sizeof info.local_solves, hash);
            if (t == 0 && repeat == 0) first = hash;
            if (hash != first)
                fail_msg("%s %s: %d threads, repeat %d: other bits", name, options,
                         thread_counts[t], repeat);
        }
        talus_solver_destroy(s);
    }
    free(r);
    return first;
}

static void all_forms(const fixture *f, const char *name, int repeats) {
    for (int k = 0; k < 2; k++) {
        const talus_problem *p = f->problem[k];
        const uint64_t a =
            same_bits(f, p, name, "order=coloured form=assembled local=hybrid", repeats);
        same_bits(f, p, name, "order=coloured form=matrix-free local=hybrid", repeats);
        const uint64_t b =
            same_bits(f, p, name, "order=coloured form=assembled local=sbp", repeats);
        same_bits(f, p, name, "order=coloured form=matrix-free local=sbp", repeats);
        assert_true(a != b); // the hash sees a difference
    }
}

static void nlgs(void **state) { all_forms(*state, "nlgs", REPEATS); }
static void jacobi(void **state) { all_forms(*state, "jacobi", 2); }

// Methods that use W through products.
static void gradients(void **state) {
    const fixture *f = *state;
    static const char *const names[] = {"pgd",     "apgd",     "apgd-as",
                                        "apgd-ar", "apgd-asr", "projected-gradient",
                                        "spg",     "aspg",     "vi-eg"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        same_bits(f, f->problem[k % 2], names[k], "form=assembled", 2);
        same_bits(f, f->problem[k % 2], names[k], "form=matrix-free", 2);
    }
}

// Solvers over solvers.
static void outer_loops(void **state) {
    const fixture *f = *state;
    static const char *const names[] = {"cadoux", "haslinger", "anderson"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        same_bits(f, f->problem[k % 2], names[k], "inner=nlgs", 1);
        same_bits(f, f->problem[k % 2], names[k], "inner=apgd-asr stop=residual iterations=3", 1);
    }
}

// Interior points: the products and what is factored.
static void interior(void **state) {
    const fixture *f = *state;
    same_bits(f, f->problem[1], "nipm", "form=assembled iterations=2", 1);
    same_bits(f, f->problem[1], "nipm", "form=matrix-free iterations=2", 1);
}

// The other options that change a sweep, twice each.
static void variants(void **state) {
    const fixture *f = *state;
    static const char *const options[] = {
        "order=coloured sleep=2 sleep_level=1e9",
        "order=coloured open=3",
        "order=coloured symmetric=yes",
        "order=coloured relaxation=0.7 proximal=0.1",
        "order=coloured form=matrix-free symmetric=yes sleep=1 sleep_level=1e9",
        "order=coloured stop=residual",
        "order=coloured stop=fb",
        "order=coloured stop=bipotential",
        "order=coloured stop=change",
        "order=coloured local=hybrid-newton",
        "order=coloured local=ipdas"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        same_bits(f, f->problem[0], "nlgs", options[k], 2);
        same_bits(f, f->problem[1], "jacobi", options[k], 2);
    }
}

// A whole solve: the path of checks, patience and best iterate must not depend on threads either.
static void whole_solve(void **state) {
    const fixture *f = *state;
    for (int k = 0; k < 2; k++) {
        const talus_problem_info facts = talus_problem_get_info(f->problem[k]);
        const int64_t size = (int64_t)facts.dim * facts.count;
        double *r = solve_room(size);
        uint64_t first = 0;
        int32_t iterations = 0;
        for (int t = 0; t < 4; t++) {
            char text[96];
            (void)snprintf(text, sizeof text, "tolerance=2e-3 patience=20 time_limit=60 threads=%d",
                           thread_counts[t]);
            memset(r, 0, (size_t)size * sizeof *r);
            const talus_solve_info info = solve_with(f->ctx, "nlgs", text, f->problem[k], r);
            const uint64_t hash = talus_hash(r, (size_t)size * sizeof *r, 1);
            assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
            if (t == 0) {
                first = hash;
                iterations = info.iterations;
            }
            assert_true(hash == first);
            assert_int_equal(info.iterations, iterations);
        }
        assert_true(solve_natural(f->problem[k], packings[k].mu, r) <= 2.001e-3);
        free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nlgs),        cmocka_unit_test(jacobi),   cmocka_unit_test(gradients),
        cmocka_unit_test(outer_loops), cmocka_unit_test(interior), cmocka_unit_test(variants),
        cmocka_unit_test(whole_solve),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
