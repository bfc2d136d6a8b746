// SPDX-License-Identifier: Apache-2.0
// Ellipsoids, superellipsoids, cylinders and cones at half-spaces, in containers and in drums. The
// oracle knows how far a body reaches along a direction (support/round_bodies.h): at a plane that
// is the gap, at a mantle the largest reach over all directions across the axis is.
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

static const talus_shape_def wall_shapes[] = {
    {.kind = TALUS_SHAPE_HALF_SPACE},
    {.kind = TALUS_SHAPE_CONTAINER, .half = {1.6, 1.4, 1.9}},
    {.kind = TALUS_SHAPE_DRUM, .radius = 1.7, .height = 2.6},
};
static const talus_shape_kind kinds[] = {TALUS_SHAPE_ELLIPSOID, TALUS_SHAPE_SUPERELLIPSOID,
                                         TALUS_SHAPE_CYLINDER, TALUS_SHAPE_CONE};

enum { WALLS = 6, SAMPLES = 720 };

// Gap of a body at a plane through `at` (from the body's origin, world) with the normal n into the
// free space.
static double plane_gap(const round_body *b, const double n[3], const double at[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    return -(n[0] * at[0] + n[1] * at[1] + n[2] * at[2]) - round_body_support(b, back);
}

// The largest of F(φ) = p·m + h(m) for m across the axis: many φ, and the best by smaller steps.
static double mantle_reach(const round_body *b, const double x[3], const double y[3],
                           const double p[3]) {
    double best = -INFINITY, at = 0.0;
    for (int i = -SAMPLES; i < 60; i++) {
        for (int way = -1; way <= (i < 0 ? -1 : 1); way += 2) {
            const double phi = i < 0 ? 2.0 * pi * i / SAMPLES : at + way * pow(0.6, i) / 60.0;
            const double m[3] = {cos(phi) * x[0] + sin(phi) * y[0],
                                 cos(phi) * x[1] + sin(phi) * y[1],
                                 cos(phi) * x[2] + sin(phi) * y[2]};
            const double value = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + round_body_support(b, m);
            if (value > best) best = value, at = phi;
        }
    }
    return best;
}

// Gaps of a body at each wall; walls that are not there are infinitely far.
static void wall_gaps(const two_shapes *s, const round_body *b, double out[WALLS]) {
    const talus_shape_def *w = &s->shape[1];
    double p[3]; // origin of the body from that of the walls
    for (int k = 0; k < WALLS; k++) out[k] = INFINITY;
    for (int k = 0; k < 3; k++) p[k] = s->pose[0].x[k] - s->pose[1].x[k];
    for (int k = 0; k < 3; k++) {
        for (int upper = 0; upper < 2; upper++) {
            double n[3] = {0.0, 0.0, 0.0}, at[3];
            const bool drum = w->kind == TALUS_SHAPE_DRUM;
            const bool half = w->kind == TALUS_SHAPE_HALF_SPACE;
            if (k >= s->dim || (drum && k != 2) || (half && (k != s->dim - 1 || upper))) continue;
            n[k] = upper ? -1.0 : 1.0;
            turn_vector(s->pose[1].q, false, n, n);
            const double offset = half ? 0.0 : drum ? 0.5 * w->height : w->half[k];
            for (int i = 0; i < 3; i++) at[i] = -offset * n[i] - p[i];
            const double gap = plane_gap(b, n, at);
            if (half)
                out[0] = gap;
            else if (drum)
                out[1 + upper] = gap;
            else
                out[2 * k + upper] = gap;
        }
    }
    if (w->kind != TALUS_SHAPE_DRUM) return;
    double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    turn_vector(s->pose[1].q, false, x, x);
    turn_vector(s->pose[1].q, false, y, y);
    out[0] = w->radius - mantle_reach(b, x, y, p);
}

// Every wall within reach has a point, the deepest of each is as deep as the body is, and all are
// points of the body at the gap of their wall.
static void points_at_walls_are_right(void **state) {
    (void)state;
    tl_rng rng = {.state = 71};
    const double reach = 0.1;
    int64_t found = 0, tops = 0;
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int trial = 0; trial < trials_of(1200); trial++) {
            const int kind = trial % (dim == 2 ? 2 : 4), wall = trial / 4 % 3;
            round_body b;
            tl_touch t[TWO_SHAPES_MOST];
            double gap[WALLS], least[WALLS];
            int at_mantle = 0;
            round_body_random(&rng, dim, kinds[kind], 1.0, &b);
            two_shapes s = {.dim = dim, .shape = {b.shape, wall_shapes[wall]}};
            random_turn(&rng, dim, s.pose[1].q);
            for (int k = 0; k < 4; k++) s.pose[0].q[k] = b.q[k];
            if (trial % 5 == 0) // axes along the walls'
                for (int k = 0; k < 4; k++) s.pose[0].q[k] = b.q[k] = s.pose[1].q[k];
            for (int k = 0; k < dim; k++) {
                s.pose[1].x[k] = tl_rng_range(&rng, -2.0, 2.0);
                s.pose[0].x[k] = s.pose[1].x[k] + tl_rng_range(&rng, -1.0, 1.0);
            }
            wall_gaps(&s, &b, gap);
            for (int k = 0; k < WALLS; k++) least[k] = INFINITY;
            const int count = two_shapes_touches(ctx, &s, reach, t);
            for (int i = 0; i < count; i++) {
                const int w = (int)(t[i].feature / 8);
                assert_true(w < WALLS);
                least[w] = fmin(least[w], t[i].gap);
                at_mantle += w == 0 && wall == 2;
                // on the body; and on the wall: two_shapes_touches has seen that they belong
                // together
                assert_true(round_body_outside(&b, t[i].arm_a) <= 1e-12);
                if (w == 0 && wall == 2) {
                    double p[3];
                    for (int k = 0; k < 3; k++)
                        p[k] = s.pose[0].x[k] - s.pose[1].x[k] + t[i].arm_a[k];
                    turn_vector(s.pose[1].q, true, p, p);
                    assert_true(fabs(1.7 - hypot(p[0], p[1]) - t[i].gap) <= 1e-13);
                }
            }
            for (int w = 0; w < WALLS; w++) {
                // the search of the oracle ends within 1e-8 of the top's direction
                const double slack = w == 0 && wall == 2 ? 1e-11 : 1e-13;
                if (gap[w] > reach + slack) assert_true(isinf(least[w]));
                if (gap[w] > reach - slack) continue;
                if (!(fabs(least[w] - gap[w]) <= slack))
                    fail_msg("%dD %s, wall %d of %s: %.17g is not %.17g", (int)dim,
                             talus_shape_text(kinds[kind]), w,
                             talus_shape_text(wall_shapes[wall].kind), least[w], gap[w]);
            }
            found += count;
            tops += at_mantle > 1;
        }
    }
    assert_true(found > 1000 && tops > 10);
}

