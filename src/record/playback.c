// SPDX-License-Identifier: Apache-2.0
// Reading a recording. Nothing the file says is believed: offsets must rise and lie inside, columns
// of one group must be equally long, and what has an index must have the entry it points to.
#include "record/layout.h"
#include "talus/record.h"
#include <inttypes.h>
#include <string.h>

#define PLAYBACK_TEXT_MOST (64 << 20) // bytes of a text

#define PLAYBACK_TEXTS 8

struct talus_playback {
    talus_context *ctx;
    char *path;
    tl_store *store;
    talus_playback_info info;
    char *text[PLAYBACK_TEXTS]; // those of `info`
    int texts;
    tl_column column[TL_COLUMNS];
    void *value[TL_COLUMNS];     // rows last read; shapes, materials and bodies: all of them
    int64_t room[TL_COLUMNS];    // rows that fit into it
    talus_shape_def *shape;      // their arrays point into `value` and what follows
    talus_part *part;            // of all clumps
    talus_shape_def *part_shape; // of all parts
    int32_t *segment;            // 2D: corners of all meshes, two each
};

static talus_status playback_damaged(const talus_playback *p, const char *entry, const char *what) {
    return tl_fail(p->ctx, TALUS_ERR_FORMAT, "%s: %s %s", p->path, entry, what);
}

// A text of fixed length, attribute or dataset, closed by this.
static talus_status playback_text(talus_playback *p, const char *entry, hid_t id, bool attribute,
                                  char **out) {
    const hid_t type = id < 0 ? id : attribute ? H5Aget_type(id) : H5Dget_type(id);
    const hid_t space = id < 0 ? id : attribute ? H5Aget_space(id) : H5Dget_space(id);
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    talus_status status = TALUS_OK;
    bool ok = size > 0 && size <= PLAYBACK_TEXT_MOST && H5Tget_class(type) == H5T_STRING &&
              H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (ok) TL_GOTO(TL_ALLOC(p->ctx, (int64_t)size + 1, out));
    if (ok)
        ok = (attribute ? H5Aread(id, type, *out)
                        : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out)) >= 0;
    if (!ok) status = playback_damaged(p, entry, "is missing or no text");
done:
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    if (id >= 0) (void)(attribute ? H5Aclose(id) : H5Dclose(id));
    return status;
}

static talus_status playback_attribute(talus_playback *p, const char *name, const char **out) {
    char **text = &p->text[p->texts++];
    const hid_t id = H5Aopen(tl_store_file(p->store), name, H5P_DEFAULT);
    const talus_status status = playback_text(p, name, id, true, text);
    *out = *text;
    return status;
}

static talus_status playback_head(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    const char *format = NULL;
    int64_t version = 0, dim = 0, finished = 0;
    talus_status status =
        H5Aexists(file, "format") > 0 ? playback_attribute(p, "format", &format) : TALUS_OK;
    const bool ours = format && strcmp(format, TL_RECORD_FORMAT) == 0;
    if (status == TALUS_ERR_MEMORY) return status;
    if (!ours) return playback_damaged(p, "this HDF5 file", "is no recording of talus run");
    TL_REQUIRE(p->ctx, tl_attribute_read_integer(file, "/", "format_version", &version),
               TALUS_ERR_FORMAT, "%s: the attribute format_version is missing", p->path);
    TL_REQUIRE(p->ctx, version == TL_RECORD_VERSION, TALUS_ERR_FORMAT,
               "%s: has format version %" PRId64 "; this program reads version %d", p->path,
               version, TL_RECORD_VERSION);
    TL_REQUIRE(p->ctx,
               tl_attribute_read_integer(file, "/", "dim", &dim) && (dim == 2 || dim == 3) &&
                   tl_attribute_read_integer(file, "/", "finished", &finished),
               TALUS_ERR_FORMAT, "%s: the attributes dim and finished are missing or wrong",
               p->path);
    p->info.dim = (int32_t)dim;
    p->info.finished = finished != 0;
    TL_TRY(playback_attribute(p, "title", &p->info.title));
    TL_TRY(playback_attribute(p, "talus_version", &p->info.version));
    TL_TRY(playback_attribute(p, "commit", &p->info.commit));
    TL_TRY(playback_attribute(p, "compiler", &p->info.compiler));
    TL_TRY(playback_attribute(p, "created", &p->info.created));
    char **scene = &p->text[p->texts++];
    status = playback_text(p, "/scene", H5Dopen2(file, "/scene", H5P_DEFAULT), false, scene);
    p->info.scene = *scene;
    return status;
}

