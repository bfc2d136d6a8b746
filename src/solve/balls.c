// SPDX-License-Identifier: Apache-2.0
// Contacts of balls, eight side by side.
#include "solve/balls.h"
#include "base/vec3.h"
#include "problem/mass.h"
#include <math.h>
#include <string.h>

// ---- recognition -------------------------------------------------------------------------------

// The frame of contact i, one vector a row, and the arms of its sides.
static bool balls_contact(const talus_problem *p, int32_t i, double e[9], double arm[2]) {
    const int64_t first = p->h_start[i], sides = p->h_start[i + 1] - first;
    arm[1] = 0.0;
    if (!p->h_block) {
        const talus_ball_rows *b = &p->balls;
        tl_ball_frame(b, i, e);
        for (int k = 0; b->back && b->back[i] && k < 9; k++) e[k] = -e[k];
        for (int64_t k = 0; k < sides; k++) arm[k] = b->arm[first + k];
        return true;
    }
    const double *h = p->h_block + p->h_offset[first];
    if (sides < 1 || sides > 2) return false;
    for (int k = 0; k < 3; k++) tl_copy3(h + 6 * (ptrdiff_t)k, e + 3 * (ptrdiff_t)k);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++)
            if (fabs(tl_dot3(e + 3 * (ptrdiff_t)a, e + 3 * (ptrdiff_t)b) - (a == b)) >
                4.0 * TL_BALL_ROUNDING)
                return false;
    return tl_ball_arm(h, 1.0, e, arm) &&
           (sides == 1 || tl_ball_arm(h + TL_BALL_BLOCK, -1.0, e, arm + 1));
}

bool tl_balls_are(const talus_problem *p) {
    if (!p->is_global || p->dim != 3 || p->body_size != 6 || p->constraint_count > 0 ||
        p->dilatancy || p->yield || p->tension || p->changes)
        return false;
    const double *mass = tl_mass_diagonal(p->mass);
    if (!mass) return false;
    for (int64_t b = 0; b < p->body_count; b++, mass += 6)
        if (mass[1] != mass[0] || mass[2] != mass[0] || mass[4] != mass[3] || mass[5] != mass[3])
            return false;
    for (int32_t i = 0; i < p->count; i++) {
        double e[9], arm[2];
        if (isinf(p->mu[i]) || !balls_contact(p, i, e, arm)) return false;
    }
    return true;
}

// ---- layout ------------------------------------------------------------------------------------

static double *balls_entry(const tl_balls *b, int32_t row, int entry) {
    return b->contact + ((int64_t)(row / LANES) * TL_BALL_ENTRIES + entry) * LANES + row % LANES;
}

void tl_balls_clear(talus_context *ctx, tl_balls *b) {
    tl_free(ctx, b->pair);
    tl_free(ctx, b->contact);
    *b = (tl_balls){0};
}

talus_status tl_balls_update(talus_context *ctx, const talus_problem *p, const tl_plan *plan,
                             tl_balls *inout) {
    const int64_t entries = (int64_t)TL_BALL_ENTRIES * plan->rows;
    TL_TRY(TL_RESERVE(ctx, 2 * (int64_t)plan->rows, &inout->pair));
    TL_TRY(TL_RESERVE(ctx, entries, &inout->contact));
    if (entries > 0) memset(inout->contact, 0, (size_t)entries * sizeof *inout->contact);
    for (int32_t row = 0; row < plan->rows; row++) {
        const int32_t i = plan->order[row];
        int32_t *pair = inout->pair + (int64_t)(row / LANES) * 2 * LANES + row % LANES;
        pair[0] = pair[LANES] = p->body_count + (i < 0);
        if (i < 0) continue;
        double e[9] = {0.0}, arm[2] = {0.0};
        (void)balls_contact(p, i, e, arm);
        EACH_AXIS {
            *balls_entry(inout, row, TL_BALL_NORMAL + k) = e[k];
            for (int j = 0; j < 3; j++)
                *balls_entry(inout, row, TL_BALL_FREE + k) +=
                    e[3 * j + k] * p->q[3 * (int64_t)i + j];
        }
        *balls_entry(inout, row, TL_BALL_FRICTION) = p->mu[i];
        for (int64_t side = 0; side < p->h_start[i + 1] - p->h_start[i]; side++) {
            pair[side * LANES] = p->h_body[p->h_start[i] + side];
            *balls_entry(inout, row, TL_BALL_ARM_A + (int)side) = arm[side];
        }
    }
    return TALUS_OK;
}

