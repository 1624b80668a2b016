#!/usr/bin/env bash
# What Snakemake costs beside the runs: 200 runs by the Snakefile on two cores, and by `flashlab sweep run -j 2` alone.
#   tools/bench_sweep.sh FLASHLAB [IO_SIZE_OF_A_RUN]
# Prints the processor time of both, and how much more the first takes. Needs snakemake.
set -euo pipefail
flashlab=$(realpath "${1:?usage: bench_sweep.sh FLASHLAB [IO_SIZE]}")
tools=$(cd "$(dirname "$0")" && pwd)/sweep
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-bench-sweep.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache
cd "$work"
cat > sweep.toml << END
[sweep]
seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[grid]
preset = "tiny"
"ftl.scheme" = ["page_map", "dftl", "hftl", "coftl", "fast"]
[[load]]
bench = { rw = "randwrite", io_size = "${2:-64M}" }
[[load]]
bench = { rw = "write", io_size = "${2:-64M}" }
[[load]]
bench = { rw = "randrw", io_size = "${2:-64M}", iodepth = 4 }
[[load]]
bench = { rw = "randread", io_size = "${2:-64M}", precondition = "fill:50" }
END
engine() { # engine RESULTS
    snakemake -s "$tools/Snakefile" --profile "$tools/profiles/local" --cores 2 --nolock -q --config sweep=sweep.toml shards=8 results="$1" \
        flashlab="$flashlab" "${@:2}" > "$1.log" 2>&1
}
# Sets `seconds`: processor time of the command's whole family, and `clock`.
spent() {
    local begin end
    begin=$(date +%s.%N)
    TIMEFORMAT='%U %S'
    { time "$@" > /dev/null 2>> err; } 2> took || { tail -n 20 err ./*.log >&2; exit 1; }
    end=$(date +%s.%N)
    seconds=$(awk '{ print $1 + $2 }' took) clock=$(awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }')
}
alone() {
    "$flashlab" sweep plan sweep.toml -o alone.jsonl && "$flashlab" sweep run alone.jsonl -o alone.db -j 2 --quiet && "$flashlab" sweep merge alone.db -o merged.db
}
spent alone
runs_seconds=$seconds runs_clock=$clock
spent engine whole
runs=$("$flashlab" query whole/all.db --csv "SELECT count(*) FROM v_runs WHERE status = 'done'" | tail -n 1 | tr -d '\r')
awk -v n="$runs" -v all="$seconds" -v alone="$runs_seconds" -v clock="$clock" -v alone_clock="$runs_clock" 'BEGIN {
    printf "%d runs: %.1f s of processor time by Snakemake (%.0f s by the clock), %.1f s by sweep run -j 2 (%.0f s): %.1f %% more\n",
        n, all, clock, alone, alone_clock, 100 * (all / alone - 1) }'
