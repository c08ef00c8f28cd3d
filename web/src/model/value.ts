import { isObject, writeJson } from "../api/json";
import type { ColumnType, Json, Value } from "../api/types";

const TYPES: Record<string, ColumnType> = {
  Bool: "bool", Int: "int", Float: "float", Decimal: "decimal", String: "string", Bytes: "bytes",
  Timestamp: "timestamp", Date: "date", Uuid: "uuid", List: "list", Map: "map",
  StringSet: "string_set", NumberSet: "number_set", BytesSet: "bytes_set",
};

/** The type that a value says it has; null has none. */
export function typeOf(value: Value): ColumnType | null {
  return value === "Null" ? null : (TYPES[Object.keys(value)[0] ?? ""] ?? null);
}

/** What is inside of a value. */
export function content(value: Value): unknown {
  return value === "Null" ? null : Object.values(value)[0];
}

/** A value as text that can be edited, and parsed again as its type. */
export function editText(value: Value | undefined): string {
  if (value === undefined || value === "Null") return "";
  const inner = content(value);
  return typeof inner === "object" && inner !== null ? writeJson(plain(value)) : String(inner);
}

/** A value as text that is good to look at. */
export function showText(value: Value | undefined): string {
  if (value === undefined) return "";
  if (value === "Null") return "null";
  if ("Timestamp" in value) return timeText(value.Timestamp);
  if ("StringSet" in value) return value.StringSet.join(", ");
  if ("NumberSet" in value) return value.NumberSet.join(", ");
  return editText(value);
}

function timeText(time: string | number): string {
  return String(time).replace("T", " ").replace(/(\.\d*?)0*Z$/, "$1").replace(/\.?Z?$/, "");
}

const NATURAL = new Set(["Bool", "String", "List", "Map"]);

/**
 * A value as plain JSON where that says the type as well; what has no type of its own in JSON stays
 * tagged: `["a", {"Decimal": "9.99"}]`.
 */
export function plain(value: Value): Json {
  if (value === "Null") return null;
  const [tag, inner] = Object.entries(value)[0] as [string, Json];
  if (tag === "List") return (inner as Value[]).map(plain);
  if (tag === "Map") {
    const members = Object.entries(inner as Record<string, Value>);
    return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
  }
  if (tag.endsWith("Set")) return inner;
  if (NATURAL.has(tag)) return inner;
  if (tag === "Int") return inner;
  if (tag === "Float" && typeof inner === "number" && !Number.isInteger(inner)) return inner;
  return { [tag]: inner };
}

/** The value that plain JSON stands for. */
export function fromPlain(json: Json): Value {
  if (json === null) return "Null";
  if (typeof json === "boolean") return { Bool: json };
  if (typeof json === "bigint") return { Int: json };
  if (typeof json === "number") return Number.isInteger(json) ? { Int: json } : { Float: json };
  if (typeof json === "string") return { String: json };
  if (Array.isArray(json)) return { List: json.map(fromPlain) };
  if (isTagged(json)) return json as Value;
  const members = Object.entries(json).map(([name, member]) => [name, fromPlain(member)]);
  return { Map: Object.fromEntries(members) };
}

/** Whether JSON is a value that says its type. */
export function isTagged(json: Json): boolean {
  if (json === "Null") return true;
  if (!isObject(json)) return false;
  const names = Object.keys(json);
  return names.length === 1 && names[0]! in TYPES;
}

export function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && writeJson(a) === writeJson(b));
}

/** Whether a column of this type reads best with its digits below each other. */
export function isNumeric(type: ColumnType | null): boolean {
  return type === "int" || type === "float" || type === "decimal";
}