void tl_balls_weigh(const talus_problem *p, double *z) {
    const double *mass = tl_mass_diagonal(p->mass);
    for (int32_t body = 0; body < p->body_count + 2; body++, z += TL_LANES_BODY) {
        const bool there = body < p->body_count;
        const double *own = mass + (there ? 6 * (int64_t)body : 0);
        z[TL_BALL_LIGHT] = there ? 1.0 / own[0] : body == p->body_count ? 0.0 : 0.5;
        z[TL_BALL_NIMBLE] = there ? 1.0 / own[3] : 0.0;
    }
}

double tl_balls_scale(const talus_problem *p, const double *z) {
    double scale = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        double e[9] = {0.0}, arm[2] = {0.0}, across = 0.0;
        (void)balls_contact(p, i, e, arm);
        for (int64_t side = 0; side < p->h_start[i + 1] - p->h_start[i]; side++) {
            const double *body = z + (int64_t)p->h_body[p->h_start[i] + side] * TL_LANES_BODY;
            across += body[TL_BALL_LIGHT] + arm[side] * (arm[side] * body[TL_BALL_NIMBLE]);
        }
        scale = fmax(scale, tl_norm3(p->q + 3 * (int64_t)i) / sqrt(across));
    }
    return scale;
}

bool tl_balls_import(const talus_problem *p, const tl_plan *plan, const double *r, double *to) {
    bool none = true;
    for (int32_t row = 0; row < plan->rows; row++) {
        const int32_t i = plan->order[row];
        double x[3] = {0.0, 0.0, 0.0}, room[TL_BALL_BLOCK];
        const double *h = i < 0 ? NULL : tl_problem_h(p, i, p->h_start[i], room);
        for (int j = 0; i >= 0 && j < 3; j++)
            tl_axpy3(x, r[3 * (int64_t)i + j], h + 6 * (ptrdiff_t)j, x);
        EACH_AXIS {
            to[((int64_t)(row / LANES) * 3 + k) * LANES + row % LANES] = x[k];
            none = none && x[k] == 0.0;
        }
    }
    return none;
}

void tl_balls_export(const talus_problem *p, double *r) {
    for (int32_t i = 0; i < p->count; i++) {
        double x[3], *out = r + 3 * (int64_t)i, room[TL_BALL_BLOCK];
        const double *h = tl_problem_h(p, i, p->h_start[i], room);
        tl_copy3(out, x);
        for (int j = 0; j < 3; j++) out[j] = tl_dot3(h + 6 * (ptrdiff_t)j, x);
        // rounding must not leave the cone
        const double tangent = hypot(out[1], out[2]), most = p->mu[i] * fmax(out[0], 0.0);
        out[0] = fmax(out[0], 0.0);
        for (int j = 1; j < 3 && tangent > most; j++) out[j] *= most / tangent;
    }
}

// ---- eight contacts ----------------------------------------------------------------------------

/// Where the eight contacts of a group find and leave what they change.
typedef struct ball_group {
    const double (*entry)[LANES]; // TL_BALL_ENTRIES
    const int32_t *a, *b;
    double za[TL_LANES_BODY][LANES], zb[TL_LANES_BODY][LANES]; // of the bodies
    double turn_a[LANES], turn_b[LANES];                       // ρ/I
    double along[LANES], across[LANES];                        // w_N, w_T
} ball_group;

