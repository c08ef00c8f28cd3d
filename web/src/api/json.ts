// JSON whose integers are exact. JavaScript reads 9007199254740993 as …992; a database's keys and
// 64-bit integers must survive being shown and written back.

import type { Json } from "./types";

type SourceReviver = (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown;

const LONG_INTEGER = /[:[,\s]-?\d{16,}(?![\d.eE])/;

const exact: SourceReviver = (_name, value, context) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
    ? BigInt(context!.source!)
    : value;

/** Reads JSON; integers beyond 2^53 become bigints. */
export function readJson(text: string): unknown {
  // The reviver is slow, and long integers are rare.
  return LONG_INTEGER.test(text)
    ? JSON.parse(text, exact as (name: string, value: unknown) => unknown)
    : JSON.parse(text);
}

const MARK = "\u{f8ff}int:";

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
