// What a person does in this page, told as it happens: trusted input only. What a script makes up
// is no step of theirs. Nothing is heard unless somebody listens: `rutterHeard` is then there.

const EDITABLE = new Set([
  "text", "search", "email", "tel", "url", "password", "number",
  "date", "time", "datetime-local", "month", "week", "color", "range",
]);
const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock"]);
// Editing, moving about in a field, and what the browser itself answers to: no step of a workflow.
const EDITING = new Set(["a", "c", "v", "x", "y", "z", "Insert"]);
const BROWSER = new Set(["l", "t", "w", "n", "r", "d", "f", "p", "j", "h", "Tab", "+", "-", "0", "F5", "F11", "F12"]);
const MOVING = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
const PRESSED = new Set(["button", "a", "summary", "area"]);
const SECRET_NAMES = {
  "current-password": "password", "new-password": "new_password", "one-time-code": "one_time_code",
  "cc-number": "card_number", "cc-csc": "card_code",
};

let field = null; // the field being typed into: {el, before, element}
let held = null; // a click on a field, held back: typing into it says the same and more
let clicked = null; // what was clicked last
let down = null; // where the pointer went down, as the page was then
let lastKey = null;

const listening = () => typeof globalThis.rutterHeard === "function";

function tell(kind, seen, more = {}) {
  globalThis.rutterHeard(JSON.stringify({ kind, ...seen, ...more }, wellFormed));
}

const origin = (event) => event.composedPath()[0];

const isEditable = (el) =>
  el.localName === "textarea" || el.isContentEditable || (el.localName === "input" && EDITABLE.has(el.type));

// The element with the page before anything came of the input: both are sent with the step.
const see = (el, key) => ({ before: observe(), element: describe(el, key), at: el });

const plain = ({ before, element }) => ({ before, element });

const slug = (text) => squeeze(text).toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").replace(/^(?=\d)/, "_").slice(0, 40);

function secretName(el) {
  for (const hint of (el.getAttribute("autocomplete") || "").split(/\s+/)) {
    if (SECRET_NAMES[hint]) return SECRET_NAMES[hint];
  }
  return slug(el.name || el.id) || slug(nameOf(el, roleOf(el))) || "secret";
}

const fieldName = (el) => slug(nameOf(el, roleOf(el))) || slug(el.name || el.id) || "file";

const holder = (el) => (el.isContentEditable ? editingHost(el) : el);

function editingHost(el) {
  let host = el;
  while (host.parentElement?.isContentEditable) host = host.parentElement;
  return host;
}

const textIn = (el) => (el.isContentEditable ? squeeze(el.innerText.replace(NO_WIDTH, "")) : "");

// ---- typing --------------------------------------------------------------------------------------

function beginField(el) {
  if (field?.at === el) return;
  endField();
  if (held && held.at !== el) release();
  held = null;
  field = { ...see(el), dirty: false, pasted: false, said: textIn(el), begun: false, stages: new Set(), whole: null };
}

// Typing is told when it is over: what the page shows and sends by then is of it already.
function tellTyping() {
  if (!field || field.begun) return;
  field.begun = true;
  tell("typing", {});
}

// What kind of field it is comes first: a secret one's value is never looked at.
function endField() {
  const typed = field;
  field = null;
  const el = typed?.at;
  if (!el || !(typed.dirty || (el.isContentEditable && textIn(el) !== typed.said))) return;
  const { pasted } = typed;
  if (isSecret(el)) tell("type", plain(typed), { secret: secretName(el), pasted });
  else tell("type", plain(typed), { value: typed.holds ?? wholeOf(typed), pasted });
}

const typedSoFar = (el) => (el.isContentEditable ? textIn(el) : el.value);

// An editor keeps its text behind what it shows. One that is handed it back late shows again, when the last
// letter is long there and was taken, what stood there some letters before. What was typed is all of it. A
// field has no text but what it shows.
const STAGES = 300, STAGE_LENGTH = 5000;

function wholeOf({ at, stages, whole }) {
  const now = typedSoFar(at);
  return whole !== null && stages.has(now) ? whole : now;
}

// Read at each letter, for several may come at once, and when the page has heard of it: it may close a bracket,
// or write over one.
function noteLetter(event) {
  const typed = field, el = typed.at;
  if (!el.isContentEditable || isSecret(el)) return;
  if (!LETTERS.has(event.inputType)) return forgetLetters();
  noteStage(typed);
  typed.whole = null;
  setTimeout(() => field === typed && (typed.whole = noteStage(typed)));
}

