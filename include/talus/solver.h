// SPDX-License-Identifier: Apache-2.0
// Solvers of the DCFP behind one interface: create by name, set options by key, prepare, solve.
#ifndef TALUS_SOLVER_H
#define TALUS_SOLVER_H
#include "talus/problem.h"
TALUS_EXTERN_C_BEGIN

/// Every way a solve can end, in one list: X(name, text).
#define TALUS_OUTCOME_LIST(X)                                                                      \
    X(TALUS_OUTCOME_SOLVED, "solved")                                                              \
    X(TALUS_OUTCOME_ITERATION_LIMIT, "iteration limit")                                            \
    X(TALUS_OUTCOME_TIME_LIMIT, "time limit")                                                      \
    X(TALUS_OUTCOME_STALLED, "stalled")                                                            \
    X(TALUS_OUTCOME_DIVERGED, "diverged")                                                          \
    X(TALUS_OUTCOME_CANCELLED, "cancelled")                                                        \
    X(TALUS_OUTCOME_INFEASIBLE, "no solution exists")

/// Why a solve stopped. Missing the tolerance is an outcome, never an error; r is then the best
/// iterate met.
typedef enum talus_outcome {
#define TALUS_OUTCOME_ENUM(name, text) name,
    TALUS_OUTCOME_LIST(TALUS_OUTCOME_ENUM)
#undef TALUS_OUTCOME_ENUM
} talus_outcome;

TALUS_API const char *talus_outcome_text(talus_outcome outcome);

/// What a solve did: written by the solver, never read by it.
typedef struct talus_solve_info {
    talus_outcome outcome;
    int32_t iterations;     ///< sweeps, or what the solver's help calls an iteration
    double measure;         ///< the solver's own stopping measure at r
    double prepare_seconds; ///< of the last talus_solver_prepare
    double solve_seconds;   ///< of this solve
    int64_t local_solves;   ///< one-contact solves done
    int64_t local_failures; ///< of which not to the local tolerance
    int64_t local_saves;    ///< of which by the second of two one-contact solvers
    size_t memory;          ///< bytes the solver holds
} talus_solve_info;

/// Called at every check of the stopping measure.
typedef void (*talus_monitor)(void *user, int32_t iteration, double measure, double seconds);

typedef struct talus_solver talus_solver; ///< opaque; used by one thread at a time

/// Create a solver of the registry by name ("nlgs", "jacobi", …) with default options.
TALUS_API talus_status talus_solver_create(talus_context *ctx, const char *name,
                                           talus_solver **out) TALUS_MUST_CHECK;
TALUS_API void talus_solver_destroy(talus_solver *s); ///< NULL is allowed
/// Set one option by its key, e.g. ("tolerance", "1e-8"). Unknown keys and values out of range are
/// errors that name what is allowed. May be called again between solves; prepare again after it.
TALUS_API talus_status talus_solver_set(talus_solver *s, const char *key,
                                        const char *value) TALUS_MUST_CHECK;
TALUS_API void talus_solver_set_monitor(talus_solver *s, talus_monitor monitor, void *user);
/// Analyse `p`, which must outlive the solves, and size the workspace.
TALUS_API talus_status talus_solver_prepare(talus_solver *s,
                                            const talus_problem *p) TALUS_MUST_CHECK;
/// Improve `r` (in: where to start, zero if nothing is known; out: the best iterate) until an
/// outcome is reached. Allocates nothing.
TALUS_API talus_status talus_solver_solve(talus_solver *s, double *r,
                                          talus_solve_info *info) TALUS_MUST_CHECK;

/// After TALUS_OUTCOME_INFEASIBLE: impulses r, dim * count of them, |r| = 1, each in its cone, that
/// cause no motion (W r = 0) and yet resist the free one (q · r < 0), so that no velocity can be
/// allowed at all contacts: the contacts with r_i ≠ 0 contradict each other. NULL otherwise; valid
/// until the next solve, prepare or destroy.
TALUS_API const double *talus_solver_witness(const talus_solver *s);

/// One row of an option table; what is pointed to is static.
typedef struct talus_option_info {
    const char *key;
    const char *kind;    ///< "number", "integer", "yes/no" or "choice"
    const char *initial; ///< default value as text
    const char *text;    ///< one line of help
    char range[240];     ///< "(0, inf]", "[1, 1000]", or the choices separated by ", "
} talus_option_info;

/// The registry, for help pages and command lines. `index` from 0; false past the end.
TALUS_API bool talus_solver_at(int32_t index, const char **name, const char **summary);
TALUS_API bool talus_solver_option_at(const char *solver, int32_t index, talus_option_info *out);
/// One-contact solvers that "local" can name.
TALUS_API bool talus_local_solver_at(int32_t index, const char **name, const char **summary);

TALUS_EXTERN_C_END
#endif // TALUS_SOLVER_H
