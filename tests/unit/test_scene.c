// SPDX-License-Identifier: Apache-2.0
// Reading scenes: the tables agree with the library's defaults, every value arrives in the world,
// overrides replace what they should, and nothing is left behind when memory runs out.
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
#include <string.h>

#define HEAD "version: 1\nrun: {until: 1 s}\n"

static talus_scene *parse(const char *text, const char *const *set, int32_t count) {
    talus_scene *s = NULL;
    if (talus_scene_parse(ctx, "test", text, strlen(text), set, count, &s) != TALUS_OK)
        fail_msg("%s\n%s", talus_context_last_error(ctx), text);
    return s;
}

static talus_world *make(const talus_scene *s) {
    talus_world *w = NULL;
    if (talus_scene_make_world(s, &w) != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    return w;
}

// A scene that says nothing else gets the defaults of the library.
static void test_defaults_are_those_of_the_library(void **state) {
    (void)state;
    talus_scene *s = parse(HEAD "bodies: [{radius: 1}]\nmaterials: {sand: {}}\n", NULL, 0);
    talus_world *w = make(s);
    const talus_world_def wanted = talus_world_default(), got = talus_world_get_def(w);
    assert_int_equal(got.dim, wanted.dim);
    assert_memory_equal(got.gravity, wanted.gravity, sizeof got.gravity);
    assert_memory_equal(got.period, wanted.period, sizeof got.period);
    assert_int_equal(got.scheme, wanted.scheme);
    assert_true(got.step == wanted.step && got.max_move == wanted.max_move);
    assert_true(got.theta == wanted.theta && got.reach == wanted.reach);
    assert_true(got.continuous == wanted.continuous);
    assert_int_equal(got.penalty, wanted.penalty);
    assert_int_equal(got.chi, wanted.chi);
    assert_int_equal(got.integrator, wanted.integrator);
    assert_string_equal(got.solver, wanted.solver);
    assert_true(got.tolerance == wanted.tolerance && got.time_limit == wanted.time_limit);
    assert_int_equal(got.iterations, wanted.iterations);
    assert_int_equal(got.warm_start, wanted.warm_start);
    assert_int_equal(got.threads, wanted.threads);
    const talus_material_def ours = talus_material_default();
    for (int32_t k = 0; k < 3; k++) { // the world's, the scene's "default", sand
        talus_material_def m;
        assert_true(talus_world_material_at(w, k, &m));
        assert_memory_equal(&m, &ours, sizeof m);
    }
    talus_body_view view;
    talus_world_bodies(w, &view);
    assert_true(fabs(view.mass[0] - talus_body_default().density * 4.0 / 3.0 * M_PI) < 1e-9);
    const talus_scene_info info = talus_scene_get_info(s);
    assert_string_equal(info.title, "");
    assert_true(info.until == 1.0 && info.frame_interval == 0.01 && info.steps == 0);
    assert_true(info.record_contacts && info.record_ledger && info.record_xdmf);
    assert_true(info.record_precision == TALUS_PRECISION_COMPACT &&
                info.checkpoint_interval == 0.0);
    for (int k = 0; k < TALUS_FIELDS; k++) assert_false(info.record_without[k]);
    assert_true(!info.stop_at_rest && info.rest_energy == 1e-9 && info.seed == 1);
    assert_true(info.bodies == 1 && info.free_bodies == 1 && info.later_bodies == 0);
    talus_world_destroy(w);
    talus_scene_destroy(s);
}

static bool in_range(const tl_key *row, double x) {
    if (row->low == 0.0 && row->high == 0.0) return true;
    return (row->above ? x > row->low : x >= row->low) &&
           (row->below ? x < row->high : x <= row->high);
}

// Every row of every table: text, a default that can be read and is allowed, a selector that
// exists with the values it names.
static int check_table(const tl_table *table, int depth) {
    int rows = 0;
    assert_true(depth < 8);
    for (const tl_key *row = table->keys; !tl_key_is_end(row); row++) {
        if (row->sub) rows += check_table(row->sub, depth + 1);
        if (row->kind == TL_KIND_INCLUDE) continue;
        rows++;
        assert_true(row->text && strlen(row->text) > 3);
        const bool filled = row->initial || row->absent;
        if (filled == row->required && !row->only) fail_msg("%s: default or required", row->key);
        if (!row->initial) continue;
        double x = 0.0;
        int found = 0;
        switch (row->kind) {
        case TL_KIND_CHOICE:
            for (int k = 0; row->choice(k); k++) found += strcmp(row->choice(k), row->initial) == 0;
            assert_int_equal(found, 1);
            break;
        case TL_KIND_YES_NO:
            assert_true(strcmp(row->initial, "no") == 0 || row->initial[0] == 'y');
        // fall through
        case TL_KIND_TEXT:
            break;
        default:
            if (tl_number_read(row->initial, row->unit, &x) != TL_NUMBER_OK || !in_range(row, x))
                fail_msg("%s: default %s", row->key, row->initial);
        }
    }
    return rows;
}

static void test_every_row_of_the_tables(void **state) {
    (void)state;
    int listed = 0;
    assert_true(check_table(&tl_scene_table, 0) > 150); // included tables count each time
    talus_scene_key key;
    while (talus_scene_key_at(listed, &key)) listed++;
    assert_true(listed > 100);
    assert_false(talus_scene_key_at(listed + 5, &key));
    assert_true(talus_scene_key_at(0, &key));
    assert_string_equal(key.key, "version");
    assert_null(key.initial);
    const char *what;
    char names[160];
    assert_true(talus_scene_unit_at(0, &what, names));
    assert_string_equal(what, "length");
    assert_string_equal(names, "m, km, cm, mm, um, µm");
    assert_false(talus_scene_unit_at(100, &what, names));
    assert_false(talus_scene_unit_at(-1, &what, names));
}

static void test_numbers_with_units(void **state) {
    (void)state;
    const struct {
        const char *text;
        tl_unit unit;
        double value;
    } right[] = {
        {"5 mm", TL_UNIT_LENGTH, 5e-3},      {"5mm", TL_UNIT_LENGTH, 5e-3},
        {"0.3 mm", TL_UNIT_LENGTH, 0.3e-3},  {"7", TL_UNIT_LENGTH, 7.0},
        {"+.5e1 m", TL_UNIT_LENGTH, 5.0},    {"-2.", TL_UNIT_NONE, -2.0},
        {"1e3", TL_UNIT_NONE, 1000.0},       {"180 deg", TL_UNIT_ANGLE, M_PI},
        {"90°", TL_UNIT_ANGLE, M_PI / 2},    {"60 rpm", TL_UNIT_SPIN, 2.0 * M_PI},
        {"2 kHz", TL_UNIT_FREQUENCY, 2e3},   {"3 1/s", TL_UNIT_FREQUENCY, 3.0},
        {"36 km/h", TL_UNIT_VELOCITY, 10.0}, {"2.6 g/cm3", TL_UNIT_DENSITY, 2600.0},
        {"3 min", TL_UNIT_TIME, 180.0},      {"2 N m", TL_UNIT_TORQUE, 2.0},
        {"70 GPa", TL_UNIT_PRESSURE, 70e9},  {"3 e", TL_UNIT_NONE, -1.0},
    };
    for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
        double x = 0.0;
        const tl_number_fault fault = tl_number_read(right[k].text, right[k].unit, &x);
        if (right[k].value == -1.0) {
            assert_int_equal(fault, TL_NUMBER_WRONG_UNIT);
            continue;
        }
        assert_int_equal(fault, TL_NUMBER_OK);
        // one rounding of the factor and one of the product
        if (fabs(x - right[k].value) > 4e-16 * fabs(x)) fail_msg("%s is %.17g", right[k].text, x);
    }
    const char *const wrong[] = {"", " ", "mm", "- 3", "1,5", "1.2.3", "--1", "0x10", "nan", "e5"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        double x = 0.0;
        if (tl_number_read(wrong[k], TL_UNIT_LENGTH, &x) == TL_NUMBER_OK)
            fail_msg("'%s' was taken for %g", wrong[k], x);
    }
    double x = 0.0;
    assert_int_equal(tl_number_read("5 s", TL_UNIT_LENGTH, &x), TL_NUMBER_WRONG_UNIT);
    assert_int_equal(tl_unit_of("5 s"), TL_UNIT_TIME);
    assert_int_equal(tl_number_read("inf", TL_UNIT_LENGTH, &x), TL_NUMBER_OK);
    assert_true(isinf(x) && x > 0.0);
}

