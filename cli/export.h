// SPDX-License-Identifier: Apache-2.0
// The parts of `talus export`: which frames of which recording, and a writer for each format.
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H
#include "cli.h"
#include "talus/talus.h"

/// Numbers chosen on the command line, ascending, each once.
typedef struct export_list {
    int64_t *number;
    int64_t count;
} export_list;

/// What is exported, and where to.
typedef struct export_job {
    talus_context *ctx;
    talus_playback *playback;
    talus_playback_info info;
    const char *path; ///< of the recording
    char *room;       ///< directory of the files
    export_list frames;
    export_list steps; ///< fclib
    bool quiet;
    int64_t files;
    double bytes;
} export_job;

/// A file of the job's directory, open for writing; NULL after a message.
FILE *export_open(export_job *job, const char *name);
/// Close it; false after a message when something could not be written.
bool export_close(export_job *job, const char *name, FILE *file);
/// The frame of that number; false after a message.
bool export_frame(export_job *job, int64_t frame, talus_frame *out);
/// One line on stderr now and then: how far it is.
void export_progress(const export_job *job, const char *what, int64_t done, int64_t all);

/// CLI_DONE, or CLI_FAILED after a message.
int export_vtk(export_job *job);
int export_csv(export_job *job);
int export_fclib(export_job *job);

#endif // CLI_EXPORT_H
