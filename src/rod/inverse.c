// SPDX-License-Identifier: Apache-2.0
// The friction problem of an inverse (inverse.h). ε r comes in by a group of three unknowns for
// each contact, of mass 1/ε and moved by nothing but r: u = … + z, z / ε = r.
#include "rod/inverse.h"
#include "base/context.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct inverse_arrays {
    int32_t *body_start, *body;
    int64_t *row_start;
    double *mass, *f, *block, *v;
    double epsilon;
} inverse_arrays;

static int32_t inverse_size(const tl_inverse *in, int32_t rod) {
    return in->start[rod + 1] - in->start[rod];
}

static int64_t inverse_values(const tl_inverse *in) {
    int64_t values = 0;
    for (int64_t e = 0; e < in->row_start[in->contacts]; e++)
        values += 3 * (int64_t)inverse_size(in, in->rod[e]);
    return values;
}

static talus_status inverse_alloc(talus_context *ctx, const tl_inverse *in, inverse_arrays *a) {
    const int64_t strains = in->start[in->rods], n = in->contacts, blocks = in->row_start[n];
    TL_TRY(TL_ALLOC(ctx, in->rods + n + 1, &a->body_start));
    TL_TRY(TL_ALLOC(ctx, blocks + n, &a->body));
    TL_TRY(TL_ALLOC(ctx, n + 1, &a->row_start));
    TL_TRY(TL_ALLOC(ctx, strains + 3 * n, &a->mass));
    TL_TRY(TL_ALLOC(ctx, strains + 3 * n, &a->f));
    TL_TRY(TL_ALLOC(ctx, strains + 3 * n, &a->v));
    return TL_ALLOC(ctx, inverse_values(in) + 9 * n, &a->block);
}

// Rows of H K⁻¹, each followed by the identity on the contact's own group; ε from their squares.
static void inverse_fill_rows(const tl_inverse *in, inverse_arrays *a) {
    const double *from = in->block;
    double *to = a->block, square = 0.0;
    int64_t at = 0;
    for (int32_t i = 0; i < in->contacts; i++) {
        for (int64_t e = in->row_start[i]; e < in->row_start[i + 1]; e++) {
            const int32_t first = in->start[in->rod[e]], size = inverse_size(in, in->rod[e]);
            for (int64_t k = 0; k < 3 * (int64_t)size; k++) {
                to[k] = from[k] / in->stiffness[first + k % size];
                square += to[k] * to[k];
            }
            from += 3 * (int64_t)size;
            to += 3 * (int64_t)size;
            a->body[at++] = in->rod[e];
        }
        for (int k = 0; k < 9; k++) to[k] = k % 4 == 0;
        to += 9;
        a->body[at++] = in->rods + i;
        a->row_start[i + 1] = at;
    }
    a->epsilon = in->regular * square / fmax(3.0 * in->contacts, 1.0);
}

static void inverse_fill(const tl_inverse *in, inverse_arrays *a) {
    const int32_t strains = in->start[in->rods];
    inverse_fill_rows(in, a);
    for (int32_t i = 0; i <= in->rods; i++) a->body_start[i] = in->start[i];
    for (int32_t i = 0; i < in->contacts; i++)
        a->body_start[in->rods + i + 1] = strains + 3 * (i + 1);
    for (int32_t k = 0; k < strains; k++) {
        a->mass[k] = 1.0;
        a->f[k] = in->wished[k] - in->strain[k] + in->weight[k] / in->stiffness[k];
    }
    for (int32_t k = strains; k < strains + 3 * in->contacts; k++) a->mass[k] = 1.0 / a->epsilon;
}

static talus_status inverse_run(talus_context *ctx, const tl_inverse *in, const talus_problem *p,
                                double *r, tl_inverse_info *info) {
    talus_solver *solver = NULL;
    talus_solve_info solved;
    talus_certificate verdict;
    talus_status status;
    char text[64];
    TL_GOTO(talus_solver_create(ctx, in->solver, &solver));
    (void)snprintf(text, sizeof text, "%.17g", in->tolerance);
    TL_GOTO(talus_solver_set(solver, "tolerance", text));
    (void)snprintf(text, sizeof text, "%d", (int)in->iterations);
    TL_GOTO(talus_solver_set(solver, "iterations", text));
    TL_GOTO(talus_solver_prepare(solver, p));
    TL_GOTO(talus_solver_solve(solver, r, &solved));
    TL_GOTO(talus_certify(p, r, &verdict));
    info->outcome = solved.outcome;
    info->iterations = solved.iterations;
    info->residual = verdict.residual;
done:
    talus_solver_destroy(solver);
    return status;
}

static double inverse_mean(int32_t n, const double *y) {
    double sum = 0.0;
    for (int32_t k = 0; k < n; k++) sum += y[k] * y[k];
    return sqrt(sum / fmax(n, 1.0));
}

talus_status tl_inverse_solve(talus_context *ctx, const tl_inverse *in, double *natural, double *r,
                              tl_inverse_info *info) {
    const int32_t strains = in->start[in->rods];
    inverse_arrays a = {0};
    talus_problem *problem = NULL;
    talus_status status;
    *info = (tl_inverse_info){.outcome = TALUS_OUTCOME_SOLVED};
    TL_GOTO(inverse_alloc(ctx, in, &a));
    inverse_fill(in, &a);
    info->alone = inverse_mean(strains, a.f);
    memcpy(a.v, a.f, (size_t)strains * sizeof *a.v);
    if (in->contacts > 0 && a.epsilon > 0.0) {
        const talus_global_def def = {.dim = 3,
                                      .count = in->contacts,
                                      .body_count = in->rods + in->contacts,
                                      .body_start = a.body_start,
                                      .mass_diagonal = a.mass,
                                      .h_row_start = a.row_start,
                                      .h_body = a.body,
                                      .h_block = a.block,
                                      .f = a.f,
                                      .w = a.v + strains, // zeros
                                      .law = {.law = TALUS_LAW_ASSOCIATED, .mu = in->mu}};
        TL_GOTO(talus_problem_create_global(ctx, &def, &problem));
        TL_GOTO(inverse_run(ctx, in, problem, r, info));
        TL_GOTO(talus_problem_state(problem, r, a.v, NULL, NULL));
    }
    info->change = inverse_mean(strains, a.v);
    for (int32_t k = 0; k < strains; k++) natural[k] = in->wished[k] - a.v[k];
done:
    talus_problem_destroy(problem);
    void *const owned[] = {a.body_start, a.body, a.row_start, a.mass, a.f, a.block, a.v};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    return status;
}
