// SPDX-License-Identifier: Apache-2.0
// Contacts with meshes: a triangulated plane is a half-space, a mesh of a convex body is that body,
// the nearest place is found among all, nothing is found at edges within a flat piece, and finer
// meshes come nearer to what they are made after.
#include "collide/mesh.h"
#include "support/context.h"
#include "support/surfaces.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static surface s;

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static const double corner[24] = {0.5,   0.1, -0.3, -0.4, 0.3, -0.2, 0.1,  -0.5,
                                  -0.35, 0.0, 0.0,  0.5,  0.4, 0.4,  0.2,  -0.3,
                                  -0.3,  0.3, 0.45, -0.2, 0.1, -0.1, 0.45, 0.15};
static const double outline[15] = {0.5, 0.1,  0.0,  0.1, 0.5, 0.0,   -0.4, 0.3,
                                   0.0, -0.3, -0.4, 0.0, 0.3, -0.45, 0.0};

// All bounded convex shapes, about 0.5 in size, those but the ball `thin` times as thick.
static talus_shape_def thin_shape_of(int32_t dim, int kind, double scale, double thin) {
    static double point[24];
    talus_shape_def all[] = {
        {.kind = TALUS_SHAPE_SPHERE, .radius = 0.4},
        {.kind = TALUS_SHAPE_BOX, .half = {0.4, 0.3, 0.2}},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.2, .height = 0.5},
        {.kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = dim == 3 ? 8 : 5},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.3, .height = 0.5},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.5, 0.3, 0.4}},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.35, .height = 0.7},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.5, 0.3, 0.4}, .exponent = {3.0, 4.0}}};
    for (int k = 0; k < 24; k++)
        point[k] = scale * (k % 3 == dim - 1 ? thin : 1.0) *
                   (dim == 3 ? corner[k]
                    : k < 15 ? outline[k]
                             : 0.0);
    talus_shape_def out = all[kind];
    out.radius *= scale * (kind == 0 ? 1.0 : thin);
    out.height *= scale;
    for (int k = 0; k < 3; k++) out.half[k] *= scale * (k == dim - 1 ? thin : 1.0);
    return out;
}
enum { SHAPES = 8 };

static talus_shape_def shape_of(int32_t dim, int kind, double scale) {
    return thin_shape_of(dim, kind, scale, 1.0);
}

// ---- planes ------------------------------------------------------------------------------------

// On a triangulated plane every shape has the same points as on a half-space, wherever it is: above
// edges and corners of triangles, at any place and size of the whole.
static void a_plane_of_triangles_is_a_plane(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int kind = 0; kind < SHAPES; kind++)
            for (int trial = 0; trial < trials_of(40); trial++) {
                tl_rng rng = trials_rng(21, SHAPES * dim + kind, trial);
                const double scale = trial % 4 == 3 ? 1e-4 : trial % 4 == 2 ? 1e4 : 1.0;
                two_shapes on_mesh = {.dim = dim}, on_plane = {.dim = dim};
                tl_touch t[TWO_SHAPES_MOST], u[TWO_SHAPES_MOST];
                double turn[4], shift[3] = {0.0};
                surface_plane(&s, dim, 3.0 * scale, dim == 2 ? 20 : 8, (uint64_t)trial);
                if (trial % 7 > 3)
                    surface_turn_some(&s, &rng); // which side they look to is all one
                on_mesh.shape[0] = on_plane.shape[0] = shape_of(dim, kind, scale);
                on_mesh.shape[1] = surface_shape(&s);
                on_plane.shape[1] = (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE};
                tl_pose *pose = on_mesh.pose;
                random_turn(&rng, dim, pose[0].q);
                if (trial % 3 == 0) pose[0] = (tl_pose){.q = {1.0}}; // stands on it
                pose[1] = (tl_pose){.q = {1.0}};
                for (int k = 0; k < dim; k++) pose[0].x[k] = scale * tl_rng_range(&rng, -1.5, 1.5);
                if (trial % 5 == 0) // right above a point of it
                    memcpy(pose[0].x, s.point + 3 * (s.points / 2), 3 * sizeof(double));
                pose[0].x[dim - 1] = scale * 3.0;
                memcpy(on_plane.pose, on_mesh.pose, sizeof on_plane.pose);
                // lowered until it touches, or overlaps a little
                int n = two_shapes_touches(ctx, &on_plane, 4.0 * scale, u);
                double low = INFINITY;
                for (int i = 0; i < n; i++) low = fmin(low, u[i].gap);
                pose[0].x[dim - 1] -= low - scale * tl_rng_range(&rng, -0.02, 0.01);
                random_turn(&rng, dim, turn);
                for (int k = 0; k < dim; k++) shift[k] = scale * tl_rng_range(&rng, -5.0, 5.0);
                two_shapes_move(&on_mesh, turn, shift);
                memcpy(on_plane.pose, on_mesh.pose, sizeof on_plane.pose);
                n = two_shapes_touches(ctx, &on_plane, 0.05 * scale, u);
                const int count = two_shapes_touches(ctx, &on_mesh, 0.05 * scale, t);
                if (count != n)
                    fail_msg("%dD %s, trial %d: %d points, not %d", (int)dim,
                             talus_shape_text(on_mesh.shape[0].kind), trial, count, n);
                for (int i = 0; i < n; i++) {
                    near(t[i].gap, u[i].gap, 1e-12 * scale);
                    for (int k = 0; k < 3; k++) {
                        near(t[i].normal[k], u[i].normal[k], 1e-12);
                        // a superellipsoid is flat where it stands: its lowest point is anywhere
                        near(t[i].arm_a[k], u[i].arm_a[k], (kind == 7 ? 1e-3 : 1e-9) * scale);
                    }
                }
            }
}

