// SPDX-License-Identifier: Apache-2.0
// Contact points of capsules, boxes and polyhedra with each other, with balls and with walls. The
// oracle tries every direction and looks at every corner (support/corners.h).
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

enum { KINDS = 6, POINTS = 10 };

static const double pi = 3.14159265358979323846;

// Ball, capsule, box, plate, simplex, polyhedron; sizes about 1.
static talus_shape_def random_shape(tl_rng *rng, int32_t dim, int kind, double point[3 * POINTS]) {
    talus_shape_def s = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.4};
    if (kind == 1) s = (talus_shape_def){.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .height = 1.2};
    if (kind == 2 || kind == 3) {
        s.kind = TALUS_SHAPE_BOX;
        for (int k = 0; k < 3; k++) s.half[k] = tl_rng_range(rng, 0.2, 1.0);
        if (kind == 3) s.half[1] = 0.01;
    }
    if (kind >= 4) {
        s = (talus_shape_def){.kind = TALUS_SHAPE_POLYHEDRON,
                              .point = point,
                              .point_count = kind == 4 ? dim + 1 : POINTS};
        for (int i = 0; i < 3 * s.point_count; i++)
            point[i] = i % 3 < dim ? tl_rng_range(rng, -1.0, 1.0) : 0.0;
    }
    return s;
}

static two_shapes random_pair(tl_rng *rng, int32_t dim, int trial, double point[2][3 * POINTS]) {
    two_shapes s = {.dim = dim};
    for (int i = 0; i < 2; i++) {
        s.shape[i] =
            random_shape(rng, dim, i == 0 ? trial % KINDS : trial / KINDS % KINDS, point[i]);
        random_turn(rng, dim, s.pose[i].q);
        for (int k = 0; k < dim; k++) s.pose[i].x[k] = tl_rng_range(rng, -0.9, 0.9);
    }
    if (trial / (KINDS * KINDS) % 3 == 1) memcpy(s.pose[1].q, s.pose[0].q, sizeof s.pose[0].q);
    return s;
}

static const tl_touch *deepest(const tl_touch *touch, int count) {
    int best = 0;
    for (int n = 1; n < count; n++)
        if (touch[n].gap < touch[best].gap) best = n;
    return &touch[best];
}

// Of a place beside the border of a face that leans (docs/theory/collision.md).
static const double beside = 1e-9 / 0.02 * 2.0;

static void judge(const two_shapes *s, double reach, int trial) {
    tl_touch touch[TWO_SHAPES_MOST];
    const corners a = corners_of(s->dim, &s->shape[0], &s->pose[0]);
    const corners b = corners_of(s->dim, &s->shape[1], &s->pose[1]);
    const double expected = corners_distance(s->dim, &a, &b);
    const int count = two_shapes_touches(ctx, s, reach, touch);
    assert_true(count <= (s->dim == 2 ? 2 : 4));
    if (expected > reach + 1e-12) assert_int_equal(count, 0);
    if (expected < reach - 1e-12) assert_true(count > 0);
    if (count == 0) return;
    if (!(fabs(deepest(touch, count)->gap - expected) <= 1e-12))
        print_message("%dD trial %d: kinds %d %d: gap %.17g but %.17g\n", (int)s->dim, trial,
                      trial % KINDS, trial / KINDS % KINDS, deepest(touch, count)->gap, expected);
    assert_true(fabs(deepest(touch, count)->gap - expected) <= 1e-12);
    for (int n = 0; n < count; n++) {
        const tl_touch *t = &touch[n];
        double pa[3], pb[3];
        for (int k = 0; k < 3; k++) { // of the cores
            pa[k] = s->pose[0].x[k] + t->arm_a[k] + a.margin * t->normal[k];
            pb[k] = s->pose[1].x[k] + t->arm_b[k] - b.margin * t->normal[k];
        }
        if (s->dim == 2) assert_true(t->normal[2] == 0.0 && t->arm_a[2] == 0.0);
        corners core_a = a, core_b = b;
        core_a.margin = core_b.margin = 0.0;
        const double out_a = corners_outside(s->dim, &core_a, pa);
        const double out_b = corners_outside(s->dim, &core_b, pb);
        if (!(fabs(out_a) <= beside && fabs(out_b) <= beside))
            print_message("%dD trial %d: kinds %d %d: %g %g outside, gap %g, feature %u\n",
                          (int)s->dim, trial, trial % KINDS, trial / KINDS % KINDS, out_a, out_b,
                          t->gap, t->feature);
        assert_true(fabs(out_a) <= beside && fabs(out_b) <= beside);
        for (int m = 0; m < n; m++) { // no place twice
            double square = 0.0;
            for (int k = 0; k < 3; k++) square += pow(t->arm_b[k] - touch[m].arm_b[k], 2.0);
            if (!(square > 1e-14))
                print_message("%dD trial %d: kinds %d %d: features %u and %u are %g apart\n",
                              (int)s->dim, trial, trial % KINDS, trial / KINDS % KINDS,
                              touch[m].feature, t->feature, sqrt(square));
            assert_true(square > 1e-14);
        }
    }
}

