// SPDX-License-Identifier: Apache-2.0
// Tables of results as CSV (RFC 4180): written row by row, read with messages that name the place.
#define _GNU_SOURCE
#include "bench.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CSV_IS_text true
#define CSV_IS_number false
const bench_column bench_columns[BENCH_COLUMN_COUNT] = {
#define CSV_COLUMN(name, kind) {#name, CSV_IS_##kind, offsetof(bench_row, name)},
    BENCH_COLUMNS(CSV_COLUMN)
#undef CSV_COLUMN
};

static char **csv_text(bench_row *row, int column) {
    return (char **)(void *)((char *)row + bench_columns[column].offset);
}

static double *csv_number(bench_row *row, int column) {
    return (double *)(void *)((char *)row + bench_columns[column].offset);
}

const char *bench_text(const bench_row *row, int column) {
    return *(char *const *)(const void *)((const char *)row + bench_columns[column].offset);
}

double bench_number(const bench_row *row, int column) {
    return *(const double *)(const void *)((const char *)row + bench_columns[column].offset);
}

void bench_rows_add(bench_rows *rows, const bench_row *row) {
    rows->item = cli_grow(rows->item, (size_t)rows->count + 1, sizeof *rows->item);
    rows->item[rows->count++] = *row;
}

static void csv_clear_row(bench_row *row) {
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++)
        if (bench_columns[k].is_text) free(*csv_text(row, k));
}

void bench_rows_clear(bench_rows *rows) {
    for (int i = 0; i < rows->count; i++) csv_clear_row(&rows->item[i]);
    free(rows->item);
    *rows = (bench_rows){0};
}

// Tolerances are equal when they are the same double: both were read from decimal text.
static bool csv_same(double a, double b) { return !(a < b) && !(a > b); }

const bench_row *bench_rows_find(const bench_rows *rows, const char *library, const char *solver,
                                 const char *problem, double tolerance) {
    for (int i = 0; i < rows->count; i++) {
        const bench_row *r = &rows->item[i];
        if (csv_same(r->tolerance, tolerance) && strcmp(r->problem, problem) == 0 &&
            strcmp(r->solver, solver) == 0 && strcmp(r->library, library) == 0)
            return r;
    }
    return NULL;
}

// A result that says "solved" but carries a larger natural residual than was asked for is not.
bool bench_is_solved(const bench_row *row) {
    return strcmp(row->outcome, "solved") == 0 &&
           (isnan(row->natural) || row->natural <= row->tolerance);
}

void bench_csv_write_head(FILE *stream) {
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++)
        fprintf(stream, "%s%s", k > 0 ? "," : "", bench_columns[k].name);
    fputc('\n', stream);
}

static void csv_write_text(FILE *stream, const char *text) {
    if (!strpbrk(text, ",\"\r\n") && text[0] != '#') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"') fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

void bench_csv_write(FILE *stream, const bench_row *row) {
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++) {
        char number[40] = "";
        if (k > 0) fputc(',', stream);
        if (bench_columns[k].is_text) {
            csv_write_text(stream, bench_text(row, k));
        } else {
            if (isfinite(bench_number(row, k))) cli_number(number, bench_number(row, k));
            fputs(number, stream);
        }
    }
    fputc('\n', stream);
}

// A file while it is being read.
typedef struct csv_reader {
    const char *path;
    char *data;
    size_t length, at;
    int line;      // of the record being read, from 1
    int next_line; // of the one after it
    char **field;
    int fields;
    int *column; // of each field of the head: which of ours, −1: none
    int columns;
} csv_reader;

static bool csv_load(csv_reader *c) {
    FILE *file = fopen(c->path, "rb");
    if (!file) {
        cli_error("%s: %s", c->path, strerror(errno));
        return false;
    }
    size_t room = 0, got;
    do {
        if (c->length + 1 >= room) c->data = cli_grow(c->data, room = 2 * room + 65536, 1);
        got = fread(c->data + c->length, 1, room - c->length - 1, file);
        c->length += got;
    } while (got > 0);
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    c->data[c->length] = '\0';
    if (failed) cli_error("%s: cannot be read", c->path);
    return !failed;
}

static void csv_clear_fields(csv_reader *c) {
    for (int k = 0; k < c->fields; k++) free(c->field[k]);
    c->fields = 0;
}

// The next field, quoted or not, up to its comma or line end; false at an open quote. What it holds
// is gathered in its own place: without quotation marks it is shorter.
static bool csv_field(csv_reader *c, bool *last) {
    const char *s = c->data + c->at;
    char *out = c->data + c->at;
    size_t used = 0;
    bool closed = true;
    if (*s == '"') {
        closed = false;
        for (s++; *s && !closed; s++) {
            if (*s == '\n') c->next_line++;
            if (*s == '"' && s[1] == '"')
                out[used++] = *s++;
            else if (*s == '"')
                closed = true;
            else
                out[used++] = *s;
        }
    }
    for (; *s && *s != ',' && *s != '\n'; s++)
        if (!(*s == '\r' && s[1] == '\n')) out[used++] = *s;
    *last = *s != ',';
    if (*s == '\n') c->next_line++;
    c->at = (size_t)(s - c->data) + (*s != '\0');
    c->field = cli_grow(c->field, (size_t)c->fields + 1, sizeof *c->field);
    c->field[c->fields++] = cli_text("%.*s", (int)used, out);
    return closed;
}

