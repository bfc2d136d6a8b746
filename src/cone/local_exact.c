// SPDX-License-Identifier: Apache-2.0
// One-contact solvers that look at the three cases one after the other:
//     open     r = 0,      if b_N >= zeta |b_T|
//     stick    r = −W⁻¹ b, if it lies in the cone
//     slide    a root α of |r_T(α)| = mu r_N(α), see slide.h
// enum           all real roots of the quartic that α satisfies (2D: two linear equations)
// hybrid         the search of slide.h, started from the last visit; the others catch what it drops
// hybrid-newton  Fischer-Burmeister Newton first, enumeration where it fails
// hybrid-enum    enumeration first, Newton on its result always      [docs/theory/local-solvers.md]
#include "cone/local_impl.h"
#include "cone/slide.h"

enum { SLIDE_STEPS = 8 }; // refinements of one candidate; quadratic, so ample

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

// What remains when the quick ways have failed or do not apply: every other method in turn, each
// from the best iterate so far, the best kept. Projected steps end the list: they always improve.
TL_INLINE int exact_last_resort(int d, const tl_local *p, const tl_local_control *control,
                                double *r) {
    const int index = tl_dim_index(d);
    const tl_local_fn newton[] = {tl_local_fb.solve[index], tl_local_ac_damped.solve[index],
                                  tl_local_ebp.solve[index]};
    double error = INFINITY, x[TL_MAX_DIM], zero[TL_MAX_DIM] = {0.0};
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

// ---- enumeration -------------------------------------------------------------------------------

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
        if (!slide_refine(3, p, 1e-4 * tolerance, SLIDE_STEPS, x, &alpha[k])) continue;
        const double error = local_error_at(3, p, x);
        if (error < best_error) {
            best_error = error;
            memcpy(r, x, sizeof x);
            if (error <= tolerance) return true;
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

// ---- hybrids -----------------------------------------------------------------------------------

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

TL_INLINE int hybrid_solve(int d, const tl_local *p, const tl_local_control *control, double *r) {
    if (p->law.yield > 0.0) return exact_last_resort(d, p, control, r);
    if (p->law.zeta == 0.0 && p->law.mu > 0.0 && !isinf(p->law.mu)) {
        if (d == 3 && p->schur &&
            slide_quick_3(p->schur, p->w, p->law.mu, p->b, control->tolerance, r))
            return 1;
        if (d == 2 && slide_quick_2(p->w, p->law.mu, p->b, r)) return 1;
    }
    if (exact_simple(d, p, r)) return 0;
    const int steps = hybrid_slide(d, p, control, r);
    if (steps >= 0) return steps;
    double x[TL_MAX_DIM] = {0.0};
    const int newton = tl_local_ebp.solve[tl_dim_index(d)](p, control, x);
    if (newton >= 0) {
        for (int k = 0; k < d; k++) r[k] = x[k];
        return newton;
    }
    if (enum_slide(d, p, control->tolerance, r)) return 1;
    return exact_last_resort(d, p, control, r);
}

// d = 6 has no quartic: the search takes its place.
TL_INLINE int enum_solve(int d, const tl_local *p, const tl_local_control *control, double *r) {
    if (d == 6 || p->law.yield > 0.0) return hybrid_solve(d, p, control, r);
    if (exact_simple(d, p, r)) return 0;
    return enum_slide(d, p, control->tolerance, r) ? 1 : -1;
}

TL_INLINE int hybrid_newton_solve(int d, const tl_local *p, const tl_local_control *control,
                                  double *r) {
    if (p->law.yield > 0.0) return exact_last_resort(d, p, control, r);
    const int steps = tl_local_fb.solve[tl_dim_index(d)](p, control, r);
    if (steps >= 0) return steps;
    double x[TL_MAX_DIM], error = local_error_at(d, p, r);
    for (int k = 0; k < d; k++) x[k] = r[k];
    const int found = enum_solve(d, p, control, x);
    if (exact_keep(d, p, control->tolerance, x, r, &error)) return found > 0 ? found : 0;
    return -1;
}

TL_INLINE int hybrid_enum_solve(int d, const tl_local *p, const tl_local_control *control,
                                double *r) {
    if (p->law.yield > 0.0) return exact_last_resort(d, p, control, r);
    double x[TL_MAX_DIM], error = local_error_at(d, p, r);
    for (int k = 0; k < d; k++) x[k] = r[k];
    enum_solve(d, p, control, x);
    exact_keep(d, p, control->tolerance, x, r, &error);
    return tl_local_fb.solve[tl_dim_index(d)](p, control, r);
}

#define EXACT_FORM(name, d)                                                                        \
    static int name##_##d(const tl_local *p, const tl_local_control *control, double *r) {         \
        return name##_solve(d, p, control, r);                                                     \
    }
#define EXACT_FORMS(name)                                                                          \
    EXACT_FORM(name, 2)                                                                            \
    EXACT_FORM(name, 3)                                                                            \
    EXACT_FORM(name, 6)                                                                            \
    const tl_local_forms tl_local_##name = {{name##_2, name##_3, name##_6}, {0}};

EXACT_FORMS(enum)
EXACT_FORMS(hybrid)
EXACT_FORMS(hybrid_newton)
EXACT_FORMS(hybrid_enum)
