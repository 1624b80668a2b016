#!/usr/bin/env bash
# The library as others use it: installed into a prefix, found by find_package and by pkg-config, a block device adapter over it cut at 299 instants.
# library.sh BUILD SOURCE
set -euo pipefail
build=${1:?usage: library.sh BUILD SOURCE} examples=${2:?usage: library.sh BUILD SOURCE}/tests/examples/library
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-library.XXXXXX")
trap 'rm -rf "$work"' EXIT
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

cmake --install "$build" --component development --prefix "$work/prefix" > "$work/log" 2>&1 || die "install: $(tail -n 3 "$work/log")"
mv "$work/prefix" "$work/moved" # what is installed may be moved
cp -r "$examples" "$work/project"
cmake -G Ninja -S "$work/project" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_BUILD_TYPE=Release > "$work/log" 2>&1 || die "cmake: $(tail -n 5 "$work/log")"
cmake --build "$work/build" > "$work/log" 2>&1 || die "build: $(grep -m 3 -E 'error|undefined' "$work/log")"
"$work/build/power_cuts" || die "power cuts"
"$work/build/power_cuts" broken > "$work/broken" && die "a store that overwrites its only copy passes"
grep -q 'was put' "$work/broken" || die "the loss is not told"
[[ $("$work/build/power_cuts" broken) == "$(cat "$work/broken")" ]] || die "it does not repeat"
"$work/build/lab_device" || die "lab_device"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig:$work/moved/lib/$(uname -m)-linux-gnu/pkgconfig
cd "$work"
# shellcheck disable=SC2046 # flags are words
cc -std=c99 -Wall -Wextra -Werror -O2 -c "$examples/power_cuts.c" "$examples/block_adapter.c" $(pkg-config --cflags flashlab) || die "cc"
# shellcheck disable=SC2046
cc -o linked power_cuts.o block_adapter.o $(pkg-config --libs flashlab) || die "linking by pkg-config"
./linked > out || die "the program that pkg-config links"
