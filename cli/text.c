// SPDX-License-Identifier: Apache-2.0
// Small things every verb needs: messages, memory, nearest names, tables, times.
#define _GNU_SOURCE
#include "cli.h"
#include "talus/base.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void cli_error(const char *format, ...) {
    va_list args;
    fputs(isatty(STDERR_FILENO) ? "\r\033[Ktalus: " : "talus: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_error_unknown(const char *what, const char *name, const char *nearest, const char *list) {
    if (nearest) {
        cli_error("unknown %s '%s': did you mean '%s'? (see %s)", what, name, nearest, list);
    } else {
        cli_error("unknown %s '%s' (see %s for those that exist)", what, name, list);
    }
}

bool cli_flush(void) {
    errno = 0;
    const bool failed = fflush(stdout) != 0;
    if (!failed && !ferror(stdout)) return true;
    cli_error("cannot write to standard output: %s",
              failed && errno ? strerror(errno) : "an earlier write failed");
    clearerr(stdout);
    return false;
}

static void *text_checked(void *memory) {
    if (!memory) {
        cli_error("out of memory");
        exit(CLI_FAILED);
    }
    return memory;
}

void *cli_alloc(size_t count, size_t size) {
    return text_checked(calloc(count ? count : 1, size ? size : 1));
}

void *cli_grow(void *memory, size_t count, size_t size) {
    return text_checked(reallocarray(memory, count ? count : 1, size ? size : 1));
}

char *cli_text(const char *format, ...) {
    va_list args;
    char *out = NULL;
    va_start(args, format);
    if (vasprintf(&out, format, args) < 0) out = NULL;
    va_end(args);
    return text_checked(out);
}

void cli_nearest_init(cli_nearest *n, const char *name) {
    *n = (cli_nearest){.name = name, .distance = SIZE_MAX};
}

void cli_nearest_offer(cli_nearest *n, const char *known) {
    if (talus_name_nearer(n->name, known, &n->distance)) n->best = known;
}

int cli_width(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

void cli_pad(FILE *stream, const char *text, int width) {
    const int blanks = abs(width) - cli_width(text);
    if (width < 0 && blanks > 0) fprintf(stream, "%*s", blanks, "");
    fputs(text, stream);
    if (width > 0 && blanks > 0) fprintf(stream, "%*s", blanks, "");
}

// Bytes of `text` that go on a line of `width` columns: up to the last blank that fits, or all of
// a word that alone is wider.
static size_t text_line(const char *text, int width) {
    size_t fit = 0;
    int used = 0;
    for (size_t k = 0;; k++) {
        if (text[k] == '\0' || text[k] == ' ') {
            if (used <= width || fit == 0) fit = k;
            if (text[k] == '\0' || used >= width) return fit;
        }
        used += ((unsigned char)text[k] & 0xC0) != 0x80;
    }
}

void cli_print_table(FILE *stream, const char *const *cell, int rows, int columns, int limit) {
    enum { MOST = 8, SCREEN = 100, INDENT = 2, GAP = 2 };
    int width[MOST] = {0}, used = INDENT;
    if (columns > MOST) columns = MOST;
    for (int j = 0; j + 1 < columns; j++) {
        for (int i = 0; i < rows; i++) {
            const int w = cli_width(cell[i * columns + j]);
            if (w > width[j]) width[j] = w;
        }
        if (width[j] > limit) width[j] = limit;
        used += width[j] + GAP;
    }
    width[columns - 1] = SCREEN - used > 30 ? SCREEN - used : 30;
    for (int i = 0; i < rows; i++) {
        const char *rest[MOST];
        for (int j = 0; j < columns; j++) rest[j] = cell[i * columns + j];
        for (bool more = true; more;) {
            int blanks = INDENT;
            more = false;
            for (int j = 0; j < columns; j++) {
                const size_t length = text_line(rest[j], width[j]);
                char *line = cli_text("%.*s", (int)length, rest[j]);
                // Blanks are owed, not printed, so that no line ends in them.
                if (length > 0) fprintf(stream, "%*s%s", blanks, "", line);
                blanks =
                    (length > 0 ? 0 : blanks) + width[j] + GAP - (length > 0 ? cli_width(line) : 0);
                if (blanks < 1) blanks = 1;
                rest[j] += length;
                while (*rest[j] == ' ') rest[j]++;
                more = more || *rest[j] != '\0';
                free(line);
            }
            fputc('\n', stream);
        }
    }
}

void cli_seconds(char out[24], double seconds) {
    if (!isfinite(seconds)) {
        snprintf(out, 24, "-");
    } else if (seconds < 1e-3) {
        snprintf(out, 24, "%.3g us", seconds * 1e6);
    } else if (seconds < 1.0) {
        snprintf(out, 24, "%.3g ms", seconds * 1e3);
    } else if (seconds < 1000.0) {
        snprintf(out, 24, "%.3g s", seconds);
    } else {
        snprintf(out, 24, "%.0f s", seconds);
    }
}

void cli_duration(char out[24], double seconds) {
    if (!isfinite(seconds))
        snprintf(out, 24, "?");
    else if (seconds < 90.0)
        snprintf(out, 24, "%.0f s", ceil(seconds));
    else if (seconds < 5400.0)
        snprintf(out, 24, "%.0f min", seconds / 60.0);
    else
        snprintf(out, 24, "%.1f h", seconds / 3600.0);
}

void cli_bytes(char out[24], double bytes) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int k = 0;
    while (k < 4 && bytes >= 999.5) bytes /= 1000.0, k++;
    snprintf(out, 24, k > 0 && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes, unit[k]);
}

double cli_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The processor of this machine; "" where /proc does not tell.
static char *text_processor(void) {
    char line[512], *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (colon) name = cli_text("%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file) (void)fclose(file);
    return name ? name : cli_text("%s", "");
}

char *cli_facts(void) {
    const talus_build b = talus_build_info();
    char *processor = text_processor();
    char *facts = cli_text("Talus %s, commit %s, %s, %s, simd %s%s%s", b.version, b.commit,
                           b.compiler, b.flags, b.simd, processor[0] ? "; " : "", processor);
    free(processor);
    return facts;
}

void cli_wipe_progress(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}
