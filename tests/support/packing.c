// SPDX-License-Identifier: Apache-2.0
#include "packing.h"
#include "base/rng.h"
#include <math.h>

typedef struct packing {
    const packing_def *def;
    tl_rng rng;
    rigid scene;
} packing;

static int32_t packing_body(const packing_def *def, int32_t x, int32_t y, int32_t z) {
    return (z * def->ny + y) * def->nx + x;
}

// A contact of `body` with `other` (−1: fixed), the normal pointing from `other` to `body`,
// disturbed a little.
static void packing_contact(packing *p, int32_t body, int32_t other, const double normal[3]) {
    const double radius = 0.5;
    double n[3], near[3], far[3], length = 0.0;
    for (int k = 0; k < 3; k++) n[k] = normal[k];
    for (int k = 0; k < p->def->dim; k++)
        n[k] += p->def->disorder * tl_rng_range(&p->rng, -1.0, 1.0);
    for (int k = 0; k < 3; k++) length += n[k] * n[k];
    for (int k = 0; k < 3; k++) n[k] /= sqrt(length);
    for (int k = 0; k < 3; k++) {
        near[k] = -radius * n[k];
        far[k] = radius * n[k];
    }
    rigid_contact_arms(&p->scene, body, other, near, far, n, p->def->mu);
}

// The first face diagonals of a body, those that lead to bodies of the packing.
static void packing_diagonals(packing *p, int32_t x, int32_t y, int32_t z) {
    static const int step[6][3] = {{1, 1, 0},  {1, 0, 1},  {0, 1, 1},
                                   {1, -1, 0}, {-1, 0, 1}, {0, -1, 1}};
    const packing_def *def = p->def;
    for (int k = 0; k < def->diagonals; k++) {
        const int32_t to[3] = {x + step[k][0], y + step[k][1], z + step[k][2]};
        if (to[0] < 0 || to[0] >= def->nx || to[1] < 0 || to[1] >= def->ny || to[2] >= def->nz)
            continue;
        const double n[3] = {-step[k][0], -step[k][1], -step[k][2]};
        packing_contact(p, packing_body(def, x, y, z), packing_body(def, to[0], to[1], to[2]), n);
    }
}

void packing_build(const packing_def *def, rigid *out) {
    static const double axis[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    static const double back[3][3] = {{-1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}};
    const int d = def->dim, up = d - 1;
    const int32_t bodies = def->nx * def->ny * def->nz;
    packing p = {.def = def, .rng = {.state = def->seed}};
    rigid_init(&p.scene, d, true);
    const double step = 1e-3, gravity = 9.81, inertia = (d == 2 ? 0.5 : 0.4) * 0.25;
    for (int32_t i = 0; i < bodies; i++) {
        const double m = 1.0 + def->disorder * tl_rng_range(&p.rng, -1.0, 1.0);
        const double round[3] = {m * inertia, m * inertia, m * inertia}, centre[3] = {0.0};
        double v[6];
        for (int k = 0; k < p.scene.size; k++)
            v[k] = def->speed * tl_rng_normal(&p.rng) - (k == up ? gravity * step : 0.0);
        (void)rigid_body(&p.scene, m, round, centre, v);
    }
    for (int32_t z = 0; z < def->nz; z++)
        for (int32_t y = 0; y < def->ny; y++)
            for (int32_t x = 0; x < def->nx; x++) {
                const int32_t self = packing_body(def, x, y, z);
                if (z == 0) packing_contact(&p, self, -1, axis[up]);
                if (def->walls && x == 0) packing_contact(&p, self, -1, axis[0]);
                if (def->walls && x == def->nx - 1) packing_contact(&p, self, -1, back[0]);
                if (x + 1 < def->nx)
                    packing_contact(&p, self, packing_body(def, x + 1, y, z), back[0]);
                if (d == 3 && y + 1 < def->ny)
                    packing_contact(&p, self, packing_body(def, x, y + 1, z), back[1]);
                if (z + 1 < def->nz)
                    packing_contact(&p, self, packing_body(def, x, y, z + 1), back[up]);
                if (d == 3) packing_diagonals(&p, x, y, z);
            }
    *out = p.scene;
}

talus_status packing_create(talus_context *ctx, const packing_def *def, talus_problem **out) {
    rigid scene;
    packing_build(def, &scene);
    return rigid_finish(ctx, &scene, NULL, out);
}
