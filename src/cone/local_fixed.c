// SPDX-License-Identifier: Apache-2.0
// One-contact solvers that go over the normal and the tangent in turn, until the visit is solved:
//     fixed-point   r_N ← max(0, r_N − u_N/W_NN), then r_T ← P_B(mu r_N)(r_T − u_T (d−1)/tr W_TT)
//                   with the new u_T (Duriez et al. 2006, repeated until it holds: Duriez 2008); it
//                   can run away where there is dilatancy, and leaves that to hybrid
//     four-sides    Gauss-Seidel on the components with a box |r_Tk| <= mu r_N whose first side
//                   lies along the free tangential velocity (Otaduy et al. 2009): not Coulomb's law
// [docs/theory/local-solvers.md]
#include "cone/exact.h"
#include <math.h>

// ---- fixed-point -------------------------------------------------------------------------------

// The normal, and then the tangent with what that has made of u_T.
TL_INLINE void fixed_step(int d, const tl_local *p, double tangent, const double *u, double *r) {
    const double normal = r[0] - u[0] / p->w[0];
    const double change = (normal > 0.0 ? normal : 0.0) - r[0];
    r[0] += change;
    for (int k = 1; k < d; k++) r[k] -= tangent * (u[k] + p->w[k * d] * change);
    const double size = isinf(p->law.mu) ? INFINITY : p->law.yield + p->law.mu * r[0];
    const double length = tl_norm_t(d, r);
    for (int k = 1; k < d && length > size; k++) r[k] *= size / length;
}

TL_INLINE int fixed_point_solve(int d, const tl_local *p, const tl_local_control *control,
                                double *r) {
    if (p->law.zeta > 0.0 && !isinf(p->law.mu))
        return tl_local_hybrid.solve[tl_dim_index(d)](p, control, r);
    const double scale = local_fb_scale(d, p);
    double x[TL_MAX_DIM], u[TL_MAX_DIM], best = INFINITY, trace = 0.0;
    for (int k = 1; k < d; k++) trace += p->w[k * d + k];
    const double tangent = (d - 1) / trace;
    for (int k = 0; k < d; k++) x[k] = r[k];
    for (int step = 0;; step++) {
        local_velocity(d, p, x, u);
        const double error = local_error(d, p, scale, u, x);
        if (error < best) {
            best = error;
            for (int k = 0; k < d; k++) r[k] = x[k];
        }
        if (best <= control->tolerance) return step;
        if (step == control->iterations || !isfinite(error)) return -1;
        fixed_step(d, p, tangent, u, x);
    }
}

// ---- four-sides --------------------------------------------------------------------------------

// The tangential part of x, seen from axes whose first is e and whose second is a right angle on
// from it; with (e_1, −e_2) back again. d = 3 only.
static void sides_turn(const double e[2], double *x) {
    const double a = x[1], b = x[2];
    x[1] = e[0] * a + e[1] * b;
    x[2] = e[0] * b - e[1] * a;
}

static void sides_turn_block(const double e[2], double *w) {
    for (int i = 0; i < 9; i += 3) sides_turn(e, w + i); // W Qᵀ
    for (int j = 0; j < 3; j++) {                        // Q (W Qᵀ)
        double column[3] = {w[j], w[3 + j], w[6 + j]};
        sides_turn(e, column);
        w[3 + j] = column[1];
        w[6 + j] = column[2];
    }
}

// Returns the rounds, or −1 when they have not come to rest.
TL_INLINE int four_sides_solve(int d, const tl_local *p, const tl_local_control *control,
                               double *r) {
    double w[TL_MAX_DIM * TL_MAX_DIM], b[TL_MAX_DIM], e[2] = {1.0, 0.0};
    for (int k = 0; k < d * d; k++) w[k] = p->w[k];
    for (int k = 0; k < d; k++) b[k] = p->b[k];
    if (d == 3) {
        const double *v = p->free ? p->free : p->b, speed = hypot(v[1], v[2]);
        for (int k = 0; k < 2 && speed > 0.0; k++) e[k] = v[k + 1] / speed;
        sides_turn_block(e, w);
        sides_turn(e, b);
        sides_turn(e, r);
    }
    const double least = control->tolerance * p->least;
    int step = 0;
    double change = INFINITY, size = 0.0;
    for (; step < control->iterations && !(change <= control->tolerance * size + least); step++) {
        change = size = 0.0;
        for (int i = 0; i < d; i++) {
            double u = b[i];
            for (int j = 0; j < d; j++) u += w[i * d + j] * r[j];
            const double most = isinf(p->law.mu) ? INFINITY : p->law.yield + p->law.mu * r[0];
            const double low = i == 0 ? 0.0 : -most, high = i == 0 ? INFINITY : most;
            const double wanted = w[i * d + i] > 0.0 ? r[i] - u / w[i * d + i] : r[i];
            const double x = wanted < low ? low : wanted > high ? high : wanted;
            change += fabs(x - r[i]);
            size += fabs(x);
            r[i] = x;
        }
    }
    const double back[2] = {e[0], -e[1]};
    if (d == 3) sides_turn(back, r);
    return change <= control->tolerance * size + least ? step : -1;
}

EXACT_FORMS(fixed_point)
EXACT_FORMS(four_sides)
