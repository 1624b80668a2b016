#!/usr/bin/env bash
# explain: every scheme, the picture agrees with what the host wrote, the exercises of docs/teaching.md have the answers that the drive gives.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}" "${FLASHLAB_TREE:?source tree}"
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-explain.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
command -v sqlite3 > /dev/null || { echo "skipped: sqlite3 is not installed"; exit 77; }
# ask FILE SQL-EXPRESSION [TABLE]: over the JSON of FILE, called `story`.
ask() { sqlite3 :memory: "WITH f(story) AS (SELECT CAST(readfile('$work/$1') AS TEXT)) SELECT $2 FROM f${3:+, $3}"; }
explain() { "$FLASHLAB" explain "$@" --json > "$work/story" 2> "$work/err" || wrong "explain $*: $(cat "$work/err")"; }

for ftl in page_map dftl hftl block_map log_block fast coftl; do
    # After 60 overwrites of pages 0 to 7 each of the eight has one newest copy, and nothing else has one; what is on the flash is what was programmed.
    explain --ftl "$ftl" "w0x8.$(for i in {1..60}; do printf 'w%d.' $((i * 5 % 8)); done)f"
    last="json_each(story, '$.steps[#-1].blocks') b, json_each(b.value, '$.pages') p WHERE p.value ->> '$.mark' = 'newest'"
    [[ $(ask story "count(*) || ' ' || count(DISTINCT p.value ->> '$.page') || ' ' || max(p.value ->> '$.page')" "$last") == "8 8 7" ]] ||
        wrong "$ftl: newest copies: $(ask story "group_concat(p.value ->> '$.page')" "$last")"
    [[ $(ask story "story ->> '$.totals.host_pages_written'") == 68 ]] || wrong "$ftl: host pages"
    [[ $(ask story "sum(b.value ->> '$.erases') - (story ->> '$.totals.nand_block_erases')" "json_each(story, '$.steps[#-1].blocks') b") == 0 ]] ||
        wrong "$ftl: the erases of the blocks are not the erases in all"
    [[ $(ask story "story ->> '$.totals.nand_block_erases'") -gt 0 ]] || wrong "$ftl: the class sees no erase"
    # Told each once: as many sentences of erases as there were.
    [[ $(ask story "count(*) - (story ->> '$.totals.nand_block_erases')" \
        "json_each(story, '$.steps') s, json_each(s.value, '$.lines') l WHERE l.value LIKE 'erases block%'") == 0 ]] || wrong "$ftl: erases are not told"
    # After a cut what was flushed is there, and the picture is taken from the flash.
    explain --ftl "$ftl" --seed 5 w0x8.f.w3.w1.c.g0x8
    [[ $(ask story "count(DISTINCT p.value ->> '$.page')" "$last") == 8 ]] || wrong "$ftl: after a cut: $(ask story "group_concat(p.value ->> '$.page')" "$last")"
    grep -q 'the power is back' "$work/story" || wrong "$ftl: no recovery"
    "$FLASHLAB" explain --ftl "$ftl" w0x8.w3.t1.c > "$work/text" || wrong "$ftl: text"
    awk 'length > 80 && /\[/ { bad = 1 } END { exit bad }' "$work/text" || wrong "$ftl: the picture is wider than 80 columns"
done
explain w0x4.t0x4
[[ $(grep -o '"mark":"newest"' <<< "$(ask story "story -> '$.steps[#-1]'")" | wc -l) -eq 0 ]] || wrong "trimmed pages have no newest copy"
explain --wear-levelling --ftl page_map w0x20.r3x100

# --until: the story ends with the step of the first one, with a script and without.
for until in "page_map collection" "fast merge" "hftl cut" "block_map merge w0x8.r7x200" "dftl collection w0x8.r7x400"; do
    read -r ftl what script <<< "$until"
    # shellcheck disable=SC2086 # no script is no word
    explain --ftl "$ftl" --until "$what" $script
    last="json_each(story, '$.steps[#-1].lines') l"
    case $what in
        collection) told=$(ask story "story ->> '$.steps[#-1].totals.collections'") before=$(ask story "story ->> '$.steps[#-2].totals.collections'") ;;
        merge) told=$(ask story "max(0, $(printf "(story ->> '$.steps[#-1].totals.%s') + " merges_switch merges_partial merges_full)0)")
            before=$(ask story "$(printf "(story ->> '$.steps[#-2].totals.%s') + " merges_switch merges_partial merges_full)0") ;;
        cut) told=$(ask story "story ->> '$.steps[#-1].title' LIKE 'the power is back%'") before=0 ;;
    esac
    [[ $told -ge 1 && $before -eq 0 ]] || wrong "explain --until $until: $told in the last step, $before before it: $(ask story "group_concat(l.value)" "$last")"
