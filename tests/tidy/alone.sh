#!/bin/sh
# Every file compiles by itself and without a warning, as in the presets debug, asan and tsan: they compile no files together, have no precompiled header, and warn
# of what is shadowed. Minutes. Usage: alone.sh ROOT FOLDER, a folder for what CMake makes
set -eu
cd "$1"
rm -rf "$2"
cmake --preset debug -B "$2" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null
made=$(ninja -C "$2" -t targets rule CUSTOM_COMMAND | grep -E '\.(h|cpp)$' || true)
# shellcheck disable=SC2086
[ -z "$made" ] || ninja -C "$2" $made > /dev/null
: > "$2/commands"
sed -n 's/^ *"command": "\(.*\)",*$/\1/p' "$2/compile_commands.json" | sed 's/\\"/"/g; s/\\\\/\\/g; s| -o [^ ]*\.o | -fsyntax-only |' > "$2/commands"
count=$(wc -l < "$2/commands")
[ "$count" -ge 100 ] || { echo "only $count files: is compile_commands.json laid out in another way?" >&2; exit 1; }
cd "$2"
code=0
tr '\n' '\0' < commands | xargs -0 -n 1 -P "$(nproc)" sh -c 'eval "$1"' sh > errors 2>&1 || code=$?
[ "$code" = 0 ] || { grep -E 'error|warning' errors || cat errors; exit 1; }
echo "$count files compile by themselves"
