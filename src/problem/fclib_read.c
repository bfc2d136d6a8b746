// SPDX-License-Identifier: Apache-2.0
// Checked reading of the entries of an HDF5 file. Nothing a file says is believed: a dataset must
// have the type, the rank and the length that are needed, and its bytes must stand in the file,
// before memory is taken for it. So a damaged header cannot make us allocate terabytes.
#define _POSIX_C_SOURCE 200809L
#include "problem/fclib_impl.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Deflate cannot compress better than this: a bound on what a compressed entry can unfold to.
#define READ_EXPANSION 1032
#define READ_STRING_LIMIT (1 << 20)

talus_status tl_fclib_open(tl_fclib_file *file) {
    file->id = H5I_INVALID_HID;
    struct stat facts;
    if (stat(file->path, &facts) != 0) return tl_fail_errno(file->ctx, file->path, "opened", errno);
    TL_REQUIRE(file->ctx, S_ISREG(facts.st_mode), TALUS_ERR_FILE,
               "%s: is %s; an FCLIB file (HDF5) is needed", file->path,
               S_ISDIR(facts.st_mode) ? "a directory" : "not a regular file");
    file->bytes = (int64_t)facts.st_size;
    const htri_t is_hdf5 = file->bytes > 0 ? H5Fis_hdf5(file->path) : 0;
    TL_REQUIRE(file->ctx, is_hdf5 >= 0, TALUS_ERR_FILE, "%s: cannot be read", file->path);
    TL_REQUIRE(file->ctx, is_hdf5 > 0, TALUS_ERR_FORMAT, "%s: is not an HDF5 file", file->path);

    // Strong: closing the file closes whatever is still open in it, on every way out.
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0) {
        (void)H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
        file->id = H5Fopen(file->path, H5F_ACC_RDONLY, access);
        (void)H5Pclose(access);
    }
    TL_REQUIRE(file->ctx, file->id >= 0, TALUS_ERR_FORMAT,
               "%s: damaged or truncated HDF5 file, or in use by a writer", file->path);
    return TALUS_OK;
}

void tl_fclib_close(tl_fclib_file *file) {
    if (file->id >= 0) (void)H5Fclose(file->id);
    file->id = H5I_INVALID_HID;
}

void tl_fclib_entry(char entry[TL_FCLIB_ENTRY], const char *group, const char *name) {
    (void)snprintf(entry, TL_FCLIB_ENTRY, "%s/%s", group, name);
}

bool tl_fclib_has(const tl_fclib_file *file, const char *entry) {
    // Every group on the way must exist, or HDF5 takes the question itself for an error. Only hard
    // links count: the others may lead to other files or in circles.
    char part[TL_FCLIB_ENTRY];
    const size_t length = strlen(entry);
    for (size_t i = 1; i <= length && i < sizeof part; i++) {
        if (entry[i] != '/' && entry[i] != '\0') continue;
        memcpy(part, entry, i);
        part[i] = '\0';
        H5L_info_t link;
        if (H5Lexists(file->id, part, H5P_DEFAULT) <= 0) return false;
        if (H5Lget_info(file->id, part, &link, H5P_DEFAULT) < 0) return false;
        if (link.type != H5L_TYPE_HARD) return false;
    }
    return length > 0 && length < sizeof part;
}

// Do the bytes of a dataset stand in the file? `bytes` is what it unfolds to.
static bool read_is_stored(const tl_fclib_file *file, hid_t dataset, int64_t bytes) {
    const hid_t plist = H5Dget_create_plist(dataset);
    if (plist < 0) return false;
    const H5D_layout_t layout = H5Pget_layout(plist);
    const hsize_t stored = H5Dget_storage_size(dataset);
    bool ok = stored <= (hsize_t)file->bytes;
    if (layout == H5D_COMPACT) {
        ok = ok && stored == (hsize_t)bytes;
    } else if (layout == H5D_CONTIGUOUS) {
        ok = ok && H5Pget_external_count(plist) == 0 && stored == (hsize_t)bytes;
        if (ok && bytes > 0) {
            const haddr_t offset = H5Dget_offset(dataset);
            ok = offset != HADDR_UNDEF && offset <= (haddr_t)(file->bytes - bytes);
        }
    } else if (layout == H5D_CHUNKED) {
        const hsize_t limit = READ_EXPANSION * stored;
        hsize_t chunk = 0;
        ok = ok && (hsize_t)bytes <= limit && H5Pget_chunk(plist, 1, &chunk) == 1 &&
             chunk <= limit / sizeof(double) + 1024;
    } else {
        ok = false; // virtual: the data would stand in other files
    }
    (void)H5Pclose(plist);
    return ok;
}

