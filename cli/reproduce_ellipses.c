// SPDX-License-Identifier: Apache-2.0
// b-ellipses: a column of ellipses collapses without friction on a ground of glued disks [Bloch,
// Lefebvre-Lepot, Fig. 13]. Whether grains overlap is judged here by points on their outlines, not
// by the distances that the library found.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

enum { ELLIPSES = 100, ELLIPSES_ACROSS = 10, ELLIPSES_OUTLINE = 64 };
static const double ellipses_up = 0.45, ellipses_glued = 0.045, ellipses_g = 5.0;

typedef struct ellipses_run {
    const talus_shape_def *shape; // of each body
    double deepest, mean;         // overlap by outlines, of all checks
    int64_t every, checks;        // steps between two checks
    double energy, gained;        // of the step before; most that a step added
    double height[2], reach[2];   // top and half width of the heap, at the beginning and now
    int64_t steps;
    plot *front;
} ellipses_run;

// How deep the point p lies in body i, to first order; <= 0 outside.
static double ellipses_depth(const ellipses_run *run, const talus_body_view *b, int32_t i,
                             const double p[2]) {
    const talus_shape_def *s = &run->shape[i];
    const double *at = b->position + 3 * (ptrdiff_t)i, *q = b->orientation + 4 * (ptrdiff_t)i;
    const double c = q[0] * q[0] - q[3] * q[3], n = 2.0 * q[0] * q[3];
    const double x = p[0] - at[0], y = p[1] - at[1];
    const double along = c * x + n * y, across = c * y - n * x;
    const double a = s->kind == TALUS_SHAPE_SPHERE ? s->radius : s->half[0];
    const double e = s->kind == TALUS_SHAPE_SPHERE ? s->radius : s->half[1];
    const double level = hypot(along / a, across / e);
    if (level <= 0.0) return fmin(a, e);
    return (1.0 - level) * level / hypot(along / (a * a), across / (e * e));
}

static double ellipses_size(const talus_shape_def *s) {
    return s->kind == TALUS_SHAPE_SPHERE ? s->radius : fmax(s->half[0], s->half[1]);
}

// The deepest that the outline of one body reaches into another.
static double ellipses_overlap(const ellipses_run *run, const talus_body_view *b) {
    const double pi = 3.14159265358979323846;
    double deepest = 0.0;
    for (int32_t i = 0; i < b->count; i++) {
        const double *at = b->position + 3 * (ptrdiff_t)i, *q = b->orientation + 4 * (ptrdiff_t)i;
        const double c = q[0] * q[0] - q[3] * q[3], n = 2.0 * q[0] * q[3];
        const talus_shape_def *s = &run->shape[i];
        const bool round = s->kind == TALUS_SHAPE_SPHERE;
        for (int32_t j = 0; j < b->count; j++) {
            if (i == j || (round && run->shape[j].kind == TALUS_SHAPE_SPHERE)) continue;
            const double *other = b->position + 3 * (ptrdiff_t)j;
            const double far = ellipses_size(s) + ellipses_size(&run->shape[j]);
            if (hypot(at[0] - other[0], at[1] - other[1]) > far) continue;
            for (int k = 0; k < ELLIPSES_OUTLINE; k++) {
                const double turn = 2.0 * pi * k / ELLIPSES_OUTLINE;
                const double x = (round ? s->radius : s->half[0]) * cos(turn);
                const double y = (round ? s->radius : s->half[1]) * sin(turn);
                const double p[2] = {at[0] + c * x - n * y, at[1] + n * x + c * y};
                deepest = fmax(deepest, ellipses_depth(run, b, j, p));
            }
        }
    }
    return deepest;
}

static void ellipses_extent(const talus_body_view *b, double *height, double *reach) {
    *height = *reach = 0.0;
    for (int32_t i = 0; i < b->count; i++) {
        if (b->motion[i] != TALUS_MOTION_FREE) continue;
        *height = fmax(*height, b->position[3 * (ptrdiff_t)i + 1]);
        *reach = fmax(*reach, fabs(b->position[3 * (ptrdiff_t)i]));
    }
}

static void ellipses_each(void *user, const talus_world *w, const talus_ledger *l) {
    ellipses_run *run = user;
    talus_body_view b;
    talus_world_bodies(w, &b);
    const double energy = l->kinetic + l->potential;
    if (run->steps > 0) run->gained = fmax(run->gained, energy - run->energy);
    run->energy = energy;
    ellipses_extent(&b, &run->height[1], &run->reach[1]);
    if (run->steps++ % run->every != 0) return;
    const double overlap = ellipses_overlap(run, &b);
    run->deepest = fmax(run->deepest, overlap);
    run->mean += (overlap - run->mean) / (double)++run->checks;
    plot_add_point(run->front, l->time, run->reach[1]);
}

