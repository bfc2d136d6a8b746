// SPDX-License-Identifier: Apache-2.0
// Contacts of pairs of bodies, eight side by side.
#include "solve/pairs.h"
#include "base/thread.h"
#include "cone/lorentz.h"
#include "linalg/dense.h"
#include "problem/mass.h"
#include "problem/problem_impl.h"
#include <math.h>

enum { PAIR_BLOCK = 18, PAIR_STEPS = 8 }; // numbers of a block of H; Newton steps side by side

// ---- layout ------------------------------------------------------------------------------------

// At most two bodies, each as heavy one way as another, whose velocities act the same, with
// opposite signs.
static bool pairs_contact(const talus_problem *p, int32_t i) {
    const int64_t first = p->h_start[i], sides = p->h_start[i + 1] - first;
    if (sides < 1 || sides > 2 || isinf(p->mu[i])) return false;
    for (int64_t e = first; e < first + sides; e++) {
        const double *own = tl_mass_diagonal(p->mass) + 6 * (int64_t)p->h_body[e];
        if (own[0] != own[1] || own[0] != own[2]) return false;
    }
    if (sides == 1) return true;
    const double *a = p->h_block + p->h_offset[first], *b = p->h_block + p->h_offset[first + 1];
    for (int k = 0; k < PAIR_BLOCK; k++)
        if (k % 6 < 3 && a[k] != -b[k]) return false;
    return p->h_body[first] != p->h_body[first + 1];
}

bool tl_pairs_are(const talus_problem *p) {
    if (!p->is_global || p->dim != 3 || p->body_size != 6 || p->constraint_count > 0 ||
        p->dilatancy || p->yield || p->tension || p->changes || !p->h_block ||
        !tl_mass_diagonal(p->mass))
        return false;
    for (int32_t i = 0; i < p->count; i++)
        if (!pairs_contact(p, i)) return false;
    return true;
}

void tl_pairs_clear(talus_context *ctx, tl_pairs *pairs) {
    tl_free(ctx, pairs->pair);
    tl_free(ctx, pairs->contact);
    tl_free(ctx, pairs->apart);
    *pairs = (tl_pairs){0};
}

static double *pairs_entry(const tl_pairs *pairs, int32_t row, int entry) {
    return pairs->contact + ((int64_t)(row / LANES) * TL_PAIR_ENTRIES + entry) * LANES +
           row % LANES;
}

// The proximal term of a block.
static double pairs_beta(const tl_pairs *pairs, const double w[9]) {
    return pairs->proximal * (w[0] + w[4] + w[8]) / 3.0;
}

// W_ii of contact i.
static void pairs_block(const talus_problem *p, int32_t i, double w[9]) {
    const double *mass = tl_mass_diagonal(p->mass);
    memset(w, 0, 9 * sizeof *w);
    for (int64_t e = p->h_start[i]; e < p->h_start[i + 1]; e++) {
        const double *h = p->h_block + p->h_offset[e], *own = mass + 6 * (int64_t)p->h_body[e];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int k = 0; k < 6; k++) w[3 * a + b] += h[6 * a + k] * h[6 * b + k] / own[k];
    }
}

// What a job over the rows knows; threads share out the groups.
typedef struct pairs_job {
    const talus_problem *p;
    const tl_plan *plan;
    tl_pairs *pairs;
} pairs_job;

