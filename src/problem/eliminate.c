// SPDX-License-Identifier: Apache-2.0
// Exact elimination of the constraint rows.
// Global form: with S = C M⁻¹ Cᵀ,
//     S λ = k − C M⁻¹(f + Hᵀ r),     N = M⁻¹ − M⁻¹ Cᵀ S⁻¹ C M⁻¹,     v = N (f + Hᵀ r) + v_k.
// S is sparse when M is block diagonal (two rows of C meet only in a common body), dense otherwise.
// With a block diagonal M the bodies fall into clusters that C ties together, each with an S of its
// own, and N acts cluster by cluster.
// Local form: u = W r + B l + q and P l + Bᵀ r + c = 0 give l = −P⁻¹(c + Bᵀ r) and
//     u = (W − B P⁻¹ Bᵀ) r + (q − B P⁻¹ c).
// P need not be definite, so it is factored dense with row exchanges: these files are small.
#include "problem/eliminate.h"
#include "linalg/dense.h"
#include "problem/gram.h"
#include "problem/mass.h"
#include <math.h>
#include <string.h>

// Rows of C that hang together through common bodies: one cluster. With an M that is not block
// diagonal all rows are one cluster.
typedef struct eliminate_cluster {
    int32_t row, rows;    // in `row`
    int32_t body, bodies; // in `body`
    tl_gram *gram;
} eliminate_cluster;

struct tl_elimination {
    // global
    int32_t cluster_count;
    eliminate_cluster *cluster;
    int32_t *row;               // rows of C, cluster after cluster
    int32_t *body;              // bodies that rows of C act on, likewise; block diagonal M only
    int32_t *cluster_of;        // of each body: its cluster, −1 where it has none
    int32_t *row_place;         // of each row of C: its place in its cluster
    double *diagonal;           // of S
    tl_csr ct;                  // Cᵀ
    double *gather;             // BATCH vectors of constraint_count
    double *force, *multiplier; // scratch, BATCH vectors of dof and of constraint_count
    // local
    double *lu; // factor of P, column major
    int32_t *pivot;
};

enum { BATCH = 8 };      // right-hand sides that share one pass over the factors
#define SINGULAR_P 1e-15 // reciprocal condition below which P⁻¹ has no correct digit

