// What an element is known again by, and what on this page is most like one that was recorded.

const MAX_LOOKALIKES = 12;
const MAX_SEARCHED = 20000;
const MAX_WEIGHED = 400; // those are looked at with their surroundings, which costs
const MAX_TOLD = 15000; // bytes: an event stays within 16 KB
const MAX_TRAIT = 240;

// ---- what is kept of it ----------------------------------------------------------------------

// Its own marks, and what it does: where a link leads, what a button sends, what a field is called
// in the form that is sent. The last are worth more than any wording when a page is redesigned.
function traitsOf(el) {
  const traits = lastingOf(el);
  const actor = setOff(el);
  const address = attribute(actor, "href");
  const within = rootsAround(el).join(" ");
  if (within) traits.push(["within", within]);
  const led = address && bearing(address);
  if (led) traits.push(["href", led]);
  if (led && led.includes("*")) traits.push(["numbered", numbersOf(address)]);
  if (property(actor, "form")) {
    const sent = sentBy(actor);
    if (sent) traits.push(["form", sent]);
    if (submits(actor)) traits.push(["sends", sendsAlone(actor) ? "alone" : "with others"]);
    if (isSubmit(actor) && isOnlySubmit(actor)) traits.push(["only", "submit"]);
    const bears = bearingOfForm(actor);
    if (bears) traits.push(["bears", bears]);
    const home = homeOfForm(actor);
    if (home) traits.push(["home", home]);
  }
  const icon = !calledBy(el, roleOf(el)) && !saidIn(el) && clip(pictureOf(el, actor), 80);
  if (icon) traits.push(["icon", icon]);
  if (hasOwnValue(actor)) traits.push(["value", clip(attribute(actor, "value") || "", 80)]);
  return traits;
}

// The roots that it is in, from outside: a shadow root, or a frame by its number in the page around it.
function rootsAround(el) {
  const found = [];
  for (let at = el; hostOf(at); at = hostOf(at)) found.unshift(shadowHost(rootOf(at)) ? "s" : frameNumber(documentOf(at).defaultView));
  return found;
}

function frameNumber(view) {
  for (let at = 0; at < view.parent.length; at++) if (view.parent[at] === view) return at;
  return 0;
}

// Not what was typed into it: what it stands for.
const hasOwnValue = (el) =>
  (tagOf(el) === "input" && CHECKED.has(el.type)) || (submits(el) && el.name && hasAttribute(el, "value"));

// Whether what it sends tells it from the other buttons of its form.
function sendsAlone(el) {
  const asked = (other) => JSON.stringify(["name", "value", "formaction", "formmethod"].map((name) => attribute(other, name)));
  return !fieldsOf(property(el, "form")).some((other) => other !== el && submits(other) && asked(other) === asked(el));
}

const isOnlySubmit = (el) => ownOf(property(el, "form"), "button,input").filter(isSubmit).length === 1;

// Two that differ behind the cut still differ.
const shortened = (text) => (text.length > MAX_TRAIT ? `${text.slice(0, MAX_TRAIT - 20)}~${hash(text)}` : text);

const fieldsOf = (form) => [...property(form, "elements")];

// A form that says neither where nor how is most likely sent by a script: where, nobody can see.
function sentBy(el) {
  const form = property(el, "form");
  const { written: method, method: known } = formOf(el);
  const address = attribute(el, "formaction") || attribute(form, "action");
  if (!address && known === "unknown") return "";
  return shortened(`${method} ${bearing(address || location.href)} ${sentFields(form)}`);
}

// While a whole page is searched, each form is gone through once and not for each of its fields.
let formsKnown = null;
let namesKnown = null;

function sentFields(form) {
  const known = formsKnown?.get(form);
  if (known !== undefined) return known;
  const fields = new Set();
  for (const field of fieldsOf(form)) {
    if (!field.name || submits(field)) continue;
    fields.add(field.type === "hidden" ? hiddenField(field) : field.name);
  }
  const names = [...fields].sort().join(" ");
  formsKnown?.set(form, names);
  return names;
}

