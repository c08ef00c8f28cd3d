import { useState } from "react";
import { type Row, type Table, asProblem } from "../api";
import { Dialog } from "../components/dialog";
import { now } from "../grid/clock";
import { type Conflict, visibleValue, writeCell } from "../grid/edit";
import { ago } from "../model/freshness";
import { keyText } from "../model/key";
import { showText } from "../model/value";

interface Props {
  table: Table;
  conflict: Conflict;
  onMessage(text: string): void;
  onDone(row: Row | null): void;
}

/** Somebody else changed the cell in the meantime: theirs or mine. */
export function ConflictDialog({ table, conflict: first, onMessage, onDone }: Props) {
  const [conflict, setConflict] = useState(first);
  const { key, column, mine, seen, present } = conflict;
  const cell = present?.columns[column];
  const theirs = visibleValue(cell, now());
  const overwrite = async () => {
    try {
      const result = await writeCell(table.name, key, column, mine, theirs);
      if ("conflict" in result) return setConflict(result.conflict);
      onMessage(`${column} of ${keyText(key)} is now ${showText(mine)}`);
      onDone(result.row);
    } catch (error) {
      onMessage(asProblem(error).message);
      onDone(null);
    }
  };
  return (
    <Dialog title="Somebody else changed this cell" onClose={() => onDone(present)}>
      <p>
        <b>{column}</b> of <b>{keyText(key)}</b>
        {cell?.written_at && <span className="dim"> · written {ago(cell.written_at, now())}</span>}
      </p>
      <table className="conflict">
        <tbody>
          <tr><th>you saw</th><td>{shown(seen)}</td></tr>
          <tr><th>it is now</th><td><b>{shown(theirs)}</b></td></tr>
          <tr><th>you typed</th><td><b>{shown(mine)}</b></td></tr>
        </tbody>
      </table>
      <div className="dialog-foot">
        <button type="button" autoFocus onClick={() => onDone(present)}>Keep theirs</button>
        <button type="button" className="primary" onClick={() => void overwrite()}>Write mine</button>
      </div>
    </Dialog>
  );
}

function shown(value: Parameters<typeof showText>[0]) {
  return value === undefined ? <i className="dim">no value</i> : showText(value) || <i className="dim">empty text</i>;
}
