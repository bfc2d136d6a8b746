// SPDX-License-Identifier: Apache-2.0
// Pictures: samples against rays that are cast here one by one, areas in 2D against those of the
// shapes, the same bits for any number of threads, and a colour map that falls evenly in lightness.
// ctest labels: threads
#include "base/rng.h"
#include "picture/raster.h"
#include "support/context.h"
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/moment.h"

enum { WIDE = 96, HIGH = 72 };

static test_moment moment;

// A body at x; one without mass is an obstacle.
static int32_t moment_body(test_moment *t, int32_t shape, const double x[3], double mass) {
    return mass > 0.0 ? moment_add(t, shape, x[0], x[1], x[2])
                      : moment_obstacle(t, shape, x[0], x[1], x[2]);
}

// ---- samples -----------------------------------------------------------------------------------

static void look(tl_camera *c, bool parallel) {
    *c = (tl_camera){
        .scale = parallel ? 20.0 : 120.0, .centre = {0.5 * WIDE, 0.5 * HIGH}, .parallel = parallel};
    tl_camera_turn(c, (const double[3]){0.4, 1.0, -0.3});
    tl_scale3(-5.0, c->forward, c->eye);
}

// The ray of a sample: a point and a direction with forward component 1, in view coordinates.
static void cast(const tl_camera *c, int x, int y, double from[3], double along[3]) {
    const double u = (x + 0.5 - c->centre[0]) / c->scale, v = -(y + 0.5 - c->centre[1]) / c->scale;
    for (int k = 0; k < 3; k++) from[k] = 0.0, along[k] = k == 2;
    double *plane = c->parallel ? from : along;
    plane[0] = u, plane[1] = v;
}

// Depth at which a ray meets a ball, by the distance of the ball's centre from the ray; infinite
// where it misses.
static double ball_depth(const double from[3], const double along[3], const double v[3], double r) {
    double d[3], foot[3];
    tl_sub3(v, from, d);
    const double length = tl_norm3(along), t = tl_dot3(d, along) / (length * length);
    tl_axpy3(d, -t, along, foot);
    const double away = tl_norm3(foot);
    return away <= r ? t - sqrt(r * r - away * away) / length : INFINITY;
}

static void balls_are_where_rays_hit(void **state) {
    (void)state;
    tl_rng rng = {.state = 4};
    tl_band band;
    assert_int_equal(tl_band_init(ctx, WIDE, HIGH, false, false, &band), TALUS_OK);
    for (int turn = 0; turn < 20; turn++) {
        enum { BALLS = 30 };
        tl_camera c;
        double v[BALLS][3], r[BALLS];
        int hits = 0;
        look(&c, turn % 2 == 0);
        tl_band_begin(&band, 0);
        for (int i = 0; i < BALLS; i++) {
            const double x[3] = {tl_rng_range(&rng, -1.5, 1.5), tl_rng_range(&rng, -1.5, 1.5),
                                 tl_rng_range(&rng, -1.5, 1.5)};
            tl_camera_see(&c, x, v[i]);
            r[i] = tl_rng_range(&rng, 0.02, 0.8);
            tl_draw_ball(&c, &band, &band.solid, v[i], r[i], (tl_rgb)(i + 1));
        }
        for (int y = 0; y < HIGH; y++)
            for (int x = 0; x < WIDE; x++) {
                const int at = y * WIDE + x;
                double from[3], along[3], best = INFINITY, p[3], n[3];
                int who = -1;
                cast(&c, x, y, from, along);
                for (int i = 0; i < BALLS; i++) {
                    const double z = ball_depth(from, along, v[i], r[i]);
                    if (z < best) best = z, who = i;
                }
                if (who < 0) {
                    assert_true(isinf(band.solid.depth[at]));
                    continue;
                }
                hits++;
                assert_true(fabs((double)band.solid.depth[at] - best) < 1e-5);
                if (band.solid.colour[at] != (tl_rgb)(who + 1)) continue; // two meet there
                tl_axpy3(from, best, along, p);
                tl_sub3(p, v[who], n);
                for (int k = 0; k < 3; k++)
                    assert_true(fabs((double)band.solid.normal[at][k] - n[k]) < 1e-4);
            }
        assert_true(hits > WIDE * HIGH / 10);
    }
    tl_band_clear(ctx, &band);
}

