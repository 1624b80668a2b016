#!/usr/bin/env bash
# Every kind of wrong input: one clear message, the right exit code, the images untouched.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
failures=0

# The contents, not their times. nand.img is sparse: an archive that keeps its holes is a hundredth of the bytes to read.
checksum() {
    (
        cd "$1" 2> /dev/null || exit 0
        find . -type f ! -name 'events.db*' ! -name nand.img -exec b2sum {} + | LC_ALL=C sort
        [[ ! -f nand.img ]] || tar --create --sparse --mtime=@0 nand.img | b2sum
    )
}

# refuses CODE PATTERN COMMAND...: ends with CODE (a|b: either), says PATTERN (any case) on stderr as "flashlab: ...", leaves $device as it was.
refuses() {
    local codes=$1 pattern=$2 before after code=0
    shift 2
    before=$(checksum "$device")
    timeout 60 "$@" > "$work/out" 2> "$work/err" || code=$?
    after=$(checksum "$device")
    local wrong=""
    [[ "|$codes|" == *"|$code|"* ]] || wrong+=" exit code $code, expected $codes;"
    grep -qi -- "$pattern" "$work/err" || wrong+=" stderr does not say '$pattern';"
    grep -q 'terminate called\|Assertion\|does not hold' "$work/err" && wrong+=" it crashed;"
    [[ $before == "$after" ]] || wrong+=" the device was changed;"
    mounted && { wrong+=" it mounted;"; detach; }
    if [[ -n $wrong ]]; then
        failures=$((failures + 1))
        say "WRONG: ${*/#$FLASHLAB/flashlab}:$wrong"
        sed 's/^/    /' "$work/err"
    else
        say "ok ($code): $(head -n 1 "$work/err")"
    fi
}

begin 2048
make_device --size 256M

say "--- usage"
refuses 2 'frobnicate' "$FLASHLAB" frobnicate
refuses 2 'latnecy' "$FLASHLAB" mount "$device" "$mnt" --latnecy off
refuses 2 'latency' "$FLASHLAB" mount "$device" "$mnt" --latency fast
refuses 2 'log' "$FLASHLAB" mount "$device" "$mnt" --log everything
refuses 2 'size' "$FLASHLAB" mkfs "$work/new" --size many
refuses 2 'size\|small\|at least' "$FLASHLAB" mkfs "$work/new" --size 1M
refuses 2 'ftl\|scheme' "$FLASHLAB" mkfs "$work/new" --ftl nosuch
refuses 2 'preset' "$FLASHLAB" mkfs "$work/new" --preset nosuch

say "--- configuration: an unknown key names the nearest one"
refuses 2 'page_read_ns' "$FLASHLAB" mkfs "$work/new" --set nand.page_raed_ns=1
refuses 2 'page_read_ns' "$FLASHLAB" mkfs "$work/new" --set nand.page_read_ns=fast
refuses 2 'channels' "$FLASHLAB" mkfs "$work/new" --set nand.channels=0
printf '[nand]\nchanels = 4\n' > "$work/bad.toml"
refuses 2 'channels' "$FLASHLAB" mkfs "$work/new" --config "$work/bad.toml"
printf '[nand\n' > "$work/bad.toml"
refuses 2 'bad.toml' "$FLASHLAB" mkfs "$work/new" --config "$work/bad.toml"
refuses 2 'none.toml' "$FLASHLAB" mkfs "$work/new" --config "$work/none.toml"
[[ ! -e $work/new ]] || { say "WRONG: a refused mkfs left $work/new behind"; failures=$((failures + 1)); }

say "--- places"
refuses 1 'force\|exist\|already' "$FLASHLAB" mkfs "$device" --size 256M
refuses '1|2' 'no such\|not found\|exist\|no FlashLab device' "$FLASHLAB" mount "$work/nowhere" "$mnt"
refuses '1|2' 'mount point\|no such\|exist' "$FLASHLAB" mount "$device" "$work/nomnt"
touch "$work/file"
refuses '1|2' 'director' "$FLASHLAB" mount "$device" "$work/file"
refuses 1 'mount' "$FLASHLAB" umount "$mnt"
refuses 1 'mount' "$FLASHLAB" ctl "$mnt" stats
refuses '1|2|8' 'no such\|not found\|exist\|no FlashLab device' "$FLASHLAB" fsck "$work/nowhere"

say "--- a device in use"
mount_device
mkdir "$work/mnt2"
code=0
timeout 60 "$FLASHLAB" mount "$device" "$work/mnt2" > "$work/out" 2> "$work/err" || code=$?
if [[ $code -ne 1 ]] || ! grep -qi 'use\|mounted\|lock' "$work/err"; then
    say "WRONG: mounting twice: code $code"; sed 's/^/    /' "$work/err"; failures=$((failures + 1))
else
    say "ok ($code): $(head -n 1 "$work/err")"
fi
code=0
timeout 60 "$FLASHLAB" mkfs "$device" --force --size 256M > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 ]] || { say "WRONG: mkfs --force on a mounted device: code $code"; failures=$((failures + 1)); }
code=0
timeout 60 "$FLASHLAB" ctl "$mnt" set latency=never > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 1 || $code -eq 2 ]] && grep -qi 'latency\|never' "$work/err" || { say "WRONG: ctl set latency=never: code $code"; failures=$((failures + 1)); }
echo "still here" > "$mnt/file" || die "the mount suffered"
unmount_device

