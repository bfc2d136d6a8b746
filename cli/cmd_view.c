// SPDX-License-Identifier: Apache-2.0
// `talus view`: a recording, or a scene before anything is simulated, in the browser.
#define _GNU_SOURCE
#include "solve.h"
#include "view.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_ADDRESS = CLI_OPTION_FIRST, VIEW_PORT, VIEW_SET, VIEW_JSON };

const cli_option cli_view_options[] = {
    {"address", "IP", "where the page is served; default 127.0.0.1, this machine only",
     VIEW_ADDRESS},
    {"port", "N", "port of the page; default 0, any that is free", VIEW_PORT},
    {"set", "PATH=VALUE", "of a scene: replace a value, as in 'talus run'", VIEW_SET},
    {"json", NULL, "the address of the page as a JSON object on stdout", VIEW_JSON},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_view_help[] =
    "Serves a page for the browser and prints its address, until Ctrl-C. A recording is played:\n"
    "orbit, section, colours by speed, size, pressure and more, force chains, plots of the "
    "ledger;\n"
    "a grain or contact that is clicked shows its numbers; '?' lists the keys. A recording that "
    "is\n"
    "still being written is followed. A scene is shown as it begins; nothing is simulated.\n"
    "'talus run --view' shows a run while it goes on, and can pause, step and stop it.\n"
    "\n"
    "The page is served to this machine only, and only to those who know the whole address: it\n"
    "holds a random token. With --address 0.0.0.0 others can reach it; what is sent is not\n"
    "encrypted. To look from elsewhere, 'ssh -L 8000:127.0.0.1:8000 HOST' with --port 8000 is\n"
    "better. The server hands out the recording and its page, no other file.\n"
    "\n"
    "Exit status: 0 ended by Ctrl-C, 1 the file or the address cannot be used, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  talus view column-2d.h5\n"
    "  talus view examples/scenes/silo.yaml\n"
    "  talus view run.h5 --port 8000\n";

typedef struct view_setup {
    view_address address;
    run_setup scene;
    bool json;
} view_setup;

static bool view_take(void *user, int id, const char *value) {
    view_setup *v = user;
    switch (id) {
    case VIEW_ADDRESS:
        v->address.host = value;
        return true;
    case VIEW_PORT:
        return view_take_port(&v->address, value);
    case VIEW_SET:
        v->scene.set = cli_grow(v->scene.set, (size_t)v->scene.set_count + 1, sizeof *v->scene.set);
        v->scene.set[v->scene.set_count++] = cli_text("%s", value);
        return true;
    case VIEW_JSON:
        v->json = true;
        return true;
    default:
        return false;
    }
}

static bool view_is_scene(const char *path) {
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < 3; k++)
        if (strcmp(dot, endings[k]) == 0) return true;
    return false;
}

static int view_serve(view_source *source, const view_setup *v) {
    view_server *server = view_server_start(source, &v->address);
    if (!server) return CLI_FAILED;
    solve_catch_signals(NULL);
    view_server_announce(server, v->json);
    view_server_wait(server);
    view_server_stop(server);
    solve_release_signals();
    return CLI_DONE;
}

static int view_path(view_setup *v, const char *path) {
    talus_context *ctx = NULL;
    view_source source = {0};
    run scene = {0};
    if (talus_context_create(NULL, &ctx) != TALUS_OK) {
        cli_error("out of memory");
        return CLI_FAILED;
    }
    int code;
    if (view_is_scene(path)) {
        v->scene.scene_path = path;
        code = run_open(&scene, &v->scene, ctx);
        if (code == CLI_DONE) code = view_source_open_scene(&source, ctx, &scene);
    } else {
        code = view_source_open_recording(&source, ctx, path);
    }
    if (code == CLI_DONE) code = view_serve(&source, v);
    view_source_close(&source);
    run_close(&scene);
    talus_context_destroy(ctx);
    return code;
}

int cli_view(const cli_verb *verb, int argc, char **argv) {
    view_setup v = {0};
    bool help = false;
    int code = cli_parse(verb, argc, argv, view_take, &v, &help);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (code == CLI_DONE && optind + 1 != argc) {
        cli_error("view shows one recording or scene, not %d ('talus help view' tells more)",
                  argc - optind);
        code = CLI_USAGE;
    } else if (code == CLI_DONE) {
        code = view_page_is_there() ? view_path(&v, argv[optind]) : CLI_FAILED;
    }
    for (int k = 0; k < v.scene.set_count; k++) free(v.scene.set[k]);
    free(v.scene.set);
    return code;
}
