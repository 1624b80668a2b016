#!/usr/bin/env bash
# The static binary does what the other one does, in a root directory that holds nothing else.
# static.sh BUILD SOURCE
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
build=${1:?usage: static.sh BUILD SOURCE}
source=${2:?usage: static.sh BUILD SOURCE}
grep -q '^FLASHLAB_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" && { echo "skipped: sanitizers do not link statically"; exit 77; }
for archive in libc libstdc++ libfuse3 libsqlite3 libz libzstd liblzma libexpat libncursesw libtinfo; do
    [[ $(c++ -print-file-name=$archive.a) == */* ]] || { echo "skipped: $archive.a is not here"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-static.XXXXXX")
mnt=$work/mnt
clean_up() {
    if grep -q " $mnt fuse" /proc/self/mounts; then fusermount3 -u -z "$mnt" 2> /dev/null || umount -l "$mnt"; fi
    rm -rf "$work"
}
trap clean_up EXIT
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
mkdir "$work/root" "$mnt"
sh "$source/tools/build_static.sh" -B "$build" -o "$work/root/flashlab"
static=$work/root/flashlab
if ldd "$static" > "$work/ldd" 2>&1; then die "it wants shared libraries: $(cat "$work/ldd")"; fi
alone=(env -i "$static")
if [[ $(id -u) -eq 0 ]]; then alone=(env -i "$(command -v chroot)" "$work/root" /flashlab); else work_root=$work/root; fi
at=${work_root:-}
cd "$work"
# Same bytes: figures of a bench, the images of a drive that was formatted, a crash exploration.
same() { # same WORDS: without what depends on the host
    "$FLASHLAB" "$@" > theirs
    "${alone[@]}" "$@" > ours
    diff <(sed -E 's/"(wall_[a-z_]*|requests_per_wall_second|peak_rss_bytes|states_per_second|cpu_seconds)":[0-9.e+-]*,?//g' theirs) \
        <(sed -E 's/"(wall_[a-z_]*|requests_per_wall_second|peak_rss_bytes|states_per_second|cpu_seconds)":[0-9.e+-]*,?//g' ours) > diff ||
        die "$*: $(head -c 400 diff)"
}
same bench --preset tiny --rw randwrite --io-size 1M --seed 5 --json
same replay workload:pc --limit 500 --wrap --preset tiny --json
same crash explore --ftl hftl --states 500 --seed 3 --json
"${alone[@]}" mkfs "$at/drive" --preset tiny --seed 9 --quiet
"$FLASHLAB" mkfs "$work/theirs.drive" --preset tiny --seed 9 --quiet
cmp -i 4096 "$work/root/drive/nand.img" "$work/theirs.drive/nand.img" || die "mkfs leaves another nand.img"
"${alone[@]}" fsck "$at/drive" || die "fsck"
code=0
"${alone[@]}" grade ./x.so > out 2>&1 || code=$?
[[ $code -eq 2 ]] && grep -q "linked statically" out || die "grade of an object: $code: $(cat out)"
# With the few tools that a bare Debian has, and no fusermount3.
mkdir "$work/bin"
for tool in sh cat grep head id kill mkdir mktemp rm sleep; do ln -s "$(type -P "$tool")" "$work/bin/$tool"; done
env -i PATH="$work/bin" sh "$source/tests/packaging/static_alone.sh" "$static" > alone 2>&1 || die "alone: $(cat alone)"
# With FUSE where it can be had: a mount, and the states of a program.
if [[ -r /dev/fuse && -w /dev/fuse ]] && "$static" mount "$work/root/drive" "$mnt" > out 2>&1; then
    echo bytes > "$mnt/file"
    "$static" umount "$mnt"
    [[ $("$static" cat "$work/root/drive:file") == bytes ]] || die "what was written is not there"
    mkdir torture && cd torture
    code=0
    "$static" crash torture --explore --states 50 --check 'test ! -e file || test "$(cat file)" = text' -- sh -c 'echo text > file; sync file' > out 2>&1 || code=$?
    [[ $code -le 1 ]] && grep -q states out || die "torture --explore: $code: $(cat out)"
else
    echo "without FUSE here: mount and torture are not tried"
fi
echo "the static binary: $(wc -c < "$static") bytes"
