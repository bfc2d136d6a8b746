// SPDX-License-Identifier: Apache-2.0
// A disk dropped on an incline, against its exact motion: it falls, hits the plane without
// bouncing, and from then on rolls (mu >= tan(alpha) / 3) or slides. Both gap schemes must be of
// first order in h, the associated law must lift the sliding disk by mu h |u_T| and the exact one
// must not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

static const double alpha = 0.52359877559829887; // pi / 6
static const double drop = 1.0, until = 10.0;

// Place along the plane, height of the lowest point and angle (rolling down counts negative) of a
// disk of radius and mass 1, J = 1/2, g = 1.
static void exact(double mu, double t, double out[3]) {
    const double gn = cos(alpha), gt = sin(alpha), hit = sqrt(2.0 * drop / gn);
    out[0] = 0.5 * gt * t * t;
    out[1] = drop - 0.5 * gn * t * t;
    out[2] = 0.0;
    if (t <= hit) return;
    const bool roll = mu >= tan(alpha) / 3.0;
    const double v = roll ? 2.0 / 3.0 * gt * hit : (gt - mu * gn) * hit;
    const double a = roll ? 2.0 / 3.0 * gt : gt - mu * gn;
    const double spin = roll ? v : 2.0 * mu * gn * hit, turn = roll ? a : 2.0 * mu * gn;
    const double s = t - hit;
    out[0] = 0.5 * gt * hit * hit + v * s + 0.5 * a * s * s;
    out[1] = 0.0;
    out[2] = -(spin * s + 0.5 * turn * s * s);
}

static talus_world *dropped(talus_scheme scheme, double mu, double h) {
    talus_world_def def = worlds_def(2, scheme, h, 0.0);
    def.gravity[0] = sin(alpha);
    def.gravity[1] = -cos(alpha);
    def.tolerance = 1e-10;
    talus_world *w = worlds_create(&def);
    worlds_law(w, mu, 0.0, 0.0);
    const talus_body_def disk = worlds_ball(w, 1.0, 0.0, 1.0 + drop, 0.0);
    worlds_add(w, &disk);
    worlds_plane(w, 0.0, 1.0, 0.0);
    return w;
}

// L2 errors over the run of position (along and normal together) and of the angle.
static void errors(talus_scheme scheme, double mu, double h, double out[2]) {
    talus_world *w = dropped(scheme, mu, h);
    double sum[2] = {0}, angle = 0.0;
    const int steps = (int)lround(until / h);
    for (int k = 0; k < steps; k++) {
        double wanted[3];
        worlds_step(w);
        const talus_body_view b = worlds_bodies(w);
        angle += h * b.spin[2];
        // the orientation is that angle, modulo whole turns
        const double off = remainder(2.0 * atan2(b.orientation[3], b.orientation[0]) - angle,
                                     6.283185307179586477);
        assert_true(fabs(off) <= 1e-9);
        exact(mu, (k + 1) * h, wanted);
        const double x = b.position[0] - wanted[0], y = b.position[1] - 1.0 - wanted[1];
        const double turn = angle - wanted[2];
        sum[0] += h * (x * x + y * y);
        sum[1] += h * turn * turn;
    }
    out[0] = sqrt(sum[0]);
    out[1] = sqrt(sum[1]);
    talus_world_destroy(w);
}

// Slope of log(error) over log(h) by least squares.
static double slope(int n, const double *h, const double *error) {
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int k = 0; k < n; k++) {
        const double x = log(h[k]), y = log(error[k]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void first_order(void **state) {
    (void)state;
    enum { STEPS = 6 };
    static const double h[STEPS] = {5e-2, 2.5e-2, 1.25e-2, 6.25e-3, 3.125e-3, 1.5625e-3};
    static const double mu[] = {0.0, 0.1, 1.0};
    static const talus_scheme scheme[] = {TALUS_SCHEME_CONVEX, TALUS_SCHEME_FIXED_POINT};
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < 3; m++) {
            double position[STEPS], angle[STEPS];
            for (int k = 0; k < STEPS; k++) {
                double e[2];
                errors(scheme[s], mu[m], h[k], e);
                position[k] = e[0];
                angle[k] = e[1];
            }
            assert_in_range((int)(1000.0 * slope(STEPS, h, position)), 950, 1100);
            if (mu[m] > 0.0)
                assert_in_range((int)(1000.0 * slope(STEPS, h, angle)), 950, 1100);
            else
                assert_true(angle[STEPS - 1] <= 1e-12);
        }
}

static void dilatation(void **state) {
    (void)state;
    const double h = 0.01, mu = 0.1;
    for (int s = 0; s < 2; s++) {
        talus_world *w = dropped(s == 0 ? TALUS_SCHEME_CONVEX : TALUS_SCHEME_FIXED_POINT, mu, h);
        for (int k = 0; k < 500; k++) worlds_step(w);
        const talus_body_view b = worlds_bodies(w);
        const talus_contact_view c = worlds_contacts(w);
        const double gap = b.position[1] - 1.0, slide = fabs(b.velocity[0] + b.spin[2]);
        assert_int_equal(c.count, 1);
        assert_int_equal(c.status[0], 2);
        // the gap at the end of the step is what the law left open: h (u_N + gap/h) = h mu |u_T|
        assert_true(fabs(gap - (s == 0 ? mu * h * slide : 0.0)) <= 1e-9);
        talus_world_destroy(w);
    }
}

// A disk that spins in place, sliding all the time. The associated law throws it up at first, with
// the speed mu |u_T|, and then holds it at the gap mu h |u_T|, far more than it moves in a step:
// the pair must be found there. The floor carries its weight on the mean, so that friction slows
// the spin by mu m g r t / J under either law.
static void spinning_in_place(void **state) {
    (void)state;
    for (int s = 0; s < 2; s++) {
        const double h = 1e-3, mu = 0.5, g = 10.0, radius = 0.1, spin = 20.0;
        talus_world_def def =
            worlds_def(2, s == 0 ? TALUS_SCHEME_CONVEX : TALUS_SCHEME_FIXED_POINT, h, g);
        talus_world *w = worlds_create(&def);
        worlds_law(w, mu, 0.0, 0.0);
        talus_body_def disk = worlds_ball(w, radius, 0.0, radius, 0.0);
        disk.inertia[2] = 1.0;
        disk.locked[0] = true;
        disk.spin[2] = spin;
        worlds_add(w, &disk);
        worlds_plane(w, 0.0, 1.0, 0.0);
        for (int k = 0; k < 2000; k++) {
            worlds_step(w);
            const talus_body_view b = worlds_bodies(w);
            const double gap = b.position[1] - radius,
                         rest = s == 0 ? mu * h * radius * b.spin[2] : 0.0;
            if (k > 500) assert_true(fabs(gap - rest) <= 1e-8);
        }
        const double lost = mu * g * radius * 2000 * h;
        assert_true(fabs(worlds_bodies(w).spin[2] - (spin - lost)) <= 1e-4);
        talus_world_destroy(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dilatation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spinning_in_place, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
