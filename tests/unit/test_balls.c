// SPDX-License-Identifier: Apache-2.0
// Sweeps over balls: what is taken for balls and what is not, and that they are, sweep by sweep,
// the sweeps over blocks, for both laws, with walls, with both kinds of momentum, on threads.
#include "solve/balls.h"
#include "support/bed.h"
#include "support/context.h"
#include "support/verify.h"
#include "talus/talus.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A bed of some hundred spheres that has begun to settle; contacts with five walls.
static void make_bed(bed *b, talus_problem **p, double **r) {
    assert_true(bed_init(b, &(bed_def){.nx = 8, .ny = 8, .nz = 7, .mu = 0.5, .seed = 3}));
    assert_int_equal(bed_run(b, ctx, 15, "20", "1"), TALUS_OK);
    assert_int_equal(bed_problem(b, ctx, p, r), TALUS_OK);
    assert_true(talus_problem_get_info(*p).count > 1100); // enough to be coloured
}

static double *solve(const talus_problem *p, const double *from, const char *const *option,
                     talus_solve_info *info) {
    const size_t size = 3 * (size_t)talus_problem_get_info(p).count;
    talus_solver *s = NULL;
    double *r = malloc(size * sizeof *r);
    assert_non_null(r);
    memcpy(r, from, size * sizeof *r);
    assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
    for (; option[0]; option += 2)
        assert_int_equal(talus_solver_set(s, option[0], option[1]), TALUS_OK);
    assert_int_equal(talus_solver_prepare(s, p), TALUS_OK);
    assert_int_equal(talus_solver_solve(s, r, info), TALUS_OK);
    talus_solver_destroy(s);
    return r;
}

