// SPDX-License-Identifier: Apache-2.0
#include "packing.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    const packing_def *def;
    tl_rng rng;
    int d, size;      // contact dimension; unknowns of a body: 3 in 2D, 6 in 3D
    int32_t contacts; //
    int64_t *start;   // contacts + 1
    int32_t *body;    // at most two per contact
    double *h;        // d * size each
    double *w, *mu;
} builder;

static int32_t packing_body(const packing_def *def, int32_t x, int32_t y, int32_t z) {
    return (z * def->ny + y) * def->nx + x;
}

// Rows of H for body `body` at contact point `arm` from its centre, frame rows e (d × d):
// u += sign E (v + ω × arm).
static void packing_block(builder *b, int32_t body, double sign, double e[3][3],
                          const double arm[3]) {
    const int64_t at = b->start[b->contacts + 1]++;
    double *h = b->h + at * b->d * b->size;
    b->body[at] = body;
    for (int i = 0; i < b->d; i++) {
        for (int k = 0; k < b->d; k++) h[i * b->size + k] = sign * e[i][k];
        if (b->d == 2) { // plane (x, z) as components (0, 1): ω × arm = ω (−arm_1, arm_0)
            h[i * b->size + 2] = sign * (e[i][1] * arm[0] - e[i][0] * arm[1]);
        } else { // e·(ω × arm) = ω·(arm × e)
            h[i * b->size + 3] = sign * (arm[1] * e[i][2] - arm[2] * e[i][1]);
            h[i * b->size + 4] = sign * (arm[2] * e[i][0] - arm[0] * e[i][2]);
            h[i * b->size + 5] = sign * (arm[0] * e[i][1] - arm[1] * e[i][0]);
        }
    }
}

// A contact of `body` with `other` (−1: fixed), the normal pointing from `other` to `body` along
// `axis` with the sign given, disturbed a little.
static void packing_contact(builder *b, int32_t body, int32_t other, int axis, double sign) {
    const double radius = 0.5;
    double e[3][3] = {{0.0}}, n[3] = {0.0};
    n[axis] = sign;
    for (int k = 0; k < b->d; k++) n[k] += b->def->disorder * tl_rng_range(&b->rng, -1.0, 1.0);
    double length = 0.0;
    for (int k = 0; k < 3; k++) length += n[k] * n[k];
    for (int k = 0; k < 3; k++) e[0][k] = n[k] / sqrt(length);
    if (b->d == 2) {
        e[1][0] = -e[0][1];
        e[1][1] = e[0][0];
    } else { // a tangent: the axis least aligned with n, made orthogonal
        int least = 0;
        for (int k = 1; k < 3; k++)
            if (fabs(e[0][k]) < fabs(e[0][least])) least = k;
        double t[3], norm = 0.0;
        for (int k = 0; k < 3; k++) t[k] = (double)(k == least) - e[0][least] * e[0][k];
        for (int k = 0; k < 3; k++) norm += t[k] * t[k];
        for (int k = 0; k < 3; k++) e[1][k] = t[k] / sqrt(norm);
        for (int k = 0; k < 3; k++)
            e[2][k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
    }
    double near[3], far[3];
    for (int k = 0; k < 3; k++) {
        near[k] = -radius * e[0][k];
        far[k] = radius * e[0][k];
    }
    b->start[b->contacts + 1] = b->start[b->contacts];
    if (other >= 0 && other < body) packing_block(b, other, -1.0, e, far);
    packing_block(b, body, 1.0, e, near);
    if (other > body) packing_block(b, other, -1.0, e, far);
    b->mu[b->contacts++] = b->def->mu;
}

talus_status packing_create(talus_context *ctx, const packing_def *def, talus_problem **out) {
    const int d = def->dim, size = d == 2 ? 3 : 6, up = d - 1;
    const int32_t bodies = def->nx * def->ny * def->nz;
    const int64_t most =
        (int64_t)bodies * d +
        2 * ((int64_t)def->nx * def->ny + (int64_t)def->nx * def->nz + (int64_t)def->ny * def->nz);
    builder b = {.def = def, .rng = {.state = def->seed}, .d = d, .size = size};
    b.start = calloc((size_t)most + 2, sizeof *b.start);
    b.body = calloc((size_t)most * 2 + 1, sizeof *b.body);
    b.h = calloc((size_t)(most * 2 * d * size) + 1, sizeof *b.h);
    b.w = calloc((size_t)(most * d) + 1, sizeof *b.w);
    b.mu = calloc((size_t)most + 1, sizeof *b.mu);
    int32_t *body_start = calloc((size_t)bodies + 1, sizeof *body_start);
    double *mass = calloc((size_t)bodies * (size_t)(size * size) + 1, sizeof *mass);
    double *f = calloc((size_t)bodies * (size_t)size + 1, sizeof *f);
    talus_status status = TALUS_ERR_MEMORY;
    if (!b.start || !b.body || !b.h || !b.w || !b.mu || !body_start || !mass || !f) goto done;

    const double step = 1e-3, gravity = 9.81, inertia = (d == 2 ? 0.5 : 0.4) * 0.25;
    for (int32_t i = 0; i < bodies; i++) {
        const double m = 1.0 + def->disorder * tl_rng_range(&b.rng, -1.0, 1.0);
        body_start[i + 1] = (i + 1) * size;
        for (int k = 0; k < size; k++) {
            const double own = k < d ? m : m * inertia;
            mass[(int64_t)i * size * size + k * size + k] = own;
            const double v = def->speed * tl_rng_normal(&b.rng) - (k == up ? gravity * step : 0.0);
            f[(int64_t)i * size + k] = own * v;
        }
    }
    for (int32_t z = 0; z < def->nz; z++)
        for (int32_t y = 0; y < def->ny; y++)
            for (int32_t x = 0; x < def->nx; x++) {
                const int32_t self = packing_body(def, x, y, z);
                if (z == 0) packing_contact(&b, self, -1, up, 1.0);
                if (def->walls && x == 0) packing_contact(&b, self, -1, 0, 1.0);
                if (def->walls && x == def->nx - 1) packing_contact(&b, self, -1, 0, -1.0);
                if (x + 1 < def->nx)
                    packing_contact(&b, self, packing_body(def, x + 1, y, z), 0, -1.0);
                if (d == 3 && y + 1 < def->ny)
                    packing_contact(&b, self, packing_body(def, x, y + 1, z), 1, -1.0);
                if (z + 1 < def->nz)
                    packing_contact(&b, self, packing_body(def, x, y, z + 1), up, -1.0);
            }
    status = talus_problem_create_global(ctx,
                                         &(talus_global_def){.dim = d,
                                                             .count = b.contacts,
                                                             .body_count = bodies,
                                                             .body_start = body_start,
                                                             .mass_block = mass,
                                                             .h_row_start = b.start,
                                                             .h_body = b.body,
                                                             .h_block = b.h,
                                                             .f = f,
                                                             .w = b.w,
                                                             .law = {.mu = b.mu}},
                                         out);
done:
    free(b.start);
    free(b.body);
    free(b.h);
    free(b.w);
    free(b.mu);
    free(body_start);
    free(mass);
    free(f);
    return status;
}
