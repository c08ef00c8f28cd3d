// JSON whose integers are exact. JavaScript reads 9007199254740993 as …992; a database's keys and
// 64-bit integers must survive being shown and written back.

import type { Json } from "./types";

const MARK = "\u{f8ff}int:";
const MARKED = new RegExp(`^${MARK}-?\\d+$`);
const LONG_INTEGER = /[:[,\s]-?\d{16,}(?![\d.eE])/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads JSON; integers beyond 2^53 become bigints. */
export function readJson(text: string): unknown {
  // Long integers are rare, and all else is read as it is.
  if (!LONG_INTEGER.test(text) && !/^-?\d{16,}$/.test(text)) return JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token);
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === "string" && MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value);
}

/** Writes JSON; bigints become integers. */
export function writeJson(value: unknown, indent?: number): string {
  let marked = false;
  const text = JSON.stringify(
    value,
    (_name, inner: unknown) => {
      if (typeof inner !== "bigint") return inner;
      marked = true;
      return `${MARK}${inner}`;
    },
    indent,
  );
  return marked ? text.replace(new RegExp(`"${MARK}(-?\\d+)"`, "g"), "$1") : text;
}

export function isObject(json: unknown): json is { [name: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
