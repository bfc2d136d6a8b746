// SPDX-License-Identifier: Apache-2.0
// Writing a recording. Frames, checkpoints and ledger rows are appended to datasets (layout.h) of a
// file that only ever changes in whole commits (store.h).
#include "base/timer.h"
#include "record/playback_impl.h"
#include "record/record_impl.h"
#include <math.h>
#include <string.h>

#define RECORD_PENDING_MOST (64 << 20) // bytes in memory above which a frame commits by itself

talus_status tl_record_refused(talus_recording *r, const char *what) {
    r->failed = true;
    TL_TRY(tl_store_check(r->store)); // the disk's reason, where it is one
    return tl_fail(r->ctx, TALUS_ERR_FILE, "%s: HDF5 cannot write %s (out of memory?)", r->path,
                   what);
}

talus_status tl_record_append(talus_recording *r, int column, int64_t rows, const void *values) {
    if (tl_column_append(&r->column[column], rows, values)) return TALUS_OK;
    return tl_record_refused(r, tl_column_defs[column].path);
}

static void record_free(talus_recording *r) {
    if (!r) return;
    tl_record_forget_names(r);
    tl_record_forget_sand(r);
    void *const owned[] = {r->path, r->ledger,      r->ledger_value, r->single,       r->state,
                           r->name, r->series_text, r->series_field, r->series_value, r->series};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) tl_free(r->ctx, owned[k]);
    tl_free(r->ctx, r);
}

// Close what HDF5 has open, and the store; what was not committed is lost without `commit`.
static talus_status record_shut(talus_recording *r, bool commit) {
    for (int k = 0; k < TL_COLUMNS; k++) tl_column_close(&r->column[k]);
    for (int32_t k = 0; r->ledger && k < tl_ledger_fields(); k++) tl_column_close(&r->ledger[k]);
    for (int32_t k = 0; r->series && k < r->series_count; k++) tl_column_close(&r->series[k]);
    if (r->commit_id > 0) (void)H5Dclose(r->commit_id);
    const talus_status status = tl_store_close(r->store, commit);
    r->store = NULL;
    return status;
}

// Without the store, which the caller opens next.
static talus_status record_new(talus_context *ctx, const char *path, const talus_record_def *def,
                               talus_recording **out) {
    talus_status status = TALUS_OK;
    talus_recording *r = NULL;
    TL_TRY(TL_ALLOC(ctx, 1, &r));
    r->ctx = ctx;
    r->body_name = def->body_name;
    r->material_name = def->material_name;
    r->rod_name = def->rod_name;
    r->user = def->user;
    r->begun = tl_seconds();
    TL_GOTO(TL_COPY(ctx, path, (int64_t)strlen(path) + 1, &r->path));
    TL_GOTO(TL_ALLOC(ctx, tl_ledger_fields(), &r->ledger));
    TL_GOTO(TL_ALLOC(ctx, (int64_t)tl_ledger_fields() * TL_RECORD_LEDGER_ROWS, &r->ledger_value));
done:
    if (status != TALUS_OK)
        record_free(r);
    else
        *out = r;
    return status;
}

talus_status tl_record_take_series(talus_recording *r, char *text) {
    r->series_text = text;
    TL_TRY(tl_series_read(r->ctx, text, &r->series_field, &r->series_count));
    TL_TRY(TL_ALLOC(r->ctx, r->series_count, &r->series));
    TL_TRY(TL_ALLOC(r->ctx, (int64_t)r->series_count * TL_RECORD_LEDGER_ROWS, &r->series_value));
    for (int64_t k = 0; k < (int64_t)r->series_count * TL_RECORD_LEDGER_ROWS; k++)
        r->series_value[k] = NAN;
    return TALUS_OK;
}

