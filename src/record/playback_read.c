// SPDX-License-Identifier: Apache-2.0
// Frames, ledger and checkpoints of a recording.
#include "record/playback_impl.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

// Which rows a frame has in the columns that `offsets` belongs to; most `most` of them.
static talus_status read_range(talus_playback *p, int offsets, int64_t frame, int64_t rows,
                               int64_t most, int64_t *first, int64_t *count) {
    TL_TRY(tl_playback_rows(p, offsets, frame, 2));
    const int64_t *offset = p->value[offsets];
    if (offset[0] < 0 || offset[1] < offset[0] || offset[1] > rows || offset[1] - offset[0] > most)
        return tl_playback_damaged(p, tl_column_defs[offsets].path,
                                   "does not rise, or points behind what it belongs to");
    *first = offset[0];
    *count = offset[1] - offset[0];
    return TALUS_OK;
}

// Compact orientations and normals are of unit length to four digits only.
static void read_normalise(int32_t width, int64_t rows, double *x) {
    for (int64_t i = 0; i < rows; i++, x += width) {
        double square = 0.0;
        for (int32_t k = 0; k < width; k++) square += x[k] * x[k];
        if (square > 0.0)
            for (int32_t k = 0; k < width; k++) x[k] /= sqrt(square);
    }
}

// Rows of a column that may not have been recorded.
static talus_status read_reals(talus_playback *p, int column, int64_t first, int64_t rows) {
    const int32_t width = tl_column_defs[column].width;
    const bool unit = column == TL_FRAME_ORIENTATION || column == TL_CONTACT_NORMAL ||
                      column == TL_FIBRE_DIRECTOR;
    if (tl_playback_has(p, column)) {
        TL_TRY(tl_playback_rows(p, column, first, rows));
        if (unit && p->info.precision == TALUS_PRECISION_COMPACT)
            read_normalise(width, rows, p->value[column]);
        return TALUS_OK;
    }
    if (rows > p->room[column]) {
        TL_TRY(tl_realloc(p->ctx, 0, rows * width, sizeof(double), &p->value[column]));
        p->room[column] = rows;
    }
    double *x = p->value[column];
    for (int64_t k = 0; k < rows * width; k++)
        x[k] = column == TL_FRAME_ORIENTATION ? (k % width == 0 ? 1.0 : 0.0) : NAN;
    return TALUS_OK;
}

