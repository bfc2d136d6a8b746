// SPDX-License-Identifier: Apache-2.0
// The files of examples/problems: what they are called, what they say of themselves, and the
// problem in each. bench/solvers/example_problems.c writes them, tests/regress/test_examples.c
// compares.
#ifndef TESTS_EXAMPLES_H
#define TESTS_EXAMPLES_H
#include "talus/problem.h"

typedef struct example {
    const char *name; // of the file, without .hdf5; "hard/…" for those that defeat many solvers
    const char *title, *description;
} example;

/// Example `index` from 0; NULL past the end.
const example *example_at(int index);
talus_status example_create(talus_context *ctx, int index, talus_problem **out);

#endif // TESTS_EXAMPLES_H
