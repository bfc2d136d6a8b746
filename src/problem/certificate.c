// SPDX-License-Identifier: Apache-2.0
// The certificate: how well (u, r) obeys the law, judged by code that no solver uses. Projection,
// shift and eigenvalue are written out here on purpose and share nothing with src/cone.
//
// With l = r + tension n, T = { l_N >= 0, |l_T| <= yield + mu l_N } and ũ = u + (mu − zeta)|u_T| n,
//     law  <=>  −ũ ∈ N_T(l)  <=>  l = P_T(l − ρ ũ) for any ρ > 0.
// `natural` takes ρ = 1, the convention of the field. `residual` takes ρ_i = 1/λ_i, with λ_i the
// largest eigenvalue of W_ii: then r λ^½ and u λ^−½ have one unit, √energy, which the scale
// max |q_i| λ_i^−½ takes away.
//
// Status of a block, from x = l − ρ ũ and z = P_T(x), compared in the same unit with
// ref = max(scale, max_i |l_i| λ_i^½):
//     open   |z| λ^½ <= 1e-12 ref        the law pushes l to 0
//     stick  |x − z| λ^½ <= 1e-8 ref     the law leaves l free inside T: no motion is asked for
//     slip   otherwise                   l is held at the boundary of T and the block moves
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include <math.h>
#include <string.h>

#define OPEN_LIMIT 1e-12
#define STICK_LIMIT 1e-8
enum { MAX_DIM = 6 };

static double certify_norm(int32_t n, const double *x) {
    double sum = 0.0;
    for (int32_t k = 0; k < n; k++) sum += x[k] * x[k];
    return sqrt(sum);
}

// The larger of the two; NaN when either is, so that no bad value hides behind a good one.
static double certify_max(double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    return a > b ? a : b;
}

// z = P_T(x). For a point outside, the nearest point lies on the slant |z_T| = yield + mu z_N or,
// when its foot would have z_N < 0, on the rim z_N = 0. The foot is found with mu <= 1 or 1/mu < 1
// as factor, so that no mu is too large.
static void certify_project(int32_t d, const tl_law *law, const double *x, double *z) {
    const double mu = law->mu, tangent = certify_norm(d - 1, x + 1);
    memcpy(z, x, (size_t)d * sizeof *z);
    if (isinf(mu) || (x[0] <= 0.0 && tangent <= law->yield)) {
        z[0] = x[0] < 0.0 ? 0.0 : x[0]; // NaN stays
        return;
    }
    if (tangent <= law->yield + mu * x[0]) return;
    const double over = tangent - law->yield;
    double foot =
        mu <= 1.0 ? (x[0] + mu * over) / (1.0 + mu * mu) : (x[0] / mu + over) / (1.0 / mu + mu);
    if (foot < 0.0) foot = 0.0;
    z[0] = foot;
    for (int32_t k = 1; k < d; k++) z[k] = (law->yield + mu * foot) * (x[k] / tangent);
}

// Largest eigenvalue of the symmetric part of w, by Jacobi rotations.
static double certify_eigenvalue(int32_t d, const double *w) {
    double a[MAX_DIM][MAX_DIM] = {{0}};
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j < d; j++) a[i][j] = 0.5 * (w[i * d + j] + w[j * d + i]);
    for (int sweep = 0; sweep < 20; sweep++)
        for (int32_t i = 0; i < d; i++)
            for (int32_t j = i + 1; j < d; j++) {
                if (fabs(a[i][j]) <= 1e-18 * (fabs(a[i][i]) + fabs(a[j][j]))) continue;
                const double angle = 0.5 * atan2(2.0 * a[i][j], a[i][i] - a[j][j]);
                const double c = cos(angle), s = sin(angle);
                for (int32_t k = 0; k < d; k++) { // columns, then rows
                    const double ki = a[k][i], kj = a[k][j];
                    a[k][i] = c * ki + s * kj;
                    a[k][j] = c * kj - s * ki;
                }
                for (int32_t k = 0; k < d; k++) {
                    const double ik = a[i][k], jk = a[j][k];
                    a[i][k] = c * ik + s * jk;
                    a[j][k] = c * jk - s * ik;
                }
            }
    double largest = a[0][0];
    for (int32_t i = 1; i < d; i++) largest = certify_max(largest, a[i][i]);
    return largest;
}

