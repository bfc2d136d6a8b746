// SPDX-License-Identifier: Apache-2.0
// The signed distance of convex bodies against trying every direction (support/corners.h), which is
// exact for bodies with corners, and against closed forms.
#include "collide/convex.h"
#include "support/context.h"
#include "support/corners.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 12, KINDS = 8 };

// A shape of a random size up to `size`; `point` is room for the corners of a polyhedron.
static talus_shape_def random_shape(tl_rng *rng, int32_t dim, int kind, double size,
                                    double point[3 * POINTS]) {
    talus_shape_def s = {.kind = TALUS_SHAPE_BOX};
    for (int k = 0; k < 3; k++) s.half[k] = size * tl_rng_range(rng, 0.2, 1.0);
    if (kind == 1) s.half[1] = 0.01 * s.half[0]; // slender
    if (kind == 2) s = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = 0.5 * size};
    if (kind == 3)
        s = (talus_shape_def){.kind = TALUS_SHAPE_CAPSULE, .radius = 0.2 * size, .height = size};
    if (kind >= 4) { // a few points, many, a flat lot of them; a triangle (2D: segment)
        const int count = kind == 4 ? dim + 1 : kind == 5 ? 8 : kind == 6 ? POINTS : dim;
        s = (talus_shape_def){.kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = count};
        for (int i = 0; i < 3 * count; i++)
            point[i] = i % 3 >= dim ? 0.0
                                    : size * tl_rng_range(rng, -1.0, 1.0) *
                                          (kind == 6 && i % 3 == dim - 1 ? 0.02 : 1.0);
    }
    return s;
}

typedef struct couple {
    talus_shape_def shape[2];
    double point[2][3 * POINTS], corner[2][3][3];
    tl_pose pose[2];
    tl_solid *solid[2];
    tl_convex view[2];
    corners body[2];
    double size;
} couple;

static void couple_make(tl_rng *rng, int32_t dim, int trial, couple *c) {
    c->size = pow(10.0, tl_rng_range(rng, -6.0, 6.0));
    for (int i = 0; i < 2; i++) {
        const int kind = i == 0 ? trial % KINDS : trial / KINDS % KINDS;
        c->shape[i] = random_shape(rng, dim, kind, c->size, c->point[i]);
        c->solid[i] = NULL;
        if (kind == 7) { // as a mesh has them
            memcpy(c->corner[i], c->point[i], sizeof c->corner[i]);
            c->view[i] = (tl_convex){.support = tl_convex_support_corners,
                                     .shape = &c->shape[i],
                                     .corner = (const double(*)[3])c->corner[i],
                                     .corners = dim};
        } else {
            assert_int_equal(tl_solid_create(ctx, dim, &c->shape[i], &c->solid[i]), TALUS_OK);
            tl_convex_view(dim, &c->solid[i]->shape, c->solid[i], &c->view[i]);
        }
        random_turn(rng, dim, c->pose[i].q);
        for (int k = 0; k < 3; k++)
            c->pose[i].x[k] = k >= dim ? 0.0 : c->size * tl_rng_range(rng, -1.2, 1.2);
    }
    // half of them parallel, as bodies that rest on each other are
    if (trial / (KINDS * KINDS) % 4 == 1)
        for (int k = 0; k < 4; k++) c->pose[1].q[k] = c->pose[0].q[k];
    if (trial / (KINDS * KINDS) % 16 == 3)
        for (int k = 0; k < 3; k++) c->pose[1].x[k] = c->pose[0].x[k];
    for (int i = 0; i < 2; i++) c->body[i] = corners_of(dim, &c->shape[i], &c->pose[i]);
}

static void couple_clear(couple *c) {
    for (int i = 0; i < 2; i++) tl_solid_destroy(ctx, c->solid[i]);
}

