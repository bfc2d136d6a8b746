// SPDX-License-Identifier: Apache-2.0
// What is looked at: a recording, a scene before anything is simulated, or a run that goes on. A
// run is seen as it is now (view_live.c) and, for what was, through its own recording.
#define _GNU_SOURCE
#include "view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *source_last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void source_lock(const view_source *s, bool begin) {
    if (s->live) view_live_lock_file(s->live, begin);
}

// Bodies and shapes that the recording has got since; its last frame has all bodies.
static talus_status source_update(view_source *s) {
    const talus_playback_info info = talus_playback_get_info(s->play);
    if (s->live || info.frames == 0 || info.bodies <= s->tables.bodies) return TALUS_OK;
    talus_frame frame;
    const talus_status status = talus_playback_frame(s->play, info.frames - 1, &frame);
    if (status != TALUS_OK) return status;
    const view_model model = view_model_of_playback(s->play);
    return view_tables_update(&s->tables, s->ctx, info.dim, &model, &frame.bodies);
}

int view_source_open_recording(view_source *s, talus_context *ctx, const char *path) {
    *s = (view_source){.path = path, .name = source_last_part(path), .ctx = ctx};
    if (talus_playback_open(ctx, path, &s->play) == TALUS_OK) return CLI_DONE;
    cli_error("%s", talus_context_last_error(ctx));
    return CLI_FAILED;
}

int view_source_open_scene(view_source *s, talus_context *ctx, const run *scene) {
    const char *path = scene->setup->scene_path;
    *s = (view_source){.path = path, .name = source_last_part(path), .ctx = ctx, .scene = scene};
    talus_body_view bodies;
    talus_world_bodies(scene->world, &bodies);
    const view_model model = view_model_of_world(scene->world);
    if (view_tables_update(&s->tables, ctx, scene->info.dim, &model, &bodies) == TALUS_OK)
        return CLI_DONE;
    cli_error("%s: %s", path, talus_context_last_error(ctx));
    return CLI_FAILED;
}

void view_source_close(view_source *s) {
    source_lock(s, true);
    talus_playback_close(s->play);
    source_lock(s, false);
    view_tables_clear(&s->tables);
    s->play = NULL;
}

// The recording of a run that goes on, once it is there.
static talus_status source_refresh(view_source *s) {
    talus_status status = TALUS_OK;
    source_lock(s, true);
    if (s->play)
        status = talus_playback_refresh(s->play);
    else if (s->live && s->scene)
        // Not an error yet: the file comes with the first frame.
        (void)!talus_playback_open(s->ctx, s->scene->setup->out, &s->play);
    source_lock(s, false);
    return status;
}

static void source_vector(FILE *out, const char *key, const double x[3]) {
    cli_json_key(out, key, false);
    for (int k = 0; k < 3; k++) {
        fputs(k ? "," : "[", out);
        cli_json_number(out, x[k]);
    }
    fputc(']', out);
}

// The grid of sand.
static void source_sand(FILE *out, bool there, double cell, const double origin[3],
                        const int32_t cells[3]) {
    cli_json_key(out, "sandGrid", false);
    if (!there) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"cell\":%.17g,\"origin\":[%.17g,%.17g,%.17g],\"cells\":[%d,%d,%d]}", cell,
            origin[0], origin[1], origin[2], (int)cells[0], (int)cells[1], (int)cells[2]);
}

static void source_text(FILE *out, const char *key, const char *text, bool first) {
    cli_json_key(out, key, first);
    cli_json_string(out, text);
}

static void source_number(FILE *out, const char *key, double value) {
    cli_json_key(out, key, false);
    cli_json_number(out, value);
}

// The name of a material; the recording or the scene knows it.
static const char *source_material_name(const view_source *s, int32_t material) {
    const char *name = s->play ? talus_playback_material_name(s->play, material)
                               : talus_scene_material_name(s->scene->scene, material);
    return name ? name : "";
}

static void source_materials(const view_source *s, FILE *out, const view_model *model) {
    talus_material_def m;
    cli_json_key(out, "materials", false);
    fputc('[', out);
    for (int32_t k = 0; model->material_at(model->user, k, &m); k++) {
        fputs(k ? ",{" : "{", out);
        source_text(out, "name", source_material_name(s, k), true);
        source_number(out, "friction", m.friction);
        source_number(out, "restitution", m.restitution);
        fputc('}', out);
    }
    fputc(']', out);
}

static void source_kinds(FILE *out) {
    cli_json_key(out, "kinds", false);
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++) {
        fputc(k ? ',' : '[', out);
        cli_json_string(out, talus_shape_text((talus_shape_kind)k));
    }
    fputc(']', out);
}

static void source_field(FILE *out, const talus_ledger_field *field, bool first) {
    fputs(first ? "{" : ",{", out);
    source_text(out, "name", field->name, true);
    source_text(out, "unit", field->unit, false);
    source_text(out, "text", field->text, false);
    fputc('}', out);
}

