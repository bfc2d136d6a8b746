// SPDX-License-Identifier: Apache-2.0
// Dense and sparse kernels against plain elimination, and what they say of singular matrices.
#include "base/context.h"
#include "base/rng.h"
#include "linalg/dense.h"
#include "linalg/spd.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 220 };
static double a[MAX * MAX], factor[MAX * MAX];

static talus_context *make_context(void) {
    talus_context *ctx = NULL;
    assert_int_equal(talus_context_create(NULL, &ctx), TALUS_OK);
    return ctx;
}

// a = G Gᵀ of rank `rank`, with very different units of the unknowns when `scaled`.
static void fill_gram(tl_rng *rng, int n, int rank, bool scaled) {
    static double g[MAX * MAX];
    for (int k = 0; k < n * rank; k++) g[k] = tl_rng_normal(rng);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) sum += g[i * rank + k] * g[j * rank + k];
            a[i * n + j] = sum * (scaled ? pow(10.0, (i % 7) - 3) * pow(10.0, (j % 7) - 3) : 1.0);
        }
}

static void spd_blocks(void **state) {
    (void)state;
    tl_rng rng = {1};
    for (int n = 1; n <= 40; n++)
        for (int scaled = 0; scaled < 2; scaled++) {
            double x[3 * MAX], y[MAX], b[MAX];
            fill_gram(&rng, n, n + 3, scaled);
            memcpy(factor, a, sizeof factor);
            assert_int_equal(tl_spd_block_factor(n, factor, TL_PIVOT_TOLERANCE(n)), -1);
            for (int k = 0; k < n; k++) b[k] = x[k] = x[2 * MAX + k] = tl_rng_normal(&rng);
            tl_spd_block_solve(n, factor, 2, x, (int64_t)2 * MAX);
            assert_memory_equal(x, x + 2 * MAX, (size_t)n * sizeof *x);
            verify_multiply(n, n, a, x, y);
            for (int i = 0; i < n; i++) { // backward error, in the units of row i
                double size = fabs(b[i]);
                for (int j = 0; j < n; j++) size += fabs(a[i * n + j] * x[j]);
                assert_true(fabs(y[i] - b[i]) <= 1e-13 * size);
            }
        }
}

// A matrix of rank n − 1 is found out, in all units; so is a negative diagonal entry.
static void singular_blocks(void **state) {
    (void)state;
    tl_rng rng = {2};
    for (int n = 2; n <= 40; n++)
        for (int scaled = 0; scaled < 2; scaled++) {
            for (int i = 0; i < n;
                 i++) // I − 1 1ᵀ/n: rank n − 1, every other pivot well away from 0
                for (int j = 0; j < n; j++)
                    a[i * n + j] = ((i == j) - 1.0 / n) *
                                   (scaled ? pow(10.0, (i % 7) - 3) * pow(10.0, (j % 7) - 3) : 1.0);
            assert_int_equal(tl_spd_block_factor(n, a, TL_PIVOT_TOLERANCE(n)), n - 1);
            fill_gram(&rng, n, n, scaled);
            a[(n / 2) * n + n / 2] *= -1.0;
            assert_int_equal(tl_spd_block_factor(n, a, TL_PIVOT_TOLERANCE(n)), n / 2);
        }
}

static void lu(void **state) {
    (void)state;
    tl_rng rng = {3};
    int32_t pivot[40], iwork[40];
    double work[160], x[80], y[40], rcond;
    for (int n = 1; n <= 40; n++) {
        for (int k = 0; k < n * n; k++) a[k] = tl_rng_normal(&rng);
        for (int k = 0; k < n * n; k++) factor[(k % n) * n + k / n] = a[k]; // column major
        assert_int_equal(tl_lu_factor(n, factor, pivot, &rcond, work, iwork), -1);
        assert_true(rcond > 1e-8 && rcond <= 1.0);
        for (int k = 0; k < n; k++) x[k] = x[n + k] = tl_rng_normal(&rng);
        assert_true(verify_solve(n, a, x, y));
        tl_lu_solve(n, factor, pivot, 2, x);
        for (int k = 0; k < 2 * n; k++)
            assert_true(fabs(x[k] - y[k % n]) <= 1e-13 / rcond * verify_norm(n, y));
    }
    const double flat[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1};
    memcpy(factor, flat, sizeof flat);
    const int32_t bad = tl_lu_factor(3, factor, pivot, &rcond, work, iwork);
    assert_true(bad >= 0 || rcond < 1e-15);
}

