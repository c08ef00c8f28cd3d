import "./modules";
import {
  type CellFocusedEvent, type CellKeyDownEvent, type GridApi, createGrid,
} from "ag-grid-community";
import { type Cell, type Key, type Problem, type Row, type Table, asProblem, count } from "../api";
import { widthFor } from "../model/columns";
import { keyId, keyPart, partText } from "../model/key";
import { showText } from "../model/value";
import { type View, columnsOf, rowsOf } from "../model/view";
import { now } from "./clock";
import { type ColumnContext, columnDefs } from "./columns";
import type { Conflict, SeenRow } from "./edit";
import { refreshVisible, showFlips, showRow } from "./live";
import { Selection } from "./selection";
import { Blocks } from "./source";
import { Writer } from "./writer";
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
  deleteRow(seen: SeenRow): void;
  sortBy(column: string, more: boolean): void;
  filterBy(column: string, at: HTMLElement): void;
  columnsMoved(order: string[]): void;
  searched(): void;
}

const BLOCK = 100;
const POLL_MS = 4000;
const STALE_POLLS = 4;
const ROW_HEIGHT = 30;
const OWN_KEYS = ["/", " ", "Delete"];

/** Everything about AG Grid that is not drawing: what it shows, and what the user does to it. */
export class GridController {
  readonly api: GridApi<Row>;
  private source: Blocks | null = null;
  private asked = "";
  private view!: View;
  private undeclared: string[] = [];
  private last = now();
  private readonly selection: Selection;
  private readonly writer: Writer;
  private readonly timers: number[] = [];
  private applying = false;
  private countedOf: Blocks | null = null;
  private polling = false;
  private fitted = false;
  private polls = 0;
  private rows: number | undefined;
  private place: [number, number] = [-1, -1];

