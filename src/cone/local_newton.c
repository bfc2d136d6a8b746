// SPDX-License-Identifier: Apache-2.0
// One-contact Newton methods on F(W r + b, r) = 0, with J = F_u W + F_r:
//     ebp   De Saxcé function, ρ as step; at most 100 steps, stop 1e-5 in the source
//     eal   Alart-Curnier with the radius from the projected normal force
//     ac    Alart-Curnier with the radius from r_N;   ac-damped: with a line search on |F|²
//     fb    Fischer-Burmeister; a step that points badly is halved [docs/theory/local-solvers.md]
// All keep the best iterate by tl_local_error, which judges every method by one measure.
#include "cone/local_impl.h"
#include "linalg/dense_inline.h"
#include <string.h>

typedef enum newton_kind { NEWTON_DS, NEWTON_AC_PROJECTED, NEWTON_AC, NEWTON_FB } newton_kind;

// All but NEWTON_FB, whose value is the measure as well, and which has its slopes apart.
TL_INLINE void newton_function(int d, newton_kind kind, const tl_local *p, double xi,
                               const double *u, const double *r, double *f, double *fu,
                               double *fr) {
    if (kind == NEWTON_DS)
        tl_ds(d, &p->law, xi, u, r, f, fu, fr);
    else
        tl_ac(d, &p->law, xi, kind == NEWTON_AC ? TL_RADIUS_FORCE : TL_RADIUS_PROJECTED, u, r, f,
              fu, fr);
}

double tl_local_error(int d, const tl_local *p, const double *r) {
    return d == 2   ? local_error_at(2, p, r)
           : d == 3 ? local_error_at(3, p, r)
                    : local_error_at(6, p, r);
}

// The step of the Fischer-Burmeister function where z is inside the cone, without L_z⁻¹: with
// x' = X dr, y' = Y dr, z = F + x + y and L_v the matrix of v∘,
//     L_z F' = L_x X + L_y Y − L_z (X + Y) = −(L_{F+y} X + L_{F+x} Y) = −K,   K dr = L_z F.
// K and its right-hand side, and the gradient F'ᵀF = −Kᵀ L_z⁻¹ F; false where it does not apply.
TL_INLINE bool newton_fb_inside(int d, const tl_local *p, double xi, const double *u,
                                const tl_fb_point *at, const double *f, double *k, double *right,
                                double *gradient) {
    const double mu = p->law.mu;
    if (mu == 0.0 || isinf(mu) || !tl_fb_inside(at)) return false;
    const double zn = 0.5 * (at->s1 + at->s2), zt = 0.5 * (at->s2 - at->s1);
    const double ut = tl_norm_t(d, u);
    const double shift = ut > 0.0 ? tl_shift_coefficient(&p->law) / ut : 0.0;
    double a[TL_MAX_DIM], b[TL_MAX_DIM], g[TL_MAX_DIM], y[TL_MAX_DIM * TL_MAX_DIM];
    double along = 0.0; // z_T·F_T
    for (int i = 0; i < d; i++) {
        a[i] = f[i] + at->y[i];
        b[i] = f[i] + at->x[i];
    }
    for (int i = 1; i < d; i++) along += zt * at->e[i] * f[i];
    const double inverse = 1.0 / (at->s1 * at->s2);
    right[0] = zn * f[0] + along;
    g[0] = (zn * f[0] - along) * inverse; // L_z⁻¹ F
    for (int i = 1; i < d; i++) {
        right[i] = zt * at->e[i] * f[0] + zn * f[i];
        g[i] = (f[i] - zt * at->e[i] * g[0]) / zn;
    }
    for (int j = 0; j < d; j++) {
        double turn = 0.0;
        for (int i = 1; i < d; i++) {
            turn += u[i] * p->w[i * d + j];
            y[i * d + j] = xi * mu * p->w[i * d + j];
        }
        y[j] = xi * (p->w[j] + shift * turn);
        k[j] = b[0] * y[j] + (j == 0 ? mu * a[0] : a[j]);
        for (int i = 1; i < d; i++) {
            k[j] += b[i] * y[i * d + j];
            k[i * d + j] =
                b[i] * y[j] + b[0] * y[i * d + j] + (j == 0 ? mu * a[i] : (double)(i == j) * a[0]);
        }
        gradient[j] = 0.0;
        for (int i = 0; i < d; i++) gradient[j] -= k[i * d + j] * g[i];
    }
    return true;
}

