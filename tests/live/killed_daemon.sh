#!/usr/bin/env bash
# After kill -9 of the daemon the next mount on the same place recovers, no tool has to be run first; a live mount is left alone.
# And info --config tells what is in force: what was set for this mount, not what the caller's environment says.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 512
command -v python3 > /dev/null || skip "python3 is not installed"
make_device --size 64M
mount_device --set nand.page_read_ns=12345
config=$(FLASHLAB_NAND_PAGE_READ_NS=777 "$FLASHLAB" info "$mnt" --config)
grep -q '^page_read_ns = 12345' <<< "$config" || die "info --config does not tell what is in force"
[[ $("$FLASHLAB" info "$mnt" --config --json) == *'"nand.page_read_ns":12345'* ]] || die "info --config --json does not tell what is in force"
echo kept > "$mnt/file"
sync "$mnt/file"
code=0
"$FLASHLAB" mount "$device" "$mnt" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] && grep -q 'flashlab umount' "$work/err" || die "a live mount was not left alone: $code $(cat "$work/err")"
[[ $(cat "$mnt/file") == kept ]] || die "the live mount suffered"
for place in "$mnt" "$work/elsewhere"; do
    mkdir -p "$place" 2> /dev/null || true
    cut_power kill 1
    "$FLASHLAB" mount "$device" "$place" --foreground >> "$work/daemon.log" 2> "$work/err" &
    daemon=$!
    for ((i = 0; i < 500; i++)); do
        [[ ! -f $place/file ]] || break
        kill -0 "$daemon" 2> /dev/null || break
        sleep 0.01
    done
    [[ $(cat "$place/file") == kept ]] || die "mount after kill -9 on $place: $(cat "$work/err")"
    grep -q 'was killed; the mount is detached' "$work/err" || die "nothing was said of the dead mount"
    mnt=$place
done
# A daemon that takes long to die (it unmaps its images first): the next mount waits for it.
cut_power kill 1
python3 - "$device" "$work/locked" << 'PY' &
import fcntl, sys, time
images = [open(f"{sys.argv[1]}/{name}", "r+b") for name in ("nand.img", "pram.img")]
for image in images:
    fcntl.lockf(image, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(1)
PY
dying=$!
for ((i = 0; i < 500; i++)); do
    [[ ! -f $work/locked ]] || break
    sleep 0.01
done
"$FLASHLAB" mount "$device" "$mnt" 2> "$work/err" || die "mount beside a daemon that is still dying: $(cat "$work/err")"
wait "$dying"
[[ $(cat "$mnt/file") == kept ]] || die "what was synced is gone after a slow death"
unmount_device
check_device
say "ok: a killed daemon"
