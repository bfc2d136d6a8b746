// SPDX-License-Identifier: Apache-2.0
// The search for contacts: time per item, contacts per item and memory per item, for balls
// scattered in an open box, from a thousand to a million of them.
//     bench/collide [MOST] [THREADS]     up to MOST items (default 1 000 000), on THREADS (1)
// sizes  `narrow` radii 1 to 2, as many of each; `wide` radii 1 to 100, as many of each order of
//        size; `sparse` like narrow, in a box with a million times the room
// Times are of the processor with one thread (other work on the machine does not count), of the
// clock with more. The balls are numbered in random order. Small sets are scattered many times, 100
// 000 balls in all, and searched in turn: in a simulation, too, a solve comes between two searches,
// after which the processor has forgotten the first.

#include "collide/collide.h"
#include "base/rng.h"
#include "base/timer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 7 };

static double seconds_now(int32_t threads) {
    return threads == 1 ? (double)clock() / CLOCKS_PER_SEC : tl_seconds();
}

static const char *const scatter_names[] = {"narrow", "wide", "sparse"};

// The balls are put anywhere. Their volume is 1.2 times that of the box, so that each has as many
// partners as in a dense packing.
static void scatter(const char *sizes, int32_t count, int32_t sets, double *radius, tl_pose *pose) {
    tl_rng rng = {.state = 11};
    double volume = 0.0;
    for (int32_t i = 0; i < count; i++) {
        const double u = tl_rng_unit(&rng);
        radius[i] = strcmp(sizes, "wide") == 0 ? pow(100.0, u) : 1.0 + u;
        volume += 4.18879 * radius[i] * radius[i] * radius[i];
    }
    const double share = strcmp(sizes, "sparse") == 0 ? 1e-6 : 1.2, width = cbrt(volume / share);
    for (int32_t i = 0; i < count * sets; i++) {
        pose[i] = (tl_pose){.q = {1.0}};
        for (int k = 0; k < 3; k++) pose[i].x[k] = tl_rng_range(&rng, -0.5, 0.5) * width;
    }
}

static int measure(const char *sizes, int32_t count, int32_t threads) {
    talus_context *ctx = NULL;
    tl_collide *c = NULL;
    const double period[3] = {0.0, 0.0, 0.0};
    double *radius = malloc((size_t)count * sizeof *radius), best = INFINITY;
    const int32_t sets = count < 100000 ? 100000 / count : 1;
    tl_pose *pose = malloc((size_t)count * (size_t)sets * sizeof *pose);
    int64_t touches = 0;
    size_t bytes = 0;
    int failed = 1;
    if (!radius || !pose || talus_context_create(NULL, &ctx) != TALUS_OK) goto done;
    if (tl_collide_create(ctx, 3, period, &c) != TALUS_OK) goto done;
    scatter(sizes, count, sets, radius, pose);
    for (int32_t i = 0; i < count; i++) {
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius[i]};
        int32_t shape, item;
        if (tl_collide_add_shape(c, &ball, &shape) != TALUS_OK) goto done;
        if (tl_collide_add_item(c, shape, i, false, &item) != TALUS_OK) goto done;
    }
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        touches = 0;
        const double start = seconds_now(threads);
        for (int32_t k = 0; k < sets; k++) {
            int64_t found;
            if (tl_collide_detect(c, pose + (size_t)k * (size_t)count, 0.01, threads) != TALUS_OK)
                goto done;
            (void)tl_collide_touches(c, &found);
            touches += found;
        }
        const double seconds = (seconds_now(threads) - start) / sets;
        if (seconds < best) best = seconds;
    }
    talus_context_memory(ctx, &bytes, NULL);
    printf("%s,%d,%d,%.3f,%.1f,%.2f,%.0f\n", sizes, (int)count, (int)threads, 1e3 * best,
           1e9 * best / count, (double)touches / sets / count, (double)bytes / count);
    fflush(stdout);
    failed = 0;
done:
    if (failed) fprintf(stderr, "collide: %s\n", talus_context_last_error(ctx));
    tl_collide_destroy(c);
    talus_context_destroy(ctx);
    free(radius);
    free(pose);
    return failed;
}

int main(int argc, char **argv) {
    const long most = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    const long threads = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    int failed = 0;
    printf("sizes,items,threads,ms,ns_per_item,contacts_per_item,bytes_per_item\n");
    for (size_t k = 0; k < sizeof scatter_names / sizeof scatter_names[0]; k++)
        for (long count = 1000; count <= most; count *= 10)
            failed |= measure(scatter_names[k], (int32_t)count, (int32_t)threads);
    return failed;
}
