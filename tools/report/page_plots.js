"use strict";
// Small parts of the page: elements, numbers, tables, CSV, and lines drawn by uPlot.
const el = (name, attributes = {}, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(key, value);
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
};
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colourOf = (i) => css("--c" + (i % 8));
// More parts than colours: the others are hatched.
const fillOf = (i) => i < 8 ? colourOf(i) : `repeating-linear-gradient(45deg,${colourOf(i)} 0 3px,transparent 3px 6px)`;
const swatch = (colour) => { const s = el("span", { class: "swatch", "aria-hidden": "true" }); s.style.background = colour; return s; };
// Up to six digits: enough to compare, few enough to read.
const shown = (v) => {
  if (v === null || v === undefined || v === "") return "–";
  if (typeof v !== "number") return String(v);
  if (Number.isInteger(v)) return v.toLocaleString("en-US");
  const a = Math.abs(v);
  return a >= 1000 ? v.toLocaleString("en-US", { maximumFractionDigits: 0 }) : a >= 0.001 || v === 0 ? String(+v.toPrecision(4)) : v.toExponential(2);
};
const seconds = (s) => s === null || s === undefined ? "–" : s < 1e-3 ? shown(s * 1e6) + " µs" : s < 1 ? shown(s * 1e3) + " ms" : shown(s) + " s";
const micros = (us) => us === null || us === undefined ? "–" : us < 1000 ? shown(us) + " µs" : us < 1e6 ? shown(us / 1e3) + " ms" : shown(us / 1e6) + " s";

