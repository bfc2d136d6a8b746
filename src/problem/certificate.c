// SPDX-License-Identifier: Apache-2.0
// The certificate: how well (u, r) obeys the law, judged by code that no solver uses. Projection,
// shift and eigenvalue are written out here on purpose and share nothing with src/cone.
//
// With l = r + tension n, T = { l_N >= 0, |l_T| <= yield + mu l_N } and ũ = u + (mu − zeta)|u_T| n,
//     law  <=>  −ũ ∈ N_T(l)  <=>  l = P_T(l − ρ ũ) for any ρ > 0.
// `natural` takes ρ = 1, the convention of the field. `residual` takes ρ_i = 1/λ_i, with λ_i the
// largest eigenvalue of W_ii: then r λ^½ and u λ^−½ have one unit, √energy, which the scale
// takes away: max |q_i| λ_i^−½, the largest load, or what the problem gives.
//
// Status of a block, from x = l − ρ ũ and z = P_T(x), compared in the same unit with
// ref = max(largest load, max_i |l_i| λ_i^½):
//     open   |z| λ^½ <= 1e-12 ref        the law pushes l to 0
//     stick  |x − z| λ^½ <= 1e-8 ref     the law leaves l free inside T: no motion is asked for
//     slip   otherwise                   l is held at the boundary of T and the block moves
#include "base/compiler.h"
#include "base/thread.h"
#include "problem/eliminate.h"
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include <math.h>
#include <string.h>

#define OPEN_LIMIT 1e-12
#define STICK_LIMIT 1e-8
enum { MAX_DIM = 6 };

