import { type Anatomy, type Key, type Row, type Table, Problem, anatomy, row } from "../api";
import { Blank, Loading, ProblemNote } from "../components/states";
import { Bytes } from "../components/bytes";
import { Panel } from "../components/panel";
import { keyId, keyText } from "../model/key";
import { useLoad } from "../state/load";
import { useInterval } from "../state/server";
import { FamilySection } from "./family-section";

interface Props {
  table: Table;
  rowKey: Key;
  /** Not where nothing may be written. */
  onDelete?: (row: Row) => void;
  onClose(): void;
}

/** All of a row: its families with their clocks, where each is stored, and what points to it. */
export function RowPanel({ table, rowKey, onDelete, onClose }: Props) {
  const id = `${table.name} ${keyId(rowKey)}`;
  const found = useLoad(
    async () => {
      const [values, places] = await Promise.all([row(table.name, rowKey), anatomy(table.name, rowKey)]);
      return { values, places, id };
    },
    id,
  );
  useInterval(found.again, 5000);
  const data = found.data?.id === id ? found.data : null;
  return (
    <Panel label={`Row ${keyText(rowKey)}`} title={<RowTitle table={table} rowKey={rowKey} />} onClose={onClose}>
      {found.problem?.code === "no-row" ? (
        <Blank icon="table" title="This row is not there"><p>It was deleted, or never written.</p></Blank>
      ) : (
        found.problem instanceof Problem && <ProblemNote problem={found.problem} onRetry={found.again} />
      )}
      {data === null && found.problem === null && <Loading label="Loading the row" />}
      {data !== null && (
        <>
          {data.places.families.map((place) => (
            <FamilySection
              key={place.family}
              table={table}
              rowKey={rowKey}
              place={place}
              cells={cellsOf(data.values, place.family)}
              beside={writtenBeside(data.places, place)}
            />
          ))}
          <section className="panel-section">
            <h3>Index entries <span className="dim">{data.places.indexes.length === 0 ? "none point to this row" : ""}</span></h3>
            {data.places.indexes.map(({ index, key }) => (
              <details key={`${index} ${key.hex}`} className="stored">
                <summary><b>{index}</b> <span className="dim">{key.hex.length / 2} bytes</span></summary>
                <Bytes stored={key} />
              </details>
            ))}
          </section>
          {onDelete && (
            <section className="panel-section">
              <button type="button" className="danger" onClick={() => onDelete(data.values)}>Delete this row…</button>
            </section>
          )}
        </>
      )}
    </Panel>
  );
}

function RowTitle({ table, rowKey }: { table: Table; rowKey: Key }) {
  return (
    <>
      <span className="dim">{table.key.map(({ name }) => name).join(" / ")}</span> {keyText(rowKey)}
    </>
  );
}

function writtenBeside({ families }: Anatomy, { family, written_at }: Anatomy["families"][number]): string[] {
  return families.filter((other) => other.family !== family && other.written_at === written_at).map((other) => other.family);
}

function cellsOf(values: Row, family: string): Row["columns"] {
  return Object.fromEntries(Object.entries(values.columns).filter(([, cell]) => cell.family === family));
}
