// SPDX-License-Identifier: Apache-2.0
// A sliding contact as a problem in one number [docs/theory/local-solvers.md]. Sliding means
// u_T = −α r_T with α >= 0, u_N = zeta |u_T| and |r_T| = mu r_N (+ yield, with zeta = 0 only); with
// c = zeta mu this is
//     r(α) = −(W + α D)⁻¹ b,   D = diag(−c, 1, …, 1),   |r_T(α)| = yield + mu r_N(α).
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
    TL_ASSUME_DIM(d);
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
    TL_ASSUME_DIM(d);
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

/// One Newton step on (r, α) for  F1 = W r + b + α D r,  F2 = |r_T| − yield − mu r_N.  Refining r
/// and α together brings both equations to rounding level, which r(α) alone cannot when W is badly
/// conditioned. Returns |Δr|²/|r|²: what is left of F after the step is of that order.
TL_INLINE double slide_newton(int d, const tl_local *p, double *r, double *alpha) {
    const double mu = p->law.mu, c = p->law.zeta * mu, t = tl_norm_t(d, r);
    slide_factor s;
    slide_factorise(d, p->w, *alpha, c, &s);
    double dr[TL_MAX_DIM], f1[TL_MAX_DIM], y1[TL_MAX_DIM], y2[TL_MAX_DIM];
    tl_mv(d, p->w, r, f1);
    for (int k = 0; k < d; k++) {
        dr[k] = k == 0 ? -c * r[0] : r[k];
        f1[k] += p->b[k] + *alpha * dr[k];
    }
    const double f2 = t - p->law.yield - mu * r[0];
    slide_apply(d, &s, f1, y1);
    slide_apply(d, &s, dr, y2);
    const double g1 = tl_dot(d - 1, r + 1, y1 + 1) - mu * t * y1[0]; // times |r_T|, as g2
    const double g2 = tl_dot(d - 1, r + 1, y2 + 1) - mu * t * y2[0];
    const double da = (f2 * t - g1) / g2;
    double step = 0.0;
    for (int k = 0; k < d; k++) {
        const double change = y1[k] + da * y2[k];
        r[k] -= change;
        step += change * change;
    }
    *alpha += da;
    return step / tl_dot(d, r, r);
}

/// Put r_T on the rim of the set: |r_T| = yield + mu r_N.
TL_INLINE void slide_snap(int d, const tl_law *law, double *r) {
    const double factor = (law->yield + law->mu * r[0]) / tl_norm_t(d, r);
    for (int k = 1; k < d; k++) r[k] *= factor;
}

/// Refine a candidate (r, α) by at most `steps` Newton steps, until one is short enough for what it
/// leaves to be below the tolerance, and put r on the cone. True when it is a sliding solution.
TL_INLINE bool slide_refine(int d, const tl_local *p, double tolerance, int steps, double *r,
                            double *alpha) {
    for (int step = 0; step < steps; step++) {
        const double left = slide_newton(d, p, r, alpha);
        if (!(r[0] >= 0.0)) return false;
        if (!(left <= tolerance)) continue;
        slide_snap(d, &p->law, r);
        double scale = 0.0; // α may be short of 0 by what the tolerance allows of sticking
        for (int k = 1; k < d; k++) scale += p->w[k * d + k];
        return *alpha >= -0.01 * tolerance * scale && isfinite(r[1]);
    }
    return false;
}

/// Coulomb (zeta = 0): ψ(α) = (yield + mu r_N)/|r_T| − 1 is negative at 0 (sticking was refused)
/// and positive for large α when b_N < 0, so a root is always bracketed. ψ is exactly linear where
/// W does not couple N and T and W_TT is isotropic, hence Newton's method, kept in the bracket.
/// `alpha` is the start; on return r and alpha are a candidate for slide_refine.
TL_INLINE int slide_search(int d, const tl_local *p, double *r, double *alpha) {
    const double mu = p->law.mu, yield = p->law.yield;
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
        const double psi = (yield + mu * r[0]) / t - 1.0; // +inf where r_T = 0
        if (fabs(psi) <= 1e-9) break; // slide_refine does the rest quadratically
        if (psi < 0.0)
            low = a;
        else
            high = a;
        x[0] = 0.0;
        for (int k = 1; k < d; k++) x[k] = -r[k];
        slide_apply(d, &s, x, dx); // dr/dα
        const double slope =
            (mu * dx[0] - (yield + mu * r[0]) * tl_dot(d - 1, r + 1, dx + 1) / t2) / t;
        double next = a - psi / slope;
        if (!(next > low && next < high)) {
            if (isinf(high))
                next = TL_MAX(16.0 * a, scale);
            else
                next = low > 0.0 ? sqrt(low) * sqrt(high) : 1e-3 * high;
        }
        if (next == a || !(high - low > 1e-16 * low)) break;
        a = next;
    }
    return step;
}

// ---- the quick ways ----------------------------------------------------------------------------
// The whole one-contact problem for Coulomb's law with 0 < mu < inf and a block that is not badly
// conditioned, without refinement: what almost every visit of a sweep needs. They are inlined into
// the sweep and into `hybrid`. False when they do not settle; r is then as it was.

