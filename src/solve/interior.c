// SPDX-License-Identifier: Apache-2.0
#include "solve/interior.h"
#include "linalg/dense_inline.h"
#include <string.h>

#define ROW(f, kind, initial, ...) TL_ROW(tl_interior_options, f, kind, initial, __VA_ARGS__)
const tl_option tl_interior_rows[] = {
    ROW(form, TL_OPTION_CHOICE, "assembled", .choice = tl_dual_fixed_form_name,
        .text = "factor W + B, or M + H'DH (global problems without constraint rows)"),
    ROW(warm, TL_OPTION_YES_NO, "yes", .text = "start from the impulses given, else from zero"),
    ROW(patience, TL_OPTION_INTEGER, "4", .low = 0, .high = INT32_MAX,
        .text = "restarts without progress before giving up; 0: never"),
    {0},
};

// What the vectors of the dual base are used for.
enum {
    INTERIOR_R,
    INTERIOR_U,
    INTERIOR_RESIDUAL,
    INTERIOR_SIDE,
    INTERIOR_BEFORE,
    INTERIOR_VECTORS
};
enum { INTERIOR_CORRECTORS = 3 };

// ---- blocks ------------------------------------------------------------------------------------

static bool interior_has_cone(const tl_law *law) {
    return !isinf(law->mu) && (law->mu > 0.0 || law->yield > 0.0);
}

static bool interior_has_ray(const tl_law *law) {
    return isinf(law->mu) || law->mu == 0.0 || law->yield > 0.0;
}

// x = A r + a
static void interior_x(int d, const tl_law *law, const double *r, double *x) {
    x[0] = law->mu * r[0] + law->yield;
    for (int k = 1; k < d; k++) x[k] = r[k];
}

// A dr
static void interior_dx(int d, const tl_law *law, const double *dr, double *dx) {
    dx[0] = law->mu * dr[0];
    for (int k = 1; k < d; k++) dx[k] = dr[k];
}

// ---- prepare -----------------------------------------------------------------------------------

void tl_interior_clear(talus_solver *base) {
    tl_interior *s = (tl_interior *)base;
    tl_free(base->ctx, s->fixed);
    tl_free(base->ctx, s->scaling);
    tl_free(base->ctx, s->pool);
    s->fixed = NULL;
    s->scaling = NULL;
    s->pool = NULL;
    s->ridge = NULL;
    tl_interior_system_clear(&s->system);
    tl_dual_clear(base);
}

// One piece of memory for all vectors.
static talus_status interior_pool(tl_interior *s) {
    const int64_t size = s->dual.size, rows = s->dual.plan.rows, d = s->dual.w.dim;
    struct {
        double **vector;
        int64_t count;
    } const part[] = {{&s->z, size},
                      {&s->k, size},
                      {&s->dr, size},
                      {&s->dz, size},
                      {&s->y, rows},
                      {&s->ky, rows},
                      {&s->dy, rows},
                      {&s->s, rows},
                      {&s->ds, rows},
                      {&s->slope, rows},
                      {&s->frame, size * d},
                      {&s->block, size * d},
                      {&s->krylov, s->direct ? rows * (TL_INTERIOR_KRYLOV + 1) : 0}};
    const size_t parts = sizeof part / sizeof *part;
    int64_t total = 0;
    for (size_t k = 0; k < parts; k++) total += part[k].count;
    TL_TRY(TL_ALLOC(s->dual.base.ctx, total, &s->pool));
    total = 0;
    for (size_t k = 0; k < parts; k++) {
        *part[k].vector = s->pool + total;
        total += part[k].count;
    }
    return TALUS_OK;
}

