#!/usr/bin/env bash
# Who is mounted where: a device folder that was moved under its mount, a copy in its place, a mount that another mount namespace holds, a daemon that is still
# closing. No live mount is taken for a dead one, and nothing waits silently.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 1024
holder=""
trap 'result=$?; set +e; [[ -z $holder ]] || kill "$holder" 2> /dev/null; umount -l "$work/mnt2" 2> /dev/null; finish $result' EXIT
[[ $(id -u) -eq 0 ]] || skip "needs root, for mount namespaces"
make_device --size 64M

expect() { # CODE PATTERN COMMAND...
    local wanted=$1 pattern=$2 code=0
    shift 2
    timeout 60 "$@" > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq $wanted ]] || die "${*/#$FLASHLAB/flashlab}: code $code, expected $wanted: $(cat "$work/err")"
    [[ -z $pattern ]] || grep -q -- "$pattern" "$work/out" "$work/err" || die "${*/#$FLASHLAB/flashlab}: does not say '$pattern': $(cat "$work/err")"
}
absent() { ! grep -q -- "$1" "$work/err" || die "it says '$1': $(cat "$work/err")"; }

say "--- the folder is moved under the mount and a copy put in its place: the mount lives on, the copy is another device"
mount_device
echo kept > "$mnt/file"
mv "$device" "$work/moved"
cp -a --sparse=always "$work/moved" "$device"
mkdir "$work/mnt2" "$work/mnt3"
"$FLASHLAB" mount "$device" "$work/mnt2" 2> "$work/err" || die "the copy cannot be mounted: $(cat "$work/err")"
absent detached
mounted || die "a live mount was detached"
[[ $(cat "$mnt/file") == kept ]] || die "the live mount suffered"
echo more >> "$mnt/file"
sync "$mnt/file" || die "the live mount takes no writes"
expect 0 '"ok"' "$FLASHLAB" ctl "$mnt" flush --json
expect 1 'moved: is mounted on' "$FLASHLAB" mount "$work/moved" "$work/mnt3"
expect 8 'is mounted on' "$FLASHLAB" fsck "$work/moved"
"$FLASHLAB" umount "$work/mnt2" || die "umount of the copy"
[[ $(cat "$mnt/file") == $'kept\nmore' ]] || die "umount of the copy took the other mount"
expect 0 '' "$FLASHLAB" umount "$work/moved"
mounted && die "umount by the folder's new name"
wait "$daemon" || die "the daemon of the moved folder"
daemon=""
expect 0 'clean' "$FLASHLAB" fsck "$work/moved"
check_device
rm -rf "$work/moved"

say "--- the folder is moved away and copied back: the mount on the old place is that of the moved one"
mount_device
printf 'kept\nmore\n' > "$mnt/file"
mv "$device" "$work/moved"
cp -a --sparse=always "$work/moved" "$device"
"$FLASHLAB" mount "$device" "$mnt" 2> "$work/err" && die "a mount over a live one"
absent detached
[[ $(cat "$mnt/file") == $'kept\nmore' ]] || die "the live mount suffered"
rm -rf "$device"
mv "$work/moved" "$device"
unmount_device
check_device

# propagation WANTED: "/" of a chroot is no mount point; a namespace begun there can only keep the propagation that it finds.
propagation() {
    if unshare -m --propagation "$1" true 2> /dev/null; then echo "$1"; else echo unchanged; fi
}

say "--- another mount namespace holds the mount: said after 2 s, 3 after the timeout, and nobody speaks of open files"
mount_device
unshare -m --propagation "$(propagation private)" sh -c 'echo ready; exec sleep 1000' > "$work/ready" &
holder=$!
until grep -qs ready "$work/ready"; do kill -0 "$holder" || die "no namespace"; sleep 0.02; done
expect 3 "process $holder" "$FLASHLAB" umount "$mnt" --timeout 3
grep -q 'waiting' "$work/err" || die "nothing was said while waiting"
absent 'files in use'
expect 1 'still mounted' "$FLASHLAB" mount "$device" "$work/mnt2"
expect 8 'still mounted' "$FLASHLAB" fsck "$device"
kill "$holder"
wait "$holder" 2> /dev/null || true
wait "$daemon" || die "the daemon after the last holder went"
daemon=""
check_device

say "--- files open beside a namespace that has it mounted, too: both are named"
mount_device
exec 7< "$mnt/file"
expect 1 'files in use' "$FLASHLAB" umount "$mnt"
exec 7<&-
rm "$work/ready" # the last holder's word would pass for this one's
unshare -m --propagation "$(propagation slave)" sh -c 'cd "$1" && echo ready && exec sleep 1000' sh "$mnt" > "$work/ready" &
holder=$!
until grep -qs ready "$work/ready"; do kill -0 "$holder" || die "no namespace"; sleep 0.02; done
code=0
timeout 60 "$FLASHLAB" umount "$mnt" --timeout 1 2> "$work/err" || code=$?
if [[ $code -ne 3 && $code -ne 1 ]] || ! grep -q "process $holder" "$work/err"; then die "umount: code $code: $(cat "$work/err")"; fi
kill "$holder"
wait "$holder" 2> /dev/null || true
if mounted; then unmount_device; else wait "$daemon" || die "the daemon"; daemon=""; fi
check_device

