// SPDX-License-Identifier: Apache-2.0
// The discrete Coulomb friction problem: made, taken apart, and the state that follows from r.
// Making a problem costs the factors of M and of the constraint rows (setup_seconds); after that
// every state is a few sparse products and triangular solves, without any allocation.
#include "base/thread.h"
#include "base/timer.h"
#include "problem/check.h"
#include "problem/condense.h"
#include "problem/eliminate.h"
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include <math.h>
#include <string.h>

void talus_problem_destroy(talus_problem *p) {
    if (!p) return;
    talus_context *ctx = p->ctx;
    void *const owned[] = {
        p->own.mu,         p->own.dilatancy, p->own.yield,   p->own.tension, p->q,
        p->w_start,        p->w_col,         p->w_block,     p->given_start, p->given_col,
        p->given_block,    p->given_q,       p->own.h_start, p->own.h_body,  p->h_offset,
        p->own.h,          p->own.f,         p->own.w,       p->k,           p->work.v,
        p->work.force,     p->work.momentum, p->work.u,      p->work.lambda, p->work.column,
        p->work.stiffness, p->work.block,    p->work.loads,  p->work.part};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) tl_free(ctx, owned[i]);
    tl_condensed_destroy(ctx, p->condensed);
    tl_elimination_destroy(ctx, p->elimination);
    tl_csr_clear(ctx, &p->c);
    tl_csr_clear(ctx, &p->p);
    tl_mass_destroy(p->mass);
    tl_free(ctx, p->own.body_start); // after the mass, which borrows it
    tl_free(ctx, p);
}

static bool problem_all_zero(const double *x, int32_t count) {
    for (int32_t i = 0; x && i < count; i++)
        if (x[i] != 0.0) return false;
    return true;
}

// A copy in `own`, or the caller's numbers themselves.
static talus_status problem_keep(talus_problem *p, bool borrow, const double *x, int64_t count,
                                 double **own, const double **out) {
    TL_TRY(TL_REFILL(p->ctx, borrow ? NULL : x, count, own));
    *out = borrow ? x : *own;
    return TALUS_OK;
}

// A parameter that is zero everywhere is not kept.
static talus_status problem_keep_parameter(talus_problem *p, bool borrow, const double *x,
                                           double **own, const double **out) {
    return problem_keep(p, borrow, problem_all_zero(x, p->count) ? NULL : x, p->count, own, out);
}

static talus_status problem_keep_law(talus_problem *p, bool borrow, const talus_law_view *law) {
    static const double none[1] = {0.0}; // of an empty problem, which may come without
    const double *mu = p->count > 0 ? law->mu : none;
    tl_problem_own *own = &p->own;
    p->law = law->law;
    TL_TRY(problem_keep(p, borrow, mu, p->count, &own->mu, &p->mu));
    TL_TRY(problem_keep_parameter(p, borrow, law->dilatancy, &own->dilatancy, &p->dilatancy));
    TL_TRY(problem_keep_parameter(p, borrow, law->yield, &own->yield, &p->yield));
    return problem_keep_parameter(p, borrow, law->tension, &own->tension, &p->tension);
}

// Starts of compressed rows; an empty problem may come without the array.
static talus_status problem_copy_starts(talus_context *ctx, const int64_t *start, int32_t rows,
                                        int64_t **out) {
    TL_TRY(TL_RESERVE(ctx, (int64_t)rows + 1, out));
    (*out)[0] = 0;
    if (rows > 0) memcpy(*out, start, ((size_t)rows + 1) * sizeof *start);
    return TALUS_OK;
}

void tl_problem_rest(talus_problem *p, bool state) {
    tl_free(p->ctx, p->work.force);
    tl_free(p->ctx, p->work.stiffness);
    p->work.force = p->work.stiffness = NULL;
    p->work.rests = true;
    if (!state) return;
    tl_free(p->ctx, p->work.v);
    tl_free(p->ctx, p->work.u);
    p->work.v = p->work.u = NULL;
}

