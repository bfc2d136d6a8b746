// SPDX-License-Identifier: Apache-2.0
// Ellipsoids, superellipsoids, cylinders and cones by themselves: checks, masses by quadrature,
// sizes, and support functions by what defines them: a point of the surface whose normal is the
// direction asked for. Second derivatives by differences.
#include "collide/round.h"
#include "support/context.h"
#include "support/round_bodies.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

typedef struct check_case {
    int32_t dim;
    talus_shape_def shape;
    const char *said; // NULL: it is legal
} check_case;

#define SUPER(p, q)                                                                                \
    {                                                                                              \
        .kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 1.0, 1.0}, .exponent = { p, q }          \
    }

static const check_case check_cases[] = {
    {3, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 2.0, 3.0}}, NULL},
    {2, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 2.0, -3.0}}, NULL},
    {3, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 0.0, 3.0}}, "ellipsoid: half[1] = 0 must be"},
    {3, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 1.0, INFINITY}}, "half[2] = inf"},
    {2, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {NAN, 1.0, 1.0}}, "half[0] = nan"},
    {3, SUPER(2.0, 16.0), NULL},
    {2, SUPER(3.5, 0.0), NULL},
    {3, SUPER(1.9, 2.0), "exponent[0] = 1.9 must be from 2 (an ellipsoid) to 16 (nearly a box)"},
    {3, SUPER(4.0, 17.0), "exponent[1] = 17"},
    {3, SUPER(NAN, 4.0), "exponent[0] = nan"},
    {3, {.kind = TALUS_SHAPE_CONE, .radius = 1.0, .height = 2.0}, NULL},
    {2, {.kind = TALUS_SHAPE_CONE, .radius = 1.0, .height = 2.0}, NULL},
    {3, {.kind = TALUS_SHAPE_CONE, .radius = 0.0, .height = 2.0}, "cone: radius = 0 must be"},
    {2, {.kind = TALUS_SHAPE_CONE, .radius = 1.0, .height = -1.0}, "cone: height = -1 must be"},
};

static void wrong_shapes_are_refused_with_a_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof check_cases / sizeof check_cases[0]; i++) {
        const check_case *t = &check_cases[i];
        const talus_status status = talus_shape_check(ctx, t->dim, &t->shape);
        assert_int_equal(status, t->said ? TALUS_ERR_ARG : TALUS_OK);
        if (t->said && !strstr(talus_context_last_error(ctx), t->said))
            fail_msg("'%s' is not in: %s", t->said, talus_context_last_error(ctx));
    }
}

// Gauss's rule with five points, on [-1, 1].
static const double gauss_x[5] = {-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831,
                                  0.9061798459386640};
static const double gauss_w[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                  0.4786286704993665, 0.2369268850561891};

// How far the surface is from the centre along a direction: the norm has the value 1 there.
static double surface_at(int32_t dim, const talus_shape_def *s, const double d[3]) {
    const bool plain = s->kind == TALUS_SHAPE_ELLIPSOID;
    const double p = plain ? 2.0 : s->exponent[0], q = plain ? 2.0 : s->exponent[1];
    const double flat =
        pow(pow(fabs(d[0]) / s->half[0], p) + pow(fabs(d[1]) / s->half[1], p), 1.0 / p);
    if (dim == 2) return 1.0 / flat;
    return 1.0 / pow(pow(flat, q) + pow(fabs(d[2]) / s->half[2], q), 1.0 / q);
}

