// SPDX-License-Identifier: Apache-2.0
// Read a scene, simulate it and draw three moments of it as SVG on standard output: grains coloured
// by speed, and lines as thick as the force through each contact.
//     collapse SCENE.yaml [UNTIL] > collapse.svg        (UNTIL in seconds)
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

enum { MOMENTS = 3 };
static const double wide = 0.90, high = 0.29, left = -0.02; // what is shown [m]

static void draw(const talus_world *w, double h, int moment) {
    talus_body_view b;
    talus_contact_view c;
    talus_world_bodies(w, &b);
    talus_world_contacts(w, &c);
    printf("<g transform='matrix(1000 0 0 -1000 %.1f %.1f)'>\n", -1000.0 * left,
           1000.0 * high * (moment + 1));
    for (int32_t i = 0; i < b.count; i++) {
        const double *x = b.position + 3 * i, *v = b.velocity + 3 * i;
        talus_shape_def shape;
        if (!talus_world_shape_at(w, b.shape[i], &shape) || shape.kind != TALUS_SHAPE_SPHERE)
            continue;
        const double fast = fmin(1.0, hypot(v[0], v[1]) / 1.5);
        printf("<circle cx='%.4f' cy='%.4f' r='%.4f' fill='rgb(%.0f,%.0f,%.0f)'/>\n", x[0], x[1],
               shape.radius, 232.0 - 40.0 * fast, 220.0 - 110.0 * fast, 200.0 - 160.0 * fast);
    }
    for (int32_t i = 0; i < c.count; i++) {
        const double *p = c.impulse + 3 * i, force = hypot(p[0], p[1]) / h;
        const double *from = b.position + 3 * c.a[i], *to = b.position + 3 * c.b[i];
        if (b.mass[c.a[i]] <= 0.0 || b.mass[c.b[i]] <= 0.0) continue;
        if (force > 0.05) // [N]: the weight of a disk is about 3 N per metre of depth
            printf("<path d='M%.4f %.4fL%.4f %.4f' stroke='#8a3324' stroke-width='%.5f'/>\n",
                   from[0], from[1], to[0], to[1], fmin(0.006, 4e-5 * force));
    }
    printf("<path d='M%.3f 0H%.3f' stroke='#555' stroke-width='0.003'/></g>\n", left, left + wide);
    printf("<text x='%.0f' y='%.0f' font-family='sans-serif' font-size='24'>t = %.2f s</text>\n",
           1000.0 * wide - 150.0, 1000.0 * high * moment + 40.0, talus_world_time(w));
}

int main(int argc, char **argv) {
    talus_context *ctx = NULL;
    talus_scene *scene = NULL;
    talus_world *world = NULL;
    talus_ledger l = {0};
    double worst = 0.0;
    int moment = 0;
    const char *path = argc > 1 ? argv[1] : TALUS_EXAMPLE_SCENE;
    bool good = talus_context_create(NULL, &ctx) == TALUS_OK &&
                talus_scene_read(ctx, path, NULL, 0, &scene) == TALUS_OK &&
                talus_scene_make_world(scene, &world) == TALUS_OK;
    const double until = argc > 2 ? strtod(argv[2], NULL) : 0.03;
    printf("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f'>\n", 1000.0 * wide,
           1000.0 * high * MOMENTS + 10.0);
    while (good && moment < MOMENTS) {
        good = talus_scene_advance(scene, world) == TALUS_OK &&
               talus_world_step(world, &l) == TALUS_OK;
        worst = fmax(worst, l.residual);
        if (good && l.time >= until * (moment + 1) / MOMENTS - 1e-9) draw(world, l.h, moment++);
    }
    printf("</svg>\n");
    if (good)
        fprintf(stderr, "%d grains, %d contacts at the end; worst residual of %lld steps: %.1e\n",
                l.bodies, l.contacts, (long long)l.step, worst);
    else
        fprintf(stderr, "collapse: %s\n", ctx ? talus_context_last_error(ctx) : "no memory");
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    talus_context_destroy(ctx);
    return good ? 0 : 1;
}
