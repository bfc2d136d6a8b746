// SPDX-License-Identifier: Apache-2.0
// Numbers of a moment on configurations with known answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/moment.h"

static const double pi = 3.14159265358979323846;
static test_moment t;

static void near(double found, double want, double tolerance) {
    if (!(fabs(found - want) <= tolerance)) fail_msg("%.17g, should be %.17g", found, want);
}

static double measure(const char *name) { return moment_measure(&t, NULL, name); }

// n × n × n points a apart in a periodic cell, in 2D n × n; `middle` adds those of fcc.
static void lattice(int dim, int n, double a, double radius, bool faces) {
    moment_begin(&t, dim);
    const int32_t ball = moment_ball(&t, radius);
    for (int k = 0; k < dim; k++) t.m.period[k] = n * a;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < (dim == 3 ? n : 1); k++) {
                moment_add(&t, ball, i * a, j * a, k * a);
                if (!faces) continue;
                moment_add(&t, ball, (i + 0.5) * a, (j + 0.5) * a, k * a);
                moment_add(&t, ball, (i + 0.5) * a, j * a, (k + 0.5) * a);
                moment_add(&t, ball, i * a, (j + 0.5) * a, (k + 0.5) * a);
            }
}

// Touching balls: square π/4, simple cubic π/6, face-centred cubic π/(3 √2). Images far from the
// cell count like those in it.
static void solid_fraction_of_lattices(void **state) {
    (void)state;
    lattice(2, 4, 0.1, 0.05, false);
    near(measure("solid_fraction"), pi / 4.0, 1e-13);
    lattice(3, 3, 0.1, 0.05, false);
    near(measure("solid_fraction"), pi / 6.0, 1e-13);
    lattice(3, 3, 0.1, 0.1 / sqrt(8.0), true);
    near(measure("solid_fraction"), pi / (3.0 * sqrt(2.0)), 1e-13);
    for (int i = 0; i < 27; i++) t.position[3 * i] += 0.3 * (i % 5 - 2);
    near(measure("solid_fraction"), pi / (3.0 * sqrt(2.0)), 1e-13);
    assert_true(measure("grains") == 108.0);
    near(measure("region_volume"), 0.027, 1e-16);
}

// A region as long as the lattice repeats holds the same, wherever it is, though it cuts balls; in
// a periodic cell it may go over its ends.
static void solid_fraction_of_a_region(void **state) {
    (void)state;
    tl_rng rng = {4};
    for (int i = 0; i < 40; i++) {
        const int dim = i % 2 ? 2 : 3;
        talus_region r = talus_region_default();
        lattice(dim, 4, 0.1, 0.05, false);
        for (int k = 0; k < dim; k++) {
            r.low[k] = tl_rng_range(&rng, -0.3, 0.5);
            r.high[k] = r.low[k] + 0.1 * (1 + i % 3);
        }
        const double want = dim == 2 ? pi / 4.0 : pi / 6.0;
        near(moment_measure(&t, &r, "solid_fraction"), want, 1e-10);
    }
}

// Bodies that are no balls: exact where nothing is cut, by sampling where something is.
static void solid_fraction_of_other_shapes(void **state) {
    (void)state;
    talus_region r = talus_region_default();
    moment_begin(&t, 3);
    const int32_t box =
        moment_shape(&t, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.25, 0.1}});
    moment_add(&t, box, 0.0, 0.0, 0.0);
    near(measure("solid_fraction"), 1.0, 1e-12);
    near(measure("grain_volume"), 0.1, 1e-15);
    r.low[0] = 0.0, r.high[0] = 1.0; // its half
    near(moment_measure(&t, &r, "grain_volume"), 0.05, 1e-3);
    t.orientation[0] = t.orientation[3] = sqrt(0.5); // turned about z: the long axis is y
    r.low[0] = 0.05, r.high[0] = 0.15;
    near(moment_measure(&t, &r, "grain_volume"), 0.1 * 0.1 / 0.5, 1e-3);
    moment_begin(&t, 3);
    const int32_t egg =
        moment_shape(&t, (talus_shape_def){.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.3, 0.2, 0.1}});
    moment_add(&t, egg, 0.0, 0.0, 0.0);
    near(measure("solid_fraction"), pi / 6.0, 1e-9);
    r = talus_region_default();
    r.high[1] = 0.1, r.low[1] = -0.5; // without a cap of half the half axis: 5/32 of it
    near(moment_measure(&t, &r, "grain_volume"), 4.0 / 3.0 * pi * 6e-3 * (1.0 - 5.0 / 32.0), 2e-4);
}

