// SPDX-License-Identifier: Apache-2.0
// `talus bench`: every solver on every problem at every tolerance, from zero, judged as `talus
// solve` judges. Results go to a CSV file row by row, so that a run that ends early can be taken up
// again.
#define _GNU_SOURCE
#include "bench_run.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BENCH_SOLVERS = CLI_OPTION_FIRST,
    BENCH_TOL,
    BENCH_TIME_LIMIT,
    BENCH_THREADS,
    BENCH_REPEATS,
    BENCH_CSV,
    BENCH_HTML,
    BENCH_SVG,
    BENCH_COMPARE,
    BENCH_RESUME,
};

const cli_option cli_bench_options[] = {
    {"solvers", "LIST",
     "solvers to compare, NAME or NAME:KEY=VALUE:…, separated by commas; default all",
     BENCH_SOLVERS},
    {"tol", "LIST", "tolerances of the natural residual; default 1e-4,1e-8", BENCH_TOL},
    {"time-limit", "S", "give up on a problem after S seconds; default 10", BENCH_TIME_LIMIT},
    {"threads", "N", "threads of each solver; default 1", BENCH_THREADS},
    {"repeats", "N", "solve so often and keep the least time; default below", BENCH_REPEATS},
    {"csv", "FILE", "where the results go, row by row; default bench.csv", BENCH_CSV},
    {"html", "FILE", "where the page goes; default bench.html", BENCH_HTML},
    {"svg", "FILE", "also the performance profile of the last tolerance, as a picture", BENCH_SVG},
    {"compare", "FILE.csv", "results of another library or version to show beside; repeatable",
     BENCH_COMPARE},
    {"resume", NULL, "keep what stands in the CSV file and run only what is missing", BENCH_RESUME},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_bench_help[] =
    "FILE is a friction problem as 'talus solve' takes it; of a DIR all *.hdf5 and *.h5 files are\n"
    "taken. Each solver gets each problem at each tolerance, starting from zero, with its default\n"
    "options or those that follow its name (nlgs:local=enum:sleep=10). An answer is solved when\n"
    "the certificate, recomputed by code that no solver uses, confirms the natural residual asked\n"
    "for; a solver that is not made for a problem gives 'not for this problem'.\n"
    "\n"
    "A time is the least of the repeats (factoring, preparing and solving; reading the file is "
    "not\n"
    "counted). Without --repeats a solve is repeated until 20 ms have been spent on it or it has\n"
    "been done 5 times; what is not solved is not repeated.\n"
    "\n"
    "The page needs no network: performance profiles, time over size, and a table to sort. In\n"
    "files for --compare the columns library, solver, problem, tolerance, outcome and seconds\n"
    "are needed, and problems and tolerances that are not run here are left out; rows of another\n"
    "Talus run are shown under the name of their file.\n"
    "\n"
    "A summary goes to stdout, progress to stderr. Ctrl-C keeps the rows that are done, writes "
    "the\n"
    "page from them, and --resume goes on. A CSV file that is in the way is kept as FILE.old.\n"
    "Exit status: 0 everything was run (solved or not), 1 something could not be read, run or\n"
    "written, or the run was interrupted, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  talus bench DIR\n"
    "  talus bench DIR --solvers nlgs,jacobi --tol 1e-6 --time-limit 60\n"
    "  talus bench DIR --solvers nlgs:local=enum,nlgs:local=fb --tol 1e-6\n"
    "  talus bench DIR --resume\n"
    "  talus bench DIR --compare other.csv --html compared.html\n";

static void bench_log(void *user, talus_log_level level, const char *text) {
    const bench_args *args = user;
    if (level != TALUS_LOG_WARNING || !args->current) return;
    cli_error("%s: warning: %s", args->current, text);
}

// Cut a list at its commas, in place; words are trimmed of blanks, empty ones kept.
static const char **bench_words(char *list, int *count) {
    const char **word = NULL;
    char *rest = list;
    *count = 0;
    for (char *w = strsep(&rest, ","); w; w = strsep(&rest, ",")) {
        w += strspn(w, " ");
        w[strcspn(w, " ")] = '\0';
        word = cli_grow(word, (size_t)*count + 1, sizeof *word);
        word[(*count)++] = w;
    }
    return word;
}

static bool bench_set_list(char **list, const char ***word, int *count, const char *value) {
    free(*list);
    free((void *)*word);
    *list = cli_text("%s", value);
    *word = bench_words(*list, count);
    return true;
}

static bool bench_take(void *user, int id, const char *value) {
    bench_args *args = user;
    switch (id) {
    case BENCH_SOLVERS:
        return bench_set_list(&args->solvers, &args->solver, &args->solver_count, value);
    case BENCH_TOL:
        return bench_set_list(&args->tolerances, &args->tol, &args->tol_count, value);
    case BENCH_TIME_LIMIT:
        args->time_limit = value;
        return true;
    case BENCH_THREADS:
        args->threads = value;
        return true;
    case BENCH_REPEATS:
        args->repeats = solve_number(value);
        if (args->repeats >= 1.0 && args->repeats <= 1e6 &&
            fpclassify(args->repeats - floor(args->repeats)) == FP_ZERO)
            return true;
        cli_error("--repeats %s: write a whole number from 1 to 1000000", value);
        return false;
    case BENCH_CSV:
        args->csv = value;
        return true;
    case BENCH_HTML:
        args->html = value;
        return true;
    case BENCH_SVG:
        args->svg = value;
        return true;
    case BENCH_COMPARE:
        args->compare =
            cli_grow(args->compare, (size_t)args->compare_count + 1, sizeof *args->compare);
        args->compare[args->compare_count++] = value;
        return true;
    case BENCH_RESUME:
        args->resume = true;
        return true;
    default:
        return false;
    }
}

// All lists, looked at before anything is run.
static bool bench_check_lists(bench_args *args) {
    const char *name, *summary;
    if (!args->solver) {
        args->solver_count = 0;
        for (int32_t i = 0; talus_solver_at(i, &name, &summary); i++) {
            args->solver = cli_grow(args->solver, (size_t)i + 1, sizeof *args->solver);
            args->solver[i] = name;
            args->solver_count = i + 1;
        }
    }
    if (!args->tol) bench_set_list(&args->tolerances, &args->tol, &args->tol_count, "1e-4,1e-8");
    args->tolerance = cli_alloc((size_t)args->tol_count, sizeof *args->tolerance);
    for (int s = 0; s < args->solver_count; s++) {
        for (int k = 0; k < s; k++)
            if (strcmp(args->solver[k], args->solver[s]) == 0) {
                cli_error("--solvers: %s is listed twice", args->solver[s]);
                return false;
            }
        solve_setup setup;
        bool good = bench_run_solver(args, args->solver[s], &setup);
        for (int t = 0; good && t < args->tol_count; t++) {
            args->tolerance[t] = solve_number(args->tol[t]);
            good = solve_set_choice(&setup, "tolerance", args->tol[t], "--tol");
            for (int k = 0; good && k < t; k++)
                if (!(args->tolerance[k] < args->tolerance[t]) &&
                    !(args->tolerance[k] > args->tolerance[t])) {
                    cli_error("--tol: %s is listed twice", args->tol[t]);
                    good = false;
                }
        }
        talus_solver_destroy(setup.solver);
        if (!good) return false;
    }
    return true;
}

// Rows are found again by the name of the problem, so there may be one of each only.
static bool bench_check_names(const solve_tasks *tasks) {
    for (int i = 0; i < tasks->count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(tasks->item[i].name, tasks->item[k].name) == 0) {
                cli_error("%s and %s are both called %s in the results: rename one or leave it out",
                          tasks->item[k].path, tasks->item[i].path, tasks->item[i].name);
                return false;
            }
    return true;
}

static int bench_check_files(const bench_args *args) {
    const char *const option[] = {"--csv", "--html", "--svg"};
    const char *const file[] = {args->csv, args->html, args->svg};
    for (int k = 0; k < 3; k++) {
        if (!file[k]) continue;
        if (file[k][0] == '\0') {
            cli_error("%s needs the name of a file", option[k]);
            return CLI_USAGE;
        }
        for (int j = 0; j < k; j++)
            if (file[j] && strcmp(file[j], file[k]) == 0) {
                cli_error("%s and %s are both %s: choose another name for one", option[j],
                          option[k], file[k]);
                return CLI_USAGE;
            }
        for (int j = 0; j < args->compare_count; j++)
            if (strcmp(args->compare[j], file[k]) == 0) {
                cli_error("%s would replace the file given to --compare, %s: choose another name",
                          option[k], file[k]);
                return CLI_USAGE;
            }
        const int code = solve_tasks_check_out(&args->tasks, option[k], file[k]);
        if (code != CLI_DONE) return code;
    }
    return CLI_DONE;
}

// The rows of the files to compare with. False after a message.
static bool bench_read_compared(const bench_args *args, bench_rows *rows) {
    for (int k = 0; k < args->compare_count; k++) {
        const char *path = args->compare[k];
        const int first = rows->count;
        if (!bench_csv_read(path, rows, NULL)) return false;
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        const char *dot = strrchr(base, '.');
        for (int i = first; i < rows->count; i++) {
            if (strcmp(rows->item[i].library, "talus") != 0) continue;
            free(rows->item[i].library);
            rows->item[i].library =
                cli_text("%.*s", (int)(dot && dot > base ? dot - base : (long)strlen(base)), base);
        }
        for (int i = first; i < rows->count; i++) {
            const bench_rows before = {rows->item, first};
            const bench_row *r = &rows->item[i];
            if (!bench_rows_find(&before, r->library, r->solver, r->problem, r->tolerance))
                continue;
            cli_error("--compare %s: results of %s %s are in an earlier file too: rename the "
                      "library in one of them",
                      path, r->library, r->solver);
            return false;
        }
    }
    return true;
}

// Open the CSV file, keeping what it holds (--resume) or putting it aside. False after a message.
static bool bench_open(bench_run *s) {
    const bench_args *args = s->args;
    struct stat st;
    const bool exists = stat(args->csv, &st) == 0 && st.st_size > 0;
    long whole = 0;
    if (exists && args->resume) {
        if (!bench_csv_read(args->csv, &s->rows, &whole)) return false;
        for (int i = 0; i < s->rows.count; i++) {
            const bench_row *r = &s->rows.item[i];
            if (strcmp(r->library, "talus") == 0) continue;
            cli_error("%s: holds results of %s, not of this program: give it to --compare",
                      args->csv, r->library);
            return false;
        }
        if (whole < (long)st.st_size)
            cli_error("%s: the last row is cut off, run again", args->csv);
    } else if (exists) {
        char *old = cli_text("%s.old", args->csv);
        const bool moved = rename(args->csv, old) == 0;
        cli_error(moved ? "%s was there and is now %s" : "%s cannot be renamed to %s", args->csv,
                  old);
        free(old);
        if (!moved) return false;
    }
    s->csv = fopen(args->csv, exists && args->resume ? "r+" : "w");
    bool good = s->csv != NULL;
    if (good && exists && args->resume)
        good = ftruncate(fileno(s->csv), whole) == 0 && fseek(s->csv, 0, SEEK_END) == 0;
    if (good && whole == 0) {
        bench_csv_write_head(s->csv);
        good = fflush(s->csv) == 0;
    }
    if (!good) cli_error("--csv %s: %s", args->csv, strerror(errno));
    return good;
}

static char *bench_facts(const bench_args *args) {
    char *build = cli_facts();
    char *facts = cli_text("%s; threads per solver: %s; time limit %s s; times are the least of "
                           "repeats.",
                           build, args->threads, args->time_limit);
    free(build);
    return facts;
}

// A file to write; NULL after a message. bench_close reports one that could not be written whole.
static FILE *bench_create(const char *option, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) cli_error("%s %s: %s", option, path, strerror(errno));
    return file;
}

