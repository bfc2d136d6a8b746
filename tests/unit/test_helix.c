// SPDX-License-Identifier: Apache-2.0
// The super-helix as functions: places against exact circles and helices, derivatives against
// differences, the mass matrix against a sum over very many points, forces against energies, and
// the fit against rods it must find again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/vec3.h"
#include "rod/helix.h"
#include "support/context.h"
#include <string.h>

#define assert_near(a, b, bound) assert_true(fabs((a) - (b)) <= (bound))

enum { PIECES = 5, MOST = 6 + 3 * PIECES };

typedef struct sample {
    tl_helix h;
    double length[PIECES], q[3 * PIECES];
    tl_helix_pose pose;
    tl_helix_joint joint[PIECES + 1];
} sample;

static void frame_of(const double turn[3], double r[9]) {
    double quaternion[4];
    tl_quat_exp(turn, quaternion);
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2};
        tl_rotate(quaternion, axis, axis);
        for (int i = 0; i < 3; i++) r[3 * i + k] = axis[i];
    }
}

// A random rod; `bend`: size of its curvatures times its length.
static void fill(sample *s, tl_rng *rng, int32_t root, double bend) {
    double turn[3];
    s->h = (tl_helix){.pieces = PIECES,
                      .root = root,
                      .length = s->length,
                      .bending = 2.0,
                      .twisting = 1.3,
                      .line_mass = 0.7,
                      .line_spin = 0.011,
                      .drag = 0.2};
    for (int k = 0; k < PIECES; k++) s->length[k] = tl_rng_range(rng, 0.1, 0.3);
    for (int k = 0; k < 3 * PIECES; k++) s->q[k] = bend * tl_rng_normal(rng);
    for (int k = 0; k < 3; k++) {
        s->pose.x[k] = tl_rng_normal(rng);
        turn[k] = tl_rng_normal(rng);
    }
    frame_of(turn, s->pose.r);
    s->pose.q = s->q;
    tl_helix_joints(&s->h, &s->pose, s->joint);
}

// A circle of radius 1/κ; a helix with curvature κ and torsion τ has the radius κ/(κ² + τ²) and
// rises by τ/(κ² + τ²) per rad: the frame (t, n1, n2) with curvature about n1.
static void test_exact_curves(void **state) {
    (void)state;
    const double origin[3] = {0}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double bends[] = {1e-9, 1e-4, 0.3, 0.999, 1.001, 2.0, 20.0};
    for (size_t k = 0; k < sizeof bends / sizeof *bends; k++) {
        const double c = bends[k], q[3] = {0.0, c, 0.0}, s = 0.9;
        double x[3], r[9];
        tl_helix_point(origin, unit, q, s, x, r); // about n2 = z: towards y
        assert_near(x[0], sin(c * s) / c, 1e-14);
        assert_near(x[1], 2.0 * pow(sin(0.5 * c * s), 2.0) / c, 1e-14);
        assert_near(x[2], 0.0, 0.0);
        assert_near(r[0], cos(c * s), 1e-14);
        assert_near(r[3], sin(c * s), 1e-14);
    }
    const double c = 3.0, t = 1.7, q[3] = {c, 0.0, t}, w = sqrt(c * c + t * t);
    const double axis[3] = {t / w, c / w, 0.0}; // the vector that all turns are about
    for (double s = 0.0; s < 2.5; s += 0.31) {
        double x[3], r[9];
        tl_helix_point(origin, unit, q, s, x, r);
        assert_near(tl_dot3(x, axis), t / w * s, 1e-14);
        // the distance from the helix' axis, which passes through c/w² n2
        double away[3] = {x[0], x[1], x[2] + c / (w * w)};
        tl_axpy3(away, -tl_dot3(away, axis), axis, away);
        assert_near(tl_norm3(away), c / (w * w), 1e-14);
        const double tangent[3] = {r[0], r[3], r[6]};
        assert_near(tl_dot3(tangent, axis), t / w, 1e-14);
    }
}

// Place and frame of a point after small changes of the unknowns.
static void moved(const sample *from, const double *change, double step, int piece, double s,
                  double x[3], double r[9]) {
    sample to = *from;
    to.h.length = to.length;
    to.pose.q = to.q;
    const int root = from->h.root;
    for (int k = 0; k < root - 3; k++) to.pose.x[k] += step * change[k];
    if (root > 0) {
        double turn[3], about[9], old[9];
        tl_scale3(step, change + root - 3, turn);
        frame_of(turn, about);
        memcpy(old, to.pose.r, sizeof old);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                to.pose.r[3 * i + j] = 0.0;
                for (int k = 0; k < 3; k++)
                    to.pose.r[3 * i + j] += about[3 * i + k] * old[3 * k + j];
            }
    }
    for (int k = 0; k < 3 * PIECES; k++) to.q[k] += step * change[root + k];
    tl_helix_joints(&to.h, &to.pose, to.joint);
    tl_helix_point(to.joint[piece].x, to.joint[piece].r, to.q + 3 * (size_t)piece, s, x, r);
}