static void points_are_on_the_surfaces_and_the_deepest_is_there(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        tl_rng rng = {.state = 61};
        const int trials = trials_of(dim == 2 ? 4000 : 1500);
        for (int trial = 0; trial < trials; trial++) {
            double point[2][3 * POINTS];
            const two_shapes s = random_pair(&rng, dim, trial, point);
            const int reach = trial / (3 * KINDS * KINDS) % 3;
            judge(&s, reach == 0 ? 0.0 : reach == 1 ? 0.05 : 3.0, trial);
        }
    }
}

// The least translation that parts two bodies does part them, and half of it does not.
static void the_gap_is_the_way_out(void **state) {
    (void)state;
    tl_rng rng = {.state = 62};
    for (int trial = 0; trial < trials_of(2000); trial++) {
        const int32_t dim = 2 + trial % 2;
        double point[2][3 * POINTS];
        two_shapes s = random_pair(&rng, dim, trial / 2, point);
        tl_touch touch[TWO_SHAPES_MOST];
        const int count = two_shapes_touches(ctx, &s, 5.0, touch);
        const tl_touch t = *deepest(touch, count);
        const double step = t.gap < 0.0 ? -0.5 * t.gap : 0.1;
        for (int k = 0; k < 3; k++) s.pose[0].x[k] += step * t.normal[k];
        const int moved = two_shapes_touches(ctx, &s, 5.0, touch);
        assert_true(fabs(deepest(touch, moved)->gap - (t.gap + step)) <= 1e-12);
    }
}

// Capsules whose nearest points are a little before the end of one of them: distance, points and
// normal are those of the crossing, whatever the place is called.
static void crossings_beside_an_end(void **state) {
    (void)state;
    tl_rng rng = {.state = 67};
    for (int trial = 0; trial < trials_of(2000); trial++) {
        two_shapes s = {.dim = 3};
        double axis[2][3], n[3], past = 0.6 * pow(10.0, tl_rng_range(&rng, -9.0, -2.0));
        const double up[3] = {0.0, 0.0, 1.0}, apart = tl_rng_range(&rng, 0.1, 1.0);
        const double at[2] = {tl_rng_range(&rng, -0.5, 0.5), 0.6 - past};
        for (int i = 0; i < 2; i++) {
            s.shape[i] =
                (talus_shape_def){.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .height = 1.2};
            random_turn(&rng, 3, s.pose[i].q);
            turn_vector(s.pose[i].q, false, up, axis[i]);
        }
        double length = 0.0;
        for (int k = 0; k < 3; k++) {
            n[k] = axis[0][(k + 1) % 3] * axis[1][(k + 2) % 3] -
                   axis[0][(k + 2) % 3] * axis[1][(k + 1) % 3];
            length += n[k] * n[k];
        }
        if (length < 0.01) continue; // nearly parallel
        for (int k = 0; k < 3; k++) {
            n[k] /= sqrt(length);
            s.pose[0].x[k] = apart * n[k] - at[trial % 2] * axis[0][k];
            s.pose[1].x[k] = -at[1 - trial % 2] * axis[1][k];
        }
        tl_touch touch[TWO_SHAPES_MOST];
        const int count = two_shapes_touches(ctx, &s, trial % 3 == 0 ? 3.0 : 0.6, touch);
        const tl_touch *t = deepest(touch, count);
        assert_true(fabs(t->gap - (apart - 0.6)) <= 1e-14);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(t->normal[k] - n[k]) <= 1e-12);
            assert_true(fabs(s.pose[1].x[k] + t->arm_b[k] - 0.3 * n[k]) <= 1e-12);
        }
    }
}

