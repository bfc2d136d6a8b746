// SPDX-License-Identifier: Apache-2.0
#include "solve/penalty.h"
#include <math.h>
#include <string.h>

#define PENALTY_WAIT 10        // iterations to the first look
#define PENALTY_GROWTH 1.5     // of the wait with each change
#define PENALTY_FACTOR 3.0     // smaller changes are not made,
#define PENALTY_LARGEST 1e2    // larger ones are cut
#define PENALTY_CORRELATED 0.2 // cosine from which a curvature is trusted

const char *tl_penalty_rule_name(int k) {
    static const char *const name[] = {"fixed", "balanced", "spectral"};
    return k < 3 ? name[k] : NULL;
}

talus_status tl_penalty_create(talus_context *ctx, int32_t rule, int64_t stack, tl_penalty *out) {
    out->rule = rule;
    out->stack = stack;
    for (int k = 0; k < TL_PENALTY_SNAPSHOTS && rule == TL_PENALTY_SPECTRAL; k++)
        TL_TRY(TL_ALLOC(ctx, stack, &out->snapshot[k]));
    return TALUS_OK;
}

void tl_penalty_clear(talus_context *ctx, tl_penalty *t) {
    for (int k = 0; k < TL_PENALTY_SNAPSHOTS; k++) {
        tl_free(ctx, t->snapshot[k]);
        t->snapshot[k] = NULL;
    }
}

void tl_penalty_begin(tl_penalty *t) {
    t->wait = PENALTY_WAIT;
    t->look = PENALTY_WAIT;
    for (int k = 0; k < TL_PENALTY_SNAPSHOTS && t->rule == TL_PENALTY_SPECTRAL; k++)
        memset(t->snapshot[k], 0, (size_t)t->stack * sizeof(double));
}

bool tl_penalty_due(const tl_penalty *t, const tl_primal *s) {
    return t->rule != TL_PENALTY_FIXED && s->dual.iterations >= t->look;
}

// √(relative primal residual / relative dual one): the factor that would make them equal.
static double penalty_balanced(const tl_primal *s, const double *trial, const double *a,
                               const double *u, const double *next_y, const double *next_u) {
    const double *q = s->dual.w.q;
    double apart = 0.0, moved = 0.0, velocity[3] = {0.0}, impulse[2] = {0.0};
    for (int64_t k = 0; k < s->stack; k++) {
        const double omega = s->omega[k];
        apart += (a[k] - next_u[k]) * (a[k] - next_u[k]) / omega;
        moved += (next_u[k] - u[k]) * (next_u[k] - u[k]) / omega;
        velocity[0] += a[k] * a[k] / omega;
        velocity[1] += next_u[k] * next_u[k] / omega;
        if (k < s->dual.size) velocity[2] += q[k] * q[k] / omega;
        impulse[0] += omega * trial[k] * trial[k];
        impulse[1] += omega * next_y[k] * next_y[k];
    }
    const double size = TL_MAX(velocity[0], TL_MAX(velocity[1], velocity[2]));
    const double most = TL_MAX(impulse[0], impulse[1]);
    return sqrt(sqrt(apart / size) * sqrt(most / moved) / s->gamma);
}

// One of the two curvatures, from Δy and Δu; 0 where they do not correlate.
static double penalty_curvature(const tl_primal *s, const double *y, const double *y0,
                                const double *u, const double *u0, double sign) {
    double yy = 0.0, uu = 0.0, yu = 0.0;
    for (int64_t k = 0; k < s->stack; k++) {
        const double dy = y[k] - y0[k], du = sign * (u[k] - u0[k]);
        yy += s->omega[k] * dy * dy;
        uu += du * du / s->omega[k];
        yu += dy * du;
    }
    if (!(yu > PENALTY_CORRELATED * sqrt(yy) * sqrt(uu))) return 0.0;
    const double steepest = yy / yu, least = yu / uu;
    return 2.0 * least > steepest ? least : steepest - 0.5 * least;
}

static double penalty_spectral(tl_penalty *t, const tl_primal *s, const double *trial,
                               const double *a, const double *next_y, const double *next_u,
                               double *shifted) {
    const size_t bytes = (size_t)s->stack * sizeof *shifted;
    memcpy(shifted, next_u, bytes);
    tl_dual_shift(&s->dual, next_u, shifted);
    const double quadratic = penalty_curvature(s, trial, t->snapshot[0], a, t->snapshot[1], 1.0);
    const double law = penalty_curvature(s, next_y, t->snapshot[2], shifted, t->snapshot[3], -1.0);
    const double *now[TL_PENALTY_SNAPSHOTS] = {trial, a, next_y, shifted};
    for (int k = 0; k < TL_PENALTY_SNAPSHOTS; k++) memcpy(t->snapshot[k], now[k], bytes);
    if (quadratic > 0.0 && law > 0.0) return sqrt(quadratic) * sqrt(law) / s->gamma;
    return (quadratic > 0.0 ? quadratic : law > 0.0 ? law : s->gamma) / s->gamma;
}

double tl_penalty_factor(tl_penalty *t, const tl_primal *s, const double *trial, const double *a,
                         const double *u, const double *next_y, const double *next_u,
                         double *work) {
    const double factor = t->rule == TL_PENALTY_BALANCED
                              ? penalty_balanced(s, trial, a, u, next_y, next_u)
                              : penalty_spectral(t, s, trial, a, next_y, next_u, work);
    t->look = s->dual.iterations + (int32_t)t->wait;
    if (!isfinite(factor) || (factor < PENALTY_FACTOR && factor > 1.0 / PENALTY_FACTOR)) return 1.0;
    t->wait *= PENALTY_GROWTH;
    return fmin(fmax(factor, 1.0 / PENALTY_LARGEST), PENALTY_LARGEST);
}
