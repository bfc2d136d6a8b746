// SPDX-License-Identifier: Apache-2.0
// What the files on convex bodies share. They work in the frame of a, on the cores. For a unit
// vector n from b to a,
//     S(n) = min over a of n·x − max over b of n·y
// is the distance of the cores along n: concave, and never more than their signed distance, which
// is the largest value it takes. Whatever n an algorithm comes up with, S(n) is a safe answer.
#ifndef TL_COLLIDE_CONVEX_IMPL_H
#define TL_COLLIDE_CONVEX_IMPL_H
#include "base/vec3.h"
#include "collide/convex.h"
#include "collide/hull.h"

typedef struct tl_couple {
    int32_t dim;
    const tl_convex *a, *b;
    double turn[3][3]; ///< from the frame of b to that of a
    double shift[3];   ///< origin of b in the frame of a
    double size;       ///< of the larger core
} tl_couple;

/// Points of the Minkowski difference a − b with the points they are made of.
typedef struct tl_simplex {
    int count; ///< 1 to 4
    double w[4][3], a[4][3], b[4][3];
    double weight[4]; ///< of the point nearest to the origin
} tl_simplex;

typedef enum tl_gjk_result { TL_GJK_FAR, TL_GJK_APART, TL_GJK_OVERLAP } tl_gjk_result;

/// The direction of least overlap, or of the distance.
typedef struct tl_axis {
    double n[3]; ///< unit, from b to a
    double s;    ///< S(n), of the cores
} tl_axis;

void tl_couple_make(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, tl_couple *out);

/// Nearest points of two cores, by GJK. APART: `axis` is right to rounding and the simplex holds
/// the nearest points; OVERLAP (or touching): the simplex holds a common point; FAR: more than
/// `reach` apart.
tl_gjk_result tl_gjk(const tl_couple *c, double reach, tl_simplex *simplex, tl_axis *axis);

/// Improve `axis` to the best one of two cores with corners. `at_a` and `at_b` are points of the
/// cores near each other; axis->s is a lower bound, −INFINITY where there is none.
void tl_axis_of_corners(const tl_couple *c, const tl_hull *a, const tl_hull *b,
                        const double at_a[3], const double at_b[3], tl_axis *axis);
/// The best axis of overlapping cores of any kind, by growing a polytope inside a − b; points of
/// the surfaces with it.
void tl_axis_by_growth(const tl_couple *c, tl_axis *axis, double at_a[3], double at_b[3]);

/// Room for the hull of a core that has no solid of its own.
typedef struct tl_small_hull {
    tl_hull hull;
    double corner[3][3], normal[5][3], offset[5];
    int32_t face_start[6], loop[12], loop_edge[12], fan_start[4], fan[12];
    tl_hull_edge edge[6];
} tl_small_hull;

/// Corners, faces and edges of a core with corners. A triangle has its two sides and, so that every
/// edge belongs to faces less than half a turn apart, a face of no height at each edge; a segment
/// four (2D: two) such faces around it; a point the one that looks up.
const tl_hull *tl_convex_hull(int32_t dim, const tl_convex *c, tl_small_hull *room);

/// Best axis of two cores, and points near each other in its direction: false where they are
/// farther apart than reach. For cores with corners `ha` and `hb` must be given.
bool tl_convex_axis(const tl_couple *c, const tl_hull *ha, const tl_hull *hb, double reach,
                    tl_axis *axis, double at_a[3], double at_b[3], bool *overlap);

/// A place where two cores touch.
typedef struct tl_spot {
    double a[3], b[3]; ///< on the cores: a − b = gap n
    double n[3], gap;
    uint32_t feature;
} tl_spot;

enum { TL_SPOTS = 2 * TL_HULL_CORNERS };

/// The places where two cores with corners touch along an axis, within reach; at most TL_SPOTS. A
/// place with the least gap is among them; `at_b` is the nearest point of b where they are apart.
int tl_manifold(const tl_couple *c, const tl_hull *ha, const tl_hull *hb, const tl_axis *axis,
                const double at_b[3], double reach, tl_spot *out);
/// Bring the `most` places (4 in 3D, 2 in 2D) that hold the bodies best to the front, ascending by
/// feature, and return how many they are. The nearest is among them; the others span the largest
/// area, near ones counting more.
int tl_manifold_reduce(const tl_couple *c, double reach, int most, int count, tl_spot *spot);

/// The face of a hull (with faces) that it shows to d: at the corner farthest along d, with the
/// most corners as far (within `slack`), then the most within `reach` or a small part of the size,
/// then the one that looks most along d. *near, unless NULL: that corner.
int32_t tl_hull_facing(const tl_hull *h, const double d[3], double slack, double reach,
                       int32_t *near);

/// A unit vector across d, always the same one.
void tl_across(int32_t dim, const double d[3], double out[3]);

static inline void tl_couple_from_b(const tl_couple *c, const double x[3], double out[3]) {
    const double y[3] = {tl_dot3(c->turn[0], x), tl_dot3(c->turn[1], x), tl_dot3(c->turn[2], x)};
    for (int k = 0; k < 3; k++) out[k] = y[k] + c->shift[k];
}
static inline void tl_couple_turn_from_b(const tl_couple *c, const double d[3], double out[3]) {
    const double y[3] = {tl_dot3(c->turn[0], d), tl_dot3(c->turn[1], d), tl_dot3(c->turn[2], d)};
    tl_copy3(y, out);
}
static inline void tl_couple_turn_to_b(const tl_couple *c, const double d[3], double out[3]) {
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = c->turn[0][k] * d[0] + c->turn[1][k] * d[1] + c->turn[2][k] * d[2];
    tl_copy3(y, out);
}
/// The points of the cores that decide S(n).
static inline void tl_couple_support(const tl_couple *c, const double n[3], double a[3],
                                     double b[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    double m[3];
    c->a->support(c->a, back, a);
    tl_couple_turn_to_b(c, n, m);
    c->b->support(c->b, m, b);
    tl_couple_from_b(c, b, b);
}

#endif // TL_COLLIDE_CONVEX_IMPL_H
