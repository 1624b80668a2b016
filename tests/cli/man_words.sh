#!/usr/bin/env bash
# The words that no --help lists are in the manual page and in the page that is about them: of mount -o, of faults, of sweep files. They are read where the
# program reads them.
# man_words.sh SOURCE
set -euo pipefail
source=${1:?usage: man_words.sh SOURCE}
cd "$source"
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
manual=docs/man/flashlab.1.scd
# Strings of the initialiser that begins with this.
words() { sed -n "/$1/,/;/p" "$2" | grep -oE '"[a-z_]+"' | tr -d '"'; }
check() { # check PAGE LEAST FOUND...
    local page=$1 least=$2 word
    shift 2
    [[ $# -ge $least ]] || wrong "$page: $# words were found where there were $least"
    for word in "$@"; do
        grep -qE "\*([^*]*[^a-z_*])?$word([^a-z_][^*]*)?\*" "$manual" || wrong "$manual does not know $word"
        grep -qwF -- "$word" "$page" || wrong "$page does not know $word"
    done
}
# shellcheck disable=SC2046 # words
check docs/mounting.md 16 $(words 'own_options{' tools/cli/commands/mount_words.h)
# shellcheck disable=SC2046
check docs/faults.md 9 $(words ' kind_names{' tools/faults/fault_rule.cpp)
# shellcheck disable=SC2046
check docs/faults.md 8 $(grep -oE '(key|word) == "[a-z]+"' tools/faults/fault_rule.cpp | grep -oE '"[a-z]+"' | tr -d '"' | sort -u)
# shellcheck disable=SC2046
check docs/sweeps.md 12 $(grep -oE '\{("[a-z]+"(, )?)+\}' tools/sweep/sweep_plan.cpp | grep -oE '"[a-z]+"' | tr -d '"' | sort -u)
[[ $failures -eq 0 ]] || { echo "$failures wrong"; exit 1; }
