// SPDX-License-Identifier: Apache-2.0
// A run that goes on, for the server's thread: the run's thread leaves a picture of its world
// behind when one is asked for, and waits between two steps while it is paused.
//
// `lock` guards everything here. `file` is held by whoever uses HDF5, which is not safe for two
// threads, even with two files; it is never taken together with `lock`.
#define _GNU_SOURCE
#include "solve.h"
#include "view.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE_WAIT 0.1 // seconds between looks for Ctrl-C while paused
#define LIVE_PACE 1.0 // seconds over which the speed is measured

struct view_live {
    pthread_mutex_t lock, file;
    pthread_cond_t change;
    bool paused, stop, running;
    int64_t granted; // steps that a paused run may make
    bool wanted;     // a picture is asked for
    unsigned fields; // … with these fields
    uint32_t serial; // of the picture
    view_bytes picture;
    view_tables tables;
    run_end end;
    char *error;
    double step, time, until, pace;           // pace: steps per second
    double h, contacts, iterations, residual; // h: length of the last step [s]
    double mark, mark_step;                   // clock and step where the pace was last measured
};

view_live *view_live_create(void) {
    view_live *l = cli_alloc(1, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->file, NULL);
    pthread_cond_init(&l->change, NULL);
    l->running = true;
    l->fields = VIEW_FIELDS;
    l->h = l->residual = NAN;
    return l;
}

void view_live_destroy(view_live *l) {
    if (!l) return;
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->file);
    pthread_cond_destroy(&l->change);
    view_bytes_clear(&l->picture);
    view_tables_clear(&l->tables);
    free(l->error);
    free(l);
}

static void live_file(void *user, bool begin) { view_live_lock_file(user, begin); }

void view_live_lock_file(view_live *l, bool begin) {
    if (begin)
        pthread_mutex_lock(&l->file);
    else
        pthread_mutex_unlock(&l->file);
}

// The world as it is now, for whoever asks next.
static void live_picture(view_live *l, const run *r) {
    view_moment m = {.frame = -1,
                     .step = (int64_t)l->step,
                     .time = talus_world_time(r->world),
                     .h = l->h,
                     .hash = talus_world_hash(r->world),
                     .serial = l->serial + 1};
    talus_world_bodies(r->world, &m.bodies);
    talus_world_contacts(r->world, &m.contacts);
    m.sand = view_sand_of_world(r->world);
    m.rods = talus_world_rods(r->world);
    const view_model model = view_model_of_world(r->world);
    // A shape that cannot be drawn is left out; the run is not to suffer.
    (void)!view_tables_update(&l->tables, r->ctx, r->info.dim, &model, &m.bodies);
    l->picture.size = 0;
    l->picture.failed = false;
    view_pack_frame(&m, l->fields, &l->picture);
    if (l->picture.failed) l->picture.size = 0;
    l->serial++;
    l->wanted = false;
}

static void live_figures(view_live *l, const talus_ledger *ledger) {
    const double now = cli_clock();
    if (l->mark > 0.0 && now - l->mark >= LIVE_PACE) {
        l->pace = ((double)ledger->step - l->mark_step) / (now - l->mark);
        l->mark = 0.0;
    }
    if (l->mark <= 0.0) l->mark = now, l->mark_step = (double)ledger->step;
    l->step = (double)ledger->step;
    l->time = ledger->time;
    l->h = ledger->h;
    l->contacts = ledger->contacts;
    l->iterations = ledger->iterations;
    l->residual = ledger->residual;
}

static void live_wait(view_live *l) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(LIVE_WAIT * 1e9);
    if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
    pthread_cond_timedwait(&l->change, &l->lock, &until);
}

static bool live_step(void *user, const run *r, const talus_ledger *ledger) {
    view_live *l = user;
    pthread_mutex_lock(&l->lock);
    if (ledger) live_figures(l, ledger);
    l->until = r->info.until;
    if (l->wanted || !ledger || l->paused) live_picture(l, r);
    while (l->paused && l->granted == 0 && !l->stop && !solve_interrupted()) {
        l->mark = 0.0;
        live_wait(l);
        if (l->wanted) live_picture(l, r);
    }
    if (l->granted > 0) l->granted--;
    const bool goes_on = !l->stop;
    pthread_mutex_unlock(&l->lock);
    return goes_on;
}

run_watch view_live_watch(view_live *l) {
    return (run_watch){.user = l, .file = live_file, .step = live_step};
}

void view_live_end(view_live *l, const run *r) {
    pthread_mutex_lock(&l->lock);
    l->running = false;
    l->end = r->totals.end;
    if (r->totals.error) l->error = cli_text("%s", r->totals.error);
    l->fields = VIEW_FIELDS;
    live_picture(l, r);
    pthread_mutex_unlock(&l->lock);
}

bool view_live_is_there(view_live *l) {
    pthread_mutex_lock(&l->lock);
    const bool there = l->serial > 0;
    pthread_mutex_unlock(&l->lock);
    return there;
}

void view_live_print(view_live *l, FILE *out) {
    static const char *const end[] = {"done", "at rest", "interrupted", "failed"};
    pthread_mutex_lock(&l->lock);
    const struct {
        const char *key;
        double value;
    } number[] = {
        {"serial", l->serial},         {"step", l->step},        {"time", l->time},
        {"until", l->until},           {"pace", l->pace},        {"contacts", l->contacts},
        {"iterations", l->iterations}, {"residual", l->residual}};
    fprintf(out, "{\"running\": %s, \"paused\": %s", l->running ? "true" : "false",
            l->paused ? "true" : "false");
    cli_json_key(out, "end", false);
    cli_json_string(out, l->running ? "" : end[l->end]);
    cli_json_key(out, "error", false);
    cli_json_string(out, l->error ? l->error : "");
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        cli_json_key(out, number[k].key, false);
        cli_json_number(out, number[k].value);
    }
    fputc('}', out);
    pthread_mutex_unlock(&l->lock);
}

bool view_live_control(view_live *l, const char *word) {
    static const char *const words[] = {"pause", "go", "step", "stop"};
    int k = 0;
    while (k < 4 && strcmp(words[k], word) != 0) k++;
    if (k == 4) return false;
    pthread_mutex_lock(&l->lock);
    l->paused = k == 0 || k == 2;
    if (k == 2) l->granted++;
    if (k == 3) l->stop = true;
    l->wanted = true;
    pthread_cond_signal(&l->change);
    pthread_mutex_unlock(&l->lock);
    return true;
}

void view_live_pack_frame(view_live *l, unsigned fields, view_bytes *out) {
    pthread_mutex_lock(&l->lock);
    if (l->running) {
        l->fields = fields;
        l->wanted = true;
        pthread_cond_signal(&l->change);
    }
    view_bytes_put(out, l->picture.data, l->picture.size);
    pthread_mutex_unlock(&l->lock);
}

void view_live_pack_bodies(view_live *l, view_bytes *out) {
    pthread_mutex_lock(&l->lock);
    view_tables_pack_bodies(&l->tables, out);
    pthread_mutex_unlock(&l->lock);
}

void view_live_pack_shapes(view_live *l, view_bytes *out) {
    pthread_mutex_lock(&l->lock);
    view_tables_pack_shapes(&l->tables, out);
    pthread_mutex_unlock(&l->lock);
}