// Every shape that grains can have is sampled: the points that stand for its volume have its
// centre of mass.
static void samples_of_every_shape(void **state) {
    (void)state;
    static const double corner[] = {0, 0, 0, 0.4, 0, 0, 0, 0.3, 0, 0, 0, 0.5};
    static const double bend[] = {0, 0, 0, 0.3, 0, 0, 0.3, 0.3, 0};
    static const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    static const talus_part part[] = {{&ball, {0, 0, 0}, {1, 0, 0, 0}},
                                      {&ball, {0.3, 0, 0}, {1, 0, 0, 0}}};
    const talus_shape_def shape[] = {
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.2, .height = 0.3},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.1, .height = 0.4},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.2, .height = 0.4},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.2, 0.3, 0.1}, .exponent = {4, 3}},
        {.kind = TALUS_SHAPE_POLYHEDRON, .point = corner, .point_count = 4},
        {.kind = TALUS_SHAPE_WORM, .radius = 0.05, .point = bend, .point_count = 3},
        {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 2}};
    for (int dim = 2; dim <= 3; dim++)
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
            talus_region r = talus_region_default();
            talus_mass mass;
            double centre[3];
            if (dim == 2 && shape[i].kind == TALUS_SHAPE_POLYHEDRON) continue; // not flat
            moment_begin(&t, dim);
            assert_int_equal(talus_shape_mass(ctx, dim, &shape[i], 1.0, &mass), TALUS_OK);
            const int32_t body = moment_add(&t, moment_shape(&t, shape[i]), 0.0, 0.0, 0.0);
            for (int k = 0; k < 3; k++) centre[k] = mass.centre[k];
            t.m.bodies.centre = centre; // the only body
            assert_int_equal(body, 0);
            near(measure("grain_volume"), mass.mass, 1e-12);
            for (int k = 0; k < dim; k++) {
                // A moment of the volume by cuts: ∫ x = high V − ∫ V(x below s) ds over its extent.
                const double low = measure(k == 0 ? "low_x" : k == 1 ? "low_y" : "low_z");
                const double high = measure(k == 0 ? "high_x" : k == 1 ? "high_y" : "high_z");
                const int n = 60;
                double below = 0.0;
                for (int c = 0; c < n; c++) {
                    r = talus_region_default();
                    r.low[k] = low - 1.0;
                    r.high[k] = low + (high - low) * (c + 0.5) / n;
                    below += moment_measure(&t, &r, "grain_volume") * (high - low) / n;
                }
                near(high - below / mass.mass, mass.centre[k], 0.012 * (high - low));
            }
        }
}

