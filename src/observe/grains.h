// SPDX-License-Identifier: Apache-2.0
// The grains of a moment: where they are, how large they are, and how much of each is in a box; and
// the links between them, which are the contacts seen from the grains' centres.
#ifndef TL_OBSERVE_GRAINS_H
#define TL_OBSERVE_GRAINS_H
#include "collide/solid.h"
#include "observe/box.h"
#include "talus/observe.h"

/// What is worked out once about a shape that grains have.
typedef struct tl_grain_shape {
    tl_solid *solid; ///< NULL: no grain had it so far
    double volume;
    double centre[3]; ///< of mass, in the shape's frame
    double radius;    ///< of the ball (2D: disk) of this volume
    double reach;     ///< no point of it is farther from its centre
    bool ball;        ///< a ball about its centre
    double *sample;   ///< 3 each: points inside that stand for equal parts of the volume, in the
                      ///< shape's frame, from the centre; made when first needed
    int32_t samples;
} tl_grain_shape;

typedef struct tl_grains {
    talus_context *ctx;
    tl_grain_shape *shape; ///< by number of the shape
    int32_t shapes;
    const talus_moment *m;
    int32_t count;
    int32_t *body;       ///< by grain
    double *x;           ///< 3 each: centre of mass, wrapped for `box`
    int32_t *grain;      ///< by body: its number among the grains, −1: obstacle
    int32_t *neighbours; ///< by grain, after tl_grains_neighbours
    int32_t *backbone;   ///< likewise without rattlers; −1: is one
    int32_t *pair;       ///< 2 each: grains that press on each other (−1: an obstacle)
    int32_t pairs, pair_room;
    int64_t room, body_room;
    talus_extent extent;
    tl_box box;      ///< where it is measured
    int32_t up;      ///< axis of heights
    double diameter; ///< mean, 0 without grains
} tl_grains;

/// An empty set; it keeps what it knows of shapes from moment to moment of the same run.
void tl_grains_init(tl_grains *g, talus_context *ctx);
void tl_grains_clear(tl_grains *g);
/// Look at a moment, which must stay as it is while the grains are used: in the region, or where
/// `box` is not NULL in that box.
talus_status tl_grains_take(tl_grains *g, const talus_moment *m, const talus_region *region,
                            const tl_box *box) TALUS_MUST_CHECK;

static inline const tl_grain_shape *tl_grain_shape_of(const tl_grains *g, int32_t grain) {
    return g->shape + g->m->bodies.shape[g->body[grain]];
}
static inline const double *tl_grain_velocity(const tl_grains *g, int32_t grain) {
    return g->m->bodies.velocity + 3 * (int64_t)g->body[grain];
}
static inline double tl_grain_mass(const tl_grains *g, int32_t grain) {
    return g->m->bodies.mass[g->body[grain]];
}
static inline bool tl_grain_inside(const tl_grains *g, int32_t grain) {
    return tl_box_has(&g->box, g->x + 3 * (int64_t)grain);
}
/// The front of `extent`, which is not there before.
talus_status tl_grains_front(tl_grains *g) TALUS_MUST_CHECK;
/// Points for grains that are no balls; to be called before tl_grain_volume.
talus_status tl_grains_sample(tl_grains *g) TALUS_MUST_CHECK;
/// Volume of a grain with its centre at `at` (an image of it) that is inside [low, high].
double tl_grain_volume(const tl_grains *g, int32_t grain, const double at[3], const double low[3],
                       const double high[3]);

/// A contact seen from the centre of a grain: the other grain's centre, or the point where it
/// touches an obstacle, is at x + l.
typedef struct tl_link {
    int32_t contact;
    int32_t from, to; ///< grains; to = −1: an obstacle
    double x[3];      ///< centre of `from`, wrapped
    double l[3];
    double normal[3]; ///< unit, from the other body to `from`
    double force[3];  ///< on `from` [N]
    double fn, ft;    ///< its parts along the normal and across
    double mu;
    bool active; ///< it presses
    bool rod;    ///< the other side is a segment of a rod
} tl_link;

/// The grain that an item of contacts is; −1: an obstacle, or a segment of a rod.
static inline int32_t tl_grain_of(const tl_grains *g, int32_t item) {
    return item < g->m->bodies.count ? g->grain[item] : -1;
}

/// The link of a contact of the moment; false where no grain is in it.
bool tl_link_get(const tl_grains *g, int32_t contact, tl_link *out);

/// Is the point of the contact in the region?
bool tl_link_inside(const tl_grains *g, const tl_link *link);
/// Count the bodies that each grain is pressed by: all of them, and those left when grains with
/// less than two are taken away, again and again, until there are none.
talus_status tl_grains_neighbours(tl_grains *g) TALUS_MUST_CHECK;

#endif // TL_OBSERVE_GRAINS_H
