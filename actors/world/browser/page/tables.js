// A table as rows: its cells under the names of their columns, as people read it. Nothing here knows what
// a column means; what is not shown is not read.

const TABLES = 'table:not([role]),[role="table"],[role="grid"],[role="treegrid"]';
const ARIA_CELLS = '[role="cell"],[role="gridcell"],[role="columnheader"],[role="rowheader"]';
const UNCHOSEN = "script,style,template,noscript,textarea,select";
// What fits into one event beside everything else; whoever needs more turns the page's own pages.
const MAX_ROWS = 1000;
const MAX_HEADS = 10;
const MAX_COLUMNS = 60;
const MAX_CELL = 500;
const MAX_TABLE = 100_000;
const MAX_COUNT = 1_000_000_000;

// Null for what is no table: a box, a table that only lays out the page. `say` tells what a cell says.
function tableOf(el, say = cellText) {
  if (!["table", "grid", "treegrid"].includes(roleOf(el))) return null;
  const read = { cut: false, size: 0, say };
  const native = "rows" in el;
  const shown = native ? nativeRows(el) : ariaRows(el);
  // A page may have any number of rows: no more of them are looked into than can be told.
  const rows = shown.slice(0, MAX_HEADS + MAX_ROWS).map(native ? nativeRow : ariaRow);
  const headers = headerRows(rows);
  const grid = laidOut(rows.slice(0, headers + MAX_ROWS), read);
  const width = Math.max(0, ...grid.map((row) => row.length));
  const columns = columnNames(grid.slice(0, headers), width);
  const told = toldRows(grid.slice(headers), width, read);
  const said = Number.parseInt(attribute(el, "aria-rowcount"), 10);
  const all = Math.max(shown.length - headers, Math.min(said, MAX_COUNT) - headers || 0);
  return { columns, rows: told, caption: captionOf(el), left_off: all - told.length, cut: read.cut };
}

// ---- rows and cells -------------------------------------------------------------------------------

// Its own rows, in the order of its parts: head, bodies, foot. A table in a cell keeps its rows to itself.
const nativeRows = (table) => [...table.rows].filter((row) => row.cells.length && isShown(row));

function nativeRow(row) {
  return {
    head: parentIs(row, "thead"),
    part: parentOf(row),
    cells: [...row.cells].filter(isShown).map((cell) => ({
      el: cell,
      head: tagOf(cell) === "th" || attribute(cell, "role") === "columnheader",
      across: cell.colSpan,
      down: cell.rowSpan, // 0: to the end of its part
    })),
  };
}

const ariaRows = (grid) => [...findAll(grid, '[role="row"]')].filter(
  (row) => closestAbove(row, TABLES) === grid && findIn(row, ARIA_CELLS) && isShown(row));

function ariaRow(row) {
  const own = (cell) => closestAbove(cell, '[role="row"]') === row && isShown(cell);
  return {
    head: false,
    part: null,
    cells: [...findAll(row, ARIA_CELLS)].filter(own).map((cell) => ({
      el: cell,
      head: attribute(cell, "role") === "columnheader",
      across: spanOf(cell, "aria-colspan"),
      down: spanOf(cell, "aria-rowspan"),
    })),
  };
}

const spanOf = (cell, name) => Math.max(1, Number.parseInt(attribute(cell, name), 10) || 1);

// How many rows at the top name the columns: those of the head, else those of headings alone. A row of
// headings with nothing below it is a row.
function headerRows(rows) {
  const isHead = (row) => row.head || (row.cells.some((cell) => cell.head) && row.cells.every((cell) => cell.head || !textOf(cell.el)));
  const hasHead = rows.some((row) => row.head);
  const first = rows.findIndex((row) => !(hasHead ? row.head : isHead(row)));
  return Math.min(first < 0 ? (hasHead ? rows.length : 0) : first, MAX_HEADS);
}

// Every cell in its place. One that reaches down holds in each of its rows; one that reaches across is in
// the first of its columns, and as a heading in all of them.
function laidOut(rows, read) {
  const grid = rows.map(() => []);
  rows.forEach((row, at) => {
    let column = 0;
    for (const cell of row.cells) {
      while (grid[at][column] !== undefined) column++;
      if (column >= MAX_COLUMNS) {
        read.cut = true;
        break;
      }
      placeCell(grid, rows, cell, at, column, read);
      column += Math.max(1, cell.across);
    }
  });
  return grid;
}

function placeCell(grid, rows, cell, at, column, read) {
  const said = read.say(cell.el);
  if (said.length > MAX_CELL) read.cut = true;
  const text = clip(said, MAX_CELL);
  const right = Math.min(column + Math.max(1, cell.across), MAX_COLUMNS);
  const below = cell.down === 0 ? rows.length : at + cell.down;
  for (let y = at; y < Math.min(below, rows.length) && rows[y].part === rows[at].part; y++) {
    for (let x = column; x < right; x++) grid[y][x] ??= { text: x === column || cell.head ? text : "", head: cell.head };
  }
}

// What it says; else what the one field in it holds, or what its pictures show. A list says all that could be
// chosen, which is not what is.
function cellText(el) {
  const fields = findAll(el, "input,select,textarea");
  const words = findIn(el, "select") ? textOf(el, UNCHOSEN) : squeeze(property(el, "innerText"));
  return words || (fields.length === 1 ? fieldText(fields[0]) : "") || pictured(el);
}

function fieldText(field) {
  if (!isShown(field)) return "";
  if (["checkbox", "radio"].includes(field.type)) return field.checked ? "checked" : "";
  return squeeze(valueOf(field) || "");
}

const pictured = (el) => squeeze([...findAll(el, "img[alt]")].filter(isShown).map((img) => attribute(img, "alt")).join(" "));

// ---- what is told ---------------------------------------------------------------------------------

// The headings over a column, from the top, each once: "2026 / March".
function columnNames(heads, width) {
  const taken = new Set();
  return Array.from({ length: width }, (_, at) => {
    const over = heads.map((row) => row[at]?.text || "").filter((text, y, all) => text && text !== all[y - 1]);
    const name = plainOf(clip(over.join(" / "), MAX_NAME)) || `column_${at + 1}`;
    let unique = name;
    for (let n = 2; taken.has(unique); n++) unique = `${name}_${n}`;
    taken.add(unique);
    return unique;
  });
}

function toldRows(grid, width, read) {
  const told = [];
  for (const row of grid) {
    const cells = Array.from({ length: width }, (_, at) => row[at]?.text || "");
    read.size += cells.reduce((sum, text) => sum + text.length + 4, 0);
    if (read.size > MAX_TABLE) break;
    told.push(cells);
  }
  return told;
}

function captionOf(el) {
  const caption = "caption" in el ? el.caption : null;
  return clip(caption && isShown(caption) ? squeeze(property(caption, "innerText")) : nameOf(el, roleOf(el)), MAX_NAME);
}