// Read rows of a column into its buffer.
static talus_status playback_rows(talus_playback *p, int column, int64_t first, int64_t rows) {
    const tl_column *c = &p->column[column];
    if (rows > p->room[column]) {
        TL_TRY(tl_realloc(p->ctx, 0, rows, c->size, &p->value[column]));
        p->room[column] = rows;
    }
    if (tl_column_read(c, first, rows, p->value[column])) return TALUS_OK;
    return playback_damaged(p, tl_column_defs[column].path, "cannot be read");
}

static bool playback_is_contact(int column) {
    return strncmp(tl_column_defs[column].path, "/contacts/", 10) == 0;
}

static talus_status playback_columns(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    p->info.contacts = H5Lexists(file, "/contacts", H5P_DEFAULT) > 0;
    for (int k = 0; k < TL_COLUMNS; k++) {
        if (playback_is_contact(k) && !p->info.contacts) continue;
        if (!tl_column_open(file, &tl_column_defs[k], &p->column[k]))
            return playback_damaged(p, tl_column_defs[k].path, "is missing or of another form");
    }
    const hid_t type = H5Dget_type(p->column[TL_FRAME_POSITION].id);
    p->info.single = type >= 0 && H5Tget_size(type) == sizeof(float);
    if (type >= 0) (void)H5Tclose(type);

    static const struct {
        int first, last; // columns that must have the same number of rows
    } groups[] = {{TL_SHAPE_KIND, TL_SHAPE_PARTS},
                  {TL_PART_KIND, TL_PART_ORIENTATION},
                  {TL_MATERIAL_FRICTION, TL_MATERIAL_TANGENTIAL},
                  {TL_BODY_SHAPE, TL_BODY_MASS},
                  {TL_FRAME_POSITION, TL_FRAME_SPIN},
                  {TL_CONTACT_A, TL_CONTACT_VELOCITY},
                  {TL_FRAME_TIME, TL_FRAME_HASH}};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (int k = groups[g].first + 1; k <= groups[g].last; k++)
            if (p->column[k].rows != p->column[groups[g].first].rows)
                return playback_damaged(p, tl_column_defs[k].path, "has too few or too many rows");
    }
    const int64_t frames = p->column[TL_FRAME_TIME].rows;
    if (p->column[TL_FRAME_OFFSET].rows != frames + 1 ||
        (p->info.contacts && p->column[TL_CONTACT_OFFSET].rows != frames + 1))
        return playback_damaged(p, "offsets", "must be one more than there are frames");
    if (p->column[TL_BODY_SHAPE].rows > INT32_MAX || p->column[TL_SHAPE_KIND].rows > INT32_MAX)
        return playback_damaged(p, "/bodies", "has too many rows");
    p->info.frames = frames;
    p->info.bodies = (int32_t)p->column[TL_BODY_SHAPE].rows;
    for (int k = TL_SHAPE_KIND; k <= TL_BODY_MASS; k++)
        TL_TRY(playback_rows(p, k, 0, p->column[k].rows));
    return TALUS_OK;
}