void tl_elimination_destroy(talus_context *ctx, tl_elimination *e) {
    if (!e) return;
    for (int32_t c = 0; c < e->cluster_count; c++) tl_gram_destroy(e->cluster[c].gram);
    void *const owned[] = {e->cluster,    e->row,      e->body,   e->cluster_of,
                           e->row_place,  e->diagonal, e->gather, e->force,
                           e->multiplier, e->lu,       e->pivot};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    tl_csr_clear(ctx, &e->ct);
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

// ---- clusters ----------------------------------------------------------------------------------

static int32_t eliminate_root(int32_t *parent, int32_t b) {
    while (parent[b] != b) {
        parent[b] = parent[parent[b]];
        b = parent[b];
    }
    return b;
}

// Clusters of bodies, numbered by their lowest body; a row without entries is a cluster of its own.
// Fills cluster_of of the bodies and `of` of the rows.
static int32_t eliminate_find(const talus_problem *p, const int32_t *body_of, int32_t *parent,
                              int32_t *of) {
    tl_elimination *e = p->elimination;
    const tl_csr *c = &p->c;
    int32_t count = 0;
    for (int32_t b = 0; b < p->body_count; b++) parent[b] = b;
    for (int32_t b = 0; b < p->body_count; b++) e->cluster_of[b] = -1;
    for (int32_t j = 0; j < c->rows; j++)
        for (int64_t k = c->start[j]; k < c->start[j + 1]; k++) {
            int32_t one = eliminate_root(parent, body_of[c->index[c->start[j]]]);
            int32_t two = eliminate_root(parent, body_of[c->index[k]]);
            e->cluster_of[body_of[c->index[k]]] = 0; // for now: it has one
            parent[one > two ? one : two] = one > two ? two : one;
        }
    for (int32_t b = 0; b < p->body_count; b++) {
        if (e->cluster_of[b] < 0) continue;
        const int32_t root = eliminate_root(parent, b);
        e->cluster_of[b] = root == b ? count++ : e->cluster_of[root];
    }
    for (int32_t j = 0; j < c->rows; j++)
        of[j] =
            c->start[j] < c->start[j + 1] ? e->cluster_of[body_of[c->index[c->start[j]]]] : count++;
    return count;
}

// `count` things (bodies or rows) by cluster: the things themselves in `list`, where each cluster
// begins and how many it has in its fields, and the places of the things there where wanted.
static void eliminate_sort(tl_elimination *e, const int32_t *of, int32_t count, bool bodies,
                           int32_t *list, int32_t *place) {
    for (int32_t k = 0; k < count; k++)
        if (of[k] >= 0) (*(bodies ? &e->cluster[of[k]].bodies : &e->cluster[of[k]].rows))++;
    int32_t sum = 0;
    for (int32_t c = 0; c < e->cluster_count; c++) {
        eliminate_cluster *q = e->cluster + c;
        int32_t *length = bodies ? &q->bodies : &q->rows;
        *(bodies ? &q->body : &q->row) = sum;
        sum += *length;
        *length = 0;
    }
    for (int32_t k = 0; k < count; k++) {
        if (of[k] < 0) continue;
        eliminate_cluster *q = e->cluster + of[k];
        int32_t *length = bodies ? &q->bodies : &q->rows;
        if (place) place[k] = *length;
        list[(bodies ? q->body : q->row) + (*length)++] = k;
    }
}

// Who is in which cluster.
static talus_status eliminate_clusters(talus_problem *p, int32_t *row_of) {
    talus_status status = TALUS_OK;
    tl_elimination *e = p->elimination;
    int32_t *body_of = NULL, *parent = NULL;
    const bool split = tl_mass_is_block_diagonal(p->mass);
    TL_GOTO(TL_ALLOC(p->ctx, p->dof, &body_of));
    TL_GOTO(TL_ALLOC(p->ctx, p->body_count, &parent));
    TL_GOTO(TL_ALLOC(p->ctx, p->body_count, &e->cluster_of));
    TL_GOTO(TL_ALLOC(p->ctx, p->body_count, &e->body));
    TL_GOTO(TL_ALLOC(p->ctx, p->constraint_count, &e->row));
    TL_GOTO(TL_ALLOC(p->ctx, p->constraint_count, &e->row_place));
    for (int32_t b = 0; b < p->body_count; b++)
        for (int32_t x = p->body_start[b]; x < p->body_start[b + 1]; x++) body_of[x] = b;
    const int32_t count = split ? eliminate_find(p, body_of, parent, row_of) : 1;
    TL_GOTO(TL_ALLOC(p->ctx, count, &e->cluster));
    e->cluster_count = count;
    if (split) eliminate_sort(e, e->cluster_of, p->body_count, true, e->body, NULL);
    eliminate_sort(e, row_of, p->constraint_count, false, e->row, e->row_place);
done:
    tl_free(p->ctx, body_of);
    tl_free(p->ctx, parent);
    return status;
}

// The part of S that belongs to a cluster, factored. `s`: lower triangle in compressed columns.
static talus_status eliminate_factor(talus_problem *p, const tl_csr *s, eliminate_cluster *q) {
    talus_status status = TALUS_OK;
    const tl_elimination *e = p->elimination;
    const int32_t *row = e->row + q->row;
    tl_csr part = {.rows = q->rows, .cols = q->rows};
    int64_t entries = 0;
    int32_t bad = -1;
    for (int32_t j = 0; j < q->rows; j++) entries += s->start[row[j] + 1] - s->start[row[j]];
    TL_GOTO(TL_ALLOC(p->ctx, (int64_t)q->rows + 1, &part.start));
    TL_GOTO(TL_ALLOC(p->ctx, entries, &part.index));
    TL_GOTO(TL_ALLOC(p->ctx, entries, &part.value));
    int64_t used = 0;
    for (int32_t j = 0; j < q->rows; j++) {
        for (int64_t k = s->start[row[j]]; k < s->start[row[j] + 1]; k++) {
            part.index[used] = e->row_place[s->index[k]];
            part.value[used++] = s->value[k];
        }
        part.start[j + 1] = used;
    }
    status = tl_gram_create(p->ctx, &part, p->dependent, &bad, &q->gram);
    if (status == TALUS_ERR_SINGULAR && bad >= 0)
        status = tl_fail(p->ctx, status,
                         tl_csr_at(&part, bad, bad) > 0.0
                             ? "row %d of C depends on the other rows; the rows of C must be "
                               "independent"
                             : "row %d of C is zero; the rows of C must be independent",
                         row[bad]);
done:
    tl_csr_clear(p->ctx, &part);
    return status;
}

talus_status tl_eliminate_global(talus_problem *p) {
    talus_status status = TALUS_OK;
    tl_csr s = {0};
    int32_t *row_of = NULL;
    TL_TRY(TL_ALLOC(p->ctx, 1, &p->elimination)); // the problem's clean-up frees what is in it
    tl_elimination *e = p->elimination;
    const int64_t m = p->constraint_count;
    TL_TRY(TL_ALLOC(p->ctx, BATCH * (int64_t)p->dof, &e->force));
    TL_TRY(TL_ALLOC(p->ctx, BATCH * m, &e->multiplier));
    TL_TRY(TL_ALLOC(p->ctx, BATCH * m, &e->gather));
    TL_TRY(TL_ALLOC(p->ctx, m, &e->diagonal));
    TL_TRY(tl_csr_transpose(p->ctx, &p->c, &e->ct));
    TL_GOTO(TL_ALLOC(p->ctx, m, &row_of));
    TL_GOTO(eliminate_clusters(p, row_of));
    TL_GOTO(eliminate_schur(p, &s));
    for (int32_t j = 0; j < m; j++) e->diagonal[j] = tl_csr_at(&s, j, j);
    for (int32_t c = 0; c < e->cluster_count; c++) TL_GOTO(eliminate_factor(p, &s, e->cluster + c));
done:
    tl_csr_clear(p->ctx, &s);
    tl_free(p->ctx, row_of);
    return status;
}

// ---- solving -----------------------------------------------------------------------------------

// S x = b in place, for up to BATCH right-hand sides in a row.
static talus_status eliminate_solve(const talus_problem *p, int32_t columns, double *x) {
    const tl_elimination *e = p->elimination;
    const int64_t m = p->constraint_count;
    for (int32_t c = 0; c < e->cluster_count; c++) {
        const eliminate_cluster *q = e->cluster + c;
        const int32_t *row = e->row + q->row;
        for (int32_t k = 0; k < columns; k++)
            for (int32_t j = 0; j < q->rows; j++)
                e->gather[(int64_t)k * q->rows + j] = x[k * m + row[j]];
        TL_TRY(tl_gram_solve(q->gram, columns, e->gather));
        for (int32_t k = 0; k < columns; k++)
            for (int32_t j = 0; j < q->rows; j++)
                x[k * m + row[j]] = e->gather[(int64_t)k * q->rows + j];
    }
    return TALUS_OK;
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
        TL_TRY(eliminate_solve(p, batch, e->multiplier));
        for (int32_t c = 0; c < batch; c++)
            tl_csr_add_transposed(&p->c, -1.0, e->multiplier + c * m, e->force + c * dof);
        memcpy(xs, e->force, (size_t)(batch * dof) * sizeof *x);
        TL_TRY(tl_mass_solve(p->mass, batch, xs));
    }
    return TALUS_OK;
}

