// SPDX-License-Identifier: Apache-2.0
#include "solve/primal.h"
#include "problem/mass.h"
#include <math.h>
#include <string.h>

enum { PRIMAL_POWER_STEPS = 30 };
#define PRIMAL_GROWTH 1.5        // of squared steps that methods close to a gradient step bear
#define PRIMAL_POWER_MARGIN 1.02 // power iteration comes from below

const char *tl_primal_space_name(int k) {
    static const char *const name[] = {"auto", "impulses", "velocities"};
    return k < 3 ? name[k] : NULL;
}

void tl_primal_clear(talus_solver *base) {
    tl_primal *s = (tl_primal *)base;
    talus_context *ctx = base->ctx;
    tl_dual_clear(base);
    tl_spd_destroy(s->shifted);
    s->shifted = NULL;
    tl_free(ctx, s->f);
    tl_free(ctx, s->metric);
    tl_free(ctx, s->omega);
    s->f = s->metric = s->omega = NULL;
    for (int k = 0; k < TL_PRIMAL_STATES; k++) {
        tl_free(ctx, s->state[k]);
        s->state[k] = NULL;
    }
    for (int k = 0; k < TL_PRIMAL_WORK; k++) {
        tl_free(ctx, s->work[k]);
        s->work[k] = NULL;
    }
}

talus_status tl_primal_mass(talus_context *ctx, const talus_problem *p, tl_csr *out) {
    talus_status status = TALUS_OK;
    const int64_t entries = tl_mass_entry_count(p->mass);
    int32_t *col = NULL;
    *out = (tl_csr){.rows = p->dof, .cols = p->dof};
    TL_GOTO(TL_ALLOC(ctx, entries, &col));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)p->dof + 1, &out->start));
    TL_GOTO(TL_ALLOC(ctx, entries, &out->index));
    TL_GOTO(TL_ALLOC(ctx, entries, &out->value));
    tl_mass_entries(p->mass, out->index, col, out->value);
    for (int64_t k = 0; k < entries; k++) out->start[col[k] + 1]++;
    for (int32_t j = 0; j < p->dof; j++) out->start[j + 1] += out->start[j];
done:
    tl_free(ctx, col);
    if (status != TALUS_OK) tl_csr_clear(ctx, out);
    return status;
}

// f, D and the weights of the constraint rows, velocities.
static talus_status primal_velocities(tl_primal *s, const talus_problem *p, bool diagonal) {
    talus_context *ctx = s->dual.base.ctx;
    tl_csr m;
    TL_TRY(tl_problem_wake(p));
    TL_TRY(tl_primal_mass(ctx, p, &m));
    s->scale = 0.0;
    for (int32_t j = 0; j < p->dof; j++) {
        s->f[j] = p->f[j];
        s->metric[j] = diagonal ? tl_csr_at(&m, j, j) : 1.0;
        s->scale += diagonal ? 1.0 / p->dof : tl_csr_at(&m, j, j) / p->dof;
    }
    tl_csr_clear(ctx, &m);
    double *r = s->work[0], most = 0.0;
    for (int64_t k = 0; k < s->dual.size; k++) r[k] = 0.0;
    for (int32_t i = 0; i < p->count && p->tension; i++) r[(int64_t)p->dim * i] = -p->tension[i];
    tl_problem_add_force(p, r, s->f);
    for (int32_t i = 0; i < p->count; i++) most = TL_MAX(s->dual.lambda[i], most);
    for (int32_t j = 0; j < p->constraint_count; j++) {
        double sum = 0.0; // c_j D⁻¹ c_jᵀ beside the λmax(W_ii)
        for (int64_t k = p->c.start[j]; k < p->c.start[j + 1]; k++)
            sum += p->c.value[k] * p->c.value[k] / s->metric[p->c.index[k]];
        s->omega[s->dual.size + j] = diagonal && most > 0.0 ? sum / most : 1.0;
    }
    return TALUS_OK;
}

