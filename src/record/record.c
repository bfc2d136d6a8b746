// SPDX-License-Identifier: Apache-2.0
// Writing a recording. Frames and ledger rows are appended to datasets (layout.h) of a file that
// only ever changes in whole commits (store.h).
#define _POSIX_C_SOURCE 200809L // gmtime_r
#include "talus/record.h"
#include "record/layout.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define RECORD_LEDGER_ROWS 256         // rows kept in memory before they go to HDF5
#define RECORD_SMALL_CHUNK (1 << 13)   // bytes of a chunk of a column with one row a frame or step
#define RECORD_CHUNK_LEAST (1 << 15)   // bytes of a chunk of a column with one row a body …
#define RECORD_CHUNK_MOST (1 << 18)    // … about one frame, within these bounds
#define RECORD_PENDING_MOST (64 << 20) // bytes in memory above which a frame commits by itself

struct talus_recording {
    talus_context *ctx;
    char *path;
    tl_store *store;
    bool contacts, single;
    bool failed; // a row is half written: no commit any more
    int64_t frames;
    tl_column column[TL_COLUMNS]; // those of contacts only with `contacts`
    tl_column *ledger;            // tl_ledger_fields() of them
    uint64_t *ledger_value;       // RECORD_LEDGER_ROWS of each field: bits of int64_t or double
    int32_t ledger_rows;          // in memory
};

static talus_status record_refused(talus_recording *r, const char *what) {
    r->failed = true;
    TL_TRY(tl_store_check(r->store)); // the disk's reason, where it is one
    return tl_fail(r->ctx, TALUS_ERR_FILE, "%s: HDF5 cannot write %s (out of memory?)", r->path,
                   what);
}

static talus_status record_append(talus_recording *r, int column, int64_t rows,
                                  const void *values) {
    if (tl_column_append(&r->column[column], rows, values)) return TALUS_OK;
    return record_refused(r, tl_column_defs[column].path);
}

static bool record_is_contact(int column) {
    return strncmp(tl_column_defs[column].path, "/contacts/", 10) == 0;
}

static bool record_is_small(int column) {
    const char *path = tl_column_defs[column].path;
    return (strncmp(path, "/frames/", 8) != 0 && !record_is_contact(column)) ||
           column >= TL_FRAME_TIME;
}

// What the numbers of a column of choices mean.
static bool record_names(hid_t file) {
#define RECORD_NAME_SHAPE(name, text, what) text ", "
#define RECORD_NAME_OUTCOME(name, text) text ", "
    static const struct {
        const char *path, *names;
    } list[] = {
        {"/shapes/kind", TALUS_SHAPE_LIST(RECORD_NAME_SHAPE)},
        {"/shape_parts/kind", TALUS_SHAPE_LIST(RECORD_NAME_SHAPE)},
        {"/bodies/motion", "free, fixed, velocity, oscillation, rotation, keyframes, "},
        {"/contacts/status", "open, sticking, sliding, "},
        {"/ledger/outcome", TALUS_OUTCOME_LIST(RECORD_NAME_OUTCOME)},
    };
#undef RECORD_NAME_SHAPE
#undef RECORD_NAME_OUTCOME
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char names[256];
        if (H5Lexists(file, list[i].path, H5P_DEFAULT) <= 0) continue;
        (void)snprintf(names, sizeof names, "%s", list[i].names);
        names[strlen(names) - 2] = '\0';
        if (!tl_attribute_text(file, list[i].path, "names", names)) return false;
    }
    return true;
}

