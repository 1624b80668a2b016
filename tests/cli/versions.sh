#!/usr/bin/env bash
# Drives, logs and sweeps of earlier versions are read, or refused with what to do; those of later versions are refused, and nothing is changed.
# versions.sh SOURCE
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
source=$(cd "${1:?usage: versions.sh SOURCE}" && pwd)
command -v xz > /dev/null || { echo "skipped: xz is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-versions.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
sum_of() { find "$1" -type f -exec sha256sum {} + | sort; }
patch_u32() { # FILE OFFSET VALUE
    printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($3 & 255)) $(($3 >> 8 & 255)) $(($3 >> 16 & 255)) $(($3 >> 24 & 255)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
refused() { # refused WORDS DRIVE COMMAND...: with these words, and the drive stays as it is
    local words=$1 drive=$2 before code=0
    shift 2
    before=$(sum_of "$drive")
    "$FLASHLAB" "$@" > out 2>&1 || code=$?
    [[ $code -ne 0 ]] || die "$* passes: $(cat out)"
    grep -qF -- "$words" out || die "$* does not say '$words': $(cat out)"
    [[ $(sum_of "$drive") == "$before" ]] || die "$*, refused, changed the drive"
}
drives=0
for archive in "$source"/tests/cli/versions/*/*.tar.xz; do
    scheme=$(basename "$archive" .tar.xz)
    tar -xJf "$archive"
    "$FLASHLAB" fsck -n "$scheme" > out 2>&1 || die "fsck of $archive: $(cat out)"
    [[ $("$FLASHLAB" cat "$scheme:file") == "made by $scheme" ]] || die "$archive: file"
    "$FLASHLAB" cat "$scheme:a/b/numbers" | cmp - <(seq 4000) || die "$archive: a/b/numbers"
    "$FLASHLAB" ls "$scheme:a" | grep -q link || die "$archive: a/link"
    [[ $(od -An -tu4 -j8 -N4 "$scheme/nand.img") -eq 2 ]] || die "$archive: looking changed the version of nand.img"
    "$FLASHLAB" fsck "$scheme" > out 2>&1 || die "fsck, which recovers, of $archive: $(cat out)"
    [[ $(od -An -tu4 -j8 -N4 "$scheme/nand.img") -eq 6 ]] || die "$archive: a clean end did not upgrade nand.img"
    "$FLASHLAB" fsck -n --data "$scheme" > out 2>&1 || die "fsck of the upgraded $archive: $(cat out)"
    rows=$("$FLASHLAB" query "$scheme" "SELECT count(*) FROM host_request" --csv | tail -n 1 | tr -d '\r')
    [[ $rows -gt 20 ]] || die "$archive: the log has $rows requests"
    "$FLASHLAB" query "$scheme" "SELECT * FROM v_waf_by_cause" > out 2>&1 || die "$archive: a view: $(cat out)"
    for view in $("$FLASHLAB" query --views | awk '$1 ~ /^v_/ { print $1 }'); do
        "$FLASHLAB" query "$scheme" "SELECT * FROM $view" > out 2>&1 || die "$archive: $view: $(cat out)"
    done
    "$FLASHLAB" report "$scheme" -o report.html > out 2>&1 || die "$archive: report: $(cat out)"
    "$FLASHLAB" replay "$scheme" --ftl page_map --preset tiny --wrap --json > out 2>&1 || die "$archive: replay: $(cat out)"
    drives=$((drives + 1))
    # Of later versions, and of versions that nobody reads any more.
    cp -r --sparse=always "$scheme" later
    sed -i 's/^format = .*/format = 99/' later/device.toml
    refused "use the version that made it" later fsck later
    refused "use the version that made it" later ls later:
    cp "$scheme/device.toml" later/
    patch_u32 later/nand.img 8 99
    refused "use a newer flashlab" later fsck later
    patch_u32 later/nand.img 8 "$(od -An -tu4 -j8 -N4 "$scheme/nand.img")"
    if [[ -e later/pram.img ]]; then
        patch_u32 later/pram.img 8 99
        refused "use a newer flashlab" later fsck later
    fi
    rm -rf later
done
[[ $drives -ge 3 ]] || die "$drives drives were there"
for archive in "$source"/tests/cli/versions/*/sweep.db.xz; do
    xz -dc "$archive" > old.db
    [[ $("$FLASHLAB" query old.db "SELECT status FROM v_runs" --csv | tail -n 1 | tr -d '\r') == "done" ]] || die "$archive: v_runs"
    "$FLASHLAB" sweep merge old.db -o merged.db > out 2>&1 || die "$archive: merge: $(cat out)"
    patch_u32 old.db 60 $((99 << 24)) # user_version, big-endian
    mkdir later && mv old.db later/
    refused "format 99" later sweep merge later/old.db -o other.db
    rm -rf later
done
echo "$drives drives of earlier versions"