function noteStage({ at, stages }) {
  const now = typedSoFar(at);
  if (now.length > STAGE_LENGTH || stages.size >= STAGES) stages.clear();
  stages.add(now);
  return now;
}

const LETTERS = new Set(["insertText", "insertCompositionText"]);

// Whatever else a person does in it may take something back: that is theirs.
function forgetLetters() {
  if (!field) return;
  field.stages.clear();
  field.whole = null;
}

// Enter where lines are written makes a new one, or is what the page makes of it: sends, runs, closes. That
// is known when the page has heard of it.
let pressedEnter = null;

function enter(event, el) {
  beginField(el);
  pressedEnter = { event, el, seen: see(el, chord(event)), key: chord(event), holds: wholeOf(field), lines: linesIn(el) };
  forgetLetters();
  setTimeout(decideEnter, 0);
}

const linesIn = (el) => (el.isContentEditable ? el.innerText : el.value).length;

function decideEnter() {
  const pressed = pressedEnter;
  pressedEnter = null;
  if (!pressed) return;
  const { event, el, seen, key, holds, lines } = pressed;
  if (!event.defaultPrevented || (isAttached(el) && linesIn(el) > lines)) return;
  if (field?.at === el) field.holds = holds;
  settle();
  lastKey = { ...seen, key: event.key };
  tell("press", plain(seen), { key });
}

// A click that was held back because typing might follow, and did not.
function release() {
  const click = held;
  held = null;
  if (click) tell("click", plain(click));
}

function settle() {
  decideEnter();
  endWheel();
  endField();
  release();
}

// ---- what is heard -------------------------------------------------------------------------------

// A part of something that is switched or chosen as a whole stands for it.
const WIDGETS = ["switch", "checkbox", "radio", "option", "menuitemcheckbox", "menuitemradio", "tab"].map((role) => `[role="${role}"]`).join();
const meant = (event) => upTo(origin(event), `${WIDGETS},${SETS_OFF}`) || setOff(origin(event));

function onPointerDown(event) {
  endWheel();
  if (event.button !== 0) return;
  const el = meant(event);
  if (field && field.at !== holder(el)) endField();
  if (held && held.at !== el) release();
  tellPointing(el);
  over = null; // what the page shows from now on is because of this
  down = { ...see(el), inner: withinLabel(event, el) };
  takeHold(event, down);
}

const heldKeys = (event) => ["Control", "Alt", "Shift", "Meta"].filter((key) => event[`${key === "Control" ? "ctrl" : key.toLowerCase()}Key`]);

// With a link, and a key held or another button, the browser does something of its own: opens, saves.
const isBrowsers = (el) => !!upTo(el, "a[href],area[href]");

function onClick(event) {
  const el = meant(event);
  const modifiers = heldKeys(event);
  if (modifiers.length && isBrowsers(el)) return;
  if (event.pointerType === "" && event.detail === 0) return byKeyboard(el);
  const seen = down;
  down = null; // one click for each time the pointer went down: a label's click on its control is none
  if (!seen) return;
  if (seen.at.isConnected && seen.at !== el && !seen.at.contains(el) && !el.contains(seen.at)) return;
  const target = seen.at;
  if (["html", "body"].includes(target.localName)) return; // beside everything
  if (isListBox(target)) return twiceOn(event, target, seen);
  const waits = isEditable(target) || target.localName === "select" || target.type === "file";
  const again = event.detail === 2 && clicked === target && mayDouble(target);
  clicked = target;
  if (waits) held = held || seen;
  else if (again) tell("double", plain(seen));
  else tell("click", plain(seen), { modifiers, may_double: mayDouble(target) });
}

