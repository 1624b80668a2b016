// The page: what the runs were, side by side, then each run's own maps and tables.
const report = JSON.parse(document.getElementById("data").textContent);
const runs = report.runs;
const keyText = { requests: "requests", host_read_bytes: "read by the host, bytes", host_write_bytes: "written by the host, bytes", waf: "write amplification", iops: "requests a second",
  read_mb_s: "read, MB/s", write_mb_s: "written, MB/s", sim_seconds: "simulated time, s", nand_read_pages: "flash pages read", nand_program_pages: "flash pages programmed",
  pram_words_written: "words written to the PRAM", free_blocks: "free blocks at the end", switch_merges: "merges: switch", partial_merges: "merges: partial", full_merges: "merges: full",
  nand_erase_blocks: "blocks erased", gc_jobs: "collections, or log blocks reclaimed", gc_page_copies: "pages copied by collections and merges", read_pages: "pages read by the host",
  unmapped_reads: "of these: nothing was written there", tbw_bytes: "lifetime: bytes that the host may write", failed_requests: "requests that failed, beside the others" };
const causeText = { user: "of the host", gc: "collections", merge: "merges", map: "maps", other: "other" };

const section = (id, title, about, ...parts) => {
  parts = parts.flat().filter((p) => p);
  if (parts.length === 0) return null;
  return el("section", { id }, el("h2", {}, title), about ? el("p", { class: "soft" }, about) : null, ...parts);
};
const grid = (...figures) => { figures = figures.flat().filter((f) => f); return figures.length ? el("div", { class: "grid" }, ...figures) : null; };
const nameOf = (run) => run.name;
const pluralOf = (op) => op === "flush" ? "flushes" : op + "s";

const overviewRows = () => {
  const keys = [];
  for (const run of runs) for (const key of Object.keys(run.overview)) if (!keys.includes(key)) keys.push(key);
  const rows = [["translation layer", ...runs.map((r) => r.info.ftl || "–")], ["device", ...runs.map((r) => r.info.preset || "–")], ["what ran", ...runs.map((r) => r.info.load || r.info.kind || "–")]];
  for (const key of keys) rows.push([key, ...runs.map((r) => r.overview[key] ?? null)]);
  return rows;
};
const overview = () => {
  const rows = overviewRows();
  const compared = runs.length > 1;
  const columns = ["", ...runs.map(nameOf), ...(compared ? runs.slice(1).map((r) => nameOf(r) + " ÷ " + nameOf(runs[0])) : [])];
  const full = rows.map((row) => {
    const label = keyText[row[0]] ?? row[0].replace(/^latency_us\.(\w+)\.(p\d\d)?(\w+)$/, (_, op, p, rest) => `${pluralOf(op)}, ${p ? p + (rest === "0" ? "" : "." + rest) : rest}, µs`);
    const ratios = compared ? row.slice(2).map((v) => typeof v === "number" && typeof row[1] === "number" && row[1] !== 0 ? +(v / row[1]).toPrecision(4) : null) : [];
    return [label, ...row.slice(1), ...ratios];
  });
  document.getElementById("all-csv").href = "data:text/csv;charset=utf-8," + encodeURIComponent(csvOf(["key", ...runs.map(nameOf)], rows));
  const missing = runs.filter((r) => r.info.rows_dropped > 0).map((r) => `${nameOf(r)}: ${shown(r.info.rows_dropped)} of its oldest rows were deleted (--log-keep); latencies begin later.`);
  missing.push(...runs.filter((r) => r.partly).map((r) => r.partly === "requests" ? `${nameOf(r)}: requests were logged for a part of the run only; latencies, and what slow requests waited for, are of that part (view v_recorded).` : `${nameOf(r)}: what the chips did was logged for a part of the run only; the map of the planes is empty elsewhere (view v_recorded).`));
  return section("overview", "Overview", compared ? "Side by side; ratios are to the first run." : "Totals of the run.", tableOf(columns, full, "Overview"), ...missing.map((m) => el("p", {}, m)));
};