// Volume and second moments of one octant (2D: quadrant), in polar coordinates about the centre:
// the integrals along a ray are powers of its length.
static void polar_integrals(int32_t dim, const talus_shape_def *s, double *volume,
                            double square[3]) {
    enum { PARTS = 40 };
    const double part = 0.5 * pi / PARTS;
    *volume = square[0] = square[1] = square[2] = 0.0;
    for (int i = 0; i < 5 * PARTS; i++) {
        for (int j = 0; j < (dim == 2 ? 1 : 5 * PARTS); j++) {
            const double phi = part * (i / 5 + 0.5 * (1.0 + gauss_x[i % 5]));
            const double theta = dim == 2 ? 0.0 : part * (j / 5 + 0.5 * (1.0 + gauss_x[j % 5]));
            double w = 0.5 * part * gauss_w[i % 5];
            if (dim == 3) w *= 0.5 * part * gauss_w[j % 5] * cos(theta);
            const double d[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), sin(theta)};
            const double r = surface_at(dim, s, d);
            *volume += w * pow(r, dim) / dim;
            for (int k = 0; k < 3; k++) square[k] += w * pow(r, dim + 2) / (dim + 2) * d[k] * d[k];
        }
    }
    const double octants = dim == 2 ? 4.0 : 8.0;
    *volume *= octants;
    for (int k = 0; k < 3; k++) square[k] *= octants;
}

static void close_to(double value, double expected, double slack) {
    if (!(fabs(value - expected) <= slack * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

// The rule has errors of 1e-8 where a power of a coordinate that is not whole begins at 0.
static void masses_are_those_of_quadrature(void **state) {
    (void)state;
    static const talus_shape_def shapes[] = {
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.7, 1.3, 0.4}},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.7, 1.3, 0.4}, .exponent = {2.0, 2.0}},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.7, 1.3, 0.4}, .exponent = {2.5, 6.0}},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 0.9, 1.2}, .exponent = {8.0, 2.2}},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 1.1, 1.2}, .exponent = {16.0, 16.0}},
    };
    const double density = 1.7;
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            double volume, square[3];
            talus_mass m;
            polar_integrals(dim, &shapes[i], &volume, square);
            assert_int_equal(talus_shape_mass(ctx, dim, &shapes[i], density, &m), TALUS_OK);
            close_to(m.mass, density * volume, 1e-7);
            for (int k = dim == 2 ? 2 : 0; k < 3; k++) {
                close_to(m.inertia[k], density * (square[(k + 1) % 3] + square[(k + 2) % 3]), 1e-7);
                assert_true(m.centre[k] == 0.0);
            }
            assert_true(m.axes[0] == 1.0);
        }
    }
    // an ellipsoid in closed form
    talus_mass m;
    assert_int_equal(talus_shape_mass(ctx, 3, &shapes[0], density, &m), TALUS_OK);
    close_to(m.mass, density * 4.0 / 3.0 * pi * 0.7 * 1.3 * 0.4, 1e-14);
    close_to(m.inertia[0], m.mass * (1.3 * 1.3 + 0.4 * 0.4) / 5.0, 1e-14);
    assert_int_equal(talus_shape_mass(ctx, 2, &shapes[0], density, &m), TALUS_OK);
    close_to(m.inertia[2], m.mass * (0.7 * 0.7 + 1.3 * 1.3) / 4.0, 1e-14);
}

// Disks of radius ρ(z), by Gauss's rule, which is exact for these powers.
static void a_cone_is_a_pile_of_disks(void **state) {
    (void)state;
    const talus_shape_def cone = {.kind = TALUS_SHAPE_CONE, .radius = 0.6, .height = 1.7};
    double mass = 0.0, first = 0.0, across = 0.0, about = 0.0;
    for (int i = 0; i < 5; i++) {
        const double up = 0.5 * (1.0 + gauss_x[i]), z = cone.height * (up - 0.25);
        const double rho = cone.radius * (1.0 - up), w = 0.5 * cone.height * gauss_w[i];
        const double area = pi * rho * rho;
        mass += w * area;
        first += w * area * z;
        about += w * area * rho * rho / 2.0;
        across += w * area * (rho * rho / 4.0 + z * z);
    }
    talus_mass m;
    assert_int_equal(talus_shape_mass(ctx, 3, &cone, 3.0, &m), TALUS_OK);
    assert_true(fabs(first) <= 1e-15); // the origin is the centre of mass
    close_to(m.mass, 3.0 * mass, 1e-14);
    close_to(m.inertia[0], 3.0 * across, 1e-14);
    close_to(m.inertia[1], 3.0 * across, 1e-14);
    close_to(m.inertia[2], 3.0 * about, 1e-14);
    assert_true(fabs(tl_shape_extent(3, &cone) - 0.75 * 1.7) <= 1e-15);
}