void tl_problem_take_back(talus_problem *p, talus_status (*lend)(void *lender), void *lender) {
    p->f = p->w = NULL;
    p->lend = lend;
    p->lender = lender;
}

void tl_problem_lend(talus_problem *p, const double *f, const double *w) {
    p->f = f;
    p->w = w;
    p->lend = NULL;
}

talus_status tl_problem_wake(const talus_problem *of) {
    talus_problem *p = (talus_problem *)of; // scratch: the problem stays the same
    if (p->lend) TL_TRY(p->lend(p->lender));
    if (!p->work.rests) return TALUS_OK;
    TL_TRY(TL_RESERVE(p->ctx, tl_certify_part_count(p->count), &p->work.part));
    TL_TRY(TL_RESERVE(p->ctx, p->dof, &p->work.v));
    TL_TRY(TL_RESERVE(p->ctx, p->dof, &p->work.force));
    TL_TRY(TL_RESERVE(p->ctx, (int64_t)p->dim * p->count, &p->work.u));
    TL_TRY(TL_RESERVE(p->ctx, p->count, &p->work.stiffness));
    for (int32_t i = 0; i < p->count; i++) p->work.stiffness[i] = NAN;
    p->work.rests = false;
    return TALUS_OK;
}

static talus_status problem_finish(talus_problem *p) {
    p->work.rests = true;
    TL_TRY(tl_problem_wake(p));
    if (p->is_global && (p->constraint_count > 0 || !tl_mass_diagonal(p->mass)))
        TL_TRY(TL_RESERVE(p->ctx, p->dof, &p->work.momentum));
    TL_TRY(TL_RESERVE(p->ctx, p->constraint_count, &p->work.lambda));
    int32_t largest = 0;
    for (int32_t b = 0; b < p->body_count; b++)
        largest = TL_MAX(p->body_start[b + 1] - p->body_start[b], largest);
    p->body_size = p->largest = largest;
    for (int32_t b = 0; b < p->body_count; b++)
        if (p->body_start[b + 1] - p->body_start[b] != largest) p->body_size = 0;
    if (p->threads > 1) TL_TRY(tl_team_reserve(p->ctx, p->threads));
    TL_TRY(TL_RESERVE(p->ctx, (int64_t)p->dim * largest * TL_MAX(1, p->threads), &p->work.column));
    if (p->is_global && p->constraint_count > 0) {
        int64_t most = 0;
        for (int32_t i = 0; i < p->count; i++)
            most = TL_MAX(p->h_offset[p->h_start[i + 1]] - p->h_offset[p->h_start[i]], most);
        TL_TRY(TL_RESERVE(p->ctx, most, &p->work.block));
        TL_TRY(TL_RESERVE(p->ctx, 2 * (int64_t)p->dim * p->constraint_count, &p->work.loads));
    }
    return TALUS_OK;
}

static void problem_set_q_norm(talus_problem *p) {
    double sum = 0.0;
    for (int64_t k = 0; k < (int64_t)p->dim * p->count; k++) sum += p->q[k] * p->q[k];
    p->q_norm = sqrt(sum);
}

// Constraint rows of the local form: W and q as given move aside, the eliminated ones replace them.
static talus_status problem_local_constraints(talus_problem *p, const talus_local_def *def) {
    talus_status status = TALUS_OK;
    const tl_csr_names b_names = {"B", "row", "column"}, p_names = {"P", "row", "column"};
    const int32_t m = def->p.rows;
    tl_csr b = {0};
    p->constraint_count = m;
    TL_GOTO(tl_csr_create(p->ctx, &b_names, def->b.rows, m, def->b.start, def->b.index,
                          def->b.value, &b));
    TL_GOTO(tl_csr_transpose(p->ctx, &b, &p->c));
    TL_GOTO(tl_csr_create(p->ctx, &p_names, m, m, def->p.start, def->p.index, def->p.value, &p->p));
    TL_GOTO(TL_COPY(p->ctx, def->c, m, &p->k));
    TL_GOTO(TL_COPY(p->ctx, p->q, (int64_t)p->dim * p->count, &p->given_q));
    p->given_start = p->w_start;
    p->given_col = p->w_col;
    p->given_block = p->w_block;
    p->w_start = NULL;
    p->w_col = NULL;
    p->w_block = NULL;
    TL_GOTO(tl_eliminate_local(p, &b));
done:
    tl_csr_clear(p->ctx, &b);
    return status;
}