static void pairs_lay_row(const pairs_job *job, int32_t row) {
    const talus_problem *p = job->p;
    tl_pairs *pairs = job->pairs;
    const int32_t i = job->plan->order[row];
    int32_t *pair = pairs->pair + (int64_t)(row / LANES) * 2 * LANES + row % LANES;
    pair[0] = pair[LANES] = p->body_count + (i < 0);
    *pairs_entry(pairs, row, TL_PAIR_LAMBDA) = 1.0;
    if (i < 0) return;
    double w[9], low, high;
    pairs_block(p, i, w);
    tl_sym_eigen_range(3, w, &low, &high);
    *pairs_entry(pairs, row, TL_PAIR_LAMBDA) = high;
    *pairs_entry(pairs, row, TL_PAIR_FRICTION) = p->mu[i];
    EACH_AXIS *pairs_entry(pairs, row, TL_PAIR_FREE + k) = p->q[3 * (int64_t)i + k];
    for (int64_t side = 0; side < p->h_start[i + 1] - p->h_start[i]; side++) {
        const double *h = p->h_block + p->h_offset[p->h_start[i] + side];
        const int turn = side == 0 ? TL_PAIR_TURN_A : TL_PAIR_TURN_B;
        const int32_t body = p->h_body[p->h_start[i] + side];
        const double *inertia = tl_mass_diagonal(p->mass) + 6 * (int64_t)body + 3;
        pair[side * LANES] = body;
        for (int k = 0; k < 9; k++) {
            *pairs_entry(pairs, row, turn + k) = h[6 * (k / 3) + 3 + k % 3] / sqrt(inertia[k % 3]);
            if (side == 0) *pairs_entry(pairs, row, TL_PAIR_FRAME + k) = h[6 * (k / 3) + k % 3];
        }
    }
}

static void pairs_lay(void *arg, tl_team *team, int rank) {
    const pairs_job *job = arg;
    const size_t group = (size_t)TL_PAIR_ENTRIES * LANES;
    int64_t begin, end;
    tl_share(job->plan->group_count, tl_team_size(team), rank, &begin, &end);
    if (begin < end)
        memset(job->pairs->contact + (size_t)begin * group, 0,
               (size_t)(end - begin) * group * sizeof(double));
    for (int64_t row = begin * LANES; row < end * LANES; row++) pairs_lay_row(job, (int32_t)row);
}

talus_status tl_pairs_update(talus_context *ctx, int threads, const talus_problem *p,
                             const tl_plan *plan, tl_pairs *inout) {
    pairs_job job = {p, plan, inout};
    TL_TRY(TL_RESERVE(ctx, 2 * (int64_t)plan->rows, &inout->pair));
    TL_TRY(TL_RESERVE(ctx, (int64_t)TL_PAIR_ENTRIES * plan->rows, &inout->contact));
    TL_TRY(TL_RESERVE(ctx, plan->group_count, &inout->apart));
    tl_parallel(ctx, threads, pairs_lay, &job);
    return TALUS_OK;
}

// What the law in force needs of W_ii. False: the block is left to `local`.
static bool pairs_keep(tl_pairs *pairs, int32_t row, const double w[9], double mu) {
    if (pairs->associated) {
        tl_lorentz cone;
        const bool sound = tl_lorentz_make(w, mu, &cone);
        for (int k = 0; k < 9; k++) *pairs_entry(pairs, row, TL_PAIR_Z + k) = cone.z[k];
        EACH_AXIS *pairs_entry(pairs, row, TL_PAIR_M + k) = sound ? cone.m[k] : 1.0;
        return sound;
    }
    tl_schur schur;
    const bool sound = tl_schur_make(w, &schur);
    EACH_AXIS *pairs_entry(pairs, row, TL_PAIR_NN + k) = w[k];
    *pairs_entry(pairs, row, TL_PAIR_T) = schur.t11;
    *pairs_entry(pairs, row, TL_PAIR_T + 1) = schur.t12;
    *pairs_entry(pairs, row, TL_PAIR_T + 2) = schur.t22;
    return sound && mu > 0.0;
}

static void pairs_weigh_blocks(void *arg, tl_team *team, int rank) {
    const pairs_job *job = arg;
    tl_pairs *pairs = job->pairs;
    int64_t begin, end;
    tl_share(job->plan->group_count, tl_team_size(team), rank, &begin, &end);
    for (int64_t group = begin; group < end; group++) {
        unsigned apart = 0;
        for (int lane = 0; lane < LANES; lane++) {
            const int32_t row = (int32_t)group * LANES + lane, i = job->plan->order[row];
            double w[9] = {[0] = 1.0, [4] = 1.0, [8] = 1.0}; // of an empty row: harmless
            if (i >= 0) pairs_block(job->p, i, w);
            const double beta = i >= 0 ? pairs_beta(pairs, w) : 0.0;
            for (int k = 0; k < 9; k += 4) w[k] += beta;
            const bool sound = pairs_keep(pairs, row, w, i >= 0 ? job->p->mu[i] : 1.0);
            apart |= (unsigned)(!sound && i >= 0) << lane;
        }
        pairs->apart[group] = (uint8_t)apart;
    }
}