TL_INLINE double certify_norm(int32_t n, const double *x) {
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
TL_INLINE void certify_project(int32_t d, const tl_law *law, const double *x, double *z) {
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

// Largest eigenvalues of the symmetric parts of LANES matrices d × d, by Jacobi rotations. Entry
// (i, j) of matrix l is w[i * d + j][l]. A rotation by the angle whose tangent is t makes a_ij
// zero; entries below 1e-15 of their diagonals shift eigenvalues by no more than that, and are
// left.
enum { LANES = 8 };
typedef double certify_lanes[LANES];

TL_INLINE bool certify_rotate(int d, certify_lanes *a, int i, int j) {
    certify_lanes t, c;
    bool any = false;
    for (int l = 0; l < LANES; l++) {
        const double ij = a[i * d + j][l], ii = a[i * d + i][l], jj = a[j * d + j][l];
        const bool small = !(fabs(ij) > 1e-15 * (fabs(ii) + fabs(jj)));
        const double half = (jj - ii) / (2.0 * (small ? 1.0 : ij));
        const double size = 1.0 / (fabs(half) + sqrt(half * half + 1.0));
        t[l] = small ? 0.0 : half < 0.0 ? -size : size;
        c[l] = 1.0 / sqrt(t[l] * t[l] + 1.0);
        any |= !small;
    }
    if (!any) return false;
    for (int k = 0; k < d; k++) // columns, then rows
        for (int l = 0; l < LANES; l++) {
            const double ki = a[k * d + i][l], kj = a[k * d + j][l];
            a[k * d + i][l] = c[l] * (ki - t[l] * kj);
            a[k * d + j][l] = c[l] * (t[l] * ki + kj);
        }
    for (int k = 0; k < d; k++)
        for (int l = 0; l < LANES; l++) {
            const double ik = a[i * d + k][l], jk = a[j * d + k][l];
            a[i * d + k][l] = c[l] * (ik - t[l] * jk);
            a[j * d + k][l] = c[l] * (t[l] * ik + jk);
        }
    return true;
}

TL_INLINE void certify_eigenvalues(int d, const certify_lanes *w, double *out) {
    certify_lanes a[MAX_DIM * MAX_DIM];
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            for (int l = 0; l < LANES; l++)
                a[i * d + j][l] = 0.5 * (w[i * d + j][l] + w[j * d + i][l]);
    bool moved = true;
    for (int sweep = 0; sweep < 20 && moved; sweep++) {
        moved = false;
        for (int i = 0; i < d; i++)
            for (int j = i + 1; j < d; j++) moved |= certify_rotate(d, a, i, j);
    }
    for (int l = 0; l < LANES; l++) {
        out[l] = a[0][l];
        for (int i = 1; i < d; i++) out[l] = certify_max(out[l], a[i * d + i][l]);
    }
}

#define CERTIFY_FORM(d)                                                                            \
    void tl_certify_eigenvalues_##d(const certify_lanes *w, double *out);                          \
    TL_SIMD_CLONES void tl_certify_eigenvalues_##d(const certify_lanes *w, double *out) {          \
        certify_eigenvalues(d, w, out);                                                            \
    }
CERTIFY_FORM(2)
CERTIFY_FORM(3)
CERTIFY_FORM(6)

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

// w += H Xᵀ for d × size blocks.
TL_INLINE void certify_add(int32_t d, int32_t size, const double *h, const double *x, double *w) {
    for (int32_t a = 0; a < d; a++)
        for (int32_t b = 0; b < d; b++) {
            double sum = 0.0;
            for (int32_t e = 0; e < size; e++)
                sum += h[(int64_t)a * size + e] * x[(int64_t)b * size + e];
            w[a * d + b] += sum;
        }
}

// The same when M acts body by body; `x` has room for d vectors of the largest body.
static void certify_separable_block(const talus_problem *p, int32_t i, double *x, double *w) {
    const int32_t d = p->dim;
    for (int64_t k = p->h_start[i]; k < p->h_start[i + 1]; k++) {
        const int32_t body = p->h_body[k], size = p->body_start[body + 1] - p->body_start[body];
        double room[TL_BALL_BLOCK];
        const double *h = tl_problem_h(p, i, k, room);
        memcpy(x, h, (size_t)d * (size_t)size * sizeof *x);
        tl_problem_solve_body(p, body, d, x);
        if (d == 3 && size == 6)
            certify_add(3, 6, h, x, w);
        else
            certify_add(d, size, h, x, w);
    }
}

// λ of the blocks first … first + LANES − 1, as many as there are.
static talus_status certify_lambda(const talus_problem *p, int32_t first, double *column,
                                   double *coupled) {
    const int32_t d = p->dim;
    const int lanes = p->count - first < LANES ? p->count - first : LANES;
    certify_lanes w[MAX_DIM * MAX_DIM] = {{0.0}}, lambda;
    for (int l = 0; l < lanes; l++) {
        double block[MAX_DIM * MAX_DIM] = {0.0};
        if (!p->is_global)
            memcpy(block, tl_problem_w_block(p, first + l, first + l),
                   (size_t)(d * d) * sizeof *block);
        else if (coupled)
            TL_TRY(certify_coupled_block(p, first + l, coupled, block));
        else if (p->constraint_count > 0)
            TL_TRY(tl_eliminate_own(p, first + l, p->work.block, p->work.loads, block));
        else
            certify_separable_block(p, first + l, column, block);
        for (int32_t k = 0; k < d * d; k++) w[k][l] = block[k];
    }
    if (d == 2) tl_certify_eigenvalues_2((const certify_lanes *)w, lambda);
    if (d == 3) tl_certify_eigenvalues_3((const certify_lanes *)w, lambda);
    if (d == 6) tl_certify_eigenvalues_6((const certify_lanes *)w, lambda);
    memcpy(p->work.stiffness + first, lambda, (size_t)lanes * sizeof *lambda);
    return TALUS_OK;
}

// The same of all blocks by a team, where M acts body by body.
static void certify_share(void *arg, tl_team *team, int rank) {
    const talus_problem *p = arg;
    double *column = p->work.column + (int64_t)rank * p->dim * p->largest;
    int64_t begin, end;
    tl_share((p->count + LANES - 1) / LANES, tl_team_size(team), rank, &begin, &end);
    for (int64_t k = begin; k < end; k++) // cannot fail: there is nothing to eliminate
        (void)certify_lambda(p, (int32_t)k * LANES, column, NULL);
}

// λ_i of all blocks. W does not change during the life of a problem, so this is done once.
static talus_status certify_stiffness(const talus_problem *p) {
    if (p->count == 0 || !isnan(p->work.stiffness[0])) return TALUS_OK;
    talus_status status = TALUS_OK;
    double *coupled = NULL;
    if (p->threads > 1 && tl_problem_is_separable(p)) {
        tl_parallel(p->ctx, p->threads, certify_share, (void *)p);
        return TALUS_OK;
    }
    if (p->is_global && !tl_mass_is_block_diagonal(p->mass)) {
        TL_TRY(tl_problem_write_h(p));
        TL_TRY(TL_ALLOC(p->ctx, (int64_t)p->dim * p->dof, &coupled));
    }
    // the first blocks last: block 0 tells that all are known
    for (int32_t first = (p->count - 1) / LANES * LANES; first >= 0; first -= LANES)
        TL_GOTO(certify_lambda(p, first, p->work.column, coupled));
done:
    tl_free(p->ctx, coupled);
    return status;
}

// ‖M v − f − Hᵀr − Cᵀλ‖ relative to its terms.
static double certify_motion(const talus_problem *p, const double *r, const double *v,
                             const double *lambda) {
    const double *diagonal = tl_mass_diagonal(p->mass);
    double *work = p->work.force, square = 0.0;
    memset(work, 0, (size_t)p->dof * sizeof *work);
    tl_problem_add_force(p, r, work);
    double terms = certify_norm(p->dof, p->f) + certify_norm(p->dof, work);
    if (p->constraint_count > 0) tl_csr_add_transposed(&p->c, 1.0, lambda, work);
    for (int32_t k = 0; k < p->dof; k++) work[k] += p->f[k];
    if (!diagonal) tl_mass_multiply(p->mass, v, p->work.momentum);
    for (int32_t k = 0; k < p->dof; k++) {
        const double moved = diagonal ? diagonal[k] * v[k] : p->work.momentum[k];
        square += moved * moved;
        work[k] -= moved;
    }
    terms += sqrt(square);
    const double left = certify_norm(p->dof, work);
    return left == 0.0 ? 0.0 : left / terms;
}

// Root of the largest v_b · p_b over the bodies that constraint rows act on.
static double certify_vigour(const talus_problem *p, const double *v, const double *momentum) {
    double most = 0.0;
    for (int32_t b = 0; b < p->body_count; b++) {
        double sum = 0.0;
        if (tl_eliminate_cluster_of(p, b) < 0) continue;
        for (int32_t k = p->body_start[b]; k < p->body_start[b + 1]; k++) sum += v[k] * momentum[k];
        most = certify_max(most, fabs(sum));
    }
    return sqrt(most);
}

// How well C v = k is met. |C_j v| <= S_jj^½ (v·M v)^½, so that |C_j v − k_j| S_jj^−½ is compared
// with the largest of |k_j| S_jj^−½ and of the roots of the bodies' energies, at v and at r = λ =
// 0.
static talus_status certify_constraint(const talus_problem *p, const double *v, double *out) {
    const double *diagonal = tl_eliminate_diagonal(p);
    double *work = p->work.momentum, left = 0.0;
    memcpy(work, p->f, (size_t)p->dof * sizeof *work);
    TL_TRY(tl_mass_solve(p->mass, 1, work));
    double scale = certify_vigour(p, work, p->f);
    tl_mass_multiply(p->mass, v, work);
    scale = certify_max(scale, certify_vigour(p, v, work));
    for (int32_t j = 0; j < p->constraint_count; j++) {
        double miss = -p->k[j];
        for (int64_t e = p->c.start[j]; e < p->c.start[j + 1]; e++)
            miss += p->c.value[e] * v[p->c.index[e]];
        const double root = diagonal[j] > 0.0 ? sqrt(diagonal[j]) : 1.0;
        left = certify_max(left, fabs(miss) / root);
        scale = certify_max(scale, fabs(p->k[j]) / root);
    }
    *out = left == 0.0 ? 0.0 : left / scale;
    return TALUS_OK;
}

// What the blocks have in common.
typedef struct certify_scales {
    double scale, reference; // see the head of this file
} certify_scales;

// The largest load.
static double certify_load(const talus_problem *p) {
    double load = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        const double root = sqrt(p->work.stiffness[i]);
        if (root > 0.0)
            load = certify_max(load, certify_norm(p->dim, p->q + (int64_t)i * p->dim) / root);
    }
    return load;
}

