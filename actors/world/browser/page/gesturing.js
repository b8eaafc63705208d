// What a person's hand does beside clicks and keys: drags, the wheel, and pointing at what shows more.

// ---- drags -----------------------------------------------------------------------------------------

const DRAGGED = 10; // pixels: less is a hand that is not still
let grip = null; // where the pointer went down, and on what
let dragged = null; // what is being dragged, with the page as it was before

function takeHold(event, seen) {
  const made = [], note = (changes) => made.push(...changes.flatMap((change) => [...change.addedNodes]).filter(isElement));
  const watch = new MutationObserver(note);
  watch.observe(documentOf(origin(event)), { subtree: true, childList: true });
  letGo();
  // What the page puts there meanwhile it may have made for the hand to carry.
  const carried = () => (note(watch.takeRecords()), made);
  grip = { el: origin(event), x: event.clientX, y: event.clientY, before: seen.before, element: null, watch, carried };
}

function letGo() {
  grip?.watch.disconnect();
  grip = null;
}

function onPointerMove(event) {
  if (!grip || grip.element || !(event.buttons & 1)) return;
  if (Math.hypot(event.clientX - grip.x, event.clientY - grip.y) > DRAGGED && isAttached(grip.el)) grip.element = describe(grip.el);
}

// By the pointer, as a script of the page has it. Where text was marked, or a field was drawn at, nothing
// was dragged.
function onPointerUp(event) {
  const { el, element, before } = grip || {};
  const made = grip?.carried() || [];
  letGo();
  if (!element || isEditable(el) || !documentOf(el).getSelection().isCollapsed) return;
  const to = placeUnder(event, el, made);
  if (!to) return;
  down = null; // the click that may follow is a part of it
  tellDrag({ before, element }, to, event);
}

// What lies under the pointer beside what is dragged, what that is in, and what is carried.
function placeUnder(event, el, made) {
  const under = rootOf(el).elementsFromPoint(event.clientX, event.clientY);
  const to = under.find((one) => !isInside(one, el) && !isInside(el, one) && !made.some((node) => isInside(one, node)));
  return to && !["html", "body"].includes(tagOf(to)) ? broadly(to) : null;
}

// A line of a drawing is no place: what it is drawn on is.
function broadly(el) {
  let at = el;
  while (isSliver(at) && parentOf(at)) at = parentOf(at);
  return at;
}

// By the browser: it says what is dragged, and takes the pointer away.
function onDragStart(event) {
  dragged = isElement(origin(event)) ? { before: (grip || see(origin(event))).before, element: describe(origin(event)) } : null;
  letGo();
}

function onDrop(event) {
  if (dragged) tellDrag(dragged, origin(event), event);
  dragged = null;
}

function tellDrag(seen, to, event) {
  const box = rectOf(to);
  settle();
  tell("drag", seen, { to: describe(to), drop: [Math.round(event.clientX - box.x), Math.round(event.clientY - box.y)] });
}

// ---- the wheel ---------------------------------------------------------------------------------------

// Our own steps bring an element into view by themselves. Turning the wheel is one only where it made
// more of a list: what is shown while it is scrolled.
let turned = null;

function onWheel(event) {
  over = null;
  const el = scrollerOf(origin(event));
  if (!el) return;
  if (turned?.at !== el) beginWheel(el);
  // The page is told late: it may have scrolled by then, so that only the wheel says how far.
  turned.by = turned.by.map((so, way) => so + Math.round([event.deltaX, event.deltaY][way] * LINE[event.deltaMode]));
}

const LINE = [1, 16, 400]; // pixels, lines, pages

function beginWheel(el) {
  endWheel();
  const watch = new MutationObserver((changes) => {
    if (turned && changes.some((change) => change.addedNodes.length)) turned.more = true;
  });
  watch.observe(el, { subtree: true, childList: true });
  turned = { ...see(el), watch, by: [0, 0], more: false };
}