static talus_status problem_fill_local(talus_problem *p, const talus_local_def *def) {
    const int32_t n = def->count, area = def->dim * def->dim;
    const int64_t blocks = n > 0 ? def->row_start[n] : 0;
    p->dim = def->dim;
    p->count = n;
    TL_TRY(problem_keep_law(p, false, &def->law));
    TL_TRY(problem_copy_starts(p->ctx, def->row_start, n, &p->w_start));
    TL_TRY(TL_COPY(p->ctx, def->col, blocks, &p->w_col));
    TL_TRY(TL_COPY(p->ctx, def->block, blocks * area, &p->w_block));
    TL_TRY(TL_COPY(p->ctx, def->q, (int64_t)p->dim * n, &p->q));
    const double begin = tl_seconds();
    if (def->b.rows > 0 && def->p.rows > 0) TL_TRY(problem_local_constraints(p, def));
    p->setup_seconds = tl_seconds() - begin;
    TL_TRY(tl_check_w(p));
    problem_set_q_norm(p);
    return problem_finish(p);
}

// The end of a creation: p goes to the caller, or to nobody.
static talus_status problem_hand_over(talus_problem *p, talus_status status, talus_problem **out) {
    if (status == TALUS_OK)
        *out = p;
    else
        talus_problem_destroy(p);
    return status;
}

talus_status talus_problem_create_local(talus_context *ctx, const talus_local_def *def,
                                        talus_problem **out) {
    *out = NULL;
    TL_TRY(tl_check_local(ctx, def));
    talus_problem *p;
    TL_TRY(TL_ALLOC(ctx, 1, &p));
    p->ctx = ctx;
    return problem_hand_over(p, problem_fill_local(p, def), out);
}

// Bodies and the bodies of each contact.
static talus_status problem_keep_pattern(talus_problem *p, const talus_global_def *def) {
    static const int64_t no_rows[1] = {0};
    static const int32_t no_bodies[1] = {0};
    const int64_t *start = p->count > 0 ? def->h_row_start : no_rows;
    const int32_t *bodies = p->body_count > 0 ? def->body_start : no_bodies;
    const bool borrow = def->borrow_all;
    tl_problem_own *own = &p->own;
    TL_TRY(TL_REFILL(p->ctx, borrow ? NULL : bodies, (int64_t)p->body_count + 1, &own->body_start));
    TL_TRY(TL_REFILL(p->ctx, borrow ? NULL : start, (int64_t)p->count + 1, &own->h_start));
    TL_TRY(TL_REFILL(p->ctx, borrow ? NULL : def->h_body, start[p->count], &own->h_body));
    p->body_start = borrow ? bodies : own->body_start;
    p->h_start = borrow ? start : own->h_start;
    p->h_body = borrow ? def->h_body : own->h_body;
    p->dof = p->body_start[p->body_count];
    return TALUS_OK;
}

static talus_status problem_lay_h(talus_problem *p) {
    const int64_t blocks = p->h_start[p->count];
    TL_TRY(TL_RESERVE(p->ctx, blocks + 1, &p->h_offset));
    p->h_offset[0] = 0;
    for (int64_t k = 0; k < blocks; k++) {
        const int32_t b = p->h_body[k], size = p->body_start[b + 1] - p->body_start[b];
        p->h_offset[k + 1] = p->h_offset[k] + (int64_t)p->dim * size;
    }
    return TALUS_OK;
}

