// SPDX-License-Identifier: Apache-2.0
// Joints tie bodies into clusters. With N = M⁻¹ − M⁻¹ Cᵀ S⁻¹ C M⁻¹, which acts cluster by cluster,
// the Delassus operator of all blocks is
//     W = Σ_b H_b M_b⁻¹ H_bᵀ (bodies outside clusters)  +  Σ_K H_K N_K H_Kᵀ (clusters),
// and N_K, positive semi-definite, has the factor N_K = Z Zᵀ with as many columns as the cluster
// has ways to move. So the same W belongs to a problem without constraint rows, in which each
// cluster is one body of unit masses with the blocks H_K Z: a mill with one hinge is a body of one
// unknown. Solvers get that problem. Its velocities mean nothing, but u, r and q are the same.
//
// Z is needed for the bodies that blocks act on. For their unknowns t, with G = C M⁻¹ E_t,
//     N_tt = M_t⁻¹ − Gᵀ S⁻¹ G,
// one solve with the factor of S per unknown; Z is its Cholesky factor with diagonal pivots, taken
// relative to M⁻¹ so that masses of different sizes do no harm. It ends after as many pivots as
// there are ways to move (unknowns of the cluster less rows of C) or when nothing is left.
#include "problem/condense.h"
#include "linalg/dense_inline.h"
#include "problem/eliminate.h"
#include "problem/mass.h"
#include <math.h>
#include <string.h>

#define CONDENSE_LEFT 1e-14      // part of (M⁻¹)_ee that counts as nothing,
#define CONDENSE_DEPENDENT 1e-11 // and where rows of C depend on each other, which costs digits

// Part of W_NN that constraint rows leave, to rounding, where they hold all bodies of a block. It
// is the square of a lever: a pendulum that hangs to 1e-7 has 1e-14, and still can be moved.
#define CONDENSE_HELD 1e-20

struct tl_condensed {
    talus_problem *problem;
    // Clusters that blocks act on.
    int32_t *touched;  // bodies: first place of their unknowns in the `t` of their cluster, or −1
    int32_t *rank;     // clusters: columns of Z; 0: no block acts on it, or it cannot move
    int64_t *z_at;     // clusters: where Z begins
    int32_t *unknowns; // clusters: length of t
    double *z;         // Z of all clusters, t × rank, row major
    double *n, *g, *s; // scratch: N_tt, G and S⁻¹ G by columns
    double *left, *full; // scratch: what is left of the diagonal of N_tt, and that of M⁻¹
    bool *used;          // scratch: pivots taken
    // The problem, as it is handed over.
    int32_t *body;         // bodies: their number there, −1 in a cluster
    int32_t *virtual_body; // clusters: the body that stands for it, −1: none
    int32_t *start;
    double *mass, *f, *w, *h;
    int64_t *h_start;
    int32_t *h_body;
};

void tl_condensed_destroy(talus_context *ctx, tl_condensed *c) {
    if (!c) return;
    void *const owned[] = {
        c->touched, c->rank,  c->z_at, c->unknowns,     c->z,     c->n,    c->g, c->s, c->left,
        c->full,    c->used,  c->body, c->virtual_body, c->start, c->mass, c->f, c->w, c->h,
        c->h_start, c->h_body};
    talus_problem_destroy(c->problem); // borrows h
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    tl_free(ctx, c);
}

const talus_problem *tl_problem_condensed(const talus_problem *p) {
    return p->condensed ? p->condensed->problem : p;
}

void tl_condensed_set_law(tl_condensed *c, talus_law law) {
    talus_problem_set_law(c->problem, law);
}

static int32_t condense_size(const talus_problem *p, int32_t body) {
    return p->body_start[body + 1] - p->body_start[body];
}

// ---- the factor --------------------------------------------------------------------------------

