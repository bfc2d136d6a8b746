// SPDX-License-Identifier: Apache-2.0
// Facts about the build; TL_VERSION, TL_FLAGS and TL_FEATURES come from CMake.
#include "base/build_info.h"
#include "base/compiler.h"
#include "talus/base.h"

#define TL_TEXT_OF(x) #x
#define TL_VERSION_TEXT(a, b, c) TL_TEXT_OF(a) "." TL_TEXT_OF(b) "." TL_TEXT_OF(c)
#if defined(__clang__) // __clang_version__ ends in a blank
#define TL_COMPILER "clang " TL_VERSION_TEXT(__clang_major__, __clang_minor__, __clang_patchlevel__)
#elif defined(__GNUC__)
#define TL_COMPILER "gcc " __VERSION__
#else
#define TL_COMPILER "unknown compiler"
#endif

// The copy that TL_SIMD_CLONES functions run as on this machine; same order as there.
static const char *tl_simd_name(void) {
#if TL_HAVE_SIMD_CLONES
    if (__builtin_cpu_supports("avx512f")) return "avx512f";
    if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
    return "baseline";
}

talus_build talus_build_info(void) {
    return (talus_build){.version = TL_VERSION,
                         .commit = tl_build_commit,
                         .compiler = TL_COMPILER,
                         .flags = TL_FLAGS,
                         .simd = tl_simd_name(),
                         .features = TL_FEATURES};
}
