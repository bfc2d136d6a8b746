// SPDX-License-Identifier: Apache-2.0
#include "solve/interior_system.h"
#include "linalg/dense_inline.h"
#include "problem/mass.h"
#include <string.h>

#define SYSTEM_LEAST 0x1p-27 // see system_invert
enum { SYSTEM_CORRECTIONS = 2 };

// ---- impulses ----------------------------------------------------------------------------------

// Columns of block j that are coupled to others.
static int system_width(const tl_interior_system *s, int32_t j) {
    return s->fixed[j] ? 1 : s->problem->dim;
}

// out (d × d, row major) += ½ W_ij, or ½ W_ijᵀ.
static void system_add_half(const tl_delassus *w, int32_t i, int32_t j, bool transposed,
                            double *out) {
    const int d = w->dim;
    const int64_t e = tl_lower_bound(w->col, w->start[i], w->start[i + 1], j);
    if (e == w->start[i + 1] || w->col[e] != j) return;
    const double *from = w->block + e * d * d; // column major
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++)
            out[a * d + b] += 0.5 * (transposed ? from[a * d + b] : from[b * d + a]);
}

static talus_status system_blocks(tl_interior_system *s, const tl_delassus *w,
                                  const tl_graph *graph) {
    const int32_t count = s->problem->count;
    const int d = w->dim;
    TL_TRY(TL_ALLOC(s->ctx, (int64_t)count + 1, &s->start));
    for (int32_t j = 0; j < count; j++) {
        const int64_t end = graph->start[j + 1];
        s->start[j + 1] =
            s->start[j] + end - tl_lower_bound(graph->adjacent, graph->start[j], end, j);
    }
    TL_TRY(TL_ALLOC(s->ctx, s->start[count], &s->row));
    TL_TRY(TL_ALLOC(s->ctx, s->start[count] * d * d, &s->block));
    TL_TRY(TL_ALLOC(s->ctx, (int64_t)count * d * d, &s->diagonal));
    for (int32_t j = 0; j < count; j++) {
        double *own = s->diagonal + (int64_t)j * d * d, block[TL_MAX_DIM * TL_MAX_DIM];
        tl_delassus_diagonal(w, j, block);
        for (int a = 0; a < d; a++)
            for (int b = 0; b < d; b++)
                own[a * d + b] = 0.5 * (block[a * d + b] + block[b * d + a]);
        const int64_t below = graph->start[j + 1] - (s->start[j + 1] - s->start[j]);
        for (int64_t e = s->start[j]; e < s->start[j + 1]; e++) {
            s->row[e] = graph->adjacent[below + e - s->start[j]];
            system_add_half(w, s->row[e], j, false, s->block + e * d * d);
            system_add_half(w, j, s->row[e], true, s->block + e * d * d);
        }
    }
    return TALUS_OK;
}

// The pattern: of column (j, b) first the rows (j, b …), then those of the blocks below.
static talus_status system_pattern(tl_interior_system *s) {
    const int32_t count = s->problem->count;
    const int d = s->problem->dim;
    tl_csr *m = &s->matrix;
    m->rows = m->cols = d * count;
    TL_TRY(TL_ALLOC(s->ctx, (int64_t)m->rows + 1, &m->start));
    for (int pass = 0; pass < 2; pass++) {
        int64_t used = 0;
        for (int32_t col = 0; col < m->rows; col++) {
            const int32_t j = col / d;
            for (int a = col % d; a < d; a++, used++)
                if (pass) m->index[used] = j * d + a;
            for (int64_t e = s->start[j]; e < s->start[j + 1] && col % d < system_width(s, j); e++)
                for (int a = 0; a < system_width(s, s->row[e]); a++, used++)
                    if (pass) m->index[used] = s->row[e] * d + a;
            m->start[col + 1] = used;
        }
        if (pass == 0) {
            TL_TRY(TL_ALLOC(s->ctx, used, &m->index));
            TL_TRY(TL_ALLOC(s->ctx, used, &m->value));
        }
    }
    return TALUS_OK;
}

// out = Fᵀ W G
TL_INLINE void system_turn(int d, const double *f, const double *w, const double *g, double *out) {
    double half[TL_MAX_DIM * TL_MAX_DIM];
    tl_mm(d, w, g, half);
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) sum += f[k * d + a] * half[k * d + b];
            out[a * d + b] = sum;
        }
}

