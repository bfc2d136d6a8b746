// SPDX-License-Identifier: Apache-2.0
// Whole problems with known mechanics: stacks, a groove, balances of momentum and energy, and that
// the choice of axes does not matter. One time step h each; r in N s.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/context.h"
#include "support/packing.h"
#include "support/solve_cases.h"
#include "talus/talus.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 40, CONTACTS = 120 };
static const double gravity = 9.81, step = 1e-3;

// Rigid bodies, written by hand: six unknowns each (velocity, spin), contacts by point and frame.
// Spheres, or whatever has the inertia of one.
typedef struct spheres {
    int bodies, contacts;
    double mass[BODIES], radius[BODIES];
    double velocity[BODIES][6];          // before the step
    double pull[3];                      // direction of gravity, length one
    double frame[CONTACTS][3][3];        // normal (towards `body`), two tangents
    double arm[CONTACTS][2][3];          // contact point seen from `body` and from `other`
    int body[CONTACTS], other[CONTACTS]; // other < 0: fixed
    double mu[CONTACTS];
} spheres;

static void frame_of(const double n[3], double e[3][3]) {
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(n[k]) < fabs(n[least])) least = k;
    double t[3], size = 0.0;
    for (int k = 0; k < 3; k++) t[k] = (double)(k == least) - n[least] * n[k];
    for (int k = 0; k < 3; k++) size += t[k] * t[k];
    for (int k = 0; k < 3; k++) {
        e[0][k] = n[k];
        e[1][k] = t[k] / sqrt(size);
    }
    for (int k = 0; k < 3; k++)
        e[2][k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
}

static int touch(spheres *s, int body, int other, double x, double y, double z, double mu) {
    const double size = sqrt(x * x + y * y + z * z), n[3] = {x / size, y / size, z / size};
    const int i = s->contacts++;
    assert_true(i < CONTACTS);
    frame_of(n, s->frame[i]);
    s->body[i] = body;
    s->other[i] = other;
    s->mu[i] = mu;
    for (int k = 0; k < 3; k++) {
        s->arm[i][0][k] = -s->radius[body] * n[k];
        if (other >= 0) s->arm[i][1][k] = s->radius[other] * n[k];
    }
    return i;
}

static double inertia(const spheres *s, int b, int k) {
    return k < 3 ? s->mass[b] : 0.4 * s->mass[b] * s->radius[b] * s->radius[b];
}

// Rows of H: u = ±E (v + ω × arm); e·(ω × arm) = ω·(arm × e).
static void rows_of(const spheres *s, int i, bool own, double *h) {
    const double sign = own ? 1.0 : -1.0, *arm = s->arm[i][own ? 0 : 1];
    for (int x = 0; x < 3; x++) {
        const double *e = s->frame[i][x];
        for (int k = 0; k < 3; k++) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            h[x * 6 + k] = sign * e[k];
            h[x * 6 + 3 + k] = sign * (arm[l] * e[m] - arm[m] * e[l]);
        }
    }
}

static talus_problem *spheres_problem(const spheres *s) {
    static double mass[BODIES * 36], h[CONTACTS * 36], f[BODIES * 6], w[CONTACTS * 3];
    int32_t body_start[BODIES + 1] = {0}, h_body[2 * CONTACTS];
    int64_t start[CONTACTS + 1] = {0};
    talus_problem *p = NULL;
    memset(mass, 0, sizeof mass);
    for (int b = 0; b < s->bodies; b++) {
        body_start[b + 1] = 6 * (b + 1);
        for (int k = 0; k < 6; k++) {
            mass[b * 36 + k * 7] = inertia(s, b, k);
            f[b * 6 + k] = inertia(s, b, k) * s->velocity[b][k];
            if (k < 3) f[b * 6 + k] += s->mass[b] * gravity * step * s->pull[k];
        }
    }
    for (int i = 0; i < s->contacts; i++) {
        const bool swap = s->other[i] > s->body[i]; // bodies ascend in a row
        start[i + 1] = start[i];
        for (int k = 0; k < 2; k++) {
            const bool own = k == (swap ? 0 : 1);
            if (!own && s->other[i] < 0) continue;
            h_body[start[i + 1]] = own ? s->body[i] : s->other[i];
            rows_of(s, i, own, h + 18 * start[i + 1]++);
        }
    }
    const talus_global_def def = {.dim = 3,
                                  .count = s->contacts,
                                  .body_count = s->bodies,
                                  .body_start = body_start,
                                  .mass_block = mass,
                                  .h_row_start = start,
                                  .h_body = h_body,
                                  .h_block = h,
                                  .f = f,
                                  .w = w,
                                  .law = {.mu = s->mu}};
    if (talus_problem_create_global(ctx, &def, &p) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(ctx));
    return p;
}

