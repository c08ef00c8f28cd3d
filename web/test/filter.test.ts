import { describe, expect, test } from "vitest";
import { type ColumnFilter, chipText, fromFilter, oneFilter, toFilter, typedFilter, typeOfKey } from "../src/model/filter";
import { widthFor } from "../src/model/columns";
import { accounts } from "./tables";

describe("a column's filter becomes a condition", () => {
  test("with the value in the column's type", () => {
    expect(oneFilter({ column: "score", test: ">=", text: "10" }, accounts)).toEqual({
      Condition: { field: "score", operator: "Ge", value: { Int: 10 } },
    });
    expect(oneFilter({ column: "price", test: "between", text: "1.50", to: "2" }, accounts)).toEqual({
      Condition: { field: "price", operator: "Between", value: { List: [{ Decimal: "1.50" }, { Decimal: "2" }] } },
    });
  });

  test("that asks for a missing value by what is not there", () => {
    expect(oneFilter({ column: "name", test: "missing" }, accounts)).toEqual({
      logical: "Not",
      children: [{ Condition: { field: "name", operator: "HasValue" } }],
    });
  });

  test("that asks when a value was written", () => {
    expect(oneFilter({ column: "name", test: "before", text: "2024-01-15 10:00" }, accounts)).toEqual({
      Condition: { field: "name", operator: "WrittenLt", value: { Timestamp: "2024-01-15T10:00:00Z" } },
    });
    const write = oneFilter({ column: "name", test: "write", text: "2024-01-15T10:00:00.123456Z" }, accounts);
    expect(write).toEqual({
      Condition: { field: "name", operator: "WrittenEq", value: { Timestamp: "2024-01-15T10:00:00.123456Z" } },
    });
    expect(fromFilter(write)).toEqual([{ column: "name", test: "write", text: "2024-01-15T10:00:00.123456Z" }]);
  });

  test("with a name quoted that would be a path", () => {
    expect(oneFilter({ column: "a.b", test: "stale" }, accounts)).toEqual({
      Condition: { field: '"a.b"', operator: "IsStale" },
    });
  });

  test("unless the text is no value of that type", () => {
    expect(() => oneFilter({ column: "score", test: "is", text: "ten" }, accounts)).toThrow("not a whole number");
  });
});

test("what a write wrote is looked for in every column", () => {
  const filter = oneFilter({ write: "2024-01-15T10:00:00.123456Z" }, accounts) as { logical: string; children: unknown[] };
  expect(filter.logical).toBe("Or");
  expect(filter.children).toHaveLength(5);
  expect(filter.children[1]).toEqual({
    Condition: { field: "score", operator: "WrittenEq", value: { Timestamp: "2024-01-15T10:00:00.123456Z" } },
  });
});

test("several filters must all be true", () => {
  const filters: ColumnFilter[] = [
    { column: "score", test: ">", text: "1" },
    { column: "name", test: "in", values: [{ String: "Ada" }] },
  ];
  const filter = toFilter(filters, accounts)!;
  expect(filter).toMatchObject({ logical: "And", children: [{}, { Condition: { operator: "In" } }] });
  expect(fromFilter(filter)).toEqual(filters);
});

test("a filter that no chip can say is kept as it is", () => {
  const either = { logical: "Or" as const, children: [] };
  expect(fromFilter(either)).toEqual([{ json: either }]);
  expect(toFilter([{ json: either }], accounts)).toBe(either);
});

describe("what is typed into the filter box", () => {
  test.each([
    ["score >= 10", { column: "score", test: ">=", text: "10" }],
    ["name ~ ada", { column: "name", test: "contains", text: "ada" }],
    ['name = "ada l"', { column: "name", test: "is", text: "ada l" }],
    ["colour = red", { anywhere: "colour = red" }],
    ["ada lovelace", { anywhere: "ada lovelace" }],
  ])("%s", (text, filter) => expect(typedFilter(text, accounts)).toEqual(filter));
});

test("a text is looked for in every column that has text, and in the key", () => {
  const filter = oneFilter({ anywhere: "ada" }, accounts);
  expect(filter).toMatchObject({ logical: "Or" });
  const fields = "children" in filter ? filter.children.map((each) => ("Condition" in each ? each.Condition.field : null)) : [];
  expect(fields).toEqual(["id", "name", '"a.b"']);
});

test("types of keys are known by their notation", () => {
  expect(["u64", "i32", "f64", "string", "timestamp(ms)", "geo"].map(typeOfKey)).toEqual([
    "int", "int", "float", "string", "timestamp", "any",
  ]);
});

test("a chip says its filter in words", () => {
  expect(chipText({ column: "score", test: ">=", text: "10" })).toEqual({ name: "score", rest: "≥ 10" });
});

test("a column is as wide as its name and most of its texts need", () => {
  const texts = [...Array.from({ length: 99 }, () => "0123456789"), "x".repeat(500)];
  expect([widthFor("id", texts), widthFor("id", []), widthFor("a_rather_long_name", [])]).toEqual([104, 76, 216]);
});
