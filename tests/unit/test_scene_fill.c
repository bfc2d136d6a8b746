// SPDX-License-Identifier: Apache-2.0
// Generators of grains, judged by their geometry: distances between all pairs, places of lattice
// points, moments and distribution functions of the sizes, and what enters with the rain.
#define _GNU_SOURCE // M_PI
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "scene/scene_impl.h"
#include "support/context.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "version: 1\nrun: {until: 1 s}\n"
#define FLAT HEAD "dimension: 2\n"

static talus_scene *parse(const char *text, const char *const *set, int32_t count) {
    talus_scene *s = NULL;
    if (talus_scene_parse(ctx, "test", text, strlen(text), set, count, &s) != TALUS_OK)
        fail_msg("%s\n%s", talus_context_last_error(ctx), text);
    return s;
}

static double radius_of(const talus_scene *s, int32_t k) {
    return s->shape[s->grain[k].shape].radius;
}

// Distance of two centres, around the period of an axis where there is one.
static double distance(const talus_scene *s, int32_t a, int32_t b) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double period = s->keys.period[k];
        double d = fabs(s->grain[a].x[k] - s->grain[b].x[k]);
        if (period > 0.0) {
            d = fmod(d, period);
            d = fmin(d, period - d);
        }
        sum += d * d;
    }
    return sqrt(sum);
}

// The smallest gap between any two spheres.
static double least_gap(const talus_scene *s, int32_t from) {
    double least = INFINITY;
    for (int32_t a = from; a < s->start_count; a++)
        for (int32_t b = from; b < a; b++)
            least = fmin(least, distance(s, a, b) - radius_of(s, a) - radius_of(s, b));
    return least;
}

// The published set-up b-box: n³ spheres in a box of 10, radii U[0.8, 0.9] δ/2, jitter ±0.05 δ/2,
// masses U[1, 2].
static void test_lattice_of_the_published_box(void **state) {
    (void)state;
    talus_scene *s = parse(
        HEAD "gravity: [0, 0, -1]\n"
             "bodies: [{shape: container, size: [10, 10, 10], at: [5, 5, 5]}]\n"
             "grains: [{fill: lattice, counts: [8, 8, 8], region: {from: [0, 0, 0], to: [10, 10, "
             "10]}, radius: {law: uniform, low: 0.5, high: 0.5625}, jitter: 0.03125, mass: {law: "
             "uniform, low: 1, high: 2}}]\n",
        NULL, 0);
    assert_int_equal(s->start_count, 513);
    assert_int_equal(s->free_count, 512);
    double mass = 0.0, radius = 0.0, moved = 0.0;
    for (int32_t k = 1; k <= 512; k++) {
        const int32_t i = k - 1, at[3] = {i % 8, i / 8 % 8, i / 64};
        for (int j = 0; j < 3; j++) {
            const double off = s->grain[k].x[j] - 1.25 * (at[j] + 0.5);
            assert_true(fabs(off) <= 0.03125);
            moved += off * off;
        }
        assert_true(radius_of(s, k) >= 0.5 && radius_of(s, k) < 0.5625);
        assert_true(s->grain[k].mass >= 1.0 && s->grain[k].mass < 2.0);
        mass += s->grain[k].mass / 512.0;
        radius += radius_of(s, k) / 512.0;
    }
    // means and variance of uniform numbers, within five standard errors
    assert_true(fabs(mass - 1.5) < 5.0 * sqrt(1.0 / 12.0 / 512.0));
    assert_true(fabs(radius - 0.53125) < 5.0 * 0.0625 * sqrt(1.0 / 12.0 / 512.0));
    const double square = 0.03125 * 0.03125;
    assert_true(fabs(moved / 1536.0 - square / 3.0) < 5.0 * square * sqrt(4.0 / 45.0 / 1536.0));
    talus_scene_destroy(s);
}