static bool read_type_is(hid_t type, bool is_float) {
    // Exactly the types that programs write: a header damaged in, say, the width of the mantissa
    // would otherwise be "converted".
    if (is_float) {
        return H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0 ||
               H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
    }
    return H5Tequal(type, H5T_STD_I32LE) > 0 || H5Tequal(type, H5T_STD_I32BE) > 0 ||
           H5Tequal(type, H5T_STD_I64LE) > 0 || H5Tequal(type, H5T_STD_I64BE) > 0 ||
           H5Tequal(type, H5T_STD_U32LE) > 0 || H5Tequal(type, H5T_STD_U64LE) > 0;
}

// Number of values, or −1 when the rank is above 1.
static int64_t read_length(hid_t dataset) {
    const hid_t space = H5Dget_space(dataset);
    if (space < 0) return -1;
    int64_t length = -1;
    const H5S_class_t kind = H5Sget_simple_extent_type(space);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (kind == H5S_NULL) {
        length = 0;
    } else if (kind == H5S_SCALAR) {
        length = 1;
    } else if (kind == H5S_SIMPLE && rank == 1) {
        hsize_t extent = 0;
        if (H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && extent < INT64_MAX / 16)
            length = (int64_t)extent;
    }
    (void)H5Sclose(space);
    return length;
}

static talus_status read_open_dataset(const tl_fclib_file *file, const char *entry, hid_t *out) {
    *out = H5I_INVALID_HID;
    TL_REQUIRE(file->ctx, tl_fclib_has(file, entry), TALUS_ERR_FORMAT, "%s: %s is missing",
               file->path, entry);
    *out = H5Dopen2(file->id, entry, H5P_DEFAULT);
    TL_REQUIRE(file->ctx, *out >= 0, TALUS_ERR_FORMAT, "%s: %s is damaged or is not a dataset",
               file->path, entry);
    return TALUS_OK;
}

// `unwritten` is the length at which an entry may be there without ever having been written, which
// HDF5 reads as zeros; −1: not at any.
static talus_status read_array(const tl_fclib_file *file, const char *entry, bool is_float,
                               int64_t unwritten, int64_t *length, void *out_pointer) {
    // HDF5 clips integers that are too large for int32; no clipped value passes as an index or a
    // size, since each must be below a number that fits.
    const size_t size = is_float ? sizeof(double) : sizeof(int32_t);
    talus_status status = TALUS_OK;
    hid_t dataset = H5I_INVALID_HID, type = H5I_INVALID_HID;
    void *values = NULL;
    TL_GOTO(read_open_dataset(file, entry, &dataset));
    type = H5Dget_type(dataset);
    if (type < 0 || !read_type_is(type, is_float)) {
        status = tl_fail(file->ctx, TALUS_ERR_FORMAT, "%s: %s has the wrong type; %s are needed",
                         file->path, entry,
                         is_float ? "floating-point numbers" : "integers (32 or 64 bit)");
        goto done;
    }
    *length = read_length(dataset);
    if (*length < 0) {
        status = tl_fail(file->ctx, TALUS_ERR_FORMAT, "%s: %s must be a list (rank 1)", file->path,
                         entry);
        goto done;
    }
    const bool is_unwritten = *length == unwritten && H5Dget_storage_size(dataset) == 0;
    if (!is_unwritten && !read_is_stored(file, dataset, *length * (int64_t)H5Tget_size(type))) {
        status = tl_fail(file->ctx, TALUS_ERR_FORMAT,
                         "%s: %s claims %" PRId64 " values, which the file does not hold",
                         file->path, entry, *length);
        goto done;
    }
    TL_GOTO(tl_alloc(file->ctx, *length, size, &values));
    if (*length > 0 && H5Dread(dataset, is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, H5S_ALL,
                               H5S_ALL, H5P_DEFAULT, values) < 0)
        status = tl_fail(file->ctx, TALUS_ERR_FORMAT, "%s: %s cannot be read", file->path, entry);
done:
    if (type >= 0) (void)H5Tclose(type);
    if (dataset >= 0) (void)H5Dclose(dataset);
    if (status != TALUS_OK) {
        tl_free(file->ctx, values);
        values = NULL;
    }
    memcpy(out_pointer, &values, sizeof values);
    return status;
}

