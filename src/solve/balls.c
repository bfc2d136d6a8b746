// SPDX-License-Identifier: Apache-2.0
// Contacts of balls, eight side by side. Loops over `lane` become vector code.
#include "solve/balls.h"
#include "base/vec3.h"
#include "problem/mass.h"
#include <math.h>
#include <string.h>

#define LANES TL_LANES
#define EACH_LANE for (int lane = 0; lane < LANES; lane++)
#define EACH_AXIS for (int k = 0; k < 3; k++)

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
    const double *light = tl_mass_inverse_diagonal(p->mass);
    if (!light) return false;
    for (int64_t b = 0; b < p->body_count; b++, light += 6)
        if (light[1] != light[0] || light[2] != light[0] || light[4] != light[3] ||
            light[5] != light[3])
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
    const double *light = tl_mass_inverse_diagonal(p->mass);
    const int64_t entries = (int64_t)TL_BALL_ENTRIES * plan->rows;
    TL_TRY(TL_RESERVE(ctx, 2 * (int64_t)plan->rows, &inout->pair));
    TL_TRY(TL_RESERVE(ctx, entries, &inout->contact));
    if (entries > 0) memset(inout->contact, 0, (size_t)entries * sizeof *inout->contact);
    for (int32_t row = 0; row < plan->rows; row++) {
        const int32_t i = plan->order[row];
        int32_t *pair = inout->pair + (int64_t)(row / LANES) * 2 * LANES + row % LANES;
        pair[0] = pair[LANES] = p->body_count;
        if (i < 0) continue;
        double e[9] = {0.0}, arm[2] = {0.0};
        (void)balls_contact(p, i, e, arm);
        EACH_AXIS {
            *balls_entry(inout, row, TL_BALL_NORMAL + k) = e[k];
            for (int j = 0; j < 3; j++)
                *balls_entry(inout, row, TL_BALL_FREE + k) +=
                    e[3 * j + k] * p->q[3 * (int64_t)i + j];
        }
        for (int64_t side = 0; side < p->h_start[i + 1] - p->h_start[i]; side++) {
            const int32_t body = p->h_body[p->h_start[i] + side];
            pair[side * LANES] = body;
            *balls_entry(inout, row, TL_BALL_ARM_A + (int)side) = arm[side];
            *balls_entry(inout, row, TL_BALL_LIGHT_A + (int)side) = light[6 * (int64_t)body];
            *balls_entry(inout, row, TL_BALL_TURN_A + (int)side) =
                arm[side] * light[6 * (int64_t)body + 3];
        }
    }
    return TALUS_OK;
}