void tl_pairs_calm(talus_context *ctx, int threads, const talus_problem *p, const tl_plan *plan,
                   double proximal, bool associated, tl_pairs *pairs) {
    pairs_job job = {p, plan, pairs};
    pairs->associated = associated;
    pairs->proximal = proximal;
    tl_parallel(ctx, threads, pairs_weigh_blocks, &job);
}

void tl_pairs_weigh(const talus_problem *p, double *z) {
    const double *mass = tl_mass_diagonal(p->mass);
    for (int32_t body = 0; body < p->body_count + 2; body++, z += TL_LANES_BODY)
        z[TL_PAIR_LIGHT] = body < p->body_count ? 1.0 / sqrt(mass[6 * (int64_t)body]) : 0.0;
}

double tl_pairs_scale(const tl_plan *plan, const tl_pairs *pairs) {
    double scale = 0.0;
    for (int32_t row = 0; row < plan->rows; row++) {
        double square = 0.0;
        EACH_AXIS square += pow(*pairs_entry(pairs, row, TL_PAIR_FREE + k), 2.0);
        scale = fmax(scale, sqrt(square / *pairs_entry(pairs, row, TL_PAIR_LAMBDA)));
    }
    return scale;
}

// ---- eight contacts ----------------------------------------------------------------------------

/// Where the eight contacts of a group find and leave what they change.
typedef struct pair_group {
    const double (*entry)[LANES]; // TL_PAIR_ENTRIES
    const int32_t *a, *b;
    double za[TL_LANES_BODY][LANES], zb[TL_LANES_BODY][LANES]; // of the bodies
} pair_group;

static inline void pair_fetch(const tl_pairs *p, const tl_lanes_sweep *s, int32_t group) {
    const int32_t *pair = p->pair + (int64_t)group * 2 * LANES;
    for (int k = 0; k < 2 * LANES; k++) TL_PREFETCH(s->z + (int64_t)pair[k] * TL_LANES_BODY);
}

TL_INLINE void pair_gather(const tl_pairs *p, const tl_lanes_sweep *s, int32_t group,
                           pair_group *g) {
    g->entry = (const double(*)[LANES])(p->contact + (int64_t)group * TL_PAIR_ENTRIES * LANES);
    g->a = p->pair + (int64_t)group * 2 * LANES;
    g->b = g->a + LANES;
    lanes_load(s->z, g->a, g->za);
    lanes_load(s->z, g->b, g->zb);
}

// Relative velocity, q included.
TL_INLINE void pair_velocity(const pair_group *g, double u[3][LANES]) {
    const double *light_a = g->za[TL_PAIR_LIGHT], *light_b = g->zb[TL_PAIR_LIGHT];
    double v[3][LANES]; // of the one against the other
    EACH_AXIS EACH_LANE v[k][lane] =
        light_a[lane] * g->za[k][lane] - light_b[lane] * g->zb[k][lane];
    for (int i = 0; i < 3; i++) {
        const double(*e)[LANES] = g->entry + TL_PAIR_FRAME + 3 * (ptrdiff_t)i;
        const double(*a)[LANES] = g->entry + TL_PAIR_TURN_A + 3 * (ptrdiff_t)i;
        const double(*b)[LANES] = g->entry + TL_PAIR_TURN_B + 3 * (ptrdiff_t)i;
        EACH_LANE {
            double sum = g->entry[TL_PAIR_FREE + i][lane];
            EACH_AXIS sum += e[k][lane] * v[k][lane];
            EACH_AXIS sum += a[k][lane] * g->za[3 + k][lane] + b[k][lane] * g->zb[3 + k][lane];
            u[i][lane] = sum;
        }
    }
}

