// SPDX-License-Identifier: Apache-2.0
// `talus resume`: a recording whose run was stopped goes on from one of its checkpoints.
#define _GNU_SOURCE
#include "run.h"
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    RESUME_UNTIL = CLI_OPTION_FIRST,
    RESUME_STEPS,
    RESUME_THREADS,
    RESUME_STEP,
    RESUME_JSON,
    RESUME_QUIET,
    RESUME_VERBOSE,
};

const cli_option cli_resume_options[] = {
    {"until", "T", "another end of the run, in seconds or with a unit", RESUME_UNTIL},
    {"steps", "N", "end after N steps in all, if not before", RESUME_STEPS},
    {"threads", "N", "another number of threads; the result is the same, bit for bit",
     RESUME_THREADS},
    {"step", "N", "go back to the last checkpoint that is not after step N", RESUME_STEP},
    {"json", NULL, "one JSON object at the end in place of the summary", RESUME_JSON},
    {"quiet", NULL, "no progress", RESUME_QUIET},
    {"verbose", NULL, "a line on stderr for each step", RESUME_VERBOSE},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_resume_help[] =
    "RUN.h5 is a recording of talus run that was interrupted, killed or came to its end. The run\n"
    "goes on in the same file from its last checkpoint, as if it had never stopped: frames, "
    "ledger\n"
    "and state are those of a run that was not, bit for bit. What the file holds of later steps "
    "is\n"
    "made again.\n"
    "\n"
    "The scene is in the recording; files that it uses (meshes, a recording it starts from) must "
    "be\n"
    "where they were. Exit status as for talus run.\n"
    "\n"
    "Examples:\n"
    "  talus resume column.h5\n"
    "  talus resume column.h5 --until 5 --threads 2\n";

typedef struct resume_setup {
    run_setup run;
    const char *path;
    char *until;
    int64_t step; // −1: the last checkpoint
} resume_setup;

static void resume_add_set(resume_setup *s, char *text) {
    s->run.set = cli_grow(s->run.set, (size_t)s->run.set_count + 1, sizeof *s->run.set);
    s->run.set[s->run.set_count++] = text;
}

static bool resume_take(void *user, int id, const char *value) {
    resume_setup *s = user;
    char *end;
    switch (id) {
    case RESUME_UNTIL:
        s->until = cli_text("run.until=%s", value);
        resume_add_set(s, s->until);
        break;
    case RESUME_STEPS:
        resume_add_set(s, cli_text("run.steps=%s", value));
        break;
    case RESUME_THREADS:
        resume_add_set(s, cli_text("solver.threads=%s", value));
        break;
    case RESUME_STEP:
        s->step = strtoll(value, &end, 10);
        if (*end || end == value || s->step < 0) {
            cli_error("--step %s: must be the number of a step", value);
            return false;
        }
        break;
    case RESUME_JSON:
        s->run.json = true;
        break;
    case RESUME_QUIET:
        s->run.quiet = true;
        break;
    case RESUME_VERBOSE:
        s->run.verbose = true;
        break;
    default:
        return false;
    }
    return true;
}

static int resume_parse(resume_setup *s, const cli_verb *verb, int argc, char **argv, bool *help) {
    const int parsed = cli_parse(verb, argc, argv, resume_take, s, help);
    if (parsed != CLI_DONE || *help) return parsed;
    if (optind + 1 != argc) {
        cli_error("resume needs one recording, not %d: 'talus resume RUN.h5'", argc - optind);
        return CLI_USAGE;
    }
    s->path = argv[optind];
    s->run.out = cli_text("%s", s->path);
    s->run.scene_path = s->path;
    const char *slash = strrchr(s->path, '/');
    s->run.name = run_beside(slash ? slash + 1 : s->path, "");
    return CLI_DONE;
}

static int resume_fail(talus_context *ctx) {
    cli_error("%s", talus_context_last_error(ctx));
    return CLI_FAILED;
}

// The overrides of the recording before those given now, and the time between frames as it was,
// which would follow the end of the run otherwise.
static int resume_collect(resume_setup *s, talus_context *ctx, const talus_playback *p) {
    const talus_playback_info info = talus_playback_get_info(p);
    char **given = s->run.set;
    const int count = s->run.set_count;
    s->run.set = NULL;
    s->run.set_count = 0;
    for (int32_t k = 0; k < info.set_count; k++)
        resume_add_set(s, cli_text("%s", talus_playback_set_at(p, k)));
    int code = CLI_DONE;
    if (s->until) {
        talus_scene *scene = NULL;
        if (talus_scene_of_recording(ctx, p, NULL, 0, &scene) == TALUS_OK)
            resume_add_set(
                s, cli_text("output.every=%.17g", talus_scene_get_info(scene).frame_interval));
        else
            code = resume_fail(ctx);
        talus_scene_destroy(scene);
    }
    for (int k = 0; k < count; k++) resume_add_set(s, given[k]);
    free(given);
    return code;
}

// Frames that stay: those up to the checkpoint, without a last one that is there only because the
// run was stopped.
static int resume_frames(run *r, talus_playback *p) {
    const talus_playback_info info = talus_playback_get_info(p);
    talus_frame frame = {0};
    int64_t kept = info.frames;
    for (; kept > 0; kept--) {
        if (talus_playback_frame(p, kept - 1, &frame) != TALUS_OK) return resume_fail(r->ctx);
        if (frame.step <= r->totals.steps) break;
    }
    if (kept == 0) {
        cli_error("%s: holds no frame up to the checkpoint", r->setup->out);
        return CLI_FAILED;
    }
    r->last_frame = frame.time;
    r->last_step = frame.step;
    r->totals.frames = kept;
    if (kept == 1) return CLI_DONE;
    if (talus_playback_frame(p, kept - 2, &frame) != TALUS_OK) return resume_fail(r->ctx);
    if (r->last_frame >= run_next_frame(r->info.frame_interval, frame.time) - 1e-6 * r->def.step)
        return CLI_DONE;
    r->last_frame = frame.time;
    r->last_step = frame.step;
    r->totals.frames = kept - 1;
    return CLI_DONE;
}

static int resume_find(const resume_setup *s, run *r, talus_playback *p,
                       talus_checkpoint *checkpoint) {
    for (r->checkpoint = talus_playback_get_info(p).checkpoints - 1; r->checkpoint >= 0;
         r->checkpoint--) {
        if (talus_playback_checkpoint(p, r->checkpoint, checkpoint) != TALUS_OK)
            return resume_fail(r->ctx);
        if (s->step < 0 || checkpoint->step <= s->step) return CLI_DONE;
    }
    if (s->step < 0)
        cli_error("%s: holds no checkpoint to go on from", s->path);
    else
        cli_error("%s: holds no checkpoint up to step %lld", s->path, (long long)s->step);
    return CLI_FAILED;
}

// Scene, world and totals as they were at the checkpoint.
static int resume_open(const resume_setup *s, run *r, talus_playback *p) {
    const talus_playback_info info = talus_playback_get_info(p);
    talus_checkpoint checkpoint;
    talus_world *start = NULL;
    const int added = s->run.set_count - info.set_count;
    if (talus_scene_of_recording(r->ctx, p, (const char *const *)s->run.set + info.set_count, added,
                                 &r->scene) != TALUS_OK ||
        talus_scene_make_world(r->scene, &start) != TALUS_OK)
        return resume_fail(r->ctx);
    r->info = talus_scene_get_info(r->scene);
    r->totals = (run_totals){
        .residual = NAN, .start = run_extent_of(r->ctx, start), .seconds = info.wall_seconds};
    talus_world_destroy(start);
    const int code = resume_find(s, r, p, &checkpoint);
    if (code != CLI_DONE) return code;
    if (talus_scene_restore(r->scene, &checkpoint, &r->world) != TALUS_OK)
        return resume_fail(r->ctx);
    r->def = talus_world_get_def(r->world);
    r->resumed = true;
    run_restore(r, &checkpoint);
    return resume_frames(r, p);
}

static int resume_run(resume_setup *s, talus_context *ctx) {
    run r = {.setup = &s->run, .ctx = ctx};
    talus_playback *p = NULL;
    if (talus_playback_open(ctx, s->path, &p) != TALUS_OK) return resume_fail(ctx);
    const bool finished = talus_playback_get_info(p).finished;
    int code = resume_collect(s, ctx, p);
    if (code == CLI_DONE) code = resume_open(s, &r, p);
    talus_playback_close(p);
    if (code == CLI_DONE && finished && run_is_over(&r)) {
        cli_error("%s: has come to its end, step %lld at t = %g s; --until or --steps makes it "
                  "longer",
                  s->path, (long long)r.totals.steps, r.totals.time);
    } else if (code == CLI_DONE) {
        code = run_simulate(&r);
    }
    run_close(&r);
    return code;
}

int cli_resume(const cli_verb *verb, int argc, char **argv) {
    resume_setup setup = {.step = -1};
    talus_context *ctx = NULL;
    bool help = false;
    int code = resume_parse(&setup, verb, argc, argv, &help);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (code == CLI_DONE) {
        const talus_context_def def = {.log = run_log, .log_user = &setup.run};
        const talus_status made = talus_context_create(&def, &ctx);
        signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is reported as a full disk is
        if (made == TALUS_OK) {
            code = resume_run(&setup, ctx);
        } else {
            cli_error("%s", talus_status_text(made));
            code = CLI_FAILED;
        }
        talus_context_destroy(ctx);
    }
    for (int i = 0; i < setup.run.set_count; i++) free(setup.run.set[i]);
    free(setup.run.set);
    free(setup.run.name);
    free(setup.run.out);
    return code;
}
