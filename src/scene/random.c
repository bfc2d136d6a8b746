// SPDX-License-Identifier: Apache-2.0
// Random insertion without overlap: the grains of a source, the largest first, each at the first of
// many random places where it touches nothing. Grains are taken as the balls around them, so that
// spheres fill densest; single bodies as what they are. A grid of the balls keeps a try O(1).
#include "base/vec3.h"
#include "collide/pair.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <string.h>

typedef struct random_fill {
    talus_scene *s;
    const tl_source *source;
    double clearance;
    // the grid: cells wider than any two balls that touch; lists of the bodies in each
    double low[3], cell;
    int32_t cells[3];
    int32_t *head; // first body of each cell, −1: none
    int32_t *next; // of each body of the scene
    // single bodies, tested exactly
    tl_pose *pose;
    tl_walls *walls;
} random_fill;

static double random_extent(const talus_scene *s, int32_t body) {
    return tl_shape_extent(s->dim, &s->shape[s->grain[body].shape]);
}

static int64_t random_cell(const random_fill *f, const double x[3]) {
    int64_t at = 0;
    for (int k = 2; k >= 0; k--) {
        double c = floor((x[k] - f->low[k]) / f->cell);
        c = c < 0.0 ? 0.0 : c > f->cells[k] - 1 ? f->cells[k] - 1 : c;
        at = at * f->cells[k] + (int64_t)c;
    }
    return at;
}

static void random_add(random_fill *f, int32_t body) {
    const int64_t at = random_cell(f, f->s->grain[body].x);
    f->next[body] = f->head[at];
    f->head[at] = body;
}

// Whether a ball meets a ball of the grid, at one image of its place.
static bool random_meets(const random_fill *f, const double x[3], double extent) {
    int32_t from[3], to[3];
    for (int k = 0; k < 3; k++) {
        const double c = (x[k] - f->low[k]) / f->cell;
        if (c < -1.0 || c > f->cells[k] + 1.0) return false;
        from[k] = (int32_t)fmax(floor(c) - 1.0, 0.0);
        to[k] = (int32_t)fmin(floor(c) + 1.0, f->cells[k] - 1.0);
    }
    for (int32_t c = from[2]; c <= to[2]; c++)
        for (int32_t b = from[1]; b <= to[1]; b++)
            for (int32_t a = from[0]; a <= to[0]; a++) {
                const int64_t at = ((int64_t)c * f->cells[1] + b) * f->cells[0] + a;
                for (int32_t j = f->head[at]; j >= 0; j = f->next[j]) {
                    double d[3];
                    tl_sub3(x, f->s->grain[j].x, d);
                    const double apart = extent + random_extent(f->s, j) + f->clearance;
                    if (tl_dot3(d, d) < apart * apart) return true;
                }
            }
    return false;
}

// Whether a ball meets a single body, at one image of its place.
static bool random_hits(const random_fill *f, const double x[3], double extent) {
    const talus_scene *s = f->s;
    for (int32_t k = 0; k < s->single_count; k++)
        if (tl_scene_hits(s, s->grain[k].shape, &f->pose[k], &f->walls[k], x, extent, f->clearance))
            return true;
    return false;
}

static bool random_is_free(const random_fill *f, const double x[3], double extent) {
    const double *period = f->s->keys.period;
    const int n[3] = {period[0] > 0.0, period[1] > 0.0, period[2] > 0.0};
    for (int c = -n[2]; c <= n[2]; c++)
        for (int b = -n[1]; b <= n[1]; b++)
            for (int a = -n[0]; a <= n[0]; a++) {
                const double y[3] = {x[0] + a * period[0], x[1] + b * period[1],
                                     x[2] + c * period[2]};
                if (random_meets(f, y, extent) || random_hits(f, y, extent)) return false;
            }
    return true;
}

