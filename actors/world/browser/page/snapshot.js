// One look at the page: walked once as it is shown (shadow roots, slots, frames of the same origin),
// pruned, ranked, numbered (S3 1.3).

const MAX_DEPTH = 10;
const MAX_HEADINGS = 12;
const MAX_ALERTS = 3;
// Beyond this only what is in view is walked on: a page of any size is read in about the same time.
const MAX_NODES = 50000;
const WHOLE_MS = 600;
// And beyond this nothing: half of what a snapshot may take (S3 2.2.1).
const MAX_MS = 1500;
// Parsers nest no deeper than 512; what scripts build beyond this is not walked into.
const MAX_NESTING = 1500;
const MAX_TEXT = 400000;
// A frame below this shows nobody a word: it is there to count visits.
const MIN_FRAME = 8;
// What is looked for in the text of the page: texts of one step, phrases of all rules together.
const MAX_TEXTS = 20;
const MAX_PHRASES = 1000;
const AROUND = 200;
// What an observation may carry for deciders, less what the encoding adds to what is counted here.
const MAX_BYTES = 16384 - 512;
const ENTRY_BYTES = 84;

// S3 1.3.2, and S3 1.3.3: the order in which they are kept when there are too many.
const INCLUDED = new Set(`button link checkbox radio textbox combobox listbox menuitem menuitemcheckbox
  menuitemradio tab switch slider region dialog alert alertdialog`.split(/\s+/));
const PRIORITY = {
  button: 0, link: 0, checkbox: 1, radio: 1, textbox: 1, combobox: 2, listbox: 2, heading: 3, region: 4, dialog: 4,
};
const OTHERS = 5;
// Reached with arrow keys in the widget around them, whether or not they can be tabbed to.
const ITEMS = new Set(["option", "treeitem"]);
// What is inside of these is part of them, unless it can be focused itself.
const WHOLE = new Set("button checkbox img menuitemcheckbox menuitemradio option radio slider switch tab".split(" "));

// What of the tags matters to the walk; of all others only what is marked.
const PLAIN = 1, FIELD = 2, CLOSED = 3, FRAME = 4, SLOT = 5, UNSEEN = 6;
const KINDS = new Map([
  ...["a", "area", "button", "dialog", "h1", "h2", "h3", "section"].map((tag) => [tag, PLAIN]),
  ["summary", FIELD],
  ...["input", "select", "textarea", "audio", "video"].map((tag) => [tag, CLOSED]),
  ["iframe", FRAME], ["frame", FRAME], ["slot", SLOT],
  ...["script", "style", "template", "noscript", "link", "meta", "title"].map((tag) => [tag, UNSEEN]),
]);
const MARKED = `[role],[tabindex],${EDITING_HOST},[aria-hidden="true"],[inert],[aria-modal="true"],[aria-expanded],`
  + "[aria-checked],[aria-selected],[aria-pressed],[aria-disabled],[aria-busy],[disabled]";

// Between texts that are in these alone there is no gap: "Order <b>#12</b>." is read as one.
const RUN_ON = new Set(`a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp slot small span
  strong sub sup time u var wbr`.split(/\s+/));

// The elements behind the refs of the last look, and its number: `@e0` is the first.
let refs = [];
let refsOf = 0;

function observe(how = {}) {
  labelsKnown = new Map();
  seenKnown = null;
  try {
    const texts = (how.texts || []).slice(0, MAX_TEXTS);
    const phrases = (how.phrases || globalThis.rutterPhrases || []).slice(0, MAX_PHRASES);
    const look = walkPage(texts.length || phrases.length ? [] : null);
    const page = describePage(look);
    // What neither a person sees nor a screen reader says is not said.
    const readings = look.words ? readingsOf(look.words.filter(({ el, place }) => !place.silent || !el || isSeen(el))) : [];
    Object.assign(page, soughtIn(readings, texts, phrases, how.aside));
    const kept = keepBest(look, page, how);
    // A look that nobody is told of leaves the refs of the one that somebody was.
    if (how.look || !refsOf) {
      refs = kept.map((record) => record.el);
      refsOf = how.look || 0;
    }
    page.elements = numbered(kept);
    page.dropped = look.left - kept.length;
    page.status = performance.getEntriesByType("navigation")[0]?.responseStatus || 0;
    page.unread = look.unread || look.text > MAX_TEXT || !!page.truncated;
    if (how.barriers) page.made = makeupOf(look, readings);
    return page;
  } finally {
    labelsKnown = seenKnown = null;
  }
}

