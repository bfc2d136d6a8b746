// SPDX-License-Identifier: Apache-2.0
// Readers of meshes: every format gives the same surface; points become one, facets without area
// fall away, the outside is found; and every kind of damage is refused with its place.
#define _GNU_SOURCE // mkstemps
#include "collide/mesh_read.h"
#include "support/context.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// Corners of the unit cube by the bits of their number, and its sides, seen from outside
// counter-clockwise.
static const int side[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                               {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

static char text[1 << 16];
static size_t length;

static void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    assert_true(n >= 0 && length + (size_t)n < sizeof text);
    length += (size_t)n;
}

static void bytes(const void *from, size_t n) {
    assert_true(length + n < sizeof text);
    memcpy(text + length, from, n);
    length += n;
}

static double corner(int c, int axis, double size, double at) {
    return at + ((c >> axis & 1) ? size : 0.0);
}

// The cube as one of the formats: 0 text, 1 binary, 2 OBJ. `turn` turns side number turn around.
static bool all_turned; // every side is turned around

static void cube_write(int format, double size, double at, int turn) {
    if (format == 0) say("solid a cube\n");
    if (format == 1) {
        const unsigned char count[4] = {12, 0, 0, 0};
        char head[80] = "solid, but binary";
        bytes(head, sizeof head);
        bytes(count, sizeof count);
    }
    for (int c = 0; format == 2 && c < 8; c++)
        say("v %.17g %.17g %.17g\n", corner(c, 0, size, at), corner(c, 1, size, at),
            corner(c, 2, size, at));
    for (int s = 0; s < 6; s++) {
        int c[4];
        for (int k = 0; k < 4; k++) c[k] = side[s][all_turned != (s == turn) ? 3 - k : k];
        if (format == 2) {
            say("f %d/1/1 %d//4 %d %d/2\n", c[0] - 8, c[1] - 8, c[2] - 8, c[3] - 8);
            continue;
        }
        for (int half = 0; half < 2; half++) {
            if (format == 0) say("facet normal 9 9 9\n outer loop\n");
            if (format == 1) bytes((const float[3]){9.0F, 9.0F, 9.0F}, 12);
            for (int k = 0; k < 3; k++) {
                const int v = c[k == 0 ? 0 : k + half];
                const double x[3] = {corner(v, 0, size, at), corner(v, 1, size, at),
                                     corner(v, 2, size, at)};
                if (format == 0) say("  VERTEX %.9g %.9g %.9g\n", x[0], x[1], x[2]);
                if (format == 1) bytes((const float[3]){(float)x[0], (float)x[1], (float)x[2]}, 12);
            }
            if (format == 0) say(" endloop\nendfacet\n");
            if (format == 1) bytes("\1\2", 2);
        }
    }
    if (format == 0) say("endsolid a cube\n");
}

static talus_status parse(const char *name, talus_mesh *out) {
    const talus_mesh_read_options options = talus_mesh_read_default();
    return tl_mesh_parse(ctx, name, text, length, &options, out);
}

static const char *const name_of[3] = {"cube.stl", "CUBE.STL", "cube.obj"};

static double volume_of(const talus_mesh *m) {
    double sum = 0.0;
    for (int32_t t = 0; t < m->triangle_count; t++) {
        const double *a = m->point + 3 * m->triangle[3 * t];
        const double *b = m->point + 3 * m->triangle[3 * t + 1];
        const double *c = m->point + 3 * m->triangle[3 * t + 2];
        sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                a[2] * (b[0] * c[1] - b[1] * c[0])) /
               6.0;
    }
    return sum;
}

static void ok(talus_status status) {
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
}