// Square lattice: four neighbours. A chain that ends in the air, and a loose grain, are rattlers.
static void coordination_with_rattlers(void **state) {
    (void)state;
    lattice(2, 4, 0.1, 0.05, false);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            moment_press(&t, 4 * i + j, 4 * ((i + 1) % 4) + j, 1.0);
            moment_press(&t, 4 * i + j, 4 * i + (j + 1) % 4, 2.0);
        }
    near(measure("coordination"), 4.0, 1e-15);
    near(measure("coordination_backbone"), 4.0, 1e-15);
    near(measure("rattlers"), 0.0, 0.0);
    // 16 on the lattice, and 4: one alone, and a chain of three that touches the lattice once
    for (int k = 0; k < 4; k++) moment_add(&t, 0, 10.0 + k, 5.0, 0.0);
    t.m.period[0] = t.m.period[1] = 0.0;
    t.m.contacts.count = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            if (i < 3) moment_press(&t, 4 * i + j, 4 * (i + 1) + j, 1.0);
            if (j < 3) moment_press(&t, 4 * i + j, 4 * i + j + 1, 2.0);
        }
    moment_press(&t, 15, 17, 1.0);
    moment_press(&t, 17, 18, 1.0);
    moment_press(&t, 18, 19, 1.0);
    const int32_t open = moment_press(&t, 16, 19, 1.0);
    t.status[open] = 0; // near, but not pressing
    near(measure("coordination"), 2.0 * (24.0 + 3.0) / 20.0, 1e-15);
    near(measure("coordination_backbone"), 2.0 * 24.0 / 16.0, 1e-15);
    near(measure("rattlers"), 4.0 / 20.0, 1e-15);
    // a pair with several contact points is one neighbour; an obstacle is one for the grain
    moment_begin(&t, 2);
    const int32_t ball = moment_ball(&t, 0.5);
    moment_add(&t, ball, 0, 0, 0), moment_add(&t, ball, 1, 0, 0);
    moment_obstacle(&t, ball, 2, 0, 0);
    moment_press(&t, 0, 1, 1.0), moment_press(&t, 0, 1, 1.0), moment_press(&t, 1, 2, 1.0);
    near(measure("coordination"), 1.5, 1e-15);
    t.status[0] = 2;
    near(measure("sliding"), 1.0 / 3.0, 1e-15);
}

static void contacts_at(int dim, int n) {
    moment_begin(&t, dim);
    const int32_t ball = moment_ball(&t, 0.5);
    for (int i = 0; i < 2 * n; i++) moment_add(&t, ball, 2.0 * i, 0.0, 0.0);
}

static void direction(int i, double x, double y, double z) {
    const double n[3] = {x, y, z}, p[3] = {2.0 * i, 0.0, 0.0};
    moment_touch(&t, 2 * i, 2 * i + 1, p, n, n);
}

static void fabric_of_directions(void **state) {
    (void)state;
    lattice(2, 3, 0.1, 0.05, false);
    moment_press(&t, 0, 3, 1.0), moment_press(&t, 0, 1, 5.0); // x and y; forces do not count
    near(measure("fabric_xx"), 0.5, 1e-15);
    near(measure("fabric_xy"), 0.0, 1e-15);
    near(measure("anisotropy"), 0.0, 1e-15);
    lattice(3, 3, 0.1, 0.05, false);
    moment_press(&t, 0, 9, 1.0), moment_press(&t, 0, 3, 1.0), moment_press(&t, 0, 1, 1.0);
    near(measure("fabric_zz"), 1.0 / 3.0, 1e-15);
    near(measure("anisotropy"), 0.0, 1e-15);
    // E(θ) = (1 + a cos 2(θ − θ0))/2π: angles at equal steps of its integral
    const double a = 0.6, turned = 0.4;
    const int n = 1000;
    contacts_at(2, n);
    for (int i = 0; i < n; i++) {
        double low = 0.0, high = pi;
        for (int step = 0; step < 60; step++) { // bisection of θ + a/2 sin 2θ = π (i + ½)/n
            const double mid = 0.5 * (low + high);
            *(mid + 0.5 * a * sin(2.0 * mid) < pi * (i + 0.5) / n ? &low : &high) = mid;
        }
        direction(i, cos(low + turned), sin(low + turned), 0.0);
    }
    near(measure("anisotropy"), a, 1e-5);
    near(measure("fabric_xx"), 0.5 + 0.25 * a * cos(2.0 * turned), 1e-5);
    near(measure("fabric_xy"), 0.25 * a * sin(2.0 * turned), 1e-5);
    // E(n) = (1 + a_ij n_i n_j)/4π with a = b diag(−½, −½, 1): the anisotropy is 3/2 b. Heights at
    // equal steps of their integral z/2 + b/4 (z³ − z)
    const double b = 0.8;
    contacts_at(3, n);
    for (int i = 0; i < n; i++) {
        double low = -1.0, high = 1.0;
        for (int step = 0; step < 60; step++) {
            const double z = 0.5 * (low + high);
            *(0.5 * z + 0.25 * b * (z * z * z - z) < (i + 0.5) / n - 0.5 ? &low : &high) = z;
        }
        const double around = i * pi * (3.0 - sqrt(5.0)), r = sqrt(1.0 - low * low);
        direction(i, r * cos(around), r * sin(around), low);
    }
    near(measure("anisotropy"), 1.5 * b, 2e-3);
    near(measure("fabric_zz"), 1.0 / 3.0 + 2.0 / 15.0 * b, 1e-4);
}