static void spheres_solve(const spheres *s, double *r, double *v) {
    talus_problem *p = spheres_problem(s);
    talus_certificate certificate;
    memset(r, 0, 3 * (size_t)s->contacts * sizeof *r);
    const talus_solve_info info = solve_with(ctx, "nlgs", "tolerance=1e-12", p, r);
    assert_int_equal(info.outcome, TALUS_OUTCOME_SOLVED);
    assert_int_equal(talus_problem_state(p, r, v, NULL, NULL), TALUS_OK);
    assert_int_equal(talus_certify(p, r, &certificate), TALUS_OK);
    assert_true(certificate.energy >= -1e-12 && certificate.penetration <= 1e-11);
    talus_problem_destroy(p);
}

// A column of n spheres at rest: contact k carries all that is above it, and nothing moves.
static void column(void **state) {
    (void)state;
    for (int n = 1; n <= 12; n++) {
        spheres s = {.bodies = n, .pull = {0, 0, -1}};
        double r[3 * CONTACTS], v[6 * BODIES], above = 0.0;
        for (int b = 0; b < n; b++) {
            s.mass[b] = 1.0 + 0.1 * b;
            s.radius[b] = 0.5;
            touch(&s, b, b - 1, 0, 0, 1, 0.5);
        }
        spheres_solve(&s, r, v);
        for (int b = n - 1; b >= 0; b--) {
            above += s.mass[b] * gravity * step;
            assert_true(fabs(r[3 * b] - above) <= 1e-9);
            assert_true(hypot(r[3 * b + 1], r[3 * b + 2]) <= 1e-12);
        }
        for (int k = 0; k < 6 * n; k++) assert_true(fabs(v[k]) <= 1e-9);
    }
}

// What all contacts do to body b.
static void impulse_on(const spheres *s, int b, const double *r, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < s->contacts; i++) {
        const double sign = s->body[i] == b ? 1.0 : s->other[i] == b ? -1.0 : 0.0;
        for (int x = 0; x < 3; x++)
            for (int k = 0; k < 3; k++) out[k] += sign * s->frame[i][x][k] * r[3 * i + x];
    }
}

// A stack of blocks, each on the four corners of the one below, shifted to and fro: how four
// corners share the load is not unique, but each layer carries all that is above it, the load
// stands where its weight does, and nothing moves.
static void stack_of_blocks(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n++) {
        spheres s = {.bodies = n, .pull = {0, 0, -1}};
        double r[3 * CONTACTS], v[6 * BODIES], place[BODIES];
        for (int b = 0; b < n; b++) {
            s.mass[b] = 1.0 + 0.2 * b;
            s.radius[b] = 0.5;
            place[b] = b % 2 == 1 ? 0.1 : 0.0;
            for (int k = 0; k < 4; k++) {
                const int i = touch(&s, b, b - 1, 0, 0, 1, 0.5);
                const double shift = b > 0 ? place[b] - place[b - 1] : 0.0;
                const double arm[3] = {k % 2 ? 0.3 : -0.3, k / 2 ? 0.4 : -0.4, -0.25};
                for (int x = 0; x < 3; x++) s.arm[i][0][x] = arm[x];
                const double far[3] = {arm[0] + shift, arm[1], 0.25};
                for (int x = 0; x < 3; x++) s.arm[i][1][x] = far[x];
            }
        }
        spheres_solve(&s, r, v);
        double above = 0.0, moment = 0.0;
        for (int b = n - 1; b >= 0; b--) {
            double load = 0.0, turn = 0.0;
            above += s.mass[b] * gravity * step;
            moment += s.mass[b] * gravity * step * place[b];
            for (int i = 4 * b; i < 4 * b + 4; i++) {
                load += r[3 * i];
                turn += r[3 * i] * (place[b] + s.arm[i][0][0]);
            }
            assert_true(fabs(load - above) <= 1e-9 && fabs(turn - moment) <= 1e-9);
        }
        for (int k = 0; k < 6 * n; k++) assert_true(fabs(v[k]) <= 1e-9);
    }
}

