// SPDX-License-Identifier: Apache-2.0
// The flat parts that two bodies show along their common normal n, drawn in the plane across n with
// heights along n, from the origin of b.
#ifndef TL_COLLIDE_ROUND_FLAT_H
#define TL_COLLIDE_ROUND_FLAT_H
#include "collide/round_pair.h"

enum {
    TL_FLAT_RIM = 16,  ///< corners of a rim
    TL_FLAT_MOST = 32, ///< corners of a face; of more, some are left out
};

/// Sine of the tilt up to which a face or line counts as square to n.
#define TL_FLAT_TIGHT 1e-12

/// What a body shows: 0 corner, 1 line, 2 face; its corners as (u, v, height).
typedef struct tl_flat {
    int dim, count;
    double p[TL_FLAT_MOST][3];
    double m[3];     ///< face: its normal, as (u, v, n)
    double sine;     ///< of its tilt
    double round[2]; ///< line: radius of the surface about its ends; 0: an edge
    double disc;     ///< face: radius of its rim; 0: it has corners
} tl_flat;

typedef struct tl_flat_frame {
    double t[2][3], n[3];
} tl_flat_frame;

/// What a body that is not smooth shows, if it is tilted by no more than `limit` (sine).
void tl_flat_make(const tl_facing *f, const tl_side *s, const tl_flat_frame *frame, double limit,
                  tl_flat *out);
/// Height of a face at a point of the drawing.
double tl_flat_height(const tl_flat *face, const double p[2]);
/// 1: the corners of a face go counter-clockwise, −1: clockwise.
double tl_flat_turn(const tl_flat *face);
/// Centre of the rim of a face.
void tl_flat_centre(const tl_flat *face, double out[2]);
/// Whether a point is above a face.
bool tl_flat_holds(const tl_flat *face, const double p[2]);
/// The points of two flat parts that are nearest in the drawing, along their edges.
void tl_flats_edges(const tl_flat *a, const tl_flat *b, double pa[3], double pb[3]);
/// The point of a flat part nearest to p in the drawing.
void tl_flat_nearest(const tl_flat *s, const double p[2], double out[3]);
/// The points of two flat parts that are nearest in the drawing; one and the same where the parts
/// have one in common.
void tl_flats_nearest(const tl_flat *a, const tl_flat *b, double pa[3], double pb[3]);

/// Twice the signed area of the triangle a, b, c.
static inline double tl_flat_area(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}
static inline double tl_within_unit(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

#endif // TL_COLLIDE_ROUND_FLAT_H
