// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // strtok_r
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "support/solve_cases.h"
#include "support/verify.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *solve_room(int64_t count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

talus_problem *solve_dense(talus_context *ctx, int d, int n, const double *w, const double *q,
                           talus_law_view law) {
    int64_t *start = calloc((size_t)n + 1, sizeof *start), blocks = 0;
    int32_t *col = calloc((size_t)n * (size_t)n + 1, sizeof *col);
    double *block = solve_room((int64_t)d * n * d * n);
    assert_true(start && col);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double *to = block + blocks * d * d;
            for (int k = 0; k < d * d; k++) to[k] = w[(i * d + k / d) * d * n + j * d + k % d];
            if (i == j || verify_norm(d * d, to) > 0.0) col[blocks++] = j;
        }
        start[i + 1] = blocks;
    }
    const talus_local_def def = {
        .dim = d, .count = n, .row_start = start, .col = col, .block = block, .q = q, .law = law};
    talus_problem *p = NULL;
    if (talus_problem_create_local(ctx, &def, &p) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(ctx));
    free(start);
    free(col);
    free(block);
    return p;
}

// Symmetric positive definite n × n with eigenvalues in about [0.5, 3].
static void cases_spd(tl_rng *rng, int n, double *a, int stride) {
    double b[64];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * stride + j] = i == j ? 0.5 : 0.0;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) b[i] = tl_rng_range(rng, -1.0, 1.0) * sqrt(1.5 / n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) a[i * stride + j] += b[i] * b[j];
    }
}

static void cases_law(solve_case *c, tl_rng *rng) {
    const solve_def *def = &c->def;
    c->mu = solve_room(c->count);
    if (def->dilatancy) c->zeta = solve_room(c->count);
    if (def->yield) c->yield = solve_room(c->count);
    if (def->tension) c->tension = solve_room(c->count);
    for (int i = 0; i < c->count; i++) {
        c->mu[i] = def->mu < 0.0 ? tl_rng_unit(rng) : def->mu;
        if (c->zeta) c->zeta[i] = c->mu[i] * tl_rng_unit(rng);
        if (c->yield) c->yield[i] = def->length * def->mass * tl_rng_range(rng, 0.0, 0.5);
        if (c->tension) c->tension[i] = def->length * def->mass * tl_rng_range(rng, 0.0, 0.5);
    }
}

static talus_law_view cases_law_view(const solve_case *c) {
    return (talus_law_view){.law = c->def.associated ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB,
                            .mu = c->mu,
                            .dilatancy = c->zeta,
                            .yield = c->yield,
                            .tension = c->tension};
}

// Whether the local form has a block (i, j): all near the diagonal and a third of the others.
static bool cases_has(int i, int j) { return abs(i - j) <= 1 || (i + j) % 3 == 0; }

static void cases_local(talus_context *ctx, solve_case *c, tl_rng *rng) {
    const int d = c->dim, n = c->count, size = c->size;
    int64_t *start = calloc((size_t)n + 1, sizeof *start);
    int32_t *col = calloc((size_t)(n * n) + 1, sizeof *col);
    double *block = solve_room((int64_t)size * size), *b = solve_room(size);
    assert_non_null(start);
    assert_non_null(col);
    c->delassus = solve_room((int64_t)size * size);
    c->q = solve_room(size);
    for (int i = 0; i < n; i++) {
        double *diagonal = c->delassus + i * d * size + i * d;
        if (c->def.rank_one) { // b bᵀ, with b_N ≠ 0 so that the normal is pushed apart
            for (int k = 0; k < d; k++) b[k] = tl_rng_range(rng, 0.5, 1.0);
            for (int x = 0; x < d; x++)
                for (int y = 0; y < d; y++) diagonal[x * size + y] = b[x] * b[y];
        } else {
            cases_spd(rng, d, diagonal, size);
        }
    }
    // Couplings g gᵀ between two blocks keep W positive: they add to both diagonal blocks as well.
    for (int i = 0; i < n && !c->def.rank_one; i++)
        for (int j = i + 1; j < n; j++) {
            if (!cases_has(i, j)) continue;
            memset(b, 0, (size_t)size * sizeof *b);
            for (int k = 0; k < d; k++) {
                b[i * d + k] = tl_rng_range(rng, -1.0, 1.0);
                b[j * d + k] = tl_rng_range(rng, -1.0, 1.0);
            }
            for (int x = 0; x < size; x++)
                for (int y = 0; y < size; y++)
                    c->delassus[x * size + y] += c->def.coupling * b[x] * b[y];
        }
    for (int k = 0; k < size * size; k++) c->delassus[k] /= c->def.mass;
    for (int k = 0; k < size; k++)
        c->q[k] = c->def.length * (tl_rng_normal(rng) - (k % d == 0 ? 0.7 : 0.0));
    for (int i = 0; i < n; i++) {
        start[i + 1] = start[i];
        for (int j = 0; j < n; j++) {
            if (!cases_has(i, j)) continue;
            const int64_t e = start[i + 1]++;
            col[e] = j;
            for (int x = 0; x < d; x++)
                for (int y = 0; y < d; y++)
                    block[(e * d + x) * d + y] = c->delassus[(i * d + x) * size + j * d + y];
        }
    }
    const talus_local_def def = {.dim = d,
                                 .count = n,
                                 .row_start = start,
                                 .col = col,
                                 .block = block,
                                 .q = c->q,
                                 .law = cases_law_view(c)};
    if (talus_problem_create_local(ctx, &def, &c->problem) != TALUS_OK)
        fail_msg("%s", talus_context_last_error(ctx));
    free(start);
    free(col);
    free(block);
    free(b);
}

