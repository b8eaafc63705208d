// What a live view must not show. Its pictures are taken at any time, so one is asked for between
// two looks, and what changes from one to the other is told: a picture that may show something
// that neither of them saw is none.

const REPAINTED = ["type", "value", "placeholder", "alt", "label", "class", "style", "hidden", "open", "data-value", "src", "srcdoc"];
const NEXT_FRAME_MS = 500;  // a page that draws nothing in that time is not the one in front
let watched = null;

// Before the picture. From here on changes are noted.
function lookBefore(values) {
  watched?.stop();
  watched = null;
  const known = bareValues(values), covered = new Set(), roots = new Set();
  const seen = lookOf(known, (node) => covered.add(node), (root) => roots.add(root));
  watched = watchFor(known, covered, roots);
  return seen;
}

// After the picture, and after the page's next frame: what was scrolled without asking the page is
// known by then.
async function lookAfter(values) {
  const mine = watched;
  watched = null;
  if (!mine) return null;  // another document
  const drawn = await drawnAnew();
  const disturbed = mine.stop() || !drawn;
  const seen = lookOf(bareValues(values));
  return disturbed ? null : seen;
}

// A frame of another origin cannot be read, and a person may type into it what is nobody else's
// business: it is always covered.
function lookOf(known, onCovered, onRoot) {
  const seen = boxesOf(known, true, onCovered, onRoot);
  const { scale, offsetLeft, offsetTop } = visualViewport;
  return seen && { ...seen, shown: [offsetLeft, offsetTop, innerWidth / scale] };
}

const drawnAnew = () => new Promise((tell) => {
  const late = setTimeout(() => tell(false), NEXT_FRAME_MS);
  requestAnimationFrame(() => { clearTimeout(late); tell(true); });
});

// Whether anything secret came up that was not covered before, however short it was there.
function watchFor(known, covered, roots) {
  let disturbed = false;
  const judge = (records) => {
    if (disturbed) return;
    const places = new Set();
    for (const { type, target, addedNodes } of records) {
      if (type === "childList") addedNodes.forEach((node) => places.add(node));
      // Words may be put together from several texts: so what is around is looked at, too.
      places.add(typeOf(target) === 3 ? parentNodeOf(target) : target);
    }
    for (const place of places) if (place && showsAnother(place, known, covered, roots)) disturbed = true;
  };
  const observer = new MutationObserver(judge);
  for (const root of roots) {
    observer.observe(root, { subtree: true, childList: true, characterData: true, attributeFilter: REPAINTED });
  }
  return {
    stop() {
      judge(observer.takeRecords());
      observer.disconnect();
      return disturbed || [...roots].some((root) => typeOf(root) === 9 && !root.defaultView);  // a frame went on
    },
  };
}

function showsAnother(place, known, covered, roots) {
  if (typeOf(place) === 3) place = parentNodeOf(place);
  if (!place || !Object.hasOwn(ROOTS, typeOf(place))) return false;
  const another = (el) => {
    if (isFrame(el)) return !(el.contentDocument ? roots.has(el.contentDocument) : covered.has(el));
    if (shadowOf(el) && !roots.has(shadowOf(el))) return true;
    return holdsSecret(el, known) && !covered.has(el) && rectOf(el).width > 0;
  };
  if (typeOf(place) === 1 && another(place)) return true;
  for (const el of findAll(place, "iframe,frame,object,embed,input,textarea,select,img")) if (another(el)) return true;
  // Asked first for the whole of it: that is cheap, and nearly always the answer is no.
  if (!known.length || !isKnown(textContentOf(place), known)) return false;
  let found = false;
  coverKnown(place, known, (_, text) => { found ||= !covered.has(text); }, () => found);
  return found;
}

Object.assign(functions, { lookBefore, lookAfter });
