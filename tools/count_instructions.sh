#!/usr/bin/env bash
# Instructions that a simulated request takes, for six fixed loads: the same on a busy machine as on an idle one, unlike a time.
#
#   bash tools/count_instructions.sh BINARY [--only PATTERN] > FILE
#   bash tools/count_instructions.sh BINARY --against FILE [--tolerance PERCENT]      exit 1 where a load takes more, by 3 % if nothing else is said
#
# Counted by valgrind's callgrind, requests of the steady state alone: a run of N requests is taken off one of 2N. Another compiler makes other
# instructions, so a file names the one that made it, and is compared with no other (exit 77). tests/bench/instructions.txt is the file of the repository.
set -euo pipefail
(($# >= 1)) || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
binary=$(realpath "$1") only=. against= tolerance=3
shift
while (($#)); do
    case $1 in
    --only) only=$2 ;;
    --against) against=$(realpath "$2") ;;
    --tolerance) tolerance=$2 ;;
    *) echo "count_instructions: unknown option $1; see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done
command -v valgrind > /dev/null || { echo "count_instructions: valgrind is not installed: apt-get install valgrind" >&2 && exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-instructions.XXXXXX")
trap 'rm -rf "$work"' EXIT
command -v strings > /dev/null || { echo "count_instructions: strings is not installed: apt-get install binutils" >&2 && exit 77; }
compiler=$(strings -a "$binary" | grep -oE '^(GCC: \([^)]*\) [0-9.]+|.*clang version [0-9.]+.*)$' | LC_ALL=C sort -ru | head -n 1 || true) # clang links parts of GCC
: "${compiler:=unknown}"
if [[ -n $against ]] && [[ $(head -n 1 "$against") != "$compiler" ]]; then
    echo "count_instructions: $against was counted with $(head -n 1 "$against"), this binary was made by $compiler: not comparable" >&2
    exit 77
fi
counted() { # REQUESTS ARGUMENTS...: instructions of the whole process
    local requests=$1
    shift
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "${@/@/$((requests * 4096))}" > "$work/out" 2> "$work/err" || { cat "$work/err" >&2 && return 1; }
    sed -n 's/.*Collected : //p' "$work/err"
}
worse=0
row() { # NAME REQUESTS ARGUMENTS...: "@" among the arguments is the number of requests, as bytes
    local name=$1 requests=$2 one two each was
    shift 2
    [[ $name =~ $only ]] || return 0
    one=$(counted "$requests" "$@")
    two=$(counted "$((2 * requests))" "$@")
    each=$(((two - one) / requests))
    was=$([[ -z $against ]] || sed -n "s/^$name: //p" "$against")
    if [[ -z $against ]]; then
        printf '%s: %d\n' "$name" "$each"
    elif [[ -z $was ]]; then
        printf '%s: %d, not in the file\n' "$name" "$each" && worse=1
    else
        awk -v name="$name" -v was="$was" -v each="$each" -v most="$tolerance" 'BEGIN {
            change = (each / was - 1) * 100
            is_more = (change > most)
            printf("%s: %d, was %d (%+.1f %%)%s\n", name, each, was, change, is_more ? ": more than " most " %" : "")
            exit is_more }' || worse=1
    fi
}
[[ -n $against ]] || echo "$compiler"
steady=(--size 64M --precondition fill:100,random:1x --bs 4k --iodepth 32 --io-size @ --json)
for ftl in page_map hftl dftl leaftl; do row "random writes, $ftl" 20000 bench --ftl $ftl --rw randwrite "${steady[@]}"; done
row 'random reads, dftl' 20000 bench --ftl dftl --rw randread "${steady[@]}"
row 'random writes, coftl' 1000 bench --ftl coftl --rw randwrite "${steady[@]}"
exit $worse
