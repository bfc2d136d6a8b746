// SPDX-License-Identifier: Apache-2.0
// Recordings opened for reading, while or after they are written.
#include "record/playback_impl.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PLAYBACK_TEXT_MOST (64 << 20) // bytes of a text

talus_status tl_playback_damaged(const talus_playback *p, const char *entry, const char *what) {
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
    if (!ok) status = tl_playback_damaged(p, entry, "is missing or no text");
done:
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    if (id >= 0) (void)(attribute ? H5Aclose(id) : H5Dclose(id));
    return status;
}

static talus_status playback_attribute(talus_playback *p, const char *object, const char *name,
                                       const char **out) {
    char **text = &p->text[p->texts++];
    const hid_t id =
        H5Aopen_by_name(tl_store_file(p->store), object, name, H5P_DEFAULT, H5P_DEFAULT);
    const talus_status status = playback_text(p, name, id, true, text);
    *out = *text;
    return status;
}

static talus_status playback_format(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    const char *format = NULL;
    int64_t version = 0;
    const talus_status status =
        H5Aexists(file, "format") > 0 ? playback_attribute(p, "/", "format", &format) : TALUS_OK;
    const bool ours = format && strcmp(format, TL_RECORD_FORMAT) == 0;
    if (status == TALUS_ERR_MEMORY) return status;
    if (!ours) return tl_playback_damaged(p, "this HDF5 file", "is no recording of talus run");
    TL_REQUIRE(p->ctx, tl_attribute_read_integer(file, "/", "format_version", &version),
               TALUS_ERR_FORMAT, "%s: the attribute format_version is missing", p->path);
    TL_REQUIRE(p->ctx, version == TL_RECORD_VERSION || version == TL_RECORD_VERSION_RODS,
               TALUS_ERR_UNSUPPORTED,
               "%s: has format version %" PRId64 "; this program reads version %d (%d with rods)",
               p->path, version, TL_RECORD_VERSION, TL_RECORD_VERSION_RODS);
    return TALUS_OK;
}

// Lines of the overrides.
static talus_status playback_set(talus_playback *p) {
    char **text = &p->text[p->texts++];
    TL_TRY(playback_text(p, "/set", H5Dopen2(tl_store_file(p->store), "/set", H5P_DEFAULT), false,
                         text));
    int32_t lines = 0;
    for (const char *c = *text; *c; c++) lines += *c == '\n';
    TL_TRY(TL_ALLOC(p->ctx, lines, &p->set));
    for (char *line = *text; *line && p->info.set_count < lines;) {
        p->set[p->info.set_count++] = line;
        line += strcspn(line, "\n");
        if (*line) *line++ = '\0';
    }
    return TALUS_OK;
}

static talus_status playback_precision(talus_playback *p) {
    static const char *const known[] = {
#define PLAYBACK_PRECISION_TEXT(name, words, what) words,
        TALUS_PRECISION_LIST(PLAYBACK_PRECISION_TEXT)
#undef PLAYBACK_PRECISION_TEXT
    };
    const char *text = NULL;
    int64_t without = 0;
    size_t k = 0;
    TL_TRY(playback_attribute(p, "/", "precision", &text));
    while (k < sizeof known / sizeof *known && strcmp(known[k], text) != 0) k++;
    if (k == sizeof known / sizeof *known ||
        !tl_attribute_read_integer(tl_store_file(p->store), "/", "without", &without))
        return tl_playback_damaged(p, "the attributes precision and without", "are wrong");
    p->info.precision = (talus_precision)k;
    for (int f = 0; f < TALUS_FIELDS; f++) p->info.without[f] = (without >> f & 1) != 0;
    return TALUS_OK;
}