// Which bodies of clusters blocks act on, and where their unknowns are in t.
static void condense_touch(const talus_problem *p, tl_condensed *c) {
    for (int32_t b = 0; b < p->body_count; b++) c->touched[b] = -1;
    for (int64_t k = 0; k < p->h_start[p->count]; k++)
        if (tl_eliminate_cluster_of(p, p->h_body[k]) >= 0) c->touched[p->h_body[k]] = 0;
    for (int32_t q = 0; q < tl_eliminate_cluster_count(p); q++) {
        const tl_cluster cluster = tl_eliminate_cluster(p, q);
        c->unknowns[q] = 0;
        for (int32_t k = 0; k < cluster.bodies; k++) {
            const int32_t b = cluster.body[k];
            if (c->touched[b] < 0) continue;
            c->touched[b] = c->unknowns[q];
            c->unknowns[q] += condense_size(p, b);
        }
    }
}

// N_tt of a cluster, and the diagonal of M⁻¹ in `full`.
static talus_status condense_response(const talus_problem *p, tl_condensed *c, int32_t q) {
    const tl_cluster cluster = tl_eliminate_cluster(p, q);
    const int64_t t = c->unknowns[q], m = cluster.rows;
    memset(c->n, 0, (size_t)(t * t) * sizeof *c->n);
    memset(c->g, 0, (size_t)(t * m) * sizeof *c->g);
    for (int32_t k = 0; k < cluster.bodies; k++) {
        const int32_t b = cluster.body[k], size = condense_size(p, b);
        for (int32_t e = 0; c->touched[b] >= 0 && e < size; e++) {
            const int64_t at = c->touched[b] + e;
            double *x = c->n + at * t + c->touched[b]; // column e of M_b⁻¹, in its place
            x[e] = 1.0;
            tl_mass_solve_body(p->mass, b, 1, x, size);
            c->full[at] = x[e];
            tl_eliminate_load(p, b, x, c->g + at * m);
        }
    }
    memcpy(c->s, c->g, (size_t)(t * m) * sizeof *c->s);
    TL_TRY(tl_eliminate_cluster_solve(p, q, (int32_t)t, c->s));
    for (int64_t i = 0; i < t; i++)
        for (int64_t e = 0; e < m; e++) { // G has few entries that are not zero
            const double gi = c->g[i * m + e];
            for (int64_t j = 0; gi != 0.0 && j < t; j++) c->n[i * t + j] -= gi * c->s[j * m + e];
        }
    return TALUS_OK;
}

// Z (t × rank, rows `stride` apart) of N_tt; returns its rank, at most `most`.
static int32_t condense_factor(tl_condensed *c, int64_t t, int32_t most, double nothing,
                               double *z) {
    for (int64_t i = 0; i < t; i++) {
        c->left[i] = c->n[i * t + i];
        c->used[i] = false;
    }
    int32_t rank = 0;
    for (; rank < most; rank++) {
        int64_t pivot = -1;
        double best = nothing;
        for (int64_t i = 0; i < t; i++)
            if (!c->used[i] && c->left[i] > best * c->full[i]) {
                best = c->left[i] / c->full[i];
                pivot = i;
            }
        if (pivot < 0) break;
        const double root = sqrt(c->left[pivot]), *own = z + pivot * most;
        for (int64_t i = 0; i < t; i++) {
            double *zi = z + i * most, sum = 0.5 * (c->n[i * t + pivot] + c->n[pivot * t + i]);
            if (c->used[i]) { // its row has ended
                zi[rank] = 0.0;
                continue;
            }
            sum -= tl_long_dot(rank, zi, own, NULL);
            zi[rank] = i == pivot ? root : sum / root;
            c->left[i] -= zi[rank] * zi[rank];
        }
        c->used[pivot] = true;
    }
    return rank;
}

