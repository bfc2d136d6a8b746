// SPDX-License-Identifier: Apache-2.0
// Rigid bodies: made, checked, added, and their motions changed.
#include "rigid/rigid.h"
#include "base/vec3.h"
#include <string.h>

talus_status tl_rigid_create(talus_context *ctx, int32_t dim, tl_rigid **out) {
    TL_TRY(TL_ALLOC(ctx, 1, out));
    (*out)->base = (tl_model){.ops = &tl_rigid_ops, .ctx = ctx};
    (*out)->dim = dim;
    return TALUS_OK;
}

// ---- room --------------------------------------------------------------------------------------

static talus_status rigid_grow_bodies(tl_rigid *m, int32_t room) {
    talus_context *ctx = m->base.ctx;
    const struct {
        void *array;
        int width;
        size_t size;
    } all[] = {
        {&m->x, 3, sizeof(double)},          {&m->q, 4, sizeof(double)},
        {&m->v, 3, sizeof(double)},          {&m->spin, 3, sizeof(double)},
        {&m->own_spin, 3, sizeof(double)},   {&m->mass, 1, sizeof(double)},
        {&m->weight, 1, sizeof(double)},     {&m->inertia, 3, sizeof(double)},
        {&m->extent, 1, sizeof(double)},     {&m->swing, 1, sizeof(double)},
        {&m->motion, 1, sizeof(int32_t)},    {&m->group, 1, sizeof(int32_t)},
        {&m->script_of, 1, sizeof(int32_t)},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_TRY(tl_realloc(ctx, (int64_t)m->count * all[k].width, (int64_t)room * all[k].width,
                          all[k].size, all[k].array));
    const int64_t n = m->count;
    if (m->force) {
        TL_TRY(tl_realloc(ctx, 3 * n, 3 * (int64_t)room, sizeof(double), &m->force));
        TL_TRY(tl_realloc(ctx, 3 * n, 3 * (int64_t)room, sizeof(double), &m->torque));
    }
    if (m->damping) TL_TRY(tl_realloc(ctx, 2 * n, 2 * (int64_t)room, sizeof(double), &m->damping));
    if (m->locked) TL_TRY(tl_realloc(ctx, 6 * n, 6 * (int64_t)room, sizeof(bool), &m->locked));
    if (m->offset) {
        TL_TRY(tl_realloc(ctx, n, room, sizeof *m->offset, &m->offset));
        TL_TRY(tl_realloc(ctx, 3 * n, 3 * (int64_t)room, sizeof(double), &m->shape_x));
        TL_TRY(tl_realloc(ctx, 4 * n, 4 * (int64_t)room, sizeof(double), &m->shape_q));
    }
    m->room = room;
    return TALUS_OK;
}

static talus_status rigid_need_forces(tl_rigid *m) {
    if (!m->torque) TL_TRY(TL_ALLOC(m->base.ctx, 3 * (int64_t)m->room, &m->torque));
    if (!m->force) TL_TRY(TL_ALLOC(m->base.ctx, 3 * (int64_t)m->room, &m->force));
    return TALUS_OK;
}

static talus_status rigid_need_offset(tl_rigid *m) {
    if (m->offset) return TALUS_OK;
    if (!m->shape_x) TL_TRY(TL_ALLOC(m->base.ctx, 3 * (int64_t)m->room, &m->shape_x));
    if (!m->shape_q) TL_TRY(TL_ALLOC(m->base.ctx, 4 * (int64_t)m->room, &m->shape_q));
    TL_TRY(TL_ALLOC(m->base.ctx, m->room, &m->offset));
    for (int32_t i = 0; i < m->count; i++) m->offset[i] = (tl_pose){.q = {1.0}};
    tl_rigid_show(m);
    return TALUS_OK;
}

static talus_status rigid_need_script(tl_rigid *m) {
    if (m->script_count < m->script_room) return TALUS_OK;
    const int32_t room = m->script_room + m->script_room / 2 + 4;
    TL_TRY(tl_realloc(m->base.ctx, m->script_count, room, sizeof *m->script, &m->script));
    m->script_room = room;
    return TALUS_OK;
}

// ---- checks ------------------------------------------------------------------------------------

static bool rigid_is_scripted(talus_motion_kind kind) {
    return kind != TALUS_MOTION_FREE && kind != TALUS_MOTION_FIXED;
}

static bool rigid_all_zero(const double *x, int n) {
    for (int k = 0; k < n; k++)
        if (x[k] != 0.0) return false;
    return true;
}

static talus_status rigid_check_numbers(talus_context *ctx, const talus_body_def *body) {
    const struct {
        const char *name;
        const double *value;
        int count;
    } all[] = {{"position", body->position, 3},
               {"orientation", body->orientation, 4},
               {"velocity", body->velocity, 3},
               {"spin", body->spin, 3},
               {"density", &body->density, 1},
               {"mass", &body->mass, 1},
               {"inertia", body->inertia, 3},
               {"force", body->force, 3},
               {"torque", body->torque, 3},
               {"damping", &body->damping, 1},
               {"spin_damping", &body->spin_damping, 1}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int e = 0; e < all[k].count; e++)
            TL_REQUIRE(ctx, isfinite(all[k].value[e]), TALUS_ERR_ARG,
                       "body: %s[%d] = %g is not a finite number", all[k].name, e, all[k].value[e]);
    TL_REQUIRE(ctx, !rigid_all_zero(body->orientation, 4), TALUS_ERR_ARG,
               "body: the orientation is zero; (1, 0, 0, 0) is the identity");
    TL_REQUIRE(ctx, body->damping >= 0.0 && body->spin_damping >= 0.0, TALUS_ERR_ARG,
               "body: damping %g and spin_damping %g must be at least 0", body->damping,
               body->spin_damping);
    TL_REQUIRE(ctx, body->mass >= 0.0 && body->density >= 0.0, TALUS_ERR_ARG,
               "body: mass %g and density %g must be at least 0", body->mass, body->density);
    return TALUS_OK;
}

static talus_status rigid_check_plane(talus_context *ctx, const talus_body_def *body) {
    TL_REQUIRE(ctx, body->position[2] == 0.0 && body->velocity[2] == 0.0 && body->force[2] == 0.0,
               TALUS_ERR_ARG, "body: in 2D position, velocity and force have z = 0");
    TL_REQUIRE(ctx, rigid_all_zero(body->spin, 2) && rigid_all_zero(body->torque, 2), TALUS_ERR_ARG,
               "body: in 2D spin and torque are about z");
    TL_REQUIRE(ctx, rigid_all_zero(body->orientation + 1, 2), TALUS_ERR_ARG,
               "body: in 2D the orientation is a turn about z");
    return TALUS_OK;
}

// Mass and moments of a body: given, or from its shape.
static void rigid_mass(const tl_rigid *m, const talus_body_def *body, const talus_mass *shape,
                       double *weight, double inertia[3]) {
    *weight = body->mass > 0.0 ? body->mass : shape->mass;
    const double scale = shape->mass > 0.0 ? *weight / shape->mass : 0.0;
    const bool given = !rigid_all_zero(body->inertia, 3);
    for (int k = 0; k < 3; k++) inertia[k] = given ? body->inertia[k] : scale * shape->inertia[k];
    if (m->dim == 2) inertia[0] = inertia[1] = inertia[2];
}

// Can a body with this mass move freely?
static talus_status rigid_check_mass(const tl_rigid *m, double weight, const double inertia[3]) {
    talus_context *ctx = m->base.ctx;
    TL_REQUIRE(ctx, weight > 0.0 && isfinite(weight), TALUS_ERR_ARG,
               "body: a free body needs a mass that is positive and finite, not %g (an unbounded "
               "shape cannot move freely)",
               weight);
    for (int k = 0; k < 3; k++)
        TL_REQUIRE(ctx, inertia[k] > 0.0 && isfinite(inertia[k]), TALUS_ERR_ARG,
                   "body: moment of inertia %g of a free body is not positive and finite",
                   inertia[k]);
    return TALUS_OK;
}

// ---- adding ------------------------------------------------------------------------------------

talus_status tl_rigid_reserve(tl_rigid *m, const talus_body_def *body, const talus_mass *mass) {
    talus_context *ctx = m->base.ctx;
    TL_TRY(rigid_check_numbers(ctx, body));
    if (m->dim == 2) TL_TRY(rigid_check_plane(ctx, body));
    TL_TRY(tl_script_check(ctx, m->dim, &body->motion));
    double weight, inertia[3];
    rigid_mass(m, body, mass, &weight, inertia);
    if (body->motion.kind == TALUS_MOTION_FREE) TL_TRY(rigid_check_mass(m, weight, inertia));
    TL_REQUIRE(ctx, m->count < INT32_MAX / 8, TALUS_ERR_ARG, "body: too many bodies");
    if (m->count == m->room) TL_TRY(rigid_grow_bodies(m, m->room + m->room / 4 + 16));
    if (!rigid_all_zero(body->force, 3) || !rigid_all_zero(body->torque, 3))
        TL_TRY(rigid_need_forces(m));
    if ((body->damping > 0.0 || body->spin_damping > 0.0) && !m->damping)
        TL_TRY(TL_ALLOC(ctx, 2 * (int64_t)m->room, &m->damping));
    for (int k = 0; k < 6; k++)
        if (body->locked[k] && !m->locked) TL_TRY(TL_ALLOC(ctx, 6 * (int64_t)m->room, &m->locked));
    if (tl_rigid_offset(mass, &(tl_pose){0})) TL_TRY(rigid_need_offset(m));
    return rigid_need_script(m);
}

// ---- the frame of the shape --------------------------------------------------------------------

bool tl_rigid_offset(const talus_mass *mass, tl_pose *out) {
    if (rigid_all_zero(mass->centre, 3) && rigid_all_zero(mass->axes + 1, 3)) return false;
    tl_pose frame = {.x = {mass->centre[0], mass->centre[1], mass->centre[2]}};
    memcpy(frame.q, mass->axes, sizeof frame.q);
    tl_pose_invert(&frame, out);
    return true;
}

static tl_pose rigid_pose(const double x[3], const double q[4]) {
    return (tl_pose){.x = {x[0], x[1], x[2]}, .q = {q[0], q[1], q[2], q[3]}};
}

// The shape's frame of body i when the body's is (x, q) …
static void rigid_to_shape(const tl_rigid *m, int32_t i, double x[3], double q[4]) {
    if (!m->offset) return;
    const tl_pose body = rigid_pose(x, q);
    tl_pose shape;
    tl_pose_mul(&body, &m->offset[i], &shape);
    tl_copy3(shape.x, x);
    memcpy(q, shape.q, sizeof shape.q);
    tl_quat_normalise(q);
}

// … and back.
static void rigid_from_shape(const tl_rigid *m, int32_t i, double x[3], double q[4]) {
    if (!m->offset) return;
    const tl_pose shape = rigid_pose(x, q);
    tl_pose back, body;
    tl_pose_invert(&m->offset[i], &back);
    tl_pose_mul(&shape, &back, &body);
    tl_copy3(body.x, x);
    memcpy(q, body.q, sizeof body.q);
    tl_quat_normalise(q);
}

static void rigid_show_body(tl_rigid *m, int32_t i) {
    if (!m->offset) return;
    double *x = m->shape_x + 3 * (int64_t)i, *q = m->shape_q + 4 * (int64_t)i;
    tl_copy3(m->x + 3 * (int64_t)i, x);
    memcpy(q, m->q + 4 * (int64_t)i, 4 * sizeof *q);
    rigid_to_shape(m, i, x, q);
}

void tl_rigid_show(tl_rigid *m) {
    for (int32_t i = 0; m->offset && i < m->count; i++) rigid_show_body(m, i);
}

// ---- adding, continued -------------------------------------------------------------------------

unsigned tl_rigid_mask(const tl_rigid *m, int32_t body) {
    unsigned mask = m->dim == 2 ? 0x23U : 0x3fU;
    for (int k = 0; m->locked && k < 6; k++)
        if (m->locked[6 * (int64_t)body + k]) mask &= ~(1U << k);
    return mask;
}

bool tl_rigid_is_immovable(const tl_rigid *m, int32_t body) {
    return m->motion[body] != TALUS_MOTION_FREE || tl_rigid_mask(m, body) == 0;
}

// Begin a motion of body i at time t; the script, if it has one, has been made.
static void rigid_begin_motion(tl_rigid *m, int32_t i, talus_motion_kind kind) {
    m->motion[i] = (int32_t)kind;
    m->mass[i] = kind == TALUS_MOTION_FREE ? m->weight[i] : 0.0;
    m->renumber = true;
    const unsigned mask = kind == TALUS_MOTION_FREE ? tl_rigid_mask(m, i) : 0U;
    double *v = m->v + 3 * (int64_t)i, *spin = m->spin + 3 * (int64_t)i;
    for (int k = 0; k < 3; k++) {
        if (!(mask & (1U << k))) v[k] = 0.0;
        if (!(mask & (8U << k))) spin[k] = 0.0;
    }
    tl_rotate_back(m->q + 4 * (int64_t)i, spin, m->own_spin + 3 * (int64_t)i);
}

talus_status tl_rigid_add(tl_rigid *m, const talus_body_def *body, const talus_mass *mass,
                          double extent, bool is_ball, double t) {
    const int32_t i = m->count;
    const int64_t at = 3 * (int64_t)i;
    double *q = m->q + 4 * (int64_t)i;
    tl_copy3(body->position, m->x + at);
    memcpy(q, body->orientation, 4 * sizeof *q);
    tl_quat_normalise(q);
    if (m->offset && !tl_rigid_offset(mass, &m->offset[i])) m->offset[i] = (tl_pose){.q = {1.0}};
    tl_copy3(body->velocity, m->v + at);
    tl_copy3(body->spin, m->spin + at);
    rigid_mass(m, body, mass, m->weight + i, m->inertia + at);
    m->extent[i] = extent;
    m->swing[i] = is_ball ? 0.0 : extent;
    if (m->force) {
        tl_copy3(body->force, m->force + at);
        tl_copy3(body->torque, m->torque + at);
    }
    if (m->damping) {
        m->damping[2 * (int64_t)i] = body->damping;
        m->damping[2 * (int64_t)i + 1] = body->spin_damping;
    }
    if (m->locked) memcpy(m->locked + 6 * (int64_t)i, body->locked, sizeof body->locked);
    m->script_of[i] = -1;
    if (rigid_is_scripted(body->motion.kind)) {
        tl_script *s = m->script + m->script_count;
        TL_TRY(tl_script_init(m->base.ctx, &body->motion, t, m->x + at, q, s));
        m->script_of[i] = m->script_count++;
        tl_script_pose(s, t, m->x + at, q);
    }
    rigid_from_shape(m, i, m->x + at, q);
    rigid_begin_motion(m, i, body->motion.kind);
    rigid_show_body(m, i);
    m->count++;
    return TALUS_OK;
}

void tl_rigid_drop(tl_rigid *m) {
    m->count--;
    if (m->script_of[m->count] >= 0) tl_script_clear(m->base.ctx, m->script + --m->script_count);
}

// ---- changes -----------------------------------------------------------------------------------

talus_status tl_rigid_set_force(tl_rigid *m, int32_t body, const double force[3],
                                const double torque[3]) {
    const talus_body_def check = {.orientation = {1.0},
                                  .force = {force[0], force[1], force[2]},
                                  .torque = {torque[0], torque[1], torque[2]}};
    TL_TRY(rigid_check_numbers(m->base.ctx, &check));
    if (m->dim == 2) TL_TRY(rigid_check_plane(m->base.ctx, &check));
    TL_TRY(rigid_need_forces(m));
    tl_copy3(force, m->force + 3 * (int64_t)body);
    tl_copy3(torque, m->torque + 3 * (int64_t)body);
    return TALUS_OK;
}

talus_status tl_rigid_set_motion(tl_rigid *m, int32_t body, const talus_motion_def *motion,
                                 double t) {
    const int64_t at = 3 * (int64_t)body;
    TL_TRY(tl_script_check(m->base.ctx, m->dim, motion));
    if (motion->kind == TALUS_MOTION_FREE)
        TL_TRY(rigid_check_mass(m, m->weight[body], m->inertia + at));
    tl_script next = {0};
    if (rigid_is_scripted(motion->kind)) {
        if (m->script_of[body] < 0) TL_TRY(rigid_need_script(m));
        double x[3], q[4];
        tl_copy3(m->x + at, x);
        memcpy(q, m->q + 4 * (int64_t)body, sizeof q);
        rigid_to_shape(m, body, x, q);
        TL_TRY(tl_script_init(m->base.ctx, motion, t, x, q, &next));
        if (m->script_of[body] < 0) m->script_of[body] = m->script_count++;
        tl_script *s = m->script + m->script_of[body];
        tl_script_clear(m->base.ctx, s);
        *s = next;
        tl_rigid_script_pose(m, body, t, m->x + at, m->q + 4 * (int64_t)body);
    } else if (m->script_of[body] >= 0) { // the last script takes the place of this one
        const int32_t hole = m->script_of[body], last = --m->script_count;
        tl_script_clear(m->base.ctx, m->script + hole);
        for (int32_t i = 0; i < m->count; i++)
            if (m->script_of[i] == last) m->script_of[i] = hole;
        m->script[hole] = m->script[last];
        m->script[last] = (tl_script){0};
        m->script_of[body] = -1;
    }
    rigid_begin_motion(m, body, motion->kind);
    rigid_show_body(m, body);
    return TALUS_OK;
}

void tl_rigid_run_scripts(tl_rigid *m, double time, double h) {
    for (int32_t k = 0; k < m->script_count; k++) tl_script_step(m->script + k, time, h);
}

void tl_rigid_script_pose(const tl_rigid *m, int32_t i, double t, double x[3], double q[4]) {
    tl_script_pose(m->script + m->script_of[i], t, x, q);
    rigid_from_shape(m, i, x, q);
}

void tl_rigid_script_velocity(const tl_rigid *m, int32_t i, double h, const double q[4],
                              const double arm[3], double out[3]) {
    const tl_script *s = m->script + m->script_of[i];
    if (!m->offset) {
        tl_script_velocity(s, h, q, arm, out);
        return;
    }
    double x[3] = {0.0}, turned[4], from[3];
    memcpy(turned, q, sizeof turned);
    rigid_to_shape(m, i, x, turned);
    tl_sub3(arm, x, from);
    tl_script_velocity(s, h, turned, from, out);
}

void tl_rigid_script_mean(const tl_rigid *m, int32_t i, double h, double out[3]) {
    const tl_script *s = m->script + m->script_of[i];
    tl_copy3(s->velocity, out);
    if (!m->offset) return;
    double x[3] = {0.0}, q[4];
    memcpy(q, s->begin, sizeof q);
    rigid_from_shape(m, i, x, q);
    tl_script_velocity(s, h, s->begin, x, out);
}

void tl_rigid_commit_scripts(tl_rigid *m, double h) {
    for (int32_t i = 0; m->script_count > 0 && i < m->count; i++) {
        if (m->script_of[i] < 0) continue;
        const tl_script *s = m->script + m->script_of[i];
        const int64_t at = 3 * (int64_t)i;
        double *q = m->q + 4 * (int64_t)i;
        tl_copy3(s->position, m->x + at);
        memcpy(q, s->end, sizeof s->end);
        rigid_from_shape(m, i, m->x + at, q);
        tl_rigid_script_mean(m, i, h, m->v + at);
        tl_copy3(s->spin, m->spin + at);
        tl_rotate_back(q, s->spin, m->own_spin + at);
    }
    tl_rigid_show(m);
}