TL_INLINE void system_fill(int d, tl_interior_system *s, const double *frame, const double *e,
                           const double *ridge, double added) {
    double *value = s->matrix.value, turned[TL_MAX_DIM * TL_MAX_DIM];
    for (int32_t j = 0; j < s->problem->count; j++) {
        const int64_t at = (int64_t)j * d * d;
        double own[TL_MAX_DIM * TL_MAX_DIM], *column[TL_MAX_DIM];
        for (int k = 0; k < d * d; k++)
            own[k] = s->diagonal[at + k] + (ridge && k % (d + 1) == 0 ? ridge[j] : 0.0);
        system_turn(d, frame + at, own, frame + at, turned);
        for (int b = 0; b < d; b++) {
            column[b] = value + s->matrix.start[j * d + b];
            turned[b * d + b] *= 1.0 + added;
            for (int a = b; a < d; a++) *column[b]++ = turned[a * d + b] + e[at + a * d + b];
        }
        const int width = system_width(s, j);
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) {
            const int32_t i = s->row[k];
            system_turn(d, frame + (int64_t)i * d * d, s->block + k * d * d, frame + at, turned);
            const int height = system_width(s, i);
            for (int b = 0; b < width; b++)
                for (int a = 0; a < height; a++) *column[b]++ = turned[a * d + b];
        }
    }
}

// x ← F x or Fᵀ x for one block
static void system_frame(int d, const double *f, bool transposed, double *x) {
    double y[TL_MAX_DIM] = {0.0};
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) y[a] += (transposed ? f[b * d + a] : f[a * d + b]) * x[b];
    for (int a = 0; a < d; a++) x[a] = y[a];
}

// The same for all
static void system_frames(const tl_interior_system *s, bool transposed, double *x) {
    const int d = s->problem->dim;
    for (int32_t i = 0; i < s->problem->count; i++)
        system_frame(d, s->frame + (int64_t)i * d * d, transposed, x + (int64_t)i * d);
}

// ---- velocities --------------------------------------------------------------------------------

// Lists of entries by columns, made in two passes: counted, then filled in.
typedef struct system_lists {
    bool filling;
    int64_t *start; // counted: entries of column j at [j + 2]; filling: next place at [j + 1]
    int32_t *row;
    double *value;
} system_lists;

static void system_put(system_lists *l, int32_t row, int32_t col, double value) {
    if (!l->filling) {
        l->start[col + 2]++;
        return;
    }
    const int64_t at = l->start[col + 1]++;
    l->row[at] = row;
    l->value[at] = value;
}

// M, and a zero wherever H_iᵀ D_i H_i can have an entry.
static void system_list(system_lists *l, const talus_problem *p, int64_t entries,
                        const int32_t *row, const int32_t *col, const double *value) {
    for (int64_t k = 0; k < entries; k++)
        if (row[k] >= col[k]) system_put(l, row[k], col[k], value[k]);
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++)
            for (int64_t f = p->h_start[i]; f <= e; f++) {
                const int32_t *one = p->body_start + p->h_body[e];
                const int32_t *two = p->body_start + p->h_body[f];
                for (int32_t c = two[0]; c < two[1]; c++)
                    for (int32_t r = e == f ? c : one[0]; r < one[1]; r++) system_put(l, r, c, 0.0);
            }
}

static talus_status system_mass(tl_interior_system *s) {
    const talus_problem *p = s->problem;
    const tl_csr_names names = {"the matrix of the velocities", "column", "row"};
    const int64_t entries = tl_mass_entry_count(p->mass);
    system_lists l = {0};
    int32_t *row = NULL, *col = NULL;
    double *value = NULL;
    talus_status status = TALUS_OK;
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)p->dof + 2, &l.start));
    TL_GOTO(TL_ALLOC(s->ctx, entries, &row));
    TL_GOTO(TL_ALLOC(s->ctx, entries, &col));
    TL_GOTO(TL_ALLOC(s->ctx, entries, &value));
    tl_mass_entries(p->mass, row, col, value);
    system_list(&l, p, entries, row, col, value);
    for (int32_t j = 0; j < p->dof; j++) l.start[j + 2] += l.start[j + 1];
    TL_GOTO(TL_ALLOC(s->ctx, l.start[p->dof + 1], &l.row));
    TL_GOTO(TL_ALLOC(s->ctx, l.start[p->dof + 1], &l.value));
    l.filling = true;
    system_list(&l, p, entries, row, col, value);
    TL_GOTO(tl_csr_create(s->ctx, &names, p->dof, p->dof, l.start, l.row, l.value, &s->matrix));
    TL_GOTO(TL_COPY(s->ctx, s->matrix.value, s->matrix.start[p->dof], &s->mass));
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)p->count * p->dim * p->dim, &s->inverse));
    TL_GOTO(TL_ALLOC(s->ctx, p->dof, &s->v));
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)p->dim * s->w->rows, &s->side));
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)p->dim * s->w->rows, &s->work));
    TL_GOTO(TL_ALLOC(s->ctx, (int64_t)p->dim * s->w->rows, &s->force));
