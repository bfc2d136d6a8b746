// SPDX-License-Identifier: Apache-2.0
// Analyses of recordings whose grains stand where the answer is known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/worlds.h"
#include "talus/observe.h"

static const double pi = 3.14159265358979323846;
static char path[64];

static void near(double found, double want, double tolerance) {
    if (!(fabs(found - want) <= tolerance)) fail_msg("%.17g, should be %.17g", found, want);
}

static int make_path(void **state) {
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/talus-observe-%d.h5", (int)getpid());
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    (void)unlink(path);
    return 0;
}

// Worlds without forces, so that bodies go straight on.
static talus_world *world(int dim, double step) {
    const talus_world_def def = worlds_def(dim, TALUS_SCHEME_FIXED_POINT, step, 0.0);
    return worlds_create(&def);
}

static talus_world *periodic(int dim, double x, double y, double z) {
    talus_world_def def = worlds_def(dim, TALUS_SCHEME_FIXED_POINT, 0.01, 0.0);
    def.period[0] = x, def.period[1] = y, def.period[2] = z;
    return worlds_create(&def);
}

static int32_t ball_shape(talus_world *w, double radius) {
    return worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = radius});
}

static void add(talus_world *w, int32_t shape, double x, double y, double z, const double v[3]) {
    talus_body_def body = talus_body_default();
    body.shape = shape;
    body.mass = 2.0;
    body.position[0] = x, body.position[1] = y, body.position[2] = z;
    for (int k = 0; v && k < 3; k++) body.velocity[k] = v[k];
    (void)worlds_add(w, &body);
}

// Record `steps` steps and a frame after each; the world is gone after it.
static void record(talus_world *w, int steps) {
    const talus_record_def def = {.contacts = true};
    talus_recording *r = NULL;
    WORLDS_OK(talus_recording_create(ctx, path, &def, w, &r));
    WORLDS_OK(talus_recording_frame(r, w, 0));
    for (int k = 1; k <= steps; k++) {
        const talus_ledger ledger = worlds_step(w);
        WORLDS_OK(talus_recording_ledger(r, &ledger));
        WORLDS_OK(talus_recording_frame(r, w, k));
    }
    WORLDS_OK(talus_recording_close(r));
    talus_world_destroy(w);
}

static talus_tables *analyse(const char *what, talus_analyse_def def) {
    talus_playback *p = NULL;
    talus_tables *out = NULL;
    def.what = &what;
    def.what_count = 1;
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    WORLDS_OK(talus_analyse(p, &def, &out));
    talus_playback_close(p);
    return out;
}

static talus_table find(const talus_tables *tables, const char *name) {
    talus_table t;
    for (int32_t k = 0; talus_tables_at(tables, k, &t); k++)
        if (strcmp(t.name, name) == 0) return t;
    fail_msg("there is no table %s", name);
    return t;
}

static double at(const talus_table *t, int64_t row, const char *column) {
    assert_true(row >= 0 && row < t->rows);
    for (int32_t k = 0; k < t->columns; k++)
        if (strcmp(t->column[k], column) == 0) return t->value[row * t->columns + k];
    fail_msg("%s has no column %s", t->name, column);
    return NAN;
}

// Balls at half the height of the layers of a lattice, so that they fill layers of a fifth of their
// diameter as slices do: ∫ π (r² − z²) dz over the area of a cell.
static void profile_of_a_lattice(void **state) {
    (void)state;
    const double r = 0.05, d = 0.1;
    talus_world *w = periodic(3, 0.3, 0.2, 0.0);
    const int32_t ball = ball_shape(w, r);
    for (int i = 0; i < 3 * 2 * 4; i++) {
        const double v[3] = {7.0 * (i / 6), 0.0, 0.0};
        add(w, ball, 0.07 + d * (i % 3), d * (i / 3 % 2), d * (i / 6), v);
    }
    record(w, 0);
    talus_analyse_def def = talus_analyse_default();
    def.bins = 20;
    talus_tables *tables = analyse("profile", def);
    const talus_table t = find(tables, "profile"), v = find(tables, "profile_velocity");
    const talus_table heat = find(tables, "profile_temperature");
    assert_int_equal(t.rows, 20);
    for (int k = 0; k < 20; k++) {
        const double z = -r + 0.02 * (k % 5), y = z + 0.02;
        const double slice = pi * (r * r * 0.02 - (y * y * y - z * z * z) / 3.0);
        near(at(&t, k, "z"), -r + 0.02 * (k + 0.5), 1e-12);
        near(at(&t, k, "solid_fraction"), slice / (0.02 * d * d), 1e-9);
        near(at(&v, k, "velocity_x"), 7.0 * (k / 5), 1e-9);
        near(at(&heat, k, "temperature"), 0.0, 1e-9);
    }
    talus_tables_destroy(tables);
    // along a periodic axis, across the end of the cell
    def.region.up = 0;
    def.bins = 15;
    tables = analyse("profile", def);
    const talus_table x = find(tables, "profile");
    double sum = 0.0;
    for (int k = 0; k < 15; k++) {
        sum += at(&x, k, "solid_fraction") / 15.0;
        near(at(&x, k, "solid_fraction"), at(&x, (k + 5) % 15, "solid_fraction"), 1e-9);
    }
    near(sum, pi / 6.0, 1e-9);
    talus_tables_destroy(tables);
}

