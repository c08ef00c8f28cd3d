import type { Request } from "../api/types";
import { isObject } from "../api/json";
import { fromFilter } from "./filter";
import { columnName } from "./key";
import type { View } from "./view";

const KNOWN = new Set(["prefixes", "columns", "filter", "sort", "take", "freshness", "as_of"]);

/** The view that shows what a request asks for; throws where the grid cannot show it. */
export function viewOf(request: Request): Partial<View> {
  if (!isObject(request)) throw new Error("a request is an object");
  const other = Object.keys(request).find((name) => !KNOWN.has(name));
  if (other !== undefined) throw new Error(`the grid has no place for “${other}”`);
  if (!Array.isArray(request.prefixes) || request.prefixes.length !== 1) {
    throw new Error("the grid shows one table: prefixes has one name");
  }
  if (request.freshness !== undefined && request.freshness !== "SomeStale") {
    throw new Error("the grid knows the freshness SomeStale only");
  }
  return {
    table: request.prefixes[0]!,
    columns: request.columns ?? null,
    filters: request.filter === undefined ? [] : fromFilter(request.filter),
    sort: (request.sort ?? []).map((each) => ({ ...each, field: columnName(each.field) })),
    staleOnly: request.freshness === "SomeStale",
    asOf: request.as_of ?? null,
  };
}