static void order_and_frame_do_not_matter(void **state) {
    (void)state;
    tl_rng rng = {.state = 63};
    const int trials = trials_of(2000), capsules = 1 + KINDS; // their places are on a line
    for (int trial = 0; trial < 2 * trials; trial++) {
        const int32_t dim = 2 + trial % 2;
        const int kinds = trial < trials ? trial / 2 % (KINDS * KINDS) : capsules;
        double point[2][3 * POINTS], q[4];
        two_shapes s = random_pair(&rng, dim, kinds, point);
        tl_touch touch[TWO_SHAPES_MOST], other[TWO_SHAPES_MOST];
        const int count = two_shapes_touches(ctx, &s, 0.1, touch);
        const two_shapes r = {
            .dim = dim, .shape = {s.shape[1], s.shape[0]}, .pose = {s.pose[1], s.pose[0]}};
        const int swapped = two_shapes_touches(ctx, &r, 0.1, other);
        assert_int_equal(swapped > 0, count > 0);
        if (count == 0) continue;
        const tl_touch *one = deepest(touch, count), *two = deepest(other, swapped);
        assert_true(fabs(one->gap - two->gap) <= 1e-13);
        for (int k = 0; k < 3; k++) // of points in general position there is only one normal
            assert_true(fabs(one->normal[k] + two->normal[k]) <= 1e-9);
        const double shift[3] = {tl_rng_range(&rng, -5.0, 5.0), tl_rng_range(&rng, -5.0, 5.0),
                                 dim == 2 ? 0.0 : tl_rng_range(&rng, -5.0, 5.0)};
        random_turn(&rng, dim, q);
        two_shapes_move(&s, q, shift);
        assert_int_equal(two_shapes_touches(ctx, &s, 0.1, other), count);
        for (int n = 0; n < count; n++) {
            double arm[3];
            assert_true(fabs(other[n].gap - touch[n].gap) <= 1e-12);
            assert_int_equal(other[n].feature, touch[n].feature);
            turn_vector(q, false, touch[n].arm_b, arm);
            for (int k = 0; k < 3; k++) assert_true(fabs(other[n].arm_b[k] - arm[k]) <= 1e-8);
        }
    }
}

// Two boxes face on face, the upper one moved and turned about the vertical: the points span most
// of the area in which the faces overlap (found by counting a lattice), and all of it where that
// has four corners; all gaps are the same.
static void faces_touch_with_their_area(void **state) {
    (void)state;
    tl_rng rng = {.state = 64};
    for (int trial = 0; trial < 300; trial++) {
        const double angle = trial % 3 == 0 ? 0.0 : tl_rng_range(&rng, 0.0, pi);
        two_shapes s = {
            .dim = 3,
            .shape = {{.kind = TALUS_SHAPE_BOX, .half = {0.6, 0.4, 0.3}},
                      {.kind = TALUS_SHAPE_BOX, .half = {0.7, 0.7, 0.2}}},
            .pose = {{.q = {cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)}}, {.q = {1.0}}}};
        s.pose[0].x[0] = tl_rng_range(&rng, -0.6, 0.6);
        s.pose[0].x[1] = tl_rng_range(&rng, -0.6, 0.6);
        s.pose[0].x[2] = 0.5 - 1e-6;
        enum { CELLS = 200 };
        double area = 0.0;
        for (int i = 0; i < CELLS * CELLS; i++) {
            const double x = 0.7 * (2.0 * (i % CELLS + 0.5) / CELLS - 1.0) - s.pose[0].x[0];
            const double y = 0.7 * (2.0 * (i / CELLS + 0.5) / CELLS - 1.0) - s.pose[0].x[1];
            const double u = cos(angle) * x + sin(angle) * y, v = cos(angle) * y - sin(angle) * x;
            if (fabs(u) <= 0.6 && fabs(v) <= 0.4) area += 1.96 / (CELLS * CELLS);
        }
        double turn[4], shift[3] = {0.3, -0.2, 0.9};
        random_turn(&rng, 3, turn);
        tl_touch touch[TWO_SHAPES_MOST];
        two_shapes_move(&s, turn, shift);
        assert_int_equal(two_shapes_touches(ctx, &s, 0.0, touch), 4);
        double p[4][2], centre[2] = {0.0, 0.0}, around[4];
        for (int n = 0; n < 4; n++) {
            double arm[3];
            assert_true(fabs(touch[n].gap + 1e-6) <= 1e-14);
            turn_vector(turn, true, touch[n].arm_b, arm);
            assert_true(fabs(arm[2] - 0.2) <= 1e-14);
            for (int k = 0; k < 2; k++) p[n][k] = arm[k], centre[k] += 0.25 * arm[k];
        }
        int order[4] = {0, 1, 2, 3};
        for (int n = 0; n < 4; n++) around[n] = atan2(p[n][1] - centre[1], p[n][0] - centre[0]);
        for (int n = 1; n < 4; n++)
            for (int k = n; k > 0 && around[order[k - 1]] > around[order[k]]; k--) {
                const int swap = order[k];
                order[k] = order[k - 1], order[k - 1] = swap;
            }
        double spanned = 0.0;
        for (int n = 0; n < 4; n++) {
            const double *a = p[order[n]], *b = p[order[(n + 1) % 4]];
            spanned += 0.5 * (a[0] * b[1] - a[1] * b[0]);
        }
        // a square with its corners cut to a regular octagon keeps 71 % of it
        assert_true(spanned <= area + 0.02 && spanned >= 0.65 * area - 0.02);
        if (angle == 0.0) assert_true(fabs(spanned - area) <= 0.02);
    }
}

