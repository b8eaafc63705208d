// What an element is to a person: its role, name, states and value, as browsers compute them.

const MAX_NAME = 200;
const MAX_URL = 4000;
const MAX_ELEMENTS = 100;
const MAX_LEVEL = 99;
const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];
const ROLES = new Set(`alert alertdialog application article banner blockquote button caption cell
  checkbox code columnheader combobox complementary contentinfo definition deletion dialog directory
  document emphasis feed figure form generic grid gridcell group heading image img insertion link list
  listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio
  meter navigation none note option paragraph presentation progressbar radio radiogroup region row
  rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript
  suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip
  tree treegrid treeitem`.split(/\s+/));
const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button",
  checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton",
  search: "searchbox", color: "button", hidden: "none",
};
// What a native tag is. A function where that depends on the element.
const TAG_ROLES = {
  a: linkRole, area: linkRole, input: inputRole, img: imageRole, svg: (el) => (svgTitle(el) || isNamed(el) ? "img" : ""),
  select: (el) => (el.multiple || el.size > 1 ? "listbox" : "combobox"),
  section: (el) => (isNamed(el) ? "region" : ""), form: (el) => (isNamed(el) ? "form" : ""),
  header: (el) => (isScoped(el) ? "" : "banner"), footer: (el) => (isScoped(el) ? "" : "contentinfo"),
  summary: (el) => (isSummary(el) ? "button" : ""), li: "listitem",
  th: (el) => (el.scope === "row" ? "rowheader" : "columnheader"), td: (el) => (isGrid(el) ? "gridcell" : "cell"),
  h1: heading, h2: heading, h3: heading, h4: heading, h5: heading, h6: heading,
  button: "button", textarea: "textbox", option: "option", optgroup: "group", datalist: "listbox",
  nav: "navigation", main: "main", aside: "complementary", search: "search", article: "article",
  dialog: "dialog", table: "table", tbody: "rowgroup", thead: "rowgroup", tfoot: "rowgroup", tr: "row",
  ul: "list", ol: "list", menu: "list", dt: "term", dd: "definition", details: "group",
  fieldset: "group", figure: "figure", hr: "separator", meter: "meter", progress: "progressbar",
  output: "status", p: "paragraph", blockquote: "blockquote", time: "time", math: "math",
  iframe: "iframe", frame: "iframe",
};
const NAMED_BY_CONTENT = new Set([
  "button", "link", "heading", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
  "checkbox", "radio", "switch", "cell", "gridcell", "columnheader", "rowheader", "row", "treeitem", "tooltip",
]);
// Inputs that `readonly` does not apply to.
const UNWRITTEN = new Set(["checkbox", "radio", "range", "color", "file", "submit", "button", "reset", "image"]);
const BUTTONS = new Set(["submit", "button", "reset", "image"]);
const CHECKED = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
const EDITING_HOST = '[contenteditable]:not([contenteditable="false"])';
const SETS_OFF = 'button,input,select,textarea,a[href],area[href],summary,[role="button"],[role="link"],[role="menuitem"]';
const INTERACTIVE = "a[href],button,input,select,textarea,summary,[role],[tabindex],[contenteditable]";
// The same words as in actors/rules/text/secret_words.py: rather one too many.
const SECRET_WORDS = /passw|passcode|passphrase|one.?time|verification.?code|sms.?code|security.?code|auth.?code|cvc|cvv|card.?(?:number|no\b|num)|credit.?card|cc-?_?(?:num|csc)|t?otp(?![a-z])|2fa|mfa|(?<![a-z])(?:pwd|pin|csc)(?![a-z])/i;
const SECRET_PARTS = /(?:Otp|Pin)(?![a-z])/;  // of a name that is written in one: userOtp
const SECRET_PARAMETER = /passw|passcode|passphrase|pwd|^pin$|otp|cvc|cvv|token|secret|api_?key|^code$|^sig$|signature|session_?id|^sid$|jwt/i;
let pinned = null;
let pinnedKey;

const squeeze = (text) => (text || "").replace(/\s+/g, " ").trim();
const clip = (text, size) => (text.length > size ? text.slice(0, size) + "..." : text);
// No part of what an element says: code, and what was written into a field in it.
const UNSAID = "script,style,template,noscript,textarea";