// What sets something off does so with each click; a link that leads nowhere else is often opened by two.
const mayDouble = (el) => !matches(el, SETS_OFF) || (el.localName === "a" && /^#/.test(attribute(el, "href") || ""));

// A list of which several entries are to be seen: what is chosen in it is told when it changes, and what is
// clicked twice is the entry.
const isListBox = (el) => el.localName === "select" && (el.multiple || el.size > 1);

function twiceOn(event, list, seen) {
  const entry = upTo(origin(event), "option");
  if (event.detail === 2 && entry) tell("double", { before: seen.before, element: describe(entry) });
  clicked = list;
}

// What is gone by the time the pointer comes up has done its work when it went down: no click follows.
const GONE_MS = 50;

function onRelease(event) {
  onPointerUp(event);
  const seen = down;
  if (seen) setTimeout(() => {
    const { at, element } = seen.inner || seen;
    if (down !== seen || isAttached(at)) return;
    down = null;
    settle(); // the click that opened it may be held back still
    tell("click", { before: seen.before, element });
  }, GONE_MS);
}

// A click in a label is one on its control, unless what was pressed is gone before there is a click.
function withinLabel(event, control) {
  const at = origin(event);
  if (isInside(at, control) || !upTo(at, "label")) return null;
  return { at, element: describe(upTo(at, "td,li,[tabindex],[role]") || at) };
}

// A menu of the page's own opens where the browser's would: known when the page has heard of it.
function onContextMenu(event) {
  const seen = see(setOff(origin(event)));
  setTimeout(() => event.defaultPrevented && tellOther(seen, "right"));
}

function onOtherClick(event) {
  const el = setOff(origin(event));
  if (event.button === 1 && !isBrowsers(el) && !isEditable(el)) tellOther(see(el), "middle");
}

function tellOther(seen, button) {
  settle();
  tell("click", plain(seen), { button });
}

// Enter in a field makes the browser click the form's button: that was the key, not a click.
function byKeyboard(el) {
  const key = lastKey;
  lastKey = null;
  if (!key) return;
  const moved = el.type === "radio" && MOVING.has(key.key);
  if (key.at !== el && !moved) return;
  tell("click", plain(moved ? see(el) : key));
}

function onKeyDown(event) {
  endWheel();
  over = null;
  if (MODIFIERS.has(event.key) || event.isComposing) return;
  const el = holder(origin(event));
  lastKey = null;
  decideEnter();
  if (event.key === "Enter" && isEditable(el) && takesLines(el) && !event.ctrlKey && !event.metaKey) return enter(event, el);
  if (isText(event, el)) return onLetter(event, el);
  if (!isStep(event, el)) {
    if (!keepsText(event)) forgetLetters();
    if (activates(event, el) || MOVING.has(event.key)) lastKey = { ...see(el), key: event.key };
    return;
  }
  settle();
  const seen = see(el, chord(event));
  lastKey = { ...seen, key: event.key };
  tell("press", plain(seen), { key: chord(event) });
}

const isText = (event, el) =>
  isEditable(el) && !event.ctrlKey && !event.metaKey &&
  (event.key.length === 1 || event.key === "Backspace" || event.key === "Delete");

function onLetter(event, el) {
  beginField(el);
  if (event.key.length > 1) return forgetLetters();
  tellTyping(); // an editor may take it, and no input follows
}

const keepsText = (event) => !event.ctrlKey && !event.metaKey && (event.key === "Tab" || MOVING.has(event.key));

const takesLines = (el) => el.localName === "textarea" || el.isContentEditable;

// The browser turns these into a click of its own, which is what is told.
const activates = (event, el) =>
  (event.key === "Enter" || event.key === " ") &&
  (PRESSED.has(el.localName) || ["checkbox", "radio", "submit", "button", "reset", "image", "file"].includes(el.type));

function isStep(event, el) {
  if (event.key === "Tab" || activates(event, el) || el.localName === "select") return false;
  if (event.altKey && MOVING.has(event.key)) return false; // back and forward
  if (event.ctrlKey || event.metaKey) {
    const editing = EDITING.has(event.key.toLowerCase()) || MOVING.has(event.key);
    return !editing && !BROWSER.has(event.key.toLowerCase()) && !BROWSER.has(event.key);
  }
  if (BROWSER.has(event.key) && event.key.length > 1) return false;
  // Letters may be a secret that goes where we cannot see it: a closed shadow root, or nowhere.
  if (event.key.length === 1 && event.key !== " " && !event.altKey) return false;
  if (isEditable(el)) return event.key === "Enter" || event.key === "Escape" || (MOVING.has(event.key) && offers(el));
  return event.key === " " || MOVING.has(event.key) ? isWidget(el) : true;
}

// A field that offers choices is moved about in with the arrows.
const offers = (el) => el.getAttribute("role") === "combobox" || el.hasAttribute("aria-autocomplete") || el.hasAttribute("aria-haspopup");

const isWidget = (el) => !!el.closest("[role]:not([role=document]):not([role=main]):not([role=application])") && el !== document.body;

function chord(event) {
  const keys = [];
  if (event.ctrlKey) keys.push("Control");
  if (event.altKey) keys.push("Alt");
  if (event.metaKey) keys.push("Meta");
  if (event.shiftKey && event.key.length > 1) keys.push("Shift");
  return [...keys, event.key].join("+");
}

function onInput(event) {
  const el = holder(origin(event));
  if (!isEditable(el)) return;
  if (field?.at !== el) beginField(el);
  field.pasted = event.inputType === "insertFromPaste" && (field.pasted || !field.dirty);
  field.dirty = true;
  noteLetter(event);
  tellTyping();
}

// An editor may make its own text of what is pasted: then no input follows.
function onPaste(event) {
  const el = holder(origin(event));
  if (!isEditable(el)) return;
  beginField(el);
  forgetLetters();
  if (el.isContentEditable) field.pasted = !field.dirty && textIn(el) === field.said;
  tellTyping();
}

// Other fields are done with when they are left: a date changes with each of its numbers.
function onChange(event) {
  const el = origin(event);
  if (el.localName === "select") onSelect(el);
  else if (el.type === "file") onFiles(el);
}

function onSelect(el) {
  const seen = held?.at === el ? held : see(el);
  held = null;
  const chosen = [...el.selectedOptions].map((option) => option.value || squeeze(option.label));
  tell("select", { before: seen.before, element: describe(el) }, { value: chosen.join("\n") });
}

function onFiles(el) {
  const seen = held?.at === el ? held : see(el);
  held = null;
  tell("upload", { before: seen.before, element: describe(el) }, { parameter: fieldName(el), files: el.files.length });
}

const HEARD = {
  pointerdown: onPointerDown, click: onClick, keydown: onKeyDown, input: onInput, change: onChange,
  beforeinput: (event) => isEditable(holder(origin(event))) && beginField(holder(origin(event))),
  contextmenu: onContextMenu, auxclick: onOtherClick, paste: onPaste, wheel: onWheel,
  pointermove: onPointerMove, pointerup: onRelease, pointerover: onPointerOver,
  pointercancel: letGo, dragstart: onDragStart, drop: onDrop, dragend: () => (dragged = null),
  focusout: (event) => field?.at === holder(origin(event)) && endField(),
  pagehide: settle,
};

// The top document of a site hears for its frames too: targets are named from there.
function hearer() {
  try {
    return globalThis.top.rutterHears || globalThis.rutterHears;
  } catch {
    return globalThis.rutterHears;
  }
}

globalThis.rutterHears = (event) => HEARD[event.type](event);

const AWAKE = "/* NAME */~";
const SEEKS_FRAMES = new Set(["pointerover", "pointerdown", "keydown", "focusin", "blur"]);

// The way to the bar of a recording, where there is one, and what hides it: no page hears of the key.
const TO_BAR = "F8";

function toBar(event) {
  if (!event.isTrusted || typeof globalThis.rutterBar !== "function") return;
  if (event.type === "fullscreenchange") return document.fullscreenElement ? globalThis.rutterBar("full_screen") : undefined;
  if (event.key !== TO_BAR) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (event.type === "keydown" && !event.repeat) globalThis.rutterBar("key");
}

function listenIn(view) {
  for (const type of ["keydown", "keyup", "fullscreenchange"]) view.addEventListener(type, toBar, { capture: true });
  const hear = (event) => {
    if (!listening() || !event.isTrusted) return;
    if (SEEKS_FRAMES.has(event.type)) hearFrames();
    if (HEARD[event.type]) hearer()(event);
  };
  for (const type of new Set([...Object.keys(HEARD), ...SEEKS_FRAMES])) view.addEventListener(type, hear, { capture: true, passive: true });
  view.addEventListener(AWAKE, () => (view.rutterAwake = true));
}

// A document that is written anew in place, as editors in frames are, forgets who listened to it.
function hearFrames() {
  for (const root of allRoots()) {
    const view = typeOf(root) === 9 && root !== document && root.defaultView;
    if (!view) continue;
    view.rutterAwake = false;
    view.dispatchEvent(new CustomEvent(AWAKE));
    if (!view.rutterAwake) listenIn(view);
  }
}

listenIn(globalThis);

// Says what is still being typed: the recording ends here.
Object.assign(functions, { settleInput: () => (listening() ? settle() : undefined, true) });
