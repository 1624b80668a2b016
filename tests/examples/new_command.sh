#!/bin/sh
# Adds the command of docs/adding-a-scheme.md, "A command" as the section says, a file and a line of a copy; links a flashlab that has it, and calls it.
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
cp "$root/tests/examples/cells.cpp" tools/cli/commands
cp "$root/tools/cli/command_line.cpp" "$root/tools/cli/command_options.h" tools/cli
line=$(awk '/^## /{ here = $0 == "## A command" } here && /^    COMMAND\(/ { print $1 }' "$root/docs/adding-a-scheme.md")
[ "$line" = "COMMAND(cells)" ] || fail "docs/adding-a-scheme.md, \"A command\" lacks the line of the list"
{ cat "$root/tools/cli/commands.def"; echo "$line"; } > tools/cli/commands.def

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
