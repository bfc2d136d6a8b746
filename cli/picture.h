// SPDX-License-Identifier: Apache-2.0
// Frames of a recording as pictures, for `talus picture` and `talus report`.
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H
#include "talus/talus.h"

/// A recording that is open for drawing.
typedef struct picture_reel {
    const char *path;
    talus_context *ctx;
    talus_playback *playback;
    talus_playback_info info;
    talus_moments *moments;
} picture_reel;

/// False after a message; a recording without frames is one.
bool picture_open(picture_reel *reel, const char *path);
void picture_close(picture_reel *reel);
/// The moment of a frame, valid until the next; false after a message.
bool picture_moment(picture_reel *reel, int64_t frame, talus_moment *out);

enum { PICTURE_LOOKS = 12 }; ///< frames that are looked at to choose a box
/// A few frames, spread evenly from the first to the last; returns how many.
int picture_spread(int64_t frames, int64_t out[PICTURE_LOOKS]);
/// Fill in box, range of colours and scale of forces where they are not given, so that all these
/// frames fit. The definition keeps a pointer to `box`. False after a message.
bool picture_agree(picture_reel *reel, const int64_t *frame, int count, talus_picture_def *def,
                   double box[6]);
/// A frame as a PNG file in memory; free it with talus_picture_free(reel->ctx, …). False after a
/// message.
bool picture_png(picture_reel *reel, int64_t frame, const talus_picture_def *def, uint8_t **png,
                 int64_t *bytes);
/// The same, written to a file.
bool picture_write(picture_reel *reel, int64_t frame, const talus_picture_def *def,
                   const char *path);

/// The last part of a path with another ending; free it.
char *picture_name(const char *path, const char *ending);

/// Options of several verbs; false after a message.
bool picture_whole(const char *option, const char *text, int64_t low, int64_t high, int64_t *out);
bool picture_take_view(talus_picture_def *def, const char *value);
bool picture_take_colour(talus_picture_def *def, const char *value);
bool picture_take_threads(talus_picture_def *def, const char *value);

#endif // CLI_PICTURE_H