// ---- bodies ------------------------------------------------------------------------------------

// The nearest place of any surface, all facets compared.
static void balls_find_the_nearest_place(void **state) {
    (void)state;
    tl_rng rng = {.state = 22};
    int inside = 0;
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int trial = 0; trial < trials_of(1500); trial++) {
            static const double half[3] = {1.0, 0.6, 0.3};
            const double r = tl_rng_range(&rng, 0.05, 0.8);
            two_shapes two = {.dim = dim};
            tl_touch t[TWO_SHAPES_MOST];
            if (trial % 300 == 0) {
                if (trial / 300 % 2)
                    surface_sphere(&s, dim, 1.0, 6);
                else
                    surface_box(&s, dim, half);
                for (int32_t k = 0; trial / 300 == 4 && k < s.points; k++) // dents
                    for (int e = 0; e < 3; e++) s.point[3 * k + e] *= 1.0 + 0.4 * sin(7.0 * k);
            }
            two.shape[0] = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = r};
            two.shape[1] = surface_shape(&s);
            double x[3] = {0.0}, gap = INFINITY;
            for (int k = 0; k < dim; k++) x[k] = tl_rng_range(&rng, -1.5, 1.5);
            memcpy(two.pose[0].x, x, sizeof x);
            two.pose[0].q[0] = two.pose[1].q[0] = 1.0;
            double turn[4], shift[3] = {0.0};
            random_turn(&rng, dim, turn);
            for (int k = 0; k < dim; k++) shift[k] = tl_rng_range(&rng, -5.0, 5.0);
            two_shapes_move(&two, turn, shift);
            const double reach = 0.3, distance = surface_distance(&s, x);
            const int n = two_shapes_touches(ctx, &two, reach, t);
            for (int i = 0; i < n; i++) gap = fmin(gap, t[i].gap);
            if (n > 0 && fabs(gap + distance + r) < 1e-12) { // within: out by the nearest way
                assert_int_equal(n, 1);
                inside++;
            } else if (distance - r <= reach - 1e-12) {
                if (n > 0 || distance < r) near(gap, distance - r, 1e-12);
                if (n == 0) fail_msg("nothing found at distance %g, radius %g", distance, r);
            } else {
                assert_int_equal(n, 0);
            }
        }
    assert_true(inside > 20);
}

