// SPDX-License-Identifier: Apache-2.0
// The steps of a run, its recording and its books.
#define _GNU_SOURCE
#include "run.h"
#include "solve.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOP_FLUSH 1.0       // seconds between flushes of the recording, at least …
#define LOOP_FLUSH_SHARE 20. // … and this many times what the last one took
#define LOOP_REST 100        // steps for which the bodies must be at rest

static void loop_fail(run *r, const char *error) {
    if (r->totals.error) return;
    r->totals.end = RUN_FAILED;
    r->totals.error = cli_text("%s", error);
}

// Did a call of the library succeed? If not, the run has failed for its reason.
static bool loop_ok(run *r, talus_status status) {
    if (status == TALUS_OK) return true;
    const char *text = talus_context_last_error(r->ctx);
    loop_fail(r, text[0] ? text : talus_status_text(status));
    return false;
}

int run_open(run *r, const run_setup *setup, talus_context *ctx) {
    *r = (run){.setup = setup, .ctx = ctx};
    const talus_status status =
        talus_scene_read(ctx, setup->scene_path, (const char *const *)setup->set,
                         (int32_t)setup->set_count, &r->scene);
    if (status == TALUS_OK) r->info = talus_scene_get_info(r->scene);
    if (status != TALUS_OK || talus_scene_make_world(r->scene, &r->world) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(ctx));
        return CLI_FAILED;
    }
    r->def = talus_world_get_def(r->world);
    return CLI_DONE;
}

void run_close(run *r) {
    talus_world_destroy(r->world);
    talus_scene_destroy(r->scene);
    free(r->totals.error);
    *r = (run){0};
}

bool run_goes_on(const run *r, int64_t steps, double time) {
    // Times are sums of steps: a millionth of one is rounding, not a step to make.
    return time < r->info.until - 1e-6 * r->def.step &&
           (r->info.steps == 0 || steps < r->info.steps);
}

static void loop_csv_head(run *r) {
    if (!r->setup->ledger) return;
    r->csv = fopen(r->setup->ledger, "w");
    if (!r->csv) {
        char *text = cli_text("%s: cannot be written: %s", r->setup->ledger, strerror(errno));
        loop_fail(r, text);
        free(text);
        return;
    }
    talus_ledger_field field;
    for (int32_t k = 0; talus_ledger_field_at(k, &field); k++)
        fprintf(r->csv, "%s%s", k ? "," : "", field.name);
    fputc('\n', r->csv);
}

static void loop_csv_row(run *r, const talus_ledger *ledger) {
    talus_ledger_field field;
    if (!r->csv) return;
    errno = 0;
    for (int32_t k = 0; talus_ledger_field_at(k, &field); k++) {
        char number[40] = "";
        const double value = talus_ledger_value(ledger, k);
        if (isfinite(value)) cli_number(number, value);
        fprintf(r->csv, "%s%s", k ? "," : "", number);
    }
    fputc('\n', r->csv);
    if (!ferror(r->csv)) return;
    char *text = cli_text("%s: cannot be written: %s", r->setup->ledger, strerror(errno));
    loop_fail(r, text);
    free(text);
}

// Energy before the step follows from the ledger's balance; what it has more than after the step
// before came in with new bodies.
static void loop_account(run *r, const talus_ledger *l) {
    run_totals *t = &r->totals;
    const double after = l->kinetic + l->potential + l->elastic;
    const double before = after - l->work_obstacles - l->work_forces - l->work_joints +
                          l->loss_impact + l->loss_friction + l->loss_numerical;
    if (t->steps == 0)
        t->energy_start = before;
    else
        t->energy_added += before - t->energy_end;
    t->energy_end = after;
    t->work_obstacles += l->work_obstacles;
    t->work_forces += l->work_forces;
    t->work_joints += l->work_joints;
    t->joints = l->joints;
    t->joint_error = l->joint_error > t->joint_error ? l->joint_error : t->joint_error;
    t->loss_impact += l->loss_impact;
    t->loss_friction += l->loss_friction;
    t->loss_numerical += l->loss_numerical;
    t->steps = l->step;
    t->time = l->time;
    t->missed = l->missed_steps;
    t->iterations += l->iterations;
    t->contacts = l->contacts;
    if (l->contacts > t->contacts_most) t->contacts_most = l->contacts;
    if (l->penetration > t->penetration) t->penetration = l->penetration;
    if (isfinite(l->residual) && !(l->residual <= t->residual)) {
        t->residual = l->residual;
        t->residual_step = l->step;
    }
}

