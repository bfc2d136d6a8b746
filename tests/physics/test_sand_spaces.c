// SPDX-License-Identifier: Apache-2.0
// Sand with stresses at nodes, at the corners of cells and at particles; grains that are not round;
// heaps that do not creep.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "linalg/tensor.h"
#include "support/sands.h"
#include "world/world_impl.h"
#include <stdlib.h>
#include <string.h>

static const double gravity = SANDS_GRAVITY;

// How fast sand at rest may be after a step of length h that was solved to a residual of `eps`,
// told of stresses: relative to an impulse h ρ g L at a full node. At a point that holds, the
// residual bounds |u| λ^−½, and with the λ ~ φ edge^(d−2)/(2^(d−1) ρ) of a full node and u the rate
// times its volume of grains, rates are at most eps h g L/(2 edge²) times the root of a ratio of
// two λ, which goes with the volume of a point: 8 between the middle and a corner. Speeds are rates
// times cells, added up over the layers of nodes, along dim axes: √8 √3 < 10.
static double rest_speed(const talus_sand_def *s, double eps, double h, int layers) {
    return 10.0 * layers * eps * gravity * h * s->height / (2.0 * s->cell);
}

// Sand at rest in every space: it does not move, and the vertical stress does the virtual work of
// the weight when all is stretched, Σ_p V_p σ_zz = ρ g Σ_i m_i z_i. (Where more stresses than nodes
// share a cell, single ones are not determined.)
static void weight(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int space = TALUS_STRESS_Q1; space <= TALUS_STRESS_PARTICLE; space++) {
            talus_world_def def = sands_world(dim, 1e-3);
            def.tolerance = space == TALUS_STRESS_Q1D ? 1e-5 : 1e-6; // many rows say the same
            talus_world *w = worlds_create(&def);
            talus_sand_def s = sands_box(4, dim == 2 ? 8 : 3, 8);
            s.stress = (talus_stress)space;
            s.packed = TALUS_PACKED_ALL;
            s.height = 0.5;
            WORLDS_OK(talus_world_add_sand(w, &s));
            sands_heap f = {dim, {0}, {4, 3, 5}, s.fraction, 2, {0}};
            if (dim == 2) f.high[1] = 5;
            sands_fill(w, &s, &f);
            for (int k = 0; k < 3; k++) assert_false(worlds_step(w).missed);
            const talus_sand_view v = sands_look(w);
            double stretched = 0.0, lifted = 0.0;
            for (int64_t i = 0; i < v.nodes; i++) {
                const int32_t z = (int32_t)(v.node[i] >> (21 * (dim - 1)) & 0x1fffff);
                const double volume = w->sand->node[i * TL_SUMS + TL_SUM_VOLUME];
                double m[9];
                tl_tensor_unpack(dim, v.node_stress + i * tl_tensor_size(dim), m);
                stretched += volume * m[4 * (dim - 1)];
                lifted += s.density * gravity * volume * z * s.cell;
            }
            assert_true(fabs(stretched - lifted) < 1e-3 * lifted);
            for (int64_t i = 0; i < 3 * v.count; i++)
                assert_true(fabs(v.velocity[i]) < rest_speed(&s, def.tolerance, def.step, 6));
            talus_world_destroy(w);
        }
}

enum { WIDE = 5, HIGH = 6 }; // cells

static talus_world *column(const talus_sand_def *law, int32_t threads) {
    talus_world_def def = sands_world(2, 4e-3);
    def.tolerance = 1e-6;
    def.threads = threads;
    talus_world *w = worlds_create(&def);
    talus_sand_def s = *law;
    s.face[1][0] = TALUS_FACE_STICK;
    WORLDS_OK(talus_world_add_sand(w, &s));
    const sands_heap f = {2, {0}, {WIDE, HIGH}, s.fraction, 2, {0}};
    sands_fill(w, &s, &f);
    return w;
}

// Space of each particle over that of its grains when they are as dense as can be, by id.
static void looseness(const talus_world *w, double fraction, double *out) {
    const talus_sand_view v = sands_look(w);
    for (int64_t i = 0; i < v.count; i++) {
        const double *f = v.frame + 9 * i;
        out[v.id[i]] = 4.0 * sqrt(f[0] * f[4] - f[1] * f[3]) * fraction / v.volume[i];
    }
}