static talus_status playback_check_indices(const talus_playback *p) {
    const int32_t *shape = p->value[TL_BODY_SHAPE], *material = p->value[TL_BODY_MATERIAL];
    static const int kinds[] = {TL_SHAPE_KIND, TL_PART_KIND};
    for (int k = 0; k < 2; k++) {
        const int32_t *kind = p->value[kinds[k]];
        for (int64_t i = 0; i < p->column[kinds[k]].rows; i++)
            if (kind[i] < 0 || kind[i] >= TALUS_SHAPE_KINDS)
                return playback_damaged(p, tl_column_defs[kinds[k]].path,
                                        "names a kind of shape that is not known");
    }
    for (int32_t i = 0; i < p->info.bodies; i++)
        if (shape[i] < 0 || shape[i] >= p->column[TL_SHAPE_KIND].rows || material[i] < 0 ||
            material[i] >= p->column[TL_MATERIAL_FRICTION].rows)
            return playback_damaged(p, "/bodies", "names a shape or material that is not there");
    return TALUS_OK;
}

static double playback_number(const talus_playback *p, int column, int64_t index) {
    return ((const double *)p->value[column])[index];
}

static int32_t playback_integer(const talus_playback *p, int column, int64_t index) {
    return ((const int32_t *)p->value[column])[index];
}

// Take `count` of what follows `at` in a column; false: there is not as much.
static bool playback_take(const talus_playback *p, int column, int32_t count, int64_t *at) {
    if (count < 0 || count > p->column[column].rows - *at) return false;
    *at += count;
    return true;
}

// Where the arrays of the shapes begin in the columns that hold those of all.
typedef struct playback_cursor {
    int64_t point, triangle, part;
} playback_cursor;

// Columns of a shape or of a part, in the same order.
typedef struct playback_fields {
    int kind, radius, half, height, exponent, points;
} playback_fields;

static bool playback_fill_shape(const talus_playback *p, const playback_fields *f, int64_t i,
                                playback_cursor *at, talus_shape_def *out) {
    *out = (talus_shape_def){.kind = (talus_shape_kind)playback_integer(p, f->kind, i),
                             .radius = playback_number(p, f->radius, i),
                             .height = playback_number(p, f->height, i),
                             .point_count = playback_integer(p, f->points, i)};
    for (int k = 0; k < 3; k++) out->half[k] = playback_number(p, f->half, 3 * i + k);
    for (int k = 0; k < 2; k++) out->exponent[k] = playback_number(p, f->exponent, 2 * i + k);
    if (out->point_count > 0) out->point = (double *)p->value[TL_SHAPE_POINT] + 3 * at->point;
    return playback_take(p, TL_SHAPE_POINT, out->point_count, &at->point);
}

static bool playback_fill_triangles(talus_playback *p, int64_t i, playback_cursor *at,
                                    talus_shape_def *out) {
    const int32_t *corner = (const int32_t *)p->value[TL_SHAPE_TRIANGLE] + 3 * at->triangle;
    int32_t *segment = p->segment ? p->segment + 2 * at->triangle : NULL;
    out->triangle_count = playback_integer(p, TL_SHAPE_TRIANGLES, i);
    if (!playback_take(p, TL_SHAPE_TRIANGLE, out->triangle_count, &at->triangle)) return false;
    for (int64_t t = 0; t < out->triangle_count; t++)
        for (int k = 0; k < p->info.dim; k++) {
            if (corner[3 * t + k] < 0 || corner[3 * t + k] >= out->point_count) return false;
            if (segment) segment[2 * t + k] = corner[3 * t + k];
        }
    if (out->triangle_count > 0) out->triangle = segment ? segment : corner;
    return true;
}

