// SPDX-License-Identifier: Apache-2.0
// One-contact methods that take one cheap step per visit, written for L contacts side by side:
// L = 1 is the scalar form, L = TL_LANES the form whose loops the compiler turns into vector code.
//     sbp    r ← P_T(r − ρ (u + g(u)))                            (Uzawa on the bipotential)
//     sal    r_N ← max(0, r_N − ρ u_N), r_T ← P_B(r_N)(r_T − ρ u_T)  (augmented Lagrangian)
//     epdas, ipdas   active sets from the augmented forces, conditions enforced on them
//     pyramid        |r_T1|, |r_T2| <= mu r_N, component by component (not Coulomb: a comparison)
// [docs/theory/local-solvers.md]
#include "cone/local.h"

#define MAX_L TL_LANES

// All blocks of one group: entry k of lane l at [k * L + l].
typedef struct step_group {
    const double *restrict w, *restrict mu, *restrict zeta, *restrict yield, *restrict rho;
    const double *restrict b;
    double *restrict r;
} step_group;

// u = W r + b
TL_INLINE void step_velocity(int d, int L, const step_group *g, double *restrict u) {
    for (int i = 0; i < d; i++)
        for (int l = 0; l < L; l++) {
            double s = g->b[i * L + l];
            for (int j = 0; j < d; j++) s += g->w[(i * d + j) * L + l] * g->r[j * L + l];
            u[i * L + l] = s;
        }
}

// |x_T| of each lane
TL_INLINE void step_tangent_norm(int d, int L, const double *restrict x, double *restrict norm) {
    for (int l = 0; l < L; l++) {
        double s = 0.0;
        for (int k = 1; k < d; k++) s += x[k * L + l] * x[k * L + l];
        norm[l] = sqrt(s);
    }
}

TL_INLINE void step_sbp(int d, int L, const step_group *g) {
    double u[TL_MAX_DIM * MAX_L], t[MAX_L], factor[MAX_L];
    step_velocity(d, L, g, u);
    step_tangent_norm(d, L, u, t);
    for (int l = 0; l < L; l++) { // the De Saxcé shift; none where mu = inf
        const double shift = isinf(g->mu[l]) ? 0.0 : (g->mu[l] - g->zeta[l]) * t[l];
        u[l] += shift;
    }
    for (int k = 0; k < d; k++)
        for (int l = 0; l < L; l++) u[k * L + l] = g->r[k * L + l] - g->rho[l] * u[k * L + l];
    step_tangent_norm(d, L, u, t);
    for (int l = 0; l < L; l++) { // P_T of law.h without branches
        const double n = u[l], mu = g->mu[l], yield = g->yield[l];
        const double steep = (n / mu + (t[l] - yield)) / (1.0 / mu + mu);
        const double flat = (n + mu * (t[l] - yield)) / (1.0 + mu * mu);
        const double a = mu > 1.0 ? steep : flat, slope = a > 0.0 ? a : 0.0;
        const bool keep = isinf(mu) | ((n >= 0.0) & (t[l] <= yield + mu * n));
        const bool foot = (n < 0.0) & (t[l] <= yield);
        const double clipped = n > 0.0 ? n : 0.0;
        g->r[l] = keep ? clipped : foot ? 0.0 : slope;
        factor[l] = (keep | foot) ? 1.0 : (yield + mu * slope) / t[l];
    }
    for (int k = 1; k < d; k++)
        for (int l = 0; l < L; l++) g->r[k * L + l] = factor[l] * u[k * L + l];
}

