// Debian's Chromium, headless, each time as if it had never been used.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export async function openBrowser({ width = 1280, height = 800, dark = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "stonecrop-browser-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    acceptDownloads: true,
    args: ARGUMENTS,
    ignoreDefaultArgs: ["--hide-scrollbars"],
  });
  context.setDefaultTimeout(15_000);
  const page = context.pages()[0] ?? (await context.newPage());
  return new Browser(context, page, folder);
}

class Browser {
  /** What must not happen: errors, warnings, and requests to anybody else. */
  complaints = [];

  constructor(context, page, folder) {
    Object.assign(this, { context, page, folder });
    this.watch(page);
    context.on("page", (other) => this.watch(other));
  }

  watch(page) {
    page.on("pageerror", (error) => this.complaints.push(`error: ${error.message}`));
    page.on("console", (message) => {
      const expected = /status of (401|404|412)/.test(message.text());
      if (["error", "warning"].includes(message.type()) && !expected) this.complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (!/^(http:\/\/127\.0\.0\.1:|blob:|data:|about:)/.test(request.url())) this.complaints.push(`asked ${request.url()}`);
    });
  }

  async close() {
    await this.context.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A row of the grid by its place, from 1. */
export const row = (page, place) => page.locator(`.ag-center-cols-container .ag-row[row-index="${place - 1}"]`);

export const cell = (page, place, column) => page.locator(`.ag-row[row-index="${place - 1}"] .ag-cell[col-id="${column}"]`);

export const head = (page, column) => page.locator(`.ag-header-cell[col-id="${column}"]`);

/** Waits until the rows of the view are counted: nothing is being loaded. */
export async function counted(page, count) {
  await page.waitForFunction(
    (wanted) => document.querySelector(".status-count")?.textContent === `of ${wanted.toLocaleString("en-US")}`,
    count,
  );
}
