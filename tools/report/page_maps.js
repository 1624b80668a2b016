// Maps of cells on a canvas: utilisation by channel and time, and the blocks of the drive.
const scale = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const heatColour = (share) => {
  const at = Math.min(1, Math.max(0, share)) * (scale.length - 1), i = Math.min(scale.length - 2, Math.floor(at)), f = at - i;
  return `rgb(${scale[i].map((v, c) => Math.round(v + (scale[i + 1][c] - v) * f)).join(",")})`;
};
// A canvas whose cells can be walked over. say(column, row) is the text of a cell, or null where there is none.
const mapOf = (title, columns, rows, cell, drawCell, say) => {
  const wide = columns * cell[0], tall = rows * cell[1], dense = window.devicePixelRatio || 1;
  const canvas = el("canvas", { class: "map", width: Math.round(wide * dense), height: Math.round(tall * dense), tabindex: "0", role: "img", "aria-label": title });
  canvas.style.width = wide + "px"; canvas.style.aspectRatio = wide + "/" + tall;
  const told = el("output", { "aria-live": "polite" });
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  let at = null;
  const paint = (c, r) => drawCell(pen, c, r, c * cell[0], r * cell[1]);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) paint(c, r);
  const go = (c, r) => {
    if (c < 0 || r < 0 || c >= columns || r >= rows || say(c, r) === null) return;
    if (at) { pen.clearRect(at[0] * cell[0], at[1] * cell[1], cell[0], cell[1]); paint(...at); }
    at = [c, r];
    pen.strokeStyle = css("--text"); pen.lineWidth = 1.5;
    pen.strokeRect(c * cell[0] + 0.75, r * cell[1] + 0.75, Math.max(1, cell[0] - 1.5), cell[1] - 1.5);
    told.textContent = say(c, r);
  };
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    at ? go(at[0] + step[0], at[1] + step[1]) : go(0, 0);
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    go(Math.floor((event.clientX - box.left) / box.width * columns), Math.floor((event.clientY - box.top) / box.height * rows));
  });
  return el("div", {}, canvas, told);
};
// From where to where the colours go: the 1st and the 99th percentile of the cells of all runs, so that a few full cells do not leave the rest in the dark.
const heatScale = (heats) => {
  const cells = heats.flatMap((heat) => heat.permille.flat()).sort((a, b) => a - b), at = (p) => cells[Math.round(p * (cells.length - 1))] / 1000;
  return cells.length > 0 && at(0.99) > at(0.01) ? [at(0.01), at(0.99)] : [0, Math.max(0.01, at(0.99) || 0)];
};
const heatMap = (title, caption, heat, [from, to]) => {
  const rows = heat.permille.length, columns = rows === 0 ? 0 : heat.permille[0].length;
  const together = heat.rows_together ?? 1;
  const rowName = (r) => together === 1 ? `${heat.what} ${r}` : `${heat.what}s ${r * together} to ${(r + 1) * together - 1}`;
  const tall = Math.max(5, Math.min(22, Math.floor(300 / rows)));
  const map = mapOf(title, columns, rows, [4.4, tall], (pen, c, r, x, y) => { pen.fillStyle = heatColour((heat.permille[r][c] / 1000 - from) / (to - from)); pen.fillRect(x, y, 4.5, tall - (tall > 8 ? 1 : 0)); },
    (c, r) => `${rowName(r)}, ${seconds(c * heat.bin_s)} to ${seconds((c + 1) * heat.bin_s)}: busy ${(heat.permille[r][c] / 10).toFixed(1)} %`);
  const percent = (share) => +(100 * share).toFixed(1) + " % ";
  const legend = el("p", { class: "soft" }, percent(from));
  for (let i = 0; i <= 10; i++) { const s = swatch(heatColour(i / 10)); s.style.margin = "0"; s.style.borderRadius = "0"; legend.append(s); }
  legend.append(` ${percent(to)}busy: the 1st and the 99th percentile of the cells; one beyond has the colour of that end. One row a ${heat.what}, from 0 to ${seconds(columns * heat.bin_s)}.`);
  map.prepend(legend);
  const numbers = () => heat.permille.flatMap((of, r) => of.map((v, c) => [rowName(r), c * heat.bin_s, v / 1000]));
  return figureOf(title, caption, map, [heat.what, "from_s", "busy"], numbers);
};
const blockMap = (title, caption, blocks, pagesPerBlock) => {
  const of = blocks.rows.map(([block, use, written, valid, erases]) => ({ block, use, written, valid, erases }));
  const pages = Math.max(pagesPerBlock ?? 1, ...of.map((b) => b.written), 1);
  const size = of.length <= 512 ? 18 : of.length <= 2048 ? 12 : 8, columns = Math.min(of.length, Math.floor(1100 / size)), rows = Math.ceil(of.length / columns);
  const colours = { valid: css("--valid"), invalid: css("--invalid"), free: css("--free"), bad: css("--bad") };
  const draw = (pen, c, r, x, y) => {
    const b = of[r * columns + c], inner = size - 1;
    if (!b) return;
    pen.fillStyle = b.use === "bad" ? colours.bad : colours.free;
    pen.fillRect(x, y, inner, inner);
    if (b.use === "bad") return;
    const valid = inner * Math.min(b.valid, b.written || b.valid) / pages, gone = inner * Math.max(0, b.written - b.valid) / pages;
    pen.fillStyle = colours.valid; pen.fillRect(x, y + inner - valid, inner, valid);
    pen.fillStyle = colours.invalid; pen.fillRect(x, y + inner - valid - gone, inner, gone);
  };
  const map = mapOf(title, columns, rows, [size, size], draw, (c, r) => {
    const b = of[r * columns + c];
    return b ? `block ${b.block} (${b.use}): ${b.valid} valid, ${Math.max(0, b.written - b.valid)} invalid, ${Math.max(0, pages - b.written)} free pages, erased ${b.erases} times` : null;
  });
  map.prepend(el("p", { class: "soft" }, ...["valid", "invalid", "free", "bad"].flatMap((k) => [swatch(colours[k]), k + "  "])));
  return figureOf(title, caption, map, blocks.columns, () => blocks.rows);
};
// Bars: one a value of x.
const barsOf = (title, caption, columns, rows) => {
  const most = Math.max(...rows.map((r) => r[1]), 1), narrow = Math.max(3, Math.min(28, Math.floor(620 / rows.length)));
  const map = mapOf(title, rows.length, 1, [narrow, 180], (pen, c, r, x) => { const h = 170 * rows[c][1] / most; pen.fillStyle = css("--c0"); pen.fillRect(x, 180 - h, narrow - 1, h); },
    (c) => `${columns[0]} ${rows[c][0]}: ${shown(rows[c][1])} ${columns[1]}`);
  map.append(el("p", { class: "soft" }, `from ${shown(rows[0][0])} to ${shown(rows[rows.length - 1][0])}; the highest bar is ${shown(most)}`));
  return figureOf(title, caption, map, columns, () => rows);
};