// The most that n separates the shape and the box by: what the shape has with a half-space through
// the middle of the box, less what the box has beyond that.
static double apart_along(const two_shapes *box, const double half[3], const double n[3]) {
    two_shapes plane = *box;
    tl_touch u[TWO_SHAPES_MOST];
    double own[3], gap = INFINITY;
    plane.kept = NULL;
    plane.shape[1] = (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE};
    turn_vector(box->pose[1].q, true, n, own);
    memcpy(plane.shape[1].normal, own, sizeof own);
    const int count = two_shapes_touches(ctx, &plane, 10.0, u);
    for (int i = 0; i < count; i++) gap = fmin(gap, u[i].gap);
    for (int k = 0; k < box->dim; k++) gap -= half[k] * fabs(own[k]);
    return gap;
}

// Whether all of the shape is farther than `reach` behind every side of the box.
static bool is_swallowed(const two_shapes *box, const double half[3], double reach) {
    two_shapes plane = *box;
    tl_touch u[TWO_SHAPES_MOST];
    plane.kept = NULL;
    for (int side = 0; side < 2 * box->dim; side++) {
        const int k = side / 2;
        double at[3] = {0.0}, n[3] = {0.0};
        at[k] = side % 2 ? half[k] : -half[k];
        n[k] = side % 2 ? -1.0 : 1.0;
        turn_vector(box->pose[1].q, false, at, at);
        for (int i = 0; i < 3; i++) plane.pose[1].x[i] = box->pose[1].x[i] + at[i];
        plane.shape[1] = (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE};
        memcpy(plane.shape[1].normal, n, sizeof n);
        if (two_shapes_touches(ctx, &plane, reach, u) > 0) return false;
    }
    return true;
}

static const tl_touch *nearest_of(const tl_touch *t, int count) {
    const tl_touch *best = NULL;
    for (int i = 0; i < count; i++)
        if (!best || t[i].gap < best->gap) best = &t[i];
    return best;
}

// Bring a shape to the box: from far away along some direction until they touch, or farther by
// `depth`, and then both anywhere. Some have their axes along those of the box, some come with a
// corner of theirs to a corner of it.
static void let_touch(tl_rng *rng, two_shapes *box, const double half[3], double thin, int trial) {
    static const double depth[4] = {5e-3, -5e-3, 0.0, 0.03};
    tl_touch u[TWO_SHAPES_MOST];
    double away = 4.0, turn[4], shift[3] = {0.0}, d[3] = {0.0}, length = 0.0;
    random_turn(rng, box->dim, box->pose[0].q);
    if (trial % 5 == 1) {
        const double r = sqrt(0.5), quarter[3][4] = {{1.0}, {r, 0.0, 0.0, r}, {0.5, 0.5, 0.5, 0.5}};
        memcpy(box->pose[0].q, quarter[trial / 5 % box->dim], sizeof turn);
    }
    box->pose[1] = (tl_pose){.q = {1.0}};
    for (int k = 0; k < box->dim; k++) {
        d[k] = tl_rng_normal(rng);
        if (trial % 5 == 2) d[k] = copysign(half[k], d[k]);
        length += d[k] * d[k];
    }
    for (int step = 0; step < 40; step++) {
        for (int k = 0; k < 3; k++) box->pose[0].x[k] = away * d[k] / sqrt(length);
        const double gap = nearest_of(u, two_shapes_touches(ctx, box, 10.0, u))->gap;
        away -= gap;
        if (gap < 1e-12) break;
    }
    for (int k = 0; k < 3; k++) box->pose[0].x[k] -= thin * depth[trial % 4] * d[k] / sqrt(length);
    random_turn(rng, box->dim, turn);
    for (int k = 0; k < box->dim; k++) shift[k] = tl_rng_range(rng, -5.0, 5.0);
    two_shapes_move(box, turn, shift);
}