// What stays as it is while a recording grows.
static talus_status playback_head(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    talus_playback_info *info = &p->info;
    int64_t dim = 0, threads = 0;
    TL_TRY(playback_format(p));
    TL_REQUIRE(p->ctx,
               tl_attribute_read_integer(file, "/", "dim", &dim) && (dim == 2 || dim == 3) &&
                   tl_attribute_read_integer(file, "/", "threads", &threads) && threads >= 1 &&
                   threads <= INT32_MAX,
               TALUS_ERR_FORMAT, "%s: the attributes dim and threads are missing or wrong",
               p->path);
    info->dim = (int32_t)dim;
    info->threads = (int32_t)threads;
    TL_TRY(playback_attribute(p, "/", "title", &info->title));
    TL_TRY(playback_attribute(p, "/", "scene_path", &info->scene_path));
    TL_TRY(playback_attribute(p, "/", "talus_version", &info->version));
    TL_TRY(playback_attribute(p, "/", "commit", &info->commit));
    TL_TRY(playback_attribute(p, "/", "compiler", &info->compiler));
    TL_TRY(playback_attribute(p, "/", "created", &info->created));
    TL_TRY(playback_attribute(p, "/", "machine", &info->machine));
    TL_TRY(playback_attribute(p, "/world", "scheme", &info->scheme));
    TL_TRY(playback_attribute(p, "/world", "solver", &info->solver));
    TL_REQUIRE(p->ctx,
               tl_attribute_read_numbers(file, "/world", "gravity", 3, info->gravity) &&
                   tl_attribute_read_numbers(file, "/world", "period", 3, info->period) &&
                   tl_attribute_read_numbers(file, "/world", "step", 1, &info->step) &&
                   tl_attribute_read_numbers(file, "/world", "tolerance", 1, &info->tolerance),
               TALUS_ERR_FORMAT, "%s: attributes of /world are missing or wrong", p->path);
    TL_TRY(playback_precision(p));
    char **scene = &p->text[p->texts++];
    TL_TRY(playback_text(p, "/scene", H5Dopen2(file, "/scene", H5P_DEFAULT), false, scene));
    info->scene = *scene;
    TL_TRY(playback_set(p));
    char **series = &p->text[p->texts++];
    TL_TRY(playback_text(p, "/series", H5Dopen2(file, "/series", H5P_DEFAULT), false, series));
    const talus_status status = tl_series_read(p->ctx, *series, &p->series, &p->series_count);
    return status == TALUS_OK ? status : tl_fail_prefix(p->ctx, status, p->path);
}

talus_status tl_playback_rows(talus_playback *p, int column, int64_t first, int64_t rows) {
    const tl_column *c = &p->column[column];
    if (rows > p->room[column]) {
        TL_TRY(tl_realloc(p->ctx, 0, rows, c->size, &p->value[column]));
        p->room[column] = rows;
    }
    if (tl_column_read(c, first, rows, p->value[column])) return TALUS_OK;
    return tl_playback_damaged(p, tl_column_defs[column].path, "cannot be read");
}

bool tl_playback_has(const talus_playback *p, int column) {
    return tl_column_is_kept(column, &p->holds, p->info.without);
}

