// SPDX-License-Identifier: Apache-2.0
// `talus help`: the verbs from the verb table, the solvers and their options from the library's
// tables. Nothing is written twice, so no page can be out of date.
#define _GNU_SOURCE
#include "cli.h"
#include "help.h"
#include "talus/talus.h"
#include <stdlib.h>
#include <string.h>

const char cli_help_help[] =
    "TOPIC is a verb, 'solvers', the name of a solver or the name of a one-contact solver, or\n"
    "'scene' for the keys of scene files; 'scene SECTION' shows a part of them; 'observables' for\n"
    "what can be measured.\n"
    "\n"
    "Examples:\n"
    "  talus help solve      the verb and its options\n"
    "  talus help solvers    all solvers, in one list\n"
    "  talus help nlgs       the options of a solver with defaults and ranges\n"
    "  talus help scene      every key of a scene file\n"
    "  talus help scene grains\n";

// Cells of a table while it is being filled.
typedef struct help_table {
    const char **cell;
    int rows, columns;
} help_table;

static void help_row(help_table *t, const char *const *cells) {
    const size_t columns = (size_t)t->columns, used = (size_t)t->rows * columns;
    t->cell = cli_grow(t->cell, used + columns, sizeof *t->cell);
    memcpy(t->cell + used, cells, columns * sizeof *cells);
    t->rows++;
}

static void help_print(help_table *t, FILE *stream, int limit) {
    cli_print_table(stream, t->cell, t->rows, t->columns, limit);
    free(t->cell);
    *t = (help_table){0};
}

void cli_print_overview(FILE *stream) {
    fputs("Talus simulates what touches, with exact Coulomb friction, and solves problems of "
          "contact.\n"
          "\n"
          "Usage: talus VERB [ARGUMENT]... [OPTION]...\n"
          "\n"
          "Verbs:\n",
          stream);
    help_table table = {.columns = 2};
    for (const cli_verb *v = cli_verbs; v->name; v++) {
        help_row(&table, (const char *[]){v->name, v->summary});
    }
    help_print(&table, stream, 24);
    fputs(
        "\n"
        "Examples:\n"
        "  talus solve problem.hdf5              solve one FCLIB problem, print its certificate\n"
        "  talus solve DIR --tol 1e-6 --json     all problems of a directory, one JSON object "
        "each\n"
        "  talus bench DIR                       all solvers on all of them, as a page to look at\n"
        "  talus run scene.yaml                  simulate a scene, write a recording\n"
        "  talus analyse scene.h5                solid fraction, stress, profiles, … of a "
        "recording\n"
        "  talus help solvers                    what there is to choose from\n"
        "\n"
        "'talus help VERB' explains a verb, 'talus --version' what this program was built from\n"
        "('--version --json' for machines).\n"
        "Exit status: 0 done, 1 failed or not solved, 2 wrong usage.\n",
        stream);
}

