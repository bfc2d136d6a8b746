// SPDX-License-Identifier: Apache-2.0
// Faceted cones: a regular polygon of 2q sides in place of the unit disc of tangential impulses
// [docs/theory/pivoting.md]. With q directions d_j = (cos jπ/q, sin jπ/q), made of unit length in
// their own gauge, e_j = d_j / |(d_j·d_k)_k|_p, the pyramid is
//     { x : |(e_j·x_T)_j|_p <= mu x_N },  p = 1 or ∞.
// p = ∞ gives the polygon around the disc, sides touching it at ±d_j. p = 1 gives, for even q, the
// polygon in the disc with its corners at ±d_j, and for odd q once more the one around it: the sum
// of |e_j·x_T| has its kinks across the directions, and these are directions for even q only.
#ifndef TL_CONE_FACETS_H
#define TL_CONE_FACETS_H
#include "base/compiler.h"
#include <math.h>

typedef enum tl_facet_shape {
    TL_FACETS_INSIDE, // corners on the circle
    TL_FACETS_AROUND, // sides on the circle
} tl_facet_shape;

/// π/2q, half the angle under which a side is seen from the centre.
static inline double tl_facet_half_angle(int q) { return acos(-1.0) / (2.0 * q); }

/// The polygon that p = 1 gives for q directions.
static inline tl_facet_shape tl_facet_sum_shape(int q) {
    return q % 2 == 0 ? TL_FACETS_INSIDE : TL_FACETS_AROUND;
}

/// Radius of the circle through the corners, and of the one that touches the sides.
static inline void tl_facet_radii(int q, tl_facet_shape shape, double *inner, double *outer) {
    const double c = cos(tl_facet_half_angle(q));
    *inner = shape == TL_FACETS_INSIDE ? c : 1.0;
    *outer = shape == TL_FACETS_INSIDE ? 1.0 : 1.0 / c;
}

/// Corner j of 2q. Opposite corners are negatives of each other bit by bit, so that in a tableau
/// their rows cancel without a rest.
static inline void tl_facet_corner(int q, tl_facet_shape shape, int j, double corner[2]) {
    const double sign = j < q ? 1.0 : -1.0;
    const double steps = 2.0 * (j % q) + (shape == TL_FACETS_INSIDE ? 0.0 : 1.0);
    double inner, outer;
    tl_facet_radii(q, shape, &inner, &outer);
    corner[0] = sign * outer * cos(steps * tl_facet_half_angle(q));
    corner[1] = sign * outer * sin(steps * tl_facet_half_angle(q));
}

#endif // TL_CONE_FACETS_H