// A heap of spheres, layers of 16, 9, 4 and 1, that may give way: the change of momentum of each
// sphere is what gravity and its contacts gave it, and the floor gave what the heap as a whole got.
static void heap_of_spheres(void **state) {
    (void)state;
    spheres s = {.pull = {0, 0, -1}};
    double r[3 * CONTACTS], v[6 * BODIES], gained = 0.0, floor = 0.0;
    int below = 0;
    for (int side = 4; side >= 1; side--) {
        const int first = s.bodies;
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                const int b = s.bodies++;
                s.mass[b] = 2.0;
                s.radius[b] = 0.5;
                if (side == 4) touch(&s, b, -1, 0, 0, 1, 0.8);
                for (int k = 0; k < 4 && side < 4; k++) { // the four below
                    const int i = k % 2, j = k / 2;
                    touch(&s, b, below + (y + j) * (side + 1) + x + i, 0.5 - i, 0.5 - j, sqrt(0.5),
                          0.8);
                }
            }
        below = first;
    }
    spheres_solve(&s, r, v);
    for (int i = 0; i < s.contacts; i++)
        if (s.other[i] < 0) floor += r[3 * i];
    for (int b = 0; b < s.bodies; b++) {
        double impulse[3];
        impulse_on(&s, b, r, impulse);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(s.mass[b] * v[6 * b + k] - impulse[k] -
                             s.mass[b] * gravity * step * s.pull[k]) <= 1e-14);
        gained += s.mass[b] * (v[6 * b + 2] + gravity * step);
    }
    assert_true(fabs(floor - gained) <= 1e-13);
    assert_true(floor > 0.5 * 60.0 * gravity * step); // most of the weight all the same
}

// Bodies that touch only each other: momentum and angular momentum are what they were.
static void momentum(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        tl_rng rng = {.state = seed};
        spheres s = {.bodies = 8};
        double position[8][3], r[3 * CONTACTS], v[6 * BODIES];
        for (int b = 0; b < 8; b++) { // a cube of spheres, flying into each other
            s.mass[b] = 1.0 + tl_rng_unit(&rng);
            s.radius[b] = 0.5;
            for (int k = 0; k < 3; k++) {
                position[b][k] = (double)((b >> k) & 1);
                s.velocity[b][k] = tl_rng_normal(&rng) - 2.0 * (position[b][k] - 0.5);
                s.velocity[b][3 + k] = tl_rng_normal(&rng);
            }
        }
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < a; b++) {
                const int bit = a ^ b;
                if (bit == 1 || bit == 2 || bit == 4)
                    touch(&s, a, b, position[a][0] - position[b][0],
                          position[a][1] - position[b][1], position[a][2] - position[b][2], 0.4);
            }
        assert_int_equal(s.contacts, 12);
        spheres_solve(&s, r, v);
        double change[6] = {0}, energy = 0.0;
        for (int b = 0; b < 8; b++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = s.mass[b] * (v[6 * b + k] - s.velocity[b][k]);
                change[k] += d[k];
                change[3 + k] += inertia(&s, b, 3) * (v[6 * b + 3 + k] - s.velocity[b][3 + k]);
            }
            for (int k = 0; k < 3; k++)
                change[3 + k] += position[b][(k + 1) % 3] * d[(k + 2) % 3] -
                                 position[b][(k + 2) % 3] * d[(k + 1) % 3];
            for (int k = 0; k < 6; k++)
                energy += 0.5 * inertia(&s, b, k) *
                          (v[6 * b + k] * v[6 * b + k] - s.velocity[b][k] * s.velocity[b][k]);
        }
        for (int k = 0; k < 6; k++) assert_true(fabs(change[k]) <= 1e-12);
        assert_true(energy < -0.01); // plastic shocks and friction take energy out
    }
}

