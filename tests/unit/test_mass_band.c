// SPDX-License-Identifier: Apache-2.0
// Mass blocks that are bands: the same problem whether they are given as bands or dense, and what
// is refused.
#include "base/rng.h"
#include "problem/mass.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/context.h"

enum { BODIES = 3, DOF = 6 + 90 + 40, MOST = 90 };

static const int32_t start[BODIES + 1] = {0, 6, 96, DOF}, width[BODIES] = {-1, 10, 3};

typedef struct both {
    double dense[6 * 6 + 90 * 90 + 40 * 40], band[6 * 6 + 90 * 11 + 40 * 4], full[DOF * DOF];
} both;

static void make(tl_rng *rng, both *b) {
    double *dense = b->dense, *band = b->band;
    memset(b, 0, sizeof *b);
    for (int32_t k = 0; k < BODIES; k++) {
        const int32_t n = start[k + 1] - start[k], w = width[k] < 0 ? n - 1 : width[k];
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = j; i < n && i <= j + w; i++) {
                const double value = tl_rng_normal(rng) + (i == j ? 2.0 * w + 8.0 : 0.0);
                dense[i * n + j] = dense[j * n + i] = value;
                b->full[(start[k] + i) * DOF + start[k] + j] = value;
                b->full[(start[k] + j) * DOF + start[k] + i] = value;
                if (width[k] >= 0) band[j * (w + 1) + i - j] = value;
            }
        if (width[k] < 0) memcpy(band, dense, (size_t)(n * n) * sizeof *band);
        dense += n * n;
        band += width[k] < 0 ? n * n : n * (w + 1);
    }
}

static void near_to(double is, double should_be, double within) {
    if (!(fabs(is - should_be) <= within))
        fail_msg("%.17g is not %.17g within %g", is, should_be, within);
}

static void bands_are_blocks(void **state) {
    (void)state;
    tl_rng rng = {3};
    static both b;
    make(&rng, &b);
    tl_mass *m = NULL;
    for (int given = 0; given < 2; given++) { // the second takes the place of the first
        assert_int_equal(tl_mass_set_blocks(ctx, BODIES, start, given ? width : NULL,
                                            given ? b.band : b.dense, &m),
                         TALUS_OK);
        double x[DOF], y[DOF], z[DOF] = {0}, block[MOST * MOST];
        for (int k = 0; k < DOF; k++) x[k] = tl_rng_normal(&rng);
        tl_mass_multiply(m, x, y);
        for (int i = 0; i < DOF; i++)
            for (int j = 0; j < DOF; j++) z[i] += b.full[i * DOF + j] * x[j];
        for (int k = 0; k < DOF; k++) near_to(y[k], z[k], 1e-11);
        assert_int_equal(tl_mass_solve(m, 1, y), TALUS_OK);
        for (int k = 0; k < DOF; k++) near_to(y[k], x[k], 1e-12);
        for (int32_t k = 0; k < BODIES; k++) {
            const int32_t n = start[k + 1] - start[k];
            assert_ptr_equal(tl_mass_get_body(m, k, false, block), block + (ptrdiff_t)n * n);
            for (int32_t i = 0; i < n; i++)
                for (int32_t j = 0; j < n; j++)
                    assert_true(block[i * n + j] == b.full[(start[k] + i) * DOF + start[k] + j]);
        }
        const int64_t entries = tl_mass_entry_count(m);
        static int32_t row[DOF * DOF], col[DOF * DOF];
        static double value[DOF * DOF];
        int64_t expected = 0;
        for (int k = 0; k < DOF * DOF; k++) expected += b.full[k] != 0.0;
        assert_int_equal(entries, expected);
        tl_mass_entries(m, row, col, value);
        for (int64_t k = 0; k < entries; k++) {
            assert_true(value[k] == b.full[row[k] * DOF + col[k]]);
            assert_true(k == 0 || col[k - 1] < col[k] ||
                        (col[k - 1] == col[k] && row[k - 1] < row[k]));
        }
    }
    tl_mass_destroy(m);
}

static void refuses(const int32_t *band, const double *block, talus_status status,
                    const char *word) {
    tl_mass *m = NULL;
    assert_int_equal(tl_mass_set_blocks(ctx, BODIES, start, band, block, &m), status);
    assert_null(m);
    if (!strstr(talus_context_last_error(ctx), word))
        fail_msg("'%s' does not say '%s'", talus_context_last_error(ctx), word);
}

static void bad_bands(void **state) {
    (void)state;
    tl_rng rng = {4};
    static both b;
    make(&rng, &b);
    const int32_t wide[BODIES] = {-1, 90, 3}, odd[BODIES] = {-1, 10, -2};
    refuses(wide, b.band, TALUS_ERR_ARG, "mass_band of body 1 is 90");
    refuses(odd, b.band, TALUS_ERR_ARG, "mass_band of body 2 is -2");
    double *body = b.band + 36; // the band of body 1
    const double kept = body[11 * 20 + 2];
    body[11 * 20 + 2] = NAN;
    refuses(width, b.band, TALUS_ERR_PROBLEM, "entry (22, 20) of the block of body 1");
    body[11 * 20 + 2] = kept;
    body[11 * 89 + 1] = NAN; // below the last row: ignored
    tl_mass *m = NULL;
    assert_int_equal(tl_mass_set_blocks(ctx, BODIES, start, width, b.band, &m), TALUS_OK);
    tl_mass_destroy(m);
    body[11 * 30] = -1.0;
    refuses(width, b.band, TALUS_ERR_SINGULAR, "body 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bands_are_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_bands, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
