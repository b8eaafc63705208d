// Finding one element by the ways that a target names, and saying what it is.

// ---- where elements are ----------------------------------------------------------------------------

// What is around an element as the page is shown: the slot that it is put into, the host of its root.
function around(el) {
  const parent = slotOf(el) || parentNodeOf(el);
  if (!parent || typeOf(parent) === 1) return parent;
  return typeOf(parent) === 11 ? parent.host || null : null;
}

function upTo(el, selector) {
  for (let at = el; at; at = around(at)) if (matches(at, selector)) return at;
  return null;
}

function isInside(el, outer) {
  for (let at = el; at; at = around(at)) if (at === outer) return true;
  return false;
}

// Still part of the page: a document that was navigated away from keeps its elements, but no window.
const isAttached = (el) => isConnected(el) && !!documentOf(el).defaultView;

// The element that an element's root belongs to: a shadow host, a frame. Nothing in the page itself.
const hostOf = (el) => shadowHost(rootOf(el)) || frameOf(el);
const innerRoot = (el) => shadowOf(el) || frameDocument(el);

// The document, its open shadow roots and frames, and theirs. What is asked in one go is answered
// from one list: looking at each element of a large page takes its time.
let rootsKnown = null;

function allRoots() {
  if (!rootsKnown) {
    rootsKnown = [document];
    for (const root of rootsKnown) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
      for (let el = walker.nextNode(); el; el = walker.nextNode()) if (shadowOf(el)) rootsKnown.push(shadowOf(el));
      for (const frame of findAll(root, "iframe,frame")) if (frame.contentDocument) rootsKnown.push(frame.contentDocument);
    }
    Promise.resolve().then(() => (rootsKnown = null));
  }
  return rootsKnown;
}

// ---- the ways ----------------------------------------------------------------------------------------

const DEEPER = " >>> ";
const NAMED = INTERACTIVE + ",h1,h2,h3,h4,h5,h6,img,li,option";

function candidates(strategy) {
  switch (strategy.by) {
    case "css": return byCss(strategy.selector);
    case "aria": return byRole(strategy.role, squeeze(strategy.name));
    case "text": return allRoots().flatMap((root) => byText(root, squeeze(strategy.text).toLowerCase()));
    case "beside": return besides(strategy.text, strategy.how || "label").map(({ el }) => el);
    case "ref": return byRef(strategy.ref, strategy.look || 0);
    default: return [deepest(strategy.x, strategy.y)].filter(Boolean);
  }
}

// Each part behind `>>>` is looked for in the shadow root or frame of what the part before it is.
function byCss(selector) {
  const parts = selector.split(DEEPER);
  let found = findAll(document, parts[0]);
  if (parts.length > 1 || found.length < 2) found = everywhere(parts[0]);
  for (const part of parts.slice(1)) {
    found = found.map(innerRoot).filter(Boolean).flatMap((root) => [...findAll(root, part)]);
  }
  return [...found];
}

const everywhere = (selector) => allRoots().flatMap((root) => [...findAll(root, selector)]);

function byRole(wantedRole, wantedName) {
  const before = labelsKnown;
  labelsKnown ||= new Map();
  try {
    return everywhere(NAMED).filter((el) => {
      const role = roleOf(el);
      return (!wantedRole || role === wantedRole) && nameOf(el, role) === wantedName;
    });
  } finally {
    labelsKnown = before;
  }
}

const byText = (root, wanted) =>
  [...new Set([...innermost(root, wanted)].map((el) => upTo(el, "a,button,label,summary,[role=button],[role=link],[role=tab],[role=menuitem]") || el))];

// The innermost elements that hold the text; what does not hold it is not looked into.
function innermost(root, wanted) {
  const found = new Set();
  const holding = (el) => [...childrenOf(el)].filter((c) => squeeze(textContentOf(c)).toLowerCase().includes(wanted));
  const visit = (el) => {
    const inner = holding(el);
    if (!inner.length) found.add(el);
    inner.forEach(visit);
  };
  const top = typeOf(root) === 9 ? root.body : root;
  if (top) holding(top).forEach(visit);
  return found;
}

