#!/bin/sh
# Counts what the explorer tries, for each translation layer: every cut, with and without cuts of the recovery; drawn
# states; programs of a file system. Rates are those of a CPU second of the core that it runs on.
#
#   tools/crash_counts.sh [FLASHLAB]
set -eu
flashlab=${1:-build/release/flashlab}
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
# LABEL OPTIONS...: states and distinct ones of each scheme, violations of all, the lowest and the highest rate.
drawn_row() {
    label=$1
    shift
    states="" distinct="" violations=0 rates=""
    for scheme in $schemes; do
        report=$("$flashlab" crash explore --ftl "$scheme" "$@" --json)
        states="$states${states:+, }$(grouped "$(number states "$report")")"
        distinct="$distinct${distinct:+, }$(grouped "$(number distinct_states "$report")")"
        violations=$((violations + $(number violations "$report")))
        rates="$rates $(number states_per_second "$report")"
    done
    # shellcheck disable=SC2086 # numbers
    slowest=$(printf '%s\n' $rates | sort -n | head -n 1) fastest=$(printf '%s\n' $rates | sort -n | tail -n 1)
    printf '| %s: %s | %s; distinct: %s | %s | %s to %s |' "$label" "$names" "$states" "$distinct" "$violations" "$(grouped "$slowest")" "$(grouped "$fastest")"
}
number() { printf '%s' "$2" | sed -E "s/.*\"$1\":([0-9]+).*/\1/"; }

# shellcheck disable=SC2016 # backquotes of Markdown, from here on
echo '| what | states | violations | states/s |'
echo '|---|---|---|---|'
row 'every single cut of the standard workloads, `chip-slc`' 1 && echo
row 'the same with every cut of every recovery' 2 && echo
drawn_row 'drawn, second cuts among them, all tiny drives and cells, T6 too' --states 100000 && echo
drawn_row 'drawn, `chip-slc`' --states 6000 --shape chip --cell slc && echo
drawn_row 'drawn, `chip-mlc`, T6 among the outcomes' --states 5000 --shape chip --cell mlc && echo
drawn_row 'drawn, `chip-tlc`, T6 among the outcomes' --states 5000 --shape chip --cell tlc && echo
drawn_row 'drawn, `level-slc` (wear levelled at a threshold of one erase, the ring moves)' --states 5000 --shape level --cell slc && echo
drawn_row 'drawn, `level-tlc`' --states 5000 --shape level --cell tlc && echo
drawn_row 'programs of a file system, metadata on PRAM' --metadata pram --states 900 && echo
drawn_row 'programs of a file system, metadata in a journal' --metadata journal --states 900 && echo
