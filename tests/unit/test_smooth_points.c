// SPDX-License-Identifier: Apache-2.0
// Contact points of round shapes where the answer is known: closed forms, bodies that rest on each
// other and have several points, names that stay while bodies move, and what must not matter: where
// the world's axes are and which body comes first.
#include "collide/round_pair.h"
#include "support/context.h"
#include "support/round_bodies.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
static const double root = 0.70710678118654752440;

static two_shapes couple_of(int32_t dim, talus_shape_def a, talus_shape_def b) {
    return (two_shapes){.dim = dim, .shape = {a, b}, .pose = {{.q = {1.0}}, {.q = {1.0}}}};
}

#define ELLIPSOID(x, y, z)                                                                         \
    (talus_shape_def) {                                                                            \
        .kind = TALUS_SHAPE_ELLIPSOID, .half = { x, y, z }                                         \
    }
#define CYLINDER(r, h)                                                                             \
    (talus_shape_def) { .kind = TALUS_SHAPE_CYLINDER, .radius = r, .height = h }
#define CONE(r, h)                                                                                 \
    (talus_shape_def) { .kind = TALUS_SHAPE_CONE, .radius = r, .height = h }
#define BOX(x, y, z)                                                                               \
    (talus_shape_def) {                                                                            \
        .kind = TALUS_SHAPE_BOX, .half = { x, y, z }                                               \
    }

// An ellipsoid (superellipsoid) with equal axes (exponents 2) is a ball.
static void balls_are_balls(void **state) {
    (void)state;
    tl_rng rng = {.state = 61};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < 200; trial++) {
            const double r = tl_rng_range(&rng, 0.2, 1.0), q = tl_rng_range(&rng, 0.2, 1.0);
            talus_shape_def shape = ELLIPSOID(r, r, r), other = ELLIPSOID(q, q, q);
            if (trial % 2) {
                shape.kind = TALUS_SHAPE_SUPERELLIPSOID;
                shape.exponent[0] = shape.exponent[1] = 2.0;
            }
            if (trial % 3 == 0) other = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = q};
            two_shapes s = couple_of(dim, shape, other);
            tl_touch t[TWO_SHAPES_MOST];
            double length = 0.0;
            random_turn(&rng, dim, s.pose[0].q);
            random_turn(&rng, dim, s.pose[1].q);
            for (int k = 0; k < dim; k++) s.pose[0].x[k] = tl_rng_range(&rng, -1.0, 1.0);
            for (int k = 0; k < 3; k++) length += s.pose[0].x[k] * s.pose[0].x[k];
            length = sqrt(length);
            assert_int_equal(two_shapes_touches(ctx, &s, 3.0, t), 1);
            assert_true(fabs(t->gap - (length - r - q)) <= 1e-14);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(t->normal[k] - s.pose[0].x[k] / length) <= 1e-13 / length);
        }
    }
}

// Ellipsoids with parallel axes, one above the other: their ends meet. Deep inside, the way out is
// the shortest of six.
static void ellipsoids_in_line(void **state) {
    (void)state;
    two_shapes s = couple_of(3, ELLIPSOID(0.5, 0.7, 0.9), ELLIPSOID(0.6, 0.4, 0.3));
    tl_touch t[TWO_SHAPES_MOST];
    for (int k = 0; k < 3; k++) {
        for (int i = -20; i <= 20; i++) {
            const double sum = s.shape[0].half[k] + s.shape[1].half[k], gap = 0.01 * i;
            s.pose[0].x[0] = s.pose[0].x[1] = s.pose[0].x[2] = 0.0;
            s.pose[0].x[k] = sum + gap;
            assert_int_equal(two_shapes_touches(ctx, &s, 1.0, t), 1);
            if (i >= -1) assert_true(fabs(t->gap - gap) <= 1e-15);
            if (i >= -1) assert_true(fabs(t->normal[k] - 1.0) <= 1e-14);
            assert_true(t->gap >= gap - 1e-15); // never a longer way than along the line
        }
    }
    s.pose[0].x[0] = s.pose[0].x[1] = s.pose[0].x[2] = 0.0;
    assert_int_equal(two_shapes_touches(ctx, &s, 1.0, t), 1);
    assert_true(fabs(t->gap + 1.1) <= 1e-14); // 0.5 + 0.6, 0.7 + 0.4; 0.9 + 0.3 is longer
}

