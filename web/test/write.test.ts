import { expect, test } from "vitest";
import type { Row } from "../src/api/types";
import { writtenWith } from "../src/model/write";

/** Cells that are named as `family.column`, all written at one time. */
function cells(written_at: string, ...names: string[]): Row["columns"] {
  const cell = (name: string) => {
    const [family, column] = name.split(".") as [string, string];
    return [column, { value: "Null" as const, fresh: true, family, written_at }];
  };
  return Object.fromEntries(names.map(cell));
}

const FIRST = "2026-11-17T12:04:31.000001Z";
const SECOND = "2026-11-17T12:04:31.000002Z";

test("a cell was written with the others of its family, a few of them by name", () => {
  const rows = [["crm.city", "crm.name"], ["crm.city", "crm.name", "crm.owner", "crm.stage"], ["crm.city", "crm.a", "crm.b", "crm.c", "crm.d"]];
  expect(rows.map((names) => writtenWith(cells(FIRST, ...names), "city"))).toEqual([
    "name of crm", "name, owner and stage of crm", "a, b and 2 more of crm",
  ]);
});

test("a write that wrote several families is told with all of them", () => {
  const columns = cells(FIRST, "crm.city", "crm.name", "usage.score", "usage.last_seen", "billing.seats");
  expect(writtenWith(columns, "city")).toBe("name of crm; also usage and billing");
  expect(writtenWith(columns, "seats")).toBe("crm and usage");
});

test("what another write wrote is not told, even if it was within the same second", () => {
  expect(writtenWith({ ...cells(FIRST, "crm.city"), ...cells(SECOND, "usage.score") }, "city")).toBe("");
});

test("a cell without a clock was written with nothing that is known", () => {
  expect(writtenWith({ city: { value: "Null", fresh: true }, name: { value: "Null", fresh: true } }, "city")).toBe("");
  expect(writtenWith({}, "city")).toBe("");
});
