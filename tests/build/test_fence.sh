#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rooms are fenced: with the real compile command of each room, a header of the room itself and
# of every lower room is found, a header of any higher room is not; and no file climbs out with "..".
set -eu
rooms="base linalg cone problem solve"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0

# The include options of room $1, as the build uses them.
flags_of() {
    python3 - "$TALUS_BUILD_DIR/compile_commands.json" "$TALUS_SOURCE_DIR/src/$1/" <<'EOF'
import json, shlex, sys
for entry in json.load(open(sys.argv[1])):
    if entry["file"].startswith(sys.argv[2]):
        words = shlex.split(entry["command"])
        skip = False
        kept = []
        for word in words[1:]:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word not in ("-c", "-MD") and not word.endswith(".c"):
                kept.append(word)
        print(shlex.join(kept))
        break
else:
    sys.exit("no file of " + sys.argv[2] + " is compiled")
EOF
}

below=
for room in $rooms; do
    below="$below $room"
    flags=$(flags_of "$room")
    for other in $rooms; do
        header=$(cd "$TALUS_SOURCE_DIR/src" && find "$other" -name '*.h' | sort | head -n 1)
        printf '#include "%s"\nextern int nothing;\nint nothing = 0;\n' "$header" >"$work/snippet.c"
        # eval, for the options are quoted for a shell
        if eval "$CC $flags -fsyntax-only" "$work/snippet.c" 2>"$work/errors"; then found=yes; else found=no; fi
        case " $below " in *" $other "*) want=yes ;; *) want=no ;; esac
        if [ $found != $want ]; then
            echo "room $room, #include \"$header\": compiles: $found, should: $want"
            cat "$work/errors"
            fail=1
        elif [ $want = no ] && ! grep -q "$header.*\(No such file\|file not found\)" "$work/errors"; then
            echo "room $room, #include \"$header\" failed for another reason than the fence:"
            cat "$work/errors"
            fail=1
        fi
    done
done

if grep -rnE '#[[:space:]]*include[[:space:]]*"[^"]*\.\./' "$TALUS_SOURCE_DIR/src" \
    "$TALUS_SOURCE_DIR/include" "$TALUS_SOURCE_DIR/cli"; then
    echo 'includes with ".." go around the fence'
    fail=1
fi
# The program sees public headers and its own.
if grep -nE '#[[:space:]]*include[[:space:]]*"(base|linalg|cone|problem|solve)/' \
    "$TALUS_SOURCE_DIR"/cli/*.[ch]; then
    echo 'the program includes internal headers'
    fail=1
fi
exit $fail