// Every key of a body, and those of the world, seen from the world.
static void test_values_arrive_in_the_world(void **state) {
    (void)state;
    talus_scene *s = parse(
        "version: 1\ntitle: all of it\ndimension: 3\ngravity: [1, 2, 3]\nperiod: [30, 0, 0]\n"
        "scheme: moreau-jean\nseed: 42\n"
        "step: {length: 2 ms, max_move: 1 mm, reach: 3 mm, theta: 0.75, continuous: yes}\n"
        "solver: {name: nlgs, tolerance: 1e-3, iterations: 77, time_limit: 5 s, warm_start: no,\n"
        "         threads: 2, options: {local: enum, order: natural}}\n"
        "materials:\n  a: {friction: 0.1, restitution: 0.2, restitution_t: 0.3, poisson: 0.4}\n"
        "  default: {friction: 0.9}\n"
        "bodies:\n"
        "  - {shape: box, size: [2, 4, 6], at: [1, 2, 30 cm], rotate: {axis: [0, 0, 2], angle: 90 "
        "deg},\n     velocity: [1, 2, 3], spin: [4, 5, 60 rpm], mass: 7, material: a}\n"
        "  - {shape: brick, at: [0, 0, 20], density: 100}\n"
        "shapes: {brick: {shape: cylinder, radius: 1, height: 3}}\n"
        "run: {until: 3 s, steps: 9, stop_at_rest: yes, rest_energy: 2 mJ}\n"
        "output: {every: 5 ms, contacts: no, ledger: no, precision: single, xdmf: no,\n"
        "         checkpoints: 250 ms, fields: [velocity, slip]}\n",
        NULL, 0);
    talus_world *w = make(s);
    const talus_world_def d = talus_world_get_def(w);
    assert_true(d.gravity[0] == 1.0 && d.gravity[1] == 2.0 && d.gravity[2] == 3.0);
    assert_true(d.period[0] == 30.0 && d.period[1] == 0.0);
    assert_int_equal(d.scheme, TALUS_SCHEME_MOREAU_JEAN);
    assert_true(d.step == 2e-3 && d.max_move == 1e-3 && d.reach == 3e-3 && d.theta == 0.75);
    assert_true(d.continuous);
    assert_string_equal(d.solver, "nlgs");
    assert_true(d.tolerance == 1e-3 && d.iterations == 77 && d.time_limit == 5.0);
    assert_true(!d.warm_start && d.threads == 2);
    talus_material_def m;
    assert_true(talus_world_material_at(w, 1, &m) && m.friction == 0.9);
    assert_true(talus_world_material_at(w, 2, &m) && m.friction == 0.1 && m.restitution == 0.2);
    assert_true(m.restitution_t == 0.3 && m.poisson == 0.4 && m.damping == -1.0);
    talus_body_view v;
    talus_world_bodies(w, &v);
    assert_int_equal(v.count, 2);
    assert_true(v.position[0] == 1.0 && v.position[1] == 2.0 && v.position[2] == 0.3);
    assert_true(fabs(v.orientation[0] - sqrt(0.5)) < 1e-15);
    assert_true(fabs(v.orientation[3] - sqrt(0.5)) < 1e-15);
    assert_true(v.velocity[2] == 3.0 && v.spin[1] == 5.0 && fabs(v.spin[2] - 2.0 * M_PI) < 1e-14);
    assert_true(v.mass[0] == 7.0);
    assert_true(fabs(v.mass[1] - 100.0 * M_PI * 3.0) < 1e-10);
    assert_int_equal(v.material[0], 2);
    assert_int_equal(v.material[1], 1);
    talus_shape_def shape;
    assert_true(talus_world_shape_at(w, v.shape[0], &shape));
    assert_true(shape.half[0] == 1.0 && shape.half[1] == 2.0 && shape.half[2] == 3.0);
    const talus_scene_info i = talus_scene_get_info(s);
    assert_string_equal(i.title, "all of it");
    assert_true(i.until == 3.0 && i.steps == 9 && i.stop_at_rest && i.rest_energy == 2e-3);
    assert_true(i.frame_interval == 5e-3 && !i.record_contacts && !i.record_ledger);
    assert_true(i.record_precision == TALUS_PRECISION_SINGLE && i.seed == 42);
    assert_true(!i.record_xdmf && i.checkpoint_interval == 0.25);
    for (int k = 0; k < TALUS_FIELDS; k++)
        assert_int_equal(i.record_without[k], k != TALUS_FIELD_VELOCITY && k != TALUS_FIELD_SLIP);
    talus_world_destroy(w);
    talus_scene_destroy(s);
}

