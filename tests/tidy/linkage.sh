#!/bin/sh
# Names that the linker would take one of for several things.
#
#   linkage.sh BUILD SOURCE
#
# 1. A name that objects share (weak) and that has a part of one .cpp's unnamed namespace. GCC 14 makes such a name of a template whose argument is an
#    object in there; the schemes of block mapping then all worked with the figures of one.
# 2. A class that two files of the program define under one name, in one namespace: its functions, and vectors of it, would be those of either.
set -eu
build=${1:?usage: linkage.sh BUILD SOURCE} source=${2:?usage: linkage.sh BUILD SOURCE}
command -v nm > /dev/null || { echo "skipped: no nm"; exit 77; }
set -- "$build"/*.a
[ -e "$1" ] || { echo "linkage: no libraries in $build"; exit 1; }
failed=0
found=$(nm -C "$@" 2> /dev/null | grep -E '^[0-9a-f]+ [WVu] .*\(anonymous namespace\)' | sort -u || true)
[ -z "$found" ] || { printf 'shared between objects, though its name says of one:\n%s\n' "$found"; failed=1; }

# Lines of definitions begin in the first column, in the layout of this tree; members of another class have `::` in their name.
twice=$(find "$source" \( -path "$source/tests" -o -path "$source/build" -o -path "$source/.*" \) -prune -o \( -name '*.h' -o -name '*.cpp' \) -print |
    sort | xargs awk '
    FNR == 1 { unnamed = 0 }
    /^namespace \{/ { unnamed = 1 }
    /^\} \/\/ namespace$/ { unnamed = 0 }
    !unnamed && /^(struct|class) [A-Za-z0-9_]+( final)?( : .*)? \{/ {
        if ($2 in where && where[$2] != FILENAME) printf "%s is defined in %s and in %s\n", $2, where[$2], FILENAME
        where[$2] = FILENAME
    }')
[ -z "$twice" ] || { printf '%s\n' "$twice"; failed=1; }
exit $failed