static bool playback_fill_parts(talus_playback *p, int64_t i, playback_cursor *at,
                                talus_shape_def *out) {
    static const playback_fields fields = {TL_PART_KIND,   TL_PART_RADIUS,   TL_PART_HALF,
                                           TL_PART_HEIGHT, TL_PART_EXPONENT, TL_PART_POINTS};
    const int64_t first = at->part;
    out->part_count = playback_integer(p, TL_SHAPE_PARTS, i);
    if (!playback_take(p, TL_PART_KIND, out->part_count, &at->part)) return false;
    if (out->part_count > 0) out->part = p->part + first;
    for (int64_t k = first; k < at->part; k++) {
        talus_part *part = &p->part[k];
        if (!playback_fill_shape(p, &fields, k, at, &p->part_shape[k])) return false;
        part->shape = &p->part_shape[k];
        for (int e = 0; e < 3; e++)
            part->position[e] = playback_number(p, TL_PART_POSITION, 3 * k + e);
        for (int e = 0; e < 4; e++)
            part->orientation[e] = playback_number(p, TL_PART_ORIENTATION, 4 * k + e);
    }
    return true;
}

static talus_status playback_shapes(talus_playback *p) {
    static const playback_fields fields = {TL_SHAPE_KIND,   TL_SHAPE_RADIUS,   TL_SHAPE_HALF,
                                           TL_SHAPE_HEIGHT, TL_SHAPE_EXPONENT, TL_SHAPE_POINTS};
    playback_cursor at = {0};
    TL_TRY(TL_ALLOC(p->ctx, p->column[TL_SHAPE_KIND].rows, &p->shape));
    TL_TRY(TL_ALLOC(p->ctx, p->column[TL_PART_KIND].rows, &p->part));
    TL_TRY(TL_ALLOC(p->ctx, p->column[TL_PART_KIND].rows, &p->part_shape));
    if (p->info.dim == 2)
        TL_TRY(TL_ALLOC(p->ctx, 2 * p->column[TL_SHAPE_TRIANGLE].rows, &p->segment));
    for (int64_t i = 0; i < p->column[TL_SHAPE_KIND].rows; i++) {
        talus_shape_def *s = &p->shape[i];
        if (!playback_fill_shape(p, &fields, i, &at, s) || !playback_fill_triangles(p, i, &at, s) ||
            !playback_fill_parts(p, i, &at, s))
            return playback_damaged(p, "/shapes",
                                    "has points, triangles or parts that are not there");
        s->open_top = ((const uint8_t *)p->value[TL_SHAPE_OPEN_TOP])[i] != 0;
        for (int k = 0; k < 3; k++) s->normal[k] = playback_number(p, TL_SHAPE_NORMAL, 3 * i + k);
    }
    return TALUS_OK;
}

static talus_status playback_steps(talus_playback *p) {
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        char path[64];
        const tl_column_def def = tl_ledger_column(k, path);
        tl_column c;
        if (!tl_column_open(tl_store_file(p->store), &def, &c))
            return playback_damaged(p, path, "is missing or of another form");
        const int64_t rows = c.rows;
        tl_column_close(&c);
        if (k > 0 && rows != p->info.steps)
            return playback_damaged(p, path, "has too few or too many rows");
        p->info.steps = rows;
    }
    return TALUS_OK;
}

talus_status talus_playback_open(talus_context *ctx, const char *path, talus_playback **out) {
    if (!ctx || !out) return TALUS_ERR_ARG;
    *out = NULL;
    TL_REQUIRE(ctx, path && path[0], TALUS_ERR_ARG, "talus_playback_open: path must be given");
    talus_status status = TALUS_OK;
    talus_playback *p = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &p));
    p->ctx = ctx;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(TL_COPY(ctx, path, (int64_t)strlen(path) + 1, &p->path));
    TL_GOTO(tl_store_open(ctx, path, &p->store));
    TL_GOTO(playback_head(p));
    TL_GOTO(playback_columns(p));
    TL_GOTO(playback_check_indices(p));
    TL_GOTO(playback_shapes(p));
    TL_GOTO(playback_steps(p));
done:
    if (status != TALUS_OK)
        talus_playback_close(p);
    else
        *out = p;
    tl_hdf5_quiet_end(quiet);
    return status;
}

