// SPDX-License-Identifier: Apache-2.0
// What stands where in a recording: the datasets ("columns") that grow by rows, in one list for the
// writer and the reader; and the operations on them. docs/guide/record.md describes the file.
#ifndef TL_RECORD_LAYOUT_H
#define TL_RECORD_LAYOUT_H
#include "record/store.h"
#include "talus/record.h"

#define TL_RECORD_FORMAT "talus-recording"
#define TL_RECORD_VERSION 3      ///< of a recording without rods
#define TL_RECORD_VERSION_RODS 4 ///< of one with them

/// X(name, path, width, kind, unit): `width` values of `kind` per row. Offsets stand last, so that
/// whoever reads them finds what they point to. Points, triangles (three corners; in 2D two and −1)
/// and parts of the shapes follow each other in the order of the shapes, which say how many they
/// have; the points of a shape's parts come behind its own. Names are bytes, each name ended by a
/// zero.
#define TL_COLUMN_LIST(X)                                                                          \
    X(SHAPE_KIND, "/shapes/kind", 1, INT32, "")                                                    \
    X(SHAPE_RADIUS, "/shapes/radius", 1, FLOAT64, "m")                                             \
    X(SHAPE_HALF, "/shapes/half", 3, FLOAT64, "m")                                                 \
    X(SHAPE_OPEN_TOP, "/shapes/open_top", 1, UINT8, "")                                            \
    X(SHAPE_HEIGHT, "/shapes/height", 1, FLOAT64, "m")                                             \
    X(SHAPE_NORMAL, "/shapes/normal", 3, FLOAT64, "")                                              \
    X(SHAPE_EXPONENT, "/shapes/exponent", 2, FLOAT64, "")                                          \
    X(SHAPE_POINTS, "/shapes/points", 1, INT32, "")                                                \
    X(SHAPE_TRIANGLES, "/shapes/triangles", 1, INT32, "")                                          \
    X(SHAPE_PARTS, "/shapes/parts", 1, INT32, "")                                                  \
    X(SHAPE_POINT, "/shape_points/position", 3, FLOAT64, "m")                                      \
    X(SHAPE_TRIANGLE, "/shape_triangles/corner", 3, INT32, "")                                     \
    X(PART_KIND, "/shape_parts/kind", 1, INT32, "")                                                \
    X(PART_RADIUS, "/shape_parts/radius", 1, FLOAT64, "m")                                         \
    X(PART_HALF, "/shape_parts/half", 3, FLOAT64, "m")                                             \
    X(PART_HEIGHT, "/shape_parts/height", 1, FLOAT64, "m")                                         \
    X(PART_EXPONENT, "/shape_parts/exponent", 2, FLOAT64, "")                                      \
    X(PART_POINTS, "/shape_parts/points", 1, INT32, "")                                            \
    X(PART_POSITION, "/shape_parts/position", 3, FLOAT64, "m")                                     \
    X(PART_ORIENTATION, "/shape_parts/orientation", 4, FLOAT64, "")                                \
    X(MATERIAL_FRICTION, "/materials/friction", 1, FLOAT64, "")                                    \
    X(MATERIAL_RESTITUTION, "/materials/restitution", 1, FLOAT64, "")                              \
    X(MATERIAL_RESTITUTION_T, "/materials/restitution_t", 1, FLOAT64, "")                          \
    X(MATERIAL_STIFFNESS, "/materials/stiffness", 1, FLOAT64, "N/m")                               \
    X(MATERIAL_DAMPING, "/materials/damping", 1, FLOAT64, "N s/m")                                 \
    X(MATERIAL_YOUNG, "/materials/young", 1, FLOAT64, "Pa")                                        \
    X(MATERIAL_POISSON, "/materials/poisson", 1, FLOAT64, "")                                      \
    X(MATERIAL_TANGENTIAL, "/materials/tangential", 1, FLOAT64, "")                                \
    X(MATERIAL_NAME, "/materials/name", 1, INT32, "")                                              \
    X(PAIR_FRICTION, "/material_pairs/friction", 1, FLOAT64, "")                                   \
    X(BODY_SHAPE, "/bodies/shape", 1, INT32, "")                                                   \
    X(BODY_MATERIAL, "/bodies/material", 1, INT32, "")                                             \
    X(BODY_MOTION, "/bodies/motion", 1, INT32, "")                                                 \
    X(BODY_MASS, "/bodies/mass", 1, FLOAT64, "kg")                                                 \
    X(BODY_RADIUS, "/bodies/radius", 1, FLOAT64, "m")                                              \
    X(BODY_NAME, "/bodies/name", 1, INT32, "")                                                     \
    X(ROD_NODES, "/rods/nodes", 1, INT32, "")                                                      \
    X(ROD_RADIUS, "/rods/radius", 1, FLOAT64, "m")                                                 \
    X(ROD_KIND, "/rods/kind", 1, INT32, "")                                                        \
    X(ROD_MATERIAL, "/rods/material", 1, INT32, "")                                                \
    X(ROD_NAME, "/rods/name", 1, INT32, "")                                                        \
    X(NAME_TEXT, "/names/text", 1, UINT8, "")                                                      \
    X(FRAME_POSITION, "/frames/position", 3, REAL, "m")                                            \
    X(FRAME_ORIENTATION, "/frames/orientation", 4, REAL, "")                                       \
    X(FRAME_VELOCITY, "/frames/velocity", 3, REAL, "m/s")                                          \
    X(FRAME_SPIN, "/frames/spin", 3, REAL, "rad/s")                                                \
    X(CONTACT_A, "/contacts/a", 1, INT32, "")                                                      \
    X(CONTACT_B, "/contacts/b", 1, INT32, "")                                                      \
    X(CONTACT_FEATURE, "/contacts/feature", 1, UINT32, "")                                         \
    X(CONTACT_STATUS, "/contacts/status", 1, UINT8, "")                                            \
    X(CONTACT_POINT, "/contacts/point", 3, REAL, "m")                                              \
    X(CONTACT_NORMAL, "/contacts/normal", 3, REAL, "")                                             \
    X(CONTACT_GAP, "/contacts/gap", 1, REAL, "m")                                                  \
    X(CONTACT_IMPULSE, "/contacts/impulse", 3, REAL, "N s")                                        \
    X(CONTACT_VELOCITY, "/contacts/velocity", 3, REAL, "m/s")                                      \
    X(SAND_ID, "/sand/id", 1, INT64, "")                                                           \
    X(SAND_POSITION, "/sand/position", 3, REAL, "m")                                               \
    X(SAND_VELOCITY, "/sand/velocity", 3, REAL, "m/s")                                             \
    X(SAND_VOLUME, "/sand/volume", 1, REAL, "m^d")                                                 \
    X(SAND_FRAME, "/sand/frame", 6, REAL, "m^2")                                                   \
    X(SAND_INERTIAL, "/sand/inertial", 1, REAL, "")                                                \
    X(SAND_PRESSURE, "/sand/pressure", 1, REAL, "Pa")                                              \
    X(NODE_PLACE, "/sand_nodes/place", 3, INT32, "cells")                                          \
    X(NODE_FRACTION, "/sand_nodes/fraction", 1, REAL, "")                                          \
    X(NODE_PRESSURE, "/sand_nodes/pressure", 1, REAL, "Pa")                                        \
    X(NODE_VELOCITY, "/sand_nodes/velocity", 3, REAL, "m/s")                                       \
    X(FIBRE_POSITION, "/rod_nodes/position", 3, REAL, "m")                                         \
    X(FIBRE_VELOCITY, "/rod_nodes/velocity", 3, REAL, "m/s")                                       \
    X(FIBRE_DIRECTOR, "/rod_nodes/director", 3, REAL, "")                                          \
    X(FIBRE_STRAIN, "/rod_nodes/strain", 1, REAL, "")                                              \
    X(CHECKPOINT_STATE, "/checkpoints/state", 1, FLOAT64, "")                                      \
    X(CHECKPOINT_EXTRA, "/checkpoints/extra", TALUS_CHECKPOINT_EXTRA, FLOAT64, "")                 \
    X(CHECKPOINT_TIME, "/checkpoints/time", 1, FLOAT64, "s")                                       \
    X(CHECKPOINT_STEP, "/checkpoints/step", 1, INT64, "")                                          \
    X(CHECKPOINT_HASH, "/checkpoints/hash", 1, UINT64, "")                                         \
    X(CHECKPOINT_BODIES, "/checkpoints/bodies", 1, INT32, "")                                      \
    X(CHECKPOINT_KEPT, "/checkpoints/kept", 1, UINT8, "")                                          \
    X(CHECKPOINT_OFFSET, "/checkpoints/offset", 1, INT64, "")                                      \
    X(FRAME_TIME, "/frames/time", 1, FLOAT64, "s")                                                 \
    X(FRAME_STEP, "/frames/step", 1, INT64, "")                                                    \
    X(FRAME_HASH, "/frames/hash", 1, UINT64, "")                                                   \
    X(SAND_LOST, "/sand/lost", 1, FLOAT64, "m^d")                                                  \
    X(FIBRE_OFFSET, "/rod_nodes/offset", 1, INT64, "")                                             \
    X(NODE_OFFSET, "/sand_nodes/offset", 1, INT64, "")                                             \
    X(SAND_OFFSET, "/sand/offset", 1, INT64, "")                                                   \
    X(CONTACT_OFFSET, "/contacts/offset", 1, INT64, "")                                            \
    X(FRAME_OFFSET, "/frames/offset", 1, INT64, "")

