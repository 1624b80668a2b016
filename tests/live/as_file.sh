#!/usr/bin/env bash
# A raw drive as one file: any program reads, writes, syncs and punches it as a disk, and what a flush made durable survives cuts and kills.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
unset FLASHLAB_LIVE_METADATA
disk=""

refused() { # WORDS IN THE MESSAGE, COMMAND...
    local words=$1 said
    shift
    said=$("$@" 2>&1) && die "not refused: $*"
    [[ $said == *"$words"* ]] || die "$* said: $said"
}
# So many requests at the drive's link, as the log has them.
requests() { "$FLASHLAB" query "$mnt" "SELECT count(*) FROM host_request r JOIN host_op_name n ON n.op = r.op WHERE $1" --csv | tail -n 1; }

kinds_are_kept_apart() {
    say "--- a raw drive is no file system, and a file system no raw drive"
    make_device --size 32M
    refused "carries a file system" "$FLASHLAB" mount --as-file "$device" "$mnt"
    rm -r "$device"
    make_device --raw --size 64M
    refused "mount --as-file" "$FLASHLAB" mount "$device" "$mnt"
    refused "leave them out" "$FLASHLAB" mount --as-file "$device" "$mnt" -o persistence=ext4
    refused "excludes" "$FLASHLAB" mkfs "$work/other" --raw --metadata journal
}

one_file() {
    say "--- one file, and nothing else"
    mount_device --as-file --log requests
    disk=$mnt/disk
    [[ $(ls "$mnt") == disk ]] || die "the mount shows $(ls "$mnt")"
    [[ $(stat -c %s "$disk") -ge $((64 << 20)) ]] || die "disk has $(stat -c %s "$disk") bytes"
    refused "not permitted" touch "$mnt/new"
    refused "not permitted" rm -f "$disk"
    refused "not permitted" truncate -s 1M "$disk"
    refused "not permitted" mv "$disk" "$mnt/other"
    truncate -s "$(stat -c %s "$disk")" "$disk" || die "its own size is no truncation"
}

# The same writes into the drive and into a file of the host.
bytes_are_kept() {
    say "--- any byte range, through the cache and beside it"
    local model=$work/model offset bytes i
    truncate -s "$(stat -c %s "$disk")" "$model"
    RANDOM=7
    for i in {1..40}; do
        offset=$(((RANDOM * 32768 + RANDOM) % (60 << 20))) bytes=$((RANDOM * 3 + 1))
        head -c "$bytes" /dev/urandom > "$work/part"
        for to in "$disk" "$model"; do dd if="$work/part" of="$to" bs=64k seek="$offset" oflag=seek_bytes conv=notrunc status=none; done
        ((i % 4)) || for to in "$disk" "$model"; do fallocate --punch-hole --offset $((offset / 2)) --length "$bytes" "$to"; done
        ((i % 5)) || for to in "$disk" "$model"; do fallocate --zero-range --keep-size --offset $((offset / 3)) --length "$bytes" "$to" 2> /dev/null \
            || dd if=/dev/zero of="$to" bs=1 count="$bytes" seek=$((offset / 3)) conv=notrunc status=none; done
    done
    dd if="$work/part" of="$disk" bs=4k count=1 seek=100 oflag=direct conv=notrunc status=none
    dd if="$work/part" of="$model" bs=4k count=1 seek=100 conv=notrunc status=none
    cmp "$disk" "$model" || die "the drive differs from the model"
    [[ $(dd if="$disk" bs=1 skip="$(stat -c %s "$disk")" status=none | wc -c) -eq 0 ]] || die "it reads behind its end"
    refused "No space left" dd if=/dev/zero of="$disk" bs=4k count=1 seek=$(($(stat -c %s "$disk") / 4096)) conv=notrunc
    refused "No space left" dd if=/dev/urandom of="$disk" bs=8k count=1 seek=$(($(stat -c %s "$disk") - 4096)) oflag=direct,seek_bytes conv=notrunc
    cmp "$disk" "$model" || die "a direct write over the end was refused, and changed something"
}

calls_are_the_drives() {
    say "--- fsync is a flush, O_DSYNC is FUA, a hole is a trim"
    local flushes fua trims
    flushes=$(requests "n.name = 'flush'") fua=$(requests "r.fua = 1") trims=$(requests "n.name = 'trim'")
    dd if=/dev/zero of="$disk" bs=4k count=1 conv=notrunc,fdatasync status=none
    (($(requests "n.name = 'flush'") == flushes + 1)) || die "fdatasync is not one flush"
    dd if=/dev/zero of="$disk" bs=4k count=3 oflag=dsync conv=notrunc status=none
    (($(requests "n.name = 'flush'") == flushes + 1)) || die "O_DSYNC flushed: it has to be FUA"
    (($(requests "r.fua = 1") == fua + 3)) || die "O_DSYNC is not FUA"
    fallocate --punch-hole --offset 0 --length 1M "$disk"
    (($(requests "n.name = 'trim'") == trims + 1)) || die "a hole is not one trim"
    dd if=/dev/zero of="$disk" bs=64k count=2 seek=3 conv=notrunc status=none
    "$FLASHLAB" ctl "$mnt" unsynced | grep -q '196608+131072' || die "what no flush has reached is not told"
    "$FLASHLAB" ctl "$mnt" flush
    "$FLASHLAB" ctl "$mnt" unsynced | grep -q '^nothing' || die "a flush left something"
    "$FLASHLAB" ctl "$mnt" fault add eio op=fsync nth=1 > /dev/null
    refused "Input/output error" dd if=/dev/zero of="$disk" bs=4k count=1 conv=notrunc,fdatasync
    "$FLASHLAB" smart "$mnt" > /dev/null || die "smart"
    "$FLASHLAB" info "$mnt" > /dev/null || die "info"
    "$FLASHLAB" ctl "$mnt" set latency=10x > /dev/null
    dd if="$work/part" of="$disk" bs=4k count=4 conv=notrunc,fsync status=none
    "$FLASHLAB" ctl "$mnt" set latency=off > /dev/null
}

# What was flushed is there after any cut; what was not may be old.
survives() {
    local how=$1
    say "--- $how"
    head -c 4M /dev/urandom > "$work/flushed"
    dd if="$work/flushed" of="$disk" bs=64k conv=notrunc,fsync status=none
    (while :; do dd if=/dev/urandom of="$disk" bs=64k seek=100 count=200 conv=notrunc status=none || exit 0; done) 2> /dev/null &
    local writer=$!
    sleep 0.3
    cut_power "$how" 5
    wait "$writer" 2> /dev/null || true
    detach
    check_device
    mount_device --as-file --log requests
    cmp -n $((4 << 20)) "$disk" "$work/flushed" || die "$how: what was flushed is lost"
}

begin 512
kinds_are_kept_apart
one_file
bytes_are_kept
calls_are_the_drives
for how in powercut kill; do survives "$how"; done
unmount_device
mount_device --as-file --read-only
cmp -n $((4 << 20)) "$mnt/disk" "$work/flushed" || die "read-only"
refused "ead-only" dd if=/dev/zero of="$mnt/disk" bs=4k count=1 conv=notrunc
unmount_device
check_device
"$FLASHLAB" bench --device "$device" --rw randwrite --io-size 4M --bs 4k > /dev/null || die "bench on a raw drive"
say "a raw drive as a file: all well"
