// What the user looks at; the address of the page says all of it.

import type { Filter, Key, Request, Sort, Table } from "../api/types";
import { type ColumnFilter, toFilter } from "./filter";
import { columnPath } from "./key";

export type Panel = "row" | "query" | "keys";

export interface View {
  table: string | null;
  filters: ColumnFilter[];
  sort: Sort[];
  /** Those shown, in their order; null are all of them as declared. */
  columns: string[] | null;
  staleOnly: boolean;
  asOf: string | null;
  panel: Panel | null;
  row: Key | null;
}

export const EMPTY: View = {
  table: null,
  filters: [],
  sort: [],
  columns: null,
  staleOnly: false,
  asOf: null,
  panel: null,
  row: null,
};

/** The part of a view that decides which rows there are, and in which order. */
export function rowsOf(view: View, table: Table): Pick<Request, "prefixes" | "filter" | "sort" | "freshness" | "as_of"> {
  const filter: Filter | undefined = toFilter(view.filters, table);
  return {
    prefixes: [table.name],
    ...(filter && { filter }),
    ...(view.sort.length > 0 && { sort: view.sort.map((each) => ({ ...each, field: columnPath(each.field) })) }),
    ...(view.staleOnly && { freshness: "SomeStale" as const }),
    ...(view.asOf !== null && { as_of: view.asOf }),
  };
}

/** The columns to ask for: those shown that are no fields of the key, or all. */
export function columnsOf(view: View, table: Table): string[] | undefined {
  const key = new Set(table.key.map((field) => field.name));
  return view.columns?.filter((name) => !key.has(name));
}

/** The request for the first rows of a view. */
export function requestOf(view: View, table: Table): Request {
  const columns = columnsOf(view, table);
  const { prefixes, ...rows } = rowsOf(view, table);
  return { prefixes, ...(columns && { columns }), ...rows };
}
