// SPDX-License-Identifier: Apache-2.0
// The committed files of examples/problems hold what support/examples.c makes: number by number,
// and no file is there that it does not make.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "problem/mass.h"
#include "problem/problem_impl.h"
#include "support/context.h"
#include "support/examples.h"
#include "talus/talus.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLES_DIRECTORY TALUS_SOURCE_DIR "/examples/problems"

// Sines and logarithms may differ in the last bits from one C library to another: 1e-13 of the
// largest number of the array.
static void assert_numbers(const char *name, const char *what, int64_t count, const double *a,
                           const double *b) {
    double largest = 0.0;
    for (int64_t k = 0; k < count; k++) largest = fmax(largest, fabs(a[k]));
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= 1e-13 * largest))
            fail_msg("%s: %s[%lld] is %.17g in the file and %.17g when made again", name, what,
                     (long long)k, a[k], b[k]);
}

static void assert_mass(const char *name, const talus_problem *a, const talus_problem *b) {
    const int64_t count = tl_mass_entry_count(a->mass);
    int32_t *at = calloc(4 * (size_t)count + 1, sizeof *at);
    double *value = calloc(2 * (size_t)count + 1, sizeof *value);
    assert_true(at && value);
    assert_int_equal(tl_mass_entry_count(b->mass), count);
    tl_mass_entries(a->mass, at, at + count, value);
    tl_mass_entries(b->mass, at + 2 * count, at + 3 * count, value + count);
    assert_memory_equal(at, at + 2 * count, 2 * (size_t)count * sizeof *at);
    assert_numbers(name, "M", count, value, value + count);
    free(at);
    free(value);
}

static void assert_same(const char *name, const talus_problem *a, const talus_problem *b) {
    const int64_t size = (int64_t)a->dim * a->count;
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->is_global, b->is_global);
    assert_int_equal(a->law, b->law);
    assert_int_equal(a->constraint_count, b->constraint_count);
    assert_numbers(name, "mu", a->count, a->mu, b->mu);
    if (!a->is_global) {
        const int64_t blocks = a->w_start[a->count];
        assert_memory_equal(a->w_start, b->w_start, ((size_t)a->count + 1) * sizeof *a->w_start);
        assert_memory_equal(a->w_col, b->w_col, (size_t)blocks * sizeof *a->w_col);
        assert_numbers(name, "W", blocks * a->dim * a->dim, a->w_block, b->w_block);
        assert_numbers(name, "q", size, a->q, b->q);
        return;
    }
    const int64_t blocks = a->h_start[a->count];
    assert_int_equal(a->body_count, b->body_count);
    assert_memory_equal(a->body_start, b->body_start,
                        ((size_t)a->body_count + 1) * sizeof *a->body_start);
    assert_memory_equal(a->h_start, b->h_start, ((size_t)a->count + 1) * sizeof *a->h_start);
    assert_memory_equal(a->h_body, b->h_body, (size_t)blocks * sizeof *a->h_body);
    assert_numbers(name, "H", a->h_offset[blocks], a->h_block, b->h_block);
    assert_numbers(name, "f", a->dof, a->f, b->f);
    assert_numbers(name, "w", size, a->w, b->w);
    assert_mass(name, a, b);
    if (a->constraint_count == 0) return;
    const int64_t entries = a->c.start[a->constraint_count];
    assert_int_equal(b->c.start[b->constraint_count], entries);
    assert_memory_equal(a->c.index, b->c.index, (size_t)entries * sizeof *a->c.index);
    assert_numbers(name, "C", entries, a->c.value, b->c.value);
    assert_numbers(name, "k", a->constraint_count, a->k, b->k);
}

static void files_are_what_is_made(void **state) {
    (void)state;
    for (int i = 0; example_at(i); i++) {
        const example *e = example_at(i);
        char path[1024];
        talus_problem *stored = NULL, *made = NULL;
        talus_fclib_extra extra = {0};
        (void)snprintf(path, sizeof path, EXAMPLES_DIRECTORY "/%s.hdf5", e->name);
        if (talus_fclib_read(ctx, path, &stored, &extra) != TALUS_OK)
            fail_msg("%s", talus_context_last_error(ctx));
        assert_int_equal(example_create(ctx, i, &made), TALUS_OK);
        assert_same(e->name, stored, made);
        assert_string_equal(extra.title, e->title);
        assert_string_equal(extra.description, e->description);
        talus_fclib_extra_clear(ctx, &extra);
        talus_problem_destroy(stored);
        talus_problem_destroy(made);
    }
}

static int files_in(const char *directory) {
    DIR *dir = opendir(directory);
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strstr(entry->d_name, ".hdf5") != NULL;
    (void)closedir(dir);
    return count;
}

static void no_other_files(void **state) {
    (void)state;
    int hard = 0, plain = 0;
    for (int i = 0; example_at(i); i++)
        *(strncmp(example_at(i)->name, "hard/", 5) == 0 ? &hard : &plain) += 1;
    assert_int_equal(files_in(EXAMPLES_DIRECTORY), plain);
    assert_int_equal(files_in(EXAMPLES_DIRECTORY "/hard"), hard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_what_is_made, set_up, tear_down),
        cmocka_unit_test(no_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
