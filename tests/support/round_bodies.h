// SPDX-License-Identifier: Apache-2.0
// Convex bodies by their definitions, to judge contact points by: how far a point is outside, and
// the farthest point along a direction. Nothing of the library is used but its random numbers.
//
// For any unit vector n the bodies a and b are at least S(n) = min over a of n·x − max over b of
// n·y apart, and two points of them are at least as far from each other as the bodies. A gap >= 0
// that is both is the distance; a gap < 0 that is S(n) is a way to part them, and the shortest one
// where no direction has a larger S.
#ifndef TALUS_TESTS_ROUND_BODIES_H
#define TALUS_TESTS_ROUND_BODIES_H
#include "base/rng.h"
#include "collide/collide.h"

enum { ROUND_POINTS = 12 };

/// A shape in its pose, with room for the corners of a polyhedron.
typedef struct round_body {
    int32_t dim;
    talus_shape_def shape;
    double point[3 * ROUND_POINTS];
    double q[4], x[3];
    double size; ///< a length not below its extent
} round_body;

/// Largest d·(y − x) of its points y, d in the world.
double round_body_support(const round_body *b, const double d[3]);
/// How far the point y (from the origin of the body, in the world) is outside of it, at most; 0 or
/// less inside. Not for polyhedra.
double round_body_outside(const round_body *b, const double y[3]);
/// S(n), n of any length but 0, with `apart` the way from the origin of b to that of a.
double round_bodies_along(const round_body *a, const round_body *b, const double apart[3],
                          const double n[3]);
/// The largest S(n) that a search finds: `count` directions all over the sphere, and steps of ever
/// smaller lengths from the best ones of these. Never more than the signed distance.
double round_bodies_search(tl_rng *rng, const round_body *a, const round_body *b,
                           const double apart[3], int count);
/// The largest S that steps from n find.
double round_bodies_refine(tl_rng *rng, const round_body *a, const round_body *b,
                           const double apart[3], const double n[3]);
/// A body of a kind with lengths up to `size`, some of them slender (1 : 100).
void round_body_random(tl_rng *rng, int32_t dim, talus_shape_kind kind, double size,
                       round_body *out);

#endif // TALUS_TESTS_ROUND_BODIES_H