talus_status tl_problem_write_h(const talus_problem *of) {
    talus_problem *p = (talus_problem *)of; // a cache: the problem stays the same
    if (!p->is_global || p->h_block || !p->balls.normal) return TALUS_OK;
    TL_TRY(problem_lay_h(p));
    TL_TRY(TL_RESERVE(p->ctx, p->h_offset[p->h_start[p->count]], &p->own.h));
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++)
            tl_ball_block(&p->balls, i, k, k > p->h_start[i], p->own.h + p->h_offset[k]);
    p->h_block = p->own.h;
    return TALUS_OK;
}

// Balls that are not borrowed, or that constraint rows are to be eliminated from, are written out.
static talus_status problem_keep_h(talus_problem *p, const talus_global_def *def) {
    const bool compact = def->balls.normal && def->borrow_h && def->c.rows == 0;
    const bool unused = !p->h_block; // else the next solver will want the memory again
    p->balls = def->balls;
    p->h_block = NULL;
    if (compact && unused) {
        tl_free(p->ctx, p->h_offset);
        tl_free(p->ctx, p->own.h);
        p->h_offset = NULL;
        p->own.h = NULL;
    }
    if (compact) return TALUS_OK;
    if (def->balls.normal) {
        TL_TRY(tl_problem_write_h(p));
        p->balls = (talus_ball_rows){0};
        return TALUS_OK;
    }
    TL_TRY(problem_lay_h(p));
    return problem_keep(p, def->borrow_h, def->h_block, p->h_offset[p->h_start[p->count]],
                        &p->own.h, &p->h_block);
}

static talus_status problem_set_mass(talus_problem *p, const talus_global_def *def) {
    if (def->mass_diagonal)
        return tl_mass_set_diagonal(p->ctx, p->body_count, p->body_start, def->mass_diagonal,
                                    def->borrow_all, &p->mass);
    if (def->mass_block || p->dof == 0)
        return tl_mass_set_blocks(p->ctx, p->body_count, p->body_start, def->mass_band,
                                  def->mass_block, &p->mass);
    return tl_mass_set_sparse(p->ctx, p->body_count, p->body_start, &def->mass, &p->mass);
}

static talus_status problem_global_constraints(talus_problem *p, const talus_global_def *def) {
    const tl_csr_names names = {"C", "row", "column"};
    tl_elimination_destroy(p->ctx, p->elimination);
    p->elimination = NULL;
    tl_csr_clear(p->ctx, &p->c);
    p->constraint_count = 0;
    if (def->c.rows == 0) return TALUS_OK;
    TL_TRY(tl_csr_create(p->ctx, &names, def->c.rows, p->dof, def->c.start, def->c.index,
                         def->c.value, &p->c));
    p->constraint_count = def->c.rows;
    p->dependent = def->c_dependent;
    TL_TRY(TL_REFILL(p->ctx, def->k, def->c.rows, &p->k));
    return tl_eliminate_global(p);
}

// Into the memory that is there, as far as it goes.
static talus_status problem_fill_global(talus_problem *p, const talus_global_def *def) {
    const int64_t size = (int64_t)def->dim * def->count;
    p->dim = def->dim;
    p->count = def->count;
    p->is_global = true;
    p->body_count = def->body_count;
    p->threads = def->threads;
    p->scale = def->scale;
    TL_TRY(problem_keep_pattern(p, def));
    TL_TRY(problem_keep_law(p, def->borrow_all, &def->law));
    TL_TRY(problem_keep_h(p, def));
    p->lend = NULL;
    TL_TRY(problem_keep(p, def->borrow_all, def->f, p->dof, &p->own.f, &p->f));
    TL_TRY(problem_keep(p, def->borrow_all, def->w, size, &p->own.w, &p->w));
    const double begin = tl_seconds();
    TL_TRY(problem_set_mass(p, def));
    TL_TRY(problem_global_constraints(p, def));
    TL_TRY(problem_finish(p));
    TL_TRY(TL_RESERVE(p->ctx, size, &p->q));
    if (size > 0) memset(p->q, 0, (size_t)size * sizeof *p->q);
    TL_TRY(talus_problem_state(p, p->q, NULL, p->work.u, NULL)); // q is still 0: u at r = 0
    if (size > 0) memcpy(p->q, p->work.u, (size_t)size * sizeof *p->q);
    TL_TRY(tl_condense(p, p->work.v, def->held));
    p->setup_seconds = tl_seconds() - begin;
    problem_set_q_norm(p);
    return TALUS_OK;
}

