// The last checks before input, and what is done in the page itself.

// ---- may it be acted on -----------------------------------------------------------------------------

// Still there, still the same, visible, enabled. Null if nothing is wrong with it.
function refusal(digest) {
  const el = pinned;
  if (!el || !isAttached(el)) return { code: "ref_invalid" };
  if (digest && exactOf(el, pinnedKey) !== digest) return { changed: describe(el, pinnedKey) };
  if (!isReachable(el)) return { code: "element_not_visible" };
  if (isOff(el)) return { code: "element_disabled" };
  return null;
}

// The last look before input. With `point`, also where to click: not covered, in view, at rest.
function check(digest, point) {
  const refused = refusal(digest);
  if (refused || !point) return refused || {};
  if (!mayMove(pinned)) return aim(pinned, digest);
  return stillness(pinned).then((still) => refusal(digest) || (still ? aim(pinned, digest) : aimAtMoving(pinned, digest)));
}

// What does not come to rest can be clicked where it stays: it may throb, and not run away.
async function aimAtMoving(el, digest) {
  const spot = aim(el, digest);
  if (spot.code) return spot;
  await new Promise((done) => nextFrame(() => nextFrame(done)));
  const hit = isAttached(el) && deepest(spot.x, spot.y);
  if (hit && setsOffTheSame(hit, el)) return spot;
  disarm();
  return { code: "element_moving" };
}

// ---- where to click -----------------------------------------------------------------------------------

const STILL_MS = 300;
const MOVING_MS = 1000; // what moves longer than that is no menu that opens
// The centre first, then around it: what lies over an element seldom lies over all of it.
const SPOTS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75], [0.1, 0.5], [0.9, 0.5]];

function animationsOf(el) {
  const running = documentOf(el).getAnimations();
  return running.filter((one) => one.playState === "running" && one.effect?.target && isInside(el, one.effect.target));
}

const mayMove = (el) => boxOf(el).join() !== pinnedBox || animationsOf(el).length > 0;

// How long until the last animation that has an end is over. A busy machine begins them late.
function timeToMove(el) {
  const left = animationsOf(el).map((one) => one.effect.getComputedTiming().endTime - (one.currentTime || 0));
  return Math.min(Math.max(0, ...left.filter(Number.isFinite)), MOVING_MS);
}

// Until the box is the same in two frames that follow each other, or not in time: says which. On a busy
// machine time passes without a frame: what was not drawn anew has not come to rest.
function stillness(el) {
  const end = performance.now() + STILL_MS + timeToMove(el);
  return new Promise((done) => {
    const look = (before, drawn) => {
      const now = boxOf(el).join(), frame = document.timeline.currentTime;
      const still = now === before && (frame !== drawn || document.hidden);
      if (still || performance.now() > end) done(still);
      else nextFrame(() => look(now, frame));
    };
    nextFrame(() => look(pinnedBox, null));
  });
}

// A page that is not shown has no frames.
function nextFrame(then) {
  let over = false;
  const once = () => {
    if (!over) then();
    over = true;
  };
  requestAnimationFrame(once);
  setTimeout(once, 50);
}

function aim(el, digest) {
  const places = [el, ...(tagOf(el) === "input" ? labelsOf(el) : [])];
  for (const place of places) {
    if (!isVisible(place)) continue;
    const spot = spotOn(place, el);
    if (spot) return arm(el, digest, { ...spot, sends_file: !!upTo(el, "a[download]") });
  }
  const over = coveredBy(places.find(isVisible) || el);
  return over.message ? { code: "element_obscured", ...over } : { code: "element_not_visible" };
}

function spotOn(place, el) {
  const spot = isWhollyInView(place) && freeSpot(place, el);
  if (spot) return spot;
  scrollIntoView(place, { block: "center", inline: "center", behavior: "instant" });
  return freeSpot(place, el);
}