// Hand a recording out whose beginning went well, or close and free it.
static void record_begun(talus_recording *r, talus_status status, talus_recording **out) {
    if (status == TALUS_OK) {
        *out = r;
        return;
    }
    const talus_status closed = record_shut(r, false);
    (void)closed; // closing has nothing to add to what is known already
    record_free(r);
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
    char *set = NULL, *series = NULL, *list = NULL;
    TL_TRY(record_new(ctx, path, def, &r));
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(tl_series_write(ctx, def->series, def->series ? def->series_count : 0, &series));
    TL_GOTO(TL_COPY(ctx, series, (int64_t)strlen(series) + 1, &list));
    TL_GOTO(tl_record_take_series(r, list));
    r->holds = (tl_holdings){.contacts = def->contacts,
                             .sand = talus_world_sand_def(w, &(talus_sand_def){0}),
                             .rods = talus_world_rods(w).rods > 0};
    r->precision = def->precision;
    memcpy(r->without, def->without, sizeof r->without);
    TL_GOTO(tl_record_set_text(ctx, def, &set));
    TL_GOTO(tl_store_create(ctx, path, &r->store));
    if (!tl_record_begin(r, def, w) || !tl_text_write(tl_store_file(r->store), "/set", set) ||
        !tl_text_write(tl_store_file(r->store), "/series", series))
        status = tl_record_refused(r, "its beginning");
    else
        status = tl_store_check(r->store);
done:
    tl_free(ctx, set);
    tl_free(ctx, series);
    record_begun(r, status, out);
    tl_hdf5_quiet_end(quiet);
    return status;
}

// Rows of a column up to which steps are not past `step`; `column` holds the steps.
static talus_status record_rows_until(talus_recording *r, const tl_column *c, int64_t step,
                                      int64_t *out) {
    // Steps ascend: halve.
    int64_t low = 0, high = c->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t value;
        TL_REQUIRE(r->ctx, tl_column_read(c, middle, 1, &value), TALUS_ERR_FORMAT,
                   "%s: the steps cannot be read", r->path);
        if (value <= step)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return TALUS_OK;
}

static talus_status record_cut(talus_recording *r, int column, int64_t rows) {
    if (!tl_record_has(r, column) || tl_column_cut(&r->column[column], rows)) return TALUS_OK;
    return tl_record_refused(r, tl_column_defs[column].path);
}

// Cut the columns first … last to `rows` of entries, and those of `rows_of` that `offsets` counts.
static talus_status record_cut_counted(talus_recording *r, int offsets, int first, int last,
                                       int64_t rows) {
    int64_t end = 0;
    if (!tl_record_has(r, offsets)) return TALUS_OK;
    TL_REQUIRE(r->ctx,
               rows < r->column[offsets].rows &&
                   tl_column_read(&r->column[offsets], rows, 1, &end) && end >= 0,
               TALUS_ERR_FORMAT, "%s: %s cannot be read", r->path, tl_column_defs[offsets].path);
    TL_TRY(record_cut(r, offsets, rows + 1));
    for (int k = first; k <= last; k++) TL_TRY(record_cut(r, k, end));
    return TALUS_OK;
}

// Remove checkpoints from number `count` on.
static talus_status record_cut_checkpoints(talus_recording *r, int64_t count) {
    for (int k = TL_CHECKPOINT_EXTRA; k <= TL_CHECKPOINT_KEPT; k++) TL_TRY(record_cut(r, k, count));
    return record_cut_counted(r, TL_CHECKPOINT_OFFSET, TL_CHECKPOINT_STATE, TL_CHECKPOINT_STATE,
                              count);
}

// Everything that came after the checkpoint.
static talus_status record_rewind(talus_recording *r, int64_t checkpoint, int64_t most,
                                  const talus_world *w) {
    int64_t step = 0, frames = 0, rows = 0;
    uint8_t kept = 0;
    talus_body_view bodies;
    talus_world_bodies(w, &bodies);
    TL_REQUIRE(r->ctx,
               tl_column_read(&r->column[TL_CHECKPOINT_STEP], checkpoint, 1, &step) &&
                   tl_column_read(&r->column[TL_CHECKPOINT_KEPT], checkpoint, 1, &kept),
               TALUS_ERR_FORMAT, "%s: the checkpoint cannot be read", r->path);
    TL_TRY(record_rows_until(r, &r->column[TL_FRAME_STEP], step, &frames));
    if (frames > most) frames = most;
    TL_TRY(record_rows_until(r, &r->ledger[0], step, &rows));
    for (int32_t k = 0; k < tl_ledger_fields(); k++)
        if (!tl_column_cut(&r->ledger[k], rows)) return tl_record_refused(r, "the ledger");
    for (int32_t k = 0; k < r->series_count; k++)
        if (!tl_column_cut(&r->series[k], rows)) return tl_record_refused(r, "the series");
    TL_TRY(record_cut_counted(r, TL_FRAME_OFFSET, TL_FRAME_POSITION, TL_FRAME_SPIN, frames));
    TL_TRY(record_cut_counted(r, TL_CONTACT_OFFSET, TL_CONTACT_A, TL_CONTACT_VELOCITY, frames));
    TL_TRY(record_cut_counted(r, TL_SAND_OFFSET, TL_SAND_ID, TL_SAND_PRESSURE, frames));
    TL_TRY(record_cut_counted(r, TL_NODE_OFFSET, TL_NODE_PLACE, TL_NODE_VELOCITY, frames));
    for (int k = TL_FRAME_TIME; k <= TL_SAND_LOST; k++) TL_TRY(record_cut(r, k, frames));
    TL_TRY(record_cut_counted(r, TL_FIBRE_OFFSET, TL_FIBRE_POSITION, TL_FIBRE_STRAIN, frames));
    for (int k = TL_BODY_SHAPE; k <= TL_BODY_NAME; k++) TL_TRY(record_cut(r, k, bodies.count));
    for (int k = TL_ROD_NODES; k <= TL_ROD_NAME; k++)
        TL_TRY(record_cut(r, k, talus_world_rods(w).rods));
    TL_TRY(record_cut_checkpoints(r, checkpoint + 1));
    r->frames = frames;
    r->replace = kept == 0;
    return TALUS_OK;
}

