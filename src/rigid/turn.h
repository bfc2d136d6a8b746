// SPDX-License-Identifier: Apache-2.0
// Turning in space: the logarithm of a rotation, and the free motion of a top.
#ifndef TL_RIGID_TURN_H
#define TL_RIGID_TURN_H
#include "base/vec3.h"

/// The vector (axis times angle, angle in [0, pi]) whose tl_quat_exp is q.
void tl_turn_log(const double q[4], double out[3]);

/// Free motion of a top with principal moments J for a time h: from the spin w (in the body's
/// frame) to `spin`, and the vector `turn` with R+ = R exp(turn). Kinetic energy ½ w·Jw and the
/// angular momentum R J w in space are kept to rounding, whatever h is [theory/schemes].
void tl_turn_free(const double inertia[3], const double w[3], double h, double spin[3],
                  double turn[3]);

#endif // TL_RIGID_TURN_H