// A long ellipsoid across a drum touches with both ends, which keep their names while it slides
// around.
static void a_long_ellipsoid_spans_a_drum(void **state) {
    (void)state;
    two_shapes s = {.dim = 2,
                    .shape = {{.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.8, 0.1}},
                              {.kind = TALUS_SHAPE_DRUM, .radius = 1.0}},
                    .pose = {{.q = {1.0}}, {.q = {1.0}}}};
    tl_touch t[TWO_SHAPES_MOST];
    for (int step = 0; step < 300; step++) {
        const double angle = 0.02 * step, low = 0.55; // centre this far from the axis
        s.pose[0].q[0] = cos(0.5 * angle), s.pose[0].q[3] = sin(0.5 * angle);
        s.pose[0].x[0] = low * sin(angle), s.pose[0].x[1] = -low * cos(angle);
        assert_int_equal(two_shapes_touches(ctx, &s, 0.2, t), 2);
        assert_true(fabs(t[0].gap - t[1].gap) <= 1e-13);
        double p[2][3];
        for (int i = 0; i < 2; i++) turn_vector(s.pose[0].q, true, t[i].arm_a, p[i]);
        assert_true(p[0][0] < -0.5 && p[1][0] > 0.5);
    }
}

// A cone on its base, on its mantle, on its tip.
static void a_cone_stands_lies_and_balances(void **state) {
    (void)state;
    const double r = 0.5, h = 1.2;
    two_shapes s = {.dim = 3,
                    .shape = {{.kind = TALUS_SHAPE_CONE, .radius = r, .height = h},
                              {.kind = TALUS_SHAPE_HALF_SPACE}},
                    .pose = {{.x = {0.0, 0.0, 0.25 * h}, .q = {1.0}}, {.q = {1.0}}}};
    tl_touch t[TWO_SHAPES_MOST];
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, t), 4);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(t[i].gap) <= 1e-15);
        assert_true(fabs(hypot(t[i].arm_a[0], t[i].arm_a[1]) - r) <= 1e-15);
    }
    // lying: turned about y so that its mantle is level
    const double turn = 0.5 * pi + atan2(r, h);
    s.pose[0].q[0] = cos(0.5 * turn), s.pose[0].q[2] = sin(0.5 * turn);
    const double slope = r / hypot(r, h);
    s.pose[0].x[2] = 0.75 * h * slope;
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, t), 2);
    assert_true(fabs(t[0].gap) <= 1e-15 && fabs(t[1].gap) <= 1e-15);
    assert_true(fabs(fabs(t[0].arm_a[0] - t[1].arm_a[0]) - hypot(r, h)) <= 1e-14);
    s.pose[0] = (tl_pose){.x = {0.0, 0.0, 0.75 * h + 1e-3}, .q = {0.0, 1.0}};
    assert_int_equal(two_shapes_touches(ctx, &s, 0.1, t), 1);
    assert_true(fabs(t[0].gap - 1e-3) <= 1e-15);
    assert_true(fabs(t[0].arm_a[0]) <= 1e-15 && fabs(t[0].arm_a[2] + 0.75 * h) <= 1e-15);
}

// Bodies whose centres are on the axis of a drum, with the same reach all around: a normal all the
// same.
static void bodies_on_the_axis_have_a_normal(void **state) {
    (void)state;
    const talus_shape_def body[] = {
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.5, 0.5, 0.9}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .height = 1.0},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.5, .height = 1.0},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.5, 0.5, 0.5}, .exponent = {2.0, 4.0}}};
    for (int i = 0; i < 4; i++) {
        for (int nudge = 0; nudge < 3; nudge++) {
            two_shapes s = {
                .dim = 3,
                .shape = {body[i], {.kind = TALUS_SHAPE_DRUM, .radius = 1.0, .height = INFINITY}},
                .pose = {{.q = {1.0}}, {.q = {1.0}}}};
            tl_touch t[TWO_SHAPES_MOST];
            s.pose[0].x[0] = nudge == 0 ? 0.0 : nudge == 1 ? 1e-17 : 1e-300;
            const int count = two_shapes_touches(ctx, &s, 2.0, t);
            assert_true(count >= 1);
            double least = INFINITY;
            for (int k = 0; k < count; k++) least = fmin(least, t[k].gap);
            assert_true(fabs(least - 0.5) <= 1e-14);
        }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(points_at_walls_are_right),
        TEST(a_long_ellipsoid_spans_a_drum),
        TEST(a_cone_stands_lies_and_balances),
        TEST(bodies_on_the_axis_have_a_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
