// SPDX-License-Identifier: Apache-2.0
// A ball with every other shape, against an oracle that knows only what the shapes are: the surface
// as patches to be searched for the nearest point, and whether a point is in the material. Then
// derivatives, rotations, order, and positions where the nearest point is not unique.
#include "support/context.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

// Patches of the surface of a shape in its own frame, s and t in [0, 1]; false past the last one.
// Unbounded patches are given as far as the tests go.
static bool surface_at(int32_t dim, const talus_shape_def *shape, int patch, double s, double t,
                       double out[3]) {
    const double wide = 20.0, angle = 2.0 * pi * s, r = shape->radius;
    const double u = 2.0 * s - 1.0, v = dim == 2 ? 0.0 : 2.0 * t - 1.0;
    const int axis = patch / 2;
    out[0] = out[1] = out[2] = 0.0;
    switch (shape->kind) {
    case TALUS_SHAPE_SPHERE:
        out[0] = r * cos(angle) * (dim == 2 ? 1.0 : sin(pi * t));
        out[1] = r * sin(angle) * (dim == 2 ? 1.0 : sin(pi * t));
        out[2] = dim == 2 ? 0.0 : r * cos(pi * t);
        return patch < 1;
    case TALUS_SHAPE_HALF_SPACE: // the normal of these tests is "up"
        out[0] = wide * u;
        if (dim == 3) out[1] = wide * v;
        return patch < 1;
    case TALUS_SHAPE_BOX:
    case TALUS_SHAPE_CONTAINER:
        if (patch >= 2 * dim) return false;
        out[axis] = patch % 2 ? shape->half[axis] : -shape->half[axis];
        out[(axis + 1) % dim] = u * shape->half[(axis + 1) % dim];
        if (dim == 3) out[(axis + 2) % dim] = v * shape->half[(axis + 2) % dim];
        return true;
    default: { // drum, cylinder: mantle, lower end, upper end
        const double rho = patch == 0 ? r : r * t, h = 0.5 * shape->height;
        out[0] = rho * cos(angle);
        out[1] = rho * sin(angle);
        if (dim == 3) out[2] = patch == 0 ? h * v : patch == 1 ? -h : h;
        return patch < (dim == 2 ? 1 : 3);
    }
    }
}

static bool in_material(int32_t dim, const talus_shape_def *shape, const double p[3]) {
    const double rho = hypot(p[0], p[1]);
    const double z = dim == 2 ? 0.0 : fabs(p[2]);
    bool in_box = true;
    for (int k = 0; k < dim; k++) in_box = in_box && fabs(p[k]) < shape->half[k];
    switch (shape->kind) {
    case TALUS_SHAPE_SPHERE:
        return hypot(rho, z) < shape->radius;
    case TALUS_SHAPE_HALF_SPACE:
        return p[dim - 1] < 0.0;
    case TALUS_SHAPE_BOX:
        return in_box;
    case TALUS_SHAPE_CONTAINER:
        return !in_box;
    case TALUS_SHAPE_CYLINDER:
        return rho < shape->radius && (dim == 2 || z < 0.5 * shape->height);
    default:
        return !(rho < shape->radius && (dim == 2 || z < 0.5 * shape->height));
    }
}

static double distance_at(int32_t dim, const talus_shape_def *shape, int patch, double s, double t,
                          const double p[3]) {
    double q[3];
    (void)surface_at(dim, shape, patch, s, t, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                (p[2] - q[2]) * (p[2] - q[2]));
}

static double within_unit(double s) { return s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s; }

// The second parameter where it leaves its patch. It may go on beyond the pole of a sphere and the
// middle of a disk, where the first has no meaning and steps along it lead nowhere.
static double within_patch(int32_t dim, const talus_shape_def *shape, int patch, double t) {
    const bool round = shape->kind == TALUS_SHAPE_CYLINDER || shape->kind == TALUS_SHAPE_DRUM;
    if (dim == 3 && shape->kind == TALUS_SHAPE_SPHERE) return t;
    if (dim == 3 && round && patch > 0) return t < -1.0 ? -1.0 : t > 1.0 ? 1.0 : t;
    return within_unit(t);
}

