// SPDX-License-Identifier: Apache-2.0
// `talus help observables`: what can be measured, from the tables of the library.
#include "cli.h"
#include "help.h"
#include "talus/talus.h"
#include <stdlib.h>
#include <string.h>

static void observables_row(const char ***cell, int *rows, const char *a, const char *b,
                            const char *c) {
    *cell = cli_grow(*cell, 3 * (size_t)*rows + 3, sizeof **cell);
    const char *const row[3] = {a, b, c};
    memcpy(*cell + 3 * (size_t)*rows, row, sizeof row);
    ++*rows;
}

void cli_help_observables(void) {
    talus_subject subject;
    talus_scalar scalar;
    const char **cell = NULL;
    int rows = 0;
    fputs("Subjects of 'talus analyse RUN.h5 SUBJECT...':\n", stdout);
    for (int32_t k = 0; talus_subject_at(k, &subject); k++)
        observables_row(&cell, &rows, subject.name, "", subject.text);
    cli_print_table(stdout, cell, rows, 3, 24);
    free(cell);
    cell = NULL;
    rows = 0;
    fputs("\nNumbers of a moment, which 'output: {observe: [NAME, ...]}' of a scene puts down at "
          "every step\n(the name of a subject stands for all of its numbers; units in 3D):\n",
          stdout);
    for (int32_t k = 0; talus_scalar_at(3, k, &scalar); k++)
        observables_row(&cell, &rows, scalar.name, scalar.unit, scalar.text);
    cli_print_table(stdout, cell, rows, 3, 24);
    free(cell);
}
