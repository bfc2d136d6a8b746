// SPDX-License-Identifier: Apache-2.0
#include "support/two_shapes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// Each difference in these identities is rounded a few times, in proportion to the lengths in it.
static void two_shapes_judge(const two_shapes *s, const tl_touch *t, double reach) {
    double length = 0.0, scale = 1.0;
    assert_int_equal(t->a, 0);
    assert_int_equal(t->b, 1);
    assert_true(t->gap <= reach);
    for (int k = 0; k < 3; k++) {
        length += t->normal[k] * t->normal[k];
        scale += fabs(s->pose[0].x[k]) + fabs(s->pose[1].x[k]) + fabs(t->arm_a[k]);
        scale += fabs(t->arm_b[k]);
    }
    // it was turned up to three times, by quaternions whose length is rounded
    assert_true(fabs(sqrt(length) - 1.0) <= 1e-14);
    for (int k = 0; k < 3; k++) {
        const double a = s->pose[0].x[k] + t->arm_a[k], b = s->pose[1].x[k] + t->arm_b[k];
        assert_true(fabs(a - (b + t->gap * t->normal[k])) <= 2e-15 * scale);
    }
}

static tl_collide *two_shapes_search(talus_context *context, const two_shapes *s) {
    const double period[3] = {0.0, 0.0, 0.0};
    tl_collide *c = NULL;
    assert_int_equal(tl_collide_create(context, s->dim, period, &c), TALUS_OK);
    for (int32_t i = 0; i < 2; i++) {
        int32_t shape, item;
        assert_int_equal(tl_collide_add_shape(c, &s->shape[i], &shape), TALUS_OK);
        assert_int_equal(tl_collide_add_item(c, shape, i, i == 1, &item), TALUS_OK);
    }
    return c;
}

void two_shapes_keep(talus_context *context, two_shapes *s) {
    s->kept = two_shapes_search(context, s);
}

void two_shapes_let_go(two_shapes *s) {
    tl_collide_destroy(s->kept);
    s->kept = NULL;
}

int two_shapes_touches(talus_context *context, const two_shapes *s, double reach,
                       tl_touch out[TWO_SHAPES_MOST]) {
    tl_collide *c = s->kept ? s->kept : two_shapes_search(context, s);
    int64_t count;
    assert_int_equal(tl_collide_detect(c, s->pose, reach, 1), TALUS_OK);
    const tl_touch *touch = tl_collide_touches(c, &count);
    assert_true(count <= TWO_SHAPES_MOST);
    for (int64_t i = 0; i < count; i++) {
        out[i] = touch[i];
        two_shapes_judge(s, &out[i], reach);
        assert_true(i == 0 || out[i - 1].feature < out[i].feature);
    }
    if (!s->kept) tl_collide_destroy(c);
    return (int)count;
}

void random_turn(tl_rng *rng, int32_t dim, double q[4]) {
    double length = 0.0;
    for (int k = 0; k < 4; k++) {
        q[k] = dim == 2 && (k == 1 || k == 2) ? 0.0 : tl_rng_normal(rng);
        length += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++) q[k] /= sqrt(length);
}

void turn_vector(const double q[4], bool inverse, const double a[3], double out[3]) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[3][3] = {
        {1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
        {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
        {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)},
    };
    double result[3];
    for (int i = 0; i < 3; i++) {
        result[i] = 0.0;
        for (int k = 0; k < 3; k++) result[i] += (inverse ? m[k][i] : m[i][k]) * a[k];
    }
    for (int i = 0; i < 3; i++) out[i] = result[i];
}

void two_shapes_move(two_shapes *s, const double q[4], const double x[3]) {
    for (int i = 0; i < 2; i++) {
        tl_pose *pose = &s->pose[i];
        const double *p = pose->q;
        const double product[4] = {q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
                                   q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
                                   q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
                                   q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0]};
        turn_vector(q, false, pose->x, pose->x);
        for (int k = 0; k < 3; k++) pose->x[k] += x[k];
        const double length = sqrt(product[0] * product[0] + product[1] * product[1] +
                                   product[2] * product[2] + product[3] * product[3]);
        for (int k = 0; k < 4; k++) pose->q[k] = product[k] / length;
    }
}