// The distance of a point from an ellipse along its axis, beyond the centre of curvature, is to the
// end; nearer to the centre it is not.
static void a_small_ball_in_an_ellipse(void **state) {
    (void)state;
    const double a = 2.0, b = 1.0, r = 1e-3, x = 0.5;
    two_shapes s = couple_of(2, (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = r},
                             ELLIPSOID(a, b, 0.0));
    tl_touch t[TWO_SHAPES_MOST];
    s.pose[0].x[0] = x;
    // the nearest point of the ellipse is at X = a² x / (a² − b²)
    const double X = a * a * x / (a * a - b * b), Y = b * sqrt(1.0 - X * X / (a * a));
    assert_int_equal(two_shapes_touches(ctx, &s, 1.0, t), 1);
    assert_true(fabs(t->gap + hypot(X - x, Y) + r) <= 1e-14);
    assert_true(fabs(fabs(t->arm_b[1]) - Y) <= 1e-12 && fabs(t->arm_b[0] - X) <= 1e-12);
}

// Two cylinders across each other touch where their axes are nearest.
static void crossed_cylinders(void **state) {
    (void)state;
    tl_rng rng = {.state = 62};
    for (int trial = 0; trial < 300; trial++) {
        two_shapes s = couple_of(3, CYLINDER(0.3, 2.0), CYLINDER(0.2, 3.0));
        tl_touch t[TWO_SHAPES_MOST];
        const double gap = trial % 3 == 0 ? 0.0 : tl_rng_range(&rng, -0.05, 0.2);
        double q[4];
        s.pose[0].q[0] = root, s.pose[0].q[1] = root; // its axis along −y, the other's along x
        s.pose[1].q[0] = root, s.pose[1].q[2] = root;
        s.pose[0].x[0] = tl_rng_range(&rng, -1.2, 1.2);
        s.pose[0].x[1] = tl_rng_range(&rng, -0.8, 0.8);
        s.pose[0].x[2] = 0.5 + gap;
        const double x = s.pose[0].x[0], y = s.pose[0].x[1];
        random_turn(&rng, 3, q);
        two_shapes_move(&s, q, (double[3]){1.0, -2.0, 0.5});
        assert_int_equal(two_shapes_touches(ctx, &s, 0.5, t), 1);
        assert_true(fabs(t->gap - gap) <= 1e-14);
        double n[3], p[3];
        turn_vector(q, true, t->normal, n);
        turn_vector(q, true, t->arm_b, p);
        assert_true(fabs(n[2] - 1.0) <= 1e-14);
        assert_true(fabs(p[0] - x) <= 1e-13 && fabs(p[1]) <= 1e-13 && fabs(p[2] - 0.2) <= 1e-13);
        turn_vector(q, true, t->arm_a, p);
        assert_true(fabs(p[1] + y) <= 1e-13);
    }
}

// A tip above a box, an end, a mantle.
static void cones_with_their_tips_down(void **state) {
    (void)state;
    const talus_shape_def below[] = {BOX(1.0, 1.0, 0.5),
                                     CYLINDER(1.0, 1.0),
                                     {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5},
                                     ELLIPSOID(1.0, 0.7, 0.5)};
    for (int i = 0; i < 4; i++) {
        for (double gap = -0.05; gap < 0.3; gap += 0.05) {
            two_shapes s = couple_of(3, CONE(0.4, 0.8), below[i]);
            tl_touch t[TWO_SHAPES_MOST];
            s.pose[0].q[0] = 0.0, s.pose[0].q[1] = 1.0;
            s.pose[0].x[2] = 0.5 + 0.75 * 0.8 + gap;
            assert_int_equal(two_shapes_touches(ctx, &s, 0.5, t), 1);
            assert_true(fabs(t->gap - gap) <= 1e-14 && fabs(t->normal[2] - 1.0) <= 1e-13);
            assert_true(fabs(t->arm_b[0]) <= 1e-13 && fabs(t->arm_b[2] - 0.5) <= 1e-13);
        }
    }
}