// What its form is, whatever has become of its address: the method, the path without ids and without the
// stage that what is edited is at (`/notes/add`, `/notes/17/edit`), and what it sends.
const STAGE = /^(?:add|new|create|edit|change|update)$/i;

function bearingOfForm(el) {
  const form = property(el, "form");
  const names = form ? namesIn(form) : "";
  if (!names) return "";
  const { written, exact } = formOf(el);
  if (/^\s*javascript:/i.test(exact)) return "";
  try {
    const url = new URL(exact, documentOf(el).baseURI);
    const kept = url.pathname.split("/").filter((part) => part && !/\d/.test(part) && !STAGE.test(part));
    const at = url.origin === location.origin ? "" : url.origin;
    return shortened(`${written} ${at}/${kept.join("/")} ${names}`);
  } catch {
    return "";
  }
}

// The same of a form that is sent to the very page that it is on: whatever that page is called by then.
// An application that saves by itself turns what is added into what is edited, with another address.
function homeOfForm(el) {
  const form = property(el, "form");
  const names = form ? namesIn(form) : "";
  if (!names) return "";
  const { written, exact } = formOf(el);
  try {
    const to = new URL(exact, documentOf(el).baseURI), at = new URL(documentOf(el).URL);
    return to.origin === at.origin && to.pathname === at.pathname ? shortened(`${written} . ${names}`) : "";
  } catch {
    return "";
  }
}

// Of what is hidden only words count: what is to be done. Ids come with the first save.
function namesIn(form) {
  const known = namesKnown?.get(form);
  if (known !== undefined) return known;
  const names = new Set();
  for (const field of fieldsOf(form)) {
    if (!field.name || submits(field)) continue;
    const name = field.name.replace(/\d+/g, "#");
    if (field.type !== "hidden") names.add(name);
    else if (saysWhatToDo(field)) names.add(`${name}=${field.value}`);
  }
  const all = [...names].sort().join(" ");
  namesKnown?.set(form, all);
  return all;
}

// What a script writes where there is no value yet is no word.
const saysWhatToDo = ({ name, value }) =>
  /^(?!(?:null|undefined)$)[a-z][a-z_-]{0,30}$/i.test(value) && (/^_?method$/i.test(name) || !(SESSION_KEY.test(name) || SECRET_PARAMETER.test(name)));

// Keys of a session are other ones each time and tell nothing; some of them nobody should read.
const SESSION_KEY = /csrf|xsrf|nonce|viewstate|eventvalidation|^_/i;

const hiddenField = ({ name, value }) =>
  `${name}=${SESSION_KEY.test(name) || SECRET_PARAMETER.test(name) ? "~" : standsFor(value)}`;

