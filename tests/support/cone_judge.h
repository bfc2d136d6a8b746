// SPDX-License-Identifier: Apache-2.0
// Judges the law of one block without calling src/cone: only its struct of parameters is used.
#ifndef TALUS_TESTS_CONE_JUDGE_H
#define TALUS_TESTS_CONE_JUDGE_H
#include "base/rng.h"
#include "cone/law.h"
#include "cone/local.h"

/// Fischer-Burmeister function from the eigenvalues of the Jordan square r̂∘r̂ + û∘û as they are
/// defined, in quadruple precision, where losing half the digits does no harm. mu > 0 and finite.
void judge_fb(int d, const tl_law *law, double xi, const double *u, const double *r, double *f);

/// |F_FB| / (ξ|b| + |r|), ξ = d / tr W, u = W r + b, in long double; with a yield, the distance of
/// r to P_T(r − ξ (u + g(u))) in its place. `quad`: through judge_fb, slower.
double judge_local_error(int d, const tl_local *p, const double *r, bool quad);

/// The law case by case: the largest of its violations, with u and r divided by their sizes.
double judge_cases(int d, const tl_law *law, const double *u, const double *r, double u_size,
                   double r_size);

/// Call f with d as a constant, as the library does: BY_DIM(d, tl_project, law, x, p).
#define BY_DIM(d, f, ...)                                                                          \
    do {                                                                                           \
        if ((d) == 2) f(2, __VA_ARGS__);                                                           \
        if ((d) == 3) f(3, __VA_ARGS__);                                                           \
        if ((d) == 6) f(6, __VA_ARGS__);                                                           \
    } while (0)

/// A direction in the tangent plane: e[0] = 0, |e_T| = 1.
void judge_direction(tl_rng *rng, int d, double *e);

#endif // TALUS_TESTS_CONE_JUDGE_H