function freeSpot(place, el) {
  const [left, top, right, bottom] = inView(place);
  if (!(right > left && bottom > top)) return null;
  for (const [across, down] of SPOTS) {
    const x = left + (right - left) * across, y = top + (bottom - top) * down;
    const hit = deepest(x, y);
    if (hit && setsOffTheSame(hit, el)) return { x, y };
  }
  return null;
}

// A click on `hit` does what a click on `el` was judged to do: no other control lies between.
function setsOffTheSame(hit, el) {
  const actor = setOff(hit);
  if (actor === setOff(el)) return true;
  return isInside(hit, el) && !matches(actor, SETS_OFF);
}

// What of the element the window and the frames around it show, in coordinates of the viewport.
function inView(el) {
  const box = rectOf(el);
  let frame = frameOf(el);
  const [x, y] = originOf(frame);
  let [left, top, right, bottom] = [box.left + x, box.top + y, box.right + x, box.bottom + y];
  for (; frame; frame = frameOf(frame)) {
    const [fx, fy] = originOf(frame);
    [left, top] = [Math.max(left, fx), Math.max(top, fy)];
    [right, bottom] = [Math.min(right, fx + frame.clientWidth), Math.min(bottom, fy + frame.clientHeight)];
  }
  return [Math.max(left, 0), Math.max(top, 0), Math.min(right, innerWidth), Math.min(bottom, innerHeight)];
}

function isWhollyInView(el) {
  const box = rectOf(el);
  const [left, top, right, bottom] = inView(el);
  return right - left >= box.width - 1 && bottom - top >= box.height - 1;
}

// What lies over the element, and the dialog that it belongs to or that keeps the page waiting.
function coveredBy(el) {
  const [left, top, right, bottom] = inView(el);
  if (!(right > left && bottom > top)) return { message: "" };
  const hit = deepest((left + right) / 2, (top + bottom) / 2);
  const words = hit ? squeeze(textOf(hit)) : "";
  const said = words ? JSON.stringify(words) : hit ? tagOf(hit) : "nothing there";
  const dialog = dialogOver(el);
  if (!dialog) return { message: clip(said, 120) };
  return { message: clip(`the dialog ${JSON.stringify(dialog)} is open: ${said}`, 120), dialog };
}

const DIALOGS = 'dialog[open],[role="dialog"],[role="alertdialog"],[aria-modal="true"]';

// The dialog in front that the element is no part of, by what it is called.
function dialogOver(el, selector = DIALOGS) {
  const dialog = openDialog(el, selector);
  if (!dialog) return "";
  return clip(nameOf(dialog, "dialog") || textOf(findIn(dialog, "h1,h2,h3") || dialog), 60) || tagOf(dialog);
}

function openDialog(el, selector = DIALOGS) {
  const open = [...new Set([document, rootOf(el)])].flatMap((root) => [...findAll(root, selector)]);
  return open.findLast((one) => isVisible(one) && !isInside(el, one));
}

// Where to point at it: anything in it is a part of it.
const pointAt = (digest) => checked(digest, (el) => {
  if (!isWhollyInView(el)) scrollIntoView(el, { block: "nearest", inline: "nearest", behavior: "instant" });
  const spot = freeSpot(el, el) || spotInside(el);
  return spot || { code: "element_obscured", ...coveredBy(el) };
});

function spotInside(el) {
  const spot = middleOf(el), hit = spot && deepest(spot.x, spot.y);
  return hit && isInside(hit, el) ? spot : null;
}

// Until what the wheel was turned over scrolls no more, or never began to.
function atRest() {
  const el = scrollerOf(pinned) || document.scrollingElement;
  const place = () => `${el.scrollLeft} ${el.scrollTop}`;
  const end = performance.now() + STILL_MS;
  return new Promise((done) => {
    const look = (before, same, moved) => {
      const now = place(), stays = now === before ? same + 1 : 0, has = moved || !stays;
      if (stays >= 3 && (has || performance.now() > end)) done(true);
      else nextFrame(() => look(now, stays, has));
    };
    look(place(), 0, false);
  });
}

