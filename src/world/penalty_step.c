// SPDX-License-Identifier: Apache-2.0
// A step of the penalty scheme: no problem is solved; springs at the contacts move the bodies
// (rigid/penalty.h). The ledger's numerical loss is what is left of the balance.
#include "base/timer.h"
#include "base/vec3.h"
#include "world/world_impl.h"
#include <string.h>

// Curvatures of new bodies, and the given motions of this step.
static talus_status penalty_arrays(talus_world *w, double h) {
    const tl_rigid *m = w->rigid;
    if (m->count > w->spring_room) {
        const int32_t room = m->count + m->count / 4;
        TL_TRY(tl_realloc(w->ctx, w->spring_count, room, sizeof(double), &w->curvature));
        TL_TRY(tl_realloc(w->ctx, 0, 6 * (int64_t)room, sizeof(double), &w->given_motion));
        w->spring_room = room;
    }
    for (int32_t i = w->spring_count; i < m->count; i++) {
        talus_shape_def ball;
        const talus_shape_def *shape = tl_world_shape_def(w, w->item_shape[i], &ball);
        w->curvature[i] = tl_springs_curvature(w->def.dim, shape);
    }
    w->spring_count = m->count;
    for (int32_t i = 0; i < m->count; i++) {
        double *given = w->given_motion + 6 * (int64_t)i;
        const tl_script *s = m->script_of[i] >= 0 ? m->script + m->script_of[i] : NULL;
        for (int k = 0; k < 3; k++) {
            given[k] = 0.0;
            given[k + 3] = s ? s->spin[k] : 0.0;
        }
        if (s) tl_rigid_script_mean(m, i, h, given);
    }
    return TALUS_OK;
}

static tl_springs_bodies penalty_bodies(const talus_world *w) {
    const tl_rigid *m = w->rigid;
    return (tl_springs_bodies){.count = m->count,
                               .position = m->x,
                               .orientation = m->q,
                               .velocity = m->v,
                               .spin = m->own_spin,
                               .mass = m->mass,
                               .inertia = m->inertia,
                               .motion = w->given_motion,
                               .force = m->force,
                               .torque = m->torque,
                               .damping = m->damping,
                               .locked = m->locked,
                               .material = w->item_material,
                               .curvature = w->curvature};
}

// Poses of bodies with given motion at time t.
static void penalty_place_given(const tl_rigid *m, double t, tl_pose *pose) {
    for (int32_t i = 0; i < m->count; i++) {
        if (m->script_of[i] >= 0) {
            tl_rigid_script_pose(m, i, t, pose[i].x, pose[i].q);
        } else if (m->mass[i] == 0.0) {
            tl_copy3(m->x + 3 * (int64_t)i, pose[i].x);
            memcpy(pose[i].q, m->q + 4 * (int64_t)i, sizeof pose[i].q);
        }
    }
}

static void penalty_take_contacts(talus_world *w, const tl_step *step, int64_t count) {
    tl_contacts *c = &w->contacts;
    tl_springs_view view;
    tl_springs_contacts(w->springs, &view);
    c->count = (int32_t)count;
    c->h = step->h;
    for (int32_t i = 0; i < c->count; i++) {
        const int64_t at = 3 * (int64_t)i;
        tl_contacts_describe(w, i, w->stage.touch + i);
        tl_copy3(view.impulse + at, c->impulse + at);
        tl_copy3(view.velocity + at, c->velocity + at);
        c->status[i] = view.status[i];
    }
}

talus_status tl_world_step_penalty(talus_world *w, const tl_step *step, double reach,
                                   talus_ledger *out) {
    tl_rigid *m = w->rigid;
    tl_stage *s = &w->stage;
    int64_t count;
    const double begin = tl_seconds();
    const tl_account start = tl_world_account(w);
    tl_rigid_run_scripts(m, step->time, step->h);
    TL_TRY(penalty_arrays(w, step->h));
    TL_TRY(tl_stage_reserve_items(w->ctx, s, m->count));
    const tl_springs_bodies bodies = penalty_bodies(w);
    TL_TRY(tl_springs_place(w->springs, &bodies, step->h, step->gravity, s->pose));
    penalty_place_given(m, step->time + tl_springs_when(w->springs) * step->h, s->pose);
    const double detect = tl_seconds();
    TL_TRY(tl_collide_detect(w->collide, s->pose, reach, w->def.threads));
    out->detect_seconds = tl_seconds() - detect;
    s->touch = tl_collide_touches(w->collide, &count);
    TL_TRY(tl_contacts_reserve(w->ctx, &w->contacts, count));
    const tl_springs_step_def def = {
        .h = step->h,
        .gravity = {step->gravity[0], step->gravity[1], step->gravity[2]},
        .pair = w->materials.pair,
        .materials = w->materials.count,
        .threads = w->def.threads};
    tl_springs_info info;
    TL_TRY(tl_springs_step(w->springs, &bodies, &def, s->touch, count, &info));

    // From here on nothing can fail.
    for (int32_t i = 0; i < m->count; i++)
        tl_rotate(m->q + 4 * (int64_t)i, m->own_spin + 3 * (int64_t)i, m->spin + 3 * (int64_t)i);
    tl_rigid_commit_scripts(m, step->h);
    penalty_take_contacts(w, step, count);
    const tl_account end = tl_world_account(w);
    out->outcome = TALUS_OUTCOME_SOLVED;
    out->elastic = info.elastic;
    out->loss_impact = info.loss_impact;
    out->loss_friction = info.loss_friction;
    out->work_obstacles = info.work_obstacles;
    out->work_forces = info.work_forces;
    out->penetration = info.penetration;
    tl_ledger_close(w, end.kinetic, &end, out);
    out->loss_numerical = start.kinetic + start.potential + w->elastic - end.kinetic -
                          end.potential - info.elastic + info.work_obstacles + info.work_forces -
                          info.loss_impact - info.loss_friction;
    w->elastic = info.elastic;
    out->solve_seconds = tl_seconds() - begin - out->detect_seconds;
    return TALUS_OK;
}