static double deepest(const tl_touch *t, int count) {
    double least = INFINITY;
    for (int i = 0; i < count; i++) least = fmin(least, t[i].gap);
    return least;
}

static double spread(const tl_touch *t, int count) {
    double most = 0.0; // largest area of a triangle of the points, twice
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int k = 0; k < count; k++) {
                const double *p = t[i].arm_b, *q = t[j].arm_b, *r = t[k].arm_b;
                const double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
                const double v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
                most = fmax(most, sqrt(pow(u[1] * v[2] - u[2] * v[1], 2.0) +
                                       pow(u[2] * v[0] - u[0] * v[2], 2.0) +
                                       pow(u[0] * v[1] - u[1] * v[0], 2.0)));
            }
    return most;
}

// Standing on something flat: four points, as wide as the common area, wherever it stands.
static void standing_bodies_have_four_points(void **state) {
    (void)state;
    tl_rng rng = {.state = 63};
    for (int trial = 0; trial < 400; trial++) {
        const bool cone = trial % 2, round = trial / 2 % 2;
        const double down = cone ? 0.25 : 0.5;
        two_shapes s = couple_of(3, cone ? CONE(0.4, 1.0) : CYLINDER(0.4, 1.0),
                                 round ? CYLINDER(0.6, 0.8) : BOX(0.5, 0.7, 0.4));
        tl_touch t[TWO_SHAPES_MOST];
        const double angle = tl_rng_range(&rng, -pi, pi), gap = trial % 5 ? 0.0 : -1e-3;
        double q[4];
        s.pose[0].q[0] = cos(0.5 * angle), s.pose[0].q[3] = sin(0.5 * angle);
        s.pose[0].x[0] = tl_rng_range(&rng, -0.4, 0.4);
        s.pose[0].x[1] = tl_rng_range(&rng, -0.4, 0.4);
        s.pose[0].x[2] = 0.4 + down + gap;
        random_turn(&rng, 3, q);
        two_shapes_move(&s, q, (double[3]){0.0, 0.0, 0.0});
        const int count = two_shapes_touches(ctx, &s, 1e-6, t);
        assert_true(count == 4 || count == 3);
        for (int i = 0; i < count; i++) assert_true(fabs(t[i].gap - gap) <= 1e-14);
        // at least half of a disk of radius 0.4 is above the other: a wide triangle fits
        assert_true(spread(t, count) >= 0.15);
    }
}

// Lying on a box, along another cylinder or capsule: two points, at the ends of what they share.
static void lying_cylinders_have_two_points(void **state) {
    (void)state;
    const talus_shape_def below[] = {BOX(2.0, 2.0, 0.3),
                                     BOX(0.5, 2.0, 0.3),
                                     CYLINDER(0.3, 1.4),
                                     {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .height = 1.0}};
    const double shared[] = {1.2, 1.0, 1.2, 1.0};
    for (int i = 0; i < 4; i++) {
        for (int tilt = 0; tilt < 4; tilt++) {
            two_shapes s = couple_of(3, CYLINDER(0.2, 1.2), below[i]);
            tl_touch t[TWO_SHAPES_MOST];
            // both axes along x; then one is turned a little about z
            const double turn = 0.5 * (tilt == 0 ? 0.0 : pow(10.0, -8.0 + 2.0 * tilt));
            const double c = cos(turn), d = sin(turn);
            const double lie[4] = {root, 0.0, root, 0.0};
            for (int k = 0; k < 4; k++) s.pose[1].q[k] = i >= 2 ? lie[k] : k == 0;
            s.pose[0].q[0] = c * root, s.pose[0].q[1] = -d * root;
            s.pose[0].q[2] = c * root, s.pose[0].q[3] = d * root;
            s.pose[0].x[2] = 0.5;
            // two lines at an angle touch where they cross, too
            const int count = two_shapes_touches(ctx, &s, 1e-3, t);
            assert_true(count == 2 || (count == 3 && i >= 2 && tilt > 0));
            const tl_touch *first = &t[count - 2], *second = &t[count - 1];
            assert_true(fabs(first->arm_b[0] - second->arm_b[0]) >= shared[i] * (1.0 - 1e-3));
            assert_true(fabs(first->gap) <= 1e-3 && fabs(second->gap) <= 1e-3);
            assert_true(fabs(deepest(t, count)) <= 1e-11);
        }
    }
}

