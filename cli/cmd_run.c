// SPDX-License-Identifier: Apache-2.0
// `talus run`: a scene becomes a recording.
#define _GNU_SOURCE
#include "run.h"
#include "solve.h"
#include "view.h"
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    RUN_OUT = 'o', // also -o
    RUN_SET = CLI_OPTION_FIRST,
    RUN_THREADS,
    RUN_SEED,
    RUN_STEPS,
    RUN_UNTIL,
    RUN_DRY,
    RUN_LEDGER,
    RUN_JSON,
    RUN_QUIET,
    RUN_VERBOSE,
    RUN_VIEW,
    RUN_ADDRESS,
    RUN_PORT,
};

const cli_option cli_run_options[] = {
    {"out", "RUN.h5", "the recording; default: name of the scene with .h5, here", RUN_OUT},
    {"set", "PATH=VALUE", "replace a value of the scene, e.g. --set materials.sand.friction=0.3",
     RUN_SET},
    {"threads", "N", "threads; the result is the same, bit for bit, for any number", RUN_THREADS},
    {"seed", "N", "of the random numbers (--set seed=N)", RUN_SEED},
    {"steps", "N", "end after N steps, if not before (--set run.steps=N)", RUN_STEPS},
    {"until", "T", "end of the run in seconds or with a unit (--set run.until=T)", RUN_UNTIL},
    {"dry-run", NULL, "tell what would be simulated, with an estimate of time and memory", RUN_DRY},
    {"ledger", "FILE.csv", "the ledger of every step as a table, besides that in the recording",
     RUN_LEDGER},
    {"json", NULL, "one JSON object at the end in place of the summary", RUN_JSON},
    {"quiet", NULL, "no progress", RUN_QUIET},
    {"verbose", NULL, "a line on stderr for each step", RUN_VERBOSE},
    {"view", NULL, "watch it in the browser while it runs; pause, step and stop it there",
     RUN_VIEW},
    {"address", "IP", "with --view: where the page is served (127.0.0.1: this machine only)",
     RUN_ADDRESS},
    {"port", "N", "with --view: port of the page; 0: any that is free", RUN_PORT},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_run_help[] =
    "SCENE.yaml tells what there is and what happens to it. The run writes a recording (HDF5) of\n"
    "frames, contacts and the ledger of every step, and prints at the end how it went: steps,\n"
    "contacts, the worst certificate, where the energy went, how far the free bodies spread.\n"
    "\n"
    "Every step is certified by code that no solver uses. A step whose residual is above the\n"
    "scene's tolerance is counted as missed; the run goes on with the best answer found.\n"
    "\n"
    "An existing recording is replaced once the new one holds its first frame; a file that is no\n"
    "recording is not replaced. Ctrl-C ends the run after the step, with everything written; a\n"
    "second one ends it at once. Whatever ends it, a kill or a full disk too, the file holds all\n"
    "that was written up to about a second before, and 'talus resume' goes on from its last\n"
    "checkpoint.\n"
    "\n"
    "The summary goes to stdout, progress to stderr. Exit status: 0 the run came to its end and\n"
    "every step met the tolerance, 1 it did not, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  talus run column.yaml\n"
    "  talus run column.yaml --dry-run\n"
    "  talus run column.yaml -o rough.h5 --set materials.sand.friction=0.8 --until 2\n"
    "  talus run column.yaml --view\n"
    "  talus run column.yaml --json --quiet --threads 2 > column.json\n";

void run_log(void *user, talus_log_level level, const char *text) {
    const run_setup *setup = user;
    if (level != TALUS_LOG_WARNING && !setup->verbose) return;
    cli_error("%s%s%s%s", setup->name ? setup->name : "", setup->name ? ": " : "",
              level == TALUS_LOG_WARNING ? "warning: " : "", text);
}

static void cmd_add_set(run_setup *setup, char *text) {
    setup->set = cli_grow(setup->set, (size_t)setup->set_count + 1, sizeof *setup->set);
    setup->set[setup->set_count++] = text;
}

static bool cmd_take(void *user, int id, const char *value) {
    run_setup *setup = user;
    switch (id) {
    case RUN_OUT:
        free(setup->out);
        setup->out = cli_text("%s", value);
        break;
    case RUN_SET:
        if (!strchr(value, '=') || value[0] == '=') {
            cli_error("--set %s: write PATH=VALUE, for example --set run.until=2", value);
            return false;
        }
        cmd_add_set(setup, cli_text("%s", value));
        break;
    case RUN_THREADS:
        cmd_add_set(setup, cli_text("solver.threads=%s", value));
        break;
    case RUN_SEED:
        cmd_add_set(setup, cli_text("seed=%s", value));
        break;
    case RUN_STEPS:
        cmd_add_set(setup, cli_text("run.steps=%s", value));
        break;
    case RUN_UNTIL:
        cmd_add_set(setup, cli_text("run.until=%s", value));
        break;
    case RUN_DRY:
        setup->dry = true;
        break;
    case RUN_LEDGER:
        setup->ledger = value;
        break;
    case RUN_JSON:
        setup->json = true;
        break;
    case RUN_QUIET:
        setup->quiet = true;
        break;
    case RUN_VERBOSE:
        setup->verbose = true;
        break;
    case RUN_VIEW:
        setup->view = true;
        break;
    case RUN_ADDRESS:
        setup->address.host = value;
        break;
    case RUN_PORT:
        return view_take_port(&setup->address, value);
    default:
        return false;
    }
    return true;
}

static int cmd_parse(run_setup *setup, const cli_verb *verb, int argc, char **argv, bool *help) {
    const int parsed = cli_parse(verb, argc, argv, cmd_take, setup, help);
    if (parsed != CLI_DONE || *help) return parsed;
    if (optind + 1 != argc) {
        cli_error("run needs one scene, not %d: 'talus run SCENE.yaml' ('talus help run' tells "
                  "more)",
                  argc - optind);
        return CLI_USAGE;
    }
    setup->scene_path = argv[optind];
    const char *slash = strrchr(setup->scene_path, '/');
    const char *base = slash ? slash + 1 : setup->scene_path, *dot = strrchr(base, '.');
    const bool known =
        dot && dot != base &&
        (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
    setup->name = cli_text("%.*s", (int)(known ? dot - base : (ptrdiff_t)strlen(base)), base);
    if (!setup->out) setup->out = cli_text("%s.h5", setup->name);
    return CLI_DONE;
}

// Where the files go: directories must be there, the scene is not overwritten, and of the files
// that exist only a recording may be replaced by a recording.
static int cmd_check_out(const run_setup *setup, talus_context *ctx) {
    solve_tasks inputs = {0};
    struct stat facts;
    if (setup->ledger && strcmp(setup->ledger, setup->out) == 0) {
        cli_error("--out and --ledger name the same file, %s", setup->out);
        return CLI_USAGE;
    }
    solve_tasks_add(&inputs, setup->scene_path);
    int code = solve_tasks_check_out(&inputs, "--out", setup->out);
    if (code == CLI_DONE && setup->ledger)
        code = solve_tasks_check_out(&inputs, "--ledger", setup->ledger);
    solve_tasks_clear(&inputs);
    if (code != CLI_DONE || stat(setup->out, &facts) != 0 || facts.st_size == 0) return code;
    talus_playback *old = NULL;
    const talus_status status = talus_playback_open(ctx, setup->out, &old);
    // a recording of another version of the program is one, too
    if (status != TALUS_OK && status != TALUS_ERR_UNSUPPORTED) {
        cli_error("%s; it is not replaced: remove it, or choose another name with -o",
                  talus_context_last_error(ctx));
        code = CLI_FAILED;
    }
    talus_playback_close(old);
    return code;
}

int run_simulate(run *r) {
    view_run *page = NULL;
    solve_catch_signals(NULL); // the step under way is to be finished, not cancelled
    if (r->setup->view) {
        if (!view_page_is_there()) return CLI_FAILED;
        page = view_run_loop(r, &r->setup->address);
        if (!page) return CLI_FAILED;
    } else {
        run_loop(r);
    }
    const run_totals *t = &r->totals;
    if (t->error) cli_error("%s", t->error);
    if (t->frames > 0) (r->setup->json ? run_print_json : run_print_summary)(r);
    if (page) {
        (void)cli_flush(); // before the wait for Ctrl-C
        view_run_end(page);
    }
    solve_release_signals();
    const bool whole = t->end == RUN_DONE || t->end == RUN_AT_REST;
    return whole && t->missed == 0 ? CLI_DONE : CLI_FAILED;
}

// The recording that a scene starts from is not replaced by that of the scene.
static int cmd_check_start(const run *r) {
    struct stat from, out;
    if (!r->info.start_path[0] || stat(r->info.start_path, &from) != 0 ||
        stat(r->setup->out, &out) != 0 || from.st_ino != out.st_ino || from.st_dev != out.st_dev)
        return CLI_DONE;
    cli_error("--out %s would replace the recording that the scene starts from", r->setup->out);
    return CLI_USAGE;
}

static int cmd_run_scene(const run_setup *setup, talus_context *ctx) {
    run r = {0};
    int code = cmd_check_out(setup, ctx);
    if (code == CLI_DONE) code = run_open(&r, setup, ctx);
    if (code == CLI_DONE) code = cmd_check_start(&r);
    if (code == CLI_DONE) code = setup->dry ? run_dry(&r) : run_simulate(&r);
    run_close(&r);
    return code;
}

int cli_run(const cli_verb *verb, int argc, char **argv) {
    run_setup setup = {0};
    talus_context *ctx = NULL;
    bool help = false;
    int code = cmd_parse(&setup, verb, argc, argv, &help);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (code == CLI_DONE) {
        const talus_context_def def = {.log = run_log, .log_user = &setup};
        const talus_status made = talus_context_create(&def, &ctx);
        signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is reported as a full disk is
        if (made == TALUS_OK) {
            code = cmd_run_scene(&setup, ctx);
        } else {
            cli_error("%s", talus_status_text(made));
            code = CLI_FAILED;
        }
        talus_context_destroy(ctx);
    }
    for (int i = 0; i < setup.set_count; i++) free(setup.set[i]);
    free(setup.set);
    free(setup.name);
    free(setup.out);
    return code;
}
