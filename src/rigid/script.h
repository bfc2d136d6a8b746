// SPDX-License-Identifier: Apache-2.0
// Given motions: the pose of a body as a function of time, never integrated, so that a script does
// not drift. What contacts need is the mean velocity over a step, (pose(t + h) − pose(t)) / h.
#ifndef TL_RIGID_SCRIPT_H
#define TL_RIGID_SCRIPT_H
#include "base/context.h"
#include "talus/world.h"

typedef struct tl_script {
    talus_motion_def def;    // axis of length 1
    talus_keyframe *frame;   // the keyframes, owned; def points to them
    double x0[3], q0[4];     // where it begins,
    double t0;               // and when
    double begin[4], end[4]; // of the step in hand: orientations,
    double velocity[3];      // mean velocity of the origin,
    double spin[3];          // mean spin, in the world's frame,
    double position[3];      // and the origin at its end
} tl_script;

/// Check a motion; on failure the error says which field and what is allowed.
talus_status tl_script_check(talus_context *ctx, int32_t dim,
                             const talus_motion_def *def) TALUS_MUST_CHECK;
/// Make a script that begins at time t with the pose (x, q). `def` has been checked.
talus_status tl_script_init(talus_context *ctx, const talus_motion_def *def, double t,
                            const double x[3], const double q[4], tl_script *out) TALUS_MUST_CHECK;
void tl_script_clear(talus_context *ctx, tl_script *s);
void tl_script_pose(const tl_script *s, double t, double x[3], double q[4]);
/// Fill in what belongs to the step from t to t + h.
void tl_script_step(tl_script *s, double t, double h);
/// Continue a hash over what the poses depend on.
uint64_t tl_script_hash(const tl_script *s, uint64_t seed);
/// Mean velocity over the step of the point that is at `arm` from the origin while the orientation
/// is q.
void tl_script_velocity(const tl_script *s, double h, const double q[4], const double arm[3],
                        double out[3]);

#endif // TL_RIGID_SCRIPT_H
