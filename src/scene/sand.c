// SPDX-License-Identifier: Apache-2.0
// Sand of a scene: its box and law from the keys, and its particles, which stand on a lattice in
// each region of `fill`. The lattice of a box is stretched until a whole number of particles fits
// along each edge, so that the volume is exactly that of the region; what is within a body of
// `bodies` is left out.
#define _GNU_SOURCE // sysconf names
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAND_CELLS_MOST = (1 << 21) - 2 }; // along an axis

// What a run holds for each particle, and for each cell that has sand, with its nodes, its part of
// the friction problem and the solver's; measured, see docs/guide/sand.md [bytes].
#define SAND_PARTICLE_BYTES 820.0
#define SAND_CELL_BYTES_2D 3.4e3
#define SAND_CELL_BYTES_3D 9.0e3
#define SAND_SPREADS 2.0 // times the cells it has at the start

// ---- the keys ----

static const tl_node *sand_key(const talus_scene *s, const char *key) {
    const tl_node *node = tl_node_find(s->keys.sand.node, key);
    return node ? node : s->keys.sand.node;
}

static talus_status sand_check_box(talus_scene *s) {
    const tl_sand_keys *keys = &s->keys.sand;
    for (int k = 0; k < s->dim; k++) {
        const double length = keys->box.to[k] - keys->box.from[k], cells = length / keys->cell;
        if (!(length > 0.0)) {
            return tl_node_fail(&s->doc, tl_node_find(keys->box.node, "to"),
                                "%c = %g m must be larger than that of 'from', %g m", "xyz"[k],
                                keys -> box.to[k], keys->box.from[k]);
        }
        if (cells > SAND_CELLS_MOST) {
            return tl_node_fail(&s->doc, sand_key(s, "cell"),
                                "%g m makes %g cells along %c; at most %d fit: use larger cells or "
                                "a smaller box",
                                keys->cell, cells, "xyz"[k], SAND_CELLS_MOST);
        }
        if (cells < 0.5 || fabs(cells - rint(cells)) > 1e-6 * fmax(1.0, cells)) {
            return tl_node_fail(&s->doc, keys->box.node,
                                "is %.6g cells of %g m long along %c; must be a whole number: 'to' "
                                "%.9g m would do",
                                cells, keys->cell, "xyz"[k],
                                keys -> box.from[k] + keys->cell * fmax(1.0, rint(cells)));
        }
        s->sand.origin[k] = keys->box.from[k];
        s->sand.cells[k] = (int32_t)rint(cells);
    }
    return TALUS_OK;
}

static talus_status sand_check_faces(talus_scene *s) {
    const tl_sand_faces *f = &s->keys.sand.faces;
    const int32_t side[3][2] = {{f->left, f->right}, {f->front, f->back}, {f->bottom, f->top}};
    static const char *const deep[] = {"front", "back"};
    for (int k = 0; s->dim == 2 && k < 2; k++)
        if (tl_node_find(f->node, deep[k]))
            return tl_node_fail_key(&s->doc, tl_node_find(f->node, deep[k]), "'%s' is for 3D",
                                    deep[k]);
    for (int k = 0; k < s->dim; k++) {
        const int row = k == s->dim - 1 ? 2 : k;
        for (int e = 0; e < 2; e++) s->sand.face[k][e] = (talus_face)side[row][e];
    }
    return TALUS_OK;
}

static talus_status sand_check_law(talus_scene *s) {
    const tl_sand_keys *keys = &s->keys.sand;
    const tl_node *flow = tl_node_find(keys->node, "flow_friction");
    talus_sand_def *d = &s->sand;
    d->cell = keys->cell;
    d->density = keys->density;
    d->fraction = keys->fraction;
    d->friction = keys->friction;
    d->friction_flow = flow ? keys->flow_friction : keys->friction;
    d->inertial = keys->inertial;
    d->diameter = keys->diameter;
    d->cohesion = keys->cohesion;
    d->debonding = keys->debonding;
    d->transfer = (talus_transfer)keys->transfer;
    d->stress = (talus_stress)keys->stress;
    d->viscosity = keys->viscosity;
    d->correction = keys->correction;
    d->resample = keys->resample;
    d->packed = (talus_packed)keys->packed;
    d->anisotropy = keys->anisotropy;
    d->elongation = keys->elongation;
    d->disorder = keys->disorder;
    memcpy(d->normals, keys->normals, sizeof d->normals);
    if (flow && keys->flow_friction < keys->friction)
        return tl_node_fail(&s->doc, flow, "%g must not be less than 'friction', %g",
                            keys->flow_friction, keys->friction);
    if (flow && !(keys->diameter > 0.0))
        return tl_node_fail_key(&s->doc, flow,
                                "'flow_friction' needs 'diameter', the grains' diameter, on which "
                                "the inertial number depends");
    for (int k = 0; k < s->dim; k++)
        if (!(keys->normals[k] >= 0.0))
            return tl_node_fail(&s->doc, tl_node_find(keys->node, "normals"),
                                "%g along %c; shares must not be negative", keys->normals[k],
                                "xyz"[k]);
    const int32_t material = tl_scene_find_material(s, keys->material);
    if (material < 0)
        return tl_scene_fail_name(&s->doc, tl_node_find(keys->node, "material"), keys->material,
                                  "a material", tl_scene_material_at, s);
    d->material = material + 1; // 0 is the world's own
    return TALUS_OK;
}

