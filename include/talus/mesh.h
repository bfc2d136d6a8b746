// SPDX-License-Identifier: Apache-2.0
// Surfaces for obstacles: points and triangles (2D: segments) read from a file or made from a few
// numbers. What comes out fits into a talus_shape_def of kind TALUS_SHAPE_MESH.
#ifndef TALUS_MESH_H
#define TALUS_MESH_H
#include "talus/shape.h"
TALUS_EXTERN_C_BEGIN

/// A surface. Arrays are owned; see talus_mesh_clear.
typedef struct talus_mesh {
    double *point; ///< 3 each
    int32_t point_count;
    int32_t *triangle; ///< 3 points each (2D: segments, 2 points each)
    int32_t triangle_count;
    int32_t dropped; ///< facets without area that were left out
    int32_t turned;  ///< facets whose corners were put in the other order
    bool closed;     ///< every edge (2D: point) belongs to exactly two facets that agree about the
                     ///< outside: the surface bounds a solid
} talus_mesh;

/// How a file is read; begin with talus_mesh_read_default().
typedef struct talus_mesh_read_options {
    int32_t dim;  ///< 3 (default) or 2
    double scale; ///< every coordinate is multiplied by it (0.001: the file is in mm); default 1
    double weld;  ///< points at most so far apart (after scaling) become one; default 0: equal ones
} talus_mesh_read_options;

TALUS_API talus_mesh_read_options talus_mesh_read_default(void);

/// Most facets and points of a mesh.
#define TALUS_MESH_MOST 10000000

/// Read a surface. The end of the name decides: `.stl` (binary or text) or `.obj`. In 2D it is the
/// line elements (`l`) of an OBJ file, whose points must have z = 0.
///
/// Points that are equal, or within `weld` of one that came before, become one. Facets without area
/// (corners on a line, within rounding) are left out. Faces of an OBJ file with more than three
/// corners become triangles: four along the diagonal that folds least, more as a fan from the first
/// corner. Normals in the file are not used: the order of the corners counts, counter-clockwise
/// seen from outside. Where neighbours do not agree about it, facets are turned so that each
/// connected piece does, and so that closed pieces have their outside outside (inside, for a cavity
/// within another; looked at for up to 64 closed pieces). A piece that has no two sides (a Möbius
/// strip) is refused.
///
/// An error names the file and the line or byte.
TALUS_API talus_status talus_mesh_read(talus_context *ctx, const char *path,
                                       const talus_mesh_read_options *options,
                                       talus_mesh *out) TALUS_MUST_CHECK;
TALUS_API void talus_mesh_clear(talus_context *ctx, talus_mesh *mesh); ///< zeroed is allowed

/// Obstacles that are made of a few numbers: X(name, text, what it is). All are sheets: they have
/// no thickness and can be touched from both sides. In 2D they are cut along the plane y = 0, with
/// z called y.
#define TALUS_MESH_LIST(X)                                                                         \
    X(TALUS_MESH_HOPPER, "hopper", "four slanting walls with a square outlet about the origin")    \
    X(TALUS_MESH_FUNNEL, "funnel", "cone with a round outlet about the origin")                    \
    X(TALUS_MESH_PIPE, "pipe", "tube about the up axis, open at both ends")                        \
    X(TALUS_MESH_RAMP, "ramp", "plane that rises along x, its lower edge through the origin")

typedef enum talus_mesh_kind {
#define TALUS_MESH_ENUM(name, text, what) name,
    TALUS_MESH_LIST(TALUS_MESH_ENUM)
#undef TALUS_MESH_ENUM
        TALUS_MESH_KINDS ///< how many there are
} talus_mesh_kind;

/// Lengths in m; fields that the kind does not name are ignored.
typedef struct talus_mesh_def {
    talus_mesh_kind kind;
    double size[3]; ///< hopper: width along x and y at the top, height of the slanting walls; ramp:
                    ///< length along x, width along y, rise; > 0. 2D: x, then height or rise
    double radius;  ///< funnel: at the top; pipe; > 0
    double height;  ///< funnel: of the cone; pipe; > 0
    double outlet;  ///< hopper: width of the outlet; funnel: its radius; > 0, less than the top
    double rim;     ///< hopper, funnel: height of the upright wall above; >= 0
    double spout;   ///< hopper, funnel: length of the upright wall below the outlet; >= 0
    int32_t sides;  ///< funnel, pipe: of the polygon in the circle, >= 3; 0: 48
} talus_mesh_def;

TALUS_API const char *talus_mesh_text(talus_mesh_kind kind); ///< "hopper", …
/// Make an obstacle; `dim` is 2 or 3.
TALUS_API talus_status talus_mesh_make(talus_context *ctx, int32_t dim, const talus_mesh_def *def,
                                       talus_mesh *out) TALUS_MUST_CHECK;

/// The shape of a mesh; its arrays are borrowed from the mesh.
TALUS_API talus_shape_def talus_mesh_shape(const talus_mesh *mesh);

TALUS_EXTERN_C_END
#endif // TALUS_MESH_H