void cli_print_verb(const cli_verb *verb, FILE *stream) {
    fprintf(stream, "talus %s: %s\n\nUsage: talus %s %s\n", verb->name, verb->summary, verb->name,
            verb->usage);
    help_table table = {.columns = 2};
    int count = 0;
    for (const cli_option *o = verb->options; o && o->name; o++) count++;
    char **names = cli_alloc((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++) {
        const cli_option *o = &verb->options[i];
        const char letter[] = {'-', (char)o->id, ',', ' ', '\0'};
        names[i] = cli_text("%s--%s%s%s", o->id > 0 && o->id < CLI_OPTION_FIRST ? letter : "",
                            o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        help_row(&table, (const char *[]){names[i], o->text});
    }
    if (count > 0) {
        fputs("\nOptions:\n", stream);
        help_print(&table, stream, 28);
    }
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    fprintf(stream, "\n%s", verb->help);
}

static void help_solvers(void) {
    const char *name, *summary;
    fputs("Solvers (--solver NAME); 'talus help NAME' lists the options of one:\n", stdout);
    help_table table = {.columns = 2};
    for (int32_t i = 0; talus_solver_at(i, &name, &summary); i++) {
        help_row(&table, (const char *[]){name, summary});
    }
    help_print(&table, stdout, 24);
    fputs("\nOne-contact solvers (--local NAME), used by solvers with an option 'local':\n",
          stdout);
    table = (help_table){.columns = 2};
    for (int32_t i = 0; talus_local_solver_at(i, &name, &summary); i++) {
        help_row(&table, (const char *[]){name, summary});
    }
    help_print(&table, stdout, 24);
}

static bool help_solver(const char *topic) {
    const char *name, *summary;
    int32_t found = 0;
    while (talus_solver_at(found, &name, &summary) && strcmp(name, topic) != 0) found++;
    if (!talus_solver_at(found, &name, &summary)) return false;
    printf("%s: %s\n\nOptions, set by '--set KEY=VALUE' or '--%s.KEY VALUE':\n", name, summary,
           name);
    help_table table = {.columns = 4};
    help_row(&table, (const char *[]){"KEY", "DEFAULT", "RANGE", "MEANING"});
    int32_t count = 0;
    talus_option_info option;
    while (talus_solver_option_at(topic, count, &option)) count++;
    talus_option_info *options = cli_alloc((size_t)count, sizeof *options); // rows point into it
    for (int32_t i = 0; i < count; i++) {
        talus_solver_option_at(topic, i, &options[i]);
        help_row(&table, (const char *[]){options[i].key, options[i].initial, options[i].range,
                                          options[i].text});
    }
    help_print(&table, stdout, 26);
    free(options);
    printf("\nExample:\n  talus solve problem.hdf5 --solver %s\n", name);
    return true;
}

static bool help_local(const char *topic) {
    const char *name, *summary;
    for (int32_t i = 0; talus_local_solver_at(i, &name, &summary); i++) {
        if (strcmp(name, topic) != 0) continue;
        printf("%s (one-contact solver): %s\n\nExample:\n  talus solve problem.hdf5 --local %s\n",
               name, summary, name);
        return true;
    }
    return false;
}

static int help_unknown(const char *topic) {
    const char *name, *summary;
    cli_nearest nearest;
    cli_nearest_init(&nearest, topic);
    for (const cli_verb *v = cli_verbs; v->name; v++) cli_nearest_offer(&nearest, v->name);
    cli_nearest_offer(&nearest, "solvers");
    cli_nearest_offer(&nearest, "scene");
    cli_nearest_offer(&nearest, "observables");
    for (int32_t i = 0; talus_solver_at(i, &name, &summary); i++) {
        cli_nearest_offer(&nearest, name);
    }
    for (int32_t i = 0; talus_local_solver_at(i, &name, &summary); i++) {
        cli_nearest_offer(&nearest, name);
    }
    cli_error_unknown("topic", topic, nearest.best, "'talus help' and 'talus help solvers'");
    return CLI_USAGE;
}

int cli_help(const cli_verb *verb, int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "scene") == 0) return cli_help_scene(argc - 2, argv + 2);
    if (argc > 2) {
        cli_error("help takes one topic, not %d: 'talus help [TOPIC]'", argc - 1);
        return CLI_USAGE;
    }
    if (argc < 2) {
        cli_print_overview(stdout);
        return CLI_DONE;
    }
    const char *topic = argv[1];
    const cli_verb *found = cli_find_verb(topic);
    if (strcmp(topic, "--help") == 0 || strcmp(topic, "-h") == 0) found = verb;
    if (found) {
        cli_print_verb(found, stdout);
    } else if (strcmp(topic, "solvers") == 0) {
        help_solvers();
    } else if (strcmp(topic, "observables") == 0) {
        cli_help_observables();
    } else if (!help_solver(topic) && !help_local(topic)) {
        return help_unknown(topic);
    }
    return CLI_DONE;
}

void cli_print_version(bool json) {
    const talus_build b = talus_build_info();
    const char *const member[][2] = {{"version", b.version},   {"commit", b.commit},
                                     {"compiler", b.compiler}, {"build", b.flags},
                                     {"simd", b.simd},         {"features", b.features}};
    const int count = (int)(sizeof member / sizeof member[0]);
    if (json)
        putchar('{');
    else
        printf("talus %s\n", b.version);
    for (int i = json ? 0 : 1; i < count; i++) {
        const char *text = member[i][1] ? member[i][1] : "unknown";
        if (json) {
            cli_json_key(stdout, member[i][0], i == 0);
            cli_json_string(stdout, text);
        } else {
            printf("  %-9s %s\n", member[i][0], text);
        }
    }
    if (json) puts("}");
}
