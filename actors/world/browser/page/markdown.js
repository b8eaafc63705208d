// What the page says as Markdown: what a person sees of it, in the order of the page, what it is about
// before what stands around that. Walked as it is shown, as a look does; fields tell what they tell a look.

// The order in which it is told: what lies over the page, what it is about, anything else, what leads on.
const OVER = 0, MAIN = 1, OTHER = 2, AROUND_IT = 3;
const RANKS = { main: MAIN, article: MAIN, navigation: AROUND_IT, banner: AROUND_IT, contentinfo: AROUND_IT, complementary: AROUND_IT };
const UNTOLD = new Set([...SILENT, "link", "meta", "canvas", "object", "embed", "img", "desc", "defs", "metadata", "symbol"]);
const TABLE_ROLES = new Set(["table", "grid", "treegrid"]);
const TELLS_DATA = "th,thead,caption,[role=columnheader],[role=rowheader]";
const LAYS_OUT = "table,h1,h2,h3,h4,h5,h6,form,ul,ol,dl,p";
const MAX_ADDRESS = 300;
// One page of text is under 2,000 tokens (S3 2.1.1), with room for the names that are put for secrets.
const PAGE_TOKENS = 1900;
const MAX_WORD = 400; // so many signs are less than half a page, whatever they are
const WORDS = new RegExp(`\\S{1,${MAX_WORD}}\\s*|\\s+`, "gu");
const MAX_WHOLE = 100_000; // of all pages in one, as of a table

// `digest` is of the part that is read, a heading with all that is under it; none: the whole page. Page 0
// is all of them in one.
function readPage(digest, page) {
  const refused = digest && refusal(digest);
  if (refused) return refused;
  labelsKnown = new Map();
  seenKnown = null;
  try {
    const reader = newReader();
    const blocks = digest ? partOf(pinned, reader) : wholePage(reader);
    const pages = inPages(blocks.sort((a, b) => a.rank - b.rank), page ? PAGE_TOKENS : Infinity);
    if (page > Math.max(1, pages.length)) return { code: "action_failed", message: `there is no page ${page} of ${pages.length}` };
    const text = pages.length ? textOfPage(pages[Math.max(0, page - 1)]) : "";
    return { text: text.slice(0, MAX_WHOLE), pages: pages.length, unread: reader.unread || text.length > MAX_WHOLE };
  } finally {
    labelsKnown = seenKnown = null;
  }
}

// What is said since the last block is in `runs`, each with the element whose words it is.
const newReader = () =>
  ({ blocks: [], runs: [], mark: null, link: null, raw: false, unread: false, top: modalOf(), size: 0, nodes: 0, began: performance.now() });
const TOP = { rank: OTHER, indent: "", group: null, list: null, row: false, mute: false, nesting: 0 };

function wholePage(reader) {
  if (document.body) tellElement(reader, document.body, TOP);
  return reader.blocks;
}

function partOf(el, reader) {
  if (roleOf(el) !== "heading") {
    tellElement(reader, el, TOP);
    endBlock(reader, TOP);
    return reader.blocks;
  }
  const all = wholePage(reader);
  const from = all.findIndex((block) => block.el === el);
  if (from < 0) return [];
  const alike = all.slice(from).filter((block) => block.rank === all[from].rank);
  const end = alike.findIndex((block, at) => at && block.level && block.level <= alike[0].level);
  return end < 0 ? alike : alike.slice(0, end);
}

// ---- the walk -------------------------------------------------------------------------------------

// A place says how what is in it is told: its rank, what its lines begin with, the list that it is in and
// the outermost of those, whose lines stand together.
const TOGETHER = new Set(["list", "blockquote"]);

