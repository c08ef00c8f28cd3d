import { describe, expect, test } from "vitest";
import { readJson, writeJson } from "../src/api/json";
import type { ColumnType, Value } from "../src/api/types";
import { guess, parseValue } from "../src/model/parse";
import { editText, showText } from "../src/model/value";

const values: [ColumnType, Value][] = [
  ["int", { Int: -42 }],
  ["int", { Int: 9007199254740993n }],
  ["float", { Float: 1.5 }],
  ["float", { Float: "NaN" }],
  ["decimal", { Decimal: "9.990" }],
  ["bool", { Bool: true }],
  ["string", { String: " spaces, \"quotes\" " }],
  ["timestamp", { Timestamp: "2024-01-15T10:00:00.000001Z" }],
  ["date", { Date: "2024-02-29" }],
  ["uuid", { Uuid: "018f2f6e-1111-7abc-8def-0123456789ab" }],
  ["bytes", { Bytes: "AAEC" }],
  ["list", { List: [{ Int: 1 }, "Null", { Decimal: "2.0" }] }],
  ["map", { Map: { city: { String: "Bern" }, at: { Timestamp: "2024-01-15T10:00:00Z" } } }],
  ["string_set", { StringSet: ["a", "b"] }],
];

test.each(values)("a value of type %s is the same after it was text", (type, value) => {
  expect(parseValue(editText(value), type)).toEqual(value);
});

describe("text that is no value of the type is refused", () => {
  test.each([
    ["int", "1.5"], ["int", "9223372036854775808"], ["float", "one"], ["bool", "maybe"],
    ["timestamp", "yesterday"], ["date", "2024-13-01"], ["uuid", "123"], ["list", "{}"], ["bytes", "§"],
  ] as [ColumnType, string][])("%s: %s", (type, text) => expect(() => parseValue(text, type)).toThrow());
});

test.each([
  ["42", { Int: 42 }], ["007", { String: "007" }], ["1.5", { Float: 1.5 }], ["true", { Bool: true }],
  ["2024-01-15", { Date: "2024-01-15" }], ["2024-01-15T10:00:00Z", { Timestamp: "2024-01-15T10:00:00Z" }],
  ["[1]", { List: [{ Int: 1 }] }], ["[oops", { String: "[oops" }], ["Ada", { String: "Ada" }],
])("a text without a type is taken as what it looks like: %s", (text, value) => expect(guess(text)).toEqual(value));

test("a time is shown without its letters and needless zeros", () => {
  expect(showText({ Timestamp: "2024-01-15T10:00:00.000000Z" })).toBe("2024-01-15 10:00:00");
  expect(showText({ Timestamp: "2024-01-15T10:00:00.120Z" })).toBe("2024-01-15 10:00:00.12");
});

test("64-bit integers survive JSON", () => {
  const text = '{"a":[9007199254740993,-9223372036854775808],"b":"12345678901234567890","c":1.5}';
  const read = readJson(text);
  expect(writeJson(read)).toBe(text);
});
