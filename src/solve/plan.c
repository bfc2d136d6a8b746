// SPDX-License-Identifier: Apache-2.0
#include "solve/plan.h"
#include <string.h>

enum {
    WORDS = 2,
    CELL = 64 * WORDS, // blocks; couplings inside a cell fit the bits of so many words
    CHUNKS = 1024,     // so many are enough for any number of threads: beyond, chunks grow,
    MOST_CELLS = 8     // up to so many cells
};

// Cells of a chunk.
static int32_t plan_span(int32_t count) {
    const int32_t span = count / (CELL * CHUNKS);
    return span < 1 ? 1 : span > MOST_CELLS ? MOST_CELLS : span;
}

void tl_plan_clear(talus_context *ctx, tl_plan *plan) {
    tl_free(ctx, plan->order);
    tl_free(ctx, plan->chunk_start);
    tl_free(ctx, plan->colour_start);
    tl_free(ctx, plan->scratch);
    tl_free(ctx, plan->group);
    memset(plan, 0, sizeof *plan);
}

static talus_status plan_fill_natural(talus_context *ctx, int32_t count, tl_plan *plan) {
    plan->group_count = (int32_t)(((int64_t)count + TL_LANES - 1) / TL_LANES);
    plan->rows = plan->group_count * TL_LANES;
    plan->chunk_count = plan->colour_count = plan->group_count > 0;
    TL_TRY(TL_RESERVE(ctx, plan->rows, &plan->order));
    TL_TRY(TL_RESERVE(ctx, 2, &plan->chunk_start));
    TL_TRY(TL_RESERVE(ctx, 2, &plan->colour_start));
    plan->chunk_start[0] = plan->colour_start[0] = 0;
    for (int32_t s = 0; s < plan->rows; s++) plan->order[s] = s < count ? s : -1;
    plan->chunk_start[plan->chunk_count] = plan->group_count;
    plan->colour_start[plan->colour_count] = plan->chunk_count;
    return TALUS_OK;
}

// The neighbours of a block as one or several lists; those by bodies have the block itself in them,
// and others more than once.
static int64_t plan_lists(const tl_graph *g, int32_t i) {
    return g->adjacent ? 1 : g->h_start[i + 1] - g->h_start[i];
}

static const int32_t *plan_list(const tl_graph *g, int32_t i, int64_t k, int64_t *length) {
    const int32_t body = g->adjacent ? 0 : g->h_body[g->h_start[i] + k];
    const int64_t *at = g->adjacent ? g->start + i : g->where + body;
    *length = at[1] - at[0];
    return (g->adjacent ? g->adjacent : g->contact) + at[0];
}

// Colours of the chunks, the least used that is free: a colour with few chunks would leave threads
// idle. Returns their number. Of chunks + 1 entries each, `mark` tells which chunk last saw a
// colour among its neighbours and `used` how many chunks have it.
static int32_t plan_colour(const tl_graph *g, int32_t chunks, int32_t *colour, int32_t *mark,
                           int32_t *used) {
    const int32_t size = CELL * plan_span(g->count);
    int32_t colours = 0;
    for (int32_t c = 0; c < chunks; c++) colour[c] = -1;
    for (int32_t c = 0; c <= chunks; c++) mark[c] = -1;
    memset(used, 0, ((size_t)chunks + 1) * sizeof *used);
    for (int32_t c = 0; c < chunks; c++) {
        const int32_t last = g->count - c * size < size ? g->count : (c + 1) * size;
        for (int32_t i = c * size; i < last; i++)
            for (int64_t k = 0; k < plan_lists(g, i); k++) {
                int64_t length;
                const int32_t *list = plan_list(g, i, k, &length);
                for (int64_t e = 0; e < length; e++) {
                    const int32_t other = list[e] / size;
                    if (other != c && colour[other] >= 0) mark[colour[other]] = c;
                }
            }
        int32_t best = colours; // a new one
        for (int32_t k = 0; k < colours; k++)
            if (mark[k] != c && (best == colours || used[k] < used[best])) best = k;
        colour[c] = best;
        used[best]++;
        if (best == colours) colours++;
    }
    return colours;
}

typedef struct plan_set {
    uint64_t word[WORDS];
} plan_set;

static void plan_add(plan_set *s, int32_t i) { s->word[i / 64] |= UINT64_C(1) << i % 64; }

static bool plan_meet(const plan_set *a, const plan_set *b) {
    uint64_t both = 0;
    for (int k = 0; k < WORDS; k++) both |= a->word[k] & b->word[k];
    return both != 0;
}

// The neighbours of block i that are in cell c, and perhaps itself.
static plan_set plan_neighbours(const tl_graph *g, int32_t c, int32_t i) {
    plan_set set = {0};
    for (int64_t k = 0; k < plan_lists(g, i); k++) {
        int64_t length;
        const int32_t *list = plan_list(g, i, k, &length);
        for (int64_t e = 0; e < length; e++)
            if (list[e] / CELL == c) plan_add(&set, list[e] - c * CELL);
    }
    return set;
}

