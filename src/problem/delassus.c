// SPDX-License-Identifier: Apache-2.0
// Building the Delassus operator. Three sources of W:
//     local form         the stored blocks, reordered;
//     separable global   W_ij = Σ_b H_ib M_b⁻¹ H_jbᵀ over the bodies b that i and j share: cost and
//                        memory linear in the contacts, rows built in parallel;
//     other global       M sparse or constrained: every contact feels every other, W is full and
//                        each of its columns costs one solve.
#include "problem/delassus.h"
#include "base/thread.h"
#include <string.h>

// ---- the graph ---------------------------------------------------------------------------------

void tl_graph_clear(talus_context *ctx, tl_graph *g) {
    tl_free(ctx, g->start);
    tl_free(ctx, g->adjacent);
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
    TL_GOTO(TL_ALLOC(ctx, p->w_start[p->count] + extra[p->count], &g->adjacent));
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
    TL_TRY(TL_ALLOC(ctx, n * (n - 1), &g->adjacent));
    int64_t used = 0;
    for (int32_t i = 0; i < p->count; i++) {
        for (int32_t j = 0; j < p->count; j++)
            if (j != i) g->adjacent[used++] = j;
        g->start[i + 1] = used;
    }
    return TALUS_OK;
}

// Contacts of each body, ascending: where[body] … where[body + 1].
static talus_status graph_incidence(talus_context *ctx, const talus_problem *p, int64_t **where,
                                    int32_t **contact) {
    TL_TRY(TL_ALLOC(ctx, (int64_t)p->body_count + 2, where));
    TL_TRY(TL_ALLOC(ctx, p->h_start[p->count], contact));
    int64_t *w = *where;
    for (int64_t e = 0; e < p->h_start[p->count]; e++) w[p->h_body[e] + 2]++;
    for (int32_t b = 0; b < p->body_count; b++) w[b + 2] += w[b + 1];
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++)
            (*contact)[w[p->h_body[e] + 1]++] = i;
    return TALUS_OK;
}

// Neighbours of contact i: the merged lists of its bodies, without i and without repeats.
static int64_t graph_merge(const talus_problem *p, const int64_t *where, const int32_t *contact,
                           int64_t *cursor, int32_t i, int32_t *out) {
    const int64_t first = p->h_start[i], last = p->h_start[i + 1];
    int64_t used = 0;
    for (int64_t e = first; e < last; e++) cursor[e - first] = where[p->h_body[e]];
    for (;;) {
        int32_t next = INT32_MAX;
        for (int64_t e = first; e < last; e++)
            if (cursor[e - first] < where[p->h_body[e] + 1] && contact[cursor[e - first]] < next)
                next = contact[cursor[e - first]];
        if (next == INT32_MAX) return used;
        for (int64_t e = first; e < last; e++)
            if (cursor[e - first] < where[p->h_body[e] + 1] && contact[cursor[e - first]] == next)
                cursor[e - first]++;
        if (next == i) continue;
        if (out) out[used] = next;
        used++;
    }
}

static talus_status graph_separable(talus_context *ctx, const talus_problem *p, tl_graph *g) {
    int64_t *where = NULL, *cursor = NULL, widest = 0;
    int32_t *contact = NULL;
    talus_status status = graph_incidence(ctx, p, &where, &contact);
    if (status != TALUS_OK) goto done;
    for (int32_t i = 0; i < p->count; i++)
        if (p->h_start[i + 1] - p->h_start[i] > widest) widest = p->h_start[i + 1] - p->h_start[i];
    TL_GOTO(TL_ALLOC(ctx, widest, &cursor));
    for (int32_t i = 0; i < p->count; i++)
        g->start[i + 1] = g->start[i] + graph_merge(p, where, contact, cursor, i, NULL);
    TL_GOTO(TL_ALLOC(ctx, g->start[p->count], &g->adjacent));
    for (int32_t i = 0; i < p->count; i++)
        graph_merge(p, where, contact, cursor, i, g->adjacent + g->start[i]);
done:
    tl_free(ctx, where);
    tl_free(ctx, contact);
    tl_free(ctx, cursor);
    return status;
}