static double largest_difference(int64_t n, const double *a, const double *b) {
    double most = 0.0;
    for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

// Ten sweeps from the impulses of the last step and from zero: the same impulses to rounding.
static void sweeps_are_those_over_blocks(void **state) {
    (void)state;
    bed b;
    talus_problem *p = NULL;
    double *start = NULL;
    make_bed(&b, &p, &start);
    assert_true(tl_balls_are(p));
    const int64_t size = 3 * (int64_t)talus_problem_get_info(p).count;
    const char *const momentum[][4] = {{"momentum", "no", "proximal", "0"},
                                       {"momentum", "yes", "proximal", "0"},
                                       {"inertia", "0.9", "proximal", "0.3"},
                                       {"inertia", "0.9", "relaxed", "6"}};
    for (int law = 0; law < 2; law++)
        for (size_t k = 0; k < 4; k++)
            for (int warm = 0; warm < 2; warm++) {
                double *r[2];
                talus_solve_info info;
                talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
                for (int form = 0; form < 2; form++) {
                    const char *const option[] = {momentum[k][0],
                                                  momentum[k][1],
                                                  momentum[k][2],
                                                  momentum[k][3],
                                                  "form",
                                                  form ? "matrix-free" : "assembled",
                                                  "iterations",
                                                  "10",
                                                  "tolerance",
                                                  "1e-300",
                                                  "check",
                                                  "1000000",
                                                  "local_tolerance",
                                                  "1e-15",
                                                  "warm",
                                                  warm ? "yes" : "no",
                                                  NULL,
                                                  NULL};
                    r[form] = solve(p, start, option, &info);
                    assert_int_equal(info.iterations, 10);
                    assert_int_equal(info.local_failures, 0);
                }
                const double most = largest_difference(size, r[0], r[1]);
                const double norm = verify_norm((int)size, r[0]);
                if (!(most <= 1e-12 * norm))
                    fail_msg("law %d momentum %d warm %d: %g of %g apart", law, (int)k, warm, most,
                             norm);
                assert_true(largest_difference(size, r[0], start) > 1e-6 * norm);
                free(r[0]);
                free(r[1]);
            }
    talus_problem_destroy(p);
    free(start);
    bed_clear(&b);
}

// The measures, computed in eights, are those of the certificate, and the impulses obey the cone
// exactly; the same bits on any number of threads.
static void measures_are_those_of_the_certificate(void **state) {
    (void)state;
    bed b;
    talus_problem *p = NULL;
    double *start = NULL, *first = NULL;
    make_bed(&b, &p, &start);
    const int64_t size = 3 * (int64_t)talus_problem_get_info(p).count;
    for (int rule = 0; rule < 2; rule++)
        for (int law = 0; law < 2; law++) {
            talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
            for (int threads = 1; threads <= 3; threads++) {
                char count[8];
                (void)snprintf(count, sizeof count, "%d", threads);
                const char *const option[] = {"stop",      rule ? "natural" : "residual",
                                              "tolerance", rule ? "1e-4" : "1e-3",
                                              "inertia",   "0.9",
                                              "proximal",  "0.3",
                                              "threads",   count,
                                              NULL,        NULL};
                talus_solve_info info;
                talus_certificate c;
                double *r = solve(p, start, option, &info);
                assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
                assert_int_equal(talus_certify(p, r, &c), TALUS_OK);
                const double judged = rule ? c.natural : c.residual;
                assert_true(fabs(judged - info.measure) <= 1e-9 * judged + 1e-14);
                for (int64_t i = 0; i < size / 3; i++)
                    assert_true(hypot(r[3 * i + 1], r[3 * i + 2]) <= 0.5 * r[3 * i] * (1 + 1e-15));
                if (threads == 1) {
                    free(first);
                    first = r;
                } else {
                    assert_memory_equal(r, first, (size_t)size * sizeof *r);
                    free(r);
                }
            }
        }
    free(first);
    talus_problem_destroy(p);
    free(start);
    bed_clear(&b);
}

// Two bodies, one contact; what is changed one thing at a time.
typedef struct pair_case {
    double mass[12], h[36], tension;
} pair_case;

static pair_case round_pair(void) {
    pair_case c = {.mass = {2, 2, 2, 0.3, 0.3, 0.3, 5, 5, 5, 0.7, 0.7, 0.7}};
    const double n[3] = {0.6, 0.0, 0.8}, e[3][3] = {{0.6, 0.0, 0.8}, {0, 1, 0}, {-0.8, 0.0, 0.6}};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                const double sign = side ? -1.0 : 1.0, arm = side ? 0.4 : -0.25;
                c.h[18 * side + 6 * i + k] = sign * e[i][k];
                c.h[18 * side + 6 * i + 3 + k] =
                    sign * arm *
                    (n[(k + 1) % 3] * e[i][(k + 2) % 3] - n[(k + 2) % 3] * e[i][(k + 1) % 3]);
            }
    return c;
}

static bool is_round(const pair_case *c) {
    const int32_t body_start[] = {0, 6, 12}, h_body[] = {0, 1};
    const int64_t h_start[] = {0, 2};
    const double zero[12] = {0}, mu = 0.3;
    talus_problem *p = NULL;
    const talus_global_def def = {
        .dim = 3,
        .count = 1,
        .body_count = 2,
        .body_start = body_start,
        .mass_diagonal = c->mass,
        .h_row_start = h_start,
        .h_body = h_body,
        .h_block = c->h,
        .f = zero,
        .w = zero,
        .law = {.mu = &mu, .tension = c->tension > 0.0 ? &c->tension : NULL}};
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
    const bool round = tl_balls_are(p);
    talus_problem_destroy(p);
    return round;
}

static void only_balls_are_taken_for_balls(void **state) {
    (void)state;
    pair_case c = round_pair();
    assert_true(is_round(&c));
    for (int k = 0; k < 12; k++) { // a moment of its own, a mass that depends on direction
        c = round_pair();
        c.mass[k] *= 1.0 + 1e-6;
        assert_false(is_round(&c));
    }
    for (int k = 0; k < 36; k++) { // an arm that does not lie along the normal, a crooked frame
        c = round_pair();
        c.h[k] += 1e-9;
        assert_false(is_round(&c));
    }
    c = round_pair();
    c.tension = 0.1;
    assert_false(is_round(&c));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sweeps_are_those_over_blocks),
        TEST(measures_are_those_of_the_certificate),
        TEST(only_balls_are_taken_for_balls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