// One text as a dataset, since attributes end at 64 kB.
static bool record_text(hid_t file, const char *path, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t id = H5I_INVALID_HID;
    if (type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool ok = id >= 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (id >= 0) (void)H5Dclose(id);
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    return ok;
}

static bool record_world(hid_t file, const talus_world_def *def) {
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

static bool record_head(hid_t file, const talus_record_def *def, const talus_world_def *world) {
    const talus_build build = talus_build_info();
    char created[32] = "";
    struct tm utc;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &utc)) (void)strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return tl_attribute_text(file, "/", "format", TL_RECORD_FORMAT) &&
           tl_attribute_integer(file, "/", "format_version", TL_RECORD_VERSION) &&
           tl_attribute_text(file, "/", "talus_version", build.version) &&
           tl_attribute_text(file, "/", "commit", build.commit) &&
           tl_attribute_text(file, "/", "compiler", build.compiler) &&
           tl_attribute_text(file, "/", "created", created) &&
           tl_attribute_text(file, "/", "units", "SI, or any consistent system; angles in rad") &&
           tl_attribute_text(file, "/", "title", def->title ? def->title : "") &&
           tl_attribute_integer(file, "/", "dim", world->dim) &&
           tl_attribute_integer(file, "/", "finished", 0) &&
           record_text(file, "/scene", def->scene ? def->scene : "") && record_world(file, world);
}

static bool record_columns(talus_recording *r, hid_t file, int32_t bodies) {
    for (int k = 0; k < TL_COLUMNS; k++) {
        const tl_column_def *def = &tl_column_defs[k];
        if (record_is_contact(k) && !r->contacts) continue;
        size_t bytes = (size_t)bodies * (size_t)def->width * sizeof(double);
        if (bytes > RECORD_CHUNK_MOST) bytes = RECORD_CHUNK_MOST;
        if (bytes < RECORD_CHUNK_LEAST) bytes = RECORD_CHUNK_LEAST;
        if (record_is_small(k)) bytes = RECORD_SMALL_CHUNK;
        if (!tl_column_create(file, def, r->single, bytes, &r->column[k])) return false;
    }
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        char path[64];
        const tl_column_def def = tl_ledger_column(k, path);
        if (!tl_column_create(file, &def, false, RECORD_SMALL_CHUNK, &r->ledger[k])) return false;
    }
    return record_names(file);
}

static void record_free(talus_recording *r) {
    if (!r) return;
    tl_free(r->ctx, r->path);
    tl_free(r->ctx, r->ledger);
    tl_free(r->ctx, r->ledger_value);
    tl_free(r->ctx, r);
}

// Without the store, which the caller opens next.
static talus_status record_new(talus_context *ctx, const char *path, talus_recording **out) {
    talus_status status = TALUS_OK;
    talus_recording *r = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &r));
    r->ctx = ctx;
    TL_GOTO(TL_COPY(ctx, path, (int64_t)strlen(path) + 1, &r->path));
    TL_GOTO(TL_ALLOC(ctx, tl_ledger_fields(), &r->ledger));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)tl_ledger_fields() * RECORD_LEDGER_ROWS, &r->ledger_value));
done:
    if (status != TALUS_OK)
        record_free(r);
    else
        *out = r;
    return status;
}

talus_status talus_recording_create(talus_context *ctx, const char *path,
                                    const talus_record_def *def, const talus_world *w,
                                    talus_recording **out) {
    if (!ctx || !out) return TALUS_ERR_ARG;
    *out = NULL;
    TL_REQUIRE(ctx, path && path[0] && def && w, TALUS_ERR_ARG,
               "talus_recording_create: path, def and world must be given");
    talus_status status = TALUS_OK;
    talus_recording *r = NULL;
    TL_TRY(record_new(ctx, path, &r));
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    r->contacts = def->contacts;
    r->single = def->single;
    TL_GOTO(tl_store_create(ctx, path, &r->store));
    const hid_t file = tl_store_file(r->store);
    const talus_world_def world = talus_world_get_def(w);
    talus_body_view bodies;
    talus_world_bodies(w, &bodies);
    const int64_t zero = 0;
    if (!record_head(file, def, &world) || !record_columns(r, file, bodies.count) ||
        !tl_column_append(&r->column[TL_FRAME_OFFSET], 1, &zero) ||
        (r->contacts && !tl_column_append(&r->column[TL_CONTACT_OFFSET], 1, &zero)))
        status = record_refused(r, "its beginning");
    else
        status = tl_store_check(r->store);
done:
    if (status != TALUS_OK) {
        // Closing has nothing to add to what is known already.
        if (tl_store_close(r->store, false) != TALUS_OK) r->store = NULL;
        record_free(r);
    } else {
        *out = r;
    }
    tl_hdf5_quiet_end(quiet);
    return status;
}

