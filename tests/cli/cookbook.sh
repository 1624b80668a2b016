#!/usr/bin/env bash
# Every question of docs/cookbook.md is asked of the runs that the page makes, and the answer is the one that the page shows.
#
#   FLASHLAB=BINARY cookbook.sh PAGE [--rewrite]     --rewrite puts the answers into the page
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
page=$(realpath "${1:?the page}")
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-cookbook.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
cd "$work"

# The runs, as the page says them.
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" > runs
[[ -s runs ]] || { echo "the page makes no run"; exit 1; }
while read -r program arguments; do
    [[ $program == flashlab ]] || { wrong "the page runs $program"; continue; }
    # shellcheck disable=SC2086 # words
    "$FLASHLAB" $arguments > out 2>&1 || wrong "flashlab $arguments: $(tail -n 1 out)"
done < runs
# N.sql and N.text of each question: an empty line is between the two.
awk '/^```sql$/ { n++; file = n ".sql"; printf "" > file; next } /^```$/ { file = ""; next } file && /^$/ { file = n ".text"; printf "" > file; next }
    file { print > file }' "$page"
questions=$(find . -name '*.sql' | wc -l)
[[ $questions -ge 16 ]] || wrong "the page has $questions questions"
for ((n = 1; n <= questions; n++)); do
    log=$(sed -n '1s/^-- //p' $n.sql)
    "$FLASHLAB" query "${log:-demo.db}" "$(cat $n.sql)" > $n.answer 2> err || wrong "question $n: $(cat err)"
    [[ $(wc -l < $n.answer) -ge 2 ]] || wrong "question $n has no answer"
    [[ ${2-} == --rewrite ]] || diff $n.text $n.answer > difference || wrong "question $n: $(cat $n.sql): the page is < and the answer >: $(cat difference)"
done
if [[ ${2-} == --rewrite ]]; then
    awk '/^```sql$/ { n++; inside = 1 } /^```$/ { inside = skip = 0 } !skip
        inside && /^$/ { while ((getline line < (n ".answer")) > 0) print line; inside = 0; skip = 1 }' "$page" > new
    cp new "$page"
fi
[[ $failures -eq 0 ]] || exit 1
echo "ok: cookbook ($questions questions)"