enum {
#define TL_COLUMN_ENUM(name, path, width, kind, unit) TL_##name,
    TL_COLUMN_LIST(TL_COLUMN_ENUM)
#undef TL_COLUMN_ENUM
        TL_COLUMNS
};

/// What a value is in memory. REAL is double there, and in the file single or double.
typedef enum tl_value_kind {
    TL_UINT8,
    TL_INT32,
    TL_UINT32,
    TL_INT64,
    TL_UINT64,
    TL_FLOAT64,
    TL_REAL,
} tl_value_kind;

typedef struct tl_column_def {
    const char *path, *unit;
    int32_t width;
    tl_value_kind kind;
} tl_column_def;

extern const tl_column_def tl_column_defs[TL_COLUMNS];

/// Compact frames: steps between lengths relative to the smallest body, and between components of
/// directions, are at most this. They are rounded to the nearest, so that they are off by no more
/// than half of it.
#define TL_RECORD_FINE 2e-4
#define TL_RECORD_TURN 5e-4

/// The dataset that counts the flushes, for readers beside the writer.
#define TL_RECORD_COMMITS "/commits"

typedef struct tl_column {
    hid_t id, type; // dataset; type of a value in memory, borrowed from HDF5
    int32_t width;
    int64_t rows;
    size_t size; // bytes of a row in memory
} tl_column;

