// SPDX-License-Identifier: Apache-2.0
// Three models of one chain (support/chains.h) against each other and against a fine reference:
// stiff segments with multipliers, masses with length constraints, reduced angles. The first two
// need the constraint rows C v = k of the problem, the third one none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/chains.h"
#include "support/context.h"
#include <math.h>
#include <string.h>

static chain_report step(chain *c, double h) {
    chain_report report;
    assert_int_equal(chain_step(ctx, c, h, &report), TALUS_OK);
    assert_int_equal(report.outcome, TALUS_OUTCOME_SOLVED);
    assert_true(report.certificate.motion <= 1e-10);
    assert_true(report.certificate.constraint <= 1e-9);
    return report;
}

static chain_report run(chain *c, double h, double until) {
    chain_report report = {0};
    const int steps = (int)lround(until / h);
    for (int k = 0; k < steps; k++) report = step(c, h);
    return report;
}

// Largest distance of the joints that both have, where b has a multiple of a's segments.
static double distance(const chain *a, const chain *b) {
    double xa[2 * CHAIN_MOST + 2], xb[2 * CHAIN_MOST + 2], worst = 0.0;
    const int every = b->n / a->n;
    chain_joints(a, xa);
    chain_joints(b, xb);
    for (int i = 1; i <= a->n; i++)
        worst = fmax(worst,
                     hypot(xa[2 * i] - xb[2 * i * every], xa[2 * i + 1] - xb[2 * i * every + 1]));
    return worst;
}

// A zigzag about a slope, the same curve for any number of segments that 4 divides.
static chain sample(chain_kind kind, int n) {
    double angle[CHAIN_MOST];
    for (int i = 0; i < n; i++) angle[i] = -0.3 + (4 * i / n % 2 ? 0.2 : -0.2);
    chain c = chain_make(kind, n, 1.0, 0.5, angle);
    c.stiffness = 0.02 * n; // bending stiffness 0.02 of the curve
    c.drag = 0.05;
    return c;
}

// Classical Runge-Kutta on the equations of the reduced chain.
static void reference(chain *c, double h, double until) {
    const int steps = (int)lround(until / h), n = c->n;
    for (int k = 0; k < steps; k++) {
        const chain begin = *c;
        double slope[4][2 * CHAIN_MOST];
        for (int stage = 0; stage < 4; stage++) {
            const double part = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h;
            for (int j = 0; j < n && stage > 0; j++) {
                c->q[j] = begin.q[j] + part * slope[stage - 1][j];
                c->v[j] = begin.v[j] + part * slope[stage - 1][n + j];
            }
            memcpy(slope[stage], c->v, (size_t)n * sizeof(double));
            chain_acceleration(c, slope[stage] + n);
        }
        for (int j = 0; j < n; j++) {
            c->q[j] = begin.q[j] +
                      h / 6.0 * (slope[0][j] + 2.0 * slope[1][j] + 2.0 * slope[2][j] + slope[3][j]);
            c->v[j] = begin.v[j] + h / 6.0 *
                                       (slope[0][n + j] + 2.0 * slope[1][n + j] +
                                        2.0 * slope[2][n + j] + slope[3][n + j]);
        }
    }
}

// One segment is a pendulum: a rod swings with ω² = 3 g / 2 l, a mass at its end with ω² = g / l.
// Against the quarter period for small angles, which steps of h miss by O(h).
static void test_pendulum(void **state) {
    (void)state;
    const double start = -1.5707963267948966 + 0.01;
    for (chain_kind kind = CHAIN_RIGID; kind <= CHAIN_REDUCED; kind++) {
        chain c = chain_make(kind, 1, 0.4, 0.3, &start);
        const double h = 1e-4;
        const double wanted =
            0.5 * 3.14159265358979 / sqrt(c.gravity / 0.4 * (kind == CHAIN_LUMPED ? 1.0 : 1.5));
        double x[4], before = 1.0, time = 0.0;
        for (;; time += h) {
            chain_joints(&c, x);
            if (x[2] < 0.0) break;
            before = x[2];
            step(&c, h);
        }
        time -= h * x[2] / (x[2] - before);
        assert_true(fabs(time - wanted) <= 1e-3 * wanted);
    }
}