static void sizes_of_two_kinds(void **state) {
    (void)state;
    talus_world *w = world(2, 0.01);
    const int32_t small = ball_shape(w, 0.1), large = ball_shape(w, 0.2);
    for (int i = 0; i < 30; i++) add(w, small, i, 0, 0, NULL);
    talus_body_def body = talus_body_default();
    body.shape = large;
    body.mass = 6.0;
    for (int i = 0; i < 10; i++) body.position[0] = i, body.position[1] = 2, worlds_add(w, &body);
    record(w, 0);
    talus_analyse_def def = talus_analyse_default();
    def.bins = 4;
    talus_tables *tables = analyse("sizes", def);
    const talus_table t = find(tables, "sizes");
    assert_int_equal(t.rows, 4);
    near(at(&t, 0, "number"), 0.75, 1e-15);
    near(at(&t, 0, "mass"), 0.5, 1e-15);
    near(at(&t, 2, "number_below"), 0.75, 1e-15);
    near(at(&t, 3, "mass_below"), 1.0, 1e-15);
    near(at(&t, 3, "diameter"), 0.4 - 0.025, 1e-12);
    talus_tables_destroy(tables);
}

// Neighbours of the simple cubic lattice: 6 at a, 12 at √2 a, 8 at √3 a, 6 at 2 a.
static void pairs_of_a_lattice(void **state) {
    (void)state;
    const int n = 6;
    talus_world *w = periodic(3, n, n, n);
    const int32_t ball = ball_shape(w, 0.4);
    for (int i = 0; i < n * n * n; i++) add(w, ball, i % n, i / n % n, i / n / n, NULL);
    record(w, 0);
    talus_analyse_def def = talus_analyse_default();
    def.bins = 100;
    def.range = 2.5;
    talus_tables *tables = analyse("pairs", def);
    const talus_table t = find(tables, "pairs");
    const double distance[4] = {1.0, sqrt(2.0), sqrt(3.0), 2.0}, count[4] = {6, 12, 8, 6};
    double all = 0.0;
    for (int k = 0; k < 100; k++) {
        const double in = 0.025 * k, out = in + 0.025;
        all += at(&t, k, "g") * 4.0 / 3.0 * pi * (out * out * out - in * in * in); // density 1
    }
    for (int i = 0; i < 4; i++) {
        double found = 0.0;
        for (int k = 0; k < 100; k++) {
            const double in = 0.025 * k, out = in + 0.025;
            if (distance[i] < in - 1e-9 || distance[i] > out + 1e-9) continue;
            found += at(&t, k, "g") * 4.0 / 3.0 * pi * (out * out * out - in * in * in);
        }
        near(found, count[i], 1e-9);
    }
    near(all, 6 + 12 + 8 + 6 + 24 + 24, 1e-9); // and 24 at √5, 24 at √6
    talus_tables_destroy(tables);
}

// Centres strewn at random in a box have g = 1 at all distances, though most are near a wall.
static void pairs_of_a_gas(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        talus_world *w = world(dim, 0.01);
        const int32_t ball = ball_shape(w, 1e-9);
        tl_rng rng = {5};
        const int n = 4000;
        for (int i = 0; i < n; i++)
            add(w, ball, tl_rng_unit(&rng), 0.7 * tl_rng_unit(&rng),
                dim == 3 ? tl_rng_unit(&rng) : 0.0, NULL);
        record(w, 0);
        talus_analyse_def def = talus_analyse_default();
        def.bins = 10;
        def.range = 0.6;
        talus_tables *tables = analyse("pairs", def);
        const talus_table t = find(tables, "pairs");
        for (int k = 0; k < 10; k++) {
            // three deviations of the pairs in the bin, at most half of which the walls take; and
            // that of the centres in the parts of the box that count more, twice 1/√n
            const double in = 0.06 * k, out = in + 0.06;
            const double shell = dim == 2 ? pi * (out * out - in * in)
                                          : 4.0 / 3.0 * pi * (out * out * out - in * in * in);
            const double pairs = 0.5 * n * n * shell / 0.7;
            near(at(&t, k, "g"), 1.0, 3.0 / sqrt(0.5 * pairs) + 2.0 / sqrt(n));
        }
        talus_tables_destroy(tables);
    }
}