talus_status tl_eliminate_multipliers(const talus_problem *p, double *lambda) {
    const tl_elimination *e = p->elimination;
    if (p->is_global) return eliminate_solve(p, 1, lambda);
    tl_lu_solve(p->constraint_count, e->lu, e->pivot, 1, lambda);
    return TALUS_OK;
}

const double *tl_eliminate_diagonal(const talus_problem *p) { return p->elimination->diagonal; }

int32_t tl_eliminate_cluster_count(const talus_problem *p) { return p->elimination->cluster_count; }

int32_t tl_eliminate_cluster_of(const talus_problem *p, int32_t body) {
    return p->elimination->cluster_of[body];
}

tl_cluster tl_eliminate_cluster(const talus_problem *p, int32_t cluster) {
    const tl_elimination *e = p->elimination;
    const eliminate_cluster *q = e->cluster + cluster;
    tl_cluster out = {.bodies = q->bodies,
                      .body = e->body + q->body,
                      .rows = q->rows,
                      .dependent = tl_gram_is_dependent(q->gram)};
    for (int32_t k = 0; k < q->bodies; k++)
        out.dof += p->body_start[out.body[k] + 1] - p->body_start[out.body[k]];
    return out;
}

void tl_eliminate_load(const talus_problem *p, int32_t body, const double *x, double *g) {
    const tl_elimination *e = p->elimination;
    for (int32_t d = p->body_start[body]; d < p->body_start[body + 1]; d++)
        for (int64_t k = e->ct.start[d]; k < e->ct.start[d + 1]; k++)
            g[e->row_place[e->ct.index[k]]] += e->ct.value[k] * x[d - p->body_start[body]];
}

