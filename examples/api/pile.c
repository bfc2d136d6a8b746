// SPDX-License-Identifier: Apache-2.0
// A triangular pile of equal disks at rest on a row of fixed ones: build the problem, solve it,
// certify it, and draw the forces between the disks as SVG on standard output.
//     pile [ROWS] [MU] > pile.svg            (default: 14 rows, mu = 0.5)
// At rest the fixed row must carry the weight of the pile.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

enum { MOST = 40, DISKS = MOST * MOST, CONTACTS = 3 * DISKS };
static const double step = 1e-3, gravity = 9.81; // [s], [m/s²]; disks have radius 1 m, mass 1 kg

static double px[DISKS], py[DISKS]; // centres; the first `fixed` ones are held
static int32_t body[2 * CONTACTS], first[CONTACTS], second[CONTACTS], body_start[DISKS + 1];
static int64_t start[CONTACTS + 1];
static double h[2 * CONTACTS * 6], w[2 * CONTACTS], mu[CONTACTS], r[2 * CONTACTS];
static double mass[9 * DISKS], f[3 * DISKS];

// Rows (n, t) of H for one disk: u += sign (n, t)·(v + ω × arm), arm = side n.
static void block(double *out, double sign, double nx, double ny, double side) {
    const double rows[6] = {sign * nx, sign * ny, 0.0, -sign * ny, sign * nx, sign * side};
    for (int k = 0; k < 6; k++) out[k] = rows[k];
}

static void draw(int rows, int32_t fixed, int32_t disks, int32_t contacts) {
    printf("<svg xmlns='http://www.w3.org/2000/svg' viewBox='-2 -1 %d %.0f'>\n"
           "<g transform='matrix(1 0 0 -1 0 %.1f)'>\n",
           2 * rows + 2, rows * 1.74 + 2, rows * 1.74);
    for (int32_t i = 0; i < disks; i++)
        printf("<circle cx='%.3f' cy='%.3f' r='0.98' fill='%s'/>\n", px[i], py[i],
               i < fixed ? "#bbb" : "#e8dcc8");
    for (int32_t c = 0; c < contacts; c++)
        printf("<path d='M%.3f %.3fL%.3f %.3f' stroke='#8a3324' stroke-width='%.3f'/>\n",
               px[first[c]], py[first[c]], px[second[c]], py[second[c]],
               1.2 * hypot(r[2 * c], r[2 * c + 1]) / (rows * gravity * step));
    printf("</g></svg>\n");
}

int main(int argc, char **argv) {
    const int rows = argc > 1 ? atoi(argv[1]) : 14;
    const double friction = argc > 2 ? atof(argv[2]) : 0.5;
    if (rows < 2 || rows > MOST) return fprintf(stderr, "pile: 2 to %d rows\n", MOST), 2;
    const int32_t fixed = rows;
    int32_t disks = 0, n = 0;
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < rows - row; k++, disks++)
            px[disks] = 2.0 * k + row, py[disks] = 1.0 + row * sqrt(3.0);
    for (int32_t i = 0; i < disks - fixed; i++) {
        body_start[i + 1] = 3 * i + 3;
        mass[9 * i] = mass[9 * i + 4] = 1.0, mass[9 * i + 8] = 0.5;
        f[3 * i + 1] = -gravity * step;
    }
    for (int32_t i = fixed; i < disks; i++)
        for (int32_t j = 0; j < i; j++) {
            const double nx = (px[i] - px[j]) / 2.0, ny = (py[i] - py[j]) / 2.0;
            if (hypot(nx, ny) > 1.0 + 1e-9) continue;
            int64_t e = start[n];
            if (j >= fixed) body[e] = j - fixed, block(h + 6 * e++, -1.0, nx, ny, 1.0);
            body[e] = i - fixed, block(h + 6 * e++, 1.0, nx, ny, -1.0);
            mu[n] = friction, first[n] = i, second[n] = j, start[++n] = e;
        }

    talus_context *ctx = NULL;
    talus_problem *problem = NULL;
    talus_solver *solver = NULL;
    talus_solve_info info = {0};
    talus_certificate verdict = {0};
    const talus_global_def def = {.dim = 2,
                                  .count = n,
                                  .body_count = disks - fixed,
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
        talus_solver_set(solver, "stop", "residual") == TALUS_OK &&
        talus_solver_prepare(solver, problem) == TALUS_OK &&
        talus_solver_solve(solver, r, &info) == TALUS_OK &&
        talus_certify(problem, r, &verdict) == TALUS_OK) {
        double carried = 0.0; // vertical impulse on the fixed row
        for (int32_t c = 0; c < n; c++)
            if (second[c] < fixed)
                carried += (r[2 * c] * (py[first[c]] - py[second[c]]) +
                            r[2 * c + 1] * (px[first[c]] - px[second[c]])) /
                           2.0;
        draw(rows, fixed, disks, n);
        fprintf(stderr,
                "%d disks, %d contacts: %s after %d sweeps, residual %.1e\n"
                "the fixed row carries %.6f of the weight; open %d, stick %d, slip %d\n",
                disks, n, talus_outcome_text(info.outcome), info.iterations, verdict.residual,
                carried / ((disks - fixed) * gravity * step), verdict.open, verdict.stick,
                verdict.slip);
        result = verdict.residual > 1e-8;
    } else {
        fprintf(stderr, "pile: %s\n", ctx ? talus_context_last_error(ctx) : "no context");
    }
    talus_solver_destroy(solver), talus_problem_destroy(problem), talus_context_destroy(ctx);
    return result;
}
