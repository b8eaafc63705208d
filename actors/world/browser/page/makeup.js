// What a document is made of, by which a page that keeps somebody out, or that was never filled, is told
// from one that says little (docs/states.md). It is counted beside the walk, and looked at more closely
// only where the page says little: whoever is kept out is told so in few words.

// What to look for: actors/rules/pages/barriers.toml.
const KNOWN = /* MARKS */ null;
const THIN_TEXT = 3000;
const MOST_FRAMES = 20;
const MOST_HOSTS = 5;
const MOST_INLINE = 40;
const INLINE_LENGTH = 6000;
const MOST_PICTURES = 60;
const MOST_MARKS = 24;
const MAX_HOST = 200;
const DRAWN = "canvas,img,svg,video,object,embed,[role=img]";

const ADDRESSES = Object.fromEntries(["script", "frame"].map((what) => [what, {
  any: new RegExp(KNOWN[what].join("|"), "i"), known: KNOWN[what].map((pattern) => new RegExp(pattern, "i")),
}]));

function makeupOf(look, readings) {
  const thin = look.text <= THIN_TEXT;
  const scripts = [...findAll(document, "script")];
  const marks = [...addressesIn("script", scripts), ...addressesIn("frame", look.frames)];
  const made = {
    text: look.text, nodes: look.nodes, scripts: scripts.length, frames: hostsOf(look.frames), marks,
    age_ms: Math.round(performance.now()),
  };
  // A captcha that is shown in a long page has its script there.
  if (marks.length || thin) {
    const roots = allRoots();
    marks.push(...elementsIn(roots));
    made.answered = foundIn(roots, KNOWN.answer.join()).some((el) => !!el.value);
    if (thin) noteThin(made, scripts, roots, readings);
  }
  made.marks = marks.slice(0, MOST_MARKS);
  return made;
}

function addressesIn(what, elements) {
  const { any, known } = ADDRESSES[what];
  const found = new Map();
  for (const el of elements) {
    const address = attribute(el, "src") || "";
    if (!address || !any.test(address)) continue;
    known.forEach((pattern, at) => {
      if (pattern.test(address)) found.set(KNOWN[what][at], Math.max(found.get(KNOWN[what][at]) || 0, areaOf(el)));
    });
  }
  return [...found].map(([name, area]) => ({ what, name, area }));
}

const foundIn = (roots, selector) => roots.flatMap((root) => [...findAll(root, selector)]);

function elementsIn(roots) {
  const found = [];
  if (!foundIn(roots, KNOWN.element.join()).length) return found;
  for (const name of KNOWN.element) {
    const all = foundIn(roots, name);
    if (all.length) found.push({ what: "element", name, area: Math.max(...all.slice(0, MOST_FRAMES).map(areaOf)) });
  }
  return found;
}

// What part of the view an element takes, in hundredths; 1 at least of one that is shown somewhere.
function areaOf(el) {
  if (!checkVisibility(el, SHOWN) || !isInSight(el)) return 0;
  const [x, y, width, height] = extentOf(el);
  if (!(width >= MIN_FRAME && height >= MIN_FRAME)) return 0;
  const across = Math.min(x + width, innerWidth) - Math.max(x, 0);
  const down = Math.min(y + height, innerHeight) - Math.max(y, 0);
  return Math.max(1, Math.round((100 * Math.max(0, across) * Math.max(0, down)) / (innerWidth * innerHeight || 1)));
}

// Hosts of frames that show what cannot be read from here.
function hostsOf(frames) {
  const hosts = new Set();
  for (const el of frames) {
    if (frameDocument(el)?.body || !areaOf(el)) continue;
    try {
      const { host } = new URL(attribute(el, "src") || "", location.href);
      if (host) hosts.add(clip(host, MAX_HOST));
    } catch {
      // no address
    }
  }
  return [...hosts].slice(0, MOST_HOSTS);
}

function noteThin(made, scripts, roots, readings) {
  const inline = scripts.filter((el) => !attribute(el, "src")).slice(0, MOST_INLINE);
  const written = inline.map((el) => textContentOf(el).slice(0, INLINE_LENGTH)).join("\n");
  const mark = (what) => (name) => made.marks.push({ what, name });
  KNOWN.inline.filter((part) => written.includes(part)).forEach(mark("inline"));
  const isEmpty = (selector) => [...findAll(document, selector)].some((el) => !textOf(el));
  if (findIn(document, KNOWN.mount.join())) KNOWN.mount.filter(isEmpty).forEach(mark("mount"));
  phrasesIn(readings, KNOWN.text).forEach(mark("text"));
  Object.assign(made, drawnIn(roots));
  const told = scheduledIn(document);
  made.busy = !!told && (told.due >= 0 || told.frame > 0);
}

// What part of the view is drawn: on a canvas, by pictures that say nothing of what they show, and by others.
function drawnIn(roots) {
  const drawn = { canvas: 0, pictures: 0, named: 0 };
  for (const el of foundIn(roots, DRAWN).slice(0, MOST_PICTURES)) {
    const kind = nameOf(el, "img") ? "named" : tagOf(el) === "canvas" ? "canvas" : "pictures";
    drawn[kind] = Math.min(100, drawn[kind] + areaOf(el));
  }
  return drawn;
}
