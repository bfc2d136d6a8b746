// SPDX-License-Identifier: Apache-2.0
// The mass matrix. A diagonal M is inverted, block diagonal M is factored body by body, so that M⁻¹
// couples nothing and the Delassus operator stays sparse, blocks that are narrow bands (rods) as
// such; any other M goes to CHOLMOD. A sparse M that is in fact block diagonal over the bodies is
// found out and treated as such. M itself is kept beside its factors: the certificate must not take
// them on trust.
#include "problem/mass.h"
#include "linalg/band.h"
#include "linalg/dense.h"
#include "linalg/spd.h"
#include <math.h>
#include <string.h>

struct tl_mass {
    talus_context *ctx;
    int32_t dof, body_count;
    const int32_t *body_start; // borrowed
    int64_t *offset;           // block diagonal: start of each block, body_count + 1; else NULL
    double *block, *factor;    // block diagonal
    int32_t *band;             // block diagonal: half-width of each factor; −1: dense
    bool *packed;              // block diagonal: whether the block itself is kept as a band
    const double *diagonal;    // diagonal: M_kk, `own` or the caller's; else NULL
    double *own;
    tl_csr full; // otherwise: both triangles, columns
    tl_spd *spd;
};

#define MASS_ASYMMETRY 1e-10 // relative to √(M_ii M_jj); more is a mistake, less is rounding
// Sparse block diagonal M is kept dense when that costs at most this many times its entries, or
// when no body is larger than MASS_DENSE_BODY.
enum { MASS_FILL = 16, MASS_DENSE_BODY = 64 };
// A block is factored as a band where that is at most this part of it.
enum { MASS_BAND = 4 };

static int32_t mass_size(const tl_mass *m, int32_t body) {
    return m->body_start[body + 1] - m->body_start[body];
}

static talus_status mass_asymmetric(talus_context *ctx, int32_t i, int32_t j, double ij,
                                    double ji) {
    return tl_fail(ctx, TALUS_ERR_PROBLEM,
                   "M is not symmetric: entry (%d, %d) is %.17g, but entry (%d, %d) is %.17g", i, j,
                   ij, j, i, ji);
}

static bool mass_differs(double ij, double ji, double ii, double jj) {
    return fabs(ij - ji) > MASS_ASYMMETRY * sqrt(fabs(ii)) * sqrt(fabs(jj));
}

// A mass of these bodies without M: the one that is there, or a new one.
static talus_status mass_begin(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                               tl_mass **inout) {
    if (!*inout) TL_TRY(TL_ALLOC(ctx, 1, inout));
    tl_mass *m = *inout;
    m->ctx = ctx;
    m->body_count = body_count;
    m->body_start = body_start;
    m->dof = body_count > 0 ? body_start[body_count] : 0;
    return TALUS_OK;
}

// Give back what M of another kind has left.
static void mass_drop_blocks(tl_mass *m) {
    tl_free(m->ctx, m->offset);
    tl_free(m->ctx, m->block);
    tl_free(m->ctx, m->factor);
    tl_free(m->ctx, m->band);
    tl_free(m->ctx, m->packed);
    m->band = NULL;
    m->packed = NULL;
    m->offset = NULL;
    m->block = m->factor = NULL;
}

static void mass_drop_diagonal(tl_mass *m) {
    tl_free(m->ctx, m->own);
    m->own = NULL;
    m->diagonal = NULL;
}

static void mass_drop_sparse(tl_mass *m) {
    tl_csr_clear(m->ctx, &m->full);
    tl_spd_destroy(m->spd);
    m->spd = NULL;
}

// The end of a set: what has failed is not kept.
static talus_status mass_end(talus_status status, tl_mass **inout) {
    if (status == TALUS_OK) return status;
    tl_mass_destroy(*inout);
    *inout = NULL;
    return status;
}

