// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "support/context.h"
#include "support/scene_text.h"
#include <string.h>

static talus_status make(const char *text, talus_scene_info *info, talus_world **out) {
    talus_scene *scene = NULL;
    talus_status status = talus_scene_parse(ctx, "test", text, strlen(text), NULL, 0, &scene);
    if (status == TALUS_OK && info) *info = talus_scene_get_info(scene);
    if (status == TALUS_OK) status = talus_scene_make_world(scene, out);
    talus_scene_destroy(scene);
    return status;
}

talus_world *world_of(const char *text, talus_scene_info *info) {
    talus_world *w = NULL;
    if (make(text, info, &w) != TALUS_OK) fail_msg("%s", talus_context_last_error(ctx));
    return w;
}

int64_t world_without_memory(const char *text) {
    const int64_t live = memory.live;
    talus_status status = TALUS_ERR_MEMORY;
    int64_t tries = 0;
    while (status != TALUS_OK) {
        talus_world *w = NULL;
        memory.requests = 0;
        memory.fail_at = ++tries;
        status = make(text, NULL, &w);
        if (status != TALUS_OK && status != TALUS_ERR_MEMORY)
            fail_msg("%s", talus_context_last_error(ctx));
        talus_world_destroy(w);
        assert_int_equal(memory.live, live);
    }
    memory.fail_at = 0;
    return tries - 1;
}
