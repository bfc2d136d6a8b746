// SPDX-License-Identifier: Apache-2.0
// Scenes with every kind of shape: what becomes of their keys, files beside the scene, scaled
// grains and room beside obstacles; and recordings of all of it.
#define _GNU_SOURCE // mkdtemp
#include "base/vec3.h"
#include "collide/collide.h"
#include "support/context.h"
#include "talus/mesh.h"
#include "talus/record.h"
#include "talus/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static void ok(talus_status status) {
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
}

static talus_world *world_of(const char *name, const char *text, talus_scene **scene) {
    talus_world *w = NULL;
    ok(talus_scene_parse(ctx, name, text, strlen(text), NULL, 0, scene));
    ok(talus_scene_make_world(*scene, &w));
    return w;
}

static talus_shape_def shape_of(const talus_world *w, int body) {
    talus_body_view v;
    talus_shape_def shape = {0};
    talus_world_bodies(w, &v);
    assert_true(body < v.count);
    assert_true(talus_world_shape_at(w, v.shape[body], &shape));
    return shape;
}

static const char space[] =
    "version: 1\n"
    "run: {until: 1 s}\n"
    "gravity: [0, 0, 0]\n"
    "shapes:\n"
    "  stone: {shape: polyhedron, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]]}\n"
    "bodies:\n"
    "  - {shape: capsule, radius: 10 cm, height: 0.5 m, at: [0, 0, 0]}\n"
    "  - {shape: ellipsoid, size: [1, 2, 3], at: [10, 0, 0]}\n"
    "  - {shape: superellipsoid, size: [1, 2, 3], exponents: [3, 4], at: [20, 0, 0]}\n"
    "  - {shape: cone, radius: 1 m, height: 4 m, at: [30, 0, 0]}\n"
    "  - {shape: stone, at: [40, 0, 0]}\n"
    "  - {shape: worm, radius: 5 mm, points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]], at: [50, 0, 0]}\n"
    "  - shape: clump\n"
    "    at: [60, 0, 0]\n"
    "    parts:\n"
    "      - {radius: 1 m}\n"
    "      - {shape: stone, at: [1, 0, 0], rotate: {axis: [0, 0, 1], angle: 90 deg}}\n"
    "      - {shape: worm, radius: 0.1, points: [[0, 0, 0], [0, 0, 3]], at: [0, 2, 0]}\n"
    "  - {shape: hopper, size: [2, 3, 1], outlet: 0.5, rim: 0.2, at: [70, 0, 0]}\n"
    "  - {shape: funnel, radius: 2, height: 1, outlet: 0.5, spout: 0.1, sides: 6, at: [80, 0, 0]}\n"
    "  - {shape: pipe, radius: 1, height: 3, at: [90, 0, 0]}\n"
    "  - {shape: ramp, size: [4, 2, 1], at: [100, 0, 0], motion: {kind: velocity, velocity: [0, 0, "
    "1]}}\n";

