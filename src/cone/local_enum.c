// SPDX-License-Identifier: Apache-2.0
// enum: the three cases one after the other [docs/theory/local-solvers.md]:
//     open     r = 0,      if b_N >= zeta |b_T|
//     stick    r = −W⁻¹ b, if it lies in the cone
//     slide    each real root α of the quartic that |r_T(α)| = mu r_N(α) makes (slide.h), in 2D
//              the two linear equations r_T = ±mu r_N; the root with the least error
#include "cone/exact.h"

// Real roots in [0, 1] of Σ c[k] x^k, ascending, through the roots of its derivatives: between two
// neighbours among those a polynomial is monotone, so that each sign change brackets one root.
// A derivative's root where the polynomial is zero to rounding counts too (double roots).
static int enum_roots(int degree, const double *c, double *root) {
    double turn[2][6]; // candidates bounding the monotone pieces, level by level
    int turns = 0;
    double *old = turn[0], *now = turn[1];
    for (int level = degree - 1; level >= 0; level--) { // the level-th derivative
        const int n = degree - level;
        double a[5], size = 0.0;
        for (int k = 0; k <= n; k++) {
            double factor = 1.0;
            for (int m = 0; m < level; m++) factor *= (double)(k + level - m);
            a[k] = c[k + level] * factor;
            size += fabs(a[k]);
        }
        int found = 0;
        double left = 0.0;
        for (int piece = 0; piece <= turns; piece++) {
            double x0 = left, x1 = piece < turns ? old[piece] : 1.0;
            left = x1;
            double f0 = 0.0, f1 = 0.0;
            for (int k = n; k >= 0; k--) {
                f0 = f0 * x0 + a[k];
                f1 = f1 * x1 + a[k];
            }
            if (fabs(f0) <= 1e-15 * size && (found == 0 || now[found - 1] < x0)) now[found++] = x0;
            if (!((f0 < 0.0) != (f1 < 0.0)) || found > n) continue;
            double x = 0.5 * (x0 + x1);
            for (int step = 0; step < 80; step++) {
                double f = 0.0, df = 0.0;
                for (int k = n; k >= 0; k--) {
                    df = df * x + f;
                    f = f * x + a[k];
                }
                if (f == 0.0) break;
                if ((f < 0.0) == (f0 < 0.0))
                    x0 = x;
                else
                    x1 = x;
                double next = x - f / df;
                if (!(next > x0 && next < x1)) next = 0.5 * (x0 + x1);
                if (fabs(next - x) <= 1e-16 * (next + 1e-3 * (x1 - x0)) || next == x0 ||
                    next == x1) {
                    x = next;
                    break;
                }
                x = next;
            }
            now[found++] = x;
            if (found > n) break;
        }
        turns = found;
        double *swap = old;
        old = now;
        now = swap;
    }
    for (int k = 0; k < turns; k++) root[k] = old[k];
    return turns;
}

// The quartic |p_T|² − mu² p_N² in α, p = −adj(W + α D) b, for d = 3. W and b are scaled to order 1
// by the caller. Coefficients c[0..4], lowest first.
static void enum_quartic(const double *w, const double *b, double mu, double cz, double *c) {
    // p[i][k]: coefficient of α^k in component i. Rows N, 1, 2; adj = transposed cofactors.
    const double n = w[0], x1 = w[1], x2 = w[2], y1 = w[3], y2 = w[6];
    const double t11 = w[4], t12 = w[5], t21 = w[7], t22 = w[8];
    const double p[3][3] = {
        {-(b[0] * (t11 * t22 - t12 * t21) - b[1] * (x1 * t22 - x2 * t21) +
           b[2] * (x1 * t12 - x2 * t11)),
         -(b[0] * (t11 + t22) - b[1] * x1 - b[2] * x2), -b[0]},
        {b[0] * (y1 * t22 - t12 * y2) - b[1] * (n * t22 - x2 * y2) + b[2] * (n * t12 - x2 * y1),
         b[0] * y1 - b[1] * (n - cz * t22) - b[2] * cz * t12, b[1] * cz},
        {-b[0] * (y1 * t21 - t11 * y2) + b[1] * (n * t21 - x1 * y2) - b[2] * (n * t11 - x1 * y1),
         b[0] * y2 - b[1] * cz * t21 - b[2] * (n - cz * t11), b[2] * cz}};
    for (int k = 0; k <= 4; k++) {
        c[k] = 0.0;
        for (int i = k > 2 ? k - 2 : 0; i <= k && i <= 2; i++)
            c[k] += p[1][i] * p[1][k - i] + p[2][i] * p[2][k - i] - mu * mu * p[0][i] * p[0][k - i];
    }
}

