// Where things are in a window that somebody else's hand works in: node eyes.mjs PORT, in its folder.
// A line of JSON asks, a line answers. It only looks, and scrolls what is out of sight.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.cwd(), "here.cjs"));
const puppeteer = require("puppeteer-core");
const PATIENCE_MS = 30_000;
const LOOKS = 3;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const browser = await puppeteer.connect({
  browserURL: `http://127.0.0.1:${process.argv[2]}`,
  defaultViewport: null,
});

async function front() {
  for (const page of await browser.pages()) if (page.url().startsWith("http")) return page;
  throw new Error("there is no page");
}

async function within(page, frame) {
  let found = page.mainFrame();
  for (const number of frame ?? []) found = found.childFrames()[number];
  return found;
}

async function first(root, path) {
  // A path leads into a shadow root with each part.
  let found = await root.$(path[0]);
  for (const part of path.slice(1)) {
    const inner = found && (await found.evaluateHandle((e) => e.shadowRoot ?? e)).asElement();
    found = inner && (await inner.$(part));
  }
  return found;
}

async function seen(root, selectors) {
  for (const path of selectors) {
    const found = await first(root, [path].flat()).catch(() => null);
    const box = found && (await found.boundingBox().catch(() => null));
    if (box && box.width > 0 && box.height > 0) return [found, box];
  }
  return null;
}

// What is at its middle: itself, something in it, or what it is part of.
const uncovered = (found) =>
  found.evaluate((e) => {
    const box = e.getBoundingClientRect();
    const top = e
      .getRootNode()
      .elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return top !== null && (e.contains(top) || top.contains(e) || e.labels?.length > 0);
  });

// Often at the same place, in the window and in sight: a hand goes for what has come to rest.
async function place({ selectors, frame, value }) {
  const until = Date.now() + PATIENCE_MS;
  let last = "";
  let still = 0;
  while (Date.now() < until) {
    const page = await front();
    const root = await within(page, frame);
    const there = root && (await seen(root, selectors));
    if (there) {
      const [found, box] = there;
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const size = await page.evaluate(() => [innerWidth, innerHeight]);
      const within = x > 0 && y > 0 && x < size[0] && y < size[1];
      if (!within) await found.evaluate((e) => e.scrollIntoView({ block: "center" }));
      const now = JSON.stringify(box);
      still = within && now === last && (await uncovered(found)) ? still + 1 : 0;
      if (still >= LOOKS) return { ...(await told(found, value)), ...box };
      last = now;
    }
    await pause(150);
  }
  throw new Error(`not seen within ${PATIENCE_MS} ms`);
}

const told = (found, value) =>
  found.evaluate((e, wanted) => {
    const option = [...(e.options ?? [])].find((each) => each.value === wanted);
    return { tag: e.tagName, label: option?.label.trim() ?? "" };
  }, value ?? "");

async function listen() {
  const page = await front();
  await page.evaluate(() => {
    addEventListener("mousemove", (e) => (globalThis.pointer = [e.clientX, e.clientY]), true);
  });
  return {};
}

const asks = {
  place,
  listen,
  pointer: async () => ({ at: await (await front()).evaluate(() => globalThis.pointer ?? null) }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    console.log(JSON.stringify(await asks[asked.ask](asked)));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error?.message ?? error) }));
  }
}
await browser.disconnect();