say "--- standard descriptors that are closed: an image is not one of them"
served() { # WHAT CODE of the mount
    [[ $2 -eq 0 ]] && echo "hello" > "$mnt/closed" && [[ $(< "$mnt/closed") == hello ]] || { say "WRONG: mount $1: code $2, or it serves errors"; failures=$((failures + 1)); }
    unmount_device
}
code=0; timeout --foreground 60 "$FLASHLAB" mount "$device" "$mnt" <&- || code=$?
served '<&-' $code
code=0; timeout --foreground 60 "$FLASHLAB" mount "$device" "$mnt" >&- || code=$?
served '>&-' $code
code=0; timeout --foreground 60 "$FLASHLAB" mount "$device" "$mnt" 2>&- || code=$?
served '2>&-' $code
code=0; timeout --foreground 60 "$FLASHLAB" mount "$device" "$mnt" <&- >&- 2>&- || code=$?
served '<&- >&- 2>&-' $code

say "--- damaged images: refused or repaired by nobody, never changed"
pristine=$work/pristine
cp -r --sparse=always "$device" "$pristine"
damage() { # IMAGE DESCRIPTION PATTERN SHELL-COMMAND on $image
    local image=$device/$1
    rm -rf "$device"
    cp -r --sparse=always "$pristine" "$device"
    image=$image bash -c "$4" 2> /dev/null
    say "$1: $2"
    refuses '1' "$3" "$FLASHLAB" mount "$device" "$mnt"
    refuses '4|8' "$3" "$FLASHLAB" fsck "$device"
}
# shellcheck disable=SC2016 # expanded by the inner shell
{
    damage nand.img 'foreign' 'nand.img' 'head -c 1048576 /dev/urandom > "$image"'
    damage pram.img 'foreign' 'pram.img' 'head -c 1048576 /dev/urandom > "$image"'
    damage nand.img 'empty' 'nand.img' ': > "$image"'
    damage pram.img 'empty' 'pram.img' ': > "$image"'
    damage nand.img 'cut to half' 'nand.img' 'truncate -s $(($(stat -c %s "$image") / 2)) "$image"'
    damage pram.img 'cut to half' 'pram.img' 'truncate -s $(($(stat -c %s "$image") / 2)) "$image"'
    damage nand.img 'a flipped bit in the header' 'nand.img' 'old=$(od -An -tu1 -j 20 -N 1 "$image"); printf "\\$(printf %o $((old ^ 1)))" | dd of="$image" bs=1 seek=20 conv=notrunc'
    damage pram.img 'a flipped bit in the header' 'pram.img' 'old=$(od -An -tu1 -j 20 -N 1 "$image"); printf "\\$(printf %o $((old ^ 1)))" | dd of="$image" bs=1 seek=20 conv=notrunc'
    damage nand.img 'missing' 'nand.img' 'rm "$image"'
    damage pram.img 'missing' 'pram.img' 'rm "$image"'
    damage device.toml 'unknown key' 'device.toml' 'printf "\n[nosuch]\nkey = 1\n" >> "$image"'
    damage device.toml 'missing' 'device.toml' 'rm "$image"'
    damage pram.img 'of another device' 'uuid\|another device\|belong' 'd=$(dirname "$image"); "$FLASHLAB" mkfs "$d.other" --size 256M --seed 99 && cp --sparse=always "$d.other/pram.img" "$image"; rm -rf "$d.other"'
}

say "--- metadata damaged under a live mount: an error for who meets it, no clean mark at the end"
rm -rf "$device"
cp -r --sparse=always "$pristine" "$device"
mount_device --log none
for number in $(seq 300); do : > "$mnt/file$number"; done
unmount_device
mount_device --log none # the kernel knows nothing by heart
leaf="" # the magic of the last leaf; what is written at the end lies in the first
for at in $(grep -obUa NODE "$device/pram.img" | cut -d: -f1); do
    if [[ $(od -An -tu1 -j $((at - 6)) -N 1 "$device/pram.img") -eq 0 ]]; then leaf=$at; fi
done
printf 'XXXX' | dd of="$device/pram.img" bs=1 seek="$leaf" conv=notrunc 2> /dev/null
! stat "$mnt"/file* > /dev/null 2>&1 || { say "WRONG: nobody met the damage"; failures=$((failures + 1)); }
code=0
"$FLASHLAB" umount "$mnt" > /dev/null 2> "$work/err" || code=$?
wait "$daemon" && { say "WRONG: the daemon ended as if all was well"; failures=$((failures + 1)); }
daemon=""
if [[ $code -ne 1 ]] || ! grep -q 'not closed cleanly' "$work/err" || [[ $("$FLASHLAB" fsck -n "$device") == *clean ]]; then
    say "WRONG: umount: code $code: $(cat "$work/err"); $("$FLASHLAB" fsck -n "$device" 2>&1)"; failures=$((failures + 1))
else
    say "ok ($code): $(cat "$work/err")"
fi

say "--- the host's disk is full"
rm -rf "$device"
if [[ $(id -u) -eq 0 ]] && mkdir "$work/small" && mount -t tmpfs -o size=8m small "$work/small" 2> /dev/null; then
    code=0
    timeout 60 "$FLASHLAB" mkfs "$work/small/device" --size 4G > "$work/out" 2> "$work/err" || code=$?
    if [[ $code -ne 1 ]] || ! grep -qi 'space' "$work/err"; then
        say "WRONG: mkfs on a full disk: code $code"; sed 's/^/    /' "$work/err"; failures=$((failures + 1))
    else
        say "ok ($code): $(head -n 1 "$work/err")"
    fi
    umount "$work/small"
fi

((failures == 0)) || die "$failures wrong answers to bad input"
say "ok: bad input"
