// SPDX-License-Identifier: Apache-2.0
// ama: alternating minimisation [docs/theory/primal-dual.md, (D4)]
//     v = M⁻¹(f + Hᵀr + Cᵀλ),   r⁺ = P(r − γ (u + g(u))),   λ⁺ = λ − γ (C v − k),   u = H v + w
// In the space of impulses u = W r + q, with the constraints held: the projected gradient.
#include "solve/primal.h"

typedef struct ama_options {
    tl_dual_options dual;
    int32_t space; // a tl_primal_space
    bool accelerate;
} ama_options;

static const tl_option ama_rows[] = {
    TL_DUAL_ROWS("step on the impulses, in units of r/u; 0: 1/lambda_max(W)"),
    TL_PRIMAL_ROW_SPACE(ama_options),
    TL_PRIMAL_ROW_ACCELERATE(ama_options, "yes"),
    {0}};

static talus_status ama_prepare(talus_solver *base, const talus_problem *p) {
    tl_primal *s = (tl_primal *)base;
    const ama_options *opt = base->options;
    TL_TRY(tl_primal_prepare(base, p, opt->space == TL_SPACE_VELOCITIES, 1, 0));
    tl_primal_measure(s, true);
    s->beta = 0.0;
    s->gamma = opt->dual.step > 0.0 ? opt->dual.step : 1.0 / s->norm;
    return TALUS_OK;
}

static bool ama_step(tl_primal *s, const double *from, double *to) {
    double *v = s->work[0], *a = s->work[1];
    tl_primal_force(s, from, v);
    for (int64_t k = 0; k < s->n; k++) v[k] += s->f[k];
    tl_primal_solve(s, v);
    tl_primal_velocity(s, v, a);
    tl_primal_project(s, s->gamma, from, a, to, NULL);
    return false;
}

static void ama_solve(talus_solver *base, double *r, talus_solve_info *info) {
    const ama_options *opt = base->options;
    tl_primal_loop((tl_primal *)base, r, info, opt->accelerate, ama_step);
}

const tl_solver_ops tl_ama_ops = {.name = "ama",
                                  .summary = "alternating minimisation, accelerated",
                                  .size = sizeof(tl_primal),
                                  .options_size = sizeof(ama_options),
                                  .options = ama_rows,
                                  .rows = true,
                                  .prepare = ama_prepare,
                                  .solve = ama_solve,
                                  .clear = tl_primal_clear};
