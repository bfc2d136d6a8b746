// SPDX-License-Identifier: Apache-2.0
// The hierarchical grid of parts (of most items the only one; here they are called items): those of
// about the same size share a level, whose cells are as large as
// the largest of them. With s = 2 size + reach and s_most the largest of all, level L has cells of
// the edge s_most 2^-L (a quarter of it along the first axis) and holds the items with s in (1/2,
// 1] of it. Each level numbers the cells within the range of its own items, row by row, and all
// items are sorted by (level, cell) with a radix sort: linear in time and in memory, however large
// and empty the domain is.
//
// Where a range has more than 2^19 cells along an axis they are counted around (a fold). Far cells
// then share a number, which costs a comparison of distances and nothing else.
#include "collide/collide_impl.h"
#include <float.h>

#define GRID_CELLS_MOST ((int64_t)1 << 19) // along an axis: keys of 32 levels stay below 2^63

// An upper bound of an item's extent that also covers the rounding of its position, of differences
// and of images.
static double grid_size(const tl_collide *c, const grid_spot *spot) {
    double scale = 0.0;
    for (int k = 0; k < 3; k++) {
        scale = TL_MAX(fabs(spot->x[k]), scale);
        scale = TL_MAX(c->period[k], scale);
    }
    return spot->extent * (1.0 + 16.0 * DBL_EPSILON) + 16.0 * DBL_EPSILON * scale;
}

static double grid_wrapped(double x, double period) {
    if (period == 0.0) return x;
    const double turned = x - period * floor(x / period);
    return turned < 0.0 ? 0.0 : turned > period ? period : turned;
}

// Whether a pose is made of numbers; the rotation of a ball does not matter.
static bool grid_is_placed(const tl_pose *pose, bool ball) {
    const double *x = pose->x, *q = pose->q;
    if (!(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]))) return false;
    return ball || (isfinite(q[0]) && isfinite(q[1]) && isfinite(q[2]) && isfinite(q[3]));
}

// The largest size, and a look for poses that are no numbers.
static void grid_measure(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    tl_worker *w = &c->worker[rank];
    int64_t begin, end;
    tl_share(c->part_count, tl_team_size(team), rank, &begin, &end);
    w->size_most = 0.0;
    w->lost = -1;
    for (int32_t i = (int32_t)begin; i < (int32_t)end; i++) {
        const tl_part *part = &c->part[i];
        const double *x = c->pose[i].x;
        grid_spot *spot = &c->spot[i];
        *spot = (grid_spot){.x = {x[0], x[1], x[2]}, .extent = part->extent, .group = part->group};
        spot->flags = part->flags;
        const bool ball = spot->flags & GRID_BALL;
        if (w->lost < 0 && !grid_is_placed(&c->pose[i], ball)) w->lost = i;
        if (spot->flags & GRID_UNBOUNDED) continue;
        const double size = grid_size(c, spot);
        if (size > w->size_most) w->size_most = size;
    }
}

// Level of each item, and the range of the items of each level.
static void grid_survey(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    tl_worker *w = &c->worker[rank];
    const double most = 2.0 * c->worker[0].size_most + c->reach;
    int64_t begin, end;
    tl_share(c->part_count, tl_team_size(team), rank, &begin, &end);
    for (int l = 0; l < GRID_LEVELS; l++) {
        w->level[l] = (grid_level){.low = {INFINITY, INFINITY, INFINITY},
                                   .high = {-INFINITY, -INFINITY, -INFINITY}};
    }
    for (int64_t i = begin; i < end; i++) {
        grid_spot *spot = &c->spot[i];
        if (spot->flags & GRID_UNBOUNDED) continue;
        const double size = grid_size(c, spot);
        uint16_t l = 0;
        for (double s = 2.0 * (2.0 * size + c->reach); s <= most && l < GRID_LEVELS - 1; s *= 2.0)
            l++;
        spot->level = l;
        grid_level *level = &w->level[l];
        level->end++;
        level->size_most = TL_MAX(size, level->size_most);
        for (int k = 0; k < 3; k++) {
            const double x = grid_wrapped(spot->x[k], c->period[k]);
            level->low[k] = x < level->low[k] ? x : level->low[k];
            level->high[k] = x > level->high[k] ? x : level->high[k];
        }
    }
}

static void grid_lay_axis(const grid_level *level, int k, double period, double edge,
                          grid_axis *axis) {
    *axis = (grid_axis){.cells = 1};
    if (period > 0.0) {
        const double fit = floor(period / edge);
        axis->cells = fit < 1.0                       ? 1
                      : fit > (double)GRID_CELLS_MOST ? GRID_CELLS_MOST
                                                      : (int64_t)fit;
        axis->inverse = (double)axis->cells / period;
        axis->wraps = true;
        return;
    }
    axis->low = level->low[k];
    axis->inverse = 1.0 / edge;
    axis->cells = tl_grid_cell(axis, level->high[k]) + 1;
    axis->wraps = axis->cells > GRID_CELLS_MOST;
    if (axis->wraps) axis->cells = GRID_CELLS_MOST;
}

