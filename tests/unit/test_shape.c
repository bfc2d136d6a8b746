// SPDX-License-Identifier: Apache-2.0
// Shapes by themselves: names, checks, and mass and extent against sums over a fine lattice.
#include "collide/collide.h"
#include "support/context.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_kind_has_its_name(void **state) {
    (void)state;
    assert_string_equal(talus_shape_text(TALUS_SHAPE_SPHERE), "sphere");
    assert_string_equal(talus_shape_text(TALUS_SHAPE_HALF_SPACE), "half-space");
    assert_string_equal(talus_shape_text(TALUS_SHAPE_CONTAINER), "container");
    assert_string_equal(talus_shape_text(TALUS_SHAPE_DRUM), "drum");
    assert_string_equal(talus_shape_text(TALUS_SHAPE_BOX), "box");
    assert_string_equal(talus_shape_text(TALUS_SHAPE_CYLINDER), "cylinder");
    assert_string_equal(talus_shape_text(TALUS_SHAPE_KINDS), "unknown");
}

typedef struct check_case {
    int32_t dim;
    talus_shape_def shape;
    const char *said; // NULL: it is legal
} check_case;

static const check_case check_cases[] = {
    {3, {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0}, NULL},
    {2, {.kind = TALUS_SHAPE_SPHERE, .radius = 1e-300}, NULL},
    {3, {.kind = TALUS_SHAPE_SPHERE}, "sphere: radius = 0 must be greater than 0 and finite"},
    {3, {.kind = TALUS_SHAPE_SPHERE, .radius = -1.0}, "radius = -1"},
    {3, {.kind = TALUS_SHAPE_SPHERE, .radius = INFINITY}, "radius = inf"},
    {3, {.kind = TALUS_SHAPE_SPHERE, .radius = NAN}, "radius = nan"},
    {4, {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0}, "dimension 4: must be 2 or 3"},
    {3, {.kind = TALUS_SHAPE_HALF_SPACE}, NULL},
    {3, {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {3.0, -4.0, 1.0}}, NULL},
    {3, {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0.0, NAN, 0.0}}, "normal[1] = nan"},
    {2, {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0.0, 1.0, 1.0}}, "normal[2] = 1 must be 0"},
    {3, {.kind = TALUS_SHAPE_CONTAINER, .half = {1.0, INFINITY, 2.0}}, NULL},
    {2, {.kind = TALUS_SHAPE_CONTAINER, .half = {1.0, 1.0, -5.0}}, NULL},
    {3, {.kind = TALUS_SHAPE_CONTAINER, .half = {1.0, 1.0, 0.0}}, "half[2] = 0"},
    {2, {.kind = TALUS_SHAPE_CONTAINER, .half = {INFINITY, INFINITY, 1.0}}, "has no wall"},
    {3, {.kind = TALUS_SHAPE_BOX, .half = {1.0, 1.0, 1.0}}, NULL},
    {3, {.kind = TALUS_SHAPE_BOX, .half = {1.0, INFINITY, 1.0}}, "box: half[1] = inf"},
    {3, {.kind = TALUS_SHAPE_DRUM, .radius = 1.0, .height = INFINITY}, NULL},
    {3, {.kind = TALUS_SHAPE_DRUM, .radius = 1.0}, "drum: height = 0"},
    {2, {.kind = TALUS_SHAPE_DRUM, .radius = 1.0}, NULL},
    {3, {.kind = TALUS_SHAPE_DRUM, .radius = INFINITY, .height = 1.0}, "drum: radius = inf"},
    {3, {.kind = TALUS_SHAPE_CYLINDER, .radius = 1.0, .height = INFINITY}, "height = inf"},
    {2, {.kind = TALUS_SHAPE_CYLINDER, .radius = 1.0}, NULL},
    {3, {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.1, .height = 1.0}, NULL},
    {2, {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.1}, "capsule: height = 0 must be greater than 0"},
    {3, {.kind = TALUS_SHAPE_CAPSULE, .height = 1.0}, "capsule: radius = 0"},
    {2, {.kind = TALUS_SHAPE_CONE, .radius = 0.1, .height = 1.0}, NULL},
    {2, {.kind = TALUS_SHAPE_CONE, .radius = NAN, .height = 1.0}, "cone: radius = nan"},
    {3, {.kind = TALUS_SHAPE_POLYHEDRON}, "polyhedron: 0 points make no polyhedron"},
    {3, {.kind = TALUS_SHAPE_KINDS}, "shape of unknown kind"},
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
    assert_int_equal(talus_shape_check(ctx, 3, NULL), TALUS_ERR_ARG);
}

