// What changes while somebody looks: values go stale by the clock, and others write new ones.

import type { GridApi, IRowNode } from "ag-grid-community";
import { type Row, getRows } from "../api";
import { writeJson } from "../api/json";
import { stateAt } from "../model/freshness";
import { sameValue } from "../model/value";

/** Draws those visible cells anew whose state time has changed between two moments. */
export function showFlips(api: GridApi<Row>, before: number, now: number): number {
  const columns = api.getAllDisplayedVirtualColumns();
  const flipped: IRowNode<Row>[] = [];
  for (const node of api.getRenderedNodes()) {
    const cells = node.data?.columns;
    if (cells === undefined) continue;
    const changed = columns.some((column) => {
      const cell = cells[column.getColId()];
      return cell !== undefined && stateAt(cell, before) !== stateAt(cell, now);
    });
    if (changed) flipped.push(node);
  }
  if (flipped.length > 0) api.refreshCells({ rowNodes: flipped, force: true });
  return flipped.length;
}

/** Reads the visible rows again, and shows what changed in them; tells if some are there no more. */
export async function refreshVisible(
  api: GridApi<Row>,
  table: string,
  columns: string[] | undefined,
  signal: AbortSignal,
): Promise<"same" | "vanished"> {
  const nodes = api.getRenderedNodes().filter((node) => node.data !== undefined);
  if (nodes.length === 0) return "same";
  const seen = nodes.map((node) => node.data!);
  const rows = await getRows(table, seen.map((row) => row.row_key), columns, signal);
  if (signal.aborted || api.isDestroyed()) return "same";
  nodes.forEach((node, index) => {
    const row = rows[index];
    // The node may show another row by now, or this one as an edit left it.
    if (row != null && node.data === seen[index]) showRow(api, node, row);
  });
  return rows.includes(null) ? "vanished" : "same";
}

/** Puts a newer state of a row in its place; cells with another value flash. */
export function showRow(api: GridApi<Row>, node: IRowNode<Row>, row: Row): void {
  const before = node.data;
  if (before === undefined || writeJson(before.columns) === writeJson(row.columns)) return;
  const names = new Set([...Object.keys(before.columns), ...Object.keys(row.columns)]);
  const changed = [...names].filter((name) => !sameValue(before.columns[name]?.value, row.columns[name]?.value));
  node.setData(row);
  api.refreshCells({ rowNodes: [node], force: true });
  const shown = changed.filter((name) => api.getColumn(name) !== null);
  if (shown.length > 0) api.flashCells({ rowNodes: [node], columns: shown });
}
