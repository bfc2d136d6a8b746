// SPDX-License-Identifier: Apache-2.0
// The beginning of a recording: what was run, by whom and where, and its columns, made or found.
#define _GNU_SOURCE // gmtime_r, sysconf
#include "base/timer.h"
#include "collide/collide.h"
#include "record/machine.h"
#include "record/record_impl.h"
#include "record/round.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HEAD_SMALL_CHUNK (1 << 13) // bytes of a chunk of a column with one row a frame or step
#define HEAD_CHUNK_LEAST (1 << 15) // bytes of a chunk of a column with one row a body …
#define HEAD_CHUNK_MOST (1 << 18)  // … about one frame, within these bounds
#define HEAD_STATE_CHUNK (1 << 20) // of checkpoints

bool tl_record_has(const talus_recording *r, int column) {
    return tl_column_is_kept(column, &r->holds, r->without);
}

static bool head_is_small(int column) {
    const char *path = tl_column_defs[column].path;
    return (strncmp(path, "/frames/", 8) != 0 && !tl_column_is_contact(column) &&
            !tl_column_is_sand(column) && strncmp(path, "/rod_nodes/", 11) != 0) ||
           column >= TL_FRAME_TIME;
}

// What the numbers of a column of choices mean.
static bool head_names(hid_t file) {
#define HEAD_NAME_SHAPE(name, text, what) text ", "
#define HEAD_NAME_OUTCOME(name, text) text ", "
    static const struct {
        const char *path, *names;
    } list[] = {
        {"/shapes/kind", TALUS_SHAPE_LIST(HEAD_NAME_SHAPE)},
        {"/shape_parts/kind", TALUS_SHAPE_LIST(HEAD_NAME_SHAPE)},
        {"/bodies/motion", "free, fixed, velocity, oscillation, rotation, keyframes, "},
        {"/contacts/status", "open, sticking, sliding, "},
        {"/rods/kind", TALUS_ROD_LIST(HEAD_NAME_SHAPE)},
        {"/ledger/outcome", TALUS_OUTCOME_LIST(HEAD_NAME_OUTCOME)},
    };
#undef HEAD_NAME_SHAPE
#undef HEAD_NAME_OUTCOME
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char names[256];
        if (H5Lexists(file, list[i].path, H5P_DEFAULT) <= 0) continue;
        (void)snprintf(names, sizeof names, "%s", list[i].names);
        names[strlen(names) - 2] = '\0';
        if (!tl_attribute_text(file, list[i].path, "names", names)) return false;
    }
    return true;
}

static bool head_world(hid_t file, const talus_world_def *def) {
    const hid_t group = H5Gcreate2(file, "/world", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool ok = group >= 0 &&
                    tl_attribute_text(file, "/world", "scheme", talus_scheme_text(def->scheme)) &&
                    tl_attribute_text(file, "/world", "solver", def->solver ? def->solver : "") &&
                    tl_attribute_numbers(file, "/world", "gravity", 3, def->gravity) &&
                    tl_attribute_numbers(file, "/world", "period", 3, def->period) &&
                    tl_attribute_numbers(file, "/world", "step", 0, &def->step) &&
                    tl_attribute_numbers(file, "/world", "max_move", 0, &def->max_move) &&
                    tl_attribute_numbers(file, "/world", "theta", 0, &def->theta) &&
                    tl_attribute_numbers(file, "/world", "tolerance", 0, &def->tolerance);
    if (group >= 0) (void)H5Gclose(group);
    return ok;
}

// An override ends with its line, as in the text of the scene.
talus_status tl_record_set_text(talus_context *ctx, const talus_record_def *def, char **out) {
    int64_t room = 1;
    for (int32_t k = 0; k < def->set_count; k++) room += (int64_t)strlen(def->set[k]) + 1;
    TL_TRY(TL_ALLOC(ctx, room, out));
    char *to = *out;
    for (int32_t k = 0; k < def->set_count; k++) {
        for (const char *c = def->set[k]; *c; c++) *to++ = *c == '\n' || *c == '\r' ? ' ' : *c;
        *to++ = '\n';
    }
    return TALUS_OK;
}

static bool head_precision(const talus_recording *r, hid_t file) {
    static const char *const text[] = {
#define HEAD_PRECISION_TEXT(name, words, what) words,
        TALUS_PRECISION_LIST(HEAD_PRECISION_TEXT)
#undef HEAD_PRECISION_TEXT
    };
    int64_t without = 0;
    for (int k = 0; k < TALUS_FIELDS; k++) without |= (int64_t)r->without[k] << k;
    return tl_attribute_text(file, "/", "precision", text[r->precision]) &&
           tl_attribute_integer(file, "/", "without", without) &&
           tl_attribute_numbers(file, "/", "length_unit", 0, &r->unit);
}

static bool head_attributes(const talus_recording *r, hid_t file, const talus_record_def *def,
                            const talus_world_def *world) {
    const talus_build build = talus_build_info();
    char created[32] = "", machine[256];
    struct tm utc;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &utc)) (void)strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    tl_machine_text(machine, sizeof machine);
    return tl_attribute_text(file, "/", "format", TL_RECORD_FORMAT) &&
           tl_attribute_integer(file, "/", "format_version",
                                r->holds.rods ? TL_RECORD_VERSION_RODS : TL_RECORD_VERSION) &&
           tl_attribute_text(file, "/", "talus_version", build.version) &&
           tl_attribute_text(file, "/", "commit", build.commit) &&
           tl_attribute_text(file, "/", "compiler", build.compiler) &&
           tl_attribute_text(file, "/", "created", created) &&
           tl_attribute_text(file, "/", "machine", machine) &&
           tl_attribute_integer(file, "/", "threads", world->threads) &&
           tl_attribute_text(file, "/", "units", "SI, or any consistent system; angles in rad") &&
           tl_attribute_text(file, "/", "title", def->title ? def->title : "") &&
           tl_attribute_text(file, "/", "scene_path", def->scene_path ? def->scene_path : "") &&
           tl_attribute_integer(file, "/", "dim", world->dim) && head_precision(r, file) &&
           head_world(file, world) && tl_text_write(file, "/scene", def->scene ? def->scene : "");
}