// The matrix. W assembled is needed for it unless the velocities are the unknowns.
static talus_status interior_system(tl_interior *s, const talus_problem *p) {
    talus_context *ctx = s->dual.base.ctx;
    const tl_interior_options *opt = s->dual.base.options;
    const bool velocities = opt->form == 1 && p->constraint_count == 0;
    if (velocities || s->dual.w.assembled)
        return tl_interior_system_create(ctx, &s->dual.w, velocities, s->fixed, opt->common.threads,
                                         &s->system);
    tl_graph graph;
    tl_delassus w = {0};
    TL_TRY(tl_graph_create(ctx, p, &graph));
    talus_status status = tl_delassus_create(ctx, p, true, &graph, s->dual.plan.rows,
                                             s->dual.plan.order, opt->common.threads, &w);
    if (status == TALUS_OK)
        status =
            tl_interior_system_create(ctx, &w, false, s->fixed, opt->common.threads, &s->system);
    tl_delassus_clear(&w);
    tl_graph_clear(ctx, &graph);
    return status;
}

talus_status tl_interior_prepare(talus_solver *base, const talus_problem *p, bool direct) {
    tl_interior *s = (tl_interior *)base;
    const tl_interior_options *opt = base->options;
    TL_TRY(tl_dual_prepare_as(base, p, INTERIOR_VECTORS, opt->form == 0, false, opt->warm));
    s->dual.interval = 1;
    TL_TRY(TL_ALLOC(base->ctx, s->dual.plan.rows, &s->fixed));
    TL_TRY(TL_ALLOC(base->ctx, s->dual.plan.rows, &s->scaling));
    s->direct = false;
    s->cones = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const tl_law *law = &s->dual.law[i];
        s->fixed[i] = law->mu == 0.0 && law->yield == 0.0;
        s->direct = s->direct || (direct && tl_shift_coefficient(law) > 0.0);
        s->cones += (interior_has_cone(law) ? 1 : 0) + (interior_has_ray(law) ? 1 : 0);
    }
    TL_TRY(interior_pool(s));
    return interior_system(s, p);
}

// ---- start -------------------------------------------------------------------------------------

// s = (mu − zeta)|u_T|
static void interior_shift(tl_interior *s, const double *u) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const double t = tl_norm_t(d, u + (int64_t)d * i);
        s->s[i] = tl_shift_coefficient(&s->dual.law[i]) * t;
        const double e2 = s->smooth ? s->dual.lambda[i] * s->gap : 0.0;
        s->slope[i] = t > 0.0 ? 1.0 / sqrt(t * t + e2) : 0.0;
    }
}

// x and z, the parts of t = x − ρ z in Q and in −Q, moved inside along the axis.
static void interior_split(int d, double rho, double push, const double *t, double *x, double *z) {
    tl_project_cone(d, 1.0, t, x);
    for (int k = 0; k < d; k++) z[k] = (x[k] - t[k]) / rho;
    x[0] += rho * push;
    z[0] += push;
}

void tl_interior_start(tl_interior *s, double push, double *r, const double *u) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        const double rho = 1.0 / s->dual.lambda[i], normal = u[at] + s->s[i];
        double x[TL_MAX_DIM], t[TL_MAX_DIM];
        if (!interior_has_cone(law)) { // r_N and y; the tangent is held, or free
            const double tau = r[at] - rho * normal;
            r[at] = TL_MAX(tau, 0.0) + rho * push;
            s->y[i] = TL_MAX(-tau, 0.0) / rho + push;
            for (int k = 1; k < d && s->fixed[i]; k++) r[at + k] = 0.0;
        } else if (!interior_has_ray(law)) {
            t[0] = law->mu * r[at] - rho * normal / law->mu;
            for (int k = 1; k < d; k++) t[k] = r[at + k] - rho * u[at + k];
            interior_split(d, rho, push, t, x, s->z + at);
            r[at] = x[0] / law->mu;
            for (int k = 1; k < d; k++) r[at + k] = x[k];
        } else { // x and r_N share the normal of r, z and y that of u
            tl_project(d, law, r + at, r + at);
            r[at] += rho * push;
            interior_x(d, law, r + at, x);
            const double factor = x[0] / (x[0] + rho * push); // off the rim where mu is zero
            for (int k = 1; k < d; k++) r[at + k] *= factor;
            for (int k = 1; k < d; k++) s->z[at + k] = u[at + k];
            s->z[at] = tl_norm_t(d, u + at) + push;
            s->y[i] = TL_MAX(normal, 0.0) + push;
        }
    }
}

