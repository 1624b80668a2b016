#!/bin/sh
# One file without shared libraries: for the CI of others, and for machines where nothing is installed.
#
#   sh tools/build_static.sh [-B build/release] [-o flashlab]
#
# It does what the installed program does, except that `grade` loads no shared object. Mounting wants /dev/fuse and, for ordinary users, fusermount3.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$tree/build/release
out=
while [ $# -gt 0 ]; do
    case $1 in
    -B) build=${2:?-B wants a folder}; shift 2 ;;
    -o) out=${2:?-o wants a file}; shift 2 ;;
    *) echo "usage: sh tools/build_static.sh [-B BUILD] [-o FILE]" >&2; exit 2 ;;
    esac
done
[ -n "$out" ] || out=$build/flashlab-static
if [ ! -e "$build/CMakeCache.txt" ]; then cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release > /dev/null; fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The linker warns of dlopen() and of the user database: SQLite's extensions and libfuse's modules want them, and neither is used.
cmake --build "$build" --target flashlab_static > "$log" 2>&1 || { cat "$log" >&2; exit 1; }
strip -o "$out.part" "$build/flashlab_static"
if readelf -l "$out.part" | grep -q INTERP; then
    rm -f "$out.part"
    echo "build_static: $out would still want shared libraries" >&2
    exit 1
fi
mv "$out.part" "$out"
echo "$out: $(wc -c < "$out") bytes"