// Columns that must have the same number of rows do.
static talus_status playback_check_rows(talus_playback *p) {
    static const struct {
        int first, last;
    } groups[] = {{TL_SHAPE_KIND, TL_SHAPE_PARTS},
                  {TL_PART_KIND, TL_PART_ORIENTATION},
                  {TL_MATERIAL_FRICTION, TL_MATERIAL_NAME},
                  {TL_BODY_SHAPE, TL_BODY_NAME},
                  {TL_ROD_NODES, TL_ROD_NAME},
                  {TL_FIBRE_POSITION, TL_FIBRE_STRAIN},
                  {TL_FRAME_POSITION, TL_FRAME_SPIN},
                  {TL_CONTACT_A, TL_CONTACT_VELOCITY},
                  {TL_CHECKPOINT_EXTRA, TL_CHECKPOINT_KEPT},
                  {TL_FRAME_TIME, TL_SAND_LOST},
                  {TL_SAND_ID, TL_SAND_PRESSURE},
                  {TL_NODE_PLACE, TL_NODE_VELOCITY}};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (int k = groups[g].first + 1; k <= groups[g].last; k++)
            if (tl_playback_has(p, k) && p->column[k].rows != p->column[groups[g].first].rows)
                return tl_playback_damaged(p, tl_column_defs[k].path,
                                           "has too few or too many rows");
    }
    static const struct {
        int offsets, entries;
    } counted[] = {{TL_FRAME_OFFSET, TL_FRAME_TIME}, {TL_CONTACT_OFFSET, TL_FRAME_TIME},
                   {TL_SAND_OFFSET, TL_FRAME_TIME},  {TL_NODE_OFFSET, TL_FRAME_TIME},
                   {TL_FIBRE_OFFSET, TL_FRAME_TIME}, {TL_CHECKPOINT_OFFSET, TL_CHECKPOINT_STEP}};
    for (size_t k = 0; k < sizeof counted / sizeof *counted; k++)
        if (tl_playback_has(p, counted[k].offsets) &&
            p->column[counted[k].offsets].rows != p->column[counted[k].entries].rows + 1)
            return tl_playback_damaged(p, tl_column_defs[counted[k].offsets].path,
                                       "must have one row more than what it counts");
    const int64_t materials = p->column[TL_MATERIAL_FRICTION].rows;
    if (materials > INT32_MAX ||
        p->column[TL_PAIR_FRICTION].rows != materials * (materials + 1) / 2)
        return tl_playback_damaged(p, "/material_pairs", "has too few or too many rows");
    if (p->column[TL_BODY_SHAPE].rows > INT32_MAX || p->column[TL_SHAPE_KIND].rows > INT32_MAX)
        return tl_playback_damaged(p, "/bodies", "has too many rows");
    return TALUS_OK;
}

static talus_status playback_check_indices(const talus_playback *p) {
    const int32_t *shape = p->value[TL_BODY_SHAPE], *material = p->value[TL_BODY_MATERIAL];
    static const int kinds[] = {TL_SHAPE_KIND, TL_PART_KIND};
    for (int k = 0; k < 2; k++) {
        const int32_t *kind = p->value[kinds[k]];
        for (int64_t i = 0; i < p->column[kinds[k]].rows; i++)
            if (kind[i] < 0 || kind[i] >= TALUS_SHAPE_KINDS)
                return tl_playback_damaged(p, tl_column_defs[kinds[k]].path,
                                           "names a kind of shape that is not known");
    }
    for (int32_t i = 0; i < p->info.bodies; i++)
        if (shape[i] < 0 || shape[i] >= p->column[TL_SHAPE_KIND].rows || material[i] < 0 ||
            material[i] >= p->column[TL_MATERIAL_FRICTION].rows)
            return tl_playback_damaged(p, "/bodies", "names a shape or material that is not there");
    return TALUS_OK;
}

static talus_status playback_steps(talus_playback *p) {
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        char path[64];
        const tl_column_def def = tl_ledger_column(k, path);
        tl_column c;
        if (!tl_column_open(tl_store_file(p->store), &def, &c))
            return tl_playback_damaged(p, path, "is missing or of another form");
        const int64_t rows = c.rows;
        tl_column_close(&c);
        if (k > 0 && rows != p->info.steps)
            return tl_playback_damaged(p, path, "has too few or too many rows");
        p->info.steps = rows;
    }
    for (int32_t k = 0; k < p->series_count; k++) {
        char path[TL_SERIES_PATH];
        const tl_column_def def = tl_series_column(&p->series[k], path);
        tl_column c;
        if (!tl_column_open(tl_store_file(p->store), &def, &c))
            return tl_playback_damaged(p, path, "is missing or of another form");
        const int64_t rows = c.rows;
        tl_column_close(&c);
        if (rows != p->info.steps)
            return tl_playback_damaged(p, path, "has too few or too many rows");
    }
    return TALUS_OK;
}

