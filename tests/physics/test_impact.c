// SPDX-License-Identifier: Apache-2.0
// Impacts of the moreau-jean scheme: a ball on a plane at every angle against the closed form,
// energy that is never made, bounce times, balls in a row.
#include "base/rng.h"
#include "base/vec3.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"

// A ball of radius and mass 1 that touches the plane in the middle of its first step.
static talus_world *against_plane(int32_t dim, const double v[3], const double spin[3], double mu,
                                  double e_n, double e_t) {
    const double h = 1e-3;
    talus_world_def def = worlds_def(dim, TALUS_SCHEME_MOREAU_JEAN, h, 0.0);
    def.tolerance = 1e-14;
    talus_world *w = worlds_create(&def);
    worlds_law(w, mu, e_n, e_t);
    talus_body_def ball = worlds_ball(w, 1.0, 0.0, 0.0, 0.0);
    ball.position[dim - 1] = 1.0 + 0.25 * h * fabs(v[dim - 1]);
    tl_copy3(v, ball.velocity);
    tl_copy3(spin, ball.spin);
    worlds_add(w, &ball);
    worlds_plane(w, 0.0, dim == 2, dim == 3);
    return w;
}

// After the impact. The contact is at −n below the centre, so its velocity is v − spin × n; W is
// diagonal: 1 along n, 1 + 1/J along the plane.
static void closed_form(int32_t dim, const double v[3], const double spin[3], double mu, double e_n,
                        double e_t, double v_out[3], double spin_out[3]) {
    const double n[3] = {0.0, dim == 2, dim == 3}, j = dim == 2 ? 0.5 : 0.4;
    double arm[3], u[3], turn[3], r[3];
    tl_cross3(spin, n, arm);
    tl_sub3(v, arm, u);
    const double u_n = tl_dot3(u, n), r_n = -(1.0 + e_n) * u_n;
    tl_axpy3(u, -u_n, n, u);
    const double stick = (1.0 + e_t) * tl_norm3(u) / (1.0 + 1.0 / j);
    const double r_t = fmin(stick, mu * r_n);
    tl_scale3(tl_norm3(u) > 0.0 ? -r_t / tl_norm3(u) : 0.0, u, r);
    tl_axpy3(r, r_n, n, r);
    tl_axpy3(v, 1.0, r, v_out);
    tl_cross3(n, r, turn);
    tl_axpy3(spin, -1.0 / j, turn, spin_out);
}

static void ball_on_plane(void **state) {
    (void)state;
    tl_rng rng = {3};
    int stuck = 0, slid = 0;
    for (int k = 0; k < 400; k++) {
        const int32_t dim = 2 + k % 2;
        const double angle = 1.5707 * k / 400.0, speed = tl_rng_range(&rng, 0.1, 10.0);
        const double e_n = tl_rng_unit(&rng), e_t = tl_rng_unit(&rng), mu = tl_rng_unit(&rng);
        double v[3] = {speed * sin(angle)}, spin[3] = {0}, want_v[3], want_spin[3];
        v[dim - 1] = -speed * cos(angle);
        spin[2] = tl_rng_range(&rng, -5.0, 5.0);
        if (dim == 3) {
            v[1] = tl_rng_range(&rng, -2.0, 2.0);
            spin[0] = tl_rng_range(&rng, -5.0, 5.0);
            spin[1] = tl_rng_range(&rng, -5.0, 5.0);
        }
        talus_world *w = against_plane(dim, v, spin, mu, e_n, e_t);
        const talus_ledger l = worlds_step(w);
        const talus_body_view b = worlds_bodies(w);
        assert_int_equal(l.contacts, 1);
        stuck += l.stick, slid += l.slip;
        closed_form(dim, v, spin, mu, e_n, e_t, want_v, want_spin);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(b.velocity[i] - want_v[i]) <= 1e-11 * (1.0 + speed));
            assert_true(fabs(b.spin[i] - want_spin[i]) <= 1e-11 * (1.0 + speed));
        }
        // energy: kept by e = 1 without sliding, else lost, for any two coefficients
        assert_true(l.loss_impact >= 0.0 && l.loss_friction >= -1e-12);
        assert_true(fabs(l.loss_numerical) <= 1e-11 * (1.0 + speed * speed));
        talus_world_destroy(w);
    }
    assert_true(stuck > 50 && slid > 50);
}

