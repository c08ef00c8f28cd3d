import { expect, test } from "vitest";
import { fromHash, toHash } from "../src/model/url";
import { EMPTY, type View } from "../src/model/view";

const full: View = {
  table: "ünï table/1",
  filters: [
    { column: "score", test: "between", text: "1", to: "5 & 6" },
    { column: "owner", test: "in", values: [{ String: "a#b" }, "Null", { Int: 9007199254740993n }] },
    { column: "name", test: "stale" },
    { write: "2024-01-15T10:00:00.123456Z" },
    { anywhere: "100% \"sure\"" },
    { json: { logical: "Or", children: [] } },
  ],
  sort: [{ field: "-odd,name", direction: "Desc" }, { field: "b", direction: "Asc", nulls: "First" }],
  columns: ["id", "a,b", "c\\d"],
  staleOnly: true,
  asOf: "2024-01-15T10:00:00Z",
  panel: "row",
  row: ["acme", 18446744073709551615n],
};

test("a view is the same after it was an address", () => {
  expect(fromHash(toHash(full))).toEqual(full);
  expect(fromHash(toHash(EMPTY))).toEqual(EMPTY);
});

test("an address can be read", () => {
  const view: View = { ...EMPTY, table: "contacts", filters: [{ column: "owner", test: "is", text: "adam" }], sort: [{ field: "score", direction: "Desc" }] };
  expect(decodeURIComponent(toHash(view))).toBe('#/contacts?where=[["owner","is","adam"]]&sort=-score');
});

test("what cannot be read is left out", () => {
  expect(fromHash("#/t?where=[oops&row={&panel=nothing&%%%")).toEqual({ ...EMPTY, table: "t" });
});
