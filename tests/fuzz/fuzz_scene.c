// SPDX-License-Identifier: Apache-2.0
// Fuzz target of the scene reader (libFuzzer; `make fuzz`). The input is the text of a scene; what
// follows a byte 0 are overrides, separated by further ones. A scene that is accepted must give a
// world, and one that is refused must say why. Few bodies are allowed, so that a run stays short.
#include "scene/scene_impl.h"
#include <stdlib.h>
#include <string.h>

enum { FUZZ_SETS = 4, FUZZ_BODIES = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_world(const talus_scene *s) {
    talus_world *w = NULL;
    if (talus_scene_make_world(s, &w) != TALUS_OK) return;
    if (talus_scene_advance(s, w) != TALUS_OK) abort();
    talus_world_destroy(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    talus_context *ctx = NULL;
    talus_scene *s = NULL;
    const char *set[FUZZ_SETS];
    int32_t set_count = 0;
    char *text = malloc(size + 1); // overrides end with a byte 0, and a copy of its own shows reads
                                   // past the end
    if (!text || talus_context_create(NULL, &ctx) != TALUS_OK) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    const size_t length = strlen(text);
    for (size_t at = length + 1; at < size && set_count < FUZZ_SETS; at += strlen(text + at) + 1)
        set[set_count++] = text + at;
    const talus_status status =
        tl_scene_parse(ctx, "fuzz", text, length, set, set_count, FUZZ_BODIES, &s);
    if (status == TALUS_OK) {
        fuzz_world(s);
    } else if (s || talus_context_last_error(ctx)[0] == '\0') {
        abort();
    }
    talus_scene_destroy(s);
    size_t now = 0, peak = 0;
    talus_context_memory(ctx, &now, &peak);
    if (now != 0) abort();
    talus_context_destroy(ctx);
    free(text);
    return 0;
}
