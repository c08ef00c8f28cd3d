import { describe, expect, test } from "vitest";
import { CsvReader, csvLine, separatorOf } from "../src/model/csv";
import { commonType, csvWrite, jsonWrite, tableFor, typesOf } from "../src/model/import";
import { sampleRows } from "../src/model/samples";
import { accounts, events } from "./tables";

function read(text: string, size: number): string[][] {
  const reader = new CsvReader(",");
  const records: string[][] = [];
  for (let at = 0; at < text.length; at += size) records.push(...reader.push(text.slice(at, at + size)));
  return [...records, ...reader.end()];
}

describe("CSV", () => {
  const text = 'id,note\r\n1,"a ""b"", c"\n\n2,"two\nlines"\r\n3,';
  const records = [["id", "note"], ["1", 'a "b", c'], ["2", "two\nlines"], ["3", ""]];

  test.each([1, 2, 5, 1000])("is the same in pieces of %d characters", (size) => {
    expect(read(text, size)).toEqual(records);
  });

  test("is the same after it was written", () => {
    const fields = [" a", 'b"c', "d,e", "f\ng", ""];
    expect(read(csvLine(fields), 100)).toEqual([fields]);
  });

  test("may have another separator", () => {
    expect(separatorOf("a;b;c\n1,5;2;3")).toBe(";");
  });
});

describe("a line becomes a write", () => {
  const types = typesOf(accounts);

  test("of CSV, in the types of the table, without the fields that are empty", () => {
    expect(csvWrite(["id", "name", "score", "price", "extra"], ["1", "", "7", "9.90", "x"], ["id"], types)).toEqual({
      key: "1",
      set: { score: { Int: 7 }, price: { Decimal: "9.90" }, extra: { String: "x" } },
    });
  });

  test("with a key of several fields", () => {
    expect(csvWrite(["seq", "tenant"], ["7", "acme"], ["tenant", "seq"], typesOf(events)).key).toEqual(["acme", 7]);
  });

  test("of JSON, whether plain, a write or an exported row", () => {
    const write = { key: "1", set: { score: { Int: 7 } } };
    expect(jsonWrite({ id: "1", score: 7 }, ["id"], types)).toEqual(write);
    expect(jsonWrite(write, ["id"], types)).toEqual(write);
    expect(jsonWrite({ row_key: "1", columns: { score: { value: { Int: 7 }, fresh: true } } }, ["id"], types)).toEqual(write);
    expect(jsonWrite({ id: "1", price: 5, seen: "2024-01-15" }, ["id"], types).set).toEqual({
      price: { Decimal: "5" },
      seen: { Timestamp: "2024-01-15T00:00:00Z" },
    });
  });

  test("unless it has no key", () => {
    expect(() => csvWrite(["id"], [""], ["id"], types)).toThrow("there is no id");
    expect(() => jsonWrite({ name: "x" }, ["id"], types)).toThrow("there is no id");
  });
});

test("a new table has the types that the file's values have", () => {
  expect([["1", "2"], ["1", "2.5", ""], ["1", "x"], ["true"], ["2024-01-15"]].map(commonType)).toEqual([
    "int", "float", "string", "bool", "date",
  ]);
  expect(tableFor("t", [{ name: "id", type: "int" }, { name: "b", type: "float" }], "id", " 10m")).toEqual({
    name: "t", partition_key: "id i64", families: [{ name: "main", ttl: "10m", columns: [{ name: "b", type: "float" }] }],
  });
});

test("sample keys are JSON, or text with commas", () => {
  expect(sampleRows('acme, 7, true\n\n["a,b", null]\n007, 2024-01-15')).toEqual([
    ["acme", 7, true], ["a,b", null], ["007", "2024-01-15"],
  ]);
});