// Points of a shape that has them.
static int32_t record_point_count(const talus_shape_def *s) {
    const bool has = s->kind == TALUS_SHAPE_POLYHEDRON || s->kind == TALUS_SHAPE_WORM ||
                     s->kind == TALUS_SHAPE_MESH;
    return has && s->point ? s->point_count : 0;
}

static talus_status record_parts(talus_recording *r, const talus_shape_def *s) {
    for (int32_t k = 0; s->kind == TALUS_SHAPE_CLUMP && k < s->part_count; k++) {
        const talus_part *part = &s->part[k];
        const int32_t kind = (int32_t)part->shape->kind, points = record_point_count(part->shape);
        TL_TRY(record_append(r, TL_PART_KIND, 1, &kind));
        TL_TRY(record_append(r, TL_PART_RADIUS, 1, &part->shape->radius));
        TL_TRY(record_append(r, TL_PART_HALF, 1, part->shape->half));
        TL_TRY(record_append(r, TL_PART_HEIGHT, 1, &part->shape->height));
        TL_TRY(record_append(r, TL_PART_EXPONENT, 1, part->shape->exponent));
        TL_TRY(record_append(r, TL_PART_POINTS, 1, &points));
        TL_TRY(record_append(r, TL_PART_POSITION, 1, part->position));
        TL_TRY(record_append(r, TL_PART_ORIENTATION, 1, part->orientation));
        TL_TRY(record_append(r, TL_SHAPE_POINT, points, part->shape->point));
    }
    return TALUS_OK;
}

static talus_status record_triangles(talus_recording *r, int32_t dim, const talus_shape_def *s,
                                     int32_t count) {
    enum { ROWS = 256 };
    int32_t row[ROWS][3];
    if (dim == 3) return record_append(r, TL_SHAPE_TRIANGLE, count, s->triangle);
    for (int32_t t = 0; t < count; t += ROWS) {
        const int32_t rows = count - t < ROWS ? count - t : ROWS;
        for (int32_t i = 0; i < rows; i++) {
            row[i][0] = s->triangle[2 * (int64_t)(t + i)];
            row[i][1] = s->triangle[2 * (int64_t)(t + i) + 1];
            row[i][2] = -1;
        }
        TL_TRY(record_append(r, TL_SHAPE_TRIANGLE, rows, row));
    }
    return TALUS_OK;
}

// Shapes that are new since the last frame; likewise materials.
static talus_status record_shapes(talus_recording *r, const talus_world *w) {
    const int32_t dim = talus_world_get_def(w).dim;
    talus_shape_def s;
    while (talus_world_shape_at(w, (int32_t)r->column[TL_SHAPE_KIND].rows, &s)) {
        const int32_t kind = (int32_t)s.kind, points = record_point_count(&s);
        const int32_t triangles = s.kind == TALUS_SHAPE_MESH ? s.triangle_count : 0;
        const int32_t parts = s.kind == TALUS_SHAPE_CLUMP ? s.part_count : 0;
        const uint8_t open_top = s.open_top;
        TL_TRY(record_append(r, TL_SHAPE_KIND, 1, &kind));
        TL_TRY(record_append(r, TL_SHAPE_RADIUS, 1, &s.radius));
        TL_TRY(record_append(r, TL_SHAPE_HALF, 1, s.half));
        TL_TRY(record_append(r, TL_SHAPE_OPEN_TOP, 1, &open_top));
        TL_TRY(record_append(r, TL_SHAPE_HEIGHT, 1, &s.height));
        TL_TRY(record_append(r, TL_SHAPE_NORMAL, 1, s.normal));
        TL_TRY(record_append(r, TL_SHAPE_EXPONENT, 1, s.exponent));
        TL_TRY(record_append(r, TL_SHAPE_POINTS, 1, &points));
        TL_TRY(record_append(r, TL_SHAPE_TRIANGLES, 1, &triangles));
        TL_TRY(record_append(r, TL_SHAPE_PARTS, 1, &parts));
        TL_TRY(record_append(r, TL_SHAPE_POINT, points, s.point));
        TL_TRY(record_triangles(r, dim, &s, triangles));
        TL_TRY(record_parts(r, &s));
    }
    return TALUS_OK;
}

