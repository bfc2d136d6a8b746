// SPDX-License-Identifier: Apache-2.0
// One problem in raw form, and Siconos' solvers on it in every set-up worth timing. Only
// siconos_side.c and siconos_setups.c see Siconos' headers.
#ifndef BENCH_SICONOS_SIDE_H
#define BENCH_SICONOS_SIDE_H
#include "talus/talus.h"

typedef enum bench_form {
    BENCH_LOCAL,     ///< W, q, mu stand in the file
    BENCH_GLOBAL,    ///< M, H, f, w, mu: forming W (or factoring M) is part of the time of both
    BENCH_ASSEMBLED, ///< a global problem whose W was formed beforehand, free for both
} bench_form;

/// What both solvers are given. Owned by the caller of bench_case_create.
typedef struct bench_case {
    char name[128];
    bench_form form;
    int32_t dim, count, dof;
    talus_problem *problem;
    // Block rows of W, dim × dim blocks row major.
    int64_t *w_start;
    int32_t *w_col;
    double *w_block;
    double *q, *mu; // dim * count, count
    // Global form: entries of M (both triangles) and of H (dim * count rows), and the rest.
    int64_t m_count, h_count;
    int32_t *m_row, *m_col, *h_row, *h_col;
    double *m_value, *h_value, *f, *w;
} bench_case;

/// The ways W is handed over.
typedef enum siconos_storage { SICONOS_BLOCKS, SICONOS_SPARSE, SICONOS_DENSE } siconos_storage;

/// A row of the table of methods; for NSGS also its variant (zero elsewhere).
typedef struct siconos_setup {
    int method;
    int local;    ///< one-contact solver, Siconos' number
    int error;    ///< how the stop test is evaluated, Siconos' number
    int strategy; ///< tolerance of the one-contact solver, Siconos' number
    siconos_storage storage;
} siconos_setup;

/// Set-up `index` worth a first try on a problem, from 0; false past the end. Without `all`, only
/// NSGS. Those that mostly get somewhere come first.
bool siconos_setup_at(const bench_case *c, bool all, int index, siconos_setup *out);
/// Whether the method can take W of this problem in that storage (and it is not absurdly large).
bool siconos_takes(const bench_case *c, const siconos_setup *s, siconos_storage storage);
bool siconos_setup_equal(const siconos_setup *a, const siconos_setup *b);
void siconos_setup_name(const siconos_setup *s, char *text, size_t size);
/// The name of the method alone, without variant and storage.
const char *siconos_method_name(const siconos_setup *s);
/// Siconos' options for the set-up; free with its solver_options_delete.
struct SolverOptions *siconos_setup_options(const siconos_setup *s, double tolerance);

/// Siconos' form of the problem; NULL when there is no memory.
typedef struct siconos_problem siconos_problem;
siconos_problem *siconos_problem_create(const bench_case *c, const siconos_setup *s);
/// Solve from zero to Siconos' own tolerance. Returns the seconds of the solver's call alone;
/// *iterations is what Siconos says it did.
double siconos_solve(siconos_problem *p, double tolerance, double *r, int *iterations);

/// Monotonic clock [s]. The CPU clock of a process is too coarse for solves of microseconds.
double bench_seconds(void);

#endif // BENCH_SICONOS_SIDE_H
