// SPDX-License-Identifier: Apache-2.0
// One step: find contacts, assemble, solve, certify, account, and only then change the state. All
// that can fail comes before the first change.
#include "base/thread.h"
#include "base/timer.h"
#include "base/vec3.h"
#include "problem/problem_impl.h"
#include "solve/solver_impl.h"
#include "world/world_impl.h"
#include <string.h>

// Pairs of the moreau-jean scheme touch up to rounding: this part of the smallest body.
#define STEP_TOUCH 1e-10

static tl_step step_begin(talus_world *w) {
    tl_step step = {.time = w->time, .h = w->def.step, .theta = 1.0, .threads = w->def.threads};
    if (w->def.scheme == TALUS_SCHEME_MOREAU_JEAN) step.theta = w->def.theta;
    tl_copy3(w->def.gravity, step.gravity);
    tl_rods_grip(w, &step);
    if (w->def.max_move > 0.0)
        for (int k = 0; k < w->model_count; k++)
            step.h = w->model[k]->ops->step_limit(w->model[k], &step, w->def.max_move);
    return step;
}

double tl_world_touch(const talus_world *w) {
    return isfinite(w->smallest) ? STEP_TOUCH * w->smallest : 0.0;
}

static double step_reach(const talus_world *w, const tl_step *step) {
    if (w->def.scheme == TALUS_SCHEME_MOREAU_JEAN) return tl_world_touch(w);
    if (w->def.reach > 0.0 && !w->def.continuous) return w->def.reach;
    const bool opens = w->def.scheme == TALUS_SCHEME_CONVEX;
    const int64_t pairs = (int64_t)w->materials.count * w->materials.count;
    double speed = 0.0, slip = 0.0, mu = 0.0;
    for (int k = 0; k < w->model_count; k++) {
        speed = fmax(speed, w->model[k]->ops->speed(w->model[k], step, false));
        if (opens) slip = fmax(slip, w->model[k]->ops->speed(w->model[k], step, true));
    }
    // the associated law holds sliding surfaces mu h |u_T| apart
    for (int64_t k = 0; opens && k < pairs; k++) mu = fmax(mu, w->materials.pair[k].friction);
    return fmax(w->def.reach, 2.0 * step->h * (speed + mu * slip));
}

// Solve the staged problem; fills r, u and the velocities after.
static talus_status step_solve(talus_world *w, const tl_step *step, const talus_problem *p,
                               talus_ledger *out) {
    tl_stage *s = &w->stage;
    talus_solve_info info = {.outcome = TALUS_OUTCOME_SOLVED};
    talus_certificate verdict = {0};
    const double begin = tl_seconds();
    tl_stage_warm_start(w, step);
    if (s->lean) tl_stage_rest(w);
    bool solved = s->blocks == 0;
    w->part.count = 0;
    if (!solved && tl_part_applies(w)) TL_TRY(tl_part_solve(w, &info, &solved));
    if (!solved) {
        TL_TRY(talus_solver_prepare(w->solver, p));
        TL_TRY(talus_solver_solve(w->solver, s->r, &info));
    }
    TL_REQUIRE(w->ctx, info.outcome != TALUS_OUTCOME_CANCELLED, TALUS_ERR_CANCELLED,
               "step %lld: cancelled while solving", (long long)w->steps + 1);
    const double end = tl_seconds();
    if (s->lean) tl_solver_rest(w->solver);
    TL_TRY(talus_certify(p, s->r, &verdict));
    if (s->lean) tl_problem_rest(w->problem, false);
    s->u = p->work.u;
    s->after = p->work.v;
    out->solve_seconds = end - begin;
    out->certify_seconds = tl_seconds() - end;
    if (s->ties.rows > 0)
        memcpy(s->ties.lambda, p->work.lambda, (size_t)s->ties.rows * sizeof *s->ties.lambda);
    for (int32_t k = 0; k < s->dof; k++)
        TL_REQUIRE(w->ctx, isfinite(s->after[k]), TALUS_ERR_PROBLEM,
                   "step %lld at time %g: the solver '%s' gave a velocity that is not finite",
                   (long long)w->steps + 1, w->time, w->solver_name);
    out->iterations = info.iterations;
    out->outcome = info.outcome;
    out->residual = verdict.residual;
    out->natural = verdict.natural;
    out->constraint = verdict.constraint;
    out->missed =
        !(verdict.residual <= w->def.tolerance) || !(verdict.constraint <= w->def.tolerance);
    return TALUS_OK;
}

// A block acts on its groups.
static void step_mark(tl_stage *s, int32_t block) {
    for (int64_t e = s->h_start[block]; e < s->h_start[block + 1]; e++)
        if (s->h_body[e] < s->groups) s->acting[s->h_body[e]] = 1;
}

