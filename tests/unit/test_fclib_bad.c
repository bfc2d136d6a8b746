// SPDX-License-Identifier: Apache-2.0
// FCLIB files that are wrong in every way: each must give an error that names the file and the
// entry, or a valid problem; never a crash, a leak or a half-written file.
#define _GNU_SOURCE // setrlimit
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/fclib_cases.h"
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST 4096

// LeakSanitizer asks this for exceptions. HDF5 1.10 itself loses blocks when it gives up on a
// damaged header; that nothing of ours stays open in it is seen by H5Fget_obj_count after every
// read.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5_serial"; }

// A valid small file to spoil: global with everything in it, or local.
static void make_victim(fixture *f, bool is_global) {
    char text[] = "text";
    double r[SIZE];
    f->random = 99;
    fclib_random_vector(f, SIZE, r);
    talus_solution solution = {NULL, NULL, r, NULL};
    const talus_fclib_extra extra = {text, text, text, &solution, &solution, 1};
    const global_data g = fclib_global_data(f, 3);
    const local_data l = fclib_local_data(f, 3);
    talus_problem *p =
        is_global ? fclib_make_global(f, &g, true) : fclib_make_local(f, &l, true, true);
    fclib_write_ok(f, p, &extra);
    talus_problem_destroy(p);
}

// Reads f->file and demands a clean end: an error that names the file, or a problem.
static talus_status read_any(fixture *f) {
    const int64_t live = f->memory.live;
    talus_problem *p = NULL;
    talus_fclib_extra extra;
    const talus_status status = talus_fclib_read(f->ctx, f->file, &p, &extra);
    if (status == TALUS_OK) {
        assert_non_null(p);
        talus_fclib_extra_clear(f->ctx, &extra);
        talus_problem_destroy(p);
    } else {
        assert_null(p);
        assert_null(extra.title);
        assert_null(extra.guess);
        const char *text = talus_context_last_error(f->ctx);
        if (strncmp(text, f->file, strlen(f->file)) != 0 || strlen(text) < strlen(f->file) + 4)
            fail_msg("error does not name the file: %s", text);
    }
    assert_int_equal(f->memory.live, live);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    return status;
}

static void expect_error(fixture *f, talus_status status, const char *expected) {
    char text[LONGEST];
    assert_int_equal(read_any(f), status);
    (void)snprintf(text, sizeof text, "%s: %s", f->file, expected);
    assert_string_equal(talus_context_last_error(f->ctx), text);
}

