// SPDX-License-Identifier: Apache-2.0
// Lemke's method on complementarity problems: against all bases tried out, with ties, without an
// answer, and the dictionary built anew.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "solve/lcp.h"
#include "support/context.h"
#include "support/verify.h"
#include <math.h>
#include <string.h>

enum { MOST = 12 };

typedef struct lcp_case {
    int n;
    double m[MOST * MOST], q[MOST];
} lcp_case;

// A Aᵀ + 1/4 plus a skew part: positive definite, not symmetric. `whole`: entries are whole numbers
// and those of q 0 or −1, so that nearly every ratio ties with another.
static void make(uint64_t seed, int n, bool whole, lcp_case *c) {
    tl_rng rng = {.state = seed};
    double a[MOST * MOST];
    c->n = n;
    for (int k = 0; k < n * n; k++) {
        a[k] = tl_rng_range(&rng, -1.5, 1.5);
        if (whole) a[k] = rint(a[k]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? (whole ? 1.0 : 0.25) : 0.0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * a[j * n + k];
            c->m[i * n + j] = sum + a[i * n + j] - a[j * n + i];
        }
    for (int i = 0; i < n; i++) {
        c->q[i] = tl_rng_normal(&rng) - 0.3;
        if (whole) c->q[i] = c->q[i] < 0.0 ? -1.0 : 0.0;
    }
}

static void fill(const lcp_case *c, tl_lcp *lcp) {
    for (int i = 0; i < c->n; i++) {
        for (int j = 0; j < c->n; j++) tl_lcp_row(lcp, i)[j] = c->m[i * c->n + j];
        *tl_lcp_constant(lcp, i) = c->q[i];
    }
}

static tl_lcp_state run(const lcp_case *c, tl_lcp *lcp, int most) {
    tl_lcp_state state = TL_LCP_GOES_ON;
    fill(c, lcp);
    tl_lcp_begin(lcp);
    for (int k = 0; k < most && state == TL_LCP_GOES_ON; k++) state = tl_lcp_pivot(lcp);
    return state;
}

// The largest violation of w >= 0, z >= 0, wᵀz = 0.
static double violation(const lcp_case *c, const double *z) {
    double worst = 0.0;
    for (int i = 0; i < c->n; i++) {
        double w = c->q[i];
        for (int j = 0; j < c->n; j++) w += c->m[i * c->n + j] * z[j];
        worst = fmax(worst, fmax(fmax(-w, -z[i]), fabs(w * z[i])));
    }
    return worst;
}

// The solution by trying all 2^n bases.
static void enumerate(const lcp_case *c, double *z) {
    for (int set = 0; set < 1 << c->n; set++) {
        double a[MOST * MOST], b[MOST], x[MOST];
        int member[MOST], m = 0;
        for (int i = 0; i < c->n; i++)
            if (set >> i & 1) member[m++] = i;
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) a[i * m + j] = c->m[member[i] * c->n + member[j]];
            b[i] = -c->q[member[i]];
        }
        if (!verify_solve(m, a, b, x)) continue;
        memset(z, 0, (size_t)c->n * sizeof *z);
        for (int i = 0; i < m; i++) z[member[i]] = x[i];
        if (violation(c, z) <= 1e-11) return;
    }
    fail_msg("no basis solves it");
}

static void random_problems(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const int n = 1 + (int)(seed % 7);
        lcp_case c;
        tl_lcp lcp = {0};
        double z[MOST], expected[MOST];
        make(seed, n, false, &c);
        assert_int_equal(tl_lcp_create(ctx, n, &lcp), TALUS_OK);
        assert_int_equal(run(&c, &lcp, 200), TL_LCP_SOLVED);
        tl_lcp_get(&lcp, z);
        enumerate(&c, expected); // unique: M is positive definite
        for (int k = 0; k < n; k++) assert_true(fabs(z[k] - expected[k]) <= 1e-10);
        tl_lcp_clear(ctx, &lcp);
    }
}

// Ties everywhere: it ends, and with the answer.
static void ties(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        const int n = 3 + (int)(seed % 10);
        lcp_case c;
        tl_lcp lcp = {0};
        double z[MOST];
        make(seed, n, true, &c);
        assert_int_equal(tl_lcp_create(ctx, n, &lcp), TALUS_OK);
        assert_int_equal(run(&c, &lcp, 500), TL_LCP_SOLVED);
        tl_lcp_get(&lcp, z);
        assert_true(violation(&c, z) <= 1e-11);
        tl_lcp_clear(ctx, &lcp);
    }
}