// The field has all the mass, momentum and stress there is, and a linear flow is met where the
// lattice is even.
static void field_keeps_what_there_is(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const int n = dim == 2 ? 64 : 27;
        talus_world *w = periodic(dim, 0.8, 0.8, dim == 3 ? 0.6 : 0.0);
        const int32_t ball = ball_shape(w, 0.05);
        tl_rng rng = {6};
        for (int i = 0; i < n; i++) {
            const double v[3] = {tl_rng_unit(&rng), 1.0, 0.0};
            add(w, ball, tl_rng_range(&rng, -1, 2), tl_rng_range(&rng, -1, 2),
                dim == 3 ? tl_rng_unit(&rng) : 0.0, v);
        }
        record(w, 1); // overlaps: they press
        talus_analyse_def def = talus_analyse_default();
        def.width = 0.12;
        def.cell = 0.04;
        talus_tables *tables = analyse("field", def), *whole = analyse("stress", def);
        talus_tables *motion = analyse("temperature", def);
        const talus_table t = find(tables, "field"), s = find(whole, "stress");
        const talus_table u = find(motion, "velocity");
        const double cell = pow(0.04, dim), volume = dim == 2 ? 0.64 : 0.384;
        double mass = 0.0, solid = 0.0, momentum = 0.0, p = 0.0;
        for (int64_t k = 0; k < t.rows; k++) {
            mass += at(&t, k, "density") * cell;
            solid += at(&t, k, "solid_fraction") * cell;
            if (at(&t, k, "density") > 0.0)
                momentum += at(&t, k, "density") * at(&t, k, "velocity_x") * cell;
            p += at(&t, k, "pressure") * cell;
        }
        // what the sum over the grid differs by from the integral of a kernel of 12 cells
        const double error = 2e-3;
        near(mass, 2.0 * n, error * 2.0 * n);
        near(solid, n * (dim == 2 ? pi * 0.0025 : 4.0 / 3.0 * pi * 1.25e-4),
             error * n * 0.0025 * pi);
        near(momentum, 2.0 * n * at(&u, 1, "velocity_x"), error * 2.0 * n);
        assert_true(at(&s, 1, "pressure") > 0.0);
        near(p, volume * at(&s, 1, "pressure"), error * volume * at(&s, 1, "pressure"));
        talus_tables_destroy(tables);
        talus_tables_destroy(whole);
        talus_tables_destroy(motion);
    }
    talus_world *w = periodic(2, 1.0, 0.0, 0.0);
    const int32_t ball = ball_shape(w, 0.02);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++) {
            const double v[3] = {3.0 * 0.05 * j, 0.0, 0.0};
            add(w, ball, 0.05 * i, 0.05 * j, 0.0, v);
        }
    record(w, 0);
    talus_analyse_def def = talus_analyse_default();
    def.width = 0.1;
    talus_tables *tables = analyse("field", def);
    const talus_table t = find(tables, "field");
    int inside = 0;
    for (int64_t k = 0; k < t.rows; k++) {
        const double y = at(&t, k, "y");
        if (y < 0.25 || y > 0.7) continue;
        inside++;
        near(at(&t, k, "velocity_x"), 3.0 * y, 2e-2);
        near(at(&t, k, "density"), 2.0 / 0.0025, 0.01 * 2.0 / 0.0025);
        near(at(&t, k, "velocity_y"), 0.0, 1e-12);
    }
    assert_true(inside >= 30);
    talus_tables_destroy(tables);
}

