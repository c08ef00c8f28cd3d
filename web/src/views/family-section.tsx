import { useState } from "react";
import type { Anatomy, Key, Row, Table } from "../api";
import { Bytes } from "../components/bytes";
import { Timeline } from "../components/timeline";
import type { ColumnFilter } from "../model/filter";
import { showText } from "../model/value";
import { stateAt } from "../model/freshness";
import { few } from "../model/write";
import { useNow } from "../components/clock-list";
import { updateView } from "../state/view";
import { History } from "./history";

interface Props {
  table: Table;
  rowKey: Key;
  place: Anatomy["families"][number];
  cells: Row["columns"];
  /** The other families that the same write wrote. */
  beside: string[];
}

/** One family of a row: its clock, its columns, its history, and the key that it is stored under. */
export function FamilySection({ table, rowKey, place, cells, beside }: Props) {
  const [open, setOpen] = useState(false);
  const moment = useNow();
  const family = table.families.find(({ name }) => name === place.family);
  const state = stateAt({ value: "Null", ...place }, moment);
  const names = family === undefined ? Object.keys(cells) : family.columns.map(({ name }) => name);
  return (
    <section className="panel-section">
      <h3>
        {place.family} <span className={`state is-${state}`}>{state}</span>
        {!place.declared && <span className="dim"> undeclared</span>}
        {family?.history != null && (
          <button type="button" className="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide history" : "History"}
          </button>
        )}
      </h3>
      <Timeline clock={place} />
      <p className="by-write">
        <span className="dim">by write</span> <code>{place.written_at}</code>
        {beside.length > 0 && <span className="dim">with {few(beside)}</span>}
        <button type="button" className="quiet" title="Only the rows that this write wrote"
          onClick={() => updateView({ filters: [ofWrite(place)] })}>
          Its rows
        </button>
      </p>
      <dl className="cells">
        {names.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={state === "stale" ? "is-stale-text" : ""}>
              {cells[name] === undefined ? <span className="dim">no value</span> : showText(cells[name].value)}
            </dd>
          </div>
        ))}
      </dl>
      {open && <History table={table.name} rowKey={rowKey} family={place.family} />}
      <details className="stored">
        <summary>
          Stored under {place.key.hex.length / 2} bytes <span className="dim">and {place.value_bytes} bytes of values</span>
        </summary>
        <Bytes stored={place.key} />
      </details>
    </section>
  );
}

/** What a write wrote; of columns that are not declared, only this one can be asked for. */
function ofWrite({ family, declared, written_at }: Props["place"]): ColumnFilter {
  return declared ? { write: written_at } : { column: family, test: "write", text: written_at };
}