done
code=0
"$FLASHLAB" explain --until merge --ftl page_map w0x4 > "$work/out" 2> "$work/err" || code=$?
[[ $code -eq 2 ]] && grep -q 'no merge came in 1 steps of page_map: give it more writes, or another --ftl' "$work/err" || wrong "a merge that never comes: $code, $(cat "$work/err")"

"$FLASHLAB" explain --ftl fast --html "$work/fast.html" w0x8.r7x20 || wrong "--html"
grep -q '</html>' "$work/fast.html" && ! grep -Eq 'https?://' "$work/fast.html" || wrong "the page is not self-contained"
chromium=$(command -v chromium || true)
if [[ -n $chromium ]]; then # the page draws, steps and goes back: its own script says so
    # It opens at its end, where there is something to see.
    sed "s|^go(story.steps.length-1);\$|&document.getElementById('step').click();document.getElementById('back').click();|" \
        "$work/fast.html" > "$work/driven.html"
    timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --virtual-time-budget=2000 --dump-dom "file://$work/driven.html" \
        > "$work/dom" 2> /dev/null || true
    if [[ -s $work/dom ]]; then
        grep -q '<span id="count">20 of 21</span>' "$work/dom" || wrong "the page does not step: $(grep -o 'id="count">[^<]*' "$work/dom")"
        grep -q 'class="page newest' "$work/dom" || wrong "the page draws nothing"
    fi
    # At its end it draws what the JSON of the story says, page by page.
    "$FLASHLAB" explain --ftl fast --json w0x8.r7x20 > "$work/story" || wrong "--json"
    cp "$work/fast.html" "$work/driven.html"
    timeout 60 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --virtual-time-budget=2000 --dump-dom "file://$work/driven.html" \
        > "$work/dom" 2> /dev/null || true
    drawn=$(grep -o '<div class="page [^<]*' "$work/dom" | sed -E 's/<div class="page ([a-z]+)( changed)?">/\1 /; s/ $//' | tr '\n' ';' || true)
    told=$(ask story "group_concat(trim((p.value ->> '$.mark') || ' ' || coalesce(p.value ->> '$.page', p.value ->> '$.text')), ';') || ';'" \
        "json_each(story, '$.steps[#-1].blocks') b, json_each(b.value, '$.pages') p")
    [[ ! -s $work/dom || $drawn == "$told" ]] || wrong "the page draws $drawn, the story says $told"
fi

printf '0,0,8192,w,0.1\n0,1000000,4096,w,0.2\n0,0,4096,r,0.3\n' > "$work/own.spc"
explain --trace "$work/own.spc" --format spc
[[ $(ask story "json_array_length(story, '$.steps')") == 4 ]] || wrong "a trace of three requests"
for i in $(seq 201); do echo "0,$((i * 8)),4096,w,$i.0"; done > "$work/long.spc"
for words in "" "w" "w99" "w15x2" "x3" "z" "c7" "--ftl nonsense w1" "w0 --trace $work/own.spc" "--trace $work/long.spc --format spc" "--trace $work/none" "w99999999999"; do
    code=0
    # shellcheck disable=SC2086 # words
    "$FLASHLAB" explain $words > "$work/out" 2> "$work/err" || code=$?
    [[ $code -eq 2 ]] && grep -q '^flashlab: ' "$work/err" && [[ ! -s $work/out ]] || wrong "explain $words: code $code: $(cat "$work/err")"
done
"$FLASHLAB" explain --trace "$work/long.spc" --format spc --limit 200 --brief > /dev/null || wrong "the first 200 requests of a trace"

# The exercises: rows "| N. question | `flashlab explain ...` | KEY VALUE, KEY VALUE |", each value a total of the story.
exercises=0
while IFS='|' read -r _ number command answer _; do
    [[ $number =~ ^\ [0-9]+\. && $command == *'`flashlab explain '* ]] || continue
    exercises=$((exercises + 1))
    command=$(sed -E 's/^ `flashlab //; s/` $//' <<< "$command")
    # shellcheck disable=SC2086 # words
    "$FLASHLAB" $command --json > "$work/story" || wrong "$command"
    while read -r key value; do
        got=$(ask story "story ->> '$.totals.$key'")
        [[ $got == "$value" ]] || wrong "docs/teaching.md: $command: $key is $got, not $value"
    done < <(sed -E 's/[.`]//g; s/^ //; s/ $//; s/, /\n/g' <<< "$answer")
done < "$FLASHLAB_TREE/docs/teaching.md"
[[ $exercises -ge 8 ]] || wrong "docs/teaching.md has $exercises exercises"
[[ $failures -eq 0 ]] && echo "ok: explain, $exercises exercises"
exit $((failures != 0))
