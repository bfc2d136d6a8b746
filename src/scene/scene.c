// SPDX-License-Identifier: Apache-2.0
// The public face: files and texts in, a checked scene with all its bodies out, and its world.
#include "base/vec3.h"
#include "scene/scene_impl.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

// The text as it was read, with the overrides below it as comments.
static talus_status scene_keep_text(talus_scene *s, const char *text, size_t length,
                                    const char *const *set, int32_t set_count) {
    static const char mark[] = "# --set ";
    size_t room = length + 2;
    char *out = NULL;
    for (int32_t k = 0; k < set_count; k++) room += sizeof mark + strlen(set[k]) + 1;
    TL_TRY(tl_arena_take(&s->arena, (int64_t)room, 1, &out));
    s->text = out;
    if (length > 0) memcpy(out, text, length);
    out += length;
    if (set_count > 0 && length > 0 && text[length - 1] != '\n') *out++ = '\n';
    for (int32_t k = 0; k < set_count; k++) {
        memcpy(out, mark, sizeof mark - 1);
        out += sizeof mark - 1;
        // A comment ends with its line.
        for (const char *c = set[k]; *c; c++) *out++ = *c == '\n' || *c == '\r' ? ' ' : *c;
        *out++ = '\n';
    }
    return TALUS_OK;
}

static talus_status scene_build(talus_scene *s, const char *name, const char *text, size_t length,
                                const char *const *set, int32_t set_count) {
    s->doc.arena = &s->arena;
    TL_TRY(tl_arena_text(&s->arena, name, strlen(name), &s->doc.name));
    TL_TRY(scene_keep_text(s, text, length, set, set_count));
    TL_TRY(tl_doc_read(&s->doc, text, length, set, set_count));
    TL_TRY(tl_scene_read_keys(&s->doc, &s->keys));
    s->dim = (int32_t)s->keys.dimension;
    TL_TRY(tl_scene_check(s));
    TL_TRY(tl_scene_generate(s));
    TL_TRY(tl_scene_check_overlaps(s));
    TL_TRY(tl_scene_make_rods(s));
    TL_TRY(tl_scene_check_rod_overlaps(s));
    TL_TRY(tl_scene_fill_sand(s));
    s->doc.set = NULL; // the caller's; no error comes from now on that would show them
    return TALUS_OK;
}