static void test_pairs_take_the_geometric_mean_of_what_is_not_given(void **state) {
    (void)state;
    talus_scene *s = parse(HEAD "bodies: [{radius: 1}]\n"
                                "materials: {a: {friction: 0.2, young: 4}, b: {friction: 0.8, "
                                "young: 9}}\n"
                                "pairs: [{between: [a, b], restitution: 0.5}, {between: [b, b], "
                                "friction: 0.1, contact_damping: 3}]\n",
                           NULL, 0);
    const tl_scene_pair *pair = s->keys.pairs.data;
    assert_true(fabs(pair[0].def.friction - 0.4) < 1e-15 && pair[0].def.restitution == 0.5);
    assert_true(pair[0].def.young == 6.0 && pair[0].def.damping == -1.0);
    assert_true(pair[1].def.friction == 0.1 && pair[1].def.damping == 3.0);
    assert_true(pair[1].def.young == 9.0);
    talus_world_destroy(make(s));
    talus_scene_destroy(s);
}

// Where the bodies are after some steps is where the motions say.
static void test_motions(void **state) {
    (void)state;
    talus_scene *s = parse(
        "version: 1\ndimension: 2\nstep: {length: 10 ms}\nrun: {until: 1 s}\nbodies:\n"
        "  - {shape: box, size: [1, 1], at: [0, 50], motion: {kind: velocity, velocity: [1, 2], "
        "start: 0.1 s, stop: 0.3 s}}\n"
        "  - {shape: box, size: [1, 1], at: [9, 0], motion: {kind: oscillation, amplitude: [0, 2], "
        "frequency: 0.5 Hz}}\n"
        "  - {shape: box, size: [1, 1], at: [21, 0], motion: {kind: rotation, spin: 15 rpm, pivot: "
        "[20, 0]}}\n"
        "  - {shape: box, size: [1, 1], at: [30, 5], motion: {kind: rotation, spin: 15 rpm}}\n"
        "  - shape: box\n    size: [1, 1]\n    at: [40, 0]\n    motion:\n      kind: keyframes\n"
        "      keyframes: [{time: 0, at: [40, 0]}, {time: 2, at: [44, 0], rotate: {angle: 1}}]\n"
        "  - {shape: box, size: [1, 1], at: [60, 0], fixed: yes}\n",
        NULL, 0);
    talus_world *w = make(s);
    while (talus_world_time(w) < 1.0 - 1e-9) assert_int_equal(talus_world_step(w, NULL), TALUS_OK);
    const double t = talus_world_time(w);
    talus_body_view v;
    talus_world_bodies(w, &v);
    const double wanted[][2] = {
        {0.2, 50.4}, {9.0, 2.0 * sin(M_PI * t)}, {20.0 + cos(M_PI / 2 * t), sin(M_PI / 2 * t)},
        {30.0, 5.0}, {40.0 + 2.0 * t, 0.0},      {60.0, 0.0}};
    const double turned[] = {0.0, 0.0, M_PI / 2 * t, M_PI / 2 * t, 0.5 * t, 0.0};
    for (int k = 0; k < v.count; k++) {
        for (int j = 0; j < 2; j++)
            if (fabs(v.position[3 * k + j] - wanted[k][j]) > 1e-9)
                fail_msg("body %d: x[%d] = %g, not %g", k, j, v.position[3 * k + j], wanted[k][j]);
        assert_true(fabs(v.orientation[4 * k + 3] - sin(0.5 * turned[k])) < 1e-9);
    }
    talus_world_destroy(w);
    talus_scene_destroy(s);
}