talus_status tl_fclib_read_ints(const tl_fclib_file *file, const char *entry, int64_t *length,
                                int32_t **out) {
    return read_array(file, entry, false, -1, length, out);
}

talus_status tl_fclib_read_doubles(const tl_fclib_file *file, const char *entry, int64_t *length,
                                   double **out) {
    return read_array(file, entry, true, -1, length, out);
}

talus_status tl_fclib_read_scalar(const tl_fclib_file *file, const char *group, const char *name,
                                  int32_t *out) {
    char entry[TL_FCLIB_ENTRY];
    int64_t length = 0;
    int32_t *values = NULL;
    tl_fclib_entry(entry, group, name);
    TL_TRY(tl_fclib_read_ints(file, entry, &length, &values));
    if (length == 1) *out = values[0];
    tl_free(file->ctx, values);
    TL_REQUIRE(file->ctx, length == 1, TALUS_ERR_FORMAT,
               "%s: %s has %" PRId64 " values; one is needed", file->path, entry, length);
    return TALUS_OK;
}

static talus_status read_check_finite(const tl_fclib_file *file, const char *entry, int64_t length,
                                      const double *x) {
    for (int64_t i = 0; i < length; i++) {
        TL_REQUIRE(file->ctx, isfinite(x[i]), TALUS_ERR_FORMAT,
                   "%s: %s[%" PRId64 "] = %g: must be a finite number", file->path, entry, i, x[i]);
    }
    return TALUS_OK;
}

static talus_status read_checked(const tl_fclib_file *file, const char *group, const char *name,
                                 int64_t length, const char *reason, bool may_be_unwritten,
                                 double **out) {
    char entry[TL_FCLIB_ENTRY];
    int64_t found = 0;
    *out = NULL;
    tl_fclib_entry(entry, group, name);
    TL_TRY(read_array(file, entry, true, may_be_unwritten ? length : -1, &found, out));
    talus_status status = TALUS_OK;
    if (found != length) {
        status = tl_fail(file->ctx, TALUS_ERR_FORMAT,
                         "%s: %s has %" PRId64 " values; %" PRId64 " are needed (%s)", file->path,
                         entry, found, length, reason);
    } else {
        status = read_check_finite(file, entry, length, *out);
    }
    if (status != TALUS_OK) {
        tl_free(file->ctx, *out);
        *out = NULL;
    }
    return status;
}

talus_status tl_fclib_read_vector(const tl_fclib_file *file, const char *group, const char *name,
                                  int64_t length, const char *reason, double **out) {
    return read_checked(file, group, name, length, reason, false, out);
}

talus_status tl_fclib_read_state(const tl_fclib_file *file, const char *group, const char *name,
                                 int64_t length, const char *reason, double **out) {
    return read_checked(file, group, name, length, reason, true, out);
}

// A string of fixed length, as libfclib writes it, or of variable length (h5py).
static talus_status read_characters(const tl_fclib_file *file, const char *entry, hid_t dataset,
                                    hid_t type, char **out) {
    const bool is_variable = H5Tis_variable_str(type) > 0;
    const size_t size = H5Tget_size(type);
    TL_REQUIRE(file->ctx,
               H5Tget_class(type) == H5T_STRING && read_length(dataset) == 1 && size > 0 &&
                   size <= READ_STRING_LIMIT &&
                   (is_variable || read_is_stored(file, dataset, (int64_t)size)),
               TALUS_ERR_FORMAT, "%s: %s must be one string of at most %d bytes", file->path, entry,
               READ_STRING_LIMIT);
    if (!is_variable) {
        TL_TRY(TL_ALLOC(file->ctx, (int64_t)size + 1, out));
        if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) >= 0) return TALUS_OK;
        tl_free(file->ctx, *out);
        *out = NULL;
        return tl_fail(file->ctx, TALUS_ERR_FORMAT, "%s: %s cannot be read", file->path, entry);
    }
    char *text = NULL;
    TL_REQUIRE(file->ctx, H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0,
               TALUS_ERR_FORMAT, "%s: %s cannot be read", file->path, entry);
    const talus_status status =
        text ? TL_COPY(file->ctx, text, (int64_t)strlen(text) + 1, out) : TALUS_OK;
    (void)H5free_memory(text);
    return status;
}

