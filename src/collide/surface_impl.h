// SPDX-License-Identifier: Apache-2.0
// A surface in the making. Room is asked for first; adding to it then cannot fail.
#ifndef TL_COLLIDE_SURFACE_IMPL_H
#define TL_COLLIDE_SURFACE_IMPL_H
#include "base/context.h"
#include "base/vec3.h"
#include "collide/collide.h"
#include "talus/surface.h"

typedef struct tl_surface_build {
    talus_context *ctx;
    int32_t dim;
    int32_t detail; ///< a multiple of 4
    double extent;
    bool inside; ///< the free side is the inside: facets and normals are turned round
    talus_surface *out;
    int64_t point_room, facet_room;
} tl_surface_build;

/// Room for so many more points and facets.
talus_status tl_surface_reserve(tl_surface_build *b, int64_t points,
                                int64_t facets) TALUS_MUST_CHECK;

/// Add a point with the normal out of the (bounded) shape; returns its number.
static inline int32_t tl_surface_point(tl_surface_build *b, const double x[3], const double n[3]) {
    talus_surface *s = b->out;
    const int32_t at = s->points++;
    tl_copy3(x, s->point + 3 * (int64_t)at);
    tl_scale3((b->inside ? -1.0 : 1.0) / tl_norm3(n), n, s->normal + 3 * (int64_t)at);
    return at;
}

/// Add a triangle, counter-clockwise seen from outside of the (bounded) shape.
static inline void tl_surface_triangle(tl_surface_build *b, int32_t p, int32_t q, int32_t r) {
    int32_t *t = b->out->triangle + 3 * (int64_t)b->out->triangles++;
    t[0] = p;
    t[1] = b->inside ? r : q;
    t[2] = b->inside ? q : r;
}

/// Add a segment, with the outside of the (bounded) shape on its left.
static inline void tl_surface_segment(tl_surface_build *b, int32_t p, int32_t q) {
    int32_t *t = b->out->triangle + 2 * (int64_t)b->out->triangles++;
    t[0] = b->inside ? q : p;
    t[1] = b->inside ? p : q;
}

/// Add a flat convex face with points of its own: its corners counter-clockwise seen from outside
/// (2D: two, in the order of an outline that is counter-clockwise).
talus_status tl_surface_face(tl_surface_build *b, int32_t corners, const double (*corner)[3],
                             const double normal[3]) TALUS_MUST_CHECK;

/// Add a checked shape that is neither a union nor a mesh.
talus_status tl_surface_add(tl_surface_build *b, const talus_shape_def *shape) TALUS_MUST_CHECK;
/// Those whose faces are round: sphere, ellipsoid, superellipsoid, capsule, cylinder, drum, cone
/// (3D).
talus_status tl_surface_add_round(tl_surface_build *b,
                                  const talus_shape_def *shape) TALUS_MUST_CHECK;
talus_status tl_surface_add_mesh(tl_surface_build *b,
                                 const talus_shape_def *shape) TALUS_MUST_CHECK;
/// Clump or worm.
talus_status tl_surface_add_union(tl_surface_build *b,
                                  const talus_shape_def *shape) TALUS_MUST_CHECK;

#endif // TL_COLLIDE_SURFACE_IMPL_H
