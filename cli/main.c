// SPDX-License-Identifier: Apache-2.0
// The program: finds the verb and runs it. A new verb is one file cmd_<verb>.c and one row here.
#define _GNU_SOURCE
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const cli_verb cli_verbs[] = {
    {"run", "simulate a scene and write a recording", "SCENE.yaml [OPTION]...", cli_run_options,
     cli_run_help, cli_run},
    {"resume", "go on with a run that was stopped, bit for bit", "RUN.h5 [OPTION]...",
     cli_resume_options, cli_resume_help, cli_resume},
    {"export", "write a recording as files for ParaView, spreadsheets and solvers",
     "RUN.h5 [OPTION]...", cli_export_options, cli_export_help, cli_export},
    {"analyse", "measure grains and contacts of a recording: tables as text, CSV or JSON",
     "RUN.h5 [SUBJECT]... [OPTION]...", cli_analyse_options, cli_analyse_help, cli_analyse},
    {"report", "write a page about a recording, or compare several", "RUN.h5... [OPTION]...",
     cli_report_options, cli_report_help, cli_report},
    {"picture", "draw frames of a recording as PNG files", "RUN.h5 [OPTION]...",
     cli_picture_options, cli_picture_help, cli_picture},
    {"view", "look at a recording or a scene in the browser", "RUN.h5|SCENE.yaml [OPTION]...",
     cli_view_options, cli_view_help, cli_view},
    {"invert", "find natural curvatures with which the rods of a scene rest where they lie",
     "SCENE.yaml [OPTION]...", cli_invert_options, cli_invert_help, cli_invert},
    {"solve", "solve friction problems from files and certify the answers",
     "FILE|DIR... [OPTION]...", cli_solve_options, cli_solve_help, cli_solve},
    {"bench", "compare solvers on problems from files: a table, and a page with profiles",
     "FILE|DIR... [OPTION]...", cli_bench_options, cli_bench_help, cli_bench},
    {"reproduce", "run published experiments and print measured beside published",
     "[NAME]... [OPTION]...", cli_reproduce_options, cli_reproduce_help, cli_reproduce},
    {"help", "explain a verb, the solvers, or one solver and its options", "[TOPIC]", NULL,
     cli_help_help, cli_help},
    {0},
};

const cli_verb *cli_find_verb(const char *name) {
    for (const cli_verb *v = cli_verbs; v->name; v++) {
        if (strcmp(v->name, name) == 0) return v;
    }
    return NULL;
}

// A process started with stdin, stdout or stderr closed would give their numbers to the next file
// it opens, and rows would be printed into a problem file. Occupy them; stdout for reading only, so
// that printing fails as it should.
static void main_occupy_streams(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
        const int got = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
        if (got != fd) _exit(CLI_FAILED);
    }
}

static int main_unknown(const char *word) {
    cli_nearest nearest;
    cli_nearest_init(&nearest, word);
    if (word[0] == '-') {
        cli_nearest_offer(&nearest, "--help");
        cli_nearest_offer(&nearest, "--version");
        cli_nearest_offer(&nearest, "--json");
        cli_error_unknown("option", word, nearest.best, "'talus --help'");
    } else {
        for (const cli_verb *v = cli_verbs; v->name; v++) cli_nearest_offer(&nearest, v->name);
        cli_error_unknown("verb", word, nearest.best, "'talus --help'");
    }
    return CLI_USAGE;
}

// What stands before any verb: --help and --version [--json], in any order.
static int main_options(int argc, char **argv) {
    bool help = false, version = false, json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help = true;
        } else if (strcmp(argv[i], "--version") == 0) {
            version = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else {
            return main_unknown(argv[i]);
        }
    }
    if (help) {
        cli_print_overview(stdout);
    } else if (version) {
        cli_print_version(json);
    } else {
        cli_error("--json goes with --version or after a verb ('talus --help' shows how)");
        return CLI_USAGE;
    }
    return CLI_DONE;
}

int main(int argc, char **argv) {
    main_occupy_streams();
    signal(SIGPIPE, SIG_IGN); // a closed pipe is reported as any other failed write is
    int code;
    if (argc < 2) {
        cli_print_overview(stderr);
        return CLI_USAGE;
    }
    const cli_verb *verb = cli_find_verb(argv[1]);
    if (verb) {
        code = verb->run(verb, argc - 1, argv + 1);
    } else if (argv[1][0] == '-') {
        code = main_options(argc, argv);
    } else {
        code = main_unknown(argv[1]);
    }
    if (!cli_flush() && code == CLI_DONE) code = CLI_FAILED;
    return code;
}
