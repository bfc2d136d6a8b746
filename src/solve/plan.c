// SPDX-License-Identifier: Apache-2.0
#include "solve/plan.h"
#include <string.h>

enum { CHUNK = 64 }; // blocks; couplings inside a chunk fit the bits of one word

void tl_plan_clear(talus_context *ctx, tl_plan *plan) {
    tl_free(ctx, plan->order);
    tl_free(ctx, plan->chunk_start);
    tl_free(ctx, plan->colour_start);
    memset(plan, 0, sizeof *plan);
}

static talus_status plan_fill_natural(talus_context *ctx, int32_t count, tl_plan *plan) {
    plan->group_count = (int32_t)(((int64_t)count + TL_LANES - 1) / TL_LANES);
    plan->rows = plan->group_count * TL_LANES;
    plan->chunk_count = plan->colour_count = plan->group_count > 0;
    TL_TRY(TL_ALLOC(ctx, plan->rows, &plan->order));
    TL_TRY(TL_ALLOC(ctx, 2, &plan->chunk_start));
    TL_TRY(TL_ALLOC(ctx, 2, &plan->colour_start));
    for (int32_t s = 0; s < plan->rows; s++) plan->order[s] = s < count ? s : -1;
    plan->chunk_start[plan->chunk_count] = plan->group_count;
    plan->colour_start[plan->colour_count] = plan->chunk_count;
    return TALUS_OK;
}

// First-fit colours of the chunks; returns their number. `mark` (chunks + 1 entries) tells which
// chunk last saw a colour among its neighbours.
static int32_t plan_colour(const tl_graph *g, int32_t chunks, int32_t *colour, int32_t *mark) {
    int32_t colours = 0;
    for (int32_t c = 0; c < chunks; c++) colour[c] = -1;
    for (int32_t c = 0; c <= chunks; c++) mark[c] = -1;
    for (int32_t c = 0; c < chunks; c++) {
        const int32_t last = (c + 1) * CHUNK < g->count ? (c + 1) * CHUNK : g->count;
        for (int64_t e = g->start[(int64_t)c * CHUNK]; e < g->start[last]; e++) {
            const int32_t other = g->adjacent[e] / CHUNK;
            if (other != c && colour[other] >= 0) mark[colour[other]] = c;
        }
        int32_t k = 0;
        while (mark[k] == c) k++;
        colour[c] = k;
        if (k + 1 > colours) colours = k + 1;
    }
    return colours;
}

// Pack the blocks of chunk c into groups of uncoupled ones; returns the number of groups. A block
// goes to the first group that has room and no neighbour of it.
static int32_t plan_pack(const tl_graph *g, int32_t c, int32_t *order) {
    const int32_t first = c * CHUNK;
    const int32_t size = g->count - first < CHUNK ? g->count - first : CHUNK;
    uint64_t member[CHUNK];
    int32_t used[CHUNK], groups = 0;
    for (int32_t i = 0; i < size; i++) {
        uint64_t neighbours = 0;
        for (int64_t e = g->start[first + i]; e < g->start[first + i + 1]; e++)
            if (g->adjacent[e] / CHUNK == c) neighbours |= UINT64_C(1) << (g->adjacent[e] - first);
        int32_t k = 0;
        while (k < groups && (used[k] == TL_LANES || (member[k] & neighbours))) k++;
        if (k == groups) {
            member[k] = 0;
            used[k] = 0;
            groups++;
            for (int l = 0; l < TL_LANES; l++) order[k * TL_LANES + l] = -1;
        }
        order[k * TL_LANES + used[k]++] = first + i;
        member[k] |= UINT64_C(1) << i;
    }
    return groups;
}

static talus_status plan_fill_coloured(talus_context *ctx, const tl_graph *g, tl_plan *plan) {
    const int32_t chunks = (int32_t)(((int64_t)g->count + CHUNK - 1) / CHUNK);
    int32_t *colour = NULL, *mark = NULL;
    talus_status status = TALUS_OK;
    TL_GOTO(TL_ALLOC(ctx, chunks, &colour));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)chunks + 1, &mark));
    plan->chunk_count = chunks;
    plan->colour_count = plan_colour(g, chunks, colour, mark);
    TL_GOTO(TL_ALLOC(ctx, (int64_t)chunks + 1, &plan->chunk_start));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)plan->colour_count + 1, &plan->colour_start));
    // Room for the worst case, one block a group, is what the packing needs once per chunk.
    int64_t rows = 0;
    int32_t scratch[CHUNK * TL_LANES];
    for (int32_t c = 0; c < chunks; c++) rows += (int64_t)plan_pack(g, c, scratch) * TL_LANES;
    TL_GOTO(rows <= INT32_MAX
                ? TL_ALLOC(ctx, rows, &plan->order)
                : tl_fail(ctx, TALUS_ERR_PROBLEM, "too many blocks: %lld rows", (long long)rows));
    plan->rows = (int32_t)rows;
    plan->group_count = plan->rows / TL_LANES;
    int32_t chunk = 0, group = 0;
    for (int32_t k = 0; k < plan->colour_count; k++) {
        for (int32_t c = 0; c < chunks; c++) {
            if (colour[c] != k) continue;
            const int32_t groups = plan_pack(g, c, scratch);
            memcpy(plan->order + (int64_t)group * TL_LANES, scratch,
                   (size_t)groups * TL_LANES * sizeof *scratch);
            group += groups;
            plan->chunk_start[++chunk] = group;
        }
        plan->colour_start[k + 1] = chunk;
    }
done:
    tl_free(ctx, colour);
    tl_free(ctx, mark);
    return status;
}

talus_status tl_plan_natural(talus_context *ctx, int32_t count, tl_plan *out) {
    *out = (tl_plan){.coloured = false};
    const talus_status status = plan_fill_natural(ctx, count, out);
    if (status != TALUS_OK) tl_plan_clear(ctx, out);
    return status;
}

talus_status tl_plan_coloured(talus_context *ctx, const tl_graph *graph, tl_plan *out) {
    *out = (tl_plan){.coloured = true};
    const talus_status status = plan_fill_coloured(ctx, graph, out);
    if (status != TALUS_OK) tl_plan_clear(ctx, out);
    return status;
}