static inline void ball_fetch(const tl_balls *b, const tl_lanes_sweep *s, int32_t group) {
    const int32_t *pair = b->pair + (int64_t)group * 2 * LANES;
    for (int k = 0; k < 2 * LANES; k++) TL_PREFETCH(s->z + (int64_t)pair[k] * TL_LANES_BODY);
}

TL_INLINE void ball_gather(const tl_balls *b, const tl_lanes_sweep *s, int32_t group,
                           ball_group *g) {
    g->entry = (const double(*)[LANES])(b->contact + (int64_t)group * TL_BALL_ENTRIES * LANES);
    g->a = b->pair + (int64_t)group * 2 * LANES;
    g->b = g->a + LANES;
    lanes_load(s->z, g->a, g->za);
    lanes_load(s->z, g->b, g->zb);
    tl_vec8 arm_a, arm_b, light_a, light_b, turn_a, turn_b;
    memcpy(&arm_a, g->entry[TL_BALL_ARM_A], sizeof arm_a);
    memcpy(&arm_b, g->entry[TL_BALL_ARM_B], sizeof arm_b);
    memcpy(&light_a, g->za[TL_BALL_LIGHT], sizeof light_a);
    memcpy(&light_b, g->zb[TL_BALL_LIGHT], sizeof light_b);
    memcpy(&turn_a, g->za[TL_BALL_NIMBLE], sizeof turn_a);
    memcpy(&turn_b, g->zb[TL_BALL_NIMBLE], sizeof turn_b);
    turn_a *= arm_a;
    turn_b *= arm_b;
    const tl_vec8 along = light_a + light_b, across = along + arm_a * turn_a + arm_b * turn_b;
    memcpy(g->turn_a, &turn_a, sizeof turn_a);
    memcpy(g->turn_b, &turn_b, sizeof turn_b);
    memcpy(g->along, &along, sizeof along);
    memcpy(g->across, &across, sizeof across);
}

// Relative velocity, q included.
TL_INLINE void ball_velocity(const ball_group *g, double u[3][LANES]) {
    const double(*n)[LANES] = g->entry + TL_BALL_NORMAL, (*q)[LANES] = g->entry + TL_BALL_FREE;
    EACH_LANE {
        double turn[3];
        EACH_AXIS turn[k] = g->entry[TL_BALL_ARM_A][lane] * g->za[3 + k][lane] +
                            g->entry[TL_BALL_ARM_B][lane] * g->zb[3 + k][lane];
        u[0][lane] = q[0][lane] + (g->za[0][lane] - g->zb[0][lane]) -
                     (turn[1] * n[2][lane] - turn[2] * n[1][lane]);
        u[1][lane] = q[1][lane] + (g->za[1][lane] - g->zb[1][lane]) -
                     (turn[2] * n[0][lane] - turn[0] * n[2][lane]);
        u[2][lane] = q[2][lane] + (g->za[2][lane] - g->zb[2][lane]) -
                     (turn[0] * n[1][lane] - turn[1] * n[0][lane]);
    }
}

// z += N Hᵀ f. Lanes of a group share no body.
TL_INLINE void ball_scatter(const tl_lanes_sweep *s, ball_group *g, double f[3][LANES]) {
    const double(*n)[LANES] = g->entry + TL_BALL_NORMAL;
    EACH_LANE {
        double c[3];
        c[0] = n[1][lane] * f[2][lane] - n[2][lane] * f[1][lane];
        c[1] = n[2][lane] * f[0][lane] - n[0][lane] * f[2][lane];
        c[2] = n[0][lane] * f[1][lane] - n[1][lane] * f[0][lane];
        EACH_AXIS {
            g->za[k][lane] += g->za[TL_BALL_LIGHT][lane] * f[k][lane];
            g->zb[k][lane] -= g->zb[TL_BALL_LIGHT][lane] * f[k][lane];
            g->za[3 + k][lane] -= g->turn_a[lane] * c[k];
            g->zb[3 + k][lane] -= g->turn_b[lane] * c[k];
        }
    }
    lanes_store(s->z, s->bodies, g->a, g->za);
    lanes_store(s->z, s->bodies, g->b, g->zb);
}

