// SPDX-License-Identifier: Apache-2.0
// `talus solve`: problems from files, one row or JSON object each, judged by the certificate.
#define _GNU_SOURCE
#include "solve.h"
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOLVE_SOLVER = CLI_OPTION_FIRST,
    SOLVE_LOCAL,
    SOLVE_TOL,
    SOLVE_THREADS,
    SOLVE_TIME_LIMIT,
    SOLVE_LAW,
    SOLVE_SET,
    SOLVE_START,
    SOLVE_OUT,
    SOLVE_JSON,
    SOLVE_VERBOSE,
};

const cli_option cli_solve_options[] = {
    {"solver", "NAME",
     "the solver ('talus help solvers' lists all); default: that of --SOLVER.KEY, else auto",
     SOLVE_SOLVER},
    {"local", "NAME", "the one-contact solver it uses", SOLVE_LOCAL},
    {"tol", "T", "tolerance of the stopping measure", SOLVE_TOL},
    {"threads", "N", "threads; the answer is the same, bit for bit, for any number", SOLVE_THREADS},
    {"time-limit", "S", "give up on a problem after S seconds", SOLVE_TIME_LIMIT},
    {"law", "LAW", "coulomb (default): true dry friction; associated: its convex relaxation",
     SOLVE_LAW},
    {"set", "KEY=VALUE",
     "any option of the solver ('talus help nlgs' lists them); also --nlgs.KEY VALUE", SOLVE_SET},
    {"start", "FROM", "zero (default), or the guess or the solution that stands in the file",
     SOLVE_START},
    {"out", "FILE|DIR/", "write the problem with its solution; for several problems a directory",
     SOLVE_OUT},
    {"json", NULL, "one JSON object a line in place of the table", SOLVE_JSON},
    {"verbose", NULL, "a line on stderr for each check of the stopping measure", SOLVE_VERBOSE},
    {"help", NULL, "this page", CLI_OPTION_HELP},
    {0},
};

const char cli_solve_help[] =
    "FILE is a friction problem in the FCLIB format (HDF5), local or global. Of a DIR all *.hdf5\n"
    "and *.h5 files are solved, in the order of their names.\n"
    "\n"
    "A row tells the size of the problem, the rows of H per velocity unknown (cont/dof), how the\n"
    "solve ended, the time it took (reading the file not counted) and how good the answer is:\n"
    "natural and residual measure how far the law of friction is violated, penetration is the\n"
    "largest approaching velocity left at a contact. All three are recomputed from the answer by\n"
    "code that no solver uses; 'not confirmed' means that they do not bear the solver out.\n"
    "\n"
    "Rows go to stdout, all else to stderr. Ctrl-C ends the running problem at its best iterate.\n"
    "Exit status: 0 all solved, 1 something failed or was not solved, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  talus solve problem.hdf5\n"
    "  talus solve DIR --tol 1e-6 --time-limit 60\n"
    "  talus solve DIR --json > results.jsonl\n"
    "  talus solve problem.hdf5 --local enum --nlgs.tolerance 1e-10 --threads 2\n"
    "  talus solve problem.hdf5 --out solved.hdf5\n"
    "  talus solve solved.hdf5 --start solution\n";

// One option for the solver, in the order of the command line: the last word counts.
typedef struct solve_choice {
    char *key, *value;
    char *origin; // what the user wrote, for messages
} solve_choice;

typedef struct solve_args {
    solve_setup setup;
    const char *out;
    solve_choice *choice;
    int choice_count;
    solve_tasks tasks;
    const char *current; // name of the problem being solved, NULL before the first
} solve_args;

static void solve_log(void *user, talus_log_level level, const char *text) {
    const solve_args *args = user;
    if (level != TALUS_LOG_WARNING && !args->setup.verbose) return;
    cli_error("%s%s%s%s", args->current ? args->current : "", args->current ? ": " : "",
              level == TALUS_LOG_WARNING ? "warning: " : "", text);
}

static void solve_add_choice(solve_args *args, const char *key, const char *value, char *origin) {
    args->choice = cli_grow(args->choice, (size_t)args->choice_count + 1, sizeof *args->choice);
    args->choice[args->choice_count++] = (solve_choice){
        .key = cli_text("%s", key), .value = cli_text("%s", value), .origin = origin};
}

