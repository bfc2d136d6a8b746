// SPDX-License-Identifier: Apache-2.0
// Convex hulls: topology by Euler's formula and by looking at every corner and edge, faces that are
// whole, mass by closed forms and by random cuts, errors, and running out of memory.
#include "base/rng.h"
#include "collide/hull.h"
#include "collide/solid.h"
#include "linalg/dense.h"
#include "support/context.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 600 };

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// All that must hold of a hull of these points.
static void judge(int32_t dim, const tl_hull *h, const double *point, int count) {
    double size = 0.0;
    for (int i = 0; i < count; i++) size = fmax(size, sqrt(dot(point + 3 * i, point + 3 * i)));
    const double slack = 4e-9 * size; // of a face that is flat within 1e-9
    for (int k = 0; k < h->corners; k++) {
        bool given = false;
        for (int i = 0; i < count; i++)
            given = given || memcmp(point + 3 * i, h->corner[k], sizeof h->corner[k]) == 0;
        assert_true(given);
        assert_true(h->fan_start[k + 1] - h->fan_start[k] >= dim);
    }
    for (int f = 0; f < h->faces; f++) {
        assert_true(fabs(dot(h->normal[f], h->normal[f]) - 1.0) <= 1e-14);
        double most = -INFINITY;
        for (int i = 0; i < count; i++) most = fmax(most, dot(h->normal[f], point + 3 * i));
        assert_true(fabs(most - h->offset[f]) <= slack); // no point is outside
        for (int i = h->face_start[f]; i < h->face_start[f + 1]; i++) {
            const int corner = h->loop[i];
            assert_true(dot(h->normal[f], h->corner[corner]) >= h->offset[f] - slack);
            bool listed = false;
            for (int k = h->fan_start[corner]; k < h->fan_start[corner + 1]; k++)
                listed = listed || h->fan[k] == f;
            assert_true(listed);
        }
    }
    if (dim == 2) {
        assert_int_equal(h->faces, h->corners);
        return;
    }
    assert_int_equal(h->corners - h->edges + h->faces, 2);
    for (int e = 0; e < h->edges; e++) {
        const tl_hull_edge *edge = &h->edge[e];
        int seen = 0;
        for (int side = 0; side < 2; side++) {
            const int f = side == 0 ? edge->left : edge->right;
            const int begin = h->face_start[f], end = h->face_start[f + 1];
            for (int i = begin; i < end; i++) {
                const int next = h->loop[i + 1 < end ? i + 1 : begin];
                const int tail = side == 0 ? edge->tail : edge->head;
                const int head = side == 0 ? edge->head : edge->tail;
                if (h->loop[i] == tail && next == head && h->loop_edge[i] == e) seen++;
            }
        }
        assert_int_equal(seen, 2);
        // the two faces are not one, and the edge is convex: the right face turns down from the
        // left
        const double *n = h->normal[edge->left], *m = h->normal[edge->right];
        const double *from = h->corner[edge->tail], *to = h->corner[edge->head];
        double along = 0.0;
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            along += (n[i] * m[j] - n[j] * m[i]) * (to[k] - from[k]);
        }
        assert_true(along > 0.0);
    }
}

static tl_hull *make(int32_t dim, const double *point, int count) {
    tl_hull *h = NULL;
    const talus_status status = tl_hull_create(ctx, dim, point, count, &h);
    if (status != TALUS_OK) print_message("%s\n", talus_context_last_error(ctx));
    assert_int_equal(status, TALUS_OK);
    return h;
}

static void hulls_of_random_points(void **state) {
    (void)state;
    tl_rng rng = {.state = 51};
    double point[3 * MOST];
    for (int trial = 0; trial < 300; trial++) {
        const int32_t dim = 2 + trial % 2;
        const int count = dim + 1 + (int)(tl_rng_next(&rng) % (trial % 10 == 0 ? 500 : 40));
        const double size = pow(10.0, tl_rng_range(&rng, -6.0, 6.0));
        const int sort = trial / 2 % 4; // in a ball, on it, on a lattice, on a few planes
        for (int i = 0; i < count; i++) {
            double length = 0.0;
            for (int k = 0; k < 3; k++) {
                double x = k < dim ? tl_rng_normal(&rng) : 0.0;
                if (sort == 2) x = k < dim ? (double)(tl_rng_next(&rng) % 4) : 0.0;
                if (sort == 3 && k == 0) x = (double)(tl_rng_next(&rng) % 2);
                length += x * x;
                point[3 * i + k] = size * x;
            }
            for (int k = 0; sort == 1 && k < 3; k++) point[3 * i + k] /= sqrt(length);
        }
        // the corners of a lattice or of planes may by chance be flat: give them one that is off
        for (int k = 0; sort >= 2 && k <= dim; k++)
            for (int m = 0; m < 3; m++) point[3 * k + m] = m + 1 == k ? 3.0 * size : 0.0;
        tl_hull *h = make(dim, point, count);
        judge(dim, h, point, count);
        if (sort == 1) assert_int_equal(h->corners, count);
        tl_hull_destroy(ctx, h);
    }
}

