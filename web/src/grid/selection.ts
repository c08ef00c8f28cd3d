import type { GridApi } from "ag-grid-community";
import type { Row } from "../api";
import { Range } from "./range";

const MOVING = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", "Tab", "Enter"];

/** The cell that an event happened in. */
export function placeOf(target: EventTarget | null): { row: number; column: string; element: HTMLElement } | null {
  const element = target instanceof HTMLElement ? target.closest<HTMLElement>(".ag-cell") : null;
  const row = element?.closest(".ag-row")?.getAttribute("row-index");
  const column = element?.getAttribute("col-id");
  return element && row != null && column ? { row: Number(row), column, element } : null;
}

/** Selecting a rectangle of cells by dragging, or with Shift, and copying it. */
export class Selection {
  readonly range: Range;
  /** What moved the focus last: the grid tells of it later, when the pointer may have gone on. */
  private mover: "pointer" | "key" | "key with Shift" = "key";
  private readonly events: [string, (event: never) => void][] = [
    ["keydown", (event: KeyboardEvent) => this.typed(event)],
    ["mousedown", (event: MouseEvent) => this.pressed(event)],
    ["mouseover", (event: MouseEvent) => this.dragged(event)],
    ["copy", (event: ClipboardEvent) => this.copied(event)],
  ];

  constructor(
    private readonly root: HTMLElement,
    private readonly api: () => GridApi<Row>,
    private readonly tell: (text: string) => void,
  ) {
    this.range = new Range(api);
    for (const [name, heard] of this.events) root.addEventListener(name, heard as EventListener, true);
  }

  /** The focus moved: with Shift the rectangle grows to it. What the pointer chose stays as it is. */
  focused(row: number, column: string): void {
    if (this.mover === "pointer" && this.range.isMany) return;
    if (this.mover === "key with Shift") this.range.extend(row, column);
    else this.range.start(row, column);
  }

  private get editing(): boolean {
    return this.api().getEditingCells().length > 0;
  }

  private typed({ key, shiftKey }: KeyboardEvent): void {
    if (MOVING.includes(key)) this.mover = shiftKey && key !== "Tab" ? "key with Shift" : "key";
  }

  private pressed(event: MouseEvent): void {
    const place = placeOf(event.target);
    if (place === null || event.button !== 0) return;
    this.mover = "pointer";
    if (!event.shiftKey) return this.range.start(place.row, place.column);
    event.preventDefault();
    this.range.extend(place.row, place.column);
  }

  private dragged(event: MouseEvent): void {
    if (event.buttons !== 1 || this.editing) return;
    const place = placeOf(event.target);
    if (place !== null) this.range.extend(place.row, place.column);
  }

  private copied(event: ClipboardEvent): void {
    if (this.editing) return;
    const focus = this.api().getFocusedCell();
    if (!this.range.isMany && focus) this.range.start(focus.rowIndex, focus.column.getColId());
    const { text, rows } = this.range.text();
    if (rows === 0) return;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    const columns = this.range.columns().length;
    this.tell(rows * columns === 1 ? "Copied the cell" : `Copied ${rows} × ${columns} cells`);
  }

  destroy(): void {
    for (const [name, heard] of this.events) this.root.removeEventListener(name, heard as EventListener, true);
  }
}