static talus_status record_copy_series(talus_recording *r, const talus_playback *p) {
    talus_ledger_field *field = NULL, one;
    char *text = NULL;
    int32_t count = 0;
    while (talus_playback_series_at(p, count, &one)) count++;
    TL_TRY(TL_ALLOC(r->ctx, count, &field));
    for (int32_t k = 0; k < count; k++) (void)talus_playback_series_at(p, k, &field[k]);
    talus_status status = tl_series_write(r->ctx, field, count, &text);
    tl_free(r->ctx, field);
    return status == TALUS_OK ? tl_record_take_series(r, text) : status;
}

static talus_status record_read_def(talus_recording *r, int64_t checkpoint) {
    talus_playback *p = NULL;
    TL_TRY(talus_playback_open(r->ctx, r->path, &p));
    const talus_playback_info info = talus_playback_get_info(p);
    r->holds = p->holds;
    r->precision = info.precision;
    memcpy(r->without, info.without, sizeof r->without);
    r->seconds = info.wall_seconds;
    talus_status status = record_copy_series(r, p);
    talus_playback_close(p);
    TL_TRY(status);
    TL_REQUIRE(r->ctx, checkpoint >= 0 && checkpoint < info.checkpoints, TALUS_ERR_ARG,
               "%s: there is no checkpoint %lld; there are %lld", r->path, (long long)checkpoint,
               (long long)info.checkpoints);
    return TALUS_OK;
}

talus_status talus_recording_resume(talus_context *ctx, const char *path,
                                    const talus_record_def *def, int64_t checkpoint, int64_t frames,
                                    const talus_world *w, talus_recording **out) {
    if (!ctx || !out) return TALUS_ERR_ARG;
    *out = NULL;
    TL_REQUIRE(ctx, path && path[0] && def && w, TALUS_ERR_ARG,
               "talus_recording_resume: path, def and world must be given");
    TL_REQUIRE(ctx, frames > 0, TALUS_ERR_ARG, "talus_recording_resume: one frame must stay");
    talus_status status = TALUS_OK;
    talus_recording *r = NULL;
    char *set = NULL;
    TL_TRY(record_new(ctx, path, def, &r));
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(tl_record_set_text(ctx, def, &set));
    TL_GOTO(record_read_def(r, checkpoint)); // also checks the whole file
    TL_GOTO(tl_store_resume(ctx, path, &r->store));
    TL_GOTO(tl_record_reopen(r));
    TL_GOTO(record_rewind(r, checkpoint, frames, w));
    if (!tl_text_write(tl_store_file(r->store), "/set", set) || !tl_record_mark(r, false))
        status = tl_record_refused(r, "its beginning");
    else
        status = tl_store_check(r->store);
done:
    tl_free(ctx, set);
    record_begun(r, status, out);
    tl_hdf5_quiet_end(quiet);
    return status;
}

static talus_status record_ledger_out(talus_recording *r) {
    for (int32_t k = 0; k < tl_ledger_fields() && r->ledger_rows > 0; k++) {
        if (!tl_column_append(&r->ledger[k], r->ledger_rows,
                              r->ledger_value + (size_t)k * TL_RECORD_LEDGER_ROWS))
            return tl_record_refused(r, "the ledger");
    }
    for (int32_t k = 0; k < r->series_count && r->ledger_rows > 0; k++) {
        double *value = r->series_value + (size_t)k * TL_RECORD_LEDGER_ROWS;
        if (!tl_column_append(&r->series[k], r->ledger_rows, value))
            return tl_record_refused(r, "the series");
        for (int32_t i = 0; i < r->ledger_rows; i++) value[i] = NAN;
    }
    r->ledger_rows = 0;
    return TALUS_OK;
}