// A brick in a random position, about to hit a plane with a corner: the impulse is eccentric, W is
// not diagonal.
static talus_world *corner_hit(tl_rng *rng, int32_t dim, double e_n, double e_t) {
    talus_world_def def = worlds_def(dim, TALUS_SCHEME_MOREAU_JEAN, 1e-4, 0.0);
    def.tolerance = 1e-13;
    talus_world *w = worlds_create(&def);
    worlds_law(w, tl_rng_range(rng, 0.0, 1.5), e_n, e_t);
    talus_body_def brick = talus_body_default();
    brick.shape =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.3, 0.2}});
    brick.mass = 1.0;
    for (int i = dim == 2 ? 3 : 1; i < 4; i++) brick.orientation[i] = tl_rng_normal(rng);
    tl_quat_normalise(brick.orientation);
    for (int i = 0; i < dim; i++) brick.velocity[i] = tl_rng_range(rng, -1.0, 1.0);
    brick.velocity[dim - 1] -= 3.0;
    for (int i = dim == 2 ? 2 : 0; i < 3; i++) brick.spin[i] = tl_rng_range(rng, -2.0, 2.0);
    double low = 0.0; // the lowest corner
    for (int c = 0; c < 8; c++) {
        double corner[3] = {c & 1 ? 0.5 : -0.5, c & 2 ? 0.3 : -0.3, c & 4 ? 0.2 : -0.2};
        if (dim == 2) corner[2] = 0.0;
        tl_rotate(brick.orientation, corner, corner);
        low = fmin(low, corner[dim - 1]);
    }
    brick.position[dim - 1] = -low + 1e-5;
    worlds_add(w, &brick);
    worlds_plane(w, 0.0, dim == 2, dim == 3);
    return w;
}

// With equal coefficients no energy is made: ½ c r·W r − ũ·r >= 0. With e_n = 1, e_t = 0 some
// bricks gain: the ledger then shows a negative numerical loss, and closes.
static void brick_on_plane(void **state) {
    (void)state;
    tl_rng rng = {11};
    int gains = 0;
    for (int k = 0; k < 600; k++) {
        const bool equal = k < 300;
        const double e = (k % 5) * 0.25;
        talus_world *w = corner_hit(&rng, 2 + k % 2, equal ? e : 1.0, equal ? e : 0.0);
        double energy = INFINITY;
        int hits = 0;
        for (int i = 0; i < 20; i++) {
            const talus_ledger l = worlds_step(w);
            const double gain = i > 0 ? l.kinetic - energy : 0.0;
            assert_true(!equal || gain <= 1e-12);
            assert_true(l.loss_impact >= 0.0 && l.loss_friction >= -1e-12);
            assert_true(i == 0 ||
                        fabs(gain + l.loss_impact + l.loss_friction + l.loss_numerical) <= 1e-12);
            gains += gain > 1e-3;
            energy = l.kinetic;
            hits += l.stick + l.slip;
        }
        assert_true(hits > 0);
        talus_world_destroy(w);
    }
    assert_true(gains > 0);
}

// Dropped from height H: the k-th impact is at t_0 (1 + 2 (e + e² + … + e^k)), t_0 = √(2H/g). Every
// impact is late or early by a step at most, which shifts the following ones.
static void bounce_times(void **state) {
    (void)state;
    const double e = 0.7, height = 0.3, g = 9.81, first = sqrt(2.0 * height / g);
    double worst[2];
    for (int run = 0; run < 2; run++) {
        const double h = run == 0 ? 2e-4 : 2e-5;
        const talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, h, g);
        talus_world *w = worlds_create(&def);
        worlds_law(w, 0.3, e, 0.0);
        const talus_body_def ball = worlds_ball(w, 0.1, 0.0, 0.0, 0.1 + height);
        worlds_add(w, &ball);
        worlds_plane(w, 0.0, 0.0, 1.0);
        double expected = first, flight = first, old = 0.0;
        worst[run] = 0.0;
        for (int hits = 0; hits < 6;) {
            const talus_ledger l = worlds_step(w);
            const double v = worlds_bodies(w).velocity[2];
            if (old < 0.0 && v > 0.0) {
                const double at = l.time - 0.5 * h;
                worst[run] = fmax(worst[run], fabs(at - expected) / h);
                // the ball leaves with e times the speed it came with, to the tolerance
                assert_true(fabs(v + e * old) <= 1e-5);
                flight *= e;
                expected += 2.0 * flight;
                hits++;
            }
            old = v;
        }
        assert_true(worst[run] <= 8.0); // in steps: six impacts, and what they shift
        talus_world_destroy(w);
    }
}

