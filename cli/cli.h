// SPDX-License-Identifier: Apache-2.0
// What the verbs of the program share: the verb table, options, messages, tables, JSON, names.
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/// How the program ends.
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/// One long option of a verb; a row with name NULL ends the table.
typedef struct cli_option {
    const char *name;
    const char *arg;  ///< name of its value for the help; NULL: the option takes none
    const char *text; ///< one line of help
    int id;           ///< what cli_next_option returns: from CLI_OPTION_FIRST on, or its short form
                      ///< ('o': -o), which then must take a value
} cli_option;

/// One verb of the program; a row with name NULL ends the table.
typedef struct cli_verb {
    const char *name;
    const char *summary;       ///< one line for the list of verbs
    const char *usage;         ///< what follows the verb on the command line
    const cli_option *options; ///< NULL when there are none
    const char *help;          ///< explanation and examples, below the options
    int (*run)(const struct cli_verb *verb, int argc, char **argv); ///< argv[0] is the verb
} cli_verb;

/// The verbs, in the order in which help lists them.
extern const cli_verb cli_verbs[];
/// The verb of this name, or NULL.
const cli_verb *cli_find_verb(const char *name);

// One file each; their rows stand in main.c.
extern const cli_option cli_solve_options[];
extern const char cli_solve_help[];
int cli_solve(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_bench_options[];
extern const char cli_bench_help[];
int cli_bench(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_run_options[];
extern const char cli_run_help[];
int cli_run(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_resume_options[];
extern const char cli_resume_help[];
int cli_resume(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_export_options[];
extern const char cli_export_help[];
int cli_export(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_analyse_options[];
extern const char cli_analyse_help[];
int cli_analyse(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_report_options[];
extern const char cli_report_help[];
int cli_report(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_picture_options[];
extern const char cli_picture_help[];
int cli_picture(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_view_options[];
extern const char cli_view_help[];
int cli_view(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_invert_options[];
extern const char cli_invert_help[];
int cli_invert(const cli_verb *verb, int argc, char **argv);
extern const cli_option cli_reproduce_options[];
extern const char cli_reproduce_help[];
int cli_reproduce(const cli_verb *verb, int argc, char **argv);
extern const char cli_help_help[];
int cli_help(const cli_verb *verb, int argc, char **argv);

/// The overview, as `talus --help` prints it.
void cli_print_overview(FILE *stream);
/// The help page of one verb.
void cli_print_verb(const cli_verb *verb, FILE *stream);
/// Facts about the build, as text or as one JSON object.
void cli_print_version(bool json);

/// Ids start above all letters, which are short options.
enum { CLI_OPTION_END = -1, CLI_OPTION_WRONG = -2, CLI_OPTION_HELP = -3, CLI_OPTION_FIRST = 256 };
/// The next option of the command line, its value in *value; arguments that are no options are
/// moved to the end and start at optind after CLI_OPTION_END. A wrong one has been reported.
int cli_next_option(const cli_verb *verb, int argc, char **argv, const char **value);
/// All options, each given to `take`, which returns false after a message. CLI_DONE with the other
/// arguments from optind on (at least one, unless the verb's usage begins with '['), or with *help
/// set, where the page is asked for; CLI_USAGE after a message.
int cli_parse(const cli_verb *verb, int argc, char **argv,
              bool (*take)(void *user, int id, const char *value), void *user, bool *help);

/// One line on stderr: "talus: …". A progress line that stands there is wiped first.
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// Report an unknown name with the nearest known one and where to find the list:
/// "unknown WHAT 'name': did you mean 'NEAREST'? (see LIST)". `nearest` may be NULL.
void cli_error_unknown(const char *what, const char *name, const char *nearest, const char *list);
/// Wipe a progress line on the terminal, if stderr is one.
void cli_wipe_progress(void);
/// Version, build and processor in a line; free it.
char *cli_facts(void);
/// Flush stdout; false, after a message, when something could not be written.
bool cli_flush(void);

/// Memory that is there: the program ends with a message and CLI_FAILED when there is none.
void *cli_alloc(size_t count, size_t size);
void *cli_grow(void *memory, size_t count, size_t size);
/// Formatted text in memory of its own; free it.
char *cli_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The name that is close enough to `name` to be what was meant, among those offered so far.
typedef struct cli_nearest {
    const char *name;
    const char *best; ///< NULL while none is close enough
    size_t distance;
} cli_nearest;
void cli_nearest_init(cli_nearest *n, const char *name);
void cli_nearest_offer(cli_nearest *n, const char *known);

/// The shortest text that reads back as the same finite double.
void cli_number(char out[40], double value);
/// JSON. Numbers are the shortest text that reads back as the same double; NaN and infinity, which
/// JSON lacks, become null. Bytes that are not UTF-8 become U+FFFD; '<' is escaped, so that the
/// text can stand inside a page.
void cli_json_string(FILE *stream, const char *text);
void cli_json_number(FILE *stream, double value);
/// `"key": ` with what separates it from the member before (`first`: nothing does).
void cli_json_key(FILE *stream, const char *key, bool first);

/// Columns a UTF-8 text takes on the screen.
int cli_width(const char *text);
/// Print `text` and pad it with blanks to `width` columns; negative: pad on the left.
void cli_pad(FILE *stream, const char *text, int width);
/// Print rows of cells below each other, wrapped at blanks: `columns` cells a row, row after row.
/// No column but the last is wider than `limit`; the last one takes what remains of 100 columns.
void cli_print_table(FILE *stream, const char *const *cell, int rows, int columns, int limit);
/// A time with three digits and its unit: "1.23 ms".
void cli_seconds(char out[24], double seconds);
/// A time in whole units for people who wait: "12 s", "3 min", "2.5 h".
void cli_duration(char out[24], double seconds);
/// Bytes with two or three digits and their unit: "1.5 GB" (powers of 1000).
void cli_bytes(char out[24], double bytes);
/// Seconds on a clock that only goes forward.
double cli_clock(void);

#endif // CLI_CLI_H