double tl_interior_error(const tl_interior *s, const double *r, const double *u) {
    const int d = s->dual.w.dim;
    double most = 0.0;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const double lambda = s->dual.lambda[i], rho = 1.0 / lambda;
        const int64_t at = (int64_t)d * i;
        double f[TL_MAX_DIM] = {0.0};
        for (int k = 0; k < d; k++) f[k] = r[at + k] - rho * u[at + k];
        f[0] -= rho * s->s[i];
        tl_project(d, &s->dual.law[i], f, f);
        for (int k = 0; k < d; k++) f[k] -= r[at + k];
        const double error = lambda * tl_norm(d, f);
        if (!(error <= most)) most = error; // a NaN stays
    }
    return most;
}

// ---- one iteration -----------------------------------------------------------------------------

// μ, the mean of x·z and r_N y after a step of length `a`.
static double interior_gap(const tl_interior *s, const double *r, double a) {
    const int d = s->dual.w.dim;
    double sum = 0.0;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        double next[TL_MAX_DIM] = {0.0}, x[TL_MAX_DIM];
        for (int k = 0; k < d; k++) next[k] = r[at + k] + a * s->dr[at + k];
        interior_x(d, law, next, x);
        for (int k = 0; k < d && interior_has_cone(law); k++)
            sum += x[k] * (s->z[at + k] + a * s->dz[at + k]);
        if (interior_has_ray(law)) sum += next[0] * (s->y[i] + a * s->dy[i]);
    }
    return sum / (double)s->cones;
}

// F and E of a block that has both partners: F = 1, E = A S⁻² A + (y/r_N) n nᵀ.
static void interior_full_block(int d, const tl_law *law, const tl_scaling *scaling, double ray,
                                double *e) {
    for (int b = 0; b < d; b++) {
        double x[TL_MAX_DIM] = {0.0};
        x[b] = b == 0 ? law->mu : 1.0;
        tl_scaling_apply(d, scaling, true, x, x);
        tl_scaling_apply(d, scaling, true, x, x);
        x[0] *= law->mu;
        for (int a = 0; a < d; a++) e[a * d + b] = x[a];
    }
    e[0] += ray;
}

// Scalings, F and E. A free tangent (mu = inf) has E = 0 but for `added`, and a held one F = 0.
static bool interior_blocks(tl_interior *s, const double *r, double added) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        const bool cone = interior_has_cone(law), ray = interior_has_ray(law);
        double *f = s->frame + at * d, *e = s->block + at * d, x[TL_MAX_DIM];
        for (int k = 0; k < d * d; k++) {
            f[k] = k % (d + 1) > 0 || (s->fixed[i] && k > 0) ? 0.0 : 1.0;
            e[k] = 0.0;
        }
        if (cone) {
            interior_x(d, law, r + at, x);
            if (!tl_scaling_make(d, x, s->z + at, &s->scaling[i])) return false;
        }
        if (ray && !(r[at] > 0.0 && s->y[i] > 0.0)) return false;
        const tl_scaling *scaling = &s->scaling[i];
        if (cone && ray) {
            interior_full_block(d, law, scaling, s->y[i] / r[at], e);
        } else if (cone) {
            tl_scaling_frame(d, scaling, f);
            for (int k = 0; k < d; k++) {
                const double size = k == 0   ? scaling->plus
                                    : k == 1 ? scaling->minus
                                             : scaling->cross;
                e[k * d + k] = 1.0 / (size * size);
                f[k] /= law->mu;
            }
        } else {
            e[0] = s->y[i] / r[at];
            for (int k = 1; k < d; k++)
                e[k * d + k] = (s->fixed[i] ? 1.0 : added) * s->dual.lambda[i];
        }
    }
    return true;
}

// Factor; where rounding makes that fail, with more on the diagonal.
static bool interior_factor(tl_interior *s, const double *r) {
    double added = 0x1p-46;
    for (int attempt = 0; attempt < 6; attempt++, added *= 0x1p+8) {
        if (!interior_blocks(s, r, added)) return false;
        if (tl_interior_system_factor(&s->system, s->frame, s->block, s->ridge, added)) return true;
    }
    return false;
}

