// SPDX-License-Identifier: Apache-2.0
// Rods of kind helix in a world: heavy elastica and torsion against exact solutions, energy and
// momentum, a driven root, friction on a slope, equal bits for any number of threads and after a
// resume, and bad input.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/worlds.h"
#include <stdlib.h>

enum { NODES = 41 };
static const double pi = 3.14159265358979323846;

static void line(int nodes, double length, double x, double y, double z, double *out) {
    for (int k = 0; k < nodes; k++) {
        out[3 * k] = x + length * k / (nodes - 1);
        out[3 * k + 1] = y;
        out[3 * k + 2] = z;
    }
}

static talus_rod_def helix_def(int nodes, int pieces, const double *position) {
    talus_rod_def def = talus_rod_default();
    def.kind = TALUS_ROD_HELIX;
    def.nodes = nodes;
    def.pieces = pieces;
    def.position = position;
    return def;
}

static int32_t add_rod(talus_world *w, const talus_rod_def *def) {
    int32_t index = -1;
    WORLDS_OK(talus_world_add_rod(w, def, &index));
    return index;
}

static double energy_of(const talus_ledger *l) { return l->kinetic + l->potential + l->elastic; }

// ---- the heavy elastica
// --------------------------------------------------------------------------

// EI θ'' = −ρA g (L − s) cos θ … a horizontal cantilever: θ(0) = 0, θ'(L) = 0, by shooting on θ'(0)
// with Runge-Kutta; `drop` is the tip's place.
static void elastica(double weight, double stiffness, double length, double tip[2]) {
    enum { STEPS = 2000 };
    const double h = length / STEPS;
    double low = -50.0, high = 0.0;
    for (int round = 0; round < 80; round++) {
        const double guess = 0.5 * (low + high);
        double y[4] = {0.0, guess, 0.0, 0.0}; // θ, θ', x, z
        for (int k = 0; k < STEPS; k++) {
            double slope[4][4];
            for (int stage = 0; stage < 4; stage++) {
                double at[4];
                const double part = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h;
                for (int i = 0; i < 4; i++)
                    at[i] = y[i] + (stage > 0 ? part * slope[stage - 1][i] : 0.0);
                const double left = length - (k * h + part);
                slope[stage][0] = at[1];
                slope[stage][1] = weight * left * cos(at[0]) / stiffness;
                slope[stage][2] = cos(at[0]);
                slope[stage][3] = sin(at[0]);
            }
            for (int i = 0; i < 4; i++)
                y[i] +=
                    h / 6.0 * (slope[0][i] + 2.0 * slope[1][i] + 2.0 * slope[2][i] + slope[3][i]);
        }
        tip[0] = y[2];
        tip[1] = y[3];
        if (y[1] > 0.0)
            high = guess;
        else
            low = guess;
    }
}

// A cantilever that bends down by more than half its length, in pieces: second order.
static void test_elastica(void **state) {
    (void)state;
    const double length = 0.2, radius = 1e-3, young = 3e7, density = 1000.0;
    const double area = pi * radius * radius, stiffness = young * 0.25 * area * radius * radius;
    double tip[2], error[3], position[3 * 17];
    elastica(density * area * 9.81, stiffness, length, tip);
    assert_true(tip[1] < -0.5 * length);
    for (int i = 0; i < 3; i++) {
        const int pieces = 4 << i;
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.02, 9.81);
        talus_world *w = worlds_create(&def);
        line(17, length, 0.0, 0.0, 0.0, position);
        talus_rod_def rod = helix_def(17, pieces, position);
        rod.young = young;
        rod.radius = radius;
        rod.density = density;
        rod.drag = 0.05;
        rod.start = TALUS_END_CLAMPED;
        rod.self_contact = false;
        add_rod(w, &rod);
        talus_ledger last = {0};
        double highest = -INFINITY;
        for (int k = 0; k < 400; k++) {
            last = worlds_step(w);
            // an implicit step never creates energy
            if (k > 0) assert_true(energy_of(&last) <= highest + 1e-12);
            highest = energy_of(&last);
        }
        const talus_rod_view view = talus_world_rods(w);
        error[i] = hypot(view.position[3 * 16] - tip[0], view.position[3 * 16 + 2] - tip[1]);
        assert_true(fabs(view.position[3 * 16 + 1]) <= 1e-12);
        assert_true(last.kinetic <= 1e-15);
        talus_world_destroy(w);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(error[i] / error[i + 1] > 3.5);
        assert_true(error[i] / error[i + 1] < 4.5);
    }
    assert_true(error[2] <= 1e-3 * length);
}