// Recording while the steps go on: frames at their times, a flush when the last is long enough ago.
typedef struct loop_record {
    double next;  // time of the next frame
    int64_t last; // step of the last frame
    double flushed, flush_cost;
} loop_record;

static void loop_frame(run *r, loop_record *record) {
    const double interval = r->info.frame_interval, time = talus_world_time(r->world);
    if (!loop_ok(r, talus_recording_frame(r->recording, r->world, r->totals.steps))) return;
    r->totals.frames++;
    record->last = r->totals.steps;
    // The first multiple of the interval that is not past; rounding must not give two frames.
    if (interval > 0.0) record->next = interval * (floor(time / interval + 1e-6) + 1.0);
    const double now = cli_clock();
    if (r->totals.frames > 1 &&
        now - record->flushed < fmax(LOOP_FLUSH, LOOP_FLUSH_SHARE * record->flush_cost))
        return;
    if (!loop_ok(r, talus_recording_flush(r->recording))) return;
    record->flushed = cli_clock();
    record->flush_cost = record->flushed - now;
}

// Have all bodies been at rest long enough?
static bool loop_at_rest(const run *r, const talus_ledger *l, int *quiet) {
    talus_body_view bodies;
    talus_world_bodies(r->world, &bodies);
    const bool all = bodies.count >= r->info.bodies + r->info.later_bodies;
    *quiet = all && l->kinetic <= r->info.rest_energy * l->bodies ? *quiet + 1 : 0;
    return r->info.stop_at_rest && *quiet >= LOOP_REST;
}

static void loop_steps(run *r, loop_record *record) {
    run_progress progress;
    int quiet = 0;
    run_progress_init(&progress);
    while (!r->totals.error && run_goes_on(r, r->totals.steps, r->totals.time)) {
        talus_ledger ledger;
        if (solve_interrupted()) {
            r->totals.end = RUN_INTERRUPTED;
            break;
        }
        if (!loop_ok(r, talus_scene_advance(r->scene, r->world)) ||
            !loop_ok(r, talus_world_step(r->world, &ledger)))
            break;
        loop_account(r, &ledger);
        loop_csv_row(r, &ledger);
        if (r->info.record_ledger) loop_ok(r, talus_recording_ledger(r->recording, &ledger));
        if (!r->totals.error && ledger.time >= record->next - 1e-6 * ledger.h)
            loop_frame(r, record);
        run_progress_step(&progress, r, &ledger);
        if (loop_at_rest(r, &ledger, &quiet)) {
            r->totals.end = RUN_AT_REST;
            break;
        }
    }
    r->totals.seconds = cli_clock() - progress.begin;
    run_progress_end(&progress);
}

static void loop_finish(run *r) {
    run_totals *t = &r->totals;
    talus_body_view bodies;
    talus_world_bodies(r->world, &bodies);
    t->bodies = bodies.count;
    t->now = run_extent_of(r->world);
    t->free_bodies = t->now.bodies;
    t->hash = talus_world_hash(r->world);
    talus_context_memory(r->ctx, NULL, &t->memory);
    loop_ok(r, talus_recording_close(r->recording));
    r->recording = NULL;
    if (r->csv && fclose(r->csv) != 0) {
        char *text = cli_text("%s: cannot be written: %s", r->setup->ledger, strerror(errno));
        loop_fail(r, text);
        free(text);
    }
    r->csv = NULL;
    struct stat facts;
    t->bytes = t->frames > 0 && stat(r->setup->out, &facts) == 0 ? (double)facts.st_size : 0.0;
}

void run_loop(run *r) {
    loop_record record = {.last = -1};
    const talus_record_def def = {.scene = r->info.text,
                                  .title = r->info.title,
                                  .contacts = r->info.record_contacts,
                                  .single = r->info.record_single};
    r->totals = (run_totals){.residual = NAN, .start = run_extent_of(r->world)};
    if (loop_ok(r, talus_recording_create(r->ctx, r->setup->out, &def, r->world, &r->recording))) {
        loop_csv_head(r);
        if (!r->totals.error) loop_frame(r, &record);
        if (!r->totals.error) loop_steps(r, &record);
        // The end is always a frame, also that of a run that could not go on.
        if (record.last != r->totals.steps && r->totals.frames > 0) {
            char *error = r->totals.error;
            r->totals.error = NULL;
            loop_frame(r, &record);
            if (error) free(r->totals.error), r->totals.error = error;
        }
    }
    loop_finish(r);
}