static talus_status record_materials(talus_recording *r, const talus_world *w) {
    talus_material_def m;
    while (talus_world_material_at(w, (int32_t)r->column[TL_MATERIAL_FRICTION].rows, &m)) {
        TL_TRY(record_append(r, TL_MATERIAL_FRICTION, 1, &m.friction));
        TL_TRY(record_append(r, TL_MATERIAL_RESTITUTION, 1, &m.restitution));
        TL_TRY(record_append(r, TL_MATERIAL_RESTITUTION_T, 1, &m.restitution_t));
        TL_TRY(record_append(r, TL_MATERIAL_STIFFNESS, 1, &m.stiffness));
        TL_TRY(record_append(r, TL_MATERIAL_DAMPING, 1, &m.damping));
        TL_TRY(record_append(r, TL_MATERIAL_YOUNG, 1, &m.young));
        TL_TRY(record_append(r, TL_MATERIAL_POISSON, 1, &m.poisson));
        TL_TRY(record_append(r, TL_MATERIAL_TANGENTIAL, 1, &m.tangential));
    }
    return TALUS_OK;
}

static talus_status record_bodies(talus_recording *r, const talus_body_view *b) {
    const int64_t known = r->column[TL_BODY_SHAPE].rows, added = b->count - known;
    if (added > 0) {
        TL_TRY(record_append(r, TL_BODY_SHAPE, added, b->shape + known));
        TL_TRY(record_append(r, TL_BODY_MATERIAL, added, b->material + known));
        TL_TRY(record_append(r, TL_BODY_MOTION, added, b->motion + known));
        TL_TRY(record_append(r, TL_BODY_MASS, added, b->mass + known));
    }
    TL_TRY(record_append(r, TL_FRAME_POSITION, b->count, b->position));
    TL_TRY(record_append(r, TL_FRAME_ORIENTATION, b->count, b->orientation));
    TL_TRY(record_append(r, TL_FRAME_VELOCITY, b->count, b->velocity));
    return record_append(r, TL_FRAME_SPIN, b->count, b->spin);
}

static talus_status record_contacts(talus_recording *r, const talus_contact_view *c) {
    TL_TRY(record_append(r, TL_CONTACT_A, c->count, c->a));
    TL_TRY(record_append(r, TL_CONTACT_B, c->count, c->b));
    TL_TRY(record_append(r, TL_CONTACT_FEATURE, c->count, c->feature));
    TL_TRY(record_append(r, TL_CONTACT_STATUS, c->count, c->status));
    TL_TRY(record_append(r, TL_CONTACT_POINT, c->count, c->point));
    TL_TRY(record_append(r, TL_CONTACT_NORMAL, c->count, c->normal));
    TL_TRY(record_append(r, TL_CONTACT_GAP, c->count, c->gap));
    TL_TRY(record_append(r, TL_CONTACT_IMPULSE, c->count, c->impulse));
    TL_TRY(record_append(r, TL_CONTACT_VELOCITY, c->count, c->velocity));
    return record_append(r, TL_CONTACT_OFFSET, 1, &r->column[TL_CONTACT_A].rows);
}

