// SPDX-License-Identifier: Apache-2.0
// d-slide, d-four and d-500: projected and Newton one-contact solvers inside Gauss-Seidel sweeps
// [Dumont 2013, section 4]. Every step starts from zero impulses there (18 sweeps of SBP are what a
// contraction by 1 − 0.6 takes from 1e-3 to 1e-10), and so do these.
#define _GNU_SOURCE
#include "reproduce.h"
#include <math.h>
#include <stdlib.h>

// A projected step of 0.6 of the reduced mass, as published, needs W_TT < 2/0.6 of its inverse:
// true for disks (3), not for balls (7/2), whose sticking contacts it throws about. So d-slide has
// disks for SBP and SAL, and the others a step of 0.5.
static const struct {
    const char *name, *local, *step, *ball_step;
} dumont_method[] = {{"SBP", "sbp", "0.6", "0.5"},
                     {"SAL", "sal", "0.6", "0.5"},
                     {"EBP", "ebp", "1", "1"},
                     {"EAL", "eal", "1", "1"}};

static bool dumont_world(reproduce *r, int32_t dim, double h, double mu, int method,
                         const char *tolerance, int32_t sweeps, talus_world **out) {
    talus_world_def def = talus_world_default();
    def.dim = dim;
    for (int k = 0; k < 3; k++) def.gravity[k] = k == dim - 1 ? -9.81 : 0.0;
    def.scheme = TALUS_SCHEME_MOREAU_JEAN;
    def.theta = 0.5;
    def.step = h;
    def.solver = "nlgs";
    def.iterations = sweeps;
    def.warm_start = false;
    talus_material_def m = talus_material_default();
    m.friction = mu;
    char *options = cli_text(
        "local=%s step_rule=mass step=%s local_tolerance=1e-14 stop=bipotential "
        "tolerance=%s order=natural momentum=no patience=0 check=1",
        dumont_method[method].local,
        dim == 2 ? dumont_method[method].step : dumont_method[method].ball_step, tolerance);
    const bool good = reproduce_world(r, &def, &m, options, out);
    free(options);
    return good;
}

static bool dumont_fixed(reproduce *r, talus_world *w, const talus_shape_def *shape, double z) {
    talus_body_def body = talus_body_default();
    body.material = 1;
    body.motion.kind = TALUS_MOTION_FIXED;
    body.position[2] = z;
    return reproduce_body(r, w, shape, &body);
}

// ---- d-slide ------------------------------------------------------------------------------------

bool reproduce_slide(reproduce *r) {
    static const double sweeps[] = {18, 18, 1, 1};
    for (int k = 0; k < 4; k++) {
        talus_world *w = NULL;
        reproduce_sums sums;
        const talus_shape_def plane = {.kind = TALUS_SHAPE_HALF_SPACE};
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 5e-3};
        talus_body_def body = talus_body_default();
        body.material = 1;
        const int32_t dim = k < 2 ? 2 : 3;
        const double kept = dim == 2 ? 2.0 / 3.0 : 5.0 / 7.0;
        body.position[dim - 1] = 5e-3;
        body.velocity[0] = 1.5;
        if (!dumont_world(r, dim, 1e-4, 0.7, k, "1e-10", 5000, &w)) return false;
        const bool good = dumont_fixed(r, w, &plane, 0.0) && reproduce_body(r, w, &ball, &body) &&
                          reproduce_run(r, w, 1.0, 2000, NULL, NULL, &sums);
        talus_body_view b;
        talus_world_bodies(w, &b);
        const double v = good ? b.velocity[3] : 0.0,
                     spin = good ? dim == 2 ? -b.spin[5] : b.spin[4] : 0.0;
        talus_world_destroy(w);
        if (!good) return false;
        char *what = cli_text("%s: sweeps of the last step", dumont_method[k].name);
        char *published = cli_text("%.0f", sweeps[k]);
        reproduce_expect(r, what, "", sums.last.iterations, published, sweeps[k] - 1.0,
                         sweeps[k] + 1.0, NULL);
        free(what);
        free(published);
        what = cli_text("%s: speed at the end over initial speed", dumont_method[k].name);
        reproduce_expect(r, what, "", v / 1.5, dim == 2 ? "2/3 (disk)" : "5/7 = 0.714286 (ball)",
                         kept - 1e-8, kept + 1e-8, NULL);
        free(what);
        what = cli_text("%s: slip at the end", dumont_method[k].name);
        reproduce_expect(r, what, "m/s", fabs(v - spin * 5e-3), "0", 0.0, 1e-8, NULL);
        free(what);
    }
    return true;
}

// ---- d-four and d-500 ---------------------------------------------------------------------------