// Whether a point is in a bounded shape, by its definition.
static bool holds(int32_t dim, const talus_shape_def *s, const double p[3]) {
    switch (s->kind) {
    case TALUS_SHAPE_SPHERE:
        return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] <= s->radius * s->radius;
    case TALUS_SHAPE_CYLINDER:
        return p[0] * p[0] + p[1] * p[1] <= s->radius * s->radius &&
               (dim == 2 || fabs(p[2]) <= 0.5 * s->height);
    case TALUS_SHAPE_CAPSULE: {
        const double up = fmax(fabs(p[dim - 1]) - 0.5 * s->height, 0.0);
        return p[0] * p[0] + (dim == 3 ? p[1] * p[1] : 0.0) + up * up <= s->radius * s->radius;
    }
    case TALUS_SHAPE_CONE: // a triangle
        return p[1] >= -s->height / 3.0 && fabs(p[0]) <= s->radius * (2.0 / 3.0 - p[1] / s->height);
    default:
        return fabs(p[0]) <= s->half[0] && fabs(p[1]) <= s->half[1] &&
               (dim == 2 || fabs(p[2]) <= s->half[2]);
    }
}

// Sums over the mid points of a lattice. Cells that the surface cuts are taken whole or not at all:
// over a curved surface of many cells that averages out (to 1e-3 for a circle of 70 cells radius,
// to the square of the height of a layer in ball and cylinder). Flat faces lie between two cells.
static void mass_is_that_of_the_lattice(void **state) {
    (void)state;
    static const talus_shape_def shapes[] = {
        {.kind = TALUS_SHAPE_SPHERE, .radius = 0.7},
        {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.5, 0.9}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.437, .height = 1.7},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.437, .height = 0.85},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.6, .height = 0.9},
    };
    const double density = 2.5;
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            if (dim == 3 && shapes[i].kind == TALUS_SHAPE_CONE) continue;
            const int cells = dim == 2 ? 1280 : 320, layers = dim == 2 ? 1 : 80;
            const double edge = 2.0 / cells, height = dim == 2 ? 1.0 : 2.0 / layers;
            const double cell = edge * edge * height;
            double mass = 0.0, square[3] = {0.0, 0.0, 0.0}, far = 0.0;
            for (int n = 0; n < cells * cells * layers; n++) {
                const int index[3] = {n % cells, n / cells % cells, n / cells / cells};
                const double p[3] = {-1.0 + edge * (index[0] + 0.5), -1.0 + edge * (index[1] + 0.5),
                                     dim == 2 ? 0.0 : -1.0 + height * (index[2] + 0.5)};
                if (!holds(dim, &shapes[i], p)) continue;
                mass += density * cell;
                for (int k = 0; k < 3; k++) square[k] += density * cell * p[k] * p[k];
                far = fmax(far, sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
            }
            talus_mass m;
            assert_int_equal(talus_shape_mass(ctx, dim, &shapes[i], density, &m), TALUS_OK);
            assert_true(fabs(m.mass - mass) <= 1e-3 * mass);
            for (int k = dim == 2 ? 2 : 0; k < 3; k++) {
                const double moment = square[(k + 1) % 3] + square[(k + 2) % 3];
                assert_true(fabs(m.inertia[k] - moment) <= 1e-3 * moment);
                assert_true(m.centre[k] == 0.0);
            }
            const double extent = tl_shape_extent(dim, &shapes[i]);
            assert_true(far <= extent && far >= extent - 2.0 * edge - (dim == 2 ? 0.0 : height));
        }
    }
}

static void unbounded_shapes_have_no_end(void **state) {
    (void)state;
    const talus_shape_kind kinds[] = {TALUS_SHAPE_HALF_SPACE, TALUS_SHAPE_CONTAINER,
                                      TALUS_SHAPE_DRUM};
    for (size_t i = 0; i < 3; i++) {
        const talus_shape_def shape = {
            .kind = kinds[i], .radius = 1.0, .half = {1.0, 1.0, 1.0}, .height = 1.0};
        assert_true(isinf(tl_shape_extent(3, &shape)));
        talus_mass m;
        assert_int_equal(talus_shape_mass(ctx, 3, &shape, 1.0, &m), TALUS_OK);
        assert_true(isinf(m.mass));
        assert_int_equal(talus_shape_mass(ctx, 2, &shape, 1.0, &m), TALUS_OK);
        assert_true(isinf(m.inertia[2]));
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_kind_has_its_name),
        TEST(wrong_shapes_are_refused_with_a_reason),
        TEST(mass_is_that_of_the_lattice),
        TEST(unbounded_shapes_have_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
