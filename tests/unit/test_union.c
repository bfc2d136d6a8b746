// SPDX-License-Identifier: Apache-2.0
// Clumps and worms: their touches against those of their parts compared one by one, in any order
// of items and for any number of threads; their mass against formulas; and what is refused.
// ctest labels: threads
#include "base/rng.h"
#include "collide/collide.h"
#include "support/context.h"
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BALLS = 4, ITEMS = 120, MOST = 20000 };

static const double pi = 3.14159265358979323846;

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

// ---- touches -----------------------------------------------------------------------------------

// Items made of balls: clumps of one to four (or a single ball), each in a place in its frame.
typedef struct heap {
    int32_t dim, count;
    double period[3];
    int32_t balls[ITEMS];
    double radius[ITEMS][BALLS], centre[ITEMS][BALLS][3];
    bool immovable[ITEMS], displaced[ITEMS];
    tl_pose place[ITEMS], pose[ITEMS];
} heap;

static heap h;

typedef struct expected {
    int32_t a, b;
    double gap, normal[3], point[3]; // on a, from the pose of a
} expected;

static expected want[MOST];
static int64_t wanted;

static void heap_scatter(tl_rng *rng, int32_t dim, const double period[3], double width) {
    memset(&h, 0, sizeof h);
    h.dim = dim;
    h.count = ITEMS;
    memcpy(h.period, period, sizeof h.period);
    for (int32_t i = 0; i < ITEMS; i++) {
        h.balls[i] = 1 + (int32_t)(BALLS * tl_rng_unit(rng));
        h.immovable[i] = tl_rng_unit(rng) < 0.2;
        h.displaced[i] = tl_rng_unit(rng) < 0.5;
        random_turn(rng, dim, h.place[i].q);
        random_turn(rng, dim, h.pose[i].q);
        for (int k = 0; k < dim; k++) {
            h.place[i].x[k] = tl_rng_range(rng, -1.0, 1.0);
            h.pose[i].x[k] = tl_rng_range(rng, -width, width);
        }
        for (int32_t j = 0; j < h.balls[i]; j++) {
            h.radius[i][j] = tl_rng_range(rng, 0.2, 0.6);
            for (int k = 0; k < dim; k++) h.centre[i][j][k] = tl_rng_range(rng, -0.5, 0.5);
        }
    }
}

// Where ball j of item i is in the world.
static void heap_ball(int32_t i, int32_t j, double x[3]) {
    double p[3];
    memcpy(p, h.centre[i][j], sizeof p);
    if (h.displaced[i]) {
        turn_vector(h.place[i].q, false, p, p);
        for (int k = 0; k < 3; k++) p[k] += h.place[i].x[k];
    }
    turn_vector(h.pose[i].q, false, p, p);
    for (int k = 0; k < 3; k++) x[k] = h.pose[i].x[k] + p[k];
}

static void heap_expect(double reach) {
    wanted = 0;
    for (int32_t a = 0; a < h.count; a++)
        for (int32_t b = a + 1; b < h.count; b++)
            for (int32_t i = 0; i < h.balls[a]; i++)
                for (int32_t j = 0; j < h.balls[b]; j++) {
                    double x[3], y[3], d[3], length = 0.0;
                    if (h.immovable[a] && h.immovable[b]) continue;
                    heap_ball(a, i, x);
                    heap_ball(b, j, y);
                    for (int k = 0; k < 3; k++) {
                        d[k] = x[k] - y[k];
                        while (h.period[k] > 0.0 && d[k] > 0.5 * h.period[k]) d[k] -= h.period[k];
                        while (h.period[k] > 0.0 && d[k] < -0.5 * h.period[k]) d[k] += h.period[k];
                        length += d[k] * d[k];
                    }
                    length = sqrt(length);
                    const double gap = length - h.radius[a][i] - h.radius[b][j];
                    if (gap > reach) continue;
                    assert_true(wanted < MOST);
                    expected *e = &want[wanted++];
                    *e = (expected){.a = a, .b = b, .gap = gap};
                    for (int k = 0; k < 3; k++) {
                        e->normal[k] = d[k] / length;
                        e->point[k] = x[k] - h.radius[a][i] * e->normal[k] - h.pose[a].x[k];
                    }
                }
}

