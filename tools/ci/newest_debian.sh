#!/usr/bin/env bash
# Builds FlashLab with the compiler and the libraries of the newest Debian that it supports, 13 (trixie), and runs the unit tests there.
#
#   bash tools/ci/newest_debian.sh                      sh tools/test.sh -L unit
#   bash tools/ci/newest_debian.sh 'sh tools/demo.sh'   any command, in a copy of this tree
#
# Nothing is installed there but apt. Wants root, mmdebstrap (installed if it is missing), namespaces for mounts and processes, and a mirror: that of this
# machine's apt sources. Exits as the command did; with 77, and the reason, where no such Debian can be had. Leaves no file, mount or process behind.
set -euo pipefail
suite=trixie
needed_mib=6144
skip() { echo "skipped: Debian 13 is not tried here: $*"; exit 77; }
progress() { echo "newest_debian: $* (second $SECONDS)"; }

if [[ ${1-} == --inside ]]; then # a shell that waits for whoever is left alone: process 1 of its namespace
    root=$2 code=0
    mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm" || exit 77
    bare=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive CCACHE=OFF)
    for name in http_proxy https_proxy no_proxy; do [[ -z ${!name-} ]] || bare+=("$name=${!name}"); done
    bare+=(chroot "$root" sh -c)
    "${bare[@]}" 'apt-get -q update' > "$root/update" 2>&1 || { cat "$root/update"; exit 77; }
    "${bare[@]}" "cd /flashlab && $3" || code=$?
    [[ $code -ne 77 ]] || code=1 # 77 is ours
    exit $code
fi

tree=$(cd "$(dirname "$0")/../.." && pwd)
command=${1:-sh tools/test.sh -L unit}
[[ $(id -u) -eq 0 ]] || skip "it needs root"
# shellcheck source=/dev/null
[[ $# -gt 0 || $(. /etc/os-release && echo "${VERSION_CODENAME-}") != "$suite" ]] || skip "this machine is one"
unshare --mount --pid --fork true 2> /dev/null || skip "no namespace can be made"
command -v mmdebstrap > /dev/null || { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends mmdebstrap; } > /dev/null 2>&1 ||
    skip "mmdebstrap is not installed, and apt cannot install it"
base=${TMPDIR:-/tmp}
[[ $(df -Pm "$base" | awk 'NR == 2 { print $4 }') -ge $needed_mib ]] || skip "$base has less than $needed_mib MiB; set TMPDIR"
mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /:\//) { print $i; exit } }' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null || true)
[[ -n $mirror ]] || skip "apt's sources name no mirror of Debian"

root=$(mktemp -d "$base/flashlab-newest.XXXXXX")
inside=""
clean_up() {
    [[ -z $inside ]] || { kill -KILL "$inside" && wait "$inside"; } 2> /dev/null || true # its namespace goes with it: processes and mounts
    rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
progress "a bare Debian 13 is made"
timeout 900 mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' "$suite" "$root" "$mirror" \
    > "$root.log" 2>&1 || { reason=$(tail -n 2 "$root.log" | tr '\n' ' '); rm -f "$root.log"; skip "mmdebstrap: $reason"; }
rm -f "$root.log"
mkdir "$root/flashlab"
tar -C "$tree" --exclude=./build --exclude=./.git -cf - . | tar -C "$root/flashlab" --no-same-owner -xf -
progress "$command"
unshare --mount --propagation private --pid --fork --kill-child=KILL bash "$0" --inside "$root" "$command" &
inside=$!
code=0
wait "$inside" || code=$?
inside=""
[[ $code -ne 77 ]] || skip "mounts or the network of the bare machine"
progress "ended with $code"
exit $code
