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
const AT_ONCE = 2;
const QUIET = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

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
  await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
  return { context, page, noted };
}

// Everything that is folded is opened: what nobody sees is not checked.
const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));

async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate((rules) => window.axe.run(document, { runOnly: rules }), RULES);
  const told = (each) => ({ id: each.id, help: each.help, nodes: each.nodes.map((node) => node.html.slice(0, 200)) });
  const unsure = [];
  for (const each of found.incomplete)
    for (const node of each.nodes) {
      // A part that scrolls hides some of its cells, and a band is striped: axe cannot tell their background.
      const known = await page.evaluate((at) => !!document.querySelector(at)?.closest(".scroll, pre, .band"), node.target[0]);
      if (!known) unsure.push({ id: each.id, node: node.html.slice(0, 200) });
    }
  return { violations: found.violations.map(told), passes: found.passes.map((each) => each.id), unsure };
}

// What lies wider than the window and cannot be scrolled to within itself.
const overflow = (page) =>
  page.evaluate(() => ({ window: innerWidth, page: document.documentElement.scrollWidth }));

// The colours of a picture: how bright it is from 0 to 1, and how many of its pixels are green.
async function colours(page, picture) {
  const source = `data:image/png;base64,${picture.toString("base64")}`;
  return page.evaluate(async (source) => {
    const image = await createImageBitmap(await (await fetch(source)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let bright = 0, green = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, greenish, blue] = [data[at], data[at + 1], data[at + 2]];
      bright += (red + greenish + blue) / 765;
      if (greenish > red + 25 && greenish > blue + 25) green += 1;
    }
    return { bright: bright / (data.length / 4), green, width: image.width, height: image.height };
  }, source);
}

async function circumstances(browser, blank, { name, file }) {
  const seen = [];
  for (const [width, viewport] of Object.entries(WIDTHS)) {
    for (const colorScheme of SCHEMES) {
      const { context, page, noted } = await open(browser, file, { viewport, colorScheme });
      const path = join(wanted.out, `${name}-${width}-${colorScheme}.png`);
      const picture = await page.screenshot({ path, fullPage: true });
      const folded = await overflow(page);
      await unfold(page);
      const violated = await page.evaluate(() => window.violations);
      seen.push({
        width, scheme: colorScheme, ...noted, violated, folded, unfolded: await overflow(page),
        colours: await colours(blank, picture), ...(await accessible(page)),
      });
      await context.close();
    }
  }
  return seen;
}

// Walks through the page with the Tab key alone, until the focus leaves it or comes round.
async function walk(page) {
  const order = [];
  for (let turn = 0; turn < MOST_TABS; turn += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const here = document.activeElement;
      if (!here || here === document.body) return null;
      const style = getComputedStyle(here);
      const box = here.getBoundingClientRect();
      return {
        place: [...document.querySelectorAll("*")].indexOf(here), tag: here.localName,
        ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
        inside: box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
      };
    });
    if (!at || order.some((each) => each.place === at.place)) break;
    order.push(at);
  }
  return order;
}

async function keyboard(browser, file) {
  const { context, page } = await open(browser, file, { viewport: WIDTHS.desktop });
  const order = await walk(page);
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const skipped = await page.evaluate(() => document.activeElement?.id);
  const summary = page.locator("details:not([open]) > summary").first();
  const folded = await summary.elementHandle();
  await folded.focus();
  await page.keyboard.press("Enter");
  const opened = await folded.evaluate((each) => each.parentElement.open);
  await context.close();
  return { order, skipped, opened };
}

async function print(browser, { name, file }) {
  const { context, page, noted } = await open(browser, file, { viewport: WIDTHS.desktop, colorScheme: "dark" });
  const pdf = join(wanted.out, `${name}.pdf`);
  await page.pdf({ path: pdf, preferCSSPageSize: true, printBackground: true });
  await page.emulateMedia({ media: "print" });
  const seen = await page.evaluate(() => {
    const visible = (selector) => [...document.querySelectorAll(selector)].map((each) => each.checkVisibility());
    return {
      folded: visible("details:not([open]) td, details:not([open]) dd"), logs: visible(".log"), nav: visible("nav"),
      paper: getComputedStyle(document.body).backgroundColor,
    };
  });
  await context.close();
  return { pdf, ...noted, ...seen };
}

async function look(browser, each) {
  const blank = await browser.newPage();
  const told = {
    seen: await circumstances(browser, blank, each), keyboard: await keyboard(browser, each.file),
    print: await print(browser, each),
  };
  await blank.close();
  return told;
}

const browser = await chromium.launch({ executablePath: wanted.chromium, args: QUIET });
const told = {};
const waiting = [...wanted.pages];
const worker = async () => {
  for (let each = waiting.shift(); each; each = waiting.shift()) told[each.name] = await look(browser, each);
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const version = browser.version();
await browser.close();
console.log(JSON.stringify({ version, pages: told }));