double tl_balls_set(const talus_problem *p, const tl_plan *plan, double proximal, bool associated,
                    tl_balls *inout) {
    double scale = 0.0;
    inout->associated = associated;
    for (int32_t row = 0; row < plan->rows; row++) {
        const int32_t i = plan->order[row];
        if (i < 0) { // harmless: W = 1, nothing moves
            *balls_entry(inout, row, TL_BALL_INVERSE_N) = 1.0;
            *balls_entry(inout, row, TL_BALL_INVERSE_T) = 1.0;
            continue;
        }
        double x[TL_BALL_ENTRIES];
        for (int k = 0; k < TL_BALL_ENTRIES; k++) x[k] = *balls_entry(inout, row, k);
        const double along = x[TL_BALL_LIGHT_A] + x[TL_BALL_LIGHT_B];
        const double across =
            along + x[TL_BALL_ARM_A] * x[TL_BALL_TURN_A] + x[TL_BALL_ARM_B] * x[TL_BALL_TURN_B];
        const double beta = proximal * (along + 2.0 * across) / 3.0;
        *balls_entry(inout, row, TL_BALL_INVERSE_N) = 1.0 / (along + beta);
        *balls_entry(inout, row, TL_BALL_INVERSE_T) = 1.0 / (across + beta);
        *balls_entry(inout, row, TL_BALL_FRICTION) = p->mu[i];
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

void tl_balls_export(const talus_problem *p, const tl_plan *plan, const double *from, double *r) {
    for (int32_t row = 0; row < plan->rows; row++) {
        const int32_t i = plan->order[row];
        if (i < 0) continue;
        double x[3], *out = r + 3 * (int64_t)i, room[TL_BALL_BLOCK];
        const double *h = tl_problem_h(p, i, p->h_start[i], room);
        EACH_AXIS x[k] = from[((int64_t)(row / LANES) * 3 + k) * LANES + row % LANES];
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
    double za[6][LANES], zb[6][LANES]; // v, ω of the bodies
} ball_group;

static inline void ball_fetch(const tl_balls_sweep *s, int32_t group) {
    const int32_t *pair = s->balls->pair + (int64_t)group * 2 * LANES;
    for (int k = 0; k < 2 * LANES; k++) TL_PREFETCH(s->z + (int64_t)pair[k] * TL_BALL_BODY);
}

TL_INLINE void ball_gather(const tl_balls_sweep *s, int32_t group, ball_group *g) {
    g->entry =
        (const double(*)[LANES])(s->balls->contact + (int64_t)group * TL_BALL_ENTRIES * LANES);
    g->a = s->balls->pair + (int64_t)group * 2 * LANES;
    g->b = g->a + LANES;
    EACH_LANE {
        const double *a = s->z + (int64_t)g->a[lane] * TL_BALL_BODY;
        const double *b = s->z + (int64_t)g->b[lane] * TL_BALL_BODY;
        for (int k = 0; k < 6; k++) g->za[k][lane] = a[k];
        for (int k = 0; k < 6; k++) g->zb[k][lane] = b[k];
    }
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
TL_INLINE void ball_scatter(const tl_balls_sweep *s, ball_group *g, double f[3][LANES]) {
    const double(*n)[LANES] = g->entry + TL_BALL_NORMAL;
    EACH_LANE {
        double c[3];
        c[0] = n[1][lane] * f[2][lane] - n[2][lane] * f[1][lane];
        c[1] = n[2][lane] * f[0][lane] - n[0][lane] * f[2][lane];
        c[2] = n[0][lane] * f[1][lane] - n[1][lane] * f[0][lane];
        EACH_AXIS {
            g->za[k][lane] += g->entry[TL_BALL_LIGHT_A][lane] * f[k][lane];
            g->zb[k][lane] -= g->entry[TL_BALL_LIGHT_B][lane] * f[k][lane];
            g->za[3 + k][lane] -= g->entry[TL_BALL_TURN_A][lane] * c[k];
            g->zb[3 + k][lane] -= g->entry[TL_BALL_TURN_B][lane] * c[k];
        }
    }
    EACH_LANE {
        if (g->a[lane] < s->bodies) {
            double *a = s->z + (int64_t)g->a[lane] * TL_BALL_BODY;
            for (int k = 0; k < 6; k++) a[k] = g->za[k][lane];
        }
        if (g->b[lane] < s->bodies) {
            double *b = s->z + (int64_t)g->b[lane] * TL_BALL_BODY;
            for (int k = 0; k < 6; k++) b[k] = g->zb[k][lane];
        }
    }
}

// The impulse of the one-contact problem W_ii + β at velocity u and impulse r. With the impulse
// (x_N, x_T) that would stop all motion:
//     Coulomb:     r_N = max(0, x_N),  r_T = x_T cut to mu r_N, since r_N does not depend on r_T;
//     associated:  x if in the cone, else the point of its edge (n + mu x_T/|x_T|) a that is
//                  nearest in the energy, a = (w_N x_N + mu w_T |x_T|)/(w_N + mu² w_T), or 0.
TL_INLINE void ball_solve(bool associated, const ball_group *g, double u[3][LANES],
                          double r[3][LANES]) {
    const double(*n)[LANES] = g->entry + TL_BALL_NORMAL;
    EACH_LANE {
        const double inverse_n = g->entry[TL_BALL_INVERSE_N][lane];
        const double inverse_t = g->entry[TL_BALL_INVERSE_T][lane];
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
            const double edge =
                (x / inverse_n + mu * size / inverse_t) / (1.0 / inverse_n + mu * mu / inverse_t);
            normal = size <= mu * x ? x : TL_MAX(edge, 0.0);
        }
        const double most = mu * normal;
        const double share = size > most ? most / size : 1.0;
        EACH_AXIS r[k][lane] = normal * n[k][lane] + share * t[k];
    }
}

TL_INLINE void ball_chunk(bool associated, const tl_balls_sweep *s, int32_t chunk,
                          tl_balls_tally *out) {
    const int32_t first = s->plan->chunk_start[chunk], last = s->plan->chunk_start[chunk + 1];
    double activity[LANES] = {0.0}, energy[LANES] = {0.0}, most_n[LANES] = {0.0};
    double most_t[LANES] = {0.0};
    for (int32_t group = first; group < last; group++) {
        ball_group g;
        double u[3][LANES], old[3][LANES], fresh[3][LANES];
        const int64_t at = (int64_t)group * 3 * LANES;
        if (group + 1 < last) ball_fetch(s, group + 1);
        ball_gather(s, group, &g);
        ball_velocity(&g, u);
        double *r = s->r + at;
        if (s->change) { // momentum, see splitting.c; z has had its part already
            double *change = s->change + at, *push = s->push + at;
            for (int k = 0; k < 3 * LANES; k++) {
                const double carried = s->nesterov ? push[k] + change[k] : push[k];
                const double step = s->share * carried;
                r[k] += step;
                push[k] = s->nesterov || !(s->share > 0.0) ? step : step + change[k];
            }
        }
        memcpy(old, r, sizeof old);
        memcpy(fresh, r, sizeof fresh);
        ball_solve(associated, &g, u, fresh);
        memcpy(r, fresh, sizeof fresh);
        for (int k = 0; k < 3; k++) EACH_LANE fresh[k][lane] -= old[k][lane];
        if (s->change) memcpy(s->change + at, fresh, sizeof fresh);
        EACH_LANE {
            const double along = g.entry[TL_BALL_LIGHT_A][lane] + g.entry[TL_BALL_LIGHT_B][lane];
            const double lambda = along +
                                  g.entry[TL_BALL_ARM_A][lane] * g.entry[TL_BALL_TURN_A][lane] +
                                  g.entry[TL_BALL_ARM_B][lane] * g.entry[TL_BALL_TURN_B][lane];
            double square = 0.0, normal = 0.0;
            EACH_AXIS square += fresh[k][lane] * fresh[k][lane];
            EACH_AXIS normal += g.entry[TL_BALL_NORMAL + k][lane] * fresh[k][lane];
            const double weight = lambda < 1.0 ? lambda : 1.0, tangent = square - normal * normal;
            activity[lane] += weight * weight * square;
            energy[lane] += lambda * square;
            most_n[lane] = TL_MAX(fabs(normal), most_n[lane]);
            most_t[lane] = TL_MAX(tangent, most_t[lane]);
        }
        ball_scatter(s, &g, fresh);
    }
    *out = (tl_balls_tally){0};
    for (int32_t row = first * LANES; row < last * LANES; row++)
        out->solves += s->plan->order[row] >= 0 ? 1.0 : 0.0;
    EACH_LANE {
        out->activity += activity[lane];
        out->energy += energy[lane];
        out->normal = TL_MAX(most_n[lane], out->normal);
        out->tangent = TL_MAX(most_t[lane], out->tangent);
    }
}

void tl_balls_chunk_coulomb(const tl_balls_sweep *s, int32_t chunk, tl_balls_tally *out);
void tl_balls_chunk_associated(const tl_balls_sweep *s, int32_t chunk, tl_balls_tally *out);
TL_SIMD_CLONES void tl_balls_chunk_coulomb(const tl_balls_sweep *s, int32_t chunk,
                                           tl_balls_tally *out) {
    ball_chunk(false, s, chunk, out);
}
TL_SIMD_CLONES void tl_balls_chunk_associated(const tl_balls_sweep *s, int32_t chunk,
                                              tl_balls_tally *out) {
    ball_chunk(true, s, chunk, out);
}

void tl_balls_chunk(const tl_balls_sweep *s, int32_t chunk, tl_balls_tally *out) {
    if (s->balls->associated)
        tl_balls_chunk_associated(s, chunk, out);
    else
        tl_balls_chunk_coulomb(s, chunk, out);
}

void tl_balls_spread_lanes(const tl_balls_sweep *s, int32_t chunk);
TL_SIMD_CLONES void tl_balls_spread_lanes(const tl_balls_sweep *s, int32_t chunk) {
    for (int32_t group = s->plan->chunk_start[chunk]; group < s->plan->chunk_start[chunk + 1];
         group++) {
        ball_group g;
        double f[3][LANES];
        memcpy(f, s->r + (int64_t)group * 3 * LANES, sizeof f);
        ball_gather(s, group, &g);
        ball_scatter(s, &g, f);
    }
}

// clang knows the copies of a function only in their own file.
void tl_balls_spread(const tl_balls_sweep *s, int32_t chunk) { tl_balls_spread_lanes(s, chunk); }

double tl_balls_measure_lanes(const tl_balls_sweep *s, int32_t chunk, bool scaled);
TL_SIMD_CLONES double tl_balls_measure_lanes(const tl_balls_sweep *s, int32_t chunk, bool scaled) {
    double most[LANES] = {0.0}, total = 0.0;
    const double shift = s->balls->associated ? 0.0 : 1.0;
    for (int32_t group = s->plan->chunk_start[chunk]; group < s->plan->chunk_start[chunk + 1];
         group++) {
        ball_group g;
        double u[3][LANES], r[3][LANES];
        memcpy(r, s->r + (int64_t)group * 3 * LANES, sizeof r);
        ball_gather(s, group, &g);
        ball_velocity(&g, u);
        const double(*n)[LANES] = g.entry + TL_BALL_NORMAL;
        EACH_LANE {
            const double mu = g.entry[TL_BALL_FRICTION][lane];
            const double along = g.entry[TL_BALL_LIGHT_A][lane] + g.entry[TL_BALL_LIGHT_B][lane];
            const double across = along +
                                  g.entry[TL_BALL_ARM_A][lane] * g.entry[TL_BALL_TURN_A][lane] +
                                  g.entry[TL_BALL_ARM_B][lane] * g.entry[TL_BALL_TURN_B][lane];
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

double tl_balls_measure(const tl_balls_sweep *s, int32_t chunk, bool scaled) {
    return tl_balls_measure_lanes(s, chunk, scaled);
}