// Join what the workers saw, and number the cells of all levels.
static void grid_lay_levels(tl_collide *c, double edge) {
    uint64_t base = 0;
    int32_t points = 0;
    for (int l = 0; l < GRID_LEVELS; l++, edge *= 0.5) {
        grid_level *level = &c->level[l];
        *level = c->worker[0].level[l];
        for (int r = 1; r < c->size; r++) {
            const grid_level *other = &c->worker[r].level[l];
            level->end += other->end;
            level->size_most = TL_MAX(other->size_most, level->size_most);
            for (int k = 0; k < 3; k++) {
                level->low[k] = other->low[k] < level->low[k] ? other->low[k] : level->low[k];
                level->high[k] = other->high[k] > level->high[k] ? other->high[k] : level->high[k];
            }
        }
        level->begin = points;
        level->end += points;
        level->base = base;
        points = level->end;
        if (level->begin == level->end) continue;
        level->cells = 1;
        for (int k = 2; k >= 0; k--) {
            grid_lay_axis(level, k, c->period[k], edge, &level->axis[k]);
            level->cells *= (uint64_t)level->axis[k].cells;
        }
        // Cells of a row lie one behind the other: where there are points enough, finer ones cost
        // no more to look up.
        if (level->cells <= 2 * (uint64_t)(level->end - level->begin)) {
            level->cells /= (uint64_t)level->axis[0].cells;
            grid_lay_axis(level, 0, c->period[0], 0.25 * edge, &level->axis[0]);
            level->cells *= (uint64_t)level->axis[0].cells;
        }
        base += level->cells;
    }
    c->key_most = base;
}

static uint64_t grid_key(const tl_collide *c, const grid_level *level, const grid_spot *spot) {
    uint64_t key = 0;
    for (int k = 2; k >= 0; k--) {
        const grid_axis *axis = &level->axis[k];
        const double x = grid_wrapped(spot->x[k], c->period[k]);
        const int64_t cell = tl_grid_around(axis, tl_grid_cell(axis, x));
        key = key * (uint64_t)axis->cells + (uint64_t)cell;
    }
    return level->base + key;
}

// Keys of the bounded items, in the order of the items. Each worker knows where its part begins
// from the counts of the survey.
static void grid_number(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    int64_t begin, end;
    int32_t at = 0;
    tl_share(c->part_count, tl_team_size(team), rank, &begin, &end);
    for (int r = 0; r < rank; r++)
        for (int l = 0; l < GRID_LEVELS; l++) at += c->worker[r].level[l].end;
    for (int32_t i = (int32_t)begin; i < (int32_t)end; i++) {
        const grid_spot *spot = &c->spot[i];
        if (spot->flags & GRID_UNBOUNDED) continue;
        c->key[0][at] = grid_key(c, &c->level[spot->level], spot);
        c->index[0][at++] = i;
    }
}

// Stable radix sort of (key, index), least digit first. A worker places the items of its part in
// the order it has them, behind those of the workers before: the result is that of one worker.
static void grid_sort(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    int32_t *digit = c->worker[rank].digit;
    int64_t begin, end;
    int from = 0;
    tl_share(c->bounded_count, tl_team_size(team), rank, &begin, &end);
    for (int shift = 0; shift < 64 && c->key_most >> shift; shift += GRID_DIGIT_BITS, from ^= 1) {
        const uint64_t *key = c->key[from];
        for (int d = 0; d < GRID_DIGITS; d++) digit[d] = 0;
        for (int64_t i = begin; i < end; i++) digit[key[i] >> shift & (GRID_DIGITS - 1)]++;
        tl_barrier(team);
        if (rank == 0) {
            int32_t at = 0;
            for (int d = 0; d < GRID_DIGITS; d++) {
                for (int r = 0; r < c->size; r++) {
                    const int32_t count = c->worker[r].digit[d];
                    c->worker[r].digit[d] = at;
                    at += count;
                }
            }
        }
        tl_barrier(team);
        for (int64_t i = begin; i < end; i++) {
            const int32_t at = digit[key[i] >> shift & (GRID_DIGITS - 1)]++;
            c->key[from ^ 1][at] = key[i];
            c->index[from ^ 1][at] = c->index[from][i];
        }
        tl_barrier(team);
    }
    if (rank == 0) c->sorted = from;
}