talus_status tl_fclib_read_string(const tl_fclib_file *file, const char *group, const char *name,
                                  char **out) {
    char entry[TL_FCLIB_ENTRY];
    *out = NULL;
    tl_fclib_entry(entry, group, name);
    if (!tl_fclib_has(file, entry)) return TALUS_OK;
    hid_t dataset = H5I_INVALID_HID;
    TL_TRY(read_open_dataset(file, entry, &dataset));
    const hid_t type = H5Dget_type(dataset);
    talus_status status =
        type >= 0 ? read_characters(file, entry, dataset, type, out)
                  : tl_fail(file->ctx, TALUS_ERR_FORMAT, "%s: %s is damaged", file->path, entry);
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Dclose(dataset);
    return status;
}

void tl_fclib_matrix_clear(talus_context *ctx, tl_fclib_matrix *matrix) {
    tl_free(ctx, matrix->row);
    tl_free(ctx, matrix->col);
    tl_free(ctx, matrix->value);
    *matrix = (tl_fclib_matrix){0};
}

// The seven datasets of a matrix as they stand in the file.
typedef struct read_raw {
    int32_t m, n, nz, nzmax;
    int64_t p_length, i_length, x_length;
    int32_t *p, *i;
    double *x;
} read_raw;

static talus_status read_raw_matrix(const tl_fclib_file *file, const char *group, read_raw *raw) {
    char entry[TL_FCLIB_ENTRY];
    TL_TRY(tl_fclib_read_scalar(file, group, "m", &raw->m));
    TL_TRY(tl_fclib_read_scalar(file, group, "n", &raw->n));
    TL_TRY(tl_fclib_read_scalar(file, group, "nz", &raw->nz));
    TL_TRY(tl_fclib_read_scalar(file, group, "nzmax", &raw->nzmax));
    TL_REQUIRE(file->ctx, raw->m >= 0, TALUS_ERR_FORMAT, "%s: %s/m = %d: must not be negative",
               file->path, group, raw->m);
    TL_REQUIRE(file->ctx, raw->n >= 0, TALUS_ERR_FORMAT, "%s: %s/n = %d: must not be negative",
               file->path, group, raw->n);
    TL_REQUIRE(file->ctx, raw->nz >= -2, TALUS_ERR_FORMAT,
               "%s: %s/nz = %d: must be -2 (compressed rows), -1 (compressed columns) or the "
               "number of entries",
               file->path, group, raw->nz);
    tl_fclib_entry(entry, group, "p");
    TL_TRY(tl_fclib_read_ints(file, entry, &raw->p_length, &raw->p));
    tl_fclib_entry(entry, group, "i");
    TL_TRY(tl_fclib_read_ints(file, entry, &raw->i_length, &raw->i));
    tl_fclib_entry(entry, group, "x");
    return tl_fclib_read_doubles(file, entry, &raw->x_length, &raw->x);
}

// The number of entries, from nz or from the end of the pointers, which are checked here.
static talus_status read_count(const tl_fclib_file *file, const char *group, const read_raw *raw,
                               int64_t *count) {
    talus_context *ctx = file->ctx;
    if (raw->nz >= 0) {
        *count = raw->nz;
        TL_REQUIRE(ctx, raw->p_length >= raw->nz, TALUS_ERR_FORMAT,
                   "%s: %s/p has %" PRId64 " values; at least nz = %d are needed", file->path,
                   group, raw->p_length, raw->nz);
    } else {
        const int64_t outer = raw->nz == -2 ? raw->m : raw->n;
        TL_REQUIRE(ctx, raw->p_length == outer + 1 || (outer == 0 && raw->p_length == 0),
                   TALUS_ERR_FORMAT,
                   "%s: %s/p has %" PRId64 " values; %" PRId64 " are needed (%s + 1)", file->path,
                   group, raw->p_length, outer + 1, raw->nz == -2 ? "m" : "n");
        TL_REQUIRE(ctx, raw->p_length == 0 || raw->p[0] == 0, TALUS_ERR_FORMAT,
                   "%s: %s/p[0] = %d: must be 0", file->path, group, raw->p[0]);
        for (int64_t j = 1; j < raw->p_length; j++) {
            TL_REQUIRE(ctx, raw->p[j] >= raw->p[j - 1], TALUS_ERR_FORMAT,
                       "%s: %s/p[%" PRId64 "] = %d: must not be below the %d before it", file->path,
                       group, j, raw->p[j], raw->p[j - 1]);
        }
        *count = raw->p_length > 0 ? raw->p[raw->p_length - 1] : 0;
    }
    TL_REQUIRE(ctx, raw->nzmax >= *count, TALUS_ERR_FORMAT,
               "%s: %s/nzmax = %d: must be at least the number of entries, %" PRId64, file->path,
               group, raw->nzmax, *count);
    TL_REQUIRE(ctx, raw->i_length >= *count, TALUS_ERR_FORMAT,
               "%s: %s/i has %" PRId64 " values; the matrix has %" PRId64 " entries", file->path,
               group, raw->i_length, *count);
    TL_REQUIRE(ctx, raw->x_length >= *count, TALUS_ERR_FORMAT,
               "%s: %s/x has %" PRId64 " values; the matrix has %" PRId64 " entries", file->path,
               group, raw->x_length, *count);
    return TALUS_OK;
}

