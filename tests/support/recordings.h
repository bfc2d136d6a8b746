// SPDX-License-Identifier: Apache-2.0
// A small world to record, frames kept in memory to be compared, and a directory for the files.
#ifndef TALUS_TESTS_RECORDINGS_H
#define TALUS_TESTS_RECORDINGS_H
#include "support/context.h"
#include "support/disk_faults.h"
#include "talus/record.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char room[64]; // directory of this run's files
static char path[128];

static inline int make_room(void **state) {
    (void)state;
    (void)snprintf(room, sizeof room, "/tmp/talus-record-XXXXXX");
    if (!mkdtemp(room)) return -1;
    (void)snprintf(path, sizeof path, "%s/run.h5", room);
    return 0;
}

static inline int remove_room(void **state) {
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", room);
    return system(command) == 0 ? 0 : -1;
}

static inline void ok(talus_status status) {
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
}

// Balls above a floor, some with a spin, some against each other.
static inline talus_world *make_world(void) {
    talus_world_def def = talus_world_default();
    talus_world *w = NULL;
    def.dim = 3;
    def.gravity[0] = def.gravity[1] = 0.0, def.gravity[2] = -9.81;
    def.step = 2e-3;
    ok(talus_world_create(ctx, &def, &w));
    const talus_shape_def floor_shape = {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0, 0, 1}};
    int32_t floor_index = 0, material = 0;
    ok(talus_world_add_shape(w, &floor_shape, &floor_index));
    talus_material_def rough = talus_material_default();
    rough.friction = 0.7;
    ok(talus_world_add_material(w, &rough, &material));
    talus_body_def body = talus_body_default();
    body.shape = floor_index;
    body.motion.kind = TALUS_MOTION_FIXED;
    ok(talus_world_add_body(w, &body, NULL));
    for (int i = 0; i < 6; i++) {
        int32_t shape = 0;
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1 + 0.01 * i};
        ok(talus_world_add_shape(w, &ball, &shape));
        body = talus_body_default();
        body.shape = shape;
        body.material = i % 2 ? material : 0;
        body.position[0] = 0.25 * i;
        body.position[2] = ball.radius + 0.001 * i;
        body.velocity[0] = i % 2 ? -0.3 : 0.3;
        body.spin[1] = 2.0 - i;
        ok(talus_world_add_body(w, &body, NULL));
    }
    return w;
}

static inline void drop_ball(talus_world *w, int k) {
    talus_body_def body = talus_body_default();
    body.shape = 1;
    body.position[0] = 0.3 * k;
    body.position[1] = 5.0;
    body.position[2] = 0.11;
    ok(talus_world_add_body(w, &body, NULL));
}

// What was given to a recording, kept to be compared.

static inline void *kept_copy(const void *from, size_t size) {
    void *to = malloc(size + 1);
    assert_non_null(to);
    if (size > 0) memcpy(to, from, size);
    return to;
}

#define COPY_OF(array, count) kept_copy(array, (size_t)(count) * sizeof *(array))

static inline talus_frame keep(const talus_world *w, int64_t step) {
    talus_frame f = {.step = step, .time = talus_world_time(w), .hash = talus_world_hash(w)};
    talus_world_bodies(w, &f.bodies);
    talus_world_contacts(w, &f.contacts);
    talus_body_view *b = &f.bodies;
    talus_contact_view *c = &f.contacts;
    b->position = COPY_OF(b->position, 3 * b->count);
    b->orientation = COPY_OF(b->orientation, 4 * b->count);
    b->velocity = COPY_OF(b->velocity, 3 * b->count);
    b->spin = COPY_OF(b->spin, 3 * b->count);
    b->mass = COPY_OF(b->mass, b->count);
    b->shape = COPY_OF(b->shape, b->count);
    b->material = COPY_OF(b->material, b->count);
    b->motion = COPY_OF(b->motion, b->count);
    c->a = COPY_OF(c->a, c->count);
    c->b = COPY_OF(c->b, c->count);
    c->feature = COPY_OF(c->feature, c->count);
    c->point = COPY_OF(c->point, 3 * c->count);
    c->normal = COPY_OF(c->normal, 3 * c->count);
    c->gap = COPY_OF(c->gap, c->count);
    c->impulse = COPY_OF(c->impulse, 3 * c->count);
    c->velocity = COPY_OF(c->velocity, 3 * c->count);
    c->status = COPY_OF(c->status, c->count);
    return f;
}