talus_status talus_problem_create_global(talus_context *ctx, const talus_global_def *def,
                                         talus_problem **out) {
    *out = NULL;
    TL_TRY(tl_check_global(ctx, def));
    talus_problem *p;
    TL_TRY(TL_ALLOC(ctx, 1, &p));
    p->ctx = ctx;
    return problem_hand_over(p, problem_fill_global(p, def), out);
}

talus_status talus_problem_update_global(talus_problem *p, const talus_global_def *def) {
    TL_REQUIRE(p->ctx, p->is_global, TALUS_ERR_ARG,
               "a problem of the local form cannot be updated: create another one");
    TL_TRY(tl_check_global(p->ctx, def));
    p->broken = false; // or its state could not be computed
    const talus_status status = problem_fill_global(p, def);
    p->broken = status != TALUS_OK;
    return status;
}

talus_status tl_problem_usable(const talus_problem *p) {
    TL_REQUIRE(p->ctx, !p->broken, TALUS_ERR_ARG,
               "the last update of this problem failed: update it again, or destroy it");
    return TALUS_OK;
}

void talus_problem_set_law(talus_problem *p, talus_law law) {
    p->law = law;
    if (p->condensed) tl_condensed_set_law(p->condensed, law);
}

talus_problem_info talus_problem_get_info(const talus_problem *p) {
    return (talus_problem_info){.dim = p->dim,
                                .count = p->count,
                                .dof = p->dof,
                                .constraints = p->constraint_count,
                                .is_global = p->is_global,
                                .q_norm = p->q_norm,
                                .asymmetry = p->asymmetry,
                                .setup_seconds = p->setup_seconds};
}

bool tl_problem_is_separable(const talus_problem *p) {
    return p->is_global && p->constraint_count == 0 && tl_mass_is_block_diagonal(p->mass);
}

void tl_problem_solve_body(const talus_problem *p, int32_t body, int32_t columns, double *x) {
    tl_mass_solve_body(p->mass, body, columns, x, p->body_start[body + 1] - p->body_start[body]);
}

talus_status tl_problem_response_many(const talus_problem *p, int32_t columns, double *x) {
    if (p->constraint_count > 0) return tl_eliminate_response(p, columns, x);
    return tl_mass_solve(p->mass, columns, x);
}

talus_status tl_problem_response(const talus_problem *p, double *x) {
    return tl_problem_response_many(p, 1, x);
}

// size: of all bodies, where the compiler knows it; else 0.
TL_INLINE void problem_add_force(int d, int known, const talus_problem *p, const double *r,
                                 double *y) {
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
            const int32_t b = p->h_body[k], first = p->body_start[b];
            const int32_t size = known > 0 ? known : p->body_start[b + 1] - first;
            double room[TL_BALL_BLOCK];
            const double *h = tl_problem_h(p, i, k, room);
            double *yb = y + first;
            for (int32_t x = 0; x < d; x++)
                for (int32_t e = 0; e < size; e++)
                    yb[e] += h[(int64_t)x * size + e] * r[(int64_t)i * d + x];
        }
}

TL_INLINE void problem_add_velocity(int d, int known, const talus_problem *p, const double *v,
                                    double *y) {
    for (int32_t i = 0; i < p->count; i++)
        for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
            const int32_t b = p->h_body[k], first = p->body_start[b];
            const int32_t size = known > 0 ? known : p->body_start[b + 1] - first;
            double room[TL_BALL_BLOCK];
            const double *h = tl_problem_h(p, i, k, room), *vb = v + first;
            for (int32_t x = 0; x < d; x++) {
                double sum = 0.0;
                for (int32_t e = 0; e < size; e++) sum += h[(int64_t)x * size + e] * vb[e];
                y[(int64_t)i * d + x] += sum;
            }
        }
}

