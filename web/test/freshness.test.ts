import { expect, test } from "vitest";
import type { Cell } from "../src/api/types";
import { ago, nextFlip, span, stateAt } from "../src/model/freshness";

const time = (seconds: number) => new Date(seconds * 1000).toISOString();
const cell: Cell = { value: { Int: 1 }, fresh: true, family: "crm", written_at: time(0), fresh_until: time(10), gone_at: time(20) };

test("a cell is fresh, then stale, then gone, each from the very moment on", () => {
  const states = [0, 9.999, 10, 19.999, 20].map((seconds) => stateAt(cell, seconds * 1000));
  expect(states).toEqual(["fresh", "fresh", "stale", "stale", "gone"]);
});

test("the next flip is the nearest of the moments to come", () => {
  expect([0, 10_000, 20_000].map((now) => nextFlip(cell, now))).toEqual([10_000, 20_000, null]);
});

test("never is never", () => {
  expect(stateAt({ ...cell, fresh_until: null, gone_at: null }, 1e15)).toBe("fresh");
});

test("a cell without a clock is what it says", () => {
  expect(stateAt({ value: "Null", fresh: false }, 0)).toBe("stale");
  expect(stateAt(undefined, 0)).toBe("none");
});

test("times are read to the microsecond that the server writes", () => {
  expect(stateAt({ ...cell, fresh_until: "1970-01-01T00:00:10.000999Z" }, 10_000)).toBe("stale");
});

test("spans are told in at most two units", () => {
  expect([400, 5000, 65_000, 3_600_000, 90_061_000, 11 * 60_000 + 5000].map(span)).toEqual([
    "0 s", "5 s", "1 min 5 s", "1 h", "1 d 1 h", "11 min",
  ]);
  expect([ago(time(10), 5000), ago(time(10), 70_000), ago(time(10), 10_500)]).toEqual(["in 5 s", "1 min ago", "now"]);
});
