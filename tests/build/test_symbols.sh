#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports talus_* and nothing else, has every function of the public headers, and
# calls nothing that ends the process, prints, or keeps hidden random state.
set -eu
library=$TALUS_BUILD_DIR/lib/libtalus.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0

nm -D --defined-only "$library" | awk '{ print $NF }' | sort >"$work/exported"
# Sanitizers and coverage add symbols of their own.
if grep -vE '^talus_|^(__asan|__odr_asan|__ubsan|__tsan|__gcov|__sanitizer|_fini$|_init$)' "$work/exported"; then
    echo 'the symbols above are exported and should not be'
    fail=1
fi

# Functions declared TALUS_API: the last name before the first parenthesis after the macro.
for header in "$TALUS_SOURCE_DIR"/include/talus/*.h; do
    grep -oE '^TALUS_API [^(]*\(' "$header" | grep -oE 'talus_[a-z0-9_]+ *\($' || true
done | tr -d ' (' | sort -u >"$work/declared"
if [ "$(wc -l <"$work/declared")" -lt 10 ]; then
    echo 'the public functions were not found in the headers'
    fail=1
fi
if comm -23 "$work/declared" "$work/exported" | grep .; then
    echo 'the functions above are declared but not in the library'
    fail=1
fi

# The objects alone: into the shared library a coverage build links a runtime that prints.
nm --undefined-only "$TALUS_BUILD_DIR/lib/libtalus.a" | awk '{ print $NF }' >"$work/needed"
if grep -xE '_?exit|_Exit|quick_exit|abort|v?f?printf|__v?f?printf_chk|puts|fputs|putchar|putc|perror|rand|srand|random|srandom|drand48' \
    "$work/needed"; then
    echo 'the library must not call the functions above'
    fail=1
fi
exit $fail
