// SPDX-License-Identifier: Apache-2.0
// The clock behind time limits and reported times.
#define _GNU_SOURCE // clock_gettime under -std=c17
#include "base/timer.h"
#include <time.h>

double tl_seconds(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
