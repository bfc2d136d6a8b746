// SPDX-License-Identifier: Apache-2.0
// `talus analyse`: what a recording tells about its grains.
#define _GNU_SOURCE
#include "analyse.h"
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANALYSE_OUT = 'o', // also -o
    ANALYSE_FROM = CLI_OPTION_FIRST,
    ANALYSE_UNTIL,
    ANALYSE_EVERY,
    ANALYSE_AVERAGE,
    ANALYSE_REGION,
    ANALYSE_UP,
    ANALYSE_BINS,
    ANALYSE_WIDTH,
    ANALYSE_CELL,
    ANALYSE_RANGE,
    ANALYSE_PLANE,
    ANALYSE_WALL,
    ANALYSE_TABLE,
    ANALYSE_CSV,
    ANALYSE_JSON,
};

const cli_option cli_analyse_options[] = {
    {"from", "T", "first time, in s", ANALYSE_FROM},
    {"until", "T", "last time, in s", ANALYSE_UNTIL},
    {"every", "N", "only each N-th frame, counted back from the last", ANALYSE_EVERY},
    {"average", "N", "profiles, fields and distributions over the last N frames, not the last one",
     ANALYSE_AVERAGE},
    {"region", "BOX", "where to measure, in m: x=-1:1,z=0:0.5; a side may be left open (x=0:)",
     ANALYSE_REGION},
    {"up", "AXIS", "axis of heights: x, y or z; default: against gravity", ANALYSE_UP},
    {"bins", "N", "of profiles and distributions; default 40", ANALYSE_BINS},
    {"width", "W", "of coarse-graining, in m; default: mean diameter", ANALYSE_WIDTH},
    {"cell", "A", "edge of the cells of fields and deposits, in m; default: the width",
     ANALYSE_CELL},
    {"range", "R", "of the pair correlation, in m; default: five diameters", ANALYSE_RANGE},
    {"plane", "PLANE", "for discharge: z=0.1 counts what passes downwards, +z=0.1 upwards",
     ANALYSE_PLANE},
    {"wall", "NAME", "for walls: only this obstacle, by name or number", ANALYSE_WALL},
    {"table", "NAME", "show only this table; may be repeated", ANALYSE_TABLE},
    {"csv", NULL, "all rows as CSV in place of the overview", ANALYSE_CSV},
    {"out", "DIR", "write one CSV file per table there", ANALYSE_OUT},
    {"json", NULL, "one JSON object in place of the overview", ANALYSE_JSON},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_analyse_help[] =
    "Measures what is asked for, or everything, on the frames of a recording. SUBJECT is one of\n"
    "those that 'talus help observables' lists. Series have a row for each frame; profiles,\n"
    "fields and distributions are those of the last frame, or means over several.\n"
    "\n"
    "The region is, along periodic axes, the whole cell, and else the box around the grains at\n"
    "each moment. docs/guide/analyse.md has the definition of every number.\n"
    "\n"
    "Exit status: 0 done, 1 the recording cannot be read or lacks what is asked for, 2 wrong\n"
    "usage.\n"
    "\n"
    "Examples:\n"
    "  talus analyse run.h5\n"
    "  talus analyse run.h5 stress coordination --from 1 --csv\n"
    "  talus analyse run.h5 profile --average 50 --bins 20 --region x=-0.1:0.1 -o profiles\n"
    "  talus analyse silo.h5 discharge --plane z=0 --json\n";

static bool cmd_number(const char *text, const char *option, double *out) {
    char *end = NULL;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*out)) return true;
    cli_error("--%s %s: must be a number", option, text);
    return false;
}

static bool cmd_length(const char *text, const char *option, double *out) {
    if (!cmd_number(text, option, out)) return false;
    if (*out > 0.0) return true;
    cli_error("--%s %s: must be greater than 0", option, text);
    return false;
}

static bool cmd_count(const char *text, const char *option, int64_t most, int64_t *out) {
    char *end = NULL;
    *out = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && *out >= 1 && *out <= most) return true;
    cli_error("--%s %s: must be a whole number from 1 to %lld", option, text, (long long)most);
    return false;
}

static int cmd_axis(char letter) {
    const char *at = letter ? strchr("xyz", tolower((unsigned char)letter)) : NULL;
    return at ? (int)(at - "xyz") : -1;
}