// W_ii = H_i N H_iᵀ of the global form when N couples the bodies; `x` has room for d vectors.
static talus_status certify_coupled_block(const talus_problem *p, int32_t i, double *x, double *w) {
    const int32_t d = p->dim;
    memset(x, 0, (size_t)d * (size_t)p->dof * sizeof *x);
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t first = p->body_start[p->h_body[k]];
        const int32_t size = p->body_start[p->h_body[k] + 1] - first;
        for (int32_t a = 0; a < d; a++)
            memcpy(x + (int64_t)a * p->dof + first, p->h_block + p->h_offset[k] + (int64_t)a * size,
                   (size_t)size * sizeof *x);
    }
    TL_TRY(tl_problem_response_many(p, d, x));
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t first = p->body_start[p->h_body[k]];
        const int32_t size = p->body_start[p->h_body[k] + 1] - first;
        const double *h = p->h_block + p->h_offset[k];
        for (int32_t a = 0; a < d; a++)
            for (int32_t b = 0; b < d; b++)
                for (int32_t e = 0; e < size; e++)
                    w[a * d + b] += h[(int64_t)a * size + e] * x[(int64_t)b * p->dof + first + e];
    }
    return TALUS_OK;
}

// The same when M acts body by body; `x` has room for d vectors of the largest body.
static void certify_separable_block(const talus_problem *p, int32_t i, double *x, double *w) {
    const int32_t d = p->dim;
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t body = p->h_body[k], size = p->body_start[body + 1] - p->body_start[body];
        const double *h = p->h_block + p->h_offset[k];
        memcpy(x, h, (size_t)d * (size_t)size * sizeof *x);
        tl_problem_solve_body(p, body, d, x);
        for (int32_t a = 0; a < d; a++)
            for (int32_t b = 0; b < d; b++)
                for (int32_t e = 0; e < size; e++)
                    w[a * d + b] += h[(int64_t)a * size + e] * x[(int64_t)b * size + e];
    }
}

// λ_i of all blocks. W does not change during the life of a problem, so this is done once.
static talus_status certify_stiffness(const talus_problem *p) {
    if (p->count == 0 || !isnan(p->work.stiffness[0])) return TALUS_OK;
    const bool separable = tl_problem_is_separable(p);
    int32_t room = p->dof;
    if (separable) {
        room = 0;
        for (int32_t b = 0; b < p->body_count; b++)
            if (p->body_start[b + 1] - p->body_start[b] > room)
                room = p->body_start[b + 1] - p->body_start[b];
    }
    talus_status status = TALUS_OK;
    double *x;
    TL_TRY(TL_ALLOC(p->ctx, (int64_t)p->dim * room, &x));
    for (int32_t i = p->count - 1; i >= 0; i--) { // block 0 last: it tells that all are known
        double w[MAX_DIM * MAX_DIM] = {0};
        if (!p->is_global)
            memcpy(w, tl_problem_w_block(p, i, i), (size_t)(p->dim * p->dim) * sizeof *w);
        else if (separable)
            certify_separable_block(p, i, x, w);
        else
            TL_GOTO(certify_coupled_block(p, i, x, w));
        p->work.stiffness[i] = certify_eigenvalue(p->dim, w);
    }
done:
    tl_free(p->ctx, x);
    return status;
}

// ‖M v − f − Hᵀr − Cᵀλ‖ relative to its terms.
static double certify_motion(const talus_problem *p, const double *r, const double *v,
                             const double *lambda) {
    double *work = p->work.force, *moved = p->work.momentum;
    memset(work, 0, (size_t)p->dof * sizeof *work);
    tl_problem_add_force(p, r, work);
    double terms = certify_norm(p->dof, p->f) + certify_norm(p->dof, work);
    if (p->constraint_count > 0) tl_csr_add_transposed(&p->c, 1.0, lambda, work);
    for (int32_t k = 0; k < p->dof; k++) work[k] += p->f[k];
    tl_mass_multiply(p->mass, v, moved);
    terms += certify_norm(p->dof, moved);
    for (int32_t k = 0; k < p->dof; k++) work[k] -= moved[k];
    const double left = certify_norm(p->dof, work);
    return left == 0.0 ? 0.0 : left / terms;
}

// What the blocks have in common.
typedef struct certify_scales {
    double scale, reference; // see the head of this file
} certify_scales;

