// SPDX-License-Identifier: Apache-2.0
// Building the Delassus operator. Three sources of W:
//     local form         the stored blocks, reordered;
//     separable global   W_ij = Σ_b H_ib M_b⁻¹ H_jbᵀ over the bodies b that i and j share: cost and
//                        memory linear in the contacts, rows built in parallel;
//     other global       M sparse or constrained: every contact feels every other, W is full and
//                        each of its columns costs one solve.
// With Y = N Hᵀ, transposed, the block of a pair is H_i Y_jᵀ, i being the smaller: whichever of
// the two rows computes it, the bits are the same, and W is symmetric to the last one.
#include "problem/delassus.h"
#include "base/thread.h"
#include "linalg/dense_inline.h"
#include "problem/mass.h"
#include "problem/strain.h"
#include <string.h>

enum { LONG_BODY = 16 }; // unknowns; longer sums are taken apart

typedef struct delassus_build {
    tl_delassus *w;
    const tl_graph *graph;
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
            while (*adjacent != p->w_col[e]) w->col[put++] = w->row_of[*adjacent++];
            adjacent++;
        }
        w->col[put] = w->row_of[p->w_col[e]];
        delassus_transpose(d, from, w->block + put++ * d * d);
    }
    while (adjacent && put < w->start[s + 1]) w->col[put++] = w->row_of[*adjacent++];
}

// ---- separable ----------------------------------------------------------------------------------

// Block e of H and its row of Y. Where M is diagonal, Y is H with its columns scaled.
typedef struct delassus_block {
    const double *h, *y, *scale; // one of y and scale is NULL
    int32_t body, size;
    int32_t begin, end; // columns of h outside of which it is zero; known of long bodies alone
} delassus_block;

TL_INLINE delassus_block delassus_at(const tl_delassus *w, int64_t e) {
    const talus_problem *p = w->problem;
    const int32_t body = p->h_body[e];
    const int64_t at = w->width > 0 ? e * w->dim * w->width : p->h_offset[e];
    const int32_t dof = w->width > 0 ? body * w->width : p->body_start[body];
    const int32_t size = w->width > 0 ? w->width : p->body_start[body + 1] - p->body_start[body];
    return (delassus_block){.h = w->h + at,
                            .y = w->y ? w->y + at : NULL,
                            .scale = w->y ? NULL : w->inverse + dof,
                            .body = body,
                            .size = size,
                            .begin = w->range ? w->range[2 * e] : 0,
                            .end = w->range ? w->range[2 * e + 1] : size};
}

// out (d × d, columns one after the other) += A Yᵀ, or, `swapped`, Y Aᵀ with the same bits, of two
// blocks of one body.
TL_INLINE void delassus_add(int d, const delassus_block *a, const delassus_block *y, bool swapped,
                            double *out) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double sum = 0.0;
            const double *h = a->h + (int64_t)i * a->size;
            if (a->size > LONG_BODY) {
                const double *x = (y->y ? y->y : y->h) + (int64_t)j * a->size + a->begin;
                sum = tl_long_dot(a->end - a->begin, h + a->begin, x,
                                  y->scale ? y->scale + a->begin : NULL);
            }
            for (int32_t m = 0; a->size <= LONG_BODY && m < a->size; m++)
                sum += h[m] * (y->y ? y->y[(int64_t)j * a->size + m]
                                    : y->h[(int64_t)j * a->size + m] * y->scale[m]);
            out[swapped ? i * d + j : j * d + i] += sum;
        }
}

// W_ij by columns, for any number of bodies and any sizes.
static void delassus_pair(const tl_delassus *w, int32_t i, int32_t j, double *out) {
    const int64_t *start = w->problem->h_start;
    const int d = w->dim;
    for (int k = 0; k < d * d; k++) out[k] = 0.0;
    for (int64_t e = start[i]; e < start[i + 1]; e++) {
        const delassus_block own = delassus_at(w, e);
        // A row has no body twice.
        for (int64_t f = i == j ? e : start[j]; f < (i == j ? e + 1 : start[j + 1]); f++) {
            const delassus_block other = delassus_at(w, f);
            if (own.body != other.body) continue;
            if (i <= j)
                delassus_add(d, &own, &other, false, out);
            else
                delassus_add(d, &other, &own, true, out);
        }
    }
}