// A straight rod whose natural shape is twisted, let loose: it swings about its axis with the
// period 4 L √(ρ/G).
static void test_torsion(void **state) {
    (void)state;
    enum { SHORT = 9 };
    const double length = 0.1, twist = 3.0;
    double position[3 * SHORT], curvature[3 * (SHORT - 2)] = {0}, director[3 * (SHORT - 1)];
    line(SHORT, length, 0.0, 0.0, 0.0, position);
    for (int k = 0; k < SHORT - 2; k++) curvature[3 * k + 2] = twist;
    for (int k = 0; k < SHORT - 1; k++)
        for (int i = 0; i < 3; i++) director[3 * k + i] = i == 1;
    talus_rod_def rod = helix_def(SHORT, 8, position);
    rod.curvature = curvature;
    rod.director = director;
    rod.start = TALUS_END_CLAMPED;
    rod.shear = 4e6;
    const double period = 4.0 * length * sqrt(rod.density / rod.shear);
    talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, period / 400.0, 0.0);
    def.theta = 0.5;
    talus_world *w = worlds_create(&def);
    add_rod(w, &rod);
    double turn = 0.0, most = 0.0, least = INFINITY, energy = 0.0;
    int back = 0;
    for (int k = 1; k <= 420; k++) {
        const talus_ledger l = worlds_step(w);
        const double *d = talus_world_rods(w).director + 3 * (SHORT - 1);
        turn = atan2(d[2], d[1]);
        most = fmax(most, turn);
        // half a period after the begin it stands at twice the natural angle, then it comes back
        if (k > 300 && turn < least) least = turn, back = k;
        if (k == 1) energy = energy_of(&l);
        assert_true(fabs(energy_of(&l) - energy) <= 1e-10 * energy);
    }
    // the middle of the last segment: twist times its place, twice
    assert_true(fabs(most - 2.0 * twist * length * (1.0 - 0.5 / 8.0)) <= 0.02);
    assert_true(abs(back - 400) <= 10); // eight pieces disperse waves
    talus_world_destroy(w);
}

// A stiff rod hung at its pinned start swings as a rod does, ω² = 3 g / 2 l.
static void test_pinned(void **state) {
    (void)state;
    const double length = 0.1, slant = 0.02;
    double position[3 * 5], before = 1.0, time = 0.0;
    for (int k = 0; k < 5; k++) {
        position[3 * k] = 0.25 * k * length * sin(slant);
        position[3 * k + 1] = 0.0;
        position[3 * k + 2] = -0.25 * k * length * cos(slant);
    }
    const double wanted = 0.5 * pi / sqrt(1.5 * 9.81 / length);
    talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, wanted / 200.0, 9.81);
    def.theta = 0.5;
    talus_world *w = worlds_create(&def);
    talus_rod_def rod = helix_def(5, 2, position);
    rod.young = 1e10;
    rod.start = TALUS_END_PINNED;
    add_rod(w, &rod);
    for (;;) {
        const double x = talus_world_rods(w).position[3 * 4];
        if (x < 0.0) {
            time -= def.step * x / (x - before);
            break;
        }
        before = x;
        worlds_step(w);
        time += def.step;
        for (int k = 0; k < 3; k++) assert_true(talus_world_rods(w).position[k] == 0.0);
    }
    assert_true(fabs(time - wanted) <= 1e-3 * wanted);
    talus_world_destroy(w);
}

// The same definition with both kinds of rods: natural curvatures, axes and ends mean the same.
static void test_kinds(void **state) {
    (void)state;
    enum { FINE = 33 };
    const double length = 0.2;
    double position[3 * FINE], curvature[3 * (FINE - 2)], director[3 * (FINE - 1)], tip[2][3];
    line(FINE, length, 0.0, 0.0, 0.0, position);
    for (int k = 0; k < FINE - 2; k++)
        curvature[3 * k] = 4.0, curvature[3 * k + 1] = 2.5, curvature[3 * k + 2] = 6.0;
    for (int k = 0; k < FINE - 1; k++)
        for (int i = 0; i < 3; i++) director[3 * k + i] = i == 1;
    for (int kind = 0; kind < 2; kind++) {
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 5e-3, 9.81);
        talus_world *w = worlds_create(&def);
        talus_rod_def rod = helix_def(FINE, kind ? 16 : 0, position);
        rod.kind = kind ? TALUS_ROD_HELIX : TALUS_ROD_DISCRETE;
        rod.curvature = curvature;
        rod.director = director;
        rod.young = 3e7;
        rod.drag = 0.1;
        rod.damping = 0.02;
        rod.start = TALUS_END_CLAMPED;
        rod.self_contact = false;
        add_rod(w, &rod);
        for (int k = 0; k < 400; k++) worlds_step(w);
        const talus_rod_view view = talus_world_rods(w);
        memcpy(tip[kind], view.position + 3 * (FINE - 1), sizeof tip[kind]);
        talus_world_destroy(w);
    }
    // the discrete rod has no natural curvature in the half cell at its clamp
    for (int i = 0; i < 3; i++) assert_true(fabs(tip[0][i] - tip[1][i]) <= 0.03 * length);
    assert_true(fabs(tip[0][1]) > 0.1 * length); // it left the plane
}