// A mesh of a box is that box, apart, touching and overlapping: the smallest gap is the same, and
// its normal separates them by that much. Counts what was found, and what of it overlaps.
static void box_trials(int32_t dim, int kind, int first, int end, int count[2]) {
    static const double half[3] = {1.0, 0.7, 0.5};
    two_shapes mesh = {.dim = dim}, box = {.dim = dim};
    const double tolerance = 1e-12;
    surface_box(&s, dim, half);
    mesh.shape[0] = box.shape[0] =
        thin_shape_of(dim, kind % SHAPES, 1.0, kind < SHAPES ? 1.0 : 0.01);
    mesh.shape[1] = surface_shape(&s);
    box.shape[1] = (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {1.0, 0.7, 0.5}};
    two_shapes_keep(ctx, &mesh);
    two_shapes_keep(ctx, &box);
    for (int trial = first; trial < end; trial++) {
        tl_rng rng = trials_rng(23, 2 * SHAPES * dim + kind, trial);
        tl_touch t[TWO_SHAPES_MOST], u[TWO_SHAPES_MOST];
        let_touch(&rng, &box, half, kind < SHAPES ? 1.0 : 0.1, trial);
        memcpy(mesh.pose, box.pose, sizeof mesh.pose);
        const tl_touch *b = nearest_of(u, two_shapes_touches(ctx, &box, 0.01, u));
        const tl_touch *a = nearest_of(t, two_shapes_touches(ctx, &mesh, 0.01, t));
        if (!b || (!a && is_swallowed(&box, half, 0.01 - 1e-9))) continue;
        if (!a || !(fabs(a->gap - b->gap) <= tolerance))
            fail_msg("%dD %s %d, trial %d: gap %.12g, not %.12g", (int)dim,
                     talus_shape_text(mesh.shape[0].kind), kind, trial, a ? a->gap : NAN, b->gap);
        const double along =
            a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2];
        if (along < 1.0 - 1e-6) near(apart_along(&box, half, a->normal), b->gap, tolerance);
        count[0]++;
        count[1] += b->gap < 0.0;
    }
    two_shapes_let_go(&mesh);
    two_shapes_let_go(&box);
}

static void a_mesh_of_a_box_is_the_box(void **state) {
    (void)state;
    int count[2] = {0};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int kind = 0; kind < 2 * SHAPES; kind++)
            box_trials(dim, kind, 0, trials_of(75), count);
    assert_true(count[0] > 1000 && count[1] > 300);
    // a corner of the box beside several edges: no edge says it alone
    box_trials(3, 3, 782, 783, count);
    // thin and slanted, the middle of its box is not in it but in the mesh
    box_trials(3, SHAPES + 3, 297, 298, count);
    // curved, with gap 0 at a corner
    box_trials(3, 6, 1482, 1483, count);
    box_trials(3, 6, 5022, 5023, count);
    // a capsule across an edge, a millionth beside its end
    box_trials(3, SHAPES + 2, 7337, 7338, count);
    // a thin cone over a corner, where its difference with the box is hardly curved
    box_trials(3, SHAPES + 6, 17267, 17268, count);
}

// A polygon with its corners there in the place of the plane; at a mesh of a rectangle it has a
// contact with this gap and normal, and none that is deeper.
static void polygon_at_corner(const double *point, int32_t count, double gap, double nx,
                              double ny) {
    two_shapes two = {.dim = 2};
    tl_touch t[TWO_SHAPES_MOST];
    surface_box(&s, 2, (const double[3]){1.0, 0.7, 0.0});
    two.shape[0] =
        (talus_shape_def){.kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = count};
    two.shape[1] = surface_shape(&s);
    two.pose[0].q[0] = two.pose[1].q[0] = 1.0;
    const int n = two_shapes_touches(ctx, &two, 0.01, t);
    assert_true(n > 0);
    const tl_touch *a = nearest_of(t, n);
    near(a->gap, gap, 1e-12);
    near(a->normal[0], nx, 1e-9);
    near(a->normal[1], ny, 1e-9);
}