// An element of this very look, as long as it is there: another document has another look's refs.
function byRef(ref, look) {
  const el = look === refsOf && /^@e\d+$/.test(ref) ? refs[Number(ref.slice(2))] : null;
  return el && isAttached(el) ? [el] : [];
}

// What is on top at a point of the viewport, inside of frames and shadow roots too.
function deepest(x, y) {
  let root = document, origin = [0, 0], hit = null;
  while (root) {
    const found = root.elementFromPoint(x - origin[0], y - origin[1]);
    if (!found || rootOf(found) !== root) return hit;
    hit = found;
    root = innerRoot(hit);
    if (root && typeOf(root) === 9) origin = originOf(hit);
  }
  return hit;
}

// Seen, or worked by what is seen: a box that is drawn by its label, an input that takes files.
function isReachable(el) {
  if (isVisible(el)) return true;
  if (tagOf(el) !== "input") return false;
  return el.type === "file" || (CHECKED.has(el.type) && labelsOf(el).some(isVisible));
}

function probe(strategies) {
  const tries = [];
  for (let i = 0; i < strategies.length; i++) {
    let all;
    try {
      all = candidates(strategies[i]);
    } catch {
      tries.push({ strategy: i, matches: 0, result: "invalid" });
      continue;
    }
    const seen = all.filter(isReachable);
    const result = seen.length === 1 ? "taken" : seen.length > 1 ? "ambiguous" : all.length ? "not_visible" : "none";
    tries.push({ strategy: i, matches: seen.length, result });
    if (result === "taken") return { tries, el: seen[0] };
  }
  return { tries, el: null };
}

// Where the element was when it was found: one that is elsewhere a moment later is moving.
let pinnedBox = null;
let pinnedByFocus = false; // found as what has the focus, not by a way to it
let pinnedAt = null; // the document that it was found in, and its address then

let pinnedChoice = null; // what would be chosen of a list, if that is what is to be done

function pin(el, key, byFocus = false, choice = null) {
  pinned = el;
  pinnedChoice = choice;
  pinnedKey = key ?? undefined;
  pinnedByFocus = byFocus;
  pinnedBox = el && boxOf(el).join();
  pinnedAt = el && { document: documentOf(el), url: documentOf(el).URL, top: document.URL };
}

// Whether nothing was left since it was found; of an element, whether it is in the same document.
const isWherePinned = (el) =>
  pinnedAt.document.URL === pinnedAt.url && document.URL === pinnedAt.top && (!el || documentOf(el) === pinnedAt.document);

// What the page says of there being nothing ("0 results"): told to whoever asks why nothing was found.
const NOTHING = /(^|[^\d.,:/-])0 \p{L}|^(no|nothing|none|keine?|nichts|aucune?|rien|ning\u00fan|nada|nessun|geen|nenhum) /iu;
const NOTHING_CHARS = 60;
const NOTHING_NODES = 5_000;

function saysNothing() {
  if (!document.body) return "";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(), n = 0; node && n < NOTHING_NODES; node = walker.nextNode(), n++) {
    const el = parentNodeOf(node);
    const said = el ? squeeze(textContentOf(node)) : "";
    if (said.length > NOTHING_CHARS || !NOTHING.test(said) || !isVisible(el) || isSecret(el)) continue;
    const whole = squeeze(textContentOf(el));
    return whole.length <= NOTHING_CHARS ? whole : said;
  }
  return "";
}

// Polls with the page's own frames: an element that appears is found when it is painted. What a look
// named and is gone does not come back. With a key it is judged by what that key does there, with a
// choice by what would be chosen. What is there and cannot be used as it is meant to be (`use`) is
// waited for too, where something lies over it no longer than `coverMs`. One of `others` that is there
// and free ends the wait, once it was so for a few looks: what is wanted may be drawn a moment later.
// `wanting` says that the time was over, and more of it might help.
const POLL_MS = 30;
const LOOKS = 5;

