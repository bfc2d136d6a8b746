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

typedef enum apgd_search { APGD_DIFFERENCE, APGD_VALUES } apgd_search;

typedef struct apgd_options {
    tl_gradient_options gradient;
    int32_t search; // an apgd_search
} apgd_options;

static const char *apgd_search_name(int k) {
    static const char *const names[] = {"difference", "values"};
    return k < 2 ? names[k] : NULL;
}

// Of the methods that adapt L.
static const tl_option apgd_rows[] = {
    TL_GRADIENT_ROWS,
    TL_ROW(apgd_options, search, TL_OPTION_CHOICE, "difference", .choice = apgd_search_name,
           .text = "test of the adaptive step: differences, free of cancellation, or values of the "
                   "objective as published, which rounding decides near a solution"),
    {0},
};

typedef struct apgd {
    tl_gradient base; // a: y, b: its velocity v
    bool momentum, adapt, restart;
    apgd_search search;
    double theta, lipschitz;
    double beta; // without `adapt`: of the next y, which is then not kept
} apgd;

static void apgd_begin(tl_gradient *g) {
    apgd *m = (apgd *)g;
    m->theta = 1.0;
    m->beta = 0.0;
    if (m->lipschitz == 0.0) m->lipschitz = 1.0 / g->step;
    memcpy(g->a, g->x, (size_t)g->s->size * sizeof *g->a);
    memcpy(g->b, g->u, (size_t)g->s->size * sizeof *g->b);
}

// f(x) = ½ x·W x + q·x, u = W x + q
static double apgd_value(const tl_dual *s, const double *x, const double *u) {
    return 0.5 * tl_dual_slope(s, x, u, s->w.q) + tl_dual_dot(s, s->w.q, x);
}

// f(x⁺) <= f(y) + ∇f(y)·(x⁺ − y) + L/2 |x⁺ − y|², or what that is where f is quadratic. A shift
// of Coulomb's law adds the same to both sides. With `values`, the sums are those of the formula,
// from left to right: their rounding is part of the published counts.
static bool apgd_bounded(const apgd *m) {
    const tl_gradient *g = &m->base;
    const double *y = g->a, *v = g->b, distance = tl_dual_distance(g->s, g->next, y);
    if (m->search == APGD_DIFFERENCE)
        return tl_dual_dot_difference(g->s, g->next, y, g->next_u, v) <= m->lipschitz * distance;
    return apgd_value(g->s, g->next, g->next_u) <= apgd_value(g->s, y, v) +
                                                       tl_dual_slope(g->s, v, g->next, y) +
                                                       m->lipschitz / 2.0 * distance;
}

// A step of fixed length. y and v are made from the last two iterates as they are needed.
static void apgd_advance_fixed(apgd *m) {
    tl_gradient *g = &m->base;
    const double *before = g->before ? g->before : g->x;
    const double *before_u = g->before ? g->next_u : g->u;
    const double slope =
        tl_dual_carry(g->s, g->x, before, g->u, before_u, m->beta, 1.0 / m->lipschitz, g->next);
    tl_dual_apply(g->s, g->next, g->next_u);
    m->beta = m->momentum ? tl_gradient_momentum(&m->theta) : 0.0;
    if (m->restart && slope > 0.0) {
        m->beta = 0.0;
        m->theta = 1.0;
    }
}

static void apgd_advance(tl_gradient *g) {
    apgd *m = (apgd *)g;
    if (!m->adapt) {
        apgd_advance_fixed(m);
        return;
    }
    const tl_dual *s = g->s;
    double *const y = g->a, *const v = g->b;
    for (int doubling = 0; doubling < 100; doubling++) {
        tl_dual_step(s, y, v, 1.0 / m->lipschitz, g->next);
        tl_dual_apply(s, g->next, g->next_u);
        if (apgd_bounded(m)) break;
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
    m->lipschitz *= 0.97;
    tl_dual_extrapolate(s, g->next, g->x, beta, y);
    if (m->search == APGD_VALUES)
        tl_dual_apply(s, y, v);
    else
        tl_dual_extrapolate(s, g->next_u, g->u, beta, v); // u is affine: no product needed
}

static void apgd_run(talus_solver *base, double *r, talus_solve_info *info, apgd m) {
    m.base.begin = apgd_begin;
    m.base.advance = apgd_advance;
    if (m.adapt) m.search = (apgd_search)((const apgd_options *)base->options)->search;
    tl_gradient_solve(base, &m.base, r, info);
}

#define APGD(id, text_name, text, options_type, rows, ...)                                         \
    static void id##_solve(talus_solver *s, double *r, talus_solve_info *info) {                   \
        apgd_run(s, r, info, (apgd){__VA_ARGS__});                                                 \
    }                                                                                              \
    TL_GRADIENT_OPS(id, text_name, text, options_type, rows)

APGD(pgd, "pgd", "projected gradient, fixed step", tl_gradient_options, tl_gradient_rows,
     .adapt = false)
APGD(apgd, "apgd", "accelerated projected gradient, fixed step", tl_gradient_options,
     tl_gradient_rows, .momentum = true)
APGD(apgd_as, "apgd-as", "accelerated projected gradient, adaptive step", apgd_options, apgd_rows,
     .momentum = true, .adapt = true)
APGD(apgd_ar, "apgd-ar", "accelerated projected gradient, adaptive restart", tl_gradient_options,
     tl_gradient_rows, .momentum = true, .restart = true)
APGD(apgd_asr, "apgd-asr", "accelerated projected gradient, adaptive step and restart",
     apgd_options, apgd_rows, .momentum = true, .adapt = true, .restart = true)