static void delassus_row(const delassus_build *build, int32_t s) {
    tl_delassus *w = build->w;
    const tl_graph *g = build->graph;
    const int32_t i = w->order[s];
    const int d = w->dim;
    double own[TL_MAX_DIM * TL_MAX_DIM] = {0.0}, rows[TL_MAX_DIM * TL_MAX_DIM];
    delassus_pair(w, i, i, own);
    delassus_transpose(d, own, rows);
    delassus_put_diagonal(w, s, rows);
    if (!w->assembled) return;
    int64_t put = w->start[s];
    for (int64_t e = g->start[i]; e < g->start[i + 1]; e++, put++) {
        w->col[put] = w->row_of[g->adjacent[e]];
        delassus_pair(w, i, g->adjacent[e], w->block + put * d * d);
    }
}

// Rigid bodies in space: the columns of H_i and Y_i, four numbers each, stay in registers for the
// whole row.
typedef struct delassus_columns {
    tl_vec4 h[6], y[6];
} delassus_columns;

TL_INLINE void delassus_load(const delassus_block *b, delassus_columns *out) {
    for (int m = 0; m < 6; m++) {
        out->h[m] = (tl_vec4){b->h[m], b->h[6 + m], b->h[12 + m], 0.0};
        out->y[m] =
            b->y ? (tl_vec4){b->y[m], b->y[6 + m], b->y[12 + m], 0.0} : out->h[m] * b->scale[m];
    }
}

// out += A Bᵀ by columns: A by its columns, B (3 × 6) scaled where `scale` is not NULL.
TL_INLINE void delassus_add_rigid(const tl_vec4 *a, const double *b, const double *scale,
                                  tl_vec4 *out) {
    for (int j = 0; j < 3; j++) {
        tl_vec4 sum = {0.0};
        for (int m = 0; m < 6; m++) sum += a[m] * (scale ? b[6 * j + m] * scale[m] : b[6 * j + m]);
        out[j] += sum;
    }
}

TL_INLINE void delassus_store(const tl_vec4 *column, double *out) {
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) out[3 * j + k] = column[j][k];
}

TL_INLINE void delassus_row_rigid(const delassus_build *build, int32_t s) {
    tl_delassus *w = build->w;
    const tl_graph *g = build->graph;
    const int32_t i = w->order[s];
    const int64_t *start = w->problem->h_start;
    const int32_t *body = w->problem->h_body;
    const int64_t first = start[i];
    const int bodies = (int)(start[i + 1] - first);
    delassus_columns own[2];
    tl_vec4 sum[3] = {{0.0}};
    double block[9], rows[9];
    for (int k = 0; k < bodies; k++) {
        const delassus_block b = delassus_at(w, first + k);
        delassus_load(&b, &own[k]);
        delassus_add_rigid(own[k].h, b.y ? b.y : b.h, b.scale, sum);
    }
    delassus_store(sum, block);
    delassus_transpose(3, block, rows);
    delassus_put_diagonal(w, s, rows);
    if (!w->assembled) return;
    int64_t put = w->start[s];
    for (int64_t n = g->start[i]; n < g->start[i + 1]; n++, put++) {
        const int32_t j = g->adjacent[n];
        tl_vec4 pair[3] = {{0.0}};
        for (int k = 0; k < bodies; k++)
            for (int64_t f = start[j]; f < start[j + 1]; f++) {
                if (body[first + k] != body[f]) continue;
                const delassus_block b = delassus_at(w, f);
                if (j < i)
                    delassus_add_rigid(own[k].y, b.h, NULL, pair);
                else
                    delassus_add_rigid(own[k].h, b.y ? b.y : b.h, b.scale, pair);
            }
        w->col[put] = w->row_of[j];
        delassus_store(pair, w->block + put * 9);
    }
}

// Of balls, see tl_delassus.pair.
static void delassus_central_diagonal(tl_delassus *w, int32_t s) {
    const double *n = w->normal + 3 * (int64_t)s;
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const double *scale = w->inverse + 4 * (int64_t)w->pair[2 * (int64_t)s + side];
        for (int k = 0; k < 3; k++) sum += n[k] * (n[k] * scale[k]);
    }
    delassus_put_diagonal(w, s, &sum);
}