// Where the names begin, and that those who have one point to it.
static talus_status playback_names(talus_playback *p) {
    const int64_t bytes = p->column[TL_NAME_TEXT].rows;
    const char *text = p->value[TL_NAME_TEXT];
    int64_t count = 0;
    for (int64_t k = 0; k < bytes; k++) count += text[k] == '\0';
    if (count > INT32_MAX || (bytes > 0 && text[bytes - 1] != '\0'))
        return tl_playback_damaged(p, "/names/text", "does not end with a name");
    tl_free(p->ctx, p->name);
    p->name = NULL;
    TL_TRY(tl_alloc(p->ctx, count, sizeof *p->name, &p->name));
    p->names = 0;
    for (int64_t at = 0; at < bytes; at += (int64_t)strlen(text + at) + 1)
        p->name[p->names++] = text + at;
    static const int columns[] = {TL_BODY_NAME, TL_MATERIAL_NAME, TL_ROD_NAME};
    for (int c = 0; c < 3; c++)
        for (int64_t k = 0; k < p->column[columns[c]].rows; k++) {
            const int32_t name = tl_playback_integer(p, columns[c], k);
            if (name < -1 || name >= p->names)
                return tl_playback_damaged(p, tl_column_defs[columns[c]].path,
                                           "names what is not there");
        }
    return TALUS_OK;
}

// Where the nodes of each rod begin.
static talus_status playback_rods(talus_playback *p) {
    const int64_t rods = p->column[TL_ROD_NODES].rows;
    const int32_t *nodes = p->value[TL_ROD_NODES], *material = p->value[TL_ROD_MATERIAL];
    int64_t sum = 0;
    p->info.rods = 0;
    if (!p->holds.rods) return TALUS_OK;
    if (rods > INT32_MAX - 1) return tl_playback_damaged(p, "/rods", "has too many rows");
    TL_TRY(tl_realloc(p->ctx, 0, rods + 1, sizeof *p->rod_start, &p->rod_start));
    for (int64_t k = 0; k < rods; k++) {
        p->rod_start[k] = (int32_t)sum;
        sum += nodes[k];
        if (nodes[k] < 2 || sum > INT32_MAX)
            return tl_playback_damaged(p, "/rods/nodes", "holds a number that cannot be");
        if (material[k] < 0 || material[k] >= p->column[TL_MATERIAL_FRICTION].rows)
            return tl_playback_damaged(p, "/rods/material", "names a material that is not there");
    }
    p->rod_start[rods] = (int32_t)sum;
    p->info.rods = (int32_t)rods;
    return TALUS_OK;
}

// Shapes, materials, bodies and names, which only grow: those that have the rows of before are
// kept.
static talus_status playback_things(talus_playback *p, const int64_t before[TL_COLUMNS]) {
    bool shapes = !p->shape;
    for (int k = TL_SHAPE_KIND; k <= TL_NAME_TEXT; k++) {
        if ((p->shape && p->column[k].rows == before[k]) || !tl_playback_has(p, k)) continue;
        shapes = shapes || k <= TL_PART_ORIENTATION;
        TL_TRY(tl_playback_rows(p, k, 0, p->column[k].rows));
    }
    TL_TRY(playback_check_indices(p));
    TL_TRY(playback_names(p));
    TL_TRY(playback_rods(p));
    if (!shapes) return TALUS_OK;
    tl_playback_drop_shapes(p);
    return tl_playback_make_shapes(p);
}

// The grid of the sand, where there is some.
static talus_status playback_sand(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    talus_playback_info *info = &p->info;
    double cells[3];
    info->sand = H5Lexists(file, "/sand", H5P_DEFAULT) > 0;
    if (!info->sand) return TALUS_OK;
    bool ok = tl_attribute_read_numbers(file, "/sand", "cell", 1, &info->sand_cell) &&
              tl_attribute_read_numbers(file, "/sand", "origin", 3, info->sand_origin) &&
              tl_attribute_read_numbers(file, "/sand", "cells", 3, cells) &&
              tl_attribute_read_numbers(file, "/sand", "density", 1, &info->sand_density) &&
              info->sand_cell > 0.0 && isfinite(info->sand_cell);
    for (int k = 0; ok && k < 3; k++) {
        ok = isfinite(info->sand_origin[k]) && cells[k] >= 0.0 && cells[k] <= INT32_MAX;
        info->sand_cells[k] = ok ? (int32_t)cells[k] : 0;
    }
    return ok ? TALUS_OK : tl_playback_damaged(p, "/sand", "has attributes missing or wrong");
}