// What was observed at every step, besides the ledger.
static void source_series(const view_source *s, FILE *out) {
    talus_ledger_field field;
    cli_json_key(out, "series", false);
    fputc('[', out);
    for (int32_t k = 0; s->play && talus_playback_series_at(s->play, k, &field); k++)
        source_field(out, &field, k == 0);
    fputc(']', out);
}

static void source_names(const view_source *s, FILE *out) {
    const int32_t bodies =
        s->play ? talus_playback_get_info(s->play).bodies : s->scene->info.bodies;
    bool first = true;
    cli_json_key(out, "names", false);
    fputc('{', out);
    for (int32_t i = 0; i < bodies; i++) {
        const char *name = s->play ? talus_playback_body_name(s->play, i)
                                   : talus_scene_body_name(s->scene->scene, i);
        if (!name || !name[0]) continue;
        char key[16];
        snprintf(key, sizeof key, "%d", (int)i);
        source_text(out, key, name, first);
        first = false;
    }
    fputc('}', out);
}

// Names of rods: [[first, name], …], each for the rods from there on.
static void source_rod_names(const view_source *s, FILE *out) {
    const int32_t rods = s->play ? talus_playback_get_info(s->play).rods : s->scene->info.rods;
    const char *last = "";
    bool first = true;
    cli_json_key(out, "rodNames", false);
    fputc('[', out);
    for (int32_t i = 0; i < rods; i++) {
        const char *name = s->play ? talus_playback_rod_name(s->play, i)
                                   : talus_scene_rod_name(s->scene->scene, i);
        if (strcmp(name, last) == 0) continue;
        fprintf(out, "%s[%d, ", first ? "" : ", ", (int)i);
        cli_json_string(out, name);
        fputc(']', out);
        last = name;
        first = false;
    }
    fputc(']', out);
}

static void source_info_play(const view_source *s, FILE *out) {
    const talus_playback_info i = talus_playback_get_info(s->play);
    const view_model model = view_model_of_playback(s->play);
    source_text(out, "title", i.title, false);
    source_text(out, "scene", i.scene, false);
    source_text(out, "version", i.version, false);
    source_text(out, "created", i.created, false);
    source_text(out, "scheme", i.scheme, false);
    source_text(out, "solver", i.solver, false);
    source_number(out, "dim", i.dim);
    source_number(out, "tolerance", i.tolerance);
    source_number(out, "step", i.step);
    source_vector(out, "gravity", i.gravity);
    source_vector(out, "period", i.period);
    source_materials(s, out, &model);
    cli_json_key(out, "contacts", false);
    fputs(i.contacts ? "true" : "false", out);
    cli_json_key(out, "sand", false);
    fputs(i.sand ? "true" : "false", out);
    source_sand(out, i.sand, i.sand_cell, i.sand_origin, i.sand_cells);
    source_number(out, "rods", i.rods);
}

static void source_info_scene(const view_source *s, FILE *out) {
    const run *r = s->scene;
    const view_model model = view_model_of_world(r->world);
    source_text(out, "title", r->info.title, false);
    source_text(out, "scene", r->info.text, false);
    source_text(out, "version", talus_build_info().version, false);
    source_text(out, "created", "", false);
    source_text(out, "scheme", talus_scheme_text(r->def.scheme), false);
    source_text(out, "solver", r->def.solver, false);
    source_number(out, "dim", r->info.dim);
    source_number(out, "tolerance", r->def.tolerance);
    source_number(out, "step", r->def.step);
    source_vector(out, "gravity", r->def.gravity);
    source_vector(out, "period", r->def.period);
    source_materials(s, out, &model);
    cli_json_key(out, "contacts", false);
    fputs("true", out);
    cli_json_key(out, "sand", false);
    fputs(r->info.particles > 0 ? "true" : "false", out);
    talus_sand_def sand = {0};
    const bool there = talus_world_sand_def(r->world, &sand);
    source_sand(out, there, sand.cell, sand.origin, sand.cells);
    source_number(out, "rods", r->info.rods);
}

talus_status view_source_print_info(view_source *s, FILE *out) {
    const talus_status status = source_refresh(s);
    if (status != TALUS_OK) return status;
    source_lock(s, true);
    fputc('{', out);
    source_text(out, "name", s->name, true);
    source_text(out, "kind", s->live ? "live" : s->play ? "recording" : "scene", false);
    // The world of a run belongs to its thread once there is a recording to ask.
    (s->play ? source_info_play : source_info_scene)(s, out);
    source_kinds(out);
    source_series(s, out);
    source_names(s, out);
    source_rod_names(s, out);
    fputc('}', out);
    source_lock(s, false);
    return TALUS_OK;
}