// Signed distance of the point p (in the frame of the shape) from the material: every patch is
// looked at on a lattice, and the best place is improved by steps that are halved when none helps.
static double oracle_distance(int32_t dim, const talus_shape_def *shape, const double p[3]) {
    const int lattice = 16;
    double nearest = INFINITY, q[3];
    for (int patch = 0; surface_at(dim, shape, patch, 0.5, 0.5, q); patch++) {
        double s = 0.5, t = 0.5, best = INFINITY;
        for (int i = 0; i <= lattice; i++) {
            for (int j = 0; j <= (dim == 2 ? 0 : lattice); j++) {
                const double u = (double)i / lattice, v = (j + 0.5) / (lattice + 1);
                const double d = distance_at(dim, shape, patch, u, v, p);
                if (d < best) best = d, s = u, t = v;
            }
        }
        for (double step = 1.0 / lattice; step > 1e-10;) {
            bool better = false;
            for (int way = 0; way < (dim == 2 ? 2 : 4); way++) {
                const double move = way % 2 ? -step : step;
                double u = way < 2 ? s + move : s;
                const double v = way < 2 ? t : within_patch(dim, shape, patch, t + move);
                // mantles close around
                u = shape->kind == TALUS_SHAPE_BOX || shape->kind == TALUS_SHAPE_CONTAINER ||
                            shape->kind == TALUS_SHAPE_HALF_SPACE
                        ? within_unit(u)
                        : u;
                const double d = distance_at(dim, shape, patch, u, v, p);
                if (d < best) best = d, s = u, t = v, better = true;
            }
            if (!better) step *= 0.5;
        }
        nearest = fmin(nearest, best);
    }
    return in_material(dim, shape, p) ? -nearest : nearest;
}

// One of each kind, for a ball of radius 0.5.
static const talus_shape_def partners[] = {
    {.kind = TALUS_SHAPE_SPHERE, .radius = 0.8},
    {.kind = TALUS_SHAPE_HALF_SPACE},
    {.kind = TALUS_SHAPE_CONTAINER, .half = {1.5, 1.1, 1.9}},
    {.kind = TALUS_SHAPE_DRUM, .radius = 1.4, .height = 2.2},
    {.kind = TALUS_SHAPE_BOX, .half = {0.7, 1.2, 0.9}},
    {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .height = 1.9},
};

enum { PARTNERS = sizeof partners / sizeof partners[0] };

// A ball at p in the frame of the partner, which stands anywhere.
static two_shapes ball_at(tl_rng *rng, int32_t dim, const talus_shape_def *partner,
                          const double p[3]) {
    two_shapes s = {.dim = dim, .shape = {{.kind = TALUS_SHAPE_SPHERE, .radius = 0.5}, *partner}};
    random_turn(rng, dim, s.pose[0].q);
    random_turn(rng, dim, s.pose[1].q);
    turn_vector(s.pose[1].q, false, p, s.pose[0].x);
    for (int k = 0; k < dim; k++) {
        s.pose[1].x[k] = tl_rng_range(rng, -3.0, 3.0);
        s.pose[0].x[k] += s.pose[1].x[k];
    }
    return s;
}

static const tl_touch *deepest(const tl_touch *touch, int count) {
    const tl_touch *best = touch;
    for (int i = 1; i < count; i++)
        if (touch[i].gap < best->gap) best = &touch[i];
    return best;
}

// A position for the centre of the ball: inside of what encloses it, anywhere else.
static void random_centre(tl_rng *rng, int32_t dim, const talus_shape_def *partner, double p[3]) {
    p[0] = p[1] = p[2] = 0.0;
    do {
        for (int k = 0; k < dim; k++) p[k] = tl_rng_range(rng, -2.2, 2.2);
    } while ((partner->kind == TALUS_SHAPE_CONTAINER || partner->kind == TALUS_SHAPE_DRUM) &&
             in_material(dim, partner, p));
}

