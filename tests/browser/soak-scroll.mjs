// Scrolls through a million rows, from the first to the last, and reports how smooth that was:
//   node soak-scroll.mjs [ADDRESS]     a server that has the table already, or else
//   STONECROP_BIN=… node soak-scroll.mjs     one with the demo's data, in memory
// ROWS are those of all three tables of the demo; about 46 of 100 are orders.

import assert from "node:assert/strict";
import { openBrowser } from "./support/browser.mjs";
import { startDemo } from "./support/server.mjs";

const ROWS = Number(process.env.ROWS ?? 2_170_000);
const TABLE = process.env.TABLE ?? "orders";
const GAP_MS_MAX = Number(process.env.GAP_MS_MAX ?? 1000);
const VIEWPORT = ".ag-grid-viewport";

const server = process.argv[2] ? { url: process.argv[2], stop: () => undefined } : await startDemo(ROWS);
const browser = await openBrowser();
const { page } = browser;
page.setDefaultTimeout(120_000);
let blocks = 0;
page.on("response", (answer) => {
  if (answer.url().endsWith("/v1/query") && /"take":100\b/.test(answer.request().postData() ?? "")) blocks += 1;
});

try {
  const opened = Date.now();
  await page.goto(`${server.url}/#/${TABLE}`);
  await settled();
  console.log(`first rows after ${Date.now() - opened} ms`);
  await page.waitForFunction(() => /of \d/.test(document.querySelector(".status-count")?.textContent ?? ""));
  const rows = Number((await page.locator(".status-count").innerText()).replace(/\D/g, ""));
  console.log(`${rows.toLocaleString("en-US")} rows of ${TABLE}`);
  const gaps = [
    await measured("the wheel, 200 notches", wheel),
    await measured("the bar, dragged from the first row to the last in 10 s", drag),
  ];
  for (const part of [0.5, 0.9, 0.1, 0.75]) gaps.push(await measured(`a jump to ${100 * part}%`, () => jump(part)));
  gaps.push(await measured("the last row, by its number", () => end(rows)));
  const longest = Math.max(...gaps);
  console.log(`longest gap between two frames ${longest.toFixed(0)} ms, ${blocks} blocks loaded, row ${rows.toLocaleString("en-US")} reached`);
  assert.deepEqual(browser.complaints, []);
  assert.ok(longest <= GAP_MS_MAX, `no frame for ${longest.toFixed(0)} ms`);
} finally {
  await browser.close();
  await server.stop();
}

/** What is seen has rows in it. */
async function settled() {
  await page.waitForFunction((viewport) => {
    const box = document.querySelector(viewport)?.getBoundingClientRect();
    const seen = [...document.querySelectorAll(".ag-row")].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return box && bottom > box.top && top < box.bottom;
    });
    return seen.length > 3 && seen.every((row) => !row.classList.contains("is-loading"));
  }, VIEWPORT);
}

/** Does something, waits for its rows, and tells the longest time without a frame. */
async function measured(name, act) {
  const before = blocks;
  await page.evaluate(() => {
    const gaps = (window.soakGaps = []);
    let last = performance.now();
    const frame = (time) => {
      gaps.push(time - last);
      last = time;
      if (window.soakGaps === gaps) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const began = Date.now();
  await act();
  const acted = Date.now();
  await settled();
  const gaps = await page.evaluate(() => {
    const gaps = window.soakGaps;
    window.soakGaps = null;
    return gaps.slice(1).sort((a, b) => a - b);
  });
  const at = (part) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * part))] ?? 0;
  const [median, most, longest] = [at(0.5), at(0.95), at(1)];
  console.log(`${name}: ${acted - began} ms, its rows ${Date.now() - acted} ms later; ${gaps.length} frames, gaps p50 ${median.toFixed(0)} p95 ${most.toFixed(0)} max ${longest.toFixed(0)} ms; ${blocks - before} blocks`);
  return longest;
}

async function wheel() {
  await page.mouse.move(800, 450);
  for (let notch = 0; notch < 200; notch++) {
    await page.mouse.wheel(0, 240);
    await page.waitForTimeout(25);
  }
}

async function drag() {
  await page.evaluate(async (viewport) => {
    const body = document.querySelector(viewport);
    const began = performance.now();
    for (let part = 0; part < 1; ) {
      const time = await new Promise(requestAnimationFrame);
      part = Math.min(1, Math.max(0, (time - began) / 10_000));
      body.scrollTop = part * (body.scrollHeight - body.clientHeight);
    }
  }, VIEWPORT);
}

async function jump(part) {
  await page.locator(VIEWPORT).evaluate((body, part) => (body.scrollTop = part * body.scrollHeight), part);
  await page.waitForTimeout(50);
}

async function end(rows) {
  await page.fill("#go-to", String(rows));
  await page.press("#go-to", "Enter");
  await page.locator(`.ag-row[row-index="${rows - 1}"]:not(.is-loading)`).first().waitFor();
}