function resolve(strategies, withinMs, key, choice, others = [], use = "", coverMs = -1) {
  const end = performance.now() + withinMs;
  return new Promise((done) => {
    let seen = 0, instead = -1, coveredAt = 0;
    const look = () => {
      const now = performance.now();
      const { tries, el } = probe(strategies);
      const hindered = el && hindrance(el, use, choice);
      const lost = strategies.every((way, i) => way.by === "ref" && tries[i].result === "none");
      const other = el || !others.length ? -1 : others.findIndex(isFree);
      seen = other >= 0 && other === instead ? seen + 1 : other >= 0 ? 1 : 0;
      instead = other;
      const covered = hindered?.code === "element_obscured" && coverMs >= 0;
      coveredAt = covered ? coveredAt || now : 0;
      const settled = (el && !hindered) || lost || seen >= LOOKS || (covered && now >= coveredAt + coverMs);
      if (settled || now >= end) {
        pin(el, key, false, choice);
        const element = el ? describe(el, pinnedKey) : null;
        const says = el ? "" : saysNothing();
        done({ tries, element, instead: el ? -1 : instead, hindered: hindered || null, wanting: !settled, says });
      } else {
        setTimeout(look, POLL_MS);
      }
    };
    look();
  });
}

// Until so many elements are seen, by the first of the ways that has any; says whether, and how many.
const COMPARED = { ">=": (a, b) => a >= b, "==": (a, b) => a === b, "<=": (a, b) => a <= b, "!=": (a, b) => a !== b };

function counted(strategies, withinMs, operator, number) {
  const end = performance.now() + withinMs;
  return new Promise((done) => {
    const look = () => {
      const seen = probe(strategies).tries.find((each) => each.matches)?.matches || 0;
      const held = COMPARED[operator](seen, number);
      if (held || performance.now() >= end) done({ held, seen });
      else setTimeout(look, POLL_MS);
    };
    look();
  });
}

// The element that was found, as long as something is wrong with it that may pass; true once it can be
// used, null if it never can be. What took its place in the same document, at the same address, is
// looked at as itself: whoever asks compares it with what was judged.
function recover(strategies, withinMs, use) {
  const end = performance.now() + withinMs;
  if (!pinned || pinnedByFocus) return null;
  if (!isAttached(pinned) && (!isWherePinned() || strategies.every((way) => way.by === "ref"))) return null;
  return new Promise((done) => {
    const look = () => {
      const el = isAttached(pinned) && isReachable(pinned) ? pinned : isWherePinned() && probe(strategies).el;
      const usable = el && (el === pinned || isWherePinned(el)) && !hindrance(el, use, pinnedChoice);
      if (usable && el !== pinned) pin(el, pinnedKey, false, pinnedChoice);
      if (usable || performance.now() >= end) done(!!usable);
      else setTimeout(look, POLL_MS);
    };
    look();
  });
}

// ---- what a person would wait for ------------------------------------------------------------------

// What keeps a found element from being used so; null if nothing does.
function hindrance(el, use, choice = null) {
  if (!["click", "type", "select", "press", "drag"].includes(use)) return null;
  if (isOff(el)) return { code: "element_disabled", message: "" };
  if (use === "type" && property(el, "readOnly")) return { code: "element_disabled", message: "the field is read-only" };
  if (use === "select" && choice !== null && !hasOptions(el, choice)) return { code: "option_not_found", message: optionsIn(el) };
  if (use === "click" || use === "drag" || (use === "type" && !isSliver(el))) return cover(el);
  return null;
}

// By itself, by its fieldset, by what it is a part of.
function isOff(el) {
  const actor = setOff(el);
  return matches(el, ":disabled") || matches(actor, ":disabled") || !!upTo(el, '[aria-disabled="true"],[inert]');
}

// A list that is a text field with a list of its own has none of these.
const hasOptions = (el, value) => tagOf(el) !== "select" || optionsFor(el, value).every((option) => option && !matches(option, ":disabled"));
const optionsIn = (el) => clip([...el.options || []].map((o) => squeeze(o.label)).join(", "), 120);

// Editors catch what is typed in a field of a few pixels, below what they draw.
const isSliver = (el) => {
  const box = rectOf(el);
  return Math.min(box.width, box.height) < 10;
};

