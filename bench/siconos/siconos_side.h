// SPDX-License-Identifier: Apache-2.0
// One problem in raw form, and Siconos' NSGS on it in every set-up worth timing. Only this file's
// twin sees Siconos' headers.
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

typedef struct siconos_setup {
    int local;    ///< one-contact solver, Siconos' number; 0: the solver has none (2D)
    int error;    ///< how the stop test is evaluated, Siconos' number
    int strategy; ///< tolerance of the one-contact solver, Siconos' number
    siconos_storage storage;
} siconos_setup;

/// Set-up `index` for a problem, from 0; false past the end. The storage is left at blocks.
bool siconos_setup_at(const bench_case *c, int index, siconos_setup *out);
/// Whether the NSGS of this problem can take W in that storage (and it is not absurdly large).
bool siconos_takes(const bench_case *c, siconos_storage storage);
void siconos_setup_name(const bench_case *c, const siconos_setup *s, char *text, size_t size);

/// Siconos' form of the problem; NULL when there is no memory.
typedef struct siconos_problem siconos_problem;
siconos_problem *siconos_problem_create(const bench_case *c, const siconos_setup *s);
/// Solve from zero to Siconos' own tolerance. Returns the seconds of the solver's call alone;
/// *sweeps is what Siconos says it did.
double siconos_solve(siconos_problem *p, double tolerance, double *r, int *sweeps);

/// Monotonic clock [s]. The CPU clock of a process is too coarse for solves of microseconds.
double bench_seconds(void);

#endif // BENCH_SICONOS_SIDE_H