// Heaps whose flanks are known: rows of disks, and rings of balls, each a step lower.
static void repose_of_heaps(void **state) {
    (void)state;
    const double r = 0.01, slope = 0.5;
    talus_world_def world_def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 0.01, 9.81);
    talus_world *w = worlds_create(&world_def);
    int32_t ball = ball_shape(w, r);
    for (int i = -40; i <= 40; i++) { // steeper to the right
        const double top = i < 0 ? 0.4 + slope * 0.01 * i : 0.4 - 2.0 * slope * 0.01 * i;
        for (double y = top; y > -1e-9; y -= 0.02) add(w, ball, 0.01 * i, y, 0.0, NULL);
    }
    record(w, 0);
    talus_tables *tables = analyse("deposit", talus_analyse_default());
    talus_table t = find(tables, "repose");
    near(at(&t, 0, "angle_low"), atan(slope) * 180.0 / pi, 0.5);
    near(at(&t, 0, "angle_high"), atan(2.0 * slope) * 180.0 / pi, 1.0);
    talus_table h = find(tables, "deposit");
    double most = 0.0;
    for (int64_t k = 0; k < h.rows; k++) most = fmax(most, at(&h, k, "height"));
    near(most, 0.4 + r - (0.0 - r), 0.021); // the lowest disk begins up to a diameter above 0
    talus_tables_destroy(tables);

    world_def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.01, 9.81);
    w = worlds_create(&world_def);
    ball = ball_shape(w, 0.02);
    const double tilt = tan(24.0 * pi / 180.0);
    for (int i = -25; i <= 25; i++) // only the surface: what is below does not show
        for (int j = -25; j <= 25; j++) {
            const double from = hypot(0.02 * i, 0.02 * j), z = 0.2 - tilt * from;
            if (z >= 0.0) add(w, ball, 5.0 + 0.02 * i, -3.0 + 0.02 * j, z, NULL);
        }
    record(w, 0);
    tables = analyse("deposit", talus_analyse_default());
    t = find(tables, "repose");
    near(at(&t, 0, "angle"), 24.0, 1.0);
    near(at(&t, 0, "tilt_x"), 0.0, 0.5);
    talus_tables_destroy(tables);

    world_def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 0.01, 9.81);
    w = worlds_create(&world_def);
    ball = ball_shape(w, r);
    for (int i = 0; i < 80; i++) add(w, ball, 0.01 * i, 0.1 + 0.4 * 0.01 * i, 0.0, NULL);
    record(w, 0);
    tables = analyse("deposit", talus_analyse_default());
    t = find(tables, "repose");
    near(at(&t, 0, "tilt"), atan(0.4) * 180.0 / pi, 0.5);
    talus_tables_destroy(tables);
}

// Ten grains fall at 1 m/s, 5 cm apart, and one rises: one passes z = 0 in each 50 ms.
static void discharge_through_a_plane(void **state) {
    (void)state;
    const double down[3] = {0, 0, -1}, up[3] = {0, 0, 1};
    for (int cell = 0; cell < 2; cell++) {
        talus_world_def world_def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.01, 0.0);
        if (cell) world_def.period[2] = 4.0;
        talus_world *w = worlds_create(&world_def);
        const int32_t ball = ball_shape(w, 1e-3);
        for (int i = 0; i < 10; i++)
            add(w, ball, 0.1 * i, 0, 0.025 + 0.05 * i + (cell ? 4 : 0), down);
        add(w, ball, 3.0, 0.0, -0.105, up);
        record(w, 60);
        talus_analyse_def def = talus_analyse_default();
        def.plane_axis = 2;
        talus_tables *tables = analyse("discharge", def);
        talus_table t = find(tables, "discharge");
        assert_int_equal(t.rows, 61);
        for (int k = 0; k <= 60; k++) {
            const double fell = fmin(10.0, fmax(0.0, floor((k + 2.5) / 5.0 + 1e-9))), rose = k > 10;
            near(at(&t, k, "grains"), fell - rose, 1e-12);
            near(at(&t, k, "mass"), 2.0 * (fell - rose), 1e-12);
        }
        talus_tables_destroy(tables);
        def.region.high[0] = 2.0; // without the one that rises
        def.every = 5;
        def.from = 0.0, def.until = 0.501;
        tables = analyse("discharge", def);
        t = find(tables, "discharge_rate");
        assert_int_equal(t.rows, 10);
        for (int k = 0; k < 10; k++) near(at(&t, k, "mass_rate"), 2.0 / 0.05, 1e-9);
        talus_tables_destroy(tables);
        def.plane_up = true;
        tables = analyse("discharge", def);
        t = find(tables, "discharge");
        near(at(&t, 10, "grains"), -10.0, 1e-12);
        talus_tables_destroy(tables);
    }
}