// No point of the surface is farther than the extent, and some point nearly is.
static void extents_are_reached(void **state) {
    (void)state;
    tl_rng rng = {.state = 51};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < 60; trial++) {
            round_body b;
            const talus_shape_kind kind =
                trial % 2 ? TALUS_SHAPE_SUPERELLIPSOID : TALUS_SHAPE_ELLIPSOID;
            round_body_random(&rng, dim, kind, 1.0, &b);
            if (trial % 6 == 3) b.shape.exponent[0] = b.shape.exponent[1] = 2.0;
            const double extent = tl_shape_extent(dim, &b.shape);
            double far = 0.0;
            for (int i = 0; i <= 300; i++) {
                for (int j = 0; j <= (dim == 2 ? 0 : 300); j++) {
                    const double phi = 0.5 * pi * i / 300, theta = 0.5 * pi * j / 300;
                    const double d[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), sin(theta)};
                    far = fmax(far, surface_at(dim, &b.shape, d));
                }
            }
            // the slender ones have sharp ends
            assert_true(far <= extent * (1.0 + 1e-14) && far >= extent * (1.0 - 2e-2));
        }
    }
}

// The gradient of the norm at x: a normal of the surface.
static void gradient_at(int32_t dim, const talus_shape_def *s, const double x[3], double out[3]) {
    const double step = 1e-6;
    for (int k = 0; k < 3; k++) {
        double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        out[k] = 0.0;
        if (k >= dim) continue;
        up[k] += step * s->half[k];
        down[k] -= step * s->half[k];
        out[k] = (1.0 / surface_at(dim, s, up) - 1.0 / surface_at(dim, s, down)) /
                 (2.0 * step * s->half[k]);
    }
}

static void supports_are_points_with_that_normal(void **state) {
    (void)state;
    tl_rng rng = {.state = 52};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < trials_of(2000); trial++) {
            round_body b;
            double d[3] = {0.0, 0.0, 0.0}, s[3], g[3], back[3], H[3][3], length = 0.0, size = 0.0;
            const talus_shape_kind kind =
                trial % 2 ? TALUS_SHAPE_SUPERELLIPSOID : TALUS_SHAPE_ELLIPSOID;
            round_body_random(&rng, dim, kind, 1.0, &b);
            for (int k = 0; k < dim; k++) d[k] = tl_rng_normal(&rng);
            const double h = tl_ellipsoid_support(dim, &b.shape, d, s, H);
            // on the surface, h = d·s, and the normal there is d
            assert_true(fabs(surface_at(dim, &b.shape, s) - 1.0) <= 1e-13);
            assert_true(fabs(d[0] * s[0] + d[1] * s[1] + d[2] * s[2] - h) <= 1e-14 * h * 10.0);
            gradient_at(dim, &b.shape, s, g);
            tl_ellipsoid_normal(dim, &b.shape, s, back);
            for (int k = 0; k < 3; k++) {
                length += g[k] * g[k];
                size += d[k] * d[k];
            }
            const double ratio = sqrt(length / size), norm = tl_norm3(back) / sqrt(size);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(g[k] - ratio * d[k]) <= 1e-5 * sqrt(length));
                assert_true(fabs(back[k] / norm - d[k]) <= 1e-10 * sqrt(size));
            }
            // H d = 0, and H is the derivative of s where it is not steep. Entries of H are
            // differences of numbers up to extent² / h.
            const double extent = tl_shape_extent(dim, &b.shape);
            for (int i = 0; i < 3; i++) {
                const double sum = H[i][0] * d[0] + H[i][1] * d[1] + H[i][2] * d[2];
                double most = extent * extent / h * sqrt(size);
                for (int k = 0; k < 3; k++) most = fmax(most, fabs(H[i][k] * d[k]));
                assert_true(fabs(sum) <= 1e-13 * most);
            }
            bool steep = false;
            for (int k = 0; k < dim; k++) steep = steep || fabs(d[k]) < 0.05 * sqrt(size);
            for (int j = 0; j < dim && !steep; j++) {
                double up[3] = {d[0], d[1], d[2]}, down[3] = {d[0], d[1], d[2]}, su[3], sd[3];
                const double step = 1e-5 * fabs(d[j]);
                up[j] += step;
                down[j] -= step;
                (void)tl_ellipsoid_support(dim, &b.shape, up, su, NULL);
                (void)tl_ellipsoid_support(dim, &b.shape, down, sd, NULL);
                for (int i = 0; i < 3; i++) {
                    const double slope = (su[i] - sd[i]) / (2.0 * step);
                    assert_true(fabs(slope - H[i][j]) <= 1e-6 * (fabs(H[i][j]) + h / size));
                }
            }
        }
    }
}