// Pack the blocks of cell c into groups of uncoupled ones; returns the number of groups. A block
// goes to the first group that has room and no neighbour of it; `group` tells which.
static int32_t plan_pack(const tl_graph *g, int32_t c, uint8_t *group) {
    const int32_t first = c * CELL;
    const int32_t size = g->count - first < CELL ? g->count - first : CELL;
    plan_set member[CELL];
    int32_t used[CELL], groups = 0;
    for (int32_t i = 0; i < size; i++) {
        const plan_set neighbours = plan_neighbours(g, c, first + i); // of members yet to come, too
        int32_t k = 0;
        while (k < groups && (used[k] == TL_LANES || plan_meet(&member[k], &neighbours))) k++;
        if (k == groups) {
            member[k] = (plan_set){0};
            used[k] = 0;
            groups++;
        }
        used[k]++;
        group[first + i] = (uint8_t)k;
        plan_add(&member[k], i);
    }
    return groups;
}

// The rows of cell c, from `order` on: each block in the first free lane of its group.
static void plan_place(const tl_graph *g, int32_t c, int32_t groups, const uint8_t *group,
                       int32_t *order) {
    int32_t used[CELL] = {0};
    for (int32_t k = 0; k < groups * TL_LANES; k++) order[k] = -1;
    for (int32_t i = c * CELL; i < (c + 1) * CELL && i < g->count; i++)
        order[group[i] * TL_LANES + used[group[i]]++] = i;
}

// Scratch: colour and mark of each chunk, the number of groups of each cell, and the group of each
// block.
static talus_status plan_fill_coloured(talus_context *ctx, const tl_graph *g, tl_plan *plan) {
    const int32_t cells = (int32_t)(((int64_t)g->count + CELL - 1) / CELL);
    const int32_t span = plan_span(g->count), chunks = (cells + span - 1) / span;
    TL_TRY(TL_RESERVE(ctx, 3 * ((int64_t)chunks + 1) + cells, &plan->scratch));
    TL_TRY(TL_RESERVE(ctx, g->count, &plan->group));
    int32_t *colour = plan->scratch, *mark = colour + chunks + 1, *used = mark + chunks + 1;
    int32_t *groups = used + chunks + 1;
    plan->chunk_count = chunks;
    plan->colour_count = plan_colour(g, chunks, colour, mark, used);
    TL_TRY(TL_RESERVE(ctx, (int64_t)chunks + 1, &plan->chunk_start));
    TL_TRY(TL_RESERVE(ctx, (int64_t)plan->colour_count + 1, &plan->colour_start));
    int64_t rows = 0;
    for (int32_t c = 0; c < cells; c++) {
        groups[c] = plan_pack(g, c, plan->group);
        rows += (int64_t)groups[c] * TL_LANES;
    }
    TL_REQUIRE(ctx, rows <= INT32_MAX, TALUS_ERR_PROBLEM, "too many blocks: %lld rows",
               (long long)rows);
    plan->rows = (int32_t)rows;
    plan->group_count = plan->rows / TL_LANES;
    TL_TRY(TL_RESERVE(ctx, plan->rows, &plan->order));
    int32_t next = 0, group = 0;
    plan->chunk_start[0] = plan->colour_start[0] = 0;
    for (int32_t k = 0; k < plan->colour_count; k++) {
        for (int32_t chunk = 0; chunk < chunks; chunk++) {
            if (colour[chunk] != k) continue;
            for (int32_t c = chunk * span; c < (chunk + 1) * span && c < cells; c++) {
                plan_place(g, c, groups[c], plan->group, plan->order + (int64_t)group * TL_LANES);
                group += groups[c];
            }
            plan->chunk_start[++next] = group;
        }
        plan->colour_start[k + 1] = next;
    }
    return TALUS_OK;
}

talus_status tl_plan_update(talus_context *ctx, const tl_graph *graph, int32_t count,
                            tl_plan *inout) {
    inout->coloured = graph != NULL;
    const talus_status status =
        graph ? plan_fill_coloured(ctx, graph, inout) : plan_fill_natural(ctx, count, inout);
    if (status != TALUS_OK) tl_plan_clear(ctx, inout);
    return status;
}

talus_status tl_plan_natural(talus_context *ctx, int32_t count, tl_plan *out) {
    *out = (tl_plan){0};
    return tl_plan_update(ctx, NULL, count, out);
}

talus_status tl_plan_coloured(talus_context *ctx, const tl_graph *graph, tl_plan *out) {
    *out = (tl_plan){0};
    return tl_plan_update(ctx, graph, graph->count, out);
}
