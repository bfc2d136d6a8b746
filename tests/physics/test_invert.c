// SPDX-License-Identifier: Apache-2.0
// Natural curvatures from a shape at rest: the friction problem behind it on random data, judged by
// its definition, and grooms that must not sag.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "rod/inverse.h"
#include "support/worlds.h"
#include <stdlib.h>

// ---- random data
// ---------------------------------------------------------------------------------

enum { STRAINS = 24, CONTACTS = 10 };

typedef struct sample {
    double stiffness[STRAINS], strain[STRAINS], weight[STRAINS], wished[STRAINS];
    double block[CONTACTS * 3 * STRAINS], mu[CONTACTS];
    int32_t start[3], rod[2 * CONTACTS];
    int64_t row[CONTACTS + 1];
} sample;

// Two rods of 12 strains; even contacts are of both, odd ones of the second alone.
static tl_inverse fill(sample *s, uint64_t seed) {
    tl_rng rng = {.state = seed};
    int64_t at = 0;
    for (int k = 0; k < STRAINS; k++) {
        s->stiffness[k] = exp(tl_rng_range(&rng, -1.0, 1.0));
        s->strain[k] = tl_rng_normal(&rng);
        s->weight[k] = 3.0 * tl_rng_normal(&rng);
        s->wished[k] = tl_rng_normal(&rng);
    }
    for (int k = 0; k < CONTACTS * 3 * STRAINS; k++) s->block[k] = tl_rng_normal(&rng);
    s->start[0] = 0, s->start[1] = 12, s->start[2] = 24;
    s->row[0] = 0;
    for (int i = 0; i < CONTACTS; i++) {
        if (i % 2 == 0) s->rod[at++] = 0;
        s->rod[at++] = 1;
        s->row[i + 1] = at;
        s->mu[i] = 0.5;
    }
    return (tl_inverse){.rods = 2,
                        .start = s->start,
                        .stiffness = s->stiffness,
                        .strain = s->strain,
                        .weight = s->weight,
                        .wished = s->wished,
                        .contacts = CONTACTS,
                        .row_start = s->row,
                        .rod = s->rod,
                        .block = s->block,
                        .mu = s->mu,
                        .regular = 1e-8,
                        .solver = "auto",
                        .tolerance = 1e-11,
                        .iterations = 100000};
}

// p for given forces, from the balance, and the distance to what is wished.
static double distance(const tl_inverse *in, const double *r, double *p) {
    double force[STRAINS], sum = 0.0;
    const double *h = in->block;
    memcpy(force, in->weight, sizeof force);
    for (int i = 0; i < CONTACTS; i++)
        for (int64_t e = in->row_start[i]; e < in->row_start[i + 1]; e++)
            for (int row = 0; row < 3; row++)
                for (int k = 0; k < 12; k++) force[12 * in->rod[e] + k] += *h++ * r[3 * i + row];
    for (int k = 0; k < STRAINS; k++) {
        p[k] = in->strain[k] - force[k] / in->stiffness[k];
        sum += 0.5 * pow(p[k] - in->wished[k], 2.0);
    }
    return sum;
}

static void test_random(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sample s;
        const tl_inverse in = fill(&s, seed);
        double natural[STRAINS], r[3 * CONTACTS] = {0}, p[STRAINS], zero[3 * CONTACTS] = {0};
        tl_inverse_info info;
        WORLDS_OK(tl_inverse_solve(ctx, &in, natural, r, &info));
        assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
        assert_true(info.residual <= 1e-10);
        const double best = distance(&in, r, p), without = distance(&in, zero, p);
        distance(&in, r, p);
        for (int k = 0; k < STRAINS; k++) assert_true(fabs(p[k] - natural[k]) <= 1e-11);
        assert_true(fabs(info.change - sqrt(2.0 * best / STRAINS)) <= 1e-9);
        assert_true(fabs(info.alone - sqrt(2.0 * without / STRAINS)) <= 1e-12);
        assert_true(best < 0.9 * without);
        for (int i = 0; i < CONTACTS; i++)
            assert_true(hypot(r[3 * i + 1], r[3 * i + 2]) <= 0.5 * r[3 * i] + 1e-9);
        // no other allowed forces come nearer: the problem is convex, so that small steps tell
        tl_rng rng = {.state = seed};
        for (int trial = 0; trial < 2000; trial++) {
            double other[3 * CONTACTS], q[STRAINS];
            const double size = pow(10.0, tl_rng_range(&rng, -3.0, 0.0));
            for (int i = 0; i < CONTACTS; i++) {
                double *f = other + 3 * i;
                f[0] = fmax(r[3 * i] + size * tl_rng_normal(&rng), 0.0);
                f[1] = r[3 * i + 1] + size * tl_rng_normal(&rng);
                f[2] = r[3 * i + 2] + size * tl_rng_normal(&rng);
                const double along = hypot(f[1], f[2]), most = 0.5 * f[0];
                if (along > most) f[1] *= most / along, f[2] *= most / along;
            }
            assert_true(distance(&in, other, q) >= best - 1e-6 * without);
        }
    }
}

