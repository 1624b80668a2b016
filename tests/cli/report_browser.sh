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
for title in "Latency distribution" "Latency distribution: against dftl" Written Read Requests "Slowest request" "Write amplification" "Channels: dftl" "Planes: fast" "Block map: dftl" "Write amplification by cause: fast" "Hit ratios: dftl"; do
    points=$(grep -o "data-plot=\"$title\" data-points=\"[0-9]*\"" "$work/dom" | grep -o '[0-9]*"$' | tr -d '"' | head -n 1 || true)
    [[ ${points:-0} -gt 1 ]] || wrong "the plot '$title' has ${points:-no} points"
done
plots=$({ grep -o 'class="u-over"' "$work/dom" || true; } | wc -l)
[[ $plots -ge 8 ]] || wrong "uPlot drew $plots plots"
# A plot says something: it shows all of its curves, which have more than one point; legends have no dashes; colours of a map go from the 1st to the 99th
# percentile, so that a drive that is busy a hundredth of the time shows where. Of a drive that was sampled once there is a sentence instead of a curve.
cat > "$work/plain" <<'P'
<script>
setTimeout(() => {
  const titled = (t) => document.querySelector(`figure[data-plot="${t}"]`), said = [];
  const most = (p) => Math.max(...p.data.slice(1).flat().filter((v) => typeof v === "number"));
  said.push([...timePlots].filter((p) => p.data[0].length < 2 || p.scales.y.max < most(p)).length + " cut or empty");
  said.push([...document.querySelectorAll(".u-legend")].filter((l) => /[–:]/.test(l.innerText.replaceAll(/(dftl|fast):/g, ""))).length + " legends of dashes");
  const map = titled("Channels: dftl"), canvas = map.querySelector("canvas"), pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  said.push("colours " + (new Set(pixels).size > 8 && pixels.includes(0xff25e7fd)) + " " + /percentile/.test(map.innerText));
  const once = linesOf({ title: "Once", caption: "", x: "s", y: "blocks", series: [{ name: "free", x: [0, 1], y: [null, 7] }] });
  said.push(once.querySelector("p").innerText);
  // Curves that lie on each other are divided, between points, too; curves that are apart are not.
  const first = { name: "a", x: [0, 1, 3], y: [10, 20, 40] }, near = { name: "b", x: [0, 2, 3, 4], y: [11, 33, null, 50] }, far = { ...near, y: [50, 90, 120, 9] };
  const shows = (s) => besideFirst("a", [[first, s]], { title: "", caption: "", x: "s" }) !== null;
  const ended = (wide) => ({ name: "c", x: [wide / 2, 3 * wide / 2, 5 * wide / 2], y: [10, 10, 10], wide }); // the same rate in other stretches of time
  said.push("ratios " + ratioTo(ended(1), ended(0.9), true).y[1].toFixed(2) + " " + ratioTo(first, near).y.map((v) => v?.toFixed(2)).join(" ") + " " + ratioTo(first, near, true).y[1].toFixed(2) + " " + shows(near) + " " + shows(far));
  document.documentElement.dataset.plain = said.join(", ");
}, 1500);
</script>
P
sed "/<\/body>/r $work/plain" "$work/page.html" > "$work/plain.html"
chromium --virtual-time-budget=9000 --dump-dom "file://$work/plain.html" > "$work/dom2" 2> "$work/err" || wrong "the browser failed"
plain=$(grep -o 'data-plain="[^"]*"' "$work/dom2" | head -n 1 || true)
[[ $plain == 'data-plain="0 cut or empty, 0 legends of dashes, colours true true, One sample: free 7 blocks., ratios 1.00 1.10 1.10   1.10 true false"' ]] || wrong "plots: ${plain:-nothing} $(grep CONSOLE "$work/err" || true)"
# The page's numbers are the log's.
for ftl in dftl fast; do
    for sql in "SELECT count(*) FROM host_request WHERE op = 1" "SELECT sum(pages) FROM nand_op WHERE op = 1"; do
        number=$("$FLASHLAB" query "$work/$ftl.db" "$sql" --csv | tail -n 1 | tr -d '\r' | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta')
        grep -q ">$number<" "$work/dom" || wrong "$ftl: the page does not show $number ($sql)"
    done
done
# Zooming into one plot of time zooms the others, by keyboard as by brushing, and 0 shows everything again; a map is walked over with the arrows.
cat > "$work/probe" <<'P'
<script>
const said = [];
const plots = [...timePlots], spans = () => new Set(plots.map((p) => p.scales.x.min.toFixed(6) + " " + p.scales.x.max.toFixed(6)));
const key = (where, k) => where.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
const later = (f) => new Promise((done) => setTimeout(() => { f(); done(); }, 200));
(async () => {
  const one = plots[0].root.closest(".plot"), wide = plots[0].scales.x.max - plots[0].scales.x.min;
  key(one, "+");
  await later(() => said.push("key " + (spans().size === 1 && plots[1].scales.x.max - plots[1].scales.x.min < wide)));
  plots[1].setSelect({ left: 40, width: 60, top: 0, height: 100 });
  plots[1].setScale("x", { min: plots[1].posToVal(40, "x"), max: plots[1].posToVal(100, "x") });
  await later(() => said.push("brush " + (spans().size === 1)));
  key(one, "0");
  await later(() => said.push("whole " + (plots[0].scales.x.max - plots[0].scales.x.min === wide)));
  const map = document.querySelector("canvas.map");
  key(map, "ArrowRight"); key(map, "ArrowRight");
  said.push("map " + /busy/.test(map.nextElementSibling.textContent));
  document.documentElement.dataset.said = said.join(", ");
})();
</script>
P
sed "/<\/body>/r $work/probe" "$work/page.html" > "$work/probed.html"
chromium --virtual-time-budget=9000 --dump-dom "file://$work/probed.html" > "$work/dom" 2> "$work/err" || wrong "the browser failed"
said=$(grep -o 'data-said="[^"]*"' "$work/dom" | head -n 1 || true)
[[ $said == 'data-said="key true, brush true, whole true, map true"' ]] || wrong "zoom and walk: ${said:-nothing} $(grep CONSOLE "$work/err" || true)"
# On paper, which is narrower than the screen that the plots were drawn for, no plot is cut off. The rules for paper are made those of the screen here.
cat > "$work/paper" <<'P'
<script>
setTimeout(() => {
  document.body.style.width = "640px";
  const figures = [...document.querySelectorAll("figure")].filter((f) => f.querySelector("canvas"));
  const cut = figures.filter((f) => [...f.querySelectorAll("canvas")].some((c) => c.getBoundingClientRect().right > f.getBoundingClientRect().right + 1));
  document.documentElement.dataset.paper = figures.length + " figures, " + cut.length + " cut off";
}, 1500);
</script>
P
sed -e "/<\/body>/r $work/paper" -e 's/@media print/@media screen/; s/new ResizeObserver(/new (class { observe() {} })(/' "$work/page.html" > "$work/paper.html"
chromium --virtual-time-budget=9000 --window-size=1280,900 --dump-dom "file://$work/paper.html" > "$work/dom" 2> "$work/err" || wrong "the browser failed"
paper=$(grep -o 'data-paper="[^"]*"' "$work/dom" | head -n 1 || true)
[[ $paper =~ ^data-paper=\"[1-9][0-9]*\ figures,\ 0\ cut\ off\"$ ]] || wrong "on paper: ${paper:-nothing}"
chromium --virtual-time-budget=8000 --no-pdf-header-footer --print-to-pdf="$work/page.pdf" "file://$work/page.html" 2> /dev/null > /dev/null || wrong "the browser failed"
[[ $(head -c 5 "$work/page.pdf") == %PDF- ]] || wrong "the page does not print"
if [[ -n ${SCREENSHOTS-} ]]; then
    mkdir -p "$SCREENSHOTS"
    cp "$work/page.pdf" "$SCREENSHOTS/"
    for theme in light dark; do
        sed "s/<html lang=\"en\">/<html lang=\"en\" data-theme=\"$theme\">/" "$work/page.html" > "$work/$theme.html"
        chromium --virtual-time-budget=8000 --window-size=1280,5200 --screenshot="$SCREENSHOTS/$theme.png" "file://$work/$theme.html" 2> /dev/null || wrong "screenshot $theme"
    done
fi
[[ $failures -eq 0 ]] || exit 1
echo "ok: report_browser ($ready figures)"
