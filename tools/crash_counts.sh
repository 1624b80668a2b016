#!/bin/sh
# The rows of docs/crash-model.md that count what the explorer tries: every cut, with and without cuts of the recovery, for each translation layer.
#
#   tools/crash_counts.sh [FLASHLAB]           the rows
#   tools/crash_counts.sh [FLASHLAB] --check   and whether docs/crash-model.md has them
set -eu
flashlab=${1:-build/release/flashlab}
page=$(dirname "$0")/../docs/crash-model.md
schemes=$("$flashlab" info --keys --json | grep -o '"key":"ftl.scheme"[^}]*' | sed 's/.*"allowed":"\([^"]*\)".*/\1/; s/,//g')

# "states violations" of one exploration.
explored() { "$flashlab" crash explore --ftl "$1" --shape chip --cell slc --cuts "$2" --json | sed -E 's/.*"states":([0-9]+).*"violations":([0-9]+).*/\1 \2/'; }
# With a comma before each three digits from the right.
grouped() { printf '%s' "$1" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta'; }

names=$(printf '%s' "$schemes" | sed 's/ /, /g')
row() {
    states="" violations=0
    for scheme in $schemes; do
        # shellcheck disable=SC2046
        set -- "$1" "$2" $(explored "$scheme" "$2")
        states="$states${states:+, }$(grouped "$3")"
        violations=$((violations + $4))
        set -- "$1" "$2"
    done
    printf '| %s: %s | %s | %s |' "$1" "$names" "$states" "$violations"
}
single=$(row 'every single cut of the standard workloads, `chip-slc`' 1)
printf '%s\n' "$single"
double=$(row 'the same with every cut of every recovery' 2)
printf '%s\n' "$double"
[ "${2-}" = --check ] || exit 0
grep -qF "$single" "$page" && grep -qF "$double" "$page" || { echo "docs/crash-model.md has other counts" >&2; exit 1; }