// A number that counts the commits, at a place of the file that does not change.
static bool head_commits(talus_recording *r, hid_t file) {
    const hid_t space = H5Screate(H5S_SCALAR), create = H5Pcreate(H5P_DATASET_CREATE);
    if (space >= 0 && create >= 0 && H5Pset_layout(create, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_obj_track_times(create, false) >= 0)
        r->commit_id = H5Dcreate2(file, TL_RECORD_COMMITS, H5T_STD_I64LE, space, H5P_DEFAULT,
                                  create, H5P_DEFAULT);
    if (space >= 0) (void)H5Sclose(space);
    if (create >= 0) (void)H5Pclose(create);
    return r->commit_id >= 0;
}

bool tl_record_mark(talus_recording *r, bool finished) {
    const hid_t file = tl_store_file(r->store);
    const double seconds = r->seconds + tl_seconds() - r->begun;
    r->commits++;
    return H5Dwrite(r->commit_id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &r->commits) >=
               0 &&
           tl_attribute_numbers(file, "/", "wall_seconds", 0, &seconds) &&
           tl_attribute_integer(file, "/", "finished", finished);
}

// How many there are at the start, about as many as a frame will have.
typedef struct head_counts {
    int64_t bodies, particles, nodes;
} head_counts;

static size_t head_chunk(int column, bool single, const head_counts *counts) {
    if (column == TL_CHECKPOINT_STATE) return HEAD_STATE_CHUNK;
    if (head_is_small(column)) return HEAD_SMALL_CHUNK;
    const size_t real = single ? sizeof(float) : sizeof(double);
    const int64_t rows = tl_column_is_sand(column)  ? counts->particles
                         : tl_column_is_rod(column) ? counts->nodes
                                                    : counts->bodies;
    const size_t bytes = (size_t)rows * (size_t)tl_column_defs[column].width * real;
    return bytes > HEAD_CHUNK_MOST    ? HEAD_CHUNK_MOST
           : bytes < HEAD_CHUNK_LEAST ? HEAD_CHUNK_LEAST
                                      : bytes;
}

static bool head_columns(talus_recording *r, hid_t file, const head_counts *counts) {
    static const int offsets[] = {TL_FRAME_OFFSET, TL_CONTACT_OFFSET, TL_SAND_OFFSET,
                                  TL_NODE_OFFSET,  TL_FIBRE_OFFSET,   TL_CHECKPOINT_OFFSET};
    const bool single = r->precision != TALUS_PRECISION_DOUBLE;
    const int64_t zero = 0;
    for (int k = 0; k < TL_COLUMNS; k++)
        if (tl_record_has(r, k) && !tl_column_create(file, &tl_column_defs[k], single,
                                                     head_chunk(k, single, counts), &r->column[k]))
            return false;
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        char path[64];
        const tl_column_def def = tl_ledger_column(k, path);
        if (!tl_column_create(file, &def, false, HEAD_SMALL_CHUNK, &r->ledger[k])) return false;
    }
    for (int32_t k = 0; k < r->series_count; k++) {
        char path[TL_SERIES_PATH];
        const tl_column_def def = tl_series_column(&r->series_field[k], path);
        if (!tl_column_create(file, &def, false, HEAD_SMALL_CHUNK, &r->series[k])) return false;
    }
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
        if (tl_record_has(r, offsets[k]) && !tl_column_append(&r->column[offsets[k]], 1, &zero))
            return false;
    return head_names(file);
}

