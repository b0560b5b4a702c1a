// Takes the picture of a page's beginning: node picture.mjs WANTED.json with {peers, chromium, page, picture}
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const wanted = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { chromium } = createRequire(wanted.peers + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: wanted.chromium, args: ["--disable-gpu", "--disable-background-networking"] });
const viewport = { width: 1120, height: 800 };
const page = await browser.newPage({ viewport, colorScheme: "light", deviceScaleFactor: 1.25 });
await page.goto(pathToFileURL(wanted.page).href);
await page.screenshot({ path: wanted.picture });
await browser.close();
console.log(JSON.stringify(viewport));