static void cases_operator(solve_case *c) {
    c->delassus = solve_room((int64_t)c->size * c->size);
    c->q = solve_room(c->size);
    assert_true(verify_global_operator(c->size, c->dof, c->rows, c->m, c->h, c->c, c->f, c->k, c->w,
                                       c->delassus, c->q));
}

typedef struct cases_arrays { // what a global definition points to
    int bodies;
    int32_t body_start[64], h_body[128];
    int64_t h_start[65];
    double *mass, *h;
    int64_t mass_start[256], c_start[3];
    int32_t *mass_index, c_index[256];
} cases_arrays;

static void cases_global_mass(solve_case *c, cases_arrays *a, tl_rng *rng) {
    const int bodies = a->bodies, dof = c->dof;
    for (int b = 0; b < bodies; b++) {
        const int first = a->body_start[b], n = a->body_start[b + 1] - first;
        cases_spd(rng, n, c->m + first * dof + first, dof);
        if (c->def.kind == SOLVE_SPARSE_MASS && b + 1 < bodies)
            for (int k = 0; k < n; k++) { // a weak tie to the next body; dominance is kept
                const double tie = 0.1 * tl_rng_range(rng, -1.0, 1.0);
                c->m[(first + k) * dof + first + n] += tie;
                c->m[(first + n) * dof + first + k] += tie;
            }
    }
    for (int k = 0; k < dof * dof; k++) c->m[k] *= c->def.mass;
    int64_t used = 0;
    for (int b = 0; b < bodies && c->def.kind != SOLVE_SPARSE_MASS; b++)
        for (int i = a->body_start[b]; i < a->body_start[b + 1]; i++)
            for (int j = a->body_start[b]; j < a->body_start[b + 1]; j++)
                a->mass[used++] = c->m[i * dof + j];
    for (int j = 0; j < dof && c->def.kind == SOLVE_SPARSE_MASS; j++) {
        for (int i = 0; i < dof; i++) {
            if (c->m[i * dof + j] == 0.0) continue;
            a->mass_index[used] = i;
            a->mass[used++] = c->m[i * dof + j];
        }
        a->mass_start[j + 1] = used;
    }
}

// Contact i acts on body i mod bodies, with a random block, and (but for every fifth) weakly, by
// `coupling`, on another one.
static void cases_global_rows(solve_case *c, cases_arrays *a, tl_rng *rng) {
    const int d = c->dim, dof = c->dof;
    int64_t blocks = 0, used = 0;
    for (int i = 0; i < c->count; i++) {
        const int one = i % a->bodies, two = (i * 7 + 3) % a->bodies;
        for (int b = 0; b < a->bodies; b++) {
            if (b != one && (b != two || i % 5 == 4)) continue;
            const int first = a->body_start[b], n = a->body_start[b + 1] - first;
            a->h_body[blocks++] = b;
            for (int x = 0; x < d; x++)
                for (int y = 0; y < n; y++) {
                    const double own = b == one && x == (y + i) % n ? 1.0 : 0.0;
                    const double value = own + c->def.coupling * tl_rng_range(rng, -1.0, 1.0);
                    c->h[(i * d + x) * dof + first + y] = value;
                    a->h[used++] = value;
                }
        }
        a->h_start[i + 1] = blocks;
    }
}

