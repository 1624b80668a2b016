#!/bin/sh
# Adds the event of docs/event-log.md, "A new event" as the section says, in two files of a copy; builds the log, says the event and asks for it.
#
#   FLASHLAB=BINARY LIBRARIES=DIR CXX="COMPILER FLAGS" LINK=FLAGS sh tests/examples/new_event.sh ROOT
set -eu
root=$(cd "${1:?usage: new_event.sh ROOT}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "new_event: $1" >&2
    exit 1
}

mkdir -p "$work/tree/base" "$work/tree/tools"
cp "$root/base/events.h" "$work/tree/base/"
cp -r "$root/tools/log" "$work/tree/tools/"
cd "$work/tree"

# The blocks of C++ of the section, in order: the event, its table.
for block in 1 2; do
    awk -v want="$block" '/^## /{ here = $0 == "## A new event" } here && /^```cpp$/ { n++; inside = 1; next } /^```$/ { inside = 0 } here && inside && n == want' \
        "$root/docs/event-log.md" > "$work/block$block"
    [ -s "$work/block$block" ] || fail "docs/event-log.md, \"A new event\" lacks its block $block"
done
# before_line TEXT FILE BLOCK: BLOCK and an empty line before the line that begins so.
before_line() {
    awk -v text="$1" -v block="$3" 'index($0, text) == 1 && !done { while ((getline line < block) > 0) print line; print ""; done = 1 } { print } END { exit !done }' \
        "$2" > "$work/changed" || fail "$2 has no line that begins with: $1"
    cp "$work/changed" "$2"
}
before_line '/// Every event there is.' base/events.h "$work/block1"
before_line '/// In the order of the SQL.' tools/log/event_tables.h "$work/block2"
# Their names, at the ends of the lists.
awk '/^using AllEvents =/ { list = 1 } list && sub(/>;$/, ", BlockRetiredEvent>;") { list = 0 } { print }' base/events.h > "$work/changed"
cp "$work/changed" base/events.h
awk '/^inline constexpr auto all_tables = / { list = 1 } list && sub(/};$/, ", block_retired_table};") { list = 0 } { print }' tools/log/event_tables.h > "$work/changed"
cp "$work/changed" tools/log/event_tables.h

changed=$({ diff -rq "$root/base/events.h" base/events.h || true; diff -rq "$root/tools/log" tools/log || true; } | wc -l)
[ "$changed" -eq 2 ] || fail "$changed files changed: two are enough"

cp "$root/tests/examples/new_event.cpp" .
for source in tools/log/*.cpp "$root/tests/tools/log/event_log_page.cpp" new_event.cpp; do
    # shellcheck disable=SC2086 # flags are words
    $CXX -std=c++23 -O0 -I. -I"$root" -DFLASHLAB_VERSION='"0"' -c "$source" -o "$(basename "$source" .cpp).o" || fail "$source does not compile"
done
# shellcheck disable=SC2086
$CXX ./*.o "$LIBRARIES/libflashlab_host.a" "$LIBRARIES/libflashlab_text.a" "$LIBRARIES/libflashlab_base.a" $LINK -o new_event || fail "it does not link"

# A log of the version before, of one request.
"$FLASHLAB" bench --preset tiny --bs 4k --io-size 64k --events "$work/old.db" --log all > "$work/bench.out" 2>&1 || fail "no log of the version before: $(cat "$work/bench.out")"
./new_event "$work" "$root/docs/event-log.md"
