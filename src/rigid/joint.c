// SPDX-License-Identifier: Apache-2.0
// Joints: what they hold, as rows [theory/joints]. With p the anchors of a and b in space, e = p_a
// − p_b, and r the turn of a relative to b since they were joined,
//     ball      e = 0
//     hinge     e = 0,  axis of a along axis of b: two angles (3D)
//     slider    e across the axis of b = 0,  r = 1
//     distance  |e| = length
//     weld      e = 0,  r = 1
// A row is the velocity of a at one point of space less that of b at the same point, so that
// impulse and reaction make no couple; for a distance they act along the line of the anchors.
#include "rigid/joint.h"
#include "base/vec3.h"
#include "rigid/turn.h"
#include <string.h>

// ---- making ------------------------------------------------------------------------------------

static talus_status joint_check_numbers(talus_context *ctx, const talus_joint_def *def) {
    const struct {
        const char *name;
        const double *value;
        int count;
    } all[] = {{"anchor", def->anchor, 3},
               {"anchor_b", def->anchor_b, 3},
               {"axis", def->axis, 3},
               {"length", &def->length, 1},
               {"speed", &def->speed, 1}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int e = 0; e < all[k].count; e++)
            TL_REQUIRE(ctx, isfinite(all[k].value[e]), TALUS_ERR_ARG,
                       "joint: %s[%d] = %g is not a finite number", all[k].name, e,
                       all[k].value[e]);
    TL_REQUIRE(ctx, def->length >= 0.0, TALUS_ERR_ARG, "joint: length %g is not positive",
               def->length);
    TL_REQUIRE(ctx, def->limit >= 0.0, TALUS_ERR_ARG,
               "joint: the limit %g of its motor is not in [0, inf]", def->limit);
    TL_REQUIRE(ctx, def->low <= 0.0 && def->high >= 0.0, TALUS_ERR_ARG,
               "joint: its stops %g and %g do not have 0, where it begins, between them", def->low,
               def->high);
    return TALUS_OK;
}

talus_status tl_joint_check(talus_context *ctx, int32_t dim, const talus_joint_def *def) {
    TL_REQUIRE(ctx, (int)def->kind >= 0 && def->kind <= TALUS_JOINT_WELD, TALUS_ERR_ARG,
               "joint: there is no kind %d", (int)def->kind);
    TL_TRY(joint_check_numbers(ctx, def));
    const bool driven = def->kind == TALUS_JOINT_HINGE || def->kind == TALUS_JOINT_SLIDER;
    TL_REQUIRE(ctx, driven || (def->limit == 0.0 && def->speed == 0.0), TALUS_ERR_ARG,
               "joint: a %s has no motor; hinges and sliders have", talus_joint_text(def->kind));
    TL_REQUIRE(ctx, driven || (isinf(def->low) && isinf(def->high)), TALUS_ERR_ARG,
               "joint: a %s has no stops; hinges and sliders have", talus_joint_text(def->kind));
    TL_REQUIRE(ctx, dim == 3 || (def->anchor[2] == 0.0 && def->anchor_b[2] == 0.0), TALUS_ERR_ARG,
               "joint: in 2D anchors have z = 0");
    const bool z_only = def->axis[0] == 0.0 && def->axis[1] == 0.0;
    if (dim == 2 && def->kind == TALUS_JOINT_HINGE)
        TL_REQUIRE(ctx, z_only && def->axis[2] >= 0.0, TALUS_ERR_ARG,
                   "joint: in 2D the axis of a hinge is z");
    if (dim == 2 && def->kind == TALUS_JOINT_SLIDER)
        TL_REQUIRE(ctx, def->axis[2] == 0.0, TALUS_ERR_ARG,
                   "joint: in 2D the axis of a slider has z = 0");
    return TALUS_OK;
}

// A point of space in the frame of a pose, and back.
static void joint_into(const tl_pose *pose, const double point[3], double out[3]) {
    tl_sub3(point, pose->x, out);
    tl_rotate_back(pose->q, out, out);
}

static void joint_out_of(const tl_pose *pose, const double point[3], double out[3]) {
    tl_rotate(pose->q, point, out);
    tl_axpy3(pose->x, 1.0, out, out);
}

// The turn from the frame of a to that of b.
static void joint_turn(const tl_pose *a, const tl_pose *b, double out[4]) {
    const double back[4] = {b->q[0], -b->q[1], -b->q[2], -b->q[3]};
    tl_quat_mul(back, a->q, out);
}

void tl_joint_init(const talus_joint_def *def, const tl_pose *a, const tl_pose *b,
                   const double frame[9], tl_joint *out) {
    *out = (tl_joint){.def = *def};
    const bool pair = def->kind == TALUS_JOINT_DISTANCE;
    joint_into(a, def->anchor, out->anchor_a);
    joint_into(b, pair ? def->anchor_b : def->anchor, out->anchor_b);
    tl_rotate_back(a->q, frame, out->axis_a);
    for (int k = 0; k < 3; k++) tl_rotate_back(b->q, frame + 3 * k, out->frame_b + 3 * k);
    joint_turn(a, b, out->turn);
    if (pair && def->length == 0.0) {
        double apart[3];
        tl_sub3(def->anchor, def->anchor_b, apart);
        out->def.length = tl_norm3(apart);
    }
}

bool tl_joint_has_drive(const tl_joint *j) {
    return j->def.kind == TALUS_JOINT_HINGE || j->def.kind == TALUS_JOINT_SLIDER;
}

// ---- where it is -------------------------------------------------------------------------------

typedef struct joint_place {
    double a[3], b[3];            // anchors
    double apart[3];              // a − b
    double axis[3], across[2][3]; // of b
} joint_place;

