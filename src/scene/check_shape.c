// SPDX-License-Identifier: Apache-2.0
// The shapes of bodies, of grains and of entries of `shapes`, and the regions and counts of grains.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static talus_status shape_check_named(const talus_scene *s, tl_scene_shape *shape) {
    talus_shape_def def;
    const int kind = tl_shape_kind(shape->shape.shape);
    if (tl_shape_kind(shape->node->key) >= 0) {
        return tl_node_fail_key(&s->doc, shape->node,
                                "'%s' is a shape already; choose another name", shape->node->key);
    }
    if (kind < 0) {
        return tl_node_fail(&s->doc, tl_node_find(shape->node, "shape"),
                            " = '%.60s': in 'shapes' this must be a kind of shape, not a name",
                            shape->shape.shape);
    }
    TL_TRY(tl_shape_make(s, shape->node, &shape->shape, &def));
    if (shape->shape.radius.law != TL_LAW_CONSTANT) {
        return tl_node_fail(&s->doc, shape->shape.radius.node,
                            "a distribution is for grains; use 'scale' there");
    }
    return TALUS_OK;
}

void tl_shape_wide(int32_t dim, const talus_shape_def *shape, bool turned, double wide[3]) {
    const double extent = tl_shape_extent(dim, shape);
    for (int k = 0; k < 3; k++) wide[k] = extent;
    if (turned) return;
    const talus_shape_kind kind = shape->kind;
    if (kind == TALUS_SHAPE_BOX || kind == TALUS_SHAPE_ELLIPSOID ||
        kind == TALUS_SHAPE_SUPERELLIPSOID) {
        tl_copy3(shape->half, wide);
    } else if (kind == TALUS_SHAPE_CYLINDER) {
        wide[0] = wide[1] = shape->radius;
        wide[2] = 0.5 * shape->height;
    } else if (kind == TALUS_SHAPE_CAPSULE) {
        wide[0] = wide[1] = wide[2] = shape->radius;
        wide[dim - 1] += 0.5 * shape->height;
    }
}

// ---- grains ----

talus_status tl_region_check(const talus_scene *s, const tl_region *region, bool open) {
    const tl_node *node = region->node;
    const tl_node *from = tl_node_find(node, "from"), *to = tl_node_find(node, "to");
    const tl_node *at = tl_node_find(node, "at"), *radius = tl_node_find(node, "radius");
    const tl_node *height = tl_node_find(node, "height");
    if ((from || to) && (at || radius || height)) {
        return tl_node_fail(&s->doc, node,
                            "must be a box (from, to) or a ball (at, radius), not both");
    }
    if (height && s->dim == 2) return tl_node_fail(&s->doc, height, "is for 3D");
    if (!from && (!at || !radius)) {
        return tl_node_fail(&s->doc, node,
                            "needs 'from' and 'to' for a box, or 'at' and 'radius' for a ball");
    }
    if (from && !to && !open) {
        return tl_node_fail(
            &s->doc, node,
            "'to' is missing; only a lattice or layers with 'counts' can do without");
    }
    for (int k = 0; from && to && k < s->dim; k++)
        if (!(region->to[k] > region->from[k])) {
            return tl_node_fail(&s->doc, to, "%c = %g m must be larger than that of 'from', %g m",
                                "xyz"[k], region -> to[k], region -> from[k]);
        }
    return TALUS_OK;
}

static talus_status shape_check_grains(const talus_scene *s, tl_source *source) {
    tl_scene_grains *g = (tl_scene_grains *)source->grains;
    const tl_node *counts = tl_node_find(g->node, "counts"),
                  *count = tl_node_find(g->node, "count");
    const bool sized = g->fill == TL_FILL_LATTICE || g->fill == TL_FILL_LAYERS;
    if (source->shape.kind == TALUS_SHAPE_MESH) {
        return tl_node_fail(&s->doc, g->node,
                            "grains cannot be meshes, which do not touch each other; make them "
                            "polyhedra or clumps");
    }
    if (isinf(source->extent)) {
        return tl_node_fail(&s->doc, g->node, "grains cannot be of the unbounded shape %s",
                            talus_shape_text(source->shape.kind));
    }
    TL_TRY(tl_spread_check(&s->doc, &g->scale));
    TL_TRY(tl_region_check(s, &g->region, sized && counts));
    if (counts && count) return tl_node_fail(&s->doc, count, "give 'count' or 'counts', not both");
    if (!sized && !count) {
        return tl_node_fail(&s->doc, g->node, "'count' is missing: how many grains");
    }
    if (counts && tl_node_find(g->region.node, "at")) {
        return tl_node_fail(&s->doc, counts, "goes with a box region (from, to)");
    }
    if (!tl_node_find(g->node, "seed")) {
        // Streams of different entries differ, and adding an entry changes no other.
        tl_rng rng = {(uint64_t)s->keys.seed ^
                      (UINT64_C(0xd1b54a32d192ed03) * (uint64_t)(g->node->index + 1))};
        g->seed = (int64_t)(tl_rng_next(&rng) >> 11);
    }
    return TALUS_OK;
}

static talus_status shape_check_source(const talus_scene *s, tl_source *source) {
    tl_shape_keys *keys =
        (tl_shape_keys *)(source->single ? &source->single->shape : &source->grains->shape);
    TL_TRY(tl_shape_resolve(s, source->node, keys, &source->shape));
    if (source->single && keys->radius.law != TL_LAW_CONSTANT) {
        return tl_node_fail(&s->doc, keys->radius.node, "a distribution is for grains");
    }
    talus_shape_def largest = source->shape;
    if (keys->radius.law != TL_LAW_CONSTANT) largest.radius = tl_spread_most(&keys->radius);
    source->extent = tl_shape_extent(s->dim, &largest);
    bool turned = source->body->rotate.node != NULL;
    double scale = 1.0;
    if (source->grains) {
        TL_TRY(shape_check_grains(s, source));
        turned = turned || source->grains->random_turn;
        scale = tl_spread_most(&source->grains->scale);
    }
    tl_shape_wide(s->dim, &largest, turned, source->wide);
    tl_scale3(scale, source->wide, source->wide);
    source->extent *= scale;
    return TALUS_OK;
}

talus_status tl_scene_check_shapes(talus_scene *s) {
    tl_scene_shape *shapes = s->keys.shapes.data;
    for (int32_t k = 0; k < s->keys.shapes.count; k++) TL_TRY(shape_check_named(s, &shapes[k]));
    for (int32_t k = 0; k < s->source_count; k++) TL_TRY(shape_check_source(s, &s->source[k]));
    return TALUS_OK;
}
