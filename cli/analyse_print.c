// SPDX-License-Identifier: Apache-2.0
// Tables of an analysis as text, CSV and JSON.
#define _GNU_SOURCE
#include "analyse.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool analyse_is_shown(const analyse_setup *setup, const talus_table *table) {
    for (int i = 0; i < setup->table_count; i++)
        if (strcmp(setup->table[i], table->name) == 0) return true;
    return setup->table_count == 0;
}

// At most `most` rows, evenly spread, the first and the last among them.
static int64_t print_row(const talus_table *t, int64_t most, int64_t k) {
    return t->rows <= most ? k : k * (t->rows - 1) / (most - 1);
}

static void print_cell(double value, char out[24]) {
    if (isnan(value))
        snprintf(out, 24, "-");
    else
        snprintf(out, 24, "%.5g", value);
}

static void print_table(const talus_table *t) {
    enum { ROWS = 11, GAP = 2 };
    const int64_t rows = t->rows < ROWS ? t->rows : ROWS;
    printf("%s: %s\n  %s\n", t->name, t->title, t->text);
    int *width = cli_alloc((size_t)t->columns, sizeof *width);
    for (int32_t c = 0; c < t->columns; c++) {
        char *head = cli_text(t->unit[c][0] ? "%s [%s]" : "%s%s", t->column[c], t->unit[c]);
        width[c] = cli_width(head);
        for (int64_t k = 0; k < rows; k++) {
            char cell[24];
            print_cell(t->value[print_row(t, ROWS, k) * t->columns + c], cell);
            if (cli_width(cell) > width[c]) width[c] = cli_width(cell);
        }
        cli_pad(stdout, head, -width[c] - GAP);
        free(head);
    }
    putchar('\n');
    for (int64_t k = 0; k < rows; k++) {
        for (int32_t c = 0; c < t->columns; c++) {
            char cell[24];
            print_cell(t->value[print_row(t, ROWS, k) * t->columns + c], cell);
            cli_pad(stdout, cell, -width[c] - GAP);
        }
        putchar('\n');
    }
    free(width);
    if (t->rows == 0) puts("  (nothing)");
    if (t->rows > ROWS) printf("  %d of %lld rows\n", (int)rows, (long long)t->rows);
}

void analyse_print_text(const analyse_setup *setup, const talus_tables *tables) {
    talus_table t;
    bool first = true;
    for (int32_t i = 0; talus_tables_at(tables, i, &t); i++) {
        if (!analyse_is_shown(setup, &t)) continue;
        if (!first) putchar('\n');
        print_table(&t);
        first = false;
    }
}

static void print_csv(FILE *stream, const talus_table *t) {
    for (int32_t c = 0; c < t->columns; c++) fprintf(stream, "%s%s", c ? "," : "", t->column[c]);
    fputc('\n', stream);
    for (int64_t k = 0; k < t->rows; k++) {
        for (int32_t c = 0; c < t->columns; c++) {
            char number[40] = "";
            const double value = t->value[k * t->columns + c];
            if (isfinite(value)) cli_number(number, value);
            fprintf(stream, "%s%s", c ? "," : "", number);
        }
        fputc('\n', stream);
    }
}

void analyse_print_csv(const analyse_setup *setup, const talus_tables *tables) {
    talus_table t;
    int count = 0;
    for (int32_t i = 0; talus_tables_at(tables, i, &t); i++) count += analyse_is_shown(setup, &t);
    bool first = true;
    for (int32_t i = 0; talus_tables_at(tables, i, &t); i++) {
        if (!analyse_is_shown(setup, &t)) continue;
        if (count > 1) printf("%s# %s: %s\n", first ? "" : "\n", t.name, t.title);
        print_csv(stdout, &t);
        first = false;
    }
}

static void print_json(const talus_table *t) {
    putchar('{');
    cli_json_key(stdout, "name", true);
    cli_json_string(stdout, t->name);
    cli_json_key(stdout, "title", false);
    cli_json_string(stdout, t->title);
    cli_json_key(stdout, "text", false);
    cli_json_string(stdout, t->text);
    cli_json_key(stdout, "plot", false);
    cli_json_string(stdout, t->plot);
    cli_json_key(stdout, "columns", false);
    for (int32_t c = 0; c < t->columns; c++) {
        fputs(c ? ", {" : "[{", stdout);
        cli_json_key(stdout, "name", true);
        cli_json_string(stdout, t->column[c]);
        cli_json_key(stdout, "unit", false);
        cli_json_string(stdout, t->unit[c]);
        putchar('}');
    }
    fputs("], ", stdout);
    cli_json_key(stdout, "rows", true);
    putchar('[');
    for (int64_t k = 0; k < t->rows; k++) {
        fputs(k ? ", [" : "[", stdout);
        for (int32_t c = 0; c < t->columns; c++) {
            if (c) fputs(", ", stdout);
            cli_json_number(stdout, t->value[k * t->columns + c]);
        }
        putchar(']');
    }
    fputs("]}", stdout);
}

void analyse_print_json(const analyse_setup *setup, const talus_tables *tables) {
    talus_table t;
    bool first = true;
    putchar('{');
    cli_json_key(stdout, "recording", true);
    cli_json_string(stdout, setup->path);
    cli_json_key(stdout, "tables", false);
    putchar('[');
    for (int32_t i = 0; talus_tables_at(tables, i, &t); i++) {
        if (!analyse_is_shown(setup, &t)) continue;
        if (!first) fputs(", ", stdout);
        print_json(&t);
        first = false;
    }
    puts("]}");
}

int analyse_write_csv(const analyse_setup *setup, const talus_tables *tables) {
    talus_table t;
    int code = CLI_DONE;
    if (mkdir(setup->out, 0777) != 0 && errno != EEXIST) {
        cli_error("--out %s: cannot be made: %s", setup->out, strerror(errno));
        return CLI_FAILED;
    }
    for (int32_t i = 0; talus_tables_at(tables, i, &t) && code == CLI_DONE; i++) {
        if (!analyse_is_shown(setup, &t)) continue;
        char *path = cli_text("%s/%s.csv", setup->out, t.name);
        FILE *file = fopen(path, "w");
        errno = 0;
        if (file) print_csv(file, &t);
        const bool whole = file && !ferror(file);
        if (!file || fclose(file) != 0 || !whole) {
            cli_error("%s: cannot be written: %s", path, strerror(errno));
            code = CLI_FAILED;
        }
        free(path);
    }
    return code;
}