static tl_collide *heap_collide(talus_context *context) {
    tl_collide *c = NULL;
    assert_int_equal(tl_collide_create(context, h.dim, h.period, &c), TALUS_OK);
    for (int32_t i = 0; i < h.count; i++) {
        talus_shape_def ball[BALLS] = {0}, clump = {.kind = TALUS_SHAPE_CLUMP};
        talus_part part[BALLS] = {0};
        int32_t shape, item;
        for (int32_t j = 0; j < h.balls[i]; j++) {
            ball[j] = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = h.radius[i][j]};
            part[j] = (talus_part){.shape = &ball[j], .orientation = {2.0}};
            memcpy(part[j].position, h.centre[i][j], sizeof part[j].position);
        }
        clump.part = part;
        clump.part_count = h.balls[i];
        assert_int_equal(tl_collide_add_shape(c, &clump, &shape), TALUS_OK);
        assert_int_equal(tl_collide_add_item_at(c, shape, h.displaced[i] ? &h.place[i] : NULL, i,
                                                h.immovable[i], &item),
                         TALUS_OK);
        assert_int_equal(item, i);
    }
    return c;
}

// Every point that was expected is there, and no other; all are in order and satisfy (C1).
static void heap_check(const tl_collide *c) {
    int64_t count, found = 0;
    const tl_touch *t = tl_collide_touches(c, &count);
    assert_int_equal(count, wanted);
    for (int64_t i = 0; i < count; i++) {
        const bool after =
            i == 0 || t[i].a > t[i - 1].a ||
            (t[i].a == t[i - 1].a &&
             (t[i].b > t[i - 1].b || (t[i].b == t[i - 1].b && t[i].feature > t[i - 1].feature)));
        assert_true(after);
        for (int64_t e = 0; e < wanted; e++) {
            double off = fabs(want[e].gap - t[i].gap);
            for (int k = 0; k < 3; k++)
                off += fabs(want[e].normal[k] - t[i].normal[k]) +
                       fabs(want[e].point[k] - t[i].arm_a[k]);
            if (want[e].a == t[i].a && want[e].b == t[i].b && off < 1e-12) found++;
        }
        for (int k = 0; k < 3; k++) { // image: a multiple of the period
            const double image = h.pose[t[i].a].x[k] + t[i].arm_a[k] - h.pose[t[i].b].x[k] -
                                 t[i].arm_b[k] - t[i].gap * t[i].normal[k];
            const double turns = h.period[k] > 0.0 ? rint(image / h.period[k]) : 0.0;
            near(image, turns * h.period[k], 1e-12);
        }
    }
    assert_int_equal(found, wanted);
}

static void touches_are_those_of_the_parts(void **state) {
    (void)state;
    tl_rng rng = {.state = 5};
    const double periods[3][3] = {{0.0}, {9.0, 0.0, 0.0}, {9.0, 8.0, 0.0}};
    for (int32_t dim = 2; dim <= 3; dim++)
        for (int p = 0; p < 3; p++) {
            heap_scatter(&rng, dim, periods[p], dim == 2 ? 7.0 : 3.5);
            heap_expect(0.05);
            assert_true(wanted > 100);
            tl_collide *c = heap_collide(ctx);
            assert_int_equal(tl_collide_detect(c, h.pose, 0.05, 1), TALUS_OK);
            heap_check(c);
            tl_collide_destroy(c);
        }
}

