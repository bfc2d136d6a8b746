// SPDX-License-Identifier: Apache-2.0
// Writing FCLIB files that libfclib reads. The file is built beside its place under a name of its
// own and renamed when it is complete, so that a failure leaves an old file as it was. HDF5 builds
// it in memory and we put it on the disk: an HDF5 file that cannot be closed because the disk is
// full stays open for good and crashes the process when it ends.
//
// Both forms are written as they were given, constraint rows included. libfclib reads a solution or
// a guess only whole: where r is given, the parts that are not are filled in with the state that
// follows from r.
#define _POSIX_C_SOURCE 200809L
#include "problem/fclib_impl.h"
#include "problem/mass.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WRITE_GROWTH (1 << 20) // bytes by which HDF5 enlarges a file in memory

typedef struct write_file {
    talus_context *ctx;
    const char *path;
    hid_t id;
} write_file;

static talus_status write_fail(const write_file *file, const char *entry) {
    return tl_fail(file->ctx, TALUS_ERR_FILE, "%s: HDF5 cannot write %s (out of memory?)",
                   file->path, entry);
}

static talus_status write_group(const write_file *file, const char *entry) {
    const hid_t group = H5Gcreate2(file->id, entry, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0 || H5Gclose(group) < 0) return write_fail(file, entry);
    return TALUS_OK;
}

// Times are not recorded: equal problems give equal files.
static bool write_dataset(hid_t file, const char *entry, hid_t stored, hid_t type, hid_t space,
                          const void *values) {
    bool ok = false;
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    if (plist >= 0 && H5Pset_obj_track_times(plist, false) >= 0) {
        const hid_t dataset =
            H5Dcreate2(file, entry, stored, space, H5P_DEFAULT, plist, H5P_DEFAULT);
        ok = dataset >= 0;
        if (ok && values) ok = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
        if (dataset >= 0 && H5Dclose(dataset) < 0) ok = false;
    }
    if (plist >= 0) (void)H5Pclose(plist);
    return ok;
}

static talus_status write_array(const write_file *file, const char *group, const char *name,
                                bool is_float, int64_t length, const void *values) {
    char entry[TL_FCLIB_ENTRY];
    tl_fclib_entry(entry, group, name);
    const hsize_t extent = (hsize_t)length;
    const hid_t space = H5Screate_simple(1, &extent, NULL);
    const bool ok =
        space >= 0 && write_dataset(file->id, entry, is_float ? H5T_IEEE_F64LE : H5T_STD_I32LE,
                                    is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, space,
                                    length > 0 ? values : NULL);
    if (space >= 0) (void)H5Sclose(space);
    return ok ? TALUS_OK : write_fail(file, entry);
}

static talus_status write_doubles(const write_file *file, const char *group, const char *name,
                                  int64_t length, const double *values) {
    return write_array(file, group, name, true, length, values);
}

static talus_status write_scalar(const write_file *file, const char *group, const char *name,
                                 int32_t value) {
    return write_array(file, group, name, false, 1, &value);
}

static talus_status write_string(const write_file *file, const char *group, const char *name,
                                 const char *text) {
    if (!text) return TALUS_OK;
    char entry[TL_FCLIB_ENTRY];
    tl_fclib_entry(entry, group, name);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    const bool ok = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                    write_dataset(file->id, entry, type, type, space, text);
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    return ok ? TALUS_OK : write_fail(file, entry);
}

// nz < 0: compressed, with p_length pointers; else triplets with as many p as entries.
static talus_status write_matrix(const write_file *file, const char *group, int32_t rows,
                                 int32_t cols, int32_t nz, int64_t count, int64_t p_length,
                                 const int32_t *p, const int32_t *i, const double *x) {
    TL_TRY(write_group(file, group));
    TL_TRY(write_scalar(file, group, "nzmax", (int32_t)count));
    TL_TRY(write_scalar(file, group, "m", rows));
    TL_TRY(write_scalar(file, group, "n", cols));
    TL_TRY(write_scalar(file, group, "nz", nz));
    TL_TRY(write_array(file, group, "p", false, p_length, p));
    TL_TRY(write_array(file, group, "i", false, count, i));
    return write_doubles(file, group, "x", count, x);
}

// The format counts entries in 32 bits.
static talus_status write_check_count(const write_file *file, const char *group, int64_t count) {
    TL_REQUIRE(file->ctx, count <= INT32_MAX, TALUS_ERR_FILE,
               "%s: %s would have %lld entries; the format allows %d", file->path, group,
               (long long)count, INT32_MAX);
    return TALUS_OK;
}

// The arrays of a matrix while they are filled: p (starts of the rows, or columns), i and x.
typedef struct write_lists {
    int32_t *p, *i;
    double *x;
} write_lists;

