// The last checks before input, and what is done in the page itself.

// The last look before input: still there, still the same, visible, enabled, not covered.
function check(digest, point) {
  const el = pinned;
  if (!el || !el.isConnected) return { code: "ref_invalid" };
  if (digest && exactOf(el) !== digest) return { changed: describe(el, pinnedKey) };
  if (!isVisible(el)) return { code: "element_not_visible" };
  if (el.disabled || el.closest("fieldset:disabled") || el.getAttribute("aria-disabled") === "true") return { code: "element_disabled" };
  return point ? aim(el) : {};
}

function aim(el) {
  let box = el.getBoundingClientRect();
  const outside = () => box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth;
  if (outside()) {
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    box = el.getBoundingClientRect();
  }
  const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
  const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
  if (right <= left || bottom <= top) return { code: "element_not_visible" };
  const x = (left + right) / 2, y = (top + bottom) / 2;
  const hit = document.elementFromPoint(x, y);
  if (hit && (el.contains(hit) || hit.contains(el) && hit.closest("label,a,button") === hit || hit.labels?.[0]?.contains(el))) return { x, y };
  if (hit && hit.localName === "label" && hit.control === el) return { x, y };
  return { code: "element_obscured", message: hit ? clip(`${hit.localName} ${textOf(hit)}`, 80) : "nothing there" };
}

// Checks, and what is done with the element at once if nothing is wrong with it.
function checked(digest, act) {
  const refused = check(digest, false);
  return refused.code || refused.changed ? refused : act(pinned);
}

const TYPED = ["text", "search", "email", "tel", "url", "password", "number"];

// Fields that take typed text are selected for input events; the others are set as a whole.
const ready = (digest) => checked(digest, (el) => {
  if (el.readOnly) return { code: "element_disabled", message: "the field is read-only" };
  el.scrollIntoView({ block: "nearest", behavior: "instant" });
  el.focus();
  const typed = el.localName === "textarea" || (el.localName === "input" && TYPED.includes(el.type));
  if (typed) el.select();
  else if (el.isContentEditable) getSelection().selectAllChildren(el);
  return { typed: typed || el.isContentEditable };
});

const fire = (el, type) => el.dispatchEvent(new Event(type, { bubbles: true, composed: true }));

function setValue(value) {
  if (!pinned) return null;
  pinned.value = value;
  fire(pinned, "input");
  fire(pinned, "change");
  return holds(value);
}

// Null in a document that came after the one that was typed into.
const holds = (value) => pinned && (pinned.isContentEditable ? pinned.textContent === value : pinned.value === value);

const choose = (digest, value) => checked(digest, (el) => {
  const wanted = squeeze(value).toLowerCase();
  const options = [...el.options || []];
  const option = options.find((o) => o.value === value) || options.find((o) => squeeze(o.label).toLowerCase() === wanted);
  if (!option || option.disabled) return { code: "option_not_found", message: clip(options.map((o) => squeeze(o.label)).join(", "), 120) };
  el.focus();
  if (!option.selected) {
    option.selected = true;
    fire(el, "input");
    fire(el, "change");
  }
  return { set: option.selected };
});

// A key goes to what has the focus: that must be the element that was judged.
const focusOn = (digest) => checked(digest, (el) => {
  if (document.activeElement !== el) el.focus();
  return document.activeElement === el ? {} : { code: "action_failed", message: "the element takes no focus" };
});

function scroll(direction, amount) {
  if (direction === "top") scrollTo(0, 0);
  else if (direction === "to") scrollTo(0, amount);
  else if (direction === "bottom") scrollTo(0, document.documentElement.scrollHeight);
  else scrollBy(0, direction === "up" ? -amount : amount);
  return [scrollX, scrollY];
}

const bringIntoView = (digest) => checked(digest, (el) => {
  el.scrollIntoView({ block: "center", behavior: "instant" });
  return {};
});

const read = (digest) => checked(digest, (el) => {
  const field = ["input", "textarea"].includes(el.localName) && !isSecret(el);
  return { text: clip(squeeze(field ? el.value : el.innerText), 4000) };
});

// Resolves at the first change of the document, or when the time is up.
function change(withinMs) {
  return new Promise((done) => {
    const watch = new MutationObserver(() => finish());
    const timer = setTimeout(() => finish(), withinMs);
    const finish = () => {
      watch.disconnect();
      clearTimeout(timer);
      // One frame, so that a burst of changes is seen whole.
      requestAnimationFrame(() => done(true));
      setTimeout(() => done(true), 50);
    };
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    addEventListener("input", finish, { once: true });
  });
}

const sync = () => true;

Object.assign(functions, {
  sync, check, ready, setValue, holds, choose, focusOn, scroll, bringIntoView, read, change,
});