// Eigenvalues of Q diag Qᵀ with Q a product of plane rotations.
static void eigenvalues(void **state) {
    (void)state;
    tl_rng rng = {4};
    for (int trial = 0; trial < 300; trial++) {
        const int d = 1 + trial % 6;
        double m[36] = {0}, low = INFINITY, high = -INFINITY, l, h;
        for (int i = 0; i < d; i++) {
            m[i * d + i] = tl_rng_normal(&rng) * pow(10.0, tl_rng_range(&rng, -8, 0));
            low = fmin(low, m[i * d + i]);
            high = fmax(high, m[i * d + i]);
        }
        for (int p = 0; p < d; p++)
            for (int q = p + 1; q < d; q++) {
                const double angle = 6.0 * tl_rng_unit(&rng), c = cos(angle), s = sin(angle);
                for (int k = 0; k < d; k++) {
                    const double x = m[k * d + p], y = m[k * d + q];
                    m[k * d + p] = c * x - s * y;
                    m[k * d + q] = s * x + c * y;
                }
                for (int k = 0; k < d; k++) {
                    const double x = m[p * d + k], y = m[q * d + k];
                    m[p * d + k] = c * x - s * y;
                    m[q * d + k] = s * x + c * y;
                }
            }
        if (d > 1) { // the antisymmetric part must not count
            m[1] += .5;
            m[d] -= .5;
        }
        tl_sym_eigen_range(d, m, &l, &h);
        const double size = fmax(fabs(low), fabs(high));
        assert_true(fabs(l - low) <= 1e-14 * (size + 1) && fabs(h - high) <= 1e-14 * (size + 1));
    }
}

static tl_csr csr_of_dense(talus_context *ctx, int n) {
    static int64_t start[MAX + 1];
    static int32_t index[MAX * MAX];
    static double value[MAX * MAX];
    const tl_csr_names names = {"A", "row", "column"};
    int64_t to = 0;
    for (int i = 0; i < n; i++) {
        for (int j = n - 1; j >= 0; j--) { // backwards: the copy must sort
            if (a[i * n + j] == 0.0) continue;
            index[to] = j;
            value[to++] = a[i * n + j];
        }
        start[i + 1] = to;
    }
    tl_csr out;
    assert_int_equal(tl_csr_create(ctx, &names, n, n, start, index, value, &out), TALUS_OK);
    return out;
}

// CHOLMOD with sparse (simplicial) and full (supernodal) factors; singular ones of both kinds.
static void sparse_spd(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    tl_rng rng = {5};
    const int sizes[] = {1, 5, 60, 200};
    for (int full = 0; full < 2; full++)
        for (int s = 0; s < 4; s++) {
            const int n = sizes[s];
            if (full) {
                fill_gram(&rng, n, n + 10, true);
            } else {
                memset(a, 0, sizeof a);
                for (int i = 0; i < n; i++) a[i * n + i] = 2.0;
                for (int i = 1; i < n; i++) a[i * n + i - 1] = a[(i - 1) * n + i] = -1.0;
            }
            tl_csr m = csr_of_dense(ctx, n);
            tl_spd *spd;
            int32_t bad;
            assert_int_equal(tl_spd_create(ctx, &m, TL_PIVOT_TOLERANCE(n), &bad, &spd), TALUS_OK);
            assert_int_equal(bad, -1);
            static double x[3 * MAX], b[3 * MAX], y[MAX];
            for (int k = 0; k < 3 * n; k++) b[k] = x[k] = tl_rng_normal(&rng);
            assert_int_equal(tl_spd_solve(spd, 3, x), TALUS_OK);
            for (int c = 0; c < 3; c++) {
                verify_multiply(n, n, a, x + c * n, y);
                for (int i = 0; i < n; i++) {
                    double size = fabs(b[c * n + i]);
                    for (int j = 0; j < n; j++) size += fabs(a[i * n + j] * x[c * n + j]);
                    assert_true(fabs(y[i] - b[c * n + i]) <= 1e-13 * size);
                }
            }
            tl_spd_destroy(spd);
            tl_csr_clear(ctx, &m);
        }
    for (int kind = 0; kind < 4; kind++) { // singular full, singular chain, negative, zero diagonal
        const int n = kind == 0 ? 200 : 50;
        int32_t bad;
        tl_spd *spd;
        memset(a, 0, sizeof a);
        if (kind == 0) fill_gram(&rng, n, n - 1, false);
        for (int i = 0; kind > 0 && i < n; i++) a[i * n + i] = i == 0 || i == n - 1 ? 1.0 : 2.0;
        for (int i = 1; kind > 0 && i < n; i++) a[i * n + i - 1] = a[(i - 1) * n + i] = -1.0;
        if (kind == 2) a[7 * n + 7] = -2.0;
        if (kind == 3) a[9 * n + 9] = 0.0;
        tl_csr m = csr_of_dense(ctx, n);
        assert_int_equal(tl_spd_create(ctx, &m, 1e-12, &bad, &spd), TALUS_ERR_SINGULAR);
        assert_null(spd);
        assert_true(kind == 2 ? bad == 7 : kind == 3 ? bad == 9 : bad >= 0 && bad < n);
        tl_csr_clear(ctx, &m);
    }
    talus_context_destroy(ctx);
}