// Room for blocks of which some are bands, as they are given; NULL: none.
static talus_status mass_reserve_blocks(tl_mass *m, const int32_t *band) {
    TL_TRY(TL_RESERVE(m->ctx, (int64_t)m->body_count + 1, &m->offset));
    TL_TRY(TL_RESERVE(m->ctx, (int64_t)m->body_count + 1, &m->band));
    TL_TRY(TL_RESERVE(m->ctx, (int64_t)m->body_count + 1, &m->packed));
    m->offset[0] = 0;
    for (int32_t b = 0; b < m->body_count; b++) {
        const int64_t size = mass_size(m, b);
        m->band[b] = band ? band[b] : -1;
        m->packed[b] = m->band[b] >= 0;
        TL_REQUIRE(m->ctx, m->band[b] >= -1 && (m->band[b] < size || size == 0), TALUS_ERR_ARG,
                   "mass_band of body %d is %d, but must be from -1 to %lld", b, m->band[b],
                   (long long)size - 1);
        m->offset[b + 1] = m->offset[b] + size * (m->packed[b] ? m->band[b] + 1 : size);
    }
    TL_TRY(TL_RESERVE(m->ctx, m->offset[m->body_count], &m->block));
    return TL_RESERVE(m->ctx, m->offset[m->body_count], &m->factor);
}

// Entry (i, j) of a block.
static double mass_entry(const tl_mass *m, int32_t b, int32_t i, int32_t j) {
    const double *a = m->block + m->offset[b];
    const int32_t low = i < j ? i : j, away = i < j ? j - i : i - j;
    if (!m->packed[b]) return a[(int64_t)i * mass_size(m, b) + j];
    return away > m->band[b] ? 0.0 : a[(int64_t)low * (m->band[b] + 1) + away];
}

// The same for a band.
static talus_status mass_check_band(const tl_mass *m, int32_t b) {
    const int32_t n = mass_size(m, b);
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n && i <= j + m->band[b]; i++)
            TL_REQUIRE(m->ctx, isfinite(mass_entry(m, b, i, j)), TALUS_ERR_PROBLEM,
                       "M: entry (%d, %d) of the block of body %d is %g, but must be finite", i, j,
                       b, mass_entry(m, b, i, j));
    return TALUS_OK;
}

// Check that one block is finite and symmetric and make it exactly symmetric.
static talus_status mass_check_block(tl_mass *m, int32_t b) {
    const int32_t n = mass_size(m, b), first = m->body_start[b];
    double *a = m->block + m->offset[b];
    if (m->packed[b]) return mass_check_band(m, b);
    for (int64_t k = 0; k < (int64_t)n * n; k++)
        TL_REQUIRE(m->ctx, isfinite(a[k]), TALUS_ERR_PROBLEM,
                   "M: entry (%d, %d) of the block of body %d is %g, but must be finite",
                   (int)(k / n), (int)(k % n), b, a[k]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double ij = a[i * n + j], ji = a[j * n + i];
            if (ij == 0.0 && ji == 0.0) continue;
            if (mass_differs(ij, ji, a[i * n + i], a[j * n + j]))
                return mass_asymmetric(m->ctx, first + (int32_t)i, first + (int32_t)j, ij, ji);
            a[i * n + j] = a[j * n + i] = 0.5 * (ij + ji);
        }
    return TALUS_OK;
}

// Half-width of a symmetric block as a band; −1: too wide to be worth it.
static int32_t mass_band(int32_t n, const double *a) {
    int32_t width = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t j = 0;
        while (j < i - width && a[(int64_t)i * n + j] == 0.0) j++;
        if (i - j > width) width = i - j;
        if ((width + 1) * MASS_BAND > n) return -1;
    }
    return width;
}

// Factor the block of a body; as tl_spd_block_factor.
static int32_t mass_factor_block(tl_mass *m, int32_t b) {
    const int32_t n = mass_size(m, b), width = m->band[b];
    const double *a = m->block + m->offset[b];
    double *factor = m->factor + m->offset[b];
    if (width < 0) {
        memcpy(factor, a, (size_t)n * (size_t)n * sizeof *factor);
        return tl_spd_block_factor(n, factor, TL_PIVOT_TOLERANCE(n));
    }
    if (m->packed[b]) memcpy(factor, a, (size_t)n * (size_t)(width + 1) * sizeof *factor);
    for (int32_t j = 0; !m->packed[b] && j < n; j++)
        for (int32_t k = 0; k <= width; k++)
            factor[(int64_t)j * (width + 1) + k] = j + k < n ? a[(int64_t)j * n + j + k] : 0.0;
    return tl_band_factor(n, width, factor, TL_PIVOT_TOLERANCE(width + 1));
}