const csvOf = (columns, rows) => [columns, ...rows].map((row) => row.map((v) => {
  const t = v === null || v === undefined ? "" : String(v);
  return /[",\n\r]/.test(t) ? '"' + t.replace(/"/g, '""') + '"' : t;
}).join(",")).join("\r\n") + "\r\n";
const csvLink = (name, columns, rows) => {
  const a = el("a", { download: name.replace(/[^a-z0-9]+/gi, "-").toLowerCase() + ".csv", href: "data:," }, "CSV");
  a.setAttribute("aria-label", name + " as CSV");
  const fill = () => { a.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csvOf(columns, rows())); };
  for (const event of ["pointerdown", "focus", "click"]) a.addEventListener(event, fill);
  return a;
};
const tableOf = (columns, rows, caption) => {
  const text = columns.map((_, c) => rows.length > 0 && rows.every((r) => typeof r[c] === "string"));
  const head = el("tr", {}, ...columns.map((c, i) => el("th", { scope: "col", class: text[i] ? "text" : undefined }, c)));
  const body = rows.map((r) => el("tr", {}, ...r.map((v, i) => v instanceof Node ? el("td", {}, v) : el("td", { class: text[i] && typeof v === "string" ? "text" : undefined }, shown(v)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", { hidden: "" }, caption), el("thead", {}, head), el("tbody", {}, ...body)));
};
// A plot with its title, its sentence, its numbers as a table and as CSV.
const figureOf = (title, caption, drawn, columns, rows) => {
  const details = el("details", {}, el("summary", {}, "Numbers"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length !== 1) return;
    const all = rows(), most = 1000;
    details.append(tableOf(columns, all.slice(0, most), title), ...(all.length > most ? [el("p", {}, `The first ${shown(most)} of ${shown(all.length)} rows: the CSV has all.`)] : []));
  });
  return el("figure", { "data-plot": title, "data-points": rows().length }, el("h3", {}, title), el("figcaption", {}, caption, " ", csvLink(title, columns, rows)), drawn, details);
};

const timePlots = new Set();
const zoomAll = (from, to, but) => { for (const p of timePlots) if (p !== but) p.setScale("x", { min: from ?? p.whole[0], max: to ?? p.whole[1] }); };
const lastDrawn = [];
// Of rates in stretches of time, what they come to up to the end of each. wide: of equal stretches, whose middle x is; else x is where each ends.
const summed = (of) => {
  let sum = 0;
  return { ...of, x: of.x.map((x) => x + (of.wide ?? 0) / 2), y: of.y.map((v, i) => (sum += (v ?? 0) * (of.wide ?? of.x[i] - (of.x[i - 1] ?? 0)))) };
};
// A run's values divided by the first run's at the same x, where that one's points are joined by straight lines. isSum: of all up to there.
const ratioTo = (first, s, isSum) => {
  if (isSum) [first, s] = [summed(first), summed(s)];
  const base = first.y, own = s.y;
  let i = 0;
  return { ...s, y: s.x.map((x, n) => {
    while (i + 2 < first.x.length && first.x[i + 1] < x) ++i;
    const [x0, x1, y0, y1] = [first.x[i], first.x[i + 1], base[i], base[i + 1]];
    if (x1 === undefined || x < x0 || x > x1 || y0 === null || y1 === null || own[n] === null) return null;
    const at = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
    return at > 0 ? own[n] / at : null;
  }) };
};
// Where curves of runs lie on each other: what tells them apart. pairs: [[of the first run, of another], ...]. Null where the curves are apart enough.
const besideFirst = (first, pairs, plot, { isSum = false, always = false } = {}) => {
  const series = pairs.map(([a, b]) => ratioTo(a, b, isSum));
  const off = series.flatMap((s) => s.y.filter((v) => v !== null).map((v) => Math.abs(v - 1))).sort((a, b) => a - b);
  if (off.length === 0 || (!always && off[off.length >> 1] > 0.25)) return null;
  const ends = pairs.map(([a]) => a.x).flat(), ratios = series.flatMap((s) => s.y.filter((v) => v > 0)), isWide = Math.max(...ratios) > 4 * Math.min(...ratios);
  series.unshift({ name: first, colour: pairs[0][0].colour, x: [Math.min(...ends), Math.max(...ends)], y: [1, 1] });
  return linesOf({ ...plot, title: `${plot.title}: against ${first}`, caption: `${isSum ? "All up to then, d" : "D"}ivided by that of ${first}: above 1 is more.`, y: "×", series, log: isWide,
    yRange: (lo, hi) => [lo - 0.05 * (hi - lo || 1), hi + 0.05 * (hi - lo || 1)], yValue: (v) => +v.toPrecision(6) + " ×" });
};
// series: [{name, x: [...], y: [...], colour, dash}]. Runs have x of their own: they are joined. A curve of one point is no curve: it is said.
const linesOf = ({ title, caption, x, y, series, log = false, isTime = false, xValue = shown, yValue = shown, xSplits, range, yRange }) => {
  if (isTime) xValue = seconds;
  series = series.filter((s) => s.x.length > 0 && s.y.some((v) => v !== null));
  if (series.length === 0) return null;
  if (!series.some((s) => s.y.filter((v) => v !== null).length > 1)) {
    const points = series.map((s) => { const i = s.y.findIndex((v) => v !== null); return [s.name, s.x[i], s.y[i]]; });
    return figureOf(title, caption, el("p", {}, `One sample: ${points.map(([name, , v]) => `${name} ${yValue(v)}${yValue === shown ? " " + y : ""}`).join("; ")}.`), ["", x, y], () => points);
  }
  const data = uPlot.join(series.map((s) => [s.x, s.y.map((v) => log && v !== null && v <= 0 ? null : v)]));
  const place = el("div", { class: "plot", tabindex: "0", role: "img", "aria-label": title + ". " + caption });
  const rows = () => data[0].map((at, i) => [at, ...data.slice(1).map((of) => of[i] ?? null)]);
  const figure = figureOf(title, caption, place, [x, ...series.map((s) => s.name)], rows);
  const axis = { stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
  const draw = () => {
    const width = Math.max(300, place.clientWidth);
    const plot = new uPlot({
      width, height: 240, legend: { markers: { dash: (u, i) => u.series[i].dash ? "dashed" : "solid" } }, cursor: { drag: { x: isTime, y: false, setScale: isTime } , focus: { prox: 24 } },
      scales: { x: { time: false, range }, y: log ? { distr: 3 } : { range: (u, lo, hi) => yRange ? yRange(lo, hi) : [Math.min(0, lo ?? 0), hi > 0 ? hi * 1.05 : 1] } },
      axes: [{ ...axis, label: isTime ? "simulated time" : x, labelSize: 18, size: 34, values: (u, v) => v.map(xValue), splits: xSplits }, { ...axis, label: y, labelSize: 18, size: (u, shown) => Math.max(62, 16 + 7 * Math.max(0, ...(shown ?? []).map((v) => v.length))), values: (u, v) => v.map((n) => n === null ? "" : yValue(n)) }],
      series: [{ label: x, value: (u, v) => v === null ? "" : xValue(v) }, ...series.map((s) => ({
        label: s.name, stroke: s.colour, width: 1.6, dash: s.dash, spanGaps: true, points: { show: series.length < 9 && s.x.length < 60, size: 4 }, value: (u, v) => v === null ? "" : yValue(v) }))],
      hooks: { setScale: [(u, key) => { if (isTime && key === "x" && u.isReady && !zoomAll.busy) { zoomAll.busy = true; zoomAll(u.scales.x.min, u.scales.x.max, u); zoomAll.busy = false; } }] },
    }, data, place);
    plot.whole = [data[0][0], data[0][data[0].length - 1]];
    if (isTime) timePlots.add(plot);
    setTimeout(() => { plot.isReady = true; }); // its first scale is its own, and moves no other plot
    place.addEventListener("keydown", (event) => {
      const { min, max } = plot.scales.x, wide = max - min, move = { ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key];
      const set = (from, to) => { event.preventDefault(); plot.setScale("x", { min: from, max: to }); };
      if (move) set(min + move * wide, max + move * wide);
      else if (event.key === "+") set(min + wide / 4, max - wide / 4);
      else if (event.key === "-") set(min - wide / 2, max + wide / 2);
      else if (event.key === "0") set(...plot.whole);
    });
    new ResizeObserver(() => { const w = place.clientWidth; if (w > 100 && Math.abs(w - plot.width) > 2) plot.setSize({ width: w, height: 240 }); }).observe(place);
  };
  lastDrawn.push(draw);
  return figure;
};
