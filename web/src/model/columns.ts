import type { ColumnType, Sort, Table } from "../api/types";
import { toFilter, typeOfKey } from "./filter";
import type { View } from "./view";

export interface AnyColumn {
  name: string;
  type: ColumnType;
  /** Its family; null for a field of the key. */
  family: string | null;
}

/** All columns of a table, the fields of its key first. */
export function allColumns(table: Table, undeclared: string[]): AnyColumn[] {
  const key = table.key.map(({ name, type }): AnyColumn => ({ name, type: typeOfKey(type), family: null }));
  const declared = table.families.flatMap((family) =>
    family.columns.map(({ name, type }): AnyColumn => ({ name, type, family: family.name })));
  const own = undeclared.map((name): AnyColumn => ({ name, type: "any", family: name }));
  return [...key, ...declared, ...own];
}

/** A click on a column's head: ascending, descending, not at all; with Shift beside the others. */
export function nextSort(sort: Sort[], column: string, more: boolean): Sort[] {
  const known = sort.find(({ field }) => field === column);
  const others = more ? sort.filter(({ field }) => field !== column) : [];
  if (known === undefined) return [...others, { field: column, direction: "Asc" }];
  if (known.direction === "Desc") return others;
  const turned: Sort = { ...known, direction: "Desc" };
  return more ? sort.map((each) => (each === known ? turned : each)) : [turned];
}

/** Why a view cannot be asked for, or null. */
export function problemOfView(view: View, table: Table): string | null {
  try {
    toFilter(view.filters, table);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// Pixels of a character; a name is bold, and has its type and its sort beside it.
const CHARACTER = 8;
const BOLD = 8.8;

/** How wide a column is that fits its name and nearly all of its texts, within reason. */
export function widthFor(name: string, texts: string[]): number {
  const lengths = texts.map((text) => text.length).sort((a, b) => a - b);
  const usual = lengths[Math.floor(lengths.length * 0.95)] ?? 0;
  return Math.round(Math.max(72, Math.min(260, Math.max(usual * CHARACTER + 24, name.length * BOLD + 58))));
}
