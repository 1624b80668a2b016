#!/usr/bin/env bash
# The crate: added by cargo to a project of its own, which is the store of the examples, cut everywhere; its own tests; stores and crates that are wrong in
# one place.
# crate.sh BUILD SOURCE [tree]
#
# Without a third word it is linked with the library of BUILD, installed, which pkg-config finds. With `tree` it compiles the library itself, by CMake (again
# only what has changed, in BUILD/crate).
set -euo pipefail
build=$(cd "${1:?usage: crate.sh BUILD SOURCE [tree]}" && pwd) source=$(cd "${2:?usage: crate.sh BUILD SOURCE [tree]}" && pwd) from=${3-}
examples=$source/tests/examples/library crate=$source/tools/library/rust
command -v cargo > /dev/null && cargo add --help > /dev/null 2>&1 || { echo "skipped: no cargo that can add"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-crate.XXXXXX")
trap 'rm -rf "$work"' EXIT
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
export CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never
if [[ $from == tree ]]; then
    export FLASHLAB_FROM_TREE=1 CARGO_TARGET_DIR=$build/crate
else
    cmake --install "$build" --component development --prefix "$work/prefix" > "$work/log" 2>&1 || die "install: $(tail -n 3 "$work/log")"
    export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig:$work/prefix/lib/$(uname -m)-linux-gnu/pkgconfig CARGO_TARGET_DIR=$work/target
fi
cd "$work"
cargo init -q --vcs none --name store project > log 2>&1 || die "cargo init: $(tail -n 3 log)"
(cd project && cargo add -q --path "$crate") > log 2>&1 || die "cargo add: $(tail -n 3 log)"
cp "$examples/store.rs" project/src/main.rs
cargo build -q --manifest-path project/Cargo.toml > log 2>&1 || die "cargo build: $(grep -m 3 -A 5 -E '^error' log || tail -n 5 log)"
[[ ! -s log ]] || die "the compiler warns: $(cat log)"
"$CARGO_TARGET_DIR/debug/store" || die "the store does not survive every cut"
code=0
"$CARGO_TARGET_DIR/debug/store" broken > out 2>&1 || code=$?
[[ $code -eq 1 ]] && grep -q 'cut at [0-9]* ns, seed [0-9]*: [0-9]* puts were acknowledged' out || die "a store without flush passes: code $code: $(tail -n 2 out)"
echo "a store without flush: $(tail -n 1 out)"
lines=$(awk '/^\/\/ --- the store/ {first = NR} /^\/\/ --- its test/ {print NR - first}' "$examples/store.rs")
[[ $lines -le 60 ]] || die "the store has $lines lines"
if [[ $from == tree ]]; then exit 0; fi

cp -r "$crate" crate # cargo leaves a lock file where it tests
cargo test -q --manifest-path crate/Cargo.toml > out 2>&1 || die "the crate's tests: $(tail -n 20 out)"
grep '^test result' out
wrong() { # WHAT FILE SED
    rm -rf wrong && cp -r "$crate" wrong
    sed -i "$3" "wrong/src/$2"
    if cmp -s "wrong/src/$2" "$crate/src/$2"; then die "$1: nothing was changed"; fi
    if cargo test -q --test contract --manifest-path wrong/Cargo.toml > out 2>&1; then die "a crate that $1 passes"; fi
    grep -q 'panicked at' out || die "a crate that $1: $(tail -n 3 out)"
    echo "a crate that $1: $(grep -m 1 -A 1 'panicked at' out | tail -n 1)"
}
wrong "takes half a sector" device.rs 's/if bytes % SECTOR_BYTES != 0 {/if bytes == 1 {/'
wrong "cuts with one seed" cuts.rs 's/..=(number as u64 + 1) \* seeds {/..=number as u64 * seeds + 1 {/'
wrong "does not cut the repair" cuts.rs 's/filter(|_| with_repair)/filter(|_| false)/'