static void put_bytes(fixture *f, const void *data, size_t bytes) {
    FILE *stream = fopen(f->file, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
    assert_int_equal(fclose(stream), 0);
}

static size_t get_bytes(fixture *f, unsigned char *data, size_t limit) {
    FILE *stream = fopen(f->file, "rb");
    assert_non_null(stream);
    const size_t bytes = fread(data, 1, limit, stream);
    (void)fclose(stream);
    assert_true(bytes > 0 && bytes < limit);
    return bytes;
}

static void test_not_a_problem_file(void **state) {
    fixture *f = *state;
    expect_error(f, TALUS_ERR_FILE, "cannot be opened: No such file or directory");
    put_bytes(f, "", 0);
    expect_error(f, TALUS_ERR_FORMAT, "is not an HDF5 file");
    put_bytes(f, "hello\n", 6);
    expect_error(f, TALUS_ERR_FORMAT, "is not an HDF5 file");
    assert_int_equal(remove(f->file), 0);
    assert_int_equal(mkdir(f->file, 0700), 0);
    expect_error(f, TALUS_ERR_FILE, "is a directory; an FCLIB file (HDF5) is needed");
    assert_int_equal(rmdir(f->file), 0);

    hid_t file = H5Fcreate(f->file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Fclose(file) >= 0);
    expect_error(f, TALUS_ERR_FORMAT,
                 "holds neither /fclib_local nor /fclib_global; it has: nothing");
    file = H5Fopen(f->file, H5F_ACC_RDWR, H5P_DEFAULT);
    const char *names[] = {"/beta", "/alpha", "/fclib"};
    for (int i = 0; i < 3; i++) {
        const hid_t group = H5Gcreate2(file, names[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(group >= 0 && H5Gclose(group) >= 0);
    }
    assert_true(
        H5Lcreate_external("other.hdf5", "/", file, "/fclib_local", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(file) >= 0);
    expect_error(f, TALUS_ERR_FORMAT,
                 "holds neither /fclib_local nor /fclib_global; it has: /alpha, /beta, /fclib, "
                 "/fclib_local");
    talus_problem *p = NULL;
    assert_int_equal(talus_fclib_read(f->ctx, NULL, &p, NULL), TALUS_ERR_ARG);
    assert_int_equal(talus_fclib_read(f->ctx, f->file, NULL, NULL), TALUS_ERR_ARG);
    assert_int_equal(talus_fclib_read(NULL, f->file, &p, NULL), TALUS_ERR_ARG);
}

// What to do to one entry of a valid file.
typedef enum spoil_kind {
    SPOIL_INT,    // value[index] = number
    SPOIL_DOUBLE, // the same
    SPOIL_DELETE,
    SPOIL_LENGTH, // replaced by `index` zeros of its own type
    SPOIL_TYPE,   // replaced by the other type, same length
    SPOIL_RANK,   // replaced by rank 2
    SPOIL_HUGE,   // replaced by an extent of 1e12 without storage
    SPOIL_GROUP,  // replaced by a group
} spoil_kind;

typedef struct spoil {
    bool is_global;
    spoil_kind kind;
    const char *entry;
    int64_t index;
    double number;
    const char *expected;
} spoil;

static void spoil_replace(hid_t file, const spoil *s, bool is_float, hsize_t length) {
    static const double zeros[LONGEST];
    hsize_t extent[2] = {length, 1};
    if (s->kind == SPOIL_HUGE) extent[0] = 1000000000000;
    if (s->kind == SPOIL_LENGTH) extent[0] = (hsize_t)s->index;
    if (s->kind == SPOIL_TYPE) is_float = !is_float;
    assert_true(H5Ldelete(file, s->entry, H5P_DEFAULT) >= 0);
    const hid_t space = H5Screate_simple(s->kind == SPOIL_RANK ? 2 : 1, extent, NULL);
    const hid_t set = H5Dcreate2(file, s->entry, is_float ? H5T_IEEE_F64LE : H5T_STD_I32LE, space,
                                 H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    if (s->kind != SPOIL_HUGE && extent[0] > 0)
        assert_true(H5Dwrite(set, is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, H5S_ALL, H5S_ALL,
                             H5P_DEFAULT, zeros) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

static void spoil_apply(fixture *f, const spoil *s) {
    const hid_t file = H5Fopen(f->file, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (s->kind == SPOIL_DELETE || s->kind == SPOIL_GROUP) {
        assert_true(H5Ldelete(file, s->entry, H5P_DEFAULT) >= 0);
        if (s->kind == SPOIL_GROUP) {
            const hid_t group = H5Gcreate2(file, s->entry, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            assert_true(group >= 0 && H5Gclose(group) >= 0);
        }
    } else {
        int integers[LONGEST];
        double numbers[LONGEST];
        const hid_t set = H5Dopen2(file, s->entry, H5P_DEFAULT);
        const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
        const hsize_t length = (hsize_t)H5Sget_simple_extent_npoints(space);
        const bool is_float = H5Tget_class(type) == H5T_FLOAT;
        assert_true(length < LONGEST);
        if (s->kind == SPOIL_INT) {
            assert_true(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers) >= 0);
            integers[s->index] = (int)s->number;
            assert_true(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers) >=
                        0);
        } else if (s->kind == SPOIL_DOUBLE) {
            assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >=
                        0);
            numbers[s->index] = s->number;
            assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >=
                        0);
        }
        assert_true(H5Tclose(type) >= 0 && H5Sclose(space) >= 0 && H5Dclose(set) >= 0);
        if (s->kind > SPOIL_DELETE) spoil_replace(file, s, is_float, length);
    }
    assert_true(H5Fclose(file) >= 0);
}

#define L "/fclib_local/"
#define G "/fclib_global/"

static void test_spoiled_entries(void **state) {
    fixture *f = *state;
    static const spoil cases[] = {
        {false, SPOIL_INT, L "spacedim", 0, 4,
         L "spacedim = 4: must be 2 or 3 (or 6, symmetric tensors)"},
        {false, SPOIL_INT, L "spacedim", 0, 2,
         L "vectors/q has 12 values; 8 are needed (spacedim for each mu)"},
        {false, SPOIL_DELETE, L "spacedim", 0, 0, L "spacedim is missing"},
        {false, SPOIL_LENGTH, L "spacedim", 2, 0, L "spacedim has 2 values; one is needed"},
        {false, SPOIL_TYPE, L "spacedim", 0, 0,
         L "spacedim has the wrong type; integers (32 or 64 bit) are needed"},
        {false, SPOIL_DELETE, L "W", 0, 0, L "W is missing"},
        {false, SPOIL_GROUP, L "W", 0, 0, L "W/m is missing"},
        {false, SPOIL_GROUP, L "W/x", 0, 0, L "W/x is damaged or is not a dataset"},
        {false, SPOIL_INT, L "W/m", 0, -3, L "W/m = -3: must not be negative"},
        {false, SPOIL_INT, L "W/n", 0, -1, L "W/n = -1: must not be negative"},
        {false, SPOIL_INT, L "W/n", 0, 13,
         L "W is 12 x 13; it must be 12 x 12 (spacedim for each mu)"},
        {false, SPOIL_INT, L "W/m", 0, 2147483647,
         L "W/p has 13 values; 2147483648 are needed (m + 1)"},
        {false, SPOIL_INT, L "W/nz", 0, -3,
         L "W/nz = -3: must be -2 (compressed rows), -1 (compressed columns) or the number of "
           "entries"},
        {false, SPOIL_INT, L "W/nz", 0, 500, L "W/p has 13 values; at least nz = 500 are needed"},
        {false, SPOIL_INT, L "W/nzmax", 0, 100,
         L "W/nzmax = 100: must be at least the number of entries, 126"},
        {false, SPOIL_INT, L "W/p", 0, 1, L "W/p[0] = 1: must be 0"},
        {false, SPOIL_INT, L "W/p", 5, 2, L "W/p[5] = 2: must not be below the 39 before it"},
        {false, SPOIL_INT, L "W/p", 12, 127,
         L "W/nzmax = 126: must be at least the number of entries, 127"},
        {false, SPOIL_INT, L "W/i", 17, 99, L "W/i[17] = 99: column index must be below 12"},
        {false, SPOIL_INT, L "W/i", 3, -1, L "W/i[3] = -1: column index must not be negative"},
        {false, SPOIL_LENGTH, L "W/i", 9, 0, L "W/i has 9 values; the matrix has 126 entries"},
        {false, SPOIL_LENGTH, L "W/x", 9, 0, L "W/x has 9 values; the matrix has 126 entries"},
        {false, SPOIL_TYPE, L "W/x", 0, 0,
         L "W/x has the wrong type; floating-point numbers are needed"},
        {false, SPOIL_RANK, L "W/x", 0, 0, L "W/x must be a list (rank 1)"},
        {false, SPOIL_HUGE, L "W/x", 0, 0,
         L "W/x claims 1000000000000 values, which the file does not hold"},
        {false, SPOIL_HUGE, L "vectors/mu", 0, 0,
         L "vectors/mu claims 1000000000000 values, which the file does not hold"},
        {false, SPOIL_DOUBLE, L "W/x", 20, (double)NAN, L "W/x[20] = nan: must be a finite number"},
        {false, SPOIL_DOUBLE, L "vectors/q", 4, (double)INFINITY,
         L "vectors/q[4] = inf: must be a finite number"},
        {false, SPOIL_DELETE, L "vectors/q", 0, 0, L "vectors/q is missing"},
        {false, SPOIL_DELETE, L "vectors", 0, 0, L "vectors/mu is missing"},
        {false, SPOIL_DOUBLE, L "vectors/mu", 3, -0.5,
         L "vectors/mu[3] = -0.5: a friction coefficient must be 0 or more"},
        {false, SPOIL_DOUBLE, L "vectors/mu", 0, (double)NAN,
         L "vectors/mu[0] = nan: a friction coefficient must be 0 or more"},
        {false, SPOIL_LENGTH, L "vectors/mu", 3, 0,
         L "vectors/q has 12 values; 9 are needed (spacedim for each mu)"},
        {false, SPOIL_DELETE, L "R", 0, 0,
         "/fclib_local has V but not R; constraint rows need both V and R"},
        {false, SPOIL_DELETE, L "vectors/s", 0, 0, L "vectors/s is missing"},
        {false, SPOIL_INT, L "R/n", 0, 3, L "R is 2 x 3; it must be 2 x 2 (square)"},
        {false, SPOIL_INT, L "V/m", 0, 13,
         L "V is 13 x 2; it must be 12 x 2 (rows of W x rows of R)"},
        {false, SPOIL_INT, L "V/i", 1, 12, L "V/i[1] = 12: row index must be below 12"},
        {false, SPOIL_INT, L "V/p", 1, 2, L "V/p[1] = 2: column index must be below 2"},
        {false, SPOIL_INT, L "talus/law", 0, 2,
         L "talus/law = 2: must be 0 (coulomb) or 1 (associated)"},
        {false, SPOIL_LENGTH, L "talus/yield", 3, 0,
         L "talus/yield has 3 values; 4 are needed (one per contact)"},
        {false, SPOIL_DOUBLE, L "talus/tension", 3, (double)NAN,
         L "talus/tension[3] = nan: must be a finite number"},
        {false, SPOIL_LENGTH, "/solution/r", 11, 0,
         "/solution/r has 11 values; 12 are needed (spacedim for each mu)"},
        {false, SPOIL_HUGE, "/solution/u", 0, 0,
         "/solution/u claims 1000000000000 values, which the file does not hold"},
        {false, SPOIL_DOUBLE, "/solution/l", 1, (double)NAN,
         "/solution/l[1] = nan: must be a finite number"},
        {false, SPOIL_INT, "/guesses/number_of_guesses", 0, 2000000000,
         "/guesses/number_of_guesses = 2000000000: there are 1 guesses"},
        {false, SPOIL_INT, "/guesses/number_of_guesses", 0, -1,
         "/guesses/number_of_guesses = -1: there are 1 guesses"},
        {false, SPOIL_TYPE, L "vectors/mu", 0, 0,
         L "vectors/mu has the wrong type; floating-point numbers are needed"},
        {true, SPOIL_DELETE, G "M", 0, 0, G "M is missing"},
        {true, SPOIL_DELETE, G "H", 0, 0, G "H is missing"},
        {true, SPOIL_INT, G "M/n", 0, 16, G "M is 15 x 16; it must be 15 x 15 (square)"},
        {true, SPOIL_INT, G "H/m", 0, 16,
         G "H is 16 x 12; it must be 15 x 12 (rows of M x spacedim for each mu)"},
        {true, SPOIL_INT, G "H/p", 2, 12, G "H/p[2] = 12: column index must be below 12"},
        {true, SPOIL_INT, G "H/i", 2, 15, G "H/i[2] = 15: row index must be below 15"},
        {true, SPOIL_LENGTH, G "vectors/f", 14, 0,
         G "vectors/f has 14 values; 15 are needed (rows of M)"},
        {true, SPOIL_DOUBLE, G "vectors/w", 1, (double)NAN,
         G "vectors/w[1] = nan: must be a finite number"},
        {true, SPOIL_DELETE, G "vectors/b", 0, 0, G "vectors/b is missing"},
        {true, SPOIL_INT, G "G/m", 0, 16,
         G "G is 16 x 2; it must be 15 x 2 (rows of M x constraints)"},
        {true, SPOIL_LENGTH, "/solution/v", 3, 0,
         "/solution/v has 3 values; 15 are needed (velocity unknowns)"},
        {true, SPOIL_LENGTH, "/guesses/1/l", 3, 0,
         "/guesses/1/l has 3 values; 2 are needed (constraints)"},
        {true, SPOIL_INT, G "talus/body_start", 1, 10,
         G "talus/body_start[2] = 9: must be above the 10 before it"},
        {true, SPOIL_INT, G "talus/body_start", 3, 14,
         G "talus/body_start ends with 14: must end with the number of unknowns, 15"},
        {true, SPOIL_INT, G "talus/body_start", 0, 1,
         G "talus/body_start must list the first unknown of each body, from 0 on, and the number "
           "of unknowns at the end"},
        {true, SPOIL_TYPE, G "info/title", 0, 0,
         G "info/title must be one string of at most 1048576 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_victim(f, cases[i].is_global);
        spoil_apply(f, &cases[i]);
        expect_error(f, TALUS_ERR_FORMAT, cases[i].expected);
    }
}

// Errors that only the problem itself can see carry the name of the file too.
static void test_invalid_problem(void **state) {
    fixture *f = *state;
    static const spoil cases[] = {
        {false, SPOIL_DOUBLE, L "talus/yield", 3, -1.0, NULL},
        {false, SPOIL_DOUBLE, L "W/x", 0, -1e3, NULL},
        {true, SPOIL_DOUBLE, G "M/x", 0, -1e3, NULL},
        {true, SPOIL_DOUBLE, G "M/x", 0, 1e308, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_victim(f, cases[i].is_global);
        spoil_apply(f, &cases[i]);
        const talus_status status = read_any(f);
        if (i < 3) assert_int_not_equal(status, TALUS_OK);
    }
}

// Bodies whose M is coupled across them, and bodies larger than a dense block should be: sparse M.
static void test_coarse_bodies(void **state) {
    fixture *f = *state;
    make_victim(f, true);
    const spoil finer = {true, SPOIL_INT, G "talus/body_start", 1, 5, NULL};
    spoil_apply(f, &finer);
    talus_problem *p = fclib_read_ok(f, NULL);
    assert_int_equal(p->body_start[1], 5);
    assert_false(tl_mass_is_block_diagonal(p->mass));
    f->random = 99;
    double skipped[SIZE];
    fclib_random_vector(f, SIZE, skipped);
    const global_data d = fclib_global_data(f, 3);
    fclib_assert_global(p, &d);
    talus_problem_destroy(p);
}

static void test_other_storage(void **state) {
    fixture *f = *state;
    // Chunked and compressed, other byte order and width: what other programs may write.
    make_victim(f, false);
    const hid_t file = H5Fopen(f->file, H5F_ACC_RDWR, H5P_DEFAULT);
    double q[12];
    hid_t set = H5Dopen2(file, L "vectors/q", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q) >= 0);
    assert_true(H5Dclose(set) >= 0);
    assert_true(H5Ldelete(file, L "vectors/q", H5P_DEFAULT) >= 0);
    const hsize_t extent = 12, chunk = 5;
    const hid_t space = H5Screate_simple(1, &extent, NULL);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(plist, 1, &chunk) >= 0 && H5Pset_deflate(plist, 6) >= 0);
    set = H5Dcreate2(file, L "vectors/q", H5T_IEEE_F64BE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Pclose(plist) >= 0);

    int dim = 3;
    assert_true(H5Ldelete(file, L "spacedim", H5P_DEFAULT) >= 0);
    const hid_t scalar = H5Screate(H5S_SCALAR);
    set = H5Dcreate2(file, L "spacedim", H5T_STD_I64BE, scalar, H5P_DEFAULT, H5P_DEFAULT,
                     H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &dim) >= 0);
    assert_true(H5Dclose(set) >= 0);

    const char *title = "of variable length";
    assert_true(H5Ldelete(file, L "info/title", H5P_DEFAULT) >= 0);
    const hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0);
    set = H5Dcreate2(file, L "info/title", type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &title) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(scalar) >= 0 && H5Tclose(type) >= 0);
    assert_true(H5Fclose(file) >= 0);

    talus_fclib_extra extra;
    talus_problem *p = fclib_read_ok(f, &extra);
    assert_string_equal(extra.title, title);
    fclib_assert_same(p->given_q, q, 12);
    talus_fclib_extra_clear(f->ctx, &extra);
    talus_problem_destroy(p);
}

// Created and never written: zeros where the length is right, in guesses and solutions only.
static void test_unwritten(void **state) {
    fixture *f = *state;
    const char *entries[] = {"/solution/r", L "vectors/q"};
    for (int i = 0; i < 2; i++) {
        make_victim(f, false);
        const hid_t file = H5Fopen(f->file, H5F_ACC_RDWR, H5P_DEFAULT);
        const hsize_t extent = 12;
        const hid_t space = H5Screate_simple(1, &extent, NULL);
        assert_true(H5Ldelete(file, entries[i], H5P_DEFAULT) >= 0);
        const hid_t set = H5Dcreate2(file, entries[i], H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
        if (i == 1) {
            expect_error(f, TALUS_ERR_FORMAT,
                         L "vectors/q claims 12 values, which the file does not hold");
            continue;
        }
        talus_fclib_extra extra;
        talus_problem *p = fclib_read_ok(f, &extra);
        for (int k = 0; k < 12; k++) assert_true(extra.solution->r[k] == 0.0);
        talus_fclib_extra_clear(f->ctx, &extra);
        talus_problem_destroy(p);
    }
}

static void test_truncated(void **state) {
    fixture *f = *state;
    static unsigned char data[1 << 17];
    for (int is_global = 0; is_global < 2; is_global++) {
        make_victim(f, is_global);
        const size_t bytes = get_bytes(f, data, sizeof data);
        for (size_t n = 0; n < bytes; n += 97) {
            put_bytes(f, data, n);
            assert_int_not_equal(read_any(f), TALUS_OK);
        }
        put_bytes(f, data, bytes - 1);
        (void)read_any(f);
    }
}

static void test_flipped_bytes(void **state) {
    fixture *f = *state;
    static unsigned char data[1 << 17];
    const char *wish = getenv("TALUS_FLIPS"); // more of them, by hand
    const int flips = wish ? atoi(wish) : 250;
    int errors = 0;
    for (int is_global = 0; is_global < 2; is_global++) {
        make_victim(f, is_global);
        const size_t bytes = get_bytes(f, data, sizeof data);
        for (int i = 0; i < flips; i++) {
            const size_t at = (size_t)(0.5 * (fclib_random(f) + 1.0) * (double)bytes);
            const unsigned char old = data[at];
            data[at] = (unsigned char)(128.0 * (fclib_random(f) + 1.0));
            put_bytes(f, data, bytes);
            errors += read_any(f) != TALUS_OK;
            data[at] = old;
        }
    }
    assert_true(errors > 0);
}

static void test_allocation_failures(void **state) {
    fixture *f = *state;
    for (int is_global = 0; is_global < 2; is_global++) {
        make_victim(f, is_global);
        talus_problem *p = fclib_read_ok(f, NULL);
        for (int writing = 0; writing < 2; writing++) {
            const int64_t live = f->memory.live;
            talus_status status = TALUS_ERR_MEMORY;
            for (int64_t n = 1; status != TALUS_OK; n++) {
                assert_true(n < 10000);
                f->memory.fail_at = f->memory.requests + n;
                talus_problem *q = NULL;
                talus_fclib_extra extra = {0};
                status = writing ? talus_fclib_write(f->ctx, f->file, p, NULL)
                                 : talus_fclib_read(f->ctx, f->file, &q, &extra);
                f->memory.fail_at = 0;
                if (status == TALUS_OK) {
                    assert_true(n > 3);
                    talus_problem_destroy(q);
                    talus_fclib_extra_clear(f->ctx, &extra);
                } else {
                    assert_int_equal(status, TALUS_ERR_MEMORY);
                    assert_null(q);
                }
                assert_int_equal(f->memory.live, live);
                assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
            }
        }
        talus_problem_destroy(p);
    }
}

// When writing fails the old file stays and nothing else is left (tear_down looks).
static void test_failed_write(void **state) {
    fixture *f = *state;
    static unsigned char before[1 << 17], after[1 << 17];
    make_victim(f, true);
    const size_t bytes = get_bytes(f, before, sizeof before);
    const local_data d = fclib_local_data(f, 3);
    talus_problem *p = fclib_make_local(f, &d, false, false);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 0; limit < 6000; limit += 500) {
        small = (struct rlimit){limit, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const talus_status status = talus_fclib_write(f->ctx, f->file, p, NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, TALUS_ERR_FILE);
        assert_non_null(strstr(talus_context_last_error(f->ctx), f->file));
        assert_int_equal(get_bytes(f, after, sizeof after), bytes);
        assert_memory_equal(before, after, bytes);
        assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    }
    (void)signal(SIGXFSZ, handler);

    char path[256];
    (void)snprintf(path, sizeof path, "%s/none/a.hdf5", f->dir);
    assert_int_equal(talus_fclib_write(f->ctx, path, p, NULL), TALUS_ERR_FILE);
    assert_non_null(strstr(talus_context_last_error(f->ctx), path));
    assert_int_equal(remove(f->file), 0);
    assert_int_equal(mkdir(f->file, 0700), 0);
    assert_int_equal(talus_fclib_write(f->ctx, f->file, p, NULL), TALUS_ERR_FILE);
    assert_int_equal(rmdir(f->file), 0);
    assert_int_equal(talus_fclib_write(f->ctx, f->file, NULL, NULL), TALUS_ERR_ARG);
    talus_problem_destroy(p);
}

static void test_error_stack_is_kept(void **state) {
    fixture *f = *state;
    H5E_auto2_t before = NULL, after = NULL;
    void *data = NULL;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &before, &data) >= 0);
    put_bytes(f, "hello\n", 6);
    (void)read_any(f);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &after, &data) >= 0);
    assert_true(before == after && before != NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fclib_set_up, fclib_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_not_a_problem_file),  TEST(test_spoiled_entries),
        TEST(test_invalid_problem),     TEST(test_coarse_bodies),
        TEST(test_other_storage),       TEST(test_unwritten),
        TEST(test_truncated),           TEST(test_flipped_bytes),
        TEST(test_allocation_failures), TEST(test_failed_write),
        TEST(test_error_stack_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
