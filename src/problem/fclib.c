// SPDX-License-Identifier: Apache-2.0
// Reading FCLIB files: which problem a file holds, its entries checked against each other, and
// what stands beside the problem (texts, guesses, solution). The files are read through HDF5 and
// not through libfclib, because libfclib ends the process when a file is bad.
// HDF5 serialises calls from several threads only where it was built to do so.
#include "problem/fclib_impl.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FCLIB_LOCAL "/fclib_local"
#define FCLIB_GLOBAL "/fclib_global"

static void fclib_data_clear(talus_context *ctx, tl_fclib_data *data) {
    tl_fclib_matrix *const matrices[] = {&data->w, &data->v, &data->r,
                                         &data->m, &data->h, &data->g};
    double *const vectors[] = {data->q,  data->s,         data->f,     data->b,      data->free_w,
                               data->mu, data->dilatancy, data->yield, data->tension};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        tl_fclib_matrix_clear(ctx, matrices[i]);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tl_free(ctx, vectors[i]);
    tl_free(ctx, data->body_start);
    *data = (tl_fclib_data){0};
}

static bool fclib_has(const tl_fclib_file *file, const char *group, const char *name) {
    char entry[TL_FCLIB_ENTRY];
    tl_fclib_entry(entry, group, name);
    return tl_fclib_has(file, entry);
}

// The error for a file without a problem: says what the file has instead.
static talus_status fclib_fail_foreign(const tl_fclib_file *file) {
    char names[256] = "";
    size_t used = 0;
    H5G_info_t root = {0};
    if (H5Gget_info(file->id, &root) < 0) root.nlinks = 0;
    for (hsize_t k = 0; k < root.nlinks && k < 8 && used + 72 < sizeof names; k++) {
        char name[64] = "";
        if (H5Lget_name_by_idx(file->id, "/", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name,
                               H5P_DEFAULT) < 0)
            continue;
        for (char *s = name; *s; s++)
            if (!isprint((unsigned char)*s)) *s = '?';
        const int printed =
            snprintf(names + used, sizeof names - used, "%s/%s", used > 0 ? ", " : "", name);
        if (printed > 0) used += (size_t)printed;
    }
    if (root.nlinks > 8) (void)snprintf(names + used, sizeof names - used, ", …");
    return tl_fail(file->ctx, TALUS_ERR_FORMAT,
                   "%s: holds neither " FCLIB_LOCAL " nor " FCLIB_GLOBAL "; it has: %s", file->path,
                   used > 0 ? names : "nothing");
}

static talus_status fclib_check_shape(const tl_fclib_file *file, const char *group,
                                      const char *name, const tl_fclib_matrix *a, int64_t rows,
                                      int64_t cols, const char *reason) {
    TL_REQUIRE(file->ctx, a->rows == rows && a->cols == cols, TALUS_ERR_FORMAT,
               "%s: %s/%s is %d x %d; it must be %" PRId64 " x %" PRId64 " (%s)", file->path, group,
               name, a->rows, a->cols, rows, cols, reason);
    return TALUS_OK;
}

static talus_status fclib_read_spacedim(const tl_fclib_file *file, const char *group,
                                        tl_fclib_data *data) {
    TL_TRY(tl_fclib_read_scalar(file, group, "spacedim", &data->dim));
    TL_REQUIRE(file->ctx, data->dim == 2 || data->dim == 3 || data->dim == 6, TALUS_ERR_FORMAT,
               "%s: %s/spacedim = %d: must be 2 or 3 (or 6, symmetric tensors)", file->path, group,
               data->dim);
    return TALUS_OK;
}

// mu fixes the number of contacts. Infinity is legal here and only here.
static talus_status fclib_read_mu(const tl_fclib_file *file, const char *group,
                                  tl_fclib_data *data) {
    char entry[TL_FCLIB_ENTRY];
    int64_t length = 0;
    (void)snprintf(entry, sizeof entry, "%s/vectors/mu", group);
    TL_TRY(tl_fclib_read_doubles(file, entry, &length, &data->mu));
    TL_REQUIRE(file->ctx, length <= INT32_MAX / data->dim, TALUS_ERR_FORMAT,
               "%s: %s has %" PRId64 " values; at most %d contacts can be handled", file->path,
               entry, length, INT32_MAX / data->dim);
    data->count = (int32_t)length;
    for (int64_t i = 0; i < length; i++) {
        TL_REQUIRE(file->ctx, !isnan(data->mu[i]) && data->mu[i] >= 0.0, TALUS_ERR_FORMAT,
                   "%s: %s[%" PRId64 "] = %g: a friction coefficient must be 0 or more", file->path,
                   entry, i, data->mu[i]);
    }
    return TALUS_OK;
}

