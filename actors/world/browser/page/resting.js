// Whether the page has come to rest after what was done last: nothing that its scripts put off is due.
// What it asks its servers for is known outside.

const ASKS = "/* NAME */?", TELLS = "/* NAME */!";
const STEP_MS = 50;
const BLIND_MS = 300; // where the page's own world says nothing, it gets this long after input
const CALM_MS = 100; // of a page that is looked at with care
const STIRRING_MS = 1000; // what changes longer than that is a clock or a film

let lastInput = -Infinity;
const noteInput = () => (lastInput = performance.now());

for (const type of ["pointerdown", "keydown", "input", "click"]) {
  addEventListener(type, (event) => event.isTrusted && noteInput(), { capture: true, passive: true });
}

// What one document of the page says that it put off; null if nobody answers there.
function scheduledIn(doc) {
  let told = null;
  const hear = (event) => (told = String(event.detail));
  doc.addEventListener(TELLS, hear);
  doc.dispatchEvent(new CustomEvent(ASKS));
  doc.removeEventListener(TELLS, hear);
  try {
    return told && JSON.parse(told);
  } catch {
    return null;
  }
}

// What is not over yet, by how long it may take: a name and milliseconds each.
function unfinished(quietMs, stirredAt) {
  const since = performance.now() - lastInput;
  const found = [];
  let blind = true;
  for (const root of allRoots()) {
    if (typeOf(root) !== 9) continue;
    const told = scheduledIn(root);
    if (!told) continue;
    if (root === document) blind = false;
    if (told.due >= 0) found.push(["timer", told.due]);
    if (told.frame > 0) found.push(["frame", 0]);
    if (quietMs && told.every > since) found.push(["interval", told.every - since]);
  }
  const quiet = blind ? Math.max(quietMs, BLIND_MS) : quietMs;
  if (since < quiet) found.push(["quiet", quiet - since]);
  const calm = quietMs ? performance.now() - stirredAt : CALM_MS;
  if (calm < CALM_MS) found.push(["change", CALM_MS - calm]);
  return found;
}

// A task of the page's own: what was to follow at once has done so before it.
function hop(then) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    then();
  };
  port2.postMessage(0);
}

// Resolves when nothing is left to do, or when the time is up. `quietMs` is how long nothing may have
// been put in, with care; 0 where only a reason is waited for.
function rest(withinMs, quietMs) {
  const began = performance.now();
  const waited = new Set();
  let stirredAt = -Infinity;
  const watch = new MutationObserver(() => {
    if (performance.now() - began < STIRRING_MS) stirredAt = performance.now();
  });
  if (quietMs) for (const root of allRoots()) watch.observe(root, { subtree: true, childList: true, characterData: true });
  return new Promise((done) => {
    const look = () => {
      const left = unfinished(quietMs, stirredAt);
      const over = performance.now() - began >= withinMs;
      if (!left.length || over) {
        watch.disconnect();
        done({ waited: [...waited], restless: left.map(([name]) => name) });
        return;
      }
      left.forEach(([name]) => waited.add(name));
      const longest = Math.max(...left.map(([, ms]) => ms));
      if (longest > 0) setTimeout(() => hop(look), Math.min(longest + 1, STEP_MS));
      else nextFrame(look);
    };
    hop(look);
  });
}

// And then finds an element, which most often is there: one call in place of two.
async function restAndFind(withinMs, quietMs, ...wanted) {
  const rested = await rest(withinMs, quietMs);
  return { ...rested, found: rested.restless.length ? null : await functions.resolve(...wanted) };
}

Object.assign(functions, { rest, restAndFind });
