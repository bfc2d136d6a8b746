// SPDX-License-Identifier: Apache-2.0
// Rods as a model: what a step asks of them, handed on to the kind of each rod. Rods are prepared
// by a team of threads, each by one of them.
#include "base/thread.h"
#include "base/vec3.h"
#include "rod/rod_impl.h"
#include <math.h>
#include <string.h>

enum { ROD_TRIES = 12 }; // for a step that is short enough

static const tl_rods *rods_of(const tl_model *m) { return (const tl_rods *)m; }

static int32_t rods_item_count(const tl_model *m) { return tl_rods_segments(rods_of(m)); }
static int32_t rods_group_count(const tl_model *m) { return rods_of(m)->count; }
static bool rods_is_diagonal(const tl_model *m) { return rods_of(m)->count == 0; }

typedef struct rods_job {
    tl_rods *m;
    const tl_step *step;
} rods_job;

static void rods_prepare_some(void *arg, tl_team *team, int rank) {
    const rods_job *job = arg;
    int64_t begin, end;
    tl_share(job->m->count, tl_team_size(team), rank, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        tl_rods *m = job->m;
        const int64_t at = 3 * (int64_t)m->start[i];
        m->rod[i]->ops->prepare(m->rod[i], job->step);
        m->rod[i]->ops->foresee(m->rod[i], m->begin + at, m->end + at);
    }
}

static void rods_prepare(tl_rods *m, const tl_step *step) {
    const tl_step *ready = &m->prepared;
    if (ready->h == step->h && ready->time == step->time && ready->theta == step->theta) return;
    rods_job job = {m, step};
    tl_parallel(m->base.ctx, step->threads, rods_prepare_some, &job);
    m->prepared = *step;
}

static double rods_fastest(const tl_rods *m) {
    const int64_t nodes = m->start[m->count];
    double most = 0.0;
    for (int64_t i = 0; i < nodes; i++)
        most = fmax(most, fmax(tl_norm3(m->begin + 3 * i), tl_norm3(m->end + 3 * i)));
    return most;
}

static double rods_step_limit(const tl_model *base, const tl_step *step, double max_move) {
    tl_rods *m = (tl_rods *)base;
    tl_step shorter = *step;
    for (int k = 0; k < ROD_TRIES; k++) { // how fast they get depends on the step
        rods_prepare(m, &shorter);
        const double way = shorter.h * rods_fastest(m);
        if (!(way > max_move)) break;
        shorter.h *= fmax(0.25, 0.95 * max_move / way);
    }
    return shorter.h;
}

static double rods_speed(const tl_model *base, const tl_step *step, bool slip) {
    tl_rods *m = (tl_rods *)base;
    (void)slip;
    rods_prepare(m, step);
    return rods_fastest(m);
}

static talus_status rods_place(tl_model *base, const tl_step *step, tl_pose *pose) {
    tl_rods *m = (tl_rods *)base;
    rods_prepare(m, step);
    for (int32_t i = 0; i < m->count; i++) {
        const int32_t at = m->start[i] - i;
        m->rod[i]->ops->place(m->rod[i], step, pose + at, m->chord + at);
    }
    return TALUS_OK;
}

static void rods_groups(const tl_model *base, int32_t *size, int32_t *group_of) {
    const tl_rods *m = rods_of(base);
    for (int32_t i = 0; i < m->count; i++) size[i] = m->rod[i]->dof;
    for (int32_t k = 0; k < tl_rods_segments(m); k++) group_of[k] = m->owner[k];
}

static int32_t rods_band(const tl_model *m, int32_t group) { return rods_of(m)->rod[group]->band; }

static void rods_motion(const tl_model *base, const tl_step *step, bool diagonal, double *mass,
                        double *f, double *v) {
    const tl_rods *m = rods_of(base);
    (void)diagonal; // never, while there are rods
    for (int32_t i = 0; i < m->count; i++) {
        const int64_t n = m->rod[i]->dof, band = m->rod[i]->band;
        const int64_t entries = n * (band >= 0 ? band + 1 : n);
        memset(mass, 0, (size_t)entries * sizeof *mass);
        m->rod[i]->ops->motion(m->rod[i], step, mass, f, v);
        mass += entries;
        f += n;
        v += n;
    }
}