// The oracle finds the distance to about the square of its last step in smooth places, and to the
// step times the length of the patch at edges.
static void gaps_are_those_of_the_oracle(void **state) {
    (void)state;
    tl_rng rng = {.state = 21};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < PARTNERS; i++) {
            for (int trial = 0; trial < trials_of(150); trial++) {
                tl_touch touch[TWO_SHAPES_MOST];
                double p[3], q[3], point[3];
                random_centre(&rng, dim, &partners[i], p);
                const two_shapes s = ball_at(&rng, dim, &partners[i], p);
                const double gap = oracle_distance(dim, &partners[i], p) - 0.5;
                const int count = two_shapes_touches(ctx, &s, 10.0, touch);
                assert_true(count >= 1);
                const tl_touch *t = deepest(touch, count);
                assert_true(fabs(t->gap - gap) <= 1e-8);
                // the point of b is on the surface of b, that of a on the ball
                turn_vector(s.pose[1].q, true, t->arm_b, q);
                assert_true(fabs(oracle_distance(dim, &partners[i], q)) <= 1e-8);
                double r = 0.0;
                for (int k = 0; k < 3; k++) {
                    point[k] = t->arm_a[k] + 0.5 * t->normal[k];
                    r += point[k] * point[k];
                }
                assert_true(r <= 1e-30);
                // and the search gives it up exactly where its gap is
                tl_touch again[TWO_SHAPES_MOST];
                if (t->gap > 1e-6) {
                    assert_int_equal(two_shapes_touches(ctx, &s, t->gap - 1e-7, again), 0);
                    assert_true(two_shapes_touches(ctx, &s, t->gap + 1e-7, again) >= 1);
                }
            }
        }
    }
}

// Moving the ball by ε along the normal changes the gap by ε, moving it across by order ε².
static void the_normal_is_the_gradient_of_the_gap(void **state) {
    (void)state;
    tl_rng rng = {.state = 22};
    const double step = 1e-6;
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < PARTNERS; i++) {
            for (int trial = 0; trial < trials_of(100); trial++) {
                tl_touch touch[TWO_SHAPES_MOST], moved[TWO_SHAPES_MOST];
                double p[3];
                random_centre(&rng, dim, &partners[i], p);
                const two_shapes s = ball_at(&rng, dim, &partners[i], p);
                const int count = two_shapes_touches(ctx, &s, 10.0, touch);
                for (int n = 0; n < count; n++) {
                    for (int k = 0; k < dim; k++) {
                        double change = 0.0;
                        for (int way = -1; way <= 1; way += 2) {
                            two_shapes other = s;
                            other.pose[0].x[k] += way * step;
                            assert_int_equal(two_shapes_touches(ctx, &other, 10.0, moved), count);
                            assert_int_equal(moved[n].feature, touch[n].feature);
                            change += way * moved[n].gap;
                        }
                        // central differences: 1e-16 / step from rounding and (step / distance)²
                        // from curvature
                        const double slope = change / (2.0 * step);
                        assert_true(fabs(slope - touch[n].normal[k]) <= 1e-7);
                    }
                }
            }
        }
    }
}

static void rotating_the_world_rotates_the_contact(void **state) {
    (void)state;
    tl_rng rng = {.state = 23};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < PARTNERS; i++) {
            for (int trial = 0; trial < trials_of(100); trial++) {
                tl_touch touch[TWO_SHAPES_MOST], turned[TWO_SHAPES_MOST];
                double p[3], q[4];
                random_centre(&rng, dim, &partners[i], p);
                two_shapes s = ball_at(&rng, dim, &partners[i], p);
                const int count = two_shapes_touches(ctx, &s, 10.0, touch);
                const double shift[3] = {tl_rng_range(&rng, -5.0, 5.0),
                                         tl_rng_range(&rng, -5.0, 5.0),
                                         dim == 2 ? 0.0 : tl_rng_range(&rng, -5.0, 5.0)};
                random_turn(&rng, dim, q);
                two_shapes_move(&s, q, shift);
                assert_int_equal(two_shapes_touches(ctx, &s, 10.0, turned), count);
                for (int n = 0; n < count; n++) {
                    double v[3], w[3];
                    assert_true(fabs(turned[n].gap - touch[n].gap) <= 1e-13);
                    assert_int_equal(turned[n].feature, touch[n].feature);
                    turn_vector(q, false, touch[n].normal, v);
                    turn_vector(q, false, touch[n].arm_b, w);
                    for (int k = 0; k < 3; k++) {
                        // a direction is rounded in proportion to 1 / distance
                        assert_true(fabs(turned[n].normal[k] - v[k]) <= 1e-11);
                        assert_true(fabs(turned[n].arm_b[k] - w[k]) <= 1e-11);
                    }
                }
            }
        }
    }
}