static talus_status mass_factor_blocks(tl_mass *m) {
    for (int32_t b = 0; b < m->body_count; b++) {
        TL_TRY(mass_check_block(m, b));
        const int32_t n = mass_size(m, b);
        if (n == 0) continue;
        if (!m->packed[b] && n > MASS_DENSE_BODY)
            m->band[b] = mass_band(n, m->block + m->offset[b]);
        const int32_t bad = mass_factor_block(m, b);
        TL_REQUIRE(m->ctx, bad < 0, TALUS_ERR_SINGULAR,
                   "M: the block of body %d (unknowns %d to %d) is not positive definite: no "
                   "positive pivot in its column %d, where the diagonal entry is %g",
                   b, m->body_start[b], m->body_start[b + 1] - 1, bad, mass_entry(m, b, bad, bad));
    }
    return TALUS_OK;
}

talus_status tl_mass_set_blocks(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                                const int32_t *band, const double *block, tl_mass **inout) {
    talus_status status = TALUS_OK;
    TL_GOTO(mass_begin(ctx, body_count, body_start, inout));
    tl_mass *m = *inout;
    mass_drop_diagonal(m);
    mass_drop_sparse(m);
    TL_GOTO(mass_reserve_blocks(m, band));
    const int64_t entries = m->offset[body_count];
    if (entries > 0) memcpy(m->block, block, (size_t)entries * sizeof *block);
    TL_GOTO(mass_factor_blocks(m));
done:
    return mass_end(status, inout);
}

talus_status tl_mass_set_diagonal(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                                  const double *diagonal, bool borrow, tl_mass **inout) {
    talus_status status = TALUS_OK;
    TL_GOTO(mass_begin(ctx, body_count, body_start, inout));
    tl_mass *m = *inout;
    mass_drop_blocks(m);
    mass_drop_sparse(m);
    TL_GOTO(TL_REFILL(ctx, borrow ? NULL : diagonal, m->dof, &m->own));
    m->diagonal = borrow ? diagonal : m->own;
done:
    return mass_end(status, inout);
}

// Which triangles hold anything: bit 0 the lower one, bit 1 the upper one (columns compressed).
static int mass_triangles(const tl_csr *a) {
    int found = 0;
    for (int32_t j = 0; j < a->rows; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++)
            if (a->value[k] != 0.0 && a->index[k] != j) found |= a->index[k] > j ? 1 : 2;
    return found;
}

// a + aᵀ with the diagonal taken once (half-stored) or (a + aᵀ)/2 (both triangles, checked).
static talus_status mass_symmetrise(talus_context *ctx, const tl_csr *a, tl_csr *out) {
    talus_status status = TALUS_OK;
    const bool half = mass_triangles(a) != 3;
    const int64_t entries = a->start[a->rows];
    tl_csr t = {0}, sum = {.rows = a->rows, .cols = a->rows};
    const tl_csr_names names = {"M", "column", "row"};
    TL_GOTO(tl_csr_transpose(ctx, a, &t));
    for (int32_t j = 0; !half && j < a->rows; j++)
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++) {
            const int32_t i = a->index[k];
            const double ij = a->value[k], ji = tl_csr_at(&t, j, i);
            if (mass_differs(ij, ji, tl_csr_at(a, i, i), tl_csr_at(a, j, j))) {
                status = mass_asymmetric(ctx, i, j, ij, ji);
                goto done;
            }
        }
    TL_GOTO(TL_ALLOC(ctx, (int64_t)a->rows + 1, &sum.start));
    TL_GOTO(TL_ALLOC(ctx, 2 * entries, &sum.index));
    TL_GOTO(TL_ALLOC(ctx, 2 * entries, &sum.value));
    int64_t to = 0;
    for (int32_t j = 0; j < a->rows; j++) {
        for (int64_t k = a->start[j]; k < a->start[j + 1]; k++) {
            const bool once = half && a->index[k] != j;
            sum.index[to] = a->index[k];
            sum.value[to++] = once ? a->value[k] : 0.5 * a->value[k];
        }
        for (int64_t k = t.start[j]; k < t.start[j + 1]; k++) {
            const bool once = half && t.index[k] != j;
            sum.index[to] = t.index[k];
            sum.value[to++] = once ? t.value[k] : 0.5 * t.value[k];
        }
        sum.start[j + 1] = to;
    }
    TL_GOTO(tl_csr_create(ctx, &names, a->rows, a->rows, sum.start, sum.index, sum.value, out));