// A feature belongs to the two parts, not to the moment or the number of other touches.
static void features_persist(void **state) {
    (void)state;
    tl_rng rng = {.state = 6};
    heap_scatter(&rng, 3, (const double[3]){0.0}, 3.0);
    tl_collide *c = heap_collide(ctx);
    int64_t before, after, kept = 0;
    assert_int_equal(tl_collide_detect(c, h.pose, 0.05, 1), TALUS_OK);
    const tl_touch *t = tl_collide_touches(c, &before);
    tl_touch *old = malloc((size_t)before * sizeof *old);
    assert_non_null(old);
    memcpy(old, t, (size_t)before * sizeof *old);
    for (int32_t i = 0; i < h.count; i++) h.pose[i].x[0] += i % 2 ? 1e-3 : 0.0;
    assert_int_equal(tl_collide_detect(c, h.pose, 0.05, 1), TALUS_OK);
    t = tl_collide_touches(c, &after);
    for (int64_t i = 0; i < before; i++)
        for (int64_t k = 0; k < after; k++) {
            if (old[i].a != t[k].a || old[i].b != t[k].b || old[i].feature != t[k].feature)
                continue;
            for (int e = 0; e < 3; e++) near(old[i].normal[e], t[k].normal[e], 0.02);
            kept++;
        }
    assert_true(kept > before * 9 / 10);
    free(old);
    tl_collide_destroy(c);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    static const int32_t threads[] = {1, 2, 3, 8};
    enum { SIDE = 16, MANY = SIDE * SIDE * SIDE };
    static tl_pose pose[MANY];
    tl_rng rng = {.state = 7};
    talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.35};
    const talus_part part[2] = {{.shape = &ball, .position = {-0.3}, .orientation = {1.0}},
                                {.shape = &ball, .position = {0.3}, .orientation = {1.0}}};
    const talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 2};
    tl_collide *c = NULL;
    tl_touch *first = NULL;
    int64_t count = 0;
    int32_t shape, item;
    assert_int_equal(tl_collide_create(ctx, 3, NULL, &c), TALUS_OK);
    assert_int_equal(tl_collide_add_shape(c, &clump, &shape), TALUS_OK);
    for (int32_t i = 0; i < MANY; i++) {
        assert_int_equal(tl_collide_add_item(c, shape, i, false, &item), TALUS_OK);
        random_turn(&rng, 3, pose[i].q);
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3; k++) pose[i].x[k] = at[k] + tl_rng_range(&rng, -0.1, 0.1);
    }
    for (int k = 0; k < 4; k++) {
        int64_t n;
        assert_int_equal(tl_collide_detect(c, pose, 0.1, threads[k]), TALUS_OK);
        const tl_touch *t = tl_collide_touches(c, &n);
        if (k == 0) {
            count = n;
            first = malloc((size_t)n * sizeof *first);
            assert_non_null(first);
            memcpy(first, t, (size_t)n * sizeof *t);
        }
        assert_int_equal(n, count);
        assert_true(n > MANY);
        assert_memory_equal(t, first, (size_t)n * sizeof *t);
    }
    free(first);
    tl_collide_destroy(c);
}

// At the joint of a worm both capsules have the same ball: one contact, not two.
static void a_joint_touches_once(void **state) {
    (void)state;
    static const double point[9] = {-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.2, 0.0};
    two_shapes s = {.dim = 3, .pose = {{.q = {1.0}}, {.q = {1.0}}}};
    s.shape[0] = (talus_shape_def){
        .kind = TALUS_SHAPE_WORM, .radius = 0.1, .point = point, .point_count = 3};
    s.shape[1] = (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    tl_touch t[TWO_SHAPES_MOST];
    s.pose[1].x[1] = -0.601; // below the joint, whose ball is nearest
    assert_int_equal(two_shapes_touches(ctx, &s, 0.01, t), 1);
    near(t[0].gap, 0.001, 1e-12);
    s.pose[1].x[1] = 0.59; // above, within the bend: each capsule by itself
    const int count = two_shapes_touches(ctx, &s, 0.2, t);
    assert_int_equal(count, 2);
    assert_true(fabs(t[0].normal[0] - t[1].normal[0]) > 0.1);
}

// ---- mass --------------------------------------------------------------------------------------

static talus_mass mass_of(int32_t dim, const talus_shape_def *shape) {
    talus_mass out;
    const talus_status status = talus_shape_mass(ctx, dim, shape, 2.0, &out);
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    return out;
}

// Inertia tensor about the centre, in the shape's frame.
static void tensor_of(const talus_mass *m, double out[3][3]) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) out[a][b] = 0.0;
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        double axis[3];
        turn_vector(m->axes, false, e, axis);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) out[a][b] += m->inertia[k] * axis[a] * axis[b];
    }
}

