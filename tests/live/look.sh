#!/usr/bin/env bash
# ls, cat, cp and dump on a drive that is not mounted give what a mount gave, after a power cut, too; and change nothing.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

refuses() { # refuses TEXT COMMAND...
    local text=$1
    shift
    "$FLASHLAB" "$@" > "$work/out" 2> "$work/err" && die "flashlab $* ended with 0"
    grep -q -- "$text" "$work/err" || die "flashlab $*: no '$text' in: $(head -n 1 "$work/err")"
}

begin 512
make_device --size 256M
mount_device
cp -r "$FLASHLAB_TREE/tools" "$mnt/tools"
ln -s tools/cli "$mnt/link"
truncate -s 3M "$mnt/sparse" && printf end >> "$mnt/sparse"
printf 'a b' > "$mnt/na:me with
newline"
mkfifo "$mnt/pipe"
mkdir -m 700 "$mnt/closed"
touch -d '2001-02-03 04:05:06.789' "$mnt/sparse"
(cd "$mnt" && tar -c --sort=name --exclude=pipe .) > "$work/before.tar"
refuses 'it is mounted on' ls "$device"
refuses 'it is mounted on' dump "$device" --page 0
unmount_device

sums() { sha256sum "$device"/nand.img "$device"/pram.img "$device"/device.toml "$device"/counters.json; }
sums > "$work/sums"
[[ $("$FLASHLAB" ls "$device" | tr '\n' ' ') == "closed link na:me with newline pipe sparse tools " ]] || die "ls: $("$FLASHLAB" ls "$device")"
"$FLASHLAB" ls "$device:/" -l | grep -q '^drwx------ .* closed$' || die "ls -l"
"$FLASHLAB" ls "$device" -l | grep -q '^lrwxrwxrwx .* 9  .* link -> tools/cli$' || die "ls -l of a link"
"$FLASHLAB" ls "$device:/sparse" -l | grep -q '3145731 .*2001-02-03 04:05' || die "ls -l of a file"
[[ $("$FLASHLAB" ls "$device" -R --json | grep -o '"path"' | wc -l) -eq $((6 + $(find "$FLASHLAB_TREE/tools" | wc -l) - 1)) ]] || die "ls -R --json"
"$FLASHLAB" cat "$device:/tools/test.sh" "$device:na:me with
newline" | cmp - <(cat "$FLASHLAB_TREE/tools/test.sh"; printf 'a b') || die "cat"
"$FLASHLAB" cp -r "$device" "$work/copy" 2> "$work/err" || die "cp -r: $(cat "$work/err")"
grep -q 'pipe: a device, pipe or socket is not copied' "$work/err" || die "cp passes over a pipe in silence"
(cd "$work/copy" && tar -c --sort=name .) | cmp - "$work/before.tar" || die "the copy differs from what the mount gave"
[[ $(du -k "$work/copy/sparse" | cut -f 1) -lt 100 ]] || die "the copy has no hole"
refuses 'File exists' cp -r "$device:/tools" "$work/copy"
ln -s elsewhere "$work/dangling"
refuses 'File exists' cp "$device:/sparse" "$work/dangling"
refuses 'copy it with -r' cp "$device:/tools" "$work/other"
refuses 'only copied out' cp "$work/err" "$device:/in"
refuses 'No such file' cat "$device:/nowhere"
for below in x '' . ..; do # a file is none, whatever comes after the slash
    for look in ls cat; do refuses 'Not a directory' "$look" "$device:/sparse/$below"; done
    refuses 'Not a directory' cp "$device:/sparse/$below" "$work/other"
done
refuses 'no regular file' cat "$device:/tools"
refuses 'no regular file' cat "$device:/pipe"
refuses 'no FlashLab device' ls "$work:/x"
refuses 'one of --page N and --block N' dump "$device"
refuses 'there are .* pages' dump "$device" --page 99999999
"$FLASHLAB" dump "$device" --block 0 --json | grep -q '"erase_count":' || die "dump --block"
sums | cmp - "$work/sums" || die "looking changed the drive"

# What a mount would recover after a cut is what is seen here.
mount_device
printf 'kept' > "$mnt/synced" && sync "$mnt/synced"
"$FLASHLAB" ctl "$mnt" powercut --seed 3 > "$work/out" || die "powercut"
for _ in $(seq 100); do [[ $(findmnt -n "$mnt" | wc -l) -ne 0 ]] || break; sleep 0.1; done
sums > "$work/sums"
[[ $("$FLASHLAB" cat "$device:/synced") == kept ]] || die "after a cut"
sums | cmp - "$work/sums" || die "looking after a cut changed the drive"
# The page of a file's beginning, found by its content.
page=$("$FLASHLAB" dump "$device" --page 0 --data | sed -n 's/^00000000  //p')
[[ -n $page ]] || die "dump --page --data"
flip() { printf '\xff\xff\xff\xff' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
flip "$device/nand.img" 6000 # of the records: what can be read still is
"$FLASHLAB" ls "$device" > "$work/out" 2> "$work/err" || grep -q 'flashlab: ls: ' "$work/err" || die "a damaged drive: $(cat "$work/err")"
daemon=""
