// SPDX-License-Identifier: Apache-2.0
// Siconos' side of the comparison: its matrices and its drivers.
//
// Siconos writes the global form as M v = H r + q, u = Hᵀ v + b with H of size dof × dim n, the
// local one as u = M r + q: q and b are our f and w, its H is our Hᵀ.
#define _GNU_SOURCE
#include "siconos_side.h"
#include <FrictionContactProblem.h>
#include <GlobalFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct siconos_problem {
    const bench_case *c;
    siconos_setup setup;
    FrictionContactProblem local;
    double *u, *v;
};

double bench_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// W by blocks, as Siconos keeps it: cumulated sizes, blocks column major.
static NumericsMatrix *matrix_blocks(const bench_case *c) {
    const unsigned n = (unsigned)c->count, d = (unsigned)c->dim;
    const size_t blocks = (size_t)c->w_start[n];
    SparseBlockStructuredMatrix *m = SBM_new();
    m->nbblocks = (unsigned)blocks;
    m->blocknumber0 = m->blocknumber1 = n;
    m->blocksize0 = malloc(n * sizeof(unsigned));
    m->blocksize1 = malloc(n * sizeof(unsigned));
    for (unsigned i = 0; i < n; i++) m->blocksize0[i] = m->blocksize1[i] = d * (i + 1);
    m->filled1 = n + 1;
    m->filled2 = blocks;
    m->index1_data = malloc((n + 1) * sizeof(size_t));
    m->index2_data = malloc((blocks + 1) * sizeof(size_t));
    m->block = malloc((blocks + 1) * sizeof(double *));
    double *value = malloc((blocks + 1) * d * d * sizeof *value);
    for (unsigned i = 0; i <= n; i++) m->index1_data[i] = (size_t)c->w_start[i];
    for (size_t e = 0; e < blocks; e++) {
        m->index2_data[e] = (size_t)c->w_col[e];
        m->block[e] = value + e * d * d;
        for (unsigned i = 0; i < d; i++)
            for (unsigned j = 0; j < d; j++)
                m->block[e][j * d + i] = c->w_block[e * d * d + i * d + j];
    }
    return NM_new_SBM((int)(d * n), (int)(d * n), m);
}

static NumericsMatrix *matrix_entries(int rows, int cols, int64_t count) {
    NumericsMatrix *m = NM_create(NM_SPARSE, rows, cols);
    NM_triplet_alloc(m, count > 0 ? count : 1);
    return m;
}

static NumericsMatrix *matrix_w(const bench_case *c, siconos_storage storage) {
    const int d = c->dim, n = c->count;
    if (storage == SICONOS_BLOCKS) return matrix_blocks(c);
    NumericsMatrix *m = storage == SICONOS_DENSE
                            ? NM_create(NM_DENSE, d * n, d * n)
                            : matrix_entries(d * n, d * n, c->w_start[n] * d * d);
    if (storage == SICONOS_DENSE) memset(m->matrix0, 0, (size_t)(d * n * d * n) * sizeof(double));
    for (int r = 0; r < n; r++)
        for (int64_t e = c->w_start[r]; e < c->w_start[r + 1]; e++)
            for (int k = 0; k < d * d; k++) {
                const int i = d * r + k / d, j = d * c->w_col[e] + k % d;
                const double value = c->w_block[e * d * d + k];
                if (storage == SICONOS_DENSE)
                    m->matrix0[(size_t)(j * d * n + i)] = value;
                else if (value != 0.0)
                    NM_entry(m, i, j, value);
            }
    return m;
}

siconos_problem *siconos_problem_create(const bench_case *c, const siconos_setup *s) {
    siconos_problem *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    numerics_set_verbose(0);
    p->c = c;
    p->setup = *s;
    p->u = calloc((size_t)(c->dim * c->count) + 1, sizeof *p->u);
    p->v = calloc((size_t)c->dof + 1, sizeof *p->v);
    if (c->form == BENCH_GLOBAL) return p;
    p->local = (FrictionContactProblem){.dimension = c->dim,
                                        .numberOfContacts = c->count,
                                        .M = matrix_w(c, s->storage),
                                        .q = c->q,
                                        .mu = c->mu};
    return p;
}

// The global form is made anew for every solve: the reformulation leaves factors in M.
static GlobalFrictionContactProblem *make_global(const bench_case *c) {
    GlobalFrictionContactProblem *g = globalFrictionContactProblem_new();
    const int m = c->dim * c->count;
    g->dimension = c->dim;
    g->numberOfContacts = c->count;
    g->M = matrix_entries(c->dof, c->dof, c->m_count);
    for (int64_t e = 0; e < c->m_count; e++)
        NM_entry(g->M, c->m_row[e], c->m_col[e], c->m_value[e]);
    g->H = matrix_entries(c->dof, m, c->h_count);
    for (int64_t e = 0; e < c->h_count; e++)
        NM_entry(g->H, c->h_col[e], c->h_row[e], c->h_value[e]);
    g->q = c->f;
    g->b = c->w;
    g->mu = c->mu;
    return g;
}

static double solve_global(siconos_problem *p, SolverOptions *o, double *r) {
    GlobalFrictionContactProblem *g = make_global(p->c);
    double begin = 0.0, seconds = 0.0;
    if (p->c->dim == 3) {
        begin = bench_seconds();
        gfc3d_driver(g, r, p->u, p->v, o);
        seconds = bench_seconds() - begin;
    } else { // no driver for 2D: the same two steps by hand
        begin = bench_seconds();
        FrictionContactProblem *local = globalFrictionContact_reformulation_FrictionContact(g);
        NumericsMatrix *dense = NM_create(NM_DENSE, local->M->size0, local->M->size1);
        NM_to_dense(local->M, dense);
        FrictionContactProblem given = {.dimension = 2,
                                        .numberOfContacts = p->c->count,
                                        .M = dense,
                                        .q = local->q,
                                        .mu = p->c->mu};
        fc2d_driver(&given, r, p->u, o);
        seconds = bench_seconds() - begin;
        NM_free(dense);
    }
    NM_free(g->M);
    NM_free(g->H);
    free(g);
    return seconds;
}

double siconos_solve(siconos_problem *p, double tolerance, double *r, int *iterations) {
    const size_t m = (size_t)(p->c->dim * p->c->count);
    SolverOptions *o = siconos_setup_options(&p->setup, tolerance);
    double seconds = 0.0;
    memset(r, 0, m * sizeof *r);
    memset(p->u, 0, m * sizeof *p->u);
    memset(p->v, 0, (size_t)p->c->dof * sizeof *p->v);
    if (p->c->form == BENCH_GLOBAL) {
        seconds = solve_global(p, o, r);
    } else {
        const double begin = bench_seconds();
        if (p->c->dim == 3)
            fc3d_driver(&p->local, r, p->u, o);
        else
            fc2d_driver(&p->local, r, p->u, o);
        seconds = bench_seconds() - begin;
    }
    *iterations = o->iparam[SICONOS_IPARAM_ITER_DONE];
    solver_options_delete(o);
    return seconds;
}
