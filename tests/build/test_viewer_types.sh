#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page's sources pass the strict checks of TypeScript. Where the packages of the page are not there,
# nothing was bundled either, and there is nothing to check.
set -eu
room=$TALUS_BUILD_DIR/viewer
if [ ! -e "$room/node_modules/typescript/bin/tsc" ]; then
    echo "skipped: the packages of the page are not installed ($room)"
    exit 0
fi
node "$room/node_modules/typescript/bin/tsc" -p "$room"
# The lock file names no host.
if grep -n 'resolved\|https\?:' "$TALUS_SOURCE_DIR/viewer/package-lock.json"; then
    echo "package-lock.json holds addresses"
    exit 1
fi
# Once built, nothing is installed or bundled again.
before=$(stat -c %Y "$TALUS_BUILD_DIR/generated/viewer.c")
stamp=$(stat -c %Y "$room/node_modules/.talus-lock.json")
node "$TALUS_SOURCE_DIR/viewer/build.mjs" "$room" "$TALUS_BUILD_DIR/viewer/again.c"
cmp "$TALUS_BUILD_DIR/generated/viewer.c" "$TALUS_BUILD_DIR/viewer/again.c"
[ "$stamp" = "$(stat -c %Y "$room/node_modules/.talus-lock.json")" ]
[ "$before" = "$(stat -c %Y "$TALUS_BUILD_DIR/generated/viewer.c")" ]
# Without npm the program still gets a C file, with the reason in place of the page.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
mkdir "$empty/bin"
ln -s "$(command -v node)" "$empty/bin/node"
PATH=$empty/bin node "$TALUS_SOURCE_DIR/viewer/build.mjs" "$empty/room" "$empty/none.c" 2>"$empty/said"
grep -q 'is not built' "$empty/said"
grep -q 'view_assets\[\] = {' "$empty/none.c"
! grep -q 'asset_0' "$empty/none.c"