// What lies over it; nothing where it is not wholly in view, for then it cannot be told.
function cover(el) {
  const places = [el, ...(tagOf(el) === "input" ? labelsOf(el) : [])].filter(isVisible);
  if (places.some((place) => !isWhollyInView(place) || freeSpot(place, el))) return null;
  return places.length ? { code: "element_obscured", ...coveredBy(places[0]) } : null;
}

// There, and nothing lies over it as far as it is in view.
function isFree(strategies) {
  const { el } = probe(strategies);
  if (!el || dialogOver(el, 'dialog:modal,[aria-modal="true"]')) return false;
  return !cover(el);
}

function resolveFocused(key) {
  pin(activeOf() || document.body, key, true);
  return { tries: [], element: describe(pinned, pinnedKey) };
}

// ---- what an element is --------------------------------------------------------------------

// Ids in addresses change from run to run; what they stand for does not.
function templated(address, base = document.baseURI) {
  if (!address) return "";
  try {
    const url = new URL(address, base);
    const path = url.pathname.split("/").map((part) => (/\d/.test(part) ? "*" : part)).join("/");
    return url.protocol === "javascript:" ? "javascript:" : url.origin + path;
  } catch {
    return "";
  }
}

// What a click on the element sets off: the button around a word in it, the control of a label, the
// one control in a box. A box around several sets off none of them.
const setOff = (el) => upTo(el, SETS_OFF) || upTo(el, "label")?.control || onlyControl(el) || el;

function onlyControl(el) {
  if (el === documentOf(el).body || el === documentOf(el).documentElement) return null;
  const controls = findAll(shadowOf(el) || el, SETS_OFF);
  return controls.length === 1 ? controls[0] : null;
}

// What takes keys for a document of its own, which cannot be looked into.
const FRAMES = "iframe,frame,object,embed,fencedframe";

// Whether a click, or this key with the focus here, sends the form. What a key does inside a frame
// is not known, and not knowing counts as sending. A dialog's form only closes it.
function submits(el, key) {
  if (key !== undefined && matches(el, FRAMES)) return true;
  const form = property(el, "form");
  if (!form || formOf(senderOf(el, el, key)).written === "dialog") return false;
  const last = lastOf(key);
  if (tagOf(el) === "select" && attribute(el, "onchange") && !IDLE.has(last)) return true; // many send it so
  if (last === undefined) return isSubmit(el);
  if (ENTERS.has(last)) return isSubmit(el) || sentByEnter(el, form);
  return isSubmit(el) && (last === " " || last === "Space");
}

const ENTERS = new Set(["Enter", "NumpadEnter"]);
const IDLE = new Set(["Tab", "Escape", "Shift"]); // of the keys on a list: what chooses nothing
const lastOf = (key) => (key === undefined || key === "+" ? key : key.split("+").pop());
const isSubmit = (el) => (tagOf(el) === "button" && el.type === "submit") || (tagOf(el) === "input" && ["submit", "image"].includes(el.type));

// Enter in one of these sends a form that has no button, if it is the only one of them there.
const BLOCKS_SENDING = new Set(["text", "search", "tel", "url", "email", "password", "date", "month", "week", "time", "datetime-local", "number"]);
const blocksSending = (el) => tagOf(el) === "input" && BLOCKS_SENDING.has(el.type);
const sendsByEnter = (el) => tagOf(el) === "select" || (tagOf(el) === "input" && !BUTTONS.has(el.type));

function sentByEnter(el, form) {
  if (!sendsByEnter(el)) return false;
  if (defaultButton(el, form)) return true;
  const own = ownOf(form, "button,input");
  return blocksSending(el) && !own.some(isSubmit) && own.filter(blocksSending).length === 1;
}

// The button that the browser clicks for Enter in a field: the first one, and none if that is off. Where
// nothing is typed into, as in a list, those that are off are passed over.
function defaultButton(el, form) {
  const buttons = ownOf(form, "button,input").filter(isSubmit);
  const button = blocksSending(el) ? buttons[0] : buttons.find((one) => !matches(one, ":disabled"));
  return button && !matches(button, ":disabled") ? button : null;
}

// A form's own list of what belongs to it leaves out the buttons that are pictures.
const ownOf = (form, selector) => [...findAll(rootOf(form), selector)].filter((el) => property(el, "form") === form);