// Ten ellipses side by side in each of ten rows, the columns as wide apart as the widest can be;
// bodies 0 .. ELLIPSES − 1. Then the ground.
static bool ellipses_fill(reproduce *r, talus_world *w, double far, talus_shape_def *shape) {
    const double pitch[2] = {2.0 * 0.68 + 0.02, 2.0 * ellipses_up + 0.02};
    const int glued = (int)ceil(far / ellipses_glued);
    uint64_t seed = 41;
    for (int k = 0; k < ELLIPSES; k++) {
        talus_body_def body = talus_body_default();
        shape[k] = (talus_shape_def){
            .kind = TALUS_SHAPE_ELLIPSOID,
            .half = {reproduce_random(&seed, 0.22, 0.68), ellipses_up, ellipses_up}};
        body.mass = reproduce_random(&seed, 1.0, 2.0);
        body.material = 1;
        body.position[0] = (k % ELLIPSES_ACROSS - 0.5 * (ELLIPSES_ACROSS - 1)) * pitch[0];
        const int row = k / ELLIPSES_ACROSS;
        body.position[1] = 0.01 + ellipses_up + row * pitch[1];
        if (!reproduce_body(r, w, &shape[k], &body)) return false;
    }
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = ellipses_glued};
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.motion.kind = TALUS_MOTION_FIXED;
    body.position[1] = -ellipses_glued;
    REPRODUCE_TRY(r, talus_world_add_shape(w, &ball, &body.shape));
    for (int k = 0; k < glued; k++) {
        shape[ELLIPSES + k] = ball;
        body.position[0] = (2 * k - glued + 1) * ellipses_glued;
        REPRODUCE_TRY(r, talus_world_add_body(w, &body, NULL));
    }
    return true;
}

static bool ellipses_one(reproduce *r, double step, double until, plot *front, ellipses_run *run,
                         reproduce_sums *sums) {
    // the fastest fall from the top and run out on the ground
    const double far = 8.0 + until * sqrt(2.0 * ellipses_g * 10.0);
    talus_world_def def = talus_world_default();
    talus_material_def smooth = talus_material_default();
    talus_world *w = NULL;
    def.dim = 2;
    def.gravity[1] = -ellipses_g, def.gravity[2] = 0.0;
    def.scheme = TALUS_SCHEME_CONVEX; // the exact law where nothing rubs
    def.step = step;
    def.solver = "apgd-ar";
    def.tolerance = 1e-3;
    def.threads = r->threads;
    smooth.friction = 0.0;
    if (!reproduce_world(r, &def, &smooth, "", &w)) return false;
    talus_shape_def *shape =
        cli_alloc(ELLIPSES + (size_t)ceil(far / ellipses_glued), sizeof *shape);
    *run = (ellipses_run){.shape = shape, .every = lround(0.1 / step), .front = front};
    char *label = cli_text("h = %g", step);
    plot_add_curve(front, label, false);
    free(label);
    bool good = ellipses_fill(r, w, far, shape);
    talus_body_view b;
    talus_world_bodies(w, &b);
    if (good) ellipses_extent(&b, &run->height[0], &run->reach[0]);
    good = good && reproduce_run(r, w, until, 0, ellipses_each, run, sums);
    run->shape = NULL;
    talus_world_destroy(w);
    free(shape);
    return good;
}

bool reproduce_ellipses(reproduce *r) {
    const double until = r->quick ? 6.0 : 12.0;
    reproduce_sums sums = {0}, finer_sums = {0};
    ellipses_run run, finer;
    plot *front =
        reproduce_plot(r, "how far the column has spread", "time", false, "farthest centre", false);
    if (!ellipses_one(r, 0.01, until, front, &run, &sums) ||
        !ellipses_one(r, 0.005, until, front, &finer, &finer_sums))
        return false;
    reproduce_expect(r, "deepest overlap of outlines over the upright half axis", "",
                     run.deepest / ellipses_up, "no overlap (figure)", 0.0, 0.01, NULL);
    reproduce_expect(r, "overlap with half the step over that, mean in time", "",
                     finer.mean / run.mean, "1/4 (curvature of outlines)", 0.0, 0.5, NULL);
    reproduce_expect(r, "steps that missed 1e-3", "", (double)(sums.missed + finer_sums.missed), "",
                     0.0, 0.0, NULL);
    reproduce_expect(r, "height at the end over that at the beginning", "",
                     run.height[1] / run.height[0], "collapses (figure)", 0.0, 0.6, NULL);
    reproduce_expect(r, "half width at the end over that at the beginning", "",
                     run.reach[1] / run.reach[0], "spreads (figure)", 1.5, INFINITY, NULL);
    reproduce_expect(r, "most energy gained in a step over that at the end", "",
                     run.gained / fabs(run.energy), "0 (theory)", 0.0, 1e-3, NULL);
    return true;
}