// A sphere that slides without spin along a V-groove whose walls are inclined by ±α. Each wall
// gives N = m g h / (2 cos α). Sliding: friction mu N each, against the motion. Rolling: the sum F
// of the frictions stops the slip, v = F (1/m + R² cos²α / I).
static void groove(void **state) {
    (void)state;
    const double alpha = 0.6, m = 1.7, radius = 0.3, speed = 0.02;
    const double j = 0.4 * m * radius * radius, lever = radius * cos(alpha);
    const double normal = m * gravity * step / (2.0 * cos(alpha));
    for (int k = 0; k <= 10; k++) {
        const double mu = 0.1 * k;
        spheres s = {.bodies = 1, .mass = {m}, .radius = {radius}, .pull = {0, 0, -1}};
        double r[6], v[6];
        s.velocity[0][1] = speed;
        touch(&s, 0, -1, sin(alpha), 0, cos(alpha), mu);
        touch(&s, 0, -1, -sin(alpha), 0, cos(alpha), mu);
        spheres_solve(&s, r, v);
        const double sliding = 2.0 * mu * normal, rolling = speed / (1.0 / m + lever * lever / j);
        const bool slides = sliding < rolling;
        const double force = slides ? sliding : rolling;
        assert_true(fabs(v[1] - (speed - force / m)) <= 1e-10);
        assert_true(fabs(v[3] + force * lever / j) <= 1e-9);
        assert_true(fabs(v[0]) <= 1e-10 && fabs(v[2]) <= 1e-10);
        assert_true(fabs(v[4]) <= 1e-9 && fabs(v[5]) <= 1e-9);
        for (int i = 0; i < 2 && slides; i++) { // unique then
            assert_true(fabs(r[3 * i] - normal) <= 1e-10);
            assert_true(fabs(hypot(r[3 * i + 1], r[3 * i + 2]) - mu * normal) <= 1e-10);
        }
        assert_true((k == 0) == (fabs(v[1] - speed) <= 1e-12));
    }
}