// A column falls: energy never rises by more than the solver leaves, mass is kept, and it runs as
// far whatever the space, to three cells. And a run that is taken up again in the middle, with
// other threads, has the same bits.
// With stresses at particles none closes up by more than it may: with the looseness s the law lets
// h div u be no less than −max(0, s − 1), and frames follow the flow exactly, so that in a step
//     s⁺ >= s exp(−max(0, s − 1)),
// up to what the solver leaves: 1e-6 of the fastest rate there is, for which h div u <= 2 dim = 4
// (theory, what a tolerance means), times the root of a ratio of λ, here of volumes and thus 1.
static void columns(void **state) {
    (void)state;
    enum { PARTICLES = 4 * WIDE * HIGH };
    double front[3], loose[2][PARTICLES];
    for (int space = TALUS_STRESS_Q1; space <= TALUS_STRESS_PARTICLE; space++) {
        talus_sand_def s = sands_box(40, 12, 1);
        s.stress = (talus_stress)space;
        talus_world *w = column(&s, 1), *again = column(&s, 2);
        double energy = INFINITY, start = 0.0, *numbers = NULL;
        for (int k = 0; k < 50; k++) {
            looseness(w, s.fraction, loose[0]);
            const talus_ledger l = worlds_step(w);
            looseness(w, s.fraction, loose[1]);
            for (int i = 0; space == TALUS_STRESS_PARTICLE && i < PARTICLES; i++)
                assert_true(loose[1][i] >= loose[0][i] * exp(-fmax(0.0, loose[0][i] - 1.0)) - 4e-6);
            if (k == 0) start = l.kinetic + l.potential;
            assert_true(l.kinetic + l.potential <= energy + 1e-5 * start);
            energy = l.kinetic + l.potential;
            if (k == 30) {
                const int64_t count = talus_world_save(w, NULL);
                numbers = malloc((size_t)count * sizeof *numbers);
                assert_true(talus_world_save(w, numbers) == count);
                WORLDS_OK(talus_world_load(again, numbers, count));
            }
            if (k > 30 && k <= 38) worlds_step(again);
            if (k == 38) assert_true(talus_world_hash(w) == talus_world_hash(again));
        }
        const talus_sand_view v = sands_look(w);
        assert_true(fabs(sands_total(&v) - s.fraction * WIDE * HIGH * s.cell * s.cell) < 1e-13);
        front[space] = sands_top(&v, 0);
        free(numbers);
        talus_world_destroy(w);
        talus_world_destroy(again);
    }
    for (int k = 1; k < 3; k++) assert_true(fabs(front[k] - front[0]) < 0.3);
}

// ---- grains that are not round -----------------------------------------------------------------

static tl_sand flat(int dim, double anisotropy, double elongation) {
    tl_sand m = {.dim = dim};
    m.def.anisotropy = anisotropy;
    m.def.elongation = elongation;
    return m;
}

// Normals turn with a rigid rotation; in simple shear those of thin disks come to stand along the
// gradient of the velocity; the trace stays 1, disorder makes them even.
static void normals(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        tl_sand m = flat(dim, 0.5, 0.7);
        const double turn[9] = {0, -2, 0, 2, 0, 0, 0, 0, 0}; // 2 rad/s about z
        double nu[9] = {1, 0, 0, 0, 0, 0, 0, 0, 0};
        for (int k = 0; k < 100; k++) tl_sand_turn_normals(&m, 5e-3, turn, nu);
        const double c = cos(1.0), s = sin(1.0), exact[4] = {c * c, c * s, c * s, s * s};
        for (int k = 0; k < 4; k++) assert_true(fabs(nu[k / 2 * 3 + k % 2] - exact[k]) < 1e-12);

        m = flat(dim, 0.5, 1.0);
        const double shear[9] = {0, 1, 0, 0, 0, 0, 0, 0, 0}; // u_x = y
        for (int k = 0; k < 9; k++) nu[k] = k % 4 == 0 && k / 4 < dim ? 1.0 / dim : 0.0;
        for (int k = 0; k < 3000; k++) {
            tl_sand_turn_normals(&m, 1e-2, shear, nu);
            assert_true(fabs(nu[0] + nu[4] + nu[8] - 1.0) < 1e-13);
        }
        assert_true(nu[4] > 0.995);
        m.def.disorder = 10.0;
        for (int k = 0; k < 3000; k++) tl_sand_turn_normals(&m, 1e-2, shear, nu);
        assert_true(fabs(nu[4] - 1.0 / dim) < 0.1);
    }
}

