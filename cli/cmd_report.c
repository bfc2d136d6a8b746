// SPDX-License-Identifier: Apache-2.0
// `talus report`: a page about a recording, or several side by side.
#define _GNU_SOURCE
#include "bench.h" // bench_escape
#include "page.h"
#include "report.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPORT_OUT = 'o', // also -o
    REPORT_COLOUR = CLI_OPTION_FIRST,
    REPORT_VIEW,
    REPORT_WIDTH,
    REPORT_THREADS,
    REPORT_QUIET,
};

const cli_option cli_report_options[] = {
    {"out", "FILE.html", "the page; default: name of the recording with .html, here", REPORT_OUT},
    {"colour", "NAME",
     "colour grains by speed (default), size, material, id; sand also by pressure, inertial; rods "
     "by strain",
     REPORT_COLOUR},
    {"view", "X,Y,Z", "direction looked along, in 3D; default obliquely from above", REPORT_VIEW},
    {"width", "N", "of the pictures, in pixels; default 760", REPORT_WIDTH},
    {"threads", "N", "threads for pictures; the page is the same for any number; default 2",
     REPORT_THREADS},
    {"quiet", NULL, "say nothing", REPORT_QUIET},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_report_help[] =
    "RUN.h5 is a recording of `talus run`, finished or not. The page is one file that needs\n"
    "nothing else: what was run, on what machine and for how long; pictures of the first, middle\n"
    "and last frame, and of the forces; energy, contacts, solver and certificate over time;\n"
    "observables; the text of the scene. It prints well.\n"
    "\n"
    "With several recordings (up to 8) the page compares them: facts side by side with\n"
    "differences marked, pictures with the same view and colours, curves in common plots.\n"
    "\n"
    "Examples:\n"
    "  talus report column.h5\n"
    "  talus report smooth.h5 rough.h5 -o friction.html\n";

typedef struct report_args {
    talus_picture_def picture;
    const char *out;
    bool quiet;
} report_args;

static bool report_take(void *user, int id, const char *value) {
    report_args *args = user;
    int64_t whole;
    switch (id) {
    case REPORT_OUT:
        args->out = value;
        return true;
    case REPORT_COLOUR:
        return picture_take_colour(&args->picture, value);
    case REPORT_VIEW:
        return picture_take_view(&args->picture, value);
    case REPORT_WIDTH:
        if (!picture_whole("width", value, 16, 4096, &whole)) return false;
        args->picture.width = (int32_t)whole;
        return true;
    case REPORT_THREADS:
        return picture_take_threads(&args->picture, value);
    case REPORT_QUIET:
        args->quiet = true;
        return true;
    default:
        return false;
    }
}

static void report_write_head(FILE *stream, const report *r) {
    const char *title = r->run[0].reel.info.title;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          stream);
    bench_escape(stream, *title ? title : r->run[0].label);
    fputs("</title>\n<style>", stream);
    fputs(cli_page_plot_css, stream);
    fputs(cli_page_bench_css, stream);
    fputs(cli_page_report_css, stream);
    fputs("</style></head><body>\n<h1>", stream);
    if (r->runs == 1) {
        bench_escape(stream, *title ? title : r->run[0].label);
    } else {
        for (int k = 0; k < r->runs; k++) {
            fputs(k > 0 ? " and " : "", stream);
            bench_escape(stream, r->run[k].label);
        }
    }
    fputs("</h1>\n", stream);
}

static bool report_write(FILE *stream, report *r, const report_args *args) {
    report_write_head(stream, r);
    report_write_facts(stream, r);
    if (!report_write_pictures(stream, r, &args->picture) || !report_write_ledger(stream, r))
        return false;
    report_write_tables(stream, r);
    report_write_scenes(stream, r);
    char *facts = cli_facts();
    fputs("<footer class=\"soft\">Page made by ", stream);
    bench_escape(stream, facts);
    fputs("</footer>\n</body></html>\n", stream);
    free(facts);
    return true;
}

// The page goes to a file of its own that takes the name when it is whole.
static bool report_make(const report_args *args, report *r, const char *out) {
    char *part = cli_text("%s.part", out);
    FILE *stream = fopen(part, "w");
    bool good = stream != NULL, failed = !good;
    if (stream) {
        good = report_write(stream, r, args);
        failed = ferror(stream) != 0;
        if (fclose(stream) != 0) failed = true;
    }
    if (good && !failed && rename(part, out) != 0) failed = true;
    if (failed) cli_error("--out %s: cannot be written: %s", out, strerror(errno));
    if (stream && (failed || !good)) (void)remove(part);
    free(part);
    return good && !failed;
}

int cli_report(const cli_verb *verb, int argc, char **argv) {
    report_args args = {.picture = talus_picture_default()};
    report r = {0};
    bool help = false;
    args.picture.width = 760;
    args.picture.threads = 2;
    args.picture.clear = true;
    int code = cli_parse(verb, argc, argv, report_take, &args, &help);
    if (code != CLI_DONE) return code;
    if (help) {
        cli_print_verb(verb, stdout);
        return CLI_DONE;
    }
    const int count = argc - optind;
    if (count > REPORT_RUNS) {
        cli_error("report compares at most %d recordings, not %d", REPORT_RUNS, count);
        return CLI_USAGE;
    }
    char *out = args.out     ? cli_text("%s", args.out)
                : count == 1 ? picture_name(argv[optind], ".html")
                             : cli_text("report.html");
    for (int k = optind; k < argc; k++)
        if (strcmp(argv[k], out) == 0) {
            cli_error("--out %s: is the recording itself; choose another name", out);
            code = CLI_USAGE;
        }
    if (code == CLI_DONE) {
        const bool good = report_open(&r, argv + optind, count) && report_make(&args, &r, out);
        if (good && !args.quiet) printf("%s\n", out);
        code = good && cli_flush() ? CLI_DONE : CLI_FAILED;
    }
    report_close(&r);
    free(out);
    return code;
}