static void write_lists_clear(const write_file *file, write_lists *lists) {
    tl_free(file->ctx, lists->p);
    tl_free(file->ctx, lists->i);
    tl_free(file->ctx, lists->x);
}

static talus_status write_lists_create(const write_file *file, const char *group, int64_t p_length,
                                       int64_t count, write_lists *out) {
    talus_status status = TALUS_OK;
    *out = (write_lists){0};
    TL_TRY(write_check_count(file, group, count));
    TL_GOTO(TL_ALLOC(file->ctx, p_length, &out->p));
    TL_GOTO(TL_ALLOC(file->ctx, count, &out->i));
    TL_GOTO(TL_ALLOC(file->ctx, count, &out->x));
done:
    if (status != TALUS_OK) write_lists_clear(file, out);
    return status;
}

// W by scalar compressed rows: the given one where constraint rows have been eliminated from it.
static talus_status write_w(const write_file *file, const talus_problem *p) {
    const char *group = "/fclib_local/W";
    const int64_t *block_start = p->given_block ? p->given_start : p->w_start;
    const int32_t *block_col = p->given_block ? p->given_col : p->w_col;
    const double *block = p->given_block ? p->given_block : p->w_block;
    const int32_t dim = p->dim, size = p->dim * p->count;
    const int64_t count = block_start[p->count] * dim * dim;
    write_lists lists;
    TL_TRY(write_lists_create(file, group, (int64_t)size + 1, count, &lists));
    int32_t used = 0;
    for (int32_t row = 0; row < size; row++) {
        const int32_t i = row / dim, a = row % dim;
        for (int64_t k = block_start[i]; k < block_start[i + 1]; k++) {
            for (int32_t b = 0; b < dim; b++, used++) {
                lists.i[used] = block_col[k] * dim + b;
                lists.x[used] = block[(k * dim + a) * dim + b];
            }
        }
        lists.p[row + 1] = used;
    }
    const talus_status status = write_matrix(file, group, size, size, -2, count, (int64_t)size + 1,
                                             lists.p, lists.i, lists.x);
    write_lists_clear(file, &lists);
    return status;
}

// The transpose of a matrix by rows, or the matrix itself, in triplets.
static talus_status write_triplets(const write_file *file, const char *group, const tl_csr *a,
                                   bool is_transposed) {
    const int64_t count = a->start[a->rows];
    talus_status status = TALUS_OK;
    int32_t *row = NULL;
    TL_TRY(write_check_count(file, group, count));
    TL_GOTO(TL_ALLOC(file->ctx, count, &row));
    for (int32_t i = 0; i < a->rows; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) row[e] = i;
    if (is_transposed)
        status = write_matrix(file, group, a->cols, a->rows, (int32_t)count, count, count, row,
                              a->index, a->value);
    else
        status = write_matrix(file, group, a->rows, a->cols, (int32_t)count, count, count, a->index,
                              row, a->value);
done:
    tl_free(file->ctx, row);
    return status;
}

static talus_status write_m(const write_file *file, const talus_problem *p) {
    const char *group = "/fclib_global/M";
    const int64_t count = tl_mass_entry_count(p->mass);
    write_lists lists;
    TL_TRY(write_lists_create(file, group, count, count, &lists));
    tl_mass_entries(p->mass, lists.i, lists.p, lists.x);
    const talus_status status = write_matrix(file, group, p->dof, p->dof, (int32_t)count, count,
                                             count, lists.p, lists.i, lists.x);
    write_lists_clear(file, &lists);
    return status;
}

// Our H transposed: row = unknown, column = contact variable. Zeros inside blocks are left out.
static talus_status write_h(const write_file *file, const talus_problem *p) {
    TL_TRY(tl_problem_write_h(p));
    const char *group = "/fclib_global/H";
    write_lists lists;
    int64_t count = 0;
    const int64_t stored = p->h_offset[p->h_start[p->count]];
    for (int64_t e = 0; e < stored; e++) count += p->h_block[e] != 0.0;
    TL_TRY(write_lists_create(file, group, count, count, &lists));
    int64_t used = 0;
    for (int32_t c = 0; c < p->count; c++) {
        for (int64_t k = p->h_start[c]; k < p->h_start[c + 1]; k++) {
            const int32_t first = p->body_start[p->h_body[k]];
            const int32_t size = p->body_start[p->h_body[k] + 1] - first;
            for (int32_t e = 0; e < p->dim * size; e++) {
                const double x = p->h_block[p->h_offset[k] + e];
                if (x == 0.0) continue;
                lists.i[used] = first + e % size;
                lists.p[used] = c * p->dim + e / size;
                lists.x[used++] = x;
            }
        }
    }
    const talus_status status = write_matrix(file, group, p->dof, p->dim * p->count, (int32_t)count,
                                             count, count, lists.p, lists.i, lists.x);
    write_lists_clear(file, &lists);
    return status;
}

