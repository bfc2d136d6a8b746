// SPDX-License-Identifier: Apache-2.0
// Shapes of grains and obstacles, in their own frame. In 2D the third coordinate is 0, "up" is y
// and a sphere is a disk; in 3D "up" is z. Lengths in m (or any consistent unit).
#ifndef TALUS_SHAPE_H
#define TALUS_SHAPE_H
#include "talus/base.h"
TALUS_EXTERN_C_BEGIN

/// Every kind of shape, in one list: X(name, text, what it is).
#define TALUS_SHAPE_LIST(X)                                                                        \
    X(TALUS_SHAPE_SPHERE, "sphere", "ball (2D: disk) about the origin")                            \
    X(TALUS_SHAPE_HALF_SPACE, "half-space", "everything below the plane through the origin")       \
    X(TALUS_SHAPE_CONTAINER, "container", "everything outside a box about the origin")             \
    X(TALUS_SHAPE_DRUM, "drum", "everything outside a cylinder about the z axis (2D: a circle)")   \
    X(TALUS_SHAPE_BOX, "box", "solid box (2D: rectangle) about the origin")                        \
    X(TALUS_SHAPE_CYLINDER, "cylinder", "solid cylinder about the z axis (2D: a disk)")            \
    X(TALUS_SHAPE_CAPSULE, "capsule", "everything within radius of a segment of the up axis")      \
    X(TALUS_SHAPE_ELLIPSOID, "ellipsoid", "solid ellipsoid (2D: ellipse) about the origin")        \
    X(TALUS_SHAPE_SUPERELLIPSOID, "superellipsoid", "ellipsoid with other exponents than 2")       \
    X(TALUS_SHAPE_CONE, "cone", "solid cone (2D: isosceles triangle), tip up")                     \
    X(TALUS_SHAPE_POLYHEDRON, "polyhedron", "convex hull of points (2D: polygon)")                 \
    X(TALUS_SHAPE_WORM, "worm", "everything within radius of a polyline")                          \
    X(TALUS_SHAPE_CLUMP, "clump", "rigid union of shapes")                                         \
    X(TALUS_SHAPE_MESH, "mesh", "surface of triangles (2D: segments); free bodies: closed")

typedef enum talus_shape_kind {
#define TALUS_SHAPE_ENUM(name, text, what) name,
    TALUS_SHAPE_LIST(TALUS_SHAPE_ENUM)
#undef TALUS_SHAPE_ENUM
        TALUS_SHAPE_KINDS ///< how many there are
} talus_shape_kind;

typedef struct talus_shape_def talus_shape_def;

/// A part of a clump: a bounded shape that is not a clump itself, in its place.
typedef struct talus_part {
    const talus_shape_def *shape;
    double position[3], orientation[4];
} talus_part;

/// A shape; fields that its kind does not name are ignored. Arrays belong to the caller; who keeps
/// a shape copies them.
struct talus_shape_def {
    talus_shape_kind kind;
    bool open_top;  ///< container: no wall on its upper side
    double radius;  ///< sphere, drum, cylinder, capsule, worm, cone (of its base); > 0
    double half[3]; ///< container, box: half of the edge lengths, > 0. A container is open (has no
                    ///< wall) along an axis, on both sides, where this is infinite. Ellipsoid,
                    ///< superellipsoid: half axes, > 0
    double height;  ///< drum, cylinder in 3D: from end to end, > 0; drum: infinite for no ends.
                    ///< Capsule: between the centres of its ends, along z (2D: y). Cone: from base
                    ///< to tip; its origin is its centre of mass, 1/4 (2D: 1/3) above the base
    double normal[3]; ///< half-space: direction out of the material; 0: up. Need not be of length 1
    double exponent[2];      ///< superellipsoid: (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q <= 1 with p =
                             ///< exponent[0], q = exponent[1] (2D: p alone), each from 2 to 16
    const double *point;     ///< polyhedron, worm (the polyline), mesh: 3 each
    const int32_t *triangle; ///< mesh: 3 points each, counter-clockwise seen from the free side
                             ///< (2D: segments, 2 points each, free side on the left)
    const talus_part *part;  ///< clump
    int32_t point_count, triangle_count, part_count;
};

/// Mass properties of a shape filled with a density (kg/m³; in 2D kg/m²).
typedef struct talus_mass {
    double mass;       ///< [kg]; infinite for unbounded shapes
    double centre[3];  ///< centre of mass in the shape's frame [m]
    double inertia[3]; ///< principal moments about `centre`; in 2D only the last counts [kg m²]
    double axes[4];    ///< unit quaternion (w, x, y, z): principal axes to the shape's frame
} talus_mass;

TALUS_API const char *talus_shape_text(talus_shape_kind kind); ///< "sphere", …
/// Check a shape; on failure the error says which field and what is allowed.
TALUS_API talus_status talus_shape_check(talus_context *ctx, int32_t dim,
                                         const talus_shape_def *shape) TALUS_MUST_CHECK;
/// Exact mass properties of a shape that talus_shape_check accepts.
TALUS_API talus_status talus_shape_mass(talus_context *ctx, int32_t dim,
                                        const talus_shape_def *shape, double density,
                                        talus_mass *out) TALUS_MUST_CHECK;

TALUS_EXTERN_C_END
#endif // TALUS_SHAPE_H
