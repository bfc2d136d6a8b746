// SPDX-License-Identifier: Apache-2.0
// The box around the free bodies.
#include "run.h"

talus_extent run_extent_of(talus_context *ctx, const talus_world *w) {
    talus_extent extent = {0};
    talus_moments *moments = NULL;
    talus_moment moment;
    // What cannot be measured for want of memory is not told.
    if (talus_moments_create(ctx, &moments) != TALUS_OK) return extent;
    if (talus_moments_world(moments, w, 0.0, &moment) != TALUS_OK ||
        talus_moment_extent(ctx, &moment, &extent) != TALUS_OK)
        extent = (talus_extent){0};
    talus_moments_destroy(moments);
    return extent;
}