// ---- a groom
// -------------------------------------------------------------------------------------

enum { RODS = 5, LOWER = 3, NODES = 17, PIECES = 8 };
static const double radius = 2e-3;

// Strands out of a wall, clamped: three side by side over a bar, with a bow up behind it, and two
// across them on top.
static void strand(int i, double *x) {
    const double length = 0.2;
    for (int k = 0; k < NODES; k++) {
        const double s = length * k / (NODES - 1);
        if (i < LOWER) { // straight, then an arc of radius 0.15
            const double t = fmax(s - 0.15, 0.0) / 0.15;
            x[3 * k] = fmin(s, 0.15) + 0.15 * sin(t);
            x[3 * k + 1] = 0.02 * (i - 1);
            x[3 * k + 2] = 0.1 + 0.15 * (1.0 - cos(t));
        } else {
            const double side = i == LOWER ? 1.0 : -1.0, slope = 0.35;
            x[3 * k] = 0.01 * (i - LOWER) + s * cos(slope);
            x[3 * k + 1] = side * (s * sin(slope) - 0.03);
            x[3 * k + 2] = 0.1 + 2.0 * radius * (1 + i - LOWER);
        }
    }
}

// The bar alone.
static talus_world *bare(void) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.tolerance = 1e-7;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.5, 0.0, 0.0);
    talus_body_def bar = worlds_fixed(
        w, (talus_shape_def){.kind = TALUS_SHAPE_CAPSULE, .radius = 0.01, .height = 0.2});
    bar.position[0] = 0.1;
    bar.position[2] = 0.1 - radius - 0.01;
    bar.orientation[0] = bar.orientation[1] = sqrt(0.5); // along y
    worlds_add(w, &bar);
    return w;
}

static talus_world *groom(void) {
    talus_world *w = bare();
    for (int i = 0; i < RODS; i++) {
        double position[3 * NODES];
        strand(i, position);
        talus_rod_def rod = talus_rod_default();
        rod.kind = TALUS_ROD_HELIX;
        rod.nodes = NODES;
        rod.pieces = PIECES;
        rod.position = rod.natural = position;
        rod.radius = radius;
        rod.young = 5e7;
        rod.damping = 0.01;
        rod.drag = 0.02;
        rod.start = TALUS_END_CLAMPED;
        rod.self_contact = false;
        WORLDS_OK(talus_world_add_rod(w, &rod, NULL));
    }
    return w;
}

// Largest way of a node in half a second.
static double drift(talus_world *w, double *speed) {
    const talus_rod_view view = talus_world_rods(w);
    const int count = 3 * view.start[view.rods];
    double *begin = malloc((size_t)count * sizeof *begin), worst = 0.0;
    assert_non_null(begin);
    memcpy(begin, view.position, (size_t)count * sizeof *begin);
    for (int k = 0; k < 250; k++) worlds_step(w);
    const talus_rod_view end = talus_world_rods(w);
    *speed = 0.0;
    for (int k = 0; k < count; k++) {
        worst = fmax(worst, fabs(end.position[k] - begin[k]));
        *speed = fmax(*speed, fabs(end.velocity[k]));
    }
    free(begin);
    return worst;
}