static certify_scales certify_find_scales(const talus_problem *p, const double *r) {
    certify_scales s = {0.0, 0.0};
    double force = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        const double root = sqrt(p->work.stiffness[i]);
        double l[MAX_DIM];
        memcpy(l, r + (int64_t)i * p->dim, (size_t)p->dim * sizeof *l);
        if (p->tension) l[0] += p->tension[i];
        if (root > 0.0)
            s.scale = certify_max(s.scale, certify_norm(p->dim, p->q + (int64_t)i * p->dim) / root);
        force = certify_max(force, certify_norm(p->dim, l) * root);
    }
    s.reference = certify_max(s.scale, force);
    return s;
}

static void certify_count(talus_certificate *c, int32_t d, double root, double reference,
                          const double *x, const double *z) {
    double gap[MAX_DIM];
    for (int32_t k = 0; k < d; k++) gap[k] = x[k] - z[k];
    if (certify_norm(d, z) * root <= OPEN_LIMIT * reference)
        c->open++;
    else if (certify_norm(d, gap) * root <= STICK_LIMIT * reference)
        c->stick++;
    else
        c->slip++;
}

// One block: adds its part to the figures; returns |l − P_T(l − ũ)|².
static double certify_block(const talus_problem *p, int32_t i, const double *u, const double *r,
                            const certify_scales *s, talus_certificate *c) {
    const int32_t d = p->dim;
    const tl_law law = tl_problem_law(p, i);
    const double stiffness = p->work.stiffness[i];
    const double root = stiffness > 0.0 ? sqrt(stiffness) : 1.0;
    const double step = stiffness > 0.0 ? 1.0 / stiffness : 1.0;
    const double slide = certify_norm(d - 1, u + 1);
    double shifted[MAX_DIM], l[MAX_DIM], z[MAX_DIM], gap[MAX_DIM], x[MAX_DIM] = {0};
    memcpy(l, r, (size_t)d * sizeof *l);
    memcpy(shifted, u, (size_t)d * sizeof *shifted);
    if (p->tension) l[0] += p->tension[i];
    if (!isinf(law.mu)) shifted[0] += (law.mu - law.zeta) * slide;

    double work = 0.0, power = law.yield * slide;
    for (int32_t k = 0; k < d; k++) {
        work += u[k] * r[k];
        power += shifted[k] * l[k];
    }
    c->energy -= work;
    c->complementarity = certify_max(c->complementarity, fabs(power));
    c->penetration = certify_max(c->penetration, u[0] < 0.0 ? -u[0] : 0.0 * u[0]);
    certify_project(d, &law, l, z);
    for (int32_t k = 0; k < d; k++) gap[k] = l[k] - z[k];
    c->cone = certify_max(c->cone, certify_norm(d, gap));

    for (int32_t k = 0; k < d; k++) x[k] = l[k] - step * shifted[k];
    certify_project(d, &law, x, z);
    certify_count(c, d, root, s->reference, x, z);
    for (int32_t k = 0; k < d; k++) gap[k] = l[k] - z[k];
    const double left = certify_norm(d, gap) * root;
    // Without a scale, or with a block that no impulse can move, only an exact answer is good.
    const double scale = stiffness > 0.0 ? s->scale : 0.0;
    const double residual = left == 0.0 ? 0.0 : left / scale;
    if (residual > c->residual || (isnan(residual) && !isnan(c->residual))) c->worst = i;
    c->residual = certify_max(c->residual, residual);

    for (int32_t k = 0; k < d; k++) x[k] = l[k] - shifted[k];
    certify_project(d, &law, x, z);
    for (int32_t k = 0; k < d; k++) gap[k] = l[k] - z[k];
    const double natural = certify_norm(d, gap);
    return natural * natural;
}

talus_status talus_certify(const talus_problem *p, const double *r, talus_certificate *out) {
    *out = (talus_certificate){.worst = -1};
    double *v = p->work.v, *u = p->work.u, *lambda = p->work.lambda;
    TL_TRY(talus_problem_state(p, r, v, u, lambda));
    TL_TRY(certify_stiffness(p));
    const certify_scales s = certify_find_scales(p, r);
    double natural = 0.0, q = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        const int64_t at = (int64_t)i * p->dim;
        natural += certify_block(p, i, u + at, r + at, &s, out);
        const double q_i = certify_norm(p->dim, p->q + at);
        q += q_i * q_i;
    }
    out->natural = sqrt(natural) / fmax(1.0, sqrt(q));
    if (p->is_global && p->dof > 0) out->motion = certify_motion(p, r, v, lambda);
    return TALUS_OK;
}