function describePage(look) {
  const page = {
    url: clip(safeUrl(), MAX_URL),
    title: [clip(document.title, MAX_NAME)],
    ready: document.readyState,
    viewport: [innerWidth, innerHeight],
    scroll: [Math.round(scrollX), Math.round(scrollY)],
    headings: headings(look.headings),
    alerts: look.alerts.map((el) => [clip(shownTextOf(el), MAX_NAME)]),
    focused: look.active ? focusDigest(look.active) : "",
    digest: hash(look.said.join("\n")),
    modal: look.modal,
  };
  if (look.truncated) page.truncated = true;
  return page;
}

// What has the focus, by the digest that it is resolved with; what one types into a field is no part of it.
const focusDigest = (el) => digestOf(el, holdsText(el) && !matches(el, "input,textarea") && property(el, "isContentEditable") !== true);

function headings(all) {
  const told = (el) => isVisible(el) && (!closest(el, '[aria-hidden="true"]') || isSeen(el));
  const ordered = all.filter(told).map((el) => ({ el, level: levelOf(el) })).sort((a, b) => a.level - b.level);
  return ordered.slice(0, MAX_HEADINGS).map(({ el }) => [clip(nameOf(el, "heading"), MAX_NAME)]);
}

// What has the focus, inside of frames and shadow roots too.
function activeOf(root = document) {
  const el = root.activeElement;
  if (!el || el === root.body) return null;
  const inner = shadowOf(el) || frameDocument(el);
  return inner && activeOf(inner) || el;
}

// Nothing for an element that is no frame, and for a frame of another origin.
function frameDocument(el) {
  return (tagOf(el) === "iframe" || tagOf(el) === "frame") && el.contentDocument || null;
}

// ---- the walk -------------------------------------------------------------------------------------

// A place says how what is in it is to be read. `above` is the record around it, `clip` what of it is in
// view. `mute`: its own text is not shown. `silent`: it is hidden from whoever is not looking at a
// screen, or behind a modal dialog. `whole`: it is part of the element around it.
// `words`, where they are given, take up the text with its element.
function walkPage(words = null) {
  // The browser's own work, which is needed and cannot be cut short, is not counted as time of ours.
  document.body?.getBoundingClientRect();
  const look = {
    records: [], said: [], headings: [], alerts: [], frames: [], marked: new Set(), modal: false, left: 0, words,
    active: activeOf(), top: modalOf(), nodes: 0, text: 0, began: performance.now(), truncated: false, unread: false,
    inView: false, over: false, apart: true,
  };
  const place = {
    above: null, depth: 0, origin: [0, 0], clip: [0, 0, innerWidth, innerHeight],
    mute: false, silent: !!look.top, whole: false,
  };
  markIn(look, document);
  if (document.body) visit(look, document.body, place, 0);
  if (!look.over) noteUnmarked(look);
  return look;
}

// ---- notices without a role ----------------------------------------------------------------------

// Many pages say what they did in a list of messages that has no role, only a class by which it is drawn.
const NOTICE_CLASSES = ["alert", "toast", "flash", "notice", "notification", "snackbar", "message", "callout", "success", "error", "warning", "feedback"];
const NOTICES = NOTICE_CLASSES.map((name) => `[class*="${name}" i]`).join();
const NOTICE = new RegExp(`(?:^|[\\s_-])(?:${NOTICE_CLASSES.join("|")})(?:s|list|-?text|-?body|-?content)?(?=$|[\\s_-])`, "i");
const NO_NOTICE = "a,button,input,select,textarea,label,option,form,nav,code,pre,td,th,[contenteditable]";
const MANY = 4; // of one kind are a list of letters, or of what was sold

