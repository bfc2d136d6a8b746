// SPDX-License-Identifier: Apache-2.0
// ctest labels: threads
// Sand against what is known exactly: free fall, pressure at rest, compaction, impact, rotation,
// repose; energy, mass, bits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/sands.h"
#include <stdlib.h>

static const double gravity = SANDS_GRAVITY;

// v = n g h, and a way of g h² n (n + 1) / 2, for every particle; no stress.
static void free_fall(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int transfer = 0; transfer < 3; transfer++) {
            const double h = 1e-3;
            const int steps = 50;
            const talus_world_def def = sands_world(dim, h);
            talus_world *w = worlds_create(&def);
            talus_sand_def s = sands_box(8, 8, 8);
            s.transfer = (talus_transfer)transfer;
            WORLDS_OK(talus_world_add_sand(w, &s));
            const sands_heap f = {dim, {3, 4, 4}, {5, 6, 6}, 0.6, 2, {0.3, 0, 0}};
            sands_fill(w, &s, &f);
            double *start = malloc((size_t)sands_look(w).count * 3 * sizeof *start);
            for (int64_t i = 0; i < sands_look(w).count; i++)
                memcpy(start + 3 * sands_look(w).id[i], sands_look(w).position + 3 * i,
                       3 * sizeof *start);
            for (int k = 0; k < steps; k++) {
                const talus_ledger l = worlds_step(w);
                assert_true(l.residual <= 1e-8);
            }
            const talus_sand_view v = sands_look(w);
            for (int64_t i = 0; i < v.count; i++) {
                const double *from = start + 3 * v.id[i];
                const double way[2] = {0.3 * h * steps, -gravity * h * h * steps * (steps + 1) / 2};
                assert_true(fabs(v.velocity[3 * i + dim - 1] + gravity * h * steps) < 1e-12);
                assert_true(fabs(v.velocity[3 * i] - 0.3) < 1e-12);
                assert_true(fabs(v.position[3 * i] - from[0] - way[0]) < 1e-13);
                assert_true(fabs(v.position[3 * i + dim - 1] - from[dim - 1] - way[1]) < 1e-13);
            }
            for (int64_t k = 0; k < v.nodes * (dim == 2 ? 3 : 6); k++)
                assert_true(v.node_stress[k] == 0.0);
            free(start);
            talus_world_destroy(w);
        }
}

// Frictionless sand at rest: pressure rho g times the depth, at every node below the surface.
static void hydrostatics(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int packed = TALUS_PACKED_NO; packed <= TALUS_PACKED_REST; packed++) {
            talus_world_def def = sands_world(dim, 1e-3);
            def.tolerance = 1e-7; // of the pressure at the floor
            talus_world *w = worlds_create(&def);
            talus_sand_def s = sands_box(4, dim == 2 ? 8 : 3, 8);
            s.friction = 0.0;
            s.height = 0.5;
            s.packed = (talus_packed)packed;
            WORLDS_OK(talus_world_add_sand(w, &s));
            sands_heap f = {dim, {0}, {4, 3, 5}, s.fraction, 2, {0}};
            if (dim == 2) f.high[1] = 5;
            sands_fill(w, &s, &f);
            talus_ledger l = {0};
            for (int k = 0; k < 3; k++) l = worlds_step(w);
            const talus_sand_view v = sands_look(w);
            const int size = dim == 2 ? 3 : 6;
            const double unit = dim == 2 ? 1.0 : sqrt(2.0 / 3.0);
            const double weight = s.density * gravity * s.cell; // of a row
            double row[6] = {0};
            int count[6] = {0};
            for (int64_t i = 0; i < v.nodes; i++) {
                const int32_t z = (int32_t)(v.node[i] >> (21 * (dim - 1)) & 0x1fffff);
                assert_true(z <= 5);
                row[z] += unit * v.node_stress[i * size];
                count[z]++;
            }
            for (int z = 0; z <= 5; z++) row[z] /= count[z];
            for (int z = 0; z < 5; z++)
                assert_true(fabs(0.5 * (row[z] + row[z + 1]) - (4.5 - z) * weight) < 2e-3 * weight);
            for (int z = 0; z <= 5 && packed == TALUS_PACKED_NO; z++)
                assert_true(fabs(row[z] - (5 - z) * weight) < 2e-3 * weight);
            for (int64_t i = 0; i < 3 * v.count; i++) assert_true(fabs(v.velocity[i]) < 1e-5);
            assert_true(l.residual <= def.tolerance);
            talus_world_destroy(w);
        }
}