// A cylinder that leans on its rim by an angle: the deepest point is the one of the rim, and the
// others of the manifold are there while they are within reach.
static void leaning_cylinders_keep_their_deepest_point(void **state) {
    (void)state;
    tl_rng rng = {.state = 64};
    for (int trial = 0; trial < 200; trial++) {
        const double lean = pow(10.0, tl_rng_range(&rng, -9.0, -0.8)), about = 2.0 * pi * trial / 7;
        two_shapes s = couple_of(3, CYLINDER(0.5, 0.6), BOX(2.0, 2.0, 0.5));
        tl_touch t[TWO_SHAPES_MOST];
        s.pose[0].q[0] = cos(0.5 * lean);
        s.pose[0].q[1] = sin(0.5 * lean) * cos(about);
        s.pose[0].q[2] = sin(0.5 * lean) * sin(about);
        s.pose[0].x[2] = 0.5 + 0.3 * cos(lean) + 0.5 * sin(lean) + 1e-4;
        const int count = two_shapes_touches(ctx, &s, 0.05, t);
        double least = INFINITY;
        for (int i = 0; i < count; i++) {
            const double *p = t[i].arm_a;
            least = fmin(least, t[i].gap);
            // every point is at its own height above the box
            assert_true(fabs(t[i].normal[2] - 1.0) <= 1e-14);
            const double off = s.pose[0].x[2] + p[2] - 0.5 - t[i].gap;
            assert_true(fabs(off) <= 1e-14);
        }
        // points that are as deep to 1e-12 of the size stand for each other
        assert_true(fabs(least - 1e-4) <= 1e-11);
        if (lean < 0.04) assert_true(count >= 3);
        if (lean > 0.15) assert_int_equal(count, 1);
    }
}

// While a body slides over another, or rolls, points keep their names and move little.
static void names_stay_while_bodies_move(void **state) {
    (void)state;
    for (int what = 0; what < 5; what++) {
        two_shapes s = couple_of(3, CYLINDER(0.3, 0.8), BOX(1.0, 1.0, 0.5));
        if (what == 2 || what == 3) s.shape[0] = ELLIPSOID(0.3, 0.4, 0.5);
        if (what == 3) s.shape[1] = ELLIPSOID(1.0, 1.0, 0.5);
        if (what == 4) s.shape[1] = CYLINDER(0.9, 1.0);
        tl_touch t[TWO_SHAPES_MOST], before[TWO_SHAPES_MOST];
        int old = 0;
        for (int step = 0; step < 200; step++) {
            const double x = -0.2 + 2e-3 * step, turn = what == 1 ? x / 0.3 : 0.3 + 0.1 * x;
            s.pose[0].q[0] = cos(0.5 * turn), s.pose[0].q[1] = s.pose[0].q[2] = 0.0;
            s.pose[0].q[3] = sin(0.5 * turn);
            if (what == 1) { // it lies along y and rolls along x
                const double lie[4] = {root, root, 0.0, 0.0};
                const double c = cos(0.5 * turn), d = sin(0.5 * turn);
                s.pose[0].q[0] = c * lie[0], s.pose[0].q[1] = c * lie[1];
                s.pose[0].q[2] = d * lie[0], s.pose[0].q[3] = -d * lie[1];
            }
            s.pose[0].x[0] = x, s.pose[0].x[1] = 0.1;
            s.pose[0].x[2] = what == 1 ? 0.8 : what == 2 || what == 3 ? 1.0 : 0.9;
            const int count = two_shapes_touches(ctx, &s, 0.05, t);
            assert_true(count >= 1);
            for (int i = 0; step > 0 && i < count; i++) {
                assert_int_equal(count, old);
                assert_int_equal(t[i].feature, before[i].feature);
                for (int k = 0; k < 3; k++)
                    assert_true(fabs(t[i].arm_b[k] - before[i].arm_b[k]) <= 0.02);
            }
            old = count;
            for (int i = 0; i < count; i++) before[i] = t[i];
        }
    }
}