// What FCLIB has no entry for, in a group that libfclib ignores.
static talus_status fclib_read_law(const tl_fclib_file *file, const char *group,
                                   tl_fclib_data *data) {
    char own[TL_FCLIB_ENTRY];
    const char *reason = "one per contact";
    tl_fclib_entry(own, group, "talus");
    if (fclib_has(file, own, "law")) {
        int32_t law = 0;
        TL_TRY(tl_fclib_read_scalar(file, own, "law", &law));
        TL_REQUIRE(file->ctx, law == TALUS_LAW_COULOMB || law == TALUS_LAW_ASSOCIATED,
                   TALUS_ERR_FORMAT, "%s: %s/law = %d: must be 0 (coulomb) or 1 (associated)",
                   file->path, own, law);
        data->law = (talus_law)law;
    }
    if (fclib_has(file, own, "dilatancy"))
        TL_TRY(tl_fclib_read_vector(file, own, "dilatancy", data->count, reason, &data->dilatancy));
    if (fclib_has(file, own, "yield"))
        TL_TRY(tl_fclib_read_vector(file, own, "yield", data->count, reason, &data->yield));
    if (fclib_has(file, own, "tension"))
        TL_TRY(tl_fclib_read_vector(file, own, "tension", data->count, reason, &data->tension));
    return TALUS_OK;
}

static talus_status fclib_read_bodies(const tl_fclib_file *file, tl_fclib_data *data) {
    const char *entry = FCLIB_GLOBAL "/talus/body_start";
    int64_t length = 0;
    if (!tl_fclib_has(file, entry)) return TALUS_OK;
    TL_TRY(tl_fclib_read_ints(file, entry, &length, &data->body_start));
    TL_REQUIRE(file->ctx, length >= 1 && length - 1 <= data->dof && data->body_start[0] == 0,
               TALUS_ERR_FORMAT,
               "%s: %s must list the first unknown of each body, from 0 on, and "
               "the number of unknowns at the end",
               file->path, entry);
    data->body_count = (int32_t)(length - 1);
    for (int64_t i = 1; i < length; i++) {
        TL_REQUIRE(file->ctx, data->body_start[i] > data->body_start[i - 1], TALUS_ERR_FORMAT,
                   "%s: %s[%" PRId64 "] = %d: must be above the %d before it", file->path, entry, i,
                   data->body_start[i], data->body_start[i - 1]);
    }
    TL_REQUIRE(file->ctx, data->body_start[data->body_count] == data->dof, TALUS_ERR_FORMAT,
               "%s: %s ends with %d: must end with the number of unknowns, %d", file->path, entry,
               data->body_start[data->body_count], data->dof);
    return TALUS_OK;
}

static talus_status fclib_read_local(const tl_fclib_file *file, tl_fclib_data *data) {
    const char *group = FCLIB_LOCAL, *vectors = FCLIB_LOCAL "/vectors";
    TL_TRY(fclib_read_spacedim(file, group, data));
    TL_TRY(fclib_read_mu(file, group, data));
    const int64_t size = (int64_t)data->dim * data->count;
    TL_TRY(tl_fclib_read_vector(file, vectors, "q", size, "spacedim for each mu", &data->q));
    TL_TRY(tl_fclib_read_matrix(file, FCLIB_LOCAL "/W", &data->w));
    TL_TRY(fclib_check_shape(file, group, "W", &data->w, size, size, "spacedim for each mu"));
    TL_TRY(fclib_read_law(file, group, data));

    const bool has_v = fclib_has(file, group, "V"), has_r = fclib_has(file, group, "R");
    TL_REQUIRE(file->ctx, has_v == has_r, TALUS_ERR_FORMAT,
               "%s: %s has %s but not %s; constraint rows need both V and R", file->path, group,
               has_v ? "V" : "R", has_v ? "R" : "V");
    if (!has_v) return TALUS_OK;
    TL_TRY(tl_fclib_read_matrix(file, FCLIB_LOCAL "/R", &data->r));
    TL_TRY(fclib_check_shape(file, group, "R", &data->r, data->r.rows, data->r.rows, "square"));
    data->constraints = data->r.rows;
    TL_TRY(tl_fclib_read_vector(file, vectors, "s", data->constraints, "rows of R", &data->s));
    TL_TRY(tl_fclib_read_matrix(file, FCLIB_LOCAL "/V", &data->v));
    return fclib_check_shape(file, group, "V", &data->v, size, data->constraints,
                             "rows of W x rows of R");
}