TL_INLINE void step_sal(int d, int L, const step_group *g) {
    double u[TL_MAX_DIM * MAX_L], t[MAX_L], factor[MAX_L];
    step_velocity(d, L, g, u);
    step_tangent_norm(d, L, u, t);
    for (int l = 0; l < L; l++) u[l] -= isinf(g->mu[l]) ? 0.0 : g->zeta[l] * t[l];
    for (int k = 0; k < d; k++)
        for (int l = 0; l < L; l++) u[k * L + l] = g->r[k * L + l] - g->rho[l] * u[k * L + l];
    step_tangent_norm(d, L, u, t);
    for (int l = 0; l < L; l++) {
        const double n = u[l] > 0.0 ? u[l] : 0.0, size = g->yield[l] + g->mu[l] * n;
        const bool keep = isinf(g->mu[l]) | (t[l] <= size);
        g->r[l] = n;
        factor[l] = keep ? 1.0 : size / t[l];
    }
    for (int k = 1; k < d; k++)
        for (int l = 0; l < L; l++) g->r[k * L + l] = factor[l] * u[k * L + l];
}

// x ← W_TT⁻¹ x by elimination without pivoting (W_TT is positive definite; a zero pivot, where it
// is only semi-definite, leaves that component alone).
TL_INLINE void step_solve_tangent(int d, int L, const double *restrict w, double *restrict x) {
    TL_ASSUME_DIM(d);
    const int m = d - 1;
    double a[(TL_MAX_DIM - 1) * (TL_MAX_DIM - 1) * MAX_L];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < L; l++) a[(i * m + j) * L + l] = w[((i + 1) * d + j + 1) * L + l];
    for (int k = 0; k < m; k++)
        for (int i = k + 1; i < m; i++)
            for (int l = 0; l < L; l++) {
                const double p = a[(k * m + k) * L + l];
                const double q = p > 0.0 ? a[(i * m + k) * L + l] / p : 0.0;
                for (int j = k + 1; j < m; j++)
                    a[(i * m + j) * L + l] -= q * a[(k * m + j) * L + l];
                x[i * L + l] -= q * x[k * L + l];
            }
    for (int k = m - 1; k >= 0; k--)
        for (int l = 0; l < L; l++) {
            double s = x[k * L + l];
            for (int j = k + 1; j < m; j++) s -= a[(k * m + j) * L + l] * x[j * L + l];
            const double p = a[(k * m + k) * L + l];
            x[k * L + l] = p > 0.0 ? s / p : 0.0;
        }
}

// With γ_n = 1/W_NN and γ_t = ρ. `ratio`: stick rows carry p_N⁺/p_N (epdas), else 1 (ipdas).
// Dilatancy, which the source does not have, enters as u_N = zeta |u_T| at the old u_T.
TL_INLINE void step_pdas(int d, int L, const step_group *g, bool ratio) {
    double u[TL_MAX_DIM * MAX_L], y[TL_MAX_DIM * MAX_L], x[TL_MAX_DIM * MAX_L];
    double ut[MAX_L], yt[MAX_L];
    step_velocity(d, L, g, u);
    step_tangent_norm(d, L, u, ut);
    for (int k = 1; k < d; k++)
        for (int l = 0; l < L; l++) {
            y[k * L + l] = g->r[k * L + l] - g->rho[l] * u[k * L + l];
            x[(k - 1) * L + l] = u[k * L + l];
        }
    step_tangent_norm(d, L, y, yt);
    step_solve_tangent(d, L, g->w, x); // x = W_TT⁻¹ u_T
    for (int l = 0; l < L; l++) {
        const double wnn = g->w[l], pn = g->r[l];
        const double open_rate = isinf(g->mu[l]) ? 0.0 : g->zeta[l] * ut[l]; // wanted u_N
        const bool active = pn - (u[l] - open_rate) / wnn >= 0.0;
        const double size = g->yield[l] + g->mu[l] * pn;
        const bool stick = isinf(g->mu[l]) | (yt[l] <= size);
        // p_T⁺ = base_k − p_N⁺ slope_k ; then W_NN p_N⁺ + W_NT p_T⁺ + b_N = wanted u_N.
        double right = open_rate - g->b[l], left = wnn;
        double base[TL_MAX_DIM], slope[TL_MAX_DIM];
        const bool couple = ratio & stick & (pn > 0.0);
        const double scale = size / (yt[l] > 0.0 ? yt[l] : 1.0), inverse = couple ? 1.0 / pn : 0.0;
        for (int k = 1; k < d; k++) {
            const double dx = x[(k - 1) * L + l], wnt = g->w[k * L + l];
            const double held = couple ? g->r[k * L + l] : g->r[k * L + l] - dx;
            base[k] = stick ? held : scale * y[k * L + l];
            slope[k] = inverse * dx;
            right -= wnt * base[k];
            left -= wnt * slope[k];
        }
        // A vanishing pivot means that the coupled row has no sound answer: keep p_N then.
        const double solved = left > 1e-3 * wnn ? right / left : pn;
        const double normal = (active & (solved > 0.0)) ? solved : 0.0;
        g->r[l] = normal;
        for (int k = 1; k < d; k++)
            g->r[k * L + l] = normal > 0.0 ? base[k] - normal * slope[k] : 0.0;
    }
}

