#!/usr/bin/env bash
# docs/adding-a-scheme.md: what a scheme and a policy declare is in the help, the configuration, the log and the reports; a shared object's likewise.
# own_options.sh SOURCE BUILD
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}" "${WITH_EXAMPLES:?path of the one that has the examples}"
source=${1:?usage: own_options.sh SOURCE BUILD} build=${2:?usage: own_options.sh SOURCE BUILD}
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-options.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
has() { grep -qF -- "$2" "$1" || die "$1 has no '$2': $(head -c 2000 "$1")"; }
lacks() { if grep -qF -- "$2" "$1"; then die "$1 has '$2'"; fi; }
refused() { # WORDS COMMAND
    local words=$1 code=0
    shift
    "$@" > out 2> err || code=$?
    [[ $code -eq 2 ]] || die "$*: exit code $code: $(cat err)"
    has err "$words"
}
number() { sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" "$1"; }
load=(--preset tiny --rw write --bs 64k --io-size 8M)

# A log and a report of LAST's, with whichever program and scheme.
told_of_last() { # BINARY SCHEME KEYS...
    local flashlab=$1 scheme=$2
    shift 2
    "$flashlab" info "$@" --keys > keys
    has keys "last.long_pages"
    has keys "Pages from which on a write is a long one; 0: a quarter of a block. Only with last."
    has keys "own_logs_opened"
    has keys "Log blocks opened for long writes"
    "$flashlab" info "$@" --keys --json > keys.json
    has keys.json '"counter":"own_logs_opened","unit":"blocks","scheme":"last"'
    rm -f last.db
    "$flashlab" bench --ftl "$scheme" "${load[@]}" --json --events last.db > long.json 2> err || die "$(cat err)"
    [[ $(number long.json own_logs_opened) -gt 0 ]] || die "no log block was opened for long writes: $(cat long.json)"
    "$flashlab" bench --ftl "$scheme" "${load[@]}" --set last.long_pages=65536 --json > short.json 2> err || die "$(cat err)"
    [[ $(number short.json own_logs_opened) -eq 0 ]] || die "last.long_pages does nothing: $(cat short.json)"
    "$FLASHLAB" query last.db "SELECT name, value, unit, meaning FROM v_counters" --csv > counters
    has counters "own_logs_opened,$(number long.json own_logs_opened),blocks,Log blocks opened"
    "$FLASHLAB" report last.db -o last.html > /dev/null
    has last.html '"own_logs_opened":'"$(number long.json own_logs_opened)"
    refused "last.long_pages = 65537: allowed: 0 to 65536" "$flashlab" bench --ftl "$scheme" "${load[@]}" --set last.long_pages=65537
}
told_of_last "$WITH_EXAMPLES" last
refused "last.long_pages is a key of last and does nothing with ftl.scheme = dftl" "$WITH_EXAMPLES" bench --ftl dftl "${load[@]}" --set last.long_pages=4

# On a drive: device.toml, line and column of what is wrong in it, smart over the mounts.
"$WITH_EXAMPLES" mkfs --ftl last --preset tiny --set last.long_pages=3 drive > out 2>&1 || die "$(cat out)"
sed -n '/^\[last\]/,/^$/p' drive/device.toml > section
has section "# Pages from which on a write is a long one; 0: a quarter of a block. (0 to 65536)"
has section "long_pages = 3"
printf '[ftl]\nscheme = "last"\n[last]\nlong_pages = 70000\n' > my.toml
refused "my.toml:4:14: last.long_pages = 70000: allowed: 0 to 65536" "$WITH_EXAMPLES" mkfs --config my.toml other
printf '[ftl]\nscheme = "last"\n[last]\nlong_page = 7\n' > my.toml
refused "did you mean 'last.long_pages'?" "$WITH_EXAMPLES" mkfs --config my.toml other
for mount in 1 2; do
    "$WITH_EXAMPLES" bench --device drive --rw write --bs 64k --io-size 4M > out 2>&1 || die "$(cat out)"
    "$WITH_EXAMPLES" smart drive --json > "smart$mount"
done
[[ $(number smart1 own_logs_opened) -gt 0 && $(number smart2 own_logs_opened) -gt $(number smart1 own_logs_opened) ]] || die "smart: $(cat smart1 smart2)"

# The policy: an option that does something, and only with it.
"$WITH_EXAMPLES" info --keys > keys
has keys "windowed.window"
has keys "Only with ftl.victim = windowed."
full=(--preset tiny --ftl page_map --rw randwrite --bs 4k --io-size 16M --precondition fill:100 --json --set ftl.victim=windowed)
for window in 1 1000; do
    "$WITH_EXAMPLES" bench "${full[@]}" --set windowed.window=$window > "window$window" 2> err || die "$(cat err)"
done
[[ $(number window1 gc_page_copies) -gt $(number window1000 gc_page_copies) ]] || die "windowed.window does nothing"
refused "windowed.window is a key of ftl.victim = windowed and does nothing with ftl.victim = fifo" \
    "$WITH_EXAMPLES" bench "${full[@]}" --set windowed.window=4 --set ftl.victim=fifo

# The placement policy: its option says how many superblocks are open.
has keys "zones.count"
has keys "Only with ftl.separation = zones."
zoned=(--preset tiny --ftl page_map --rw randwrite --bs 4k --io-size 16M --precondition fill:60 --set ftl.reserved_permille=400 --json --set ftl.separation=zones)
for count in 2 3; do
    "$WITH_EXAMPLES" bench "${zoned[@]}" --set zones.count=$count > "zones$count" 2> err || die "$(cat err)"
done
[[ $(number zones2 gc_page_copies) -ne $(number zones3 gc_page_copies) ]] || die "zones.count does nothing"
refused "zones.count is a key of ftl.separation = zones and does nothing with ftl.separation = cause" \
    "$WITH_EXAMPLES" bench "${full[@]}" --set zones.count=4 --set ftl.separation=cause

# The arbiter: the favourite waits for the command that is being served, and no longer.
has keys "favourite.queue"
has keys "Only with host_link.arbiter = favourite."
queued=(--preset tiny --rw randread --io-size 1M --precondition fill:100 --set host_link.slots=1 --set host_link.arbiter=favourite --queue iodepth=16 --queue iodepth=16)
for queue in 0 1; do
    "$WITH_EXAMPLES" bench "${queued[@]}" --set favourite.queue=$queue --json > "queue$queue" 2> err || die "$(cat err)"
done
waits() { sed 's/.*"queues":\[//' "$1" | grep -o '"waited_us":{"mean":[0-9]*' | sed -n "$2s/.*://p"; } # of its first or second queue
[[ $(waits queue0 1) -lt $(waits queue0 2) && $(waits queue1 2) -lt $(waits queue1 1) ]] || die "favourite.queue does nothing: $(cat queue0)"
refused "favourite.queue is a key of host_link.arbiter = favourite and does nothing" "$WITH_EXAMPLES" bench --preset tiny --set favourite.queue=1

# A shared object, in the flashlab that everybody has.
"$FLASHLAB" info --keys > keys
lacks keys "last.long_pages"
lacks keys "own_logs_opened"
CXXFLAGS="${CXXFLAGS:-} -O1 -g0" sh "$source/tools/build_scheme.sh" "$source/tests/examples/last.cpp" "$source/tests/examples/last_plugin.cpp" -o last.so -B "$build"
told_of_last "$FLASHLAB" ./last.so ./last.so
refused "no such file" "$FLASHLAB" bench --ftl ./missing.so "${load[@]}"
echo "options and counters of their own"
