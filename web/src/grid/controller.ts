import "./modules";
import {
  type CellEditRequestEvent, type CellFocusedEvent, type CellKeyDownEvent, type GridApi,
  type IRowNode, createGrid,
} from "ag-grid-community";
import { type Cell, type Key, Problem, type Row, type Table, type Value, asProblem, count } from "../api";
import { Unreadable, parseValue } from "../model/parse";
import { typeIn } from "../model/filter";
import { keyId } from "../model/key";
import { typeOf } from "../model/value";
import { type View, columnsOf, rowsOf } from "../model/view";
import { now } from "./clock";
import { type ColumnContext, columnDefs } from "./columns";
import { type Conflict, visibleValue, writeCell } from "./edit";
import { refreshVisible, showFlips, showRow } from "./live";
import { Range } from "./range";
import { Blocks } from "./source";
import { rememberWidth, widthsOf } from "./remember";

export interface Focus {
  index: number;
  column: string;
  key: Key;
  cell: Cell | undefined;
}

export interface Status {
  count: number | null;
  loaded: boolean;
  focus: Focus | null;
  first: number;
  last: number;
}

export interface Handlers {
  status(status: Partial<Status>): void;
  problem(problem: Problem | null): void;
  message(text: string): void;
  conflict(conflict: Conflict): void;
  discovered(columns: string[]): void;
  openRow(key: Key): void;
  sortBy(column: string, more: boolean): void;
  filterBy(column: string, at: HTMLElement): void;
  columnsMoved(order: string[]): void;
  searched(): void;
}

const BLOCK = 100;
const POLL_MS = 4000;

