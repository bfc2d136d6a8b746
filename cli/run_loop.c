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

#define LOOP_FLUSH 1.0             // seconds between flushes of the recording, at least …
#define LOOP_FLUSH_SHARE 100.      // … and this many times what the last one took
#define LOOP_REST 100              // steps for which the bodies must be at rest
#define LOOP_CHECKPOINT 10.0       // seconds between checkpoints by the clock, at least …
#define LOOP_CHECKPOINT_SHARE 100. // … and this many times what the last one took

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

static void loop_file(const run *r, bool begin) {
    if (r->watch) r->watch->file(r->watch->user, begin);
}

// loop_ok for a call that uses the recording.
#define LOOP_RECORD(r, call) (loop_file((r), true), loop_ok_after((r), (call)))
static bool loop_ok_after(run *r, talus_status status) {
    loop_file(r, false);
    return loop_ok(r, status);
}

// Let who looks on have a look, and his way: false ends the run.
static bool loop_watch(run *r, const talus_ledger *ledger) {
    if (!r->watch) return true;
    const double begin = cli_clock();
    const bool goes_on = r->watch->step(r->watch->user, r, ledger);
    r->watched += cli_clock() - begin;
    return goes_on;
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
    r->path = realpath(setup->scene_path, NULL);
    r->totals = (run_totals){.residual = NAN, .start = run_extent_of(r->ctx, r->world)};
    return CLI_DONE;
}

void run_close(run *r) {
    run_observe_close(r);
    talus_world_destroy(r->world);
    talus_scene_destroy(r->scene);
    free(r->path);
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

// The numbers that the totals of a resumed run begin with, and how long all has been at rest; the
// rest of the totals follows from the world and the recording.
static void loop_pack(run *r, double *extra, bool restore) {
    run_totals *t = &r->totals;
    double whole[] = {(double)t->missed, (double)t->iterations, t->contacts,
                      t->contacts_most,  (double)t->joints,     (double)t->residual_step,
                      (double)r->quiet};
    double *const real[] = {&t->residual,      &t->penetration,    &t->energy_start,
                            &t->energy_end,    &t->energy_added,   &t->work_obstacles,
                            &t->work_forces,   &t->work_joints,    &t->loss_impact,
                            &t->loss_friction, &t->loss_numerical, &t->joint_error};
    enum { WHOLE = sizeof whole / sizeof *whole, REAL = sizeof real / sizeof *real };
    for (int k = 0; k < WHOLE + REAL; k++) {
        double *x = k < WHOLE ? &whole[k] : real[k - WHOLE];
        if (restore)
            *x = extra[k];
        else
            extra[k] = *x;
    }
    t->missed = (int64_t)whole[0];
    t->iterations = (int64_t)whole[1];
    t->contacts = (int32_t)whole[2];
    t->contacts_most = (int32_t)whole[3];
    t->joints = (int32_t)whole[4];
    t->residual_step = (int64_t)whole[5];
    r->quiet = (int)whole[6];
}

void run_restore(run *r, const talus_checkpoint *checkpoint) {
    double extra[TALUS_CHECKPOINT_EXTRA];
    memcpy(extra, checkpoint->extra, sizeof extra);
    loop_pack(r, extra, true);
    r->totals.steps = checkpoint->step;
    r->totals.time = checkpoint->time;
}

bool run_is_over(const run *r) {
    return !run_goes_on(r, r->totals.steps, r->totals.time) ||
           (r->info.stop_at_rest && r->quiet >= LOOP_REST);
}

char *run_beside(const char *path, const char *ending) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const bool known = dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
    return cli_text("%.*s%s", (int)(known ? dot - path : (ptrdiff_t)strlen(path)), path, ending);
}

double run_next_frame(double interval, double time) {
    // The first multiple of the interval that is not past; rounding must not give two frames.
    return interval > 0.0 ? interval * (floor(time / interval + 1e-6) + 1.0) : INFINITY;
}

// Recording while the steps go on: frames and checkpoints at their times, a flush when the last is
// long enough ago.
typedef struct loop_record {
    double next;      // time of the next frame
    double next_kept; // time of the next checkpoint that is kept
    int64_t last;     // step of the last frame
    int64_t saved;    // step of the last checkpoint
    double flushed, flush_cost;
    double saved_at, save_cost; // clock at the last checkpoint; what it took
} loop_record;

static void loop_flush(run *r, loop_record *record) {
    const double begin = cli_clock();
    if (!LOOP_RECORD(r, talus_recording_flush(r->recording))) return;
    record->flushed = cli_clock();
    record->flush_cost = record->flushed - begin;
}