/// Is the column one of contacts?
bool tl_column_is_contact(int column);
/// Is it one of sand, its nodes included?
bool tl_column_is_sand(int column);
/// Is it one of rods, their nodes included?
bool tl_column_is_rod(int column);
/// What a recording may hold besides bodies.
typedef struct tl_holdings {
    bool contacts, sand, rods;
} tl_holdings;
/// Whether a recording has a column.
bool tl_column_is_kept(int column, const tl_holdings *holds, const bool without[TALUS_FIELDS]);
/// The field of talus_record_def.without that a column is of, or TALUS_FIELDS: it is always there.
talus_field tl_column_field(int column);

/// Create an empty dataset whose chunks hold about `chunk_bytes`; false when HDF5 refuses. With
/// `single`, values of REAL columns are floats in the file and in memory.
bool tl_column_create(hid_t file, const tl_column_def *def, bool single, size_t chunk_bytes,
                      tl_column *out);
bool tl_column_append(tl_column *c, int64_t rows, const void *values);
/// Keep only the first rows.
bool tl_column_cut(tl_column *c, int64_t rows);
/// Open a dataset that must have the width given; false when it is absent or other than it must be.
bool tl_column_open(hid_t file, const tl_column_def *def, tl_column *out);
/// Values of the column, which is one of REAL, are floats in memory from now on.
void tl_column_use_floats(tl_column *c);
/// Read rows that are there.
bool tl_column_read(const tl_column *c, int64_t first, int64_t rows, void *values);
/// Close; a column that was never opened (id <= 0) is legal.
void tl_column_close(tl_column *c);

/// Attributes of a group or dataset; false when HDF5 refuses. Writing replaces.
bool tl_attribute_text(hid_t file, const char *object, const char *name, const char *text);
bool tl_attribute_numbers(hid_t file, const char *object, const char *name, int32_t count,
                          const double *values);
bool tl_attribute_integer(hid_t file, const char *object, const char *name, int64_t value);
/// One text as a dataset, since attributes end at 64 kB; one that is there is replaced.
bool tl_text_write(hid_t file, const char *path, const char *text);
bool tl_attribute_read_numbers(hid_t file, const char *object, const char *name, int32_t count,
                               double *values);
/// A scalar integer; false when it is absent or no integer.
bool tl_attribute_read_integer(hid_t file, const char *object, const char *name, int64_t *value);

/// Number of ledger fields, and the column of one.
int32_t tl_ledger_fields(void);
tl_column_def tl_ledger_column(int32_t index, char path[64]);

#endif // TL_RECORD_LAYOUT_H
