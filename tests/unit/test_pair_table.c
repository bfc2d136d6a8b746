// SPDX-License-Identifier: Apache-2.0
// The table of pairs in docs/theory/collision.md says what the table in the code says, and what is
// behind it takes no memory.
#include "base/context.h"
#include "collide/collide.h"
#include "collide/pair.h"
#include "support/context.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LINE = 1024, CELLS = 24 };

// Cut a line "| a | b |" into its cells, without the spaces around them; returns how many.
static int cut(char *line, char **cell) {
    int count = 0;
    char *at = strchr(line, '|');
    while (at && count < CELLS) {
        char *begin = at + 1, *end = strchr(begin, '|');
        if (!end) break;
        at = end;
        *end = '\0';
        while (*begin == ' ') begin++;
        while (end > begin && end[-1] == ' ') *--end = '\0';
        cell[count++] = begin;
    }
    return count;
}

// The kinds that a label "capsule, polyhedron" names.
static int kinds_of(const char *label, talus_shape_kind *out) {
    int count = 0;
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++) {
        const char *name = talus_shape_text((talus_shape_kind)k), *at = strstr(label, name);
        const size_t length = strlen(name);
        while (at && ((at > label && at[-1] != ' ') || (at[length] && at[length] != ',')))
            at = strstr(at + 1, name);
        if (at) out[count++] = (talus_shape_kind)k;
    }
    return count;
}

// Every pair of kinds of a row and a column is known, or not: `cell` is a dash.
static int compare(const char *row, const char *column, const char *cell) {
    talus_shape_kind a[CELLS], b[CELLS];
    const int as = kinds_of(row, a), bs = kinds_of(column, b);
    assert_true(as > 0 && bs > 0);
    for (int i = 0; i < as; i++)
        for (int k = 0; k < bs; k++)
            if (tl_pair_is_known(a[i], b[k]) != (strcmp(cell, "—") != 0))
                fail_msg("%s, %s: the table says '%s'", talus_shape_text(a[i]),
                         talus_shape_text(b[k]), cell);
    return as * bs;
}

static void the_table_is_true(void **state) {
    (void)state;
    char head[LINE], line[LINE], *column[CELLS], *cell[CELLS];
    int columns = 0, rows = 0, pairs = 0;
    FILE *file = fopen(TALUS_SOURCE_DIR "/docs/theory/collision.md", "r");
    assert_non_null(file);
    while (!columns && fgets(head, sizeof head, file))
        if (strncmp(head, "| | sphere |", 12) == 0) columns = cut(head, column);
    assert_true(columns > 2 && fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) && line[0] == '|') {
        assert_int_equal(cut(line, cell), columns);
        rows++;
        assert_string_equal(cell[0], column[rows]);
        for (int k = 1; k < columns; k++) {
            assert_int_equal(cell[k][0] == '\0', k < rows); // the upper half
            if (k >= rows) pairs += compare(cell[0], column[k], cell[k]);
        }
    }
    (void)fclose(file);
    assert_int_equal(rows, columns - 1);
    // all kinds but the unions, in one order or both where a group meets itself
    const int kinds = TALUS_SHAPE_KINDS - 2;
    assert_true(pairs >= kinds * (kinds + 1) / 2);
}

// One shape of every kind, each about 1 in size.
static const double corner[12] = {0.6, 0.5, -0.4, -0.6, 0.5, -0.4, 0.0, -0.7, -0.4, 0.0, 0.0, 0.8};
static const int32_t face[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
static const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.4};
static const talus_part part[2] = {
    {.shape = &ball, .position = {0.2, 0.0, 0.0}, .orientation = {1.0}},
    {.shape = &ball, .position = {-0.2, 0.1, 0.0}, .orientation = {1.0}}};
