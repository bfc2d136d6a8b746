// SPDX-License-Identifier: Apache-2.0
// Two shapes by themselves: their contact points from the library, and rotations of our own to
// judge them by.
#ifndef TALUS_TESTS_TWO_SHAPES_H
#define TALUS_TESTS_TWO_SHAPES_H
#include "base/rng.h"
#include "collide/collide.h"

enum { TWO_SHAPES_MOST = 64 };

typedef struct two_shapes {
    int32_t dim;
    talus_shape_def shape[2];
    tl_pose pose[2];
    tl_collide *kept; ///< of two_shapes_keep
} two_shapes;

/// Make the search once for many poses; the shapes must not change until it is let go.
void two_shapes_keep(talus_context *context, two_shapes *s);
void two_shapes_let_go(two_shapes *s);

/// The contact points of shape 0 (item 0, free) with shape 1 (item 1, immovable); asserts that the
/// search succeeds and that every point is a possible one: a = 0, b = 1, features ascending, gap <=
/// reach, a unit normal, and x_a + arm_a = x_b + arm_b + gap normal.
int two_shapes_touches(talus_context *context, const two_shapes *s, double reach,
                       tl_touch out[TWO_SHAPES_MOST]);
/// A random rotation; in 2D about the third axis.
void random_turn(tl_rng *rng, int32_t dim, double q[4]);
/// The matrix of a unit quaternion, and its product with a vector; `inverse`: with the transpose.
void turn_vector(const double q[4], bool inverse, const double a[3], double out[3]);
/// Move both shapes as one: turn by q about the origin, then shift by x.
void two_shapes_move(two_shapes *s, const double q[4], const double x[3]);

#endif // TALUS_TESTS_TWO_SHAPES_H