// A law with a yield has no Fischer-Burmeister form; its De Saxcé function stands in.
TL_INLINE int newton_solve(int d, newton_kind kind, bool damped, const tl_local *p,
                           const tl_local_control *control, double *r) {
    const double scale = local_fb_scale(d, p);
    const bool fb = kind == NEWTON_FB && p->law.yield == 0.0;
    const double xi = kind == NEWTON_FB ? scale : p->rho;
    double x[TL_MAX_DIM], u[TL_MAX_DIM], best[TL_MAX_DIM];
    double f[TL_MAX_DIM] = {0.0}, best_error = INFINITY;
    tl_fb_point at = {.s1 = 0.0};
    memcpy(x, r, (size_t)d * sizeof *x);
    memcpy(best, r, (size_t)d * sizeof *x);
    int step = 0;
    for (;; step++) {
        double error;
        local_velocity(d, p, x, u);
        if (fb) {
            tl_fb_value(d, &p->law, xi, u, x, &at, f);
            error = local_relative(d, p, xi, x, f);
        } else {
            error = local_error(d, p, scale, u, x);
        }
        if (error < best_error) {
            best_error = error;
            memcpy(best, x, (size_t)d * sizeof *x);
        }
        if (best_error <= control->tolerance || step == control->iterations || !isfinite(error))
            break;

        double fu[TL_MAX_DIM * TL_MAX_DIM], fr[TL_MAX_DIM * TL_MAX_DIM];
        double jacobian[TL_MAX_DIM * TL_MAX_DIM], dx[TL_MAX_DIM];
        double gradient[TL_MAX_DIM]; // Jᵀ F
        if (!fb || !newton_fb_inside(d, p, xi, u, &at, f, jacobian, dx, gradient)) {
            if (fb)
                tl_fb_slopes(d, &p->law, xi, u, x, &at, fu, fr);
            else
                newton_function(d, kind == NEWTON_FB ? NEWTON_DS : kind, p, xi, u, x, f, fu, fr);
            tl_mm(d, fu, p->w, jacobian);
            for (int k = 0; k < d * d; k++) jacobian[k] += fr[k];
            for (int j = 0; j < d; j++) {
                gradient[j] = 0.0;
                for (int i = 0; i < d; i++) gradient[j] += jacobian[i * d + j] * f[i];
                dx[j] = -f[j];
            }
        }
        if (!tl_small_solve(d, 1, jacobian, dx)) break;

        double length = 1.0;
        if (kind == NEWTON_FB) { // light globalisation: almost orthogonal to the gradient is halved
            const double slope = tl_dot(d, dx, gradient), share = 1e-4 * tl_dot(d, dx, dx);
            if (slope > 0.0 || slope * slope < share * tl_dot(d, gradient, gradient)) length = 0.5;
        } else if (damped) { // halve until |F|² falls
            const double before = tl_dot(d, f, f);
            for (int halving = 0; halving < 10; halving++) {
                double trial[TL_MAX_DIM], trial_u[TL_MAX_DIM], trial_f[TL_MAX_DIM];
                for (int k = 0; k < d; k++) trial[k] = x[k] + length * dx[k];
                local_velocity(d, p, trial, trial_u);
                newton_function(d, kind, p, xi, trial_u, trial, trial_f, 0, 0);
                if (tl_dot(d, trial_f, trial_f) <= (1.0 - 1e-4 * length) * before) break;
                length *= 0.5;
            }
        }
        for (int k = 0; k < d; k++) x[k] += length * dx[k];
    }
    memcpy(r, best, (size_t)d * sizeof *x);
    return best_error <= control->tolerance ? step : -1;
}

#define NEWTON_FORM(name, d, kind, damped)                                                         \
    static int name##_##d(const tl_local *p, const tl_local_control *control, double *r) {         \
        return newton_solve(d, kind, damped, p, control, r);                                       \
    }
#define NEWTON_FORMS(name, kind, damped)                                                           \
    NEWTON_FORM(name, 2, kind, damped)                                                             \
    NEWTON_FORM(name, 3, kind, damped)                                                             \
    NEWTON_FORM(name, 6, kind, damped)                                                             \
    const tl_local_forms tl_local_##name = {{name##_2, name##_3, name##_6}, {0}};

NEWTON_FORMS(ebp, NEWTON_DS, false)
NEWTON_FORMS(eal, NEWTON_AC_PROJECTED, false)
NEWTON_FORMS(ac, NEWTON_AC, false)
NEWTON_FORMS(ac_damped, NEWTON_AC, true)
NEWTON_FORMS(fb, NEWTON_FB, false)
