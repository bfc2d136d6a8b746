#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `make install` puts in place serves a user: the example of the C interface compiles and links
# with what pkg-config says of the installed tree, and runs; so does the program.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$TALUS_BUILD_DIR" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
pc=$(find "$work/prefix" -name talus.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(pkg-config --variable=libdir talus)

# A library built with a sanitizer needs it in the program too.
# shellcheck disable=SC2046,SC2086 # lists of words
$CC -std=c17 ${TALUS_SANITIZE:+-fsanitize=$TALUS_SANITIZE} $(pkg-config --cflags talus) \
    "$TALUS_SOURCE_DIR/examples/api/pile.c" $(pkg-config --libs talus) -lm -o "$work/pile"
cd "$work"
LD_LIBRARY_PATH=$library ./pile >pile.svg
if [ "$("$work/prefix/bin/talus" --version | head -n 1)" != "talus $(pkg-config --modversion talus)" ]; then
    echo "the program and talus.pc differ in the version:"
    "$work/prefix/bin/talus" --version
    exit 1
fi
