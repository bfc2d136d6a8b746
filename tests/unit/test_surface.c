// SPDX-License-Identifier: Apache-2.0
// Surfaces of shapes: they are closed, what they hold converges to the shape's volume with the
// square of the size of a facet (and is the volume where all faces are flat), their normals look
// out, and unbounded shapes end where they are told to. Volumes are those of talus_shape_mass,
// whose own tests do not know surfaces; here they come from the divergence theorem.
#include "support/context.h"
#include "talus/surface.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double *corner_of(int32_t dim, const talus_surface *s, int32_t t, int k) {
    return s->point + 3 * (int64_t)s->triangle[dim * (int64_t)t + k];
}

// Normal of a facet (2D: to the left), as long as it is large: twice its area, its length.
static void facet_normal(int32_t dim, const talus_surface *s, int32_t t, double n[3]) {
    const double *a = corner_of(dim, s, t, 0), *b = corner_of(dim, s, t, 1);
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    n[0] = -u[1], n[1] = u[0], n[2] = 0.0;
    if (dim == 2) return;
    const double *c = corner_of(dim, s, t, 2);
    const double v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// ∫ x·n / dim over the surface.
static double volume_of(int32_t dim, const talus_surface *s) {
    double sum = 0.0, n[3];
    for (int32_t t = 0; t < s->triangles; t++) {
        facet_normal(dim, s, t, n);
        sum += dot(corner_of(dim, s, t, 0), n) / (dim == 2 ? 2.0 : 6.0);
    }
    return sum;
}

// Least cosine between the normals of points and those of their facets.
static double straightest(int32_t dim, const talus_surface *s) {
    double least = 1.0, n[3];
    for (int32_t t = 0; t < s->triangles; t++) {
        facet_normal(dim, s, t, n);
        const double length = sqrt(dot(n, n));
        assert_true(length > 0.0);
        for (int k = 0; k < dim; k++) {
            const double *own = s->normal + 3 * (int64_t)s->triangle[dim * (int64_t)t + k];
            assert_true(fabs(dot(own, own) - 1.0) < 1e-12);
            least = fmin(least, dot(own, n) / length);
        }
    }
    return least;
}

// ---- closed ------------------------------------------------------------------------------------

static int compare_points(const void *a, const void *b) {
    const double *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

static int compare_edges(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    for (int k = 0; k < 2; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

// 3D: points at equal places are one; then every edge is there as often in one direction as in the
// other.
static bool closed_3d(const talus_surface *s) {
    double(*place)[4] = calloc((size_t)s->points, sizeof *place); // x, number
    int32_t *same = calloc((size_t)s->points, sizeof *same);
    int32_t(*edge)[3] = calloc(3 * (size_t)s->triangles, sizeof *edge); // low, high, direction
    assert_true(place && same && edge);
    for (int32_t p = 0; p < s->points; p++) {
        memcpy(place[p], s->point + 3 * (int64_t)p, 3 * sizeof(double));
        place[p][3] = p;
    }
    qsort(place, (size_t)s->points, sizeof *place, compare_points);
    for (int32_t p = 0; p < s->points; p++) {
        const bool again = p > 0 && compare_points(place[p], place[p - 1]) == 0;
        same[(int32_t)place[p][3]] = again ? same[(int32_t)place[p - 1][3]] : p;
    }
    for (int32_t e = 0; e < 3 * s->triangles; e++) {
        const int32_t a = same[s->triangle[e]];
        const int32_t b = same[s->triangle[e % 3 == 2 ? e - 2 : e + 1]];
        edge[e][0] = a < b ? a : b;
        edge[e][1] = a < b ? b : a;
        edge[e][2] = a < b ? 1 : -1;
    }
    qsort(edge, 3 * (size_t)s->triangles, sizeof *edge, compare_edges);
    bool good = true;
    for (int32_t e = 0; e < 3 * s->triangles;) {
        int32_t sum = 0, f = e;
        for (; f < 3 * s->triangles && compare_edges(edge[e], edge[f]) == 0; f++) sum += edge[f][2];
        good = good && sum == 0;
        e = f;
    }
    free(place);
    free(same);
    free(edge);
    return good;
}

// 2D: where a segment ends, another begins, within rounding.
static bool closed_2d(const talus_surface *s) {
    for (int32_t t = 0; t < s->triangles; t++) {
        const double *end = corner_of(2, s, t, 1);
        bool found = false;
        for (int32_t i = 0; i < s->triangles && !found; i++) {
            const double *begin = corner_of(2, s, i, 0);
            found = hypot(begin[0] - end[0], begin[1] - end[1]) < 1e-9;
        }
        if (!found) return false;
    }
    return true;
}

// ---- bounded shapes ----------------------------------------------------------------------------

static const double rock[] = {0.0, 0.0, 0.0, 2.0, 0.1, 0.0, 0.3, 1.5, 0.0, 0.2, 0.4,
                              1.1, 1.8, 1.2, 0.9, 0.6, 0.5, 0.4, 2.0, 1.4, 0.1};
static const double polygon[] = {0.0, 0.0, 0.0, 2.0, 0.1, 0.0, 0.3, 1.5, 0.0, 1.9, 1.2, 0.0};
static const double bend[] = {0.0, 0.0, 0.0, 1.0, 0.2, 0.0, 1.5, 1.0, 0.0, 1.2, 2.0, 0.0};
static const double tetra[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
static const int32_t tetra_facet[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
static const int32_t triangle_side[] = {0, 2, 2, 1, 1, 0}; // clockwise: the outside on the left

static const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
static const talus_shape_def brick = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.4, 0.3}};
static const talus_shape_def egg = {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.6, 0.3, 0.4}};
static const talus_part apart[] = {
    {&ball, {-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
    {&brick, {1.0, 0.5, 0.0}, {0.9, 0.0, 0.0, 0.3}},
    {&egg, {0.0, -2.0, 0.0}, {0.7, 0.0, 0.0, -0.7}},
};
// Overlapping, one inside another, sides on one line (looking the same way and against each other).
static const talus_part mixed[] = {
    {&brick, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
    {&brick, {1.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
    {&brick, {0.25, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
    {&ball, {0.4, 0.6, 0.0}, {1.0, 0.0, 0.0, 0.0}},
    {&egg, {-0.4, 0.1, 0.0}, {0.8, 0.0, 0.0, 0.6}},
    {&ball, {3.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
};

typedef struct surface_case {
    int32_t dim;
    talus_shape_def shape;
    double order; // of the error of the volume, at least; 0: exact
} surface_case;

static const surface_case surface_cases[] = {
    {3, {.kind = TALUS_SHAPE_SPHERE, .radius = 2.0}, 1.9},
    {3, {.kind = TALUS_SHAPE_BOX, .half = {1.0, 2.0, 3.0}}, 0.0},
    {3, {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.7, .height = 3.0}, 1.9},
    {3, {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.7, .height = 2.0}, 1.9},
    {3, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 0.5, 2.0}}, 1.9},
    {3, {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 0.5, 2.0}, .exponent = {3.0, 2.5}}, 1.9},
    {3, {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 1.0, 1.0}, .exponent = {8.0, 8.0}}, 1.9},
    {3, {.kind = TALUS_SHAPE_CONE, .radius = 1.0, .height = 2.0}, 1.9},
    {3, {.kind = TALUS_SHAPE_POLYHEDRON, .point = rock, .point_count = 7}, 0.0},
    {3,
     {.kind = TALUS_SHAPE_MESH,
      .point = tetra,
      .point_count = 4,
      .triangle = tetra_facet,
      .triangle_count = 4},
     0.0},
    {3, {.kind = TALUS_SHAPE_CLUMP, .part = apart, .part_count = 3}, 1.9},
    {2, {.kind = TALUS_SHAPE_SPHERE, .radius = 2.0}, 1.9},
    {2, {.kind = TALUS_SHAPE_BOX, .half = {1.0, 2.0, 0.0}}, 0.0},
    {2, {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.7}, 1.9},
    {2, {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.7, .height = 2.0}, 1.9},
    {2, {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 0.5, 0.0}}, 1.9},
    {2, {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 0.5, 0.0}, .exponent = {5.0, 0.0}}, 1.9},
    {2, {.kind = TALUS_SHAPE_CONE, .radius = 1.0, .height = 2.0}, 0.0},
    {2, {.kind = TALUS_SHAPE_POLYHEDRON, .point = polygon, .point_count = 4}, 0.0},
    {2,
     {.kind = TALUS_SHAPE_MESH,
      .point = polygon,
      .point_count = 3,
      .triangle = triangle_side,
      .triangle_count = 3},
     0.0},
    {2, {.kind = TALUS_SHAPE_WORM, .radius = 0.4, .point = bend, .point_count = 4}, 1.8},
    {2, {.kind = TALUS_SHAPE_CLUMP, .part = apart, .part_count = 3}, 1.9},
    {2, {.kind = TALUS_SHAPE_CLUMP, .part = mixed, .part_count = 6}, 1.8},
};

enum { SURFACE_CASES = (int)(sizeof surface_cases / sizeof *surface_cases) };

static void bounded_shapes_are_closed_and_full(void **state) {
    (void)state;
    for (int c = 0; c < SURFACE_CASES; c++) {
        const surface_case *k = &surface_cases[c];
        talus_mass mass;
        double error[3];
        assert_int_equal(talus_shape_mass(ctx, k->dim, &k->shape, 1.0, &mass), TALUS_OK);
        for (int d = 0; d < 3; d++) {
            talus_surface s;
            assert_int_equal(talus_shape_surface(ctx, k->dim, &k->shape, 32 << d, 0.0, &s),
                             TALUS_OK);
            error[d] = fabs(volume_of(k->dim, &s) / mass.mass - 1.0);
            if (!(k->dim == 3 ? closed_3d(&s) : closed_2d(&s)))
                fail_msg("case %d (%s) at detail %d is not closed", c,
                         talus_shape_text(k->shape.kind), 32 << d);
            assert_true(straightest(k->dim, &s) > 0.0);
            talus_surface_free(ctx, &s);
        }
        const double order = log2(error[1] / error[2]);
        if (k->order > 0.0 ? !(order >= k->order && error[2] < 4e-3) : !(error[2] < 1e-12))
            fail_msg("case %d (%s, %dD): errors %g %g %g, order %g", c,
                     talus_shape_text(k->shape.kind), (int)k->dim, error[0], error[1], error[2],
                     order);
    }
}

// Every kind is in the table or in one of the tests below.
static void no_kind_is_left_out(void **state) {
    (void)state;
    bool seen[2][TALUS_SHAPE_KINDS] = {{false}};
    for (int c = 0; c < SURFACE_CASES; c++)
        seen[surface_cases[c].dim - 2][surface_cases[c].shape.kind] = true;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < (int)TALUS_SHAPE_KINDS; k++) {
            const bool elsewhere = k == (int)TALUS_SHAPE_HALF_SPACE ||
                                   k == (int)TALUS_SHAPE_CONTAINER || k == (int)TALUS_SHAPE_DRUM ||
                                   (d == 1 && k == (int)TALUS_SHAPE_WORM);
            assert_true(seen[d][k] || elsewhere);
        }
}

// Of a 3D worm, each capsule has its whole surface.
static void a_worm_is_its_capsules(void **state) {
    (void)state;
    const talus_shape_def worm = {
        .kind = TALUS_SHAPE_WORM, .radius = 0.4, .point = bend, .point_count = 4};
    talus_surface s;
    double volume = 0.0;
    for (int k = 0; k < 3; k++) {
        const double *p = bend + 3 * (ptrdiff_t)k;
        const double h = sqrt(pow(p[3] - p[0], 2) + pow(p[4] - p[1], 2) + pow(p[5] - p[2], 2));
        volume += 3.14159265358979 * (0.16 * h + 4.0 / 3.0 * 0.064);
    }
    assert_int_equal(talus_shape_surface(ctx, 3, &worm, 256, 0.0, &s), TALUS_OK);
    assert_true(closed_3d(&s));
    assert_true(fabs(volume_of(3, &s) / volume - 1.0) < 5e-4);
    talus_surface_free(ctx, &s);
}

// Points of a superellipsoid fulfil its equation and their normals are along its gradient.
static void points_lie_on_the_surface(void **state) {
    (void)state;
    const talus_shape_def shape = {
        .kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 0.5, 2.0}, .exponent = {3.0, 5.0}};
    talus_surface s;
    assert_int_equal(talus_shape_surface(ctx, 3, &shape, 40, 0.0, &s), TALUS_OK);
    for (int32_t i = 0; i < s.points; i++) {
        const double *x = s.point + 3 * (int64_t)i, *n = s.normal + 3 * (int64_t)i;
        double value[7], e = 1e-5, away = 0.0, gradient[3];
        for (int v = 0; v < 7; v++) { // in the middle, and a little along ±x, ±y, ±z
            double y[3] = {x[0], x[1], x[2]};
            if (v > 0) y[(v - 1) / 2] += v % 2 ? e : -e;
            const double flat = pow(fabs(y[0]), 3.0) + pow(fabs(y[1] / 0.5), 3.0);
            value[v] = pow(flat, 5.0 / 3.0) + pow(fabs(y[2] / 2.0), 5.0) - 1.0;
        }
        assert_true(fabs(value[0]) < 1e-12);
        for (int k = 0; k < 3; k++) gradient[k] = value[1 + 2 * k] - value[2 + 2 * k];
        const double length = sqrt(dot(gradient, gradient));
        for (int k = 0; k < 3; k++) away += fabs(gradient[k] / length - n[k]);
        assert_true(away < 1e-5);
    }
    talus_surface_free(ctx, &s);
}

// Normals of round shapes come nearer to those of the facets as these become smaller, so faces that
// are one have points in common.
static void round_faces_are_smooth(void **state) {
    (void)state;
    for (int c = 0; c < SURFACE_CASES; c++) {
        const surface_case *k = &surface_cases[c];
        talus_surface s;
        if (k->shape.kind == TALUS_SHAPE_SUPERELLIPSOID) continue; // curvature without bound
        assert_int_equal(talus_shape_surface(ctx, k->dim, &k->shape, 256, 0.0, &s), TALUS_OK);
        assert_true(straightest(k->dim, &s) > 0.995);
        if (k->shape.kind == TALUS_SHAPE_SPHERE) // by Euler's formula; 2D: as many as segments
            assert_int_equal(s.points, k->dim == 3 ? s.triangles / 2 + 2 : s.triangles);
        talus_surface_free(ctx, &s);
    }
}

// ---- walls -------------------------------------------------------------------------------------

static void walls_look_inside(void **state) {
    (void)state;
    const talus_shape_def box = {.kind = TALUS_SHAPE_CONTAINER, .half = {1.0, 2.0, 3.0}};
    const talus_shape_def drum = {.kind = TALUS_SHAPE_DRUM, .radius = 1.5, .height = 2.0};
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_surface s;
        const double pi = 3.14159265358979;
        assert_int_equal(talus_shape_surface(ctx, dim, &box, 32, 0.0, &s), TALUS_OK);
        assert_true(fabs(volume_of(dim, &s) + (dim == 2 ? 8.0 : 48.0)) < 1e-12);
        assert_true(straightest(dim, &s) > 0.999);
        assert_true(dim == 3 ? closed_3d(&s) : closed_2d(&s));
        talus_surface_free(ctx, &s);
        assert_int_equal(talus_shape_surface(ctx, dim, &drum, 256, 0.0, &s), TALUS_OK);
        assert_true(fabs(volume_of(dim, &s) / (pi * 2.25 * (dim == 2 ? 1.0 : 2.0)) + 1.0) < 5e-4);
        assert_true(straightest(dim, &s) > 0.99);
        assert_true(dim == 3 ? closed_3d(&s) : closed_2d(&s));
        talus_surface_free(ctx, &s);
    }
}

static void open_walls_are_left_out(void **state) {
    (void)state;
    const talus_shape_def channel = {
        .kind = TALUS_SHAPE_CONTAINER, .half = {1.0, INFINITY, 3.0}, .open_top = true};
    const talus_shape_def tube = {.kind = TALUS_SHAPE_DRUM, .radius = 1.5, .height = INFINITY};
    talus_surface s;
    double most[3] = {0.0}, n[3];
    assert_int_equal(talus_shape_surface(ctx, 3, &channel, 32, 7.0, &s), TALUS_OK);
    assert_int_equal(s.triangles, 6); // floor and two sides
    for (int32_t t = 0; t < s.triangles; t++) {
        facet_normal(3, &s, t, n);
        assert_true(n[2] >= 0.0); // nothing looks down
    }
    for (int32_t i = 0; i < 3 * s.points; i++) most[i % 3] = fmax(most[i % 3], fabs(s.point[i]));
    assert_true(most[0] == 1.0 && most[1] == 7.0 && most[2] == 3.0);
    talus_surface_free(ctx, &s);
    assert_int_equal(talus_shape_surface(ctx, 3, &tube, 32, 7.0, &s), TALUS_OK);
    assert_int_equal(s.triangles, 64);
    talus_surface_free(ctx, &s);
}

static void a_half_space_is_a_square(void **state) {
    (void)state;
    const talus_shape_def slope = {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {3.0, 4.0, 0.0}};
    for (int32_t dim = 2; dim <= 3; dim++) {
        talus_surface s;
        double area = 0.0;
        assert_int_equal(talus_shape_surface(ctx, dim, &slope, 8, 5.0, &s), TALUS_OK);
        for (int32_t t = 0; t < s.triangles; t++) {
            double n[3];
            facet_normal(dim, &s, t, n);
            const double length = sqrt(dot(n, n));
            area += dim == 2 ? length : 0.5 * length;
            assert_true(fabs(n[0] / length - 0.6) < 1e-12 && fabs(n[1] / length - 0.8) < 1e-12);
        }
        assert_true(straightest(dim, &s) > 1.0 - 1e-12);
        assert_true(fabs(area - (dim == 2 ? 10.0 : 100.0)) < 1e-10);
        talus_surface_free(ctx, &s);
    }
}

// ---- what is refused ---------------------------------------------------------------------------

static void wrong_wishes_are_refused(void **state) {
    (void)state;
    const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE}, none = {.radius = -1.0};
    talus_surface s;
    assert_int_equal(talus_shape_surface(ctx, 3, &ball, 7, 0.0, &s), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "detail 7 must be 8 to 256"));
    assert_int_equal(talus_shape_surface(ctx, 3, &ball, 257, 0.0, &s), TALUS_ERR_ARG);
    assert_int_equal(talus_shape_surface(ctx, 3, &plane, 8, 0.0, &s), TALUS_ERR_ARG);
    assert_non_null(strstr(talus_context_last_error(ctx), "extent 0 of an unbounded half-space"));
    assert_int_equal(talus_shape_surface(ctx, 3, &none, 8, 0.0, &s), TALUS_ERR_ARG);
    assert_null(s.point);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (int c = 0; c < SURFACE_CASES; c++) {
        const int64_t before = memory.live;
        talus_status status;
        int64_t at = 0;
        do {
            talus_surface s;
            memory.requests = 0;
            memory.fail_at = ++at;
            status =
                talus_shape_surface(ctx, surface_cases[c].dim, &surface_cases[c].shape, 8, 0.0, &s);
            memory.fail_at = 0;
            if (status == TALUS_OK) talus_surface_free(ctx, &s);
            assert_null(s.point);
            assert_int_equal(memory.live, before);
        } while (status == TALUS_ERR_MEMORY);
        assert_int_equal(status, TALUS_OK);
        assert_true(at > 2);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(bounded_shapes_are_closed_and_full),
        TEST(no_kind_is_left_out),
        TEST(a_worm_is_its_capsules),
        TEST(points_lie_on_the_surface),
        TEST(round_faces_are_smooth),
        TEST(walls_look_inside),
        TEST(open_walls_are_left_out),
        TEST(a_half_space_is_a_square),
        TEST(wrong_wishes_are_refused),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
