// SPDX-License-Identifier: Apache-2.0
// Convex bodies given by corners and a radius about them, and their signed distance by trying every
// direction that can be the best one. Nothing of the library is used but its random numbers.
#ifndef TALUS_TESTS_CORNERS_H
#define TALUS_TESTS_CORNERS_H
#include "base/rng.h"
#include "collide/collide.h"

enum { CORNERS_MOST = 24 };

typedef struct corners {
    int count;
    double at[CORNERS_MOST][3]; ///< in the world
    double margin;
} corners;

/// Corners of a sphere, box, capsule or polyhedron in its pose.
corners corners_of(int32_t dim, const talus_shape_def *shape, const tl_pose *pose);
/// min over a of n·x − max over b of n·y, margins included; n need not be a unit vector.
double corners_along(const corners *a, const corners *b, const double n[3]);
/// The signed distance: the largest of corners_along over all directions that are normal to three
/// corners of a body, to two of each, or lead from a corner or a line through two to a corner.
double corners_distance(int32_t dim, const corners *a, const corners *b);
/// How far x is outside of the body, at most: the largest distance from a plane through three
/// corners (2D: line through two) that has all of them behind it; negative inside.
double corners_outside(int32_t dim, const corners *body, const double x[3]);

#endif // TALUS_TESTS_CORNERS_H
