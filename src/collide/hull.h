// SPDX-License-Identifier: Apache-2.0
// Convex polyhedra (2D: polygons): corners, faces, edges, and what is made of them once. Everything
// in the shape's frame.
#ifndef TL_COLLIDE_HULL_H
#define TL_COLLIDE_HULL_H
#include "base/context.h"
#include "talus/shape.h"

enum {
    TL_HULL_CORNERS = 512,               ///< a hull may have
    TL_HULL_EDGES = 3 * TL_HULL_CORNERS, ///< more than Euler's formula allows
};

/// Corners, edges and angles below this part of the size of a hull are no features of their own:
/// points that are flat within it are one face.
#define TL_HULL_FLAT 1e-9

typedef struct tl_hull_edge {
    int32_t tail, head;  ///< corners
    int32_t left, right; ///< faces; `left` has it from tail to head
} tl_hull_edge;

typedef struct tl_hull {
    int32_t corners, faces, edges; ///< in 2D a face is an edge of the polygon, and `edges` is 0
    double (*corner)[3];           ///< in 2D counter-clockwise
    double (*normal)[3];           ///< outward, unit
    double *offset;                ///< largest normal·corner
    int32_t *face_start; ///< corners of face f: loop[face_start[f]] … loop[face_start[f + 1] − 1],
                         ///< counter-clockwise seen from outside. In 2D face f is f, f + 1
    int32_t *loop;
    int32_t *loop_edge; ///< from loop[i] to the next; 3D only
    tl_hull_edge *edge;
    int32_t *fan_start, *fan; ///< faces at each corner, like the loops
    double size;              ///< largest distance of a corner from the origin
} tl_hull;

/// The convex hull of points (3 numbers each; in 2D the third is ignored). Fails for less than
/// dim + 1 points, numbers that are not finite, and points that are all on a plane (2D: line).
talus_status tl_hull_create(talus_context *ctx, int32_t dim, const double *point, int32_t count,
                            tl_hull **out) TALUS_MUST_CHECK;
/// The box (2D: rectangle) about the origin with these half edges. In 3D bit k of the number of a
/// corner is set where its coordinate k is positive.
talus_status tl_hull_create_box(talus_context *ctx, int32_t dim, const double half[3],
                                tl_hull **out) TALUS_MUST_CHECK;
void tl_hull_destroy(talus_context *ctx, tl_hull *h); // NULL is allowed

/// Exact mass properties of a hull filled with a density.
void tl_hull_mass(int32_t dim, const tl_hull *h, double density, talus_mass *out);

/// Volume, first and second moments.
typedef struct tl_mass_sums {
    double volume, first[3], second[3][3];
} tl_mass_sums;
/// Add a simplex with corners 0 and p (three, 2D two) and this volume, which may be negative.
void tl_mass_add(tl_mass_sums *sums, int32_t corners, double (*p)[3], double volume);
/// Mass properties from sums that were taken with `origin` as 0.
void tl_mass_finish(int32_t dim, const tl_mass_sums *sums, const double origin[3], double density,
                    talus_mass *out);
/// Principal moments of a symmetric inertia tensor, and the unit quaternion that turns their axes
/// into its frame.
void tl_mass_principal(const double tensor[3][3], double inertia[3], double axes[4]);

#endif // TL_COLLIDE_HULL_H
