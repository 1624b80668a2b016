#!/usr/bin/env bash
# `flashlab export`: the timeline keeps the rules of its format and says what the log says; CSV is the table; what cannot be done is refused.
# With PERFETTO=1 the trace processor of the Perfetto project loads it instead (PyPI's perfetto, and its trace_processor_shell in the PATH or in
# TRACE_PROCESSOR); skipped (77) without.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${FLASHLAB:?path of the flashlab binary}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-timeline.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
code() {
    local expected=$1 got=0
    shift
    "$FLASHLAB" "$@" > "$work/out" 2> "$work/err" || got=$?
    [[ $got -eq $expected ]] || wrong "flashlab $*: exit code $got, expected $expected: $(head -n 1 "$work/err")"
    [[ $expected -eq 0 ]] || grep -q '^flashlab: ' "$work/err" || wrong "flashlab $*: says $(head -n 1 "$work/err")"
}
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
for ftl in hftl fast dftl block_map; do
    "$FLASHLAB" bench --preset tiny --ftl $ftl --rw randrw --bs 6k --io-size 4M --iodepth 8 --log all --events "$work/$ftl.db" > /dev/null 2>&1 || wrong "bench $ftl"
done

if [[ -n ${PERFETTO-} ]]; then
    shell=${TRACE_PROCESSOR-$(command -v trace_processor_shell || true)}
    [[ -n $shell ]] && python3 -c 'import perfetto.trace_processor' 2> /dev/null || { echo "skipped: no trace processor of Perfetto"; exit 77; }
    code 0 export "$work/hftl.db" --perfetto "$work/hftl.json"
    python3 - "$shell" "$work/hftl.json" "$("$FLASHLAB" query "$work/hftl.db" "SELECT count(*) FROM nand_op" --csv | tail -n 1)" <<'P' || wrong "Perfetto does not take it"
import sys
from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
with TraceProcessor(trace=sys.argv[2], config=TraceProcessorConfig(bin_path=sys.argv[1])) as tp:
    one = lambda sql: next(iter(tp.query(sql))).n
    planes = one("SELECT count(*) AS n FROM slice JOIN thread_track t ON slice.track_id = t.id JOIN thread USING(utid) JOIN process USING(upid) WHERE process.name = 'Planes'")
    faults = one("SELECT ifnull(sum(value), 0) AS n FROM stats WHERE severity = 'error'")
    flows = one("SELECT count(*) AS n FROM flow")
    print(planes, "operations,", flows, "arrows,", faults, "errors")
    sys.exit(not (planes == int(sys.argv[3]) and faults == 0 and flows > 0))
P
    [[ $failures -eq 0 ]] || exit 1
    echo "ok: timeline in Perfetto"
    exit 0
fi

for ftl in hftl fast dftl block_map; do
    code 0 export "$work/$ftl.db" --perfetto "$work/$ftl.json"
    python3 "$here/timeline_check.py" "$work/$ftl.json" "$work/$ftl.db" 0 9000000000000000000 || wrong "$ftl: the timeline"
done
# Hundreds of requests at a time: a track for each.
code 0 bench --preset tiny --ftl page_map --rw randread --precondition fill:90 --bs 4k --io-size 16M --iodepth 1000 --log all --events "$work/deep.db"
code 0 export "$work/deep.db" --perfetto "$work/deep.json"
python3 "$here/timeline_check.py" "$work/deep.json" "$work/deep.db" 0 9000000000000000000 || wrong "the timeline of hundreds of requests at a time"
# A window: what lies in it in part is there in whole.
start=$("$FLASHLAB" query "$work/hftl.db" "SELECT start_ns FROM run" --csv | tail -n 1 | tr -d '\r')
code 0 export "$work/hftl.db" --perfetto "$work/window.json" --from 10ms --to 0.05s
python3 "$here/timeline_check.py" "$work/window.json" "$work/hftl.db" $((start + 10000000)) $((start + 50000000)) || wrong "the timeline of a window"
code 1 export "$work/hftl.db" --perfetto "$work/nothing.json" --from 9000s
[[ ! -e $work/nothing.json ]] || wrong "a timeline of nothing"
for nonsense in "--from 1h" "--from -1s" "--to x" "--from 2s --to 1s" "--from nan" "--from 1e300s"; do
    # shellcheck disable=SC2086 # words
    code 2 export "$work/hftl.db" --perfetto "$work/nothing.json" $nonsense
done

# CSV: the table that query prints, whole.
for view in host_request v_blame v_nand_phases; do
    code 0 export "$work/hftl.db" --csv $view -o "$work/view.csv"
    "$FLASHLAB" query "$work/hftl.db" "SELECT * FROM $view" --csv | tr -d '\r' > "$work/query.csv"
    tr -d '\r' < "$work/view.csv" | cmp -s - "$work/query.csv" || wrong "export --csv $view is not what query prints"
    "$FLASHLAB" export "$work/hftl.db" --csv $view | cmp -s - "$work/view.csv" || wrong "export --csv $view to standard output"
done
for nonsense in "nowhere" "host_request; DROP TABLE run" "(SELECT 1)" "sqlite_schema--" "Robert'" ""; do
    code "$([[ -n $nonsense ]] && echo 1 || echo 2)" export "$work/hftl.db" --csv "$nonsense" -o "$work/none.csv"
done
[[ ! -e $work/none.csv ]] || wrong "a CSV of nothing"
code 2 export "$work/hftl.db" --parquet host_request -o "$work/p"
grep -q DuckDB "$work/err" || wrong "--parquet names no way"
code 2 export "$work/hftl.db"
code 2 export "$work/hftl.db" --csv v_waf --perfetto "$work/x"
code 1 export "$work/none.db" --csv v_waf
code 0 export "$work/hftl.db" --csv v_waf -o /dev/null
if [[ -c /dev/full ]]; then code 1 export "$work/hftl.db" --csv nand_op -o /dev/full; fi

[[ $failures -eq 0 ]] || exit 1
echo "ok: timeline"