// Two balls of radius 1 with centres 2 c apart share a lens: two caps of height 1 − c, each of
// volume pi (1 − c)² (2 + c) / 3. Half of the union is the ball x < c about 0 (the plane between
// them at x = c), whose moments are integrals of the disks at x:
//     ∫ pi (1 − x²) (1, (x − c)², (1 − x²)/4) dx over (−1, c).
static void two_balls_that_overlap(void **state) {
    (void)state;
    for (int k = 0; k <= 20; k++) {
        const double c = 0.05 * k;
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0};
        const talus_part part[2] = {
            {.shape = &ball, .position = {3.0 - c, 1.0, -2.0}, .orientation = {1.0}},
            {.shape = &ball, .position = {3.0 + c, 1.0, -2.0}, .orientation = {1.0}}};
        const talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 2};
        const talus_mass m = mass_of(3, &clump);
        const double volume = 8.0 / 3.0 * pi - 2.0 * pi * (1 - c) * (1 - c) * (2 + c) / 3.0;
        // ∫ (1 − x²)(x − c)² and ∫ (1 − x²)²/4 over (−1, c), by antiderivatives
        double along = 0.0, disk = 0.0;
        for (int side = 0; side < 2; side++) {
            const double x = side ? c : -1.0, sign = side ? 1.0 : -1.0;
            along += sign * (c * c * x - c * x * x + (1 - c * c) * x * x * x / 3 +
                             c * x * x * x * x / 2 - pow(x, 5) / 5);
            disk += sign * 0.25 * (x - 2 * x * x * x / 3 + pow(x, 5) / 5);
        }
        const double axial = 2.0 * 2.0 * pi * 2.0 * disk, across = 2.0 * 2.0 * pi * (along + disk);
        double j[3][3];
        tensor_of(&m, j);
        near(m.mass, 2.0 * volume, 1e-6);
        near(m.centre[0], 3.0, 1e-7);
        near(m.centre[1], 1.0, 1e-7);
        near(m.centre[2], -2.0, 1e-7);
        near(j[0][0], axial, 1e-6);
        near(j[1][1], across, 1e-6);
        near(j[2][2], across, 1e-6);
        near(j[0][1], 0.0, 1e-6);
    }
}

// Parts that do not overlap: the sum, by the parallel axes theorem, to rounding.
static void parts_that_do_not_overlap(void **state) {
    (void)state;
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    const talus_shape_def box = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 1.0, 1.5}};
    const double half = sqrt(0.5);
    const talus_part part[2] = {
        {.shape = &ball, .position = {2.0, 0.0, 0.0}, .orientation = {1.0}},
        {.shape = &box, .position = {-1.0, 0.0, 0.0}, .orientation = {half, 0.0, 0.0, half}}};
    const talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 2};
    const talus_mass m = mass_of(3, &clump);
    const double mb = 2.0 * pi / 6.0, mq = 2.0 * 6.0, total = mb + mq;
    const double x = (2.0 * mb - mq) / total;
    const double steiner = mb * (2.0 - x) * (2.0 - x) + mq * (1.0 + x) * (1.0 + x);
    const double jx =
        0.1 * mb + mq * (0.25 + 2.25) / 3.0; // a quarter turn: x and y of the box change
    const double jy = 0.1 * mb + mq * (1.0 + 2.25) / 3.0 + steiner;
    const double jz = 0.1 * mb + mq * (0.25 + 1.0) / 3.0 + steiner;
    double j[3][3];
    tensor_of(&m, j);
    near(m.mass, total, 1e-13);
    near(m.centre[0], x, 1e-14);
    near(j[0][0], jx, 1e-12);
    near(j[1][1], jy, 1e-12);
    near(j[2][2], jz, 1e-12);
}

