// SPDX-License-Identifier: Apache-2.0
// The inside of a context, for the files of this room only.
#ifndef TL_BASE_CONTEXT_IMPL_H
#define TL_BASE_CONTEXT_IMPL_H
#include "base/context.h"
#include <stdatomic.h>

#define TL_ERROR_LENGTH 1024 // longer texts are cut

typedef struct tl_pool tl_pool;

struct talus_context {
    talus_context_def def;
    atomic_bool cancel; // the one field that a signal handler or another thread may touch
    size_t memory_now;  // bytes, headers of the blocks included, the context itself not
    size_t memory_peak;
    int64_t alloc_count;
    tl_pool *pool; // threads; NULL until a team of two or more is reserved
    char error[TL_ERROR_LENGTH];
};

void tl_pool_destroy(talus_context *ctx); // no pool is legal

#endif // TL_BASE_CONTEXT_IMPL_H