// The rows of blocks begin … end, in the order of the problem: neighbours lie near each other.
void tl_delassus_rows(const delassus_build *build, int64_t begin, int64_t end);
TL_SIMD_CLONES void tl_delassus_rows(const delassus_build *build, int64_t begin, int64_t end) {
    const tl_delassus *w = build->w;
    const int64_t *start = w->problem->h_start;
    for (int32_t i = (int32_t)begin; i < end; i++) {
        if (w->pair)
            delassus_central_diagonal(build->w, w->row_of[i]);
        else if (w->dim == 3 && w->width == 6 && start[i + 1] - start[i] <= 2)
            delassus_row_rigid(build, w->row_of[i]);
        else
            delassus_row(build, w->row_of[i]);
    }
}

// Y where M is not diagonal: one small solve per block.
static void delassus_respond(void *arg, tl_team *team, int rank) {
    const delassus_build *build = arg;
    const tl_delassus *w = build->w;
    const talus_problem *p = w->problem;
    int64_t begin, end;
    tl_share(p->h_start[p->count], tl_team_size(team), rank, &begin, &end);
    for (int64_t e = begin; e < end; e++) {
        double *y = w->y + p->h_offset[e];
        memcpy(y, p->h_block + p->h_offset[e],
               (size_t)(p->h_offset[e + 1] - p->h_offset[e]) * sizeof *y);
        tl_problem_solve_body(p, p->h_body[e], w->dim, y);
    }
}

// The columns outside of which a block of H is zero: a contact of a long rod moves a few of its
// unknowns.
static void delassus_find_range(const tl_delassus *w, int64_t e) {
    const talus_problem *p = w->problem;
    const int32_t size = p->body_start[p->h_body[e] + 1] - p->body_start[p->h_body[e]];
    const double *h = p->h_block + p->h_offset[e];
    int32_t begin = size, end = 0;
    for (int k = 0; k < w->dim; k++, h += size) {
        int32_t m = 0, last = size;
        while (m < begin && h[m] == 0.0) m++;
        while (last > end && h[last - 1] == 0.0) last--;
        begin = m;
        end = last;
    }
    w->range[2 * e] = begin < end ? begin : 0;
    w->range[2 * e + 1] = begin < end ? end : 0;
}

static bool delassus_is_long(const talus_problem *p) {
    for (int32_t b = 0; b < p->body_count; b++)
        if (p->body_start[b + 1] - p->body_start[b] > LONG_BODY) return true;
    return false;
}

static talus_status delassus_ranges(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int64_t blocks = p->h_start[p->count];
    if (!delassus_is_long(p)) return TALUS_OK;
    TL_TRY(TL_RESERVE(w->ctx, 2 * blocks, &w->range));
    for (int64_t e = 0; e < blocks; e++) delassus_find_range(w, e);
    return TALUS_OK;
}

static talus_status delassus_separable(tl_delassus *w, int threads) {
    const talus_problem *p = w->problem;
    const delassus_build build = {.w = w};
    TL_TRY(delassus_ranges(w));
    w->h = p->h_block;
    w->width = p->body_size;
    w->inverse = w->reciprocal;
    if (w->inverse && w->dim == 6 && !w->assembled) return tl_strain_find(w);
    tl_strain_drop(w);
    if (w->inverse) return TALUS_OK;
    TL_TRY(TL_RESERVE(w->ctx, p->h_offset[p->h_start[p->count]], &w->y));
    tl_parallel(w->ctx, threads, delassus_respond, (void *)&build);
    return TALUS_OK;
}

bool tl_delassus_reduces(const talus_problem *p) {
    return tl_problem_is_separable(p) && p->body_size > 0;
}

void tl_delassus_own(const talus_problem *p, int32_t i, double *block) {
    const int d = p->dim;
    for (int k = 0; k < d * d; k++) block[k] = 0.0;
    for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++) {
        const int32_t body = p->h_body[e], size = p->body_start[body + 1] - p->body_start[body];
        double room[TL_BALL_BLOCK];
        const double *h = tl_problem_h(p, i, e, room);
        double *y = p->work.column;
        memcpy(y, h, (size_t)d * (size_t)size * sizeof *y);
        tl_problem_solve_body(p, body, d, y);
        for (int x = 0; x < d; x++)
            for (int c = 0; c < d; c++)
                for (int32_t m = 0; m < size; m++)
                    block[x * d + c] += h[(int64_t)x * size + m] * y[(int64_t)c * size + m];
    }
}