static certify_scales certify_find_scales(const talus_problem *p, const double *r) {
    const double load = certify_load(p);
    double force = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        double l[MAX_DIM];
        memcpy(l, r + (int64_t)i * p->dim, (size_t)p->dim * sizeof *l);
        if (p->tension) l[0] += p->tension[i];
        force = certify_max(force, certify_norm(p->dim, l) * sqrt(p->work.stiffness[i]));
    }
    return (certify_scales){.scale = p->scale > 0.0 ? p->scale : load,
                            .reference = certify_max(load, force)};
}

talus_status tl_problem_scale(const talus_problem *p, double *out) {
    TL_TRY(tl_problem_wake(p));
    TL_TRY(certify_stiffness(p));
    *out = p->scale > 0.0 ? p->scale : certify_load(p);
    return TALUS_OK;
}

TL_INLINE void certify_count(talus_certificate *c, int32_t d, double root, double reference,
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
TL_INLINE double certify_block(int32_t d, const talus_problem *p, int32_t i, const double *u,
                               const double *r, const certify_scales *s, talus_certificate *c) {
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

// Blocks of one part.
TL_INLINE void certify_blocks(int32_t d, const talus_problem *p, int32_t first, int32_t last,
                              const double *u, const double *r, const certify_scales *s,
                              tl_certify_part *out) {
    *out = (tl_certify_part){.figures.worst = -1};
    for (int32_t i = first; i < last; i++) {
        const int64_t at = (int64_t)i * d;
        out->natural += certify_block(d, p, i, u + at, r + at, s, &out->figures);
    }
}

typedef struct certify_job {
    const talus_problem *p;
    const double *u, *r;
    certify_scales scales;
} certify_job;

// Parts are the same for any number of threads, and added up in their order.
static void certify_parts(void *arg, tl_team *team, int rank) {
    const certify_job *job = arg;
    const talus_problem *p = job->p;
    int64_t begin, end;
    tl_share(tl_certify_part_count(p->count), tl_team_size(team), rank, &begin, &end);
    for (int64_t k = begin; k < end; k++) {
        const int32_t first = (int32_t)k * TL_CERTIFY_PART;
        const int32_t left = p->count - first;
        const int32_t last = first + (left < TL_CERTIFY_PART ? left : TL_CERTIFY_PART);
        tl_certify_part *part = p->work.part + k;
        if (p->dim == 2) certify_blocks(2, p, first, last, job->u, job->r, &job->scales, part);
        if (p->dim == 3) certify_blocks(3, p, first, last, job->u, job->r, &job->scales, part);
        if (p->dim == 6) certify_blocks(6, p, first, last, job->u, job->r, &job->scales, part);
    }
}

static void certify_collect(talus_certificate *c, const talus_certificate *part) {
    if (part->residual > c->residual || (isnan(part->residual) && !isnan(c->residual)))
        c->worst = part->worst;
    c->residual = certify_max(c->residual, part->residual);
    c->penetration = certify_max(c->penetration, part->penetration);
    c->complementarity = certify_max(c->complementarity, part->complementarity);
    c->cone = certify_max(c->cone, part->cone);
    c->energy += part->energy;
    c->open += part->open;
    c->stick += part->stick;
    c->slip += part->slip;
}

talus_status talus_certify(const talus_problem *p, const double *r, talus_certificate *out) {
    *out = (talus_certificate){.worst = -1};
    TL_TRY(tl_problem_wake(p));
    double *v = p->work.v, *u = p->work.u, *lambda = p->work.lambda;
    TL_TRY(talus_problem_state(p, r, v, u, lambda));
    TL_TRY(certify_stiffness(p));
    certify_job job = {p, u, r, certify_find_scales(p, r)};
    tl_parallel(p->ctx, p->threads > 1 ? p->threads : 1, certify_parts, &job);
    double natural = 0.0;
    for (int32_t k = 0; k < tl_certify_part_count(p->count); k++) {
        certify_collect(out, &p->work.part[k].figures);
        natural += p->work.part[k].natural;
    }
    const double q = certify_norm(p->dim * p->count, p->q);
    out->scale = job.scales.scale;
    out->natural = sqrt(natural) / fmax(1.0, q);
    if (p->is_global && p->constraint_count > 0) TL_TRY(certify_constraint(p, v, &out->constraint));
    if (p->is_global && p->dof > 0) out->motion = certify_motion(p, r, v, lambda);
    return TALUS_OK;
}
