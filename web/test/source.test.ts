import { beforeEach, expect, test, vi } from "vitest";
import type { IGetRowsParams } from "ag-grid-community";
import type { Request, Row } from "../src/api/types";
import { Blocks } from "../src/grid/source";

const ROWS = 1_000_000;

/** A server whose rows are their own numbers, and whose cursors say where they stand. */
let asked: Request[];
let hold: Promise<void> | null;

beforeEach(() => {
  asked = [];
  hold = null;
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async (_path: string, { body, signal }: { body: string; signal: AbortSignal }) => {
    const request = JSON.parse(body) as Request;
    signal.throwIfAborted();
    asked.push(request);
    if (hold !== null) {
      await Promise.race([hold, new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))]);
    }
    const start = Number(request.after ?? 0) + (request.skip ?? 0);
    const end = Math.min(ROWS, start + request.take!);
    const rows = Array.from({ length: end - start }, (_, at): Row => ({ row_key: start + at, columns: {} }));
    return new Response(JSON.stringify({ rows, next: end < ROWS ? String(end) : null }));
  });
});

function load(blocks: Blocks, startRow: number): Promise<{ rows: Row[]; total?: number } | "failed"> {
  return new Promise((resolve) =>
    blocks.getRows({
      startRow,
      endRow: startRow + 100,
      successCallback: (rows: Row[], total?: number) => resolve({ rows, total }),
      failCallback: () => resolve("failed"),
    } as IGetRowsParams));
}

const quiet = { loaded: () => undefined, failed: (problem: Error) => { throw problem; } };
const first = async (blocks: Blocks, start: number) => {
  const answer = await load(blocks, start);
  return answer === "failed" ? answer : answer.rows[0]?.row_key;
};

test("the next block starts at the cursor of the one before", async () => {
  const blocks = new Blocks({ prefixes: ["t"] }, quiet);
  expect([await first(blocks, 0), await first(blocks, 100), await first(blocks, 300)]).toEqual([0, 100, 300]);
  expect(asked.map(({ after, skip }) => [after, skip])).toEqual([[undefined, undefined], ["100", undefined], ["200", 100]]);
});

test("a far jump leaves cursors on its way, and the next one starts from them", async () => {
  const blocks = new Blocks({ prefixes: ["t"] }, quiet);
  expect(await first(blocks, 900_000)).toBe(900_000);
  asked = [];
  expect(await first(blocks, 420_000)).toBe(420_000);
  expect(asked.map(({ after, skip }) => [after, skip])).toEqual([["400000", 20_000]]);
});

test("blocks that are far away go there together", async () => {
  const blocks = new Blocks({ prefixes: ["t"] }, quiet);
  const starts = [899_900, 900_000, 900_100];
  expect(await Promise.all(starts.map((start) => first(blocks, start)))).toEqual(starts);
  expect(asked.filter(({ take }) => take === 1)).toHaveLength(18);
});

test("a block that is given up on the way does not stop another", async () => {
  const blocks = new Blocks({ prefixes: ["t"] }, quiet);
  let go!: () => void;
  hold = new Promise((resolve) => (go = resolve));
  const [far, near] = [load(blocks, 900_000), first(blocks, 120_000)];
  blocks.seen(120_000, 120_020);
  expect(await far).toBe("failed");
  go();
  expect(await near).toBe(120_000);
});

test("a sorted view jumps at once", async () => {
  const blocks = new Blocks({ prefixes: ["t"], sort: [{ field: "a", direction: "Asc" }] }, quiet);
  expect(await first(blocks, 900_000)).toBe(900_000);
  expect(asked).toHaveLength(1);
});

test("the last block tells how many rows there are", async () => {
  const answer = await load(new Blocks({ prefixes: ["t"] }, quiet), ROWS - 100);
  expect(answer).toMatchObject({ total: ROWS });
});

test("what is out of sight is given up, and missed when it is seen again", async () => {
  const blocks = new Blocks({ prefixes: ["t"] }, quiet);
  hold = new Promise(() => undefined);
  const far = load(blocks, 5000);
  expect(blocks.seen(0, 20)).toBe(false);
  expect(await far).toBe("failed");
  await Promise.resolve();
  expect([blocks.seen(4990, 5010), blocks.seen(4990, 5010)]).toEqual([true, false]);
});