// Entries of the normal rows up to the last one that is not zero anywhere: normal impulses do not
// turn spheres, so that their angular velocities can be left out. Two sizes of each kind, for which
// there are fast loops.
static int32_t delassus_normal_width(const talus_problem *p) {
    const int32_t size = p->body_size, less = size == 6 ? 3 : size == 3 ? 2 : size;
    if (!p->h_block) return less; // balls
    for (int64_t e = 0; e < p->h_start[p->count]; e++)
        for (int32_t m = less; m < size; m++)
            if (p->h_block[e * p->dim * size + m] != 0.0) return size;
    return less;
}

// True where the normal rows, 3 wide, are (n, −n) or (n).
static bool delassus_is_central(const talus_problem *p) {
    if (!p->h_block) return true; // balls
    for (int32_t i = 0; i < p->count; i++) {
        const int64_t first = p->h_start[i], bodies = p->h_start[i + 1] - first;
        const double *h = p->h_block + first * p->dim * p->body_size,
                     *back = h + p->dim * p->body_size;
        if (bodies > 2) return false;
        for (int k = 0; bodies == 2 && k < 3; k++)
            if (h[k] != -back[k]) return false;
    }
    return true;
}

static void delassus_drop_pairs(tl_delassus *w) {
    tl_free(w->ctx, w->pair);
    w->pair = NULL;
}

// See tl_delassus.pair. The rows are in the order of the problem.
static talus_status delassus_central(tl_delassus *w, const double *inverse) {
    const talus_problem *p = w->problem;
    const int32_t none = p->body_count;
    w->width = 3;
    TL_TRY(TL_RESERVE(w->ctx, 3 * (int64_t)w->rows + 1, &w->normal));
    TL_TRY(TL_RESERVE(w->ctx, 2 * (int64_t)w->rows, &w->pair));
    TL_TRY(TL_RESERVE(w->ctx, 4 * ((int64_t)none + 1), &w->light));
    memset(w->normal, 0, (3 * (size_t)w->rows + 1) * sizeof *w->normal);
    for (int32_t s = 0; s < w->rows; s++) {
        const int32_t i = w->order[s];
        w->pair[2 * (int64_t)s] = w->pair[2 * (int64_t)s + 1] = none;
        if (i < 0) continue;
        double room[TL_BALL_BLOCK];
        memcpy(w->normal + 3 * (int64_t)s, tl_problem_h(p, i, p->h_start[i], room),
               3 * sizeof *w->normal);
        for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++)
            w->pair[2 * (int64_t)s + (e - p->h_start[i])] = p->h_body[e];
    }
    memset(w->light, 0, 4 * ((size_t)none + 1) * sizeof *w->light);
    for (int32_t b = 0; b < none; b++)
        memcpy(w->light + 4 * (int64_t)b, inverse + (int64_t)b * p->body_size,
               3 * sizeof *w->light);
    w->inverse = w->light;
    return TALUS_OK;
}

// H and N of the normal rows alone.
static talus_status delassus_normal(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int64_t blocks = p->h_start[p->count];
    const int32_t size = p->body_size, width = delassus_normal_width(p);
    const double *inverse = w->reciprocal;
    if (inverse && size == 6 && width == 3 && delassus_is_central(p))
        return delassus_central(w, inverse);
    TL_TRY(tl_problem_write_h(p));
    delassus_drop_pairs(w);
    w->width = width;
    TL_TRY(TL_RESERVE(w->ctx, blocks * width, &w->normal));
    w->h = w->normal;
    for (int64_t e = 0; e < blocks; e++)
        memcpy(w->normal + e * width, p->h_block + e * p->dim * size,
               (size_t)width * sizeof *w->normal);
    if (!inverse) {
        TL_TRY(TL_RESERVE(w->ctx, blocks * width, &w->y));
        for (int64_t e = 0; e < blocks; e++) {
            double *x = p->work.column;
            memcpy(x, p->h_block + e * p->dim * size, (size_t)size * sizeof *x);
            tl_problem_solve_body(p, p->h_body[e], 1, x);
            memcpy(w->y + e * width, x, (size_t)width * sizeof *x);
        }
        return TALUS_OK;
    }
    w->inverse = inverse;
    if (width == size) return TALUS_OK;
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)width * p->body_count, &w->light));
    for (int32_t b = 0; b < p->body_count; b++)
        memcpy(w->light + (int64_t)b * width, inverse + (int64_t)b * size,
               (size_t)width * sizeof *inverse);
    w->inverse = w->light;
    return TALUS_OK;
}

