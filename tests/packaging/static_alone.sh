#!/bin/sh
# The static binary alone: no library, no package, no bash. For a bare Debian (or any other root directory), in a chroot or a container:
#
#   sh static_alone.sh FLASHLAB
#
# Version, a drive, a trace, an exploration of cuts; and a mount where /dev/fuse is there, without fusermount3 if the caller is root.
set -eu
flashlab=${1:?usage: sh static_alone.sh FLASHLAB}
work=$(mktemp -d)
clean_up() {
    ! grep -q " $work/mnt fuse" /proc/self/mounts 2> /dev/null || "$flashlab" umount "$work/mnt" || true
    rm -rf "$work"
}
trap clean_up EXIT
die() {
    echo "FAILED: $*" >&2
    exit 1
}
cd "$work"
"$flashlab" --version | grep -q '^flashlab [0-9]' || die "--version: $("$flashlab" --version)"
"$flashlab" mkfs drive --preset tiny --seed 3 --quiet || die mkfs
"$flashlab" fsck drive || die fsck
"$flashlab" replay workload:pc --limit 300 --wrap --preset tiny --events log.db --json > replay.json || die "replay of a workload"
printf '10,host,0,Write,0,4096,10\n20,host,0,Read,0,4096,10\n30,host,0,Write,8192,8192,10\n' > trace.csv
"$flashlab" replay trace.csv --format msr --preset tiny --json > trace.json || die "replay of a trace"
grep -q '"requests"' trace.json || die "replay says nothing of its requests: $(cat trace.json)"
"$flashlab" query log.db 'select count(*) from host_request' > rows || die query
"$flashlab" crash explore --ftl page_map --states 300 --seed 3 > explored || die "crash explore: $(cat explored)"
if [ "$(id -u)" -eq 0 ] && [ -c /dev/fuse ] && (: > /dev/fuse) 2> /dev/null; then
    mkdir mnt
    "$flashlab" mount drive mnt || die mount
    echo bytes > mnt/file
    [ "$(cat mnt/file)" = bytes ] || die "what was written is not read"
    "$flashlab" ctl mnt powercut --seed 4 > cut || die "ctl powercut: $(cat cut)"
    "$flashlab" mount drive mnt || die "mount after a power cut"
    [ -e mnt/file ] || die "a name that was answered is gone"
    "$flashlab" umount mnt || die umount
    "$flashlab" mount drive mnt --foreground &
    daemon=$!
    tries=0
    until [ -e mnt/file ] || [ "$tries" -ge 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -9 "$daemon"
    "$flashlab" mount drive mnt 2> told || die "mount after kill -9: $(cat told)"
    [ -e mnt/file ] || die "a name is gone after kill -9"
    "$flashlab" umount mnt || die "umount after kill -9"
    "$flashlab" fsck drive || die "fsck after a power cut"
    "$flashlab" ls drive: | grep -q file || die ls
    echo "mounted, cut, killed and recovered"
else
    echo "no mount: not root, or no /dev/fuse"
fi
echo "the static binary works alone: $("$flashlab" --version | head -n 1)"