// Equal boxes exactly on each other: corners on corners, and the features are corners; whichever
// way rounding goes.
static void equal_boxes_touch_with_their_corners(void **state) {
    (void)state;
    tl_rng rng = {.state = 65};
    uint32_t first[4] = {0};
    for (int trial = 0; trial < 300; trial++) {
        two_shapes s = {.dim = 3,
                        .shape = {{.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.4, 0.3}},
                                  {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.4, 0.3}}},
                        .pose = {{.x = {0.0, 0.0, 0.6}, .q = {1.0}}, {.q = {1.0}}}};
        double turn[4], shift[3] = {0.3, -0.2, 0.9};
        tl_touch touch[TWO_SHAPES_MOST];
        for (int k = 0; k < 3; k++) s.pose[0].x[k] += 1e-14 * tl_rng_normal(&rng);
        random_turn(&rng, 3, turn);
        two_shapes_move(&s, turn, shift);
        assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 4);
        for (int n = 0; n < 4; n++) {
            if (trial == 0) first[n] = touch[n].feature;
            assert_int_equal(touch[n].feature, first[n]);
            assert_true(touch[n].feature < 8);
        }
    }
}

// A box that slides over another one, and turns slowly as it does: its corners stay the features.
static void sliding_keeps_the_features(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        two_shapes s = {.dim = dim,
                        .shape = {{.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.2, 0.2}},
                                  {.kind = TALUS_SHAPE_BOX, .half = {2.0, 1.0, 1.0}}},
                        .pose = {{.q = {1.0}}, {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST];
        uint32_t first[4];
        const int expected = dim == 2 ? 2 : 4;
        if (dim == 2) s.shape[1].half[1] = 1.0;
        for (int step = 0; step <= 300; step++) {
            const double way = step / 300.0, angle = dim == 2 ? 0.0 : 0.5 * way;
            s.pose[0].x[0] = -1.5 + 3.0 * way;
            s.pose[0].x[dim - 1] = 1.2 - 1e-9 * (step % 7);
            s.pose[0].q[0] = cos(angle), s.pose[0].q[3] = sin(angle);
            assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), expected);
            for (int n = 0; n < expected; n++) {
                if (step == 0) first[n] = touch[n].feature;
                assert_int_equal(touch[n].feature, first[n]);
            }
        }
    }
}