// What is dragged and where to: both in view at once, as the hand has it.
function aimDrag(digest, ways, drop) {
  const refused = refusal(digest);
  if (refused) return refused;
  const { el: to } = probe(ways);
  if (!to) return { code: "element_not_found", message: "where it is dragged to is not there" };
  if (!isWhollyInView(pinned)) scrollIntoView(pinned, { block: "nearest", inline: "nearest", behavior: "instant" });
  if (!isWhollyInView(to)) scrollIntoView(to, { block: "nearest", inline: "nearest", behavior: "instant" });
  const begin = freeSpot(pinned, pinned), end = dropOn(to, drop) || freeSpot(to, to) || middleOf(to);
  const over = begin ? null : coveredBy(pinned);
  if (over) return { code: "element_obscured", ...over, message: over.message || "it is not in view with where it is dragged to" };
  return end ? arm(pinned, digest, { ...begin, end }, to) : { code: "element_not_visible" };
}

// Where it was let go when it was recorded, if that is in view: above or below the middle may matter.
function dropOn(el, drop) {
  if (!drop) return null;
  const { x: left, y: top } = rectOf(el), [first, second, right, bottom] = inView(el);
  const [fx, fy] = originOf(frameOf(el));
  const [x, y] = [left + fx + drop[0], top + fy + drop[1]];
  return x > first && x < right && y > second && y < bottom ? { x, y } : null;
}

function middleOf(el) {
  const [left, top, right, bottom] = inView(el);
  return right > left && bottom > top ? { x: (left + right) / 2, y: (top + bottom) / 2 } : null;
}

// ---- nothing else is clicked --------------------------------------------------------------------------

// Between the look and the click the page may put something else there: a thing that moves in, an
// element that goes away when it is pointed at. The press is looked at before the page hears of it,
// and held back if it would set off something else. So is the event that does it, before the page
// hears of that: what the page made of the press may lead elsewhere.
const DOES_IT = ["click", "auxclick"];
const LETS_GO = ["pointerup", "mouseup", "drop"];
const GUARDED = ["pointerdown", "mousedown", "dragstart", ...LETS_GO, ...DOES_IT];
const ARMED_MS = 3000;
const HELD_MS = 60_000; // a button that is held down, a page that takes its time with the press
let armed = null;

function arm(el, digest, spot, to = null) {
  disarm();
  const timer = setTimeout(disarm, ARMED_MS), said = to && saidOf(to);
  armed = { el, digest, to, said, leads: leadsTo(el), missed: "", changed: false, done: !!to, windows: [], timer };
  for (let frame = frameOf(el), view = documentOf(el).defaultView; frame; frame = frameOf(frame)) {
    armed.windows.push(view);
    view = documentOf(frame).defaultView;
  }
  for (const view of armed.windows) for (const type of GUARDED) view.addEventListener(type, watchPress, true);
  return spot;
}

function disarm() {
  if (!armed) return { missed: "" };
  const { el, windows, timer, missed, changed } = armed;
  clearTimeout(timer);
  for (const view of windows) for (const type of GUARDED) view.removeEventListener(type, watchPress, true);
  armed = null;
  return changed && isAttached(el) ? { missed: "", changed: describe(el, pinnedKey) } : { missed };
}

// Where it leads: what its form sends and where to, or its address. What is sent is all that it says.
function leadsTo(el) {
  const actor = setOff(el), form = formOf(senderOf(el, actor, pinnedKey)), sending = sends(el, actor, pinnedKey);
  return JSON.stringify([attribute(actor, "href") || "", form.exact, form.method, sending, sending && exactOf(el, pinnedKey)]);
}

function watchPress(event) {
  if (!armed || !event.isTrusted) return;
  const hit = event.composedPath()[0];
  if (event.type === "pointerdown") pressOn(hit);
  else if (armed.to && event.type === "dragstart") armed.missed ||= event.composedPath().includes(armed.el) ? "" : saidOf(hit);
  else if (armed.to && LETS_GO.includes(event.type)) letGoOn(event, hit);
  else if (DOES_IT.includes(event.type) && !armed.done) clickOn(hit);
  if (armed.missed || armed.changed) holdBack(event);
}

