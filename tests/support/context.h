// SPDX-License-Identifier: Apache-2.0
// A fresh context for every test of a file, its memory counted: a test that leaves a block behind
// fails. For cmocka_unit_test_setup_teardown.
#ifndef TALUS_TESTS_CONTEXT_H
#define TALUS_TESTS_CONTEXT_H
#include "support/alloc.h"

extern talus_context *ctx;
extern test_alloc memory; // of ctx

int set_up(void **state);
int tear_down(void **state);

#endif // TALUS_TESTS_CONTEXT_H
