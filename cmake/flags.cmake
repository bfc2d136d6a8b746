# SPDX-License-Identifier: Apache-2.0
# How every C file of the project is compiled.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# One set of objects makes both the shared and the static library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g -fno-omit-frame-pointer") # sanitizers; asserts are on

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# Same bits on every machine: no contraction to fused operations. The other two only give up errno
# and floating-point traps, which nothing here looks at; no result changes.
add_compile_options(-ffp-contract=off -fno-math-errno -fno-trapping-math)

# Run-time choice of the instruction set works through indirect functions, whose resolvers run
# before a sanitizer is ready; and coverage should count one copy of each line.
if(TALUS_SANITIZE)
    add_compile_options(-fsanitize=${TALUS_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${TALUS_SANITIZE})
    add_compile_definitions(TL_NO_SIMD_CLONES TL_NO_FORCED_INLINE)
endif()
if(TALUS_COVERAGE)
    add_compile_options(--coverage -fprofile-update=atomic)
    add_link_options(--coverage)
    add_compile_definitions(TL_NO_SIMD_CLONES)
endif()