static talus_status playback_open_columns(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    p->info.contacts = H5Lexists(file, "/contacts", H5P_DEFAULT) > 0;
    TL_TRY(playback_sand(p));
    p->holds = (tl_holdings){.contacts = p->info.contacts,
                             .sand = p->info.sand,
                             .rods = H5Lexists(file, "/rods", H5P_DEFAULT) > 0};
    for (int k = 0; k < TL_COLUMNS; k++) {
        if (!tl_playback_has(p, k)) continue;
        if (!tl_column_open(file, &tl_column_defs[k], &p->column[k]))
            return tl_playback_damaged(p, tl_column_defs[k].path, "is missing or of another form");
    }
    const hid_t type = H5Dget_type(p->column[TL_FRAME_POSITION].id);
    p->info.single = type >= 0 && H5Tget_size(type) == sizeof(float);
    if (type >= 0) (void)H5Tclose(type);
    return playback_check_rows(p);
}

// What a flush changes.
static talus_status playback_growth(talus_playback *p) {
    const hid_t file = tl_store_file(p->store);
    int64_t before[TL_COLUMNS], finished = 0;
    for (int k = 0; k < TL_COLUMNS; k++) before[k] = p->column[k].rows;
    const hid_t commits = H5Dopen2(file, TL_RECORD_COMMITS, H5P_DEFAULT);
    const haddr_t at = commits >= 0 ? H5Dget_offset(commits) : HADDR_UNDEF;
    if (commits >= 0) (void)H5Dclose(commits);
    p->commit_at = at == HADDR_UNDEF || at > INT64_MAX ? -1 : (int64_t)at;
    if (p->commit_at < 0 || !tl_store_peek(p->store, p->commit_at, sizeof p->commit, &p->commit))
        return tl_playback_damaged(p, TL_RECORD_COMMITS, "is missing or of another form");
    TL_REQUIRE(p->ctx,
               tl_attribute_read_integer(file, "/", "finished", &finished) &&
                   tl_attribute_read_numbers(file, "/", "wall_seconds", 1, &p->info.wall_seconds),
               TALUS_ERR_FORMAT, "%s: the attributes finished and wall_seconds are missing",
               p->path);
    p->info.finished = finished != 0 && !tl_store_is_torn(p->store);
    TL_TRY(playback_open_columns(p));
    p->info.frames = p->column[TL_FRAME_TIME].rows;
    p->info.checkpoints = p->column[TL_CHECKPOINT_STEP].rows;
    p->info.bodies = (int32_t)p->column[TL_BODY_SHAPE].rows;
    TL_TRY(playback_things(p, before));
    return playback_steps(p);
}

static void playback_close_columns(talus_playback *p) {
    for (int k = 0; k < TL_COLUMNS; k++) tl_column_close(&p->column[k]);
}

talus_status tl_playback_hold(talus_playback *p) {
    int64_t commit = 0;
    tl_store_hold(p->store);
    if (p->commit_at >= 0 && tl_store_peek(p->store, p->commit_at, sizeof commit, &commit) &&
        commit == p->commit)
        return TALUS_OK;
    playback_close_columns(p);
    p->commit_at = -1; // until all is well again
    TL_TRY(tl_store_reopen(p->store));
    const talus_status status = playback_growth(p);
    if (status != TALUS_OK) p->commit_at = -1;
    return status;
}

void tl_playback_release(talus_playback *p) { tl_store_release(p->store); }

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
    TL_GOTO(playback_growth(p));
    tl_playback_release(p);
done:
    if (status != TALUS_OK)
        talus_playback_close(p);
    else
        *out = p;
    tl_hdf5_quiet_end(quiet);
    return status;
}

talus_status talus_playback_refresh(talus_playback *p) {
    if (!p) return TALUS_ERR_ARG;
    if (tl_store_is_replaced(p->store)) { // by another run
        talus_playback *other = NULL;
        const talus_status opened = talus_playback_open(p->ctx, p->path, &other);
        if (opened != TALUS_OK || !other) return opened;
        const talus_playback swap = *p;
        *p = *other;
        *other = swap;
        talus_playback_close(other);
        return TALUS_OK;
    }
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    const talus_status status = tl_playback_hold(p);
    tl_playback_release(p);
    tl_hdf5_quiet_end(quiet);
    return status;
}

