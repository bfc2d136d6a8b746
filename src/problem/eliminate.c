// SPDX-License-Identifier: Apache-2.0
// Exact elimination of the constraint rows.
// Global form: with S = C M⁻¹ Cᵀ,
//     S λ = k − C M⁻¹(f + Hᵀ r),     N = M⁻¹ − M⁻¹ Cᵀ S⁻¹ C M⁻¹,     v = N (f + Hᵀ r) + v_k.
// S is sparse when M is block diagonal (two rows of C meet only in a common body), dense otherwise.
// Local form: u = W r + B l + q and P l + Bᵀ r + c = 0 give l = −P⁻¹(c + Bᵀ r) and
//     u = (W − B P⁻¹ Bᵀ) r + (q − B P⁻¹ c).
// P need not be definite, so it is factored dense with row exchanges: these files are small.
#include "problem/eliminate.h"
#include "linalg/dense.h"
#include "linalg/spd.h"
#include "problem/mass.h"
#include <math.h>
#include <string.h>

struct tl_elimination {
    tl_spd *spd;                // global: factor of S
    double *force, *multiplier; // global: scratch, BATCH vectors of dof and of constraint_count
    double *lu;                 // local: factor of P, column major
    int32_t *pivot;
};

enum { BATCH = 8 };         // right-hand sides that share one pass over the factors
#define DEPENDENT_ROW 1e-12 // of S_jj: what rounding leaves of a pivot that is zero
#define SINGULAR_P 1e-15    // reciprocal condition below which P⁻¹ has no correct digit

void tl_elimination_destroy(talus_context *ctx, tl_elimination *e) {
    if (!e) return;
    tl_spd_destroy(e->spd);
    tl_free(ctx, e->force);
    tl_free(ctx, e->multiplier);
    tl_free(ctx, e->lu);
    tl_free(ctx, e->pivot);
    tl_free(ctx, e);
}

// Compressed rows of S under construction, one row at a time.
typedef struct rows_builder {
    talus_context *ctx;
    tl_csr s;
    int64_t used, room;
} rows_builder;

static talus_status builder_push(rows_builder *b, int32_t col, double value) {
    if (b->used == b->room) {
        const int64_t room = b->room + b->room / 2 + 256;
        TL_TRY(tl_realloc(b->ctx, b->used, room, sizeof *b->s.index, &b->s.index));
        TL_TRY(tl_realloc(b->ctx, b->used, room, sizeof *b->s.value, &b->s.value));
        b->room = room;
    }
    b->s.index[b->used] = col;
    b->s.value[b->used++] = value;
    return TALUS_OK;
}

// z ← M⁻¹ c_jᵀ; for block diagonal M only the bodies that row j touches are looked at.
static talus_status eliminate_column(const talus_problem *p, int32_t j, const int32_t *body_of,
                                     double *z) {
    const tl_csr *c = &p->c;
    for (int64_t k = c->start[j]; k < c->start[j + 1]; k++) z[c->index[k]] = c->value[k];
    if (!tl_mass_is_block_diagonal(p->mass)) return tl_mass_solve(p->mass, 1, z);
    int32_t last = -1; // columns ascend, so equal bodies follow each other
    for (int64_t k = c->start[j]; k < c->start[j + 1]; k++) {
        const int32_t b = body_of[c->index[k]];
        if (b != last) tl_mass_solve_body(p->mass, b, 1, z + p->body_start[b], 0);
        last = b;
    }
    return TALUS_OK;
}

// S_ji = c_i z
static talus_status eliminate_entry(const talus_problem *p, int32_t i, const double *z,
                                    rows_builder *out) {
    const tl_csr *c = &p->c;
    double sum = 0.0;
    for (int64_t k = c->start[i]; k < c->start[i + 1]; k++) sum += c->value[k] * z[c->index[k]];
    return builder_push(out, i, sum);
}