static void every_format_gives_the_cube(void **state) {
    (void)state;
    for (int format = 0; format < 3; format++)
        for (int turn = -1; turn < 6; turn++) {
            talus_mesh m;
            length = 0;
            cube_write(format, 2.0, -1.0, turn);
            ok(parse(name_of[format], &m));
            assert_int_equal(m.point_count, 8);
            assert_int_equal(m.triangle_count, 12);
            assert_int_equal(m.dropped, 0);
            assert_int_equal(m.turned, turn < 0 ? 0 : 2);
            assert_true(m.closed);
            assert_true(fabs(volume_of(&m) - 8.0) < 1e-14);
            talus_mesh_clear(ctx, &m);
        }
}

static void files_are_read_and_scaled(void **state) {
    (void)state;
    char path[] = "/tmp/talus-mesh-XXXXXX.stl";
    const int handle = mkstemps(path, 4);
    assert_true(handle >= 0);
    length = 0;
    cube_write(1, 1.0, 3.0, -1);
    assert_true(write(handle, text, length) == (ssize_t)length);
    (void)close(handle);
    talus_mesh m;
    talus_mesh_read_options options = talus_mesh_read_default();
    options.scale = 0.001;
    ok(talus_mesh_read(ctx, path, &options, &m));
    assert_true(fabs(volume_of(&m) - 1e-9) < 1e-22);
    assert_true(fabs(m.point[0] - 0.003) < 1e-15);
    talus_mesh_clear(ctx, &m);
    (void)unlink(path);
    assert_int_equal(talus_mesh_read(ctx, path, &options, &m), TALUS_ERR_FILE);
    assert_null(m.point);
    assert_non_null(strstr(talus_context_last_error(ctx), path));
}

// Points that are almost equal are two, unless they are welded.
static void points_are_welded(void **state) {
    (void)state;
    length = 0;
    say("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1e-7 -0\nv 0 1 1e-7\nv 1 1 0\nf 1 2 3\nf 4 6 5\n");
    talus_mesh m;
    ok(parse("a.obj", &m));
    assert_int_equal(m.point_count, 6);
    talus_mesh_clear(ctx, &m);
    talus_mesh_read_options options = talus_mesh_read_default();
    options.weld = 1e-6;
    ok(tl_mesh_parse(ctx, "a.obj", text, length, &options, &m));
    assert_int_equal(m.point_count, 4);
    assert_int_equal(m.triangle_count, 2);
    assert_false(m.closed);
    assert_true(m.point[4] == 0.0); // the first one given stays
    talus_mesh_clear(ctx, &m);
    // −0 and 0 are one number
    length = 0;
    say("v 0 0 0\nv 1 0 0\nv 0 1 0\nv -0 -0 0\nv 0 0 1\nf 1 2 3\nf 4 2 5\n");
    ok(parse("a.obj", &m));
    assert_int_equal(m.point_count, 4);
    talus_mesh_clear(ctx, &m);
}

static void facets_without_area_fall_away(void **state) {
    (void)state;
    length = 0;
    say("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.25 0 0\nv 5 5 5\nf 1 2 3\nf 1 1 2\nf 1 4 2\nf 1 5 5\n");
    talus_mesh m;
    ok(parse("a.obj", &m));
    assert_int_equal(m.triangle_count, 1);
    assert_int_equal(m.dropped, 3);
    assert_int_equal(m.point_count, 3); // what only they had is gone too
    talus_mesh_clear(ctx, &m);
}

// A cube in a cube is a cavity: its inside is outside. A third one within it is solid again. Given
// inside out or not, the result is the same.
static void cavities_are_kept(void **state) {
    (void)state;
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        length = 0;
        all_turned = inside_out == 1;
        for (int k = 0; k < 3; k++) cube_write(2, 8.0 - 2.0 * k, (double)k, -1);
        all_turned = false;
        talus_mesh m;
        ok(parse("a.obj", &m));
        assert_true(m.closed);
        assert_int_equal(m.turned, inside_out ? 24 : 12);
        assert_true(fabs(volume_of(&m) - (512.0 - 216.0 + 64.0)) < 1e-10);
        talus_mesh_clear(ctx, &m);
    }
}