static talus_status fclib_read_global(const tl_fclib_file *file, tl_fclib_data *data) {
    const char *group = FCLIB_GLOBAL, *vectors = FCLIB_GLOBAL "/vectors";
    TL_TRY(fclib_read_spacedim(file, group, data));
    TL_TRY(fclib_read_mu(file, group, data));
    const int64_t size = (int64_t)data->dim * data->count;
    TL_TRY(tl_fclib_read_vector(file, vectors, "w", size, "spacedim for each mu", &data->free_w));
    TL_TRY(tl_fclib_read_matrix(file, FCLIB_GLOBAL "/M", &data->m));
    TL_TRY(fclib_check_shape(file, group, "M", &data->m, data->m.rows, data->m.rows, "square"));
    data->dof = data->m.rows;
    TL_TRY(tl_fclib_read_vector(file, vectors, "f", data->dof, "rows of M", &data->f));
    TL_TRY(tl_fclib_read_matrix(file, FCLIB_GLOBAL "/H", &data->h));
    TL_TRY(fclib_check_shape(file, group, "H", &data->h, data->dof, size,
                             "rows of M x spacedim for each mu"));
    TL_TRY(fclib_read_law(file, group, data));
    TL_TRY(fclib_read_bodies(file, data));
    if (!fclib_has(file, group, "G")) return TALUS_OK;
    TL_TRY(tl_fclib_read_matrix(file, FCLIB_GLOBAL "/G", &data->g));
    data->constraints = data->g.cols;
    TL_TRY(fclib_check_shape(file, group, "G", &data->g, data->dof, data->constraints,
                             "rows of M x constraints"));
    return tl_fclib_read_vector(file, vectors, "b", data->constraints, "columns of G", &data->b);
}

static talus_status fclib_read_state(const tl_fclib_file *file, const char *group,
                                     const tl_fclib_data *data, talus_solution *out) {
    const int64_t size = (int64_t)data->dim * data->count;
    const struct {
        const char *name;
        int64_t length;
        const char *reason;
        double **array;
    } parts[] = {{"v", data->dof, "velocity unknowns", &out->v},
                 {"u", size, "spacedim for each mu", &out->u},
                 {"r", size, "spacedim for each mu", &out->r},
                 {"l", data->constraints, "constraints", &out->l}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!fclib_has(file, group, parts[i].name)) continue;
        TL_TRY(tl_fclib_read_state(file, group, parts[i].name, parts[i].length, parts[i].reason,
                                   parts[i].array));
    }
    return TALUS_OK;
}

static talus_status fclib_read_guesses(const tl_fclib_file *file, const tl_fclib_data *data,
                                       talus_fclib_extra *extra) {
    int32_t count = 0;
    if (!tl_fclib_has(file, "/guesses")) return TALUS_OK;
    TL_TRY(tl_fclib_read_scalar(file, "/guesses", "number_of_guesses", &count));
    // Every guess is a group: a number above that of the links in the group cannot be right.
    H5G_info_t info = {0};
    TL_REQUIRE(
        file->ctx,
        H5Gget_info_by_name(file->id, "/guesses", &info, H5P_DEFAULT) >= 0 && count >= 0 &&
                (hsize_t)count<info.nlinks, TALUS_ERR_FORMAT,
                               "%s: /guesses/number_of_guesses = %d: there are %" PRIu64 " guesses",
                               file->path, count, info.nlinks> 0
            ? (uint64_t)info.nlinks - 1
            : 0);
    TL_TRY(TL_ALLOC(file->ctx, count, &extra->guess));
    extra->guess_count = count;
    for (int32_t i = 0; i < count; i++) {
        char group[TL_FCLIB_ENTRY];
        (void)snprintf(group, sizeof group, "/guesses/%d", i + 1);
        TL_REQUIRE(file->ctx, tl_fclib_has(file, group), TALUS_ERR_FORMAT, "%s: %s is missing",
                   file->path, group);
        TL_TRY(fclib_read_state(file, group, data, &extra->guess[i]));
    }
    return TALUS_OK;
}