static void loop_frame(run *r, loop_record *record) {
    if (!LOOP_RECORD(r, talus_recording_frame(r->recording, r->world, r->totals.steps))) return;
    r->totals.frames++;
    record->last = r->totals.steps;
    record->next = run_next_frame(r->info.frame_interval, talus_world_time(r->world));
    if (r->totals.frames > 1 &&
        cli_clock() - record->flushed < fmax(LOOP_FLUSH, LOOP_FLUSH_SHARE * record->flush_cost))
        return;
    loop_flush(r, record);
}

static void loop_checkpoint(run *r, loop_record *record, bool keep) {
    double extra[TALUS_CHECKPOINT_EXTRA] = {0};
    const double begin = cli_clock();
    loop_pack(r, extra, false);
    if (!LOOP_RECORD(
            r, talus_recording_checkpoint(r->recording, r->world, r->totals.steps, extra, keep)))
        return;
    record->saved = r->totals.steps;
    record->next_kept = run_next_frame(r->info.checkpoint_interval, talus_world_time(r->world));
    if (r->totals.frames > 0) loop_flush(r, record); // the first one goes with the first frame
    record->saved_at = cli_clock();
    record->save_cost = record->saved_at - begin;
}

// After each step: is one due?
static void loop_checkpoint_when_due(run *r, loop_record *record, const talus_ledger *l) {
    const bool kept = l->time >= record->next_kept - 1e-6 * l->h;
    const double since = cli_clock() - record->saved_at;
    if (kept || since > fmax(LOOP_CHECKPOINT, LOOP_CHECKPOINT_SHARE * record->save_cost))
        loop_checkpoint(r, record, kept);
}

// Have all bodies been at rest long enough?
static bool loop_at_rest(run *r, const talus_ledger *l) {
    talus_body_view bodies;
    talus_sand_view sand;
    talus_world_bodies(r->world, &bodies);
    talus_world_sand(r->world, &sand);
    const bool all = bodies.count >= r->info.bodies + r->info.later_bodies;
    const double rest =
        r->info.rest_energy * ((double)l->bodies + (double)sand.count + (double)r->info.rod_nodes);
    r->quiet = all && l->kinetic <= rest ? r->quiet + 1 : 0;
    return r->info.stop_at_rest && r->quiet >= LOOP_REST;
}

static void loop_steps(run *r, loop_record *record) {
    run_progress progress;
    run_progress_init(&progress);
    if (r->info.stop_at_rest && r->quiet >= LOOP_REST) r->totals.end = RUN_AT_REST; // resumed
    bool goes_on = loop_watch(r, NULL);
    while (!r->totals.error && !run_is_over(r)) {
        talus_ledger ledger;
        if (!goes_on || solve_interrupted()) {
            r->totals.end = RUN_INTERRUPTED;
            break;
        }
        if (!loop_ok(r, talus_scene_advance(r->scene, r->world)) ||
            !loop_ok(r, talus_world_step(r->world, &ledger)))
            break;
        loop_account(r, &ledger);
        loop_csv_row(r, &ledger);
        const bool rests = loop_at_rest(r, &ledger);
        LOOP_RECORD(r, run_observe_step(r, &ledger));
        const double begin = cli_clock();
        if (r->info.record_ledger) LOOP_RECORD(r, talus_recording_ledger(r->recording, &ledger));
        if (!r->totals.error && ledger.time >= record->next - 1e-6 * ledger.h)
            loop_frame(r, record);
        if (!r->totals.error) loop_checkpoint_when_due(r, record, &ledger);
        r->totals.record_seconds += cli_clock() - begin;
        run_progress_step(&progress, r, &ledger);
        goes_on = loop_watch(r, &ledger);
        if (rests) {
            r->totals.end = RUN_AT_REST;
            break;
        }
    }
    r->totals.seconds += cli_clock() - progress.begin - r->watched;
    run_progress_end(&progress);
}

// An XDMF file beside the recording, as far as the recording has come.
static void loop_xdmf(run *r) {
    talus_playback *p = NULL;
    char *path = run_beside(r->setup->out, ".xdmf");
    if (loop_ok(r, talus_playback_open(r->ctx, r->setup->out, &p)))
        loop_ok(r, talus_playback_write_xdmf(p, path));
    talus_playback_close(p);
    free(path);
}

static void loop_sand(run *r) {
    talus_sand_view sand;
    talus_world_sand(r->world, &sand);
    r->totals.particles = sand.count;
    r->totals.nodes = sand.nodes;
    r->totals.sand_lost = sand.lost;
    r->totals.sand_volume = 0.0;
    for (int64_t i = 0; i < sand.count; i++) r->totals.sand_volume += sand.volume[i];
}