// The impulse of the one-contact problem W_ii + β at velocity u and impulse r. With the impulse
// (x_N, x_T) that would stop all motion:
//     Coulomb:     r_N = max(0, x_N),  r_T = x_T cut to mu r_N, since r_N does not depend on r_T;
//     associated:  x if in the cone, else the point of its edge (n + mu x_T/|x_T|) a that is
//                  nearest in the energy, a = (w_N x_N + mu w_T |x_T|)/(w_N + mu² w_T), or 0.
TL_INLINE void ball_solve(bool associated, double proximal, const ball_group *g, double u[3][LANES],
                          double r[3][LANES]) {
    const double(*n)[LANES] = g->entry + TL_BALL_NORMAL;
    EACH_LANE {
        const double beta = proximal * (g->along[lane] + 2.0 * g->across[lane]) * (1.0 / 3.0);
        const double stiff_n = g->along[lane] + beta, stiff_t = g->across[lane] + beta;
        const double both = 1.0 / (stiff_n * stiff_t); // one division in place of two
        const double inverse_n = stiff_t * both, inverse_t = stiff_n * both;
        const double mu = g->entry[TL_BALL_FRICTION][lane];
        double un = 0.0, rn = 0.0, t[3], square = 0.0;
        EACH_AXIS un += n[k][lane] * u[k][lane], rn += n[k][lane] * r[k][lane];
        EACH_AXIS {
            t[k] = (r[k][lane] - rn * n[k][lane]) - inverse_t * (u[k][lane] - un * n[k][lane]);
            square += t[k] * t[k];
        }
        const double x = rn - inverse_n * un, size = sqrt(square);
        double normal = TL_MAX(x, 0.0);
        if (associated) {
            const double edge = (x * stiff_n + mu * size * stiff_t) / (stiff_n + mu * mu * stiff_t);
            normal = size <= mu * x ? x : TL_MAX(edge, 0.0);
        }
        const double most = mu * normal;
        const double share = size > most ? most / size : 1.0;
        EACH_AXIS r[k][lane] = normal * n[k][lane] + share * t[k];
    }
}

TL_INLINE void ball_chunk(bool associated, const tl_balls *b, const tl_lanes_sweep *s,
                          int32_t chunk, tl_lanes_tally *out) {
    const int32_t first = s->plan->chunk_start[chunk], last = s->plan->chunk_start[chunk + 1];
    lanes_sums sums = {0};
    for (int32_t group = first; group < last; group++) {
        ball_group g;
        double u[3][LANES], old[3][LANES], fresh[3][LANES], glide[LANES];
        double *r = s->r + (int64_t)group * 3 * LANES;
        if (group + 1 < last) ball_fetch(b, s, group + 1);
        ball_gather(b, s, group, &g);
        ball_velocity(&g, u);
        lanes_carry(s, group);
        memcpy(old, r, sizeof old);
        memcpy(fresh, r, sizeof fresh);
        ball_solve(associated, b->proximal, &g, u, fresh);
        memcpy(r, fresh, sizeof fresh);
        for (int k = 0; k < 3; k++) EACH_LANE fresh[k][lane] -= old[k][lane];
        lanes_changed(s, group, fresh, glide);
        EACH_LANE {
            double square = 0.0, normal = 0.0;
            EACH_AXIS square += fresh[k][lane] * fresh[k][lane];
            EACH_AXIS normal += g.entry[TL_BALL_NORMAL + k][lane] * fresh[k][lane];
            lanes_count(&sums, lane, g.across[lane], normal, square, glide[lane]);
        }
        ball_scatter(s, &g, fresh);
    }
    lanes_total(s, chunk, &sums, out);
}

void tl_balls_chunk_coulomb(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk,
                            tl_lanes_tally *out);
void tl_balls_chunk_associated(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk,
                               tl_lanes_tally *out);
