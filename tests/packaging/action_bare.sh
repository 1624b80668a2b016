#!/usr/bin/env bash
# A stranger's repository in CI, on a bare Debian 12: the steps of tools/ci/torture run by hand, as an ordinary user, with the static binary.
# action_bare.sh BUILD SOURCE
#
# Two programs: one renames a new file over the old one and syncs nothing, one syncs file and directory. Root is wanted for the bare machine itself
# (mmdebstrap, a mount namespace), a network for its packages; the steps have neither sudo nor any right of root. KEEP=DIR keeps both certificates.
# SARIF_SCHEMA and JUNIT_SCHEMA name schemas to judge them by, where they are at hand.
set -euo pipefail
build=${1:?usage: action_bare.sh BUILD SOURCE}
source=${2:?usage: action_bare.sh BUILD SOURCE}
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "skipped: $*"; exit 77; }
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
[[ $(id -u) -eq 0 ]] || skip "a bare machine is made by root"
[[ -c /dev/fuse ]] || skip "no /dev/fuse"
for tool in mmdebstrap unshare git; do command -v $tool > /dev/null || skip "no $tool"; done
python3 -c 'import yaml' 2> /dev/null || skip "no python3 with yaml"
for archive in libc libstdc++ libfuse3 libsqlite3 libz libzstd liblzma libexpat libncursesw libtinfo; do
    [[ $(c++ -print-file-name=$archive.a) == */* ]] || skip "$archive.a is not here"
done
grep -q '^FLASHLAB_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" && skip "sanitizers do not link statically"
if [[ -z ${ACTION_BARE_INSIDE-} ]]; then
    unshare -m true 2> /dev/null || skip "no mount namespace can be made"
    work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-bare.XXXXXX")
    trap 'rm -rf --one-file-system "$work"' EXIT
    sh "$source/tools/build_static.sh" -B "$build" -o "$work/flashlab"
    mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null || true)
    mkdir "$work/root"
    mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --variant=apt bookworm "$work/root" "$mirror" 2> "$work/err" ||
        skip "no bare Debian 12: $(tail -n 2 "$work/err")"
    ACTION_BARE_INSIDE=$work unshare -m --propagation private bash "$0" "$@"
    exit
fi

work=$ACTION_BARE_INSIDE
root=$work/root
server=
end() {
    [[ -z $server ]] || kill "$server"
    umount -l "$root/dev/shm" "$root/dev" "$root/sys" "$root/proc"
}
for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
mount -t tmpfs tmpfs "$root/dev/shm"
trap end EXIT
bare() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
bare useradd -m stranger
if ! bare su stranger -s /bin/sh -c ': <> /dev/fuse' 2> /dev/null; then # closed on this machine; udev opens it to everyone, as a runner has it
    mkdir "$work/devices" && mount -t tmpfs tmpfs "$work/devices"
    { mknod -m 666 "$work/devices/fuse" c 10 229 && mount --bind "$work/devices/fuse" "$root/dev/fuse"; } 2> /dev/null ||
        skip "/dev/fuse is closed to ordinary users, and no other can be made"
    bare su stranger -s /bin/sh -c ': <> /dev/fuse' 2> /dev/null || skip "/dev/fuse is closed to ordinary users"
fi
home=$root/home/stranger

# What the stranger writes: two programs, their check, and a workflow. It is committed, and checked out by the runner.
repository=$work/repository
mkdir -p "$repository/.github/workflows" && git init -q "$repository"
cat > "$repository/keep" << 'END'
#!/usr/bin/perl
# Replaces the file `settings`; with --safe so that a power cut leaves the old or the new one.
use strict;
use IO::Handle;
my $safe = "@ARGV" eq "--safe";
open(my $file, ">", "settings.new") or die;
print $file "colour=blue\nsize=12\n";
$file->flush;
if ($safe) { $file->sync or die "fsync: $!" }
close($file) or die;
rename("settings.new", "settings") or die;
if ($safe) { open(my $here, "<", ".") or die; $here->sync or die "fsync of the directory: $!" }
print "kept by user $>\n";
open(my $told, ">&=", $ENV{FLASHLAB_ACK_FD}) or die;
print $told "blue\n";
END
cat > "$repository/check" << 'END'
#!/bin/sh
# Whole, old or new; new if that was promised.
case $(cat settings) in
"colour=blue
size=12") ;;
"colour=red
size=10") [ ! -s "$FLASHLAB_ACKS" ] || { echo "the new settings were promised"; exit 1; } ;;
*) echo "neither the old settings nor the new ones"; exit 1 ;;
esac
END
chmod 755 "$repository/keep" "$repository/check"
mkdir "$work/release" && cp "$work/flashlab" "$work/release/flashlab"
(cd "$work/release" && exec python3 -u -m http.server --bind 127.0.0.1 0) > "$work/served" 2>&1 &
server=$!
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/served" 2> /dev/null) && [[ -n $port ]]; do sleep 0.1; done
cat > "$repository/.github/workflows/power-cut.yml" << END
on: push
jobs:
  forgets: # the binary of a release
    runs-on: debian-12
    steps:
      - uses: actions/checkout@v4
      - uses: someone/flashlab/tools/ci/torture@v1
        with:
          flashlab: http://127.0.0.1:$port/flashlab
          sha256: $(sha256sum "$work/flashlab" | cut -d ' ' -f 1)
          setup: printf 'colour=red\nsize=10\n' > settings
          command: \$TORTURE_SOURCE/keep
          check: \$TORTURE_SOURCE/check
          persistence: posix
  right: # a binary of the machine
    runs-on: debian-12
    steps:
      - uses: actions/checkout@v4
      - uses: someone/flashlab/tools/ci/torture@v1
        with:
          flashlab: /usr/local/bin/flashlab
          setup: printf 'colour=red\nsize=10\n' > settings
          command: \$TORTURE_SOURCE/keep --safe
          check: \$TORTURE_SOURCE/check
          persistence: posix
END
git -C "$repository" add -A
git -C "$repository" -c user.name=Stranger -c user.email=stranger@example.org commit -q -m "Keep settings"
commit=$(git -C "$repository" rev-parse HEAD)
install -m 755 "$work/flashlab" "$root/usr/local/bin/flashlab"
actions=$home/actions
mkdir -p "$actions/someone/flashlab/v1/tools/ci" && cp -r "$source/tools/ci/torture" "$actions/someone/flashlab/v1/tools/ci"

# job NAME: checks out, and runs the steps of the workflow that can be run, each as a runner does; the exit code is that of the first that fails.
job() {
    rm -rf "$home/$1" "$work/steps"
    git clone -q "$repository" "$home/$1"
    python3 "$here/composite_steps.py" "$home/$1/.github/workflows/power-cut.yml" "$1" "$actions" "$work/steps"
    rm -rf "$home/steps" && cp -r "$work/steps" "$home/steps"
    bare chown -R stranger /home/stranger
    local step code=0
    for step in "$home"/steps/*/run.sh; do
        step=${step#"$root"} step=${step%/run.sh}
        bare su stranger -s /bin/sh -c "cd && export GITHUB_WORKSPACE=\$HOME/$1 RUNNER_ACTIONS=\$HOME/actions GITHUB_STEP_SUMMARY=\$HOME/summary GITHUB_SHA=$commit &&
            set -a && . $step/env && set +a && cd $1 && exec \$(cat $step/shell) -e $step/run.sh" > "$work/out" 2> "$work/err" || code=$?
        [[ $code -eq 0 ]] || break
    done
    return $code
}
ends() { # JOB CODE
    local code=0 from=$SECONDS
    job "$1" || code=$?
    [[ $code -eq $2 ]] || die "$1: $code instead of $2: $(cat "$work/out" "$work/err")"
    seconds=$((SECONDS - from))
    [[ $seconds -le 300 ]] || die "$1: $seconds seconds"
}

echo "--- a machine on which nothing is installed says what is missing"
ends right 2
grep -q 'apt-get install fuse3' "$work/err" || die "the package is not named: $(cat "$work/err")"
bare sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends fuse3 > /dev/null 2>&1' || skip "fuse3 cannot be had"
ends forgets 2
grep -q 'apt-get install curl ca-certificates' "$work/err" || die "the package is not named: $(cat "$work/err")"
bare sh -c 'apt-get -qq install -y --no-install-recommends curl ca-certificates > /dev/null 2>&1' || skip "curl cannot be had"
echo "--- /etc/mtab, which systemd and container engines make"
ends right 1
grep -q 'ln -s /proc/self/mounts /etc/mtab' "$work/out" || die "what is missing is not told: $(cat "$work/out" "$work/err")"
bare ln -s /proc/self/mounts /etc/mtab

judged() { # JOB: the certificate in its four forms; sets `findings`
    local power_cut=$home/$1/power-cut
    findings=$(grep -o '"missing_call"' "$power_cut/certificate.json" | wc -l || true)
    [[ -z ${KEEP-} ]] || { mkdir -p "$KEEP" && rm -rf "${KEEP:?}/$1" && cp -r "$power_cut" "$KEEP/$1"; }
    grep -q "\"application_version\":\"$commit\"" "$power_cut/certificate.json" || die "$1: the certificate does not name the commit"
    grep -q "\"sha256\":\"$(sha256sum < "$repository/keep" | cut -d ' ' -f 1)\"" "$power_cut/certificate.json" || die "$1: nor the program"
    python3 "$here/../support/certificate_forms.py" "$power_cut" "$findings" || die "$1: its certificate"
    grep -q '^upload\|^actions/upload-artifact' "$home"/steps/*/uses && grep -q '^path=power-cut/$' "$home"/steps/*/uses || die "$1: nothing is uploaded"
    ! grep -q " $root/[^ ]* fuse.flashlab " /proc/self/mounts || die "$1: left mounted"
    [[ ! -e $power_cut/flashlab ]] || die "$1: the fetched program is left among the findings"
    echo "$1: $seconds s, $(grep -o '"states_tried":[0-9]*' "$power_cut/certificate.json"), $findings found"
}
echo "--- the program that syncs nothing: found, and named"
ends forgets 1
judged forgets
[[ $findings -ge 1 ]] || die "nothing was found"
grep -q 'fix: fsync(settings.new) be' "$home/forgets/power-cut/findings.txt" || die "the missing call: $(cat "$home/forgets/power-cut/findings.txt")"
ls -d "$home"/forgets/power-cut/flashlab-state-* > /dev/null || die "the state is not kept"
echo "--- the program that syncs file and directory: nothing is found"
ends right 0
judged right
[[ $findings -eq 0 ]] || die "$findings found"
[[ $(bare id -u stranger) -ne 0 ]] && ! bare sh -c 'command -v sudo' || die "a right of root was at hand"
echo "ok: the action on a bare Debian 12, without root"
