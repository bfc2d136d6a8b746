// SPDX-License-Identifier: Apache-2.0
#include "support/context.h"

talus_context *ctx;
test_alloc memory;

int set_up(void **state) {
    (void)state;
    memory = (test_alloc){0};
    const talus_context_def def = test_alloc_def(&memory);
    return talus_context_create(&def, &ctx) == TALUS_OK ? 0 : -1;
}

int tear_down(void **state) {
    (void)state;
    talus_context_destroy(ctx);
    return memory.live == 0 && memory.bad_releases == 0 ? 0 : -1;
}
