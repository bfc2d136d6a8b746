// SPDX-License-Identifier: Apache-2.0
// Small problems with known numbers, and a folder to write them to, for the tests of FCLIB files.
#ifndef TALUS_TESTS_FCLIB_CASES_H
#define TALUS_TESTS_FCLIB_CASES_H
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include "support/alloc.h"
#include "talus/file.h"

#define COUNT 4 // contacts
#define SIZE 24 // at most dim * COUNT
#define DOF 15  // bodies of 6, 3 and 6 unknowns
#define ROWS 2  // constraint rows

typedef struct fixture {
    talus_context *ctx;
    test_alloc memory;
    char dir[64];
    char file[128]; // a path in dir
    uint64_t random;
} fixture;

/// For cmocka. Tearing down fails when memory leaked or a file was left in the folder.
int fclib_set_up(void **state);
int fclib_tear_down(void **state);

/// Uniform in [-1, 1), the same in every run.
double fclib_random(fixture *f);
void fclib_random_vector(fixture *f, int n, double *x);

/// A local problem, dense; the blocks (0,3) and (3,0) of W are absent.
typedef struct local_data {
    int dim, size;
    double w[SIZE * SIZE], q[SIZE], mu[COUNT], dilatancy[COUNT], yield[COUNT], tension[COUNT];
    double v[SIZE * ROWS], r[ROWS * ROWS], s[ROWS];
} local_data;

local_data fclib_local_data(fixture *f, int dim);
talus_problem *fclib_make_local(fixture *f, const local_data *d, bool with_rows, bool with_law);
/// W, q and mu of `p` are those of `d`, bit for bit.
void fclib_assert_local(const talus_problem *p, const local_data *d);

/// A global problem, dense; H is dim * COUNT × DOF, C is ROWS × DOF; the law is `associated`.
typedef struct global_data {
    int dim, size;
    double m[DOF * DOF], h[SIZE * DOF], f[DOF], w[SIZE], mu[COUNT], c[ROWS * DOF], k[ROWS];
} global_data;

extern const int32_t fclib_body[4]; // its bodies
global_data fclib_global_data(fixture *f, int dim);
talus_problem *fclib_make_global(fixture *f, const global_data *d, bool with_rows);
/// M, H, f, w and mu of `p` are those of `d`, bit for bit.
void fclib_assert_global(const talus_problem *p, const global_data *d);

/// To and from f->file; a failure fails the test.
void fclib_write_ok(fixture *f, const talus_problem *p, const talus_fclib_extra *extra);
talus_problem *fclib_read_ok(fixture *f, talus_fclib_extra *extra);

/// Equal bits.
void fclib_assert_same(const double *a, const double *b, int64_t n);

#endif // TALUS_TESTS_FCLIB_CASES_H