// Five corners and more: a fan. Four: the diagonal that folds least, so that a flat arrow head
// keeps its area.
static void faces_with_many_corners(void **state) {
    (void)state;
    talus_mesh m;
    double area = 0.0;
    length = 0;
    say("v 0 0 0\nv 2 -1 0\nv 1 0 0\nv 2 1 0\nf 2 3 4 1\n"); // not convex at point 3
    ok(parse("a.obj", &m));
    assert_int_equal(m.triangle_count, 2);
    for (int32_t t = 0; t < 2; t++) {
        const double *a = m.point + 3 * m.triangle[3 * t], *b = m.point + 3 * m.triangle[3 * t + 1];
        const double *c = m.point + 3 * m.triangle[3 * t + 2];
        area += fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0;
    }
    assert_true(fabs(area - 1.0) < 1e-15);
    talus_mesh_clear(ctx, &m);
    length = 0;
    for (int k = 0; k < 7; k++) say("v %.17g %.17g 0\n", cos(0.8976 * k), sin(0.8976 * k));
    say("f 1 2 3 \\\n 4 5 -2 -1 # seven\n");
    ok(parse("a.obj", &m));
    assert_int_equal(m.triangle_count, 5);
    assert_int_equal(m.point_count, 7);
    assert_int_equal(m.turned, 0);
    talus_mesh_clear(ctx, &m);
}

static void lines_in_the_plane(void **state) {
    (void)state;
    talus_mesh m;
    talus_mesh_read_options options = talus_mesh_read_default();
    options.dim = 2;
    length = 0;
    say("# a square, counter-clockwise\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nl 1 2 3 4 1\n");
    ok(tl_mesh_parse(ctx, "a.obj", text, length, &options, &m));
    assert_int_equal(m.triangle_count, 4);
    assert_int_equal(m.point_count, 4);
    assert_true(m.closed);
    assert_int_equal(m.turned, 4); // the free side is on the left: a solid goes round clockwise
    talus_mesh_clear(ctx, &m);
    length = 0;
    say("v 0 0 0\nv 1 0 0\nv 2 1 0\nl 1 2 3\n");
    ok(tl_mesh_parse(ctx, "a.obj", text, length, &options, &m));
    assert_false(m.closed);
    assert_int_equal(m.turned, 0);
    talus_mesh_clear(ctx, &m);
}

// ---- what is refused ---------------------------------------------------------------------------

static void refused(const char *name, const char *words) {
    talus_mesh m = {.point_count = 7};
    assert_int_equal(parse(name, &m), TALUS_ERR_FORMAT);
    assert_null(m.point);
    assert_null(m.triangle);
    const char *error = talus_context_last_error(ctx);
    if (strncmp(error, name, strlen(name)) != 0 || !strstr(error, words))
        fail_msg("'%s' is not in: %s", words, error);
}

static void refused_text(const char *name, const char *content, const char *words) {
    length = strlen(content);
    memcpy(text, content, length);
    refused(name, words);
}

