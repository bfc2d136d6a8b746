// SPDX-License-Identifier: Apache-2.0
// Contacts that do not close in a step need no solver [theory/schemes]. Where surfaces are followed
// that may touch before the step ends, most of what is found stays open: in hair, nine of ten. With
// q the velocities without impulses, gaps over the length of the step included, the problem of a
// part of the contacts is solved,
//     A = { i : q_N,i < margin, or i had an impulse },     r_i = 0 for the others,
// then u = W r + q is known of all. What was left out and has u_N >= 0 obeys the law; where one has
// not, and the certificate, which is always that of all contacts, misses the tolerance for it,
// those with u_N < 0 join A, and the solver goes on from the impulses it has found. A only grows,
// so this ends; it does so after few rounds, for the margin is as fast as contacts close.
#include "base/timer.h"
#include "problem/problem_impl.h"
#include "solve/solver_impl.h"
#include "world/world_impl.h"
#include <math.h>
#include <string.h>

enum {
    PART_FROM = 1024, // contacts: below, nothing is gained
    PART_SWEEPS = 20, // of the first round, twice as many in each of the next,
    PART_ROUNDS = 6,  // up to this one, which has no limit
};
// A part that is larger than this share of the whole is not worth its own copy of H.
#define PART_MOST 0.75
// The margin, in units of the speed (root mean square) of contacts that would close.
#define PART_MARGIN 0.1

void tl_part_clear(talus_context *ctx, tl_part *p) {
    void *const owned[] = {p->index, p->in, p->h_start, p->h_body, p->h_block, p->w, p->mu, p->r};
    talus_problem_destroy(p->problem);
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(ctx, owned[k]);
    *p = (tl_part){0};
}

// How fast contact i opens at the velocities u: without an impulse the law asks that it is not
// negative. The associated law holds sliding surfaces apart.
static double part_opening(const talus_world *w, int32_t i, const double *u) {
    const tl_stage *s = &w->stage;
    const double *own = u + (int64_t)i * s->size;
    double square = 0.0;
    if (w->def.scheme != TALUS_SCHEME_CONVEX) return own[0];
    for (int32_t k = 1; k < s->size; k++) square += own[k] * own[k];
    return own[0] - s->mu[i] * sqrt(square);
}

// Mark what is in the part; returns how many are.
static int32_t part_choose(const talus_world *w, uint8_t *in) {
    const tl_stage *s = &w->stage;
    const double *q = w->problem->q;
    double square = 0.0;
    int32_t closing = 0, count = 0;
    for (int32_t i = 0; i < s->contacts; i++) {
        const double speed = part_opening(w, i, q);
        if (!(speed < 0.0)) continue;
        square += speed * speed;
        closing++;
    }
    const double margin = closing > 0 ? PART_MARGIN * sqrt(square / closing) : 0.0;
    for (int32_t i = 0; i < s->contacts; i++) {
        const int64_t at = (int64_t)i * s->size;
        bool acts = false;
        for (int32_t k = 0; k < s->size; k++) acts |= s->r[at + k] != 0.0;
        in[i] = acts || !(part_opening(w, i, q) >= margin);
        count += in[i];
    }
    return count;
}

// Let those in that were left out and close; returns how many there are now.
static int32_t part_grow(const talus_world *w, tl_part *p) {
    const tl_stage *s = &w->stage;
    int32_t count = 0;
    for (int32_t i = 0; i < s->contacts; i++) {
        if (!(part_opening(w, i, s->u) >= 0.0)) p->in[i] = 1;
        count += p->in[i];
    }
    return count;
}

// Copy the rows of the part, and its start.
static talus_status part_fill(talus_world *w, int32_t count) {
    const tl_stage *s = &w->stage;
    tl_part *p = &w->part;
    const int32_t size = s->size;
    int64_t blocks = 0, values = 0;
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)count + 1, &p->index));
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)count + 1, &p->h_start));
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)count + 1, &p->mu));
    TL_TRY(TL_RESERVE(w->ctx, ((int64_t)count + 1) * size, &p->w));
    TL_TRY(TL_RESERVE(w->ctx, ((int64_t)count + 1) * size, &p->r));
    p->count = 0;
    p->h_start[0] = 0;
    for (int32_t i = 0; i < s->contacts; i++) {
        if (!p->in[i]) continue;
        blocks += s->h_start[i + 1] - s->h_start[i];
        values += s->h_value[i + 1] - s->h_value[i];
        p->index[p->count++] = i;
        p->h_start[p->count] = blocks;
    }
    TL_TRY(TL_RESERVE(w->ctx, blocks + 1, &p->h_body));
    TL_TRY(TL_RESERVE(w->ctx, values + 1, &p->h_block));
    double *h = p->h_block;
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = p->index[k];
        const int64_t own = s->h_value[i + 1] - s->h_value[i];
        const size_t row = (size_t)size * sizeof(double);
        memcpy(h, s->h_block + s->h_value[i], (size_t)own * sizeof *h);
        memcpy(p->h_body + p->h_start[k], s->h_body + s->h_start[i],
               (size_t)(s->h_start[i + 1] - s->h_start[i]) * sizeof *p->h_body);
        memcpy(p->w + (int64_t)k * size, s->w + (int64_t)i * size, row);
        memcpy(p->r + (int64_t)k * size, s->r + (int64_t)i * size, row);
        p->mu[k] = s->mu[i];
        h += own;
    }
    return TALUS_OK;
}

