// SPDX-License-Identifier: Apache-2.0
// `talus invert`: natural curvatures with which the rods of a scene rest where they lie.
#define _GNU_SOURCE
#include "cli.h"
#include "talus/scene.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVERT_OUT = 'o', // also -o
    INVERT_WISH = CLI_OPTION_FIRST,
    INVERT_REACH,
    INVERT_REGULAR,
    INVERT_CHECK,
    INVERT_SET,
    INVERT_JSON,
};

const cli_option cli_invert_options[] = {
    {"out", "FILE.txt", "the curvatures; default: name of the scene with -natural.txt, here",
     INVERT_OUT},
    {"wish", "NAME", "the natural shape they are to be near: placed (default), tip, straight",
     INVERT_WISH},
    {"reach", "LENGTH", "surfaces nearer than this touch [m]; default a twentieth of a radius",
     INVERT_REACH},
    {"regular", "X", "weight of contact forces beside curvatures; default 1e-8", INVERT_REGULAR},
    {"check", "T", "simulate T seconds with and without, and tell how far nodes went",
     INVERT_CHECK},
    {"set", "KEY=VALUE", "override a key of the scene; may be given again", INVERT_SET},
    {"json", NULL, "one JSON object in place of the text", INVERT_JSON},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_invert_help[] =
    "The rods of the scene are taken to be at rest where the scene puts them, under gravity and "
    "the\n"
    "forces of friction at their contacts. Natural curvatures are found for which that is true: "
    "of\n"
    "all those that friction allows the ones nearest to a wish (the shape as placed, the "
    "curvature\n"
    "of the tip everywhere, or a straight rod). Rods must be of the model helix, with at least "
    "two\n"
    "segments to a piece, their start clamped; bodies must not move freely.\n"
    "\n"
    "FILE.txt is what 'natural: {file: FILE.txt}' of a scene's rods reads. Where several entries "
    "of\n"
    "'rods' have names there is a file for each, FILE-NAME.txt.\n"
    "\n"
    "Examples:\n"
    "  talus invert groom.yaml --check 1\n"
    "  talus invert groom.yaml --wish straight -o straight.txt\n";

typedef struct invert_args {
    talus_invert_def def;
    const char *out;
    const char **set;
    int32_t set_count;
    double check; // 0: no
    bool json;
} invert_args;

static bool invert_take_number(const char *name, const char *value, double *out) {
    char *end;
    *out = strtod(value, &end);
    if (end != value && !*end && isfinite(*out) && *out > 0.0) return true;
    cli_error("--%s %s: must be a number > 0", name, value);
    return false;
}

static bool invert_take_wish(const char *value, talus_wish *out) {
    cli_nearest nearest;
    cli_nearest_init(&nearest, value);
    for (talus_wish w = TALUS_WISH_PLACED; w <= TALUS_WISH_STRAIGHT; w++) {
        if (strcmp(value, talus_wish_text(w)) == 0) {
            *out = w;
            return true;
        }
        cli_nearest_offer(&nearest, talus_wish_text(w));
    }
    cli_error_unknown("wish", value, nearest.best, "'talus invert --help'");
    return false;
}

static bool invert_take(void *user, int id, const char *value) {
    invert_args *a = user;
    switch (id) {
    case INVERT_OUT:
        a->out = value;
        return true;
    case INVERT_WISH:
        return invert_take_wish(value, &a->def.wish);
    case INVERT_REACH:
        return invert_take_number("reach", value, &a->def.reach);
    case INVERT_REGULAR:
        return invert_take_number("regular", value, &a->def.regular);
    case INVERT_CHECK:
        return invert_take_number("check", value, &a->check);
    case INVERT_SET:
        a->set = cli_grow(a->set, (size_t)a->set_count + 1, sizeof *a->set);
        a->set[a->set_count++] = value;
        return true;
    default:
        a->json = true;
        return true;
    }
}

// ---- the file
// ------------------------------------------------------------------------------------

static void invert_print_rows(FILE *file, const double *value, int32_t rows) {
    for (int32_t k = 0; k < rows; k++) {
        char text[3][40];
        for (int i = 0; i < 3; i++) cli_number(text[i], value[3 * (int64_t)k + i]);
        (void)fprintf(file, "%s %s %s\n", text[0], text[1], text[2]);
    }
}

// Rods from `first` to the one before `last`.
static bool invert_write(const talus_world *w, int32_t first, int32_t last, const char *path) {
    talus_rod_def rod;
    FILE *file = fopen(path, "w");
    bool fine = file != NULL;
    if (fine) {
        (void)fprintf(file,
                      "# Natural curvatures and twists [1/m] of the inner nodes of %d rods, then "
                      "the first\n# material axes of their segments; for 'natural: {file: …}'.\n",
                      (int)(last - first));
        for (int32_t i = first; i < last && talus_world_rod_at(w, i, &rod); i++)
            invert_print_rows(file, rod.curvature, rod.nodes - 2);
        for (int32_t i = first; i < last && talus_world_rod_at(w, i, &rod); i++)
            invert_print_rows(file, rod.director, rod.nodes - 1);
        fine = !ferror(file);
        fine = fclose(file) == 0 && fine;
    }
    if (!fine) cli_error("%s: cannot be written: %s", path, strerror(errno));
    return fine;
}

// A file for all rods, or for each run of rods of one name; *out then says so.
static bool invert_write_all(const talus_scene *s, const talus_world *w, char **inout) {
    const char *out = *inout;
    const int32_t rods = talus_world_rods(w).rods;
    const char *dot = strrchr(out, '.');
    const int stem = dot && !strchr(dot, '/') ? (int)(dot - out) : (int)strlen(out);
    bool several = false, fine = true;
    for (int32_t i = 1; i < rods; i++)
        several |= strcmp(talus_scene_rod_name(s, i), talus_scene_rod_name(s, 0)) != 0;
    for (int32_t first = 0, last; fine && first < rods; first = last) {
        const char *name = talus_scene_rod_name(s, first);
        last = first + 1;
        while (last < rods && strcmp(talus_scene_rod_name(s, last), name) == 0) last++;
        char *path =
            several ? cli_text("%.*s-%s%s", stem, out, name, out + stem) : cli_text("%s", out);
        fine = invert_write(w, first, last, path);
        free(path);
    }
    if (several) {
        char *all = cli_text("%.*s-NAME%s", stem, out, out + stem);
        free(*inout);
        *inout = all;
    }
    return fine;
}

// Pieces without a node inside take their curvature from other pieces' nodes, and would not get
// theirs back.
static bool invert_can_write(const talus_world *w) {
    talus_rod_def rod;
    for (int32_t i = 0; talus_world_rod_at(w, i, &rod); i++) {
        const int32_t pieces = rod.pieces > 0 ? rod.pieces : rod.nodes - 1;
        if (rod.kind != TALUS_ROD_HELIX || 2 * pieces < rod.nodes) continue;
        cli_error("rod %d has %d pieces on %d nodes: a file can hold curvatures of at most %d; "
                  "give 'pieces: %d' or more nodes",
                  (int)i, (int)pieces, (int)rod.nodes, (int)(rod.nodes - 1) / 2,
                  (int)(rod.nodes - 1) / 2);
        return false;
    }
    return true;
}

// ---- the check
// -----------------------------------------------------------------------------------

// Largest way of a node in `seconds`; < 0 after a message.
static double invert_drift(talus_context *ctx, const talus_scene *s, talus_world *w,
                           double seconds) {
    const talus_rod_view begin = talus_world_rods(w);
    const size_t count = 3 * (size_t)begin.start[begin.rods];
    double *from = cli_alloc(count, sizeof *from), worst = 0.0;
    memcpy(from, begin.position, count * sizeof *from);
    while (worst >= 0.0 && talus_world_time(w) < seconds) {
        if (talus_scene_advance(s, w) == TALUS_OK && talus_world_step(w, NULL) == TALUS_OK)
            continue;
        cli_error("%s", talus_context_last_error(ctx));
        worst = -1.0;
    }
    const talus_rod_view end = talus_world_rods(w);
    for (size_t k = 0; k < count && worst >= 0.0; k += 3) {
        const double *a = from + k, *b = end.position + k;
        worst = fmax(worst, sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                                 (a[2] - b[2]) * (a[2] - b[2])));
    }
    free(from);
    return worst;
}