static talus_status fclib_read_extra(const tl_fclib_file *file, const tl_fclib_data *data,
                                     talus_fclib_extra *extra) {
    const char *info = data->is_global ? FCLIB_GLOBAL "/info" : FCLIB_LOCAL "/info";
    TL_TRY(tl_fclib_read_string(file, info, "title", &extra->title));
    TL_TRY(tl_fclib_read_string(file, info, "description", &extra->description));
    TL_TRY(tl_fclib_read_string(file, info, "math_info", &extra->math_info));
    if (tl_fclib_has(file, "/solution")) {
        TL_TRY(TL_ALLOC(file->ctx, 1, &extra->solution));
        TL_TRY(fclib_read_state(file, "/solution", data, extra->solution));
    }
    return fclib_read_guesses(file, data, extra);
}

// Everything that needs the file; the problem is built after it is closed.
static talus_status fclib_read_file(talus_context *ctx, const char *path, tl_fclib_data *data,
                                    talus_fclib_extra *extra) {
    talus_status status = TALUS_OK;
    tl_fclib_file file = {.ctx = ctx, .path = path, .id = H5I_INVALID_HID};
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(tl_fclib_open(&file));
    // Where both stand in a file libfclib takes guesses and solution to belong to the global one.
    data->is_global = tl_fclib_has(&file, FCLIB_GLOBAL);
    if (!data->is_global && !tl_fclib_has(&file, FCLIB_LOCAL)) {
        status = fclib_fail_foreign(&file);
        goto done;
    }
    TL_GOTO(data->is_global ? fclib_read_global(&file, data) : fclib_read_local(&file, data));
    if (extra) TL_GOTO(fclib_read_extra(&file, data, extra));
done:
    tl_fclib_close(&file);
    tl_hdf5_quiet_end(quiet);
    return status;
}

talus_status talus_fclib_read(talus_context *ctx, const char *path, talus_problem **problem,
                              talus_fclib_extra *extra) {
    if (!ctx) return TALUS_ERR_ARG;
    TL_REQUIRE(ctx, path && problem, TALUS_ERR_ARG,
               "talus_fclib_read: path and problem must not be NULL");
    *problem = NULL;
    if (extra) *extra = (talus_fclib_extra){0};
    talus_status status = TALUS_OK;
    tl_fclib_data data = {0};
    TL_GOTO(fclib_read_file(ctx, path, &data, extra));
    status = tl_fclib_build(ctx, &data, problem);
    if (status != TALUS_OK) status = tl_fail_prefix(ctx, status, path);
done:
    fclib_data_clear(ctx, &data);
    if (status != TALUS_OK && extra) talus_fclib_extra_clear(ctx, extra);
    return status;
}

static void fclib_state_clear(talus_context *ctx, talus_solution *state) {
    tl_free(ctx, state->v);
    tl_free(ctx, state->u);
    tl_free(ctx, state->r);
    tl_free(ctx, state->l);
}

void talus_fclib_extra_clear(talus_context *ctx, talus_fclib_extra *extra) {
    if (!ctx || !extra) return;
    tl_free(ctx, extra->title);
    tl_free(ctx, extra->description);
    tl_free(ctx, extra->math_info);
    if (extra->solution) fclib_state_clear(ctx, extra->solution);
    tl_free(ctx, extra->solution);
    for (int32_t i = 0; extra->guess && i < extra->guess_count; i++)
        fclib_state_clear(ctx, &extra->guess[i]);
    tl_free(ctx, extra->guess);
    *extra = (talus_fclib_extra){0};
}
