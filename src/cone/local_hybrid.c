// SPDX-License-Identifier: Apache-2.0
// hybrid         open, stick, slide: the search of slide.h, started from the last visit. Laws that
//                the search does not know are reduced to it; Newton and enumeration are the net.
// hybrid-newton  Fischer-Burmeister Newton first, enumeration where it fails
// hybrid-enum    enumeration first, Newton on its result always      [docs/theory/local-solvers.md]
#include "cone/axes.h"
#include "cone/exact.h"
#include "linalg/dense.h"

bool tl_schur_make(const double *w, tl_schur *out) {
    const double size = fabs(w[0]) + fabs(w[4]) + fabs(w[8]), inverse = 1.0 / w[0];
    *out = (tl_schur){.inverse_nn = inverse,
                      .t11 = w[4] - w[3] * w[1] * inverse,
                      .t12 = w[5] - w[3] * w[2] * inverse,
                      .t21 = w[7] - w[6] * w[1] * inverse,
                      .t22 = w[8] - w[6] * w[2] * inverse,
                      .b1 = w[3] * inverse,
                      .b2 = w[6] * inverse};
    // The smaller eigenvalue of T is at least det T / tr T.
    const double trace = out->t11 + out->t22, det = out->t11 * out->t22 - out->t12 * out->t21;
    out->inverse_det = 1.0 / det;
    return w[0] > 1e-4 * size && trace > 0.0 && det > 1e-4 * size * trace;
}

bool tl_axes_make(const double *w, tl_axes *out) {
    enum { M = 5 };
    double t[M * M], value[M], vector[M * M], size = w[0], skew = 0.0;
    int rank[M];
    const double inverse = 1.0 / w[0];
    *out = (tl_axes){.inverse_nn = inverse};
    for (int i = 0; i < M; i++) {
        size += w[7 * (i + 1)];
        skew = TL_MAX(fabs(w[1 + i] - w[6 * (i + 1)]), skew);
        for (int j = 0; j < M; j++) {
            const double own = w[6 * (i + 1) + 1 + j];
            skew = TL_MAX(fabs(own - w[6 * (j + 1) + 1 + i]), skew);
            t[M * i + j] = own - w[6 * (i + 1)] * w[1 + j] * inverse;
        }
    }
    if (!(skew <= 1e-13 * size)) return false;
    if (!(w[0] > 1e-6 * size) || !isfinite(size)) return false;
    tl_sym_eigen(M, t, value, vector);
    for (int i = 0; i < M; i++) { // places by size
        rank[i] = 0;
        for (int j = 0; j < M; j++)
            rank[i] += value[j] < value[i] || (j < i && value[j] == value[i]);
    }
    for (int k = 0; k < 8; k++) out->lambda[k] = 1.0;
    for (int i = 0; i < M; i++) {
        const int at = rank[i];
        out->lambda[at] = value[i];
        for (int j = 0; j < M; j++) {
            out->q[8 * j + at] = vector[M * i + j];
            out->couple[at] += vector[M * i + j] * w[1 + j];
        }
    }
    return out->lambda[0] > 1e-6 * size;
}

// Sliding from the last visit: α in u_T = −α r_T by least squares, refined at once if r is near,
// else after the search (Coulomb). Where sticking was refused by rounding alone, the sticking
// impulse put on the cone is the answer.
TL_INLINE int hybrid_slide(int d, const tl_local *p, const tl_local_control *control, double *r) {
    const bool coulomb = p->law.zeta == 0.0;
    double x[TL_MAX_DIM], u[TL_MAX_DIM];
    const double rr = tl_dot(d - 1, r + 1, r + 1);
    double alpha = 0.0;
    if (rr > 0.0) {
        local_velocity(d, p, r, u);
        alpha = -tl_dot(d - 1, u + 1, r + 1) / rr;
    }
    if (alpha > 0.0 && alpha < 1e300) {
        double start = alpha;
        for (int k = 0; k < d; k++) x[k] = r[k];
        if (slide_refine(d, p, control->tolerance, 4, x, &start) &&
            local_error_at(d, p, x) <= control->tolerance) {
            for (int k = 0; k < d; k++) r[k] = x[k];
            return 1;
        }
    } else {
        alpha = 0.0;
    }
    if (coulomb) {
        const int steps = slide_search(d, p, x, &alpha);
        if (slide_refine(d, p, control->tolerance, SLIDE_STEPS, x, &alpha) &&
            local_error_at(d, p, x) <= control->tolerance) {
            for (int k = 0; k < d; k++) r[k] = x[k];
            return steps + 1;
        }
    }
    if (!exact_stick(d, p, x)) return -1;
    tl_project(d, &p->law, x, x);
    if (!(local_error_at(d, p, x) <= control->tolerance)) return -1;
    for (int k = 0; k < d; k++) r[k] = x[k];
    return 1;
}

