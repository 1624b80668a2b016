#!/usr/bin/env bash
# The ways to mount that the other scenarios do not take: the daemon in the background, -o options, read-only, and the names that mount(8), mkfs(8), fsck(8) and fstab call.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
bin=""

background() { "$FLASHLAB" mount "$device" "$mnt" "$@" > "$work/mount.log" 2>&1 || { cat "$work/mount.log"; die "mount $*"; }; }
option_of_mount() { awk -v point="$mnt" '$2 == point { print $4 }' /proc/self/mounts | tr ',' '\n' | grep -qx -- "$1"; }
acknowledged() { "$FLASHLAB_LIVE_BIN/acknowledged_writer" "$mnt/writer" "$work/acknowledged" 1 "$1" > "$work/writer.log" 2>&1 || { cat "$work/writer.log"; die "acknowledged_writer"; }; }
# A daemon that is nobody's child: it is the process that holds the image.
find_background() {
    local fd
    pid=""
    for fd in /proc/[0-9]*/fd/*; do
        if [[ $fd -ef $device/nand.img ]]; then pid=${fd#/proc/} pid=${pid%%/*}; fi
    done
    [[ -n $pid ]] || die "no process holds $device/nand.img"
}
kill_background() {
    local pid
    find_background
    kill -9 "$pid"
    while kill -0 "$pid" 2> /dev/null; do sleep 0.01; done
    detach
}

daemonised() {
    say "--- the daemon in the background"
    (cd "$work" && "$FLASHLAB" mount device mnt) || die "mount by relative paths"
    mounted || die "mount returned before the mount was there"
    mkdir "$mnt/writer"
    acknowledged 200
    kill_background
    background
    "$FLASHLAB_LIVE_BIN/acknowledged_check" "$mnt/writer" "$work/acknowledged" 1 || die "kill -9 of the daemon in the background"
    # It holds neither our terminal nor our directory: pipes end when the command ends.
    rm -rf "$mnt/writer"
    "$FLASHLAB" umount "$mnt" || die "umount"
    local answer
    answer=$(timeout 20 bash -c "'$FLASHLAB' mount '$device' '$mnt' 2>&1 | cat; echo over") || die "the daemon keeps its caller's pipe open"
    [[ $answer == over ]] || die "mount said: $answer"
    fusermount3 -u "$mnt" || die "fusermount3 -u"
    "$FLASHLAB" umount "$mnt" 2> /dev/null && die "umount of what is not mounted"
    wait_until_free
    check_device
}
wait_until_free() {
    local tries=0
    until "$FLASHLAB" fsck "$device" --quiet > /dev/null 2>&1; do ((tries++ < 100)) || die "the images stay locked"; sleep 0.1; done
}

# host_cache=writethrough, sync: what write(2) and copy_file_range(2) answered is there after a kill -9, without fsync.
writethrough() {
    local option
    head -c 3000000 /dev/urandom > "$work/data"
    for option in host_cache=writethrough sync; do
        say "--- -o $option"
        background -o "$option",log=none
        cp "$work/data" "$mnt/data"
        cp "$mnt/data" "$mnt/copy" # coreutils from 9 on ask for copy_file_range(2)
        printf 'tail' >> "$mnt/data"
        kill_background
        background
        cmp <(cat "$work/data"; printf 'tail') "$mnt/data" || die "$option: an answered write is lost"
        cmp "$work/data" "$mnt/copy" || die "$option: an answered copy is lost"
        rm "$mnt/data" "$mnt/copy"
        "$FLASHLAB" umount "$mnt" || die "umount"
        check_device
    done
}

# chattr +S: the same for one file on any mount.
synced_file() {
    say "--- chattr +S"
    background
    touch "$mnt/file" "$mnt/copy"
    chattr +S "$mnt/file" "$mnt/copy"
    cat "$work/data" > "$mnt/file"
    cp "$mnt/file" "$mnt/copy"
    kill_background
    background
    cmp "$work/data" "$mnt/file" || die "chattr +S: an answered write is lost"
    cmp "$work/data" "$mnt/copy" || die "chattr +S: an answered copy is lost"
    printf 'tail' >> "$mnt/file" # this mount has seen no chattr
    kill_background
    background
    cmp <(cat "$work/data"; printf 'tail') "$mnt/file" || die "chattr +S of an earlier mount: an answered write is lost"
    rm "$mnt/file" "$mnt/copy"
    "$FLASHLAB" umount "$mnt" || die "umount"
    check_device
}

writeback() {
    say "--- -o writeback"
    background -o writeback,noatime --log none
    mkdir "$mnt/writer"
    acknowledged 200
    head -c 300000 /dev/urandom > "$work/new"
    echo old > "$mnt/name"
    cat "$work/new" > "$mnt/temporary" # closed, not synced: docs/crash-model.md, 14
    mv "$mnt/temporary" "$mnt/name"
    kill_background
    background -o writeback
    cmp "$work/new" "$mnt/name" || die "writeback: close and rename over a name did not leave the new file"
    rm "$mnt/name"
    "$FLASHLAB_LIVE_BIN/acknowledged_check" "$mnt/writer" "$work/acknowledged" 1 || die "writeback: an acknowledged record is lost"
    mkdir "$mnt/random"
    "$FLASHLAB_LIVE_BIN/random_file_operations" "$mnt/random/file" 3 2000 || die "random_file_operations with -o writeback"
    if [[ $(id -u) -eq 0 ]]; then # what the kernel took before a flag, or as an append, it may write later
        echo one > "$mnt/log"
        chattr +a "$mnt/log"
        echo two >> "$mnt/log"
        sync "$mnt/log" || die "writeback: an append to an append-only file"
        [[ $(cat "$mnt/log") == $'one\ntwo' ]] || die "writeback: append-only: $(cat "$mnt/log")"
        chattr -a "$mnt/log"
        rm "$mnt/log"
    fi
    rm -rf "$mnt/random" "$mnt/writer"
    "$FLASHLAB" umount "$mnt" || die "umount"
    check_device
}

contradictions() {
    say "--- words that contradict each other: the last one holds; links to drive and mount point"
    background -o noexec,exec,ro,noatime,rw,sync,async
    ! option_of_mount noexec || die "noexec,exec is noexec"
    ! option_of_mount sync || die "sync,async is sync"
    option_of_mount noatime || die "noatime is lost"
    echo content > "$mnt/file" || die "ro,rw is read-only"
    local pid
    find_background
    ln -s "$mnt" "$work/link"
    "$FLASHLAB" umount "$work/link" || die "umount by a link"
    ! compgen -G "/proc/$pid/fd/*" > /dev/null || die "umount ended before the daemon did" # a zombie has no files
    background -o exec,noexec,rw,ro
    option_of_mount noexec || die "exec,noexec is exec"
    option_of_mount ro || die "rw,ro is writable"
    ln -s "$device" "$work/link-to-drive"
    "$FLASHLAB" umount "$work/link-to-drive" || die "umount by a link to the drive"
    ! mounted || die "still mounted"
    rm "$work/link" "$work/link-to-drive"
}

read_only() {
    say "--- --read-only, -o ro, -o norecovery"
    background
    echo content > "$mnt/file"
    touch -a -d '2001-01-01' "$mnt/file" # older than mtime: relatime would move it
    local before way
    before=$(stat -c '%i %s %.9X %.9Y %.9Z' "$mnt/file")
    "$FLASHLAB" umount "$mnt" || die "umount"
    for way in --read-only "-o ro" "-o norecovery"; do
        # shellcheck disable=SC2086 # two words
        background $way
        option_of_mount ro || die "$way: /proc/mounts does not say ro"
        [[ $(cat "$mnt/file") == content ]] || die "$way: read"
        { echo more >> "$mnt/file"; } 2> "$work/err" && die "$way: a write succeeded"
        grep -qi 'read-only' "$work/err" || die "$way: expected EROFS: $(cat "$work/err")"
        ! mkdir "$mnt/dir" 2> /dev/null || die "$way: mkdir succeeded"
        ! rm -f "$mnt/file" 2> /dev/null || die "$way: unlink succeeded"
        [[ $(stat -c '%i %s %.9X %.9Y %.9Z' "$mnt/file") == "$before" ]] || die "$way: reading changed the attributes"
        "$FLASHLAB" umount "$mnt" || die "umount after $way"
        check_device
    done
}

# Access times belong to the daemon: the kernel's flag alone would change nothing.
access_times() {
    say "--- -o noatime, O_NOATIME"
    background -o noatime
    echo content > "$mnt/file"
    touch -a -d '2001-01-01' "$mnt/file"
    cat "$mnt/file" > /dev/null
    [[ $(stat -c %x "$mnt/file") == 2001* ]] || die "-o noatime: reading moved the access time"
    "$FLASHLAB" umount "$mnt" || die "umount"
    background
    dd if="$mnt/file" of="$work/copy" iflag=noatime 2> /dev/null || die "dd iflag=noatime"
    [[ $(stat -c %x "$mnt/file") == 2001* ]] || die "O_NOATIME: reading moved the access time"
    "$FLASHLAB" umount "$mnt" || die "umount"
    background
    cat "$mnt/file" > /dev/null
    [[ $(stat -c %x "$mnt/file") != 2001* ]] || die "relatime: the access time stayed before the last change"
    rm "$mnt/file"
    "$FLASHLAB" umount "$mnt" || die "umount"
    check_device
}

# A read-only mount after a cut recovers, shows all, and the next one may write.
read_only_after_cut() {
    say "--- --read-only after a power cut"
    background
    mkdir "$mnt/writer"
    acknowledged 100
    "$FLASHLAB" ctl "$mnt" powercut --seed 3 > "$work/cut.log" || die "ctl powercut"
    detach
    background --read-only
    "$FLASHLAB_LIVE_BIN/acknowledged_check" "$mnt/writer" "$work/acknowledged" 1 || die "read-only after a cut"
    "$FLASHLAB" umount "$mnt" || die "umount"
    check_device
    background
    rm -rf "$mnt/writer"
    "$FLASHLAB" umount "$mnt" || die "umount"
    check_device
}

fuse_type() { awk -v point="$mnt" '$2 == point { print $3 }' /proc/self/mounts; }

# As mount(8) calls a helper: /sbin/mount.TYPE SOURCE DIR [-sfnv] [-N namespace] [-o options] [-t type.subtype]; as fsck(8) and mkfs(8) call theirs.
helper_names() {
    say "--- mount.flashlab, mount.fuse.flashlab, mkfs.flashlab, fsck.flashlab"
    bin=$work/bin
    mkdir "$bin"
    local name code
    for name in mount.flashlab mount.fuse.flashlab mkfs.flashlab fsck.flashlab; do ln -s "$(readlink -f "$FLASHLAB")" "$bin/$name"; done
    rm -rf "$device"
    "$bin/mkfs.flashlab" -L shelf "$device" --size 256M > /dev/null || die "mkfs.flashlab"
    code=0
    "$bin/mkfs.flashlab" "$device" --size 256M > /dev/null 2>&1 || code=$?
    [[ $code -eq 8 ]] || die "mkfs.flashlab on an existing device: code $code, expected 8"
    code=0
    "$bin/mkfs.flashlab" --nonsense "$device" > /dev/null 2>&1 || code=$?
    [[ $code -eq 16 ]] || die "mkfs.flashlab --nonsense: code $code, expected 16"
    for name in mount.flashlab mount.fuse.flashlab; do
        "$bin/$name" "$device" "$mnt" -s -n -v -o rw,nofail,noauto,user,_netdev,x-systemd.device-timeout=3,comment=mine,noatime,nosuid,latency=off,log=none -t fuse.flashlab \
            || die "$name with the options of an fstab line"
        [[ $(fuse_type) == fuse.flashlab ]] || die "$name: type $(fuse_type)"
        option_of_mount nosuid || die "$name: nosuid was not honoured"
        echo "$name" > "$mnt/by"
        "$FLASHLAB" umount "$mnt" || die "umount"
    done
    "$bin/mount.flashlab" "$device" "$mnt" -r || die "mount.flashlab -r"
    option_of_mount ro || die "mount.flashlab -r is not read-only"
    "$FLASHLAB" umount "$mnt" || die "umount"
    code=0
    "$bin/mount.flashlab" "$device" "$mnt" -o nonsense=1 2> /dev/null || code=$?
    [[ $code -eq 1 ]] || die "mount.flashlab -o nonsense: code $code, expected 1"
    code=0
    "$bin/mount.flashlab" "$work/nowhere" "$mnt" 2> /dev/null || code=$?
    [[ $code -eq 32 ]] || die "mount.flashlab of nothing: code $code, expected 32"
    "$bin/fsck.flashlab" -n -f -C0 "$device" > /dev/null || die "fsck.flashlab -n -f -C0"
    "$bin/fsck.flashlab" -p -C 0 "$device" > /dev/null || die "fsck.flashlab -p"
    "$bin/fsck.flashlab" -a -y "$device" > /dev/null || die "fsck.flashlab -a -y"
    code=0
    "$bin/fsck.flashlab" --nonsense "$device" > /dev/null 2>&1 || code=$?
    [[ $code -eq 16 ]] || die "fsck.flashlab --nonsense: code $code, expected 16"
}

# Several mounts that only look share a drive; each answers for itself, and ends by itself. A writer stays alone.
read_only_twice() {
    say "--- a second read-only mount"
    local other=$work/other
    mkdir "$other"
    lost() { fusermount3 -u -z "$other" 2> /dev/null; die "$@"; }
    background --read-only
    "$FLASHLAB" mount "$device" "$other" -o norecovery 2> "$work/err" || lost "the second mount: $(cat "$work/err")"
    cmp "$mnt/file" "$other/file" || lost "the second mount shows something else"
    { echo more >> "$other/file"; } 2> /dev/null && lost "the second mount takes a write"
    "$FLASHLAB" ctl "$other" stats > "$work/out" 2>&1 || lost "ctl of the second mount: $(cat "$work/out")"
    "$FLASHLAB" mount "$device" "$other" --read-only 2> /dev/null && lost "two mounts in one place"
    mkdir "$work/third"
    "$FLASHLAB" mount "$device" "$work/third" 2> "$work/err" && lost "a writer beside two that look"
    grep -q 'mounted on' "$work/err" || lost "a writer beside two that look: $(cat "$work/err")"
    "$FLASHLAB" mount "$device" "$work/third" --read-only --log summary 2> /dev/null && lost "two mounts may write one log"
    "$FLASHLAB" umount "$mnt" --timeout 5 || lost "umount of the first waits for the second"
    [[ $(cat "$other/file") == content ]] || lost "the second mount ended with the first"
    "$FLASHLAB" info "$other" > /dev/null || lost "info of the second mount"
    background --read-only # the first place again, while the other one stays
    "$FLASHLAB" umount "$other" --timeout 5 || lost "umount of the second waits for the first"
    [[ $(cat "$mnt/file") == content ]] || lost "the first mount ended with the second"
    "$FLASHLAB" umount "$mnt" || lost "umount"
    [[ -z $(find "$device" -name '*.sock') ]] || lost "a socket is left: $(ls "$device")"
    background
    "$FLASHLAB" mount "$device" "$other" --read-only 2> "$work/err" && lost "a mount that looks beside a writer"
    grep -q 'only a drive that is mounted read-only' "$work/err" || lost "beside a writer: $(cat "$work/err")"
    "$FLASHLAB" umount "$mnt" || lost "umount"
    check_device
}

# mount(8) itself, by an fstab of our own and helpers in /sbin: only where that may be written, and only what was not there before is removed.
mount_by_fstab() {
    if [[ $(id -u) -ne 0 || ! -w /sbin || -e /sbin/mount.flashlab ]]; then say "mount(8): not tried (needs root, and /sbin/mount.flashlab to be free)"; return; fi
    say "--- mount(8) with an fstab line"
    ln -s "$bin/mount.flashlab" /sbin/mount.flashlab
    printf '%s %s flashlab defaults,nofail,user,x-test=1,latency=off,log=none 0 2\n' "$device" "$mnt" > "$work/fstab"
    local result=0
    mount --fstab "$work/fstab" "$mnt" || result=1
    rm -f /sbin/mount.flashlab
    [[ $result -eq 0 ]] || die "mount --fstab"
    [[ $(cat "$mnt/by") == mount.fuse.flashlab ]] || die "content through mount(8)"
    umount "$mnt" || die "umount(8)"
    wait_until_free
}

begin 1024
make_device --size 256M
daemonised
writethrough
synced_file
writeback
contradictions
read_only
read_only_twice
read_only_after_cut
access_times
helper_names
mount_by_fstab
check_device
say "ok: mount options"
