// Filters as a person sets them, a column at a time, and as the server takes them.

import type { ColumnType, Filter, Operator, Table, Value } from "../api/types";
import { columnPath } from "./key";
import { parseValue, timestamp } from "./parse";
import { editText, showText } from "./value";

/** What can be asked of a column. */
export type Test =
  | "contains" | "begins" | "is" | "not" | "<" | "<=" | ">" | ">=" | "between"
  | "in" | "exists" | "missing" | "null" | "fresh" | "stale" | "before" | "after" | "write";

export type ColumnFilter =
  | { column: string; test: Test; text?: string; to?: string; values?: Value[] }
  /** Any text column contains this. */
  | { anywhere: string }
  /** Something of the row was written by the write of this time. */
  | { write: string }
  /** A filter that was written as JSON. */
  | { json: Filter };

export const LABELS: Record<Test, string> = {
  contains: "contains", begins: "begins with", is: "is", not: "is not", "<": "<", "<=": "≤",
  ">": ">", ">=": "≥", between: "between", in: "is one of", exists: "has a value",
  missing: "has no value", null: "is null", fresh: "is fresh", stale: "is stale",
  before: "written before", after: "written since", write: "written by",
};

const COMPARED: Partial<Record<Test, Operator>> = {
  is: "Eq", not: "Ne", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge", begins: "BeginsWith",
  contains: "Contains",
};

const ALONE: Partial<Record<Test, Operator>> = {
  exists: "HasValue", null: "IsNull", fresh: "IsFresh", stale: "IsStale",
};

/** Times of writes are compared; that of a write is its name. */
const WRITTEN: Partial<Record<Test, Operator>> = { before: "WrittenLt", after: "WrittenGe", write: "WrittenEq" };

const TEXT: Test[] = ["contains", "begins", "is", "not", "<", ">"];
const ORDERED: Test[] = ["is", "not", "<", "<=", ">", ">=", "between"];
const ALWAYS: Test[] = ["in", "exists", "missing", "null"];
const CLOCK: Test[] = ["fresh", "stale", "before", "after", "write"];

/** The tests that make sense for a column. */
export function testsFor(type: ColumnType, isKey: boolean): Test[] {
  const values =
    type === "string" || type === "any" ? [...TEXT, ...ORDERED.filter((test) => !TEXT.includes(test))]
    : type === "bool" || type === "uuid" ? (["is", "not"] as Test[])
    : type === "list" || type === "map" || type.endsWith("_set") ? (["contains"] as Test[])
    : ORDERED;
  return isKey ? [...values, "in"] : [...values, ...ALWAYS, ...CLOCK];
}

/** How many texts a test takes; `in` takes a choice of values instead. */
export function operands(test: Test): 0 | 1 | 2 {
  if (test === "between") return 2;
  return test in ALONE || test === "missing" || test === "in" ? 0 : 1;
}

const KEY_TYPES: [RegExp, ColumnType][] = [
  [/^[iu](8|16|32|64|128)|^var/, "int"],
  [/^f(32|64)|^float|^total/, "float"],
  [/^(decimal|bool|string|timestamp|date|uuid)/, "any"],
];

/** The type of a column or of a field of the key. */
export function typeIn(table: Table, column: string): ColumnType {
  const field = table.key.find((each) => each.name === column);
  if (field !== undefined) return typeOfKey(field.type);
  for (const family of table.families) {
    const found = family.columns.find((each) => each.name === column);
    if (found !== undefined) return found.type;
  }
  return "any";
}

export function typeOfKey(type: string): ColumnType {
  const found = KEY_TYPES.find(([pattern]) => pattern.test(type));
  if (found === undefined) return "any";
  return found[1] === "any" ? (/^[a-z]+/.exec(type)![0] as ColumnType) : found[1];
}

const leaf = (field: string, operator: Operator, value?: Value): Filter => ({
  Condition: { field: columnPath(field), operator, ...(value !== undefined && { value }) },
});
const group = (logical: "And" | "Or" | "Not", children: Filter[]): Filter => ({ logical, children });

/** One filter for the server; throws Unreadable where a text does not fit its column. */
export function oneFilter(filter: ColumnFilter, table: Table): Filter {
  if ("json" in filter) return filter.json;
  if ("anywhere" in filter) return anywhere(filter.anywhere, table);
  if ("write" in filter) return writtenBy(filter.write, table);
  const { column, test, text = "", to = "", values = [] } = filter;
  const alone = ALONE[test];
  if (alone !== undefined) return leaf(column, alone);
  if (test === "missing") return group("Not", [leaf(column, "HasValue")]);
  if (test === "in") return leaf(column, "In", { List: values });
  const written = WRITTEN[test];
  if (written !== undefined) return leaf(column, written, { Timestamp: timestamp(text) });
  const type = typeIn(table, column);
  if (test === "between") {
    return leaf(column, "Between", { List: [parseValue(text, type), parseValue(to, type)] });
  }
  return leaf(column, COMPARED[test]!, operand(test, text, type));
}

