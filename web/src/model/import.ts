// Lines of a file as writes. A file is CSV with a head, or an object a line: a row with its columns
// as members, a write as the server takes it, or a row as the server exports it.

import { isObject } from "../api/json";
import type { ColumnType, Json, Key, NewTable, Row, Table, Value, Write } from "../api/types";
import { typeOfKey } from "./filter";
import { guess, parseValue } from "./parse";
import { fromPlain, isTagged, typeOf } from "./value";

export type Types = ReadonlyMap<string, ColumnType>;

/** The declared types of a table's columns and key. */
export function typesOf(table: Table): Types {
  const key = table.key.map(({ name, type }) => [name, typeOfKey(type)] as const);
  const columns = table.families.flatMap((family) => family.columns.map(({ name, type }) => [name, type] as const));
  return new Map<string, ColumnType>([...key, ...columns]);
}

/** A record of a CSV file as a write; an empty field is no value. */
export function csvWrite(head: string[], record: string[], key: string[], types: Types): Write {
  const texts = new Map(head.map((name, index) => [name, record[index] ?? ""]));
  const parts = key.map((name) => keyValue(texts.get(name), types.get(name) ?? "any", name));
  const set: Record<string, Value> = {};
  for (const [name, text] of texts) {
    if (!key.includes(name) && text !== "") set[name] = parseValue(text, types.get(name) ?? "any");
  }
  return { key: one(parts), set };
}

function keyValue(text: string | undefined, type: ColumnType, name: string): Json {
  if (text === undefined || text === "") throw new Error(`there is no ${name}, which is part of the key`);
  const value = parseValue(text, type === "any" ? "string" : type);
  return Object.values(value)[0] as Json;
}

/** A line of JSON as a write. */
export function jsonWrite(json: Json, key: string[], types: Types): Write {
  if (!isObject(json)) throw new Error("a line is an object");
  if ("key" in json && (isObject(json.set) || "op" in json)) return json as Write;
  if ("row_key" in json && isObject(json.columns)) return exported(json as unknown as Row);
  const parts = key.map((name) => {
    if (json[name] == null) throw new Error(`there is no ${name}, which is part of the key`);
    return json[name] as Json;
  });
  const members = Object.entries(json).filter(([name]) => !key.includes(name));
  return { key: one(parts), set: Object.fromEntries(members.map(([name, each]) => [name, typed(each, types.get(name))])) };
}

/** JSON as a value of the column's type where JSON itself has no such type. */
function typed(json: Json, type: ColumnType = "any"): Value {
  if (isTagged(json)) return json as Value;
  if (typeof json === "string" && type !== "string" && type !== "any") return parseValue(json, type);
  if ((typeof json === "number" || typeof json === "bigint") && type !== "any") return parseValue(String(json), type);
  if (Array.isArray(json) && type.endsWith("_set")) return parseValue(JSON.stringify(json), type);
  return fromPlain(json);
}

function exported(row: Row): Write {
  const cells = Object.entries(row.columns).map(([name, cell]) => [name, cell.value] as const);
  return { key: row.row_key, set: Object.fromEntries(cells) };
}

function one(parts: Json[]): Key {
  return parts.length === 1 ? parts[0]! : parts;
}

/** The type that all samples of a column have: whole numbers beside others are floats. */
export function commonType(samples: string[]): ColumnType {
  const types = new Set(samples.filter((text) => text !== "").map((text) => typeOf(guess(text)) ?? "any"));
  if (types.size === 1) return [...types][0]!;
  const onlyNumbers = [...types].every((type) => type === "int" || type === "float");
  return types.size === 2 && onlyNumbers ? "float" : "string";
}

/** A table for a file: one family, the key of one field. */
export function tableFor(name: string, columns: { name: string; type: ColumnType }[], key: string, ttl: string): NewTable {
  const keyType = columns.find((column) => column.name === key)?.type === "int" ? "i64" : "string";
  return {
    name,
    partition_key: `${key} ${keyType}`,
    families: [{ name: "main", ...(ttl.trim() !== "" && { ttl: ttl.trim() }), columns: columns.filter((column) => column.name !== key) }],
  };
}
