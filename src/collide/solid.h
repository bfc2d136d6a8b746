// SPDX-License-Identifier: Apache-2.0
// A shape as it is kept: a copy of its own, and what is worked out once when it is added (faces of
// a hull, tree of a mesh, parts of a union). The search reads it and never changes it.
#ifndef TL_COLLIDE_SOLID_H
#define TL_COLLIDE_SOLID_H
#include "collide/collide.h"
#include "collide/hull.h"

typedef struct tl_solid tl_solid;

/// A shape that a union is made of, not a union itself, in its place.
typedef struct tl_piece {
    const tl_solid *solid; ///< belongs to one of the union's children
    tl_pose place;         ///< in the union's frame
} tl_piece;

struct tl_solid {
    talus_shape_def shape; ///< checked; its arrays belong to the solid. A half-space has a normal
                           ///< of length 1
    tl_hull *hull;         ///< box, polyhedron; else NULL
    double segment[2][3];  ///< capsule: centres of its lower and upper end
    double rolling;        ///< ellipsoid, superellipsoid: tl_round_rolling
    struct tl_mesh *mesh;  ///< piece of a mesh
    tl_solid **child;      ///< clump: its parts; worm: its capsules
    int32_t children;
    tl_piece *piece; ///< clump, worm, mesh (one, in the middle of its box); otherwise NULL
    int32_t pieces;
};

/// Check and copy a shape. A 2D cylinder becomes a sphere and a 2D cone a polyhedron.
talus_status tl_solid_create(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                             tl_solid **out) TALUS_MUST_CHECK;
void tl_solid_destroy(talus_context *ctx, tl_solid *s); // NULL is allowed
/// The least box with edges along the axes that holds a bounded convex solid in its place.
void tl_solid_box(int32_t dim, const tl_solid *s, const tl_pose *place, double low[3],
                  double high[3]);

#endif // TL_COLLIDE_SOLID_H