// Loose sand, half as dense as can be, closes up to half its height and stays there, with no
// rebound.
static void compaction(void **state) {
    (void)state;
    const talus_world_def def = sands_world(2, 5e-3);
    talus_world *w = worlds_create(&def);
    talus_sand_def s = sands_box(3, 14, 1);
    WORLDS_OK(talus_world_add_sand(w, &s));
    const sands_heap f = {2, {0}, {3, 12}, 0.5 * s.fraction, 4, {0}};
    sands_fill(w, &s, &f);
    const talus_sand_view at_first = sands_look(w);
    const double volume = sands_total(&at_first);
    double lowest = INFINITY;
    talus_ledger l = {0};
    for (int k = 0; k < 160; k++) {
        l = worlds_step(w);
        const talus_sand_view v = sands_look(w);
        lowest = fmin(lowest, sands_top(&v, 1));
        assert_true(fabs(sands_total(&v) - volume) <= 1e-14 * volume);
    }
    const talus_sand_view v = sands_look(w);
    assert_true(fabs(sands_top(&v, 1) - 0.6) < 0.02);
    assert_true(sands_top(&v, 1) - lowest < 1e-3);
    assert_true(l.kinetic < 1e-3);
    talus_world_destroy(w);
}

// A free disk of sand that turns and moves: momentum is kept exactly by every transfer, angular
// momentum to half a per cent by apic (its affine part knows the place in the cell that it is from,
// not the one it goes to), not at all by pic; flip keeps it, as nothing acts.
static void rotation(void **state) {
    (void)state;
    double kept[3];
    for (int transfer = 0; transfer < 3; transfer++) {
        talus_world_def def = sands_world(2, 2e-3);
        def.gravity[1] = 0.0;
        talus_world *w = worlds_create(&def);
        talus_sand_def s = sands_box(20, 20, 1);
        s.transfer = (talus_transfer)transfer;
        WORLDS_OK(talus_world_add_sand(w, &s));
        for (int i = 0; i < 24 * 24; i++) {
            const double y[2] = {(i % 24 - 11.5) * 0.05, (i / 24 - 11.5) * 0.05};
            const double x[3] = {1.0 + y[0], 1.0 + y[1], 0.0};
            const double v[3] = {-2.0 * y[1] + 0.1, 2.0 * y[0], 0.0};
            if (hypot(y[0], y[1]) > 0.5) continue;
            WORLDS_OK(talus_world_add_particles(w, 1, x, v, 0.05, 0.59));
        }
        const talus_ledger first = worlds_step(w);
        talus_ledger last = first;
        for (int k = 0; k < 100; k++) last = worlds_step(w);
        assert_true(fabs(last.momentum[0] - first.momentum[0]) < 1e-10 * first.momentum[0]);
        kept[transfer] = last.angular[2] / first.angular[2];
        talus_world_destroy(w);
    }
    assert_true(fabs(kept[TALUS_TRANSFER_APIC] - 1.0) < 0.01);
    assert_true(kept[TALUS_TRANSFER_PIC] < 0.1);
    assert_true(fabs(kept[TALUS_TRANSFER_FLIP] - 1.0) < 1e-10);
}

// A column of aspect 1.4 falls: energy is never created, sand is neither lost nor won, and the
// deposit is the one that the law of the source tells for two dimensions, a run-out of 1.82 a^1.1,
// and a height of 0.56.
static void collapse(void **state) {
    (void)state;
    talus_world_def def = sands_world(2, 4e-3);
    def.tolerance = 1e-5; // of the pressure under the column
    talus_world *w = worlds_create(&def);
    talus_sand_def s = sands_box(60, 24, 1);
    s.cell = 0.025;
    s.height = 0.35;
    s.friction = 0.48;
    s.face[1][0] = TALUS_FACE_STICK;
    WORLDS_OK(talus_world_add_sand(w, &s));
    const sands_heap f = {2, {0}, {10, 14}, s.fraction, 2, {0}};
    sands_fill(w, &s, &f);
    talus_ledger l = {0};
    double energy = INFINITY, start = 0.0;
    for (int k = 0; k < 300; k++) {
        l = worlds_step(w);
        assert_false(l.missed);
        if (k == 0) start = l.kinetic + l.potential;
        assert_true(l.kinetic + l.potential <= energy + 1e-5 * start);
        assert_true(l.loss_friction >= -1e-5 * start);
        energy = l.kinetic + l.potential;
    }
    const talus_sand_view v = sands_look(w);
    assert_true(fabs(sands_total(&v) - 0.6 * 0.25 * 0.35) < 1e-14);
    assert_true(fabs((sands_top(&v, 0) - 0.25) / 0.25 - 1.82 * pow(1.4, 1.1)) < 0.25);
    assert_true(fabs(sands_top(&v, 1) / 0.35 - 0.56) < 0.03);
    assert_true(l.kinetic < 1e-4 * start);
    talus_world_destroy(w);
}

