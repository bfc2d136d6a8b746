// SPDX-License-Identifier: Apache-2.0
// The surface of a shape as triangles (2D: its outline as segments), for drawing and for files that
// know nothing but facets. In the shape's frame, in m.
#ifndef TALUS_SURFACE_H
#define TALUS_SURFACE_H
#include "talus/shape.h"
TALUS_EXTERN_C_BEGIN

/// A surface. Arrays are owned; see talus_surface_free. Its points lie on the shape's surface, so
/// that what is within the facets is a little less than the shape where that is round (of the order
/// of 1/detail²).
typedef struct talus_surface {
    int32_t points, triangles;
    double *point;     ///< 3 each
    double *normal;    ///< 3 each, per point: unit, out of the material
    int32_t *triangle; ///< 3 points each, counter-clockwise seen from the free side (2D: segments,
                       ///< 2 points each, free side on the left)
} talus_surface;

/// How many segments a full circle may get.
enum { TALUS_SURFACE_LEAST = 8, TALUS_SURFACE_MOST = 256 };

/// Make the surface of a shape that talus_shape_check accepts.
///
/// `detail`: how many segments a full circle gets, 8 to 256, rounded up to a multiple of 4.
/// `extent` [m]: what is unbounded (half-space, container and drum without ends) is drawn this far
/// from the shape's origin; > 0, not used elsewhere. Round faces share points, so that normals are
/// smooth; at edges the faces have points of their own. A mesh is smooth where its facets meet at
/// less than 30 degrees. Container and drum: the walls, seen from the inside.
///
/// Of clumps and worms, 2D gives the outline of the union; in 3D each part has its whole surface,
/// closed in itself, also where it is within another part.
TALUS_API talus_status talus_shape_surface(talus_context *ctx, int32_t dim,
                                           const talus_shape_def *shape, int32_t detail,
                                           double extent, talus_surface *out) TALUS_MUST_CHECK;
TALUS_API void talus_surface_free(talus_context *ctx, talus_surface *s); ///< zeroed is allowed

TALUS_EXTERN_C_END
#endif // TALUS_SURFACE_H
