#!/bin/sh
# Compiles a translation layer into a shared object for `flashlab grade`.
#
#   sh tools/build_scheme.sh SOURCE ... [-o OBJECT] [-B build/release]
#
# One of the sources ends with FLASHLAB_SCHEME_PLUGIN(my_scheme) (ftl/scheme_plugin.h). Headers and flags are those of this tree and of the build
# directory, and the object fits the flashlab that was built there, no other.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
build=$tree/build/release
out=
sources=
usage() { echo "usage: sh tools/build_scheme.sh FILE.cpp ... [-o FILE.so] [-B BUILD]" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    -o | -B) [ $# -ge 2 ] || usage; if [ "$1" = -o ]; then out=$2; else build=$2; fi; shift 2 ;;
    -*) usage ;;
    *\'*) echo "build_scheme: no quotes in file names, please: $1" >&2; exit 2 ;;
    *) sources="$sources '$1'"; [ -n "$out" ] || out=$(basename "${1%.*}").so; shift ;;
    esac
done
[ -n "$sources" ] || usage
if [ ! -e "$build/CMakeCache.txt" ] || [ ! -e "$build/made/include/flashlab_scheme_abi.h" ]; then
    echo "build_scheme: $build: nothing is built there: cmake --preset release && cmake --build --preset release, or name it with -B" >&2
    exit 1
fi
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
compiler=${CXX:-$(cached CMAKE_CXX_COMPILER)}
sanitizers=$(cached FLASHLAB_SANITIZE)
# shellcheck disable=SC2086 # a compiler may have words before it, as ccache
eval "exec ${compiler} -std=c++23 -O2 -g -fPIC -shared -Wall -Wextra ${sanitizers:+-fsanitize=$sanitizers} ${CXXFLAGS:-} \
    -DFMT_HEADER_ONLY -DFLASHLAB_VERSION='\"$(cat "$tree/VERSION")\"' -I '$tree' -I '$build/made/include' $sources -o '$out'"