// The points in the order of the cells, and where the points of each cell begin.
static void grid_gather(void *arg, tl_team *team, int rank) {
    enum { AHEAD = 16 };
    tl_collide *c = arg;
    const int32_t *index = c->index[c->sorted];
    const uint64_t *key = c->key[c->sorted];
    int64_t begin, end;
    tl_share(c->bounded_count, tl_team_size(team), rank, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
        if (p + AHEAD < end) TL_PREFETCH(&c->spot[index[p + AHEAD]]);
        const grid_spot *spot = &c->spot[index[p]];
        const grid_level *level = &c->level[spot->level];
        grid_point *point = &c->point[p];
        *point = (grid_point){.size = grid_size(c, spot), .part = index[p], .group = spot->group};
        for (int k = 0; k < 3; k++) point->x[k] = grid_wrapped(spot->x[k], c->period[k]);
        point->flags = spot->flags;
        point->level = spot->level;
        if (level->table < 0) continue;
        int32_t *table = c->table + level->table;
        const bool is_first = p == level->begin, is_last = p + 1 == level->end;
        const uint64_t cell = key[p] - level->base;
        for (uint64_t k = is_first ? 0 : key[p - 1] - level->base + 1; k <= cell; k++)
            table[k] = (int32_t)p;
        for (uint64_t k = cell + 1; is_last && k <= level->cells; k++) table[k] = level->end;
    }
}

static talus_status grid_reserve(tl_collide *c) {
    if (c->part_count <= c->point_room) return TALUS_OK;
    const int32_t room = tl_collide_part_room(c);
    c->point_room = 0;
    for (int k = 0; k < 2; k++) {
        TL_TRY(tl_collide_renew(c->ctx, room, sizeof **c->key, &c->key[k]));
        TL_TRY(tl_collide_renew(c->ctx, room, sizeof **c->index, &c->index[k]));
    }
    TL_TRY(tl_collide_renew(c->ctx, room, sizeof *c->point, &c->point));
    TL_TRY(tl_collide_renew(c->ctx, room, sizeof *c->spot, &c->spot));
    c->point_room = room;
    return TALUS_OK;
}

// Tables for the levels whose cells are not much more than their points.
static talus_status grid_lay_tables(tl_collide *c) {
    int64_t length = 0;
    for (int l = 0; l < GRID_LEVELS; l++) {
        grid_level *level = &c->level[l];
        const int64_t points = level->end - level->begin;
        level->table = -1;
        if (points == 0 || level->cells > 16 * (uint64_t)points + 64) continue;
        level->table = length;
        length += (int64_t)level->cells + 1;
    }
    if (length <= c->table_room) return TALUS_OK;
    c->table_room = 0;
    length += length / 4;
    TL_TRY(tl_collide_renew(c->ctx, length, sizeof *c->table, &c->table));
    c->table_room = length;
    return TALUS_OK;
}

talus_status tl_grid_build(tl_collide *c) {
    TL_TRY(grid_reserve(c));
    tl_parallel(c->ctx, c->size, grid_measure, c);
    double size_most = 0.0;
    for (int r = 0; r < c->size; r++) {
        const tl_worker *w = &c->worker[r];
        if (w->lost >= 0) {
            const int32_t item = c->part[w->lost].item;
            const tl_pose *p = &c->given[item];
            return tl_fail(c->ctx, TALUS_ERR_ARG,
                           "item %d: position (%g, %g, %g) and rotation (%g, %g, %g, %g) must be "
                           "finite",
                           (int)item, p->x[0], p->x[1], p->x[2], p->q[0], p->q[1], p->q[2],
                           p->q[3]);
        }
        size_most = TL_MAX(w->size_most, size_most);
    }
    c->worker[0].size_most = size_most;
    tl_parallel(c->ctx, c->size, grid_survey, c);
    grid_lay_levels(c, 2.0 * size_most + c->reach);
    TL_TRY(grid_lay_tables(c));
    tl_parallel(c->ctx, c->size, grid_number, c);
    tl_parallel(c->ctx, c->size, grid_sort, c);
    tl_parallel(c->ctx, c->size, grid_gather, c);
    return TALUS_OK;
}

int64_t tl_grid_seek(const tl_collide *c, const grid_level *level, int64_t hint, uint64_t key) {
    const uint64_t *keys = c->key[c->sorted];
    int64_t low = level->begin, high = level->end, step = 1; // the answer lies in low … high
    int64_t at = hint < low ? low : hint > high ? high : hint;
    if (at < high && keys[at] < key) { // forwards, in growing steps
        low = at + 1;
        for (; low + step < high && keys[low + step] < key; step *= 2) low += step + 1;
        high = low + step < high ? low + step : high;
    } else { // backwards
        high = at;
        for (; high - step > low && keys[high - step] >= key; step *= 2) high -= step;
        low = high - step > low ? high - step : low;
    }
    while (low < high) {
        at = low + (high - low) / 2;
        if (keys[at] < key)
            low = at + 1;
        else
            high = at;
    }
    return low;
}