done:
    tl_free(s->ctx, l.start);
    tl_free(s->ctx, l.row);
    tl_free(s->ctx, l.value);
    tl_free(s->ctx, row);
    tl_free(s->ctx, col);
    tl_free(s->ctx, value);
    return status;
}

// E⁻¹, where E counts as not less than a small part of what W has in its place. Else it grows
// beyond all bounds at contacts that stick, and what the others add to Hᵀ D H is lost. Corrections
// make up for it where W is not zero; where it is, r is not unique.
static bool system_invert(tl_interior_system *s, const double *frame, const double *e) {
    const int d = s->problem->dim;
    TL_ASSUME_DIM(d);
    for (int32_t i = 0; i < s->problem->count; i++) {
        const int64_t at = (int64_t)i * d * d;
        double w[TL_MAX_DIM * TL_MAX_DIM] = {0.0}, copy[TL_MAX_DIM * TL_MAX_DIM];
        tl_delassus_diagonal(s->w, i, w);
        system_turn(d, frame + at, w, frame + at, copy);
        for (int k = 0; k < d * d; k++) {
            const bool on = k % (d + 1) == 0;
            copy[k] = e[at + k] + (on ? SYSTEM_LEAST * copy[k] : 0.0);
            s->inverse[at + k] = on ? 1.0 : 0.0;
        }
        if (!tl_small_solve(d, d, copy, s->inverse + at)) return false;
    }
    return true;
}

// matrix += Hᵀ D H, by pairs of the bodies of a contact; rows of one body are neighbours.
static void system_add_contacts(tl_interior_system *s) {
    const talus_problem *p = s->problem;
    const tl_csr *m = &s->matrix;
    const int d = p->dim;
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t f = p->h_start[i]; f < p->h_start[i + 1]; f++) {
            const int32_t first = p->body_start[p->h_body[f]];
            const int32_t size = p->body_start[p->h_body[f] + 1] - first;
            const double *hf = p->h_block + p->h_offset[f];
            for (int32_t c = 0; c < size; c++) {
                double dh[TL_MAX_DIM] = {0.0}, h[TL_MAX_DIM]; // column c of D H_f
                for (int k = 0; k < d; k++) dh[k] = hf[k * size + c];
                system_frame(d, s->frame + (int64_t)i * d * d, true, dh);
                tl_mv(d, s->inverse + (int64_t)i * d * d, dh, h);
                for (int k = 0; k < d; k++) dh[k] = h[k];
                system_frame(d, s->frame + (int64_t)i * d * d, false, dh);
                for (int64_t e = f; e < p->h_start[i + 1]; e++) {
                    const int32_t begin = p->body_start[p->h_body[e]];
                    const int32_t height = p->body_start[p->h_body[e] + 1] - begin;
                    const int32_t skip = e == f ? c : 0; // above the diagonal
                    const double *he = p->h_block + p->h_offset[e];
                    double *to = m->value + tl_lower_bound(m->index, m->start[first + c],
                                                           m->start[first + c + 1], begin + skip);
                    for (int32_t r = skip; r < height; r++) {
                        double sum = 0.0;
                        for (int k = 0; k < d; k++) sum += he[k * height + r] * dh[k];
                        to[r - skip] += sum;
                    }
                }
            }
        }
}

// y ← X x by blocks
static void system_blockwise(const tl_interior_system *s, const double *block, const double *x,
                             double *y) {
    const int d = s->problem->dim;
    for (int32_t i = 0; i < s->problem->count; i++)
        tl_mv(d, block + (int64_t)i * d * d, x + (int64_t)i * d, y + (int64_t)i * d);
}

// c (side in, c out) = E⁻¹ (side − Fᵀ H v) with (M + Hᵀ D H) v = Hᵀ F E⁻¹ side
static bool system_by_velocities(tl_interior_system *s, double *side) {
    const int64_t size = (int64_t)s->problem->dim * s->problem->count;
    system_blockwise(s, s->inverse, side, s->work);
    system_frames(s, false, s->work);
    memset(s->v, 0, (size_t)s->problem->dof * sizeof *s->v);
    tl_problem_add_force(s->problem, s->work, s->v);
    if (tl_spd_solve(s->factor, 1, s->v) != TALUS_OK) return false;
    memset(s->work, 0, (size_t)size * sizeof *s->work);
    tl_problem_add_velocity(s->problem, s->v, s->work);
    system_frames(s, true, s->work);
    for (int64_t k = 0; k < size; k++) s->work[k] = side[k] - s->work[k];
    system_blockwise(s, s->inverse, s->work, side);
    return true;
}

