// What stands beside some words: the value that is labelled so, or what is said around them. Only what a
// person sees counts; what the page is about comes before what stands around that.

const MARKS_LABEL = /[\s:：*=–—-]+$/;
const MARKS_VALUE = /^\s*[:：=–—-]+\s*/;
const AROUND_PAGE = 'nav,aside,[role="navigation"],[role="complementary"],[role="banner"],[role="contentinfo"]';
const folded = (text) => squeeze(text).toLowerCase();
const asLabel = (text) => folded(text).replace(MARKS_LABEL, "");

// Each place as the element to be read, and how.
function besides(text, how) {
  const wanted = how === "label" ? asLabel(text) : folded(text);
  if (!wanted) return [];
  seenKnown = null; // what is waited for may come into sight
  const said = allRoots().flatMap((root) => [...innermost(root, wanted)]).filter((el) => !SILENT.has(tagOf(el)) && isTold(el));
  const found = said.map((el) => (how === "label" ? labelledSo(el, wanted) : saidAround(el, wanted))).filter(Boolean);
  const places = [...new Map(found.map((place) => [place.el, place])).values()];
  const inside = places.filter(({ el }) => !upTo(el, AROUND_PAGE) && (isScoped(el) || !upTo(el, "header,footer")));
  const best = inside.length ? inside : places;
  // What is said several times in the same way is one thing.
  return best.length > 1 && new Set(best.map((place) => place.words())).size === 1 ? best.slice(0, 1) : best;
}

function wordsBeside(el, { text, how }) {
  const place = besides(text, how || "label").find((each) => each.el === el);
  return place ? place.words() : null;
}

// ---- a label --------------------------------------------------------------------------------------

function labelledSo(el, wanted) {
  if (asLabel(textOf(el)) !== wanted) return afterMark(el, wanted);
  let label = el;
  while (parentOf(label) && asLabel(textOf(parentOf(label))) === wanted) label = parentOf(label);
  const control = upTo(label, "label")?.control;
  if (control) return isReachable(control) ? { el: control, words: () => fieldWords(control) } : null;
  return nextTo(label);
}

// "Order number: No. 4711"
function afterMark(el, wanted) {
  const rest = () => {
    const said = seenWords(el);
    const at = said.toLowerCase().indexOf(wanted);
    return at === 0 && MARKS_VALUE.test(said.slice(wanted.length)) ? said.slice(wanted.length).replace(MARKS_VALUE, "") : "";
  };
  return rest() ? { el, words: rest } : null;
}

// What follows it in the same box, else what comes before it: a number is often above what it counts.
function nextTo(label) {
  const box = parentOf(label);
  if (!box) return null;
  if (tagOf(label) === "th" && siblingsOf(label).every((cell) => tagOf(cell) === "th")) return cellUnder(label);
  for (let node = nodeAfter(label); node; node = nodeAfter(node)) {
    if (typeOf(node) === 3 && node.data.replace(MARKS_LABEL, "").trim()) return { el: box, words: () => wordsBehind(label) };
    const other = typeOf(node) === 1 && !(tagOf(node) === "dt" && tagOf(label) === "dt");
    if (other && seenWords(node)) return { el: node, words: () => seenWords(node) };
  }
  for (let other = elementBefore(label); other; other = elementBefore(other)) {
    if (seenWords(other)) return { el: other, words: () => seenWords(other) };
  }
  return null;
}

// Up to a line's end, or to what is the next label.
function wordsBehind(label) {
  const said = [];
  for (let node = nodeAfter(label); node; node = nodeAfter(node)) {
    if (typeOf(node) === 3) said.push(node.data);
    else if (typeOf(node) === 1 && (tagOf(node) === "br" || tagOf(node) === tagOf(label))) break;
    else if (typeOf(node) === 1) said.push(` ${seenWords(node)} `);
  }
  return squeeze(said.join("")).replace(MARKS_VALUE, "");
}

// Of a column the cell below its heading, where there is one row.
function cellUnder(heading) {
  const table = closest(heading, "table");
  const rows = table ? [...table.rows].filter((row) => isShown(row) && [...row.cells].some((cell) => tagOf(cell) === "td")) : [];
  const cell = rows.length === 1 ? rows[0].cells[heading.cellIndex] : null;
  return cell && { el: cell, words: () => seenWords(cell) };
}

// ---- some words -----------------------------------------------------------------------------------

// The line that says them; a row of a table with all its cells, and what follows where they are all it says.
function saidAround(el, wanted) {
  const row = closest(el, "tr,[role=row]");
  if (row) return { el: row, words: () => [...findAll(row, `th,td,${ARIA_CELLS}`)].map(seenWords).filter(Boolean).join(" | ") };
  let line = el;
  while (parentOf(line) && /^(?:inline|contents)/.test(getComputedStyle(line).display)) line = parentOf(line);
  return {
    el: line,
    words: () => [seenWords(line), ...(asLabel(seenWords(line)) === asLabel(wanted) ? [nextTo(line)?.words()] : [])].filter(Boolean).join("\n"),
  };
}

// ---- what is seen of it ---------------------------------------------------------------------------

const fieldWords = (el) => (isSecret(el) ? "" : squeeze(valueOf(el) ?? checkedOf(el, roleOf(el))));

function seenWords(el) {
  const reader = newReader();
  if (KINDS.get(tagOf(el)) === CLOSED) return fieldWords(el);
  tellElement(reader, el, TOP);
  endBlock(reader, TOP);
  const lines = reader.blocks.flatMap((block) => {
    const plain = block.runs && { ...block, runs: block.runs.map((run) => ({ ...run, link: null })) };
    return plain ? linesSaid(plain, isTold) : linesOf(block, isTold);
  });
  return squeeze(lines.filter(Boolean).join(" "));
}