static void rods_row(const tl_model *base, const tl_step *step, int32_t item, const tl_pose *pose,
                     const double arm[3], const double *direction, int32_t count, double *out) {
    const tl_rods *m = rods_of(base);
    const int32_t i = m->owner[item];
    double offset[3];
    const double along = tl_rods_along(m, item, pose, arm, offset);
    m->rod[i]->ops->row(m->rod[i], step, item - (m->start[i] - i), along, offset, direction, count,
                        out, NULL);
}

static void rods_row_given(const tl_model *base, const tl_step *step, int32_t item,
                           const tl_pose *pose, const double arm[3], const double *direction,
                           int32_t count, double *out) {
    const tl_rods *m = rods_of(base);
    const int32_t i = m->owner[item];
    double offset[3];
    const double along = tl_rods_along(m, item, pose, arm, offset);
    m->rod[i]->ops->row(m->rod[i], step, item - (m->start[i] - i), along, offset, direction, count,
                        NULL, out);
}

static void rods_turn(const tl_model *base, const tl_step *step, int32_t item, const tl_pose *pose,
                      const double *direction, int32_t count, double *out) {
    const tl_rods *m = rods_of(base);
    const int32_t i = m->owner[item];
    (void)pose;
    m->rod[i]->ops->turn(m->rod[i], step, item - (m->start[i] - i), direction, count, out, NULL);
}

static void rods_inner(const tl_model *base, const tl_step *step, const double *before,
                       const double *after, const uint8_t *acting, tl_inner *add) {
    const tl_rods *m = rods_of(base);
    for (int32_t i = 0; i < m->count; i++) {
        tl_inner own;
        m->rod[i]->ops->inner(m->rod[i], step, before, after, &own);
        add->damping += own.damping;
        add->elastic += own.elastic;
        add->given += own.given;
        if (acting[i]) add->jump += own.jump;
        before += m->rod[i]->dof;
        after += m->rod[i]->dof;
    }
}

static void rods_commit(tl_model *base, const tl_step *step, const double *v) {
    tl_rods *m = (tl_rods *)base;
    for (int32_t i = 0; i < m->count; i++) {
        m->rod[i]->ops->commit(m->rod[i], step, v);
        v += m->rod[i]->dof;
        tl_rods_show(m, i);
    }
    m->prepared.h = 0.0;
}

static void rods_account(const tl_model *base, const double gravity[3], tl_account *add) {
    const tl_rods *m = rods_of(base);
    for (int32_t i = 0; i < m->count; i++) m->rod[i]->ops->account(m->rod[i], gravity, add);
}

static uint64_t rods_hash(const tl_model *base, uint64_t seed) {
    const tl_rods *m = rods_of(base);
    seed = talus_hash(m->start, ((size_t)m->count + 1) * sizeof *m->start, seed);
    for (int32_t i = 0; i < m->count; i++) {
        const tl_rod *rod = m->rod[i];
        const talus_rod_def *d = &rod->def;
        const double number[] = {d->kind,   d->radius,      d->density,  d->young,
                                 d->shear,  d->drag,        d->start,    d->damping,
                                 d->end,    d->start_body,  d->end_body, d->material,
                                 d->pieces, d->self_contact};
        const size_t n = (size_t)d->nodes;
        seed = talus_hash(number, sizeof number, seed);
        if (d->natural) seed = talus_hash(d->natural, 3 * n * sizeof(double), seed);
        if (d->curvature) seed = talus_hash(d->curvature, 3 * (n - 2) * sizeof(double), seed);
        seed = talus_hash(rod->rest, (size_t)(rod->nodes - 1) * sizeof *rod->rest, seed);
        seed = talus_hash(rod->state, (size_t)rod->state_count * sizeof *rod->state, seed);
    }
    return seed;
}

const tl_model_ops tl_rods_ops = {
    .name = "rod",
    .destroy = tl_rods_destroy,
    .item_count = rods_item_count,
    .step_limit = rods_step_limit,
    .speed = rods_speed,
    .place = rods_place,
    .group_count = rods_group_count,
    .groups = rods_groups,
    .is_diagonal = rods_is_diagonal,
    .band = rods_band,
    .motion = rods_motion,
    .row = rods_row,
    .row_given = rods_row_given,
    .turn = rods_turn,
    .inner = rods_inner,
    .commit = rods_commit,
    .account = rods_account,
    .hash = rods_hash,
};
