// SPDX-License-Identifier: Apache-2.0
// Projected gradients whose step comes from a line search or from the last two iterates
// [docs/theory/gradients.md]. With F = u + g(u) and f(r) = ½ rᵀW r + (q + g)ᵀr, the shift g frozen
// in a step:
//     projected-gradient   r ← P(r − ξF), ξ by Armijo's rule on f
//     spg                  r ← r + t (P(r − ξF) − r), ξ = Barzilai and Borwein's step, t by a
//                          non-monotone line search
//     aspg                 r̂ ← P(r − ξF), ξ as before, r = r̂ + β (r̂ − r̂⁻), Nesterov's momentum
// Along d = r⁺ − r the objective changes by t F·d + ½ t² d·W d. Where r⁺ = P(r − ξF), F·d is at
// most −|d|²/ξ; near a solution that bound is all that rounding leaves of F·d, because F is not
// small on contacts that slide or are open.
#include "solve/gradient.h"
#include <math.h>
#include <string.h>

// ---- projected-gradient ------------------------------------------------------------------------

static void projected_begin(tl_gradient *g) { (void)g; }

static void projected_advance(tl_gradient *g) {
    const tl_dual *s = g->s;
    g->step *= 1.25;
    for (int halving = 0; halving < 100; halving++) {
        tl_dual_step(s, g->x, g->u, g->step, g->next);
        tl_dual_apply(s, g->next, g->next_u);
        // f(r⁺) − f(r) <= −|d|²/ξ + ½ d·W d, to be at most −½ |d|²/ξ
        if (g->step * tl_dual_dot_difference(s, g->next, g->x, g->next_u, g->u) <=
            tl_dual_distance(s, g->next, g->x))
            break;
        g->step *= 0.5;
    }
}

static void projected_gradient_solve(talus_solver *s, double *r, talus_solve_info *info) {
    tl_gradient g = {.begin = projected_begin, .advance = projected_advance};
    tl_gradient_solve(s, &g, r, info);
}

TL_GRADIENT_OPS(projected_gradient, "projected-gradient",
                "projected gradient, step by Armijo's line search", tl_gradient_options,
                tl_gradient_rows)

// ---- spg and aspg -------------------------------------------------------------------------------

enum { SPG_MEMORY = 10 }; // values of f that a new one may not exceed all of

typedef struct spg {
    tl_gradient base; // a: r̂ of aspg, b: the next one, c: F
    double theta;
    double change[SPG_MEMORY - 1]; // of f in the last steps, newest first
} spg;

// A step of Barzilai and Borwein, kept within reason: the published limits, in units of 1/λmax.
static double spg_clamp(const tl_dual *s, double step) {
    return isnan(step) ? 1.0 / s->largest : fmin(fmax(step, 1e-6 / s->largest), 1e6 / s->largest);
}

static void spg_begin(tl_gradient *g) {
    spg *m = (spg *)g;
    m->theta = 1.0;
    memset(m->change, 0, sizeof m->change);
    memcpy(g->a, g->x, (size_t)g->s->size * sizeof *g->a);
}

// The largest of the last values of f, less the present one.
static double spg_slack(const spg *m) {
    double most = 0.0, sum = 0.0;
    for (int k = 0; k < SPG_MEMORY - 1; k++) {
        sum -= m->change[k];
        most = fmax(most, sum);
    }
    return most;
}

static void spg_advance(tl_gradient *g) {
    spg *m = (spg *)g;
    const tl_dual *s = g->s;
    tl_dual_shift(s, g->u, g->c);
    tl_dual_step(s, g->x, g->u, g->step, g->next);
    tl_dual_apply(s, g->next, g->next_u);
    const double slope =
        fmin(tl_dual_slope(s, g->c, g->next, g->x), -tl_dual_distance(s, g->next, g->x) / g->step);
    const double curve = tl_dual_dot_difference(s, g->next, g->x, g->next_u, g->u);
    const double slack = spg_slack(m), least = -slope / curve; // the quadratic is least there
    double t = 1.0;
    while (t > 1e-10 && t * slope + 0.5 * t * t * curve > slack + 1e-4 * t * slope)
        t = least >= 0.1 * t && least <= 0.9 * t ? least : 0.5 * t;
    if (t < 1.0) { // u is affine: no product needed
        tl_dual_extrapolate(s, g->x, g->next, -t, g->next);
        tl_dual_extrapolate(s, g->u, g->next_u, -t, g->next_u);
    }
    memmove(m->change + 1, m->change, sizeof m->change - sizeof *m->change);
    m->change[0] = t * slope + 0.5 * t * t * curve;
    g->step = spg_clamp(s, tl_dual_distance(s, g->next, g->x) / (t * t * curve));
}

static void aspg_advance(tl_gradient *g) {
    spg *m = (spg *)g;
    const tl_dual *s = g->s;
    double *const hat = g->a, *const next_hat = g->b;
    tl_dual_shift(s, g->u, g->c);
    tl_dual_step(s, g->x, g->u, g->step, next_hat);
    double beta = 0.0;
    if (tl_dual_slope(s, g->c, next_hat, hat) < 0.0)
        beta = tl_gradient_momentum(&m->theta);
    else
        m->theta = 1.0;
    tl_dual_extrapolate(s, next_hat, hat, beta, g->next);
    tl_dual_apply(s, g->next, g->next_u);
    g->step = spg_clamp(s, tl_dual_dot_difference(s, g->next, g->x, g->next_u, g->u) /
                               tl_dual_distance_u(s, g->next_u, g->u));
    g->a = next_hat;
    g->b = hat;
}

static void spg_solve(talus_solver *s, double *r, talus_solve_info *info) {
    spg m = {.base = {.begin = spg_begin, .advance = spg_advance}};
    tl_gradient_solve(s, &m.base, r, info);
}

static void aspg_solve(talus_solver *s, double *r, talus_solve_info *info) {
    spg m = {.base = {.begin = spg_begin, .advance = aspg_advance}};
    tl_gradient_solve(s, &m.base, r, info);
}

TL_GRADIENT_OPS(spg, "spg", "spectral projected gradient, non-monotone line search",
                tl_gradient_options, tl_gradient_rows)
TL_GRADIENT_OPS(aspg, "aspg", "accelerated spectral projected gradient, no line search",
                tl_gradient_options, tl_gradient_rows)
