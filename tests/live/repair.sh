#!/usr/bin/env bash
# fsck --repair after damage by the host: what reads is whole afterwards, what does not is named and told, what cannot be mended stays as it is.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"

begin 1024
make_device --size 64M
mount_device
mkdir -p "$mnt/a/b" "$mnt/empty"
head -c 3M /dev/urandom > "$work/big"
cp "$work/big" "$mnt/a/big"
cp "$work/big" "$mnt/a/b/other"
ln "$mnt/a/big" "$mnt/a/b/hard"
ln -s ../a/big "$mnt/a/soft"
truncate -s 20M "$mnt/sparse"
echo tail >> "$mnt/sparse"
touch -d '2001-02-03 04:05:06' "$mnt/a/big"
chmod 640 "$mnt/a/big"
mkfifo "$mnt/pipe"
setfattr -n user.note -v 'a note' "$mnt/sparse" 2> /dev/null || say "no setfattr here"
mark=$(printf 'find me: %s' "$RANDOM$RANDOM$RANDOM")
{ printf '%s' "$mark"; head -c 8000 /dev/zero; } > "$mnt/marked"
sync "$mnt/marked"
unmount_device
"$FLASHLAB" fsck --data "$device" > /dev/null || die "fsck before any damage"

say "--- a flipped bit in a file's data"
at=$(LC_ALL=C grep -obUaF "$mark" "$device/nand.img" | head -n 1 | cut -d: -f1)
[[ -n $at ]] || die "the mark is not in the image"
printf 'F' | dd of="$device/nand.img" bs=1 seek="$at" conv=notrunc 2> /dev/null # one bit of the f
code=0
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 1 ]] && grep -q 'repaired in place: 1 flipped bits' "$work/fsck.log" || die "a flipped bit was not turned back: $code, $(cat "$work/fsck.log")"
say "$(grep repaired "$work/fsck.log")"
mount_device --read-only
[[ $(head -c ${#mark} "$mnt/marked") == "$mark" ]] || die "the file is not whole again"
unmount_device

say "--- more flipped bits in a file's data than its checksum can tell"
printf 'LOST' | dd of="$device/nand.img" bs=1 seek="$at" conv=notrunc 2> /dev/null
code=0
"$FLASHLAB" fsck --data "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 4 ]] && grep -q '/marked' "$work/fsck.log" || die "fsck without --repair: $code, $(cat "$work/fsck.log")"
code=0
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 1 ]] || die "fsck --repair ended with $code: $(cat "$work/fsck.log")"
say "$(grep -E 'lost|repaired' "$work/fsck.log")"
grep -q 'lost: /marked: bytes 0 to 4095' "$work/fsck.log" || die "what is lost is not told: $(cat "$work/fsck.log")"
"$FLASHLAB" fsck --data "$device" > "$work/fsck.log" 2>&1 || { cat "$work/fsck.log"; die "after the repair fsck is not clean"; }
mount_device
[[ ! -e $mnt/marked && -e $mnt/marked.damaged ]] || die "a file with missing bytes kept its name"
[[ $(stat -c %s "$mnt/marked.damaged") -eq $((${#mark} + 8000)) ]] || die "its size"
for file in a/big a/b/other a/b/hard a/soft; do cmp "$work/big" "$mnt/$file" || die "$file"; done
[[ $(stat -c '%h %a %Y' "$mnt/a/big") == "2 640 $(date -d '2001-02-03 04:05:06' +%s)" ]] || die "links, mode or time of a/big: $(stat -c '%h %a %Y' "$mnt/a/big")"
[[ $(readlink "$mnt/a/soft") == ../a/big && -p $mnt/pipe && -d $mnt/empty ]] || die "symlink, pipe or directory"
[[ $(tail -n 1 "$mnt/sparse" | tr -d '\0') == tail && $(stat -c %b "$mnt/sparse") -lt 100 ]] || die "the sparse file"
if command -v getfattr > /dev/null; then [[ $(getfattr --only-values -n user.note "$mnt/sparse" 2> /dev/null) == 'a note' ]] || die "the extended attribute"; fi
unmount_device
"$FLASHLAB" snapshot "$device" | grep -q before-repair-2 || die "the damaged images were not kept"

say "--- what is whole keeps its name, its rights and its flags beside a damaged file"
mount_device
rm "$mnt/marked.damaged"
echo whole > "$mnt/two.damaged"
long=$(printf 'n%.0s' {1..250})
{ printf '%s' "$mark"; head -c 8000 /dev/zero; } | tee "$mnt/two" > "$mnt/$long"
ln "$mnt/two" "$mnt/a/three"
install -m 6755 /dev/null "$mnt/set-id" && install -m 644 /dev/null "$mnt/kept" && ln "$mnt/kept" "$mnt/a/kept"
if [[ $(id -u) -eq 0 ]] && command -v chattr > /dev/null; then chattr +a "$mnt/kept"; fi
sync "$mnt/two" && sync "$mnt/$long"
unmount_device
LC_ALL=C grep -obUaF "$mark" "$device/nand.img" | cut -d: -f1 | while read -r at; do
    printf 'LOST' | dd of="$device/nand.img" bs=1 seek="$at" conv=notrunc 2> /dev/null
done
code=0
mkdir "$device/.mkfs-999999999" && echo half > "$device/.mkfs-999999999/nand.img" # of a repair that was killed
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ ! -e $device/.mkfs-999999999 ]] || die "a half device of a dead process stays"
[[ $code -eq 1 ]] || die "beside whole files: $code, $(cat "$work/fsck.log")"
grep -q 'lost: /two: it is called two.damaged-2 now' "$work/fsck.log" && grep -q 'lost: /a/three: it is called three.damaged now' "$work/fsck.log" ||
    die "the new names are not told: $(cat "$work/fsck.log")"
mount_device
[[ $(cat "$mnt/two.damaged") == whole && -e $mnt/two.damaged-2 && -e $mnt/a/three.damaged && -e $mnt/${long:0:247}.damaged ]] || die "names: $(ls "$mnt")"
[[ $(stat -c '%a' "$mnt/set-id") == 6755 && $(stat -c %h "$mnt/kept") -eq 2 ]] || die "rights or links: $(ls -l "$mnt")"
if [[ $(id -u) -eq 0 ]] && command -v chattr > /dev/null; then
    [[ $(lsattr "$mnt/kept") == *a*" $mnt/kept" ]] || die "flags: $(lsattr "$mnt/kept")"
    chattr -a "$mnt/kept"
fi
unmount_device

say "--- a flipped bit in the metadata"
at=$(($(stat -c %s "$device/pram.img") / 2))
byte=$(dd if="$device/pram.img" bs=1 skip=$at count=1 2> /dev/null | od -An -tu1)
flipped() { printf "\\x$(printf %x "$1")"; }
flipped $((${byte:-0} ^ 4)) | dd of="$device/pram.img" bs=1 seek=$at conv=notrunc 2> /dev/null
"$FLASHLAB" mount "$device" "$mnt" 2> /dev/null && die "a device with damaged metadata was mounted"
code=0
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 1 ]] && grep -q 'repaired in place: 1 flipped bits were turned back, every page reads, 0 parts are lost' "$work/fsck.log" || die "metadata: $code, $(cat "$work/fsck.log")"
mount_device --read-only
for file in a/big a/b/other a/b/hard a/soft; do cmp "$work/big" "$mnt/$file" || die "$file after the repair of metadata"; done
unmount_device

say "--- metadata that do not agree with their checksums: an error, and nothing is changed"
printf 'FLIPPED' | dd of="$device/pram.img" bs=1 seek=$(($(stat -c %s "$device/pram.img") / 2)) conv=notrunc 2> /dev/null
before=$(cat "$device"/*.img | cksum)
code=0
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 4 || $code -eq 8 ]] && grep -q 'flashlab: fsck' "$work/fsck.log" || die "fsck --repair of damaged metadata: $code, $(cat "$work/fsck.log")"
[[ $(cat "$device"/*.img | cksum) == "$before" ]] || die "a repair that failed changed the images"

say "--- a repair that was killed: the log comes back"
mv "$device/events.db" "$device/events.db.kept" && rm -f "$device"/events.db-*
"$FLASHLAB" fsck --repair "$device" > /dev/null 2>&1 || true
[[ -e $device/events.db && ! -e $device/events.db.kept ]] || die "the log of a killed repair: $(ls -a "$device")"

say "--- an image that was cut short: the same"
rm -rf "$device"
make_device --size 64M
truncate -s -1M "$device/nand.img"
code=0
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 4 || $code -eq 8 ]] && grep -q 'nand.img' "$work/fsck.log" || die "fsck --repair of a short image: $code, $(cat "$work/fsck.log")"
rm -rf "$device"
make_device --size 128M --metadata journal --ftl page_map
mount_device
cp "$work/big" "$mnt/big" && sync "$mnt/big"
unmount_device
truncate -s -1M "$device/nand.img"
code=0
"$FLASHLAB" fsck --repair "$device" > "$work/fsck.log" 2>&1 || code=$?
[[ $code -eq 1 ]] && grep -q 'lost: nand.img: .*they were cut off' "$work/fsck.log" || die "a short image that nothing must agree with: $code, $(cat "$work/fsck.log")"
mount_device
cmp "$work/big" "$mnt/big" || die "what lay before the cut"
unmount_device
check_device
say "ok: repair; $(tail -n 1 "$work/fsck.log")"