// What the rest comes to: a sentence or three a run, and the figures that a reader looks for first.
const conclusion = () => section("conclusion", "In short", "", ...runs.map((run, i) => {
  const of = run.overview, op = ["write", "read"].find((name) => typeof of[`latency_us.${name}.p50`] === "number");
  const ops = [op, of["latency_us.flush.p99"] > of[`latency_us.${op}.p99`] ? "flush" : null].filter((name) => name); // a program that syncs waits for flushes
  const besideFirst = (ratio) => Math.abs(ratio - 1) < 0.05 ? `, about as ${nameOf(runs[0])}` : `, ${+ratio.toPrecision(2)} × that of ${nameOf(runs[0])}`;
  const beside = (key) => i > 0 && runs[0].overview[key] > 0 && typeof of[key] === "number" ? besideFirst(of[key] / runs[0].overview[key]) : "";
  const wait = run.blame?.rows[0], column = (name) => wait[run.blame.columns.indexOf(name)];
  const failed = of.failed_requests > 0 ? `${shown(of.failed_requests)} of ${shown(of.failed_requests + of.requests)} requests of ${nameOf(run)} failed: the host got an error.` : null;
  const slowest = of.requests >= 1000 ? `The slowest 0.1 % of the requests of ${nameOf(run)}` : `The slowest request of ${nameOf(run)}`;
  const said = [failed, typeof of.waf === "number" ? `${nameOf(run)} programs ${+of.waf.toPrecision(3)} flash pages for each page that the host writes${beside("waf")}.` : null,
    ...ops.map((op) => typeof of[`latency_us.${op}.p99`] === "number" ? `One ${op} of a hundred takes ${micros(of[`latency_us.${op}.p99`])} or more${beside(`latency_us.${op}.p99`)}.` : null),
    wait && column("what") !== "not recorded" ? `${slowest} spent ${(100 * column("share")).toFixed(0)} % of their time so: ${column("meaning") || column("what")}.` : null, ...(run.cautions ?? [])].filter((s) => s);
  const big = (value, text) => el("div", {}, el("b", {}, value), text);
  const figures = [typeof of.waf === "number" ? big(+of.waf.toPrecision(3), "write amplification") : null,
    ...ops.flatMap((op) => [["p50", "p50"], ["p99", "p99"], ["p999", "p99.9"]].map(([key, text]) => typeof of[`latency_us.${op}.${key}`] === "number"
      ? big(micros(of[`latency_us.${op}.${key}`]), `${pluralOf(op)}, ${text}`) : null)),
    typeof of.tbw_bytes === "number" && !run.is_short ? big(of.tbw_bytes < 1e12 ? shown(of.tbw_bytes / 1e9) + " GB" : shown(of.tbw_bytes / 1e12) + " TB", "may be written in the flash's life") : null].filter((f) => f);
  return said.length ? el("div", {}, el("p", {}, said.join(" ")), el("div", { class: "big" }, ...figures)) : null;
}));

const latency = () => {
  const of = runs.flatMap((run, i) => Object.entries(run.latency?.series ?? {}).map(([op, s], j) => ({
    run: i, op, name: (runs.length > 1 ? nameOf(run) + ": " : "") + op, colour: colourOf(runs.length > 1 ? i : j), dash: runs.length > 1 && op !== "write" ? [6, 4] : undefined,
    x: run.latency.percentiles.map((p) => -Math.log10(1 - p / 100)), y: s.us })));
  const percent = (x) => +(100 * (1 - 10 ** -x)).toFixed(2) + " %";
  const rows = runs.flatMap((run) => Object.entries(run.latency?.series ?? {}).map(([op, s]) => {
    const at = (p) => { const i = run.latency.percentiles.indexOf(p); return i < 0 ? null : s.us[i]; };
    return [nameOf(run), op, s.requests, s.mean_us, at(50), at(95), at(99), at(99.9), at(99.99), s.max_us];
  }));
  const columns = ["run", "request", "count", "mean µs", "p50", "p95", "p99", "p99.9", "p99.99", "max"];
  const plot = { title: "Latency distribution", caption: "Latency at each percentile, up to 99.99 %.", x: "share of requests", y: "latency", log: true, series: of, xValue: percent, yValue: micros,
    xSplits: () => [0, 1, 2, 3, 4], range: () => [0, 4] };
  const pairs = of.filter((s) => s.run > 0).map((s) => [of.find((first) => first.run === 0 && first.op === s.op), s]).filter(([first]) => first);
  return section("latency", "Latency", "How many requests were answered within a time: at 99 %, one of a hundred took longer. Both axes are logarithmic.",
    grid(linesOf(plot), pairs.length ? besideFirst(nameOf(runs[0]), pairs, plot, { always: true }) : null),
    rows.length ? el("p", {}, csvLink("latency percentiles", columns, () => rows)) : null, rows.length ? tableOf(columns, rows, "Latency percentiles") : null);
};

