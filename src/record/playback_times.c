// SPDX-License-Identifier: Apache-2.0
// When the frames of a recording are, without reading them.
#include "record/playback_impl.h"
#include <inttypes.h>
#include <string.h>

talus_status talus_playback_times(talus_playback *p, int64_t first, int64_t count, double *time,
                                  int64_t *step) {
    if (!p) return TALUS_ERR_ARG;
    TL_REQUIRE(p->ctx, first >= 0 && count >= 0 && first <= p->info.frames - count, TALUS_ERR_ARG,
               "%s: there are no frames %" PRId64 " to %" PRId64 "; there are %" PRId64
               ", from 0 on",
               p->path, first, first + count - 1, p->info.frames);
    const tl_hdf5_quiet quiet = tl_hdf5_quiet_begin();
    talus_status status = tl_playback_hold(p);
    if (status == TALUS_OK && time) {
        status = tl_playback_rows(p, TL_FRAME_TIME, first, count);
        if (status == TALUS_OK && count > 0)
            memcpy(time, p->value[TL_FRAME_TIME], (size_t)count * sizeof *time);
    }
    if (status == TALUS_OK && step) {
        status = tl_playback_rows(p, TL_FRAME_STEP, first, count);
        if (status == TALUS_OK && count > 0)
            memcpy(step, p->value[TL_FRAME_STEP], (size_t)count * sizeof *step);
    }
    tl_playback_release(p);
    tl_hdf5_quiet_end(quiet);
    return status;
}