static bool solve_add_set(solve_args *args, const char *text) {
    const char *equal = strchr(text, '=');
    if (!equal || equal == text) {
        cli_error("--set %s: write KEY=VALUE, for example --set tolerance=1e-6", text);
        return false;
    }
    char *key = cli_text("%.*s", (int)(equal - text), text);
    solve_add_choice(args, key, equal + 1, cli_text("--set %s", text));
    free(key);
    return true;
}

// Which of the words `value` is, from 0; −1, after a message, when none.
static int solve_word(const char *option, const char *value, const char *const *word, int count) {
    cli_nearest nearest;
    cli_nearest_init(&nearest, value);
    for (int i = 0; i < count; i++) {
        if (strcmp(value, word[i]) == 0) return i;
        cli_nearest_offer(&nearest, word[i]);
    }
    cli_error_unknown(option, value, nearest.best, "'talus help solve'");
    return -1;
}

static bool solve_take(void *user, int id, const char *value) {
    solve_args *args = user;
    static const char *const law[] = {"coulomb", "associated"};
    static const char *const start[] = {"zero", "guess", "solution"};
    int word = 0;
    switch (id) {
    case SOLVE_SOLVER:
        args->setup.solver_name = value;
        break;
    case SOLVE_LOCAL:
        solve_add_choice(args, "local", value, cli_text("--local"));
        break;
    case SOLVE_TOL:
        solve_add_choice(args, "tolerance", value, cli_text("--tol"));
        break;
    case SOLVE_THREADS:
        solve_add_choice(args, "threads", value, cli_text("--threads"));
        break;
    case SOLVE_TIME_LIMIT:
        solve_add_choice(args, "time_limit", value, cli_text("--time-limit"));
        break;
    case SOLVE_LAW:
        word = solve_word("law", value, law, 2);
        args->setup.law = word == 1 ? TALUS_LAW_ASSOCIATED : TALUS_LAW_COULOMB;
        break;
    case SOLVE_START:
        word = solve_word("start", value, start, 3);
        args->setup.start = word > 0 ? (solve_start)word : SOLVE_START_ZERO;
        break;
    case SOLVE_SET:
        return solve_add_set(args, value);
    case SOLVE_OUT:
        args->out = value;
        break;
    case SOLVE_JSON:
        args->setup.json = true;
        break;
    case SOLVE_VERBOSE:
        args->setup.verbose = true;
        break;
    default:
        return false;
    }
    return word >= 0;
}

// `--nlgs.KEY VALUE` and `--nlgs.KEY=VALUE` become `--set nlgs.KEY=VALUE`, at the same place of the
// command line, so that getopt_long keeps the order. Returns NULL after a message.
static char **solve_expand(int argc, char **argv, int *count) {
    char **out = cli_alloc(2 * (size_t)argc + 1, sizeof *out);
    bool options = true;
    *count = 0;
    for (int i = 0; i < argc; i++) {
        const char *a = argv[i];
        const size_t length = strcspn(a, "=");
        const char *dot = memchr(a, '.', length);
        if (strcmp(a, "--") == 0) options = false;
        if (!options || strncmp(a, "--", 2) != 0 || !dot || dot == a + 2) {
            out[(*count)++] = cli_text("%s", a);
        } else if (a[length] == '=' || i + 1 < argc) {
            out[(*count)++] = cli_text("--set");
            out[(*count)++] =
                a[length] == '=' ? cli_text("%s", a + 2) : cli_text("%s=%s", a + 2, argv[i + 1]);
            i += a[length] != '=';
        } else {
            cli_error("%s needs a value ('talus help solve' explains it)", a);
            for (int k = 0; k < *count; k++) free(out[k]);
            free(out);
            return NULL;
        }
    }
    return out;
}

// The value in force: the last one set, else the default of the table; NULL without such an option.
// A default lives in the library's table, so the text outlives the call.
static const char *solve_value(const solve_args *args, const char *key) {
    for (int i = args->choice_count - 1; i >= 0; i--) {
        const char *dot = strchr(args->choice[i].key, '.');
        if (strcmp(dot ? dot + 1 : args->choice[i].key, key) == 0) return args->choice[i].value;
    }
    talus_option_info option;
    return solve_find_option(args->setup.solver_name, key, &option, NULL) ? option.initial : NULL;
}

