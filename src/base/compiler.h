// SPDX-License-Identifier: Apache-2.0
// The compiler extensions the library uses, all in one place.
#ifndef TL_BASE_COMPILER_H
#define TL_BASE_COMPILER_H
#include <assert.h>

/// A function that must disappear into its callers: kernels written once for a dimension d that is
/// a constant at every call. Not where the build defines TL_NO_FORCED_INLINE: the checks of a
/// sanitizer make each copy so long that a file would compile for minutes.
#ifdef TL_NO_FORCED_INLINE
#define TL_INLINE static inline
#else
#define TL_INLINE static inline __attribute__((always_inline))
#endif

/// A function that takes a printf format as argument `text` and its values from `first` on.
#define TL_FORMAT(text, first) __attribute__((format(printf, text, first)))
/// A function that is seldom called: kept out of the way of the others.
#define TL_COLD __attribute__((cold))

/// Several doubles that are added and multiplied together.
typedef double tl_vec2 __attribute__((vector_size(16)));
typedef double tl_vec4 __attribute__((vector_size(32)));
typedef double tl_vec8 __attribute__((vector_size(64)));
/// Entries of two of them, those of the second numbered on.
#define TL_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/// The larger of two numbers; unlike fmax it is one instruction. A NaN in `a` gives `b`.
#define TL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define TL_MIN(a, b) ((a) < (b) ? (a) : (b))

/// An invariant of ours. Checked where asserts are on; elsewhere the compiler, and the analysers of
/// `make check`, may build on it.
#ifdef NDEBUG
#define TL_ASSUME(condition) ((condition) ? (void)0 : __builtin_unreachable())
#else
#define TL_ASSUME(condition) assert(condition)
#endif

/// A wish that the cache line at an address be fetched.
#define TL_PREFETCH(address) __builtin_prefetch(address)

/// Tell the processor that this is a waiting loop.
#if defined(__x86_64__) || defined(__i386__)
#define TL_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define TL_PAUSE() __asm__ volatile("yield")
#else
#define TL_PAUSE() ((void)0)
#endif

/// Compile a function once per instruction set and choose at load time. All copies give the same
/// bits, since -ffp-contract=off forbids fused operations. The build defines TL_NO_SIMD_CLONES
/// where resolvers of indirect functions must not exist (sanitizers) or must not count (coverage).
/// The order is that of tl_simd_name in build_info.c. Not for static functions: clang gives each a
/// global resolver, and two files with the same name would clash.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(TL_NO_SIMD_CLONES)
#define TL_HAVE_SIMD_CLONES 1
#define TL_SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TL_HAVE_SIMD_CLONES 0
#define TL_SIMD_CLONES
#endif

#endif // TL_BASE_COMPILER_H