// A polygon (3D: prism) that rolls on a box: each corner keeps its feature from the time it comes
// down to the time it leaves, and between two faces there is one point (edge: two) that both have.
static void rolling_keeps_the_features(void **state) {
    (void)state;
    for (int32_t dim = 2; dim <= 3; dim++) {
        double point[3 * 14];
        const int sides = 7, count = dim == 2 ? 7 : 14, at_edge = dim == 2 ? 1 : 2;
        for (int i = 0; i < count; i++) {
            const double angle = 2.0 * pi * (i % sides) / sides;
            point[3 * i] = cos(angle);
            point[3 * i + (dim == 2 ? 1 : 2)] = sin(angle);
            point[3 * i + (dim == 2 ? 2 : 1)] = dim == 2 ? 0.0 : i < sides ? -0.5 : 0.5;
        }
        two_shapes s = {
            .dim = dim,
            .shape = {{.kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = count},
                      {.kind = TALUS_SHAPE_BOX, .half = {20.0, 1.0, 1.0}}},
            .pose = {{.q = {1.0}}, {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST], before[TWO_SHAPES_MOST];
        int had = 0, faces = 0, ever = 0;
        uint32_t seen[14];
        for (int step = 0; step <= 7 * 64; step++) {
            // from face down to face down in 64 steps; the axis of the turn is y in 3D
            const double turn = 2.0 * pi * step / (7.0 * 64.0);
            s.pose[0].q[0] = cos(0.5 * turn);
            s.pose[0].q[dim == 2 ? 3 : 2] = dim == 2 ? sin(0.5 * turn) : -sin(0.5 * turn);
            double low = INFINITY;
            for (int i = 0; i < count; i++) {
                double p[3];
                turn_vector(s.pose[0].q, false, point + 3 * i, p);
                low = fmin(low, p[dim - 1]);
            }
            s.pose[0].x[dim - 1] = 1.0 - low;
            s.pose[0].x[0] = -turn;
            const int now = two_shapes_touches(ctx, &s, 1e-6, touch);
            assert_true(now == at_edge || now == 2 * at_edge);
            faces += now == 2 * at_edge;
            int common = 0;
            for (int n = 0; n < now; n++) {
                bool known = false;
                for (int m = 0; m < had; m++) common += before[m].feature == touch[n].feature;
                for (int m = 0; m < ever; m++) known = known || seen[m] == touch[n].feature;
                if (!known && ever < 14) seen[ever++] = touch[n].feature;
                assert_true(ever <= count); // one feature for each corner
            }
            assert_true(step == 0 || common >= at_edge);
            memcpy(before, touch, sizeof touch);
            had = now;
        }
        assert_int_equal(ever, count);
        assert_int_equal(faces, 7);
    }
}

static void capsules_lie_on_two_points(void **state) {
    (void)state;
    const talus_shape_def rod = {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.1, .height = 1.0};
    const talus_shape_def plate = {.kind = TALUS_SHAPE_BOX, .half = {2.0, 2.0, 0.5}};
    const double level[4] = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};   // along x
    const double crossed[4] = {sqrt(0.5), sqrt(0.5), 0.0, 0.0}; // along y
    tl_touch touch[TWO_SHAPES_MOST];
    two_shapes s = {
        .dim = 3, .shape = {rod, plate}, .pose = {{.x = {0.0, 0.0, 0.6}}, {.q = {1.0}}}};
    memcpy(s.pose[0].q, level, sizeof level);
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 2);
    assert_true(fabs(fabs(touch[0].arm_a[0]) - 0.5) <= 1e-15 && touch[0].normal[2] == 1.0);
    s.pose[0].x[0] = 1.8; // one end over the rim
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 2);
    const double ends[2] = {fmin(touch[0].arm_b[0], touch[1].arm_b[0]),
                            fmax(touch[0].arm_b[0], touch[1].arm_b[0])};
    assert_true(fabs(ends[0] - 1.3) <= 1e-14 && fabs(ends[1] - 2.0) <= 1e-14);

    s = (two_shapes){.dim = 3, .shape = {rod, rod}, .pose = {{.x = {0.3, 0.0, 0.2}}, {.q = {1.0}}}};
    memcpy(s.pose[0].q, level, sizeof level);
    memcpy(s.pose[1].q, level, sizeof level);
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 2); // parallel
    assert_true(fabs(touch[0].gap) <= 1e-15 && fabs(touch[1].gap) <= 1e-15);
    assert_true(fabs(fabs(touch[0].arm_b[0] - touch[1].arm_b[0]) - 0.7) <= 1e-14);
    memcpy(s.pose[1].q, crossed, sizeof crossed);
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 1);
    assert_true(fabs(touch[0].arm_b[0]) <= 1e-15 && fabs(touch[0].arm_a[0] + 0.3) <= 1e-15);

    // 2D, where up is y: standing with one end, lying with two
    s = (two_shapes){
        .dim = 2, .shape = {rod, plate}, .pose = {{.x = {0.0, 2.6}, .q = {1.0}}, {.q = {1.0}}}};
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 1);
    s.pose[0] = (tl_pose){.x = {0.0, 2.1}, .q = {sqrt(0.5), 0.0, 0.0, sqrt(0.5)}};
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 2);
}