static void test_lattice_takes_what_fits(void **state) {
    (void)state;
    // 10 x 7 disks of diameter 1 in a region of 10 x 7.5; then only the first 25 of them
    const char *text =
        FLAT "grains: [{fill: lattice, region: {from: [1, 2], to: [11, 9.5]}, radius: "
             "0.5}]\n";
    talus_scene *s = parse(text, NULL, 0);
    assert_int_equal(s->start_count, 70);
    assert_true(s->grain[0].x[0] == 1.5 && s->grain[0].x[1] == 2.5);
    assert_true(s->grain[69].x[0] == 10.5 && s->grain[69].x[1] == 8.5);
    assert_int_equal(s->shape_count, 1); // equal grains share a shape
    talus_scene_destroy(s);
    const char *const fewer[] = {"grains.0.count=25"};
    s = parse(text, fewer, 1);
    assert_int_equal(s->start_count, 25);
    assert_true(s->grain[24].x[0] == 5.5 && s->grain[24].x[1] == 4.5);
    talus_scene_destroy(s);
    // a disk: all points of the lattice whose grain lies inside, and no others
    const char *const round[] = {"grains.0.region={at: [0, 0], radius: 5}"};
    s = parse(text, round, 1);
    int wanted = 0;
    for (int a = 0; a < 10; a++)
        for (int b = 0; b < 10; b++) wanted += hypot(a - 4.5, b - 4.5) + 0.5 <= 5.0;
    assert_int_equal(s->start_count, wanted);
    for (int32_t k = 0; k < s->start_count; k++)
        assert_true(hypot(s->grain[k].x[0], s->grain[k].x[1]) + 0.5 <= 5.0 + 1e-9);
    talus_scene_destroy(s);
}