static void same_mass(const talus_mass *m, const talus_mass *n, double tolerance) {
    double j[3][3], i[3][3];
    tensor_of(m, j);
    tensor_of(n, i);
    near(m->mass, n->mass, tolerance * n->mass);
    for (int a = 0; a < 3; a++) {
        near(m->centre[a], n->centre[a], tolerance);
        for (int b = 0; b < 3; b++) near(j[a][b], i[a][b], tolerance * n->mass);
    }
}

// Pieces that overlap and make up a shape with a formula of its own: a straight worm of several
// capsules is a capsule, two boxes are a box; any shape twice is that shape.
static void unions_that_are_a_shape(void **state) {
    (void)state;
    static const double point[12] = {0.0, 0.0, -1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0, 0.0, 1.0};
    static const double flat[9] = {0.0, -1.0, 0.0, 0.0, 0.2, 0.0, 0.0, 1.0, 0.0};
    const talus_shape_def capsule = {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.4, .height = 2.0};
    talus_shape_def worm = {
        .kind = TALUS_SHAPE_WORM, .radius = 0.4, .point = point, .point_count = 4};
    talus_mass m = mass_of(3, &worm), n = mass_of(3, &capsule);
    same_mass(&m, &n, 1e-6);
    worm.point = flat;
    worm.point_count = 3;
    m = mass_of(2, &worm), n = mass_of(2, &capsule);
    near(m.mass, n.mass, 1e-9);
    near(m.inertia[2], n.inertia[2], 1e-9);
    near(m.axes[0], 1.0, 0.0);

    const talus_shape_def big = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 0.5, 0.3}};
    const talus_shape_def piece = {.kind = TALUS_SHAPE_BOX, .half = {0.7, 0.5, 0.3}};
    const talus_part two[2] = {{.shape = &piece, .position = {-0.3}, .orientation = {1.0}},
                               {.shape = &piece, .position = {0.3}, .orientation = {1.0}}};
    const talus_shape_def boxes = {.kind = TALUS_SHAPE_CLUMP, .part = two, .part_count = 2};
    for (int32_t dim = 2; dim <= 3; dim++) {
        m = mass_of(dim, &boxes), n = mass_of(dim, &big);
        same_mass(&m, &n, 1e-9);
    }
    static const double corner[15] = {0.0, 0.0, 1.0,  1.0,  0.0, -0.5, -1.0, 0.3,
                                      0.0, 0.2, -1.0, -0.2, 0.1, 0.9,  -0.6};
    const talus_shape_def any[] = {
        capsule,
        big,
        {.kind = TALUS_SHAPE_SPHERE, .radius = 0.7},
        {.kind = TALUS_SHAPE_POLYHEDRON, .point = corner, .point_count = 5},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .height = 1.2},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.5, .height = 1.2},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {1.0, 0.7, 0.3}},
        {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {1.0, 0.7, 0.3}, .exponent = {2.5, 3.5}}};
    tl_rng rng = {.state = 8};
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        talus_part part[2] = {{.shape = &any[i]}, {.shape = &any[i]}};
        random_turn(&rng, 3, part[0].orientation);
        for (int k = 0; k < 3; k++) part[0].position[k] = tl_rng_range(&rng, -1.0, 1.0);
        part[1] = part[0];
        const talus_shape_def once = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 1};
        const talus_shape_def twice = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 2};
        m = mass_of(3, &twice), n = mass_of(3, &once);
        same_mass(&m, &n, 1e-6);
    }
}

// ---- what is refused ---------------------------------------------------------------------------

static void refused(int32_t dim, const talus_shape_def *shape, const char *text) {
    assert_int_equal(talus_shape_check(ctx, dim, shape), TALUS_ERR_ARG);
    if (!strstr(talus_context_last_error(ctx), text))
        fail_msg("'%s' is not in: %s", text, talus_context_last_error(ctx));
}