static bool bench_close(FILE *file, const char *option, const char *path) {
    const bool good = !ferror(file);
    const bool closed = fclose(file) == 0;
    if (!good || !closed) cli_error("%s %s: cannot be written: %s", option, path, strerror(errno));
    return good && closed;
}

static bool bench_write_files(const bench_args *args, const bench_set *set) {
    FILE *page = bench_create("--html", args->html);
    if (!page) return false;
    char *facts = bench_facts(args);
    bench_page_write(page, set, facts);
    free(facts);
    if (!bench_close(page, "--html", args->html)) return false;
    if (!args->svg || set->tolerances == 0) return true;
    FILE *picture = bench_create("--svg", args->svg);
    if (!picture) return false;
    bench_plot_profile(picture, set, set->tolerances - 1, true);
    return bench_close(picture, "--svg", args->svg);
}

// Solvers from best to worst: how many problems each solved, and its score.
static void bench_summary(const bench_set *set) {
    int width = (int)strlen("solver");
    for (int k = 0; k < set->count; k++)
        if (cli_width(set->series[k].label) > width) width = cli_width(set->series[k].label);
    cli_pad(stdout, "solver", width);
    for (int t = 0; t < set->tolerances; t++) {
        char text[24];
        bench_tolerance(text, set->tolerance[t]);
        printf("  solved at %-7s", text);
    }
    puts("  score");
    for (int k = 0; k < set->count; k++) {
        const bench_series *s = &set->series[k];
        cli_pad(stdout, s->label, width);
        for (int t = 0; t < set->tolerances; t++) {
            char text[24];
            snprintf(text, sizeof text, "%d of %d", s->solved[t], set->problems);
            printf("  %-17s", text);
        }
        printf("  %5.3f\n", s->score);
    }
}