talus_status tl_eliminate_cluster_solve(const talus_problem *p, int32_t cluster, int32_t columns,
                                        double *g) {
    return tl_gram_solve(p->elimination->cluster[cluster].gram, columns, g);
}

// The loads that the rows of block i put on the constraint rows of one cluster; *any: there are
// some. `x` holds Y = M⁻¹ Hᵀ of the bodies of the block, as its blocks of H lie.
static bool eliminate_loads(const talus_problem *p, int32_t i, int32_t cluster, const double *x,
                            int32_t rows, double *g) {
    const int32_t d = p->dim;
    memset(g, 0, (size_t)d * (size_t)rows * sizeof *g);
    bool any = false;
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t b = p->h_body[k], size = p->body_start[b + 1] - p->body_start[b];
        if (tl_eliminate_cluster_of(p, b) != cluster) continue;
        const double *y = x + (p->h_offset[k] - p->h_offset[p->h_start[i]]);
        for (int32_t a = 0; a < d; a++)
            tl_eliminate_load(p, b, y + (int64_t)a * size, g + (int64_t)a * rows);
        any = true;
    }
    return any;
}

talus_status tl_eliminate_own(const talus_problem *p, int32_t i, double *x, double *g, double *w) {
    const int32_t d = p->dim;
    const int64_t first = p->h_offset[p->h_start[i]];
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t b = p->h_body[k], size = p->body_start[b + 1] - p->body_start[b];
        const double *h = p->h_block + p->h_offset[k];
        double *y = x + (p->h_offset[k] - first);
        memcpy(y, h, (size_t)d * (size_t)size * sizeof *y);
        tl_mass_solve_body(p->mass, b, d, y, size);
        for (int32_t a = 0; a < d; a++)
            for (int32_t c = 0; c < d; c++)
                for (int32_t e = 0; e < size; e++)
                    w[a * d + c] += h[(int64_t)a * size + e] * y[(int64_t)c * size + e];
    }
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t cluster = tl_eliminate_cluster_of(p, p->h_body[k]);
        bool seen = cluster < 0;
        for (int64_t l = p->h_start[i]; l < k; l++)
            seen |= tl_eliminate_cluster_of(p, p->h_body[l]) == cluster;
        if (seen) continue;
        const int32_t rows = p->elimination->cluster[cluster].rows;
        double *z = g + (int64_t)d * rows;
        if (!eliminate_loads(p, i, cluster, x, rows, g)) continue;
        memcpy(z, g, (size_t)d * (size_t)rows * sizeof *z);
        TL_TRY(tl_eliminate_cluster_solve(p, cluster, d, z));
        for (int32_t a = 0; a < d; a++)
            for (int32_t c = 0; c < d; c++)
                for (int32_t e = 0; e < rows; e++)
                    w[a * d + c] -= g[(int64_t)a * rows + e] * z[(int64_t)c * rows + e];
    }
    return TALUS_OK;
}

// ---- local form --------------------------------------------------------------------------------

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
