// SPDX-License-Identifier: Apache-2.0
// What the solvers that tell the three cases apart share: opening and sticking, and keeping the
// better of two answers.
#ifndef TL_CONE_EXACT_H
#define TL_CONE_EXACT_H
#include "cone/local_impl.h"
#include "cone/slide.h"

enum { SLIDE_STEPS = 8 }; // refinements of one candidate; quadratic, so ample

// y = W⁻¹ x; false where W is singular and no inverse was given.
TL_INLINE bool exact_inverse(int d, const tl_local *p, const double *x, double *y) {
    if (p->inv) {
        tl_mv(d, p->inv, x, y);
        return true;
    }
    double w[TL_MAX_DIM * TL_MAX_DIM];
    for (int k = 0; k < d * d; k++) w[k] = p->w[k];
    for (int k = 0; k < d; k++) y[k] = x[k];
    return tl_small_solve(d, 1, w, y);
}

// r = −W⁻¹ b, refined once: a stored inverse alone leaves u of the size of eps cond(W) |b|.
TL_INLINE bool exact_stick(int d, const tl_local *p, double *r) {
    double u[TL_MAX_DIM], x[TL_MAX_DIM];
    if (!exact_inverse(d, p, p->b, r)) return false;
    for (int k = 0; k < d; k++) r[k] = -r[k];
    local_velocity(d, p, r, u);
    if (!exact_inverse(d, p, u, x)) return false;
    for (int k = 0; k < d; k++) r[k] -= x[k];
    return true;
}

// The cases that need no root. Returns true when r is the solution.
TL_INLINE bool exact_simple(int d, const tl_local *p, double *r) {
    const double mu = p->law.mu, zeta = p->law.zeta, *b = p->b;
    if (mu == 0.0) {
        r[0] = b[0] < 0.0 ? -b[0] / p->w[0] : 0.0;
        for (int k = 1; k < d; k++) r[k] = 0.0;
        return true;
    }
    if (b[0] >= 0.0 && !isinf(mu) && (zeta == 0.0 || b[0] >= zeta * tl_norm_t(d, b))) {
        for (int k = 0; k < d; k++) r[k] = 0.0;
        return true;
    }
    // Most contacts that do not stick are far from it: the plain inverse tells.
    double stick[TL_MAX_DIM];
    if (!exact_inverse(d, p, b, stick)) return false;
    const double reach = -1.001 * mu * stick[0];
    if (isinf(mu) || (reach > 0.0 && tl_dot(d - 1, stick + 1, stick + 1) <= reach * reach)) {
        if (exact_stick(d, p, stick) && tl_contains(d, &p->law, stick)) {
            for (int k = 0; k < d; k++) r[k] = stick[k];
            return true;
        }
    }
    if (isinf(mu)) { // not pressed: r_N = 0 and W_TT r_T = −b_T
        double wt[TL_MAX_DIM * TL_MAX_DIM], rt[TL_MAX_DIM];
        for (int i = 1; i < d; i++) {
            rt[i - 1] = -b[i];
            for (int j = 1; j < d; j++) wt[(i - 1) * (d - 1) + j - 1] = p->w[i * d + j];
        }
        if (!tl_small_solve(d - 1, 1, wt, rt)) return false;
        r[0] = 0.0;
        for (int k = 1; k < d; k++) r[k] = rt[k - 1];
        return true;
    }
    return false;
}

// Keep the better of r and x; true when it is good enough.
TL_INLINE bool exact_keep(int d, const tl_local *p, double tolerance, const double *x, double *r,
                          double *error) {
    const double e = local_error_at(d, p, x);
    if (e < *error) {
        *error = e;
        for (int k = 0; k < d; k++) r[k] = x[k];
    }
    return *error <= tolerance;
}

#define EXACT_FORM(name, d)                                                                        \
    static int name##_##d(const tl_local *p, const tl_local_control *control, double *r) {         \
        return name##_solve(d, p, control, r);                                                     \
    }
/// The table entry tl_local_<name> from a function <name>_solve(d, …).
#define EXACT_FORMS(name)                                                                          \
    EXACT_FORM(name, 2)                                                                            \
    EXACT_FORM(name, 3)                                                                            \
    EXACT_FORM(name, 6)                                                                            \
    const tl_local_forms tl_local_##name = {{name##_2, name##_3, name##_6}, {0}};

#endif // TL_CONE_EXACT_H