// The next record that is no comment and not empty; 1, 0 at the end, −1 after a message.
static int csv_record(csv_reader *c) {
    bool last = false;
    csv_clear_fields(c);
    while (c->at < c->length) {
        const char *s = c->data + c->at;
        const size_t blank = strspn(s, "\r\n"), comment = *s == '#' ? strcspn(s, "\n") : 0;
        if (blank == 0 && comment == 0) break;
        for (size_t k = 0; k < blank; k++) c->next_line += s[k] == '\n';
        c->at += blank + comment;
    }
    if (c->at >= c->length) return 0;
    c->line = c->next_line;
    while (!last)
        if (!csv_field(c, &last)) {
            cli_error("%s:%d: field %d: the quotation mark is not closed", c->path, c->line,
                      c->fields);
            return -1;
        }
    return 1;
}

// Without these there is nothing to compare.
static bool csv_is_needed(const char *name) {
    static const char *const needed[] = {"library",   "solver",  "problem",
                                         "tolerance", "outcome", "seconds"};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (strcmp(needed[k], name) == 0) return true;
    return false;
}

static bool csv_head(csv_reader *c) {
    const int got = csv_record(c);
    if (got < 0) return false;
    c->columns = c->fields;
    c->column = cli_alloc((size_t)c->columns, sizeof *c->column);
    for (int f = 0; f < c->columns; f++) {
        c->column[f] = -1;
        for (int k = 0; k < BENCH_COLUMN_COUNT; k++)
            if (strcmp(c->field[f], bench_columns[k].name) == 0) c->column[f] = k;
        for (int e = 0; e < f; e++)
            if (c->column[f] >= 0 && c->column[e] == c->column[f]) {
                cli_error("%s:%d: column '%s' is there twice", c->path, c->line, c->field[f]);
                return false;
            }
    }
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++) {
        bool found = !csv_is_needed(bench_columns[k].name);
        for (int f = 0; f < c->columns; f++) found = found || c->column[f] == k;
        if (found) continue;
        cli_error("%s:%d: there is no column '%s' in the first line; needed are library, solver, "
                  "problem, tolerance, outcome and seconds (a file of 'talus bench' shows all)",
                  c->path, got ? c->line : 1, bench_columns[k].name);
        return false;
    }
    return true;
}

static bool csv_take_number(const csv_reader *c, const char *name, const char *text, double *out) {
    char *end = NULL;
    if (text[0] == '\0') return true;
    const double value = strtod(text, &end);
    if (*end == '\0' && end != text) {
        if (!isnan(value)) *out = value;
        return true;
    }
    cli_error("%s:%d: column '%s': '%s' is not a number (write it like 0.0015 or 1.5e-3, or leave "
              "it empty)",
              c->path, c->line, name, text);
    return false;
}

// What a profile divides by or looks up must make sense.
static bool csv_check(const csv_reader *c, const bench_rows *rows, int first,
                      const bench_row *row) {
    const char *column = NULL, *rule = NULL;
    if (row->library[0] == '\0' || row->solver[0] == '\0' || row->problem[0] == '\0') {
        column = row->library[0] == '\0'  ? "library"
                 : row->solver[0] == '\0' ? "solver"
                                          : "problem";
        rule = "is empty";
    } else if (!(row->tolerance > 0.0)) {
        column = "tolerance", rule = "must be a number above 0";
    } else if (strcmp(row->outcome, "solved") == 0 &&
               !(row->seconds > 0.0 && isfinite(row->seconds))) {
        column = "seconds", rule = "must be a number above 0 where the outcome is 'solved'";
    } else {
        for (int i = first; i < rows->count && !column; i++) {
            const bench_rows one = {&rows->item[i], 1};
            if (bench_rows_find(&one, row->library, row->solver, row->problem, row->tolerance))
                column = "solver", rule = "with this problem and tolerance was there before";
        }
    }
    if (column) cli_error("%s:%d: column '%s' %s", c->path, c->line, column, rule);
    return column == NULL;
}

static bool csv_row(csv_reader *c, bench_rows *rows, int first) {
    bench_row row = {0};
    if (c->fields != c->columns) {
        cli_error("%s:%d: %d fields where the first line names %d columns", c->path, c->line,
                  c->fields, c->columns);
        return false;
    }
    for (int k = 0; k < BENCH_COLUMN_COUNT; k++) {
        if (bench_columns[k].is_text)
            *csv_text(&row, k) = cli_text("%s", "");
        else
            *csv_number(&row, k) = NAN;
    }
    bool good = true;
    for (int f = 0; f < c->fields && good; f++) {
        const int k = c->column[f];
        if (k < 0) continue;
        if (bench_columns[k].is_text) {
            free(*csv_text(&row, k));
            *csv_text(&row, k) = cli_text("%s", c->field[f]);
        } else {
            good = csv_take_number(c, bench_columns[k].name, c->field[f], csv_number(&row, k));
        }
    }
    if (!good || !csv_check(c, rows, first, &row)) {
        csv_clear_row(&row);
        return false;
    }
    bench_rows_add(rows, &row);
    return true;
}

bool bench_csv_read(const char *path, bench_rows *rows, long *whole) {
    csv_reader c = {.path = path, .next_line = 1};
    const int first = rows->count;
    bool good = csv_load(&c);
    if (good && whole) {
        while (c.length > 0 && c.data[c.length - 1] != '\n') c.length--;
        c.data[c.length] = '\0';
        *whole = (long)c.length;
    }
    if (good) good = csv_head(&c);
    for (int got = 1; good && got != 0;) {
        got = csv_record(&c);
        good = got >= 0 && (got == 0 || csv_row(&c, rows, first));
    }
    csv_clear_fields(&c);
    free(c.field);
    free(c.column);
    free(c.data);
    return good;
}
