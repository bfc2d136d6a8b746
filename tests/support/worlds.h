// SPDX-License-Identifier: Apache-2.0
// Small worlds for tests: every call must succeed. To be included after cmocka.h.
#ifndef TALUS_TESTS_WORLDS_H
#define TALUS_TESTS_WORLDS_H
#include "support/context.h"
#include "talus/world.h"
#include <math.h>
#include <string.h>

#define WORLDS_OK(call)                                                                            \
    do {                                                                                           \
        const talus_status worlds_status = (call);                                                 \
        if (worlds_status != TALUS_OK) print_message("%s\n", talus_context_last_error(ctx));       \
        assert_int_equal(worlds_status, TALUS_OK);                                                 \
    } while (0)

static inline talus_world *worlds_create(const talus_world_def *def) {
    talus_world *w = NULL;
    WORLDS_OK(talus_world_create(ctx, def, &w));
    return w;
}

/// An empty world; gravity along −y in 2D, −z in 3D.
static inline talus_world_def worlds_def(int32_t dim, talus_scheme scheme, double step, double g) {
    talus_world_def def = talus_world_default();
    def.dim = dim;
    def.scheme = scheme;
    def.step = step;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == dim - 1 ? -g : 0.0;
    return def;
}

/// What holds between all bodies of material 0.
static inline void worlds_law(talus_world *w, double mu, double e_n, double e_t) {
    talus_material_def m = talus_material_default();
    m.friction = mu;
    m.restitution = e_n;
    m.restitution_t = e_t;
    WORLDS_OK(talus_world_set_pair(w, 0, 0, &m));
}

static inline int32_t worlds_shape(talus_world *w, talus_shape_def shape) {
    int32_t index = -1;
    WORLDS_OK(talus_world_add_shape(w, &shape, &index));
    return index;
}

static inline int32_t worlds_add(talus_world *w, const talus_body_def *body) {
    int32_t index = -1;
    WORLDS_OK(talus_world_add_body(w, body, &index));
    return index;
}

/// A free ball of mass 1 (moments of a solid ball or disk).
static inline talus_body_def worlds_ball(talus_world *w, double radius, double x, double y,
                                         double z) {
    talus_body_def body = talus_body_default();
    body.shape = worlds_shape(w, (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = radius});
    body.mass = 1.0;
    body.position[0] = x;
    body.position[1] = y;
    body.position[2] = z;
    return body;
}

static inline talus_body_def worlds_fixed(talus_world *w, talus_shape_def shape) {
    talus_body_def body = talus_body_default();
    body.shape = worlds_shape(w, shape);
    body.motion.kind = TALUS_MOTION_FIXED;
    return body;
}

/// A fixed half-space through the origin with normal n.
static inline int32_t worlds_plane(talus_world *w, double nx, double ny, double nz) {
    const talus_body_def body =
        worlds_fixed(w, (talus_shape_def){.kind = TALUS_SHAPE_HALF_SPACE, .normal = {nx, ny, nz}});
    return worlds_add(w, &body);
}

static inline talus_ledger worlds_step(talus_world *w) {
    talus_ledger ledger;
    WORLDS_OK(talus_world_step(w, &ledger));
    return ledger;
}

static inline talus_body_view worlds_bodies(const talus_world *w) {
    talus_body_view view;
    talus_world_bodies(w, &view);
    return view;
}

static inline talus_contact_view worlds_contacts(const talus_world *w) {
    talus_contact_view view;
    talus_world_contacts(w, &view);
    return view;
}

#endif // TALUS_TESTS_WORLDS_H