static const talus_shape_kind kinds[] = {TALUS_SHAPE_ELLIPSOID, TALUS_SHAPE_SUPERELLIPSOID,
                                         TALUS_SHAPE_CYLINDER,  TALUS_SHAPE_CONE,
                                         TALUS_SHAPE_SPHERE,    TALUS_SHAPE_CAPSULE,
                                         TALUS_SHAPE_BOX,       TALUS_SHAPE_POLYHEDRON};

// Turning and moving the world, and exchanging the bodies, change no gap.
static void the_world_may_be_turned_and_bodies_exchanged(void **state) {
    (void)state;
    tl_rng rng = {.state = 65};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < trials_of(1500); trial++) {
            const talus_shape_kind a = kinds[trial % (dim == 2 ? 2 : 4)], b = kinds[trial / 4 % 8];
            round_body body[2];
            tl_touch t[TWO_SHAPES_MOST];
            double q[4];
            round_body_random(&rng, dim, a, 1.0, &body[0]);
            round_body_random(&rng, dim, b, 1.0, &body[1]);
            two_shapes s = couple_of(dim, body[0].shape, body[1].shape), r;
            random_turn(&rng, dim, s.pose[0].q);
            random_turn(&rng, dim, s.pose[1].q);
            for (int k = 0; k < dim; k++) s.pose[0].x[k] = tl_rng_range(&rng, -1.0, 1.0);
            const int count = two_shapes_touches(ctx, &s, 0.3, t);
            const double gap = deepest(t, count);
            r = couple_of(dim, s.shape[1], s.shape[0]);
            r.pose[0] = s.pose[1];
            r.pose[1] = s.pose[0];
            const int exchanged = two_shapes_touches(ctx, &r, 0.3, t);
            assert_int_equal(exchanged > 0, count > 0);
            if (count > 0) assert_true(fabs(deepest(t, exchanged) - gap) <= 1e-12);
            random_turn(&rng, dim, q);
            two_shapes_move(&s, q, (double[3]){2.0, -3.0, dim == 2 ? 0.0 : 1.0});
            const int turned = two_shapes_touches(ctx, &s, 0.3, t);
            assert_int_equal(turned > 0, count > 0);
            if (count > 0) assert_true(fabs(deepest(t, turned) - gap) <= 1e-12);
        }
    }
}

// Moving a by ε along a direction changes the gap by ε times the normal's component, where the
// bodies are apart.
static void the_normal_is_the_gradient_of_the_gap(void **state) {
    (void)state;
    tl_rng rng = {.state = 66};
    const double step = 1e-6;
    int judged = 0, rough = 0;
    for (int trial = 0; trial < trials_of(600); trial++) {
        const int32_t dim = trial % 3 ? 3 : 2;
        const talus_shape_kind a = kinds[trial % (dim == 2 ? 2 : 4)], b = kinds[trial / 4 % 8];
        round_body body[2];
        tl_touch t[TWO_SHAPES_MOST], m[TWO_SHAPES_MOST];
        round_body_random(&rng, dim, a, 1.0, &body[0]);
        round_body_random(&rng, dim, b, 1.0, &body[1]);
        two_shapes s = couple_of(dim, body[0].shape, body[1].shape);
        random_turn(&rng, dim, s.pose[0].q);
        random_turn(&rng, dim, s.pose[1].q);
        for (int k = 0; k < dim; k++) s.pose[0].x[k] = tl_rng_range(&rng, -1.5, 1.5);
        const int count = two_shapes_touches(ctx, &s, 1.0, t);
        if (count != 1 || t->gap < 0.05) continue;
        for (int k = 0; k < dim; k++) {
            double change = 0.0;
            for (int way = -1; way <= 1; way += 2) {
                two_shapes other = s;
                other.pose[0].x[k] += way * step;
                change += way * deepest(m, two_shapes_touches(ctx, &other, 1.1, m));
            }
            // differences: rounding 1e-15 / step, and (step / distance)² from curvature. A point of
            // a superellipsoid may be 2e-6 beside the nearest (docs/theory/collision.md), which
            // turns the normal by that over the distance.
            const double error = fabs(change / (2.0 * step) - t->normal[k]);
            const int flat = (a == TALUS_SHAPE_SUPERELLIPSOID) + (b == TALUS_SHAPE_SUPERELLIPSOID);
            assert_true(error <= 2e-8 + 2e-6 * flat / t->gap);
            rough += error > 2e-8;
        }
        judged++;
    }
    assert_true(judged > 100 && rough <= judged / 1000);
}