static void wrong_unions(void **state) {
    (void)state;
    static const double point[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    static const double wrong[6] = {0.0, 0.0, 0.0, 0.0, NAN, 0.0};
    talus_shape_def worm = {.kind = TALUS_SHAPE_WORM, .point = point, .point_count = 2};
    refused(3, &worm, "worm: radius = 0");
    worm.radius = 0.1;
    assert_int_equal(talus_shape_check(ctx, 3, &worm), TALUS_OK);
    worm.point_count = 1;
    refused(3, &worm, "at least two");
    worm.point_count = 3;
    refused(3, &worm, "points 1 and 2");
    worm.point = wrong;
    worm.point_count = 2;
    refused(3, &worm, "must be finite");

    talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0};
    talus_part part = {.shape = &ball, .orientation = {1.0}};
    talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = &part};
    refused(3, &clump, "0 parts");
    clump.part_count = 1;
    assert_int_equal(talus_shape_check(ctx, 3, &clump), TALUS_OK);
    talus_part nested = {.shape = &clump, .orientation = {1.0}};
    const talus_shape_def outer = {.kind = TALUS_SHAPE_CLUMP, .part = &nested, .part_count = 1};
    refused(3, &outer, "part 0 is a clump");
    part.orientation[0] = 0.0;
    refused(3, &clump, "orientation of part 0");
    part.orientation[0] = 1.0;
    part.position[2] = 1.0;
    refused(2, &clump, "leaves the plane");
    part.position[2] = 0.0;
    ball.radius = -1.0;
    refused(3, &clump, "clump: part 0: sphere: radius = -1");
    ball.kind = TALUS_SHAPE_HALF_SPACE;
    refused(3, &clump, "unbounded half-space");
}

// Every request for memory fails once; nothing is left behind.
static void memory_may_run_out(void **state) {
    (void)state;
    tl_rng rng = {.state = 9};
    heap_scatter(&rng, 3, (const double[3]){0.0}, 3.0);
    static const double point[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0};
    const talus_shape_def worm = {
        .kind = TALUS_SHAPE_WORM, .radius = 0.3, .point = point, .point_count = 3};
    const talus_part part[2] = {
        {.shape = &worm, .orientation = {1.0}},
        {.shape = &worm, .position = {0.0, 0.0, 1.0}, .orientation = {1.0}}};
    const talus_shape_def clump = {.kind = TALUS_SHAPE_CLUMP, .part = part, .part_count = 2};
    bool done = false;
    for (int64_t fail_at = 1; !done; fail_at++) {
        test_alloc counted = {0};
        const talus_context_def def = test_alloc_def(&counted);
        talus_context *own = NULL;
        tl_collide *c = NULL;
        talus_mass mass;
        int32_t shape, item;
        assert_int_equal(talus_context_create(&def, &own), TALUS_OK);
        counted.fail_at = counted.requests + fail_at;
        talus_status status = tl_collide_create(own, 3, NULL, &c);
        if (status == TALUS_OK) status = tl_collide_add_shape(c, &clump, &shape);
        for (int32_t i = 0; status == TALUS_OK && i < 12; i++) {
            status = tl_collide_add_item_at(c, shape, &h.place[i], i, false, &item);
        }
        if (status == TALUS_OK) status = tl_collide_detect(c, h.pose, 0.1, 1);
        if (status == TALUS_OK) status = talus_shape_mass(own, 3, &clump, 1.0, &mass);
        assert_true(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        done = status == TALUS_OK;
        tl_collide_destroy(c);
        talus_context_destroy(own);
        assert_int_equal(counted.live, 0);
        assert_int_equal(counted.bad_releases, 0);
        assert_true(fail_at < 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(touches_are_those_of_the_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(features_persist, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_make_no_difference, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_joint_touches_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_balls_that_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_that_do_not_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unions_that_are_a_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_unions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("union", tests, NULL, NULL);
}