talus_status tl_primal_prepare(talus_solver *base, const talus_problem *p, bool velocities,
                               int stacks, int vs) {
    tl_primal *s = (tl_primal *)base;
    const tl_dual_options *opt = base->options;
    talus_context *ctx = base->ctx;
    TL_REQUIRE(ctx, !velocities || p->is_global, TALUS_ERR_ARG,
               "%s: space = velocities needs a global problem (M, H); this one is local (W): use "
               "space = impulses",
               base->ops->name);
    if (velocities)
        TL_TRY(tl_dual_prepare_basic(base, p, 1));
    else
        TL_TRY(tl_dual_prepare_whole(base, p));
    const int d = p->dim;
    s->velocities = velocities;
    s->rows = velocities ? p->constraint_count : 0;
    s->stack = s->dual.size + s->rows;
    s->n = velocities ? p->dof : s->stack;
    s->stacks = stacks;
    s->vs = vs;
    s->scale = 1.0;
    s->growth = velocities ? TL_PRIMAL_DECREASE : PRIMAL_GROWTH;
    TL_TRY(TL_ALLOC(ctx, s->n, &s->f));
    TL_TRY(TL_ALLOC(ctx, s->n, &s->metric));
    TL_TRY(TL_ALLOC(ctx, s->stack, &s->omega));
    for (int k = 0; k < TL_PRIMAL_STATES; k++)
        TL_TRY(TL_ALLOC(ctx, stacks * s->stack + vs * s->n, &s->state[k]));
    for (int k = 0; k < TL_PRIMAL_WORK; k++)
        TL_TRY(TL_ALLOC(ctx, TL_MAX(s->stack, s->n), &s->work[k]));
    for (int64_t k = 0; k < s->n; k++) s->metric[k] = 1.0;
    for (int64_t k = 0; k < s->dual.size; k++) s->omega[k] = s->dual.weight[k / d];
    return velocities ? primal_velocities(s, p, opt->diagonal) : TALUS_OK;
}

// What cannot be computed is not a number, and the loop takes that for divergence.
static void primal_check(talus_status status, int64_t n, double *x) {
    for (int64_t k = 0; k < n && status != TALUS_OK; k++) x[k] = NAN;
}

static void primal_apply(const tl_primal *s, bool free, const double *v, double *a) {
    const talus_problem *p = s->dual.w.problem;
    const int64_t size = (int64_t)p->dim * p->count;
    for (int64_t k = 0; k < s->dual.size; k++) a[k] = free && k < size ? p->w[k] : 0.0;
    tl_problem_add_velocity(p, v, a);
    for (int64_t j = 0; j < s->rows; j++) a[s->dual.size + j] = free ? -p->k[j] : 0.0;
    if (s->rows > 0) tl_csr_add(&p->c, 1.0, v, a + s->dual.size);
}

void tl_primal_velocity(const tl_primal *s, const double *v, double *a) {
    if (s->velocities)
        primal_apply(s, true, v, a);
    else
        tl_dual_apply(&s->dual, v, a);
}

void tl_primal_force(const tl_primal *s, const double *y, double *out) {
    if (!s->velocities) {
        memcpy(out, y, (size_t)s->n * sizeof *out);
        return;
    }
    const talus_problem *p = s->dual.w.problem;
    for (int64_t k = 0; k < s->n; k++) out[k] = 0.0;
    tl_problem_add_force(p, y, out);
    if (s->rows > 0) tl_csr_add_transposed(&p->c, 1.0, y + s->dual.size, out);
}

void tl_primal_momentum(const tl_primal *s, const double *v, double *z) {
    if (!s->velocities) {
        memcpy(z, v, (size_t)s->n * sizeof *z);
        return;
    }
    tl_mass_multiply(s->dual.w.problem->mass, v, z);
    for (int64_t k = 0; k < s->n; k++) z[k] -= s->f[k];
}

void tl_primal_solve(const tl_primal *s, double *x) {
    if (!s->velocities)
        for (int64_t k = 0; k < s->n; k++) x[k] /= 1.0 + s->beta;
    else if (s->shifted)
        primal_check(tl_spd_solve(s->shifted, 1, x), s->n, x);
    else
        primal_check(tl_mass_solve(s->dual.w.problem->mass, 1, x), s->n, x);
}