// Gauss-Seidel on the components, with a box for the tangent.
TL_INLINE void step_pyramid(int d, int L, const step_group *g) {
    for (int k = 0; k < d; k++)
        for (int l = 0; l < L; l++) {
            double s = g->b[k * L + l];
            for (int j = 0; j < d; j++) s += g->w[(k * d + j) * L + l] * g->r[j * L + l];
            const double p = g->w[(k * d + k) * L + l];
            const double x = g->r[k * L + l] - (p > 0.0 ? s / p : 0.0);
            const double size = isinf(g->mu[l]) ? INFINITY : g->yield[l] + g->mu[l] * g->r[l];
            const double low = k == 0 ? 0.0 : -size, high = k == 0 ? INFINITY : size;
            g->r[k * L + l] = x < low ? low : x > high ? high : x;
        }
}

// The forms that the tables name: one scalar and one of TL_LANES for each method and dimension.
// The latter are not static because functions with several clones must not be.
#define STEP_SCALAR(name, d, call)                                                                 \
    static int name##_##d(const tl_local *p, const tl_local_control *control, double *r) {         \
        (void)control;                                                                             \
        const step_group g = {p->w, &p->law.mu, &p->law.zeta, &p->law.yield, &p->rho, p->b, r};    \
        enum { D = d, L = 1 };                                                                     \
        call;                                                                                      \
        return 1;                                                                                  \
    }
#define STEP_LANES(name, d, call)                                                                  \
    void tl_##name##_lanes_##d(const double *w, const double *law, const double *rho,              \
                               const double *b, double *r);                                        \
    TL_SIMD_CLONES void tl_##name##_lanes_##d(const double *w, const double *law,                  \
                                              const double *rho, const double *b, double *r) {     \
        const step_group g = {w, law, law + TL_LANES, law + 2 * TL_LANES, rho, b, r};              \
        enum { D = d, L = TL_LANES };                                                              \
        call;                                                                                      \
    }
#define STEP_FORMS(name, call)                                                                     \
    STEP_SCALAR(name, 2, call)                                                                     \
    STEP_SCALAR(name, 3, call)                                                                     \
    STEP_SCALAR(name, 6, call)                                                                     \
    STEP_LANES(name, 2, call)                                                                      \
    STEP_LANES(name, 3, call)                                                                      \
    STEP_LANES(name, 6, call)                                                                      \
    const tl_local_forms tl_local_##name = {                                                       \
        {name##_2, name##_3, name##_6},                                                            \
        {tl_##name##_lanes_2, tl_##name##_lanes_3, tl_##name##_lanes_6}};

STEP_FORMS(sbp, step_sbp(D, L, &g))
STEP_FORMS(sal, step_sal(D, L, &g))
STEP_FORMS(epdas, step_pdas(D, L, &g, true))
STEP_FORMS(ipdas, step_pdas(D, L, &g, false))
STEP_FORMS(pyramid, step_pyramid(D, L, &g))