// Against the equation itself, by a small explicit step.
static void jeffery(void **state) {
    (void)state;
    tl_rng rng = {.state = 3};
    for (int trial = 0; trial < 20; trial++) {
        const tl_sand m = flat(3, 0.5, tl_rng_range(&rng, -1.0, 1.0));
        const double h = 1e-6, l = m.def.elongation;
        double g[9], nu[9], next[9], d[9], w[9], x[9], trace = 0.0, dn = 0.0;
        for (int k = 0; k < 9; k++) g[k] = tl_rng_normal(&rng), x[k] = tl_rng_normal(&rng);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                nu[3 * i + k] = 0.0;
                for (int e = 0; e < 3; e++) nu[3 * i + k] += x[3 * i + e] * x[3 * k + e];
                d[3 * i + k] = 0.5 * (g[3 * i + k] + g[3 * k + i]);
                w[3 * i + k] = 0.5 * (g[3 * i + k] - g[3 * k + i]);
            }
        for (int k = 0; k < 3; k++) trace += nu[4 * k];
        for (int k = 0; k < 9; k++) next[k] = nu[k] /= trace;
        for (int k = 0; k < 9; k++) dn += d[k] * nu[k];
        tl_sand_turn_normals(&m, h, g, next);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                double rate = 2.0 * l * dn * nu[3 * i + k];
                for (int e = 0; e < 3; e++)
                    rate += w[3 * i + e] * nu[3 * e + k] - nu[3 * i + e] * w[3 * e + k] -
                            l * (d[3 * i + e] * nu[3 * e + k] + nu[3 * i + e] * d[3 * e + k]);
                assert_true(fabs((next[3 * i + k] - nu[3 * i + k]) / h - rate) < 1e-4);
            }
    }
}

// Stress at which sand with the normals e yields, over that of round grains: the law is
// |A λ_T| = mu λ_N. With a = 0.3 in space it is (1 − a)² = 0.49 for shear across e, (1 − a)(1 + 2a)
// for shear along it, and N⁻¹ stretches e e by (1 + 2a)² = 2.56. A is symmetric and positive, and
// the identity where normals are even.
static void yield(void **state) {
    (void)state;
    const tl_sand m = flat(3, 0.3, 1.0);
    const double e[9] = {1, 0, 0, 0, 0, 0, 0, 0, 0};
    const double even[9] = {1.0 / 3.0, 0, 0, 0, 1.0 / 3.0, 0, 0, 0, 1.0 / 3.0};
    double a[25], x[5], t[6];
    tl_sand_tilt(&m, even, a);
    for (int k = 0; k < 25; k++) assert_true(fabs(a[k] - (k % 6 == 0)) < 1e-14);
    tl_sand_tilt(&m, e, a);
    const double factor[3] = {0.7 * 1.6, 0.7 * 1.6, 0.7 * 0.7}; // xy, xz, yz
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 5; j++) x[j] = j == 2 + k;
        tl_sand_tilt_apply(3, false, a, 1, x);
        for (int j = 0; j < 5; j++)
            assert_true(fabs(x[j] - (j == 2 + k ? 1.0 / factor[k] : 0.0)) < 1e-14);
    }
    // what N X N makes of the deviator of e e, by hand
    const double dev[9] = {2.0 / 3.0 / 2.56, 0, 0, 0, -1.0 / 3.0 / 0.49, 0, 0, 0,
                           -1.0 / 3.0 / 0.49};
    const double unit[9] = {2.0 / 3.0, 0, 0, 0, -1.0 / 3.0, 0, 0, 0, -1.0 / 3.0};
    double expected[6];
    tl_tensor_pack(3, unit, t);
    tl_tensor_pack(3, dev, expected);
    tl_sand_tilt_apply(3, false, a, 1, t + 1);
    for (int k = 1; k < 6; k++) assert_true(fabs(t[k] - expected[k]) < 1e-14);
    tl_rng rng = {.state = 9};
    for (int trial = 0; trial < 50; trial++) {
        double n[3], nu[9], y[5], back[5], size = 0.0, positive = 0.0;
        for (int k = 0; k < 3; k++) {
            n[k] = tl_rng_normal(&rng);
            size += n[k] * n[k];
        }
        for (int k = 0; k < 9; k++) nu[k] = n[k / 3] * n[k % 3] / size;
        tl_sand_tilt(&m, nu, a);
        for (int k = 0; k < 25; k++) assert_true(fabs(a[k] - a[k % 5 * 5 + k / 5]) < 1e-13);
        for (int k = 0; k < 5; k++) back[k] = y[k] = x[k] = tl_rng_normal(&rng);
        tl_sand_tilt_apply(3, false, a, 1, y);
        for (int k = 0; k < 5; k++) positive += x[k] * y[k];
        assert_true(positive > 0.0);
        memcpy(back, y, sizeof y);
        tl_sand_tilt_apply(3, true, a, 1, back);
        for (int k = 0; k < 5; k++) assert_true(fabs(back[k] - x[k]) < 1e-12);
    }
}