// Where neither a corner of the one nor of the other has its shortest way out by itself. The corner
// of the rectangle is at (1, 0.7), and the polygon leaves by one of its own sides.
static void a_corner_goes_by(void **state) {
    (void)state;
    // 1 mm of the polygon is beyond the corner, which would leave it there; another corner of it is
    // in the rectangle, less deep
    const double tilt = 3e-3, nx = tilt / hypot(1.0, tilt), ny = 1.0 / hypot(1.0, tilt);
    const double low[12] = {1.001, 0.696, 0.0, 0.2, 0.696 + 0.801 * tilt, 0.0, 0.2, 1.3,
                            0.0,   1.001, 1.3, 0.0};
    polygon_at_corner(low, 4, nx * (1.001 - 1.0) + ny * (0.696 - 0.7), nx, ny);
    // no corner of the one is in the other
    const double past[9] = {0.3, 0.7 + 0.701 * 0.2 - 0.005, 0.0, 1.001, 0.695, 0.0, 0.8, 1.5, 0.0};
    const double steep = 1.0 / hypot(1.0, 0.2);
    polygon_at_corner(past, 3, steep * (0.2 * 0.001 - 0.005), 0.2 * steep, steep);
    // the same by more than the reach, and another corner is in, less deep
    const double slope = 0.02, up = 1.0 / hypot(1.0, slope);
    const double wide[9] = {1.006, 0.675, 0.0, 0.55, 1.31, 0.0, 0.224, 0.675 + 0.782 * slope, 0.0};
    polygon_at_corner(wide, 3, up * (slope * 0.006 - 0.025), slope * up, up);
    // a needle through both sides, 0.1 behind the corner, farther than the reach
    const double r = sqrt(0.5), far = 0.6, thick = 2e-3;
    double needle[12] = {0.0};
    for (int k = 0; k < 4; k++) {
        const double along = k == 0 || k == 3 ? -far : far, across = (k < 2 ? 0.0 : thick) - 0.1;
        needle[3 * k] = 1.0 + r * (across + along);
        needle[3 * k + 1] = 0.7 + r * (across - along);
    }
    polygon_at_corner(needle, 4, -0.1, r, r);
}

// A ball and a refined sphere: the gap comes nearer to the exact one with the square of the size of
// the facets.
static void finer_spheres_come_nearer(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        double error[3];
        for (int level = 0; level < 3; level++) {
            tl_rng rng = {.state = 24};
            error[level] = 0.0;
            surface_sphere(&s, dim, 1.0, 8 << level);
            for (int trial = 0; trial < 60; trial++) {
                two_shapes two = {.dim = dim};
                tl_touch t[TWO_SHAPES_MOST];
                double x[3] = {0.0}, length = 0.0, gap = INFINITY;
                for (int k = 0; k < dim; k++) x[k] = tl_rng_normal(&rng), length += x[k] * x[k];
                length = sqrt(length);
                two.shape[0] = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
                two.shape[1] = surface_shape(&s);
                for (int k = 0; k < 3; k++) two.pose[0].x[k] = 1.5 * x[k] / length;
                two.pose[0].q[0] = two.pose[1].q[0] = 1.0;
                const int n = two_shapes_touches(ctx, &two, 0.05, t);
                for (int i = 0; i < n; i++) gap = fmin(gap, t[i].gap);
                assert_true(gap > -1e-12);
                error[level] = fmax(error[level], gap);
            }
        }
        assert_true(error[1] < 0.3 * error[0] && error[2] < 0.3 * error[1] && error[2] < 3e-3);
    }
}

// A box over the top of a thin wall: corners behind the wall's side are not behind the wall. As a
// sheet and as a solid, a little above and below.
static void a_box_on_a_thin_wall(void **state) {
    (void)state;
    for (int solid = 0; solid < 2; solid++)
        for (int step = -2; step <= 2; step++) {
            const double height = step * 1e-9;
            two_shapes two = {.dim = 3};
            tl_touch t[TWO_SHAPES_MOST];
            if (solid) {
                surface_box(&s, 3, (const double[3]){1e-3, 2.0, 1.0});
            } else {
                surface_plane(&s, 3, 2.0, 4, 3);
                for (int32_t k = 0; k < s.points; k++) { // upright, its top at z = 1
                    double *p = s.point + 3 * k;
                    p[2] = p[0] - 1.0;
                    p[0] = 0.0;
                }
            }
            two.shape[0] = (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.5, 0.2}};
            two.shape[1] = surface_shape(&s);
            two.pose[0] = (tl_pose){.x = {0.47, 0.1, 1.2 + height}, .q = {1.0}};
            two.pose[1].q[0] = 1.0;
            const int n = two_shapes_touches(ctx, &two, 1e-3, t);
            assert_true(n >= 2);
            for (int i = 0; i < n; i++) {
                near(t[i].gap, height, 1e-12);
                near(t[i].normal[2], 1.0, 1e-9);
            }
        }
}

