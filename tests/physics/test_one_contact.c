// SPDX-License-Identifier: Apache-2.0
// A block as a point mass with one contact, stepped by hand through the one-contact solvers: the
// incline, the stopping distance in all directions, and what a pyramid makes of it.
#include "cone/local.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double g = 9.81;
static const tl_local_control control = {.tolerance = 1e-12, .iterations = 100};

// One time step of a point mass that touches the plane: v⁺ = v + h a + r/m, end velocity obeying
// the law. Entries (N, T1, T2) or (N, T). Pyramids are stepped until they rest.
static void step(const tl_local_forms *forms, int d, double mass, double mu, double h,
                 const double *a, double *v) {
    double w[9] = {0}, inv[9] = {0}, b[3] = {0}, r[3] = {0};
    for (int k = 0; k < d; k++) {
        w[k * d + k] = 1.0 / mass;
        inv[k * d + k] = mass;
        b[k] = v[k] + h * a[k];
    }
    const tl_local p = {.w = w, .inv = inv, .b = b, .law = {.mu = mu}, .rho = mass};
    const int visits = forms == &tl_local_pyramid ? 50 : 1;
    for (int k = 0; k < visits; k++) assert_true(forms->solve[d - 2](&p, &control, r) >= 0);
    for (int k = 0; k < d; k++) v[k] = b[k] + r[k] / mass;
}

// From rest on a plane inclined by theta, gravity along a direction in the plane: the block stays
// iff tan theta <= mu, else it gains g (sin theta − mu cos theta).
static void incline(void **state) {
    (void)state;
    const double h = 1e-3, mass = 2.5;
    for (int d = 2; d <= 3; d++)
        for (int degrees = 1; degrees < 90; degrees += 4)
            for (int m = 0; m <= 20; m++) {
                const double mu = 0.1 * m, theta = degrees * acos(-1.0) / 180.0;
                const double along = d == 3 ? 0.7 + degrees : 0.0;
                double a[3] = {-g * cos(theta), g * sin(theta) * cos(along),
                               g * sin(theta) * sin(along)};
                double v[3] = {0};
                for (int k = 0; k < 200; k++) step(&tl_local_hybrid, d, mass, mu, h, a, v);
                const double speed = d == 3 ? hypot(v[1], v[2]) : fabs(v[1]);
                const double gain = g * (sin(theta) - mu * cos(theta));
                assert_true(fabs(v[0]) <= 1e-13);
                assert_true(fabs(speed - 200.0 * h * fmax(0.0, gain)) <= 1e-11);
                if (tan(theta) < mu * (1.0 - 1e-9)) assert_true(speed <= 1e-13);
                if (speed > 1e-9) // downhill
                    assert_true(fabs(v[1] - speed * cos(along)) <= 1e-11);
            }
}

// Distance travelled until rest from speed v0 in direction `angle`.
static double slide(const tl_local_forms *forms, double mu, double v0, double angle) {
    const double h = 1e-5, a[3] = {-g, 0.0, 0.0};
    double v[3] = {0.0, v0 * cos(angle), v0 * sin(angle)}, x[2] = {0};
    for (int k = 0; k < 1000000 && hypot(v[1], v[2]) > 0.0; k++) {
        const double old[2] = {v[1], v[2]};
        step(forms, 3, 1.0, mu, h, a, v);
        assert_true(fabs(v[0]) <= 1e-15);
        if (hypot(v[1], v[2]) < 1e-13) v[1] = v[2] = 0.0; // at rest but for rounding
        for (int i = 0; i < 2; i++) x[i] += 0.5 * h * (old[i] + v[i + 1]); // exact for constant a
    }
    assert_true(hypot(v[1], v[2]) == 0.0);
    return hypot(x[0], x[1]);
}

// The cone: v0² / (2 mu g) in every direction. The box |r_T1|, |r_T2| <= mu r_N brakes each
// component by itself: the same along its axes, 1/√2 of it along the diagonals.
static void stopping(void **state) {
    (void)state;
    const double mu = 0.5, v0 = 1.0, expected = v0 * v0 / (2.0 * mu * g);
    assert_true(fabs(expected - 0.1019) <= 5e-5);
    for (int k = 0; k < 16; k++) {
        const double angle = k * acos(-1.0) / 8.0;
        assert_true(fabs(slide(&tl_local_hybrid, mu, v0, angle) - expected) <= 2e-5);
    }
    const double quarter = acos(-1.0) / 4.0;
    assert_true(fabs(slide(&tl_local_pyramid, mu, v0, 0.0) - expected) <= 2e-5);
    const double diagonal = slide(&tl_local_pyramid, mu, v0, quarter);
    assert_true(fabs(diagonal - expected / sqrt(2.0)) <= 2e-5);
    assert_true(fabs(diagonal - 0.0721) <= 5e-5);
}

// Friction only ever takes energy out, and in the end all of it.
static void dissipation(void **state) {
    (void)state;
    const double mu = 0.3, h = 1e-4, mass = 1.7, a[3] = {-g, 0.0, 0.0};
    double v[3] = {0.0, 0.6, -0.8}, energy = 0.5 * mass;
    double last = energy;
    for (int k = 0; k < 20000; k++) {
        step(&tl_local_hybrid, 3, mass, mu, h, a, v);
        energy = 0.5 * mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        assert_true(energy <= last);
        last = energy;
    }
    assert_true(energy <= 1e-25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incline),
        cmocka_unit_test(stopping),
        cmocka_unit_test(dissipation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