// Triangles, as they come from a mesh: the same as a thin polyhedron gives, from either side.
static void triangles_are_touched(void **state) {
    (void)state;
    static const double corner[3][3] = {{-1.0, -0.8, 0.0}, {1.2, -0.7, 0.0}, {0.1, 1.1, 0.0}};
    tl_rng rng = {.state = 67};
    const tl_convex triangle = {
        .support = tl_convex_support_corners, .corner = corner, .corners = 3};
    const tl_pose at = {.q = {1.0, 0.0, 0.0, 0.0}};
    for (int trial = 0; trial < 400; trial++) {
        round_body b;
        tl_solid *solid = NULL;
        tl_convex view;
        tl_pose pose;
        tl_touch t[TL_PAIR_MOST];
        round_body_random(&rng, 3, kinds[trial % 4], 0.5, &b);
        assert_int_equal(tl_solid_create(ctx, 3, &b.shape, &solid), TALUS_OK);
        tl_convex_view(3, &solid->shape, solid, &view);
        random_turn(&rng, 3, pose.q);
        for (int k = 0; k < 4; k++) b.q[k] = pose.q[k];
        // above the inside of the triangle
        const double side = trial / 4 % 2 ? 1.0 : -1.0, down[3] = {0.0, 0.0, -side};
        const double gap = tl_rng_range(&rng, 0.0, 0.1);
        pose.x[0] = tl_rng_range(&rng, -0.1, 0.1);
        pose.x[1] = tl_rng_range(&rng, -0.1, 0.1);
        pose.x[2] = side * (round_body_support(&b, down) + gap);
        const int count = tl_round_points(3, &view, &pose, &triangle, &at, 0.5, t);
        assert_true(count >= 1);
        double least = INFINITY;
        for (int i = 0; i < count; i++) {
            least = fmin(least, t[i].gap);
            assert_true(round_body_outside(&b, t[i].arm_a) <= 1e-8);
            assert_true(fabs(t[i].arm_b[2]) <= 1e-13);
        }
        // its point may be beside the triangle's edge: then it is farther
        assert_true(least >= gap - 1e-13);
        bool inside = true;
        for (int i = 0; i < count; i++)
            inside = inside && fabs(t[i].arm_b[0]) < 0.3 && fabs(t[i].arm_b[1] + 0.1) < 0.3;
        if (inside) assert_true(fabs(least - gap) <= 1e-12);
        tl_solid_destroy(ctx, solid);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(balls_are_balls),
        TEST(ellipsoids_in_line),
        TEST(a_small_ball_in_an_ellipse),
        TEST(crossed_cylinders),
        TEST(cones_with_their_tips_down),
        TEST(standing_bodies_have_four_points),
        TEST(lying_cylinders_have_two_points),
        TEST(leaning_cylinders_keep_their_deepest_point),
        TEST(names_stay_while_bodies_move),
        TEST(the_world_may_be_turned_and_bodies_exchanged),
        TEST(the_normal_is_the_gradient_of_the_gap),
        TEST(triangles_are_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
