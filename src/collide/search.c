// SPDX-License-Identifier: Apache-2.0
// Candidate pairs. A bounded item looks for partners in its own level of the grid and in the levels
// of larger items, never in those of smaller ones, so that every pair is seen once and an item
// looks into a few cells per level only. Unbounded items are compared with all others. Candidates
// are counted by their first item and each item's are sorted: the order (a, b) in linear time.
#include "collide/collide_impl.h"
#include "collide/mesh.h"
#include <string.h>

enum { AHEAD = 16 };       // candidates: how early memory is asked for
enum { WINDOW_RUNS = 33 }; // four rows by four, each in two parts where it wraps, and a spare one

// Points of a level near the point that was looked at last: cells first … first + count − 1 along
// each axis (counted around), and the runs of points in them. Neighbours often share a window. What
// is looked for is at most an edge of a cell away, so that a window is three cells wide, four with
// rounding.
typedef struct search_window {
    int64_t first[3], count[3];
    int64_t begin[WINDOW_RUNS], end[WINDOW_RUNS];
    int runs;
} search_window;

// One worker's looking around.
typedef struct search_scan {
    const tl_collide *c;
    tl_worker *worker;
    search_window window[GRID_LEVELS];
    int64_t cursor[GRID_LEVELS][16]; // where rows of the last window began
} search_scan;

static void search_emit(const search_scan *s, int32_t i, int32_t j, bool balls) {
    tl_worker *w = s->worker;
    if (w->pair_count < w->pair_room) {
        const int32_t a = i < j ? i : j, b = i < j ? j : i;
        s->c->pair[w->pair_begin + w->pair_count] =
            (tl_candidate){.a = a, .entry = 2 * (uint32_t)b + (balls ? 0u : 1u)};
    }
    w->pair_count++; // goes on when the room is used up: how much is needed is then known
}

// Whether a part whose ball has its centre at d from the origin of a mesh is near its surface.
static bool search_mesh(const tl_collide *c, const grid_point *mesh, const double d[3],
                        double reach) {
    double own[3];
    tl_rotate_back(c->pose[mesh->part].q, d, own);
    return tl_mesh_is_near(c->part[mesh->part].solid->mesh, own, reach);
}

// Compare point a with points p … end − 1.
TL_INLINE void search_compare(const search_scan *s, const grid_point *a, double reach, int64_t p,
                              int64_t end, bool periodic, bool meshes) {
    const tl_collide *c = s->c;
    for (; p < end; p++) {
        const grid_point *b = &c->point[p];
        double d[3];
        tl_sub3(a->x, b->x, d);
        for (int k = 0; periodic && k < 3; k++) {
            const double half = 0.5 * c->period[k];
            if (d[k] > half)
                d[k] -= c->period[k];
            else if (d[k] < -half)
                d[k] += c->period[k];
        }
        const double most = reach + b->size;
        if (tl_dot3(d, d) > most * most) continue;
        if (a->flags & b->flags & GRID_IMMOVABLE) continue;
        if (a->group == b->group && !tl_parts_are_apart(c, a->part, b->part)) continue;
        if (meshes && (b->flags & ~a->flags & GRID_MESH) && !search_mesh(c, b, d, reach)) continue;
        search_emit(s, a->part, b->part, (a->flags & b->flags & GRID_BALL) != 0);
    }
}

// Cells within w of x along an axis: `first`, and how many follow (counted around).
static int64_t search_range(const grid_axis *axis, double x, double w, int64_t *first) {
    int64_t low = tl_grid_cell(axis, x - w), high = tl_grid_cell(axis, x + w);
    if (!axis->wraps) {
        low = low < 0 ? 0 : low;
        high = high < axis->cells ? high : axis->cells - 1;
    } else if (high - low + 1 >= axis->cells) {
        low = 0, high = axis->cells - 1;
    }
    *first = axis->wraps ? tl_grid_around(axis, low) : low;
    return high - low + 1;
}