static talus_status sand_check_fill(talus_scene *s, tl_sand_fill *fill) {
    const tl_node *node = fill->region.node, *fraction = tl_node_find(fill->node, "fraction");
    double low[3], high[3];
    TL_TRY(tl_region_check(s, &fill->region, false));
    tl_region_box(&fill->region, s->dim, low, high);
    for (int k = 0; k < s->dim; k++) {
        const double from = s->sand.origin[k], to = from + s->sand.cells[k] * s->sand.cell;
        const double slack = 1e-6 * s->sand.cell;
        if (low[k] < from - slack || high[k] > to + slack)
            return tl_node_fail(&s->doc, node,
                                "would put particles outside the box of sand: along %c it goes "
                                "from %g m to %g m, the box from %g m to %g m",
                                "xyz"[k], low[k], high[k], from, to);
    }
    if (!fraction) fill->fraction = s->sand.fraction;
    if (fill->fraction > s->sand.fraction)
        return tl_node_fail(&s->doc, fraction, "%g is more than the densest, %g", fill->fraction,
                            s->sand.fraction);
    if (!tl_node_find(fill->node, "seed")) {
        // Streams of different entries differ, also from those of grains.
        tl_rng rng = {(uint64_t)s->keys.seed ^
                      (UINT64_C(0xa0761d6478bd642f) * (uint64_t)(fill->node->index + 1))};
        fill->seed = (int64_t)(tl_rng_next(&rng) >> 11);
    }
    return TALUS_OK;
}

talus_status tl_scene_check_sand(talus_scene *s) {
    tl_scene_keys *keys = &s->keys;
    tl_sand_fill *fill = keys->sand.fill.data;
    if (!keys->sand.node) return TALUS_OK;
    if (keys->scheme != TALUS_SCHEME_FIXED_POINT && keys->scheme != TALUS_SCHEME_CONVEX)
        return tl_node_fail_key(&s->doc, tl_node_find(s->doc.root, "sand"),
                                "'sand' does not go with the scheme '%s' (only with fixed-point, "
                                "convex)",
                                talus_scheme_text((talus_scheme)keys->scheme));
    for (int k = 0; k < s->dim; k++)
        if (keys->period[k] > 0.0)
            return tl_node_fail_key(&s->doc, tl_node_find(s->doc.root, "period"),
                                    "'period' does not go with 'sand'");
    s->sand = talus_sand_default();
    if (s->dim == 2) s->sand.cells[2] = 1;
    TL_TRY(sand_check_law(s));
    TL_TRY(sand_check_box(s));
    TL_TRY(sand_check_faces(s));
    if (!tl_node_find(keys->step.node, "max_move")) keys->step.max_move = keys->sand.cell;
    for (int32_t k = 0; k < keys->sand.fill.count; k++) TL_TRY(sand_check_fill(s, fill + k));
    return TALUS_OK;
}

// ---- particles ----

// The single bodies where they are, to keep sand out of them.
typedef struct sand_room {
    tl_pose *pose;
    tl_walls *walls;
} sand_room;

static talus_status sand_make_room(talus_scene *s, sand_room *room) {
    TL_TRY(TL_TAKE(&s->arena, s->single_count, &room->pose));
    TL_TRY(TL_TAKE(&s->arena, s->single_count, &room->walls));
    for (int32_t k = 0; k < s->single_count; k++) {
        const tl_grain *grain = &s->grain[k];
        tl_copy3(grain->x, room->pose[k].x);
        memcpy(room->pose[k].q, grain->q, sizeof grain->q);
        if (isinf(tl_shape_extent(s->dim, &s->shape[grain->shape])))
            tl_walls_place(s->dim, &s->shape[grain->shape], &room->pose[k], &room->walls[k]);
    }
    return TALUS_OK;
}

