// SPDX-License-Identifier: Apache-2.0
// A recording that is being written, from inside:
//     record.c        begun, appended to, flushed, closed
//     record_head.c   what stands at its beginning; opened again to go on
//     record_frame.c  shapes, materials, bodies, contacts of a frame
//     record_sand.c   particles of sand and nodes of its grid
//     record_rods.c   rods and their nodes
#ifndef TL_RECORD_RECORD_IMPL_H
#define TL_RECORD_RECORD_IMPL_H
#include "record/layout.h"
#include "record/series.h"

typedef struct tl_sand_nodes tl_sand_nodes;

struct talus_recording {
    talus_context *ctx;
    char *path;
    tl_store *store;
    tl_holdings holds;
    talus_precision precision;
    bool without[TALUS_FIELDS];
    double unit; // compact: lengths are multiples of it [m]
    const char *(*body_name)(const void *user, int32_t body);
    const char *(*material_name)(const void *user, int32_t material);
    const char *(*rod_name)(const void *user, int32_t rod);
    const void *user;
    bool failed; // a row is half written: no commit any more
    int64_t frames, commits;
    bool replace;                 // the last checkpoint gives way to the next
    double begun, seconds;        // clock at the beginning; what earlier parts of the run took [s]
    tl_column column[TL_COLUMNS]; // those that tl_record_has
    hid_t commit_id;              // dataset
    tl_column *ledger;            // tl_ledger_fields() of them
    uint64_t *ledger_value;       // TL_RECORD_LEDGER_ROWS of each field: bits of int64_t or double
    int32_t ledger_rows;          // in memory
    char *series_text;            // what `series_field` points into
    talus_ledger_field *series_field;
    tl_column *series;
    double *series_value; // likewise, of each series
    int32_t series_count;
    float *single;        // numbers on their way into the file
    double *state;        // likewise, of a checkpoint
    tl_sand_nodes *nodes; // of the grid of sand; made when there is some
    int32_t *name;        // of bodies that are new: indices of names
    char **known;         // names so far; the bytes of /names/text
    int32_t known_count, known_room;
};

enum { TL_RECORD_LEDGER_ROWS = 256 }; // rows kept in memory before they go to HDF5

/// The error of the disk where it is one, else that HDF5 cannot write `what`; no commit any more.
talus_status tl_record_refused(talus_recording *r, const char *what);
talus_status tl_record_append(talus_recording *r, int column, int64_t rows,
                              const void *values) TALUS_MUST_CHECK;

/// Whether a column is part of the recording.
bool tl_record_has(const talus_recording *r, int column);
/// Attributes, texts and empty columns; false when HDF5 refuses.
bool tl_record_begin(talus_recording *r, const talus_record_def *def, const talus_world *w);
/// Columns, counts and names of a file that is there.
talus_status tl_record_reopen(talus_recording *r) TALUS_MUST_CHECK;
/// Take in series, which `text` lists; the text becomes the recording's.
talus_status tl_record_take_series(talus_recording *r, char *text) TALUS_MUST_CHECK;
/// The overrides of a scene as one text, one in each line.
talus_status tl_record_set_text(talus_context *ctx, const talus_record_def *def,
                                char **out) TALUS_MUST_CHECK;
/// Note the time taken so far and whether the run is over; one more commit.
bool tl_record_mark(talus_recording *r, bool finished);

/// Shapes, materials and bodies that are new, and a row of each column of bodies and contacts.
talus_status tl_record_frame(talus_recording *r, const talus_world *w,
                             int64_t step) TALUS_MUST_CHECK;
/// Rows of a column of reals, in the precision of the recording; nothing where it has no such.
talus_status tl_record_reals(talus_recording *r, int column, int64_t rows,
                             const double *values) TALUS_MUST_CHECK;
/// A frame of the sand.
talus_status tl_record_sand(talus_recording *r, const talus_world *w) TALUS_MUST_CHECK;
void tl_record_forget_sand(talus_recording *r);
/// Rods that are new, and a frame of all of them.
talus_status tl_record_rods(talus_recording *r, const talus_world *w) TALUS_MUST_CHECK;
/// The index of a name, written when it is new; −1: none.
talus_status tl_record_name(talus_recording *r, const char *name, int32_t *out) TALUS_MUST_CHECK;
void tl_record_forget_names(talus_recording *r);
/// The name of that index is this (when a file is opened again).
talus_status tl_record_add_name(talus_recording *r, const char *name) TALUS_MUST_CHECK;

#endif // TL_RECORD_RECORD_IMPL_H