// The problem of the part, in the memory of the last one.
static talus_status part_make(talus_world *w, double scale) {
    tl_part *p = &w->part;
    talus_global_def def = tl_stage_def(w);
    def.scale = scale;
    def.count = p->count;
    def.h_row_start = p->h_start;
    def.h_body = p->h_body;
    def.h_block = p->h_block;
    def.w = p->w;
    def.law.mu = p->mu;
    if (!p->problem) return talus_problem_create_global(w->ctx, &def, &p->problem);
    return talus_problem_update_global(p->problem, &def);
}

bool tl_part_applies(const talus_world *w) {
    const tl_stage *s = &w->stage;
    return s->contacts >= PART_FROM && s->contacts == s->blocks && s->size == w->def.dim &&
           s->ties.rows == 0 && !s->balls && w->def.scheme != TALUS_SCHEME_MOREAU_JEAN;
}

// Sweeps of a round: few as long as the part may grow.
static int32_t part_sweeps(int round, int32_t left) {
    const int32_t most = round < PART_ROUNDS ? PART_SWEEPS << (round - 1) : left;
    return most < left ? most : left;
}

// Solve the problem of the part, at most `iterations` and `seconds` long, and put its impulses into
// the stage.
static talus_status part_round(talus_world *w, bool same, int32_t iterations, double seconds,
                               talus_solve_info *info) {
    const tl_stage *s = &w->stage;
    tl_part *p = &w->part;
    tl_common_options *options = w->solver->options; // every solver begins with them
    const tl_common_options given = *options;
    talus_status status = TALUS_OK;
    options->iterations = iterations;
    options->time_limit = seconds;
    if (!same) TL_GOTO(talus_solver_prepare(w->solver, p->problem));
    TL_GOTO(talus_solver_solve(w->solver, p->r, info));
    for (int32_t k = 0; k < p->count; k++)
        memcpy(s->r + (int64_t)p->index[k] * s->size, p->r + (int64_t)k * s->size,
               (size_t)s->size * sizeof *s->r);
done:
    *options = given;
    return status;
}

talus_status tl_part_solve(talus_world *w, talus_solve_info *info, bool *done) {
    tl_stage *s = &w->stage;
    tl_part *p = &w->part;
    const int32_t most = w->def.iterations;
    const double begin = tl_seconds();
    int32_t used = 0, before = -1;
    double scale;
    TL_TRY(TL_RESERVE(w->ctx, (int64_t)s->contacts + 1, &p->in));
    int32_t count = part_choose(w, p->in);
    *done = count == 0; // r = 0 it is
    if (*done || count > PART_MOST * s->contacts) return TALUS_OK;
    TL_TRY(tl_problem_scale(w->problem, &scale));
    for (int round = 1; !*done; round++) {
        talus_certificate verdict;
        if (count != before) {
            TL_TRY(part_fill(w, count));
            TL_TRY(part_make(w, scale));
        }
        TL_TRY(part_round(w, count == before, part_sweeps(round, most - used),
                          w->def.time_limit - (tl_seconds() - begin), info));
        used += info->iterations;
        info->iterations = used;
        const bool limited = info->outcome == TALUS_OUTCOME_ITERATION_LIMIT && used < most;
        TL_TRY(tl_problem_wake(w->problem)); // so that there is a u
        TL_TRY(talus_problem_state(w->problem, s->r, NULL, w->problem->work.u, NULL));
        s->u = w->problem->work.u;
        before = count;
        count = part_grow(w, p);
        tl_log(
            w->ctx, TALUS_LOG_INFO,
            "step %lld: %d of %d contacts solved for, %d iterations, measure %.2e, %d more close",
            (long long)w->steps + 1, before, s->contacts, used, info->measure, count - before);
        if (limited && count > before) continue; // the certificate would miss, too
        TL_TRY(talus_certify(w->problem, s->r, &verdict));
        const bool met = verdict.residual <= w->def.tolerance;
        if (met) info->outcome = TALUS_OUTCOME_SOLVED; // whatever ended the round
        *done = met || (count == before && !limited) || used >= most ||
                info->outcome == TALUS_OUTCOME_CANCELLED ||
                info->outcome == TALUS_OUTCOME_TIME_LIMIT;
    }
    return TALUS_OK;
}