void tl_primal_measure(tl_primal *s, bool exact) {
    if (!s->velocities) {
        s->norm = s->dual.largest;
        return;
    }
    const talus_problem *p = s->dual.w.problem;
    const int64_t size = (int64_t)p->dim * p->count;
    double *x = s->work[0], *y = s->work[1], *v = s->work[2];
    s->norm = 0.0;
    for (int64_t k = 0; k < s->stack; k++)
        x[k] = k >= size && k < s->dual.size ? 0.0 : 1.0 + (double)(k % 7) / 7.0;
    for (int step = 0; step < PRIMAL_POWER_STEPS; step++) {
        tl_primal_force(s, x, v);
        if (exact)
            primal_check(tl_mass_solve(p->mass, 1, v), s->n, v);
        else
            for (int64_t k = 0; k < s->n; k++) v[k] /= s->metric[k];
        primal_apply(s, false, v, y);
        double most = 0.0, before = 0.0;
        for (int64_t k = 0; k < s->stack; k++) {
            y[k] /= s->omega[k];
            most += s->omega[k] * y[k] * y[k];
            before += s->omega[k] * x[k] * x[k];
        }
        if (!(most > 0.0)) break;
        s->norm = PRIMAL_POWER_MARGIN * sqrt(most / before);
        for (int64_t k = 0; k < s->stack; k++) x[k] = y[k] / sqrt(most);
    }
    if (!(s->norm > 0.0)) s->norm = 1.0;
}

double tl_primal_largest_mass(tl_primal *s) {
    if (!s->velocities) return 1.0;
    double *x = s->work[0], *y = s->work[1], lambda = 1.0;
    for (int64_t k = 0; k < s->n; k++) x[k] = 1.0 + (double)(k % 7) / 7.0;
    for (int step = 0; step < PRIMAL_POWER_STEPS; step++) {
        tl_mass_multiply(s->dual.w.problem->mass, x, y);
        double most = 0.0, before = 0.0;
        for (int64_t k = 0; k < s->n; k++) {
            y[k] /= s->metric[k];
            most += s->metric[k] * y[k] * y[k];
            before += s->metric[k] * x[k] * x[k];
        }
        if (!(most > 0.0)) break;
        lambda = PRIMAL_POWER_MARGIN * sqrt(most / before);
        for (int64_t k = 0; k < s->n; k++) x[k] = y[k] / sqrt(most);
    }
    return lambda;
}

void tl_primal_steps(tl_primal *s, double inertia) {
    const tl_primal_options *opt = s->dual.base.options;
    s->gamma = opt->dual.step;
    s->beta = opt->beta;
    if (s->beta == 0.0) s->beta = s->gamma > 0.0 ? s->gamma * s->norm : inertia * s->scale;
    if (s->gamma == 0.0) s->gamma = s->beta / s->norm;
}

talus_status tl_primal_shift(tl_primal *s) {
    const talus_problem *p = s->dual.w.problem;
    tl_csr m;
    int32_t bad;
    if (!s->velocities || s->beta == 0.0) return TALUS_OK;
    TL_TRY(tl_primal_mass(p->ctx, p, &m));
    for (int32_t j = 0; j < p->dof; j++)
        for (int64_t k = m.start[j]; k < m.start[j + 1]; k++)
            if (m.index[k] == j) m.value[k] += s->beta * s->metric[j];
    talus_status status = tl_spd_create(p->ctx, &m, 0.0, &bad, &s->shifted);
    tl_csr_clear(p->ctx, &m);
    TL_TRY(status);
    return tl_spd_solve(s->shifted, 1, s->work[0]); // takes the memory that later solves use
}

void tl_primal_project(const tl_primal *s, double gamma, const double *y, const double *a,
                       double *out, double *u) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const int64_t at = (int64_t)d * i;
        const double step = gamma / s->omega[at];
        double x[TL_MAX_DIM];
        tl_shift(d, &s->dual.law[i], a + at, x);
        for (int k = 0; k < d; k++) x[k] = y[at + k] - step * x[k];
        tl_project(d, &s->dual.law[i], x, x);
        for (int k = 0; k < d && u; k++) u[at + k] = (x[k] - y[at + k]) / step + a[at + k];
        for (int k = 0; k < d; k++) out[at + k] = x[k];
    }
    for (int64_t k = s->dual.size; k < s->stack; k++) {
        out[k] = y[k] - gamma / s->omega[k] * a[k];
        if (u) u[k] = 0.0;
    }
}