talus_status tl_graph_create(talus_context *ctx, const talus_problem *p, tl_graph *out) {
    *out = (tl_graph){.count = p->count};
    talus_status status = TL_ALLOC(ctx, (int64_t)p->count + 1, &out->start);
    if (status == TALUS_OK)
        status = !p->is_global                ? graph_local(ctx, p, out)
                 : tl_problem_is_separable(p) ? graph_separable(ctx, p, out)
                                              : graph_full(ctx, p, out);
    if (status != TALUS_OK) tl_graph_clear(ctx, out);
    return status;
}

// ---- rows of H and Y ---------------------------------------------------------------------------

static void rows_clear(talus_context *ctx, tl_rows *r) {
    tl_free(ctx, r->start);
    tl_free(ctx, r->dof);
    tl_free(ctx, r->size);
    tl_free(ctx, r->offset);
    tl_free(ctx, r->value);
    memset(r, 0, sizeof *r);
}

static talus_status rows_alloc(talus_context *ctx, int32_t rows, int64_t blocks, int64_t values,
                               tl_rows *r) {
    TL_TRY(TL_ALLOC(ctx, (int64_t)rows + 1, &r->start));
    TL_TRY(TL_ALLOC(ctx, blocks, &r->dof));
    TL_TRY(TL_ALLOC(ctx, blocks, &r->size));
    TL_TRY(TL_ALLOC(ctx, blocks + 1, &r->offset));
    return TL_ALLOC(ctx, values, &r->value);
}

static talus_status rows_h(const tl_delassus *w, tl_rows *r) {
    const talus_problem *p = w->problem;
    const int64_t blocks = p->h_start[p->count];
    TL_TRY(rows_alloc(w->ctx, w->rows, blocks, p->h_offset[blocks], r));
    int64_t used = 0;
    for (int32_t s = 0; s < w->rows; s++) {
        const int32_t i = w->order[s];
        for (int64_t e = i < 0 ? 0 : p->h_start[i]; i >= 0 && e < p->h_start[i + 1]; e++, used++) {
            const int32_t body = p->h_body[e];
            const int64_t values = p->h_offset[e + 1] - p->h_offset[e];
            r->dof[used] = p->body_start[body];
            r->size[used] = p->body_start[body + 1] - p->body_start[body];
            r->offset[used + 1] = r->offset[used] + values;
            memcpy(r->value + r->offset[used], p->h_block + p->h_offset[e],
                   (size_t)values * sizeof *r->value);
        }
        r->start[s + 1] = used;
    }
    return TALUS_OK;
}

// M sparse or constrained: one dense block per row, d solves each.
static talus_status rows_y_full(const tl_delassus *w, tl_rows *r) {
    const talus_problem *p = w->problem;
    const int d = w->dim;
    TL_TRY(rows_alloc(w->ctx, w->rows, p->count, (int64_t)p->count * d * p->dof, r));
    int64_t used = 0;
    for (int32_t s = 0; s < w->rows; s++) {
        const int32_t i = w->order[s];
        if (i >= 0) {
            r->size[used] = p->dof;
            r->offset[used + 1] = r->offset[used] + (int64_t)d * p->dof;
            for (int k = 0; k < d; k++) {
                double *x = r->value + r->offset[used] + (int64_t)k * p->dof;
                for (int64_t e = w->h.start[s]; e < w->h.start[s + 1]; e++)
                    memcpy(x + w->h.dof[e], w->h.value + w->h.offset[e] + k * w->h.size[e],
                           (size_t)w->h.size[e] * sizeof *x);
                TL_TRY(tl_problem_response(p, x));
            }
            used++;
        }
        r->start[s + 1] = used;
    }
    return TALUS_OK;
}

