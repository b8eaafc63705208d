// What a person may point out in this page: a value to be read in every run, or what must be so. Elements are
// picked by the browser's own picker or from a list in the bar; the page hears of neither.

const MAX_PICKS = 300;
const MAX_SAID = 300;
const MAX_LABEL = 60;
// They name what stands beside them: who wants one of them all the same presses it in the page.
const ONLY_NAMES = "label,label *,th,dt,legend,caption,button,option";
let picks = [];

function pickables(what) {
  seenKnown = null;
  const found = allRoots().flatMap((root) => [...findAll(root, "*")]).filter((el) => isPickable(el, what));
  picks = found.slice(0, MAX_PICKS);
  return picks.map((el) => sayPick(el, what));
}

function isPickable(el, what) {
  if (SILENT.has(tagOf(el)) || isSecret(el) || !isVisible(el)) return false;
  if (what === "value" && matches(el, ONLY_NAMES)) return false;
  if (what === "value" && matches(el, TABLES) && tableOf(el)) return true;
  if (matches(el, "input,textarea,select")) return what === "check" ? !!(stateToCheck(el) || fieldWords(el)) : !!fieldWords(el);
  const own = [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return own && isTold(el) && seenWords(el).length <= MAX_SAID;
}

function sayPick(el, what) {
  const table = what === "value" && matches(el, TABLES) ? tableOf(el) : null;
  if (table) return { label: table.caption || "", text: rowsIn(table), table: true };
  const state = what === "check" ? stateToCheck(el) : "";
  const label = labelFor(el);
  return { label: label?.said || calledBy(el, roleOf(el)) || "", text: state || clip(label ? label.words() : toldBy(el), 120), table: false };
}

const rowsIn = ({ columns, rows, left_off }) => `${rows.length + left_off} ${rows.length + left_off === 1 ? "row" : "rows"}: ${clip(columns.filter(Boolean).join(", "), 100)}`;
const toldBy = (el) => (matches(el, "input,textarea,select") ? fieldWords(el) : seenWords(el));

// ---- what labels it --------------------------------------------------------------------------------

// The words that stand for it in every run: what is around it that way is asked whether it leads back here.
function labelFor(el) {
  for (const words of wordsAround(el)) {
    const said = squeeze(words).replace(MARKS_LABEL, "");
    if (!said || said.length > MAX_LABEL || /\d/.test(said)) continue;
    const [place, ...others] = besides(said, "label");
    if (!place || others.length) continue;
    if (place.el === el || (isInside(el, place.el) && place.words() === seenWords(el))) return { said, words: place.words, part: place.words() !== toldBy(el) };
  }
  return null;
}

function wordsAround(el) {
  const said = [/^([^:：]{1,60})[:：]/.exec(seenWords(el))?.[1] || ""];
  const cell = upTo(el, "td,th");
  if (cell && parentOf(cell).cells) {
    said.push(textOf(parentOf(cell).cells[0]));
    const heads = closest(cell, "table").rows[0];
    if (heads?.cells[cell.cellIndex]) said.push(textOf(heads.cells[cell.cellIndex]));
  }
  if (matches(el, "input,textarea,select")) said.push(calledBy(el, roleOf(el)));
  let at = el;
  for (let up = 0; up < 3 && at; up++, at = parentOf(at)) {
    for (let before = elementBefore(at); before; before = elementBefore(before)) {
      const words = seenWords(before);
      if (words) said.push(words);
      if (words) break;
    }
    if (at !== el && seenWords(at) !== seenWords(el)) break;
  }
  return said;
}

// ---- one of them -------------------------------------------------------------------------------------

const pickAt = (index, what) => (picks[index] && isAttached(picks[index]) ? pickThis(picks[index], what) : null);

// As an object of the page, for whoever shows where it is.
globalThis.rutterPick = (index) => picks[index] || null;

function pickThis(node, what) {
  seenKnown = null;
  let el = typeOf(node) === 1 ? node : parentOf(node);
  if (!el || tagOf(el) === "html" || tagOf(el) === "body") return { refused: "nothing" };
  if (tagOf(el) === "label" && el.control) el = el.control;
  if (tagOf(el) === "option") el = upTo(el, "select") || el;
  if (isSecret(el) || [...findAll(el, "input")].some(isSecret)) return { refused: "secret" };
  const before = observe();
  if (what === "check") return { before, element: describe(el), ...checkOf(el) };
  const table = upTo(el, TABLES);
  const rows = table && tableOf(table);
  const whole = rows && { ...readingOf(table, null), text: rowsIn(rows), suggested: slug(rows.caption) || slug(attribute(table, "id")) || "table" };
  if (table === el && whole) return { before, ...whole, table: true, whole: null };
  const label = labelFor(el);
  const text = clip(label ? label.words() : toldBy(el), MAX_SAID);
  if (!text) return { refused: "nothing" };
  const suggested = slug(label?.said || "") || label?.said || slug(attribute(el, "id")) || slug(attribute(el, "name")) || "value";
  return { before, ...readingOf(el, label), text, suggested, table: false, whole };
}

// It says something else in each run: neither its words nor its name find it again.
function readingOf(el, label) {
  const marks = marksOf(el).map((selector) => placed(selector, el)).filter(Boolean).map((selector) => ({ by: "css", selector }));
  const path = { by: "css", selector: placed(pathOf(el), el) || withHost(pathOf(el), el) };
  const beside = label ? [{ by: "beside", text: label.said }] : [];
  const found = label?.part ? [...beside, ...marks] : [...marks, ...beside];
  if (!marks.length) found.push(path);
  return { element: { ...describe(el), ways: found } };
}

// ---- what is so of it --------------------------------------------------------------------------------

function stateToCheck(el) {
  const role = roleOf(el);
  const checked = checkedOf(el, role);
  if (checked) return checked === "checked" ? "checked" : "not checked";
  if (isOff(el)) return "disabled";
  return isOn(el, "aria-expanded") ? "expanded" : "";
}

function checkOf(el) {
  const role = roleOf(el), name = calledBy(el, role);
  const state = name && stateToCheck(el);
  if (state) return { check: { type: "element_state", name, role, value: state }, text: `${name}: ${state}` };
  const held = matches(el, "input,textarea,select") ? fieldWords(el) : "";
  if (held && name) return { check: { type: "value_set", name, role, value: held }, text: held };
  const text = clip(toldBy(el), MAX_SAID);
  return text ? { check: { type: "text_visible", value: text }, text } : { refused: "nothing" };
}

Object.assign(functions, { pickables, pickAt, pickThis });
