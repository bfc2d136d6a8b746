// SPDX-License-Identifier: Apache-2.0
// Option tables: every row of every solver takes its default and its choices and refuses the rest
// in words that help; table and struct agree byte by byte.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "solve/solver_impl.h"
#include "solve/splitting.h"
#include "support/context.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Row k of a solver's table, common rows first.
static const tl_option *row_at(const tl_solver_ops *ops, int k) {
    for (const tl_option *row = tl_common_rows; row->key; row++)
        if (k-- == 0) return row;
    for (const tl_option *row = ops->options; row->key; row++)
        if (k-- == 0) return row;
    return NULL;
}

static size_t row_size(const tl_option *row) {
    return row->kind == TL_OPTION_NUMBER   ? sizeof(double)
           : row->kind == TL_OPTION_YES_NO ? sizeof(bool)
                                           : sizeof(int32_t);
}

static void refused(talus_solver *s, const talus_option_info *info, const char *value) {
    if (talus_solver_set(s, info->key, value) != TALUS_ERR_ARG)
        fail_msg("%s = '%s' was not refused", info->key, value);
    const char *text = talus_context_last_error(ctx);
    if (!strstr(text, info->key) || !strstr(text, info->range))
        fail_msg("%s = '%s': the text \"%s\" does not name key and range %s", info->key, value,
                 text, info->range);
}

static void accepted(talus_solver *s, const char *key, const char *value) {
    if (talus_solver_set(s, key, value) != TALUS_OK)
        fail_msg("%s = '%s': %s", key, value, talus_context_last_error(ctx));
}

// The field of a row as a number.
static double field(const talus_solver *s, const tl_option *row) {
    const char *at = (const char *)s->options + row->offset;
    if (row->kind == TL_OPTION_NUMBER) return *(const double *)at;
    if (row->kind == TL_OPTION_YES_NO) return *(const bool *)at ? 1.0 : 0.0;
    return *(const int32_t *)at;
}

static void check_number(talus_solver *s, const tl_option *row, const talus_option_info *info) {
    char text[64];
    const bool integer = row->kind == TL_OPTION_INTEGER;
    assert_true(strtod(info->range + 1, NULL) == row->low);
    (void)snprintf(text, sizeof text, "%.17g", row->low - (row->low == 0.0 ? 1.0 : fabs(row->low)));
    refused(s, info, text);
    (void)snprintf(text, sizeof text, "%.17g", row->low);
    if (row->above) {
        refused(s, info, text);
    } else {
        accepted(s, row->key, text);
        assert_true(field(s, row) == row->low);
    }
    if (isfinite(row->high)) {
        (void)snprintf(text, sizeof text, "%.17g", row->high);
        accepted(s, row->key, text);
        assert_true(field(s, row) == row->high);
        (void)snprintf(text, sizeof text, "%.17g", row->high + 1.0);
        refused(s, info, text);
        refused(s, info, "inf");
        refused(s, info, "1e999");
    }
    if (integer) refused(s, info, "2.5");
    const char *bad[] = {"", " ", "nan", "-inf", "one", "3x", "1,5", "1 2", "--1"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) refused(s, info, bad[k]);
}

static void check_choice(talus_solver *s, const tl_option *row, const talus_option_info *info) {
    // Every choice stands in the range, separated by ", ", in order; nothing else does.
    char expected[512] = "";
    int count = 0;
    for (; row->choice(count); count++) {
        if (count > 0) strcat(expected, ", ");
        strcat(expected, row->choice(count));
        accepted(s, row->key, row->choice(count));
        assert_true(field(s, row) == count);
    }
    assert_true(count >= 2);
    assert_string_equal(info->range, expected);
    const char *bad[] = {"", "nonsense", "0", "1", "NATURAL"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) refused(s, info, bad[k]);
}

static void rows(void **state) {
    (void)state;
    for (int n = 0; tl_solver_registry[n]; n++) {
        const tl_solver_ops *ops = tl_solver_registry[n];
        int count = 0;
        for (const tl_option *row; (row = row_at(ops, count)); count++) {
            talus_option_info info;
            talus_solver *s = NULL;
            assert_int_equal(talus_solver_create(ctx, ops->name, &s), TALUS_OK);
            assert_true(talus_solver_option_at(ops->name, count, &info));
            assert_string_equal(info.key, row->key);
            assert_true(strlen(info.text) > 8 && strlen(info.range) < sizeof info.range - 1);
            for (int other = 0; other < count; other++)
                assert_string_not_equal(row->key, row_at(ops, other)->key);
            const double initial = field(s, row); // the default is what a new solver has
            if (row->kind == TL_OPTION_NUMBER || row->kind == TL_OPTION_INTEGER) {
                assert_string_equal(info.kind,
                                    row->kind == TL_OPTION_NUMBER ? "number" : "integer");
                assert_true(initial == strtod(info.initial, NULL));
                check_number(s, row, &info);
            } else if (row->kind == TL_OPTION_YES_NO) {
                assert_string_equal(info.kind, "yes/no");
                assert_string_equal(info.range, "yes, no");
                accepted(s, row->key, "yes");
                assert_true(field(s, row) == 1.0);
                accepted(s, row->key, "no");
                assert_true(field(s, row) == 0.0);
                const char *bad[] = {"", "y", "true", "1", "Yes", "yes "};
                for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) refused(s, &info, bad[k]);
            } else {
                assert_string_equal(info.kind, "choice");
                assert_string_equal(row->choice((int)initial), info.initial);
                check_choice(s, row, &info);
            }
            accepted(s, row->key, info.initial);
            assert_true(field(s, row) == initial);
            // A value that is refused changes nothing.
            refused(s, &info, "?");
            assert_true(field(s, row) == initial);
            talus_solver_destroy(s);
        }
        talus_option_info info;
        assert_true(count > 6);
        assert_false(talus_solver_option_at(ops->name, count, &info));
        assert_false(talus_solver_option_at(ops->name, -1, &info));
    }
    talus_option_info info;
    assert_false(talus_solver_option_at("no-such", 0, &info));
}

