// SPDX-License-Identifier: Apache-2.0
// The cells of a regular grid that hold particles, and their nodes. Cells are numbered in the order
// of their keys (x fastest within a row), nodes as they are first met: the same for any number of
// threads.
#ifndef TL_SAND_CELLS_H
#define TL_SAND_CELLS_H
#include "base/context.h"

enum { TL_CELLS_BITS = 21, TL_CORNERS = 8 }; // of a coordinate in a key; of a cell in space

typedef struct tl_cells {
    int32_t dim, corners; // 4 or 8
    double origin[3], edge;
    int32_t extent[3]; // cells along the axes (2D: the last is 1)
    int64_t count, nodes, cell_room, node_room, table_room;
    uint64_t *cell_key;
    int64_t *cell_start; // count + 1: where the particles of a cell begin in `order`
    int32_t *cell_node;  // `corners` each; corner k: bit a of k is set where axis a goes up
    uint64_t *node_key;
    int32_t *node_cell;   // `corners` each: the cell of which the node is corner k, −1: none
    int32_t *table;       // nodes by hash of their key, −1: free
    const int64_t *order; // the particles, cell by cell; those of one cell in the order they had
    int32_t *home;        // the cell of each particle
    int64_t jumps;        // how often the order does not go on nearby
    // for sorting particles, by the number that their cell has in the whole grid
    int64_t sort_room;
    uint64_t *key[2];
    int64_t *index[2];
    int sorted; // which of the two
} tl_cells;

/// Key of the cell or node at these coordinates.
static inline uint64_t tl_cells_key(const int32_t at[3]) {
    return ((uint64_t)(uint32_t)at[2] << (2 * TL_CELLS_BITS)) |
           ((uint64_t)(uint32_t)at[1] << TL_CELLS_BITS) | (uint64_t)(uint32_t)at[0];
}
static inline void tl_cells_at(uint64_t key, int32_t at[3]) {
    const uint64_t mask = (UINT64_C(1) << TL_CELLS_BITS) - 1;
    for (int k = 0; k < 3; k++) at[k] = (int32_t)(key >> (k * TL_CELLS_BITS) & mask);
}

/// The cell of a point, which is moved to the nearest one where it is outside.
void tl_cells_locate(const tl_cells *g, const double x[3], int32_t cell[3]);
/// Put the particles in the order of their cells. The same for any number of threads.
talus_status tl_cells_sort(talus_context *ctx, tl_cells *g, int threads, int64_t count,
                           const double *x) TALUS_MUST_CHECK;
/// Memory for sorting that many.
talus_status tl_cells_reserve_sort(talus_context *ctx, tl_cells *g, int64_t count) TALUS_MUST_CHECK;
/// The particles have been put where the order has them: it is 0, 1, … from now on.
void tl_cells_straighten(tl_cells *g, int64_t count);
/// Make cells and nodes for particles that have an order.
talus_status tl_cells_build(talus_context *ctx, tl_cells *g, int64_t count) TALUS_MUST_CHECK;
/// The node of a key; −1: there is none.
int32_t tl_cells_find(const tl_cells *g, uint64_t key);
void tl_cells_clear(talus_context *ctx, tl_cells *g);

#endif // TL_SAND_CELLS_H