function tellElement(reader, el, place) {
  const tag = tagOf(el);
  if (isOver(reader, place) || UNTOLD.has(tag)) return;
  const style = getComputedStyle(el);
  const { display } = style;
  const mute = !checkVisibility(el, SHOWN) && display !== "contents";
  if (mute && !checkVisibility(el)) return;
  const role = attribute(el, "role") ? roleOf(el) : nativeRole(el);
  const rank = rankOf(reader, el, role, place);
  const row = display.endsWith("flex") && style.flexDirection.startsWith("row");
  const group = place.group || (TOGETHER.has(role) || tag === "dl" ? el : null);
  const shut = tag === "details" && !el.open || style.contentVisibility === "hidden"; // its own words
  const here = { rank, indent: place.indent, group, list: place.list, row, mute: mute || shut, nesting: place.nesting + 1 };
  const inline = isInline(tag, display, place);
  const apart = inline && display !== "inline" && display !== "contents";
  if (!inline) endBlock(reader, place);
  else if (apart) say(reader, " ");
  tellAs(reader, el, tag, role, here);
  if (!inline) endBlock(reader, here);
  else if (apart) say(reader, " ");
}

function isOver(reader, place) {
  const late = (++reader.nodes & 255) === 0 && performance.now() > reader.began + MAX_MS;
  if (late || reader.nodes > MAX_NODES) reader.size = Infinity; // nothing of what comes behind it
  const over = reader.size > MAX_TEXT || place.nesting > MAX_NESTING;
  reader.unread ||= over;
  return over;
}

// In one line with what is beside it: words, and small things that stand in a row.
function isInline(tag, display, place) {
  if (display === "inline" || display === "contents" || display === "table-cell" || display.startsWith("inline-")) return true;
  return place.row && (RUN_ON.has(tag) || tag === "button");
}

function rankOf(reader, el, role, place) {
  if (el === reader.top || isOn(el, "aria-modal")) return OVER;
  if (!Object.hasOwn(RANKS, role) || place.rank === OVER || place.rank === AROUND_IT) return place.rank;
  // A note beside a text belongs to it.
  return role === "complementary" && !isNamed(el) && closestAbove(el, "article,section") ? place.rank : RANKS[role];
}

function tellAs(reader, el, tag, role, here) {
  const kind = KINDS.get(tag);
  if (tag === "br") say(reader, "\n");
  else if (kind === CLOSED) tellField(reader, el, role);
  else if (kind === FRAME) tellFrame(reader, el, here);
  else if (TABLE_ROLES.has(role) && holdsData(el)) tellTable(reader, el, here);
  else if (tag === "pre") tellPre(reader, el, here);
  else if (role === "link") tellLink(reader, el, here);
  else tellMarked(reader, el, tag, role, here);
}

function tellInside(reader, el, here) {
  const tellNode = (node) => {
    const type = typeOf(node);
    if (type === 1) tellElement(reader, node, here);
    else if (type === 3 && !here.mute) say(reader, reader.raw ? node.data : node.data.replace(/\s+/g, " "), el);
  };
  const root = shadowOf(el);
  const guests = tagOf(el) === "slot" ? el.assignedNodes() : [];
  if (guests.length) guests.forEach(tellNode);
  else for (let node = firstNodeOf(root || el); node; node = nodeAfter(node)) tellNode(node);
}

// Words of nobody's are signs of ours.
function say(reader, text, el = null) {
  reader.runs.push({ text, el, link: reader.link });
  reader.size += text.length;
}

// ---- what it is -----------------------------------------------------------------------------------

// A heading, a list, an item, a quotation, or any other box: its first line is marked as what it is.
function tellMarked(reader, el, tag, role, here) {
  const inside = marked(reader, el, tag, role, here);
  if (isOn(el, "aria-checked")) say(reader, "[x] ");
  tellInside(reader, el, inside);
  if (inside === here) return;
  endBlock(reader, inside);
  if (role !== "list" && role !== "blockquote") reader.mark = null;
}

function marked(reader, el, tag, role, here) {
  const before = reader.mark?.text ?? here.indent;
  switch (role) {
    case "heading":
      reader.mark = { text: `${before}${"#".repeat(Math.min(levelOf(el), 6))} `, level: levelOf(el), el };
      return { ...here };
    case "list":
      return { ...here, list: { next: tag === "ol" ? el.start : -1 } };
    case "listitem":
      return item(reader, here, here.list?.next >= 0 ? `${here.list.next++}. ` : "- ");
    case "definition":
      return item(reader, here, ": ");
    case "blockquote":
      return { ...here, indent: `${here.indent}> ` };
    default:
      return here;
  }
}

function item(reader, here, sign) {
  reader.mark = { text: here.indent + sign };
  return { ...here, list: null, indent: here.indent + " ".repeat(sign.length) };
}

