#!/usr/bin/env bash
# Tools that ask more of a file system than reading and writing: df -i, lsattr, getfacl, rsync -aHAX, fstrim, remount. Tools that are missing are left out.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
tried=""
with() { # with TOOL: whether it is there
    command -v "$1" > /dev/null || return 1
    tried="$tried $1"
}
begin 512
make_device --size 256M
mount_device
mkdir "$mnt/from"
head -c 100000 /dev/zero | tr '\0' a > "$mnt/from/file"
ln "$mnt/from/file" "$mnt/from/hard"
ln -s file "$mnt/from/link"
chmod 2751 "$mnt/from/file"
touch -d '2001-02-03 04:05:06.789' "$mnt/from/file"
[[ $(df --output=iused "$mnt" | tail -n 1) -ge 4 ]] || die "df -i"
if with setfattr; then setfattr -n user.key -v value "$mnt/from/file" || die "setfattr"; fi
if with setfacl; then setfacl -m u:12345:rw "$mnt/from/file" && getfacl -np "$mnt/from/file" | tee "$work/acl" > /dev/null && grep -q '^user:12345:rw-' "$work/acl" || die "getfacl"; fi
if with rsync; then
    rsync -aHAX "$mnt/from/" "$mnt/to/" || die "rsync"
    [[ $(rsync -aHAXni --delete "$mnt/from/" "$mnt/to/" | wc -l) -eq 0 ]] || die "rsync does not keep all: $(rsync -aHAXni "$mnt/from/" "$mnt/to/")"
    [[ $(stat -c %h "$mnt/to/hard") -eq 2 ]] || die "rsync: hard links"
fi
if with lsattr && [[ $(id -u) -eq 0 ]]; then
    chattr +i "$mnt/from/hard" || die "chattr"
    lsattr "$mnt/from/file" > "$work/flags" && grep -q '^----i' "$work/flags" || die "lsattr: $(cat "$work/flags")"
    { echo x >> "$mnt/from/file"; } 2> /dev/null && die "an immutable file is written"
    chattr -i "$mnt/from/hard" || die "chattr -i"
fi
if [[ $(id -u) -eq 0 ]]; then
    if with fstrim; then fstrim "$mnt" || die "fstrim"; fi
    # Since util-linux 2.39 mount(8) asks by fsconfig(2), in which the kernel lets no FUSE mount change; the variable makes it use mount(2).
    export LIBMOUNT_FORCE_MOUNT2=always
    mount -i -o remount,ro "$mnt" || die "remount,ro"
    touch "$mnt/no" 2> /dev/null && die "a file is made on a mount that is read-only"
    mount -i -o remount,rw "$mnt" && touch "$mnt/yes" || die "remount,rw"
fi
sync -f "$mnt/from/file" || die "syncfs"
unmount_device
mount_device

if command -v setfacl > /dev/null; then getfacl -np "$mnt/from/file" > "$work/again" && cmp "$work/acl" "$work/again" || die "the ACL after a mount"; fi
unmount_device
say "tried:$tried"
