// Finding one element by the ways that a target names, and saying what it is.

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

Object.assign(functions, { resolve, resolveFocused });
