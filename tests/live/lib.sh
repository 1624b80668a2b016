# shellcheck shell=bash
# Sourced by every live scenario: a device in a temporary directory, mounted, and always unmounted again.
#
#   FLASHLAB       the binary                      FLASHLAB_LIVE_BIN   directory of the programs beside this file
#   FLASHLAB_TREE  the source tree (for clones)    FLASHLAB_LIVE_KEEP  set: keep the device of a failed scenario
#   FLASHLAB_RECOVERY_LIMIT_MS   1000; raise it under sanitizers
#   FLASHLAB_LIVE_FTL   the translation layer of the devices, instead of mkfs' default
#   FLASHLAB_LIVE_METADATA   where their metadata live (pram, journal), instead of mkfs' default
#   FLASHLAB_LIVE_DIR   where devices and mount points go; otherwise memory where there is room, else TMPDIR
set -euo pipefail

: "${FLASHLAB:?path of the flashlab binary}" "${FLASHLAB_LIVE_BIN:?directory of the live test programs}" "${FLASHLAB_TREE:?source tree}"
recovery_limit_ms=${FLASHLAB_RECOVERY_LIMIT_MS:-1000}
daemon=""
skipped=77 # ctest's SKIP_RETURN_CODE

say() { printf '%s\n' "$*"; }
die() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}
skip() {
    printf 'skipped: %s\n' "$*"
    exit "$skipped"
}