// Positions are of the order of the size, so that everything is rounded in proportion to it.
static void judge(int32_t dim, const couple *c, double reach, double expected, int trial) {
    const double slack = 2e-13 * c->size;
    tl_nearest near;
    const bool found =
        tl_convex_nearest(dim, &c->view[0], &c->pose[0], &c->view[1], &c->pose[1], reach, &near);
    if (!found) {
        assert_true(expected > reach - slack);
        return;
    }
    if (!(fabs(near.gap - expected) <= slack))
        print_message("%dD trial %d: kinds %d %d: %.17g but %.17g\n", (int)dim, trial,
                      trial % KINDS, trial / KINDS % KINDS, near.gap / c->size, expected / c->size);
    assert_true(fabs(near.gap - expected) <= slack);
    // the distance along the normal is the gap, and the points are that far apart
    const double length = sqrt(near.normal[0] * near.normal[0] + near.normal[1] * near.normal[1] +
                               near.normal[2] * near.normal[2]);
    assert_true(fabs(length - 1.0) <= 4e-15);
    if (dim == 2) assert_true(near.normal[2] == 0.0);
    assert_true(fabs(corners_along(&c->body[0], &c->body[1], near.normal) - near.gap) <= slack);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(near.a[k] - near.b[k] - near.gap * near.normal[k]) <= slack);
    // They lie on the surfaces: a place may be 1e-9 of the size beside the border of a face, on the
    // plane of one that leans by a slope of up to 1/0.02 against it, and at a corner as sharp as
    // the slender bodies have it (0.02) that much farther.
    const double beside = 1e-9 / 0.02 / 0.02 * c->size;
    for (int i = 0; i < 2; i++) {
        const double outside = corners_outside(dim, &c->body[i], i == 0 ? near.a : near.b);
        if (!(fabs(outside) <= beside))
            print_message("%dD trial %d: kinds %d %d: point %d is %g outside, gap %g\n", (int)dim,
                          trial, trial % KINDS, trial / KINDS % KINDS, i, outside / c->size,
                          near.gap / c->size);
        assert_true(fabs(outside) <= beside);
    }
}

// The contact points of the same: the deepest has the signed distance, none is beyond reach.
static void judge_points(int32_t dim, const couple *c, double reach, double expected) {
    const double slack = 2e-13 * c->size;
    tl_touch touch[TL_POLYTOPE_MOST];
    const int count =
        tl_polytope_points(dim, &c->view[0], &c->pose[0], &c->view[1], &c->pose[1], reach, touch);
    const uint32_t features = tl_polytope_features(dim, &c->view[0], &c->view[1]);
    double least = INFINITY;
    assert_true(count <= (dim == 2 ? 2 : TL_POLYTOPE_MOST));
    for (int n = 0; n < count; n++) {
        assert_true(touch[n].gap <= reach && touch[n].feature < features);
        assert_true(n == 0 || touch[n - 1].feature < touch[n].feature);
        least = fmin(least, touch[n].gap);
        for (int k = 0; k < 3; k++) {
            const double a = c->pose[0].x[k] + touch[n].arm_a[k];
            const double b = c->pose[1].x[k] + touch[n].arm_b[k];
            assert_true(fabs(a - b - touch[n].gap * touch[n].normal[k]) <= slack);
        }
    }
    if (count == 0) assert_true(expected > reach - slack);
    if (count > 0) assert_true(fabs(least - expected) <= slack);
}

static void distances_of_bodies_with_corners(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        tl_rng rng = {.state = 41};
        const int trials = trials_of(dim == 2 ? 6000 : 1500);
        int apart = 0;
        for (int trial = 0; trial < trials; trial++) {
            couple c;
            couple_make(&rng, dim, trial, &c);
            const double expected = corners_distance(dim, &c.body[0], &c.body[1]);
            judge(dim, &c, 1e30, expected, trial);
            judge(dim, &c, 0.1 * c.size, expected, trial);
            judge_points(dim, &c, trial % 2 ? 0.1 * c.size : 10.0 * c.size, expected);
            apart += expected > 0.0;
            couple_clear(&c);
        }
        assert_true(apart > trials / 8 && apart < 7 * trials / 8);
    }
}

// Moved along the normal until they touch, nearly touch or hardly overlap.
static void touching_bodies(void **state) {
    (void)state;
    static const double gaps[] = {0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9, 1e-5, -1e-5};
    for (int32_t dim = 2; dim <= 3; dim++) {
        tl_rng rng = {.state = 42};
        const int trials = trials_of(dim == 2 ? 6000 : 1500);
        for (int trial = 0; trial < trials; trial++) {
            couple c;
            tl_nearest near;
            couple_make(&rng, dim, trial, &c);
            const double gap = gaps[trial % 9] * c.size;
            assert_true(tl_convex_nearest(dim, &c.view[0], &c.pose[0], &c.view[1], &c.pose[1], 1e30,
                                          &near));
            for (int k = 0; k < 3; k++) c.pose[0].x[k] += (gap - near.gap) * near.normal[k];
            c.body[0] = corners_of(dim, &c.shape[0], &c.pose[0]);
            const double expected = corners_distance(dim, &c.body[0], &c.body[1]);
            judge(dim, &c, c.size, expected, trial);
            judge_points(dim, &c, 1e-3 * c.size, expected);
            couple_clear(&c);
        }
    }
}

// --- curved bodies ---