// What the form is sent by: for Enter in a field the form's button, else what a click sets off.
function senderOf(el, actor, key) {
  const form = ENTERS.has(lastOf(key)) && sendsByEnter(el) && property(el, "form");
  return form && defaultButton(el, form) || actor;
}

// A form that asks for a password and for who that is, and for nothing else: one that sets a password,
// or asks for it beside other things, does something else with it.
const MOST_ASKED = 3;

function signsIn(el) {
  const form = property(el, "form");
  if (!form) return false;
  const asked = ownOf(form, "input,select,textarea").filter((each) => isVisible(each) && !CHECKED.has(each.type) && !BUTTONS.has(each.type));
  const [password, second] = asked.filter((each) => each.type === "password");
  const known = password && !second && !/new-password/i.test(attribute(password, "autocomplete") || "");
  return !!known && asked.length <= MOST_ASKED && asked.every((each) => tagOf(each) === "input");
}

const attributesOf = (el) =>
  ["id", "name", "type", ...TEST_IDS].filter((a) => attribute(el, a)).map((a) => [a, clip(attribute(el, a), 80)]);

// Where and how the element's form would be sent by it. `written` is the method as the page has it: a
// form that says neither where nor how is most likely sent by a script, and how is not known.
function formOf(el) {
  const form = property(el, "form");
  if (!form) {
    const method = matches(el, FRAMES) ? "unknown" : "";
    return { action: "", method, written: method, exact: "" };
  }
  const given = attribute(el, "formmethod") || attribute(form, "method");
  const address = attribute(el, "formaction") || attribute(form, "action");
  const written = (given || "get").toLowerCase();
  const exact = address || documentOf(el).URL;
  return {
    action: templated(exact, documentOf(el).baseURI), written, exact,
    get method() { return given || leadsOn(address) || isSearch(form) ? written : "unknown"; }, // goes through its fields
  };
}

