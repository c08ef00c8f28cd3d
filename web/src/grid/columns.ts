import type { CellClassParams, ColDef, ColGroupDef } from "ag-grid-community";
import type { ColumnType, Row, Table } from "../api";
import { stateAt } from "../model/freshness";
import { keyPart, partText } from "../model/key";
import { editText, isNumeric, showText } from "../model/value";
import { typeOfKey } from "../model/filter";
import { Header } from "./header";

export interface ColumnContext {
  table: Table;
  /** Columns that rows have and no family declares. */
  undeclared: string[];
  writable: boolean;
  pinKey: boolean;
  widths: Record<string, number>;
  now(): number;
  inRange(row: number, column: string): boolean;
  isPending(row: Row, column: string): boolean;
  filtered(column: string): boolean;
  sortBy(column: string, more: boolean): void;
  filterBy(column: string, at: HTMLElement): void;
}

const WIDTHS: Partial<Record<ColumnType, number>> = {
  bool: 92, int: 104, float: 104, decimal: 112, date: 118, timestamp: 176, uuid: 290, string: 168,
};

/** The definition of every column, families as groups, in the order of the schema. */
export function columnDefs(context: ColumnContext): ColGroupDef<Row>[] {
  const { table, undeclared } = context;
  const key: ColGroupDef<Row> = {
    groupId: "key:",
    headerName: "key",
    headerClass: "group-key",
    children: table.key.map((field, index) => keyColumn(context, field.name, field.type, index)),
  };
  const families = table.families.map((family, index): ColGroupDef<Row> => ({
    groupId: `family:${family.name}`,
    headerName: `${family.name}${family.ttl === null ? "" : ` · fresh for ${family.ttl}`}`,
    headerClass: `group-family family-${index % 6}`,
    children: family.columns.map((column) => valueColumn(context, column.name, column.type)),
  }));
  const own = undeclared.map((name): ColGroupDef<Row> => ({
    groupId: `family:${name}`,
    headerName: "undeclared",
    headerClass: "group-family family-own",
    children: [valueColumn(context, name, "any")],
  }));
  return [key, ...families, ...own];
}

function keyColumn(context: ColumnContext, name: string, type: string, index: number): ColDef<Row> {
  const { table } = context;
  const text = (row: Row | undefined) => (row === undefined ? "" : partText(keyPart(row.row_key, table.key, index)));
  return {
    ...shared(context, name, type, true),
    valueGetter: ({ data }) => text(data),
    pinned: context.pinKey ? "left" : null,
    lockPinned: true,
    width: context.widths[name] ?? (typeOfKey(type) === "string" ? 148 : (WIDTHS[typeOfKey(type)] ?? 148)),
    editable: false,
    cellClass: isNumeric(typeOfKey(type)) ? ["cell-key", "cell-number"] : "cell-key",
    cellClassRules: { "in-range": (params) => inRange(context, params) },
  };
}

function valueColumn(context: ColumnContext, name: string, type: ColumnType): ColDef<Row> {
  const cell = (row: Row | undefined) => row?.columns[name];
  const state = (row: Row | undefined) => stateAt(cell(row), context.now());
  const value = (row: Row | undefined) => (state(row) === "gone" ? undefined : cell(row)?.value);
  return {
    ...shared(context, name, type, false),
    valueGetter: ({ data }) => editText(value(data)),
    valueFormatter: ({ data }) => showText(value(data)),
    width: context.widths[name] ?? WIDTHS[type] ?? 168,
    editable: ({ data }) => context.writable && data !== undefined,
    cellEditor: "agTextCellEditor",
    cellClass: isNumeric(type) ? "cell-number" : type === "any" || type === "string" ? "" : "cell-fixed",
    cellClassRules: {
      "is-stale": ({ data }) => state(data) === "stale",
      "is-null": ({ data }) => value(data) === "Null",
      "is-missing": ({ data }) => data !== undefined && value(data) === undefined,
      "is-pending": ({ data }) => data !== undefined && context.isPending(data, name),
      "in-range": (params) => inRange(context, params),
    },
  };
}

function inRange(context: ColumnContext, params: CellClassParams<Row>): boolean {
  return context.inRange(params.rowIndex, params.column.getColId());
}

function shared(context: ColumnContext, name: string, type: string, isKey: boolean): ColDef<Row> {
  return {
    colId: name,
    headerName: name,
    headerComponent: Header,
    headerComponentParams: {
      type,
      isKey,
      filtered: () => context.filtered(name),
      sortBy: (more: boolean) => context.sortBy(name, more),
      filterBy: (at: HTMLElement) => context.filterBy(name, at),
    },
    suppressHeaderKeyboardEvent: ({ event }) => headerKey(context, name, event),
  };
}

/** Enter sorts, and f or Alt+Down opens the filter, where the header has the focus. */
function headerKey(context: ColumnContext, name: string, event: KeyboardEvent): boolean {
  if (event.type !== "keydown") return false;
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
    context.sortBy(name, event.shiftKey);
    return true;
  }
  if (event.key === "f" || (event.altKey && event.key === "ArrowDown")) {
    context.filterBy(name, event.target as HTMLElement);
    event.preventDefault();
    return true;
  }
  return false;
}