// Stiff segments and reduced angles are one mechanical system: both must come to the same motion,
// that of the reference, with errors of first order in the step.
static void test_same_motion(void **state) {
    (void)state;
    const double until = 0.4;
    chain exact = sample(CHAIN_REDUCED, 4), fine = exact;
    reference(&exact, 1e-3, until);
    reference(&fine, 5e-4, until);
    assert_true(distance(&exact, &fine) <= 1e-8);
    for (int k = 0; k < 2; k++) {
        double error[3];
        for (int i = 0; i < 3; i++) {
            chain c = sample(k ? CHAIN_REDUCED : CHAIN_RIGID, 4);
            run(&c, 2e-3 / (1 << i), until);
            error[i] = distance(&c, &fine);
            assert_true(chain_gap(&c) <= 1e-4);
        }
        for (int i = 0; i < 2; i++) {
            assert_true(error[i] / error[i + 1] > 1.8);
            assert_true(error[i] / error[i + 1] < 2.2);
        }
        assert_true(error[2] <= 2e-3);
    }
}

// Masses at the joints are another system, which comes closer as the segments become shorter: its
// inertia differs by terms of the second order in their length.
static void test_lumped_converges(void **state) {
    (void)state;
    double apart[3];
    for (int i = 0; i < 3; i++) {
        chain a = sample(CHAIN_REDUCED, 4 << i), b = sample(CHAIN_LUMPED, 4 << i);
        const double h = 1e-3, until = 0.25;
        run(&a, h, until);
        run(&b, h, until);
        apart[i] = distance(&a, &b);
    }
    assert_true(apart[1] <= 0.6 * apart[0]);
    assert_true(apart[2] <= 0.6 * apart[1]);
}

// Without drag the energy stays, up to the order of the step.
static void test_energy(void **state) {
    (void)state;
    for (chain_kind kind = CHAIN_RIGID; kind <= CHAIN_REDUCED; kind++) {
        double drift[2], turned = 0.0;
        for (int i = 0; i < 2; i++) {
            chain c = sample(kind, 4);
            c.drag = 0.0;
            const double before = chain_energy(&c), h = 1e-3 / (1 << i);
            double worst = 0.0, lowest = 0.0;
            for (int k = 0; k < 400 << i; k++) {
                double x[2 * CHAIN_MOST + 2];
                step(&c, h);
                worst = fmax(worst, fabs(chain_energy(&c) - before));
                chain_joints(&c, x);
                lowest = fmin(lowest, x[2 * c.n + 1]);
            }
            drift[i] = worst;
            turned = 0.5 * 9.81 * -lowest; // energy that has been turned from one form to the other
        }
        assert_true(drift[1] <= 0.65 * drift[0]);
        assert_true(drift[1] <= 0.02 * turned);
    }
}

// A chain that falls on a floor: with friction it stops, the three models in one place; the floor
// carries what the root does not; without friction the tip slides back towards the root.
static void test_floor(void **state) {
    (void)state;
    chain rest[3];
    const double h = 4e-3;
    for (chain_kind kind = CHAIN_RIGID; kind <= CHAIN_REDUCED; kind++) {
        double tip[2];
        for (int smooth = 0; smooth < 2; smooth++) {
            chain c = sample(kind, 8);
            double x[2 * CHAIN_MOST + 2];
            c.floor = -0.35;
            c.mu = smooth ? 0.0 : 0.6;
            c.drag = 2.0;
            c.stiffness = 0.0;
            chain_report last = {0};
            for (int k = 0; k < 1500; k++) {
                last = step(&c, h);
                assert_true(last.certificate.residual <= 1e-8);
                assert_true(last.certificate.energy >= -1e-9);
                chain_joints(&c, x);
                for (int i = 1; i <= c.n; i++) assert_true(x[2 * i + 1] >= c.floor - 2e-3);
            }
            tip[smooth] = x[2 * c.n];
            assert_true(last.certificate.open < c.n);
            assert_true(last.impulse[0] > 0.0 && last.impulse[0] < h * 9.81 * 0.5);
            assert_true(fabs(last.impulse[1]) <= c.mu * last.impulse[0] + 1e-12);
            if (smooth) continue;
            rest[kind] = c;
            // at rest: nothing moves faster than the solver's tolerance and what is left of
            // swinging
            const chain before = c;
            run(&c, h, 0.2);
            assert_true(distance(&before, &c) <= 2e-6);
        }
        assert_true(tip[0] - tip[1] > 0.05);
    }
    assert_true(distance(&rest[0], &rest[2]) <= 0.005);
    assert_true(distance(&rest[0], &rest[1]) <= 0.02);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_pendulum), TEST(test_same_motion), TEST(test_lumped_converges),
        TEST(test_energy),   TEST(test_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