// A ball that rests on a plane which is turned about y by its scripted body: weight and its moment.
static void walls_carry_weight(void **state) {
    (void)state;
    const talus_world_def world_def = worlds_def(3, TALUS_SCHEME_FIXED_POINT, 0.01, 10.0);
    talus_world *w = worlds_create(&world_def);
    (void)worlds_plane(w, 0.0, 0.0, 1.0);
    talus_body_def body = worlds_ball(w, 0.1, 0.5, 0.25, 0.1);
    (void)worlds_add(w, &body);
    record(w, 5);
    talus_analyse_def def = talus_analyse_default();
    talus_tables *tables = analyse("walls", def);
    talus_table t = find(tables, "wall_0");
    near(at(&t, 5, "force_z"), -10.0, 1e-6);
    near(at(&t, 5, "force_x"), 0.0, 1e-6);
    t = find(tables, "wall_0_torque"); // r × F with r = (0.5, 0.25, 0)
    near(at(&t, 5, "torque_x"), -2.5, 1e-6);
    near(at(&t, 5, "torque_y"), 5.0, 1e-6);
    near(at(&t, 5, "torque_z"), 0.0, 1e-6);
    talus_tables_destroy(tables);
    // the ball falls from rest before that: what it loses is in the books
    tables = analyse("energy", def);
    t = find(tables, "energy");
    assert_int_equal(t.rows, 6);
    for (int k = 1; k <= 5; k++) {
        double sum = at(&t, 0, "total") + at(&t, k, "added");
        sum += at(&t, k, "work_obstacles") + at(&t, k, "work_forces") + at(&t, k, "work_joints");
        sum -= at(&t, k, "loss_impact") + at(&t, k, "loss_friction") + at(&t, k, "loss_numerical");
        near(sum, at(&t, k, "total"), 1e-12);
        near(at(&t, k, "total"), at(&t, k, "kinetic") + at(&t, k, "potential"), 1e-12);
    }
    near(at(&t, 0, "total"), 1.0, 1e-9);
    talus_tables_destroy(tables);
}

// Two balls side by side on a plane: distributions of what is the same everywhere.
static void distributions(void **state) {
    (void)state;
    const talus_world_def world_def = worlds_def(2, TALUS_SCHEME_FIXED_POINT, 0.01, 10.0);
    talus_world *w = worlds_create(&world_def);
    (void)worlds_plane(w, 0.0, 1.0, 0.0);
    for (int i = 0; i < 3; i++) { // piles of two
        talus_body_def body = worlds_ball(w, 0.1, i, 0.1, 0.0);
        (void)worlds_add(w, &body);
        body.position[1] = 0.3;
        (void)worlds_add(w, &body);
    }
    record(w, 4);
    talus_analyse_def def = talus_analyse_default();
    def.bins = 30;
    def.average = 2;
    talus_tables *tables = analyse("coordination", def);
    talus_table t = find(tables, "coordination_shares");
    assert_int_equal(t.rows, 3);
    near(at(&t, 1, "share"), 0.5, 1e-15);
    near(at(&t, 2, "share"), 0.5, 1e-15);
    talus_tables_destroy(tables);
    tables = analyse("fabric", def);
    t = find(tables, "fabric_directions"); // all upright: at π/2
    for (int k = 0; k < 30; k++) near(at(&t, k, "density"), k == 15 ? 30.0 : 0.0, 1e-12);
    talus_tables_destroy(tables);
    tables = analyse("forces", def);
    t = find(tables, "forces_normal"); // 20 N and 10 N: 4/3 and 2/3 of the mean
    double sum = 0.0;
    for (int k = 0; k < 30; k++) sum += at(&t, k, "density") * 4.0 / 3.0 / 30.0;
    near(sum, 1.0, 1e-9);
    near(at(&t, 29, "density"), 0.5 * 30.0 / (4.0 / 3.0), 1e-5);
    near(at(&t, 29, "contacts"), 3.0, 0.0);
    t = find(tables, "forces_friction");
    near(at(&t, 0, "density"), 30.0, 1e-12);
    talus_tables_destroy(tables);
    // stress over height: the weight of what is above
    def.region.low[1] = 0.0, def.region.high[1] = 0.4;
    def.bins = 4;
    tables = analyse("profile", def);
    t = find(tables, "profile_stress");
    const double width = 2.2;
    near(at(&t, 0, "stress_yy"), 3.0 * 20.0 / width, 1e-4);
    near(at(&t, 1, "stress_yy"), 3.0 * 10.0 / width, 1e-4);
    near(at(&t, 3, "stress_yy"), 0.0, 1e-4); // the steps leave them nanometres off
    talus_tables_destroy(tables);
}