// Add the points of a row of cells, numbers x … x + count − 1 along the first axis (within it), to
// a window.
static void search_add_row(search_scan *s, int l, uint64_t row, int64_t x, int64_t count,
                           int64_t *cursor) {
    const tl_collide *c = s->c;
    const grid_level *level = &c->level[l];
    search_window *w = &s->window[l];
    const uint64_t first = row + (uint64_t)x, behind = first + (uint64_t)count;
    int64_t begin, end;
    if (level->table >= 0) {
        const int32_t *table = c->table + level->table;
        begin = table[first];
        end = table[behind];
    } else {
        begin = *cursor = tl_grid_seek(c, level, *cursor, level->base + first);
        end = tl_grid_seek(c, level, begin, level->base + behind);
    }
    w->begin[w->runs] = begin;
    w->end[w->runs] = end;
    w->runs += begin < end;
}

static void search_open_window(search_scan *s, int64_t i, int l, const int64_t first[3],
                               const int64_t count[3]) {
    const grid_level *level = &s->c->level[l];
    const grid_axis *axis = level->axis;
    search_window *w = &s->window[l];
    for (int k = 0; k < 3; k++) w->first[k] = first[k], w->count[k] = count[k];
    w->runs = 0;
    // In its own level a point looks only at the points behind it: rows before its own are left
    // out.
    const uint64_t own = i < level->end ? s->c->key[s->c->sorted][i] - level->base : 0;
    const int64_t over = first[0] + count[0] - axis[0].cells; // cells at the row's beginning
    for (int64_t m = 0; m < count[2]; m++) {
        int64_t z = first[2] + m;
        if (z >= axis[2].cells) z -= axis[2].cells;
        for (int64_t n = 0; n < count[1]; n++) {
            int64_t y = first[1] + n;
            if (y >= axis[1].cells) y -= axis[1].cells;
            const uint64_t cells = (uint64_t)axis[0].cells;
            const uint64_t row = cells * (uint64_t)(y + axis[1].cells * z);
            if (row + cells <= own) continue;
            int64_t *cursor = &s->cursor[l][(m & 3) * 4 + (n & 3)];
            if (over > 0) search_add_row(s, l, row, 0, over, cursor);
            search_add_row(s, l, row, first[0], count[0] - (over > 0 ? over : 0), cursor);
        }
    }
}

// Partners of point i in level l. In its own level it looks only at the points behind it.
TL_INLINE void search_level(search_scan *s, int64_t i, int l, bool periodic, bool meshes) {
    const tl_collide *c = s->c;
    const grid_level *level = &c->level[l];
    const grid_point *a = &c->point[i];
    const double reach = a->size + c->reach;
    // The window is that of the largest of its level where the cells are larger than its own, so
    // that its neighbours can look through it too.
    const double size = i < level->end ? a->size : c->level[a->level].size_most;
    const double far = size + c->reach + level->size_most;
    search_window *w = &s->window[l];
    int64_t first[3], count[3], changed = 0;
    for (int k = 2; k >= 0; k--) {
        count[k] = search_range(&level->axis[k], a->x[k], far, &first[k]);
        if (count[k] <= 0) return;
        changed |= (first[k] ^ w->first[k]) | (count[k] ^ w->count[k]);
    }
    if (changed) search_open_window(s, i, l, first, count);
    for (int r = 0; r < w->runs; r++) {
        const bool behind = i < level->end && w->begin[r] <= i;
        search_compare(s, a, reach, behind ? i + 1 : w->begin[r], w->end[r], periodic, meshes);
    }
}

