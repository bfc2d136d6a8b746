// SPDX-License-Identifier: Apache-2.0
// Contact points of two shapes: pairs per second on one core.
//     bench/pairs [NAME]     only rows whose name contains NAME
// state  `touch` bodies with a gap of ± 1e-4 of their size, `apart` bodies that are not within
// reach
//        though their bounding balls are, `deep` bodies that overlap by some tenth of their size
// Every row takes many random poses in turn. Times are of the processor, least of five repeats. A
// new shape is a line in `shapes` and its pairs lines in `rows`.
#include "base/rng.h"
#include "collide/pair.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES = 2000, REPEATS = 5, POINTS = 24, TRIES = 2000000 };

typedef struct bench_shape {
    const char *name;
    talus_shape_def def;
    int points; ///< polyhedron: on the unit sphere (2D: circle), this many
} bench_shape;

static const bench_shape shapes[] = {
    {"sphere", {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0}, 0},
    {"box", {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.7, 0.9}}, 0},
    {"capsule", {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .height = 1.4}, 0},
    {"tetrahedron", {.kind = TALUS_SHAPE_POLYHEDRON}, 4},
    {"polyhedron12", {.kind = TALUS_SHAPE_POLYHEDRON}, 12},
    {"polyhedron24", {.kind = TALUS_SHAPE_POLYHEDRON}, 24},
    {"ellipsoid", {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.5, 0.7, 1.0}}, 0},
    {"superellipsoid",
     {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.5, 0.7, 1.0}, .exponent = {4.0, 4.0}},
     0},
    {"cylinder", {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .height = 1.4}, 0},
    {"cone", {.kind = TALUS_SHAPE_CONE, .radius = 0.7, .height = 1.4}, 0},
    {"drum", {.kind = TALUS_SHAPE_DRUM, .radius = 3.0, .height = 4.0}, 0},
    {"half-space", {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0.0, 0.0, 1.0}}, 0},
};

static const struct {
    int32_t dim;
    const char *a, *b;
} rows[] = {
    {3, "sphere", "sphere"},
    {3, "sphere", "box"},
    {3, "sphere", "capsule"},
    {3, "sphere", "polyhedron12"},
    {3, "capsule", "capsule"},
    {3, "box", "box"},
    {3, "box", "capsule"},
    {3, "tetrahedron", "tetrahedron"},
    {3, "box", "polyhedron12"},
    {3, "polyhedron12", "polyhedron12"},
    {3, "capsule", "polyhedron12"},
    {3, "polyhedron24", "polyhedron24"},
    {3, "ellipsoid", "ellipsoid"},
    {3, "sphere", "ellipsoid"},
    {3, "box", "ellipsoid"},
    {3, "capsule", "ellipsoid"},
    {3, "ellipsoid", "polyhedron12"},
    {3, "superellipsoid", "superellipsoid"},
    {3, "sphere", "superellipsoid"},
    {3, "box", "superellipsoid"},
    {3, "ellipsoid", "superellipsoid"},
    {3, "cylinder", "cylinder"},
    {3, "sphere", "cylinder"},
    {3, "box", "cylinder"},
    {3, "cylinder", "ellipsoid"},
    {3, "cylinder", "superellipsoid"},
    {3, "cylinder", "polyhedron12"},
    {3, "cone", "cone"},
    {3, "sphere", "cone"},
    {3, "box", "cone"},
    {3, "cylinder", "cone"},
    {3, "ellipsoid", "cone"},
    {3, "half-space", "ellipsoid"},
    {3, "half-space", "superellipsoid"},
    {3, "half-space", "cylinder"},
    {3, "half-space", "cone"},
    {3, "drum", "ellipsoid"},
    {3, "drum", "cylinder"},
    {3, "half-space", "box"},
    {3, "half-space", "capsule"},
    {3, "half-space", "polyhedron24"},
    {2, "ellipsoid", "ellipsoid"},
    {2, "superellipsoid", "superellipsoid"},
    {2, "box", "ellipsoid"},
    {2, "box", "box"},
    {2, "capsule", "capsule"},
    {2, "polyhedron12", "polyhedron12"},
};

typedef struct bench_case {
    tl_pose pose[2];
    tl_walls walls;
} bench_case;

static void random_turn(tl_rng *rng, int32_t dim, double q[4]) {
    for (int k = 0; k < 4; k++) q[k] = dim == 2 && (k == 1 || k == 2) ? 0.0 : tl_rng_normal(rng);
    tl_quat_normalise(q);
}

static const bench_shape *find_shape(const char *name) {
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        if (strcmp(shapes[k].name, name) == 0) return &shapes[k];
    return NULL;
}

