#!/usr/bin/env bash
# fsyncgate in small: a store that calls a failed fsync again and believes it loses records where the pages of a failed write-back are marked clean or taken
# back (ext4, xfs, btrfs), and loses none where they stay dirty (retry). A store that writes the record anew loses none anywhere.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
store=$FLASHLAB_LIVE_BIN/retrying_store

# SEMANTICS STORE FAULT: sets `lost` to whether the check found acknowledged records missing after a remount.
trial() {
    rm -rf "$device"
    make_device --size 64M
    mount_device -o "fsync_failure=$1,fault=$3"
    "$store" write "$mnt/store" "$work/acks" 12 "$2" > "$work/store.log" || die "$1, $2: the store: $(cat "$work/store.log")"
    grep -q 'Input/output error' "$work/store.log" || die "$1, $2, $3: the fault did not reach the store"
    "$FLASHLAB" ctl "$mnt" fault list --json | grep -q '"struck":1' || die "the list does not tell the strike"
    unmount_device
    check_device
    mount_device
    lost=no
    "$store" check "$mnt/store" "$work/acks" > "$work/check.log" || lost=yes
    [[ $(wc -l < "$work/acks") -eq 12 ]] || die "not every record was acknowledged"
    unmount_device
    say "fsync_failure=$1, $2 store, $3: lost: $lost$(sed 's/^/; /' "$work/check.log" | tr -d '\n')"
}

begin 512
for semantics in retry ext4 xfs btrfs; do
    expected=yes
    [[ $semantics != retry ]] || expected=no
    for fault in eio:op=fsync:path=store:nth=5 eio:op=writeback:path=/store:nth=9; do
        trial $semantics believing $fault
        [[ $lost == "$expected" ]] || die "a believing store under $semantics: lost=$lost, expected $expected"
        trial $semantics rewriting $fault
        [[ $lost == no ]] || die "a store that writes anew lost a record under $semantics"
    done
done
say "ok: fsync_failure"
