// SPDX-License-Identifier: Apache-2.0
// Checks of what a caller hands in, before anything is copied or factored. W is checked last, after
// constraint rows have been eliminated: it is that W which is solved.
#include "problem/check.h"
#include "linalg/dense.h"
#include <math.h>

#define ASYMMETRY_REFUSED 1e-2 // more than rounding and more than a skewed model can explain
#define ASYMMETRY_NOTICED 1e-12
#define UNIT_ROUNDING 1e-12       // of the square of a normal
#define NEGATIVE_EIGENVALUE 1e-10 // of the trace of W_ii: rounding of a semidefinite block

static talus_status check_finite(talus_context *ctx, const char *name, const double *x,
                                 int64_t count) {
    TL_REQUIRE(ctx, x || count == 0, TALUS_ERR_ARG, "%s is NULL, but must have %lld entries", name,
               (long long)count);
    for (int64_t k = 0; k < count; k++)
        TL_REQUIRE(ctx, isfinite(x[k]), TALUS_ERR_PROBLEM, "%s[%lld] = %g, but must be finite",
                   name, (long long)k, x[k]);
    return TALUS_OK;
}

static talus_status check_not_negative(talus_context *ctx, const char *name, const double *x,
                                       int32_t count) {
    for (int32_t i = 0; x && i < count; i++)
        TL_REQUIRE(ctx, isfinite(x[i]) && x[i] >= 0.0, TALUS_ERR_PROBLEM,
                   "%s[%d] = %g, but must be finite and not negative", name, i, x[i]);
    return TALUS_OK;
}

static talus_status check_law(talus_context *ctx, const talus_law_view *law, int32_t count) {
    TL_REQUIRE(ctx, law->law == TALUS_LAW_COULOMB || law->law == TALUS_LAW_ASSOCIATED,
               TALUS_ERR_ARG, "law = %d is not a talus_law", (int)law->law);
    TL_REQUIRE(ctx, law->mu || count == 0, TALUS_ERR_ARG,
               "mu is NULL, but must have one entry for each of the %d blocks", count);
    for (int32_t i = 0; i < count; i++) {
        TL_REQUIRE(ctx, law->mu[i] >= 0.0, TALUS_ERR_PROBLEM,
                   "mu[%d] = %g, but must be in [0, inf]", i, law->mu[i]);
        if (!law->dilatancy) continue;
        const double zeta = law->dilatancy[i];
        TL_REQUIRE(ctx, isfinite(zeta) && zeta >= 0.0 && zeta <= law->mu[i], TALUS_ERR_PROBLEM,
                   "dilatancy[%d] = %g, but must be finite and in [0, mu], mu[%d] = %g", i, zeta, i,
                   law->mu[i]);
    }
    TL_TRY(check_not_negative(ctx, "yield", law->yield, count));
    return check_not_negative(ctx, "tension", law->tension, count);
}

static talus_status check_sizes(talus_context *ctx, int32_t dim, int32_t count) {
    TL_REQUIRE(ctx, dim == 2 || dim == 3 || dim == 6, TALUS_ERR_PROBLEM,
               "dim = %d, but must be 2, 3 or 6", dim);
    TL_REQUIRE(ctx, count >= 0, TALUS_ERR_PROBLEM, "count = %d, but must not be negative", count);
    TL_REQUIRE(ctx, count <= INT32_MAX / dim, TALUS_ERR_PROBLEM,
               "count = %d, but dim * count must fit in 31 bits", count);
    return TALUS_OK;
}

// Block rows in general: starts from 0, never falling, and columns ascending in range.
static talus_status check_rows(talus_context *ctx, const char *start_name, const char *col_name,
                               int32_t rows, int32_t cols, const int64_t *start,
                               const int32_t *col) {
    if (rows == 0) return TALUS_OK;
    TL_REQUIRE(ctx, start, TALUS_ERR_ARG, "%s is NULL, but must have %d entries", start_name,
               rows + 1);
    TL_REQUIRE(ctx, start[0] == 0, TALUS_ERR_PROBLEM, "%s[0] = %lld, but must be 0", start_name,
               (long long)start[0]);
    for (int32_t i = 0; i < rows; i++)
        TL_REQUIRE(ctx, start[i + 1] >= start[i], TALUS_ERR_PROBLEM,
                   "%s[%d] = %lld, but must not be less than %s[%d] = %lld", start_name, i + 1,
                   (long long)start[i + 1], start_name, i, (long long)start[i]);
    if (start[rows] == 0) return TALUS_OK;
    TL_REQUIRE(ctx, col, TALUS_ERR_ARG, "%s is NULL, but must have %lld entries", col_name,
               (long long)start[rows]);
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            TL_REQUIRE(ctx, col[k] >= 0 && col[k] < cols, TALUS_ERR_PROBLEM,
                       "%s[%lld] = %d in block row %d, but must be from 0 to %d", col_name,
                       (long long)k, col[k], i, cols - 1);
            TL_REQUIRE(ctx, k == start[i] || col[k] > col[k - 1], TALUS_ERR_PROBLEM,
                       "%s[%lld] = %d in block row %d follows %d, but must ascend without repeats",
                       col_name, (long long)k, col[k], i, col[k - 1]);
        }
    return TALUS_OK;
}