// The foot of a set with a yield: r_N = 0, and the tangent held by the yield alone, W_TT r_T = −b_T
// or |r_T| = yield. True when the contact then opens.
TL_INLINE bool hybrid_foot(int d, const tl_local *p, const tl_local_control *control, double *r) {
    double w[TL_MAX_DIM * TL_MAX_DIM], b[TL_MAX_DIM], x[TL_MAX_DIM];
    for (int i = 0; i < d; i++) {
        b[i] = i == 0 ? 0.0 : p->b[i];
        for (int j = 0; j < d; j++)
            w[i * d + j] = (i == 0) == (j == 0) ? p->w[i * d + j] : 0.0; // N and T apart
    }
    const tl_local tangent = {.w = w, .b = b, .law = p->law, .rho = p->rho};
    if (!exact_stick(d, &tangent, x)) return false;
    x[0] = 0.0;
    if (tl_norm_t(d, x) > p->law.yield) {
        double alpha = 0.0;
        slide_search(d, &tangent, x, &alpha);
        if (!slide_refine(d, &tangent, control->tolerance, SLIDE_STEPS, x, &alpha)) return false;
        x[0] = 0.0;
        slide_snap(d, &p->law, x);
    }
    for (int k = 0; k < d; k++) r[k] = x[k];
    double u = p->b[0];
    for (int k = 1; k < d; k++) u += p->w[k] * x[k];
    return u >= 0.0;
}

// Without dilatancy, any yield.
TL_INLINE int hybrid_coulomb(int d, const tl_local *p, const tl_local_control *control, double *r) {
    if (p->law.yield == 0.0 || isinf(p->law.mu)) {
        if (exact_simple(d, p, r)) return 0;
        return hybrid_slide(d, p, control, r);
    }
    double x[TL_MAX_DIM], error = INFINITY, alpha = 0.0;
    if (hybrid_foot(d, p, control, x) && exact_keep(d, p, control->tolerance, x, r, &error))
        return 1;
    if (exact_stick(d, p, x) && tl_contains(d, &p->law, x) &&
        exact_keep(d, p, control->tolerance, x, r, &error))
        return 0;
    slide_search(d, p, x, &alpha);
    if (slide_refine(d, p, control->tolerance, SLIDE_STEPS, x, &alpha) &&
        exact_keep(d, p, control->tolerance, x, r, &error))
        return 1;
    if (!exact_stick(d, p, x)) return -1;
    tl_project(d, &p->law, x, x); // sticking refused by rounding alone
    return exact_keep(d, p, control->tolerance, x, r, &error) ? 1 : -1;
}

// r(α) of slide.h times |S|, S the pivot of the normal after the tangent: finite for every α.
// Returns S; `psi` is (mu r_N − |r_T|)/|r|.
TL_INLINE double hybrid_dilatant_at(int d, const tl_local *p, double alpha, double *r,
                                    double *psi) {
    slide_factor s;
    slide_factorise(d, p->w, alpha, p->law.zeta * p->law.mu, &s);
    double x[TL_MAX_DIM], y[TL_MAX_DIM], e[TL_MAX_DIM] = {0.0}, z[TL_MAX_DIM];
    // Solve with the pivot S taken as 1: x for b, then the column of the normal weighs 1/S.
    const double pivot = s.a[d * d - 1];
    s.inverse[d - 1] = 1.0;
    e[0] = 1.0;
    slide_apply(d, &s, p->b, x); // (n, …): tangent as if r_N were −n
    slide_apply(d, &s, e, z);    // the response of the tangent to a unit of r_N
    const double n = x[0], sign = pivot < 0.0 ? -1.0 : 1.0;
    for (int k = 1; k < d; k++) y[k] = x[k] - n * z[k]; // tangent for r_N = 0
    r[0] = -n * sign;
    for (int k = 1; k < d; k++) r[k] = -y[k] * fabs(pivot) - n * sign * z[k];
    const double size = tl_norm(d, r);
    *psi = size > 0.0 ? (p->law.mu * r[0] - tl_norm_t(d, r)) / size : 0.0;
    return pivot;
}

