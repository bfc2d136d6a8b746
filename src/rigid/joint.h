// SPDX-License-Identifier: Apache-2.0
// Joints between two bodies: their rows and errors from the poses of the bodies [theory/joints].
#ifndef TL_RIGID_JOINT_H
#define TL_RIGID_JOINT_H
#include "base/context.h"
#include "collide/collide.h" // tl_pose
#include "talus/world.h"

/// A joint as it is kept: in the frames of its bodies.
typedef struct tl_joint {
    talus_joint_def def; ///< as given, motor as it is now; length filled in
    double anchor_a[3], anchor_b[3];
    double axis_a[3];  ///< unit, in the frame of a
    double frame_b[9]; ///< axis and two unit vectors across it, in the frame of b
    double turn[4];    ///< from the frame of a to that of b, when joined
} tl_joint;

/// One row: relative velocity of a and b along a direction, or relative spin about it.
typedef struct tl_joint_row {
    bool spin;
    double direction[3];
    double arm_a[3], arm_b[3]; ///< from the poses; not for spins
    double error;              ///< what the row is to bring to zero [m], [rad]
} tl_joint_row;

enum { TL_JOINT_ROWS = 6 };

talus_status tl_joint_check(talus_context *ctx, int32_t dim,
                            const talus_joint_def *def) TALUS_MUST_CHECK;
/// Make a joint of a checked definition; `frame` has the unit axis and two vectors across it.
void tl_joint_init(const talus_joint_def *def, const tl_pose *a, const tl_pose *b,
                   const double frame[9], tl_joint *out);
bool tl_joint_has_drive(const tl_joint *j); ///< a hinge or a slider
/// The rows of what the joint holds; returns how many. `lean`: where impulses act between the two
/// anchors, 0: at that of a, 1: at that of b.
int tl_joint_rows(const tl_joint *j, int32_t dim, const tl_pose *a, const tl_pose *b, double lean,
                  tl_joint_row row[TL_JOINT_ROWS]);
/// The row along which a hinge or slider is free. Its error is the position: of a hinge the angle
/// nearest to `last`, so that turns are counted.
tl_joint_row tl_joint_drive(const tl_joint *j, const tl_pose *a, const tl_pose *b, double last);
/// How far apart points and angles are that the joint holds together [m], [rad].
void tl_joint_error(const tl_joint *j, int32_t dim, const tl_pose *a, const tl_pose *b,
                    double *error, double *angle);

#endif // TL_RIGID_JOINT_H