// Row j of S from z = M⁻¹ c_jᵀ, columns 0 … j in any order. With block diagonal M only the rows
// that meet the bodies of row j count; they are found through Cᵀ, each marked once.
static talus_status eliminate_row(const talus_problem *p, const tl_csr *ct, int32_t j,
                                  const int32_t *body_of, const double *z, int32_t *mark,
                                  rows_builder *out) {
    const tl_csr *c = &p->c;
    mark[j] = j;
    TL_TRY(eliminate_entry(p, j, z, out));
    if (!tl_mass_is_block_diagonal(p->mass)) {
        for (int32_t i = 0; i < j; i++) TL_TRY(eliminate_entry(p, i, z, out));
    } else {
        for (int64_t k = c->start[j]; k < c->start[j + 1]; k++) {
            const int32_t b = body_of[c->index[k]];
            const int64_t end = ct->start[p->body_start[b + 1]];
            for (int64_t l = ct->start[p->body_start[b]]; l < end; l++) {
                const int32_t i = ct->index[l];
                if (i > j || mark[i] == j) continue;
                mark[i] = j;
                TL_TRY(eliminate_entry(p, i, z, out));
            }
        }
    }
    out->s.start[j + 1] = out->used;
    return TALUS_OK;
}

static void eliminate_reset(const talus_problem *p, int32_t j, const int32_t *body_of, double *z) {
    if (!tl_mass_is_block_diagonal(p->mass)) {
        memset(z, 0, (size_t)p->dof * sizeof *z);
        return;
    }
    for (int64_t k = p->c.start[j]; k < p->c.start[j + 1]; k++) {
        const int32_t b = body_of[p->c.index[k]];
        for (int32_t x = p->body_start[b]; x < p->body_start[b + 1]; x++) z[x] = 0.0;
    }
}

// The lower triangle of S by rows, that is the upper one by columns; turned round for the factor.
static talus_status eliminate_schur(const talus_problem *p, tl_csr *out) {
    talus_status status = TALUS_OK;
    rows_builder rows = {.ctx = p->ctx,
                         .s = {.rows = p->constraint_count, .cols = p->constraint_count}};
    tl_csr ct = {0};
    int32_t *body_of = NULL, *mark = NULL;
    double *z = NULL;
    TL_GOTO(TL_ALLOC(p->ctx, (int64_t)p->constraint_count + 1, &rows.s.start));
    TL_GOTO(TL_ALLOC(p->ctx, p->dof, &body_of));
    TL_GOTO(TL_ALLOC(p->ctx, p->constraint_count, &mark));
    TL_GOTO(TL_ALLOC(p->ctx, p->dof, &z));
    TL_GOTO(tl_csr_transpose(p->ctx, &p->c, &ct));
    for (int32_t b = 0; b < p->body_count; b++)
        for (int32_t x = p->body_start[b]; x < p->body_start[b + 1]; x++) body_of[x] = b;
    for (int32_t j = 0; j < p->constraint_count; j++) mark[j] = -1;
    for (int32_t j = 0; j < p->constraint_count; j++) {
        TL_GOTO(eliminate_column(p, j, body_of, z));
        TL_GOTO(eliminate_row(p, &ct, j, body_of, z, mark, &rows));
        eliminate_reset(p, j, body_of, z);
    }
    TL_GOTO(tl_csr_transpose(p->ctx, &rows.s, out));
done:
    tl_csr_clear(p->ctx, &rows.s);
    tl_csr_clear(p->ctx, &ct);
    tl_free(p->ctx, body_of);
    tl_free(p->ctx, mark);
    tl_free(p->ctx, z);
    return status;
}