// Depth at which a ray meets a triangle, from the volumes of tetrahedra; NaN where it passes so
// near an edge that rounding decides.
static double triangle_depth(const double from[3], const double along[3], double p[3][3]) {
    double to[3][3], n[3], u[3], w[3], inside[3];
    for (int k = 0; k < 3; k++) tl_sub3(p[k], from, to[k]);
    for (int k = 0; k < 3; k++) {
        tl_cross3(to[(k + 1) % 3], to[(k + 2) % 3], n);
        inside[k] = tl_dot3(n, along);
    }
    for (int k = 0; k < 3; k++)
        if (fabs(inside[k]) < 1e-9) return NAN;
    // a front has its corners counter-clockwise seen from the eye; view coordinates (right, up,
    // forward) are left-handed, so that these products are positive then
    if (!(inside[0] > 0.0 && inside[1] > 0.0 && inside[2] > 0.0)) return INFINITY;
    tl_sub3(p[1], p[0], u);
    tl_sub3(p[2], p[0], w);
    tl_cross3(u, w, n);
    return tl_dot3(n, to[0]) / tl_dot3(n, along);
}

static void surfaces_are_where_rays_hit(void **state) {
    (void)state;
    const talus_shape_def shape[] = {
        {.kind = TALUS_SHAPE_BOX, .half = {0.7, 0.4, 0.5}},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.8, .height = 1.2},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.9, 0.4, 0.3}},
    };
    tl_rng rng = {.state = 8};
    tl_band band;
    assert_int_equal(tl_band_init(ctx, WIDE, HIGH, false, false, &band), TALUS_OK);
    for (int turn = 0; turn < 12; turn++) {
        talus_surface s;
        tl_camera c;
        tl_item item = {.radius = 2.0, .colour = 7};
        int hits = 0;
        look(&c, turn % 2 == 0);
        assert_int_equal(talus_shape_surface(ctx, 3, &shape[turn % 3], 16, 0.0, &s), TALUS_OK);
        tl_show show = {.ctx = ctx, .surface = &s, .surfaces = 1};
        tl_scratch scratch;
        assert_int_equal(tl_scratch_init(&show, &scratch), TALUS_OK);
        for (int k = 0; k < 4; k++) item.q[k] = tl_rng_range(&rng, -1.0, 1.0);
        tl_quat_normalise(item.q);
        tl_band_begin(&band, 0);
        tl_draw_surface(&c, &band, &scratch, &s, &item);
        for (int y = 0; y < HIGH; y++)
            for (int x = 0; x < WIDE; x++) {
                double from[3], along[3], best = INFINITY;
                bool doubt = false;
                cast(&c, x, y, from, along);
                for (int32_t t = 0; t < s.triangles; t++) {
                    double p[3][3];
                    for (int k = 0; k < 3; k++) {
                        tl_rotate(item.q, s.point + 3 * (int64_t)s.triangle[3 * t + k], p[k]);
                        tl_camera_see(&c, p[k], p[k]);
                    }
                    const double z = triangle_depth(from, along, p);
                    doubt = doubt || isnan(z);
                    if (z < best) best = z;
                }
                if (doubt) continue;
                const float depth = band.solid.depth[y * WIDE + x];
                assert_true(isinf(best) ? isinf(depth) : fabs((double)depth - best) < 1e-5);
                hits += isfinite(best);
            }
        assert_true(hits > 200);
        tl_scratch_clear(ctx, &scratch);
        talus_surface_free(ctx, &s);
    }
    tl_band_clear(ctx, &band);
}

// ---- areas in 2D -------------------------------------------------------------------------------

