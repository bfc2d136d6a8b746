// SPDX-License-Identifier: Apache-2.0
// A solver (auto, or the one named) on scenes with more contacts than the motion can tell apart,
// with unequal masses or odd units: dimensionless residual 1e-8 within 10 s each, or what was
// reached.
//     bench/degenerate [SOLVER]
#include "support/bench_run.h"
#include "support/scenes.h"
#include <stdio.h>

typedef struct degenerate_row {
    const char *name;
    scene_def def;
} degenerate_row;

static const degenerate_row rows[] = {
    {"tower of 1000 planks", {.kind = SCENE_TOWER, .n = 500}},
    {"tower of 100 planks, pushed", {.kind = SCENE_TOWER, .n = 50, .push = 0.3}},
    {"stack of 1000 cubes", {.kind = SCENE_STACK, .n = 1000}},
    {"arch of 200 stones", {.kind = SCENE_ARCH, .n = 200}},
    {"wall, every contact three times", {.kind = SCENE_WALL, .n = 20, .copies = 3}},
    {"wall, mu = 0 and 2", {.kind = SCENE_WALL, .n = 20, .mixed = true}},
    {"capsules, mu = 0 and 2", {.kind = SCENE_CAPSULES, .n = 12, .mixed = true}},
    {"8 cubes, masses 1 : 1e6", {.kind = SCENE_STACK, .n = 8, .mass_ratio = 1e6}},
    {"50 cubes, masses 1 : 1e6", {.kind = SCENE_STACK, .n = 50, .mass_ratio = 1e6}},
    {"12 planks, masses 1 : 1e6", {.kind = SCENE_TOWER, .n = 6, .mass_ratio = 1e6}},
    {"arch, masses 1 : 1e6", {.kind = SCENE_ARCH, .n = 20, .mass_ratio = 1e6}},
    {"wall of 6 courses, masses 1 : 1e6", {.kind = SCENE_WALL, .n = 6, .mass_ratio = 1e6}},
    {"wall of 12 courses, masses 1 : 1e6", {.kind = SCENE_WALL, .n = 12, .mass_ratio = 1e6}},
    {"10 capsules, masses 1 : 1e6", {.kind = SCENE_CAPSULES, .n = 4, .mass_ratio = 1e6}},
    {"36 capsules, masses 1 : 1e6", {.kind = SCENE_CAPSULES, .n = 8, .mass_ratio = 1e6}},
    {"capsules, all units 1e6",
     {.kind = SCENE_CAPSULES, .n = 8, .length = 1e6, .mass = 1e6, .time = 1e6}},
    {"capsules, all units 1e-6",
     {.kind = SCENE_CAPSULES, .n = 8, .length = 1e-6, .mass = 1e-6, .time = 1e-6}},
    {"tower, lengths 1e6, masses 1e-6",
     {.kind = SCENE_TOWER, .n = 20, .length = 1e6, .mass = 1e-6}},
    {"pile of 210 capsules", {.kind = SCENE_CAPSULES, .n = 20}},
    {"squeezed cubes (no solution)", {.kind = SCENE_SQUEEZE, .n = 4}},
};

static void run(talus_context *ctx, const char *solver, const degenerate_row *row) {
    talus_problem *p = NULL;
    bench_run x;
    if (scene_create(ctx, &row->def, &p) != TALUS_OK)
        fprintf(stderr, "%s: %s\n", row->name, talus_context_last_error(ctx));
    else if (bench_run_solve(ctx, p, solver, "1e-8", "1", &x))
        printf("\"%s\",%d,%d,%d,%s,%d,%.4g,%.3g\n", row->name, x.facts.dim, x.facts.count,
               x.facts.dof, talus_outcome_text(x.info.outcome), x.info.iterations,
               1e3 * (x.info.prepare_seconds + x.info.solve_seconds), x.judged.residual);
    fflush(stdout);
    talus_problem_destroy(p);
}

int main(int argc, char **argv) {
    talus_context *ctx = NULL;
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    puts("scene,dim,contacts,dof,outcome,iterations,ms,residual");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        run(ctx, argc > 1 ? argv[1] : "auto", &rows[k]);
    talus_context_destroy(ctx);
    return 0;
}
