// SPDX-License-Identifier: Apache-2.0
// Contact points of two shapes: pairs per second on one core.
//     bench/pairs [NAME]     only pairs whose name contains NAME
// state  `touch` bodies with a gap of ± 1e-4 of their size, `apart` bodies that are not within
//        reach though their bounding balls are, `deep` bodies that overlap by some tenth of their
//        size
// All pairs of `shapes` that the table of pairs knows, in 3D and 2D; meshes have bench/mesh. Every
// row takes many random poses in turn. Times are of the processor, least of the repeats.
#include "base/rng.h"
#include "collide/pair.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES = 1000, REPEATS = 3, ROUNDS = 10, POINTS = 24, TRIES = 200000 };

typedef struct bench_shape {
    const char *name;
    talus_shape_def def;
    int points; ///< polyhedron: on the unit sphere (2D: circle), this many
    bool solid; ///< in 3D only
} bench_shape;

// Walls first: the search gives them so.
static const bench_shape shapes[] = {
    {"half-space", {.kind = TALUS_SHAPE_HALF_SPACE, .normal = {0.0, 0.0, 1.0}}, 0, false},
    {"container", {.kind = TALUS_SHAPE_CONTAINER, .half = {2.0, 2.5, 3.0}}, 0, false},
    {"drum", {.kind = TALUS_SHAPE_DRUM, .radius = 3.0, .height = 4.0}, 0, false},
    {"sphere", {.kind = TALUS_SHAPE_SPHERE, .radius = 1.0}, 0, false},
    {"capsule", {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .height = 1.4}, 0, false},
    {"box", {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.7, 0.9}}, 0, false},
    {"polyhedron12", {.kind = TALUS_SHAPE_POLYHEDRON}, 12, false},
    {"polyhedron24", {.kind = TALUS_SHAPE_POLYHEDRON}, 24, false},
    {"ellipsoid", {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.5, 0.7, 1.0}}, 0, false},
    {"superellipsoid",
     {.kind = TALUS_SHAPE_SUPERELLIPSOID, .half = {0.5, 0.7, 1.0}, .exponent = {4.0, 4.0}},
     0,
     false},
    {"cylinder", {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .height = 1.4}, 0, true},
    {"cone", {.kind = TALUS_SHAPE_CONE, .radius = 0.7, .height = 1.4}, 0, true},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct bench_case {
    tl_pose pose[2];
    tl_walls walls;
} bench_case;

static void random_turn(tl_rng *rng, int32_t dim, double q[4]) {
    for (int k = 0; k < 4; k++) q[k] = dim == 2 && (k == 1 || k == 2) ? 0.0 : tl_rng_normal(rng);
    tl_quat_normalise(q);
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

static void measure(talus_context *ctx, int32_t dim, const bench_shape *a, const bench_shape *b,
                    const char *state, bench_case *cases) {
    tl_rng rng = {.state = 7};
    tl_solid *solid[2] = {NULL, NULL};
    double best = INFINITY;
    int64_t points = 0;
    int made = 0;
    if (make_solid(ctx, &rng, dim, a, &solid[0]) != TALUS_OK ||
        make_solid(ctx, &rng, dim, b, &solid[1]) != TALUS_OK) {
        fprintf(stderr, "pairs: %s\n", talus_context_last_error(ctx));
        goto done;
    }
    for (int64_t i = 0; made < CASES && i < TRIES; i++)
        made += make_case(&rng, dim, solid, state, &cases[made]);
    if (made == 0) goto done;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const clock_t start = clock();
        points = 0;
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < made; i++) {
                tl_touch touch[TL_PAIR_MOST];
                points += case_points(dim, solid, &cases[i], 1e-3, touch);
            }
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC / ((double)ROUNDS * made);
        if (seconds < best) best = seconds;
    }
    printf("%s-%s,%d,%s,%.0f,%.0f,%.2f\n", a->name, b->name, (int)dim, state, 1e9 * best,
           1.0 / best, (double)points / ((double)ROUNDS * made));
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
    for (int32_t dim = 3; dim >= 2; dim--)
        for (int i = 0; i < SHAPES; i++)
            for (int j = i; j < SHAPES; j++) {
                const bench_shape *a = &shapes[i], *b = &shapes[j];
                char name[64];
                (void)snprintf(name, sizeof name, "%s-%s", a->name, b->name);
                if ((argc > 1 && !strstr(name, argv[1])) || (dim == 2 && (a->solid || b->solid)) ||
                    !tl_pair_is_known(a->def.kind, b->def.kind))
                    continue;
                for (size_t k = 0; k < sizeof states / sizeof states[0]; k++)
                    measure(ctx, dim, a, b, states[k], cases);
            }
    talus_context_destroy(ctx);
    free(cases);
    return 0;
}