// Of equal ratios the lexicographic rule takes the row whose part of B⁻¹ comes first. With q as
// here all three rows tie at the first pivot (the last must go), and after it rows 0 and 1 stand at
// zero. Perturbing q by (ε, ε², ε³) gives the same sequence without a tie.
static void lexicographic(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        lcp_case c;
        tl_lcp one = {0}, two = {0};
        make(seed, 4, true, &c);
        for (int i = 0; i < c.n; i++) c.q[i] = -1.0;
        assert_int_equal(tl_lcp_create(ctx, c.n, &one), TALUS_OK);
        assert_int_equal(tl_lcp_create(ctx, c.n, &two), TALUS_OK);
        fill(&c, &one);
        for (int i = 0; i < c.n; i++) c.q[i] += pow(1e-2, i + 1);
        fill(&c, &two);
        tl_lcp_begin(&one);
        tl_lcp_begin(&two);
        for (int k = 0; k < 50; k++) {
            const tl_lcp_state a = tl_lcp_pivot(&one), b = tl_lcp_pivot(&two);
            if (a == TL_LCP_SOLVED) break; // z0 is preferred in a tie
            assert_int_equal(a, b);
            assert_int_equal(one.entering, two.entering);
            assert_memory_equal(one.basic, two.basic, (size_t)c.n * sizeof *one.basic);
        }
        tl_lcp_clear(ctx, &one);
        tl_lcp_clear(ctx, &two);
    }
}

static void no_answer(void **state) {
    (void)state;
    // w = −z − 1 is never positive.
    lcp_case c = {.n = 2, .m = {-1.0, 0.0, 0.0, -1.0}, .q = {-1.0, -1.0}};
    tl_lcp lcp = {0};
    assert_int_equal(tl_lcp_create(ctx, 2, &lcp), TALUS_OK);
    assert_int_equal(run(&c, &lcp, 20), TL_LCP_RAY);
    // Nothing to do.
    c.q[0] = c.q[1] = 0.0;
    double z[2];
    assert_int_equal(run(&c, &lcp, 1), TL_LCP_SOLVED);
    tl_lcp_get(&lcp, z);
    assert_true(z[0] == 0.0 && z[1] == 0.0);
    tl_lcp_clear(ctx, &lcp);
    tl_lcp_clear(ctx, &lcp);
}

// From any basis on the way, the dictionary built anew goes the same way on.
static void restored(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const int n = 5 + (int)(seed % 6);
        lcp_case c;
        tl_lcp lcp = {0};
        double z[MOST], again[MOST];
        int pivots = 0;
        make(seed, n, false, &c);
        assert_int_equal(tl_lcp_create(ctx, n, &lcp), TALUS_OK);
        fill(&c, &lcp);
        tl_lcp_begin(&lcp);
        for (tl_lcp_state s = TL_LCP_GOES_ON; s == TL_LCP_GOES_ON; pivots++) s = tl_lcp_pivot(&lcp);
        tl_lcp_get(&lcp, z);
        for (int stop = 0; stop <= pivots; stop++) {
            tl_lcp_state s = run(&c, &lcp, stop);
            tl_lcp_remember(&lcp);
            for (int i = 0; i < n; i++)
                memset(tl_lcp_row(&lcp, i), 0, (size_t)lcp.stride * sizeof *lcp.table);
            fill(&c, &lcp);
            tl_lcp_begin(&lcp);
            tl_lcp_state back;
            int exchanges = -1;
            do {
                back = tl_lcp_restore(&lcp);
                exchanges++;
            } while (back == TL_LCP_GOES_ON);
            assert_int_equal(back, TL_LCP_SOLVED);
            assert_true(exchanges <= n);
            int rest = stop;
            for (; s == TL_LCP_GOES_ON; rest++) s = tl_lcp_pivot(&lcp);
            assert_int_equal(rest, pivots);
            tl_lcp_get(&lcp, again);
            for (int k = 0; k < n; k++) assert_true(fabs(again[k] - z[k]) <= 1e-10);
        }
        tl_lcp_clear(ctx, &lcp);
    }
}

// Constants that are off come back, by the w that they cause.
static void corrected(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        lcp_case c;
        tl_lcp lcp = {0};
        tl_rng rng = {.state = seed};
        double z[MOST], off[MOST], w[MOST];
        make(seed, 8, false, &c);
        assert_int_equal(tl_lcp_create(ctx, 8, &lcp), TALUS_OK);
        assert_int_equal(run(&c, &lcp, 200), TL_LCP_SOLVED);
        tl_lcp_get(&lcp, z);
        for (int i = 0; i < 8; i++) *tl_lcp_constant(&lcp, i) += 1e-3 * tl_rng_normal(&rng);
        tl_lcp_get(&lcp, off);
        for (int i = 0; i < 8; i++) {
            w[i] = c.q[i];
            for (int j = 0; j < 8; j++) w[i] += c.m[i * 8 + j] * off[j];
        }
        tl_lcp_correct(&lcp, w);
        tl_lcp_get(&lcp, off);
        for (int k = 0; k < 8; k++) assert_true(fabs(off[k] - z[k]) <= 1e-10);
        tl_lcp_clear(ctx, &lcp);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_problems, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ties, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lexicographic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(restored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(corrected, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
