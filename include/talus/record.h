// SPDX-License-Identifier: Apache-2.0
// Recordings of runs: one HDF5 file with the scene's text, frames (bodies, contacts) and the ledger
// of every step, and reading them back. Memory does not grow with the length of the run. The layout
// of the file is in docs/guide/run.md.
#ifndef TALUS_RECORD_H
#define TALUS_RECORD_H
#include "talus/world.h"
TALUS_EXTERN_C_BEGIN

/// One figure of a ledger, in the order of the table; what is pointed to is static.
typedef struct talus_ledger_field {
    const char *name; ///< of the dataset in a recording, of the column in a table: "momentum_x"
    const char *unit; ///< "J", "s", … or ""
    const char *text; ///< one line
    bool integer;
} talus_ledger_field;
TALUS_API bool talus_ledger_field_at(int32_t index,
                                     talus_ledger_field *out); ///< false past the end
/// The figure of that index; NaN past the end. Integers are exact up to 2^53.
TALUS_API double talus_ledger_value(const talus_ledger *ledger, int32_t index);

typedef struct talus_recording talus_recording; ///< opaque: a recording that is being written

typedef struct talus_record_def {
    const char *scene; ///< text of the scene, or NULL
    const char *title; ///< or NULL
    bool contacts;     ///< write contacts with each frame
    bool single;       ///< frames and contacts in single precision
} talus_record_def;

/// Begin a recording of `w`; an existing file is replaced only once this one holds its first frame.
/// A path that cannot be written, or that another run is writing, is an error here.
TALUS_API talus_status talus_recording_create(talus_context *ctx, const char *path,
                                              const talus_record_def *def, const talus_world *w,
                                              talus_recording **out) TALUS_MUST_CHECK;
/// Append the world as it is now, after `step` steps, as a frame (bodies, shapes and materials may
/// have been added since the last). The first frame is in the file when this returns.
TALUS_API talus_status talus_recording_frame(talus_recording *r, const talus_world *w,
                                             int64_t step) TALUS_MUST_CHECK;
TALUS_API talus_status talus_recording_ledger(talus_recording *r,
                                              const talus_ledger *ledger) TALUS_MUST_CHECK;
/// Everything given so far is in the file and can be read, even if the program is killed now or
/// later. Of what is given after it either all or nothing up to the next flush survives a kill.
/// After an error, of this or any other call, the file is as the last flush left it, and stays so.
TALUS_API talus_status talus_recording_flush(talus_recording *r) TALUS_MUST_CHECK;
/// Flush and close; the error, if any, names the file. `r` is gone in any case. Without a frame no
/// file is made. NULL is allowed.
TALUS_API talus_status talus_recording_close(talus_recording *r) TALUS_MUST_CHECK;

typedef struct talus_playback talus_playback; ///< opaque: a recording that is being read

typedef struct talus_playback_info {
    int32_t dim;
    int64_t frames;
    int64_t steps;             ///< for which there is a ledger
    int32_t bodies;            ///< that there ever were
    bool contacts;             ///< frames hold contacts
    bool single;               ///< frames are in single precision
    bool finished;             ///< the recording was closed; false: killed, or still being written
    const char *title, *scene; ///< "" when not given
    const char *version, *commit, *compiler, *created; ///< of the program that wrote it, and when
} talus_playback_info;

/// A frame; the arrays are borrowed until the next frame is read.
typedef struct talus_frame {
    int64_t step;
    double time;
    uint64_t hash;          ///< talus_world_hash at that moment
    talus_body_view bodies; ///< without `centre`
    talus_contact_view contacts;
} talus_frame;

/// Open a recording as its last flush left it; what is written later is not seen.
TALUS_API talus_status talus_playback_open(talus_context *ctx, const char *path,
                                           talus_playback **out) TALUS_MUST_CHECK;
TALUS_API void talus_playback_close(talus_playback *p);                         ///< NULL is allowed
TALUS_API talus_playback_info talus_playback_get_info(const talus_playback *p); ///< texts borrowed
/// Shapes and materials by index; false past the end. Arrays of shapes are borrowed from the
/// playback.
TALUS_API bool talus_playback_shape_at(const talus_playback *p, int32_t index,
                                       talus_shape_def *out);
TALUS_API bool talus_playback_material_at(const talus_playback *p, int32_t index,
                                          talus_material_def *out);
TALUS_API talus_status talus_playback_frame(talus_playback *p, int64_t frame,
                                            talus_frame *out) TALUS_MUST_CHECK;
/// `count` figures of the ledger field of that name, from row `first` on.
TALUS_API talus_status talus_playback_ledger(talus_playback *p, const char *field, int64_t first,
                                             int64_t count, double *out) TALUS_MUST_CHECK;

TALUS_EXTERN_C_END
#endif // TALUS_RECORD_H