// Z of all clusters.
static talus_status condense_factors(const talus_problem *p, tl_condensed *c) {
    talus_context *ctx = p->ctx;
    const int32_t clusters = tl_eliminate_cluster_count(p);
    int64_t widest = 0, loads = 0, room = 0;
    for (int32_t q = 0; q < clusters; q++) {
        const tl_cluster cluster = tl_eliminate_cluster(p, q);
        const int32_t ways = cluster.dependent ? cluster.dof : cluster.dof - cluster.rows;
        const int64_t t = c->unknowns[q];
        c->rank[q] = ways < t ? ways : (int32_t)t; // at most
        c->z_at[q] = room;
        room += t * c->rank[q];
        widest = TL_MAX(t, widest);
        loads = TL_MAX(t * cluster.rows, loads);
    }
    TL_TRY(TL_RESERVE(ctx, room, &c->z));
    TL_TRY(TL_RESERVE(ctx, widest * widest, &c->n));
    TL_TRY(TL_RESERVE(ctx, loads, &c->g));
    TL_TRY(TL_RESERVE(ctx, loads, &c->s));
    TL_TRY(TL_RESERVE(ctx, widest, &c->left));
    TL_TRY(TL_RESERVE(ctx, widest, &c->full));
    TL_TRY(TL_RESERVE(ctx, widest, &c->used));
    for (int32_t q = 0; q < clusters; q++) {
        const int64_t t = c->unknowns[q];
        const int32_t most = c->rank[q];
        if (most == 0) continue;
        TL_TRY(condense_response(p, c, q));
        double *z = c->z + c->z_at[q];
        const bool dependent = tl_eliminate_cluster(p, q).dependent;
        const double nothing = dependent ? CONDENSE_DEPENDENT : CONDENSE_LEFT;
        const int32_t rank = c->rank[q] = condense_factor(c, t, most, nothing, z);
        for (int64_t i = 0; rank < most && i < t; i++) // rows move together
            memmove(z + i * rank, z + i * most, (size_t)rank * sizeof *z);
    }
    return TALUS_OK;
}

// ---- the problem -------------------------------------------------------------------------------

// Bodies outside clusters in their order, then one for each cluster that can move. Where all bodies
// have one size and the cluster needs no more, it gets that size too: loops for one size are fast.
static talus_status condense_bodies(const talus_problem *p, tl_condensed *c, bool diagonal,
                                    talus_global_def *def) {
    talus_context *ctx = p->ctx;
    const int32_t clusters = tl_eliminate_cluster_count(p);
    int32_t count = 0, dof = 0;
    int64_t values = 0;
    bool fits = p->body_size > 0;
    for (int32_t q = 0; q < clusters; q++) fits &= c->rank[q] <= p->body_size;
    TL_TRY(TL_RESERVE(ctx, (int64_t)p->body_count + clusters + 1, &c->start));
    for (int32_t b = 0; b < p->body_count + clusters; b++) {
        const bool outside = b < p->body_count && tl_eliminate_cluster_of(p, b) < 0;
        const int32_t rank = b < p->body_count ? 0 : c->rank[b - p->body_count];
        const int32_t size = outside ? condense_size(p, b) : rank > 0 && fits ? p->body_size : rank;
        const bool there = outside || rank > 0;
        *(b < p->body_count ? c->body + b : c->virtual_body + (b - p->body_count)) =
            there ? count : -1;
        if (!there) continue;
        c->start[count++] = dof;
        dof += size;
        values += diagonal ? size : (int64_t)size * size;
    }
    c->start[count] = dof;
    TL_TRY(TL_RESERVE(ctx, values, &c->mass));
    TL_TRY(TL_RESERVE(ctx, dof, &c->f));
    *def = (talus_global_def){.dim = p->dim,
                              .count = p->count,
                              .body_count = count,
                              .body_start = c->start,
                              .mass_diagonal = diagonal ? c->mass : NULL,
                              .mass_block = diagonal ? NULL : c->mass,
                              .f = c->f};
    return TALUS_OK;
}

// Masses and f: those of bodies outside clusters; unit masses at rest for the others.
static void condense_motion(const talus_problem *p, tl_condensed *c, bool diagonal, int32_t count) {
    double *mass = c->mass;
    for (int32_t k = 0; k < c->start[count]; k++) c->f[k] = 0.0;
    for (int32_t b = 0; b < p->body_count; b++) {
        if (c->body[b] < 0) continue;
        const int32_t size = condense_size(p, b);
        memcpy(c->f + c->start[c->body[b]], p->f + p->body_start[b], (size_t)size * sizeof *p->f);
        mass = tl_mass_get_body(p->mass, b, diagonal, mass);
    }
    for (int32_t q = 0; q < tl_eliminate_cluster_count(p); q++) {
        if (c->virtual_body[q] < 0) continue;
        const int32_t v = c->virtual_body[q], size = c->start[v + 1] - c->start[v];
        for (int32_t i = 0; i < size; i++)
            for (int32_t j = diagonal ? i : 0; j < (diagonal ? i + 1 : size); j++)
                *mass++ = i == j ? 1.0 : 0.0;
    }
}