static void loop_rods(run *r) {
    const talus_rod_view rods = talus_world_rods(r->world);
    run_totals *t = &r->totals;
    t->rods = rods.rods;
    t->rod_length = 0.0;
    t->strain_least = t->strain_most = NAN;
    for (int32_t i = 0; i < rods.rods; i++)
        for (int64_t k = rods.start[i]; k + 1 < rods.start[i + 1]; k++) {
            const double *x = rods.position + 3 * k;
            t->rod_length += sqrt((x[3] - x[0]) * (x[3] - x[0]) + (x[4] - x[1]) * (x[4] - x[1]) +
                                  (x[5] - x[2]) * (x[5] - x[2]));
            t->strain_least = fmin(t->strain_least, rods.strain[k]);
            t->strain_most = fmax(t->strain_most, rods.strain[k]);
        }
}

static void loop_finish(run *r) {
    run_totals *t = &r->totals;
    talus_body_view bodies;
    talus_world_bodies(r->world, &bodies);
    t->bodies = bodies.count;
    loop_sand(r);
    loop_rods(r);
    t->now = run_extent_of(r->ctx, r->world);
    t->free_bodies = t->now.bodies;
    t->hash = talus_world_hash(r->world);
    talus_context_memory(r->ctx, NULL, &t->memory);
    LOOP_RECORD(r, talus_recording_close(r->recording));
    r->recording = NULL;
    if (r->csv && fclose(r->csv) != 0) {
        char *text = cli_text("%s: cannot be written: %s", r->setup->ledger, strerror(errno));
        loop_fail(r, text);
        free(text);
    }
    r->csv = NULL;
    if (t->frames > 0 && r->info.record_xdmf) loop_xdmf(r);
    struct stat facts;
    t->bytes = t->frames > 0 && stat(r->setup->out, &facts) == 0 ? (double)facts.st_size : 0.0;
}

static const char *loop_body_name(const void *user, int32_t body) {
    return talus_scene_body_name(user, body);
}

static const char *loop_rod_name(const void *user, int32_t rod) {
    return talus_scene_rod_name(user, rod);
}

static const char *loop_material_name(const void *user, int32_t material) {
    return talus_scene_material_name(user, material);
}

static bool loop_open_recording(run *r) {
    talus_record_def def = {.scene = r->info.text,
                            .scene_path = r->path,
                            .set = (const char *const *)r->setup->set,
                            .set_count = (int32_t)r->setup->set_count,
                            .title = r->info.title,
                            .contacts = r->info.record_contacts,
                            .precision = r->info.record_precision,
                            .body_name = loop_body_name,
                            .material_name = loop_material_name,
                            .rod_name = loop_rod_name,
                            .user = r->scene};
    if (!loop_ok(r, run_observe_open(r))) return false;
    def.series = r->observe.field;
    def.series_count = r->observe.count;
    memcpy(def.without, r->info.record_without, sizeof def.without);
    if (!r->resumed)
        return LOOP_RECORD(
            r, talus_recording_create(r->ctx, r->setup->out, &def, r->world, &r->recording));
    return LOOP_RECORD(r, talus_recording_resume(r->ctx, r->setup->out, &def, r->checkpoint,
                                                 r->totals.frames, r->world, &r->recording));
}

void run_loop(run *r) {
    loop_record record = {.last = -1, .saved = -1};
    if (r->resumed) {
        record.next = run_next_frame(r->info.frame_interval, r->last_frame);
        record.next_kept = run_next_frame(r->info.checkpoint_interval, r->totals.time);
        record.last = r->last_step;
        record.saved = r->totals.steps;
        record.saved_at = record.flushed = cli_clock();
    }
    if (loop_open_recording(r)) {
        loop_csv_head(r);
        if (!r->totals.error && !r->resumed)
            loop_checkpoint(r, &record, r->info.checkpoint_interval > 0.0);
        if (!r->totals.error && !r->resumed) loop_frame(r, &record);
        if (!r->totals.error) loop_steps(r, &record);
        // The end is always a frame and a checkpoint, also that of a run that could not go on.
        if (r->totals.frames > 0) {
            char *error = r->totals.error;
            r->totals.error = NULL;
            if (record.last != r->totals.steps) loop_frame(r, &record);
            if (record.saved != r->totals.steps && !r->totals.error)
                loop_checkpoint(r, &record, r->info.checkpoint_interval > 0.0);
            if (error) free(r->totals.error), r->totals.error = error;
        }
    }
    loop_finish(r);
}
