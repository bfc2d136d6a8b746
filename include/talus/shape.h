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
    X(TALUS_SHAPE_CYLINDER, "cylinder", "solid cylinder about the z axis (2D: a disk)")

typedef enum talus_shape_kind {
#define TALUS_SHAPE_ENUM(name, text, what) name,
    TALUS_SHAPE_LIST(TALUS_SHAPE_ENUM)
#undef TALUS_SHAPE_ENUM
        TALUS_SHAPE_KINDS ///< how many there are
} talus_shape_kind;

/// A shape; fields that its kind does not name are ignored.
typedef struct talus_shape_def {
    talus_shape_kind kind;
    double radius;  ///< sphere, drum, cylinder; > 0
    double half[3]; ///< container, box: half of the edge lengths, > 0. A container is open (has no
                    ///< wall) along an axis, on both sides, where this is infinite
    bool open_top;  ///< container: no wall on its upper side
    double height;  ///< drum, cylinder in 3D: from end to end, > 0; drum: infinite for no ends
    double normal[3]; ///< half-space: direction out of the material; 0: up. Need not be of length 1
} talus_shape_def;

/// Mass properties of a shape filled with a density (kg/m³; in 2D kg/m²).
typedef struct talus_mass {
    double mass;       ///< [kg]; infinite for unbounded shapes
    double centre[3];  ///< centre of mass in the shape's frame [m]
    double inertia[3]; ///< principal moments about `centre`, along the axes of the shape's frame;
                       ///< in 2D only the last counts [kg m²]
} talus_mass;

TALUS_API const char *talus_shape_text(talus_shape_kind kind); ///< "sphere", …
/// Check a shape; on failure the error says which field and what is allowed.
TALUS_API talus_status talus_shape_check(talus_context *ctx, int32_t dim,
                                         const talus_shape_def *shape) TALUS_MUST_CHECK;
TALUS_API talus_mass talus_shape_mass(int32_t dim, const talus_shape_def *shape, double density);

TALUS_EXTERN_C_END
#endif // TALUS_SHAPE_H
