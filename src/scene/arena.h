// SPDX-License-Identifier: Apache-2.0
// Memory that is given back all at once: everything a scene consists of lives in one arena, so that
// no path of an error has anything else to clean up.
#ifndef TL_SCENE_ARENA_H
#define TL_SCENE_ARENA_H
#include "base/context.h"

typedef struct tl_arena_block tl_arena_block;

typedef struct tl_arena {
    talus_context *ctx;
    tl_arena_block *block; // the newest; it links to the one before
} tl_arena;

/// Zeroed memory for `count` items; lives until tl_arena_clear.
talus_status tl_arena_take(tl_arena *a, int64_t count, size_t size,
                           void *out_pointer) TALUS_MUST_CHECK;
/// A copy of `length` bytes with a zero byte behind them.
talus_status tl_arena_text(tl_arena *a, const char *text, size_t length,
                           const char **out) TALUS_MUST_CHECK;
void tl_arena_clear(tl_arena *a);

#define TL_TAKE(arena, count, out) tl_arena_take(arena, count, sizeof **(out), out)

#endif // TL_SCENE_ARENA_H
