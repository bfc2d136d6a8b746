// SPDX-License-Identifier: Apache-2.0
// The parts of `talus run`: what to simulate, the loop over steps, and what is told about it.
#ifndef CLI_RUN_H
#define CLI_RUN_H
#include "cli.h"
#include "talus/talus.h"

/// What the command line asks for.
typedef struct run_setup {
    const char *scene_path;
    char *name;         ///< of the scene: last part of the path without .yaml or .yml
    char *out;          ///< the recording
    const char *ledger; ///< CSV file of the ledger; NULL: none
    char **set;         ///< overrides "path=value", in the order given
    int set_count;
    bool dry, json, quiet, verbose;
} run_setup;

/// The box around the free bodies; nothing is known without bodies. `front` is the same without the
/// outermost hundredth of the centres on each side, since a single grain can roll far.
typedef struct run_extent {
    int32_t bodies;
    double low[3], high[3];
    double front_low[3], front_high[3];
} run_extent;

run_extent run_extent_of(const talus_world *w);

/// How a run ended.
typedef enum run_end { RUN_DONE, RUN_AT_REST, RUN_INTERRUPTED, RUN_FAILED } run_end;

/// Everything the summary tells. Energies in J; works and losses are sums over all steps.
typedef struct run_totals {
    run_end end;
    char *error; ///< why it failed; NULL: it did not
    int64_t steps, frames, missed, iterations;
    double time, seconds;
    int32_t bodies, free_bodies, contacts, contacts_most;
    double residual; ///< worst; NaN: no step was certified
    int64_t residual_step;
    double penetration; ///< deepest
    double energy_start, energy_end;
    double energy_added; ///< came in with bodies between steps
    double work_obstacles, work_forces, work_joints, loss_impact, loss_friction, loss_numerical;
    double joint_error; ///< largest
    int32_t joints;
    run_extent start, now;
    uint64_t hash;
    double bytes;  ///< of the recording
    size_t memory; ///< most that the library held
} run_totals;

/// One run: everything open at the same time.
typedef struct run {
    const run_setup *setup;
    talus_context *ctx;
    talus_scene *scene;
    talus_scene_info info;
    talus_world *world;
    talus_world_def def;
    talus_recording *recording;
    FILE *csv;
    run_totals totals;
} run;

/// Scene and world from the setup; CLI_DONE or the exit status after a message.
int run_open(run *r, const run_setup *setup, talus_context *ctx);
void run_close(run *r);
/// Simulate to the end, write what is to be written; the totals say how it went.
void run_loop(run *r);

/// Is a step needed to bring the run to its end?
bool run_goes_on(const run *r, int64_t steps, double time);

/// The line that tells how far a run is.
typedef struct run_progress {
    bool terminal, shown;
    double begin, last;                 ///< clock: of the run, of the last line
    double mark, mark_time, mark_steps; ///< clock and position where the speed was last measured
    double speed, pace; ///< simulated seconds and steps per second; 0: not known yet
} run_progress;

void run_progress_init(run_progress *p);
/// Called after each step.
void run_progress_step(run_progress *p, const run *r, const talus_ledger *ledger);
void run_progress_end(run_progress *p);

/// What would be simulated, and an estimate from a few steps. CLI_DONE or the exit status.
int run_dry(run *r);

void run_print_summary(const run *r);
void run_print_json(const run *r);

#endif // CLI_RUN_H
