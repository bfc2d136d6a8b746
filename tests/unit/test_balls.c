// SPDX-License-Identifier: Apache-2.0
// Sweeps over balls: what is taken for balls and what is not, and that they are, sweep by sweep,
// the sweeps over blocks, for both laws, with walls, with both kinds of momentum, on threads.
#include "solve/balls.h"
#include "support/abreast.h"
#include "support/bed.h"
#include "support/context.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

// A bed of some hundred spheres that has begun to settle; contacts with five walls.
static void make_bed(bed *b, talus_problem **p, double **r) {
    assert_true(bed_init(b, &(bed_def){.nx = 8, .ny = 8, .nz = 7, .mu = 0.5, .seed = 3}));
    assert_int_equal(bed_run(b, ctx, 15, "20", "1"), TALUS_OK);
    assert_int_equal(bed_problem(b, ctx, p, r), TALUS_OK);
    assert_true(talus_problem_get_info(*p).count > 1100); // enough to be coloured
}

// Ten sweeps from the impulses of the last step and from zero.
static void sweeps_are_those_over_blocks(void **state) {
    (void)state;
    bed b;
    talus_problem *p = NULL;
    double *start = NULL;
    make_bed(&b, &p, &start);
    assert_true(tl_balls_are(p));
    const int64_t size = 3 * (int64_t)talus_problem_get_info(p).count;
    for (int law = 0; law < 2; law++)
        for (int k = 0; k < ABREAST_MOMENTA; k++)
            for (int warm = 0; warm < 2; warm++) {
                talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
                double *r = abreast_compare(ctx, p, warm ? start : NULL, k);
                assert_true(abreast_difference(size, r, start) > 1e-6 * verify_norm((int)size, r));
                free(r);
            }
    talus_problem_destroy(p);
    free(start);
    bed_clear(&b);
}

// And the impulses obey the cone exactly.
static void measures_are_those_of_the_certificate(void **state) {
    (void)state;
    bed b;
    talus_problem *p = NULL;
    double *start = NULL;
    make_bed(&b, &p, &start);
    const int64_t count = talus_problem_get_info(p).count;
    for (int rule = 0; rule < 2; rule++)
        for (int law = 0; law < 2; law++) {
            talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
            double *r = rule ? abreast_certify(ctx, p, start, "natural", "1e-4")
                             : abreast_certify(ctx, p, start, "residual", "1e-3");
            for (int64_t i = 0; i < count; i++)
                assert_true(hypot(r[3 * i + 1], r[3 * i + 2]) <= 0.5 * r[3 * i] * (1 + 1e-15));
            free(r);
        }
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
