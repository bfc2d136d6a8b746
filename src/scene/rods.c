// SPDX-License-Identifier: Apache-2.0
// Rods of a scene: what of their keys goes together, who holds their ends, and the shape they have
// without loads.
#define _GNU_SOURCE // sysconf names
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A turn of a curl needs at least so many segments to be one.
#define RODS_PER_TURN 6.0
// What a run holds for a node, without contacts; measured, see docs/guide/rods.md [bytes].
#define RODS_NODE_BYTES 5.5e3

static tl_scene_rod *rods_keys(const talus_scene *s, int32_t source) {
    return (tl_scene_rod *)s->keys.rods.data + source;
}

void tl_fibre_show(const talus_scene *s, const tl_fibre *fibre, char out[120]) {
    const char *name = rods_keys(s, fibre->source)->name;
    (void)snprintf(out, 120, "rod %d of rods.%d%s%.60s%s", (int)fibre->number, (int)fibre->source,
                   name[0] ? " '" : "", name, name[0] ? "'" : "");
}

// ---- keys ----

// An end that is held by a body: the body must not be moved by the rod.
static talus_status rods_check_end(const talus_scene *s, const tl_scene_rod *keys, const char *key,
                                   const char *body, int32_t held) {
    const tl_node *node = tl_node_find(keys->node, body);
    int32_t index;
    if (!node) return TALUS_OK;
    if (held == (int32_t)TALUS_END_FREE)
        return tl_node_fail_key(&s->doc, node,
                                "'%s' holds an end that is free: '%s' must be pinned or clamped",
                                body, key);
    TL_TRY(tl_scene_find_body(s, node, node->text, &index));
    if (tl_source_is_free(&s->source[index]))
        return tl_node_fail(&s->doc, node,
                            " = '%s': this body moves freely; only one that is fixed or has a "
                            "motion can hold a rod",
                            node->text);
    return TALUS_OK;
}

static talus_status rods_check(talus_scene *s, int32_t source) {
    tl_scene_rod *keys = rods_keys(s, source);
    static const char *const place[] = {"line",  "points", "file", "circle", "helix",
                                        "tress", "cap",    "rope", "net",    "nest"};
    const tl_node *given = NULL;
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) {
        const tl_node *node = tl_node_find(keys->node, place[k]);
        if (node && given)
            return tl_node_fail_key(&s->doc, node, "'%s' and '%s' both say where the rod is",
                                    given->key, place[k]);
        if (node) given = node;
    }
    if (!given)
        return tl_node_fail(&s->doc, keys->node,
                            "does not say where the rod is: give one of line, points, file, "
                            "circle, helix, tress, cap, rope, net, nest");
    if (!tl_node_find(keys->node, "start") && (keys->tress.node || keys->cap.node))
        keys->start = (int32_t)TALUS_END_CLAMPED;
    TL_TRY(rods_check_end(s, keys, "start", "start_body", keys->start));
    TL_TRY(rods_check_end(s, keys, "end", "end_body", keys->end));
    if (tl_scene_find_material(s, keys->material) < 0)
        return tl_scene_fail_name(&s->doc, tl_node_find(keys->node, "material"), keys->material,
                                  "a material", tl_scene_material_at, s);
    const tl_node *points = tl_node_find(keys->natural.node, "points");
    const tl_node *file = tl_node_find(keys->natural.node, "file");
    const tl_node *shape = tl_node_find(keys->natural.node, "shape");
    if ((points != NULL) + (file != NULL) + (shape != NULL) > 1)
        return tl_node_fail(&s->doc, keys->natural.node,
                            "only one of 'shape', 'points' and 'file' can say what it is");
    if (!tl_node_find(keys->node, "seed")) {
        // Streams of different entries differ, also from those of grains and sand.
        tl_rng rng = {(uint64_t)s->keys.seed ^
                      (UINT64_C(0xe7037ed1a0b428db) * (uint64_t)(source + 1))};
        keys->seed = (int64_t)(tl_rng_next(&rng) >> 11);
    }
    return TALUS_OK;
}

