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

TL_INLINE void newton_function(int d, newton_kind kind, const tl_local *p, double xi,
                               const double *u, const double *r, double *f, double *fu,
                               double *fr) {
    switch (kind) {
    case NEWTON_DS:
        tl_ds(d, &p->law, xi, u, r, f, fu, fr);
        break;
    case NEWTON_AC_PROJECTED:
        tl_ac(d, &p->law, xi, TL_RADIUS_PROJECTED, u, r, f, fu, fr);
        break;
    case NEWTON_AC:
        tl_ac(d, &p->law, xi, TL_RADIUS_FORCE, u, r, f, fu, fr);
        break;
    case NEWTON_FB:
        tl_fb(d, &p->law, xi, u, r, f, fu, fr);
        break;
    }
}

double tl_local_error(int d, const tl_local *p, const double *r) {
    return d == 2   ? local_error_at(2, p, r)
           : d == 3 ? local_error_at(3, p, r)
                    : local_error_at(6, p, r);
}

// A law with a yield has no Fischer-Burmeister form; its De Saxcé function stands in.
TL_INLINE int newton_solve(int d, newton_kind kind, bool damped, const tl_local *p,
                           const tl_local_control *control, double *r) {
    const double scale = local_fb_scale(d, p);
    const bool fb = kind == NEWTON_FB;
    const double xi = fb ? scale : p->rho;
    double x[TL_MAX_DIM], u[TL_MAX_DIM], best[TL_MAX_DIM];
    double best_error = INFINITY;
    memcpy(x, r, (size_t)d * sizeof *x);
    memcpy(best, r, (size_t)d * sizeof *x);
    int step = 0;
    for (;; step++) {
        local_velocity(d, p, x, u);
        const double error = local_error(d, p, scale, u, x);
        if (error < best_error) {
            best_error = error;
            memcpy(best, x, (size_t)d * sizeof *x);
        }
        if (best_error <= control->tolerance || step == control->iterations || !isfinite(error))
            break;

        double f[TL_MAX_DIM], fu[TL_MAX_DIM * TL_MAX_DIM], fr[TL_MAX_DIM * TL_MAX_DIM];
        double jacobian[TL_MAX_DIM * TL_MAX_DIM], dx[TL_MAX_DIM];
        if (fb && p->law.yield > 0.0)
            newton_function(d, NEWTON_DS, p, xi, u, x, f, fu, fr);
        else
            newton_function(d, kind, p, xi, u, x, f, fu, fr);
        tl_mm(d, fu, p->w, jacobian);
        for (int k = 0; k < d * d; k++) jacobian[k] += fr[k];
        double gradient[TL_MAX_DIM]; // Jᵀ F
        for (int j = 0; j < d; j++) {
            gradient[j] = 0.0;
            for (int i = 0; i < d; i++) gradient[j] += jacobian[i * d + j] * f[i];
            dx[j] = -f[j];
        }
        if (!tl_small_solve(d, 1, jacobian, dx)) break;

        double length = 1.0;
        if (fb) { // light globalisation: a direction almost orthogonal to the gradient is halved
            const double slope = tl_dot(d, dx, gradient);
            if (slope > -1e-2 * tl_norm(d, dx) * tl_norm(d, gradient)) length = 0.5;
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
