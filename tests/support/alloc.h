// SPDX-License-Identifier: Apache-2.0
// A context allocator that counts what is alive and fails when told to. For a sweep: run the code
// with fail_at = 1, 2, 3 … until it succeeds; after each failure `live` must be what it was before.
#ifndef TALUS_TESTS_ALLOC_H
#define TALUS_TESTS_ALLOC_H
#include "talus/base.h"

typedef struct test_alloc {
    int64_t requests; // so far
    int64_t fail_at;  // the request, counted from 1, that gets NULL, and all after it; 0: none
    int64_t live;     // blocks given and not taken back
    size_t live_bytes;
    int64_t bad_releases; // blocks released that were never given, or overrun
} test_alloc;

/// A definition whose memory comes from `state`, which the caller has zeroed.
talus_context_def test_alloc_def(test_alloc *state);

#endif // TALUS_TESTS_ALLOC_H
