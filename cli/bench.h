// SPDX-License-Identifier: Apache-2.0
// The parts of `talus bench`: results as rows, files of them, performance profiles, the page.
#ifndef CLI_BENCH_H
#define CLI_BENCH_H
#include "cli.h"

/// The columns of a table of results, in order: X(name, kind), kind being text or number. Texts are
/// owned; numbers that are not known are NaN and an empty field.
#define BENCH_COLUMNS(X)                                                                           \
    X(library, text)                                                                               \
    X(solver, text)                                                                                \
    X(problem, text)                                                                               \
    X(kind, text) /* local or global */                                                            \
    X(dim, number)                                                                                 \
    X(contacts, number)                                                                            \
    X(dof, number)       /* empty in local form */                                                 \
    X(tolerance, number) /* asked for, of the natural residual */                                  \
    X(outcome, text)     /* "solved" counts */                                                     \
    X(iterations, number)                                                                          \
    X(seconds, number) /* least of the repeats: factoring, preparing, solving */                   \
    X(natural, number)                                                                             \
    X(residual, number)                                                                            \
    X(penetration, number)                                                                         \
    X(repeats, number)                                                                             \
    X(threads, number)                                                                             \
    X(time_limit, number)

typedef struct bench_row {
#define BENCH_FIELD_text(name) char *name;
#define BENCH_FIELD_number(name) double name;
#define BENCH_FIELD(name, kind) BENCH_FIELD_##kind(name)
    BENCH_COLUMNS(BENCH_FIELD)
#undef BENCH_FIELD
} bench_row;

enum {
#define BENCH_ONE(name, kind) +1
    BENCH_COLUMN_COUNT = 0 BENCH_COLUMNS(BENCH_ONE)
#undef BENCH_ONE
};

typedef struct bench_column {
    const char *name;
    bool is_text;
    size_t offset; ///< in a bench_row
} bench_column;
extern const bench_column bench_columns[BENCH_COLUMN_COUNT];
/// One field of a row.
const char *bench_text(const bench_row *row, int column);
double bench_number(const bench_row *row, int column);

typedef struct bench_rows {
    bench_row *item;
    int count;
} bench_rows;

/// Take over a row.
void bench_rows_add(bench_rows *rows, const bench_row *row);
void bench_rows_clear(bench_rows *rows);
/// The row of this solver, problem and tolerance, or NULL.
const bench_row *bench_rows_find(const bench_rows *rows, const char *library, const char *solver,
                                 const char *problem, double tolerance);
bool bench_is_solved(const bench_row *row);

void bench_csv_write_head(FILE *stream);
void bench_csv_write(FILE *stream, const bench_row *row);
/// Add the rows of a file. Columns are found by name; those that a profile needs must be there,
/// what is unknown is passed over. *whole, unless NULL, becomes the length of the file up to its
/// last complete line, and what follows (a row cut off) is left out. False after a message that
/// names file, line and column.
bool bench_csv_read(const char *path, bench_rows *rows, long *whole);

/// One solver of one library in a comparison.
typedef struct bench_series {
    const char *library, *solver;
    char *label; ///< the solver, after its library unless that is Talus
    int rank;    ///< 0: best score
    double
        score; ///< mean area under its profiles from 1 to 100 times the fastest, log scale; 0 to 1
    double **ratio; ///< by tolerance, then problem: time / fastest time, infinite where not solved
    int *solved;    ///< by tolerance
    int *run;       ///< by tolerance: problems for which there is a row
} bench_series;

/// Results arranged for comparison; borrows the rows.
typedef struct bench_set {
    const bench_rows *rows;
    double *tolerance; ///< descending
    int tolerances;
    const char **problem; ///< in the order of the rows
    double *size;         ///< of each problem: dim × contacts
    int problems;
    bench_series *series; ///< by rank
    int count;
} bench_set;

/// A tolerance as people write it: 1e-4, not 0.0001.
void bench_tolerance(char out[24], double value);
/// Arrange: `own` says which problems and tolerances there are, rows of others are left out.
void bench_set_init(bench_set *set, const bench_rows *rows, int own);
/// The ratios of one series at one tolerance, ascending, one per problem: its profile. Free them.
double *bench_set_sorted(const bench_set *set, const bench_series *series, int tolerance);
void bench_set_clear(bench_set *set);

/// The profile of one tolerance as an SVG image: a file of its own with a legend, or part of a
/// page.
void bench_plot_profile(FILE *stream, const bench_set *set, int tolerance, bool alone);
/// Time over size, for a page.
void bench_plot_size(FILE *stream, const bench_set *set, int tolerance);
/// Series from this rank on are grey until chosen.
enum { BENCH_BRIGHT = 6 };
/// Text of an HTML or SVG file, with its special characters escaped.
void bench_escape(FILE *stream, const char *text);
/// Attributes of the `mark` ("line", "dot") of a series: class, with that of its hue and, from
/// BENCH_BRIGHT on, "off"; number; dashes.
void bench_plot_style(FILE *stream, const char *mark, const bench_series *series);

/// The page. `facts` is a line on how and where it was measured.
void bench_page_write(FILE *stream, const bench_set *set, const char *facts);

#endif // CLI_BENCH_H
