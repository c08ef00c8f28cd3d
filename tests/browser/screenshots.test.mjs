// Pictures of every main view, in light and dark, wide and narrow, for people to look at.

import { mkdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { cell, head, openBrowser } from "./support/browser.mjs";
import { fill, id } from "./support/data.mjs";
import { startServer } from "./support/server.mjs";

const FOLDER = new URL("screenshots/", import.meta.url).pathname;

let server;

before(async () => {
  await mkdir(FOLDER, { recursive: true });
  server = await startServer();
  await fill(server, 20_000);
  await server.patch("accounts", id(6), { set: { stage: { String: "customer" } } });
  await server.call("POST", "/v1/tables", { name: "empty", partition_key: "id u64", families: [{ name: "main", columns: [{ name: "title" }] }] });
});

after(() => server?.stop());

const views = {
  grid: ["#/accounts", async (page) => {
    await page.locator(".fresh-bar").first().waitFor({ state: "attached" });
  }],
  stale: ["#/accounts?stale&sort=-mrr&columns=id,mrr,seats,name,owner,stage,renews", async (page) => {
    await page.locator(".ag-cell.is-stale").first().waitFor();
  }],
  hover: ["#/accounts", async (page) => {
    await cell(page, 5, "name").hover();
    await page.getByRole("tooltip").waitFor();
  }],
  filter: ["#/accounts", async (page) => {
    await head(page, "name").hover();
    await head(page, "name").locator(".head-filter").click();
    await page.locator(".facets li").first().waitFor();
  }],
  columns: ["#/accounts", async (page) => {
    await page.getByTitle("Columns").click();
    await page.locator(".columns-popup li").first().waitFor();
  }],
  row: [`#/accounts?panel=row&row="${id(6)}"`, async (page) => {
    await page.getByRole("button", { name: "History" }).click();
    await page.locator(".history").waitFor();
    await page.getByText(/^Stored under/).first().click();
  }],
  query: ['#/accounts?where=[["owner","is","adam"],["seats",">=","20"]]&sort=-score&panel=query', async (page) => {
    await page.locator(".plan-steps").waitFor();
  }],
  keys: ["#/accounts?panel=keys", async (page) => {
    await page.locator(".designed > li").first().waitFor();
  }],
  import: ["#/accounts", async (page) => {
    await page.getByTitle("Import a file").last().click();
    await page.locator("input[type=file]").setInputFiles({
      name: "accounts.csv", mimeType: "text/csv", buffer: Buffer.from("id,name,city,seats\nb1,New one,Bern,5\nb2,New two,Chur,7\n"),
    });
    await page.locator(".preview").waitFor();
  }],
  empty: ["#/empty", async (page) => {
    await page.getByText("empty is empty").waitFor();
  }],
};

for (const [width, height] of [[1280, 800], [390, 844]]) {
  for (const dark of [false, true]) {
    test(`the views at ${width} pixels, ${dark ? "dark" : "light"}`, async () => {
      const browser = await openBrowser({ width, height, dark });
      try {
        for (const [name, [hash, prepare]] of Object.entries(views)) {
          await browser.page.goto("about:blank");
          await browser.page.goto(`${server.url}/${hash}`);
          await browser.page.waitForSelector(".ag-row:not(.is-loading), .blank");
          await prepare(browser.page);
          await browser.page.screenshot({ path: `${FOLDER}${name}-${width}-${dark ? "dark" : "light"}.png` });
        }
      } finally {
        await browser.close();
      }
    });
  }
}
