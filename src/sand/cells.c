// SPDX-License-Identifier: Apache-2.0
#include "sand/cells.h"
#include "base/thread.h"
#include <math.h>
#include <string.h>

enum { CELLS_DIGIT_BITS = 11, CELLS_DIGITS = 1 << CELLS_DIGIT_BITS };
// Particles that are this far apart are not read together.
enum { CELLS_FAR = 64 };

void tl_cells_locate(const tl_cells *g, const double x[3], int32_t cell[3]) {
    const double inverse = 1.0 / g->edge;
    for (int k = 0; k < 3; k++) {
        const double t = (x[k] - g->origin[k]) * inverse; // its whole part, as it is positive
        cell[k] = t >= g->extent[k] ? g->extent[k] - 1 : t > 0.0 ? (int32_t)t : 0;
    }
    if (g->dim == 2) cell[2] = 0;
}

// ---- sorting -----------------------------------------------------------------------------------

// One pass of a radix sort by the digit that begins at bit `shift`. False: all have the same digit,
// and nothing was done.
static bool cells_pass(tl_cells *g, int64_t count, int from, int shift) {
    int64_t place[CELLS_DIGITS] = {0};
    const uint64_t *key = g->key[from];
    for (int64_t i = 0; i < count; i++) place[key[i] >> shift & (CELLS_DIGITS - 1)]++;
    if (place[key[0] >> shift & (CELLS_DIGITS - 1)] == count) return false;
    int64_t sum = 0;
    for (int d = 0; d < CELLS_DIGITS; d++) {
        const int64_t own = place[d];
        place[d] = sum;
        sum += own;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t to = place[key[i] >> shift & (CELLS_DIGITS - 1)]++;
        g->key[1 - from][to] = key[i];
        g->index[1 - from][to] = g->index[from][i];
    }
    return true;
}

talus_status tl_cells_reserve_sort(talus_context *ctx, tl_cells *g, int64_t count) {
    if (count + 1 <= g->sort_room) return TALUS_OK;
    const int64_t room = count + count / 8 + 1;
    for (int k = 0; k < 2; k++) {
        TL_TRY(tl_realloc(ctx, 0, room, sizeof *g->key[k], &g->key[k]));
        TL_TRY(tl_realloc(ctx, 0, room, sizeof *g->index[k], &g->index[k]));
    }
    TL_TRY(tl_realloc(ctx, 0, room, sizeof *g->home, &g->home));
    g->sort_room = room;
    return TALUS_OK;
}

// Numbers of cells in the whole grid ascend as their keys do, and have fewer digits.
static uint64_t cells_number(const tl_cells *g, const double x[3]) {
    int32_t at[3];
    tl_cells_locate(g, x, at);
    return ((uint64_t)at[2] * (uint64_t)g->extent[1] + (uint64_t)at[1]) * (uint64_t)g->extent[0] +
           (uint64_t)at[0];
}

static void cells_from_number(const tl_cells *g, uint64_t number, int32_t at[3]) {
    const uint64_t x = (uint64_t)g->extent[0], y = (uint64_t)g->extent[1];
    at[0] = (int32_t)(number % x);
    at[1] = (int32_t)(number / x % y);
    at[2] = (int32_t)(number / x / y);
}

typedef struct cells_located {
    tl_cells *g;
    int64_t count;
    const double *x;
} cells_located;

static void cells_locate_work(void *arg, tl_team *team, int rank) {
    const cells_located *t = arg;
    int64_t begin, end;
    tl_share(t->count, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        t->g->key[0][i] = cells_number(t->g, t->x + 3 * i);
        t->g->index[0][i] = i;
    }
}

talus_status tl_cells_sort(talus_context *ctx, tl_cells *g, int threads, int64_t count,
                           const double *x) {
    TL_TRY(tl_cells_reserve_sort(ctx, g, count));
    cells_located work = {.g = g, .count = count, .x = x};
    tl_parallel(ctx, threads, cells_locate_work, &work);
    int64_t back = 0;
    for (int64_t i = 1; i < count; i++) back += g->key[0][i] < g->key[0][i - 1];
    const uint64_t last = (uint64_t)g->extent[0] * (uint64_t)g->extent[1] * (uint64_t)g->extent[2];
    g->sorted = 0;
    for (int shift = 0; back > 0 && shift < 64 && last >> shift > 0; shift += CELLS_DIGIT_BITS)
        if (cells_pass(g, count, g->sorted, shift)) g->sorted = 1 - g->sorted;
    g->order = g->index[g->sorted];
    g->jumps = 0;
    for (int64_t i = 1; back > 0 && i < count; i++)
        g->jumps += (uint64_t)(g->order[i] - g->order[i - 1] + CELLS_FAR) > 2 * CELLS_FAR;
    return TALUS_OK;
}

