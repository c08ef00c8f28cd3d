import { useState } from "react";
import { type Row, type Table, asProblem, getRows } from "../api";
import { Dialog } from "../components/dialog";
import { now } from "../grid/clock";
import { type SeenRow, removeRow, visibleValue } from "../grid/edit";
import { keyText } from "../model/key";
import { sameValue, showText } from "../model/value";

interface Props {
  table: Table;
  seen: SeenRow;
  onMessage(text: string): void;
  onDone(isDeleted: boolean): void;
}

/** Asks before a row is deleted, and again if it is not what the user saw any more. */
export function DeleteDialog({ table, seen: { row: seen, columns }, onMessage, onDone }: Props) {
  const [present, setPresent] = useState<Row | null>(null);
  const [busy, setBusy] = useState(false);
  const name = keyText(seen.row_key);
  const remove = async () => {
    setBusy(true);
    try {
      if ((await removeRow(table, { row: present ?? seen, columns }, now())) === "deleted") {
        onMessage(`${name} is deleted`);
        return onDone(true);
      }
      const [found = null] = await getRows(table.name, [seen.row_key], columns);
      if (found !== null) return setPresent(found);
      onMessage(`${name} was not there any more`);
      onDone(true);
    } catch (error) {
      const problem = asProblem(error);
      onMessage(`${name} was not deleted: ${problem.detail || problem.title}`);
      onDone(false);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={present === null ? "Delete this row?" : "Somebody else changed this row"} onClose={() => onDone(false)}>
      <p><b>{name}</b> of {table.name}, with all of its families. It cannot be brought back.</p>
      {present !== null && <Changes seen={seen} present={present} />}
      <div className="dialog-foot">
        <button type="button" autoFocus onClick={() => onDone(false)}>Keep it</button>
        <button type="button" className="danger" disabled={busy} onClick={() => void remove()}>
          {present === null ? "Delete" : "Delete it as it is now"}
        </button>
      </div>
    </Dialog>
  );
}

function Changes({ seen, present }: { seen: Row; present: Row }) {
  const moment = now();
  const value = (row: Row, column: string) => visibleValue(row.columns[column], moment);
  const columns = [...new Set([...Object.keys(seen.columns), ...Object.keys(present.columns)])];
  return (
    <table className="conflict">
      <tbody>
        {columns.filter((column) => !sameValue(value(seen, column), value(present, column))).map((column) => (
          <tr key={column}>
            <th>{column}</th>
            <td><del>{showText(value(seen, column))}</del> <b>{showText(value(present, column))}</b></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
