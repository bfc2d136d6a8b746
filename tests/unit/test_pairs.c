// SPDX-License-Identifier: Apache-2.0
// Sweeps over pairs of bodies of any shape: what is taken for such, and that they are, sweep by
// sweep, the sweeps over blocks, for both laws, with and without friction, with bodies that stand
// alone, with both kinds of momentum, on threads.
#include "base/rng.h"
#include "base/vec3.h"
#include "solve/pairs.h"
#include "support/abreast.h"
#include "support/context.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Bodies on a lattice, each in contact with its neighbours at one to three places, with the ground
// below, and with moments of inertia that all differ.
enum { EDGE = 7, BODIES = EDGE * EDGE * EDGE, MOST = 3 * 4 * BODIES, BLOCK = 18 };

typedef struct pile {
    int32_t count, body_start[BODIES + 1], body[2 * MOST];
    int64_t start[MOST + 1];
    double mass[6 * BODIES], f[6 * BODIES], h[2 * BLOCK * MOST], w[3 * MOST], mu[MOST];
} pile;

// The frame of a normal that leans from axis k.
static void pile_frame(tl_rng *rng, int axis, double e[9]) {
    double side[3];
    for (int k = 0; k < 3; k++) {
        e[k] = (k == axis ? -1.0 : 0.0) + 0.4 * tl_rng_range(rng, -1.0, 1.0);
        side[k] = tl_rng_range(rng, -1.0, 1.0);
    }
    const double length = sqrt(tl_dot3(e, e));
    for (int k = 0; k < 3; k++) e[k] /= length;
    tl_cross3(e, side, e + 3);
    const double across = sqrt(tl_dot3(e + 3, e + 3));
    for (int k = 3; k < 6; k++) e[k] /= across;
    tl_cross3(e, e + 3, e + 6);
}

static void pile_contact(pile *p, tl_rng *rng, int32_t a, int32_t b, int axis) {
    double e[9];
    const int32_t i = p->count++, body[2] = {a, b};
    pile_frame(rng, axis, e);
    for (int side = 0; side < (b < 0 ? 1 : 2); side++) {
        double arm[3], turn[3], *h = p->h + p->start[i] * BLOCK + (ptrdiff_t)BLOCK * side;
        for (int k = 0; k < 3; k++) arm[k] = 0.4 * tl_rng_range(rng, -1.0, 1.0);
        p->body[p->start[i] + side] = body[side];
        for (int row = 0; row < 3; row++) {
            tl_cross3(arm, e + 3 * (ptrdiff_t)row, turn);
            for (int k = 0; k < 3; k++) {
                h[6 * row + k] = (side ? -1.0 : 1.0) * e[3 * row + k];
                h[6 * row + 3 + k] = (side ? -1.0 : 1.0) * turn[k];
            }
        }
    }
    p->start[i + 1] = p->start[i] + (b < 0 ? 1 : 2);
    p->mu[i] = i % 37 == 0 ? 0.0 : tl_rng_range(rng, 0.1, 0.7);
    for (int k = 0; k < 3; k++)
        p->w[3 * (int64_t)i + k] = (k == 0 ? 0.01 : 0.1) * tl_rng_range(rng, -1.0, 1.0);
}

static talus_problem *pile_make(void) {
    pile *p = calloc(1, sizeof *p);
    talus_problem *out = NULL;
    tl_rng rng = {.state = 7};
    assert_non_null(p);
    for (int32_t b = 0; b < BODIES; b++) {
        static const int32_t step[3] = {1, EDGE, EDGE * EDGE};
        const int32_t at[3] = {b % EDGE, b / EDGE % EDGE, b / (EDGE * EDGE)};
        p->body_start[b + 1] = 6 * (b + 1);
        const double mass = tl_rng_range(&rng, 1.0, 3.0);
        for (int k = 0; k < 6; k++) {
            p->mass[6 * b + k] = k < 3 ? mass : tl_rng_range(&rng, 0.1, 0.4);
            p->f[6 * b + k] = (k == 2 ? -9.81 * 0.02 : 0.0) + tl_rng_range(&rng, -0.05, 0.05);
        }
        if (at[2] == 0) pile_contact(p, &rng, b, -1, 2);
        for (int axis = 0; axis < 3; axis++)
            for (int more = 0; at[axis] + 1 < EDGE && more <= (b + axis) % 3; more++)
                pile_contact(p, &rng, b, b + step[axis], axis);
    }
    const talus_global_def def = {.dim = 3,
                                  .count = p->count,
                                  .body_count = BODIES,
                                  .body_start = p->body_start,
                                  .mass_diagonal = p->mass,
                                  .h_row_start = p->start,
                                  .h_body = p->body,
                                  .h_block = p->h,
                                  .f = p->f,
                                  .w = p->w,
                                  .law = {.mu = p->mu}};
    assert_int_equal(talus_problem_create_global(ctx, &def, &out), TALUS_OK);
    assert_true(p->count > 1100); // enough to be coloured
    free(p);
    return out;
}

