// SPDX-License-Identifier: Apache-2.0
// Bodies one by one: single ones as given, grains on lattices and in layers. Every source has its
// own stream of random numbers and is filled by one thread, in one order.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <string.h>

talus_status tl_scene_reserve(talus_scene *s, const tl_source *source, int64_t count) {
    const int64_t need = s->grain_count + count;
    if (need > s->most) {
        return tl_node_fail(&s->doc, source->node, "%lld bodies are more than the %d allowed",
                            (long long)need, (int)s->most);
    }
    if (need > s->grain_room) {
        const int64_t room = need > 2 * (int64_t)s->grain_room ? need : 2 * (int64_t)s->grain_room;
        TL_TRY(tl_realloc(s->ctx, s->grain_count, room, sizeof *s->grain, &s->grain));
        s->grain_room = (int32_t)room;
    }
    return TALUS_OK;
}

talus_status tl_scene_add_shape(talus_scene *s, const talus_shape_def *shape, int32_t *out) {
    if (s->shape_count == s->shape_room) {
        const int32_t room = s->shape_room + s->shape_room / 4 + 64;
        TL_TRY(tl_realloc(s->ctx, s->shape_count, room, sizeof *s->shape, &s->shape));
        s->shape_room = room;
    }
    *out = s->shape_count;
    s->shape[s->shape_count++] = *shape;
    return TALUS_OK;
}

// Uniform over all turns [Marsaglia: two points in the disk], or over all angles in 2D.
static void generate_turn(int32_t dim, tl_rng *rng, double q[4]) {
    if (dim == 2) {
        const double half = 3.14159265358979323846 * tl_rng_unit(rng);
        q[0] = cos(half), q[1] = q[2] = 0.0, q[3] = sin(half);
        return;
    }
    double v[2][2], n[2];
    for (int k = 0; k < 2; k++) do {
            v[k][0] = tl_rng_range(rng, -1.0, 1.0);
            v[k][1] = tl_rng_range(rng, -1.0, 1.0);
            n[k] = v[k][0] * v[k][0] + v[k][1] * v[k][1];
        } while (!(n[k] < 1.0) || n[k] < 1e-12);
    const double f = sqrt((1.0 - n[0]) / n[1]);
    q[0] = v[0][0], q[1] = v[0][1], q[2] = f * v[1][0], q[3] = f * v[1][1];
    tl_quat_normalise(q);
}

talus_status tl_scene_draw(talus_scene *s, int32_t index, tl_rng *rng, tl_grain *out) {
    tl_source *source = &s->source[index];
    const tl_scene_grains *g = source->grains;
    const tl_spread *radius = &g->shape.radius;
    *out = (tl_grain){.source = index, .number = source->count};
    talus_shape_def shape = source->shape;
    if (radius->law != TL_LAW_CONSTANT) shape.radius = tl_spread_draw(radius, rng);
    const double scale = tl_spread_draw(&g->scale, rng);
    if (g->body.mass.node) out->mass = tl_spread_draw(&g->body.mass, rng);
    memcpy(out->q, source->orientation, sizeof out->q);
    if (g->random_turn) generate_turn(s->dim, rng, out->q);
    const bool same = radius->law == TL_LAW_CONSTANT && g->scale.law == TL_LAW_CONSTANT;
    if (same && source->count > 0) {
        out->shape = s->shape_count - 1; // of the grain before
    } else {
        TL_TRY(tl_shape_scale(s, scale, &shape));
        TL_TRY(tl_scene_add_shape(s, &shape, &out->shape));
    }
    source->count++;
    return TALUS_OK;
}

// ---- regions ----

void tl_region_box(const tl_region *region, int32_t dim, double low[3], double high[3]) {
    const bool ball = region->radius > 0.0;
    for (int k = 0; k < 3; k++) {
        low[k] = k < dim ? (ball ? region->at[k] - region->radius : region->from[k]) : 0.0;
        high[k] = k < dim ? (ball ? region->at[k] + region->radius : region->to[k]) : 0.0;
    }
    if (ball && region->height > 0.0) {
        low[2] = region->at[2];
        high[2] = region->at[2] + region->height;
    }
}