// In close-packed layers every grain inside touches as many others as it can, and none overlaps.
static void test_layers_are_close_packed(void **state) {
    (void)state;
    const struct {
        const char *text;
        int neighbours;
        double fraction; // of the volume of a cell: what the packing is known to fill
    } cases[] = {
        {FLAT "grains: [{fill: layers, region: {from: [0, 0], to: [8, 8]}, radius: 0.5}]\n", 6,
         M_PI / sqrt(12.0)},
        {HEAD "grains: [{fill: layers, region: {from: [0, 0, 0], to: [7, 7, 7]}, radius: 0.5}]\n",
         12, M_PI / sqrt(18.0)},
        {HEAD "grains: [{fill: layers, pattern: square, region: {from: [0, 0, 0], to: [7, 7, 7]}, "
              "radius: 0.5}]\n",
         12, M_PI / sqrt(18.0)},
        {FLAT
         "grains: [{fill: layers, pattern: square, region: {from: [0, 0], to: [8, 8]}, radius: "
         "0.5}]\n",
         4, M_PI / 4.0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        talus_scene *s = parse(cases[c].text, NULL, 0);
        const double size = s->dim == 2 ? 8.0 : 7.0;
        int inner = 0;
        assert_true(least_gap(s, 0) > -1e-12);
        for (int32_t a = 0; a < s->start_count; a++) {
            int touching = 0;
            bool inside = true;
            for (int k = 0; k < s->dim; k++) {
                const double x = s->grain[a].x[k];
                assert_true(x > 0.5 - 1e-9 && x < size - 0.5 + 1e-9);
                inside = inside && x > 1.7 && x < size - 1.7 - 0.5;
            }
            if (!inside) continue;
            for (int32_t b = 0; b < s->start_count; b++)
                touching += b != a && distance(s, a, b) < 1.0 + 1e-9;
            assert_int_equal(touching, cases[c].neighbours);
            inner++;
        }
        assert_true(inner > 5);
        // The whole region is filled but for one grain at each border.
        const double grain = s->dim == 2 ? M_PI / 4.0 : M_PI / 6.0;
        const double most = cases[c].fraction * pow(size, s->dim) / grain;
        const double least = cases[c].fraction * pow(size - 1.1, s->dim) / grain;
        assert_true(s->start_count <= most * (1.0 + 1e-9) && s->start_count > least);
        talus_scene_destroy(s);
    }
}

static void test_random_grains_do_not_overlap(void **state) {
    (void)state;
    // around a box and a ball, across a periodic border, up to the wall of a cylinder
    talus_scene *s = parse(
        FLAT
        "period: [10, 0]\nbodies:\n  - {shape: box, size: [2, 2], at: [5, 5], rotate: {angle: "
        "45 deg}, fixed: yes}\n  - {radius: 1, at: [2, 2]}\n  - {shape: half-space}\n"
        "grains:\n  - {fill: random, count: 100, region: {from: [0, 0], to: [10, 10]}, radius: "
        "{law: values, values: [0.5, 0.2], shares: [1, 3]}, tries: 20000, clearance: 0.01}\n"
        "  - {fill: random, count: 40, region: {from: [0, 0], to: [10, 10]}, radius: 0.15, "
        "tries: 20000}\n",
        NULL, 0);
    assert_int_equal(s->start_count, 143);
    assert_true(least_gap(s, 3) > -1e-12);
    int large = 0, crossing = 0;
    for (int32_t k = 3; k < s->start_count; k++) {
        const double *x = s->grain[k].x, r = radius_of(s, k);
        const bool first = s->grain[k].source == 3;
        const double u = (x[0] - 5.0 + x[1] - 5.0) * sqrt(0.5);
        const double v = (x[1] - 5.0 - x[0] + 5.0) * sqrt(0.5);
        const double to_box = hypot(fmax(fabs(u) - 1.0, 0.0), fmax(fabs(v) - 1.0, 0.0));
        assert_true(to_box >= r + (first ? 0.01 : 0.0) - 1e-12);
        assert_true(hypot(x[0] - 2.0, x[1] - 2.0) >= 1.0 + r - 1e-12);
        assert_true(x[1] - r >= -1e-12 && x[0] - r >= -1e-9 && x[0] + r <= 10.0 + 1e-9);
        large += r == 0.5;
        for (int32_t j = 3; j < k; j++) // pairs that are near each other only across the border
            crossing += distance(s, k, j) < 2.0 && fabs(x[0] - s->grain[j].x[0]) > 5.0;
        if (first)
            for (int32_t j = 3; j < k; j++)
                assert_true(distance(s, k, j) >= r + radius_of(s, j) + 0.01 - 1e-12);
    }
    assert_true(large > 10 && large < 45); // 25 of 100 expected, deviation 4.3
    assert_true(crossing > 10);
    talus_scene_destroy(s);
    s = parse(HEAD "grains: [{fill: random, count: 200, region: {at: [1, 2, 3], radius: 3, height: "
                   "8}, radius: 0.4, tries: 5000}]\n",
              NULL, 0);
    assert_true(least_gap(s, 0) > -1e-12);
    for (int32_t k = 0; k < s->start_count; k++) {
        const double *x = s->grain[k].x;
        assert_true(hypot(x[0] - 1.0, x[1] - 2.0) + 0.4 <= 3.0 + 1e-8);
        assert_true(x[2] - 0.4 >= 3.0 - 1e-8 && x[2] + 0.4 <= 11.0 + 1e-8);
    }
    talus_scene_destroy(s);
}

// The same seed gives the same grains, another one others; what one entry does depends on no other.
static void test_seeds(void **state) {
    (void)state;
    const char *text = FLAT
        "grains:\n"
        "  - {fill: random, count: 50, region: {from: [0, 0], to: [9, 9]}, radius: {law: "
        "uniform, low: 0.1, high: 0.2}}\n"
        "  - {fill: lattice, region: {from: [20, 0], to: [29, 9]}, radius: {law: uniform, low: "
        "0.1, high: 0.2}}\n";
    const char *const set[] = {"seed=2", "grains.0.count=49", "grains.1.seed=77"};
    talus_scene *a = parse(text, NULL, 0), *b = parse(text, NULL, 0), *c = parse(text, set, 1),
                *d = parse(text, set + 1, 1), *e = parse(text, set + 2, 1);
    const size_t all = (size_t)a->start_count * sizeof *a->grain;
    assert_memory_equal(a->grain, b->grain, all);
    assert_memory_not_equal(a->grain[0].x, c->grain[0].x, sizeof a->grain[0].x);
    assert_true(radius_of(a, 60) == radius_of(d, 59)); // the second entry does not notice
    assert_true(radius_of(a, 60) != radius_of(c, 60));
    assert_true(radius_of(a, 60) != radius_of(e, 60));
    assert_memory_equal(a->grain, e->grain, 50 * sizeof *a->grain);
    talus_scene_destroy(a);
    talus_scene_destroy(b);
    talus_scene_destroy(c);
    talus_scene_destroy(d);
    talus_scene_destroy(e);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Φ(b) of the standard normal.
static double phi(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

// Distribution functions, from the definitions.
static double uniform_cdf(double x) { return (x - 1.0) / 2.0; }
static double normal_cdf(double x) { // mean 2, deviation 0.5, on [1, 3.5]
    return (phi((x - 2.0) / 0.5) - phi(-2.0)) / (phi(3.0) - phi(-2.0));
}
static double lognormal_cdf(double x) { // mean 2, deviation 1, on [0.5, 9]
    const double q = log(1.25), m = log(2.0) - 0.5 * q, s = sqrt(q);
    const double low = phi((log(0.5) - m) / s), high = phi((log(9.0) - m) / s);
    return (phi((log(x) - m) / s) - low) / (high - low);
}
static double power_cdf(double x) { // x^-3 on [1, 4]
    return (1.0 - 1.0 / (x * x)) / (1.0 - 1.0 / 16.0);
}
static double log_cdf(double x) { return log(x) / log(4.0); }           // x^-1 on [1, 4]
static double rising_cdf(double x) { return (x * x * x - 1.0) / 63.0; } // x^2 on [1, 4]

// Kolmogorov and Smirnov: the largest distance between the function of n numbers and the true one
// exceeds 2.0 / sqrt(n) with a probability of 7e-4.
static void test_distributions(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    const struct {
        const char *law;
        double (*cdf)(double);
    } cases[] = {
        {"{law: uniform, low: 1, high: 3}", uniform_cdf},
        {"{law: normal, mean: 2, deviation: 0.5, low: 1, high: 3.5}", normal_cdf},
        {"{law: lognormal, mean: 2, deviation: 1, low: 0.5, high: 9}", lognormal_cdf},
        {"{law: power, exponent: 3, low: 1, high: 4}", power_cdf},
        {"{law: power, exponent: 1, low: 1, high: 4}", log_cdf},
        {"{law: power, exponent: -2, low: 1, high: 4}", rising_cdf},
    };
    static double x[COUNT];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       FLAT "grains: [{fill: lattice, counts: [%d, 1], spacing: 20, region: {from: "
                            "[0, 0]}, radius: %s}]\n",
                       COUNT, cases[c].law);
        talus_scene *s = parse(text, NULL, 0);
        for (int32_t k = 0; k < COUNT; k++) x[k] = radius_of(s, k);
        talus_scene_destroy(s);
        qsort(x, COUNT, sizeof *x, ascending);
        double worst = 0.0;
        for (int k = 0; k < COUNT; k++) {
            const double f = cases[c].cdf(x[k]);
            worst = fmax(worst, fmax(fabs(f - (double)k / COUNT), fabs(f - (k + 1.0) / COUNT)));
        }
        if (worst * sqrt(COUNT) > 2.0) fail_msg("%s: off by %g", cases[c].law, worst);
    }
}

// Turns are spread evenly: all second moments of a turned axis are those of the sphere.
static void test_random_turns(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    talus_scene *s =
        parse(HEAD "grains: [{fill: lattice, shape: box, size: [0.1, 0.2, 0.3], counts: "
                   "[20, 10, 10], spacing: 1, region: {from: [0, 0, 0]}, random_turn: "
                   "yes, scale: {law: values, values: [1, 2]}}]\n",
              NULL, 0);
    double sum[3] = {0.0}, square[3] = {0.0};
    int doubled = 0;
    for (int32_t k = 0; k < COUNT; k++) {
        const double *q = s->grain[k].q;
        // the body's x axis in the world: first column of the rotation matrix
        const double axis[3] = {1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]),
                                2.0 * (q[1] * q[2] + q[0] * q[3]),
                                2.0 * (q[1] * q[3] - q[0] * q[2])};
        assert_true(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 1e-14);
        for (int j = 0; j < 3; j++) sum[j] += axis[j], square[j] += axis[j] * axis[j];
        const talus_shape_def *shape = &s->shape[s->grain[k].shape];
        const double scale = shape->half[0] / 0.05;
        assert_true(fabs(shape->half[2] - 0.15 * scale) < 1e-15);
        doubled += scale == 2.0;
    }
    for (int j = 0; j < 3; j++) {
        assert_true(fabs(sum[j] / COUNT) < 5.0 * sqrt(1.0 / 3.0 / COUNT));
        assert_true(fabs(square[j] / COUNT - 1.0 / 3.0) < 5.0 * sqrt(4.0 / 45.0 / COUNT));
    }
    assert_true(abs(doubled - COUNT / 2) < 5 * 23); // deviation sqrt(2000) / 2
    talus_scene_destroy(s);
}