static talus_status read_check_indices(const tl_fclib_file *file, const char *group,
                                       const char *name, const char *what, int64_t count,
                                       const int32_t *index, int32_t limit) {
    for (int64_t e = 0; e < count; e++) {
        TL_REQUIRE(file->ctx, index[e] >= 0, TALUS_ERR_FORMAT,
                   "%s: %s/%s[%" PRId64 "] = %d: %s index must not be negative", file->path, group,
                   name, e, index[e], what);
        TL_REQUIRE(file->ctx, index[e] < limit, TALUS_ERR_FORMAT,
                   "%s: %s/%s[%" PRId64 "] = %d: %s index must be below %d", file->path, group,
                   name, e, index[e], what, limit);
    }
    return TALUS_OK;
}

// nz = -2: rows p, columns i. nz = -1: columns p, rows i. Else triplets with row i, column p (the
// comment in fclib.h says otherwise, all files in use do it so).
static talus_status read_entries(const tl_fclib_file *file, const char *group, read_raw *raw,
                                 tl_fclib_matrix *out) {
    char entry[TL_FCLIB_ENTRY];
    TL_TRY(read_count(file, group, raw, &out->count));
    const bool by_rows = raw->nz == -2;
    TL_TRY(read_check_indices(file, group, "i", by_rows ? "column" : "row", out->count, raw->i,
                              by_rows ? raw->n : raw->m));
    if (raw->nz >= 0)
        TL_TRY(read_check_indices(file, group, "p", "column", out->count, raw->p, raw->n));
    tl_fclib_entry(entry, group, "x");
    TL_TRY(read_check_finite(file, entry, out->count, raw->x));

    int32_t *outer = NULL;
    if (raw->nz < 0) {
        TL_TRY(TL_ALLOC(file->ctx, out->count, &outer));
        for (int64_t j = 0; j + 1 < raw->p_length; j++)
            for (int32_t e = raw->p[j]; e < raw->p[j + 1]; e++) outer[e] = (int32_t)j;
    } else {
        outer = raw->p;
        raw->p = NULL;
    }
    out->row = by_rows ? outer : raw->i;
    out->col = by_rows ? raw->i : outer;
    out->value = raw->x;
    raw->i = NULL;
    raw->x = NULL;
    return TALUS_OK;
}

talus_status tl_fclib_read_matrix(const tl_fclib_file *file, const char *group,
                                  tl_fclib_matrix *out) {
    read_raw raw = {0};
    *out = (tl_fclib_matrix){0};
    talus_status status = TALUS_OK;
    if (!tl_fclib_has(file, group)) {
        status = tl_fail(file->ctx, TALUS_ERR_FORMAT, "%s: %s is missing", file->path, group);
        goto done;
    }
    TL_GOTO(read_raw_matrix(file, group, &raw));
    out->rows = raw.m;
    out->cols = raw.n;
    TL_GOTO(read_entries(file, group, &raw, out));
done:
    tl_free(file->ctx, raw.p);
    tl_free(file->ctx, raw.i);
    tl_free(file->ctx, raw.x);
    if (status != TALUS_OK) *out = (tl_fclib_matrix){0};
    return status;
}
