// SPDX-License-Identifier: Apache-2.0
#include "scene/arena.h"
#include <stdalign.h>
#include <string.h>

enum { ARENA_BLOCK = 1 << 14 }; // bytes; larger requests get a block of their own size

struct tl_arena_block {
    alignas(max_align_t) tl_arena_block *before;
    size_t used, size; // of the bytes that follow this head
};

talus_status tl_arena_take(tl_arena *a, int64_t count, size_t size, void *out_pointer) {
    void **out = out_pointer;
    const size_t align = sizeof(max_align_t);
    *out = NULL;
    if (count < 0 || (size > 0 && (uint64_t)count > (SIZE_MAX >> 1) / size)) {
        return tl_fail(a->ctx, TALUS_ERR_MEMORY, "%lld items of %zu bytes are too many",
                       (long long)count, size);
    }
    const size_t bytes = ((size_t)count * size + align - 1) / align * align;
    if (!a->block || a->block->size - a->block->used < bytes) {
        const size_t room = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK;
        tl_arena_block *block = NULL;
        TL_TRY(tl_alloc(a->ctx, (int64_t)(sizeof *block + room), 1, &block));
        block->before = a->block;
        block->size = room;
        a->block = block;
    }
    *out = (char *)(a->block + 1) + a->block->used;
    a->block->used += bytes;
    return TALUS_OK;
}

talus_status tl_arena_text(tl_arena *a, const char *text, size_t length, const char **out) {
    char *copy = NULL;
    *out = NULL;
    TL_TRY(tl_arena_take(a, (int64_t)length + 1, 1, &copy));
    TL_ASSUME(copy);
    if (length > 0) memcpy(copy, text, length);
    *out = copy;
    return TALUS_OK;
}

void tl_arena_clear(tl_arena *a) {
    while (a->block) {
        tl_arena_block *before = a->block->before;
        tl_free(a->ctx, a->block);
        a->block = before;
    }
}