// Is there a block of the same cluster before block k in the row of block i?
static bool condense_is_repeated(const talus_problem *p, int32_t i, int64_t k) {
    const int32_t q = tl_eliminate_cluster_of(p, p->h_body[k]);
    for (int64_t e = p->h_start[i]; e < k; e++)
        if (tl_eliminate_cluster_of(p, p->h_body[e]) == q) return true;
    return false;
}

// The block of cluster q in row i: H_K Z.
static void condense_block(const talus_problem *p, const tl_condensed *c, int32_t i, int32_t q,
                           int32_t size, double *out) {
    const int32_t d = p->dim, rank = c->rank[q];
    memset(out, 0, (size_t)d * (size_t)size * sizeof *out);
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t b = p->h_body[k], width = condense_size(p, b);
        if (tl_eliminate_cluster_of(p, b) != q) continue;
        const double *h = p->h_block + p->h_offset[k];
        const double *z = c->z + c->z_at[q] + (int64_t)c->touched[b] * rank;
        for (int32_t a = 0; a < d; a++)
            for (int32_t e = 0; e < width; e++)
                for (int32_t l = 0; l < rank; l++)
                    out[(int64_t)a * size + l] +=
                        h[(int64_t)a * width + e] * z[(int64_t)e * rank + l];
    }
}

// The blocks of row i: bodies outside clusters, then clusters in the order of their numbers. Counts
// where `h` is NULL. Returns the number of values; *blocks: of blocks.
static int64_t condense_row(const talus_problem *p, const tl_condensed *c, int32_t i, double *h,
                            int32_t *body, int32_t *blocks) {
    const int32_t d = p->dim;
    int64_t used = 0;
    *blocks = 0;
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t b = p->h_body[k];
        if (c->body[b] < 0) continue;
        const int64_t values = (int64_t)d * condense_size(p, b);
        if (h) {
            memcpy(h + used, p->h_block + p->h_offset[k], (size_t)values * sizeof *h);
            body[*blocks] = c->body[b];
        }
        used += values;
        (*blocks)++;
    }
    for (int32_t last = -1;;) { // bodies ascend, their clusters need not
        int32_t next = INT32_MAX;
        for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
            const int32_t q = tl_eliminate_cluster_of(p, p->h_body[k]);
            if (q > last && q < next && c->virtual_body[q] >= 0 && !condense_is_repeated(p, i, k))
                next = q;
        }
        if (next == INT32_MAX) return used;
        const int32_t v = c->virtual_body[next], size = c->start[v + 1] - c->start[v];
        if (h) {
            condense_block(p, c, i, next, size, h + used);
            body[*blocks] = v;
        }
        used += (int64_t)d * size;
        (*blocks)++;
        last = next;
    }
}

// Whether the constraint rows hold the bodies of block i along its normal: W_NN is nothing beside
// that of the same bodies without them. `row`: the condensed blocks.
static bool condense_is_held(const talus_problem *p, const tl_condensed *c, int32_t i,
                             const double *row) {
    double free = 0.0, left = 0.0, *x = p->work.column;
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t b = p->h_body[k], size = condense_size(p, b);
        const double *h = p->h_block + p->h_offset[k];
        memcpy(x, h, (size_t)size * sizeof *x);
        tl_problem_solve_body(p, b, 1, x);
        for (int32_t e = 0; e < size; e++) {
            if (c->body[b] >= 0 && h[e] != 0.0) return false; // one that no row holds
            free += h[e] * x[e];
        }
    }
    for (int64_t k = c->h_start[i]; k < c->h_start[i + 1]; k++) {
        const int32_t b = c->h_body[k], size = c->start[b + 1] - c->start[b];
        for (int32_t e = 0; e < size; e++) left += row[e] * row[e]; // a cluster: its mass is 1
        row += (int64_t)p->dim * size;
    }
    return left <= CONDENSE_HELD * free;
}

