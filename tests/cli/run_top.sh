#!/usr/bin/env bash
# --top of replay and bench: the live view is on a terminal and nowhere else, the result does not know of it, and the terminal is as it was: at the end, after q
# and after a signal. The terminal is script(1)'s.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
command -v script > /dev/null && command -v python3 > /dev/null || { echo "skipped: script or python3 is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-run-top.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
# on_terminal FILE COMMAND: what a terminal of 80 x 24 gets goes to FILE; the lines of stty before and after must be the same.
on_terminal() {
    local to=$1 code=0
    printf 'stty rows 24 cols 80; stty -a > %q; %s\ncode=$?; stty -a > %q; exit $code\n' "$work/stty.before" "$2" "$work/stty.after" > "$work/command"
    TERM=${term:-xterm} timeout 60 script -qec "bash '$work/command'" "$to" < "${keys:-/dev/null}" > /dev/null || code=$?
    cmp -s "$work/stty.before" "$work/stty.after" || wrong "$2: the terminal is not as it was: $(diff "$work/stty.before" "$work/stty.after")"
    return $code
}
same_but_wall() { diff <(sed 's/"\(wall_seconds\|requests_per_wall_second\|peak_rss_bytes\)":[^,]*//g' "$1") <(sed 's/"\(wall_seconds\|requests_per_wall_second\|peak_rss_bytes\)":[^,]*//g' "$2"); }
# The screen is entered and left as often: smcup and rmcup of xterm.
entered_and_left() { [[ $(grep -c $'\e\\[?1049h' "$1") -eq 1 && $(tail -c 2000 "$1" | grep -c $'\e\\[?1049l') -ge 1 ]]; }

bench="bench --preset tiny --ftl dftl --set dram.size=1M --rw randrw --bs 4k --io-size 64M --iodepth 4 --precondition fill:50 --warm-up 1000 --json"
# shellcheck disable=SC2086 # words
"$FLASHLAB" $bench > "$work/plain.json" 2> "$work/err" || wrong "bench: $(cat "$work/err")"
on_terminal "$work/screen" "'$FLASHLAB' $bench --top > '$work/top.json'" || wrong "bench --top ended with $?"
same_but_wall "$work/plain.json" "$work/top.json" > "$work/diff" || wrong "the view changed the result: $(cut -c 1-400 "$work/diff")"
for part in 'flashlab bench (q leaves)' 'requests, ' IOPS 'since the run' ch0 free wear 'queue 4'; do
    grep -qaF "$part" "$work/screen" || wrong "bench --top does not show $part"
done
entered_and_left "$work/screen" || wrong "bench --top did not leave its screen"

# A trace on standard input: keys come from the terminal, and no request is lost.
awk 'BEGIN { for (i = 0; i < 60000; ++i) printf "0,%d,4096,w,%.6f\n", i * 7919 % 700 * 8, i * 0.0001 }' > "$work/trace.spc"
replay="replay - --format spc --preset tiny --compact --speed closed:8 --json"
# shellcheck disable=SC2086 # words
"$FLASHLAB" $replay < "$work/trace.spc" > "$work/plain.json" 2> "$work/err" || wrong "replay: $(cat "$work/err")"
on_terminal "$work/screen" "'$FLASHLAB' $replay --top < '$work/trace.spc' > '$work/top.json'" || wrong "replay --top ended with $?"
same_but_wall "$work/plain.json" "$work/top.json" > "$work/diff" || wrong "the view changed the replay: $(cut -c 1-400 "$work/diff")"
grep -qaF 'flashlab replay (q leaves)' "$work/screen" || wrong "replay --top shows nothing"
entered_and_left "$work/screen" || wrong "replay --top did not leave its screen"

# Without a terminal there is no view, and nothing of curses.
# shellcheck disable=SC2086 # words
"$FLASHLAB" $bench --top > "$work/top.json" 2> "$work/err" < /dev/null || wrong "bench --top without a terminal"
grep -v "^flashlab: bench: warning: " "$work/err" > "$work/more" && wrong "without a terminal it printed $(head -c 200 "$work/more")"
same_but_wall "$work/top.json" <("$FLASHLAB" ${bench//--top/}) > /dev/null || wrong "without a terminal the result differs"

# A terminal that nobody knows is refused before the work begins.
term=nonsense on_terminal "$work/screen" "'$FLASHLAB' ${bench/--io-size 64M/--io-size 1T} --top > '$work/top.json'" && wrong "a terminal that nobody knows"
grep -qa 'set TERM' "$work/screen" || wrong "the remedy: $(cat "$work/screen")"

# A signal: the part that was measured, 128 + the signal, and the terminal as it was.
long="bench --preset tiny --rw randwrite --bs 4k --io-size 200G --json --top"
for signal in INT TERM HUP; do
    code=0
    on_terminal "$work/screen" "'$FLASHLAB' $long > '$work/top.json' & sleep 1; kill -$signal \$!; wait \$!" || code=$?
    [[ $code -eq $((128 + $(kill -l $signal))) ]] || wrong "$signal ended it with $code"
    grep -q '"partial":true' "$work/top.json" || wrong "$signal: no partial report"
    entered_and_left "$work/screen" || wrong "$signal: the screen was not left"
done
# Ctrl-C typed at the terminal, as its user ends it; q takes the view away and the run goes on.
type_keys() { # KEYS COMMAND: types after a second
    python3 - "$1" "$2" "$work/screen" << 'PYTHON'
import os, pty, sys, time, signal
keys, command, to = sys.argv[1].encode().decode("unicode_escape").encode(), sys.argv[2], sys.argv[3]
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("bash", ["bash", "-c", "stty rows 24 cols 80; exec " + command])
signal.alarm(40)
typed, begin, got = False, time.time(), b""
os.set_blocking(terminal, False)
while True:
    if not typed and time.time() - begin > 1:
        os.write(terminal, keys)
        typed = True
    try:
        part = os.read(terminal, 65536)
        if not part:
            break
        got += part
    except BlockingIOError:
        time.sleep(0.02)
    except OSError:
        break
open(to, "wb").write(got)
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
PYTHON
}
code=0
type_keys '\x03' "'$FLASHLAB' $long > '$work/top.json'" || code=$?
[[ $code -eq 130 ]] || wrong "Ctrl-C ended it with $code"
grep -q '"partial":true' "$work/top.json" || wrong "Ctrl-C: no partial report"
entered_and_left "$work/screen" || wrong "Ctrl-C: the screen was not left"
code=0
type_keys 'q' "'$FLASHLAB' bench --preset tiny --rw randwrite --bs 4k --io-size 2G --json --top > '$work/top.json'" || code=$?
[[ $code -eq 0 ]] || wrong "after q it ended with $code"
grep -q '"requests":524288' "$work/top.json" || wrong "after q the run did not go on: $(cut -c 1-300 "$work/top.json")"

[[ $failures -eq 0 ]] || exit 1
echo "ok: run_top"
