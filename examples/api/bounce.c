// SPDX-License-Identifier: Apache-2.0
// Balls of several restitutions dropped on a floor: build a world, step it, watch the highest point
// of every bounce. A ball dropped from height H rises to e² H.
//     bounce [STEP]            (default: 1e-4 s)
#include <stdio.h>
#include <stdlib.h>
#include <talus/world.h>

enum { BALLS = 4 };
static const double radius = 0.05, height = 0.5; // of the lowest point above the floor [m]

static talus_status add_ball(talus_world *w, int32_t floor, int k, double restitution) {
    talus_material_def rubber = talus_material_default();
    talus_body_def body = talus_body_default();
    talus_status status = talus_world_add_material(w, &rubber, &body.material);
    rubber.restitution = restitution;
    if (status == TALUS_OK) status = talus_world_set_pair(w, body.material, floor, &rubber);
    body.position[0] = 0.2 * k;
    body.position[2] = height + radius;
    return status == TALUS_OK ? talus_world_add_body(w, &body, NULL) : status;
}

static talus_status build(talus_context *ctx, double step, talus_world **out) {
    talus_world_def def = talus_world_default();
    def.scheme = TALUS_SCHEME_MOREAU_JEAN;
    def.step = step;
    talus_status status = talus_world_create(ctx, &def, out);
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    const talus_shape_def ground = {.kind = TALUS_SHAPE_HALF_SPACE};
    talus_body_def floor = talus_body_default();
    floor.motion.kind = TALUS_MOTION_FIXED;
    if (status == TALUS_OK) status = talus_world_add_shape(*out, &ball, NULL); // shape 0
    if (status == TALUS_OK) status = talus_world_add_shape(*out, &ground, &floor.shape);
    for (int k = 0; status == TALUS_OK && k < BALLS; k++)
        status = add_ball(*out, 0, k, 0.9 - 0.2 * k);
    return status == TALUS_OK ? talus_world_add_body(*out, &floor, NULL) : status;
}

// Steps until every ball has bounced once and is on its way down again; tops[k] is where it turned.
static talus_status watch(talus_world *w, double tops[BALLS]) {
    talus_ledger ledger;
    talus_body_view bodies;
    double loss = 0.0, start = 0.0;
    for (int k = 0; k < BALLS; k++) tops[k] = 0.0;
    for (int turned = 0; turned < BALLS;) {
        const talus_status status = talus_world_step(w, &ledger);
        if (status != TALUS_OK) return status;
        if (ledger.step == 1) start = ledger.kinetic + ledger.potential;
        loss += ledger.loss_impact;
        talus_world_bodies(w, &bodies);
        for (int k = turned = 0; k < BALLS; k++) {
            const double low = bodies.position[3 * k + 2] - radius;
            if (bodies.velocity[3 * k + 2] > 0.0 && low > tops[k]) tops[k] = low;
            turned += tops[k] > 0.0 && bodies.velocity[3 * k + 2] < 0.0;
        }
    }
    printf("%lld steps to t = %.3f s; impacts took %.3f of %.3f J\n", (long long)ledger.step,
           ledger.time, loss, start);
    return TALUS_OK;
}

int main(int argc, char **argv) {
    const double step = argc > 1 ? atof(argv[1]) : 1e-4;
    talus_context *ctx = NULL;
    talus_world *w = NULL;
    double tops[BALLS];
    int result = 1;
    if (talus_context_create(NULL, &ctx) == TALUS_OK && build(ctx, step, &w) == TALUS_OK &&
        watch(w, tops) == TALUS_OK) {
        result = 0;
        for (int k = 0; k < BALLS; k++) {
            const double e = 0.9 - 0.2 * k, exact = e * e * height;
            printf("e = %.1f: rises to %.4f m, e² H = %.4f m\n", e, tops[k], exact);
            if (tops[k] < exact - 0.01 || tops[k] > exact + 0.01) result = 1;
        }
    } else {
        fprintf(stderr, "bounce: %s\n", ctx ? talus_context_last_error(ctx) : "no context");
    }
    talus_world_destroy(w), talus_context_destroy(ctx);
    return result;
}