static void test_groom(void **state) {
    (void)state;
    double speed;
    talus_world *w = groom();
    const double sag = drift(w, &speed);
    talus_world_destroy(w);
    assert_true(sag > 2.0 * radius);
    for (talus_wish wish = TALUS_WISH_PLACED; wish <= TALUS_WISH_STRAIGHT; wish++) {
        w = groom();
        talus_invert_def def = talus_invert_default();
        talus_invert_info info;
        def.wish = wish;
        WORLDS_OK(talus_world_invert_rods(w, &def, &info));
        assert_true(info.contacts >= RODS);
        assert_true(info.balance <= 1e-10);
        assert_true(info.change <= info.alone);
        const double way = drift(w, &speed);
        assert_true(way <= 0.01 * sag);
        talus_world_destroy(w);
    }
}

// What was found, given to a new world by its definition: curvatures and directors.
static void test_again(void **state) {
    (void)state;
    talus_world *w = groom();
    talus_invert_def def = talus_invert_default();
    talus_invert_info info;
    double speed;
    WORLDS_OK(talus_world_invert_rods(w, &def, &info));
    talus_world *other = bare();
    for (int i = 0; i < RODS; i++) {
        talus_rod_def rod;
        assert_true(talus_world_rod_at(w, i, &rod));
        assert_non_null(rod.curvature);
        WORLDS_OK(talus_world_add_rod(other, &rod, NULL));
    }
    talus_world_destroy(w);
    const double way = drift(other, &speed);
    assert_true(way <= 1e-3 * radius);
    talus_world_destroy(other);
}

static void test_refused(void **state) {
    (void)state;
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_invert_def how = talus_invert_default();
    talus_invert_info info;
    talus_world *w = worlds_create(&def);
    assert_int_equal(talus_world_invert_rods(w, &how, &info), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "no rods"));
    const double position[9] = {0, 0, 0, 0.1, 0, 0, 0.2, 0, 0};
    talus_rod_def rod = talus_rod_default();
    rod.nodes = 3;
    rod.position = position;
    WORLDS_OK(talus_world_add_rod(w, &rod, NULL));
    assert_int_equal(talus_world_invert_rods(w, &how, &info), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "must be of kind helix"));
    const talus_body_def ball = worlds_ball(w, 0.1, 0.0, 0.0, 1.0);
    worlds_add(w, &ball);
    assert_int_equal(talus_world_invert_rods(w, &how, &info), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "body 0 moves freely"));
    worlds_step(w);
    talus_world_destroy(w);
}

// Every request for memory fails once, while rods are added and while they are inverted: nothing is
// left behind, and the world can still be used.
static void test_memory(void **state) {
    (void)state;
    double position[3 * NODES];
    strand(0, position);
    talus_rod_def rod = talus_rod_default();
    rod.kind = TALUS_ROD_HELIX;
    rod.nodes = NODES;
    rod.pieces = PIECES;
    rod.position = rod.natural = position;
    rod.radius = radius;
    rod.start = TALUS_END_CLAMPED;
    talus_world *w = bare();
    int64_t tries = 0;
    for (talus_status status = TALUS_ERR_MEMORY; status != TALUS_OK; tries++) {
        memory.fail_at = memory.requests + 1 + tries;
        status = talus_world_add_rod(w, &rod, NULL);
        memory.fail_at = 0;
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        assert_int_equal(talus_world_rods(w).rods, status == TALUS_OK);
    }
    assert_true(tries > 20);
    const talus_invert_def def = talus_invert_default();
    talus_invert_info info;
    tries = 0;
    for (talus_status status = TALUS_ERR_MEMORY; status != TALUS_OK; tries++) {
        memory.fail_at = memory.requests + 1 + tries;
        status = talus_world_invert_rods(w, &def, &info);
        memory.fail_at = 0;
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
    }
    assert_true(tries > 10);
    assert_true(info.balance <= 1e-10);
    worlds_step(w);
    talus_world_destroy(w);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_random), TEST(test_groom), TEST(test_again),
                                       TEST(test_refused), TEST(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