// Ten sweeps from zero and ten more from there.
static void sweeps_are_those_over_blocks(void **state) {
    (void)state;
    talus_problem *p = pile_make();
    assert_true(tl_pairs_are(p));
    const int64_t size = 3 * (int64_t)talus_problem_get_info(p).count;
    for (int law = 0; law < 2; law++)
        for (int k = 0; k < ABREAST_MOMENTA; k++) {
            talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
            double *r = abreast_compare(ctx, p, NULL, k), *more = abreast_compare(ctx, p, r, k);
            assert_true(verify_norm((int)size, r) > 0.1);
            assert_true(abreast_difference(size, r, more) > 1e-6);
            free(r);
            free(more);
        }
    talus_problem_destroy(p);
}

// From impulses that have nothing to do with the solution, of all sizes, half of them at the rim.
static void sweeps_begin_anywhere(void **state) {
    (void)state;
    talus_problem *p = pile_make();
    const int32_t count = talus_problem_get_info(p).count;
    const int64_t size = 3 * (int64_t)count;
    double *start = calloc((size_t)size, sizeof *start);
    tl_rng rng = {.state = 23};
    assert_non_null(start);
    for (int round = 0; round < 10; round++) {
        for (int32_t i = 0; i < count; i++) {
            const double mu = i % 37 == 0 ? 0.0 : 0.1; // no larger than any of pile_contact
            const double turn = tl_rng_range(&rng, 0.0, 6.28);
            const double normal = pow(10.0, tl_rng_range(&rng, -4.0, 1.0));
            const double tangent = mu * normal * (i % 2 ? 1.0 : tl_rng_unit(&rng));
            start[3 * (int64_t)i] = normal;
            start[3 * (int64_t)i + 1] = tangent * cos(turn);
            start[3 * (int64_t)i + 2] = tangent * sin(turn);
        }
        for (int law = 0; law < 2; law++) {
            talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
            free(abreast_compare(ctx, p, start, 0));
        }
    }
    free(start);
    talus_problem_destroy(p);
}

static void measures_are_those_of_the_certificate(void **state) {
    (void)state;
    talus_problem *p = pile_make();
    for (int law = 0; law < 2; law++) {
        talus_problem_set_law(p, law ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB);
        free(abreast_certify(ctx, p, NULL, "natural", "1e-3"));
        free(abreast_certify(ctx, p, NULL, "residual", "1e-3"));
    }
    talus_problem_destroy(p);
}

// Two bodies, one contact; what is changed one thing at a time.
static bool are_pairs(const double h[2 * BLOCK], int sides, const double *tension,
                      const double *mass_block, double across) {
    static const int32_t body_start[] = {0, 6, 12}, h_body[] = {0, 1};
    static const double zero[12] = {0}, mu = 0.3;
    const double mass[12] = {2, 2, 2, 0.3, 0.2, 0.1, 5, across, 5, 0.7, 0.8, 0.9};
    const int64_t h_start[] = {0, sides};
    talus_problem *p = NULL;
    const talus_global_def def = {.dim = 3,
                                  .count = 1,
                                  .body_count = 2,
                                  .body_start = body_start,
                                  .mass_diagonal = mass_block ? NULL : mass,
                                  .mass_block = mass_block,
                                  .h_row_start = h_start,
                                  .h_body = h_body,
                                  .h_block = h,
                                  .f = zero,
                                  .w = zero,
                                  .law = {.mu = &mu, .tension = tension}};
    assert_int_equal(talus_problem_create_global(ctx, &def, &p), TALUS_OK);
    const bool yes = tl_pairs_are(p);
    talus_problem_destroy(p);
    return yes;
}

static void only_pairs_are_taken_for_pairs(void **state) {
    (void)state;
    const double tension = 0.1;
    double h[2 * BLOCK] = {0.0}, crooked[2 * BLOCK], mass[72] = {0.0};
    for (int k = 0; k < 2 * BLOCK; k++) h[k] = k % 6 < 3 ? 0.0 : 0.1 * (k % 7);
    for (int row = 0; row < 3; row++) h[7 * row] = 1.0, h[BLOCK + 7 * row] = -1.0;
    for (int k = 0; k < 12; k++) mass[36 * (k / 6) + 7 * (k % 6)] = 2.0;
    assert_true(are_pairs(h, 2, NULL, NULL, 5.0));
    assert_true(are_pairs(h, 1, NULL, NULL, 5.0));
    assert_false(are_pairs(h, 2, &tension, NULL, 5.0));
    assert_false(are_pairs(h, 2, NULL, NULL, 5.1)); // heavier one way than another
    mass[4] = mass[24] = 0.5;                       // not a diagonal
    assert_false(are_pairs(h, 2, NULL, mass, 5.0));
    for (int k = 0; k < 2 * BLOCK;
         k++) { // velocities that do not act alike; spins may do as they like
        memcpy(crooked, h, sizeof h);
        crooked[k] += 1e-9;
        assert_int_equal(are_pairs(crooked, 2, NULL, NULL, 5.0), k % 6 >= 3);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sweeps_are_those_over_blocks),
        TEST(sweeps_begin_anywhere),
        TEST(measures_are_those_of_the_certificate),
        TEST(only_pairs_are_taken_for_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
