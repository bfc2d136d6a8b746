// SPDX-License-Identifier: Apache-2.0
// Coordinates in which the cone is round and W_ii diagonal, and the associated law solved in them.
#include "base/rng.h"
#include "cone/lorentz.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CASES = 100000 };

// A block Q diag(1, 10^−x, 10^−y) Qᵀ up to a factor, with x and y up to `decades`.
static void block_make(tl_rng *rng, double decades, double w[9]) {
    double q[3][3], size[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) q[i][k] = tl_rng_range(rng, -1.0, 1.0);
        for (int j = 0; j < i; j++) { // Gram and Schmidt
            double dot = 0.0;
            for (int k = 0; k < 3; k++) dot += q[i][k] * q[j][k];
            for (int k = 0; k < 3; k++) q[i][k] -= dot * q[j][k];
        }
        double square = 0.0;
        for (int k = 0; k < 3; k++) square += q[i][k] * q[i][k];
        for (int k = 0; k < 3; k++) q[i][k] /= sqrt(square);
        size[i] = pow(10.0, i == 0 ? tl_rng_range(rng, -6.0, 6.0) : 0.0);
        if (i > 0) size[i] = size[0] * pow(10.0, -tl_rng_range(rng, 0.0, decades));
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            w[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) w[3 * i + j] += size[k] * q[k][i] * q[k][j];
            w[3 * j + i] = w[3 * i + j];
        }
}

// Zᵀ diag(−mu², 1, 1) Z = diag(−1, 1, 1) and Zᵀ W Z = diag(m), and Z puts the axis into the cone.
static void both_are_diagonal(void **state) {
    (void)state;
    tl_rng rng = {.state = 5};
    int made = 0;
    for (int c = 0; c < CASES; c++) {
        double w[9];
        tl_lorentz l;
        const double mu = pow(10.0, tl_rng_range(&rng, -1.5, 0.5));
        block_make(&rng, 2.0, w);
        if (!tl_lorentz_make(w, mu, &l)) continue;
        made++;
        const double cone[3] = {-mu * mu, 1.0, 1.0};
        assert_true(l.z[0] > 0.0 && mu * l.z[0] >= hypot(l.z[3], l.z[6]));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double round = 0.0, weight = 0.0, size = 0.0;
                for (int a = 0; a < 3; a++) {
                    round += l.z[3 * a + i] * cone[a] * l.z[3 * a + j];
                    size += fabs(l.z[3 * a + i] * cone[a] * l.z[3 * a + j]);
                    for (int b = 0; b < 3; b++)
                        weight += l.z[3 * a + i] * w[3 * a + b] * l.z[3 * b + j];
                }
                const double m = i == j ? l.m[i] : 0.0;
                assert_true(fabs(weight - m) <= 1e-9 * sqrt(l.m[i] * l.m[j]));
                assert_true(fabs(round - (i != j   ? 0.0
                                          : i == 0 ? -1.0
                                                   : 1.0)) <= 1e-9 * fmax(size, 1.0));
            }
    }
    assert_true(made > CASES * 9 / 10);
}

// r lies in the cone, u in its dual, and they are orthogonal.
static void the_law_is_obeyed(void **state) {
    (void)state;
    tl_rng rng = {.state = 6};
    int open = 0, stick = 0, slide = 0, failed = 0;
    for (int c = 0; c < CASES; c++) {
        double w[9], b[3], r[3], u[3];
        tl_lorentz l;
        const double mu = pow(10.0, tl_rng_range(&rng, -1.5, 0.5));
        block_make(&rng, c % 2 ? 3.0 : 0.5, w);
        for (int k = 0; k < 3; k++) b[k] = tl_rng_range(&rng, -1.0, k == 0 ? 0.3 : 1.0);
        if (c % 7 == 0) b[1] = b[2] = 0.0;
        if (c % 11 == 0) b[0] = 0.0;
        if (!tl_lorentz_make(w, mu, &l)) continue;
        if (!lorentz_quick(&l, b, r)) {
            failed++;
            continue;
        }
        double force = 0.0, speed = 0.0, power = 0.0, load = 0.0;
        for (int i = 0; i < 3; i++) {
            u[i] = b[i];
            load += b[i] * b[i];
            for (int k = 0; k < 3; k++) u[i] += w[3 * i + k] * r[k];
        }
        for (int i = 0; i < 3; i++) {
            force += r[i] * r[i];
            speed += u[i] * u[i];
            power += u[i] * r[i];
        }
        force = sqrt(force), load = sqrt(load);
        assert_true(hypot(r[1], r[2]) <= mu * r[0] + 1e-9 * force);
        assert_true(mu * hypot(u[1], u[2]) <= u[0] + 1e-9 * load);
        assert_true(fabs(power) <= 1e-9 * force * load);
        if (force == 0.0)
            open++;
        else if (sqrt(speed) < 1e-9 * load)
            stick++;
        else
            slide++;
    }
    assert_true(open > CASES / 50 && stick > CASES / 50 && slide > CASES / 5);
    assert_true(failed < CASES / 1000);
}

static void what_is_no_block_is_refused(void **state) {
    (void)state;
    tl_lorentz l;
    const double crooked[9] = {1, 0.1, 0, 0, 1, 0, 0, 0, 1}, flat[9] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    const double round[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_false(tl_lorentz_make(crooked, 0.5, &l));
    assert_false(tl_lorentz_make(flat, 0.5, &l));
    assert_false(tl_lorentz_make(round, 0.0, &l));
    assert_false(tl_lorentz_make(round, 1e-4, &l)); // rounding would leave 1e-8
    assert_true(tl_lorentz_make(round, 0.5, &l));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_are_diagonal),
                                       cmocka_unit_test(the_law_is_obeyed),
                                       cmocka_unit_test(what_is_no_block_is_refused)};
    return cmocka_run_group_tests_name("unit/lorentz", tests, NULL, NULL);
}
