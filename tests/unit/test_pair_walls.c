// SPDX-License-Identifier: Apache-2.0
// Boxes and cylinders at half-spaces, in containers and in drums. The oracle looks at all corners,
// or at many points of the rims, with rotations of its own.
#include "support/context.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

// Distances of the point p (in the frame of the wall shape) from its walls, by wall number; walls
// that are not there are infinitely far. The normal of a half-space is "up" here.
enum { WALLS = 6 };

static void wall_distances(int32_t dim, const talus_shape_def *wall, const double p[3],
                           double out[WALLS]) {
    for (int k = 0; k < WALLS; k++) out[k] = INFINITY;
    if (wall->kind == TALUS_SHAPE_HALF_SPACE) {
        out[0] = p[dim - 1];
    } else if (wall->kind == TALUS_SHAPE_CONTAINER) {
        for (int k = 0; k < dim; k++) {
            out[2 * k] = wall->half[k] + p[k];
            if (!(wall->open_top && k == dim - 1)) out[2 * k + 1] = wall->half[k] - p[k];
        }
    } else {
        out[0] = wall->radius - hypot(p[0], p[1]);
        if (dim == 3) out[1] = 0.5 * wall->height + p[2];
        if (dim == 3) out[2] = 0.5 * wall->height - p[2];
    }
}

// A point of the body in the frame of the walls.
static void in_wall_frame(const two_shapes *s, const double body_point[3], double out[3]) {
    turn_vector(s->pose[0].q, false, body_point, out);
    for (int k = 0; k < 3; k++) out[k] += s->pose[0].x[k] - s->pose[1].x[k];
    turn_vector(s->pose[1].q, true, out, out);
}

static const talus_shape_def wall_shapes[] = {
    {.kind = TALUS_SHAPE_HALF_SPACE},
    {.kind = TALUS_SHAPE_CONTAINER, .half = {1.6, 1.4, 1.9}},
    {.kind = TALUS_SHAPE_CONTAINER, .half = {1.6, 1.4, 1.9}, .open_top = true},
    {.kind = TALUS_SHAPE_DRUM, .radius = 1.7, .height = 2.6},
};

enum { WALL_SHAPES = sizeof wall_shapes / sizeof wall_shapes[0] };

static two_shapes body_at_walls(tl_rng *rng, int32_t dim, const talus_shape_def *body,
                                const talus_shape_def *walls) {
    two_shapes s = {.dim = dim, .shape = {*body, *walls}};
    random_turn(rng, dim, s.pose[0].q);
    random_turn(rng, dim, s.pose[1].q);
    for (int k = 0; k < dim; k++) {
        s.pose[1].x[k] = tl_rng_range(rng, -2.0, 2.0);
        s.pose[0].x[k] = s.pose[1].x[k] + tl_rng_range(rng, -1.2, 1.2);
    }
    return s;
}

