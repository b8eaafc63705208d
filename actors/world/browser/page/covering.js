// What must not be seen in a picture: fields that hold a secret, and words that show one. Told as
// boxes on the page; the page itself is not touched.

const MAX_BOXES = 2000;  // more of them and there is no picture

// The origin of the document that the pinned element is in.
function pinnedOrigin() {
  if (!pinned || !isAttached(pinned)) return "null";
  return documentOf(pinned).defaultView?.origin ?? "null";
}

// Boxes in CSS pixels from the top left of what is in view, and where that is on the page. Nothing
// when they are too many. What is in a frame of another origin cannot be read: while there are
// secrets to be kept, all of it is covered.
function secretBoxes(values) {
  const known = bareValues(values);
  return boxesOf(known, known.length > 0);
}

const bareValues = (values) => values.map(bareText).filter((value) => value.length > 3);

// Whoever looks is told of what is covered (an element, a text) and of every root that was walked.
function boxesOf(known, coversFrames, onCovered = () => {}, onRoot = () => {}) {
  const boxes = [];
  const walk = (root, [x, y]) => {
    onRoot(root);
    const add = (box, node) => {
      if (box.width <= 0 || box.height <= 0) return;
      boxes.push([box.x + x, box.y + y, box.width, box.height]);
      onCovered(node);
    };
    const tooMany = () => boxes.length > MAX_BOXES;
    for (const el of findAll(root, "*")) {
      if (tooMany()) return;
      if (shadowOf(el)) walk(shadowOf(el), [x, y]);
      if (isFrame(el)) coverFrame(el, coversFrames, add, walk);
      else if (holdsSecret(el, known)) add(rectOf(el), el);
    }
    if (known.length) coverKnown(root, known, add, tooMany);
  };
  walk(document, [0, 0]);
  return boxes.length > MAX_BOXES ? null : { boxes, scroll: [scrollX, scrollY], view: [innerWidth, innerHeight] };
}

const isFrame = (el) => tagOf(el) === "iframe" || tagOf(el) === "frame" || tagOf(el) === "object" || tagOf(el) === "embed";

function coverFrame(el, coversFrames, add, walk) {
  const inside = el.contentDocument;
  if (inside) walk(inside, originOf(el));
  else if (coversFrames) add(rectOf(el), el);
}

// As it can be compared, whatever stands between the characters and however they are cased.
const bareText = (text) => (text || "").normalize("NFKC").replace(/[\s\u00ad\u200b-\u200d\u2060\ufeff-]+/g, "").toLowerCase();

function holdsSecret(el, known) {
  switch (tagOf(el)) {
    case "input": case "textarea":
      return el.value ? isSecret(el) || isKnown(el.value, known) : isKnown(el.placeholder, known);
    case "select":
      return [...el.selectedOptions].some((option) => isKnown(option.label, known));
    case "img":
      return isKnown(attribute(el, "alt"), known);
    default:  // style is asked for last: that costs, and on every element
      return known.length > 0 && isKnown(generatedText(el), known);
  }
}

const isKnown = (text, known) => {
  if (!known.length || !text) return false;
  const bare = bareText(text);
  return known.some((value) => bare.includes(value));
};

// Text that a style sheet shows, which no text node holds.
function generatedText(el) {
  if (!hasAttribute(el, "class") && !hasAttribute(el, "style") && !hasAttribute(el, "data-value")) return "";
  return ["::before", "::after"].map((where) => getComputedStyle(el, where).content).filter((said) => said !== "none" && said !== "normal").join("");
}

// Words may lie across elements: what is shown is compared as a whole, and each node that a find
// reaches into is covered where it lies.
function coverKnown(root, known, add, tooMany) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const parts = [];
  let whole = "";
  while (walker.nextNode()) {
    const bare = bareText(walker.currentNode.data);
    if (!bare || matchesUnsaid(parentOf(walker.currentNode))) continue;
    parts.push([whole.length, walker.currentNode]);
    whole += bare;
  }
  const starts = parts.map(([start]) => start);
  for (const value of known) {
    for (let at = whole.indexOf(value); at >= 0; at = whole.indexOf(value, at + 1)) {
      if (tooMany()) return;
      coverWords(parts, starts, at, at + value.length, add);
    }
  }
}

const matchesUnsaid = (el) => !!el && matches(el, "script,style,template,noscript,title");

function coverWords(parts, starts, from, to, add) {
  let index = 0, beyond = starts.length;  // the last part that begins at or before it
  while (beyond - index > 1) {
    const middle = (index + beyond) >> 1;
    if (starts[middle] > from) beyond = middle;
    else index = middle;
  }
  for (; index < parts.length && parts[index][0] < to; index++) {
    const range = document.createRange();
    range.selectNodeContents(parts[index][1]);
    for (const box of range.getClientRects()) add(box, parts[index][1]);
  }
}

Object.assign(functions, { pinnedOrigin, secretBoxes });