/** Containers contain elements; text contains text. */
function operand(test: Test, text: string, type: ColumnType): Value {
  if (test === "begins") return { String: text };
  if (test !== "contains") return parseValue(text, type);
  if (type === "number_set") return parseValue(text, "decimal");
  if (type === "list") return parseValue(text, "any");
  return { String: text };
}

function anywhere(text: string, table: Table): Filter {
  const keys = table.key.filter((field) => typeOfKey(field.type) === "string");
  const columns = table.families.flatMap((family) => family.columns);
  const texts = columns.filter((column) => column.type === "string" || column.type === "any");
  const names = [...keys, ...texts].map((each) => each.name);
  return group("Or", names.map((name) => leaf(name, "Contains", { String: text })));
}

function writtenBy(write: string, table: Table): Filter {
  const columns = table.families.flatMap((family) => family.columns);
  return group("Or", columns.map(({ name }) => leaf(name, "WrittenEq", { Timestamp: timestamp(write) })));
}

/** All filters of a view as one. */
export function toFilter(filters: ColumnFilter[], table: Table): Filter | undefined {
  const all = filters.map((filter) => oneFilter(filter, table));
  return all.length === 0 ? undefined : all.length === 1 ? all[0] : group("And", all);
}

/** The filters of a view that a filter of the server's is, a chip each. */
export function fromFilter(filter: Filter): ColumnFilter[] {
  if ("logical" in filter) {
    return filter.logical === "And" ? filter.children.flatMap(fromFilter) : [{ json: filter }];
  }
  const { field, operator, value } = filter.Condition;
  const test = [COMPARED, ALONE, WRITTEN]
    .flatMap((operators) => Object.entries(operators) as [Test, Operator][])
    .find(([, each]) => each === operator)?.[0];
  if (field === undefined || /[.[\]"]/.test(field)) return [{ json: filter }];
  if (operator === "In" && value !== undefined && value !== "Null" && "List" in value) {
    return [{ column: field, test: "in", values: value.List }];
  }
  if (test === undefined) return [{ json: filter }];
  return [{ column: field, test, ...(value !== undefined && { text: editText(value) }) }];
}

/** A filter as a chip says it. */
export function chipText(filter: ColumnFilter): { name: string; rest: string } {
  if ("json" in filter) return { name: "filter", rest: "as JSON" };
  if ("write" in filter) return { name: "rows", rest: `written by ${filter.write}` };
  if ("anywhere" in filter) return { name: "any text", rest: `contains “${filter.anywhere}”` };
  const { column, test, text, to, values } = filter;
  const operand =
    test === "in" ? (values ?? []).slice(0, 3).map(showText).join(", ") + ((values?.length ?? 0) > 3 ? " …" : "")
    : test === "between" ? `${text} and ${to}`
    : (text ?? "");
  return { name: column, rest: `${LABELS[test]} ${operand}`.trim() };
}

const TYPED = /^\s*("[^"]+"|[^\s<>=!~^]+)\s*(<=|>=|!=|<>|=|<|>|~|\^)\s*(.*?)\s*$/;
const TYPED_TESTS: Record<string, Test> = {
  "=": "is", "!=": "not", "<>": "not", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "~": "contains", "^": "begins",
};

/**
 * What somebody typed into the filter box: `score >= 10`, `name ~ ada` (contains), `name ^ A`
 * (begins with), or else a text to look for anywhere.
 */
export function typedFilter(text: string, table: Table): ColumnFilter {
  const match = TYPED.exec(text);
  const column = match?.[1]?.replace(/^"|"$/g, "");
  const known = column !== undefined && isKnown(table, column);
  if (match === null || !known) return { anywhere: text.trim() };
  const filter: ColumnFilter = { column, test: TYPED_TESTS[match[2]!]!, text: match[3]!.replace(/^"(.*)"$/, "$1") };
  oneFilter(filter, table);
  return filter;
}

function isKnown(table: Table, column: string): boolean {
  return table.key.some((field) => field.name === column)
    || table.families.some((family) => family.columns.some((each) => each.name === column));
}