// A lattice of balls of diameter d that press with forces f along the axes: σ = f/d in 2D, f/d² in
// 3D. In a periodic cell, and in a region anywhere.
static void stress_of_lattices(void **state) {
    (void)state;
    const double d = 0.1, f[3] = {1.0, 2.0, 5.0};
    for (int dim = 2; dim <= 3; dim++) {
        const int n = 4, layer = dim == 3 ? n * n : n;
        lattice(dim, n, d, 0.5 * d, false);
        for (int i = 0; i < t.m.bodies.count; i++) {
            const int x = i / layer, y = dim == 3 ? i / n % n : i % n, z = i % n;
            moment_press(&t, i, (x + 1) % n * layer + i % layer, f[0]);
            if (dim == 2) moment_press(&t, i, x * n + (y + 1) % n, f[1]);
            if (dim == 3) moment_press(&t, i, x * layer + (y + 1) % n * n + z, f[1]);
            if (dim == 3) moment_press(&t, i, x * layer + y * n + (z + 1) % n, f[2]);
        }
        const double area = dim == 2 ? d : d * d;
        talus_region r = talus_region_default();
        for (int pass = 0; pass < 2; pass++) {
            near(moment_measure(&t, &r, "stress_xx"), f[0] / area, 1e-10);
            near(moment_measure(&t, &r, "stress_yy"), f[1] / area, 1e-10);
            near(moment_measure(&t, &r, "stress_xy"), 0.0, 1e-10);
            if (dim == 3) near(moment_measure(&t, &r, "stress_zz"), f[2] / area, 1e-10);
            for (int k = 0; k < dim; k++) r.low[k] = -0.13 * (k + 1), r.high[k] = r.low[k] + 2 * d;
        }
        if (dim == 2) {
            near(measure("pressure"), 1.5 / area, 1e-12);
            near(measure("deviator"), 0.5 / area, 1e-12);
            near(measure("stress_ratio"), 1.0 / 3.0, 1e-12);
        } else {
            const double p = 8.0 / 3.0;
            const double q = sqrt(1.5 * (pow(1 - p, 2) + pow(2 - p, 2) + pow(5 - p, 2)));
            near(measure("pressure"), p / area, 1e-10);
            near(measure("deviator"), q / area, 1e-9);
            near(measure("bulk_friction"), q / sqrt(3.0) / p, 1e-12);
        }
        near(measure("force_mean"), dim == 2 ? 1.5 : 8.0 / 3.0, 1e-12);
        near(measure("force_most"), f[dim - 1], 0.0);
    }
}

