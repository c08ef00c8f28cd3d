import { type Request, type Row, type Table, query } from "../api";
import { csvLine } from "../model/csv";
import { stateAt } from "../model/freshness";
import { keyPart, partText } from "../model/key";
import { editText } from "../model/value";
import { now } from "./clock";

const PAGE = 5000;

/** The rows of a view as CSV, page by page; tells how many it has. */
export async function exportCsv(
  table: Table,
  request: Request,
  columns: string[],
  progress: (rows: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const parts: string[] = [csvLine(columns)];
  let rows = 0;
  let after: string | undefined;
  do {
    const answer = await query({ ...request, take: PAGE, ...(after && { after }) }, signal);
    parts.push(answer.rows.map((row) => csvLine(columns.map((name) => text(table, row, name)))).join(""));
    rows += answer.rows.length;
    progress(rows);
    after = answer.next ?? undefined;
  } while (after !== undefined);
  return new Blob(parts, { type: "text/csv;charset=utf-8" });
}

function text(table: Table, row: Row, name: string): string {
  const field = table.key.findIndex((each) => each.name === name);
  if (field !== -1) return partText(keyPart(row.row_key, table.key, field));
  const cell = row.columns[name];
  return stateAt(cell, now()) === "gone" ? "" : editText(cell?.value);
}

/** Hands a file to the browser to keep. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
