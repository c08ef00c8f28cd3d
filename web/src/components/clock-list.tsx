import { useEffect, useState } from "react";
import type { Cell } from "../api";
import { now } from "../grid/clock";
import { ago, stateAt, timeText } from "../model/freshness";

/** The time, each second anew. */
export function useNow(): number {
  const [moment, setMoment] = useState(now);
  useEffect(() => {
    const timer = setInterval(() => setMoment(now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return moment;
}

/** A cell's clock in words: which write, fresh until when, gone when. */
export function ClockList({ cell }: { cell: Cell }) {
  const moment = useNow();
  const state = stateAt(cell, moment);
  return (
    <dl className="clock-list">
      <dt className={`state is-${state}`}>{state}</dt>
      <dd>family {cell.family}</dd>
      <dt>written</dt>
      <dd>{when(cell.written_at!, moment)}</dd>
      <dt>by write</dt>
      <dd><code>{cell.written_at}</code></dd>
      <dt>{state === "fresh" ? "fresh until" : "stale since"}</dt>
      <dd>{cell.fresh_until == null ? "for ever" : when(cell.fresh_until, moment)}</dd>
      <dt>gone</dt>
      <dd>{cell.gone_at == null ? "never" : when(cell.gone_at, moment)}</dd>
    </dl>
  );
}

function when(time: string, moment: number) {
  return (
    <>
      <time dateTime={time} title={time}>{timeText(time)}</time> <span className="dim">{ago(time, moment)}</span>
    </>
  );
}