// The options of some solver end here: in a longer struct that begins with these, padding may.
static bool ends_some(size_t end) {
    for (int n = 0; tl_solver_registry[n]; n++)
        if (tl_solver_registry[n]->options_size == end) return true;
    return false;
}

// Mark every byte that a row writes. No two rows share one; what none writes must be padding: less
// than the alignment of the field after it, and up to that field; at the end of a struct, 8.
static void sentinel(void **state) {
    (void)state;
    for (int n = 0; tl_solver_registry[n]; n++) {
        const tl_solver_ops *ops = tl_solver_registry[n];
        unsigned char *written = calloc(ops->options_size + 8, 1);
        assert_non_null(written);
        size_t alignment = 8;
        const tl_option *row;
        for (int k = 0; (row = row_at(ops, k)); k++) {
            assert_true(row->offset % row_size(row) == 0);
            assert_true(row->offset + row_size(row) <= ops->options_size);
            for (size_t b = 0; b < row_size(row); b++) {
                assert_true(written[row->offset + b] == 0);
                written[row->offset + b] = (unsigned char)row_size(row);
            }
        }
        for (size_t b = ops->options_size; b-- > 0;) {
            if (written[b]) {
                alignment = written[b];
                continue;
            }
            size_t end = b + 1;
            while (end < ops->options_size && !written[end]) end++;
            if (end - b >= (ends_some(end) ? 8 : alignment))
                fail_msg("%s: byte %zu of the options has no row", ops->name, b);
        }
        // The default of each row, put over a pattern, touches the bytes that it claims.
        unsigned char *a = malloc(ops->options_size), *b = malloc(ops->options_size);
        assert_true(a && b);
        memset(a, 0xaa, ops->options_size);
        memset(b, 0x55, ops->options_size);
        for (int k = 0; (row = row_at(ops, k)); k++) {
            assert_int_equal(tl_option_set(ctx, ops->name, row, row->initial, a), TALUS_OK);
            assert_int_equal(tl_option_set(ctx, ops->name, row, row->initial, b), TALUS_OK);
        }
        for (size_t k = 0; k < ops->options_size; k++) {
            if (written[k] && a[k] != b[k]) fail_msg("%s: byte %zu is not set", ops->name, k);
            if (!written[k] && (a[k] != 0xaa || b[k] != 0x55))
                fail_msg("%s: byte %zu is not the row's", ops->name, k);
        }
        free(a);
        free(b);
        free(written);
    }
}

// Every field by name: a field that no row writes would look like padding to the test above only
// when it is a bool behind a bool, so these are listed.
static void fields_by_name(void **state) {
    (void)state;
    static const struct {
        const char *key;
        size_t offset;
    } fields[] = {
        {"symmetric", offsetof(tl_splitting_options, symmetric)},
        {"warm", offsetof(tl_splitting_options, warm)},
        {"tolerance", offsetof(tl_splitting_options, common.tolerance)},
        {"threads", offsetof(tl_splitting_options, common.threads)},
        {"local", offsetof(tl_splitting_options, local)},
    };
    const tl_solver_ops *ops = NULL;
    for (int k = 0; tl_solver_registry[k]; k++)
        if (strcmp(tl_solver_registry[k]->name, "nlgs") == 0) ops = tl_solver_registry[k];
    assert_non_null(ops);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        bool found = false;
        const tl_option *row;
        for (int k = 0; (row = row_at(ops, k)); k++)
            if (strcmp(row->key, fields[f].key) == 0) found = row->offset == fields[f].offset;
        if (!found) fail_msg("no row for %s, or at another place", fields[f].key);
    }
}

static void unknown_key(void **state) {
    (void)state;
    talus_solver *s = NULL;
    assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
    const char *keys[] = {"", "Tolerance", "toleranc", "tolerance ", "nlgs.tolerance"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        assert_int_equal(talus_solver_set(s, keys[k], "1"), TALUS_ERR_UNKNOWN);
        assert_non_null(strstr(talus_context_last_error(ctx), keys[k]));
        assert_non_null(strstr(talus_context_last_error(ctx), "nlgs"));
    }
    talus_solver_destroy(s);
}

// The choices of "local" are the one-contact solvers of the public list.
static void local_names(void **state) {
    (void)state;
    const char *name, *summary;
    talus_solver *s = NULL;
    int32_t count = 0;
    assert_int_equal(talus_solver_create(ctx, "nlgs", &s), TALUS_OK);
    for (; talus_local_solver_at(count, &name, &summary); count++) {
        accepted(s, "local", name);
        assert_true(strlen(summary) > 8);
        assert_ptr_equal(tl_local_find(name), &tl_local_solvers[count]);
    }
    assert_null(tl_local_find("no-such"));
    assert_true(count >= 13);
    assert_false(talus_local_solver_at(-1, &name, &summary));
    const char *wanted[] = {"sbp", "sal", "ebp",       "eal",  "epdas",  "ipdas",
                            "ac",  "fb",  "ac-damped", "enum", "hybrid", "pyramid"};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) accepted(s, "local", wanted[k]);
    talus_solver_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sentinel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(local_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