// The shape with its points, and for a plane in 2D a normal that is up there.
static talus_status make_solid(talus_context *ctx, tl_rng *rng, int32_t dim, const bench_shape *s,
                               tl_solid **out) {
    double point[3 * POINTS];
    talus_shape_def def = s->def;
    for (int i = 0; i < s->points; i++) {
        double *p = point + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) p[k] = k < dim ? tl_rng_normal(rng) : 0.0;
        tl_scale3(1.0 / tl_norm3(p), p, p);
    }
    if (s->points > 0) def.point = point, def.point_count = s->points;
    return tl_solid_create(ctx, dim, &def, out);
}

static int case_points(int32_t dim, tl_solid *const solid[2], bench_case *c, double reach,
                       tl_touch *touch) {
    const tl_placed a = {
        .shape = &solid[0]->shape, .solid = solid[0], .pose = &c->pose[0], .walls = &c->walls};
    const tl_placed b = {.shape = &solid[1]->shape, .solid = solid[1], .pose = &c->pose[1]};
    return tl_pair_points(dim, &a, &b, reach, touch);
}

// A random pose of each in the wanted state; false: this one is not.
static bool make_case(tl_rng *rng, int32_t dim, tl_solid *const solid[2], const char *state,
                      bench_case *c) {
    const double ea = tl_shape_extent(dim, &solid[0]->shape);
    const double eb = tl_shape_extent(dim, &solid[1]->shape);
    const double range = (isinf(ea) ? 0.0 : ea) + eb;
    tl_touch touch[TL_PAIR_MOST];
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 2; i++) random_turn(rng, dim, c->pose[i].q);
    for (int k = 0; k < dim; k++) c->pose[1].x[k] = range * tl_rng_range(rng, -1.0, 1.0);
    if (isinf(ea)) tl_walls_place(dim, &solid[0]->shape, &c->pose[0], &c->walls);
    if (isinf(ea) ? fabs(tl_walls_distance(&c->walls, c->pose[1].x)) > eb
                  : tl_norm3(c->pose[1].x) > range)
        return false;
    const int count = case_points(dim, solid, c, 2.0 * range, touch);
    int best = 0;
    for (int n = 1; n < count; n++)
        if (touch[n].gap < touch[best].gap) best = n;
    if (count == 0) return false;
    if (strcmp(state, "apart") == 0) return touch[best].gap > 0.02 * range;
    if (strcmp(state, "deep") == 0) return touch[best].gap < -0.1 * eb;
    const double gap = 1e-4 * tl_rng_range(rng, -1.0, 1.0);
    tl_axpy3(c->pose[1].x, touch[best].gap - gap, touch[best].normal, c->pose[1].x);
    return true;
}

static void measure(talus_context *ctx, int32_t dim, const char *a, const char *b,
                    const char *state, bench_case *cases) {
    tl_rng rng = {.state = 7};
    tl_solid *solid[2] = {NULL, NULL};
    double best = INFINITY;
    int64_t points = 0;
    int made = 0;
    if (make_solid(ctx, &rng, dim, find_shape(a), &solid[0]) != TALUS_OK ||
        make_solid(ctx, &rng, dim, find_shape(b), &solid[1]) != TALUS_OK) {
        fprintf(stderr, "pairs: %s\n", talus_context_last_error(ctx));
        goto done;
    }
    for (int64_t i = 0; made < CASES && i < TRIES; i++)
        made += make_case(&rng, dim, solid, state, &cases[made]);
    if (made == 0) goto done;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const clock_t start = clock();
        points = 0;
        for (int round = 0; round < 20; round++)
            for (int i = 0; i < made; i++) {
                tl_touch touch[TL_PAIR_MOST];
                points += case_points(dim, solid, &cases[i], 1e-3, touch);
            }
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC / (20.0 * made);
        if (seconds < best) best = seconds;
    }
    printf("%s-%s,%d,%s,%.0f,%.0f,%.2f\n", a, b, (int)dim, state, 1e9 * best, 1.0 / best,
           (double)points / (20.0 * made));
    fflush(stdout);
done:
    tl_solid_destroy(ctx, solid[0]);
    tl_solid_destroy(ctx, solid[1]);
}

int main(int argc, char **argv) {
    static const char *const states[] = {"touch", "apart", "deep"};
    talus_context *ctx = NULL;
    bench_case *cases = malloc(CASES * sizeof *cases);
    if (!cases || talus_context_create(NULL, &ctx) != TALUS_OK) {
        free(cases);
        return 1;
    }
    printf("pair,dim,state,ns,pairs_per_second,points\n");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s-%s", rows[k].a, rows[k].b);
        if (argc > 1 && !strstr(name, argv[1])) continue;
        for (size_t s = 0; s < sizeof states / sizeof states[0]; s++)
            measure(ctx, rows[k].dim, rows[k].a, rows[k].b, states[s], cases);
    }
    talus_context_destroy(ctx);
    free(cases);
    return 0;
}
