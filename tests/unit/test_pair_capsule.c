// SPDX-License-Identifier: Apache-2.0
// Two capsules: the closed form against the search for any two polytopes, and against the least
// distance of two segments found by cutting one in thirds (the distance from the other is convex
// along it).
#include "base/rng.h"
#include "collide/pair.h"
#include "support/context.h"
#include "support/trials.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double clamped(double s, double half) { return fmax(-half, fmin(half, s)); }

// Distance of the point at s on the first segment from the second one.
static double from_point(const tl_pose pose[2], double u[2][3], double half, double s) {
    double x[3];
    tl_axpy3(pose[0].x, s, u[0], x);
    tl_sub3(x, pose[1].x, x);
    tl_axpy3(x, -clamped(tl_dot3(x, u[1]), half), u[1], x);
    return tl_norm3(x);
}

static double oracle(const tl_pose pose[2], const double half[2]) {
    const double up[3] = {0.0, 0.0, 1.0};
    double u[2][3], low = -half[0], high = half[0];
    for (int i = 0; i < 2; i++) tl_rotate(pose[i].q, up, u[i]);
    for (int k = 0; k < 200; k++) {
        const double one = low + (high - low) / 3.0, two = high - (high - low) / 3.0;
        if (from_point(pose, u, half[1], one) < from_point(pose, u, half[1], two))
            high = two;
        else
            low = one;
    }
    return from_point(pose, u, half[1], low);
}

// Slender capsules like the segments of hair, and stout ones, at all distances from each other.
static void closed_form(void **state) {
    (void)state;
    tl_rng r = {31};
    int found[3] = {0}, crossings = 0;
    for (int trial = 0; trial < trials_of(6000); trial++) {
        talus_shape_def shape[2];
        tl_pose pose[2];
        tl_solid solid[2];
        tl_placed placed[2];
        tl_touch closed[TL_PAIR_MOST], searched[TL_PAIR_MOST];
        double half[2];
        for (int i = 0; i < 2; i++) {
            shape[i] = (talus_shape_def){.kind = TALUS_SHAPE_CAPSULE,
                                         .radius = trial % 2 ? 0.02 : tl_rng_range(&r, 0.1, 0.5),
                                         .height = tl_rng_range(&r, 0.5, 1.5)};
            half[i] = 0.5 * shape[i].height;
            random_turn(&r, 3, pose[i].q);
            for (int k = 0; k < 3; k++) pose[i].x[k] = tl_rng_range(&r, -0.4, 0.4);
            solid[i] = (tl_solid){.shape = shape[i],
                                  .segment = {{0.0, 0.0, -half[i]}, {0.0, 0.0, half[i]}}};
            placed[i] = (tl_placed){.shape = &shape[i], .solid = &solid[i], .pose = &pose[i]};
        }
        if (trial % 7 == 0) { // nearly parallel
            for (int k = 0; k < 4; k++) pose[1].q[k] = pose[0].q[k] + 0.01 * tl_rng_normal(&r);
            tl_quat_normalise(pose[1].q);
        }
        const double reach = tl_rng_range(&r, 0.0, 0.2);
        const int a = tl_pair_capsules(3, &placed[0], &placed[1], reach, closed);
        const int b = tl_pair_polytopes(3, &placed[0], &placed[1], reach, searched);
        const double distance = oracle(pose, half) - shape[0].radius - shape[1].radius;
        assert_int_equal(a, b);
        assert_true((a > 0) == (distance <= reach));
        double deepest = INFINITY;
        for (int k = 0; k < a; k++) {
            double apart[3], between[3];
            deepest = fmin(deepest, closed[k].gap);
            assert_int_equal(closed[k].feature, searched[k].feature);
            // the search ends when it is this near
            assert_true(fabs(closed[k].gap - searched[k].gap) <= 1e-8);
            tl_sub3(closed[k].normal, searched[k].normal, apart);
            assert_true(tl_norm3(apart) <= 1e-5);
            tl_sub3(closed[k].arm_a, searched[k].arm_a, apart);
            assert_true(tl_norm3(apart) <= 1e-5);
            // both points, the gap apart along the normal
            tl_axpy3(pose[0].x, 1.0, closed[k].arm_a, apart);
            tl_sub3(apart, pose[1].x, apart);
            tl_axpy3(closed[k].arm_b, closed[k].gap, closed[k].normal, between);
            tl_sub3(apart, between, apart);
            assert_true(tl_norm3(apart) <= 1e-12);
            crossings += closed[k].feature == 4;
        }
        if (a > 0) assert_true(fabs(deepest - distance) <= 1e-7);
        found[a > 2 ? 2 : a]++;
    }
    assert_true(found[0] > 500 && found[1] > 500 && found[2] > 100 && crossings > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(closed_form, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
