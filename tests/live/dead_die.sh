#!/usr/bin/env bash
# Parity over dies on a real mount: a die dies under a program that writes, nothing is lost, what lay on it is written anew beside the program, and neither
# a power cut, a start nor fsck finds anything missing. `smart` tells. Without parity the same die costs files, and the programs hear of it.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

smart() { "$FLASHLAB" smart "$mnt" --json | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
sums() { (cd "$mnt" && sha256sum -- * | sha256sum); }
write() { # NAMES...
    local name
    for name in "$@"; do head -c 3M /dev/urandom > "$mnt/$name"; done
    sync "$mnt"/*
}

same() { [[ $2 == "$3" ]] || die "$1: $2 in place of $3"; }

begin 1024
say "--- a drive that cannot have it says why"
for words in 'nand.rain=3' 'nand.rain=24' 'nand.rain=4 ftl.scheme=log_block' 'nand.rain=4 nand.striping=2'; do
    settings=(--preset modern-tlc)
    for word in $words; do settings+=(--set "$word"); done
    if "$FLASHLAB" mkfs "$work/no" --size 256M "${settings[@]}" 2> "$work/err"; then die "not refused: $words"; fi
    grep -q "nand.rain" "$work/err" || die "$words: $(cat "$work/err")"
done

say "--- a die dies while files are written"
make_device --size 256M --ftl page_map --set nand.rain=4
mount_device --log all
write a b c d
before=$(sums)
"$FLASHLAB" ctl "$mnt" fault add die_dead die=5 > /dev/null || die "fault add"
echo 3 > /proc/sys/vm/drop_caches 2> /dev/null || true
same "what was written before" "$(sums)" "$before"
write e f
after=$(sums)
for _ in $(seq 50); do
    [[ $(smart scrubbed_blocks) -gt 0 ]] && break
    sleep 0.1
    sync "$mnt/a"
done
[[ $(smart scrubbed_blocks) -gt 0 ]] || die "nothing is written anew: $("$FLASHLAB" smart "$mnt")"
[[ $(smart critical_warning) -eq 4 ]] || die "critical_warning is $(smart critical_warning)"

say "--- the power fails, and the die stays dead"
cut_power powercut 7
detach
mount_device -o fault=die_dead:die=5
same "after the cut" "$(sums)" "$after"
rebuilt=$(smart rebuilt_pages)
unmount_device
[[ $("$FLASHLAB" smart "$device" --json | sed -n 's/.*"rebuilt_pages":\([0-9]*\).*/\1/p') -ge $rebuilt && $rebuilt -gt 0 ]] || die "the pages that were rebuilt are forgotten at the unmount"
mount_device -o fault=die_dead:die=5
same "after a start" "$(sums)" "$after"
unmount_device
check_device

say "--- the log tells parity from data"
parity=$("$FLASHLAB" query "$device" --csv "SELECT count(*) FROM nand_op n JOIN cause_name c USING(cause) JOIN page_kind_name k USING(page_kind)
    WHERE c.name = 'parity' AND k.name = 'parity' AND n.op = (SELECT op FROM nand_op_name WHERE name = 'program')" | tail -n 1)
[[ $parity -gt 100 ]] || die "$parity parity pages in the log"

say "--- without parity the die costs files"
device=$work/plain
make_device --size 256M --ftl page_map
mount_device
write a b c d
"$FLASHLAB" ctl "$mnt" fault add die_dead die=1 > /dev/null || die "fault add"
if echo 3 2> /dev/null > /proc/sys/vm/drop_caches; then # else the kernel has the files
    cat "$mnt"/? > /dev/null 2> "$work/err" && die "all files read without a die"
    grep -q "Input/output error" "$work/err" || die "$(cat "$work/err")"
fi
"$FLASHLAB" ctl "$mnt" fault clear all > /dev/null || die "fault clear"
unmount_device
say "ok"