static void damage_is_named_with_its_place(void **state) {
    (void)state;
    refused_text("a.stl", "", "byte 0");
    refused_text("a.stl", "nonsense", "byte 8");
    refused_text("a.ply", "ply\n", "must end in .stl or .obj");
    refused_text("a.obj", "# nothing\n", "no facet");
    refused_text("a.obj", "v 0 0 0\nv 1 0\nf 1 2 2\n", "line 2: a point has three");
    refused_text("a.obj", "v 0 0 nan\n", "line 1: coordinate z");
    refused_text("a.obj", "v 0 0 1e999\n", "line 1: coordinate z");
    refused_text("a.obj", "v 0 0 x\n", "line 1: 'x' is not a number");
    refused_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "line 4: there is no point 4; 3");
    refused_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "line 4: there is no point 0");
    refused_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n", "there is no point -4");
    refused_text("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", "line 3: a face has three");
    refused_text("a.obj", "v 0 0 0\nf 1/ x 1\n", "line 2: 'x' is not the number of a point");
    refused_text("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 2\n", "but such without area");
    refused_text("a.obj", "v 0 0 0\nhello\n", "line 2: 'hello'");
    refused_text("a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\n",
                 "line 6: the file ends");
    refused_text("a.stl", "solid a\nfacet normal 0 0 1\nouter lop\n", "line 3: 'lop'");
    refused_text("a.stl", "solid a\nvertex 0 0 0\n", "line 2: 'vertex'");
    refused_text("a.stl", "solid a\n", "line 2: the file ends");
    // a strip with half a twist
    refused_text("a.obj",
                 "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 1 0\nv 0 1 1\nv 0 0 1\n"
                 "f 1 2 3\nf 1 3 6\nf 2 4 5\nf 2 5 3\nf 4 6 1\nf 4 1 5\n",
                 "has no two sides");
    // numbers that are none, cut off, too long, a count that does not fit
    length = 0;
    cube_write(1, 1.0, 0.0, -1);
    const size_t whole = length;
    text[84 + 3 * 50 + 12 + 3] = 0x7f, text[84 + 3 * 50 + 12 + 2] = (char)0xc0;
    refused("a.stl", "byte 234 (facet 3): coordinate x");
    length = whole - 20;
    text[0] = 'x';
    refused("a.stl",
            "promises 12 facets, for which a binary STL file has 684 bytes; this one has 664");
    length = whole + 3;
    refused("a.stl", "this one has 687, so that it is damaged");
    length = whole;
    text[83] = 0x7f;
    refused("a.stl", "cut off");
}

static void wrong_options(void **state) {
    (void)state;
    talus_mesh m;
    talus_mesh_read_options options = talus_mesh_read_default();
    options.dim = 4;
    assert_int_equal(tl_mesh_parse(ctx, "a.obj", "", 0, &options, &m), TALUS_ERR_ARG);
    options = talus_mesh_read_default();
    options.scale = 0.0;
    assert_int_equal(tl_mesh_parse(ctx, "a.obj", "", 0, &options, &m), TALUS_ERR_ARG);
    options = talus_mesh_read_default();
    options.weld = -1.0;
    assert_int_equal(tl_mesh_parse(ctx, "a.obj", "", 0, &options, &m), TALUS_ERR_ARG);
    options = talus_mesh_read_default();
    options.dim = 2;
    length = 0;
    cube_write(1, 1.0, 0.0, -1);
    assert_int_equal(tl_mesh_parse(ctx, "a.stl", text, length, &options, &m), TALUS_ERR_FORMAT);
    length = 0;
    say("v 0 0 1\n");
    assert_int_equal(tl_mesh_parse(ctx, "a.obj", text, length, &options, &m), TALUS_ERR_FORMAT);
    assert_non_null(strstr(talus_context_last_error(ctx), "in 2D it must be 0"));
}

static void memory_may_run_out(void **state) {
    (void)state;
    length = 0;
    cube_write(2, 1.0, 0.0, 2);
    bool done = false;
    for (int64_t fail_at = 1; !done; fail_at++) {
        test_alloc counted = {0};
        const talus_context_def def = test_alloc_def(&counted);
        const talus_mesh_read_options options = talus_mesh_read_default();
        talus_context *own = NULL;
        talus_mesh m;
        assert_int_equal(talus_context_create(&def, &own), TALUS_OK);
        counted.fail_at = counted.requests + fail_at;
        const talus_status status = tl_mesh_parse(own, "a.obj", text, length, &options, &m);
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        done = status == TALUS_OK;
        assert_true(done || !m.point);
        talus_mesh_clear(own, &m);
        talus_context_destroy(own);
        assert_int_equal(counted.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_format_gives_the_cube, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_read_and_scaled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(points_are_welded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(facets_without_area_fall_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cavities_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faces_with_many_corners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_in_the_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_named_with_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("mesh_read", tests, NULL, NULL);
}