// How the impulse x changes the shift: (mu − zeta) t·(W x)_T, t = u_T/|u_T|. `work` is scratch.
static void interior_shift_change(const tl_interior *s, const double *u, const double *x,
                                  double *work, double *out) {
    const int d = s->dual.w.dim;
    const tl_common_options *opt = s->dual.base.options;
    tl_delassus_apply(&s->dual.w, opt->threads, false, x, work);
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const int64_t at = (int64_t)d * i;
        out[i] = tl_shift_coefficient(&s->dual.law[i]) * s->slope[i] *
                 tl_dot(d - 1, u + at + 1, work + at + 1);
    }
}

static double interior_dot(int64_t n, const double *x, const double *y) {
    double sum = 0.0;
    for (int64_t k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

// With the shift in the system, (W + B) x = b − g n where g, the change of the shift, is linear in
// x: (1 + L) g = g0. GMRES on g, one number per block; x and g = ds come out.
static bool interior_krylov(tl_interior *s, const double *u, const double *b, double tolerance,
                            double *x) {
    enum { M = TL_INTERIOR_KRYLOV };
    const int d = s->dual.w.dim;
    const int64_t count = s->dual.w.problem->count, stride = s->dual.plan.rows;
    double h[M + 1][M], cosine[M], sine[M], g[M + 1] = {0.0}, c[M];
    double *v = s->krylov;
    memcpy(x, b, (size_t)s->dual.size * sizeof *x);
    if (!tl_interior_system_solve(&s->system, x)) return false;
    interior_shift_change(s, u, x, s->dz, v);
    const double size = sqrt(interior_dot(count, v, v));
    if (!(size > 0.0)) return isfinite(size);
    for (int64_t i = 0; i < count; i++) v[i] /= size;
    g[0] = size;
    int m = 0;
    while (m < M && fabs(g[m]) > tolerance * size) {
        double *next = v + (m + 1) * stride;
        const double *own = v + m * stride;
        memset(x, 0, (size_t)s->dual.size * sizeof *x);
        for (int64_t i = 0; i < count; i++) x[i * d] = own[i];
        if (!tl_interior_system_solve(&s->system, x)) return false;
        interior_shift_change(s, u, x, s->dz, next);
        for (int64_t i = 0; i < count; i++) next[i] += own[i];
        for (int k = 0; k <= m; k++) {
            h[k][m] = interior_dot(count, next, v + k * stride);
            for (int64_t i = 0; i < count; i++) next[i] -= h[k][m] * v[k * stride + i];
        }
        h[m + 1][m] = sqrt(interior_dot(count, next, next));
        if (!isfinite(h[m + 1][m])) return false;
        for (int64_t i = 0; i < count && h[m + 1][m] > 0.0; i++) next[i] /= h[m + 1][m];
        for (int k = 0; k < m; k++) {
            const double one = h[k][m], two = h[k + 1][m];
            h[k][m] = cosine[k] * one + sine[k] * two;
            h[k + 1][m] = cosine[k] * two - sine[k] * one;
        }
        const double norm = sqrt(h[m][m] * h[m][m] + h[m + 1][m] * h[m + 1][m]);
        if (!(norm > 0.0)) break;
        cosine[m] = h[m][m] / norm;
        sine[m] = h[m + 1][m] / norm;
        h[m][m] = norm;
        g[m + 1] = -sine[m] * g[m];
        g[m] *= cosine[m];
        m++;
    }
    for (int k = m - 1; k >= 0; k--) {
        c[k] = g[k];
        for (int j = k + 1; j < m; j++) c[k] -= h[k][j] * c[j];
        c[k] /= h[k][k];
        for (int64_t i = 0; i < count; i++) s->ds[i] += c[k] * v[k * stride + i];
    }
    memcpy(x, b, (size_t)s->dual.size * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i * d] -= s->ds[i];
    return tl_interior_system_solve(&s->system, x);
}

// Steps of the partners, from A dz + dy n = residual + W dr + g n: from that equation, because
// S⁻²A dr would carry the rounding of dr into it, and much enlarged. Only where a block has both
// partners does the complementarity give one of them. `work` is scratch.
static bool interior_partners(tl_interior *s, const double *r, const double *residual,
                              double *work) {
    const int d = s->dual.w.dim;
    const tl_common_options *opt = s->dual.base.options;
    double sum = 0.0;
    tl_delassus_apply(&s->dual.w, opt->threads, false, s->dr, work);
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        const bool cone = interior_has_cone(law), ray = interior_has_ray(law);
        double v[TL_MAX_DIM] = {0.0}, z[TL_MAX_DIM];
        for (int k = 0; k < d; k++)
            v[k] = residual[at + k] + work[at + k] + (s->ridge ? s->ridge[i] * s->dr[at + k] : 0.0);
        v[0] += s->ds[i];
        for (int k = 1; k < d && cone; k++) s->dz[at + k] = v[k];
        if (cone && ray && law->mu == 0.0) {
            interior_dx(d, law, s->dr + at, z);
            tl_scaling_apply(d, &s->scaling[i], true, z, z);
            for (int k = 0; k < d; k++) z[k] = s->k[at + k] - z[k];
            tl_scaling_apply(d, &s->scaling[i], true, z, z);
            s->dz[at] = z[0];
            s->dy[i] = v[0];
        } else if (cone) {
            s->dy[i] = ray ? (s->ky[i] - s->y[i] * s->dr[at]) / r[at] : 0.0;
            s->dz[at] = (v[0] - s->dy[i]) / law->mu;
        } else {
            s->dy[i] = v[0];
            for (int k = 0; k < d; k++) s->dz[at + k] = 0.0;
        }
        for (int k = 0; k < d; k++) sum += fabs(s->dr[at + k]) + fabs(s->dz[at + k]);
        sum += fabs(s->dy[i]);
    }
    return isfinite(sum);
}

// The direction towards x∘z = `target`; the second time with the product of the first steps taken
// off. residual = u + s n − A z − y n.
static bool interior_direction(tl_interior *s, const double *r, const double *u, double target,
                               bool second, double tolerance) {
    const double *residual = s->dual.vector[INTERIOR_RESIDUAL];
    double *b = s->dual.vector[INTERIOR_SIDE];
    const int d = s->dual.w.dim;
    const int32_t count = s->dual.w.problem->count;
    for (int32_t i = 0; i < count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        for (int k = 0; k < d; k++) b[at + k] = s->fixed[i] && k > 0 ? 0.0 : -residual[at + k];
        if (interior_has_cone(law)) {
            const tl_scaling *scaling = &s->scaling[i];
            double lambda[TL_MAX_DIM], own[TL_MAX_DIM], x[TL_MAX_DIM], z[TL_MAX_DIM];
            tl_scaling_apply(d, scaling, false, s->z + at, lambda);
            tl_soc_product(d, lambda, lambda, own);
            for (int k = 0; k < d; k++) s->k[at + k] = -own[k];
            s->k[at] += target;
            if (second) {
                interior_dx(d, law, s->dr + at, x);
                tl_scaling_apply(d, scaling, true, x, x);
                tl_scaling_apply(d, scaling, false, s->dz + at, z);
                tl_soc_product(d, x, z, own);
                for (int k = 0; k < d; k++) s->k[at + k] -= own[k];
            }
            tl_soc_divide(d, lambda, s->k + at, s->k + at);
            tl_scaling_apply(d, scaling, true, s->k + at, x);
            b[at] += law->mu * x[0];
            for (int k = 1; k < d; k++) b[at + k] += x[k];
        }
        if (interior_has_ray(law)) {
            s->ky[i] = target - s->y[i] * r[at] - (second ? s->dr[at] * s->dy[i] : 0.0);
            b[at] += s->ky[i] / r[at];
        }
    }
    memset(s->ds, 0, (size_t)s->dual.plan.rows * sizeof *s->ds);
    if (s->direct) {
        if (!interior_krylov(s, u, b, tolerance, s->dr)) return false;
    } else {
        memcpy(s->dr, b, (size_t)s->dual.size * sizeof *b);
        if (!tl_interior_system_solve(&s->system, s->dr)) return false;
    }
    return interior_partners(s, r, residual, b);
}

// The longest step that keeps everything in its cone.
static double interior_reach(const tl_interior *s, const double *r) {
    const int d = s->dual.w.dim;
    double reach = INFINITY;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        if (interior_has_cone(law)) {
            double x[TL_MAX_DIM], dx[TL_MAX_DIM];
            interior_x(d, law, r + at, x);
            interior_dx(d, law, s->dr + at, dx);
            reach = fmin(reach, tl_soc_reach(d, x, dx));
            reach = fmin(reach, tl_soc_reach(d, s->z + at, s->dz + at));
        }
        if (interior_has_ray(law)) {
            if (s->dr[at] < 0.0) reach = fmin(reach, -r[at] / s->dr[at]);
            if (s->dy[i] < 0.0) reach = fmin(reach, -s->y[i] / s->dy[i]);
        }
    }
    return reach;
}