// A slab on a plane with friction, in 2D and in 3D. Where it slides as a whole, every contact with
// the plane does, and the plane's impulses are N = m g cos t + P_z up and mu N back:
//     P_x = m g sin t − mu N,
// whatever the sand does within. Where tan(angle) < mu its middle, far from the ends, which give
// way, rests.
static void slab(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int steep = 0; steep < 2; steep++) {
            const double mu = 0.3, angle = atan(steep ? 0.6 : 0.2);
            talus_world_def def = sands_world(dim, 2e-3);
            def.gravity[0] = gravity * sin(angle);
            def.gravity[dim - 1] = -gravity * cos(angle);
            talus_world *w = worlds_create(&def);
            worlds_law(w, mu, 0.0, 0.0);
            talus_sand_def s = sands_box(24, dim == 2 ? 6 : 2, 6);
            s.friction = 1.2;
            WORLDS_OK(talus_world_add_sand(w, &s));
            talus_body_def plane =
                worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
            plane.position[dim - 1] = 0.2;
            worlds_add(w, &plane);
            sands_heap f = {dim, {2, 0, 2}, {22, 2, 4}, s.fraction, 2, {0}};
            if (dim == 2) f.low[1] = 2, f.high[1] = 4;
            sands_fill(w, &s, &f);
            talus_ledger l = {0};
            for (int k = 0; k < 10; k++) l = worlds_step(w);
            const talus_sand_view v = sands_look(w);
            const double mass = s.density * sands_total(&v);
            const double along = mass * gravity * sin(angle) * l.time;
            const double across = mass * gravity * cos(angle) * l.time + l.momentum[dim - 1];
            if (steep) assert_true(fabs(l.momentum[0] - along + mu * across) < 1e-6 * along);
            for (int64_t i = 0; i < v.count && !steep; i++)
                if (fabs(v.position[3 * i] - 1.2) < 0.2)
                    assert_true(fabs(v.velocity[3 * i]) < 0.01 * along / mass);
            talus_world_destroy(w);
        }
}

// A heavy disk falls on sand, sinks in to a finite depth and comes to rest: forces between the two
// are equal and opposite, energy is never created, and no sand is in it.
static void sink(void **state) {
    (void)state;
    talus_world_def def = sands_world(2, 4e-3);
    def.tolerance = 1e-6;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    talus_sand_def s = sands_box(20, 20, 1);
    s.face[1][0] = TALUS_FACE_STICK;
    WORLDS_OK(talus_world_add_sand(w, &s));
    talus_body_def ball = worlds_ball(w, 0.2, 1.0, 1.3, 0.0);
    ball.mass = 8000.0 * 3.14159 * 0.04;
    ball.velocity[1] = -3.0;
    const int32_t b = worlds_add(w, &ball);
    const sands_heap f = {2, {0}, {20, 10}, s.fraction, 2, {0}};
    sands_fill(w, &s, &f);
    double energy = INFINITY, start = 0.0;
    for (int k = 0; k < 200; k++) {
        const talus_ledger l = worlds_step(w);
        if (k == 0) start = l.kinetic + l.potential;
        assert_true(l.kinetic + l.potential <= energy + 1e-5 * start);
        energy = l.kinetic + l.potential;
        const double *at = worlds_bodies(w).position + 3 * (ptrdiff_t)b;
        const talus_sand_view g = sands_look(w);
        for (int64_t i = 0; i < g.count; i++)
            assert_true(hypot(g.position[3 * i] - at[0], g.position[3 * i + 1] - at[1]) >=
                        0.2 - 1e-12);
    }
    const talus_body_view v = worlds_bodies(w);
    assert_true(v.position[3 * b + 1] < 1.1 && v.position[3 * b + 1] > 0.5);
    assert_true(fabs(v.position[3 * b] - 1.0) < 0.02);
    assert_true(fabs(v.velocity[3 * b + 1]) < 0.05);
    talus_world_destroy(w);
}