// Solids with faces of 3, 4, 5 and more corners, turned any way: every face is whole.
static void faces_are_whole(void **state) {
    (void)state;
    tl_rng rng = {.state = 52};
    const double g = 0.5 * (1.0 + sqrt(5.0));
    for (int trial = 0; trial < 100; trial++) {
        double point[3 * MOST], q[4];
        int count = 0, faces, corners, edges;
        random_turn(&rng, 3, q);
        if (trial % 3 == 0) { // dodecahedron
            faces = 12, corners = 20, edges = 30;
            for (int i = 0; i < 8; i++)
                for (int k = 0; k < 3; k++) point[3 * i + k] = i >> k & 1 ? 1.0 : -1.0;
            count = 8;
            for (int i = 0; i < 12; i++) {
                double *p = point + 3 * count++;
                p[i % 3] = 0.0;
                p[(i + 1) % 3] = (i / 3 & 1 ? 1.0 : -1.0) / g;
                p[(i + 2) % 3] = (i / 6 & 1 ? 1.0 : -1.0) * g;
            }
        } else if (trial % 3 == 1) { // cube with points in its edges, faces and inside
            faces = 6, corners = 8, edges = 12;
            for (int i = 0; i < 125; i++, count++)
                for (int k = 0; k < 3; k++)
                    point[3 * i + k] = 0.1 * (double)(i / (k == 0 ? 1 : k == 1 ? 5 : 25) % 5);
        } else { // prism of 40 sides
            faces = 42, corners = 80, edges = 120;
            for (int i = 0; i < 80; i++, count++) {
                point[3 * i] = cos(0.05 * 3.14159265358979 * (i % 40));
                point[3 * i + 1] = sin(0.05 * 3.14159265358979 * (i % 40));
                point[3 * i + 2] = i < 40 ? 0.0 : 0.3;
            }
        }
        for (int i = 0; i < count; i++) turn_vector(q, false, point + 3 * i, point + 3 * i);
        tl_hull *h = make(3, point, count);
        judge(3, h, point, count);
        assert_int_equal(h->faces, faces);
        assert_int_equal(h->corners, corners);
        assert_int_equal(h->edges, edges);
        tl_hull_destroy(ctx, h);
    }
}

static void boxes_are_hulls(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        const double half[3] = {0.3, 0.5, dim == 2 ? 0.0 : 0.7};
        tl_hull *h = NULL;
        assert_int_equal(tl_hull_create_box(ctx, dim, half, &h), TALUS_OK);
        judge(dim, h, &h->corner[0][0], h->corners);
        assert_int_equal(h->faces, 2 * dim);
        if (dim == 3) assert_int_equal(h->edges, 12);
        tl_hull_destroy(ctx, h);
    }
}

