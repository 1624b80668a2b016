#!/usr/bin/env bash
# The report's page in a browser: no message on the console, every plot is drawn and holds the run's numbers, in light and dark, and nothing is asked of the
# network. Needs Chromium; without it the test is skipped (77). SCREENSHOTS=DIR keeps pictures.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[[ -n $browser ]] || { echo "skipped: no Chromium"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-browser.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { printf 'WRONG: %s\n' "$*"; failures=$((failures + 1)); }
chromium() { timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --user-data-dir="$work/profile" --enable-logging=stderr --log-level=0 "$@"; }
chromium --dump-dom 'data:text/html,<p>here</p>' 2> /dev/null | grep -q here || { echo "skipped: Chromium does not start here"; exit 77; }

for ftl in dftl fast; do
    "$FLASHLAB" bench --preset tiny --ftl $ftl --rw randrw --bs 4k --io-size 8M --iodepth 4 --log all --events "$work/$ftl.db" > /dev/null 2>&1 || wrong "bench $ftl"
done
"$FLASHLAB" report "$work/dftl.db" "$work/fast.db" -o "$work/page.html" > /dev/null || wrong "report"

chromium --virtual-time-budget=8000 --dump-dom "file://$work/page.html#numbers" > "$work/dom" 2> "$work/err" || wrong "the browser failed"
! grep -E 'CONSOLE|Uncaught|Refused to' "$work/err" || wrong "the page complains"
ready=$(grep -o 'data-ready="[0-9]*"' "$work/dom" | head -n 1 | tr -dc 0-9 || true)
[[ ${ready:-0} -ge 12 ]] || wrong "only ${ready:-no} figures are drawn"
for title in "Latency distribution" Written Read Requests "Slowest request" "Write amplification" "Channels: dftl" "Planes: fast" "Block map: dftl" "Write amplification by cause: fast" "Hit ratios: dftl"; do
    points=$(grep -o "data-plot=\"$title\" data-points=\"[0-9]*\"" "$work/dom" | grep -o '[0-9]*"$' | tr -d '"' | head -n 1 || true)
    [[ ${points:-0} -gt 1 ]] || wrong "the plot '$title' has ${points:-no} points"
done
plots=$({ grep -o 'class="u-over"' "$work/dom" || true; } | wc -l)
[[ $plots -ge 8 ]] || wrong "uPlot drew $plots plots"
# The page's numbers are the log's.
for ftl in dftl fast; do
    for sql in "SELECT count(*) FROM host_request WHERE op = 1" "SELECT sum(pages) FROM nand_op WHERE op = 1"; do
        number=$("$FLASHLAB" query "$work/$ftl.db" "$sql" --csv | tail -n 1 | tr -d '\r' | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta')
        grep -q ">$number<" "$work/dom" || wrong "$ftl: the page does not show $number ($sql)"
    done
done
if [[ -n ${SCREENSHOTS-} ]]; then
    mkdir -p "$SCREENSHOTS"
    for theme in light dark; do
        sed "s/<html lang=\"en\">/<html lang=\"en\" data-theme=\"$theme\">/" "$work/page.html" > "$work/$theme.html"
        chromium --virtual-time-budget=8000 --window-size=1280,5200 --screenshot="$SCREENSHOTS/$theme.png" "file://$work/$theme.html" 2> /dev/null || wrong "screenshot $theme"
    done
fi
[[ $failures -eq 0 ]] || exit 1
echo "ok: report_browser ($ready figures)"