done:
    tl_csr_clear(ctx, &sum);
    tl_csr_clear(ctx, &t);
    return status;
}

// True when no entry couples two bodies and dense blocks are not a waste of memory.
static bool mass_is_blocks(const tl_mass *m) {
    int64_t dense = 0;
    int32_t largest = 0;
    for (int32_t b = 0; b < m->body_count; b++) {
        const int32_t n = mass_size(m, b);
        dense += (int64_t)n * n;
        if (n > largest) largest = n;
        for (int32_t j = m->body_start[b]; j < m->body_start[b + 1]; j++)
            for (int64_t k = m->full.start[j]; k < m->full.start[j + 1]; k++) {
                const int32_t i = m->full.index[k];
                const bool inside = i >= m->body_start[b] && i < m->body_start[b + 1];
                if (!inside && m->full.value[k] != 0.0) return false;
            }
    }
    return largest <= MASS_DENSE_BODY || dense <= MASS_FILL * m->full.start[m->dof];
}

static void mass_fill_blocks(tl_mass *m) {
    for (int32_t b = 0; b < m->body_count; b++) {
        const int32_t first = m->body_start[b], n = mass_size(m, b);
        for (int32_t j = 0; j < n; j++)
            for (int64_t k = m->full.start[first + j]; k < m->full.start[first + j + 1]; k++) {
                const int32_t i = m->full.index[k] - first;
                if (i >= 0 && i < n) m->block[m->offset[b] + (int64_t)i * n + j] = m->full.value[k];
            }
    }
}

talus_status tl_mass_set_sparse(talus_context *ctx, int32_t body_count, const int32_t *body_start,
                                const talus_sparse *given, tl_mass **inout) {
    talus_status status = TALUS_OK;
    tl_csr columns = {0};
    const tl_csr_names names = {"M", "column", "row"};
    tl_mass_destroy(*inout);
    *inout = NULL;
    TL_GOTO(mass_begin(ctx, body_count, body_start, inout));
    tl_mass *m = *inout;
    TL_GOTO(tl_csr_create(ctx, &names, m->dof, m->dof, given->start, given->index, given->value,
                          &columns));
    TL_GOTO(mass_symmetrise(ctx, &columns, &m->full));
    if (mass_is_blocks(m)) {
        TL_GOTO(mass_reserve_blocks(m, NULL));
        mass_fill_blocks(m);
        tl_csr_clear(ctx, &m->full);
        TL_GOTO(mass_factor_blocks(m));
    } else {
        int32_t bad;
        status = tl_spd_create(ctx, &m->full, TL_PIVOT_TOLERANCE(m->dof), &bad, &m->spd);
        if (status == TALUS_ERR_SINGULAR)
            status = tl_fail(ctx, status,
                             "M is not positive definite: no positive pivot in column %d, where "
                             "the diagonal entry is %g",
                             bad, tl_csr_at(&m->full, bad, bad));
        if (status != TALUS_OK) goto done;
    }
done:
    tl_csr_clear(ctx, &columns);
    return mass_end(status, inout);
}

void tl_mass_destroy(tl_mass *m) {
    if (!m) return;
    mass_drop_blocks(m);
    mass_drop_diagonal(m);
    mass_drop_sparse(m);
    tl_free(m->ctx, m);
}

bool tl_mass_is_block_diagonal(const tl_mass *m) { return m->offset || m->diagonal; }

const double *tl_mass_diagonal(const tl_mass *m) { return m->diagonal; }