bool tl_region_holds(const tl_region *region, int32_t dim, const double x[3], const double wide[3],
                     double extent) {
    double low[3], high[3], d[3];
    const double slack = 1e-9 * extent; // rounding
    tl_region_box(region, dim, low, high);
    for (int k = 0; k < dim; k++)
        if (x[k] - wide[k] < low[k] - slack || x[k] + wide[k] > high[k] + slack) return false;
    if (!(region->radius > 0.0)) return true;
    tl_sub3(x, region->at, d);
    if (region->height > 0.0) d[2] = 0.0;
    return tl_norm3(d) + extent <= region->radius + slack;
}

void tl_region_draw(const tl_region *region, int32_t dim, const double wide[3], tl_rng *rng,
                    double x[3]) {
    double low[3], high[3];
    tl_region_box(region, dim, low, high);
    for (int k = 0; k < 3; k++)
        x[k] = k < dim ? tl_rng_range(rng, low[k] + wide[k], high[k] - wide[k]) : 0.0;
}

// ---- lattices and layers ----

// Points x = origin + shift(layer, row) + step (i, j, k); `up` is the last axis of the dimension.
typedef struct lattice {
    int32_t dim;
    double origin[3], step[3];
    int32_t counts[3];
    bool layers, hex;
    double spacing;
} lattice;

// Where point (i, j, k) lies. In 2D layers are the rows j and i runs along them.
static void lattice_point(const lattice *l, const int32_t at[3], double x[3]) {
    for (int k = 0; k < 3; k++) x[k] = l->origin[k] + l->step[k] * at[k];
    if (!l->layers) return;
    const bool odd = at[l->dim - 1] % 2 != 0;
    if (l->dim == 2) {
        if (l->hex && odd) x[0] += 0.5 * l->spacing;
    } else if (l->hex) {
        if ((at[1] % 2 != 0) != odd) x[0] += 0.5 * l->spacing;
        if (odd) x[1] += l->spacing * sqrt(3.0) / 6.0;
    } else if (odd) {
        x[0] += 0.5 * l->spacing;
        x[1] += 0.5 * l->spacing;
    }
}

static void lattice_steps(lattice *l, double spacing) {
    const bool flat = l->dim == 2;
    for (int k = 0; k < 3; k++) l->step[k] = k < l->dim ? spacing : 0.0;
    l->spacing = spacing;
    if (!l->layers) return;
    if (l->hex) {
        l->step[1] = spacing * sqrt(0.75);
        if (!flat) l->step[2] = spacing * sqrt(2.0 / 3.0);
    } else if (!flat) {
        l->step[2] = spacing * sqrt(0.5);
    }
}