// z += N Hᵀ f. Lanes of a group share no body.
TL_INLINE void pair_scatter(const tl_lanes_sweep *s, pair_group *g, double f[3][LANES]) {
    for (int k = 0; k < 3; k++) {
        const double(*e)[LANES] = g->entry + TL_PAIR_FRAME + k;
        const double(*a)[LANES] = g->entry + TL_PAIR_TURN_A + k;
        const double(*b)[LANES] = g->entry + TL_PAIR_TURN_B + k;
        EACH_LANE {
            double along = 0.0, turn_a = 0.0, turn_b = 0.0;
            for (ptrdiff_t i = 0; i < 3; i++) {
                along += e[3 * i][lane] * f[i][lane];
                turn_a += a[3 * i][lane] * f[i][lane];
                turn_b += b[3 * i][lane] * f[i][lane];
            }
            g->za[k][lane] += g->za[TL_PAIR_LIGHT][lane] * along;
            g->zb[k][lane] -= g->zb[TL_PAIR_LIGHT][lane] * along;
            g->za[3 + k][lane] += turn_a;
            g->zb[3 + k][lane] += turn_b;
        }
    }
    lanes_store(s->z, s->bodies, g->a, g->za);
    lanes_store(s->z, s->bodies, g->b, g->zb);
}

