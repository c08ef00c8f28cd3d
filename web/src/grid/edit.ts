import { type Cell, type Filter, type Key, Problem, type Row, type Table, type Value, deleteRow, getRows, patchRow } from "../api";
import { columnPath } from "../model/key";
import { stateAt } from "../model/freshness";

/** A change that was refused, because the cell was not what the user saw. */
export interface Conflict {
  key: Key;
  column: string;
  mine: Value;
  seen: Value | undefined;
  present: Row | null;
}

/** That the cell still is what the user saw when they changed it. */
export function unchanged(column: string, seen: Value | undefined): Filter {
  const field = columnPath(column);
  if (seen === undefined) {
    return { logical: "Not", children: [{ Condition: { field, operator: "Exists" } }] };
  }
  if (seen === "Null") return { Condition: { field, operator: "IsNull" } };
  return { Condition: { field, operator: "Eq", value: seen } };
}

export function visibleValue(cell: Cell | undefined, now: number): Value | undefined {
  return stateAt(cell, now) === "gone" ? undefined : cell?.value;
}

/** A row as the user saw it: in these columns, or in all. */
export interface SeenRow {
  row: Row;
  columns: string[] | undefined;
}

/** That nobody changed the row since the user saw it; a source that delivered the same again did not. */
export function unchangedRow(table: Table, { row: seen, columns: shown }: SeenRow, now: number): Filter {
  const declared = table.families.flatMap((family) => family.columns.map(({ name }) => name));
  const columns = new Set([...(shown ?? declared), ...Object.keys(seen.columns)]);
  const exists: Filter = { Condition: { operator: "RowExists" } };
  const same = [...columns].map((column) => unchanged(column, visibleValue(seen.columns[column], now)));
  return { logical: "And", children: [exists, ...same] };
}

/** Deletes a row if it still is what the user saw; tells if it was. */
export async function removeRow(table: Table, seen: SeenRow, now: number): Promise<"deleted" | "changed"> {
  try {
    await deleteRow(table.name, seen.row.row_key, unchangedRow(table, seen, now));
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 412) throw error;
    return "changed";
  }
  return "deleted";
}

/** Writes one cell, if nobody else did; the row as it then is, or the conflict. */
export async function writeCell(
  table: string,
  key: Key,
  column: string,
  mine: Value,
  seen: Value | undefined,
): Promise<{ row: Row | null } | { conflict: Conflict }> {
  try {
    await patchRow(table, key, { set: { [column]: mine }, when: unchanged(column, seen) });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 412) throw error;
    const [present = null] = await getRows(table, [key]);
    return { conflict: { key, column, mine, seen, present } };
  }
  const [row = null] = await getRows(table, [key]);
  return { row };
}