// ---- the verb
// ------------------------------------------------------------------------------------

static void invert_print(const invert_args *a, const talus_invert_info *info, const char *out,
                         const double drift[2]) {
    if (a->json) {
        const struct {
            const char *key;
            double value;
        } number[] = {{"rods", info->rods},
                      {"contacts", info->contacts},
                      {"iterations", info->iterations},
                      {"residual", info->residual},
                      {"change", info->change},
                      {"alone", info->alone},
                      {"force", info->force},
                      {"balance", info->balance},
                      {"drift", drift[1]},
                      {"drift_without", drift[0]}};
        printf("{");
        cli_json_key(stdout, "file", true);
        cli_json_string(stdout, out);
        for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
            cli_json_key(stdout, number[k].key, false);
            cli_json_number(stdout, number[k].value);
        }
        puts("}");
        return;
    }
    printf("%d rods rest with these natural curvatures: %s\n", (int)info->rods, out);
    printf("  contacts     %d, the largest force %.3g N; %s after %d iterations, residual %.1e\n",
           (int)info->contacts, info->force, talus_outcome_text(info->outcome),
           (int)info->iterations, info->residual);
    printf("  curvatures   %.3g /m from those wished for on the mean; %.3g /m if the contacts bore "
           "nothing\n",
           info->change, info->alone);
    printf("  balance      %.1e of the weight is left\n", info->balance);
    if (a->check > 0.0)
        printf("  check        in %g s nodes move by up to %.3g m; without, by %.3g m\n", a->check,
               drift[1], drift[0]);
}

