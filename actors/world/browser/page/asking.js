// What any element may be asked, asked of its prototype: a field that is named like a property of
// its form hides that property, as <input name="parentNode"> does.

const uncurried = (method) => Function.prototype.call.bind(method);
const getterOf = (prototype, name) => uncurried(Object.getOwnPropertyDescriptor(prototype, name).get);

const typeOf = getterOf(Node.prototype, "nodeType");
const documentOf = getterOf(Node.prototype, "ownerDocument");
const parentNodeOf = getterOf(Node.prototype, "parentNode");
const parentOf = getterOf(Node.prototype, "parentElement");
const nodesOf = getterOf(Node.prototype, "childNodes");
const firstNodeOf = getterOf(Node.prototype, "firstChild");
const nodeAfter = getterOf(Node.prototype, "nextSibling");
const textContentOf = getterOf(Node.prototype, "textContent");
const isConnected = getterOf(Node.prototype, "isConnected");
const rootOf = uncurried(Node.prototype.getRootNode);
const contains = uncurried(Node.prototype.contains);

const tagOf = getterOf(Element.prototype, "localName");
const namespaceOf = getterOf(Element.prototype, "namespaceURI");
const slotOf = getterOf(Element.prototype, "assignedSlot");
const shadowOf = getterOf(Element.prototype, "shadowRoot");
const elementBefore = getterOf(Element.prototype, "previousElementSibling");
const elementAfter = getterOf(Element.prototype, "nextElementSibling");
const attribute = uncurried(Element.prototype.getAttribute);
const hasAttribute = uncurried(Element.prototype.hasAttribute);
const matches = uncurried(Element.prototype.matches);
const closest = uncurried(Element.prototype.closest);
const rectOf = uncurried(Element.prototype.getBoundingClientRect);
const checkVisibility = uncurried(Element.prototype.checkVisibility);
const scrollIntoView = uncurried(Element.prototype.scrollIntoView);

// A document's own are hidden in the same way, by <form name="querySelectorAll">.
const ROOTS = { 1: Element.prototype, 9: Document.prototype, 11: DocumentFragment.prototype };
const findAll = (root, selector) => ROOTS[typeOf(root)].querySelectorAll.call(root, selector);
const findIn = (root, selector) => ROOTS[typeOf(root)].querySelector.call(root, selector);

const CHILDREN = { 1: getterOf(ROOTS[1], "children"), 9: getterOf(ROOTS[9], "children"), 11: getterOf(ROOTS[11], "children") };
const childrenOf = (root) => CHILDREN[typeOf(root)](root);

// What only some kinds of elements have. Of a form only what forms have.
const property = (el, name) => (tagOf(el) === "form" ? Reflect.get(HTMLFormElement.prototype, name, el) : el[name]);

// ---- from there ---------------------------------------------------------------------------------

const isElement = (thing) => "nodeType" in thing && typeOf(thing) === 1;
const parentIs = (el, tag) => !!parentOf(el) && tagOf(parentOf(el)) === tag;
const closestAbove = (el, selector) => parentOf(el) && closest(parentOf(el), selector);
const shadowHost = (root) => (typeOf(root) === 11 ? root.host : null);
const focusOf = (el) => property(el, "focus").call(el);
const siblingsOf = (el) => (parentNodeOf(el) ? [...childrenOf(parentNodeOf(el))] : []);