// Rigid bodies in space and in the plane have loops of their own.
void tl_problem_add_force(const talus_problem *p, const double *r, double *y) {
    if (p->dim == 3 && p->body_size == 6)
        problem_add_force(3, 6, p, r, y);
    else if (p->dim == 2 && p->body_size == 3)
        problem_add_force(2, 3, p, r, y);
    else
        problem_add_force(p->dim, 0, p, r, y);
}

void tl_problem_add_velocity(const talus_problem *p, const double *v, double *y) {
    if (p->dim == 3 && p->body_size == 6)
        problem_add_velocity(3, 6, p, v, y);
    else if (p->dim == 2 && p->body_size == 3)
        problem_add_velocity(2, 3, p, v, y);
    else
        problem_add_velocity(p->dim, 0, p, v, y);
}

const double *tl_problem_w_block(const talus_problem *p, int32_t i, int32_t j) {
    const int64_t end = p->w_start[i + 1], k = tl_lower_bound(p->w_col, p->w_start[i], end, j);
    return k < end && p->w_col[k] == j ? p->w_block + k * p->dim * p->dim : NULL;
}

// u = W r + q; λ = −P⁻¹(c + Bᵀ r)
static talus_status problem_state_local(const talus_problem *p, const double *r, double *u,
                                        double *lambda) {
    const int32_t d = p->dim;
    for (int32_t i = 0; u && i < p->count; i++) {
        double *ui = u + (int64_t)i * d;
        for (int32_t x = 0; x < d; x++) ui[x] = p->q[(int64_t)i * d + x];
        for (int64_t k = p->w_start[i]; k < p->w_start[i + 1]; k++) {
            const double *w = p->w_block + k * d * d, *rj = r + (int64_t)p->w_col[k] * d;
            for (int32_t x = 0; x < d; x++)
                for (int32_t y = 0; y < d; y++) ui[x] += w[x * d + y] * rj[y];
        }
    }
    if (!lambda || p->constraint_count == 0) return TALUS_OK;
    for (int32_t l = 0; l < p->constraint_count; l++) lambda[l] = -p->k[l];
    tl_csr_add(&p->c, -1.0, r, lambda);
    return tl_eliminate_multipliers(p, lambda);
}

talus_status talus_problem_state(const talus_problem *p, const double *r, double *v, double *u,
                                 double *lambda) {
    TL_TRY(tl_problem_usable(p));
    TL_REQUIRE(p->ctx, r || p->count == 0, TALUS_ERR_ARG,
               "r is NULL, but must have dim * count = %d entries", p->dim * p->count);
    if (!p->is_global) return problem_state_local(p, r, u, lambda);
    TL_TRY(tl_problem_wake(p));
    const size_t bytes = (size_t)p->dof * sizeof *v;
    double *force = p->work.force;
    if (!v) v = p->work.v;
    if (!lambda) lambda = p->work.lambda;
    if (p->dof > 0) memcpy(force, p->f, bytes);
    tl_problem_add_force(p, r, force);
    if (p->constraint_count > 0) { // S λ = k − C M⁻¹(f + Hᵀ r)
        memcpy(v, force, bytes);
        TL_TRY(tl_mass_solve(p->mass, 1, v));
        memcpy(lambda, p->k, (size_t)p->constraint_count * sizeof *lambda);
        tl_csr_add(&p->c, -1.0, v, lambda);
        TL_TRY(tl_eliminate_multipliers(p, lambda));
        tl_csr_add_transposed(&p->c, 1.0, lambda, force);
    }
    if (p->dof > 0) memcpy(v, force, bytes);
    TL_TRY(tl_mass_solve(p->mass, 1, v));
    if (!u) return TALUS_OK;
    if (p->count > 0) memcpy(u, p->w, (size_t)p->dim * (size_t)p->count * sizeof *u);
    tl_problem_add_velocity(p, v, u);
    return TALUS_OK;
}
