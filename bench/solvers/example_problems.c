// SPDX-License-Identifier: Apache-2.0
// Writes the files of examples/problems:   bench/example_problems DIRECTORY
#define _POSIX_C_SOURCE 200809L
#include "support/examples.h"
#include "talus/talus.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// The directories in front of the last part of `path`, as far as they are missing.
static bool make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

static bool write_example(talus_context *ctx, const char *directory, int index) {
    const example *e = example_at(index);
    char path[4096], title[128], text[512];
    talus_problem *p = NULL;
    snprintf(path, sizeof path, "%s/%s.hdf5", directory, e->name);
    snprintf(title, sizeof title, "%s", e->title);
    snprintf(text, sizeof text, "%s", e->description);
    const talus_fclib_extra extra = {.title = title, .description = text};
    if (!make_directories(path)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    talus_status status = example_create(ctx, index, &p);
    if (status == TALUS_OK) status = talus_fclib_write(ctx, path, p, &extra);
    talus_problem_destroy(p);
    if (status != TALUS_OK) fprintf(stderr, "%s: %s\n", e->name, talus_context_last_error(ctx));
    return status == TALUS_OK;
}

int main(int argc, char **argv) {
    talus_context *ctx;
    bool written = true;
    if (argc != 2) {
        fprintf(stderr, "usage: example_problems DIRECTORY\n");
        return 2;
    }
    if (talus_context_create(NULL, &ctx) != TALUS_OK) return 1;
    for (int i = 0; written && example_at(i); i++) written = write_example(ctx, argv[1], i);
    talus_context_destroy(ctx);
    return written ? 0 : 1;
}
