// SPDX-License-Identifier: Apache-2.0
// Bodies and sand from a recording: the free bodies of its last checkpoint become bodies of this
// scene, and its particles, where this scene has sand, particles of that.
// Their shapes, masses and damping are those of the recorded scene, which is read again; their
// materials are this scene's of the same names.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct start_taker {
    talus_scene *s;
    const talus_scene *from;
    const talus_world *world; // of `from`, at the checkpoint
    talus_body_view bodies;
    int32_t *source; // for each of `from`: its number here; −1: not taken
    int32_t *shape;  // likewise; −1: not taken so far
    int32_t count;   // bodies that are taken
} start_taker;

// What went wrong elsewhere, at the key that led there.
static talus_status start_repeat(const talus_scene *s, talus_status status) {
    char reason[600];
    if (status == TALUS_ERR_MEMORY) return status;
    (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
    return tl_node_fail_key(&s->doc, tl_node_find(s->keys.start.node, "from"), "%s", reason);
}

static bool start_has_name(const talus_scene *s, const char *name) {
    for (int32_t k = 0; name[0] && k < s->source_count; k++)
        if (strcmp(s->source[k].name, name) == 0) return true;
    return false;
}

// The material of this scene that has the name of a material of the other.
static talus_status start_find_material(const start_taker *t, int32_t other, int32_t *out) {
    const char *name = t->from->material_name[other];
    for (*out = 0; *out < t->s->material_count; (*out)++)
        if (strcmp(t->s->material_name[*out], name) == 0) return TALUS_OK;
    return tl_scene_fail_name(&t->s->doc, tl_node_find(t->s->keys.start.node, "from"), name,
                              "a material of this scene, but of bodies in that recording",
                              tl_scene_material_at, t->s);
}

// Which entries of the recorded scene give bodies, behind the entries of this one.
static talus_status start_sources(start_taker *t) {
    talus_scene *s = t->s;
    const talus_scene *from = t->from;
    const int32_t all = from->source_count + from->taken_count;
    tl_source *list = NULL;
    TL_TRY(TL_TAKE(&s->arena, s->source_count + all, &list));
    TL_TRY(TL_TAKE(&s->arena, all, &t->source));
    if (s->source_count > 0) memcpy(list, s->source, (size_t)s->source_count * sizeof *list);
    for (int32_t k = 0; k < all; k++) {
        const tl_source *other = &from->source[k];
        t->source[k] = -1;
        if (!tl_source_is_free(other) || start_has_name(s, other->name)) continue;
        tl_source *own = &list[s->source_count + s->taken_count];
        *own = *other;
        own->node = s->keys.start.node;
        own->taken = s->start_path;
        own->first = own->count = 0;
        TL_TRY(start_find_material(t, other->material, &own->material));
        t->source[k] = s->source_count + s->taken_count++;
    }
    s->source = list;
    return TALUS_OK;
}

// Joints are not taken: a body that hangs on one would fall.
static talus_status start_check_joints(const start_taker *t) {
    for (int32_t k = 0; k < t->from->joint_count; k++) {
        const int32_t ends[2] = {t->from->joint[k].a, t->from->joint[k].b};
        for (int e = 0; e < 2; e++) {
            if (ends[e] < 0 || t->source[t->from->grain[ends[e]].source] < 0) continue;
            return tl_node_fail_key(
                &t->s->doc, tl_node_find(t->s->keys.start.node, "from"),
                "bodies.%d '%s' of that recording is held by a joint, and joints are not taken "
                "over: name it in the recorded scene and give body and joint in this one",
                (int)ends[e], t->from->source[t->from->grain[ends[e]].source].name);
        }
    }
    return TALUS_OK;
}

static talus_status start_take_body(start_taker *t, int32_t body) {
    talus_scene *s = t->s;
    const tl_grain *other = &t->from->grain[body];
    const int32_t source = t->source[other->source];
    const int64_t at = body;
    if (source < 0) return TALUS_OK;
    if (t->shape[other->shape] < 0)
        TL_TRY(tl_scene_add_shape(s, &t->from->shape[other->shape], &t->shape[other->shape]));
    TL_TRY(tl_scene_reserve(s, &s->source[source], 1));
    tl_grain *grain = &s->grain[s->grain_count];
    *grain = *other;
    grain->source = source;
    grain->shape = t->shape[other->shape];
    grain->due = 0.0;
    tl_copy3(t->bodies.position + 3 * at, grain->x);
    memcpy(grain->q, t->bodies.orientation + 4 * at, sizeof grain->q);
    double *motion = s->start_motion + 6 * (int64_t)t->count;
    if (s->keys.start.velocities) {
        tl_copy3(t->bodies.velocity + 3 * at, motion);
        tl_copy3(t->bodies.spin + 3 * at, motion + 3);
    }
    grain->taken = ++t->count;
    if (s->source[source].count++ == 0) s->source[source].first = s->grain_count;
    s->grain_count++;
    return TALUS_OK;
}

static talus_status start_take_sand(talus_scene *s, const talus_world *w) {
    static const double rest[3] = {0};
    talus_sand_view v;
    talus_world_sand(w, &v);
    if (!s->keys.sand.node || v.count == 0) return TALUS_OK;
    TL_TRY(TL_TAKE(&s->arena, 7 * v.count, &s->start_sand));
    for (int64_t i = 0; i < v.count; i++) {
        double *to = s->start_sand + 7 * i;
        tl_copy3(v.position + 3 * i, to);
        tl_copy3(s->keys.start.velocities ? v.velocity + 3 * i : rest, to + 3);
        to[6] = v.volume[i];
    }
    s->start_sand_count = v.count;
    return TALUS_OK;
}

static talus_status start_take(talus_scene *s, const talus_world *w) {
    start_taker t = {.s = s, .from = s->start, .world = w};
    talus_world_bodies(w, &t.bodies);
    TL_TRY(start_sources(&t));
    TL_TRY(start_check_joints(&t));
    TL_TRY(TL_TAKE(&s->arena, 6 * (int64_t)t.bodies.count, &s->start_motion));
    TL_TRY(TL_TAKE(&s->arena, s->start->shape_count, &t.shape));
    for (int32_t k = 0; k < s->start->shape_count; k++) t.shape[k] = -1;
    for (int32_t k = 0; k < t.bodies.count; k++) TL_TRY(start_take_body(&t, k));
    TL_TRY(start_take_sand(s, w));
    if (t.count == 0 && s->start_sand_count == 0)
        return tl_node_fail_key(
            &s->doc, tl_node_find(s->keys.start.node, "from"),
            "the recording has no free bodies that this scene does not have, and "
            "no sand that it could take");
    return TALUS_OK;
}

// The recorded scene, and its world at the last checkpoint.
static talus_status start_open(talus_scene *s, talus_playback *p, talus_world **out) {
    const talus_playback_info info = talus_playback_get_info(p);
    const tl_node *node = tl_node_find(s->keys.start.node, "from");
    talus_checkpoint checkpoint;
    if (info.dim != s->dim)
        return tl_node_fail_key(&s->doc, node, "the recording is in %dD, this scene in %dD",
                                (int)info.dim, (int)s->dim);
    if (info.checkpoints == 0)
        return tl_node_fail_key(&s->doc, node, "the recording holds no checkpoint");
    if (s->depth + 1 >= TL_SCENE_DEPTH)
        return tl_node_fail_key(&s->doc, node,
                                "more than %d recordings that start from each other, perhaps in a "
                                "circle",
                                TL_SCENE_DEPTH);
    talus_status status =
        tl_scene_of_recording(s->ctx, p, NULL, 0, s->most, s->depth + 1, &s->start);
    if (status == TALUS_OK)
        status = talus_playback_checkpoint(p, info.checkpoints - 1, &checkpoint);
    if (status == TALUS_OK) status = talus_scene_restore(s->start, &checkpoint, out);
    return status == TALUS_OK ? TALUS_OK : start_repeat(s, status);
}

talus_status tl_scene_take_start(talus_scene *s) {
    talus_status status = TALUS_OK;
    talus_playback *p = NULL;
    talus_world *w = NULL;
    char *path = NULL;
    if (!s->keys.start.node) return TALUS_OK;
    TL_TRY(tl_scene_beside(s, s->keys.start.from, &path));
    s->start_path = path;
    status = talus_playback_open(s->ctx, path, &p);
    if (status != TALUS_OK) return start_repeat(s, status);
    TL_GOTO(start_open(s, p, &w));
    TL_GOTO(start_take(s, w));
done:
    talus_world_destroy(w);
    talus_playback_close(p);
    return status;
}