// ---- coupled ------------------------------------------------------------------------------------

// M sparse or constrained: Y is d rows over all unknowns per block, each of them a solve.
static talus_status delassus_coupled(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int d = w->dim;
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)p->count * d * p->dof, &w->y));
    w->h = p->h_block;
    for (int32_t i = 0; i < p->count; i++) {
        double *y = w->y + (int64_t)i * d * p->dof;
        memset(y, 0, (size_t)d * (size_t)p->dof * sizeof *y);
        for (int k = 0; k < d; k++, y += p->dof) {
            for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++) {
                const int32_t body = p->h_body[e], dof = p->body_start[body];
                const int32_t size = p->body_start[body + 1] - dof;
                memcpy(y + dof, p->h_block + p->h_offset[e] + (int64_t)k * size,
                       (size_t)size * sizeof *y);
            }
            TL_TRY(tl_problem_response(p, y));
        }
    }
    return TALUS_OK;
}

// out (d × d, row major) = H_i Y_jᵀ
static void delassus_product(const tl_delassus *w, int32_t i, int32_t j, double *out) {
    const talus_problem *p = w->problem;
    const int d = w->dim;
    TL_ASSUME_DIM(d);
    for (int k = 0; k < d * d; k++) out[k] = 0.0;
    for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++) {
        const int32_t body = p->h_body[e], dof = p->body_start[body];
        const int32_t size = p->body_start[body + 1] - dof;
        const double *h = p->h_block + p->h_offset[e];
        const double *y = w->y + (int64_t)j * d * p->dof + dof;
        for (int x = 0; x < d; x++)
            for (int c = 0; c < d; c++) {
                double sum = 0.0;
                for (int32_t m = 0; m < size; m++)
                    sum += h[(int64_t)x * size + m] * y[(int64_t)c * p->dof + m];
                out[x * d + c] += sum;
            }
    }
}

// The diagonal, and each pair once, at the smaller of its blocks. No two threads write to one
// place, for a pair has one owner; W being full, the places follow from the numbers.
static void delassus_fill_coupled(const delassus_build *build, int32_t s) {
    tl_delassus *w = build->w;
    const int32_t i = w->order[s];
    const int d = w->dim;
    double block[TL_MAX_DIM * TL_MAX_DIM];
    delassus_product(w, i, i, block);
    delassus_put_diagonal(w, s, block);
    for (int32_t j = i + 1; w->assembled && j < w->problem->count; j++) {
        const int32_t t = w->row_of[j];
        const int64_t here = w->start[s] + j - 1, there = w->start[t] + i;
        double *other = w->block + there * d * d;
        delassus_product(w, i, j, other); // W_ji by columns is W_ij by rows
        delassus_transpose(d, other, w->block + here * d * d);
        w->col[here] = t;
        w->col[there] = s;
    }
}

// ---- the operator ------------------------------------------------------------------------------

static void delassus_fill(void *arg, tl_team *team, int rank) {
    const delassus_build *build = arg;
    const tl_delassus *w = build->w;
    int64_t begin, end;
    if (w->separable) {
        tl_share(w->problem->count, tl_team_size(team), rank, &begin, &end);
        tl_delassus_rows(build, begin, end);
        return;
    }
    tl_share(w->rows, tl_team_size(team), rank, &begin, &end);
    for (int32_t s = (int32_t)begin; s < end; s++) {
        if (w->order[s] < 0) continue;
        if (w->problem->is_global)
            delassus_fill_coupled(build, s);
        else
            delassus_fill_local(build, s);
    }
}