static void test_overrides(void **state) {
    (void)state;
    const char *text = HEAD "seed: 5\nbodies:\n  - {radius: 1}\n  - {radius: 1, at: [0, 0, 5]}";
    const char *const set[] = {"seed=6",
                               "bodies.1.at=[1, 2, 30 cm]",
                               "bodies.1.at.0=5",
                               "step.length=3 ms",
                               "materials={ice: {friction: 0.05}}",
                               "materials.ice.friction=0.01",
                               "bodies.0.material=ice",
                               "title=\"a: b # c\""};
    const int32_t count = sizeof set / sizeof *set;
    talus_scene *s = parse(text, set, count);
    talus_world *w = make(s);
    talus_body_view v;
    talus_world_bodies(w, &v);
    assert_true(v.position[3] == 5.0 && v.position[4] == 2.0 && v.position[5] == 0.3);
    assert_true(talus_world_get_def(w).step == 3e-3);
    talus_material_def m;
    assert_true(talus_world_material_at(w, v.material[0], &m) && m.friction == 0.01);
    const talus_scene_info i = talus_scene_get_info(s);
    assert_int_equal(i.seed, 6);
    assert_string_equal(i.title, "a: b # c");
    assert_int_equal(strncmp(i.text, text, strlen(text)), 0);
    assert_string_equal(i.text + strlen(text),
                        "\n# --set seed=6\n# --set bodies.1.at=[1, 2, 30 cm]\n"
                        "# --set bodies.1.at.0=5\n# --set step.length=3 ms\n"
                        "# --set materials={ice: {friction: 0.05}}\n"
                        "# --set materials.ice.friction=0.01\n# --set bodies.0.material=ice\n"
                        "# --set title=\"a: b # c\"\n");
    talus_world_destroy(w);
    talus_scene_destroy(s);
}