// New values on an old pattern: what a factor made from them gives, to the bit; values that are not
// definite are found out and do no harm to later ones.
static void sparse_refactor(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    tl_rng rng = {6};
    const int sizes[] = {1, 5, 60, 200};
    for (int full = 0; full < 2; full++)
        for (int s = 0; s < 4; s++) {
            const int n = sizes[s];
            memset(a, 0, sizeof a);
            if (full) fill_gram(&rng, n, n + 10, true);
            for (int i = 0; !full && i < n; i++) a[i * n + i] = 2.0;
            for (int i = 1; !full && i < n; i++) a[i * n + i - 1] = a[(i - 1) * n + i] = -1.0;
            tl_csr m = csr_of_dense(ctx, n);
            tl_spd *spd, *fresh;
            int32_t bad;
            static double x[MAX], y[MAX];
            assert_int_equal(tl_spd_create(ctx, &m, TL_PIVOT_TOLERANCE(n), &bad, &spd), TALUS_OK);
            for (int round = 0; round < 5; round++) {
                const int64_t requests = tl_alloc_count(ctx);
                for (int32_t i = 0; i < n; i++) {
                    for (int64_t k = m.start[i]; k < m.start[i + 1]; k++)
                        if (m.index[k] == i) m.value[k] *= round == 2 ? -1.0 : 1.5;
                }
                const talus_status status = tl_spd_refactor(spd, &m);
                assert_true(tl_alloc_count(ctx) == requests);
                assert_int_equal(status, round == 2 ? TALUS_ERR_SINGULAR : TALUS_OK);
                for (int32_t i = 0; i < n && round == 2; i++) // back
                    for (int64_t k = m.start[i]; k < m.start[i + 1]; k++)
                        if (m.index[k] == i) m.value[k] *= -1.0;
                if (round == 2) continue;
                for (int k = 0; k < n; k++) x[k] = y[k] = tl_rng_normal(&rng);
                assert_int_equal(tl_spd_solve(spd, 1, x), TALUS_OK);
                assert_int_equal(tl_spd_create(ctx, &m, TL_PIVOT_TOLERANCE(n), &bad, &fresh),
                                 TALUS_OK);
                assert_int_equal(tl_spd_solve(fresh, 1, y), TALUS_OK);
                assert_memory_equal(x, y, (size_t)n * sizeof *x);
                tl_spd_destroy(fresh);
            }
            tl_spd_destroy(spd);
            tl_csr_clear(ctx, &m);
        }
    talus_context_destroy(ctx);
}
static void sparse_products(void **state) {
    (void)state;
    talus_context *ctx = make_context();
    const tl_csr_names names = {"A", "row", "column"};
    const int64_t start[] = {0, 4, 4, 6};
    const int32_t index[] = {3, 0, 3, 1, 2, 0}; // unsorted, (0, 3) twice
    const double value[] = {1, 2, 4, 8, 16, 32}, x[] = {1, 2, 3, 4}, z[] = {1, 10, 100};
    tl_csr m, t;
    assert_int_equal(tl_csr_create(ctx, &names, 3, 4, start, index, value, &m), TALUS_OK);
    assert_int_equal(m.start[3], 5);
    assert_true(tl_csr_at(&m, 0, 3) == 5.0 && tl_csr_at(&m, 0, 2) == 0.0);
    assert_true(tl_csr_at(&m, 2, 0) == 32.0 && tl_csr_at(&m, 1, 0) == 0.0);
    double y[3] = {1, 1, 1}, v[4] = {0};
    tl_csr_add(&m, 2.0, x, y);
    assert_true(y[0] == 1 + 2 * (2 + 16 + 20) && y[1] == 1 && y[2] == 1 + 2 * (32 + 48));
    tl_csr_add_transposed(&m, -1.0, z, v);
    assert_true(v[0] == -3202 && v[1] == -8 && v[2] == -1600 && v[3] == -5);
    assert_int_equal(tl_csr_transpose(ctx, &m, &t), TALUS_OK);
    assert_true(t.rows == 4 && t.cols == 3 && tl_csr_at(&t, 3, 0) == 5.0);
    tl_csr_clear(ctx, &t);
    tl_csr_clear(ctx, &m);
    talus_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spd_blocks),
        cmocka_unit_test(singular_blocks),
        cmocka_unit_test(lu),
        cmocka_unit_test(eigenvalues),
        cmocka_unit_test(sparse_spd),
        cmocka_unit_test(sparse_refactor),
        cmocka_unit_test(sparse_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