// Sliding with dilatancy. S(α) is concave, positive at 0 and negative at infinity, so it has one
// zero α_c. With n(α) = b_N − W_NT (W_TT + α)⁻¹ b_T, ψ changes sign between 0 and α_c where
// n(α_c) < 0, and between α_c and infinity where n(α_c) > 0: a bracket either way.
TL_INLINE bool hybrid_dilatant(int d, const tl_local *p, const tl_local_control *control,
                               double *r) {
    double x[TL_MAX_DIM], psi, low = 0.0, high = 0.0, error = INFINITY;
    for (int k = 0; k < d; k++) high += p->w[k * d + k];
    for (int k = 0; hybrid_dilatant_at(d, p, high, x, &psi) > 0.0 && k < 1000; k++) high *= 4.0;
    for (int k = 0; k < 200; k++) {
        const double middle = low > 1e-3 * high ? 0.5 * (low + high) : 1e-3 * high;
        const double pivot = hybrid_dilatant_at(d, p, middle, x, &psi);
        if (middle == low || middle == high || high < 1e-290) break;
        *(pivot > 0.0 ? &low : &high) = middle;
    }
    const double critical = low;
    hybrid_dilatant_at(d, p, critical, x, &psi);
    const bool before = x[0] > 0.0; // S > 0 there, so r_N has the sign of −n
    low = before ? 0.0 : high;
    high = before ? critical : INFINITY;
    for (int k = 0; k < 300; k++) { // ψ < 0 outside the cone: at 0 and at infinity
        double middle = isinf(high)         ? 4.0 * low
                        : low > 1e-3 * high ? 0.5 * (low + high)
                                            : 1e-3 * high;
        if (isinf(middle) || middle == low || middle == high || middle < 1e-290) break;
        hybrid_dilatant_at(d, p, middle, x, &psi);
        *((psi < 0.0) == before ? &low : &high) = middle;
    }
    for (int side = 0; side < 2; side++) {
        double alpha = side == 0 ? low : high;
        const double pivot = fabs(hybrid_dilatant_at(d, p, alpha, x, &psi));
        for (int k = 0; k < d; k++) x[k] /= pivot;
        for (int step = 0; step < SLIDE_STEPS; step++) {
            double snapped[TL_MAX_DIM];
            memcpy(snapped, x, (size_t)d * sizeof *x);
            slide_snap(d, &p->law, snapped);
            if (exact_keep(d, p, control->tolerance, snapped, r, &error)) return true;
            slide_newton(d, p, x, &alpha);
        }
    }
    return false;
}

// What remains when the quick ways have failed or do not apply: every other method in turn, each
// from the best iterate so far, the best kept. Projected steps end the list: they always improve.
TL_INLINE int hybrid_last_resort(int d, const tl_local *p, const tl_local_control *control,
                                 double *r) {
    const int index = tl_dim_index(d);
    const tl_local_fn newton[] = {tl_local_fb.solve[index], tl_local_ac_damped.solve[index],
                                  tl_local_ebp.solve[index]};
    double error = local_error_at(d, p, r), x[TL_MAX_DIM], zero[TL_MAX_DIM] = {0.0};
    if (!isfinite(error)) error = INFINITY;
    exact_keep(d, p, control->tolerance, zero, r, &error);
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < d; i++) x[i] = r[i];
            newton[k](p, control, x);
            if (exact_keep(d, p, control->tolerance, x, r, &error)) return control->iterations;
        }
        for (int i = 0; i < d; i++) x[i] = r[i];
        for (int k = 0; k < 50; k++) tl_local_sbp.solve[index](p, control, x);
        if (exact_keep(d, p, control->tolerance, x, r, &error)) return control->iterations;
    }
    return -1;
}