talus_status view_source_print_state(view_source *s, FILE *out) {
    const talus_status status = source_refresh(s);
    if (status != TALUS_OK) return status;
    talus_playback_info i = {.frames = s->live ? 0 : 1, .finished = !s->live};
    if (s->play) i = talus_playback_get_info(s->play);
    fprintf(out, "{\"frames\": %lld, \"steps\": %lld, \"bodies\": %d, \"finished\": %s",
            (long long)i.frames, (long long)i.steps, (int)i.bodies, i.finished ? "true" : "false");
    cli_json_key(out, "live", false);
    if (s->live)
        view_live_print(s->live, out);
    else
        fputs("null", out);
    fputc('}', out);
    return TALUS_OK;
}

talus_status view_source_pack_bodies(view_source *s, view_bytes *out) {
    if (s->live) {
        view_live_pack_bodies(s->live, out);
        return TALUS_OK;
    }
    const talus_status status = s->play ? source_update(s) : TALUS_OK;
    if (status == TALUS_OK) view_tables_pack_bodies(&s->tables, out);
    return status;
}

talus_status view_source_pack_shapes(view_source *s, view_bytes *out) {
    if (s->live) {
        view_live_pack_shapes(s->live, out);
        return TALUS_OK;
    }
    const talus_status status = s->play ? source_update(s) : TALUS_OK;
    if (status == TALUS_OK) view_tables_pack_shapes(&s->tables, out);
    return status;
}

// Length of the step that led to a frame: the ledger tells, where it was recorded.
static double source_step_length(view_source *s, int64_t step) {
    const talus_playback_info info = talus_playback_get_info(s->play);
    double number = NAN, h = NAN;
    if (step >= 1 && step <= info.steps &&
        talus_playback_ledger(s->play, "step", step - 1, 1, &number) == TALUS_OK &&
        fabs(number - (double)step) < 0.5 &&
        talus_playback_ledger(s->play, "h", step - 1, 1, &h) == TALUS_OK)
        return h;
    return info.step;
}

static talus_status source_pack_recorded(view_source *s, int64_t index, unsigned fields,
                                         view_bytes *out) {
    talus_frame frame;
    const talus_status status = talus_playback_frame(s->play, index, &frame);
    if (status != TALUS_OK) return status;
    const view_moment moment = {.frame = index,
                                .step = frame.step,
                                .time = frame.time,
                                .h = source_step_length(s, frame.step),
                                .hash = frame.hash,
                                .bodies = frame.bodies,
                                .contacts = frame.contacts,
                                .sand = view_sand_of_frame(&frame.sand),
                                .rods = frame.rods};
    view_pack_frame(&moment, fields, out);
    return TALUS_OK;
}

static void source_pack_scene(const view_source *s, unsigned fields, view_bytes *out) {
    view_moment moment = {.h = NAN, .hash = talus_world_hash(s->scene->world)};
    talus_world_bodies(s->scene->world, &moment.bodies);
    moment.sand = view_sand_of_world(s->scene->world);
    moment.rods = talus_world_rods(s->scene->world);
    view_pack_frame(&moment, fields, out);
}

talus_status view_source_pack_frame(view_source *s, int64_t frame, unsigned fields,
                                    view_bytes *out) {
    if (frame < 0 && s->live) {
        view_live_pack_frame(s->live, fields, out);
        return TALUS_OK;
    }
    if (!s->play && !s->live) {
        source_pack_scene(s, fields, out);
        return TALUS_OK;
    }
    talus_status status = source_refresh(s);
    if (status != TALUS_OK || !s->play) return status != TALUS_OK ? status : TALUS_ERR_FILE;
    source_lock(s, true);
    status = source_pack_recorded(s, frame, fields, out);
    source_lock(s, false);
    return status;
}

talus_status view_source_pack_times(view_source *s, int64_t first, view_bytes *out) {
    if (!s->play) {
        const uint32_t head[] = {VIEW_MAGIC_TIMES, !s->live && first == 0};
        const double zero = 0.0;
        view_bytes_put(out, head, sizeof head);
        if (head[1]) view_bytes_put(out, &zero, sizeof zero);
        return TALUS_OK;
    }
    source_lock(s, true);
    const talus_status status = view_pack_times(s->play, first, out);
    source_lock(s, false);
    return status;
}

talus_status view_source_pack_ledger(view_source *s, const char *names, int64_t points,
                                     view_bytes *out) {
    if (!s->play) {
        const uint32_t head[] = {VIEW_MAGIC_LEDGER, 0, 0, 1};
        view_bytes_put(out, head, sizeof head);
        return TALUS_OK;
    }
    source_lock(s, true);
    const talus_status status = view_pack_ledger(s->play, names, points, out);
    source_lock(s, false);
    return status;
}

bool view_source_control(view_source *s, const char *word) {
    return s->live && view_live_control(s->live, word);
}
