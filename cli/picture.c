// SPDX-License-Identifier: Apache-2.0
// Frames of a recording as pictures.
#define _GNU_SOURCE
#include "picture.h"
#include "cli.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool picture_failed(const picture_reel *reel, talus_status status) {
    if (status == TALUS_OK) return false;
    const char *why = talus_context_last_error(reel->ctx);
    // errors of files name the file
    if (strstr(why, reel->path))
        cli_error("%s", why);
    else
        cli_error("%s: %s", reel->path, why);
    return true;
}

bool picture_open(picture_reel *reel, const char *path) {
    *reel = (picture_reel){.path = path};
    const talus_status made = talus_context_create(NULL, &reel->ctx);
    if (made != TALUS_OK) {
        cli_error("%s", talus_status_text(made));
        return false;
    }
    if (picture_failed(reel, talus_playback_open(reel->ctx, path, &reel->playback)) ||
        picture_failed(reel, talus_moments_create(reel->ctx, &reel->moments)))
        return false;
    reel->info = talus_playback_get_info(reel->playback);
    if (reel->info.frames > 0) return true;
    cli_error("%s: the recording has no frames yet", path);
    return false;
}

void picture_close(picture_reel *reel) {
    talus_moments_destroy(reel->moments);
    talus_playback_close(reel->playback);
    talus_context_destroy(reel->ctx);
    *reel = (picture_reel){0};
}

bool picture_moment(picture_reel *reel, int64_t frame, talus_moment *out) {
    return !picture_failed(reel, talus_moments_read(reel->moments, reel->playback, frame, out));
}

int picture_spread(int64_t frames, int64_t out[PICTURE_LOOKS]) {
    const int count = frames < PICTURE_LOOKS ? (int)frames : PICTURE_LOOKS;
    for (int k = 0; k < count; k++) out[k] = count > 1 ? k * (frames - 1) / (count - 1) : 0;
    return count;
}

bool picture_agree(picture_reel *reel, const int64_t *frame, int count, talus_picture_def *def,
                   double box[6]) {
    const bool range = !(def->low < def->high);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 3; k++) box[k] = INFINITY, box[k + 3] = -INFINITY;
    for (int i = 0; i < count; i++) {
        talus_moment m;
        double own[6], least, most, force = 0.0;
        if (!picture_moment(reel, frame[i], &m) ||
            picture_failed(reel, talus_picture_box(reel->ctx, &m, own)) ||
            picture_failed(reel, talus_picture_range(reel->ctx, &m, def->colour, &least, &most)) ||
            picture_failed(reel, talus_picture_force(reel->ctx, &m, &force)))
            return false;
        for (int k = 0; k < 3; k++) {
            box[k] = fmin(box[k], own[k]);
            box[k + 3] = fmax(box[k + 3], own[k + 3]);
        }
        low = fmin(low, least), high = fmax(high, most);
        def->force = fmax(def->force, force);
    }
    if (range) def->low = low, def->high = high;
    def->box = box;
    return true;
}

bool picture_png(picture_reel *reel, int64_t frame, const talus_picture_def *def, uint8_t **png,
                 int64_t *bytes) {
    talus_moment m;
    *png = NULL;
    if (!picture_moment(reel, frame, &m)) return false;
    uint8_t *rgba = cli_alloc(4 * (size_t)def->width, (size_t)def->height);
    talus_status status = talus_picture_draw(reel->ctx, &m, def, rgba);
    if (status == TALUS_OK)
        status = talus_picture_png(reel->ctx, def->width, def->height, rgba, png, bytes);
    free(rgba);
    return !picture_failed(reel, status);
}

bool picture_write(picture_reel *reel, int64_t frame, const talus_picture_def *def,
                   const char *path) {
    uint8_t *png;
    int64_t bytes;
    if (!picture_png(reel, frame, def, &png, &bytes)) return false;
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(png, 1, (size_t)bytes, file) == (size_t)bytes;
    if (file && fclose(file) != 0) good = false;
    if (!good) cli_error("--out %s: cannot be written: %s", path, strerror(errno));
    talus_picture_free(reel->ctx, png);
    return good;
}

char *picture_name(const char *path, const char *ending) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return cli_text("%.*s%s", (int)(dot && dot != base ? dot - base : (ptrdiff_t)strlen(base)),
                    base, ending);
}

bool picture_whole(const char *option, const char *text, int64_t low, int64_t high, int64_t *out) {
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    *out = value;
    if (errno == 0 && *text && !*end && value >= low && value <= high) return true;
    cli_error("--%s %s: write a whole number from %lld to %lld", option, text, (long long)low,
              (long long)high);
    return false;
}

bool picture_take_view(talus_picture_def *def, const char *value) {
    int used = 0;
    double *v = def->view;
    if (sscanf(value, "%lf,%lf,%lf%n", &v[0], &v[1], &v[2], &used) == 3 && !value[used] &&
        isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]) &&
        (v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0))
        return true;
    cli_error("--view %s: write a direction as three numbers, not all 0, for example 0,1,-0.3",
              value);
    return false;
}

bool picture_take_colour(talus_picture_def *def, const char *value) {
    static const char *const known[] = {
#define PICTURE_COLOUR_TEXT(text, what) text,
        TALUS_PICTURE_COLOUR_LIST(PICTURE_COLOUR_TEXT)
#undef PICTURE_COLOUR_TEXT
    };
    cli_nearest nearest;
    cli_nearest_init(&nearest, value);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k], value) == 0) {
            def->colour = known[k];
            return true;
        }
        cli_nearest_offer(&nearest, known[k]);
    }
    cli_error_unknown("colour", value, nearest.best, "'talus help picture'");
    return false;
}

bool picture_take_threads(talus_picture_def *def, const char *value) {
    int64_t whole;
    if (!picture_whole("threads", value, 1, 256, &whole)) return false;
    def->threads = (int32_t)whole;
    return true;
}
