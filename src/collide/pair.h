// SPDX-License-Identifier: Apache-2.0
// Contact points of two shapes (docs/theory/collision.md). Every function writes the points with
// gap <= reach in the order of their features and returns how many; items and the image of b are
// the caller's business. Kinds come in the order of talus_shape_kind.
#ifndef TL_COLLIDE_PAIR_H
#define TL_COLLIDE_PAIR_H
#include "base/vec3.h"
#include "collide/collide.h"
#include "collide/solid.h"

enum {
    TL_PAIR_MOST = 24,  ///< points of one pair: four corners of a box at each wall of a container
    TL_WALL_PLANES = 6, ///< of a container
};

/// A length that cannot be told from 0 when its square is taken.
#define TL_NO_LENGTH 1e-140

/// The surface of an unbounded shape: planes and at most one hollow cylinder, seen from the free
/// space. A point p (from `x`) has the distance normal·p + offset from a plane and radius − |p −
/// (p· axis) axis| from the mantle; the free space is where all are positive.
typedef struct tl_walls {
    double x[3];
    int32_t planes;
    uint32_t id[TL_WALL_PLANES]; ///< ascending; part of the feature of a contact
    double normal[TL_WALL_PLANES][3], offset[TL_WALL_PLANES];
    bool round;
    double radius, axis[3], side[3]; ///< of the mantle, whose id is 0; `side` is across the axis
    double scale;                    ///< the largest length of it
} tl_walls;

/// A shape in its place.
typedef struct tl_placed {
    const talus_shape_def *shape; ///< checked; the normal of a half-space has length 1
    const tl_solid *solid;        ///< the shape belongs to it
    const tl_pose *pose;
    const tl_walls *walls; ///< of unbounded shapes
    bool moves;            ///< mesh: it is no obstacle, and lies on others with its corners
} tl_placed;

typedef int tl_pair_fn(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                       tl_touch *out);

tl_pair_fn tl_pair_sphere_sphere, tl_pair_sphere_walls, tl_pair_sphere_box, tl_pair_sphere_cylinder;
tl_pair_fn tl_pair_walls_box;
tl_pair_fn tl_pair_sphere_capsule; ///< closed form
tl_pair_fn tl_pair_capsules;       ///< closed form, where they touch in one place
tl_pair_fn tl_pair_polytopes;      ///< cores with corners, none a point: manifolds
tl_pair_fn tl_pair_convex;         ///< any bounded convex shapes: the nearest points
tl_pair_fn tl_pair_walls_polytope; ///< four points at each wall; feature: 512 wall + corner

tl_pair_fn tl_pair_round;           ///< bounded convex shapes, one of them round at least
tl_pair_fn tl_pair_walls_ellipsoid; ///< ellipsoids, superellipsoids
tl_pair_fn tl_pair_walls_lathe;     ///< cylinders, cones
tl_pair_fn tl_pair_walls_mesh;      ///< four points at each wall; feature: 2^28 wall + point

/// The points of any two shapes that tl_pair_is_known.
int tl_pair_points(int32_t dim, const tl_placed *a, const tl_placed *b, double reach,
                   tl_touch *out);
/// Meshes are known with walls and with bounded convex shapes; the latter have a function of their
/// own (mesh.h).
bool tl_pair_is_known(talus_shape_kind a, talus_shape_kind b);

/// The touch with a and b exchanged.
static inline void tl_touch_swap(tl_touch *t) {
    double arm[3];
    tl_copy3(t->arm_a, arm);
    tl_copy3(t->arm_b, t->arm_a);
    tl_copy3(arm, t->arm_b);
    tl_scale3(-1.0, t->normal, t->normal);
}

/// The walls of an unbounded shape.
void tl_walls_place(int32_t dim, const talus_shape_def *shape, const tl_pose *pose, tl_walls *out);

/// Distance of the point x from the nearest wall.
static inline double tl_walls_distance(const tl_walls *w, const double x[3]) {
    double p[3], nearest = INFINITY;
    tl_sub3(x, w->x, p);
    for (int k = 0; k < w->planes; k++) {
        const double d = tl_dot3(w->normal[k], p) + w->offset[k];
        if (d < nearest) nearest = d;
    }
    if (w->round) {
        double radial[3];
        tl_axpy3(p, -tl_dot3(p, w->axis), w->axis, radial);
        const double d = w->radius - tl_norm3(radial);
        if (d < nearest) nearest = d;
    }
    return nearest;
}

/// The touch of a point of b (`arm` from its origin, `p` from that of the walls) with a wall of a,
/// whose normal into the free space is n and which is `distance` away; returns 0 where that is more
/// than reach. The normal of a touch goes from b to a: into the wall.
static inline int tl_walls_put(uint32_t feature, double distance, const double n[3],
                               const double p[3], const double arm[3], double reach,
                               tl_touch *out) {
    if (!(distance <= reach)) return 0;
    out->feature = feature;
    out->gap = distance;
    tl_scale3(-1.0, n, out->normal);
    tl_axpy3(p, -distance, n, out->arm_a);
    tl_copy3(arm, out->arm_b);
    return 1;
}

/// out = d / |d|, or `otherwise` for the vector 0; returns |d|.
static inline double tl_pair_direction(const double d[3], const double otherwise[3],
                                       double out[3]) {
    const double length = tl_norm3(d);
    if (length >= TL_NO_LENGTH) {
        for (int k = 0; k < 3; k++) out[k] = d[k] / length;
    } else {
        tl_copy3(otherwise, out);
    }
    return length;
}

/// Two balls, d the way from the centre of b to that of a. Two with the same centre part upwards.
static inline void tl_pair_balls(int32_t dim, const double d[3], double radius_a, double radius_b,
                                 tl_touch *out) {
    const double up[3] = {0.0, dim == 2 ? 1.0 : 0.0, dim == 2 ? 0.0 : 1.0};
    const double distance = tl_pair_direction(d, up, out->normal);
    out->feature = 0;
    out->gap = distance - (radius_a + radius_b);
    tl_scale3(-radius_a, out->normal, out->arm_a);
    tl_scale3(radius_b, out->normal, out->arm_b);
}

#endif // TL_COLLIDE_PAIR_H