static talus_status record_flush(talus_recording *r) {
    TL_TRY(record_ledger_out(r));
    if (!tl_record_mark(r, false)) return tl_record_refused(r, "its marks");
    return tl_store_commit(r->store);
}

// The error of an earlier call, again.
static talus_status record_usable(talus_recording *r) {
    return r->failed ? tl_record_refused(r, "any more after an error") : tl_store_check(r->store);
}

talus_status talus_recording_frame(talus_recording *r, const talus_world *w, int64_t step) {
    if (!r || !w) return TALUS_ERR_ARG;
    talus_status status = TALUS_OK;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(record_usable(r));
    TL_GOTO(tl_record_frame(r, w, step));
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

static talus_status record_checkpoint(talus_recording *r, const talus_world *w, int64_t step,
                                      const double *extra, bool keep) {
    static const double zeros[TALUS_CHECKPOINT_EXTRA];
    const uint64_t hash = talus_world_hash(w);
    const double now = talus_world_time(w);
    const uint8_t kept = keep;
    const int64_t count = talus_world_save(w, NULL);
    talus_body_view bodies;
    talus_world_bodies(w, &bodies);
    TL_TRY(TL_RESERVE(r->ctx, count, &r->state));
    (void)talus_world_save(w, r->state);
    if (r->replace) TL_TRY(record_cut_checkpoints(r, r->column[TL_CHECKPOINT_STEP].rows - 1));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_STATE, count, r->state));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_EXTRA, 1, extra ? extra : zeros));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_TIME, 1, &now));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_STEP, 1, &step));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_HASH, 1, &hash));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_BODIES, 1, &bodies.count));
    TL_TRY(tl_record_append(r, TL_CHECKPOINT_KEPT, 1, &kept));
    r->replace = !keep;
    return tl_record_append(r, TL_CHECKPOINT_OFFSET, 1, &r->column[TL_CHECKPOINT_STATE].rows);
}

talus_status talus_recording_checkpoint(talus_recording *r, const talus_world *w, int64_t step,
                                        const double *extra, bool keep) {
    if (!r || !w) return TALUS_ERR_ARG;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = record_usable(r);
    if (status == TALUS_OK) status = record_checkpoint(r, w, step, extra, keep);
    if (status == TALUS_OK) status = tl_store_check(r->store);
    if (status != TALUS_OK) r->failed = true;
    tl_hdf5_quiet_end(quiet);
    return status;
}

talus_status talus_recording_series(talus_recording *r, int32_t count, const double *value) {
    if (!r || (!value && count > 0)) return TALUS_ERR_ARG;
    TL_TRY(record_usable(r));
    TL_REQUIRE(r->ctx, count == r->series_count, TALUS_ERR_ARG,
               "%s: %d numbers were given; the recording has %d series besides the ledger", r->path,
               (int)count, (int)r->series_count);
    for (int32_t k = 0; k < r->series_count; k++)
        r->series_value[(size_t)k * TL_RECORD_LEDGER_ROWS + (size_t)r->ledger_rows] = value[k];
    return TALUS_OK;
}

talus_status talus_recording_ledger(talus_recording *r, const talus_ledger *ledger) {
    if (!r || !ledger) return TALUS_ERR_ARG;
    TL_TRY(record_usable(r));
    for (int32_t k = 0; k < tl_ledger_fields(); k++) {
        talus_ledger_field field;
        uint64_t *to = &r->ledger_value[(size_t)k * TL_RECORD_LEDGER_ROWS + (size_t)r->ledger_rows];
        const double value = talus_ledger_value(ledger, k);
        const int64_t integer = (int64_t)value;
        if (talus_ledger_field_at(k, &field) && field.integer)
            memcpy(to, &integer, sizeof integer);
        else
            memcpy(to, &value, sizeof value);
    }
    r->ledger_rows++;
    if (r->ledger_rows < TL_RECORD_LEDGER_ROWS) return TALUS_OK;
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
    if (status == TALUS_OK && !tl_record_mark(r, true)) status = tl_record_refused(r, "its end");
    const talus_status closed = record_shut(r, status == TALUS_OK);
    if (status == TALUS_OK) status = closed;
    record_free(r);
    tl_hdf5_quiet_end(quiet);
    return status;
}
