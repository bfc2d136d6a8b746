// SPDX-License-Identifier: Apache-2.0
// `talus picture`: frames of a recording as PNG files.
#define _GNU_SOURCE
#include "cli.h"
#include "picture.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PICTURE_OUT = 'o', // also -o
    PICTURE_FRAME = CLI_OPTION_FIRST,
    PICTURE_TIME,
    PICTURE_EVERY,
    PICTURE_SIZE,
    PICTURE_COLOUR,
    PICTURE_RANGE,
    PICTURE_FORCES,
    PICTURE_VIEW,
    PICTURE_DARK,
    PICTURE_CLEAR,
    PICTURE_THREADS,
};

const cli_option cli_picture_options[] = {
    {"out", "FILE.png", "the picture; default: name of the recording with .png, here", PICTURE_OUT},
    {"frame", "N", "which frame, counted from 0; -1 is the last (default), -2 the one before",
     PICTURE_FRAME},
    {"time", "T", "the frame nearest to this time [s]", PICTURE_TIME},
    {"every", "N", "each N-th frame, to FILE-0000.png, FILE-0001.png, … (for a film)",
     PICTURE_EVERY},
    {"size", "WxH", "pixels; default 1200x800", PICTURE_SIZE},
    {"colour", "NAME",
     "colour grains by speed (default), size, material, id; sand also by pressure, inertial; rods "
     "by strain",
     PICTURE_COLOUR},
    {"range", "LOW:HIGH", "values at the ends of the colour map; default: those of the pictures",
     PICTURE_RANGE},
    {"forces", NULL, "draw the forces of contacts", PICTURE_FORCES},
    {"view", "X,Y,Z", "direction looked along, in 3D; default obliquely from above", PICTURE_VIEW},
    {"dark", NULL, "on a dark ground", PICTURE_DARK},
    {"clear", NULL, "on a transparent ground", PICTURE_CLEAR},
    {"threads", "N", "threads; the picture is the same for any number; default 2", PICTURE_THREADS},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_picture_help[] =
    "RUN.h5 is a recording of `talus run`. Grains are drawn lit and with shadows, obstacles are\n"
    "translucent, the lines on the ground are a round number of metres apart. What the colours\n"
    "range over is printed.\n"
    "\n"
    "Examples:\n"
    "  talus picture column.h5\n"
    "  talus picture column.h5 --time 0.5 --forces -o forces.png\n"
    "  talus picture column.h5 --view 0,1,-0.2 --size 1920x1080 --colour size\n"
    "  talus picture column.h5 --every 1 -o film.png && \\\n"
    "      ffmpeg -i film-%04d.png -pix_fmt yuv420p column.mp4\n";

typedef struct picture_args {
    talus_picture_def def;
    char *out;
    int64_t frame, every; // every 0: one picture
    double time;          // NaN: by frame
} picture_args;

static bool picture_take_size(talus_picture_def *def, const char *value) {
    int used = 0, width = 0, height = 0;
    if (sscanf(value, "%5dx%5d%n", &width, &height, &used) != 2 || value[used] || width < 1 ||
        height < 1 || width > 16384 || height > 16384) {
        cli_error("--size %s: write width and height in pixels, at most 16384, as 1200x800", value);
        return false;
    }
    def->width = width;
    def->height = height;
    return true;
}

static bool picture_take(void *user, int id, const char *value) {
    picture_args *args = user;
    int used = 0;
    char *end;
    switch (id) {
    case PICTURE_OUT:
        free(args->out);
        args->out = cli_text("%s", value);
        return true;
    case PICTURE_FRAME:
        return picture_whole("frame", value, INT64_MIN, INT64_MAX, &args->frame);
    case PICTURE_EVERY:
        return picture_whole("every", value, 1, INT64_MAX, &args->every);
    case PICTURE_TIME:
        args->time = strtod(value, &end);
        if (*value && !*end && isfinite(args->time)) return true;
        cli_error("--time %s: write a number of seconds", value);
        return false;
    case PICTURE_SIZE:
        return picture_take_size(&args->def, value);
    case PICTURE_COLOUR:
        return picture_take_colour(&args->def, value);
    case PICTURE_RANGE:
        if (sscanf(value, "%lf:%lf%n", &args->def.low, &args->def.high, &used) == 2 &&
            !value[used] && args->def.low < args->def.high)
            return true;
        cli_error("--range %s: write two numbers, the lower one first, as 0:1.5", value);
        return false;
    case PICTURE_FORCES:
        args->def.forces = true;
        return true;
    case PICTURE_VIEW:
        return picture_take_view(&args->def, value);
    case PICTURE_DARK:
        args->def.dark = true;
        return true;
    case PICTURE_CLEAR:
        args->def.clear = true;
        return true;
    case PICTURE_THREADS:
        return picture_take_threads(&args->def, value);
    default:
        return false;
    }
}

// The frame that is asked for; −1 after a message.
static int64_t picture_choose(const picture_args *args, picture_reel *reel) {
    const int64_t frames = reel->info.frames;
    if (!isnan(args->time)) {
        int64_t best = 0;
        double *time = cli_alloc((size_t)frames, sizeof *time);
        if (talus_playback_times(reel->playback, 0, frames, time, NULL) != TALUS_OK) {
            cli_error("%s", talus_context_last_error(reel->ctx));
            best = -1;
        }
        for (int64_t f = 1; best >= 0 && f < frames; f++)
            if (fabs(time[f] - args->time) < fabs(time[best] - args->time)) best = f;
        free(time);
        return best;
    }
    const int64_t frame = args->frame < 0 ? frames + args->frame : args->frame;
    if (frame >= 0 && frame < frames) return frame;
    cli_error("%s: there is no frame %lld; it has %lld, counted from 0", reel->path,
              (long long)args->frame, (long long)frames);
    return -1;
}

static bool picture_film(picture_args *args, picture_reel *reel) {
    const size_t stem = strlen(args->out) - strlen(".png");
    int number = 0;
    for (int64_t f = 0; f < reel->info.frames; f += args->every) {
        char *path = cli_text("%.*s-%04d.png", (int)stem, args->out, number++);
        const bool good = picture_write(reel, f, &args->def, path);
        free(path);
        if (!good) return false;
    }
    printf("%s: %d pictures, %.*s-0000.png to %.*s-%04d.png\n", reel->path, number, (int)stem,
           args->out, (int)stem, args->out, number - 1);
    return true;
}

static bool picture_make(picture_args *args, picture_reel *reel) {
    double box[6];
    talus_picture_def *def = &args->def;
    const int64_t frame = args->every > 0 ? 0 : picture_choose(args, reel);
    if (frame < 0) return false;
    // pictures of a film are to be alike: the same box and colours for all
    int64_t some[PICTURE_LOOKS];
    const int count = args->every > 0 ? picture_spread(reel->info.frames, some) : 1;
    if (args->every <= 0) some[0] = frame;
    if (!picture_agree(reel, some, count, def, box)) return false;
    const bool kinds = def->low == 0.0 && def->high == 0.0;
    if (args->every > 0) {
        if (!picture_film(args, reel)) return false;
    } else {
        talus_moment m;
        if (!picture_moment(reel, frame, &m)) return false;
        const double time = m.time;
        if (!picture_write(reel, frame, def, args->out)) return false;
        printf("%s: frame %lld, t = %.6g s\n", args->out, (long long)frame, time);
    }
    const char *by = def->colour ? def->colour : "speed";
    if (!kinds)
        printf("colour: %s from %.4g to %.4g %s\n", by, def->low, def->high,
               strcmp(by, "size") == 0 ? "m" : "m/s");
    return true;
}

int cli_picture(const cli_verb *verb, int argc, char **argv) {
    picture_args args = {.def = talus_picture_default(), .frame = -1, .time = NAN};
    picture_reel reel = {0};
    bool help = false;
    args.def.threads = 2;
    int code = cli_parse(verb, argc, argv, picture_take, &args, &help);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (code == CLI_DONE && optind + 1 != argc) {
        cli_error("picture needs one recording, not %d: 'talus picture RUN.h5'", argc - optind);
        code = CLI_USAGE;
    } else if (code == CLI_DONE) {
        if (!args.out) args.out = picture_name(argv[optind], ".png");
        const size_t length = strlen(args.out);
        if (length < 5 || strcmp(args.out + length - 4, ".png") != 0) {
            cli_error("--out %s: pictures are PNG files, write a name that ends in .png", args.out);
            code = CLI_USAGE;
        } else {
            const bool good = picture_open(&reel, argv[optind]) && picture_make(&args, &reel);
            code = good && cli_flush() ? CLI_DONE : CLI_FAILED;
        }
    }
    picture_close(&reel);
    free(args.out);
    return code;
}