// The blocks of H by bodies, rows ascending.
static talus_status delassus_incidence(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int64_t blocks = p->h_start[p->count];
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)p->body_count + 2, &w->body_start));
    TL_TRY(TL_RESERVE(w->ctx, blocks, &w->body_row));
    if (!w->pair) TL_TRY(TL_RESERVE(w->ctx, blocks, &w->body_block));
    memset(w->body_start, 0, ((size_t)p->body_count + 2) * sizeof *w->body_start);
    for (int64_t e = 0; e < blocks; e++) w->body_start[p->h_body[e] + 2]++;
    for (int32_t b = 0; b < p->body_count; b++) w->body_start[b + 2] += w->body_start[b + 1];
    for (int32_t s = 0; s < w->rows; s++) {
        const int32_t i = w->order[s];
        for (int64_t e = i < 0 ? 0 : p->h_start[i]; i >= 0 && e < p->h_start[i + 1]; e++) {
            const int64_t put = w->body_start[p->h_body[e] + 1]++;
            w->body_row[put] = w->pair ? (int32_t)(2 * s + e - p->h_start[i]) : s;
            if (!w->pair) w->body_block[put] = e;
        }
    }
    return TALUS_OK;
}

static void delassus_copy_q(tl_delassus *w, const double *q) {
    const int d = w->dim, all = w->problem->dim;
    for (int32_t s = 0; s < w->rows; s++)
        for (int k = 0; k < d; k++)
            w->q[(int64_t)d * s + k] = w->order[s] >= 0 ? q[(int64_t)all * w->order[s] + k] : 0.0;
}

void tl_delassus_refresh(tl_delassus *w) { delassus_copy_q(w, w->problem->q); }

// q of the rows, with the tension folded in: u at l = 0 is u at r = −tension n.
static talus_status delassus_free_velocity(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const int d = p->dim;
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

static void delassus_drop_lists(tl_delassus *w) {
    tl_free(w->ctx, w->body_start);
    tl_free(w->ctx, w->body_row);
    tl_free(w->ctx, w->body_block);
    w->body_start = w->body_block = NULL;
    w->body_row = NULL;
}

// Give back what the form that is built now has no use for.
static void delassus_drop(tl_delassus *w, bool assembled, bool matrix_free) {
    if (assembled) {
        tl_free(w->ctx, w->start);
        tl_free(w->ctx, w->col);
        tl_free(w->ctx, w->block);
        w->start = NULL;
        w->col = NULL;
        w->block = NULL;
    }
    if (matrix_free) {
        tl_free(w->ctx, w->normal);
        tl_free(w->ctx, w->light);
        tl_free(w->ctx, w->y);
        tl_free(w->ctx, w->z);
        w->normal = w->light = w->y = w->z = NULL;
        tl_strain_drop(w);
        delassus_drop_pairs(w);
        delassus_drop_lists(w);
    }
}

void tl_delassus_clear(tl_delassus *w) {
    if (!w->ctx) return;
    tl_free(w->ctx, w->reciprocal);
    tl_free(w->ctx, w->diagonal);
    tl_free(w->ctx, w->q);
    tl_free(w->ctx, w->row_of);
    tl_free(w->ctx, w->range);
    delassus_drop(w, true, true);
    memset(w, 0, sizeof *w);
}

// Places of the neighbours' blocks.
static talus_status delassus_pattern(tl_delassus *w, const tl_graph *graph) {
    const talus_problem *p = w->problem;
    const int64_t dd = w->dim * w->dim;
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)w->rows + 1, &w->start));
    w->start[0] = 0;
    for (int32_t s = 0; s < w->rows; s++) {
        const int32_t i = w->order[s];
        const int64_t neighbours = i < 0   ? 0
                                   : graph ? graph->start[i + 1] - graph->start[i]
                                           : p->w_start[i + 1] - p->w_start[i] - 1;
        w->start[s + 1] = w->start[s] + neighbours;
    }
    const int64_t blocks = w->start[w->rows];
    TL_TRY(TL_RESERVE(w->ctx, blocks, &w->col));
    TL_TRY(TL_RESERVE(w->ctx, blocks * dd + 1, &w->block));
    // A neighbour whose block a local problem does not store has a zero block; and what is read
    // beyond the last one must be a number.
    if (!p->is_global) memset(w->block, 0, (size_t)(blocks * dd) * sizeof *w->block);
    w->block[blocks * dd] = 0.0;
    return TALUS_OK;
}