static joint_place joint_get_place(const tl_joint *j, const tl_pose *a, const tl_pose *b) {
    joint_place p = {0};
    joint_out_of(a, j->anchor_a, p.a);
    joint_out_of(b, j->anchor_b, p.b);
    tl_sub3(p.a, p.b, p.apart);
    tl_rotate(b->q, j->frame_b, p.axis);
    for (int k = 0; k < 2; k++) tl_rotate(b->q, j->frame_b + 3 * (k + 1), p.across[k]);
    return p;
}

// The turn of a relative to b since they were joined, in the frame of b.
static void joint_turned(const tl_joint *j, const tl_pose *a, const tl_pose *b, double out[4]) {
    const double back[4] = {j->turn[0], -j->turn[1], -j->turn[2], -j->turn[3]};
    joint_turn(a, b, out);
    tl_quat_mul(out, back, out);
}

// The same as a vector in space: direction the axis, length the angle.
static void joint_turn_vector(const tl_joint *j, const tl_pose *a, const tl_pose *b,
                              double out[3]) {
    double turn[4];
    joint_turned(j, a, b, turn);
    tl_turn_log(turn, out);
    tl_rotate(b->q, out, out);
}

// The turn that leads the axis of b to that of a, as a vector.
static void joint_axis_vector(const tl_joint *j, const tl_pose *a, const joint_place *p,
                              double out[3]) {
    double axis[3];
    tl_rotate(a->q, j->axis_a, axis);
    tl_cross3(p->axis, axis, out);
    const double s = tl_norm3(out), c = tl_dot3(p->axis, axis);
    if (s > 0.0) tl_scale3(atan2(s, c) / s, out, out);
}

// ---- rows --------------------------------------------------------------------------------------

static tl_joint_row joint_point_row(const joint_place *p, const tl_pose *a, const tl_pose *b,
                                    double lean, const double direction[3]) {
    tl_joint_row row = {.error = tl_dot3(direction, p->apart)};
    double point[3];
    tl_axpy3(p->a, -lean, p->apart, point);
    tl_copy3(direction, row.direction);
    tl_sub3(point, a->x, row.arm_a);
    tl_sub3(point, b->x, row.arm_b);
    return row;
}

static tl_joint_row joint_spin_row(const double direction[3], const double turned[3]) {
    tl_joint_row row = {.spin = true, .error = tl_dot3(direction, turned)};
    tl_copy3(direction, row.direction);
    return row;
}

static tl_joint_row joint_distance_row(const tl_joint *j, const joint_place *p, const tl_pose *a,
                                       const tl_pose *b) {
    tl_joint_row row = {0};
    const double apart = tl_norm3(p->apart);
    if (apart > 0.0)
        tl_scale3(1.0 / apart, p->apart, row.direction);
    else
        row.direction[0] = 1.0; // any: the points have met
    tl_sub3(p->a, a->x, row.arm_a);
    tl_sub3(p->b, b->x, row.arm_b);
    row.error = apart - j->def.length;
    return row;
}

static const double joint_axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

int tl_joint_rows(const tl_joint *j, int32_t dim, const tl_pose *a, const tl_pose *b, double lean,
                  tl_joint_row row[TL_JOINT_ROWS]) {
    const joint_place p = joint_get_place(j, a, b);
    const talus_joint_kind kind = j->def.kind;
    double turned[3];
    int n = 0;
    TL_ASSUME(dim == 2 || dim == 3);
    if (kind == TALUS_JOINT_DISTANCE) {
        row[n++] = joint_distance_row(j, &p, a, b);
        return n;
    }
    if (kind == TALUS_JOINT_SLIDER) // at the anchor of a, where b's frame is followed
        for (int k = 0; k < dim - 1; k++) row[n++] = joint_point_row(&p, a, b, 0.0, p.across[k]);
    else
        for (int k = 0; k < dim; k++) row[n++] = joint_point_row(&p, a, b, lean, joint_axes[k]);
    if (kind == TALUS_JOINT_HINGE && dim == 3) {
        joint_axis_vector(j, a, &p, turned);
        for (int k = 0; k < 2; k++) row[n++] = joint_spin_row(p.across[k], turned);
    }
    if (kind == TALUS_JOINT_SLIDER || kind == TALUS_JOINT_WELD) {
        joint_turn_vector(j, a, b, turned);
        for (int k = dim == 2 ? 2 : 0; k < 3; k++) row[n++] = joint_spin_row(joint_axes[k], turned);
    }
    return n;
}

tl_joint_row tl_joint_drive(const tl_joint *j, const tl_pose *a, const tl_pose *b, double last) {
    const joint_place p = joint_get_place(j, a, b);
    if (j->def.kind == TALUS_JOINT_SLIDER) return joint_point_row(&p, a, b, 0.0, p.axis);
    const double full = 2.0 * acos(-1.0);
    double turn[4];
    joint_turned(j, a, b, turn);
    tl_joint_row row = {.spin = true};
    tl_copy3(p.axis, row.direction);
    const double angle = 2.0 * atan2(tl_dot3(turn + 1, j->frame_b), turn[0]);
    row.error = angle + full * round((last - angle) / full);
    return row;
}

void tl_joint_error(const tl_joint *j, int32_t dim, const tl_pose *a, const tl_pose *b,
                    double *error, double *angle) {
    tl_joint_row row[TL_JOINT_ROWS];
    const int n = tl_joint_rows(j, dim, a, b, 0.0, row);
    *error = *angle = 0.0;
    for (int k = 0; k < n; k++) // the directions are orthonormal
        *(row[k].spin ? angle : error) += row[k].error * row[k].error;
    *error = sqrt(*error);
    *angle = sqrt(*angle);
}
