// SPDX-License-Identifier: Apache-2.0
// Rods of scenes: where each key puts them, measured by their nodes alone, and what they are like
// without loads.
#define _GNU_SOURCE // mkstemp, fdopen
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
#include <stdlib.h>
#include <string.h>

#define HEAD "version: 1\nrun: {until: 1 s}\n"
#define STUFF "    young: 1 MPa\n"
static const double pi = 3.14159265358979323846;

static double distance(const double *a, const double *b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static void assert_near(double x, double y, double most) {
    if (!(fabs(x - y) <= most)) fail_msg("%.17g is not %.17g within %g", x, y, most);
}

static const double *node_of(const talus_rod_view *v, int32_t rod, int32_t node) {
    return v->position + 3 * (int64_t)(v->start[rod] + node);
}

// Least distance of two rods, by points along their segments.
static double gap_between(const talus_rod_view *v, int32_t one, int32_t other) {
    enum { FINE = 12 };
    double least = INFINITY;
    for (int32_t i = 0; i + 1 < v->start[one + 1] - v->start[one]; i++)
        for (int32_t j = 0; j + 1 < v->start[other + 1] - v->start[other]; j++)
            for (int s = 0; s <= FINE; s++)
                for (int t = 0; t <= FINE; t++) {
                    double a[3], b[3];
                    for (int k = 0; k < 3; k++) {
                        const double p = node_of(v, one, i)[k], q = node_of(v, other, j)[k];
                        a[k] = p + (node_of(v, one, i + 1)[k] - p) * s / FINE;
                        b[k] = q + (node_of(v, other, j + 1)[k] - q) * t / FINE;
                    }
                    least = fmin(least, distance(a, b));
                }
    return least;
}

static void single_rods(void **state) {
    (void)state;
    talus_scene_info info;
    talus_world *w =
        world_of(HEAD "rods:\n  - line: {from: [0, 0, 5], to: [1, 2, 7]}\n    nodes: 7\n"
                      "    radius: 1 mm\n" STUFF
                      "  - circle: {at: [0, 0, 1], radius: 0.5, start: 30 deg, angle: 90 deg}\n"
                      "    nodes: 10\n    radius: 1 mm\n" STUFF
                      "  - helix: {at: [3, 0, 0], radius: 0.2, pitch: 0.3, turns: 2.5, axis: [0, "
                      "0, 2]}\n    nodes: 61\n    radius: 1 mm\n" STUFF
                      "  - points: [[0, 0, 9], [1, 0, 9], [1, 1, 9]]\n    radius: 1 mm\n" STUFF,
                 &info);
    const talus_rod_view v = talus_world_rods(w);
    assert_int_equal(v.rods, 4);
    assert_int_equal(info.rods, 4);
    assert_int_equal(info.rod_nodes, 7 + 10 + 61 + 3);
    for (int32_t k = 0; k < 6; k++)
        assert_near(distance(node_of(&v, 0, k), node_of(&v, 0, k + 1)), 0.5, 1e-15);
    assert_near(node_of(&v, 0, 6)[1], 2.0, 0.0);
    for (int32_t k = 0; k < 10; k++) {
        const double *x = node_of(&v, 1, k), angle = (30.0 + 10.0 * k) * pi / 180.0;
        assert_near(atan2(x[1], x[0]), angle, 1e-15);
        assert_near(hypot(x[0], x[1]), 0.5, 1e-15);
        assert_true(x[2] == 1.0);
    }
    for (int32_t k = 0; k < 61; k++) {
        const double *x = node_of(&v, 2, k), turn = 2.5 * k / 60.0;
        assert_near(x[0], 3.0 + 0.2 * cos(2.0 * pi * turn), 1e-15);
        assert_near(x[1], 0.2 * sin(2.0 * pi * turn), 1e-15);
        assert_near(x[2], 0.3 * turn, 1e-15);
    }
    assert_true(node_of(&v, 3, 2)[0] == 1.0 && node_of(&v, 3, 2)[1] == 1.0);
    talus_world_destroy(w);
}

// A smooth line through points of a circle is near the circle, and its nodes are equally far apart.
static void smooth_lines(void **state) {
    (void)state;
    char text[2000] = HEAD "rods:\n  - points: [";
    for (int k = 0; k <= 16; k++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%.9f, %.9f, 0]",
                       k ? ", " : "", cos(pi * k / 16), sin(pi * k / 16));
    (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                   "]\n    nodes: 50\n    radius: 1 mm\n" STUFF);
    talus_world *w = world_of(text, NULL);
    const talus_rod_view v = talus_world_rods(w);
    const double step = distance(node_of(&v, 0, 0), node_of(&v, 0, 1));
    assert_near(step, pi / 49, 0.001 * pi / 49);
    for (int32_t k = 0; k < 50; k++) {
        const double *x = node_of(&v, 0, k);
        // a cubic of four points of a circle misses it by some (π/16)³; at the ends there are three
        assert_near(hypot(x[0], x[1]), 1.0, 0.005);
        if (k > 0) assert_near(distance(x, node_of(&v, 0, k - 1)), step, 0.01 * step);
    }
    assert_near(node_of(&v, 0, 49)[0], -1.0, 1e-9);
    talus_world_destroy(w);
}