static inline void forget(talus_frame *f) {
    const void *const list[] = {f->bodies.position,   f->bodies.orientation, f->bodies.velocity,
                                f->bodies.spin,       f->bodies.mass,        f->bodies.shape,
                                f->bodies.material,   f->bodies.motion,      f->contacts.a,
                                f->contacts.b,        f->contacts.feature,   f->contacts.point,
                                f->contacts.normal,   f->contacts.gap,       f->contacts.impulse,
                                f->contacts.velocity, f->contacts.status};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) free((void *)(uintptr_t)list[k]);
}

#define SAME(a, b, count) assert_memory_equal(a, b, (size_t)(count) * sizeof *(a))

// What a number may be off by, after what the header promises: lengths by 1e-4 of the smallest body
// (0.1 m), directions by 2.5e-4 (4e-4 where they were brought back to unit length), vectors by
// 1/2048 of their largest component.
typedef enum kind_of_real { PLACE, DIRECTION, VECTOR } kind_of_real;

static inline void same_reals(const double *a, const double *b, int64_t rows, int width,
                              kind_of_real kind, talus_precision precision) {
    for (int64_t k = 0; k < rows * width; k++) {
        const double want = precision == TALUS_PRECISION_DOUBLE ? b[k] : (double)(float)b[k];
        if (precision != TALUS_PRECISION_COMPACT) {
            assert_memory_equal(&a[k], &want, sizeof want);
            continue;
        }
        double most = 0.0;
        for (int64_t i = k - k % width; i < k - k % width + width; i++)
            most = fmax(most, fabs(b[i]));
        const double off = kind == PLACE       ? 1e-5 + 1e-7 * fabs(b[k])
                           : kind == DIRECTION ? 4e-4
                                               : most / 2048.0;
        assert_true(fabs(a[k] - b[k]) <= off);
    }
}

static inline void same_frame(const talus_frame *f, const talus_frame *g, bool contacts,
                              talus_precision single) {
    const int32_t n = g->bodies.count, c = contacts ? g->contacts.count : 0;
    assert_int_equal(f->step, g->step);
    SAME(&f->time, &g->time, 1);
    assert_true(f->hash == g->hash);
    assert_int_equal(f->bodies.count, n);
    same_reals(f->bodies.position, g->bodies.position, n, 3, PLACE, single);
    same_reals(f->bodies.orientation, g->bodies.orientation, n, 4, DIRECTION, single);
    same_reals(f->bodies.velocity, g->bodies.velocity, n, 3, VECTOR, single);
    same_reals(f->bodies.spin, g->bodies.spin, n, 3, VECTOR, single);
    same_reals(f->bodies.mass, g->bodies.mass, n, 1, VECTOR, TALUS_PRECISION_DOUBLE);
    SAME(f->bodies.shape, g->bodies.shape, n);
    SAME(f->bodies.material, g->bodies.material, n);
    SAME(f->bodies.motion, g->bodies.motion, n);
    assert_int_equal(f->contacts.count, c);
    if (c == 0) return;
    SAME(f->contacts.a, g->contacts.a, c);
    SAME(f->contacts.b, g->contacts.b, c);
    SAME(f->contacts.feature, g->contacts.feature, c);
    SAME(f->contacts.status, g->contacts.status, c);
    same_reals(f->contacts.point, g->contacts.point, c, 3, PLACE, single);
    same_reals(f->contacts.normal, g->contacts.normal, c, 3, DIRECTION, single);
    same_reals(f->contacts.gap, g->contacts.gap, c, 1, VECTOR, single);
    same_reals(f->contacts.impulse, g->contacts.impulse, c, 3, VECTOR, single);
    same_reals(f->contacts.velocity, g->contacts.velocity, c, 3, VECTOR, single);
}

static inline void expect_error(talus_status got, talus_status want, const char *part) {
    assert_int_equal(got, want);
    if (!strstr(talus_context_last_error(ctx), part))
        fail_msg("'%s' does not say '%s'", talus_context_last_error(ctx), part);
}

/// A context of its own and an empty room for each test.
static inline int begin(void **state) {
    char command[128];
    fault.at = 0;
    (void)snprintf(command, sizeof command, "rm -f %s/*", room);
    return system(command) == 0 ? set_up(state) : -1;
}

#endif // TALUS_TESTS_RECORDINGS_H