// Candidates α of a sliding contact in 3D: at most eight values, both halves of the half line.
static int enum_alphas(const tl_local *p, double *alpha) {
    const double scale = 0.5 * (p->w[4] + p->w[8]), size = tl_norm(3, p->b);
    double w[9], b[3], c[5], reversed[5], root[5];
    for (int k = 0; k < 9; k++) w[k] = p->w[k] / scale;
    for (int k = 0; k < 3; k++) b[k] = p->b[k] / size;
    enum_quartic(w, b, p->law.mu, p->law.zeta * p->law.mu, c);
    for (int k = 0; k < 5; k++) reversed[k] = c[4 - k];
    int count = 0, roots = enum_roots(4, c, root);
    for (int k = 0; k < roots && count < 8; k++) alpha[count++] = root[k] * scale;
    roots = enum_roots(4, reversed, root); // α > scale: in 1/α
    for (int k = 0; k < roots && count < 8; k++)
        if (root[k] > 0.0) alpha[count++] = scale / root[k];
    return count;
}

// r(α) of slide.h for one α.
TL_INLINE void exact_at(int d, const tl_local *p, double alpha, double *r) {
    slide_factor s;
    slide_factorise(d, p->w, alpha, p->law.zeta * p->law.mu, &s);
    double x[TL_MAX_DIM];
    slide_apply(d, &s, p->b, x);
    for (int k = 0; k < d; k++) r[k] = -x[k];
}

static bool enum_slide_3(const tl_local *p, double tolerance, double *r) {
    double alpha[8], best_error = INFINITY, x[3];
    const int count = enum_alphas(p, alpha);
    for (int k = count - 1; k >= 0; k--) {
        exact_at(3, p, alpha[k], x);
        for (int step = 0; step < SLIDE_STEPS && isfinite(alpha[k]); step++) {
            double snapped[3];
            memcpy(snapped, x, sizeof x);
            slide_snap(3, &p->law, snapped);
            if (exact_keep(3, p, tolerance, snapped, r, &best_error)) return true;
            slide_newton(3, p, x, &alpha[k]);
        }
    }
    return false;
}

// 2D: r_T = ±mu r_N and u_N = zeta |u_T| are linear.
static bool enum_slide_2(const tl_local *p, double tolerance, double *r) {
    const double mu = p->law.mu, zeta = p->law.zeta, *w = p->w, *b = p->b;
    double best_error = INFINITY;
    for (int side = 0; side < 2; side++) {
        const double s = side ? -1.0 : 1.0;
        const double left = w[0] + s * mu * w[1] + zeta * s * (w[2] + s * mu * w[3]);
        const double normal = -(b[0] + zeta * s * b[1]) / left;
        if (!(normal > 0.0)) continue;
        const double x[2] = {normal, s * mu * normal};
        const double error = local_error_at(2, p, x);
        if (error < best_error) {
            best_error = error;
            memcpy(r, x, sizeof x);
        }
    }
    return best_error <= tolerance;
}

// Sliding by enumeration; d = 6 has no closed form.
TL_INLINE bool enum_slide(int d, const tl_local *p, double tolerance, double *r) {
    if (d == 2) return enum_slide_2(p, tolerance, r);
    if (d == 3) return enum_slide_3(p, tolerance, r);
    return false;
}

// d = 6 has no quartic and a yield none either: hybrid takes over.
TL_INLINE int enum_solve(int d, const tl_local *p, const tl_local_control *control, double *r) {
    if (d == 6 || p->law.yield > 0.0) return tl_local_hybrid.solve[tl_dim_index(d)](p, control, r);
    if (exact_simple(d, p, r)) return 0;
    if (enum_slide(d, p, control->tolerance, r)) return 1;
    double x[TL_MAX_DIM], error = local_error_at(d, p, r);
    if (!exact_stick(d, p, x)) return -1;
    tl_project(d, &p->law, x, x); // sticking refused by rounding alone
    return exact_keep(d, p, control->tolerance, x, r, &error) ? 1 : -1;
}

EXACT_FORMS(enum)
