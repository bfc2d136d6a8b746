// SPDX-License-Identifier: Apache-2.0
// How many random cases a test tries: few by default, more on wish.
#ifndef TALUS_TESTS_TRIALS_H
#define TALUS_TESTS_TRIALS_H

#include "base/rng.h"
#include <stdlib.h>

/// How often a loop over random cases shall run: `count`, times $TALUS_TEST_MORE.
static inline int trials_of(int count) {
    const char *more = getenv("TALUS_TEST_MORE");
    const long times = more ? strtol(more, NULL, 10) : 1;
    return times > 1 ? count * (int)times : count;
}

/// Random numbers of one trial of a kind of case, so that it can be repeated without those before.
static inline tl_rng trials_rng(uint64_t seed, int kind, int trial) {
    tl_rng rng = {.state = seed};
    rng.state = tl_rng_next(&rng) + (uint64_t)kind;
    rng.state = tl_rng_next(&rng) + (uint64_t)trial;
    return rng;
}

#endif // TALUS_TESTS_TRIALS_H