static void every_key_of_a_shape(void **state) {
    (void)state;
    talus_scene *scene;
    talus_world *w = world_of("space", space, &scene);
    talus_shape_def s = shape_of(w, 0);
    assert_int_equal(s.kind, TALUS_SHAPE_CAPSULE);
    near(s.radius, 0.1, 1e-15);
    near(s.height, 0.5, 1e-15);
    s = shape_of(w, 1);
    assert_int_equal(s.kind, TALUS_SHAPE_ELLIPSOID);
    near(s.half[2], 1.5, 1e-15);
    s = shape_of(w, 2);
    assert_int_equal(s.kind, TALUS_SHAPE_SUPERELLIPSOID);
    near(s.exponent[0], 3.0, 0.0);
    near(s.exponent[1], 4.0, 0.0);
    s = shape_of(w, 3);
    assert_int_equal(s.kind, TALUS_SHAPE_CONE);
    near(s.height, 4.0, 0.0);
    s = shape_of(w, 4);
    assert_int_equal(s.kind, TALUS_SHAPE_POLYHEDRON);
    assert_int_equal(s.point_count, 4);
    near(s.point[11], 2.0, 0.0);
    s = shape_of(w, 5);
    assert_int_equal(s.kind, TALUS_SHAPE_WORM);
    near(s.radius, 0.005, 1e-18);
    near(s.point[7], 1.0, 0.0);
    s = shape_of(w, 6);
    assert_int_equal(s.kind, TALUS_SHAPE_CLUMP);
    assert_int_equal(s.part_count, 3);
    assert_int_equal(s.part[1].shape->kind, TALUS_SHAPE_POLYHEDRON);
    near(s.part[1].position[0], 1.0, 0.0);
    near(s.part[1].orientation[3], sqrt(0.5), 1e-15);
    assert_int_equal(s.part[2].shape->point_count, 2);
    static const int facets[4] = {16, 24, 96, 2};
    for (int k = 0; k < 4; k++) {
        s = shape_of(w, 7 + k);
        assert_int_equal(s.kind, TALUS_SHAPE_MESH);
        assert_int_equal(s.triangle_count, facets[k]);
    }
    talus_body_view v;
    talus_world_bodies(w, &v);
    for (int k = 0; k < 11; k++)
        assert_int_equal(v.motion[k], k < 7    ? TALUS_MOTION_FREE
                                      : k < 10 ? TALUS_MOTION_FIXED
                                               : TALUS_MOTION_VELOCITY);
    ok(talus_world_step(w, NULL));
    talus_world_destroy(w);
    talus_scene_destroy(scene);
}

static const char plane[] =
    "version: 1\n"
    "dimension: 2\n"
    "run: {until: 1 s}\n"
    "bodies:\n"
    "  - {shape: capsule, radius: 0.1, height: 0.5, at: [0, 5]}\n"
    "  - {shape: ellipsoid, size: [1, 2], at: [10, 5]}\n"
    "  - {shape: superellipsoid, size: [1, 2], exponents: [3], at: [20, 5]}\n"
    "  - {shape: cone, radius: 1, height: 3, at: [30, 5]}\n"
    "  - {shape: polyhedron, points: [[0, 0], [1, 0], [0, 1]], at: [40, 5]}\n"
    "  - {shape: clump, parts: [{radius: 1}, {radius: 0.5, at: [1, 0]}], at: [50, 5]}\n"
    "  - {shape: hopper, size: [2, 1], outlet: 0.5, at: [60, 5]}\n"
    "  - {shape: funnel, radius: 1, height: 1, outlet: 0.25, rim: 0.5, at: [70, 5]}\n"
    "  - {shape: pipe, radius: 1, height: 2, at: [80, 5]}\n"
    "  - {shape: ramp, size: [2, 1], at: [90, 5]}\n";

static void the_same_in_the_plane(void **state) {
    (void)state;
    talus_scene *scene;
    talus_world *w = world_of("plane", plane, &scene);
    static const int segments[4] = {2, 4, 2, 1};
    for (int k = 0; k < 4; k++) assert_int_equal(shape_of(w, 6 + k).triangle_count, segments[k]);
    const talus_shape_def hopper = shape_of(w, 6);
    near(fabs(hopper.point[0]), 0.25, 1e-15);
    near(hopper.point[3 * 2 + 1], 1.0, 1e-15);
    ok(talus_world_step(w, NULL));
    talus_world_destroy(w);
    talus_scene_destroy(scene);
}

// ---- files -------------------------------------------------------------------------------------

static char room[64];

static void write_file(const char *name, const char *text) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", room, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *name) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", room, name);
    (void)unlink(path);
}