function pressOn(hit) {
  clearTimeout(armed.timer);
  armed.timer = setTimeout(disarm, HELD_MS);
  const same = hit && isElement(hit) && isAttached(armed.el) && setsOffTheSame(hit, armed.el);
  armed.missed = same ? "" : saidOf(hit);
  if (same && armed.digest && exactOf(armed.el, pinnedKey) !== armed.digest) armed.changed = true;
}

// A press may open what the click then lies on, and that does nothing of its own.
function clickOn(hit) {
  armed.done = true; // what a second one of the same input finds is what the first has made
  const known = hit && isElement(hit) && isAttached(armed.el) && setsOffTheSame(hit, armed.el);
  if (known) armed.changed ||= leadsTo(armed.el) !== armed.leads;
  else if (hit && isElement(hit) && matches(setOff(hit), SETS_OFF)) armed.missed ||= saidOf(hit);
}

// A list is built anew under what is dragged over it, and what is dragged may lie there already. What the
// browser itself lets go is told to what lies there: not to something else that was put above it.
function letGoOn(event, hit) {
  const path = event.composedPath(), { el, to, said } = armed;
  const there = isAttached(to) || path.some((each) => isElement(each) && saidOf(each) === said);
  const onIt = event.type !== "drop" || !isAttached(to) || path.includes(to) || path.includes(el) || hit.contains(to);
  if (!there || !onIt) armed.missed ||= saidOf(hit);
}

const saidOf = (hit) => clip(hit && isElement(hit) ? `${tagOf(hit)} ${textOf(hit)}` : "nothing", 80);

// From the start of the document, so that it is the first to hear.
for (const type of GUARDED) addEventListener(type, watchPress, true);

// ---- nothing else is typed into ----------------------------------------------------------------------

// Between the look and the text the page may move the focus: what is on its way to another field is
// held back. The top document of a site watches for its frames too.
let typing = null; // the field that is typed into, and what else was about to be

function expectTyping(el, digest) {
  clearTimeout(typing?.timer);
  typing = { el, judged: pinned, digest, heard: false, strayed: "" };
  typingOn();
}

// As long as keys come: a page may take its time with each.
function typingOn() {
  clearTimeout(typing.timer);
  typing.timer = setTimeout(() => (typing = null), ARMED_MS);
}

function watchTyping(event) {
  if (!typing || !event.isTrusted) return;
  typingOn();
  const hit = event.composedPath()[0];
  if (!hit || !isElement(hit)) return;
  if (!typing.strayed && isInside(hit, typing.el) && isStill(typing)) {
    if (!MODIFYING.has(event.key)) typing.heard = true;
    return;
  }
  stray(hit);
  holdBack(event);
}

const MODIFYING = new Set(["Shift", "Control", "Alt", "Meta"]);

function stray(hit) {
  typing.strayed ||= clip(squeeze(`${tagOf(hit)} ${nameOf(hit, roleOf(hit))}`), 80);
}

// A paste as the page hears of one. Whether it did something of its own with it.
function paste(value, append) {
  const el = focused();
  if (!typedInto()) return true; // told when it is asked what was entered
  typing.heard = true;
  if (append && !matches(el, "input,textarea")) documentOf(el).getSelection().collapseToEnd();
  const given = new DataTransfer();
  given.setData("text/plain", value);
  const event = new ClipboardEvent("paste", { clipboardData: given, bubbles: true, cancelable: true, composed: true });
  return !el.dispatchEvent(event);
}

// Asked for before what cannot be held back.
function typedInto() {
  const hit = focused();
  if (typing && !isInside(hit, typing.el)) stray(hit);
  return !typing?.strayed;
}

// The same element as it was judged, up to the first input: what it says may change under that.
function isStill(expected) {
  if (!expected.digest) return true;
  const same = exactOf(expected.judged, pinnedKey) === expected.digest;
  if (same) expected.digest = "";
  return same;
}

