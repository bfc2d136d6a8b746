// SPDX-License-Identifier: Apache-2.0
// What the files of the search share. A search goes through
//     grid.c    bounded items into cells of their size, sorted by cell
//     search.c  candidate pairs from cells and walls, sorted by (a, b)
//     collide.c contact points of the candidates, in their order.
// Work is shared out among workers; what they find is put in an order that does not depend on how.
#ifndef TL_COLLIDE_COLLIDE_IMPL_H
#define TL_COLLIDE_COLLIDE_IMPL_H
#include "base/thread.h"
#include "collide/pair.h"

enum {
    GRID_LEVELS = 32,     ///< sizes down to 2^-31 of the largest have levels of their own
    GRID_DIGIT_BITS = 11, ///< of a pass of the radix sort
    GRID_DIGITS = 1 << GRID_DIGIT_BITS,
};

enum { GRID_IMMOVABLE = 1, GRID_BALL = 2, GRID_UNBOUNDED = 4, GRID_MESH = 8 };

/// What the search works with: an item's shape, or one of the shapes it is a union of. The parts of
/// an item follow each other, in the order of the items.
typedef struct tl_part {
    double extent; ///< radius of the ball about its origin that holds it; infinite: unbounded
    const tl_solid *solid; ///< not a union; NULL: a ball, see tl_part_solid
    int32_t item, group;
    uint16_t flags; ///< GRID_…
} tl_part;

/// Where a part lies along a chain of parts of its group.
typedef struct tl_arc {
    double begin, end;
    double apart; ///< distance along it from which on they touch; infinite: never
} tl_arc;

/// A shape that was added. Balls are no more than their radius: where every grain has a size of its
/// own they are many.
typedef struct tl_slot {
    tl_solid *solid; ///< NULL: a ball
    double radius;
} tl_slot;

typedef struct tl_item {
    int32_t first, count; ///< its parts
} tl_item;

/// What the search needs of a part, in one place of the memory.
typedef struct grid_spot {
    double x[3];
    double extent;
    int32_t group;
    uint16_t flags, level;
} grid_spot;

/// A bounded part in the order of the cells.
typedef struct grid_point {
    double x[3]; ///< periodic axes: brought into [0, period]
    double size; ///< extent, and what positions may be off by rounding
    int32_t part, group;
    uint16_t flags, level;
} grid_point;

/// Cells along one axis: number floor((x − low) inverse), counted around where it `wraps`.
typedef struct grid_axis {
    double low, inverse;
    int64_t cells;
    bool wraps;
} grid_axis;

typedef struct grid_level {
    grid_axis axis[3];
    uint64_t cells;
    uint64_t base;          ///< key of its first cell
    double low[3], high[3]; ///< range of its items
    double size_most;       ///< of its items
    int32_t begin, end;     ///< its points
    int64_t table;          ///< where its part of the table begins; −1: it has none
} grid_level;

/// A pair of parts found: a < b, and entry = 2 b + (1: its points have to be counted, 0: two
/// balls).
typedef struct tl_candidate {
    int32_t a;
    uint32_t entry;
} tl_candidate;

/// What one worker of a team keeps.
typedef struct tl_worker {
    double size_most;
    int32_t lost;                  ///< first part whose pose is not finite, −1: none
    grid_level level[GRID_LEVELS]; ///< only ranges, size_most and, in `end`, the count
    int32_t digit[GRID_DIGITS];
    int64_t pair_begin, pair_room, pair_count;    ///< its part of `pair`
    int64_t touch_begin, touch_room, touch_count; ///< its part of `touch`
    int32_t unknown_a, unknown_b;                 ///< first pair without a function, −1: none
} tl_worker;

struct tl_collide {
    talus_context *ctx;
    int32_t dim;
    double period[3]; ///< 0: not periodic

    tl_slot *shape;
    int32_t shape_count, shape_room;
    tl_item *item;
    int32_t item_count, item_room;
    tl_part *part;
    int32_t part_count, part_room, bounded_count;
    tl_arc *arc; ///< of the first arc_room parts; NULL: no group touches itself
    int32_t arc_room;
    bool compound;   ///< part k is not item k in its place, for all k
    bool meshes;     ///< there are any
    tl_pose *place;  ///< compound: of each part in its item's frame; otherwise NULL
    tl_pose *placed; ///< compound: of each part in the world
    int32_t place_room, placed_room;
    int32_t *wall_part; ///< the unbounded parts, ascending
    tl_walls *walls;    ///< of each, at its pose
    int32_t wall_count, wall_room;