// A sheet has two sides.
static void a_sheet_is_touched_from_both_sides(void **state) {
    (void)state;
    surface_plane(&s, 3, 1.0, 4, 5);
    for (int side = -1; side <= 1; side += 2)
        for (int kind = 0; kind < SHAPES; kind++) {
            two_shapes two = {.dim = 3};
            tl_touch t[TWO_SHAPES_MOST];
            two.shape[0] = shape_of(3, kind, 0.5);
            two.shape[1] = surface_shape(&s);
            two.pose[0].q[0] = two.pose[1].q[0] = 1.0;
            two.pose[0].x[2] = side * 0.15;
            const int n = two_shapes_touches(ctx, &two, 0.2, t);
            assert_true(n > 0);
            for (int i = 0; i < n; i++)
                if (fabs(t[i].gap) < 0.12) near(t[i].normal[2], side, 1e-9);
        }
}

// ---- search ------------------------------------------------------------------------------------

// Many balls around and within a mesh: what the search finds is what each finds by itself, for any
// number of threads.
static void the_search_finds_all(void **state) {
    (void)state;
    enum { BALLS = 3000 };
    static tl_pose pose[BALLS + 1];
    tl_rng rng = {.state = 25};
    tl_collide *c = NULL;
    int32_t shape, item;
    int64_t count, first = 0, expected = 0;
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.02};
    surface_sphere(&s, 3, 1.0, 10);
    for (int32_t k = 0; k < s.points; k++) s.point[3 * k] += 50.0; // far from its origin
    const talus_shape_def mesh = surface_shape(&s);
    assert_int_equal(tl_collide_create(ctx, 3, NULL, &c), TALUS_OK);
    assert_int_equal(tl_collide_add_shape(c, &mesh, &shape), TALUS_OK);
    assert_int_equal(tl_collide_add_item(c, shape, -1, true, &item), TALUS_OK);
    assert_int_equal(tl_collide_add_shape(c, &ball, &shape), TALUS_OK);
    pose[0] = (tl_pose){.x = {-50.0}, .q = {1.0}};
    for (int i = 1; i <= BALLS; i++) {
        pose[i].q[0] = 1.0;
        for (int k = 0; k < 3; k++) pose[i].x[k] = tl_rng_range(&rng, -1.1, 1.1);
        assert_int_equal(tl_collide_add_item(c, shape, 0, false, &item), TALUS_OK);
        double x[3] = {pose[i].x[0] + 50.0, pose[i].x[1], pose[i].x[2]};
        expected += surface_distance(&s, x) <= 0.02 + 0.01;
    }
    assert_true(expected > 100);
    for (int threads = 1; threads <= 8; threads *= 2) {
        assert_int_equal(tl_collide_detect(c, pose, 0.01, threads), TALUS_OK);
        const tl_touch *t = tl_collide_touches(c, &count);
        int64_t balls = 0;
        uint64_t hash = talus_hash(t, (size_t)count * sizeof *t, 0);
        for (int64_t i = 0; i < count; i++) {
            assert_int_equal(t[i].a, 0);
            balls += i == 0 || t[i].b != t[i - 1].b;
        }
        assert_int_equal(balls, expected);
        if (threads == 1) first = (int64_t)hash;
        assert_int_equal(first, (int64_t)hash);
    }
    tl_collide_destroy(c);
}

// ---- mass, refusals, memory --------------------------------------------------------------------