// The deepest overlap, and the groups that contacts act on.
static double step_look(talus_world *w) {
    tl_stage *s = &w->stage;
    double deepest = s->ties.deepest; // what joints hold within each other is seen all the same
    for (int32_t i = 0; i < s->contacts; i++) {
        deepest = fmax(deepest, -tl_stage_get(w, i).gap);
        bool acts = false;
        for (int32_t k = 0; k < w->def.dim; k++) acts |= s->r[(int64_t)i * s->size + k] != 0.0;
        if (acts) step_mark(s, i);
    }
    for (int32_t i = s->first_block[0]; i < s->first_block[w->model_count]; i++)
        if (s->r[(int64_t)i * s->size] != 0.0) step_mark(s, i);
    for (int32_t i = 0; i < s->ties.drives; i++) { // a stop acts like a contact
        const int64_t block = (int64_t)s->contacts + i;
        if (s->ties.drive[i].part == TL_DRIVE_MOTOR || s->r[block * s->size] == 0.0) continue;
        step_mark(s, (int32_t)block);
    }
    return deepest;
}

static void step_drop_problem(talus_world *w) {
    talus_problem_destroy(w->problem);
    w->problem = NULL;
}

// The staged problem, in the memory of the one before where there is one.
static talus_status step_try_problem(talus_world *w) {
    const talus_global_def def = tl_stage_def(w);
    if (!w->problem) return talus_problem_create_global(w->ctx, &def, &w->problem);
    const talus_status status = talus_problem_update_global(w->problem, &def);
    if (status != TALUS_OK) step_drop_problem(w);
    return status;
}

// Contacts of bodies that joints hold along the normal are left out, like those of two bodies whose
// motion is given: no impulse can open or close them.
static talus_status step_make_problem(talus_world *w, const tl_step *step) {
    const tl_stage *s = &w->stage;
    const talus_status status = step_try_problem(w);
    bool held = false;
    for (int32_t i = 0; status == TALUS_ERR_SINGULAR && s->ties.rows > 0 && i < s->contacts; i++)
        held = held || s->ties.held[i];
    if (!held) return status;
    TL_TRY(tl_stage_leave_out(w, step));
    return step_try_problem(w);
}

// A step of the schemes that solve a problem: all of it but the clock.
static talus_status step_solving(talus_world *w, const tl_step *step, double reach,
                                 talus_ledger *out) {
    const double begin = tl_seconds();
    const talus_status status = tl_stage_fill(w, step, reach, &out->detect_seconds);
    if (status != TALUS_OK) step_drop_problem(w); // its H was that of the stage
    TL_TRY(status);
    TL_TRY(step_make_problem(w, step));
    out->assemble_seconds = tl_seconds() - begin - out->detect_seconds;
    talus_status solved = step_solve(w, step, w->problem, out);
    if (solved == TALUS_OK && w->stage.lean) solved = tl_contacts_complete(w->ctx, &w->next);
    if (solved != TALUS_OK && w->stage.lean) step_drop_problem(w); // it may lack some of its arrays
    TL_TRY(solved);

    // From here on nothing can fail.
    out->penetration = step_look(w);
    const tl_account start = tl_world_account(w);
    const double after = tl_ledger_energies(w, step, &start, out);
    tl_contacts_take(w, step);
    for (int k = 0; k < w->model_count; k++)
        if (w->model[k]->ops->block_take)
            w->model[k]->ops->block_take(
                w->model[k], step, w->stage.r + (int64_t)w->stage.first_block[k] * w->stage.size);
    for (int k = 0; k < w->model_count; k++)
        w->model[k]->ops->commit(w->model[k], step,
                                 w->stage.after + w->stage.group_start[w->stage.first_group[k]]);
    tl_sand_settle_world(w, step);
    out->joint_error = tl_joints_take(w, step);
    const tl_account end = tl_world_account(w);
    tl_ledger_close(w, after, &end, out);
    return TALUS_OK;
}

talus_status talus_world_find_overlap(talus_world *w, talus_overlap *out) {
    double seconds;
    *out = (talus_overlap){.a = -1, .b = -1};
    const tl_step step = step_begin(w);
    TL_TRY(tl_stage_detect(w, &step, tl_world_touch(w), &seconds));
    for (int32_t i = 0; i < w->stage.contacts; i++) {
        const tl_touch *t = w->stage.touch + i;
        if (!(t->gap < -tl_world_touch(w))) continue;
        out->count++;
        if (!(-t->gap > out->depth)) continue;
        out->depth = -t->gap;
        out->a = t->a;
        out->b = t->b;
    }
    return TALUS_OK;
}

talus_status talus_world_step(talus_world *w, talus_ledger *ledger) {
    talus_ledger out = {0};
    const double begin = tl_seconds();
    TL_TRY(tl_team_reserve(w->ctx, w->def.threads));
    tl_step step = step_begin(w);
    if (w->def.continuous && w->def.scheme == TALUS_SCHEME_MOREAU_JEAN)
        TL_TRY(tl_world_sweep(w, &step));
    tl_rods_grip(w, &step);
    const double reach = step_reach(w, &step);
    if (w->springs)
        TL_TRY(tl_world_step_penalty(w, &step, reach, &out));
    else
        TL_TRY(step_solving(w, &step, reach, &out));
    w->time = step.time + step.h;
    w->steps++;
    w->missed_steps += out.missed;
    out.step = w->steps;
    out.time = w->time;
    out.h = step.h;
    out.missed_steps = w->missed_steps;
    out.total_seconds = tl_seconds() - begin;
    if (ledger) *ledger = out;
    return TALUS_OK;
}