    // the search that is being made
    const tl_pose *given; ///< poses of the items
    const tl_pose *pose;  ///< of the parts
    double reach;
    int size; ///< of the team

    tl_worker *worker;
    bool rested;              ///< memory was given back since the last search
    int worker_room, divided; ///< among how many workers the room for pairs is divided
    grid_level level[GRID_LEVELS];
    uint64_t key_most;
    int32_t point_room;
    uint64_t *key[2];  ///< of the points, and room to sort
    int32_t *index[2]; ///< part of each key
    int sorted;        ///< which of the two is sorted
    grid_spot *spot;
    grid_point *point;
    int32_t *table; ///< first point of each cell, for levels with enough points, and their end
    int64_t table_room;

    int64_t pair_room, pair_total;
    tl_candidate *pair; ///< as found; after sorting, room for sorts
    int64_t *start;     ///< entries of part a: start[a] … start[a + 1] − 1; length parts + 2
    uint32_t *entry;    ///< entries of all parts, ascending within each
    int32_t start_room;

    tl_touch *touch;
    int64_t touch_room, touch_total;
    tl_touch *between; ///< of tl_collide_between
    int64_t between_room, between_count;
};

/// Turn touches of parts a and b into such of their items.
void tl_union_report(const tl_collide *c, int32_t a, int32_t b, tl_touch *touch, int count);
/// Bring the touches of every item into the order (b, feature), where items have several parts,
/// and let no two of a pair have the same feature.
void tl_union_order(tl_collide *c);
/// Sort the bounded parts into cells: level, key, point.
talus_status tl_grid_build(tl_collide *c) TALUS_MUST_CHECK;
/// First point of a level whose key is not below `key`; `hint` says where to begin looking.
int64_t tl_grid_seek(const tl_collide *c, const grid_level *level, int64_t hint, uint64_t key);
/// Candidate pairs, from the cells and the walls: start, entry.
talus_status tl_search_pairs(tl_collide *c) TALUS_MUST_CHECK;
/// A fresh buffer of `count` items in place of the one before, whose content is lost.
talus_status tl_collide_renew(talus_context *ctx, int64_t count, size_t size,
                              void *inout_pointer) TALUS_MUST_CHECK;

/// Parts that a search makes room for: those there are, and a few more where parts are still being
/// added.
static inline int32_t tl_collide_part_room(const tl_collide *c) {
    const int32_t more = c->part_count + c->part_count / 16;
    return c->start_room == 0 ? c->part_count : more < c->part_room ? more : c->part_room;
}

#define GRID_FAR 0x1p44 // cells beyond are one cell: numbers stay exact

/// Number of the cell of x along an axis, not yet counted around.
static inline int64_t tl_grid_cell(const grid_axis *axis, double x) {
    const double t = (x - axis->low) * axis->inverse;
    if (t >= GRID_FAR) return (int64_t)GRID_FAR;
    if (t <= -GRID_FAR) return -(int64_t)GRID_FAR;
    const int64_t cell = (int64_t)t;
    return cell - ((double)cell > t);
}

/// A cell counted around, where the axis wraps, or else the nearest there is.
static inline int64_t tl_grid_around(const grid_axis *axis, int64_t cell) {
    if (cell >= 0 && cell < axis->cells) return cell;
    if (!axis->wraps) return cell < 0 ? 0 : axis->cells - 1;
    const int64_t rest = cell % axis->cells;
    return rest < 0 ? rest + axis->cells : rest;
}

/// Whether two parts of one group are so far apart that they may touch.
static inline bool tl_parts_are_apart(const tl_collide *c, int32_t part, int32_t other) {
    if (part >= c->arc_room || other >= c->arc_room) return false;
    const tl_arc *a = &c->arc[part], *b = &c->arc[other];
    const double gap = a->begin < b->begin ? b->begin - a->end : a->begin - b->end;
    return gap > 0.0 && gap >= a->apart;
}

/// A solid, or that of a ball, made in `room`.
static inline const tl_solid *tl_solid_or_ball(const tl_solid *solid, double radius,
                                               tl_solid *room) {
    if (solid) return solid;
    *room = (tl_solid){.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = radius}};
    return room;
}

static inline const tl_solid *tl_part_solid(const tl_part *part, tl_solid *room) {
    return tl_solid_or_ball(part->solid, part->extent, room);
}

/// Whether two items may touch at all.
static inline bool tl_spots_may_touch(const grid_spot *a, const grid_spot *b) {
    return a->group != b->group && !(a->flags & b->flags & GRID_IMMOVABLE);
}

#endif // TL_COLLIDE_COLLIDE_IMPL_H
