// SPDX-License-Identifier: Apache-2.0
// What a step costs besides solving: a box of N balls that settle (3D, or disks in 2D), with the
// time of each part per contact, and the memory of everything per ball.
//     step [DIM] [BALLS] [STEPS] [THREADS] [SOLVER]       default: 3 8000 400 1 auto
// The figures are the least over the last hundred steps.
#include "base/rng.h"
#include "base/timer.h"
#include "world/world_impl.h"
#include <stdio.h>
#include <stdlib.h>

static talus_status fill(talus_world *w, int dim, int balls) {
    tl_rng rng = {1};
    const int side = (int)ceil(pow(balls, 1.0 / dim));
    talus_body_def body = talus_body_default();
    for (int k = 0; k < 8; k++) { // shapes 0 to 7
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.4 + 0.01 * k};
        TL_TRY(talus_world_add_shape(w, &ball, NULL));
    }
    for (int i = 0; i < balls; i++) {
        const int at[3] = {i % side, dim == 3 ? i / side % side : i / side, i / side / side};
        body.shape = (int32_t)(tl_rng_next(&rng) % 8);
        for (int k = 0; k < dim; k++)
            body.position[k] = at[k] - 0.5 * (side - 1) + tl_rng_range(&rng, -0.02, 0.02);
        TL_TRY(talus_world_add_body(w, &body, NULL));
    }
    const talus_shape_def box = {.kind = TALUS_SHAPE_CONTAINER,
                                 .half = {0.5 * side, 0.5 * side, 0.5 * side},
                                 .open_top = true};
    talus_body_def wall = talus_body_default();
    wall.motion.kind = TALUS_MOTION_FIXED;
    TL_TRY(talus_world_add_shape(w, &box, &wall.shape));
    return talus_world_add_body(w, &wall, NULL);
}

static void keep_least(double *least, double value) {
    if (value < *least) *least = value;
}

// What is held less after something was given back, per ball.
static double freed(talus_context *ctx, size_t *held, int balls) {
    size_t now, peak;
    talus_context_memory(ctx, &now, &peak);
    const double less = (double)(*held - now) / balls;
    *held = now;
    return less;
}

static void print_memory(talus_context *ctx, talus_world *w, int balls) {
    size_t held, peak;
    talus_context_memory(ctx, &held, &peak);
    printf("bytes per ball: %.0f, %.0f at the peak;", (double)held / balls, (double)peak / balls);
    talus_solver_destroy(w->solver);
    w->solver = NULL;
    printf(" solver %.0f,", freed(ctx, &held, balls));
    talus_problem_destroy(w->problem);
    w->problem = NULL;
    printf(" problem %.0f,", freed(ctx, &held, balls));
    tl_stage_clear(ctx, &w->stage);
    printf(" stage %.0f,", freed(ctx, &held, balls));
    tl_contacts_clear(ctx, &w->contacts);
    printf(" contacts %.0f,", freed(ctx, &held, balls));
    tl_collide_destroy(w->collide);
    w->collide = NULL;
    printf(" search %.0f,", freed(ctx, &held, balls));
    printf(" bodies %.0f\n", (double)held / balls);
}

static talus_status run(talus_context *ctx, int dim, int balls, int steps, int threads,
                        const char *solver) {
    talus_world_def def = talus_world_default();
    talus_world *w = NULL;
    talus_status status = TALUS_OK;
    def.dim = dim;
    def.threads = threads;
    def.solver = solver;
    def.step = 5e-3;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == dim - 1 ? -9.81 : 0.0;
    TL_TRY(talus_world_create(ctx, &def, &w));
    TL_GOTO(fill(w, dim, balls));
    talus_ledger l = {0};
    double part[5] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < steps; k++) {
        TL_GOTO(talus_world_step(w, &l));
        if (k + 100 < steps || l.contacts == 0) continue;
        const double rest = l.total_seconds - l.detect_seconds - l.assemble_seconds -
                            l.solve_seconds - l.certify_seconds;
        keep_least(part + 0, l.detect_seconds / l.contacts);
        keep_least(part + 1, l.assemble_seconds / l.contacts);
        keep_least(part + 2, l.solve_seconds / l.contacts);
        keep_least(part + 3, l.certify_seconds / l.contacts);
        keep_least(part + 4, rest / l.contacts);
    }
    const tl_step step = {.time = w->time, .h = def.step, .theta = 1.0, .gravity = {0}};
    double fill_least = INFINITY, detect;
    for (int k = 0; k < 20; k++) { // assembly without the problem's own work
        const double begin = tl_seconds();
        TL_GOTO(tl_stage_fill(w, &step, 1e-3, &detect));
        keep_least(&fill_least, (tl_seconds() - begin - detect) / w->stage.contacts);
    }
    printf("%d balls, %d contacts (%.2f per ball), %d threads, '%s', t = %.2f s\n", balls,
           l.contacts, (double)l.contacts / balls, threads, solver, l.time);
    printf("microseconds per contact: search %.3f, assembly and problem %.3f (assembly alone "
           "%.3f), solve %.3f (%d iterations), certificate %.3f, ledger and commit %.3f\n",
           1e6 * part[0], 1e6 * part[1], 1e6 * fill_least, 1e6 * part[2], l.iterations,
           1e6 * part[3], 1e6 * part[4]);
    print_memory(ctx, w, balls);
done:
    talus_world_destroy(w);
    return status;
}

int main(int argc, char **argv) {
    talus_context *ctx = NULL;
    const int dim = argc > 1 ? atoi(argv[1]) : 3, balls = argc > 2 ? atoi(argv[2]) : 8000;
    const int steps = argc > 3 ? atoi(argv[3]) : 400, threads = argc > 4 ? atoi(argv[4]) : 1;
    talus_status status = talus_context_create(NULL, &ctx);
    if (status == TALUS_OK) {
        status = run(ctx, dim, balls, steps, threads, argc > 5 ? argv[5] : "auto");
        if (status != TALUS_OK) fprintf(stderr, "step: %s\n", talus_context_last_error(ctx));
    }
    talus_context_destroy(ctx);
    return status == TALUS_OK ? 0 : 1;
}
