import type { Cell, Clock } from "../api/types";

/** What time made of a value: `none` where there is no value at all. */
export type State = "fresh" | "stale" | "gone" | "none";

const parsed = new Map<string, number>();

/** Milliseconds since 1970 of a time as the server writes it. */
export function millis(time: string): number {
  let known = parsed.get(time);
  if (known === undefined) {
    // A block of rows has few different times; a month of them would still fit.
    if (parsed.size > 20_000) parsed.clear();
    known = Date.parse(time.replace(/(\.\d{3})\d+/, "$1"));
    parsed.set(time, known);
  }
  return known;
}

/** The state of a cell at a moment; a cell without a clock says itself whether it is fresh. */
export function stateAt(cell: Cell | undefined, now: number): State {
  if (cell === undefined) return "none";
  if (cell.gone_at != null && now >= millis(cell.gone_at)) return "gone";
  if (cell.fresh_until === undefined) return cell.fresh ? "fresh" : "stale";
  return cell.fresh_until === null || now < millis(cell.fresh_until) ? "fresh" : "stale";
}

/** When the state changes next by the passing of time, or null. */
export function nextFlip(clock: Partial<Clock>, now: number): number | null {
  const flips = [clock.fresh_until, clock.gone_at]
    .filter((time): time is string => time != null)
    .map(millis)
    .filter((time) => time > now);
  return flips.length === 0 ? null : Math.min(...flips);
}

const UNITS: [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];

/** A span of time in at most two units: `2 min 5 s`. */
export function span(milliseconds: number): string {
  const total = Math.abs(milliseconds);
  const first = UNITS.findIndex(([size]) => total >= size);
  if (first === -1) return "0 s";
  const [size, unit] = UNITS[first]!;
  const whole = `${Math.floor(total / size)} ${unit}`;
  const next = UNITS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((total % size) / next[0]);
  return rest === 0 || total >= 10 * size ? whole : `${whole} ${rest} ${next![1]}`;
}

/** When something was or will be, seen from now. */
export function ago(time: string, now: number): string {
  const difference = millis(time) - now;
  if (Math.abs(difference) < 1000) return "now";
  return difference < 0 ? `${span(difference)} ago` : `in ${span(difference)}`;
}

/** A time as people read it, in UTC to the second. */
export function timeText(time: string): string {
  return `${time.slice(0, 19).replace("T", " ")} UTC`;
}
