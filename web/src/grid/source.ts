import type { IDatasource, IGetRowsParams } from "ag-grid-community";
import { query, type Problem, type Request, type Row, asProblem } from "../api";

export interface Watcher {
  loaded(rows: Row[]): void;
  failed(problem: Problem): void;
}

/**
 * The rows of one request, a block at a time. The answer to a block has the cursor where the next one
 * starts; a block that nobody scrolled up to is reached from the nearest cursor before it.
 */
export class Blocks implements IDatasource {
  private readonly cursors = new Map<number, string>();
  private readonly stop = new AbortController();
  private total: number | undefined;

  constructor(
    private readonly request: Request,
    private readonly watcher: Watcher,
  ) {}

  getRows(params: IGetRowsParams): void {
    if (this.closed) return;
    this.load(params).catch((error: unknown) => {
      if (this.closed) return;
      params.failCallback();
      this.watcher.failed(asProblem(error));
    });
  }

  private async load({ startRow, endRow, successCallback }: IGetRowsParams): Promise<void> {
    const take = endRow - startRow;
    const answer = await query({ ...this.request, ...this.position(startRow), take, clocks: true }, this.stop.signal);
    if (this.closed) return;
    if (answer.next != null) this.cursors.set(endRow, answer.next);
    const isLast = answer.next == null || answer.rows.length < take;
    if (isLast && (answer.rows.length > 0 || startRow === 0)) this.total = startRow + answer.rows.length;
    this.watcher.loaded(answer.rows);
    successCallback(answer.rows, this.total);
  }

  private position(start: number): Pick<Request, "after" | "skip"> {
    let nearest = 0;
    for (const row of this.cursors.keys()) if (row <= start && row > nearest) nearest = row;
    const after = this.cursors.get(nearest);
    return {
      ...(after !== undefined && { after }),
      ...(start > nearest && { skip: start - nearest }),
    };
  }

  /** Rows may have come or gone: places are counted anew. */
  forget(): void {
    this.cursors.clear();
    this.total = undefined;
  }

  counted(total: number): void {
    this.total = total;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  get closed(): boolean {
    return this.stop.signal.aborted;
  }

  close(): void {
    this.stop.abort();
  }
}