function endWheel() {
  const seen = turned;
  turned = null;
  seen?.watch.disconnect();
  if (seen?.more && (seen.by[0] || seen.by[1])) tell("wheel", plain(seen), { by: seen.by });
}

function scrollerOf(el) {
  for (let at = el; at && isElement(at) && !["html", "body"].includes(tagOf(at)); at = parentOf(at)) {
    const { overflowY, overflowX } = getComputedStyle(at);
    const scrolls = (way) => ["auto", "scroll", "overlay"].includes(way);
    if ((scrolls(overflowY) && at.scrollHeight > at.clientHeight) || (scrolls(overflowX) && at.scrollWidth > at.clientWidth)) return at;
  }
  return null;
}

// ---- pointing at -------------------------------------------------------------------------------------

// A menu that opens when it is pointed at: what is clicked in it was not to be seen before. It is told
// by the style sheets, or by what the page changed right after the pointer came over something.
const SHOWS = ["display", "visibility", "opacity", "height", "max-height", "transform", "pointer-events", "clip-path", "left", "top"];
const BY_POINTER_MS = 500;
let pointer = "";
let over = null; // what the pointer came over last
let shown = null; // what changed then, and because of what

// A page that moves under a pointer that is still is not pointed at.
function onPointerOver(event) {
  const at = `${event.screenX} ${event.screenY}`;
  if (at === pointer) return;
  pointer = at;
  over = { el: origin(event), at: performance.now() };
  if (!shown) watchShown();
}

function watchShown() {
  shown = { by: null, nodes: [] };
  const kinds = { subtree: true, childList: true, attributes: true, attributeFilter: ["class", "style", "hidden", "aria-hidden", "open"] };
  new MutationObserver((changes) => {
    if (!over || performance.now() - over.at > BY_POINTER_MS) return;
    if (shown.by !== over.el) shown = { by: over.el, nodes: [] };
    shown.nodes.push(...changes.flatMap((change) => [...change.addedNodes, ...(change.type === "attributes" ? [change.target] : [])]));
  }).observe(document, kinds);
}

// Told before the click that it was for. The last look had all that was to be seen.
function tellPointing(el) {
  if (refs.includes(el) || refs.length === 0) return;
  const by = byStyle(el) || byChange(el);
  if (shown) shown = { by: null, nodes: [] }; // what comes after this click is not because of that
  if (by && !matches(by, FRAMES) && isAttached(by) && isVisible(by) && !isInside(by, el)) tell("hover", plain(see(by)));
}

function byChange(el) {
  if (!shown?.by || !shown.nodes.some((node) => isElement(node) && isInside(el, node))) return null;
  return isInside(shown.by, el) ? null : shown.by;
}

function byStyle(el) {
  for (const sheet of documentOf(el).styleSheets) {
    for (const rule of hoverRules(sheet)) {
      for (const part of rule.selectorText.split(",")) {
        const holder = holderOf(el, part.trim());
        if (holder) return holder;
      }
    }
  }
  return null;
}

function hoverRules(sheet) {
  try {
    const all = (rules) => [...rules].flatMap((rule) => (rule.selectorText ? [rule] : rule.cssRules ? all(rule.cssRules) : []));
    return all(sheet.cssRules).filter((rule) => rule.selectorText.includes(":hover") && SHOWS.some((name) => rule.style.getPropertyValue(name)));
  } catch {
    return []; // of another origin
  }
}

// What is pointed at in `.menu:hover .item`, where the element is in such an item.
function holderOf(el, selector) {
  const [head, ...rest] = selector.split(":hover");
  if (!rest.length || !/^[\s>+~]/.test(rest[0])) return null;
  for (let node = el; node && isElement(node); node = parentOf(node)) {
    if (!matches(node, selector)) continue;
    const above = parentOf(node) && closest(parentOf(node), head || "*");
    return /^\s*[+~]/.test(rest[0]) ? siblingsOf(node).find((one) => one !== node && matches(one, `${head}:hover`)) : above;
  }
  return null;
}
