// SPDX-License-Identifier: Apache-2.0
// Steps of beds of balls so large that the world keeps nothing longer than it needs it: what is
// told of the contacts, equal bits, memory that runs out, checkpoints.
// ctest labels: threads
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/vec3.h"
#include "problem/problem_impl.h"
#include "support/worlds.h"
#include "world/world_impl.h"

enum { EDGE = 8, BALLS = EDGE * EDGE * EDGE };
#define STEP 1e-3
#define GRAVITY 9.81
#define BOUNCE 0.3
#define BOUNCE_T 0.1

static double radius_of(int32_t ball) { return 0.5 * (1.0 + 1e-6 * (1.0 + (double)ball / BALLS)); }

// A cubic lattice of balls that overlap a little, periodic along x and y, on a plane (body 0), with
// velocities and spins: three contacts per ball.
static talus_world *make_lattice(talus_scheme scheme, int32_t threads) {
    talus_world_def def = worlds_def(3, scheme, STEP, GRAVITY);
    tl_rng rng = {.state = 3};
    def.solver = "nlgs";
    def.iterations = 20;
    def.threads = threads;
    for (int k = 0; k < 2; k++) def.period[k] = EDGE;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.5, BOUNCE, BOUNCE_T);
    worlds_plane(w, 0.0, 0.0, 1.0);
    for (int32_t k = 0; k < BALLS; k++) {
        talus_body_def ball = worlds_ball(w, radius_of(k), 0.5 + k % EDGE, 0.5 + k / EDGE % EDGE,
                                          0.5 + k / EDGE / EDGE);
        for (int e = 0; e < 3; e++) {
            ball.velocity[e] = tl_rng_range(&rng, -1e-6, 1e-6);
            ball.spin[e] = tl_rng_range(&rng, -0.01, 0.01);
        }
        worlds_add(w, &ball);
    }
    return w;
}

// Bodies before a step.
typedef struct before {
    double x[3 * (BALLS + 1)], v[3 * (BALLS + 1)], spin[3 * (BALLS + 1)];
} before;

static before *remember(const talus_world *w) {
    const talus_body_view b = worlds_bodies(w);
    before *old = calloc(1, sizeof *old);
    assert_non_null(old);
    assert_int_equal(b.count, BALLS + 1);
    memcpy(old->x, b.position, sizeof old->x);
    memcpy(old->v, b.velocity, sizeof old->v);
    memcpy(old->spin, b.spin, sizeof old->spin);
    return old;
}

static void assert_close(const double *a, const double *b, double bound) {
    for (int k = 0; k < 3; k++)
        if (!(fabs(a[k] - b[k]) <= bound)) fail_msg("%.17g and %.17g", a[k], b[k]);
}

// Velocity of a body's surface at `arm` from its centre.
static void surface_velocity(const double *v, const double *spin, const double arm[3],
                             double out[3]) {
    tl_cross3(spin, arm, out);
    tl_axpy3(v, 1.0, out, out);
}

// One contact, from the bodies where it was looked for: numbers are of the order of 1, so that
// rounding is some 1e-16; what is subtracted from neighbours' positions (up to 8) leaves 1e-14.
static void check_contact(const talus_contact_view *c, int32_t i, const before *old, double drift,
                          const talus_body_view *now, double prior[3]) {
    const int32_t a = c->a[i], b = c->b[i];
    double ya[3], yb[3], d[3], normal[3] = {0.0, 0.0, -1.0}, point[3], arm[2][3], u[2][3], v[3];
    tl_axpy3(old->x + 3 * (ptrdiff_t)a, drift, old->v + 3 * (ptrdiff_t)a, ya);
    tl_axpy3(old->x + 3 * (ptrdiff_t)b, drift, old->v + 3 * (ptrdiff_t)b, yb);
    tl_sub3(ya, yb, d);
    for (int k = 0; k < 2 && a > 0; k++) {
        yb[k] += EDGE * rint(d[k] / EDGE);
        d[k] = ya[k] - yb[k];
    }
    const double rb = radius_of(b - 1);
    double gap = yb[2] - rb;
    if (a > 0) {
        const double length = tl_norm3(d);
        gap = length - radius_of(a - 1) - rb;
        tl_scale3(1.0 / length, d, normal);
    }
    tl_axpy3(yb, rb + 0.5 * gap, normal, point);
    assert_true(fabs(c->gap[i] - gap) <= 1e-14);
    assert_close(c->normal + 3 * (ptrdiff_t)i, normal, 1e-14);
    assert_close(c->point + 3 * (ptrdiff_t)i, point, 1e-14);
    tl_sub3(point, ya, arm[0]);
    tl_sub3(point, yb, arm[1]);
    if (a == 0) tl_axpy3(yb, rb, normal, arm[1]), tl_sub3(arm[1], yb, arm[1]); // the surface of b
    for (int side = 0; side < 2; side++) {
        const ptrdiff_t body = 3 * (ptrdiff_t)(side ? b : a);
        surface_velocity(now->velocity + body, now->spin + body, arm[side], u[side]);
    }
    tl_sub3(u[0], u[1], v);
    assert_close(c->velocity + 3 * (ptrdiff_t)i, v, 1e-14);
    for (int side = 0; side < 2; side++) {
        const ptrdiff_t body = 3 * (ptrdiff_t)(side ? b : a);
        surface_velocity(old->v + body, old->spin + body, arm[side], u[side]);
    }
    tl_sub3(u[0], u[1], prior);
}