// Which of two items was added first must only turn the normal round.
static void order_turns_the_normal_round(void **state) {
    (void)state;
    tl_rng rng = {.state = 24};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < PARTNERS; i++) {
            for (int trial = 0; trial < 20; trial++) {
                tl_touch touch[TWO_SHAPES_MOST], turned[TWO_SHAPES_MOST];
                double p[3];
                random_centre(&rng, dim, &partners[i], p);
                const two_shapes s = ball_at(&rng, dim, &partners[i], p);
                const two_shapes r = {
                    .dim = dim, .shape = {s.shape[1], s.shape[0]}, .pose = {s.pose[1], s.pose[0]}};
                const int count = two_shapes_touches(ctx, &s, 10.0, touch);
                assert_int_equal(two_shapes_touches(ctx, &r, 10.0, turned), count);
                for (int n = 0; n < count; n++) {
                    assert_true(turned[n].gap == touch[n].gap);
                    assert_int_equal(turned[n].feature, touch[n].feature);
                    for (int k = 0; k < 3; k++) {
                        assert_true(turned[n].normal[k] == -touch[n].normal[k]);
                        assert_true(turned[n].arm_a[k] == touch[n].arm_b[k]);
                        assert_true(turned[n].arm_b[k] == touch[n].arm_a[k]);
                    }
                }
            }
        }
    }
}

// Centre of the ball exactly on planes, edges, corners, axes and centres, and next to them by the
// smallest numbers there are: always a unit normal (two_shapes_touches asserts that), the right
// gap, the same answer each time.
static void degenerate_positions_have_a_normal(void **state) {
    (void)state;
    tl_rng rng = {.state = 25};
    const double tiny[] = {0.0, -0.0, 1e-320, -1e-200, 1e-160, -1e-145, 1e-17, -1e-12};
    for (int32_t dim = 2; dim <= 3; dim++) {
        for (int i = 0; i < PARTNERS; i++) {
            const talus_shape_def *b = &partners[i];
            const bool round = b->kind == TALUS_SHAPE_DRUM || b->kind == TALUS_SHAPE_CYLINDER;
            for (int place = 0; place < 27 * 8; place++) {
                const int index[3] = {place / 8 % 3, place / 24 % 3, place / 72 % 3};
                double p[3] = {0.0, 0.0, 0.0};
                for (int k = 0; k < dim; k++) {
                    const double half = b->kind == TALUS_SHAPE_SPHERE       ? 0.0
                                        : b->kind == TALUS_SHAPE_HALF_SPACE ? 0.0
                                        : round ? (k == 2 ? 0.5 * b->height : b->radius)
                                                : b->half[k];
                    p[k] = (index[k] - 1) * half + tiny[place % 8];
                }
                if (round && index[0] != 1) p[1] = tiny[place % 8]; // on the mantle
                if (b->kind == TALUS_SHAPE_CONTAINER || b->kind == TALUS_SHAPE_DRUM)
                    for (int k = 0; k < dim; k++) p[k] *= 1.0 - 1e-14; // not behind a wall
                tl_touch touch[TWO_SHAPES_MOST], again[TWO_SHAPES_MOST];
                two_shapes s = ball_at(&rng, dim, b, p);
                if (place % 2) { // without rotation: the position is exactly as given
                    s.pose[1] = (tl_pose){.q = {1.0}};
                    for (int k = 0; k < 3; k++) s.pose[0].x[k] = p[k];
                }
                const int count = two_shapes_touches(ctx, &s, 10.0, touch);
                assert_int_equal(two_shapes_touches(ctx, &s, 10.0, again), count);
                assert_true(count >= 1);
                for (int n = 0; n < count; n++)
                    for (int k = 0; k < 3; k++)
                        assert_true(touch[n].normal[k] == again[n].normal[k]);
                const double gap = oracle_distance(dim, b, p) - 0.5;
                assert_true(fabs(deepest(touch, count)->gap - gap) <= 1e-8);
                if (dim == 2)
                    for (int n = 0; n < count; n++) assert_true(touch[n].normal[2] == 0.0);
            }
        }
    }
}

