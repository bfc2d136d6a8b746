// SPDX-License-Identifier: Apache-2.0
// Times of both sides, each taken in a process of its own that a time limit ends.
#ifndef BENCH_SICONOS_MEASURE_H
#define BENCH_SICONOS_MEASURE_H
#include "siconos_side.h"

/// One solve of one problem. What was reached before a limit struck is kept.
typedef struct bench_measured {
    double seconds;               ///< least of the repeats; INFINITY: tolerance not reached
    double natural;               ///< the residual that judges, see bench_natural
    double residual, penetration; ///< of Talus' certificate
    double inner_tol;             ///< Siconos' own tolerance
    int iterations, repeats;
    bool late; ///< ended by the alarm
} bench_measured;

typedef struct bench_task {
    talus_context *ctx;
    const bench_case *c;
    const char *path;   ///< file of the problem
    const char *solver; ///< of Talus
    double tol, limit;  ///< natural residual to reach; seconds for one solve
} bench_task;

/// A set-up of Siconos with the tolerance it needs.
typedef struct bench_candidate {
    siconos_setup setup;
    bench_measured result;
} bench_candidate;

/// One solve with Talus.
bench_measured bench_try_talus(const bench_task *t);
/// Look for the loosest of Siconos' tolerances whose answer passes, then time it briefly. No solve
/// may take over `solve_limit`, nor all together over `search_limit` seconds.
void bench_try_siconos(const bench_task *t, double solve_limit, double search_limit,
                       bench_candidate *out);
/// Solve in turns with Talus (if `talus` says that it solves the problem) and with every candidate,
/// until the least times are settled; both are overwritten, and the order of the list may change.
void bench_race(const bench_task *t, bench_measured *talus, bench_candidate *list, int count);

#endif // BENCH_SICONOS_MEASURE_H
