#!/usr/bin/env bash
# Goal: the page of `bench --protocol --html` says what --json says, of each protocol: every value of every round and cell is drawn or in a table, once
# each, and no other; the verdict is the object's. Method: a tiny drive; a judge in Python that reads the page as a browser would.
set -euo pipefail
: "${FLASHLAB:?path of the flashlab binary}"
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/flashlab-protocol.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat > "$work/judge.py" << 'JUDGE'
import json, re, sys
import xml.etree.ElementTree as tree
from html.parser import HTMLParser

page, result = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
wrong = []
check = lambda holds, what: holds or wrong.append(what)
svg = '{http://www.w3.org/2000/svg}'
figures = [[t.text for t in tree.fromstring(s).iter(svg + 'title')] for s in re.findall(r'<svg.*?</svg>', page, re.S)]
numbers = lambda titles: sorted(t.split(': ')[-1] for t in titles)
point = lambda x, y: '%g, %s' % (x, '%.6g' % y)
def drawn(at, points):
    check(numbers(figures[at]) == sorted(point(x, y) for x, y in points), f'plot {at + 1}: {numbers(figures[at])[:5]} instead of {points[:5]}')

class Cells(HTMLParser):
    tables, open_cell = [], False
    def handle_starttag(self, tag, attributes):
        if tag == 'table': self.tables.append([])
        if tag == 'tr': self.tables[-1].append([])
        self.open_cell = tag in ('td', 'th')
    def handle_data(self, data):
        if self.open_cell: self.tables[-1][-1].append(data)
    def handle_endtag(self, tag): self.open_cell = False
cells = Cells()
cells.feed(page)
digits = lambda v: '%.0f' % v if abs(v) >= 1000 else '%.4g' % v
rows = lambda objects: [[digits(v) for v in o.values()] for o in objects]

steady, rounds, name = result['steady'], result['by_round'], result['protocol']
key = 'mean_us' if name == 'snia-pts-latency' else 'iops'
check(len(rounds) == result['rounds'] == len(result['tracked']), 'rounds')
window = list(range(steady['first_round'], steady['last_round'] + 1))
in_window = [(r, result['tracked'][r - 1]) for r in window]
by_size = lambda k: [(c['block_bytes'], c[k]) for c in result['cells']]
if name in ('snia-pts-iops', 'snia-pts-latency'):
    writes = [i for i, c in enumerate(result['cells']) if c['read_percent'] == 0]
    drawn(0, [(r + 1, rounds[r][key][i]) for r in range(len(rounds)) for i in writes])
    drawn(1, in_window)
    for i, k in enumerate(['iops'] if key == 'iops' else ['mean_us', 'five_nines_us', 'max_us']): drawn(2 + i, by_size(k))
else:
    drawn(0, in_window)
    for i, (x, y) in enumerate([('drive_fills', 'iops'), ('seconds', 'iops'), ('drive_fills', 'waf'), ('drive_fills', 'mean_us')]):
        drawn(1 + i, [(r[x], r[y][0]) for r in rounds])
if name == 'ssdiq': drawn(5, [(b['requests_a_second'], v) for b in result['beside'] for k, v in b.items() if k != 'requests_a_second' and v > 0])
check(len(figures) == {'snia-pts-iops': 3, 'snia-pts-latency': 5, 'snia-pts-wsat': 5, 'ssdiq': 6}[name], f'{len(figures)} plots')
if name == 'snia-pts-iops':
    check(sorted(v for row in cells.tables[0][1:] for v in row[1:]) == sorted('%.0f' % c['iops'] for c in result['cells']), 'table of cells')
else:
    check(cells.tables[0][1:] == rows(result['cells']), 'table of cells')
if name == 'ssdiq': check(cells.tables[1][1:] == rows(result['beside']), 'table beside')
check(cells.tables[-1][1:] == [[str(i + 1), digits(r['seconds']), digits(r['drive_fills']), digits(t)] for i, (r, t) in enumerate(zip(rounds, result['tracked']))], 'table of rounds')
why = ': ' + steady['why_not'] if steady['why_not'] else ''
check(steady['reached'] == (not why), why)
verdict = re.search(r"<b class='(yes|no)'>(.*?)\.</b>", page).groups()
check(verdict == (('yes', 'Steady') if steady['reached'] else ('no', 'NOT steady'))[:1] + (f"{'Steady' if steady['reached'] else 'NOT steady'} after {result['rounds']} rounds{why}",), verdict)
for said in (f"{steady['excursion'] * 100:.1f} % of the mean", f"{steady['slope'] * 100:.1f} %, where", f"Seed {result['seed']}.", result['preset'], result['config_hash']):
    check(said in page, said)
check(not re.search(r'<script|src=|url\(|@import', page), 'something is fetched')
sys.exit('\n'.join(map(str, wrong)) or 0)
JUDGE
for protocol in snia-pts-iops snia-pts-latency snia-pts-wsat ssdiq; do
    "$FLASHLAB" bench --protocol $protocol --preset tiny --runtime 1ms --seed 7 --html "$work/page.html" --json > "$work/json" || { echo "WRONG: $protocol"; exit 1; }
    python3 "$work/judge.py" "$work/page.html" "$work/json" || { echo "WRONG: the page of $protocol"; exit 1; }
    for change in 's/"tracked":\[[0-9]/&1/' 's/"\(iops\|mean_us\)":[0-9]/&1/' 's/"reached":true/"reached":false/; t; s/"reached":false/"reached":true/'; do # the judge judges
        sed "$change" "$work/json" > "$work/other"
        cmp -s "$work/json" "$work/other" && { echo "WRONG: $protocol: nothing was changed by $change"; exit 1; }
        if python3 "$work/judge.py" "$work/page.html" "$work/other" 2> /dev/null; then echo "WRONG: the judge of $protocol misses $change"; exit 1; fi
    done
done
# Without --json the tables are printed beside the page, and the same seed gives the same page.
"$FLASHLAB" bench --protocol ssdiq --preset tiny --runtime 1ms --seed 7 --html "$work/again.html" > "$work/text"
grep -q '^ssdiq on .*after [0-9]* rounds' "$work/text" || { echo "WRONG: no tables beside the page"; exit 1; }
cmp "$work/page.html" "$work/again.html" || { echo "WRONG: another page for the same seed"; exit 1; }
