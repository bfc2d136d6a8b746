#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as C17 and as C++17.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for header in "$TALUS_SOURCE_DIR"/include/talus/*.h; do
    name=talus/$(basename "$header")
    printf '#include "%s"\nint main(void) { return 0; }\n' "$name" >"$work/alone.c"
    printf '#include "%s"\nint main() { return 0; }\n' "$name" >"$work/alone.cpp"
    # the flags of a user, not ours: pedantic, and no system headers to hide behind
    $CC -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$TALUS_SOURCE_DIR/include" -fsyntax-only \
        "$work/alone.c"
    $CC -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$TALUS_SOURCE_DIR/include" \
        -fsyntax-only "$work/alone.cpp"
    count=$((count + 1))
done
echo "$count headers"
[ "$count" -ge 5 ]
