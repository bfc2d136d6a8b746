// SPDX-License-Identifier: Apache-2.0
// A surface of facets (triangles; 2D: segments) as the search sees it: a tree of boxes, flat
// patches, and at which edges (2D: points) it can be touched (docs/theory/collision.md, "Meshes").
#ifndef TL_COLLIDE_MESH_H
#define TL_COLLIDE_MESH_H
#include "collide/mesh_read.h"
#include "collide/pair.h"

enum {
    TL_MESH_LEAF = 4,    ///< facets of a leaf
    TL_MESH_LEVELS = 32, ///< of the tree, more than any mesh needs
};

typedef struct tl_box {
    double low[3], high[3];
} tl_box;

/// Everything in a frame whose origin is the middle of the surface's box.
typedef struct tl_mesh {
    int32_t dim, points, facets;
    double (*point)[3];
    const int32_t *corner; ///< dim each; borrowed from the solid
    double (*normal)[3];   ///< of facets, unit
    int32_t *patch;        ///< of each facet: the first facet of the flat patch it belongs to
    bool closed;           ///< it bounds a solid; otherwise it is a sheet with two sides
    double size;           ///< half of the longest edge of its box
    tl_edges edges;        ///< 2D: points
    bool *ridge;           ///< of each edge: it can be touched
    int32_t *spoke_start;  ///< 3D: edges at each point, spoke[spoke_start[p]] …
    int32_t *spoke;
    int32_t *order;                ///< facets, leaf by leaf
    int32_t levels;                ///< of boxes; the last has one
    int32_t width[TL_MESH_LEVELS]; ///< boxes of each level
    tl_box *box[TL_MESH_LEVELS];   ///< level 0: of the leaves; box i of a level holds 2 i, 2 i + 1
} tl_mesh;

/// Check the fields of a mesh shape.
talus_status tl_mesh_check(talus_context *ctx, int32_t dim,
                           const talus_shape_def *shape) TALUS_MUST_CHECK;
/// `shape` has been checked, and its `triangle` outlives the mesh. `middle` receives the origin of
/// its frame in that of the shape.
talus_status tl_mesh_create(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                            double middle[3], tl_mesh **out) TALUS_MUST_CHECK;
void tl_mesh_destroy(talus_context *ctx, tl_mesh *m); // NULL is allowed
/// Exact mass of the solid within a closed mesh; infinite for a sheet.
talus_status tl_mesh_mass(talus_context *ctx, int32_t dim, const talus_shape_def *shape,
                          double density, talus_mass *out) TALUS_MUST_CHECK;

/// Unit direction within facet t away from its edge e and across it (2D: from point e along it).
void tl_mesh_inward(const tl_mesh *m, int32_t e, int32_t t, double out[3]);

/// Facets whose box meets a box, one after the other.
typedef struct tl_mesh_query {
    const tl_mesh *mesh;
    tl_box box;
    int32_t stack[2 * TL_MESH_LEVELS]; ///< boxes to look at: level, index
    int top;
    int32_t leaf, next; ///< the leaf in hand (−1: none), and which of its facets is next
} tl_mesh_query;
void tl_mesh_query_begin(const tl_mesh *m, const double low[3], const double high[3],
                         tl_mesh_query *out);
/// The next facet, −1: there is none.
int32_t tl_mesh_query_next(tl_mesh_query *q);
/// Whether any facet's box is within `reach` of the point x.
bool tl_mesh_is_near(const tl_mesh *m, const double x[3], double reach);

/// Contact points of a bounded convex shape with a mesh, sorted by feature; the normal goes from
/// the mesh to the shape and arm_a is the shape's. With `out` NULL it returns only a bound of how
/// many there are.
int64_t tl_mesh_points(int32_t dim, const tl_placed *shape, const tl_placed *mesh, double reach,
                       tl_touch *out);

/// A place of the surface and how a point lies to it.
typedef struct tl_mesh_place {
    int32_t facet;
    bool behind;      ///< the point is within the solid
    double distance;  ///< >= 0
    double point[3];  ///< of the surface
    double normal[3]; ///< out of the solid; of a sheet, to the side of the point
} tl_mesh_place;
/// The place nearest to x (in the frame of the mesh). False: it is farther than `reach`, and x is
/// not within a solid.
bool tl_mesh_nearest(const tl_mesh *m, const double x[3], double reach, tl_mesh_place *out);

#endif // TL_COLLIDE_MESH_H
