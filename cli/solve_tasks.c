// SPDX-License-Identifier: Apache-2.0
// Which files are solved and where the solutions go.
#define _GNU_SOURCE
#include "solve.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *tasks_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool tasks_is_problem(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && name[0] != '.' && (strcmp(dot, ".hdf5") == 0 || strcmp(dot, ".h5") == 0);
}

// Takes over `path` and `error`.
static solve_task *tasks_append(solve_tasks *tasks, char *path, char *error) {
    tasks->item = cli_grow(tasks->item, (size_t)tasks->count + 1, sizeof *tasks->item);
    solve_task *task = &tasks->item[tasks->count++];
    const char *base = tasks_base(path);
    const char *dot = tasks_is_problem(base) ? strrchr(base, '.') : NULL;
    *task = (solve_task){.path = path, .error = error};
    task->name = dot ? cli_text("%.*s", (int)(dot - base), base) : cli_text("%s", base);
    struct stat st;
    if (!error && stat(path, &st) == 0) {
        task->device = st.st_dev;
        task->inode = st.st_ino;
    }
    return task;
}

static int tasks_filter(const struct dirent *entry) { return tasks_is_problem(entry->d_name); }

// By bytes, not by the language of the user: the order of rows is the same everywhere.
static int tasks_order(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

void solve_tasks_add(solve_tasks *tasks, const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) {
        tasks_append(tasks, cli_text("%s", path),
                     cli_text("%s: %s", path[0] ? path : "''", strerror(errno)));
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        tasks_append(tasks, cli_text("%s", path), NULL);
        return;
    }
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    char *dir = cli_text("%.*s", (int)length, path);
    struct dirent **entry = NULL;
    const int count = scandir(path, &entry, tasks_filter, tasks_order);
    if (count < 0) {
        tasks_append(tasks, cli_text("%s", dir), cli_text("%s: %s", dir, strerror(errno)));
    } else if (count == 0) {
        tasks_append(tasks, cli_text("%s", dir),
                     cli_text("%s: the directory holds no *.hdf5 or *.h5 file", dir));
    }
    for (int i = 0; i < count; i++) {
        const bool root = strcmp(dir, "/") == 0;
        tasks_append(tasks, cli_text("%s/%s", root ? "" : dir, entry[i]->d_name), NULL);
        free(entry[i]);
    }
    free(entry);
    free(dir);
}

void solve_tasks_clear(solve_tasks *tasks) {
    for (int i = 0; i < tasks->count; i++) {
        free(tasks->item[i].path);
        free(tasks->item[i].name);
        free(tasks->item[i].error);
        free(tasks->item[i].out);
    }
    free(tasks->item);
    *tasks = (solve_tasks){0};
}

// The file may be new or replaced, but only if it is a plain file and none of the inputs.
static int tasks_check_file(const solve_tasks *tasks, const char *option, const char *out) {
    struct stat st;
    if (stat(out, &st) != 0) {
        if (errno == ENOENT) return CLI_DONE;
        cli_error("%s %s: %s", option, out, strerror(errno));
        return CLI_FAILED;
    }
    for (int i = 0; i < tasks->count; i++) {
        const solve_task *t = &tasks->item[i];
        if (t->inode != 0 && t->inode == st.st_ino && t->device == st.st_dev) {
            cli_error("%s would replace the input %s: choose another place", option, t->path);
            return CLI_USAGE;
        }
    }
    if (S_ISREG(st.st_mode)) return CLI_DONE;
    cli_error("%s %s: is not a plain file", option, out);
    return CLI_USAGE;
}

// The directory of a file that is to be written must be there: found out now, not after an hour.
static int tasks_check_parent(const char *option, const char *out) {
    const size_t length = (size_t)(tasks_base(out) - out);
    char *dir = length > 0 ? cli_text("%.*s", (int)length, out) : cli_text(".");
    struct stat st;
    int code = CLI_DONE;
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
        cli_error("%s %s: there is no directory %s", option, out, dir);
        code = CLI_FAILED;
    }
    free(dir);
    return code;
}

int solve_tasks_check_out(const solve_tasks *tasks, const char *option, const char *out) {
    const int code = tasks_check_parent(option, out);
    return code == CLI_DONE ? tasks_check_file(tasks, option, out) : code;
}

int solve_tasks_set_out(solve_tasks *tasks, const char *out) {
    struct stat st;
    const size_t length = strlen(out);
    const bool slash = length > 0 && out[length - 1] == '/';
    const bool exists = stat(out, &st) == 0;
    const bool directory = exists ? S_ISDIR(st.st_mode) : slash;
    if (length == 0) {
        cli_error("--out needs the name of a file or directory");
        return CLI_USAGE;
    }
    if (!directory && tasks->count > 1) {
        cli_error("--out %s: for %d problems it must be a directory (end it in '/' to make one)",
                  out, tasks->count);
        return CLI_USAGE;
    }
    if (directory && !exists && mkdir(out, 0777) != 0) {
        cli_error("--out %s: %s", out, strerror(errno));
        return CLI_FAILED;
    }
    for (int i = 0; i < tasks->count; i++) {
        solve_task *t = &tasks->item[i];
        if (t->error) continue;
        t->out = directory ? cli_text("%s%s%s.hdf5", out, slash ? "" : "/", t->name)
                           : cli_text("%s", out);
        for (int j = 0; j < i; j++) {
            if (!tasks->item[j].out || strcmp(tasks->item[j].out, t->out) != 0) continue;
            cli_error("--out: %s and %s would both be written to %s", tasks->item[j].path, t->path,
                      t->out);
            return CLI_USAGE;
        }
        const int code = solve_tasks_check_out(tasks, "--out", t->out);
        if (code != CLI_DONE) return code;
    }
    return CLI_DONE;
}
