// SPDX-License-Identifier: Apache-2.0
// The context: error text, log, cancellation and memory.
//
// A block of memory is [ header | items ], both on cache lines. The header remembers the size, so
// that the context knows what it holds without asking the allocator. With the default allocator the
// block comes from calloc and is aligned by hand: large blocks are then zero pages that the system
// hands out on first touch, which clearing by memset would undo.
#define _GNU_SOURCE // madvise
#include "base/context_impl.h"
#include <cblas.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct memory_header {
    size_t bytes; // of the whole block, as counted in memory_now
    void *start;  // what the allocator gave
} memory_header;

_Static_assert(sizeof(memory_header) <= TL_ALIGN, "the header takes the line before the items");

// Sweeps stream through hundreds of megabytes: with pages of 4 kB they wait for address translation
// more than for data. The advice is a wish; that it may be refused does not matter.
static void memory_use_huge_pages(void *start, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const size_t page = 4096, huge = (size_t)1 << 21;
    if (bytes < 2 * huge) return;
    const size_t skipped = (page - (uintptr_t)start % page) % page; // whole pages only
    (void)madvise((char *)start + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE);
#else
    (void)start;
    (void)bytes;
#endif
}

// Zeroed memory, TL_ALIGN aligned, for a definition that need not be in a context yet. *start is
// what memory_give_back takes.
static void *memory_take(const talus_context_def *def, size_t bytes, void **start) {
    if (def->allocate) {
        *start = def->allocate(def->memory_user, bytes, TL_ALIGN);
        return *start ? memset(*start, 0, bytes) : NULL;
    }
    *start = calloc(1, bytes + TL_ALIGN);
    if (!*start) return NULL;
    memory_use_huge_pages(*start, bytes + TL_ALIGN);
    // calloc aligns to 16 bytes, so there is always a line boundary within the next TL_ALIGN bytes
    const size_t offset = (size_t)((uintptr_t)*start % TL_ALIGN);
    return (char *)*start + (TL_ALIGN - offset);
}

static void memory_give_back(const talus_context_def *def, void *start) {
    if (!def->allocate)
        free(start);
    else if (def->release)
        def->release(def->memory_user, start);
}

talus_status talus_context_create(const talus_context_def *def, talus_context **out) {
    static const talus_context_def standard = {0};
    if (!out) return TALUS_ERR_ARG;
    *out = NULL;
    if (!def) def = &standard;
    if (def->release && !def->allocate) return TALUS_ERR_ARG;

    // The context is a block like any other, only not counted: 0 bytes means that nothing made with
    // it is left.
    void *start = NULL;
    char *block = memory_take(def, TL_ALIGN + sizeof(talus_context), &start);
    if (!block) return TALUS_ERR_MEMORY;
    *(memory_header *)(void *)block = (memory_header){.start = start};
    talus_context *ctx = (talus_context *)(void *)(block + TL_ALIGN);
    ctx->def = *def;
    atomic_init(&ctx->cancel, false);

    // Dense kernels are called on small blocks and from inside our own teams, where OpenBLAS
    // threads would only take the cores from ours; and with one thread its sums do not depend on
    // the machine. The setting is OpenBLAS's own and holds for the process.
    openblas_set_num_threads(1);
    *out = ctx;
    return TALUS_OK;
}

void talus_context_destroy(talus_context *ctx) {
    if (!ctx) return;
    tl_pool_destroy(ctx);
    const talus_context_def def = ctx->def;
    const memory_header *header = (const memory_header *)(const void *)((char *)ctx - TL_ALIGN);
    memory_give_back(&def, header->start);
}

const char *talus_context_last_error(const talus_context *ctx) { return ctx ? ctx->error : ""; }

void talus_context_cancel(talus_context *ctx, bool cancel) {
    if (ctx) atomic_store_explicit(&ctx->cancel, cancel, memory_order_relaxed);
}

bool tl_cancelled(const talus_context *ctx) {
    return atomic_load_explicit(&ctx->cancel, memory_order_relaxed);
}

void talus_context_memory(const talus_context *ctx, size_t *now, size_t *peak) {
    if (now) *now = ctx ? ctx->memory_now : 0;
    if (peak) *peak = ctx ? ctx->memory_peak : 0;
}

const char *talus_status_text(talus_status status) {
    switch (status) {
#define TALUS_STATUS_CASE(name, value, text)                                                       \
    case name:                                                                                     \
        return text;
        TALUS_STATUS_LIST(TALUS_STATUS_CASE)
#undef TALUS_STATUS_CASE
    }
    return "unknown status";
}

talus_status tl_fail(talus_context *ctx, talus_status status, const char *format, ...) {
    if (!ctx) return status;
    char text[TL_ERROR_LENGTH]; // apart, because an argument may be the text recorded before
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0) text[0] = '\0';
    memcpy(ctx->error, text, strlen(text) + 1);
    return status;
}

