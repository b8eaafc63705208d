// Runs in an isolated world of every document: it sees the page's DOM and none of the page's code,
// and the page can neither see nor replace it. Everything returned is data; choices are made outside.
(() => {
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

  function observe() {
    const body = document.body;
    const found = [];
    const parts = [];
    if (body) {
      parts.push(body.innerText.slice(0, 200000));
      for (const el of document.querySelectorAll(INTERACTIVE)) {
        const value = valueOf(el);
        const state = stateOf(el);
        if (value !== null || state.length) parts.push(value || "", state.join());
        const role = roleOf(el);
        if (!role || role === "presentation" || role === "none" || !isVisible(el)) continue;
        const box = boxOf(el);
        found.push({ el, role, value, state, box, at: found.length, outside: inViewport(box) ? 0 : 1 });
      }
    }
    found.sort((a, b) => a.outside - b.outside || a.at - b.at);
    const kept = found.slice(0, MAX_ELEMENTS).sort((a, b) => a.at - b.at).map(entryOf);
    return {
      url: clip(location.href, MAX_URL),
      title: [clip(document.title, MAX_NAME)],
      ready: document.readyState,
      viewport: [innerWidth, innerHeight],
      scroll: [Math.round(scrollX), Math.round(scrollY)],
      headings: headings(),
      alerts: texts('[role="alert"],[role="status"],[role="alertdialog"]', 3),
      elements: kept,
      focused: focus(),
      digest: hash(parts.join("\n")),
      modal: !!document.querySelector('dialog[open],[role="dialog"],[role="alertdialog"],[aria-modal="true"]'),
      dropped: found.length - kept.length,
    };
  }

  function entryOf({ el, role, value, state, box }) {
    const entry = { role, name: [clip(nameOf(el, role), MAX_NAME)], tag: el.localName, box };
    if (state.length) entry.state = state;
    if (value) entry.value = [clip(value, MAX_NAME)];
    return entry;
  }

  function headings() {
    const all = [...document.querySelectorAll("h1,h2,h3")].filter(isVisible);
    all.sort((a, b) => a.localName.localeCompare(b.localName));
    return all.slice(0, 12).map((el) => [clip(textOf(el), MAX_NAME)]);
  }

  const texts = (selector, size) =>
    [...document.querySelectorAll(selector)].filter(isVisible).slice(0, size).map((el) => [clip(textOf(el), MAX_NAME)]);

  function focus() {
    const el = document.activeElement;
    return !el || el === document.body ? "" : digestOf(el, false);
  }

  // ---- finding one element -------------------------------------------------------------------

  function candidates(strategy) {
    if (strategy.by === "css") return [...document.querySelectorAll(strategy.selector)];
    if (strategy.by === "aria") {
      const wanted = squeeze(strategy.name);
      return [...document.querySelectorAll(INTERACTIVE + ",h1,h2,h3,img,li,option")].filter((el) => {
        const role = roleOf(el);
        return (!strategy.role || role === strategy.role) && nameOf(el, role) === wanted;
      });
    }
    if (strategy.by === "text") return byText(strategy.text);
    const el = document.elementFromPoint(strategy.x, strategy.y);
    return el ? [el] : [];
  }

  // The innermost elements that hold the text; what does not hold it is not looked into.
  function byText(text) {
    const wanted = squeeze(text).toLowerCase();
    const found = new Set();
    const holding = (el) => [...el.children].filter((c) => squeeze(c.textContent).toLowerCase().includes(wanted));
    const visit = (el) => {
      const inner = holding(el);
      if (!inner.length) found.add(el.closest("a,button,label,summary,[role=button],[role=link],[role=tab],[role=menuitem]") || el);
      inner.forEach(visit);
    };
    if (document.body) holding(document.body).forEach(visit);
    return [...found];
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
      const seen = all.filter(isVisible);
      const result = seen.length === 1 ? "taken" : seen.length > 1 ? "ambiguous" : all.length ? "not_visible" : "none";
      tries.push({ strategy: i, matches: seen.length, result });
      if (result === "taken") return { tries, el: seen[0] };
    }
    return { tries, el: null };
  }

  // Polls with the page's own frames: an element that appears is found when it is painted.
  function resolve(strategies, withinMs) {
    const end = performance.now() + withinMs;
    return new Promise((done) => {
      const look = () => {
        const { tries, el } = probe(strategies);
        if (el || performance.now() >= end) {
          pinned = el;
          pinnedKey = undefined;
          done({ tries, element: el ? describe(el) : null });
        } else {
          setTimeout(look, 30);
        }
      };
      look();
    });
  }

  function resolveFocused(key) {
    pinned = document.activeElement || document.body;
    pinnedKey = key;
    return { tries: [], element: describe(pinned, key) };
  }

  // ---- what an element is --------------------------------------------------------------------

  // Ids in addresses change from run to run; what they stand for does not.
  function templated(address) {
    if (!address) return "";
    try {
      const url = new URL(address, document.baseURI);
      const path = url.pathname.split("/").map((part) => (/\d/.test(part) ? "*" : part)).join("/");
      return url.protocol === "javascript:" ? "javascript:" : url.origin + path;
    } catch {
      return "";
    }
  }

  // What a click on the element sets off: the button around a word in it, the control of a label.
  const setOff = (el) => el.closest(SETS_OFF) || el.closest("label")?.control || el;

  // Whether a click, or this key with the focus here, sends the form. What a key does inside a frame
  // is not known, and not knowing counts as sending.
  function submits(el, key) {
    if (key !== undefined && el.localName === "iframe") return true;
    if (!el.form) return false;
    const button = (el.localName === "button" && el.type === "submit") || (el.localName === "input" && ["submit", "image"].includes(el.type));
    if (key === undefined) return button;
    const last = key === "+" ? key : key.split("+").pop();
    if (last === "Enter" || last === "NumpadEnter") return el.localName !== "textarea" && el.localName !== "select";
    return button && (last === " " || last === "Space");
  }

  const attributesOf = (el) =>
    ["id", "name", "type", ...TEST_IDS].filter((a) => el.getAttribute(a)).map((a) => [a, clip(el.getAttribute(a), 80)]);

  // A field named like a property of its form hides that property: <input name="method">.
  const attribute = (el, name) => Element.prototype.getAttribute.call(el, name);

  // Where and how the element's form would be sent by it.
  function formOf(el) {
    const form = el.form;
    if (!form) return { action: "", method: el.localName === "iframe" ? "unknown" : "", exact: "" };
    const method = (el.getAttribute("formmethod") || attribute(form, "method") || "get").toLowerCase();
    const exact = el.getAttribute("formaction") || attribute(form, "action") || location.href;
    return { action: templated(exact), method, exact };
  }

  const holdsText = (el) => el.localName !== "select" && el.localName !== "body" && !isSecret(el);

  function digestOf(el, withText) {
    const role = roleOf(el);
    const actor = setOff(el);
    const form = formOf(actor);
    return hash(JSON.stringify([
      el.localName, role, clip(nameOf(el, role), 80), withText ? clip(textOf(el), 80) : "",
      attributesOf(el), templated(actor.getAttribute("href")), form.action, form.method,
    ]));
  }

  // The same with its addresses as they are: what was judged a moment ago must be what is acted on.
  function exactOf(el) {
    const actor = setOff(el);
    return hash(JSON.stringify([digestOf(el, holdsText(el)), actor.getAttribute("href") || "", formOf(actor).exact]));
  }

  function describe(el, key) {
    const role = roleOf(el);
    const actor = setOff(el);
    const form = formOf(actor);
    const name = [clip(nameOf(el, role) || nameOf(actor, roleOf(actor)), MAX_NAME)];
    const text = [holdsText(el) ? clip(textOf(el), MAX_NAME) : ""];
    return {
      tag: el.localName,
      digest: digestOf(el, holdsText(el)),
      exact: exactOf(el),
      role, name, text,
      kind: el.localName === "input" ? el.type : "",
      href: templated(actor.getAttribute("href")),
      form_action: form.action,
      form_method: form.method,
      submits: submits(key === undefined ? actor : el, key),
      signs_in: !!actor.form?.querySelector('input[type="password"]'),
      secret: isSecret(el),
      origin: location.origin,
      ways: ways(el, role),
      fingerprint: { tag: el.localName, role, name, text, attributes: attributesOf(el), near: near(el), box: boxOf(el) },
    };
  }

  const unique = (selector) => {
    try {
      return document.querySelectorAll(selector).length === 1;
    } catch {
      return false;
    }
  };

  function ways(el, role) {
    const found = [];
    for (const attribute of TEST_IDS) {
      const value = el.getAttribute(attribute);
      if (value) found.push(`[${attribute}="${CSS.escape(value)}"]`);
    }
    // An id with a run of digits was most likely made up by a framework for this one page.
    if (el.id && !/\d{3,}|^:|^[a-f0-9-]{16,}$/.test(el.id)) found.push(`#${CSS.escape(el.id)}`);
    const name = el.getAttribute("name");
    if (name) found.push(`${el.localName}[name="${CSS.escape(name)}"]`);
    const css = found.filter(unique).map((selector) => ({ by: "css", selector }));
    const accessible = clip(nameOf(el, role), MAX_NAME);
    if (role && accessible && probe([{ by: "aria", role, name: accessible }]).el === el) css.push({ by: "aria", role, name: accessible });
    const text = textOf(el);
    if (NAMED_BY_CONTENT.has(role) && text && text.length <= 80 && probe([{ by: "text", text }]).el === el) css.push({ by: "text", text });
    if (!css.length) css.push({ by: "css", selector: pathOf(el) });
    return css;
  }

  function pathOf(el) {
    const parts = [];
    for (let at = el; at && at.nodeType === 1 && at !== document.documentElement; at = at.parentElement) {
      if (at.id && unique(`#${CSS.escape(at.id)}`)) {
        parts.unshift(`#${CSS.escape(at.id)}`);
        break;
      }
      const same = at.parentElement ? [...at.parentElement.children].filter((c) => c.localName === at.localName) : [at];
      parts.unshift(same.length > 1 ? `${at.localName}:nth-of-type(${same.indexOf(at) + 1})` : at.localName);
    }
    return parts.join(" > ");
  }

  function near(el) {
    const texts = [];
    for (const other of [el.previousElementSibling, el.nextElementSibling, el.parentElement?.previousElementSibling]) {
      const text = other ? clip(textOf(other), 40) : "";
      if (text) texts.push([text]);
    }
    return texts;
  }

  // ---- acting --------------------------------------------------------------------------------

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

  const functions = {
    sync, observe, resolve, resolveFocused, check, ready, setValue, holds, choose, focusOn, scroll, bringIntoView, read, change,
  };

  // Half a character (a page may hold one, clipping may leave one) is not text for anybody else.
  const wellFormed = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);

  // As one string: every layer on the way out would walk and copy an object piece by piece.
  globalThis.rutter = async (name, ...given) => JSON.stringify(await functions[name](...given), wellFormed);
})();
