// SPDX-License-Identifier: Apache-2.0
// The parts of `talus solve`, which `talus bench` uses too: what to solve, how, and what came out.
#ifndef CLI_SOLVE_H
#define CLI_SOLVE_H
#include "cli.h"
#include "talus/talus.h"
#include <sys/types.h>

/// One problem file, or an argument that led to none.
typedef struct solve_task {
    char *path;  ///< as given, or DIR/name
    char *name;  ///< last part of the path without .hdf5 or .h5
    char *error; ///< why there is no problem to read; NULL: there is a file
    char *out;   ///< where the solution goes; NULL: nowhere
    dev_t device;
    ino_t inode; ///< with `device`, which file it is; both 0 when there is none
} solve_task;

typedef struct solve_tasks {
    solve_task *item;
    int count;
} solve_tasks;

/// Add a file, or the *.hdf5 and *.h5 files of a directory in the order of their names.
void solve_tasks_add(solve_tasks *tasks, const char *path);
void solve_tasks_clear(solve_tasks *tasks);
/// What `option` names will be written: it must be a plain file or none, no input, and its
/// directory must be there. CLI_DONE, or the exit status after a message.
int solve_tasks_check_out(const solve_tasks *tasks, const char *option, const char *out);
/// Fix where each solution goes, before anything is solved: no input may be replaced and no two
/// solutions may share a file. CLI_DONE, or the exit status after a message.
int solve_tasks_set_out(solve_tasks *tasks, const char *out);

typedef enum solve_start { SOLVE_START_ZERO, SOLVE_START_GUESS, SOLVE_START_SOLUTION } solve_start;

/// The solver and how it is used, the same for all problems.
typedef struct solve_setup {
    talus_context *ctx;
    talus_solver *solver;
    const char *solver_name;
    const char *local;  ///< value of the solver's option, "" when it has none
    double tolerance;   ///< value of the solver's option, NaN when it has none
    double threads;     ///< same
    bool stops_natural; ///< the solver's stopping measure is the certificate's `natural`
    talus_law law;
    solve_start start;
    bool json, verbose;
    const char *progress; ///< what stands before the name in the progress line; NULL: nothing
} solve_setup;

bool solve_is_solver(const char *name);
/// Report a solver that does not exist, with the nearest that does.
void solve_unknown_solver(const char *name);
/// The row of the solver's option table; false when there is none. `nearest`, unless NULL, is
/// offered the keys that were passed.
bool solve_find_option(const char *solver, const char *key, talus_option_info *out,
                       cli_nearest *nearest);
/// Set an option of the solver; false after a message, which names it as the user wrote it
/// (`origin`). A key may carry the name of the solver it is meant for.
bool solve_set_choice(const solve_setup *setup, const char *key, const char *value,
                      const char *origin);
/// The number that is all of `text`; NaN when it is none or NULL.
double solve_number(const char *text);

/// From now on the first SIGINT or SIGTERM asks what runs in `ctx` to stop at its best iterate.
void solve_catch_signals(talus_context *ctx);
void solve_release_signals(void);
/// A signal was caught.
bool solve_interrupted(void);

/// What there is to say of one problem. Figures that are not known are NaN.
typedef struct solve_result {
    char *outcome; ///< "solved", why not, or "error: …"
    bool solved;
    bool has_problem, has_answer; ///< which of the parts below hold something
    talus_problem_info problem;
    talus_solve_info info;
    talus_certificate certificate;
    double seconds; ///< factoring, preparing and solving; reading the file is not part of it
    uint64_t hash;  ///< of the bits of r
} solve_result;

/// Solve from r, certify and judge: fills in everything of `result` but `problem` (an input, with
/// has_problem set) and leaves it without an answer when the status is not TALUS_OK.
talus_status solve_problem(const solve_setup *setup, const char *name, const talus_problem *problem,
                           double *r, solve_result *result);
/// Read, solve, certify and (where the task says so) write one problem.
void solve_one(const solve_setup *setup, const solve_task *task, solve_result *result);
void solve_result_clear(solve_result *result);

void solve_print_head(const solve_tasks *tasks, const char *solver);
void solve_print_row(const solve_tasks *tasks, const solve_task *task, const solve_setup *setup,
                     const solve_result *result);
void solve_print_json(const solve_task *task, const solve_setup *setup, const solve_result *result);

#endif // CLI_SOLVE_H
