// SPDX-License-Identifier: Apache-2.0
#include "support/examples.h"
#include "base/rng.h"
#include "support/packing.h"
#include "support/scenes.h"
#include <math.h>

// A chain of 3 masses on rods (two constraint rows) dragged over a floor, in the plane.
static talus_status examples_chain(talus_context *ctx, talus_problem **out) {
    const double step = 1e-2, gravity = 9.81;
    double mass[12] = {0.0}, f[6], h[12] = {0.0}, w[6] = {0.0}, mu[3] = {0.3, 0.3, 0.3};
    int32_t body[3] = {0, 1, 2}, body_start[4] = {0, 2, 4, 6};
    int64_t start[4] = {0, 1, 2, 3};
    for (int i = 0; i < 3; i++) {
        mass[4 * i] = mass[4 * i + 3] = 1.0 + i;
        f[2 * i] = (1.0 + i) * (i == 2 ? 0.5 : 0.0); // the last one was given a pull
        f[2 * i + 1] = -(1.0 + i) * gravity * step;
        h[4 * i + 1] = 1.0; // rows of a contact: normal y, tangent x
        h[4 * i + 2] = 1.0;
    }
    const int64_t c_start[3] = {0, 2, 4};
    const int32_t c_index[4] = {0, 2, 2, 4};
    const double c_value[4] = {-1.0, 1.0, -1.0, 1.0}, k[2] = {0.0, 0.0};
    return talus_problem_create_global(
        ctx,
        &(talus_global_def){
            .dim = 2,
            .count = 3,
            .body_count = 3,
            .body_start = body_start,
            .mass_block = mass,
            .h_row_start = start,
            .h_body = body,
            .h_block = h,
            .f = f,
            .w = w,
            .c = {.rows = 2, .cols = 6, .start = c_start, .index = c_index, .value = c_value},
            .k = k,
            .law = {.mu = mu}},
        out);
}

// Dense local problem with blocks of six, as stresses of a continuum have: W = A Aᵀ + 0.5.
static talus_status examples_tensor(talus_context *ctx, talus_problem **out) {
    enum { D = 6, N = 5, SIZE = D * N, COLS = 20 };
    tl_rng rng = {.state = 3};
    double a[SIZE][COLS], q[SIZE], mu[N], block[N * N * D * D];
    int64_t start[N + 1];
    int32_t col[N * N];
    for (int i = 0; i < SIZE; i++) {
        for (int k = 0; k < COLS; k++) a[i][k] = tl_rng_normal(&rng) / sqrt(COLS);
        q[i] = tl_rng_normal(&rng) - (i % D == 0 ? 1.0 : 0.0);
    }
    for (int i = 0; i < N; i++) {
        mu[i] = 0.4;
        start[i + 1] = (int64_t)(i + 1) * N;
        for (int j = 0; j < N; j++) {
            col[i * N + j] = j;
            for (int m = 0; m < D; m++)
                for (int n = 0; n < D; n++) {
                    double s = i == j && m == n ? 0.5 : 0.0;
                    for (int k = 0; k < COLS; k++) s += a[i * D + m][k] * a[j * D + n][k];
                    block[((i * N + j) * D + m) * D + n] = s;
                }
        }
    }
    start[0] = 0;
    return talus_problem_create_local(ctx,
                                      &(talus_local_def){.dim = D,
                                                         .count = N,
                                                         .row_start = start,
                                                         .col = col,
                                                         .block = block,
                                                         .q = q,
                                                         .law = {.mu = mu}},
                                      out);
}

// One of the three makes the problem: a function, a packing or a scene.
typedef struct examples_row {
    example text;
    talus_status (*make)(talus_context *ctx, talus_problem **out);
    packing_def packing; // dim 0: none
    scene_def scene;
} examples_row;