function noteUnmarked(look) {
  if (look.alerts.length >= MAX_ALERTS) return;
  const found = [];
  for (const root of rootsSeen(look)) for (const el of findAll(root, NOTICES)) if (saysSomething(el)) found.push(el);
  const innermost = found.filter((el) => !found.some((other) => other !== el && isInside(other, el)));
  if (innermost.length >= MANY) return;
  for (const el of innermost) if (!look.alerts.some((known) => isInside(el, known) || isInside(known, el))) noteAlert(look, el);
}

const rootsSeen = (look) => (look.over || look.inView ? [document] : allRoots());

function saysSomething(el) {
  if (!NOTICE.test(attribute(el, "class") || "") || matches(el, NO_NOTICE) || upTo(el, "table,nav,form label")) return false;
  if (findIn(el, "input:not([type=hidden]),select,textarea,table,iframe,h1")) return false;
  const said = squeeze(textContentOf(el));
  return said.length > 2 && said.length <= MAX_NAME && isVisible(el);
}

const markIn = (look, root) => findAll(root, MARKED).forEach((el) => look.marked.add(el));

// All the rest of the page is out of reach while a modal dialog is open.
function modalOf() {
  const modals = [...findAll(document, "dialog:modal")];
  return modals.findLast((el) => contains(el, document.activeElement)) || modals.at(-1) || null;
}

function visit(look, el, place, nesting) {
  if ((++look.nodes & 255) === 0) checkTime(look);
  if (look.over || nesting > MAX_NESTING) {
    look.truncated = true;
    return;
  }
  const tag = tagOf(el);
  const kind = KINDS.get(tag);
  if (kind === UNSEEN) return;
  const runOn = RUN_ON.has(tag);
  if (!runOn) look.apart = true;
  const shown = checkVisibility(el, SHOWN) ? place : placeUnseen(el, place);
  if (!shown || look.inView && isBeyond(look, el, place)) return;
  const marked = look.marked.has(el);
  const inside = marked || kind !== undefined ? enterElement(look, el, shown, marked, kind) : shown;
  if (kind === FRAME) visitFrame(look, el, inside, nesting);
  else if (kind !== CLOSED) visitChildren(look, el, inside, nesting, kind);
  if (!runOn) look.apart = true;
}

function checkTime(look) {
  const took = performance.now() - look.began;
  look.inView = look.nodes > MAX_NODES || took > WHOLE_MS;
  look.over = took > MAX_MS;
}

function visitChildren(look, el, place, nesting, kind) {
  const root = shadowOf(el);
  if (root) markIn(look, root);
  const guests = kind === SLOT ? el.assignedNodes() : [];
  if (guests.length) {
    for (const node of guests) visitNode(look, node, place, nesting);
    return;
  }
  for (let node = firstNodeOf(root || el); node; node = nodeAfter(node)) visitNode(look, node, place, nesting);
}

function visitNode(look, node, place, nesting) {
  const type = typeOf(node);
  if (type === 1) visit(look, node, place.mute ? { ...place, mute: false } : place, nesting + 1);
  else if (type === 3 && !place.mute && look.text <= MAX_TEXT) sayText(look, node, place);
}

function sayText(look, node, place) {
  const { data } = node;
  const said = data.trim();
  if (!said) {
    look.apart = true;
    return;
  }
  look.said.push(said);
  look.text += said.length;
  look.words?.push({ said, el: parentOf(node), place, apart: look.apart || data[0] !== said[0] });
  look.apart = data.at(-1) !== said.at(-1);
}

// What has no box lets its children have one, or hides its own text alone, or all that is in it.
function placeUnseen(el, place) {
  if (checkVisibility(el)) return { ...place, mute: true };
  return getComputedStyle(el).display === "contents" ? place : null;
}

// Once enough was walked: whether this need not be looked into.
function isBeyond(look, el, place) {
  if (seenAs(extentOf(el, place.origin), place.clip) !== OUTSIDE) return false;
  look.truncated = true;
  return true;
}

