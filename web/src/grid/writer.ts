import type { CellEditRequestEvent, GridApi, IRowNode } from "ag-grid-community";
import { type Key, type Row, type Table, type Value, asProblem } from "../api";
import { typeIn } from "../model/filter";
import { keyId } from "../model/key";
import { Unreadable, parseValue } from "../model/parse";
import { typeOf } from "../model/value";
import { now } from "./clock";
import { type Conflict, visibleValue, writeCell } from "./edit";

/** Edits of cells: shown at once, written if nobody else did, taken back if that fails. */
export class Writer {
  private readonly pending = new Map<string, Set<string>>();

  constructor(
    private readonly table: Table,
    private readonly api: () => GridApi<Row>,
    private readonly tell: (text: string) => void,
    private readonly conflict: (conflict: Conflict) => void,
  ) {}

  /** Whether edits are on their way. */
  get busy(): boolean {
    return this.pending.size > 0;
  }

  isPending(row: Row, column: string): boolean {
    return this.pending.get(keyId(row.row_key))?.has(column) ?? false;
  }

  async edited({ node, data, newValue, oldValue, column: edited }: CellEditRequestEvent<Row>): Promise<void> {
    const column = edited.getColId();
    const text = String(newValue ?? "");
    if (data === undefined || text === String(oldValue ?? "")) return;
    const seen = visibleValue(data.columns[column], now());
    const declared = typeIn(this.table, column);
    // A column of any type keeps the type that it has.
    const type = declared === "any" ? ((seen && typeOf(seen)) ?? "any") : declared;
    try {
      await this.write(node, column, text === "" && type !== "string" ? "Null" : parseValue(text, type));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.tell(`${column}: ${error.message}. Nothing was changed.`);
    }
  }

  async write(node: IRowNode<Row>, column: string, mine: Value): Promise<void> {
    const data = node.data!;
    const cell = data.columns[column];
    const shown: Row = {
      ...data,
      columns: { ...data.columns, [column]: { ...cell, value: mine, fresh: true, fresh_until: null, gone_at: null } },
    };
    this.setPending(data.row_key, column, true);
    node.setData(shown);
    let settled: Row | null = data;
    try {
      const result = await writeCell(this.table.name, data.row_key, column, mine, visibleValue(cell, now()));
      if ("conflict" in result) this.conflict(result.conflict);
      settled = "conflict" in result ? result.conflict.present : result.row;
    } catch (error) {
      const problem = asProblem(error);
      this.tell(`${column} was not changed: ${problem.detail || problem.title}`);
    } finally {
      this.setPending(data.row_key, column, false);
      if (node.data === shown) node.setData(settled ?? data);
      if (!this.api().isDestroyed()) this.api().refreshCells({ rowNodes: [node], force: true });
    }
  }

  private setPending(key: Key, column: string, on: boolean): void {
    const id = keyId(key);
    const columns = this.pending.get(id) ?? new Set<string>();
    if (on) columns.add(column);
    else columns.delete(column);
    if (columns.size > 0) this.pending.set(id, columns);
    else this.pending.delete(id);
  }
}