static const talus_shape_def disk = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.4};
static const talus_shape_def plank = {.kind = TALUS_SHAPE_BOX, .half = {0.6, 0.15, 0.2}};
static const talus_part cross_part[] = {
    {&plank, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
    {&plank, {0.0, 0.0, 0.0}, {0.8, 0.0, 0.0, 0.6}},
    {&disk, {0.2, 0.2, 0.0}, {1.0, 0.0, 0.0, 0.0}},
};
static const double bend[] = {-0.5, -0.3, 0.0, 0.1, 0.2, 0.0, 0.6, -0.2, 0.0};

// What is covered is the area of the shape and, outside of it, half of its outline's width.
static void areas_are_those_of_shapes(void **state) {
    (void)state;
    const talus_shape_def shape[] = {
        disk,
        plank,
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.7, 0.3, 0.0}},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.2, .height = 0.7},
        {.kind = TALUS_SHAPE_WORM, .radius = 0.15, .point = bend, .point_count = 3},
        {.kind = TALUS_SHAPE_CLUMP, .part = cross_part, .part_count = 3},
    };
    const double box[6] = {-1.0, -1.0, 0.0, 1.0, 1.0, 0.0}, scale = 0.94 * 200 / 2.0;
    uint8_t *rgba = malloc(4 * 200 * 200);
    assert_non_null(rgba);
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        talus_picture_def def = talus_picture_default();
        talus_mass mass;
        talus_surface s;
        double sum = 0.0, way = 0.0;
        moment_begin(&moment, 2);
        moment_body(&moment, moment_shape(&moment, shape[i]), (const double[3]){0.01, 0.02, 0.0},
                    1.0);
        def.width = def.height = 200;
        def.clear = true;
        def.box = box;
        assert_int_equal(talus_picture_draw(ctx, &moment.m, &def, rgba), TALUS_OK);
        for (int k = 0; k < 200 * 200; k++) sum += rgba[4 * k + 3] / 255.0;
        assert_int_equal(talus_shape_mass(ctx, 2, &shape[i], 1.0, &mass), TALUS_OK);
        assert_int_equal(talus_shape_surface(ctx, 2, &shape[i], 256, 0.0, &s), TALUS_OK);
        for (int32_t t = 0; t < s.triangles; t++) {
            const double *p = s.point + 3 * (int64_t)s.triangle[2 * t];
            const double *q = s.point + 3 * (int64_t)s.triangle[2 * t + 1];
            way += hypot(q[0] - p[0], q[1] - p[1]);
        }
        talus_surface_free(ctx, &s);
        const bool ball = shape[i].kind == TALUS_SHAPE_SPHERE; // its outline is within
        const double all = mass.mass * scale * scale + (ball ? 0.0 : 0.55 * way * scale);
        if (!(fabs(sum / all - 1.0) < 0.006))
            fail_msg("%s: %g pixels, expected %g", talus_shape_text(shape[i].kind), sum, all);
    }
    free(rgba);
}

// ---- whole pictures ----------------------------------------------------------------------------

// A bed of grains of all sorts on a floor, in a box, with forces.
static void fill_moment(int32_t dim) {
    const talus_shape_def some[] = {
        {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3},
        {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.2, 0.25}},
        {.kind = TALUS_SHAPE_CLUMP, .part = cross_part, .part_count = 3},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.4, 0.2, 0.3}},
    };
    tl_rng rng = {.state = 3};
    moment_begin(&moment, dim);
    for (int k = 0; k < 4; k++) moment_shape(&moment, some[k]);
    for (int i = 0; i < 60; i++) {
        const double x[3] = {tl_rng_range(&rng, -2.0, 2.0), tl_rng_range(&rng, 0.3, 2.0),
                             dim == 3 ? tl_rng_range(&rng, 0.3, 2.0) : 0.0};
        const int32_t body = moment_body(&moment, i % 4, x, 1.0);
        for (int k = 0; k < dim; k++) moment.velocity[3 * body + k] = tl_rng_unit(&rng);
    }
    const talus_shape_def floor = {.kind = TALUS_SHAPE_HALF_SPACE};
    const talus_shape_def walls = {.kind = TALUS_SHAPE_CONTAINER, .half = {3.0, 3.0, 3.0}};
    moment_body(&moment, moment_shape(&moment, floor), (const double[3]){0.0}, 0.0);
    moment_body(&moment, moment_shape(&moment, walls), (const double[3]){0.0, 1.0, 1.0}, 0.0);
    for (int i = 0; i + 1 < 60; i++) {
        double n[3], f[3], middle[3];
        tl_sub3(moment.position + 3 * i, moment.position + 3 * (i + 1), n);
        tl_scale3(tl_rng_unit(&rng), n, f);
        tl_axpy3(moment.position + 3 * (i + 1), 0.5, n, middle);
        moment_touch(&moment, i, i + 1, middle, n, f);
    }
}

