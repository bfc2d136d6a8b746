// SPDX-License-Identifier: Apache-2.0
// admm: alternating direction method of multipliers [docs/theory/primal-dual.md, (D1), (D2)]
//     global:  K v = f + Aᵀ(y + ρΩ⁻¹(u − b)) + εM v⁻,   K = (1 + ε)M + ρAᵀΩ⁻¹A,   a = A v + b
//     local:   K x = u − q + Ω(y + εx⁻)/ρ,   K = W + (1 + ε)Ω/ρ,   a = W x + q
//     â = α a + (1 − α) u,   y⁺ = P(y − ρΩ⁻¹(â + g(â))),   u⁺ = â + Ω(y⁺ − y)/ρ
// ρ is changed rarely, each change costing one numeric factorisation on the old pattern.
#include "solve/penalty.h"
#include <math.h>
#include <string.h>

typedef struct admm_options {
    tl_dual_options dual;
    double relaxation; // α
    double proximal;   // ε
    int32_t rule;      // a tl_penalty_rule
    bool accelerate;
} admm_options;

enum { ADMM_Y, ADMM_U, ADMM_STACKS };

// The penalty of constraint rows is that many times the one of contacts: they are always active.
#define ADMM_CONSTRAINT 1e3
#define ADMM_ASYMMETRY 1e-14 // below, W is symmetric to rounding

typedef struct admm {
    tl_primal primal;
    tl_csr matrix;        // K, lower triangle by columns,
    double *base, *extra; // the values being a sum of these two
    tl_spd *spd;
    double *b;       // stack: A v + b at v = 0
    double first;    // ρ at the beginning of a solve; then it is primal.gamma
    double factored; // ρ of the factor
    tl_penalty penalty;
} admm;

static const tl_option admm_rows[] = {
    TL_DUAL_ROWS("first penalty rho, in units of r/u; 0: 1/max lambda_max(W_ii)"),
    TL_PRIMAL_ROW_ACCELERATE(admm_options, "no"),
    TL_PENALTY_ROW(admm_options),
    TL_ROW(admm_options, relaxation, TL_OPTION_NUMBER, "1.5", .low = 0.0, .high = 2.0,
           .above = true, .text = "over-relaxation of the velocities"),
    TL_ROW(admm_options, proximal, TL_OPTION_NUMBER, "0", .low = 0.0, .high = INFINITY,
           .text = "weight of a proximal term on the velocities, relative to the mass"),
    {0}};

static void admm_clear(talus_solver *base) {
    admm *s = (admm *)base;
    talus_context *ctx = base->ctx;
    tl_spd_destroy(s->spd);
    s->spd = NULL;
    tl_csr_clear(ctx, &s->matrix);
    tl_free(ctx, s->base);
    tl_free(ctx, s->extra);
    tl_free(ctx, s->b);
    s->base = s->extra = s->b = NULL;
    tl_penalty_clear(ctx, &s->penalty);
    tl_primal_clear(base);
}

// Entries of the lower triangle as they come: counted by columns first, then put in place.
typedef struct admm_entries {
    int64_t *start; // columns + 1: counts, then where the next entry goes
    int32_t *index; // NULL while counting
    double *base, *extra;
} admm_entries;

static void admm_push(admm_entries *e, int32_t row, int32_t col, double base, double extra) {
    if (row < col) return;
    if (!e->index) {
        e->start[col + 1]++;
        return;
    }
    const int64_t at = e->start[col]++;
    e->index[at] = row;
    e->base[at] = base;
    e->extra[at] = extra;
}

