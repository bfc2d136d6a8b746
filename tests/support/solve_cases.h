// SPDX-License-Identifier: Apache-2.0
// Small random problems whose W and q are also known as dense matrices, computed without the
// library, so that a solution can be judged without it. For tests of operators and solvers.
#ifndef TALUS_TESTS_SOLVE_CASES_H
#define TALUS_TESTS_SOLVE_CASES_H
#include "talus/solver.h"

typedef enum solve_kind {
    SOLVE_LOCAL,       // W by blocks, some of them absent
    SOLVE_GLOBAL,      // M block diagonal
    SOLVE_SPARSE_MASS, // M given sparse, neighbouring bodies coupled
    SOLVE_CONSTRAINED, // M block diagonal and two constraint rows
    SOLVE_KINDS
} solve_kind;

typedef struct solve_def {
    solve_kind kind;
    int dim, count;
    double mu;           // of every contact; below 0: a different one for each, in [0, 1]
    double coupling;     // size of what couples the contacts; 0.3: mild
    double length, mass; // units: q scales with length, W with 1/mass; 0: 1
    bool associated;     //
    bool dilatancy, yield, tension; // whether the law has these
    bool rank_one;                  // local: diagonal blocks of rank one
    uint64_t seed;
} solve_def;

typedef struct solve_case {
    solve_def def;
    int dim, count, size; // size = dim * count
    int dof, rows;        // global forms
    double *m, *h, *f, *w, *c, *k;
    double *delassus, *q;
    double *mu, *zeta, *yield, *tension; // the last three NULL where absent
    double q_norm;
    talus_problem *problem;
} solve_case;

/// Make one; a failure fails the test.
void solve_case_make(talus_context *ctx, const solve_def *def, solve_case *out);
void solve_case_clear(solve_case *c);
/// The natural residual of r, by dense code.
double solve_case_natural(const solve_case *c, const double *r);
/// u = W r + q, by dense code.
void solve_case_u(const solve_case *c, const double *r, double *u);

/// A local problem from W as a dense matrix; blocks of zeros beside the diagonal are not stored. A
/// failure fails the test.
talus_problem *solve_dense(talus_context *ctx, int d, int n, const double *w, const double *q,
                           talus_law_view law);

/// Set options given as "key=value key=value"; a key that starts with '?' may be unknown.
void solve_set(talus_context *ctx, talus_solver *s, const char *options);
/// Create, set, prepare, solve from r, destroy.
talus_solve_info solve_with(talus_context *ctx, const char *solver, const char *options,
                            const talus_problem *p, double *r);
/// The natural residual of r for a problem that is only known to the library: u from
/// talus_problem_state, the law judged by verify.c. One mu for all contacts.
double solve_natural(const talus_problem *p, double mu, const double *r);
/// Zeroed room; a test without memory cannot go on.
double *solve_room(int64_t count);

#endif // TALUS_TESTS_SOLVE_CASES_H