// residual = u + s n − A z − y n, less what the ridge adds to u.
static void interior_residual(const tl_interior *s, const double *r, const double *u,
                              double *residual) {
    const int d = s->dual.w.dim;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const tl_law *law = &s->dual.law[i];
        const int64_t at = (int64_t)d * i;
        for (int k = 0; k < d; k++)
            residual[at + k] = u[at + k] + (s->ridge ? s->ridge[i] * r[at + k] : 0.0);
        residual[at] += s->s[i] - s->y[i];
        if (!interior_has_cone(law)) continue;
        residual[at] -= law->mu * s->z[at];
        for (int k = 1; k < d; k++) residual[at + k] -= s->z[at + k];
    }
}

// Predictor, corrector, and corrections of the correction while steps are long: they cost solves
// but no factorisation, and keep the iterates so near to the central path that the error follows μ
// rather than its root. Returns the reach of the last direction.
static double interior_directions(tl_interior *s, const double *r, const double *u) {
    if (!interior_direction(s, r, u, 0.0, false, 0.1)) return 0.0;
    double affine = fmin(1.0, interior_reach(s, r));
    if (s->direct && affine < 0.01) { // far off, |u_T| is no guide to itself: leave s as it is
        memset(s->slope, 0, (size_t)s->dual.plan.rows * sizeof *s->slope);
        if (!interior_direction(s, r, u, 0.0, false, 0.1)) return 0.0;
        affine = fmin(1.0, interior_reach(s, r));
    }
    const double ratio = fmax(interior_gap(s, r, affine) / s->gap, 1.0 - affine);
    const double target = s->gap * fmin(1.0, ratio * ratio * ratio);
    double reach = INFINITY;
    for (int k = 1; k <= INTERIOR_CORRECTORS && reach > 0.5; k++) {
        const double tolerance = k < INTERIOR_CORRECTORS ? 1e-2 : 1e-4;
        if (!interior_direction(s, r, u, target, true, tolerance)) return 0.0;
        reach = interior_reach(s, r);
    }
    if (reach >= 0.1 * affine) return reach;
    // Far from the central path the second order misleads.
    if (!interior_direction(s, r, u, fmax(target, 0.1 * s->gap), false, 1e-4)) return 0.0;
    return interior_reach(s, r);
}

