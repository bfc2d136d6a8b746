// SPDX-License-Identifier: Apache-2.0
// What the penalty scheme keeps from step to step, as numbers: for checkpoints and for hashes.
// In order: springs, bodies, four powers; 14 numbers of each spring; 13 of each body.
#include "rigid/penalty_impl.h"
#include <string.h>

enum { SAVE_HEAD = 6, SAVE_SPRING = 14, SAVE_GEAR = 13 };

static void save_spring(const tl_spring *o, double out[SAVE_SPRING]) {
    out[0] = o->a, out[1] = o->b, out[2] = o->feature;
    tl_copy3(o->xi, out + 3);
    tl_copy3(o->normal, out + 6);
    tl_copy3(o->slide, out + 9);
    out[12] = o->speed, out[13] = o->stiffness;
}

static void save_gear(const tl_gear *g, double out[SAVE_GEAR]) {
    tl_copy3(g->a, out);
    tl_copy3(g->b, out + 3);
    tl_copy3(g->alpha, out + 6);
    tl_copy3(g->beta, out + 9);
    out[12] = g->begun;
}

// Leap-frog keeps no derivatives.
static int64_t save_gears(const tl_springs *s) {
    return s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR ? s->gears : 0;
}

static void save_head(const tl_springs *s, double out[SAVE_HEAD]) {
    out[0] = (double)s->old_count, out[1] = (double)save_gears(s);
    for (int k = 0; k < 4; k++) out[2 + k] = s->power[k];
}

uint64_t tl_springs_hash(const tl_springs *s, uint64_t seed) {
    double head[SAVE_HEAD], spring[SAVE_SPRING], gear[SAVE_GEAR];
    save_head(s, head);
    seed = talus_hash(head, sizeof head, seed);
    for (int64_t i = 0; i < s->old_count; i++) {
        save_spring(&s->old[i], spring);
        seed = talus_hash(spring, sizeof spring, seed);
    }
    for (int64_t i = 0; i < save_gears(s); i++) {
        save_gear(&s->gear[i], gear);
        seed = talus_hash(gear, sizeof gear, seed);
    }
    return seed;
}

int64_t tl_springs_save(const tl_springs *s, double *out) {
    const int64_t springs = SAVE_SPRING * s->old_count, gears = SAVE_GEAR * save_gears(s);
    if (out == NULL) return SAVE_HEAD + springs + gears;
    save_head(s, out);
    double *at = out + SAVE_HEAD;
    for (int64_t i = 0; i < s->old_count; i++) save_spring(&s->old[i], at + SAVE_SPRING * i);
    at += springs;
    for (int64_t i = 0; i < save_gears(s); i++) save_gear(&s->gear[i], at + SAVE_GEAR * i);
    return SAVE_HEAD + springs + gears;
}

static bool save_is_index(double x, double limit) {
    return x >= 0.0 && x <= limit && x == floor(x);
}

talus_status tl_springs_load(tl_springs *s, const double *in, int64_t count) {
    const bool gear = s->def.integrator == TALUS_INTEGRATOR_PREDICTOR_CORRECTOR;
    TL_REQUIRE(s->ctx,
               count >= SAVE_HEAD && save_is_index(in[0], (double)count) &&
                   save_is_index(in[1], gear ? (double)count : 0.0) &&
                   (double)SAVE_HEAD + SAVE_SPRING * in[0] + SAVE_GEAR * in[1] == (double)count,
               TALUS_ERR_FORMAT,
               "contact springs: %lld numbers do not fit together for this integrator",
               (long long)count);
    const int64_t springs = (int64_t)in[0];
    const int32_t gears = (int32_t)in[1];
    const double *at = in + SAVE_HEAD;
    for (int64_t i = 0; i < springs; i++) {
        const double *p = at + SAVE_SPRING * i;
        TL_REQUIRE(s->ctx,
                   save_is_index(p[0], INT32_MAX) && save_is_index(p[1], INT32_MAX) &&
                       save_is_index(p[2], UINT32_MAX),
                   TALUS_ERR_FORMAT, "contact springs: spring %lld is not of two bodies",
                   (long long)i);
    }
    TL_TRY(tl_springs_reserve(s, springs, gears));
    for (int64_t i = 0; i < springs; i++) {
        const double *p = at + SAVE_SPRING * i;
        tl_spring *o = &s->old[i];
        *o = (tl_spring){.a = (int32_t)p[0],
                         .b = (int32_t)p[1],
                         .feature = (uint32_t)p[2],
                         .touching = true,
                         .speed = p[12],
                         .stiffness = p[13]};
        tl_copy3(p + 3, o->xi);
        tl_copy3(p + 6, o->normal);
        tl_copy3(p + 9, o->slide);
    }
    at += SAVE_SPRING * springs;
    for (int32_t i = 0; i < gears; i++) {
        const double *p = at + (ptrdiff_t)SAVE_GEAR * i;
        tl_gear *g = &s->gear[i];
        tl_copy3(p, g->a);
        tl_copy3(p + 3, g->b);
        tl_copy3(p + 6, g->alpha);
        tl_copy3(p + 9, g->beta);
        g->begun = p[12] != 0.0;
    }
    for (int k = 0; k < 4; k++) s->power[k] = in[2 + k];
    s->old_count = springs, s->count = 0;
    s->gears = gears;
    return TALUS_OK;
}