// A pile of n balls on a floor: the contact below ball k carries n − k weights.
static void stress_of_a_pile(void **state) {
    (void)state;
    const int n = 7;
    const double r = 0.05, weight = 9.81;
    moment_begin(&t, 3);
    const int32_t ball = moment_ball(&t, r);
    const int32_t floor_shape = moment_shape(&t, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE});
    moment_obstacle(&t, floor_shape, 0.0, 0.0, 0.0);
    t.m.period[0] = t.m.period[1] = 0.2;
    for (int i = 0; i < n; i++) moment_add(&t, ball, 0.0, 0.0, r + 2.0 * r * i);
    for (int i = 0; i < n; i++) {
        const double p[3] = {0.0, 0.0, 2.0 * r * i}, up[3] = {0.0, 0.0, 1.0};
        const double f[3] = {0.0, 0.0, (n - i) * weight}, down[3] = {0.0, 0.0, -1.0};
        const double g[3] = {0.0, 0.0, -f[2]};
        if (i == 0)
            moment_touch(&t, 0, 1, p, down, g); // the floor comes first: its normal points to it
        else
            moment_touch(&t, i + 1, i, p, up, f);
    }
    // mean over its whole height: half the weight over the area
    near(measure("stress_zz"), n * weight / 2.0 / 0.04, 1e-9);
    near(measure("wall_force_z"), -n * weight, 1e-12);
    for (int i = 1; i < n; i++) { // between the centres of ball i − 1 and i
        talus_region region = talus_region_default();
        region.low[2] = 2.0 * r * i - 0.9 * r, region.high[2] = 2.0 * r * i + 0.3 * r;
        near(moment_measure(&t, &region, "stress_zz"), (n - i) * weight / 0.04, 1e-9);
    }
}

static void forces_and_friction(void **state) {
    (void)state;
    moment_begin(&t, 3);
    const int32_t ball = moment_ball(&t, 0.5);
    for (int i = 0; i < 4; i++) moment_add(&t, ball, i, 0, 0);
    t.material[0].friction = 0.9;
    t.material[1].friction = 0.4;
    t.material_of[3] = 1;
    const double n[3] = {-1, 0, 0}, p[3] = {0.5, 0, 0};
    moment_touch(&t, 0, 1, p, n, (const double[3]){-2.0, 0.9, 0.0});   // half of 0.9
    moment_touch(&t, 1, 2, p, n, (const double[3]){-4.0, 0.0, 0.0});   // nothing
    moment_touch(&t, 2, 3, p, n, (const double[3]){-3.0, 1.44, 1.08}); // all of √(0.9 0.4) = 0.6
    near(measure("force_mean"), 3.0, 1e-15);
    near(measure("mobilised"), 0.5, 1e-15);
}

// Given velocities: about the mean, and about a linear field.
static void temperature_and_shear(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        moment_begin(&t, dim);
        const int32_t ball = moment_ball(&t, 0.05);
        const double rate = 3.0, spread = 0.2;
        for (int i = 0; i < 512; i++) {
            const double up = 0.1 * (i % 8), y = 0.1 * (i / 8 % 8), z = 0.1 * (i / 64);
            if (dim == 2 && i >= 64) break;
            // symmetric about the field: up, down, to the sides
            moment_add(&t, ball, y, dim == 2 ? up : z, dim == 2 ? 0.0 : up);
        }
        const int count = t.m.bodies.count;
        for (int i = 0; i < count; i++)
            moment_velocity(&t, i, 1.0 + rate * t.position[3 * i + dim - 1], -2.0, 0.0);
        near(measure("velocity_x"), 1.0 + rate * 0.35, 1e-13);
        near(measure("velocity_y"), -2.0, 1e-13);
        near(measure("shear_rate"), rate, 1e-12);
        near(measure("temperature_shear"), 0.0, 1e-25);
        // variance of 8 heights 0.1 apart: 0.01 (64 − 1)/12
        near(measure("temperature"), rate * rate * 0.01 * 63.0 / 12.0 / dim, 1e-13);
        for (int i = 0; i < count; i++) { // two grains at each place, going apart
            moment_add(&t, ball, t.position[3 * i], t.position[3 * i + 1], t.position[3 * i + 2]);
            moment_velocity(&t, count + i, t.velocity[3 * i] - spread, -2.0, 0.0);
            t.velocity[3 * i] += spread;
        }
        near(measure("temperature_shear"), spread * spread / dim, 1e-12);
        // a rotation shears nothing
        for (int i = 0; i < 2 * count; i++)
            moment_velocity(&t, i, -rate * t.position[3 * i + 1], rate * t.position[3 * i], 0.0);
        near(measure("shear_rate"), 0.0, 1e-12);
        near(measure("temperature_shear"), 0.0, 1e-25);
        // one heavy, one light: by mass
        moment_begin(&t, dim);
        moment_ball(&t, 0.05);
        moment_add(&t, 0, 0, 0, 0), moment_add(&t, 0, 1, 0, 0);
        t.mass[0] = 3.0;
        moment_velocity(&t, 0, 1.0, 0.0, 0.0), moment_velocity(&t, 1, -3.0, 0.0, 0.0);
        near(measure("velocity_x"), 0.0, 1e-15);
        near(measure("temperature"), (3.0 * 1.0 + 1.0 * 9.0) / 4.0 / dim, 1e-15);
    }
}

