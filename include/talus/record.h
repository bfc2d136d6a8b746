// SPDX-License-Identifier: Apache-2.0
// Recordings of runs: one HDF5 file with the scene's text, frames (bodies, contacts) and the ledger
// of every step. Memory does not grow with the length of the run.
#ifndef TALUS_RECORD_H
#define TALUS_RECORD_H
#include "talus/world.h"
TALUS_EXTERN_C_BEGIN

typedef struct talus_recording talus_recording; ///< opaque

typedef struct talus_record_def {
    const char *scene; ///< text of the scene, or NULL
    const char *title; ///< or NULL
    bool contacts;     ///< write contacts with each frame
    bool single;       ///< frames in single precision
} talus_record_def;

/// Begin a recording; an existing file is replaced only once this one holds its first frame.
TALUS_API talus_status talus_recording_create(talus_context *ctx, const char *path,
                                              const talus_record_def *def, const talus_world *w,
                                              talus_recording **out) TALUS_MUST_CHECK;
/// Append the world as it is now as a frame (bodies may have been added since the last).
TALUS_API talus_status talus_recording_frame(talus_recording *r,
                                             const talus_world *w) TALUS_MUST_CHECK;
TALUS_API talus_status talus_recording_ledger(talus_recording *r,
                                              const talus_ledger *ledger) TALUS_MUST_CHECK;
/// Everything written so far is in the file and can be read even if the program dies now.
TALUS_API talus_status talus_recording_flush(talus_recording *r) TALUS_MUST_CHECK;
/// Flush and close; the error, if any, names the file. `r` is gone in any case. NULL is allowed.
TALUS_API talus_status talus_recording_close(talus_recording *r) TALUS_MUST_CHECK;

TALUS_EXTERN_C_END
#endif // TALUS_RECORD_H
