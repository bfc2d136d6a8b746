// SPDX-License-Identifier: Apache-2.0
// `talus help scene`: every key of a scene file, from the library's tables; as text for the screen
// or as the Markdown of docs/guide/scenes.md.
#define _GNU_SOURCE
#include "cli.h"
#include "help.h"
#include "talus/talus.h"
#include <stdlib.h>
#include <string.h>

// "number [m]"
static char *scene_value(const talus_scene_key *k) {
    return k->unit[0] ? cli_text("%s [%s]", k->kind, k->unit) : cli_text("%s", k->kind);
}

// "radius (> 0; only with shape: sphere)"
static char *scene_meaning(const talus_scene_key *k) {
    const char *range = k->range, *only = k->only;
    if (!range[0] && !only[0]) return cli_text("%s", k->text);
    return cli_text("%s (%s%s%s%s)", k->text, range, range[0] && only[0] ? "; " : "",
                    only[0] ? "only with " : "", only);
}

// Whether two keys stand in the same section.
static bool scene_same(const talus_scene_key *a, const talus_scene_key *b) {
    return strcmp(a->section, b->section) == 0;
}

static const char *scene_title(const talus_scene_key *k) {
    return k->section[0] ? k->section : "scene";
}

// The rows of the section that begins at `index`; returns the index after it.
static int32_t scene_section(int32_t index) {
    enum { COLUMNS = 4, MOST = 64 };
    const char *cell[COLUMNS * MOST] = {"KEY", "VALUE", "DEFAULT", "MEANING"};
    char *mine[2 * MOST];
    talus_scene_key key[MOST];
    int rows = 1, kept = 0;
    for (; rows < MOST && talus_scene_key_at(index, &key[rows]); rows++, index++) {
        const talus_scene_key *k = &key[rows];
        if (rows > 1 && !scene_same(k, &key[1])) break;
        mine[kept++] = scene_value(k);
        mine[kept++] = scene_meaning(k);
        const char *row[COLUMNS] = {k->key, mine[kept - 2], k->initial ? k->initial : "(required)",
                                    mine[kept - 1]};
        memcpy(cell + COLUMNS * rows, row, sizeof row);
    }
    printf("%s:\n", scene_title(&key[1]));
    if (key[1].section_text) cli_print_table(stdout, &key[1].section_text, 1, 1, 0);
    cli_print_table(stdout, cell, rows, COLUMNS, 22);
    while (kept > 0) free(mine[--kept]);
    return index;
}

static void scene_units(bool markdown) {
    const char *what;
    char names[160];
    for (int32_t k = 0; talus_scene_unit_at(k, &what, names); k++)
        printf(markdown ? "| %s | %s |\n" : "  %-18s %s\n", what, names);
}

static void scene_text(const char *section) {
    talus_scene_key key;
    if (!section) {
        fputs(
            "A scene is a YAML file. Lengths, times and so on are numbers in SI units or with a "
            "unit "
            "('5 mm').\nN is the number of an entry of a list, from 0 on, NAME a name of yours: "
            "'--set bodies.0.at=[0,1]'\nreplaces a value. 'talus help scene SECTION' shows one of "
            "these sections.\n\n",
            stdout);
    }
    for (int32_t k = 0; talus_scene_key_at(k, &key);) {
        if (section && !strstr(scene_title(&key), section)) {
            k++;
            continue;
        }
        k = scene_section(k);
        putchar('\n');
    }
    if (section) return;
    fputs("units:\n", stdout);
    scene_units(false);
    fputs("\nExample:\n  talus run examples/scenes/heap.yaml --set materials.sand.friction=0.3\n",
          stdout);
}

static void scene_markdown(void) {
    talus_scene_key key, before = {.section = "none"};
    for (int32_t k = 0; talus_scene_key_at(k, &key); k++) {
        if (!scene_same(&key, &before)) {
            printf("%s### %s\n\n", k > 0 ? "\n" : "", scene_title(&key));
            if (key.section_text) printf("%s\n\n", key.section_text);
            puts("| key | value | default | allowed | meaning |\n| --- | --- | --- | --- | --- |");
        }
        before = key;
        char *value = scene_value(&key);
        printf("| `%s` | %s | %s | %s%s%s | %s |\n", key.key, value,
               key.initial ? key.initial : "required", key.range,
               key.range[0] && key.only[0] ? "; " : "", key.only[0] ? key.only : "", key.text);
        free(value);
    }
    puts("\n### units\n\n| quantity | units |\n| --- | --- |");
    scene_units(true);
}

int cli_help_scene(int argc, char **argv) {
    talus_scene_key key;
    const char *section = argc > 0 ? argv[0] : NULL;
    if (argc > 1) {
        cli_error("help scene takes one section or --markdown, not %d words", argc);
        return CLI_USAGE;
    }
    if (!section) {
        scene_text(NULL);
        return CLI_DONE;
    }
    if (strcmp(section, "--markdown") == 0) {
        scene_markdown();
        return CLI_DONE;
    }
    cli_nearest nearest;
    cli_nearest_init(&nearest, section);
    for (int32_t k = 0; talus_scene_key_at(k, &key); k++) {
        if (strstr(scene_title(&key), section)) {
            scene_text(section);
            return CLI_DONE;
        }
        cli_nearest_offer(&nearest, scene_title(&key));
    }
    cli_error_unknown("section", section, nearest.best, "'talus help scene'");
    return CLI_USAGE;
}