// One side of a box: empty is open.
static bool cmd_side(const char *text, double *out) {
    char *end = NULL;
    *out = NAN;
    if (text[0] == '\0') return true;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

// x=a:b,y=c:d,…
static bool cmd_region(const char *text, talus_region *out) {
    char *copy = cli_text("%s", text), *rest = NULL;
    bool ok = copy[0] != '\0';
    for (char *w = strtok_r(copy, ",", &rest); w && ok; w = strtok_r(NULL, ",", &rest)) {
        const int axis = cmd_axis(w[0]);
        char *colon = strchr(w, ':');
        ok = axis >= 0 && w[1] == '=' && colon;
        if (!ok) break;
        *colon = '\0';
        ok = cmd_side(w + 2, &out->low[axis]) && cmd_side(colon + 1, &out->high[axis]) &&
             !(out->low[axis] >= out->high[axis]);
    }
    free(copy);
    if (!ok)
        cli_error("--region %s: write AXIS=FROM:TO with FROM below TO, for example "
                  "x=-0.1:0.1,z=0:0.5",
                  text);
    return ok;
}

static bool cmd_plane(const char *text, talus_analyse_def *def) {
    const char *s = text;
    char *end = NULL;
    def->plane_up = *s == '+';
    s += *s == '+' || *s == '-';
    def->plane_axis = cmd_axis(*s);
    if (def->plane_axis >= 0 && s[1] == '=') {
        def->plane_level = strtod(s + 2, &end);
        if (end != s + 2 && *end == '\0' && isfinite(def->plane_level)) return true;
    }
    cli_error("--plane %s: write AXIS=LEVEL, for example z=0.1, or +z=0.1 for what goes upwards",
              text);
    return false;
}

static bool cmd_take(void *user, int id, const char *value) {
    analyse_setup *setup = user;
    talus_analyse_def *d = &setup->def;
    int64_t bins = 0;
    switch (id) {
    case ANALYSE_OUT:
        setup->out = value;
        return true;
    case ANALYSE_FROM:
        return cmd_number(value, "from", &d->from);
    case ANALYSE_UNTIL:
        return cmd_number(value, "until", &d->until);
    case ANALYSE_EVERY:
        return cmd_count(value, "every", INT64_MAX, &d->every);
    case ANALYSE_AVERAGE:
        return cmd_count(value, "average", INT64_MAX, &d->average);
    case ANALYSE_REGION:
        return cmd_region(value, &d->region);
    case ANALYSE_UP:
        d->region.up = value[0] && !value[1] ? cmd_axis(value[0]) : -1;
        if (d->region.up < 0) cli_error("--up %s: must be x, y or z", value);
        return d->region.up >= 0;
    case ANALYSE_BINS:
        if (!cmd_count(value, "bins", 100000, &bins)) return false;
        d->bins = (int32_t)bins;
        return true;
    case ANALYSE_WIDTH:
        return cmd_length(value, "width", &d->width);
    case ANALYSE_CELL:
        return cmd_length(value, "cell", &d->cell);
    case ANALYSE_RANGE:
        return cmd_length(value, "range", &d->range);
    case ANALYSE_PLANE:
        return cmd_plane(value, d);
    case ANALYSE_WALL:
        d->wall = value;
        return true;
    case ANALYSE_TABLE:
        setup->table = cli_grow(setup->table, (size_t)setup->table_count + 1, sizeof *setup->table);
        setup->table[setup->table_count++] = value;
        return true;
    case ANALYSE_CSV:
        setup->csv = true;
        return true;
    case ANALYSE_JSON:
        setup->json = true;
        return true;
    default:
        return false;
    }
}

static bool cmd_is_subject(const char *name) {
    talus_subject subject;
    cli_nearest nearest;
    cli_nearest_init(&nearest, name);
    for (int32_t k = 0; talus_subject_at(k, &subject); k++) {
        if (strcmp(subject.name, name) == 0) return true;
        cli_nearest_offer(&nearest, subject.name);
    }
    cli_error_unknown("subject", name, nearest.best, "'talus help observables'");
    return false;
}

// Tables asked for by name must be there.
static int cmd_check_tables(const analyse_setup *setup, const talus_tables *tables) {
    for (int i = 0; i < setup->table_count; i++) {
        talus_table t;
        cli_nearest nearest;
        bool found = false;
        cli_nearest_init(&nearest, setup->table[i]);
        for (int32_t k = 0; talus_tables_at(tables, k, &t) && !found; k++) {
            found = strcmp(t.name, setup->table[i]) == 0;
            cli_nearest_offer(&nearest, t.name);
        }
        if (found) continue;
        char *list = cli_text("'talus analyse %s'", setup->path);
        cli_error_unknown("table", setup->table[i], nearest.best, list);
        free(list);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int cmd_measure(const analyse_setup *setup, talus_context *ctx) {
    talus_playback *playback = NULL;
    talus_tables *tables = NULL;
    int code = CLI_FAILED;
    if (talus_playback_open(ctx, setup->path, &playback) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(ctx));
    } else if (talus_analyse(playback, &setup->def, &tables) != TALUS_OK) {
        cli_error("%s: %s", setup->path, talus_context_last_error(ctx));
    } else {
        code = cmd_check_tables(setup, tables);
        if (code == CLI_DONE && setup->out) code = analyse_write_csv(setup, tables);
        if (code == CLI_DONE && setup->json)
            analyse_print_json(setup, tables);
        else if (code == CLI_DONE && setup->csv)
            analyse_print_csv(setup, tables);
        else if (code == CLI_DONE && !setup->out)
            analyse_print_text(setup, tables);
    }
    talus_tables_destroy(tables);
    talus_playback_close(playback);
    return code;
}

static int cmd_run(analyse_setup *setup, int argc, char **argv) {
    talus_context *ctx = NULL;
    setup->path = argv[optind];
    setup->what = cli_alloc((size_t)(argc - optind), sizeof *setup->what);
    for (int i = optind + 1; i < argc; i++) {
        if (!cmd_is_subject(argv[i])) return CLI_USAGE;
        setup->what[setup->def.what_count++] = argv[i];
    }
    setup->def.what = setup->what;
    if (setup->csv && setup->json) {
        cli_error("--csv and --json exclude each other");
        return CLI_USAGE;
    }
    if (talus_context_create(NULL, &ctx) != TALUS_OK) {
        cli_error("%s", talus_status_text(TALUS_ERR_MEMORY));
        return CLI_FAILED;
    }
    const int code = cmd_measure(setup, ctx);
    talus_context_destroy(ctx);
    return code;
}

int cli_analyse(const cli_verb *verb, int argc, char **argv) {
    analyse_setup setup = {.def = talus_analyse_default()};
    bool help = false;
    int code = cli_parse(verb, argc, argv, cmd_take, &setup, &help);
    if (code == CLI_DONE && help)
        cli_print_verb(verb, stdout);
    else if (code == CLI_DONE)
        code = cmd_run(&setup, argc, argv);
    free(setup.what);
    free(setup.table);
    return code;
}