function visitFrame(look, el, place, nesting) {
  if (look.frames.length < MOST_FRAMES) look.frames.push(el);
  const inner = frameDocument(el);
  if (!inner?.body) {
    look.unread ||= !place.mute && mayBeRead(el, place);
    return;
  }
  markIn(look, inner);
  visit(look, inner.body, withinFrame(el, place), nesting + 1);
}

// By a person: large enough, and not put where nobody can scroll to.
function mayBeRead(frame, place) {
  const [x, y, width, height] = extentOf(frame, place.origin);
  const isLarge = width >= MIN_FRAME && height >= MIN_FRAME;
  return isLarge && x + width + scrollX > 0 && y + height + scrollY > 0;
}

function withinFrame(frame, place) {
  const origin = originOf(frame);
  const box = [origin[0], origin[1], origin[0] + frame.clientWidth, origin[1] + frame.clientHeight];
  const [left, top, right, bottom] = place.clip;
  const clip = [Math.max(left, box[0]), Math.max(top, box[1]), Math.min(right, box[2]), Math.min(bottom, box[3])];
  return { ...place, origin, clip };
}

// Takes an element down if it counts; says how to read what is in it.
function enterElement(look, el, place, marked, kind) {
  let here = place;
  if (el === look.top) here = { ...here, silent: false };
  if (marked && (isOn(el, "aria-hidden") || hasAttribute(el, "inert"))) here = { ...here, silent: true };
  const role = roleOf(el);
  const record = { el, role: role || "generic", above: here.above, at: look.records.length, place: here };
  if (marked || kind === FIELD || kind === CLOSED) noteField(look, record);
  noteRole(look, el, role, marked);
  // Its own text is not shown: neither is it, though something in it may be.
  if (here.mute || here.silent || !isIncluded(el, role, here.whole)) return here;
  if (role === "iframe") {
    record.foreign = !frameDocument(el);
    if (!record.foreign) return here;
  }
  look.left++;
  if (here.depth >= MAX_DEPTH) return here;
  look.records.push(record);
  return { ...here, above: record, depth: here.depth + 1, whole: WHOLE.has(role) };
}

function noteRole(look, el, role, marked) {
  if (role === "heading") look.headings.push(el);
  else if (role === "dialog" || role === "alertdialog" || marked && isOn(el, "aria-modal")) look.modal = true;
  if (marked && (role === "alert" || role === "status" || role === "alertdialog")) noteAlert(look, el);
}

function isIncluded(el, role, whole) {
  if (role === "none") return false;
  if (role === "heading" || role === "region") return (!whole && (role === "region" || levelOf(el) <= 3)) || isFocusable(el);
  return INCLUDED.has(role) || (ITEMS.has(role) && hasAttribute(el, "role")) || isFocusable(el);
}

// What fields hold and how they stand is part of what the page says.
function noteField(look, record) {
  const value = valueOf(record.el);
  const state = stateOf(record.el, record.role);
  if (value !== null || state.length) look.said.push(value || "", state.join());
  record.noted = { value, state };
}

function noteAlert(look, el) {
  if (look.alerts.length < MAX_ALERTS && isVisible(el)) look.alerts.push(el);
}

// ---- what is looked for ---------------------------------------------------------------------------

// Of these texts those that the browser itself keeps for the site: a page that shows one of them again may
// have it from there, and its server nothing.
function keptOf(texts) {
  let held = "";
  try {
    held = Object.values({ ...localStorage }).join("\n");
  } catch {
    // a page that may keep nothing
  }
  return texts.filter((text) => held.includes(text) || held.includes(JSON.stringify(text).slice(1, -1)));
}

// The text that the page shows, in any case and across elements. What fields hold is no part of it.
function soughtIn(readings, texts, phrases, aside) {
  const found = {};
  if (texts.length) found.shown = texts.map((text) => [text, aroundIn(readings, squeeze(plainOf(text)).toLowerCase())]);
  if (texts.length && aside) found.kept = keptOf(texts);
  if (phrases.length) found.phrases = phrasesIn(readings, phrases);
  return found;
}

