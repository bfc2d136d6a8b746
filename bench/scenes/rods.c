// SPDX-License-Identifier: Apache-2.0
// What steps of many rods cost, one row for each of them.
//     rods RUN.h5 STEP COUNT [THREADS]         COUNT steps from the last checkpoint before STEP on
//     rods SCENE.yaml STEP COUNT [THREADS] [KEY=VALUE]...  the same after STEP steps of a scene
// contacts are those that were found, solved those that the solver was given (src/world/part.c);
// open, stick and slide are shares of all. Of the result: the residual of the certificate, and
// the mean relative error of the impulses Σ|F_FB| / Σ|r| over all contacts, which is how the
// source of the hair experiments tells its tolerance. Seconds are those of the clock; cpu those of
// the processor, all threads together.
#include "cone/nonsmooth.h"
#include "problem/delassus.h"
#include "talus/talus.h"
#include "world/world_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Σ|F_FB| / Σ|r| at the result of the last step; F_FB in the unit of r.
static double mean_error(const talus_world *w) {
    const talus_problem *p = w->problem;
    const tl_stage *s = &w->stage;
    double miss = 0.0, sum = 0.0;
    for (int32_t i = 0; i < s->contacts; i++) {
        const tl_law law = tl_problem_law(p, i);
        double block[9] = {0.0}, f[3];
        tl_delassus_own(p, i, block);
        tl_fb(3, &law, 3.0 / (block[0] + block[4] + block[8]), s->u + 3 * (int64_t)i,
              s->r + 3 * (int64_t)i, f, NULL, NULL);
        miss += sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
        const double *r = s->r + 3 * (int64_t)i;
        sum += sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
    return miss == 0.0 ? 0.0 : miss / sum;
}

static void row(const talus_world *w, const talus_ledger *l, double cpu) {
    const double n = w->stage.contacts > 0 ? w->stage.contacts : 1;
    int32_t count[3] = {0};
    for (int32_t i = 0; i < w->contacts.count; i++) count[w->contacts.status[i]]++;
    printf("%lld,%.4f,%d,%d,%.4f,%.4f,%.4f,%d,%.2e,%.2e,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n",
           (long long)l->step, l->time, w->stage.contacts, w->part.count, count[0] / n,
           count[1] / n, count[2] / n, l->iterations, l->residual, mean_error(w), l->detect_seconds,
           l->assemble_seconds, l->solve_seconds, l->certify_seconds, l->total_seconds, cpu);
    fflush(stdout);
}

// The world of a recording at its last checkpoint that is not after `step`.
static talus_status restore(talus_context *ctx, const char *path, long step, const char *threads,
                            talus_scene **scene, talus_world **out) {
    talus_playback *p = NULL;
    talus_checkpoint at;
    talus_status status = TALUS_OK;
    TL_GOTO(talus_playback_open(ctx, path, &p));
    TL_GOTO(talus_scene_of_recording(ctx, p, &threads, 1, scene));
    int64_t k = talus_playback_get_info(p).checkpoints - 1;
    TL_GOTO(talus_playback_checkpoint(p, k, &at));
    while (at.step > step && k > 0) TL_GOTO(talus_playback_checkpoint(p, --k, &at));
    TL_GOTO(talus_scene_restore(*scene, &at, out));
done:
    talus_playback_close(p);
    return status;
}

static talus_status run(talus_context *ctx, int count, char **word) {
    const char *path = word[1];
    const long from = strtol(word[2], NULL, 10), steps = strtol(word[3], NULL, 10);
    enum { SETS = 32 };
    char threads[64];
    const char *set[SETS] = {threads};
    int sets = 1;
    const size_t length = strlen(path);
    talus_scene *scene = NULL;
    talus_world *w = NULL;
    talus_ledger l;
    talus_status status = TALUS_OK;
    (void)snprintf(threads, sizeof threads, "solver.threads=%s", count > 4 ? word[4] : "1");
    for (int k = 5; k < count && sets < SETS; k++) set[sets++] = word[k];
    if (length > 3 && strcmp(path + length - 3, ".h5") == 0) {
        TL_GOTO(restore(ctx, path, from, threads, &scene, &w));
    } else {
        TL_GOTO(talus_scene_read(ctx, path, set, sets, &scene));
        TL_GOTO(talus_scene_make_world(scene, &w));
    }
    printf("step,time_s,contacts,solved,open,stick,slide,iterations,residual,mean_error,detect_s,"
           "assemble_s,solve_s,certify_s,step_s,cpu_s\n");
    while (w->steps < from + steps) {
        const clock_t begin = clock();
        TL_GOTO(talus_world_step(w, &l));
        const double cpu = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (l.step > from) row(w, &l, cpu);
    }
done:
    talus_world_destroy(w);
    talus_scene_destroy(scene);
    return status;
}

int main(int count, char **word) {
    talus_context *ctx;
    if (count < 4) {
        fprintf(stderr, "rods RUN.h5|SCENE.yaml STEP COUNT [THREADS] [KEY=VALUE]...\n");
        return 2;
    }
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    const talus_status status = run(ctx, count, word);
    if (status != TALUS_OK) fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    talus_context_destroy(ctx);
    return status != TALUS_OK;
}