static void threads_make_no_difference(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    static uint8_t rgba[4][4 * WIDE * HIGH];
    for (int32_t dim = 2; dim <= 3; dim++) {
        fill_moment(dim);
        for (int k = 0; k < 4; k++) {
            talus_picture_def def = talus_picture_default();
            def.width = WIDE, def.height = HIGH;
            def.forces = true;
            def.threads = threads[k];
            assert_int_equal(talus_picture_draw(ctx, &moment.m, &def, rgba[k]), TALUS_OK);
            assert_memory_equal(rgba[k], rgba[0], sizeof rgba[0]);
        }
        bool plain = true;
        for (int k = 4; k < 4 * WIDE * HIGH && plain; k++) plain = rgba[0][k] == rgba[0][k - 4];
        assert_false(plain);
    }
}

// The grains that a box is made of are all within the picture, and fill it.
static void the_box_fits(void **state) {
    (void)state;
    static uint8_t rgba[4 * WIDE * HIGH];
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int turn = 0; turn < 5; turn++) {
            const double ways[5][3] = {
                {0.0}, {1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}, {-1.0, -1.0, -0.2}, {0.3, 0.1, 2.0}};
            talus_picture_def def = talus_picture_default();
            int low[2] = {WIDE, HIGH}, high[2] = {0, 0};
            moment_begin(&moment, dim);
            moment_shape(&moment, disk);
            for (int i = 0; i < 40; i++)
                moment_body(&moment, 0,
                            (const double[3]){i % 2 * 9.0, i / 2 % 2 * 4.0,
                                              dim == 3 ? i / 4 % 2 * 5.0 : 0.0},
                            1.0);
            memcpy(def.view, ways[turn], sizeof def.view);
            def.width = WIDE, def.height = HIGH;
            def.clear = true;
            assert_int_equal(talus_picture_draw(ctx, &moment.m, &def, rgba), TALUS_OK);
            for (int y = 0; y < HIGH; y++)
                for (int x = 0; x < WIDE; x++) {
                    if (rgba[4 * (y * WIDE + x) + 3] == 0) continue;
                    low[0] = x < low[0] ? x : low[0], high[0] = x > high[0] ? x : high[0];
                    low[1] = y < low[1] ? y : low[1], high[1] = y > high[1] ? y : high[1];
                }
            assert_true(low[0] > 0 && low[1] > 0 && high[0] < WIDE - 1 && high[1] < HIGH - 1);
            assert_true(high[0] - low[0] > WIDE * 3 / 4 || high[1] - low[1] > HIGH * 3 / 4);
        }
}

