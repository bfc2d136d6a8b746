// SPDX-License-Identifier: Apache-2.0
// Poses of given motions. Differences over a step are taken between displacements from where the
// motion began, not between positions, so that their rounding does not grow with the distance from
// the origin; a constant velocity is not differenced at all.
#include "rigid/script.h"
#include "base/vec3.h"
#include "rigid/turn.h"
#include <string.h>

#define SCRIPT_TWO_PI 6.283185307179586477

static bool script_finite(const double *x, int n) {
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return false;
    return true;
}

static talus_status script_check_keyframes(talus_context *ctx, int32_t dim,
                                           const talus_motion_def *def) {
    TL_REQUIRE(ctx, def->keyframe_count >= 1 && def->keyframe, TALUS_ERR_ARG,
               "motion: keyframes need at least one pose");
    for (int32_t k = 0; k < def->keyframe_count; k++) {
        const talus_keyframe *f = def->keyframe + k;
        TL_REQUIRE(ctx,
                   isfinite(f->time) && script_finite(f->position, 3) &&
                       script_finite(f->orientation, 4),
                   TALUS_ERR_ARG, "motion: keyframe %d holds a number that is not finite", (int)k);
        TL_REQUIRE(ctx, k == 0 || f->time > f[-1].time, TALUS_ERR_ARG,
                   "motion: time %g of keyframe %d is not after the one before, %g", f->time,
                   (int)k, f[-(k > 0)].time);
        TL_REQUIRE(ctx,
                   tl_dot3(f->orientation, f->orientation) + f->orientation[3] * f->orientation[3] >
                       0.0,
                   TALUS_ERR_ARG, "motion: the orientation of keyframe %d is zero", (int)k);
        TL_REQUIRE(ctx,
                   dim == 3 || (f->position[2] == 0.0 && f->orientation[1] == 0.0 &&
                                f->orientation[2] == 0.0),
                   TALUS_ERR_ARG, "motion: keyframe %d leaves the plane z = 0", (int)k);
    }
    return TALUS_OK;
}

talus_status tl_script_check(talus_context *ctx, int32_t dim, const talus_motion_def *def) {
    TL_REQUIRE(ctx, (int)def->kind >= 0 && def->kind <= TALUS_MOTION_KEYFRAMES, TALUS_ERR_ARG,
               "motion: there is no kind %d", (int)def->kind);
    if (def->kind == TALUS_MOTION_FREE || def->kind == TALUS_MOTION_FIXED) return TALUS_OK;
    if (def->kind == TALUS_MOTION_KEYFRAMES) return script_check_keyframes(ctx, dim, def);
    TL_REQUIRE(ctx,
               script_finite(def->velocity, 3) && script_finite(def->amplitude, 3) &&
                   script_finite(def->axis, 3) && script_finite(def->pivot, 3) &&
                   isfinite(def->angle) && isfinite(def->frequency) && isfinite(def->phase) &&
                   isfinite(def->rate) && isfinite(def->start) && !isnan(def->stop),
               TALUS_ERR_ARG, "motion: a number is not finite");
    TL_REQUIRE(ctx,
               dim == 3 || (def->velocity[2] == 0.0 && def->amplitude[2] == 0.0 &&
                            def->axis[0] == 0.0 && def->axis[1] == 0.0),
               TALUS_ERR_ARG, "motion: in 2D velocity and amplitude have z = 0 and the axis is z");
    return TALUS_OK;
}

talus_status tl_script_init(talus_context *ctx, const talus_motion_def *def, double t,
                            const double x[3], const double q[4], tl_script *out) {
    *out = (tl_script){.def = *def, .t0 = t};
    tl_copy3(x, out->x0);
    memcpy(out->q0, q, sizeof out->q0);
    const double length = tl_norm3(def->axis);
    if (length > 0.0) {
        tl_scale3(1.0 / length, def->axis, out->def.axis);
    } else {
        out->def.axis[0] = out->def.axis[1] = 0.0;
        out->def.axis[2] = 1.0;
    }
    out->def.keyframe = NULL;
    if (def->kind != TALUS_MOTION_KEYFRAMES) return TALUS_OK;
    TL_TRY(TL_COPY(ctx, def->keyframe, def->keyframe_count, &out->frame));
    for (int32_t k = 0; k < def->keyframe_count; k++) tl_quat_normalise(out->frame[k].orientation);
    out->def.keyframe = out->frame;
    return TALUS_OK;
}

void tl_script_clear(talus_context *ctx, tl_script *s) {
    tl_free(ctx, s->frame);
    s->def.keyframe = s->frame = NULL;
}

// The motion's own time: how much of it has passed at t.
static double script_time(const tl_script *s, double t) {
    const double from = fmax(s->def.start, s->t0);
    if (s->def.stop > s->def.start && t > s->def.stop) t = s->def.stop;
    return t > from ? t - from : 0.0;
}

