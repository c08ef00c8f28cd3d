import { useState } from "react";
import type { Table } from "../api";
import { number } from "../components/freshness-bar";
import { now } from "../grid/clock";
import type { Status } from "../grid/controller";
import { ago, stateAt } from "../model/freshness";

interface Props {
  status: Status;
  table: Table;
  onGo(index: number): void;
}

/** Where we are in the rows, and the clock of the cell that has the focus. */
export function StatusBar({ status, table, onGo }: Props) {
  const [text, setText] = useState<string | null>(null);
  const { count, first, last } = status;
  if (count === 0) return <footer className="status-bar">no rows</footer>;
  return (
    <footer className="status-bar">
      <form
        className="go-to"
        onSubmit={(event) => {
          event.preventDefault();
          const row = Number((text ?? "").replace(/[^\d]/g, ""));
          if (row >= 1) onGo(Math.min(row, count ?? row) - 1);
          setText(null);
        }}
      >
        <label className="sr-only" htmlFor="go-to">Go to row</label>
        row
        <input
          id="go-to"
          inputMode="numeric"
          value={text ?? number(first + 1)}
          onFocus={(event) => event.target.select()}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => setText(null)}
          title="Type a row's number and press Enter to go there"
        />
        <span className="only-wide">– {number(Math.min(last + 1, count ?? last + 1))}</span>
      </form>
      <span className="status-count">of {count === null ? "…" : number(count)}</span>
      <span className="grow" />
      <span className="status-focus">{focusText(status, table)}</span>
    </footer>
  );
}

function focusText({ focus }: Status, table: Table): string {
  if (focus === null) return "";
  if (table.key.some(({ name }) => name === focus.column)) return `${focus.column} · key`;
  const { cell, column } = focus;
  const moment = now();
  const state = stateAt(cell, moment);
  if (cell === undefined || cell.written_at === undefined || state === "gone") return `${column} · no value`;
  const until = cell.fresh_until == null ? "always fresh"
    : state === "stale" ? `stale since ${ago(cell.fresh_until, moment)}`
    : `fresh, stale ${ago(cell.fresh_until, moment)}`;
  const gone = cell.gone_at == null ? "" : ` · gone ${ago(cell.gone_at, moment)}`;
  return `${column} · ${cell.family} · written ${ago(cell.written_at, moment)} · ${until}${gone}`;
}
