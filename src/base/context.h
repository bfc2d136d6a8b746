// SPDX-License-Identifier: Apache-2.0
// The context seen from inside: memory, errors, log, cancellation.
#ifndef TL_BASE_CONTEXT_H
#define TL_BASE_CONTEXT_H
#include "base/compiler.h"
#include "talus/base.h"

#define TL_ALIGN 64 // every block of memory starts on a cache line

/// Record a formatted reason and return `status`; the text replaces the one before.
talus_status tl_fail(talus_context *ctx, talus_status status, const char *format, ...)
    TL_FORMAT(3, 4) TL_COLD;
/// Put "prefix: " before the recorded reason (a file name, say); returns `status` unchanged.
talus_status tl_fail_prefix(talus_context *ctx, talus_status status, const char *prefix) TL_COLD;
void tl_log(talus_context *ctx, talus_log_level level, const char *format, ...)
    TL_FORMAT(3, 4) TL_COLD;
bool tl_cancelled(const talus_context *ctx);

/// Leave the function with the status of a call that failed.
#define TL_TRY(call)                                                                               \
    do {                                                                                           \
        const talus_status tl_try_status = (call);                                                 \
        if (tl_try_status != TALUS_OK) return tl_try_status;                                       \
    } while (0)
/// Same, through the clean-up label `done` and a local `status`.
#define TL_GOTO(call)                                                                              \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != TALUS_OK) goto done;                                                         \
    } while (0)
/// Leave with tl_fail(ctx, code, …) unless the condition holds.
#define TL_REQUIRE(ctx, condition, code, ...)                                                      \
    do {                                                                                           \
        if (!(condition)) return tl_fail(ctx, code, __VA_ARGS__);                                  \
    } while (0)

/// Memory for `count` items of `size` bytes, zeroed, TL_ALIGN aligned; count 0 is legal.
/// On failure *out is NULL and the error says how much was asked for.
talus_status tl_alloc(talus_context *ctx, int64_t count, size_t size,
                      void *out_pointer) TALUS_MUST_CHECK;
/// Resize to `count` items, keeping the `used` first ones; *inout may be NULL. What is new is
/// zeroed.
talus_status tl_realloc(talus_context *ctx, int64_t used, int64_t count, size_t size,
                        void *inout_pointer) TALUS_MUST_CHECK;
/// Room for at least `count` items at *inout, which may be NULL: a block that is large enough stays
/// as it is, another gives way to a new one (with an eighth to spare if there was one before, so
/// that sizes that vary settle). What the room holds is not defined. On failure *inout is NULL.
talus_status tl_reserve(talus_context *ctx, int64_t count, size_t size,
                        void *inout_pointer) TALUS_MUST_CHECK;
/// Room for `count` items, holding a copy of `source`; NULL source gives NULL.
talus_status tl_refill(talus_context *ctx, const void *source, int64_t count, size_t size,
                       void *inout_pointer) TALUS_MUST_CHECK;
void tl_free(talus_context *ctx, void *memory); // NULL is allowed
/// A copy of `count` items; NULL source gives NULL.
talus_status tl_copy(talus_context *ctx, const void *source, int64_t count, size_t size,
                     void *out_pointer) TALUS_MUST_CHECK;
/// Number of tl_alloc/tl_realloc calls so far: tests use it to show that a solve allocates nothing.
int64_t tl_alloc_count(const talus_context *ctx);

#define TL_ALLOC(ctx, count, out) tl_alloc(ctx, count, sizeof **(out), out)
#define TL_COPY(ctx, source, count, out) tl_copy(ctx, source, count, sizeof **(out), out)
#define TL_RESERVE(ctx, count, inout) tl_reserve(ctx, count, sizeof **(inout), inout)
#define TL_REFILL(ctx, source, count, inout) tl_refill(ctx, source, count, sizeof **(inout), inout)

#endif // TL_BASE_CONTEXT_H