// G = Cᵀ and b = −k.
static talus_status write_constraints(const write_file *file, const talus_problem *p) {
    if (p->constraint_count == 0) return TALUS_OK;
    double *b = NULL;
    TL_TRY(write_triplets(file, "/fclib_global/G", &p->c, true));
    TL_TRY(TL_ALLOC(file->ctx, p->constraint_count, &b));
    for (int32_t i = 0; i < p->constraint_count; i++) b[i] = -p->k[i];
    const talus_status status =
        write_doubles(file, "/fclib_global/vectors", "b", p->constraint_count, b);
    tl_free(file->ctx, b);
    return status;
}

// What the format has no entry for; libfclib does not look into this group.
static talus_status write_own(const write_file *file, const char *group, const talus_problem *p) {
    TL_TRY(write_group(file, group));
    TL_TRY(write_scalar(file, group, "law", (int32_t)p->law));
    if (p->dilatancy) TL_TRY(write_doubles(file, group, "dilatancy", p->count, p->dilatancy));
    if (p->yield) TL_TRY(write_doubles(file, group, "yield", p->count, p->yield));
    if (p->tension) TL_TRY(write_doubles(file, group, "tension", p->count, p->tension));
    if (!p->is_global) return TALUS_OK;
    return write_array(file, group, "body_start", false, (int64_t)p->body_count + 1, p->body_start);
}

static talus_status write_local(const write_file *file, const talus_problem *p) {
    const char *vectors = "/fclib_local/vectors";
    TL_TRY(write_group(file, "/fclib_local"));
    TL_TRY(write_scalar(file, "/fclib_local", "spacedim", p->dim));
    TL_TRY(write_w(file, p));
    TL_TRY(write_group(file, vectors));
    const double *q = p->given_q ? p->given_q : p->q;
    TL_TRY(write_doubles(file, vectors, "q", (int64_t)p->dim * p->count, q));
    TL_TRY(write_doubles(file, vectors, "mu", p->count, p->mu));
    if (p->constraint_count > 0) {
        TL_TRY(write_triplets(file, "/fclib_local/V", &p->c, true));
        TL_TRY(write_triplets(file, "/fclib_local/R", &p->p, false));
        TL_TRY(write_doubles(file, vectors, "s", p->constraint_count, p->k));
    }
    return write_own(file, "/fclib_local/talus", p);
}

static talus_status write_global(const write_file *file, const talus_problem *p) {
    const char *vectors = "/fclib_global/vectors";
    TL_TRY(tl_problem_wake(p));
    TL_TRY(write_group(file, "/fclib_global"));
    TL_TRY(write_scalar(file, "/fclib_global", "spacedim", p->dim));
    TL_TRY(write_m(file, p));
    TL_TRY(write_h(file, p));
    TL_TRY(write_group(file, vectors));
    TL_TRY(write_doubles(file, vectors, "f", p->dof, p->f));
    TL_TRY(write_doubles(file, vectors, "w", (int64_t)p->dim * p->count, p->w));
    TL_TRY(write_doubles(file, vectors, "mu", p->count, p->mu));
    TL_TRY(write_constraints(file, p));
    return write_own(file, "/fclib_global/talus", p);
}

static talus_status write_state(const write_file *file, const char *group, const talus_problem *p,
                                const talus_solution *given) {
    const int64_t size = (int64_t)p->dim * p->count;
    const int64_t dof = p->is_global ? p->dof : 0;
    const int64_t multipliers = p->constraint_count;
    talus_status status = TALUS_OK;
    talus_solution made = {NULL, NULL, NULL, NULL};
    const bool is_part = !given->u || (dof > 0 && !given->v) || (multipliers > 0 && !given->l);
    if (given->r && is_part) {
        TL_GOTO(TL_ALLOC(file->ctx, dof, &made.v));
        TL_GOTO(TL_ALLOC(file->ctx, size, &made.u));
        TL_GOTO(TL_ALLOC(file->ctx, multipliers, &made.l));
        TL_GOTO(talus_problem_state(p, given->r, made.v, made.u, made.l));
    }
    const double *v = given->v ? given->v : made.v, *u = given->u ? given->u : made.u;
    const double *l = given->l ? given->l : made.l;
    TL_GOTO(write_group(file, group));
    if (v && dof > 0) TL_GOTO(write_doubles(file, group, "v", dof, v));
    if (u && size > 0) TL_GOTO(write_doubles(file, group, "u", size, u));
    if (given->r && size > 0) TL_GOTO(write_doubles(file, group, "r", size, given->r));
    if (l && multipliers > 0) TL_GOTO(write_doubles(file, group, "l", multipliers, l));
done:
    tl_free(file->ctx, made.v);
    tl_free(file->ctx, made.u);
    tl_free(file->ctx, made.l);
    return status;
}