// Points, normals, gaps, velocities and impulses of the contacts, and the problem's w and residual
// after the step, from the bodies before and after alone.
static void contacts_are_told(void **state) {
    (void)state;
    const talus_scheme scheme[] = {TALUS_SCHEME_MOREAU_JEAN, TALUS_SCHEME_FIXED_POINT};
    for (int n = 0; n < 2; n++) {
        talus_world *w = make_lattice(scheme[n], 1);
        for (int step = 0; step < 2; step++) {
            before *old = remember(w);
            const talus_ledger l = worlds_step(w);
            const talus_body_view now = worlds_bodies(w);
            const talus_contact_view c = worlds_contacts(w);
            const talus_problem *p = talus_world_problem(w);
            double *sum = calloc(3 * (BALLS + 1), sizeof *sum), *r = calloc(3 * (size_t)c.count, 8);
            assert_true(w->stage.lean && c.count >= 1024 && sum && r);
            const bool jean = scheme[n] == TALUS_SCHEME_MOREAU_JEAN;
            for (int32_t i = 0; i < c.count; i++) {
                double prior[3], frame[9];
                check_contact(&c, i, old, jean ? 0.5 * STEP : 0.0, &now, prior);
                tl_frame(3, c.normal + 3 * (ptrdiff_t)i, frame);
                for (int k = 0; k < 3; k++) {
                    const double *e = frame + 3 * (ptrdiff_t)k;
                    const double share = k == 0 ? BOUNCE : BOUNCE_T;
                    const double w_k = jean     ? share * tl_dot3(e, prior)
                                       : k == 0 ? c.gap[i] / STEP
                                                : 0.0;
                    r[3 * i + k] = tl_dot3(e, c.impulse + 3 * (ptrdiff_t)i);
                    assert_true(fabs(p->w[3 * i + k] - w_k) <= 1e-14 + 1e-15 / STEP * !jean);
                }
                tl_axpy3(sum + 3 * (ptrdiff_t)c.a[i], 1.0, c.impulse + 3 * (ptrdiff_t)i,
                         sum + 3 * (ptrdiff_t)c.a[i]);
                tl_axpy3(sum + 3 * (ptrdiff_t)c.b[i], -1.0, c.impulse + 3 * (ptrdiff_t)i,
                         sum + 3 * (ptrdiff_t)c.b[i]);
            }
            for (ptrdiff_t k = 3; k < 3 * (BALLS + 1); k++) { // of mass 1
                const double free = old->v[k] - (k % 3 == 2 ? STEP * GRAVITY : 0.0);
                assert_true(fabs(now.velocity[k] - free - sum[k]) <= 1e-14);
            }
            talus_certificate verdict;
            WORLDS_OK(talus_certify(p, r, &verdict));
            assert_true(l.residual > 0.0 &&
                        fabs(verdict.residual - l.residual) <= 1e-9 * l.residual);
            free(sum);
            free(r);
            free(old);
        }
        talus_world_destroy(w);
    }
}

// The same bits with any number of threads, and after a checkpoint.
static void same_bits(void **state) {
    (void)state;
    talus_world *first = make_lattice(TALUS_SCHEME_MOREAU_JEAN, 1);
    for (int step = 0; step < 3; step++) (void)worlds_step(first);
    const uint64_t hash = talus_world_hash(first);
    for (int32_t threads = 2; threads <= 8; threads += threads == 2 ? 1 : 5) {
        talus_world *w = make_lattice(TALUS_SCHEME_MOREAU_JEAN, threads);
        for (int step = 0; step < 3; step++) (void)worlds_step(w);
        assert_true(w->stage.lean && talus_world_hash(w) == hash);
        talus_world_destroy(w);
    }
    const int64_t count = talus_world_save(first, NULL);
    double *numbers = calloc((size_t)count, sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(talus_world_save(first, numbers), count);
    (void)worlds_step(first);
    talus_world *again = make_lattice(TALUS_SCHEME_MOREAU_JEAN, 2);
    (void)worlds_step(again); // is not where it ought to be
    WORLDS_OK(talus_world_load(again, numbers, count));
    assert_null(talus_world_problem(again));
    assert_true(worlds_contacts(again).count >= 1024 && talus_world_hash(again) == hash);
    (void)worlds_step(again);
    assert_true(talus_world_hash(again) == talus_world_hash(first));
    free(numbers);
    talus_world_destroy(again);
    talus_world_destroy(first);
}

// Let every request of a step fail in turn: the state stays the same to the bit, contacts and
// problem are not told any more, and the step that has its memory is that of a world which was
// never disturbed.
static void without_memory(void **state) {
    (void)state;
    talus_world *w = make_lattice(TALUS_SCHEME_MOREAU_JEAN, 1);
    talus_world *calm = make_lattice(TALUS_SCHEME_MOREAU_JEAN, 1);
    (void)worlds_step(w);
    (void)worlds_step(calm);
    const uint64_t hash = talus_world_hash(w);
    int failures = 0;
    for (int64_t at = 1;; at++) {
        talus_ledger l;
        memory.requests = 0;
        memory.fail_at = at;
        const talus_status status = talus_world_step(w, &l);
        memory.fail_at = 0;
        if (status == TALUS_OK) break;
        failures++;
        assert_int_equal(status, TALUS_ERR_MEMORY);
        assert_true(talus_world_hash(w) == hash);
        assert_int_equal(worlds_contacts(w).count, 0);
        assert_null(talus_world_problem(w));
    }
    assert_true(failures > 30);
    (void)worlds_step(calm);
    assert_true(talus_world_hash(w) == talus_world_hash(calm));
    assert_int_equal(worlds_contacts(w).count, worlds_contacts(calm).count);
    talus_world_destroy(w);
    talus_world_destroy(calm);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(contacts_are_told), TEST(same_bits),
                                       TEST(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
