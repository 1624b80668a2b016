#!/usr/bin/env bash
# What root's tests cannot show: an ordinary user mounts through the set-uid fusermount3. His file system is his own, torture and its mounts work for him, and
# without /etc/mtab he is told before the mounting that fusermount3 would refuse to unmount.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/live/lib.sh
source "$here/lib.sh"
begin 512
require_ordinary_user
# His place is below /tmp: the folders above $work are root's.
plain=$(mktemp -d -p /tmp flashlab-user.XXXXXX)
leave() {
    local code=$? point
    for point in "$plain"/*/; do fusermount3 -u -z "$point" 2> /dev/null || true; done
    rm -rf --one-file-system "$plain"
    finish "$code"
}
trap leave EXIT
chmod 777 "$plain"
install -m 755 "$FLASHLAB" "$plain/flashlab"
as_nobody() { su nobody -s /bin/sh -c "cd '$plain' && $1" > "$work/out" 2> "$work/err"; }
as_nobody './flashlab --version' || skip "nobody cannot run a program in /tmp: $(cat "$work/err")"

say "--- a new file system is his own"
for store in pram journal; do
    as_nobody "mkdir -p m && ./flashlab mkfs d --force --quiet --size 64M --metadata $store && ./flashlab mount d m && touch m/x && ./flashlab umount m" ||
        die "nobody cannot write into a file system of his own: $(cat "$work/err" "$work/out")"
done
as_nobody "./flashlab mkfs d --force --quiet --size 64M --precondition fill:50 && ./flashlab mount d m && touch m/x && echo x >> m/replay.data && rm m/replay.data && ./flashlab umount m" ||
    die "nobody cannot write into a drive that was preconditioned: $(cat "$work/err" "$work/out")"
say "--- torture"
as_nobody "TMPDIR='$plain' ./flashlab crash torture --explore --size 64M --persistence posix --keep '$plain' --check true -- sh -c 'echo 1 > x && sync x .'" ||
    die "torture as nobody: $(cat "$work/err" "$work/out")"

say "--- without /etc/mtab"
unshare -m true 2> /dev/null || skip "no mount namespace can be made here; the rest passed"
cp -a /etc "$work/etc" && rm -f "$work/etc/mtab"
# shellcheck disable=SC2016 # the inner shells put in what is theirs
unshare -m sh -c 'mount --bind "$1" /etc && exec su nobody -s /bin/sh -c "cd $2 && ./flashlab mount d m"' \
    sh "$work/etc" "$plain" > "$work/out" 2> "$work/err" && die "mounted without /etc/mtab"
grep -q 'ln -s /proc/self/mounts /etc/mtab' "$work/err" || die "no remedy: $(cat "$work/err")"
say "ok: an ordinary user"