void tl_cells_straighten(tl_cells *g, int64_t count) {
    int64_t *order = g->index[g->sorted];
    for (int64_t i = 0; i < count; i++) order[i] = i;
    g->jumps = 0;
}

// ---- cells and nodes ---------------------------------------------------------------------------

static int64_t cells_hash(uint64_t key, int64_t room) {
    return (int64_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (uint64_t)(room - 1));
}

// Where the node of a key stands in the table, or would.
static int64_t cells_place(const tl_cells *g, uint64_t key) {
    int64_t at = cells_hash(key, g->table_room);
    while (g->table[at] >= 0 && g->node_key[g->table[at]] != key)
        at = (at + 1) & (g->table_room - 1);
    return at;
}

int32_t tl_cells_find(const tl_cells *g, uint64_t key) {
    return g->table_room > 0 ? g->table[cells_place(g, key)] : -1;
}

// The node of a key; a new one where it is met for the first time.
static int32_t cells_node(tl_cells *g, uint64_t key) {
    const int64_t at = cells_place(g, key);
    if (g->table[at] >= 0) return g->table[at];
    const int32_t node = (int32_t)g->nodes++;
    g->table[at] = node;
    g->node_key[node] = key;
    for (int k = 0; k < g->corners; k++) g->node_cell[(int64_t)node * g->corners + k] = -1;
    return node;
}

// Room for `cells` cells and as many nodes as they can have.
static talus_status cells_reserve(talus_context *ctx, tl_cells *g, int64_t cells) {
    if (cells + 1 > g->cell_room) {
        const int64_t room = cells + cells / 8 + 1;
        TL_TRY(tl_realloc(ctx, 0, room, sizeof *g->cell_key, &g->cell_key));
        TL_TRY(tl_realloc(ctx, 0, room, sizeof *g->cell_start, &g->cell_start));
        TL_TRY(tl_realloc(ctx, 0, room * g->corners, sizeof *g->cell_node, &g->cell_node));
        g->cell_room = room;
    }
    const int64_t nodes = cells * g->corners;
    if (nodes + 1 > g->node_room) {
        const int64_t room = nodes + nodes / 8 + 1;
        TL_TRY(tl_realloc(ctx, 0, room, sizeof *g->node_key, &g->node_key));
        TL_TRY(tl_realloc(ctx, 0, room * g->corners, sizeof *g->node_cell, &g->node_cell));
        int64_t table = 16;
        while (table < 2 * room) table *= 2;
        TL_TRY(tl_realloc(ctx, 0, table, sizeof *g->table, &g->table));
        g->table_room = table;
        g->node_room = room;
    }
    return TALUS_OK;
}

talus_status tl_cells_build(talus_context *ctx, tl_cells *g, int64_t count) {
    int64_t cells = count > 0;
    const uint64_t *number = g->key[g->sorted];
    for (int64_t i = 1; i < count; i++) cells += number[i] != number[i - 1];
    TL_REQUIRE(ctx, cells < INT32_MAX / TL_CORNERS, TALUS_ERR_ARG,
               "sand: %lld cells with particles; the most are %d: make the cells larger",
               (long long)cells, INT32_MAX / TL_CORNERS);
    TL_TRY(cells_reserve(ctx, g, cells));
    memset(g->table, 0xff, (size_t)g->table_room * sizeof *g->table);
    g->count = g->nodes = 0;
    for (int64_t i = 0; i < count; i++) {
        const bool same = i > 0 && number[i] == number[i - 1];
        g->home[g->order[i]] = (int32_t)(same ? g->count - 1 : g->count);
        if (same) continue;
        const int64_t cell = g->count++;
        int32_t at[3];
        cells_from_number(g, number[i], at);
        g->cell_key[cell] = tl_cells_key(at);
        g->cell_start[cell] = i;
        for (int k = 0; k < g->corners; k++) {
            const int32_t corner[3] = {at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2 & 1)};
            const int32_t node = cells_node(g, tl_cells_key(corner));
            g->cell_node[cell * g->corners + k] = node;
            g->node_cell[(int64_t)node * g->corners + k] = (int32_t)cell;
        }
    }
    g->cell_start[g->count] = count;
    return TALUS_OK;
}

void tl_cells_clear(talus_context *ctx, tl_cells *g) {
    void *const owned[] = {g->cell_key,  g->cell_start, g->cell_node, g->node_key,
                           g->node_cell, g->table,      g->key[0],    g->key[1],
                           g->index[0],  g->index[1],   g->home};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *g = (tl_cells){0};
}