// Spacing and counts, of which one or the other, or both, may be given.
static talus_status lattice_make(const talus_scene *s, const tl_source *source, lattice *l) {
    const tl_scene_grains *g = source->grains;
    const bool counted = tl_node_find(g->node, "counts") != NULL;
    const bool spaced = tl_node_find(g->node, "spacing") != NULL;
    const bool ended = g->region.radius > 0.0 || tl_node_find(g->region.node, "to");
    double low[3], high[3], widest = 0.0;
    *l = (lattice){.dim = s->dim, .layers = g->fill == TL_FILL_LAYERS, .hex = g->pattern == 0};
    tl_region_box(&g->region, s->dim, low, high);
    for (int k = 0; k < s->dim; k++) widest = TL_MAX(widest, source->wide[k]);
    lattice_steps(l, spaced ? g->spacing : 2.0 * widest);
    for (int k = 0; k < 3; k++) {
        double room = high[k] - low[k];
        l->counts[k] = 1;
        if (k >= s->dim) continue;
        if (!l->layers && !spaced) // cells as wide as the region or the grains ask for
            l->step[k] = counted && ended ? room / g->counts[k] : 2.0 * source->wide[k];
        // A lattice has cells, with a grain in the middle of each; layers begin at the border.
        l->origin[k] = low[k] + (l->layers ? source->wide[k] : 0.5 * l->step[k]);
        if (l->layers) room += l->step[k] - 2.0 * source->wide[k];
        const double fit = floor(room / l->step[k] + 1e-9);
        if (!counted && fit < 1.0) {
            return tl_node_fail(&s->doc, g->node, "not one grain fits into the region along %c",
                                "xyz"[k]);
        }
        if (!counted && fit > s->most) {
            return tl_node_fail(&s->doc, g->node, "%g grains along %c are more than the %d allowed",
                                fit, "xyz"[k], (int)s -> most);
        }
        if (counted && ended && g->counts[k] > fit) {
            return tl_node_fail(&s->doc, tl_node_find(g->node, "counts"),
                                "%d grains with a spacing of %g m do not fit into the region along "
                                "%c; %g would",
                                (int)g->counts[k], l->step[k], "xyz"[k], fit);
        }
        l->counts[k] = counted ? g->counts[k] : (int32_t)fit;
    }
    // A ball fills at least half of the box around it; 'count' may ask for fewer.
    const double total = (double)l->counts[0] * l->counts[1] * l->counts[2];
    if (g->count == 0 && total > (g->region.radius > 0.0 ? 2.0 : 1.0) * s->most) {
        return tl_node_fail(&s->doc, g->node, "%g grains are more than the %d allowed", total,
                            (int)s->most);
    }
    return TALUS_OK;
}

talus_status tl_scene_place_lattice(talus_scene *s, int32_t index, tl_rng *rng) {
    tl_source *source = &s->source[index];
    const tl_scene_grains *g = source->grains;
    const bool bounded = g->region.radius > 0.0 || tl_node_find(g->region.node, "to");
    const bool filtered = bounded && (g->region.radius > 0.0 || g->fill == TL_FILL_LAYERS) &&
                          !tl_node_find(g->node, "counts");
    lattice l;
    TL_TRY(lattice_make(s, source, &l));
    const int64_t limit = g->count > 0 ? g->count : INT64_MAX;
    for (int32_t c = 0; c < l.counts[2] && source->count < limit; c++)
        for (int32_t b = 0; b < l.counts[1] && source->count < limit; b++)
            for (int32_t a = 0; a < l.counts[0] && source->count < limit; a++) {
                const int32_t at[3] = {a, b, c};
                double x[3] = {0.0};
                lattice_point(&l, at, x);
                if (filtered &&
                    !tl_region_holds(&g->region, s->dim, x, source->wide, source->extent))
                    continue;
                TL_TRY(tl_scene_reserve(s, source, 1));
                tl_grain *grain = &s->grain[s->grain_count];
                TL_TRY(tl_scene_draw(s, index, rng, grain));
                for (int k = 0; k < s->dim; k++)
                    grain->x[k] =
                        x[k] + (g->jitter > 0.0 ? tl_rng_range(rng, -g->jitter, g->jitter) : 0.0);
                s->grain_count++;
            }
    if (g->count > 0 && source->count < g->count) {
        return tl_node_fail(&s->doc, tl_node_find(g->node, "count"),
                            " = %lld: only %d fit into the region", (long long)g->count,
                            (int)source->count);
    }
    return TALUS_OK;
}

// ---- all ----

static talus_status generate_single(talus_scene *s, int32_t index) {
    tl_source *source = &s->source[index];
    tl_grain grain = {.source = index};
    TL_TRY(tl_scene_reserve(s, source, 1));
    TL_TRY(tl_scene_add_shape(s, &source->shape, &grain.shape));
    tl_copy3(source->single->at, grain.x);
    memcpy(grain.q, source->orientation, sizeof grain.q);
    grain.mass = source->body->mass.value;
    s->grain[s->grain_count++] = grain;
    source->count = 1;
    return TALUS_OK;
}