// One-contact problems at velocity u and impulse r: the way of slide_quick_3, without its branches.
// With b = u − W_ii r, the velocity without the contact's own impulse, and c = b_T − W_TN b_N/W_NN,
//     r_T = −(T + α)⁻¹ c,   r_N = −(b_N + W_NT r_T)/W_NN;
// α = 0 where that sticks, else the root of ψ(α) = mu r_N/|r_T| − 1. ψ(0) < 0 then, and ψ > 0 for
// large α, since b_N < 0: Newton's steps are kept between. Returns the lanes that did not settle.
TL_INLINE unsigned pair_solve(double tolerance, const pair_group *g, double u[3][LANES],
                              double r[3][LANES]) {
    const double *nn = g->entry[TL_PAIR_NN], *n1 = g->entry[TL_PAIR_NN + 1];
    const double *n2 = g->entry[TL_PAIR_NN + 2], *mu = g->entry[TL_PAIR_FRICTION];
    const double *t11 = g->entry[TL_PAIR_T], *t12 = g->entry[TL_PAIR_T + 1];
    const double *t22 = g->entry[TL_PAIR_T + 2];
    double bn[LANES], c1[LANES], c2[LANES], inverse_nn[LANES], a[LANES], low[LANES], high[LANES];
    double n[LANES], y1[LANES], y2[LANES], busy[LANES];
    EACH_LANE {
        const double inverse = 1.0 / nn[lane];
        const double own = nn[lane] * r[0][lane] + n1[lane] * r[1][lane] + n2[lane] * r[2][lane];
        // velocity of the tangent once the normal is eliminated
        const double v1 = u[1][lane] - n1[lane] * inverse * u[0][lane];
        const double v2 = u[2][lane] - n2[lane] * inverse * u[0][lane];
        const double rest = u[0][lane] - own;
        const double p1 = v1 - (t11[lane] * r[1][lane] + t12[lane] * r[2][lane]);
        const double p2 = v2 - (t12[lane] * r[1][lane] + t22[lane] * r[2][lane]);
        const double det = 1.0 / (t11[lane] * t22[lane] - t12[lane] * t12[lane]);
        const double x1 = (t12[lane] * p2 - t22[lane] * p1) * det;
        const double x2 = (t12[lane] * p1 - t11[lane] * p2) * det;
        const double x = -(rest + n1[lane] * x1 + n2[lane] * x2) * inverse;
        const bool open = rest >= 0.0;
        const double most = mu[lane] * TL_MAX(x, 0.0), pull = x1 * x1 + x2 * x2;
        const double slides = pull <= most * most ? 0.0 : 1.0;
        // α of the last visit: u_T = −α r_T in the least squares sense
        const double size = r[1][lane] * r[1][lane] + r[2][lane] * r[2][lane];
        const double power = -(v1 * r[1][lane] + v2 * r[2][lane]);
        const double ratio = power / TL_MAX(size, 1e-200 * power);
        a[lane] = ratio > 1e-6 * (t11[lane] + t22[lane]) ? ratio : 0.0;
        inverse_nn[lane] = inverse;
        bn[lane] = rest;
        c1[lane] = p1;
        c2[lane] = p2;
        n[lane] = open ? 0.0 : x;
        y1[lane] = open ? 0.0 : x1;
        y2[lane] = open ? 0.0 : x2;
        low[lane] = 0.0;
        high[lane] = INFINITY;
        busy[lane] = open ? 0.0 : slides;
    }
    for (int step = 0; step < PAIR_STEPS && lanes_any(busy); step++) {
        EACH_LANE {
            const double alpha = a[lane], a1 = t11[lane] + alpha, a2 = t22[lane] + alpha;
            const double inverse = 1.0 / (a1 * a2 - t12[lane] * t12[lane]);
            double x1 = (t12[lane] * c2[lane] - a2 * c1[lane]) * inverse;
            double x2 = (t12[lane] * c1[lane] - a1 * c2[lane]) * inverse;
            double x = -(bn[lane] + n1[lane] * x1 + n2[lane] * x2) * inverse_nn[lane];
            const double d1 = (a2 * x1 - t12[lane] * x2) * inverse; // −dr_T/dα
            const double d2 = (a1 * x2 - t12[lane] * x1) * inverse;
            const double inverse_t = 1.0 / sqrt(x1 * x1 + x2 * x2);
            const double psi = mu[lane] * x * inverse_t - 1.0;
            const double slope = mu[lane] * inverse_t *
                                 ((n1[lane] * d1 + n2[lane] * d2) * inverse_nn[lane] +
                                  x * (x1 * d1 + x2 * d2) * inverse_t * inverse_t);
            const double below = psi < 0.0 ? alpha : low[lane];
            const double above = psi < 0.0 ? high[lane] : alpha;
            const double next = alpha - psi / slope, move = next - alpha;
            const bool inside = next > below && next < above;
            // r_T bends over Δα |(T + α)⁻¹|: what a Newton step leaves is of the order of its
            // square
            const double bend = move * (a1 + a2) * inverse;
            x1 -= d1 * move;
            x2 -= d2 * move;
            x = -(bn[lane] + n1[lane] * x1 + n2[lane] * x2) * inverse_nn[lane];
            const double factor = mu[lane] * x / sqrt(x1 * x1 + x2 * x2); // onto the cone
            const bool settles = inside && psi * psi <= tolerance &&
                                 bend * bend <= 0.01 * tolerance && x > 0.0 && factor < INFINITY &&
                                 busy[lane] > 0.0;
            n[lane] = settles ? x : n[lane];
            y1[lane] = settles ? factor * x1 : y1[lane];
            y2[lane] = settles ? factor * x2 : y2[lane];
            busy[lane] = settles ? 0.0 : busy[lane];
            const double farther = TL_MAX(16.0 * alpha, t11[lane] + t22[lane]);
            const double between = below > 0.0 ? sqrt(below) * sqrt(above) : 1e-3 * above;
            const double safe = above < INFINITY ? between : farther;
            a[lane] = inside ? next : safe;
            low[lane] = below;
            high[lane] = above;
        }
    }
    EACH_LANE {
        r[0][lane] = n[lane];
        r[1][lane] = y1[lane];
        r[2][lane] = y2[lane];
    }
    return lanes_above(busy);
}

