// Looks at pages as people do, in headless Chromium:
//   node look.mjs WANTED.json      with {peers, chromium, out, pages: [{name, file}]}
// Pictures and PDFs go to `out`; what was seen is printed as JSON, an object for each page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const wanted = JSON.parse(readFileSync(process.argv[2], "utf8"));
const peers = createRequire(wanted.peers + "/");
const { chromium } = peers("playwright-core");
const axe = readFileSync(peers.resolve("axe-core/axe.min.js"), "utf8");

const WIDTHS = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 900 } };
const SCHEMES = ["light", "dark"];
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const MOST_TABS = 400;

const url = (file) => pathToFileURL(file).href;

// A page under a set of circumstances; everything that it says, asks for or tries is noted.
async function open(browser, file, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const noted = { console: [], errors: [], requests: [], dialogs: [] };
  page.on("console", (message) => noted.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => noted.errors.push(String(error)));
  page.on("request", (request) => noted.requests.push(request.url()));
  page.on("dialog", (dialog) => (noted.dialogs.push(dialog.message()), dialog.dismiss()));
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
  });
  await page.goto(url(file), { waitUntil: "load" });
  return { context, page, noted };
}

// Everything that is folded is opened: what nobody sees is not checked.
const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));

async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate((rules) => window.axe.run(document, { runOnly: rules }), RULES);
  const told = (each) => ({ id: each.id, help: each.help, nodes: each.nodes.map((node) => node.html.slice(0, 200)) });
  return {
    violations: found.violations.map(told),
    passes: found.passes.map((each) => each.id),
    unsure: found.incomplete.map((each) => each.id),
  };
}

// What lies wider than the window and cannot be scrolled to within itself.
const overflow = (page) =>
  page.evaluate(() => ({ window: innerWidth, page: document.documentElement.scrollWidth }));

async function circumstances(browser, { name, file }) {
  const seen = [];
  for (const [width, viewport] of Object.entries(WIDTHS)) {
    for (const colorScheme of SCHEMES) {
      const { context, page, noted } = await open(browser, file, { viewport, colorScheme, deviceScaleFactor: 1 });
      const picture = join(wanted.out, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path: picture, fullPage: true });
      const folded = await overflow(page);
      await unfold(page);
      seen.push({
        width, scheme: colorScheme, picture, ...noted, folded, unfolded: await overflow(page),
        ...(await accessible(page)),
        violated: await page.evaluate(() => window.violations),
      });
      await context.close();
    }
  }
  return seen;
}

// Walks through the page with the Tab key alone, until the focus leaves it or comes round.
async function keyboard(browser, file) {
  const { context, page } = await open(browser, file, { viewport: WIDTHS.desktop });
  const order = [];
  for (let turn = 0; turn < MOST_TABS; turn += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const here = document.activeElement;
      if (!here || here === document.body) return null;
      const style = getComputedStyle(here);
      const all = [...document.querySelectorAll("*")];
      return {
        place: all.indexOf(here), tag: here.localName, text: (here.ariaLabel ?? here.textContent).trim().slice(0, 60),
        ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
      };
    });
    if (!at || order.some((each) => each.place === at.place)) break;
    order.push(at);
  }
  await page.evaluate(() => document.activeElement?.blur());
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const skipped = await page.evaluate(() => document.activeElement?.id);
  const summary = page.locator("summary").first();
  await summary.focus();
  await page.keyboard.press("Enter");
  const opened = await summary.evaluate((each) => each.parentElement.open);
  await context.close();
  return { order, skipped, opened };
}

async function print(browser, { name, file }) {
  const { context, page, noted } = await open(browser, file, { viewport: WIDTHS.desktop, colorScheme: "dark" });
  const pdf = join(wanted.out, `${name}.pdf`);
  await page.pdf({ path: pdf, preferCSSPageSize: true, printBackground: true });
  await context.close();
  return { pdf, ...noted };
}

const browser = await chromium.launch({
  executablePath: wanted.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const told = {};
for (const each of wanted.pages) {
  told[each.name] = {
    seen: await circumstances(browser, each), keyboard: await keyboard(browser, each.file), print: await print(browser, each),
  };
}
await browser.close();
console.log(JSON.stringify({ version: browser.version(), pages: told }));
