// SPDX-License-Identifier: Apache-2.0
// Meshes: time to make one, and time per item of a search with items that lie on it.
//     bench/mesh [MOST]     up to MOST triangles (default 1 000 000)
// The mesh is a hilly square of n by n cells, two triangles each. Items lie on it at random, as
// many as fill a tenth of it; each is about as wide as `triangles` of its cells. Times are of the
// processor on one thread, least of five repeats.
#include "base/rng.h"
#include "collide/collide.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ITEMS = 4000, REPEATS = 5 };

static double seconds_now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double height(double x, double y) { return 0.05 * sin(9.0 * x) * cos(7.0 * y); }

// Points and triangles of n by n cells over the unit square.
static int terrain(int32_t n, double **point, int32_t **triangle) {
    const size_t points = (size_t)(n + 1) * (size_t)(n + 1), cells = (size_t)n * (size_t)n;
    *point = malloc(3 * points * sizeof **point);
    *triangle = malloc(6 * cells * sizeof **triangle);
    if (!*point || !*triangle) return 1;
    double *p = *point;
    int32_t *t = *triangle;
    for (int32_t i = 0; i <= n; i++)
        for (int32_t k = 0; k <= n; k++) {
            *p++ = (double)k / n;
            *p++ = (double)i / n;
            *p++ = height((double)k / n, (double)i / n);
        }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            const int32_t a = i * (n + 1) + k,
                          corner[6] = {a, a + 1, a + n + 2, a, a + n + 2, a + n + 1};
            for (int e = 0; e < 6; e++) *t++ = corner[e];
        }
    return 0;
}

static int measure(int32_t n, const char *name, talus_shape_def shape, double size) {
    talus_context *ctx = NULL;
    tl_collide *c = NULL;
    double *point = NULL, best = INFINITY, make = 0.0;
    int32_t *triangle = NULL, index, item;
    static tl_pose pose[ITEMS + 1];
    int64_t touches = 0;
    int failed = 1;
    tl_rng rng = {.state = 5};
    if (terrain(n, &point, &triangle) || talus_context_create(NULL, &ctx) != TALUS_OK) goto done;
    const talus_shape_def mesh = {.kind = TALUS_SHAPE_MESH,
                                  .point = point,
                                  .point_count = (n + 1) * (n + 1),
                                  .triangle = triangle,
                                  .triangle_count = 2 * n * n};
    if (tl_collide_create(ctx, 3, NULL, &c) != TALUS_OK) goto done;
    const double before = seconds_now();
    if (tl_collide_add_shape(c, &mesh, &index) != TALUS_OK) goto done;
    make = seconds_now() - before;
    if (tl_collide_add_item(c, index, -1, true, &item) != TALUS_OK) goto done;
    if (tl_collide_add_shape(c, &shape, &index) != TALUS_OK) goto done;
    pose[0].q[0] = 1.0;
    for (int32_t i = 1; i <= ITEMS; i++) { // one group: only the mesh is touched
        double *x = pose[i].x, *q = pose[i].q;
        if (tl_collide_add_item(c, index, 0, false, &item) != TALUS_OK) goto done;
        for (int k = 0; k < 4; k++) q[k] = tl_rng_normal(&rng);
        tl_quat_normalise(q);
        for (int k = 0; k < 2; k++) x[k] = tl_rng_range(&rng, 0.05, 0.95);
        x[2] = height(x[0], x[1]) + 0.7 * size;
    }
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = seconds_now();
        if (tl_collide_detect(c, pose, 0.2 * size, 1) != TALUS_OK) goto done;
        best = fmin(best, seconds_now() - start);
        (void)tl_collide_touches(c, &touches);
    }
    printf("%s,%d,%.1f,%.0f,%.2f\n", name, 2 * n * n, 1e3 * make, 1e9 * best / ITEMS,
           (double)touches / ITEMS);
    fflush(stdout);
    failed = 0;
done:
    if (failed) fprintf(stderr, "mesh: %s\n", talus_context_last_error(ctx));
    tl_collide_destroy(c);
    talus_context_destroy(ctx);
    free(point);
    free(triangle);
    return failed;
}

int main(int argc, char **argv) {
    const double most = argc > 1 ? strtod(argv[1], NULL) : 1e6;
    int failed = 0;
    printf("items,triangles,ms_to_make,ns_per_item,contacts_per_item\n");
    for (int32_t n = 22; 2.0 * n * n <= 1.1 * most; n = (int32_t)(n * sqrt(10.0))) {
        const double size = 1.0 / n; // of the order of a cell
        failed |= measure(n, "sphere",
                          (talus_shape_def){.kind = TALUS_SHAPE_SPHERE, .radius = size}, size);
        failed |= measure(
            n, "box", (talus_shape_def){.kind = TALUS_SHAPE_BOX, .half = {size, size, size}}, size);
        failed |= measure(n, "ellipsoid",
                          (talus_shape_def){.kind = TALUS_SHAPE_ELLIPSOID,
                                            .half = {size, 0.7 * size, 0.8 * size}},
                          size);
    }
    return failed;
}