static talus_status write_extra(const write_file *file, const talus_problem *p,
                                const talus_fclib_extra *extra) {
    if (extra->title || extra->description || extra->math_info) {
        const char *info = p->is_global ? "/fclib_global/info" : "/fclib_local/info";
        TL_TRY(write_group(file, info));
        TL_TRY(write_string(file, info, "title", extra->title));
        TL_TRY(write_string(file, info, "description", extra->description));
        TL_TRY(write_string(file, info, "math_info", extra->math_info));
    }
    if (extra->solution) TL_TRY(write_state(file, "/solution", p, extra->solution));
    if (extra->guess_count <= 0) return TALUS_OK;
    TL_TRY(write_group(file, "/guesses"));
    TL_TRY(write_scalar(file, "/guesses", "number_of_guesses", extra->guess_count));
    for (int32_t i = 0; i < extra->guess_count; i++) {
        char group[TL_FCLIB_ENTRY];
        (void)snprintf(group, sizeof group, "/guesses/%d", i + 1);
        TL_TRY(write_state(file, group, p, &extra->guess[i]));
    }
    return TALUS_OK;
}

// The problem as the bytes of an HDF5 file. `temporary` only names it inside HDF5, which would read
// an existing file of that name first.
static talus_status write_image(talus_context *ctx, const char *path, const char *temporary,
                                const talus_problem *problem, const talus_fclib_extra *extra,
                                size_t *bytes, char **image) {
    talus_status status = TALUS_OK;
    write_file file = {ctx, path, H5I_INVALID_HID};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, WRITE_GROWTH, false) >= 0) {
        (void)H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
        file.id = H5Fcreate(temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    }
    if (access >= 0) (void)H5Pclose(access);
    TL_REQUIRE(ctx, file.id >= 0, TALUS_ERR_MEMORY, "%s: HDF5 cannot build the file in memory",
               path);
    TL_GOTO(problem->is_global ? write_global(&file, problem) : write_local(&file, problem));
    if (extra) TL_GOTO(write_extra(&file, problem, extra));
    const ssize_t size =
        H5Fflush(file.id, H5F_SCOPE_LOCAL) < 0 ? -1 : (ssize_t)H5Fget_file_image(file.id, NULL, 0);
    if (size <= 0) {
        status = write_fail(&file, "the whole");
        goto done;
    }
    *bytes = (size_t)size;
    TL_GOTO(TL_ALLOC(ctx, (int64_t)size, image));
    if (H5Fget_file_image(file.id, *image, *bytes) != size) status = write_fail(&file, "the whole");
done:
    (void)H5Fclose(file.id);
    return status;
}

static talus_status write_bytes(talus_context *ctx, const char *path, const char *temporary,
                                size_t bytes, const char *image) {
    FILE *stream = fopen(temporary, "wb");
    if (!stream) return tl_fail_errno(ctx, path, "created", errno);
    errno = 0;
    const bool is_written = fwrite(image, 1, bytes, stream) == bytes;
    const int write_code = errno;
    const bool is_closed = fclose(stream) == 0;
    if (!is_written) return tl_fail_errno(ctx, path, "written", write_code);
    if (!is_closed) return tl_fail_errno(ctx, path, "written", errno);
    return TALUS_OK;
}

talus_status talus_fclib_write(talus_context *ctx, const char *path, const talus_problem *problem,
                               const talus_fclib_extra *extra) {
    if (!ctx) return TALUS_ERR_ARG;
    TL_REQUIRE(ctx, path && problem, TALUS_ERR_ARG,
               "talus_fclib_write: path and problem must not be NULL");
    talus_status status = TALUS_OK;
    char *temporary = NULL, *image = NULL;
    size_t bytes = 0;
    const size_t length = strlen(path) + 32;
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    TL_GOTO(TL_ALLOC(ctx, (int64_t)length, &temporary));
    (void)snprintf(temporary, length, "%s.tmp-%ld", path, (long)getpid());
    TL_GOTO(write_image(ctx, path, temporary, problem, extra, &bytes, &image));
    status = write_bytes(ctx, path, temporary, bytes, image);
    if (status == TALUS_OK && rename(temporary, path) != 0)
        status = tl_fail_errno(ctx, path, "replaced", errno);
    if (status != TALUS_OK) (void)unlink(temporary);
done:
    tl_hdf5_quiet_end(quiet);
    tl_free(ctx, temporary);
    tl_free(ctx, image);
    return status;
}
