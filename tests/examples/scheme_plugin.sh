#!/usr/bin/env bash
# docs/adding-a-scheme.md, "Without building FlashLab: a grade": a scheme in a shared object is built and graded; an object that does not fit is refused.
# scheme_plugin.sh SOURCE BUILD
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
source=${1:?usage: scheme_plugin.sh SOURCE BUILD}
build=${2:?usage: scheme_plugin.sh SOURCE BUILD}
command -v python3 > /dev/null || { echo "skipped: python3 is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-plugin.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
export CXXFLAGS="${CXXFLAGS:-} -O1 -g0"
make() { sh "$source/tools/build_scheme.sh" "$@" -B "$build"; }
refused() { # refused WORDS ARGUMENTS
    local words=$1 code=0
    shift
    "$FLASHLAB" grade "$@" > out 2> err || code=$?
    [[ $code -eq 2 ]] || die "grade $*: exit code $code: $(cat err)"
    grep -qF -- "$words" err || die "grade $* does not say '$words': $(cat err)"
}
make "$source/tests/examples/last.cpp" "$source/tests/examples/last_plugin.cpp" -o last.so
"$FLASHLAB" grade last.so --states 1500 --json > grade.json 2> err || die "LAST fails: $(cat grade.json err)"
python3 - << 'CHECK'
import json
grade = json.load(open("grade.json"))
assert grade["scheme"] == "last" and grade["passed"] and grade["grade"] in "ABCDE", grade
assert len(grade["checks"]) >= 16 and all(check["passed"] for check in grade["checks"])
assert set(grade["points"]) == {"waf", "memory", "recovery", "speed"}
assert grade["figures"]["ram_bytes"] > 1000 and grade["reference"]["loads"], grade
CHECK
make "$source/tests/examples/lazy.cpp" "$source/tests/examples/lazy_plugin.cpp" -o lazy.so
"$FLASHLAB" grade ./lazy.so --states 1500 --json > lazy.json 2> err && grep -q '"passed":true' lazy.json || die "Lazy fails: $(cat lazy.json err)"
"$FLASHLAB" info ./lazy.so --keys > keys && grep -q 'lazy.every' keys || die "lazy.every is no key: $(cat keys)"
# LAST with one mistake does not pass: each is seen by the check that is about it, and says how to see it again.
mistaken() { # WHAT CHECK SED
    sed "$3" "$source/tests/examples/last.cpp" > mistaken.cpp
    if cmp -s mistaken.cpp "$source/tests/examples/last.cpp"; then die "$1: nothing was changed"; fi
    make mistaken.cpp "$source/tests/examples/last_plugin.cpp" -o mistaken.so
    local code=0
    "$FLASHLAB" grade ./mistaken.so --states 300 --json > mistaken.json 2> err || code=$?
    [[ $code -eq 1 ]] || die "LAST that $1 passes: exit code $code: $(cat err)"
    python3 - "$@" << 'CHECK'
import json, sys
grade = json.load(open("mistaken.json"))
failed = [check["check"] for check in grade["checks"] if not check["passed"]]
assert grade["grade"] == "F" and not grade["passed"] and sys.argv[2] in failed, (sys.argv[1], failed)
print(f"LAST that {sys.argv[1]}: F, by {', '.join(failed)}")
CHECK
}
mistaken "drops a page" requests '/::place(/a \
    static int calls = 0; const Lpn before{lpn.value() - 1}; \
    if (++calls % 64 == 0 \&\& lpn.value() > 0 \&\& map_.is_mapped(before)) { \
        if (map_.is_logged(before)) { logs_.drop(before); map_.clear_logged(before); } \
        map_.unmap(before); \
    }'
mistaken "empties a log block without merging it" requests 's/auto emptied = reclaim(\*victim, now)/auto emptied = (logs_.close(*victim), FtlResult<void>{})/'
# The same, but for what depends on the host.
"$FLASHLAB" grade last.so --states 1500 --json > again.json
python3 - << 'CHECK'
import json
def known(name):
    grade = json.load(open(name))
    for side in ("figures", "reference"):
        for load in grade[side]["loads"]:
            del load["cpu_ns_per_request"]
    return grade
assert known("grade.json") == known("again.json")
CHECK
"$FLASHLAB" grade ./last.so --replay 'last:chip-slc:w0x3.f.w1:1-0' > out 2>&1 || true
grep -q "last:chip-slc" out || die "--replay does not know the scheme of the object: $(cat out)"
# No entry; no object at all; a name that is taken; a constructor that ends the process.
echo 'int nothing;' > empty.cpp && make empty.cpp
refused "FLASHLAB_SCHEME_PLUGIN" empty.so
echo text > text.so
refused "build_scheme.sh" text.so
refused "no such file" missing.so
refused "there are: " nosuch
cat > taken.cpp << 'SOURCE'
#include "ftl/make_ftl.h"
#include "ftl/scheme_plugin.h"
namespace flashlab { const Scheme& taken_scheme() { return **find_scheme("dftl"); } }
FLASHLAB_SCHEME_PLUGIN(taken);
SOURCE
make taken.cpp
refused "already" taken.so
# Another FlashLab's headers.
mkdir other
sed 's/headers [0-9a-f]*/headers 0000000000000000/' "$build/made/include/flashlab_scheme_abi.h" > other/flashlab_scheme_abi.h
CXXFLAGS="-I $work/other $CXXFLAGS" make taken.cpp -o old.so
refused "another FlashLab" ./old.so
printf '#include <csignal>\n[[gnu::constructor]] static void boom() { raise(SIGSEGV); }\n' > boom.cpp && make boom.cpp
refused "signal 11" boom.so
refused "no weight" last.so --weights colour=3
# What a scheme says of itself has to be sound; what it throws or leaves out when a drive is made is not called a defect of flashlab.
cat > faulty.cpp << 'SOURCE'
#include <cstdlib>
#include "ftl/make_ftl.h"
#include "ftl/scheme_plugin.h"
namespace flashlab {
using Made = std::expected<std::unique_ptr<Ftl>, std::string>;
const Scheme& faulty_scheme() {
    static Scheme scheme = **find_scheme("page_map");
    static const OptionOf<std::uint32_t> ours{{.key = "nand.channels", .help = "the drive's own", .max = 9}};
    static const Option* const options[] = {&ours};
    static const std::string_view keys[] = {"nosuch.key"}, own_keys[] = {"faulty.n"};
    static const OptionOf<std::uint32_t> own{{.key = "faulty.n", .help = "its own", .max = 9}};
    static const Option* const own_options[] = {&own};
    const std::string_view fault = std::getenv("FAULT");
    scheme.name = "faulty";
    if (fault == "key") scheme.options = options;
    if (fault == "unknown") scheme.keys = keys;
    if (fault == "none") scheme.keys = own_keys, scheme.options = own_options;
    if (fault == "entry") throw std::runtime_error{"no entry today"};
    if (fault == "null") scheme.make = [](const FtlParts&) -> Made { return nullptr; };
    if (fault == "throws") scheme.make = [](const FtlParts&) -> Made { throw 5; };
    return scheme;
}
} // namespace flashlab
FLASHLAB_SCHEME_PLUGIN(faulty);
SOURCE
make faulty.cpp
FAULT=key refused "'nand.channels' is a key of all drives" faulty.so
FAULT=unknown refused "reads the key 'nosuch.key'" faulty.so
FAULT=none "$FLASHLAB" info ./faulty.so --keys > keys && grep -q "faulty.n" keys || die "a key that is listed twice over is no key"
FAULT=entry refused "no entry today" faulty.so
failing() { # failing FAULT WORDS
    local code=0
    FAULT=$1 "$FLASHLAB" bench --size 64M --ftl ./faulty.so > out 2>&1 || code=$?
    [[ $code -lt 128 && $code -ne 0 ]] && grep -qF -- "$2" out || die "a scheme with fault '$1' ends with $code: $(cat out)"
}
failing entry "no entry today"
failing null "make() has made nothing"
failing throws "scheme 'faulty', which was loaded"
echo "a scheme of its own, graded"
