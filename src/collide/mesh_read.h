// SPDX-License-Identifier: Apache-2.0
// What the files that read meshes share. Readers fill a soup of points and facets; mesh_read.c
// makes a mesh of it, mesh_sides.c settles what its outside is.
#ifndef TL_COLLIDE_MESH_READ_H
#define TL_COLLIDE_MESH_READ_H
#include "base/context.h"
#include "talus/mesh.h"

/// Points and facets as they come. Facets have `dim` corners.
typedef struct tl_soup {
    talus_context *ctx;
    int32_t dim;
    double scale;
    double *point; ///< 3 each
    int64_t points, point_room;
    int32_t *corner;
    int64_t facets, facet_room;
} tl_soup;

/// `where` says what the point or facet is in an error ("line 7").
talus_status tl_soup_add_point(tl_soup *s, const double x[3], const char *where) TALUS_MUST_CHECK;
talus_status tl_soup_add_facet(tl_soup *s, const int32_t *corner,
                               const char *where) TALUS_MUST_CHECK;

talus_status tl_read_stl_binary(tl_soup *s, const unsigned char *bytes,
                                size_t size) TALUS_MUST_CHECK;
talus_status tl_read_stl_text(tl_soup *s, const char *text, size_t size) TALUS_MUST_CHECK;
talus_status tl_read_obj(tl_soup *s, const char *text, size_t size) TALUS_MUST_CHECK;

/// Read the content of a file; its name decides about the format.
talus_status tl_mesh_parse(talus_context *ctx, const char *name, const void *bytes, size_t size,
                           const talus_mesh_read_options *options,
                           talus_mesh *out) TALUS_MUST_CHECK;

/// Facets of each edge (2D: point) of a mesh. Edge e is from `end[2 e]` to `end[2 e + 1]` (2D: the
/// point end[2 e], twice); its facets are facet[start[e]] … facet[start[e + 1] − 1]. edge[dim t +
/// k] is the edge of facet t that begins at its corner k (2D: its corner k).
typedef struct tl_edges {
    int32_t count;
    int32_t *end, *start, *facet, *edge;
} tl_edges;
talus_status tl_edges_create(talus_context *ctx, int32_t dim, const int32_t *triangle,
                             int32_t triangle_count, int32_t point_count,
                             tl_edges *out) TALUS_MUST_CHECK;
void tl_edges_clear(talus_context *ctx, tl_edges *e);

/// Make neighbours agree about the outside, and closed pieces have it outside; sets `turned` and
/// `closed`.
talus_status tl_mesh_settle_sides(talus_context *ctx, int32_t dim,
                                  talus_mesh *mesh) TALUS_MUST_CHECK;

#endif // TL_COLLIDE_MESH_READ_H
