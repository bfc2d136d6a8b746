// SPDX-License-Identifier: Apache-2.0
// Tables of the comparison: to read, to keep, and in the columns of `talus bench`.
#ifndef BENCH_SICONOS_REPORT_H
#define BENCH_SICONOS_REPORT_H
#include "measure.h"
#include <stdio.h>

enum { METHOD_LIMIT = 64 };

/// The best that one method of Siconos did on a problem.
typedef struct bench_method {
    const char *name;
    bench_measured result;
} bench_method;

/// One problem in one form.
typedef struct bench_row {
    char name[128];
    bench_form form;
    int dim, contacts, dof;
    bench_measured talus, siconos;
    char setup[96];
    double ratio;                       ///< Siconos / Talus; 0: not comparable
    bench_method methods[METHOD_LIMIT]; ///< filled when every method was measured to the end
    int method_count;
} bench_row;

typedef struct bench_run {
    const char *solver; ///< of Talus
    double tol, limit;
    bool oracle;
    int argc;
    char **argv;      ///< the command, for the head of a table
    FILE *csv, *flat; ///< may be NULL; flat: the columns of `talus bench`
} bench_run;

/// Open a table and write its first line; exits with a message if that fails. NULL for no path.
FILE *bench_open_csv(const bench_run *run, const char *path);
FILE *bench_open_flat(const char *path);

void bench_print_head(const bench_run *run);
void bench_print_row(const bench_run *run, const bench_row *r);
/// The summary over problems as given, and over those where W is given.
void bench_print_summary(const bench_run *run, const bench_row *rows, int count);

#endif // BENCH_SICONOS_REPORT_H
