import type { GridApi } from "ag-grid-community";
import type { Row } from "../api";

interface Place {
  row: number;
  column: string;
}

/** A rectangle of cells, from where the pointer or the focus was to where it went with Shift. */
export class Range {
  private anchor: Place | null = null;
  private head: Place | null = null;

  constructor(private readonly api: () => GridApi<Row>) {}

  start(row: number, column: string): void {
    const had = this.isMany;
    this.anchor = this.head = { row, column };
    if (had) this.show();
  }

  extend(row: number, column: string): void {
    if (this.anchor === null) return this.start(row, column);
    if (this.head?.row === row && this.head.column === column) return;
    this.head = { row, column };
    this.show();
  }

  clear(): void {
    const had = this.isMany;
    this.anchor = this.head = null;
    if (had) this.show();
  }

  get isMany(): boolean {
    return this.anchor !== null && this.head !== null
      && (this.anchor.row !== this.head.row || this.anchor.column !== this.head.column);
  }

  contains(row: number, column: string): boolean {
    if (!this.isMany) return false;
    const [top, bottom] = this.rows();
    return row >= top && row <= bottom && this.columns().includes(column);
  }

  rows(): [number, number] {
    const [a, b] = [this.anchor?.row ?? 0, this.head?.row ?? -1];
    return a <= b ? [a, b] : [b, a];
  }

  columns(): string[] {
    if (this.anchor === null || this.head === null) return [];
    const order = this.api().getAllDisplayedColumns().map((column) => column.getColId());
    const places = [order.indexOf(this.anchor.column), order.indexOf(this.head.column)];
    return order.slice(Math.min(...places), Math.max(...places) + 1);
  }

  /** The cells as text with tabs, which spreadsheets take; rows that are not loaded are left out. */
  text(): { text: string; rows: number } {
    const [top, bottom] = this.rows();
    const columns = this.columns();
    const lines: string[] = [];
    for (let index = top; index <= bottom; index++) {
      const node = this.api().getDisplayedRowAtIndex(index);
      if (node?.data === undefined) continue;
      const cells = columns.map((colKey) => String(this.api().getCellValue({ rowNode: node, colKey }) ?? ""));
      lines.push(cells.map(tabField).join("\t"));
    }
    return { text: lines.join("\n"), rows: lines.length };
  }

  private show(): void {
    this.api().refreshCells({ force: true });
  }
}

function tabField(text: string): string {
  return /[\t\n"]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