// As fine as the smallest body, or the thinnest rod, asks for.
static double head_unit(const talus_world *w, int32_t dim) {
    double smallest = INFINITY;
    talus_shape_def shape;
    for (int32_t k = 0; talus_world_shape_at(w, k, &shape); k++)
        smallest = fmin(smallest, tl_shape_extent(dim, &shape));
    const talus_rod_view rods = talus_world_rods(w);
    for (int32_t k = 0; k < rods.rods; k++) smallest = fmin(smallest, rods.radius[k]);
    return tl_round_unit(TL_RECORD_FINE * (isfinite(smallest) ? smallest : 1.0));
}

// The grid that sand lies on.
static bool head_sand(const talus_world *w, hid_t file) {
    talus_sand_def sand;
    if (!talus_world_sand_def(w, &sand)) return true;
    const double cells[3] = {sand.cells[0], sand.cells[1], sand.cells[2]};
    return tl_attribute_numbers(file, "/sand", "cell", 0, &sand.cell) &&
           tl_attribute_numbers(file, "/sand", "origin", 3, sand.origin) &&
           tl_attribute_numbers(file, "/sand", "cells", 3, cells) &&
           tl_attribute_numbers(file, "/sand", "density", 0, &sand.density);
}

bool tl_record_begin(talus_recording *r, const talus_record_def *def, const talus_world *w) {
    const hid_t file = tl_store_file(r->store);
    const talus_world_def world = talus_world_get_def(w);
    talus_body_view bodies;
    talus_sand_view sand;
    talus_world_bodies(w, &bodies);
    talus_world_sand(w, &sand);
    const talus_rod_view rods = talus_world_rods(w);
    const head_counts counts = {bodies.count, sand.count,
                                rods.rods > 0 ? rods.start[rods.rods] : 0};
    r->unit = r->precision == TALUS_PRECISION_COMPACT ? head_unit(w, world.dim) : 0.0;
    return head_attributes(r, file, def, &world) && head_commits(r, file) &&
           tl_record_mark(r, false) && head_columns(r, file, &counts) && head_sand(w, file);
}

static talus_status head_read_names(talus_recording *r) {
    const tl_column *c = &r->column[TL_NAME_TEXT];
    talus_status status = TALUS_OK;
    char *text = NULL;
    TL_TRY(TL_ALLOC(r->ctx, c->rows + 1, &text));
    if (!tl_column_read(c, 0, c->rows, text))
        status = tl_fail(r->ctx, TALUS_ERR_FORMAT, "%s: the names cannot be read", r->path);
    for (int64_t at = 0; status == TALUS_OK && at < c->rows; at += (int64_t)strlen(text + at) + 1)
        status = tl_record_add_name(r, text + at);
    tl_free(r->ctx, text);
    return status;
}

talus_status tl_record_reopen(talus_recording *r) {
    const hid_t file = tl_store_file(r->store);
    for (int k = 0; k < TL_COLUMNS; k++) {
        if (!tl_record_has(r, k)) continue;
        TL_REQUIRE(r->ctx, tl_column_open(file, &tl_column_defs[k], &r->column[k]),
                   TALUS_ERR_FORMAT, "%s: %s is missing or of another form", r->path,
                   tl_column_defs[k].path);
        if (tl_column_defs[k].kind == TL_REAL && r->precision != TALUS_PRECISION_DOUBLE)
            tl_column_use_floats(&r->column[k]);
    }
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        char path[64];
        const tl_column_def def = tl_ledger_column(k, path);
        TL_REQUIRE(r->ctx, tl_column_open(file, &def, &r->ledger[k]), TALUS_ERR_FORMAT,
                   "%s: %s is missing or of another form", r->path, path);
    }
    for (int32_t k = 0; k < r->series_count; k++) {
        char path[TL_SERIES_PATH];
        const tl_column_def def = tl_series_column(&r->series_field[k], path);
        TL_REQUIRE(r->ctx, tl_column_open(file, &def, &r->series[k]), TALUS_ERR_FORMAT,
                   "%s: %s is missing or of another form", r->path, path);
    }
    r->commit_id = H5Dopen2(file, TL_RECORD_COMMITS, H5P_DEFAULT);
    TL_REQUIRE(r->ctx,
               r->commit_id >= 0 && H5Dread(r->commit_id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL,
                                            H5P_DEFAULT, &r->commits) >= 0,
               TALUS_ERR_FORMAT, "%s: %s is missing", r->path, TL_RECORD_COMMITS);
    TL_REQUIRE(r->ctx, tl_attribute_read_numbers(file, "/", "length_unit", 1, &r->unit),
               TALUS_ERR_FORMAT, "%s: the attribute length_unit is missing", r->path);
    return head_read_names(r);
}