TL_INLINE void search_points(search_scan *s, int64_t begin, int64_t end, bool periodic,
                             bool meshes) {
    const tl_collide *c = s->c;
    for (int64_t i = begin; i < end; i++) {
        // Windows lack rows that the points of their own level had passed: not for other levels.
        if (i > begin && c->point[i].level != c->point[i - 1].level)
            for (int l = 0; l < GRID_LEVELS; l++) s->window[l].count[0] = 0;
        for (int l = c->point[i].level; l >= 0; l--)
            if (c->level[l].begin < c->level[l].end) search_level(s, i, l, periodic, meshes);
    }
}

// Items near the walls of unbounded item number u, among begin … end − 1.
static void search_walls(const search_scan *s, int32_t u, int32_t begin, int32_t end) {
    const tl_collide *c = s->c;
    const int32_t j = c->wall_part[u];
    for (int32_t i = begin; i < end; i++) {
        const grid_spot *spot = &c->spot[i];
        if (!tl_spots_may_touch(spot, &c->spot[j])) continue;
        // Two unbounded items are always near. Positions are rounded in proportion to their size.
        const double *x = spot->x, *y = c->walls[u].x;
        const double scale = fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + fabs(y[0]) + fabs(y[1]) +
                             fabs(y[2]) + c->walls[u].scale;
        const double most = spot->extent + c->reach + 1e-14 * scale;
        if (spot->flags & GRID_UNBOUNDED ? i < j : tl_walls_distance(&c->walls[u], x) <= most)
            search_emit(s, i, j, false);
    }
}

static void search_scan_all(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    search_scan s = {.c = c, .worker = &c->worker[rank]};
    const bool periodic = c->period[0] > 0.0 || c->period[1] > 0.0 || c->period[2] > 0.0;
    s.worker->pair_count = 0;
    int64_t begin, end;
    tl_share(c->bounded_count, tl_team_size(team), rank, &begin, &end);
    if (periodic)
        search_points(&s, begin, end, true, true);
    else if (c->meshes)
        search_points(&s, begin, end, false, true);
    else
        search_points(&s, begin, end, false, false);
    tl_share(c->part_count, tl_team_size(team), rank, &begin, &end);
    for (int32_t u = 0; u < c->wall_count; u++) search_walls(&s, u, (int32_t)begin, (int32_t)end);
}

// Divide the room for pairs: to each worker what it needed last, and an equal share of the rest.
static void search_divide(tl_collide *c, int64_t needed) {
    int64_t at = 0;
    for (int r = 0; r < c->size; r++) {
        tl_worker *w = &c->worker[r];
        w->pair_begin = at;
        w->pair_room = w->pair_count + (c->pair_room - needed) / c->size;
        at += w->pair_room;
    }
}

// Find all candidates. A worker whose room was too small has counted on; the search is then
// repeated with room for all.
static talus_status search_find(tl_collide *c) {
    for (;;) {
        tl_parallel(c->ctx, c->size, search_scan_all, c);
        bool fits = true;
        c->pair_total = 0;
        for (int r = 0; r < c->size; r++) {
            fits = fits && c->worker[r].pair_count <= c->worker[r].pair_room;
            c->pair_total += c->worker[r].pair_count;
        }
        if (fits) return TALUS_OK;
        if (c->pair_total > c->pair_room) {
            const int64_t room = c->pair_total + c->pair_total / 8 + 64;
            c->pair_room = c->divided = 0; // as long as something may fail
            TL_TRY(tl_collide_renew(c->ctx, room, sizeof *c->entry, &c->entry));
            TL_TRY(tl_collide_renew(c->ctx, room, sizeof *c->pair, &c->pair));
            c->pair_room = room;
            c->divided = c->size;
        }
        search_divide(c, c->pair_total);
    }
}