// The same with corrections: what is left of (Fᵀ W F + E) c = side is solved for again.
static bool system_correct(tl_interior_system *s, double *x) {
    const int64_t size = (int64_t)s->problem->dim * s->problem->count;
    memcpy(s->side, x, (size_t)size * sizeof *x);
    if (!system_by_velocities(s, x)) return false;
    for (int round = 0; round < SYSTEM_CORRECTIONS; round++) {
        memcpy(s->work, x, (size_t)size * sizeof *x);
        system_frames(s, false, s->work);
        tl_delassus_apply(s->w, s->threads, false, s->work, s->force);
        system_frames(s, true, s->force);
        system_blockwise(s, s->e, x, s->work);
        for (int64_t k = 0; k < size; k++) s->force[k] = s->side[k] - s->force[k] - s->work[k];
        if (!system_by_velocities(s, s->force)) return false;
        for (int64_t k = 0; k < size; k++) x[k] += s->force[k];
    }
    return true;
}

// ---- both --------------------------------------------------------------------------------------

void tl_interior_system_clear(tl_interior_system *s) {
    if (!s->ctx) return;
    tl_csr_clear(s->ctx, &s->matrix);
    tl_spd_destroy(s->factor);
    tl_free(s->ctx, s->start);
    tl_free(s->ctx, s->row);
    tl_free(s->ctx, s->block);
    tl_free(s->ctx, s->diagonal);
    tl_free(s->ctx, s->mass);
    tl_free(s->ctx, s->inverse);
    tl_free(s->ctx, s->v);
    tl_free(s->ctx, s->side);
    tl_free(s->ctx, s->work);
    tl_free(s->ctx, s->force);
    *s = (tl_interior_system){0};
}

talus_status tl_interior_system_create(talus_context *ctx, const tl_delassus *w, bool velocities,
                                       const bool *fixed, int threads, tl_interior_system *out) {
    *out = (tl_interior_system){.problem = w->problem,
                                .ctx = ctx,
                                .velocities = velocities,
                                .fixed = fixed,
                                .w = velocities ? w : NULL,
                                .threads = threads};
    if (velocities) {
        TL_TRY(system_mass(out));
    } else {
        tl_graph graph;
        TL_TRY(tl_graph_create(ctx, w->problem, &graph));
        const talus_status status = system_blocks(out, w, &graph);
        tl_graph_clear(ctx, &graph);
        TL_TRY(status);
        TL_TRY(system_pattern(out));
    }
    // The analysis needs values that can be factored.
    const tl_csr *m = &out->matrix;
    int32_t bad;
    for (int64_t k = 0; k < m->start[m->rows]; k++) m->value[k] = 0.0;
    for (int32_t j = 0; j < m->rows; j++) m->value[m->start[j]] = 1.0;
    return tl_spd_create(ctx, m, 0.0, &bad, &out->factor);
}

bool tl_interior_system_factor(tl_interior_system *s, const double *frame, const double *e,
                               const double *ridge, double added) {
    const tl_csr *m = &s->matrix;
    const int d = s->problem->dim;
    s->frame = frame;
    s->e = e;
    if (s->velocities) {
        if (!system_invert(s, frame, e)) return false;
        memcpy(m->value, s->mass, (size_t)m->start[m->rows] * sizeof *m->value);
        for (int32_t j = 0; j < m->rows; j++) m->value[m->start[j]] *= 1.0 + added;
        system_add_contacts(s);
    } else if (d == 2) {
        system_fill(2, s, frame, e, ridge, added);
    } else if (d == 3) {
        system_fill(3, s, frame, e, ridge, added);
    } else {
        system_fill(6, s, frame, e, ridge, added);
    }
    return tl_spd_refactor(s->factor, m) == TALUS_OK;
}

bool tl_interior_system_solve(tl_interior_system *s, double *x) {
    system_frames(s, true, x);
    if (!(s->velocities ? system_correct(s, x) : tl_spd_solve(s->factor, 1, x) == TALUS_OK))
        return false;
    system_frames(s, false, x);
    return true;
}