// Balls of radius ½ in a row, `gap` apart; the first comes with speed 1.
static talus_world *row(int balls, double gap) {
    const double h = 1e-3;
    talus_world_def def = worlds_def(2, TALUS_SCHEME_MOREAU_JEAN, h, 0.0);
    def.tolerance = 1e-13;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.0, 1.0, 1.0);
    for (int k = 0; k < balls; k++) {
        talus_body_def ball = worlds_ball(w, 0.5, k * (1.0 + gap), 0.0, 0.0);
        if (k == 0) ball.position[0] = -0.01, ball.velocity[0] = 1.0;
        worlds_add(w, &ball);
    }
    return w;
}

// In a row that touches, all contacts are hit at once: for three balls the law asks for relative
// velocities 1 and 0, that is (−1/3, 2/3, 2/3); energy and momentum are kept, but the last ball
// alone does not fly off. With room between them, more than a step's way, it does.
static void cradle(void **state) {
    (void)state;
    talus_world *w = row(3, 0.0);
    for (int k = 0; k < 30; k++) worlds_step(w);
    const double want[3] = {-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0};
    for (int k = 0; k < 3; k++)
        assert_true(fabs(worlds_bodies(w).velocity[3 * k] - want[k]) <= 1e-12);
    talus_world_destroy(w);

    w = row(5, 0.0);
    talus_ledger l = {0};
    for (int k = 0; k < 30; k++) l = worlds_step(w);
    assert_true(fabs(l.kinetic - 0.5) <= 1e-12 && fabs(l.momentum[0] - 1.0) <= 1e-12);
    talus_world_destroy(w);

    w = row(5, 0.01);
    for (int k = 0; k < 100; k++) worlds_step(w);
    for (int k = 0; k < 5; k++)
        assert_true(fabs(worlds_bodies(w).velocity[3 * k] - (k == 4)) <= 1e-12);
    talus_world_destroy(w);
}

// A positive factor on u_N or on u_T leaves the solutions of the law where they are: the problem of
// a step with e_n ≠ e_t is solved on u+ + e u, and its solution obeys the law with the formal
// velocity ũ = (u+ + e u) / (1 + e) too [theory/schemes].
static void formal_velocity(void **state) {
    (void)state;
    tl_rng rng = {21};
    int slid = 0;
    for (int k = 0; k < 200; k++) {
        const double e[2] = {tl_rng_unit(&rng), tl_rng_unit(&rng)}, mu = tl_rng_range(&rng, 0.1, 1);
        double v[3] = {tl_rng_range(&rng, -3.0, 3.0), tl_rng_range(&rng, -3.0, 3.0), -1.0};
        const double spin[3] = {0};
        talus_world *w = against_plane(3, v, spin, mu, e[0], e[1]);
        worlds_step(w);
        const talus_contact_view c = worlds_contacts(w);
        assert_int_equal(c.count, 1);
        double f[3];
        for (int i = 0; i < 3; i++) {
            const double own = e[i < 2];
            f[i] = (c.velocity[i] + own * v[i]) / (1.0 + own);
        }
        // the ball is body a: impulse and velocity are those of the ball
        const double *r = c.impulse, slide = hypot(f[0], f[1]), push = hypot(r[0], r[1]);
        assert_true(fabs(f[2]) <= 1e-12 && r[2] > 0.0);
        assert_true(push <= mu * r[2] * (1.0 + 1e-12));
        if (slide > 1e-9) {
            assert_true(fabs(push - mu * r[2]) <= 1e-11);
            assert_true(fabs(f[0] * r[0] + f[1] * r[1] + slide * push) <= 1e-11);
            slid++;
        }
        talus_world_destroy(w);
    }
    assert_in_range(slid, 50, 190);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ball_on_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(brick_on_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounce_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cradle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(formal_velocity, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