double tl_interior_step(tl_interior *s, double *r, const double *u) {
    memset(s->dr, 0, (size_t)s->dual.size * sizeof *s->dr);
    s->gap = interior_gap(s, r, 0.0);
    interior_residual(s, r, u, s->dual.vector[INTERIOR_RESIDUAL]);
    if (!interior_factor(s, r)) return 0.0;
    const double length = fmin(1.0, 0.99 * interior_directions(s, r, u));
    if (!(length > 0.0)) return 0.0;
    for (int64_t k = 0; k < s->dual.size; k++) {
        r[k] += length * s->dr[k];
        s->z[k] += length * s->dz[k];
    }
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) s->y[i] += length * s->dy[i];
    return length;
}

// ---- the solve ---------------------------------------------------------------------------------

// Steps shorter than this lead nowhere, nor do so many iterations in which the best point has not
// become 10 % better.
#define INTERIOR_SHORT 1e-6
enum { INTERIOR_IDLE = 16 };

typedef struct interior_run {
    double *r, *u;
    double length; // of the last step
    double mark;   // the best measure, and the iteration when it was met
    int32_t since;
    double reached;   // the best measure at the last restart
    int32_t restarts; // without progress
} interior_run;

// Where the convex problem with s frozen is solved ten times better than s is known, s follows u.
static void interior_update_shift(tl_interior *s, double *r, double *u) {
    const int d = s->dual.w.dim;
    double change = 0.0;
    for (int32_t i = 0; i < s->dual.w.problem->count; i++) {
        const double next =
            tl_shift_coefficient(&s->dual.law[i]) * tl_norm_t(d, u + (int64_t)d * i);
        change = TL_MAX(change, fabs(next - s->s[i]));
    }
    if (!(change > 0.0) || tl_interior_error(s, r, u) > 0.1 * change) return;
    interior_shift(s, u);
    tl_interior_start(s, 0.1 * change, r, u);
    tl_dual_apply(&s->dual, r, u);
}

