#!/bin/sh
# linkage.sh finds a shared name with a part of one object's, and a class defined twice; and nothing else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-linkage.XXXXXX")
trap 'rm -rf "$work"' EXIT
command -v nm > /dev/null && command -v cc > /dev/null || exit 77
failed=0

# library NAME BINDING: a function f<(anonymous namespace)::kind>() that the linker may share (.weak) or not (.local).
library() {
    mkdir "$work/$1"
    printf '\t.text\n\t.%s _Z1fIL_ZN12_GLOBAL__N_14kindEEEvv\n_Z1fIL_ZN12_GLOBAL__N_14kindEEEvv:\n\t.byte 0\n\t.weak _Z1gv\n_Z1gv:\n\t.byte 0\n' "$2" > "$work/$1/f.s"
    cc -c "$work/$1/f.s" -o "$work/$1/f.o"
    ar rc "$work/$1/libf.a" "$work/$1/f.o"
}
expect() { # CODE TEXT BUILD: with the sources that lie there
    code=0
    said=$(sh "$here/linkage.sh" "$3" "$work/source" 2>&1) || code=$?
    case "$code:$said" in
    "$1":*"$2"*) ;;
    *) echo "FAILED: $2: code $code: $said" && failed=1 ;;
    esac
}

mkdir -p "$work/source/fs" "$work/source/ftl" "$work/source/tests"
printf 'namespace flashlab {\nstruct Finding {\n};\nstruct Finding::Part {\n};\n}\n' > "$work/source/fs/a.h"
printf 'namespace flashlab {\nnamespace {\nstruct Finding {\n};\n} // namespace\n}\n' > "$work/source/ftl/a.cpp"
printf 'namespace flashlab {\nstruct Finding;\nstruct Finding::Part {\n};\n}\n' > "$work/source/ftl/b.h"
cp "$work/source/fs/a.h" "$work/source/tests/a.h"
library own local
library shared weak
expect 0 "" "$work/own"
expect 1 "(anonymous namespace)::kind" "$work/shared"
expect 1 "no libraries" "$work/source"
printf 'namespace flashlab {\nclass Finding final : Other {\n};\n}\n' > "$work/source/ftl/c.cpp"
expect 1 "Finding is defined in" "$work/own"
exit $failed
