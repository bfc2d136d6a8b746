// SPDX-License-Identifier: Apache-2.0
// Grains that enter while the world runs. Who is next is told by the number of bodies in the world,
// and the places that are tried by (seed, number, time): there is no state besides the world's, so
// that a run continued from a checkpoint goes on with the same bits.
#include "base/vec3.h"
#include "collide/pair.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <string.h>

// Bodies of the world that can reach the regions of grains that are due.
typedef struct rain_near {
    int32_t *body;
    int32_t count, room;
} rain_near;

// Distance along one axis from the interval, around a period where there is one.
static double rain_off(double x, double low, double high, double period) {
    if (period > 0.0) x -= period * floor((x - 0.5 * (low + high)) / period + 0.5);
    return x < low ? low - x : x > high ? x - high : 0.0;
}

static talus_status rain_look(const talus_scene *s, const tl_source *source,
                              const talus_body_view *view, rain_near *near) {
    double low[3], high[3];
    tl_region_box(&source->grains->region, s->dim, low, high);
    if (near->room < view->count) {
        TL_TRY(tl_realloc(s->ctx, 0, view->count + 64, sizeof *near->body, &near->body));
        near->room = view->count + 64;
    }
    near->count = 0;
    for (int32_t k = 0; k < view->count; k++) {
        const double size = tl_shape_extent(s->dim, &s->shape[view->shape[k]]);
        const double reach = size + source->grains->clearance;
        double square = 0.0;
        for (int j = 0; j < s->dim; j++) {
            const double d = rain_off(view->position[3 * (size_t)k + (size_t)j], low[j], high[j],
                                      s->keys.period[j]);
            square += d * d;
        }
        if (square < reach * reach) near->body[near->count++] = k;
    }
    return TALUS_OK;
}

// Whether the ball around a grain at x keeps its clearance from the bodies near.
static bool rain_is_free(const talus_scene *s, const talus_body_view *view, const rain_near *near,
                         const double x[3], double extent, double clearance) {
    for (int32_t k = 0; k < near->count; k++) {
        const size_t body = (size_t)near->body[k];
        const talus_shape_def *shape = &s->shape[view->shape[body]];
        const double size = tl_shape_extent(s->dim, shape);
        tl_pose pose;
        tl_walls walls;
        for (int j = 0; j < 3; j++) {
            const double period = isfinite(size) ? s->keys.period[j] : 0.0;
            pose.x[j] = view->position[3 * body + (size_t)j];
            if (period > 0.0) pose.x[j] -= period * floor((pose.x[j] - x[j]) / period + 0.5);
        }
        memcpy(pose.q, view->orientation + 4 * body, sizeof pose.q);
        if (isinf(size)) tl_walls_place(s->dim, shape, &pose, &walls);
        if (tl_scene_hits(s, view->shape[body], &pose, &walls, x, extent, clearance)) return false;
    }
    return true;
}

static bool rain_find_place(const talus_scene *s, const talus_body_view *view,
                            const rain_near *near, double time, tl_grain *grain) {
    const tl_source *source = &s->source[grain->source];
    const tl_scene_grains *g = source->grains;
    const talus_shape_def *shape = &s->shape[grain->shape];
    const double extent = tl_shape_extent(s->dim, shape);
    const struct {
        double time;
        int64_t number;
    } key = {time, view->count};
    tl_rng rng = {talus_hash(&key, sizeof key, (uint64_t)g->seed)};
    double wide[3];
    tl_shape_wide(s->dim, shape, g->random_turn || g->body.rotate.node, wide);
    for (int64_t k = 0; k < g->tries; k++) {
        tl_region_draw(&g->region, s->dim, wide, &rng, grain->x);
        if (tl_region_holds(&g->region, s->dim, grain->x, wide, extent) &&
            rain_is_free(s, view, near, grain->x, extent, g->clearance)) {
            return true;
        }
    }
    return false;
}

talus_status talus_scene_advance(const talus_scene *s, talus_world *w) {
    const double now = talus_world_time(w);
    talus_status status = TALUS_OK;
    talus_body_view view;
    rain_near near = {0};
    talus_world_bodies(w, &view);
    TL_REQUIRE(s->ctx, view.count >= s->start_count && view.count <= s->grain_count, TALUS_ERR_ARG,
               "%s: the world has %d bodies and was not made from this scene", s->doc.name,
               (int)view.count);
    while (view.count < s->grain_count && s->grain[view.count].due <= now) {
        tl_grain grain = s->grain[view.count];
        int32_t index;
        TL_GOTO(rain_look(s, &s->source[grain.source], &view, &near));
        if (!rain_find_place(s, &view, &near, now, &grain)) break; // it and those behind it wait
        const talus_body_def def = tl_scene_body_def(s, &grain);
        TL_GOTO(talus_world_add_body(w, &def, &index));
        talus_world_bodies(w, &view);
    }
done:
    tl_free(s->ctx, near.body);
    return status;
}