static void many_rods(void **state) {
    (void)state;
    talus_rod_def def;
    talus_world *w = world_of(
        HEAD
        "bodies: [{name: head, shape: sphere, radius: 0.1, at: [5, 0, 0], fixed: yes}]\nrods:\n"
        "  - tress: {count: 40, at: [1, 2, 3], radius: 2 cm, length: 0.3, direction: [1, 0, 0]}\n"
        "    nodes: 4\n    radius: 1 mm\n" STUFF
        "  - cap: {count: 50, at: [5, 0, 0], radius: 0.1, angle: 60 deg, length: 0.2, lift: 2 "
        "mm}\n    nodes: 5\n    start_body: head\n    radius: 1 mm\n" STUFF,
        NULL);
    const talus_rod_view v = talus_world_rods(w);
    assert_int_equal(v.rods, 90);
    double wide = 0.0;
    for (int32_t i = 0; i < 40; i++) {
        const double *x = node_of(&v, i, 0), *end = node_of(&v, i, 3);
        const double out = hypot(x[1] - 2.0, x[2] - 3.0);
        assert_true(x[0] == 1.0 && out <= 0.02);
        assert_near(end[0] - x[0], 0.3, 1e-15);
        wide = fmax(wide, out);
        for (int32_t j = 0; j < i; j++) assert_true(distance(x, node_of(&v, j, 0)) > 0.002);
        assert_true(talus_world_rod_at(w, i, &def) && def.start == TALUS_END_CLAMPED);
    }
    assert_true(wide > 0.019);
    double low = 1.0;
    const double centre[3] = {5.0, 0.0, 0.0};
    for (int32_t i = 40; i < 90; i++) {
        const double *x = node_of(&v, i, 0), *end = node_of(&v, i, 4);
        assert_near(distance(x, centre), 0.102, 1e-15);
        assert_near(distance(end, centre), 0.302, 1e-15);
        assert_near(distance(x, end), 0.2, 1e-15);
        low = fmin(low, x[2] / 0.102);
        assert_true(talus_world_rod_at(w, i, &def) && def.start_body == 0);
    }
    assert_true(low >= cos(pi / 3.0) && low < cos(pi / 3.0) + 0.02); // down to the rim
    talus_world_destroy(w);
}

// Strands of a rope and rods of a net touch their neighbours, but for the gap that was asked for.
static void ropes_and_nets(void **state) {
    (void)state;
    talus_world *w =
        world_of(HEAD "rods:\n  - rope: {from: [0, 0, 0], to: [0.2, 0, 0], strands: 3, lay: 5 cm, "
                      "gap: 0.1}\n    nodes: 81\n    radius: 2 mm\n" STUFF
                      "  - net: {at: [0, 0, 1], width: 0.4, length: 0.3, rows: 3, columns: 4}\n"
                      "    radius: 2 mm\n" STUFF,
                 NULL);
    const talus_rod_view v = talus_world_rods(w);
    assert_int_equal(v.rods, 3 + 7);
    // a twelfth of a segment is how finely the gap is looked for
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < i; j++) assert_near(gap_between(&v, i, j), 0.0042, 3e-5);
    for (int32_t i = 3; i < 6; i++)
        for (int32_t j = 6; j < 10; j++) {
            assert_near(gap_between(&v, i, j), 0.00404, 1e-6);
            // Over and under by turns.
            const double x = 0.4 * ((j - 6 + 0.5) / 4.0 - 0.5);
            for (int32_t k = 0; k < v.start[i + 1] - v.start[i]; k++)
                if (fabs(node_of(&v, i, k)[0] - x) < 1e-9)
                    assert_near(node_of(&v, i, k)[2] - 1.0, (i + j) % 2 ? 0.00202 : -0.00202,
                                1e-12);
        }
    talus_world_destroy(w);
}

static void nests(void **state) {
    (void)state;
    uint64_t hash[3];
    for (int s = 0; s < 3; s++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       HEAD "seed: %d\nrods:\n  - nest: {count: 20, radius: 8 cm, height: 8 cm, "
                            "length: 0.15, gap: 0.5}\n    nodes: 8\n    radius: 2 mm\n" STUFF,
                       s == 2 ? 8 : 7);
        talus_world *w = world_of(text, NULL);
        const talus_rod_view v = talus_world_rods(w);
        hash[s] = talus_world_hash(w);
        for (int32_t i = 0; s == 0 && i < v.rods; i++) {
            for (int32_t j = 0; j < i; j++) assert_true(gap_between(&v, i, j) >= 0.005 - 1e-12);
            for (int32_t k = 0; k < 8; k++) assert_true(node_of(&v, i, k)[2] >= 0.002);
        }
        talus_world_destroy(w);
    }
    assert_true(hash[0] == hash[1] && hash[1] != hash[2]);
}