// What a key sends is sent by the click that the browser makes of it: by then the page has heard the key.
function watchSending(event) {
  if (!keying || !event.isTrusted || keying.strayed || keying.leads === leadsTo(keying.el)) return;
  keying.strayed = keying.changed = true;
  holdBack(event);
}

function holdBack(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

// ---- no key is pressed elsewhere ---------------------------------------------------------------------

// A key goes to what has the focus when it comes: that must be what was judged, as it was. A key up
// follows wherever the key down has led.
let keying = null; // the element that the key is for, and what else had the focus

const focused = () => activeOf() || document.body;

function expectKey(el, digest) {
  clearTimeout(keying?.timer);
  keying = { el, judged: el, digest, leads: leadsTo(el), heard: false, strayed: false, changed: false, timer: setTimeout(() => (keying = null), ARMED_MS) };
}

function watchKey(event) {
  if (!keying) watchTyping(event);
  if (!keying || !event.isTrusted) return;
  const leads = !keying.heard || event.type === "keydown" || keying.leads === leadsTo(keying.el);
  keying.changed ||= !leads;
  if (!keying.strayed && focused() === keying.el && isStill(keying) && leads) keying.heard = true;
  else {
    keying.strayed = true;
    holdBack(event);
  }
}

// Asked for after the key: what has the focus instead, if nothing of it was heard, or that it moved.
function pressed() {
  const { strayed, heard, changed, el } = keying || {};
  clearTimeout(keying?.timer);
  keying = null;
  if (!strayed) return {};
  if (changed && isAttached(el)) return { changed: describe(el, pinnedKey) };
  if (!heard && pinnedByFocus) return { changed: describe(refocused(), pinnedKey) };
  return { code: "action_failed", message: "the focus is elsewhere by now", heard };
}

const WATCHES = { beforeinput: watchTyping, keydown: watchKey, keypress: watchKey, click: watchSending };
globalThis.rutterWatches = WATCHES;

function watcher(type) {
  try {
    return (globalThis.top.rutterWatches || WATCHES)[type];
  } catch {
    return WATCHES[type];
  }
}

for (const type of Object.keys(WATCHES)) addEventListener(type, (event) => watcher(type)(event), true);

// Asked for after typing: whether the field holds it, and where it would have gone instead.
function entered(value, append) {
  const { strayed = "", heard = false } = typing || {};
  clearTimeout(typing?.timer);
  typing = null;
  return { held: append ? endsIn(value) : holds(value), strayed, heard };
}

// Asked for after input: what was in the way of it, if anything.
const sync = () => disarm();

// ---- what is done ---------------------------------------------------------------------------------------

// Checks, and what is done with the element at once if nothing is wrong with it.
function checked(digest, act) {
  return refusal(digest) || act(pinned);
}

const TYPED = ["text", "search", "email", "tel", "url", "password", "number"];
const SET = ["date", "time", "datetime-local", "month", "week", "color", "range"];
const WORKED = 'button,summary,a[href],area[href],[role="button"],[role="link"],[role="menuitem"]';

// Whether a value is typed into it or set as a whole, or neither: text in a button would be another
// name of it, and what was judged by its name is clicked by it.
function takesText(el) {
  if (tagOf(el) === "input") return TYPED.includes(el.type) ? "typed" : SET.includes(el.type) ? "set" : "";
  const written = tagOf(el) === "textarea" || (property(el, "isContentEditable") && !matches(el, WORKED));
  return written ? "typed" : "";
}

const takesNone = (el) => ({ code: "action_failed", message: `${kindOf(el) || tagOf(el)} takes no text` });

// How the field takes a value: typed into it after all that is in it was selected, set as a whole,
// switched on or off, or as files.
const ready = (digest) => checked(digest, (el) => {
  const kind = tagOf(el) === "input" ? el.type : "";
  if (kind === "file") return { how: "file" };
  if (CHECKED.has(kind)) return { how: "switch", on: el.checked };
  const how = takesText(el);
  if (!how) return takesNone(el);
  if (property(el, "readOnly")) return { code: "element_disabled", message: "the field is read-only" };
  scrollIntoView(el, { block: "nearest", behavior: "instant" });
  const dialog = dialogOver(el, 'dialog:modal,[aria-modal="true"]');
  if (dialog && !freeSpot(el, el)) return { code: "element_obscured", message: `the dialog ${JSON.stringify(dialog)} is open`, dialog };
  const host = writtenIn(el);
  focusOf(host);
  if (!isFocused(host)) return { code: "action_failed", message: "the field takes no focus" };
  const since = refusal(digest); // a page may make another of it when it gets the focus
  if (since) return since;
  if (how !== "typed") return { how };
  if (matches(el, "input,textarea")) el.select();
  else documentOf(el).getSelection().selectAllChildren(el);
  expectTyping(host, digest);
  return { how, lines: tagOf(el) !== "input", editor: host === el && keepsItsOwn(el) };
});

// What has the focus while an element is written in: all that can be edited around it.
function writtenIn(el) {
  if (matches(el, "input,textarea")) return el;
  let host = el;
  while (tagOf(host) !== "body" && parentOf(host) && property(parentOf(host), "isContentEditable")) host = parentOf(host);
  return host;
}

// An editor has a text and a selection of its own, and hears of a change by its keys; a text area that
// is not there to be seen belongs to one.
const keepsItsOwn = (el) => !matches(el, "input,textarea") || (tagOf(el) === "textarea" && rectOf(el).width * rectOf(el).height < 100);

// In its own root, and all that it is in has the focus too.
function isFocused(el) {
  const host = hostOf(el);
  return rootOf(el).activeElement === el && (!host || isFocused(host));
}

const fire = (el, type) => el.dispatchEvent(new Event(type, { bubbles: true, composed: true }));

const setValue = (digest, value) => checked(digest, (el) => {
  if (takesText(el) !== "set") return takesNone(el);
  el.value = value;
  fire(el, "input");
  fire(el, "change");
  return { held: holds(value) };
});

const writtenText = (el) => squeeze((property(el, "isContentEditable") ? property(el, "innerText") : el.value).replace(NO_WIDTH, ""));
const NO_WIDTH = /[\u200b\u200c\u200d\u2060\ufeff\u00ad]/g; // editors keep empty lines and places by them

// Of a field that was added to: what was typed is the end of what it holds.
const endsIn = (value) => pinned && writtenText(pinned).endsWith(squeeze(value.replace(NO_WIDTH, "")));

// Null in a document that came after the one that was typed into.
function holds(value) {
  const el = pinned;
  if (!el) return null;
  if (property(el, "isContentEditable")) return sameText(writtenText(el), squeeze(value.replace(NO_WIDTH, "")));
  switch (el.type) {
    case "checkbox": case "radio": return el.checked === value;
    case "file": return [...el.files].map((file) => file.name).join("\n") === value;
    case "color": return el.value === value.toLowerCase();
    case "range": return Number(el.value) === Number(value);
    default: return sameText(el.value, value.replace(/\r\n?/g, "\n"));
  }
}

// As it was typed, or as a mask wrote it: the same letters and digits in the same order, and where
// something stood between two of them something stands there still. 1.50 is not 150. Only a space or
// a bracket beside digits may go.
function sameText(held, typed) {
  if (held === typed) return true;
  const written = inParts(held), wanted = inParts(typed.replace(/(^|\p{N})[\s()]+(?=\p{N}|$)/gu, "$1"));
  if (!wanted.signs || written.signs !== wanted.signs) return false;
  return wanted.between.every((gap, n) => !gap || written.between[n]);
}

function inParts(text) {
  const signs = [], between = [""];
  for (const sign of text.normalize("NFC").toLowerCase()) {
    if (/[\p{L}\p{M}\p{N}]/u.test(sign)) between.push(""), signs.push(sign);
    else between[between.length - 1] += sign;
  }
  return { signs: signs.join(""), between };
}

// The element for whoever calls from outside: files are given to it by the browser itself.
globalThis.rutterPinned = () => pinned;

// A list that takes several has one in each line, and all others are left.
const choose = (digest, value) => checked(digest, (el) => {
  const options = [...el.options || []];
  const chosen = optionsFor(el, value);
  if (chosen.some((option) => !option || matches(option, ":disabled"))) return { code: "option_not_found", message: optionsIn(el) };
  focusOf(el);
  if (options.some((option) => option.selected !== chosen.includes(option))) {
    if (el.multiple) for (const option of options) option.selected = chosen.includes(option);
    else chosen[0].selected = true;
    fire(el, "input");
    fire(el, "change");
  }
  return { set: chosen.every((option) => option.selected) };
});

// A key goes to what has the focus: that must be the element that was judged. One that was judged
// because it had the focus is not given it back: what has it now was not judged.
function focusOn(digest) {
  if (pinnedByFocus && focused() !== pinned) return { changed: describe(refocused(), pinnedKey) };
  return checked(digest, (el) => {
    if (!isFocused(el)) focusOf(el);
    if (!isFocused(el)) return { code: "action_failed", message: "the element takes no focus" };
    const since = refusal(digest);
    if (!since) expectKey(focused(), digest);
    return since || {};
  });
}

function refocused() {
  pin(focused(), pinnedKey, true);
  return pinned;
}

function scroll(direction, amount) {
  if (direction === "top") scrollTo(0, 0);
  else if (direction === "to") scrollTo(0, amount);
  else if (direction === "bottom") scrollTo(0, document.documentElement.scrollHeight);
  else scrollBy(0, direction === "up" ? -amount : amount);
  return [scrollX, scrollY];
}

// Where the pinned element is to be seen, for a picture of it: it is about to be brought into view in
// any case. One that is elsewhere because of that does not move.
function closeUp() {
  if (!pinned || !isAttached(pinned) || !isVisible(pinned)) return null;
  if (!isWhollyInView(pinned)) scrollIntoView(pinned, { block: "center", inline: "nearest", behavior: "instant" });
  pinnedBox = boxOf(pinned).join();
  return { box: inView(pinned), view: [innerWidth, innerHeight], scroll: [scrollX, scrollY] };
}

const bringIntoView = (digest) => checked(digest, (el) => {
  scrollIntoView(el, { block: "center", behavior: "instant" });
  return {};
});

const read = (digest, ways = []) => checked(digest, (el) => {
  const beside = ways.filter((way) => way.by === "beside").map((way) => wordsBeside(el, way)).find((said) => said !== null);
  if (beside !== undefined) return { text: clip(beside, 4000), table: null };
  const field = ["input", "textarea"].includes(tagOf(el)) && !isSecret(el);
  return { text: clip(squeeze(field ? el.value : property(el, "innerText")), 4000), table: tableOf(el) };
});

// ---- waiting ----------------------------------------------------------------------------------------------

// Resolves at the first change of the page, in its shadow roots and frames too, or when the time is up;
// says which.
function change(withinMs) {
  return new Promise((done) => {
    const stirred = () => finish(true);
    const watch = new MutationObserver(stirred);
    const timer = setTimeout(() => finish(false), withinMs);
    const finish = (changed) => {
      watch.disconnect();
      clearTimeout(timer);
      // One frame, so that a burst of changes is seen whole.
      nextFrame(() => done(changed));
    };
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const root of allRoots()) {
      watch.observe(root, all);
      root.addEventListener("input", stirred, { once: true, capture: true });
      root.addEventListener("load", stirred, { once: true, capture: true }); // of a frame
    }
  });
}

// When the document is parsed.
const parsed = () => new Promise((done) => {
  if (document.readyState !== "loading") done(true);
  else addEventListener("DOMContentLoaded", () => done(true), { once: true });
});

Object.assign(functions, {
  sync, check, pointAt, atRest, aimDrag, paste, ready, setValue, holds, entered, typedInto, choose, focusOn, pressed, scroll, bringIntoView, closeUp, read, change, parsed,
});