// --- walls ---

enum { WALLS = 6 };

static void wall_distances(int32_t dim, const talus_shape_def *wall, const double p[3],
                           double out[WALLS]) {
    for (int k = 0; k < WALLS; k++) out[k] = INFINITY;
    if (wall->kind == TALUS_SHAPE_HALF_SPACE) {
        out[0] = p[dim - 1];
    } else if (wall->kind == TALUS_SHAPE_CONTAINER) {
        for (int k = 0; k < dim; k++) {
            out[2 * k] = wall->half[k] + p[k];
            out[2 * k + 1] = wall->half[k] - p[k];
        }
    } else {
        out[0] = wall->radius - hypot(p[0], p[1]);
        if (dim == 3) out[1] = 0.5 * wall->height + p[2];
        if (dim == 3) out[2] = 0.5 * wall->height - p[2];
    }
}

// Every point is a corner (of a capsule: an end) at the distance of its wall; each wall within
// reach has its deepest corner, and four points at most.
static void corners_at_walls(void **state) {
    (void)state;
    static const talus_shape_def walls[] = {
        {.kind = TALUS_SHAPE_HALF_SPACE},
        {.kind = TALUS_SHAPE_CONTAINER, .half = {1.6, 1.4, 1.9}},
        {.kind = TALUS_SHAPE_DRUM, .radius = 1.7, .height = 2.6}};
    tl_rng rng = {.state = 66};
    int64_t found = 0;
    for (int trial = 0; trial < trials_of(3000); trial++) {
        const int32_t dim = 2 + trial % 2;
        const int kind = (const int[]){1, 4, 5}[trial / 2 % 3];
        double point[3 * POINTS];
        two_shapes s = {.dim = dim,
                        .shape = {random_shape(&rng, dim, kind, point), walls[trial / 6 % 3]}};
        random_turn(&rng, dim, s.pose[0].q);
        random_turn(&rng, dim, s.pose[1].q);
        for (int k = 0; k < dim; k++) {
            s.pose[1].x[k] = tl_rng_range(&rng, -2.0, 2.0);
            s.pose[0].x[k] = s.pose[1].x[k] + tl_rng_range(&rng, -1.2, 1.2);
        }
        const double reach = 0.1;
        const corners c = corners_of(dim, &s.shape[0], &s.pose[0]);
        double distance[CORNERS_MOST][WALLS], lowest[WALLS], least[WALLS];
        int at_wall[WALLS] = {0};
        for (int w = 0; w < WALLS; w++) lowest[w] = least[w] = INFINITY;
        for (int i = 0; i < c.count; i++) {
            double p[3];
            for (int k = 0; k < 3; k++) p[k] = c.at[i][k] - s.pose[1].x[k];
            turn_vector(s.pose[1].q, true, p, p);
            wall_distances(dim, &s.shape[1], p, distance[i]);
            for (int w = 0; w < WALLS; w++) {
                distance[i][w] -= c.margin;
                lowest[w] = fmin(lowest[w], distance[i][w]);
            }
        }
        tl_touch touch[TWO_SHAPES_MOST];
        const int count = two_shapes_touches(ctx, &s, reach, touch);
        for (int n = 0; n < count; n++) {
            const int w = (int)(touch[n].feature / 512);
            bool corner = false;
            assert_true(w < WALLS);
            for (int i = 0; i < c.count; i++) {
                double off = fabs(distance[i][w] - touch[n].gap);
                for (int k = 0; k < 3; k++) // the normal goes from the wall to the body
                    off += fabs(s.pose[0].x[k] + touch[n].arm_a[k] + c.margin * touch[n].normal[k] -
                                c.at[i][k]);
                corner = corner || off <= 1e-13;
            }
            assert_true(corner);
            least[w] = fmin(least[w], touch[n].gap);
            at_wall[w]++;
        }
        for (int w = 0; w < WALLS; w++) {
            assert_int_equal(at_wall[w] > 0, lowest[w] <= reach);
            assert_true(at_wall[w] <= (dim == 2 ? 2 : 4));
            if (at_wall[w] > 0) assert_true(fabs(least[w] - lowest[w]) <= 1e-13);
        }
        found += count;
    }
    assert_true(found > 2000);
}