static const char rain_text[] =
    "version: 1\ndimension: 2\nrun: {until: 1 s}\nstep: {length: 5 ms}\n"
    "bodies: [{shape: container, size: [1, 4], at: [0.5, 2], open_top: yes}]\n"
    "grains:\n"
    "  - {fill: rain, count: 40, rate: 50, region: {from: [0, 2], to: [1, 3]}, radius: {law: "
    "uniform, low: 3 cm, high: 5 cm}, velocity: [0, -1]}\n"
    "  - {fill: rain, count: 10, rate: 20, start: 0.2 s, region: {from: [0, 3.2], to: [1, 3.4]}, "
    "radius: 4 cm, clearance: 1 mm, mass: 3}\n";

// Run the rain; returns the hash of the world at the end, and checks what enters on the way.
static uint64_t rain_run(const talus_scene *s, bool check) {
    talus_world *w = NULL;
    talus_body_view v;
    if (talus_scene_make_world(s, &w) != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    int32_t there = 1;
    for (int step = 0; step < 200; step++) {
        const double now = talus_world_time(w);
        assert_int_equal(talus_scene_advance(s, w), TALUS_OK);
        talus_world_bodies(w, &v);
        int32_t due = 1;
        for (int k = 0; k < 40; k++) due += k / 50.0 <= now;
        for (int k = 0; k < 10; k++) due += 0.2 + k / 20.0 <= now;
        for (int32_t k = there; check && k < v.count; k++) {
            talus_shape_def mine, other;
            assert_true(talus_world_shape_at(w, v.shape[k], &mine));
            const double *x = v.position + 3 * (size_t)k, r = mine.radius;
            const bool second = r == 0.04;
            assert_true(x[0] - r > -1e-9 && x[0] + r < 1.0 + 1e-9);
            assert_true(x[1] - r > (second ? 3.2 : 2.0) - 1e-9);
            assert_true(x[1] + r < (second ? 3.4 : 3.0) + 1e-9);
            assert_true(v.velocity[3 * (size_t)k + 1] == (second ? 0.0 : -1.0));
            if (second) assert_true(v.mass[k] == 3.0);
            for (int32_t j = 1; j < k; j++) {
                const double *y = v.position + 3 * (size_t)j;
                assert_true(talus_world_shape_at(w, v.shape[j], &other));
                assert_true(hypot(x[0] - y[0], x[1] - y[1]) >= r + other.radius - 1e-12);
            }
        }
        if (check) assert_int_equal(v.count, due); // there is room for all at once
        there = v.count;
        assert_int_equal(talus_world_step(w, NULL), TALUS_OK);
    }
    assert_int_equal(there, 51);
    const uint64_t hash = talus_world_hash(w);
    talus_world_destroy(w);
    return hash;
}

static void test_rain(void **state) {
    (void)state;
    talus_scene *s = parse(rain_text, NULL, 0);
    const talus_scene_info info = talus_scene_get_info(s);
    assert_true(info.bodies == 1 && info.free_bodies == 0 && info.later_bodies == 50);
    const uint64_t hash = rain_run(s, true);
    assert_true(rain_run(s, false) == hash); // a scene may be run again
    talus_scene_destroy(s);
    const char *const set[] = {"solver.threads=2", "seed=9"};
    s = parse(rain_text, set, 1);
    assert_true(rain_run(s, false) == hash);
    talus_scene_destroy(s);
    s = parse(rain_text, set + 1, 1);
    assert_true(rain_run(s, false) != hash);
    talus_scene_destroy(s);
}

// A rain that finds no room waits until there is some; a world of another scene is refused.
static void test_rain_waits(void **state) {
    (void)state;
    const char *text = "version: 1\ndimension: 2\nrun: {until: 1 s}\nstep: {length: 5 ms}\n"
                       "grains: [{fill: rain, count: 3, rate: 1000, region: {from: [0, 0], to: [1, "
                       "1]}, radius: 0.45, tries: 20}]\n";
    talus_scene *s = parse(text, NULL, 0);
    talus_world *w = NULL;
    talus_body_view v;
    assert_int_equal(talus_scene_make_world(s, &w), TALUS_OK);
    double entered[3] = {0.0};
    for (int32_t count = 0; talus_world_time(w) < 1.5;) {
        assert_int_equal(talus_scene_advance(s, w), TALUS_OK);
        talus_world_bodies(w, &v);
        assert_true(v.count - count <= 1);
        if (v.count > count) entered[count++] = talus_world_time(w);
        assert_int_equal(talus_world_step(w, NULL), TALUS_OK);
    }
    // A disk has to fall at least 2 r - 2 * 0.05 (the play in the region) before the next can
    // enter.
    const double least = sqrt(2.0 * 0.8 / 9.81);
    assert_true(entered[0] == 0.0 && entered[1] > least && entered[2] - entered[1] > least);
    assert_true(entered[2] < 1.5);
    talus_scene *other = parse(FLAT "bodies: [{radius: 1}]\n", NULL, 0);
    assert_int_equal(talus_scene_advance(other, w), TALUS_ERR_ARG);
    talus_scene_destroy(other);
    talus_world_destroy(w);
    talus_scene_destroy(s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_lattice_of_the_published_box),
        CASE(test_lattice_takes_what_fits),
        CASE(test_layers_are_close_packed),
        CASE(test_random_grains_do_not_overlap),
        CASE(test_seeds),
        CASE(test_distributions),
        CASE(test_random_turns),
        CASE(test_rain),
        CASE(test_rain_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
