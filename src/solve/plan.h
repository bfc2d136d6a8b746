// SPDX-License-Identifier: Apache-2.0
// The order of a sweep, fixed by the problem alone and never by the number of threads.
//
// Coloured: blocks are cut into cells of 128 consecutive ones, and these into chunks: of one cell,
// or of several where there are many, so that bodies come into the cache once for all of them.
// Chunks of one colour share no coupling, so that threads may take them in any order; a colour ends
// with a barrier. Within a cell, blocks are packed into groups of TL_LANES uncoupled ones, to be
// solved side by side. Chunks rather than single blocks are coloured because a chunk's data stay in
// the cache while it is worked on, and because a colour then holds much work between two barriers.
// Natural: the order of the problem, one block after the other, on one thread.
#ifndef TL_SOLVE_PLAN_H
#define TL_SOLVE_PLAN_H
#include "problem/delassus.h"

typedef struct tl_plan {
    bool coloured;         // groups hold uncoupled blocks and chunks have colours
    int32_t rows;          // TL_LANES * group_count
    int32_t *order;        // rows: block of each row, −1 for an empty lane
    int32_t group_count;   //
    int32_t chunk_count;   //
    int32_t *chunk_start;  // chunk_count + 1, in groups
    int32_t colour_count;  //
    int32_t *colour_start; // colour_count + 1, in chunks
    int32_t *scratch;      // of the colouring, as is the next one
    uint8_t *group;        // blocks: group within its cell
} tl_plan;

talus_status tl_plan_coloured(talus_context *ctx, const tl_graph *graph,
                              tl_plan *out) TALUS_MUST_CHECK;
talus_status tl_plan_natural(talus_context *ctx, int32_t count, tl_plan *out) TALUS_MUST_CHECK;
/// The same in the memory of a plan, or of a zeroed one: coloured, or natural where `graph` is
/// NULL. On failure it is cleared.
talus_status tl_plan_update(talus_context *ctx, const tl_graph *graph, int32_t count,
                            tl_plan *inout) TALUS_MUST_CHECK;
void tl_plan_clear(talus_context *ctx, tl_plan *plan);

#endif // TL_SOLVE_PLAN_H
