import { useEffect, useState } from "react";
import type { Row } from "../api";
import { now } from "../grid/clock";
import { ago, stateAt, timeText } from "../model/freshness";
import { writtenWith } from "../model/write";

/** The time, each second anew. */
export function useNow(): number {
  const [moment, setMoment] = useState(now);
  useEffect(() => {
    const timer = setInterval(() => setMoment(now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return moment;
}

interface Props {
  columns: Row["columns"];
  /** One of them, which has a clock. */
  column: string;
}

/** A cell's clock in words: which write, with what else, fresh until when, gone when. */
export function ClockList({ columns, column }: Props) {
  const moment = useNow();
  const cell = columns[column]!;
  const others = writtenWith(columns, column);
  const state = stateAt(cell, moment);
  return (
    <dl className="clock-list">
      <dt className={`state is-${state}`}>{state}</dt>
      <dd>family {cell.family}</dd>
      <dt>written</dt>
      <dd>{when(cell.written_at!, moment)}</dd>
      {others !== "" && <><dt>with</dt><dd>{others}</dd></>}
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