// ---- energy and momentum
// -------------------------------------------------------------------------

// A free rod, bent and let loose while it flies: with θ = ½ kinetic and elastic energy together
// stay to rounding, momentum as well, angular momentum to the order of the step.
static void test_flying(void **state) {
    (void)state;
    double position[3 * 13], drift[2];
    for (int k = 0; k < 13; k++) {
        position[3 * k] = 0.1 * cos(0.2 * k);
        position[3 * k + 1] = 0.1 * sin(0.2 * k);
        position[3 * k + 2] = 0.01 * k;
    }
    for (int i = 0; i < 2; i++) {
        const double h = 1e-3 / (1 << i);
        talus_world_def def = worlds_def(3, TALUS_SCHEME_MOREAU_JEAN, h, 0.0);
        def.theta = 0.5;
        talus_world *w = worlds_create(&def);
        talus_rod_def rod = helix_def(13, 6, position);
        rod.velocity[0] = 0.3;
        rod.self_contact = false;
        add_rod(w, &rod);
        talus_ledger first = {0}, l = {0};
        double worst = 0.0;
        for (int k = 0; k < 400 << i; k++) {
            l = worlds_step(w);
            if (k == 0) first = l;
            for (int c = 0; c < 3; c++) {
                assert_true(fabs(l.momentum[c] - first.momentum[c]) <= 1e-12);
                worst = fmax(worst, fabs(l.angular[c] - first.angular[c]));
            }
            assert_true(fabs(energy_of(&l) - energy_of(&first)) <= 1e-9 * energy_of(&first));
            assert_true(fabs(l.loss_numerical) <= 1e-10 * energy_of(&first));
        }
        assert_true(l.elastic < 0.999 * first.elastic || l.elastic > 1.001 * first.elastic);
        drift[i] = worst;
        talus_world_destroy(w);
    }
    assert_true(drift[1] <= 0.7 * drift[0] + 1e-12);
}

// A stiff rod brought to speed by the body that holds it: the body's work becomes its energy.
static void test_driven(void **state) {
    (void)state;
    double position[3 * 9];
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-4, 0.0);
    talus_world *w = worlds_create(&def);
    talus_body_def body =
        worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = 1e-3});
    body.position[2] = 1.0;
    body.motion.kind = TALUS_MOTION_OSCILLATION;
    body.motion.amplitude[2] = 0.1;
    body.motion.frequency = 1.0;
    body.motion.phase = -0.5 * pi; // from rest
    const int32_t holder = worlds_add(w, &body);
    line(9, 0.1, 0.002, 0.0, 1.0, position);
    talus_rod_def rod = helix_def(9, 4, position);
    rod.young = 1e11;
    rod.start = TALUS_END_CLAMPED;
    rod.start_body = holder;
    add_rod(w, &rod);
    double work = 0.0, loss = 0.0;
    talus_ledger l = {0};
    for (int k = 0; k < 2500; k++) {
        const double before = energy_of(&l);
        l = worlds_step(w);
        work += l.work_obstacles;
        loss += l.loss_numerical;
        assert_true(fabs(energy_of(&l) - before - l.work_obstacles - l.work_forces +
                         l.loss_numerical + l.loss_friction + l.loss_impact) <= 1e-14);
    }
    const double mass = rod.density * pi * 1e-6 * 0.1, speed = 0.1 * 2.0 * pi;
    assert_true(fabs(l.kinetic - 0.5 * mass * speed * speed) <= 1e-3 * l.kinetic);
    assert_true(fabs(work - l.kinetic) <= 2e-3 * l.kinetic);
    assert_true(fabs(loss) <= 2e-3 * l.kinetic);
    const talus_rod_view view = talus_world_rods(w);
    for (int k = 0; k < 9; k++) {
        assert_true(fabs(view.position[3 * k + 2] - 1.1) <= 1e-5);
        assert_true(fabs(view.velocity[3 * k + 2] - speed) <= 1e-3);
    }
    talus_world_destroy(w);
}

// ---- contacts
// ------------------------------------------------------------------------------------

