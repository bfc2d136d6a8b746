// SPDX-License-Identifier: Apache-2.0
// The table of pairs in docs/theory/collision.md says what the table in the code says.
#include "collide/pair.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_true)};
    return cmocka_run_group_tests_name("pair_table", tests, NULL, NULL);
}
