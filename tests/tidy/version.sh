#!/bin/sh
# The version is said in the file VERSION, and who must repeat it says the same: CHANGELOG.md's newest entry, CITATION.cff, the packages of Python and Rust, and
# each line that pins the action or a binary to a release. CMakeLists.txt says no number of its own.
#
#   sh tests/tidy/version.sh ROOT
set -eu
cd "${1:?usage: version.sh ROOT}"
code=0
wrong() { echo "$*"; code=1; }
version=$(cat VERSION)
echo "$version" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?$' || wrong "VERSION: '$version' is no version"
said() { # FILE EXPRESSION: the first match is the version
    found=$(sed -nE "s/$2/\1/p" "$1" | head -n 1)
    [ "$found" = "$version" ] || wrong "$1 says '$found', and VERSION '$version'"
}
said CHANGELOG.md '^## ([^ ]+).*'
said CITATION.cff '^version: *(.+)$'
for package in tools/python/pyproject.toml tools/library/python/pyproject.toml tools/library/rust/Cargo.toml; do
    said "$package" '^version = "(.*)"$'
done
# shellcheck disable=SC2016 # CMake's variable
grep -qF 'project(flashlab VERSION ${flashlab_numbers} ' CMakeLists.txt || wrong "CMakeLists.txt does not take the version from VERSION"
pins=0
# shellcheck disable=SC2013 # pins have no blanks
for pin in $(grep -rhoE 'tools/ci/torture@v[A-Za-z0-9.-]*|releases/download/v[^/ ]*/flashlab-[0-9][A-Za-z0-9.-]*-linux' docs tools README.md); do
    pins=$((pins + 1))
    case $pin in
    tools/ci/torture@v"$version" | releases/download/v"$version"/flashlab-"$version"-linux) ;;
    *) wrong "'$pin' is not of version $version" ;;
    esac
done
[ "$pins" -gt 0 ] || wrong "no page and no template pins the action to a release"
[ "$code" -ne 0 ] || echo "version $version, repeated rightly; $pins pins"
exit "$code"
