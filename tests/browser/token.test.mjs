import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cell, openBrowser } from "./support/browser.mjs";
import { accounts } from "./support/data.mjs";
import { startServer } from "./support/server.mjs";

const ADMIN = "admin-token-of-the-test-0123456789abcdef";
const READER = "reader-token-of-the-test-0123456789abcdef";

let server;
let browser;
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "stonecrop-tokens-"));
  const line = (scope, token) => `${scope} ${createHash("sha256").update(token).digest("hex")} the test\n`;
  await writeFile(join(folder, "tokens"), line("admin", ADMIN) + line("read", READER));
  server = await startServer("--token-file", join(folder, "tokens"));
  await server.call("POST", "/v1/tables", accounts, ADMIN);
  await server.call("PATCH", "/v1/tables/accounts/rows/a1", { set: { name: { String: "Ada" } } }, ADMIN);
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a token is asked for, a wrong one refused, and a reader's lets read only", async () => {
  const { page } = browser;
  await page.goto(server.url);
  const dialog = page.getByRole("dialog", { name: "This server wants a token" });
  await dialog.getByLabel("Token").fill("wrong");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await dialog.getByText("did not take that token").waitFor();
  await dialog.getByLabel("Token").fill(READER);
  await dialog.getByRole("button", { name: "Go on" }).click();
  await cell(page, 1, "name").filter({ hasText: "Ada" }).waitFor();
  await page.getByText("read only").waitFor();
  await cell(page, 1, "name").dblclick();
  assert.equal(await page.locator(".ag-cell-inline-editing").count(), 0);
  await page.reload();
  await cell(page, 1, "name").filter({ hasText: "Ada" }).waitFor();
  assert.deepEqual(browser.complaints, []);
});