static talus_status read_bodies(talus_playback *p, int64_t frame, talus_body_view *out) {
    int64_t first = 0, count = 0;
    TL_TRY(read_range(p, TL_FRAME_OFFSET, frame, p->column[TL_FRAME_POSITION].rows, p->info.bodies,
                      &first, &count));
    for (int k = TL_FRAME_POSITION; k <= TL_FRAME_SPIN; k++) TL_TRY(read_reals(p, k, first, count));
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

static talus_status read_contacts(talus_playback *p, int64_t frame, talus_contact_view *out) {
    int64_t first = 0, count = 0;
    TL_TRY(read_range(p, TL_CONTACT_OFFSET, frame, p->column[TL_CONTACT_A].rows, INT32_MAX, &first,
                      &count));
    for (int k = TL_CONTACT_A; k < TL_CONTACT_POINT; k++)
        TL_TRY(tl_playback_rows(p, k, first, count));
    for (int k = TL_CONTACT_POINT; k <= TL_CONTACT_VELOCITY; k++)
        TL_TRY(read_reals(p, k, first, count));
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

static talus_status read_sand(talus_playback *p, int64_t frame, talus_sand_frame *out) {
    int64_t first = 0, count = 0, nodes = 0;
    TL_TRY(read_range(p, TL_SAND_OFFSET, frame, p->column[TL_SAND_ID].rows, INT64_MAX / 64, &first,
                      &count));
    TL_TRY(tl_playback_rows(p, TL_SAND_ID, first, count));
    for (int k = TL_SAND_POSITION; k <= TL_SAND_PRESSURE; k++)
        TL_TRY(read_reals(p, k, first, count));
    TL_TRY(tl_playback_rows(p, TL_SAND_LOST, frame, 1));
    if (tl_playback_has(p, TL_NODE_PLACE)) {
        TL_TRY(read_range(p, TL_NODE_OFFSET, frame, p->column[TL_NODE_PLACE].rows, INT64_MAX / 64,
                          &first, &nodes));
        TL_TRY(tl_playback_rows(p, TL_NODE_PLACE, first, nodes));
    }
    for (int k = TL_NODE_FRACTION; k <= TL_NODE_VELOCITY; k++)
        TL_TRY(read_reals(p, k, first, nodes));
    *out = (talus_sand_frame){.count = count,
                              .id = p->value[TL_SAND_ID],
                              .position = p->value[TL_SAND_POSITION],
                              .velocity = p->value[TL_SAND_VELOCITY],
                              .volume = p->value[TL_SAND_VOLUME],
                              .frame = p->value[TL_SAND_FRAME],
                              .inertial = p->value[TL_SAND_INERTIAL],
                              .pressure = p->value[TL_SAND_PRESSURE],
                              .nodes = nodes,
                              .node = p->value[TL_NODE_PLACE],
                              .node_fraction = p->value[TL_NODE_FRACTION],
                              .node_pressure = p->value[TL_NODE_PRESSURE],
                              .node_velocity = p->value[TL_NODE_VELOCITY],
                              .lost = tl_playback_number(p, TL_SAND_LOST, 0)};
    return TALUS_OK;
}

// Rods of a frame are the first so many of all: as many as have its nodes together.
static talus_status read_rods(talus_playback *p, int64_t frame, talus_frame *out) {
    int64_t first = 0, count = 0;
    int32_t rods = 0;
    TL_TRY(read_range(p, TL_FIBRE_OFFSET, frame, p->column[TL_FIBRE_POSITION].rows, INT32_MAX,
                      &first, &count));
    while (rods < p->info.rods && p->rod_start[rods] < count) rods++;
    if (p->rod_start[rods] != count)
        return tl_playback_damaged(p, "/rod_nodes/offset", "ends within a rod");
    for (int k = TL_FIBRE_POSITION; k <= TL_FIBRE_STRAIN; k++)
        TL_TRY(read_reals(p, k, first, count));
    out->rods = (talus_rod_view){.rods = rods,
                                 .start = p->rod_start,
                                 .position = p->value[TL_FIBRE_POSITION],
                                 .velocity = p->value[TL_FIBRE_VELOCITY],
                                 .director = p->value[TL_FIBRE_DIRECTOR],
                                 .strain = p->value[TL_FIBRE_STRAIN],
                                 .radius = p->value[TL_ROD_RADIUS],
                                 .material = p->value[TL_ROD_MATERIAL],
                                 .kind = p->value[TL_ROD_KIND],
                                 .first_item = out->bodies.count};
    return TALUS_OK;
}

static talus_status read_check_contacts(const talus_playback *p, const talus_frame *frame) {
    const talus_contact_view *c = &frame->contacts;
    const talus_rod_view *rods = &frame->rods;
    const int64_t items =
        (int64_t)frame->bodies.count + (rods->rods > 0 ? rods->start[rods->rods] - rods->rods : 0);
    for (int32_t i = 0; i < c->count; i++)
        if (c->a[i] < 0 || c->a[i] >= items || c->b[i] < 0 || c->b[i] >= items)
            return tl_playback_damaged(p, "/contacts", "names a body that is not there");
    return TALUS_OK;
}

static talus_status read_frame(talus_playback *p, int64_t frame, talus_frame *out) {
    talus_frame f = {0};
    TL_REQUIRE(p->ctx, frame >= 0 && frame < p->info.frames, TALUS_ERR_ARG,
               "%s: there is no frame %" PRId64 "; there are %" PRId64 ", from 0 on", p->path,
               frame, p->info.frames);
    for (int k = TL_FRAME_TIME; k <= TL_FRAME_HASH; k++) TL_TRY(tl_playback_rows(p, k, frame, 1));
    f.time = *(const double *)p->value[TL_FRAME_TIME];
    f.step = *(const int64_t *)p->value[TL_FRAME_STEP];
    f.hash = *(const uint64_t *)p->value[TL_FRAME_HASH];
    TL_TRY(read_bodies(p, frame, &f.bodies));
    if (p->info.contacts) TL_TRY(read_contacts(p, frame, &f.contacts));
    if (p->holds.rods) TL_TRY(read_rods(p, frame, &f));
    TL_TRY(read_check_contacts(p, &f));
    if (p->info.sand) TL_TRY(read_sand(p, frame, &f.sand));
    *out = f;
    return TALUS_OK;
}

talus_status talus_playback_frame(talus_playback *p, int64_t frame, talus_frame *out) {
    if (!p || !out) return TALUS_ERR_ARG;
    *out = (talus_frame){0};
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = tl_playback_hold(p);
    if (status == TALUS_OK) status = read_frame(p, frame, out);
    tl_playback_release(p);
    tl_hdf5_quiet_end(quiet);
    return status;
}

// Rows of a dataset of the ledger as numbers; HDF5 converts integers.
static talus_status read_figures(talus_playback *p, tl_column_def def, int64_t first, int64_t count,
                                 double *out) {
    tl_column c;
    def.kind = TL_FLOAT64;
    const bool ok =
        tl_column_open(tl_store_file(p->store), &def, &c) && tl_column_read(&c, first, count, out);
    tl_column_close(&c);
    return ok ? TALUS_OK : tl_playback_damaged(p, def.path, "cannot be read");
}

static talus_status read_ledger(talus_playback *p, const char *field, int64_t first, int64_t count,
                                double *out) {
    char path[TL_SERIES_PATH];
    TL_REQUIRE(p->ctx, first >= 0 && count >= 0 && first <= p->info.steps - count, TALUS_ERR_ARG,
               "%s: there are no ledger rows %" PRId64 " to %" PRId64 "; there are %" PRId64,
               p->path, first, first + count, p->info.steps);
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        const tl_column_def def = tl_ledger_column(k, path);
        if (strcmp(path + strlen("/ledger/"), field) == 0)
            return read_figures(p, def, first, count, out);
    }
    for (int32_t k = 0; k < p->series_count; k++)
        if (strcmp(p->series[k].name, field) == 0)
            return read_figures(p, tl_series_column(&p->series[k], path), first, count, out);
    return tl_fail(p->ctx, TALUS_ERR_UNKNOWN, "the ledger has no field '%s'", field);
}

talus_status talus_playback_ledger(talus_playback *p, const char *field, int64_t first,
                                   int64_t count, double *out) {
    if (!p || !field || !out) return TALUS_ERR_ARG;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = tl_playback_hold(p);
    if (status == TALUS_OK) status = read_ledger(p, field, first, count, out);
    tl_playback_release(p);
    tl_hdf5_quiet_end(quiet);
    return status;
}

static talus_status read_checkpoint(talus_playback *p, int64_t checkpoint, talus_checkpoint *out) {
    int64_t first = 0, count = 0;
    TL_REQUIRE(p->ctx, checkpoint >= 0 && checkpoint < p->info.checkpoints, TALUS_ERR_ARG,
               "%s: there is no checkpoint %" PRId64 "; there are %" PRId64 ", from 0 on", p->path,
               checkpoint, p->info.checkpoints);
    TL_TRY(read_range(p, TL_CHECKPOINT_OFFSET, checkpoint, p->column[TL_CHECKPOINT_STATE].rows,
                      INT64_MAX, &first, &count));
    TL_TRY(tl_playback_rows(p, TL_CHECKPOINT_STATE, first, count));
    for (int k = TL_CHECKPOINT_EXTRA; k <= TL_CHECKPOINT_KEPT; k++)
        TL_TRY(tl_playback_rows(p, k, checkpoint, 1));
    *out = (talus_checkpoint){.step = *(const int64_t *)p->value[TL_CHECKPOINT_STEP],
                              .time = tl_playback_number(p, TL_CHECKPOINT_TIME, 0),
                              .hash = *(const uint64_t *)p->value[TL_CHECKPOINT_HASH],
                              .bodies = tl_playback_integer(p, TL_CHECKPOINT_BODIES, 0),
                              .kept = *(const uint8_t *)p->value[TL_CHECKPOINT_KEPT] != 0,
                              .state = p->value[TL_CHECKPOINT_STATE],
                              .count = count};
    memcpy(out->extra, p->value[TL_CHECKPOINT_EXTRA], sizeof out->extra);
    return TALUS_OK;
}

talus_status talus_playback_checkpoint(talus_playback *p, int64_t checkpoint,
                                       talus_checkpoint *out) {
    if (!p || !out) return TALUS_ERR_ARG;
    *out = (talus_checkpoint){0};
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = tl_playback_hold(p);
    if (status == TALUS_OK) status = read_checkpoint(p, checkpoint, out);
    tl_playback_release(p);
    tl_hdf5_quiet_end(quiet);
    return status;
}