// A ball, and a box with rounded support, as bodies without corners.
static void support_ball(const tl_convex *c, const double d[3], double out[3]) {
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int k = 0; k < 3; k++) out[k] = c->shape->radius * d[k] / length;
}

// The corner farthest along d of a body that says it has none; a field that its kind does not use
// holds the dimension.
static void support_hidden(const tl_convex *c, const double d[3], double out[3]) {
    const tl_pose here = {.q = {1.0}};
    const corners body = corners_of((int32_t)c->shape->exponent[0], c->shape, &here);
    double most = -INFINITY;
    for (int i = 0; i < body.count; i++) {
        const double value = body.at[i][0] * d[0] + body.at[i][1] * d[1] + body.at[i][2] * d[2];
        if (value <= most) continue;
        most = value;
        for (int k = 0; k < 3; k++) out[k] = body.at[i][k];
    }
}

// Balls given by their support functions only, against the distance of their centres; also inside
// each other, and next to the same centre.
static void balls_by_support(void **state) {
    (void)state;
    tl_rng rng = {.state = 43};
    for (int trial = 0; trial < 600; trial++) {
        const int32_t dim = 2 + trial % 2;
        const double size = pow(10.0, tl_rng_range(&rng, -6.0, 6.0));
        talus_shape_def ball[2];
        tl_convex view[2];
        tl_pose pose[2] = {{.q = {1.0}}, {.q = {1.0}}};
        double d[3], distance = 0.0;
        for (int i = 0; i < 2; i++) {
            ball[i] = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE,
                                        .radius = size * tl_rng_range(&rng, 0.3, 1.0)};
            view[i] = (tl_convex){.support = support_ball, .shape = &ball[i]};
            random_turn(&rng, dim, pose[i].q);
        }
        for (int k = 0; k < 3; k++) {
            const double way = trial % 5 == 0 ? 0.1 : 2.0;
            pose[1].x[k] = k < dim ? size * tl_rng_normal(&rng) : 0.0;
            pose[0].x[k] =
                pose[1].x[k] + (k < dim ? size * way * tl_rng_range(&rng, -1.0, 1.0) : 0);
            d[k] = pose[0].x[k] - pose[1].x[k];
            distance += d[k] * d[k];
        }
        distance = sqrt(distance);
        const double expected = distance - ball[0].radius - ball[1].radius;
        tl_nearest near;
        assert_true(tl_convex_nearest(dim, &view[0], &pose[0], &view[1], &pose[1], 1e30, &near));
        // nearly the same centre: all ways out are about the same, and the polytope runs out of
        // points before it is a ball
        const double slack = trial % 5 == 0 ? 1e-3 : 1e-6;
        if (!(fabs(near.gap - expected) <= slack * size))
            print_message("%dD trial %d: %.17g but %.17g\n", (int)dim, trial, near.gap / size,
                          expected / size);
        assert_true(fabs(near.gap - expected) <= slack * size);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(near.a[k] - near.b[k] - near.gap * near.normal[k]) <= 1e-12 * size);
            // the normal is as good as the root of the gap; with one centre it is any
            if (trial % 5) assert_true(fabs(near.normal[k] - d[k] / distance) <= 1e-2);
        }
    }
}

// Bodies with corners, but as if they were curved: the search by growth ends at the exact answer.
static void corners_by_support(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        tl_rng rng = {.state = 44};
        for (int trial = 0; trial < 1000; trial++) {
            couple c;
            tl_nearest near;
            couple_make(&rng, dim, trial, &c);
            const double expected = corners_distance(dim, &c.body[0], &c.body[1]);
            for (int i = 0; i < 2; i++) {
                if (c.view[i].margin > 0.0 && c.view[1 - i].margin == 0.0) continue;
                c.shape[i].exponent[0] = dim;
                c.view[i] = (tl_convex){
                    .support = support_hidden, .shape = &c.shape[i], .margin = c.view[i].margin};
            }
            assert_true(tl_convex_nearest(dim, &c.view[0], &c.pose[0], &c.view[1], &c.pose[1], 1e30,
                                          &near));
            if (!(fabs(near.gap - expected) <= 1e-6 * c.size))
                print_message("%dD trial %d: kinds %d %d: %.17g but %.17g\n", (int)dim, trial,
                              trial % KINDS, trial / KINDS % KINDS, near.gap / c.size,
                              expected / c.size);
            assert_true(fabs(near.gap - expected) <= 1e-6 * c.size);
            couple_clear(&c);
        }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(distances_of_bodies_with_corners),
        TEST(touching_bodies),
        TEST(balls_by_support),
        TEST(corners_by_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
