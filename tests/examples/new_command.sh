#!/bin/sh
# Adds the command of docs/adding-a-scheme.md, "A command" as the section says, in three files of a copy; links a flashlab that has it, and calls it.
#
#   LIBRARIES=DIR CXX="COMPILER FLAGS" LINK=FLAGS sh tests/examples/new_command.sh ROOT
set -eu
root=$(cd "${1:?usage: new_command.sh ROOT}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "new_command: $1" >&2
    exit 1
}

mkdir -p "$work/tree/tools/cli/commands"
cd "$work/tree"
for ending in h cpp; do
    sed 's|tests/examples/cells.h|tools/cli/commands/cells.h|' "$root/tests/examples/cells.$ending" > "tools/cli/commands/cells.$ending"
done
# The blocks of C++ of the section, in order: the options, the call.
for block in 1 2; do
    awk -v want="$block" '/^## /{ here = $0 == "## A command" } here && /^```cpp$/ { n++; inside = 1; next } /^```$/ { inside = 0 } here && inside && n == want' \
        "$root/docs/adding-a-scheme.md" > "$work/block$block"
    [ -s "$work/block$block" ] || fail "docs/adding-a-scheme.md, \"A command\" lacks its block $block"
done
awk -v options="$work/block1" -v call="$work/block2" '
    /^#include "tools\/cli\/commands\/bench.h"/ { print; print "#include \"tools/cli/commands/cells.h\""; included = 1; next }
    /^void add_small_commands\(/ { while ((getline line < options) > 0) print line; print ""; added = 1 }
    /^    add_small_commands\(app, action\);/ { while ((getline line < call) > 0) print line; called = 1 }
    { print }
    END { exit !(included && added && called) }' "$root/tools/cli/command_line.cpp" > tools/cli/command_line.cpp ||
    fail "tools/cli/command_line.cpp has no longer the places where a command is added"

for source in tools/cli/command_line.cpp tools/cli/commands/cells.cpp "$root/tools/cli/main.cpp"; do
    # shellcheck disable=SC2086 # flags are words
    $CXX -std=c++23 -O0 -I. -I"$root" -DFLASHLAB_VERSION='"0"' -c "$source" -o "$(basename "$source" .cpp).o" || fail "$source does not compile"
done
archives=
for room in $(sed -n 's/^flashlab_room(\([a-z_]*\) .*/\1/p; s/^flashlab_library(flashlab_\([a-z_]*\) .*/\1/p' "$root/CMakeLists.txt"); do
    archives="$archives $LIBRARIES/libflashlab_$room.a"
done
# shellcheck disable=SC2086
$CXX ./*.o -Wl,--start-group $archives -Wl,--end-group $LINK -o flashlab || fail "it does not link"

./flashlab cells modern-tlc --json > "$work/json" || fail "flashlab cells failed"
grep -q '"blocks": *[0-9]' "$work/json" || fail "no blocks in: $(cat "$work/json")"
./flashlab help cells | grep -q 'flashlab cells modern-tlc --json' || fail "its help has no example"
code=0
./flashlab cells no-such-device > /dev/null 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "a device that nobody knows ends with $code, not with 2"
code=0
./flashlab cells > /dev/null 2>&1 || code=$?
[ "$code" -eq 2 ] || fail "no PRESET ends with $code, not with 2"