// out (d × d) += A Bᵀ for A d × size and B d rows of `size` entries, `stride` apart.
TL_INLINE void rows_add_block(int d, int32_t size, const double *a, const double *b, int32_t stride,
                              double *out) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double sum = 0.0;
            for (int32_t m = 0; m < size; m++) sum += a[i * size + m] * b[j * stride + m];
            out[i * d + j] += sum;
        }
}

// out (d × d) = H_s Y_tᵀ: blocks that cover common unknowns, both lists ascending in them. A block
// of Y either equals one of H in extent or covers all unknowns.
static void rows_product(int d, const tl_rows *h, int64_t s, const tl_rows *y, int64_t t,
                         double *out) {
    TL_ASSUME_DIM(d);
    for (int k = 0; k < d * d; k++) out[k] = 0.0;
    int64_t f = y->start[t];
    for (int64_t e = h->start[s]; e < h->start[s + 1]; e++) {
        const int32_t dof = h->dof[e], size = h->size[e];
        while (f < y->start[t + 1] && y->dof[f] + y->size[f] <= dof) f++;
        if (f == y->start[t + 1]) return;
        if (y->dof[f] > dof) continue;
        const double *a = h->value + h->offset[e];
        const double *b = y->value + y->offset[f] + (dof - y->dof[f]);
        const int32_t stride = y->size[f];
        if (d == 3 && size == 6 && stride == 6) // rigid bodies: let the compiler unroll
            rows_add_block(3, 6, a, b, 6, out);
        else if (d == 2 && size == 3 && stride == 3)
            rows_add_block(2, 3, a, b, 3, out);
        else
            rows_add_block(d, size, a, b, stride, out);
    }
}

// ---- the operator ------------------------------------------------------------------------------

typedef struct delassus_build {
    tl_delassus *w;
    const tl_graph *graph;
    const int32_t *row_of; // row of each block
} delassus_build;

static void delassus_put_diagonal(tl_delassus *w, int32_t s, const double *block) {
    const int dd = w->dim * w->dim;
    double *to = w->diagonal + ((int64_t)(s / TL_LANES) * dd) * TL_LANES + s % TL_LANES;
    for (int k = 0; k < dd; k++) to[k * TL_LANES] = block[k];
}

static void delassus_transpose(int d, const double *from, double *to) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) to[j * d + i] = from[i * d + j];
}

// Local form: reorder the stored blocks; a neighbour without one keeps a zero block.
static void delassus_fill_local(const delassus_build *build, int32_t s) {
    tl_delassus *w = build->w;
    const talus_problem *p = w->problem;
    const int32_t i = w->order[s];
    const int32_t *adjacent = build->graph ? build->graph->adjacent + build->graph->start[i] : NULL;
    const int d = w->dim;
    int64_t put = w->start[s];
    for (int64_t e = p->w_start[i]; e < p->w_start[i + 1]; e++) {
        const double *from = p->w_block + e * d * d;
        if (p->w_col[e] == i) {
            delassus_put_diagonal(w, s, from);
            continue;
        }
        if (adjacent) {
            while (*adjacent != p->w_col[e]) w->col[put++] = build->row_of[*adjacent++];
            adjacent++;
        }
        w->col[put] = build->row_of[p->w_col[e]];
        delassus_transpose(d, from, w->block + put++ * d * d);
    }
    while (adjacent && put < w->start[s + 1]) w->col[put++] = build->row_of[*adjacent++];
}

