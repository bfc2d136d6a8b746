// SPDX-License-Identifier: Apache-2.0
// Projected gradients on min ½ rᵀW r + qᵀr over the cones (associated law), or, with the shift
// g(u) added to the gradient and frozen in each step, on Coulomb's law [docs/theory/gradients.md]:
//     pgd        r ← P(r − (u + g(u))/L)
//     apgd       the same from y = r + β(r − r⁻), Nesterov's momentum
//     apgd-as    and L adapted: 0.97 L after each step, doubled until the quadratic bound holds
//     apgd-ar    momentum restarted when it points uphill
//     apgd-asr   both
#include "solve/gradient.h"
#include <string.h>

typedef struct apgd {
    tl_gradient base; // a: y, b: its velocity v
    bool momentum, adapt, restart;
    double theta, lipschitz;
} apgd;

static void apgd_begin(tl_gradient *g) {
    apgd *m = (apgd *)g;
    m->theta = 1.0;
    if (m->lipschitz == 0.0) m->lipschitz = 1.0 / g->step;
    memcpy(g->a, g->x, (size_t)g->s->size * sizeof *g->a);
    memcpy(g->b, g->u, (size_t)g->s->size * sizeof *g->b);
}

static void apgd_advance(tl_gradient *g) {
    apgd *m = (apgd *)g;
    const tl_dual *s = g->s;
    double *const y = g->a, *const v = g->b;
    for (int doubling = 0; doubling < 100; doubling++) {
        tl_dual_step(s, y, v, 1.0 / m->lipschitz, g->next);
        tl_dual_apply(s, g->next, g->next_u);
        // f(x⁺) <= f(y) + ∇f(y)(x⁺ − y) + L/2 |x⁺ − y|², where f is quadratic
        if (!m->adapt || tl_dual_dot_difference(s, g->next, y, g->next_u, v) <=
                             m->lipschitz * tl_dual_distance(s, g->next, y))
            break;
        m->lipschitz *= 2.0;
    }
    double beta = m->momentum ? tl_gradient_momentum(&m->theta) : 0.0;
    if (m->restart) {
        tl_dual_shift(s, v, g->c);
        if (tl_dual_slope(s, g->c, g->next, g->x) > 0.0) {
            beta = 0.0;
            m->theta = 1.0;
        }
    }
    if (m->adapt) m->lipschitz *= 0.97;
    tl_dual_extrapolate(s, g->next, g->x, beta, y);
    tl_dual_extrapolate(s, g->next_u, g->u, beta, v); // u is affine: no product needed
}

#define APGD(id, text_name, text, with_momentum, with_adapt, with_restart)                         \
    static void id##_solve(talus_solver *s, double *r, talus_solve_info *info) {                   \
        apgd m = {.base = {.begin = apgd_begin, .advance = apgd_advance},                          \
                  .momentum = with_momentum,                                                       \
                  .adapt = with_adapt,                                                             \
                  .restart = with_restart};                                                        \
        tl_gradient_solve(s, &m.base, r, info);                                                    \
    }                                                                                              \
    TL_GRADIENT_OPS(id, text_name, text)

APGD(pgd, "pgd", "projected gradient, fixed step", false, false, false)
APGD(apgd, "apgd", "accelerated projected gradient, fixed step", true, false, false)
APGD(apgd_as, "apgd-as", "accelerated projected gradient, adaptive step", true, true, false)
APGD(apgd_ar, "apgd-ar", "accelerated projected gradient, adaptive restart", true, false, true)
APGD(apgd_asr, "apgd-asr", "accelerated projected gradient, adaptive step and restart", true, true,
     true)