talus_status tl_eliminate_global(talus_problem *p) {
    talus_status status = TALUS_OK;
    tl_csr s = {0};
    int32_t bad;
    TL_TRY(TL_ALLOC(p->ctx, 1, &p->elimination)); // the problem's clean-up frees what is in it
    tl_elimination *e = p->elimination;
    TL_TRY(TL_ALLOC(p->ctx, (int64_t)BATCH * p->dof, &e->force));
    TL_TRY(TL_ALLOC(p->ctx, (int64_t)BATCH * p->constraint_count, &e->multiplier));
    TL_GOTO(eliminate_schur(p, &s));
    status = tl_spd_create(p->ctx, &s, DEPENDENT_ROW, &bad, &e->spd);
    if (status == TALUS_ERR_SINGULAR)
        status = tl_fail(p->ctx, status,
                         tl_csr_at(&s, bad, bad) > 0.0
                             ? "row %d of C depends on the other rows; the rows of C must be "
                               "independent"
                             : "row %d of C is zero; the rows of C must be independent",
                         bad);
done:
    tl_csr_clear(p->ctx, &s);
    return status;
}

talus_status tl_eliminate_response(const talus_problem *p, int32_t columns, double *x) {
    tl_elimination *e = p->elimination;
    const int64_t dof = p->dof, m = p->constraint_count;
    for (int32_t first = 0; first < columns; first += BATCH) {
        const int32_t batch = columns - first < BATCH ? columns - first : BATCH;
        double *xs = x + first * dof;
        memcpy(e->force, xs, (size_t)(batch * dof) * sizeof *x);
        memset(e->multiplier, 0, (size_t)(batch * m) * sizeof *x);
        TL_TRY(tl_mass_solve(p->mass, batch, xs));
        for (int32_t c = 0; c < batch; c++)
            tl_csr_add(&p->c, 1.0, xs + c * dof, e->multiplier + c * m);
        TL_TRY(tl_spd_solve(e->spd, batch, e->multiplier));
        for (int32_t c = 0; c < batch; c++)
            tl_csr_add_transposed(&p->c, -1.0, e->multiplier + c * m, e->force + c * dof);
        memcpy(xs, e->force, (size_t)(batch * dof) * sizeof *x);
        TL_TRY(tl_mass_solve(p->mass, batch, xs));
    }
    return TALUS_OK;
}

talus_status tl_eliminate_multipliers(const talus_problem *p, double *lambda) {
    const tl_elimination *e = p->elimination;
    if (p->is_global) return tl_spd_solve(e->spd, 1, lambda);
    tl_lu_solve(p->constraint_count, e->lu, e->pivot, 1, lambda);
    return TALUS_OK;
}

static talus_status eliminate_factor_p(talus_problem *p) {
    talus_status status = TALUS_OK;
    const int32_t m = p->constraint_count;
    double *work = NULL, rcond;
    int32_t *iwork = NULL;
    TL_TRY(TL_ALLOC(p->ctx, 1, &p->elimination));
    tl_elimination *e = p->elimination;
    TL_GOTO(TL_ALLOC(p->ctx, (int64_t)m * m, &e->lu));
    TL_GOTO(TL_ALLOC(p->ctx, m, &e->pivot));
    TL_GOTO(TL_ALLOC(p->ctx, 4 * (int64_t)m, &work));
    TL_GOTO(TL_ALLOC(p->ctx, m, &iwork));
    for (int32_t i = 0; i < m; i++)
        for (int64_t k = p->p.start[i]; k < p->p.start[i + 1]; k++)
            e->lu[i + (int64_t)p->p.index[k] * m] = p->p.value[k];
    const int32_t bad = tl_lu_factor(m, e->lu, e->pivot, &rcond, work, iwork);
    if (bad >= 0)
        status = tl_fail(p->ctx, TALUS_ERR_SINGULAR,
                         "P is singular: no pivot in column %d; P must be invertible", bad);
    else if (!(rcond > SINGULAR_P))
        status = tl_fail(p->ctx, TALUS_ERR_SINGULAR,
                         "P is singular to rounding: its reciprocal condition is %g", rcond);
done:
    tl_free(p->ctx, work);
    tl_free(p->ctx, iwork);
    return status;
}

static void eliminate_copy_block(talus_problem *p, int64_t from, int64_t to) {
    const int32_t area = p->dim * p->dim;
    memcpy(p->w_block + to * area, p->given_block + from * area, (size_t)area * sizeof *p->w_block);
}