// Without loads: a helix of the radius and pitch that were asked for, with the segments of the rod.
static void curls(void **state) {
    (void)state;
    talus_rod_def def;
    talus_world *w = world_of(
        HEAD
        "rods:\n  - line: {from: [0, 0, 0], to: [0, 0, -1]}\n    nodes: 101\n    radius: 1 mm\n"
        "    natural: {shape: curl, radius: 5 cm, pitch: 12 cm, placed: no}\n" STUFF
        "  - line: {from: [1, 0, 0], to: [1, 0, -1]}\n    nodes: 101\n    radius: 1 mm\n"
        "    natural: {shape: curl, radius: 5 cm, pitch: 12 cm}\n" STUFF,
        NULL);
    const talus_rod_view v = talus_world_rods(w);
    assert_true(talus_world_rod_at(w, 0, &def));
    for (int64_t k = 0; k < 101; k++) {
        const double *x = def.natural + 3 * k;
        assert_near(hypot(x[0] + 0.05, x[1]), 0.05, 1e-12);
        const double turn = atan2(x[1], x[0] + 0.05) / (2.0 * pi), whole = x[2] / 0.12;
        assert_near(turn - whole, rint(turn - whole), 1e-9);
        if (k > 0) assert_near(distance(x, x - 3), 0.01, 1e-12);
        assert_near(v.position[3 * k + 2], -0.01 * (double)k, 1e-12); // it lies straight
    }
    // Wound up where it lies: the windings have opened after the first turn.
    assert_true(talus_world_rod_at(w, 1, &def));
    for (int32_t k = 0; k < 101; k++) {
        const double *x = node_of(&v, 1, k);
        const double out = hypot(x[0] - 1.0, x[1]), rise = -x[2] / 0.12;
        assert_near(out, 0.05 * fmin(1.0, rise), 1e-9);
        if (k > 0) assert_near(distance(x, node_of(&v, 1, k - 1)), 0.01, 1e-12);
        assert_near(distance(x, def.natural + 3 * (int64_t)k), 0.0, 0.0);
    }
    talus_world_destroy(w);
}

// Curvatures of a file reach the rods in its order.
static void files(void **state) {
    (void)state;
    char path[] = "/tmp/talus-rods-XXXXXX", text[500];
    talus_rod_def def;
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs("# curvatures\n1 2 3\n\n  4, 5, 6\n-1 0.5 0 # the second\n0 0 1e-3\n", file);
    fclose(file);
    (void)snprintf(text, sizeof text,
                   HEAD "rods:\n  - rope: {from: [0, 0, 0], to: [0.1, 0, 0], strands: 2, lay: 1 "
                        "m}\n    nodes: 4\n    radius: 1 mm\n    natural: {file: %s}\n" STUFF,
                   path);
    talus_world *w = world_of(text, NULL);
    static const double wanted[2][6] = {{1, 2, 3, 4, 5, 6}, {-1, 0.5, 0, 0, 0, 1e-3}};
    for (int32_t i = 0; i < 2; i++) {
        assert_true(talus_world_rod_at(w, i, &def));
        assert_non_null(def.curvature);
        for (int k = 0; k < 6; k++) assert_true(def.curvature[k] == wanted[i][k]);
    }
    talus_world_destroy(w);
    // One row too many, and a row that is none.
    static const char *const row[] = {"1 1 1\n", "1 2\n"};
    static const char *const says[] = {"has 5 rows; the 2 rods of this entry have 4 inner nodes",
                                       ":7: must be three numbers"};
    for (int k = 0; k < 2; k++) {
        talus_scene *scene = NULL;
        file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "1 2 3\n1 2 3\n1 2 3\n1 2 3\n%s%s", k ? "#\n#\n" : "", row[k]);
        fclose(file);
        assert_int_equal(talus_scene_parse(ctx, "test", text, strlen(text), NULL, 0, &scene),
                         TALUS_ERR_FORMAT);
        if (!strstr(talus_context_last_error(ctx), says[k]))
            fail_msg("%s", talus_context_last_error(ctx));
    }
    remove(path);
}

// Memory that gives out anywhere leaves nothing behind.
static void memory_gives_out(void **state) {
    (void)state;
    static const char text[] =
        HEAD "bodies: [{name: head, shape: sphere, radius: 0.1, fixed: yes}]\nrods:\n"
             "  - cap: {count: 3, radius: 0.1, length: 0.1}\n    nodes: 12\n    radius: 1 mm\n"
             "    start_body: head\n    natural: {shape: curl, radius: 1 cm, pitch: 3 cm}\n" STUFF;
    assert_true(world_without_memory(text) > 29);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(single_rods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(smooth_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_rods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ropes_and_nets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(curls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_gives_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