// The same under the associated law: the way of lorentz_quick, without its branches. The search
// begins at the α of the last visit, where the impulse was at the rim and d_N < 0: the gradient
// m η + d of the energy is then −α η_T along the tangent.
TL_INLINE unsigned pair_solve_associated(double tolerance, const pair_group *g, double u[3][LANES],
                                         double r[3][LANES]) {
    const double(*z)[LANES] = g->entry + TL_PAIR_Z, (*m)[LANES] = g->entry + TL_PAIR_M;
    const double *mu = g->entry[TL_PAIR_FRICTION];
    double d0[LANES], d1[LANES], d2[LANES], a[LANES], held[LANES], busy[LANES];
    EACH_LANE { // d = Zᵀ u − m η, η = J Zᵀ D r
        const double u0 = u[0][lane], u1 = u[1][lane], u2 = u[2][lane];
        const double y0 = -mu[lane] * mu[lane] * r[0][lane], y1 = r[1][lane], y2 = r[2][lane];
        const double eta0 = z[0][lane] * y0 + z[3][lane] * y1 + z[6][lane] * y2;
        const double eta1 = z[1][lane] * y0 + z[4][lane] * y1 + z[7][lane] * y2;
        const double eta2 = z[2][lane] * y0 + z[5][lane] * y1 + z[8][lane] * y2;
        const double slope1 = z[1][lane] * u0 + z[4][lane] * u1 + z[7][lane] * u2;
        const double slope2 = z[2][lane] * u0 + z[5][lane] * u1 + z[8][lane] * u2;
        const double square = eta1 * eta1 + eta2 * eta2;
        const double power = -(slope1 * eta1 + slope2 * eta2);
        d0[lane] = z[0][lane] * u0 + z[3][lane] * u1 + z[6][lane] * u2 + m[0][lane] * eta0;
        d1[lane] = slope1 - m[1][lane] * eta1;
        d2[lane] = slope2 - m[2][lane] * eta2;
        a[lane] = power / TL_MAX(square, 1e-200 * power);
    }
    EACH_LANE {
        const double square1 = d1[lane] * d1[lane], square2 = d2[lane] * d2[lane];
        const double square = square1 + square2, size = sqrt(square);
        const double share = d0[lane] / TL_MAX(size, 1e-300);
        const double x0 = TL_MIN(d0[lane] / m[0][lane], 0.0), x1 = d1[lane] / m[1][lane];
        const double x2 = d2[lane] / m[2][lane];
        const double mean = (square1 * m[1][lane] + square2 * m[2][lane]) / TL_MAX(square, 1e-300);
        const double root = (m[0][lane] + share * mean) / (1.0 - share); // of the asymptote
        const double last = a[lane] > 1e-6 * (m[1][lane] + m[2][lane]) ? a[lane] : root;
        const double start = d0[lane] < 0.0 ? last : root; // else only from the right
        const double rim = x0 * x0 >= x1 * x1 + x2 * x2 ? -1.0 : TL_MAX(start, 0.0);
        a[lane] = d0[lane] >= size ? 0.0 : rim;
        held[lane] = d0[lane] >= size ? 0.0 : 1.0;
        busy[lane] = a[lane] >= 0.0 ? held[lane] : 0.0;
    }
    const double little = tolerance; // what a step leaves is of the order of its square
    for (int step = 0; step < LORENTZ_STEPS && lanes_any(busy); step++) {
        EACH_LANE {
            const double i1 = 1.0 / (m[1][lane] + a[lane]), i2 = 1.0 / (m[2][lane] + a[lane]);
            const double x1 = d1[lane] * i1, x2 = d2[lane] * i2;
            const double square1 = x1 * x1, square2 = x2 * x2;
            const double inverse = 1.0 / sqrt(square1 + square2), share = d0[lane] * inverse;
            const double bend = (square1 * i1 + square2 * i2) * (inverse * inverse);
            const double next = a[lane] - (share - a[lane] + m[0][lane]) / (share * bend - 1.0);
            const double after = TL_MAX(next, 0.0), move = after - a[lane];
            const double least = TL_MIN(m[1][lane], m[2][lane]) + after;
            const double left = move * move <= little * least * least ? 0.0 : busy[lane];
            a[lane] = busy[lane] > 0.0 ? after : a[lane];
            busy[lane] = left;
        }
    }
    EACH_LANE {
        const bool sticks = a[lane] < 0.0;
        const double alpha = sticks ? 0.0 : a[lane];
        const double y1 = -held[lane] * d1[lane] / (m[1][lane] + alpha);
        const double y2 = -held[lane] * d2[lane] / (m[2][lane] + alpha);
        const double y0 = sticks ? -d0[lane] / m[0][lane] : sqrt(y1 * y1 + y2 * y2);
        for (ptrdiff_t i = 0; i < 3; i++)
            r[i][lane] = z[3 * i][lane] * y0 + z[3 * i + 1][lane] * y1 + z[3 * i + 2][lane] * y2;
    }
    return lanes_above(busy);
}

