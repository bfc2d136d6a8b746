// SPDX-License-Identifier: Apache-2.0
// Which blocks W couples. Separable global problems: contacts that share a body, found from the
// lists of contacts of each body; local ones: the pattern of W; others: all with all.
#include "problem/delassus.h"
#include <string.h>

void tl_graph_clear(talus_context *ctx, tl_graph *g) {
    tl_free(ctx, g->start);
    tl_free(ctx, g->adjacent);
    tl_free(ctx, g->where);
    tl_free(ctx, g->contact);
    memset(g, 0, sizeof *g);
}

// True when the pattern of W is symmetric: rows visited in order meet the entries of each column in
// order. `next` (count entries) is scratch.
static bool graph_is_symmetric(const talus_problem *p, int64_t *next) {
    for (int32_t i = 0; i < p->count; i++) next[i] = p->w_start[i];
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t e = p->w_start[i]; e < p->w_start[i + 1]; e++) {
            const int32_t j = p->w_col[e];
            if (next[j] == p->w_start[j + 1] || p->w_col[next[j]] != i) return false;
            next[j]++;
        }
    return true;
}

// The pattern of W. A file may store (i, j) without (j, i), where that is zero; both are coupled
// all the same, so such pairs are added on the other side.
static talus_status graph_local(talus_context *ctx, const talus_problem *p, tl_graph *g) {
    int64_t *extra = NULL; // pairs to add to each row, then their places
    int32_t *added = NULL;
    talus_status status = TALUS_OK;
    TL_GOTO(TL_ALLOC(ctx, (int64_t)p->count + 2, &extra));
    const bool symmetric = graph_is_symmetric(p, extra);
    memset(extra, 0, ((size_t)p->count + 2) * sizeof *extra);
    for (int32_t i = 0; i < p->count && !symmetric; i++)
        for (int64_t e = p->w_start[i]; e < p->w_start[i + 1]; e++)
            if (!tl_problem_w_block(p, p->w_col[e], i)) extra[p->w_col[e] + 2]++;
    for (int32_t i = 0; i < p->count; i++) extra[i + 2] += extra[i + 1];
    TL_GOTO(TL_ALLOC(ctx, extra[p->count + 1], &added));
    for (int32_t i = 0; i < p->count && !symmetric; i++) // in ascending order for each row
        for (int64_t e = p->w_start[i]; e < p->w_start[i + 1]; e++)
            if (!tl_problem_w_block(p, p->w_col[e], i)) added[extra[p->w_col[e] + 1]++] = i;
    TL_GOTO(TL_RESERVE(ctx, p->w_start[p->count] + extra[p->count], &g->adjacent));
    int64_t used = 0;
    for (int32_t i = 0; i < p->count; i++) { // merge two ascending lists
        int64_t e = p->w_start[i], a = extra[i];
        while (e < p->w_start[i + 1] || a < extra[i + 1]) {
            const bool stored =
                a == extra[i + 1] || (e < p->w_start[i + 1] && p->w_col[e] < added[a]);
            const int32_t j = stored ? p->w_col[e++] : added[a++];
            if (j != i) g->adjacent[used++] = j;
        }
        g->start[i + 1] = used;
    }
done:
    tl_free(ctx, extra);
    tl_free(ctx, added);
    return status;
}

static talus_status graph_full(talus_context *ctx, const talus_problem *p, tl_graph *g) {
    const int64_t n = p->count;
    TL_TRY(TL_RESERVE(ctx, n * (n - 1), &g->adjacent));
    int64_t used = 0;
    for (int32_t i = 0; i < p->count; i++) {
        for (int32_t j = 0; j < p->count; j++)
            if (j != i) g->adjacent[used++] = j;
        g->start[i + 1] = used;
    }
    return TALUS_OK;
}

// Contacts of each body, ascending: where[body] … where[body + 1].
static talus_status graph_incidence(talus_context *ctx, const talus_problem *p, tl_graph *g) {
    TL_TRY(TL_RESERVE(ctx, (int64_t)p->body_count + 2, &g->where));
    TL_TRY(TL_RESERVE(ctx, p->h_start[p->count], &g->contact));
    int64_t *w = g->where;
    g->h_start = p->h_start;
    g->h_body = p->h_body;
    memset(w, 0, ((size_t)p->body_count + 2) * sizeof *w);
    for (int64_t e = 0; e < p->h_start[p->count]; e++) w[p->h_body[e] + 2]++;
    for (int32_t b = 0; b < p->body_count; b++) w[b + 2] += w[b + 1];
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++)
            g->contact[w[p->h_body[e] + 1]++] = i;
    return TALUS_OK;
}

