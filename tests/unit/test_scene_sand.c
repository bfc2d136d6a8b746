// SPDX-License-Identifier: Apache-2.0
// Sand of scenes: what the keys make of the world, where particles are, and how much there is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/context.h"
#include "support/scene_text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "version: 1\ndimension: 2\nrun: {until: 1 s}\n"

static double volume_of(const talus_sand_view *v) {
    double sum = 0.0;
    for (int64_t i = 0; i < v->count; i++) sum += v->volume[i];
    return sum;
}

// A box holds exactly fraction times its volume, also where its edges are no multiples of the
// space between particles; every particle is within.
static void boxes_are_filled_exactly(void **state) {
    (void)state;
    talus_scene_info info;
    talus_sand_view v;
    talus_world *w =
        world_of(HEAD "sand:\n  cell: 0.1\n  box: {from: [-1, 0], to: [1, 1]}\n  fill:\n"
                      "    - region: {from: [-0.33, 0.01], to: [0.5, 0.27]}\n"
                      "      per_edge: 3\n      jitter: 1\n      fraction: 0.4\n"
                      "      velocity: [1, -2]\n",
                 &info);
    talus_world_sand(w, &v);
    assert_int_equal(v.count, info.particles);
    assert_int_equal(v.count, 25 * 8); // 0.83 and 0.26 m, a thirtieth each
    assert_true(fabs(volume_of(&v) - 0.4 * 0.83 * 0.26) < 1e-14);
    for (int64_t i = 0; i < v.count; i++) {
        const double *x = v.position + 3 * i;
        assert_true(x[0] > -0.33 && x[0] < 0.5 && x[1] > 0.01 && x[1] < 0.27 && x[2] == 0.0);
        assert_true(v.velocity[3 * i] == 1.0 && v.velocity[3 * i + 1] == -2.0);
    }
    const talus_world_def def = talus_world_get_def(w);
    assert_true(def.max_move == 0.1 && def.tolerance == 1e-3);
    talus_world_destroy(w);
}

// The tolerance is a stress over the pressure under sand, as high as it is put there or as `height`
// says. Without gravity, or with a height of 0, there is no such pressure, and the default is that
// of scenes without sand.
static void tolerances_are_stresses(void **state) {
    (void)state;
    static const struct {
        const char *gravity, *height;
        double tolerance, is;
    } row[] = {{"", "", 1e-3, 0.3},
               {"gravity: [9.81, 0]\n", "", 1e-3, 0.6},
               {"", "  height: 2\n", 1e-3, 2.0},
               {"", "  height: 0\n", 1e-6, 0.0},
               {"gravity: [0, 0]\n", "", 1e-6, 0.0}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char text[600];
        talus_scene_info info;
        talus_sand_def sand;
        (void)snprintf(text, sizeof text,
                       HEAD "%ssand:\n  cell: 0.1\n%s  box: {from: [0, 0], to: [1, 1]}\n  fill:\n"
                            "    - region: {from: [0.1, 0.2], to: [0.7, 0.5]}\n",
                       row[k].gravity, row[k].height);
        talus_world *w = world_of(text, &info);
        assert_true(talus_world_get_def(w).tolerance == row[k].tolerance);
        assert_true(talus_world_sand_def(w, &sand) && fabs(sand.height - row[k].is) < 1e-12);
        talus_world_destroy(w);
    }
}

// A ball and a cylinder in space have their volumes to the share of cells at their surface, and
// what a body takes is left out.
static void round_regions_and_bodies(void **state) {
    (void)state;
    talus_sand_view v;
    talus_world *w = world_of("version: 1\nrun: {until: 1 s}\nsand:\n  cell: 0.1\n  fraction: 0.5\n"
                              "  box: {from: [-1, -1, 0], to: [1, 1, 2]}\n  fill:\n"
                              "    - region: {at: [0, 0, 1.4], radius: 0.5}\n"
                              "    - region: {at: [0, 0, 0], radius: 0.6, height: 0.8}\n"
                              "bodies:\n  - {shape: box, size: [0.4, 0.4, 0.4], at: [0, 0, 0.4]}\n",
                              NULL);
    talus_world_sand(w, &v);
    const double pi = acos(-1.0);
    const double ball = 4.0 / 3.0 * pi * 0.125, cylinder = pi * 0.36 * 0.8 - 0.064;
    assert_true(fabs(volume_of(&v) - 0.5 * (ball + cylinder)) < 0.02 * 0.5 * (ball + cylinder));
    for (int64_t i = 0; i < v.count; i++) {
        const double *x = v.position + 3 * i;
        const bool above = hypot(hypot(x[0], x[1]), x[2] - 1.4) <= 0.5 + 1e-9;
        const bool below = hypot(x[0], x[1]) <= 0.6 + 1e-9 && x[2] <= 0.8;
        const bool inside = fabs(x[0]) < 0.2 && fabs(x[1]) < 0.2 && fabs(x[2] - 0.4) < 0.2;
        assert_true((above || below) && !inside);
    }
    talus_world_destroy(w);
}

// The same seed gives the same sand, another one another.
static void seeds(void **state) {
    (void)state;
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       HEAD "seed: %d\nsand: {cell: 0.1, box: {from: [0, 0], to: [1, 1]}, fill: "
                            "[{region: {from: [0, 0], to: [0.5, 0.5]}, jitter: 0.5}]}\n",
                       k == 2 ? 8 : 7);
        talus_world *w = world_of(text, NULL);
        hash[k] = talus_world_hash(w);
        talus_world_destroy(w);
    }
    assert_true(hash[0] == hash[1] && hash[1] != hash[2]);
}

// Memory that gives out anywhere leaves nothing behind.
static void memory_gives_out(void **state) {
    (void)state;
    static const char text[] =
        HEAD "sand: {cell: 0.5, box: {from: [0, 0], to: [1, 1]}, fill: [{region: {at: [0.5, 0.5], "
             "radius: 0.5}}]}\nbodies: [{shape: half-space, normal: [0, 1]}]\n";
    assert_true(world_without_memory(text) > 19);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(boxes_are_filled_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tolerances_are_stresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(round_regions_and_bodies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_gives_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