static void files_stand_beside_the_scene(void **state) {
    (void)state;
    static const char tetrahedron[] = "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\n"
                                      "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    static const char text[] = "version: 1\n"
                               "run: {until: 1 s}\n"
                               "bodies:\n"
                               "  - {shape: mesh, file: a.obj, file_scale: 0.1, at: [0, 0, 0]}\n"
                               "  - {shape: polyhedron, file: a.obj, at: [20, 0, 0]}\n";
    char path[128];
    talus_scene *scene;
    talus_world *w = NULL;
    (void)snprintf(room, sizeof room, "/tmp/talus-shapes-XXXXXX");
    assert_non_null(mkdtemp(room));
    write_file("a.obj", tetrahedron);
    write_file("scene.yaml", text);
    (void)snprintf(path, sizeof path, "%s/scene.yaml", room);
    ok(talus_scene_read(ctx, path, NULL, 0, &scene));
    ok(talus_scene_make_world(scene, &w));
    const talus_shape_def mesh = shape_of(w, 0), hull = shape_of(w, 1);
    assert_int_equal(mesh.triangle_count, 4);
    assert_int_equal(mesh.point_count, 4);
    assert_int_equal(hull.kind, TALUS_SHAPE_POLYHEDRON);
    assert_int_equal(hull.triangle_count, 0);
    double most[2] = {0.0, 0.0};
    for (int k = 0; k < 12; k++) {
        most[0] = fmax(most[0], mesh.point[k]);
        most[1] = fmax(most[1], hull.point[k]);
    }
    near(most[0], 1.0, 1e-15);
    near(most[1], 10.0, 0.0);
    talus_body_view v;
    talus_world_bodies(w, &v);
    near(v.mass[1], 2600.0 * 1000.0 / 6.0, 1e-6);
    talus_world_destroy(w);
    talus_scene_destroy(scene);
    remove_file("a.obj");
    remove_file("scene.yaml");
    (void)rmdir(room);
}

// ---- grains ------------------------------------------------------------------------------------

// Every length of a shape is scaled: extents of grains are those of the shape times their scale.
static void grains_are_scaled(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "shape: polyhedron, points: [[-1, -1, -1], [1, -1, -1], [0, 1, -1], [0, 0, 1]]",
        "shape: worm, radius: 0.1, points: [[-1, 0, 0], [0, 0.5, 0], [1, 0, 0]]",
        "shape: clump, parts: [{radius: 0.5}, {shape: box, size: [1, 1, 1], at: [-1, 0, 0]}]",
        "shape: superellipsoid, size: [1, 2, 3], exponents: [3, 4]"};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        char text[600];
        talus_scene *scene;
        talus_body_view v;
        double least = INFINITY, most = 0.0, density = 0.0;
        (void)snprintf(text, sizeof text,
                       "version: 1\nrun: {until: 1 s}\ngrains:\n"
                       "  - {%s, fill: random, count: 20, region: {from: [0, 0, 0], to: [20, 20, "
                       "20]}, scale: {law: uniform, low: 0.5, high: 1.5}, random_turn: yes}\n",
                       shapes[k]);
        talus_world *w = world_of("grains", text, &scene);
        talus_world_bodies(w, &v);
        assert_int_equal(v.count, 20);
        const talus_shape_def first = shape_of(w, 0);
        const double size = tl_shape_extent(3, &first);
        for (int i = 0; i < v.count; i++) {
            const talus_shape_def s = shape_of(w, i);
            const double scale = tl_shape_extent(3, &s) / size;
            const double rest = v.mass[i] / (v.mass[0] * scale * scale * scale);
            near(rest, 1.0, 1e-5);
            least = fmin(least, scale);
            most = fmax(most, scale);
            density += rest;
        }
        assert_true(most > 1.3 * least);
        assert_true(density > 19.0);
        ok(talus_world_step(w, NULL));
        talus_world_destroy(w);
        talus_scene_destroy(scene);
    }
}

// Grains at random, and rain, within a funnel: none touches it, though all are in its ball.
static void there_is_room_in_a_funnel(void **state) {
    (void)state;
    static const char text[] =
        "version: 1\n"
        "run: {until: 1 s}\n"
        "step: {length: 20 ms}\n"
        "bodies:\n"
        "  - {shape: funnel, radius: 1, height: 1, outlet: 0.02, rim: 1, at: [0, 0, 0]}\n"
        "grains:\n"
        "  - {radius: 0.1, fill: random, count: 60, region: {from: [-1, -1, 0], to: [1, 1, 1]}}\n"
        "  - {radius: 0.1, fill: rain, count: 10, rate: 20 Hz, region: {from: [-1, -1, 1.6], to: "
        "[1, 1, 2]}}\n";
    talus_scene *scene;
    talus_world *w = world_of("funnel", text, &scene);
    talus_body_view v;
    talus_world_bodies(w, &v);
    assert_int_equal(v.count, 61);
    int within = 0;
    for (int i = 1; i < v.count; i++) {
        const double *x = v.position + 3 * i, far = hypot(x[0], x[1]);
        // distance from the cone r = 0.02 + 0.98 z
        const double off = (far - 0.02 - 0.98 * x[2]) / hypot(1.0, 0.98);
        assert_true(fabs(off) > 0.1 - 0.005); // its polygon is within the circle
        within += off < 0.0;
    }
    assert_true(within > 5 && within < 60);
    for (int step = 0; step < 40; step++) {
        ok(talus_scene_advance(scene, w));
        ok(talus_world_step(w, NULL));
    }
    talus_world_bodies(w, &v);
    assert_int_equal(v.count, 71);
    talus_world_destroy(w);
    talus_scene_destroy(scene);
}