static talus_status check_local_constraints(talus_context *ctx, const talus_local_def *def) {
    const int32_t size = def->dim * def->count;
    if (def->b.rows == 0 && (def->p.rows == 0 || size == 0)) return TALUS_OK;
    TL_REQUIRE(ctx, def->b.rows == size, TALUS_ERR_PROBLEM,
               "B has %d rows, but must have dim * count = %d", def->b.rows, size);
    TL_REQUIRE(ctx, def->p.rows >= 0 && def->p.rows == def->p.cols, TALUS_ERR_PROBLEM,
               "P is %d by %d, but must be square", def->p.rows, def->p.cols);
    TL_REQUIRE(ctx, def->b.cols == def->p.rows, TALUS_ERR_PROBLEM,
               "B has %d columns, but must have as many as P has rows, %d", def->b.cols,
               def->p.rows);
    return check_finite(ctx, "c", def->c, def->p.rows);
}

talus_status tl_check_local(talus_context *ctx, const talus_local_def *def) {
    TL_REQUIRE(ctx, def, TALUS_ERR_ARG, "the definition of the local problem is NULL");
    const int32_t n = def->count;
    TL_TRY(check_sizes(ctx, def->dim, n));
    TL_TRY(check_rows(ctx, "row_start", "col", n, n, def->row_start, def->col));
    for (int32_t i = 0; i < n; i++) {
        bool found = false;
        for (int64_t k = def->row_start[i]; k < def->row_start[i + 1]; k++)
            found = found || def->col[k] == i;
        TL_REQUIRE(ctx, found, TALUS_ERR_PROBLEM,
                   "block row %d of W has no diagonal block, but must have one", i);
    }
    const int64_t blocks = n > 0 ? def->row_start[n] : 0;
    const int32_t area = def->dim * def->dim;
    TL_REQUIRE(ctx, def->block || blocks == 0, TALUS_ERR_ARG,
               "block is NULL, but must have %lld entries", (long long)blocks * area);
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = def->row_start[i] * area; k < def->row_start[i + 1] * area; k++)
            TL_REQUIRE(ctx, isfinite(def->block[k]), TALUS_ERR_PROBLEM,
                       "block[%lld] = %g in the block (%d, %d) of W, but must be finite",
                       (long long)k, def->block[k], i, def->col[k / area]);
    TL_TRY(check_finite(ctx, "q", def->q, (int64_t)def->dim * n));
    TL_TRY(check_law(ctx, &def->law, n));
    return check_local_constraints(ctx, def);
}

static talus_status check_bodies(talus_context *ctx, const talus_global_def *def) {
    TL_REQUIRE(ctx, def->body_count >= 0, TALUS_ERR_PROBLEM,
               "body_count = %d, but must not be negative", def->body_count);
    if (def->body_count == 0) return TALUS_OK;
    const int32_t *start = def->body_start;
    TL_REQUIRE(ctx, start, TALUS_ERR_ARG, "body_start is NULL, but must have %d entries",
               def->body_count + 1);
    TL_REQUIRE(ctx, start[0] == 0, TALUS_ERR_PROBLEM, "body_start[0] = %d, but must be 0",
               start[0]);
    for (int32_t b = 0; b < def->body_count; b++)
        TL_REQUIRE(ctx, start[b + 1] >= start[b], TALUS_ERR_PROBLEM,
                   "body_start[%d] = %d, but must not be less than body_start[%d] = %d", b + 1,
                   start[b + 1], b, start[b]);
    const int32_t dof = start[def->body_count];
    for (int32_t k = 0; def->mass_diagonal && k < dof; k++)
        TL_REQUIRE(ctx, isfinite(def->mass_diagonal[k]) && def->mass_diagonal[k] > 0.0,
                   TALUS_ERR_SINGULAR, "mass_diagonal[%d] = %g, but must be finite and positive", k,
                   def->mass_diagonal[k]);
    if (def->mass_diagonal || def->mass_block || dof == 0) return TALUS_OK;
    TL_REQUIRE(ctx, def->mass.start, TALUS_ERR_ARG,
               "mass_diagonal, mass_block and mass.start are all NULL, but one of them must give "
               "M");
    TL_REQUIRE(ctx, def->mass.rows == dof && def->mass.cols == dof, TALUS_ERR_PROBLEM,
               "M is %d by %d, but must be %d by %d, the end of body_start", def->mass.rows,
               def->mass.cols, dof, dof);
    return TALUS_OK;
}

