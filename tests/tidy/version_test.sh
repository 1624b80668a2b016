#!/bin/sh
# version.sh is red for each place that says another version, and green for the tree as it is.
# version_test.sh SOURCE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=${1:?usage: version_test.sh SOURCE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(cat "$source/VERSION")
packages="tools/library/python/pyproject.toml tools/library/rust/Cargo.toml"
files="VERSION CHANGELOG.md CITATION.cff CMakeLists.txt README.md docs/torture.md tools/python/pyproject.toml $packages tools/ci/torture/action.yml tools/ci/torture/gitlab.yml"
fresh() { for file in $files; do mkdir -p "$work/$(dirname "$file")" && cp "$source/$file" "$work/$file"; done; }
fresh
sh "$here/version.sh" "$work" > /dev/null
changed() { # FILE: every version in it is another one
    fresh
    sed -i "s/$version/9.9.9/g; s/\\\${flashlab_numbers}/9.9.9/" "$work/$1"
    ! cmp -s "$source/$1" "$work/$1" || { echo "FAILED: $1 says no version" >&2; exit 1; }
    if sh "$here/version.sh" "$work" > "$work/out"; then echo "FAILED: green with another version in $1" >&2; exit 1; fi
}
for file in VERSION CHANGELOG.md CITATION.cff CMakeLists.txt docs/torture.md tools/python/pyproject.toml $packages tools/ci/torture/action.yml tools/ci/torture/gitlab.yml; do
    changed "$file"
done
fresh
echo 1.0 > "$work/VERSION"
if sh "$here/version.sh" "$work" > "$work/out"; then echo "FAILED: green with a VERSION that is none" >&2; exit 1; fi
grep -q "is no version" "$work/out"
echo ok
