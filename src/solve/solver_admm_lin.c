// SPDX-License-Identifier: Apache-2.0
// admm-lin: linearised ADMM [docs/theory/primal-dual.md, (D3)]
//     v⁺ = (M + βD)⁻¹ (f + βD v + Aᵀ(y − γ (a − u))),   a⁺ = A v⁺ + b
//     y⁺ = P(y − γ (a⁺ + g(a⁺))),   u⁺ = a⁺ + (y⁺ − y)/γ
// with β >= γ |A D⁻¹ Aᵀ|: no system with H.
#include "solve/primal.h"

enum { LIN_Y, LIN_U, LIN_A, LIN_STACKS };

static const tl_option admm_lin_rows[] = {
    TL_DUAL_ROWS("penalty gamma, in units of r/u; 0: chosen from beta"),
    TL_PRIMAL_ROW_SPACE(tl_primal_options),
    TL_PRIMAL_ROW_BETA,
    TL_PRIMAL_ROW_ACCELERATE(tl_primal_options, "yes"),
    {0}};

static talus_status admm_lin_prepare(talus_solver *base, const talus_problem *p) {
    tl_primal *s = (tl_primal *)base;
    const tl_primal_options *opt = base->options;
    TL_TRY(tl_primal_prepare(base, p, opt->space == TL_SPACE_VELOCITIES, LIN_STACKS, 1));
    tl_primal_measure(s, false);
    tl_primal_steps(s, 1.0);
    return tl_primal_shift(s);
}

static bool admm_lin_step(tl_primal *s, const double *from, double *to) {
    const double *y = from + tl_primal_stacked(s, LIN_Y), *u = from + tl_primal_stacked(s, LIN_U);
    const double *a = from + tl_primal_stacked(s, LIN_A), *v = from + tl_primal_spaced(s, 0);
    double *trial = s->work[0], *next = to + tl_primal_spaced(s, 0);
    double *next_a = to + tl_primal_stacked(s, LIN_A);
    for (int64_t k = 0; k < s->stack; k++) trial[k] = y[k] - s->gamma / s->omega[k] * (a[k] - u[k]);
    tl_primal_force(s, trial, next);
    for (int64_t k = 0; k < s->n; k++) next[k] += s->f[k] + s->beta * s->metric[k] * v[k];
    tl_primal_solve(s, next);
    tl_primal_velocity(s, next, next_a);
    tl_primal_project(s, s->gamma, y, next_a, to + tl_primal_stacked(s, LIN_Y),
                      to + tl_primal_stacked(s, LIN_U));
    return false;
}

static void admm_lin_solve(talus_solver *base, double *r, talus_solve_info *info) {
    const tl_primal_options *opt = base->options;
    tl_primal_loop((tl_primal *)base, r, info, opt->accelerate, admm_lin_step);
}

const tl_solver_ops tl_admm_lin_ops = {.name = "admm-lin",
                                       .summary = "linearised ADMM, no system with H",
                                       .size = sizeof(tl_primal),
                                       .options_size = sizeof(tl_primal_options),
                                       .options = admm_lin_rows,
                                       .rows = true,
                                       .prepare = admm_lin_prepare,
                                       .solve = admm_lin_solve,
                                       .clear = tl_primal_clear};
