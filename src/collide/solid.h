// SPDX-License-Identifier: Apache-2.0
// A shape as it is kept: a copy of its own, and what is worked out once when it is added (faces of
// a hull, tree of a mesh, parts of a union). The search reads it and never changes it.
#ifndef TL_COLLIDE_SOLID_H
#define TL_COLLIDE_SOLID_H
#include "base/context.h"
#include "collide/hull.h"
#include "talus/shape.h"

typedef struct tl_solid {
    talus_shape_def shape; ///< checked; its arrays belong to the solid
    tl_hull *hull;         ///< box, polyhedron; else NULL
    double segment[2][3];  ///< capsule: centres of its lower and upper end
} tl_solid;

/// Check and copy a shape. A 2D cylinder becomes a sphere and a 2D cone a polyhedron.
talus_status tl_solid_create(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                             tl_solid **out) TALUS_MUST_CHECK;
void tl_solid_destroy(talus_context *ctx, tl_solid *s); // NULL is allowed

#endif // TL_COLLIDE_SOLID_H
