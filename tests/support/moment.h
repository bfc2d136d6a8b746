// SPDX-License-Identifier: Apache-2.0
// Moments made by hand: bodies and contacts one by one. To be included after cmocka.h.
#ifndef TALUS_TESTS_MOMENT_H
#define TALUS_TESTS_MOMENT_H
#include "support/context.h"
#include "talus/observe.h"
#include <math.h>
#include <string.h>

enum { MOMENT_BODIES = 4096, MOMENT_CONTACTS = 8192, MOMENT_SHAPES = 16 };

typedef struct test_moment {
    talus_moment m;
    talus_shape_def shape[MOMENT_SHAPES];
    talus_material_def material[2];
    double position[3 * MOMENT_BODIES], orientation[4 * MOMENT_BODIES];
    double velocity[3 * MOMENT_BODIES], spin[3 * MOMENT_BODIES], mass[MOMENT_BODIES];
    int32_t shape_of[MOMENT_BODIES], material_of[MOMENT_BODIES], motion[MOMENT_BODIES];
    int32_t a[MOMENT_CONTACTS], b[MOMENT_CONTACTS];
    uint32_t feature[MOMENT_CONTACTS];
    double point[3 * MOMENT_CONTACTS], normal[3 * MOMENT_CONTACTS], gap[MOMENT_CONTACTS];
    double impulse[3 * MOMENT_CONTACTS], slip[3 * MOMENT_CONTACTS];
    uint8_t status[MOMENT_CONTACTS];
} test_moment;

/// Empty, with a step of 1 s, so that impulses are forces.
static inline void moment_begin(test_moment *t, int32_t dim) {
    memset(t, 0, sizeof *t);
    t->m.dim = dim;
    t->m.h = 1.0;
    t->m.gravity[dim - 1] = -9.81;
    t->m.shape = t->shape;
    t->m.material = t->material;
    t->m.materials = 2;
    t->material[0] = t->material[1] = talus_material_default();
    t->m.bodies = (talus_body_view){.position = t->position,
                                    .orientation = t->orientation,
                                    .centre = t->position,
                                    .velocity = t->velocity,
                                    .spin = t->spin,
                                    .mass = t->mass,
                                    .shape = t->shape_of,
                                    .material = t->material_of,
                                    .motion = t->motion};
    t->m.contacts = (talus_contact_view){.a = t->a,
                                         .b = t->b,
                                         .feature = t->feature,
                                         .point = t->point,
                                         .normal = t->normal,
                                         .gap = t->gap,
                                         .impulse = t->impulse,
                                         .velocity = t->slip,
                                         .status = t->status};
}

static inline int32_t moment_shape(test_moment *t, talus_shape_def shape) {
    assert_true(t->m.shapes < MOMENT_SHAPES);
    t->shape[t->m.shapes] = shape;
    return t->m.shapes++;
}

static inline int32_t moment_ball(test_moment *t, double radius) {
    return moment_shape(t, (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = radius});
}

/// A grain of that shape; its centre of mass must be the origin of the shape.
static inline int32_t moment_add(test_moment *t, int32_t shape, double x, double y, double z) {
    const int32_t i = t->m.bodies.count++;
    assert_true(i < MOMENT_BODIES);
    t->shape_of[i] = shape;
    t->position[3 * i] = x, t->position[3 * i + 1] = y, t->position[3 * i + 2] = z;
    t->orientation[4 * i] = 1.0;
    t->mass[i] = 1.0;
    return i;
}

static inline int32_t moment_obstacle(test_moment *t, int32_t shape, double x, double y, double z) {
    const int32_t i = moment_add(t, shape, x, y, z);
    t->motion[i] = TALUS_MOTION_FIXED;
    t->mass[i] = 0.0;
    return i;
}

static inline void moment_velocity(test_moment *t, int32_t i, double x, double y, double z) {
    t->velocity[3 * i] = x, t->velocity[3 * i + 1] = y, t->velocity[3 * i + 2] = z;
}

/// A contact at p with normal n (from b to a) and force f on a.
static inline int32_t moment_touch(test_moment *t, int32_t a, int32_t b, const double p[3],
                                   const double n[3], const double f[3]) {
    const int32_t i = t->m.contacts.count++;
    assert_true(i < MOMENT_CONTACTS);
    t->a[i] = a, t->b[i] = b;
    memcpy(t->point + 3 * i, p, 3 * sizeof *p);
    memcpy(t->normal + 3 * i, n, 3 * sizeof *n);
    memcpy(t->impulse + 3 * i, f, 3 * sizeof *f);
    t->status[i] = f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0;
    return i;
}

/// A contact of two balls of equal size, pressed together with `force`; in a periodic cell the
/// nearest images.
static inline int32_t moment_press(test_moment *t, int32_t a, int32_t b, double force) {
    double d[3], n[3], p[3], f[3], length = 0.0;
    for (int k = 0; k < 3; k++) {
        d[k] = t->position[3 * a + k] - t->position[3 * b + k];
        if (t->m.period[k] > 0.0) d[k] -= t->m.period[k] * rint(d[k] / t->m.period[k]);
        length += d[k] * d[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
        n[k] = d[k] / length;
        p[k] = t->position[3 * a + k] - 0.5 * d[k];
        f[k] = force * n[k];
    }
    return moment_touch(t, a, b, p, n, f);
}

/// One scalar of a moment.
static inline double moment_measure(const test_moment *t, const talus_region *region,
                                    const char *name) {
    talus_observer *o = NULL;
    double value = NAN;
    const talus_status made = talus_observer_create(ctx, t->m.dim, &name, 1, region, &o);
    if (made != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    if (talus_observer_measure(o, &t->m, &value) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(ctx));
    talus_observer_destroy(o);
    return value;
}

#endif // TALUS_TESTS_MOMENT_H
