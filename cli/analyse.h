// SPDX-License-Identifier: Apache-2.0
// The parts of `talus analyse`: what is asked for, and tables as text, CSV and JSON.
#ifndef CLI_ANALYSE_H
#define CLI_ANALYSE_H
#include "cli.h"
#include "talus/talus.h"

/// What the command line asks for.
typedef struct analyse_setup {
    const char *path; ///< the recording
    talus_analyse_def def;
    const char **what;  ///< subjects
    const char **table; ///< names of tables to show; none: all
    int table_count;
    const char *out; ///< directory for one CSV file per table; NULL: none
    bool csv, json;
} analyse_setup;

/// Is a table asked for?
bool analyse_is_shown(const analyse_setup *setup, const talus_table *table);
/// A few rows of every table, for people.
void analyse_print_text(const analyse_setup *setup, const talus_tables *tables);
/// All rows: one table after the other, each below a line "# name: title" when there are several.
void analyse_print_csv(const analyse_setup *setup, const talus_tables *tables);
/// One object.
void analyse_print_json(const analyse_setup *setup, const talus_tables *tables);
/// A file NAME.csv for every table; CLI_DONE or the exit status after a message.
int analyse_write_csv(const analyse_setup *setup, const talus_tables *tables);

#endif // CLI_ANALYSE_H