// What finding room beside single bodies takes (tl_scene_hits).
static talus_status generate_solids(talus_scene *s) {
    TL_TRY(TL_ALLOC(s->ctx, s->shape_count, &s->solid));
    s->solid_count = s->shape_count;
    for (int32_t k = 0; k < s->shape_count; k++)
        if (s->shape[k].kind > TALUS_SHAPE_CYLINDER)
            TL_TRY(tl_solid_create(s->ctx, s->dim, &s->shape[k], &s->solid[k]));
    return TALUS_OK;
}

static talus_status generate_rain(talus_scene *s, int32_t index, tl_rng *rng) {
    tl_source *source = &s->source[index];
    const tl_scene_grains *g = source->grains;
    double low[3], high[3];
    TL_ASSUME(s->dim <= 3);
    tl_region_box(&g->region, s->dim, low, high);
    for (int k = 0; k < s->dim; k++)
        if (high[k] - low[k] < 2.0 * source->wide[k]) {
            return tl_node_fail(&s->doc, g->region.node, "the largest grain does not fit along %c",
                                "xyz"[k]);
        }
    TL_TRY(tl_scene_reserve(s, source, g->count));
    for (int64_t k = 0; k < g->count; k++) {
        tl_grain *grain = &s->grain[s->grain_count];
        TL_TRY(tl_scene_draw(s, index, rng, grain));
        grain->due = g->start + (double)k / g->rate;
        s->grain_count++;
    }
    return TALUS_OK;
}

// Merge the rain of all sources by the time of entering, stable: each source is in order already.
static talus_status generate_sort_rain(talus_scene *s) {
    const int32_t first = s->start_count, count = s->grain_count - first;
    if (count == 0) return TALUS_OK; // there may be no array at all
    tl_grain *from = s->grain + first, *to = NULL;
    TL_TRY(TL_ALLOC(s->ctx, count, &to));
    tl_grain *const spare = to;
    for (int32_t width = 1; width<count; width = width> count / 2 ? count : 2 * width) {
        for (int32_t begin = 0; begin < count; begin += 2 * width) {
            const int32_t middle = begin + width < count ? begin + width : count;
            const int32_t end = middle + width < count ? middle + width : count;
            int32_t a = begin, b = middle;
            for (int32_t k = begin; k < end; k++)
                to[k] =
                    b >= end || (a < middle && from[a].due <= from[b].due) ? from[a++] : from[b++];
            if (end == count) break;
        }
        tl_grain *swap = from;
        from = to;
        to = swap;
    }
    if (from == spare) memcpy(s->grain + first, spare, (size_t)count * sizeof *spare);
    tl_free(s->ctx, spare);
    return TALUS_OK;
}

talus_status tl_scene_generate(talus_scene *s) {
    for (int32_t k = 0; k < s->single_count; k++) TL_TRY(generate_single(s, k));
    TL_TRY(generate_solids(s));
    TL_TRY(tl_scene_take_start(s));
    // Those of the start come before all rain.
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = s->single_count; k < s->source_count; k++) {
            const tl_scene_grains *g = s->source[k].grains;
            tl_rng rng = {(uint64_t)g->seed};
            if ((g->fill == TL_FILL_RAIN) != (pass == 1)) continue;
            s->source[k].first = s->grain_count;
            if (g->fill == TL_FILL_RAIN) {
                TL_TRY(generate_rain(s, k, &rng));
            } else if (g->fill == TL_FILL_RANDOM) {
                TL_TRY(tl_scene_place_random(s, k, &rng));
            } else {
                TL_TRY(tl_scene_place_lattice(s, k, &rng));
            }
        }
        if (pass == 0) s->start_count = s->grain_count;
    }
    for (int32_t k = 0; k < s->start_count; k++)
        s->free_count += tl_source_is_free(&s->source[s->grain[k].source]);
    return generate_sort_rain(s);
}