// JSON, Windows line ends, a byte order mark, and anchors with aliases are all read.
static void test_other_ways_to_write_it(void **state) {
    (void)state;
    const char *const text[] = {
        "{\"version\": 1, \"run\": {\"until\": \"1 s\"}, \"bodies\": [{\"radius\": 0.25}]}",
        "version: 1\r\nrun:\r\n  until: 1 s\r\nbodies:\r\n  - radius: 25 cm\r\n",
        "\xEF\xBB\xBFversion: 1\nrun: {until: 1}\nbodies: [{radius: 0.25}]\n",
        "version: 1\nrun: {until: 1}\nbodies:\n  - &one {radius: &r 0.25, at: [0, 0, 0]}\n"
        "  - {radius: *r, at: [9, 0, 0]}\n",
        "version: 1\nrun: {until: 1}\nshapes:\n  a: &a {shape: sphere, radius: 0.25}\n  b: *a\n"
        "bodies: [{shape: b}]\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        talus_scene *s = parse(text[k], NULL, 0);
        for (int32_t j = 0; j < s->start_count; j++)
            assert_true(s->shape[s->grain[j].shape].radius == 0.25);
        assert_int_equal(s->start_count, k == 3 ? 2 : 1);
        talus_scene_destroy(s);
    }
}

static void test_overlaps_that_are_allowed(void **state) {
    (void)state;
    const char *text =
        HEAD "allow_overlap: 1 mm\nbodies: [{radius: 1}, {radius: 1, at: [1.9995, 0, "
             "0]}, {shape: half-space, at: [0, 0, -0.9991]}]\n";
    talus_scene_destroy(parse(text, NULL, 0));
    const char *const set[] = {"allow_overlap=0.4 mm"};
    talus_scene *s = NULL;
    assert_int_equal(talus_scene_parse(ctx, "test", text, strlen(text), set, 1, &s),
                     TALUS_ERR_FORMAT);
    // Fixed bodies may lie in each other.
    talus_scene_destroy(
        parse(HEAD "bodies: [{radius: 1, fixed: yes}, {radius: 1, fixed: yes}]\n", NULL, 0));
}

// Let every request for memory fail in turn.
static void test_out_of_memory(void **state) {
    (void)state;
    static const char text[] =
        "version: 1\ndimension: 2\nrun: {until: 1 s}\nsolver: {name: nlgs, options: {local: "
        "enum}}\n"
        "materials: {a: {}}\npairs: [{between: [a, a]}]\nshapes: {b: {shape: box, size: [1, 1]}}\n"
        "bodies: [{shape: b, motion: {kind: keyframes, keyframes: [{time: 0, at: [0, 0]}]}}]\n"
        "grains:\n"
        "  - {fill: random, count: 9, region: {from: [0, 3], to: [9, 9]}, radius: {law: values, "
        "values: [0.3, 0.4]}}\n"
        "  - {fill: layers, region: {at: [0, 20], radius: 3}, radius: 0.5}\n"
        "  - {fill: rain, count: 3, rate: 1, region: {from: [0, 30], to: [9, 33]}, radius: 0.5}\n";
    const char *const set[] = {"seed=4", "bodies.0.at=[0, 1]"};
    const int64_t before = memory.live;
    for (int64_t fail_at = 1;; fail_at++) {
        talus_scene *s = (talus_scene *)text;
        memory.requests = 0;
        memory.fail_at = fail_at;
        talus_status status = talus_scene_parse(ctx, "test", text, sizeof text - 1, set, 2, &s);
        memory.fail_at = 0;
        if (status == TALUS_OK) {
            talus_scene_destroy(s);
            assert_true(fail_at > 20);
            break;
        }
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_null(s);
        assert_int_equal(memory.live, before);
    }
    assert_int_equal(memory.live, before);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_defaults_are_those_of_the_library),
        CASE(test_every_row_of_the_tables),
        CASE(test_numbers_with_units),
        CASE(test_values_arrive_in_the_world),
        CASE(test_pairs_take_the_geometric_mean_of_what_is_not_given),
        CASE(test_motions),
        CASE(test_overrides),
        CASE(test_other_ways_to_write_it),
        CASE(test_overlaps_that_are_allowed),
        CASE(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