const overTime = (key, field) => runs.map((run, i) => run[key] && { name: nameOf(run), colour: colourOf(i), x: run[key].t_s, y: run[key][field] ?? [], wide: run[key].bin_s }).filter((s) => s);
const time = (title, caption, y, series, more = {}) => linesOf({ title, caption, x: "simulated time, s", y, series, isTime: true, ...more });
// The same of each run, and what tells the runs apart where that does not.
const beside = (key, field, title, caption, y, { isSum = false, ...more } = {}) => {
  const series = overTime(key, field).filter((s) => s.y.some((v) => v !== 0)), plot = { title, caption, x: "simulated time, s", y, series, isTime: true, ...more };
  return [linesOf(plot), series.length > 1 ? besideFirst(series[0].name, series.slice(1).map((s) => [series[0], s]), plot, { isSum }) : null];
};
const several = (run, key, fields) => !run[key] ? [] : Object.entries(fields).map(([field, name], i) => ({ name, colour: colourOf(i), x: run[key].t_s, y: run[key][field] ?? [] }));
const named = (run, text) => runs.length > 1 ? `${text}: ${nameOf(run)}` : text;

const throughput = () => section("throughput", "Throughput", "Drag over a plot to look closer; the other plots of time follow.", grid(
  beside("throughput", "write_mb_s", "Written", "Bytes that the host wrote, a second.", "MB/s", { isSum: true }),
  beside("throughput", "read_mb_s", "Read", "Bytes that the host read, a second.", "MB/s", { isSum: true }),
  beside("throughput", "iops", "Requests", "Requests of the host, a second.", "1/s", { isSum: true }),
  beside("throughput", "longest_us", "Slowest request", "The longest latency among the requests that came at that time.", "latency", { log: true, yValue: micros })));
const amplification = () => section("waf", "Write amplification", "Flash pages programmed for each page that the host wrote, between two samples. A request counts when it was answered.", grid(
  runs.length > 1 ? beside("waf", "waf", "Write amplification", "All causes together.", "×") : null,
  ...runs.map((run) => time(named(run, "Write amplification by cause"), "The lines add up to the whole.", "×", several(run, "waf", causeText))),
  time("Free blocks", "Erased, or reclaimable at once.", "blocks", overTime("free", "free_blocks"))));
const caches = () => section("cache", "Caches and partition", "Hits between two samples, and how the drive's DRAM was divided.", grid(
  ...runs.map((run) => time(named(run, "Hit ratios"), "Share of look-ups that DRAM answered.", "%", several(run, "cache", { buffer_reads: "buffer, reads", buffer_writes: "buffer, writes", map_reads: "map, reads", map_writes: "map, writes" }))),
  ...runs.map((run) => time(named(run, "Partition of the DRAM"), "What maps and write buffer have.", "MiB", several(run, "partition", { map_mib: "maps", buffer_mib: "write buffer" }))),
  ...runs.map((run) => time(named(run, "Benefits"), "What one byte more would have saved: the richer side grows.", "ns a byte", several(run, "partition", { map_benefit: "maps", buffer_benefit: "write buffer" })))));
const heatMaps = (key, title, caption) => {
  const of = runs.filter((r) => r[key]?.permille.some((row) => row.some((v) => v > 0))), scale = heatScale(of.map((r) => r[key]));
  return of.map((run) => heatMap(named(run, title), caption, run[key], scale));
};
const utilisation = () => section("utilisation", "Utilisation", "When the buses and the chips were busy. A few bright rows among dark ones: the load does not spread.",
  ...heatMaps("heat", "Channels", "Share of time that each channel's bus moved commands or data."),
  ...heatMaps("chips", "Planes", "Share of time that the cells of each plane sensed, programmed or erased."));