// There are hundreds of phrases, and hardly one of them on a page: each run of four characters is noted
// once, and only a phrase that is made of such runs is searched for.
const RUN = 4;
const MARKS = (1 << 18) - 1;
const runOf = (run, text, at) => (run << 5 ^ text.charCodeAt(at)) & MARKS;

function phrasesIn(readings, phrases) {
  const runs = (readings.runs ||= runsOf(readings));
  return phrases.filter((phrase) => phrase && isMadeOf(runs, phrase) && readings.some(({ low }) => low.includes(phrase)));
}

function runsOf(readings) {
  const runs = new Uint8Array(MARKS + 1);
  for (const { low } of readings) for (let at = 0, run = 0; at < low.length; at++) runs[run = runOf(run, low, at)] = 1;
  return runs;
}

function isMadeOf(runs, phrase) {
  for (let at = 0, run = 0; at < phrase.length; at++) {
    run = runOf(run, phrase, at);
    if (at >= RUN - 1 && !runs[run]) return false;
  }
  return true;
}

// As it is written, and with a gap between any two elements: a style may have put them apart. With its
// gaps a text is at most twice as long.
function readingsOf(words) {
  const written = words.map(({ said, apart }) => (apart ? ` ${said}` : said)).join("");
  const spread = words.map(({ said }) => said).join(" ");
  const texts = new Set([written, spread].map((text) => squeeze(plainOf(text.slice(0, 2 * MAX_TEXT)))));
  return [...texts].map((text) => ({ text, low: text.toLowerCase() }));
}

// What is said around the first place of a text; null if it is nowhere.
function aroundIn(readings, sought) {
  for (const { text, low } of readings) {
    const at = sought ? low.indexOf(sought) : -1;
    if (at < 0) continue;
    const from = Math.max(0, at - Math.max(0, AROUND - sought.length >> 1));
    // In some alphabets the small letters are more characters than the large ones.
    return [(low.length === text.length ? text : low).slice(from, from + AROUND)];
  }
  return null;
}

// ---- what is kept ---------------------------------------------------------------------------------

const FULLY = 0, PARTLY = 1, OUTSIDE = 2;

function seenAs([x, y, width, height], [left, top, right, bottom]) {
  if (!(width > 0 && height > 0)) return OUTSIDE;
  if (x >= left && y >= top && x + width <= right && y + height <= bottom) return FULLY;
  return x < right && y < bottom && x + width > left && y + height > top ? PARTLY : OUTSIDE;
}

// The best by rank, as many as may be kept and have room, in the order of the page.
// What is unseen is marked for whoever chooses by what it reads; a recording knows its way.
function keepBest(look, page, { viewportOnly = false, marks = false }) {
  const ranks = Array.from({ length: (OUTSIDE + 1) * (OTHERS + 1) }, () => []);
  for (const record of look.records) {
    if ((record.at & 511) === 511 && performance.now() > look.began + MAX_MS) {
      page.truncated = true;
      break;
    }
    record.extent = extentOf(record.el, record.place.origin);
    record.seen = seenAs(record.extent, record.place.clip);
    if (record.seen === OUTSIDE && viewportOnly || record.foreign && !record.extent[2]) look.left--;
    else ranks[record.seen * (OTHERS + 1) + (PRIORITY[record.role] ?? OTHERS)].push(record);
  }
  const kept = [];
  let room = MAX_BYTES - bytesOf(JSON.stringify(page));
  for (const record of ranks.flat().slice(0, MAX_ELEMENTS)) {
    record.entry = entryOf(record, look.active, marks);
    room -= entryBytes(record.entry);
    if (room < 0) break;
    kept.push(record);
  }
  return kept.sort((a, b) => a.at - b.at);
}

const bytesOf = (text) => {
  const wide = text.match(/[^\x00-\x7f]/g);
  return text.length + (wide ? wide.length + wide.filter((sign) => sign > "\u07ff").length : 0);
};
const entryBytes = ({ role, tag, name, value, state }) =>
  ENTRY_BYTES + role.length + bytesOf(tag + name[0]) + (value ? bytesOf(value[0]) : 0) + (state ? state.join(" ").length : 0);

