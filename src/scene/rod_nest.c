// SPDX-License-Identifier: Apache-2.0
// A nest: arcs at random heights, turns and tilts, one after the other where they are free of those
// before them.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>

#define NEST_PI 3.14159265358979323846

static double nest_clamp(double t) { return fmin(1.0, fmax(0.0, t)); }

// Square of the distance of two segments p + s d, q + t e: the quadratic form is least inside the
// unit square, or on one of its sides, where it is least for one of s, t at 0 or 1.
static double nest_distance(const double p[3], const double d[3], const double q[3],
                            const double e[3]) {
    double r[3], w[3];
    tl_sub3(p, q, r);
    const double a = tl_dot3(d, d), b = tl_dot3(d, e), c = tl_dot3(e, e);
    const double f = tl_dot3(d, r), g = tl_dot3(e, r), det = a * c - b * b;
    double s = det > 1e-12 * a * c ? nest_clamp((b * g - c * f) / det) : 0.0;
    const double t = nest_clamp((b * s + g) / c);
    s = nest_clamp((b * t - f) / a);
    tl_axpy3(r, s, d, w);
    tl_axpy3(w, -t, e, w);
    return tl_dot3(w, w);
}

static void nest_box(const tl_fibre *f, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int64_t i = 0; i < f->nodes; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], f->x[3 * i + k]);
            high[k] = fmax(high[k], f->x[3 * i + k]);
        }
}

static bool nest_is_free(const talus_scene *s, int32_t first, const tl_fibre *f, double room) {
    double low[3], high[3];
    nest_box(f, low, high);
    for (int32_t k = first; &s->fibre[k] < f; k++) {
        const tl_fibre *g = &s->fibre[k];
        double from[3], to[3];
        bool near = true;
        nest_box(g, from, to);
        for (int e = 0; e < 3; e++)
            near = near && from[e] < high[e] + room && to[e] > low[e] - room;
        for (int64_t i = 0; near && i + 1 < f->nodes; i++)
            for (int64_t j = 0; j + 1 < g->nodes; j++) {
                double d[3], e[3];
                tl_sub3(f->x + 3 * (i + 1), f->x + 3 * i, d);
                tl_sub3(g->x + 3 * (j + 1), g->x + 3 * j, e);
                if (nest_distance(f->x + 3 * i, d, g->x + 3 * j, e) < room * room) return false;
            }
    }
    return true;
}

// An arc of the nest's radius that comes as near to the axis as the height says: low ones cross the
// bottom, high ones are the rim of a bowl.
static void nest_draw(const tl_rod_nest *n, double thick, tl_rng *rng, tl_fibre *f) {
    const double up = tl_rng_unit(rng), z = thick + (n->height - thick) * up;
    const double near = n->radius * (0.1 + 0.75 * up + 0.15 * tl_rng_unit(rng));
    const double turn = tl_rng_range(rng, 0.0, 2.0 * NEST_PI);
    const double lean = tl_rng_range(rng, -n->tilt, n->tilt), way = tl_rng_range(rng, 0.0, NEST_PI);
    const double axis[3] = {lean * cos(way), lean * sin(way), 0.0};
    double q[4];
    tl_quat_exp(axis, q);
    for (int64_t k = 0; k < f->nodes; k++) {
        const double t = n->length / n->radius * ((double)k / (f->nodes - 1) - 0.5);
        double x[3] = {near + n->radius * (cos(t) - 1.0), n->radius * sin(t), 0.0};
        const double a = x[0] * cos(turn) - x[1] * sin(turn);
        x[1] = x[0] * sin(turn) + x[1] * cos(turn);
        x[0] = a;
        tl_rotate(q, x, x);
        x[2] += z + n->radius * fabs(sin(lean));
        tl_axpy3(n->at, 1.0, x, f->x + 3 * k);
    }
}

talus_status tl_rods_place_nest(talus_scene *s, int32_t source, int32_t nodes) {
    const tl_scene_rod *keys = (const tl_scene_rod *)s->keys.rods.data + source;
    const tl_rod_nest *n = &keys->nest;
    const double room = (2.0 + n->gap) * keys->radius, thick = (1.0 + n->gap) * keys->radius;
    const int32_t first = s->fibre_count;
    tl_rng rng = {(uint64_t)keys->seed};
    if (n->length > 1.9 * NEST_PI * n->radius)
        return tl_node_fail(&s->doc, tl_node_find(n->node, "length"),
                            "%g m: a rod would go around the nest and meet itself; at most %.3g m",
                            n->length, 1.9 * NEST_PI * n->radius);
    for (int64_t k = 0; k < n->count; k++) {
        tl_fibre *f;
        bool placed = false;
        TL_TRY(tl_fibre_add(s, source, nodes, &f));
        for (int64_t t = 0; t < n->tries && !placed; t++) {
            nest_draw(n, thick, &rng, f);
            placed = nest_is_free(s, first, f, room);
        }
        if (!placed)
            return tl_node_fail(&s->doc, n->node,
                                "no room for rod %lld of %lld after %lld tries: use fewer or "
                                "thinner rods, or a larger nest",
                                (long long)k, (long long)n->count, (long long)n->tries);
    }
    return TALUS_OK;
}