// A box as the hull of its corners, turned and moved: mass, centre and moments are those of a box,
// and the axes turn them into the tensor.
static void mass_of_a_turned_box(void **state) {
    (void)state;
    tl_rng rng = {.state = 53};
    for (int trial = 0; trial < 200; trial++) {
        const double size = pow(10.0, tl_rng_range(&rng, -6.0, 6.0)), density = 3.0;
        double half[3], q[4], x[3], point[24];
        const int same = trial % 4; // 3: a cube, 2: two equal edges
        for (int k = 0; k < 3; k++) {
            half[k] = size * tl_rng_range(&rng, 0.1, 1.0);
            x[k] = size * tl_rng_range(&rng, -2.0, 2.0);
        }
        if (same >= 2) half[1] = half[0];
        if (same == 3) half[2] = half[0];
        random_turn(&rng, 3, q);
        for (int i = 0; i < 8; i++) {
            for (int k = 0; k < 3; k++) point[3 * i + k] = (i >> k & 1 ? 1.0 : -1.0) * half[k];
            turn_vector(q, false, point + 3 * i, point + 3 * i);
            for (int k = 0; k < 3; k++) point[3 * i + k] += x[k];
        }
        const talus_shape_def shape = {
            .kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = 8};
        talus_mass m;
        assert_int_equal(talus_shape_mass(ctx, 3, &shape, density, &m), TALUS_OK);
        const double mass = density * 8.0 * half[0] * half[1] * half[2];
        assert_true(fabs(m.mass - mass) <= 1e-12 * mass);
        // I = sum of moments times axis axisᵀ, both for the box and for the answer
        double tensor[2][3][3] = {{{0}}};
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(m.centre[k] - x[k]) <= 1e-13 * size);
            const double box =
                mass / 3.0 *
                (half[(k + 1) % 3] * half[(k + 1) % 3] + half[(k + 2) % 3] * half[(k + 2) % 3]);
            double unit[3] = {k == 0, k == 1, k == 2}, axis[2][3];
            turn_vector(q, false, unit, axis[0]);
            turn_vector(m.axes, false, unit, axis[1]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    tensor[0][i][j] += box * axis[0][i] * axis[0][j];
                    tensor[1][i][j] += m.inertia[k] * axis[1][i] * axis[1][j];
                }
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                assert_true(fabs(tensor[0][i][j] - tensor[1][i][j]) <= 1e-12 * mass * size * size);
    }
}

// A hull cut in two by a plane: its two parts have the mass, centre and moments of the whole. The
// cut goes through new points, so that the parts share no corner or face with the whole by chance.
static void parts_add_up(void **state) {
    (void)state;
    tl_rng rng = {.state = 54};
    for (int trial = 0; trial < 100; trial++) {
        const int32_t dim = 2 + trial % 2;
        enum { COUNT = 10 };
        double point[2][3 * MOST], all[3 * COUNT], n[3] = {0}, level = tl_rng_range(&rng, -.3, .3);
        int count[2] = {0, 0};
        for (int i = 0; i < 3 * COUNT; i++) all[i] = i % 3 < dim ? tl_rng_normal(&rng) : 0.0;
        for (int k = 0; k < dim; k++) n[k] = tl_rng_normal(&rng);
        // the points of each side, and where any two of them are cut
        for (int i = 0; i < COUNT; i++) {
            const double di = dot(n, all + 3 * i) - level;
            const int side = di > 0.0;
            memcpy(point[side] + 3 * count[side]++, all + 3 * i, 3 * sizeof(double));
            for (int j = 0; j < i; j++) {
                const double dj = dot(n, all + 3 * j) - level;
                if ((dj > 0.0) == (di > 0.0)) continue;
                for (int s = 0; s < 2; s++) {
                    double *p = point[s] + 3 * count[s]++;
                    for (int k = 0; k < 3; k++)
                        p[k] = all[3 * i + k] + di / (di - dj) * (all[3 * j + k] - all[3 * i + k]);
                }
            }
        }
        if (count[0] <= dim || count[1] <= dim) continue;
        double sum[3][10] = {{0}}; // whole and parts: mass, first and second moments
        for (int s = 0; s < 3; s++) {
            tl_hull *h = make(dim, s == 0 ? all : point[s - 1], s == 0 ? COUNT : count[s - 1]);
            talus_mass m;
            tl_hull_mass(dim, h, 1.0, &m);
            tl_hull_destroy(ctx, h);
            sum[s][0] = m.mass;
            for (int k = 0; k < 3; k++) sum[s][1 + k] = m.mass * m.centre[k];
            double tensor[3][3] = {{0}};
            for (int k = 0; k < 3; k++) {
                double unit[3] = {k == 0, k == 1, k == 2}, axis[3];
                turn_vector(m.axes, false, unit, axis);
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) tensor[i][j] += m.inertia[k] * axis[i] * axis[j];
            }
            const double square = dot(m.centre, m.centre);
            for (int i = 0, at = 4; i < 3; i++)
                for (int j = i; j < 3; j++, at++)
                    sum[s][at] = tensor[i][j] +
                                 m.mass * ((i == j ? square : 0.0) - m.centre[i] * m.centre[j]);
        }
        for (int k = 0; k < 10; k++) {
            if (dim == 2 && k >= 4 && k != 9) continue; // only the moment about z counts
            assert_true(fabs(sum[0][k] - sum[1][k] - sum[2][k]) <= 1e-11);
        }
    }
}

