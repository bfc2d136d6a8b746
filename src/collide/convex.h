// SPDX-License-Identifier: Apache-2.0
// Bounded convex shapes as their support mappings: distance, depth and contact points of any two
// (docs/theory/collision.md, "Convex bodies"). A new convex shape needs a support function and a
// line in tl_convex_view. Lengths in m; nothing depends on the unit.
#ifndef TL_COLLIDE_CONVEX_H
#define TL_COLLIDE_CONVEX_H
#include "collide/collide.h"
#include "collide/solid.h"

/// A convex body as the search for closest points sees it: a core, and everything within `margin`
/// of the core.
typedef struct tl_convex tl_convex;
struct tl_convex {
    /// Point of the core farthest along d (of any length but 0), both in the shape's frame;
    /// deterministic where there are several.
    void (*support)(const tl_convex *c, const double d[3], double out[3]);
    double margin; ///< sphere: radius about a point core; capsule: radius about a segment;
                   ///< ellipsoid, superellipsoid: about a smaller core; else 0
    const talus_shape_def *shape;
    const tl_solid *solid;
    const double (*corner)[3]; ///< explicit corners (point, segment, triangle, box, hull), in 2D
                               ///< counter-clockwise; four and more in 3D: those of solid->hull
    int32_t corners;           ///< 0 where the core is curved
};

typedef struct tl_nearest {
    double gap;        ///< signed distance of the bodies, margins included
    double normal[3];  ///< unit, from b to a
    double a[3], b[3]; ///< points on the surfaces (world): a − b = gap normal
} tl_nearest;

/// Signed distance of two convex bodies in their poses: where they overlap, minus the length of the
/// shortest way that parts them. Returns false where they are farther apart than `reach`; nothing
/// else is known then.
bool tl_convex_nearest(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                       const tl_pose *pb, double reach, tl_nearest *out);

/// The convex view of a bounded convex shape. `solid` may be NULL (a shape that was not added):
/// shapes with corners then count as curved ones and are accurate to 1e-6 of their size only.
void tl_convex_view(int32_t dim, const talus_shape_def *shape, const tl_solid *solid,
                    tl_convex *out);

/// Support of a core with explicit corners: the first of the farthest.
void tl_convex_support_corners(const tl_convex *c, const double d[3], double out[3]);

enum { TL_POLYTOPE_MOST = 4 }; ///< points that tl_polytope_points writes at most; 2 in 2D

/// Contact points of two bodies whose cores have corners, within reach, ascending by feature.
/// Features are below tl_polytope_features and stay the same while the bodies slide or roll.
int tl_polytope_points(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                       const tl_pose *pb, double reach, tl_touch *out);
uint32_t tl_polytope_features(int32_t dim, const tl_convex *a, const tl_convex *b);

#endif // TL_COLLIDE_CONVEX_H