const leadsOn = (address) => !/^\s*(?:#|javascript:|$)/i.test(address || "");

// Marked as one, or with nothing to fill in but what is searched for.
function isSearch(form) {
  if (closest(form, 'search,[role="search"]')) return true;
  const fields = fieldsOf(form).filter((el) => !matches(el, 'button,fieldset,output,object') && !BUTTONS.has(el.type) && el.type !== "hidden");
  return fields.length === 1 && matches(fields[0], 'input[type="search"],[role="searchbox"],input[name="q"]');
}

// What a person writes into an element is no part of what it says.
const WRITTEN = `${UNSAID},${EDITING_HOST}`;
const isWrittenIn = (el) => property(el, "isContentEditable") === true;
const holdsText = (el) => tagOf(el) !== "select" && tagOf(el) !== "body" && !isSecret(el) && !isWrittenIn(el);
const saidIn = (el) => (holdsText(el) ? textOf(el, WRITTEN) : "");

function calledBy(el, role) {
  if (!isWrittenIn(el) || !namedByContent(el, role)) return nameOf(el, role);
  return squeeze(namedBy(el, new Set()) || attribute(el, "aria-label") || tooltipOf(el) || placeholderOf(el));
}

// An approval outlives the page, and an id that was made up for this one page does not.
const lastingOf = (el) => attributesOf(el).filter(([name, value]) => name !== "id" || isStableId(value));

// The method as it is written: what was approved when it counted as a plain one stays so.
function digestOf(el, withText, key) {
  const role = roleOf(el);
  const actor = setOff(el);
  const form = formOf(senderOf(el, actor, key));
  return hash(JSON.stringify([
    tagOf(el), role, clip(calledBy(el, role), 80), withText ? clip(saidIn(el), 80) : "",
    lastingOf(el), templated(attribute(actor, "href"), documentOf(el).baseURI), form.action, form.written,
  ]));
}

// What it is, whatever has become of its form's address: that of a field does not matter, and what sends
// the form is known by what it sends and the kind of address. Empty for what sends a form without names.
const identityOf = (el, key) => knownBy(el, key, sends(el, setOff(el), key) ? bearingOfForm : () => "-");

// The same of what sends a form to the page that it is on; empty for everything else.
const homeOf = (el, key) => knownBy(el, key, sends(el, setOff(el), key) ? homeOfForm : () => "");

function knownBy(el, key, of) {
  const role = roleOf(el);
  const actor = setOff(el);
  const form = of(senderOf(el, actor, key));
  return form && hash(JSON.stringify([
    tagOf(el), role, clip(calledBy(el, role), 80), holdsText(el) ? clip(saidIn(el), 80) : "",
    lastingOf(el), templated(attribute(actor, "href"), documentOf(el).baseURI), form,
  ]));
}

// The same with its addresses and its icon as they are: what was judged a moment ago must be what is acted on.
function exactOf(el, key) {
  const actor = setOff(el);
  const form = formOf(senderOf(el, actor, key));
  return hash(JSON.stringify([
    digestOf(el, holdsText(el), key), attribute(actor, "href") || "", form.exact, form.method, sends(el, actor, key),
    iconOf(el, actor, key), chosenOf(el),
  ]));
}

const sends = (el, actor, key) => submits(key === undefined ? actor : el, key);

// The options of a list that a value stands for, by their value or by what they say; not all may be there.
function optionsFor(el, value) {
  const options = [...el.options || []];
  const wanted = el.multiple ? value.split("\n") : [value];
  return wanted.map((one) => options.find((o) => o.value === one) || options.find((o) => squeeze(o.label).toLowerCase() === squeeze(one).toLowerCase()));
}

const chosenOf = (el) =>
  el === pinned && pinnedChoice !== null ? clip(optionsFor(el, pinnedChoice).map((o) => (o ? squeeze(o.label) : "")).join(" | "), MAX_NAME) : "";

function describe(el, key) {
  const role = roleOf(el);
  const actor = setOff(el);
  const form = formOf(senderOf(el, actor, key));
  const name = [clip(calledBy(el, role) || calledBy(actor, roleOf(actor)), MAX_NAME)];
  const text = [clip(saidIn(el), MAX_NAME)];
  return {
    tag: tagOf(el),
    digest: digestOf(el, holdsText(el), key),
    exact: exactOf(el, key),
    identity: identityOf(el, key),
    home: homeOf(el, key),
    role, name, text,
    kind: kindOf(el),
    href: templated(attribute(actor, "href"), documentOf(el).baseURI),
    form_action: form.action,
    form_method: form.method,
    submits: sends(el, actor, key),
    signs_in: signsIn(actor),
    secret: isSecret(el),
    origin: frameOf(el) ? documentOf(el).defaultView.origin : location.origin,
    ways: ways(el, role),
    icon: [chosenOf(el) || iconOf(el, actor, key)],
    fingerprint: { tag: tagOf(el), role, name, text, attributes: traitsOf(el), near: surroundings(el), box: boxOf(el) },
  };
}

// What is written into: a click puts the cursor there, unless something in it is worked by clicks.
function isEditor(el) {
  if (!isWrittenIn(el) || el === documentOf(el).body) return false;
  return !upTo(el, SETS_OFF) && !upTo(el, '[role="option"],[role="tab"],[role="switch"],[role="checkbox"],[role="radio"]') && !onlyControl(el);
}

// A click on a label is one on its control.
function kindOf(el) {
  if (tagOf(el) === "input") return el.type;
  if (isEditor(el)) return "editor";
  return tagOf(el) === "label" ? el.control?.type || "" : "";
}

// ---- what it shows in place of words ---------------------------------------------------------

const MAX_ICON = 200;
const MAX_ICONS = 8;
const ICONS_IN = "i,svg,use,img,span:empty,div:empty,[class*=icon],[class*=symbol],[data-icon],[name],[icon]";
const ICON_CLASS = /icon|glyph|symbol|sprite|trash|delete|remove|danger|destructive|^(?:fa|fas|far|bi|mdi|md|ri|bx|la|ti|pi|ion|feather|lucide|octicon|codicon|tabler)-/i;
// A class that comes and goes with the pointer says nothing of what the element is.
const PASSING = /(?:^|[-_])(?:is|has|focus\w*|hover\w*|active|ripple\w*|anim\w*|transition\w*|enter\w*|leave\w*|visible|pressed|loading|opened?|shown?|selected|disabled)(?:$|[-_])/i;
const ICON_ATTRIBUTES = ["data-icon", "data-lucide", "data-feather", "icon", "alt"];
const PICTOGRAM = /\p{Extended_Pictographic}|[\u23FB-\u23FE\u2B58]/gu;

// What a field sends its form by comes first: its button's words and pictures, then its own.
function iconOf(el, actor, key) {
  const sender = senderOf(el, actor, key);
  const own = pictureOf(el, actor);
  if (sender === actor) return own;
  const said = [clip(calledBy(sender, roleOf(sender)), MAX_NAME / 2), pictureOf(sender, sender), own];
  return [...new Set(said)].filter(Boolean).join(" | ").slice(0, MAX_ICON);
}

// The names of its pictures, symbols and classes, each told apart by a bar. Where it has no name
// every class of it counts, and what its style draws.
function pictureOf(el, actor) {
  if (matches(el, "body,html," + FRAMES) || matches(actor, "body,html")) return "";
  const name = calledBy(el, roleOf(el)) || calledBy(actor, roleOf(actor));
  const bare = !/[\p{L}\p{N}]/u.test(name);
  const own = el === actor ? [el] : [el, actor];
  const inside = [...findAll(shadowOf(actor) || actor, ICONS_IN)].filter((one) => !isWrittenIn(one)).slice(0, MAX_ICONS);
  const said = [...own, ...inside].flatMap((one) => [
    ...classesOf(one, bare), ...picturedBy(one), ...hintsOf(one, name), ...ligature(one), ...(bare ? drawnBy(one) : []),
  ]);
  const told = new Set([...said, ...((name + clip(saidIn(actor), MAX_NAME)).match(PICTOGRAM) || [])].map(squeeze));
  return [...told].filter(Boolean).join(" | ").slice(0, MAX_ICON);
}

// What is said aside of the name.
const hintsOf = (el, name) =>
  ["aria-label", "title"].map((each) => clip(squeeze(attribute(el, each)), 60)).filter((said) => said !== name);

const classesOf = (el, all) =>
  (attribute(el, "class") || "").split(/\s+/).slice(0, 12).filter((one) => !PASSING.test(one) && (all || ICON_CLASS.test(one)));

function picturedBy(el) {
  const said = ICON_ATTRIBUTES.map((name) => clip(attribute(el, name) || "", 60));
  if (tagOf(el).includes("-")) said.push(attribute(el, "name") || ""); // <ion-icon name=trash>
  if (tagOf(el) === "svg") said.push(svgTitle(el) ? squeeze(textContentOf(svgTitle(el))) : "");
  const link = tagOf(el) === "use" ? attribute(el, "href") || attribute(el, "xlink:href") : "";
  return [...said, (link || "").split("#").pop(), stemOf(attribute(el, "src"))];
}

// A font that draws a picture for a word: <span class="material-icons">delete</span>.
function ligature(el) {
  const text = /icon|symbol/i.test(attribute(el, "class") || "") && saidIn(el);
  return text && text.length <= 40 ? [text] : [];
}

function drawnBy(el) {
  const styles = [getComputedStyle(el), getComputedStyle(el, "::before"), getComputedStyle(el, "::after")];
  return styles.flatMap((style) => [
    ...[style.backgroundImage, style.maskImage].map((image) => stemOf(/url\("?([^")]+)/.exec(image || "")?.[1])),
    (/^"(.{1,40})"$/.exec(style.content || "")?.[1] || "").replace(/[\ue000-\uf8ff]/g, ""),
  ]);
}

