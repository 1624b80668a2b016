#!/bin/sh
# Makes what a release offers, in a folder: .github/workflows/release.yml runs this, and so can you.
#
#   sh tools/release.sh [-B build/release] [-o release] deb static wheel sums
#
# deb     the Debian package, for the release of Debian on which it is made
# static  one file without shared libraries
# wheel   the Python package
# sums    SHA256SUMS of what lies in the folder: the last step
# Where GITHUB_REF_NAME names a tag, it must be v and the version in the file VERSION.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$tree/build/release out=release version=$(cat "$tree/VERSION")
die() { echo "release: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
    case $1 in
    -B) build=${2:?-B wants a folder}; shift 2 ;;
    -o) out=${2:?-o wants a folder}; shift 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || { echo "usage: sh tools/release.sh [-B BUILD] [-o FOLDER] deb|static|wheel|sums ..." >&2; exit 2; }
case ${GITHUB_REF_NAME:-} in v*) [ "$GITHUB_REF_NAME" = "v$version" ] || die "the tag is $GITHUB_REF_NAME, and the version is $version: change VERSION" ;; esac
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for part in "$@"; do
    case $part in
    deb)
        # shellcheck source=/dev/null
        for tool in dpkg-shlibdeps file; do
            command -v $tool > /dev/null || die "$tool is missing, with which cpack finds the libraries that are used: apt-get install dpkg-dev file"
        done
        debian=$(. /etc/os-release && echo "${ID}${VERSION_ID-}")
        (cd "$build" && cpack -G DEB -B "$work/deb" > "$work/log" 2>&1) || die "cpack: $(tail -n 5 "$work/log")"
        mv "$work"/deb/*.deb "$out/flashlab_${version}_${debian}_$(dpkg --print-architecture).deb"
        ;;
    static) sh "$tree/tools/build_static.sh" -B "$build" -o "$out/flashlab-$version-linux-$(uname -m)" > /dev/null ;;
    wheel)
        cp -r "$tree/tools/python" "$work/python" # pip leaves its traces beside what it builds
        python3 -m pip --disable-pip-version-check -q wheel --no-deps -w "$out" "$work/python" > "$work/log" 2>&1 || die "pip: $(tail -n 5 "$work/log")"
        ;;
    sums)
        rm -f "$out/SHA256SUMS"
        (cd "$out" && sha256sum -- * > "$work/sums" && mv "$work/sums" SHA256SUMS)
        ;;
    *) die "'$part' is none of deb, static, wheel and sums" ;;
    esac
done
ls -l "$out"
