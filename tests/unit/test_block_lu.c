// SPDX-License-Identifier: Apache-2.0
// The block LU against dense elimination: patterns from chains to full, every block size, subsets
// of the blocks, several factorisations of one analysis.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "linalg/block_lu.h"
#include "support/context.h"
#include "support/verify.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 24, SIZE = 6 * MOST };

typedef struct matrix {
    int d;
    int32_t n;
    int64_t start[MOST + 1];
    int32_t adjacent[MOST * MOST];
    double dense[SIZE * SIZE];
} matrix;

// A random symmetric pattern (density in [0, 1]) with unsymmetric numbers, `weight` on the
// diagonal.
static void fill(matrix *m, int d, int32_t n, double density, double weight, uint64_t seed) {
    tl_rng rng = {seed};
    bool coupled[MOST][MOST] = {{false}};
    memset(m, 0, sizeof *m);
    m->d = d;
    m->n = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            coupled[i][j] = coupled[j][i] = tl_rng_unit(&rng) < density || j == i - 1;
    const int size = d * n;
    int64_t put = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (coupled[i][j]) m->adjacent[put++] = j;
            if (!coupled[i][j] && i != j) continue;
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++)
                    m->dense[(i * d + a) * size + j * d + b] =
                        tl_rng_normal(&rng) + (i == j && a == b ? weight : 0.0);
        }
        m->start[i + 1] = put;
    }
}

static void block(const void *user, int32_t i, int64_t edge, double *a) {
    const matrix *m = user;
    const int32_t j = edge < 0 ? i : m->adjacent[edge];
    for (int row = 0; row < m->d; row++)
        for (int col = 0; col < m->d; col++)
            a[row * m->d + col] = m->dense[(i * m->d + row) * m->d * m->n + j * m->d + col];
}

// The subsystem of the active blocks by plain elimination.
static void check(const matrix *m, const bool *active, const double *b, const double *x) {
    static double sub[SIZE * SIZE];
    double right[SIZE], expected[SIZE];
    int index[SIZE], count = 0;
    for (int k = 0; k < m->d * m->n; k++)
        if (active[k / m->d]) index[count++] = k;
    for (int i = 0; i < count; i++) {
        right[i] = b[index[i]];
        for (int j = 0; j < count; j++)
            sub[i * count + j] = m->dense[index[i] * m->d * m->n + index[j]];
    }
    assert_true(verify_solve(count, sub, right, expected));
    for (int i = 0; i < count; i++)
        if (!(fabs(x[index[i]] - expected[i]) <= 1e-9 * (1.0 + fabs(expected[i]))))
            fail_msg("d %d n %d: x[%d] = %g, expected %g", m->d, m->n, index[i], x[index[i]],
                     expected[i]);
    for (int k = 0; k < m->d * m->n; k++)
        if (!active[k / m->d]) assert_true(x[k] == b[k]);
}

static void against_elimination(void **state) {
    (void)state;
    static matrix m;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const int dims[] = {2, 3, 6}, d = dims[seed % 3];
        const int32_t n = 1 + (int32_t)(seed * 7 % MOST);
        const double densities[] = {0.0, 0.1, 0.4, 1.0};
        fill(&m, d, n, densities[seed % 4], 4.0 * sqrt((double)(d * n)), seed);
        tl_block_lu *lu = NULL;
        assert_int_equal(tl_block_lu_create(ctx, d, n, m.start, m.adjacent, 1e9, &lu), TALUS_OK);
        assert_non_null(lu);
        const tl_block_source source = {.user = &m, .block = block};
        tl_rng rng = {1000 + seed};
        const int64_t requests = memory.requests;
        for (int repeat = 0; repeat < 4; repeat++) {
            bool active[MOST];
            double b[SIZE], x[SIZE];
            for (int i = 0; i < n; i++) active[i] = repeat == 0 || tl_rng_unit(&rng) < 0.6;
            for (int k = 0; k < d * n; k++) b[k] = x[k] = tl_rng_normal(&rng);
            assert_true(tl_block_lu_factor(lu, active, &source));
            tl_block_lu_solve(lu, x);
            check(&m, active, b, x);
        }
        assert_true(memory.requests == requests); // all was allocated by create
        tl_block_lu_destroy(lu);
    }
}

// A chain is factored without fill: two blocks more than its couplings would be too many.
static void chain_does_not_fill(void **state) {
    (void)state;
    static matrix m;
    fill(&m, 3, MOST, 0.0, 10.0, 1);
    tl_block_lu *lu = NULL;
    assert_int_equal(tl_block_lu_create(ctx, 3, MOST, m.start, m.adjacent, 1e9, &lu), TALUS_OK);
    assert_true(lu->fill_start[MOST] == MOST - 1);
    tl_block_lu_destroy(lu);
}

static bool stop_at_once(const void *user) {
    (void)user;
    return true;
}

static void refusals(void **state) {
    (void)state;
    static matrix m;
    fill(&m, 3, 5, 1.0, 10.0, 2);
    tl_block_lu *lu = (tl_block_lu *)&m;
    const bool all[5] = {true, true, true, true, true};
    assert_int_equal(tl_block_lu_create(ctx, 3, 5, m.start, m.adjacent, 100.0, &lu), TALUS_OK);
    assert_null(lu); // too large for 100 bytes
    assert_int_equal(tl_block_lu_create(ctx, 3, 5, m.start, m.adjacent, 1e6, &lu), TALUS_OK);
    assert_false(
        tl_block_lu_factor(lu, all, &(tl_block_source){&m, .block = block, .stop = stop_at_once}));
    memset(m.dense, 0, sizeof m.dense); // a pivot that vanishes
    assert_false(tl_block_lu_factor(lu, all, &(tl_block_source){&m, .block = block}));
    tl_block_lu_destroy(lu);
    tl_block_lu_destroy(NULL);
    const int64_t none[1] = {0}; // no block at all
    assert_int_equal(tl_block_lu_create(ctx, 2, 0, none, NULL, 1e6, &lu), TALUS_OK);
    assert_true(tl_block_lu_factor(lu, all, &(tl_block_source){&m, .block = block}));
    tl_block_lu_destroy(lu);
    fill(&m, 2, 6, 0.5, 10.0, 3);
    for (int64_t k = 1;; k++) { // every allocation that fails is told and undone
        const int64_t live = memory.live;
        memory.fail_at = memory.requests + k;
        const talus_status status = tl_block_lu_create(ctx, 2, 6, m.start, m.adjacent, 1e6, &lu);
        memory.fail_at = 0;
        if (status == TALUS_OK) break;
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_true(memory.live == live);
    }
    tl_block_lu_destroy(lu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(against_elimination, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chain_does_not_fill, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