static bool sand_is_free(const talus_scene *s, const sand_room *room, const double x[3],
                         double size) {
    for (int32_t k = 0; k < s->single_count; k++)
        if (tl_scene_hits(s, s->grain[k].shape, &room->pose[k], &room->walls[k], x, 1e-3 * size,
                          0.0))
            return false;
    return true;
}

// The shape that a fill is kept within.
typedef struct sand_form {
    bool any; // there is none
    talus_shape_def shape;
    tl_solid *solid; // where its contacts take more than its numbers
    tl_pose pose;
} sand_form;

static talus_status sand_make_form(talus_scene *s, tl_sand_fill *fill, sand_form *out) {
    tl_part_keys *keys = &fill->within;
    *out = (sand_form){.any = !keys->node};
    if (out->any) return TALUS_OK;
    TL_TRY(tl_shape_resolve(s, keys->node, &keys->shape, &out->shape));
    if (isinf(tl_shape_extent(s->dim, &out->shape)))
        return tl_node_fail(&s->doc, keys->node, "the shape must be bounded");
    tl_copy3(keys->at, out->pose.x);
    TL_TRY(tl_scene_rotation(s, &keys->rotate, out->pose.q));
    if (out->shape.kind <= TALUS_SHAPE_CYLINDER) return TALUS_OK;
    return tl_solid_create(s->ctx, s->dim, &out->shape, &out->solid);
}

static bool sand_is_within(const talus_scene *s, const sand_form *form, const double x[3],
                           double size) {
    return form->any ||
           tl_shape_hits(s->dim, &form->shape, form->solid, &form->pose, NULL, x, 1e-3 * size, 0.0);
}

// The lattice of a region.
typedef struct sand_lattice {
    double low[3], step[3];
    int64_t counts[3];
} sand_lattice;

// Along each edge the number of particles that comes nearest to what is asked for. The memory of
// the whole run is estimated here, before any of it is taken.
static talus_status sand_make_lattice(talus_scene *s, const tl_sand_fill *fill, tl_heap *heap,
                                      sand_lattice *l) {
    const double wanted = s->sand.cell / (double)fill->per_edge;
    const double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double high[3], total = 1.0, cells = 1.0, volume = 1.0;
    tl_region_box(&fill->region, s->dim, l->low, high);
    for (int k = 0; k < 3; k++) {
        l->counts[k] = 1;
        l->step[k] = 0.0;
        if (k >= s->dim) continue;
        const double length = high[k] - l->low[k], count = fmax(1.0, rint(length / wanted));
        total *= count;
        cells *= ceil(length / s->sand.cell) + 1.0;
        l->step[k] = length / count;
        volume *= l->step[k];
        l->counts[k] = (int64_t)fmin(count, 1e18);
    }
    heap->size = s->dim == 2 ? sqrt(volume) : cbrt(volume);
    heap->fraction = fill->fraction;
    s->sand_bytes += total * SAND_PARTICLE_BYTES +
                     SAND_SPREADS * cells * (s->dim == 2 ? SAND_CELL_BYTES_2D : SAND_CELL_BYTES_3D);
    if (total > s->most)
        return tl_node_fail(&s->doc, fill->node,
                            "%.3g particles are more than the %d allowed: use larger cells or "
                            "fewer per_edge",
                            total, (int)s->most);
    if (s->sand_bytes > have)
        return tl_node_fail(&s->doc, fill->node,
                            "%.3g particles in %.3g cells would take about %.3g GB of memory; this "
                            "machine has %.3g GB: use larger cells or fewer per_edge",
                            total, cells, s->sand_bytes * 1e-9, have * 1e-9);
    return TALUS_OK;
}

static talus_status sand_put(talus_scene *s, const double x[3]) {
    if (s->particle_count == s->particle_room) {
        const int64_t room = s->particle_room + s->particle_room / 2 + 1024;
        TL_TRY(
            tl_realloc(s->ctx, 3 * s->particle_count, 3 * room, sizeof *s->particle, &s->particle));
        s->particle_room = room;
    }
    tl_copy3(x, s->particle + 3 * s->particle_count++);
    return TALUS_OK;
}