function textOf(el, unsaid = UNSAID) {
  if (matches(el, unsaid)) return "";
  if (!findIn(el, unsaid)) return squeeze(textContentOf(el));
  const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  const said = [];
  while (walker.nextNode()) {
    if (!closest(parentOf(walker.currentNode), unsaid)) said.push(walker.currentNode.data);
  }
  return squeeze(said.join(""));
}

// cyrb53: fast, stable, 53 bits. A change detector, not a proof.
function hash(text) {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16);
}

// The address without what was sent in it that nobody else should read.
function safeUrl(address = location.href) {
  const cut = (text) => text.replace(/([?&#;])([^=&#;?]*)=([^&#;]*)/g, (whole, mark, name, value) =>
    value && SECRET_PARAMETER.test(decoded(name)) ? `${mark}${name}=(secret)` : whole);
  const at = address.search(/[?#]/);
  return at < 0 ? address : address.slice(0, at) + cut(address.slice(at));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// ---- roles ----------------------------------------------------------------------------------------

// The role of an element; nothing for one that is only a box.
function roleOf(el) {
  const given = attribute(el, "role");
  const role = given ? givenRole(el, given) : nativeRole(el);
  return (role === "" || role === "paragraph") && !given && matches(el, EDITING_HOST) ? "textbox" : role;
}

// The first role that exists. One that hides the element is not taken where it can be focused or
// has a label of its own; a region without a name is none.
function givenRole(el, given) {
  for (const token of given.toLowerCase().split(/\s+/)) {
    if (!ROLES.has(token) && !/^(doc|graphics)-/.test(token)) continue;
    if (token === "none" || token === "presentation") return isFocusable(el) || isNamed(el) ? nativeRole(el) : "none";
    if ((token === "region" || token === "form") && !isNamed(el)) continue;
    return token === "generic" ? "" : token === "image" ? "img" : token;
  }
  return nativeRole(el);
}

function nativeRole(el) {
  const role = Object.hasOwn(TAG_ROLES, tagOf(el)) ? TAG_ROLES[tagOf(el)] : "";
  return typeof role === "function" ? role(el) : role;
}

function heading() {
  return "heading";
}

function linkRole(el) {
  return hasAttribute(el, "href") || hasAttribute(el, "xlink:href") ? "link" : "";
}

function inputRole(el) {
  const role = Object.hasOwn(INPUT_ROLES, el.type) ? INPUT_ROLES[el.type] : "textbox";
  const listed = hasAttribute(el, "list") && /^(text|search|tel|url|email)$/.test(el.type);
  return listed && el.list ? "combobox" : role;
}

function imageRole(el) {
  return attribute(el, "alt") === "" && !isFocusable(el) && !isNamed(el) ? "none" : "img";
}

const svgTitle = (el) => [...childrenOf(el)].find((child) => tagOf(child) === "title");
const isNamed = (el) => !!(attribute(el, "aria-label")?.trim() || attribute(el, "aria-labelledby")?.trim() || attribute(el, "title")?.trim());
const isScoped = (el) => !!closestAbove(el, "article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]");
const isSummary = (el) => parentIs(el, "details") && el === [...childrenOf(parentOf(el))].find((child) => tagOf(child) === "summary");
const isGrid = (el) => !!closest(el, 'table[role="grid"],table[role="treegrid"]');

// A page can write anything there: 1.5, Infinity.
function levelOf(el) {
  const given = Math.round(Number(attribute(el, "aria-level")));
  if (given >= 1) return Math.min(given, MAX_LEVEL);
  return /^h[1-6]$/.test(tagOf(el)) ? Number(tagOf(el)[1]) : 2;
}

// Whether the keyboard gets there, or would if the element were enabled.
function isFocusable(el) {
  if (hasAttribute(el, "tabindex")) return property(el, "tabIndex") >= 0;
  switch (tagOf(el)) {
    case "a": case "area": return linkRole(el) === "link";
    case "button": case "select": case "textarea": case "iframe": case "frame": return true;
    case "input": return el.type !== "hidden";
    case "summary": return isSummary(el);
    case "audio": case "video": return el.controls;
    default: return matches(el, EDITING_HOST);
  }
}

// ---- names ----------------------------------------------------------------------------------------

// While a whole page is read, the labels of each document by what they label: to ask a field for its
// labels walks the document once for each field.
let labelsKnown = null;

function labelsOf(el) {
  if (!property(el, "labels") && tagOf(el) !== "input") return [];
  const root = rootOf(el);
  if (!labelsKnown) return closest(el, "label") || (attribute(el, "id") && findIn(root, "label")) ? [...el.labels || []] : [];
  if (!labelsKnown.has(root)) {
    const known = new Map();
    for (const label of findAll(root, "label")) {
      const control = label.control;
      if (control) known.set(control, [...known.get(control) || [], label]);
    }
    labelsKnown.set(root, known);
  }
  return labelsKnown.get(root).get(el) || [];
}

function nameOf(el, role) {
  const seen = new Set();
  return squeeze(
    namedBy(el, seen) || attribute(el, "aria-label")?.trim() || nativeName(el, role, seen)
    || (namedByContent(el, role) ? contentOf(el, seen) : "") || tooltipOf(el) || placeholderOf(el));
}

// Names are cut at a length: what would come behind it is not read, nor what is nested without end.
const ENOUGH = 1000;
const MAX_PARTS = 500;

const namedByContent = (el, role) => NAMED_BY_CONTENT.has(role) || (role === "" && hasAttribute(el, "tabindex"));
const tooltipOf = (el) => squeeze(attribute(el, "title"));
const placeholderOf = (el) => squeeze(attribute(el, "placeholder") || attribute(el, "aria-placeholder"));

function namedBy(el, seen) {
  const given = attribute(el, "aria-labelledby");
  if (!given) return "";
  const root = rootOf(el);
  const others = given.trim().split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean);
  return squeeze(others.map((other) => saidBy(other, new Set(seen), { named: true, hidden: !isShown(other) })).join(" "));
}

// What an element gives to the name of another: its own label, what a control holds, what is in it.
function saidBy(el, seen, how) {
  if (seen.has(el) || seen.size > MAX_PARTS) return "";
  seen.add(el);
  const named = !how.named && namedBy(el, seen);
  if (named) return named;
  const role = roleOf(el);
  return heldBy(el, role) || attribute(el, "aria-label")?.trim()
    || nativeName(el, role, seen, true) || contentOf(el, seen, how) || tooltipOf(el);
}

function heldBy(el, role) {
  switch (role) {
    case "textbox": case "searchbox": case "spinbutton": case "slider": case "combobox": case "listbox":
      return isSecret(el) ? "" : attribute(el, "aria-valuetext") || attribute(el, "aria-valuenow") || valueOf(el) || "";
    default:
      return "";
  }
}

// What the tag itself says an element is called. Inside the name of another, labels do not count.
function nativeName(el, role, seen, inside = false) {
  switch (tagOf(el)) {
    case "input":
      return (!inside && labelled(el, seen)) || inputName(el);
    case "select": case "textarea": case "button": case "meter": case "progress": case "output":
      return inside ? "" : labelled(el, seen);
    case "img": case "area":
      return squeeze(attribute(el, "alt"));
    case "svg": case "a":
      return namespaceOf(el) === "http://www.w3.org/2000/svg" ? squeeze(svgTitle(el) && textContentOf(svgTitle(el))) : "";
    case "fieldset": return childName(el, "legend", seen);
    case "figure": return childName(el, "figcaption", seen);
    case "table": return childName(el, "caption", seen);
    case "option": case "optgroup": return squeeze(attribute(el, "label"));
    default:
      return property(el, "labels") ? labelled(el, seen) : "";
  }
}

function labelled(el, seen) {
  const labels = labelsOf(el);
  if (!labels.length) return "";
  const own = new Set(seen).add(el);
  return squeeze(labels.map((label) => saidBy(label, own, { hidden: !isShown(label) })).join(" "));
}

function inputName(el) {
  switch (el.type) {
    case "submit": return squeeze(el.value) || "Submit";
    case "reset": return squeeze(el.value) || "Reset";
    case "button": return squeeze(el.value);
    case "image": return squeeze(attribute(el, "alt")) || squeeze(attribute(el, "value")) || tooltipOf(el) || "Submit";
    case "file": return tooltipOf(el) || (el.multiple ? "Choose Files" : "Choose File");
    default: return "";
  }
}

function childName(el, tag, seen) {
  const child = [...childrenOf(el)].find((other) => tagOf(other) === tag);
  return child && isShown(child) ? squeeze(saidBy(child, new Set(seen), {})) : "";
}

// What is inside of an element, in the order in which it is shown: words of boxes stand apart.
function contentOf(el, seen, how = {}) {
  const said = [];
  let size = 0;
  const say = (text) => {
    if (text) said.push(text);
    size += text.length;
  };
  say(generated(el, "::before"));
  for (const node of shownChildren(el)) {
    if (size > ENOUGH) break;
    if (typeOf(node) === 3) say(transformed(el, node.data));
    else if (typeOf(node) === 1 && isSaid(node, how)) say(apart(node, saidBy(node, seen, how)));
  }
  say(generated(el, "::after"));
  return squeeze(said.join("")) && said.join("");
}

// As it is shown: browsers name a button that is written in capitals so.
function transformed(el, text) {
  const how = text.trim() ? getComputedStyle(el).textTransform : "none";
  if (how === "none") return text;
  if (how === "uppercase") return text.toUpperCase();
  if (how === "lowercase") return text.toLowerCase();
  return how === "capitalize" ? text.replace(/(?<![\p{L}\p{N}'])\p{L}/gu, (letter) => letter.toUpperCase()) : text;
}

const SILENT = new Set(["script", "style", "template", "noscript", "title", "datalist"]);

const isSaid = (el, how) => !SILENT.has(tagOf(el)) && attribute(el, "aria-hidden") !== "true" && (how.hidden || isShown(el));

function apart(el, text) {
  if (tagOf(el) === "br") return " ";
  const display = text && getComputedStyle(el).display;
  return !display || display === "inline" || display === "contents" ? text : ` ${text} `;
}

// Text that the style sheet puts there. Signs of an icon font are pictures, no words.
function generated(el, where) {
  const style = getComputedStyle(el, where);
  const content = style.content;
  if (content === "none" || content === "normal" || content[0] !== '"' || style.display === "none") return "";
  const said = content.match(/"((?:[^"\\]|\\.)*)"\s*$/)?.[1].replace(/\\(.)/g, "$1").replace(/[\ue000-\uf8ff]/g, "") || "";
  return style.display === "inline" ? said : ` ${said} `;
}

// The children of an element as they are shown: of its shadow root if it has one, of the slot's guests.
function shownChildren(el) {
  if (shadowOf(el)) return nodesOf(shadowOf(el));
  if (tagOf(el) !== "slot") return nodesOf(el);
  const guests = el.assignedNodes();
  return guests.length ? guests : nodesOf(el);
}

// ---- whether it is seen ---------------------------------------------------------------------------

const SHOWN = { visibilityProperty: true };

// Has a box, or lets its children have one.
const isShown = (el) => checkVisibility(el, SHOWN) || getComputedStyle(el).display === "contents" && !!parentOf(el) && isShown(parentOf(el));

const frameOf = (el) => documentOf(el) === document ? null : documentOf(el).defaultView?.frameElement;

function isVisible(el) {
  if (!checkVisibility(el, SHOWN)) return false;
  const box = rectOf(el);
  if (!(box.width > 0 && box.height > 0)) return false;
  const frame = frameOf(el);
  return !frame || isVisible(frame);
}

// Where the inside of a frame begins in the viewport of the page.
function originOf(frame) {
  if (!frame) return [0, 0];
  const [x, y] = originOf(frameOf(frame));
  const box = rectOf(frame);
  const style = getComputedStyle(frame);
  return [x + box.x + frame.clientLeft + parseFloat(style.paddingLeft), y + box.y + frame.clientTop + parseFloat(style.paddingTop)];
}

// In coordinates of the viewport. Where an element has no extent of its own, that of what is in it.
function extentOf(el, origin = originOf(frameOf(el))) {
  let box = rectOf(el);
  if (!(box.width > 0 && box.height > 0) && firstNodeOf(el)) {
    const inside = documentOf(el).createRange();
    inside.selectNodeContents(el);
    box = inside.getBoundingClientRect();
  }
  return [box.x + origin[0], box.y + origin[1], box.width, box.height];
}

const boxOf = (el) => extentOf(el).map(Math.round);

const inViewport = (box) => box[0] < innerWidth && box[1] < innerHeight && box[0] + box[2] > 0 && box[1] + box[3] > 0;

// ---- whether a person sees it ---------------------------------------------------------------------

// Text that has a box and still is on nobody's screen: a screen reader says it. While a whole page is
// read, what is known of each element is kept.
let seenKnown = null;
const FAR = 500;
const FAR_RIGHT = 10000;
const FAINT = 0.05;
const ALIKE = 30;
const CLIPPED = /^(?:inset\((?:[5-9]\d|100)(?:\.\d+)?%|circle\(0(?:px|%)?[ )]|ellipse\(0|polygon\(0(?:px|%)? 0(?:px|%)?(?:, 0(?:px|%)? 0(?:px|%)?)*\))/;
const PICTURES = new Set(["img", "video", "canvas", "svg", "picture", "iframe"]);

const above = (el) => slotOf(el) || parentOf(el) || shadowHost(rootOf(el)) || frameOf(el);
const isSeen = (el) => kept("text", el, isWritten) && isInSight(el);

const known = (what) => ((seenKnown ||= {})[what] ||= new WeakMap());

function kept(what, el, find) {
  const all = known(what);
  if (!all.has(el)) all.set(el, find(el));
  return all.get(el);
}

function isInSight(el) {
  for (let each = el; each; each = above(each)) if (!kept("box", each, leavesInSight)) return false;
  return true;
}

// Whether an element lets what is in it be seen.
function leavesInSight(el) {
  const style = getComputedStyle(el);
  if (style.opacity < FAINT || /opacity\(0(?:\.0\d*)?%?\)/.test(style.filter)) return false;
  if (CLIPPED.test(style.clipPath) || isClipped(style.clip) || isFarAway(style)) return false;
  const cuts = style.overflowX !== "visible" || style.overflowY !== "visible";
  if (!cuts && style.transform === "none" || style.display === "inline" || style.display === "contents") return true;
  const { width, height } = rectOf(el);
  return width > 1 && height > 1;
}

function isClipped(clip) {
  if (clip === "auto") return false;
  const [top, right, bottom, left] = clip.match(/-?[\d.]+/g)?.map(Number) || [];
  return right - left <= 1 || bottom - top <= 1;
}

function isFarAway(style) {
  if (parseFloat(style.marginLeft) <= -FAR || parseFloat(style.marginTop) <= -FAR) return true;
  const { transform } = style;
  const [x, y] = transform === "none" ? [0, 0] : (transform.match(/-?[\d.e+-]+/g) || []).slice(-2).map(Number);
  if (transform.startsWith("matrix(") && (x <= -2 * FAR || y <= -2 * FAR || x >= FAR_RIGHT)) return true;
  if (style.position === "static") return false;
  return parseFloat(style.left) <= -FAR || parseFloat(style.top) <= -FAR || parseFloat(style.left) >= FAR_RIGHT;
}

// Whether the words of an element are written in letters that can be told from what is behind them.
function isWritten(el) {
  if (!checkVisibility(el, SHOWN) && getComputedStyle(el).display !== "contents") return false;
  const style = getComputedStyle(el);
  if (parseFloat(style.fontSize) <= 1 || parseFloat(style.textIndent) <= -FAR) return false;
  const ink = colourOf(style.webkitTextFillColor);
  if (!ink) return true;
  const behind = ink[3] < FAINT ? null : backgroundOf(el);
  if (ink[3] >= FAINT && (!behind || !areAlike(ink, behind))) return true;
  if (style.textShadow !== "none" || /text/.test(style.backgroundClip)) return true;
  return ink[3] >= FAINT && !areAlike(ink, underneath(el) || ink);
}

const areAlike = (one, other) => Math.abs(one[0] - other[0]) + Math.abs(one[1] - other[1]) + Math.abs(one[2] - other[2]) <= ALIKE;

// Null for a colour that is not told as red, green and blue. A page has few colours, and many elements.
let coloursKnown = new Map();

function colourOf(text) {
  if (!coloursKnown.has(text)) {
    if (coloursKnown.size > 1000) coloursKnown = new Map();
    const parts = /^rgba?\(/.test(text) && text.match(/[\d.]+/g)?.map(Number);
    coloursKnown.set(text, parts ? [parts[0], parts[1], parts[2], parts[3] ?? 1] : null);
  }
  return coloursKnown.get(text);
}

// Null where that cannot be told: a picture, a colour that shines through, a page in the dark.
function backgroundOf(el) {
  const ground = known("ground"), passed = [];
  let each = el, found;
  while (each && found === undefined) {
    found = ground.has(each) ? ground.get(each) : ownBackground(each);
    passed.push(each);
    if (found === undefined) each = above(each);
  }
  if (found === undefined) found = paper();
  for (const one of passed) ground.set(one, found);
  return found;
}

function ownBackground(el) {
  const style = getComputedStyle(el);
  const colour = colourOf(style.backgroundColor);
  if (style.backgroundImage !== "none" || !colour) return null;
  return colour[3] > 0 ? (colour[3] === 1 ? colour : null) : undefined;
}

const paper = () => (/dark/.test(getComputedStyle(document.documentElement).colorScheme) ? null : [255, 255, 255, 1]);

// What really lies behind it, if it is in view: it may be drawn by another element. A picture is no colour.
function underneath(el) {
  const { x, y, width, height } = rectOf(el);
  const stack = documentOf(el).elementsFromPoint(x + width / 2, y + height / 2);
  for (const each of stack.slice(stack.indexOf(el) + 1)) {
    const style = getComputedStyle(each);
    if (PICTURES.has(tagOf(each)) || style.backgroundImage !== "none") return [-999, -999, -999, 1];
    const colour = colourOf(style.backgroundColor);
    if (colour && colour[3] > FAINT) return colour;
  }
  return null;
}

// Longer than any label: a text in an attribute that nobody sees.
const LONG_LABEL = 60;
const MAX_WORDS = 60;

// How an element, or what it is called, is kept from sight: only a screen reader says it.
function unseenAs(el, name) {
  if (!isInSight(el)) return "unseen";
  if (!name) return "";
  const sources = [el, ...labelsOf(el)];
  if (sources.some(hasUnseenWords)) return "name-unseen";
  if (name.length <= LONG_LABEL) return "";
  const bare = (text) => squeeze(text).replace(/ /g, "").toLowerCase();
  const said = bare([...sources.map((each) => textContentOf(each)), placeholderOf(el)].join(""));
  return said.includes(bare(name).slice(0, LONG_LABEL / 2)) ? "" : "name-unseen";
}

function hasUnseenWords(el) {
  const walker = documentOf(el).createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let count = 0; count < MAX_WORDS && walker.nextNode(); count++) {
    const inside = parentOf(walker.currentNode);
    if (!inside || !walker.currentNode.data.trim() || SILENT.has(tagOf(inside)) || closest(inside, 'option,[aria-hidden="true"]')) continue;
    if (isShown(inside) && !isSeen(inside)) return true;
  }
  return false;
}

// What an element says, without what is hidden in it.
function shownTextOf(el) {
  const walker = documentOf(el).createTreeWalker(el, NodeFilter.SHOW_TEXT);
  const said = [];
  while (walker.nextNode()) {
    const inside = parentOf(walker.currentNode);
    if (closest(inside, UNSAID) || !isShown(inside)) continue;
    if (closest(inside, '[aria-hidden="true"]') && !isSeen(inside)) continue;
    said.push(walker.currentNode.data);
  }
  return squeeze(said.join(""));
}

// The same as in actors/rules/text/untrusted.py: what nobody sees in a text.
const INVISIBLE = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ue000-\uf8ff\ufdd0-\ufdef\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]+/gu;
const plainOf = (text) => text.replace(INVISIBLE, "").normalize("NFC");

// ---- states and values ----------------------------------------------------------------------------

// Fields that were secret once stay so: a page may show a password as plain text on request. Each
// document has its own; they are found through the document, since a frame's fields are read from here.
const secretFields = new WeakSet();
globalThis.rutterSecrets = secretFields;

function isSecret(el) {
  if (tagOf(el) !== "input" && tagOf(el) !== "textarea") return false;
  if (secretFields.has(el) || documentOf(el) !== document && documentOf(el).defaultView?.rutterSecrets?.has(el)) return true;
  if (!looksSecret(el)) return false;
  secretFields.add(el);
  return true;
}

// By what kind of field it is, before its value is ever looked at.
function looksSecret(el) {
  if (el.type === "password") return true;
  if (/password|one-time-code|cc-number|cc-csc/.test(attribute(el, "autocomplete") || "")) return true;
  if (SECRET_PARTS.test(`${el.name} ${el.id}`)) return true;
  const labels = [...labelsOf(el), ...labelledBy(el)].map((label) => textOf(label));
  const said = [el.name, el.id, attribute(el, "aria-label"), el.placeholder, el.title, ...labels];
  return SECRET_WORDS.test(said.join(" "));
}

function labelledBy(el) {
  const ids = squeeze(attribute(el, "aria-labelledby"));
  return ids ? ids.split(" ").map((id) => rootOf(el).getElementById?.(id)).filter(Boolean) : [];
}

// Before anything is typed into it.
addEventListener("focusin", (event) => {
  const el = event.composedPath()[0];
  if (el?.localName) isSecret(el);
}, true);

const isOn = (el, name) => attribute(el, name) === "true";

function stateOf(el, role = "") {
  const state = [];
  if (matches(el, ":disabled") || closest(el, '[aria-disabled="true"]')) state.push("disabled");
  if (property(el, "readOnly") === true && !UNWRITTEN.has(el.type) || isOn(el, "aria-readonly")) state.push("readonly");
  const checked = checkedOf(el, role);
  if (checked) state.push(checked);
  if (isOn(el, "aria-selected")) state.push("selected");
  if (isOn(el, "aria-pressed")) state.push("pressed");
  const expanded = expandedOf(el);
  if (expanded) state.push(expanded);
  if (property(el, "required") === true || isOn(el, "aria-required")) state.push("required");
  const invalid = attribute(el, "aria-invalid");
  if (invalid && invalid !== "false") state.push("invalid");
  if (isOn(el, "aria-busy")) state.push("busy");
  return state;
}

function checkedOf(el, role) {
  if (tagOf(el) === "input" && (el.type === "checkbox" || el.type === "radio")) {
    return el.indeterminate && el.type === "checkbox" ? "mixed" : el.checked ? "checked" : "unchecked";
  }
  const given = attribute(el, "aria-checked") || (CHECKED.has(role) ? "false" : "");
  return given && (given === "mixed" ? "mixed" : given === "true" ? "checked" : "unchecked");
}

function expandedOf(el) {
  if (tagOf(el) === "summary" && isSummary(el)) return parentOf(el).open ? "expanded" : "collapsed";
  const expanded = attribute(el, "aria-expanded");
  return expanded === "true" ? "expanded" : expanded === "false" ? "collapsed" : "";
}

// Null for what holds no value. A secret field tells only whether it is empty.
function valueOf(el) {
  switch (tagOf(el)) {
    case "input":
      if (isSecret(el)) return el.value ? "(secret)" : "";
      return CHECKED.has(el.type) || BUTTONS.has(el.type) ? null : el.value;
    case "textarea":
      return isSecret(el) ? (el.value ? "(secret)" : "") : el.value;
    case "select":
      return [...el.selectedOptions].map((option) => squeeze(option.label)).join(", ");
    default:
      if (property(el, "isContentEditable") && matches(el, EDITING_HOST)) return squeeze(textContentOf(el));
      return attribute(el, "aria-valuetext") || attribute(el, "aria-valuenow");
  }
}