// Without --solver: the one whose option is given (--nlgs.KEY), nlgs with --local, else auto.
static void solve_choose_solver(solve_args *args) {
    for (int i = 0; i < args->choice_count && !args->setup.solver_name; i++) {
        const char *key = args->choice[i].key, *dot = strchr(key, '.'), *name, *summary;
        for (int32_t k = 0; dot && talus_solver_at(k, &name, &summary); k++)
            if (strlen(name) == (size_t)(dot - key) && strncmp(name, key, strlen(name)) == 0)
                args->setup.solver_name = name;
        if (strcmp(key, "local") == 0) args->setup.solver_name = "nlgs";
    }
    if (!args->setup.solver_name) args->setup.solver_name = "auto";
}

// Context, solver and options; CLI_DONE or the exit status after a message.
static int solve_prepare(solve_args *args) {
    solve_setup *setup = &args->setup;
    const talus_context_def def = {.log = solve_log, .log_user = args};
    const talus_status made = talus_context_create(&def, &setup->ctx);
    if (made != TALUS_OK) {
        cli_error("%s", talus_status_text(made));
        return CLI_FAILED;
    }
    solve_choose_solver(args);
    if (!solve_is_solver(setup->solver_name)) {
        solve_unknown_solver(setup->solver_name);
        return CLI_USAGE;
    }
    if (talus_solver_create(setup->ctx, setup->solver_name, &setup->solver) != TALUS_OK) {
        cli_error("%s", talus_context_last_error(setup->ctx));
        return CLI_FAILED;
    }
    for (int i = 0; i < args->choice_count; i++) {
        const solve_choice *c = &args->choice[i];
        if (!solve_set_choice(setup, c->key, c->value, c->origin)) return CLI_USAGE;
    }
    const char *local = solve_value(args, "local"), *stop = solve_value(args, "stop");
    setup->local = local ? local : "";
    setup->tolerance = solve_number(solve_value(args, "tolerance"));
    setup->threads = solve_number(solve_value(args, "threads"));
    setup->stops_natural = !stop || strcmp(stop, "natural") == 0;
    return CLI_DONE;
}

// Solve all tasks, one after the other; CLI_DONE when all of them are solved.
static int solve_all(solve_args *args) {
    const solve_setup *setup = &args->setup;
    const solve_tasks *tasks = &args->tasks;
    int solved = 0, begun = 0;
    double seconds = 0.0;
    bool written = true;
    if (!setup->json) solve_print_head(tasks, setup->solver_name);
    for (; begun < tasks->count && !solve_interrupted() && written; begun++) {
        const solve_task *task = &tasks->item[begun];
        solve_result result;
        args->current = task->name;
        solve_one(setup, task, &result);
        if (strncmp(result.outcome, "error: ", 7) == 0) cli_error("%s", result.outcome + 7);
        if (setup->json)
            solve_print_json(task, setup, &result);
        else
            solve_print_row(tasks, task, setup, &result);
        written = cli_flush(); // who follows the output sees a row when its problem is done
        solved += result.solved;
        if (isfinite(result.seconds)) seconds += result.seconds;
        solve_result_clear(&result);
    }
    char time[24];
    cli_seconds(time, seconds);
    fprintf(stderr, "%d of %d solved, %s", solved, tasks->count, time);
    if (begun < tasks->count) fprintf(stderr, "; %d not begun", tasks->count - begun);
    fputc('\n', stderr);
    return solved == tasks->count && written ? CLI_DONE : CLI_FAILED;
}

int cli_solve(const cli_verb *verb, int argc, char **argv) {
    solve_args args = {0};
    bool help = false;
    int count = 0;
    char **words = solve_expand(argc, argv, &count);
    if (!words) return CLI_USAGE;
    int code = cli_parse(verb, count, words, solve_take, &args, &help);
    for (int i = optind; code == CLI_DONE && !help && i < count; i++)
        solve_tasks_add(&args.tasks, words[i]);
    if (code == CLI_DONE && help) {
        cli_print_verb(verb, stdout);
    } else if (code == CLI_DONE) {
        code = solve_prepare(&args);
        if (code == CLI_DONE && args.out) code = solve_tasks_set_out(&args.tasks, args.out);
        if (code == CLI_DONE) {
            solve_catch_signals(args.setup.ctx);
            code = solve_all(&args);
            solve_release_signals();
        }
    }
    talus_solver_destroy(args.setup.solver);
    talus_context_destroy(args.setup.ctx);
    solve_tasks_clear(&args.tasks);
    for (int i = 0; i < args.choice_count; i++) {
        free(args.choice[i].key);
        free(args.choice[i].value);
        free(args.choice[i].origin);
    }
    free(args.choice);
    for (int i = 0; i < count; i++) free(words[i]);
    free(words);
    return code;
}
