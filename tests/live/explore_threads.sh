#!/usr/bin/env bash
# crash torture --explore of a program with four threads, whose syncs overlap: nothing is found where each syncs what it promises, in any model; one thread
# that forgets an fsync is found, and the finding names its file.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 512
export TMPDIR=$work
program=$FLASHLAB_LIVE_BIN/four_threads
rounds=8
explore() { "$FLASHLAB" crash torture --explore --size 64M --keep "$work" --json "$@" > "$work/out" 2> "$work/err"; }

say "--- each thread syncs: no finding, however the syncs overlap"
for model in strict ext4 xfs btrfs posix; do
    explore --persistence $model --states "${states:-100}" --check "'$program' check" -- "$program" write $rounds ||
        die "$model: $(cat "$work/err" "$work/out")"
    grep -q '"findings":\[\]' "$work/out" && grep -q "\"promises\":$((4 * rounds))," "$work/out" || die "$model: $(cat "$work/out")"
done
say "--- thread 2 forgets the fsync of its file"
for model in strict ext4 xfs btrfs posix; do
    code=0
    explore --persistence $model --states "${states:-100}" --check "'$program' check" -- "$program" write $rounds 2 || code=$?
    [[ $code -eq 1 ]] && grep -q '"missing_call":"fsync(own.2) before' "$work/out" || die "$model: $code: $(cat "$work/err" "$work/out")"
    if grep -Eq '"missing_call":"f[a-z]*\((own.[013]|shared)' "$work/out"; then die "$model: another file is blamed: $(cat "$work/out")"; fi
done
say "ok: explore_threads"