static bool interior_stuck(const tl_interior *s, interior_run *run) {
    if (s->dual.best_measure < 0.9 * run->mark) {
        run->mark = s->dual.best_measure;
        run->since = s->dual.iterations;
    }
    return run->length < INTERIOR_SHORT ||
           (s->direct && s->dual.iterations - run->since > INTERIOR_IDLE);
}

// Begin from the best point known; each time that this has not helped, in another way: with the
// slope of |u_T| smoothed out and back, and further inside. False when patience is at its end.
static bool interior_restart(tl_interior *s, interior_run *run) {
    const tl_interior_options *opt = s->dual.base.options;
    run->restarts = s->dual.best_measure < 0.9 * run->reached ? 0 : run->restarts + 1;
    run->reached = s->dual.best_measure;
    run->since = s->dual.iterations;
    if (opt->patience > 0 && run->restarts > opt->patience) return false;
    memcpy(run->r, s->dual.best, (size_t)s->dual.size * sizeof *run->r);
    tl_dual_apply(&s->dual, run->r, run->u);
    s->smooth = run->restarts % 2 == 1;
    interior_shift(s, run->u);
    // The first step leaves s alone: a start says little about how the contacts will slide.
    memset(s->slope, 0, (size_t)s->dual.plan.rows * sizeof *s->slope);
    double push = tl_interior_error(s, run->r, run->u);
    for (int k = 2; k <= run->restarts && k < 12; k += 2) push *= 10.0;
    if (!(push > 0.0)) return true; // exact: the rule `change` wants to see that nothing changes
    tl_interior_start(s, push, run->r, run->u);
    tl_dual_apply(&s->dual, run->r, run->u);
    return true;
}

void tl_interior_solve(talus_solver *base, double *start, talus_solve_info *info) {
    tl_interior *s = (tl_interior *)base;
    double *r = s->dual.vector[INTERIOR_R], *u = s->dual.vector[INTERIOR_U];
    double *before = s->dual.vector[INTERIOR_BEFORE];
    const double *previous = NULL;
    interior_run run = {.r = r, .u = u, .mark = INFINITY, .reached = INFINITY};
    tl_dual_begin(&s->dual, start, r, info);
    tl_dual_apply(&s->dual, r, u);
    while (!tl_dual_over(&s->dual, r, u, previous)) {
        if (!interior_stuck(s, &run)) {
            if (!s->direct) interior_update_shift(s, r, u);
        } else if (!interior_restart(s, &run)) {
            info->outcome = TALUS_OUTCOME_STALLED;
            s->dual.iterations--; // the one that was about to begin
            break;
        }
        memcpy(before, r, (size_t)s->dual.size * sizeof *r);
        previous = before;
        run.length = tl_interior_step(s, r, u);
        tl_dual_apply(&s->dual, r, u);
        if (s->direct) interior_shift(s, u);
    }
    tl_dual_end(&s->dual, start);
}
