// SPDX-License-Identifier: Apache-2.0
// Command lines from the verbs' option tables, through getopt_long; wrong ones name the nearest.
#define _GNU_SOURCE
#include "cli.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_MOST = 32, OPTION_ID_HELP = 1000 };

// The word the user wrote, without "=value".
static char *option_word(const char *argument) {
    return cli_text("%.*s", (int)strcspn(argument, "="), argument);
}

static void option_unknown(const cli_verb *verb, const char *argument) {
    char *list = cli_text("'talus help %s'", verb->name);
    char *word = option_word(argument);
    cli_nearest nearest;
    // The names are offered without "--": the two signs would make all of them look alike.
    cli_nearest_init(&nearest, word + strspn(word, "-"));
    cli_nearest_offer(&nearest, "help");
    for (const cli_option *o = verb->options; o && o->name; o++) {
        cli_nearest_offer(&nearest, o->name);
    }
    char *best = nearest.best ? cli_text("--%s", nearest.best) : NULL;
    cli_error_unknown("option", word, best, list);
    free(best);
    free(word);
    free(list);
}

int cli_next_option(const cli_verb *verb, int argc, char **argv, const char **value) {
    struct option table[OPTION_MOST + 2] = {{"help", no_argument, NULL, OPTION_ID_HELP}};
    char letters[2 * OPTION_MOST + 3] = ":h";
    int count = 1, used = 2;
    for (const cli_option *o = verb->options; o && o->name && count <= OPTION_MOST; o++) {
        if (o->id == CLI_OPTION_HELP) continue; // every verb has it, listed or not
        table[count++] =
            (struct option){o->name, o->arg ? required_argument : no_argument, NULL, o->id};
        if (o->id > 0 && o->id < CLI_OPTION_FIRST) {
            letters[used++] = (char)o->id;
            letters[used++] = ':';
        }
    }
    opterr = 0;
    const int id = getopt_long(argc, argv, letters, table, NULL);
    *value = optarg;
    if (id == -1) return CLI_OPTION_END;
    if (id == 'h' || id == OPTION_ID_HELP) return CLI_OPTION_HELP;
    if (id != '?' && id != ':') return id;
    // getopt leaves 0 in optopt for an unknown long option, the id for a known one that is used
    // wrongly, and the letter for a short one.
    const char *argument = argv[optind - 1];
    if (id == ':') {
        cli_error("%s needs a value ('talus help %s' explains it)", argument, verb->name);
    } else if (optopt >= CLI_OPTION_FIRST) {
        char *word = option_word(argument);
        cli_error("%s takes no value", word);
        free(word);
    } else if (optopt > 0) {
        const char letter[] = {'-', (char)optopt, '\0'};
        option_unknown(verb, letter);
    } else {
        option_unknown(verb, argument);
    }
    return CLI_OPTION_WRONG;
}

int cli_parse(const cli_verb *verb, int argc, char **argv,
              bool (*take)(void *user, int id, const char *value), void *user, bool *help) {
    const char *value;
    int id;
    optind = 1;
    *help = false;
    while ((id = cli_next_option(verb, argc, argv, &value)) != CLI_OPTION_END) {
        *help = id == CLI_OPTION_HELP;
        if (*help) return CLI_DONE;
        if (id == CLI_OPTION_WRONG || !take(user, id, value)) return CLI_USAGE;
    }
    if (optind < argc || verb->usage[0] == '[') return CLI_DONE;
    cli_error("%s needs an argument: 'talus %s %s' ('talus help %s' tells more)", verb->name,
              verb->name, verb->usage, verb->name);
    return CLI_USAGE;
}