static void script_keyframe(const tl_script *s, double t, double x[3], double q[4]) {
    const talus_keyframe *f = s->def.keyframe;
    int32_t low = 0, high = s->def.keyframe_count; // f[low] is the last that has come, if any has
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (f[middle].time <= t)
            low = middle;
        else
            high = middle;
    }
    f += low;
    tl_copy3(f->position, x);
    memcpy(q, f->orientation, 4 * sizeof *q);
    if (t <= f->time || low + 1 == s->def.keyframe_count) return;
    const double part = (t - f->time) / (f[1].time - f->time);
    for (int k = 0; k < 3; k++) x[k] += part * (f[1].position[k] - f->position[k]);
    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
    double turn[4], vector[3];
    tl_quat_mul(f[1].orientation, back, turn);
    tl_turn_log(turn, vector);
    tl_scale3(part, vector, vector);
    tl_quat_exp(vector, turn);
    tl_quat_mul(turn, q, q);
    tl_quat_normalise(q);
}

// Displacement d from `base` and orientation at time t.
static void script_displace(const tl_script *s, double t, const double base[3], double d[3],
                            double q[4]) {
    const talus_motion_def *def = &s->def;
    if (def->kind == TALUS_MOTION_KEYFRAMES) {
        script_keyframe(s, t, d, q);
        tl_sub3(d, base, d);
        return;
    }
    const double time = script_time(s, t);
    double angle = 0.0, turn[4], vector[3], arm[3];
    for (int k = 0; k < 3; k++) d[k] = 0.0;
    if (def->kind == TALUS_MOTION_VELOCITY) {
        tl_scale3(time, def->velocity, d);
    } else if (def->kind == TALUS_MOTION_OSCILLATION) {
        const double wave =
            sin(SCRIPT_TWO_PI * def->frequency * time + def->phase) - sin(def->phase);
        tl_scale3(wave, def->amplitude, d);
        angle = wave * def->angle;
    } else if (def->kind == TALUS_MOTION_ROTATION) {
        angle = def->rate * time;
    }
    memcpy(q, s->q0, 4 * sizeof *q);
    if (angle == 0.0) return;
    tl_scale3(angle, def->axis, vector);
    tl_quat_exp(vector, turn);
    if (def->kind == TALUS_MOTION_ROTATION) {
        double turned[3];
        tl_sub3(s->x0, def->pivot, arm);
        tl_rotate(turn, arm, turned);
        tl_sub3(turned, arm, d);
    }
    tl_quat_mul(turn, q, q);
    tl_quat_normalise(q);
}

void tl_script_pose(const tl_script *s, double t, double x[3], double q[4]) {
    double d[3];
    script_displace(s, t, s->x0, d, q);
    tl_axpy3(s->x0, 1.0, d, x);
}

static bool script_turns(const tl_script *s) {
    for (int k = 0; k < 4; k++)
        if (s->begin[k] != s->end[k]) return true;
    return false;
}

void tl_script_step(tl_script *s, double t, double h) {
    double from[3], to[3], turn[4], vector[3];
    script_displace(s, t, s->x0, from, s->begin);
    script_displace(s, t + h, s->x0, to, s->end);
    tl_axpy3(s->x0, 1.0, to, s->position);
    const bool whole =
        t >= fmax(s->def.start, s->t0) && (s->def.stop <= s->def.start || t + h <= s->def.stop);
    if (s->def.kind == TALUS_MOTION_VELOCITY && whole)
        tl_copy3(s->def.velocity, s->velocity);
    else
        for (int k = 0; k < 3; k++) s->velocity[k] = (to[k] - from[k]) / h;
    for (int k = 0; k < 3; k++) s->spin[k] = 0.0;
    if (!script_turns(s)) return;
    const double back[4] = {s->begin[0], -s->begin[1], -s->begin[2], -s->begin[3]};
    tl_quat_mul(s->end, back, turn);
    tl_turn_log(turn, vector);
    tl_scale3(1.0 / h, vector, s->spin);
}

void tl_script_velocity(const tl_script *s, double h, const double q[4], const double arm[3],
                        double out[3]) {
    tl_copy3(s->velocity, out);
    if (!script_turns(s)) return;
    double own[3], from[3], to[3];
    tl_rotate_back(q, arm, own);
    tl_rotate(s->begin, own, from);
    tl_rotate(s->end, own, to);
    for (int k = 0; k < 3; k++) out[k] += (to[k] - from[k]) / h;
}

uint64_t tl_script_hash(const tl_script *s, uint64_t seed) {
    const talus_motion_def *d = &s->def;
    const double one[] = {(double)d->kind, d->angle, d->frequency, d->phase,
                          d->rate,         d->start, d->stop,      s->t0};
    const double *const three[] = {d->velocity, d->amplitude, d->axis, d->pivot, s->x0};
    seed = talus_hash(one, sizeof one, seed);
    for (size_t k = 0; k < sizeof three / sizeof *three; k++)
        seed = talus_hash(three[k], 3 * sizeof(double), seed);
    seed = talus_hash(s->q0, sizeof s->q0, seed);
    if (d->keyframe)
        seed = talus_hash(d->keyframe, (size_t)d->keyframe_count * sizeof *d->keyframe, seed);
    return seed;
}
