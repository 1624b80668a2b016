#!/usr/bin/env bash
# Bit errors on a real mount: data that have lain take retries and are right, `smart` tells, a scrub makes them young, and what lay too long is EIO for the
# files that it struck, and for no other. Wrong requests are refused with what to do.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

smart() { "$FLASHLAB" smart "$mnt" --json | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
refused() { # TEXT WORDS...
    local text=$1
    shift
    if "$FLASHLAB" ctl "$mnt" "$@" > /dev/null 2> "$work/err"; then die "not refused: ctl $*"; fi
    grep -q "$text" "$work/err" || die "'$text' expected of ctl $*: $(cat "$work/err")"
}
read_all() { (cd "$mnt" && sha256sum -- * | sha256sum); }
drop_caches() { # the kernel's: what is read then comes from the drive
    unmount_device
    mount_device "$@"
}

begin 1024
make_device --size 256M --ftl page_map
mount_device
refused "set nand.cell_errors=tlc-72" age 30d
refused "as age 30d" age
refused "as age 30d" age 30
refused "as age 30d" age 0d
refused "as age 30d" age 101y
for i in 1 2 3 4; do head -c 4M /dev/urandom > "$mnt/file$i"; done
sync "$mnt"/file*
before=$(read_all)

say "--- a year on a shelf takes retries, and nothing is wrong"
worn=(-o nand.cell_errors=tlc-72,nand.cycles_before=1000)
drop_caches "${worn[@]}"
"$FLASHLAB" ctl "$mnt" age 1y || die "ctl age"
[[ $(read_all) == "$before" ]] || die "data that have lain for a year are wrong"
[[ $(smart read_retries) -gt 0 ]] || die "no retries: $("$FLASHLAB" smart "$mnt")"
[[ $(smart uncorrected_reads) -eq 0 ]] || die "pages are lost after a year"

say "--- scrubbed, they take fewer, also after a mount"
drop_caches "${worn[@]}" -o ftl.scrub_days=90
"$FLASHLAB" ctl "$mnt" idle || die "ctl idle"
[[ $(smart scrubbed_blocks) -gt 0 ]] || die "nothing was scrubbed"
drop_caches "${worn[@]}"
already=$(smart read_retries) # smart counts over all mounts
[[ $(read_all) == "$before" ]] || die "data that were scrubbed are wrong"
young=$(($(smart read_retries) - already))
"$FLASHLAB" ctl "$mnt" age 1y
drop_caches "${worn[@]}"
already=$(smart read_retries)
[[ $(read_all) == "$before" ]] || die "data are wrong after another year"
old=$(($(smart read_retries) - already))
[[ $old -gt $((2 * young)) ]] || die "$young retries when young, $old when old"

say "--- what lay too long is EIO, and what is new is not"
"$FLASHLAB" ctl "$mnt" age 20y
head -c 64K /dev/zero > "$mnt/new"
drop_caches "${worn[@]}"
cmp -n 65536 "$mnt/new" /dev/zero || die "new data are unreadable"
if cat "$mnt/file1" > /dev/null 2> "$work/err"; then die "data of twenty years at 1,000 cycles were read"; fi
grep -q "Input/output error" "$work/err" || die "$(cat "$work/err")"
drop_caches
"$FLASHLAB" query "$device" "SELECT count(*) FROM v_unreadable" --csv | tail -n 1 | grep -qx "[1-9][0-9]*" || die "v_unreadable has nothing"
rm "$mnt/new"
[[ $(read_all) == "$before" ]] || die "the cells kept their data: without errors they are right"
unmount_device

say "--- a drive whose records cannot be read says that the image is whole"
if "$FLASHLAB" mount "$device" "$mnt" -o nand.cell_errors=tlc-72,nand.cycles_before=20000 > "$work/err" 2>&1; then die "mounted at 20,000 cycles"; fi
grep -q "the image is whole: mount it with -o nand.cell_errors=none" "$work/err" || die "$(cat "$work/err")"
mount_device
[[ $(read_all) == "$before" ]] || die "a refused mount has changed something"
unmount_device
say "ok"