static void eigenvectors(void **state) {
    (void)state;
    tl_rng rng = {.state = 55};
    for (int trial = 0; trial < 200; trial++) {
        double a[9], value[3], v[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) a[3 * i + j] = a[3 * j + i] = tl_rng_normal(&rng);
        tl_sym_eigen(3, a, value, v);
        double det = 0.0;
        for (int k = 0; k < 3; k++) {
            det += v[k] * (v[3 + (k + 1) % 3] * v[6 + (k + 2) % 3] -
                           v[3 + (k + 2) % 3] * v[6 + (k + 1) % 3]);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(dot(a + 3 * i, v + 3 * k) - value[k] * v[3 * k + i]) <= 1e-13);
        }
        assert_true(fabs(det - 1.0) <= 1e-13);
    }
}

static void wrong_points_are_refused(void **state) {
    (void)state;
    static const double flat[] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0.3, 0.2, 1};
    static const double line[] = {0, 0, 0, 1, 1, 0, 2, 2, 0, 3, 3, 0};
    static const double same[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
    static const double nan_point[] = {0, 0, 0, 1, 0, 0, 0, NAN, 0, 0, 0, 1};
    static const double high[] = {0, 0, 0, 1, 0, 0, 0, 1, 0.5};
    double many[3 * MOST];
    for (int i = 0; i < MOST; i++) {
        const double z = 1.0 - 2.0 * (i + 0.5) / MOST;
        many[3 * i] = sqrt(1.0 - z * z) * cos(2.4 * i);
        many[3 * i + 1] = sqrt(1.0 - z * z) * sin(2.4 * i);
        many[3 * i + 2] = z;
    }
    const struct {
        int32_t dim;
        const double *point;
        int count;
        const char *said;
    } cases[] = {
        {3, flat, 3, "3 points make no polyhedron; at least 4 are needed"},
        {2, line, 2, "2 points make no polygon; at least 3 are needed"},
        {3, NULL, 4, "make no polyhedron"},
        {3, flat, 5, "all 5 points lie in one plane; at least one must lie off it"},
        {3, line, 4, "all 4 points lie on one line; they must not lie in one plane"},
        {2, line, 4, "all 4 points lie on one line; they must not lie in one line"},
        {3, same, 4, "all 4 points are the same"},
        {3, nan_point, 4, "point[2] = (0, nan, 0) must be finite"},
        {2, high, 3, "point[2] = (0, 1, 0.5) must have 0 as third coordinate in 2D"},
        {3, many, MOST, "has 600 corners; at most 512 are supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_hull *h = NULL;
        assert_int_not_equal(tl_hull_create(ctx, cases[i].dim, cases[i].point, cases[i].count, &h),
                             TALUS_OK);
        assert_null(h);
        if (!strstr(talus_context_last_error(ctx), cases[i].said))
            fail_msg("'%s' is not in: %s", cases[i].said, talus_context_last_error(ctx));
    }
}

// Every single request for memory fails in turn: an error, nothing left alive. The message of an
// error is kept by the context itself.
static void memory_may_run_out(void **state) {
    (void)state;
    tl_rng rng = {.state = 56};
    double point[36];
    for (int i = 0; i < 36; i++) point[i] = tl_rng_normal(&rng);
    const talus_shape_def shapes[] = {
        {.kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = 12},
        {.kind = TALUS_SHAPE_BOX, .half = {1.0, 1.0, 1.0}}};
    for (int i = 0; i < 2; i++) {
        const int64_t live = memory.live;
        talus_status status = TALUS_ERR_MEMORY;
        int64_t request = 0;
        while (status != TALUS_OK) {
            tl_solid *solid = NULL;
            memory.fail_at = memory.requests + ++request;
            status = tl_solid_create(ctx, 3, &shapes[i], &solid);
            memory.fail_at = 0;
            if (status == TALUS_OK) {
                tl_solid_destroy(ctx, solid);
            } else {
                assert_null(solid);
                assert_int_equal(status, TALUS_ERR_MEMORY);
            }
            assert_int_equal(memory.live, live);
        }
        assert_true(request > 5);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(hulls_of_random_points),   TEST(faces_are_whole),    TEST(boxes_are_hulls),
        TEST(mass_of_a_turned_box),     TEST(parts_add_up),       TEST(eigenvectors),
        TEST(wrong_points_are_refused), TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
