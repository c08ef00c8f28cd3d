// A view as the part of an address after #, so that every view can be shared:
//   #/contacts?where=[["owner","is","adam"]]&sort=-score,name&columns=name,score&stale&row="acct_1"

import { readJson, writeJson } from "../api/json";
import type { Filter, Json, Sort, Value } from "../api/types";
import type { ColumnFilter, Test } from "./filter";
import { EMPTY, type Panel, type View } from "./view";

const PANELS: Panel[] = ["row", "query", "keys"];

export function toHash(view: View): string {
  const parts: string[] = [];
  const add = (name: string, text: string) => parts.push(`${name}=${escape(text)}`);
  if (view.filters.length > 0) add("where", writeJson(view.filters.map(writeFilter)));
  if (view.sort.length > 0) add("sort", writeList(view.sort.map(writeSort)));
  if (view.columns !== null) add("columns", writeList(view.columns));
  if (view.staleOnly) parts.push("stale");
  if (view.asOf !== null) add("as_of", view.asOf);
  if (view.panel !== null) add("panel", view.panel);
  if (view.row !== null) add("row", writeJson(view.row));
  const path = `#/${view.table === null ? "" : encodeURIComponent(view.table)}`;
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

/** Reads a view; what cannot be read is left out. */
export function fromHash(hash: string): View {
  const [path = "", search = ""] = split(hash.replace(/^#\/?/, ""));
  const found = new Map(search.split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return at === -1 ? [part, ""] : [part.slice(0, at), decode(part.slice(at + 1))];
  }));
  const panel = found.get("panel") as Panel | undefined;
  const row = attempt(() => readJson(found.get("row") ?? "null") as Json) ?? null;
  return {
    ...EMPTY,
    table: path === "" ? null : decode(path),
    filters: attempt(() => readFilters(found.get("where") ?? "[]")) ?? [],
    sort: readList(found.get("sort")).map(readSort),
    columns: found.has("columns") ? readList(found.get("columns")) : null,
    staleOnly: found.has("stale"),
    asOf: found.get("as_of") || null,
    panel: panel !== undefined && PANELS.includes(panel) ? panel : null,
    row,
  };
}

function split(text: string): [string, string] {
  const at = text.indexOf("?");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** As little percent-encoding as a part of a fragment needs, so that addresses can be read. */
function escape(text: string): string {
  return text.replace(/[%&#+\s"<>`\u0080-\uffff]/gu, (character) =>
    character === " " ? "+" : encodeURIComponent(character));
}

function decode(text: string): string {
  return attempt(() => decodeURIComponent(text.replace(/\+/g, " "))) ?? text;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

// Names are separated by commas; a comma or a backslash in a name has a backslash before it.
function writeList(names: string[]): string {
  return names.map((name) => name.replace(/[\\,]/g, "\\$&")).join(",");
}

function readList(text: string | undefined): string[] {
  if (!text) return [];
  const names = text.match(/(?:\\.|[^\\,])+/g) ?? [];
  return names.map((name) => name.replace(/\\(.)/g, "$1"));
}

function writeSort({ field, direction, nulls }: Sort): string {
  return `${direction === "Desc" ? "-" : ""}${field}${nulls === undefined ? "" : `:${nulls}`}`;
}

function readSort(text: string): Sort {
  const nulls = /:(First|Last)$/.exec(text)?.[1] as Sort["nulls"];
  const name = text.replace(/:(First|Last)$/, "");
  const descending = name.startsWith("-");
  return {
    field: descending ? name.slice(1) : name,
    direction: descending ? "Desc" : "Asc",
    ...(nulls !== undefined && { nulls }),
  };
}

function writeFilter(filter: ColumnFilter): Json {
  if ("json" in filter) return { json: filter.json as unknown as Json };
  if ("anywhere" in filter) return filter.anywhere;
  if ("write" in filter) return { write: filter.write };
  const { column, test, text, to, values } = filter;
  if (test === "in") return [column, test, (values ?? []) as unknown as Json];
  return [column, test, ...[text, to].filter((each): each is string => each !== undefined)];
}

function readFilters(text: string): ColumnFilter[] {
  return (readJson(text) as Json[]).map((each): ColumnFilter => {
    if (typeof each === "string") return { anywhere: each };
    if (!Array.isArray(each)) {
      const { write, json } = each as { write?: string; json?: unknown };
      return typeof write === "string" ? { write } : { json: json as Filter };
    }
    const [column, test, text, to] = each as [string, Test, Json?, Json?];
    if (test === "in") return { column, test, values: text as unknown as Value[] };
    return {
      column,
      test,
      ...(text !== undefined && { text: String(text) }),
      ...(to !== undefined && { to: String(to) }),
    };
  });
}
