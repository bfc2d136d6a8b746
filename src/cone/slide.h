// SPDX-License-Identifier: Apache-2.0
// A sliding contact as a problem in one number [docs/theory/local-solvers.md]. Sliding means
// u_T = −α r_T with α >= 0, u_N = zeta |u_T| and |r_T| = mu r_N; with c = zeta mu this is
//     r(α) = −(W + α D)⁻¹ b,   D = diag(−c, 1, …, 1),   |r_T(α)| = mu r_N(α).
// r(0) is the sticking impulse. Eliminating the tangent first keeps W_TT + α positive definite and
// every α from 0 to overflow harmless.
#ifndef TL_CONE_SLIDE_H
#define TL_CONE_SLIDE_H
#include "cone/local.h"
#include "linalg/dense_inline.h"
#include <string.h>

/// The factors of W + α D in the order T1, …, N, without pivoting.
typedef struct slide_factor {
    double a[TL_MAX_DIM * TL_MAX_DIM];
    double inverse[TL_MAX_DIM]; // of the pivots
} slide_factor;

TL_INLINE void slide_factorise(int d, const double *w, double alpha, double c, slide_factor *s) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) s->a[i * d + j] = w[((i + 1) % d) * d + (j + 1) % d];
    for (int k = 0; k < d - 1; k++) s->a[k * d + k] += alpha;
    s->a[d * d - 1] -= alpha * c;
    for (int k = 0; k < d; k++) {
        s->inverse[k] = 1.0 / s->a[k * d + k];
        for (int i = k + 1; i < d; i++) {
            s->a[i * d + k] *= s->inverse[k];
            for (int j = k + 1; j < d; j++) s->a[i * d + j] -= s->a[i * d + k] * s->a[k * d + j];
        }
    }
}

/// y = (W + α D)⁻¹ x; y may not be x.
TL_INLINE void slide_apply(int d, const slide_factor *s, const double *x, double *y) {
    double z[TL_MAX_DIM];
    for (int i = 0; i < d; i++) {
        double t = x[(i + 1) % d];
        for (int j = 0; j < i; j++) t -= s->a[i * d + j] * z[j];
        z[i] = t;
    }
    for (int i = d - 1; i >= 0; i--) {
        double t = z[i];
        for (int j = i + 1; j < d; j++) t -= s->a[i * d + j] * z[j];
        z[i] = t * s->inverse[i];
        y[(i + 1) % d] = z[i];
    }
}

/// One Newton step on (r, α) for  F1 = W r + b + α D r,  F2 = |r_T| − mu r_N.  Refining r and α
/// together brings both equations to rounding level, which r(α) alone cannot when W is badly
/// conditioned. Returns the size of F before the step relative to the terms it is made of.
TL_INLINE double slide_newton(int d, const tl_local *p, double *r, double *alpha) {
    const double mu = p->law.mu, c = p->law.zeta * mu, t = tl_norm_t(d, r);
    slide_factor s;
    slide_factorise(d, p->w, *alpha, c, &s);
    double dr[TL_MAX_DIM], f1[TL_MAX_DIM], y1[TL_MAX_DIM], y2[TL_MAX_DIM];
    tl_mv(d, p->w, r, f1);
    double size1 = 0.0, terms = 0.0; // |F1| and the largest term in it
    for (int k = 0; k < d; k++) {
        dr[k] = k == 0 ? -c * r[0] : r[k];
        const double wr = f1[k], ar = *alpha * dr[k];
        f1[k] = wr + p->b[k] + ar;
        size1 += f1[k] * f1[k];
        const double largest = fmax(fmax(fabs(wr), fabs(p->b[k])), fabs(ar));
        terms = fmax(terms, largest);
    }
    const double f2 = t - mu * r[0];
    slide_apply(d, &s, f1, y1);
    slide_apply(d, &s, dr, y2);
    double g1 = -mu * y1[0], g2 = -mu * y2[0];
    for (int k = 1; k < d; k++) {
        g1 += r[k] / t * y1[k];
        g2 += r[k] / t * y2[k];
    }
    const double da = (f2 - g1) / g2;
    for (int k = 0; k < d; k++) r[k] -= y1[k] + da * y2[k];
    *alpha += da;
    return fmax(sqrt(size1) / terms, fabs(f2) / t);
}

/// Put r_T on the cone: |r_T| = mu r_N.
TL_INLINE void slide_snap(int d, double mu, double *r) {
    const double t = tl_norm_t(d, r);
    for (int k = 1; k < d; k++) r[k] *= mu * r[0] / t;
}

/// Refine a candidate (r, α) until the steps end or both equations hold to rounding, and put r on
/// the cone. False when it ran away; the caller judges what it gets.
TL_INLINE bool slide_refine(int d, const tl_local *p, int steps, double *r, double *alpha) {
    for (int step = 0; step < steps; step++) {
        const double size = slide_newton(d, p, r, alpha);
        if (!isfinite(*alpha) || !(r[0] > 0.0)) return false;
        if (size <= 1e-8) break; // this step, quadratic, has brought it to rounding level
    }
    slide_snap(d, p->law.mu, r);
    return isfinite(r[1]);
}

/// Coulomb (zeta = 0): ψ(α) = mu r_N/|r_T| − 1 is negative at 0 (sticking was refused) and
/// positive for large α when b_N < 0, so a root is always bracketed. ψ is exactly linear where W
/// does not couple N and T and W_TT is isotropic, hence Newton's method, kept in the bracket.
/// `alpha` is the start; on return r and alpha are a candidate for slide_refine.
TL_INLINE int slide_search(int d, const tl_local *p, double *r, double *alpha) {
    const double mu = p->law.mu;
    double low = 0.0, high = INFINITY, a = *alpha;
    double scale = 0.0; // of W_TT
    for (int k = 1; k < d; k++) scale += p->w[k * d + k];
    int step = 0;
    for (; step < 100; step++) {
        slide_factor s;
        double x[TL_MAX_DIM], dx[TL_MAX_DIM];
        slide_factorise(d, p->w, a, 0.0, &s);
        slide_apply(d, &s, p->b, x);
        for (int k = 0; k < d; k++) r[k] = -x[k];
        *alpha = a;
        const double t2 = tl_dot(d - 1, r + 1, r + 1), t = sqrt(t2);
        const double psi = mu * r[0] / t - 1.0; // +inf where r_T = 0
        if (fabs(psi) <= 1e-9) break;           // slide_refine does the rest quadratically
        if (psi < 0.0)
            low = a;
        else
            high = a;
        x[0] = 0.0;
        for (int k = 1; k < d; k++) x[k] = -r[k];
        slide_apply(d, &s, x, dx); // dr/dα
        const double slope = mu * (dx[0] - r[0] * tl_dot(d - 1, r + 1, dx + 1) / t2) / t;
        double next = a - psi / slope;
        if (!(next > low && next < high)) {
            if (isinf(high))
                next = fmax(16.0 * a, scale);
            else
                next = low > 0.0 ? sqrt(low) * sqrt(high) : 1e-3 * high;
        }
        if (next == a || !(high - low > 1e-16 * low)) break;
        a = next;
    }
    return step;
}

#endif // TL_CONE_SLIDE_H
