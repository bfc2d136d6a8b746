// SPDX-License-Identifier: Apache-2.0
// What everything in Talus rests on: status codes, the context, and facts about the build.
#ifndef TALUS_BASE_H
#define TALUS_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TALUS_EXTERN_C_BEGIN extern "C" {
#define TALUS_EXTERN_C_END }
#else
#define TALUS_EXTERN_C_BEGIN
#define TALUS_EXTERN_C_END
#endif

#if defined(__GNUC__)
#define TALUS_API __attribute__((visibility("default")))
#define TALUS_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TALUS_API
#define TALUS_MUST_CHECK
#endif

TALUS_EXTERN_C_BEGIN

/// Every status code with its text, in one list: X(name, value, text).
#define TALUS_STATUS_LIST(X)                                                                       \
    X(TALUS_OK, 0, "ok")                                                                           \
    X(TALUS_ERR_ARG, -1, "invalid argument")                                                       \
    X(TALUS_ERR_MEMORY, -2, "out of memory")                                                       \
    X(TALUS_ERR_FILE, -3, "file cannot be opened, read or written")                                \
    X(TALUS_ERR_FORMAT, -4, "file content is not valid")                                           \
    X(TALUS_ERR_PROBLEM, -5, "problem is not valid")                                               \
    X(TALUS_ERR_SINGULAR, -6, "matrix is singular or not positive definite")                       \
    X(TALUS_ERR_UNKNOWN, -7, "unknown name")                                                       \
    X(TALUS_ERR_SYSTEM, -8, "the operating system refused")                                        \
    X(TALUS_ERR_UNSUPPORTED, -9, "this solver is not for this problem")                            \
    X(TALUS_ERR_CANCELLED, -10, "cancelled")

/// 0 or negative. Not converging is a talus_outcome, never one of these.
typedef enum talus_status {
#define TALUS_STATUS_ENUM(name, value, text) name = value,
    TALUS_STATUS_LIST(TALUS_STATUS_ENUM)
#undef TALUS_STATUS_ENUM
} talus_status;

typedef enum talus_log_level { TALUS_LOG_INFO, TALUS_LOG_WARNING } talus_log_level;

/// How a context is made. Zero everywhere is the default: malloc, no log.
typedef struct talus_context_def {
    /// Memory aligned to `alignment` (a power of two), or NULL when there is none. All memory of
    /// the library comes from here, except what HDF5, CHOLMOD, LAPACK and libyaml take for
    /// themselves.
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory); ///< given together with `allocate`; NULL is legal
    void *memory_user;
    /// Called for warnings and notes with one line of text without a newline; may be NULL.
    void (*log)(void *user, talus_log_level level, const char *text);
    void *log_user;
} talus_context_def;

/// Services shared by all objects made with it: memory, log, threads, the text of the last error.
/// A context and its objects serve one calling thread at a time.
typedef struct talus_context talus_context;

/// `def` may be NULL (defaults) and is copied.
TALUS_API talus_status talus_context_create(const talus_context_def *def,
                                            talus_context **out) TALUS_MUST_CHECK;
/// All objects made with `ctx` must be gone before. NULL is allowed.
TALUS_API void talus_context_destroy(talus_context *ctx);
/// Detail of the last call that failed: what, where and what would be right. Never NULL.
TALUS_API const char *talus_context_last_error(const talus_context *ctx);
/// Ask the running solve to stop at its next check, or with false take the wish back.
/// The only call that is safe from a signal handler or another thread.
TALUS_API void talus_context_cancel(talus_context *ctx, bool cancel);
/// Bytes the context holds now, and the most it ever held.
TALUS_API void talus_context_memory(const talus_context *ctx, size_t *now, size_t *peak);

/// The text of a status code, from TALUS_STATUS_LIST.
TALUS_API const char *talus_status_text(talus_status status);

/// Facts about this build and this machine; every string is static.
typedef struct talus_build {
    const char *version;  ///< "0.1.0"
    const char *commit;   ///< commit of the sources, "unknown" outside a checkout
    const char *compiler; ///< name and version
    const char *flags;    ///< build type
    const char *simd;     ///< instruction set in use on this machine: "avx512f", "avx2", "baseline"
    const char *features; ///< libraries built in, with versions, separated by ", "
} talus_build;

TALUS_API talus_build talus_build_info(void);

/// 64-bit hash of `bytes` bytes, the same on every machine of equal byte order: two states are
/// taken to be equal bit for bit when their hashes are.
TALUS_API uint64_t talus_hash(const void *data, size_t bytes, uint64_t seed);

/// Whether `known` is so close to `name` (letters left out, added, swapped or wrong) that it may be
/// what was meant, and closer than *distance, which is then lowered; begin with SIZE_MAX.
TALUS_API bool talus_name_nearer(const char *name, const char *known, size_t *distance);

TALUS_EXTERN_C_END
#endif // TALUS_BASE_H