// W_ii of a lane.
static void pair_block(const tl_pairs *p, const pair_group *g, int lane, double w[9]) {
    const double(*e)[LANES] = g->entry + TL_PAIR_FRAME, (*a)[LANES] = g->entry + TL_PAIR_TURN_A;
    const double(*b)[LANES] = g->entry + TL_PAIR_TURN_B;
    const double light_a = g->za[TL_PAIR_LIGHT][lane], light_b = g->zb[TL_PAIR_LIGHT][lane];
    const double light = light_a * light_a + light_b * light_b;
    for (ptrdiff_t i = 0; i < 3; i++)
        for (ptrdiff_t j = 0; j < 3; j++) {
            double sum = 0.0;
            for (ptrdiff_t k = 0; k < 3; k++) {
                sum += e[3 * i + k][lane] * e[3 * j + k][lane] * light;
                sum += a[3 * i + k][lane] * a[3 * j + k][lane];
                sum += b[3 * i + k][lane] * b[3 * j + k][lane];
            }
            w[3 * i + j] = sum;
        }
    const double beta = pairs_beta(p, w);
    for (int k = 0; k < 9; k += 4) w[k] += beta;
}

// One lane by itself, from its old impulse r.
static void pair_alone(const tl_pairs *p, const pair_group *g, int lane, double u[3][LANES],
                       double old[3][LANES], double out[3][LANES], tl_lanes_tally *t) {
    const double mu = g->entry[TL_PAIR_FRICTION][lane];
    double w[9], b[3], r[3], q[3];
    pair_block(p, g, lane, w);
    EACH_AXIS {
        r[k] = old[k][lane];
        q[k] = g->entry[TL_PAIR_FREE + k][lane];
    }
    for (int i = 0; i < 3; i++)
        b[i] = u[i][lane] - (w[3 * i] * r[0] + w[3 * i + 1] * r[1] + w[3 * i + 2] * r[2]);
    const tl_local local = {.w = w,
                            .b = b,
                            .free = q,
                            .law = {.mu = mu, .zeta = p->associated ? mu : 0.0},
                            .rho = 1.0 / g->entry[TL_PAIR_LAMBDA][lane]};
    const int steps = p->local(&local, &p->control, r);
    t->saves += steps >= TL_LOCAL_SAVED ? 1.0 : 0.0;
    t->failures += steps < 0 ? 1.0 : 0.0;
    // A block that was not solved is met half way, as in sweep.c.
    EACH_AXIS out[k][lane] = steps < 0 ? 0.5 * (old[k][lane] + r[k]) : r[k];
}

void tl_pairs_chunk_lanes(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk,
                          tl_lanes_tally *out);
TL_SIMD_CLONES void tl_pairs_chunk_lanes(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk,
                                         tl_lanes_tally *out) {
    const int32_t first = s->plan->chunk_start[chunk], last = s->plan->chunk_start[chunk + 1];
    lanes_sums sums = {0};
    tl_lanes_tally alone = {0};
    for (int32_t group = first; group < last; group++) {
        pair_group g;
        double u[3][LANES], old[3][LANES], fresh[3][LANES], glide[LANES];
        double *r = s->r + (int64_t)group * 3 * LANES;
        if (group + 1 < last) pair_fetch(p, s, group + 1);
        pair_gather(p, s, group, &g);
        pair_velocity(&g, u);
        lanes_carry(s, group);
        memcpy(old, r, sizeof old);
        memcpy(fresh, r, sizeof fresh);
        unsigned left = p->apart[group];
        if (left != 0xff)
            left |= p->associated ? pair_solve_associated(p->control.tolerance, &g, u, fresh)
                                  : pair_solve(p->control.tolerance, &g, u, fresh);
        for (int lane = 0; left && lane < LANES; lane++)
            if (left >> lane & 1U) pair_alone(p, &g, lane, u, old, fresh, &alone);
        memcpy(r, fresh, sizeof fresh);
        for (int k = 0; k < 3; k++) EACH_LANE fresh[k][lane] -= old[k][lane];
        lanes_changed(s, group, fresh, glide);
        EACH_LANE {
            double square = 0.0;
            EACH_AXIS square += fresh[k][lane] * fresh[k][lane];
            lanes_count(&sums, lane, g.entry[TL_PAIR_LAMBDA][lane], fresh[0][lane], square,
                        glide[lane]);
        }
        pair_scatter(s, &g, fresh);
    }
    lanes_total(s, chunk, &sums, out);
    out->failures = alone.failures;
    out->saves = alone.saves;
}