// The block rows of W with room for the blocks (i, j) of all i, j that B touches.
static talus_status eliminate_pattern(talus_problem *p, const bool *touched,
                                      int64_t touched_count) {
    const int32_t area = p->dim * p->dim;
    int64_t room = 0;
    for (int32_t i = 0; i < p->count; i++)
        room += p->given_start[i + 1] - p->given_start[i] + (touched[i] ? touched_count : 0);
    TL_TRY(TL_ALLOC(p->ctx, (int64_t)p->count + 1, &p->w_start));
    TL_TRY(TL_ALLOC(p->ctx, room, &p->w_col));
    TL_TRY(TL_ALLOC(p->ctx, room * area, &p->w_block));
    int64_t to = 0;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t k = p->given_start[i];
        const int64_t end = p->given_start[i + 1];
        for (int32_t j = 0; touched[i] && j < p->count;
             j++) { // the row and what is touched, merged
            const bool stored = k < end && p->given_col[k] == j;
            if (stored) eliminate_copy_block(p, k++, to);
            if (stored || touched[j]) p->w_col[to++] = j;
        }
        for (; k < end; k++) { // not touched: the row as it is
            eliminate_copy_block(p, k, to);
            p->w_col[to++] = p->given_col[k];
        }
        p->w_start[i + 1] = to;
    }
    return TALUS_OK;
}

// W −= B X and q −= B x_c, where X = P⁻¹ Bᵀ (column `slot` for each touched row) and x_c = P⁻¹ c.
static void eliminate_subtract(talus_problem *p, const tl_csr *b, const int32_t *slot,
                               const double *x, const double *x_c) {
    const int32_t d = p->dim, m = p->constraint_count;
    for (int32_t row = 0; row < b->rows; row++)
        for (int64_t k = b->start[row]; k < b->start[row + 1]; k++) {
            const int32_t l = b->index[k], i = row / d;
            p->q[row] -= b->value[k] * x_c[l];
            for (int64_t e = p->w_start[i]; e < p->w_start[i + 1]; e++) {
                const int32_t j = p->w_col[e];
                double *w = p->w_block + (e * d + row % d) * d;
                for (int32_t y = 0; y < d && slot[j] >= 0; y++)
                    w[y] -= b->value[k] * x[((int64_t)slot[j] * d + y) * m + l];
            }
        }
}

talus_status tl_eliminate_local(talus_problem *p, const tl_csr *b) {
    talus_status status = TALUS_OK;
    const int32_t d = p->dim, m = p->constraint_count;
    bool *touched = NULL;
    int32_t *slot = NULL, touched_count = 0;
    double *x = NULL, *x_c = NULL;
    TL_GOTO(eliminate_factor_p(p));
    const tl_elimination *e = p->elimination;
    TL_GOTO(TL_ALLOC(p->ctx, p->count, &touched));
    TL_GOTO(TL_ALLOC(p->ctx, p->count, &slot));
    for (int32_t i = 0; i < p->count; i++) {
        touched[i] = b->start[(i + 1) * d] > b->start[i * d];
        slot[i] = touched[i] ? touched_count++ : -1;
    }
    TL_GOTO(TL_ALLOC(p->ctx, (int64_t)touched_count * d * m, &x));
    TL_GOTO(TL_COPY(p->ctx, p->k, m, &x_c));
    for (int32_t row = 0; row < b->rows; row++)
        for (int64_t k = b->start[row]; k < b->start[row + 1]; k++)
            x[((int64_t)slot[row / d] * d + row % d) * m + b->index[k]] = b->value[k];
    tl_lu_solve(m, e->lu, e->pivot, touched_count * d, x);
    tl_lu_solve(m, e->lu, e->pivot, 1, x_c);
    TL_GOTO(eliminate_pattern(p, touched, touched_count));
    eliminate_subtract(p, b, slot, x, x_c);
done:
    tl_free(p->ctx, touched);
    tl_free(p->ctx, slot);
    tl_free(p->ctx, x);
    tl_free(p->ctx, x_c);
    return status;
}
