// SPDX-License-Identifier: Apache-2.0
// The parts of `talus run`: what to simulate, the loop over steps, and what is told about it.
#ifndef CLI_RUN_H
#define CLI_RUN_H
#include "cli.h"
#include "talus/talus.h"

/// How the page of a run is reached (--view).
typedef struct view_address {
    const char *host; ///< numeric address; NULL: 127.0.0.1
    int port;         ///< 0: any that is free
} view_address;

/// What the command line asks for.
typedef struct run_setup {
    const char *scene_path;
    char *name;         ///< of the scene: last part of the path without .yaml or .yml
    char *out;          ///< the recording
    const char *ledger; ///< CSV file of the ledger; NULL: none
    char **set;         ///< overrides "path=value", in the order given
    int set_count;
    bool dry, json, quiet, verbose, view;
    view_address address;
} run_setup;

/// The box around the free bodies.
talus_extent run_extent_of(talus_context *ctx, const talus_world *w);

/// How a run ended.
typedef enum run_end { RUN_DONE, RUN_AT_REST, RUN_INTERRUPTED, RUN_FAILED } run_end;

/// Everything the summary tells. Energies in J; works and losses are sums over all steps.
typedef struct run_totals {
    run_end end;
    char *error; ///< why it failed; NULL: it did not
    int64_t steps, frames, missed, iterations;
    double time, seconds;
    double record_seconds; ///< of these, spent on the recording
    int32_t bodies, free_bodies, contacts, contacts_most;
    double residual; ///< worst; NaN: no step was certified
    int64_t residual_step;
    double penetration; ///< deepest
    double energy_start, energy_end;
    double energy_added; ///< came in with bodies between steps
    double work_obstacles, work_forces, work_joints, loss_impact, loss_friction, loss_numerical;
    double joint_error; ///< largest
    int32_t joints;
    talus_extent start, now;
    uint64_t hash;
    double bytes;                  ///< of the recording
    size_t memory;                 ///< most that the library held
    int64_t particles, nodes;      ///< of sand, and of the grid that carries it, at the end
    double sand_volume, sand_lost; ///< of grain material: there, and gone through free faces
    int32_t rods;
    double rod_length;                ///< of all together, at the end [m]
    double strain_least, strain_most; ///< of their segments, likewise
} run_totals;

typedef struct run run;

/// Someone who looks on while a run goes on, from another thread.
typedef struct run_watch {
    void *user;
    /// Around everything that uses the recording: HDF5 serves one thread at a time.
    void (*file)(void *user, bool begin);
    /// Called when the run begins (`ledger` NULL) and after each step; waits while the run is to
    /// wait. False: the run is to stop.
    bool (*step)(void *user, const run *r, const talus_ledger *ledger);
} run_watch;

/// What the scene wants measured at every step.
typedef struct run_observe {
    talus_observer *observer; ///< NULL: nothing
    talus_moments *moments;
    talus_ledger_field *field; ///< one for each number
    double *value;
    int32_t count;
} run_observe;

/// One run: everything open at the same time.
struct run {
    const run_setup *setup;
    talus_context *ctx;
    talus_scene *scene;
    talus_scene_info info;
    talus_world *world;
    talus_world_def def;
    talus_recording *recording;
    FILE *csv;
    run_observe observe;
    run_totals totals;
    int quiet;  ///< steps for which all has been at rest
    char *path; ///< of the scene, from the root
    bool resumed;
    int64_t checkpoint, last_step; ///< resumed: from which; step of the last frame that stays,
    double last_frame;             ///< and its time
    const run_watch *watch;        ///< NULL: nobody looks on
    double watched;                ///< seconds spent in watch->step
};

/// Scene and world from the setup; CLI_DONE or the exit status after a message.
int run_open(run *r, const run_setup *setup, talus_context *ctx);
void run_close(run *r);
/// Simulate to the end as run_loop does, with signals caught; print what came out. The exit status.
int run_simulate(run *r);
/// Messages of the library; `user` is the run_setup.
void run_log(void *user, talus_log_level level, const char *text);
/// Simulate to the end, write what is to be written; the totals say how it went.
void run_loop(run *r);

/// Resumed: the totals as they were at the checkpoint.
void run_restore(run *r, const talus_checkpoint *checkpoint);
/// Has it come to its end already?
bool run_is_over(const run *r);
/// When the next frame is due, at intervals, after one at `time`.
double run_next_frame(double interval, double time);
/// The path with another ending in place of .h5 or .hdf5; free it.
char *run_beside(const char *path, const char *ending);

/// Make ready to measure.
talus_status run_observe_open(run *r);
/// Measure after a step and hand the numbers to the recording.
talus_status run_observe_step(run *r, const talus_ledger *ledger);
void run_observe_close(run *r);

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
