#!/usr/bin/env bash
# -o persistence=MODEL on a mount: a cut takes what the model may lose and nothing else, on both metadata stores; what recovers is clean for fsck; and
# `ctl unsynced` names the calls after which nothing can be lost.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 512
seeds=${FLASHLAB_SEEDS:-4}
fl() { "$FLASHLAB" "$@" 2>> "$work/log" || die "flashlab $*: $(tail -n 3 "$work/log")"; }
mount_as() { fl mount "$device" "$mnt" -o "persistence=$1" --latency off --log none; }
new_drive() { # MODEL STORE
    fl mkfs "$device" --quiet --force --size 64M --metadata "$2"
    mount_as "$1"
}

for store in pram journal; do
    for model in strict ext4 btrfs posix; do
        say "--- $model, $store"
        old_seen=0
        for ((seed = 1; seed <= seeds; ++seed)); do
            new_drive $model $store
            mkdir "$mnt/d"
            echo old > "$mnt/d/a"
            printf '%09000d' 7 > "$mnt/d/gone"
            fl ctl "$mnt" flush
            echo kept > "$mnt/d/synced" && sync "$mnt/d/synced" "$mnt/d"
            echo new > "$mnt/d/a.tmp" && mv "$mnt/d/a.tmp" "$mnt/d/a"
            rm "$mnt/d/gone"
            mkdir "$mnt/d/sub" && echo 1 > "$mnt/d/sub/f"
            fl ctl "$mnt" powercut --seed "$seed" --json > "$work/cut"
            [[ $model == strict ]] || grep -q "\"model\":\"$model\"" "$work/cut" || die "the cut says nothing of its model: $(cat "$work/cut")"
            fl fsck -n "$device" > "$work/fsck" || die "fsck: $(cat "$work/fsck")"
            mount_as $model
            [[ $(cat "$mnt/d/synced") == kept ]] || die "$model, $store, seed $seed: what was synced is lost"
            [[ ! -e $mnt/d/gone || $(stat -c %s "$mnt/d/gone") == 9000 && $(tr -d 0 < "$mnt/d/gone") == 7 ]] || die "what came back is not what it was"
            case $model in
            strict) [[ $store == journal || $(cat "$mnt/d/a") == new && ! -e $mnt/d/gone ]] || die "strict lost a name" ;; # C11 of docs/crash-model.md
            ext4) [[ $(cat "$mnt/d/a") == new || $(cat "$mnt/d/a") == old ]] || die "ext4, seed $seed: a file replaced by a rename holds: $(cat "$mnt/d/a")" ;;
            esac
            [[ $(cat "$mnt/d/a") != old ]] || old_seen=1
            fl umount "$mnt"
            fl fsck -n "$device" > "$work/fsck" || die "fsck after the unmount: $(cat "$work/fsck")"
        done
        [[ $model == strict || $old_seen -eq 1 ]] || die "$model, $store: $seeds cuts, and each kept the rename that nobody synced"
    done
done

say "--- what is not durable, and the calls"
for model in strict ext4 posix; do
    new_drive $model pram
    mkdir "$mnt/d" && fl ctl "$mnt" flush
    (cd "$mnt" && printf '%05000d' 1 > d/log && ln d/log b)
    fl ctl "$mnt" unsynced > "$work/tree"
    grep -q 'fdatasync(' "$work/tree" && grep -q '0+5000' "$work/tree" || die "$model: no range: $(cat "$work/tree")"
    [[ $model == strict ]] || grep -q 'create d/log  *fsync(d)' "$work/tree" || die "$model: no name: $(cat "$work/tree")"
    fl ctl "$mnt" unsynced --json > "$work/json"
    grep -o '"f[datasync]*([^)]*)"' "$work/json" | tr -d '"' | while IFS='()' read -r call path; do
        if [[ $call == fdatasync ]]; then (cd "$mnt" && sync -d "$path"); else (cd "$mnt" && sync "$path"); fi
    done
    fl ctl "$mnt" unsynced > "$work/tree"
    grep -q 'nothing: all that was answered is durable' "$work/tree" || die "$model: the calls were not enough: $(cat "$work/tree")"
    fl umount "$mnt"
done

say "--- a refusal with the list, and live cuts of torture"
code=0
"$FLASHLAB" mount "$device" "$mnt" -o persistence=ext5 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q 'strict, ext4, xfs, btrfs, posix' "$work/err" || die "persistence=ext5: $code, $(cat "$work/err")"
export TMPDIR=$work
writer='while :; do n=$((n + 1)); echo $n > new && sync new && mv new now && echo $n > '"$work"'/said.new && mv '"$work"'/said.new '"$work"'/said || exit 0; done'
check='said=$(cat '"$work"'/said); [ "$(cat now)" -ge "$said" ]'
torture() { echo 0 > "$work/said" && "$FLASHLAB" crash torture --size 64M --cuts 12 --within 0.4 --keep "$work" --json --persistence "$1" --check "[ ! -e now ] || { $check; }" -- sh -c "n=0; $writer" > "$work/out" 2>&1; }
code=0
for _ in 1 2 3 4 5; do # whether one of 12 cuts shows it is chance, less of one where the machine is busy
    [[ $code -ne 0 ]] || torture posix || code=$?
done
[[ $code -eq 1 ]] && grep -q '"persistence":"posix","changes_lost":[1-9]' "$work/out" || die "torture did not find the missing sync of the directory: $code, $(cat "$work/out")"
torture strict || die "torture found something under strict: $(cat "$work/out")"
say "right"
