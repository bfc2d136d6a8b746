// SPDX-License-Identifier: Apache-2.0
// The one-contact solvers that iterate over normal and tangent (fixed-point, four-sides), with and
// without the enumeration behind them, and visits that may end early.
#include "cone/local.h"
#include "support/cone_judge.h"
#include "support/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct one {
    double w[9], b[3], q[3];
    tl_local p;
} one;

// W = 1 + a mild random part, so that Coulomb's problem has one solution: |W_NT| mu < W_NN.
static void one_make(tl_rng *rng, int d, one *x) {
    double g[9], trace = 0.0;
    memset(x, 0, sizeof *x);
    for (int k = 0; k < d * d; k++) g[k] = tl_rng_range(rng, -0.5, 0.5);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            x->w[i * d + j] = i == j ? 1.0 : 0.0;
            for (int k = 0; k < d; k++) x->w[i * d + j] += g[i * d + k] * g[j * d + k];
        }
    for (int k = 0; k < d; k++) {
        trace += x->w[k * d + k];
        x->b[k] = tl_rng_normal(rng);
        x->q[k] = tl_rng_normal(rng);
    }
    x->p = (tl_local){.w = x->w,
                      .b = x->b,
                      .free = x->q,
                      .law = {.mu = tl_rng_range(rng, 0.1, 0.6)},
                      .rho = 1.0 / trace};
}

static int solve(const char *name, int d, const tl_local *p, int iterations, double *r) {
    const tl_local_control control = {.tolerance = 1e-10, .iterations = iterations};
    return tl_local_find(name)->forms->solve[tl_dim_index(d)](p, &control, r);
}

static double distance(int d, const double *a, const double *b) {
    double sum = 0.0;
    for (int k = 0; k < d; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

// With as many rounds as it takes, the fixed point is the solution that the enumeration finds: an
// error of 1e-10 relative to numbers of order one is a distance of less than 1e-8.
static void fixed_point_is_coulomb(void **state) {
    (void)state;
    tl_rng rng = {701};
    int pressed = 0;
    for (int k = 0; k < 4000; k++) {
        const int d = 2 + k % 2;
        one x;
        double r[3] = {0}, y[3] = {0};
        one_make(&rng, d, &x);
        assert_true(solve("fixed-point", d, &x.p, 100000, r) >= 0);
        assert_true(solve("enum", d, &x.p, 20, y) >= 0);
        assert_true(judge_local_error(d, &x.p, r, false) <= 1.01e-10);
        assert_true(distance(d, r, y) <= 1e-8);
        pressed += r[0] > 0.0;
    }
    assert_true(pressed > 1000);
}

// One round is seldom enough: then the enumeration takes over, and the count says so.
static void enumeration_saves(void **state) {
    (void)state;
    static const char *const names[] = {"fixed-point-enum", "four-sides-enum"};
    for (int m = 0; m < 2; m++) {
        tl_rng rng = {702};
        int saved = 0, own = 0;
        for (int k = 0; k < 4000; k++) {
            const int d = 2 + k % 2;
            one x;
            double r[3] = {0};
            one_make(&rng, d, &x);
            const int steps = solve(names[m], d, &x.p, 2, r);
            assert_true(steps >= 0);
            assert_true(judge_local_error(d, &x.p, r, false) <= 1.01e-10);
            *(steps >= TL_LOCAL_SAVED ? &saved : &own) += 1;
        }
        assert_true(saved > 500 && own > 500); // half of b are open, and need no other
    }
}

// Its fixed point obeys the law of a box that is turned to the free velocity, side by side.
static void four_sides_own_law(void **state) {
    (void)state;
    tl_rng rng = {703};
    int slid = 0, held = 0;
    for (int k = 0; k < 4000; k++) {
        one x;
        double r[3] = {0}, u[3];
        one_make(&rng, 3, &x);
        assert_true(solve("four-sides", 3, &x.p, 100000, r) >= 0);
        verify_local_u(3, x.w, x.b, r, u);
        assert_true(r[0] >= 0.0 && u[0] >= -1e-8 && fmin(r[0], u[0]) <= 1e-8);
        const double size = hypot(x.q[1], x.q[2]), e[2] = {x.q[1] / size, x.q[2] / size};
        const double limit = x.p.law.mu * r[0];
        const double rt[2] = {e[0] * r[1] + e[1] * r[2], e[0] * r[2] - e[1] * r[1]};
        const double ut[2] = {e[0] * u[1] + e[1] * u[2], e[0] * u[2] - e[1] * u[1]};
        for (int i = 0; i < 2 && r[0] > 1e-6; i++) {
            assert_true(fabs(rt[i]) <= limit * (1.0 + 1e-12));
            if (fabs(rt[i]) < limit * (1.0 - 1e-6)) {
                assert_true(fabs(ut[i]) <= 1e-8);
                held++;
            } else {
                assert_true(ut[i] * rt[i] <= 1e-8);
                slid++;
            }
        }
    }
    assert_true(slid > 500 && held > 500);
}

// Along a side of the box the pyramid is the cone: W a multiple of 1 and b_T along the free
// velocity.
static void four_sides_along_a_side(void **state) {
    (void)state;
    tl_rng rng = {704};
    for (int k = 0; k < 1000; k++) {
        one x;
        double r[3] = {0}, y[3] = {0};
        one_make(&rng, 3, &x);
        for (int i = 0; i < 9; i++) x.w[i] = i % 4 == 0 ? 2.0 : 0.0;
        const double share = tl_rng_range(&rng, -2.0, 2.0);
        for (int i = 1; i < 3; i++) x.b[i] = share * x.q[i];
        assert_true(solve("four-sides", 3, &x.p, 100, r) >= 0);
        assert_true(solve("enum", 3, &x.p, 20, y) >= 0);
        assert_true(distance(3, r, y) <= 1e-9);
    }
}

// Where |F| is small enough as it is, a visit changes nothing; without that leave it goes on.
static void visits_end_early(void **state) {
    (void)state;
    static const char *const names[] = {"fb", "ac", "fixed-point", "hybrid-newton"};
    tl_rng rng = {705};
    int near = 0;
    for (int k = 0; k < 2000; k++) {
        one x;
        double y[3] = {0};
        one_make(&rng, 3, &x);
        assert_true(solve("enum", 3, &x.p, 20, y) >= 0);
        for (int i = 0; i < 3; i++) y[i] += 1e-4 * tl_rng_normal(&rng);
        if (!(tl_local_error(3, &x.p, y) > 1e-6)) continue; // else it is solved already
        for (int m = 0; m < 4; m++) {
            double r[3];
            memcpy(r, y, sizeof r);
            // F has slopes of order one, so that |F| is below 1e-2 here
            x.p.least = 1e-2 / 1e-10;
            assert_int_equal(solve(names[m], 3, &x.p, 50, r), 0);
            assert_memory_equal(r, y, sizeof r);
            x.p.least = 0.0;
            assert_true(solve(names[m], 3, &x.p, 50, r) != 0);
            assert_true(memcmp(r, y, sizeof r) != 0);
        }
        near++;
    }
    assert_true(near > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_point_is_coulomb), cmocka_unit_test(enumeration_saves),
        cmocka_unit_test(four_sides_own_law),     cmocka_unit_test(four_sides_along_a_side),
        cmocka_unit_test(visits_end_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