// Global form: the diagonal, and each pair once, at the smaller of its blocks. No two threads write
// to one place, for a pair has one owner.
static void delassus_fill_global(const delassus_build *build, int32_t s) {
    tl_delassus *w = build->w;
    const tl_graph *g = build->graph;
    const int32_t i = w->order[s];
    const int d = w->dim;
    double block[TL_MAX_DIM * TL_MAX_DIM];
    rows_product(d, &w->h, s, &w->y, s, block);
    delassus_put_diagonal(w, s, block);
    if (!w->assembled) return;
    for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
        const int32_t j = g->adjacent[e], t = build->row_of[j];
        if (j < i) continue;
        const int64_t here = w->start[s] + e - g->start[i];
        const int64_t back = tl_lower_bound(g->adjacent, g->start[j], g->start[j + 1], i);
        const int64_t there = w->start[t] + back - g->start[j];
        double *other = w->block + there * d * d;
        rows_product(d, &w->h, s, &w->y, t, other); // W_ji by columns is W_ij by rows
        delassus_transpose(d, other, w->block + here * d * d);
        w->col[here] = t;
        w->col[there] = s;
    }
}

static void delassus_fill(void *arg, tl_team *team, int rank) {
    const delassus_build *build = arg;
    const tl_delassus *w = build->w;
    int64_t begin, end;
    tl_share(w->rows, tl_team_size(team), rank, &begin, &end);
    for (int32_t s = (int32_t)begin; s < end; s++) {
        if (w->order[s] < 0) continue;
        if (w->problem->is_global)
            delassus_fill_global(build, s);
        else
            delassus_fill_local(build, s);
    }
}

// Separable: Y has the pattern of H, one small solve per block.
static void delassus_respond(void *arg, tl_team *team, int rank) {
    const delassus_build *build = arg;
    const tl_delassus *w = build->w;
    const talus_problem *p = w->problem;
    const tl_rows *y = &w->y;
    int64_t begin, end;
    tl_share(w->rows, tl_team_size(team), rank, &begin, &end);
    for (int64_t s = begin; s < end; s++) {
        if (w->order[s] < 0) continue;
        const int64_t first = p->h_start[w->order[s]];
        for (int64_t e = y->start[s]; e < y->start[s + 1]; e++)
            tl_problem_solve_body(p, p->h_body[first + e - y->start[s]], w->dim,
                                  y->value + y->offset[e]);
    }
}

// The blocks of Y by bodies, rows ascending.
static talus_status delassus_incidence(tl_delassus *w) {
    const talus_problem *p = w->problem;
    TL_TRY(TL_ALLOC(w->ctx, p->dof, &w->z));
    if (!tl_problem_is_separable(p)) return TALUS_OK;
    const int64_t blocks = w->y.start[w->rows];
    TL_TRY(TL_ALLOC(w->ctx, (int64_t)p->body_count + 2, &w->body_start));
    TL_TRY(TL_ALLOC(w->ctx, blocks, &w->body_row));
    TL_TRY(TL_ALLOC(w->ctx, blocks, &w->body_block));
    for (int64_t e = 0; e < p->h_start[p->count]; e++) w->body_start[p->h_body[e] + 2]++;
    for (int32_t b = 0; b < p->body_count; b++) w->body_start[b + 2] += w->body_start[b + 1];
    for (int32_t s = 0; s < w->rows; s++) {
        if (w->order[s] < 0) continue;
        const int64_t first = p->h_start[w->order[s]];
        for (int64_t e = w->y.start[s]; e < w->y.start[s + 1]; e++) {
            const int64_t put = w->body_start[p->h_body[first + e - w->y.start[s]] + 1]++;
            w->body_row[put] = s;
            w->body_block[put] = e;
        }
    }
    return TALUS_OK;
}

static void delassus_copy_q(tl_delassus *w, const double *q) {
    const int d = w->dim;
    for (int32_t s = 0; s < w->rows; s++)
        if (w->order[s] >= 0)
            memcpy(w->q + (int64_t)d * s, q + (int64_t)d * w->order[s], (size_t)d * sizeof *q);
}

void tl_delassus_refresh(tl_delassus *w) { delassus_copy_q(w, w->problem->q); }