// What was said since the last block, as one; nothing is none.
function endBlock(reader, place) {
  const { runs } = reader;
  if (!runs.length) return;
  reader.runs = [];
  if (!runs.some(({ text }) => text.trim())) return;
  const block = { rank: place.rank, indent: place.indent, group: place.group, runs, mark: reader.mark, raw: reader.raw, head: 0, foot: "" };
  block.level = reader.mark?.level || 0;
  block.el = reader.mark?.el || null;
  // The first words of a link lead there, whatever else is in it.
  for (const { link, text } of runs) if (link && !link.leads && text.trim()) link.leads = block;
  reader.blocks.push(block);
  reader.mark = null;
}

function tellLink(reader, el, here) {
  const outer = reader.link;
  const link = reader.link = { address: addressOf(el), leads: null };
  const from = reader.runs.length;
  tellInside(reader, el, here);
  if (!link.leads && !reader.runs.slice(from).some(({ text }) => text.trim())) say(reader, pictured(el), el);
  reader.link = outer;
}

// As short as it leads there: within this document, on this site, or wherever it is.
function addressOf(el) {
  const given = attribute(el, "href") || attribute(el, "xlink:href");
  if (!given) return "";
  try {
    const url = new URL(given, documentOf(el).baseURI);
    const here = url.href.split("#")[0] === documentOf(el).URL.split("#")[0];
    if (!here && !/^(?:https?|mailto|tel):$/.test(url.protocol)) return "";
    url.username = url.password = "";
    const told = here ? url.hash : url.origin === location.origin ? url.pathname + url.search + url.hash : url.href;
    return clip(safeUrl(told), MAX_ADDRESS).replace(/[()\s]/g, encodeURIComponent).replace(/\(/g, "%28").replace(/\)/g, "%29");
  } catch {
    return "";
  }
}

function tellField(reader, el, role) {
  if (["file", "image"].includes(el.type) || tagOf(el) === "audio" || tagOf(el) === "video") return;
  const checked = checkedOf(el, role);
  const said = checked ? (checked === "checked" ? "[x]" : "[ ]") : squeeze(BUTTONS.has(el.type) ? inputName(el) : valueOf(el));
  // A box is often drawn by its label.
  say(reader, ` ${said} `, (checked && labelsOf(el).find(isVisible)) || el);
}

function tellFrame(reader, el, here) {
  const { width, height } = rectOf(el);
  if (width < MIN_FRAME || height < MIN_FRAME) return;
  const inner = frameDocument(el);
  if (!inner?.body) reader.unread = true;
  else tellElement(reader, inner.body, { ...here, row: false });
}

function tellPre(reader, el, here) {
  endBlock(reader, here);
  const count = reader.blocks.length;
  reader.raw = true;
  tellInside(reader, el, here);
  endBlock(reader, here);
  reader.raw = false;
  for (const block of reader.blocks.slice(count)) block.head = 1;
}

// ---- tables ---------------------------------------------------------------------------------------

// Rather than lays out the page: what names no column has words in its cells, and more than one in a row.
function holdsData(el) {
  if (findIn(el, TELLS_DATA) || attribute(el, "role")) return true;
  return !findIn(el, LAYS_OUT) && "rows" in el && [...el.rows].some((row) => row.cells.length > 1);
}

function tellTable(reader, el, here) {
  endBlock(reader, here);
  if ("caption" in el && el.caption) tellElement(reader, el.caption, here);
  const cells = [];
  const table = tableOf(el, (cell) => cellOf(reader, cell, here, cells));
  const rows = table.rows.filter((row) => row.some(Boolean));
  const heads = table.columns.map((name) => (/^column_\d+$/.test(name) ? "" : name));
  if (!rows.length && !heads.some(Boolean)) return;
  reader.unread ||= table.cut;
  const block = { rank: here.rank, indent: here.indent, group: null, heads, rows, cells, head: 2, foot: "", level: 0, el: null };
  block.more = table.left_off ? [`${here.indent}(${table.left_off} more rows)`] : [];
  reader.blocks.push(block);
  reader.mark = null;
}

// A heading by its words; any other cell by its number, so that not all of a long table need be looked at.
const NUMBERED = "\u0001";

