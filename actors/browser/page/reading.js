// What an element is to a person: its role, name, states and value, as browsers compute them.

const MAX_NAME = 200;
const MAX_URL = 4000;
const MAX_ELEMENTS = 100;
const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];
const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button",
  checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton",
  search: "searchbox", color: "button",
};
const TAG_ROLES = {
  button: "button", textarea: "textbox", option: "option", nav: "navigation", main: "main",
  dialog: "dialog", table: "table", img: "img", ul: "list", ol: "list", li: "listitem",
  summary: "button", form: "form", aside: "complementary", header: "banner", footer: "contentinfo",
};
const NAMED_BY_CONTENT = new Set([
  "button", "link", "heading", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
  "checkbox", "radio", "switch", "cell", "columnheader", "rowheader", "treeitem", "tooltip",
]);
const SETS_OFF = 'button,input,select,textarea,a[href],area[href],summary,[role="button"],[role="link"],[role="menuitem"]';
const INTERACTIVE = "a[href],button,input,select,textarea,summary,[role],[tabindex],[contenteditable]";
const SECRET_WORDS = /passw|passcode|passwor|pin\b|otp|one-time|cvc|cvv|security code|card number/i;
let pinned = null;
let pinnedKey;

const squeeze = (text) => (text || "").replace(/\s+/g, " ").trim();
// No part of what an element says: code, and what was written into a field in it.
const UNSAID = "script,style,template,noscript,textarea";

function textOf(el, unsaid = UNSAID) {
  if (el.matches(unsaid)) return "";
  if (!el.querySelector(unsaid)) return squeeze(el.textContent);
  const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  const said = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest(unsaid)) said.push(walker.currentNode.data);
  }
  return squeeze(said.join(""));
}

const clip = (text, size) => (text.length > size ? text.slice(0, size) + "..." : text);

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

function roleOf(el) {
  const explicit = (el.getAttribute("role") || "").trim().split(/\s+/)[0];
  if (explicit) return explicit;
  const tag = el.localName;
  if (tag === "a" || tag === "area") return el.hasAttribute("href") ? "link" : "";
  if (tag === "input") return INPUT_ROLES[el.type] || "textbox";
  if (tag === "select") return el.multiple || el.size > 1 ? "listbox" : "combobox";
  if (/^h[1-6]$/.test(tag)) return "heading";
  if (tag === "section") return el.hasAttribute("aria-label") || el.hasAttribute("aria-labelledby") ? "region" : "";
  return TAG_ROLES[tag] || "";
}

// `labels` walks the whole document for each element that is asked for the first time.
const mayBeLabelled = (el) => el.closest("label") || (el.id && document.getElementsByTagName("label").length);

function nameOf(el, role) {
  const labelled = el.getAttribute("aria-labelledby");
  if (labelled) {
    const root = el.getRootNode();
    const named = labelled.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean);
    const text = squeeze(named.map((other) => textOf(other)).join(" "));
    if (text) return text;
  }
  const label = squeeze(el.getAttribute("aria-label"));
  if (label) return label;
  if (mayBeLabelled(el) && el.labels?.length) {
    const text = squeeze([...el.labels].map((label) => textOf(label, UNSAID + ",select")).join(" "));
    if (text) return text;
  }
  if (el.localName === "input" && ["submit", "button", "reset"].includes(el.type)) {
    return squeeze(el.value) || (el.type === "submit" ? "Submit" : el.type === "reset" ? "Reset" : "");
  }
  const alt = squeeze(el.getAttribute("alt"));
  if (alt) return alt;
  if (NAMED_BY_CONTENT.has(role)) {
    const text = textOf(el) || squeeze(el.querySelector("img[alt]")?.alt);
    if (text) return text;
  }
  return squeeze(el.getAttribute("title")) || squeeze(el.getAttribute("placeholder"));
}

function isVisible(el) {
  if (!el.checkVisibility({ checkVisibilityCSS: true })) return false;
  const box = el.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

// By what kind of field it is, before its value is ever looked at.
function isSecret(el) {
  if (el.localName !== "input" && el.localName !== "textarea") return false;
  if (el.type === "password") return true;
  const hints = el.getAttribute("autocomplete") || "";
  if (/password|one-time-code|cc-number|cc-csc/.test(hints)) return true;
  return SECRET_WORDS.test([el.name, el.id, el.getAttribute("aria-label") || ""].join(" "));
}

const boxOf = (el) => {
  const box = el.getBoundingClientRect();
  return [box.x, box.y, box.width, box.height].map(Math.round);
};

function stateOf(el) {
  const state = [];
  if (el.disabled || el.getAttribute("aria-disabled") === "true") state.push("disabled");
  if (el.readOnly) state.push("readonly");
  if (el.checked || el.getAttribute("aria-checked") === "true") state.push("checked");
  const expanded = el.getAttribute("aria-expanded");
  if (expanded) state.push(expanded === "true" ? "expanded" : "collapsed");
  return state;
}

function valueOf(el) {
  if (isSecret(el)) return el.value ? "(secret)" : "";
  if (el.localName === "select") return squeeze(el.selectedOptions[0]?.textContent);
  return ["input", "textarea"].includes(el.localName) && !["checkbox", "radio"].includes(el.type) ? el.value : null;
}

const inViewport = (box) => box[0] < innerWidth && box[1] < innerHeight && box[0] + box[2] > 0 && box[1] + box[3] > 0;