  constructor(
    private readonly root: HTMLElement,
    private readonly table: Table,
    private readonly writable: boolean,
    private readonly handlers: Handlers,
  ) {
    this.selection = new Selection(root, () => this.api, handlers.message);
    this.writer = new Writer(table, () => this.api, handlers.message, handlers.conflict);
    this.api = createGrid<Row>(root, {
      theme: "legacy",
      rowModelType: "infinite",
      columnDefs: columnDefs(this.context()),
      defaultColDef: {
        resizable: true,
        sortable: true,
        minWidth: 56,
        // These mean something else here than to begin an edit.
        suppressKeyboardEvent: ({ event, editing }) => !editing && OWN_KEYS.includes(event.key),
      },
      rowHeight: ROW_HEIGHT,
      headerHeight: 32,
      groupHeaderHeight: 22,
      cacheBlockSize: BLOCK,
      maxBlocksInCache: 12,
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
      onCellEditRequest: (event) => void this.writer.edited(event),
      onCellFocused: (event) => this.focused(event),
      onCellKeyDown: (event) => this.key(event as CellKeyDownEvent<Row>),
      onCellClicked: ({ colDef, data, event }) => {
        const isKey = this.table.key.some((field) => field.name === colDef.colId);
        if (isKey && data && !(event as MouseEvent).shiftKey && !this.selection.range.isMany) handlers.openRow(data.row_key);
      },
      onColumnMoved: ({ finished, source }) => finished && source === "uiColumnMoved" && this.moved(),
      onColumnResized: ({ finished, column, source }) => {
        if (finished && column && source === "uiColumnResized") {
          rememberWidth(table.name, column.getColId(), column.getActualWidth());
        }
      },
      onViewportChanged: () => this.tellPlace(),
      onBodyScroll: () => this.tellPlace(),
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
    this.selection.range.clear();
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
    this.handlers.problem(null);
    this.handlers.status({ loaded: true });
    this.fit(rows);
    this.recount();
    const known = new Set(this.everyColumn());
    const found = new Set(rows.flatMap((row) => Object.keys(row.columns)).filter((name) => !known.has(name)));
    if (found.size > 0) this.handlers.discovered([...found].sort());
  }

  /** Makes columns as wide as the first rows need, those aside that the user made as wide as they are. */
  private fit(rows: Row[]): void {
    if (this.fitted || rows.length === 0) return;
    this.fitted = true;
    const chosen = widthsOf(this.table.name);
    const key = this.table.key.map(({ name }) => name);
    const state = (this.api.getColumns() ?? []).map((column) => column.getColId()).filter((name) => !(name in chosen));
    const texts = (name: string) => rows.map((row) =>
      key.includes(name) ? partText(keyPart(row.row_key, this.table.key, key.indexOf(name))) : showText(row.columns[name]?.value));
    this.api.applyColumnState({ state: state.map((colId) => ({ colId, width: widthFor(colId, texts(colId)) })) });
  }

  /** Counts the rows once for a view, after its first block is there. */
  private recount(): void {
    const source = this.source;
    if (source === null || !source.answered || this.countedOf === source) return;
    if (source.total !== undefined) return this.setCount(source, source.total);
    const { sort: _, ...rows } = rowsOf(this.view, this.table);
    if (Object.keys(rows).length === 1) {
      // The server keeps count of whole tables.
      if (this.rows !== undefined) this.setCount(source, this.rows);
      return;
    }
    this.countedOf = source;
    // What is stale is looked for among the columns that are shown.
    count({ ...rows, columns: columnsOf(this.view, this.table) }, source.signal)
      .then((total) => !source.closed && this.setCount(source, total))
      .catch((error: unknown) => {
        if (!source.closed) this.handlers.message(`Rows could not be counted: ${asProblem(error).message}`);
      });
  }

  private setCount(source: Blocks, total: number): void {
    this.countedOf = source;
    source.total = total;
    this.api.setRowCount(total, true);
    this.handlers.status({ count: total });
  }

  /** Tells how many rows the whole table has; if they are others than before, everything is asked again. */
  setRows(rows: number): void {
    const before = this.rows;
    this.rows = rows;
    if (before === undefined) this.recount();
    else if (before !== rows) this.reload();
  }

  /** Asks for everything again, and stays where it is. */
  reload(): void {
    this.source?.forget();
    this.countedOf = null;
    this.handlers.problem(null);
    this.api.refreshInfiniteCache();
  }

  goTo(index: number): void {
    const column = this.api.getAllDisplayedColumns()[0];
    this.selection.range.clear();
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
    const busy = document.hidden || this.polling || this.writer.busy || this.api.getEditingCells().length > 0;
    if (busy || source === null || this.view.asOf) return;
    this.polling = true;
    try {
      const found = await refreshVisible(this.api, this.table.name, columnsOf(this.view, this.table), source.signal);
      this.polls += 1;
      // With time other rows have something stale.
      const aged = this.view.staleOnly && this.polls % STALE_POLLS === 0;
      if ((found === "vanished" || aged) && !source.closed) this.reload();
    } catch {
      // The header says when the server does not answer; the next poll tries again.
    } finally {
      this.polling = false;
    }
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
    } else if (data && this.writable && pressed.key === "Delete" && pressed.shiftKey) {
      this.handlers.deleteRow({ row: data, columns: columnsOf(this.view, this.table) });
    } else if (data && !isKey && this.writable && pressed.key === "Delete") {
      void this.writer.write(event.node, event.column.getColId(), "Null");
    } else if (pressed.key === "Escape") this.selection.range.clear();
    else if (pressed.key === "/") {
      pressed.preventDefault();
      this.handlers.searched();
    }
  }

  private focused({ rowIndex, column }: CellFocusedEvent): void {
    if (rowIndex === null || column === null || typeof column === "string") return;
    const name = column.getColId();
    this.selection.focused(rowIndex, name);
    this.tellFocus(rowIndex, name);
  }

  private tellFocus(index: number, column: string): void {
    const data = this.rowAt(index);
    const focus = data && { index, column, key: data.row_key, cell: data.columns[column] };
    this.handlers.status({ focus: focus ?? null });
  }

  /** Which rows can be seen, those aside that are drawn ahead of scrolling. */
  private tellPlace(): void {
    const { top, bottom } = this.api.getVerticalPixelRange();
    const [first, last] = [Math.round(top / ROW_HEIGHT), Math.floor(bottom / ROW_HEIGHT) - 1];
    if (first === this.place[0] && last === this.place[1]) return;
    this.place = [first, last];
    this.handlers.status({ first, last });
    if (this.source?.seen(first, last)) this.api.refreshInfiniteCache();
  }

  private moved(): void {
    if (this.applying) return;
    this.handlers.columnsMoved(this.api.getAllDisplayedColumns().map((column) => column.getColId()));
  }

  /** A row that was changed elsewhere, as it is now. */
  replaced(row: Row): void {
    const id = keyId(row.row_key);
    const node = this.api.getRenderedNodes().find((each) => each.data && keyId(each.data.row_key) === id);
    if (node) showRow(this.api, node, row);
  }

  /** A row was deleted here: those after it move up. */
  removed(): void {
    if (this.rows !== undefined) this.rows -= 1;
    this.reload();
  }

  private context(): ColumnContext {
    return {
      table: this.table,
      undeclared: this.undeclared,
      writable: this.writable,
      pinKey: this.root.clientWidth > 640,
      widths: widthsOf(this.table.name),
      now: () => (this.view?.asOf ? Date.parse(this.view.asOf) : now()),
      inRange: (row, column) => this.selection.range.contains(row, column),
      isPending: (row, column) => this.writer.isPending(row, column),
      filtered: (column) => this.view?.filters.some((each) => "column" in each && each.column === column) ?? false,
      sortBy: (column, more) => this.handlers.sortBy(column, more),
      filterBy: (column, at) => this.handlers.filterBy(column, at),
    };
  }

  destroy(): void {
    this.timers.forEach((timer) => window.clearInterval(timer));
    this.selection.destroy();
    this.source?.close();
    this.api.destroy();
  }
}