static talus_status rods_check_scene(const talus_scene *s) {
    const tl_node *node = tl_node_find(s->doc.root, "rods");
    if (s->dim == 2) return tl_node_fail_key(&s->doc, node, "'rods' are for dimension: 3");
    if (s->keys.scheme == (int32_t)TALUS_SCHEME_PENALTY)
        return tl_node_fail_key(&s->doc, node, "'rods' do not go with the scheme 'penalty'");
    return TALUS_OK;
}

// ---- files ----

// The next three numbers; returns what follows them, NULL where there are not three.
static const char *rods_read_line(const char *text, double out[3]) {
    for (int k = 0; k < 3; k++) {
        char *end;
        out[k] = strtod(text, &end);
        if (end == text || !isfinite(out[k]) || fabs(out[k]) > 1e100) return NULL;
        text = end;
        text += strspn(text, " \t,;");
    }
    return text;
}

static bool rods_line_counts(const char *line) {
    line += strspn(line, " \t\r\n");
    return *line != '\0' && *line != '#';
}

talus_status tl_rods_read_file(const talus_scene *s, const tl_node *node, const char *name,
                               tl_numbers *out) {
    char line[512], *path;
    talus_status status = TALUS_OK;
    int32_t number = 0, count = 0;
    TL_TRY(tl_scene_beside(s, name, &path));
    FILE *file = fopen(path, "r");
    if (!file)
        return tl_node_fail(&s->doc, node, "%s: cannot be opened: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file) && count < s->most) count += rods_line_counts(line);
    rewind(file);
    TL_GOTO(TL_TAKE(&((talus_scene *)s)->arena, 3 * (int64_t)count, &out->value));
    while (out->count < count && fgets(line, sizeof line, file)) {
        number++;
        if (!rods_line_counts(line)) continue;
        const char *rest =
            rods_read_line(line + strspn(line, " \t"), out->value + 3 * (int64_t)out->count++);
        if (rest && !rods_line_counts(rest)) continue;
        status = tl_node_fail(&s->doc, node, "%s:%d: must be three numbers", path, (int)number);
        goto done;
    }
done:
    (void)fclose(file);
    return status;
}

// ---- natural shapes ----

static double rods_length(const tl_fibre *f, const double *x) {
    double sum = 0.0, d[3];
    for (int32_t k = 0; k + 1 < f->nodes; k++) {
        tl_sub3(x + 3 * (int64_t)(k + 1), x + 3 * (int64_t)k, d);
        sum += tl_norm3(d);
    }
    return sum;
}

static talus_status rods_check_curl(const talus_scene *s, const tl_scene_rod *keys,
                                    const tl_fibre *f) {
    const tl_rod_natural *n = &keys->natural;
    const double length = rods_length(f, f->x), rise = n->pitch / (2.0 * acos(-1.0));
    const double turns = length / (2.0 * acos(-1.0) * hypot(n->radius, rise));
    const double wanted = ceil(RODS_PER_TURN * turns) + 1.0;
    if (f->nodes >= wanted || f->nodes < 3) return TALUS_OK;
    return tl_node_fail(&s->doc, n->node,
                        "a rod of %.4g m makes %.3g turns of this curl; %d nodes are too few to "
                        "show them: use at least %.0f",
                        length, turns, (int)f->nodes, wanted);
}

static talus_status rods_natural_points(const talus_scene *s, const tl_scene_rod *keys,
                                        tl_fibre *f) {
    const tl_node *node = tl_node_find(keys->natural.node, "points");
    if (keys->natural.points.count != f->nodes)
        return tl_node_fail(&s->doc, node, "has %d points; the rod has %d nodes",
                            (int)keys->natural.points.count, (int)f->nodes);
    f->natural = keys->natural.points.value;
    return TALUS_OK;
}

// Curvatures of all rods of the entry, one after the other, and then, where there are more rows,
// the first material axes of their segments likewise.
static talus_status rods_natural_file(const talus_scene *s, const tl_scene_rod *keys, int32_t first,
                                      int32_t count) {
    const tl_node *node = tl_node_find(keys->natural.node, "file");
    tl_numbers rows = {0};
    int64_t inner = 0, segments = 0, at = 0;
    TL_TRY(tl_rods_read_file(s, node, keys->natural.file, &rows));
    for (int32_t k = first; k < first + count; k++) {
        inner += s->fibre[k].nodes - 2;
        segments += s->fibre[k].nodes - 1;
    }
    if (rows.count != inner && rows.count != inner + segments)
        return tl_node_fail(&s->doc, node,
                            "%s has %d rows; the %d rods of this entry have %lld inner nodes (and "
                            "%lld segments, whose axes may follow)",
                            keys->natural.file, (int)rows.count, (int)count, (long long)inner,
                            (long long)segments);
    for (int32_t k = first; k < first + count; k++) {
        tl_fibre *f = &s->fibre[k];
        const int64_t own = at - (k - first); // as many segments before it, less one for each rod
        if (f->nodes > 2) f->curvature = rows.value + 3 * own;
        if (rows.count > inner) f->director = rows.value + 3 * (inner + at);
        at += f->nodes - 1;
    }
    return TALUS_OK;
}

static bool rods_is_straight(const tl_scene_rod *keys) {
    return keys->line.node || keys->tress.node || keys->cap.node;
}

// A rod that lies straight is wound about where it was, from its first node on.
static void rods_wind_up(tl_fibre *f, const double *wound) {
    double axis[3], frame[9], from[3];
    tl_copy3(f->x, from);
    tl_sub3(f->x + 3 * (int64_t)(f->nodes - 1), from, axis);
    tl_scale3(1.0 / tl_norm3(axis), axis, axis);
    tl_frame(3, axis, frame);
    for (int64_t k = 0; k < f->nodes; k++)
        for (int e = 0; e < 3; e++)
            f->x[3 * k + e] = from[e] + wound[3 * k] * frame[3 + e] +
                              wound[3 * k + 1] * frame[6 + e] + wound[3 * k + 2] * axis[e];
}

static talus_status rods_natural_one(talus_scene *s, const tl_scene_rod *keys, tl_fibre *f) {
    const tl_rod_natural *n = &keys->natural;
    double *x = NULL;
    if (n->points.count > 0) return rods_natural_points(s, keys, f);
    if (n->shape == TL_NATURAL_PLACED) f->natural = f->x;
    if (n->shape != TL_NATURAL_CURL) return TALUS_OK;
    TL_TRY(rods_check_curl(s, keys, f));
    const bool wind = n->placed && rods_is_straight(keys);
    TL_TRY(TL_TAKE(&s->arena, 3 * (int64_t)f->nodes, &x));
    tl_rods_wind(n->radius, n->pitch, wind, rods_length(f, f->x) / (f->nodes - 1), f->nodes, x);
    if (wind) rods_wind_up(f, x);
    f->natural = wind ? f->x : x;
    return TALUS_OK;
}

static talus_status rods_natural(talus_scene *s, int32_t source, int32_t first) {
    const tl_scene_rod *keys = rods_keys(s, source);
    const tl_node *placed = tl_node_find(keys->natural.node, "placed");
    if (placed && keys->natural.placed && !rods_is_straight(keys))
        return tl_node_fail(&s->doc, placed,
                            "only rods that begin straight (line, tress, cap) can be wound up");
    if (keys->natural.file) return rods_natural_file(s, keys, first, s->fibre_count - first);
    for (int32_t k = first; k < s->fibre_count; k++)
        TL_TRY(rods_natural_one(s, keys, &s->fibre[k]));
    return TALUS_OK;
}

// ---- all ----

talus_status tl_fibre_add(talus_scene *s, int32_t source, int32_t nodes, tl_fibre **out) {
    const tl_scene_rod *keys = rods_keys(s, source);
    if (s->fibre_nodes + nodes > s->most)
        return tl_node_fail(&s->doc, keys->node,
                            "more than the %d nodes of rods that are allowed: use fewer", s->most);
    if (s->fibre_count == s->fibre_room) {
        const int32_t room = s->fibre_room + s->fibre_room / 2 + 64;
        TL_TRY(tl_realloc(s->ctx, s->fibre_count, room, sizeof *s->fibre, &s->fibre));
        s->fibre_room = room;
    }
    tl_fibre *f = &s->fibre[s->fibre_count];
    const bool first = s->fibre_count == 0 || f[-1].source != source;
    *f = (tl_fibre){.source = source, .number = first ? 0 : f[-1].number + 1, .nodes = nodes};
    TL_TRY(TL_TAKE(&s->arena, 3 * (int64_t)nodes, &f->x));
    s->fibre_count++;
    s->fibre_nodes += nodes;
    *out = f;
    return TALUS_OK;
}

// Nodes that lie on each other, or where numbers end.
static talus_status rods_check_nodes(const talus_scene *s, const tl_fibre *f) {
    const tl_scene_rod *keys = rods_keys(s, f->source);
    char name[120];
    tl_fibre_show(s, f, name);
    for (int32_t k = 0; k + 1 < f->nodes; k++) {
        double d[3];
        tl_sub3(f->x + 3 * (int64_t)(k + 1), f->x + 3 * (int64_t)k, d);
        if (!(tl_norm3(d) > 1e-9 * keys->radius))
            return tl_node_fail(&s->doc, keys->node,
                                "nodes %d and %d of %s are in the same place: leave one out",
                                (int)k, (int)k + 1, name);
    }
    return TALUS_OK;
}

static talus_status rods_check_memory(const talus_scene *s) {
    const double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double need = 0.0;
    for (int32_t k = 0; k < s->fibre_count; k++) {
        need += RODS_NODE_BYTES * s->fibre[k].nodes;
        if (need > have)
            return tl_node_fail(&s->doc, rods_keys(s, s->fibre[k].source)->node,
                                "the rods up to here would take about %.3g GB of memory; this "
                                "machine has %.3g GB: use fewer or shorter ones",
                                need * 1e-9, have * 1e-9);
    }
    return TALUS_OK;
}

talus_status tl_scene_make_rods(talus_scene *s) {
    if (s->keys.rods.count == 0) return TALUS_OK;
    TL_TRY(rods_check_scene(s));
    for (int32_t k = 0; k < s->keys.rods.count; k++) {
        const int32_t first = s->fibre_count;
        TL_TRY(rods_check(s, k));
        TL_TRY(tl_rods_place(s, k));
        for (int32_t i = first; i < s->fibre_count; i++) TL_TRY(rods_check_nodes(s, &s->fibre[i]));
        TL_TRY(rods_natural(s, k, first));
    }
    return rods_check_memory(s);
}

talus_status tl_fibre_def(const talus_scene *s, const tl_fibre *f, talus_rod_def *out) {
    const tl_scene_rod *keys = rods_keys(s, f->source);
    const tl_node *start = tl_node_find(keys->node, "start_body");
    const tl_node *end = tl_node_find(keys->node, "end_body");
    *out = talus_rod_default();
    out->kind = (talus_rod_kind)keys->model;
    out->nodes = f->nodes;
    out->position = f->x;
    out->natural = f->natural;
    out->curvature = f->curvature;
    out->director = f->director;
    out->pieces = (int32_t)keys->pieces;
    out->radius = keys->radius;
    out->density = keys->density;
    out->young = keys->young;
    out->shear = keys->shear;
    out->damping = keys->damping;
    out->drag = keys->drag;
    tl_copy3(keys->velocity, out->velocity);
    out->material = tl_scene_find_material(s, keys->material) + 1; // 0 is the world's own
    out->start = (talus_rod_end)keys->start;
    out->end = (talus_rod_end)keys->end;
    out->start_body = out->end_body = -1;
    out->self_contact = keys->self_contact;
    if (start) TL_TRY(tl_scene_find_body(s, start, start->text, &out->start_body));
    if (end) TL_TRY(tl_scene_find_body(s, end, end->text, &out->end_body));
    return TALUS_OK;
}

talus_status tl_scene_add_rods(const talus_scene *s, talus_world *w) {
    for (int32_t k = 0; k < s->fibre_count; k++) {
        talus_rod_def def;
        int32_t index;
        TL_TRY(tl_fibre_def(s, &s->fibre[k], &def));
        const talus_status status = talus_world_add_rod(w, &def, &index);
        if (status == TALUS_ERR_MEMORY) return status;
        if (status != TALUS_OK) {
            char reason[600], name[120];
            (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
            tl_fibre_show(s, &s->fibre[k], name);
            return tl_node_fail(&s->doc, rods_keys(s, s->fibre[k].source)->node, "%s: %s", name,
                                reason);
        }
    }
    return TALUS_OK;
}