static char *invert_default_out(const char *scene) {
    const char *slash = strrchr(scene, '/'), *name = slash ? slash + 1 : scene;
    const char *dot = strrchr(name, '.');
    return cli_text("%.*s-natural.txt", dot ? (int)(dot - name) : (int)strlen(name), name);
}

static int invert_run(invert_args *a, talus_context *ctx, const char *path) {
    talus_scene *s = NULL;
    talus_world *w = NULL, *other = NULL;
    talus_invert_info info = {0};
    double drift[2] = {NAN, NAN};
    char *out = a->out ? cli_text("%s", a->out) : invert_default_out(path);
    int result = CLI_FAILED;
    if (talus_scene_read(ctx, path, a->set, a->set_count, &s) != TALUS_OK ||
        talus_scene_make_world(s, &w) != TALUS_OK ||
        talus_world_invert_rods(w, &a->def, &info) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(ctx));
        goto done;
    }
    if (!invert_can_write(w) || !invert_write_all(s, w, &out)) goto done;
    if (a->check > 0.0) {
        if (talus_scene_make_world(s, &other) != TALUS_OK) {
            cli_error("%s", talus_context_last_error(ctx));
            goto done;
        }
        drift[0] = invert_drift(ctx, s, other, a->check);
        drift[1] = drift[0] < 0.0 ? -1.0 : invert_drift(ctx, s, w, a->check);
        if (drift[1] < 0.0) goto done;
    }
    invert_print(a, &info, out, drift);
    result = cli_flush() && info.outcome == TALUS_OUTCOME_SOLVED ? CLI_DONE : CLI_FAILED;
done:
    talus_world_destroy(other);
    talus_world_destroy(w);
    talus_scene_destroy(s);
    free(out);
    return result;
}

int cli_invert(const cli_verb *verb, int argc, char **argv) {
    invert_args a = {.def = talus_invert_default()};
    talus_context *ctx = NULL;
    bool help = false;
    int result = cli_parse(verb, argc, argv, invert_take, &a, &help);
    if (result == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (result == CLI_DONE && argc - optind != 1) {
        cli_error("one scene at a time; '%s' is one too many", argv[optind + 1]);
        result = CLI_USAGE;
    } else if (result == CLI_DONE) {
        if (talus_context_create(NULL, &ctx) != TALUS_OK) {
            cli_error("out of memory");
            result = CLI_FAILED;
        } else {
            result = invert_run(&a, ctx, argv[optind]);
        }
    }
    talus_context_destroy(ctx);
    free(a.set);
    return result;
}