// Cells hold all bodies that are there already and can reach the region, and those to come.
static talus_status random_prepare(random_fill *f, int32_t existing, int64_t coming) {
    talus_scene *s = f->s;
    double high[3], largest = f->source->extent;
    for (int32_t k = s->single_count; k < existing; k++)
        largest = TL_MAX(largest, random_extent(s, k));
    tl_region_box(&f->source->grains->region, s->dim, f->low, high);
    double volume = 1.0;
    for (int k = 0; k < s->dim; k++) volume *= high[k] - f->low[k];
    // not many more cells than bodies
    f->cell = 2.0 * largest + f->clearance;
    f->cell = fmax(f->cell, pow(volume / (4.0 * (double)coming), 1.0 / s->dim));
    const double bodies = (double)(existing + coming);
    int64_t cells = 0;
    for (double most = 1e3 + 16.0 * bodies, total = INFINITY; total > most; f->cell *= 2.0) {
        total = 1.0;
        for (int k = 0; k < s->dim; k++) total *= floor((high[k] - f->low[k]) / f->cell) + 1.0;
        if (total > most) continue;
        for (int k = 0; k < 3; k++)
            f->cells[k] = k < s->dim ? (int32_t)((high[k] - f->low[k]) / f->cell) + 1 : 1;
        cells = (int64_t)f->cells[0] * f->cells[1] * f->cells[2];
        break;
    }
    TL_TRY(TL_ALLOC(s->ctx, cells, &f->head));
    TL_TRY(TL_ALLOC(s->ctx, existing + coming, &f->next));
    TL_TRY(TL_ALLOC(s->ctx, s->single_count, &f->pose));
    TL_TRY(TL_ALLOC(s->ctx, s->single_count, &f->walls));
    for (int64_t k = 0; k < cells; k++) f->head[k] = -1;
    for (int32_t k = s->single_count; k < existing; k++) random_add(f, k);
    for (int32_t k = 0; k < s->single_count; k++) {
        const tl_grain *grain = &s->grain[k];
        tl_copy3(grain->x, f->pose[k].x);
        memcpy(f->pose[k].q, grain->q, sizeof grain->q);
        if (isinf(tl_shape_extent(s->dim, &s->shape[grain->shape])))
            tl_walls_place(s->dim, &s->shape[grain->shape], &f->pose[k], &f->walls[k]);
    }
    return TALUS_OK;
}

// Indices of the new grains, the largest first, equal ones in order: heap sort needs no memory but
// is not stable, so the index is part of the key.
typedef struct random_order {
    double extent;
    int32_t body;
} random_order;

static bool random_before(const random_order *a, const random_order *b) {
    return a->extent > b->extent || (a->extent == b->extent && a->body < b->body);
}

static void random_sift(random_order *o, int32_t root, int32_t count) {
    for (int32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && random_before(&o[child], &o[child + 1])) child++;
        if (!random_before(&o[root], &o[child])) return;
        const random_order swap = o[root];
        o[root] = o[child];
        o[child] = swap;
    }
}

static void random_sort(random_order *o, int32_t count) {
    for (int32_t k = count / 2; k-- > 0;) random_sift(o, k, count);
    for (int32_t k = count; k-- > 1;) {
        const random_order swap = o[0];
        o[0] = o[k];
        o[k] = swap;
        random_sift(o, 0, k);
    }
}

static talus_status random_place(random_fill *f, const random_order *order, int32_t count,
                                 tl_rng *rng) {
    talus_scene *s = f->s;
    const tl_scene_grains *g = f->source->grains;
    const bool turned = g->random_turn || g->body.rotate.node;
    for (int32_t k = 0; k < count; k++) {
        tl_grain *grain = &s->grain[order[k].body];
        const double extent = order[k].extent;
        double wide[3], low[3], high[3];
        tl_shape_wide(s->dim, &s->shape[grain->shape], turned, wide);
        tl_region_box(&g->region, s->dim, low, high);
        for (int j = 0; j < s->dim; j++)
            if (high[j] - low[j] < 2.0 * wide[j]) {
                return tl_node_fail(&s->doc, g->region.node,
                                    "a grain of size %g m does not fit "
                                    "along %c",
                                    2.0 * wide[j], "xyz"[j]);
            }
        int64_t tries = 0;
        bool found = false;
        while (!found && tries++ < g->tries) {
            tl_region_draw(&g->region, s->dim, wide, rng, grain->x);
            found = tl_region_holds(&g->region, s->dim, grain->x, wide, extent) &&
                    random_is_free(f, grain->x, extent);
        }
        if (!found) {
            return tl_node_fail(&s->doc, tl_node_find(g->node, "count"),
                                " = %lld: only %d found room, after %lld tries for the next; "
                                "enlarge the region, ask for fewer, or raise 'tries'",
                                (long long)g->count, (int)k, (long long)g->tries);
        }
        random_add(f, order[k].body);
    }
    return TALUS_OK;
}

talus_status tl_scene_place_random(talus_scene *s, int32_t index, tl_rng *rng) {
    tl_source *source = &s->source[index];
    const tl_scene_grains *g = source->grains;
    const int32_t existing = s->grain_count, count = (int32_t)g->count;
    random_fill f = {.s = s, .source = source, .clearance = g->clearance};
    random_order *order = NULL;
    talus_status status = tl_scene_reserve(s, source, count);
    if (status != TALUS_OK) return status;
    TL_GOTO(TL_ALLOC(s->ctx, count, &order));
    for (int32_t k = 0; k < count; k++) {
        TL_GOTO(tl_scene_draw(s, index, rng, &s->grain[existing + k]));
        order[k] = (random_order){.body = existing + k, .extent = random_extent(s, existing + k)};
    }
    random_sort(order, count);
    TL_GOTO(random_prepare(&f, existing, count));
    TL_GOTO(random_place(&f, order, count, rng));
    s->grain_count += count;
done:
    tl_free(s->ctx, f.walls);
    tl_free(s->ctx, f.pose);
    tl_free(s->ctx, f.next);
    tl_free(s->ctx, f.head);
    tl_free(s->ctx, order);
    return status;
}
