// SPDX-License-Identifier: Apache-2.0
// Small worlds with rods for tests. To be included after cmocka.h.
#ifndef TALUS_TESTS_RODS_H
#define TALUS_TESTS_RODS_H
#include "support/worlds.h"

enum { RODS_MOST = 512 }; ///< nodes of a rod

#define RODS_PI 3.14159265358979323846

/// Points on a line from a to b.
static inline void rods_line(int32_t nodes, const double a[3], const double b[3], double *x) {
    for (int32_t i = 0; i < nodes; i++)
        for (int k = 0; k < 3; k++) x[3 * i + k] = a[k] + (b[k] - a[k]) * i / (nodes - 1);
}

static inline int32_t rods_add(talus_world *w, const talus_rod_def *rod) {
    int32_t index = -1;
    WORLDS_OK(talus_world_add_rod(w, rod, &index));
    return index;
}

/// EI [N m²], and weight per length at gravity 1 [kg/m].
static inline double rods_bending(const talus_rod_def *rod) {
    return rod->young * 0.25 * RODS_PI * pow(rod->radius, 4);
}
static inline double rods_line_mass(const talus_rod_def *rod) {
    return rod->density * RODS_PI * rod->radius * rod->radius;
}

static inline void rods_near(const char *what, double is, double should_be, double within) {
    if (!(fabs(is - should_be) <= within))
        fail_msg("%s: %.12g is not %.12g within %.3g", what, is, should_be, within);
}

/// Step until no node is faster than `slow`, at most `steps` times; how many it took.
static inline int rods_settle(talus_world *w, double slow, int steps) {
    for (int k = 1; k <= steps; k++) {
        (void)worlds_step(w);
        const talus_rod_view view = talus_world_rods(w);
        double most = 0.0;
        for (int32_t i = 0; i < 3 * view.start[view.rods]; i++)
            most = fmax(most, fabs(view.velocity[i]));
        if (most <= slow) return k;
    }
    fail_msg("not at rest after %d steps", steps);
    return 0;
}

#endif // TALUS_TESTS_RODS_H
