// SPDX-License-Identifier: Apache-2.0
// Joints of a world: added, changed, looked at, and what a step leaves behind.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <string.h>

const char *talus_joint_text(talus_joint_kind kind) {
    static const char *const text[] = {
#define JOINTS_TEXT(name, words, what) [name] = words,
        TALUS_JOINT_LIST(JOINTS_TEXT)
#undef JOINTS_TEXT
    };
    const size_t index = (size_t)kind;
    return index < sizeof text / sizeof *text ? text[index] : "unknown joint";
}

talus_joint_def talus_joint_default(void) {
    return (talus_joint_def){.kind = TALUS_JOINT_BALL, .b = -1, .low = -INFINITY, .high = INFINITY};
}

void tl_joints_clear(talus_context *ctx, tl_joints *j) {
    void *const owned[] = {j->joint,   j->kind,   j->a,     j->b,        j->point,
                           j->impulse, j->moment, j->drive, j->position, j->error,
                           j->angle,   j->stop,   j->pair};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *j = (tl_joints){0};
}

static talus_status joints_reserve(talus_context *ctx, tl_joints *j) {
    if (j->count < j->room) return TALUS_OK;
    const int64_t n = j->count, room = n + n / 2 + 8;
    const struct {
        void *array;
        int width;
        size_t size;
    } all[] = {{&j->joint, 1, sizeof *j->joint},  {&j->kind, 1, sizeof *j->kind},
               {&j->a, 1, sizeof *j->a},          {&j->b, 1, sizeof *j->b},
               {&j->point, 3, sizeof(double)},    {&j->impulse, 3, sizeof(double)},
               {&j->moment, 3, sizeof(double)},   {&j->drive, 1, sizeof(double)},
               {&j->position, 1, sizeof(double)}, {&j->error, 1, sizeof(double)},
               {&j->angle, 1, sizeof(double)},    {&j->stop, 2, sizeof(double)},
               {&j->pair, 2, sizeof(int32_t)}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        TL_TRY(tl_realloc(ctx, n * all[k].width, room * all[k].width, all[k].size, all[k].array));
    j->room = (int32_t)room;
    return TALUS_OK;
}

// Put a pair of bodies in its place in the sorted list, once.
static void joints_part(tl_joints *j, int32_t a, int32_t b) {
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t at = 0;
    while (at < j->pairs &&
           (j->pair[2 * at] < low || (j->pair[2 * at] == low && j->pair[2 * at + 1] < high)))
        at++;
    int32_t *place = j->pair + 2 * (int64_t)at;
    if (at < j->pairs && place[0] == low && place[1] == high) return;
    memmove(place + 2, place, 2 * (size_t)(j->pairs - at) * sizeof *place);
    place[0] = low;
    place[1] = high;
    j->pairs++;
}

// The pose of a body now; of the world: the identity.
static tl_pose joints_pose(const talus_world *w, int32_t body) {
    tl_pose pose = {.q = {1.0}};
    if (body < 0) return pose;
    tl_copy3(w->rigid->x + 3 * (int64_t)body, pose.x);
    memcpy(pose.q, w->rigid->q + 4 * (int64_t)body, sizeof pose.q);
    return pose;
}

static talus_status joints_check(const talus_world *w, const talus_joint_def *def) {
    const int32_t n = w->rigid->count;
    TL_REQUIRE(w->ctx, !w->springs, TALUS_ERR_UNSUPPORTED,
               "joint: the penalty scheme has none; the schemes that solve a problem have");
    TL_REQUIRE(w->ctx, def->a >= 0 && def->a < n, TALUS_ERR_ARG,
               "joint: there is no body a = %d; there are %d", (int)def->a, (int)n);
    TL_REQUIRE(w->ctx, def->b >= -1 && def->b < n, TALUS_ERR_ARG,
               "joint: there is no body b = %d; there are %d, and -1 is the world", (int)def->b,
               (int)n);
    TL_REQUIRE(w->ctx, def->a != def->b, TALUS_ERR_ARG, "joint: a and b are both body %d",
               (int)def->a);
    TL_TRY(tl_joint_check(w->ctx, w->def.dim, def));
    if (def->kind != TALUS_JOINT_DISTANCE || def->length > 0.0) return TALUS_OK;
    double apart[3];
    tl_sub3(def->anchor, def->anchor_b, apart);
    TL_REQUIRE(w->ctx, tl_norm3(apart) > 0.0, TALUS_ERR_ARG,
               "joint: the points of a distance are in one place: use a ball");
    return TALUS_OK;
}

talus_status talus_world_add_joint(talus_world *w, const talus_joint_def *def, int32_t *out) {
    tl_joints *j = &w->joints;
    TL_TRY(joints_check(w, def));
    TL_TRY(joints_reserve(w->ctx, j));
    double axis[3], frame[9];
    tl_copy3(def->axis, axis);
    const double length = tl_norm3(axis);
    if (length > 0.0)
        tl_scale3(1.0 / length, axis, axis);
    else
        axis[def->kind == TALUS_JOINT_SLIDER ? 0 : 2] = 1.0;
    // in 2D a slider's axis and one vector across it lie in the plane
    tl_frame(w->def.dim == 2 && def->kind == TALUS_JOINT_SLIDER ? 2 : 3, axis, frame);
    if (w->def.dim == 2) tl_cross3(frame, frame + 3, frame + 6);
    const tl_pose a = joints_pose(w, def->a), b = joints_pose(w, def->b);
    const int32_t i = j->count++;
    tl_joint_init(def, &a, &b, frame, j->joint + i);
    tl_copy3(axis, j->joint[i].def.axis);
    j->kind[i] = (int32_t)def->kind;
    j->a[i] = def->a;
    j->b[i] = def->b;
    tl_copy3(def->anchor, j->point + 3 * (int64_t)i);
    double *const zero[] = {j->impulse + 3 * (int64_t)i, j->moment + 3 * (int64_t)i};
    for (int k = 0; k < 3; k++) zero[0][k] = zero[1][k] = 0.0;
    j->drive[i] = j->position[i] = j->error[i] = j->angle[i] = 0.0;
    j->stop[2 * (int64_t)i] = j->stop[2 * (int64_t)i + 1] = 0.0;
    tl_joint_error(j->joint + i, w->def.dim, &a, &b, j->error + i, j->angle + i);
    if (!def->collide && def->b >= 0) joints_part(j, def->a, def->b);
    if (out) *out = i;
    return TALUS_OK;
}

talus_status talus_world_set_motor(talus_world *w, int32_t joint, double speed, double limit) {
    TL_REQUIRE(w->ctx, joint >= 0 && joint < w->joints.count, TALUS_ERR_ARG,
               "there is no joint %d; there are %d", (int)joint, (int)w->joints.count);
    talus_joint_def def = w->joints.joint[joint].def;
    def.speed = speed;
    def.limit = limit;
    TL_TRY(tl_joint_check(w->ctx, w->def.dim, &def));
    w->joints.joint[joint].def = def;
    return TALUS_OK;
}

void talus_world_joints(const talus_world *w, talus_joint_view *out) {
    const tl_joints *j = &w->joints;
    *out = (talus_joint_view){.count = j->count,
                              .kind = j->kind,
                              .a = j->a,
                              .b = j->b,
                              .point = j->point,
                              .impulse = j->impulse,
                              .moment = j->moment,
                              .drive = j->drive,
                              .position = j->position,
                              .error = j->error,
                              .angle = j->angle};
}

bool talus_world_joint_at(const talus_world *w, int32_t index, talus_joint_def *out) {
    if (index < 0 || index >= w->joints.count) return false;
    *out = w->joints.joint[index].def;
    return true;
}

uint64_t tl_joints_hash(const tl_joints *j, uint64_t seed) {
    const size_t n = (size_t)j->count;
    for (int32_t i = 0; i < j->count; i++) {
        const talus_joint_def *d = &j->joint[i].def;
        const double number[] = {(double)d->kind, d->a,   d->b,    d->length, d->speed,
                                 d->limit,        d->low, d->high, d->collide};
        seed = talus_hash(number, sizeof number, seed);
        seed = talus_hash(j->joint[i].anchor_a, 3 * sizeof(double), seed);
        seed = talus_hash(j->joint[i].anchor_b, 3 * sizeof(double), seed);
        seed = talus_hash(j->joint[i].frame_b, 9 * sizeof(double), seed);
        seed = talus_hash(j->joint[i].turn, 4 * sizeof(double), seed);
    }
    seed = talus_hash(j->drive, n * sizeof(double), seed);
    seed = talus_hash(j->position, n * sizeof(double), seed);
    return talus_hash(j->stop, 2 * n * sizeof(double), seed);
}

// Add an impulse along a row to those of its joint.
static void joints_add(tl_joints *j, int32_t i, const tl_joint_row *row, double impulse) {
    double *to = (row->spin ? j->moment : j->impulse) + 3 * (int64_t)i;
    tl_axpy3(to, impulse, row->direction, to);
}

double tl_joints_take(talus_world *w, const tl_step *step) {
    tl_joints *j = &w->joints;
    const tl_stage *s = &w->stage;
    const tl_ties *t = &s->ties;
    double most = 0.0;
    for (int64_t k = 0; k < 3 * (int64_t)j->count; k++) j->impulse[k] = j->moment[k] = 0.0;
    for (int32_t i = 0; i < j->count; i++) j->drive[i] = 0.0;
    for (int64_t k = 0; k < 2 * (int64_t)j->count; k++) j->stop[k] = 0.0;
    for (int32_t k = 0; k < t->rows; k++) {
        joints_add(j, t->tie[k].joint, &t->tie[k].row, t->lambda[k]);
        if (t->tie[k].motor) j->drive[t->tie[k].joint] = t->lambda[k];
    }
    for (int32_t k = 0; k < t->drives; k++) {
        const tl_drive *d = t->drive + k;
        const double r = s->r[((int64_t)s->contacts + k) * s->size + tl_drive_row(d)];
        joints_add(j, d->joint, &d->row, r);
        if (d->part == TL_DRIVE_MOTOR)
            j->drive[d->joint] = r;
        else
            j->stop[2 * (int64_t)d->joint + (d->part == TL_DRIVE_HIGH)] = r;
    }
    for (int32_t i = 0; i < j->count; i++) {
        const tl_pose a = joints_pose(w, j->a[i]), b = joints_pose(w, j->b[i]);
        tl_joint_error(j->joint + i, w->def.dim, &a, &b, j->error + i, j->angle + i);
        most = fmax(most, j->error[i]);
        if (tl_joint_has_drive(j->joint + i))
            j->position[i] = tl_joint_drive(j->joint + i, &a, &b, j->position[i]).error;
        double *point = j->point + 3 * (int64_t)i;
        tl_rotate(a.q, j->joint[i].anchor_a, point);
        tl_axpy3(a.x, 1.0, point, point);
    }
    j->h = step->h;
    return most;
}
