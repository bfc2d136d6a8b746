// SPDX-License-Identifier: Apache-2.0
// The parts of `talus solve`: what to solve, how, and what came out.
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
} solve_setup;

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

/// Read, solve, certify and (where the task says so) write one problem.
void solve_one(const solve_setup *setup, const solve_task *task, solve_result *result);
void solve_result_clear(solve_result *result);

void solve_print_head(const solve_tasks *tasks, const char *solver);
void solve_print_row(const solve_tasks *tasks, const solve_task *task, const solve_setup *setup,
                     const solve_result *result);
void solve_print_json(const solve_task *task, const solve_setup *setup, const solve_result *result);

#endif // CLI_SOLVE_H