void talus_playback_close(talus_playback *p) {
    if (!p) return;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    for (int k = 0; k < p->texts; k++) tl_free(p->ctx, p->text[k]);
    for (int k = 0; k < TL_COLUMNS; k++) {
        tl_column_close(&p->column[k]);
        tl_free(p->ctx, p->value[k]);
    }
    const talus_status closed = tl_store_close(p->store, false);
    (void)closed; // nothing was written
    void *const owned[] = {p->shape, p->part, p->part_shape, p->segment, p->path};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(p->ctx, owned[k]);
    tl_free(p->ctx, p);
    tl_hdf5_quiet_end(quiet);
}

talus_playback_info talus_playback_get_info(const talus_playback *p) { return p->info; }

bool talus_playback_shape_at(const talus_playback *p, int32_t index, talus_shape_def *out) {
    if (!p || !out || index < 0 || index >= p->column[TL_SHAPE_KIND].rows) return false;
    *out = p->shape[index];
    return true;
}

bool talus_playback_material_at(const talus_playback *p, int32_t index, talus_material_def *out) {
    if (!p || !out || index < 0 || index >= p->column[TL_MATERIAL_FRICTION].rows) return false;
    *out =
        (talus_material_def){.friction = playback_number(p, TL_MATERIAL_FRICTION, index),
                             .restitution = playback_number(p, TL_MATERIAL_RESTITUTION, index),
                             .restitution_t = playback_number(p, TL_MATERIAL_RESTITUTION_T, index),
                             .stiffness = playback_number(p, TL_MATERIAL_STIFFNESS, index),
                             .damping = playback_number(p, TL_MATERIAL_DAMPING, index),
                             .young = playback_number(p, TL_MATERIAL_YOUNG, index),
                             .poisson = playback_number(p, TL_MATERIAL_POISSON, index),
                             .tangential = playback_number(p, TL_MATERIAL_TANGENTIAL, index)};
    return true;
}

// Which rows a frame has in the columns that `offsets` belongs to; most `most` of them.
static talus_status playback_range(talus_playback *p, int offsets, int64_t frame, int64_t rows,
                                   int64_t most, int64_t *first, int64_t *count) {
    TL_TRY(playback_rows(p, offsets, frame, 2));
    const int64_t *offset = p->value[offsets];
    if (offset[0] < 0 || offset[1] < offset[0] || offset[1] > rows || offset[1] - offset[0] > most)
        return playback_damaged(p, tl_column_defs[offsets].path,
                                "does not rise, or points behind what it belongs to");
    *first = offset[0];
    *count = offset[1] - offset[0];
    return TALUS_OK;
}

static talus_status playback_bodies(talus_playback *p, int64_t frame, talus_body_view *out) {
    int64_t first = 0, count = 0;
    TL_TRY(playback_range(p, TL_FRAME_OFFSET, frame, p->column[TL_FRAME_POSITION].rows,
                          p->info.bodies, &first, &count));
    for (int k = TL_FRAME_POSITION; k <= TL_FRAME_SPIN; k++)
        TL_TRY(playback_rows(p, k, first, count));
    *out = (talus_body_view){.count = (int32_t)count,
                             .position = p->value[TL_FRAME_POSITION],
                             .orientation = p->value[TL_FRAME_ORIENTATION],
                             .velocity = p->value[TL_FRAME_VELOCITY],
                             .spin = p->value[TL_FRAME_SPIN],
                             .mass = p->value[TL_BODY_MASS],
                             .shape = p->value[TL_BODY_SHAPE],
                             .material = p->value[TL_BODY_MATERIAL],
                             .motion = p->value[TL_BODY_MOTION]};
    return TALUS_OK;
}