static void test_rows(void **state) {
    (void)state;
    tl_rng rng = {.state = 1};
    const double bends[] = {0.0, 1e-3, 2.0, 12.0};
    for (int32_t root = 0; root <= 6; root += 3)
        for (int trial = 0; trial < 40; trial++) {
            sample s;
            fill(&s, &rng, root, bends[trial % 4]);
            const int n = tl_helix_dof(&s.h), piece = trial % PIECES;
            const double at = tl_rng_range(&rng, 0.0, s.length[piece]), step = 1e-5;
            double change[MOST], move[3 * MOST], turn[3 * MOST], x[3], r[9], xs[2][3], rs[2][9];
            tl_helix_rows(&s.h, s.joint, s.q, piece, at, x, r, move, turn);
            for (int k = 0; k < n; k++) change[k] = tl_rng_normal(&rng);
            moved(&s, change, step, piece, at, xs[1], rs[1]);
            moved(&s, change, -step, piece, at, xs[0], rs[0]);
            double spin[3], rate[9] = {0};
            for (int i = 0; i < 3; i++) {
                double v = 0.0;
                spin[i] = 0.0;
                for (int k = 0; k < n; k++) v += move[i * n + k] * change[k];
                for (int k = 0; k < n; k++) spin[i] += turn[i * n + k] * change[k];
                // central differences: step² times third derivatives, and rounding over the step
                assert_near(v, (xs[1][i] - xs[0][i]) / (2.0 * step), 2e-8);
            }
            for (int k = 0; k < 3; k++) { // d(axis)/dt = spin × axis
                double axis[3] = {r[k], r[3 + k], r[6 + k]};
                tl_cross3(spin, axis, axis);
                for (int i = 0; i < 3; i++) rate[3 * i + k] = axis[i];
            }
            for (int i = 0; i < 9; i++)
                assert_near(rate[i], (rs[1][i] - rs[0][i]) / (2.0 * step), 2e-8);
        }
}

static void test_cannot_stretch(void **state) {
    (void)state;
    tl_rng rng = {.state = 2};
    sample s;
    fill(&s, &rng, 0, 9.0);
    double before[3], x[3], r[9], sum = 0.0, whole = 0.0;
    const int cuts = 4000;
    tl_copy3(s.pose.x, before);
    for (int e = 0; e < PIECES; e++) {
        whole += s.length[e];
        for (int k = 1; k <= cuts; k++) {
            tl_helix_point(s.joint[e].x, s.joint[e].r, s.q + 3 * (size_t)e, s.length[e] * k / cuts,
                           x, r);
            double chord[3];
            tl_sub3(x, before, chord);
            sum += tl_norm3(chord);
            tl_copy3(x, before);
        }
        for (int i = 0; i < 3; i++) assert_near(x[i], s.joint[e + 1].x[i], 1e-14);
    }
    assert_near(sum, whole, 1e-6); // the chords' shortfall, (κ ds)² / 24
}

typedef struct matrices {
    double mass[MOST * MOST], spread[MOST * MOST], carried[MOST], weight[MOST], driven[MOST];
    double work[6 * MOST];
    tl_helix_system system;
    tl_helix_field field[TL_HELIX_GAUSS * PIECES];
} matrices;

static void bind(matrices *m) {
    m->system = (tl_helix_system){m->mass, m->spread, m->carried, m->weight, m->driven, m->work};
}

static const double gravity[3] = {0.3, -0.4, -9.81};

