#!/usr/bin/env bash
# What .github/workflows/release.yml publishes, made by the same script: package, static binary, wheel, and checksums that hold; each says the version. A tag
# that is not the version is refused.
# release.sh BUILD SOURCE
set -euo pipefail
build=${1:?usage: release.sh BUILD SOURCE} tree=${2:?usage: release.sh BUILD SOURCE}
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
grep -q '^FLASHLAB_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" && { echo "skipped: sanitizers do not link statically"; exit 77; }
for tool in cpack dpkg-deb dpkg-shlibdeps file sha256sum; do command -v $tool > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }; done
[[ -e $build/made/flashlab.1 ]] || { echo "skipped: no manual pages were built, for want of scdoc"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
version=$(cat "$tree/VERSION")
made() { env -u GITHUB_REF_NAME "$@" sh "$tree/tools/release.sh" -B "$build" -o "$work/out" "${parts[@]}" > "$work/log" 2>&1; }
parts=(sums)
if made GITHUB_REF_NAME=v0.0.1; then die "a tag of another version is released"; fi
grep -q "change VERSION" "$work/log" || die "why it is refused: $(cat "$work/log")"
parts=(deb)
made GITHUB_REF_NAME="v$version" || die "$(cat "$work/log")"
parts=(static)
made GITHUB_REF_NAME=main || { grep -q 'cannot find -l' "$work/log" && { echo "skipped: no static libraries here"; exit 77; }; die "$(cat "$work/log")"; }
parts=(wheel)
has_wheel=yes
made A=B || { grep -qiE 'no module named|network|connection|setuptools' "$work/log" || die "$(cat "$work/log")"; has_wheel=no; }
parts=(sums)
made A=B || die "$(cat "$work/log")"
cd "$work/out"
sha256sum --quiet -c SHA256SUMS || die "the checksums do not hold"
[[ $(wc -l < SHA256SUMS) -eq $(($(find . -type f | wc -l) - 1)) ]] || die "SHA256SUMS does not name every file: $(cat SHA256SUMS)"
[[ $(dpkg-deb -f ./*.deb Version) == "${version/-/\~}" ]] || die "the package has version $(dpkg-deb -f ./*.deb Version)"
[[ $version != *-* ]] || dpkg --compare-versions "$(dpkg-deb -f ./*.deb Version)" lt "${version%%-*}" || die "a candidate does not come before its release"
said=$("./flashlab-$version-linux-$(uname -m)" --version)
[[ $said == "flashlab $version" ]] || die "the static binary says $said"
[[ $has_wheel == no || -e $(echo flashlab-"${version/-rc/rc}"*-py3-none-any.whl) ]] || die "the wheel: $(ls)"
echo "released, in a folder: $(ls)"