// Grains whose normals are even and only turn are round: the column falls as without, to half a
// cell. Grains that lie flat have less friction in all directions: with their normals along e and
// a = 0.5 it is (1 − a)(1 + a) = 0.75 of that of round grains for shear along e, and for pure shear
// in its axes, with N = diag(1/1.5, 2), 2/(1.5⁻² + 2²) = 0.45; the column runs at least as far as
// with round grains, and no farther than with 0.45 of their friction. Energy never rises.
static void flat_grains(void **state) {
    (void)state;
    enum { EVEN, ROUND, FLAT, SMOOTH, KINDS };
    double front[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        talus_sand_def s = sands_box(40, 12, 1);
        s.anisotropy = kind == EVEN || kind == FLAT ? 0.5 : 0.0;
        s.elongation = kind == FLAT ? 0.9 : 0.0;
        if (kind == SMOOTH) s.friction *= 0.45;
        talus_world *w = column(&s, 1);
        double energy = INFINITY, start = 0.0;
        for (int k = 0; k < 80; k++) {
            const talus_ledger l = worlds_step(w);
            if (k == 0) start = l.kinetic + l.potential;
            assert_true(l.kinetic + l.potential <= energy + 1e-5 * start);
            energy = l.kinetic + l.potential;
        }
        const talus_sand_view v = sands_look(w);
        front[kind] = sands_top(&v, 0);
        assert_true((v.orient != NULL) == (s.anisotropy > 0.0));
        talus_world_destroy(w);
    }
    assert_true(fabs(front[EVEN] - front[ROUND]) < 0.05);
    assert_true(front[FLAT] > front[ROUND] && front[FLAT] < front[SMOOTH]);
}

// ---- creep ------------------------------------------------------------------------------------

// A heap with slopes of 1 in 3, well below its friction, is put down and left: after 1 000 steps it
// moves no faster than the solver's tolerance lets sand at rest move in one, and is where it was to
// as much in each of them: at a thousandth of the pressure under it, the default of scenes, to a
// thousandth of a cell.
static void creep(void **state) {
    (void)state;
    enum { STEPS = 1000, LAYERS = 5 };
    for (int k = 0; k < 4; k++) {
        talus_world_def def = sands_world(2, 4e-3);
        def.tolerance = k < 2 ? 1e-3 : 1e-6;
        talus_world *w = worlds_create(&def);
        talus_sand_def s = sands_box(30, 8, 1);
        s.friction = 0.6;
        s.height = 0.4;
        s.stress = k % 2 == 0 ? TALUS_STRESS_Q1 : TALUS_STRESS_PARTICLE;
        s.face[1][0] = TALUS_FACE_STICK;
        WORLDS_OK(talus_world_add_sand(w, &s));
        for (int i = 0; i < 60 * 16; i++) {
            const double x[3] = {(i % 60 + 0.5) * 0.05, (i / 60 + 0.5) * 0.05, 0.0};
            if (x[1] < (1.2 - fabs(x[0] - 1.5)) / 3.0)
                WORLDS_OK(talus_world_add_particles(w, 1, x, NULL, 0.05, s.fraction));
        }
        const talus_sand_view before = sands_look(w);
        const double height = sands_top(&before, 1), front = sands_top(&before, 0);
        for (int step = 0; step < STEPS; step++) assert_false(worlds_step(w).missed);
        const talus_sand_view v = sands_look(w);
        const double slow = rest_speed(&s, def.tolerance, def.step, LAYERS);
        const double near = fmin(1e-3 * s.cell, STEPS * def.step * slow);
        for (int64_t i = 0; i < v.count; i++)
            assert_true(hypot(v.velocity[3 * i], v.velocity[3 * i + 1]) < slow);
        assert_true(fabs(sands_top(&v, 1) - height) < near);
        assert_true(fabs(sands_top(&v, 0) - front) < near);
        talus_world_destroy(w);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(weight), TEST(columns),     TEST(normals), TEST(jeffery),
        TEST(yield),  TEST(flat_grains), TEST(creep),
    };
    return cmocka_run_group_tests_name("physics/sand_spaces", tests, NULL, NULL);
}