// The mass matrix against sums over 1000 points of a piece, which are good to 1e-8 themselves; the
// last rod has a piece that turns by 7.7 rad, more than once around.
static void test_mass(void **state) {
    (void)state;
    tl_rng rng = {.state = 3};
    const double bends[] = {0.0, 1.5, 10.0}, bounds[] = {1e-8, 1e-8, 1e-3};
    for (int trial = 0; trial < 3; trial++) {
        sample s;
        matrices m;
        bind(&m);
        fill(&s, &rng, 6, bends[trial]);
        const int n = tl_helix_dof(&s.h), cuts = 1000;
        const tl_helix_drive still = {{0}, {0}};
        memset(m.field, 0, sizeof m.field);
        tl_helix_assemble(&s.h, s.joint, s.q, &still, (const tl_helix_field *)m.field, gravity,
                          &m.system);
        static double sum[MOST * MOST], move[3 * MOST], turn[3 * MOST];
        memset(sum, 0, sizeof sum);
        double largest = 0.0;
        for (int e = 0; e < PIECES; e++)
            for (int k = 0; k < cuts; k++) {
                double x[3], r[9];
                const double ds = s.length[e] / cuts;
                tl_helix_rows(&s.h, s.joint, s.q, e, (k + 0.5) * ds, x, r, move, turn);
                for (int a = 0; a < n; a++)
                    for (int b = 0; b < n; b++) {
                        double spin[2] = {0.0, 0.0};
                        for (int i = 0; i < 3; i++) {
                            sum[a * n + b] +=
                                ds * s.h.line_mass * move[i * n + a] * move[i * n + b];
                            spin[0] += r[3 * i] * turn[i * n + a];
                            spin[1] += r[3 * i] * turn[i * n + b];
                        }
                        sum[a * n + b] += ds * s.h.line_spin * spin[0] * spin[1];
                    }
            }
        for (int k = 0; k < n * n; k++) largest = fmax(largest, fabs(sum[k]));
        for (int k = 0; k < n * n; k++) assert_near(m.mass[k], sum[k], bounds[trial] * largest);
    }
}

// ½ vᵀ M v is the energy of the field; momentum of the field is M's root rows times v; the field's
// projection gives M v back; and a driven root moves the rod as a stiff body.
static void test_field(void **state) {
    (void)state;
    tl_rng rng = {.state = 4};
    for (int32_t root = 0; root <= 6; root += 3) {
        sample s;
        matrices m;
        bind(&m);
        fill(&s, &rng, root, 4.0);
        const int n = tl_helix_dof(&s.h);
        tl_helix_drive drive;
        double v[MOST];
        for (int k = 0; k < n; k++) v[k] = tl_rng_normal(&rng);
        for (int k = 0; k < 3; k++) {
            drive.v[k] = tl_rng_normal(&rng);
            drive.w[k] = tl_rng_normal(&rng);
        }
        const tl_helix_drive still = {{0}, {0}};
        tl_helix_velocity(&s.h, s.joint, s.q, &drive, v, m.field);
        tl_helix_assemble(&s.h, s.joint, s.q, &drive, (const tl_helix_field *)m.field, gravity,
                          &m.system);
        for (int a = 0; a < n; a++) {
            double mv = 0.0;
            for (int b = 0; b < n; b++) mv += m.mass[a * n + b] * v[b];
            assert_near(mv, m.carried[a], 1e-13);
        }
        tl_helix_velocity(&s.h, s.joint, s.q, &still, v, m.field);
        double energy = 0.0, momentum[3], angular[3];
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) energy += 0.5 * v[a] * m.mass[a * n + b] * v[b];
        assert_near(tl_helix_kinetic(&s.h, s.joint, s.q, (const tl_helix_field *)m.field, momentum,
                                     angular),
                    energy, 1e-13 * energy);
        for (int a = 0; a < 3 && root == 6; a++) {
            double sum = 0.0;
            for (int b = 0; b < n; b++) sum += m.mass[a * n + b] * v[b];
            assert_near(sum, momentum[a], 1e-13);
        }
        // stiff motion: every point has v + w × (x − root), every section the spin w · t
        double zero[MOST] = {0};
        if (root > 0) tl_copy3(drive.w, zero + root - 3);
        if (root == 6) tl_copy3(drive.v, zero);
        tl_helix_velocity(&s.h, s.joint, s.q, &drive, zero, m.field);
        double x[3], r[9], arm[3];
        const double end = 0.5 * s.length[PIECES - 1] * (1.0 + 0.86113631159405258);
        tl_helix_point(s.joint[PIECES - 1].x, s.joint[PIECES - 1].r, s.q + 3 * (PIECES - 1), end, x,
                       r);
        tl_sub3(x, s.pose.x, arm);
        tl_cross3(drive.w, arm, arm);
        const double *last = m.field[TL_HELIX_GAUSS * PIECES - 1];
        for (int k = 0; k < 3; k++) assert_near(last[k], drive.v[k] + arm[k], 1e-13);
        const double tangent[3] = {r[0], r[3], r[6]};
        assert_near(last[3], tl_dot3(tangent, drive.w), 1e-13);
    }
}

