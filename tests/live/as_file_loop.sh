#!/usr/bin/env bash
# KIND CUTS: a file system of the kernel on a loop device over the drive: fio, git and SQLite run on it, and after each power cut its journal replays, its fsck is
# content, and what was fsynced is there.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
unset FLASHLAB_LIVE_METADATA
kind=${1:-ext4} cuts=${2:-3} loop=""

case $kind in
    ext4) fsck=(e2fsck -f -n) ;;
    xfs) fsck=(xfs_repair -n) ;;
    btrfs) fsck=(btrfs check --readonly) ;;
esac
[[ $(id -u) -eq 0 ]] || skip "loop devices want root"
command -v losetup > /dev/null || skip "losetup is not installed"
[[ -w /dev/loop-control ]] || skip "there is no /dev/loop-control"
grep -qw "$kind" /proc/filesystems || skip "this kernel has no $kind"
command -v "mkfs.$kind" > /dev/null && command -v "${fsck[0]}" > /dev/null || skip "the programs of $kind are not installed"

begin 1536
under=$work/under
mkdir "$under"
take_away() {
    local tries=0
    while grep -qF " $under " /proc/self/mounts; do # mountpoint(1) is told EIO by a file system that has shut down
        umount "$under" 2> /dev/null && break
        ((tries++ < 50)) || { umount -l "$under"; break; }
        sleep 0.1
    done
    [[ -z $loop ]] || losetup -d "$loop" 2> /dev/null || true
    loop=""
}
trap 'result=$?; set +e; jobs -p | xargs -r kill 2> /dev/null; take_away; finish $result' EXIT

attach() {
    loop=$(losetup -f --show "$mnt/disk") || skip "no loop device is to be had"
}

programs_run() {
    fio --name=verify --directory="$under" --size=24M --bs=4k --rw=randwrite --ioengine=psync --fsync=64 --verify=crc32c --do_verify=1 --verify_fatal=1 --verify_state_save=0 \
        --output="$work/fio.log" || { tail -n 20 "$work/fio.log"; die "fio"; }
    rm "$under"/verify*
    git init -q "$under/repository"
    (cd "$under/repository" && cp "$FLASHLAB_TREE"/docs/*.md . && git add . && git -c user.name=a -c user.email=a@b commit -qm first && git fsck --strict) > "$work/git.log" 2>&1 \
        || { cat "$work/git.log"; die "git"; }
    sqlite3 "$under/db" 'PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES(1); PRAGMA integrity_check' | grep -qx ok || die "SQLite"
    fstrim "$under" || die "fstrim"
    sync -f "$under/db"
}

# Only ext4 promises that a rename over a name without fsync leaves one of the two files whole, which this writer asks for.
write_and_acknowledge() {
    local i
    if [[ $kind == ext4 ]]; then FLASHLAB_LIVE_SYNCS=all FLASHLAB_LIVE_METADATA=journal exec "$FLASHLAB_LIVE_BIN/acknowledged_writer" "$under/writer" "$work/acknowledged" "$1"; fi
    for ((i = 1; ; ++i)); do echo "$i" >> "$under/writer/log" && sync "$under/writer/log" && echo "$i" > "$work/acknowledged" || return 0; done
}
check_acknowledged() {
    local was
    if [[ $kind == ext4 ]]; then FLASHLAB_LIVE_METADATA=journal "$FLASHLAB_LIVE_BIN/acknowledged_check" "$under/writer" "$work/acknowledged" "$1"; return; fi
    was=$(cat "$work/acknowledged")
    say "$was lines were synced, $(tail -n 1 "$under/writer/log") are there"
    head -n "$was" "$under/writer/log" | cmp - <(seq "$was")
}

one_cut() {
    local seed=$1 writer
    write_and_acknowledge "$seed" > /dev/null 2>&1 &
    writer=$!
    # shellcheck disable=SC2016 # the words of another shell; timeout ends all of them
    timeout 30 bash -c 'while :; do printf "INSERT INTO t SELECT randomblob(900) FROM t LIMIT 20;"; sleep 0.01; done | sqlite3 -bail "$1"' _ "$under/db" > /dev/null 2>&1 &
    sleep "0.$((seed % 5 + 3))"
    cut_power powercut "$seed"
    wait "$writer" 2> /dev/null || true
    jobs -p | xargs -r kill 2> /dev/null || true
    wait 2> /dev/null || true
    take_away
    detach
    check_device
    mount_device --as-file --log none
    attach
    mount -t "$kind" "$loop" "$under" || die "seed $seed: the journal does not replay"
    umount "$under"
    "${fsck[@]}" "$loop" > "$work/kernel_fsck.log" 2>&1 || { cat "$work/kernel_fsck.log"; die "seed $seed: ${fsck[0]}"; }
    mount -t "$kind" "$loop" "$under"
    check_acknowledged "$seed" || die "seed $seed: what was fsynced is lost"
    [[ $(sqlite3 "$under/db" 'PRAGMA integrity_check') == ok ]] || die "seed $seed: SQLite"
    git -C "$under/repository" fsck --strict > "$work/git.log" 2>&1 || { cat "$work/git.log"; die "seed $seed: git"; }
    rm -rf "$under/writer" "$work/acknowledged"
    mkdir "$under/writer"
    sync -f "$under/writer"
}

make_device --raw --size 512M
mount_device --as-file --log none
attach
"mkfs.$kind" -q "$loop" > "$work/kernel_mkfs.log" 2>&1 || { cat "$work/kernel_mkfs.log"; die "mkfs.$kind"; }
mount -t "$kind" "$loop" "$under"
programs_run
mkdir "$under/writer"
sync -f "$under/writer"
for ((seed = 1; seed <= cuts; ++seed)); do one_cut "$seed"; done
take_away
unmount_device
check_device
say "$kind: $cuts cuts, all well"
