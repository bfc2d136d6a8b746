// SPDX-License-Identifier: Apache-2.0
// Ellipsoids, superellipsoids, cylinders and cones by themselves: support functions with first and
// second derivatives, sizes, masses (docs/theory/collision.md, "Round shapes").
//
// The support function of a convex body is h(d) = max d·x over its points. Its gradient s(d) is the
// point where the maximum is reached; its second derivative H(d) turns a change of the normal into
// a way on the surface: on the plane across d its eigenvalues are radii of curvature over |d|.
#ifndef TL_COLLIDE_ROUND_H
#define TL_COLLIDE_ROUND_H
#include "base/context.h"
#include "collide/pair.h"

/// Exponents of a superellipsoid. Below 2 its surface has edges along the coordinate planes; above
/// 16 it is a box but for roundings of a few hundredths of its size, and its curvature spans more
/// orders of magnitude than a search for a common normal can count on.
#define TL_EXPONENT_LEAST 2.0
#define TL_EXPONENT_MOST 16.0

/// Cylinder or cone: the hull of two circles about the z axis, the first the upper one. The tip of
/// a cone is a circle without radius.
typedef struct tl_lathe {
    double r[2], z[2];
    double slope; ///< sine of the angle by which the normal of its mantle looks up
} tl_lathe;

static inline tl_lathe tl_lathe_of(const talus_shape_def *shape) {
    const double r = shape->radius, h = shape->height;
    if (shape->kind == TALUS_SHAPE_CYLINDER)
        return (tl_lathe){.r = {r, r}, .z = {0.5 * h, -0.5 * h}};
    return (tl_lathe){.r = {0.0, r}, .z = {0.75 * h, -0.25 * h}, .slope = r / hypot(r, h)};
}

/// What the shapes of this file must fulfil; TALUS_ERR_ARG with a reason otherwise.
talus_status tl_round_check(talus_context *ctx, int32_t dim,
                            const talus_shape_def *shape) TALUS_MUST_CHECK;
talus_mass tl_round_mass(int32_t dim, const talus_shape_def *shape, double density);
double tl_round_extent(int32_t dim, const talus_shape_def *shape);

/// h(d) and s(d) of an ellipsoid or superellipsoid; H(d) too where it is not NULL. In the shape's
/// frame, d not 0; third components are 0 in 2D.
double tl_ellipsoid_support(int32_t dim, const talus_shape_def *shape, const double d[3],
                            double s[3], double (*H)[3]);
/// A normal at the point x, not 0, of an ellipsoid or superellipsoid: what tl_ellipsoid_support
/// takes to x, of any length.
void tl_ellipsoid_normal(int32_t dim, const talus_shape_def *shape, const double x[3], double d[3]);
/// The same of the circle of radius r about the z axis at height z.
double tl_circle_support(double r, double z, const double d[3], double s[3], double (*H)[3]);
/// h(d) and s(d) of cylinder and cone; of two equal circles the one at the side of `up` counts.
double tl_lathe_support(const tl_lathe *l, const double d[3], double s[3]);

/// Radius of a ball that can roll along the inside of the surface everywhere: for an ellipsoid the
/// least radius of curvature, for a superellipsoid a safe half of that; 0 for other shapes.
double tl_round_rolling(int32_t dim, const talus_shape_def *shape);

#endif // TL_COLLIDE_ROUND_H
