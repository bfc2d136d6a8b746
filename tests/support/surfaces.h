// SPDX-License-Identifier: Apache-2.0
// Surfaces to test meshes with. Arrays are fixed and large enough for what is made of them.
#ifndef TALUS_TESTS_SURFACES_H
#define TALUS_TESTS_SURFACES_H
#include "base/rng.h"
#include "talus/shape.h"

enum { SURFACE_POINTS = 40000, SURFACE_FACETS = 80000 };

typedef struct surface {
    double point[3 * SURFACE_POINTS];
    int32_t facet[3 * SURFACE_FACETS];
    int32_t points, facets, dim;
} surface;

/// A rectangle of the plane z = 0 (2D: a part of the line y = 0), −half … half along each axis, in
/// n by n cells; their corners are moved about at random within the plane, and diagonals go either
/// way.
void surface_plane(surface *s, int32_t dim, double half, int32_t n, uint64_t seed);
/// Let about half of the facets look to the other side.
void surface_turn_some(surface *s, tl_rng *rng);
/// Sphere of radius r: an octahedron, each facet divided into n² (2D: a polygon of 4 n sides,
/// clockwise).
void surface_sphere(surface *s, int32_t dim, double r, int32_t n);
/// Box with these half edges, 12 triangles (2D: rectangle).
void surface_box(surface *s, int32_t dim, const double half[3]);
talus_shape_def surface_shape(const surface *s);
/// Distance of x from the surface: every facet looked at.
double surface_distance(const surface *s, const double x[3]);

#endif // TALUS_TESTS_SURFACES_H