function cellOf(reader, cell, here, cells) {
  const inner = { ...newReader(), began: reader.began };
  tellElement(inner, cell, { ...here, indent: "", row: false, list: null });
  endBlock(inner, TOP);
  reader.nodes += inner.nodes;
  reader.size += inner.size;
  reader.unread ||= inner.unread;
  const read = { cell, blocks: inner.blocks };
  if (matches(cell, "th,thead *,[role=columnheader]")) return cellWords(read, isTold).replaceAll(NUMBERED, "");
  return cellWords(read, () => true) && NUMBERED + (cells.push(read) - 1);
}

function cellWords({ cell, blocks }, told) {
  const lines = blocks.flatMap((block) => (block.runs ? linesSaid(block, told) : linesOf(block, told)));
  const said = squeeze(lines.filter(Boolean).join(" ")) || pictured(cell);
  return clip(said, MAX_CELL).replace(/\|/g, "\\|");
}

function tableLines({ heads, rows, cells, indent, more, head }, told, wanted) {
  const words = (text) => (text[0] === NUMBERED ? cellWords(cells[Number(text.slice(1))], told) : text);
  const line = (row) => (row.some(Boolean) ? `${indent}| ${row.join(" | ")} |` : "");
  return [`${indent}| ${heads.join(" | ")} |`, line(heads.map(() => "-")), ...rows.map((row, at) => (wanted?.has(at + head) === false ? "" : line(row.map(words)))), ...more];
}

// ---- lines ----------------------------------------------------------------------------------------

// Seen, and where a person can get to.
const isTold = (el) => kept("told", el, (one) => isSeen(one) && !isOutOfReach(one));

// Beyond the first corner of the page, or beside the window and fixed to it.
function isOutOfReach(el) {
  const { x, y, width, height } = rectOf(el);
  if (!(width > 0 && height > 0)) return false;
  const { defaultView: view, documentElement: root } = documentOf(el);
  const before = x + width <= 0 || y + height <= 0;
  if (!before && x < view.innerWidth && y < view.innerHeight) return false;
  if (kept("fixed", el, isFixed)) return true;
  if (!before) return false;
  for (let each = el; each && each !== root; each = above(each)) if (each.scrollTop || each.scrollLeft) return false;
  return y + height + view.scrollY <= 0 || x + width + view.scrollX <= 0 && getComputedStyle(root).direction !== "rtl";
}

const isFixed = (el) => getComputedStyle(el).position === "fixed" || !!parentOf(el) && kept("fixed", above(el), isFixed);

// The lines of a block without what marks them, as many whatever is told of them; of each run that `told` lets pass.
function linesSaid(block, told) {
  let text = "", link = null, from = 0;
  const lead = (next) => {
    if (link?.leads === block && link.address) text = text.slice(0, from) + linked(text.slice(from), link.address);
    [link, from] = [next, text.length];
  };
  for (const run of block.runs) {
    if (run.link !== link) lead(run.link);
    if (!run.el || told(run.el)) text += run.el && told === isTold ? transformed(run.el, run.text) : run.text;
    else text += run.text.replace(/[^\n]+/g, " ");
  }
  lead(null);
  if (block.raw) return text.replace(/^\n|\s+$/g, "").split("\n").map((line) => line.trimEnd());
  return text.split("\n").map(squeeze);
}

function linked(inside, address) {
  const said = squeeze(inside);
  if (!said) return inside;
  const [before, after] = [/^\s/.test(inside) ? " " : "", /\s$/.test(inside) ? " " : ""];
  return `${before}[${said.replace(/[[\]]/g, "\\$&")}](${address})${after}`;
}

// All lines of a block as Markdown; those that say nothing are empty, and rows that nobody wants.
function linesOf(block, told, wanted) {
  if (block.lines) return block.lines;
  if (block.rows) return tableLines(block, told, wanted);
  const said = linesSaid(block, told);
  if (!said.some(Boolean)) return said;
  if (block.raw) return fenced(block, said);
  let mark = block.mark?.text;
  return said.map((line) => {
    if (!line) return "";
    const begins = mark ?? block.indent + (PLAIN_SIGNS.test(line) ? "\\" : "");
    mark = undefined;
    return begins + line;
  });
}