// Sort entries ascending; `spare` has room for them. Long lists belong to items that touch many
// (walls, large obstacles) and are sorted by digits of 8 bits.
static void search_sort(uint32_t *entry, int64_t count, uint32_t *spare, uint32_t most) {
    if (count <= 48) {
        for (int64_t i = 1; i < count; i++) {
            const uint32_t e = entry[i];
            int64_t k = i;
            for (; k > 0 && entry[k - 1] > e; k--) entry[k] = entry[k - 1];
            entry[k] = e;
        }
        return;
    }
    uint32_t *from = entry, *to = spare;
    for (int shift = 0; shift < 32 && most >> shift; shift += 8) {
        int64_t digit[257] = {0};
        for (int64_t i = 0; i < count; i++) digit[(from[i] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++) digit[d + 1] += digit[d];
        for (int64_t i = 0; i < count; i++) to[digit[from[i] >> shift & 255]++] = from[i];
        uint32_t *swap = from;
        from = to, to = swap;
    }
    if (from != entry) memcpy(entry, from, (size_t)count * sizeof *entry);
}

// Entries of items begin … end − 1 among what one worker found: how many there are of each …
static void search_tally(const tl_collide *c, const tl_worker *w, int64_t begin, int64_t end) {
    if (w->pair_count == 0) return; // there may be no list at all
    const tl_candidate *pair = c->pair + w->pair_begin;
    for (int64_t i = 0; i < w->pair_count; i++) {
        if (i + AHEAD < w->pair_count) TL_PREFETCH(&c->start[pair[i + AHEAD].a + 2]);
        if (pair[i].a >= begin && pair[i].a < end) c->start[pair[i].a + 2]++;
    }
}

// … and then each to its place. start[a + 1] is where the next entry of a goes, and in the end
// where those of a + 1 begin.
static void search_file(const tl_collide *c, const tl_worker *w, int64_t begin, int64_t end) {
    if (w->pair_count == 0) return;
    const tl_candidate *pair = c->pair + w->pair_begin;
    for (int64_t i = 0; i < w->pair_count; i++) {
        if (i + 2 * AHEAD < w->pair_count) TL_PREFETCH(&c->start[pair[i + 2 * AHEAD].a + 1]);
        const int32_t soon = i + AHEAD < w->pair_count ? pair[i + AHEAD].a : -1;
        if (soon >= begin && soon < end) TL_PREFETCH(&c->entry[c->start[soon + 1]]);
        if (pair[i].a >= begin && pair[i].a < end)
            c->entry[c->start[pair[i].a + 1]++] = pair[i].entry;
    }
}

// Bring the candidates into the order (a, b). Each worker does a range of a and reads all of them,
// which is cheaper than what keeping them apart would cost.
static void search_order(void *arg, tl_team *team, int rank) {
    tl_collide *c = arg;
    int64_t begin, end, *start = c->start;
    tl_share(c->part_count, tl_team_size(team), rank, &begin, &end);
    for (int64_t a = begin; a < end; a++) start[a + 2] = 0;
    if (rank == 0) start[0] = start[1] = 0;
    for (int r = 0; r < c->size; r++) search_tally(c, &c->worker[r], begin, end);
    tl_barrier(team);
    if (rank == 0)
        for (int64_t a = 0; a < c->part_count; a++) start[a + 2] += start[a + 1];
    tl_barrier(team);
    for (int r = 0; r < c->size; r++) search_file(c, &c->worker[r], begin, end);
    tl_barrier(team);
    uint32_t *spare = (uint32_t *)c->pair; // as long as the entries at least; not needed any more
    for (int64_t a = begin; a < end; a++)
        if (start[a + 1] - start[a] > 1)
            search_sort(c->entry + start[a], start[a + 1] - start[a], spare + start[a],
                        2 * (uint32_t)c->part_count);
}

talus_status tl_search_pairs(tl_collide *c) {
    if (c->part_count > c->start_room) {
        const int32_t room = tl_collide_part_room(c);
        c->start_room = 0;
        TL_TRY(tl_collide_renew(c->ctx, (int64_t)room + 2, sizeof *c->start, &c->start));
        c->start_room = room;
    }
    TL_TRY(search_find(c));
    tl_parallel(c->ctx, c->size, search_order, c);
    return TALUS_OK;
}