// I = γ̇ d √(ρ/p) and μ = |τ|/p of a sheared lattice.
static void inertial_number(void **state) {
    (void)state;
    const double d = 0.1, rate = 2.0, fn = 3.0, ft = 0.75;
    lattice(2, 6, d, 0.5 * d, false);
    t.m.period[1] = 0.0; // sheared across y; periodic along x
    for (int i = 0; i < 36; i++) {
        const int x = i / 6, y = i % 6;
        moment_velocity(&t, i, rate * t.position[3 * i + 1], 0.0, 0.0);
        moment_press(&t, i, (x + 1) % 6 * 6 + y, fn);
        if (y == 5) continue;
        const double n[3] = {0, -1, 0}, f[3] = {ft, -fn, 0.0};
        const double p[3] = {t.position[3 * i], t.position[3 * i + 1] + 0.5 * d, 0.0};
        moment_touch(&t, i, i + 1, p, n, f);
    }
    talus_region r = talus_region_default(); // without the free ends
    r.low[1] = 0.5 * d, r.high[1] = 4.5 * d;
    const double p = fn / d, density = 1.0 / (pi * 0.25 * d * d);
    near(moment_measure(&t, &r, "pressure"), p, 1e-10);
    // two opposite shear stresses would keep it from turning: half of it is symmetric
    near(moment_measure(&t, &r, "stress_xy"), -0.5 * ft / d, 1e-10);
    near(moment_measure(&t, &r, "shear_rate"), rate, 1e-12);
    near(moment_measure(&t, &r, "inertial_number"), rate * d * sqrt(density / p), 1e-10);
    near(moment_measure(&t, &r, "bulk_friction"), 0.5 * ft / fn, 1e-10);
}

static void extents(void **state) {
    (void)state;
    moment_begin(&t, 3);
    const int32_t ball = moment_ball(&t, 0.1);
    const int32_t box =
        moment_shape(&t, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.1, 0.1}});
    for (int i = 0; i < 200; i++) moment_add(&t, ball, 0.01 * i, 0.0, 0.0);
    const int32_t turned = moment_add(&t, box, 0.0, 1.0, 2.0);
    const double q[4] = {cos(pi / 8.0), 0.0, sin(pi / 8.0), 0.0}; // 45° about y
    memcpy(t.orientation + 4 * turned, q, sizeof q);
    near(measure("low_x"), -0.4 / sqrt(2.0), 1e-12);
    near(measure("high_x"), 1.99 + 0.1, 1e-12);
    near(measure("high_z"), 2.0 + 0.4 / sqrt(2.0), 1e-12);
    near(measure("high_y"), 1.1, 1e-12);
    near(measure("front_low_x"), 0.01, 1e-12); // 201 grains: two on each side are left out
    near(measure("front_high_x"), 1.97, 1e-12);
    near(measure("centre_y"), 1.0 / 201.0, 1e-12);
    talus_extent e;
    assert_int_equal(talus_moment_extent(ctx, &t.m, &e), TALUS_OK);
    assert_int_equal(e.bodies, 201);
    near(e.high[2], 2.0 + 0.4 / sqrt(2.0), 1e-12);
}