/// 3D. With c = b_T − W_TN b_N / W_NN and T of tl_schur,
///     r_T = −(T + α)⁻¹ c,   r_N = −(b_N + W_NT r_T) / W_NN,
/// one division gives r(α) and its derivative. A contact that slid at its last visit is taken to
/// slide still, from the old α; else α = 0 comes first: that is sticking.
TL_INLINE bool slide_quick_3(const tl_schur *s, const double *w, double mu, const double *b,
                             double tolerance, double *r) {
    if (b[0] >= 0.0) {
        r[0] = r[1] = r[2] = 0.0;
        return true;
    }
    const double w1 = w[1], w2 = w[2], cross = s->t12 * s->t21;
    const double c1 = b[1] - s->b1 * b[0], c2 = b[2] - s->b2 * b[0];
    // α of the last visit: u_T = −α r_T in the least squares sense.
    const double u1 = c1 + s->t11 * r[1] + s->t12 * r[2], rr = r[1] * r[1] + r[2] * r[2];
    const double u2 = c2 + s->t21 * r[1] + s->t22 * r[2], ur = -(u1 * r[1] + u2 * r[2]);
    bool warm = ur > 1e-6 * (s->t11 + s->t22) * rr && ur < 1e200 * rr;
    double a = warm ? ur / rr : 0.0, low = 0.0, high = INFINITY, y1, y2, n;
    for (int step = 0;; step++) {
        const double a1 = s->t11 + a, a2 = s->t22 + a;
        const double inverse = a == 0.0 ? s->inverse_det : 1.0 / (a1 * a2 - cross);
        y1 = (s->t12 * c2 - a2 * c1) * inverse;
        y2 = (s->t21 * c1 - a1 * c2) * inverse;
        n = -(b[0] + w1 * y1 + w2 * y2) * s->inverse_nn;
        const double t2 = y1 * y1 + y2 * y2;
        if (a == 0.0 && n >= 0.0 && t2 <= mu * mu * n * n) break; // sticks
        if (step == 60) return false;
        const double d1 = (a2 * y1 - s->t12 * y2) * inverse; // −dr_T/dα
        const double d2 = (a1 * y2 - s->t21 * y1) * inverse;
        const double inverse_t = 1.0 / sqrt(t2), psi = mu * n * inverse_t - 1.0;
        const double slope =
            mu * inverse_t *
            ((w1 * d1 + w2 * d2) * s->inverse_nn + n * (y1 * d1 + y2 * d2) * inverse_t * inverse_t);
        if (psi < 0.0)
            low = a;
        else
            high = a;
        double next = a - psi / slope;
        bool settled = false;
        if (next > low && next < high) {
            // r_T bends over Δα |(T + α)⁻¹|: what a Newton step leaves is of the order of its
            // square.
            const double bend = (next - a) * (a1 + a2) * inverse;
            settled = psi * psi <= tolerance && bend * bend <= 0.01 * tolerance;
            if (settled) {
                y1 -= d1 * (next - a);
                y2 -= d2 * (next - a);
                n = -(b[0] + w1 * y1 + w2 * y2) * s->inverse_nn;
            }
        } else if (warm) { // it slides no more, or quite differently: begin at the beginning
            warm = false;
            next = low = 0.0;
            high = INFINITY;
        } else if (fabs(psi) <= 0.1 * tolerance) {
            settled = true;
        } else if (isinf(high)) {
            next = TL_MAX(16.0 * a, s->t11 + s->t22);
        } else {
            next = low > 0.0 ? sqrt(low) * sqrt(high) : 1e-3 * high;
        }
        if (settled) { // onto the cone
            const double factor = mu * n / sqrt(y1 * y1 + y2 * y2);
            if (!(n > 0.0) || !isfinite(factor)) return false;
            y1 *= factor;
            y2 *= factor;
            break;
        }
        a = next;
    }
    r[0] = n;
    r[1] = y1;
    r[2] = y2;
    return true;
}

/// 2D: sticking is one linear system, sliding one of two linear equations, the one whose friction
/// opposes the motion. False when rounding leaves none.
TL_INLINE bool slide_quick_2(const double *w, double mu, const double *b, double *r) {
    if (b[0] >= 0.0) {
        r[0] = r[1] = 0.0;
        return true;
    }
    const double det = w[0] * w[3] - w[1] * w[2];
    const double n = w[1] * b[1] - w[3] * b[0], t = w[2] * b[0] - w[0] * b[1]; // det r
    if (det > 1e-4 * w[0] * w[3] && fabs(t) <= mu * n) {
        r[0] = n / det;
        r[1] = t / det;
        return true;
    }
    const double slope = t < 0.0 ? -mu : mu; // friction points where sticking would have it
    for (int side = 0; side < 2; side++) {
        const double friction = side ? -slope : slope, left = w[0] + friction * w[1];
        const double normal = -b[0] / left, tangent = friction * normal;
        const double u = w[2] * normal + w[3] * tangent + b[1];
        if (!(left > 0.0) || !(friction * u <= 0.0)) continue;
        r[0] = normal;
        r[1] = tangent;
        return true;
    }
    return false;
}

#endif // TL_CONE_SLIDE_H