// At the beginning of a line these would make it what it is not.
const PLAIN_SIGNS = /^(?:(?:#{1,6}|[-*+>]|---+)(?:\s|$)|[|`~])/;

function fenced(block, said) {
  const runs = block.runs.map(({ text }) => text).join("").match(/`+/g) || [];
  block.foot = block.indent + "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return [block.foot, ...said.map((line) => block.indent + line), block.foot];
}

// ---- pages ----------------------------------------------------------------------------------------

// A page is so many lines of blocks, each by its place; a table that goes on there says its columns again.
// What nobody sees has its room in it as well, so that only of the page that is asked for it must be known.
function inPages(blocks, most) {
  const pages = [[]];
  let pieces = 0, size = 0, before = null;
  const add = (block, at, line) => {
    const [cost, long] = [piecesIn(line) + 1, line.length + 1];
    if (pages.at(-1).length && costOf(pieces + cost, size + long) > most) {
      pages.push([]);
      pieces = size = 0;
      if (at >= block.head) block.heading.forEach((said, head) => add(block, head, said));
    }
    pages.at(-1).push({ block, at });
    pieces += cost;
    size += long;
  };
  for (const block of blocks) {
    if (before && before.rank !== block.rank) pieces += 4;
    if (before && !isTogether(before, block)) pieces++;
    let lines = linesOf(block, () => true);
    if (lines.some((line) => isLong(line, most))) {
      lines = linesOf(block, isTold).flatMap((line) => lineParts(line, most / 2));
      Object.assign(block, { lines, head: Math.min(block.head, lines.length) });
    }
    block.heading = lines.slice(0, block.head);
    lines.forEach((line, at) => (line || block.raw) && add(block, at, line));
    before = block;
  }
  return pages.filter((page) => page.length);
}

const isTogether = (one, other) => one.group !== null && one.group === other.group;

function textOfPage(page) {
  const wanted = new Map(), told = new Map();
  for (const { block, at } of page) wanted.set(block, (wanted.get(block) || new Set()).add(at));
  for (const [block, places] of wanted) told.set(block, linesOf(block, isTold, places));
  const text = [];
  let before = null;
  for (const { block, at } of page) {
    const line = told.get(block)[at] ?? "";
    if (!line && !block.raw) continue;
    if (before && before !== block) {
      if (before.rank !== block.rank) text.push("", "---", "");
      else if (!isTogether(before, block)) text.push("");
    }
    text.push(line);
    before = block;
  }
  const cut = before?.foot && text.at(-1) !== before.foot;
  return [...text, ...(cut ? [before.foot] : [])].join("\n").trim();
}

const isLong = (line, most) => line.length >= MAX_WORD && costOf(piecesIn(line), line.length) > most / 2;

// A line that is more than half a page, in parts that are less.
function lineParts(line, most) {
  const parts = [""];
  let pieces = 0;
  for (const word of line.match(WORDS) || []) {
    const more = piecesIn(word);
    if (parts.at(-1) && costOf(pieces + more, parts.at(-1).length + word.length) > most) {
      parts.push("");
      pieces = 0;
    }
    parts[parts.length - 1] += word;
    pieces += more;
  }
  return parts;
}

// The estimate of actors/rules/pages/text_form.py, or a little more; a test holds them together.
const costOf = (pieces, size) => Math.max(pieces * 1.1, size * 2 / 7);
const OF_LETTERS = 1, OF_DIGITS = 2, OF_BLANKS = 3;

function kindOfSign(code) {
  if (code === 32) return OF_BLANKS;
  if (code >= 48 && code <= 57) return OF_DIGITS;
  return (code | 32) >= 97 && (code | 32) <= 122 ? OF_LETTERS : 0;
}

function piecesIn(text) {
  let count = 0, kind = 0, run = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at); // behind the end: no number, and no kind
    const now = kindOfSign(code);
    if (now !== kind || at === text.length) {
      count += kind === OF_LETTERS ? Math.ceil(run / 4) : kind === OF_DIGITS ? Math.ceil(run / 2) : kind === OF_BLANKS && run > 1 ? 1 : 0;
      kind = now;
      run = 0;
    }
    run++;
    if (!now && at < text.length) count += code > 127 ? 2 : 1;
  }
  return count;
}

Object.assign(functions, { readPage });
