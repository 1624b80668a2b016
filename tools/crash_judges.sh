#!/bin/sh
# docs/crash-judges.md: which judge sees which seeded defect, on all translation layers. Some minutes of CPU.
#
#   tools/crash_judges.sh [FLASHLAB]           the page
#   tools/crash_judges.sh [FLASHLAB] --check   and whether docs/crash-judges.md is it
# Ends with 1 if a defect was missed, by all or by the judge that is named for it.
set -eu
flashlab=${1:-build/release/flashlab}
page=$(dirname "$0")/../docs/crash-judges.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$flashlab" crash selftest --ftl all --csv > "$work/defects"
awk '
    NR == 1 { next }
    {
        line = $0
        for (i = 1; i <= 4; i++) { at = index(line, ","); field[i] = substr(line, 1, at - 1); line = substr(line, at + 1) }
        if (line ~ /^".*"$/) { line = substr(line, 2, length(line) - 2); gsub(/""/, "\"", line) }
        gsub(/\|/, "\\|", line)
        n++
        named[field[3]]++
        others[n] = ""
        seers = split(field[4], by, " ")
        for (i = 1; i <= seers; i++) {
            sees[by[i]]++
            if (seers == 1) alone[by[i]]++
            if (by[i] != field[3]) others[n] = others[n] (others[n] == "" ? "" : ", ") by[i]
        }
        defects[field[3]] = defects[field[3]] (defects[field[3]] == "" ? "" : "<br>") "`" field[1] "`: " line " (" field[2] (others[n] == "" ? "" : "; " others[n]) ")"
        if (!(field[3] in order)) { order[field[3]] = ++judges; at_place[judges] = field[3] }
    }
    END {
        print "# Judges and seeded defects"
        print ""
        print "Made by `tools/crash_judges.sh` with `flashlab crash selftest --ftl all`: " n " deliberate defects, each with the judge"
        print "that is named for it. Who else sees a defect was found by leaving out the judge that reported it, and looking again."
        print "[crash/DESIGN.md](../crash/DESIGN.md) says what the judges are."
        print ""
        print "| judge | named for | sees | alone | the defects that it is named for (level; who else sees it) |"
        print "|---|---|---|---|---|"
        for (j = 1; j <= judges; j++) { k = at_place[j]; printf "| %s | %d | %d | %d | %s |\n", k, named[k], sees[k], alone[k], defects[k] }
        print ""
        print "`looks_erased` reports nothing itself: it lets pages that a cut left look erased (T5). What comes of that `writing_on`"
        print "reports. A test leaves it out, and demands that `trusts_blank_pages` stays unseen then."
    }' "$work/defects" > "$work/page"
cat "$work/page"
[ "${2-}" = --check ] || exit 0
cmp -s "$work/page" "$page" || { echo "docs/crash-judges.md says something else" >&2; exit 1; }