static void nothing_to_measure(void **state) {
    (void)state;
    talus_scalar s;
    moment_begin(&t, 3);
    for (int32_t k = 0; talus_scalar_at(3, k, &s); k++) {
        const double v = measure(s.name);
        assert_true(isnan(v) || v == 0.0);
    }
    moment_add(&t, moment_ball(&t, 0.1), 0, 0, 0);
    assert_true(isnan(measure("stress_ratio")));
    assert_true(isnan(measure("anisotropy")));
    near(measure("coordination"), 0.0, 0.0);
    near(measure("solid_fraction"), pi / 6.0, 1e-12);
}

static void names(void **state) {
    (void)state;
    talus_observer *o = NULL;
    talus_scalar s;
    const char *const wrong[] = {"presure"}, *const flat[] = {"stress_zz"};
    const char *const twice[] = {"pressure", "stress", "pressure"};
    assert_int_equal(talus_observer_create(ctx, 3, wrong, 1, NULL, &o), TALUS_ERR_UNKNOWN);
    assert_non_null(strstr(talus_context_last_error(ctx), "did you mean 'pressure'"));
    assert_null(o);
    assert_int_equal(talus_observer_create(ctx, 2, flat, 1, NULL, &o), TALUS_ERR_UNKNOWN);
    assert_int_equal(talus_observer_create(ctx, 3, twice, 3, NULL, &o), TALUS_OK);
    int32_t count = 0;
    while (talus_observer_at(o, count, &s)) {
        assert_string_equal(s.subject, "stress");
        if (count == 0) assert_string_equal(s.name, "pressure");
        count++;
    }
    assert_int_equal(count, 9);
    moment_begin(&t, 2);
    double out[9];
    assert_int_equal(talus_observer_measure(o, &t.m, out), TALUS_ERR_ARG);
    talus_observer_destroy(o);
    // a region that is nothing, or half open along a periodic axis
    talus_region r = talus_region_default();
    const char *const one[] = {"pressure"};
    lattice(2, 2, 0.1, 0.05, false);
    r.low[0] = 0.3;
    assert_int_equal(talus_observer_create(ctx, 2, one, 1, &r, &o), TALUS_OK);
    assert_int_equal(talus_observer_measure(o, &t.m, out), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "periodic"));
    talus_observer_destroy(o);
    r.low[0] = 0.3, r.high[0] = 0.2;
    assert_int_equal(talus_observer_create(ctx, 2, one, 1, &r, &o), TALUS_OK);
    assert_int_equal(talus_observer_measure(o, &t.m, out), TALUS_ERR_ARG);
    talus_observer_destroy(o);
}

// Let request 1, 2, 3 … for memory fail: an error, and nothing stays behind.
static void without_memory(void **state) {
    (void)state;
    talus_status status = TALUS_ERR_MEMORY;
    moment_begin(&t, 3);
    moment_add(&t, moment_ball(&t, 0.1), 0, 0, 0);
    moment_add(&t, moment_shape(&t, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {1, 1, 1}}),
               0, 0, 2);
    const int64_t live = memory.live;
    for (int64_t k = 1; status != TALUS_OK; k++) {
        talus_observer *o = NULL;
        double out[64];
        const char *const solid[] = {"solid", "coordination", "runout"};
        memory.fail_at = memory.requests + k;
        status = talus_observer_create(ctx, 3, solid, 3, NULL, &o);
        if (status == TALUS_OK) status = talus_observer_measure(o, &t.m, out);
        talus_observer_destroy(o);
        memory.fail_at = 0;
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        assert_int_equal(memory.live, live);
        assert_true(k < 100);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(solid_fraction_of_lattices),
        TEST(solid_fraction_of_a_region),
        TEST(solid_fraction_of_other_shapes),
        TEST(samples_of_every_shape),
        TEST(coordination_with_rattlers),
        TEST(fabric_of_directions),
        TEST(stress_of_lattices),
        TEST(stress_of_a_pile),
        TEST(forces_and_friction),
        TEST(temperature_and_shear),
        TEST(inertial_number),
        TEST(extents),
        TEST(nothing_to_measure),
        TEST(names),
        TEST(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
