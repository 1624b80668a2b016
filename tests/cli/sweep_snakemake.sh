#!/usr/bin/env bash
# The Snakefile that we ship, 200 runs, killed twice and resumed: the merged database is that of an unbroken sweep, byte by byte.
# sweep_snakemake.sh SNAKEFILE
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
command -v snakemake > /dev/null || { echo "skipped: snakemake is not installed"; exit 77; }
tools=$(cd "$(dirname "${1:?usage: sweep_snakemake.sh SNAKEFILE}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-snakemake.XXXXXX")
group=""
trap '[[ -z $group ]] || kill -9 -- "-$group" 2> /dev/null || true; rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache
cd "$work"
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
cat > sweep.toml << 'END'
[sweep]
seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[grid]
preset = "tiny"
"ftl.scheme" = ["page_map", "dftl", "hftl", "log_block", "fast"]
[[load]]
bench = { rw = "randwrite", io_size = "6M" }
[[load]]
bench = { rw = "write", io_size = "6M" }
[[load]]
bench = { rw = "randrw", io_size = "6M", iodepth = 4 }
[[load]]
trace = "workload:pc"
limit = 1000
wrap = true
END
engine() { # engine RESULTS
    snakemake -s "$tools/Snakefile" --profile "$tools/profiles/local" --cores 2 --nolock -q \
        --config sweep=sweep.toml shards=8 results="$1" flashlab="$FLASHLAB" reproducible=1 > "$1.log" 2>&1
}
engine whole || die "an unbroken sweep: $(tail -n 20 whole.log)"
[[ $("$FLASHLAB" query whole/all.db --csv "SELECT count(*) FROM v_runs WHERE status = 'done'" | tail -n 1 | tr -d '\r') == 200 ]] || die "not 200 runs"
[[ $(wc -l < whole/report.csv) -eq 201 ]] || die "the report has $(wc -l < whole/report.csv) lines"
kills=0
for least in 10 60; do
    set -m
    engine killed &
    group=$!
    set +m
    for _ in $(seq 1200); do
        [[ -e /proc/$group ]] || break
        [[ $(cat killed/shards/*.part 2> /dev/null | wc -l) -lt $least && $(ls killed/shards/*.db 2> /dev/null | wc -l) -lt $((least / 10)) ]] || break
        sleep 0.05
    done
    [[ ! -e /proc/$group ]] || kills=$((kills + 1))
    kill -9 -- "-$group" 2> /dev/null || true
    wait "$group" 2> /dev/null || true
    group=""
    [[ -e killed/all.db ]] && die "it was not killed before its end"
done
[[ $kills -eq 2 ]] || die "killed $kills times"
engine killed || die "a resumed sweep: $(tail -n 20 killed.log)"
cmp whole/all.db killed/all.db || die "the bytes differ"
cmp whole/report.csv killed/report.csv || die "the reports differ"
engine killed || die "a finished sweep"
echo "200 runs, killed $kills times: the same bytes"