// A ball above a floor: its shadow lies to the right, away from the light, and nothing else is
// dark.
static void a_ball_has_a_shadow(void **state) {
    (void)state;
    static uint8_t with[4 * WIDE * HIGH], without[4 * WIDE * HIGH];
    const double box[6] = {-2.0, -2.0, 0.0, 2.0, 2.0, 2.0};
    talus_picture_def def = talus_picture_default();
    const talus_shape_def floor = {.kind = TALUS_SHAPE_HALF_SPACE};
    double ball[2] = {0.0}, dark[2] = {0.0}, balls = 0.0, darks = 0.0;
    def.width = WIDE, def.height = HIGH;
    def.box = box;
    def.clear = true;
    for (int k = 0; k < 2; k++) {
        moment_begin(&moment, 3);
        moment_shape(&moment, disk);
        moment_body(&moment, moment_shape(&moment, floor), (const double[3]){0.0}, 0.0);
        if (k == 1) moment_body(&moment, 0, (const double[3]){0.0, 0.0, 1.0}, 1.0);
        assert_int_equal(talus_picture_draw(ctx, &moment.m, &def, k ? with : without), TALUS_OK);
    }
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            const int i = 4 * (y * WIDE + x);
            const double more = with[i + 3] - without[i + 3];
            assert_true(without[i + 3] < 100); // lines of the grid
            if (with[i + 3] > 250)
                ball[0] += x, ball[1] += y, balls += 1.0;
            else if (more > 60.0)
                dark[0] += x, dark[1] += y, darks += 1.0;
        }
    assert_true(balls > 50.0 && darks > 30.0);
    assert_true(dark[0] / darks > ball[0] / balls + 2.0); // to the right
    assert_true(dark[1] / darks > ball[1] / balls + 2.0); // and below
}

static void forces_are_drawn_between_centres(void **state) {
    (void)state;
    static uint8_t rgba[2][4 * WIDE * HIGH];
    const double box[6] = {-1.0, -0.75, 0.0, 1.0, 0.75, 0.0};
    moment_begin(&moment, 2);
    moment_shape(&moment, disk);
    moment_body(&moment, 0, (const double[3]){-0.4, 0.0, 0.0}, 1.0);
    moment_body(&moment, 0, (const double[3]){0.4, 0.0, 0.0}, 1.0);
    moment_touch(&moment, 0, 1, (const double[3]){0.0}, (const double[3]){-1.0, 0.0, 0.0},
                 (const double[3]){-3.0, 0.0, 0.0});
    for (int k = 0; k < 2; k++) {
        talus_picture_def def = talus_picture_default();
        def.width = WIDE, def.height = HIGH;
        def.box = box;
        def.forces = true;
        def.force = k == 0 ? 3.0 : 12.0; // a quarter of the force is half as thick
        assert_int_equal(talus_picture_draw(ctx, &moment.m, &def, rgba[k]), TALUS_OK);
    }
    double thick[2] = {0.0};
    for (int k = 0; k < 2; k++)
        for (int y = 0; y < HIGH; y++) { // along the column of the contact: background or force
            const uint8_t *p = &rgba[k][4 * (y * WIDE + WIDE / 2)];
            thick[k] += p[1] < 150;
        }
    assert_true(thick[0] >= 10.0 && fabs(thick[1] / thick[0] - 0.5) < 0.15);
    double force;
    assert_int_equal(talus_picture_force(ctx, &moment.m, &force), TALUS_OK);
    assert_true(fabs(force - 3.0) < 1e-12);
}

// ---- colours and files -------------------------------------------------------------------------

// Lightness as people see it (Oklab), from sRGB.
static double lightness(const uint8_t c[3]) {
    double x[3];
    for (int k = 0; k < 3; k++) {
        const double s = c[k] / 255.0;
        x[k] = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
    }
    return 0.2104542553 * cbrt(0.4122214708 * x[0] + 0.5363325363 * x[1] + 0.0514459929 * x[2]) +
           0.7936177850 * cbrt(0.2119034982 * x[0] + 0.6806995451 * x[1] + 0.1073969566 * x[2]) -
           0.0040720468 * cbrt(0.0883024619 * x[0] + 0.2817188376 * x[1] + 0.6299787005 * x[2]);
}