// From the lists that have been checked to the files that are written.
static int bench_all(bench_args *args) {
    bench_run s = {.args = args};
    bench_rows compared = {0};
    bench_set set = {0};
    bool good = bench_read_compared(args, &compared) && bench_open(&s);
    if (good) {
        bench_run_missing(&s);
        const int own = s.rows.count;
        for (int i = 0; i < compared.count; i++) bench_rows_add(&s.rows, &compared.item[i]);
        compared.count = 0; // the rows have moved
        bench_set_init(&set, &s.rows, own);
        int shown = 0;
        for (int k = 0; k < set.count; k++)
            for (int t = 0; t < set.tolerances; t++) shown += set.series[k].run[t];
        if (shown < s.rows.count)
            cli_error(
                "--compare: %d of %d rows are for problems or tolerances that were not run here",
                s.rows.count - shown, s.rows.count - own);
        bench_summary(&set);
        good = bench_write_files(args, &set) && cli_flush() && !s.failed;
        if (good) fprintf(stderr, "results: %s; page: %s\n", args->csv, args->html);
    }
    if (s.csv && fclose(s.csv) != 0) good = false;
    bench_set_clear(&set);
    bench_rows_clear(&s.rows);
    bench_rows_clear(&compared);
    return good ? CLI_DONE : CLI_FAILED;
}

