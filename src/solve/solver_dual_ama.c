// SPDX-License-Identifier: Apache-2.0
// dual-ama: alternating minimisation of the dual, without any linear solve
// [docs/theory/primal-dual.md, (D5)]
//     z = M v − f,   v̂ = v + D⁻¹(Aᵀy − z)/β,   y⁺ = P(y − γ (a + g(a))),  a = A v̂ + b
//     v⁺ = v + D⁻¹(Aᵀy⁺ − z)/β
// with β >= λmax(D⁻¹M) and γ <= β / |A D⁻¹ Aᵀ|.
#include "solve/primal.h"

enum { DUAL_AMA_V, DUAL_AMA_FORCE, DUAL_AMA_SPACED }; // FORCE = Aᵀy

static const tl_option dual_ama_rows[] = {
    TL_DUAL_ROWS("step on the impulses, in units of r/u; 0: chosen from beta"),
    TL_PRIMAL_ROW_SPACE(tl_primal_options),
    TL_PRIMAL_ROW_BETA,
    TL_PRIMAL_ROW_ACCELERATE(tl_primal_options, "yes"),
    {0}};

static talus_status dual_ama_prepare(talus_solver *base, const talus_problem *p) {
    tl_primal *s = (tl_primal *)base;
    const tl_primal_options *opt = base->options;
    const bool velocities =
        opt->space == TL_SPACE_AUTO ? p->is_global : opt->space == TL_SPACE_VELOCITIES;
    TL_TRY(tl_primal_prepare(base, p, velocities, 1, DUAL_AMA_SPACED));
    tl_primal_measure(s, false);
    s->beta = opt->beta > 0.0 ? opt->beta : tl_primal_largest_mass(s);
    s->gamma = opt->dual.step > 0.0 ? opt->dual.step : s->beta / s->norm;
    return TALUS_OK;
}

static bool dual_ama_step(tl_primal *s, const double *from, double *to) {
    const double *v = from + tl_primal_spaced(s, DUAL_AMA_V);
    const double *force = from + tl_primal_spaced(s, DUAL_AMA_FORCE);
    double *next = to + tl_primal_spaced(s, DUAL_AMA_V);
    double *next_force = to + tl_primal_spaced(s, DUAL_AMA_FORCE);
    double *z = s->work[0], *a = s->work[1];
    tl_primal_momentum(s, v, z);
    for (int64_t k = 0; k < s->n; k++)
        next[k] = v[k] + (force[k] - z[k]) / (s->beta * s->metric[k]);
    tl_primal_velocity(s, next, a);
    tl_primal_project(s, s->gamma, from, a, to, NULL);
    tl_primal_force(s, to, next_force);
    for (int64_t k = 0; k < s->n; k++)
        next[k] = v[k] + (next_force[k] - z[k]) / (s->beta * s->metric[k]);
    return false;
}

static void dual_ama_solve(talus_solver *base, double *r, talus_solve_info *info) {
    const tl_primal_options *opt = base->options;
    tl_primal_loop((tl_primal *)base, r, info, opt->accelerate, dual_ama_step);
}

const tl_solver_ops tl_dual_ama_ops = {.name = "dual-ama",
                                       .summary = "dual alternating minimisation, no linear solve",
                                       .size = sizeof(tl_primal),
                                       .options_size = sizeof(tl_primal_options),
                                       .options = dual_ama_rows,
                                       .rows = true,
                                       .prepare = dual_ama_prepare,
                                       .solve = dual_ama_solve,
                                       .clear = tl_primal_clear};