// A ball in the corner of a container touches each of its walls, an open one has fewer.
static void walls_are_features(void **state) {
    (void)state;
    const double inf = INFINITY;
    const struct {
        int32_t dim;
        talus_shape_def shape;
        double x[3];
        int count;
        uint32_t feature[3];
        double normal[3][3];
    } cases[] = {
        {3,
         {.kind = TALUS_SHAPE_CONTAINER, .half = {2.0, 2.0, 2.0}},
         {-1.5, 1.5, -1.5},
         3,
         {0, 3, 4},
         {{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 1.0}}},
        {3,
         {.kind = TALUS_SHAPE_CONTAINER, .half = {2.0, 2.0, 2.0}, .open_top = true},
         {1.5, 1.5, 1.5},
         2,
         {1, 3},
         {{-1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}}},
        {2,
         {.kind = TALUS_SHAPE_CONTAINER, .half = {2.0, 2.0, 2.0}, .open_top = true},
         {1.5, 1.5, 0.0},
         1,
         {1},
         {{-1.0, 0.0, 0.0}}},
        {3,
         {.kind = TALUS_SHAPE_CONTAINER, .half = {inf, 2.0, 2.0}},
         {1.5, 1.5, 1.5},
         2,
         {3, 5},
         {{0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}}},
        {3,
         {.kind = TALUS_SHAPE_DRUM, .radius = 2.0, .height = 4.0},
         {0.0, -1.5, 1.5},
         2,
         {0, 2},
         {{0.0, 1.0, 0.0}, {0.0, 0.0, -1.0}}},
        {3,
         {.kind = TALUS_SHAPE_DRUM, .radius = 2.0, .height = inf},
         {0.0, -1.5, 1.5},
         1,
         {0},
         {{0.0, 1.0, 0.0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const two_shapes s = {
            .dim = cases[i].dim,
            .shape = {{.kind = TALUS_SHAPE_SPHERE, .radius = 0.5}, cases[i].shape},
            .pose = {{.x = {cases[i].x[0], cases[i].x[1], cases[i].x[2]}, .q = {1.0}},
                     {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST];
        assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), cases[i].count);
        for (int n = 0; n < cases[i].count; n++) {
            assert_int_equal(touch[n].feature, cases[i].feature[n]);
            assert_true(fabs(touch[n].gap) <= 1e-15);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(touch[n].normal[k] - cases[i].normal[n][k]) <= 1e-15);
        }
    }
}

// Behind a wall the way back is through it, however deep.
static void behind_a_wall_the_way_back_is_through_it(void **state) {
    (void)state;
    const two_shapes s = {.dim = 3,
                          .shape = {{.kind = TALUS_SHAPE_SPHERE, .radius = 0.5},
                                    {.kind = TALUS_SHAPE_CONTAINER, .half = {1.0, 1.0, 1.0}}},
                          .pose = {{.x = {4.0, 0.0, 0.0}, .q = {1.0}}, {.q = {1.0}}}};
    tl_touch touch[TWO_SHAPES_MOST];
    assert_int_equal(two_shapes_touches(ctx, &s, 0.0, touch), 1);
    assert_int_equal(touch[0].feature, 1);
    assert_true(touch[0].gap == -3.5 && touch[0].normal[0] == -1.0);
}

static void the_normal_of_a_half_space_need_not_have_length_1(void **state) {
    (void)state;
    const double lengths[] = {1.0, 1e-300, 1e300, 5e-324};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const two_shapes s = {
            .dim = 3,
            .shape = {{.kind = TALUS_SHAPE_SPHERE, .radius = 0.5},
                      {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {-lengths[i], 0.0, lengths[i]}}},
            .pose = {{.x = {-1.0, 7.0, 1.0}, .q = {1.0}}, {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST];
        assert_int_equal(two_shapes_touches(ctx, &s, 10.0, touch), 1);
        assert_true(fabs(touch[0].gap - (sqrt(2.0) - 0.5)) <= 1e-15);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(gaps_are_those_of_the_oracle),
        TEST(the_normal_is_the_gradient_of_the_gap),
        TEST(rotating_the_world_rotates_the_contact),
        TEST(order_turns_the_normal_round),
        TEST(degenerate_positions_have_a_normal),
        TEST(walls_are_features),
        TEST(behind_a_wall_the_way_back_is_through_it),
        TEST(the_normal_of_a_half_space_need_not_have_length_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