static talus_status playback_contacts(talus_playback *p, int64_t frame, talus_contact_view *out) {
    int64_t first = 0, count = 0;
    TL_TRY(playback_range(p, TL_CONTACT_OFFSET, frame, p->column[TL_CONTACT_A].rows, INT32_MAX,
                          &first, &count));
    for (int k = TL_CONTACT_A; k <= TL_CONTACT_VELOCITY; k++)
        TL_TRY(playback_rows(p, k, first, count));
    *out = (talus_contact_view){.count = (int32_t)count,
                                .a = p->value[TL_CONTACT_A],
                                .b = p->value[TL_CONTACT_B],
                                .feature = p->value[TL_CONTACT_FEATURE],
                                .point = p->value[TL_CONTACT_POINT],
                                .normal = p->value[TL_CONTACT_NORMAL],
                                .gap = p->value[TL_CONTACT_GAP],
                                .impulse = p->value[TL_CONTACT_IMPULSE],
                                .velocity = p->value[TL_CONTACT_VELOCITY],
                                .status = p->value[TL_CONTACT_STATUS]};
    return TALUS_OK;
}

static talus_status playback_check_contacts(const talus_playback *p, const talus_frame *frame) {
    const talus_contact_view *c = &frame->contacts;
    for (int32_t i = 0; i < c->count; i++)
        if (c->a[i] < 0 || c->a[i] >= frame->bodies.count || c->b[i] < 0 ||
            c->b[i] >= frame->bodies.count)
            return playback_damaged(p, "/contacts", "names a body that is not there");
    return TALUS_OK;
}

talus_status talus_playback_frame(talus_playback *p, int64_t frame, talus_frame *out) {
    if (!p || !out) return TALUS_ERR_ARG;
    *out = (talus_frame){0};
    TL_REQUIRE(p->ctx, frame >= 0 && frame < p->info.frames, TALUS_ERR_ARG,
               "%s: there is no frame %" PRId64 "; there are %" PRId64 ", from 0 on", p->path,
               frame, p->info.frames);
    talus_status status = TALUS_OK;
    talus_frame f = {0};
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    for (int k = TL_FRAME_TIME; k <= TL_FRAME_HASH; k++) TL_GOTO(playback_rows(p, k, frame, 1));
    f.time = *(const double *)p->value[TL_FRAME_TIME];
    f.step = *(const int64_t *)p->value[TL_FRAME_STEP];
    f.hash = *(const uint64_t *)p->value[TL_FRAME_HASH];
    TL_GOTO(playback_bodies(p, frame, &f.bodies));
    if (p->info.contacts) TL_GOTO(playback_contacts(p, frame, &f.contacts));
    TL_GOTO(playback_check_contacts(p, &f));
    *out = f;
done:
    tl_hdf5_quiet_end(quiet);
    return status;
}

talus_status talus_playback_ledger(talus_playback *p, const char *field, int64_t first,
                                   int64_t count, double *out) {
    if (!p || !field || !out) return TALUS_ERR_ARG;
    TL_REQUIRE(p->ctx, first >= 0 && count >= 0 && first <= p->info.steps - count, TALUS_ERR_ARG,
               "%s: there are no ledger rows %" PRId64 " to %" PRId64 "; there are %" PRId64,
               p->path, first, first + count, p->info.steps);
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        char path[64];
        const tl_column_def stored = tl_ledger_column(k, path);
        if (strcmp(path + strlen("/ledger/"), field) != 0) continue;
        tl_column_def def = stored;
        def.kind = TL_FLOAT64; // HDF5 converts integers
        tl_column c;
        const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
        const bool ok = tl_column_open(tl_store_file(p->store), &def, &c) &&
                        tl_column_read(&c, first, count, out);
        tl_column_close(&c);
        tl_hdf5_quiet_end(quiet);
        return ok ? TALUS_OK : playback_damaged(p, path, "cannot be read");
    }
    return tl_fail(p->ctx, TALUS_ERR_UNKNOWN, "the ledger has no field '%s'", field);
}