/** Everything about AG Grid that is not drawing: what it shows, and what the user does to it. */
export class GridController {
  readonly api: GridApi<Row>;
  private source: Blocks | null = null;
  private asked = "";
  private view!: View;
  private undeclared: string[] = [];
  private last = now();
  private readonly pending = new Map<string, Set<string>>();
  private readonly range: Range;
  private readonly timers: number[] = [];
  private applying = false;
  private polling = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly table: Table,
    private readonly writable: boolean,
    private readonly handlers: Handlers,
  ) {
    this.range = new Range(() => this.api, () => undefined);
    this.api = createGrid<Row>(root, {
      theme: "legacy",
      rowModelType: "infinite",
      columnDefs: columnDefs(this.context()),
      defaultColDef: { resizable: true, sortable: true, minWidth: 56, suppressMovable: false },
      rowHeight: 30,
      headerHeight: 32,
      groupHeaderHeight: 22,
      cacheBlockSize: BLOCK,
      maxBlocksInCache: 30,
      maxConcurrentDatasourceRequests: 3,
      blockLoadDebounceMillis: 30,
      rowBuffer: 12,
      infiniteInitialRowCount: 1,
      maintainColumnOrder: true,
      suppressDragLeaveHidesColumns: true,
      suppressMoveWhenColumnDragging: false,
      suppressColumnMoveAnimation: true,
      animateRows: false,
      readOnlyEdit: true,
      stopEditingWhenCellsLoseFocus: true,
      suppressOverlays: ["loading", "noRows", "noMatchingRows"],
      cellFlashDuration: 500,
      cellFadeDuration: 900,
      rowClassRules: { "is-loading": ({ data }) => data === undefined },
      onCellEditRequest: (event) => void this.edited(event),
      onCellFocused: (event) => this.focused(event),
      onCellKeyDown: (event) => this.key(event as CellKeyDownEvent<Row>),
      onCellClicked: ({ colDef, data, event }) => {
        const isKey = this.table.key.some((field) => field.name === colDef.colId);
        if (isKey && data && !(event as MouseEvent).shiftKey && !this.range.isMany) handlers.openRow(data.row_key);
      },
      onColumnMoved: ({ finished, source }) => finished && source === "uiColumnMoved" && this.moved(),
      onColumnResized: ({ finished, column, source }) => {
        if (finished && column && source === "uiColumnResized") {
          rememberWidth(table.name, column.getColId(), column.getActualWidth());
        }
      },
      onViewportChanged: ({ firstRow, lastRow }) => handlers.status({ first: firstRow, last: lastRow }),
    });
    this.listen();
  }

  /** Shows a view: asks for its rows if they are others than before. */
  show(view: View, undeclared: string[]): void {
    const grown = undeclared.join() !== this.undeclared.join();
    this.view = view;
    this.undeclared = undeclared;
    if (grown) this.api.setGridOption("columnDefs", columnDefs(this.context()));
    const request = { ...rowsOf(view, this.table), columns: columnsOf(view, this.table) };
    const asked = JSON.stringify(request, (_name, each: unknown) => (typeof each === "bigint" ? `${each}` : each));
    const changed = asked !== this.asked;
    if (changed) this.source?.close();
    this.arrange();
    this.api.refreshHeader();
    if (!changed) return;
    this.asked = asked;
    this.range.clear();
    this.handlers.status({ count: null, loaded: false });
    this.handlers.problem(null);
    this.source = new Blocks(request, {
      loaded: (rows) => this.loaded(rows),
      failed: (problem) => this.handlers.problem(problem),
    });
    if (this.api.getDisplayedRowCount() > 0) this.api.ensureIndexVisible(0, "top");
    this.api.setGridOption("datasource", this.source);
  }

  /** Order, choice and sort of the columns, as the view has them. */
  private arrange(): void {
    const { columns, sort } = this.view;
    const all = this.api.getColumns() ?? [];
    const names = columns ?? this.everyColumn();
    const rest = all.map((column) => column.getColId()).filter((name) => !names.includes(name));
    this.applying = true;
    this.api.applyColumnState({
      state: [...names, ...rest].map((colId) => {
        const at = sort.findIndex(({ field }) => field === colId);
        const direction = sort[at]?.direction === "Desc" ? ("desc" as const) : ("asc" as const);
        return {
          colId,
          hide: !names.includes(colId),
          sort: at === -1 ? null : direction,
          sortIndex: at === -1 ? null : at,
        };
      }),
      applyOrder: true,
    });
    this.applying = false;
  }

  private everyColumn(): string[] {
    const declared = this.table.families.flatMap((family) => family.columns);
    return [...this.table.key, ...declared].map((each) => each.name).concat(this.undeclared);
  }

  private loaded(rows: Row[]): void {
    const first = this.handlers;
    first.problem(null);
    first.status({ loaded: true });
    if (!this.counting) this.recount();
    const known = new Set(this.everyColumn());
    const found = new Set(rows.flatMap((row) => Object.keys(row.columns)).filter((name) => !known.has(name)));
    if (found.size > 0) first.discovered([...found].sort());
  }

  private counting: Blocks | null = null;

  /** Counts the rows once for a view, after its first block is there. */
  private recount(): void {
    const source = this.source;
    if (source === null || this.counting === source) return;
    this.counting = source;
    count(rowsOf(this.view, this.table), source.signal)
      .then((total) => {
        if (source.closed) return;
        source.counted(total);
        this.api.setRowCount(total, true);
        this.handlers.status({ count: total });
      })
      .catch((error: unknown) => {
        if (!source.closed) this.handlers.message(`Rows could not be counted: ${asProblem(error).message}`);
      })
      .finally(() => {
        if (this.counting === source) this.counting = null;
      });
  }

  /** Asks for everything again, and stays where it is. */
  reload(): void {
    this.source?.forget();
    this.handlers.problem(null);
    this.api.refreshInfiniteCache();
  }

  goTo(index: number): void {
    const column = this.api.getAllDisplayedColumns()[0];
    this.api.ensureIndexVisible(index, "top");
    if (column) this.api.setFocusedCell(index, column);
  }

  focusGrid(): void {
    const focus = this.api.getFocusedCell();
    const column = focus?.column ?? this.api.getAllDisplayedColumns()[0];
    if (column) this.api.setFocusedCell(focus?.rowIndex ?? Math.max(0, this.api.getFirstDisplayedRowIndex()), column);
  }

  private listen(): void {
    this.timers.push(window.setInterval(() => this.tick(), 1000), window.setInterval(() => void this.poll(), POLL_MS));
    this.root.addEventListener("mousedown", this.pressed);
    this.root.addEventListener("mouseover", this.dragged);
    this.root.addEventListener("copy", this.copied);
  }

  private tick(): void {
    if (document.hidden || this.view?.asOf) return;
    const moment = now();
    if (this.api.getEditingCells().length === 0) {
      showFlips(this.api, this.last, moment);
      this.last = moment;
    }
    const focus = this.api.getFocusedCell();
    if (focus) this.tellFocus(focus.rowIndex, focus.column.getColId());
  }

  private async poll(): Promise<void> {
    const source = this.source;
    const busy = document.hidden || this.polling || this.pending.size > 0 || this.api.getEditingCells().length > 0;
    if (busy || source === null || this.view.asOf) return;
    this.polling = true;
    try {
      const found = await refreshVisible(this.api, this.table.name, columnsOf(this.view, this.table), source.signal);
      if (found === "vanished" && !source.closed) this.reload();
    } catch {
      // The header says when the server does not answer; the next poll tries again.
    } finally {
      this.polling = false;
    }
  }

  private readonly pressed = (event: MouseEvent): void => {
    const place = this.placeOf(event.target);
    if (place === null || event.button !== 0) return;
    if (event.shiftKey) {
      event.preventDefault();
      this.range.extend(place.row, place.column);
    } else this.range.start(place.row, place.column);
  };

  private readonly dragged = (event: MouseEvent): void => {
    if (event.buttons !== 1) return;
    const place = this.placeOf(event.target);
    if (place !== null && this.api.getEditingCells().length === 0) this.range.extend(place.row, place.column);
  };

  private readonly copied = (event: ClipboardEvent): void => {
    if (this.api.getEditingCells().length > 0) return;
    const focus = this.api.getFocusedCell();
    if (!this.range.isMany && focus) this.range.start(focus.rowIndex, focus.column.getColId());
    const { text, rows } = this.range.text();
    if (rows === 0) return;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    const columns = this.range.columns().length;
    this.handlers.message(rows * columns === 1 ? "Copied the cell" : `Copied ${rows} × ${columns} cells`);
  };

  placeOf(target: EventTarget | null): { row: number; column: string; element: HTMLElement } | null {
    const element = target instanceof HTMLElement ? target.closest<HTMLElement>(".ag-cell") : null;
    const row = element?.closest(".ag-row")?.getAttribute("row-index");
    const column = element?.getAttribute("col-id");
    return element && row != null && column ? { row: Number(row), column, element } : null;
  }

  rowAt(index: number): Row | undefined {
    return this.api.getDisplayedRowAtIndex(index)?.data;
  }

  private key(event: CellKeyDownEvent<Row>): void {
    const pressed = event.event as KeyboardEvent;
    const data = event.data;
    if (this.api.getEditingCells().length > 0) return;
    const isKey = this.table.key.some((field) => field.name === event.colDef.colId);
    if (data && (pressed.key === " " || (pressed.key === "Enter" && (isKey || !this.writable)))) {
      pressed.preventDefault();
      this.handlers.openRow(data.row_key);
    } else if (data && !isKey && this.writable && pressed.key === "Delete") {
      void this.write(event.node, event.column.getColId(), "Null");
    } else if (pressed.key === "Escape") this.range.clear();
    else if (pressed.key === "/") {
      pressed.preventDefault();
      this.handlers.searched();
    }
  }

  private focused({ rowIndex, column }: CellFocusedEvent): void {
    if (rowIndex === null || column === null || typeof column === "string") return;
    const name = column.getColId();
    // With Shift the rectangle grows to where the focus went.
    if (this.shift) this.range.extend(rowIndex, name);
    else this.range.start(rowIndex, name);
    this.tellFocus(rowIndex, name);
  }

  private get shift(): boolean {
    const event = window.event;
    return (event instanceof KeyboardEvent || event instanceof MouseEvent) && event.shiftKey
      && !(event instanceof KeyboardEvent && event.key === "Tab");
  }

  private tellFocus(index: number, column: string): void {
    const data = this.rowAt(index);
    const focus = data && { index, column, key: data.row_key, cell: data.columns[column] };
    this.handlers.status({ focus: focus ?? null });
  }

  private moved(): void {
    if (this.applying) return;
    this.handlers.columnsMoved(this.api.getAllDisplayedColumns().map((column) => column.getColId()));
  }

  private async edited(event: CellEditRequestEvent<Row>): Promise<void> {
    const { node, data, newValue, oldValue } = event;
    const column = event.column.getColId();
    const text = String(newValue ?? "");
    if (data === undefined || text === String(oldValue ?? "")) return;
    const seen = visibleValue(data.columns[column], now());
    const declared = typeIn(this.table, column);
    // A column of any type keeps the type that it has.
    const type = declared === "any" ? ((seen && typeOf(seen)) ?? "any") : declared;
    try {
      const mine = text === "" && type !== "string" ? "Null" : parseValue(text, type);
      await this.write(node, column, mine);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.handlers.message(`${column}: ${error.message}. Nothing was changed.`);
    }
  }

  private async write(node: IRowNode<Row>, column: string, mine: Value): Promise<void> {
    const data = node.data!;
    const cell = data.columns[column];
    const optimistic: Row = {
      ...data,
      columns: { ...data.columns, [column]: { ...cell, value: mine, fresh: true, fresh_until: null, gone_at: null } },
    };
    this.setPending(data.row_key, column, true);
    node.setData(optimistic);
    let shown: Row | null = data;
    try {
      const result = await writeCell(this.table.name, data.row_key, column, mine, visibleValue(cell, now()));
      if ("conflict" in result) this.handlers.conflict(result.conflict);
      shown = "conflict" in result ? result.conflict.present : result.row;
    } catch (error) {
      const problem = asProblem(error);
      this.handlers.message(`${column} was not changed: ${problem.detail || problem.title}`);
    } finally {
      this.setPending(data.row_key, column, false);
      if (node.data === optimistic) node.setData(shown ?? data);
      this.api.refreshCells({ rowNodes: [node], force: true });
    }
  }

  /** A row that was changed elsewhere, as it is now. */
  replaced(row: Row): void {
    const id = keyId(row.row_key);
    const node = this.api.getRenderedNodes().find((each) => each.data && keyId(each.data.row_key) === id);
    if (node) showRow(this.api, node, row);
  }

  private setPending(key: Key, column: string, on: boolean): void {
    const id = keyId(key);
    const columns = this.pending.get(id) ?? new Set<string>();
    if (on) columns.add(column);
    else columns.delete(column);
    if (columns.size > 0) this.pending.set(id, columns);
    else this.pending.delete(id);
  }

  private context(): ColumnContext {
    return {
      table: this.table,
      undeclared: this.undeclared,
      writable: this.writable,
      pinKey: this.root.clientWidth > 640,
      widths: widthsOf(this.table.name),
      now: () => (this.view?.asOf ? Date.parse(this.view.asOf) : now()),
      inRange: (row, column) => this.range?.contains(row, column) ?? false,
      isPending: (row, column) => this.pending.get(keyId(row.row_key))?.has(column) ?? false,
      filtered: (column) => this.view?.filters.some((each) => "column" in each && each.column === column) ?? false,
      sortBy: (column, more) => this.handlers.sortBy(column, more),
      filterBy: (column, at) => this.handlers.filterBy(column, at),
    };
  }

  destroy(): void {
    this.timers.forEach((timer) => window.clearInterval(timer));
    this.root.removeEventListener("mousedown", this.pressed);
    this.root.removeEventListener("mouseover", this.dragged);
    this.root.removeEventListener("copy", this.copied);
    this.source?.close();
    this.api.destroy();
  }
}