// The weight is the gradient of the energy, by differences.
static void test_weight(void **state) {
    (void)state;
    tl_rng rng = {.state = 5};
    sample s;
    matrices m;
    bind(&m);
    fill(&s, &rng, 0, 5.0);
    const int n = tl_helix_dof(&s.h);
    const tl_helix_drive still = {{0}, {0}};
    memset(m.field, 0, sizeof m.field);
    tl_helix_assemble(&s.h, s.joint, s.q, &still, (const tl_helix_field *)m.field, gravity,
                      &m.system);
    for (int k = 0; k < n; k++) {
        const double step = 1e-4, here = s.q[k];
        double energy[2];
        for (int side = 0; side < 2; side++) {
            s.q[k] = here + (side ? step : -step);
            tl_helix_joints(&s.h, &s.pose, s.joint);
            energy[side] = tl_helix_gravity(&s.h, s.joint, s.q, gravity);
        }
        s.q[k] = here;
        assert_near(m.weight[k], -(energy[1] - energy[0]) / (2.0 * step), 3e-9);
    }
    double natural[3 * PIECES] = {0};
    const double energy = tl_helix_elastic(&s.h, s.q, natural);
    double sum = 0.0;
    for (int e = 0; e < PIECES; e++)
        sum += 0.5 * s.length[e] *
               (2.0 * (pow(s.q[3 * e], 2.0) + pow(s.q[3 * e + 1], 2.0)) +
                1.3 * pow(s.q[3 * e + 2], 2.0));
    assert_near(energy, sum, 1e-12 * sum);
}

// Points sampled from a rod: the fit must pass through them.
static void test_fit(void **state) {
    (void)state;
    enum { NODES = 21 };
    tl_rng rng = {.state = 6};
    for (int trial = 0; trial < 8; trial++) {
        sample s;
        fill(&s, &rng, 0, trial < 4 ? 1.0 : 3.0);
        double point[3 * NODES], arc[NODES], length[PIECES], q[3 * PIECES], x[3], r[9], error;
        if (trial % 4 == 0) // a helix
            for (int k = 3; k < 3 * PIECES; k++) s.q[k] = s.q[k % 3];
        double whole = 0.0;
        for (int e = 0; e < PIECES; e++) s.length[e] = 0.2, whole += 0.2;
        tl_helix_joints(&s.h, &s.pose, s.joint);
        for (int k = 0; k < NODES; k++) {
            const double at = whole * k / (NODES - 1);
            int e = (int)(at / 0.2);
            if (e == PIECES) e--;
            double frame[9];
            tl_helix_point(s.joint[e].x, s.joint[e].r, s.q + 3 * (size_t)e, at - 0.2 * e,
                           point + 3 * (size_t)k, frame);
        }
        assert_int_equal(
            tl_helix_fit(ctx, NODES, point, PIECES, NULL, false, arc, length, q, x, r, &error),
            TALUS_OK);
        assert_near(arc[NODES - 1], whole, 2e-3 * whole);
        for (int k = 0; k < 3; k++) assert_near(x[k], point[k], 1e-9);
        assert_true(error <= (trial % 4 == 0 ? 2e-5 : 3e-3));
        // curvature without regard to the frame's roll; helix: twist as well
        for (int e = 0; e < PIECES && trial % 4 == 0; e++) {
            assert_near(hypot(q[3 * e], q[3 * e + 1]), hypot(s.q[0], s.q[1]), 0.02);
            assert_near(q[3 * e + 2], s.q[2], 0.04 * fabs(s.q[2]));
        }
    }
}

// Two points and a straight line: no curvature, whatever the twist.
static void test_fit_straight(void **state) {
    (void)state;
    const double point[12] = {0, 0, 1, 0, 0, 0.5, 0, 0, 0.25, 0, 0, -1}, twist[2] = {7.0, -2.0};
    for (int nodes = 2; nodes <= 4; nodes += 2) {
        double arc[4], length[2], q[6], x[3], r[9], error;
        assert_int_equal(
            tl_helix_fit(ctx, nodes, point, 2, twist, false, arc, length, q, x, r, &error),
            TALUS_OK);
        for (int e = 0; e < 2; e++) {
            assert_near(q[3 * e], 0.0, 1e-12);
            assert_near(q[3 * e + 1], 0.0, 1e-12);
            assert_near(length[e], nodes == 2 ? 0.25 : 1.0, 1e-14);
        }
        assert_true(error <= 1e-12);
        assert_near(r[6], -1.0, 1e-14);
    }
}

static void test_fit_memory(void **state) {
    (void)state;
    const double point[9] = {0, 0, 0, 1, 0, 0, 2, 0.1, 0};
    for (int64_t refused = 1;; refused++) {
        double arc[3], length[2], q[6], x[3], r[9], error;
        memory.fail_at = memory.requests + refused;
        const talus_status status =
            tl_helix_fit(ctx, 3, point, 2, NULL, false, arc, length, q, x, r, &error);
        memory.fail_at = 0;
        if (status == TALUS_OK) {
            assert_true(refused > 5);
            return;
        }
        assert_int_equal(status, TALUS_ERR_MEMORY);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_exact_curves), TEST(test_rows),         TEST(test_cannot_stretch),
        TEST(test_mass),         TEST(test_field),        TEST(test_weight),
        TEST(test_fit),          TEST(test_fit_straight), TEST(test_fit_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
