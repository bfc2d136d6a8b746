// SPDX-License-Identifier: Apache-2.0
// cp: Chambolle and Pock's method [docs/theory/primal-dual.md, (D6)]
//     y⁺ = P(y − γ (ā + g(ā))),   v⁺ = (M + βD)⁻¹ (f + βD v + Aᵀy⁺),   a⁺ = A v⁺ + b
//     ā⁺ = a⁺ + θ (a⁺ − a)
// with γ |A D⁻¹ Aᵀ| <= β. θ = 0 is Arrow and Hurwicz's method.
#include "solve/primal.h"

typedef struct cp_options {
    tl_primal_options primal;
    double theta;
} cp_options;

#define CP_INERTIA                                                                                 \
    4.0 // beta in units of the mass: 1 is the projected gradient, more is slower to turn

enum { CP_Y, CP_A, CP_BAR, CP_STACKS };

static const tl_option cp_rows[] = {
    TL_DUAL_ROWS("step on the impulses, in units of r/u; 0: chosen from beta"),
    TL_PRIMAL_ROW_SPACE(tl_primal_options),
    TL_PRIMAL_ROW_BETA,
    TL_PRIMAL_ROW_ACCELERATE(tl_primal_options, "no"),
    TL_ROW(cp_options, theta, TL_OPTION_NUMBER, "1", .low = 0.0, .high = 1.0,
           .text = "extrapolation of the velocities; 0: Arrow-Hurwicz"),
    {0}};

static talus_status cp_prepare(talus_solver *base, const talus_problem *p) {
    tl_primal *s = (tl_primal *)base;
    const tl_primal_options *opt = base->options;
    TL_TRY(tl_primal_prepare(base, p, opt->space == TL_SPACE_VELOCITIES, CP_STACKS, 1));
    tl_primal_measure(s, false);
    tl_primal_steps(s, CP_INERTIA);
    return tl_primal_shift(s);
}

static bool cp_step(tl_primal *s, const double *from, double *to) {
    const cp_options *opt = s->dual.base.options;
    const double *a = from + tl_primal_stacked(s, CP_A), *v = from + tl_primal_spaced(s, 0);
    double *next = to + tl_primal_spaced(s, 0), *next_a = to + tl_primal_stacked(s, CP_A);
    double *bar = to + tl_primal_stacked(s, CP_BAR);
    tl_primal_project(s, s->gamma, from, from + tl_primal_stacked(s, CP_BAR), to, NULL);
    tl_primal_force(s, to, next);
    for (int64_t k = 0; k < s->n; k++) next[k] += s->f[k] + s->beta * s->metric[k] * v[k];
    tl_primal_solve(s, next);
    tl_primal_velocity(s, next, next_a);
    for (int64_t k = 0; k < s->stack; k++) bar[k] = next_a[k] + opt->theta * (next_a[k] - a[k]);
    return false;
}

static void cp_solve(talus_solver *base, double *r, talus_solve_info *info) {
    const tl_primal_options *opt = base->options;
    tl_primal_loop((tl_primal *)base, r, info, opt->accelerate, cp_step);
}

const tl_solver_ops tl_cp_ops = {.name = "cp",
                                 .summary = "primal-dual method of Chambolle and Pock",
                                 .size = sizeof(tl_primal),
                                 .options_size = sizeof(cp_options),
                                 .options = cp_rows,
                                 .rows = true,
                                 .prepare = cp_prepare,
                                 .solve = cp_solve,
                                 .clear = tl_primal_clear};