// Balls of radii from low to high, put on a loose grid above the floor of an open box.
static bool dumont_balls(reproduce *r, talus_world *w, int count, double low, double high,
                         double half) {
    const talus_shape_def box = {
        .kind = TALUS_SHAPE_CONTAINER, .half = {half, half, 0.05}, .open_top = true};
    const double pitch = 2.05 * high;
    const int across = (int)floor(2.0 * half / pitch) > 1 ? (int)floor(2.0 * half / pitch) : 1;
    const double slack = half - 0.5 * across * pitch;
    uint64_t seed = 3;
    if (!dumont_fixed(r, w, &box, 0.05)) return false;
    for (int k = 0; k < count; k++) {
        const double radius = low + (high - low) * reproduce_random(&seed, 0.0, 1.0);
        const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
        talus_body_def body = talus_body_default();
        body.material = 1;
        const int at[3] = {k % across, k / across % across, k / (across * across)};
        for (int c = 0; c < 3; c++)
            body.position[c] = (at[c] + 0.5) * pitch - (c < 2 ? half - slack : 0.0) +
                               reproduce_random(&seed, -1.0, 1.0) * 0.02 * low;
        if (!reproduce_body(r, w, &ball, &body)) return false;
    }
    return true;
}

bool reproduce_four(reproduce *r) {
    static const double sweeps[] = {305, 301, 161, 158};
    double first = 0.0;
    for (int k = 0; k < 4; k++) {
        talus_world *w = NULL;
        reproduce_sums sums;
        if (!dumont_world(r, 3, 1e-4, 0.3, k, "1e-12", 5000, &w)) return false;
        const bool good = dumont_balls(r, w, 4, 4e-4, 5e-4, 7e-4) &&
                          reproduce_run(r, w, 1.0, 1000, NULL, NULL, &sums);
        talus_world_destroy(w);
        if (!good) return false;
        const double count = sums.last.iterations;
        if (k == 0) first = count;
        char *what = cli_text("%s: sweeps of the last step", dumont_method[k].name);
        char *published = cli_text("%.0f", sweeps[k]);
        reproduce_expect(r, what, "", count, published, 0.5 * sweeps[k], 2.0 * sweeps[k],
                         "the source does not say where the balls and walls are, and the number of "
                         "sweeps depends on it");
        free(what);
        free(published);
        if (k > 0) {
            what = cli_text("%s: sweeps over those of SBP", dumont_method[k].name);
            published = cli_text("%.2f", sweeps[k] / sweeps[0]);
            reproduce_expect(r, what, "", count / first, published, 0.6 * sweeps[k] / sweeps[0],
                             1.4 * sweeps[k] / sweeps[0], NULL);
            free(what);
            free(published);
        }
        what = cli_text("%s: deepest overlap in the run", dumont_method[k].name);
        reproduce_expect(r, what, "m", sums.penetration, "2e-20 to 3e-12 (last step)", 0.0, 1e-5,
                         NULL);
        free(what);
    }
    return true;
}

bool reproduce_500(reproduce *r) {
    static const double ratio[] = {1.0, 0.8905, 0.7817, 0.8387};
    const int64_t steps = r->quick ? 200 : 1000;
    const int32_t sweeps = r->quick ? 200 : 5000;
    double first = 0.0;
    for (int k = 0; k < 4; k++) {
        talus_world *w = NULL;
        reproduce_sums sums;
        if (!dumont_world(r, 3, 5e-5, 0.3, k, "1e-12", sweeps, &w)) return false;
        const bool good = dumont_balls(r, w, 500, 2.5e-4, 5e-4, 3.5e-3) &&
                          reproduce_run(r, w, 1.0, steps, NULL, NULL, &sums);
        talus_world_destroy(w);
        if (!good) return false;
        if (k == 0) first = sums.solve_seconds;
        char *what = cli_text("%s: sweeps of the last step", dumont_method[k].name);
        reproduce_expect(r, what, "", sums.last.iterations, r->quick ? "5000 (its limit)" : "5000",
                         sweeps, sweeps,
                         "a contact is solved far below the 1e-5 of the source here, and the "
                         "sweeps settle before their limit");
        free(what);
        if (k > 0) {
            what = cli_text("%s: time over that of SBP", dumont_method[k].name);
            char *published = cli_text("%.2f", ratio[k]);
            reproduce_expect(r, what, "", sums.solve_seconds / first, published, 0.0, 1.0,
                             "time per visit of a contact is not that of the source");
            free(what);
            free(published);
        }
        what = cli_text("%s: deepest overlap in the run", dumont_method[k].name);
        reproduce_expect(r, what, "m", sums.penetration, "4e-18 to 5e-6 (last step)", 0.0, 2.5e-5,
                         NULL);
        free(what);
    }
    return true;
}