// An address with what varies taken out: what this page itself is about is named by its place in the
// page's own address (`@2`), any other number is `*`. Empty for what leads nowhere.
function bearing(address) {
  if (/^\s*(#(?![/!])|javascript:|$)/i.test(address)) return "";
  try {
    const url = new URL(address, document.baseURI);
    const at = url.origin === location.origin ? "" : url.origin;
    const path = url.pathname.split("/").map(standsFor).join("/");
    const query = [...url.searchParams].map(([name, value]) => `${name}=${SECRET_PARAMETER.test(name) ? "*" : standsFor(value)}`).sort();
    const route = /^#[/!]/.test(url.hash) ? url.hash.split("/").map(standsFor).join("/") : "";
    return shortened(at + path + (query.length ? `?${query.join("&")}` : "") + route);
  } catch {
    return "";
  }
}

// What `*` stands for in an address: with it, the address is that very one.
function numbersOf(address) {
  const url = new URL(address, document.baseURI);
  const asked = [...url.searchParams].filter(([name]) => !SECRET_PARAMETER.test(name)).map(([, value]) => value);
  return clip([...url.pathname.split("/"), ...asked, ...url.hash.split("/")].filter((part) => standsFor(part) === "*").join(" "), 80);
}

function standsFor(part) {
  if (!part) return "";
  const own = location.pathname.split("/").indexOf(part);
  if (own >= 0) return `@${own}`;
  const asked = [...new URLSearchParams(location.search)].find(([, value]) => value === part);
  if (asked) return `@${asked[0]}`;
  return /\d/.test(part) ? "*" : clip(part, 60);
}

// What stands before it, behind it and above it, and what it is a part of, in this order. Boxes that
// hold nothing else are looked through: a redesign wraps.
function surroundings(el) {
  const outer = unwrapped(el);
  const above = parentOf(outer) && unwrapped(parentOf(outer));
  const texts = [elementBefore(outer), elementAfter(outer), above && elementBefore(above)]
    .map((other) => (other ? clip(textOf(other), 40) : ""));
  return [...texts, clip(groupOf(el), 40)].map((text) => [text]);
}

function unwrapped(el) {
  let at = el;
  const page = documentOf(el).body;
  for (let up = parentOf(at); up && up !== page && childrenOf(up).length === 1; up = parentOf(at)) at = up;
  return at;
}

const GROUPS = "fieldset,dialog,[aria-label],[aria-labelledby],table,tr";

function groupOf(el) {
  for (let at = closestAbove(el, GROUPS); at; at = closestAbove(at, GROUPS)) {
    const named = tagOf(at) === "tr" ? textOf(at) : nameOf(at, roleOf(at));
    if (named) return named;
  }
  return "";
}

// ---- what is like it -------------------------------------------------------------------------

// The few elements most like the recorded one, in the order of the page. None when there are too
// many to be sure that the best is among them. Which of them it is, is not decided here.
// `wide`: also `others`, which only a person may choose.
function lookalikes(recorded, wide = false) {
  const tag = CSS.escape(recorded.tag);
  const all = everywhere(recorded.role ? `${INTERACTIVE},${tag}` : tag);
  if (all.length > MAX_SEARCHED) return { elements: [], others: [] };
  const before = labelsKnown;
  labelsKnown ||= new Map();
  formsKnown = new Map();
  namesKnown = new Map();
  try {
    return { elements: mostLike(all, recorded), others: wide ? [...inTheWay(), ...lessLike(all, recorded)] : [] };
  } finally {
    labelsKnown = before;
    formsKnown = null;
    namesKnown = null;
  }
}

function mostLike(all, recorded) {
  const wanted = wantedOf(recorded);
  const found = [];
  all.forEach((el, at) => {
    const role = roleOf(el);
    if (akin(role, wanted.role) && isReachable(el)) found.push({ el, role, at, points: resemblance(el, role, wanted) });
  });
  const better = (a, b) => b.points - a.points || a.at - b.at;
  const weighed = found.sort(better).slice(0, MAX_WEIGHED);
  for (const entry of weighed) entry.points += 2 * shared(wanted.near, surroundings(entry.el).map(([text]) => lowered(text)));
  const best = weighed.sort(better).slice(0, MAX_LOOKALIKES);
  return within(best.map(({ el, at }) => ({ at, told: describe(el) }))).sort((a, b) => a.at - b.at).map(({ told }) => told);
}

function wantedOf(recorded) {
  const traits = new Map(recorded.attributes || []);
  return {
    role: recorded.role || "", tag: recorded.tag, traits, box: recorded.box,
    words: wordsOf(recorded.name?.[0] || recorded.text?.[0] || ""),
    near: (recorded.near || []).map(([text]) => lowered(text)).filter(Boolean),
  };
}

const TYPED_INTO = new Set(["textbox", "searchbox"]);
const akin = (role, other) => role === other || (TYPED_INTO.has(role) && TYPED_INTO.has(other));
const lowered = (text) => squeeze(text).toLowerCase();
const wordsOf = (text) => lowered(text).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
const shared = (wanted, found) => (wanted.length ? wanted.filter((each) => found.includes(each)).length / wanted.length : 0);

// Cheap, and only to leave out what is not like it at all.
function resemblance(el, role, wanted) {
  const traits = traitsOf(el);
  const same = traits.filter(([name, value]) => wanted.traits.get(name) === value).length;
  const words = shared(wanted.words, wordsOf(nameOf(el, role) || textOf(el)));
  return 3 * words + same + (tagOf(el) === wanted.tag ? 0.5 : 0) + closeness(el, wanted.box);
}

function closeness(el, box) {
  if (!box) return 0;
  const here = boxOf(el);
  return 0.2 / (1 + (Math.abs(here[0] - box[0]) + Math.abs(here[1] - box[1])) / 100);
}

// The best of them, as many as an event may hold.
function within(best) {
  let left = MAX_TOLD;
  const size = (told) => new TextEncoder().encode(JSON.stringify(told)).length;
  return best.filter(({ told }) => (left -= size(told)) >= 0);
}

// ---- what only a person may choose -------------------------------------------------------------

const PRESSED_ROLES = new Set(["button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "option", "switch", "treeitem"]);
const CHOSEN_ROLES = new Set(["combobox", "listbox", "textbox", "searchbox", "spinbutton"]);
const MAX_LESS = 4;
const kin = (role, other) => akin(role, other) || [PRESSED_ROLES, CHOSEN_ROLES].some((roles) => roles.has(role) && roles.has(other));

// What is used alike but has another role, and what is like it but hidden, with what would open it.
function lessLike(all, recorded) {
  const wanted = wantedOf(recorded);
  const found = [];
  for (const el of all) {
    const role = roleOf(el);
    const shown = isReachable(el);
    if (!kin(role, wanted.role) || (shown && akin(role, wanted.role))) continue;
    const points = resemblance(el, role, { ...wanted, box: null });
    if (points < 1 || (!shown && !openerOf(el))) continue;
    found.push({ el, points, shown });
  }
  const best = found.sort((a, b) => b.points - a.points).slice(0, MAX_LESS);
  return best.map(({ el, shown }) => (shown ? { element: describe(el) } : { element: describe(el), first: describe(openerOf(el)) }));
}

const OPENERS = "summary,button,a,[role=button],[aria-haspopup],[aria-expanded]";

// What a person would press to see it: what says that it opens the box that it is in, or stands before it.
function openerOf(el) {
  for (let at = el; at && at !== documentOf(el).body; at = around(at)) {
    const root = rootOf(at), id = attribute(at, "id") && CSS.escape(attribute(at, "id"));
    const named = id ? `[aria-controls~="${id}"],[popovertarget="${id}"],[data-target="#${id}"],[data-bs-target="#${id}"],[href="#${id}"]` : "";
    const labels = (attribute(at, "aria-labelledby") || "").split(/\s+/).filter(Boolean).map((each) => `#${CSS.escape(each)}`).join(",");
    const said = [named, labels].filter(Boolean).flatMap((each) => [...findAll(root, each)]);
    const opener = said.find((each) => isVisible(each) && matches(each, OPENERS));
    if (opener) return opener;
    const beside = !isVisible(at) && parentOf(at) && isVisible(parentOf(at)) ? parentOf(at) : null;
    if (beside) return [...findAll(beside, OPENERS)].filter((each) => isVisible(each) && !isInside(each, at)).findLast((each) => isBefore(each, at)) || null;
  }
  return null;
}

const isBefore = (one, other) => !!(Node.prototype.compareDocumentPosition.call(one, other) & Node.DOCUMENT_POSITION_FOLLOWING);

// What can be pressed in what lies over the element that was found, in the order of the page.
function inTheWay() {
  if (!pinned || !isAttached(pinned) || !isVisible(pinned)) return [];
  const [left, top, right, bottom] = inView(pinned);
  const hit = right > left && bottom > top && !freeSpot(pinned, pinned) && deepest((left + right) / 2, (top + bottom) / 2);
  if (!hit || isInside(pinned, hit)) return [];
  const layer = upTo(hit, DIALOGS) || openDialog(pinned) || layerOf(hit);
  const pressed = [...findAll(layer, INTERACTIVE), layer].filter((el) => PRESSED_ROLES.has(roleOf(el)) && isVisible(el));
  return pressed.slice(0, MAX_LESS).map((el) => ({ first: describe(el) }));
}

// The outermost box around it that is put over the page and that the element is not in.
function layerOf(hit) {
  let layer = hit;
  for (let up = hit; up && !isInside(pinned, up); up = around(up)) if (getComputedStyle(up).position !== "static") layer = up;
  return layer;
}

Object.assign(functions, { lookalikes });