TL_INLINE int hybrid_solve(int d, const tl_local *p, const tl_local_control *control, double *r) {
    int steps;
    if (p->law.zeta == 0.0 || isinf(p->law.mu)) {
        const bool plain = p->law.yield == 0.0 && p->law.mu > 0.0 && !isinf(p->law.mu);
        if (d == 3 && plain && p->schur &&
            slide_quick_3(p->schur, p->w, p->law.mu, p->b, control->tolerance, r))
            return 1;
        if (d == 6 && plain && p->axes &&
            axes_quick(p->axes, p->law.mu, p->b, control->tolerance, r))
            return 1;
        if (d == 2 && plain && slide_quick_2(p->w, p->law.mu, p->b, r)) return 1;
        if ((steps = hybrid_coulomb(d, p, control, r)) >= 0) return steps;
    } else {
        if (p->law.yield == 0.0) {
            if (exact_simple(d, p, r)) return 0;
            if ((steps = hybrid_slide(d, p, control, r)) >= 0) return steps;
        }
        double x[TL_MAX_DIM] = {0.0};
        if ((steps = tl_local_ebp.solve[tl_dim_index(d)](p, control, x)) >= 0) {
            for (int k = 0; k < d; k++) r[k] = x[k];
            return steps;
        }
        if (p->law.yield == 0.0 && hybrid_dilatant(d, p, control, r)) return 1;
    }
    if (d < 6 && p->law.yield == 0.0 &&
        (steps = tl_local_enum.solve[tl_dim_index(d)](p, control, r)) >= 0)
        return steps;
    return hybrid_last_resort(d, p, control, r);
}

// Any method, and enumeration where it fails. `first` may mean another law than Coulomb's, so what
// it says of itself does not count.
TL_INLINE int hybrid_safe_solve(int d, const tl_local_forms *first, const tl_local *p,
                                const tl_local_control *control, double *r) {
    if (p->law.yield > 0.0) return hybrid_solve(d, p, control, r);
    const int steps = first->solve[tl_dim_index(d)](p, control, r);
    if (steps >= 0 && first != &tl_local_four_sides) return steps;
    double x[TL_MAX_DIM], error = local_error_at(d, p, r);
    if (error <= control->tolerance) return steps > 0 ? steps : 0;
    for (int k = 0; k < d; k++) x[k] = r[k];
    const int found = tl_local_enum.solve[tl_dim_index(d)](p, control, x);
    if (exact_keep(d, p, control->tolerance, x, r, &error))
        return TL_LOCAL_SAVED + (found > 0 ? found : 0);
    return -1;
}

TL_INLINE int hybrid_newton_solve(int d, const tl_local *p, const tl_local_control *control,
                                  double *r) {
    return hybrid_safe_solve(d, &tl_local_fb, p, control, r);
}
TL_INLINE int ac_enum_solve(int d, const tl_local *p, const tl_local_control *control, double *r) {
    return hybrid_safe_solve(d, &tl_local_ac, p, control, r);
}
TL_INLINE int ac_damped_enum_solve(int d, const tl_local *p, const tl_local_control *control,
                                   double *r) {
    return hybrid_safe_solve(d, &tl_local_ac_damped, p, control, r);
}
TL_INLINE int fixed_point_enum_solve(int d, const tl_local *p, const tl_local_control *control,
                                     double *r) {
    return hybrid_safe_solve(d, &tl_local_fixed_point, p, control, r);
}
TL_INLINE int four_sides_enum_solve(int d, const tl_local *p, const tl_local_control *control,
                                    double *r) {
    return hybrid_safe_solve(d, &tl_local_four_sides, p, control, r);
}

TL_INLINE int hybrid_enum_solve(int d, const tl_local *p, const tl_local_control *control,
                                double *r) {
    if (p->law.yield > 0.0) return hybrid_solve(d, p, control, r);
    double x[TL_MAX_DIM], error = local_error_at(d, p, r);
    for (int k = 0; k < d; k++) x[k] = r[k];
    tl_local_enum.solve[tl_dim_index(d)](p, control, x);
    exact_keep(d, p, control->tolerance, x, r, &error);
    return tl_local_fb.solve[tl_dim_index(d)](p, control, r);
}

EXACT_FORMS(hybrid)
EXACT_FORMS(hybrid_newton)
EXACT_FORMS(ac_enum)
EXACT_FORMS(ac_damped_enum)
EXACT_FORMS(fixed_point_enum)
EXACT_FORMS(four_sides_enum)
EXACT_FORMS(hybrid_enum)