const blocks = () => section("blocks", "Blocks and wear", "What the blocks held at the end, and how often they had been erased.",
  ...runs.filter((r) => r.blocks?.rows.length).map((run) => blockMap(named(run, "Block map"), "A square a block, filled from below: valid pages, invalid ones, free ones.", run.blocks, run.pages_per_block)),
  grid(...runs.filter((r) => r.wear?.rows.length).map((run) => barsOf(named(run, "Wear"), "Blocks by erase count.", ["erases", "blocks"], run.wear.rows))));
const listed = (key, title) => runs.filter((r) => r[key]?.rows.length).flatMap((run) => [el("h3", {}, named(run, title) + " ", csvLink(named(run, title), run[key].columns, () => run[key].rows)), tableOf(run[key].columns, run[key].rows, named(run, title))]);
const collections = () => section("collections", "Collections and merges", "Why the flash was written, and what the collections cost.", ...listed("causes", "By cause"), ...listed("collections", "Jobs"));

// A part has the same colour in every run.
const blameParts = [...new Set(runs.flatMap((run) => (run.blame?.rows ?? []).map((r) => r[run.blame.columns.indexOf("what")])))];
const blameBar = (run) => {
  const what = run.blame.columns.indexOf("what"), share = run.blame.columns.indexOf("share");
  const bar = el("div", { class: "bar", role: "img", "aria-label": run.blame.rows.map((r) => `${r[what]} ${(100 * r[share]).toFixed(1)} %`).join(", ") });
  run.blame.rows.forEach((r) => { const part = el("span", { title: `${r[what]}: ${(100 * r[share]).toFixed(1)} %` }); part.style.background = fillOf(blameParts.indexOf(r[what])); part.style.width = 100 * r[share] + "%"; bar.append(part); });
  const rows = run.blame.rows.map((r) => r.map((v, c) => c === what ? el("span", {}, swatch(fillOf(blameParts.indexOf(v))), v) : c === share ? (100 * v).toFixed(2) + " %" : v));
  return [el("h3", {}, named(run, "What the slowest 0.1 % waited for") + " ", csvLink(named(run, "blame"), run.blame.columns, () => run.blame.rows)), bar, tableOf(run.blame.columns, rows, "Blame")];
};
const blame = () => section("blame", "Why the slow ones were slow", "The parts of the latency of the slowest requests; they add up to it exactly. Without the log's level all, only the host link and the submission queue are known.",
  ...runs.filter((r) => r.blame?.rows.length).flatMap(blameBar), ...listed("queues", "By submission queue"), ...listed("slowest", "The slowest requests"));
const calls = () => section("calls", "Calls of applications", "", ...listed("calls", "Latency by call"), ...listed("power", "Power"));
const configuration = () => section("configuration", "Configuration", "", ...runs.filter((r) => r.config_toml).map((run) => el("details", {}, el("summary", {}, nameOf(run)), el("pre", {}, run.config_toml))));

const render = () => {
  timePlots.clear(); lastDrawn.length = 0;
  const sections = [conclusion, blame, overview, latency, throughput, amplification, caches, utilisation, blocks, collections, calls, configuration].map((f) => f()).filter((s) => s);
  document.getElementById("main").replaceChildren(...sections);
  document.getElementById("contents").replaceChildren(...sections.map((s) => el("a", { href: "#" + s.id }, s.querySelector("h2").textContent)));
  for (const draw of lastDrawn) draw();
  document.documentElement.dataset.ready = document.querySelectorAll("figure").length;
};
document.getElementById("summary").replaceChildren(...runs.flatMap((run, i) => [el("span", {}, swatch(colourOf(i)), `${nameOf(run)} (${[run.info.ftl, run.info.preset, "level " + run.level].filter((t) => t).join(", ")})  `)]), el("span", { class: "soft" }, "FlashLab " + report.flashlab));
const root = document.documentElement;
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const setTheme = (theme) => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; render(); };
document.getElementById("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
document.getElementById("whole").addEventListener("click", () => zoomAll());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
let before;
addEventListener("beforeprint", () => { before = root.dataset.theme; setTheme("light"); });
addEventListener("afterprint", () => setTheme(before));
render();
if (location.hash === "#numbers") for (const numbers of document.querySelectorAll("details")) numbers.open = true;