// H: numbers finite, and something in every normal row; without it W_NN is 0 and the contact
// cannot be opened or closed by any impulse.
static talus_status check_h(talus_context *ctx, const talus_global_def *def) {
    int64_t offset = 0;
    for (int32_t i = 0; i < def->count; i++) {
        TL_REQUIRE(ctx, def->h_row_start[i + 1] > def->h_row_start[i], TALUS_ERR_PROBLEM,
                   "block row %d of H is empty, but a contact must touch at least one body", i);
        bool normal = false;
        for (int64_t k = def->h_row_start[i]; k < def->h_row_start[i + 1]; k++) {
            const int32_t b = def->h_body[k], size = def->body_start[b + 1] - def->body_start[b];
            for (int32_t e = 0; e < def->dim * size; e++) {
                const double x = def->h_block[offset + e];
                TL_REQUIRE(ctx, isfinite(x), TALUS_ERR_PROBLEM,
                           "h_block[%lld] = %g in the block of contact %d and body %d, but must be "
                           "finite",
                           (long long)(offset + e), x, i, b);
                normal = normal || (e < size && x != 0.0);
            }
            offset += (int64_t)def->dim * size;
        }
        TL_REQUIRE(ctx, normal, TALUS_ERR_PROBLEM,
                   "the normal row of contact %d in H is zero, but its W_NN must be positive", i);
    }
    return TALUS_OK;
}

// H of balls: see talus_ball_rows.
static talus_status check_balls(talus_context *ctx, const talus_global_def *def) {
    const talus_ball_rows *balls = &def->balls;
    TL_REQUIRE(ctx, def->dim == 3, TALUS_ERR_ARG, "balls: dim = %d, but must be 3", def->dim);
    TL_REQUIRE(ctx, balls->stride >= 3, TALUS_ERR_ARG, "balls: stride = %d, but must be 3 or more",
               balls->stride);
    TL_REQUIRE(ctx, balls->arm || def->count == 0, TALUS_ERR_ARG,
               "balls: arm is NULL, but must have a number for every block of H");
    for (int32_t b = 0; b < def->body_count; b++)
        TL_REQUIRE(ctx, def->body_start[b + 1] - def->body_start[b] == 6, TALUS_ERR_PROBLEM,
                   "balls: body %d has %d unknowns, but must have 6", b,
                   def->body_start[b + 1] - def->body_start[b]);
    for (int32_t i = 0; i < def->count; i++) {
        const int64_t first = def->h_row_start[i], bodies = def->h_row_start[i + 1] - first;
        const double *n = balls->normal + (int64_t)i * balls->stride;
        const double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        TL_REQUIRE(ctx, bodies == 1 || (bodies == 2 && !(balls->back && balls->back[i])),
                   TALUS_ERR_PROBLEM,
                   "balls: contact %d has %lld bodies, but must have one, or two and not be back",
                   i, (long long)bodies);
        TL_REQUIRE(ctx, fabs(square - 1.0) <= UNIT_ROUNDING, TALUS_ERR_PROBLEM,
                   "balls: the normal (%g, %g, %g) of contact %d must have length 1", n[0], n[1],
                   n[2], i);
        for (int64_t k = first; k < first + bodies; k++)
            TL_REQUIRE(ctx, isfinite(balls->arm[k]), TALUS_ERR_PROBLEM,
                       "balls: arm[%lld] = %g of contact %d, but must be finite", (long long)k,
                       balls->arm[k], i);
    }
    return TALUS_OK;
}