void tl_pairs_spread_lanes(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk);
TL_SIMD_CLONES void tl_pairs_spread_lanes(const tl_pairs *p, const tl_lanes_sweep *s,
                                          int32_t chunk) {
    for (int32_t group = s->plan->chunk_start[chunk]; group < s->plan->chunk_start[chunk + 1];
         group++) {
        pair_group g;
        double f[3][LANES];
        memcpy(f, s->r + (int64_t)group * 3 * LANES, sizeof f);
        pair_gather(p, s, group, &g);
        pair_scatter(s, &g, f);
    }
}

double tl_pairs_measure_lanes(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk,
                              bool scaled);
TL_SIMD_CLONES double tl_pairs_measure_lanes(const tl_pairs *p, const tl_lanes_sweep *s,
                                             int32_t chunk, bool scaled) {
    double most[LANES] = {0.0}, total = 0.0;
    const double shift = p->associated ? 0.0 : 1.0;
    for (int32_t group = s->plan->chunk_start[chunk]; group < s->plan->chunk_start[chunk + 1];
         group++) {
        pair_group g;
        double u[3][LANES];
        const double *r = s->r + (int64_t)group * 3 * LANES;
        pair_gather(p, s, group, &g);
        pair_velocity(&g, u);
        EACH_LANE {
            const double mu = g.entry[TL_PAIR_FRICTION][lane];
            const double lambda = scaled ? g.entry[TL_PAIR_LAMBDA][lane] : 1.0;
            const double slide = sqrt(u[1][lane] * u[1][lane] + u[2][lane] * u[2][lane]);
            // y = r − (u + g)/λ and its projection onto the cone
            const double y = r[lane] - (u[0][lane] + shift * mu * slide) / lambda;
            const double y1 = r[LANES + lane] - u[1][lane] / lambda;
            const double y2 = r[2 * LANES + lane] - u[2][lane] / lambda;
            const double size = sqrt(y1 * y1 + y2 * y2);
            const double edge = TL_MAX((y + mu * size) / (1.0 + mu * mu), 0.0);
            const double normal = size <= mu * y ? y : edge;
            const double share = size > mu * normal ? mu * normal / size : 1.0;
            const double d0 = r[lane] - normal, d1 = r[LANES + lane] - share * y1;
            const double d2 = r[2 * LANES + lane] - share * y2;
            const double x = (d0 * d0 + d1 * d1 + d2 * d2) * lambda;
            most[lane] = scaled ? (x <= most[lane] ? most[lane] : x) : most[lane] + x; // NaN stays
        }
    }
    EACH_LANE total = scaled ? (most[lane] <= total ? total : most[lane]) : total + most[lane];
    return scaled ? sqrt(total) : total;
}

// clang knows the copies of a function only in their own file.
void tl_pairs_chunk(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk,
                    tl_lanes_tally *out) {
    tl_pairs_chunk_lanes(p, s, chunk, out);
}
void tl_pairs_spread(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk) {
    tl_pairs_spread_lanes(p, s, chunk);
}
double tl_pairs_measure(const tl_pairs *p, const tl_lanes_sweep *s, int32_t chunk, bool scaled) {
    return tl_pairs_measure_lanes(p, s, chunk, scaled);
}
