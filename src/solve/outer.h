// SPDX-License-Identifier: Apache-2.0
// What solvers share that call another solver of the registry, the inner one: a view of the problem
// whose q and law they change, the inner solver prepared on it once, and limits, clock and counts
// passed on. They work with l = r + tension n, as the view does [docs/theory/outer-loops.md].
#ifndef TL_SOLVE_OUTER_H
#define TL_SOLVE_OUTER_H
#include "problem/view.h"
#include "solve/dual.h"

/// First member of the options struct of each.
typedef struct tl_outer_options {
    tl_common_options common;
    int32_t inner; // see tl_outer_inner_name
    bool warm;     // start from the r given, else from 0
} tl_outer_options;

/// Solvers that can be inner: those with `refresh`, in the order of the registry.
const char *tl_outer_inner_name(int k);
/// Choice k of them for the solver `outer`, stopping on `stop`, prepared on p.
talus_status tl_inner_create(const talus_solver *outer, int32_t k, tl_measure stop,
                             const talus_problem *p, talus_solver **out) TALUS_MUST_CHECK;
/// Let it improve r in the time that is left to the solve of s. Counts of one-contact solves are
/// added to the info of that. Returns the inner iterations.
int32_t tl_inner_solve(const tl_dual *s, talus_solver *inner, double tolerance, int32_t iterations,
                       double *r);

/// Rows of tl_outer_options, the text of `inner` given.
#define TL_OUTER_ROWS(inner_text)                                                                  \
    TL_ROW(tl_outer_options, inner, TL_OPTION_CHOICE, "nlgs", .choice = tl_outer_inner_name,       \
           .text = (inner_text)),                                                                  \
        TL_ROW(tl_outer_options, warm, TL_OPTION_YES_NO, "yes",                                    \
               .text = "start from the impulses given, else from zero")

typedef struct tl_outer {
    tl_dual dual; // laws, vectors and bookkeeping; it has no operator
    tl_problem_view view;
    talus_solver *inner;
    double *shifted; // scratch of tl_outer_velocity; NULL where there is no tension
} tl_outer;

/// Bookkeeping with `vectors` vectors, and the view, `associated` or not. The caller gives the view
/// the kind of law that it will have before tl_outer_prepare_inner.
talus_status tl_outer_prepare(talus_solver *base, const talus_problem *p, int vectors,
                              bool associated);
/// The inner solver, stopping on `stop`, on the view.
talus_status tl_outer_prepare_inner(tl_outer *s, tl_measure stop);
void tl_outer_clear(talus_solver *base);

/// The stopping measure at (l, u), where tl_dual_over has just been asked about them.
double tl_outer_measure(const tl_outer *s, const double *l, const double *u, const double *before);
/// The clock or the user wants an end.
bool tl_outer_interrupted(const tl_outer *s);
/// u = W l + q, with q of the problem, not of the view.
void tl_outer_velocity(const tl_outer *s, const double *l, double *u);
/// tl_inner_solve on l, for the view as it stands (after a `refresh` if that has changed).
int32_t tl_outer_inner(tl_outer *s, double tolerance, int32_t iterations, double *l);

#endif // TL_SOLVE_OUTER_H
