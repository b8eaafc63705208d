// One look at the page: walked once, pruned, ranked, numbered.

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

Object.assign(functions, { observe });