int cli_bench(const cli_verb *verb, int argc, char **argv) {
    bench_args args = {
        .csv = "bench.csv", .html = "bench.html", .time_limit = "10", .threads = "1"};
    bool help = false;
    int code = cli_parse(verb, argc, argv, bench_take, &args, &help);
    for (int i = optind; code == CLI_DONE && !help && i < argc; i++)
        solve_tasks_add(&args.tasks, argv[i]);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (code == CLI_DONE && !bench_check_names(&args.tasks)) {
        code = CLI_USAGE;
    } else if (code == CLI_DONE) {
        const talus_context_def def = {.log = bench_log, .log_user = &args};
        const talus_status made = talus_context_create(&def, &args.ctx);
        if (made != TALUS_OK) {
            cli_error("%s", talus_status_text(made));
            code = CLI_FAILED;
        }
        if (code == CLI_DONE && !bench_check_lists(&args)) code = CLI_USAGE;
        if (code == CLI_DONE) code = bench_check_files(&args);
        if (code == CLI_DONE) code = bench_all(&args);
    }
    talus_context_destroy(args.ctx);
    solve_tasks_clear(&args.tasks);
    free(args.solvers);
    free((void *)args.solver);
    free(args.tolerances);
    free((void *)args.tol);
    free(args.tolerance);
    free((void *)args.compare);
    return code;
}
