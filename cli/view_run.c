// SPDX-License-Identifier: Apache-2.0
// `talus run --view`: the run in a thread of its own, the page beside it.
#define _GNU_SOURCE
#include "solve.h"
#include "view.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct view_run {
    run *r;
    run_watch watch;
    view_live *live;
    view_source source;
    talus_context *ctx; // of the source: the run's own serves the run's thread
    view_server *server;
    pthread_t thread;
    atomic_bool ended;
};

static void *view_run_thread(void *user) {
    view_run *v = user;
    run_loop(v->r);
    view_live_end(v->live, v->r);
    atomic_store(&v->ended, true);
    return NULL;
}

static void view_run_nap(void) {
    const struct timespec nap = {.tv_nsec = 50000000};
    nanosleep(&nap, NULL);
}

static void view_run_free(view_run *v) {
    if (v->server) view_server_stop(v->server);
    view_source_close(&v->source);
    v->r->watch = NULL;
    view_live_destroy(v->live);
    talus_context_destroy(v->ctx);
    free(v);
}

static view_run *view_run_start(run *r, const view_address *address) {
    view_run *v = cli_alloc(1, sizeof *v);
    v->r = r;
    v->live = view_live_create();
    v->watch = view_live_watch(v->live);
    const bool ready = talus_context_create(NULL, &v->ctx) == TALUS_OK &&
                       view_source_open_scene(&v->source, v->ctx, r) == CLI_DONE;
    v->source.live = v->live;
    if (ready) v->server = view_server_start(&v->source, address);
    if (!v->server) {
        view_run_free(v);
        return NULL;
    }
    r->watch = &v->watch;
    return v;
}

view_run *view_run_loop(run *r, const view_address *address) {
    view_run *v = view_run_start(r, address);
    if (!v) return NULL;
    const int failed = pthread_create(&v->thread, NULL, view_run_thread, v);
    if (failed) {
        cli_error("no thread for the run: %s", strerror(failed));
        view_run_free(v);
        return NULL;
    }
    // Nobody knows the address before there is something to see.
    bool told = false;
    while (!atomic_load(&v->ended)) {
        if (!told && view_live_is_there(v->live)) {
            view_server_announce(v->server, false);
            told = true;
        }
        view_server_tend(v->server);
        view_run_nap();
    }
    pthread_join(v->thread, NULL);
    if (!told && r->totals.frames > 0) view_server_announce(v->server, false);
    return v;
}

void view_run_end(view_run *v) {
    if (v->r->totals.frames > 0 && !solve_interrupted()) {
        fprintf(stderr, "The page stays open at %s until Ctrl-C\n", view_server_url(v->server));
        view_server_wait(v->server);
    }
    view_run_free(v);
}
