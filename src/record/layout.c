// SPDX-License-Identifier: Apache-2.0
// Datasets that grow by rows, and attributes. Nothing here knows of disks: store.c does.
#include "record/layout.h"
#include <string.h>

const tl_column_def tl_column_defs[TL_COLUMNS] = {
#define TL_COLUMN_ROW(name, path, width, kind, unit) {path, unit, width, TL_##kind},
    TL_COLUMN_LIST(TL_COLUMN_ROW)
#undef TL_COLUMN_ROW
};

static hid_t layout_memory_type(tl_value_kind kind) {
    switch (kind) {
    case TL_UINT8:
        return H5T_NATIVE_UINT8;
    case TL_INT32:
        return H5T_NATIVE_INT32;
    case TL_UINT32:
        return H5T_NATIVE_UINT32;
    case TL_INT64:
        return H5T_NATIVE_INT64;
    case TL_UINT64:
        return H5T_NATIVE_UINT64;
    case TL_FLOAT64:
    case TL_REAL:
        break;
    }
    return H5T_NATIVE_DOUBLE;
}

static hid_t layout_stored_type(tl_value_kind kind, bool single) {
    switch (kind) {
    case TL_UINT8:
        return H5T_STD_U8LE;
    case TL_INT32:
        return H5T_STD_I32LE;
    case TL_UINT32:
        return H5T_STD_U32LE;
    case TL_INT64:
        return H5T_STD_I64LE;
    case TL_UINT64:
        return H5T_STD_U64LE;
    case TL_FLOAT64:
        return H5T_IEEE_F64LE;
    case TL_REAL:
        break;
    }
    return single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

bool tl_column_is_contact(int column) {
    return strncmp(tl_column_defs[column].path, "/contacts/", 10) == 0;
}

bool tl_column_is_sand(int column) { return strncmp(tl_column_defs[column].path, "/sand", 5) == 0; }

bool tl_column_is_rod(int column) { return strncmp(tl_column_defs[column].path, "/rod", 4) == 0; }

bool tl_column_is_kept(int column, const tl_holdings *holds, const bool without[TALUS_FIELDS]) {
    const talus_field field = tl_column_field(column);
    const bool grid = !without[TALUS_FIELD_GRID_FRACTION] || !without[TALUS_FIELD_GRID_PRESSURE] ||
                      !without[TALUS_FIELD_GRID_VELOCITY];
    if (column == TL_NODE_PLACE || column == TL_NODE_OFFSET) return holds->sand && grid;
    return (holds->contacts || !tl_column_is_contact(column)) &&
           (holds->sand || !tl_column_is_sand(column)) &&
           (holds->rods || !tl_column_is_rod(column)) && (field == TALUS_FIELDS || !without[field]);
}

talus_field tl_column_field(int column) {
    switch (column) {
    case TL_FRAME_ORIENTATION:
        return TALUS_FIELD_ORIENTATION;
    case TL_FRAME_VELOCITY:
    case TL_SAND_VELOCITY:
    case TL_FIBRE_VELOCITY:
        return TALUS_FIELD_VELOCITY;
    case TL_FIBRE_DIRECTOR:
        return TALUS_FIELD_DIRECTOR;
    case TL_FIBRE_STRAIN:
        return TALUS_FIELD_STRAIN;
    case TL_SAND_VOLUME:
        return TALUS_FIELD_VOLUME;
    case TL_SAND_FRAME:
        return TALUS_FIELD_FRAME;
    case TL_SAND_INERTIAL:
        return TALUS_FIELD_INERTIAL;
    case TL_SAND_PRESSURE:
        return TALUS_FIELD_PRESSURE;
    case TL_NODE_FRACTION:
        return TALUS_FIELD_GRID_FRACTION;
    case TL_NODE_PRESSURE:
        return TALUS_FIELD_GRID_PRESSURE;
    case TL_NODE_VELOCITY:
        return TALUS_FIELD_GRID_VELOCITY;
    case TL_FRAME_SPIN:
        return TALUS_FIELD_SPIN;
    case TL_CONTACT_POINT:
        return TALUS_FIELD_POINT;
    case TL_CONTACT_NORMAL:
        return TALUS_FIELD_NORMAL;
    case TL_CONTACT_GAP:
        return TALUS_FIELD_GAP;
    case TL_CONTACT_IMPULSE:
        return TALUS_FIELD_IMPULSE;
    case TL_CONTACT_VELOCITY:
        return TALUS_FIELD_SLIP;
    default:
        return TALUS_FIELDS;
    }
}

static void layout_begin(const tl_column_def *def, tl_column *out) {
    *out = (tl_column){
        .id = H5I_INVALID_HID, .type = layout_memory_type(def->kind), .width = def->width};
    out->size = H5Tget_size(out->type) * (size_t)def->width;
}

void tl_column_use_floats(tl_column *c) {
    c->type = H5T_NATIVE_FLOAT;
    c->size = sizeof(float) * (size_t)c->width;
}

bool tl_column_create(hid_t file, const tl_column_def *def, bool single, size_t chunk_bytes,
                      tl_column *out) {
    layout_begin(def, out);
    if (single && def->kind == TL_REAL) tl_column_use_floats(out);
    const int rank = def->width > 1 ? 2 : 1;
    const hid_t stored = layout_stored_type(def->kind, single);
    const size_t row = H5Tget_size(stored) * (size_t)def->width;
    const hsize_t width = (hsize_t)def->width;
    const hsize_t chunk[2] = {(hsize_t)(chunk_bytes / row + 1), width};
    const hsize_t now[2] = {0, width}, most[2] = {H5S_UNLIMITED, width};
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS);
    const hid_t link = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(rank, now, most);
    // Rows are appended, so that two chunks in memory are enough, and a full one goes first. Times
    // are not recorded: equal runs give equal datasets.
    if (create >= 0 && access >= 0 && link >= 0 && space >= 0 &&
        H5Pset_chunk(create, rank, chunk) >= 0 && H5Pset_shuffle(create) >= 0 &&
        H5Pset_deflate(create, 1) >= 0 && H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_obj_track_times(create, false) >= 0 &&
        H5Pset_create_intermediate_group(link, 1) >= 0 &&
        H5Pset_chunk_cache(access, 17, 2 * (size_t)chunk[0] * row, 1.0) >= 0) {
        out->id = H5Dcreate2(file, def->path, stored, space, link, create, access);
    }
    if (create >= 0) (void)H5Pclose(create);
    if (access >= 0) (void)H5Pclose(access);
    if (link >= 0) (void)H5Pclose(link);
    if (space >= 0) (void)H5Sclose(space);
    return out->id >= 0 &&
           (def->unit[0] == '\0' || tl_attribute_text(file, def->path, "unit", def->unit));
}