static talus_status sand_fill_one(talus_scene *s, const sand_room *room, const sand_form *form,
                                  tl_heap *heap) {
    static const double point[3] = {0};
    const tl_sand_fill *fill = heap->fill;
    tl_rng rng = {(uint64_t)fill->seed};
    const int dim = s->dim;
    sand_lattice l;
    TL_ASSUME(dim == 2 || dim == 3);
    TL_TRY(sand_make_lattice(s, fill, heap, &l));
    heap->first = s->particle_count;
    for (int64_t c = 0; c < l.counts[2]; c++)
        for (int64_t b = 0; b < l.counts[1]; b++)
            for (int64_t a = 0; a < l.counts[0]; a++) {
                const double at[3] = {(double)a, (double)b, (double)c};
                double x[3] = {0.0};
                for (int k = 0; k < dim; k++) {
                    const double shift = 0.5 * fill->jitter * tl_rng_range(&rng, -1.0, 1.0);
                    x[k] = l.low[k] + (at[k] + 0.5 + shift) * l.step[k];
                }
                if (!tl_region_holds(&fill->region, s->dim, x, point, 0.0) ||
                    !sand_is_within(s, form, x, heap->size) ||
                    !sand_is_free(s, room, x, heap->size))
                    continue;
                TL_TRY(sand_put(s, x));
            }
    heap->count = s->particle_count - heap->first;
    if (heap->count == 0)
        return tl_node_fail(&s->doc, fill->node,
                            "not one particle: the region is smaller than the space between "
                            "particles, %g m, or lies within bodies, or outside 'within'",
                            heap->size);
    return TALUS_OK;
}

// How high the sand stands at the start, along gravity.
static double sand_height(const talus_scene *s) {
    const double *g = s->keys.gravity, size = tl_norm3(g);
    double low = INFINITY, high = -INFINITY;
    if (!(size > 0.0)) return 0.0;
    for (int32_t k = 0; k < s->keys.sand.fill.count; k++) {
        const tl_heap *heap = s->heap + k;
        for (int64_t i = heap->first; i < heap->first + heap->count; i++) {
            const double at = tl_dot3(g, s->particle + 3 * i) / size;
            low = fmin(low, at - 0.5 * heap->size);
            high = fmax(high, at + 0.5 * heap->size);
        }
    }
    for (int64_t i = 0; i < s->start_sand_count; i++) {
        const double at = tl_dot3(g, s->start_sand + 7 * i) / size;
        low = fmin(low, at);
        high = fmax(high, at);
    }
    return fmax(high - low, s->sand.cell);
}

talus_status tl_scene_fill_sand(talus_scene *s) {
    const tl_items *items = &s->keys.sand.fill;
    tl_sand_fill *fill = items->data;
    sand_room room = {0};
    if (!s->keys.sand.node) return TALUS_OK;
    if (items->count == 0 && s->start_sand_count == 0)
        return tl_node_fail(&s->doc, sand_key(s, "fill"), "has no entries: there is no sand");
    TL_TRY(TL_TAKE(&s->arena, items->count, &s->heap));
    TL_TRY(sand_make_room(s, &room));
    for (int32_t k = 0; k < items->count; k++) {
        sand_form form;
        s->heap[k].fill = fill + k;
        talus_status status = sand_make_form(s, fill + k, &form);
        if (status == TALUS_OK) status = sand_fill_one(s, &room, &form, &s->heap[k]);
        tl_solid_destroy(s->ctx, form.solid);
        TL_TRY(status);
    }
    s->sand.height =
        tl_node_find(s->keys.sand.node, "height") ? s->keys.sand.height : sand_height(s);
    return TALUS_OK;
}

static talus_status sand_add(const talus_scene *s, const tl_heap *heap, talus_world *w) {
    double *v = NULL;
    TL_TRY(TL_ALLOC(s->ctx, 3 * heap->count, &v));
    for (int64_t i = 0; i < heap->count; i++) tl_copy3(heap->fill->velocity, v + 3 * i);
    const talus_status status = talus_world_add_particles(
        w, heap->count, s->particle + 3 * heap->first, v, heap->size, heap->fraction);
    tl_free(s->ctx, v);
    return status;
}

// A particle of a recording, as a cube as dense as can be.
static talus_status sand_add_taken(const talus_scene *s, int64_t i, talus_world *w) {
    const double *p = s->start_sand + 7 * i, space = p[6] / s->sand.fraction;
    return talus_world_add_particles(w, 1, p, p + 3, s->dim == 2 ? sqrt(space) : cbrt(space),
                                     s->sand.fraction);
}

talus_status tl_scene_add_sand(const talus_scene *s, talus_world *w) {
    talus_status status = TALUS_OK;
    const tl_node *node = s->keys.sand.node;
    if (!node) return TALUS_OK;
    TL_GOTO(talus_world_add_sand(w, &s->sand));
    for (int64_t i = 0; i < s->start_sand_count; i++) TL_GOTO(sand_add_taken(s, i, w));
    for (int32_t k = 0; k < s->keys.sand.fill.count; k++) TL_GOTO(sand_add(s, &s->heap[k], w));
done:
    if (status == TALUS_OK || status == TALUS_ERR_MEMORY) return status;
    char reason[600];
    (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
    return tl_node_fail(&s->doc, node, "%s", reason);
}
