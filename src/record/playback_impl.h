// SPDX-License-Identifier: Apache-2.0
// A recording that is being read, from inside:
//     playback.c         opened, refreshed, closed; facts and names
//     playback_shapes.c  shapes, put together from their columns
//     playback_read.c    frames, ledger, checkpoints
// Nothing the file says is believed: offsets must rise and lie inside, columns of one group must be
// equally long, and what has an index must have the entry it points to.
#ifndef TL_RECORD_PLAYBACK_IMPL_H
#define TL_RECORD_PLAYBACK_IMPL_H
#include "record/layout.h"
#include "record/series.h"

enum { TL_PLAYBACK_TEXTS = 16 };

struct talus_playback {
    talus_context *ctx;
    char *path;
    tl_store *store;
    talus_playback_info info;
    tl_holdings holds;
    char *text[TL_PLAYBACK_TEXTS]; // those of `info`
    int texts;
    char **set; // overrides: lines of a text
    tl_column column[TL_COLUMNS];
    void *value[TL_COLUMNS];  // rows last read; shapes, materials and bodies: all of them
    int64_t room[TL_COLUMNS]; // rows that fit into it
    const char **name;        // where the names begin
    int32_t names;
    talus_ledger_field *series; // besides the ledger; texts in `text`
    int32_t series_count;
    int64_t commit_at;           // where the number of commits stands in the file; < 0: nowhere
    int64_t commit;              // what stood there when the columns were opened
    talus_shape_def *shape;      // their arrays point into `value` and what follows
    talus_part *part;            // of all clumps
    talus_shape_def *part_shape; // of all parts
    int32_t *segment;            // 2D: corners of all meshes, two each
    int32_t *rod_start;          // of all rods: first node of each, and one more
};

talus_status tl_playback_damaged(const talus_playback *p, const char *entry,
                                 const char *what) TL_COLD;
/// Read rows of a column into its buffer.
talus_status tl_playback_rows(talus_playback *p, int column, int64_t first,
                              int64_t rows) TALUS_MUST_CHECK;
/// Whether a column was recorded.
bool tl_playback_has(const talus_playback *p, int column);
/// Begin to read: no flush happens until the end, and the columns are those of the last one.
talus_status tl_playback_hold(talus_playback *p) TALUS_MUST_CHECK;
void tl_playback_release(talus_playback *p);

talus_status tl_playback_make_shapes(talus_playback *p) TALUS_MUST_CHECK;
void tl_playback_drop_shapes(talus_playback *p);

static inline double tl_playback_number(const talus_playback *p, int column, int64_t index) {
    return ((const double *)p->value[column])[index];
}

static inline int32_t tl_playback_integer(const talus_playback *p, int column, int64_t index) {
    return ((const int32_t *)p->value[column])[index];
}

#endif // TL_RECORD_PLAYBACK_IMPL_H