static void refused(const char *what, talus_analyse_def def, talus_status want, const char *says) {
    talus_playback *p = NULL;
    talus_tables *out = NULL;
    def.what = &what;
    def.what_count = 1;
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    assert_int_equal(talus_analyse(p, &def, &out), want);
    assert_null(out);
    if (!strstr(talus_context_last_error(ctx), says))
        fail_msg("'%s' does not say '%s'", talus_context_last_error(ctx), says);
    talus_playback_close(p);
}

static void what_cannot_be(void **state) {
    (void)state;
    talus_world *w = world(3, 0.01);
    talus_recording *r = NULL;
    add(w, ball_shape(w, 0.1), 0, 0, 0, NULL);
    const talus_record_def record_def = {.contacts = false};
    WORLDS_OK(talus_recording_create(ctx, path, &record_def, w, &r));
    WORLDS_OK(talus_recording_frame(r, w, 0));
    WORLDS_OK(talus_recording_close(r));
    talus_world_destroy(w);
    talus_analyse_def def = talus_analyse_default();
    refused("stres", def, TALUS_ERR_UNKNOWN, "did you mean 'stress'");
    refused("stress", def, TALUS_ERR_ARG, "no contacts");
    refused("energy", def, TALUS_ERR_ARG, "no ledger");
    refused("discharge", def, TALUS_ERR_ARG, "plane");
    def.from = 3.0;
    refused("solid", def, TALUS_ERR_ARG, "no frame from 3 s");
    def = talus_analyse_default();
    def.bins = 0;
    refused("solid", def, TALUS_ERR_ARG, "bins");
    def = talus_analyse_default();
    def.region.low[0] = 5.0;
    refused("solid", def, TALUS_ERR_ARG, "nothing");
    def = talus_analyse_default();
    def.cell = 1e-6;
    refused("field", def, TALUS_ERR_ARG, "more than");
    // everything that can be measured, when nothing is asked for
    talus_playback *p = NULL;
    talus_tables *out = NULL;
    talus_table t;
    def = talus_analyse_default();
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    WORLDS_OK(talus_analyse(p, &def, &out));
    t = find(out, "solid");
    near(at(&t, 0, "solid_fraction"), pi / 6.0, 1e-12);
    for (int32_t k = 0; talus_tables_at(out, k, &t); k++) assert_string_not_equal(t.name, "stress");
    talus_tables_destroy(out);
    talus_playback_close(p);
}

static void without_memory(void **state) {
    (void)state;
    talus_world *w = periodic(2, 1.0, 0.0, 0.0);
    (void)worlds_plane(w, 0.0, 1.0, 0.0);
    const int32_t ball = ball_shape(w, 0.1);
    const int32_t box =
        worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}});
    for (int i = 0; i < 4; i++) add(w, i % 2 ? box : ball, 0.25 * i, 0.099, 0, NULL);
    record(w, 3);
    talus_playback *p = NULL;
    WORLDS_OK(talus_playback_open(ctx, path, &p));
    talus_analyse_def def = talus_analyse_default();
    def.plane_axis = 1;
    def.bins = 3;
    talus_status status = TALUS_ERR_MEMORY;
    talus_tables *out = NULL;
    WORLDS_OK(talus_analyse(p, &def, &out)); // the playback has all the room it needs
    talus_tables_destroy(out);
    const int64_t live = memory.live;
    int64_t k = 1;
    for (; status != TALUS_OK; k++) {
        memory.fail_at = memory.requests + k;
        status = talus_analyse(p, &def, &out);
        memory.fail_at = 0;
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        if (status == TALUS_OK) break;
        assert_null(out);
        assert_int_equal(memory.live, live);
    }
    assert_true(k > 100);
    talus_tables_destroy(out);
    assert_int_equal(memory.live, live);
    talus_playback_close(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(profile_of_a_lattice),
        TEST(sizes_of_two_kinds),
        TEST(pairs_of_a_lattice),
        TEST(pairs_of_a_gas),
        TEST(field_keeps_what_there_is),
        TEST(repose_of_heaps),
        TEST(walls_carry_weight),
        TEST(discharge_through_a_plane),
        TEST(distributions),
        TEST(what_cannot_be),
        TEST(without_memory),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