say "--- umount(8) does not wait for the daemon; mount and fsck do"
for round in 1 2 3; do
    "$FLASHLAB" mount "$device" "$mnt" || die "mount"
    head -c 30000000 /dev/urandom > "$mnt/large"
    umount "$mnt"
    if ((round == 2)); then expect 0 'clean' "$FLASHLAB" fsck "$device"; fi
done
"$FLASHLAB" mount "$device" "$mnt" || die "mount after umount(8)"
"$FLASHLAB" umount "$mnt" || die "umount"
check_device

say "--- and every other command that opens a drive"
left_to_write() { # umount(8) returns while the daemon still writes back
    "$FLASHLAB" mount "$device" "$mnt" || die "mount"
    head -c 30000000 /dev/urandom > "$mnt/large"
    umount "$mnt"
}
left_to_write
expect 0 '' "$FLASHLAB" clone "$device" "$work/copy"
left_to_write
expect 0 '' "$FLASHLAB" snapshot "$device" one
left_to_write
expect 0 '' "$FLASHLAB" crash torture --device "$device" --cuts 1 --within 0.1 -- sh -c 'echo 1 > small && sync small && sleep 1'
left_to_write
expect 0 '' "$FLASHLAB" run --device "$device" -- true
left_to_write
rm "$mnt/large" 2> /dev/null || true
expect 0 '' "$FLASHLAB" replay workload:financial --limit 100 --wrap --device "$device"
"$FLASHLAB" mkfs "$device" --force --size 64M --quiet
left_to_write
expect 0 '' "$FLASHLAB" mkfs "$device" --force --size 64M --quiet
"$FLASHLAB" mount "$device" "$mnt" || die "mount"
expect 1 'unmount it first' "$FLASHLAB" clone "$device" "$work/none"
expect 1 'unmount it first' "$FLASHLAB" mkfs "$device" --force --quiet
"$FLASHLAB" umount "$mnt" || die "umount"

daemon_of_device() {
    local fd
    for fd in /proc/[0-9]*/fd/*; do
        if [[ $fd -ef $device/nand.img ]]; then fd=${fd#/proc/} && echo "${fd%%/*}" && return; fi
    done
}

say "--- a daemon that has not yet noticed its unmounting still answers: that is no mount that another holds"
for round in 1 2 3 4 5; do
    "$FLASHLAB" mount "$device" "$mnt" || die "mount $round"
    pid=$(daemon_of_device)
    kill -STOP "$pid"
    umount -l "$mnt" # without asking the daemon anything
    (sleep 0.2; kill -CONT "$pid") &
    expect 0 'clean' "$FLASHLAB" fsck "$device"
    wait $!
done

say "--- a daemon that does not come to its end: said after ten seconds"
"$FLASHLAB" mount "$device" "$mnt" || die "mount"
pid=$(daemon_of_device)
kill -STOP "$pid"
umount -l "$mnt"
rm -f "$device/control.sock" # as at the end of a daemon
expect 8 'in use: after 10 s' "$FLASHLAB" fsck "$device"
grep -q 'waiting' "$work/err" || die "nothing was said while waiting"
kill -CONT "$pid"
check_device

say "--- a daemon that is stopped: what asks it says so within half a minute, and how it goes on"
"$FLASHLAB" mount "$device" "$mnt" || die "mount"
pid=$(daemon_of_device)
kill -STOP "$pid"
asking=()
for question in smart info "ctl stats" "report -o $work/page.html" "query SELECT+1"; do
    read -ra words <<< "$question"
    (timeout 60 "$FLASHLAB" "${words[0]}" "$mnt" "${words[@]:1}" > /dev/null 2> "$work/err-${words[0]}" || echo $? > "$work/code-${words[0]}") &
    asking+=($!)
done
wait "${asking[@]}"
for word in smart info ctl report query; do
    ! grep -qsx 124 "$work/code-$word" || die "$word waits without an end"
    grep -q "kill -CONT $pid" "$work/err-$word" || die "$word of a stopped daemon: $(cat "$work/err-$word")"
done
kill -CONT "$pid"
"$FLASHLAB" umount "$mnt" || die "umount of a daemon that goes on"

say "--- umount waits for a slow daemon while another mount gets the number of its device: that one is no holder"
"$FLASHLAB" mkfs "$work/other" --size 64M --quiet
"$FLASHLAB" mount "$device" "$mnt" || die "mount"
pid=$(daemon_of_device)
number=$(stat -c %d "$mnt")
head -c 30000000 /dev/urandom > "$mnt/large"
"$FLASHLAB" umount "$mnt" --timeout 4 2> "$work/err" &
asking=($!)
while mounted; do :; done
kill -STOP "$pid"
"$FLASHLAB" mount "$work/other" "$work/mnt2" || die "mount of another"
say "device numbers: $number was, $(stat -c %d "$work/mnt2") is"
wait "${asking[0]}" && say "the daemon was too quick to be met"
kill -CONT "$pid"
absent 'unmount it there'
"$FLASHLAB" umount "$work/mnt2" || die "umount of the other"
say "ok: a mount that is held"
