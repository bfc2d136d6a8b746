// SPDX-License-Identifier: Apache-2.0
// Which items are near each other, and where. An item is a shape that some body carries; the pose
// of every item is handed over at each search. One source serves 2D (z = 0) and 3D.
//
// A new shape is one file with its pair functions and its rows in the table of pair.c.
#ifndef TL_COLLIDE_COLLIDE_H
#define TL_COLLIDE_COLLIDE_H
#include "base/context.h"
#include "base/vec3.h"
#include "talus/shape.h"

typedef struct tl_pose {
    double x[3]; ///< origin of the shape's frame
    double q[4]; ///< unit quaternion (w, x, y, z): shape's frame to world
} tl_pose;

/// out = p ∘ q: the pose in the world of what has pose q in the frame of p.
static inline void tl_pose_mul(const tl_pose *p, const tl_pose *q, tl_pose *out) {
    double x[3], turn[4];
    tl_rotate(p->q, q->x, x);
    tl_axpy3(p->x, 1.0, x, out->x);
    tl_quat_mul(p->q, q->q, turn);
    for (int k = 0; k < 4; k++) out->q[k] = turn[k];
}
/// out with p ∘ out = the identity.
static inline void tl_pose_invert(const tl_pose *p, tl_pose *out) {
    const double x[3] = {-p->x[0], -p->x[1], -p->x[2]};
    tl_rotate_back(p->q, x, out->x);
    out->q[0] = p->q[0];
    for (int k = 1; k < 4; k++) out->q[k] = -p->q[k];
}

/// One contact point of two items, a < b.
typedef struct tl_touch {
    int32_t a, b;
    uint32_t feature; ///< which of the pair's contact points; stays the same while it persists
    double gap;       ///< signed distance, < 0: overlap
    double normal[3]; ///< unit, from b to a
    double arm_a[3];  ///< point on a's surface, from the pose of a
    double arm_b[3];  ///< point on b's surface, from the pose of b; with periodic axes the image of
                     ///< b nearest to a is meant, so x_a + arm_a = x_b + image + arm_b + gap normal
} tl_touch;

typedef struct tl_collide tl_collide;

/// `period[k]` > 0 makes axis k periodic; items must be smaller than half of it (unbounded ones are
/// not repeated).
talus_status tl_collide_create(talus_context *ctx, int32_t dim, const double period[3],
                               tl_collide **out) TALUS_MUST_CHECK;
void tl_collide_destroy(tl_collide *c); // NULL is allowed
talus_status tl_collide_add_shape(tl_collide *c, const talus_shape_def *shape,
                                  int32_t *out) TALUS_MUST_CHECK;
/// A shape as it is kept (a half-space with a normal of length 1, a 2D cylinder as a sphere,
/// a 2D cone as a polyhedron), with arrays of its own; NULL: a ball, of which the radius is kept.
const talus_shape_def *tl_collide_shape(const tl_collide *c, int32_t shape, double *radius);
/// Add an item. Items of one group never touch each other, nor do two that are immovable.
talus_status tl_collide_add_item(tl_collide *c, int32_t shape, int32_t group, bool immovable,
                                 int32_t *out) TALUS_MUST_CHECK;
/// The same, with the shape at `place` in the item's frame (NULL: its frame is the item's). Poses
/// and arms are those of the item's frame.
talus_status tl_collide_add_item_at(tl_collide *c, int32_t shape, const tl_pose *place,
                                    int32_t group, bool immovable, int32_t *out) TALUS_MUST_CHECK;
/// An item that lies from `begin` to `end` along a chain of items of its group touches those of
/// them that are at least `apart` away along it (which is the same for all of them).
talus_status tl_collide_set_arc(tl_collide *c, int32_t item, double begin, double end,
                                double apart) TALUS_MUST_CHECK;
/// Take away the items from number `first` on.
void tl_collide_drop_items(tl_collide *c, int32_t first);
/// Take the item's immovable mark or set it (a body's motion was changed).
void tl_collide_set_immovable(tl_collide *c, int32_t item, bool immovable);

/// Find every contact point with gap <= reach. Buffers grow, nothing is dropped; linear in the
/// items for any sizes; the same result, bit for bit, for any number of threads. Allocates only
/// when a buffer has to grow.
talus_status tl_collide_detect(tl_collide *c, const tl_pose *pose, double reach,
                               int32_t threads) TALUS_MUST_CHECK;
/// The points of the last search, sorted by (a, b, feature); borrowed until the next.
const tl_touch *tl_collide_touches(const tl_collide *c, int64_t *count);
/// Give the memory back that a search needs while it goes on, and where told so that of its points.
void tl_collide_rest(tl_collide *c, bool points);

/// The items are at these poses now, for probes; to be called after a search, with the same items.
void tl_collide_move(tl_collide *c, const tl_pose *pose);
/// The nearest point of an item, at the poses of the last search or move, to a ball of the given
/// shape at x, as a touch of the ball (a) with the item (b); false: it is farther than reach.
bool tl_collide_probe(const tl_collide *c, int32_t ball, const double x[3], int32_t item,
                      double reach, tl_touch *out);
/// Contact points of items a < b alone, at other poses than those of the search; in no order, and a
/// point where two parts share a piece of surface may come twice. Borrowed until the next call.
talus_status tl_collide_between(tl_collide *c, int32_t a, int32_t b, const tl_pose *pose_a,
                                const tl_pose *pose_b, double reach, const tl_touch **out,
                                int64_t *count) TALUS_MUST_CHECK;
/// Whether two items can touch: not of one group, unless apart, and not both immovable.
bool tl_collide_may_touch(const tl_collide *c, int32_t a, int32_t b);

/// Largest distance of a point of the shape from its origin (infinite for unbounded shapes).
double tl_shape_extent(int32_t dim, const talus_shape_def *shape);
/// A bound of the distance of its points from another point of its frame; for points and unions the
/// largest distance.
double tl_shape_extent_from(int32_t dim, const talus_shape_def *shape, const double centre[3]);

#endif // TL_COLLIDE_COLLIDE_H