// Neighbours of a contact of two bodies: their merged lists, without i and without repeats.
static int64_t graph_merge_two(const tl_graph *g, int32_t i, const int32_t *body, int32_t *out) {
    const int32_t *a = g->contact + g->where[body[0]], *a_end = g->contact + g->where[body[0] + 1];
    const int32_t *b = g->contact + g->where[body[1]], *b_end = g->contact + g->where[body[1] + 1];
    const int32_t *first = out;
    while (a < a_end && b < b_end) {
        const int32_t x = *a, y = *b, next = x < y ? x : y;
        *out = next;
        out += next != i;
        a += x <= y;
        b += y <= x;
    }
    for (; a < a_end; a++) {
        *out = *a;
        out += *a != i;
    }
    for (; b < b_end; b++) {
        *out = *b;
        out += *b != i;
    }
    return out - first;
}

// The same for any number of bodies; `cursor` has room for one number each.
static int64_t graph_merge(const talus_problem *p, const tl_graph *g, int64_t *cursor, int32_t i,
                           int32_t *out) {
    const int64_t first = p->h_start[i], last = p->h_start[i + 1];
    int64_t used = 0;
    for (int64_t e = first; e < last; e++) cursor[e - first] = g->where[p->h_body[e]];
    for (;;) {
        int32_t next = INT32_MAX;
        for (int64_t e = first; e < last; e++)
            if (cursor[e - first] < g->where[p->h_body[e] + 1] &&
                g->contact[cursor[e - first]] < next)
                next = g->contact[cursor[e - first]];
        if (next == INT32_MAX) return used;
        for (int64_t e = first; e < last; e++)
            if (cursor[e - first] < g->where[p->h_body[e] + 1] &&
                g->contact[cursor[e - first]] == next)
                cursor[e - first]++;
        if (next != i) out[used++] = next;
    }
}

static talus_status graph_separable(talus_context *ctx, const talus_problem *p, tl_graph *g) {
    int64_t *cursor = NULL, two[2] = {0}, widest = 0;
    int64_t most = 1; // neighbours in all, and one place that a contact itself is written to
    talus_status status = TALUS_OK;
    TL_GOTO(graph_incidence(ctx, p, g));
    for (int32_t i = 0; i < p->count; i++)
        widest = TL_MAX(p->h_start[i + 1] - p->h_start[i], widest);
    for (int32_t b = 0; b < p->body_count; b++) {
        const int64_t degree = g->where[b + 1] - g->where[b];
        most += degree * (degree - 1);
    }
    if (widest > 2) TL_GOTO(TL_ALLOC(ctx, widest, &cursor));
    TL_GOTO(TL_RESERVE(ctx, most, &g->adjacent));
    for (int32_t i = 0; i < p->count; i++) {
        int32_t *out = g->adjacent + g->start[i];
        g->start[i + 1] = g->start[i] + (p->h_start[i + 1] - p->h_start[i] == 2
                                             ? graph_merge_two(g, i, p->h_body + p->h_start[i], out)
                                             : graph_merge(p, g, cursor ? cursor : two, i, out));
    }
done:
    tl_free(ctx, cursor);
    return status;
}

talus_status tl_graph_lists(talus_context *ctx, const talus_problem *p, tl_graph *inout) {
    inout->count = p->count;
    tl_free(ctx, inout->adjacent);
    inout->adjacent = NULL;
    const talus_status status = graph_incidence(ctx, p, inout);
    if (status != TALUS_OK) tl_graph_clear(ctx, inout);
    return status;
}

talus_status tl_graph_create(talus_context *ctx, const talus_problem *p, tl_graph *out) {
    *out = (tl_graph){0};
    return tl_graph_update(ctx, p, out);
}

talus_status tl_graph_update(talus_context *ctx, const talus_problem *p, tl_graph *out) {
    out->count = p->count;
    talus_status status = TL_RESERVE(ctx, (int64_t)p->count + 1, &out->start);
    if (status == TALUS_OK) out->start[0] = 0;
    if (status == TALUS_OK)
        status = !p->is_global                ? graph_local(ctx, p, out)
                 : tl_problem_is_separable(p) ? graph_separable(ctx, p, out)
                                              : graph_full(ctx, p, out);
    if (status != TALUS_OK) tl_graph_clear(ctx, out);
    return status;
}
