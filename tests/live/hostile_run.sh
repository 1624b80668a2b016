#!/usr/bin/env bash
# run and crash torture in a hostile house: names that break XML and terminals, processes that outlive the program, places on another file system.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 1024
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
expect() { # expect CODE COMMAND...
    local wanted=$1 code=0
    shift
    timeout 100 "$FLASHLAB" "$@" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $wanted ]] || die "exit code $code, not $wanted: flashlab $*: $(cat "$work/err")"
}
nothing_left() {
    [[ -z $(ls -A "$TMPDIR") ]] || die "$1 left $(ls -A "$TMPDIR")"
    ! grep -q "$TMPDIR" /proc/self/mountinfo || die "$1 left a mount"
}

say "--- a certificate of names and words that no XML can have"
cat > "$work/writer" << 'WRITER'
d='a<b>&"'"'"; mkdir "$d"; cd "$d" || exit 1
echo 1 > $'new\nline'; mv $'new\nline' $'bad\xff\xfe'; echo 2 > ']]><x>'; echo '<promise>' >&"$FLASHLAB_ACK_FD"
WRITER
cat > "$work/check" << 'CHECK'
printf '<b>]]>\001\033[31m\377\376 &amp; </script>\n'
for f in a*/*; do [ ! -e "$f" ] || [ -s "$f" ] || exit 1; done
CHECK
reports=()
for end in json html junit.xml sarif; do reports+=(--report "$work/cert.$end"); done
mkdir "$work/kept"
expect 1 crash torture --explore --persistence posix --states 60 "${reports[@]}" --keep "$work/kept" --check "bash $work/check" -- bash "$work/writer"
if command -v python3 > /dev/null; then
    python3 -c 'import json, sys, xml.dom.minidom
for f in sys.argv[1:3]: json.loads(open(f, "rb").read().decode())
xml.dom.minidom.parse(sys.argv[3])
page = open(sys.argv[4], "rb").read().decode()
assert "<x>" not in page and "</script>" not in page' "$work/cert.json" "$work/cert.sarif" "$work/cert.junit.xml" "$work/cert.html" ||
        die "a certificate cannot be read"
fi
grep -q $'\033' "$work/err" && die "the check's words command the terminal"
echo old > "$work/cert.json"
expect 2 crash torture --explore --states 5 --report "$work/cert.json" --check false -- sh -c 'echo 1 > f'
[[ $(< "$work/cert.json") == old ]] || die "a run without verdict took the certificate that was there"
nothing_left "torture"

say "--- a process that outlives the program: who it is, and a signal ends the wait"
expect 0 run --size 64M -- sh -c 'setsid sleep 4 > f 2>&1 & sleep 0.2'
grep -q 'waiting until the drive can be unmounted: process [0-9]* (sleep) still has files' "$work/err" || die "nobody says who is waited for: $(cat "$work/err")"
nothing_left "a wait"
: > "$work/err" # what the last one said is no sign of this one
setsid "$FLASHLAB" run --size 64M -- sh -c 'setsid sleep 60 > f 2>&1 & sleep 0.2' > "$work/out" 2> "$work/err" &
ran=$!
for _ in {1..100}; do
    grep -q 'waiting until' "$work/err" && break
    sleep 0.1
done
kill -TERM $ran
code=0
wait $ran || code=$?
[[ $code -eq 143 ]] || die "a wait that TERM ends: $code, $(cat "$work/err")"
nothing_left "a wait that is ended"

say "--- --keep on another file system: holes stay holes, the log comes along"
if [[ -d /dev/shm && -w /dev/shm && $(stat -c %d /dev/shm) != $(stat -c %d "$work") ]]; then
    export TMPDIR=/dev/shm
    expect 0 run --size 512M --keep "$work/kept/drive" -- sh -c 'echo kept > f'
    export TMPDIR=$work/tmp
    [[ $(du -sm "$work/kept/drive" | cut -f 1) -lt 200 ]] || die "the images have lost their holes: $(du -sm "$work/kept/drive")"
    expect 0 cat "$work/kept/drive:f"
    [[ $(< "$work/out") == kept ]] || die "the file is not there"
    expect 0 query "$work/kept/drive" --csv "SELECT count(*) > 0 FROM host_request"
    [[ $(tail -n 1 "$work/out") == 1 ]] || die "the log is not there"
fi
nothing_left "the end"

say "--- two read-only mounts at the same time"
away() { for point in one two; do "$FLASHLAB" umount "$work/$point" 2> "$work/err" || true; done; }
make_device --size 64M
mkdir "$work/one" "$work/two"
for _ in 1 2 3; do
    "$FLASHLAB" mount "$device" "$work/one" --read-only 2> "$work/err1" & first=$!
    "$FLASHLAB" mount "$device" "$work/two" -o norecovery 2> "$work/err2" & second=$!
    wait $first || { wait $second; away; die "the first of two read-only mounts: $(cat "$work/err1")"; }
    wait $second || { away; die "the second of two read-only mounts: $(cat "$work/err2")"; }
    "$FLASHLAB" umount "$work/one" && "$FLASHLAB" umount "$work/two" || die "umount"
done

say "--- a host disk that is full when a log is closed"
if [[ $(id -u) -eq 0 ]] && mkdir "$work/small" && mount -t tmpfs -o size=1m small "$work/small" 2> /dev/null; then
    expect 1 bench --size 64M --io-size 64M --log all --events "$work/small/log.db"
    left=$(ls -A "$work/small")
    [[ -z $left ]] || { umount -l "$work/small"; die "a log that is not whole left $left"; }
    umount "$work/small"
    grep -q 'full' "$work/err" || die "a full disk is told as: $(cat "$work/err")"
fi
say "ok: hostile run"