talus_status tl_check_global(talus_context *ctx, const talus_global_def *def) {
    TL_REQUIRE(ctx, def, TALUS_ERR_ARG, "the definition of the global problem is NULL");
    const int32_t n = def->count;
    TL_TRY(check_sizes(ctx, def->dim, n));
    TL_TRY(check_bodies(ctx, def));
    const int32_t dof = def->body_count > 0 ? def->body_start[def->body_count] : 0;
    TL_TRY(check_rows(ctx, "h_row_start", "h_body", n, def->body_count, def->h_row_start,
                      def->h_body));
    if (def->balls.normal) {
        TL_TRY(check_balls(ctx, def));
    } else {
        TL_REQUIRE(ctx, def->h_block || n == 0 || def->h_row_start[n] == 0, TALUS_ERR_ARG,
                   "h_block is NULL, but must hold the blocks of H");
        TL_TRY(check_h(ctx, def));
    }
    TL_TRY(check_finite(ctx, "f", def->f, dof));
    TL_TRY(check_finite(ctx, "w", def->w, (int64_t)def->dim * n));
    TL_TRY(check_law(ctx, &def->law, n));
    TL_REQUIRE(ctx, isfinite(def->scale) && def->scale >= 0.0, TALUS_ERR_PROBLEM,
               "scale = %g, but must be finite and not negative", def->scale);
    TL_REQUIRE(ctx, def->c.rows >= 0, TALUS_ERR_PROBLEM,
               "C has %d rows, but must not have a negative number", def->c.rows);
    if (def->c.rows == 0) return TALUS_OK;
    TL_REQUIRE(ctx, def->c.cols == dof, TALUS_ERR_PROBLEM,
               "C has %d columns, but must have as many as there are velocities, %d", def->c.cols,
               dof);
    return check_finite(ctx, "k", def->k, def->c.rows);
}

static talus_status check_diagonal(const talus_problem *p, int32_t i) {
    const int32_t d = p->dim;
    const double *w = tl_problem_w_block(p, i, i);
    const char *after = p->constraint_count > 0 ? " (constraints eliminated)" : "";
    TL_REQUIRE(p->ctx, w[0] > 0.0, TALUS_ERR_PROBLEM,
               "diagonal block %d of W%s has W_NN = %g, but it must be positive", i, after, w[0]);
    double low, high, trace = 0.0;
    for (int32_t k = 0; k < d; k++) trace += w[k * d + k];
    tl_sym_eigen_range(d, w, &low, &high);
    TL_REQUIRE(p->ctx, low >= -NEGATIVE_EIGENVALUE * trace, TALUS_ERR_PROBLEM,
               "diagonal block %d of W%s has the eigenvalue %g, but must be positive semidefinite",
               i, after, low);
    return TALUS_OK;
}

talus_status tl_check_w(talus_problem *p) {
    const int32_t d = p->dim;
    double largest = 0.0, difference = 0.0;
    int32_t at[2] = {0, 0};
    for (int32_t i = 0; i < p->count; i++) {
        TL_TRY(check_diagonal(p, i));
        for (int64_t k = p->w_start[i]; k < p->w_start[i + 1]; k++) {
            const double *a = p->w_block + k * d * d;
            const double *b = tl_problem_w_block(p, p->w_col[k], i);
            for (int32_t x = 0; x < d; x++)
                for (int32_t y = 0; y < d; y++) {
                    const double gap = fabs(a[x * d + y] - (b ? b[y * d + x] : 0.0));
                    largest = fmax(largest, fabs(a[x * d + y]));
                    if (gap > difference) {
                        difference = gap;
                        at[0] = i * d + x;
                        at[1] = p->w_col[k] * d + y;
                    }
                }
        }
    }
    p->asymmetry = largest > 0.0 ? difference / largest : 0.0;
    TL_REQUIRE(p->ctx, p->asymmetry <= ASYMMETRY_REFUSED, TALUS_ERR_PROBLEM,
               "W is not symmetric: entries (%d, %d) and (%d, %d) differ by %g of the largest "
               "entry, but at most %g is allowed",
               at[0], at[1], at[1], at[0], p->asymmetry, ASYMMETRY_REFUSED);
    if (p->asymmetry > ASYMMETRY_NOTICED)
        tl_log(p->ctx, TALUS_LOG_WARNING,
               "W is not symmetric (entries (%d, %d) and (%d, %d) differ by %g of the largest "
               "entry); it is solved as given",
               at[0], at[1], at[1], at[0], p->asymmetry);
    return TALUS_OK;
}
