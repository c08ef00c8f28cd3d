// What a person typed, as a value of a column's type.

import { readJson } from "../api/json";
import type { ColumnType, Json, Value } from "../api/types";
import { fromPlain } from "./value";

export class Unreadable extends Error {}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const DATE = /^-?\d{4,6}-\d{2}-\d{2}$/;
const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads text as a value of a type; throws Unreadable with a sentence for people. */
export function parseValue(text: string, type: ColumnType): Value {
  const trimmed = text.trim();
  switch (type) {
    case "any": return guess(text);
    case "string": return { String: text };
    case "int": return { Int: integer(trimmed) };
    case "float": return { Float: float(trimmed) };
    case "decimal": return { Decimal: matching(trimmed, DECIMAL, "a decimal, like 9.99") };
    case "bool": return { Bool: bool(trimmed) };
    case "timestamp": return { Timestamp: timestamp(trimmed) };
    case "date": return { Date: date(trimmed) };
    case "uuid": return { Uuid: matching(trimmed, UUID, "a UUID").toLowerCase() };
    case "bytes": return { Bytes: matching(trimmed, BASE64, "bytes in base64") };
    case "list": return list(trimmed);
    case "map": return map(trimmed);
    case "string_set": return { StringSet: elements(trimmed) };
    case "number_set":
      return { NumberSet: elements(trimmed).map((each) => matching(each, DECIMAL, "a number")) };
    case "bytes_set":
      return { BytesSet: elements(trimmed).map((each) => matching(each, BASE64, "base64")) };
  }
}

/** The likeliest type of text that has none: a number, a truth, a time, JSON, or else a string. */
export function guess(text: string): Value {
  const trimmed = text.trim();
  if (/^-?(0|[1-9]\d{0,17})$/.test(trimmed)) return { Int: integer(trimmed) };
  if (/^-?(0|[1-9]\d*)\.\d+$/.test(trimmed)) return { Float: Number(trimmed) };
  if (trimmed === "true" || trimmed === "false") return { Bool: trimmed === "true" };
  if (DATE.test(trimmed) && !Number.isNaN(Date.parse(trimmed))) return { Date: trimmed };
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/.test(trimmed)) {
    return { Timestamp: timestamp(trimmed) };
  }
  if (/^[[{]/.test(trimmed)) {
    try {
      return fromPlain(readJson(trimmed) as Json);
    } catch {
      return { String: text };
    }
  }
  return { String: text };
}

function matching(text: string, pattern: RegExp, what: string): string {
  if (!pattern.test(text)) throw new Unreadable(`“${text}” is not ${what}`);
  return text;
}

function integer(text: string): number | bigint {
  const whole = BigInt(matching(text.replace(/[_\s]/g, ""), /^[+-]?\d+$/, "a whole number").replace("+", ""));
  if (BigInt.asIntN(64, whole) !== whole) throw new Unreadable(`${text} does not fit in 64 bits`);
  const number = Number(whole);
  return Number.isSafeInteger(number) ? number : whole;
}

function float(text: string): number | string {
  if (/^(NaN|-?Infinity)$/.test(text)) return text;
  return Number(matching(text, DECIMAL, "a number"));
}

function bool(text: string): boolean {
  if (/^(true|yes|1)$/i.test(text)) return true;
  if (/^(false|no|0)$/i.test(text)) return false;
  throw new Unreadable(`“${text}” is neither true nor false`);
}

/** A time in UTC; the date alone is its midnight. */
export function timestamp(text: string): string {
  const match = /^(-?\d{4,6}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?\s*(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  const [, day, minutes = "00:00", seconds = ":00", fraction = "", zone = "Z"] = match ?? [];
  const whole = `${day}T${minutes}${seconds}${zone}`;
  if (match === null || Number.isNaN(Date.parse(whole))) {
    throw new Unreadable(`“${text}” is not a time, like 2024-01-15 10:00`);
  }
  return `${day}T${minutes}${seconds}${fraction}${zone}`;
}

function date(text: string): string {
  matching(text, DATE, "a date, like 2024-01-15");
  if (Number.isNaN(Date.parse(text))) throw new Unreadable(`“${text}” is not a day of the calendar`);
  return text;
}

function list(text: string): Value {
  const json = parsed(text);
  if (!Array.isArray(json)) throw new Unreadable("a list is written as JSON, like [1, \"two\"]");
  return { List: json.map(fromPlain) };
}

function map(text: string): Value {
  const value = fromPlain(parsed(text));
  if (value === "Null" || !("Map" in value)) {
    throw new Unreadable("a map is written as JSON, like {\"city\": \"Bern\"}");
  }
  return value;
}

/** The elements of a set: a JSON array, or text with commas. */
function elements(text: string): string[] {
  if (!text.startsWith("[")) return text.split(",").map((each) => each.trim()).filter(Boolean);
  const json = parsed(text);
  if (!Array.isArray(json)) throw new Unreadable("a set is written as a JSON array");
  return json.map(String);
}

function parsed(text: string): Json {
  try {
    return readJson(text) as Json;
  } catch {
    throw new Unreadable("this is not JSON");
  }
}