// Write (values_in) or read (values_out) rows that lie inside the dataset.
static bool layout_transfer(const tl_column *c, int64_t first, int64_t rows, const void *values_in,
                            void *values_out) {
    const int rank = c->width > 1 ? 2 : 1;
    const hsize_t start[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)rows, (hsize_t)c->width};
    const hid_t space = H5Dget_space(c->id), memory = H5Screate_simple(rank, count, NULL);
    bool ok = space >= 0 && memory >= 0 &&
              H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
    if (ok && values_in) ok = H5Dwrite(c->id, c->type, memory, space, H5P_DEFAULT, values_in) >= 0;
    if (ok && values_out) ok = H5Dread(c->id, c->type, memory, space, H5P_DEFAULT, values_out) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    if (memory >= 0) (void)H5Sclose(memory);
    return ok;
}

bool tl_column_append(tl_column *c, int64_t rows, const void *values) {
    if (rows <= 0) return true;
    const hsize_t size[2] = {(hsize_t)(c->rows + rows), (hsize_t)c->width};
    if (H5Dset_extent(c->id, size) < 0) return false;
    c->rows += rows;
    return layout_transfer(c, c->rows - rows, rows, values, NULL);
}

bool tl_column_cut(tl_column *c, int64_t rows) {
    if (rows >= c->rows) return true;
    const hsize_t size[2] = {(hsize_t)rows, (hsize_t)c->width};
    if (H5Dset_extent(c->id, size) < 0) return false;
    c->rows = rows;
    return true;
}