void tl_mass_solve_body(const tl_mass *m, int32_t body, int32_t columns, double *x,
                        int64_t stride) {
    if (m->diagonal) {
        const double *diagonal = m->diagonal + m->body_start[body];
        const int32_t n = mass_size(m, body);
        for (int32_t k = 0; k < n; k++) {
            const double inverse = 1.0 / diagonal[k];
            for (int32_t c = 0; c < columns; c++) x[c * stride + k] *= inverse;
        }
        return;
    }
    const int32_t n = mass_size(m, body);
    const double *factor = m->factor + m->offset[body];
    if (n == 0 || m->band[body] < 0) {
        tl_spd_block_solve(n, factor, columns, x, stride);
        return;
    }
    for (int32_t c = 0; c < columns; c++) tl_band_solve(n, m->band[body], factor, x + c * stride);
}

talus_status tl_mass_solve(const tl_mass *m, int32_t columns, double *x) {
    if (m->spd) return tl_spd_solve(m->spd, columns, x);
    for (int32_t b = 0; b < m->body_count; b++)
        tl_mass_solve_body(m, b, columns, x + m->body_start[b], m->dof);
    return TALUS_OK;
}

void tl_mass_multiply(const tl_mass *m, const double *x, double *y) {
    if (m->diagonal) {
        for (int32_t k = 0; k < m->dof; k++) y[k] = m->diagonal[k] * x[k];
        return;
    }
    memset(y, 0, (size_t)m->dof * sizeof *y);
    if (m->spd) {
        tl_csr_add(&m->full, 1.0, x, y);
        return;
    }
    for (int32_t b = 0; b < m->body_count; b++) {
        const int32_t n = mass_size(m, b), first = m->body_start[b];
        const double *a = m->block + m->offset[b];
        if (m->packed[b]) {
            tl_band_multiply(n, m->band[b], a, 1.0, x + first, y + first);
            continue;
        }
        const int32_t width = m->band[b] >= 0 ? m->band[b] : n;
        for (int32_t i = 0; i < n; i++) {
            const int32_t begin = i > width ? i - width : 0,
                          end = i + width < n ? i + width + 1 : n;
            for (int32_t j = begin; j < end; j++)
                y[first + i] += a[(int64_t)i * n + j] * x[first + j];
        }
    }
}

// Count the entries that are not zero and, where asked, list them.
static int64_t mass_list(const tl_mass *m, int32_t *row, int32_t *col, double *value) {
    int64_t count = 0;
    for (int32_t k = 0; m->diagonal && row && k < m->dof; k++) {
        row[k] = col[k] = k;
        value[k] = m->diagonal[k];
    }
    if (m->diagonal) return m->dof;
    for (int32_t b = 0; b < m->body_count; b++) {
        const int32_t n = mass_size(m, b), first = m->body_start[b];
        for (int32_t j = 0; j < n; j++) {
            const int32_t width = m->offset && m->packed[b] ? m->band[b] : n;
            const int64_t begin =
                m->offset ? (j > width ? j - width : 0) : m->full.start[first + j];
            const int64_t end =
                m->offset ? (j + width < n ? j + width + 1 : n) : m->full.start[first + j + 1];
            for (int64_t k = begin; k < end; k++) {
                const double entry = m->offset ? mass_entry(m, b, (int32_t)k, j) : m->full.value[k];
                if (entry == 0.0) continue;
                if (row) {
                    row[count] = m->offset ? first + (int32_t)k : m->full.index[k];
                    col[count] = first + j;
                    value[count] = entry;
                }
                count++;
            }
        }
    }
    return count;
}

double *tl_mass_get_body(const tl_mass *m, int32_t body, bool diagonal, double *out) {
    const int32_t n = mass_size(m, body);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            if (diagonal && i != j) continue;
            *out++ = m->offset ? mass_entry(m, body, i, j)
                     : i == j  ? m->diagonal[m->body_start[body] + i]
                               : 0.0;
        }
    return out;
}

int64_t tl_mass_entry_count(const tl_mass *m) { return mass_list(m, NULL, NULL, NULL); }

void tl_mass_entries(const tl_mass *m, int32_t *row, int32_t *col, double *value) {
    mass_list(m, row, col, value);
}