static talus_status condense_rows(const talus_problem *p, tl_condensed *c, const double *v,
                                  bool *held, talus_global_def *def) {
    talus_context *ctx = p->ctx;
    const int32_t d = p->dim;
    int64_t values = 0, total = 0;
    int32_t blocks, first = -1;
    TL_TRY(TL_RESERVE(ctx, (int64_t)p->count + 1, &c->h_start));
    TL_TRY(TL_RESERVE(ctx, (int64_t)d * p->count, &c->w));
    c->h_start[0] = 0;
    for (int32_t i = 0; i < p->count; i++) {
        values += condense_row(p, c, i, NULL, NULL, &blocks);
        total += blocks;
        c->h_start[i + 1] = total;
    }
    TL_TRY(TL_RESERVE(ctx, values, &c->h));
    TL_TRY(TL_RESERVE(ctx, total, &c->h_body));
    values = 0;
    for (int32_t i = 0; i < p->count; i++) {
        double *row = c->h + values;
        values += condense_row(p, c, i, row, c->h_body + c->h_start[i], &blocks);
        const bool is_held = condense_is_held(p, c, i, row);
        if (is_held && first < 0) first = i;
        if (held) held[i] = is_held;
        // clusters move at r = 0 already: H_K v is part of w
        double *w = c->w + (int64_t)i * d;
        memcpy(w, p->w + (int64_t)i * d, (size_t)d * sizeof *w);
        for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
            const int32_t b = p->h_body[k], size = condense_size(p, b);
            if (c->body[b] >= 0) continue;
            const double *h = p->h_block + p->h_offset[k];
            for (int32_t a = 0; a < d; a++)
                for (int32_t e = 0; e < size; e++)
                    w[a] += h[(int64_t)a * size + e] * v[p->body_start[b] + e];
        }
    }
    TL_REQUIRE(ctx, first < 0, TALUS_ERR_SINGULAR,
               "the constraint rows hold the bodies of contact %d along its normal: no impulse can "
               "open or close it, and it has to be left out",
               first);
    def->h_row_start = c->h_start;
    def->h_body = c->h_body;
    def->h_block = c->h;
    def->borrow_h = true;
    def->w = c->w;
    def->law = (talus_law_view){.law = p->law,
                                .mu = p->mu,
                                .dilatancy = p->dilatancy,
                                .yield = p->yield,
                                .tension = p->tension};
    return TALUS_OK;
}

static talus_status condense_make(talus_problem *p, const double *v, bool *held) {
    talus_context *ctx = p->ctx;
    tl_condensed *c = p->condensed;
    talus_global_def def;
    const int32_t clusters = tl_eliminate_cluster_count(p);
    const bool diagonal = tl_mass_diagonal(p->mass) != NULL;
    TL_TRY(TL_RESERVE(ctx, p->body_count, &c->touched));
    TL_TRY(TL_RESERVE(ctx, p->body_count, &c->body));
    TL_TRY(TL_RESERVE(ctx, clusters, &c->rank));
    TL_TRY(TL_RESERVE(ctx, clusters, &c->z_at));
    TL_TRY(TL_RESERVE(ctx, clusters, &c->unknowns));
    TL_TRY(TL_RESERVE(ctx, clusters, &c->virtual_body));
    condense_touch(p, c);
    TL_TRY(condense_factors(p, c));
    TL_TRY(condense_bodies(p, c, diagonal, &def));
    condense_motion(p, c, diagonal, def.body_count);
    TL_TRY(condense_rows(p, c, v, held, &def));
    def.scale = p->scale;
    if (c->problem) return talus_problem_update_global(c->problem, &def);
    return talus_problem_create_global(ctx, &def, &c->problem);
}

talus_status tl_condense(talus_problem *p, const double *v, bool *held) {
    if (p->constraint_count == 0 || p->count == 0 || !tl_mass_is_block_diagonal(p->mass)) {
        tl_condensed_destroy(p->ctx, p->condensed);
        p->condensed = NULL;
        return TALUS_OK;
    }
    if (!p->condensed) TL_TRY(TL_ALLOC(p->ctx, 1, &p->condensed));
    return condense_make(p, v, held);
}