// HᵀΩ⁻¹H of contact i.
static void admm_push_contact(const admm *s, const talus_problem *p, int32_t i, admm_entries *e) {
    const int d = p->dim;
    for (int64_t a = p->h_start[i]; a < p->h_start[i + 1]; a++)
        for (int64_t b = p->h_start[i]; b < p->h_start[i + 1]; b++) {
            const int32_t row = p->body_start[p->h_body[a]], col = p->body_start[p->h_body[b]];
            const int32_t rows = p->body_start[p->h_body[a] + 1] - row;
            const int32_t cols = p->body_start[p->h_body[b] + 1] - col;
            const double *x = p->h_block + p->h_offset[a], *y = p->h_block + p->h_offset[b];
            for (int32_t l = 0; l < rows; l++)
                for (int32_t m = 0; m < cols; m++) {
                    double sum = 0.0;
                    for (int k = 0; k < d; k++) sum += x[k * rows + l] * y[k * cols + m];
                    admm_push(e, row + l, col + m, 0.0, sum / s->primal.omega[(int64_t)d * i]);
                }
        }
}

static void admm_push_constraint(const admm *s, const talus_problem *p, int32_t j,
                                 admm_entries *e) {
    const tl_csr *c = &p->c;
    const double omega = s->primal.omega[s->primal.dual.size + j];
    for (int64_t a = c->start[j]; a < c->start[j + 1]; a++)
        for (int64_t b = c->start[j]; b < c->start[j + 1]; b++)
            admm_push(e, c->index[a], c->index[b], 0.0, c->value[a] * c->value[b] / omega);
}

// The symmetric part of W and the diagonal Ω.
static void admm_push_local(const admm *s, const talus_problem *p, admm_entries *e) {
    const int d = p->dim;
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t k = p->w_start[i]; k < p->w_start[i + 1]; k++)
            for (int x = 0; x < d; x++)
                for (int y = 0; y < d; y++) {
                    const int32_t row = d * i + x, col = d * p->w_col[k] + y;
                    const double half = 0.5 * p->w_block[(k * d + x) * d + y];
                    const double omega = row == col ? 0.5 * s->primal.omega[row] : 0.0;
                    admm_push(e, row, col, half, omega);
                    admm_push(e, col, row, half, omega);
                }
}

static void admm_push_all(const admm *s, const talus_problem *p, const tl_csr *mass,
                          admm_entries *e) {
    if (!p->is_global) {
        admm_push_local(s, p, e);
        return;
    }
    for (int32_t j = 0; j < p->dof; j++)
        for (int64_t k = mass->start[j]; k < mass->start[j + 1]; k++)
            admm_push(e, mass->index[k], j, mass->value[k], 0.0);
    for (int32_t i = 0; i < p->count; i++) admm_push_contact(s, p, i, e);
    for (int32_t j = 0; j < p->constraint_count; j++) admm_push_constraint(s, p, j, e);
}

// The pattern of K and the two parts of its values: both are sorted and summed alike.
static talus_status admm_assemble(admm *s, const talus_problem *p) {
    talus_status status = TALUS_OK;
    talus_context *ctx = s->primal.dual.base.ctx;
    const int32_t n = p->is_global ? p->dof : p->dim * p->count;
    const tl_csr_names names = {"K", "column", "row"};
    admm_entries e = {0};
    int64_t *start = NULL;
    tl_csr part = {0}, mass = {0};
    if (p->is_global) TL_GOTO(tl_primal_mass(ctx, p, &mass));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)n + 1, &start));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)n + 1, &e.start));
    admm_push_all(s, p, &mass, &e);
    for (int32_t j = 0; j < n; j++) e.start[j + 1] += e.start[j];
    memcpy(start, e.start, ((size_t)n + 1) * sizeof *start);
    TL_GOTO(TL_ALLOC(ctx, start[n], &e.base));
    TL_GOTO(TL_ALLOC(ctx, start[n], &e.extra));
    TL_GOTO(TL_ALLOC(ctx, start[n], &e.index));
    admm_push_all(s, p, &mass, &e);
    TL_GOTO(tl_csr_create(ctx, &names, n, n, start, e.index, e.extra, &part));
    TL_GOTO(tl_csr_create(ctx, &names, n, n, start, e.index, e.base, &s->matrix));
    const int64_t entries = s->matrix.start[n];
    TL_GOTO(TL_ALLOC(ctx, entries, &s->base));
    TL_GOTO(TL_ALLOC(ctx, entries, &s->extra));
    for (int64_t k = 0; k < entries; k++) {
        s->base[k] = s->matrix.value[k];
        s->extra[k] = part.value[k];
    }