# Mounting needs the device node and either the set-uid fusermount3 or CAP_SYS_ADMIN (bit 21): containers often have neither.
require_fuse() {
    { exec 9<> /dev/fuse; } 2>/dev/null || skip "/dev/fuse cannot be opened here"
    exec 9<&-
    command -v fusermount3 > /dev/null || skip "fusermount3 is not installed"
    if [[ $(id -u) -eq 0 ]]; then
        local capabilities
        capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
        (((16#$capabilities >> 21) & 1)) || skip "this container may not mount (no CAP_SYS_ADMIN)"
    fi
}

# Root becomes nobody. The set-uid fusermount3 opens /dev/fuse with his rights, and wants /etc/mtab.
require_ordinary_user() {
    [[ $(id -u) -eq 0 ]] || skip "only root can become another user"
    id nobody > /dev/null 2>&1 || skip "there is no user nobody"
    command -v su > /dev/null || skip "su is not installed"
    su nobody -s /bin/sh -c : > /dev/null 2>&1 || skip "su does not make nobody of root here"
    [[ -u $(command -v fusermount3) ]] || skip "fusermount3 is not set-uid"
    su nobody -s /bin/sh -c ': 0<> /dev/fuse' 2> /dev/null || skip "/dev/fuse is closed to ordinary users"
    [[ -r /etc/mtab ]] || skip "fusermount3 wants /etc/mtab: ln -s /proc/self/mounts /etc/mtab"
}

# Images on memory where there is room: the tests are about FlashLab, not about the host's disk.
begin() {
    require_fuse
    local needed_mib=${1:-1024} base=${TMPDIR:-/tmp}
    if [[ -w /dev/shm && $(df -Pm /dev/shm | awk 'NR == 2 { print $4 }') -ge $((needed_mib + 256)) ]]; then base=/dev/shm; fi
    work=$(mktemp -d "${FLASHLAB_LIVE_DIR:-$base}/flashlab-live.XXXXXX")
    device=$work/device
    mnt=$work/mnt
    mkdir "$mnt"
    trap 'finish $?' EXIT
    trap 'exit 130' INT TERM
}

finish() {
    local result=$1
    set +e
    jobs -p | grep -vx "${daemon:-none}" | xargs -r kill 2>/dev/null
    detach
    stop_daemon
    if [[ $result -ne 0 && $result -ne $skipped ]]; then
        say "--- the daemon's last words"
        tail -n 20 "$work"/daemon*.log 2>/dev/null
        if [[ -n ${FLASHLAB_LIVE_KEEP-} ]]; then
            say "kept: $work"
            exit "$result"
        fi
    fi
    rm -rf --one-file-system "$work"
    exit "$result"
}

mounted() { awk -v point="$mnt" '$2 == point { found = 1 } END { exit !found }' /proc/self/mounts; }

# Takes the mount point away even if the daemon is dead.
detach() {
    mounted || return 0
    fusermount3 -u "$mnt" 2>/dev/null || fusermount3 -u -z "$mnt" 2>/dev/null || umount -l "$mnt" 2>/dev/null || true
}

# Waits for the daemon to end by itself (it writes back at unmount), then insists.
stop_daemon() {
    [[ -n $daemon ]] || return 0
    local tries=0
    while kill -0 "$daemon" 2>/dev/null && ((tries++ < 300)); do sleep 0.1; done
    kill -9 "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    daemon=""
}

make_device() { "$FLASHLAB" mkfs "$device" ${FLASHLAB_LIVE_FTL:+--ftl "$FLASHLAB_LIVE_FTL"} ${FLASHLAB_LIVE_METADATA:+--metadata "$FLASHLAB_LIVE_METADATA"} "$@" > "$work/mkfs.log" 2>&1 || { cat "$work/mkfs.log"; die "mkfs $*"; }; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# How long the daemon's main thread was ready to run and had no processor: other work on this machine is no fault of a recovery.
starved_ms() { awk '{ print int($2 / 1000000) }' "/proc/$daemon/schedstat" 2>/dev/null || echo 0; }

# In the foreground, so that the daemon is a child whose number is known. Sets mount_ms: from the start until the mount answers.
mount_device() {
    local start
    start=$(now_ms)
    "$FLASHLAB" mount "$device" "$mnt" --foreground "$@" >> "$work/daemon.log" 2>&1 &
    daemon=$!
    until mounted; do
        kill -0 "$daemon" 2>/dev/null || { cat "$work/daemon.log"; daemon=""; die "mount $*: the daemon ended"; }
        sleep 0.01
    done
    stat -f "$mnt" > /dev/null || die "the mount does not answer"
    mount_ms=$(($(now_ms) - start))
}

unmount_device() {
    "$FLASHLAB" umount "$mnt" || die "umount"
    ! mounted || die "umount returned while still mounted"
    local code=0
    [[ -z $daemon ]] || wait "$daemon" || code=$?
    daemon=""
    [[ $code -eq 0 ]] || die "the daemon ended with code $code after a clean unmount"
}

# HOW: kill (kill -9 of the daemon), powercut (ctl, with a seed). A dead mount stays until recover_device: what still runs on it must not reach the host's directory.
cut_power() {
    local how=$1 seed=$2
    case $how in
        kill) kill -9 "$daemon" ;;
        powercut) # its daemon lives on for a while and answers EIO to who still has files open; the device is free
            "$FLASHLAB" ctl "$mnt" powercut --seed "$seed" > "$work/cut.log" 2>&1 || { cat "$work/cut.log"; die "ctl powercut"; }
            daemon=""
            return
            ;;
        *) die "no such way to cut the power: $how" ;;
    esac
    wait "$daemon" 2>/dev/null || true
    daemon=""
}

# The mount after a cut: recovery has a limit.
recover_device() {
    detach
    mount_device
    local starved
    starved=$(starved_ms)
    say "recovered and mounted in $mount_ms ms, of which $starved ms without a processor"
    mount_ms=$((mount_ms - starved))
    ((mount_ms <= recovery_limit_ms)) || die "recovery took $mount_ms ms, the limit is $recovery_limit_ms ms"
}

check_device() {
    local code=0
    "$FLASHLAB" fsck "$device" > "$work/fsck.log" 2>&1 || code=$?
    [[ $code -eq 0 ]] || { cat "$work/fsck.log"; die "fsck ended with code $code"; }
}

used_kib() { df -Pk "$mnt" | awk 'NR == 2 { print $3 }'; }

# KEY of `flashlab info --json`, of the device, mounted or not.
info_of() { "$FLASHLAB" info "$device" --json | sed -n "s/.*\"$1\":[[:space:]]*\([^,}]*\).*/\1/p"; }