static const talus_shape_def one_of[TALUS_SHAPE_KINDS] = {
    [TALUS_SHAPE_SPHERE] = {.radius = 0.5},
    [TALUS_SHAPE_HALF_SPACE] = {.normal = {0.0, 0.0, 1.0}},
    [TALUS_SHAPE_CONTAINER] = {.half = {1.0, 0.9, 0.8}},
    [TALUS_SHAPE_DRUM] = {.radius = 1.0, .height = 1.6},
    [TALUS_SHAPE_BOX] = {.half = {0.4, 0.5, 0.6}},
    [TALUS_SHAPE_CYLINDER] = {.radius = 0.4, .height = 0.9},
    [TALUS_SHAPE_CAPSULE] = {.radius = 0.3, .height = 0.8},
    [TALUS_SHAPE_ELLIPSOID] = {.half = {0.4, 0.5, 0.6}},
    [TALUS_SHAPE_SUPERELLIPSOID] = {.half = {0.4, 0.5, 0.6}, .exponent = {3.0, 4.0}},
    [TALUS_SHAPE_CONE] = {.radius = 0.5, .height = 1.0},
    [TALUS_SHAPE_POLYHEDRON] = {.point = corner, .point_count = 4},
    [TALUS_SHAPE_WORM] = {.radius = 0.2, .point = corner, .point_count = 3},
    [TALUS_SHAPE_CLUMP] = {.part = part, .part_count = 2},
    [TALUS_SHAPE_MESH] = {.point = corner, .point_count = 4, .triangle = face, .triangle_count = 4},
};

// Whether two shapes of these kinds may meet; what a union does its parts do.
static bool may_meet(int a, int b) {
    const int part_kind = TALUS_SHAPE_SPHERE;
    if (a == TALUS_SHAPE_WORM || a == TALUS_SHAPE_CLUMP) a = part_kind;
    if (b == TALUS_SHAPE_WORM || b == TALUS_SHAPE_CLUMP) b = part_kind;
    return tl_pair_is_known((talus_shape_kind)a, (talus_shape_kind)b);
}

// Two bodies in five places: far apart, near, overlapping little and much, with one centre.
// The first pass over the places lets the buffers for contacts grow; the second takes nothing.
static void no_pair_takes_memory(void **state) {
    (void)state;
    static const double place[] = {3.0, 1.0, 0.7, 0.3, 0.0};
    const double period[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < TALUS_SHAPE_KINDS; a++) {
        for (int b = 0; b < TALUS_SHAPE_KINDS; b++) {
            if (!may_meet(a, b)) continue;
            tl_collide *c;
            assert_int_equal(tl_collide_create(ctx, 3, period, &c), TALUS_OK);
            for (int i = 0; i < 2; i++) {
                const int kind = i == 0 ? a : b;
                talus_shape_def def = one_of[kind];
                int32_t shape, item;
                def.kind = (talus_shape_kind)kind;
                assert_int_equal(tl_collide_add_shape(c, &def, &shape), TALUS_OK);
                assert_int_equal(tl_collide_add_item(c, shape, i, i == 1, &item), TALUS_OK);
            }
            int64_t before = 0, count, touches = 0;
            for (size_t k = 0; k < 2 * sizeof place / sizeof place[0]; k++) {
                const double x = place[k % (sizeof place / sizeof place[0])];
                const tl_pose pose[2] = {{.x = {0.6 * x, 0.2 * x, 0.8 * x}, .q = {0.8, 0.6}},
                                         {.q = {0.6, 0.0, 0.8, 0.0}}};
                if (k == sizeof place / sizeof place[0]) before = tl_alloc_count(ctx);
                assert_int_equal(tl_collide_detect(c, pose, 0.1, 1), TALUS_OK);
                (void)tl_collide_touches(c, &count);
                touches += count;
            }
            if (tl_alloc_count(ctx) != before)
                fail_msg("%s, %s took memory", talus_shape_text((talus_shape_kind)a),
                         talus_shape_text((talus_shape_kind)b));
            if (touches == 0)
                fail_msg("%s, %s never met", talus_shape_text((talus_shape_kind)a),
                         talus_shape_text((talus_shape_kind)b));
            tl_collide_destroy(c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_true),
        cmocka_unit_test_setup_teardown(no_pair_takes_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("pair_table", tests, NULL, NULL);
}
