#!/usr/bin/env bash
# The Debian package: manual pages, completion, helpers, links of the pages; lintian finds no error; what is unpacked runs.
# package.sh BUILD SOURCE
set -euo pipefail
build=${1:?usage: package.sh BUILD SOURCE} tree=${2:?usage: package.sh BUILD SOURCE}
for tool in cpack dpkg-deb dpkg-shlibdeps file; do command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }; done
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-package.XXXXXX")
trap 'rm -rf "$work"' EXIT
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# A package without manual pages is refused.
mkdir -p "$work/none/usr/share"
cmake -DCPACK_TEMPORARY_DIRECTORY="$work/none" -P "$tree/tools/packaging/debian.cmake" > "$work/log" 2>&1 && die "a package without manual pages is made"
grep -q 'Install scdoc' "$work/log" || die "the missing pages are not named: $(cat "$work/log")"
[[ -e $build/made/flashlab.1 ]] || { echo "skipped: no manual pages were built, for want of scdoc"; exit 77; }

(cd "$build" && cpack -G DEB -B "$work/out" > "$work/log" 2>&1) || die "cpack: $(tail -n 5 "$work/log")"
package=$(echo "$work"/out/*.deb)
root=$work/root
dpkg-deb -x "$package" "$root"
for file in bin/flashlab share/man/man1/flashlab.1.gz share/man/man8/{mount,mount.fuse,mkfs,fsck}.flashlab.8.gz share/bash-completion/completions/flashlab \
    share/zsh/vendor-completions/_flashlab share/fish/vendor_completions.d/flashlab.fish share/flashlab/sweep/Snakefile \
    share/flashlab/systemd/var-lib-flashlab-mnt.mount share/doc/flashlab/{copyright,changelog.gz,README.md,docs/sweeps.md}; do
    [[ -s $root/usr/$file ]] || die "the package lacks usr/$file"
done
for helper in mount mount.fuse mkfs fsck; do [[ $(readlink -f "$root/usr/sbin/$helper.flashlab") == "$root/usr/bin/flashlab" ]] || die "usr/sbin/$helper.flashlab"; done
depends=$(dpkg-deb -f "$package" Depends)
[[ $depends =~ fuse3 ]] || die "the package does not depend on fuse3: $depends"
# The next release of Debian has these by another name, and would refuse the package.
[[ ! $depends =~ libfmt|libfuse ]] || die "the package wants a library that only this release of Debian has: $depends"
# Links of the pages work where they are installed.
while IFS=: read -r page link; do
    target=${link#](}
    target=${target%%[)#]*}
    [[ -z $target || $target == *://* || -e $(dirname "$page")/$target ]] || die "$page links to $target, which is not installed"
done < <(grep -roE '\]\([^) ]+\)' --include='*.md' "$root/usr/share/doc/flashlab")
if command -v systemd-analyze > /dev/null; then
    systemd-analyze verify "$root/usr/share/flashlab/systemd/var-lib-flashlab-mnt.mount" > "$work/unit" 2>&1 || die "the unit of systemd: $(cat "$work/unit")"
fi
if command -v lintian > /dev/null; then
    lintian --allow-root "$package" > "$work/lintian" 2> /dev/null || true
    if grep '^E:' "$work/lintian"; then die "lintian finds errors"; fi
fi
"$root/usr/sbin/mkfs.flashlab" -q "$work/disk" --size 64M || die "mkfs"
"$root/usr/sbin/fsck.flashlab" "$work/disk" > /dev/null || die "fsck"
"$root/usr/bin/flashlab" ls "$work/disk" || die "ls"
"$root/usr/bin/flashlab" bench --preset tiny --io-size 1M --json | grep -q '"waf":' || die "bench"