// Every point is a corner at the distance of its wall. At a mantle every corner within reach is
// there; at a plane those of one face are, the deepest corner of all among them.
static void corners_of_a_box_are_the_contact_points(void **state) {
    (void)state;
    tl_rng rng = {.state = 31};
    const talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.8, 0.3}};
    const double reach = 0.2;
    int64_t found = 0;
    for (int32_t dim = 2; dim <= 3; dim++) {
        const int corners = dim == 2 ? 4 : 8;
        for (int i = 0; i < WALL_SHAPES; i++) {
            for (int trial = 0; trial < trials_of(200); trial++) {
                const two_shapes s = body_at_walls(&rng, dim, &box, &wall_shapes[i]);
                const bool drum = wall_shapes[i].kind == TALUS_SHAPE_DRUM;
                tl_touch touch[TWO_SHAPES_MOST];
                double corner[8][3], distance[8][WALLS], deepest[WALLS];
                int at_wall[WALLS] = {0}, near[WALLS] = {0};
                for (int w = 0; w < WALLS; w++) deepest[w] = INFINITY;
                for (int c = 0; c < corners; c++) {
                    double p[3];
                    for (int k = 0; k < 3; k++)
                        corner[c][k] = k >= dim ? 0.0 : (c >> k & 1 ? 1.0 : -1.0) * box.half[k];
                    in_wall_frame(&s, corner[c], p);
                    wall_distances(dim, &wall_shapes[i], p, distance[c]);
                    for (int w = 0; w < WALLS; w++) {
                        near[w] += distance[c][w] <= reach;
                        deepest[w] = fmin(deepest[w], distance[c][w]);
                    }
                }
                const int count = two_shapes_touches(ctx, &s, reach, touch);
                double least[WALLS];
                for (int w = 0; w < WALLS; w++) least[w] = INFINITY;
                for (int n = 0; n < count; n++) {
                    const int w = (int)(touch[n].feature / 8), c = (int)(touch[n].feature % 8);
                    double arm[3];
                    assert_true(w < WALLS && c < corners);
                    assert_true(fabs(touch[n].gap - distance[c][w]) <= 1e-14);
                    turn_vector(s.pose[0].q, false, corner[c], arm);
                    for (int k = 0; k < 3; k++)
                        assert_true(fabs(touch[n].arm_a[k] - arm[k]) <= 1e-14);
                    at_wall[w]++;
                    least[w] = fmin(least[w], touch[n].gap);
                }
                for (int w = 0; w < WALLS; w++) {
                    const bool mantle = drum && w == 0;
                    assert_true(mantle ? at_wall[w] == near[w] : at_wall[w] <= corners / 2);
                    assert_int_equal(at_wall[w] > 0, near[w] > 0);
                    if (near[w] > 0) assert_true(fabs(least[w] - deepest[w]) <= 1e-14);
                }
                found += count;
            }
        }
    }
    assert_true(found > 1000);
}

// Flat on a slope a box has four points (2D: two), on an edge two (2D: one), on a corner one.
static void a_box_on_a_slope_rests_on_its_face(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        const double slope = 0.4, half[3] = {0.5, 0.3, 0.2}, up = half[dim - 1];
        // turned about z (2D) or y (3D), so that "up" leans over
        const double turn[4] = {cos(0.5 * slope), 0.0, dim == 2 ? 0.0 : sin(0.5 * slope),
                                dim == 2 ? sin(0.5 * slope) : 0.0};
        two_shapes s = {.dim = dim,
                        .shape = {{.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.3, 0.2}},
                                  {.kind = TALUS_SHAPE_HALF_SPACE}},
                        .pose = {{.q = {1.0}}, {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST];
        s.pose[0].x[dim - 1] = up - 1e-3;
        two_shapes_move(&s, turn, (double[3]){3.0, -2.0, 0.0});
        assert_int_equal(two_shapes_touches(ctx, &s, 1e-6, touch), dim == 2 ? 2 : 4);
        double centre[3] = {0.0, 0.0, 0.0};
        for (int n = 0; n < (dim == 2 ? 2 : 4); n++) {
            assert_true(fabs(touch[n].gap + 1e-3) <= 1e-14);
            for (int k = 0; k < 3; k++) centre[k] += touch[n].arm_a[k];
            assert_int_equal(touch[n].feature >> (dim - 1) & 1, 0); // lower corners
        }
        // the points lie evenly about the foot of the centre
        double along = 0.0, length = 0.0;
        for (int k = 0; k < 3; k++) {
            along += centre[k] * touch[0].normal[k];
            length += centre[k] * centre[k];
        }
        assert_true(fabs(fabs(along) - sqrt(length)) <= 1e-14);
        if (dim == 2) continue;
        // on the edge along y
        s.pose[0] = (tl_pose){.q = {cos(0.3), 0.0, sin(0.3), 0.0}};
        s.pose[1] = (tl_pose){.q = {1.0}};
        s.pose[0].x[2] = 0.5 * sin(0.6) + 0.2 * cos(0.6);
        assert_int_equal(two_shapes_touches(ctx, &s, 1e-6, touch), 2);
        assert_true(fabs(touch[0].gap) <= 1e-15 && fabs(touch[1].gap) <= 1e-15);
    }
}

