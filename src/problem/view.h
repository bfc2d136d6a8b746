// SPDX-License-Identifier: Apache-2.0
// A view of a problem: the same W, but q and the parameters of the law are its own, so that a
// solver prepared on it can be given a sequence of related problems. Nothing large is copied.
//
// Tension is folded in: with l = r + tension n the view's problem is u = W l + q, q being the u of
// r = −tension n, and has no tension. Solvers of the view give l.
#ifndef TL_PROBLEM_VIEW_H
#define TL_PROBLEM_VIEW_H
#include "problem/problem_impl.h"

typedef struct tl_problem_view {
    talus_problem problem; // borrows from `of` all but mu, dilatancy, yield, q and w
    const talus_problem *of;
    double *free; // dim * count: q without a shift
} tl_problem_view;

/// A view of `of`, equal to it until something is changed, and with its law unless `associated`
/// says that it shall be that. Its problem is an ordinary one, except that its `given_*` and, where
/// there is tension, v and λ of its state are those of other impulses.
talus_status tl_problem_view_init(talus_context *ctx, const talus_problem *of, bool associated,
                                  tl_problem_view *out) TALUS_MUST_CHECK;
void tl_problem_view_clear(talus_context *ctx, tl_problem_view *v);
/// Take mu, dilatancy, yield and q over from `of` again, which has changed (but not in its
/// tension). Allocates nothing.
void tl_problem_view_renew(tl_problem_view *v);
/// q = free + shift n, for one number per block. Allocates nothing.
void tl_problem_view_shift(tl_problem_view *v, const double *shift);

#endif // TL_PROBLEM_VIEW_H
