// SPDX-License-Identifier: Apache-2.0
// Two convex bodies of which one at least is round, by their common normal (docs/theory/
// collision.md, "Round shapes"). For a unit vector n from b to a let
//     x_a(n) the point of a farthest along −n, x_b(n) that of b along n, from their origins,
//     r(n) = (origin of a − origin of b) + x_a − x_b,     S(n) = n·r.
// S never exceeds the signed distance and reaches it at the common normal, where r is along n.
// Whatever way a normal was found, the one with the largest S is the best one known.
#ifndef TL_COLLIDE_ROUND_PAIR_H
#define TL_COLLIDE_ROUND_PAIR_H
#include "collide/convex_impl.h"
#include "collide/round.h"

typedef enum tl_side_kind { TL_SIDE_SMOOTH, TL_SIDE_LATHE, TL_SIDE_CORNERS } tl_side_kind;

/// One of the two bodies, turned into the world.
typedef struct tl_side {
    const tl_convex *body;
    int32_t dim;
    tl_side_kind kind;
    bool curly;        ///< superellipsoid
    double way;        ///< −1: a, 1: b; its own direction is way n
    double turn[3][3]; ///< shape's frame to world
    tl_lathe lathe;
    const tl_hull *hull; ///< of corners
    tl_small_hull room;
} tl_side;

typedef struct tl_facing {
    int32_t dim;
    tl_side a, b;
    double apart[3]; ///< origin of a − origin of b
    double size;     ///< of both together
} tl_facing;

/// The couple seen along n.
typedef struct tl_view {
    double n[3], s; ///< S(n)
    double r[3], xa[3], xb[3];
    double H[3][3]; ///< sum of the second derivatives of both support functions
} tl_view;

void tl_facing_make(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, tl_facing *out);
/// Look along n (unit).
void tl_facing_view(const tl_facing *f, const double n[3], tl_view *out);
/// H of one body, seen along n.
void tl_side_bend(const tl_side *s, const double n[3], double H[3][3]);
/// Whether what the bodies show along n meets there, so that n is a common normal. v->s may be
/// −INFINITY: no.
bool tl_facing_meets(const tl_facing *f, const tl_view *v);
/// The common normal; false where the bodies are farther apart than reach.
bool tl_facing_nearest(const tl_facing *f, const tl_pose *pa, const tl_pose *pb, double reach,
                       tl_view *out);

/// out = turn x, and out = turnᵀ x.
static inline void tl_side_out(const tl_side *s, const double x[3], double out[3]) {
    const double y[3] = {tl_dot3(s->turn[0], x), tl_dot3(s->turn[1], x), tl_dot3(s->turn[2], x)};
    tl_copy3(y, out);
}
static inline void tl_side_in(const tl_side *s, const double x[3], double out[3]) {
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = s->turn[0][k] * x[0] + s->turn[1][k] * x[1] + s->turn[2][k] * x[2];
    tl_copy3(y, out);
}
/// Two unit vectors across n.
static inline void tl_facing_basis(const double n[3], double t[2][3]) {
    tl_across(3, n, t[0]);
    tl_cross3(n, t[0], t[1]);
}

/// Contact points of two convex bodies, one of them round at least: like tl_polytope_points.
int tl_round_points(int32_t dim, const tl_convex *a, const tl_pose *pa, const tl_convex *b,
                    const tl_pose *pb, double reach, tl_touch *out);
/// The places where a cylinder or cone touches a body that is not smooth, seen along the common
/// normal; at most 4.
int tl_lathe_points(const tl_facing *f, const tl_view *v, double reach, tl_touch *out);

#endif // TL_COLLIDE_ROUND_PAIR_H