// Directions along axes and in coordinate planes: finite, and on the surface.
static void supports_along_axes_are_finite(void **state) {
    (void)state;
    const talus_shape_def s = {
        .kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.5, 0.7, 1.0}, .exponent = {8.0, 3.0}};
    for (int code = 1; code < 27; code++) {
        const double d[3] = {code % 3 - 1.0, code / 3 % 3 - 1.0, code / 9 - 1.0};
        double x[3], H[3][3];
        if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) continue;
        (void)tl_ellipsoid_support(3, &s, d, x, H);
        assert_true(fabs(surface_at(3, &s, x) - 1.0) <= 1e-13);
        for (int k = 0; k < 9; k++) assert_true(isfinite(H[k / 3][k % 3]));
        // 0 to rounding where the direction is 0: the symmetry of the shape
        for (int k = 0; k < 3; k++) assert_true(d[k] * x[k] >= 0.0 && (d[k] != 0.0 || x[k] == 0.0));
    }
}

// The ball that rolls inside is no larger than any circle of curvature.
static void rolling_balls_are_small_enough(void **state) {
    (void)state;
    tl_rng rng = {.state = 53};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < 200; trial++) {
            round_body b;
            const talus_shape_kind kind =
                trial % 2 ? TALUS_SHAPE_SUPERELLIPSOID : TALUS_SHAPE_ELLIPSOID;
            round_body_random(&rng, dim, kind, 1.0, &b);
            const double rolling = tl_round_rolling(dim, &b.shape);
            double least = INFINITY;
            assert_true(rolling > 0.0);
            for (int i = 0; i < 200; i++) {
                double d[3] = {0.0, 0.0, 0.0}, t[3] = {0.0, 0.0, 0.0}, s[3], H[3][3];
                for (int k = 0; k < dim; k++) {
                    d[k] = tl_rng_normal(&rng) / b.shape.half[k] *
                           pow(10.0, tl_rng_range(&rng, -2.0, 2.0));
                    t[k] = tl_rng_normal(&rng);
                }
                (void)tl_ellipsoid_support(dim, &b.shape, d, s, H);
                const double length = tl_norm3(d), along = tl_dot3(d, t) / (length * length);
                tl_axpy3(t, -along, d, t);
                double curve = 0.0;
                for (int k = 0; k < 3; k++) curve += t[k] * tl_dot3(H[k], t);
                least = fmin(least, length * curve / tl_dot3(t, t));
            }
            if (!(rolling <= least * (1.0 + 1e-9)))
                fail_msg("%dD %s: %g, but %g", (int)dim, talus_shape_text(kind), rolling, least);
        }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(wrong_shapes_are_refused_with_a_reason),
        TEST(masses_are_those_of_quadrature),
        TEST(a_cone_is_a_pile_of_disks),
        TEST(extents_are_reached),
        TEST(supports_are_points_with_that_normal),
        TEST(supports_along_axes_are_finite),
        TEST(rolling_balls_are_small_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
