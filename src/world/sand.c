// SPDX-License-Identifier: Apache-2.0
// Sand in the world.
#include "base/vec3.h"
#include "world/world_impl.h"
#include <math.h>
#include <string.h>

talus_sand_def talus_sand_default(void) {
    talus_sand_def def = {.cell = 0.01,
                          .cells = {100, 100, 100},
                          .density = 2600.0,
                          .fraction = 0.6,
                          .friction = 0.5,
                          .friction_flow = 0.5,
                          .inertial = 0.4,
                          .elongation = 1.0,
                          .packed = TALUS_PACKED_REST};
    for (int k = 0; k < 3; k++) def.face[k][0] = def.face[k][1] = TALUS_FACE_SLIP;
    return def;
}

talus_status talus_world_add_sand(talus_world *w, const talus_sand_def *sand) {
    TL_REQUIRE(w->ctx, !w->sand, TALUS_ERR_ARG, "sand: the world has some already");
    TL_REQUIRE(w->ctx,
               w->def.scheme == TALUS_SCHEME_FIXED_POINT || w->def.scheme == TALUS_SCHEME_CONVEX,
               TALUS_ERR_ARG, "sand: not with the scheme '%s', only with fixed-point or convex",
               talus_scheme_text(w->def.scheme));
    TL_REQUIRE(w->ctx, sand->material >= 0 && sand->material < w->materials.count, TALUS_ERR_ARG,
               "sand: material %d does not exist: there are %d", (int)sand->material,
               (int)w->materials.count);
    const talus_shape_def ball = {.kind = TALUS_SHAPE_SPHERE, .radius = sand->cell};
    tl_sand *made;
    TL_TRY(tl_sand_create(w->ctx, w->def.dim, sand, &made));
    const talus_status status = talus_world_add_shape(w, &ball, &w->sand_ball);
    if (status != TALUS_OK) made->base.ops->destroy(&made->base);
    TL_TRY(status);
    w->sand = made;
    w->sand_material = sand->material;
    w->model[w->model_count++] = &w->sand->base;
    return TALUS_OK;
}

talus_status talus_world_add_particles(talus_world *w, int64_t count, const double *x,
                                       const double *v, double size, double fraction) {
    static const double rest[3] = {0};
    TL_REQUIRE(w->ctx, w->sand, TALUS_ERR_ARG,
               "particles: there is no sand yet; call talus_world_add_sand first");
    TL_REQUIRE(w->ctx, fraction > 0.0 && fraction <= 1.0, TALUS_ERR_ARG,
               "particles: the fraction of grains is %g, must be in (0, 1]", fraction);
    const double volume = fraction * (w->def.dim == 2 ? size * size : size * size * size);
    for (int64_t i = 0; i < count; i++)
        TL_TRY(tl_sand_add(w->sand, x + 3 * i, v ? v + 3 * i : rest, volume, size));
    return TALUS_OK;
}

void tl_sand_settle_world(talus_world *w, const tl_step *step) {
    const tl_stage *s = &w->stage;
    const int32_t n = s->first_item[1];
    if (!w->sand) return;
    for (int32_t i = 0; i < n; i++) {
        tl_copy3(w->rigid->x + 3 * (int64_t)i, s->pose[i].x);
        memcpy(s->pose[i].q, w->rigid->q + 4 * (int64_t)i, sizeof s->pose[i].q);
        tl_copy3(s->pose[i].x, w->obstacle[i].centre);
    }
    tl_collide_move(w->collide, s->pose);
    w->sand->base.ops->settle(&w->sand->base, step, w->collide, w->sand_ball, w->obstacle, n);
}

talus_status tl_sand_obstacles(talus_world *w, const tl_obstacle **out, int32_t *count) {
    const tl_stage *s = &w->stage;
    const int32_t n = s->first_item[1]; // those of the rigid bodies
    TL_TRY(TL_RESERVE(w->ctx, n, &w->obstacle));
    for (int32_t i = 0; i < n; i++) {
        tl_obstacle *o = w->obstacle + i;
        const talus_material_def *pair = w->materials.pair +
                                         (int64_t)w->item_material[i] * w->materials.count +
                                         w->sand_material;
        talus_shape_def ball;
        const talus_shape_def *shape = tl_world_shape_def(w, w->item_shape[i], &ball);
        *o = (tl_obstacle){
            .item = i, .extent = tl_shape_extent(w->def.dim, shape), .friction = pair->friction};
        tl_copy3(s->pose[i].x, o->centre);
    }
    *out = w->obstacle;
    *count = n;
    return TALUS_OK;
}

void talus_world_sand(const talus_world *w, talus_sand_view *out) {
    *out = (talus_sand_view){0};
    if (!w->sand) return;
    const tl_sand *m = w->sand;
    *out = (talus_sand_view){.count = m->grains.count,
                             .id = m->grains.id,
                             .position = m->grains.x,
                             .velocity = m->grains.v,
                             .gradient = m->grains.gradient,
                             .volume = m->grains.volume,
                             .frame = m->grains.frame,
                             .inertial = m->grains.inertial,
                             .orient = m->grains.orient,
                             .nodes = m->stress_count,
                             .node = m->stress_key,
                             .node_stress = m->stress,
                             .lost = m->lost};
}

bool talus_world_sand_def(const talus_world *w, talus_sand_def *out) {
    if (!w->sand) return false;
    *out = w->sand->def;
    return true;
}
