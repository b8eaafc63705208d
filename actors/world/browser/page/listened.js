// Whether the page listens to the keys of what has the focus: the one thing that is asked in the page's own
// world, because nobody else is told. What cannot be looked into counts as listening.
(() => {
  const KEYS = ["keydown", "keypress", "keyup"];
  const OURS = "rutterInput"; // of scheduled.js
  const hears = (node) => KEYS.some((type) => getEventListeners(node)[type]?.some(({ listener }) => listener?.name !== OURS));
  let el = document.activeElement;
  while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement;
  if (!el || el.localName === "iframe" || el.localName.includes("-")) return true;
  for (let node = el; node; node = node.parentNode || node.host) if (hears(node)) return true;
  return hears(window);
})()
