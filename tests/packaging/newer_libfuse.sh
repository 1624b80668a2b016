#!/usr/bin/env bash
# The code for libfuse 3.17 and 3.18, which Debian 12 does not have: compiled, not linked, with the headers of Debian 13's package and of sid's.
# newer_libfuse.sh BUILD SOURCE
#
# apt fetches both into folders of its own; the machine's sources and packages stay as they are.
set -euo pipefail
build=${1:?usage: newer_libfuse.sh BUILD SOURCE} source=${2:?usage: newer_libfuse.sh BUILD SOURCE}
skip() { echo "skipped: $*"; exit 77; }
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
for tool in apt-get dpkg-deb python3; do command -v $tool > /dev/null || skip "no $tool"; done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -r $keys ]] || skip "no keys of Debian's archive"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-libfuse.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null || true)
[[ -n $mirror ]] || skip "no mirror of Debian in apt's sources"

# With the build's own flags, in one go: names in unnamed namespaces differ within a folder.
for file in "$source"/fs/fuse/*.cpp; do printf '#include "%s"\n' "$file"; done > "$work/all.cpp"
echo '#include "fs/fuse/fuse_api.h"' > "$work/api.cpp"
python3 - "$build/compile_commands.json" > "$work/command" << 'END'
import json, shlex, sys
for entry in json.load(open(sys.argv[1], encoding="utf-8")):
    if "/fs/fuse/" not in entry["file"] and "flashlab_fuse" not in entry["command"]:
        continue
    words, kept = iter(shlex.split(entry["command"])), []
    for word in words:
        if word in ("-o", "-c", "-include", "-Xclang", "-include-pch"):
            next(words)
        elif word not in ("-Winvalid-pch", "-Wshadow") and not word.endswith("/fuse3"):
            kept.append(word)
    while kept and kept[-1] == "-isystem":
        kept.pop()
    print(shlex.join(kept))
    break
END
[[ -s $work/command ]] || skip "$build has no compile_commands.json with fs/fuse"
for suite in trixie sid; do
    mkdir -p "$work/$suite/lists/partial" "$work/$suite/cache/archives/partial" "$work/$suite/root"
    echo "deb [signed-by=$keys] $mirror $suite main" > "$work/$suite/sources"
    fetch=(apt-get -q -o "Dir::Etc::SourceList=$work/$suite/sources" -o Dir::Etc::SourceParts=- -o "Dir::State::lists=$work/$suite/lists"
        -o "Dir::Cache=$work/$suite/cache" -o APT::Sandbox::User=root)
    timeout 300 "${fetch[@]}" update > "$work/log" 2>&1 || skip "$suite cannot be had: $(tail -n 1 "$work/log")"
    (cd "$work/$suite" && timeout 120 "${fetch[@]}" download libfuse3-dev > "$work/log" 2>&1) || skip "libfuse3-dev of $suite cannot be had: $(tail -n 1 "$work/log")"
    dpkg-deb -x "$work/$suite"/libfuse3-dev_*.deb "$work/$suite/root"
    headers=$work/$suite/root/usr/include/fuse3
    version=$(awk '/FUSE_M(AJ|IN)OR_VERSION/ { printf "%s%s", dot, $3; dot = "." }' "$headers/libfuse_config.h")
    macros=$(bash -c "$(cat "$work/command") -isystem '$headers' -E -dM '$work/api.cpp'") || die "libfuse $version: fuse_api.h"
    for needs in 17:FLASHLAB_FUSE_TMPFILE 17:FLASHLAB_FUSE_KILLPRIV_V2 18:FLASHLAB_FUSE_STATX 18:FLASHLAB_FUSE_IO_URING; do
        [[ ${version#*.} -lt ${needs%%:*} || $macros == *"#define ${needs#*:}"* ]] || die "libfuse $version, and ${needs#*:} is not defined"
    done
    bash -c "$(cat "$work/command") -Werror -isystem '$headers' -fsyntax-only '$work/all.cpp'" > "$work/log" 2>&1 || die "libfuse $version: $(grep -m 5 -E 'error|warning' "$work/log")"
    echo "fs/fuse compiles with libfuse $version of $suite"
done
