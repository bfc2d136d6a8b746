// SPDX-License-Identifier: Apache-2.0
// The friction problems of chosen steps. A recording does not hold them; but a run can be repeated
// bit for bit, from the start or from a checkpoint, up to the step that is asked for.
#include "export.h"
#include <stdlib.h>

typedef struct fclib_run {
    export_job *job;
    talus_scene *scene;
    talus_world *world; // or NULL
    int64_t step;       // steps that `world` has made
} fclib_run;

static int fclib_fail(const fclib_run *r) {
    cli_error("%s", talus_context_last_error(r->job->ctx));
    return CLI_FAILED;
}

// A world that has made fewer steps than `step`, and as many as can be had without making them.
static int fclib_begin(fclib_run *r, int64_t step) {
    talus_checkpoint best = {0};
    for (int64_t k = r->job->info.checkpoints; k-- > 0;) {
        if (talus_playback_checkpoint(r->job->playback, k, &best) != TALUS_OK) return fclib_fail(r);
        if (best.step < step) break;
        best = (talus_checkpoint){0};
    }
    if (r->world && r->step < step && (!best.state || best.step <= r->step)) return CLI_DONE;
    talus_world_destroy(r->world);
    r->world = NULL;
    r->step = best.step;
    const talus_status status = best.state ? talus_scene_restore(r->scene, &best, &r->world)
                                           : talus_scene_make_world(r->scene, &r->world);
    return status == TALUS_OK ? CLI_DONE : fclib_fail(r);
}

static int fclib_write(fclib_run *r) {
    export_job *job = r->job;
    const talus_problem *problem = talus_world_problem(r->world);
    char *path = cli_text("%s/step-%06lld.hdf5", job->room, (long long)r->step);
    talus_fclib_extra extra = {.title = cli_text("step %lld of %s", (long long)r->step, job->path)};
    int code = CLI_DONE;
    if (!problem) {
        cli_error("%s: its scheme makes no friction problems", job->path);
        code = CLI_FAILED;
    } else if (talus_fclib_write(job->ctx, path, problem, &extra) != TALUS_OK) {
        code = fclib_fail(r);
    } else {
        FILE *file = fopen(path, "rb");
        if (file && fseek(file, 0, SEEK_END) == 0) job->bytes += (double)ftell(file);
        if (file) (void)fclose(file);
        job->files++;
    }
    free(extra.title);
    free(path);
    return code;
}

static int fclib_step(fclib_run *r, int64_t step) {
    int code = fclib_begin(r, step);
    for (; code == CLI_DONE && r->step < step; r->step++) {
        export_progress(r->job, "step", r->step, step);
        if (talus_scene_advance(r->scene, r->world) != TALUS_OK ||
            talus_world_step(r->world, NULL) != TALUS_OK)
            code = fclib_fail(r);
    }
    return code == CLI_DONE ? fclib_write(r) : code;
}

int export_fclib(export_job *job) {
    fclib_run r = {.job = job};
    int code = CLI_DONE;
    if (talus_scene_of_recording(job->ctx, job->playback, NULL, 0, &r.scene) != TALUS_OK)
        return fclib_fail(&r);
    for (int64_t k = 0; code == CLI_DONE && k < job->steps.count; k++)
        code = fclib_step(&r, job->steps.number[k]);
    export_progress(job, "step", 1, 1);
    talus_world_destroy(r.world);
    talus_scene_destroy(r.scene);
    return code;
}
