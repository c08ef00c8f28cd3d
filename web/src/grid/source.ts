import type { IDatasource, IGetRowsParams } from "ag-grid-community";
import { query, type Problem, type Request, type Response, type Row, asProblem } from "../api";

export interface Watcher {
  loaded(rows: Row[]): void;
  failed(problem: Problem): void;
}

/** A far jump leaves a cursor every so many rows, from which later ones start. */
const STRIDE = 50_000;
/** Blocks so many rows away from what is seen are not waited for. */
const NEAR = 1000;

/**
 * The rows of one request, a block at a time. The answer to a block has the cursor where the next one
 * starts; a block that nobody scrolled up to is reached from the nearest cursor before it.
 */
export class Blocks implements IDatasource {
  private readonly cursors = new Map<number, string>();
  /** Those under way, by the row after their last. */
  private readonly strides = new Map<number, Promise<Response>>();
  private readonly loading = new Map<number, AbortController>();
  private readonly dropped = new Set<number>();
  private readonly stop = new AbortController();
  /** How many rows there are, once that is known. */
  total: number | undefined;
  /** Whether there was an answer yet. */
  answered = false;

  constructor(
    private readonly request: Request,
    private readonly watcher: Watcher,
  ) {}

  getRows(params: IGetRowsParams): void {
    if (this.closed) return;
    const { startRow, failCallback } = params;
    const control = new AbortController();
    this.loading.set(startRow, control);
    this.load(params, AbortSignal.any([this.stop.signal, control.signal]))
      .catch((error: unknown) => {
        if (this.closed) return;
        failCallback();
        if (control.signal.aborted) this.dropped.add(startRow);
        else this.watcher.failed(asProblem(error));
      })
      .finally(() => this.loading.delete(startRow));
  }

  private async load({ startRow, endRow, successCallback }: IGetRowsParams, signal: AbortSignal): Promise<void> {
    const take = endRow - startRow;
    await this.approach(startRow, signal);
    const answer = await this.ask(startRow, take, signal);
    if (signal.aborted) throw signal.reason;
    const isLast = answer.next == null || answer.rows.length < take;
    if (isLast && (answer.rows.length > 0 || startRow === 0)) this.total = startRow + answer.rows.length;
    this.answered = true;
    successCallback(answer.rows, this.total);
    this.watcher.loaded(answer.rows);
  }

  /** Goes most of a long way in strides. A sort makes each of them as long as the whole way. */
  private async approach(start: number, signal: AbortSignal): Promise<void> {
    if (this.request.sort !== undefined) return;
    for (let from = this.nearest(start); start - from > STRIDE; from = this.nearest(start)) {
      const end = STRIDE * (1 + Math.floor(from / STRIDE));
      const answer = await Promise.race([this.stride(end), aborted(signal)]);
      if (answer.next == null) return;
    }
  }

  /** Blocks that go the same way go it together; one that is given up does not stop the others. */
  private stride(end: number): Promise<Response> {
    const known = this.strides.get(end);
    if (known !== undefined) return known;
    const stride = this.ask(end - 1, 1, this.stop.signal).finally(() => this.strides.delete(end));
    this.strides.set(end, stride);
    return stride;
  }

  private async ask(start: number, take: number, signal: AbortSignal): Promise<Response> {
    const from = this.nearest(start);
    const after = this.cursors.get(from);
    const place = { ...(after !== undefined && { after }), ...(start > from && { skip: start - from }) };
    const answer = await query({ ...this.request, ...place, take, clocks: true }, signal);
    if (answer.next != null) this.cursors.set(start + take, answer.next);
    return answer;
  }

  private nearest(start: number): number {
    let nearest = 0;
    for (const row of this.cursors.keys()) if (row <= start && row > nearest) nearest = row;
    return nearest;
  }

  /** These rows are seen now: far ones that are under way are given up. Tells if seen ones were before. */
  seen(first: number, last: number): boolean {
    const isNear = (start: number) => start > first - NEAR && start < last + NEAR;
    for (const [start, control] of this.loading) if (!isNear(start)) control.abort();
    const missing = [...this.dropped].filter(isNear);
    missing.forEach((start) => this.dropped.delete(start));
    return missing.length > 0;
  }

  /** Rows may have come or gone: places are counted anew. */
  forget(): void {
    this.cursors.clear();
    this.dropped.clear();
    this.total = undefined;
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
