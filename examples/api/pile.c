// SPDX-License-Identifier: Apache-2.0
// A triangular pile of equal disks at rest under gravity: build the problem, solve it, certify it,
// and draw the forces between the disks as SVG on standard output.
//     pile [ROWS] [MU] > pile.svg            (default: 12 rows, mu = 0.4)
// The weight of the pile must come out as the sum of the impulses on the floor.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

enum { MOST = 60 };                              // rows
static const double step = 1e-3, gravity = 9.81; // [s], [m/s²]; disks have radius 1 m, mass 1 kg

static double px[MOST * MOST], py[MOST * MOST]; // centres
static int32_t body[8 * MOST * MOST], first[4 * MOST * MOST], second[4 * MOST * MOST];
static int64_t start[4 * MOST * MOST + 1];
static double h[8 * MOST * MOST * 6], w[8 * MOST * MOST], mu[4 * MOST * MOST], r[8 * MOST * MOST];
static int32_t body_start[MOST * MOST + 1];
static double mass[9 * MOST * MOST], f[3 * MOST * MOST];

// Rows (n, t) of H for one disk: u += sign (n, t)·(v + ω × arm), arm = side n (radius 1).
static void block(double *out, double sign, double nx, double ny, double side) {
    out[0] = sign * nx, out[1] = sign * ny, out[2] = 0.0;
    out[3] = -sign * ny, out[4] = sign * nx, out[5] = sign * side;
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 12;
    const double friction = argc > 2 ? atof(argv[2]) : 0.4;
    if (rows < 1 || rows > MOST) return fprintf(stderr, "pile: 1 to %d rows\n", MOST), 2;
    int32_t bodies = 0, n = 0;
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < rows - row; k++, bodies++) {
            px[bodies] = 2.0 * k + row, py[bodies] = 1.0 + row * sqrt(3.0);
            body_start[bodies + 1] = 3 * bodies + 3;
            mass[9 * bodies] = mass[9 * bodies + 4] = 1.0, mass[9 * bodies + 8] = 0.5;
            f[3 * bodies + 1] = -gravity * step;
        }
    for (int32_t i = 0; i < bodies; i++)
        for (int32_t j = -1; j < i; j++) { // j = −1: the floor
            const double dx = j < 0 ? 0.0 : px[i] - px[j], dy = j < 0 ? py[i] : py[i] - py[j];
            const double distance = hypot(dx, dy), contact = j < 0 ? 1.0 : 2.0;
            if (distance > contact + 1e-9) continue;
            int64_t e = start[n];
            if (j >= 0) body[e] = j, block(h + 6 * e++, -1.0, dx / distance, dy / distance, 1.0);
            body[e] = i, block(h + 6 * e++, 1.0, dx / distance, dy / distance, -1.0);
            mu[n] = friction, first[n] = i, second[n] = j, start[++n] = e;
        }

    talus_context *ctx = NULL;
    talus_problem *problem = NULL;
    talus_solver *solver = NULL;
    talus_solve_info info = {0};
    talus_certificate certificate = {0};
    const talus_global_def def = {.dim = 2,
                                  .count = n,
                                  .body_count = bodies,
                                  .body_start = body_start,
                                  .mass_block = mass,
                                  .h_row_start = start,
                                  .h_body = body,
                                  .h_block = h,
                                  .f = f,
                                  .w = w,
                                  .law = {.mu = mu}};
    int result = 1;
    if (talus_context_create(NULL, &ctx) == TALUS_OK &&
        talus_problem_create_global(ctx, &def, &problem) == TALUS_OK &&
        talus_solver_create(ctx, "nlgs", &solver) == TALUS_OK &&
        talus_solver_set(solver, "tolerance", "1e-12") == TALUS_OK &&
        talus_solver_prepare(solver, problem) == TALUS_OK &&
        talus_solver_solve(solver, r, &info) == TALUS_OK &&
        talus_certify(problem, r, &certificate) == TALUS_OK) {
        double floor = 0.0;
        printf("<svg xmlns='http://www.w3.org/2000/svg' viewBox='-2 -1 %d %.0f'>\n"
               "<g transform='matrix(1 0 0 -1 0 %.0f)'>\n",
               2 * rows + 2, rows * 1.74 + 2, rows * 1.74);
        for (int32_t i = 0; i < bodies; i++)
            printf("<circle cx='%.3f' cy='%.3f' r='0.98' fill='#e8dcc8'/>\n", px[i], py[i]);
        for (int32_t c = 0; c < n; c++) {
            const int32_t i = first[c], j = second[c];
            const double size = hypot(r[2 * c], r[2 * c + 1]) / (rows * gravity * step);
            if (j < 0) floor += r[2 * c];
            printf("<path d='M%.3f %.3f L%.3f %.3f' stroke='#8a3324' stroke-width='%.3f'/>\n",
                   px[i], py[i], j < 0 ? px[i] : px[j], j < 0 ? 0.0 : py[j], 1.2 * size);
        }
        printf("<path d='M-2 0 H%d' stroke='#444' stroke-width='0.1'/></g></svg>\n", 2 * rows);
        fprintf(stderr,
                "%d disks, %d contacts: %s after %d sweeps, residual %.1e\n"
                "floor carries %.9f of the weight; open %d, stick %d, slip %d\n",
                bodies, n, talus_outcome_text(info.outcome), info.iterations, certificate.residual,
                floor / (bodies * gravity * step), certificate.open, certificate.stick,
                certificate.slip);
        result = certificate.residual > 1e-8;
    } else {
        fprintf(stderr, "pile: %s\n", ctx ? talus_context_last_error(ctx) : "no context");
    }
    talus_solver_destroy(solver), talus_problem_destroy(problem), talus_context_destroy(ctx);
    return result;
}
