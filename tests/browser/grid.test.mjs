import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { cell, counted, head, openBrowser } from "./support/browser.mjs";
import { ROWS, fill, id } from "./support/data.mjs";
import { startServer } from "./support/server.mjs";

let server;
let browser;
let page;

before(async () => {
  server = await startServer();
  await fill(server);
  browser = await openBrowser();
  page = browser.page;
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens a view as if for the first time. */
async function open(hash = "#/accounts") {
  await page.goto("about:blank");
  await page.goto(`${server.url}/${hash}`);
  await page.waitForSelector(".ag-row:not(.is-loading)");
}

const text = (place, column) => cell(page, place, column).innerText();
const says = (place, column, wanted) => cell(page, place, column).filter({ hasText: wanted }).waitFor();

test("the grid opens with its tables, their rows and their freshness", async (context) => {
  await open("");
  await says(1, "id", id(1));
  const [paint] = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint").map((entry) => entry.startTime));
  context.diagnostic(`first paint after ${Math.round(paint)} ms`);
  await counted(page, ROWS);
  assert.equal(await page.locator(".rail-count").innerText(), "120,000");
  assert.match(await page.locator(".fresh-bar").nth(1).getAttribute("aria-label"), /^billing: [\d,]+ fresh, [\d,]+ stale, 17,142 missing$/);
});

test("row 100,000 is a number away, and the last one a key", async () => {
  await open();
  await counted(page, ROWS);
  await page.fill("#go-to", "100,000");
  await page.press("#go-to", "Enter");
  await says(100_000, "id", id(100_000));
  await page.keyboard.press("Control+End");
  await says(ROWS, "id", id(ROWS));
});

test("scrolling shows rows from anywhere in the table", async () => {
  await open();
  await counted(page, ROWS);
  for (const place of [20_000, 60_000, 110_000]) {
    await page.locator(".ag-grid-viewport").evaluate((body, top) => (body.scrollTop = top), (place - 1) * 30);
    await says(place, "id", id(place));
  }
});

test("a click on a column's head sorts by it, another one the other way", async () => {
  await open();
  const first = async (direction) => {
    const answer = await server.query({ prefixes: ["accounts"], sort: [{ field: "score", direction }], take: 1 });
    return String(answer.rows[0].columns.score.value.Float);
  };
  await head(page, "score").click();
  await says(1, "score", await first("Asc"));
  await head(page, "score").click();
  await says(1, "score", await first("Desc"));
  assert.equal(await head(page, "score").getAttribute("aria-sort"), "descending");
  assert.match(page.url(), /sort=-score/);
});

test("a filter is typed, becomes a chip, and is asked of the server", async () => {
  await open();
  await page.keyboard.press("/");
  await page.keyboard.type("owner = mia");
  await page.keyboard.press("Enter");
  const filter = { Condition: { field: "owner", operator: "Eq", value: { String: "mia" } } };
  const { count } = await server.query({ prefixes: ["accounts"], filter, count: true });
  await counted(page, count);
  await says(1, "owner", "mia");
  await page.locator(".chip", { hasText: "owner is mia" }).waitFor();
  await page.getByLabel("Take away the filter owner is mia").click();
  await counted(page, ROWS);
});

test("a column's filter offers its values with their counts", async () => {
  await open();
  await head(page, "stage").hover();
  await head(page, "stage").locator(".head-filter").click();
  await page.locator(".facets label", { hasText: "trial" }).click();
  await page.locator(".facets label", { hasText: "lead" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  const value = { List: [{ String: "trial" }, { String: "lead" }] };
  const filter = { Condition: { field: "stage", operator: "In", value } };
  const { count } = await server.query({ prefixes: ["accounts"], filter, count: true });
  await counted(page, count);
});

test("a cell is edited in its place", async () => {
  await open();
  await cell(page, 2, "city").dblclick();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Luzern");
  await page.keyboard.press("Enter");
  await says(2, "city", "Luzern");
  await page.waitForFunction(() => document.querySelector(".is-pending") === null);
  assert.deepEqual(await server.value("accounts", id(2), "city"), { String: "Luzern" });
});

test("what is no value of the column's type is not written", async () => {
  await open();
  const before = await text(2, "seats");
  await cell(page, 2, "seats").dblclick();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("many");
  await page.keyboard.press("Enter");
  await page.locator(".toast", { hasText: "not a whole number" }).waitFor();
  assert.equal(await text(2, "seats"), before);
});

test("a cell that somebody else changed is not overwritten without asking", async () => {
  await open();
  await cell(page, 3, "city").dblclick();
  await server.patch("accounts", id(3), { set: { city: { String: "Zug" } } });
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Olten");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Somebody else changed this cell" });
  await dialog.getByText("Zug").waitFor();
  assert.deepEqual(await server.value("accounts", id(3), "city"), { String: "Zug" });
  await dialog.getByRole("button", { name: "Write mine" }).click();
  await says(3, "city", "Olten");
  assert.deepEqual(await server.value("accounts", id(3), "city"), { String: "Olten" });
});

test("a cell goes stale before one's eyes, and fresh again when it is written", async () => {
  await server.patch("accounts", id(4), { set: { name: { String: "Short-lived" } }, ttl: "3s" });
  await open();
  await says(4, "name", "Short-lived");
  const staleness = (wanted) => page.waitForFunction(
    (stale) => document.querySelector('.ag-row[row-index="3"] [col-id="name"]').classList.contains("is-stale") === stale,
    wanted,
  );
  await staleness(true);
  await server.patch("accounts", id(4), { set: { name: { String: "Renewed" } } });
  await says(4, "name", "Renewed");
  await staleness(false);
});

test("a cell tells of its clock when the pointer rests on it", async () => {
  await open();
  await page.locator(".ag-cell.is-stale").first().hover();
  const card = page.getByRole("tooltip");
  await card.getByText("stale since").waitFor();
  assert.match(await card.innerText(), /family billing[\s\S]*written[\s\S]*1 h[\s\S]*gone/);
});

test("a cell names the write that wrote it, and the row's panel shows what else it wrote", async () => {
  const written = { set: { city: { String: "Wil" } } };
  const { writes } = await server.call("POST", "/v1/tables/accounts/rows", { writes: [7, 9, 12].map((row) => ({ key: id(row), ...written })) });
  await server.patch("accounts", id(8), written);
  await open();
  await cell(page, 7, "city").hover();
  const name = writes[0].written_at;
  await page.getByRole("tooltip").getByText(name, { exact: true }).waitFor();
  await cell(page, 7, "id").click();
  const panel = page.getByRole("complementary", { name: `Row ${id(7)}` });
  await panel.locator(".panel-section", { hasText: name }).getByRole("button", { name: "Its rows" }).click();
  await counted(page, 3);
  for (const [place, row] of [[1, 7], [2, 9], [3, 12]]) await says(place, "id", id(row));
  await page.locator(".chip", { hasText: `written by ${name}` }).waitFor();
});

test("a cell tells what else its write wrote, and the row's panel which other families", async () => {
  await server.patch("accounts", id(14), { set: { name: { String: "Together" }, score: { Float: 5 } } });
  await open();
  await says(14, "name", "Together");
  await cell(page, 14, "name").hover();
  await page.getByRole("tooltip").getByText("owner, city and stage of crm; also usage", { exact: true }).waitFor();
  await cell(page, 14, "id").click();
  const panel = page.getByRole("complementary", { name: `Row ${id(14)}` });
  await panel.locator(".panel-section", { hasText: "with usage" }).getByText("Together").waitFor();
});

test("a row is deleted once that is confirmed, unless somebody changed it meanwhile", async () => {
  const gone = async (row) => (await server.call("POST", "/v1/tables/accounts/get", { keys: [id(row)] })).rows[0] === null;
  await open();
  await counted(page, ROWS);
  await cell(page, 20, "city").click();
  await page.keyboard.press("Shift+Delete");
  const dialog = page.getByRole("dialog", { name: "Delete this row?" });
  await dialog.getByRole("button", { name: "Keep it" }).click();
  assert.equal(await gone(20), false);
  await cell(page, 20, "id").click();
  await page.getByRole("button", { name: "Delete this row…" }).click();
  await server.patch("accounts", id(20), { set: { city: { String: "Elm" } } });
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  const conflict = page.getByRole("dialog", { name: "Somebody else changed this row" });
  await conflict.getByText("Elm").waitFor();
  assert.equal(await gone(20), false);
  await conflict.getByRole("button", { name: "Delete it as it is now" }).click();
  await says(20, "id", id(21));
  assert.equal(await gone(20), true);
  await server.patch("accounts", id(20), { set: { name: { String: "Account 20" } } });
});

test("only rows with something stale can be shown", async () => {
  await open();
  await page.getByRole("button", { name: "Only stale" }).click();
  const { count } = await server.query({ prefixes: ["accounts"], freshness: "SomeStale", count: true });
  assert.ok(count > 0 && count < ROWS);
  await counted(page, count);
  await page.locator('.ag-row[row-index="0"] .is-stale').first().waitFor();
});

test("columns are chosen and ordered, and the choice is remembered", async () => {
  await open();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.locator(".columns-popup li", { hasText: "stage" }).getByRole("checkbox").uncheck();
  await page.locator(".columns-popup li", { hasText: "city" }).getByRole("checkbox").press("Alt+ArrowUp");
  await head(page, "stage").waitFor({ state: "detached" });
  const order = () => page.locator(".ag-header-cell").evaluateAll((heads) =>
    heads.sort((a, b) => a.getAttribute("aria-colindex") - b.getAttribute("aria-colindex")).map((each) => each.getAttribute("col-id")));
  const chosen = await order();
  assert.deepEqual(chosen.slice(0, 4), ["id", "name", "city", "owner"]);
  await open();
  assert.deepEqual(await order(), chosen);
  await page.getByRole("button", { name: /of 10/ }).click();
  await page.getByRole("button", { name: "All, as declared" }).click();
  await head(page, "stage").waitFor();
});

test("an address shows the same view to somebody else", async () => {
  await open();
  await page.keyboard.press("/");
  await page.keyboard.type("score >= 99");
  await page.keyboard.press("Enter");
  await head(page, "name").click();
  await page.waitForFunction(() => /sort=name/.test(location.hash) && /where=/.test(location.hash));
  const shown = async (on) => {
    await on.waitForSelector(".ag-row:not(.is-loading)");
    await on.waitForFunction(() => !/…/.test(document.querySelector(".status-count").textContent));
    return [await on.locator(".status-count").innerText(), await cell(on, 1, "name").innerText(), await cell(on, 5, "name").innerText()];
  };
  const mine = await shown(page);
  const other = await openBrowser();
  try {
    await other.page.goto(page.url());
    assert.deepEqual(await shown(other.page), mine);
    assert.deepEqual(other.complaints, []);
  } finally {
    await other.close();
  }
  await page.goBack();
  await page.waitForFunction(() => !/sort=/.test(location.hash));
});

test("a row's panel has its clocks, its history and its stored keys", async () => {
  await server.patch("accounts", id(5), { set: { stage: { String: "before" } } });
  await server.patch("accounts", id(5), { set: { stage: { String: "after" } } });
  await open();
  await cell(page, 5, "id").click();
  const panel = page.getByRole("complementary", { name: `Row ${id(5)}` });
  await panel.getByRole("button", { name: "History" }).click();
  await panel.locator(".history del", { hasText: "before" }).first().waitFor();
  await panel.getByText(/^Stored under/).first().click();
  await panel.locator(".byte-value", { hasText: id(5) }).first().waitFor();
  await panel.getByText("by_owner").click();
  await panel.locator(".byte-name", { hasText: "owner" }).first().waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
});

test("the query panel has the request and its plan, and what is written there is shown", async () => {
  await open('#/accounts?where=[["owner","is","zoe"]]&sort=-score&panel=query');
  await page.locator(".plan-steps", { hasText: "by_owner" }).waitFor();
  const request = page.getByLabel("Request as JSON");
  await request.fill(JSON.stringify({ prefixes: ["accounts"], filter: { Condition: { field: "city", operator: "Eq", value: { String: "Thun" } } } }));
  await page.getByRole("button", { name: "Show in the grid" }).click();
  await says(1, "city", "Thun");
  await page.locator(".chip", { hasText: "city is Thun" }).waitFor();
});

test("the key designer shows bytes and their order", async () => {
  await open("#/accounts?panel=keys");
  await page.getByLabel("Fields of the key").fill("tenant string, seq u32 desc");
  await page.getByLabel("Values, a key a line").fill("b, 1\na, 1\na, 2\na, minus");
  await page.locator(".designed-values", { hasText: "a / 2" }).waitFor();
  assert.deepEqual(await page.locator(".designed-values").allInnerTexts(), ["a / 2", "a / 1", "b / 1"]);
  await page.locator(".problem", { hasText: "line 4" }).waitFor();
});

test("cells are copied, and rows exported as CSV", async () => {
  await browser.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open('#/accounts?where=[["id","<=","a000003"]]&columns=id,name,seats');
  await cell(page, 1, "name").click();
  await cell(page, 2, "seats").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control+C");
  await page.locator(".toast", { hasText: "2 × 2" }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^Account 1\t\d+\nAccount 2\t\d+$/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByTitle("Export these rows as CSV").click()]);
  const csv = await readFile(await download.path(), "utf8");
  assert.match(csv, /^id,name,seats\r\na000001,Account 1,\d+\r\na000002,Account 2,\d+\r\na000003,/);
});

test("cells chosen with the pointer stay chosen when the grid tells of its focus late", async () => {
  await open('#/accounts?where=[["id","<=","a000003"]]&columns=id,name,seats');
  await says(3, "name", "Account 3");
  // The grid tells of it in a timer of its own.
  await page.evaluate(() => {
    const start = window.setTimeout.bind(window);
    window.setTimeout = (call, delay = 0, ...rest) => start(call, delay + 300, ...rest);
  });
  await cell(page, 1, "name").click();
  await cell(page, 2, "seats").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control");
  await page.waitForTimeout(400);
  await page.keyboard.press("Control+C");
  await page.locator(".toast", { hasText: "2 × 2" }).waitFor();
});

test("a file that is dropped becomes rows", async () => {
  await open();
  await counted(page, ROWS);
  const lines = ["id,name,seats", "z1,Dropped one,1", 'z2,"Dropped, two",2', "z3,Dropped three,many"];
  const transfer = await page.evaluateHandle((csv) => {
    const data = new DataTransfer();
    data.items.add(new File([csv], "more.csv", { type: "text/csv" }));
    return data;
  }, lines.join("\n"));
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
  await page.getByText("Done: 2 rows, 1 lines left out").waitFor();
  await page.getByText("line 4", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Close" }).last().click();
  assert.deepEqual(await server.value("accounts", "z2", "name"), { String: "Dropped, two" });
  await counted(page, ROWS + 2);
});

test("a file becomes a table of its own", async () => {
  await open();
  await page.getByTitle("Import a file").first().click();
  await page.locator("input[type=file]").setInputFiles({
    name: "Some Books.jsonl", mimeType: "application/json",
    buffer: Buffer.from('{"isbn": "1", "title": "A", "price": 5}\n{"isbn": "2", "title": "B", "price": 7.5}\n'),
  });
  await page.getByLabel("Into").selectOption("a new table");
  await page.getByLabel("Key").selectOption("isbn");
  await page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
  await page.getByText("Done: 2 rows").waitFor();
  await page.getByRole("button", { name: "Close" }).last().click();
  await says(2, "title", "B");
  assert.match(page.url(), /#\/some_books/);
});

test("nothing complained, and nobody else was asked", () => {
  assert.deepEqual(browser.complaints, []);
});