static talus_status scene_parse(talus_context *ctx, const char *name, const char *text,
                                size_t length, const char *const *set, int32_t set_count,
                                int32_t most, int32_t depth, talus_scene **out) {
    talus_scene *s = NULL;
    *out = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &s));
    s->ctx = s->arena.ctx = ctx;
    s->most = most;
    s->depth = depth;
    const talus_status status = scene_build(s, name, text, length, set, set_count);
    if (status != TALUS_OK) {
        talus_scene_destroy(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

talus_status tl_scene_parse(talus_context *ctx, const char *name, const char *text, size_t length,
                            const char *const *set, int32_t set_count, int32_t most,
                            talus_scene **out) {
    return scene_parse(ctx, name, text, length, set, set_count, most, 0, out);
}

talus_status tl_scene_of_recording(talus_context *ctx, const talus_playback *p,
                                   const char *const *set, int32_t set_count, int32_t most,
                                   int32_t depth, talus_scene **out) {
    const talus_playback_info info = talus_playback_get_info(p);
    const char **all = NULL;
    *out = NULL;
    TL_TRY(tl_alloc(ctx, (int64_t)info.set_count + set_count, sizeof *all, &all));
    for (int32_t k = 0; k < info.set_count; k++) all[k] = talus_playback_set_at(p, k);
    for (int32_t k = 0; k < set_count; k++) all[info.set_count + k] = set[k];
    const talus_status status = scene_parse(
        ctx, info.scene_path[0] ? info.scene_path : "scene of the recording", info.scene,
        strlen(info.scene), all, info.set_count + set_count, most, depth, out);
    tl_free(ctx, all);
    return status;
}

talus_status talus_scene_of_recording(talus_context *ctx, const talus_playback *p,
                                      const char *const *set, int32_t set_count,
                                      talus_scene **out) {
    return tl_scene_of_recording(ctx, p, set, set_count, TL_SCENE_MOST, 0, out);
}

talus_status talus_scene_parse(talus_context *ctx, const char *name, const char *text,
                               size_t length, const char *const *set, int32_t set_count,
                               talus_scene **out) {
    return tl_scene_parse(ctx, name, text, length, set, set_count, TL_SCENE_MOST, out);
}

void talus_scene_destroy(talus_scene *s) {
    if (!s) return;
    for (int32_t k = 0; k < s->solid_count; k++) tl_solid_destroy(s->ctx, s->solid[k]);
    tl_free(s->ctx, s->solid);
    tl_free(s->ctx, s->grain);
    tl_free(s->ctx, s->shape);
    tl_free(s->ctx, s->particle);
    tl_free(s->ctx, s->fibre);
    talus_scene_destroy(s->start);
    tl_arena_clear(&s->arena);
    tl_free(s->ctx, s);
}

// The whole file; *length bytes.
static talus_status scene_load(talus_context *ctx, const char *path, char **out, size_t *length) {
    talus_status status = TALUS_OK;
    size_t room = 1 << 16, got = 0;
    *length = 0;
    errno = 0;
    FILE *file = fopen(path, "rb");
    TL_REQUIRE(ctx, file, TALUS_ERR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    TL_GOTO(tl_alloc(ctx, (int64_t)room, 1, out));
    while ((got = fread(*out + *length, 1, room - *length, file)) > 0) {
        *length += got;
        if (*length > TL_NODE_BYTES) break; // reading it will say so
        if (*length < room) continue;
        TL_GOTO(tl_realloc(ctx, (int64_t)room, (int64_t)(2 * room), 1, out));
        room *= 2;
    }
    if (ferror(file)) {
        status = tl_fail(ctx, TALUS_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
done:
    (void)fclose(file);
    return status;
}

talus_status talus_scene_read(talus_context *ctx, const char *path, const char *const *set,
                              int32_t set_count, talus_scene **out) {
    char *text = NULL;
    size_t length = 0;
    *out = NULL;
    talus_status status = scene_load(ctx, path, &text, &length);
    if (status == TALUS_OK) {
        status = talus_scene_parse(ctx, path, text, length, set, set_count, out);
    }
    tl_free(ctx, text);
    return status;
}

talus_scene_info talus_scene_get_info(const talus_scene *s) {
    const tl_scene_keys *k = &s->keys;
    talus_scene_info info = {.title = k->title,
                             .text = s->text,
                             .dim = s->dim,
                             .bodies = s->start_count,
                             .free_bodies = s->free_count,
                             .later_bodies = s->grain_count - s->start_count,
                             .particles = s->particle_count + s->start_sand_count,
                             .sand_bytes = s->sand_bytes,
                             .rods = s->fibre_count,
                             .rod_nodes = s->fibre_nodes,
                             .until = k->run.until,
                             .steps = k->run.steps,
                             .frame_interval = k->output.every,
                             .record_contacts = k->output.contacts,
                             .record_ledger = k->output.ledger,
                             .record_xdmf = k->output.xdmf,
                             .record_precision = (talus_precision)k->output.precision,
                             .observe = k->output.observe.text,
                             .observe_count = k->output.observe.count,
                             .checkpoint_interval = k->output.checkpoints,
                             .start_path = s->start_path ? s->start_path : "",
                             .stop_at_rest = k->run.stop_at_rest,
                             .rest_energy = k->run.rest_energy,
                             .seed = (uint64_t)k->seed};
    const bool chosen = tl_node_find(k->output.node, "fields") != NULL;
    for (int f = 0; f < TALUS_FIELDS; f++) info.record_without[f] = chosen && !k->output.fields[f];
    return info;
}

const char *talus_scene_body_name(const talus_scene *s, int32_t body) {
    if (body < 0 || body >= s->grain_count) return "";
    return s->source[s->grain[body].source].name;
}

const char *talus_scene_rod_name(const talus_scene *s, int32_t rod) {
    const tl_scene_rod *keys = s->keys.rods.data;
    return rod >= 0 && rod < s->fibre_count ? keys[s->fibre[rod].source].name : "";
}

const char *talus_scene_material_name(const talus_scene *s, int32_t material) {
    return material > 0 && material <= s->material_count ? s->material_name[material - 1] : "";
}

// ---- the world ----

talus_body_def tl_scene_body_def(const talus_scene *s, const tl_grain *grain) {
    const tl_source *source = &s->source[grain->source];
    const tl_body_keys *keys = source->body;
    talus_body_def def = talus_body_default();
    def.shape = grain->shape;
    def.material = source->material + 1; // 0 is the world's own
    def.density = keys->density;
    def.mass = grain->mass;
    def.damping = keys->damping;
    def.spin_damping = keys->spin_damping;
    def.motion = source->motion;
    tl_copy3(grain->x, def.position);
    memcpy(def.orientation, grain->q, sizeof def.orientation);
    tl_copy3(keys->inertia, def.inertia);
    tl_copy3(keys->force, def.force);
    tl_copy3(keys->torque, def.torque);
    tl_copy3(keys->velocity, def.velocity);
    tl_copy3(keys->spin, def.spin);
    memcpy(def.locked, keys->locked, sizeof def.locked);
    if (!tl_node_find(keys->motion.node, "pivot")) tl_copy3(grain->x, def.motion.pivot);
    if (grain->taken > 0) {
        const double *motion = s->start_motion + 6 * (int64_t)(grain->taken - 1);
        tl_copy3(motion, def.velocity);
        tl_copy3(motion + 3, def.spin);
    }
    return def;
}

static talus_world_def scene_world_def(const talus_scene *s) {
    const tl_scene_keys *k = &s->keys;
    talus_world_def def = talus_world_default();
    def.dim = s->dim;
    tl_copy3(k->gravity, def.gravity);
    def.scheme = (talus_scheme)k->scheme;
    def.step = k->step.length;
    def.max_move = k->step.max_move;
    def.theta = k->step.theta;
    def.reach = k->step.reach;
    def.continuous = k->step.continuous;
    tl_copy3(k->period, def.period);
    def.penalty = (talus_penalty)k->penalty.spring;
    def.chi = (talus_chi)k->penalty.dissipation;
    def.integrator = (talus_integrator)k->penalty.integrator;
    def.solver = k->solver.name;
    def.tolerance = k->solver.tolerance;
    def.iterations = (int32_t)k->solver.iterations;
    def.time_limit = k->solver.time_limit;
    def.warm_start = k->solver.warm_start;
    def.threads = (int32_t)k->solver.threads;
    return def;
}

static int32_t scene_material(const talus_scene *s, const char *name) {
    int32_t k = 0;
    while (strcmp(s->material_name[k], name) != 0) k++; // check.c has found it
    return k + 1;
}

static talus_status scene_fill_world(const talus_scene *s, talus_world *w) {
    const tl_node *options = s->keys.solver.options;
    const tl_scene_pair *pair = s->keys.pairs.data;
    int32_t index;
    for (const tl_node *n = options ? options->first : NULL; n; n = n->next)
        TL_TRY(talus_world_set_solver(w, n->key, n->text));
    for (int32_t k = 0; k < s->material_count; k++)
        TL_TRY(talus_world_add_material(w, &s->material[k], &index));
    for (int32_t k = 0; k < s->keys.pairs.count; k++)
        TL_TRY(talus_world_set_pair(w, scene_material(s, pair[k].between.text[0]),
                                    scene_material(s, pair[k].between.text[1]), &pair[k].def));
    for (int32_t k = 0; k < s->shape_count; k++)
        TL_TRY(talus_world_add_shape(w, &s->shape[k], &index));
    for (int32_t k = 0; k < s->start_count; k++) {
        const talus_body_def def = tl_scene_body_def(s, &s->grain[k]);
        const talus_status status = talus_world_add_body(w, &def, &index);
        if (status == TALUS_ERR_MEMORY) return status;
        if (status != TALUS_OK) {
            char reason[600];
            (void)snprintf(reason, sizeof reason, "%s", talus_context_last_error(s->ctx));
            return tl_node_fail(&s->doc, s->source[s->grain[k].source].node, "%s", reason);
        }
    }
    TL_TRY(tl_scene_add_rods(s, w));
    TL_TRY(tl_scene_add_sand(s, w));
    return tl_scene_add_joints(s, w);
}

talus_status talus_scene_make_world(const talus_scene *s, talus_world **out) {
    const talus_world_def def = scene_world_def(s);
    talus_world *w = NULL;
    *out = NULL;
    talus_status status = talus_world_create(s->ctx, &def, &w);
    if (status == TALUS_OK) status = scene_fill_world(s, w);
    if (status != TALUS_OK) {
        talus_world_destroy(w);
        return status == TALUS_ERR_FORMAT ? status : tl_fail_prefix(s->ctx, status, s->doc.name);
    }
    *out = w;
    return TALUS_OK;
}

// Bodies that had entered by then are added where they happen to be; the state says where they are.
static talus_status scene_restore(const talus_scene *s, const talus_checkpoint *checkpoint,
                                  talus_world *w) {
    const int32_t bodies = checkpoint->bodies;
    int32_t index;
    TL_REQUIRE(s->ctx, bodies >= s->start_count && bodies <= s->grain_count, TALUS_ERR_FORMAT,
               "%s: makes %d to %d bodies; the checkpoint has %d", s->doc.name, (int)s->start_count,
               (int)s->grain_count, (int)bodies);
    for (int32_t k = s->start_count; k < bodies; k++) {
        const talus_body_def def = tl_scene_body_def(s, &s->grain[k]);
        TL_TRY(talus_world_add_body(w, &def, &index));
    }
    TL_TRY(talus_world_load(w, checkpoint->state, checkpoint->count));
    TL_REQUIRE(s->ctx, talus_world_hash(w) == checkpoint->hash, TALUS_ERR_FORMAT,
               "%s: makes another world than the one that was recorded: a key that counts, or a "
               "file it uses, has changed since",
               s->doc.name);
    return TALUS_OK;
}

talus_status talus_scene_restore(const talus_scene *s, const talus_checkpoint *checkpoint,
                                 talus_world **out) {
    talus_world *w = NULL;
    *out = NULL;
    TL_TRY(talus_scene_make_world(s, &w));
    const talus_status status = scene_restore(s, checkpoint, w);
    if (status != TALUS_OK)
        talus_world_destroy(w);
    else
        *out = w;
    return status;
}
