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
"$work/build/contents" || die "contents"
"$work/build/lab_device" || die "lab_device"
"$work/build/nand_shapes" || die "nand_shapes"
for broken in boot value; do
    "$work/build/nand_shapes" "$broken" > "$work/broken" && die "a $broken that loses its only copy passes"
    grep -q '^cut at [0-9]* ns' "$work/broken" || die "nand_shapes $broken does not tell the cut"
    echo "nand_shapes $broken: $(cat "$work/broken")"
done
PKG_CONFIG_PATH=$work/moved/lib/pkgconfig:$work/moved/lib/$(uname -m)-linux-gnu/pkgconfig
export PKG_CONFIG_PATH
cd "$work"
# shellcheck disable=SC2046 # flags are words
cc -std=c99 -Wall -Wextra -Werror -O2 -c "$examples/power_cuts.c" "$examples/contents.c" "$examples/block_adapter.c" $(pkg-config --cflags flashlab) || die "cc"
# shellcheck disable=SC2046
cc -o linked power_cuts.o block_adapter.o $(pkg-config --libs flashlab) || die "linking by pkg-config"
./linked > out || die "the program that pkg-config links"
# An adapter that is wrong in one place does not pass: not the bytes, not where they go, not what is refused, not what is told.
wrong() { # NAME SED
    sed "$2" "$examples/block_adapter.c" > wrong.c
    if cmp -s wrong.c "$examples/block_adapter.c"; then die "$1: nothing was changed"; fi
    # shellcheck disable=SC2046
    cc -std=c99 -O1 -I "$examples" -o wrong wrong.c contents.o $(pkg-config --cflags --libs flashlab) || die "$1: cc"
    code=0
    timeout 60 ./wrong > out 2>&1 || code=$?
    [[ $code -eq 1 ]] || die "an adapter that $1 passes: code $code, $(cat out)"
    echo "an adapter that $1: $(cat out)"
}
wrong "returns a wrong byte" '/^static int read_block/,/^}/s|return code_of(\(.*\));|const int code = code_of(\1); ((unsigned char*)to)[size - 1] ^= 1; return code;|'
wrong "reads the sector behind" '/^static int read_block/,/^}/s|sector_of(c, block, offset), size|sector_of(c, block, offset) + 1, size|'
wrong "reads one sector too many" '/^static int read_block/,/^}/s|size / FLASHLAB_SECTOR_BYTES, to|size / FLASHLAB_SECTOR_BYTES + 1, to|'
wrong "writes one sector too few" '/^static int prog_block/,/^}/s|size / FLASHLAB_SECTOR_BYTES, from|size / FLASHLAB_SECTOR_BYTES - 1, from|'
wrong "takes a prog over data" 's|return BLOCK_NOT_ERASED|continue|'
wrong "erases half a block" 's|c->block_size / FLASHLAB_SECTOR_BYTES));|c->block_size / 2 / FLASHLAB_SECTOR_BYTES));|'
wrong "does not erase" 's|const int code = code_of(flashlab_trim.*|const int code = BLOCK_OK;|'
wrong "answers a sync without power" 's|code_of(flashlab_flush(adapter_of(c)->device))|c == NULL|'
wrong_chip() { # NAME SED
    sed "$2" "$examples/nand_adapters.c" > wrong.c
    if cmp -s wrong.c "$examples/nand_adapters.c"; then die "$1: nothing was changed"; fi
    # shellcheck disable=SC2046
    cc -std=c99 -O1 -I "$examples" -o wrong wrong.c "$examples/nand_shapes.c" $(pkg-config --cflags --libs flashlab) || die "$1: cc"
    code=0
    timeout 60 ./wrong > out 2>&1 || code=$?
    [[ $code -eq 1 || $code -eq 3 ]] || die "an adapter of a chip that $1 passes: code $code, $(cat out)"
}
wrong_chip "reads each page from its start" 's|offset = (uint32_t)(at % page_bytes)|offset = 0|'
wrong_chip "programs one page too few" 's|done < bytes; done += page_bytes|done + page_bytes < bytes; done += page_bytes|'
wrong_chip "erases no block" 's|done < bytes; done += map.block_bytes|done + map.block_bytes < bytes; done += map.block_bytes|'
wrong_chip "takes a torn page for a good one" 's|return BLOCK_BAD|return BLOCK_OK|'
wrong_chip "does not tell that the power is lost" 's|BLOCK_POWER_LOST|BLOCK_OK|'