// The lowest of many points of both rims, and all contact points on the rims.
static void rims_of_a_cylinder_are_the_contact_points(void **state) {
    (void)state;
    tl_rng rng = {.state = 32};
    const talus_shape_def rod = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.4, .height = 1.3};
    const double reach = 0.3;
    enum { STEPS = 2000 };
    int64_t found = 0;
    for (int i = 0; i < 3; i++) { // without the drum
        for (int trial = 0; trial < trials_of(60); trial++) {
            const two_shapes s = body_at_walls(&rng, 3, &rod, &wall_shapes[i]);
            tl_touch touch[TWO_SHAPES_MOST];
            double deepest[WALLS], least[WALLS];
            for (int w = 0; w < WALLS; w++) deepest[w] = least[w] = INFINITY;
            for (int step = 0; step < 2 * STEPS; step++) {
                const double angle = 2.0 * pi * (step % STEPS) / STEPS;
                const double rim[3] = {rod.radius * cos(angle), rod.radius * sin(angle),
                                       (step < STEPS ? -0.5 : 0.5) * rod.height};
                double p[3], distance[WALLS];
                in_wall_frame(&s, rim, p);
                wall_distances(3, &wall_shapes[i], p, distance);
                for (int w = 0; w < WALLS; w++) deepest[w] = fmin(deepest[w], distance[w]);
            }
            const int count = two_shapes_touches(ctx, &s, reach, touch);
            for (int n = 0; n < count; n++) {
                const int w = (int)(touch[n].feature / 8);
                double p[3], distance[WALLS], arm[3];
                turn_vector(s.pose[0].q, true, touch[n].arm_a, arm);
                assert_true(fabs(hypot(arm[0], arm[1]) - rod.radius) <= 1e-14);
                assert_true(fabs(fabs(arm[2]) - 0.5 * rod.height) <= 1e-14);
                assert_int_equal(arm[2] > 0.0, touch[n].feature >> 2 & 1);
                in_wall_frame(&s, arm, p);
                wall_distances(3, &wall_shapes[i], p, distance);
                assert_true(fabs(touch[n].gap - distance[w]) <= 1e-14);
                least[w] = fmin(least[w], touch[n].gap);
            }
            // half a step of the oracle is this far from the lowest point
            const double coarse = rod.radius * (1.0 - cos(pi / STEPS)) + 1e-14;
            for (int w = 0; w < WALLS; w++) {
                if (deepest[w] > reach + coarse) assert_true(isinf(least[w]));
                if (deepest[w] > reach - coarse) continue;
                assert_true(least[w] <= deepest[w] + 1e-14 && least[w] >= deepest[w] - coarse);
            }
            found += count;
        }
    }
    assert_true(found > 100);
}

// Standing: four points around the axis, whichever way up and turned about it; lying: two.
static void a_cylinder_stands_on_four_points_and_lies_on_two(void **state) {
    (void)state;
    tl_rng rng = {.state = 33};
    for (int trial = 0; trial < trials_of(100); trial++) {
        const double half_turn = tl_rng_range(&rng, -3.0, 3.0);
        const double turn[4] = {cos(half_turn), 0.0, 0.0, sin(half_turn)};
        const double over[4] = {0.0, turn[0], -turn[3], 0.0}; // half a turn about x after it
        const double down[4] = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};
        two_shapes s = {.dim = 3,
                        .shape = {{.kind = TALUS_SHAPE_CYLINDER, .radius = 0.4, .height = 1.2},
                                  {.kind = TALUS_SHAPE_HALF_SPACE}},
                        .pose = {{.x = {0.0, 0.0, 0.6}, .q = {1.0}}, {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST];
        for (int k = 0; k < 4; k++) s.pose[0].q[k] = trial % 2 ? over[k] : turn[k];
        assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 4);
        double sum[3] = {0.0, 0.0, 0.0};
        for (int n = 0; n < 4; n++) {
            assert_true(fabs(touch[n].gap) <= 1e-12);
            for (int k = 0; k < 3; k++) sum[k] += touch[n].arm_a[k];
        }
        assert_true(hypot(sum[0], sum[1]) <= 1e-14 && fabs(sum[2] + 4.0 * 0.6) <= 1e-12);

        two_shapes lying = s;
        lying.pose[0] = (tl_pose){.x = {0.0, 0.0, 0.4}, .q = {down[0], 0.0, down[2], 0.0}};
        two_shapes_move(&lying, turn, (double[3]){0.0, 0.0, 0.0});
        assert_int_equal(two_shapes_touches(ctx, &lying, 1e-9, touch), 2);
        assert_true(fabs(touch[0].gap) <= 1e-15 && fabs(touch[1].gap) <= 1e-15);
        for (int k = 0; k < 2; k++) sum[k] = touch[0].arm_a[k] + touch[1].arm_a[k];
        assert_true(hypot(sum[0], sum[1]) <= 1e-14);
    }
}