static talus_status record_frame(talus_recording *r, const talus_world *w, int64_t step) {
    talus_body_view bodies;
    talus_contact_view contacts;
    talus_world_bodies(w, &bodies);
    talus_world_contacts(w, &contacts);
    const double time_now = talus_world_time(w);
    const uint64_t hash = talus_world_hash(w);
    TL_TRY(record_shapes(r, w));
    TL_TRY(record_materials(r, w));
    TL_TRY(record_bodies(r, &bodies));
    if (r->contacts) TL_TRY(record_contacts(r, &contacts));
    TL_TRY(record_append(r, TL_FRAME_TIME, 1, &time_now));
    TL_TRY(record_append(r, TL_FRAME_STEP, 1, &step));
    TL_TRY(record_append(r, TL_FRAME_HASH, 1, &hash));
    return record_append(r, TL_FRAME_OFFSET, 1, &r->column[TL_FRAME_POSITION].rows);
}

static talus_status record_ledger_out(talus_recording *r) {
    for (int32_t k = 0; k < tl_ledger_fields() && r->ledger_rows > 0; k++) {
        if (!tl_column_append(&r->ledger[k], r->ledger_rows,
                              r->ledger_value + (size_t)k * RECORD_LEDGER_ROWS))
            return record_refused(r, "the ledger");
    }
    r->ledger_rows = 0;
    return TALUS_OK;
}

static talus_status record_flush(talus_recording *r) {
    TL_TRY(record_ledger_out(r));
    return tl_store_commit(r->store);
}

// The error of an earlier call, again.
static talus_status record_usable(talus_recording *r) {
    return r->failed ? record_refused(r, "any more after an error") : tl_store_check(r->store);
}

talus_status talus_recording_frame(talus_recording *r, const talus_world *w, int64_t step) {
    if (!r || !w) return TALUS_ERR_ARG;
    talus_status status = TALUS_OK;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(record_usable(r));
    TL_GOTO(record_frame(r, w, step));
    r->frames++;
    if (r->frames == 1 || tl_store_pending(r->store) > RECORD_PENDING_MOST)
        TL_GOTO(record_flush(r));
    if (r->frames == 1) TL_GOTO(tl_store_publish(r->store));
    status = tl_store_check(r->store);
done:
    if (status != TALUS_OK) r->failed = true;
    tl_hdf5_quiet_end(quiet);
    return status;
}

talus_status talus_recording_ledger(talus_recording *r, const talus_ledger *ledger) {
    if (!r || !ledger) return TALUS_ERR_ARG;
    TL_TRY(record_usable(r));
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        talus_ledger_field field;
        uint64_t *to = &r->ledger_value[(size_t)k * RECORD_LEDGER_ROWS + (size_t)r->ledger_rows];
        const double value = talus_ledger_value(ledger, k);
        const int64_t integer = (int64_t)value;
        if (talus_ledger_field_at(k, &field) && field.integer)
            memcpy(to, &integer, sizeof integer);
        else
            memcpy(to, &value, sizeof value);
    }
    r->ledger_rows++;
    if (r->ledger_rows < RECORD_LEDGER_ROWS) return TALUS_OK;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    const talus_status status = record_ledger_out(r);
    tl_hdf5_quiet_end(quiet);
    return status == TALUS_OK ? tl_store_check(r->store) : status;
}

talus_status talus_recording_flush(talus_recording *r) {
    if (!r) return TALUS_ERR_ARG;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = record_usable(r);
    if (status == TALUS_OK) status = record_flush(r);
    tl_hdf5_quiet_end(quiet);
    return status;
}

talus_status talus_recording_close(talus_recording *r) {
    if (!r) return TALUS_OK;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = record_usable(r);
    if (status == TALUS_OK) status = record_ledger_out(r);
    if (status == TALUS_OK && !tl_attribute_integer(tl_store_file(r->store), "/", "finished", 1))
        status = record_refused(r, "its end");
    for (int k = 0; k < TL_COLUMNS; k++) tl_column_close(&r->column[k]);
    for (int32_t k = 0; k < tl_ledger_fields(); k++) tl_column_close(&r->ledger[k]);
    const talus_status closed = tl_store_close(r->store, status == TALUS_OK);
    if (status == TALUS_OK) status = closed;
    record_free(r);
    tl_hdf5_quiet_end(quiet);
    return status;
}