static void the_map_falls_evenly(void **state) {
    (void)state;
    uint8_t c[3];
    double first = 0.0, before = 0.0, last = 0.0;
    talus_picture_map(1.0, c);
    last = lightness(c);
    for (int k = 0; k <= 16; k++) {
        talus_picture_map(k / 16.0, c);
        const double l = lightness(c);
        if (k == 0) first = l;
        // rounding to bytes moves a lightness by up to 0.004
        if (k > 0) assert_true(fabs(before - l - (first - last) / 16.0) < 0.008);
        before = l;
    }
    assert_true(first - last > 0.5);
    uint8_t nan[3], zero[3];
    talus_picture_map(NAN, nan);
    talus_picture_map(-1.0, zero);
    assert_memory_equal(nan, zero, 3);
}

static void a_png_reads_back(void **state) {
    (void)state;
    static uint8_t rgba[4 * WIDE * HIGH], back[4 * WIDE * HIGH];
    tl_rng rng = {.state = 5};
    for (int solid = 0; solid < 2; solid++) {
        uint8_t *png;
        int64_t bytes;
        png_image image;
        for (size_t i = 0; i < sizeof rgba; i++)
            rgba[i] = solid && i % 4 == 3 ? 255 : (uint8_t)(tl_rng_next(&rng) >> 20);
        assert_int_equal(talus_picture_png(ctx, WIDE, HIGH, rgba, &png, &bytes), TALUS_OK);
        memset(&image, 0, sizeof image);
        image.version = PNG_IMAGE_VERSION;
        assert_true(png_image_begin_read_from_memory(&image, png, (size_t)bytes));
        assert_int_equal(image.width, WIDE);
        assert_int_equal(image.height, HIGH);
        image.format = PNG_FORMAT_RGBA;
        assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
        assert_memory_equal(back, rgba, sizeof rgba);
        talus_picture_free(ctx, png);
    }
}

static void wrong_wishes_are_refused(void **state) {
    (void)state;
    static uint8_t rgba[4 * WIDE * HIGH];
    const double flat[6] = {0.0}, far[6] = {0.0, 0.0, 0.0, INFINITY, 1.0, 1.0};
    fill_moment(3);
    for (int k = 0; k < 6; k++) {
        talus_picture_def def = talus_picture_default();
        def.width = WIDE, def.height = HIGH;
        if (k == 0) def.width = 0;
        if (k == 1) def.height = 20000;
        if (k == 2) def.colour = "spede";
        if (k == 3) def.box = flat;
        if (k == 4) def.box = far;
        if (k == 5) def.threads = 0;
        const talus_status status = talus_picture_draw(ctx, &moment.m, &def, rgba);
        assert_int_equal(status, k == 2 ? TALUS_ERR_UNKNOWN : TALUS_ERR_ARG);
    }
    moment_begin(&moment, 3); // nothing at all is a picture of nothing
    talus_picture_def def = talus_picture_default();
    def.width = WIDE, def.height = HIGH;
    assert_int_equal(talus_picture_draw(ctx, &moment.m, &def, rgba), TALUS_OK);
    for (int k = 0; k < 4 * WIDE * HIGH; k++) assert_int_equal(rgba[k], 255);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static uint8_t rgba[4 * WIDE * HIGH];
    for (int32_t dim = 2; dim <= 3; dim++) {
        const int64_t before = memory.live;
        talus_picture_def def = talus_picture_default();
        talus_status status = TALUS_OK;
        int64_t k = 1;
        fill_moment(dim);
        def.width = 24, def.height = 16;
        def.forces = true;
        for (;; k++) {
            memory.fail_at = memory.requests + k;
            status = talus_picture_draw(ctx, &moment.m, &def, rgba);
            memory.fail_at = 0;
            assert_int_equal(memory.live, before);
            if (status == TALUS_OK) break;
            assert_int_equal(status, TALUS_ERR_MEMORY);
        }
        assert_true(k > 10);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(balls_are_where_rays_hit),
        TEST(surfaces_are_where_rays_hit),
        TEST(areas_are_those_of_shapes),
        TEST(threads_make_no_difference),
        TEST(the_box_fits),
        TEST(a_ball_has_a_shadow),
        TEST(forces_are_drawn_between_centres),
        TEST(the_map_falls_evenly),
        TEST(a_png_reads_back),
        TEST(wrong_wishes_are_refused),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