static void a_flat_cylinder_is_a_disk(void **state) {
    (void)state;
    two_shapes s = {.dim = 2,
                    .shape = {{.kind = TALUS_SHAPE_CYLINDER, .radius = 0.4},
                              {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5}},
                    .pose = {{.x = {3.0, 4.0}, .q = {1.0}}, {.q = {1.0}}}};
    tl_touch touch[TWO_SHAPES_MOST];
    assert_int_equal(two_shapes_touches(ctx, &s, 10.0, touch), 1);
    assert_true(fabs(touch[0].gap - 4.1) <= 1e-15 && fabs(touch[0].normal[1] - 0.8) <= 1e-15);
}

// With periodic axes the image of b nearest to a is meant, for every kind of bounded shape.
static void images_of_boxes_are_found(void **state) {
    (void)state;
    tl_rng rng = {.state = 34};
    const talus_shape_def shapes[2] = {{.kind = TALUS_SHAPE_SPHERE, .radius = 0.5},
                                       {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.8, 0.3}}};
    const double period[3] = {5.0, 0.0, 7.0};
    int found = 0;
    for (int trial = 0; trial < trials_of(200); trial++) {
        two_shapes s = {.dim = 3, .shape = {shapes[0], shapes[1]}};
        tl_touch touch[TWO_SHAPES_MOST];
        tl_collide *c = NULL;
        int64_t count;
        random_turn(&rng, 3, s.pose[0].q);
        random_turn(&rng, 3, s.pose[1].q);
        for (int k = 0; k < 3; k++) {
            s.pose[1].x[k] = tl_rng_range(&rng, -3.0, 3.0);
            s.pose[0].x[k] = s.pose[1].x[k] + tl_rng_range(&rng, -1.0, 1.0);
        }
        const int expected = two_shapes_touches(ctx, &s, 0.1, touch);
        // the same with b somewhere else, a whole number of periods away
        tl_pose pose[2] = {s.pose[0], s.pose[1]};
        for (int k = 0; k < 3; k++) pose[1].x[k] += period[k] * (double)(tl_rng_next(&rng) % 7);
        assert_int_equal(tl_collide_create(ctx, 3, period, &c), TALUS_OK);
        for (int32_t i = 0; i < 2; i++) {
            int32_t shape, item;
            assert_int_equal(tl_collide_add_shape(c, &shapes[i], &shape), TALUS_OK);
            assert_int_equal(tl_collide_add_item(c, shape, i, false, &item), TALUS_OK);
        }
        assert_int_equal(tl_collide_detect(c, pose, 0.1, 1), TALUS_OK);
        const tl_touch *t = tl_collide_touches(c, &count);
        assert_int_equal(count, expected);
        for (int n = 0; n < expected; n++) {
            assert_true(fabs(t[n].gap - touch[n].gap) <= 1e-13);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(t[n].normal[k] - touch[n].normal[k]) <= 1e-11);
                assert_true(fabs(t[n].arm_b[k] - touch[n].arm_b[k]) <= 1e-11);
            }
        }
        found += expected;
        tl_collide_destroy(c);
    }
    assert_true(found > 50);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(corners_of_a_box_are_the_contact_points),
        TEST(a_box_on_a_slope_rests_on_its_face),
        TEST(rims_of_a_cylinder_are_the_contact_points),
        TEST(a_cylinder_stands_on_four_points_and_lies_on_two),
        TEST(a_flat_cylinder_is_a_disk),
        TEST(images_of_boxes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