// q of the rows, with the tension folded in: u at l = 0 is u at r = −tension n.
static talus_status delassus_free_velocity(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int d = w->dim;
    double *r = NULL, *u = NULL;
    const double *q = p->q;
    talus_status status = TALUS_OK;
    if (p->tension) {
        TL_GOTO(TL_ALLOC(w->ctx, (int64_t)d * p->count, &r));
        TL_GOTO(TL_ALLOC(w->ctx, (int64_t)d * p->count, &u));
        for (int32_t i = 0; i < p->count; i++) r[(int64_t)d * i] = -p->tension[i];
        TL_GOTO(talus_problem_state(p, r, NULL, u, NULL));
        q = u;
    }
    delassus_copy_q(w, q);
done:
    tl_free(w->ctx, r);
    tl_free(w->ctx, u);
    return status;
}

void tl_delassus_clear(tl_delassus *w) {
    if (!w->ctx) return;
    tl_free(w->ctx, w->diagonal);
    tl_free(w->ctx, w->q);
    tl_free(w->ctx, w->start);
    tl_free(w->ctx, w->col);
    tl_free(w->ctx, w->block);
    rows_clear(w->ctx, &w->h);
    rows_clear(w->ctx, &w->y);
    tl_free(w->ctx, w->body_start);
    tl_free(w->ctx, w->body_row);
    tl_free(w->ctx, w->body_block);
    tl_free(w->ctx, w->z);
    memset(w, 0, sizeof *w);
}

talus_status tl_delassus_create(talus_context *ctx, const talus_problem *p, bool assembled,
                                const tl_graph *graph, int32_t rows, const int32_t *order,
                                int threads, tl_delassus *out) {
    const int64_t dd = p->dim * p->dim;
    int32_t *row_of = NULL;
    tl_delassus *w = out;
    *w = (tl_delassus){.ctx = ctx,
                       .problem = p,
                       .dim = p->dim,
                       .rows = rows,
                       .order = order,
                       .assembled = assembled || !p->is_global,
                       .dof = p->dof};
    talus_status status = TALUS_OK;
    TL_GOTO(TL_ALLOC(ctx, p->count, &row_of));
    for (int32_t s = 0; s < rows; s++)
        if (order[s] >= 0) row_of[order[s]] = s;
    TL_GOTO(TL_ALLOC(ctx, dd * rows, &w->diagonal));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)p->dim * rows, &w->q));
    TL_GOTO(delassus_free_velocity(w));
    if (p->is_global) {
        TL_GOTO(rows_h(w, &w->h));
        TL_GOTO(tl_problem_is_separable(p) ? rows_h(w, &w->y) : rows_y_full(w, &w->y));
    }
    if (w->assembled) {
        TL_GOTO(TL_ALLOC(ctx, (int64_t)rows + 1, &w->start));
        for (int32_t s = 0; s < rows; s++) {
            const int32_t i = order[s];
            const int64_t neighbours = i < 0   ? 0
                                       : graph ? graph->start[i + 1] - graph->start[i]
                                               : p->w_start[i + 1] - p->w_start[i] - 1;
            w->start[s + 1] = w->start[s] + neighbours;
        }
        TL_GOTO(TL_ALLOC(ctx, w->start[rows], &w->col));
        TL_GOTO(TL_ALLOC(ctx, w->start[rows] * dd + 1, &w->block));
    }
    TL_GOTO(tl_team_reserve(ctx, threads));
    delassus_build build = {.w = w, .graph = graph, .row_of = row_of};
    if (p->is_global && tl_problem_is_separable(p))
        tl_parallel(ctx, threads, delassus_respond, &build);
    tl_parallel(ctx, threads, delassus_fill, &build);
    if (w->assembled) { // H and Y were scaffolding
        rows_clear(ctx, &w->h);
        rows_clear(ctx, &w->y);
    } else {
        TL_GOTO(delassus_incidence(w));
    }
done:
    tl_free(ctx, row_of);
    if (status != TALUS_OK) tl_delassus_clear(w);
    return status;
}