static void mass_by_the_divergence_theorem(void **state) {
    (void)state;
    static const double half[3] = {1.0, 0.6, 0.3};
    for (int32_t dim = 2; dim <= 3; dim++) {
        const talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 0.6, 0.3}};
        talus_mass m, n;
        surface_box(&s, dim, half);
        for (int32_t k = 0; k < s.points; k++) s.point[3 * k] += 7.0;
        const talus_shape_def mesh = surface_shape(&s);
        assert_int_equal(talus_shape_mass(ctx, dim, &mesh, 3.0, &m), TALUS_OK);
        assert_int_equal(talus_shape_mass(ctx, dim, &box, 3.0, &n), TALUS_OK);
        near(m.mass, n.mass, 1e-13);
        near(m.centre[0], 7.0, 1e-13);
        near(m.inertia[0] + m.inertia[1] + m.inertia[2], n.inertia[0] + n.inertia[1] + n.inertia[2],
             1e-12);
        near(m.inertia[2], dim == 2 ? n.inertia[2] : m.inertia[2], 1e-12);
        surface_plane(&s, dim, 1.0, 3, 1);
        const talus_shape_def sheet = surface_shape(&s);
        assert_int_equal(talus_shape_mass(ctx, dim, &sheet, 3.0, &m), TALUS_OK);
        assert_true(isinf(m.mass));
    }
}

static void refused(int32_t dim, const talus_shape_def *shape, const char *text) {
    assert_int_equal(talus_shape_check(ctx, dim, shape), TALUS_ERR_ARG);
    if (!strstr(talus_context_last_error(ctx), text))
        fail_msg("'%s' is not in: %s", text, talus_context_last_error(ctx));
}

static void wrong_meshes(void **state) {
    (void)state;
    surface_box(&s, 3, (const double[3]){1.0, 1.0, 1.0});
    talus_shape_def mesh = surface_shape(&s);
    assert_int_equal(talus_shape_check(ctx, 3, &mesh), TALUS_OK);
    mesh.triangle_count = 0;
    refused(3, &mesh, "8 points and 0 triangles");
    mesh = surface_shape(&s);
    s.facet[4] = 8;
    refused(3, &mesh, "triangle 1 has point 8");
    s.facet[4] = s.facet[3];
    refused(3, &mesh, "triangle 1 has no area");
    s.point[5] = NAN;
    refused(3, &mesh, "point 1");
    surface_box(&s, 2, (const double[3]){1.0, 1.0, 1.0});
    mesh = surface_shape(&s);
    s.point[5] = 1.0;
    refused(2, &mesh, "must be 0 in 2D");
    // what is not there is said when it is needed
    surface_box(&s, 3, (const double[3]){1.0, 1.0, 1.0});
    const talus_shape_def two[2] = {surface_shape(&s), surface_shape(&s)};
    const tl_pose pose[2] = {{.q = {1.0}}, {.x = {1.0}, .q = {1.0}}};
    tl_collide *c;
    int32_t shape, item;
    assert_int_equal(tl_collide_create(ctx, 3, NULL, &c), TALUS_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tl_collide_add_shape(c, &two[i], &shape), TALUS_OK);
        assert_int_equal(tl_collide_add_item(c, shape, i, false, &item), TALUS_OK);
    }
    assert_int_equal(tl_collide_detect(c, pose, 0.1, 1), TALUS_ERR_UNSUPPORTED);
    tl_collide_destroy(c);
}

static void memory_may_run_out(void **state) {
    (void)state;
    bool done = false;
    surface_sphere(&s, 3, 1.0, 3);
    const talus_shape_def mesh = surface_shape(&s);
    for (int64_t fail_at = 1; !done; fail_at++) {
        test_alloc counted = {0};
        const talus_context_def def = test_alloc_def(&counted);
        talus_context *own = NULL;
        tl_solid *solid = NULL;
        talus_mass mass;
        assert_int_equal(talus_context_create(&def, &own), TALUS_OK);
        counted.fail_at = counted.requests + fail_at;
        talus_status status = tl_solid_create(own, 3, &mesh, &solid);
        if (status == TALUS_OK) status = talus_shape_mass(own, 3, &mesh, 1.0, &mass);
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        done = status == TALUS_OK;
        tl_solid_destroy(own, solid);
        talus_context_destroy(own);
        assert_int_equal(counted.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plane_of_triangles_is_a_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(balls_find_the_nearest_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mesh_of_a_box_is_the_box, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_corner_goes_by, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finer_spheres_come_nearer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_box_on_a_thin_wall, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sheet_is_touched_from_both_sides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_search_finds_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mass_by_the_divergence_theorem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_meshes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
