// SPDX-License-Identifier: Apache-2.0
// Polygons in place of the disc, against the pyramid as it is defined by q directions and a norm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "cone/facets.h"
#include <stdbool.h>

static const double pi = 3.14159265358979323846;

// |(e_j·x)_j|_p with e_j = d_j / |(d_j·d_k)_k|_p and d_j at the angles jπ/q; p = 1 or (`max`) ∞.
static double gauge(int q, bool max, const double x[2]) {
    double all = 0.0;
    for (int j = 0; j < q; j++) {
        const double d[2] = {cos(j * pi / q), sin(j * pi / q)};
        double own = 0.0;
        for (int k = 0; k < q; k++) {
            const double part = fabs(d[0] * cos(k * pi / q) + d[1] * sin(k * pi / q));
            own = max ? fmax(own, part) : own + part;
        }
        const double part = fabs(d[0] * x[0] + d[1] * x[1]) / own;
        all = max ? fmax(all, part) : all + part;
    }
    return all;
}

// Smallest and largest distance of the border of { gauge <= 1 } from the centre.
static void range(int q, bool max, double *low, double *high) {
    *low = INFINITY;
    *high = 0.0;
    for (int k = 0; k < 10080; k++) { // has all corners and middles of sides for q <= 10
        const double x[2] = {cos(2.0 * pi * k / 10080), sin(2.0 * pi * k / 10080)};
        const double radius = 1.0 / gauge(q, max, x);
        *low = fmin(*low, radius);
        *high = fmax(*high, radius);
    }
}

static void radii(void **state) {
    (void)state;
    const struct {
        int q;
        double low, high;
    } known[] = {{2, 0.7071, 1.0}, {3, 1.0, 1.1547}, {4, 0.9239, 1.0}}; // p = 1, four digits
    for (int k = 0; k < 3; k++) {
        double low, high, inner, outer;
        range(known[k].q, false, &low, &high);
        tl_facet_radii(known[k].q, tl_facet_sum_shape(known[k].q), &inner, &outer);
        assert_true(fabs(low - known[k].low) <= 5e-5 && fabs(high - known[k].high) <= 5e-5);
        assert_true(fabs(inner - known[k].low) <= 5e-5 && fabs(outer - known[k].high) <= 5e-5);
    }
    for (int q = 2; q <= 10; q++)
        for (int max = 0; max < 2; max++) {
            double low, high, inner, outer;
            range(q, max, &low, &high);
            tl_facet_radii(q, max ? TL_FACETS_AROUND : tl_facet_sum_shape(q), &inner, &outer);
            assert_true(fabs(inner - low) <= 1e-12 && fabs(outer - high) <= 1e-12);
        }
}

// The corners are those of { gauge <= 1 }: on its border, all of them, in order.
static void corners(void **state) {
    (void)state;
    for (int q = 2; q <= 10; q++)
        for (int max = 0; max < 2; max++) {
            const tl_facet_shape shape = max ? TL_FACETS_AROUND : tl_facet_sum_shape(q);
            double inner, outer;
            tl_facet_radii(q, shape, &inner, &outer);
            for (int j = 0; j < 2 * q; j++) {
                double a[2], b[2], opposite[2];
                tl_facet_corner(q, shape, j, a);
                tl_facet_corner(q, shape, (j + 1) % (2 * q), b);
                tl_facet_corner(q, shape, (j + q) % (2 * q), opposite);
                const double middle[2] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])};
                assert_true(fabs(gauge(q, max, a) - 1.0) <= 1e-12);
                assert_true(fabs(gauge(q, max, middle) - 1.0) <= 1e-12); // so is the side
                assert_true(fabs(hypot(a[0], a[1]) - outer) <= 1e-12);
                assert_true(fabs(hypot(middle[0], middle[1]) - inner) <= 1e-12);
                assert_true(a[0] * b[1] - a[1] * b[0] > 0.0); // anticlockwise
                assert_true(opposite[0] == -a[0] && opposite[1] == -a[1]);
            }
        }
    // In the disc with an odd number of directions, which no norm gives.
    double a[2];
    tl_facet_corner(3, TL_FACETS_INSIDE, 1, a);
    assert_true(fabs(a[0] - 0.5) <= 1e-15 && fabs(a[1] - sqrt(0.75)) <= 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(radii), cmocka_unit_test(corners)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