// The name of a file, without where it is and what kind it is of.
function stemOf(address) {
  if (!address || address.startsWith("data:") || address.startsWith("blob:")) return "";
  return clip(decoded(address.split(/[?#]/)[0].split("/").pop().replace(/\.\w+$/, "")), 60);
}

// ---- how to find it again --------------------------------------------------------------------

// In the order of preference: test ids, ids that stay, other CSS, role and name, text. Where an
// element is on the screen is no way to find it again.
function ways(el, role) {
  const found = marksOf(el).map((selector) => placed(selector, el)).filter(Boolean).map((selector) => ({ by: "css", selector }));
  const cell = cellPath(el, role);
  if (cell) found.push({ by: "css", selector: cell });
  const name = clip(calledBy(el, role), MAX_NAME);
  if (role && name && probe([{ by: "aria", role, name }]).el === el) found.push({ by: "aria", role, name });
  const text = saidIn(el);
  if (NAMED_BY_CONTENT.has(role) && text && text.length <= 80 && probe([{ by: "text", text }]).el === el) found.push({ by: "text", text });
  if (!found.length) found.push({ by: "css", selector: placed(pathOf(el), el) || withHost(pathOf(el), el) });
  if (!role && text && text.length <= 80 && probe([{ by: "text", text }]).el === el) found.push({ by: "text", text });
  return found;
}

const CELLS = new Set(["gridcell", "cell", "rowheader", "columnheader"]);

// What a cell says is data: it is found by its row and column, as the grid counts them or as they stand.
function cellPath(el, role) {
  if (!CELLS.has(role)) return "";
  const row = upTo(el, "[aria-rowindex]"), [at, column] = [row && attribute(row, "aria-rowindex"), attribute(el, "aria-colindex")];
  const counted = at && column ? placed(`[aria-rowindex="${CSS.escape(at)}"] [aria-colindex="${CSS.escape(column)}"]`, el) : "";
  return counted || placed(pathOf(el), el);
}

function marksOf(el) {
  const found = [];
  for (const name of TEST_IDS) {
    const value = attribute(el, name);
    if (value) found.push(`[${name}="${CSS.escape(value)}"]`);
  }
  const id = attribute(el, "id");
  if (id && isStableId(id)) found.push(`#${CSS.escape(id)}`);
  const name = attribute(el, "name");
  if (name) found.push(`${tagOf(el)}[name="${CSS.escape(name)}"]`);
  return found;
}

// Runs of digits, long hexadecimal numbers and what frameworks count up were most likely made up for
// this one page.
const MADE_UP = [
  /\d{3,}|[:\u00ab\u00bb]|(?:^|[-_])_?r_\w{1,4}_(?:$|-)/,
  /(?<![a-z])(?=[a-f]*\d)[a-f\d]{8,}(?![a-z])|^[a-f\d-]{16,}$/i,
  /^(?:radix|mui|headlessui|ember|chakra|mantine|reach|rc|react|downshift|floating-ui|mat|cdk|ui-id|pn_id|gwt-uid|ext-gen|yui|el-id|reka|bits|tippy|select2|ag)(?![a-z]).*\d|^(?:input-)?v-\d|^input-\d+$/i,
];
const isStableId = (id) => !MADE_UP.some((pattern) => pattern.test(id));

// The selector as it is if only this element has it, else behind the way to its shadow root or frame.
function placed(selector, el) {
  if (isOnly(selector, el)) return selector;
  const deeper = withHost(selector, el);
  return deeper !== selector && isOnly(deeper, el) ? deeper : "";
}

function withHost(selector, el) {
  const host = hostOf(el);
  if (!host) return selector;
  const mark = marksOf(host).find((own) => isOnly(own, host));
  return (mark || placed(pathOf(host), host) || withHost(pathOf(host), host)) + DEEPER + selector;
}

function isOnly(selector, el) {
  try {
    const found = byCss(selector);
    return found.length === 1 && found[0] === el;
  } catch {
    return false;
  }
}

// From the root that the element is in, or from the nearest element in it that has an id of its own.
function pathOf(el) {
  const parts = [];
  const root = rootOf(el);
  for (let at = el; at && typeOf(at) === 1 && at !== root.documentElement; at = parentNodeOf(at)) {
    const id = attribute(at, "id"), own = id && isStableId(id) && `#${CSS.escape(id)}`;
    if (own && findAll(root, own).length === 1) {
      parts.unshift(own);
      break;
    }
    const same = siblingsOf(at).filter((other) => tagOf(other) === tagOf(at));
    parts.unshift(same.length > 1 ? `${tagOf(at)}:nth-of-type(${same.indexOf(at) + 1})` : tagOf(at));
  }
  return parts.join(" > ") || tagOf(el);
}

Object.assign(functions, { resolve, recover, counted, resolveFocused });