done:
    tl_csr_clear(ctx, &part);
    tl_csr_clear(ctx, &mass);
    tl_free(ctx, start);
    tl_free(ctx, e.start);
    tl_free(ctx, e.index);
    tl_free(ctx, e.base);
    tl_free(ctx, e.extra);
    return status;
}

static void admm_fill(admm *s, double rho) {
    const admm_options *opt = s->primal.dual.base.options;
    const double more = 1.0 + opt->proximal;
    const double base = s->primal.velocities ? more : 1.0;
    const double extra = s->primal.velocities ? rho : more / rho;
    for (int64_t k = 0; k < s->matrix.start[s->matrix.rows]; k++)
        s->matrix.value[k] = base * s->base[k] + extra * s->extra[k];
}

// K for another ρ; without a factor the next system gives what is not a number.
static void admm_factor(admm *s) {
    if (s->primal.gamma == s->factored) return;
    admm_fill(s, s->primal.gamma);
    s->factored = tl_spd_refactor(s->spd, &s->matrix) == TALUS_OK ? s->primal.gamma : NAN;
}

static talus_status admm_prepare(talus_solver *base, const talus_problem *p) {
    admm *s = (admm *)base;
    tl_primal *primal = &s->primal;
    const admm_options *opt = base->options;
    talus_context *ctx = base->ctx;
    int32_t bad;
    TL_TRY(tl_problem_write_h(p));
    TL_TRY(tl_primal_prepare(base, p, p->is_global, ADMM_STACKS, 1));
    for (int64_t k = primal->dual.size; k < primal->stack; k++) primal->omega[k] /= ADMM_CONSTRAINT;
    primal->growth = TL_PRIMAL_DECREASE;
    // ρ/ω_i = 1/λmax(W_ii)
    double most = 0.0;
    for (int32_t i = 0; i < p->count; i++) most = TL_MAX(primal->dual.lambda[i], most);
    s->first = opt->dual.step > 0.0 ? opt->dual.step : most > 0.0 ? 1.0 / most : 1.0;
    TL_TRY(TL_ALLOC(ctx, primal->stack, &s->b));
    for (int64_t k = 0; k < primal->n; k++) primal->work[0][k] = 0.0;
    tl_primal_velocity(primal, primal->work[0], s->b);
    TL_TRY(tl_penalty_create(ctx, opt->rule, primal->stack, &s->penalty));
    TL_TRY(admm_assemble(s, p));
    s->factored = s->first;
    admm_fill(s, s->first);
    const talus_status status = tl_spd_create(ctx, &s->matrix, 0.0, &bad, &s->spd);
    TL_REQUIRE(ctx, status != TALUS_ERR_SINGULAR, status,
               "admm: the system for rho = %g is not positive definite at unknown %d: W has "
               "negative eigenvalues; take a smaller step or another solver",
               s->first, bad);
    TL_TRY(status);
    TL_TRY(tl_spd_refactor(s->spd, &s->matrix)); // these two take the memory that a solve uses
    return tl_spd_solve(s->spd, 1, primal->work[0]);
}

// out −= (W − Wᵀ)/2 y, the part of W that the factor leaves out.
static void admm_subtract_skew(const talus_problem *p, const double *y, double *out) {
    const int d = p->dim;
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t k = p->w_start[i]; k < p->w_start[i + 1]; k++)
            for (int x = 0; x < d; x++)
                for (int z = 0; z < d; z++) {
                    const int64_t row = (int64_t)d * i + x, col = (int64_t)d * p->w_col[k] + z;
                    const double half = 0.5 * p->w_block[(k * d + x) * d + z];
                    out[row] -= half * y[col];
                    out[col] += half * y[row];
                }
}

