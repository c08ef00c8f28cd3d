import { writeJson } from "../api/json";
import type { Key, Json, KeyField } from "../api/types";

/** A key as it stands in an address: its JSON, percent-encoded. */
export function keyAddress(key: Key): string {
  return encodeURIComponent(writeJson(key));
}

/** A key as people read it. */
export function keyText(key: Key): string {
  return Array.isArray(key) ? key.map(partText).join(" / ") : partText(key);
}

export function partText(part: Json | undefined): string {
  if (part === undefined) return "";
  return typeof part === "string" ? part : writeJson(part);
}

/** The value of one field of a key. */
export function keyPart(key: Key, fields: KeyField[], index: number): Json | undefined {
  return fields.length === 1 ? key : Array.isArray(key) ? key[index] : undefined;
}

/** Two keys are one if their JSON is. */
export function keyId(key: Key): string {
  return writeJson(key);
}

/** The name of a column as the path that leads to it. */
export function columnPath(name: string): string {
  return name === "" || /[.[\]"]/.test(name) ? JSON.stringify(name) : name;
}

/** The column that a path is, if it is a column and nothing inside of it. */
export function columnName(path: string): string {
  if (!path.startsWith('"')) return path;
  try {
    return String(JSON.parse(path));
  } catch {
    return path;
  }
}
