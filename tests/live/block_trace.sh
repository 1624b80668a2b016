#!/usr/bin/env bash
# Through ext4 on a loop device over the drive: which sync of which program caused which erase, as one query answers it.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
unset FLASHLAB_LIVE_METADATA
loop="" under=""

[[ $(id -u) -eq 0 ]] || skip "loop devices and tracefs want root"
command -v losetup > /dev/null && command -v mkfs.ext4 > /dev/null || skip "losetup or mkfs.ext4 is not installed"
command -v python3 > /dev/null || skip "python3 is not installed"
[[ -w /dev/loop-control ]] || skip "there is no /dev/loop-control"
grep -qw ext4 /proc/filesystems || skip "this kernel has no ext4"
grep -qw tracefs /proc/filesystems || skip "this kernel has no tracefs"

begin 512
under="$work/under it" # a blank, which the kernel's table of mounts writes in another way
mkdir "$under"
trap 'result=$?; set +e; umount "$under" 2> /dev/null || umount -l "$under" 2> /dev/null; [[ -z $loop ]] || losetup -d "$loop"; finish $result' EXIT

make_device --raw --size 64M --ftl page_map --set nand.channels=2 --set dram.write_buffer_bytes=0
mount_device --as-file --log requests
refused() { # TEXT ARGUMENTS...
    local code=0
    "$FLASHLAB" blocktrace "${@:2}" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq 1 ]] && grep -q -- "$1" "$work/err" || die "blocktrace ${*:2}: $code, $(cat "$work/err")"
}
refused 'losetup -f --show --direct-io=on' "$mnt" -- true
refused 'mount --as-file --log all' "$work" -- true
loop=$(losetup -f --show "$mnt/disk") || { loop=""; skip "no loop device is to be had"; }
if [[ $(cat "/sys/block/${loop#/dev/}/loop/dio") == 0 ]]; then refused 'losetup --direct-io=on' "$mnt" -- true; fi
losetup --direct-io=on "$loop" || skip "this kernel does no direct I/O below a loop device"
refused 'set log=all' "$mnt" -- true
"$FLASHLAB" ctl "$mnt" set log=all
mkfs.ext4 -q "$loop"
mount "$loop" "$under"
dd if=/dev/zero of="$under/other" bs=1M count=24 conv=fsync status=none
printf 'import os, random, sys\nrandom.seed(2)\nfd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\nfor at in range(0, 12 << 20, 1 << 20): os.pwrite(fd, b"x" * (1 << 20), at)\nfor i in range(5000):\n    os.pwrite(fd, os.urandom(8192), random.randrange(1536) * 8192)\n    os.fsync(fd)\n' > "$work/writer.py"

say "--- a program's exit code is its own; nothing of the trace is left"
code=0
"$FLASHLAB" blocktrace "$mnt" -- sh -c 'exit 7' 2> "$work/err" || code=$?
if grep -q 'tracefs cannot be mounted\|has no trace of\|cannot be seen from here\|block trace wants root' "$work/err"; then skip "$(cat "$work/err")"; fi
[[ $code -eq 7 ]] || die "blocktrace: $code, $(cat "$work/err")"
"$FLASHLAB" blocktrace "$mnt" -- python3 "$work/writer.py" "$under/db" 2> "$work/err" || die "blocktrace: $(cat "$work/err")"
grep -q 'within 500[0-9] syncs' "$work/err" || die "the syncs: $(cat "$work/err")"
! grep -q flashlab-tracefs /proc/self/mounts || die "a tracefs is left"

say "--- which sync caused which erase"
ask() { "$FLASHLAB" query "$mnt" "$1" --csv | tail -n +2; }
erases=$(ask "SELECT count(*) FROM v_erase_by_sync")
by_db=$(ask "SELECT count(*) FROM v_erase_by_sync WHERE path LIKE '%/under it/db' AND synced_by = 'python3' AND call = 'fsync'")
[[ $erases -ge 20 && $((by_db * 10)) -ge $((erases * 9)) ]] || die "$by_db of $erases erases are told to be of the writer: $(ask 'SELECT * FROM v_erase_by_sync LIMIT 5')"
say "$by_db of $erases erases came with fsyncs of the writer"

say "--- every write of the drive in that time is joined, with what was written"
bad=$(ask "SELECT count(*) FROM host_request h, block_trace.traced t WHERE h.id > t.before AND h.id <= t.last AND h.op = (SELECT op FROM host_op_name WHERE name = 'write') AND NOT EXISTS (SELECT * FROM block_trace.block_request r WHERE r.request = h.id)")
lost=$(ask "SELECT count(*) FROM v_block_write WHERE request IS NULL")
wrong=$(ask "SELECT count(*) FROM v_block_write b JOIN host_request h ON h.id = b.request WHERE h.first_sector >= b.first_sector + b.sectors OR b.first_sector >= h.first_sector + h.sectors")
[[ $bad -eq 0 && $lost -eq 0 && $wrong -eq 0 ]] || die "$bad requests have no write, $lost writes no request, $wrong do not meet"
[[ $(ask "SELECT count(*) FROM v_block_write WHERE writer LIKE 'jbd2%' AND synced_by = 'python3'") -ge 10 ]] || die "the journal's writes are nobody's: $(ask "SELECT writer, synced_by, count(*) FROM v_block_write GROUP BY 1, 2")"

say "--- a write to a file opened O_DSYNC is a sync of its own; one of another disk is none of this"
truncate -s 8M "$work/other.img"
# It stays for a second: of a process that has ended nobody can say what it had open.
cat > "$work/synced.py" <<'END'
import os, sys, time
for flags in (os.O_DSYNC, os.O_SYNC):
    fd = os.open(sys.argv[1], os.O_WRONLY | flags)
    for at in range(200): os.pwrite(fd, b"x" * 4096, at * 4096)
    time.sleep(1)
    os.close(fd)
END
other=$(losetup -f --show "$work/other.img") || skip "no second loop device is to be had"
dd if=/dev/zero of="$under/log" bs=4k count=200 conv=fsync status=none
code=0
"$FLASHLAB" blocktrace "$mnt" -- sh -c "dd if=/dev/zero of='$other' bs=4k count=20 conv=fsync status=none; python3 '$work/synced.py' '$under/log'" 2> "$work/err" || code=$?
losetup -d "$other"
[[ $code -eq 0 ]] || die "blocktrace: $(cat "$work/err")"
told=$(ask "SELECT (SELECT count(*) FROM v_block_write WHERE call = 'write O_DSYNC' AND path LIKE '%/under it/log') || ' ' || (SELECT count(*) FROM v_block_write WHERE call = 'write O_SYNC' AND path LIKE '%/under it/log')")
read -r data all <<< "$told"
[[ $data -ge 180 && $all -ge 180 ]] || die "of 200 writes with O_DSYNC $data are told, of 200 with O_SYNC $all: $(ask "SELECT call, writer, count(*) FROM v_block_write GROUP BY 1, 2")"
[[ $(ask "SELECT count(*) FROM block_trace.sync_call WHERE path = '$other'") -eq 0 ]] || die "a sync of another disk is among those of this one"
say "$data of 200 writes with O_DSYNC, $all of 200 with O_SYNC"

umount "$under"
losetup -d "$loop"
loop=""
unmount_device
