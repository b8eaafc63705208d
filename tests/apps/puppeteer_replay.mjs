// Chrome's own replayer on a Recorder script: node puppeteer_replay.mjs SCRIPT CHROMIUM, in its folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "here.cjs"));
const puppeteer = require("puppeteer-core");
const { createRunner, parse, PuppeteerRunnerExtension } = await import(
  join(process.cwd(), "node_modules/@puppeteer/replay/lib/main.js")
);

class Telling extends PuppeteerRunnerExtension {
  async runStep(step, flow) {
    this.step = `step ${flow.steps.indexOf(step) + 1} (${step.type} ${JSON.stringify(step.selectors ?? "")})`;
    // Chrome passes over every custom step. What only checks may be passed over; what acts may not.
    if (step.type === "customStep" && step.name.startsWith("rutter.")) {
      this.cannot = true;
      throw new Error(`there is no ${step.name} in a Recorder script`);
    }
    await super.runStep(step, flow);
  }
}

const [script, executablePath] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath,
  headless: true,
  args: ["--no-sandbox"],
  defaultViewport: { width: 1280, height: 800 },
});
let code = 0;
const page = await browser.newPage();
const extension = new Telling(browser, page, { timeout: 10_000 });
try {
  const flow = parse(JSON.parse(readFileSync(script, "utf8")));
  await (await createRunner(flow, extension)).run();
} catch (error) {
  console.error(`${extension.step}: ${String(error?.message ?? error).slice(0, 400)}`);
  code = extension.cannot ? 2 : 3;
}
await browser.close();
process.exit(code);