static talus_status delassus_build_all(tl_delassus *w, const tl_delassus_form *form,
                                       const tl_graph *graph) {
    const talus_problem *p = w->problem;
    const int64_t dd = w->dim * w->dim;
    const delassus_build build = {.w = w, .graph = graph};
    TL_TRY(tl_team_reserve(w->ctx, form->threads));
    TL_TRY(TL_RESERVE(w->ctx, p->count, &w->row_of));
    TL_TRY(TL_RESERVE(w->ctx, dd * w->rows, &w->diagonal));
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)w->dim * w->rows, &w->q));
    for (int32_t s = 0; s < w->rows; s++) {
        static const double none[TL_MAX_DIM * TL_MAX_DIM] = {0.0};
        if (w->order[s] >= 0)
            w->row_of[w->order[s]] = s;
        else
            delassus_put_diagonal(w, s, none);
    }
    TL_TRY(delassus_free_velocity(w));
    if (!form->normal) TL_TRY(tl_problem_write_h(p));
    if (form->normal)
        TL_TRY(delassus_normal(w));
    else if (w->separable)
        TL_TRY(delassus_separable(w, form->threads));
    else if (p->is_global)
        TL_TRY(delassus_coupled(w));
    w->dof = w->pair ? 4 * (p->body_count + 1) : w->width > 0 ? w->width * p->body_count : p->dof;
    if (w->assembled) TL_TRY(delassus_pattern(w, graph));
    tl_parallel(w->ctx, form->threads, delassus_fill, (void *)&build);
    if (w->assembled) {
        delassus_drop(w, false, true); // Y was scaffolding
        return TALUS_OK;
    }
    TL_TRY(TL_RESERVE(w->ctx, w->dof, &w->z));
    if (w->separable && form->threads > 1) return delassus_incidence(w);
    delassus_drop_lists(w);
    return TALUS_OK;
}

static talus_status delassus_invert(tl_delassus *w) {
    const talus_problem *p = w->problem;
    const double *diagonal = p->is_global ? tl_mass_diagonal(p->mass) : NULL;
    if (!diagonal) {
        tl_free(w->ctx, w->reciprocal);
        w->reciprocal = NULL;
        return TALUS_OK;
    }
    TL_TRY(TL_RESERVE(w->ctx, p->dof, &w->reciprocal));
    for (int32_t k = 0; k < p->dof; k++) w->reciprocal[k] = 1.0 / diagonal[k];
    return TALUS_OK;
}

talus_status tl_delassus_update(talus_context *ctx, const talus_problem *p, tl_delassus_form form,
                                const tl_graph *graph, int32_t rows, const int32_t *order,
                                tl_delassus *inout) {
    tl_delassus *w = inout;
    w->ctx = ctx;
    w->problem = p;
    w->dim = form.normal ? 1 : p->dim;
    w->rows = rows;
    w->order = order;
    w->assembled = form.assembled || !p->is_global;
    w->separable = tl_problem_is_separable(p);
    w->width = w->dof = 0;
    w->h = w->inverse = NULL;
    if (form.normal || !w->separable || !delassus_is_long(p)) {
        tl_free(ctx, w->range);
        w->range = NULL;
    }
    delassus_drop(w, !w->assembled, w->assembled);
    if (!form.normal) delassus_drop_pairs(w);
    if (form.normal || !w->separable) tl_strain_drop(w);
    if (w->y && p->is_global && tl_mass_diagonal(p->mass)) {
        tl_free(ctx, w->y); // a kind of M that has none
        w->y = NULL;
    }
    talus_status status = delassus_invert(w);
    if (status == TALUS_OK) status = delassus_build_all(w, &form, graph);
    if (status != TALUS_OK) tl_delassus_clear(w);
    return status;
}

talus_status tl_delassus_create(talus_context *ctx, const talus_problem *p, bool assembled,
                                const tl_graph *graph, int32_t rows, const int32_t *order,
                                int threads, tl_delassus *out) {
    const tl_delassus_form form = {.assembled = assembled, .threads = threads};
    *out = (tl_delassus){0};
    return tl_delassus_update(ctx, p, form, graph, rows, order, out);
}
