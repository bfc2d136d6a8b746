// SPDX-License-Identifier: Apache-2.0
// polish: iterations of another solver (nlgs) until open, stick and slip have settled at every
// contact; then one regularised Newton step on the equations of these states, an active-set solve,
// kept only if the measure falls [docs/theory/newton.md].
#include "solve/newton.h"
#include "solve/outer.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct polish_options {
    tl_newton_options newton;
    int32_t inner; // see tl_outer_inner_name
} polish_options;

#define ROW(f, kind, initial, ...) TL_ROW(tl_newton_options, f, kind, initial, __VA_ARGS__)
static const tl_option polish_rows[] = {
    TL_ROW(polish_options, inner, TL_OPTION_CHOICE, "nlgs", .choice = tl_outer_inner_name,
           .text = "solver whose result is polished"),
    ROW(sweeps, TL_OPTION_INTEGER, "50", .low = 1, .high = 1000000,
        .text = "its iterations between two looks at the states; one look is one iteration"),
    ROW(proximal, TL_OPTION_NUMBER, "1e-8", .low = 0.0, .high = INFINITY, .above = true,
        .text = "regularisation of the step, in units of lambda_max(W_ii)"),
    ROW(warm, TL_OPTION_YES_NO, "yes", .text = "start from the impulses given, else from zero"),
    {0},
};

enum { POLISH_SAME = 2 }; // looks at the same states before the first step

typedef struct polish {
    tl_newton newton;
    talus_solver *inner;  // NULL: nlgs, which the Newton method has anyway
    unsigned char *state; // rows: a tl_contact_status
} polish;

static void polish_clear(talus_solver *base) {
    polish *s = (polish *)base;
    tl_free(base->ctx, s->state);
    s->state = NULL;
    talus_solver_destroy(s->inner);
    s->inner = NULL;
    tl_newton_clear(base);
}

static talus_status polish_prepare(talus_solver *base, const talus_problem *p) {
    TL_TRY(tl_newton_prepare(base, p));
    polish *s = (polish *)base;
    const polish_options *opt = base->options;
    // By the rule `change` a start counts as infinitely bad, so that it is left for what follows.
    if (strcmp(tl_outer_inner_name(opt->inner), s->newton.nlgs->ops->name) != 0)
        TL_TRY(tl_inner_create(base, opt->inner, TL_MEASURE_CHANGE, p, &s->inner));
    return TL_ALLOC(base->ctx, s->newton.dual.plan.rows, &s->state);
}

// Read the states off the impulses: on the boundary of the set a contact counts as sliding. True
// when none has changed.
static bool polish_look(polish *s) {
    const tl_dual *dual = &s->newton.dual;
    const int d = dual->w.dim;
    bool same = true;
    for (int32_t row = 0; row < dual->plan.rows; row++) {
        if (dual->plan.order[row] < 0) continue;
        const double *r = s->newton.x + (int64_t)d * row;
        const tl_law *law = &dual->law[row];
        const double size = tl_norm_t(d, r), bound = law->yield + law->mu * r[0];
        const unsigned char now = r[0] == 0.0 && size == 0.0       ? TL_OPEN
                                  : size < bound * (1.0 - 0x1p-30) ? TL_STICK
                                                                   : TL_SLIP;
        same = same && now == s->state[row];
        s->state[row] = now;
    }
    return same;
}

// One step; back to where we were when it does not improve.
static bool polish_step(tl_newton *s, double damping) {
    const double before = tl_newton_left(s, 0.0);
    tl_newton_restart(s, 0.0); // x is the centre now
    if (tl_newton_step(s, 0.0, damping) && tl_newton_left(s, 0.0) < before) return true;
    memcpy(s->x, s->centre, (size_t)s->dual.size * sizeof *s->x);
    tl_dual_apply(&s->dual, s->x, s->u);
    return false;
}

// Iterations of the inner solver on x.
static void polish_iterate(polish *s) {
    tl_newton *newton = &s->newton;
    const tl_newton_options *opt = newton->dual.base.options;
    if (!s->inner) {
        newton->sweeps = opt->sweeps;
        tl_newton_sweep(newton, 0.0);
        return;
    }
    tl_dual_export(&newton->dual, newton->x, newton->given);
    tl_inner_solve(&newton->dual, s->inner, DBL_MIN, opt->sweeps, newton->given);
    tl_dual_import(&newton->dual, newton->given, newton->x);
    tl_dual_apply(&newton->dual, newton->x, newton->u);
}

static void polish_solve(talus_solver *base, double *r, talus_solve_info *info) {
    polish *s = (polish *)base;
    const tl_newton_options *opt = base->options;
    int32_t same = 0, wait = POLISH_SAME; // looks at the same states; those needed for a step
    s->newton.function = TL_NEWTON_AC;
    tl_newton_begin(&s->newton, r, info);
    while (!tl_dual_over(&s->newton.dual, s->newton.x, s->newton.u, NULL)) {
        if (same >= wait) {
            if (!polish_step(&s->newton, opt->proximal)) {
                if (wait < 1 << 20) wait *= 2;
                same = 0;
            }
            continue;
        }
        polish_iterate(s);
        same = polish_look(s) ? same + 1 : 0;
    }
    tl_dual_end(&s->newton.dual, r);
}

const tl_solver_ops tl_polish_ops = {.name = "polish",
                                     .summary =
                                         "another solver, and a Newton step once the states of all "
                                         "contacts have settled",
                                     .size = sizeof(polish),
                                     .options_size = sizeof(polish_options),
                                     .options = polish_rows,
                                     .prepare = polish_prepare,
                                     .solve = polish_solve,
                                     .clear = polish_clear};