// Height and place of the middle of sand that slid along a fixed wedge, a box that is turned, given
// as a box or as a mesh of it.
static void over_wedge(bool mesh, double mean[2]) {
    static const double point[] = {-0.3, -0.2, 0, 0.3, -0.2, 0, 0.3, 0.2, 0, -0.3, 0.2, 0};
    static const int32_t side[] = {1, 0, 2, 1, 3, 2, 0, 3}; // clockwise
    const talus_world_def def = sands_world(2, 4e-3);
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.2, 0.0, 0.0);
    const talus_sand_def s = sands_box(20, 14, 1);
    WORLDS_OK(talus_world_add_sand(w, &s));
    const talus_shape_def as_box = {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.2, 0.2}};
    const talus_shape_def as_mesh = {.kind = TALUS_SHAPE_MESH,
                                     .point = point,
                                     .point_count = 4,
                                     .triangle = side,
                                     .triangle_count = 4};
    talus_body_def wedge = worlds_fixed(w, mesh ? as_mesh : as_box);
    wedge.position[0] = 0.9, wedge.position[1] = 0.45;
    wedge.orientation[0] = cos(0.3), wedge.orientation[3] = sin(0.3);
    worlds_add(w, &wedge);
    const sands_heap f = {2, {5, 9}, {12, 13}, s.fraction, 2, {0}};
    sands_fill(w, &s, &f);
    for (int k = 0; k < 100; k++) worlds_step(w);
    const talus_sand_view v = sands_look(w);
    mean[0] = mean[1] = 0.0;
    for (int64_t i = 0; i < v.count; i++)
        for (int k = 0; k < 2; k++) mean[k] += v.position[3 * i + k] / (double)v.count;
    talus_world_destroy(w);
}

// A mesh of a body acts as the body does.
static void wedge(void **state) {
    (void)state;
    double mean[2][2];
    for (int mesh = 0; mesh < 2; mesh++) over_wedge(mesh, mean[mesh]);
    for (int k = 0; k < 2; k++) assert_true(fabs(mean[0][k] - mean[1][k]) < 1e-6);
    assert_true(mean[0][0] < 0.85 - 0.05); // it was led aside
}

static talus_world *ball_on_sand(int32_t threads) {
    talus_world_def def = sands_world(3, 4e-3);
    def.tolerance = 1e-4;
    def.threads = threads;
    talus_world *w = worlds_create(&def);
    worlds_law(w, 0.3, 0.0, 0.0);
    talus_sand_def s = sands_box(12, 8, 12);
    s.face[2][0] = TALUS_FACE_STICK;
    s.face[0][1] = TALUS_FACE_FREE; // some of it leaves
    s.cells[0] = 6;
    WORLDS_OK(talus_world_add_sand(w, &s));
    talus_body_def ball = worlds_ball(w, 0.15, 0.3, 0.4, 0.75);
    ball.mass = 30.0;
    worlds_add(w, &ball);
    const sands_heap f = {3, {0}, {6, 8, 6}, s.fraction, 2, {1.0, 0.0, 0.0}};
    sands_fill(w, &s, &f);
    return w;
}

// The same bits for any number of threads, and for a run that is taken up again from its numbers.
static void same_bits(void **state) {
    (void)state;
    enum { HALF = 15 };
    uint64_t first = 0;
    double *numbers = NULL;
    int64_t count = 0;
    for (int run = 0; run < 4; run++) {
        talus_world *w = ball_on_sand(run % 3 + 1);
        if (run < 3)
            for (int k = 0; k < HALF; k++) worlds_step(w);
        else
            WORLDS_OK(talus_world_load(w, numbers, count));
        if (run == 0) {
            count = talus_world_save(w, NULL);
            numbers = malloc((size_t)count * sizeof *numbers);
            assert_true(talus_world_save(w, numbers) == count);
            assert_true(sands_look(w).lost > 0.0);
        }
        for (int k = 0; k < HALF; k++) worlds_step(w);
        if (run == 0) first = talus_world_hash(w);
        assert_true(talus_world_hash(w) == first);
        talus_world_destroy(w);
    }
    free(numbers);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(free_fall), TEST(hydrostatics), TEST(compaction), TEST(rotation),  TEST(collapse),
        TEST(slab),      TEST(sink),         TEST(wedge),      TEST(same_bits),
    };
    return cmocka_run_group_tests_name("physics/sand", tests, NULL, NULL);
}
