#!/usr/bin/env bash
# The Debian package of this machine's release is installed on Debian 13 and works there: drive, replay, fsck, a mount by mount(8), a power cut.
# deb_on_newest.sh BUILD SOURCE
#
# Root, mmdebstrap and a network are wanted (tools/ci/newest_debian.sh).
set -euo pipefail
build=${1:?usage: deb_on_newest.sh BUILD SOURCE} tree=${2:?usage: deb_on_newest.sh BUILD SOURCE}
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
for tool in cpack dpkg-shlibdeps file; do command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }; done
[[ -e $build/made/flashlab.1 ]] || { echo "skipped: no manual pages were built, for want of scdoc"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-newest-deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$build" && cpack -G DEB -B "$work/out" > "$work/log" 2>&1) || die "cpack: $(tail -n 5 "$work/log")"
mkdir -p "$work/tree/tools/ci"
cp "$tree/tools/ci/newest_debian.sh" "$work/tree/tools/ci"
cp "$work"/out/*.deb "$work/tree/flashlab.deb"
cat > "$work/tree/try.sh" << 'END'
set -eu
apt-get install -y -q --no-install-recommends ./flashlab.deb > log 2>&1 || { cat log; exit 1; }
mkfs.flashlab -q disk --size 64M
flashlab replay workload:pc --limit 300 --wrap --preset tiny --events log.db --json | grep -q '"waf":'
flashlab query log.db 'SELECT count(*) FROM host_request'
if [ -c /dev/fuse ] && (: <> /dev/fuse) 2> /dev/null; then
    mkdir mnt
    mount -t flashlab "$PWD/disk" mnt
    echo bytes > mnt/file
    sync mnt/file
    flashlab ctl mnt powercut > cut
    flashlab mount disk mnt
    [ "$(cat mnt/file)" = bytes ]
    flashlab umount mnt
    echo "mounted, cut and recovered"
else
    echo "no mount: /dev/fuse cannot be opened here"
fi
fsck.flashlab disk
echo "the package works on Debian $(cat /etc/debian_version): $(flashlab --version | head -n 1)"
END
bash "$work/tree/tools/ci/newest_debian.sh" 'sh -x try.sh'