function entryOf({ el, role, extent, seen, foreign, noted }, active, marks) {
  const box = extent.map(Math.round);
  const entry = { role, name: [clip(nameOf(el, role === "generic" ? "" : role), MAX_NAME)], tag: clip(tagOf(el), MAX_NAME), box };
  const { value, state } = noted || { value: valueOf(el), state: stateOf(el, role) };
  if (foreign) state.push("cross-origin");
  if (!(box[2] > 0 && box[3] > 0)) state.push("hidden");
  else if (seen === OUTSIDE) state.push("offscreen");
  if (el === active) state.push("focused");
  const unseen = marks && unseenAs(el, entry.name[0]);
  if (unseen) state.push(unseen);
  if (state.length) entry.state = state;
  if (value) entry.value = [clip(value, MAX_NAME)];
  if (role === "heading") entry.level = levelOf(el);
  return entry;
}

// Numbered in the order of the page; each told which are right below it.
function numbered(kept) {
  kept.forEach((record, ref) => (record.ref = ref));
  for (const record of kept) {
    let above = record.above;
    while (above && above.ref === undefined) above = above.above;
    if (above) (above.entry.children ||= []).push(record.ref);
  }
  return kept.map((record) => record.entry);
}

// ---- context for a model (C3) ---------------------------------------------------------------------

const SNIPPET_TAGS = new Set(["button", "a", "input", "select"]);
const SNIPPET_ATTRIBUTES = [
  "id", "name", "type", "role", "aria-label", "placeholder", "title", "alt", "aria-expanded", "aria-checked", ...TEST_IDS,
];

// The page's controls in view as short HTML, whole elements up to a size.
function controlsHtml(maxBytes) {
  const said = [];
  let room = maxBytes;
  for (const { el, place } of walkPage().records) {
    if (!SNIPPET_TAGS.has(tagOf(el)) || seenAs(extentOf(el, place.origin), place.clip) === OUTSIDE) continue;
    const html = htmlOf(el);
    room -= bytesOf(html) + 1;
    if (room < 0) break;
    said.push(html);
  }
  return said.join("\n");
}

function htmlOf(el) {
  const tag = tagOf(el);
  const given = SNIPPET_ATTRIBUTES.map((name) => [name, attribute(el, name)]);
  if (tag === "a") given.push(["href", hasAttribute(el, "href") ? safeUrl(attribute(el, "href")) : null]);
  if (tag === "input") given.push(["value", BUTTONS.has(el.type) ? el.value : valueOf(el)]);
  const written = given.filter(([, value]) => value).map(([name, value]) => ` ${name}="${escaped(clip(squeeze(value), 100))}"`);
  for (const state of ["disabled", "checked"]) if (el[state]) written.push(` ${state}`);
  if (tag === "input") return `<input${written.join("")}>`;
  const inside = tag === "select" ? optionsOf(el) : escaped(clip(nameOf(el, roleOf(el)), 100));
  return `<${tag}${written.join("")}>${inside}</${tag}>`;
}

function optionsOf(el) {
  const options = [...el.options].slice(0, 20).map((option) =>
    `<option${option.selected ? " selected" : ""}>${escaped(clip(squeeze(option.label), 40))}</option>`);
  return options.join("") + (el.options.length > 20 ? `<!-- ${el.options.length - 20} more -->` : "");
}

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

// The text that a person sees there now, in the order of the page, up to a size.
function wordsInView(maxBytes) {
  seenKnown = null;
  const words = [];
  walkPage(words);
  const said = [];
  let room = maxBytes;
  for (const { said: text, el, place } of words) {
    if (!el || seenAs(extentOf(el, place.origin), place.clip) === OUTSIDE || !isSeen(el)) continue;
    const word = squeeze(text);
    room -= bytesOf(word) + 1;
    if (room < 0) break;
    said.push(word);
  }
  return said.join(" ");
}

Object.assign(functions, { observe, controlsHtml, wordsInView });