static void cases_global(talus_context *ctx, solve_case *c, tl_rng *rng) {
    cases_arrays *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->bodies = c->count + 1;
    assert_true(a->bodies < 64);
    for (int b = 0; b < a->bodies; b++) // bodies of two sizes
        a->body_start[b + 1] = a->body_start[b] + (c->dim == 6 || b % 3 == 2 ? 6 : 3);
    c->dof = a->body_start[a->bodies];
    assert_true(c->dof < 256);
    c->m = solve_room((int64_t)c->dof * c->dof);
    c->h = solve_room((int64_t)c->size * c->dof);
    c->f = solve_room(c->dof);
    c->w = solve_room(c->size);
    a->mass = solve_room((int64_t)c->dof * c->dof);
    a->mass_index = calloc((size_t)(c->dof * c->dof) + 1, sizeof *a->mass_index);
    a->h = solve_room(2 * (int64_t)c->size * 6);
    cases_global_mass(c, a, rng);
    cases_global_rows(c, a, rng);
    for (int k = 0; k < c->dof; k++) c->f[k] = c->def.length * c->def.mass * tl_rng_normal(rng);
    for (int k = 0; k < c->size; k++)
        c->w[k] = c->def.length * (0.3 * tl_rng_normal(rng) - (k % c->dim == 0 ? 0.7 : 0.0));
    talus_global_def def = {.dim = c->dim,
                            .count = c->count,
                            .body_count = a->bodies,
                            .body_start = a->body_start,
                            .h_row_start = a->h_start,
                            .h_body = a->h_body,
                            .h_block = a->h,
                            .f = c->f,
                            .w = c->w,
                            .law = cases_law_view(c)};
    if (c->def.kind == SOLVE_SPARSE_MASS)
        def.mass = (talus_sparse){c->dof, c->dof, a->mass_start, a->mass_index, a->mass};
    else
        def.mass_block = a->mass;
    if (c->def.kind == SOLVE_CONSTRAINED) { // every unknown once, in one of two rows
        c->rows = 2;
        c->c = solve_room(2 * (int64_t)c->dof);
        c->k = solve_room(2);
        double value[256];
        for (int k = 0; k < 2; k++) {
            c->k[k] = c->def.length * tl_rng_normal(rng);
            a->c_start[k + 1] = a->c_start[k];
            for (int j = k; j < c->dof; j += 2) {
                const int64_t e = a->c_start[k + 1]++;
                a->c_index[e] = j;
                c->c[k * c->dof + j] = value[e] = tl_rng_range(rng, -1.0, 1.0);
            }
        }
        def.c = (talus_sparse){2, c->dof, a->c_start, a->c_index, value};
        def.k = c->k;
        if (talus_problem_create_global(ctx, &def, &c->problem) != TALUS_OK)
            fail_msg("%s", talus_context_last_error(ctx));
    } else if (talus_problem_create_global(ctx, &def, &c->problem) != TALUS_OK) {
        fail_msg("%s", talus_context_last_error(ctx));
    }
    free(a->mass);
    free(a->mass_index);
    free(a->h);
    free(a);
    cases_operator(c);
}

void solve_case_make(talus_context *ctx, const solve_def *def, solve_case *out) {
    *out = (solve_case){.def = *def, .dim = def->dim, .count = def->count};
    if (out->def.length == 0.0) out->def.length = 1.0;
    if (out->def.mass == 0.0) out->def.mass = 1.0;
    out->size = def->dim * def->count;
    tl_rng rng = {.state = def->seed + 1000 * (uint64_t)def->dim + 7};
    cases_law(out, &rng);
    if (def->kind == SOLVE_LOCAL)
        cases_local(ctx, out, &rng);
    else
        cases_global(ctx, out, &rng);
    out->q_norm = verify_norm(out->size, out->q);
}

void solve_case_clear(solve_case *c) {
    double *arrays[] = {c->m,        c->h, c->f,  c->w,    c->c,     c->k,
                        c->delassus, c->q, c->mu, c->zeta, c->yield, c->tension};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
    talus_problem_destroy(c->problem);
    memset(c, 0, sizeof *c);
}

void solve_case_u(const solve_case *c, const double *r, double *u) {
    verify_local_u(c->size, c->delassus, c->q, r, u);
}

double solve_case_natural(const solve_case *c, const double *r) {
    double *u = solve_room(c->size);
    solve_case_u(c, r, u);
    const double natural = verify_natural_full(c->dim, c->count, c->mu, c->zeta, c->yield,
                                               c->tension, c->def.associated, u, r, c->q_norm);
    free(u);
    return natural;
}

void solve_set(talus_context *ctx, talus_solver *s, const char *options) {
    char text[512], *rest = text;
    assert_true(strlen(options) < sizeof text);
    memcpy(text, options, strlen(options) + 1);
    for (char *item; (item = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(item, '=');
        assert_non_null(equals);
        *equals = '\0';
        const bool optional = item[0] == '?';
        const talus_status status = talus_solver_set(s, item + (optional ? 1 : 0), equals + 1);
        if (status == TALUS_ERR_UNKNOWN && optional) continue;
        if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    }
}

talus_solve_info solve_with(talus_context *ctx, const char *solver, const char *options,
                            const talus_problem *p, double *r) {
    talus_solver *s = NULL;
    talus_solve_info info = {0};
    talus_status status = talus_solver_create(ctx, solver, &s);
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    solve_set(ctx, s, options);
    status = talus_solver_prepare(s, p);
    if (status == TALUS_OK) status = talus_solver_solve(s, r, &info);
    if (status != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    talus_solver_destroy(s);
    return info;
}

double solve_natural(const talus_problem *p, double mu, const double *r) {
    const talus_problem_info facts = talus_problem_get_info(p);
    const int64_t size = (int64_t)facts.dim * facts.count;
    double *u = solve_room(size), *all = solve_room(facts.count);
    for (int32_t i = 0; i < facts.count; i++) all[i] = mu;
    assert_int_equal(talus_problem_state(p, r, NULL, u, NULL), TALUS_OK);
    const double natural =
        verify_natural(facts.dim, facts.count, all, NULL, false, u, r, facts.q_norm);
    free(u);
    free(all);
    return natural;
}