// ---- recordings --------------------------------------------------------------------------------

static void same_shape(int32_t dim, const talus_shape_def *a, const talus_shape_def *b) {
    assert_int_equal(a->kind, b->kind);
    near(a->radius, b->radius, 0.0);
    assert_true(a->height == b->height);
    assert_memory_equal(a->half, b->half, sizeof a->half);
    assert_memory_equal(a->exponent, b->exponent, sizeof a->exponent);
    assert_int_equal(a->point_count, b->point_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_int_equal(a->part_count, b->part_count);
    if (a->point_count > 0)
        assert_memory_equal(a->point, b->point, 3 * (size_t)a->point_count * sizeof(double));
    if (a->triangle_count > 0)
        assert_memory_equal(a->triangle, b->triangle,
                            (size_t)dim * (size_t)a->triangle_count * sizeof(int32_t));
    for (int32_t k = 0; k < a->part_count; k++) {
        assert_memory_equal(a->part[k].position, b->part[k].position, 3 * sizeof(double));
        assert_memory_equal(a->part[k].orientation, b->part[k].orientation, 4 * sizeof(double));
        same_shape(dim, a->part[k].shape, b->part[k].shape);
    }
}

static void recordings_hold_every_shape(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        char path[128];
        talus_scene *scene;
        talus_world *w = world_of("scene", dim == 2 ? plane : space, &scene);
        talus_recording *r = NULL;
        talus_playback *p = NULL;
        talus_frame frame;
        talus_body_view v;
        talus_shape_def a, b;
        const talus_record_def def = {.contacts = true};
        (void)snprintf(room, sizeof room, "/tmp/talus-shapes-XXXXXX");
        assert_non_null(mkdtemp(room));
        (void)snprintf(path, sizeof path, "%s/run.h5", room);
        ok(talus_recording_create(ctx, path, &def, w, &r));
        ok(talus_recording_frame(r, w, 0));
        ok(talus_world_step(w, NULL));
        ok(talus_recording_frame(r, w, 1));
        ok(talus_recording_close(r));
        ok(talus_playback_open(ctx, path, &p));
        ok(talus_playback_frame(p, 1, &frame));
        talus_world_bodies(w, &v);
        assert_int_equal(frame.bodies.count, v.count);
        assert_memory_equal(frame.bodies.position, v.position,
                            3 * (size_t)v.count * sizeof(double));
        assert_memory_equal(frame.bodies.orientation, v.orientation,
                            4 * (size_t)v.count * sizeof(double));
        int32_t count = 0;
        for (; talus_world_shape_at(w, count, &a); count++) {
            assert_true(talus_playback_shape_at(p, count, &b));
            same_shape(dim, &a, &b);
            talus_mass own, read; // what was read is a shape again
            ok(talus_shape_mass(ctx, dim, &a, 1.0, &own));
            ok(talus_shape_mass(ctx, dim, &b, 1.0, &read));
            assert_memory_equal(&own, &read, sizeof own);
        }
        assert_true(count >= 10 && !talus_playback_shape_at(p, count, &b));
        talus_playback_close(p);
        talus_world_destroy(w);
        talus_scene_destroy(scene);
        remove_file("run.h5");
        (void)rmdir(room);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_key_of_a_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_in_the_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_stand_beside_the_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(grains_are_scaled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_room_in_a_funnel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recordings_hold_every_shape, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("scene_shapes", tests, NULL, NULL);
}