// A rod that points down a slope, as a block: it stays where mu >= tan, and slides with
// g (sin − mu cos) where not.
static void test_slope(void **state) {
    (void)state;
    const double slope = 0.4;
    for (int slides = 0; slides < 2; slides++) {
        const double mu = slides ? 0.2 : 0.5, h = 2e-3;
        talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, h, 0.0);
        def.gravity[0] = 9.81 * sin(slope);
        def.gravity[2] = -9.81 * cos(slope);
        def.tolerance = 1e-9;
        talus_world *w = worlds_create(&def);
        worlds_law(w, mu, 0.0, 0.0);
        worlds_plane(w, 0.0, 0.0, 1.0);
        double position[3 * 9];
        line(9, 0.2, 0.0, 0.0, 1e-3, position);
        const talus_rod_def rod = helix_def(9, 4, position);
        add_rod(w, &rod);
        talus_ledger l = {0};
        for (int k = 0; k < 100; k++) {
            l = worlds_step(w);
            assert_true(l.residual <= 1e-8);
            assert_true(l.loss_friction >= -1e-15);
        }
        const talus_rod_view view = talus_world_rods(w);
        const double rate = slides ? 9.81 * (sin(slope) - mu * cos(slope)) : 0.0;
        for (int k = 0; k < 9; k++) {
            assert_true(fabs(view.velocity[3 * k] - rate * 0.2) <= 1e-9);
            assert_true(fabs(view.velocity[3 * k + 1]) <= 1e-9);
            assert_true(fabs(view.position[3 * k + 2] - 1e-3) <= 1e-9);
        }
        const double moved = slides ? rate * 0.5 * 0.2 * (0.2 + h) : 0.0; // of an implicit step
        assert_true(fabs(view.position[0] - moved) <= 1e-9);
        assert_true(slides ? l.slip > 0 && l.stick == 0 : l.stick > 0 && l.slip == 0);
        talus_world_destroy(w);
    }
}

static talus_world *tangle(int threads) {
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 2e-3, 9.81);
    def.threads = threads;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    worlds_plane(w, 0.0, 0.0, 1.0);
    for (int i = 0; i < 8; i++) {
        double position[3 * 11];
        for (int k = 0; k < 11; k++) {
            const double along = 0.02 * k - 0.1, turn = 0.7 * i;
            position[3 * k] = along * cos(turn);
            position[3 * k + 1] = along * sin(turn);
            position[3 * k + 2] = 0.006 + 0.005 * i;
        }
        talus_rod_def rod = helix_def(11, 5, position);
        rod.radius = 2e-3;
        rod.damping = 0.01;
        add_rod(w, &rod);
    }
    return w;
}

static void test_same_bits(void **state) {
    (void)state;
    uint64_t hash = 0;
    double *saved = NULL;
    int64_t count = 0;
    for (int threads = 1; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
        talus_world *w = tangle(threads);
        for (int k = 0; k < 24; k++) {
            if (threads == 1 && k == 12) {
                count = talus_world_save(w, NULL);
                saved = malloc((size_t)count * sizeof *saved);
                assert_non_null(saved);
                talus_world_save(w, saved);
            }
            const talus_ledger l = worlds_step(w);
            if (k == 23) assert_true(l.contacts > 8);
        }
        if (threads == 1) hash = talus_world_hash(w);
        assert_true(talus_world_hash(w) == hash);
        talus_world_destroy(w);
    }
    talus_world *w = tangle(2);
    WORLDS_OK(talus_world_load(w, saved, count));
    for (int k = 12; k < 24; k++) worlds_step(w);
    assert_true(talus_world_hash(w) == hash);
    talus_world_destroy(w);
    free(saved);
}

// ---- bad input
// -----------------------------------------------------------------------------------

static void refuse(talus_world *w, const talus_rod_def *rod, const char *words) {
    int32_t index;
    assert_int_equal(talus_world_add_rod(w, rod, &index), TALUS_ERR_ARG);
    if (!strstr(talus_context_last_error(ctx), words))
        print_message("%s\n", talus_context_last_error(ctx));
    assert_non_null(strstr(talus_context_last_error(ctx), words));
}

static void test_bad_input(void **state) {
    (void)state;
    double position[3 * NODES];
    talus_world_def def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 1e-3, 9.81);
    talus_world *w = worlds_create(&def);
    line(NODES, 1.0, 0.0, 0.0, 1.0, position);
    talus_rod_def rod = helix_def(NODES, 4, position);
    rod.end = TALUS_END_PINNED;
    refuse(w, &rod, "held at its start alone");
    rod.end = TALUS_END_FREE;
    rod.pieces = NODES;
    refuse(w, &rod, "at most 40 pieces, not 41");
    rod.pieces = 1;
    for (int k = 0; k < NODES; k++) position[3 * k + 1] = 0.1 * sin(0.5 * k);
    refuse(w, &rod, "give more pieces, or kind discrete");
    rod.pieces = -1;
    refuse(w, &rod, "pieces");
    assert_int_equal(talus_world_rods(w).rods, 0);
    worlds_step(w);
    talus_world_destroy(w);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_elastica), TEST(test_pinned),    TEST(test_kinds),
        TEST(test_torsion),  TEST(test_flying),    TEST(test_driven),
        TEST(test_slope),    TEST(test_same_bits), TEST(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