void talus_playback_close(talus_playback *p) {
    if (!p) return;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    for (int k = 0; k < p->texts; k++) tl_free(p->ctx, p->text[k]);
    playback_close_columns(p);
    for (int k = 0; k < TL_COLUMNS; k++) tl_free(p->ctx, p->value[k]);
    const talus_status closed = tl_store_close(p->store, false);
    (void)closed; // nothing was written
    tl_playback_drop_shapes(p);
    tl_free(p->ctx, p->name);
    tl_free(p->ctx, p->rod_start);
    tl_free(p->ctx, p->set);
    tl_free(p->ctx, p->series);
    tl_free(p->ctx, p->path);
    tl_free(p->ctx, p);
    tl_hdf5_quiet_end(quiet);
}

talus_playback_info talus_playback_get_info(const talus_playback *p) { return p->info; }

const char *talus_playback_set_at(const talus_playback *p, int32_t index) {
    return p && index >= 0 && index < p->info.set_count ? p->set[index] : NULL;
}

static const char *playback_name(const talus_playback *p, int column, int32_t index) {
    if (!p || index < 0 || index >= p->column[column].rows) return "";
    const int32_t name = tl_playback_integer(p, column, index);
    return name >= 0 ? p->name[name] : "";
}

const char *talus_playback_body_name(const talus_playback *p, int32_t body) {
    return playback_name(p, TL_BODY_NAME, body);
}

const char *talus_playback_material_name(const talus_playback *p, int32_t material) {
    return playback_name(p, TL_MATERIAL_NAME, material);
}

const char *talus_playback_rod_name(const talus_playback *p, int32_t rod) {
    return playback_name(p, TL_ROD_NAME, rod);
}

double talus_playback_body_radius(const talus_playback *p, int32_t body) {
    if (!p || body < 0 || body >= p->info.bodies) return 0.0;
    return tl_playback_number(p, TL_BODY_RADIUS, body);
}

bool talus_playback_shape_at(const talus_playback *p, int32_t index, talus_shape_def *out) {
    if (!p || !out || index < 0 || index >= p->column[TL_SHAPE_KIND].rows) return false;
    *out = p->shape[index];
    return true;
}

bool talus_playback_material_at(const talus_playback *p, int32_t index, talus_material_def *out) {
    if (!p || !out || index < 0 || index >= p->column[TL_MATERIAL_FRICTION].rows) return false;
    *out = (talus_material_def){
        .friction = tl_playback_number(p, TL_MATERIAL_FRICTION, index),
        .restitution = tl_playback_number(p, TL_MATERIAL_RESTITUTION, index),
        .restitution_t = tl_playback_number(p, TL_MATERIAL_RESTITUTION_T, index),
        .stiffness = tl_playback_number(p, TL_MATERIAL_STIFFNESS, index),
        .damping = tl_playback_number(p, TL_MATERIAL_DAMPING, index),
        .young = tl_playback_number(p, TL_MATERIAL_YOUNG, index),
        .poisson = tl_playback_number(p, TL_MATERIAL_POISSON, index),
        .tangential = tl_playback_number(p, TL_MATERIAL_TANGENTIAL, index)};
    return true;
}

double talus_playback_friction(const talus_playback *p, int32_t a, int32_t b) {
    const int64_t high = a > b ? a : b, low = a > b ? b : a;
    if (!p || low < 0 || high >= p->column[TL_MATERIAL_FRICTION].rows) return NAN;
    return tl_playback_number(p, TL_PAIR_FRICTION, high * (high + 1) / 2 + low);
}

bool talus_playback_series_at(const talus_playback *p, int32_t index, talus_ledger_field *out) {
    if (!p || !out || index < 0 || index >= p->series_count) return false;
    *out = p->series[index];
    return true;
}