// A prism of many sides stands on four points whose span is nearly that of all, whichever way up.
static void a_prism_stands_on_four_points(void **state) {
    (void)state;
    double point[3 * 48];
    for (int i = 0; i < 48; i++) {
        point[3 * i] = cos(2.0 * pi * (i % 24) / 24.0);
        point[3 * i + 1] = sin(2.0 * pi * (i % 24) / 24.0);
        point[3 * i + 2] = i < 24 ? -0.5 : 0.5;
    }
    const talus_shape_def prism = {
        .kind = TALUS_SHAPE_POLYHEDRON, .point = point, .point_count = 48};
    const talus_shape_def floors[2] = {{.kind = TALUS_SHAPE_HALF_SPACE},
                                       {.kind = TALUS_SHAPE_BOX, .half = {3.0, 3.0, 1e-3}}};
    for (int trial = 0; trial < 40; trial++) {
        const double half_turn = 0.1 * trial;
        two_shapes s = {.dim = 3,
                        .shape = {prism, floors[trial % 2]},
                        .pose = {{.x = {0.0, 0.0, 0.5 + (trial % 2 ? 1e-3 : 0.0)},
                                  .q = {cos(half_turn), 0.0, 0.0, sin(half_turn)}},
                                 {.q = {1.0}}}};
        tl_touch touch[TWO_SHAPES_MOST];
        assert_int_equal(two_shapes_touches(ctx, &s, 1e-9, touch), 4);
        double most = 0.0;
        for (int n = 0; n < 4; n++)
            for (int m = 0; m < n; m++)
                most = fmax(most, hypot(touch[n].arm_a[0] - touch[m].arm_a[0],
                                        touch[n].arm_a[1] - touch[m].arm_a[1]));
        assert_true(most >= 1.999); // a diameter
        double sum[2] = {0.0, 0.0};
        for (int n = 0; n < 4; n++)
            for (int k = 0; k < 2; k++) sum[k] += touch[n].arm_a[k];
        assert_true(hypot(sum[0], sum[1]) <= 1e-12); // evenly around the axis
    }
}

// A 2D cone is a triangle about its centre of mass.
static void a_flat_cone_is_a_triangle(void **state) {
    (void)state;
    two_shapes s = {.dim = 2,
                    .shape = {{.kind = TALUS_SHAPE_CONE, .radius = 0.3, .height = 0.9},
                              {.kind = TALUS_SHAPE_HALF_SPACE}},
                    .pose = {{.x = {0.0, 0.3}, .q = {1.0}}, {.q = {1.0}}}};
    tl_touch touch[TWO_SHAPES_MOST];
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-12, touch), 2);
    assert_true(fabs(fabs(touch[0].arm_a[0]) - 0.3) <= 1e-15);
    s.pose[0] = (tl_pose){.x = {0.0, 0.6}, .q = {0.0, 0.0, 0.0, 1.0}}; // on its tip
    assert_int_equal(two_shapes_touches(ctx, &s, 1e-12, touch), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(points_are_on_the_surfaces_and_the_deepest_is_there),
        TEST(the_gap_is_the_way_out),
        TEST(crossings_beside_an_end),
        TEST(order_and_frame_do_not_matter),
        TEST(faces_touch_with_their_area),
        TEST(equal_boxes_touch_with_their_corners),
        TEST(sliding_keeps_the_features),
        TEST(rolling_keeps_the_features),
        TEST(capsules_lie_on_two_points),
        TEST(corners_at_walls),
        TEST(a_prism_stands_on_four_points),
        TEST(a_flat_cone_is_a_triangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
