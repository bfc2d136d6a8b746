// SPDX-License-Identifier: Apache-2.0
// What Newton methods on the whole problem share: the nonsmooth equations F(u, r) = 0 of all blocks
// with u = W r + q + ε Λ (r − c), their Jacobian over the blocks that matter, and the solution of
// one linear system [docs/theory/newton.md]. Λ = diag(tr(W_ii)/d); ε > 0 makes the matrix regular
// where W is not (more contact unknowns than degrees of freedom).
#ifndef TL_SOLVE_NEWTON_H
#define TL_SOLVE_NEWTON_H
#include "linalg/block_lu.h"
#include "solve/dual.h"

typedef enum tl_newton_function { TL_NEWTON_AC, TL_NEWTON_DS, TL_NEWTON_FB } tl_newton_function;

enum { TL_NEWTON_MEMORY = 4 }; // merits a line search looks back on

typedef struct tl_newton_options {
    tl_common_options common;
    double proximal; // first ε
    int32_t sweeps;  // of nlgs before the first step
    bool warm;       // start from the r given, else from 0
} tl_newton_options;

extern const tl_option tl_newton_rows[];

typedef struct tl_newton {
    tl_dual dual;
    tl_newton_function function;
    talus_solver *nlgs; // start and fail-safe; W and the order of the rows are its
    tl_block_lu *lu;
    int64_t *start;    // the pattern of W made symmetric, columns ascending;
    int32_t *adjacent; //
    int64_t *edge;     // the block of W, or −1 where only its mirror is stored
    bool *active;      // rows whose velocity matters: F_u ≠ 0
    double *f, *fu, *fr;
    double *given;  // impulses in the order of the problem
    double damping; // ε of the matrix in hand
    // The running solve. x, u: the iterate; the others are scratch.
    double *x, *u, *centre, *direction, *moved, *trial, *trial_u, *scratch;
    double merit;                  // at x
    double past[TL_NEWTON_MEMORY]; // the last merits
    int32_t steps;                 // since tl_newton_restart
    int32_t sweeps;                // of the next call of tl_newton_sweep
} tl_newton;

talus_status tl_newton_prepare(talus_solver *base, const talus_problem *p);
/// The two halves of it: nlgs alone (`open`: that option of it), and the rest, after which `lu` is
/// NULL where its factors would take more than `most_bytes`.
talus_status tl_newton_prepare_nlgs(tl_newton *s, const talus_problem *p, bool warm, int32_t open);
talus_status tl_newton_prepare_rest(tl_newton *s, double most_bytes);
void tl_newton_clear(talus_solver *base);
/// Begin a solve at the impulses of the caller.
void tl_newton_begin(tl_newton *s, const double *r, talus_solve_info *info);
/// Proximal points from the present iterate, `sweeps` sweeps of nlgs first. True when the solve is
/// over; false after `patience` iterations that did not halve the best measure (0: never).
bool tl_newton_proximal(tl_newton *s, double eps, int32_t sweeps, int32_t patience);

/// Σ λ_i |F_i|² at (r, u) with the proximal term ε, an energy.
double tl_newton_merit(const tl_newton *s, const double *r, const double *u, double eps);
/// Make x the centre, and forget the merits of the past; or these alone.
void tl_newton_restart(tl_newton *s, double eps);
void tl_newton_forget(tl_newton *s, double eps);
/// One Newton step with line search on the equations with ε, the matrix having `damping` in place
/// of ε. False when the matrix is singular, no step length will do, or time is up.
bool tl_newton_step(tl_newton *s, double eps, double damping);
/// The stopping measure at x of the problem with the proximal term ε.
double tl_newton_left(tl_newton *s, double eps);
/// Fail-safe: s->sweeps sweeps of nlgs on x, twice as many the next time; with ε > 0 on the problem
/// with the proximal term.
void tl_newton_sweep(tl_newton *s, double eps);

#endif // TL_SOLVE_NEWTON_H