// Turning the whole world leaves the impulses in their contact frames; turning the tangents of a
// contact turns its r_T.
static void axes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        tl_rng rng = {.state = seed};
        spheres s = {.bodies = 5, .pull = {0, 0, -1}}, turned, spun;
        double r[3 * CONTACTS], x[3 * CONTACTS], v[6 * BODIES], y[6 * BODIES], q[3][3], n[3];
        for (int b = 0; b < 5; b++) { // a heap without closed loops: r is unique
            s.mass[b] = 1.0 + tl_rng_unit(&rng);
            s.radius[b] = 0.5;
            for (int k = 0; k < 6; k++) s.velocity[b][k] = 0.1 * tl_rng_normal(&rng);
            touch(&s, b, b - 1, 0.3 * tl_rng_normal(&rng), 0.3 * tl_rng_normal(&rng), 1.0, 0.3);
        }
        spheres_solve(&s, r, v);
        for (int k = 0; k < 3; k++) n[k] = tl_rng_normal(&rng);
        const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) n[k] /= size;
        frame_of(n, q); // orthonormal, right-handed: spins turn like velocities
        turned = s;
        for (int a = 0; a < 3; a++) {
            turned.pull[a] = -q[a][2];
            for (int b = 0; b < 5; b++)
                for (int half = 0; half < 6; half += 3) {
                    turned.velocity[b][half + a] = 0.0;
                    for (int k = 0; k < 3; k++)
                        turned.velocity[b][half + a] += q[a][k] * s.velocity[b][half + k];
                }
            for (int i = 0; i < s.contacts; i++)
                for (int e = 0; e < 3; e++) {
                    turned.frame[i][e][a] = 0.0;
                    for (int k = 0; k < 3; k++) turned.frame[i][e][a] += q[a][k] * s.frame[i][e][k];
                }
            for (int i = 0; i < s.contacts; i++)
                for (int e = 0; e < 2; e++) {
                    turned.arm[i][e][a] = 0.0;
                    for (int k = 0; k < 3; k++) turned.arm[i][e][a] += q[a][k] * s.arm[i][e][k];
                }
        }
        spheres_solve(&turned, x, y);
        for (int k = 0; k < 3 * s.contacts; k++) assert_true(fabs(r[k] - x[k]) <= 1e-9);
        for (int b = 0; b < 5; b++)
            for (int a = 0; a < 3; a++) {
                double sum = 0.0;
                for (int k = 0; k < 3; k++) sum += q[a][k] * v[6 * b + k];
                assert_true(fabs(sum - y[6 * b + a]) <= 1e-9);
            }
        spun = s;
        const double angle = 0.9, c = cos(angle), t = sin(angle);
        for (int i = 0; i < s.contacts; i++)
            for (int k = 0; k < 3; k++) {
                spun.frame[i][1][k] = c * s.frame[i][1][k] + t * s.frame[i][2][k];
                spun.frame[i][2][k] = c * s.frame[i][2][k] - t * s.frame[i][1][k];
            }
        spheres_solve(&spun, x, y);
        for (int i = 0; i < s.contacts; i++) {
            assert_true(fabs(x[3 * i] - r[3 * i]) <= 1e-9);
            assert_true(fabs(x[3 * i + 1] - (c * r[3 * i + 1] + t * r[3 * i + 2])) <= 1e-9);
            assert_true(fabs(x[3 * i + 2] - (c * r[3 * i + 2] - t * r[3 * i + 1])) <= 1e-9);
        }
    }
}

// Exact Coulomb friction never creates energy, whatever the packing.
static void dissipation(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int d = 2; d <= 3; d++) {
            const packing_def def = {.dim = d,
                                     .nx = 4,
                                     .ny = d == 3 ? 4 : 1,
                                     .nz = 3,
                                     .mu = 0.1 * (double)seed,
                                     .disorder = 0.15,
                                     .speed = 0.2,
                                     .seed = seed,
                                     .walls = seed % 2 == 0};
            talus_problem *p = NULL;
            talus_certificate certificate;
            assert_int_equal(packing_create(ctx, &def, &p), TALUS_OK);
            const int32_t n = talus_problem_get_info(p).count;
            double *r = solve_room((int64_t)d * n), *u = solve_room((int64_t)d * n), energy = 0.0;
            assert_int_equal(solve_with(ctx, "nlgs", "tolerance=1e-8", p, r).outcome,
                             TALUS_OUTCOME_SOLVED);
            assert_int_equal(talus_certify(p, r, &certificate), TALUS_OK);
            assert_int_equal(talus_problem_state(p, r, NULL, u, NULL), TALUS_OK);
            for (int k = 0; k < d * n; k++) energy -= u[k] * r[k];
            assert_true(fabs(energy - certificate.energy) <= 1e-12);
            for (int i = 0; i < n; i++) { // in each contact, not only in all
                double own = 0.0;
                for (int k = 0; k < d; k++) own -= u[d * i + k] * r[d * i + k];
                assert_true(own >= -1e-7);
            }
            assert_true(certificate.energy > 1e-4);
            assert_int_equal(certificate.open + certificate.stick + certificate.slip, n);
            free(r);
            free(u);
            talus_problem_destroy(p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stack_of_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(heap_of_spheres, set_up, tear_down),
        cmocka_unit_test_setup_teardown(momentum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groove, set_up, tear_down),
        cmocka_unit_test_setup_teardown(axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dissipation, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