bool tl_column_open(hid_t file, const tl_column_def *def, tl_column *out) {
    layout_begin(def, out);
    out->id = H5Dopen2(file, def->path, H5P_DEFAULT);
    if (out->id < 0) return false;
    const hid_t space = H5Dget_space(out->id), type = H5Dget_type(out->id);
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    hsize_t size[2] = {0, 1};
    bool ok = (rank == 1 || rank == 2) && (kind == H5T_INTEGER || kind == H5T_FLOAT) &&
              H5Sget_simple_extent_dims(space, size, NULL) == rank &&
              size[1] == (hsize_t)def->width && size[0] <= (hsize_t)INT64_MAX;
    // Memory is taken by the number of rows: a damaged header must not be able to ask for any.
    // Deflate cannot compress better than 1032 to 1.
    const hsize_t stored = ok ? H5Dget_storage_size(out->id) : 0;
    if (ok && size[0] > 0)
        ok = size[0] <= (stored + 1) * 1100 * 8 / (hsize_t)def->width && size[0] <= INT64_MAX / 64;
    out->rows = ok ? (int64_t)size[0] : 0;
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    if (!ok) tl_column_close(out);
    return ok;
}

bool tl_column_read(const tl_column *c, int64_t first, int64_t rows, void *values) {
    return rows == 0 || layout_transfer(c, first, rows, NULL, values);
}

void tl_column_close(tl_column *c) {
    if (c->id > 0) (void)H5Dclose(c->id);
    c->id = H5I_INVALID_HID;
}

// An attribute of a scalar (count 0) or of `count` values.
static bool layout_attribute(hid_t file, const char *object, const char *name, hid_t stored,
                             hid_t type, int32_t count, const void *values) {
    const hsize_t size = (hsize_t)count;
    const hid_t space = count > 0 ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
    bool ok = space >= 0;
    if (ok && H5Aexists_by_name(file, object, name, H5P_DEFAULT) > 0)
        ok = H5Adelete_by_name(file, object, name, H5P_DEFAULT) >= 0;
    const hid_t id = ok ? H5Acreate_by_name(file, object, name, stored, space, H5P_DEFAULT,
                                            H5P_DEFAULT, H5P_DEFAULT)
                        : H5I_INVALID_HID;
    ok = id >= 0 && H5Awrite(id, type, values) >= 0;
    if (id >= 0) (void)H5Aclose(id);
    if (space >= 0) (void)H5Sclose(space);
    return ok;
}

bool tl_attribute_text(hid_t file, const char *object, const char *name, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool ok = type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                    H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                    layout_attribute(file, object, name, type, type, 0, text);
    if (type >= 0) (void)H5Tclose(type);
    return ok;
}

bool tl_attribute_numbers(hid_t file, const char *object, const char *name, int32_t count,
                          const double *values) {
    return layout_attribute(file, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, values);
}

bool tl_attribute_integer(hid_t file, const char *object, const char *name, int64_t value) {
    return layout_attribute(file, object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 0, &value);
}

bool tl_attribute_read_numbers(hid_t file, const char *object, const char *name, int32_t count,
                               double *values) {
    const hid_t id = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) return false;
    const hid_t space = H5Aget_space(id), type = H5Aget_type(id);
    const bool ok = space >= 0 && H5Sget_simple_extent_npoints(space) == count && type >= 0 &&
                    H5Tget_class(type) == H5T_FLOAT && H5Aread(id, H5T_NATIVE_DOUBLE, values) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Aclose(id);
    return ok;
}

bool tl_text_write(hid_t file, const char *path, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t id = H5I_INVALID_HID;
    bool ok = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
              H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    if (ok && H5Lexists(file, path, H5P_DEFAULT) > 0) ok = H5Ldelete(file, path, H5P_DEFAULT) >= 0;
    if (ok) id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ok = id >= 0 && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (id >= 0) (void)H5Dclose(id);
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    return ok;
}

bool tl_attribute_read_integer(hid_t file, const char *object, const char *name, int64_t *value) {
    const hid_t id = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) return false;
    const hid_t space = H5Aget_space(id), type = H5Aget_type(id);
    const bool ok = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && type >= 0 &&
                    H5Tget_class(type) == H5T_INTEGER && H5Aread(id, H5T_NATIVE_INT64, value) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Aclose(id);
    return ok;
}