talus_status tl_fail_prefix(talus_context *ctx, talus_status status, const char *prefix) {
    if (!ctx) return status;
    return tl_fail(ctx, status, "%s: %s", prefix, ctx->error);
}

void tl_log(talus_context *ctx, talus_log_level level, const char *format, ...) {
    if (!ctx || !ctx->def.log) return;
    char text[TL_ERROR_LENGTH];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= 0) ctx->def.log(ctx->def.log_user, level, text);
}

// Bytes of a block with `count` items, or false when they exceed what any object may have.
static bool memory_size(int64_t count, size_t size, size_t *bytes) {
    const size_t most = (size_t)PTRDIFF_MAX - 2 * TL_ALIGN;
    if ((uint64_t)count > (size == 0 ? most : most / size)) return false;
    *bytes = TL_ALIGN + (size_t)count * size;
    return true;
}

talus_status tl_alloc(talus_context *ctx, int64_t count, size_t size, void *out_pointer) {
    void *items = NULL;
    memcpy(out_pointer, &items, sizeof items); // memcpy, for out_pointer may be any T **
    TL_REQUIRE(ctx, count >= 0, TALUS_ERR_ARG, "memory for %lld items asked for, 0 or more needed",
               (long long)count);
    ctx->alloc_count++;
    size_t bytes = 0;
    TL_REQUIRE(ctx, memory_size(count, size, &bytes), TALUS_ERR_MEMORY,
               "%lld items of %zu bytes are more than this machine can address", (long long)count,
               size);
    void *start = NULL;
    char *block = memory_take(&ctx->def, bytes, &start);
    TL_REQUIRE(ctx, block, TALUS_ERR_MEMORY,
               "no memory for %lld items of %zu bytes (%zu bytes are held already)",
               (long long)count, size, ctx->memory_now);
    *(memory_header *)(void *)block = (memory_header){.bytes = bytes, .start = start};
    ctx->memory_now += bytes;
    if (ctx->memory_now > ctx->memory_peak) ctx->memory_peak = ctx->memory_now;
    items = block + TL_ALIGN;
    memcpy(out_pointer, &items, sizeof items);
    return TALUS_OK;
}

talus_status tl_realloc(talus_context *ctx, int64_t used, int64_t count, size_t size,
                        void *inout_pointer) {
    void *old = NULL, *new = NULL;
    memcpy(&old, inout_pointer, sizeof old);
    TL_TRY(tl_alloc(ctx, count, size, &new)); // on failure the old block stays as it was
    const int64_t kept = used < count ? used : count;
    if (old && kept > 0) memcpy(new, old, (size_t)kept * size);
    tl_free(ctx, old);
    memcpy(inout_pointer, &new, sizeof new);
    return TALUS_OK;
}

talus_status tl_reserve(talus_context *ctx, int64_t count, size_t size, void *inout_pointer) {
    void *old = NULL;
    memcpy(&old, inout_pointer, sizeof old);
    if (!old) return tl_alloc(ctx, count, size, inout_pointer);
    const memory_header *header =
        (const memory_header *)(const void *)((const char *)old - TL_ALIGN);
    size_t bytes = 0;
    if (count >= 0 && memory_size(count, size, &bytes) && bytes <= header->bytes) return TALUS_OK;
    tl_free(ctx, old); // before the new one is asked for: both need not fit
    return tl_alloc(ctx, count > 0 ? count + count / 8 : count, size, inout_pointer);
}

talus_status tl_refill(talus_context *ctx, const void *source, int64_t count, size_t size,
                       void *inout_pointer) {
    void *items = NULL;
    if (!source) {
        memcpy(&items, inout_pointer, sizeof items);
        tl_free(ctx, items);
        items = NULL;
        memcpy(inout_pointer, &items, sizeof items);
        return TALUS_OK;
    }
    TL_TRY(tl_reserve(ctx, count, size, inout_pointer));
    memcpy(&items, inout_pointer, sizeof items);
    if (count > 0) memcpy(items, source, (size_t)count * size);
    return TALUS_OK;
}

void tl_free(talus_context *ctx, void *memory) {
    if (!memory) return;
    const memory_header *header =
        (const memory_header *)(const void *)((const char *)memory - TL_ALIGN);
    ctx->memory_now -= header->bytes;
    memory_give_back(&ctx->def, header->start);
}

talus_status tl_copy(talus_context *ctx, const void *source, int64_t count, size_t size,
                     void *out_pointer) {
    void *items = NULL;
    memcpy(out_pointer, &items, sizeof items);
    if (!source) return TALUS_OK;
    TL_TRY(tl_alloc(ctx, count, size, &items));
    if (count > 0) memcpy(items, source, (size_t)count * size);
    memcpy(out_pointer, &items, sizeof items);
    return TALUS_OK;
}

int64_t tl_alloc_count(const talus_context *ctx) { return ctx->alloc_count; }