// The rest of a state from its impulses: λ and v as they cause them, all stacked vectors A v + b.
static void primal_begin(tl_primal *s, double *x) {
    const talus_problem *p = s->dual.w.problem;
    double *v = s->vs > 0 ? x + tl_primal_spaced(s, 0) : s->work[1];
    if (s->velocities) {
        double *r = s->work[0];
        memcpy(r, x, (size_t)s->dual.size * sizeof *r);
        for (int32_t i = 0; i < p->count && p->tension; i++)
            r[(int64_t)p->dim * i] -= p->tension[i];
        primal_check(talus_problem_state(p, r, v, NULL, s->rows > 0 ? x + s->dual.size : NULL),
                     s->n, v);
    } else {
        memcpy(v, x, (size_t)s->n * sizeof *v);
    }
    for (int k = 1; k < s->stacks; k++) tl_primal_velocity(s, v, x + tl_primal_stacked(s, k));
    for (int k = 1; k < s->vs; k++) tl_primal_force(s, x, x + tl_primal_spaced(s, k));
}

// How far a step went, in units of u·r: by y and by the velocities that go with it, those of the
// contacts where the state has them.
static double primal_distance(const tl_primal *s, const double *from, const double *to) {
    double sum = 0.0;
    for (int64_t k = 0; k < s->stack; k++)
        sum += s->omega[k] / s->gamma * (from[k] - to[k]) * (from[k] - to[k]);
    for (int64_t k = 0; k < s->stack && s->stacks > 1; k++) {
        const double change = from[s->stack + k] - to[s->stack + k];
        sum += s->gamma / s->omega[k] * change * change;
    }
    for (int64_t k = 0; k < s->n && s->stacks == 1 && s->vs > 0; k++) {
        const double change = from[s->stack + k] - to[s->stack + k];
        sum += s->velocities ? s->beta * s->metric[k] * change * change
                             : s->omega[k] / s->gamma * change * change;
    }
    return sum;
}

// (from − to)·(to − before) on y: positive when the momentum points back.
static bool primal_turns(const tl_primal *s, const double *from, const double *to,
                         const double *before) {
    double sum = 0.0;
    for (int64_t k = 0; k < s->stack; k++)
        sum += s->omega[k] * (from[k] - to[k]) * (to[k] - before[k]);
    return sum > 0.0;
}

void tl_primal_loop(tl_primal *s, double *r, talus_solve_info *info, bool accelerate,
                    tl_primal_step *step) {
    const int64_t length = s->stacks * s->stack + s->vs * s->n;
    double *x = s->state[0], *next = s->state[1], *old = s->state[2], *far = s->state[3];
    double *u = s->dual.vector[0], *before = NULL, alpha = 1.0, distance = INFINITY;
    tl_dual_begin(&s->dual, r, x, info);
    primal_begin(s, x);
    memcpy(far, x, (size_t)length * sizeof *far);
    tl_dual_apply(&s->dual, x, u);
    while (!tl_dual_over(&s->dual, x, u, before)) {
        const double *from = accelerate ? far : x;
        const bool fresh = step(s, from, next);
        if (accelerate) {
            const double after = 0.5 * (1.0 + sqrt(1.0 + 4.0 * alpha * alpha));
            double factor = (alpha - 1.0) / after;
            alpha = after;
            const double moved = primal_distance(s, from, next);
            const bool longer = moved > s->growth * distance;
            distance = moved;
            if (fresh || longer || primal_turns(s, from, next, x)) {
                factor = 0.0;
                alpha = 1.0;
            }
            for (int64_t k = 0; k < length; k++) far[k] = next[k] + factor * (next[k] - x[k]);
        }
        double *const free_state = old;
        old = before = x;
        x = next;
        next = free_state;
        if (tl_dual_due(&s->dual)) tl_dual_apply(&s->dual, x, u);
    }
    tl_dual_end(&s->dual, r);
}
