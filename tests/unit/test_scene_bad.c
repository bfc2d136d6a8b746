// SPDX-License-Identifier: Apache-2.0
// Malformed scenes: every file of tests/data/scenes begins with "# error: " and the whole text it
// must be refused with; lines "# set: path=value" after it are overrides.
#define _POSIX_C_SOURCE 200809L // strdup
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/context.h"
#include "talus/scene.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400, TEXT = 1 << 14 };

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The line at *text without its break; *text moves on.
static const char *next_line(char **text) {
    char *line = *text, *end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    *text = end + 1;
    return line;
}

static void check_file(const char *name) {
    static char text[TEXT], head[TEXT];
    char path[512], *at = head;
    const char *set[8];
    int32_t set_count = 0;
    talus_scene *scene = (talus_scene *)&set;
    (void)snprintf(path, sizeof path, "%s/tests/data/scenes/%s", TALUS_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(text, 1, TEXT - 1, file);
    fclose(file);
    assert_true(length < TEXT - 1);
    text[length] = '\0';
    memcpy(head, text, length + 1);
    const char *line = next_line(&at), *wanted = line + strlen("# error: ");
    assert_int_equal(strncmp(line, "# error: ", strlen("# error: ")), 0);
    while (strncmp(at, "# set: ", strlen("# set: ")) == 0) {
        assert_true(set_count < 8);
        set[set_count++] = next_line(&at) + strlen("# set: ");
    }
    const talus_status status = talus_scene_parse(ctx, name, text, length, set, set_count, &scene);
    if (status == TALUS_OK) fail_msg("%s was not refused", name);
    assert_null(scene);
    if (strcmp(talus_context_last_error(ctx), wanted) != 0) {
        fail_msg("%s\n  says    %s\n  and not %s", name, talus_context_last_error(ctx), wanted);
    }
}

static void test_every_malformed_scene_is_refused_in_its_words(void **state) {
    (void)state;
    char *names[MOST];
    int count = 0;
    DIR *dir = opendir(TALUS_SOURCE_DIR "/tests/data/scenes");
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));) {
        if (!strstr(e->d_name, ".yaml")) continue;
        assert_true(count < MOST);
        names[count++] = strdup(e->d_name);
    }
    closedir(dir);
    assert_true(count >= 100);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int k = 0; k < count; k++) {
        check_file(names[k]);
        free(names[k]);
    }
}

static void test_a_file_that_is_not_there(void **state) {
    (void)state;
    talus_scene *scene = NULL;
    assert_int_equal(talus_scene_read(ctx, "no/such.yaml", NULL, 0, &scene), TALUS_ERR_FILE);
    assert_string_equal(talus_context_last_error(ctx),
                        "no/such.yaml: cannot be opened: No such file or directory");
    assert_int_equal(talus_scene_read(ctx, "/", NULL, 0, &scene), TALUS_ERR_FILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_malformed_scene_is_refused_in_its_words, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_not_there, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