TL_SIMD_CLONES void tl_balls_chunk_coulomb(const tl_balls *b, const tl_lanes_sweep *s,
                                           int32_t chunk, tl_lanes_tally *out) {
    ball_chunk(false, b, s, chunk, out);
}
TL_SIMD_CLONES void tl_balls_chunk_associated(const tl_balls *b, const tl_lanes_sweep *s,
                                              int32_t chunk, tl_lanes_tally *out) {
    ball_chunk(true, b, s, chunk, out);
}

void tl_balls_chunk(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk,
                    tl_lanes_tally *out) {
    if (b->associated)
        tl_balls_chunk_associated(b, s, chunk, out);
    else
        tl_balls_chunk_coulomb(b, s, chunk, out);
}

void tl_balls_spread_lanes(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk);
TL_SIMD_CLONES void tl_balls_spread_lanes(const tl_balls *b, const tl_lanes_sweep *s,
                                          int32_t chunk) {
    for (int32_t group = s->plan->chunk_start[chunk]; group < s->plan->chunk_start[chunk + 1];
         group++) {
        ball_group g;
        double f[3][LANES];
        memcpy(f, s->r + (int64_t)group * 3 * LANES, sizeof f);
        ball_gather(b, s, group, &g);
        ball_scatter(s, &g, f);
    }
}

// clang knows the copies of a function only in their own file.
void tl_balls_spread(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk) {
    tl_balls_spread_lanes(b, s, chunk);
}

double tl_balls_measure_lanes(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk,
                              bool scaled);
TL_SIMD_CLONES double tl_balls_measure_lanes(const tl_balls *b, const tl_lanes_sweep *s,
                                             int32_t chunk, bool scaled) {
    double most[LANES] = {0.0}, total = 0.0;
    const double shift = b->associated ? 0.0 : 1.0;
    for (int32_t group = s->plan->chunk_start[chunk]; group < s->plan->chunk_start[chunk + 1];
         group++) {
        ball_group g;
        double u[3][LANES], r[3][LANES];
        memcpy(r, s->r + (int64_t)group * 3 * LANES, sizeof r);
        ball_gather(b, s, group, &g);
        ball_velocity(&g, u);
        const double(*n)[LANES] = g.entry + TL_BALL_NORMAL;
        EACH_LANE {
            const double mu = g.entry[TL_BALL_FRICTION][lane];
            const double across = g.across[lane];
            const double lambda = scaled && across > 0.0 ? across : 1.0;
            double un = 0.0, rn = 0.0, slide = 0.0, square = 0.0, t[3], left = 0.0;
            EACH_AXIS un += n[k][lane] * u[k][lane], rn += n[k][lane] * r[k][lane];
            EACH_AXIS {
                const double ut = u[k][lane] - un * n[k][lane];
                slide += ut * ut;
                t[k] = (r[k][lane] - rn * n[k][lane]) - ut / lambda;
                square += t[k] * t[k];
            }
            // y = r − (u + g)/λ and its projection onto the cone
            const double y = rn - (un + shift * mu * sqrt(slide)) / lambda, size = sqrt(square);
            const double edge = TL_MAX((y + mu * size) / (1.0 + mu * mu), 0.0);
            const double normal = size <= mu * y ? y : edge;
            const double share = size > mu * normal ? mu * normal / size : 1.0;
            EACH_AXIS {
                const double d = r[k][lane] - (normal * n[k][lane] + share * t[k]);
                left += d * d;
            }
            const double x = left * lambda;
            most[lane] = scaled ? (x <= most[lane] ? most[lane] : x) : most[lane] + x; // NaN stays
        }
    }
    EACH_LANE total = scaled ? (most[lane] <= total ? total : most[lane]) : total + most[lane];
    return scaled ? sqrt(total) : total;
}

double tl_balls_measure(const tl_balls *b, const tl_lanes_sweep *s, int32_t chunk, bool scaled) {
    return tl_balls_measure_lanes(b, s, chunk, scaled);
}