static void admm_system(admm *s, double *x) {
    const talus_status status =
        isnan(s->factored) ? TALUS_ERR_SINGULAR : tl_spd_solve(s->spd, 1, x);
    for (int32_t k = 0; k < s->matrix.rows && status != TALUS_OK; k++) x[k] = NAN;
}

// v and a = A v + b of the quadratic part.
static void admm_quadratic(admm *s, const double *y, const double *u, const double *old, double *v,
                           double *a) {
    tl_primal *primal = &s->primal;
    const talus_problem *p = primal->dual.w.problem;
    const admm_options *opt = primal->dual.base.options;
    const double rho = s->primal.gamma, epsilon = opt->proximal, *omega = primal->omega;
    if (primal->velocities) {
        double *t = primal->work[1], *z = primal->work[2];
        for (int64_t k = 0; k < primal->stack; k++) t[k] = y[k] + rho / omega[k] * (u[k] - s->b[k]);
        tl_primal_force(primal, t, v);
        for (int64_t k = 0; k < primal->n; k++) v[k] += primal->f[k];
        if (epsilon > 0.0) {
            tl_primal_momentum(primal, old, z);
            for (int64_t k = 0; k < primal->n; k++) v[k] += epsilon * (z[k] + primal->f[k]);
        }
        admm_system(s, v);
        tl_primal_velocity(primal, v, a);
        return;
    }
    for (int64_t k = 0; k < primal->n; k++)
        v[k] = u[k] - s->b[k] + omega[k] / rho * (y[k] + epsilon * old[k]);
    if (p->asymmetry > ADMM_ASYMMETRY) admm_subtract_skew(p, y, v);
    admm_system(s, v);
    for (int64_t k = 0; k < primal->n; k++)
        a[k] = u[k] + omega[k] / rho * (y[k] + epsilon * old[k] - (1.0 + epsilon) * v[k]);
}

static bool admm_step(tl_primal *primal, const double *from, double *to) {
    admm *s = (admm *)primal;
    const admm_options *opt = primal->dual.base.options;
    const double *y = from + tl_primal_stacked(primal, ADMM_Y);
    const double *u = from + tl_primal_stacked(primal, ADMM_U);
    double *next_y = to + tl_primal_stacked(primal, ADMM_Y);
    double *next_u = to + tl_primal_stacked(primal, ADMM_U);
    double *a = primal->work[0], *relaxed = primal->work[1];
    admm_quadratic(s, y, u, from + tl_primal_spaced(primal, 0), to + tl_primal_spaced(primal, 0),
                   a);
    for (int64_t k = 0; k < primal->stack; k++)
        relaxed[k] = opt->relaxation * a[k] + (1.0 - opt->relaxation) * u[k];
    tl_primal_project(primal, s->primal.gamma, y, relaxed, next_y, next_u);
    if (!tl_penalty_due(&s->penalty, primal)) return false;
    double *trial = primal->work[1]; // the impulses that v belongs to
    for (int64_t k = 0; k < primal->stack; k++)
        trial[k] = y[k] + primal->gamma / primal->omega[k] * (u[k] - a[k]);
    const double factor =
        tl_penalty_factor(&s->penalty, primal, trial, a, u, next_y, next_u, primal->work[2]);
    if (factor == 1.0) return false;
    primal->gamma *= factor;
    admm_factor(s);
    return true;
}

static void admm_solve(talus_solver *base, double *r, talus_solve_info *info) {
    admm *s = (admm *)base;
    const admm_options *opt = base->options;
    s->primal.gamma = s->first;
    tl_penalty_begin(&s->penalty);
    admm_factor(s);
    tl_primal_loop(&s->primal, r, info, opt->accelerate, admm_step);
}

const tl_solver_ops tl_admm_ops = {.name = "admm",
                                   .summary = "alternating directions, one sparse system factored",
                                   .size = sizeof(admm),
                                   .options_size = sizeof(admm_options),
                                   .options = admm_rows,
                                   .rows = true,
                                   .prepare = admm_prepare,
                                   .solve = admm_solve,
                                   .clear = admm_clear};