static const examples_row examples_rows[] = {
    {.text = {"cube-sticks", "Cube at rest",
              "A cube of 1 kg on four corners, pushed with 0.2 of its weight, mu = 0.5: it stays."},
     .scene = {.kind = SCENE_STACK, .n = 1, .mu = 0.5, .push = 0.2}},
    {.text = {"cube-slides", "Cube that slides",
              "The same pushed with 0.8 of its weight: it slides with (0.8 - 0.5) g."},
     .scene = {.kind = SCENE_STACK, .n = 1, .mu = 0.5, .push = 0.8}},
    {.text = {"chain", "Three masses on rods",
              "Three masses in a row, tied by two rods (constraints), dragged over a floor."},
     .make = examples_chain},
    {.text = {"chain-links", "Chain of 12 links",
              "Links on ball joints (constraints) on a floor, the last one pulled sideways."},
     .scene = {.kind = SCENE_CHAIN, .n = 12, .mu = 0.4}},
    {.text = {"packing-3d", "Spheres on a disturbed lattice",
              "64 spheres, one step of 1 ms under gravity with random velocities, mu = 0.5."},
     .packing = {.dim = 3,
                 .nx = 4,
                 .ny = 4,
                 .nz = 4,
                 .mu = 0.5,
                 .disorder = 0.15,
                 .speed = 0.02,
                 .seed = 1}},
    {.text = {"packing-2d", "Disks between walls",
              "96 disks between side walls, one step of 1 ms, mu = 0.3."},
     .packing = {.dim = 2,
                 .nx = 8,
                 .ny = 1,
                 .nz = 12,
                 .mu = 0.3,
                 .disorder = 0.1,
                 .speed = 0.01,
                 .seed = 2,
                 .walls = true}},
    {.text = {"tensor-6", "Blocks of six",
              "Five coupled blocks of dimension six, as stresses of a continuum give."},
     .make = examples_tensor},
    {.text =
         {"sand-6", "Column of sand",
          "27 cells of sand on a floor, pushed with 0.3 of their weight, one stress (six numbers) "
          "each, mu = 0.5."},
     .scene = {.kind = SCENE_SAND, .n = 3, .mu = 0.5, .push = 0.3}},
    {.text = {"stack", "Stack of 6 cubes", "Four contacts between two cubes: redundant."},
     .scene = {.kind = SCENE_STACK, .n = 6}},
    {.text = {"stack-pushed", "Stack of 6 cubes, pushed",
              "The same with mu = 0.5, pushed with 0.3 of the weight."},
     .scene = {.kind = SCENE_STACK, .n = 6, .mu = 0.5, .push = 0.3}},
    {.text = {"tower", "Tower of 10 planks",
              "Five layers of two planks laid crosswise, four contacts at each crossing: there are "
              "four times as many unknown impulses as velocities."},
     .scene = {.kind = SCENE_TOWER, .n = 5}},
    {.text = {"arch", "Arch of 9 stones",
              "A half circle of stones between fixed springers, two contacts at each joint."},
     .scene = {.kind = SCENE_ARCH, .n = 9}},
    {.text = {"wall", "Brick wall", "Six courses of bricks in running bond."},
     .scene = {.kind = SCENE_WALL, .n = 6}},
    {.text = {"wall-twice", "Brick wall, contacts twice",
              "Four courses of bricks; each contact point is there twice."},
     .scene = {.kind = SCENE_WALL, .n = 4, .copies = 2}},
    {.text = {"capsules", "Pile of 10 capsules",
              "Parallel capsules, three contacts between two that touch."},
     .scene = {.kind = SCENE_CAPSULES, .n = 4}},
    {.text = {"bundle", "Bundle of 6 elastic rods",
              "Rods of eight nodes in a pile, contacts at the nodes; the top one is pulled out."},
     .scene = {.kind = SCENE_BUNDLE, .n = 3, .mu = 0.3}},
    {.text = {"mixed-friction", "Wall with mu = 0 and mu = 2",
              "Five courses of bricks; contacts have no friction and much friction in turn."},
     .scene = {.kind = SCENE_WALL, .n = 5, .mixed = true}},
    {.text = {"hard/masses", "Light and heavy cubes",
              "Stack of 6 cubes, every other one 1e6 times as heavy as its neighbours."},
     .scene = {.kind = SCENE_STACK, .n = 6, .mass_ratio = 1e6}},
    {.text = {"hard/units-mixed", "Capsules in millimetres, tonnes and milliseconds",
              "The pile of capsules: lengths times 1e3, masses times 1e-3, times times 1e3."},
     .scene = {.kind = SCENE_CAPSULES, .n = 4, .length = 1e3, .mass = 1e-3, .time = 1e3}},
    {.text = {"hard/units-small", "Arch in micrometres and milligrams",
              "The arch with lengths and masses times 1e6: all numbers are large."},
     .scene = {.kind = SCENE_ARCH, .n = 9, .length = 1e6, .mass = 1e6}},
    {.text = {"hard/units-large", "Tower in megametres and kilotonnes",
              "The tower with lengths and masses times 1e-6: all numbers are small, so that doing "
              "nothing passes as solved in the natural residual; look at residual."},
     .scene = {.kind = SCENE_TOWER, .n = 5, .length = 1e-6, .mass = 1e-6}},
    {.text =
         {"hard/squeezed", "Cubes between closing walls",
          "Two cubes between walls that approach each other: no velocity is feasible, there is no "
          "solution."},
     .scene = {.kind = SCENE_SQUEEZE, .n = 2, .mu = 0.3}},
};

enum { EXAMPLES_COUNT = sizeof examples_rows / sizeof *examples_rows };

const example *example_at(int index) {
    return index >= 0 && index < EXAMPLES_COUNT ? &examples_rows[index].text : NULL;
}

talus_status example_create(talus_context *ctx, int index, talus_problem **out) {
    const examples_row *row = &examples_rows[index];
    if (row->make) return row->make(ctx, out);
    if (row->packing.dim > 0) return packing_create(ctx, &row->packing, out);
    return scene_create(ctx, &row->scene, out);
}
