// SPDX-License-Identifier: Apache-2.0
// What a step of sand costs: a column that falls (3D, or 2D), with the time of each part per node,
// that of a solver's sweep per node, and that of particles to grid per particle.
//     sand [DIM] [WIDE] [PER_EDGE] [STEPS] [THREADS] [SOLVER] [TOLERANCE]
//                                                          default: 3 12 2 20 1 nlgs 1e-3
// WIDE is the column's width in cells, as deep in 3D, and 1.4 times as high. The tolerance is that
// of stresses, over rho g H. A sweep is timed on the last step's problem, from zero, with a
// tolerance out of reach. The first step has no stresses to begin with: it is told apart from the
// others.
#include "base/timer.h"
#include "world/world_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct bench {
    int dim, wide, per_edge, steps, threads;
    const char *solver;
    double tolerance;
} bench;

#define HEIGHT 0.35 // of the column [m]
#define STEP 2e-3   // [s]

static talus_status fill(talus_world *w, const bench *b) {
    talus_sand_def s = talus_sand_default();
    const int high = 7 * b->wide / 5;
    s.cell = 0.25 / b->wide;
    s.cells[0] = 4 * b->wide;
    s.cells[1] = b->dim == 2 ? high + 2 : b->wide;
    s.cells[2] = high + 2;
    s.height = HEIGHT;
    s.face[b->dim - 1][0] = TALUS_FACE_STICK;
    TL_TRY(talus_world_add_sand(w, &s));
    const double size = s.cell / b->per_edge;
    const int n = b->per_edge * b->wide, up = b->per_edge * high;
    const int count = b->dim == 2 ? n * up : n * n * up;
    for (int i = 0; i < count; i++) {
        const double x[3] = {(i % n + 0.5) * size, ((b->dim == 2 ? i / n : i / n % n) + 0.5) * size,
                             b->dim == 2 ? 0.0 : (i / n / n + 0.5) * size};
        TL_TRY(talus_world_add_particles(w, 1, x, NULL, size, s.fraction));
    }
    return TALUS_OK;
}

// Seconds of the processor, of all threads, for one sweep over the problem of the last step.
static talus_status sweep(talus_context *ctx, const talus_world *w, const bench *b, double *out) {
    enum { SWEEPS = 100 };
    const talus_problem_info info = talus_problem_get_info(w->problem);
    talus_solver *s = NULL;
    talus_solve_info done;
    double *r = NULL;
    talus_status status = TALUS_OK;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", b->threads);
    TL_GOTO(TL_ALLOC(ctx, (int64_t)info.dim * info.count, &r));
    TL_GOTO(talus_solver_create(ctx, b->solver, &s));
    TL_GOTO(talus_solver_set(s, "iterations", "100"));
    TL_GOTO(talus_solver_set(s, "tolerance", "1e-15"));
    TL_GOTO(talus_solver_set(s, "threads", threads));
    TL_GOTO(talus_solver_prepare(s, w->problem));
    *out = INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < (int64_t)info.dim * info.count; i++) r[i] = 0.0;
        const clock_t begin = clock();
        TL_GOTO(talus_solver_solve(s, r, &done));
        *out = fmin(*out, (double)(clock() - begin) / CLOCKS_PER_SEC / SWEEPS);
    }
done:
    talus_solver_destroy(s);
    tl_free(ctx, r);
    return status;
}

static talus_status run(talus_context *ctx, const bench *b) {
    talus_world_def def = talus_world_default();
    talus_world *w = NULL;
    talus_status status = TALUS_OK;
    talus_ledger l = {0}, least = {.assemble_seconds = INFINITY, .certify_seconds = INFINITY};
    double all = 0.0, solve = 0.0, gather = INFINITY, one = 0.0, first = 0.0;
    double longest = 0.0;
    int64_t iterations = 0, missed = 0;
    int32_t first_iterations = 0;
    clock_t begin = clock();
    def.dim = b->dim;
    def.threads = b->threads;
    def.solver = b->solver;
    def.tolerance = b->tolerance;
    def.scheme = TALUS_SCHEME_FIXED_POINT;
    def.step = STEP;
    def.time_limit = 1e6;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == b->dim - 1 ? -9.81 : 0.0;
    TL_TRY(talus_world_create(ctx, &def, &w));
    TL_GOTO(fill(w, b));
    for (int k = 0; k <= b->steps; k++) {
        TL_GOTO(talus_world_step(w, &l));
        missed += l.missed;
        if (k == 0) {
            first = l.total_seconds;
            first_iterations = l.iterations;
            begin = clock();
            continue;
        }
        all += l.total_seconds;
        longest = fmax(longest, l.total_seconds);
        solve += l.solve_seconds;
        iterations += l.iterations;
        least.assemble_seconds = fmin(least.assemble_seconds, l.assemble_seconds);
        least.certify_seconds = fmin(least.certify_seconds, l.certify_seconds);
    }
    const double cpu = (double)(clock() - begin) / CLOCKS_PER_SEC / b->steps;
    TL_GOTO(sweep(ctx, w, b, &one));
    const double nodes = (double)w->sand->cells.nodes, grains = (double)w->sand->grains.count;
    TL_GOTO(tl_sand_order(w->sand, b->threads));
    TL_GOTO(tl_cells_build(ctx, &w->sand->cells, w->sand->grains.count));
    const tl_step step = {.h = STEP, .threads = b->threads};
    for (int k = 0; k < 3 && w->sand->cells.nodes <= w->sand->node_room; k++) {
        const double start = tl_seconds();
        tl_sand_gather(w->sand, &step);
        gather = fmin(gather, tl_seconds() - start);
    }
    printf("%dD, %.0f particles, %.0f nodes, %d threads, %s to %g; first step %.4g s, %d "
           "iterations; %d missed\n",
           b->dim, grains, nodes, b->threads, b->solver, b->tolerance, first, (int)first_iterations,
           (int)missed);
    printf(
        "step %.4g s (longest %.4g s), %.4g s of the processor (solve %.4g s), %.1f iterations\n",
        all / b->steps, longest, cpu, solve / b->steps, (double)iterations / b->steps);
    printf("sweep %.3f us per node; assemble %.3f, certify %.3f us per node; particles to grid "
           "%.3f us per particle\n",
           1e6 * one / nodes, 1e6 * least.assemble_seconds / nodes,
           1e6 * least.certify_seconds / nodes, 1e6 * gather / grains);
done:
    talus_world_destroy(w);
    return status;
}

int main(int count, char **word) {
    const bench b = {.dim = count > 1 ? atoi(word[1]) : 3,
                     .wide = count > 2 ? atoi(word[2]) : 12,
                     .per_edge = count > 3 ? atoi(word[3]) : 2,
                     .steps = count > 4 ? atoi(word[4]) : 20,
                     .threads = count > 5 ? atoi(word[5]) : 1,
                     .solver = count > 6 ? word[6] : "nlgs",
                     .tolerance = count > 7 ? atof(word[7]) : 1e-3};
    talus_context *ctx;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    const talus_status status = run(ctx, &b);
    if (status != TALUS_OK) fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    talus_context_destroy(ctx);
    return status != TALUS_OK;
}
