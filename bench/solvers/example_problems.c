// SPDX-License-Identifier: Apache-2.0
// Writes the files of examples/problems:   bench/example_problems DIRECTORY
#include "base/rng.h"
#include "support/packing.h"
#include "talus/talus.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct example {
    const char *name, *title, *description;
} example;

static int write_example(talus_context *ctx, const char *directory, const example *e,
                         talus_problem *p) {
    char path[4096], title[128], text[512];
    snprintf(path, sizeof path, "%s/%s.hdf5", directory, e->name);
    snprintf(title, sizeof title, "%s", e->title);
    snprintf(text, sizeof text, "%s", e->description);
    const talus_fclib_extra extra = {.title = title, .description = text};
    const talus_status status = talus_fclib_write(ctx, path, p, &extra);
    talus_problem_destroy(p);
    if (status == TALUS_OK) return 0;
    fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    return 1;
}

// A cube of side 1 m on a plane, touching at its four lower corners (three unknowns too many:
// hyperstatic), pushed along x by `push` times its weight.
static talus_status make_cube(talus_context *ctx, double push, double friction,
                              talus_problem **out) {
    const double step = 1e-2, weight = 9.81;
    double mass[36] = {0.0}, f[6] = {push * weight * step, 0.0, -weight * step}, h[4 * 18],
           w[12] = {0.0};
    double mu[4];
    int32_t body[4] = {0}, body_start[2] = {0, 6};
    int64_t start[5] = {0, 1, 2, 3, 4};
    for (int k = 0; k < 6; k++) mass[7 * k] = k < 3 ? 1.0 : 1.0 / 6.0;
    const int axis[3] = {2, 0, 1}; // rows of a contact: normal z, tangents x and y
    for (int c = 0; c < 4; c++) {
        const double arm[3] = {c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, -0.5};
        for (int i = 0; i < 3; i++) {
            double e[3] = {0.0}, *row = h + 18 * c + 6 * i;
            e[axis[i]] = 1.0;
            for (int k = 0; k < 3; k++) {
                row[k] = e[k];
                row[3 + k] = arm[(k + 1) % 3] * e[(k + 2) % 3] - arm[(k + 2) % 3] * e[(k + 1) % 3];
            }
        }
        mu[c] = friction;
    }
    return talus_problem_create_global(ctx,
                                       &(talus_global_def){.dim = 3,
                                                           .count = 4,
                                                           .body_count = 1,
                                                           .body_start = body_start,
                                                           .mass_block = mass,
                                                           .h_row_start = start,
                                                           .h_body = body,
                                                           .h_block = h,
                                                           .f = f,
                                                           .w = w,
                                                           .law = {.mu = mu}},
                                       out);
}

// A chain of 3 masses on rods (two constraint rows) dragged over a floor, in the plane.
static talus_status make_chain(talus_context *ctx, talus_problem **out) {
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
static talus_status make_tensor(talus_context *ctx, talus_problem **out) {
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

int main(int argc, char **argv) {
    talus_context *ctx;
    if (argc != 2) {
        fprintf(stderr, "usage: example_problems DIRECTORY\n");
        return 2;
    }
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    const packing_def heap = {
        .dim = 3, .nx = 4, .ny = 4, .nz = 4, .mu = 0.5, .disorder = 0.15, .speed = 0.02, .seed = 1};
    const packing_def wall = {.dim = 2,
                              .nx = 8,
                              .ny = 1,
                              .nz = 12,
                              .mu = 0.3,
                              .disorder = 0.1,
                              .speed = 0.01,
                              .seed = 2,
                              .walls = true};
    talus_problem *p = NULL;
    int failed = 0;
#define EXAMPLE(make, name, title, description)                                                    \
    failed |=                                                                                      \
        (make) != TALUS_OK || write_example(ctx, argv[1], &(example){name, title, description}, p)
    EXAMPLE(make_cube(ctx, 0.2, 0.5, &p), "cube-sticks", "Cube at rest",
            "A cube of 1 kg on four corners, pushed with 0.2 of its weight, mu = 0.5: it stays.");
    EXAMPLE(make_cube(ctx, 0.8, 0.5, &p), "cube-slides", "Cube that slides",
            "The same pushed with 0.8 of its weight: it slides with (0.8 - 0.5) g.");
    EXAMPLE(make_chain(ctx, &p), "chain", "Three masses on rods",
            "Three masses in a row, tied by two rods (constraints), dragged over a floor.");
    EXAMPLE(packing_create(ctx, &heap, &p), "packing-3d", "Spheres on a disturbed lattice",
            "64 spheres, one step of 1 ms under gravity with random velocities, mu = 0.5.");
    EXAMPLE(packing_create(ctx, &wall, &p), "packing-2d", "Disks between walls",
            "96 disks between side walls, one step of 1 ms, mu = 0.3.");
    EXAMPLE(make_tensor(ctx, &p), "tensor-6", "Blocks of six",
            "Five coupled blocks of dimension six, as stresses of a continuum give.");
    if (failed) fprintf(stderr, "%s\n", talus_context_last_error(ctx));
    talus_context_destroy(ctx);
    return failed;
}
